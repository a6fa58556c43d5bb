//! The other wire formats of the scripted model: replies in the events of Anthropic Messages and of
//! OpenAI Responses, made of the same few things a model says.

use super::reply::Reply;
use serde_json::{Value, json};

/// What a model says in one answer.
#[derive(Debug, Clone, Default)]
pub struct Said {
    /// Its thoughts; they come with what must be shown again.
    pub thinking: &'static str,
    /// Its words.
    pub text: &'static str,
    /// Its calls: tool and arguments.
    pub calls: Vec<(&'static str, Value)>,
}

/// A wire format of the scripted model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// OpenAI chat completions.
    Chat,
    /// Anthropic Messages.
    Messages,
    /// OpenAI Responses.
    Responses,
}

/// What the scripted Anthropic signs its thoughts with.
pub const SIGNATURE: &str = "EqQBCgIYAhIM";
/// What the scripted OpenAI puts its thoughts into.
pub const CIPHER: &str = "gAAAAABcipher";

impl Wire {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Messages, Self::Responses];

    /// The word of the configuration.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Messages => "anthropic",
            Self::Responses => "responses",
        }
    }

    /// A whole answer; it counts 100 tokens sent, 60 of them cached, and 7 received, in running
    /// totals where the format has them.
    pub fn answer(self, said: &Said) -> Reply {
        match self {
            Self::Chat => chat(said),
            Self::Messages => {
                let stop = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
                self.begin(said)
                    .event(&json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}}))
                    .event(&json!({"type": "message_stop"}))
            }
            Self::Responses => {
                let usage =
                    json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7});
                let response =
                    json!({"object": "response", "status": "completed", "output": items(said), "usage": usage});
                self.begin(said).event(&json!({"type": "response.completed", "response": response}))
            }
        }
    }

    /// Words alone.
    pub fn say(self, text: &'static str) -> Reply {
        self.answer(&Said { text, ..Said::default() })
    }

    /// One call.
    pub fn call(self, tool: &'static str, arguments: Value) -> Reply {
        self.answer(&Said { calls: vec![(tool, arguments)], ..Said::default() })
    }

    /// An answer up to before its end.
    pub fn begin(self, said: &Said) -> Reply {
        let stream = Reply::status(200).header("content-type", "text/event-stream");
        match self {
            Self::Chat => begin_chat(said),
            Self::Messages => messages(stream, said),
            Self::Responses => responses(stream, said),
        }
    }

    /// The server breaks off within a stream.
    pub fn overloaded(self, reply: Reply) -> Reply {
        match self {
            Self::Chat => reply.error_event("overloaded_error", "Overloaded"),
            Self::Messages => {
                let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
                reply.raw(format!("event: error\ndata: {error}\n\n").as_bytes())
            }
            Self::Responses => {
                reply.event(&json!({"type": "response.failed", "response": {
                "object": "response", "status": "failed", "error": {"code": "server_error", "message": "Overloaded"}}}))
            }
        }
    }
}

fn begin_chat(said: &Said) -> Reply {
    let mut reply = Reply::stream();
    if !said.thinking.is_empty() {
        reply = reply.thinking(said.thinking);
    }
    for piece in halves(said.text) {
        reply = reply.text(piece);
    }
    for (tool, arguments) in &said.calls {
        reply = reply.tool(tool, arguments.clone());
    }
    reply
}

fn chat(said: &Said) -> Reply {
    begin_chat(said).finish_counting(100, 60, 7)
}

/// A text in two pieces, as servers stream it.
fn halves(text: &str) -> impl Iterator<Item = &str> {
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (first, rest) = text.split_at(middle);
    [first, rest].into_iter().filter(|piece| !piece.is_empty())
}

fn messages(reply: Reply, said: &Said) -> Reply {
    let usage = json!({"input_tokens": 30, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 60, "output_tokens": 1});
    let message = json!({"type": "message", "role": "assistant", "content": [], "usage": usage});
    let mut reply = reply.event(&json!({"type": "message_start", "message": message})).event(&json!({"type": "ping"}));
    let mut index = 0;
    let mut block = |reply: Reply, start: Value, deltas: Vec<Value>| {
        let mut reply = reply.event(&json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            reply = reply.event(&json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        index += 1;
        reply.event(&json!({"type": "content_block_stop", "index": index - 1}))
    };
    if !said.thinking.is_empty() {
        let mut deltas: Vec<Value> =
            halves(said.thinking).map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
        deltas.push(json!({"type": "signature_delta", "signature": SIGNATURE}));
        reply = block(reply, json!({"type": "thinking", "thinking": "", "signature": ""}), deltas);
    }
    if !said.text.is_empty() {
        let deltas = halves(said.text).map(|piece| json!({"type": "text_delta", "text": piece})).collect();
        reply = block(reply, json!({"type": "text", "text": ""}), deltas);
    }
    for (number, (tool, arguments)) in said.calls.iter().enumerate() {
        let text = arguments.to_string();
        let deltas = halves(&text).map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).collect();
        let start = json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": tool, "input": {}});
        reply = block(reply, start, deltas);
    }
    reply
}

/// The items of an answer in the words of Responses.
fn items(said: &Said) -> Vec<Value> {
    let mut items = Vec::new();
    if !said.thinking.is_empty() {
        let summary = json!([{"type": "summary_text", "text": said.thinking}]);
        items.push(json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": CIPHER}));
    }
    if !said.text.is_empty() {
        let content = json!([{"type": "output_text", "text": said.text}]);
        items.push(json!({"type": "message", "id": "msg_1", "role": "assistant", "content": content}));
    }
    for (number, (tool, arguments)) in said.calls.iter().enumerate() {
        items.push(json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": format!("call_{number}"),
            "name": tool, "arguments": arguments.to_string()}));
    }
    items
}

fn responses(reply: Reply, said: &Said) -> Reply {
    let response = json!({"object": "response", "status": "in_progress", "output": [], "error": null});
    let mut reply = reply.event(&json!({"type": "response.created", "response": response}));
    for (index, item) in items(said).into_iter().enumerate() {
        let mut begun = item.clone();
        let (kind, text) = match item["type"].as_str() {
            Some("reasoning") => {
                begun["summary"] = json!([]);
                ("response.reasoning_summary_text.delta", said.thinking.to_owned())
            }
            Some("message") => {
                begun["content"] = json!([]);
                ("response.output_text.delta", said.text.to_owned())
            }
            _ => {
                let text = item["arguments"].as_str().unwrap_or_default().to_owned();
                begun["arguments"] = json!("");
                ("response.function_call_arguments.delta", text)
            }
        };
        reply = reply.event(&json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
        for piece in halves(&text) {
            reply = reply.event(&json!({"type": kind, "output_index": index, "delta": piece}));
        }
        reply = reply.event(&json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    reply
}
