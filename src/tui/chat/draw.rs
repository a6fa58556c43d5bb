//! One entry of the conversation as rows: a sign in the margin, words beside it.
//!
//! Everything here that a model, a tool or a file wrote passes the sanitiser before it is
//! measured.

mod cards;

use super::super::colours::Colours;
use super::super::projection::live::Piece;
use super::super::projection::{Notice, Projection};
use super::super::text::{self, width};
use super::super::{diff, markdown, summary, words, wrap};
use super::Context;
use super::entries::{Cuts, Key, Opened};
use crate::domain::{MessageKind, Part, Role, Row, TaskStatus, ToolCall, ToolCallId, ToolCallState};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::cell::Cell;

/// How wide the margin is: a space, a sign, a space.
pub const MARGIN: usize = 3;

/// A call in one line is no longer than this, so that its state stays near its words.
const CALL: usize = 120;

/// How many rows of a message are shown until it is opened.
const SAID_ROWS: usize = 12;

/// How far beyond what is shown rows are counted one by one; further on lines are.
const LOOKED_AT: usize = 1_000;

/// How many rows of the reason why a call was not allowed are shown while it is folded.
const DENIED_ROWS: usize = 6;

/// How many rows of a result are shown when it is open.
const RESULT_ROWS: usize = 200;

/// What one entry is drawn on, and everything it is drawn from.
pub struct Page<'a> {
    context: Context<'a>,
    opened: &'a Opened,
    cuts: &'a Cuts,
    colours: &'a Colours,
    room: usize,
    /// Some code was drawn before its colours were known.
    pale: Cell<bool>,
}

impl<'a> Page<'a> {
    /// A page of so many columns.
    pub fn new(context: Context<'a>, opened: &'a Opened, cuts: &'a Cuts, colours: &'a Colours, room: usize) -> Self {
        Self { context, opened, cuts, colours, room, pale: Cell::new(false) }
    }

    /// Whether some code will look different once its colours are known.
    pub fn is_pale(&self) -> bool {
        self.pale.get()
    }

    /// Draws one entry.
    pub fn entry(&self, key: &Key) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let told = self.context.told;
        let is_open = self.opened.contains(key);
        match key {
            Key::Said(seq) => told.row(*seq).map_or_else(Vec::new, |row| self.said(row, is_open)),
            Key::Words(seq, part, _) => match told.row(*seq).and_then(|row| row.parts.get(*part)) {
                Some(Part::Text { .. }) => self.markdown(self.cuts.part(told, key)),
                Some(Part::Image { name, media_type, .. }) => {
                    self.one("", theme.dim.into(), &format!("[picture {name} {media_type}]"), theme.dim.into())
                }
                Some(Part::Thinking { .. } | Part::Call { .. }) | None => Vec::new(),
            },
            Key::Thinking(seq, part) => match told.row(*seq).and_then(|row| row.parts.get(*part)) {
                Some(Part::Thinking { text, .. }) => self.thinking(text, is_open, "thought"),
                _ => Vec::new(),
            },
            Key::Call(id) => self.call(id, is_open),
            Key::Cut(_) => self.one("–", theme.dim.into(), "cut short here", theme.dim.into()),
            Key::Live(ix, _) => match told.live().pieces.get(*ix) {
                Some(Piece::Text(_)) => self.markdown(self.cuts.part(told, key)),
                Some(Piece::Thinking(text)) => self.thinking(text, is_open, "thinking"),
                None => Vec::new(),
            },
            Key::Forming(ix) => match told.live().forming.iter().find(|forming| forming.ix == *ix) {
                Some(forming) => {
                    let size = if forming.bytes < 512 {
                        String::new()
                    } else {
                        format!(" {} bytes", words::count(forming.bytes))
                    };
                    let text = format!("{} … writing the call{size}", text::line(&forming.name));
                    self.one("○", theme.dim.into(), &text, theme.dim.into())
                }
                None => Vec::new(),
            },
            Key::Notice => self.notice(),
            Key::Woken(seq) => self.woken(*seq),
        }
    }

    /// Words of an answer, or of what is being said.
    fn markdown(&self, raw: &str) -> Vec<Line<'static>> {
        let colours = |language: &str, code: &str| {
            let known = self.colours.of(language, code);
            self.pale.set(self.pale.get() || self.colours.is_asked(language, code));
            known
        };
        let room = self.room.saturating_sub(MARGIN + 1).max(1);
        let paper = markdown::Paper { room, theme: self.context.theme, colours: &colours };
        let lines = markdown::draw(&paper, &text::clean(raw));
        lines
            .into_iter()
            .map(|mut line| {
                line.spans.insert(0, Span::raw(" ".repeat(MARGIN)));
                line
            })
            .collect()
    }

    /// A sign in the margin and one line that is cut at the edge.
    fn one(&self, sign: &str, sign_style: Style, text: &str, style: Style) -> Vec<Line<'static>> {
        let body = text::cut(&text::line(text), self.room.saturating_sub(MARGIN));
        vec![Line::from(vec![margin(sign, sign_style), Span::styled(body, style)])]
    }

    /// A sign in the margin and words that wrap beside it.
    fn wrapped(&self, sign: &str, sign_style: Style, style: Style, clean: &str) -> Vec<Line<'static>> {
        let room = self.room.saturating_sub(MARGIN + 1).clamp(1, markdown::LINE);
        let clean = clean.trim_matches('\n');
        wrap::wrap(clean, room)
            .iter()
            .enumerate()
            .map(|(ix, row)| {
                let sign = if ix == 0 { sign } else { "" };
                let words = wrap::shown(clean, row, room).to_owned();
                Line::from(vec![margin(sign, sign_style), Span::styled(words, style)])
            })
            .collect()
    }

    /// Rows beside a bar: what belongs to the line above.
    fn aside(&self, style: Style, clean: &str, most: usize) -> Vec<Line<'static>> {
        let room = self.room.saturating_sub(MARGIN + 3).max(1);
        let clean = clean.trim_matches('\n');
        let (rows, is_all) = wrap::wrap_some(clean, room, most.saturating_add(LOOKED_AT));
        let more = if is_all { 0 } else { clean[rows.last().map_or(0, |row| row.end)..].matches('\n').count() };
        let shown = |row: &std::ops::Range<usize>| Line::styled(wrap::shown(clean, row, room).to_owned(), style);
        let lines = rows.iter().take(most).map(shown).collect();
        self.aside_lines(lines, rows.len().saturating_sub(most) + more)
    }

    /// The first of some rows beside a bar.
    fn beside_bar(&self, mut rows: Vec<Line<'static>>, most: usize) -> Vec<Line<'static>> {
        let more = rows.len().saturating_sub(most);
        rows.truncate(most);
        self.aside_lines(rows, more)
    }

    fn aside_lines(&self, mut rows: Vec<Line<'static>>, more: usize) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        if more > 0 {
            rows.push(Line::styled(format!("… {}", words::many(more, "more row", "more rows")), theme.dim));
        }
        for row in &mut rows {
            // The style of a line is that of its words, not of the bar.
            for span in &mut row.spans {
                span.style = row.style.patch(span.style);
            }
            row.style = Style::default();
            row.spans.insert(0, Span::styled("   │ ", Style::from(theme.border)));
        }
        rows
    }

    fn said(&self, row: &Row, open: bool) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let message = row.message.as_ref().and_then(|id| self.context.told.records.messages.get(id));
        if message.is_some_and(|message| message.key.starts_with("stopped:")) {
            return self.one("–", theme.dim.into(), "stopped", theme.dim.into());
        }
        if let Some(card) = message.and_then(|message| self.card(message, open)) {
            return card;
        }
        match message.map(|message| message.kind) {
            None if row.role == Role::System => {
                let dim = Style::from(theme.dim);
                let mut lines = self.one("•", dim, "instructions", dim);
                lines.extend(self.aside(dim, &text::clean(&row.text()), if open { usize::MAX } else { 3 }));
                lines
            }
            None | Some(MessageKind::User) => {
                let style = Style::from(theme.strong);
                let mut lines = self.wrapped("›", theme.person.into(), style, &text::clean(&row.text()));
                if !open && lines.len() > SAID_ROWS + 1 {
                    let more = format!("… {} more rows", lines.len() - SAID_ROWS);
                    lines.truncate(SAID_ROWS);
                    lines.push(Line::from(vec![margin("", theme.dim.into()), Span::styled(more, theme.dim)]));
                }
                lines
            }
            Some(kind) => {
                let words = message.map_or_else(|| row.text(), |message| message.text.clone());
                let mut lines = self.one("•", theme.dim.into(), &notice_name(kind), theme.dim.into());
                let most = if open { usize::MAX } else { 6 };
                lines.extend(self.aside(theme.dim.into(), &text::clean(&words), most));
                lines
            }
        }
    }

    fn thinking(&self, raw: &str, open: bool, verb: &str) -> Vec<Line<'static>> {
        let dim = Style::from(self.context.theme.dim);
        let words = raw.split_whitespace().count();
        let mut lines = self.one("∴", dim, &format!("{verb}, {}", words::many(words, "word", "words")), dim);
        if open {
            lines.extend(self.aside(dim, &text::clean(raw), usize::MAX));
        }
        lines
    }

    fn call(&self, id: &ToolCallId, open: bool) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let told = self.context.told;
        let Some(call) = told.records.tool_calls.get(id) else { return Vec::new() };
        if let Some(work) = told.given_by(id) {
            return self.given(call, work, open);
        }
        if let Some(brought) = told.reported_by(call) {
            return self.reported(brought, open);
        }
        let (sign, style, state) = self.state(call);
        let width_of_row = self.room.min(CALL);
        let name = text::line(&call.name);
        let result = told.result(call);
        let changes = result.filter(|_| changes_a_file(call)).map(Row::text).filter(|said| diff::is_one(said));
        let mut gist = summary::gist(&call.arguments);
        if let Some((added, removed)) = changes.as_deref().map(diff::count) {
            gist.push_str(&format!("  +{added} −{removed}"));
        }
        let state_room = if state.is_empty() { 0 } else { width(&state) + 2 };
        let room = width_of_row.saturating_sub(MARGIN + width(&name) + 1 + state_room + 1);
        let gist = text::cut(&gist, room);
        let used = MARGIN + width(&name) + 1 + width(&gist);
        let pad = width_of_row.saturating_sub(used + width(&state) + 1);
        let mut lines = vec![Line::from(vec![
            margin(sign, style),
            Span::styled(name, Style::from(theme.strong)),
            Span::raw(" "),
            Span::styled(gist, Style::from(theme.text)),
            Span::raw(" ".repeat(pad)),
            Span::styled(state, if call.state == ToolCallState::Done { theme.dim.into() } else { style }),
        ])];
        if let Some(changes) = changes.filter(|_| open) {
            let room = self.room.saturating_sub(MARGIN + 3).max(1);
            lines.extend(self.beside_bar(diff::draw(&text::clean(&changes), theme, room), RESULT_ROWS));
        } else if open {
            lines.extend(self.aside(theme.dim.into(), &text::clean(&summary::arguments(&call.arguments)), RESULT_ROWS));
            let output = result.map(Row::text).or_else(|| told.live().output.get(id).cloned()).unwrap_or_default();
            if !output.trim().is_empty() {
                lines.extend(self.aside(theme.border.into(), "─────", 1));
                lines.extend(self.aside(theme.text.into(), &text::output(&output), RESULT_ROWS));
            }
        } else if call.state == ToolCallState::Running {
            let output = told.live().output.get(id).map(|output| text::output(output)).unwrap_or_default();
            if let Some(last) = output.lines().rev().find(|line| !line.trim().is_empty()) {
                lines.extend(self.aside(theme.dim.into(), &text::cut(last, self.room.saturating_sub(MARGIN + 3)), 1));
            }
        } else if call.state == ToolCallState::Denied {
            // A person's own words are not cut to one line.
            let said = result.map(Row::text).unwrap_or_default();
            lines.extend(self.aside(theme.text.into(), &text::clean(&said), DENIED_ROWS));
        } else if matches!(call.state, ToolCallState::Error | ToolCallState::Uncertain) {
            let said = result.map(Row::text).unwrap_or_default();
            if let Some(first) = text::output(&said).lines().find(|line| !line.trim().is_empty()) {
                lines.extend(self.aside(theme.dim.into(), &text::cut(first, self.room.saturating_sub(MARGIN + 3)), 1));
            }
        }
        lines
    }

    /// The sign, its style and the words for the state of a call.
    fn state(&self, call: &ToolCall) -> (&'static str, Style, String) {
        let theme = self.context.theme;
        let now = self.context.now;
        match call.state {
            ToolCallState::Planned | ToolCallState::Approved => ("○", theme.dim.into(), String::new()),
            ToolCallState::AwaitingApproval => ("◆", theme.warn.into(), "waits for you".into()),
            ToolCallState::Running if self.context.told.records.question_of(&call.id).is_some() => {
                ("◆", theme.warn.into(), "asks you".into())
            }
            ToolCallState::Running => {
                let since = call.started_at.map(|at| words::duration(now - at)).unwrap_or_default();
                ("●", theme.accent.into(), since)
            }
            ToolCallState::Done => {
                let took = call.started_at.zip(call.ended_at).map_or(0, |(start, end)| end - start);
                let took = if took < 1_000 { String::new() } else { words::duration(took) };
                ("✓", theme.ok.into(), took)
            }
            ToolCallState::Error => ("✗", theme.error.into(), "error".into()),
            ToolCallState::Uncertain => ("?", theme.warn.into(), "may have happened".into()),
            ToolCallState::Cancelled => ("–", theme.dim.into(), "stopped".into()),
            ToolCallState::Denied => ("✗", theme.warn.into(), "not allowed".into()),
        }
    }

    fn notice(&self) -> Vec<Line<'static>> {
        let Context { told, theme, now } = self.context;
        let failed = told.task().filter(|task| task.status == TaskStatus::Failed && told.read_subagent().is_none());
        if let Some(task) = failed {
            let reason = text::clean(task.reason.as_deref().unwrap_or("the Task failed"));
            let mut lines = self.wrapped("✗", theme.error.into(), theme.error.into(), &reason);
            lines.extend(self.one("", theme.dim.into(), "Send a message to go on.", theme.dim.into()));
            return lines;
        }
        match told.notice() {
            Some(Notice::Failed { class, message, retry_at }) => {
                let what = format!("no answer ({}): {}", text::line(class), text::line(message));
                let next = match retry_at {
                    Some(at) if *at > now => format!("; tried again in {}", words::duration(at - now + 999)),
                    Some(_) => "; tried again now".to_owned(),
                    None => String::new(),
                };
                let room = self.room.saturating_sub(MARGIN + width(&next) + 1);
                self.one("!", theme.warn.into(), &format!("{}{next}", text::cut(&what, room)), theme.warn.into())
            }
            Some(Notice::Abandoned { reason }) => {
                let again = if told.live().is_asking() { "; it is asked for again" } else { "" };
                self.one("–", theme.dim.into(), &format!("the answer was dropped: {reason}{again}"), theme.dim.into())
            }
            Some(Notice::Stopped) => self.one("–", theme.dim.into(), "stopped", theme.dim.into()),
            None => Vec::new(),
        }
    }
}

/// Whether the result of a call is the diff of what it changed.
fn changes_a_file(call: &ToolCall) -> bool {
    call.state == ToolCallState::Done && matches!(call.name.as_str(), "edit" | "write")
}

fn margin(sign: &str, style: Style) -> Span<'static> {
    Span::styled(format!(" {sign:<1} "), style)
}

/// The words over a message that no person wrote.
fn notice_name(kind: MessageKind) -> String {
    match kind {
        MessageKind::Answer => "an answer came".into(),
        MessageKind::Notice => "a notice to Main".into(),
        MessageKind::User
        | MessageKind::Guidance
        | MessageKind::Peer
        | MessageKind::Contribution
        | MessageKind::DecisionRequest
        | MessageKind::DecisionAnswer
        | MessageKind::Question
        | MessageKind::Job
        | MessageKind::Source
        | MessageKind::Timer
        | MessageKind::Resource => kind.as_str().replace('_', " "),
    }
}

/// The words of an entry, whole, to be copied.
pub fn words_of(told: &Projection, key: &Key) -> String {
    let part = |seq: &u64, ix: &usize| told.row(*seq).and_then(|row| row.parts.get(*ix));
    match key {
        Key::Said(seq) => told.row(*seq).map(Row::text).unwrap_or_default(),
        Key::Words(seq, ix, _) | Key::Thinking(seq, ix) => match part(seq, ix) {
            Some(Part::Text { text } | Part::Thinking { text, .. }) => text.clone(),
            Some(Part::Image { .. } | Part::Call { .. }) | None => String::new(),
        },
        Key::Call(id) => match told.records.tool_calls.get(id) {
            Some(call) => told.result(call).map_or_else(|| summary::arguments(&call.arguments), Row::text),
            None => String::new(),
        },
        Key::Live(ix, _) => match told.live().pieces.get(*ix) {
            Some(Piece::Text(text) | Piece::Thinking(text)) => text.clone(),
            None => String::new(),
        },
        Key::Cut(_) | Key::Forming(_) | Key::Notice | Key::Woken(_) => String::new(),
    }
}
