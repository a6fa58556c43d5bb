//! Runs: begun or resumed, suspended, interrupted, ended.

use super::*;
use serde_json::Value;

/// What an agent reads where a person stopped it.
pub const STOPPED: &str =
    "The person stopped you here. Do not go on with what was asked before unless it is asked again.";

/// Starts an agent, or resumes it where it stood.
pub(super) fn start(d: &mut Decision, id: &TaskId, agent: &AgentId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let is_due = d.snap.agents.get(agent).is_some_and(|agent| d.snap.is_due(&task, agent));
    if !is_due {
        return Err(Rejection::wrong_state(format!("{agent} of Task {id} has nothing to do"), ""));
    }
    let woken_by = d.snap.inbox(agent, MessageState::Queued).iter().map(|message| message.id.clone()).collect();
    let resumed = d.snap.live_run(agent).cloned();
    let run = Run {
        id: resumed.as_ref().map_or_else(|| RunId::new(&mut d.ids), |run| run.id.clone()),
        task: id.clone(),
        agent: agent.clone(),
        state: RunState::Running,
        fence: d.snap.fence,
        end_reason: None,
        detail: None,
        started_at: d.at,
        ended_at: None,
    };
    d.emit(Some(id), Event::RunStarted { run, resumed: resumed.is_some(), woken_by });
    let queued = d.snap.live_assignment(agent).filter(|work| work.state == AssignmentState::Queued);
    if let Some(assignment) = queued.map(|work| work.id.clone()) {
        d.emit(Some(id), Event::AssignmentMoved { assignment, state: AssignmentState::Running });
    }
    d.settle_status(id);
    Ok(())
}

pub(super) fn suspend(d: &mut Decision, id: &RunId, reason: &str) -> Result<(), Rejection> {
    let (run, task, _) = d.running(id)?;
    let ran_ms = d.ran_ms(&run);
    d.emit(Some(&task.id), Event::RunSuspended { run: run.id, reason: reason.to_owned(), ran_ms });
    d.settle_status(&task.id);
    Ok(())
}

pub(super) fn end(d: &mut Decision, id: &RunId, reason: EndReason, detail: Option<String>) -> Result<(), Rejection> {
    let (run, task, agent) = d.running(id)?;
    if reason == EndReason::Finished {
        if !d.snap.open_calls(&agent.id).is_empty() {
            return Err(Rejection::wrong_state("calls are open", "settle them first"));
        }
        if !d.snap.inbox(&agent.id, MessageState::Queued).is_empty() {
            return Err(Rejection::wrong_state("messages are waiting", "take them in first"));
        }
    }
    if agent.role == AgentRole::Subagent {
        let Some(work) = d.snap.live_assignment(&agent.id).cloned() else {
            return Err(Rejection::wrong_state("its assignment has ended", ""));
        };
        super::delegate::broke_off(d, &work, reason, detail);
        return Ok(());
    }
    stop(d, &run, reason, detail.clone());
    if reason == EndReason::Finished {
        super::delegate::accept_rest(d, &task);
    }
    match reason {
        EndReason::Budget | EndReason::Model | EndReason::Internal => {
            let reason = detail.map_or_else(|| reason.to_string(), |detail| format!("{reason}: {detail}"));
            d.set_status(&task.id, TaskStatus::Failed, Some(reason));
        }
        EndReason::Finished | EndReason::Interrupted | EndReason::Cancelled => d.settle_status(&task.id),
    }
    Ok(())
}

/// A person presses Esc: a working Run is told to stop; a waiting one is stopped here and now.
pub(super) fn interrupt(d: &mut Decision, id: &TaskId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let Some(run) = d.snap.live_run(&task.main).cloned() else {
        return Err(Rejection::wrong_state(format!("nothing is running in Task {id}"), ""));
    };
    match run.state {
        RunState::Running => {
            if d.snap.open_control(&run.id).is_none() {
                request_stop(d, &run, "interrupt");
            }
        }
        RunState::Interrupted | RunState::Completed | RunState::Failed | RunState::Cancelled => {
            stop(d, &run, EndReason::Interrupted, None);
            d.settle_status(id);
        }
    }
    Ok(())
}

/// Tells a Run that is running to stop at once.
pub(super) fn request_stop(d: &mut Decision, run: &Run, action: &str) {
    let control = Control {
        id: ControlId::new(&mut d.ids),
        task: run.task.clone(),
        run: run.id.clone(),
        action: action.to_owned(),
        actor: d.actor.clone(),
        state: ControlState::Requested,
        created_at: d.at,
    };
    d.emit(Some(&run.task), Event::ControlRequested { control });
}

/// Ends a Run and everything it holds: its request, its calls, its questions, its controls.
pub(super) fn stop(d: &mut Decision, run: &Run, reason: EndReason, detail: Option<String>) {
    let task = run.task.clone();
    if let Some(call) = d.snap.live_model_call(&run.agent).map(|call| call.id.clone()) {
        let event = Event::TurnAbandoned { call, agent: run.agent.clone(), reason: reason.to_string() };
        d.emit(Some(&task), event);
    }
    let open: Vec<ToolCall> = d.snap.open_calls(&run.agent).into_iter().cloned().collect();
    for call in &open {
        super::approval::drop_for(d, &task, call);
        let text = match (call.state, reason) {
            (ToolCallState::Running, _) => "Stopped while it ran; look at what it left before you repeat it.",
            _ => "Not run: the step was stopped.",
        };
        super::tool::settle_with(d, run, call, ToolCallState::Cancelled, vec![Part::text(text)], None);
    }
    let state = match reason {
        EndReason::Finished => RunState::Completed,
        EndReason::Interrupted | EndReason::Cancelled => RunState::Cancelled,
        EndReason::Budget | EndReason::Model | EndReason::Internal => RunState::Failed,
    };
    let ran_ms = if run.state == RunState::Running { d.ran_ms(run) } else { 0 };
    d.emit(Some(&task), Event::RunEnded { run: run.id.clone(), state, reason, detail, ran_ms });
    if reason == EndReason::Interrupted {
        say_it_was_stopped(d, run);
    }
    if let Some(control) = d.snap.open_control(&run.id).map(|control| control.id.clone()) {
        let state = match reason {
            EndReason::Interrupted | EndReason::Cancelled => ControlState::Applied,
            EndReason::Finished | EndReason::Budget | EndReason::Model | EndReason::Internal => ControlState::Moot,
        };
        d.emit(Some(&task), Event::ControlSettled { control, state });
    }
}

/// Marks in the context where a person stopped: what was asked before is no order any more.
fn say_it_was_stopped(d: &mut Decision, run: &Run) {
    let begun = d.snap.agents.get(&run.agent).is_some_and(|agent| agent.last.is_some());
    if !begun || d.snap.has_final_answer(&run.agent) {
        return;
    }
    let key = format!("stopped:{}", run.id);
    let Ok(task) = d.task(&run.task) else { return };
    d.tell_main(&task, MessageKind::Notice, key.clone(), STOPPED.into(), Tell::soon());
    // It enters at once, so that it wakes nobody and stands where it belongs.
    let queued = d.snap.inbox(&run.agent, MessageState::Queued).into_iter().find(|message| message.key == key).cloned();
    if let Some(message) = queued {
        super::turn::deliver(d, run, &message);
    }
}

/// Records what running a check's command gave.
pub(super) fn agent_verdict(
    d: &mut Decision,
    run: &RunId,
    check: &CheckId,
    outcome: CheckState,
    evidence: &Value,
) -> Result<(), Rejection> {
    let (_, task, _) = d.running(run)?;
    if !matches!(outcome, CheckState::Passed | CheckState::Failed) {
        return Err(Rejection::invalid("only a person waives a check", ""));
    }
    super::task::give_verdict(d, &task, check, outcome, evidence)
}
