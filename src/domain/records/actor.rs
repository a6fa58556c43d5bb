//! Whoever acts: people, agents, Jobs, Sources, files, the system; and the process that owns the state.

use super::ActorKind;
use crate::domain::ids::AgentId;
use serde::{Deserialize, Serialize};

/// Whoever can act or be named as a cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// What kind of actor.
    pub kind: ActorKind,
    /// Its id; an agent's is its agent id, the local person's is `person`.
    pub id: String,
}

impl Actor {
    /// The person at this machine.
    pub fn person() -> Self {
        Self { kind: ActorKind::Person, id: "person".into() }
    }
    /// The runtime itself.
    pub fn system() -> Self {
        Self { kind: ActorKind::System, id: "system".into() }
    }
    /// An agent.
    pub fn agent(id: &AgentId) -> Self {
        Self { kind: ActorKind::Agent, id: id.0.clone() }
    }
    /// A Job.
    pub fn job(id: &crate::domain::ids::JobId) -> Self {
        Self { kind: ActorKind::Job, id: id.0.clone() }
    }
    /// The actor of an id: its letter tells its kind.
    pub fn of(id: &str) -> Self {
        let kind = match id.split_once('_') {
            Some(("a", _)) => ActorKind::Agent,
            Some(("j", _)) => ActorKind::Job,
            Some(("s", _)) => ActorKind::Source,
            Some(("f", _)) => ActorKind::File,
            _ if id == "system" => ActorKind::System,
            _ => ActorKind::Person,
        };
        Self { kind, id: id.to_owned() }
    }
}

/// A process that owns the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Random, one for each host process.
    pub holder: String,
    /// The machine's name, for a person to read.
    pub host: String,
    /// Its process id; an identity only together with the next two.
    pub pid: u32,
    /// When that process started, in the kernel's count.
    pub pid_start: u64,
    /// Which boot of the machine that was.
    pub boot_id: String,
}
