//! Writes our context in the wire format of chat completions.
//!
//! What is stored may be a history that servers refuse: a call whose result was never saved, ids
//! that a server gave twice, arguments that are no JSON, an answer cut before its first word. The
//! request is made valid here; the rows stay as they are. Thinking is not sent back.

use super::super::Request;
use crate::agent::port::Blobs;
use crate::domain::{Part, Role, Row, ToolCallId};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The largest picture that is sent.
const LARGEST_IMAGE: usize = 20 * 1024 * 1024;

/// The name of the field that limits the answer; newer servers of one vendor refuse the older name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitField {
    /// What compatible servers know.
    MaxTokens,
    /// What `api.openai.com` asks for.
    MaxCompletionTokens,
}

impl LimitField {
    fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Writes the body of a request.
pub(super) fn body(request: &Request, blobs: &dyn Blobs, limit: LimitField) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("messages".into(), Value::Array(messages(&request.system, &request.rows, blobs)));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
            json!({"type": "function", "function": function})
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(most) = request.max_output_tokens {
        body.insert(limit.as_str().into(), json!(most));
    }
    Value::Object(body)
}

/// Writes the context as messages.
fn messages(system: &str, rows: &[Row], blobs: &dyn Blobs) -> Vec<Value> {
    let mut writer = Writer { messages: Vec::new(), blobs };
    if !system.is_empty() {
        writer.messages.push(json!({"role": "system", "content": system}));
    }
    let results = results(rows);
    let ids = wire_ids(rows);
    for row in rows {
        match row.role {
            Role::User => writer.user(&row.parts),
            // A server may take but one system message, the first.
            Role::System => writer.user(&[Part::text(format!("<note from=\"runtime\">\n{}\n</note>", row.text()))]),
            Role::Assistant => writer.assistant(row, &ids, &results),
            // Written with the call it belongs to.
            Role::Tool => {}
        }
    }
    writer.messages
}

/// The result of each call; where there should be two, the first.
fn results(rows: &[Row]) -> BTreeMap<&ToolCallId, &Row> {
    let mut results = BTreeMap::new();
    for row in rows.iter().filter(|row| row.role == Role::Tool) {
        if let Some(call) = &row.tool_call {
            results.entry(call).or_insert(row);
        }
    }
    results
}

/// The id of each call on the wire: the server's own, since some accept no other form, unless it
/// gave none or gave it before.
fn wire_ids(rows: &[Row]) -> BTreeMap<&ToolCallId, &str> {
    let mut taken = BTreeSet::new();
    let mut ids = BTreeMap::new();
    for part in rows.iter().flat_map(|row| &row.parts) {
        if let Part::Call { id, provider_id, .. } = part {
            let fresh = !provider_id.is_empty() && taken.insert(provider_id.as_str());
            ids.insert(id, if fresh { provider_id.as_str() } else { id.as_str() });
        }
    }
    ids
}

struct Writer<'a> {
    messages: Vec<Value>,
    blobs: &'a dyn Blobs,
}

impl Writer<'_> {
    /// Adds a user message; one that follows another joins it, since many chat templates want the
    /// roles to alternate.
    fn user(&mut self, parts: &[Part]) {
        let content: Vec<Value> = parts.iter().filter_map(|part| self.content(part)).collect();
        if content.is_empty() {
            return;
        }
        let before = self.messages.last_mut().filter(|message| message["role"] == "user");
        let mut all = Vec::new();
        if let Some(before) = &before {
            match &before["content"] {
                Value::Array(parts) => all.extend(parts.iter().cloned()),
                text => all.push(json!({"type": "text", "text": text})),
            }
        }
        all.extend(content);
        let texts: Option<Vec<&str>> =
            all.iter().map(|part| part["text"].as_str().filter(|_| part["type"] == "text")).collect();
        // Plain text as one string: servers without pictures often know no other form.
        let content = match texts {
            Some(texts) => Value::String(texts.join("\n\n")),
            None => Value::Array(all),
        };
        match before {
            Some(before) => before["content"] = content,
            None => self.messages.push(json!({"role": "user", "content": content})),
        }
    }

    /// Adds an assistant message and, after it, the result of each of its calls.
    fn assistant(&mut self, row: &Row, ids: &BTreeMap<&ToolCallId, &str>, results: &BTreeMap<&ToolCallId, &Row>) {
        let text = row.text();
        let mut calls = Vec::new();
        let mut answers = Vec::new();
        let mut pictures = Vec::new();
        for part in &row.parts {
            let Part::Call { id, name, arguments, .. } = part else { continue };
            let wire_id = ids.get(id).copied().unwrap_or(id.as_str());
            let function = json!({"name": name, "arguments": valid_arguments(arguments)});
            calls.push(json!({"id": wire_id, "type": "function", "function": function}));
            let content = match results.get(id) {
                Some(result) => {
                    let is_image = |part: &&Part| matches!(part, Part::Image { .. });
                    let images: Vec<Part> = result.parts.iter().filter(is_image).cloned().collect();
                    let content = match (result.text(), images.is_empty()) {
                        (text, _) if !text.is_empty() => text,
                        (_, true) => "(no output)".to_owned(),
                        (_, false) => "(the picture follows)".to_owned(),
                    };
                    if !images.is_empty() {
                        pictures.push(Part::text(format!("The picture that `{name}` ({wire_id}) gave:")));
                        pictures.extend(images);
                    }
                    content
                }
                None => {
                    "No result was saved for this call. It may or may not have happened: look before you repeat it."
                        .into()
                }
            };
            answers.push(json!({"role": "tool", "tool_call_id": wire_id, "content": content}));
        }
        match (text.is_empty(), calls.is_empty()) {
            (true, true) => return,
            (false, true) => self.messages.push(json!({"role": "assistant", "content": text})),
            (true, false) => self.messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls})),
            (false, false) => self.messages.push(json!({"role": "assistant", "content": text, "tool_calls": calls})),
        }
        self.messages.append(&mut answers);
        // A tool message holds text alone, and nothing may come between the results of a batch.
        if !pictures.is_empty() {
            self.user(&pictures);
        }
    }

    /// One part of a user message.
    fn content(&self, part: &Part) -> Option<Value> {
        match part {
            Part::Text { text } if text.is_empty() => None,
            Part::Text { text } => Some(json!({"type": "text", "text": text})),
            Part::Image { media_type, blob, name } => Some(self.image(media_type, blob, name)),
            Part::Thinking { .. } | Part::Call { .. } => None,
        }
    }

    fn image(&self, media_type: &str, blob: &str, name: &str) -> Value {
        let missing = |why: &str| json!({"type": "text", "text": format!("[picture {name}: {why}]")});
        match self.blobs.get(blob, 0, LARGEST_IMAGE) {
            Ok((size, _)) if size > LARGEST_IMAGE as u64 => missing("too large to be sent"),
            Ok((_, bytes)) => {
                let url = format!("data:{media_type};base64,{}", STANDARD.encode(bytes));
                json!({"type": "image_url", "image_url": {"url": url}})
            }
            Err(_) => missing("no longer kept"),
        }
    }
}

/// Makes arguments a JSON object: servers parse what they are sent back, and the model should see
/// what it wrote.
fn valid_arguments(arguments: &str) -> String {
    if arguments.trim().is_empty() {
        return "{}".to_owned();
    }
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(_) => arguments.to_owned(),
        Err(_) => json!({"invalid_arguments": arguments}).to_string(),
    }
}

#[cfg(test)]
mod tests;
