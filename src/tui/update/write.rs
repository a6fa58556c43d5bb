//! Writing: messages, new words for queued ones, answers; history; the draft.

use super::super::action::{Effect, Step};
use super::super::composer::{Edit, Purpose};
use super::super::model::{Focus, Model};
use super::submit;
use crate::domain::{Budget, Delivery, MessageId, Millis, UserCommand};

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
    vec![Effect::KeepDraft { pane: model.draft_pane(), text: model.composer.draft() }]
}

pub(super) fn send(model: &mut Model) -> Vec<Effect> {
    let text = model.composer.text();
    if text.trim().is_empty() {
        return Vec::new();
    }
    match model.composer.purpose.clone() {
        Purpose::Message => send_message(model, text),
        Purpose::Edit(message) => {
            model.composer.resume();
            match model.wanted.clone() {
                Some(task) => {
                    let wanted = UserCommand::EditMessage { task, message, text: text.clone() };
                    submit(model, wanted, Some(text))
                }
                None => Vec::new(),
            }
        }
        Purpose::Answer(question) => {
            model.composer.resume();
            match model.wanted.clone() {
                Some(task) => {
                    let wanted = UserCommand::AnswerQuestion { task, question, answer: text.clone() };
                    submit(model, wanted, Some(text))
                }
                None => Vec::new(),
            }
        }
    }
}

fn send_message(model: &mut Model, text: String) -> Vec<Effect> {
    let wanted = match model.wanted.clone() {
        Some(task) => {
            UserCommand::SendMessage { task, text: text.clone(), refs: Vec::new(), delivery: Delivery::Boundary }
        }
        None if is_creating(model) => {
            model.say("the Task is being made; enter again in a moment");
            return Vec::new();
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
