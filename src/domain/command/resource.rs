//! What can be done with Resources: the same deeds for everybody, written with a change of the
//! content as somebody asks for it ([`Change`]), and decided with the content as it is kept
//! ([`Made`]). Whoever takes a deed makes the one of the other, outside of any transaction.

use crate::domain::ids::*;
use crate::domain::records::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A deed, with the new content as `C`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum ResourceDeed<C> {
    /// Make one, with its first revision.
    Create { kind: String, name: String, task: Option<TaskId>, mirror: Option<String>, change: C },
    /// Edit the revision that stands; where another one stands by now, the edit becomes a Candidate.
    Commit {
        resource: ResourceId,
        base: u64,
        /// Who wrote it, where that is not the one who sends it.
        by: Option<Actor>,
        change: C,
    },
    /// Keep an edit apart, for somebody to accept.
    Propose { resource: ResourceId, base: u64, change: C },
    /// Work on one's own Candidate.
    Revise { candidate: CandidateId, change: C },
    /// Make a Candidate the next revision, under the same check as a commit.
    Accept { candidate: CandidateId },
    /// Decide against a Candidate, or take one's own back.
    Reject { candidate: CandidateId, because: Option<String> },
    /// Bring a Candidate up to the revision that stands, as a new Candidate.
    Rebase { candidate: CandidateId, onto: u64, change: C },
    /// Give it another name.
    Rename { resource: ResourceId, name: String },
    /// Tie it to a file, or to none.
    Mirror { resource: ResourceId, mirror: Option<String> },
    /// Take over what somebody wrote into its file, which held the revision `base` before. The runtime's own.
    Take { resource: ResourceId, base: u64, by: Actor, change: C },
    /// Record which revision its file holds, or why it can't. The runtime's own.
    Mirrored { resource: ResourceId, revision: Option<u64>, trouble: Option<String> },
    /// Take everything away that is kept of it.
    Remove { resource: ResourceId },
    /// Say which revision one knows.
    See { resource: ResourceId, revision: u64 },
    /// Say what one has selected; nothing, where nothing is.
    Select { resource: ResourceId, selection: Option<Selection> },
    /// Record an edit that an engine has to be asked for first. The runtime's own, in the name of who wants it.
    Intend {
        resource: ResourceId,
        base: u64,
        /// Who wrote it, where that is not the one who sends it.
        by: Option<Actor>,
        operation: Value,
        request: Value,
    },
    /// Record what the engine answered; without a change it failed.
    Conclude { intent: EngineIntentId, outcome: Value, change: Option<C> },
}

/// A new content, as somebody asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What it is made of.
    #[serde(flatten)]
    pub how: How,
    /// One line for the history; made from the change where it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub summary: String,
}

/// Where a new content comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// Operations of the kind on the base, one after the other.
    Operations(Vec<Value>),
    /// The whole text of a document, exactly as it is.
    Text(String),
    /// A file of this machine, as the kind reads it: its path.
    File(String),
    /// What an earlier revision held.
    Revision(u64),
    /// The merge of a Candidate with the revision it is brought up to: one choice for each piece
    /// that does not fit, in order.
    Merge(Vec<Value>),
    /// An empty one.
    Blank,
}

/// A deed that is to be decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceCommand {
    /// The Run whose agent does it; absent: a person, or whoever acts for a file or a Job.
    pub run: Option<RunId>,
    /// What is done.
    pub deed: ResourceDeed<Made>,
}

impl<C> ResourceDeed<C> {
    /// The Resource it names.
    pub fn resource(&self) -> Option<&ResourceId> {
        match self {
            Self::Commit { resource, .. }
            | Self::Propose { resource, .. }
            | Self::Rename { resource, .. }
            | Self::Mirror { resource, .. }
            | Self::Take { resource, .. }
            | Self::Mirrored { resource, .. }
            | Self::Remove { resource }
            | Self::See { resource, .. }
            | Self::Select { resource, .. }
            | Self::Intend { resource, .. } => Some(resource),
            Self::Create { .. }
            | Self::Revise { .. }
            | Self::Accept { .. }
            | Self::Reject { .. }
            | Self::Rebase { .. }
            | Self::Conclude { .. } => None,
        }
    }

    /// Its name: what a call of an agent does once.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Commit { .. } => "commit",
            Self::Propose { .. } => "propose",
            Self::Revise { .. } => "revise",
            Self::Accept { .. } => "accept",
            Self::Reject { .. } => "reject",
            Self::Rebase { .. } => "rebase",
            Self::Rename { .. } => "rename",
            Self::Mirror { .. } => "mirror",
            Self::Take { .. } => "take",
            Self::Mirrored { .. } => "mirrored",
            Self::Remove { .. } => "remove",
            Self::See { .. } => "see",
            Self::Select { .. } => "select",
            Self::Intend { .. } => "intend",
            Self::Conclude { .. } => "conclude",
        }
    }

    /// The Candidate it names.
    pub fn candidate(&self) -> Option<&CandidateId> {
        match self {
            Self::Revise { candidate, .. }
            | Self::Accept { candidate }
            | Self::Reject { candidate, .. }
            | Self::Rebase { candidate, .. } => Some(candidate),
            Self::Create { .. }
            | Self::Commit { .. }
            | Self::Propose { .. }
            | Self::Rename { .. }
            | Self::Mirror { .. }
            | Self::Take { .. }
            | Self::Mirrored { .. }
            | Self::Remove { .. }
            | Self::See { .. }
            | Self::Select { .. }
            | Self::Intend { .. }
            | Self::Conclude { .. } => None,
        }
    }
}
