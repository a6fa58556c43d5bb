//! Differences for readers: hunks of lines with the words that changed, elements, bytes.

use super::content::{Content, Hash};
use super::delta::{Edit, Patch};
use super::lines::{self, Hunk, LineIndex};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A run of lines larger than this is not compared word by word.
const WORDS_LIMIT: usize = 64 << 10;
/// Lines shown around a change.
const AROUND: usize = 3;

/// What differs between two contents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// By part; parts that are alike are left out.
    pub parts: Vec<PartDiff>,
}

/// What differs in a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "diff", rename_all = "snake_case")]
pub enum PartDiff {
    /// Lines of a text.
    Text {
        /// The part.
        part: String,
        /// The changes in order.
        hunks: Vec<TextHunk>,
        /// How many lines came.
        added: usize,
        /// How many lines went.
        removed: usize,
    },
    /// Elements, objects, parameters.
    Elements {
        /// The part.
        part: String,
        /// The changes in order.
        changes: Vec<ElementChange>,
    },
    /// Bytes that nobody can read.
    Bytes {
        /// The part.
        part: String,
        /// What was there.
        before: Option<(u64, Hash)>,
        /// What is there.
        after: Option<(u64, Hash)>,
    },
}

/// A change of an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementChange {
    /// Its identity.
    pub id: String,
    /// What a person calls it.
    pub title: String,
    /// As text before; absent when it is new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// As text now; absent when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A run of changed lines with what is around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextHunk {
    /// The first line of the old text, from 1.
    pub old_from: usize,
    /// The first line of the new text, from 1.
    pub new_from: usize,
    /// The section the change is in; empty where there is none.
    pub unit: String,
    /// The lines.
    pub rows: Vec<DiffRow>,
}

/// What happened to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// It is in both.
    Keep,
    /// It went.
    Remove,
    /// It came.
    Add,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRow {
    /// What happened to it.
    pub sign: Sign,
    /// The line without its end.
    pub text: String,
    /// The bytes of it that changed; empty where the whole line did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Range<usize>>,
    /// The line has no end (the last line of a text without one).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}

/// Compares two texts line by line; `unit_at` names the section of a line of the new text, from 0.
pub fn text_hunks(old: &str, new: &str, unit_at: impl Fn(usize) -> String) -> Vec<TextHunk> {
    let hunks = lines::hunks(old, new);
    let (old_index, new_index) = (LineIndex::new(old), LineIndex::new(new));
    let mut out = Vec::new();
    let mut group: Vec<Hunk> = Vec::new();
    let mut rest = hunks.into_iter().peekable();
    while let Some(hunk) = rest.next() {
        let end = hunk.old.end;
        group.push(hunk);
        if rest.peek().is_some_and(|next| next.old.start <= end + 2 * AROUND) {
            continue;
        }
        out.push(text_hunk(&std::mem::take(&mut group), (old, &old_index), (new, &new_index), &unit_at));
    }
    out
}

fn text_hunk(
    group: &[Hunk],
    (old, old_index): (&str, &LineIndex),
    (new, new_index): (&str, &LineIndex),
    unit_at: &impl Fn(usize) -> String,
) -> TextHunk {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let before = AROUND.min(first.old.start);
    let after = AROUND.min(old_index.count() - last.old.end);
    let mut rows = Vec::new();
    let keep = |range: Range<usize>, rows: &mut Vec<DiffRow>| {
        rows.extend(range.map(|line| row(Sign::Keep, &old[old_index.bytes(line..line + 1)], Vec::new())));
    };
    let mut at = first.old.start - before;
    for hunk in group {
        keep(at..hunk.old.start, &mut rows);
        let old_bytes = old_index.bytes(hunk.old.clone());
        let new_bytes = new_index.bytes(hunk.new.clone());
        let marks = words_changed(&old[old_bytes], &new[new_bytes]);
        let (old_marks, new_marks) = marks.unwrap_or_default();
        let mut side = |sign, text: &str, index: &LineIndex, lines: Range<usize>, marks: &[Range<usize>]| {
            let start = index.bytes(lines.clone()).start;
            for line in lines {
                let bytes = index.bytes(line..line + 1);
                let within = (bytes.start - start)..(bytes.end - start);
                rows.push(row(sign, &text[bytes], marks_within(marks, &within)));
            }
        };
        side(Sign::Remove, old, old_index, hunk.old.clone(), &old_marks);
        side(Sign::Add, new, new_index, hunk.new.clone(), &new_marks);
        at = hunk.old.end;
    }
    keep(at..at + after, &mut rows);
    TextHunk {
        old_from: first.old.start - before + 1,
        new_from: first.new.start - before + 1,
        unit: unit_at(first.new.start),
        rows,
    }
}

fn row(sign: Sign, line: &str, marks: Vec<Range<usize>>) -> DiffRow {
    let text = lines::body(line);
    let marks = marks.into_iter().map(|mark| mark.start.min(text.len())..mark.end.min(text.len())).collect();
    DiffRow { sign, text: text.to_owned(), marks, open: !line.ends_with('\n') }
}

fn marks_within(marks: &[Range<usize>], line: &Range<usize>) -> Vec<Range<usize>> {
    let cut = |mark: &Range<usize>| mark.start.max(line.start)..mark.end.min(line.end);
    marks
        .iter()
        .map(cut)
        .filter(|mark| mark.start < mark.end)
        .map(|m| m.start - line.start..m.end - line.start)
        .collect()
}

/// The bytes that changed in the old text and in the new one.
type Marks = (Vec<Range<usize>>, Vec<Range<usize>>);

/// The byte ranges of words that differ; `None` where the two have too little in common for words
/// to say anything.
fn words_changed(old: &str, new: &str) -> Option<Marks> {
    if old.is_empty() || new.is_empty() || old.len() + new.len() > WORDS_LIMIT {
        return None;
    }
    let edits = word_hunks(old, new);
    let changed: usize = edits.iter().map(|(old, new)| old.len() + new.len()).sum();
    (2 * changed <= old.len() + new.len()).then(|| {
        let (old, new): (Vec<_>, Vec<_>) = edits.into_iter().unzip();
        let full = |ranges: Vec<Range<usize>>| ranges.into_iter().filter(|range| !range.is_empty()).collect();
        (full(old), full(new))
    })
}

/// The words of a text with what stands between them; joined they are the text.
pub(super) fn words(text: &str) -> Vec<&str> {
    text.split_word_bounds().collect()
}

/// What differs between two short texts, word by word, as byte ranges.
fn word_hunks(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
    let (old_words, new_words) = (words(old), words(new));
    let (old_at, new_at) = (starts(&old_words), starts(&new_words));
    lines::diff(&old_words, &new_words)
        .into_iter()
        .map(|hunk| (old_at[hunk.old.start]..old_at[hunk.old.end], new_at[hunk.new.start]..new_at[hunk.new.end]))
        .collect()
}

/// The byte offset of each token, and the length of all.
pub(super) fn starts(tokens: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let mut out = Vec::with_capacity(tokens.len() + 1);
    for token in tokens {
        out.push(at);
        at += token.len();
    }
    out.push(at);
    out
}

/// The change that leads from one text to the other, touching as little as lines and words allow.
pub fn patch_between(old: &str, new: &str) -> Patch {
    let hunks = lines::hunks(old, new);
    let (old_index, new_index) = (LineIndex::new(old), LineIndex::new(new));
    let edits = hunks.into_iter().flat_map(|hunk| {
        let (old_bytes, new_bytes) = (old_index.bytes(hunk.old), new_index.bytes(hunk.new));
        let (old_text, new_text) = (&old[old_bytes.clone()], &new[new_bytes]);
        let words = if old_text.len() + new_text.len() > WORDS_LIMIT || old_text.is_empty() || new_text.is_empty() {
            vec![(0..old_text.len(), 0..new_text.len())]
        } else {
            word_hunks(old_text, new_text)
        };
        let start = old_bytes.start;
        words
            .into_iter()
            .map(|(old, new)| Edit { at: start + old.start, delete: old.len(), insert: new_text[new].to_owned() })
            .collect::<Vec<_>>()
    });
    Patch::of_edits(edits).unwrap_or_else(|| Patch::replace(0..old.len(), new.to_owned()))
}

impl Diff {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Names the parts that differ as bytes, for kinds whose parts are not text.
    pub fn of_bytes(before: &Content, after: &Content) -> Self {
        let mut names: Vec<&str> = before.iter().chain(after.iter()).map(|(name, _)| name).collect();
        names.sort_unstable();
        names.dedup();
        let look = |content: &Content, name: &str| {
            content.get(name).map(|part| (part.bytes.len() as u64, Hash::of(&part.bytes)))
        };
        let parts = names.into_iter().filter(|name| before.get(name) != after.get(name)).map(|name| PartDiff::Bytes {
            part: name.to_owned(),
            before: look(before, name),
            after: look(after, name),
        });
        Self { parts: parts.collect() }
    }

    /// The difference as lines with signs, at most `budget` bytes; what is left out is said.
    pub fn unified(&self, budget: usize) -> String {
        let mut rows: Vec<String> = Vec::new();
        for part in &self.parts {
            match part {
                PartDiff::Text { hunks, .. } => hunks.iter().for_each(|hunk| hunk.unified(&mut rows)),
                PartDiff::Elements { changes, .. } => {
                    for change in changes {
                        rows.push(format!("@@ {} ({})", change.title, change.id));
                        rows.extend(change.before.iter().flat_map(|text| text.lines()).map(|line| format!("-{line}")));
                        rows.extend(change.after.iter().flat_map(|text| text.lines()).map(|line| format!("+{line}")));
                    }
                }
                PartDiff::Bytes { part, before, after } => {
                    let size =
                        |side: &Option<(u64, Hash)>| side.map_or("nothing".into(), |(n, _)| format!("{n} bytes"));
                    rows.push(format!("@@ {part}: {} → {}", size(before), size(after)));
                }
            }
        }
        bounded(&rows, budget)
    }
}

impl TextHunk {
    fn unified(&self, rows: &mut Vec<String>) {
        let len = |skip| self.rows.iter().filter(|row| row.sign != skip).count();
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        rows.push(format!(
            "@@ -{},{} +{},{} @@{unit}",
            self.old_from,
            len(Sign::Add),
            self.new_from,
            len(Sign::Remove)
        ));
        for row in &self.rows {
            let sign = match row.sign {
                Sign::Keep => ' ',
                Sign::Remove => '-',
                Sign::Add => '+',
            };
            rows.push(format!("{sign}{}", row.text));
            if row.open {
                rows.push("\\ no newline at the end".into());
            }
        }
    }
}

/// Joins rows up to a budget in bytes; says how many were left out.
pub(super) fn bounded(rows: &[String], budget: usize) -> String {
    let mut out = String::new();
    for (number, row) in rows.iter().enumerate() {
        let left = rows.len() - number;
        let last = if left == 1 { 0 } else { 32 };
        if out.len() + row.len() + 1 + last > budget {
            let note = format!("… {left} more lines");
            let room = budget.saturating_sub(out.len() + note.len() + 1);
            if room > 32 {
                out.push_str(cut(row, room - 4));
                out.push_str("…\n");
            }
            if out.len() + note.len() <= budget {
                out.push_str(&note);
            }
            return out;
        }
        out.push_str(row);
        out.push('\n');
    }
    out
}

/// The front of a text, at most so many bytes, whole characters.
pub(super) fn cut(text: &str, budget: usize) -> &str {
    let end = (0..=budget.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_change_between_two_texts_leads_from_one_to_the_other(
            old in "([ab京 ]{0,6}\r?\n){0,8}[x ]{0,3}", new in "([ab京 ]{0,6}\r?\n){0,8}[x ]{0,3}",
        ) {
            prop_assert_eq!(patch_between(&old, &new).apply(&old).expect("fits"), new);
        }

        #[test]
        fn a_difference_holds_every_line_that_came_or_went(old in "([a-e]{1,2}\n){0,30}", new in "([a-e]{1,2}\n){0,30}") {
            let hunks = text_hunks(&old, &new, |_| String::new());
            let side = |sign| hunks.iter().flat_map(|h| &h.rows).filter(|r| r.sign == sign).count();
            let expected = lines::hunks(&old, &new);
            prop_assert_eq!(side(Sign::Remove), expected.iter().map(|h| h.old.len()).sum::<usize>());
            prop_assert_eq!(side(Sign::Add), expected.iter().map(|h| h.new.len()).sum::<usize>());
        }

        #[test]
        fn what_is_bounded_keeps_its_budget(rows in proptest::collection::vec("[a京]{0,60}", 0..12), budget in 0usize..200) {
            prop_assert!(bounded(&rows, budget).len() <= budget);
        }
    }

    #[test]
    fn a_changed_word_is_marked_within_its_line() {
        let hunks = text_hunks("one\nthe quick fox\ntwo\n", "one\nthe slow fox\ntwo\n", |_| "Animals".into());
        let marks: Vec<_> = hunks[0].rows.iter().map(|row| (row.sign, row.marks.clone())).collect();
        assert_eq!(marks[1], (Sign::Remove, vec![4..9]));
        assert_eq!(marks[2], (Sign::Add, vec![4..8]));
        let diff = Diff { parts: vec![PartDiff::Text { part: "text".into(), hunks, added: 1, removed: 1 }] };
        assert_eq!(diff.unified(400), "@@ -1,3 +1,3 @@ Animals\n one\n-the quick fox\n+the slow fox\n two\n");
    }

    #[test]
    fn a_line_that_lost_its_end_is_said() {
        let hunks = text_hunks("a\n", "a", |_| String::new());
        let diff = Diff { parts: vec![PartDiff::Text { part: "text".into(), hunks, added: 1, removed: 1 }] };
        assert_eq!(diff.unified(400), "@@ -1,1 +1,1 @@\n-a\n+a\n\\ no newline at the end\n");
    }
}
