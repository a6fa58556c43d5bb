//! Tasks, their objective and acceptance.

use super::{Actor, Budget, CheckKind, CheckState, TaskStatus, Usage};
use crate::domain::ids::*;
use crate::domain::permission::Policy;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something a Task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// `approval`, `question`, `run`, `check`, …
    pub kind: String,
    /// Its id.
    pub id: String,
    /// What it is, one line.
    pub text: String,
}

/// What the user wants done and everything kept for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// A short name.
    pub title: String,
    /// Its state.
    pub status: TaskStatus,
    /// Why it is in that state, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What `paused` goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_status: Option<TaskStatus>,
    /// Put away; not listed unless asked for.
    pub archived: bool,
    /// The folder it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its model, `PROVIDER:NAME`; absent means the configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is possible, and when a person is asked.
    pub policy: Policy,
    /// Its limits.
    #[serde(default)]
    pub budget: Budget,
    /// The newest version of the objective; 0 means there is none yet.
    pub objective_version: u32,
    /// What it has used.
    #[serde(default)]
    pub usage: Usage,
    /// The agent that answers for it.
    pub main: AgentId,
    /// What it waits for; filled in by queries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<Waiting>,
    /// The beginning of what Main said last; filled in where Tasks are listed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// When it began.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
}

/// One wording of the objective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objective {
    /// Whose.
    pub task: TaskId,
    /// 1, 2, 3 …
    pub version: u32,
    /// The words.
    pub text: String,
    /// Who set it.
    pub actor: Actor,
    /// When.
    pub at: Millis,
}

/// A point to be met before the Task is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its id.
    pub id: CheckId,
    /// Whose.
    pub task: TaskId,
    /// The objective it was agreed under; 0 means before there was one.
    pub objective_version: u32,
    /// How it is judged.
    pub kind: CheckKind,
    /// What must hold, in words; for `command` and `test` the command itself.
    pub text: String,
    /// Its state; only a person waives, and `failed` still blocks.
    pub state: CheckState,
    /// How often it was judged as failed.
    #[serde(default)]
    pub failures: u32,
    /// How far Main's context reached when it was last judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_through: Option<u64>,
    /// When it was agreed.
    pub created_at: Millis,
}

/// A judgement of a point of acceptance, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Its id.
    pub id: VerdictId,
    /// What was judged.
    pub check: CheckId,
    /// The judgement: passed, failed or waived.
    pub outcome: CheckState,
    /// What it rests on: command, exit code, output, or a person's words.
    pub evidence: Value,
    /// How far Main's context reached then.
    pub through_seq: u64,
    /// Who judged.
    pub actor: Actor,
    /// When.
    pub at: Millis,
}
