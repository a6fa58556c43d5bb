//! Speaking with models: one request in, a stream of [`StreamEvent`]s out, whatever the wire format.

use super::tools::ToolSpec;
use crate::domain::{Row, Usage};
use futures_util::stream::BoxStream;

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
    /// The largest answer, where the user limited it.
    pub max_output_tokens: Option<u64>,
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
            Self::Config => "config",
        }
    }
    /// Whether another try may help.
    pub fn passing(self) -> bool {
        match self {
            Self::Network | Self::Cut | Self::Idle | Self::RateLimited | Self::Overloaded | Self::Garbled => true,
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
pub fn connect(
    _s: &crate::domain::Settings,
    _m: &str,
    _b: std::sync::Arc<dyn super::port::Blobs>,
) -> Result<std::sync::Arc<dyn Model>, ModelError> {
    Err(ModelError { class: ErrorClass::Config, message: String::new(), retry_after_ms: None })
}
