//! What is told of one agent and stands in no record: what it says right now, why it gave no answer,
//! what it said last. And whose conversation is read: Main's, or the trajectory of a Subagent.
//!
//! Of a Subagent that nobody reads only the last words are kept; its rows are asked for when it is
//! opened.

use super::live::Live;
use super::{Notice, Projection};
use crate::domain::{AgentId, EndReason, Event, Part, Recorded, Snapshot, ToolCall, TranscriptPage};

/// How many characters of what an agent said last are kept: as many as the host tells.
const LAST_WORDS: usize = 200;

/// What is told of one agent.
#[derive(Debug, Clone, Default)]
pub struct Voice {
    /// What it is saying right now.
    pub live: Live,
    /// Why the last request gave no answer.
    pub notice: Option<Notice>,
    /// Whether rows exist before the oldest one here.
    pub more: bool,
    /// The beginning of what it said last.
    pub last_words: String,
}

impl Voice {
    /// What an event of its own means for it.
    pub fn follow(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { call } => {
                self.live.begin(&call.id);
                // That an answer begins afresh is said until it has come.
                if !matches!(self.notice, Some(Notice::Abandoned { .. })) {
                    self.notice = None;
                }
            }
            Event::TurnCommitted { call, row, .. } => {
                self.live.end(call);
                self.notice = None;
                let said = row.parts.iter().find_map(|part| match part {
                    Part::Text { text } if !text.trim().is_empty() => Some(text.trim()),
                    Part::Text { .. } | Part::Thinking { .. } | Part::Image { .. } | Part::Call { .. } => None,
                });
                if let Some(said) = said {
                    self.last_words = said.chars().take(LAST_WORDS).collect();
                }
            }
            Event::TurnFailed { call, class, message, retry_at, instead, .. } => {
                self.live.end(call);
                // Where another model goes on, the message says so and nothing is waited for.
                let retry_at = retry_at.filter(|_| instead.is_none());
                self.notice = Some(Notice::Failed { class: class.clone(), message: message.clone(), retry_at });
            }
            Event::TurnAbandoned { call, reason, .. } => {
                self.live.end(call);
                self.notice = Some(Notice::Abandoned { reason: reason.clone() });
            }
            Event::ToolSettled { call, .. } => self.live.settle(call),
            Event::MessageDelivered { .. } => self.notice = None,
            Event::RunEnded { reason: EndReason::Interrupted, .. } => self.notice = Some(Notice::Stopped),
            _ => {}
        }
    }
}

/// The trajectory of a Subagent that is read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// Whose.
    pub agent: AgentId,
    /// What was heard since its rows were asked for, until they come.
    ahead: Option<Vec<Recorded>>,
}

impl Reading {
    /// Keeps an event until the rows have come.
    pub fn hear(&mut self, recorded: &Recorded) {
        if let Some(ahead) = &mut self.ahead {
            ahead.push(recorded.clone());
        }
    }
}

impl Projection {
    /// Main.
    pub fn main(&self) -> Option<&AgentId> {
        self.task().map(|task| &task.main)
    }

    /// Whose conversation is read: a Subagent's, or else Main's.
    pub fn reader(&self) -> Option<&AgentId> {
        self.reading.as_ref().map(|reading| &reading.agent).or_else(|| self.main())
    }

    /// The Subagent whose trajectory is read.
    pub fn read_subagent(&self) -> Option<&AgentId> {
        self.reading.as_ref().map(|reading| &reading.agent)
    }

    /// Begins to read the trajectory of a Subagent: its rows are to be asked for.
    pub fn read(&mut self, agent: AgentId) {
        self.read_main();
        self.reading = Some(Reading { agent, ahead: Some(Vec::new()) });
        self.revision += 1;
    }

    /// Reads Main again.
    pub fn read_main(&mut self) {
        if self.reading.take().is_some() {
            self.forget_trajectories();
            self.revision += 1;
        }
    }

    /// The newest rows of the trajectory that is read. What was told since they were asked for is
    /// folded into them by the law that folds everything else.
    pub fn arrived(&mut self, agent: &AgentId, page: TranscriptPage) {
        let Some(reading) = self.reading.as_mut().filter(|reading| reading.agent == *agent) else { return };
        let Some(ahead) = reading.ahead.take() else { return };
        let mut told = Snapshot { fence: self.records.fence, ..Snapshot::default() };
        told.rows.extend(page.rows.into_iter().map(|row| ((agent.clone(), row.seq), row)));
        told.tool_calls.extend(page.calls.into_iter().map(|call| (call.id.clone(), call)));
        told.messages.extend(page.messages.into_iter().map(|message| (message.id.clone(), message)));
        for Recorded { seq, at, task, actor, event } in &ahead {
            if *seq > page.seq {
                told.apply(task.as_ref(), actor, *at, event);
            }
        }
        self.records.rows.extend(told.rows.into_iter().filter(|((whose, _), _)| whose == agent));
        self.records.tool_calls.extend(told.tool_calls.into_iter().filter(|(_, call)| call.agent == *agent));
        for (id, message) in told.messages {
            self.records.messages.entry(id).or_insert(message);
        }
        self.voices.entry(agent.clone()).or_default().more = page.more;
        self.revision += 1;
    }

    /// Whether the rows of the trajectory that is read are on their way.
    pub fn awaits_trajectory(&self) -> bool {
        self.reading.as_ref().is_some_and(|reading| reading.ahead.is_some())
    }

    /// Lets go of what only somebody who reads a trajectory needs.
    pub(super) fn forget_trajectories(&mut self) {
        let Some(main) = self.main().cloned() else { return };
        let read = self.read_subagent().cloned();
        let is_kept = |agent: &AgentId| *agent == main || Some(agent) == read.as_ref();
        self.records.rows.retain(|(agent, _), _| is_kept(agent));
        self.records.tool_calls.retain(|_, call| is_kept(&call.agent) || !call.state.is_settled());
    }

    /// What is told of one agent.
    pub fn voice(&self, agent: &AgentId) -> Option<&Voice> {
        self.voices.get(agent)
    }

    /// What whoever is read is saying right now.
    pub fn live(&self) -> &Live {
        self.reader().and_then(|agent| self.voices.get(agent)).map_or(&self.silence.live, |voice| &voice.live)
    }

    /// Why the last request of whoever is read gave no answer.
    pub fn notice(&self) -> Option<&Notice> {
        self.reader().and_then(|agent| self.voices.get(agent)).and_then(|voice| voice.notice.as_ref())
    }

    /// Whether rows exist before the oldest one here of whoever is read.
    pub fn more(&self) -> bool {
        self.reader().and_then(|agent| self.voices.get(agent)).is_some_and(|voice| voice.more)
    }

    /// The agent whose step or Run an event is about, where it is one's.
    pub(super) fn speaker(&self, event: &Event) -> Option<AgentId> {
        if let Some(agent) = event.stepper() {
            return Some(agent.clone());
        }
        match event {
            Event::RunEnded { run, .. } | Event::RunSuspended { run, .. } => {
                self.records.runs.get(run).map(|run| run.agent.clone())
            }
            _ => None,
        }
    }

    /// The newest call of an agent that runs, or is about to.
    pub fn newest_call(&self, agent: &AgentId) -> Option<&ToolCall> {
        self.records.open_calls(agent).pop()
    }
}
