//! What waits for a person: approvals, questions, points of acceptance; and the rule that nobody says
//! yes by accident.
//!
//! It never takes the focus by itself. An answer counts only while the person has put the focus
//! here, the very thing that is answered has been on screen for a moment, and, for a yes, all of
//! it has been on screen.

mod body;

use super::projection::Projection;
use super::text;
use super::theme::Theme;
use crate::domain::permission::Access;
use crate::domain::{
    Approval, ApprovalId, Assignment, Check, CheckId, DecisionId, DecisionRequest, Millis, Question, QuestionId,
};
use body::body;
use ratatui::text::Line;

/// How long something must have been on screen before a key can be its answer.
pub const MOMENT: Millis = 300;

/// Names something that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskId {
    /// An approval.
    Approval(ApprovalId),
    /// A question.
    Question(QuestionId),
    /// A point of acceptance.
    Check(CheckId),
    /// What a Subagent wants decided.
    Decision(DecisionId),
}

/// Something that waits for a person.
#[derive(Debug, Clone, Copy)]
pub enum Ask<'a> {
    /// May this run?
    Approval(&'a Approval),
    /// What do you say?
    Question(&'a Question),
    /// Is this met?
    Check(&'a Check),
    /// What is decided for a Subagent? Main can't say it now.
    Decision(&'a DecisionRequest),
}

impl Ask<'_> {
    /// Its name.
    pub fn id(&self) -> AskId {
        match self {
            Self::Approval(approval) => AskId::Approval(approval.id.clone()),
            Self::Question(question) => AskId::Question(question.id.clone()),
            Self::Check(check) => AskId::Check(check.id.clone()),
            Self::Decision(asked) => AskId::Decision(asked.id.clone()),
        }
    }

    /// What was shown of it, in a form to compare.
    fn shown(&self) -> &str {
        match self {
            Self::Approval(approval) => &approval.action_hash,
            Self::Question(question) => &question.question,
            Self::Check(check) => &check.text,
            Self::Decision(asked) => &asked.question,
        }
    }

    /// The Subagent that asks; none where it is Main or nobody in particular.
    pub fn asker<'t>(&self, told: &'t Projection) -> Option<&'t Assignment> {
        match self {
            Self::Approval(approval) => told.work_of(&approval.agent),
            Self::Question(question) => told.work_of(&question.agent),
            Self::Decision(asked) => told.work_of(&asked.agent),
            Self::Check(_) => None,
        }
    }

    /// What it is about in one line.
    pub fn gist(&self, told: &Projection) -> String {
        let by = self.asker(told).map(|work| format!("{}: ", text::line(&work.name))).unwrap_or_default();
        let about = match self {
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
            Self::Check(check) => format!("met? {}", text::line(&check.text)),
            Self::Decision(asked) => text::line(&asked.question),
        };
        format!("{by}{about}")
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
    /// What the rows were made from.
    made_from: Option<(AskId, String, usize, usize)>,
    height: usize,
    seen: Option<Seen>,
}

/// Everything that waits for a person, approvals first, each oldest first.
pub fn list(told: &Projection) -> Vec<Ask<'_>> {
    let approvals = told.approvals().into_iter().map(Ask::Approval);
    let questions = told.questions().into_iter().map(Ask::Question);
    let decisions = told.decisions_for_a_person().into_iter().map(Ask::Decision);
    approvals.chain(questions).chain(decisions).chain(told.unjudged().into_iter().map(Ask::Check)).collect()
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

    /// Lays out what is to be shown; says how many rows it has.
    pub fn lay_out(&mut self, told: &Projection, theme: &Theme, room: usize) -> usize {
        let Some(ask) = self.current(told) else {
            *self = Self::default();
            return 0;
        };
        if self.chosen.as_ref() != Some(&ask.id()) {
            (self.scroll, self.option) = (0, 0);
            self.chosen = Some(ask.id());
        }
        let from = (ask.id(), ask.shown().to_owned(), room, self.option);
        if self.made_from.as_ref() != Some(&from) {
            self.rows = body(ask, told, theme, room, self.option);
            self.made_from = Some(from);
        }
        self.rows.len()
    }

    /// It is on screen, on so many rows: notes since when, and whether all of it has been.
    pub fn in_sight(&mut self, told: &Projection, now: Millis, height: usize) {
        let Some(ask) = self.current(told) else { return };
        self.height = height;
        self.scroll = self.scroll.min(self.rows.len().saturating_sub(height));
        let whole = height > 0 && self.scroll + height >= self.rows.len();
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
