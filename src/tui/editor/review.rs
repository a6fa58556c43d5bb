//! Looking back and deciding: the revisions of a document with a slider, and its Candidates.

use crate::domain::{Candidate, ContentOf, ResourceId, Revision};

/// The revisions of a document, one of them shown against the one before it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The revisions, oldest first.
    pub revisions: Vec<Revision>,
    /// The one that is shown.
    pub at: usize,
    /// The difference to the one before it.
    pub diff: Difference,
}

/// The Candidates of a document, one of them shown against what it was made on.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Review {
    /// Those that can still become something, newest first.
    pub candidates: Vec<Candidate>,
    /// The one that is shown.
    pub at: usize,
    /// What it changes.
    pub diff: Difference,
}

/// A difference on screen.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Difference {
    /// What was asked for.
    pub of: Option<ContentOf>,
    /// As lines with signs; absent until it is there.
    pub text: Option<String>,
    /// How far it is scrolled.
    pub scroll: usize,
}

impl Difference {
    /// Waits for the difference of this.
    pub fn wait(of: ContentOf) -> Self {
        Self { of: Some(of), text: None, scroll: 0 }
    }
}

/// The content of a revision.
pub fn revision(resource: &ResourceId, number: u64) -> ContentOf {
    ContentOf::Revision { resource: resource.clone(), number: Some(number) }
}

impl History {
    /// The revision that is shown.
    pub fn shown(&self) -> Option<&Revision> {
        self.revisions.get(self.at)
    }
}

impl Review {
    /// The Candidate that is shown.
    pub fn shown(&self) -> Option<&Candidate> {
        self.candidates.get(self.at)
    }
}
