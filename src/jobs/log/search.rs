//! Searching a log of any size, a block at a time, so that whoever searches can stop or show
//! what was found so far.

use super::cursor::{Cursor, Piece};
use super::read::Log;
use crate::domain::Millis;
use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use std::io;
use std::ops::Range;

/// What of a line is given with a hit, around it.
const EXCERPT: usize = 4 * 1024;

/// A line that is longer is searched in pieces.
const LONGEST: usize = 4 * 1024 * 1024;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern<'a> {
    /// This text.
    Literal(&'a str),
    /// What this regular expression matches within a line.
    Regex(&'a str),
}

/// A pattern that can't be used.
#[derive(Debug, thiserror::Error)]
#[error("not a pattern that can be searched for: {0}")]
pub struct PatternError(String);

/// A line in which the pattern was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where the first match begins.
    pub offset: u64,
    /// Where the line begins.
    pub line: u64,
    /// When the line came, to a quarter of a second.
    pub at: Option<Millis>,
    /// The line, as it was printed; of a very long one what is around the match.
    pub text: Vec<u8>,
    /// Where in `text` the first match is.
    pub matched: Range<usize>,
}

/// A search that goes on as long as it is asked to.
#[derive(Debug)]
pub struct Search {
    cursor: Cursor,
    matcher: RegexMatcher,
    end: u64,
    chunk: Vec<u8>,
    /// What was read and is not yet searched: the beginning of a line.
    rest: Vec<u8>,
    rest_at: u64,
    hits: std::collections::VecDeque<Hit>,
    is_over: bool,
}

impl Search {
    /// Begins a search of a range of a log. Small letters in a pattern without capitals match both.
    pub fn new(log: Log, pattern: Pattern<'_>, range: Range<u64>) -> Result<Self, PatternError> {
        let (text, is_literal) = match pattern {
            Pattern::Literal(text) => (text, true),
            Pattern::Regex(text) => (text, false),
        };
        let matcher = RegexMatcherBuilder::new()
            .fixed_strings(is_literal)
            .case_smart(true)
            .multi_line(true)
            // A terminal ends its lines with both; `$` is before them.
            .crlf(true)
            .build(text)
            .map_err(|error| PatternError(error.to_string()))?;
        Ok(Self {
            cursor: Cursor::new(log, range.start),
            matcher,
            end: range.end,
            chunk: Vec::new(),
            rest: Vec::new(),
            rest_at: range.start,
            hits: std::collections::VecDeque::new(),
            is_over: false,
        })
    }

    /// How far the search has come.
    pub fn at(&self) -> u64 {
        self.rest_at
    }

    /// Searches one more block; the hits in it, or `None` when the search is over. A block is small
    /// enough for the screen to wait for.
    pub fn step(&mut self) -> io::Result<Option<Vec<Hit>>> {
        if self.is_over {
            return Ok(None);
        }
        let mut hits = Vec::new();
        if self.rest_at >= self.end {
            self.is_over = true;
            return Ok(None);
        }
        match self.cursor.next(&mut self.chunk)? {
            Some(Piece::Bytes { offset }) => {
                if self.rest.is_empty() {
                    self.rest_at = offset;
                }
                self.search_chunk(&mut hits)?;
            }
            Some(Piece::Gap(_)) | None => {
                // What goes on after a gap is no part of this line.
                self.is_over = matches!(self.cursor.log().end(), end if self.cursor.at() >= end);
                let rest = std::mem::take(&mut self.rest);
                self.search(&rest, self.rest_at, &mut hits)?;
                self.rest_at = self.cursor.at();
            }
        }
        Ok(Some(hits))
    }

    /// Searches the lines that end in the chunk, and keeps what is left.
    fn search_chunk(&mut self, hits: &mut Vec<Hit>) -> io::Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        let mut from = 0;
        if !self.rest.is_empty() {
            let first = memchr::memchr(b'\n', &chunk).map_or(chunk.len(), |found| found + 1);
            self.rest.extend_from_slice(&chunk[..first]);
            from = first;
            if self.rest.last() == Some(&b'\n') || self.rest.len() >= LONGEST {
                let line = std::mem::take(&mut self.rest);
                self.search(&line, self.rest_at, hits)?;
                self.rest_at += line.len() as u64;
            }
        }
        let lines = memchr::memrchr(b'\n', &chunk[from..]).map_or(from, |found| from + found + 1);
        if lines > from {
            self.search(&chunk[from..lines], self.rest_at, hits)?;
            self.rest_at += (lines - from) as u64;
        }
        if lines < chunk.len() {
            self.rest.extend_from_slice(&chunk[lines..]);
        }
        self.chunk = chunk;
        Ok(())
    }

    /// Searches whole lines, the first of which begins at `at`.
    fn search(&self, lines: &[u8], at: u64, hits: &mut Vec<Hit>) -> io::Result<()> {
        let mut from = 0;
        while from < lines.len() {
            let found = self.matcher.find_at(lines, from).map_err(|error| io::Error::other(error.to_string()))?;
            let Some(found) = found else { return Ok(()) };
            let start = memchr::memrchr(b'\n', &lines[..found.start()]).map_or(0, |before| before + 1);
            let end = memchr::memchr(b'\n', &lines[found.start()..]).map_or(lines.len(), |next| found.start() + next);
            if at + start as u64 >= self.end {
                return Ok(());
            }
            hits.push(self.hit(lines, at, start..end, found.start()..found.end().min(end)));
            from = end + 1;
        }
        Ok(())
    }

    fn hit(&self, lines: &[u8], at: u64, line: Range<usize>, matched: Range<usize>) -> Hit {
        let shown = if line.len() <= EXCERPT {
            line.clone()
        } else {
            matched.start.saturating_sub(EXCERPT / 2).max(line.start)..(matched.start + EXCERPT / 2).min(line.end)
        };
        Hit {
            offset: at + matched.start as u64,
            line: at + line.start as u64,
            at: self.cursor.log().time_of(at + line.start as u64),
            matched: matched.start - shown.start..matched.end.min(shown.end) - shown.start,
            text: lines[shown].to_vec(),
        }
    }
}

impl Iterator for Search {
    type Item = io::Result<Hit>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(hit) = self.hits.pop_front() {
                return Some(Ok(hit));
            }
            match self.step() {
                Ok(Some(hits)) => self.hits.extend(hits),
                Ok(None) => return None,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
    }
}
