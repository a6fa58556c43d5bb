//! The loop of a shim: what is waited for, children, and who is there. What clients say is done in
//! `requests`, what they see in `watching`, and the end in `farewell`.

mod farewell;
mod requests;
mod watching;

use super::Prepared;
use super::client::{Client, Number};
use super::command::{Launched, Terminal};
use super::ending::Ending;
use super::intake::Intake;
use super::screen::Screen;
use super::tail::Shared;
use crate::domain::Fence;
use crate::jobs::address::{Address, is_ours};
use crate::jobs::folder::Reserved;
use crate::jobs::protocol::{FromShim, LogState};
use crate::jobs::record::{ExitRecord, StartRecord};
use crate::jobs::typed::Notes;
use crate::process::Supervisor;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::process::Pid;
use std::collections::VecDeque;
use std::os::unix::net::UnixListener;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// More clients than this are turned away.
const MOST_CLIENTS: usize = 64;

/// A shim whose command runs.
pub(super) struct Serve {
    supervisor: Supervisor,
    record: StartRecord,
    exit: Reserved<ExitRecord>,
    child: Child,
    leader: Pid,
    leader_exited: bool,
    terminal: Option<Terminal>,
    input: Option<OwnedFd>,
    /// What the command is to read and has not yet.
    unread: VecDeque<u8>,
    /// The input is closed when it has been read.
    closes_input: bool,
    shared: Arc<Shared>,
    intake: Intake,
    screen: Screen,
    address: Address,
    listener: UnixListener,
    clients: Vec<Client>,
    next_client: Number,
    typist: Option<Number>,
    notes: Notes,
    /// The highest ownership number of a host that was seen.
    fence: Option<Fence>,
    ending: Option<Ending>,
    log: LogState,
    buffer: Vec<u8>,
}

/// What a round of waiting found.
struct Ready {
    bell: bool,
    output: bool,
    listener: bool,
    clients: Vec<bool>,
    /// One of those whose end is waited for has ended, or they have had their time.
    ending: bool,
}

impl Serve {
    pub(super) fn new(
        supervisor: Supervisor,
        record: StartRecord,
        launched: Launched,
        prepared: Prepared,
        exit: Reserved<ExitRecord>,
    ) -> Self {
        let Launched { child, input, terminal, size, .. } = launched;
        let Prepared { folder, address, listener, shared, intake } = prepared;
        Self {
            supervisor,
            record,
            exit,
            leader: Pid::from_child(&child),
            child,
            leader_exited: false,
            terminal,
            input,
            unread: VecDeque::new(),
            closes_input: false,
            screen: Screen::new(Arc::clone(&shared), size),
            shared,
            intake,
            address,
            listener,
            clients: Vec::new(),
            next_client: 0,
            typist: None,
            notes: Notes::new(&folder),
            fence: None,
            ending: None,
            log: LogState::Written,
            buffer: Vec::new(),
        }
    }

    /// Serves until the Job has ended and that is recorded.
    pub(super) fn run(mut self: Box<Self>) {
        let mut is_behind = false;
        loop {
            let ready = self.wait(is_behind);
            if ready.output {
                self.shared.heard();
            }
            if ready.bell {
                self.supervisor.heard();
            }
            self.reap();
            if (ready.bell || ready.ending) && self.advance_end() {
                return self.finish();
            }
            if ready.listener {
                self.accept();
            }
            self.hear_clients(&ready.clients);
            is_behind = self.follow();
            self.draw_if_due();
            self.feed();
            self.tell_about_log();
            self.dismiss();
        }
    }

    /// Waits until there is something to do.
    fn wait(&self, is_behind: bool) -> Ready {
        let ending_due = self.ending.as_ref().and_then(Ending::deadline);
        let deadlines = [ending_due, self.frame_due()];
        let timeout = match deadlines.into_iter().flatten().min() {
            _ if is_behind => Some(Duration::ZERO),
            Some(deadline) => Some(deadline.saturating_duration_since(Instant::now())),
            None => None,
        };
        let timeout =
            timeout.map(|left| Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) });
        let mut polled = vec![
            PollFd::new(&self.supervisor, PollFlags::IN),
            PollFd::new(&*self.shared, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        let first_client = polled.len();
        for client in &self.clients {
            let out = if client.is_waited_for() { PollFlags::OUT } else { PollFlags::empty() };
            polled.push(PollFd::new(client, PollFlags::IN | out));
        }
        if let Some(input) = self.input.as_ref().filter(|_| !self.unread.is_empty()) {
            polled.push(PollFd::new(input, PollFlags::OUT));
        }
        let first_held = polled.len();
        for held in self.ending.iter().flat_map(Ending::held) {
            polled.push(PollFd::new(held, PollFlags::IN));
        }
        // An interruption is as good as anything: every step looks for itself.
        let found = rustix::event::poll(&mut polled, timeout.as_ref()).unwrap_or(0);
        let ready: Vec<bool> = polled.iter().map(|fd| found > 0 && !fd.revents().is_empty()).collect();
        Ready {
            bell: ready[0],
            output: ready[1],
            listener: ready[2],
            clients: ready[first_client..first_client + self.clients.len()].to_vec(),
            ending: ready[first_held..].contains(&true) || ending_due.is_some_and(|due| Instant::now() >= due),
        }
    }

    fn frame_due(&self) -> Option<Instant> {
        if self.watchers() > 0 { self.screen.due() } else { None }
    }

    /// Reaps what the Job's processes left to us, and takes note when the command has exited.
    fn reap(&mut self) {
        while let Some(pid) = self.supervisor.exited() {
            if pid == self.leader {
                // It stays until everything that is to be signalled by its number has been.
                self.leader_exited = true;
                return;
            }
            self.supervisor.reap(pid);
        }
    }

    /// Goes on with the end, if there is one; says whether the Job is over.
    fn advance_end(&mut self) -> bool {
        if self.leader_exited && self.ending.is_none() {
            self.ending = Some(Ending::exited(&self.record, self.leader));
        }
        let is_done = self.ending.as_mut().is_some_and(|ending| ending.advance(self.leader_exited));
        is_done && self.leader_exited
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if !is_ours(&stream) || self.clients.len() >= MOST_CLIENTS {
                continue;
            }
            if let Ok(client) = Client::new(self.next_client, stream) {
                self.next_client += 1;
                self.clients.push(client);
            }
        }
    }

    fn hear_clients(&mut self, ready: &[bool]) {
        for (at, _) in ready.iter().enumerate().filter(|(_, ready)| **ready) {
            let client = &mut self.clients[at];
            client.send();
            if !client.receive(&mut self.buffer) {
                client.is_leaving = true;
            }
            while !self.clients[at].is_leaving {
                match self.clients[at].next_word() {
                    Ok(Some((number, word))) => self.hear(at, number, word),
                    Ok(None) => break,
                    Err(garbled) => self.turn_away(at, 0, &garbled.to_string()),
                }
            }
        }
    }

    /// Tells everybody when the disk stops taking the log, and when it takes it again.
    fn tell_about_log(&mut self) {
        let log = self.shared.tail().log.clone();
        if std::mem::discriminant(&log) != std::mem::discriminant(&self.log) {
            self.log = log;
            let word = FromShim::Log(self.log.clone());
            self.clients
                .iter_mut()
                .filter(|client| client.introduced.is_some())
                .for_each(|client| client.say(0, &word));
        }
    }

    /// Lets go of the clients that are leaving.
    fn dismiss(&mut self) {
        self.clients.retain(|client| !client.is_leaving);
        let is_there = |typist| self.clients.iter().any(|client| client.number == typist);
        if self.typist.is_some_and(|typist| !is_there(typist)) {
            self.let_type(None);
        }
    }
}
