//! A client of the shim: its connection, what is on its way to it, and what it may do.

use crate::domain::Fence;
use crate::jobs::protocol::{Frames, FromShim, Garbled, Role, ToShim};
use crate::jobs::spec::Size;
use rustix::fd::{AsFd, BorrowedFd};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

/// More than this on its way to a client that does not read means that it never will.
const LARGEST_BACKLOG: usize = 8 * 1024 * 1024;

/// How much is read at once.
const CHUNK: usize = 64 * 1024;

/// Tells clients apart.
pub(super) type Number = u64;

/// A client.
pub(super) struct Client {
    pub(super) number: Number,
    stream: UnixStream,
    frames: Frames,
    out: Vec<u8>,
    /// What it said that it is.
    pub(super) introduced: Option<Introduced>,
    /// It has missed something of the screen and gets the whole as soon as it reads again.
    pub(super) is_behind: bool,
    /// It is let go when it has read what is on its way.
    pub(super) is_leaving: bool,
}

/// What a client said that it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Introduced {
    pub(super) role: Role,
    pub(super) fence: Option<Fence>,
    pub(super) size: Option<Size>,
}

impl Client {
    pub(super) fn new(number: Number, stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            number,
            stream,
            frames: Frames::default(),
            out: Vec::new(),
            introduced: None,
            is_behind: false,
            is_leaving: false,
        })
    }

    /// Whether it sees the screen.
    pub(super) fn sees_screen(&self) -> bool {
        matches!(self.introduced, Some(Introduced { role: Role::Typist | Role::Watcher, .. }))
    }

    /// Whether something is on its way to it.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.out.is_empty()
    }

    /// Reads what it has said; says whether it is still there.
    pub(super) fn receive(&mut self, buffer: &mut Vec<u8>) -> bool {
        buffer.resize(CHUNK, 0);
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(read) => {
                    self.frames.add(&buffer[..read]);
                    // The rest in the next round: nobody takes more than a share.
                    return true;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Takes the next thing that it has said.
    pub(super) fn next_word(&mut self) -> Result<Option<(u32, ToShim)>, Garbled> {
        self.frames.next_to_shim()
    }

    /// Says something to it; what it does not take at once is kept.
    pub(super) fn say(&mut self, number: u32, word: &FromShim) {
        word.append(number, &mut self.out);
        self.send();
    }

    /// Sends what is on its way, as far as it goes.
    pub(super) fn send(&mut self) {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.stream.write(&self.out[sent..]) {
                Ok(0) => break,
                Ok(more) => sent += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    // It is gone; reading will tell.
                    self.out.clear();
                    return;
                }
            }
        }
        self.out.drain(..sent);
        if self.out.is_empty() {
            // One whole screen should not cost its memory for ever.
            self.out.shrink_to(CHUNK);
        } else if self.out.len() > LARGEST_BACKLOG {
            self.out.clear();
            self.is_leaving = true;
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
