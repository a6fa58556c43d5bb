//! The history of one's own changes: steps to take back, each transformed over what others wrote.
//!
//! A step is a list of changes to apply in turn, the last first. The top step fits the text as it
//! is; each one below fits the text that the one above leaves.

use crate::resources::delta::Patch;

/// How many steps are kept.
const STEPS: usize = 10_000;

/// What a change is, for joining neighbours into one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text typed at the caret.
    Typing,
    /// A cluster deleted at the caret.
    Deleting,
    /// Anything else: a step of its own.
    Other,
}

/// Which way to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Take back.
    Undo,
    /// Do again.
    Redo,
}

/// Steps back and forth.
#[derive(Debug, Clone, Default)]
pub struct History {
    undo: Vec<Vec<Patch>>,
    redo: Vec<Vec<Patch>>,
    /// The kind of the open step, which the next change of that kind joins.
    open: Option<Kind>,
}

impl History {
    /// Records the inverse of a change that is about to be made.
    pub fn record(&mut self, inverse: Patch, kind: Kind) {
        self.redo.clear();
        let joins = kind != Kind::Other && self.open == Some(kind);
        match self.undo.last_mut().and_then(|step| step.last_mut()).filter(|_| joins) {
            Some(last) => *last = inverse.compose(last),
            None => {
                if self.undo.len() == STEPS {
                    self.undo.remove(0);
                }
                self.undo.push(vec![inverse]);
            }
        }
        self.open = Some(kind);
    }

    /// The next change begins a step of its own.
    pub fn pause(&mut self) {
        self.open = None;
    }

    /// Takes the next step.
    pub fn take(&mut self, direction: Direction) -> Option<Vec<Patch>> {
        self.open = None;
        match direction {
            Direction::Undo => self.undo.pop(),
            Direction::Redo => self.redo.pop(),
        }
    }

    /// Keeps the way back of a step that was taken.
    pub fn put(&mut self, direction: Direction, back: Vec<Patch>) {
        match direction {
            Direction::Undo => self.redo.push(back),
            Direction::Redo => self.undo.push(back),
        }
    }

    /// Carries every step over what somebody else wrote.
    pub fn follow(&mut self, remote: &Patch) {
        for steps in [&mut self.undo, &mut self.redo] {
            let mut over = remote.clone();
            for patch in steps.iter_mut().rev().flat_map(|step| step.iter_mut().rev()) {
                (*patch, over) = patch.transform(&over);
                if over.is_empty() {
                    break;
                }
            }
        }
    }
}
