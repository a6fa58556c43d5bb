//! The built-in `guide`: deterministic, no AI, and it says so.
//!
//! It makes a fresh installation useful: it understands some shapes of request ([`understand`]),
//! does them with the real tools through the same loop as any model, and answers with facts from
//! their results. What it can't do it says plainly.
//!
//! It keeps nothing. Each answer is a pure function of the saved rows: the wishes are read from the
//! person's words again, what was done for them so far is taken from the calls and results that
//! follow ([`steps`]), and the answer is the next step. So it goes on after a kill like any model.

mod deeds;
mod history;
mod pattern;
mod show;
mod steps;
mod talk;
mod understand;
mod wish;

use super::{AnswerStream, Finished, Model, Request, StreamEvent};
use crate::domain::Usage;
use futures_util::stream;
use history::{History, Wished};
use serde_json::Value;

/// The model.
pub struct Guide;

impl Model for Guide {
    fn ask(&self, request: Request) -> AnswerStream {
        let reply = reply(&request);
        let sent: usize = request.rows.iter().map(|row| row.text().len()).sum::<usize>() + request.system.len();
        Box::pin(stream::iter(reply.into_events(sent).into_iter().map(Ok)))
    }
}

/// A call the guide asks for.
#[derive(Debug, Clone, PartialEq)]
struct Call {
    tool: &'static str,
    arguments: Value,
}

impl Call {
    fn new(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments }
    }
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq)]
struct Reply {
    text: String,
    calls: Vec<Call>,
}

impl Reply {
    /// The answer as it streams: word by word, then the calls.
    fn into_events(self, sent: usize) -> Vec<StreamEvent> {
        let mut received = self.text.len();
        let mut events: Vec<StreamEvent> =
            self.text.split_inclusive([' ', '\n']).map(|word| StreamEvent::Text(word.to_owned())).collect();
        let mut calls = Vec::new();
        for (ix, call) in (0..).zip(self.calls) {
            let (name, arguments) = (call.tool.to_owned(), call.arguments.to_string());
            received += name.len() + arguments.len();
            events.push(StreamEvent::CallStarted { ix, name: name.clone() });
            events.push(StreamEvent::CallArguments { ix, fragment: arguments.clone() });
            calls.push((String::new(), name, arguments));
        }
        let usage = Usage::estimate(sent, received);
        let reason = if calls.is_empty() { "stop" } else { "tool_calls" }.to_owned();
        events.push(StreamEvent::Done(Finished { calls, usage, reason, cut: false, parts: None }));
        events
    }
}

/// Says what comes next: calls, or what is known when every wish of the round is done.
fn reply(request: &Request) -> Reply {
    let history = History::of(&request.rows);
    let (wishes, mut steps) = history.round();
    let folder = talk::folder(&request.system);
    let mut told: Vec<(usize, String)> = Vec::with_capacity(wishes.len());
    let words = |told: Vec<(usize, String)>, before: usize| -> String {
        let fresh = told.into_iter().filter(|(message, _)| (history.told..before).contains(message));
        fresh.map(|(_, words)| words).collect::<Vec<_>>().join("\n\n")
    };
    for Wished { message, wish } in &wishes {
        match deeds::follow(wish, folder, &mut steps) {
            Some(answer) => told.push((*message, answer)),
            // What was asked in an earlier message is answered now: the call may wait for a person,
            // or be stopped.
            None => return Reply { text: words(told, *message), calls: steps.into_wanted() },
        }
    }
    Reply { text: words(told, usize::MAX), calls: Vec::new() }
}

#[cfg(test)]
mod tests;
