//! What waits to be written to one client: so many lines and so many bytes, and never more.
//!
//! What a client does not read makes the sender wait, or tells it that there is no room; the
//! host's memory does not grow with what happens.

use super::greeting::farewell;
use super::line;
use super::protocol::{FromHost, MAX_LINE};
use crate::domain::Rejection;
use std::sync::Arc;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many lines wait for a client that does not read.
const LINES: usize = 256;

/// How many bytes they have together; a line that is longer waits alone.
const BYTES: usize = 1024 * 1024;

/// Nothing more can be sent: the client is gone.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Gone;

/// Why something was not sent at once.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotSent {
    /// The client has not read enough of what waits for it.
    Full,
    /// The client is gone.
    Gone,
}

/// The end into which messages are put; clones put them into the same.
#[derive(Clone)]
pub(super) struct Outbox {
    lines: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// The end from which lines are taken.
pub(super) struct Outgoing {
    lines: mpsc::Receiver<Waiting>,
}

struct Waiting {
    line: Vec<u8>,
    /// Its share of the bytes, given back when it is taken.
    _room: OwnedSemaphorePermit,
}

/// Makes an outbox of the usual size.
pub(super) fn outbox() -> (Outbox, Outgoing) {
    with_room(LINES)
}

/// Makes an outbox with room for so many lines.
pub(super) fn with_room(lines: usize) -> (Outbox, Outgoing) {
    let (sender, receiver) = mpsc::channel(lines);
    (Outbox { lines: sender, room: Arc::new(Semaphore::new(BYTES)) }, Outgoing { lines: receiver })
}

impl Outbox {
    /// Puts a message in, as soon as there is room.
    pub async fn send(&self, message: FromHost) -> Result<(), Gone> {
        let line = encode(message);
        let room = tokio::select! {
            room = self.room.clone().acquire_many_owned(share(&line)) => room.map_err(|_| Gone)?,
            () = self.lines.closed() => return Err(Gone),
        };
        self.lines.send(Waiting { line, _room: room }).await.map_err(|_| Gone)
    }

    /// Puts a message in if there is room now.
    pub fn try_send(&self, message: FromHost) -> Result<(), NotSent> {
        if self.lines.is_closed() {
            return Err(NotSent::Gone);
        }
        let line = encode(message);
        let room = self.room.clone().try_acquire_many_owned(share(&line)).map_err(|_| NotSent::Full)?;
        self.lines.try_send(Waiting { line, _room: room }).map_err(|error| match error {
            TrySendError::Full(_) => NotSent::Full,
            TrySendError::Closed(_) => NotSent::Gone,
        })
    }

    /// Returns when the client is gone.
    pub async fn closed(&self) {
        self.lines.closed().await;
    }
}

impl Outgoing {
    /// Takes the next line, when there is one; `None` when nothing more will be sent.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        self.lines.recv().await.map(|waiting| waiting.line)
    }

    /// Takes the next line if it waits already.
    pub fn try_next(&mut self) -> Option<Vec<u8>> {
        self.lines.try_recv().ok().map(|waiting| waiting.line)
    }
}

/// The part of the room that a line takes.
fn share(line: &[u8]) -> u32 {
    u32::try_from(line.len().min(BYTES)).unwrap_or(u32::MAX)
}

/// Writes a message as a line; what does not fit into one is replaced by words that say so.
fn encode(message: FromHost) -> Vec<u8> {
    let mut out = Vec::new();
    let Err(error) = line::append(&mut out, &message, MAX_LINE) else { return out };
    tracing::error!(%error, "a message to a client can't be sent");
    let instead = match message {
        FromHost::Answered { request, .. } => FromHost::Rejected {
            request,
            rejection: Rejection::invalid(format!("the answer can't be sent: {error}"), "ask for less at once"),
        },
        FromHost::Welcome { .. }
        | FromHost::Refused { .. }
        | FromHost::Accepted { .. }
        | FromHost::Rejected { .. }
        | FromHost::Done { .. }
        | FromHost::Recorded(_)
        | FromHost::Transient(_)
        | FromHost::Lagged { .. } => farewell(format!("the host has something to say that can't be sent: {error}")),
    };
    // These words are short.
    let _ = line::append(&mut out, &instead, MAX_LINE);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_size(bytes: usize) -> FromHost {
        farewell("x".repeat(bytes))
    }

    #[tokio::test]
    async fn it_is_full_by_bytes_long_before_it_is_full_by_lines_and_has_room_again_when_it_is_read() {
        let (outbox, mut outgoing) = outbox();
        let mut waiting = 0;
        while outbox.try_send(of_size(100_000)).is_ok() {
            waiting += 1;
        }
        assert_eq!(waiting, 10);
        assert_eq!(outbox.try_send(of_size(100_000)), Err(NotSent::Full));
        assert!(outgoing.next().await.is_some());
        assert_eq!(outbox.try_send(of_size(100_000)), Ok(()));
    }

    #[tokio::test]
    async fn a_line_that_is_longer_than_the_room_waits_until_it_is_alone() {
        let (outbox, mut outgoing) = outbox();
        outbox.try_send(of_size(10)).expect("room");
        assert_eq!(outbox.try_send(of_size(2 * BYTES)), Err(NotSent::Full));
        let sending = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(of_size(2 * BYTES)).await }
        });
        assert!(outgoing.next().await.is_some_and(|line| line.len() < BYTES));
        assert!(outgoing.next().await.is_some_and(|line| line.len() > 2 * BYTES));
        assert_eq!(sending.await.expect("sent"), Ok(()));
    }

    #[tokio::test]
    async fn whoever_waits_for_room_learns_that_the_client_is_gone() {
        let (outbox, outgoing) = outbox();
        outbox.try_send(of_size(BYTES)).expect("room");
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(of_size(BYTES)).await }
        });
        tokio::task::yield_now().await;
        drop(outgoing);
        assert_eq!(waiting.await.expect("an end"), Err(Gone));
        assert_eq!(outbox.try_send(of_size(1)), Err(NotSent::Gone));
    }
}
