//! What agents give each other, as quiet cards of the conversation: a Subagent that was given work,
//! what it brought, what it wants decided, what it is told; and what woke Main.

use super::super::super::projection::team::Standing;
use super::super::super::text::{self, width};
use super::super::super::{agents, summary, words};
use super::super::entries;
use super::{MARGIN, Page, RESULT_ROWS, margin};
use crate::domain::{
    ActorKind, Assignment, Contribution, DecisionRequest, DecisionState, Message, MessageKind, ReviewState, ToolCall,
};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A card is no wider than this, so that its state stays near its words.
const CARD: usize = 120;

impl Page<'_> {
    /// The card of a message that no person sent, where it has one.
    pub(super) fn card(&self, message: &Message, open: bool) -> Option<Vec<Line<'static>>> {
        let told = self.context.told;
        if let Some(brought) = told.told_contribution(message) {
            return Some(self.brought(brought, open));
        }
        if let Some(asked) = told.told_decision(message) {
            return Some(self.asked(asked, open));
        }
        match message.kind {
            MessageKind::Guidance | MessageKind::Peer if message.from.kind == ActorKind::Person => {
                let style = Style::from(self.context.theme.strong);
                Some(self.wrapped("›", self.context.theme.person.into(), style, &text::clean(&message.text)))
            }
            MessageKind::Guidance | MessageKind::Peer => {
                let dim = Style::from(self.context.theme.dim);
                let mut lines = self.one("⇢", dim, &format!("from {}", told.called(&message.from)), dim);
                let most = if open { usize::MAX } else { 6 };
                lines.extend(self.aside(self.context.theme.text.into(), &text::clean(&message.text), most));
                Some(lines)
            }
            _ => None,
        }
    }

    /// A sign, a name, words that give way, and a state at the end of the row.
    fn headline(&self, sign: (&str, Style), name: &str, words: &str, state: (&str, Style)) -> Line<'static> {
        let theme = self.context.theme;
        let room = self.room.min(CARD);
        let state_room = if state.0.is_empty() { 0 } else { width(state.0) + 2 };
        let name = text::cut(&text::line(name), (room / 3).max(8));
        let left = room.saturating_sub(MARGIN + width(&name) + 1 + state_room + 1);
        let words = text::cut(&text::line(words), left);
        let pad = room.saturating_sub(MARGIN + width(&name) + 1 + width(&words) + width(state.0) + 1);
        Line::from(vec![
            margin(sign.0, sign.1),
            Span::styled(name, Style::from(theme.strong)),
            Span::raw(" "),
            Span::styled(words, Style::from(theme.text)),
            Span::raw(" ".repeat(pad)),
            Span::styled(state.0.to_owned(), state.1),
        ])
    }

    /// Work that a call gave: to whom, what, how far it is, and what came of it.
    pub(super) fn given(&self, call: &ToolCall, work: &Assignment, open: bool) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let told = self.context.told;
        let dim = Style::from(theme.dim);
        let now_at = told.work_of(&work.agent).unwrap_or(work);
        let standing = told.team().into_iter().find(|member| member.work.agent == work.agent).map(|m| m.standing);
        let standing = standing.unwrap_or(Standing::Over);
        let brought = told.contribution_to(&now_at.id);
        let (sign, style, state) = agents::state(told, theme, now_at, standing);
        let turns = words::many(now_at.usage.turns as usize, "turn", "turns");
        let state = match standing {
            Standing::Asks | Standing::Waits | Standing::Works if now_at.usage.turns > 0 => format!("{state}, {turns}"),
            Standing::Asks
            | Standing::Waits
            | Standing::Works
            | Standing::Queued
            | Standing::Brought
            | Standing::Over => state,
        };
        let calm = if standing == Standing::Over { dim } else { style };
        let mut lines = vec![self.headline((sign, style), &work.name, &work.objective, (&state, calm))];
        let room = self.room.saturating_sub(MARGIN + 3);
        if open {
            lines.extend(self.aside(dim, &text::clean(&summary::arguments(&call.arguments)), RESULT_ROWS));
        }
        if let Some(brought) = brought {
            lines.extend(self.done(brought, if open { RESULT_ROWS } else { 2 }));
            if open {
                lines.extend(self.evidence(brought));
            }
            return lines;
        }
        if let Some(asked) = told.asked_by(&work.agent) {
            let asks = format!("? {}", text::line(&asked.question));
            lines.extend(self.aside(theme.warn.into(), &text::cut(&asks, room), 1));
            return lines;
        }
        let last = text::output(&told.last_line(&work.agent));
        if !last.trim().is_empty() {
            lines.extend(self.aside(dim, &text::cut(&text::line(&last), room), 1));
        }
        lines
    }

    /// The first rows of what was done, as Markdown beside a bar.
    fn done(&self, brought: &Contribution, most: usize) -> Vec<Line<'static>> {
        let mut rows = self.markdown(brought.report.done.trim());
        for row in &mut rows {
            row.spans.remove(0);
        }
        if most < RESULT_ROWS {
            rows.retain(|row| row.width() > 0);
        }
        self.beside_bar(rows, most)
    }

    /// What is uncertain of a Contribution, and where it can be looked up.
    fn evidence(&self, brought: &Contribution) -> Vec<Line<'static>> {
        let dim = Style::from(self.context.theme.dim);
        let mut lines = Vec::new();
        if !brought.report.uncertain.trim().is_empty() {
            let words = format!("uncertain: {}", text::clean(brought.report.uncertain.trim()));
            lines.extend(self.aside(dim, &words, RESULT_ROWS));
        }
        if !brought.report.refs.is_empty() {
            let words = format!("see: {}", text::clean(&brought.report.refs.join("\n     ")));
            lines.extend(self.aside(dim, &words, RESULT_ROWS));
        }
        lines
    }

    /// A Contribution that came as a message.
    fn brought(&self, brought: &Contribution, open: bool) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let dim = Style::from(theme.dim);
        let name = self.context.told.name_of(&brought.agent);
        let words = format!("{}: {}", brought.report.outcome, agents::first_words(&brought.report.done));
        let state = match brought.state {
            ReviewState::Unreviewed => "",
            ReviewState::Accepted => "accepted",
            ReviewState::Rejected => "not used",
            ReviewState::Superseded => "superseded",
        };
        let mut lines = vec![self.headline(("⇠", theme.accent.into()), &name, &words, (state, dim))];
        if open {
            lines.extend(self.done(brought, RESULT_ROWS));
            lines.extend(self.evidence(brought));
        }
        lines
    }

    /// What a Subagent reported, in its own trajectory: whole, for that is what it was about.
    pub(super) fn reported(&self, brought: &Contribution, open: bool) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let outcome = brought.report.outcome.as_str();
        let mut lines = vec![self.headline(("⇠", theme.accent.into()), "report", outcome, ("", theme.dim.into()))];
        lines.extend(self.markdown(brought.report.done.trim()));
        if open {
            lines.extend(self.evidence(brought));
        }
        lines
    }

    /// A decision request that came as a message.
    fn asked(&self, asked: &DecisionRequest, open: bool) -> Vec<Line<'static>> {
        let theme = self.context.theme;
        let dim = Style::from(theme.dim);
        let name = self.context.told.name_of(&asked.agent);
        let (sign, state) = match asked.state {
            DecisionState::Open => (Style::from(theme.warn), agents::left(asked, self.context.now)),
            DecisionState::Answered => (dim, "decided".to_owned()),
            DecisionState::FallbackUsed => (dim, "fallback used".to_owned()),
            DecisionState::Cancelled => (dim, "dropped".to_owned()),
        };
        let words = format!("asks: {}", asked.question.trim());
        let mut lines = vec![self.headline(("?", sign), &name, &words, (&state, sign))];
        if open {
            lines.extend(self.aside(theme.text.into(), &text::clean(asked.question.trim()), RESULT_ROWS));
            let words = format!("without an answer: {}", text::clean(asked.fallback.trim()));
            lines.extend(self.aside(dim, &words, RESULT_ROWS));
        }
        if let Some(answer) = &asked.answer {
            lines.extend(self.aside(dim, &format!("→ {}", text::clean(answer.trim())), 3));
        }
        lines
    }

    /// What woke Main from its rest.
    pub(super) fn woken(&self, first: u64) -> Vec<Line<'static>> {
        let told = self.context.told;
        let dim = Style::from(self.context.theme.dim);
        let by = entries::woken_by(told, first);
        let Some(message) = by.first() else { return Vec::new() };
        let more = match by.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        self.one("↻", dim, &format!("woken by {}{more}", agents::gist_of(told, message)), dim)
    }
}
