//! All processes as of one moment: who descends from whom, what carries a mark, what they use.
//!
//! Reading the table costs a look at every process of the machine, so whoever wants to know about
//! many supervisors reads it once. Where there is no `/proc` it is empty.

use super::identity::Stat;
use super::session::{Member, living, member};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A variable in the environment that tells a process and what it started from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    name: &'static str,
    entry: Vec<u8>,
}

/// How a process stands to a [`Mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marked {
    Ours,
    /// The same variable with another value: it belongs to another supervisor.
    Others,
    /// Without it, or we may not look.
    No,
}

impl Mark {
    /// Makes the mark `name=value`.
    pub fn new(name: &'static str, value: &str) -> Self {
        Self { name, entry: format!("{name}={value}").into_bytes() }
    }

    /// Whether a process belongs to another supervisor: it carries the mark with another value.
    pub fn is_anothers(&self, pid: i32) -> bool {
        self.of(pid) == Marked::Others
    }

    fn of(&self, pid: i32) -> Marked {
        let Ok(environ) = std::fs::read(format!("/proc/{pid}/environ")) else { return Marked::No };
        let of_name =
            |entry: &&[u8]| entry.strip_prefix(self.name.as_bytes()).is_some_and(|rest| rest.first() == Some(&b'='));
        match environ.split(|byte| *byte == 0).find(of_name) {
            Some(entry) if entry == self.entry => Marked::Ours,
            Some(_) => Marked::Others,
            None => Marked::No,
        }
    }
}

/// What a number of processes use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// How many they are.
    pub processes: usize,
    /// The processor time they have used so far, in milliseconds.
    pub cpu_ms: u64,
    /// The memory they have resident, in bytes; what several share counts for each.
    pub rss_bytes: u64,
}

/// The living processes.
#[derive(Debug)]
pub struct Table {
    rows: HashMap<i32, Stat>,
    children: HashMap<i32, Vec<i32>>,
}

impl Table {
    /// Looks at every process.
    pub fn read() -> Self {
        let rows: HashMap<i32, Stat> = living().collect();
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for (pid, stat) in &rows {
            children.entry(stat.parent).or_default().push(*pid);
        }
        Self { rows, children }
    }

    /// Finds what descends from `root`, without it. What carries the same mark with another value
    /// belongs to another supervisor and is left out, with all that it started.
    pub fn descendants(&self, root: i32, mark: &Mark) -> Vec<Member> {
        self.below(root, mark).into_iter().map(|(pid, stat)| member(pid, stat)).collect()
    }

    /// Adds up what descends from `root`, without it.
    pub fn usage(&self, root: i32, mark: &Mark) -> Usage {
        let below = self.below(root, mark);
        let tick_ms = 1000 / rustix::param::clock_ticks_per_second().max(1);
        let page = rustix::param::page_size() as u64;
        below.iter().fold(Usage::default(), |sum, (_, stat)| Usage {
            processes: sum.processes + 1,
            cpu_ms: sum.cpu_ms + stat.ticks * tick_ms,
            rss_bytes: sum.rss_bytes + stat.pages * page,
        })
    }

    /// Finds the members of a session, its leader included.
    pub fn session(&self, session: i32) -> Vec<Member> {
        self.rows.iter().filter(|(_, stat)| stat.session == session).map(|(pid, stat)| member(*pid, stat)).collect()
    }

    /// Finds what carries a mark, wherever it stands. Looks at every environment that it may.
    pub fn marked(&self, mark: &Mark) -> Vec<Member> {
        let ours = |(pid, _): &(&i32, &Stat)| mark.of(**pid) == Marked::Ours;
        self.rows.iter().filter(ours).map(|(pid, stat)| member(*pid, stat)).collect()
    }

    fn below(&self, root: i32, mark: &Mark) -> Vec<(i32, &Stat)> {
        let mut found = Vec::new();
        let mut open = vec![root];
        while let Some(parent) = open.pop() {
            for child in self.children.get(&parent).into_iter().flatten() {
                if let Some(stat) = self.rows.get(child)
                    && mark.of(*child) != Marked::Others
                {
                    found.push((*child, stat));
                    open.push(*child);
                }
            }
        }
        found
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    const NAME: &str = "COWORK_TEST_TABLE";

    fn kill(members: &[Member]) {
        for held in super::super::session::hold(members) {
            held.signal(rustix::process::Signal::KILL);
        }
    }

    fn commands(members: &[Member]) -> Vec<&str> {
        let mut commands: Vec<&str> = members.iter().map(|member| member.command.as_str()).collect();
        commands.sort_unstable();
        commands
    }

    #[test]
    fn descendants_are_found_without_what_belongs_to_another_supervisor() {
        let (outer, inner) = (Mark::new(NAME, "outer"), Mark::new(NAME, "inner"));
        let script = format!("sleep 61 & {NAME}=inner sh -c 'sleep 62; :' & env -u {NAME} sleep 63 & wait");
        let mut child = Command::new("/bin/sh").args(["-c", &script]).env(NAME, "outer").spawn().expect("started");
        let root = child.id() as i32;
        // They are there when they have become what they are to be.
        let (table, below, others) = loop {
            let table = Table::read();
            let (below, others) = (table.descendants(root, &outer), table.marked(&inner));
            let is_up = |members: &[Member], name| members.iter().any(|member| member.command == name);
            if is_up(&below, "sleep 61") && is_up(&below, "sleep 63") && is_up(&others, "sleep 62") {
                break (table, below, others);
            }
        };
        let usage = table.usage(root, &outer);
        kill(&below);
        kill(&others);
        child.wait().expect("reaped");
        assert_eq!(commands(&below), ["sleep 61", "sleep 63"]);
        assert_eq!(usage.processes, 2);
        assert!(usage.rss_bytes > 0);
    }
}
