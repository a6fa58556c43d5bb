//! How servers depart from what their wire format is taken to say: as data, so that a new server is
//! a line and not a branch.
//!
//! [`known`] is the table of hosts. [`learn`] reads a refusal that names a field, so that the next
//! request to that server goes without it.

use crate::domain::settings::Quirks;
use reqwest::Url;
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// What is special about a host.
struct Host {
    name: &'static str,
    /// The field that limits an answer.
    limit: Option<&'static str>,
    /// The field thinking is shown again in.
    thinking: Option<&'static str>,
    /// Whether it counts tokens in a stream when asked.
    usage: Option<bool>,
    /// Whether it takes no call without a signature.
    signed: Option<bool>,
}

const RULE: Host = Host { name: "", limit: None, thinking: None, usage: None, signed: None };

const HOSTS: [Host; 7] = [
    Host { name: "api.openai.com", limit: Some("max_completion_tokens"), ..RULE },
    Host { name: "api.deepseek.com", thinking: Some("reasoning_content"), ..RULE },
    Host { name: "api.moonshot.ai", thinking: Some("reasoning_content"), ..RULE },
    Host { name: "api.moonshot.cn", thinking: Some("reasoning_content"), ..RULE },
    Host { name: "api.z.ai", thinking: Some("reasoning_content"), ..RULE },
    Host { name: "generativelanguage.googleapis.com", signed: Some(true), ..RULE },
    Host { name: "api.mistral.ai", usage: Some(false), ..RULE },
];

/// Words of a refusal, and what follows from them for the next request.
struct Refusal {
    words: &'static str,
    quirks: fn() -> Quirks,
}

const REFUSALS: [Refusal; 6] = [
    Refusal { words: "stream_options", quirks: without_usage },
    Refusal { words: "include_usage", quirks: without_usage },
    Refusal { words: "max_completion_tokens", quirks: with_the_newer_limit },
    Refusal { words: "missing a thought_signature", quirks: with_signed_calls },
    Refusal { words: "encrypted", quirks: without_kept_thinking },
    Refusal { words: "signature", quirks: without_kept_thinking },
];

fn without_usage() -> Quirks {
    Quirks { stream_usage: Some(false), ..Quirks::default() }
}

fn with_the_newer_limit() -> Quirks {
    Quirks { limit_field: Some("max_completion_tokens".into()), ..Quirks::default() }
}

fn with_signed_calls() -> Quirks {
    Quirks { signed_calls: Some(true), ..Quirks::default() }
}

fn without_kept_thinking() -> Quirks {
    Quirks { kept_thinking: Some(false), ..Quirks::default() }
}

/// What is known of a server by its address. One that is spoken to in the clear is one of the
/// person's own, where small models put calls into their words.
pub(super) fn known(base: &Url) -> Quirks {
    let host = base.host_str().unwrap_or_default();
    let mut quirks = Quirks { fenced_calls: Some(base.scheme() == "http"), ..Quirks::default() };
    if let Some(known) = HOSTS.iter().find(|known| known.name == host) {
        quirks.limit_field = known.limit.map(str::to_owned);
        quirks.thinking_field = known.thinking.map(str::to_owned);
        quirks.stream_usage = known.usage;
        quirks.signed_calls = known.signed;
    }
    quirks
}

/// What servers said of themselves while this process ran, by base address.
static LEARNED: LazyLock<Mutex<BTreeMap<String, Quirks>>> = LazyLock::new(Mutex::default);

/// What a server said of itself.
pub(super) fn learned(base: &Url) -> Quirks {
    LEARNED.lock().unwrap_or_else(PoisonError::into_inner).get(base.as_str()).cloned().unwrap_or_default()
}

/// Reads a refusal; says whether it makes a difference to what holds for that server `now`.
pub(super) fn learn(base: &Url, now: &Quirks, refusal: &str) -> bool {
    let refusal = refusal.to_ascii_lowercase();
    let differs = |known: &&Refusal| refusal.contains(known.words) && (known.quirks)().or(now.clone()) != *now;
    let Some(Refusal { quirks, .. }) = REFUSALS.iter().find(differs) else { return false };
    let mut all = LEARNED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = all.remove(base.as_str()).unwrap_or_default();
    all.insert(base.to_string(), quirks().or(before));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_names_a_field_is_learned_once_and_for_that_server_alone() {
        let (base, other): (Url, Url) =
            ("http://quirks.example/v1".parse().expect("a URL"), "http://other.example/v1".parse().expect("a URL"));
        let now = known(&base);
        assert!(!learn(&base, &now, "messages: too many"));
        assert!(learn(&base, &now, "Unknown field: stream_options"));
        let now = learned(&base).or(now);
        assert_eq!((now.stream_usage, learned(&other)), (Some(false), Quirks::default()));
        assert!(!learn(&base, &now, "Unknown field: stream_options"), "it went without and was refused again");
        assert!(learn(&base, &now, "'max_tokens' is not supported, use 'max_completion_tokens'"));
        assert_eq!(learned(&base).limit_field.as_deref(), Some("max_completion_tokens"));
        assert_eq!(learned(&base).stream_usage, Some(false), "what was learned before stays");
    }

    #[test]
    fn known_hosts_differ_as_the_table_says() {
        let of = |url: &str| known(&url.parse().expect("a URL"));
        assert_eq!(of("https://api.openai.com/v1").limit_field.as_deref(), Some("max_completion_tokens"));
        assert_eq!(of("https://api.deepseek.com").thinking_field.as_deref(), Some("reasoning_content"));
        assert_eq!(of("https://api.example.com/v1").fenced_calls, Some(false));
        assert_eq!(of("http://127.0.0.1:11434/v1").fenced_calls, Some(true));
    }
}
