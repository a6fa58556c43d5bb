//! What the scripted model answers: a status, headers and a body in pieces, down to the byte.
//!
//! A [`Reply`] is plain data, made by a test and played by [`super::model_server`]. Chat answers
//! are streams of chat-completion chunks; anything else can be said with [`Reply::raw`].

use super::latch::Latch;
use serde_json::{Value, json};

/// One answer of the scripted model.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Piece>,
    calls: usize,
}

/// One thing the server does while it answers; each run of bytes is a write, and an HTTP chunk, of its own.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// Sends these bytes.
    Bytes(Vec<u8>),
    /// Goes on when the test says so.
    Hold(Latch),
    /// Sends `: ping` comments for as long as the client listens.
    Pings,
    /// Breaks the connection off without ending the body.
    Cut,
    /// Sends nothing, not even the status, for as long as the client listens.
    Silence,
}

impl Reply {
    /// Begins a stream of chat-completion chunks.
    pub fn stream() -> Self {
        Self { headers: vec![("content-type".into(), "text/event-stream".into())], ..Self::status(200) }
            .delta(json!({"role": "assistant", "content": ""}))
    }

    /// Answers a text and stops.
    pub fn say(text: &str) -> Self {
        Self::stream().text(text).finish()
    }

    /// Asks for one tool call and stops.
    pub fn call(tool: &str, arguments: Value) -> Self {
        Self::stream().tool(tool, arguments).finish()
    }

    /// A whole answer with a status and no body yet.
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), pieces: Vec::new(), calls: 0 }
    }

    /// An error as providers send it with a status: a JSON object that names a type and says something.
    pub fn error_status(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({"error": {"type": kind, "code": kind, "message": message}});
        Self::status(status).header("content-type", "application/json").raw(body.to_string().as_bytes())
    }

    /// Accepts the request and says nothing at all.
    pub fn silence() -> Self {
        let mut reply = Self::status(200);
        reply.pieces.push(Piece::Silence);
        reply
    }

    /// Sends headers and then only `: ping`.
    pub fn pings() -> Self {
        let mut reply =
            Self { headers: vec![("content-type".into(), "text/event-stream".into())], ..Self::status(200) };
        reply.pieces.push(Piece::Pings);
        reply
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds bytes as they are.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.pieces.push(Piece::Bytes(bytes.to_vec()));
        self
    }

    /// Adds one event with this JSON.
    pub fn event(self, data: &Value) -> Self {
        let event = format!("data: {data}\n\n");
        self.raw(event.as_bytes())
    }

    /// Adds one chunk with this delta.
    pub fn delta(self, delta: Value) -> Self {
        self.event(&chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])))
    }

    /// Adds a chunk of words.
    pub fn text(self, text: &str) -> Self {
        self.delta(json!({"content": text}))
    }

    /// Adds a chunk of thinking.
    pub fn thinking(self, text: &str) -> Self {
        self.delta(json!({"reasoning_content": text}))
    }

    /// Adds a tool call: its name, then its arguments in two fragments, as servers do.
    pub fn tool(self, tool: &str, arguments: Value) -> Self {
        self.tool_text(tool, &arguments.to_string())
    }

    /// Adds a tool call whose arguments are this text, valid or not.
    pub fn tool_text(mut self, tool: &str, arguments: &str) -> Self {
        let index = self.calls;
        self.calls += 1;
        let id = format!("call_{index}");
        let middle = (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at)).unwrap_or(0);
        let (first, rest) = arguments.split_at(middle);
        self.delta(json!({"tool_calls": [{"index": index, "id": id, "type": "function",
                "function": {"name": tool, "arguments": ""}}]}))
            .delta(json!({"tool_calls": [{"index": index, "function": {"arguments": first}}]}))
            .delta(json!({"tool_calls": [{"index": index, "function": {"arguments": rest}}]}))
    }

    /// Adds an error event inside the stream.
    pub fn error_event(self, kind: &str, message: &str) -> Self {
        self.event(&json!({"error": {"type": kind, "code": kind, "message": message}}))
    }

    /// Ends the answer: the reason, what was used, and `[DONE]`.
    pub fn finish(self) -> Self {
        self.finish_using(10, 5)
    }

    /// Ends the answer and says how many tokens were sent and received.
    pub fn finish_using(self, input: u64, output: u64) -> Self {
        self.finish_counting(input, 0, output)
    }

    /// Ends the answer and says how many tokens were sent, how many of them were cached, and how
    /// many were received.
    pub fn finish_counting(self, input: u64, cached: u64, output: u64) -> Self {
        let reason = if self.calls > 0 { "tool_calls" } else { "stop" };
        self.finish_because(reason, input, cached, output)
    }

    /// Ends the answer for a reason of its own, such as its length.
    pub fn finish_because(self, reason: &str, input: u64, cached: u64, output: u64) -> Self {
        let mut usage = chunk(json!([]));
        usage["usage"] = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": cached}});
        self.event(&chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}])))
            .event(&usage)
            .raw(b"data: [DONE]\n\n")
    }

    /// Waits here until the test releases `latch`.
    pub fn hold(mut self, latch: &Latch) -> Self {
        self.pieces.push(Piece::Hold(latch.clone()));
        self
    }

    /// Breaks the connection off here, in the middle of the body.
    pub fn cut(mut self) -> Self {
        self.pieces.push(Piece::Cut);
        self
    }

    /// From here on only `: ping`.
    pub fn then_pings(mut self) -> Self {
        self.pieces.push(Piece::Pings);
        self
    }

    /// Joins what is sent and cuts it anew at these byte positions of the body.
    pub fn split_at(mut self, positions: &[usize]) -> Self {
        let mut sent = 0;
        let mut pieces = Vec::new();
        for piece in merged(self.pieces) {
            let Piece::Bytes(mut bytes) = piece else {
                pieces.push(piece);
                continue;
            };
            for &position in positions {
                if position > sent && position < sent + bytes.len() {
                    let rest = bytes.split_off(position - sent);
                    sent = position;
                    pieces.push(Piece::Bytes(std::mem::replace(&mut bytes, rest)));
                }
            }
            sent += bytes.len();
            pieces.push(Piece::Bytes(bytes));
        }
        self.pieces = pieces;
        self
    }

    /// Sends every byte of the body by itself.
    pub fn byte_by_byte(self) -> Self {
        let every: Vec<usize> = (1..self.body().len()).collect();
        self.split_at(&every)
    }

    /// Separates lines by `\r\n` instead of `\n`.
    pub fn with_crlf(mut self) -> Self {
        for piece in &mut self.pieces {
            if let Piece::Bytes(bytes) = piece {
                *bytes = bytes
                    .iter()
                    .flat_map(|byte| if *byte == b'\n' { b"\r\n".as_slice() } else { std::slice::from_ref(byte) })
                    .copied()
                    .collect();
            }
        }
        self
    }

    /// All bytes of the body, without what happens between them.
    pub fn body(&self) -> Vec<u8> {
        self.pieces
            .iter()
            .flat_map(|piece| if let Piece::Bytes(bytes) = piece { bytes.as_slice() } else { &[] })
            .copied()
            .collect()
    }
}

/// A chat-completion chunk with these choices.
fn chunk(choices: Value) -> Value {
    json!({"id": "chatcmpl-test", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": choices})
}

/// Joins neighbouring runs of bytes.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (out.last_mut(), piece) {
            (Some(Piece::Bytes(before)), Piece::Bytes(bytes)) => before.extend(bytes),
            (_, piece) => out.push(piece),
        }
    }
    out
}
