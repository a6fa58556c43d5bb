//! A unified diff as a person judges it: numbered, changed words marked, old beside new where there
//! is room for both.
//!
//! Reads the diffs that tools give; what is no diff stands as it is. Nothing is left out: the
//! sanitiser that fits (prose, or what a person must see whole) has been passed before.

use super::styled;
use super::text;
use super::theme::Theme;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use similar::{ChangeTag, TextDiff};
use std::ops::Range;

/// From how many columns on old and new stand side by side.
const WIDE: usize = 104;

/// Longer lines are not compared word by word.
const LONGEST: usize = 1_000;

/// Lines that have less in common than this are other lines.
const ALIKE: f32 = 0.4;

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Row {
    /// Where a hunk begins.
    Hunk,
    /// What is the same: both numbers.
    Same(usize, usize, String),
    /// What was replaced by what: lines that stand beside each other.
    Changed(Option<Side>, Option<Side>),
    /// A remark, such as of a missing line end.
    Note(String),
}

/// One side of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Side {
    number: usize,
    text: String,
    /// The words that changed.
    marks: Vec<Range<usize>>,
}

/// Whether a text holds a diff.
pub fn is_one(clean: &str) -> bool {
    clean.lines().any(|line| hunk(line).is_some())
}

/// How many lines a diff adds and takes away.
pub fn count(clean: &str) -> (usize, usize) {
    let lines = clean.lines().skip_while(|line| hunk(line).is_none());
    lines.fold((0, 0), |(added, removed), line| match line.as_bytes().first() {
        Some(b'+') => (added + 1, removed),
        Some(b'-') => (added, removed + 1),
        _ => (added, removed),
    })
}

/// Draws a diff into so many columns; words before its first hunk stand above it.
pub fn draw(clean: &str, theme: &Theme, room: usize) -> Vec<Line<'static>> {
    let start = clean.split_inclusive('\n').take_while(|line| hunk(line).is_none()).map(str::len).sum();
    let (above, diff) = clean.split_at(start);
    let mut lines = Vec::new();
    let above = above.trim_end_matches('\n');
    if !above.is_empty() {
        lines.extend(styled::wrapped(above, &[], room, theme.dim.into()).into_iter().map(Line::from));
    }
    let rows = read(diff);
    let digits = rows.iter().map(last_number).max().unwrap_or(0).to_string().len();
    let sheet = Sheet { theme, room, digits };
    for (ix, row) in rows.iter().enumerate() {
        if room >= WIDE { sheet.beside(ix, row, &mut lines) } else { sheet.below(ix, row, &mut lines) }
    }
    lines
}

fn last_number(row: &Row) -> usize {
    match row {
        Row::Same(old, new, _) => *old.max(new),
        Row::Changed(old, new) => old.iter().chain(new).map(|side| side.number).max().unwrap_or(0),
        Row::Hunk | Row::Note(_) => 0,
    }
}

/// The first numbers of a hunk's head, `@@ -1,7 +1,8 @@`.
fn hunk(line: &str) -> Option<(usize, usize)> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let number = |words: &str| words.split(',').next().and_then(|number| number.parse().ok());
    Some((number(old)?, number(new)?))
}

fn read(diff: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut old, mut new) = (1, 1);
    let (mut gone, mut come): (Vec<Side>, Vec<Side>) = (Vec::new(), Vec::new());
    for line in diff.lines() {
        let rest = || line.get(1..).unwrap_or_default().to_owned();
        match line.as_bytes().first() {
            Some(b'-') => {
                if !come.is_empty() {
                    pair(&mut gone, &mut come, &mut rows);
                }
                gone.push(Side { number: old, text: rest(), marks: Vec::new() });
                old += 1;
                continue;
            }
            Some(b'+') => {
                come.push(Side { number: new, text: rest(), marks: Vec::new() });
                new += 1;
                continue;
            }
            _ => pair(&mut gone, &mut come, &mut rows),
        }
        match (line.as_bytes().first(), hunk(line)) {
            (_, Some(numbers)) => {
                (old, new) = numbers;
                rows.push(Row::Hunk);
            }
            (Some(b' ') | None, None) => {
                rows.push(Row::Same(old, new, rest()));
                (old, new) = (old + 1, new + 1);
            }
            (Some(_), None) => rows.push(Row::Note(line.to_owned())),
        }
    }
    pair(&mut gone, &mut come, &mut rows);
    rows
}

/// Puts what went and what came beside each other, in their order.
fn pair(gone: &mut Vec<Side>, come: &mut Vec<Side>, rows: &mut Vec<Row>) {
    let (mut gone, mut come) = (gone.drain(..), come.drain(..));
    loop {
        match (gone.next(), come.next()) {
            (None, None) => return,
            (Some(mut old), Some(mut new)) => {
                mark(&mut old, &mut new);
                rows.push(Row::Changed(Some(old), Some(new)));
            }
            (old, new) => rows.push(Row::Changed(old, new)),
        }
    }
}

/// Marks the words in which two lines differ, if they are the same line otherwise.
fn mark(old: &mut Side, new: &mut Side) {
    if old.text.len() > LONGEST || new.text.len() > LONGEST {
        return;
    }
    let (mut in_old, mut in_new) = (Vec::new(), Vec::new());
    let words = TextDiff::from_words(&old.text, &new.text);
    if words.ratio() < ALIKE {
        return;
    }
    let (mut at_old, mut at_new) = (0, 0);
    for change in words.iter_all_changes() {
        let len = change.value().len();
        match change.tag() {
            ChangeTag::Equal => (at_old, at_new) = (at_old + len, at_new + len),
            ChangeTag::Delete => {
                extend(&mut in_old, at_old..at_old + len);
                at_old += len;
            }
            ChangeTag::Insert => {
                extend(&mut in_new, at_new..at_new + len);
                at_new += len;
            }
        }
    }
    (old.marks, new.marks) = (in_old, in_new);
}

fn extend(marks: &mut Vec<Range<usize>>, range: Range<usize>) {
    match marks.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => marks.push(range),
    }
}

/// What the rows are drawn on.
struct Sheet<'a> {
    theme: &'a Theme,
    room: usize,
    /// How many digits the largest number has.
    digits: usize,
}

impl Sheet<'_> {
    /// One below the other: the old number, or the new one, a sign, and the line.
    fn below(&self, ix: usize, row: &Row, lines: &mut Vec<Line<'static>>) {
        let theme = self.theme;
        match row {
            Row::Hunk if ix == 0 => {}
            Row::Hunk => lines.push(Line::styled("⋯", theme.dim)),
            Row::Note(words) => {
                lines.extend(styled::wrapped(words, &[], self.room, theme.dim.into()).into_iter().map(Line::from));
            }
            Row::Same(_, new, words) => {
                lines.extend(self.cell(Some((*new, ' ', words, &[])), self.room, theme.text.into()).map(Line::from));
            }
            Row::Changed(old, new) => {
                let mut side = |side: &Option<Side>, sign, style| {
                    if let Some(side) = side {
                        let cell = self.cell(Some((side.number, sign, &side.text, &side.marks)), self.room, style);
                        lines.extend(cell.map(Line::from));
                    }
                };
                side(old, '-', theme.error.into());
                side(new, '+', theme.ok.into());
            }
        }
    }

    /// Old on the left, new on the right.
    fn beside(&self, ix: usize, row: &Row, lines: &mut Vec<Line<'static>>) {
        let theme = self.theme;
        let half = (self.room - 3) / 2;
        let (old, new) = match row {
            Row::Hunk | Row::Note(_) => return self.below(ix, row, lines),
            Row::Same(old, new, words) => (
                self.cell(Some((*old, ' ', words, &[])), half, theme.text.into()),
                self.cell(Some((*new, ' ', words, &[])), half, theme.text.into()),
            ),
            Row::Changed(old, new) => {
                let side = |side: &Option<Side>, sign, style| {
                    let cell = side.as_ref().map(|side| (side.number, sign, side.text.clone(), side.marks.clone()));
                    let cell = cell.as_ref().map(|(number, sign, text, marks)| (*number, *sign, text, &marks[..]));
                    self.cell(cell, half, style)
                };
                (side(old, '-', theme.error.into()), side(new, '+', theme.ok.into()))
            }
        };
        let (mut old, mut new) = (old.fuse(), new.fuse());
        loop {
            let (left, right) = (old.next(), new.next());
            if left.is_none() && right.is_none() {
                return;
            }
            let mut spans = left.unwrap_or_default();
            let used: usize = spans.iter().map(|span| text::width(&span.content)).sum();
            spans.push(Span::raw(" ".repeat(half.saturating_sub(used))));
            spans.push(Span::styled(" │ ", Style::from(theme.border)));
            spans.extend(right.unwrap_or_default());
            lines.push(Line::from(spans));
        }
    }

    /// A line with its number and sign, wrapped; the rows after the first are indented.
    fn cell(
        &self,
        line: Option<(usize, char, &String, &[Range<usize>])>,
        room: usize,
        style: Style,
    ) -> impl Iterator<Item = Vec<Span<'static>>> + use<> {
        let margin = self.digits + 3;
        let dim = Style::from(self.theme.dim);
        let digits = self.digits;
        let mut rows = Vec::new();
        if let Some((number, sign, words, marks)) = line {
            let marked = style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
            let stretches: Vec<_> = marks.iter().map(|mark| (mark.clone(), marked)).collect();
            for (ix, spans) in
                styled::wrapped(words, &stretches, room.saturating_sub(margin), style).into_iter().enumerate()
            {
                let number = if ix == 0 { format!("{number:>digits$} ") } else { " ".repeat(digits + 1) };
                let sign = if ix == 0 { format!("{sign} ") } else { "  ".to_owned() };
                let mut row = vec![Span::styled(number, dim), Span::styled(sign, style)];
                row.extend(spans);
                rows.push(row);
            }
        }
        rows.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::BuiltIn;

    const DIFF: &str = "src/parser.rs: 1 edit\n@@ -8,4 +8,5 @@\n fn parse(text: &str) {\n-    let text = text.trim_end();\n\
        +    let text = text.trim_end_matches(' ');\n+    // the newline stays\n }\n@@ -90,2 +91,1 @@\n-old\n 日本\n";

    fn drawn(room: usize) -> Vec<Line<'static>> {
        draw(DIFF, &BuiltIn::Dark.load(), room)
    }

    fn rows(room: usize) -> String {
        drawn(room).iter().map(|line| line.to_string().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_diff_stands_below_itself_or_beside_itself() {
        insta::assert_snapshot!("below", rows(46));
        insta::assert_snapshot!("beside", rows(110));
    }

    #[test]
    fn only_the_words_that_changed_are_marked() {
        let marked: Vec<String> = drawn(80)
            .iter()
            .flat_map(|line| line.spans.iter())
            .filter(|span| span.style.add_modifier.contains(Modifier::UNDERLINED))
            .map(|span| span.content.trim().to_owned())
            .collect();
        assert_eq!(marked, ["text.trim_end();", "text.trim_end_matches(' ');"]);
    }

    #[test]
    fn what_changed_is_counted_and_what_is_no_diff_is_none() {
        assert_eq!(count(DIFF), (2, 2));
        assert!(is_one(DIFF) && !is_one("- a list\n+ of signs\n@@ no hunk"));
    }

    #[test]
    fn no_row_is_wider_than_the_room() {
        for room in [1, 5, 9, 30, 104, 111] {
            for line in drawn(room) {
                let wide = text::width(&line.to_string());
                assert!(wide <= room || room < 9, "{wide} in {room}: {line}");
            }
        }
    }
}
