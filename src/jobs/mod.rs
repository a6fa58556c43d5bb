//! Processes that outlive us: the shim, its log, its exit record, reconciliation, attach.
//!
//! A Job lives in a folder of its own, `jobs/<id>/`, and everything that is true of it stands there:
//!
//! | file | what | who writes it |
//! |---|---|---|
//! | `spec.json` | its definition ([`Spec`]) | [`start`] |
//! | `claim` | which shim has it; made once, so the command is started at most once | the shim |
//! | `started.json` | that the command runs, and which process it is ([`StartRecord`]) | the shim |
//! | `output.log`, `output.1.log` … | every byte that it printed ([`log`]) | the shim |
//! | `exit.json` | how it ended ([`ExitRecord`]) | the shim |
//! | `typed.jsonl` | when a person typed in its terminal ([`typed`]) | the shim |
//! | `sock` | the way to its shim ([`client`]) | the shim |
//!
//! The host calls [`start`] and [`reconcile`], follows logs, and keeps a [`client::Controller`]
//! where it wants to hear of the end at once. Terminals attach to the shim directly
//! ([`client::AttachClient`]), so they outlive the host. The pure half: [`progress`] reads how far
//! a command has come out of what it prints, [`levels`] says what is not as it should be.
//!
//! Refuses to know the database, agents, and any async runtime; everything here may block.

mod address;
pub mod client;
pub mod folder;
pub mod levels;
pub mod log;
pub mod look;
pub mod orphan;
pub mod progress;
pub mod protocol;
pub mod reconcile;
pub mod record;
pub mod shim;
pub mod spec;
pub mod start;
mod terminal;
pub mod typed;

pub use folder::Folder;
pub use reconcile::{Doubt, Outcome, reconcile};
pub use record::{End, ExitRecord, Obstacle, StartRecord, StopState};
pub use spec::{Command, Input, Lasting, LogLimits, Size, Spec, Streams};
pub use start::{StartError, start};

use crate::domain::Millis;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

/// The variable that tells the processes of a Job from all others: its id, a dot, and something
/// random, since a Job of the same id may run for another state folder.
pub const MARK: &str = "COWORK_JOB";

fn random() -> io::Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

/// The time. The shim has nobody to ask for it.
fn now() -> Millis {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
