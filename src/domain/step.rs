//! What an agent does next: a pure function of what is saved.
//!
//! The loop that drives an agent asks this after every step and keeps nothing of its own, so an
//! agent that was killed goes on exactly where one that was not killed would.

use super::ids::*;
use super::records::*;
use super::snapshot::Snapshot;

/// The action of a control that ends a Subagent for good.
pub const CANCEL: &str = "cancel";

/// The next step of an agent whose loop has nothing in flight.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Run, probe or refuse these calls; they have no result yet and wait for nobody.
    RunTools(Vec<ToolCall>),
    /// Ask the model, not before the given time.
    Ask {
        /// The earliest moment, after a failure.
        not_before: Option<Millis>,
    },
    /// Judge these points of acceptance by running their commands.
    Judge(Vec<Check>),
    /// Nothing can go on until a person acts.
    Suspend(String),
    /// The Run is over.
    End(EndReason, Option<String>),
    /// The Run is no longer this loop's to drive.
    Leave,
}

/// Says what the agent of `run` does next. `now` serves the budget of seconds alone.
pub fn next_step(snapshot: &Snapshot, run: &RunId, now: Millis) -> Step {
    let Some(run) = snapshot.runs.get(run).filter(|run| run.state == RunState::Running) else {
        return Step::Leave;
    };
    let (Some(task), Some(agent)) = (snapshot.tasks.get(&run.task), snapshot.agents.get(&run.agent)) else {
        return Step::Leave;
    };
    if let Some(control) = snapshot.open_control(&run.id) {
        let reason = if control.action == CANCEL { EndReason::Cancelled } else { EndReason::Interrupted };
        return Step::End(reason, None);
    }
    let open = snapshot.open_calls(&agent.id);
    let ready = ready_calls(snapshot, &open);
    if !ready.is_empty() {
        return Step::RunTools(ready);
    }
    if !open.is_empty() {
        return Step::Suspend("a person is needed".into());
    }
    if task.status == TaskStatus::Paused {
        return Step::Suspend("paused".into());
    }
    let queued = snapshot.inbox(&agent.id, MessageState::Queued);
    let answered = snapshot.has_final_answer(&agent.id);
    let wants_turn = !answered || !queued.is_empty();
    if wants_turn {
        if let Some(what) = exhausted(snapshot, run, now) {
            return Step::End(EndReason::Budget, Some(what));
        }
        return Step::Ask { not_before: agent.retry_at };
    }
    if agent.role == AgentRole::Subagent {
        return Step::End(EndReason::Finished, None);
    }
    let unjudged: Vec<Check> = snapshot
        .checks
        .values()
        .filter(|check| {
            check.task == task.id
                && matches!(check.kind, CheckKind::Command | CheckKind::Test)
                && matches!(check.state, CheckState::Open | CheckState::Failed)
                && check.judged_through != Some(agent.next_seq)
        })
        .cloned()
        .collect();
    if !unjudged.is_empty() {
        return Step::Judge(unjudged);
    }
    Step::End(EndReason::Finished, None)
}

/// The budget that is used up for a Run, if one is: of its Task, or of its assignment.
pub fn exhausted(snapshot: &Snapshot, run: &Run, now: Millis) -> Option<String> {
    let running = now.saturating_sub(run.started_at).max(0) as u64;
    let task = snapshot.tasks.get(&run.task)?;
    let mut used = task.usage.clone();
    match snapshot.live_assignment(&run.agent) {
        None => {
            used.run_ms += running;
            task.budget.exhausted_by(&used)
        }
        Some(work) => task.budget.exhausted_by(&used).map(|what| format!("of the whole Task, {what}")).or_else(|| {
            used = work.usage.clone();
            used.run_ms += running;
            work.contract.budget.exhausted_by(&used)
        }),
    }
}

/// Whether an agent that stands still has a step to take.
pub(super) fn can_go_on(snapshot: &Snapshot, agent: &AgentId) -> bool {
    let open = snapshot.open_calls(agent);
    open.is_empty() || !ready_calls(snapshot, &open).is_empty()
}

/// The calls that can go on now. One that changes something waits for every earlier call that
/// waits for a person: what comes later may rest on it.
fn ready_calls(snapshot: &Snapshot, open: &[&ToolCall]) -> Vec<ToolCall> {
    let mut someone_waits = false;
    let mut ready = Vec::new();
    for call in open {
        let waits = match call.state {
            ToolCallState::Planned | ToolCallState::Approved => false,
            ToolCallState::Running => snapshot.question_of(&call.id).is_some(),
            ToolCallState::AwaitingApproval => true,
            ToolCallState::Done
            | ToolCallState::Error
            | ToolCallState::Uncertain
            | ToolCallState::Cancelled
            | ToolCallState::Denied => continue,
        };
        if waits {
            someone_waits = true;
        } else if !(someone_waits && call.effect.changes_something()) {
            ready.push((*call).clone());
        }
    }
    ready
}
