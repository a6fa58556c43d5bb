//! A refusal: why, and what to do about it, in the same words for people and for models.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a command was refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// A stable word for programs, such as `not_found`.
    pub kind: RejectionKind,
    /// What is wrong, one sentence.
    pub message: String,
    /// What to do, one sentence; empty when nothing can be done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// The classes of refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionKind {
    /// What was named does not exist.
    NotFound,
    /// What was asked does not fit the state things are in.
    WrongState,
    /// The request itself is malformed.
    Invalid,
    /// The actor may not do this.
    Forbidden,
    /// A budget is used up.
    Budget,
    /// The store can't take it now (disk full, damaged, locked).
    Storage,
    /// Another host owns the state now.
    StaleFence,
    /// A fault of ours.
    Internal,
}

impl Rejection {
    /// Builds a refusal.
    pub fn new(kind: RejectionKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into() }
    }
    /// What was named does not exist.
    pub fn not_found(what: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self::new(RejectionKind::NotFound, format!("{what} does not exist"), hint)
    }
    /// What was asked does not fit the state things are in.
    pub fn wrong_state(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RejectionKind::WrongState, message, hint)
    }
    /// The request itself is malformed.
    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(RejectionKind::Invalid, message, hint)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.hint.is_empty() {
            write!(f, " ({})", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}
