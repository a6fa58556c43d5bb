//! The law of commits (Eq. 7), the same for people and agents.
//!
//! | base and current | what came | verdict |
//! |---|---|---|
//! | equal | an edit | accepted as the next revision |
//! | different | an edit | conflict: the proposal is kept as a Candidate |
//! | any | an outcome of an engine for an open or uncertain intent | as an edit of the intent's base |
//! | any | a late outcome for an intent that was already told as failed | conflict or kept: never accepted by itself |
//!
//! Deciding is pure; whoever keeps revisions asks inside the transaction that would write one.

use super::adapter::Adapter;
use super::content::Content;
use super::engine::EngineOutcome;
use super::merge::{Merge, Piece};
use super::refusal::Refusal;
use serde::{Deserialize, Serialize};

/// What becomes of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[must_use]
pub enum Admission {
    /// It becomes this revision.
    Accepted {
        /// The new revision.
        revision: u64,
    },
    /// Somebody was faster: it is kept as a Candidate with this conflict.
    Conflict {
        /// The revision it was made on.
        base: u64,
        /// The revision that stands.
        current: u64,
    },
}

/// Decides on an edit that its adapter accepts: `current` is the revision that stands, `base` the
/// one the edit was made on.
pub fn admit(current: u64, base: u64) -> Result<Admission, Refusal> {
    if base > current {
        let what = format!("revision {base} does not exist yet, the newest is {current}");
        return Err(Refusal::Invalid { what });
    }
    Ok(if base == current {
        Admission::Accepted { revision: current + 1 }
    } else {
        Admission::Conflict { base, current }
    })
}

/// The state of a durable intent to ask an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentState {
    /// It is being carried out.
    Intent,
    /// Its outcome is recorded.
    Done,
    /// It was told as failed.
    Failed,
    /// The one who carried it out is gone, and nobody knows how far it came.
    Uncertain,
}

/// What becomes of an outcome that arrives for an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Conclusion {
    /// Bring the outcome to the adapter; what it makes becomes this revision. The intent is done.
    Commit {
        /// The new revision.
        revision: u64,
    },
    /// Bring the outcome to the adapter; what it makes is kept as a Candidate in conflict. The
    /// intent is done.
    Conflict {
        /// The revision it was made on.
        base: u64,
        /// The revision that stands.
        current: u64,
    },
    /// It came after its failure was told: what the adapter makes of it is kept as a submitted
    /// Candidate, for somebody to accept; the intent stays failed.
    Keep,
    /// It failed; nothing changes but the intent.
    Failed,
    /// It is known already: nothing changes.
    Known,
}

/// Decides on an outcome: `base` is the revision the intent was made on.
pub fn conclude(state: IntentState, outcome: &EngineOutcome, current: u64, base: u64) -> Result<Conclusion, Refusal> {
    Ok(match (state, outcome) {
        (IntentState::Intent | IntentState::Uncertain, EngineOutcome::Evaluated { .. }) => {
            match admit(current, base)? {
                Admission::Accepted { revision } => Conclusion::Commit { revision },
                Admission::Conflict { base, current } => Conclusion::Conflict { base, current },
            }
        }
        (IntentState::Intent | IntentState::Uncertain, EngineOutcome::Failed { .. }) => Conclusion::Failed,
        (IntentState::Failed, EngineOutcome::Evaluated { .. }) => match admit(current, base)? {
            Admission::Accepted { .. } => Conclusion::Keep,
            Admission::Conflict { base, current } => Conclusion::Conflict { base, current },
        },
        (IntentState::Failed, EngineOutcome::Failed { .. })
        | (IntentState::Done, EngineOutcome::Evaluated { .. } | EngineOutcome::Failed { .. }) => Conclusion::Known,
    })
}

/// A stale proposal brought up to the revision that stands.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Rebased {
    /// The content of a new Candidate on the current revision.
    Candidate(Content),
    /// Somebody has to decide these pieces first.
    Conflicts(Vec<Piece>),
    /// The revision that stands holds all of it.
    Contained,
}

/// Brings a proposal that was made on `base` up to `current`.
pub fn rebase(
    adapter: &dyn Adapter,
    base: &Content,
    current: &Content,
    proposal: &Content,
) -> Result<Rebased, Refusal> {
    Ok(match adapter.merge(base, current, proposal)? {
        Merge::Merged(content) if &content == current => Rebased::Contained,
        Merge::Merged(content) => {
            adapter.validate(&content)?;
            Rebased::Candidate(content)
        }
        Merge::Conflicts(pieces) => Rebased::Conflicts(pieces),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::engine::EngineFailure;

    #[test]
    fn only_an_edit_of_the_revision_that_stands_becomes_the_next() {
        assert_eq!(admit(4, 4), Ok(Admission::Accepted { revision: 5 }));
        assert_eq!(admit(4, 2), Ok(Admission::Conflict { base: 2, current: 4 }));
        assert!(matches!(admit(4, 5), Err(Refusal::Invalid { .. })));
    }

    #[test]
    fn an_outcome_is_committed_once_and_a_late_one_never_by_itself() {
        let good = EngineOutcome::Evaluated { output: serde_json::Value::Null, parts: vec![] };
        let bad = EngineOutcome::Failed { failure: EngineFailure::TimedOut { limit_ms: 5 } };
        use IntentState::*;
        let table = [
            (Intent, &good, 3, Conclusion::Commit { revision: 4 }),
            (Intent, &good, 2, Conclusion::Conflict { base: 2, current: 3 }),
            (Intent, &bad, 3, Conclusion::Failed),
            (Uncertain, &good, 3, Conclusion::Commit { revision: 4 }),
            (Uncertain, &bad, 3, Conclusion::Failed),
            (Failed, &good, 3, Conclusion::Keep),
            (Failed, &good, 1, Conclusion::Conflict { base: 1, current: 3 }),
            (Failed, &bad, 3, Conclusion::Known),
            (Done, &good, 3, Conclusion::Known),
            (Done, &bad, 3, Conclusion::Known),
        ];
        for (state, outcome, base, expected) in table {
            assert_eq!(conclude(state, outcome, 3, base), Ok(expected), "{state:?} {base}");
        }
    }
}
