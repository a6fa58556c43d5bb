//! The buffer of the editor: a text that one person edits while others commit to it.
//!
//! # Why not a text area from the shelf
//!
//! The text area that composer and fields use (tui-textarea, kept as ratatui-textarea 0.9) was held
//! against what a Resource's editor needs:
//!
//! * **Size**: it keeps `Vec<String>`. A line put in near the top of a 20 MB text moves half a
//!   million strings, its widget and its search walk all lines, and a copy for a save or a snapshot
//!   copies everything. A rope does each in microseconds, and a snapshot of it is free.
//! * **Remote edits**: there is no way to change the text but through the cursor, and every such
//!   change enters its history and moves the cursor.
//! * **Undo of one's own**: its history is one list of edits at fixed rows and columns; after a
//!   remote edit an undo deletes what somebody else wrote.
//! * **Line ends**: it splits lines and loses which of them ended with `\r\n`, and whether the last
//!   one ended at all.
//! * **Syntax colour and a gutter of authors**: it styles the cursor, the selection, one line and
//!   search hits; there is no hook for spans of a line, and the line number is the only gutter.
//! * **Clusters**: its cursor moves by `char`, so that it stops inside `👩‍👩‍👧‍👦`.
//!
//! What it does well (wrapping, mouse, masks) a pane can do over this buffer. So the text area stays
//! for composer and fields, and a Resource gets this.
//!
//! # How it works
//!
//! The buffer holds the committed text (`base`), the text on screen, and the shape of the change
//! between them. Others' commits come as patches of the base; they are transformed over what is not
//! saved yet, and the carets, marks and each step of the history are transformed over them: nothing
//! typed is lost, the caret stays at its character, and an undo takes back only one's own. There is
//! one truth, the revisions of the Resource, so this needs no CRDT: a save is a commit on the base's
//! revision like anybody's (`domain/decide/resource.rs`).
//!
//! All positions are bytes of the text on screen. Lines are counted from 0.

mod edit;
mod find;
mod graphemes;
mod history;
mod motion;
mod remote;

#[cfg(test)]
mod tests;

pub use edit::Delete;
pub use find::{Case, Pattern, Query};
pub use motion::{Motion, Reach};
pub use remote::{Arrival, Draft, Mark, Save};

use super::attribution::{Attribution, Author};
use super::delta::{Bias, Edit, Patch, Shape};
use history::History;
use ropey::Rope;
use std::borrow::Cow;
use std::ops::Range;

/// The caret and what is selected: from `anchor` to `head`, where the caret is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// Where the selection began.
    pub anchor: usize,
    /// Where the caret is.
    pub head: usize,
}

impl Selection {
    /// A caret without a selection.
    pub fn caret(at: usize) -> Self {
        Self { anchor: at, head: at }
    }
    /// The selected bytes.
    pub fn range(self) -> Range<usize> {
        self.anchor.min(self.head)..self.anchor.max(self.head)
    }
    /// Whether nothing is selected.
    pub fn is_empty(self) -> bool {
        self.anchor == self.head
    }
}

/// A text that one person edits while others commit to it.
#[derive(Debug, Clone)]
pub struct EditorBuffer {
    /// What is on screen.
    text: Rope,
    /// What is committed, and as which revision.
    base: Rope,
    revision: u64,
    /// From `base` to `text`.
    local: Shape,
    saving: Option<remote::Saving>,
    selection: Selection,
    /// The column that moving up and down aims at.
    goal: Option<usize>,
    history: History,
    marks: Vec<Mark>,
    tab: usize,
}

impl EditorBuffer {
    /// Opens a committed text.
    pub fn open(text: &str, revision: u64) -> Self {
        let text = Rope::from_str(text);
        Self {
            base: text.clone(),
            text,
            revision,
            local: Shape::default(),
            saving: None,
            selection: Selection::default(),
            goal: None,
            history: History::default(),
            marks: Vec::new(),
            tab: 4,
        }
    }

    /// How many columns a tab reaches at most.
    pub fn set_tab(&mut self, columns: usize) {
        self.tab = columns.max(1);
    }

    /// The whole text; copies it.
    pub fn text(&self) -> String {
        self.text.to_string()
    }

    /// The bytes of the text.
    pub fn len(&self) -> usize {
        self.text.len_bytes()
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.text.len_bytes() == 0
    }

    /// The revision that the text is based on.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// How many lines there are to put the caret on; a final line end opens an empty one.
    pub fn line_count(&self) -> usize {
        self.text.len_lines()
    }

    /// The line with its end; empty past the last.
    pub fn line(&self, line: usize) -> Cow<'_, str> {
        self.slice(self.line_range(line))
    }

    /// The bytes of a line with its end.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let count = self.text.len_lines();
        self.text.line_to_byte(line.min(count))..self.text.line_to_byte((line + 1).min(count))
    }

    /// The line that a byte is on.
    pub fn line_of(&self, byte: usize) -> usize {
        self.text.byte_to_line(byte.min(self.len()))
    }

    /// A piece of the text; the range must lie on the borders of characters.
    pub fn slice(&self, range: Range<usize>) -> Cow<'_, str> {
        graphemes::slice(&self.text, range)
    }

    /// The caret and the selection.
    pub fn selection(&self) -> Selection {
        self.selection
    }

    /// The selected text.
    pub fn selected(&self) -> Cow<'_, str> {
        self.slice(self.selection.range())
    }

    /// Puts the caret and the selection; positions go to the border of a cluster.
    pub fn select(&mut self, selection: Selection) {
        let at = |byte| graphemes::floor(&self.text, byte);
        self.selection = Selection { anchor: at(selection.anchor), head: at(selection.head) };
        self.goal = None;
        self.history.pause();
    }

    /// Whether there is something to save.
    pub fn is_dirty(&self) -> bool {
        let mut moved = 0isize;
        self.local.edits().iter().any(|edit| {
            let now = edit.at.saturating_add_signed(moved);
            moved += edit.insert as isize - edit.delete as isize;
            self.differs(edit, now)
        })
    }

    /// Whether an edit of the base, whose text now begins at `now`, is one.
    fn differs(&self, edit: &Edit<usize>, now: usize) -> bool {
        edit.insert != edit.delete
            || self.slice(now..now + edit.insert) != graphemes::slice(&self.base, edit.at..edit.at + edit.delete)
    }

    /// The whole committed text; copies it.
    pub fn base_text(&self) -> String {
        self.base.to_string()
    }

    /// Where a range of the text on screen lies in the committed text.
    pub fn base_range(&self, range: Range<usize>) -> Range<usize> {
        let at = |byte| graphemes::floor(&self.base, self.local.map_back(byte));
        let start = at(range.start);
        start..at(range.end).max(start)
    }

    /// What leads from the committed text to the text on screen.
    pub fn to_patch(&self) -> Patch {
        self.local.with_texts(|range| self.slice(range).into_owned())
    }

    /// The authors of lines, for a gutter; `attribution` is that of the base's revision.
    pub fn authors(&self, lines: Range<usize>, attribution: &Attribution) -> Vec<Option<Author>> {
        let ranges = lines.map(|line| self.line_range(line));
        super::attribution::authors(attribution, ranges, &self.local, |byte| self.base.byte_to_line(byte))
    }

    /// Applies a change of one's own.
    fn change(&mut self, patch: &Patch, kind: history::Kind) {
        if patch.is_empty() {
            return;
        }
        let inverse = patch.invert(|range| self.slice(range).into_owned());
        self.history.record(inverse, kind);
        self.carry_out(patch);
    }

    /// Puts a change of one's own into the text and all that hangs on it, but not the history.
    fn carry_out(&mut self, patch: &Patch) {
        let shape = patch.shape();
        graphemes::apply(&mut self.text, patch);
        self.local = self.local.compose(&shape);
        if let Some(saving) = &mut self.saving {
            saving.after = saving.after.compose(&shape);
        }
        for mark in &mut self.marks {
            mark.follow(&shape);
        }
        self.goal = None;
    }

    /// Takes back the last step of one's own; tells whether there was one.
    pub fn undo(&mut self) -> bool {
        self.replay(history::Direction::Undo)
    }

    /// Does again what was taken back last; tells whether there was something.
    pub fn redo(&mut self) -> bool {
        self.replay(history::Direction::Redo)
    }

    fn replay(&mut self, direction: history::Direction) -> bool {
        let Some(step) = self.history.take(direction) else { return false };
        let mut back = Vec::with_capacity(step.len());
        let mut caret = self.selection.head;
        for patch in step.into_iter().rev() {
            back.push(patch.invert(|range| self.slice(range).into_owned()));
            self.carry_out(&patch);
            if let Some(edit) = patch.edits().first() {
                caret = edit.at + edit.insert.len();
            }
        }
        self.history.put(direction, back);
        self.selection = Selection::caret(graphemes::floor(&self.text, caret));
        true
    }

    /// Takes a whole new text, such as another editor gives it back: one step of one's own, which
    /// touches as little as lines and words allow. Tells whether something changed.
    pub fn replace_with(&mut self, text: &str) -> bool {
        let patch = super::diff::patch_between(&self.text(), text);
        let head = patch.map(self.selection.head, Bias::Before);
        self.history.pause();
        self.change(&patch, history::Kind::Other);
        self.select(Selection::caret(head));
        !patch.is_empty()
    }

    /// Ends the present step of the history: what is typed next is undone apart.
    pub fn pause(&mut self) {
        self.history.pause();
    }

    /// Where a caret goes when the text around it changes: it stays with the character under it,
    /// at the end of a line with the one before it.
    fn caret_bias(&self, at: usize) -> Bias {
        let end = self.slice(at..graphemes::next(&self.text, at));
        if end.is_empty() || end.ends_with('\n') { Bias::Before } else { Bias::After }
    }
}
