//! Walking through a log, piece by piece, gaps included. At the end one can wait and go on.

use super::gaps::Gap;
use super::read::Log;
use crate::domain::Millis;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// How much is read at once.
const CHUNK: usize = 256 * 1024;

/// A place in a log.
#[derive(Debug)]
pub struct Cursor {
    log: Log,
    at: u64,
    /// The file that is read at present, and where in the log it begins.
    file: Option<(File, u64)>,
    /// The last gap that was told.
    told: Option<Gap>,
}

/// What comes next in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes, now in the buffer.
    Bytes {
        /// The offset of the first.
        offset: u64,
    },
    /// Something is missing here.
    Gap(Gap),
}

impl Cursor {
    /// Stands at an offset; before what is kept means at the gap there.
    pub fn new(log: Log, at: u64) -> Self {
        Self { log, at, file: None, told: None }
    }

    /// The log that is walked through.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Where it stands.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// When the byte that comes next came.
    pub fn time(&self) -> Option<Millis> {
        self.log.time_of(self.at)
    }

    /// Takes the next piece; `None` at the end as far as the log has come. Bytes are put into
    /// `buffer`, of which what was there before is lost.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        buffer.clear();
        loop {
            if let Some(gap) = self.gap() {
                self.at = self.at.max(gap.offset);
                self.file = None;
                self.told = Some(gap.clone());
                return Ok(Some(Piece::Gap(gap)));
            }
            let offset = self.at;
            if self.read(buffer)? {
                self.at += buffer.len() as u64;
                return Ok(Some(Piece::Bytes { offset }));
            }
            // What is there and can't be read was removed since we looked.
            let changed = if offset < self.log.end() { self.log.list_again()? } else { self.log.refresh()? };
            if !changed {
                return Ok(None);
            }
        }
    }

    /// The gap that is to be told here.
    fn gap(&self) -> Option<Gap> {
        let is_here = |gap: &&Gap| {
            let from = if gap.loss_is_whole() { gap.offset - gap.bytes.min(gap.offset) } else { gap.offset };
            from <= self.at && self.at <= gap.offset
        };
        let mut here = self.log.gaps().iter().filter(is_here);
        match &self.told {
            None => here.next().cloned(),
            // Those before it at this place have been told as well.
            Some(told) if told.offset == self.at => here.skip_while(|gap| *gap != told).nth(1).cloned(),
            Some(_) => here.next().cloned(),
        }
    }

    /// Fills the buffer up to the next gap or the end of the file; says whether there was anything.
    fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let next_gap = self.log.gaps().iter().map(|gap| gap.offset).find(|offset| *offset > self.at);
        let room = next_gap.map_or(CHUNK as u64, |gap| (gap - self.at).min(CHUNK as u64)) as usize;
        if let Some((file, start)) = &self.file {
            buffer.resize(room, 0);
            let read = file.read_at(buffer, self.at - start)?;
            buffer.truncate(read);
            if read > 0 {
                return Ok(true);
            }
        }
        let Some((file, within, len)) = self.log.open_at(self.at)? else { return Ok(false) };
        buffer.resize(room.min(usize::try_from(len).unwrap_or(room)), 0);
        let read = file.read_at(buffer, within)?;
        buffer.truncate(read);
        self.file = Some((file, self.at - within));
        Ok(read > 0)
    }
}
