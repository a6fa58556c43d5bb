//! Changes of the text and moves of the caret: over whole clusters, and by rows as they are drawn.

use super::super::text::width;
use super::Composer;
use super::rows::Row;
use tui_textarea::CursorMove;
use unicode_segmentation::UnicodeSegmentation;

/// One change of the text or move of the caret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Types a character.
    Insert(char),
    /// Begins a new line.
    Newline,
    /// Deletes the cluster before the caret.
    Backspace,
    /// Deletes the cluster after the caret.
    Delete,
    /// Deletes the word before the caret.
    BackspaceWord,
    /// Deletes the word after the caret.
    DeleteWord,
    /// Deletes to the start of the line.
    KillToStart,
    /// Deletes to the end of the line.
    KillToEnd,
    /// Puts back what was deleted last.
    Yank,
    /// Takes the last change back.
    Undo,
    /// Makes it again.
    Redo,
    /// One cluster to the left.
    Left,
    /// One cluster to the right.
    Right,
    /// One word to the left.
    WordLeft,
    /// One word to the right.
    WordRight,
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// To the start of the line.
    Home,
    /// To the end of the line.
    End,
}

impl Composer {
    /// Makes one change; says whether the text is another one now.
    pub fn edit(&mut self, edit: Edit) -> bool {
        if !matches!(edit, Edit::Up | Edit::Down) {
            self.goal = None;
        }
        let changed = match edit {
            Edit::Insert(c) => {
                self.area.insert_char(c);
                true
            }
            Edit::Newline => {
                self.area.insert_newline();
                true
            }
            Edit::Backspace => self.backspace(),
            Edit::Delete => self.area.delete_str(self.cluster_after().max(1)),
            Edit::BackspaceWord => self.area.delete_word(),
            Edit::DeleteWord => self.area.delete_next_word(),
            Edit::KillToStart => self.area.delete_line_by_head(),
            Edit::KillToEnd => self.area.delete_line_by_end(),
            // The library takes an empty cut for one that can be pasted, and panics.
            Edit::Yank => !self.area.yank_text().is_empty() && self.area.paste(),
            Edit::Undo => self.area.undo(),
            Edit::Redo => self.area.redo(),
            Edit::Left => self.step_left(),
            Edit::Right => self.step_right(),
            Edit::WordLeft => self.moved(CursorMove::WordBack),
            Edit::WordRight => self.moved(CursorMove::WordForward),
            Edit::Home => self.moved(CursorMove::Head),
            Edit::End => self.moved(CursorMove::End),
            Edit::Up => self.move_rows(-1),
            Edit::Down => self.move_rows(1),
        };
        if changed {
            self.recalled = None;
            self.changed();
        }
        changed
    }

    pub(super) fn line(&self) -> (&str, usize) {
        let cursor = self.area.cursor();
        (self.area.lines().get(cursor.0).map_or("", String::as_str), cursor.1)
    }

    /// How many characters the cluster after the caret has.
    pub(super) fn cluster_after(&self) -> usize {
        let (line, at) = self.line();
        let rest: String = line.chars().skip(at).collect();
        rest.graphemes(true).next().map_or(0, |cluster| cluster.chars().count())
    }

    /// How many characters the cluster before the caret has.
    pub(super) fn cluster_before(&self) -> usize {
        let (line, at) = self.line();
        let head: String = line.chars().take(at).collect();
        head.graphemes(true).next_back().map_or(0, |cluster| cluster.chars().count())
    }

    pub(super) fn backspace(&mut self) -> bool {
        match self.cluster_before() {
            0 | 1 => self.area.delete_char(),
            several => {
                self.step_left();
                self.area.delete_str(several)
            }
        }
    }

    pub(super) fn step_left(&mut self) -> bool {
        let cursor = self.area.cursor();
        match self.cluster_before() {
            0 => self.area.move_cursor(CursorMove::Back),
            several => self.go(cursor.0, cursor.1 - several),
        }
        false
    }

    pub(super) fn step_right(&mut self) -> bool {
        let cursor = self.area.cursor();
        match self.cluster_after() {
            0 => self.area.move_cursor(CursorMove::Forward),
            several => self.go(cursor.0, cursor.1 + several),
        }
        false
    }

    pub(super) fn moved(&mut self, how: CursorMove) -> bool {
        self.area.move_cursor(how);
        false
    }

    pub(super) fn move_rows(&mut self, by: isize) -> bool {
        let (row, column) = self.caret();
        let goal = *self.goal.get_or_insert(column);
        let Some(target) = row.checked_add_signed(by).and_then(|row| self.rows.get(row)) else { return false };
        let (mut at, mut used) = (target.start, 0);
        let line = self.area.lines().get(target.line).map_or("", String::as_str);
        let row: String = line.chars().skip(target.start).take(target.end - target.start).collect();
        for cluster in row.graphemes(true) {
            used += width(&self.drawn(cluster).0);
            let next = at + cluster.chars().count();
            let last_of_line = next < target.end || self.is_end_of_line(target);
            if used > goal || !last_of_line {
                break;
            }
            at = next;
        }
        let line = target.line;
        self.go(line, at);
        false
    }

    /// Whether a row is the last one of its line: only there the caret may stand behind it.
    pub(super) fn is_end_of_line(&self, row: &Row) -> bool {
        !self.rows.iter().any(|other| other.line == row.line && other.start == row.end && other.start > row.start)
    }

    pub(super) fn go(&mut self, line: usize, column: usize) {
        match (u16::try_from(line), u16::try_from(column)) {
            (Ok(line), Ok(column)) => self.area.move_cursor(CursorMove::Jump(line, column)),
            _ => {
                self.area.move_cursor(CursorMove::Top);
                for _ in 0..line {
                    self.area.move_cursor(CursorMove::Down);
                }
                self.area.move_cursor(CursorMove::Head);
                for _ in 0..column {
                    self.area.move_cursor(CursorMove::Forward);
                }
            }
        }
    }
}
