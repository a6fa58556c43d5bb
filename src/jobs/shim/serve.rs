//! The loop of a shim: children, clients, the screen, and the end.

use super::Prepared;
use super::client::{Client, Introduced, Number};
use super::command::{Launched, Terminal};
use super::ending::Ending;
use super::intake::Intake;
use super::screen::Screen;
use super::tail::Shared;
use crate::domain::Fence;
use crate::jobs::address::{Address, is_ours};
use crate::jobs::folder::Reserved;
use crate::jobs::now;
use crate::jobs::protocol::{FromShim, Hello, LogState, Phase, Role, Status, ToShim, Typing, VERSION, Welcome};
use crate::jobs::record::{End, ExitRecord, StartRecord, StopState, listed};
use crate::jobs::spec::Size;
use crate::jobs::typed::Notes;
use crate::process::{Supervisor, Table};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, Signal};
use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixListener;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// More than this is not kept for a command that does not read.
const LARGEST_INPUT: usize = 1024 * 1024;

/// More clients than this are turned away.
const MOST_CLIENTS: usize = 64;

/// So many slices are followed before a client that comes gets its screen; all that is kept, and
/// not what is printed meanwhile.
const CATCH_UP: usize = 8;

/// How long clients have to take the news of the end.
const FAREWELL: Duration = Duration::from_millis(200);

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

    /// Does what a client says.
    fn hear(&mut self, at: usize, number: u32, word: ToShim) {
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

    fn show_whole(&mut self, at: usize) {
        if let Some(whole) = self.screen.whole() {
            self.clients[at].is_behind = false;
            self.clients[at].say(0, &FromShim::Screen(whole));
        }
    }

    fn turn_away(&mut self, at: usize, number: u32, reason: &str) {
        self.clients[at].say(number, &FromShim::Refused(reason.to_owned()));
        self.clients[at].is_leaving = true;
    }

    /// Lets a client type, or nobody.
    fn let_type(&mut self, at: Option<usize>) {
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

    fn typing(&self, client: Number) -> Typing {
        match self.typist {
            None => Typing::Nobody,
            Some(typist) if typist == client => Typing::You,
            Some(_) => Typing::Another,
        }
    }

    fn resize(&mut self, size: Size) {
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
    fn feed(&mut self) {
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

    fn watchers(&self) -> usize {
        self.clients.iter().filter(|client| client.sees_screen()).count()
    }

    /// Follows what was printed a little further; says whether there is more.
    fn follow(&mut self) -> bool {
        let followed = self.screen.follow(self.watchers());
        // A question whose answer has no room left is one that nobody waits for.
        if self.input.is_some() && self.unread.len() + followed.answers.len() <= LARGEST_INPUT {
            self.unread.extend(followed.answers);
        }
        followed.is_behind
    }

    fn draw_if_due(&mut self) {
        if self.watchers() > 0
            && let Some(changes) = self.screen.draw_if_due()
        {
            self.show(changes);
        }
        self.catch_up();
    }

    fn draw(&mut self) {
        if let Some(changes) = self.screen.draw() {
            self.show(changes);
        }
    }

    /// Shows everybody what has changed; who is still busy with what came before waits for the whole.
    fn show(&mut self, changes: Vec<u8>) {
        let update = FromShim::Update(changes);
        for client in self.clients.iter_mut().filter(|client| client.sees_screen()) {
            if client.is_waited_for() || client.is_behind {
                client.is_behind = true;
            } else {
                client.say(0, &update);
            }
        }
    }

    fn catch_up(&mut self) {
        for at in 0..self.clients.len() {
            if self.clients[at].is_behind && !self.clients[at].is_waited_for() {
                self.show_whole(at);
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

    /// Records the end and tells everybody.
    fn finish(mut self: Box<Self>) {
        // The command's side of the terminal is let go of, so that the end of what it printed shows.
        self.terminal = None;
        let result = self.ending.as_ref().map(Ending::result);
        let (stop, ended, survivors) = result.unwrap_or((StopState::NotAsked, Vec::new(), Vec::new()));
        let Self { intake, shared, mut notes, mut child, exit, mut clients, address, record, mut screen, .. } = *self;
        intake.finish();
        let Some(end) = reap(&mut child) else {
            // Somebody else reaped it: nothing is known, and nothing is said.
            address.remove();
            return;
        };
        show_last(&mut screen, &mut clients);
        let (log_bytes, lost_bytes) = {
            let tail = shared.tail();
            (tail.log_bytes, tail.lost_bytes)
        };
        let record = ExitRecord {
            job: record.job,
            end,
            ended_at: now(),
            log_bytes,
            lost_bytes,
            stop,
            ended: listed(ended),
            survivors: listed(survivors),
        };
        notes.close(log_bytes);
        // Where even its own room can't be written nothing is left to write to.
        let _ = exit.write(&record);
        address.remove();
        say_farewell(record, &mut clients);
    }
}

/// Takes the command's exit.
fn reap(child: &mut Child) -> Option<End> {
    let status = child.try_wait().ok()??;
    match (status.code(), status.signal()) {
        (Some(code), _) => Some(End::Exited { code }),
        (None, Some(signal)) => Some(End::Signaled { signal }),
        (None, None) => None,
    }
}

/// Draws what was printed last.
fn show_last(screen: &mut Screen, clients: &mut [Client]) {
    let watchers = clients.iter().filter(|client| client.sees_screen()).count();
    if watchers == 0 {
        return;
    }
    while screen.follow(watchers).is_behind {}
    if let Some(changes) = screen.draw() {
        let update = FromShim::Update(changes);
        clients.iter_mut().filter(|client| client.sees_screen()).for_each(|client| client.say(0, &update));
    }
}

/// Tells everybody how it ended, and gives them a moment to take it.
fn say_farewell(record: ExitRecord, clients: &mut [Client]) {
    let word = FromShim::Ended(Box::new(record));
    for client in clients.iter_mut().filter(|client| client.introduced.is_some()) {
        client.say(0, &word);
    }
    let deadline = Instant::now() + FAREWELL;
    while clients.iter().any(Client::is_waited_for) {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let waited_for = clients.iter().filter(|client| client.is_waited_for());
        let mut polled: Vec<PollFd<'_>> = waited_for.map(|client| PollFd::new(client, PollFlags::OUT)).collect();
        if matches!(rustix::event::poll(&mut polled, Some(&timeout)), Ok(0)) {
            return;
        }
        clients.iter_mut().for_each(Client::send);
    }
}

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
