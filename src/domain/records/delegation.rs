//! What is handed to Subagents and what comes back: assignments, Contributions, decision requests.
//!
//! The evidence contract of the paper: an assignment says what is wanted, what is known, what may be
//! used and what has to be shown for it; a Contribution answers with what was done, what is uncertain
//! and where it can be looked up.

use super::{Actor, AssignmentState, Budget, DecisionState, DelegationMode, Outcome, ReviewState, Usage};
use crate::domain::ids::*;
use crate::domain::permission::{Access, Action, Policy, Reach};
use serde::{Deserialize, Serialize};

/// What a Subagent may use; enforced below the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grant {
    /// The tools it has.
    pub tools: Vec<String>,
    /// The folders and files it may read, whole paths; empty means all that the Task may.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// The folders and files it may change besides its own working area, whole paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Whether it may fetch from the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// What is possible and when a person is asked; never wider than the Task's.
    pub policy: Policy,
}

impl Grant {
    /// Why an action is not granted, if it is not.
    pub fn forbids(&self, action: &Action) -> Option<String> {
        if !self.tools.contains(&action.tool) {
            return Some(format!("`{}` was not granted to you", action.tool));
        }
        let subject = &action.subject;
        match action.access {
            Access::Network if !self.network => Some("the network was not granted to you".into()),
            Access::Read if !action.own && !self.may_read(subject) => {
                Some(format!("you may not read {subject}, only {}", self.reads.join(", ")))
            }
            Access::Write if !action.own && !within(&self.writes, subject) => Some(match self.writes.is_empty() {
                true => format!("you may not change {subject}, only files in your own working area"),
                false => format!("you may not change {subject}, only {}", self.writes.join(", ")),
            }),
            Access::Read | Access::Write | Access::Execute | Access::Network | Access::Human => None,
        }
    }

    /// The policy that an action is judged by. What a command does can't be held to paths: where it
    /// may not change everything in its folder, it is judged as in a Task that only reads.
    pub fn policy_for(&self, action: &Action, of_task: Policy) -> Policy {
        let policy = of_task.narrowed_by(self.policy);
        let held = action.access == Access::Execute && !within(&self.writes, &action.cwd);
        Policy { reach: if held { Reach::ReadOnly } else { policy.reach }, ..policy }
    }

    /// This grant, with nothing in it that `upper` does not have: nobody hands on more than it has.
    pub fn below(mut self, upper: &Grant) -> Self {
        self.policy = self.policy.narrowed_by(upper.policy);
        self.tools.retain(|tool| upper.tools.contains(tool));
        self.network &= upper.network;
        self.writes.retain(|path| within(&upper.writes, path));
        if !upper.reads.is_empty() {
            self.reads.retain(|path| upper.may_read(path));
            if self.reads.is_empty() {
                self.reads.clone_from(&upper.reads);
            }
        }
        self
    }

    fn may_read(&self, path: &str) -> bool {
        self.reads.is_empty() || within(&self.reads, path) || within(&self.writes, path)
    }
}

/// Whether a whole path is one of these or lies below one.
fn within(roots: &[String], path: &str) -> bool {
    roots.iter().any(|root| {
        path.strip_prefix(root.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.ends_with('/'))
    })
}

/// What is agreed with a Subagent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// What is known and needed, in bounds; the Subagent sees nothing else of the Task.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub background: String,
    /// What must not be done, or must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// What has to be shown for the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// What may be used.
    pub grant: Grant,
    /// Its own limits, beside the Task's.
    #[serde(default)]
    pub budget: Budget,
    /// Its model; absent means the one configured for Subagents, or else the Task's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A bounded part of a Task, given to a Subagent. Work that is sent back is a further turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Its id.
    pub id: AssignmentId,
    /// In which Task.
    pub task: TaskId,
    /// Who does it.
    pub agent: AgentId,
    /// Who gave it and gets the Contribution.
    pub parent: AgentId,
    /// The how-manieth piece of work of this Subagent, from 1.
    pub turn: u32,
    /// The call that gave it; none where a person sent work back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<ToolCallId>,
    /// How it returns.
    pub mode: DelegationMode,
    /// A short name for the screen.
    pub name: String,
    /// What is wanted.
    pub objective: String,
    /// The Task's objective it was given under.
    pub objective_version: u32,
    /// The rest of what is agreed.
    pub contract: Contract,
    /// Its state.
    pub state: AssignmentState,
    /// What it used so far.
    pub usage: Usage,
    /// When it was given.
    pub created_at: Millis,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

/// What a Subagent says of its work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// How it came out.
    pub outcome: Outcome,
    /// What was done and found.
    pub done: String,
    /// What is uncertain or was left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub uncertain: String,
    /// Where it can be looked up: files, outputs, commands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
}

/// What came of an assignment: exactly one, born with its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// Its id.
    pub id: ContributionId,
    /// Of which assignment.
    pub assignment: AssignmentId,
    /// In which Task.
    pub task: TaskId,
    /// Who made it.
    pub agent: AgentId,
    /// What is said of it.
    #[serde(flatten)]
    pub report: Report,
    /// What became of it.
    pub state: ReviewState,
    /// Who reviewed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed_by: Option<Actor>,
    /// What the reviewer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// When it came.
    pub created_at: Millis,
    /// When it was reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewed_at: Option<Millis>,
}

/// The most bytes of a Contribution that enter the context of who gets it; the rest is looked up.
const LARGEST_TOLD: usize = 6_000;

impl Contribution {
    /// The words that who gave the work reads.
    pub fn told(&self, work: &Assignment) -> String {
        let Report { outcome, done, uncertain, refs } = &self.report;
        let mut text = format!("{} ({}, Contribution {}) {outcome}: {}", work.name, work.agent, self.id, done.trim());
        if !uncertain.trim().is_empty() {
            text.push_str(&format!("\nUncertain: {}", uncertain.trim()));
        }
        if text.len() > LARGEST_TOLD {
            text.truncate(text.floor_char_boundary(LARGEST_TOLD));
            text.push_str(&format!("\n[cut here; `team` with action show and {} gives the rest]", work.agent));
        }
        if !refs.is_empty() {
            text.push_str(&format!("\nReferences: {}", refs.join(", ")));
        }
        text
    }
}

/// A Subagent's question: answered in time, or its fallback holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionRequest {
    /// Its id.
    pub id: DecisionId,
    /// In which Task.
    pub task: TaskId,
    /// For which assignment.
    pub assignment: AssignmentId,
    /// Who asks.
    pub agent: AgentId,
    /// The call that waits for the answer.
    pub tool_call: ToolCallId,
    /// What is asked.
    pub question: String,
    /// What holds when nobody answers in time.
    pub fallback: String,
    /// Until when an answer is waited for.
    pub deadline_at: Millis,
    /// Its state.
    pub state: DecisionState,
    /// The answer, or the fallback that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<Actor>,
    /// When it was asked.
    pub created_at: Millis,
    /// When it was resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Millis>,
}

impl DecisionRequest {
    /// The words that who asked reads; none while it is open or was dropped.
    pub fn told(&self) -> Option<String> {
        let answer = self.answer.as_deref().unwrap_or_default();
        match self.state {
            DecisionState::Answered => Some(format!("Decided: {answer}")),
            DecisionState::FallbackUsed => Some(format!("Nobody answered in time. Go on with: {answer}")),
            DecisionState::Open | DecisionState::Cancelled => None,
        }
    }
}
