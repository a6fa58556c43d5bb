//! One client's feed: first what was recorded, from disk and at the client's pace, then what
//! happens, without a gap and without anything twice.
//!
//! A client that can't keep up with what happens loses transients, and is told to subscribe again
//! when it would lose an event. Nothing of what happens is kept while a client is waited for.

use super::greeting::farewell;
use super::hub::Hub;
use super::outbox::{Gone, NotSent, Outbox};
use super::protocol::FromHost;
use crate::domain::{Answer, Event, Query, Recorded, Seq, TaskId, Transient};
use crate::runtime::Pushed;
use std::sync::Arc;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

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

/// Whether a feed goes on from the last event that was sent.
enum Gap {
    Closed,
    Open,
}

/// Why the live tail was not shown.
enum Missed {
    /// The feed ran over; the disk knows more.
    Ran,
    /// The whole feed came to its end.
    Ended(End),
}

impl From<End> for Missed {
    fn from(end: End) -> Self {
        Self::Ended(end)
    }
}

/// The feed of one client.
pub(super) struct Subscription {
    hub: Arc<Hub>,
    outbox: Outbox,
    task: Option<TaskId>,
    /// The last event that the client has, or need not have.
    last: Seq,
    /// Whether transients were dropped since the client last saw the whole live tail.
    holes: bool,
}

impl Subscription {
    pub(super) fn new(hub: Arc<Hub>, outbox: Outbox, task: Option<TaskId>, after: Seq) -> Self {
        Self { hub, outbox, task, last: after, holes: false }
    }

    /// Feeds the client until it lags, is gone, or the store fails.
    pub(super) async fn run(mut self) {
        let end = loop {
            // A feed that nobody reads would keep what happens in memory: there is none as long as
            // the client is waited for.
            if let Err(end) = self.catch_up().await {
                break end;
            }
            let mut feed = self.hub.coordinator.feed();
            match self.close_gap().await {
                Ok(Gap::Closed) => {}
                Ok(Gap::Open) => continue,
                Err(end) => break end,
            }
            if let Err(end) = self.follow(&mut feed).await {
                break end;
            }
        };
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
            let page = self.page().await?;
            if page.is_empty() {
                return Ok(());
            }
            for recorded in page {
                self.last = recorded.seq;
                self.send(FromHost::Recorded(Box::new(recorded))).await?;
            }
        }
    }

    /// Sends what was recorded between the last page and the beginning of the feed, if there is
    /// room for it.
    async fn close_gap(&mut self) -> Result<Gap, End> {
        loop {
            let page = self.page().await?;
            if page.is_empty() {
                return Ok(Gap::Closed);
            }
            for recorded in &page {
                match self.recorded(recorded) {
                    Ok(()) => {}
                    Err(End::Slow) => return Ok(Gap::Open),
                    Err(end) => return Err(end),
                }
            }
        }
    }

    /// Reads what was recorded after `last` and has been told: what is on disk and was not told yet
    /// still comes in the feed.
    async fn page(&self) -> Result<Vec<Recorded>, End> {
        let query = Query::Events { task: self.task.clone(), after: self.last, limit: PAGE };
        let mut page = match self.hub.coordinator.ask(query).await {
            Ok(Answer::Events(page)) => page,
            Ok(other) => return Err(End::Unread(format!("events were asked for, not {other:.40?}"))),
            Err(rejection) => return Err(End::Unread(rejection.to_string())),
        };
        let told = self.hub.coordinator.seq();
        page.retain(|recorded| recorded.seq <= told);
        Ok(page)
    }

    /// Sends what happens; returns when the feed ran over and the disk knows more.
    async fn follow(&mut self, feed: &mut Receiver<Pushed>) -> Result<(), End> {
        // The tail is shown first, and again after every hole in it, once there is room.
        self.holes = true;
        loop {
            tokio::select! {
                biased;
                room = self.outbox.half_empty(), if self.holes => {
                    room.map_err(|Gone| End::Gone)?;
                    match self.tail(feed) {
                        Err(Missed::Ran) => return Ok(()),
                        Err(Missed::Ended(end)) => return Err(end),
                        Ok(()) => {}
                    }
                }
                pushed = feed.recv() => match pushed {
                    Ok(Pushed::Recorded(recorded)) => self.recorded(&recorded)?,
                    // What comes while something is missing comes with the whole tail.
                    Ok(Pushed::Transient(_)) if self.holes => {}
                    Ok(Pushed::Transient(transient)) => self.transient(&transient)?,
                    Err(RecvError::Lagged(_)) => return Ok(()),
                    Err(RecvError::Closed) => return Err(End::Gone),
                },
            }
        }
    }

    /// Shows the whole live tail, behind everything recorded that it rests on.
    fn tail(&mut self, feed: &mut Receiver<Pushed>) -> Result<(), Missed> {
        let (before, tail) = self.hub.coordinator.live_tail(feed, self.task.as_ref());
        self.holes = false;
        for _ in 0..before {
            match feed.try_recv() {
                Ok(Pushed::Recorded(recorded)) => self.recorded(&recorded)?,
                Ok(Pushed::Transient(transient)) => match &*transient {
                    // Part of the tail.
                    Transient::Text { .. } | Transient::Thinking { .. } => {}
                    Transient::CallForming { .. } | Transient::ToolOutput { .. } | Transient::Unsaved { .. } => {
                        self.transient(&transient)?;
                    }
                },
                Err(TryRecvError::Lagged(_)) => return Err(Missed::Ran),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Closed) => return Err(Missed::Ended(End::Gone)),
            }
        }
        for transient in tail {
            self.show(transient)?;
        }
        Ok(())
    }

    fn recorded(&mut self, recorded: &Recorded) -> Result<(), End> {
        if recorded.seq <= self.last {
            return Ok(());
        }
        if self.concerns(recorded) {
            match self.outbox.try_send(FromHost::Recorded(Box::new(recorded.clone()))) {
                Ok(()) => {}
                Err(NotSent::Full) => return Err(End::Slow),
                Err(NotSent::Gone) => return Err(End::Gone),
            }
        }
        self.last = recorded.seq;
        Ok(())
    }

    fn transient(&mut self, transient: &Transient) -> Result<(), End> {
        if self.task.as_ref().is_some_and(|task| task != transient.task()) {
            return Ok(());
        }
        self.show(transient.clone())
    }

    /// Sends a transient if there is room.
    fn show(&mut self, transient: Transient) -> Result<(), End> {
        match self.outbox.try_send(FromHost::Transient(transient)) {
            Ok(()) => Ok(()),
            Err(NotSent::Full) => {
                self.holes = true;
                Ok(())
            }
            Err(NotSent::Gone) => Err(End::Gone),
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
