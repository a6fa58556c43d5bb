//! Moving the caret.

use super::{EditorBuffer, Selection, graphemes};
use crate::resources::lines;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Where the caret goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// One cluster back.
    Left,
    /// One cluster on.
    Right,
    /// To the start of the word before.
    WordLeft,
    /// Past the end of the word after.
    WordRight,
    /// So many lines up, in the same column.
    Up(usize),
    /// So many lines down, in the same column.
    Down(usize),
    /// To the first character of the line that is no space, or to its start.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the start of the text.
    Start,
    /// To its end.
    End,
    /// To a line, from 0.
    Line(usize),
    /// To a byte.
    To(usize),
}

/// Whether a motion selects what it passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The selection ends.
    Move,
    /// The selection grows.
    Extend,
}

impl EditorBuffer {
    /// Moves the caret.
    pub fn go(&mut self, motion: Motion, reach: Reach) {
        self.history.pause();
        let head = self.selection.head;
        let vertical = matches!(motion, Motion::Up(_) | Motion::Down(_));
        let goal = vertical.then(|| self.goal.unwrap_or_else(|| self.column(head)));
        let selected = (!self.selection.is_empty() && reach == Reach::Move).then(|| self.selection.range());
        let target = match (motion, selected) {
            // Leaving a selection sideways goes to its edge.
            (Motion::Left, Some(range)) => range.start,
            (Motion::Right, Some(range)) => range.end,
            _ => self.target(motion, head, goal.unwrap_or(0)),
        };
        let target = graphemes::floor(&self.text, target);
        let anchor = match reach {
            Reach::Move => target,
            Reach::Extend => self.selection.anchor,
        };
        self.selection = Selection { anchor, head: target };
        self.goal = goal;
    }

    pub(super) fn target(&self, motion: Motion, head: usize, goal: usize) -> usize {
        let line = self.line_of(head);
        let last = self.line_count() - 1;
        match motion {
            Motion::Left => graphemes::previous(&self.text, head),
            Motion::Right => graphemes::next(&self.text, head),
            Motion::WordLeft => self.word_left(head),
            Motion::WordRight => self.word_right(head),
            Motion::Up(n) if line == 0 && n > 0 => 0,
            Motion::Up(n) => self.at_column(line.saturating_sub(n), goal),
            Motion::Down(n) if line == last && n > 0 => self.len(),
            Motion::Down(n) => self.at_column(line.saturating_add(n).min(last), goal),
            Motion::LineStart => {
                let start = self.line_range(line).start;
                let text = self.line(line);
                let body = lines::body(&text);
                let first = start + body.len() - body.trim_start().len();
                if head == first || body.trim_start().is_empty() { start } else { first }
            }
            Motion::LineEnd => self.line_range(line).start + lines::body(&self.line(line)).len(),
            Motion::Start => 0,
            Motion::End => self.len(),
            Motion::Line(line) => self.line_range(line.min(last)).start,
            Motion::To(byte) => byte,
        }
    }

    /// The column of a byte on its line, as a terminal counts it.
    pub fn column(&self, byte: usize) -> usize {
        let start = self.line_range(self.line_of(byte)).start;
        self.slice(start..byte).graphemes(true).fold(0, |column, cluster| column + self.width(cluster, column))
    }

    /// The byte on a line at a column, or the last one before it.
    pub fn at_column(&self, line: usize, column: usize) -> usize {
        let mut at = self.line_range(line).start;
        let text = self.line(line);
        let mut reached = 0;
        for cluster in lines::body(&text).graphemes(true) {
            reached += self.width(cluster, reached);
            if reached > column {
                break;
            }
            at += cluster.len();
        }
        at
    }

    /// The columns a cluster takes when it begins at a column.
    fn width(&self, cluster: &str, column: usize) -> usize {
        match cluster {
            "\t" => self.tab - column % self.tab,
            other => other.width(),
        }
    }

    fn word_right(&self, from: usize) -> usize {
        let chars = self.text.chars_at(self.text.byte_to_char(from));
        let mut at = from;
        let mut inside = false;
        for c in chars {
            let word = c.is_alphanumeric() || c == '_';
            if inside && !word {
                break;
            }
            inside |= word;
            at += c.len_utf8();
        }
        at
    }

    fn word_left(&self, from: usize) -> usize {
        let mut chars = self.text.chars_at(self.text.byte_to_char(from));
        let mut at = from;
        let mut inside = false;
        while let Some(c) = chars.prev() {
            let word = c.is_alphanumeric() || c == '_';
            if inside && !word {
                break;
            }
            inside |= word;
            at -= c.len_utf8();
        }
        at
    }
}
