//! Writing on screen: what is queued, the rule above the composer, the text and its caret.

use super::super::action::{Action, Step};
use super::super::agents::{self, AgentsAct};
use super::super::chat::draw::MARGIN;
use super::super::composer::{Purpose, Row, first_words};
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::{text, words};
use super::chat::{join, titled_rule};
use super::{both_ends, put};
use crate::domain::command::Move;
use crate::domain::{DecisionState, Delivery};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    queue(model, buffer);
    rule(model, buffer);
    composer(model, buffer);
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
        .map(|message| match message.delivery {
            Delivery::Boundary => ("queued", message.text.as_str()),
            Delivery::TurnEnd => ("after the answer", message.text.as_str()),
        })
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
            let edit = model.keymap.key_of(When::Queue, &Action::EditQueued);
            let back = model.keymap.key_of(When::Queue, &Action::WithdrawQueued);
            let when = model.keymap.key_of(When::Queue, &Action::ToggleDelivery);
            let earlier = model.keymap.key_of(When::Queue, &Action::MoveQueued(Move::Earlier));
            let later = model.keymap.key_of(When::Queue, &Action::MoveQueued(Move::Later));
            match area.width {
                0..60 => format!("{edit} edit  {back} take back "),
                _ => format!("{edit} edit  {back} take back  {earlier} {later} move  {when} when "),
            }
        } else if hidden > 0 {
            format!("+{hidden}  {} ", model.keymap.key_of(When::Panes, &Action::LookAtQueue))
        } else {
            format!("{} ", model.keymap.key_of(When::Panes, &Action::LookAtQueue))
        };
        let right = vec![Span::styled(help, Style::from(theme.dim))];
        put(buffer, area, row as u16, &both_ends(area, left, right));
        if chosen {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, theme.select);
        }
    }
}

/// Before the words that are searched for.
const SEARCH: &str = "search: ";

/// The rule above the composer: what is being written on the left, a word to the person on the right.
fn rule(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.rule;
    let theme = &model.theme;
    let searched = model.chat.search.as_ref().map(|search| format!("{SEARCH}{}", search.words));
    let addressed = addressed(model);
    let title = match &model.composer.purpose {
        _ if searched.is_some() => searched.as_deref().unwrap_or_default(),
        Purpose::Message => "",
        Purpose::Edit(_) => "editing a queued message, esc leaves it as it was",
        Purpose::Answer(_) => "your answer",
        Purpose::Refuse(_) => "why not? esc leaves it open",
        Purpose::Shell => "a command of yours, in the folder",
        Purpose::Guide(_) | Purpose::Decide(_) | Purpose::SendBack(_) => addressed.as_str(),
    };
    let (right, style) = match &model.hint {
        Some(hint) => (text::line(&hint.text), if hint.warns { theme.warn } else { theme.text }),
        None if model.chat.has_new_below() => {
            (format!("new below, {}", model.keymap.key_of(When::Panes, &Action::ScrollChat(Step::End))), theme.accent)
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

/// To which Subagent the words go, and for what.
fn addressed(model: &Model) -> String {
    let told = &model.told;
    let name = |agent| text::cut(&text::line(&told.name_of(agent)), 30);
    match &model.composer.purpose {
        Purpose::Guide(agent) => {
            let key = model.keymap.key_of(When::Trajectory, &Action::Agents(AgentsAct::Leave));
            let to = if told.records.live_assignment(agent).is_some() { "to" } else { "has ended:" };
            format!("{to} {}, {key} back to Main", name(agent))
        }
        Purpose::Decide(decision) => match told.records.decisions.get(decision) {
            Some(asked) if asked.state == DecisionState::Open => {
                format!(
                    "{} asks: {}  {}",
                    name(&asked.agent),
                    text::line(&asked.question),
                    agents::left(asked, model.now)
                )
            }
            Some(asked) => format!("{} does not wait any more", name(&asked.agent)),
            None => String::new(),
        },
        Purpose::SendBack(contribution) => match told.records.contributions.get(contribution) {
            Some(brought) => format!("back to {}: what is to be different?", name(&brought.agent)),
            None => String::new(),
        },
        Purpose::Message | Purpose::Edit(_) | Purpose::Answer(_) | Purpose::Refuse(_) | Purpose::Shell => String::new(),
    }
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
    put(
        buffer,
        Rect { x: area.x - margin, width: margin, ..area },
        0,
        &Line::styled(if model.composer.purpose == Purpose::Shell { " !" } else { " ›" }, style),
    );
    if model.composer.is_empty() {
        let words = placeholder(model);
        // Without colours the words would look like typed ones.
        let words = if Style::from(theme.dim) == Style::from(theme.text) { format!("({words})") } else { words };
        put(buffer, area, 0, &Line::styled(words, theme.dim));
        return;
    }
    let rows = model.composer.rows().iter().skip(model.composer.top).take(usize::from(area.height));
    for (row, line) in rows.enumerate() {
        put(buffer, area, row as u16, &styled(model, line));
    }
}

/// What stands in an empty composer.
fn placeholder(model: &Model) -> String {
    let words = match &model.composer.purpose {
        Purpose::Message if model.told.run().is_some() => "Write on; it is queued until the next step",
        Purpose::Message => match model.example() {
            Some(example) => {
                let send = model.keymap.key_of(When::Writing, &Action::Send);
                return format!("Say what you want done; {send} alone asks: {example}");
            }
            None => "Say what you want done",
        },
        Purpose::Edit(_) => "New words for the message",
        Purpose::Answer(_) => "Answer in words",
        Purpose::Refuse(_) => "Why it must not run; Main reads it",
        Purpose::Shell => "Runs as you; Main reads what it printed",
        Purpose::Guide(agent) if model.told.records.live_assignment(agent).is_none() => {
            "It has ended; what it brought can be sent back"
        }
        Purpose::Guide(_) => "Guide it; Main is told",
        Purpose::Decide(decision) => {
            let fallback = model.told.records.decisions.get(decision).map(|asked| text::line(&asked.fallback));
            return format!("Your decision; without one: {}", fallback.unwrap_or_default());
        }
        Purpose::SendBack(_) => "What is missing or wrong; the same Subagent reads it",
    };
    words.to_owned()
}

/// A row of the text; what stands for a paste is told apart from what was typed.
fn styled<'a>(model: &Model, row: &'a Row) -> Line<'a> {
    let theme = &model.theme;
    let (mut spans, mut at) = (Vec::new(), 0);
    for chip in &row.chips {
        spans.push(Span::styled(&row.text[at..chip.start], Style::from(theme.text)));
        spans.push(Span::styled(&row.text[chip.clone()], Style::from(theme.accent)));
        at = chip.end;
    }
    spans.push(Span::styled(&row.text[at..], Style::from(theme.text)));
    Line::from(spans)
}

/// Where the caret is, if a person is writing.
pub(super) fn caret(model: &Model) -> Option<Position> {
    if let Some(search) = model.chat.search.as_ref().filter(|_| model.types_search() && model.layout.rule.area() > 0) {
        // Behind two cells of the rule and a blank.
        let column = (3 + SEARCH.len() + text::width(&search.words)) as u16;
        let rule = model.layout.rule;
        return Some(Position { x: rule.x + column.min(rule.width.saturating_sub(1)), y: rule.y });
    }
    let area = model.layout.composer;
    if model.focus != Focus::Composer || area.area() == 0 || model.layout.pane(model.pane()).is_none() {
        return None;
    }
    let (row, column) = model.composer.caret();
    let row = row.checked_sub(model.composer.top)?;
    let x = area.x + (column as u16).min(area.width.saturating_sub(1));
    Some(Position { x, y: area.y + (row as u16).min(area.height.saturating_sub(1)) })
}
