//! The lines of a log, with their times and with what is missing between them.

use super::cursor::{Cursor, Piece};
use super::gaps::Gap;
use super::marks::Mark;
use super::read::Log;
use crate::domain::Millis;
use std::io;

/// The longest line that is given in one piece; what is longer comes as several.
pub const LONGEST: usize = 1024 * 1024;

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line, or a part of one that is too long.
    Text {
        /// Where it begins.
        offset: u64,
        /// When its beginning came, to a quarter of a second.
        at: Option<Millis>,
        /// Its bytes, as they were printed, without the line break.
        bytes: Vec<u8>,
        /// Whether it has come to its end.
        end: LineEnd,
    },
    /// Something is missing here.
    Gap(Gap),
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// By a line break.
    Break,
    /// It goes on in the next piece.
    Continues,
    /// The log ends here; more may come.
    Open,
}

/// Walks through a log by lines, up to where it ended when it was reached.
#[derive(Debug)]
pub struct Lines {
    cursor: Cursor,
    buffer: Vec<u8>,
    /// What is left of the buffer begins here.
    from: usize,
    /// The line as far as it was read, and where it begins.
    line: Vec<u8>,
    offset: u64,
    gap: Option<Gap>,
    /// The last mark that was looked up, and the offset up to which it holds.
    mark: Option<(Mark, u64)>,
    end: Option<u64>,
}

impl Lines {
    /// Walks from an offset on.
    pub fn new(log: Log, from: u64) -> Self {
        Self {
            cursor: Cursor::new(log, from),
            buffer: Vec::new(),
            from: 0,
            line: Vec::new(),
            offset: from,
            gap: None,
            mark: None,
            end: None,
        }
    }

    /// Stops before the first line that begins at `end` or later.
    pub fn until(mut self, end: u64) -> Self {
        self.end = Some(end);
        self
    }

    /// Takes the next line; `None` at the end. A last line without a break is given as it is.
    pub fn next_line(&mut self) -> io::Result<Option<Line>> {
        if let Some(gap) = self.gap.take() {
            self.offset = self.cursor.at();
            return Ok(Some(Line::Gap(gap)));
        }
        loop {
            if self.line.is_empty() && self.end.is_some_and(|end| self.offset >= end) {
                return Ok(None);
            }
            let rest = &self.buffer[self.from..];
            if let Some(found) = memchr::memchr(b'\n', rest) {
                self.line.extend_from_slice(&rest[..found]);
                self.from += found + 1;
                return Ok(Some(self.take(LineEnd::Break)));
            }
            self.line.extend_from_slice(rest);
            self.from = 0;
            self.buffer.clear();
            if self.line.len() >= LONGEST {
                return Ok(Some(self.take(LineEnd::Continues)));
            }
            match self.cursor.next(&mut self.buffer)? {
                Some(Piece::Bytes { .. }) => {}
                Some(Piece::Gap(gap)) if self.line.is_empty() => {
                    self.offset = self.cursor.at();
                    return Ok(Some(Line::Gap(gap)));
                }
                Some(Piece::Gap(gap)) => {
                    self.gap = Some(gap);
                    return Ok(Some(self.take(LineEnd::Continues)));
                }
                None if self.line.is_empty() => return Ok(None),
                None => return Ok(Some(self.take(LineEnd::Open))),
            }
        }
    }

    fn take(&mut self, end: LineEnd) -> Line {
        let offset = self.offset;
        let bytes = std::mem::take(&mut self.line);
        self.offset += bytes.len() as u64 + u64::from(end == LineEnd::Break);
        Line::Text { offset, at: self.time_of(offset), bytes, end }
    }

    fn time_of(&mut self, offset: u64) -> Option<Millis> {
        if let Some((mark, until)) = self.mark
            && (mark.offset..until).contains(&offset)
        {
            return Some(mark.at);
        }
        self.mark = self.cursor.log().last_mark(|mark| mark.offset <= offset);
        self.mark.map(|(mark, _)| mark.at)
    }
}

impl Iterator for Lines {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().transpose()
    }
}
