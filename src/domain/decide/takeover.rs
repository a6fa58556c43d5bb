//! Taking over: a new owner raises the fence and settles what the last one left in flight.
//!
//! Everything happens in one step: after it nothing is held under an older fence.

use super::*;
use std::collections::BTreeMap;

pub(super) fn take_over(d: &mut Decision, owner: &Owner) {
    let fence = d.snap.fence + 1;
    // How long a Run had run is known up to the last thing that was saved, and not beyond.
    let last_seen: BTreeMap<TaskId, Millis> =
        d.snap.tasks.values().map(|task| (task.id.clone(), task.updated_at)).collect();
    d.emit(None, Event::TakenOver { fence, owner: owner.clone() });

    super::resource::take_over(d);
    let messages: Vec<(Option<TaskId>, MessageId)> = d
        .snap
        .messages
        .values()
        .filter(|message| message.state == MessageState::Delivered)
        .map(|message| (message.task.clone(), message.id.clone()))
        .collect();
    for (task, message) in messages {
        d.emit(task.as_ref(), Event::MessageHeld { message, fence });
    }

    let runs: Vec<Run> = d.snap.runs.values().filter(|run| !run.state.is_ended()).cloned().collect();
    for run in runs {
        // One that was told to stop has ended now, and took along whom it had given work to.
        if d.snap.runs.get(&run.id).is_none_or(|now| now.state.is_ended()) {
            continue;
        }
        let last = last_seen.get(&run.task).copied().unwrap_or(run.started_at);
        recover(d, &run, fence, last);
        d.settle_status(&run.task);
    }
}

fn recover(d: &mut Decision, run: &Run, fence: Fence, last: Millis) {
    let task = run.task.clone();
    if let Some(call) = d.snap.live_model_call(&run.agent).map(|call| call.id.clone()) {
        let event = Event::TurnAbandoned { call, agent: run.agent.clone(), reason: "the host died".into() };
        d.emit(Some(&task), event);
    }
    if d.snap.open_control(&run.id).is_some() {
        match d.snap.live_assignment(&run.agent).cloned() {
            Some(work) => super::delegate::broke_off(d, &work, EndReason::Cancelled, None),
            None => super::run::stop(d, run, EndReason::Interrupted, None),
        }
        return;
    }
    let open: Vec<ToolCall> = d.snap.open_calls(&run.agent).into_iter().cloned().collect();
    for call in open.iter().filter(|call| call.state == ToolCallState::Running) {
        let origin = super::job::origin_of(&call.id);
        if let Some(job) = d.snap.jobs.values().find(|job| job.origin == origin) {
            let text = match job.id == JobId::of_call(&call.id) {
                true => format!("It goes on in the background, as Job {} ({}).", job.id, job.definition.name),
                false => format!("Job {} was started ({}).", job.id, job.definition.name),
            };
            super::tool::settle_with(d, run, call, ToolCallState::Done, vec![Part::text(text)], None);
        } else if d.snap.question_of(&call.id).is_some() || call.effect != Effect::Effectful {
            d.emit(Some(&task), Event::ToolRequeued { call: call.id.clone(), fence });
        } else {
            let parts = vec![Part::text(PROCESS_DIED)];
            super::tool::settle_with(d, run, call, ToolCallState::Uncertain, parts, None);
        }
    }
    if run.state == RunState::Running {
        let ran_ms = last.min(d.at).saturating_sub(run.started_at).max(0) as u64;
        let event = Event::RunSuspended { run: run.id.clone(), reason: "the host died".into(), ran_ms };
        d.emit(Some(&task), event);
    }
}
