//! What was used, and the limits the runtime enforces.

use serde::{Deserialize, Serialize};

/// What has been used up: counted by the runtime, never by the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Model turns.
    pub turns: u64,
    /// Tokens sent, as the server counted them, unless `estimated`.
    pub input_tokens: u64,
    /// Of those, tokens the server had cached.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Some of the tokens, and so of the money, are an estimate of ours: a server counted none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Millionths of a US dollar; absent when no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "usd", with = "usd")]
    pub micro_usd: Option<i64>,
    /// Milliseconds in which a Run was running.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub run_ms: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Writes money as dollars for people and programs; keeps it as whole millionths inside.
mod usd {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub fn serialize<S: Serializer>(micro: &Option<i64>, s: S) -> Result<S::Ok, S::Error> {
        micro.map(|m| m as f64 / 1e6).serialize(s)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<i64>, D::Error> {
        Ok(Option::<f64>::deserialize(d)?.map(|usd| (usd * 1e6).round() as i64))
    }
}

impl Usage {
    /// A turn of so many bytes that nobody counted: some 3.7 of them make a token.
    pub fn estimate(sent: usize, received: usize) -> Self {
        let tokens = |bytes: usize| (bytes as u64 * 10).div_ceil(37);
        Self {
            turns: 1,
            input_tokens: tokens(sent),
            output_tokens: tokens(received),
            estimated: true,
            ..Self::default()
        }
    }

    /// Adds another count; money stays unknown only while no part of it is known.
    pub fn add(&mut self, other: &Usage) {
        self.turns += other.turns;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.estimated |= other.estimated;
        self.run_ms += other.run_ms;
        self.micro_usd = match (self.micro_usd, other.micro_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
        };
    }
}

/// Limits that the runtime enforces; absent means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Model turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Tokens, sent and received together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Seconds in which a Run was running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<i64>,
}

impl Budget {
    /// Names the first budget that is used up, with both numbers, or nothing.
    pub fn exhausted_by(&self, used: &Usage) -> Option<String> {
        let tokens = used.input_tokens + used.output_tokens;
        if let Some(limit) = self.turns.filter(|limit| used.turns >= *limit) {
            return Some(format!("turns: {} of {limit} used", used.turns));
        }
        if let Some(limit) = self.tokens.filter(|limit| tokens >= *limit) {
            return Some(format!("tokens: {tokens} of {limit} used"));
        }
        if let Some(limit) = self.seconds.filter(|limit| used.run_ms >= limit.saturating_mul(1000)) {
            return Some(format!("seconds: {} of {limit} used", used.run_ms / 1000));
        }
        let spent = used.micro_usd.unwrap_or(0);
        if let Some(limit) = self.micro_usd.filter(|limit| spent >= *limit) {
            return Some(format!("usd: {:.4} of {:.4} used", spent as f64 / 1e6, limit as f64 / 1e6));
        }
        None
    }
}
