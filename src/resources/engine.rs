//! The port to engines: a request as data out, an outcome as data in.
//!
//! Nothing here runs anything. Whoever runs engines keeps the request as a durable intent, carries
//! it out outside of any transaction, keeps the bytes that came back, and then brings the outcome
//! to the adapter that asked. Both sides survive a crash between any two of these steps, because
//! both are plain data.

use super::content::{Content, Hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A part that is named, not carried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRef {
    /// The name of the part.
    pub name: String,
    /// What it is.
    pub media_type: String,
    /// Of all of its bytes.
    pub hash: Hash,
    /// How many bytes.
    pub size: u64,
}

impl PartRef {
    /// Names every part of a content.
    pub fn of(content: &Content) -> Vec<Self> {
        content
            .iter()
            .map(|(name, part)| Self {
                name: name.to_owned(),
                media_type: part.media_type.clone(),
                hash: Hash::of(&part.bytes),
                size: part.bytes.len() as u64,
            })
            .collect()
    }
}

/// What an engine is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineRequest {
    /// Which engine, such as `pandoc`.
    pub engine: String,
    /// What it shall do, in the engine's own words.
    pub action: String,
    /// The arguments; small.
    pub input: Value,
    /// The parts of the base content it needs.
    pub parts: Vec<PartRef>,
    /// How long it may take before it is stopped.
    pub limit_ms: u64,
}

/// What came back from an engine, with its bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// Figures, diagnostics and whatever else is small.
    pub output: Value,
    /// The parts it made.
    pub parts: Content,
}

/// The record of what an engine did; the bytes of its parts are kept by their hashes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum EngineOutcome {
    /// It answered.
    Evaluated {
        /// Figures and diagnostics.
        output: Value,
        /// The parts it made.
        parts: Vec<PartRef>,
    },
    /// It did not.
    Failed {
        /// How.
        #[serde(flatten)]
        failure: EngineFailure,
    },
}

impl Evaluated {
    /// What is recorded of it.
    pub fn record(&self) -> EngineOutcome {
        EngineOutcome::Evaluated { output: self.output.clone(), parts: PartRef::of(&self.parts) }
    }
}

/// How an engine failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(tag = "failure", rename_all = "snake_case")]
pub enum EngineFailure {
    /// It is not on this machine.
    #[error("{engine} is not installed; {install}")]
    Missing {
        /// Which.
        engine: String,
        /// The command that installs it.
        install: String,
    },
    /// It refused the input.
    #[error("{message}")]
    Refused {
        /// In its own words, bounded.
        message: String,
    },
    /// It died.
    #[error("the engine crashed: {message}")]
    Crashed {
        /// What is known.
        message: String,
    },
    /// It took too long.
    #[error("the engine did not answer within {limit_ms} ms")]
    TimedOut {
        /// The limit.
        limit_ms: u64,
    },
}
