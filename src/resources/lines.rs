//! Lines of a text and what changed between two texts, line by line.
//!
//! A line ends with its `\n` (so also with `\r\n`); a lone `\r` is a character of its line. The
//! last line may have no end. Joining the lines of a text gives the text, byte for byte.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// The lines of a text, each with its end.
pub fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// How many lines a text has.
pub fn count(text: &str) -> usize {
    let ends = text.bytes().filter(|byte| *byte == b'\n').count();
    ends + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// A line without its end.
pub fn body(line: &str) -> &str {
    let line = line.strip_suffix('\n').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line)
}

/// The byte offsets at which lines begin, and the length of the text at the end.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Indexes a text.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { starts }
    }

    /// How many lines there are.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The bytes of lines, counted from 0; what lies past the end is cut off.
    pub fn bytes(&self, lines: Range<usize>) -> Range<usize> {
        let last = self.starts.len() - 1;
        self.starts[lines.start.min(last)]..self.starts[lines.end.min(last)]
    }

    /// The line a byte is on, counted from 0; the end of the text is on the last line.
    pub fn line_of(&self, byte: usize) -> usize {
        let after = self.starts.partition_point(|start| *start <= byte);
        after.saturating_sub(1).min(self.count().saturating_sub(1))
    }
}

/// A run of lines that was replaced by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// In the old text.
    pub old: Range<usize>,
    /// In the new text.
    pub new: Range<usize>,
}

/// What changed between two texts, as runs of lines in order; runs are never adjacent.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    // Most edits of a large text are small: what both share at the ends is not even split.
    let front = line_border_before(old, common_prefix(old.as_bytes(), new.as_bytes()));
    let (old_rest, new_rest) = (&old[front..], &new[front..]);
    let back = common_suffix(old_rest.as_bytes(), new_rest.as_bytes());
    let back = old_rest.len() - line_border_after(old_rest, new_rest, old_rest.len() - back);
    let skipped = count(&old[..front]);
    let old_lines = lines(&old_rest[..old_rest.len() - back]);
    let new_lines = lines(&new_rest[..new_rest.len() - back]);
    let mut hunks = diff(&old_lines, &new_lines);
    for hunk in &mut hunks {
        hunk.old = hunk.old.start + skipped..hunk.old.end + skipped;
        hunk.new = hunk.new.start + skipped..hunk.new.end + skipped;
    }
    hunks
}

/// What changed between two sequences, as runs in order; runs are never adjacent.
pub fn diff<T: Hash + Eq + Copy>(old: &[T], new: &[T]) -> Vec<Hunk> {
    // Numbers compare faster than lines, and each distinct line is hashed once.
    let mut numbers: HashMap<T, u32> = HashMap::with_capacity(old.len());
    let mut number = |item: &T| {
        let next = numbers.len() as u32;
        *numbers.entry(*item).or_insert(next)
    };
    let old: Vec<u32> = old.iter().map(&mut number).collect();
    let new: Vec<u32> = new.iter().map(&mut number).collect();
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Histogram, &old, &new) {
        let (old, new) = match op {
            DiffOp::Equal { .. } => continue,
            DiffOp::Delete { old_index, old_len, new_index } => (old_index..old_index + old_len, new_index..new_index),
            DiffOp::Insert { old_index, new_index, new_len } => (old_index..old_index, new_index..new_index + new_len),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                (old_index..old_index + old_len, new_index..new_index + new_len)
            }
        };
        match hunks.last_mut() {
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => hunks.push(Hunk { old, new }),
        }
    }
    hunks
}

/// How many bytes two texts share at the front.
pub(super) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 4096;
    let mut at = 0;
    // Comparing blocks is a memcmp; only the last block is walked.
    while at + STEP <= a.len().min(b.len()) && a[at..at + STEP] == b[at..at + STEP] {
        at += STEP;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes two texts share at the back.
pub(super) fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 4096;
    let mut n = 0;
    let tail = |text: &[u8], n: usize, step: usize| text.len() - n - step..text.len() - n;
    while n + STEP <= a.len().min(b.len()) && a[tail(a, n, STEP)] == b[tail(b, n, STEP)] {
        n += STEP;
    }
    n + a[..a.len() - n].iter().rev().zip(b[..b.len() - n].iter().rev()).take_while(|(a, b)| a == b).count()
}

/// The last line border at or before a byte.
fn line_border_before(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// The first place at or after `at` from which `old` has whole lines that `new` has too.
fn line_border_after(old: &str, new: &str, at: usize) -> usize {
    let growth = new.len() as isize - old.len() as isize;
    let is_border = |text: &str, at: usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    if is_border(old, at) && at.checked_add_signed(growth).is_some_and(|at| is_border(new, at)) {
        return at;
    }
    old.as_bytes()[at..].iter().position(|byte| *byte == b'\n').map_or(old.len(), |end| at + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Applies hunks the plain way.
    fn rebuild(old: &str, new: &str, hunks: &[Hunk]) -> String {
        let (old, new) = (lines(old), lines(new));
        let mut out = String::new();
        let mut at = 0;
        for hunk in hunks {
            out.extend(old[at..hunk.old.start].iter().copied());
            out.extend(new[hunk.new.clone()].iter().copied());
            at = hunk.old.end;
        }
        out.extend(old[at..].iter().copied());
        out
    }

    proptest! {
        #[test]
        fn hunks_lead_from_the_old_text_to_the_new_one(old in "([ab京]{0,2}(\r?\n)?){0,12}", new in "([ab京]{0,2}(\r?\n)?){0,12}") {
            let hunks = hunks(&old, &new);
            prop_assert_eq!(rebuild(&old, &new, &hunks), new);
            for pair in hunks.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start, "adjacent runs: {:?}", pair);
            }
        }

        #[test]
        fn the_index_finds_what_splitting_finds(text in "[ab\r\n京]{0,30}") {
            let index = LineIndex::new(&text);
            let split = lines(&text);
            prop_assert_eq!(index.count(), split.len());
            prop_assert_eq!(count(&text), split.len());
            for (number, line) in split.iter().enumerate() {
                prop_assert_eq!(&text[index.bytes(number..number + 1)], *line);
                prop_assert_eq!(index.line_of(index.bytes(number..number + 1).start), number);
            }
        }
    }

    #[test]
    fn a_missing_final_newline_is_a_change_of_the_last_line() {
        assert_eq!(hunks("a\nb", "a\nb\n"), [Hunk { old: 1..2, new: 1..2 }]);
        assert_eq!(hunks("a\n\nb\n", "a\n\n\nb\n").len(), 1);
        assert_eq!(hunks("", "x"), [Hunk { old: 0..0, new: 0..1 }]);
    }

    #[test]
    fn large_texts_that_share_their_ends_are_compared_by_block() {
        let text: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
        let changed = text.replacen("line 10000\n", "LINE\n", 1);
        assert_eq!(hunks(&text, &changed), [Hunk { old: 10_000..10_001, new: 10_000..10_001 }]);
    }
}
