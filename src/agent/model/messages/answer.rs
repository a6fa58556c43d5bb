//! Puts an answer together from the events of Anthropic Messages, or from one whole message.

use super::super::{Finished, StreamEvent, kept, wire};
use crate::domain::{Part, Usage};
use serde_json::{Value, json};

/// An answer as far as it came.
#[derive(Debug, Default)]
pub(in super::super) struct Answer {
    provider: String,
    blocks: Vec<(u64, Block)>,
    calls: u32,
    counted: Counted,
    reason: Option<String>,
    over: bool,
    bytes: usize,
}

/// What the server counted: running totals, so that a later one replaces an earlier one.
#[derive(Debug, Default)]
struct Counted {
    fresh: Option<u64>,
    written: u64,
    cached: u64,
    output: Option<u64>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(Value),
    Call {
        ix: u32,
        id: String,
        name: String,
        arguments: String,
        whole: Option<Value>,
    },
    /// Of a kind that we did not ask for.
    Other,
}

impl Answer {
    /// Begins with nothing; thinking is kept for the provider of that name.
    pub(in super::super) fn new(provider: &str) -> Self {
        Self { provider: provider.to_owned(), ..Self::default() }
    }

    fn count(&mut self, usage: &Value) {
        let number = |name: &str| usage[name].as_u64();
        self.counted.fresh = number("input_tokens").or(self.counted.fresh);
        self.counted.written = number("cache_creation_input_tokens").unwrap_or(self.counted.written);
        self.counted.cached = number("cache_read_input_tokens").unwrap_or(self.counted.cached);
        self.counted.output = number("output_tokens").or(self.counted.output);
    }

    /// Takes the beginning of a block, which may already hold all of it.
    fn begin(&mut self, index: u64, block: &Value, events: &mut Vec<StreamEvent>) {
        let text = |name: &str| block[name].as_str().unwrap_or_default();
        let begun = match block["type"].as_str().unwrap_or_default() {
            "text" => Block::Text(String::new()),
            "thinking" => Block::Thinking { text: String::new(), signature: text("signature").to_owned() },
            "redacted_thinking" => Block::Redacted(block.clone()),
            "tool_use" => {
                let ix = self.calls;
                self.calls += 1;
                self.bytes += text("name").len();
                events.push(StreamEvent::CallStarted { ix, name: text("name").to_owned() });
                // Where arguments do not stream, they are all here.
                let whole =
                    block["input"].as_object().filter(|input| !input.is_empty()).map(|_| block["input"].clone());
                let (id, name) = (text("id").to_owned(), text("name").to_owned());
                Block::Call { ix, id, name, arguments: String::new(), whole }
            }
            _ => Block::Other,
        };
        self.blocks.push((index, begun));
        let (said, thought) = (text("text").to_owned(), text("thinking").to_owned());
        self.grow(index, &json!({"type": "text_delta", "text": said}), events);
        self.grow(index, &json!({"type": "thinking_delta", "thinking": thought}), events);
    }

    fn grow(&mut self, index: u64, delta: &Value, events: &mut Vec<StreamEvent>) {
        let more = |name: &str| delta[name].as_str().filter(|more| !more.is_empty());
        let Some((_, block)) = self.blocks.iter_mut().rfind(|(at, _)| *at == index) else { return };
        match block {
            Block::Text(text) => {
                if let Some(more) = more("text") {
                    self.bytes += more.len();
                    text.push_str(more);
                    events.push(StreamEvent::Text(more.to_owned()));
                }
            }
            Block::Thinking { text, signature } => {
                if let Some(more) = more("thinking") {
                    self.bytes += more.len();
                    text.push_str(more);
                    events.push(StreamEvent::Thinking(more.to_owned()));
                }
                if let Some(more) = more("signature") {
                    signature.push_str(more);
                }
            }
            Block::Call { ix, arguments, .. } => {
                if let Some(more) = more("partial_json") {
                    self.bytes += more.len();
                    arguments.push_str(more);
                    events.push(StreamEvent::CallArguments { ix: *ix, fragment: more.to_owned() });
                }
            }
            Block::Redacted(_) | Block::Other => {}
        }
    }
}

impl wire::Answer for Answer {
    fn take(&mut self, value: &Value, events: &mut Vec<StreamEvent>) -> bool {
        let index = value["index"].as_u64().unwrap_or(0);
        match value["type"].as_str().unwrap_or_default() {
            "message_start" => {
                self.count(&value["message"]["usage"]);
                false
            }
            "content_block_start" => {
                self.begin(index, &value["content_block"], events);
                true
            }
            "content_block_delta" => {
                self.grow(index, &value["delta"], events);
                true
            }
            "content_block_stop" => true,
            "message_delta" => {
                self.count(&value["usage"]);
                if let Some(reason) = value["delta"]["stop_reason"].as_str() {
                    self.reason = Some(reason.to_owned());
                }
                true
            }
            "message_stop" => {
                self.over = true;
                self.reason.get_or_insert("end_turn".into());
                true
            }
            "message" => {
                self.count(&value["usage"]);
                for (index, block) in (0..).zip(value["content"].as_array().into_iter().flatten()) {
                    self.begin(index, block, events);
                }
                self.reason = Some(value["stop_reason"].as_str().unwrap_or("end_turn").to_owned());
                true
            }
            // `ping`, and what may come to be.
            _ => false,
        }
    }

    fn is_finished(&self) -> bool {
        self.reason.is_some()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn finish(&mut self, sent: usize, events: &mut Vec<StreamEvent>) -> Option<Finished> {
        let reason = self.reason.take().unwrap_or_else(|| "end_turn".into());
        let (mut parts, mut calls) = (Vec::new(), Vec::new());
        for (_, block) in self.blocks.drain(..) {
            match block {
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => parts.push(Part::text(text)),
                Block::Thinking { text, signature } if signature.is_empty() => {
                    parts.push(Part::Thinking { text, signature: None });
                }
                Block::Thinking { text, signature } => {
                    let block = json!({"type": "thinking", "signature": signature});
                    parts.push(kept::thinking(text, &self.provider, block));
                }
                Block::Redacted(block) => parts.push(kept::thinking(String::new(), &self.provider, block)),
                Block::Call { ix, id, name, mut arguments, whole } => {
                    if let (true, Some(whole)) = (arguments.is_empty(), whole) {
                        arguments = whole.to_string();
                        events.push(StreamEvent::CallArguments { ix, fragment: arguments.clone() });
                    }
                    calls.push((id, name, arguments));
                }
                Block::Other => {}
            }
        }
        if reason == "refusal" && parts.is_empty() && calls.is_empty() {
            parts.push(Part::text("(The model refused to answer this.)"));
        }
        let Counted { fresh, written, cached, output } = self.counted;
        let usage = match (fresh, output) {
            (None, None) => Usage::estimate(sent, self.bytes),
            (fresh, output) => Usage {
                turns: 1,
                input_tokens: fresh.unwrap_or(0) + written + cached,
                cached_tokens: cached,
                output_tokens: output.unwrap_or(0),
                ..Usage::default()
            },
        };
        let cut = matches!(reason.as_str(), "max_tokens" | "model_context_window_exceeded");
        let whole = calls.iter().all(|(_, name, _)| !name.is_empty());
        whole.then_some(Finished { calls, usage, reason, cut, parts: Some(parts) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::wire::Answer as _;
    use super::*;

    fn read(events: &[Value]) -> (Vec<StreamEvent>, Finished) {
        let mut answer = Answer::new("claude");
        let mut out = Vec::new();
        for event in events {
            answer.take(event, &mut out);
        }
        assert!(answer.is_finished());
        let finished = answer.finish(0, &mut out).expect("every call has a name");
        (out, finished)
    }

    fn delta(index: u64, delta: Value) -> Value {
        json!({"type": "content_block_delta", "index": index, "delta": delta})
    }

    fn start(index: u64, block: Value) -> Value {
        json!({"type": "content_block_start", "index": index, "content_block": block})
    }

    #[test]
    fn thinking_words_and_parallel_calls_come_out_in_order_with_what_must_be_shown_again() {
        let (events, finished) = read(&[
            json!({"type": "message_start", "message": {"usage": {
                "input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}}}),
            json!({"type": "ping"}),
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "h"})),
            delta(0, json!({"type": "thinking_delta", "thinking": "m"})),
            delta(0, json!({"type": "signature_delta", "signature": "EqQ="})),
            start(1, json!({"type": "redacted_thinking", "data": "xx"})),
            start(2, json!({"type": "text", "text": ""})),
            delta(2, json!({"type": "text_delta", "text": "Let me."})),
            start(3, json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}})),
            start(4, json!({"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}})),
            delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
            delta(3, json!({"type": "input_json_delta", "partial_json": "{\"path\":"})),
            delta(3, json!({"type": "input_json_delta", "partial_json": "\"a\"}"})),
            json!({"type": "content_block_stop", "index": 3}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
            json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 42}}),
            json!({"type": "message_stop"}),
        ]);
        assert_eq!(
            events[..3],
            [StreamEvent::Thinking("h".into()), StreamEvent::Thinking("m".into()), StreamEvent::Text("Let me.".into())]
        );
        assert_eq!(
            finished.parts,
            Some(vec![
                kept::thinking("hm".into(), "claude", json!({"type": "thinking", "signature": "EqQ="})),
                kept::thinking(String::new(), "claude", json!({"type": "redacted_thinking", "data": "xx"})),
                Part::text("Let me."),
            ])
        );
        let call = |id: &str, name: &str, arguments: &str| (id.to_owned(), name.to_owned(), arguments.to_owned());
        assert_eq!(finished.calls, [call("toolu_1", "read", "{\"path\":\"a\"}"), call("toolu_2", "list", "")]);
        let counted = Usage { turns: 1, input_tokens: 115, cached_tokens: 100, output_tokens: 42, ..Usage::default() };
        assert_eq!((finished.usage, finished.reason.as_str(), finished.cut), (counted, "tool_use", false));
    }

    #[test]
    fn a_whole_message_is_taken_too_and_a_limit_is_a_cut() {
        let (events, finished) = read(&[json!({
            "type": "message", "stop_reason": "max_tokens", "usage": {"input_tokens": 3, "output_tokens": 2},
            "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "t", "name": "read", "input": {"path": "a"}}],
        })]);
        assert_eq!(events.first(), Some(&StreamEvent::Text("hi".into())));
        assert_eq!(finished.calls[0].2, "{\"path\":\"a\"}");
        assert!(finished.cut);
    }

    #[test]
    fn pings_are_no_content() {
        let mut answer = Answer::new("claude");
        assert!(!answer.take(&json!({"type": "ping"}), &mut Vec::new()));
        assert!(answer.take(&start(0, json!({"type": "text", "text": ""})), &mut Vec::new()));
    }
}
