//! The way to a Job's shim: controlling it, and attaching a terminal to it.
//!
//! Both ends of this are blocking; whoever has an async runtime wraps them in a thread. A
//! [`Controller`] asks and commands, and hears of the end. An [`AttachClient`] shows the screen and
//! types; its two halves may be used by two threads.

use super::address::Address;
use super::folder::Folder;
use super::protocol::{
    Frames, FromShim, Garbled, Hello, LogState, Role, Status, Stop, ToShim, Typing, VERSION, Welcome,
};
use super::record::ExitRecord;
use super::spec::Size;
use crate::domain::Fence;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::num::NonZeroU16;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a shim may take to answer; it answers in less than a millisecond.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it may take when only its life is asked after.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// What to write to a terminal after a Job's screen was shown on it: modes and colours as they
/// usually are.
pub const LEAVE: &str = "\x1b[m\x1b[r\x1b[?6l\x1b[?1l\x1b>\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1004l\
                         \x1b[?2004l\x1b[0 q\x1b[?25h";

/// Why a shim did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nobody listens there: the Job has ended, or its shim was lost.
    #[error("the Job has no shim to speak to; it has ended or its shim was lost")]
    NoShim,
    /// The shim says no.
    #[error("{0}")]
    Refused(String),
    /// The connection broke, or no answer came.
    #[error("the connection to the Job's shim was lost: {0}")]
    Lost(#[from] io::Error),
    /// The Job ended before it was done.
    #[error("the Job has ended: {}", .0.end)]
    Ended(Box<ExitRecord>),
}

impl From<Garbled> for ClientError {
    fn from(garbled: Garbled) -> Self {
        Self::Lost(garbled.into())
    }
}

/// Whether a shim listens that knows itself to be this Job's.
pub(super) fn answers(folder: &Folder, job: &str) -> bool {
    let hello = hello(Role::Controller, None, None);
    Connection::open(folder, hello, SHORT_PATIENCE).is_ok_and(|(_, welcome)| welcome.job == job)
}

fn hello(role: Role, fence: Option<Fence>, size: Option<Size>) -> Hello {
    Hello { version: VERSION, role, fence, size }
}

/// A connection whose other end has let us in.
#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    frames: Frames,
    number: u32,
    buffer: Vec<u8>,
}

impl Connection {
    fn open(folder: &Folder, hello: Hello, patience: Duration) -> Result<(Self, Welcome), ClientError> {
        let address = match Address::of(folder.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ClientError::NoShim),
            other => other?,
        };
        let stream = address.dial()?.ok_or(ClientError::NoShim)?;
        stream.set_write_timeout(Some(patience))?;
        let mut connection = Self { stream, frames: Frames::default(), number: 0, buffer: vec![0; 64 * 1024] };
        let number = connection.ask(&ToShim::Hello(hello))?;
        let deadline = Instant::now() + patience;
        loop {
            match connection.next_until(Some(deadline))? {
                Some((answered, FromShim::Welcome(welcome))) if answered == number => return Ok((connection, welcome)),
                Some((_, FromShim::Refused(reason))) => return Err(ClientError::Refused(reason)),
                // It was on its way out when we came.
                Some((_, FromShim::Ended(record))) => return Err(ClientError::Ended(record)),
                Some(_) => {}
                None => return Err(ClientError::Lost(io::ErrorKind::TimedOut.into())),
            }
        }
    }

    /// Sends a request; gives its number.
    fn ask(&mut self, word: &ToShim) -> Result<u32, ClientError> {
        self.number += 1;
        send(&mut self.stream, self.number, word)?;
        Ok(self.number)
    }

    /// Waits for the next thing that is said; `None` when the deadline comes first.
    fn next_until(&mut self, deadline: Option<Instant>) -> Result<Option<(u32, FromShim)>, ClientError> {
        loop {
            if let Some(frame) = self.frames.next_from_shim()? {
                return Ok(Some(frame));
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(None);
            }
            self.stream.set_read_timeout(left)?;
            match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(ClientError::Lost(io::ErrorKind::UnexpectedEof.into())),
                Ok(read) => self.frames.add(&self.buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn send(stream: &mut UnixStream, number: u32, word: &ToShim) -> io::Result<()> {
    let mut bytes = Vec::new();
    word.append(number, &mut bytes);
    stream.write_all(&bytes)
}

/// Asks and commands a Job, and hears of its end. Sees no screen and costs the Job nothing.
#[derive(Debug)]
pub struct Controller {
    connection: Connection,
    /// What was said by itself while an answer was waited for.
    news: VecDeque<News>,
}

/// What a shim says to a controller by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// The disk does not take the log, or takes it again.
    Log(LogState),
    /// The Job has ended.
    Ended(Box<ExitRecord>),
}

impl Controller {
    /// Connects to a Job's shim. A host names its ownership number, so that no host that was
    /// superseded commands any more.
    pub fn connect(folder: &Folder, fence: Option<Fence>) -> Result<Self, ClientError> {
        let (connection, _) = Connection::open(folder, hello(Role::Controller, fence, None), PATIENCE)?;
        Ok(Self { connection, news: VecDeque::new() })
    }

    /// Asks for the Job's state. The shim looks at every process of the machine for it.
    pub fn status(&mut self) -> Result<Status, ClientError> {
        match self.request(&ToShim::Status)? {
            FromShim::Status(status) => Ok(*status),
            other => Err(unexpected(&other)),
        }
    }

    /// Sends text or keys to be read by the Job; refused while a person types, and when nobody reads.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        self.command(&ToShim::Input(bytes.to_vec()))
    }

    /// Lets a Job without a terminal read the end of its input.
    pub fn close_input(&mut self) -> Result<(), ClientError> {
        self.command(&ToShim::CloseInput)
    }

    /// Signals the process group in the foreground.
    pub fn signal(&mut self, signal: i32) -> Result<(), ClientError> {
        self.command(&ToShim::Signal(signal))
    }

    /// Begins to end the Job: TERM, and KILL after `grace`, for everything that descends from it.
    /// Answered at once; [`Controller::news`] tells when it is over.
    pub fn stop(&mut self, grace: Duration) -> Result<(), ClientError> {
        let grace_ms = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        self.command(&ToShim::Stop(Stop { grace_ms }))
    }

    /// Gives the Job's terminal another size.
    pub fn resize(&mut self, size: Size) -> Result<(), ClientError> {
        self.command(&ToShim::Resize(size))
    }

    /// Waits for news, at most until `deadline`; `None` when it comes first.
    pub fn news(&mut self, deadline: Option<Instant>) -> Result<Option<News>, ClientError> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Ok(Some(news));
            }
            match self.connection.next_until(deadline)? {
                Some((_, word)) => self.note(word),
                None => return Ok(None),
            }
        }
    }

    /// Waits for the end, at most until `deadline`; `None` when it comes first.
    pub fn wait(&mut self, deadline: Option<Instant>) -> Result<Option<ExitRecord>, ClientError> {
        loop {
            match self.news(deadline)? {
                Some(News::Ended(record)) => return Ok(Some(*record)),
                Some(News::Log(_)) => {}
                None => return Ok(None),
            }
        }
    }

    fn note(&mut self, word: FromShim) {
        match word {
            FromShim::Log(state) => self.news.push_back(News::Log(state)),
            FromShim::Ended(record) => self.news.push_back(News::Ended(record)),
            FromShim::Welcome(_)
            | FromShim::Done
            | FromShim::Refused(_)
            | FromShim::Status(_)
            | FromShim::History(_)
            | FromShim::Screen(_)
            | FromShim::Update(_)
            | FromShim::Resized(_)
            | FromShim::Typing(_) => {}
        }
    }

    fn command(&mut self, word: &ToShim) -> Result<(), ClientError> {
        match self.request(word)? {
            FromShim::Done => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    fn request(&mut self, word: &ToShim) -> Result<FromShim, ClientError> {
        let number = self.connection.ask(word)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.connection.next_until(Some(deadline))? {
                Some((answered, FromShim::Refused(reason))) if answered == number => {
                    return Err(ClientError::Refused(reason));
                }
                Some((answered, word)) if answered == number => return Ok(word),
                Some((_, FromShim::Ended(record))) => return Err(ClientError::Ended(record)),
                Some((_, word)) => self.note(word),
                None => return Err(ClientError::Lost(io::ErrorKind::TimedOut.into())),
            }
        }
    }
}

impl AsFd for Controller {
    /// The descriptor becomes readable when there is news.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.stream.as_fd()
    }
}

fn unexpected(word: &FromShim) -> ClientError {
    let what = format!("an answer to another question: {word:?}");
    ClientError::Lost(io::Error::new(io::ErrorKind::InvalidData, what))
}

/// What happens to an attached terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The screen has changed. The bytes bring a terminal that shows it up to date; they hold
    /// nothing but text, colours, the cursor and the modes of keys and mouse.
    Changed(Vec<u8>),
    /// The screen has another size, and is drawn anew.
    Resized(Size),
    /// Who types has changed.
    Typing(Typing),
    /// The disk does not take the log, or takes it again.
    Log(LogState),
    /// What was typed or asked for is refused.
    Refused(String),
    /// The lines that were asked for: the last that scrolled off the screen, with their colours.
    History(Vec<String>),
    /// The Job has ended.
    Ended(Box<ExitRecord>),
}

/// A terminal that is attached to a Job.
pub struct AttachClient {
    /// What is seen.
    pub view: View,
    /// What is typed.
    pub keys: Keys,
}

/// The half of an attached terminal that sees.
pub struct View {
    connection: Connection,
    screen: vt100::Parser,
    typing: Typing,
}

/// The half of an attached terminal that types.
#[derive(Debug)]
pub struct Keys {
    stream: UnixStream,
    number: u32,
}

impl AttachClient {
    /// Attaches to a Job; its screen is there when this returns. Who wants to type may, unless
    /// somebody else does: [`View::typing`] tells.
    pub fn attach(folder: &Folder, role: Role, size: Option<Size>) -> Result<Self, ClientError> {
        let (connection, welcome) = Connection::open(folder, hello(role, None, size), PATIENCE)?;
        connection.stream.set_read_timeout(None)?;
        let keys = Keys { stream: connection.stream.try_clone()?, number: connection.number };
        let mut view = View { connection, screen: parser(welcome.size), typing: welcome.typing };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match view.next_until(Some(deadline))? {
                Some(Seen::Whole(_)) => return Ok(Self { view, keys }),
                Some(Seen::Other(Event::Ended(record))) => return Err(ClientError::Ended(record)),
                Some(Seen::Other(_)) => {}
                None => return Err(ClientError::Lost(io::ErrorKind::TimedOut.into())),
            }
        }
    }

    /// The screen as it stands.
    pub fn screen(&self) -> &vt100::Screen {
        self.view.screen()
    }

    /// Waits for what happens next.
    pub fn read(&mut self) -> Result<Event, ClientError> {
        self.view.read()
    }

    /// Types.
    pub fn write(&mut self, keys: &[u8]) -> Result<(), ClientError> {
        self.keys.write(keys)
    }

    /// Says which size our terminal has; the Job's follows while we type.
    pub fn resize(&mut self, size: Size) -> Result<(), ClientError> {
        self.keys.resize(size)
    }

    /// Lets go of the Job, which runs on.
    pub fn detach(self) {}
}

enum Seen {
    Whole(Event),
    Other(Event),
}

impl View {
    /// The screen as it stands.
    pub fn screen(&self) -> &vt100::Screen {
        self.screen.screen()
    }

    /// The bytes that draw the screen as it stands on any terminal.
    pub fn whole(&self) -> Vec<u8> {
        self.screen.screen().state_formatted().into_bytes()
    }

    /// Who types.
    pub fn typing(&self) -> Typing {
        self.typing
    }

    /// Waits for what happens next.
    pub fn read(&mut self) -> Result<Event, ClientError> {
        loop {
            if let Some(event) = self.read_until(None)? {
                return Ok(event);
            }
        }
    }

    /// Waits for what happens next, at most until `deadline`; `None` when it comes first.
    pub fn read_until(&mut self, deadline: Option<Instant>) -> Result<Option<Event>, ClientError> {
        Ok(self.next_until(deadline)?.map(|seen| match seen {
            Seen::Whole(event) | Seen::Other(event) => event,
        }))
    }

    fn next_until(&mut self, deadline: Option<Instant>) -> Result<Option<Seen>, ClientError> {
        loop {
            let Some((_, word)) = self.connection.next_until(deadline)? else { return Ok(None) };
            return Ok(Some(match word {
                FromShim::Screen(bytes) => {
                    self.screen.process(&bytes);
                    Seen::Whole(Event::Changed(bytes))
                }
                FromShim::Update(bytes) => {
                    self.screen.process(&bytes);
                    Seen::Other(Event::Changed(bytes))
                }
                FromShim::Resized(size) => {
                    self.screen = parser(size);
                    Seen::Other(Event::Resized(size))
                }
                FromShim::Typing(typing) => {
                    self.typing = typing;
                    Seen::Other(Event::Typing(typing))
                }
                FromShim::Log(state) => Seen::Other(Event::Log(state)),
                FromShim::Refused(reason) => Seen::Other(Event::Refused(reason)),
                FromShim::History(lines) => Seen::Other(Event::History(lines)),
                FromShim::Ended(record) => Seen::Other(Event::Ended(record)),
                // Answers to what was asked by the way.
                FromShim::Welcome(_) | FromShim::Done | FromShim::Status(_) => continue,
            }));
        }
    }
}

impl AsFd for View {
    /// The descriptor becomes readable when something happens.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.connection.stream.as_fd()
    }
}

impl Keys {
    /// Types.
    pub fn write(&mut self, keys: &[u8]) -> Result<(), ClientError> {
        self.say(&ToShim::Input(keys.to_vec()))
    }

    /// Says which size our terminal has; the Job's follows while we type.
    pub fn resize(&mut self, size: Size) -> Result<(), ClientError> {
        self.say(&ToShim::Resize(size))
    }

    /// Takes over typing from whoever types.
    pub fn take_over(&mut self) -> Result<(), ClientError> {
        self.say(&ToShim::TakeOver)
    }

    /// Asks for the last lines that scrolled off; they come as [`Event::History`].
    pub fn ask_history(&mut self, lines: usize) -> Result<(), ClientError> {
        self.say(&ToShim::History(lines))
    }

    /// Signals the process group in the foreground; a refusal comes as [`Event::Refused`].
    pub fn signal(&mut self, signal: i32) -> Result<(), ClientError> {
        self.say(&ToShim::Signal(signal))
    }

    fn say(&mut self, word: &ToShim) -> Result<(), ClientError> {
        self.number += 1;
        Ok(send(&mut self.stream, self.number, word)?)
    }
}

fn parser(size: Size) -> vt100::Parser {
    let non_zero = |number: u16| NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN);
    vt100::Parser::new(non_zero(size.rows), non_zero(size.cols), 0)
}
