//! One thing shown whole: a Contribution with its evidence, a message with what became of it, or a
//! file that one of them refers to.

use super::super::action::Action;
use super::super::agents;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::paper::{Paper, PaperAct, Subject};
use super::super::update::references;
use super::super::{markdown, text, words, wrap};
use super::{overlay, put};
use crate::domain::{DecisionState, Message, MessageState, ReviewState};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::Line;

/// How wide it is at most: longer lines are hard to read.
const WIDEST: u16 = 110;

/// The path of a reference, without the line it names.
pub fn path_of(reference: &str) -> &str {
    let reference = reference.trim();
    match reference.rsplit_once(':') {
        Some((path, line)) if !path.is_empty() && line.chars().all(|c| c.is_ascii_digit() || c == '-') => path,
        _ => reference,
    }
}

fn width(model: &Model) -> u16 {
    model.layout.area.width.saturating_sub(4).min(WIDEST)
}

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let Some(paper) = &model.paper else { return };
    let rows = rows(model, paper);
    let height = (rows.len() as u16 + 2).min(model.layout.area.height.saturating_sub(2)).max(6);
    let inside = overlay(model, buffer, &title(model, paper), &keys(model, paper), (width(model), height));
    for (row, line) in rows.iter().skip(paper.scroll).take(usize::from(inside.height)).enumerate() {
        put(buffer, inside, row as u16, line);
    }
}

fn title(model: &Model, paper: &Paper) -> String {
    if let Some((path, _)) = &paper.looked_at {
        return text::line(path);
    }
    match &paper.subject {
        Subject::Contribution(id) => match model.told.records.contributions.get(id) {
            Some(brought) => format!("Contribution of {}", text::line(&model.told.name_of(&brought.agent))),
            None => "Contribution".to_owned(),
        },
        Subject::Message(id) => match model.told.records.messages.get(id) {
            Some(message) => format!("{} to {}", kind(message), text::line(&model.told.called(&message.to))),
            None => "Message".to_owned(),
        },
    }
}

fn kind(message: &Message) -> String {
    message.kind.as_str().replace('_', " ")
}

fn keys(model: &Model, paper: &Paper) -> String {
    let key = |act, words: &str| format!("{} {words}", model.keymap.key_of(When::Paper, &Action::Paper(act)));
    let mut keys = Vec::new();
    if paper.looked_at.is_none() {
        if !references(model, &paper.subject).is_empty() {
            keys.push(key(PaperAct::Look, "opens ›"));
        }
        match &paper.subject {
            Subject::Contribution(id) => {
                let state = model.told.records.contributions.get(id).map(|brought| brought.state);
                if state == Some(ReviewState::Unreviewed) {
                    keys.extend([key(PaperAct::Accept, "accept"), key(PaperAct::SendBack, "send back")]);
                }
            }
            Subject::Message(id) => {
                let asked = model.told.records.messages.get(id).and_then(|message| model.told.told_decision(message));
                if asked.is_some_and(|asked| asked.state == DecisionState::Open) {
                    keys.push(key(PaperAct::Answer, "decide"));
                }
            }
        }
        keys.push(key(PaperAct::GoTo, "in the chat"));
    }
    keys.push(key(PaperAct::Leave, "back"));
    keys.join("  ")
}

/// All of it, as rows.
pub fn rows(model: &Model, paper: &Paper) -> Vec<Line<'static>> {
    let theme = &model.theme;
    let room = usize::from(width(model)).saturating_sub(4).max(1);
    let mut rows = Vec::new();
    let mut add = |words: &str, style: Style| rows.extend(wrapped(words, style, room));
    let (dim, plain) = (Style::from(theme.dim), Style::from(theme.text));
    if let Some((_, lines)) = &paper.looked_at {
        match lines {
            Some(preview) => preview.lines.iter().for_each(|line| add(line, plain)),
            None => add("looking…", dim),
        }
        return rows;
    }
    let when = |at| words::clock(at, model.now, &model.facts.zone);
    match &paper.subject {
        Subject::Contribution(id) => {
            let Some(brought) = model.told.records.contributions.get(id) else { return rows };
            let state = match brought.state {
                ReviewState::Unreviewed => "to be reviewed",
                ReviewState::Accepted => "accepted",
                ReviewState::Rejected => "not used",
                ReviewState::Superseded => "superseded",
            };
            add(&format!("{}  {}  {state}", brought.report.outcome, when(brought.created_at)), dim);
            if let Some(because) = &brought.because {
                add(&format!("reviewed: {because}"), dim);
            }
            if let Some(work) = model.told.records.assignments.get(&brought.assignment) {
                add(&format!("wanted: {}", work.objective.trim()), dim);
                for wanted in &work.contract.evidence {
                    add(&format!("to be shown: {}", wanted.trim()), dim);
                }
            }
            add("", dim);
            rows.extend(written(model, &brought.report.done, room));
            let mut add = |words: &str, style: Style| rows.extend(wrapped(words, style, room));
            if !brought.report.uncertain.trim().is_empty() {
                add("", dim);
                add(&format!("uncertain: {}", brought.report.uncertain.trim()), theme.warn.into());
            }
        }
        Subject::Message(id) => {
            let Some(message) = model.told.records.messages.get(id) else { return rows };
            add(
                &format!(
                    "from {}  {}  {}",
                    model.told.called(&message.from),
                    when(message.created_at),
                    fate(model, message)
                ),
                dim,
            );
            add("", dim);
            match model.told.told_decision(message) {
                Some(asked) => {
                    add(asked.question.trim(), plain);
                    add(&format!("without an answer: {}", asked.fallback.trim()), dim);
                    match (&asked.answer, asked.state) {
                        (Some(answer), _) => add(&format!("→ {}", answer.trim()), plain),
                        (None, DecisionState::Open) => add(&agents::left(asked, model.now), theme.warn.into()),
                        (None, _) => {}
                    }
                }
                None => add(message.text.trim(), plain),
            }
        }
    }
    let references = references(model, &paper.subject);
    let mut add = |words: &str, style: Style| rows.extend(wrapped(words, style, room));
    if !references.is_empty() {
        add("", dim);
    }
    for (ix, reference) in references.iter().enumerate() {
        let (sign, style) = if ix == paper.reference { ("›", theme.accent.into()) } else { (" ", plain) };
        add(&format!("{sign} {}", text::line(reference)), style);
    }
    rows
}

fn wrapped(words: &str, style: Style, room: usize) -> Vec<Line<'static>> {
    let words = text::clean(words);
    let words = words.trim_end();
    let rows = wrap::wrap(words, room);
    rows.iter().map(|range| Line::styled(wrap::shown(words, range, room).to_owned(), style)).collect()
}

/// What an agent wrote, as the chat shows it.
fn written(model: &Model, words: &str, room: usize) -> Vec<Line<'static>> {
    let colours = |language: &str, code: &str| model.chat.colours.of(language, code);
    let paper = markdown::Paper { room, theme: &model.theme, colours: &colours };
    markdown::draw(&paper, &text::clean(words.trim()))
}

/// What became of a message.
fn fate(model: &Model, message: &Message) -> String {
    let row = |seq: Option<u64>| seq.map(|seq| format!(" row {seq}")).unwrap_or_default();
    let fate = match message.state {
        MessageState::Queued => "queued".to_owned(),
        MessageState::Delivered => format!("delivered as{}, not answered yet", row(message.context_seq)),
        MessageState::Consumed => format!("answered in{}", row(message.consumed_seq)),
        MessageState::Undelivered => match &message.reason {
            Some(reason) => format!("not delivered: {}", text::line(reason)),
            None => "not delivered".to_owned(),
        },
        MessageState::Coalesced => "told together with a later one".to_owned(),
        MessageState::Withdrawn => "taken back".to_owned(),
    };
    if model.told.woken_by.contains(&message.id) { format!("{fate}  woke Main") } else { fate }
}
