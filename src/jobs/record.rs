//! What is recorded of a Job: that it started, and how it ended. Evidence, never a guess.

use crate::domain::Millis;
use crate::process::{Identity, Mark, Member, StartError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;

/// The beginning of a Job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartRecord {
    /// The Job's id.
    pub job: String,
    /// What tells its processes from all others: the value of [`super::MARK`] in their environment.
    pub mark: String,
    /// Its shim.
    pub shim: Identity,
    /// Its command: the leader of its group.
    pub command: Identity,
    /// The session that it is in.
    pub session: i32,
    /// When the command was started.
    pub started_at: Millis,
}

impl StartRecord {
    pub(super) fn mark(&self) -> Mark {
        Mark::new(super::MARK, &self.mark)
    }
}

/// The end of a Job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    /// The Job's id.
    pub job: String,
    /// How it ended.
    pub end: End,
    /// When.
    pub ended_at: Millis,
    /// How many bytes its logs came to, dropped ones included.
    pub log_bytes: u64,
    /// How many bytes it printed that could not be kept.
    pub lost_bytes: u64,
    /// Whether its end had been asked for.
    pub stop: StopState,
    /// What it left behind in its session and was ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<Member>,
    /// What it left behind and still runs: it left the session before the Job ended by itself, or
    /// could not be ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Member>,
}

/// How a Job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The command exited with a code.
    Exited {
        /// The code.
        code: i32,
    },
    /// A signal ended the command.
    Signaled {
        /// Its number.
        signal: i32,
    },
    /// The command was not started.
    FailedToStart {
        /// What kind of obstacle there was.
        why: Obstacle,
        /// What the system said.
        message: String,
    },
}

/// Why a command was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// There is no such program (or its interpreter is not there).
    NotFound,
    /// The program may not be executed.
    NotAllowed,
    /// The file is no program that this system can run.
    NotAProgram,
    /// The folder to run in can't be used.
    Folder,
    /// The system refused what starting needs: processes, memory, terminals, room on the disk.
    System,
}

/// Whether the end of a Job has been asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopState {
    /// Nobody asked.
    NotAsked,
    /// It was told to end and did, within the grace it had.
    Asked,
    /// It was told to end and had to be killed.
    Killed,
}

impl End {
    /// Says why a command did not start.
    pub(super) fn failed(error: &StartError) -> Self {
        let why = match error {
            StartError::Folder { .. } => Obstacle::Folder,
            StartError::Program { source, .. } => Obstacle::of(source),
            StartError::System(_) => Obstacle::System,
        };
        Self::FailedToStart { why, message: error.to_string() }
    }
}

impl Obstacle {
    fn of(error: &io::Error) -> Self {
        match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::NotFound, _) => Self::NotFound,
            (io::ErrorKind::PermissionDenied, _) => Self::NotAllowed,
            (_, Some(number)) if number == rustix::io::Errno::NOEXEC.raw_os_error() => Self::NotAProgram,
            _ => Self::System,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited { code } => crate::process::Exit::Code(*code).fmt(f),
            Self::Signaled { signal } => crate::process::Exit::Signal(*signal).fmt(f),
            Self::FailedToStart { message, .. } => write!(f, "failed to start: {message}"),
        }
    }
}

/// The most processes that a record lists of each kind, so that it keeps to its room.
const LISTED: usize = 16;

/// The most of a command line that a record keeps.
const COMMAND: usize = 200;

/// Bounds a list of processes for a record.
pub(super) fn listed(members: Vec<Member>) -> Vec<Member> {
    let bound = |mut member: Member| {
        if member.command.len() > COMMAND {
            let end = (0..=COMMAND).rev().find(|end| member.command.is_char_boundary(*end)).unwrap_or(0);
            member.command.truncate(end);
            member.command.push('…');
        }
        member
    };
    members.into_iter().take(LISTED).map(bound).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obstacle_is_told_from_an_exit_code() {
        let of = |number| Obstacle::of(&io::Error::from_raw_os_error(number));
        assert_eq!(
            [of(2), of(13), of(8), of(11)],
            [Obstacle::NotFound, Obstacle::NotAllowed, Obstacle::NotAProgram, Obstacle::System]
        );
        assert_eq!(End::Exited { code: 127 }.to_string(), "exited 127");
        assert_eq!(End::Signaled { signal: 9 }.to_string(), "signaled 9 (KILL)");
    }

    #[test]
    fn the_largest_record_fits_into_its_room() {
        let member = Member { pid: i32::MAX, start_time: u64::MAX, command: "é".repeat(4000) };
        let many = listed(vec![member; 500]);
        let record = ExitRecord {
            job: "j_12345678".into(),
            end: End::FailedToStart { why: Obstacle::System, message: "x".repeat(4096) },
            ended_at: Millis::MAX,
            log_bytes: u64::MAX,
            lost_bytes: u64::MAX,
            stop: StopState::Killed,
            ended: many.clone(),
            survivors: many,
        };
        assert!(serde_json::to_vec(&record).expect("written").len() <= 16 * 1024);
    }
}
