//! Answers of a person: approvals, questions, trust, and the word to stop.

use super::super::action::{Effect, Step};
use super::super::asks::{Ask, MOMENT, TooSoon};
use super::super::composer::Purpose;
use super::super::model::{Focus, Model};
use super::submit;
use crate::domain::command::ApprovalAnswer;
use crate::domain::{CheckState, UserCommand};

pub(super) fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    model.asks.choose(&model.told, step);
    Vec::new()
}

pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    model.asks.scroll(step);
    Vec::new()
}

fn refuse(model: &mut Model, why: TooSoon) -> Vec<Effect> {
    match why {
        TooSoon::Unseen => model.warn("not answered: that came on screen just now; look, then press again"),
        TooSoon::Unread => model.warn("not answered: scroll to its end first (pgdn)"),
    }
    Vec::new()
}

pub(super) fn answer(model: &mut Model, answer: ApprovalAnswer) -> Vec<Effect> {
    let Some(ask) = model.ask() else { return Vec::new() };
    let Ask::Approval(approval) = ask else { return Vec::new() };
    let allowed = match answer {
        ApprovalAnswer::Once | ApprovalAnswer::Always => model.asks.may_allow(ask, model.now),
        ApprovalAnswer::Deny | ApprovalAnswer::Never => model.asks.may_refuse(ask, model.now),
    };
    let wanted = UserCommand::DecideApproval {
        task: approval.task.clone(),
        approval: approval.id.clone(),
        shown: approval.action_hash.clone(),
        answer,
        because: None,
    };
    match allowed {
        Ok(()) => submit(model, wanted, None),
        Err(why) => refuse(model, why),
    }
}

pub(super) fn judge(model: &mut Model, outcome: CheckState) -> Vec<Effect> {
    let Some(ask) = model.ask() else { return Vec::new() };
    let Ask::Check(check) = ask else { return Vec::new() };
    let counts = match outcome {
        CheckState::Passed | CheckState::Waived => model.asks.may_allow(ask, model.now),
        CheckState::Failed | CheckState::Open => model.asks.may_refuse(ask, model.now),
    };
    let wanted = UserCommand::GiveVerdict {
        task: check.task.clone(),
        check: check.id.clone(),
        outcome,
        evidence: serde_json::json!({ "said": "on screen" }),
    };
    match counts {
        Ok(()) => submit(model, wanted, None),
        Err(why) => refuse(model, why),
    }
}

pub(super) fn choose_option(model: &mut Model, step: Step) -> Vec<Effect> {
    if let Some(Ask::Question(question)) = model.ask() {
        model.asks.option = step.apply(model.asks.option, question.options.len(), 1);
    }
    Vec::new()
}

pub(super) fn take_option(model: &mut Model) -> Vec<Effect> {
    let Some(ask) = model.ask() else { return Vec::new() };
    let Ask::Question(question) = ask else { return Vec::new() };
    let Some(option) = question.options.get(model.asks.option).cloned() else { return write(model) };
    if let Err(why) = model.asks.may_refuse(ask, model.now) {
        return refuse(model, why);
    }
    let wanted =
        UserCommand::AnswerQuestion { task: question.task.clone(), question: question.id.clone(), answer: option };
    submit(model, wanted, None)
}

pub(super) fn write(model: &mut Model) -> Vec<Effect> {
    let purpose = match model.ask() {
        Some(Ask::Question(question)) => Purpose::Answer(question.id.clone()),
        Some(Ask::Approval(approval)) => Purpose::Refuse(approval.id.clone()),
        Some(Ask::Decision(asked)) => Purpose::Decide(asked.id.clone()),
        Some(Ask::Check(_)) | None => return Vec::new(),
    };
    model.composer.begin(purpose, "");
    model.focus = Focus::Composer;
    Vec::new()
}

pub(super) fn trust(model: &mut Model) -> Vec<Effect> {
    if model.trust_shown.is_none_or(|at| model.now - at < MOMENT) {
        return refuse(model, TooSoon::Unseen);
    }
    let folder = model.facts.folder.clone();
    submit(model, UserCommand::TrustFolder { folder, trusted: true }, None)
}

pub(super) fn trust_later(model: &mut Model) -> Vec<Effect> {
    model.trust_later = true;
    Vec::new()
}

pub(super) fn interrupt(model: &mut Model) -> Vec<Effect> {
    match model.wanted.clone() {
        Some(task) if model.told.run().is_some() => submit(model, UserCommand::Interrupt { task }, None),
        _ => Vec::new(),
    }
}
