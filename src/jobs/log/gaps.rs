//! What is missing of a log, and why: said in its place.

use crate::domain::Millis;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A place in a log at which something is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// Where the log goes on after it.
    pub offset: u64,
    /// When it was noticed, or ended; absent when nobody noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// How many bytes are missing.
    pub bytes: u64,
    /// Why.
    pub loss: Loss,
}

/// Why something is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// The log is kept to a size, and what is oldest went.
    Dropped,
    /// Its file was removed, moved away or cut by somebody else.
    Removed,
    /// The disk did not take it; these bytes are in no offset.
    NotWritten {
        /// What the system said.
        why: String,
        /// Since when.
        since: Millis,
    },
}

impl Gap {
    /// Whether what is missing has offsets of its own.
    pub(super) fn loss_is_whole(&self) -> bool {
        match self.loss {
            Loss::Dropped | Loss::Removed => true,
            Loss::NotWritten { .. } => false,
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes;
        match &self.loss {
            Loss::Dropped => write!(f, "{bytes} bytes before this are no longer kept"),
            Loss::Removed => write!(f, "{bytes} bytes are missing here: the log was removed or cut by somebody else"),
            Loss::NotWritten { why, .. } => {
                write!(f, "{bytes} bytes are missing here: they could not be written ({why})")
            }
        }
    }
}

/// Adds a gap to a list of gaps.
pub(super) fn append(path: &Path, gap: &Gap) -> io::Result<()> {
    // The line break comes first, so that one cut short spoils no other.
    let mut line = vec![b'\n'];
    line.extend(serde_json::to_vec(gap)?);
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(&line)
}

/// Reads a list of gaps, in the order of their places.
pub(super) fn read(path: &Path) -> Vec<Gap> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let mut gaps: Vec<Gap> =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
    gaps.sort_by_key(|gap| gap.offset);
    gaps
}
