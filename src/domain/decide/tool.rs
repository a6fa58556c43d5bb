//! Tool calls: allowed or not, started, settled; and the call that asks the person.

use super::*;
use crate::domain::permission::{Action, Judgement, judge};

/// What an agent reads when the process died during an effect that can't be looked up.
pub const PROCESS_DIED: &str = "The process that ran this call died before its result was saved. It may have happened, \
     wholly or in part, or not at all. Look at the state of things before you repeat it.";

pub(super) fn start(
    d: &mut Decision,
    id: &RunId,
    call: &ToolCallId,
    action: &Action,
    pre_hash: &Option<String>,
    post_hash: &Option<String>,
) -> Result<(), Rejection> {
    let (run, task, agent) = d.running(id)?;
    let call = d.open_call(&agent, call)?;
    let allowed = match call.state {
        ToolCallState::Planned => None,
        ToolCallState::Approved => d.snap.approval_of(&call.id).cloned(),
        ToolCallState::AwaitingApproval => {
            return Err(Rejection::wrong_state("the call waits for a person", ""));
        }
        ToolCallState::Running
        | ToolCallState::Done
        | ToolCallState::Error
        | ToolCallState::Uncertain
        | ToolCallState::Cancelled
        | ToolCallState::Denied => return Err(Rejection::wrong_state("the call was already started", "")),
    };
    if let Some(approval) = allowed {
        if approval.action_hash != action.hash() {
            let text = "What the person allowed is no longer what would happen (something changed in between). \
                        Nothing was done. Look again, then ask again.";
            settle_with(d, &run, &call, ToolCallState::Error, vec![Part::text(text)], None);
            return Ok(());
        }
        begin(d, &task, &call, pre_hash, post_hash);
        return Ok(());
    }
    match judgement(&d.snap, &task, &agent.id, action) {
        Judgement::Allow => begin(d, &task, &call, pre_hash, post_hash),
        Judgement::Refuse(why) => {
            let text = format!("Not allowed: {why}. Nothing was done. Go on without it, or say what you would need.");
            settle_with(d, &run, &call, ToolCallState::Denied, vec![Part::text(text)], None);
        }
        Judgement::Ask(why) => {
            let approval = Approval {
                id: ApprovalId::new(&mut d.ids),
                task: task.id.clone(),
                agent: agent.id.clone(),
                tool_call: call.id.clone(),
                action_hash: action.hash(),
                action: action.clone(),
                why,
                state: ApprovalState::Pending,
                because: None,
                decided_by: None,
                created_at: d.at,
                decided_at: None,
            };
            d.emit(Some(&task.id), Event::ApprovalRequested { approval });
            d.settle_status(&task.id);
        }
    }
    Ok(())
}

/// Whether an agent may do something by itself, as things stand.
pub fn judgement(snapshot: &Snapshot, task: &Task, agent: &AgentId, action: &Action) -> Judgement {
    let rules: Vec<Rule> = snapshot.rules.values().cloned().collect();
    let granted = snapshot.live_assignment(agent).map(|work| &work.contract.grant);
    let policy = granted.map_or(task.policy, |grant| grant.policy_for(action, task.policy));
    match granted.and_then(|grant| grant.forbids(action)) {
        Some(why) => Judgement::Refuse(why),
        None => judge(policy, &rules, action),
    }
}

fn begin(d: &mut Decision, task: &Task, call: &ToolCall, pre_hash: &Option<String>, post_hash: &Option<String>) {
    let event = Event::ToolStarted {
        call: call.id.clone(),
        fence: d.snap.fence,
        pre_hash: pre_hash.clone(),
        post_hash: post_hash.clone(),
    };
    d.emit(Some(&task.id), event);
}

pub(super) fn settle(
    d: &mut Decision,
    id: &RunId,
    call: &ToolCallId,
    state: ToolCallState,
    parts: Vec<Part>,
    saw: Option<String>,
) -> Result<(), Rejection> {
    let (run, task, agent) = d.running(id)?;
    let call = d.open_call(&agent, call)?;
    match state {
        ToolCallState::Done | ToolCallState::Uncertain if call.state != ToolCallState::Running => {
            return Err(Rejection::wrong_state(format!("call {} was never started", call.id), ""));
        }
        _ if call.state == ToolCallState::AwaitingApproval => {
            return Err(Rejection::wrong_state("the call waits for a person", ""));
        }
        ToolCallState::Done | ToolCallState::Uncertain | ToolCallState::Error | ToolCallState::Cancelled => {}
        ToolCallState::Planned
        | ToolCallState::AwaitingApproval
        | ToolCallState::Approved
        | ToolCallState::Running
        | ToolCallState::Denied => return Err(Rejection::invalid(format!("{state} is not a result"), "")),
    }
    super::approval::drop_for(d, &task.id, &call);
    let awaited = if state == ToolCallState::Done { super::delegate::awaited(d, &call) } else { None };
    settle_with(d, &run, &call, state, awaited.unwrap_or(parts), saw);
    d.settle_status(&task.id);
    Ok(())
}

/// A person wants what runs to go on as a Job. Whoever runs it does so, unless it ends before.
pub(super) fn background(d: &mut Decision, task: &TaskId) -> Result<(), Rejection> {
    let task = d.task(task)?;
    let running: Vec<ToolCall> = d.snap.running_commands(&task.id).into_iter().cloned().collect();
    let of_main: Vec<ToolCall> = running.iter().filter(|call| call.agent == task.main).cloned().collect();
    let meant = if of_main.is_empty() { running } else { of_main };
    if meant.is_empty() {
        let hint = "a command that an agent runs with `shell` can go on in the background while it runs";
        return Err(Rejection::wrong_state(format!("Task {} runs no command", task.id), hint));
    }
    for call in meant {
        d.emit(Some(&task.id), Event::BackgroundAsked { call: call.id });
    }
    Ok(())
}

/// Saves the result row of a call, and a checkpoint when it was the last open one.
pub(super) fn settle_with(
    d: &mut Decision,
    run: &Run,
    call: &ToolCall,
    state: ToolCallState,
    parts: Vec<Part>,
    saw: Option<String>,
) {
    let mut row = d.row(&call.agent, Role::Tool, parts, 0);
    row.tool_call = Some(call.id.clone());
    row.outcome = Some(state);
    let event = Event::ToolSettled { call: call.id.clone(), agent: call.agent.clone(), state, row, saw };
    d.emit(Some(&run.task), event);
    super::delegate::release(d, call, state);
    d.checkpoint(run);
}

pub(super) fn ask_person(
    d: &mut Decision,
    id: &RunId,
    call: &ToolCallId,
    question: &str,
    options: &[String],
    meanwhile: &str,
) -> Result<(), Rejection> {
    let (_, task, agent) = d.running(id)?;
    let call = d.open_call(&agent, call)?;
    if d.snap.question_of(&call.id).is_some() {
        return Ok(());
    }
    let question = Question {
        id: QuestionId::new(&mut d.ids),
        task: task.id.clone(),
        agent: agent.id,
        tool_call: call.id,
        question: question.to_owned(),
        options: options.to_vec(),
        meanwhile: meanwhile.to_owned(),
        state: QuestionState::Open,
        answer: None,
        created_at: d.at,
        resolved_at: None,
    };
    d.emit(Some(&task.id), Event::QuestionAsked { question });
    d.settle_status(&task.id);
    Ok(())
}

/// Main waits for an answer and the person says something else: the call returns, the question
/// stays open, and its answer will come as a message.
pub(super) fn release_questions(d: &mut Decision, task: &Task) {
    let waiting: Vec<ToolCall> = d
        .snap
        .open_calls(&task.main)
        .into_iter()
        .filter(|call| d.snap.question_of(&call.id).is_some_and(|question| question.state == QuestionState::Open))
        .cloned()
        .collect();
    for call in waiting {
        let Some(run) = d.snap.live_run(&call.agent).cloned() else { continue };
        let text = "Not answered yet: the person wrote something else, which follows. The question stays open; \
                    an answer will come as a message.";
        settle_with(d, &run, &call, ToolCallState::Done, vec![Part::text(text)], None);
    }
}
