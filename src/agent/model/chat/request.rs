//! Writes our context in the words of chat completions.

use super::super::history::{Called, Piece, Turn, turns};
use super::super::{Request, steps};
use super::again::Again;
use crate::agent::port::Blobs;
use crate::domain::Row;
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
    let stepwise = request.info.steps && !request.tools.is_empty();
    let writer = Writer {
        blobs,
        thinking: quirks.thinking_field.as_deref(),
        again: Some(provider).filter(|_| quirks.kept_thinking != Some(false)),
        signed: quirks.signed_calls == Some(true),
        stepwise,
    };
    let system = match stepwise {
        true => format!("{}\n\n{}", request.system, steps::instructions(&request.tools)),
        false => request.system.clone(),
    };
    body.insert("messages".into(), Value::Array(writer.messages(&system, &request.rows)));
    body.insert("stream".into(), json!(true));
    if quirks.stream_usage != Some(false) {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if stepwise {
        let schema = json!({"name": "step", "strict": true, "schema": steps::schema(&request.tools)});
        body.insert("response_format".into(), json!({"type": "json_schema", "json_schema": schema}));
    } else if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "function": {
                "name": tool.name, "description": tool.description, "parameters": *tool.schema,
            }})
        });
        body.insert("tools".into(), tools.collect());
    }
    if let Some(most) = request.info.max_output_tokens {
        body.insert(quirks.limit_field.clone().unwrap_or_else(|| "max_tokens".into()), json!(most));
    }
    body
}

/// An object of values that are not copied again, as `json!` would.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

struct Writer<'a> {
    blobs: &'a dyn Blobs,
    /// The field in which thinking is shown again, where the server wants that.
    thinking: Option<&'a str>,
    /// The provider, which is shown again what it gave to be; none where it refused that.
    again: Option<&'a str>,
    /// The server takes no call without a signature.
    signed: bool,
    /// Calls and results stand in plain words.
    stepwise: bool,
}

impl Writer<'_> {
    fn messages(&self, system: &str, rows: &[Row]) -> Vec<Value> {
        let mut messages = Vec::new();
        if !system.is_empty() {
            messages.push(json!({"role": "system", "content": system}));
        }
        // What has to be said in the user's name after the results of a batch: a tool's message
        // holds text alone, and nothing may come between two of them.
        let mut more = Vec::new();
        for turn in turns(rows, |_| true) {
            match turn {
                Turn::User(pieces) => {
                    more.extend(pieces);
                    messages.push(self.user(&std::mem::take(&mut more)));
                }
                Turn::Assistant { thoughts, text, calls } => {
                    if !more.is_empty() {
                        messages.push(self.user(&std::mem::take(&mut more)));
                    }
                    messages.push(self.assistant(&thoughts, &text, &calls));
                    for call in &calls {
                        match self.stepwise {
                            true => more.push(Piece::Text(steps::result(call.name, &call.text()))),
                            false => messages.push(object([
                                ("role", "tool".into()),
                                ("tool_call_id", call.id.as_str().into()),
                                ("content", call.text().into()),
                            ])),
                        }
                        let pictures = call.pictures();
                        if !pictures.is_empty() {
                            more.push(Piece::Text(format!("The picture that `{}` ({}) gave:", call.name, call.id)));
                            more.extend(pictures);
                        }
                    }
                }
            }
        }
        if !more.is_empty() {
            messages.push(self.user(&more));
        }
        messages
    }

    /// Plain text goes as one string: servers without pictures often know no other form.
    fn user(&self, pieces: &[Piece]) -> Value {
        let loaded: Vec<_> = pieces.iter().map(|piece| piece.load(self.blobs)).collect();
        let content = match loaded.iter().all(Result::is_ok) {
            true => Value::String(loaded.into_iter().flatten().collect::<Vec<_>>().join("\n\n")),
            false => loaded
                .into_iter()
                .map(|piece| match piece {
                    Ok(text) => json!({"type": "text", "text": text}),
                    Err((media_type, bytes)) => {
                        json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{bytes}")}})
                    }
                })
                .collect(),
        };
        object([("role", "user".into()), ("content", content)])
    }

    fn assistant(&self, thoughts: &[(&str, Option<&str>)], text: &str, calls: &[Called]) -> Value {
        if self.stepwise {
            let step = calls.first().map(|call| steps::call(call.name, &call.arguments));
            return json!({"role": "assistant", "content": step.unwrap_or_else(|| steps::answer(text))});
        }
        let mut message = object([("role", "assistant".into()), ("content", text.into())]);
        if !calls.is_empty() {
            if text.is_empty() {
                message["content"] = Value::Null;
            }
            let calls = calls.iter().map(|call| {
                let function = object([("name", call.name.into()), ("arguments", call.arguments.as_str().into())]);
                object([("id", call.id.as_str().into()), ("type", "function".into()), ("function", function)])
            });
            message["tool_calls"] = calls.collect();
        }
        let thinking: Vec<&str> = thoughts.iter().map(|(text, _)| *text).filter(|text| !text.is_empty()).collect();
        if let (Some(field), false) = (self.thinking, thinking.is_empty()) {
            message[field] = json!(thinking.join("\n"));
        }
        let again = self.again.map(|provider| Again::of(thoughts, provider)).unwrap_or_default();
        again.put(&mut message, self.signed);
        message
    }
}

#[cfg(test)]
mod tests;
