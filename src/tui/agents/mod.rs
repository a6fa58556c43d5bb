//! Subagents on this terminal: which one is chosen, whose trajectory is read, what is to be
//! confirmed; and the words in which every pane speaks of them.

use super::action::Step;
use super::chat::Chat;
use super::projection::Projection;
use super::projection::team::Standing;
use super::text;
use super::theme::Theme;
use super::words;
use crate::domain::{
    AgentId, Assignment, AssignmentState, DecisionRequest, Message, MessageKind, Millis, ReviewState, RunState,
};
use ratatui::style::Style;

/// How long the question whether it is meant stays open.
pub const SURE_FOR: Millis = 5_000;

/// Something done in the pane of Subagents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentsAct {
    /// Chooses a Subagent.
    Choose(Step),
    /// Reads the trajectory of the chosen one in the place of the chat.
    Read,
    /// Reads Main's conversation again.
    Leave,
    /// Says something to the chosen one.
    Guide,
    /// Decides what the chosen one asks.
    Decide,
    /// Stops the chosen one, once that is confirmed.
    Cancel,
    /// Shows what the chosen one brought, whole.
    Contribution,
    /// Accepts it.
    Accept,
    /// Sends it back to the one who brought it.
    SendBack,
    /// Refuses it, once that is confirmed.
    Refuse,
}

/// The pane of Subagents.
#[derive(Debug, Default)]
pub struct Agents {
    /// The chosen one.
    pub chosen: Option<AgentId>,
    /// What is to be confirmed, of whom, and since when.
    pub sure: Option<(AgentsAct, AgentId, Millis)>,
    /// Main's conversation, while a trajectory stands in its place.
    pub main_chat: Option<Chat>,
}

impl Agents {
    /// The place of the chosen one in the list.
    pub fn at(&self, told: &Projection) -> usize {
        told.team().iter().position(|member| Some(&member.work.agent) == self.chosen.as_ref()).unwrap_or(0)
    }

    /// The chosen one; the first where none is.
    pub fn chosen(&self, told: &Projection) -> Option<AgentId> {
        told.team().get(self.at(told)).map(|member| member.work.agent.clone())
    }
}

/// The sign, its style and the word for how a Subagent stands.
pub fn state(told: &Projection, theme: &Theme, work: &Assignment, standing: Standing) -> (&'static str, Style, String) {
    let (sign, style, word): (_, Style, &str) = match standing {
        Standing::Asks => ("?", theme.warn.into(), "asks"),
        Standing::Waits => ("◆", theme.warn.into(), "waits for you"),
        Standing::Works => match told.records.live_run(&work.agent).map(|run| run.state) {
            Some(RunState::Running) => ("●", theme.accent.into(), "working"),
            _ => ("○", theme.dim.into(), "stands by"),
        },
        Standing::Queued => ("○", theme.dim.into(), "queued"),
        Standing::Brought => match work.state {
            AssignmentState::Failed => ("✗", theme.error.into(), "failed"),
            AssignmentState::Cancelled => ("–", theme.dim.into(), "cancelled"),
            _ => ("✓", theme.ok.into(), "to review"),
        },
        Standing::Over => match (work.state, told.contribution_to(&work.id).map(|brought| brought.state)) {
            (AssignmentState::Failed, _) => ("✗", theme.dim.into(), "failed"),
            (AssignmentState::Cancelled, _) => ("–", theme.dim.into(), "cancelled"),
            (_, Some(ReviewState::Rejected)) => ("–", theme.dim.into(), "not used"),
            (_, Some(ReviewState::Superseded)) => ("–", theme.dim.into(), "superseded"),
            _ => ("✓", theme.dim.into(), "accepted"),
        },
    };
    (sign, style, word.to_owned())
}

/// The first words of what an agent wrote, on one line and without the marks of Markdown.
pub fn first_words(written: &str) -> String {
    let first = written.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let words = first.trim_start_matches(['#', '-', '*', '>', ' ']).replace("**", "").replace('`', "");
    text::line(&words)
}

/// How long a decision is still waited for.
pub fn left(asked: &DecisionRequest, now: Millis) -> String {
    let seconds = ((asked.deadline_at - now + 999) / 1000).max(0);
    match seconds {
        0..3600 => format!("{}:{:02} left", seconds / 60, seconds % 60),
        _ => format!("{} left", words::duration(seconds * 1000)),
    }
}

/// How long a Subagent has been at its work, or was.
pub fn elapsed(work: &Assignment, now: Millis) -> String {
    words::duration(work.ended_at.unwrap_or(now) - work.created_at)
}

/// A message in a few words: what it is and of whom.
pub fn gist_of(told: &Projection, message: &Message) -> String {
    let name = text::line(&told.called(&message.from));
    match message.kind {
        MessageKind::User => "what you said".to_owned(),
        MessageKind::Contribution => match told.told_contribution(message) {
            Some(brought) => format!("Contribution of {}", text::line(&told.name_of(&brought.agent))),
            None => format!("Contribution of {name}"),
        },
        MessageKind::DecisionRequest => format!("a decision request of {name}"),
        MessageKind::Notice => "a notice".to_owned(),
        MessageKind::Answer => "your answer".to_owned(),
        MessageKind::Job => "a Job".to_owned(),
        kind => format!("{} of {name}", kind.as_str().replace('_', " ")),
    }
}
