//! Requests to models, and the tool calls that come of them.

use super::{Effect, ModelCallState, ToolCallState, Usage};
use crate::domain::ids::*;
use serde::{Deserialize, Serialize};

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Its id.
    pub id: ModelCallId,
    /// Who asked.
    pub agent: AgentId,
    /// In which Run.
    pub run: RunId,
    /// `turn`, later also `compact`, `analysis` …
    pub purpose: String,
    /// Its state.
    pub state: ModelCallState,
    /// The ownership under which it was sent.
    pub fence: Fence,
    /// The model, `PROVIDER:NAME`.
    pub model: String,
    /// The last row that was sent.
    pub through_seq: u64,
    /// The row that came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_seq: Option<u64>,
    /// The class of failure, such as `overloaded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// When it was sent.
    pub started_at: Millis,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

/// The tool that runs a command; what it runs outlives whoever waits for it.
pub const SHELL: &str = "shell";

/// One tool call of an assistant row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id; the idempotency key of its effect.
    pub id: ToolCallId,
    /// Whose call.
    pub agent: AgentId,
    /// In which Run it was planned.
    pub run: RunId,
    /// The row that asked for it.
    pub assistant_seq: u64,
    /// Its place among the calls of that row, from 0.
    pub ix: u32,
    /// The id the server gave it.
    pub provider_id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as text: they may not be valid JSON.
    pub arguments: String,
    /// What a crash in the middle of it means.
    pub effect: Effect,
    /// SHA-256 of what was there before, for effects that can be looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_hash: Option<String>,
    /// SHA-256 of what will be there after, for effects that can be looked up, or of what was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_hash: Option<String>,
    /// Its state.
    pub state: ToolCallState,
    /// The ownership under which it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    /// The row that holds its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_seq: Option<u64>,
    /// When it was planned.
    pub created_at: Millis,
    /// When it began to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// When it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

impl ToolCall {
    /// Whether what the call runs outlives the one who waits for it, so that it can be taken up
    /// again, and go on as a Job.
    pub fn is_kept(&self) -> bool {
        self.name == SHELL
    }
}

impl JobId {
    /// The Job that what a call runs becomes, if it becomes one; names its folder from the beginning.
    pub fn of_call(call: &ToolCallId) -> Self {
        let own = call.as_str().strip_prefix(ToolCallId::PREFIX).unwrap_or(call.as_str());
        Self(format!("{}{own}", Self::PREFIX))
    }

    /// The call that a folder may have been made for.
    pub fn call(&self) -> ToolCallId {
        let own = self.as_str().strip_prefix(Self::PREFIX).unwrap_or(self.as_str());
        ToolCallId(format!("{}{own}", ToolCallId::PREFIX))
    }
}
