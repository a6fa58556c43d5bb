//! The chat: transcript, what waits for a person, what is queued, and the text being written.

use super::super::action::{Action, Pane, Step};
use super::super::asks::{self, Ask};
use super::super::chat::draw::MARGIN;
use super::super::composer::{Purpose, first_words};
use super::super::keymap::{When, key_of};
use super::super::model::{Focus, Model};
use super::super::{text, words};
use super::{banner, both_ends, put};
use crate::domain::CheckState;
use crate::domain::command::ApprovalAnswer;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

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
    queue(model, buffer);
    rule(model, buffer);
    composer(model, buffer);
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
        for (row, line) in banner::empty(model, usize::from(area.width)).iter().enumerate() {
            put(buffer, area, row as u16, line);
        }
        return;
    }
    let space = model.chat.space_above();
    for (row, (line, chosen)) in model.chat.visible().enumerate() {
        let row = (row + space) as u16;
        if let Some(line) = line {
            put(buffer, area, row, line);
        }
        if chosen && row < area.height && area.width > 0 {
            buffer.set_style(Rect { y: area.y + row, height: 1, ..area }, model.theme.select);
        }
    }
}

fn ask_line(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.asks;
    let Some(ask) = model.asks.current(&model.told).filter(|_| area.area() > 0) else { return };
    let theme = &model.theme;
    let sign = match ask {
        Ask::Approval(_) => "◆",
        Ask::Question(_) | Ask::Check(_) => "?",
    };
    let left = vec![
        Span::styled(format!(" {sign} "), Style::from(theme.warn)),
        Span::styled(ask.gist(), Style::from(theme.text)),
    ];
    let others = asks::list(&model.told).len() - 1;
    let more = if others == 0 { String::new() } else { format!("+{others}  ") };
    let key = key_of(When::Panes, &Action::LookAtAsks);
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
    };
    let place = if all > 1 { format!(" {} of {all} ", model.asks.position(&model.told) + 1) } else { String::new() };
    titled_rule(buffer, area, (name, theme.warn.into()), (&place, theme.dim.into()), theme.border.into());
    join(model, buffer, area);
    for (row, line) in model.asks.visible().iter().enumerate() {
        put(buffer, model.layout.ask_body, row as u16, line);
    }
    let below = model.asks.below();
    let mut right = vec![];
    if below > 0 {
        let down = key_of(When::Approval, &Action::ScrollAsk(Step::PageDown));
        right.push(Span::styled(format!("↓ {below} more, {down} "), Style::from(theme.warn)));
    }
    let mut left = vec![Span::raw("   ")];
    for (key, words) in ask_keys(model, ask) {
        left.push(Span::styled(key, Style::from(theme.accent)));
        left.push(Span::styled(format!(" {words}  "), Style::from(theme.text)));
    }
    put(buffer, area, area.height - 1, &both_ends(area, left, right));
}

/// The keys that count now with what they do, in the order of how often they are pressed.
fn ask_keys(model: &Model, ask: Ask) -> Vec<(&'static str, &'static str)> {
    if model.asks.may_refuse(ask, model.now).is_err() {
        return vec![("look…", "")];
    }
    let read = model.asks.may_allow(ask, model.now).is_ok();
    match ask {
        Ask::Approval(_) => {
            let key = |answer| key_of(When::Approval, &Action::AnswerApproval(answer));
            let yes = [(key(ApprovalAnswer::Once), "once"), (key(ApprovalAnswer::Always), "always for this")];
            let why = key_of(When::Approval, &Action::WriteAnswer);
            let no = [(key(ApprovalAnswer::Deny), "no"), (why, "no, because…"), (key(ApprovalAnswer::Never), "never")];
            let unread = [("read to the end", "to say yes")];
            if read { [&yes[..], &no[..]].concat() } else { [&unread[..], &no[..]].concat() }
        }
        Ask::Check(_) => {
            let key = |outcome| key_of(When::Check, &Action::JudgeCheck(outcome));
            let no = (key(CheckState::Failed), "no");
            if read {
                vec![(key(CheckState::Passed), "yes"), no, (key(CheckState::Waived), "need not be")]
            } else {
                vec![("read to the end", "to say yes"), no]
            }
        }
        Ask::Question(question) => {
            let write = key_of(When::Question, &Action::WriteAnswer);
            if question.options.is_empty() {
                vec![(write, "answer")]
            } else {
                vec![(key_of(When::Question, &Action::TakeOption), "answer with it"), (write, "in words")]
            }
        }
    }
}

fn queue(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.queue;
    if area.area() == 0 {
        return;
    }
    let theme = &model.theme;
    let queued = model.told.queued();
    let sending: Vec<&str> = model.sending().collect();
    let focused = model.focus == Focus::Queue;
    let height = usize::from(area.height);
    let first = if focused { model.queue.saturating_sub(height - 1) } else { 0 };
    let rows = queued
        .iter()
        .map(|message| ("queued", message.text.as_str()))
        .chain(sending.iter().map(|text| ("sending", *text)));
    let total = queued.len() + sending.len();
    for (row, (ix, (state, words))) in rows.enumerate().skip(first).take(height).enumerate() {
        let chosen = focused && ix == model.queue;
        let left = vec![
            Span::styled(format!(" {} ", if chosen { "›" } else { "⋯" }), Style::from(theme.accent)),
            Span::styled(format!("{state}  "), Style::from(theme.dim)),
            Span::styled(first_words(words, usize::from(area.width)), Style::from(theme.text)),
        ];
        let hidden = total - height.min(total);
        let help = if row + 1 < height {
            String::new()
        } else if focused {
            let edit = key_of(When::Queue, &Action::EditQueued);
            let back = key_of(When::Queue, &Action::WithdrawQueued);
            format!("{edit} edit  {back} take back ")
        } else if hidden > 0 {
            format!("+{hidden}  {} ", key_of(When::Panes, &Action::LookAtQueue))
        } else {
            format!("{} ", key_of(When::Panes, &Action::LookAtQueue))
        };
        let right = vec![Span::styled(help, Style::from(theme.dim))];
        put(buffer, area, row as u16, &both_ends(area, left, right));
        if chosen {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, theme.select);
        }
    }
}

/// The rule above the composer: what is being written on the left, a word to the person on the right.
fn rule(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.rule;
    let theme = &model.theme;
    let title = match &model.composer.purpose {
        Purpose::Message => "",
        Purpose::Edit(_) => "editing a queued message, esc leaves it as it was",
        Purpose::Answer(_) => "your answer",
        Purpose::Refuse(_) => "why not? esc leaves it open",
    };
    let (right, style) = match &model.hint {
        Some(hint) => (text::line(&hint.text), if hint.warns { theme.warn } else { theme.text }),
        None if model.chat.has_new_below() => {
            (format!("new below, {}", key_of(When::Panes, &Action::ScrollChat(Step::End))), theme.accent)
        }
        None if !model.chat.is_following() => {
            let down = model.chat.total() - model.chat.top() - usize::from(model.layout.transcript.height);
            (words::many(down, "row below", "rows below"), theme.dim)
        }
        None => (String::new(), theme.dim),
    };
    titled_rule(buffer, area, (title, theme.accent.into()), (&right, style.into()), theme.border.into());
    join(model, buffer, area);
}

/// Joins a rule to the frame it stands in.
fn join(model: &Model, buffer: &mut Buffer, area: Rect) {
    let framed = model.layout.frames.iter().find(|(pane, _)| *pane == Pane::Chat);
    let Some((_, frame)) = framed.filter(|_| area.area() > 0) else { return };
    buffer[(frame.x, area.y)].set_symbol("├");
    buffer[(frame.right() - 1, area.y)].set_symbol("┤");
}

/// A rule across an area with words in it at both ends.
fn titled_rule(buffer: &mut Buffer, area: Rect, left: (&str, Style), right: (&str, Style), rule: Style) {
    let room = usize::from(area.width);
    let part = |(words, style): (&str, Style), room: usize| {
        let words = text::cut(words.trim(), room);
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

fn composer(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.composer;
    let theme = &model.theme;
    let margin = MARGIN as u16;
    if area.area() == 0 || area.x < margin {
        return;
    }
    let writing = model.focus == Focus::Composer && model.overlay.is_none();
    let style = if writing { theme.accent } else { theme.dim };
    put(buffer, Rect { x: area.x - margin, width: margin, ..area }, 0, &Line::styled(" ›", style));
    if model.composer.is_empty() {
        let words = match model.composer.purpose {
            Purpose::Message if model.told.run().is_some() => "Write on; it is queued until the next step",
            Purpose::Message => "Say what you want done",
            Purpose::Edit(_) => "New words for the message",
            Purpose::Answer(_) => "Answer in words",
            Purpose::Refuse(_) => "Why it must not run; Main reads it",
        };
        put(buffer, area, 0, &Line::styled(words, theme.dim));
        return;
    }
    let rows = model.composer.rows().iter().skip(model.composer.top).take(usize::from(area.height));
    for (row, line) in rows.enumerate() {
        put(buffer, area, row as u16, &Line::styled(line.text.as_str(), theme.text));
    }
}

/// Where the caret is, if a person is writing.
pub(super) fn caret(model: &Model) -> Option<Position> {
    let area = model.layout.composer;
    if model.focus != Focus::Composer || area.area() == 0 || model.layout.pane(model.pane()).is_none() {
        return None;
    }
    let (row, column) = model.composer.caret();
    let row = row.checked_sub(model.composer.top)?;
    let x = area.x + (column as u16).min(area.width.saturating_sub(1));
    Some(Position { x, y: area.y + (row as u16).min(area.height.saturating_sub(1)) })
}
