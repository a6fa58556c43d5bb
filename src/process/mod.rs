//! The one place where processes are started: session, environment, limits, confinement, identity,
//! killing a tree.
//!
//! A process is described by a [`Spec`] and started by [`Started::start`]: in a session and group
//! of its own, without a terminal, with `/dev/null` as its input, an environment that is allowed
//! name by name, and no descriptor of ours but its output pipe. Its leader is never reaped before
//! everything that is to be signalled has been, so the number that is signalled is always its own.
//!
//! A supervisor of ours that outlives us uses [`become_supervisor`], [`start_child`] and [`Table`]
//! instead: it has no async runtime and waits for its child itself. [`start_apart`] starts one.
//!
//! Refuses to pass anything that looks like a key. Knows nothing of agents, Jobs or the store.

mod apart;
mod child;
mod detached;
mod environment;
pub mod foreground;
mod identity;
mod output;
mod session;
mod signals;
mod spec;
mod started;
mod supervisor;
mod system;
mod table;

/// Held by tests that make a descriptor inheritable while others start processes: what is opened
/// elsewhere never is, so between the sealing and the fork there is nothing to race for.
#[cfg(test)]
pub(crate) static INHERITABLE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub use apart::start_apart;
pub use child::{Streams, start_child};
pub use detached::spawn_detached;
pub use environment::looks_secret;
pub use identity::Identity;
pub use output::output_of;
pub use session::{Held, Member, hold, wait_until_gone};
pub use signals::signal_number;
pub use spec::{Spec, StartError, TOOL_CHAINS};
pub use started::{Ended, Exit, Started};
pub use supervisor::{Supervisor, become_supervisor};
pub use table::{Mark, Table, Usage};
