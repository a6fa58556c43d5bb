//! The one place where processes are started: session, environment, limits, confinement, identity,
//! killing a tree.
//!
//! A process is described by a [`Spec`] and started by [`Started::start`]: in a session and group
//! of its own, without a terminal, with `/dev/null` as its input, an environment that is allowed
//! name by name, and no descriptor of ours but its output pipe. Its leader is never reaped before
//! everything that is to be signalled has been, so the number that is signalled is always its own.
//!
//! Refuses to pass anything that looks like a key. Knows nothing of agents, Jobs or the store.

mod detached;
mod environment;
pub mod foreground;
mod identity;
mod output;
mod session;
mod spec;
mod started;

pub use detached::spawn_detached;
pub use identity::Identity;
pub use output::output_of;
pub use session::Member;
pub use spec::{Spec, StartError};
pub use started::{Ended, Exit, Started};
