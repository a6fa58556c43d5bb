//! The Inbox: every message of the Task, newest first, and what woke Main.

use super::super::action::Pane;
use super::super::model::{Focus, Model};
use super::super::{text, words};
use super::{both_ends, put};
use crate::domain::{ActorKind, Message, MessageState};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let inbox = model.told.inbox();
    if inbox.is_empty() {
        return super::panes::draw(model, Pane::Inbox, area, buffer);
    }
    let scroll = if model.focus == Focus::Side(Pane::Inbox) { model.side_scroll } else { 0 };
    for (row, message) in inbox.into_iter().skip(scroll).take(usize::from(area.height)).enumerate() {
        put(buffer, area, row as u16, &line(model, message, area));
    }
}

fn line(model: &Model, message: &Message, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let woke = model.told.woken_by.contains(&message.id);
    let (sign, style) = match message.state {
        MessageState::Queued => ("⋯", theme.accent),
        MessageState::Delivered => ("→", theme.accent),
        MessageState::Consumed => ("✓", theme.dim),
        MessageState::Undelivered => ("✗", theme.warn),
        MessageState::Coalesced | MessageState::Withdrawn => ("–", theme.dim),
    };
    let sender = match message.from.kind {
        ActorKind::Person => "you".to_owned(),
        ActorKind::Agent | ActorKind::Job | ActorKind::Source | ActorKind::File | ActorKind::System => {
            message.from.kind.as_str().to_owned()
        }
    };
    let kind = if message.from.kind == ActorKind::Person { String::new() } else { format!("{}  ", message.kind) };
    let left = vec![
        Span::styled(format!(" {sign} "), Style::from(style)),
        Span::styled(format!("{sender:<6} "), Style::from(theme.dim)),
        Span::styled(kind, Style::from(theme.dim)),
        Span::styled(text::line(&message.text), Style::from(theme.text)),
    ];
    let woke = match (woke, area.width >= 60) {
        (true, true) => "woke Main  ",
        (true, false) => "woke  ",
        (false, _) => "",
    };
    let state = match message.state {
        MessageState::Consumed => String::new(),
        other => format!("{other}  "),
    };
    let right = vec![
        Span::styled(woke, Style::from(theme.accent)),
        Span::styled(
            format!("{state}{} ", words::clock(message.created_at, model.now, &model.facts.zone)),
            Style::from(theme.dim),
        ),
    ];
    both_ends(area, left, right)
}
