//! What waits for a person: approvals and questions, and the rule that nobody says yes by accident.
//!
//! It never takes the focus by itself. An answer counts only while the person has put the focus
//! here, the very thing that is answered has been on screen for a moment, and, for a yes, all of
//! it has been on screen.

use super::chat::draw::MARGIN;
use super::projection::Projection;
use super::text;
use super::theme::Theme;
use super::wrap;
use crate::domain::permission::Access;
use crate::domain::{Approval, ApprovalId, Millis, Question, QuestionId};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// How long something must have been on screen before a key can be its answer.
pub const MOMENT: Millis = 300;

/// Names something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskId {
    /// An approval.
    Approval(ApprovalId),
    /// A question.
    Question(QuestionId),
}

/// Something that waits for a person.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    /// May this run?
    Approval(&'a Approval),
    /// What do you say?
    Question(&'a Question),
}

impl Ask<'_> {
    /// Its name.
    pub fn id(&self) -> AskId {
        match self {
            Self::Approval(approval) => AskId::Approval(approval.id.clone()),
            Self::Question(question) => AskId::Question(question.id.clone()),
        }
    }

    /// What was shown of it, in a form to compare.
    fn shown(&self) -> &str {
        match self {
            Self::Approval(approval) => &approval.action_hash,
            Self::Question(question) => &question.question,
        }
    }

    /// What it is about in one line.
    pub fn gist(&self) -> String {
        match self {
            Self::Approval(approval) => {
                let verb = match approval.action.access {
                    Access::Read => "wants to read",
                    Access::Write => "wants to change",
                    Access::Execute => "wants to run",
                    Access::Network => "wants to reach",
                    Access::Human => "asks about",
                };
                let subject = text::exact(&approval.action.subject);
                format!("{} {verb} {}", text::exact(&approval.action.tool), subject.replace('\n', "↵"))
            }
            Self::Question(question) => text::line(&question.question),
        }
    }
}

/// Why an answer does not count yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooSoon {
    /// It has not been on screen for a moment.
    Unseen,
    /// Its end has not been on screen.
    Unread,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    id: AskId,
    shown: String,
    since: Millis,
    whole: bool,
}

/// What this terminal shows of it.
#[derive(Debug, Default)]
pub struct Asks {
    chosen: Option<AskId>,
    /// The chosen option of a question.
    pub option: usize,
    /// The topmost row that is shown.
    pub scroll: usize,
    rows: Vec<Line<'static>>,
    height: usize,
    seen: Option<Seen>,
}

/// Everything that waits for a person, approvals first, each oldest first.
pub fn list(told: &Projection) -> Vec<Ask<'_>> {
    let approvals = told.approvals().into_iter().map(Ask::Approval);
    approvals.chain(told.questions().into_iter().map(Ask::Question)).collect()
}

impl Asks {
    /// The one that is shown: the chosen one while it is open, else the first.
    pub fn current<'a>(&self, told: &'a Projection) -> Option<Ask<'a>> {
        let all = list(told);
        let chosen = all.iter().position(|ask| Some(ask.id()) == self.chosen).unwrap_or(0);
        all.get(chosen).copied()
    }

    /// Its place among all of them, from 0.
    pub fn position(&self, told: &Projection) -> usize {
        list(told).iter().position(|ask| Some(ask.id()) == self.chosen).unwrap_or(0)
    }

    /// Shows another one.
    pub fn choose(&mut self, told: &Projection, step: super::action::Step) {
        let all = list(told);
        let at = step.apply(self.position(told), all.len(), 1);
        self.chosen = all.get(at).map(Ask::id);
        (self.scroll, self.option) = (0, 0);
    }

    /// Lays out what is shown, and notes since when and how much of it has been on screen.
    pub fn lay_out(&mut self, told: &Projection, theme: &Theme, now: Millis, room: usize, height: usize) {
        let Some(ask) = self.current(told) else {
            *self = Self::default();
            return;
        };
        if self.chosen.as_ref() != Some(&ask.id()) {
            (self.scroll, self.option) = (0, 0);
            self.chosen = Some(ask.id());
        }
        self.rows = body(ask, theme, room, self.option);
        self.height = height;
        self.scroll = self.scroll.min(self.rows.len().saturating_sub(height));
        let whole = self.scroll + height >= self.rows.len();
        match &mut self.seen {
            Some(seen) if seen.id == ask.id() && seen.shown == ask.shown() => seen.whole |= whole,
            seen => *seen = Some(Seen { id: ask.id(), shown: ask.shown().to_owned(), since: now, whole }),
        }
    }

    /// Nothing of it is on screen any more: what was seen does not count.
    pub fn out_of_sight(&mut self) {
        self.seen = None;
    }

    /// Scrolls what is shown.
    pub fn scroll(&mut self, step: super::action::Step) {
        let last = self.rows.len().saturating_sub(self.height);
        self.scroll = step.apply(self.scroll, last + 1, self.height);
    }

    /// The rows on screen.
    pub fn visible(&self) -> &[Line<'static>] {
        let end = (self.scroll + self.height).min(self.rows.len());
        self.rows.get(self.scroll..end).unwrap_or(&[])
    }

    /// How many rows are below what is shown.
    pub fn below(&self) -> usize {
        self.rows.len().saturating_sub(self.scroll + self.height)
    }

    /// Whether a no, or an answer in words, would count now.
    pub fn may_refuse(&self, ask: Ask, now: Millis) -> Result<(), TooSoon> {
        match &self.seen {
            Some(seen) if seen.id == ask.id() && seen.shown == ask.shown() && now - seen.since >= MOMENT => Ok(()),
            _ => Err(TooSoon::Unseen),
        }
    }

    /// Whether a yes would count now.
    pub fn may_allow(&self, ask: Ask, now: Millis) -> Result<(), TooSoon> {
        self.may_refuse(ask, now)?;
        if self.seen.as_ref().is_some_and(|seen| seen.whole) { Ok(()) } else { Err(TooSoon::Unread) }
    }

    /// When the keys begin to count, if they do not yet.
    pub fn due(&self, now: Millis) -> Option<Millis> {
        self.seen.as_ref().map(|seen| seen.since + MOMENT).filter(|at| *at > now)
    }
}

/// All of what is asked, as rows.
pub fn body(ask: Ask, theme: &Theme, room: usize, option: usize) -> Vec<Line<'static>> {
    match ask {
        Ask::Approval(approval) => approval_body(approval, theme, room),
        Ask::Question(question) => question_body(question, theme, room, option),
    }
}

fn approval_body(approval: &Approval, theme: &Theme, room: usize) -> Vec<Line<'static>> {
    let action = &approval.action;
    let dim = Style::from(theme.dim);
    let mut rows = Vec::new();
    let why = text::exact(&approval.why);
    rows.push(Line::from(vec![
        Span::styled(format!("   {}", text::exact(&action.tool)), Style::from(theme.strong)),
        Span::styled(format!("  asks because {why}"), Style::from(theme.warn)),
    ]));
    if !action.beyond.is_empty() && action.beyond != approval.why {
        push(&mut rows, &format!("beyond the folder: {}", text::exact(&action.beyond)), room, theme.warn.into());
    }
    push(&mut rows, &format!("in {}", text::exact(&action.cwd)), room, dim);
    rows.push(Line::default());
    push(&mut rows, &text::exact(&action.subject), room, theme.strong.into());
    if !action.detail.is_empty() {
        rows.push(Line::default());
        for line in text::exact(&action.detail).lines() {
            let style = match line.as_bytes().first() {
                Some(b'+') => Style::from(theme.ok),
                Some(b'-') => Style::from(theme.error),
                Some(b'@') => dim,
                _ => Style::from(theme.text),
            };
            push(&mut rows, line, room, style);
        }
    }
    rows
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

fn push(rows: &mut Vec<Line<'static>>, clean: &str, room: usize, style: Style) {
    let room = room.saturating_sub(MARGIN + 1).max(1);
    for row in wrap::wrap(clean, room) {
        rows.push(Line::from(vec![Span::raw("   "), Span::styled(wrap::shown(clean, &row, room).to_owned(), style)]));
    }
}
