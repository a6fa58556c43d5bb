//! What waits to be written to one client: so many lines and so many bytes, and never more.
//!
//! What a client does not read makes the sender wait, or tells it that there is no room; the
//! host's memory does not grow with what happens.

use super::greeting::farewell;
use super::line;
use super::protocol::{FromHost, MAX_LINE};
use crate::domain::Rejection;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// How many lines wait for a client that does not read.
const LINES: usize = 256;

/// At this many bytes nothing more is put in; one line may go beyond it.
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
pub(super) struct Outbox {
    shared: Arc<Shared>,
}

/// The end from which lines are taken.
pub(super) struct Outgoing {
    shared: Arc<Shared>,
}

struct Shared {
    most: usize,
    waiting: Mutex<Waiting>,
    /// How many put messages in.
    senders: AtomicUsize,
    /// Something was put in, or nobody is left to do so.
    filled: Notify,
    /// Something was taken, or nobody is left to do so.
    taken: Notify,
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<Vec<u8>>,
    bytes: usize,
    gone: bool,
}

/// Makes an outbox of the usual size.
pub(super) fn outbox() -> (Outbox, Outgoing) {
    with_room(LINES)
}

/// Makes an outbox with room for so many lines.
pub(super) fn with_room(lines: usize) -> (Outbox, Outgoing) {
    let shared = Arc::new(Shared {
        most: lines,
        waiting: Mutex::default(),
        senders: AtomicUsize::new(1),
        filled: Notify::new(),
        taken: Notify::new(),
    });
    (Outbox { shared: shared.clone() }, Outgoing { shared })
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns with what `look` finds, as soon as it finds something.
    async fn when<T>(&self, changed: &Notify, mut look: impl FnMut(&mut Waiting) -> Option<T>) -> T {
        loop {
            let change = changed.notified();
            tokio::pin!(change);
            // From here on no change is missed.
            change.as_mut().enable();
            if let Some(found) = look(&mut self.waiting()) {
                return found;
            }
            change.await;
        }
    }
}

impl Waiting {
    fn is_full(&self, most: usize) -> bool {
        self.lines.len() >= most || self.bytes >= BYTES
    }

    fn put(&mut self, line: Vec<u8>) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let line = self.lines.pop_front()?;
        self.bytes -= line.len();
        Some(line)
    }
}

impl Outbox {
    /// Puts a message in, as soon as there is room.
    pub async fn send(&self, message: FromHost) -> Result<(), Gone> {
        let mut line = Some(encode(message));
        let most = self.shared.most;
        let sent = self.shared.when(&self.shared.taken, |waiting| match (waiting.gone, waiting.is_full(most)) {
            (true, _) => Some(Err(Gone)),
            (false, true) => None,
            (false, false) => line.take().map(|line| {
                waiting.put(line);
                Ok(())
            }),
        });
        sent.await?;
        self.shared.filled.notify_waiters();
        Ok(())
    }

    /// Puts a message in if there is room now.
    pub fn try_send(&self, message: FromHost) -> Result<(), NotSent> {
        {
            let mut waiting = self.shared.waiting();
            if waiting.gone {
                return Err(NotSent::Gone);
            }
            if waiting.is_full(self.shared.most) {
                return Err(NotSent::Full);
            }
            waiting.put(encode(message));
        }
        self.shared.filled.notify_waiters();
        Ok(())
    }

    /// Returns when half of the room is free.
    pub async fn half_empty(&self) -> Result<(), Gone> {
        let most = self.shared.most / 2;
        let free = self.shared.when(&self.shared.taken, |waiting| {
            let free = waiting.lines.len() <= most && waiting.bytes <= BYTES / 2;
            if waiting.gone { Some(Err(Gone)) } else { free.then_some(Ok(())) }
        });
        free.await
    }

    /// Returns when the client is gone.
    pub async fn closed(&self) {
        self.shared.when(&self.shared.taken, |waiting| waiting.gone.then_some(())).await;
    }
}

impl Clone for Outbox {
    fn clone(&self) -> Self {
        self.shared.senders.fetch_add(1, Ordering::AcqRel);
        Self { shared: self.shared.clone() }
    }
}

impl Drop for Outbox {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.filled.notify_waiters();
        }
    }
}

impl Outgoing {
    /// Takes the next line, when there is one; `None` when nothing more will be sent.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        let next = self.shared.when(&self.shared.filled, |waiting| {
            // Before looking: what the last one put in is there by then.
            let over = self.shared.senders.load(Ordering::Acquire) == 0;
            waiting.take().map(Some).or(over.then_some(None))
        });
        let line = next.await;
        self.shared.taken.notify_waiters();
        line
    }

    /// Takes the next line if it waits already.
    pub fn try_next(&mut self) -> Option<Vec<u8>> {
        let line = self.shared.waiting().take();
        self.shared.taken.notify_waiters();
        line
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.shared.waiting().gone = true;
        self.shared.taken.notify_waiters();
    }
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
        assert_eq!(waiting, 11);
        assert_eq!(outbox.try_send(of_size(1)), Err(NotSent::Full));
        assert!(outgoing.next().await.is_some());
        assert_eq!(outbox.try_send(of_size(100_000)), Ok(()));
        drop(outbox);
        for _ in 0..11 {
            assert!(outgoing.next().await.is_some());
        }
        assert_eq!(outgoing.next().await, None);
    }

    #[tokio::test]
    async fn whoever_waits_for_room_goes_on_when_something_is_read() {
        let (outbox, mut outgoing) = with_room(1);
        outbox.try_send(of_size(1)).expect("room");
        let sending = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(of_size(2)).await }
        });
        tokio::task::yield_now().await;
        assert!(!sending.is_finished());
        assert!(outgoing.next().await.is_some());
        assert_eq!(sending.await.expect("sent"), Ok(()));
        assert!(outgoing.next().await.is_some());
    }

    #[tokio::test]
    async fn whoever_waits_for_room_learns_that_the_client_is_gone() {
        let (outbox, outgoing) = with_room(1);
        outbox.try_send(of_size(1)).expect("room");
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(of_size(1)).await }
        });
        tokio::task::yield_now().await;
        drop(outgoing);
        assert_eq!(waiting.await.expect("an end"), Err(Gone));
        assert_eq!(outbox.try_send(of_size(1)), Err(NotSent::Gone));
        assert_eq!(outbox.half_empty().await, Err(Gone));
    }
}
