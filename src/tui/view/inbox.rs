//! The Inbox: every message of the Task, newest first, and what woke Main.

use super::super::action::{Action, Pane};
use super::super::agents;
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::picker::Wish;
use super::super::{text, words};
use super::{both_ends, put};
use crate::domain::{DecisionState, Message, MessageKind, MessageState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    if model.told.records.messages.is_empty() {
        return super::panes::draw(model, Pane::Inbox, area, buffer);
    }
    let list = model.inbox.list(&model.told);
    let focused = model.focus == Focus::Side(Pane::Inbox);
    let mut area = area;
    if let Some(word) = model.inbox.filter.word() {
        let key = model.keymap.key_of(When::Inbox, &Action::Ask(Wish::FilterInbox));
        let words = format!(" {} with \u{201c}{}\u{201d}, {key} changes it", list.len(), text::line(word));
        put(buffer, area, 0, &Line::styled(words, model.theme.dim));
        let head = area.height.min(1);
        area = Rect { y: area.y + head, height: area.height - head, ..area };
    }
    let at = model.inbox.at(&model.told);
    let height = usize::from(area.height).max(1);
    let first = if focused { (at + 1).saturating_sub(height) } else { 0 };
    for (row, (ix, message)) in list.into_iter().enumerate().skip(first).take(usize::from(area.height)).enumerate() {
        put(buffer, area, row as u16, &line(model, message, area));
        if focused && ix == at {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, model.theme.select);
        }
    }
}

fn line(model: &Model, message: &Message, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let told = &model.told;
    let woke = told.woken_by.contains(&message.id);
    let asked = told.told_decision(message).filter(|asked| asked.state == DecisionState::Open);
    let (sign, style) = match message.state {
        _ if asked.is_some() => ("?", theme.warn),
        MessageState::Queued => ("⋯", theme.accent),
        MessageState::Delivered => ("→", theme.accent),
        MessageState::Consumed => ("✓", theme.dim),
        MessageState::Undelivered => ("✗", theme.warn),
        MessageState::Coalesced | MessageState::Withdrawn => ("–", theme.dim),
    };
    let sender = text::line(&told.called(&message.from));
    let to_main = told.main().is_none_or(|main| main.0 == message.to.id);
    let to = match told.main() {
        Some(main) if main.0 != message.to.id => format!("→ {}  ", text::line(&told.called(&message.to))),
        _ => String::new(),
    };
    let kind = match message.kind {
        MessageKind::User => String::new(),
        // A narrow row has room for the words; its sign and its name tell the kind.
        MessageKind::Contribution | MessageKind::DecisionRequest | MessageKind::Guidance if area.width < 60 => {
            String::new()
        }
        kind => format!("{}  ", kind.as_str().replace('_', " ")),
    };
    // What is told of somebody by name is not told twice.
    let words = match (told.told_contribution(message), told.told_decision(message)) {
        (Some(brought), _) => format!("{}: {}", brought.report.outcome, agents::first_words(&brought.report.done)),
        (None, Some(asked)) => asked.question.clone(),
        (None, None) => message.text.clone(),
    };
    let room = (usize::from(area.width) / 4).max(6);
    let sender = text::cut(&sender, room);
    let pad = 6_usize.saturating_sub(text::width(&sender));
    let left = vec![
        Span::styled(format!(" {sign} "), Style::from(style)),
        Span::styled(format!("{sender}{} ", " ".repeat(pad)), Style::from(theme.dim)),
        Span::styled(to, Style::from(theme.dim)),
        Span::styled(kind, Style::from(theme.dim)),
        Span::styled(text::line(&words), Style::from(if to_main { theme.text } else { theme.dim })),
    ];
    let woke = match (woke, area.width >= 60) {
        (true, true) => "woke Main  ",
        (true, false) => "woke  ",
        (false, _) => "",
    };
    let (state, state_style) = match (asked, message.state) {
        (Some(asked), _) => (format!("{}  ", agents::left(asked, model.now)), theme.warn),
        (None, MessageState::Consumed) => (String::new(), theme.dim),
        (None, other) => (format!("{other}  "), theme.dim),
    };
    let clock = words::clock(message.created_at, model.now, &model.facts.zone);
    let right = vec![
        Span::styled(woke, Style::from(theme.accent)),
        Span::styled(state, Style::from(state_style)),
        Span::styled(format!("{clock} "), Style::from(theme.dim)),
    ];
    both_ends(area, left, right)
}
