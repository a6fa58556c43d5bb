//! What goes wrong at the edge: a kind for programs, a message and a hint for people, an exit code.
//!
//! Every command ends in an [`Exit`] or a [`Fault`]; nothing below `cli` knows exit codes.

use crate::domain::Rejection;
use crate::domain::rejection::RejectionKind;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

/// How the program ends; the numbers are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed; the reason is on standard error.
    Failed = 1,
    /// Wrong use.
    Usage = 2,
    /// An approval or a question is open, and stays so.
    PersonNeeded = 3,
    /// The Task waits for background work.
    Background = 4,
    /// The model or its server failed for good.
    Model = 5,
    /// A budget ran out.
    Budget = 6,
    /// Cancelled or interrupted.
    Stopped = 7,
    /// Only a host: it had to end, and the next one may go on.
    Again = 75,
}

impl Exit {
    /// The number handed to the system.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// A failure, ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A stable word for programs, such as `not_found`.
    pub kind: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do; empty when nothing can be done.
    pub hint: String,
    /// How the program ends.
    pub exit: Exit,
}

impl Fault {
    /// A failure that ends with code 1.
    pub fn new(kind: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: hint.into(), exit: Exit::Failed }
    }

    /// Wrong use of the command line.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, ..Self::new("usage", message, hint) }
    }

    /// Something about a file: the verb and the path go in front of the system's words.
    pub fn io(verb: &str, path: &Path, error: &std::io::Error) -> Self {
        Self::new("io", format!("cannot {verb} {}: {error}", path.display()), "")
    }

    /// A fault of ours.
    pub fn bug(message: impl Into<String>) -> Self {
        Self::new("internal", format!("BUG: {}", message.into()), "please report this with what you did")
    }

    /// Whoever read our output has gone: nothing is said and nothing is wrong.
    pub fn closed_pipe() -> Self {
        Self { exit: Exit::Done, ..Self::new(CLOSED_PIPE, "", "") }
    }

    /// Whether it is only that nobody reads our output any more.
    pub fn is_closed_pipe(&self) -> bool {
        self.kind == CLOSED_PIPE
    }

    /// The form programs read.
    pub fn to_json(&self) -> Value {
        json!({ "error": { "kind": self.kind, "message": self.message, "hint": self.hint } })
    }
}

const CLOSED_PIPE: &str = "closed_pipe";

impl From<Rejection> for Fault {
    fn from(rejection: Rejection) -> Self {
        let (kind, exit) = match rejection.kind {
            RejectionKind::NotFound => ("not_found", Exit::Failed),
            RejectionKind::WrongState => ("wrong_state", Exit::Failed),
            RejectionKind::Invalid => ("invalid", Exit::Usage),
            RejectionKind::Forbidden => ("forbidden", Exit::Failed),
            RejectionKind::Budget => ("budget", Exit::Budget),
            RejectionKind::Storage => ("storage", Exit::Failed),
            RejectionKind::StaleFence => ("stale_fence", Exit::Failed),
            RejectionKind::Internal => ("internal", Exit::Failed),
        };
        Self { kind, message: rejection.message, hint: rejection.hint, exit }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_codes_are_those_of_the_contract() {
        let codes = [
            (Exit::Done, 0),
            (Exit::Failed, 1),
            (Exit::Usage, 2),
            (Exit::PersonNeeded, 3),
            (Exit::Background, 4),
            (Exit::Model, 5),
            (Exit::Budget, 6),
            (Exit::Stopped, 7),
        ];
        for (exit, code) in codes {
            assert_eq!(exit.code(), code);
        }
    }

    #[test]
    fn a_refusal_keeps_its_words_and_a_malformed_request_is_wrong_use() {
        let fault = Fault::from(Rejection::invalid("the message is empty", "say what you want done"));
        assert_eq!((fault.kind, fault.exit), ("invalid", Exit::Usage));
        assert_eq!(
            fault.to_json().to_string(),
            r#"{"error":{"kind":"invalid","message":"the message is empty","hint":"say what you want done"}}"#
        );
    }
}
