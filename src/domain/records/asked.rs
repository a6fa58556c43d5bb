//! What a person is asked: approvals, the rules that come of them, questions.

use super::{Actor, ApprovalState, QuestionState};
use crate::domain::ids::*;
use crate::domain::permission::Action;
use serde::{Deserialize, Serialize};

/// A person's yes or no to one exact action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// In which Task.
    pub task: TaskId,
    /// Who asks.
    pub agent: AgentId,
    /// For which call.
    pub tool_call: ToolCallId,
    /// What would be done, whole, as it would run.
    pub action: Action,
    /// SHA-256 in hex of exactly what is shown.
    pub action_hash: String,
    /// Why a person is asked.
    pub why: String,
    /// Its state.
    pub state: ApprovalState,
    /// What the person added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Actor>,
    /// When it was asked.
    pub created_at: Millis,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Millis>,
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// In which Task.
    pub task: TaskId,
    /// Who asks.
    pub agent: AgentId,
    /// By which call.
    pub tool_call: ToolCallId,
    /// The words.
    pub question: String,
    /// Answers to choose from; empty means free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What happens while nobody answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meanwhile: String,
    /// Its state.
    pub state: QuestionState,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// When it was asked.
    pub created_at: Millis,
    /// When it was answered or dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Millis>,
}

/// A standing answer to approvals of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// The folder it holds in; it never reaches further.
    pub cwd: String,
    /// Yes or no.
    pub allow: bool,
    /// The tool.
    pub tool: String,
    /// Exactly what it covers: the command, the path or the host.
    pub subject: String,
    /// The approval it came from.
    pub approval: ApprovalId,
    /// Who decided.
    pub actor: Actor,
    /// When.
    pub created_at: Millis,
}
