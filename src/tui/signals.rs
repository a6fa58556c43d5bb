//! The signals that end the screen, put it to sleep, wake it and tell it that the terminal changed.

use rustix::process::{Signal, getpid, getppid, getsid};
use std::io;
use tokio::signal::unix::{SignalKind, signal};

/// Whether somebody in this session could continue us once we are stopped.
pub(super) fn can_be_continued() -> bool {
    let session = getsid(None).ok();
    let parent = getppid().and_then(|parent| getsid(Some(parent)).ok());
    session != Some(getpid()) && session == parent
}

/// A signal that the screen answers to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Caught {
    /// The screen is to end.
    End,
    /// It is put to sleep.
    Stop,
    /// It goes on after that.
    Continued,
    /// The terminal has another size.
    Resized,
}

/// Listens for them from the time it is made.
pub(super) struct Signals {
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    stop: tokio::signal::unix::Signal,
    proceed: tokio::signal::unix::Signal,
    resized: tokio::signal::unix::Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let raw = |wanted: Signal| signal(SignalKind::from_raw(wanted.as_raw()));
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: raw(Signal::TSTP)?,
            proceed: raw(Signal::CONT)?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Caught {
        tokio::select! {
            _ = self.terminate.recv() => Caught::End,
            _ = self.hangup.recv() => Caught::End,
            _ = self.interrupt.recv() => Caught::End,
            _ = self.stop.recv() => Caught::Stop,
            _ = self.proceed.recv() => Caught::Continued,
            _ = self.resized.recv() => Caught::Resized,
        }
    }
}
