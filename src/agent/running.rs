//! What a call runs, as whoever waits for it sees it: how it is asked for, heard and ended.

use crate::domain::JobId;
use crate::process::Ended;
use futures_util::future::BoxFuture;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A line of shell that a call runs.
#[derive(Debug, Clone)]
pub struct Line {
    /// The line.
    pub line: String,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// How long it may run before it is ended.
    pub at_most: Duration,
    /// How long it is waited for before it goes on as a Job, if that is wanted.
    pub in_front: Option<Duration>,
    /// Cancelled when it is to end at once.
    pub cancel: CancellationToken,
}

/// Whoever listens to a command.
pub trait Listener: Send {
    /// Takes the next piece of output.
    fn hear<'a>(&'a mut self, chunk: &'a [u8]) -> BoxFuture<'a, ()>;
    /// When [`Listener::tell`] is to be called, if it is.
    fn due(&self) -> Option<Instant>;
    /// Passes on what has gathered.
    fn tell(&mut self);
}

/// Why the command was not waited for any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Its leader exited.
    Exited,
    /// Its time was over.
    TimedOut,
    /// It was to stop at once.
    Cancelled,
}

/// What became of a command that has ended.
#[derive(Debug)]
pub struct Finished {
    /// Why it ended.
    pub stop: Stop,
    /// How long it ran.
    pub took: Duration,
    /// How, and whom it left behind.
    pub ended: Ended,
}

/// What became of a command as far as its call is concerned.
#[derive(Debug)]
pub enum Ran {
    /// It has ended.
    Finished(Finished),
    /// It goes on as a Job.
    Kept {
        /// Which.
        job: JobId,
        /// How long it has run.
        took: Duration,
    },
    /// It was not started; the text says why.
    NotStarted(String),
    /// How it ended is not known; the text says why.
    Uncertain(String),
    /// This process leaves, and the next one takes it up.
    Left,
}
