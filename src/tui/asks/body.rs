//! What is asked, whole, as rows: nothing is left out and nothing hides.

use super::super::chat::draw::MARGIN;
use super::super::diff;
use super::super::projection::Projection;
use super::super::text;
use super::super::theme::Theme;
use super::super::wrap;
use super::Ask;
use crate::domain::permission::{Access, Action};
use crate::domain::{Approval, Check, CheckState, DecisionRequest, Question};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// All of what is asked, as rows.
pub(super) fn body(ask: Ask, told: &Projection, theme: &Theme, room: usize, option: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    if let Some(work) = ask.asker(told) {
        let words = format!("asked by {}, whose work is: {}", text::exact(&work.name), text::exact(&work.objective));
        push(&mut rows, &words, room, theme.dim.into());
    }
    rows.extend(match ask {
        Ask::Approval(approval) => approval_body(approval, theme, room),
        Ask::Question(question) => question_body(question, theme, room, option),
        Ask::Check(check) => check_body(check, theme, room),
        Ask::Decision(asked) => decision_body(asked, theme, room),
    });
    rows
}

fn decision_body(asked: &DecisionRequest, theme: &Theme, room: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    push(&mut rows, &text::clean(&asked.question), room, theme.strong.into());
    push(&mut rows, &format!("without an answer: {}", text::clean(&asked.fallback)), room, theme.dim.into());
    rows
}

fn approval_body(approval: &Approval, theme: &Theme, room: usize) -> Vec<Line<'static>> {
    let action = &approval.action;
    let dim = Style::from(theme.dim);
    let mut rows = Vec::new();
    // The one line that must be read whole: it wraps as everything else does.
    push(&mut rows, &format!("{}: {}", text::exact(&action.tool), text::exact(&approval.why)), room, theme.warn.into());
    if !action.beyond.is_empty() && action.beyond != approval.why {
        push(&mut rows, &format!("beyond the folder: {}", text::exact(&action.beyond)), room, theme.warn.into());
    }
    push(&mut rows, &format!("in {}", text::exact(&action.cwd)), room, dim);
    rows.push(Line::default());
    push(&mut rows, &text::exact(&action.subject), room, theme.strong.into());
    if let Some(always) = always(action) {
        push(&mut rows, &format!("always means: {always}"), room, dim);
    }
    if !action.detail.is_empty() {
        rows.push(Line::default());
        let detail = text::exact(&action.detail);
        if diff::is_one(&detail) {
            let inner = room.saturating_sub(MARGIN + 1).max(1);
            for mut line in diff::draw(&detail, theme, inner) {
                line.spans.insert(0, Span::raw(" ".repeat(MARGIN)));
                rows.push(line);
            }
        } else {
            push(&mut rows, &detail, room, theme.text.into());
        }
    }
    rows
}

/// What a standing rule would cover, where that is more than what is shown.
fn always(action: &Action) -> Option<String> {
    let subject = text::exact(&action.rule_subject);
    match action.access {
        Access::Write => Some(format!("any change of {subject}")),
        Access::Read => Some(format!("any look at {subject}")),
        Access::Network => Some(format!("anything from {subject}")),
        Access::Execute | Access::Human => None,
    }
}

fn question_body(question: &Question, theme: &Theme, room: usize, option: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    push(&mut rows, &text::clean(&question.question), room, theme.strong.into());
    if !question.meanwhile.is_empty() {
        push(&mut rows, &format!("meanwhile: {}", text::line(&question.meanwhile)), room, theme.dim.into());
    }
    if !question.options.is_empty() {
        rows.push(Line::default());
    }
    for (ix, words) in question.options.iter().enumerate() {
        let (sign, style) = if ix == option { ("›", theme.accent) } else { (" ", theme.text) };
        let clean = text::clean(words);
        let inner = room.saturating_sub(MARGIN + 3).max(1);
        for (row, range) in wrap::wrap(&clean, inner).iter().enumerate() {
            let sign = if row == 0 { sign } else { " " };
            rows.push(Line::styled(format!("   {sign} {}", wrap::shown(&clean, range, inner)), style));
        }
    }
    rows
}

fn check_body(check: &Check, theme: &Theme, room: usize) -> Vec<Line<'static>> {
    let mut rows = Vec::new();
    push(&mut rows, &text::exact(&check.text), room, theme.strong.into());
    let judged = match check.state {
        CheckState::Failed => ", judged as failed",
        CheckState::Open | CheckState::Passed | CheckState::Waived => "",
    };
    push(&mut rows, &format!("judged by {}{judged}", check.kind), room, theme.dim.into());
    rows
}

fn push(rows: &mut Vec<Line<'static>>, clean: &str, room: usize, style: Style) {
    let room = room.saturating_sub(MARGIN + 1).max(1);
    for row in wrap::wrap(clean, room) {
        rows.push(Line::from(vec![Span::raw("   "), Span::styled(wrap::shown(clean, &row, room).to_owned(), style)]));
    }
}
