//! Speaking with models: one request in, a stream of [`StreamEvent`]s out, whatever the wire format.
//!
//! [`connect`] chooses the wire format by the provider's kind. A model is asked once and answers
//! once; sending again, counting money and keeping what came is the loop's business.

mod chat;
mod exchange;
mod failure;
mod fenced;
pub mod guide;
mod history;
mod http;
mod kept;
mod local;
mod messages;
mod quirks;
mod reach;
mod responses;
mod server;
mod sse;
mod steps;
mod wire;

pub use http::{http_client, install_crypto};
pub use local::{Found, find_local};

use super::port::Blobs;
use super::tools::ToolSpec;
use crate::domain::settings::{ModelInfo, Provider};
use crate::domain::{Part, Row, Settings, Usage};
use futures_util::stream::BoxStream;
use std::sync::Arc;
use std::time::Duration;
use wire::Wire;

/// One request to a model, in our words.
#[derive(Debug, Clone)]
pub struct Request {
    /// The name of the model at its provider.
    pub model: String,
    /// Standing instructions.
    pub system: String,
    /// The context, oldest first; every call has its result.
    pub rows: Vec<Row>,
    /// The tools it may call.
    pub tools: Vec<ToolSpec>,
    /// What is configured of the model.
    pub info: ModelInfo,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// Words.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A call has begun to form; `ix` numbers the calls of the answer from 0.
    CallStarted { ix: u32, name: String },
    /// More of a call's arguments.
    CallArguments { ix: u32, fragment: String },
    /// The answer is whole: its calls as they are to be run, and what it used.
    Done(Finished),
}

/// The end of a whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Finished {
    /// The calls, in order: id of the server (may be empty), name, arguments as text.
    pub calls: Vec<(String, String, String)>,
    /// What the server counted; `turns` is 1, money is filled in by the caller.
    pub usage: Usage,
    /// Why it ended, in the server's word, such as `stop`, `length`, `tool_calls`.
    pub reason: String,
    /// It ended at the limit of its length, in the middle of what it would have said.
    pub cut: bool,
    /// The thoughts and words to be kept, where they are not simply those that streamed.
    pub parts: Option<Vec<Part>>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The class.
    pub class: ErrorClass,
    /// What happened and what to do, for a person. Holds no key.
    pub message: String,
    /// How long the server asks to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// The classes of failure; [`ErrorClass::passing`] ones are worth another try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// No connection, or it broke.
    Network,
    /// The stream ended before the answer did.
    Cut,
    /// Nothing came for too long.
    Idle,
    /// Too many requests.
    RateLimited,
    /// The server is overloaded or failed.
    Overloaded,
    /// The key is missing or wrong.
    Auth,
    /// The server does not know the model.
    NoModel,
    /// The context is too long for the model.
    TooLong,
    /// The server refused the request as it stands.
    Refused,
    /// The answer was not in the wire format.
    Garbled,
    /// The answer came to its end and said nothing.
    Empty,
    /// The provider is not configured.
    Config,
}

impl ErrorClass {
    /// The word stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Cut => "cut",
            Self::Idle => "idle",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Auth => "auth",
            Self::NoModel => "no_model",
            Self::TooLong => "too_long",
            Self::Refused => "refused",
            Self::Garbled => "garbled",
            Self::Empty => "empty",
            Self::Config => "config",
        }
    }
    /// Whether another try may help.
    pub fn passing(self) -> bool {
        match self {
            Self::Network
            | Self::Cut
            | Self::Idle
            | Self::RateLimited
            | Self::Overloaded
            | Self::Garbled
            | Self::Empty => true,
            Self::Auth | Self::NoModel | Self::TooLong | Self::Refused | Self::Config => false,
        }
    }
}

/// The pieces of one answer; dropping it closes the connection.
pub type AnswerStream = BoxStream<'static, Result<StreamEvent, ModelError>>;

/// A place models are asked at.
pub trait Model: Send + Sync {
    /// Sends a request. Errors of the connection come as the first item of the stream.
    fn ask(&self, request: Request) -> AnswerStream;
}

/// Prepares to ask a model, `PROVIDER:NAME`; nothing is sent yet.
pub fn connect(settings: &Settings, model: &str, blobs: Arc<dyn Blobs>) -> Result<Arc<dyn Model>, ModelError> {
    let config = |message| ModelError { class: ErrorClass::Config, message, retry_after_ms: None };
    let (provider, _) = settings.resolve(model).map_err(config)?;
    let name = model.split_once(':').map_or(model, |(name, _)| name);
    match Wire::of(provider.kind) {
        None => Ok(Arc::new(guide::Guide)),
        Some(wire) => {
            let idle = Duration::from_secs(settings.limits.idle_seconds.max(1));
            Ok(Arc::new(exchange::Remote::new(name, wire, provider, idle, blobs)?))
        }
    }
}

/// Whether a provider can be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// It can, and has these models.
    Ok { models: Vec<String> },
    /// It asks for a key and none is configured.
    NoKey { why: String },
    /// It can't: what happened, and what to do.
    Unreachable { why: String },
}

/// Asks a provider whether it is there and which models it has; takes some seconds at most.
pub async fn reach(name: &str, provider: &Provider) -> Reach {
    match Wire::of(provider.kind) {
        None => Reach::Ok { models: vec!["guide".into()] },
        Some(wire) => reach::reach(name, wire, provider).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Memory;

    #[test]
    fn a_model_nobody_configured_is_named_with_what_there_is() {
        let error = connect(&Settings::default(), "openai:gpt", Arc::new(Memory::default())).err().expect("refused");
        assert_eq!(error.class, ErrorClass::Config);
        assert!(error.message.contains("no provider `openai`") && error.message.contains("guide"), "{error}");
    }

    #[test]
    fn the_guide_is_always_there() {
        assert!(connect(&Settings::default(), "guide:guide", Arc::new(Memory::default())).is_ok());
    }
}
