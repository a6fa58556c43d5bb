//! What people answer: approvals, standing rules and questions.

use super::*;
use crate::domain::command::ApprovalAnswer;

pub(super) fn answer(
    d: &mut Decision,
    id: &TaskId,
    approval: &ApprovalId,
    shown: &str,
    answer: ApprovalAnswer,
    because: &Option<String>,
) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let approval = d.snap.approvals.get(approval).filter(|known| known.task == *id).cloned().ok_or_else(|| {
        Rejection::not_found(format!("an open approval {approval}"), "`cowork approvals ls` lists the open ones")
    })?;
    if approval.state != ApprovalState::Pending {
        return Err(Rejection::wrong_state(format!("approval {} was already {}", approval.id, approval.state), ""));
    }
    if approval.action_hash != shown {
        return Err(Rejection::wrong_state(
            "what was shown is not what would run",
            "look at the approval again before you answer",
        ));
    }
    let yes = matches!(answer, ApprovalAnswer::Once | ApprovalAnswer::Always);
    let state = if yes { ApprovalState::Allowed } else { ApprovalState::Denied };
    d.emit(
        Some(id),
        Event::ApprovalDecided {
            approval: approval.id.clone(),
            call: approval.tool_call.clone(),
            state,
            because: because.clone(),
            decided_by: Some(d.actor.clone()),
        },
    );
    if matches!(answer, ApprovalAnswer::Always | ApprovalAnswer::Never) {
        let rule = Rule {
            id: RuleId::new(&mut d.ids),
            cwd: approval.action.cwd.clone(),
            allow: yes,
            tool: approval.action.tool.clone(),
            subject: approval.action.rule_subject.clone(),
            approval: approval.id.clone(),
            actor: d.actor.clone(),
            created_at: d.at,
        };
        d.emit(None, Event::RuleAdded { rule });
    }
    if !yes {
        let call = d.snap.tool_calls.get(&approval.tool_call).cloned();
        let run = d.snap.live_run(&approval.agent).cloned();
        if let (Some(call), Some(run)) = (call, run) {
            let text = match because.as_deref().map(str::trim).filter(|words| !words.is_empty()) {
                Some(words) => format!("The person said no: {words}"),
                None => "The person said no. Nothing was done.".to_owned(),
            };
            super::tool::settle_with(d, &run, &call, ToolCallState::Denied, vec![Part::text(text)], None);
        }
    }
    d.settle_status(&task.id);
    Ok(())
}

/// An approval or question whose call is being settled another way is dropped with it.
pub(super) fn drop_for(d: &mut Decision, task: &TaskId, call: &ToolCall) {
    if let Some(approval) = d.snap.approval_of(&call.id).filter(|a| a.state == ApprovalState::Pending).cloned() {
        d.emit(
            Some(task),
            Event::ApprovalDecided {
                approval: approval.id,
                call: call.id.clone(),
                state: ApprovalState::Cancelled,
                because: None,
                decided_by: None,
            },
        );
    }
    if let Some(decision) = d.snap.decision_of(&call.id).filter(|q| q.state == DecisionState::Open).cloned() {
        super::delegate::cancel_decision(d, &decision);
    }
    if let Some(question) = d.snap.question_of(&call.id).filter(|q| q.state == QuestionState::Open).cloned() {
        cancel_question(d, task, &question);
    }
}

fn cancel_question(d: &mut Decision, task: &TaskId, question: &Question) {
    let event =
        Event::QuestionResolved { question: question.id.clone(), state: QuestionState::Cancelled, answer: None };
    d.emit(Some(task), event);
}

/// Drops every question of a Task that is still open after its calls were settled.
pub(super) fn cancel_all(d: &mut Decision, task: &Task) {
    let open: Vec<Question> =
        d.snap.questions.values().filter(|q| q.task == task.id && q.state == QuestionState::Open).cloned().collect();
    for question in open {
        cancel_question(d, &task.id, &question);
    }
}

pub(super) fn answer_question(
    d: &mut Decision,
    id: &TaskId,
    question: &QuestionId,
    answer: &str,
) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if answer.trim().is_empty() {
        return Err(Rejection::invalid("the answer is empty", "say something, or interrupt"));
    }
    let question = d.snap.questions.get(question).filter(|known| known.task == *id).cloned().ok_or_else(|| {
        Rejection::not_found(format!("an open question {question}"), "`cowork inbox ls` lists the open ones")
    })?;
    if question.state != QuestionState::Open {
        return Err(Rejection::wrong_state(format!("question {} was already {}", question.id, question.state), ""));
    }
    let event = Event::QuestionResolved {
        question: question.id.clone(),
        state: QuestionState::Answered,
        answer: Some(answer.to_owned()),
    };
    d.emit(Some(id), event);
    let call = d.snap.tool_calls.get(&question.tool_call).filter(|call| !call.state.is_settled()).cloned();
    let run = d.snap.live_run(&question.agent).cloned();
    match (call, run) {
        (Some(call), Some(run)) => {
            let parts = vec![Part::text(format!("The person answered: {answer}"))];
            super::tool::settle_with(d, &run, &call, ToolCallState::Done, parts, None);
        }
        _ => {
            let text = format!("You asked: {}\nThe person answered: {answer}", question.question);
            d.tell_main(&task, MessageKind::Answer, format!("question:{}:answer", question.id), text, Tell::soon());
        }
    }
    d.settle_status(id);
    Ok(())
}

pub(super) fn remove_rule(d: &mut Decision, rule: &RuleId) -> Result<(), Rejection> {
    if !d.snap.rules.contains_key(rule) {
        return Err(Rejection::not_found(format!("rule {rule}"), "`cowork approvals rules` lists them"));
    }
    d.emit(None, Event::RuleRemoved { rule: rule.clone() });
    Ok(())
}
