//! The members of a session: finding them, signalling them, waiting until they are gone.
//!
//! A process is signalled through a descriptor of it whose identity was checked after opening, so
//! a number that was used again in between gets nothing. Where there is no `/proc` nobody is found
//! here, and only the group is signalled.

use super::identity::Stat;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, Instant};

/// A process that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the boot.
    pub start_time: u64,
    /// Its command line, or its name where that is empty.
    pub command: String,
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (pid {})", self.command, self.pid)
    }
}

/// Finds the living members of a session, its leader included while it lives.
pub(super) fn members(session: Pid) -> Vec<Member> {
    let session = session.as_raw_pid();
    living().filter(|(_, stat)| stat.session == session).map(|(pid, stat)| member(pid, &stat)).collect()
}

/// Finds living processes outside of a session whose environment carries `mark`: they were started
/// from inside it and left.
pub(super) fn strays(session: Pid, since: u64, mark: &str) -> Vec<Member> {
    let session = session.as_raw_pid();
    living()
        .filter(|(_, stat)| stat.session != session && stat.start_time >= since)
        .filter(|(pid, _)| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
        })
        .map(|(pid, stat)| member(pid, &stat))
        .collect()
}

pub(super) fn living() -> impl Iterator<Item = (i32, Stat)> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| Some((pid, Stat::of(pid).ok()?)))
        .filter(|(_, stat)| !stat.is_dead())
}

pub(super) fn member(pid: i32, stat: &Stat) -> Member {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> =
        line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).map(String::from_utf8_lossy).collect();
    let command = if words.is_empty() { stat.name.clone() } else { words.join(" ") };
    Member { pid, start_time: stat.start_time, command }
}

/// A process held by a descriptor, so that its number cannot come to mean another one.
pub struct Held(OwnedFd);

impl AsFd for Held {
    /// The descriptor becomes readable when the process exits.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Held {
    /// Takes hold of a process; `None` when it is gone already.
    #[cfg(target_os = "linux")]
    fn new(member: &Member) -> Option<Self> {
        let fd = rustix::process::pidfd_open(Pid::from_raw(member.pid)?, rustix::process::PidfdFlags::empty()).ok()?;
        let same = Stat::of(member.pid).is_ok_and(|stat| stat.start_time == member.start_time && !stat.is_dead());
        same.then_some(Self(fd))
    }

    /// Nobody is ever found where there is no `/proc`.
    #[cfg(not(target_os = "linux"))]
    fn new(_member: &Member) -> Option<Self> {
        None
    }

    /// Signals it; that it is gone or not ours to signal shows when it is looked for again.
    pub fn signal(&self, signal: Signal) {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::pidfd_send_signal(&self.0, signal);
        #[cfg(not(target_os = "linux"))]
        let _ = signal;
    }
}

/// Takes hold of those of `members` that are still there.
pub fn hold(members: &[Member]) -> Vec<Held> {
    members.iter().filter_map(Held::new).collect()
}

/// Waits until all of them have exited, at most for `patience`. Blocks.
pub fn wait_until_gone(mut held: Vec<Held>, patience: Duration) {
    let deadline = Instant::now() + patience;
    while !held.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
        // The descriptor of a process becomes readable when it exits.
        let mut polled: Vec<PollFd<'_>> = held.iter().map(|held| PollFd::new(&held.0, PollFlags::IN)).collect();
        match rustix::event::poll(&mut polled, Some(&timeout)) {
            Ok(0) => return,
            Ok(_) => {
                let gone: Vec<bool> = polled.iter().map(|fd| !fd.revents().is_empty()).collect();
                let mut gone = gone.into_iter();
                held.retain(|_| gone.next() == Some(false));
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
