//! Typing, deleting, indenting.

use super::history::Kind;
use super::motion::Motion;
use super::{EditorBuffer, Selection, graphemes};
use crate::resources::delta::{Bias, Edit, Patch};
use crate::resources::lines;
use crate::resources::text::decode::with_endings;
use std::ops::Range;

/// What a deletion takes when nothing is selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delete {
    /// The cluster before the caret.
    Back,
    /// The cluster after it.
    Forward,
    /// To the start of the word before.
    WordBack,
    /// Past the end of the word after.
    WordForward,
    /// To the end of the line; at the end, the line end.
    ToLineEnd,
    /// The whole line with its end.
    Line,
}

impl EditorBuffer {
    /// Types or pastes text in the place of the selection; its line ends become those of the text.
    pub fn insert(&mut self, text: &str) {
        if text.is_empty() && self.selection.is_empty() {
            return;
        }
        let range = self.selection.range();
        let text = if text.contains('\n') { with_endings(text, self.ending(range.start)) } else { text.to_owned() };
        let kind = if range.is_empty() && !text.contains('\n') { Kind::Typing } else { Kind::Other };
        let caret = range.start + text.len();
        self.change(&Patch::replace(range, text), kind);
        self.selection = Selection::caret(graphemes::floor(&self.text, caret));
    }

    /// Opens a new line with the indentation of the present one.
    pub fn newline(&mut self) {
        let start = self.selection.range().start;
        let line_start = self.line_range(self.line_of(start)).start;
        let before = self.slice(line_start..start);
        let indent: String = before.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
        self.insert(&format!("\n{indent}"));
    }

    /// Deletes the selection, or what `what` says; tells whether something went.
    pub fn delete(&mut self, what: Delete) -> bool {
        let head = self.selection.head;
        let selected = !self.selection.is_empty();
        let range = if selected {
            self.selection.range()
        } else {
            match what {
                Delete::Back => graphemes::previous(&self.text, head)..head,
                Delete::Forward => head..graphemes::next(&self.text, head),
                Delete::WordBack => self.target(Motion::WordLeft, head, 0)..head,
                Delete::WordForward => head..self.target(Motion::WordRight, head, 0),
                Delete::ToLineEnd => match self.target(Motion::LineEnd, head, 0) {
                    end if end == head => head..graphemes::next(&self.text, head),
                    end => head..end,
                },
                Delete::Line => self.line_range(self.line_of(head)),
            }
        };
        if range.is_empty() {
            return false;
        }
        let kind = match what {
            Delete::Back | Delete::Forward if !selected => Kind::Deleting,
            _ => Kind::Other,
        };
        let caret = range.start;
        self.change(&Patch::replace(range, String::new()), kind);
        self.selection = Selection::caret(graphemes::floor(&self.text, caret));
        true
    }

    /// Puts `unit` before each selected line that is not empty.
    pub fn indent(&mut self, unit: &str) {
        let edits = self.selected_lines().filter_map(|line| {
            let range = self.line_range(line);
            let empty = lines::body(&self.slice(range.clone())).is_empty();
            (!empty).then(|| Edit { at: range.start, delete: 0, insert: unit.to_owned() })
        });
        self.change_lines(edits.collect());
    }

    /// Takes one step of indentation, at most `columns` spaces or one tab, off each selected line.
    pub fn outdent(&mut self, columns: usize) {
        let edits = self.selected_lines().filter_map(|line| {
            let range = self.line_range(line);
            let text = self.slice(range.clone());
            let delete = match text.strip_prefix('\t') {
                Some(_) => 1,
                None => text.chars().take(columns).take_while(|c| *c == ' ').count(),
            };
            (delete > 0).then(|| Edit { at: range.start, delete, insert: String::new() })
        });
        self.change_lines(edits.collect());
    }

    /// The lines that the selection touches; one that it only ends before is not.
    fn selected_lines(&self) -> Range<usize> {
        let range = self.selection.range();
        let first = self.line_of(range.start);
        let last = self.line_of(range.end);
        let ends_before = !range.is_empty() && last > first && self.line_range(last).start == range.end;
        first..last + usize::from(!ends_before)
    }

    fn change_lines(&mut self, edits: Vec<Edit>) {
        let Some(patch) = Patch::of_edits(edits) else { return };
        let shape = patch.shape();
        let Selection { anchor, head } = self.selection;
        self.history.pause();
        self.change(&patch, Kind::Other);
        let at = |byte| graphemes::floor(&self.text, shape.map(byte, Bias::After));
        self.selection = Selection { anchor: at(anchor), head: at(head) };
        self.history.pause();
    }

    /// The line end in use around a byte.
    fn ending(&self, byte: usize) -> &'static str {
        let line = self.line_of(byte);
        let text = self.line(line.saturating_sub(1));
        if text.ends_with("\r\n") { "\r\n" } else { "\n" }
    }
}
