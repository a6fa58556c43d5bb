//! What servers of this format give with their thinking and must be shown again: the
//! `extra_content` of a call or of a message (Gemini's signatures) and `reasoning_details`
//! (OpenRouter).
//!
//! What one answer gave is one block that is kept with its thinking; it goes back word for word to
//! where it stood.

use super::super::kept;
use crate::domain::Part;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What Gemini takes in place of a signature, for a call that another model made.
const UNSIGNED: &str = "skip_thought_signature_validator";

/// What one answer gave.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Again {
    /// Of the message itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Value>,
    /// Thinking as a list, in the order in which it began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasoning_details: Vec<Value>,
    /// Of its calls, by their place in the answer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    calls: BTreeMap<usize, Value>,
}

impl Again {
    /// Takes what stands in a message, or in a piece of one.
    pub(super) fn take_message(&mut self, message: &Value) {
        if let Some(extra) = extra(message).filter(|extra| !is_thought(extra) || is_signed(extra)) {
            self.extra_content = Some(extra.clone());
        }
        for detail in message["reasoning_details"].as_array().into_iter().flatten() {
            self.take_detail(detail);
        }
    }

    /// Takes what stands in a piece of a call; in a stream, it may come in one of its own.
    pub(super) fn take_call(&mut self, ix: usize, call: &Value) {
        if let Some(extra) = extra(call) {
            self.calls.insert(ix, extra.clone());
        }
    }

    /// In a stream, texts grow and everything else is said once.
    fn take_detail(&mut self, detail: &Value) {
        let same = |before: &&mut Value| {
            !detail["index"].is_null() && before["index"] == detail["index"] && before["type"] == detail["type"]
        };
        let Some(before) = self.reasoning_details.iter_mut().rev().find(same) else {
            self.reasoning_details.push(detail.clone());
            return;
        };
        for (name, more) in detail.as_object().into_iter().flatten() {
            match (&mut before[name.as_str()], more) {
                (Value::String(text), Value::String(more)) if matches!(name.as_str(), "text" | "summary" | "data") => {
                    text.push_str(more);
                }
                (_, Value::Null) => {}
                (slot, more) => *slot = more.clone(),
            }
        }
    }

    /// The part that keeps it, with the thinking it belongs to; none where there was neither.
    pub(super) fn into_part(self, thought: String, provider: &str) -> Option<Part> {
        let is_empty = self.extra_content.is_none() && self.reasoning_details.is_empty() && self.calls.is_empty();
        match serde_json::to_value(&self) {
            Ok(block) if !is_empty => Some(kept::thinking(thought, provider, block)),
            _ if thought.is_empty() => None,
            _ => Some(Part::Thinking { text: thought, signature: None }),
        }
    }

    /// What was kept with the thoughts of an answer of that provider.
    pub(super) fn of(thoughts: &[(&str, Option<&str>)], provider: &str) -> Self {
        let blocks = thoughts.iter().filter_map(|(_, signature)| kept::block(*signature, provider));
        blocks.filter_map(|block| serde_json::from_value(block).ok()).next_back().unwrap_or_default()
    }

    /// Puts it back into a message. Where calls have to be `signed`, one that is not says so.
    pub(super) fn put(self, message: &mut Value, signed: bool) {
        if let Some(extra) = self.extra_content {
            message["extra_content"] = extra;
        }
        if !self.reasoning_details.is_empty() {
            message["reasoning_details"] = Value::Array(self.reasoning_details);
        }
        let mut calls = self.calls;
        // Of several calls in one answer, the first is the one that has to be signed.
        if signed && calls.is_empty() {
            calls.insert(0, json!({"google": {"thought_signature": UNSIGNED}}));
        }
        let made = message.get_mut("tool_calls").and_then(Value::as_array_mut);
        for (ix, call) in made.into_iter().flatten().enumerate() {
            if let Some(extra) = calls.remove(&ix) {
                call["extra_content"] = extra;
            }
        }
    }
}

fn extra(value: &Value) -> Option<&Value> {
    value.get("extra_content").filter(|extra| extra.is_object())
}

/// Whether a server says that the words of a message are thoughts.
pub(super) fn is_thought(extra: &Value) -> bool {
    extra.as_object().is_some_and(|of| of.values().any(|server| server["thought"] == true))
}

fn is_signed(extra: &Value) -> bool {
    extra.as_object().is_some_and(|of| of.values().any(|server| server["thought_signature"].is_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(part: Part, provider: &str, signed: bool) -> Value {
        let Part::Thinking { text, signature } = part else { panic!("thinking") };
        let mut message = json!({"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]});
        Again::of(&[(&text, signature.as_deref())], provider).put(&mut message, signed);
        message
    }

    #[test]
    fn signatures_go_back_to_the_calls_they_were_given_with_and_to_no_other_server() {
        let signature = json!({"google": {"thought_signature": "CqQB"}});
        let mut again = Again::default();
        again.take_call(1, &json!({"extra_content": signature}));
        let part = again.into_part("hm".into(), "gemini").expect("kept");
        let message = back(part.clone(), "gemini", true);
        assert_eq!(message["tool_calls"], json!([{"id": "a"}, {"id": "b", "extra_content": signature}]));
        assert_eq!(back(part.clone(), "other", false)["tool_calls"], json!([{"id": "a"}, {"id": "b"}]));
        let foreign = back(part, "other", true);
        assert_eq!(foreign["tool_calls"][0]["extra_content"]["google"]["thought_signature"], UNSIGNED);
    }

    #[test]
    fn details_of_reasoning_that_stream_are_put_together() {
        let mut again = Again::default();
        let detail = |more: Value| json!({"reasoning_details": [more]});
        for more in [
            json!({"type": "reasoning.text", "text": "Let ", "index": 0, "format": "f", "signature": null}),
            json!({"type": "reasoning.text", "text": "me.", "index": 0}),
            json!({"type": "reasoning.text", "signature": "EqQ=", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "xx", "id": "r_1", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "yy", "id": "r_2"}),
        ] {
            again.take_message(&detail(more));
        }
        let message = back(again.into_part(String::new(), "router").expect("kept"), "router", false);
        assert_eq!(
            message["reasoning_details"],
            json!([
                {"type": "reasoning.text", "text": "Let me.", "index": 0, "format": "f", "signature": "EqQ="},
                {"type": "reasoning.encrypted", "data": "xx", "id": "r_1", "index": 0},
                {"type": "reasoning.encrypted", "data": "yy", "id": "r_2"},
            ])
        );
    }

    #[test]
    fn that_words_are_thoughts_is_not_kept_and_a_signature_of_a_message_is() {
        let mut again = Again::default();
        again.take_message(&json!({"extra_content": {"google": {"thought": true}}}));
        assert_eq!(again.into_part(String::new(), "gemini"), None);
        let mut again = Again::default();
        again.take_message(&json!({"extra_content": {"google": {"thought_signature": "sig"}}}));
        again.take_message(&json!({"extra_content": null}));
        let message = back(again.into_part(String::new(), "gemini").expect("kept"), "gemini", false);
        assert_eq!(message["extra_content"]["google"]["thought_signature"], "sig");
    }
}
