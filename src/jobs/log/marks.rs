//! The index of a segment: at which offset the log was at which time.

use crate::domain::Millis;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// After so much time whatever is printed gets a mark.
pub(super) const MARK_MILLIS: Millis = 250;

/// The size of a mark on disk: offset and time, little-endian.
const SIZE: u64 = 16;

/// The log reached an offset at a time: the byte at the offset came then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// The offset.
    pub offset: u64,
    /// The time.
    pub at: Millis,
}

/// The index as it is written.
#[derive(Debug)]
pub(super) struct MarksOut {
    file: File,
    written: u64,
}

impl MarksOut {
    /// Begins the index of a new segment.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        Ok(Self { file, written: 0 })
    }

    /// Adds a mark; one that can't be written is left out, and the one before serves.
    pub(super) fn add(&mut self, mark: Mark) {
        let mut bytes = [0; SIZE as usize];
        bytes[..8].copy_from_slice(&mark.offset.to_le_bytes());
        bytes[8..].copy_from_slice(&mark.at.to_le_bytes());
        if self.file.write_all_at(&bytes, self.written).is_ok() {
            self.written += SIZE;
        }
    }

    /// Brings it to disk.
    pub(super) fn sync(&self) {
        let _ = self.file.sync_data();
    }
}

/// The index as it is read. Offsets and times in it never fall.
#[derive(Debug)]
pub(super) struct Marks {
    file: File,
}

impl Marks {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)? })
    }

    /// The first mark: where and when the segment begins.
    pub(super) fn first(&self) -> Option<Mark> {
        self.get(0)
    }

    /// The last mark for which `is_before` holds, and the one that follows upon it. It must hold
    /// for a beginning and for nothing after.
    pub(super) fn last(&self, is_before: impl Fn(&Mark) -> bool) -> Option<(Mark, Option<Mark>)> {
        let count = self.count(is_before);
        Some((self.get(count.checked_sub(1)?)?, self.get(count)))
    }

    /// How many marks there are for which `is_before` holds.
    fn count(&self, is_before: impl Fn(&Mark) -> bool) -> u64 {
        let mut low = 0;
        let mut high = self.file.metadata().map_or(0, |meta| meta.len() / SIZE);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle) {
                Some(mark) if is_before(&mark) => low = middle + 1,
                // What a power cut left empty counts as after.
                Some(_) | None => high = middle,
            }
        }
        low
    }

    fn get(&self, number: u64) -> Option<Mark> {
        let mut bytes = [0; SIZE as usize];
        self.file.read_exact_at(&mut bytes, number * SIZE).ok()?;
        let (offset, at) = bytes.split_at(8);
        let mark = Mark {
            offset: u64::from_le_bytes(offset.try_into().ok()?),
            at: Millis::from_le_bytes(at.try_into().ok()?),
        };
        (mark.at > 0).then_some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_by_offset_and_by_time_and_what_was_cut_short_is_passed_over() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("output.idx");
        let mut out = MarksOut::create(&path).expect("made");
        for step in 0..100 {
            out.add(Mark { offset: 1000 + step * 10, at: 50_000 + step as i64 * 250 });
        }
        let file = OpenOptions::new().append(true).open(&path).expect("opened");
        file.set_len(100 * SIZE + 40).expect("grown by zeros");
        let marks = Marks::open(&path).expect("opened");
        assert_eq!(marks.first(), Some(Mark { offset: 1000, at: 50_000 }));
        let (before, after) = (Mark { offset: 1010, at: 50_250 }, Mark { offset: 1020, at: 50_500 });
        assert_eq!(marks.last(|mark| mark.offset <= 1015), Some((before, Some(after))));
        assert_eq!(marks.last(|mark| mark.offset <= 1_000_000), Some((Mark { offset: 1990, at: 74_750 }, None)));
        assert_eq!(marks.last(|mark| mark.at <= 50_499), Some((before, Some(after))));
        assert_eq!(marks.last(|mark| mark.offset < 1000), None);
    }
}
