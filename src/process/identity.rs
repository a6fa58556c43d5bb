//! The identity of a process: its number alone is none, since numbers are used again.

use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::io;

/// A process, such that another one that got its number later is not mistaken for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the boot; 0 where the system does not tell.
    pub start_time: u64,
    /// The boot it was started in; empty where the system does not tell.
    pub boot_id: String,
}

impl Identity {
    /// Reads the identity of the process that has this number now.
    pub fn of(pid: Pid) -> io::Result<Self> {
        Ok(Self { pid: pid.as_raw_pid(), start_time: Stat::of(pid.as_raw_pid())?.start_time, boot_id: boot_id() })
    }

    /// Says whether it was started since the machine was.
    pub fn is_of_this_boot(&self) -> bool {
        self.boot_id == boot_id()
    }

    /// Says whether exactly this process still runs: the same boot, the same start, not dead and
    /// waiting to be reaped.
    pub fn is_running(&self) -> bool {
        self.is_of_this_boot()
            && Stat::of(self.pid).is_ok_and(|stat| stat.start_time == self.start_time && !stat.is_dead())
    }
}

/// What `/proc/<pid>/stat` says, as far as it concerns us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stat {
    /// The name of the program, as the kernel keeps it.
    pub(super) name: String,
    /// `R`, `S`, `D`, `Z` …
    pub(super) state: char,
    /// The process that waits for it.
    pub(super) parent: i32,
    /// Its session.
    pub(super) session: i32,
    /// When it started, in clock ticks since the boot.
    pub(super) start_time: u64,
    /// The processor time it has used, in clock ticks.
    pub(super) ticks: u64,
    /// The memory it has resident, in pages.
    pub(super) pages: u64,
}

impl Stat {
    /// Reads it; an error means there is no such process any more.
    #[cfg(target_os = "linux")]
    pub(super) fn of(pid: i32) -> io::Result<Self> {
        let raw = std::fs::read(format!("/proc/{pid}/stat"))?;
        Self::parse(&String::from_utf8_lossy(&raw)).ok_or_else(|| io::Error::other("/proc/…/stat is not as expected"))
    }

    /// Where there is no `/proc`, a process is known by its number as long as it can be signalled.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(pid: i32) -> io::Result<Self> {
        let pid = Pid::from_raw(pid).ok_or_else(|| io::Error::other("not a process number"))?;
        rustix::process::test_kill_process(pid)?;
        Ok(Self { name: String::new(), state: '?', parent: 0, session: 0, start_time: 0, ticks: 0, pages: 0 })
    }

    /// Reads one line; the name is in parentheses and may itself hold spaces and parentheses.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code))]
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.split_once('(')?;
        let (name, rest) = rest.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Self {
            name: name.to_owned(),
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start_time: number(19)?,
            ticks: number(11)? + number(12)?,
            pages: number(21)?,
        })
    }

    /// Whether it has exited and only waits to be reaped.
    pub(super) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

/// The id of this boot.
fn boot_id() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_is_read_rightly() {
        let line = "42 (a) b (c) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 77";
        let stat = Stat::parse(line).expect("a line of stat");
        let name = "a) b (c".into();
        assert_eq!(stat, Stat { name, state: 'S', parent: 1, session: 39, start_time: 98765, ticks: 11, pages: 77 });
    }

    #[test]
    fn we_are_running_and_one_that_started_earlier_under_our_number_is_not() {
        let us = Identity::of(rustix::process::getpid()).expect("we exist");
        assert!(us.is_running());
        assert!(!Identity { start_time: us.start_time - 1, ..us.clone() }.is_running());
        assert!(!Identity { boot_id: "another boot".into(), ..us }.is_running());
    }
}
