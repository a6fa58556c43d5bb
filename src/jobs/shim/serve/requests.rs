//! What clients ask for and tell: who may do what, typing, sizes, signals, and how the Job stands.

use super::Serve;
use crate::jobs::now;
use crate::jobs::protocol::{FromShim, Hello, Phase, Role, Status, ToShim, Typing, VERSION, Welcome};
use crate::jobs::shim::client::{Introduced, Number};
use crate::jobs::shim::command::Terminal;
use crate::jobs::shim::ending::Ending;
use crate::jobs::spec::Size;
use crate::process::Table;
use rustix::process::{Pid, Signal};
use std::io;
use std::time::Duration;

/// More than this is not kept for a command that does not read.
pub(super) const LARGEST_INPUT: usize = 1024 * 1024;

/// So many slices are followed before a client that comes gets its screen; all that is kept, and
/// not what is printed meanwhile.
const CATCH_UP: usize = 8;

const STALE: &str = "another host has taken over since";
const ONLY_WATCHES: &str = "who only watches can't do that";

/// What comes of a request.
enum Answer {
    Word(FromShim),
    Silent,
}

impl Answer {
    fn refused(reason: &str) -> Self {
        Self::Word(FromShim::Refused(reason.to_owned()))
    }
}

impl Serve {
    /// Does what a client says.
    pub(super) fn hear(&mut self, at: usize, number: u32, word: ToShim) {
        let answer = match (self.clients[at].introduced, word) {
            (None, ToShim::Hello(hello)) => return self.welcome(at, number, hello),
            (None, _) => return self.turn_away(at, number, "say who you are first"),
            (Some(introduced), word) => {
                if introduced.fence.is_some_and(|fence| Some(fence) < self.fence) {
                    return self.turn_away(at, number, STALE);
                }
                match self.carry_out(at, introduced, word) {
                    Answer::Silent => return,
                    Answer::Word(answer) => answer,
                }
            }
        };
        self.clients[at].say(number, &answer);
    }

    fn carry_out(&mut self, at: usize, client: Introduced, word: ToShim) -> Answer {
        match word {
            ToShim::Hello(_) => Answer::refused("you are in already"),
            ToShim::Input(bytes) => self.take_input(at, client, &bytes),
            ToShim::CloseInput => match (&self.terminal, client.role) {
                (_, Role::Watcher) => Answer::refused(ONLY_WATCHES),
                (Some(_), _) => Answer::refused("its input is a terminal: send it the end-of-file key instead"),
                (None, Role::Typist | Role::Controller) => {
                    self.closes_input = true;
                    Answer::Word(FromShim::Done)
                }
            },
            ToShim::Resize(size) => {
                self.clients[at].introduced = Some(Introduced { size: Some(size), ..client });
                let may = self.typist == Some(self.clients[at].number) || client.role == Role::Controller;
                if may {
                    self.resize(size.sane());
                }
                Answer::Word(FromShim::Done)
            }
            ToShim::Signal(signal) => match (client.role, Signal::from_named_raw(signal)) {
                (Role::Watcher, _) => Answer::refused(ONLY_WATCHES),
                (Role::Typist | Role::Controller, None) => Answer::refused("there is no signal of that number"),
                (Role::Typist | Role::Controller, Some(signal)) => self.signal(signal),
            },
            ToShim::Stop(_) if client.role == Role::Watcher => Answer::refused(ONLY_WATCHES),
            ToShim::Stop(stop) => {
                let grace = Duration::from_millis(stop.grace_ms);
                match &mut self.ending {
                    Some(ending) => ending.hurry(grace),
                    None => self.ending = Some(Ending::told(&self.record, self.leader, grace)),
                }
                Answer::Word(FromShim::Done)
            }
            ToShim::Status => Answer::Word(FromShim::Status(Box::new(self.status(at)))),
            ToShim::TakeOver => {
                if !self.clients[at].sees_screen() {
                    return Answer::refused("who types must see the screen");
                }
                self.clients[at].introduced = Some(Introduced { role: Role::Typist, ..client });
                self.let_type(Some(at));
                Answer::Word(FromShim::Done)
            }
            ToShim::History(lines) => Answer::Word(FromShim::History(self.screen.history(lines))),
        }
    }

    fn welcome(&mut self, at: usize, number: u32, hello: Hello) {
        if hello.version != VERSION {
            let reason = format!("this Job's shim speaks version {VERSION} and not {}", hello.version);
            return self.turn_away(at, number, &reason);
        }
        if hello.fence.is_some() && hello.fence < self.fence {
            return self.turn_away(at, number, STALE);
        }
        self.fence = self.fence.max(hello.fence);
        self.clients[at].introduced = Some(Introduced { role: hello.role, fence: hello.fence, size: hello.size });
        if hello.role == Role::Typist && self.typist.is_none() {
            self.let_type(Some(at));
        }
        let welcome = Welcome {
            version: VERSION,
            job: self.record.job.clone(),
            size: self.screen.size(),
            typing: self.typing(self.clients[at].number),
        };
        self.clients[at].say(number, &FromShim::Welcome(welcome));
        if self.clients[at].sees_screen() {
            // At once, as it stands: everybody is brought to the same point first.
            for _ in 0..CATCH_UP {
                if !self.follow() {
                    break;
                }
            }
            self.draw();
            self.show_whole(at);
        }
    }

    pub(super) fn show_whole(&mut self, at: usize) {
        if let Some(whole) = self.screen.whole() {
            self.clients[at].is_behind = false;
            self.clients[at].say(0, &FromShim::Screen(whole));
        }
    }

    pub(super) fn turn_away(&mut self, at: usize, number: u32, reason: &str) {
        self.clients[at].say(number, &FromShim::Refused(reason.to_owned()));
        self.clients[at].is_leaving = true;
    }

    /// Lets a client type, or nobody.
    pub(super) fn let_type(&mut self, at: Option<usize>) {
        let typist = at.map(|at| self.clients[at].number);
        if typist == self.typist {
            return;
        }
        self.notes.close(self.shared.tail().log_bytes);
        self.typist = typist;
        for at in 0..self.clients.len() {
            if self.clients[at].sees_screen() {
                let typing = self.typing(self.clients[at].number);
                self.clients[at].say(0, &FromShim::Typing(typing));
            }
        }
        if let Some(size) = at.and_then(|at| self.clients[at].introduced.and_then(|client| client.size)) {
            self.resize(size.sane());
        }
    }

    pub(super) fn typing(&self, client: Number) -> Typing {
        match self.typist {
            None => Typing::Nobody,
            Some(typist) if typist == client => Typing::You,
            Some(_) => Typing::Another,
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        if size == self.screen.size() {
            return;
        }
        if let Some(terminal) = &self.terminal {
            terminal.resize(size);
        }
        self.screen.resize(size);
        for client in self.clients.iter_mut().filter(|client| client.sees_screen()) {
            client.say(0, &FromShim::Resized(size));
        }
    }

    fn take_input(&mut self, at: usize, client: Introduced, bytes: &[u8]) -> Answer {
        let is_typist = self.typist == Some(self.clients[at].number);
        match client.role {
            Role::Watcher => return Answer::refused(ONLY_WATCHES),
            Role::Typist if !is_typist => return Answer::refused("somebody else types; take over first"),
            Role::Controller if self.typist.is_some() => {
                return Answer::refused("a person is typing in this Job; nothing was sent");
            }
            Role::Typist | Role::Controller => {}
        }
        if self.input.is_none() || self.closes_input {
            return Answer::refused("this Job reads nothing: its input is closed");
        }
        if self.unread.len() + bytes.len() > LARGEST_INPUT {
            let waiting = self.unread.len();
            return Answer::refused(&format!("nobody reads its input: {waiting} bytes are waiting; nothing was added"));
        }
        self.unread.extend(bytes);
        match client.role {
            Role::Typist => {
                let log_bytes = self.shared.tail().log_bytes;
                self.notes.typed(bytes.len(), now(), log_bytes);
                // Echo is its answer.
                Answer::Silent
            }
            Role::Controller | Role::Watcher => Answer::Word(FromShim::Done),
        }
    }

    /// Lets the command read what is there for it, as far as it does.
    pub(super) fn feed(&mut self) {
        while let Some(input) = self.input.as_ref().filter(|_| !self.unread.is_empty()) {
            match rustix::io::write(input, self.unread.as_slices().0) {
                Ok(written) => {
                    self.unread.drain(..written);
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                // Nobody will read it any more.
                Err(_) => {
                    self.unread.clear();
                    self.input = None;
                }
            }
        }
        if self.closes_input && self.terminal.is_none() {
            self.input = None;
        }
        if self.unread.is_empty() {
            self.unread.shrink_to(4096);
        }
    }

    /// Signals the group in the foreground: of the terminal, else the command's own.
    fn signal(&self, signal: Signal) -> Answer {
        // The leader is not reaped before the end, so its number is its own; that of the foreground
        // is the kernel's word of this moment.
        let foreground = self.terminal.as_ref().and_then(Terminal::foreground).and_then(Pid::from_raw);
        match rustix::process::kill_process_group(foreground.unwrap_or(self.leader), signal) {
            Ok(()) => Answer::Word(FromShim::Done),
            Err(error) => Answer::refused(&format!("it could not be signalled: {}", io::Error::from(error))),
        }
    }

    fn status(&self, at: usize) -> Status {
        let usage = Table::read().usage(self.record.shim.pid, &self.record.mark());
        let phase = match &self.ending {
            None => Phase::Running,
            Some(ending) if ending.is_asked() => Phase::Stopping,
            Some(_) => Phase::Leaving,
        };
        let tail = self.shared.tail();
        Status {
            job: self.record.job.clone(),
            command: self.record.command.clone(),
            started_at: self.record.started_at,
            phase,
            usage,
            log_bytes: tail.log_bytes,
            lost_bytes: tail.lost_bytes,
            last_output_at: tail.last_output_at,
            log: tail.log.clone(),
            size: self.screen.size(),
            typing: self.typing(self.clients[at].number),
            watchers: self.watchers(),
            unread_input: self.unread.len(),
        }
    }
}
