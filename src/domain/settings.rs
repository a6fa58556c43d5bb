//! What the user configured, after all layers: it travels from a client to the host and is
//! never stored. Keys are [`Secret`]s: they print as dots and are no part of any event.

use super::permission::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A key. It can be used, not read by accident: `Debug` shows dots.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }
    /// The key itself, to be put into a request and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(•••)")
    }
}

/// The wire format a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// The built-in deterministic helper: no network, no key, no AI.
    Guide,
    /// OpenAI-compatible chat completions.
    Openai,
}

/// A place models are asked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provider {
    /// The wire format.
    pub kind: ProviderKind,
    /// Where; without a trailing slash, such as `http://127.0.0.1:8080/v1`.
    #[serde(default)]
    pub base_url: String,
    /// The environment variable the key came from, to say when it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// The key, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Secret>,
    /// Further headers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Secret>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Sent.
    pub input: f64,
    /// Sent, and cached by the server; absent means the price of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Received.
    pub output: f64,
}

/// What is known of one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Its price, where the user gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How many tokens its window holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The largest answer to ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
}

/// Limits of the runtime itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Bytes of a tool's output that the model sees; the rest is kept and can be read by reference.
    pub tool_output_bytes: usize,
    /// Seconds a shell command may run, unless the call says otherwise.
    pub shell_seconds: u64,
    /// Seconds without any content after which a model's stream counts as dead.
    pub idle_seconds: u64,
    /// How often a request that failed in passing is sent again.
    pub retries: u32,
    /// How many tool calls of one batch run at once.
    pub parallel_tools: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { tool_output_bytes: 16_000, shell_seconds: 120, idle_seconds: 120, retries: 5, parallel_tools: 8 }
    }
}

/// Everything that was configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The default model, `PROVIDER:NAME`.
    pub model: String,
    /// The providers by name; `guide` is always there.
    pub providers: BTreeMap<String, Provider>,
    /// What is known of models, by `PROVIDER:NAME` or by `NAME`.
    #[serde(default)]
    pub models: BTreeMap<String, ModelInfo>,
    /// Limits of the runtime.
    #[serde(default)]
    pub limits: Limits,
    /// The policy of a new Task on screen.
    pub policy: Policy,
    /// The user's own instructions (`AGENTS.md` beside the configuration), already read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
}

impl Default for Settings {
    fn default() -> Self {
        let guide = Provider {
            kind: ProviderKind::Guide,
            base_url: String::new(),
            key_env: None,
            key: None,
            headers: BTreeMap::new(),
        };
        Self {
            model: "guide:guide".into(),
            providers: BTreeMap::from([("guide".into(), guide)]),
            models: BTreeMap::new(),
            limits: Limits::default(),
            policy: Policy { reach: super::permission::Reach::Workspace, ask: super::permission::Ask::Always },
            instructions: String::new(),
        }
    }
}

impl Settings {
    /// Splits `PROVIDER:NAME` and finds the provider; the error says what to do.
    pub fn resolve<'a>(&'a self, model: &'a str) -> Result<(&'a Provider, &'a str), String> {
        let (provider, name) = model
            .split_once(':')
            .ok_or_else(|| format!("`{model}` is not PROVIDER:NAME, such as openai:gpt-5 or guide:guide"))?;
        let found = self.providers.get(provider).ok_or_else(|| {
            let known: Vec<_> = self.providers.keys().map(String::as_str).collect();
            format!("no provider `{provider}` is configured (there is: {})", known.join(", "))
        })?;
        Ok((found, name))
    }

    /// What is known of a model: its full name first, then its bare name.
    pub fn model_info(&self, model: &str) -> ModelInfo {
        let bare = model.split_once(':').map_or(model, |(_, name)| name);
        self.models.get(model).or_else(|| self.models.get(bare)).cloned().unwrap_or_default()
    }

    /// Keeps what `before` knew of a key that is named and missing: not every terminal of a person
    /// has it in its environment.
    pub fn keep_keys_of(&mut self, before: &Self) {
        for (name, provider) in &mut self.providers {
            let same = before.providers.get(name).filter(|known| {
                known.kind == provider.kind && known.base_url == provider.base_url && known.key_env == provider.key_env
            });
            if provider.key.is_none() && provider.key_env.is_some() {
                provider.key = same.and_then(|known| known.key.clone());
            }
        }
    }

    /// Every secret there is, to be blotted out wherever text is stored.
    pub fn secrets(&self) -> Vec<&Secret> {
        self.providers.values().flat_map(|provider| provider.key.iter().chain(provider.headers.values())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_one_terminal_lacks_stays_known_for_the_same_address() {
        let with = |key: Option<&str>, url: &str| {
            let provider = Provider {
                kind: ProviderKind::Openai,
                base_url: url.into(),
                key_env: Some("SOME_KEY".into()),
                key: key.map(Secret::new),
                headers: BTreeMap::new(),
            };
            Settings { providers: BTreeMap::from([("some".into(), provider)]), ..Settings::default() }
        };
        let key = |mut new: Settings| {
            new.keep_keys_of(&with(Some("first"), "https://a"));
            new.providers["some"].key.as_ref().map(|key| key.expose().to_owned())
        };
        assert_eq!(key(with(None, "https://a")).as_deref(), Some("first"));
        assert_eq!(key(with(Some("second"), "https://a")).as_deref(), Some("second"));
        assert_eq!(key(with(None, "https://b")), None);
    }

    #[test]
    fn a_secret_never_shows_in_debug_output() {
        let mut settings = Settings::default();
        if let Some(guide) = settings.providers.get_mut("guide") {
            guide.key = Some(Secret::new("sk-very-secret"));
        }
        assert!(!format!("{settings:?}").contains("very-secret"));
    }
}
