//! The chat: transcript, what waits for a person, what is queued, and the text being written.

use super::super::action::{Action, Pane, Step};
use super::super::agents;
use super::super::asks::{self, Ask};
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::text;
use super::{banner, both_ends, put, write};
use crate::domain::CheckState;
use crate::domain::command::ApprovalAnswer;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::ops::Range;

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    transcript(model, buffer);
    for (row, line) in banner_lines(model).iter().enumerate() {
        put(buffer, model.layout.trust, row as u16, line);
    }
    if model.focus == Focus::Asks {
        ask_whole(model, buffer)
    } else {
        ask_line(model, buffer)
    }
    write::draw(model, buffer);
}

fn banner_lines(model: &Model) -> Vec<Line<'static>> {
    if model.layout.trust.area() == 0 {
        Vec::new()
    } else {
        banner::trust(model, usize::from(model.layout.trust.width))
    }
}

fn transcript(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.transcript;
    if model.wanted.is_none() && model.outbox.is_empty() {
        let lines = banner::empty(model, usize::from(area.width));
        let above = usize::from(area.height).saturating_sub(lines.len());
        for (row, line) in lines.iter().enumerate() {
            put(buffer, area, (row + above) as u16, line);
        }
        return;
    }
    let space = model.chat.space_above();
    let mut above: Option<String> = None;
    for (row, (line, chosen)) in model.chat.visible().enumerate() {
        let row = (row + space) as u16;
        if let Some(line) = line {
            put(buffer, area, row, line);
        }
        if let Some(search) = &model.chat.search {
            let words = line.map(ToString::to_string);
            if let Some(words) = &words {
                for found in search.matches(words) {
                    mark(buffer, area, row, words, found);
                }
            }
            if let (Some(upper), Some(lower)) = (&above, &words)
                && let Some((end, start)) = search.straddles(upper, lower)
            {
                mark(buffer, area, row - 1, upper, end);
                mark(buffer, area, row, lower, start);
            }
            above = words;
        }
        if let Some((start, end)) = model.marked.and_then(|marked| marked.columns(area.y + row, area))
            && row < area.height
        {
            let place = Rect { x: start, y: area.y + row, width: end - start, height: 1 };
            buffer.set_style(place, Style::new().add_modifier(Modifier::REVERSED));
        }
        if chosen && row < area.height && area.width > 0 {
            buffer.set_style(Rect { y: area.y + row, height: 1, ..area }, model.theme.select);
        }
    }
}

/// Sets a match in a row apart.
fn mark(buffer: &mut Buffer, area: Rect, row: u16, line: &str, found: Range<usize>) {
    if row >= area.height {
        return;
    }
    let x = text::width(&line[..found.start]).min(usize::from(area.width)) as u16;
    let width = (text::width(&line[found]) as u16).min(area.width - x);
    let place = Rect { x: area.x + x, y: area.y + row, width, height: 1 };
    buffer.set_style(place, Style::new().add_modifier(Modifier::REVERSED));
}

fn ask_line(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.asks;
    let Some(ask) = model.asks.current(&model.told).filter(|_| area.area() > 0) else { return };
    let theme = &model.theme;
    let sign = match ask {
        Ask::Approval(_) => "◆",
        Ask::Question(_) | Ask::Check(_) | Ask::Decision(_) => "?",
    };
    let left = vec![
        Span::styled(format!(" {sign} "), Style::from(theme.warn)),
        Span::styled(ask.gist(&model.told), Style::from(theme.text)),
    ];
    let others = asks::list(&model.told).len() - 1;
    let more = if others == 0 { String::new() } else { format!("+{others}  ") };
    let place = if model.focus == Focus::Composer { When::Awaited } else { When::Panes };
    let key = model.keymap.key_of(place, &Action::LookAtAsks);
    let right = vec![
        Span::styled(more, Style::from(theme.dim)),
        Span::styled(format!("{key} to answer "), Style::from(theme.warn)),
    ];
    put(buffer, area, 0, &both_ends(area, left, right));
}

fn ask_whole(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.asks;
    let Some(ask) = model.ask().filter(|_| area.height > 1) else { return };
    let theme = &model.theme;
    let all = asks::list(&model.told).len();
    let name = match ask {
        Ask::Approval(_) => "May this run?",
        Ask::Question(_) => "Main asks you",
        Ask::Check(_) => "Is this met?",
        Ask::Decision(_) => "asks for a decision",
    };
    let by = ask.asker(&model.told).map(|work| text::cut(&text::line(&work.name), 30));
    let name = match (by, ask) {
        (Some(by), Ask::Approval(_)) => format!("{by} asks: may this run?"),
        (Some(by), Ask::Decision(asked)) => format!("{by} asks, {}", agents::left(asked, model.now)),
        (Some(by), Ask::Question(_)) => format!("{by} asks you"),
        (_, _) => name.to_owned(),
    };
    let place = if all > 1 { format!(" {} of {all} ", model.asks.position(&model.told) + 1) } else { String::new() };
    titled_rule(buffer, area, (&name, theme.warn.into()), (&place, theme.dim.into()), theme.border.into());
    join(model, buffer, area);
    for (row, line) in model.asks.visible().iter().enumerate() {
        put(buffer, model.layout.ask_body, row as u16, line);
    }
    let below = model.asks.below();
    let mut right = vec![];
    if below > 0 {
        let down = model.keymap.key_of(When::Approval, &Action::ScrollAsk(Step::PageDown));
        right.push(Span::styled(format!("↓ {below} more, {down} "), Style::from(theme.warn)));
    }
    let mut left = vec![Span::raw("   ")];
    for (key, words) in ask_keys(model, ask) {
        left.push(Span::styled(key.to_owned(), Style::from(theme.accent)));
        left.push(Span::styled(format!(" {words}  "), Style::from(theme.text)));
    }
    put(buffer, area, area.height - 1, &both_ends(area, left, right));
}

/// The keys that count now with what they do, in the order of how often they are pressed.
fn ask_keys<'a>(model: &'a Model, ask: Ask) -> Vec<(&'a str, &'static str)> {
    if model.asks.may_refuse(ask, model.now).is_err() {
        return vec![("look…", "")];
    }
    let read = model.asks.may_allow(ask, model.now).is_ok();
    match ask {
        Ask::Approval(_) => {
            let key = |answer| model.keymap.key_of(When::Approval, &Action::AnswerApproval(answer));
            let yes = [(key(ApprovalAnswer::Once), "once"), (key(ApprovalAnswer::Always), "always for this")];
            let why = model.keymap.key_of(When::Approval, &Action::WriteAnswer);
            let no = [(key(ApprovalAnswer::Deny), "no"), (why, "no, because…"), (key(ApprovalAnswer::Never), "never")];
            let unread = [("read to the end", "to say yes")];
            if read { [&yes[..], &no[..]].concat() } else { [&unread[..], &no[..]].concat() }
        }
        Ask::Check(_) => {
            let key = |outcome| model.keymap.key_of(When::Check, &Action::JudgeCheck(outcome));
            let no = (key(CheckState::Failed), "no");
            if read {
                vec![(key(CheckState::Passed), "yes"), no, (key(CheckState::Waived), "need not be")]
            } else {
                vec![("read to the end", "to say yes"), no]
            }
        }
        Ask::Decision(_) => {
            vec![(model.keymap.key_of(When::Question, &Action::WriteAnswer), "decide")]
        }
        Ask::Question(question) => {
            let write = model.keymap.key_of(When::Question, &Action::WriteAnswer);
            if question.options.is_empty() {
                vec![(write, "answer")]
            } else {
                vec![(model.keymap.key_of(When::Question, &Action::TakeOption), "answer with it"), (write, "in words")]
            }
        }
    }
}

/// Joins a rule to the frame it stands in.
pub(super) fn join(model: &Model, buffer: &mut Buffer, area: Rect) {
    let framed = model.layout.frames.iter().find(|(pane, _)| *pane == Pane::Chat);
    let Some((_, frame)) = framed.filter(|_| area.area() > 0) else { return };
    buffer[(frame.x, area.y)].set_symbol("├");
    buffer[(frame.right() - 1, area.y)].set_symbol("┤");
}

/// A rule across an area with words in it at both ends.
pub(super) fn titled_rule(buffer: &mut Buffer, area: Rect, left: (&str, Style), right: (&str, Style), rule: Style) {
    let room = usize::from(area.width);
    let part = |(words, style): (&str, Style), room: usize| {
        let words = text::cut(words.trim_start(), room);
        if words.is_empty() { Span::raw("") } else { Span::styled(format!(" {words} "), style) }
    };
    let right = part(right, room.saturating_sub(6));
    let right_width = text::width(&right.content);
    let left = part(left, room.saturating_sub(right_width + 8));
    let left_width = text::width(&left.content);
    let after = if right_width == 0 { 0 } else { 2.min(room) };
    let before = if left_width == 0 { 0 } else { 2.min(room) };
    let middle = room.saturating_sub(before + left_width + right_width + after);
    let line = Line::from(vec![
        Span::styled("─".repeat(before), rule),
        left,
        Span::styled("─".repeat(middle), rule),
        right,
        Span::styled("─".repeat(after), rule),
    ]);
    put(buffer, area, 0, &line);
}
