//! A stretch of the transcript that is marked with the mouse, to be copied: from where the button went
//! down to where the pointer is, row by row, without what stands in the margin.

use super::chat::draw::MARGIN;
use super::text;
use ratatui::layout::Rect;
use unicode_segmentation::UnicodeSegmentation;

/// A place on the screen: row first, since that is how text is ordered.
type Place = (u16, u16);

/// What is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    from: Place,
    to: Place,
}

impl Selection {
    /// Begins where the button went down.
    pub fn at(column: u16, row: u16) -> Self {
        Self { from: (row, column), to: (row, column) }
    }

    /// Reaches to where the pointer is now, which may have left the transcript.
    pub fn reach(&mut self, column: u16, row: u16, area: Rect) {
        let inside = |at: u16, start: u16, end: u16| at.clamp(start, end.saturating_sub(1).max(start));
        self.to = (inside(row, area.y, area.bottom()), inside(column, area.x, area.right()));
    }

    /// Where it began.
    pub fn start(&self) -> (u16, u16) {
        (self.from.1, self.from.0)
    }

    /// Whether it is more than the place where it began.
    pub fn is_some(&self) -> bool {
        self.from != self.to
    }

    /// The columns of a row of the area that are in it, from the first to behind the last.
    pub fn columns(&self, row: u16, area: Rect) -> Option<(u16, u16)> {
        let (first, last) = (self.from.min(self.to), self.from.max(self.to));
        if !self.is_some() || row < first.0 || row > last.0 {
            return None;
        }
        let start = if row == first.0 { first.1 } else { area.x };
        let end = if row == last.0 { last.1 + 1 } else { area.right() };
        let start = start.max(area.x + MARGIN as u16);
        (start < end).then_some((start, end.min(area.right())))
    }
}

/// The clusters of a line that stand in some columns, each whole or not at all.
pub fn cut_out(line: &str, (start, end): (usize, usize)) -> String {
    let (mut out, mut at) = (String::new(), 0);
    for cluster in line.graphemes(true) {
        if (start..end).contains(&at) {
            out.push_str(cluster);
        }
        at += text::cluster_width(cluster);
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_left_out_and_the_first_and_last_row_are_cut() {
        let area = Rect { x: 1, y: 2, width: 40, height: 10 };
        let mut selection = Selection::at(10, 4);
        assert!(!selection.is_some() && selection.columns(4, area).is_none());
        selection.reach(7, 6, area);
        assert_eq!(selection.columns(4, area), Some((10, 41)));
        assert_eq!(selection.columns(5, area), Some((4, 41)));
        assert_eq!(selection.columns(6, area), Some((4, 8)));
        assert_eq!(selection.columns(7, area), None);
        // Backwards, and out of the area.
        selection.reach(0, 0, area);
        assert_eq!(selection.columns(2, area), Some((4, 41)));
        assert_eq!(selection.columns(4, area), Some((4, 11)));
    }

    #[test]
    fn wide_characters_are_taken_whole() {
        assert_eq!(cut_out("   日本語 👩‍👩‍👧‍👦 x  ", (5, 11)), "本語 👩‍👩‍👧‍👦");
    }
}
