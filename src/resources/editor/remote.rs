//! Others' commits, one's own saves, and what survives a crash.

use super::history::History;
use super::{EditorBuffer, Selection, graphemes};
use crate::domain::Actor;
use crate::resources::delta::{Bias, Patch, Shape};
use crate::resources::refusal::Refusal;
use ropey::Rope;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A place that somebody else changed, marked until one has looked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// What they wrote; empty where they only deleted.
    pub range: Range<usize>,
    /// Who.
    pub author: Actor,
    /// As which revision.
    pub revision: u64,
}

impl Mark {
    pub(super) fn follow(&mut self, shape: &Shape) {
        let start = shape.map(self.range.start, Bias::After);
        self.range = start..shape.map(self.range.end, Bias::Before).max(start);
    }
}

/// What a commit of somebody else did to the text on screen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Where text came or went.
    pub places: Vec<Range<usize>>,
    /// Where it met what is not saved yet: both are there now, and a person should look.
    pub meets: Vec<Range<usize>>,
}

/// A save to send as a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct Save {
    /// The revision it is based on.
    pub base: u64,
    /// The change.
    pub patch: Patch,
}

/// A save that was sent and not answered yet.
#[derive(Debug, Clone)]
pub(super) struct Saving {
    text: Rope,
    /// From what was sent to the text on screen.
    pub(super) after: Shape,
}

/// What is not saved yet, to keep outside of this process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The revision it is based on.
    pub base: u64,
    /// The change.
    pub patch: Patch,
    /// Where the selection began.
    pub anchor: usize,
    /// Where the caret was.
    pub head: usize,
}

impl EditorBuffer {
    /// Takes in a commit of somebody else: `patch` leads from the base's text to that of `revision`.
    ///
    /// One's own commit does not come here but to [`EditorBuffer::saved`]. A save that is on its way
    /// will be refused, since its base is no longer the newest; it is forgotten here and its text
    /// stays unsaved.
    pub fn apply_remote(&mut self, patch: &Patch, revision: u64, author: &Actor) -> Result<Arrival, Refusal> {
        if patch.reach() > self.base.len_bytes() {
            return Err(Refusal::Invalid {
                what: format!("the change to revision {revision} does not fit revision {}", self.revision),
            });
        }
        self.saving = None;
        self.forget_what_is_as_it_was();
        let meets = self.local.overlaps(patch);
        let (local, remote) = self.local.transform(patch);
        let shape = remote.shape();
        let selection = self.followed(&shape);
        graphemes::apply(&mut self.base, patch);
        graphemes::apply(&mut self.text, &remote);
        self.history.follow(&remote);
        for mark in &mut self.marks {
            mark.follow(&shape);
        }
        // Where the two met: from the base's bytes over both changes to the screen's.
        let on_screen = |byte: usize, bias| local.map(patch.map(byte, bias), bias);
        let meets = meets.into_iter().map(|range| {
            let start = on_screen(range.start, Bias::Before);
            start..on_screen(range.end, Bias::After).max(start)
        });
        let meets = meets.collect();
        let mut places = Vec::new();
        let mut moved = 0isize;
        for edit in shape.edits() {
            let start = edit.at.saturating_add_signed(moved);
            moved += edit.insert as isize - edit.delete as isize;
            places.push(start..start + edit.insert);
        }
        self.marks.extend(places.iter().map(|range| Mark { range: range.clone(), author: author.clone(), revision }));
        self.local = local;
        self.revision = revision;
        let at = |byte| graphemes::floor(&self.text, byte);
        self.selection = Selection { anchor: at(selection.anchor), head: at(selection.head) };
        Ok(Arrival { places, meets })
    }

    /// Whether a commit of somebody else changes what is changed here and not saved yet.
    pub fn meets(&self, patch: &Patch) -> bool {
        let mut plain = self.clone();
        plain.forget_what_is_as_it_was();
        !plain.local.overlaps(patch).is_empty()
    }

    /// What was typed and taken back changed nothing: it must not stand against what others write there.
    fn forget_what_is_as_it_was(&mut self) {
        let mut moved = 0isize;
        let mut edits = self.local.edits();
        edits.retain(|edit| {
            let now = edit.at.saturating_add_signed(moved);
            moved += edit.insert as isize - edit.delete as isize;
            self.differs(edit, now)
        });
        self.local = Shape::of_edits(edits).unwrap_or_default();
    }

    /// Where caret and selection go when the text changes under them.
    fn followed(&self, shape: &Shape) -> Selection {
        let Selection { anchor, head } = self.selection;
        if anchor == head {
            return Selection::caret(shape.map(head, self.caret_bias(head)));
        }
        // A selection does not grow by what is written at its edges.
        let range = self.selection.range();
        let start = shape.map(range.start, Bias::After);
        let end = shape.map(range.end, Bias::Before).max(start);
        if anchor < head { Selection { anchor: start, head: end } } else { Selection { anchor: end, head: start } }
    }

    /// What others changed since one has looked.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// One has looked.
    pub fn clear_marks(&mut self) {
        self.marks.clear();
    }

    /// One has looked at the first change of others at or after a byte, else at the first of all;
    /// gives where it is.
    pub fn look_at_next(&mut self, from: usize) -> Option<Range<usize>> {
        let next = |mark: &&Mark| mark.range.start >= from;
        let mark = self.marks.iter().filter(next).min_by_key(|mark| mark.range.start);
        let range = mark.or_else(|| self.marks.iter().min_by_key(|mark| mark.range.start))?.range.clone();
        self.marks.retain(|mark| mark.range != range);
        Some(range)
    }

    /// Begins a save: sends what is returned as a commit; `None` where nothing is to be saved or a
    /// save is on its way.
    pub fn save(&mut self) -> Option<Save> {
        if self.saving.is_some() || !self.is_dirty() {
            return None;
        }
        self.history.pause();
        let patch = self.to_patch();
        self.saving = Some(Saving { text: self.text.clone(), after: Shape::default() });
        Some(Save { base: self.revision, patch })
    }

    /// The save was accepted as `revision`; what was typed since stays unsaved. Tells whether a save
    /// was on its way.
    pub fn saved(&mut self, revision: u64) -> bool {
        let Some(saving) = self.saving.take() else { return false };
        self.base = saving.text;
        self.local = saving.after;
        self.revision = revision;
        true
    }

    /// The save was refused or got lost: its text stays unsaved.
    pub fn save_refused(&mut self) {
        self.saving = None;
    }

    /// What to keep outside of this process, so that a crash loses nothing typed.
    pub fn draft(&self) -> Option<Draft> {
        let Selection { anchor, head } = self.selection;
        self.is_dirty().then(|| Draft { base: self.revision, patch: self.to_patch(), anchor, head })
    }

    /// Opens the committed text of a draft's base and puts the draft back.
    pub fn restore(base: &str, draft: &Draft) -> Result<Self, Refusal> {
        let mut buffer = Self::open(base, draft.base);
        if draft.patch.apply(base).is_none() {
            return Err(Refusal::Damaged { why: format!("the unsaved text does not fit revision {}", draft.base) });
        }
        buffer.change(&draft.patch, super::history::Kind::Other);
        buffer.select(Selection { anchor: draft.anchor, head: draft.head });
        Ok(buffer)
    }

    /// Throws away what is not saved, history and all.
    pub fn discard(&mut self) {
        self.text = self.base.clone();
        self.local = Shape::default();
        self.saving = None;
        self.history = History::default();
        self.marks.clear();
        let at = |byte| graphemes::floor(&self.text, byte);
        self.selection = Selection { anchor: at(self.selection.anchor), head: at(self.selection.head) };
    }
}
