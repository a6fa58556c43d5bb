//! Resources: what people and agents edit together, their revisions, and proposals kept apart.
//!
//! The content itself is no record: it is kept in pieces under the hash of its list, and a record
//! names that hash.

use super::{Actor, words};
use crate::domain::changes::Digest;
use crate::domain::ids::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ops::Range;

words! {
    /// The state of a Candidate.
    CandidateState {
        /// Its author works on it.
        Draft = "draft",
        /// It is to be looked at.
        Submitted = "submitted",
        /// The Resource went on without it: it has to be rebased first.
        Conflict = "conflict",
        /// It became a revision.
        Accepted = "accepted",
        /// Somebody decided against it.
        Rejected = "rejected",
        /// Its author took it back, or all of it is in the Resource already.
        Withdrawn = "withdrawn",
        /// Another one on a newer revision took its place.
        Rebased = "rebased" }
    /// The state of an intent to ask an engine.
    EngineState {
        /// It is being carried out.
        Intent = "intent",
        /// Its outcome is recorded.
        Done = "done",
        /// It was told as failed.
        Failed = "failed",
        /// Whoever carried it out is gone, and nobody knows how far it came.
        Uncertain = "uncertain" }
}

impl CandidateState {
    /// Whether something can still become of it.
    pub fn is_open(self) -> bool {
        match self {
            Self::Draft | Self::Submitted | Self::Conflict => true,
            Self::Accepted | Self::Rejected | Self::Withdrawn | Self::Rebased => false,
        }
    }
}

/// A shared object: identity, kind, and the revision that stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    /// Its id.
    pub id: ResourceId,
    /// Its kind, such as `document`.
    pub kind: String,
    /// What a person calls it.
    pub name: String,
    /// The Task it belongs to; absent: it is everybody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The file it is tied to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
    /// The revision which that file held when both were looked at last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_file: Option<u64>,
    /// Why that file and the Resource can't follow each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The revision that stands.
    pub revision: u64,
    /// When it was made.
    pub created_at: Millis,
    /// When that revision was committed.
    pub updated_at: Millis,
    /// Who wrote that revision.
    pub updated_by: Actor,
}

/// A content that is kept, and what is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// The hash of the list of its pieces.
    pub content: String,
    /// Its size.
    pub size: u64,
    /// One line for the history.
    pub summary: String,
    /// What is told to others of the change.
    #[serde(default)]
    pub digest: Digest,
}

/// An accepted state of a Resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// Whose.
    pub resource: ResourceId,
    /// From 0, without gaps.
    pub number: u64,
    /// The revision it was made on; absent for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<u64>,
    /// Who wrote it.
    pub actor: Actor,
    /// Who accepted it, where it was a Candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<Actor>,
    /// The Candidate it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<CandidateId>,
    /// Its content, and what is told of it.
    #[serde(flatten)]
    pub made: Made,
    /// When.
    pub at: Millis,
}

/// A proposal kept apart from its Resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its id.
    pub id: CandidateId,
    /// What it is to change.
    pub resource: ResourceId,
    /// The revision it was made on.
    pub base: u64,
    /// Who made it.
    pub actor: Actor,
    /// Its state.
    pub state: CandidateState,
    /// Its content, and what is told of it.
    #[serde(flatten)]
    pub made: Made,
    /// Why somebody decided against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Who settled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_by: Option<Actor>,
    /// The revision it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The one that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebased_to: Option<CandidateId>,
    /// When it was made.
    pub at: Millis,
}

/// What somebody knows of a Resource, and has selected in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceView {
    /// Who.
    pub actor: Actor,
    /// Of what.
    pub resource: ResourceId,
    /// The last revision it knows.
    pub seen: u64,
    /// What it has selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
}

/// Something selected in a Resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// In which revision.
    pub revision: u64,
    /// In which part.
    pub part: String,
    /// The bytes of it, where the part is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Range<usize>>,
    /// The elements, for kinds that have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
    /// What a model is told of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub told: String,
}

/// An edit that asks an engine first: recorded before the engine is asked, so that a crash can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineIntent {
    /// Its id.
    pub id: EngineIntentId,
    /// What it is to change.
    pub resource: ResourceId,
    /// The revision it was made on.
    pub base: u64,
    /// Who wants it.
    pub actor: Actor,
    /// The operation, in the words of the kind.
    pub operation: Value,
    /// What the engine is asked.
    pub request: Value,
    /// Its state.
    pub state: EngineState,
    /// What came back; bytes are kept apart by their hash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Value>,
    /// When it was recorded.
    pub at: Millis,
}
