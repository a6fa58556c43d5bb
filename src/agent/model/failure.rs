//! Turns what went wrong at a server into a class and a message for a person.
//!
//! A message says who answered what, and what to do about it. Words of a server are bounded,
//! sanitised and redacted: some repeat the key they were sent.

use super::server::Server;
use super::{ErrorClass, ModelError};
use crate::domain::sanitise;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, LOCATION, RETRY_AFTER};
use serde_json::Value;

/// How much of a server's words is shown.
const LONGEST: usize = 400;

impl Server {
    /// The failure behind an HTTP status.
    pub(super) fn refused(&self, model: &str, status: StatusCode, headers: &HeaderMap, body: &str) -> ModelError {
        let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        let told = Told::read(&value).unwrap_or_default();
        let words = match (told.message.is_empty(), looks_like_a_page(body)) {
            (false, _) => told.message.clone(),
            (true, false) => body.to_owned(),
            (true, true) => String::new(),
        };
        let class = told.class().filter(|_| status != StatusCode::UNAUTHORIZED).unwrap_or(of_status(status, &words));
        let mut what = format!("{} answered {}", self.name, status.as_u16());
        let words = self.quote(&words);
        match words.is_empty() {
            true => what.push_str(&status.canonical_reason().map(|reason| format!(" ({reason})")).unwrap_or_default()),
            false => what.push_str(&format!(": {words}")),
        }
        if status.is_redirection() {
            let target = headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("another address");
            what = format!("{} sends us on to {}", self.name, self.quote(target));
        }
        let retry_after_ms = retry_after(headers);
        ModelError { retry_after_ms, ..self.failure(class, &what, model) }
    }

    /// The failure behind an error object within a stream, or instead of an answer; `None` if the
    /// value is none.
    pub(super) fn told(&self, model: &str, event: &str, value: &Value) -> Option<ModelError> {
        // An event with a type of its own may carry words in a field of the same name.
        if value["type"].as_str().is_some_and(|kind| kind.starts_with("response.") && kind != "response.failed") {
            return None;
        }
        let told = match Told::read(value) {
            Some(told) => told,
            None if event == "error" => Told { message: value.to_string(), ..Told::default() },
            None => return None,
        };
        let status = told.status.and_then(|status| StatusCode::from_u16(status).ok());
        let by_status =
            || status.filter(|status| status.as_u16() >= 400).map(|status| of_status(status, &told.message));
        // Unknown trouble in the middle of an answer is the server's, and worth another try.
        let class = told.class().or_else(by_status).unwrap_or(ErrorClass::Overloaded);
        let words = if told.message.is_empty() { &told.kind } else { &told.message };
        Some(self.failure(class, &format!("{} broke off: {}", self.name, self.quote(words)), model))
    }

    /// The failure of the connection; `begun` if the answer had begun.
    pub(super) fn unreachable(&self, model: &str, error: &reqwest::Error, begun: bool) -> ModelError {
        if begun {
            let what =
                format!("the connection to {} broke before the answer was whole ({})", self.name, self.cause(error));
            return self.failure(ErrorClass::Cut, &what, model);
        }
        let what = match error.is_timeout() {
            true => format!("{} at {} did not answer in time", self.name, self.address()),
            false => format!("can't reach {} at {}: {}", self.name, self.address(), self.cause(error)),
        };
        self.failure(ErrorClass::Network, &what, model)
    }

    /// Puts what happened and what to do together.
    pub(super) fn failure(&self, class: ErrorClass, what: &str, model: &str) -> ModelError {
        let what = what.trim_end_matches(['.', ' ']);
        let hint = self.hint(class, what, model);
        // Whoever shows it ends the sentence, or goes on with it.
        let message = if hint.is_empty() { what.to_owned() } else { format!("{what}. {hint}") };
        ModelError { class, message, retry_after_ms: None }
    }

    fn hint(&self, class: ErrorClass, what: &str, model: &str) -> String {
        let name = &self.name;
        match class {
            ErrorClass::Auth => match (&self.key, &self.key_env) {
                (Some(_), Some(env)) => format!("Check the key in {env}"),
                (Some(_), None) => format!("Check the key of provider `{name}` in the configuration"),
                (None, Some(env)) => format!("It wants a key: set {env}"),
                (None, None) => format!("It wants a key: name its variable as `key_env` of [providers.{name}]"),
            },
            ErrorClass::NoModel => format!("Is `{model}` its name there? `cowork models` lists what the server has"),
            ErrorClass::TooLong => {
                "The conversation is longer than the model takes: begin a new Task or choose a larger model".into()
            }
            ErrorClass::Config => {
                format!("Check the base URL of provider `{name}`: {} (most end in /v1)", self.address())
            }
            ErrorClass::Network if what.contains("certificate") => {
                "Its certificate is not trusted here: set SSL_CERT_FILE to the authority's certificate".into()
            }
            ErrorClass::Network => {
                "Is the server running, and the address right (such as http://127.0.0.1:11434/v1)?".into()
            }
            ErrorClass::RateLimited => "It takes no more requests for now".into(),
            ErrorClass::Idle => "A slow server may need a larger `idle_seconds` in [limits]".into(),
            ErrorClass::Cut
            | ErrorClass::Overloaded
            | ErrorClass::Refused
            | ErrorClass::Garbled
            | ErrorClass::Empty => String::new(),
        }
    }

    /// A server's words, fit to be shown.
    pub(super) fn quote(&self, words: &str) -> String {
        let clean = self.redactor.redact(words);
        let shown = sanitise::line(clean.trim());
        match shown.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown.into_owned(),
        }
    }

    /// The deepest cause: the outer ones only say that a request failed.
    fn cause(&self, error: &reqwest::Error) -> String {
        let mut cause: &dyn std::error::Error = error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        // The outermost one names the address, which may hold a key.
        match std::ptr::addr_eq(cause, error) {
            true => "the request failed".to_owned(),
            false => self.quote(&cause.to_string()),
        }
    }
}

/// What an error object says.
#[derive(Debug, Default)]
struct Told {
    message: String,
    /// Type and code, such as `rate_limit_error`.
    kind: String,
    status: Option<u16>,
}

impl Told {
    /// Reads the shapes servers use: `{"error": {…}}`, `{"error": "…"}`, an error in the first
    /// choice or in the response, `{"object": "error", …}`, `{"detail": …}`.
    fn read(value: &Value) -> Option<Told> {
        let (choice, response) = (&value["choices"][0]["error"], &value["response"]["error"]);
        let error = match value.get("error") {
            Some(error) if !error.is_null() => error,
            _ if !choice.is_null() => choice,
            _ if !response.is_null() => response,
            _ if value["object"] == "error" || value["type"] == "error" => value,
            _ if value.get("choices").is_none() && (value["message"].is_string() || !value["detail"].is_null()) => {
                value
            }
            _ => return None,
        };
        let word = |name: &str| error[name].as_str().unwrap_or_default();
        let message = match (error, &error["message"], &error["detail"]) {
            (Value::String(text), _, _) | (_, Value::String(text), _) | (_, _, Value::String(text)) => text.clone(),
            (_, _, Value::Null) => String::new(),
            (_, _, detail) => detail.to_string(),
        };
        let number = |value: &Value| {
            let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
            number.and_then(|number| u16::try_from(number).ok())
        };
        let status = number(&error["code"]).or_else(|| number(&error["status"])).or_else(|| number(&value["status"]));
        Some(Told {
            message,
            kind: format!("{} {} {}", word("type"), word("code"), word("status")).trim().to_owned(),
            status,
        })
    }

    /// The class its words stand for, if they stand for one.
    fn class(&self) -> Option<ErrorClass> {
        let kind = self.kind.to_ascii_lowercase();
        let kind = |words: &[&str]| words.iter().any(|word| kind.contains(word));
        let message = self.message.to_ascii_lowercase();
        Some(match () {
            () if kind(&["context_length", "exceed_context", "string_above_max"]) || speaks_of_length(&message) => {
                ErrorClass::TooLong
            }
            () if kind(&["insufficient_quota", "billing", "payment", "credit"]) => ErrorClass::Refused,
            () if kind(&["rate_limit", "too_many_requests", "resource_exhausted", "tokens_per"]) => {
                ErrorClass::RateLimited
            }
            () if kind(&[
                "overloaded",
                "server_error",
                "internal",
                "unavailable",
                "timeout",
                "api_error",
                "engine",
            ]) =>
            {
                ErrorClass::Overloaded
            }
            () if kind(&["auth", "api_key", "permission", "unauthenticated"]) => ErrorClass::Auth,
            () if kind(&["model_not_found"]) || (message.contains("model") && speaks_of_absence(&message)) => {
                ErrorClass::NoModel
            }
            () if kind(&["invalid_request", "badrequest", "bad_request", "invalid_argument"]) => ErrorClass::Refused,
            () => return None,
        })
    }
}

fn speaks_of_length(message: &str) -> bool {
    [
        "maximum context",
        "context length",
        "context window",
        "context size",
        "prompt is too long",
        "input is too long",
        "too many tokens",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn speaks_of_absence(message: &str) -> bool {
    ["not found", "does not exist", "not exist", "unknown model", "no such model", "not a valid model", "try pulling"]
        .iter()
        .any(|words| message.contains(words))
}

fn of_status(status: StatusCode, words: &str) -> ErrorClass {
    let words = words.to_ascii_lowercase();
    match status.as_u16() {
        401 | 403 => ErrorClass::Auth,
        404 if words.contains("model") => ErrorClass::NoModel,
        300..=399 | 404 | 405 => ErrorClass::Config,
        413 => ErrorClass::TooLong,
        400 | 422 if speaks_of_length(&words) => ErrorClass::TooLong,
        429 => ErrorClass::RateLimited,
        408 | 425 | 500..=504 | 520..=530 => ErrorClass::Overloaded,
        _ => ErrorClass::Refused,
    }
}

fn looks_like_a_page(body: &str) -> bool {
    let start = body.trim_start().get(..15).unwrap_or_default().to_ascii_lowercase();
    start.starts_with("<!doctype") || start.starts_with("<html")
}

/// How long the server asks to wait. A date is taken against the server's own clock where it tells
/// that, so that a wrong clock here does no harm.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(ms) = text("retry-after-ms".parse().ok()?).and_then(|ms| ms.parse::<f64>().ok()) {
        return Some(ms.max(0.0) as u64);
    }
    let after = text(RETRY_AFTER)?;
    if let Ok(seconds) = after.parse::<f64>() {
        return seconds.is_finite().then(|| (seconds.max(0.0) * 1000.0) as u64);
    }
    let date = |text: &str| DateTimeParser::new().parse_timestamp(text).ok();
    let now = text(DATE).and_then(date).unwrap_or_else(Timestamp::now);
    let wait = date(after)?.as_millisecond() - now.as_millisecond();
    Some(u64::try_from(wait).unwrap_or(0))
}
