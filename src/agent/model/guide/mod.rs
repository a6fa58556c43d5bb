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
use history::History;
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
        let estimate = |bytes: usize| (bytes as f64 / 3.7).ceil() as u64;
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
        let usage =
            Usage { turns: 1, input_tokens: estimate(sent), output_tokens: estimate(received), ..Usage::default() };
        let reason = if calls.is_empty() { "stop" } else { "tool_calls" }.to_owned();
        events.push(StreamEvent::Done(Finished { calls, usage, reason }));
        events
    }
}

/// Says what comes next: calls, or what is known when every wish of the round is done.
fn reply(request: &Request) -> Reply {
    let (wishes, mut steps) = History::of(&request.rows).round();
    let folder = talk::folder(&request.system);
    let mut told = Vec::with_capacity(wishes.len());
    for wish in &wishes {
        match deeds::follow(wish, folder, &mut steps) {
            Some(words) => told.push(words),
            None => return Reply { text: String::new(), calls: steps.into_wanted() },
        }
    }
    Reply { text: told.join("\n\n"), calls: Vec::new() }
}

#[cfg(test)]
mod tests;
