//! What there is: Tasks, agents, Runs, rows of context, messages, calls, approvals, questions, Jobs.
//!
//! The same structs are the rows the store answers with, what the protocol carries and what
//! `--json` prints, so their field names are a contract (snake_case, `*_at` in Unix milliseconds).

mod actor;
mod agent;
mod asked;
mod call;
mod context;
mod delegation;
mod folder;
mod job;
mod message;
mod states;
mod task;
mod usage;

pub use actor::*;
pub use agent::*;
pub use asked::*;
pub use call::*;
pub use context::*;
pub use delegation::*;
pub use folder::*;
pub use job::*;
pub use message::*;
pub(crate) use states::words;
pub use states::*;
pub use task::*;
pub use usage::*;
