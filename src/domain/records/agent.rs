//! Agents, their Runs, what stops them and where they resume.

use super::{Actor, AgentRole, ControlState, EndReason, LastRow, RunState};
use crate::domain::ids::*;
use serde::{Deserialize, Serialize};

/// An agent: one conversation with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its Task.
    pub task: TaskId,
    /// Main or Subagent.
    pub role: AgentRole,
    /// The number the next row of its context will have.
    pub next_seq: u64,
    /// The first row that is sent to the model verbatim.
    pub tail_from_seq: u64,
    /// The last row, as far as deciding needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRow>,
    /// Failed requests in a row since the last row was saved.
    #[serde(default)]
    pub failures: u32,
    /// Not before this time may the model be asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Millis>,
    /// When it began.
    pub created_at: Millis,
    /// When it was retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Millis>,
}

/// One execution of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Its Task.
    pub task: TaskId,
    /// Its agent.
    pub agent: AgentId,
    /// Its state.
    pub state: RunState,
    /// The ownership under which it runs.
    pub fence: Fence,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// What there is to say about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it was last started or resumed.
    pub started_at: Millis,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

/// A request to stop something at once; not a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Its id.
    pub id: ControlId,
    /// In which Task.
    pub task: TaskId,
    /// The Run it stops.
    pub run: RunId,
    /// `interrupt`.
    pub action: String,
    /// Who asked.
    pub actor: Actor,
    /// Its state.
    pub state: ControlState,
    /// When.
    pub created_at: Millis,
}

/// A settled boundary to resume from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// Whose.
    pub agent: AgentId,
    /// In which Run.
    pub run: RunId,
    /// The last row covered; every call up to it has settled.
    pub through_seq: u64,
    /// The first row that is sent verbatim.
    pub tail_from_seq: u64,
    /// When.
    pub created_at: Millis,
}
