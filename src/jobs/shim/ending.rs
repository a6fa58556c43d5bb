//! The end of a Job: telling it, killing it, and what to do with whatever it leaves behind.
//!
//! ```text
//! told to end ───────────────► Told ──grace over──► Killing ──rounds over──► Over
//! command exited ─► Settling ──moment over──► Told ──► …
//! any of them ──nobody is left──► Over
//! ```
//!
//! When a Job is told to end, everything that descends from it is meant, also what left its
//! session. When its command exits by itself, only the session is: what left it on purpose, as a
//! daemon does, goes on and is listed. The command is reaped last, so its group's number stays its own.

use crate::jobs::record::{StartRecord, StopState};
use crate::process::{Held, Mark, Member, Supervisor, Table, hold};
use rustix::process::{Pid, Signal};
use std::time::{Duration, Instant};

/// What a command leaves behind has so long to end by itself; a `tee` writes its last lines …
const SETTLE: Duration = Duration::from_millis(300);

/// … and so long after TERM.
const SHORT_GRACE: Duration = Duration::from_millis(500);

/// How long what was killed is waited for in each round.
const KILL_PATIENCE: Duration = Duration::from_millis(200);

/// How often those are killed that were forked while others were being killed.
const ROUNDS: u8 = 5;

/// Whom the end is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Everything that descends from the Job.
    All,
    /// The session that the command is in.
    Session,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// What is left may end by itself.
    Settling,
    /// They have got TERM.
    Told,
    /// They have got KILL, so many times.
    Killing(u8),
    /// There is no more to be done.
    Over,
}

/// A Job that is ending.
pub(super) struct Ending {
    shim: i32,
    leader: Pid,
    session: i32,
    mark: Mark,
    reach: Reach,
    stage: Stage,
    deadline: Instant,
    held: Vec<Held>,
    /// Those who outlived the command and were told or killed.
    addressed: Vec<Member>,
    stop: StopState,
}

impl Ending {
    /// Begins because the Job is told to end.
    pub(super) fn told(record: &StartRecord, leader: Pid, grace: Duration) -> Self {
        let mut ending = Self::new(record, leader, Reach::All, Stage::Told);
        ending.stop = StopState::Asked;
        ending.tell(grace);
        ending
    }

    /// Begins because the command has exited.
    pub(super) fn exited(record: &StartRecord, leader: Pid) -> Self {
        let mut ending = Self::new(record, leader, Reach::Session, Stage::Settling);
        ending.deadline = Instant::now() + SETTLE;
        ending
    }

    fn new(record: &StartRecord, leader: Pid, reach: Reach, stage: Stage) -> Self {
        Self {
            shim: record.shim.pid,
            leader,
            session: record.session,
            mark: record.mark(),
            reach,
            stage,
            deadline: Instant::now(),
            held: Vec::new(),
            addressed: Vec::new(),
            stop: StopState::NotAsked,
        }
    }

    /// Takes note that the Job is told to end, perhaps once more and with less grace.
    pub(super) fn hurry(&mut self, grace: Duration) {
        match self.stage {
            Stage::Settling | Stage::Over => {
                self.reach = Reach::All;
                self.stop = StopState::Asked;
                self.tell(grace);
            }
            Stage::Told if self.stop == StopState::NotAsked => {
                self.reach = Reach::All;
                self.stop = StopState::Asked;
                self.tell(grace);
            }
            Stage::Told => self.deadline = self.deadline.min(Instant::now() + grace),
            Stage::Killing(_) => {}
        }
    }

    /// Whether somebody asked for this end.
    pub(super) fn is_asked(&self) -> bool {
        self.stop != StopState::NotAsked
    }

    /// When to look again, should nothing happen before.
    pub(super) fn deadline(&self) -> Option<Instant> {
        (self.stage != Stage::Over).then_some(self.deadline)
    }

    /// Those whose end is waited for.
    pub(super) fn held(&self) -> &[Held] {
        &self.held
    }

    /// Goes on, now that something happened or the deadline has come; says whether nothing more is
    /// to be done once the command has exited.
    pub(super) fn advance(&mut self, leader_exited: bool) -> bool {
        let is_due = Instant::now() >= self.deadline;
        // What the command left behind has become our child before the command's own end shows.
        let is_alone = leader_exited && Supervisor::has_others(self.leader) == Some(false);
        let others = if is_alone { Vec::new() } else { self.others() };
        if others.is_empty() && leader_exited {
            self.stage = Stage::Over;
        } else if is_due {
            match self.stage {
                Stage::Settling => self.tell(SHORT_GRACE),
                Stage::Told => self.kill(0, &others),
                Stage::Killing(round) if round < ROUNDS => self.kill(round + 1, &others),
                // The kernel holds them, or they are not ours to signal.
                Stage::Killing(_) => self.stage = Stage::Over,
                Stage::Over => {}
            }
        } else {
            self.held = hold(&others);
        }
        self.stage == Stage::Over
    }

    /// How the end came about, whom it took along, and who is still there.
    pub(super) fn result(&self) -> (StopState, Vec<Member>, Vec<Member>) {
        let survivors = match Supervisor::has_others(self.leader) {
            Some(false) => Vec::new(),
            Some(true) | None => Table::read().descendants(self.shim, &self.mark),
        };
        let survivors: Vec<Member> = survivors.into_iter().filter(|member| !self.is_leader(member)).collect();
        let is_there = |member: &&Member| !survivors.iter().any(|other| is_same(other, member));
        (self.stop, self.addressed.iter().filter(is_there).cloned().collect(), survivors)
    }

    fn tell(&mut self, grace: Duration) {
        let others = self.others();
        self.signal(&others, Signal::TERM);
        // What is stopped acts on TERM only when it is let go on.
        self.signal(&others, Signal::CONT);
        self.stage = Stage::Told;
        self.deadline = Instant::now() + grace;
    }

    fn kill(&mut self, round: u8, others: &[Member]) {
        if self.is_asked() {
            self.stop = StopState::Killed;
        }
        self.signal(others, Signal::KILL);
        self.stage = Stage::Killing(round);
        self.deadline = Instant::now() + KILL_PATIENCE;
    }

    fn signal(&mut self, others: &[Member], signal: Signal) {
        // The leader is not reaped, so this number can't have become another group's.
        let _ = rustix::process::kill_process_group(self.leader, signal);
        self.held = hold(others);
        for held in &self.held {
            held.signal(signal);
        }
        for member in others {
            if !self.addressed.iter().any(|other| is_same(other, member)) {
                self.addressed.push(member.clone());
            }
        }
    }

    /// Those who are meant, without the command itself.
    fn others(&self) -> Vec<Member> {
        let table = Table::read();
        let mut members = match self.reach {
            Reach::All => table.descendants(self.shim, &self.mark),
            Reach::Session => table.session(self.session),
        };
        members.retain(|member| !self.is_leader(member) && member.pid != self.shim);
        members
    }

    fn is_leader(&self, member: &Member) -> bool {
        member.pid == self.leader.as_raw_pid()
    }
}

/// Number and start make a process; its command line may change.
fn is_same(one: &Member, other: &Member) -> bool {
    one.pid == other.pid && one.start_time == other.start_time
}
