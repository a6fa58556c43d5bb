//! An answer while it comes: gathered, shown, and what is left of it when it stops.

use super::super::drive::Drive;
use super::super::model::{self, ErrorClass, Finished, ModelError, StreamEvent};
use crate::agent::port::Port;
use crate::crash;
use crate::domain::*;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::Instant;

/// How long pieces of an answer are gathered before they are shown.
const GATHER: Duration = Duration::from_millis(30);

/// How the stream of an answer ended.
pub(super) enum Ended {
    /// The answer is whole.
    Whole(Finished),
    /// The step was stopped.
    Stopped,
    /// The request failed.
    Failed(ModelError),
}

/// An answer while it comes.
pub(super) struct Answer<'a> {
    port: &'a dyn Port,
    stop: tokio_util::sync::CancellationToken,
    task: TaskId,
    agent: AgentId,
    call: ModelCallId,
    said: Stretch,
    thought: Stretch,
    forming: Vec<(u32, String, u64)>,
}

/// Words of one kind: what came, and how much of it was shown.
#[derive(Default)]
struct Stretch {
    text: String,
    shown: usize,
}

impl Stretch {
    /// Takes what was not shown yet, with the place where it begins.
    fn fresh(&mut self) -> Option<(u64, String)> {
        let at = self.shown;
        self.shown = self.text.len();
        (at < self.text.len()).then(|| (at as u64, self.text[at..].to_owned()))
    }
}

impl<'a> Answer<'a> {
    pub(super) fn new(drive: &'a Drive, call: ModelCallId) -> Self {
        Self {
            port: drive.port.as_ref(),
            stop: drive.stop.clone(),
            task: drive.task.clone(),
            agent: drive.agent.clone(),
            call,
            said: Stretch::default(),
            thought: Stretch::default(),
            forming: Vec::new(),
        }
    }

    pub(super) async fn receive(&mut self, mut stream: model::AnswerStream, time_left: Option<Duration>) -> Ended {
        let deadline = time_left.map(|left| Instant::now() + left);
        let mut show_at: Option<Instant> = None;
        loop {
            let out_of_time = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            let gathered = async {
                match show_at {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => { self.show(); return Ended::Stopped; }
                () = out_of_time => { self.show(); return Ended::Stopped; }
                () = gathered => { self.show(); show_at = None; }
                item = stream.next() => match item {
                    Some(Ok(StreamEvent::Done(finished))) => { self.show(); return Ended::Whole(finished); }
                    Some(Ok(event)) => {
                        self.take(event);
                        crash::point("loop.streaming");
                        show_at.get_or_insert(Instant::now() + GATHER);
                    }
                    Some(Err(error)) => return Ended::Failed(error),
                    None => return Ended::Failed(ModelError {
                        class: ErrorClass::Cut,
                        message: "the answer stopped before its end".into(),
                        retry_after_ms: None,
                    }),
                },
            }
        }
    }

    fn take(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Text(text) => self.said.text.push_str(&text),
            StreamEvent::Thinking(text) => self.thought.text.push_str(&text),
            StreamEvent::CallStarted { ix, name } => self.forming.push((ix, name, 0)),
            StreamEvent::CallArguments { ix, fragment } => {
                if let Some(forming) = self.forming.iter_mut().find(|forming| forming.0 == ix) {
                    forming.2 += fragment.len() as u64;
                }
            }
            StreamEvent::Done(_) => {}
        }
    }

    /// Shows what came since the last time.
    fn show(&mut self) {
        let (task, agent, call) = (&self.task, &self.agent, &self.call);
        if let Some((at, text)) = self.thought.fresh() {
            let (task, agent, call) = (task.clone(), agent.clone(), call.clone());
            self.port.show(Transient::Thinking { task, agent, call, at, text });
        }
        if let Some((at, text)) = self.said.fresh() {
            let (task, agent, call) = (task.clone(), agent.clone(), call.clone());
            self.port.show(Transient::Text { task, agent, call, at, text });
        }
        if let Some((ix, name, bytes)) = self.forming.last().cloned() {
            let (task, agent, call) = (task.clone(), agent.clone(), call.clone());
            self.port.show(Transient::CallForming { task, agent, call, ix, name, bytes });
        }
    }

    /// How many bytes of it came.
    pub(super) fn bytes(&self) -> usize {
        let calls: u64 = self.forming.iter().map(|(_, name, bytes)| name.len() as u64 + bytes).sum();
        self.said.text.len() + self.thought.text.len() + calls as usize
    }

    /// Whether words of an answer came.
    pub(super) fn says_something(&self) -> bool {
        !self.said.text.trim().is_empty()
    }

    /// What was said and thought, as parts of a row.
    pub(super) fn into_parts(self) -> Vec<Part> {
        let mut parts = Vec::new();
        if !self.thought.text.is_empty() {
            parts.push(Part::Thinking { text: self.thought.text, signature: None });
        }
        if !self.said.text.is_empty() {
            parts.push(Part::text(self.said.text));
        }
        parts
    }
}
