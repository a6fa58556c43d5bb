//! Finding and replacing.

use super::history::Kind;
use super::{EditorBuffer, Selection};
use crate::resources::delta::{Edit, Patch};
use crate::resources::refusal::Refusal;
use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// As it stands.
    Literal,
    /// As a regular expression; `^` and `$` match at lines.
    Regex,
}

/// Whether capitals matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They do.
    Exact,
    /// They do not.
    Ignore,
    /// They do where the pattern has some.
    Smart,
}

/// What to look for, compiled.
#[derive(Debug, Clone)]
pub struct Query {
    regex: Regex,
    pattern: Pattern,
}

impl Query {
    /// Compiles a query.
    pub fn new(text: &str, pattern: Pattern, case: Case) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Refusal::Invalid { what: "there is nothing to look for".into() });
        }
        let source = match pattern {
            Pattern::Literal => regex::escape(text),
            Pattern::Regex => text.to_owned(),
        };
        let ignore = match case {
            Case::Exact => false,
            Case::Ignore => true,
            Case::Smart => !text.chars().any(char::is_uppercase),
        };
        let regex = RegexBuilder::new(&source).case_insensitive(ignore).multi_line(true).crlf(true).build();
        let regex = regex.map_err(|error| Refusal::Invalid { what: format!("the pattern can't be read: {error}") })?;
        Ok(Self { regex, pattern })
    }
}

impl EditorBuffer {
    /// The next match at or after a byte, then from the start on.
    pub fn find_next(&self, query: &Query, from: usize) -> Option<Range<usize>> {
        let text = self.text.to_string();
        let found = query.regex.find_at(&text, from.min(text.len())).or_else(|| query.regex.find(&text));
        found.map(|found| found.range())
    }

    /// The last match that ends at or before a byte, else the last of all.
    pub fn find_previous(&self, query: &Query, before: usize) -> Option<Range<usize>> {
        let text = self.text.to_string();
        let mut last = None;
        let mut best = None;
        for found in query.regex.find_iter(&text) {
            if found.end() <= before {
                best = Some(found.range());
            }
            last = Some(found.range());
        }
        best.or(last)
    }

    /// The matches within some bytes, for the screen; a match that crosses the border is not told.
    pub fn matches_within(&self, query: &Query, range: Range<usize>) -> Vec<Range<usize>> {
        let start = range.start;
        let text = self.slice(range);
        query.regex.find_iter(&text).map(|found| start + found.start()..start + found.end()).collect()
    }

    /// Replaces the selection where it is a match, and goes to the next one.
    pub fn replace_next(&mut self, query: &Query, with: &str) -> Option<Range<usize>> {
        let range = self.selection.range();
        let text = self.text.to_string();
        if let Some(found) =
            query.regex.captures_at(&text, range.start).filter(|found| found.get_match().range() == range)
        {
            let new = query.replacement(&found, with);
            self.history.pause();
            self.change(&Patch::replace(range.clone(), new.clone()), Kind::Other);
            self.selection = Selection::caret(range.start + new.len());
        }
        let next = self.find_next(query, self.selection.range().end)?;
        self.select(Selection { anchor: next.start, head: next.end });
        Some(next)
    }

    /// Replaces every match, as one step of the history; tells how many there were.
    pub fn replace_all(&mut self, query: &Query, with: &str) -> usize {
        let text = self.text.to_string();
        let edits = query.regex.captures_iter(&text).map(|found| {
            let range = found.get_match().range();
            Edit { at: range.start, delete: range.len(), insert: query.replacement(&found, with) }
        });
        let edits: Vec<Edit> = edits.collect();
        let count = edits.len();
        if let Some(patch) = Patch::of_edits(edits).filter(|_| count > 0) {
            let head = patch.map(self.selection.head, crate::resources::delta::Bias::Before);
            self.history.pause();
            self.change(&patch, Kind::Other);
            self.select(Selection::caret(head));
        }
        count
    }
}

impl Query {
    /// What takes the place of a match; in a regular expression `$1` names a group.
    fn replacement(&self, found: &regex::Captures<'_>, with: &str) -> String {
        match self.pattern {
            Pattern::Literal => with.to_owned(),
            Pattern::Regex => {
                let mut out = String::new();
                found.expand(with, &mut out);
                out
            }
        }
    }
}
