//! The definition of a Job: what is run, where, with what streams, and how much of its log is kept.
//!
//! It is written once, before the Job's shim is started, and a restart uses the same one. Values
//! of our own environment never stand in it, only the names of those that may pass.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A Job's definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// What is run.
    pub command: Command,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// Names of variables of our environment that it may see besides those that every process may;
    /// what looks like a key does not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass: Vec<String>,
    /// Variables that are set for it, keys excepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<(String, String)>,
    /// Where its standard streams lead.
    pub streams: Streams,
    /// How much of what it prints is kept.
    pub log: LogLimits,
    /// What its records outlive.
    #[serde(default, skip_serializing_if = "Lasting::is_usual")]
    pub lasting: Lasting,
}

impl Spec {
    /// Defines a Job with a terminal of the usual size and the usual log.
    pub fn new(command: Command, cwd: impl Into<PathBuf>) -> Self {
        Self {
            command,
            cwd: cwd.into(),
            pass: Vec::new(),
            set: Vec::new(),
            streams: Streams::Terminal { size: Size::USUAL },
            log: LogLimits::default(),
            lasting: Lasting::default(),
        }
    }
}

/// What the records of a Job outlive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// Everything: each is on disk before it counts.
    #[default]
    Machine,
    /// Every process, and not a loss of power: they are left to the system, which spares a short
    /// command a wait for the disk at each. [`super::Folder::secure`] makes up for it.
    Processes,
}

impl Lasting {
    /// Whether nothing has to be said of it.
    fn is_usual(&self) -> bool {
        *self == Self::Machine
    }
}

/// What a Job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// A program with its arguments; a bare name is looked for in `PATH`.
    Program {
        /// The program.
        program: String,
        /// Its arguments.
        args: Vec<String>,
    },
    /// A line for the shell.
    Shell {
        /// The line.
        line: String,
    },
}

/// Where a Job's standard streams lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    /// To a terminal of its own; output and errors are one stream.
    Terminal {
        /// The terminal's size in the beginning.
        size: Size,
    },
    /// To two logs: output and errors apart.
    Separate {
        /// What it can read.
        input: Input,
    },
    /// To one log, in the order they come, and without a terminal.
    Together {
        /// What it can read.
        input: Input,
    },
}

/// What a Job without a terminal can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// Nothing: it reads the end of its input at once.
    Nothing,
    /// What is sent to it, until its input is closed.
    Sent,
}

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Rows.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

impl Size {
    /// What is taken where nobody says.
    pub const USUAL: Self = Self { rows: 24, cols: 80 };

    /// The largest that is kept a screen of.
    const LARGEST: Self = Self { rows: 500, cols: 1000 };

    /// Replaces what is unknown (some terminals say 0) and bounds the rest.
    pub fn sane(self) -> Self {
        let sane = |said: u16, usual: u16, largest: u16| if said == 0 { usual } else { said.min(largest) };
        Self {
            rows: sane(self.rows, Self::USUAL.rows, Self::LARGEST.rows),
            cols: sane(self.cols, Self::USUAL.cols, Self::LARGEST.cols),
        }
    }
}

/// How much of what a Job prints is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLimits {
    /// Beyond this many bytes, what is oldest goes.
    pub keep_bytes: u64,
}

impl LogLimits {
    /// In so many pieces a log is dropped.
    const PIECES: u64 = 16;

    /// How large one file of the log becomes.
    pub fn segment_bytes(self) -> u64 {
        (self.keep_bytes / Self::PIECES).clamp(4 * 1024, 64 * 1024 * 1024)
    }
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { keep_bytes: 1 << 30 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_reads_as_it_was_written() {
        let mut spec = Spec::new(Command::Shell { line: "make -j2 | tail".into() }, "/srv");
        spec.set.push(("MODE".into(), "fast".into()));
        let text = serde_json::to_string(&spec).expect("written");
        assert_eq!(serde_json::from_str::<Spec>(&text).expect("read"), spec);
        spec.command = Command::Program { program: "make".into(), args: vec!["-j2".into()] };
        spec.streams = Streams::Separate { input: Input::Nothing };
        let text = serde_json::to_string(&spec).expect("written");
        assert_eq!(serde_json::from_str::<Spec>(&text).expect("read"), spec);
    }

    #[test]
    fn a_size_that_is_unknown_or_absurd_becomes_a_usable_one() {
        assert_eq!(Size { rows: 0, cols: 0 }.sane(), Size::USUAL);
        assert_eq!(Size { rows: 50, cols: 0 }.sane(), Size { rows: 50, cols: 80 });
        assert_eq!(Size { rows: u16::MAX, cols: u16::MAX }.sane(), Size { rows: 500, cols: 1000 });
    }
}
