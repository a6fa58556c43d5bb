//! Chat completions as OpenAI made them and most servers speak them: hosted ones, Ollama, vLLM,
//! llama.cpp, LM Studio.
//!
//! One request is one [`AnswerStream`] that is driven by whoever reads it: nothing runs beside it,
//! and dropping it closes the connection. It is never sent again from here; that is decided where
//! retries are recorded.

mod answer;
mod failure;
mod reach;
mod request;

pub(super) use reach::reach;

use super::http::{CONNECT_TIMEOUT, client_for};
use super::sse::{self, Decoder};
use super::{AnswerStream, ErrorClass, Model, ModelError, Request, StreamEvent};
use crate::agent::port::Blobs;
use crate::domain::Secret;
use crate::domain::redact::Redactor;
use crate::domain::settings::Provider;
use answer::Answer;
use futures_util::stream;
use request::LimitField;
use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long to wait for the count once the answer is whole: some servers neither send it nor hang up.
const GRACE: Duration = Duration::from_secs(3);

/// How long, and how much, is read after the end of an answer: a connection whose body was read to
/// its end is used again by the next request.
const REST_TIME: Duration = Duration::from_millis(500);
const LARGEST_REST: usize = 64 * 1024;

/// The largest answer that comes as one piece, and the largest error.
const LARGEST_BODY: usize = 32 * 1024 * 1024;
const LARGEST_ERROR: usize = 64 * 1024;

/// A server, and what it takes to speak with it.
struct Server {
    name: String,
    base: Url,
    key: Option<Secret>,
    key_env: Option<String>,
    headers: HeaderMap,
    redactor: Redactor,
}

impl Server {
    /// Checks what was configured.
    fn new(name: &str, provider: &Provider) -> Result<Self, ModelError> {
        let config = |message: String| ModelError { class: ErrorClass::Config, message, retry_after_ms: None };
        let base = provider.base_url.trim().trim_end_matches('/');
        let base: Url = base.parse().map_err(|error| {
            config(format!("The base URL of provider `{name}` is no address ({error}); it should be such as http://127.0.0.1:11434/v1."))
        })?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(config(format!("The base URL of provider `{name}` must begin with http:// or https://.")));
        }
        let secret = |text: &str| {
            let mut value = HeaderValue::from_str(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let mut headers = HeaderMap::new();
        if let Some(key) = &provider.key {
            let value = secret(&format!("Bearer {}", key.expose().trim()));
            let value = value.ok_or_else(|| {
                config(format!("The key of provider `{name}` holds characters that no header can carry."))
            })?;
            headers.insert(AUTHORIZATION, value);
        }
        for (header, value) in &provider.headers {
            let bad = || config(format!("The header `{header}` of provider `{name}` can't be sent."));
            headers.insert(header.parse::<HeaderName>().map_err(|_| bad())?, secret(value.expose()).ok_or_else(bad)?);
        }
        let secrets = provider.key.iter().chain(provider.headers.values()).map(Secret::expose);
        Ok(Self {
            name: name.to_owned(),
            base,
            redactor: Redactor::new(secrets),
            key: provider.key.clone(),
            key_env: provider.key_env.clone(),
            headers,
        })
    }

    /// The address of a part of the server's interface.
    fn endpoint(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// The base address without what may be secret in it.
    fn address(&self) -> String {
        let mut url = self.base.clone();
        // Neither fails for an address that can be a base.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.to_string().trim_end_matches('/').to_owned()
    }
}

/// A provider of this kind.
pub(super) struct OpenAi {
    server: Arc<Server>,
    blobs: Arc<dyn Blobs>,
    idle: Duration,
}

impl OpenAi {
    /// Makes one; fails where the configuration can't work.
    pub(super) fn new(
        name: &str,
        provider: &Provider,
        idle: Duration,
        blobs: Arc<dyn Blobs>,
    ) -> Result<Self, ModelError> {
        Ok(Self { server: Arc::new(Server::new(name, provider)?), blobs, idle })
    }
}

impl Model for OpenAi {
    fn ask(&self, request: Request) -> AnswerStream {
        let exchange = Exchange {
            server: self.server.clone(),
            blobs: self.blobs.clone(),
            idle: self.idle,
            deadline: Instant::now() + self.idle,
            model: request.model.clone(),
            sent: 0,
            answer: Answer::default(),
            ready: VecDeque::new(),
            phase: Phase::Begin(Box::new(request)),
        };
        Box::pin(stream::unfold(exchange, |mut exchange| async move {
            let item = exchange.next().await?;
            Some((item, exchange))
        }))
    }
}

/// One request and what has come of it.
struct Exchange {
    server: Arc<Server>,
    blobs: Arc<dyn Blobs>,
    idle: Duration,
    /// When the answer counts as dead, unless something of it comes before.
    deadline: Instant,
    model: String,
    /// The size of the request, in bytes.
    sent: usize,
    answer: Answer,
    ready: VecDeque<StreamEvent>,
    phase: Phase,
}

/// Begin → Events or Whole → Over; a failure at any of them → Failed → Over.
enum Phase {
    /// Nothing was sent yet.
    Begin(Box<Request>),
    /// The answer comes as events.
    Events(reqwest::Response, Decoder),
    /// The answer comes in one piece.
    Whole(reqwest::Response, Vec<u8>),
    /// The failure is to be told.
    Failed(ModelError),
    /// Nothing more comes.
    Over,
}

impl Exchange {
    /// The next item of the stream.
    async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            let step = match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Begin(request) => self.send(*request).await,
                Phase::Events(response, decoder) => self.read_events(response, decoder).await,
                Phase::Whole(response, body) => self.read_whole(response, body).await,
                Phase::Failed(error) => return Some(Err(error)),
                Phase::Over => return None,
            };
            // What came before a failure is passed on before it.
            self.phase = step.unwrap_or_else(Phase::Failed);
        }
    }

    async fn send(&mut self, request: Request) -> Result<Phase, ModelError> {
        let limit = match self.server.base.host_str() {
            Some("api.openai.com") => LimitField::MaxCompletionTokens,
            _ => LimitField::MaxTokens,
        };
        let blobs = self.blobs.clone();
        // Pictures are read from disk and a long context takes a while to write.
        let written = tokio::task::spawn_blocking(move || request::body(&request, &*blobs, limit).to_string()).await;
        let body = written.map_err(|_| self.fail(ErrorClass::Refused, "the request could not be written"))?;
        self.sent = body.len();
        let request = client_for(&self.server.base)
            .post(self.server.endpoint(&["chat", "completions"]))
            .headers(self.server.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            // A compressed stream would be held back until a block is full.
            .header(ACCEPT_ENCODING, "identity")
            .body(body);
        let response = match timeout_at(self.deadline, request.send()).await {
            Ok(answered) => answered.map_err(|error| self.server.unreachable(&self.model, &error, false))?,
            Err(_) => return Err(self.idle_too_long()),
        };
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = self.read_error(response).await;
            return Err(self.server.refused(&self.model, status, &headers, &body));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        match kind.split(';').next().unwrap_or_default().trim() {
            "application/json" => Ok(Phase::Whole(response, Vec::new())),
            "text/html" => {
                Err(self.fail(ErrorClass::Config, &format!("{} answered with a web page", self.server.name)))
            }
            _ => Ok(Phase::Events(response, Decoder::default())),
        }
    }

    async fn read_events(
        &mut self,
        mut response: reqwest::Response,
        mut decoder: Decoder,
    ) -> Result<Phase, ModelError> {
        let mut events = Vec::new();
        let (decoded, ended) = match timeout_at(self.deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) => (decoder.feed(&chunk, &mut events), false),
            Ok(Ok(None)) => (decoder.finish(&mut events), true),
            // The connection broke, or nothing came: no harm once the answer is whole.
            Ok(Err(_)) | Err(_) if self.answer.is_finished() => return self.finish(),
            Ok(Err(error)) => return Err(self.server.unreachable(&self.model, &error, true)),
            Err(_) => return Err(self.idle_too_long()),
        };
        let was_finished = self.answer.is_finished();
        for event in events {
            if event.data.trim() == "[DONE]" {
                read_out(response).await;
                return self.finish();
            }
            match serde_json::from_str::<Value>(&event.data) {
                Ok(value) => self.take(&event.name, &value)?,
                // Half an event at the very end is the sign of a cut, not of a bad server.
                Err(_) if ended => break,
                Err(_) if event.data.trim().is_empty() => {}
                Err(_) => return Err(self.garbled(&event.data)),
            }
        }
        match decoded {
            Ok(()) => {}
            Err(sse::Broken::NotText) if ended => {}
            Err(broken) => return Err(self.garbled(&broken.to_string())),
        }
        if self.answer.is_finished() && !was_finished {
            self.deadline = Instant::now() + GRACE.min(self.idle);
        }
        match ended {
            false => Ok(Phase::Events(response, decoder)),
            true if self.answer.is_finished() => self.finish(),
            true => {
                Err(self
                    .fail(ErrorClass::Cut, &format!("the answer of {} ended before it was whole", self.server.name)))
            }
        }
    }

    async fn read_whole(&mut self, mut response: reqwest::Response, mut body: Vec<u8>) -> Result<Phase, ModelError> {
        match timeout_at(self.deadline, response.chunk()).await {
            Ok(Ok(Some(chunk))) if body.len() + chunk.len() > LARGEST_BODY => {
                Err(self.garbled("an answer of more than 32 MB in one piece"))
            }
            Ok(Ok(Some(chunk))) => {
                body.extend_from_slice(&chunk);
                self.deadline = Instant::now() + self.idle;
                Ok(Phase::Whole(response, body))
            }
            Ok(Ok(None)) => {
                let value = serde_json::from_slice::<Value>(&body);
                let value = value.map_err(|_| self.garbled(&String::from_utf8_lossy(&body)))?;
                self.take("", &value)?;
                if value["choices"].get(0).is_none() {
                    return Err(self.garbled(&value.to_string()));
                }
                self.finish()
            }
            Ok(Err(error)) => Err(self.server.unreachable(&self.model, &error, true)),
            Err(_) => Err(self.idle_too_long()),
        }
    }

    /// Takes one chunk of the answer; only what holds something of it puts the deadline off.
    fn take(&mut self, event: &str, value: &Value) -> Result<(), ModelError> {
        if let Some(error) = self.server.told(&self.model, event, value) {
            return Err(error);
        }
        let mut events = Vec::new();
        self.answer.take(value, &mut events);
        if !events.is_empty() {
            self.deadline = Instant::now() + self.idle;
        }
        self.ready.extend(events);
        Ok(())
    }

    /// Ends a whole answer.
    fn finish(&mut self) -> Result<Phase, ModelError> {
        match std::mem::take(&mut self.answer).finish(self.sent) {
            Some(finished) => self.ready.push_back(StreamEvent::Done(finished)),
            None => return Err(self.garbled("a tool call without a name")),
        }
        Ok(Phase::Over)
    }

    /// Reads what an error says, as far as it comes soon and is of a sensible size.
    async fn read_error(&self, mut response: reqwest::Response) -> String {
        let until = Instant::now() + CONNECT_TIMEOUT;
        let mut body = Vec::new();
        while let Ok(Ok(Some(chunk))) = timeout_at(until, response.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() > LARGEST_ERROR {
                break;
            }
        }
        String::from_utf8_lossy(&body).into_owned()
    }

    fn fail(&self, class: ErrorClass, what: &str) -> ModelError {
        self.server.failure(class, what, &self.model)
    }

    fn idle_too_long(&self) -> ModelError {
        self.fail(ErrorClass::Idle, &format!("nothing came from {} for {} s", self.server.name, self.idle.as_secs()))
    }

    fn garbled(&self, what: &str) -> ModelError {
        let what = format!("{} sent something that is no answer: {}", self.server.name, self.server.quote(what));
        self.fail(ErrorClass::Garbled, &what)
    }
}

/// Reads what follows the end of an answer. Where that does not end soon, the connection is closed.
async fn read_out(mut response: reqwest::Response) {
    let rest = async {
        let mut read = 0;
        while let Ok(Some(chunk)) = response.chunk().await {
            read += chunk.len();
            if read > LARGEST_REST {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(REST_TIME, rest).await;
}

#[cfg(test)]
mod tests;
