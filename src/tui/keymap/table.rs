//! The table of keys and commands: every command has a name, and a key where it has one.

mod agents;
mod chat;
mod documents;
mod jobs;
mod overlays;
mod revisions;
mod writing;

use super::Binding;

/// The parts of the table, in the order in which they are shown.
static PARTS: &[&[Binding]] =
    &[writing::KEYS, chat::KEYS, agents::KEYS, jobs::KEYS, documents::KEYS, revisions::KEYS, overlays::KEYS];

/// The table. Of two rows with one key the one of the narrower place holds.
pub fn table() -> impl Iterator<Item = &'static Binding> {
    PARTS.iter().copied().flatten()
}
