//! What agents of one Task do with each other.
//!
//! Main has `delegate` and `team`, a Subagent `report`, `decide` and `tell`. They act through
//! [`Team`](crate::agent::port::Team) and wait there; a message for the waiting agent releases it.

mod decide;
mod delegate;
mod lead;
mod report;
mod tell;

pub(super) use decide::Decide;
pub(super) use delegate::Delegate;
pub(super) use lead::Lead;
pub(super) use report::ReportTool;
pub(super) use tell::TellTool;

use super::{Outcome, ToolContext, ToolSpec, now};
use crate::domain::permission::{Access, Action};
use crate::domain::*;

/// The tools that only a Subagent has.
pub const OF_SUBAGENTS: [&str; 3] = ["report", "decide", "tell"];
/// The tool for those who were given something.
pub const LEAD: &str = "team";
/// The tool that gives work away.
pub const DELEGATE: &str = "delegate";

/// What is judged where agents deal with each other: nothing outside is touched.
fn action(spec: &ToolSpec, subject: impl Into<String>, ctx: &ToolContext) -> Action {
    Action {
        tool: spec.name.into(),
        access: Access::Read,
        subject: subject.into(),
        cwd: ctx.cwd.to_string_lossy().into_owned(),
        detail: String::new(),
        inside: true,
        own: true,
        beyond: String::new(),
        rule_subject: spec.name.into(),
    }
}

/// What a refused command means for the call.
fn refused(rejection: &Rejection) -> Outcome {
    Outcome::error(rejection.to_string())
}

/// Whether a message waits for the agent: then no call of it blocks any longer.
fn is_called(snapshot: &Snapshot, agent: &AgentId) -> bool {
    snapshot.inbox(agent, MessageState::Queued).into_iter().any(Message::wakes)
}
