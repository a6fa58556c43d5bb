//! One request and its answer, whatever the wire format: sent once, read as events or in one
//! piece, timed, ended.
//!
//! One request is one [`AnswerStream`] that is driven by whoever reads it: nothing runs beside it,
//! and dropping it closes the connection. It is sent again from here only where a server refuses a
//! field that it turns out not to know; everything else is decided where retries are recorded.

use super::http::{CONNECT_TIMEOUT, client_for};
use super::server::Server;
use super::sse::{self, Decoder};
use super::wire::{Answer, Wire};
use super::{AnswerStream, ErrorClass, Model, ModelError, Request, StreamEvent, quirks};
use crate::agent::port::Blobs;
use crate::domain::Part;
use crate::domain::settings::Provider;
use futures_util::stream;
use reqwest::StatusCode;
use reqwest::header::{ACCEPT_ENCODING, CONTENT_TYPE};
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

/// The longest context that is written on the spot.
const SOON_WRITTEN: usize = 64 * 1024;

/// A server as a place models are asked at.
pub(super) struct Remote {
    server: Arc<Server>,
    blobs: Arc<dyn Blobs>,
    idle: Duration,
}

impl Remote {
    /// Makes one; fails where the configuration can't work.
    pub(super) fn new(
        name: &str,
        wire: Wire,
        provider: &Provider,
        idle: Duration,
        blobs: Arc<dyn Blobs>,
    ) -> Result<Self, ModelError> {
        Ok(Self { server: Arc::new(Server::new(name, wire, provider)?), blobs, idle })
    }
}

impl Model for Remote {
    fn ask(&self, request: Request) -> AnswerStream {
        let exchange = Exchange {
            server: self.server.clone(),
            blobs: self.blobs.clone(),
            idle: self.idle,
            deadline: Instant::now() + self.idle,
            model: request.model.clone(),
            sent: 0,
            answer: self.server.wire.answer(&request, &self.server),
            ready: VecDeque::new(),
            phase: Phase::Begin(Arc::new(request)),
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
    answer: Box<dyn Answer>,
    ready: VecDeque<StreamEvent>,
    phase: Phase,
}

/// Begin → Events or Whole → Over; a failure at any of them → Failed → Over.
enum Phase {
    /// Nothing was sent yet.
    Begin(Arc<Request>),
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
                Phase::Begin(request) => self.send(request).await,
                Phase::Events(response, decoder) => self.read_events(response, decoder).await,
                Phase::Whole(response, body) => self.read_whole(response, body).await,
                Phase::Failed(error) => return Some(Err(error)),
                Phase::Over => return None,
            };
            // What came before a failure is passed on before it.
            self.phase = step.unwrap_or_else(Phase::Failed);
        }
    }

    async fn send(&mut self, request: Arc<Request>) -> Result<Phase, ModelError> {
        loop {
            let response = self.post(request.clone()).await?;
            let status = response.status();
            if status.is_success() {
                return self.begin(response);
            }
            let headers = response.headers().clone();
            let body = self.read_error(response).await;
            let refused = matches!(status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY);
            // Each quirk is learned but once, so this ends.
            if !(refused && quirks::learn(&self.server.base, &self.server.quirks(), &body)) {
                return Err(self.server.refused(&self.model, status, &headers, &body));
            }
        }
    }

    async fn post(&mut self, request: Arc<Request>) -> Result<reqwest::Response, ModelError> {
        let (server, blobs) = (self.server.clone(), self.blobs.clone());
        let is_soon_written = is_soon_written(&request);
        let write = move || server.wire.body(&request, &*blobs, &server).to_string();
        let body = match is_soon_written {
            true => write(),
            false => tokio::task::spawn_blocking(write)
                .await
                .map_err(|_| self.fail(ErrorClass::Refused, "the request could not be written"))?,
        };
        self.sent = body.len();
        let request = client_for(&self.server.base)
            .post(self.server.endpoint(self.server.wire.path()))
            .headers(self.server.headers.clone())
            .header(CONTENT_TYPE, "application/json")
            // A compressed stream would be held back until a block is full.
            .header(ACCEPT_ENCODING, "identity")
            .body(body);
        match timeout_at(self.deadline, request.send()).await {
            Ok(answered) => answered.map_err(|error| self.server.unreachable(&self.model, &error, false)),
            Err(_) => Err(self.idle_too_long()),
        }
    }

    fn begin(&self, response: reqwest::Response) -> Result<Phase, ModelError> {
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
            if event.data.trim() == "[DONE]" || self.answer.is_over() {
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
        if self.answer.is_over() {
            read_out(response).await;
            return self.finish();
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
                match self.answer.is_finished() {
                    true => self.finish(),
                    false => Err(self.garbled(&value.to_string())),
                }
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
        if self.answer.take(value, &mut events) {
            self.deadline = Instant::now() + self.idle;
        }
        self.ready.extend(events);
        Ok(())
    }

    /// Ends a whole answer.
    fn finish(&mut self) -> Result<Phase, ModelError> {
        let mut events = Vec::new();
        match self.answer.finish(self.sent, &mut events) {
            Some(finished) => events.push(StreamEvent::Done(finished)),
            None => return Err(self.garbled("a tool call without a name")),
        }
        self.ready.extend(events);
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

/// Whether a request is written in less time than it takes to have another thread do it: pictures are
/// read from disk, and a long context takes a while.
fn is_soon_written(request: &Request) -> bool {
    let bytes = |part: &Part| match part {
        Part::Text { text } | Part::Thinking { text, .. } => Some(text.len()),
        Part::Call { arguments, .. } => Some(arguments.len()),
        Part::Image { .. } => None,
    };
    let mut parts = request.rows.iter().flat_map(|row| &row.parts);
    parts.try_fold(0, |sum: usize, part| Some(sum + bytes(part)?)).is_some_and(|bytes| bytes < SOON_WRITTEN)
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
