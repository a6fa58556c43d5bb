//! Bringing a stale proposal up to the revision that stands.
//!
//! The law of commits itself (Eq. 7) is `domain/decide/resource.rs`: whoever decides knows revisions
//! by their numbers and hashes. What needs the contents is here.

use super::adapter::Adapter;
use super::content::Content;
use super::merge::{Merge, Piece};
use super::refusal::Refusal;

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
