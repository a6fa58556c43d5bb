//! The words between a shim and whoever attaches to its Job or controls it.
//!
//! A frame is its length (4 bytes, little-endian, of what follows), its kind (1 byte), a number
//! (4 bytes) and its content: bytes where bytes travel, JSON everywhere else. Requests are numbered
//! from 1 and answered once each, under their number; what a shim says by itself has the number 0.

use super::record::ExitRecord;
use super::spec::Size;
use crate::domain::{Fence, Millis};
use crate::process::{Identity, Usage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;

/// The version of these words.
pub const VERSION: u32 = 1;

/// The longest frame, without its length.
pub const LONGEST: usize = 4 * 1024 * 1024;

const HEAD: usize = 4;
const KIND_AND_NUMBER: usize = 5;

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToShim {
    /// Who it is; always first, and answered by [`FromShim::Welcome`].
    Hello(Hello),
    /// What the Job is to read. Answered only if it is refused.
    Input(Vec<u8>),
    /// That nothing more comes to be read; for a Job without a terminal.
    CloseInput,
    /// The size of the typist's terminal.
    Resize(Size),
    /// A signal to the group in the foreground.
    Signal(i32),
    /// That the Job is to end.
    Stop(Stop),
    /// A question after its state.
    Status,
    /// That it wants to type from now on.
    TakeOver,
    /// A question after the last lines that scrolled off the screen.
    History(usize),
}

/// What a shim says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FromShim {
    /// The client is in.
    Welcome(Welcome),
    /// The request is carried out.
    Done,
    /// The request is not carried out, and why.
    Refused(String),
    /// The state that was asked for.
    Status(Box<Status>),
    /// The lines that were asked for.
    History(Vec<String>),
    /// Sequences that draw the whole screen.
    Screen(Vec<u8>),
    /// Sequences that bring the screen up to date.
    Update(Vec<u8>),
    /// The screen has another size; a whole screen follows.
    Resized(Size),
    /// Who types has changed.
    Typing(Typing),
    /// The disk does not take the log, or takes it again.
    Log(LogState),
    /// The Job has ended; nothing more comes.
    Ended(Box<ExitRecord>),
}

/// Who a client is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the words that it speaks.
    pub version: u32,
    /// What it wants to be.
    pub role: Role,
    /// The ownership number of the host that it speaks for; a lower one than was seen is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    /// The size of its terminal, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// What a client can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees the screen and types, unless somebody else does.
    Typist,
    /// Sees the screen.
    Watcher,
    /// Sees no screen; asks and commands.
    Controller,
}

/// Who types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Typing {
    /// The client that is told.
    You,
    /// Another one.
    Another,
    /// Nobody.
    Nobody,
}

/// What a client learns when it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The version of the words that the shim speaks.
    pub version: u32,
    /// The Job's id.
    pub job: String,
    /// The size of its screen.
    pub size: Size,
    /// Who types.
    pub typing: Typing,
}

/// How a Job is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// How long it has after TERM before it is killed.
    pub grace_ms: u64,
}

/// Whether the disk takes the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogState {
    /// It does.
    Written,
    /// It does not: what is printed is lost, and the log will say so.
    Lost {
        /// Since when.
        since: Millis,
        /// How much so far.
        bytes: u64,
        /// What the system says.
        why: String,
    },
}

/// The state of a running Job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The Job's id.
    pub job: String,
    /// Its command.
    pub command: Identity,
    /// When the command was started.
    pub started_at: Millis,
    /// Where it stands.
    pub phase: Phase,
    /// What the command and everything below it use.
    pub usage: Usage,
    /// How many bytes were printed and kept, dropped ones included.
    pub log_bytes: u64,
    /// How many bytes could not be kept.
    pub lost_bytes: u64,
    /// When something was printed last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output_at: Option<Millis>,
    /// Whether the disk takes the log.
    pub log: LogState,
    /// The size of the screen.
    pub size: Size,
    /// Who types.
    pub typing: Typing,
    /// How many clients see the screen.
    pub watchers: usize,
    /// How much that was sent to it has not been read.
    pub unread_input: usize,
}

/// Where a running Job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It runs.
    Running,
    /// It was told to end.
    Stopping,
    /// Its command has exited, and what it left behind is waited for.
    Leaving,
}

/// A frame that can't be understood; the connection is of no more use.
#[derive(Debug, thiserror::Error)]
#[error("what came from the other end can't be understood: {0}")]
pub struct Garbled(String);

impl From<Garbled> for io::Error {
    fn from(garbled: Garbled) -> Self {
        Self::new(io::ErrorKind::InvalidData, garbled)
    }
}

impl ToShim {
    /// Adds this as a frame.
    pub fn append(&self, number: u32, out: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => json(out, 1, number, hello),
            Self::Input(bytes) => raw(out, 2, number, bytes),
            Self::CloseInput => raw(out, 3, number, &[]),
            Self::Resize(size) => json(out, 4, number, size),
            Self::Signal(signal) => json(out, 5, number, signal),
            Self::Stop(stop) => json(out, 6, number, stop),
            Self::Status => raw(out, 7, number, &[]),
            Self::TakeOver => raw(out, 8, number, &[]),
            Self::History(lines) => json(out, 9, number, lines),
        }
    }

    fn read(kind: u8, content: &[u8]) -> Result<Self, Garbled> {
        Ok(match kind {
            1 => Self::Hello(parse(content)?),
            2 => Self::Input(content.to_vec()),
            3 => Self::CloseInput,
            4 => Self::Resize(parse(content)?),
            5 => Self::Signal(parse(content)?),
            6 => Self::Stop(parse(content)?),
            7 => Self::Status,
            8 => Self::TakeOver,
            9 => Self::History(parse(content)?),
            other => return Err(Garbled(format!("a frame of kind {other}"))),
        })
    }
}

impl FromShim {
    /// Adds this as a frame.
    pub fn append(&self, number: u32, out: &mut Vec<u8>) {
        match self {
            Self::Welcome(welcome) => json(out, 65, number, welcome),
            Self::Done => raw(out, 66, number, &[]),
            Self::Refused(reason) => json(out, 67, number, reason),
            Self::Status(status) => json(out, 68, number, status),
            Self::History(lines) => json(out, 69, number, lines),
            Self::Screen(bytes) => raw(out, 70, number, bytes),
            Self::Update(bytes) => raw(out, 71, number, bytes),
            Self::Resized(size) => json(out, 72, number, size),
            Self::Typing(typing) => json(out, 73, number, typing),
            Self::Log(state) => json(out, 74, number, state),
            Self::Ended(record) => json(out, 75, number, record),
        }
    }

    fn read(kind: u8, content: &[u8]) -> Result<Self, Garbled> {
        Ok(match kind {
            65 => Self::Welcome(parse(content)?),
            66 => Self::Done,
            67 => Self::Refused(parse(content)?),
            68 => Self::Status(parse(content)?),
            69 => Self::History(parse(content)?),
            70 => Self::Screen(content.to_vec()),
            71 => Self::Update(content.to_vec()),
            72 => Self::Resized(parse(content)?),
            73 => Self::Typing(parse(content)?),
            74 => Self::Log(parse(content)?),
            75 => Self::Ended(parse(content)?),
            other => return Err(Garbled(format!("a frame of kind {other}"))),
        })
    }
}

fn raw(out: &mut Vec<u8>, kind: u8, number: u32, content: &[u8]) {
    let len = (content.len() + KIND_AND_NUMBER) as u32;
    out.extend_from_slice(&len.to_le_bytes());
    out.push(kind);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(content);
}

fn json(out: &mut Vec<u8>, kind: u8, number: u32, content: &impl Serialize) {
    // Our own words always have a JSON form; nothing is what the other end can't understand.
    raw(out, kind, number, &serde_json::to_vec(content).unwrap_or_default());
}

fn parse<T: DeserializeOwned>(content: &[u8]) -> Result<T, Garbled> {
    serde_json::from_slice(content).map_err(|error| Garbled(error.to_string()))
}

/// What comes in, until it makes whole frames.
#[derive(Debug, Default)]
pub struct Frames {
    bytes: Vec<u8>,
    taken: usize,
}

impl Frames {
    /// Adds what came.
    pub fn add(&mut self, bytes: &[u8]) {
        self.bytes.drain(..std::mem::take(&mut self.taken));
        self.bytes.extend_from_slice(bytes);
    }

    /// Takes the next frame of a client.
    pub fn next_to_shim(&mut self) -> Result<Option<(u32, ToShim)>, Garbled> {
        self.next(ToShim::read)
    }

    /// Takes the next frame of a shim.
    pub fn next_from_shim(&mut self) -> Result<Option<(u32, FromShim)>, Garbled> {
        self.next(FromShim::read)
    }

    fn next<T>(&mut self, read: impl Fn(u8, &[u8]) -> Result<T, Garbled>) -> Result<Option<(u32, T)>, Garbled> {
        let waiting = &self.bytes[self.taken..];
        let Some((head, rest)) = waiting.split_first_chunk::<HEAD>() else { return Ok(None) };
        let len = u32::from_le_bytes(*head) as usize;
        if !(KIND_AND_NUMBER..=LONGEST).contains(&len) {
            return Err(Garbled(format!("a frame of {len} bytes")));
        }
        let Some(frame) = rest.get(..len) else { return Ok(None) };
        let (kind, number, content) = match frame {
            [kind, a, b, c, d, content @ ..] => (*kind, u32::from_le_bytes([*a, *b, *c, *d]), content),
            _ => return Err(Garbled("a frame without a head".into())),
        };
        let read = read(kind, content)?;
        self.taken += HEAD + len;
        Ok(Some((number, read)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_were_written_however_they_are_cut() {
        let said = [
            ToShim::Hello(Hello { version: 1, role: Role::Typist, fence: Some(7), size: Some(Size::USUAL) }),
            ToShim::Input(b"\x1b[A\xff".to_vec()),
            ToShim::CloseInput,
            ToShim::Resize(Size { rows: 1, cols: 2 }),
            ToShim::Signal(2),
            ToShim::Stop(Stop { grace_ms: 5 }),
            ToShim::Status,
            ToShim::TakeOver,
            ToShim::History(9),
        ];
        let mut bytes = Vec::new();
        for (number, word) in said.iter().enumerate() {
            word.append(number as u32, &mut bytes);
        }
        let mut frames = Frames::default();
        let mut heard = Vec::new();
        for byte in bytes {
            frames.add(&[byte]);
            while let Some(frame) = frames.next_to_shim().expect("understood") {
                heard.push(frame);
            }
        }
        let expected: Vec<_> = said.into_iter().enumerate().map(|(number, word)| (number as u32, word)).collect();
        assert_eq!(heard, expected);
    }

    #[test]
    fn what_a_shim_says_is_read_as_it_was_written() {
        let said = [
            FromShim::Done,
            FromShim::Refused("no".into()),
            FromShim::History(vec!["a".into()]),
            FromShim::Screen(vec![0, 255]),
            FromShim::Typing(Typing::Another),
            FromShim::Log(LogState::Lost { since: 1, bytes: 2, why: "full".into() }),
        ];
        let mut frames = Frames::default();
        for word in said {
            let mut bytes = Vec::new();
            word.append(3, &mut bytes);
            frames.add(&bytes);
            assert_eq!(frames.next_from_shim().expect("understood"), Some((3, word)));
        }
    }

    #[test]
    fn nonsense_is_refused_rather_than_waited_for() {
        for nonsense in [&[255; 16][..], &[1, 0, 0, 0, 9, 9][..], &[5, 0, 0, 0, 99, 0, 0, 0, 0][..]] {
            let mut frames = Frames::default();
            frames.add(nonsense);
            assert!(frames.next_to_shim().is_err(), "{nonsense:?}");
        }
    }
}
