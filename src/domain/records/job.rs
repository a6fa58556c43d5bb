//! Jobs: commands that go on when everything else of ours has gone.

use super::{Actor, words};
use crate::domain::ids::*;
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// The state of a Job.
    JobState {
        /// It is to be started, or is being started.
        Starting = "starting",
        /// It runs.
        Running = "running",
        /// It was told to end and has not ended yet.
        Stopping = "stopping",
        /// It exited with a code.
        Exited = "exited",
        /// A signal ended it.
        Signaled = "signaled",
        /// It was not started, and why is known.
        FailedToStart = "failed_to_start",
        /// It was called off before it was started.
        Cancelled = "cancelled",
        /// It is gone, and how it ended is not known.
        Uncertain = "uncertain" }
    /// What a Job's state rests on.
    JobEvidence {
        /// Whoever waited for it wrote its end down.
        ExitRecord = "exit_record",
        /// It is gone and left no record.
        GoneWithoutRecord = "gone_without_record",
        /// The machine was started anew since.
        BootChanged = "boot_changed",
        /// Its shim was lost while it started it.
        ShimLost = "shim_lost",
        /// The system said why it could not be started.
        SpawnError = "spawn_error",
        /// Nobody ever started it.
        NeverClaimed = "never_claimed" }
    /// What is done with a Job that is not as it should be.
    JobReaction {
        /// It is told to end.
        Stop = "stop",
        /// It is told to end, and started again.
        Restart = "restart" }
    /// What a Job is for.
    JobRole {
        /// Something that comes to an end; its Task waits for it.
        Work = "work",
        /// Something that is to go on, such as a server; no Task waits for it.
        Service = "service" }
}

impl JobState {
    /// Whether the Job has ended; then nothing changes its state any more.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Exited | Self::Signaled | Self::FailedToStart | Self::Cancelled | Self::Uncertain => true,
            Self::Starting | Self::Running | Self::Stopping => false,
        }
    }
}

/// What a Job runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobCommand {
    /// A program with its arguments.
    Program(Vec<String>),
    /// A line for the shell.
    Shell(String),
}

impl fmt::Display for JobCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shell(line) => f.write_str(line),
            Self::Program(words) => {
                let is_plain = |word: &str| {
                    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c))
                };
                for (ix, word) in words.iter().enumerate() {
                    let gap = if ix > 0 { " " } else { "" };
                    match is_plain(word) {
                        true => write!(f, "{gap}{word}")?,
                        false => write!(f, "{gap}'{}'", word.replace('\'', r"'\''"))?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// What is normal for a Job; what is absent is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobLevels {
    /// The longest time in which it may print nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_ms: Option<u64>,
    /// How far it must come in how much time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pace: Option<JobPace>,
    /// How long it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// How much memory it may have resident, with everything that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// How much it may print.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// What is done at the first breach, without asking anybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reaction: Option<JobReaction>,
}

impl JobLevels {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        *self == Self { reaction: self.reaction, ..Self::default() }
    }
}

/// The least rate of progress.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JobPace {
    /// This much of the whole, between 0 and 1 …
    pub fraction: f64,
    /// … in this time.
    pub within_ms: u64,
}

/// A Job as it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobDefinition {
    /// Its name; empty: made from the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What is run.
    pub command: JobCommand,
    /// The folder it runs in.
    pub cwd: String,
    /// Whether it has a terminal; without one its errors are kept apart.
    pub terminal: bool,
    /// What it is for.
    pub role: JobRole,
    /// Output that is to be told of when it comes: regular expressions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<String>,
    /// What is normal for it.
    #[serde(default, skip_serializing_if = "JobLevels::is_empty")]
    pub levels: JobLevels,
}

/// Which processes a Job is; number, start and boot together are an identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobProcess {
    /// The command's number.
    pub pid: i32,
    /// When the command was started, in the kernel's count.
    pub pid_start: u64,
    /// The shim's number.
    pub shim_pid: i32,
    /// When the shim was started, in the kernel's count.
    pub shim_start: u64,
    /// The boot of the machine.
    pub boot_id: String,
    /// When the command was started.
    pub started_at: Millis,
}

/// How a Job was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobStop {
    /// How long it has after TERM before it is killed.
    pub grace_ms: u64,
    /// Whether it is to be started again when it has ended.
    pub restart: bool,
}

/// How a Job ended, and what that rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEnd {
    /// The code it exited with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What that rests on.
    pub evidence: JobEvidence,
    /// In words: why it was not started, why nothing is known, what it left behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many bytes it printed.
    pub log_bytes: u64,
    /// When it printed something last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output_at: Option<Millis>,
    /// The last line it printed, for a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// When it ended, as far as that is known; else when that was noticed.
    pub ended_at: Millis,
}

/// A Job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Names what asked for it, so that it is started once: a command or a tool call.
    pub origin: String,
    /// The Task it runs for; a person's own has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Who started it.
    pub actor: Actor,
    /// Its definition.
    #[serde(flatten)]
    pub definition: JobDefinition,
    /// Its state.
    pub state: JobState,
    /// The processes it is, once it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<JobProcess>,
    /// How it was told to end, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<JobStop>,
    /// Something that is to be known of it while it runs: that its shim is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Up to where its log was looked through for what is watched for.
    pub matched_through: u64,
    /// What of it is not, or was not, as it should be: each is told once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breached: Vec<String>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<JobEnd>,
    /// When it was asked for.
    pub created_at: Millis,
}

impl Job {
    /// Its state in the words of a person: `exited 7`, `signaled 9`, `running`.
    pub fn told(&self) -> String {
        match &self.end {
            Some(JobEnd { exit_code: Some(code), .. }) => format!("{} {code}", self.state),
            Some(JobEnd { signal: Some(signal), .. }) => format!("{} {signal}", self.state),
            Some(_) | None => self.state.as_str().replace('_', " "),
        }
    }
}
