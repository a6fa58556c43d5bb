//! Who wrote what: the revision that last wrote each line of a text or each element of a kind.
//!
//! Authorship is carried from revision to revision by the difference between the two, so that ten
//! thousand revisions cost one difference each and one list of runs in all. It is a projection: it
//! can be built again from the history at any time and must come out the same.

use super::content::Hash;
use super::delta::Shape;
use super::lines::{self, Hunk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// A run of lines that one revision wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// How many lines.
    pub lines: usize,
    /// By which revision.
    pub revision: u64,
}

/// An element and who last changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// Of its content.
    pub hash: Hash,
    /// By which revision.
    pub revision: u64,
}

/// The authorship of one revision of a content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribution {
    /// Of the lines of a text, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
    /// Of elements, by identity.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub elements: BTreeMap<String, Element>,
}

/// Who wrote a line that is on screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The revision that wrote it.
    Revision(u64),
    /// The person at this screen, not saved yet.
    Unsaved,
}

impl Attribution {
    /// All lines of a text belong to one revision.
    pub fn of_text(text: &str, revision: u64) -> Self {
        let mut attribution = Self::default();
        attribution.advance_text("", text, revision);
        attribution
    }

    /// Builds the authorship of the last of several texts anew, from the oldest on.
    pub fn of_history<'a>(history: impl IntoIterator<Item = (u64, &'a str)>) -> Self {
        let mut attribution = Self::default();
        let mut before = "";
        for (revision, text) in history {
            attribution.advance_text(before, text, revision);
            before = text;
        }
        attribution
    }

    /// Carries the authorship of `before` on to `after`, which `revision` wrote.
    pub fn advance_text(&mut self, before: &str, after: &str, revision: u64) {
        self.advance_lines(&lines::hunks(before, after), revision);
    }

    /// Carries authorship over runs of replaced lines.
    pub fn advance_lines(&mut self, hunks: &[Hunk], revision: u64) {
        if hunks.is_empty() {
            return;
        }
        let mut out = Runs { runs: Vec::with_capacity(self.runs.len() + 2 * hunks.len()) };
        let mut old = self.runs.iter().copied();
        let mut run = Run { lines: 0, revision: 0 };
        // Takes `n` old lines off the front, to the new list or nowhere.
        let mut take = |mut n: usize, out: Option<&mut Runs>| {
            let mut out = out;
            while n > 0 {
                if run.lines == 0 {
                    let Some(next) = old.next() else { return };
                    run = next;
                    continue;
                }
                let part = n.min(run.lines);
                if let Some(out) = out.as_deref_mut() {
                    out.push(Run { lines: part, revision: run.revision });
                }
                run.lines -= part;
                n -= part;
            }
        };
        let mut at = 0;
        for hunk in hunks {
            take(hunk.old.start.saturating_sub(at), Some(&mut out));
            take(hunk.old.len(), None);
            out.push(Run { lines: hunk.new.len(), revision });
            at = hunk.old.end;
        }
        take(usize::MAX, Some(&mut out));
        self.runs = out.runs;
    }

    /// Carries authorship over to the elements as `revision` left them.
    pub fn advance_elements(&mut self, elements: Vec<(String, Hash)>, revision: u64) {
        let mut before = std::mem::take(&mut self.elements);
        self.elements = elements
            .into_iter()
            .map(|(id, hash)| match before.remove(&id) {
                Some(element) if element.hash == hash => (id, element),
                _ => (id, Element { hash, revision }),
            })
            .collect();
    }

    /// The revision that wrote a line, counted from 0.
    pub fn of_line(&self, line: usize) -> Option<u64> {
        let mut at = 0;
        self.runs.iter().find_map(|run| {
            at += run.lines;
            (line < at).then_some(run.revision)
        })
    }

    /// The authors of lines, counted from 0, in one walk.
    pub fn of_lines(&self, wanted: Range<usize>) -> Vec<Option<u64>> {
        let mut out = Vec::with_capacity(wanted.len());
        let mut at = 0;
        for run in &self.runs {
            let end = at + run.lines;
            while wanted.start + out.len() < end.min(wanted.end) {
                out.push(Some(run.revision));
            }
            at = end;
            if at >= wanted.end {
                break;
            }
        }
        out.resize(wanted.len(), None);
        out
    }
}

/// The authors of lines of a text that has been edited since; `None` for a line without a byte.
///
/// `lines` are the byte ranges of the lines now, `edited` leads from the committed text to the text
/// now, and `line_of` tells which line of the committed text a byte is on.
pub fn authors(
    attribution: &Attribution,
    lines: impl Iterator<Item = Range<usize>>,
    edited: &Shape,
    line_of: impl Fn(usize) -> usize,
) -> Vec<Option<Author>> {
    let mut runs = attribution.runs.iter();
    // The lines up to the end of the present run, and who wrote that one.
    let (mut end, mut revision) = (0, None);
    lines
        .map(|line| {
            if line.is_empty() {
                return None;
            }
            let Some(kept) = edited.kept(line) else { return Some(Author::Unsaved) };
            let wanted = line_of(kept.start);
            while wanted >= end {
                let run = runs.next()?;
                end += run.lines;
                revision = Some(run.revision);
            }
            revision.map(Author::Revision)
        })
        .collect()
}

/// A list of runs in which neighbours differ.
struct Runs {
    runs: Vec<Run>,
}

impl Runs {
    fn push(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if last.revision == run.revision => last.lines += run.lines,
            _ if run.lines == 0 => {}
            _ => self.runs.push(run),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Authorship kept plainly, one entry per line.
    fn naive(history: &[String]) -> Vec<u64> {
        let mut authors: Vec<u64> = Vec::new();
        let mut before = "";
        for (revision, text) in history.iter().enumerate() {
            let mut next = Vec::new();
            let mut at = 0;
            for hunk in lines::hunks(before, text) {
                next.extend(&authors[at..hunk.old.start]);
                next.extend(std::iter::repeat_n(revision as u64, hunk.new.len()));
                at = hunk.old.end;
            }
            next.extend(&authors[at..]);
            authors = next;
            before = text;
        }
        authors
    }

    proptest! {
        #[test]
        fn authorship_carried_on_equals_authorship_kept_plainly(
            history in proptest::collection::vec("([ab京]{0,1}\r?\n){0,10}[xy]{0,1}", 1..12),
        ) {
            let attribution = Attribution::of_history((0..).zip(history.iter().map(String::as_str)));
            let runs = attribution.runs.iter().flat_map(|run| std::iter::repeat_n(run.revision, run.lines));
            let expected = naive(&history);
            prop_assert_eq!(runs.collect::<Vec<_>>(), expected.clone());
            let wanted: Vec<_> = expected.iter().copied().map(Some).chain([None]).collect();
            prop_assert_eq!(attribution.of_lines(0..expected.len() + 1), wanted);
            for pair in attribution.runs.windows(2) {
                prop_assert_ne!(pair[0].revision, pair[1].revision);
            }
        }
    }

    #[test]
    fn an_element_keeps_its_author_until_it_changes() {
        let hash = |text: &str| Hash::of(text.as_bytes());
        let mut attribution = Attribution::default();
        attribution.advance_elements(vec![("a".into(), hash("1")), ("b".into(), hash("2"))], 0);
        attribution
            .advance_elements(vec![("a".into(), hash("1")), ("b".into(), hash("3")), ("c".into(), hash("4"))], 1);
        let authors: Vec<_> = attribution.elements.iter().map(|(id, e)| (id.as_str(), e.revision)).collect();
        assert_eq!(authors, [("a", 0), ("b", 1), ("c", 1)]);
    }

    #[test]
    fn lines_edited_since_belong_to_the_person_at_the_screen() {
        let attribution = Attribution::of_history([(0, "a\nb\nc\n"), (1, "a\nB\nc\n")]);
        let edited = Shape::replace(4..4, 2); // "a\nB\nX\nc\n": a line put in before c
        let now = [0..2, 2..4, 4..6, 6..8, 8..8];
        let authors = authors(&attribution, now.into_iter(), &edited, |byte| byte / 2);
        let (unsaved, by) = (Some(Author::Unsaved), |revision| Some(Author::Revision(revision)));
        assert_eq!(authors, [by(0), by(1), unsaved, by(0), None]);
    }
}
