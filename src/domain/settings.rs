//! What the user configured, after all layers: it travels from a client to the host and is
//! never stored. Keys are [`Secret`]s: they print as dots and are no part of any event.

use super::AgentRole;
use super::permission::Policy;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
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
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
}

impl ProviderKind {
    /// Those a person can configure.
    pub const CONFIGURABLE: [Self; 3] = [Self::Openai, Self::Responses, Self::Anthropic];

    /// The word used in the configuration and on screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guide => "guide",
            Self::Openai => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
        }
    }
}

/// How a server departs from what its wire format is taken to say; what is absent is as the table
/// of known servers has it, or the rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// The field that limits an answer, such as `max_completion_tokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_field: Option<String>,
    /// Whether it may be asked to count tokens in a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<bool>,
    /// The field in which it wants to see its thinking again, such as `reasoning_content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_field: Option<String>,
    /// Whether thinking may be asked for in a form that can be shown again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_thinking: Option<bool>,
    /// Whether it takes no call without a signature, so that those of other models need a stand-in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_calls: Option<bool>,
    /// Whether a call that stands as a fenced block in the words is taken as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fenced_calls: Option<bool>,
}

impl Quirks {
    /// These, and where they say nothing, those.
    pub fn or(self, others: Self) -> Self {
        Self {
            limit_field: self.limit_field.or(others.limit_field),
            stream_usage: self.stream_usage.or(others.stream_usage),
            thinking_field: self.thinking_field.or(others.thinking_field),
            kept_thinking: self.kept_thinking.or(others.kept_thinking),
            signed_calls: self.signed_calls.or(others.signed_calls),
            fenced_calls: self.fenced_calls.or(others.fenced_calls),
        }
    }
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
    /// How it departs from its wire format.
    #[serde(default)]
    pub quirks: Quirks,
}

impl Provider {
    /// A provider at an address, with neither key nor quirks.
    pub fn new(kind: ProviderKind, base_url: impl Into<String>) -> Self {
        Self {
            kind,
            base_url: base_url.into(),
            key_env: None,
            key: None,
            headers: BTreeMap::new(),
            quirks: Quirks::default(),
        }
    }
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
    /// Each answer is one step bound by a JSON schema, for models that can't call tools by themselves.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steps: bool,
    /// Further fields of every request, as the server names them, such as `reasoning_effort`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub request: Map<String, Value>,
}

/// The models for what is not the default's work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Roles {
    /// Subagents; the default where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent: Option<String>,
    /// What is small and can wait: it names Tasks. Where there is none, nobody is asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cheap: Option<String>,
    /// Who is asked when a model fails for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
}

impl Roles {
    /// Every role, by the word of the configuration, and its model.
    pub fn all(&self) -> [(&'static str, &Option<String>); 3] {
        [("subagent", &self.subagent), ("cheap", &self.cheap), ("fallback", &self.fallback)]
    }
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
    /// How many Subagents work at once, of all Tasks together; the rest wait their turn.
    pub subagents: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_output_bytes: 16_000,
            shell_seconds: 120,
            idle_seconds: 120,
            retries: 5,
            parallel_tools: 8,
            subagents: 8,
        }
    }
}

/// How Jobs are kept and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSettings {
    /// How much of what one prints is kept, in bytes: beyond it the oldest goes.
    pub log_bytes: u64,
    /// After so many days one that has ended is taken away, with its log; 0: never.
    pub keep_days: u32,
    /// The key that leaves a Job's terminal, as the terminal sends it.
    pub detach: u8,
}

impl Default for JobSettings {
    fn default() -> Self {
        // ctrl-]
        Self { log_bytes: 1_000_000_000, keep_days: 90, detach: 0x1d }
    }
}

/// Everything that was configured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The default model, `PROVIDER:NAME`.
    pub model: String,
    /// The models of other roles.
    #[serde(default)]
    pub roles: Roles,
    /// The providers by name; `guide` is always there.
    pub providers: BTreeMap<String, Provider>,
    /// What is known of models, by `PROVIDER:NAME` or by `NAME`.
    #[serde(default)]
    pub models: BTreeMap<String, ModelInfo>,
    /// Limits of the runtime.
    #[serde(default)]
    pub limits: Limits,
    /// How Jobs are kept and left.
    #[serde(default)]
    pub jobs: JobSettings,
    /// The policy of a new Task on screen.
    pub policy: Policy,
    /// The user's own instructions (`AGENTS.md` beside the configuration), already read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
}

impl Default for Settings {
    fn default() -> Self {
        let guide = Provider::new(ProviderKind::Guide, "");
        Self {
            model: "guide:guide".into(),
            roles: Roles::default(),
            providers: BTreeMap::from([("guide".into(), guide)]),
            models: BTreeMap::new(),
            limits: Limits::default(),
            jobs: JobSettings::default(),
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

    /// The model of an agent that was given none of its own.
    pub fn model_of(&self, role: AgentRole) -> &str {
        match role {
            AgentRole::Main => &self.model,
            AgentRole::Subagent => self.roles.subagent.as_deref().unwrap_or(&self.model),
        }
    }

    /// What is known of a model: its full name first, then its bare name.
    pub fn model_info(&self, model: &str) -> ModelInfo {
        let bare = model.split_once(':').map_or(model, |(_, name)| name);
        self.models.get(model).or_else(|| self.models.get(bare)).cloned().unwrap_or_default()
    }

    /// Whether a model's price is known; the guide costs nothing.
    pub fn has_price(&self, model: &str) -> bool {
        let free = self.resolve(model).is_ok_and(|(provider, _)| provider.kind == ProviderKind::Guide);
        free || self.model_info(model).price.is_some()
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
            let mut provider = Provider::new(ProviderKind::Openai, url);
            (provider.key_env, provider.key) = (Some("SOME_KEY".into()), key.map(Secret::new));
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
