//! A Job whose shim is gone and whose command still runs: it can be watched and ended, no more.

use super::record::StartRecord;
use crate::process::{Held, Member, Table, hold, wait_until_gone};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::process::Signal;
use std::time::Duration;

/// How long what was killed is waited for.
const KILL_PATIENCE: Duration = Duration::from_millis(500);

/// How often those are killed that were forked while others were being killed.
const ROUNDS: usize = 5;

/// The command of a Job without a shim, held so that its number can't come to mean another process.
pub struct Orphan {
    record: StartRecord,
    command: Held,
}

impl AsFd for Orphan {
    /// The descriptor becomes readable when the command has exited.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.command.as_fd()
    }
}

impl Orphan {
    /// Takes hold of the command; `None` when it is gone.
    pub fn hold(record: &StartRecord) -> Option<Self> {
        let command = &record.command;
        if !command.is_of_this_boot() || record.mark().is_anothers(command.pid) {
            return None;
        }
        let member = Member { pid: command.pid, start_time: command.start_time, command: String::new() };
        let command = hold(&[member]).pop()?;
        Some(Self { record: record.clone(), command })
    }

    /// Waits until the command has exited; with what code nobody knows.
    pub fn wait(self) {
        while !self.wait_for(Duration::from_secs(3600)) {}
    }

    /// Waits until the command has exited, or for a time; says whether it has.
    pub fn wait_for(&self, patience: Duration) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let timeout = Timespec { tv_sec: patience.as_secs() as i64, tv_nsec: i64::from(patience.subsec_nanos()) };
        let mut polled = [PollFd::new(&self.command, PollFlags::IN)];
        matches!(poll(&mut polled, Some(&timeout)), Ok(ready) if ready > 0)
    }

    /// Signals the command.
    pub fn signal(&self, signal: Signal) {
        self.command.signal(signal);
    }

    /// Ends the command and all that is known to belong to it, TERM first and KILL after `grace`;
    /// gives those who are still there. Blocks.
    pub fn stop(&self, grace: Duration) -> Vec<Member> {
        let held = hold(&self.members());
        for signal in [Signal::TERM, Signal::CONT] {
            held.iter().for_each(|held| held.signal(signal));
        }
        wait_until_gone(held, grace);
        for _ in 0..ROUNDS {
            let held = hold(&self.members());
            if held.is_empty() {
                break;
            }
            held.iter().for_each(|held| held.signal(Signal::KILL));
            wait_until_gone(held, KILL_PATIENCE);
        }
        self.members()
    }

    /// Its session while its command lives, and whatever carries its mark.
    fn members(&self) -> Vec<Member> {
        let table = Table::read();
        let mut members = table.marked(&self.record.mark());
        if self.record.command.is_running() {
            let pids: Vec<i32> = members.iter().map(|member| member.pid).collect();
            members.extend(table.session(self.record.session).into_iter().filter(|member| !pids.contains(&member.pid)));
        }
        // A shim carries the mark of its Job as well; this Job's is gone.
        members
    }
}
