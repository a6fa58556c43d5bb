//! Writes our context in the words of OpenAI Responses.

use super::super::history::{Piece, Turn, turns};
use super::super::{Request, kept};
use crate::agent::port::Blobs;
use crate::domain::settings::Quirks;
use serde_json::{Map, Value, json};

/// Writes the body of a request to the provider of that name.
pub(in super::super) fn body(
    request: &Request,
    blobs: &dyn Blobs,
    provider: &str,
    quirks: &Quirks,
) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model));
    if !request.system.is_empty() {
        body.insert("instructions".into(), json!(request.system));
    }
    // A server that refused what it made before is shown no thinking again.
    let provider = Some(provider).filter(|_| quirks.kept_thinking != Some(false));
    body.insert("input".into(), Value::Array(input(request, blobs, provider)));
    body.insert("stream".into(), json!(true));
    // Nothing is kept there, so what it thought has to come back with every request.
    body.insert("store".into(), json!(false));
    if provider.is_some() {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function", "name": tool.name, "description": tool.description,
                "parameters": *tool.schema, "strict": false,
            })
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(most) = request.info.max_output_tokens {
        body.insert("max_output_tokens".into(), json!(most));
    }
    body
}

fn input(request: &Request, blobs: &dyn Blobs, provider: Option<&str>) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in turns(&request.rows, accepts) {
        match turn {
            Turn::User(pieces) => {
                let content: Vec<Value> = pieces.iter().map(|piece| part(piece, blobs)).collect();
                items.push(json!({"type": "message", "role": "user", "content": content}));
            }
            Turn::Assistant { thoughts, text, calls } => {
                items.extend(thoughts.iter().filter_map(|(_, signature)| kept::block(*signature, provider?)));
                if !text.trim().is_empty() {
                    let content = json!([{"type": "output_text", "text": text}]);
                    items.push(json!({"type": "message", "role": "assistant", "content": content}));
                }
                items.extend(calls.iter().map(|call| {
                    json!({
                        "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments,
                    })
                }));
                items.extend(calls.iter().map(|call| {
                    let output = match call.pictures().is_empty() {
                        true => json!(call.text()),
                        false => call.result.iter().map(|piece| part(piece, blobs)).collect(),
                    };
                    json!({"type": "function_call_output", "call_id": call.id, "output": output})
                }));
            }
        }
    }
    items
}

/// The form of an id that is taken.
fn accepts(id: &str) -> bool {
    id.len() <= 64
}

fn part(piece: &Piece, blobs: &dyn Blobs) -> Value {
    match piece.load(blobs) {
        Ok(text) => json!({"type": "input_text", "text": text}),
        Err((media_type, data)) => {
            json!({"type": "input_image", "image_url": format!("data:{media_type};base64,{data}")})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools;
    use crate::agent::tools::testing::Memory;
    use crate::domain::settings::ModelInfo;
    use crate::domain::{Part, Role, Row};

    fn row(role: Role, parts: Vec<Part>) -> Row {
        Row { seq: 0, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 0, at: 0 }
    }

    #[test]
    fn a_conversation_is_written_as_items_and_reasoning_goes_back_to_whoever_it_is_of() {
        let blobs = Memory::default();
        let blob = blobs.put(b"png").expect("kept");
        let image = Part::Image { media_type: "image/png".into(), blob, name: "a.png".into() };
        let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
        let call = Part::Call {
            id: "c_1".into(),
            provider_id: "call_a".into(),
            name: "read".into(),
            arguments: "{\"path\": \"a\"}".into(),
        };
        let rows = vec![
            row(Role::User, vec![Part::text("read it"), image.clone()]),
            row(
                Role::Assistant,
                vec![
                    kept::thinking("hm".into(), "openai", item.clone()),
                    kept::thinking("no".into(), "claude", json!({"type": "thinking"})),
                    Part::text("Reading."),
                    call,
                ],
            ),
            Row { tool_call: Some("c_1".into()), ..row(Role::Tool, vec![image]) },
        ];
        let request =
            Request { model: "m".into(), system: "s".into(), rows, tools: vec![], info: ModelInfo::default() };
        let body = body(&request, &blobs, "openai", &Quirks::default());
        let picture = json!({"type": "input_image", "image_url": "data:image/png;base64,cG5n"});
        let expected = json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "read it"}, picture]},
            item,
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Reading."}]},
            {"type": "function_call", "call_id": "call_a", "name": "read", "arguments": "{\"path\": \"a\"}"},
            {"type": "function_call_output", "call_id": "call_a", "output": [picture]},
        ]);
        assert_eq!(body["input"], expected);
        assert_eq!((&body["store"], &body["instructions"]), (&json!(false), &json!("s")));
        assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    }

    #[test]
    fn tools_and_limits_are_told_and_a_server_without_cipher_is_not_asked_for_it() {
        let tools = tools::all().iter().map(|tool| tool.spec().clone()).collect();
        let info = ModelInfo { max_output_tokens: Some(9), ..ModelInfo::default() };
        let request = Request { model: "m".into(), system: String::new(), rows: vec![], tools, info };
        let quirks = Quirks { kept_thinking: Some(false), ..Quirks::default() };
        let body = body(&request, &Memory::default(), "openai", &quirks);
        assert!(body.get("include").is_none() && body.get("instructions").is_none());
        assert_eq!(body["max_output_tokens"], 9);
        assert_eq!((&body["tools"][0]["name"], &body["tools"][0]["strict"]), (&json!("shell"), &json!(false)));
    }
}
