//! Puts an answer together from the chunks of a stream, or from one whole message.
//!
//! Servers number, name and cut tool calls in their own ways (see [`Answer::place`]); the rest of
//! the program sees calls numbered from 0, each with one name.

use super::super::steps::{self, Step};
use super::super::{Finished, Request, StreamEvent, fenced, wire};
use super::again::{Again, is_thought};
use crate::agent::tools::ToolSpec;
use crate::domain::{Part, Usage};
use serde_json::Value;

/// How the model asks for tools.
#[derive(Debug, Default, PartialEq)]
enum Style {
    /// In the way of the wire format.
    #[default]
    Calls,
    /// In the same way, or as a block at the end of its words.
    Fenced(Vec<ToolSpec>),
    /// The whole answer is one step, bound by a schema.
    Steps,
}

/// An answer as far as it came.
#[derive(Debug, Default)]
pub(in super::super) struct Answer {
    provider: String,
    style: Style,
    said: String,
    thought: String,
    /// The words that come now are thoughts, in a pair of tags.
    in_thought: bool,
    again: Again,
    calls: Vec<Forming>,
    /// What the server counted last; counts are running totals, so a later one replaces it.
    usage: Option<Usage>,
    reason: Option<String>,
    /// Bytes of text and arguments received, to estimate tokens where the server counts none.
    bytes: usize,
}

/// A call that is still forming.
#[derive(Debug, Default)]
struct Forming {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// How much of the arguments was passed on; nothing before the name is known.
    told: Option<usize>,
}

impl Forming {
    /// Whether its arguments are a whole JSON value.
    fn is_whole(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

impl Answer {
    /// Begins with nothing; what must be shown again is kept for the provider of that name.
    pub(in super::super) fn new(request: &Request, provider: &str, fenced: bool) -> Self {
        let style = match (request.info.steps, fenced) {
            (true, _) if !request.tools.is_empty() => Style::Steps,
            (_, true) => Style::Fenced(request.tools.clone()),
            (_, false) => Style::Calls,
        };
        Self { provider: provider.to_owned(), style, ..Self::default() }
    }

    /// Takes calls that stand in the words out of them; gives the words that are left.
    fn calls_in_words(&mut self, events: &mut Vec<StreamEvent>) -> String {
        let (words, calls) = match &self.style {
            Style::Calls => return std::mem::take(&mut self.said),
            Style::Fenced(_) if !self.calls.is_empty() => return std::mem::take(&mut self.said),
            Style::Fenced(tools) => match fenced::calls(&self.said, tools) {
                Some((end, calls)) => (self.said[..end].to_owned(), calls),
                None => return std::mem::take(&mut self.said),
            },
            Style::Steps => {
                let step = steps::parse(&self.said);
                // What is no step, such as one that was cut, is shown as it is.
                let (words, calls) = match step {
                    Some(Step::Call(name, arguments)) => (String::new(), vec![(name, arguments)]),
                    Some(Step::Answer(words)) => (words, Vec::new()),
                    None => (self.said.clone(), Vec::new()),
                };
                if !words.is_empty() {
                    events.push(StreamEvent::Text(words.clone()));
                }
                (words, calls)
            }
        };
        for (name, arguments) in calls {
            let ix = self.calls.len() as u32;
            events.push(StreamEvent::CallStarted { ix, name: name.clone() });
            events.push(StreamEvent::CallArguments { ix, fragment: arguments.clone() });
            self.calls.push(Forming { name, arguments, ..Forming::default() });
        }
        words
    }

    /// The thoughts and words to keep.
    fn parts(&mut self, words: String) -> Vec<Part> {
        let (thought, again) = (std::mem::take(&mut self.thought), std::mem::take(&mut self.again));
        let words = Some(words).filter(|words| !words.trim().is_empty()).map(Part::text);
        again.into_part(thought, &self.provider).into_iter().chain(words).collect()
    }
}

impl wire::Answer for Answer {
    fn take(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> bool {
        if let Some(usage) = usage(&chunk["usage"]) {
            self.usage = Some(usage);
        }
        let Some(choice) = chunk["choices"].get(0) else { return false };
        let message = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
        let before = self.bytes;
        self.take_words(message, events);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.take_call(call, events);
        }
        let reason = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty());
        if let Some(reason) = reason {
            self.reason = Some(reason.to_owned());
        } else if choice.get("message").is_some() {
            self.reason.get_or_insert("stop".into());
        }
        self.bytes > before || !events.is_empty()
    }

    fn is_finished(&self) -> bool {
        self.reason.is_some()
    }

    fn is_over(&self) -> bool {
        // `[DONE]` says so.
        false
    }

    fn finish(&mut self, sent: usize, events: &mut Vec<StreamEvent>) -> Option<Finished> {
        let words = self.calls_in_words(events);
        let parts = Some(self.parts(words));
        let usage = self.usage.take().unwrap_or_else(|| Usage::estimate(sent, self.bytes));
        let whole = self.calls.iter().all(|call| !call.name.is_empty());
        let default = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        let reason = self.reason.take().unwrap_or_else(|| default.into());
        let cut = reason == "length";
        let calls = std::mem::take(&mut self.calls).into_iter().map(|call| (call.id, call.name, call.arguments));
        let calls = calls.collect();
        whole.then_some(Finished { calls, usage: Usage { turns: 1, ..usage }, reason, cut, parts })
    }
}

impl Answer {
    fn take_words(&mut self, message: &Value, events: &mut Vec<StreamEvent>) {
        let thinking = message["reasoning_content"].as_str().or_else(|| message["reasoning"].as_str());
        if let Some(thinking) = thinking {
            self.think(thinking, events);
        }
        self.again.take_message(message);
        match &message["content"] {
            Value::String(text) => self.say_or_think(text, is_thought(&message["extra_content"]), events),
            Value::Array(parts) => {
                for part in parts {
                    if let Some(text) = part["text"].as_str() {
                        self.say(text, events);
                    }
                    for thought in part["thinking"].as_array().into_iter().flatten() {
                        self.think(thought["text"].as_str().unwrap_or_default(), events);
                    }
                }
            }
            _ => {}
        }
        if let Some(refusal) = message["refusal"].as_str() {
            self.say(refusal, events);
        }
    }

    /// Words that may be thoughts between tags, as Gemini marks them: the first pieces are `marked`,
    /// and the closing tag begins the piece after them.
    fn say_or_think(&mut self, text: &str, marked: bool, events: &mut Vec<StreamEvent>) {
        if !marked && !self.in_thought {
            return self.say(text, events);
        }
        let inner = if self.in_thought { text } else { text.strip_prefix("<thought>").unwrap_or(text) };
        let end = inner.split_once("</thought>");
        self.in_thought = end.is_none() && marked;
        match end {
            Some((thought, said)) => {
                self.think(thought, events);
                self.say(said, events);
            }
            None if marked => self.think(inner, events),
            None => self.say(inner, events),
        }
    }

    fn say(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        self.bytes += text.len();
        self.said.push_str(text);
        // A step is shown when it is known what it is.
        if !text.is_empty() && self.style != Style::Steps {
            events.push(StreamEvent::Text(text.to_owned()));
        }
    }

    fn think(&mut self, text: &str, events: &mut Vec<StreamEvent>) {
        self.bytes += text.len();
        self.thought.push_str(text);
        if !text.is_empty() {
            events.push(StreamEvent::Thinking(text.to_owned()));
        }
    }

    fn take_call(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        let index = delta["index"].as_u64();
        let id = delta["id"].as_str().unwrap_or_default();
        let function = &delta["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let arguments = match &function["arguments"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            // Some servers send the object itself.
            whole => whole.to_string(),
        };
        let ix = match self.place(index, id, name, &arguments) {
            Some(ix) => ix,
            None => {
                self.calls.push(Forming { index, ..Forming::default() });
                self.calls.len() - 1
            }
        };
        self.again.take_call(ix, delta);
        self.bytes += arguments.len() + name.len();
        let call = &mut self.calls[ix];
        if call.id.is_empty() {
            call.id = id.to_owned();
        }
        if call.name.is_empty() {
            call.name = name.to_owned();
        }
        call.arguments.push_str(&arguments);
        if call.name.is_empty() {
            return;
        }
        if call.told.is_none() {
            events.push(StreamEvent::CallStarted { ix: ix as u32, name: call.name.clone() });
        }
        let told = call.told.unwrap_or(0);
        if told < call.arguments.len() {
            events.push(StreamEvent::CallArguments { ix: ix as u32, fragment: call.arguments[told..].to_owned() });
        }
        call.told = Some(call.arguments.len());
    }

    /// Finds the call that a delta goes on with; `None` if it begins a new one.
    ///
    /// The index says which, but servers send two calls under one index, or no index at all; the id
    /// says which, but servers leave it out, repeat it, or draw another one for each delta. So:
    /// the newest call under that index (or the newest of all, without one) is meant, unless the
    /// delta clearly begins another one: it has another id and a name, or it follows whole
    /// arguments with another id, or with a name and more arguments.
    fn place(&self, index: Option<u64>, id: &str, name: &str, arguments: &str) -> Option<usize> {
        let same_id = |call: &Forming| !id.is_empty() && call.id == id;
        if let Some(ix) = self.calls.iter().rposition(|call| same_id(call) && (index.is_none() || call.index == index))
        {
            return Some(ix);
        }
        let ix = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let call = &self.calls[ix];
        let other_id = !id.is_empty() && !call.id.is_empty();
        let other_name = !name.is_empty() && !call.name.is_empty() && call.name != name;
        let begins = match other_id {
            true => !name.is_empty() || call.is_whole(),
            false => other_name || (!name.is_empty() && !arguments.trim().is_empty() && call.is_whole()),
        };
        (!begins).then_some(ix)
    }
}

/// Reads a count, if there is one.
fn usage(value: &Value) -> Option<Usage> {
    let count = |name: &str| value[name].as_u64();
    let (input, output) = (count("prompt_tokens"), count("completion_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = value["prompt_tokens_details"]["cached_tokens"].as_u64().or_else(|| count("prompt_cache_hit_tokens"));
    Some(Usage {
        input_tokens: input.unwrap_or(0),
        output_tokens: output.unwrap_or(0),
        cached_tokens: cached.unwrap_or(0),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::wire::Answer as _;
    use super::*;
    use serde_json::json;

    /// Feeds the deltas of tool calls, one list a chunk, and checks that what was told on the way
    /// adds up to what came out.
    fn calls(chunks: &[Value]) -> Vec<(String, String, String)> {
        let mut answer = Answer::default();
        let mut events = Vec::new();
        for chunk in chunks {
            answer.take(&json!({"choices": [{"delta": {"tool_calls": chunk}}]}), &mut events);
        }
        let finished = answer.finish(0, &mut Vec::new()).expect("every call has a name");
        let mut told: Vec<(String, String)> = Vec::new();
        for event in events {
            match event {
                StreamEvent::CallStarted { ix, name } => {
                    assert_eq!(ix as usize, told.len(), "calls are numbered in order");
                    told.push((name, String::new()));
                }
                StreamEvent::CallArguments { ix, fragment } => told[ix as usize].1.push_str(&fragment),
                other => panic!("{other:?}"),
            }
        }
        let whole: Vec<_> =
            finished.calls.iter().map(|(_, name, arguments)| (name.clone(), arguments.clone())).collect();
        assert_eq!(told, whole);
        finished.calls
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.into(), name.into(), arguments.into())
    }

    #[test]
    fn two_ids_under_one_index_are_two_calls() {
        let made = calls(&[
            json!([{"index": 0, "id": "call_a", "function": {"name": "get_time", "arguments": "{\"city\":\"paris\"}"}}]),
            json!([{"index": 0, "id": "call_b", "function": {"name": "get_weather", "arguments": "{\"city\":\"oslo\"}"}}]),
        ]);
        assert_eq!(
            made,
            [call("call_a", "get_time", "{\"city\":\"paris\"}"), call("call_b", "get_weather", "{\"city\":\"oslo\"}")]
        );
    }

    #[test]
    fn two_entries_at_one_index_in_one_chunk_are_one_call() {
        let made = calls(&[
            json!([{"index": 0, "id": "c1", "function": {"name": "f"}}, {"index": 0, "function": {"arguments": "{\"a\":"}}]),
            json!([{"index": 0, "function": {"arguments": "1}"}}]),
        ]);
        assert_eq!(made, [call("c1", "f", "{\"a\":1}")]);
    }

    #[test]
    fn without_any_index_a_new_id_and_name_begin_a_call() {
        let made = calls(&[
            json!([{"id": "c1", "function": {"name": "f", "arguments": ""}}]),
            json!([{"function": {"arguments": "{\"a\""}}]),
            json!([{"function": {"arguments": ":1}"}}]),
            json!([{"id": "c2", "function": {"name": "g", "arguments": "{}"}}]),
        ]);
        assert_eq!(made, [call("c1", "f", "{\"a\":1}"), call("c2", "g", "{}")]);
    }

    #[test]
    fn a_name_repeated_in_every_delta_is_one_name() {
        for with_id in [true, false] {
            for index in [json!(0), Value::Null] {
                let delta = |fragment: &str| {
                    let id = if with_id { json!("c1") } else { Value::Null };
                    json!([{"index": index, "id": id, "function": {"name": "f", "arguments": fragment}}])
                };
                let made = calls(&[delta(""), delta("{\"a\""), delta(":1}"), delta("")]);
                assert_eq!(made, [call(if with_id { "c1" } else { "" }, "f", "{\"a\":1}")], "{with_id} {index}");
            }
        }
    }

    #[test]
    fn whole_calls_without_id_and_index_stay_apart() {
        let made = calls(&[json!([
            {"function": {"name": "f", "arguments": "{\"a\":1}"}},
            {"function": {"name": "f", "arguments": "{\"a\":2}"}},
            {"function": {"name": "g", "arguments": {"b": 3}}},
        ])]);
        assert_eq!(made, [call("", "f", "{\"a\":1}"), call("", "f", "{\"a\":2}"), call("", "g", "{\"b\":3}")]);
    }

    #[test]
    fn another_id_in_every_delta_of_a_call_is_one_call() {
        let made = calls(&[
            json!([{"index": 0, "id": "x1", "function": {"name": "f", "arguments": "{\"a\""}}]),
            json!([{"index": 0, "id": "x2", "function": {"arguments": ":1}"}}]),
        ]);
        assert_eq!(made, [call("x1", "f", "{\"a\":1}")]);
    }

    #[test]
    fn calls_that_come_interleaved_go_where_they_belong() {
        let made = calls(&[
            json!([{"index": 0, "id": "a", "function": {"name": "f"}}, {"index": 1, "id": "b", "function": {"name": "g"}}]),
            json!([{"index": 1, "function": {"arguments": "{\"y\":"}}, {"index": 0, "function": {"arguments": "{\"x\":"}}]),
            json!([{"index": 0, "function": {"arguments": "1}"}}, {"index": 1, "function": {"arguments": "2}"}}]),
        ]);
        assert_eq!(made, [call("a", "f", "{\"x\":1}"), call("b", "g", "{\"y\":2}")]);
    }

    #[test]
    fn the_same_id_under_two_indexes_is_two_calls() {
        let made = calls(&[
            json!([{"index": 0, "id": "call", "function": {"name": "f", "arguments": "{}"}}]),
            json!([{"index": 1, "id": "call", "function": {"name": "g", "arguments": "{}"}}]),
        ]);
        assert_eq!(made, [call("call", "f", "{}"), call("call", "g", "{}")]);
    }

    #[test]
    fn arguments_before_the_name_are_told_after_it() {
        let made = calls(&[
            json!([{"index": 0, "id": "a", "function": {"arguments": "{\"x\":"}}]),
            json!([{"index": 0, "function": {"name": "f", "arguments": "1}"}}]),
        ]);
        assert_eq!(made, [call("a", "f", "{\"x\":1}")]);
    }

    #[test]
    fn a_call_without_a_name_makes_no_answer() {
        let mut answer = Answer::default();
        answer.take(
            &json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]}),
            &mut Vec::new(),
        );
        assert_eq!(answer.finish(0, &mut Vec::new()), None);
    }

    #[test]
    fn running_totals_replace_one_another() {
        let mut answer = Answer::default();
        let mut events = Vec::new();
        for output in [1, 5, 9] {
            let usage = json!({"prompt_tokens": 100, "completion_tokens": output, "prompt_tokens_details": {"cached_tokens": 64}});
            answer.take(&json!({"choices": [{"delta": {"content": "x"}}], "usage": usage}), &mut events);
            answer.take(&json!({"choices": [], "usage": null}), &mut events);
        }
        let usage = answer.finish(0, &mut Vec::new()).expect("whole").usage;
        assert_eq!(
            usage,
            Usage { turns: 1, input_tokens: 100, cached_tokens: 64, output_tokens: 9, ..Usage::default() }
        );
    }

    #[test]
    fn a_server_that_counts_nothing_is_counted_by_size() {
        let mut answer = Answer::default();
        answer.take(&json!({"choices": [{"delta": {"content": "x".repeat(37)}}]}), &mut Vec::new());
        let usage = answer.finish(370, &mut Vec::new()).expect("whole").usage;
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (100, 10, true));
    }

    #[test]
    fn words_and_thinking_come_in_all_their_forms() {
        let mut answer = Answer::default();
        let mut events = Vec::new();
        for message in [
            json!({"reasoning_content": "a", "content": null}),
            json!({"reasoning": "b", "content": ""}),
            json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "c"}]}, {"type": "text", "text": "d"}]}),
            json!({"content": "e"}),
            json!({"refusal": "f"}),
        ] {
            answer.take(&json!({"choices": [{"delta": message}]}), &mut events);
        }
        let (thinking, text) =
            (|text: &str| StreamEvent::Thinking(text.into()), |text: &str| StreamEvent::Text(text.into()));
        assert_eq!(events, [thinking("a"), thinking("b"), thinking("c"), text("d"), text("e"), text("f")]);
    }

    #[test]
    fn thoughts_that_a_server_marks_and_puts_between_tags_are_no_words() {
        let marked = json!({"google": {"thought": true}});
        for pieces in [
            vec![
                json!({"content": "<thought>I see", "extra_content": marked}),
                json!({"content": " it.", "extra_content": marked}),
                json!({"content": "</thought>It is", "extra_content": null}),
                json!({"content": " so."}),
            ],
            vec![json!({"content": "<thought>I see it.</thought>It is so.", "extra_content": marked})],
            vec![json!({"content": "I see it.", "extra_content": marked}), json!({"content": "It is so."})],
        ] {
            let mut answer = Answer::default();
            let mut events = Vec::new();
            for piece in pieces {
                answer.take(&json!({"choices": [{"delta": piece}]}), &mut events);
            }
            let finished = answer.finish(0, &mut events).expect("an answer");
            let thought = Part::Thinking { text: "I see it.".into(), signature: None };
            assert_eq!(finished.parts, Some(vec![thought, Part::text("It is so.")]));
        }
    }

    #[test]
    fn a_signature_that_follows_its_call_in_a_piece_of_its_own_is_kept_with_it() {
        let mut answer = Answer { provider: "gemini".into(), ..Answer::default() };
        let signature = json!({"google": {"thought_signature": "CqQB"}});
        let delta = |calls: Value| json!({"choices": [{"delta": {"tool_calls": calls}}]});
        for calls in [
            json!([{"index": 0, "id": "f1", "function": {"name": "read", "arguments": "{}"}}]),
            json!([{"extra_content": signature}]),
        ] {
            answer.take(&delta(calls), &mut Vec::new());
        }
        let finished = answer.finish(0, &mut Vec::new()).expect("an answer");
        assert_eq!(finished.calls, [call("f1", "read", "{}")]);
        let kept = json!({"calls": {"0": signature}});
        assert_eq!(finished.parts, Some(vec![super::super::super::kept::thinking(String::new(), "gemini", kept)]));
    }
}
