//! What is to be seen of a Job: what its processes use, how far it has come, what it said last.

use super::folder::Folder;
use super::log::{Line, Lines, Log, Stream, shown};
use super::progress::{Progress, progress};
use super::record::StartRecord;
use crate::domain::Millis;
use crate::process::{Table, Usage};
use std::io;

/// So many bytes of the end of a log are looked at for its last line.
const TAIL: u64 = 16 * 1024;

/// The most that is given of a line, in characters.
const LINE: usize = 500;

/// How many of the last lines are looked at for progress.
const LINES: usize = 8;

/// What a Job's log says of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    /// How many bytes it printed, dropped ones included.
    pub bytes: u64,
    /// When it printed something last.
    pub at: Option<Millis>,
    /// The last line that is not empty, as it is shown.
    pub line: Option<String>,
    /// How far it has come.
    pub progress: Option<Progress>,
}

/// Reads what a Job has said, out of both its logs.
pub fn said(folder: &Folder) -> io::Result<Said> {
    let mut all = Said::default();
    for stream in [Stream::Errors, Stream::Output] {
        let log = Log::open(folder.path(), stream)?;
        let bytes = log.end();
        if bytes == 0 {
            continue;
        }
        all.bytes += bytes;
        let at = log.time_of(bytes - 1);
        let from = log.tail(LINES, TAIL)?;
        let mut lines: Vec<String> = Vec::new();
        // One that floods prints faster than its lines are read.
        let mut walk = Lines::new(log, from).until(bytes);
        while let Some(line) = walk.next_line()? {
            // What stands before a gap and after it is no one line.
            let Line::Text { bytes, .. } = line else { continue };
            let text = shown(&bytes).trim_end().to_owned();
            if !text.trim().is_empty() {
                lines.push(text);
            }
        }
        if let Some(found) = lines.iter().rev().find_map(|line| progress(line)) {
            all.progress = Some(found);
        }
        if at >= all.at {
            all.at = at;
            all.line = lines.last().map(|line| line.chars().take(LINE).collect()).or(all.line);
        }
    }
    Ok(all)
}

/// Adds up what a Job's command and everything that it started use.
pub fn usage(table: &Table, record: &StartRecord) -> Usage {
    table.usage(record.shim.pid, &record.mark())
}
