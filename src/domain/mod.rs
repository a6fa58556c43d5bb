//! The words and the laws: ids, states, commands, events, pure `decide` and `apply`.
//!
//! No IO, no clock, no SQL, no terminal and no model lives here: time and fresh ids come in with
//! the command. Every other room speaks these words.
//!
//! Read in this order: [`records`] (what there is), [`event`] (what can have happened),
//! [`command`] (what can be asked for), [`mod@decide`] (the laws), [`snapshot`] (folding events back
//! into records), [`step`] (what an agent does next).

pub mod changes;
pub mod command;
pub mod decide;
pub mod event;
pub mod ids;
pub mod permission;
#[cfg(test)]
mod proofs;
pub mod records;
pub mod redact;
pub mod rejection;
pub mod sanitise;
pub mod settings;
pub mod snapshot;
pub mod step;
pub mod views;

pub use command::resource::{Change, How, ResourceCommand, ResourceDeed};
pub use command::{Command, Envelope, JobDeed, JobReport, RunCommand, SystemCommand, UserCommand};
pub use decide::{decide, decide_and_apply};
pub use event::{Event, Recorded};
pub use ids::*;
pub use records::*;
pub use rejection::Rejection;
pub use settings::{Secret, Settings};
pub use snapshot::{Due, Snapshot};
pub use step::{Step, next_step};
pub use views::*;
