//! The log as the shim writes it. Whatever happens to it, its Job goes on.

use super::Stream;
use super::gaps::{self, Gap, Loss};
use super::marks::{MARK_MILLIS, Mark, MarksOut};
use crate::domain::Millis;
use crate::jobs::spec::{Lasting, LogLimits};
use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

/// A mark is set after so many bytes, too.
const MARK_BYTES: u64 = 64 * 1024;

/// Writes one stream of a Job.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    stream: Stream,
    limits: LogLimits,
    lasting: Lasting,
    segment: Segment,
    /// The segments that are kept: number and first offset.
    kept: VecDeque<(u32, u64)>,
    end: u64,
    mark: Mark,
    /// What the disk does not take at present.
    trouble: Option<Trouble>,
    lost: u64,
    /// Gaps that could not be noted yet.
    unnoted: Vec<Gap>,
}

/// The segment that is written to.
#[derive(Debug)]
struct Segment {
    number: u32,
    file: File,
    index: MarksOut,
    identity: (u64, u64),
    /// How many bytes it should hold.
    size: u64,
}

/// A time in which the disk does not take what is printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Since when.
    pub since: Millis,
    /// How much was lost in it.
    pub bytes: u64,
    /// What the system said.
    pub why: String,
}

impl Writer {
    /// Begins the log of a stream.
    pub fn create(folder: impl Into<PathBuf>, stream: Stream, limits: LogLimits, now: Millis) -> io::Result<Self> {
        let folder = folder.into();
        let mut segment = Segment::create(&folder, stream, 0)?;
        let mark = Mark { offset: 0, at: now };
        segment.index.add(mark);
        Ok(Self {
            folder,
            stream,
            limits,
            lasting: Lasting::default(),
            segment,
            kept: VecDeque::from([(0, 0)]),
            end: 0,
            mark,
            trouble: None,
            lost: 0,
            unnoted: Vec::new(),
        })
    }

    /// Says what the log is to outlive.
    pub fn lasting(self, lasting: Lasting) -> Self {
        Self { lasting, ..self }
    }

    /// Adds what was printed. What the disk does not take is counted, and the log says so in its
    /// place as soon as it takes something again.
    pub fn append(&mut self, bytes: &[u8], now: Millis) {
        // The clock may be set back; the index never goes back.
        let now = now.max(self.mark.at);
        let is_due = self.end - self.mark.offset >= MARK_BYTES || now - self.mark.at >= MARK_MILLIS;
        if is_due {
            self.look_after_segment(now);
            self.note_gaps();
        }
        let (written, error) = self.segment.append(bytes);
        if written > 0 {
            if let Some(trouble) = self.trouble.take() {
                let loss = Loss::NotWritten { why: trouble.why, since: trouble.since };
                self.note(Gap { offset: self.end, at: Some(now), bytes: trouble.bytes, loss });
            }
            if is_due {
                self.set_mark(now);
            }
        }
        self.end += written as u64;
        if let Some(error) = error {
            let missing = (bytes.len() - written) as u64;
            self.lost += missing;
            let trouble = self.trouble.get_or_insert_with(|| Trouble { since: now, bytes: 0, why: error.to_string() });
            trouble.bytes += missing;
        }
    }

    /// Ends the log and brings its last segment to disk.
    pub fn finish(&mut self, now: Millis) {
        if let Some(trouble) = self.trouble.take() {
            let loss = Loss::NotWritten { why: trouble.why, since: trouble.since };
            self.note(Gap { offset: self.end, at: Some(now.max(self.mark.at)), bytes: trouble.bytes, loss });
        }
        self.note_gaps();
        match self.lasting {
            Lasting::Machine => {
                let _ = self.segment.file.sync_data();
                self.segment.index.sync();
            }
            Lasting::Processes => {}
        }
    }

    /// How many bytes were kept so far, dropped ones included.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// How many bytes could not be kept.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether the disk takes nothing at present.
    pub fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    fn set_mark(&mut self, now: Millis) {
        self.mark = Mark { offset: self.end, at: now };
        self.segment.index.add(self.mark);
    }

    /// Begins a new segment when this one is full, or is no longer what lies there.
    fn look_after_segment(&mut self, now: Millis) {
        if !self.segment.is_in_place(&self.stream.segment(&self.folder, self.segment.number)) {
            let bytes = self.segment.size;
            if self.next_segment(now) {
                self.note(Gap { offset: self.end, at: Some(now), bytes, loss: Loss::Removed });
            }
        } else if self.segment.size >= self.limits.segment_bytes() {
            self.next_segment(now);
            self.drop_oldest(now);
        }
    }

    /// Begins the next segment; where that fails the present one goes on.
    fn next_segment(&mut self, now: Millis) -> bool {
        let Ok(segment) = Segment::create(&self.folder, self.stream, self.segment.number + 1) else { return false };
        self.kept.push_back((segment.number, self.end));
        self.segment = segment;
        self.set_mark(now);
        true
    }

    fn drop_oldest(&mut self, now: Millis) {
        while let (Some(&(number, start)), Some(&(_, next))) = (self.kept.front(), self.kept.get(1)) {
            if self.end - start <= self.limits.keep_bytes {
                return;
            }
            self.kept.pop_front();
            self.note(Gap { offset: next, at: Some(now), bytes: next, loss: Loss::Dropped });
            self.note_gaps();
            let _ = fs::remove_file(self.stream.segment(&self.folder, number));
            let _ = fs::remove_file(self.stream.index(&self.folder, number));
        }
    }

    fn note(&mut self, gap: Gap) {
        self.unnoted.push(gap);
    }

    /// Writes down the gaps that are not yet; a full disk lets them wait.
    fn note_gaps(&mut self) {
        let path = self.stream.gaps(&self.folder);
        while let Some(gap) = self.unnoted.first() {
            if gaps::append(&path, gap).is_err() {
                return;
            }
            self.unnoted.remove(0);
        }
    }
}

impl Segment {
    fn create(folder: &std::path::Path, stream: Stream, number: u32) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(stream.segment(folder, number))?;
        let meta = file.metadata()?;
        let index = MarksOut::create(&stream.index(folder, number))?;
        Ok(Self { number, file, index, identity: (meta.dev(), meta.ino()), size: meta.len() })
    }

    /// Writes what the disk takes; says how much that was, and why it was not all.
    fn append(&mut self, bytes: &[u8]) -> (usize, Option<io::Error>) {
        let mut written = 0;
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(0) => return (written, Some(io::ErrorKind::WriteZero.into())),
                Ok(more) => {
                    written += more;
                    self.size += more as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return (written, Some(error)),
            }
        }
        (written, None)
    }

    /// Whether the file that is written to is the one that others find, whole.
    fn is_in_place(&self, path: &std::path::Path) -> bool {
        fs::symlink_metadata(path)
            .is_ok_and(|meta| (meta.dev(), meta.ino()) == self.identity && meta.len() >= self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cursor, Log, Piece};
    use super::*;

    fn writer(folder: &std::path::Path, keep_bytes: u64) -> Writer {
        Writer::create(folder, Stream::Output, LogLimits { keep_bytes }, 1000).expect("begun")
    }

    /// The log as one text, gaps in brackets.
    fn text(folder: &std::path::Path) -> String {
        let mut cursor = Cursor::new(Log::open(folder, Stream::Output).expect("opened"), 0);
        let mut text = String::new();
        let mut buffer = Vec::new();
        while let Some(piece) = cursor.next(&mut buffer).expect("read") {
            match piece {
                Piece::Bytes { .. } => text.push_str(&String::from_utf8_lossy(&buffer)),
                Piece::Gap(gap) => text.push_str(&format!("[{gap}]")),
            }
        }
        text
    }

    #[test]
    fn a_full_disk_leaves_a_gap_that_is_said_in_its_place() {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut log = writer(scratch.path(), 1 << 20);
        log.append(b"before\n", 1000);
        let full = OpenOptions::new().write(true).open("/dev/full").expect("opened");
        let file = std::mem::replace(&mut log.segment.file, full);
        log.append(b"lost", 1010);
        log.append(b" too\n", 2000);
        assert_eq!(log.trouble().map(|trouble| (trouble.since, trouble.bytes)), Some((1010, 9)));
        log.segment.file = file;
        log.append(b"after\n", 3000);
        assert!(log.trouble().is_none());
        log.finish(3000);
        assert_eq!((log.end(), log.lost()), (13, 9));
        let said = "[9 bytes are missing here: they could not be written (No space left on device (os error 28))]";
        assert_eq!(text(scratch.path()), format!("before\n{said}after\n"));
    }

    #[test]
    fn a_log_that_is_removed_or_cut_underneath_goes_on_and_says_so() {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut log = writer(scratch.path(), 1 << 20);
        log.append(b"first\n", 1000);
        fs::remove_file(scratch.path().join("output.log")).expect("removed");
        log.append(b"second\n", 2000);
        File::create(scratch.path().join("output.1.log")).expect("cut");
        log.append(b"third\n", 3000);
        log.finish(3000);
        let said = "[13 bytes are missing here: the log was removed or cut by somebody else]";
        assert_eq!(text(scratch.path()), format!("{said}third\n"));
        assert_eq!(log.end(), 19);
    }

    #[test]
    fn the_folder_may_vanish_and_the_job_goes_on() {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut log = writer(scratch.path(), 1 << 20);
        fs::remove_dir_all(scratch.path()).expect("removed");
        for second in 1..10 {
            log.append(b"into the void\n", second * 1000);
        }
        log.finish(20_000);
        assert_eq!(log.end(), 9 * 14);
    }

    #[test]
    fn what_is_oldest_goes_and_offsets_stay() {
        let scratch = tempfile::tempdir().expect("a folder");
        let mut log = writer(scratch.path(), 64 * 1024);
        let line = [b'x'; 1023];
        for number in 0..1000_u32 {
            let mut line = line.to_vec();
            line[..4].copy_from_slice(&format!("{number:04}").into_bytes());
            line.push(b'\n');
            log.append(&line, 1000 + i64::from(number) * 250);
        }
        log.finish(1_000_000);
        let read = Log::open(scratch.path(), Stream::Output).expect("opened");
        assert_eq!(read.end(), 1000 * 1024);
        assert!(read.start() >= 1000 * 1024 - 70 * 1024, "{}", read.start());
        let text = text(scratch.path());
        let start = read.start();
        assert!(text.starts_with(&format!("[{start} bytes before this are no longer kept]")), "{}", &text[..80]);
        let first = start / 1024;
        assert!(text.contains(&format!("]{first:04}xx")));
        assert_eq!(read.time_of(start), Some(1000 + first as i64 * 250));
        let files = fs::read_dir(scratch.path()).expect("read").count();
        assert!(files <= 2 * 18 + 1, "{files} files");
    }
}
