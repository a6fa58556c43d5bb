//! One client's feed: first what was recorded, from disk and at the client's pace, then what
//! happens, without a gap and without anything twice.
//!
//! A client that can't keep up with what happens loses transients, and is told to subscribe again
//! when it would lose an event. Never more than a page waits here in memory.

use super::greeting::farewell;
use super::hub::Hub;
use super::protocol::FromHost;
use crate::domain::{Answer, Event, Query, Recorded, Seq, TaskId, Transient};
use crate::runtime::Pushed;
use std::sync::Arc;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::mpsc::{self, error::TrySendError};

/// How many events are read from disk at once.
const PAGE: u32 = 256;

/// Why a feed comes to its end.
enum End {
    /// The client is gone, or nothing will happen any more.
    Gone,
    /// The client is too slow for what happens.
    Slow,
    /// The store can't be read.
    Unread(String),
}

/// The feed of one client.
pub(super) struct Subscription {
    hub: Arc<Hub>,
    outbox: mpsc::Sender<FromHost>,
    task: Option<TaskId>,
    /// The last event that the client has, or need not have.
    last: Seq,
    /// Whether transients were dropped since the client last saw the whole live tail.
    holes: bool,
}

impl Subscription {
    pub(super) fn new(hub: Arc<Hub>, outbox: mpsc::Sender<FromHost>, task: Option<TaskId>, after: Seq) -> Self {
        Self { hub, outbox, task, last: after, holes: false }
    }

    /// Feeds the client until it lags, is gone, or the store fails.
    pub(super) async fn run(mut self) {
        // Taken before the first page is read: what is recorded meanwhile comes both ways, never neither.
        let mut feed = self.hub.coordinator.feed();
        let end = loop {
            if let Err(end) = self.catch_up().await {
                break end;
            }
            if let Err(end) = self.follow(&mut feed).await {
                break end;
            }
        };
        // Whoever waits for a slow client to read must not hold up what it no longer follows.
        drop(feed);
        let last_word = match end {
            End::Gone => return,
            End::Slow => FromHost::Lagged { seq: self.last },
            End::Unread(reason) => farewell(reason),
        };
        let _ = self.outbox.send(last_word).await;
    }

    /// Sends what was recorded after `last`; the client sets the pace.
    async fn catch_up(&mut self) -> Result<(), End> {
        loop {
            let query = Query::Events { task: self.task.clone(), after: self.last, limit: PAGE };
            let mut page = match self.hub.coordinator.ask(query).await {
                Ok(Answer::Events(page)) => page,
                Ok(other) => return Err(End::Unread(format!("events were asked for, not {other:.40?}"))),
                Err(rejection) => return Err(End::Unread(rejection.to_string())),
            };
            // What is on disk and was not told yet is still to come in the feed, and what is being
            // said is only whole beside what was told.
            let told = self.hub.coordinator.seq();
            page.retain(|recorded| recorded.seq <= told);
            if page.is_empty() {
                return Ok(());
            }
            for recorded in page {
                self.last = recorded.seq;
                self.send(FromHost::Recorded(Box::new(recorded))).await?;
            }
        }
    }

    /// Sends what happens; returns when the feed ran over and the disk knows more.
    async fn follow(&mut self, feed: &mut Receiver<Pushed>) -> Result<(), End> {
        // What waits in the feed by now is part of the live tail.
        let mut in_tail = feed.len();
        for transient in self.hub.coordinator.live_tail(self.task.as_ref()) {
            self.send(FromHost::Transient(transient)).await?;
        }
        self.holes = false;
        loop {
            match feed.recv().await {
                Ok(Pushed::Recorded(recorded)) => self.recorded(&recorded)?,
                Ok(Pushed::Transient(transient)) if in_tail == 0 => self.transient(&transient)?,
                Ok(Pushed::Transient(_)) => {}
                Err(RecvError::Lagged(_)) => return Ok(()),
                Err(RecvError::Closed) => return Err(End::Gone),
            }
            in_tail = in_tail.saturating_sub(1);
        }
    }

    fn recorded(&mut self, recorded: &Recorded) -> Result<(), End> {
        if recorded.seq <= self.last {
            return Ok(());
        }
        if self.concerns(recorded) {
            match self.outbox.try_send(FromHost::Recorded(Box::new(recorded.clone()))) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => return Err(End::Slow),
                Err(TrySendError::Closed(_)) => return Err(End::Gone),
            }
        }
        self.last = recorded.seq;
        Ok(())
    }

    fn transient(&mut self, transient: &Transient) -> Result<(), End> {
        if self.task.as_ref().is_some_and(|task| task != transient.task()) {
            return Ok(());
        }
        if self.holes {
            self.holes = false;
            for transient in self.hub.coordinator.live_tail(self.task.as_ref()) {
                self.show(transient)?;
            }
        }
        self.show(transient.clone())
    }

    /// Sends a transient if there is room.
    fn show(&mut self, transient: Transient) -> Result<(), End> {
        match self.outbox.try_send(FromHost::Transient(transient)) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => {
                self.holes = true;
                Ok(())
            }
            Err(TrySendError::Closed(_)) => Err(End::Gone),
        }
    }

    /// Whether an event belongs to what was subscribed to; that a Task was removed is recorded
    /// outside of it.
    fn concerns(&self, recorded: &Recorded) -> bool {
        self.task.as_ref().is_none_or(|task| {
            recorded.task.as_ref() == Some(task)
                || matches!(&recorded.event, Event::TaskRemoved { removed, .. } if removed == task)
        })
    }

    async fn send(&self, message: FromHost) -> Result<(), End> {
        self.outbox.send(message).await.map_err(|_| End::Gone)
    }
}
