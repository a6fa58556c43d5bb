//! Writing: messages, new words for queued ones, answers; history; the draft.

use super::super::action::{Effect, Step};
use super::super::composer::{Edit, Purpose};
use super::super::model::{Focus, Model};
use super::submit;
use crate::domain::command::ApprovalAnswer;
use crate::domain::{Budget, Delivery, MessageId, Millis, TaskId, UserCommand};

/// How long after the last key the draft is kept.
pub(super) const DRAFT_AFTER: Millis = 300;

pub(super) fn edit(model: &mut Model, edit: Edit) -> Vec<Effect> {
    model.composer.edit(edit);
    Vec::new()
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if model.overlay.is_none() {
        model.focus = Focus::Composer;
        model.composer.paste(text);
    }
    Vec::new()
}

pub(super) fn clear(model: &mut Model) -> Vec<Effect> {
    model.composer.set("");
    Vec::new()
}

pub(super) fn older(model: &mut Model) -> Vec<Effect> {
    let history = model.history();
    model.composer.recall_older(&history);
    Vec::new()
}

pub(super) fn newer(model: &mut Model) -> Vec<Effect> {
    let history = model.history();
    model.composer.recall_newer(&history);
    Vec::new()
}

pub(super) fn leave(model: &mut Model) -> Vec<Effect> {
    model.composer.resume();
    Vec::new()
}

pub(super) fn keep_draft(model: &mut Model) -> Vec<Effect> {
    model.draft_due = None;
    vec![Effect::KeepDraft { pane: model.draft_pane(), text: unsent(model) }]
}

/// What is lost with this screen if nobody keeps it: messages for a Task that is not made yet are
/// still words of the draft.
pub(super) fn unsent(model: &Model) -> String {
    let waiting = model.for_new_task.iter().filter(|_| model.wanted.is_none());
    above(waiting.map(String::as_str), model.composer.draft())
}

/// Puts words above a draft, with a blank line between them.
pub(super) fn above<'a>(words: impl Iterator<Item = &'a str>, draft: String) -> String {
    let mut parts: Vec<&str> = words.collect();
    if !draft.is_empty() {
        parts.push(&draft);
    }
    parts.join("\n\n")
}

pub(super) fn send(model: &mut Model) -> Vec<Effect> {
    let text = model.composer.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    let purpose = model.composer.purpose.clone();
    if purpose == Purpose::Message {
        return send_message(model, text);
    }
    model.composer.resume();
    let Some(task) = model.wanted.clone() else { return Vec::new() };
    let words = text.clone();
    let wanted = match purpose {
        Purpose::Message => return Vec::new(),
        Purpose::Edit(message) => UserCommand::EditMessage { task, message, text },
        Purpose::Answer(question) => UserCommand::AnswerQuestion { task, question, answer: text },
        Purpose::Refuse(approval) => {
            let Some(shown) = model.told.records.approvals.get(&approval).map(|asked| asked.action_hash.clone()) else {
                model.warn("that was answered already");
                return put_back(model, &words);
            };
            UserCommand::DecideApproval { task, approval, shown, answer: ApprovalAnswer::Deny, because: Some(text) }
        }
    };
    submit(model, wanted, Some(words))
}

/// Gives words back that could not be sent.
fn put_back(model: &mut Model, words: &str) -> Vec<Effect> {
    let text = above(std::iter::once(words), model.composer.draft());
    model.composer.set_draft(&text);
    model.draft_due = Some(model.now + DRAFT_AFTER);
    Vec::new()
}

fn send_message(model: &mut Model, text: String) -> Vec<Effect> {
    let wanted = match model.wanted.clone() {
        Some(task) => {
            UserCommand::SendMessage { task, text: text.clone(), refs: Vec::new(), delivery: Delivery::Boundary }
        }
        None if is_creating(model) => {
            model.composer.take();
            model.for_new_task.push(text);
            return keep_draft(model);
        }
        None => UserCommand::CreateTask {
            title: String::new(),
            cwd: Some(model.facts.folder.path.clone()),
            model: None,
            policy: model.facts.policy,
            budget: Budget::default(),
            message: Some(text.clone()),
            checks: Vec::new(),
        },
    };
    model.composer.take();
    model.chat.follow();
    let mut effects = submit(model, wanted, Some(text));
    effects.extend(keep_draft(model));
    effects
}

/// The Task is made: what was written for it meanwhile goes there.
pub(super) fn send_to_new_task(model: &mut Model, task: &TaskId) -> Vec<Effect> {
    let mut effects = Vec::new();
    for text in std::mem::take(&mut model.for_new_task) {
        let (task, refs, words) = (task.clone(), Vec::new(), Some(text.clone()));
        let wanted = UserCommand::SendMessage { task, text, refs, delivery: Delivery::Boundary };
        effects.extend(submit(model, wanted, words));
    }
    effects
}

fn is_creating(model: &Model) -> bool {
    model.outbox.iter().any(|out| matches!(out.wanted, UserCommand::CreateTask { .. }))
}

pub(super) fn choose_queued(model: &mut Model, step: Step) -> Vec<Effect> {
    model.queue = step.apply(model.queue, model.told.queued().len(), 1);
    Vec::new()
}

fn chosen_queued(model: &Model) -> Option<(MessageId, String)> {
    model.told.queued().get(model.queue).map(|message| (message.id.clone(), message.text.clone()))
}

pub(super) fn edit_queued(model: &mut Model) -> Vec<Effect> {
    if let Some((id, text)) = chosen_queued(model) {
        model.composer.begin(Purpose::Edit(id), &text);
        model.focus = Focus::Composer;
    }
    Vec::new()
}

pub(super) fn withdraw(model: &mut Model) -> Vec<Effect> {
    match (model.wanted.clone(), chosen_queued(model)) {
        (Some(task), Some((message, _))) => submit(model, UserCommand::WithdrawMessage { task, message }, None),
        _ => Vec::new(),
    }
}
