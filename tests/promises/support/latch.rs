//! A gate between a test and the scripted server: the one says it has arrived, the other lets it go on.

use super::watch::{PATIENCE, Watch};
use std::sync::Arc;
use std::time::Duration;

/// A gate that opens once. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Latch(Arc<Watch<Gate>>);

#[derive(Debug, Default)]
struct Gate {
    reached: bool,
    open: bool,
}

impl Latch {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens the gate.
    pub fn release(&self) {
        self.0.change(|gate| gate.open = true);
    }

    /// Waits until somebody stands at the gate.
    #[track_caller]
    pub fn wait_reached(&self) {
        assert!(self.0.wait(PATIENCE, |gate| gate.reached).is_ok(), "nobody came to the latch within {PATIENCE:?}");
    }

    /// Says that somebody stands at the gate.
    pub(super) fn arrive(&self) {
        self.0.change(|gate| gate.reached = true);
    }

    /// Waits at the gate for at most `limit`; says whether it is open.
    pub(super) fn wait_open(&self, limit: Duration) -> bool {
        self.0.wait(limit, |gate| gate.open).is_ok()
    }
}
