//! A log as it is read: its segments as one range of offsets, and its times.

use super::Stream;
use super::gaps::{self, Gap, Loss};
use super::marks::{MARK_MILLIS, Mark, Marks};
use crate::domain::Millis;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// How much is looked at at once when going backwards.
const BLOCK: u64 = 64 * 1024;

/// The log of one stream, as far as it has come. [`Log::refresh`] looks again.
#[derive(Debug)]
pub struct Log {
    folder: PathBuf,
    stream: Stream,
    segments: Vec<Segment>,
    gaps: Vec<Gap>,
}

/// A file of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    number: u32,
    start: u64,
    len: u64,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + self.len
    }
}

impl Log {
    /// Opens the log of a Job's stream; one that is not there yet is empty.
    pub fn open(folder: impl Into<PathBuf>, stream: Stream) -> io::Result<Self> {
        let mut log = Self { folder: folder.into(), stream, segments: Vec::new(), gaps: Vec::new() };
        log.list()?;
        Ok(log)
    }

    /// Looks again how far the log has come; says whether it changed.
    pub fn refresh(&mut self) -> io::Result<bool> {
        let before = self.end();
        if let Some(last) = self.segments.last_mut() {
            let next = self.stream.segment(&self.folder, last.number + 1);
            match fs::metadata(self.stream.segment(&self.folder, last.number)) {
                Ok(meta) if meta.len() >= last.len && !next.exists() => {
                    last.len = meta.len();
                    return Ok(self.end() != before);
                }
                Ok(_) | Err(_) => {}
            }
        }
        self.list()?;
        Ok(self.end() != before)
    }

    /// Looks again which files there are; says whether they changed.
    pub(super) fn list_again(&mut self) -> io::Result<bool> {
        let before = self.segments.clone();
        self.list()?;
        Ok(self.segments != before)
    }

    /// The folder it lies in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The first offset that is kept.
    pub fn start(&self) -> u64 {
        self.segments.iter().find(|segment| segment.len > 0).map_or(self.end(), |segment| segment.start)
    }

    /// The offset that the next byte will have.
    pub fn end(&self) -> u64 {
        self.segments.last().map_or(0, Segment::end)
    }

    /// What is missing, in the order of places.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// When the byte at an offset came, to a quarter of a second.
    pub fn time_of(&self, offset: u64) -> Option<Millis> {
        self.last_mark(|mark| mark.offset <= offset).map(|(mark, _)| mark.at)
    }

    /// The offset from which everything came at `time` or later; it may begin a quarter of a second
    /// earlier, never later.
    pub fn offset_at(&self, time: Millis) -> u64 {
        let Some((mark, until)) = self.last_mark(|mark| mark.at < time) else { return self.start() };
        // What comes later than that after a mark has a mark of its own.
        let is_past = time - mark.at >= MARK_MILLIS;
        if is_past { until } else { mark.offset }.max(self.start())
    }

    /// The offset at which the last `lines` lines begin, or the last `bytes` bytes where that is less.
    pub fn tail(&self, lines: usize, bytes: u64) -> io::Result<u64> {
        self.before(self.end(), lines, bytes)
    }

    /// The offset at which the last `lines` lines before another offset begin, or the last `bytes`
    /// bytes where that is less.
    pub fn before(&self, end: u64, lines: usize, bytes: u64) -> io::Result<u64> {
        let mut at = end.min(self.end());
        let floor = at.saturating_sub(bytes).max(self.start());
        let mut block = vec![0; BLOCK as usize];
        // The line break that ends the last line is none between two lines.
        let mut wanted = lines + 1;
        let mut is_last_byte = true;
        while at > floor {
            let from = at.saturating_sub(BLOCK).max(floor);
            let read = self.read_all(from, &mut block[..(at - from) as usize])?;
            let block = &block[..read];
            if is_last_byte && block.last().is_some_and(|byte| *byte != b'\n') {
                wanted -= 1;
            }
            is_last_byte = false;
            for found in memchr::memrchr_iter(b'\n', block) {
                wanted = wanted.saturating_sub(1);
                if wanted == 0 {
                    return Ok(from + found as u64 + 1);
                }
            }
            at = from;
        }
        Ok(floor)
    }

    /// Reads what lies at an offset, as much as fits and lies in one file; nothing at the end and
    /// where something is missing.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(segment) = self.segment_at(offset) else { return Ok(0) };
        let file = match File::open(self.stream.segment(&self.folder, segment.number)) {
            Ok(file) => file,
            // Dropped since we looked.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let room = usize::try_from(segment.end() - offset).unwrap_or(usize::MAX).min(buffer.len());
        file.read_at(&mut buffer[..room], offset - segment.start)
    }

    /// Reads a range that may lie in several files, as far as it is there.
    pub fn read_all(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read(offset + done as u64, &mut buffer[done..])? {
                0 => break,
                read => done += read,
            }
        }
        Ok(done)
    }

    /// Opens the file that holds an offset; says where in it that is, and how much of it there is.
    pub(super) fn open_at(&self, offset: u64) -> io::Result<Option<(File, u64, u64)>> {
        let Some(segment) = self.segment_at(offset) else { return Ok(None) };
        match File::open(self.stream.segment(&self.folder, segment.number)) {
            Ok(file) => Ok(Some((file, offset - segment.start, segment.end() - offset))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The last mark for which `is_before` holds, which must hold for a beginning only, and the
    /// offset up to which it is the last.
    pub(super) fn last_mark(&self, is_before: impl Fn(&Mark) -> bool) -> Option<(Mark, u64)> {
        self.segments.iter().rev().find_map(|segment| {
            let marks = Marks::open(&self.stream.index(&self.folder, segment.number)).ok()?;
            let (mark, next) = marks.last(&is_before)?;
            Some((mark, next.map_or(segment.end(), |next| next.offset)))
        })
    }

    fn segment_at(&self, offset: u64) -> Option<&Segment> {
        self.segments.iter().rev().find(|segment| segment.start <= offset && offset < segment.end())
    }

    fn list(&mut self) -> io::Result<()> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let mut numbers: Vec<u32> = Vec::new();
        for entry in entries {
            if let Some(number) = entry?.file_name().to_str().and_then(|name| self.stream.number(name)) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mut end = 0;
        let mut segments = Vec::with_capacity(numbers.len());
        for number in numbers {
            let first = Marks::open(&self.stream.index(&self.folder, number)).ok().and_then(|marks| marks.first());
            let len = fs::metadata(self.stream.segment(&self.folder, number)).map_or(0, |meta| meta.len());
            // Without its index a segment follows upon the one before it.
            let start = first.map_or(end, |mark| mark.offset);
            end = start + len;
            segments.push(Segment { number, start, len });
        }
        self.segments = segments;
        self.gaps = self.find_gaps();
        Ok(())
    }

    /// What was noted as missing, and what is missing without a note.
    fn find_gaps(&self) -> Vec<Gap> {
        let noted = gaps::read(&self.stream.gaps(&self.folder));
        let mut gaps: Vec<Gap> =
            noted.iter().filter(|gap| matches!(gap.loss, Loss::NotWritten { .. })).cloned().collect();
        let mut end = 0;
        for segment in &self.segments {
            if segment.start > end {
                let known = noted.iter().rev().find(|gap| gap.offset == segment.start && gap.loss_is_whole());
                gaps.push(Gap {
                    offset: segment.start,
                    at: known.and_then(|gap| gap.at),
                    bytes: segment.start - end,
                    loss: known.map_or(Loss::Removed, |gap| gap.loss.clone()),
                });
            }
            if segment.len > 0 {
                end = segment.end();
            }
        }
        gaps.sort_by_key(|gap| gap.offset);
        let start = self.start();
        gaps.retain(|gap| gap.offset >= start);
        gaps
    }
}
