//! The text as rows: wrapped at the width of the composer, with what stands for pastes and tabs, and
//! the caret among them.

use super::super::text::width;
use super::super::wrap;
use super::Composer;
use std::ops::Range;

/// A row as it is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// What is drawn; a tab shows as `⇥`, a long paste as a chip.
    pub text: String,
    /// The chips in it, as ranges of bytes.
    pub chips: Vec<Range<usize>>,
}

impl Composer {
    /// Wraps to a width and scrolls so that the caret is among `height` rows.
    pub fn lay_out(&mut self, room: usize, height: usize) {
        if self.room != room.max(1) {
            self.room = room.max(1);
            self.wrap();
        }
        let (row, height) = (self.caret().0, height.max(1));
        self.top = self.top.min(row).max((row + 1).saturating_sub(height));
        self.top = self.top.min(self.rows.len().saturating_sub(height));
    }

    /// The rows as they are drawn.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row and column of the caret among the rows.
    pub fn caret(&self) -> (usize, usize) {
        let cursor = self.area.cursor();
        let holds = |row: &Row| row.line == cursor.0 && row.start <= cursor.1;
        let index = self.rows.iter().rposition(holds).unwrap_or(0);
        let Some(row) = self.rows.get(index) else { return (0, 0) };
        let (line, _) = self.line();
        let before: String = line.chars().skip(row.start).take(cursor.1 - row.start).collect();
        (index, width(&self.drawn(&before).0).min(self.room))
    }

    /// How wide a row is at the most: one column stays free for a caret behind the last character.
    pub(super) fn widest(&self) -> usize {
        self.room.saturating_sub(1).max(1)
    }

    /// What is drawn for a text; for each byte of it the character it comes from; its chips.
    pub(super) fn drawn(&self, text: &str) -> (String, Vec<usize>, Vec<Range<usize>>) {
        let (mut out, mut origins, mut chips) = (String::with_capacity(text.len()), Vec::new(), Vec::new());
        for (at, c) in text.chars().enumerate() {
            let begin = out.len();
            match self.chips.label(c, self.widest()) {
                Some(label) => {
                    out.push_str(&label);
                    chips.push(begin..out.len());
                }
                None => out.push(if c == '\t' { '⇥' } else { c }),
            }
            origins.resize(out.len(), at);
        }
        (out, origins, chips)
    }

    pub(super) fn wrap(&mut self) {
        let room = self.widest();
        let mut rows = Vec::new();
        for (line, text) in self.area.lines().iter().enumerate() {
            let (drawn, origins, chips) = self.drawn(text);
            let origin = |byte: usize| origins.get(byte).copied().unwrap_or_else(|| text.chars().count());
            for range in wrap::wrap(&drawn, room) {
                let inside = chips.iter().filter(|chip| chip.start < range.end && chip.end > range.start);
                let inside =
                    inside.map(|chip| chip.start.max(range.start) - range.start..chip.end.min(range.end) - range.start);
                rows.push(Row {
                    line,
                    start: origin(range.start),
                    end: origin(range.end),
                    chips: inside.collect(),
                    text: drawn[range].to_owned(),
                });
            }
        }
        self.rows = rows;
    }
}
