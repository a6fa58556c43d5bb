//! Tasks, their objective and acceptance, and what people say in them.

use super::*;
use crate::domain::permission::Policy;
use serde_json::Value;

/// A Task to be.
pub(super) struct NewTask<'a> {
    pub title: &'a str,
    pub cwd: &'a Option<String>,
    pub model: &'a Option<String>,
    pub policy: Policy,
    pub budget: Budget,
    pub message: &'a Option<String>,
    pub checks: &'a [(CheckKind, String)],
}

pub(super) fn create(d: &mut Decision, new: NewTask) -> Result<(), Rejection> {
    let message = new.message.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if message.is_none() && new.message.is_some() {
        return Err(Rejection::invalid("the message is empty", "say what you want done"));
    }
    let title = match new.title.trim() {
        "" => short_title(message.unwrap_or("New Task")),
        given => short_title(given),
    };
    let task = Task {
        id: TaskId::new(&mut d.ids),
        title,
        status: TaskStatus::Active,
        reason: None,
        resume_status: None,
        archived: false,
        cwd: new.cwd.clone(),
        model: new.model.clone(),
        policy: new.policy,
        budget: new.budget,
        objective_version: 0,
        usage: Usage::default(),
        main: AgentId::new(&mut d.ids),
        waiting_for: Vec::new(),
        last_words: String::new(),
        created_at: d.at,
        updated_at: d.at,
    };
    let agent = Agent {
        id: task.main.clone(),
        task: task.id.clone(),
        role: AgentRole::Main,
        next_seq: 1,
        tail_from_seq: 1,
        last: None,
        failures: 0,
        retry_at: None,
        created_at: d.at,
        retired_at: None,
    };
    let id = task.id.clone();
    d.emit(Some(&id), Event::TaskCreated { task, agent });
    if let Some(text) = message {
        send(d, &id, text, &[], Delivery::Boundary)?;
    }
    for (kind, text) in new.checks {
        add_check(d, &id, *kind, text)?;
    }
    Ok(())
}

/// The first line of a text, at most 60 characters.
pub fn short_title(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("New Task");
    let mut title: String = line.chars().take(60).collect();
    if line.chars().count() > 60 {
        title.push('…');
    }
    title
}

pub(super) fn send(
    d: &mut Decision,
    id: &TaskId,
    text: &str,
    refs: &[String],
    delivery: Delivery,
) -> Result<(), Rejection> {
    if text.trim().is_empty() {
        return Err(Rejection::invalid("the message is empty", "say what you want done"));
    }
    let task = d.task(id)?;
    reopen(d, &task);
    if task.objective_version == 0 {
        d.emit(Some(id), Event::ObjectiveSet { version: 1, text: text.to_owned() });
    }
    let key = format!("user:{}", d.command);
    d.tell_main(&task, MessageKind::User, key, text.to_owned(), Tell { delivery, refs: refs.to_vec() });
    if delivery == Delivery::Boundary {
        super::tool::release_questions(d, &task);
    }
    d.settle_status(id);
    Ok(())
}

/// A person's words lead out of every end.
fn reopen(d: &mut Decision, task: &Task) {
    if task.status.is_ended() {
        d.set_status(&task.id, TaskStatus::Active, None);
    }
    if task.archived {
        d.emit(Some(&task.id), Event::TaskArchived { archived: false });
    }
}

fn queued_by_person(d: &Decision, task: &TaskId, id: &MessageId) -> Result<Message, Rejection> {
    let message = d
        .snap
        .messages
        .get(id)
        .filter(|message| message.task.as_ref() == Some(task))
        .cloned()
        .ok_or_else(|| Rejection::not_found(format!("a waiting message {id}"), "`cowork queue TASK` lists them"))?;
    if message.from.kind != ActorKind::Person {
        return Err(Rejection::new(
            super::super::rejection::RejectionKind::Forbidden,
            format!("message {id} is not yours"),
            "only what a person sent can be changed or withdrawn",
        ));
    }
    if message.state != MessageState::Queued {
        return Err(Rejection::wrong_state(
            format!("message {id} was already {}", message.state),
            "send another message to correct it",
        ));
    }
    Ok(message)
}

pub(super) fn edit_message(d: &mut Decision, task: &TaskId, id: &MessageId, text: &str) -> Result<(), Rejection> {
    queued_by_person(d, task, id)?;
    if text.trim().is_empty() {
        return Err(Rejection::invalid("the message is empty", "withdraw it instead"));
    }
    d.emit(Some(task), Event::MessageEdited { message: id.clone(), text: text.to_owned() });
    Ok(())
}

/// Swaps a queued message with the one beside it; at the end of the queue nothing happens.
pub(super) fn move_message(d: &mut Decision, task: &TaskId, id: &MessageId, to: Move) -> Result<(), Rejection> {
    let message = queued_by_person(d, task, id)?;
    let main = d.task(task)?.main;
    let queue = d.snap.inbox(&main, MessageState::Queued);
    let at = queue.iter().position(|one| one.id == *id).unwrap_or(0);
    let beside = match to {
        Move::Earlier => at.checked_sub(1),
        Move::Later => Some(at + 1),
    };
    let beside = beside.and_then(|beside| queue.get(beside)).map(|one| (one.id.clone(), one.order));
    if let Some((beside, order)) = beside {
        d.emit(Some(task), Event::MessageMoved { message: id.clone(), order });
        d.emit(Some(task), Event::MessageMoved { message: beside, order: message.order });
    }
    Ok(())
}

pub(super) fn set_delivery(
    d: &mut Decision,
    id: &TaskId,
    message: &MessageId,
    delivery: Delivery,
) -> Result<(), Rejection> {
    if queued_by_person(d, id, message)?.delivery == delivery {
        return Ok(());
    }
    d.emit(Some(id), Event::MessageDeliverySet { message: message.clone(), delivery });
    if delivery == Delivery::Boundary {
        let task = d.task(id)?;
        super::tool::release_questions(d, &task);
    }
    d.settle_status(id);
    Ok(())
}

pub(super) fn withdraw(d: &mut Decision, task: &TaskId, id: &MessageId) -> Result<(), Rejection> {
    queued_by_person(d, task, id)?;
    d.emit(Some(task), Event::MessageWithdrawn { message: id.clone() });
    d.settle_status(task);
    Ok(())
}

pub(super) fn pause(d: &mut Decision, id: &TaskId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if task.status.is_ended() {
        return Err(Rejection::wrong_state(format!("Task {id} is {}", task.status), "there is nothing to pause"));
    }
    if task.status != TaskStatus::Paused {
        d.emit(
            Some(id),
            Event::TaskStatusChanged { status: TaskStatus::Paused, reason: None, resume_status: Some(task.status) },
        );
    }
    Ok(())
}

pub(super) fn resume(d: &mut Decision, id: &TaskId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    match task.status {
        TaskStatus::Paused => {
            d.set_status(id, TaskStatus::Active, None);
            d.settle_status(id);
        }
        TaskStatus::Failed | TaskStatus::Active | TaskStatus::Cancelled => {
            if d.snap.live_run(&task.main).is_some_and(|run| run.state == RunState::Running) {
                return Err(Rejection::wrong_state(format!("Task {id} is running"), ""));
            }
            d.set_status(id, TaskStatus::Active, None);
            if d.snap.due(&d.task(id)?).is_empty() {
                let key = format!("resume:{}", d.command);
                // It is the person's word, and wakes Main as such: a notice would not.
                d.tell_main(&task, MessageKind::User, key, "Go on.".into(), Tell::soon());
            }
            d.settle_status(id);
        }
        TaskStatus::Parked | TaskStatus::AwaitingHuman | TaskStatus::Completed => {
            return Err(Rejection::wrong_state(
                format!("Task {id} is {}", task.status),
                match task.status {
                    TaskStatus::AwaitingHuman => "answer what it asks (`cowork approvals ls`, `cowork inbox ls`)",
                    _ => "send a message to go on",
                },
            ));
        }
    }
    Ok(())
}

pub(super) fn cancel(d: &mut Decision, id: &TaskId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if task.status.is_ended() {
        return Err(Rejection::wrong_state(format!("Task {id} is already {}", task.status), ""));
    }
    if let Some(run) = d.snap.live_run(&task.main).cloned() {
        super::run::stop(d, &run, EndReason::Cancelled, None);
    }
    super::delegate::cancel_all(d, &task);
    super::approval::cancel_all(d, &task);
    super::job::stop_all(d, id);
    let queued: Vec<MessageId> =
        d.snap.inbox(&task.main, MessageState::Queued).iter().map(|message| message.id.clone()).collect();
    for message in queued {
        d.emit(Some(id), Event::MessageUndelivered { message, reason: "the Task was cancelled".into() });
    }
    d.set_status(id, TaskStatus::Cancelled, None);
    Ok(())
}

pub(super) fn rename(d: &mut Decision, id: &TaskId, title: &str) -> Result<(), Rejection> {
    d.task(id)?;
    if title.trim().is_empty() {
        return Err(Rejection::invalid("the title is empty", ""));
    }
    d.emit(Some(id), Event::TaskRenamed { title: short_title(title), usage: None });
    Ok(())
}

/// Takes the title that a model found, unless somebody gave another in between; what finding it used
/// counts either way.
pub(super) fn name(d: &mut Decision, id: &TaskId, title: &str, before: &str, usage: &Usage) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let stays = title.trim().is_empty() || task.title != before;
    let title = if stays { task.title } else { short_title(title) };
    d.emit(Some(id), Event::TaskRenamed { title, usage: Some(usage.clone()) });
    Ok(())
}

pub(super) fn archive(d: &mut Decision, id: &TaskId, archived: bool) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if archived && d.snap.live_run(&task.main).is_some() {
        return Err(Rejection::wrong_state(format!("Task {id} is still working"), "cancel it first, or wait"));
    }
    if task.archived != archived {
        d.emit(Some(id), Event::TaskArchived { archived });
    }
    Ok(())
}

pub(super) fn remove(d: &mut Decision, id: &TaskId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if d.snap.live_run(&task.main).is_some() {
        return Err(Rejection::wrong_state(format!("Task {id} is still working"), "cancel it first"));
    }
    super::job::remove_all(d, id)?;
    d.emit(None, Event::TaskRemoved { removed: id.clone(), title: task.title });
    Ok(())
}

pub(super) fn set_objective(d: &mut Decision, id: &TaskId, text: &str) -> Result<(), Rejection> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Rejection::invalid("the objective is empty", "say what you want done"));
    }
    let task = d.task(id)?;
    let version = task.objective_version + 1;
    reopen(d, &task);
    d.emit(Some(id), Event::ObjectiveSet { version, text: text.to_owned() });
    let words = format!("The objective of this Task is now (version {version}):\n{text}");
    d.tell_main(&task, MessageKind::User, format!("objective:{version}"), words, Tell::soon());
    d.settle_status(id);
    Ok(())
}

pub(super) fn add_check(d: &mut Decision, id: &TaskId, kind: CheckKind, text: &str) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let text = text.trim();
    if text.is_empty() {
        return Err(Rejection::invalid("the check is empty", "give its words, or the command that judges it"));
    }
    let check = Check {
        id: CheckId::new(&mut d.ids),
        task: id.clone(),
        objective_version: task.objective_version,
        kind,
        text: text.to_owned(),
        state: CheckState::Open,
        failures: 0,
        judged_through: None,
        created_at: d.at,
    };
    d.emit(Some(id), Event::CheckAdded { check });
    d.settle_status(id);
    Ok(())
}

pub(super) fn person_verdict(
    d: &mut Decision,
    id: &TaskId,
    check: &CheckId,
    outcome: CheckState,
    evidence: &Value,
) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if outcome == CheckState::Open {
        return Err(Rejection::invalid("a verdict is passed, failed or waived", ""));
    }
    give_verdict(d, &task, check, outcome, evidence)?;
    d.settle_status(id);
    Ok(())
}

/// Records a judgement. A failed one is told to Main, three times at the most for each check.
pub(super) fn give_verdict(
    d: &mut Decision,
    task: &Task,
    id: &CheckId,
    outcome: CheckState,
    evidence: &Value,
) -> Result<(), Rejection> {
    let check = d
        .snap
        .checks
        .get(id)
        .filter(|check| check.task == task.id)
        .cloned()
        .ok_or_else(|| Rejection::not_found(format!("check {id}"), "`cowork show TASK` lists the checks"))?;
    let through_seq = d.snap.agents.get(&task.main).map_or(1, |agent| agent.next_seq);
    let verdict = Verdict {
        id: VerdictId::new(&mut d.ids),
        check: id.clone(),
        outcome,
        evidence: evidence.clone(),
        through_seq,
        actor: d.actor.clone(),
        at: d.at,
    };
    let key = format!("verdict:{}", verdict.id);
    d.emit(Some(&task.id), Event::VerdictGiven { verdict });
    if outcome == CheckState::Failed && check.failures < 3 {
        let text = format!(
            "A point of acceptance was judged as failed.\nCheck ({}): {}\nEvidence: {evidence}",
            check.kind, check.text
        );
        reopen(d, task);
        d.tell_main(task, MessageKind::Notice, key, text, Tell::soon());
    }
    Ok(())
}

pub(super) fn set_model(d: &mut Decision, id: &TaskId, model: &Option<String>) -> Result<(), Rejection> {
    if d.task(id)?.model != *model {
        d.emit(Some(id), Event::TaskModelSet { model: model.clone() });
    }
    Ok(())
}

pub(super) fn set_policy(d: &mut Decision, id: &TaskId, policy: Policy) -> Result<(), Rejection> {
    if d.task(id)?.policy != policy {
        d.emit(Some(id), Event::TaskPolicySet { policy });
    }
    Ok(())
}

pub(super) fn set_budget(d: &mut Decision, id: &TaskId, budget: Budget) -> Result<(), Rejection> {
    if d.task(id)?.budget != budget {
        d.emit(Some(id), Event::TaskBudgetSet { budget });
    }
    Ok(())
}
