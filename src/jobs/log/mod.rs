//! A Job's log: every byte as it was printed, with the times at which it came.
//!
//! The log of a stream lies in segments, `output.log`, `output.1.log` and so on (`errors…` for
//! errors that are kept apart). Beside each lies an index of marks (`output.idx`: offset, Unix
//! milliseconds) and beside all of them `output.gaps`, which says what is missing and why. Offsets
//! count what was kept from the beginning of the Job, so they stay the same when old segments go.
//!
//! [`Writer`] is the shim's; it never fails its Job. [`Log`] is everyone else's: read ranges, the
//! last lines, since a time; [`Lines`] and [`Search`] walk it, [`Watcher`] tells when it grew.
//! Nothing here changes a byte; [`shown`] is for the eye.

mod cursor;
mod gaps;
mod lines;
mod marks;
mod read;
mod search;
mod watch;
mod write;

pub use cursor::{Cursor, Piece};
pub use gaps::{Gap, Loss};
pub use lines::{Line, LineEnd, Lines};
pub use read::Log;
pub use search::{Hit, Pattern, PatternError, Search};
pub use watch::Watcher;
pub use write::Writer;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Which of a Job's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// What it prints; with a terminal everything.
    Output,
    /// Its errors, where it has no terminal.
    Errors,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Errors => "errors",
        }
    }

    fn segment(self, folder: &Path, number: u32) -> PathBuf {
        self.file(folder, number, "log")
    }

    fn index(self, folder: &Path, number: u32) -> PathBuf {
        self.file(folder, number, "idx")
    }

    fn gaps(self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.gaps", self.name()))
    }

    fn file(self, folder: &Path, number: u32, kind: &str) -> PathBuf {
        folder.join(match number {
            0 => format!("{}.{kind}", self.name()),
            number => format!("{}.{number}.{kind}", self.name()),
        })
    }

    /// The number of the segment that a file's name belongs to.
    fn number(self, file: &str) -> Option<u32> {
        let rest = file.strip_prefix(self.name())?.strip_prefix('.')?;
        match rest.split_once('.') {
            None => matches!(rest, "log" | "idx").then_some(0),
            Some((number, "log" | "idx")) => number.parse().ok().filter(|number| *number > 0),
            Some(_) => None,
        }
    }
}

/// Shows what was printed: progress that overwrote itself is as it ended, and nothing drives the
/// terminal. Give it whole lines.
pub fn shown(raw: &[u8]) -> String {
    match String::from_utf8_lossy(raw) {
        Cow::Borrowed(text) => crate::domain::sanitise::output(text).into_owned(),
        Cow::Owned(text) => crate::domain::sanitise::output(&text).into_owned(),
    }
}

#[cfg(test)]
mod tests;
