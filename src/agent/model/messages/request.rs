//! Writes our context in the words of Anthropic Messages.
//!
//! Marks for the prompt cache stand where the next request will begin alike: behind the standing
//! instructions (the tools come before them), and behind the newest messages of the user's side.

use super::super::history::{Called, Piece, Turn, turns};
use super::super::{Request, kept};
use crate::agent::port::Blobs;
use crate::domain::settings::Quirks;
use serde_json::{Map, Value, json};

/// The largest answer where the user set none: the format demands a number, and no model that is
/// still served takes less.
const LARGEST_ANSWER: u64 = 8_192;

/// How many of the newest messages of the user's side are marked; a request has four marks at most.
const MARKED: usize = 2;

/// Writes the body of a request to the provider of that name.
pub(in super::super) fn body(
    request: &Request,
    blobs: &dyn Blobs,
    provider: &str,
    quirks: &Quirks,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    body.insert("max_tokens".into(), json!(request.info.max_output_tokens.unwrap_or(LARGEST_ANSWER)));
    if !request.system.is_empty() {
        let mut system = json!({"type": "text", "text": request.system});
        mark(&mut system);
        body.insert("system".into(), json!([system]));
    }
    if !request.tools.is_empty() {
        let tools = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": *tool.schema}));
        body.insert("tools".into(), tools.collect());
    }
    // A server that refused what it signed before is shown no thinking again.
    let provider = Some(provider).filter(|_| quirks.kept_thinking != Some(false));
    let mut messages = messages(request, blobs, provider);
    let users = messages.iter_mut().rev().filter(|message| message["role"] == "user");
    for message in users.take(MARKED) {
        if let Some(last) = message["content"].as_array_mut().and_then(|content| content.last_mut()) {
            mark(last);
        }
    }
    body.insert("messages".into(), Value::Array(messages));
    body.insert("stream".into(), json!(true));
    body
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({"type": "ephemeral"});
}

fn messages(request: &Request, blobs: &dyn Blobs, provider: Option<&str>) -> Vec<Value> {
    let mut messages = Vec::new();
    // Results of the calls of the last answer: they begin the next message of the user's side.
    let mut results: Vec<Value> = Vec::new();
    for turn in turns(&request.rows, accepts) {
        match turn {
            Turn::User(pieces) => {
                results.extend(pieces.iter().map(|piece| block(piece, blobs)));
                messages.push(json!({"role": "user", "content": std::mem::take(&mut results)}));
            }
            Turn::Assistant { thoughts, text, calls } => {
                if !results.is_empty() {
                    messages.push(json!({"role": "user", "content": std::mem::take(&mut results)}));
                }
                let mut content: Vec<Value> =
                    thoughts.iter().filter_map(|thought| thinking(thought, provider)).collect();
                if !text.trim().is_empty() {
                    content.push(json!({"type": "text", "text": text}));
                }
                for call in &calls {
                    content.push(tool_use(call));
                    results.push(tool_result(call, blobs));
                }
                messages.push(json!({"role": "assistant", "content": content}));
            }
        }
    }
    if !results.is_empty() {
        messages.push(json!({"role": "user", "content": results}));
    }
    messages
}

/// The form of an id that is taken.
fn accepts(id: &str) -> bool {
    id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Thinking goes back as it came, with its signature, to whoever signed it; unsigned it would be
/// refused.
fn thinking((text, signature): &(&str, Option<&str>), provider: Option<&str>) -> Option<Value> {
    let mut block = kept::block(*signature, provider?)?;
    if block["type"] == "thinking" {
        block["thinking"] = json!(text);
    }
    Some(block)
}

fn tool_use(call: &Called) -> Value {
    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

fn tool_result(call: &Called, blobs: &dyn Blobs) -> Value {
    let content: Vec<Value> = call.result.iter().map(|piece| block(piece, blobs)).collect();
    let mut result = json!({"type": "tool_result", "tool_use_id": call.id, "content": content});
    if call.failed {
        result["is_error"] = json!(true);
    }
    result
}

fn block(piece: &Piece, blobs: &dyn Blobs) -> Value {
    match piece.load(blobs) {
        Ok(text) => json!({"type": "text", "text": text}),
        Err((media_type, data)) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Memory;
    use crate::agent::tools::{self, ToolSpec};
    use crate::domain::settings::ModelInfo;
    use crate::domain::{Part, Role, Row, ToolCallState};

    fn row(role: Role, parts: Vec<Part>) -> Row {
        Row { seq: 0, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 0, at: 0 }
    }

    fn call(id: &str, provider_id: &str) -> Part {
        let arguments = "{\"path\":\"a\"}".to_owned();
        Part::Call { id: id.into(), provider_id: provider_id.into(), name: "read".into(), arguments }
    }

    fn result(id: &str, outcome: ToolCallState, parts: Vec<Part>) -> Row {
        Row { tool_call: Some(id.into()), outcome: Some(outcome), ..row(Role::Tool, parts) }
    }

    fn request(rows: Vec<Row>, tools: Vec<ToolSpec>) -> Request {
        Request { model: "m".into(), system: "s".into(), rows, tools, info: ModelInfo::default() }
    }

    #[test]
    fn a_conversation_is_written_with_signed_thinking_first_and_results_before_words() {
        let blobs = Memory::default();
        let blob = blobs.put(b"png").expect("kept");
        let image = Part::Image { media_type: "image/png".into(), blob, name: "a.png".into() };
        let signed = kept::thinking("hm".into(), "claude", json!({"type": "thinking", "signature": "EqQ="}));
        let hidden = kept::thinking(String::new(), "claude", json!({"type": "redacted_thinking", "data": "xx"}));
        let others = kept::thinking("no".into(), "openai", json!({"type": "reasoning"}));
        let unsigned = Part::Thinking { text: "cut".into(), signature: None };
        let rows = vec![
            row(Role::User, vec![Part::text("read it")]),
            row(
                Role::Assistant,
                vec![
                    signed,
                    hidden,
                    others,
                    unsigned,
                    Part::text("Reading."),
                    call("c_1", "toolu_1"),
                    call("c_2", "a:b"),
                ],
            ),
            result("c_1", ToolCallState::Done, vec![Part::text("content"), image]),
            result("c_2", ToolCallState::Error, vec![]),
            row(Role::User, vec![Part::text("and?")]),
        ];
        let body = body(&request(rows, vec![]), &blobs, "claude", &Quirks::default());
        let marked = json!({"type": "ephemeral"});
        assert_eq!(body["system"], json!([{"type": "text", "text": "s", "cache_control": marked}]));
        assert_eq!((&body["max_tokens"], &body["stream"]), (&json!(LARGEST_ANSWER), &json!(true)));
        let expected = json!([
            {"role": "user", "content": [{"type": "text", "text": "read it", "cache_control": marked}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "signature": "EqQ=", "thinking": "hm"},
                {"type": "redacted_thinking", "data": "xx"},
                {"type": "text", "text": "Reading."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}},
                {"type": "tool_use", "id": "c_2", "name": "read", "input": {"path": "a"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [
                    {"type": "text", "text": "content"},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
                ]},
                {"type": "tool_result", "tool_use_id": "c_2", "content": [{"type": "text", "text": "(no output)"}], "is_error": true},
                {"type": "text", "text": "and?", "cache_control": marked},
            ]},
        ]);
        assert_eq!(body["messages"], expected);
    }

    #[test]
    fn at_most_four_marks_are_set_however_long_the_conversation() {
        let mut rows = Vec::new();
        for _ in 0..9 {
            rows.push(row(Role::User, vec![Part::text("more")]));
            rows.push(row(Role::Assistant, vec![Part::text("well")]));
        }
        rows.push(row(Role::User, vec![Part::text("go on")]));
        let tools: Vec<ToolSpec> = tools::all().iter().map(|tool| tool.spec().clone()).collect();
        let body =
            Value::Object(body(&request(rows, tools), &Memory::default(), "claude", &Quirks::default())).to_string();
        assert_eq!(body.matches("cache_control").count(), 1 + MARKED);
    }
}
