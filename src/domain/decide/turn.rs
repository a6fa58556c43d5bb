//! Turns: what enters the context before a request, and what comes of it.

use super::*;
use crate::domain::command::PlannedCall;
use crate::domain::step::{Step, next_step};

pub(super) fn begin(d: &mut Decision, id: &RunId, call: &ModelCallId, model: &str) -> Result<(), Rejection> {
    let (run, task, agent) = d.running(id)?;
    if !d.snap.open_calls(&agent.id).is_empty() {
        return Err(Rejection::wrong_state("calls are open", "settle them first"));
    }
    if d.snap.live_model_call(&agent.id).is_some() {
        return Err(Rejection::wrong_state("a request is under way", "wait for its answer"));
    }
    if let Some(what) = crate::domain::step::exhausted(&d.snap, &run, d.at) {
        return Err(Rejection::new(super::super::rejection::RejectionKind::Budget, what, ""));
    }
    // Whoever asks may have looked before somebody stopped the Run or took back what it was for.
    if !matches!(next_step(&d.snap, id, d.at), Step::Ask { .. }) {
        return Err(Rejection::wrong_state("nothing is to be asked now", "look what is to be done"));
    }
    super::resource::before_turn(d, &agent);
    let at_rest = agent.last.is_none() || d.snap.has_final_answer(&agent.id);
    let entering: Vec<Message> = d
        .snap
        .inbox(&agent.id, MessageState::Queued)
        .into_iter()
        .filter(|message| at_rest || message.delivery == Delivery::Boundary)
        .cloned()
        .collect();
    for message in entering {
        deliver(d, &run, &message);
    }
    super::resource::told(d, &agent);
    let through_seq = d.snap.agents.get(&agent.id).map_or(0, |agent| agent.next_seq - 1);
    let call = ModelCall {
        id: call.clone(),
        agent: agent.id.clone(),
        run: run.id.clone(),
        purpose: "turn".into(),
        state: ModelCallState::Started,
        fence: d.snap.fence,
        model: model.to_owned(),
        through_seq,
        result_seq: None,
        error_class: None,
        usage: None,
        started_at: d.at,
        ended_at: None,
    };
    d.emit(Some(&task.id), Event::TurnStarted { call });
    Ok(())
}

/// Makes a message a row of its recipient's context.
pub(super) fn deliver(d: &mut Decision, run: &Run, message: &Message) {
    let mut text = context_text(message);
    if message.kind == MessageKind::User {
        text.push_str(&super::resource::selected(d, &run.task));
    }
    let mut row = d.row(&run.agent, Role::User, vec![Part::text(text)], 0);
    row.message = Some(message.id.clone());
    let (message, agent, by) = (message.id.clone(), run.agent.clone(), run.id.clone());
    d.emit(Some(&run.task), Event::MessageDelivered { message, agent, run: by, row });
}

/// How the first line of a message from a Job ends, as the model reads it.
pub const FROM_A_JOB: &str = " from job]";

/// The words of a message as the model reads them. What is not a person's says where it is from.
fn context_text(message: &Message) -> String {
    let mut text = match message.kind {
        MessageKind::User => message.text.clone(),
        kind => format!("[{kind} from {}]\n{}", message.from.kind, message.text),
    };
    if !message.refs.is_empty() {
        text.push_str("\n\nAttached: ");
        text.push_str(&message.refs.join(", "));
    }
    text
}

/// What the model answered.
pub(super) struct Answer<'a> {
    pub call: &'a ModelCallId,
    pub parts: &'a [Part],
    pub calls: &'a [PlannedCall],
    pub usage: &'a Usage,
    pub cut: bool,
}

pub(super) fn commit(d: &mut Decision, id: &RunId, answer: Answer) -> Result<(), Rejection> {
    let (run, task, agent) = d.running(id)?;
    started(d, &agent, answer.call)?;
    if answer.cut && answer.parts.is_empty() {
        let event = Event::TurnAbandoned {
            call: answer.call.clone(),
            agent: agent.id.clone(),
            reason: "stopped before anything was said".into(),
        };
        d.emit(Some(&task.id), event);
        return Ok(());
    }
    let calls: Vec<ToolCall> = if answer.cut { Vec::new() } else { plan(d, &run, &agent, answer.calls) };
    let mut parts = answer.parts.to_vec();
    parts.extend(calls.iter().map(|call| Part::Call {
        id: call.id.clone(),
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    }));
    let mut row = d.row(&agent.id, Role::Assistant, parts, answer.usage.output_tokens);
    row.cut = answer.cut;
    let consumed = d.snap.inbox(&agent.id, MessageState::Delivered).iter().map(|message| message.id.clone()).collect();
    let event = Event::TurnCommitted {
        call: answer.call.clone(),
        agent: agent.id.clone(),
        row,
        usage: answer.usage.clone(),
        consumed,
    };
    d.emit(Some(&task.id), event);
    let none = calls.is_empty();
    for call in calls {
        d.emit(Some(&task.id), Event::ToolPlanned { call });
    }
    if none {
        d.checkpoint(&run);
    }
    Ok(())
}

/// Gives every call an id of ours; ids of the server that occur twice are told apart.
fn plan(d: &mut Decision, run: &Run, agent: &Agent, planned: &[PlannedCall]) -> Vec<ToolCall> {
    let mut taken = std::collections::BTreeSet::new();
    let mut calls = Vec::with_capacity(planned.len());
    for (ix, call) in planned.iter().enumerate() {
        let mut provider_id = call.provider_id.clone();
        if provider_id.is_empty() || !taken.insert(provider_id.clone()) {
            provider_id =
                format!("{}{}{ix}", call.provider_id, if call.provider_id.is_empty() { "call_" } else { "_" });
            taken.insert(provider_id.clone());
        }
        calls.push(ToolCall {
            id: ToolCallId::new(&mut d.ids),
            agent: agent.id.clone(),
            run: run.id.clone(),
            assistant_seq: agent.next_seq,
            ix: ix as u32,
            provider_id,
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            effect: call.effect,
            pre_hash: None,
            post_hash: None,
            state: ToolCallState::Planned,
            fence: None,
            result_seq: None,
            created_at: d.at,
            started_at: None,
            ended_at: None,
        });
    }
    calls
}

/// A request that failed.
pub(super) struct Failure<'a> {
    pub call: &'a ModelCallId,
    pub class: &'a str,
    pub message: &'a str,
    pub retry_at: Option<Millis>,
    pub instead: Option<&'a str>,
}

pub(super) fn fail(d: &mut Decision, id: &RunId, failure: Failure) -> Result<(), Rejection> {
    let (_, task, agent) = d.running(id)?;
    started(d, &agent, failure.call)?;
    let event = Event::TurnFailed {
        call: failure.call.clone(),
        agent: agent.id,
        class: failure.class.to_owned(),
        message: failure.message.to_owned(),
        retry_at: failure.retry_at,
        instead: failure.instead.map(str::to_owned),
    };
    d.emit(Some(&task.id), event);
    Ok(())
}

fn started(d: &Decision, agent: &Agent, call: &ModelCallId) -> Result<(), Rejection> {
    match d.snap.live_model_call(&agent.id) {
        Some(live) if live.id == *call => Ok(()),
        _ => Err(Rejection::wrong_state(format!("request {call} is not under way"), "")),
    }
}
