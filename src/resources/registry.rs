//! The kinds there are, by their word.

use super::adapter::Adapter;
use super::refusal::Refusal;
use super::text::Document;
use std::sync::Arc;

/// The adapters, one per kind.
#[derive(Clone)]
pub struct Registry {
    adapters: Vec<Arc<dyn Adapter>>,
}

impl Default for Registry {
    /// The kinds this program brings.
    fn default() -> Self {
        Self::new(vec![Arc::new(Document)])
    }
}

impl Registry {
    /// Registers adapters; where two have the same kind the later one holds.
    pub fn new(adapters: Vec<Arc<dyn Adapter>>) -> Self {
        Self { adapters }
    }

    /// The adapter of a kind.
    pub fn get(&self, kind: &str) -> Result<&Arc<dyn Adapter>, Refusal> {
        self.adapters.iter().rev().find(|adapter| adapter.kind() == kind).ok_or_else(|| Refusal::UnknownKind {
            kind: kind.to_owned(),
            known: self.kinds().map(str::to_owned).collect(),
        })
    }

    /// The words of all kinds.
    pub fn kinds(&self) -> impl Iterator<Item = &'static str> {
        self.adapters.iter().map(|adapter| adapter.kind())
    }
}
