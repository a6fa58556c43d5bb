//! The wire formats: where each is asked, what is sent, and who reads the answer.
//!
//! Each has a folder of its own with two halves: `request` writes our context in its words,
//! `answer` puts an answer together from its events. Everything else is the same for all.

use super::server::Server;
use super::{Finished, Request, StreamEvent, chat, messages, responses};
use crate::agent::port::Blobs;
use crate::domain::settings::ProviderKind;
use serde_json::Value;

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    /// OpenAI chat completions, as most servers speak them.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
}

/// An answer as far as it came.
pub(super) trait Answer: Send + Sync {
    /// Takes one event, or a whole answer in one piece, and adds what is new in it to `events`;
    /// says whether anything of the answer was in it.
    fn take(&mut self, value: &Value, events: &mut Vec<StreamEvent>) -> bool;
    /// Whether the server said that the answer is whole; its count may still come.
    fn is_finished(&self) -> bool;
    /// Whether nothing more comes.
    fn is_over(&self) -> bool;
    /// Ends the answer; `sent` is the size of the request in bytes, for a server that counts
    /// nothing. `None` if a call has no name.
    fn finish(&mut self, sent: usize, events: &mut Vec<StreamEvent>) -> Option<Finished>;
}

impl Wire {
    /// The format of a kind of provider; the guide has none.
    pub(super) fn of(kind: ProviderKind) -> Option<Self> {
        match kind {
            ProviderKind::Guide => None,
            ProviderKind::Openai => Some(Self::Chat),
            ProviderKind::Responses => Some(Self::Responses),
            ProviderKind::Anthropic => Some(Self::Messages),
        }
    }

    /// Where below the base address it is asked.
    pub(super) fn path(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["chat", "completions"],
            Self::Responses => &["responses"],
            Self::Messages => &["messages"],
        }
    }

    /// The body of a request. What the user configured for the model stands above what we say.
    pub(super) fn body(self, request: &Request, blobs: &dyn Blobs, server: &Server) -> Value {
        let mut body = match self {
            Self::Chat => chat::body(request, blobs, &server.name, &server.quirks()),
            Self::Responses => responses::body(request, blobs, &server.name, &server.quirks()),
            Self::Messages => messages::body(request, blobs, &server.name, &server.quirks()),
        };
        body.extend(request.info.request.clone());
        Value::Object(body)
    }

    /// Who reads the answer to a request.
    pub(super) fn answer(self, request: &Request, server: &Server) -> Box<dyn Answer> {
        match self {
            Self::Chat => {
                Box::new(chat::Answer::new(request, &server.name, server.quirks().fenced_calls == Some(true)))
            }
            Self::Responses => Box::new(responses::Answer::new(&server.name)),
            Self::Messages => Box::new(messages::Answer::new(&server.name)),
        }
    }
}

#[cfg(test)]
mod tests;
