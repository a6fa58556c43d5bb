//! Puts an answer together from the events of OpenAI Responses, or from one whole response.
//!
//! Deltas are shown as they come; what is kept is each item as it stands when it is done.

use super::super::{Finished, StreamEvent, kept, wire};
use crate::domain::{Part, Usage};
use serde_json::{Value, json};

/// An answer as far as it came.
#[derive(Debug, Default)]
pub(in super::super) struct Answer {
    provider: String,
    items: Vec<Item>,
    calls: u32,
    usage: Option<Usage>,
    reason: Option<String>,
    cut: bool,
    bytes: usize,
}

/// An item of the output.
#[derive(Debug)]
struct Item {
    index: u64,
    what: What,
    /// What was shown of it so far.
    shown: String,
}

#[derive(Debug)]
enum What {
    Message,
    /// Thinking; the item itself, when it is done.
    Reasoning(Value),
    Call {
        ix: u32,
        id: String,
        name: String,
    },
    /// Of a kind that we did not ask for.
    Other,
}

impl Answer {
    /// Begins with nothing; reasoning is kept for the provider of that name.
    pub(in super::super) fn new(provider: &str) -> Self {
        Self { provider: provider.to_owned(), ..Self::default() }
    }

    /// The item of an index, begun with `item` if it is new.
    fn item(&mut self, index: u64, item: &Value, events: &mut Vec<StreamEvent>) -> &mut Item {
        let at = match self.items.iter().position(|known| known.index == index) {
            Some(at) => at,
            None => {
                let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
                let what = match item["type"].as_str().unwrap_or_default() {
                    "message" => What::Message,
                    "reasoning" => What::Reasoning(Value::Null),
                    "function_call" => {
                        let ix = self.calls;
                        self.calls += 1;
                        self.bytes += text("name").len();
                        events.push(StreamEvent::CallStarted { ix, name: text("name") });
                        What::Call { ix, id: text("call_id"), name: text("name") }
                    }
                    _ => What::Other,
                };
                self.items.push(Item { index, what, shown: String::new() });
                self.items.len() - 1
            }
        };
        &mut self.items[at]
    }

    /// Shows more of an item.
    fn grow(&mut self, index: u64, kind: &str, more: &str, events: &mut Vec<StreamEvent>) {
        let item = self.item(index, &json!({"type": kind}), events);
        if more.is_empty() {
            return;
        }
        item.shown.push_str(more);
        match &item.what {
            What::Message => events.push(StreamEvent::Text(more.to_owned())),
            What::Reasoning(_) => events.push(StreamEvent::Thinking(more.to_owned())),
            What::Call { ix, .. } => events.push(StreamEvent::CallArguments { ix: *ix, fragment: more.to_owned() }),
            What::Other => {}
        }
        self.bytes += more.len();
    }

    /// Takes an item that is done: what was not shown of it, and what must be shown again.
    fn done(&mut self, index: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        let kind = item["type"].as_str().unwrap_or_default();
        let texts = |list: &Value| -> Vec<String> {
            let parts = list.as_array().into_iter().flatten();
            parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str())).map(str::to_owned).collect()
        };
        let whole = match kind {
            "message" => texts(&item["content"]).concat(),
            "reasoning" => {
                let said = texts(&item["summary"]);
                if said.is_empty() { texts(&item["content"]).concat() } else { said.join("\n\n") }
            }
            "function_call" => item["arguments"].as_str().unwrap_or_default().to_owned(),
            _ => String::new(),
        };
        let known = self.item(index, item, events);
        if let What::Reasoning(kept) = &mut known.what {
            *kept = item.clone();
        }
        // Where nothing streamed, or only its beginning.
        let more = match known.shown.is_empty() {
            true => whole.as_str(),
            false => whole.strip_prefix(known.shown.as_str()).unwrap_or_default(),
        };
        let more = more.to_owned();
        self.grow(index, kind, &more, events);
    }

    /// Takes the end: what was counted, and why it ended.
    fn end(&mut self, response: &Value, events: &mut Vec<StreamEvent>) {
        for (index, item) in (0..).zip(response["output"].as_array().into_iter().flatten()) {
            self.done(index, item, events);
        }
        let usage = &response["usage"];
        if let Some(input) = usage["input_tokens"].as_u64() {
            self.usage = Some(Usage {
                turns: 1,
                input_tokens: input,
                cached_tokens: usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0),
                output_tokens: usage["output_tokens"].as_u64().unwrap_or(0),
                ..Usage::default()
            });
        }
        let why = response["incomplete_details"]["reason"].as_str();
        self.cut = why == Some("max_output_tokens");
        self.reason = Some(why.or(response["status"].as_str()).unwrap_or("completed").to_owned());
    }
}

impl wire::Answer for Answer {
    fn take(&mut self, value: &Value, events: &mut Vec<StreamEvent>) -> bool {
        let index = value["output_index"].as_u64().unwrap_or(0);
        let delta = value["delta"].as_str().unwrap_or_default();
        match value["type"].as_str().unwrap_or_default() {
            "response.output_item.added" => {
                self.item(index, &value["item"], events);
                true
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.grow(index, "message", delta, events);
                true
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.grow(index, "reasoning", delta, events);
                true
            }
            "response.function_call_arguments.delta" => {
                self.grow(index, "function_call", delta, events);
                true
            }
            "response.output_item.done" => {
                self.done(index, &value["item"], events);
                true
            }
            // A thought goes on in another paragraph.
            "response.reasoning_summary_part.added" if value["summary_index"].as_u64() > Some(0) => {
                self.grow(index, "reasoning", "\n\n", events);
                true
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                self.end(&value["response"], events);
                true
            }
            _ if value["object"] == "response" => {
                self.end(value, events);
                true
            }
            _ => false,
        }
    }

    fn is_finished(&self) -> bool {
        self.reason.is_some()
    }

    fn is_over(&self) -> bool {
        self.reason.is_some()
    }

    fn finish(&mut self, sent: usize, _: &mut Vec<StreamEvent>) -> Option<Finished> {
        let reason = self.reason.take().unwrap_or_else(|| "completed".into());
        let usage = self.usage.take().unwrap_or_else(|| Usage::estimate(sent, self.bytes));
        let (mut parts, mut calls) = (Vec::new(), Vec::new());
        let mut items = std::mem::take(&mut self.items);
        items.sort_by_key(|item| item.index);
        for Item { what, shown, .. } in items {
            match what {
                What::Message if shown.is_empty() => {}
                What::Message => parts.push(Part::text(shown)),
                What::Reasoning(mut item) => {
                    let kept = item["encrypted_content"].as_str().is_some_and(|cipher| !cipher.is_empty());
                    match kept {
                        true => {
                            if let Some(item) = item.as_object_mut() {
                                item.remove("status");
                            }
                            parts.push(kept::thinking(shown, &self.provider, item));
                        }
                        false if shown.is_empty() => {}
                        false => parts.push(Part::Thinking { text: shown, signature: None }),
                    }
                }
                What::Call { id, name, .. } => calls.push((id, name, shown)),
                What::Other => {}
            }
        }
        let whole = calls.iter().all(|(_, name, _)| !name.is_empty());
        whole.then_some(Finished { calls, usage, reason, cut: self.cut, parts: Some(parts) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::wire::Answer as _;
    use super::*;

    fn read(events: &[Value]) -> (Vec<StreamEvent>, Finished) {
        let mut answer = Answer::new("openai");
        let mut out = Vec::new();
        for event in events {
            answer.take(event, &mut out);
        }
        assert!(answer.is_over());
        let finished = answer.finish(0, &mut out).expect("every call has a name");
        (out, finished)
    }

    fn items() -> [Value; 4] {
        [
            json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}],
                   "encrypted_content": "gAAA", "status": "completed"}),
            json!({"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": "Let me."}]}),
            json!({"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "read", "arguments": "{\"path\":\"a\"}"}),
            json!({"type": "function_call", "id": "fc_2", "call_id": "call_b", "name": "list", "arguments": "{}"}),
        ]
    }

    fn expected() -> (Vec<Part>, Vec<(String, String, String)>) {
        let kept = json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}],
                          "encrypted_content": "gAAA"});
        let call = |id: &str, name: &str, arguments: &str| (id.to_owned(), name.to_owned(), arguments.to_owned());
        (
            vec![kept::thinking("hm".into(), "openai", kept), Part::text("Let me.")],
            vec![call("call_a", "read", "{\"path\":\"a\"}"), call("call_b", "list", "{}")],
        )
    }

    #[test]
    fn deltas_are_shown_once_and_items_are_kept_as_they_end() {
        let [reasoning, message, read_a, list] = items();
        let added = |index: u64, item: Value| json!({"type": "response.output_item.added", "output_index": index, "item": item});
        let done = |index: u64, item: &Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
        let delta = |kind: &str, index: u64, delta: &str| json!({"type": kind, "output_index": index, "delta": delta});
        let arguments = "response.function_call_arguments.delta";
        let (events, finished) = read(&[
            json!({"type": "response.created", "response": {"object": "response", "status": "in_progress", "error": null}}),
            added(0, json!({"type": "reasoning", "id": "rs_1", "summary": []})),
            delta("response.reasoning_summary_text.delta", 0, "h"),
            delta("response.reasoning_summary_text.delta", 0, "m"),
            done(0, &reasoning),
            added(1, json!({"type": "message", "content": []})),
            delta("response.output_text.delta", 1, "Let "),
            delta("response.output_text.delta", 1, "me."),
            done(1, &message),
            added(2, json!({"type": "function_call", "call_id": "call_a", "name": "read", "arguments": ""})),
            added(3, json!({"type": "function_call", "call_id": "call_b", "name": "list", "arguments": ""})),
            delta(arguments, 3, "{}"),
            delta(arguments, 2, "{\"path\":"),
            delta(arguments, 2, "\"a\"}"),
            done(2, &read_a),
            done(3, &list),
            json!({"type": "response.completed", "response": {"status": "completed", "output": items(), "usage": {
                "input_tokens": 10, "input_tokens_details": {"cached_tokens": 8}, "output_tokens": 4}}}),
        ]);
        let (parts, calls) = expected();
        assert_eq!((finished.parts, finished.calls), (Some(parts), calls));
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                StreamEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "Let me.", "once");
        let counted = Usage { turns: 1, input_tokens: 10, cached_tokens: 8, output_tokens: 4, ..Usage::default() };
        assert_eq!((finished.usage, finished.cut), (counted, false));
    }

    #[test]
    fn a_whole_response_and_one_that_only_tells_its_items_read_the_same() {
        let end = json!({"object": "response", "status": "completed", "output": items(), "error": null});
        for events in [vec![end.clone()], vec![json!({"type": "response.completed", "response": end})]] {
            let (_, finished) = read(&events);
            let (parts, calls) = expected();
            assert_eq!((finished.parts, finished.calls), (Some(parts), calls));
        }
    }

    #[test]
    fn the_limit_of_an_answer_is_a_cut() {
        let end = json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []});
        let (_, finished) = read(&[json!({"type": "response.incomplete", "response": end})]);
        assert!(finished.cut && finished.reason == "max_output_tokens");
    }
}
