//! Replays what was done for a wish: a deed asks for its calls in order, gets the results that are
//! there, and stops at the first that is not.

use super::Call;
use crate::domain::ToolCallState;
use serde_json::Value;

/// A call that was made, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Made {
    pub(super) tool: String,
    pub(super) arguments: Value,
    pub(super) result: Told,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// How it ended; none was saved where the history is broken.
    pub(super) outcome: Option<ToolCallState>,
    /// The words.
    pub(super) text: String,
    /// There was a picture with them.
    pub(super) picture: bool,
}

impl Told {
    /// The words, if the call was kept from running or was stopped, rather than tried.
    pub(super) fn refusal(&self) -> Option<&str> {
        let kept_from = match self.outcome {
            Some(ToolCallState::Denied | ToolCallState::Cancelled) | None => true,
            Some(
                ToolCallState::Done
                | ToolCallState::Error
                | ToolCallState::Uncertain
                | ToolCallState::Planned
                | ToolCallState::AwaitingApproval
                | ToolCallState::Approved
                | ToolCallState::Running,
            ) => false,
        };
        kept_from.then_some(self.text.as_str())
    }

    /// Whether it did what it should.
    pub(super) fn is_done(&self) -> bool {
        self.outcome == Some(ToolCallState::Done)
    }

    /// The words of a call that did what it should.
    pub(super) fn done(&self) -> Option<&str> {
        self.is_done().then_some(self.text.as_str())
    }

    /// Whether nobody knows what it did.
    pub(super) fn is_uncertain(&self) -> bool {
        self.outcome == Some(ToolCallState::Uncertain)
    }
}

/// The calls that were made in this round, handed out in order.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    made: std::vec::IntoIter<Made>,
    wanted: Vec<Call>,
}

impl Steps {
    pub(super) fn new(made: Vec<Made>) -> Self {
        Self { made: made.into_iter(), wanted: Vec::new() }
    }

    /// The result of a call; `None` notes that it must be made first.
    pub(super) fn call(&mut self, tool: &'static str, arguments: Value) -> Option<Told> {
        self.all(vec![Call::new(tool, arguments)])?.pop()
    }

    /// The results of several calls that may run side by side.
    pub(super) fn all(&mut self, calls: Vec<Call>) -> Option<Vec<Told>> {
        let mut results = Vec::with_capacity(calls.len());
        for call in calls {
            // The order alone tells which result belongs to which call, since the same words lead
            // to the same calls; arguments may have been redacted on their way to the disk.
            match self.made.find(|made| made.tool == call.tool) {
                Some(made) => results.push(made.result),
                None => self.wanted.push(call),
            }
        }
        self.wanted.is_empty().then_some(results)
    }

    /// The calls to be made now.
    pub(super) fn into_wanted(self) -> Vec<Call> {
        self.wanted
    }
}
