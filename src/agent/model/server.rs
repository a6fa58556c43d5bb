//! A server that was configured: its address, what goes into its headers, how it departs from its
//! wire format.

use super::quirks;
use super::wire::Wire;
use super::{ErrorClass, ModelError};
use crate::domain::Secret;
use crate::domain::redact::Redactor;
use crate::domain::settings::{Provider, Quirks};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

/// The version of Anthropic's interface that is spoken.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A server, and what it takes to speak with it.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) base: Url,
    pub(super) wire: Wire,
    pub(super) key: Option<Secret>,
    pub(super) key_env: Option<String>,
    pub(super) headers: HeaderMap,
    pub(super) redactor: Redactor,
    quirks: Quirks,
}

impl Server {
    /// Checks what was configured.
    pub(super) fn new(name: &str, wire: Wire, provider: &Provider) -> Result<Self, ModelError> {
        let config = |message: String| ModelError { class: ErrorClass::Config, message, retry_after_ms: None };
        let base = provider.base_url.trim().trim_end_matches('/');
        let base: Url = base.parse().map_err(|error| {
            config(format!("The base URL of provider `{name}` is no address ({error}); it should be such as http://127.0.0.1:11434/v1."))
        })?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(config(format!("The base URL of provider `{name}` must begin with http:// or https://.")));
        }
        if let Some(message) = missing_key(name, &base, provider) {
            return Err(ModelError { class: ErrorClass::Auth, message, retry_after_ms: None });
        }
        let secret = |text: &str| {
            let mut value = HeaderValue::from_str(text).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let mut headers = HeaderMap::new();
        if let Some(key) = &provider.key {
            let key = key.expose().trim();
            let (header, value) = match wire {
                Wire::Chat | Wire::Responses => (AUTHORIZATION, secret(&format!("Bearer {key}"))),
                Wire::Messages => (HeaderName::from_static("x-api-key"), secret(key)),
            };
            let value = value.ok_or_else(|| {
                config(format!("The key of provider `{name}` holds characters that no header can carry."))
            })?;
            headers.insert(header, value);
        }
        if wire == Wire::Messages {
            headers.insert("anthropic-version", HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        for (header, value) in &provider.headers {
            let bad = || config(format!("The header `{header}` of provider `{name}` can't be sent."));
            headers.insert(header.parse::<HeaderName>().map_err(|_| bad())?, secret(value.expose()).ok_or_else(bad)?);
        }
        let secrets = provider.key.iter().chain(provider.headers.values()).map(Secret::expose);
        Ok(Self {
            name: name.to_owned(),
            quirks: provider.quirks.clone().or(quirks::known(&base)),
            base,
            wire,
            redactor: Redactor::new(secrets),
            key: provider.key.clone(),
            key_env: provider.key_env.clone(),
            headers,
        })
    }

    /// The address of a part of the server's interface. Anthropic's own tools take an address
    /// without `/v1`, so both are understood.
    pub(super) fn endpoint(&self, path: &[&str]) -> Url {
        let mut url = self.base.clone();
        let versioned = url.path_segments().is_some_and(|mut segments| segments.any(|part| part == "v1"));
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            if self.wire == Wire::Messages && !versioned {
                segments.push("v1");
            }
            segments.extend(path);
        }
        url
    }

    /// How it departs from its wire format: as configured, then as it said itself, then as known.
    pub(super) fn quirks(&self) -> Quirks {
        quirks::learned(&self.base).or(self.quirks.clone())
    }

    /// The base address without what may be secret in it.
    pub(super) fn address(&self) -> String {
        let mut url = self.base.clone();
        // Neither fails for an address that can be a base.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.to_string().trim_end_matches('/').to_owned()
    }
}

/// The servers that answer nobody without a key.
const KEYED: [&str; 2] = ["api.openai.com", "api.anthropic.com"];

/// What to do about a key without which it makes no sense to send anything.
fn missing_key(name: &str, base: &Url, provider: &Provider) -> Option<String> {
    let keyed = base.host_str().is_some_and(|host| KEYED.contains(&host));
    if !keyed || provider.key.is_some() || !provider.headers.is_empty() {
        return None;
    }
    let prefix = name.to_ascii_uppercase();
    Some(match &provider.key_env {
        Some(variable) if *variable == format!("{prefix}_API_KEY") => {
            format!("no key for {name}: set {variable}, or {prefix}_BASE_URL for a server of your own")
        }
        Some(variable) => format!("no key for {name}: set {variable}"),
        None => format!("no key for {name}: name its variable as `key_env` of [providers.{name}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::settings::ProviderKind;

    fn refused(name: &str, provider: &Provider) -> Option<ModelError> {
        Server::new(name, Wire::Chat, provider).err()
    }

    #[test]
    fn a_server_that_answers_nobody_without_a_key_is_not_asked_without_one() {
        let mut provider = Provider::new(ProviderKind::Openai, "https://api.openai.com/v1");
        let error = refused("work", &provider).expect("refused");
        assert_eq!(error.class, ErrorClass::Auth);
        assert!(error.message.contains("`key_env` of [providers.work]"), "{error}");
        provider.key_env = Some("WORK_KEY".into());
        assert_eq!(refused("work", &provider).expect("refused").message, "no key for work: set WORK_KEY");
        provider.key = Some(Secret::new("sk-1"));
        assert_eq!(refused("work", &provider), None);
        assert_eq!(refused("own", &Provider::new(ProviderKind::Openai, "http://127.0.0.1:1/v1")), None);
    }
}
