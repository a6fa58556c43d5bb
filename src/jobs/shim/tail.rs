//! What was printed last, shared by the two threads: enough to know what stands on the screen.
//!
//! The intake adds to it and never waits; the other thread takes from it what the screen needs,
//! and where it was too slow it goes on with what is still there.

use crate::domain::Millis;
use crate::jobs::protocol::LogState;
use crate::jobs::terminal::{Modes, Query};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How much is kept.
const KEPT: usize = 256 * 1024;

/// A line that is longer than this is begun in the middle.
const LINE: usize = 4 * 1024;

/// Both threads' view of what was printed.
pub(super) struct Shared {
    tail: Mutex<Tail>,
    /// Whether the other thread wants to know of everything that is printed.
    listens: AtomicBool,
    rung: AtomicBool,
    bell: OwnedFd,
    ring: OwnedFd,
}

/// What was printed last. Positions count what was printed since the beginning.
#[derive(Debug)]
pub(super) struct Tail {
    kept: VecDeque<u8>,
    end: u64,
    /// What the program asked and was not yet answered, with the position behind the question.
    pub(super) queries: VecDeque<(u64, Query)>,
    pub(super) modes: Modes,
    pub(super) last_output_at: Option<Millis>,
    pub(super) log_bytes: u64,
    pub(super) lost_bytes: u64,
    pub(super) log: LogState,
    /// Nothing more will be printed.
    pub(super) is_over: bool,
}

impl Tail {
    /// The position of the first byte that is kept.
    pub(super) fn start(&self) -> u64 {
        self.end - self.kept.len() as u64
    }

    /// The position that the next byte will have.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Adds what was printed; what is oldest goes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        let bytes_kept = &bytes[bytes.len().saturating_sub(KEPT)..];
        let excess = (self.kept.len() + bytes_kept.len()).saturating_sub(KEPT);
        self.kept.drain(..excess);
        self.kept.extend(bytes_kept);
        self.end += bytes.len() as u64;
    }

    /// Copies what is kept from a position on, up to `to` and as much as `most`.
    pub(super) fn copy(&self, from: u64, to: u64, most: usize, out: &mut Vec<u8>) {
        out.clear();
        let first = from.max(self.start());
        let last = to.min(self.end);
        let skip = (first - self.start()) as usize;
        let len = usize::try_from(last.saturating_sub(first)).unwrap_or(most).min(most);
        let (a, b) = self.kept.as_slices();
        out.extend(&a[skip.min(a.len())..(skip + len).min(a.len())]);
        out.extend(&b[skip.saturating_sub(a.len())..(skip + len).saturating_sub(a.len())]);
    }

    /// The first position at which one can begin to draw: the beginning, or the beginning of a line
    /// where one is near.
    pub(super) fn first_line(&self) -> u64 {
        let start = self.start();
        if start == 0 {
            return 0;
        }
        let first = self.kept.iter().take(LINE).position(|byte| *byte == b'\n');
        first.map_or(start, |at| start + at as u64 + 1)
    }
}

impl Shared {
    pub(super) fn new() -> io::Result<Self> {
        use rustix::pipe::PipeFlags;
        let (bell, ring) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let tail = Tail {
            kept: VecDeque::new(),
            end: 0,
            queries: VecDeque::new(),
            modes: Modes::default(),
            last_output_at: None,
            log_bytes: 0,
            lost_bytes: 0,
            log: LogState::Written,
            is_over: false,
        };
        Ok(Self { tail: Mutex::new(tail), listens: AtomicBool::new(false), rung: AtomicBool::new(false), bell, ring })
    }

    /// Looks at it; held for moments only.
    pub(super) fn tail(&self) -> MutexGuard<'_, Tail> {
        // Whoever panicked left it whole: nothing in it is changed in two steps.
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether to be told of everything that is printed.
    pub(super) fn listen(&self, listens: bool) {
        self.listens.store(listens, Ordering::Release);
    }

    pub(super) fn is_listening(&self) -> bool {
        self.listens.load(Ordering::Acquire)
    }

    /// Tells the other thread that there is something for it.
    pub(super) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel) {
            let _ = rustix::io::write(&self.ring, &[1]);
        }
    }

    /// Takes note of having been told; look at the tail after this, not before.
    pub(super) fn heard(&self) {
        let mut buffer = [0; 16];
        while rustix::io::read(&self.bell, &mut buffer).is_ok_and(|read| read == buffer.len()) {}
        self.rung.store(false, Ordering::Release);
    }
}

impl AsFd for Shared {
    /// The descriptor becomes readable when there is something for the other thread.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_oldest_goes_and_positions_stay() {
        let shared = Shared::new().expect("made");
        let mut tail = shared.tail();
        let mut out = Vec::new();
        for number in 0..100_000_u32 {
            tail.add(format!("{number:07}\n").as_bytes());
        }
        assert_eq!((tail.start(), tail.end()), (800_000 - KEPT as u64, 800_000));
        tail.copy(799_984, u64::MAX, 1000, &mut out);
        assert_eq!(out, b"0099998\n0099999\n");
        tail.copy(799_984, 799_988, 1000, &mut out);
        assert_eq!(out, b"0099");
        tail.copy(0, u64::MAX, 8, &mut out);
        assert_eq!(out.len(), 8, "what is gone is passed over");
        assert_eq!(tail.first_line() % 8, 0);
        tail.add(&vec![b'x'; 2 * KEPT]);
        assert_eq!(tail.end() - tail.start(), KEPT as u64);
    }
}
