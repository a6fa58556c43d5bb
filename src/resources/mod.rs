//! What people and agents edit together: one pure adapter per kind.
//!
//! The room owns the content of a Resource (r = identity, kind, content, revision): how it is cut
//! into parts that are kept once, how an operation changes it, how two changes merge, who wrote
//! what, and the editor's buffer. It knows no IO, no clock and no tokio: whoever keeps revisions
//! calls it, and what needs an engine is asked for as data ([`Step::Evaluate`]) and answered as
//! data ([`Evaluated`]).
//!
//! Read in this order: [`content`] (parts), [`adapter`] (the seam every kind fills), [`engine`]
//! (its port to engines), [`text`] (the kind `document`), [`merge`], [`rebase`], [`attribution`], [`summary`]
//! (Eq. 8), [`manifest`] and [`chunk`] (how a thousand revisions stay small), [`editor`].

pub mod adapter;
pub mod attribution;
pub mod chunk;
pub mod content;
pub mod delta;
pub mod diff;
pub mod editor;
pub mod engine;
pub mod lines;
pub mod manifest;
pub mod merge;
pub mod rebase;
pub mod refusal;
pub mod registry;
pub mod summary;
pub mod text;

#[cfg(test)]
pub(crate) mod dummy;
#[cfg(test)]
mod tests;

pub use adapter::{
    Adapter, Applied, Feedback, Finding, Foreign, Format, Node, Place, Rendering, Selected, Severity, Step, View,
};
pub use attribution::{Attribution, Author};
pub use content::{Content, Hash, Part};
pub use delta::{Bias, Patch};
pub use engine::{EngineFailure, EngineOutcome, EngineRequest, Evaluated, PartRef};
pub use merge::{Choice, Merge, Piece};
pub use refusal::Refusal;
pub use registry::Registry;
