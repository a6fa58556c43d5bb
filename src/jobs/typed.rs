//! When a person typed in a Job's terminal, so that an agent can be told.
//!
//! What was typed is not noted: it may have been a password, and what could be seen of it is in
//! the log. Noted are the time, how many bytes, and the range of the log that came meanwhile.

use crate::domain::Millis;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const FILE: &str = "typed.jsonl";

/// A person typed in a Job's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typed {
    /// When the first key came.
    pub from_at: Millis,
    /// When the last one came.
    pub to_at: Millis,
    /// How many bytes were typed.
    pub bytes: u64,
    /// Where the log was before.
    pub log_from: u64,
    /// Where the log was when typing was let go of.
    pub log_to: u64,
}

/// Reads when people typed in a Job's terminal, oldest first. What goes on is noted when it ends.
pub fn typed(folder: &Path) -> io::Result<Vec<Typed>> {
    let bytes = match std::fs::read(folder.join(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Takes note of what is typed.
#[derive(Debug)]
pub(super) struct Notes {
    folder: PathBuf,
    open: Option<Typed>,
}

impl Notes {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), open: None }
    }

    /// Takes note that something was typed.
    pub(super) fn typed(&mut self, bytes: usize, now: Millis, log: u64) {
        let open = self.open.get_or_insert(Typed { from_at: now, to_at: now, bytes: 0, log_from: log, log_to: log });
        open.bytes += bytes as u64;
        open.to_at = now;
    }

    /// Writes down what was typed, now that another types, or nobody.
    pub(super) fn close(&mut self, log: u64) {
        let Some(mut typed) = self.open.take() else { return };
        typed.log_to = log;
        let Ok(mut line) = serde_json::to_vec(&typed) else { return };
        line.push(b'\n');
        let path = self.folder.join(FILE);
        // A note that can't be written is a courtesy that fails; the log has what could be seen.
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let _ = opened.and_then(|mut file| file.write_all(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_between_taking_and_letting_go_is_one_note_without_its_content() {
        let scratch = tempfile::tempdir().expect("a folder");
        assert_eq!(typed(scratch.path()).expect("read"), []);
        let mut notes = Notes::new(scratch.path());
        notes.close(5);
        notes.typed(3, 100, 10);
        notes.typed(4, 200, 20);
        notes.close(30);
        notes.typed(1, 300, 40);
        notes.close(50);
        let first = Typed { from_at: 100, to_at: 200, bytes: 7, log_from: 10, log_to: 30 };
        let second = Typed { from_at: 300, to_at: 300, bytes: 1, log_from: 40, log_to: 50 };
        assert_eq!(typed(scratch.path()).expect("read"), [first, second]);
    }
}
