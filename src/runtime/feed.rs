//! What happens, told to everybody who listens: events after their commit, and the live tail of
//! answers that are being given.

use crate::domain::{Event, ModelCallId, Recorded, Seq, TaskId, Transient};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{Notify, broadcast, mpsc};

/// How far a listener may fall behind before it is told so.
const BACKLOG: usize = 4096;

/// Something that is pushed to listeners.
#[derive(Debug, Clone)]
pub enum Pushed {
    /// An event, in the order of `seq`.
    Recorded(Arc<Recorded>),
    /// Something that is shown and not stored.
    Transient(Arc<Transient>),
}

/// An answer that is being given: its words and its thinking so far.
struct Tail {
    said: Option<Transient>,
    thought: Option<Transient>,
}

/// The place where everything that happens passes.
pub(super) struct FeedHub {
    listeners: broadcast::Sender<Pushed>,
    supervisor: mpsc::UnboundedSender<Arc<Recorded>>,
    tails: Mutex<BTreeMap<ModelCallId, Tail>>,
    seq: AtomicI64,
    drivers: AtomicUsize,
    gone: Notify,
}

impl FeedHub {
    pub fn new(supervisor: mpsc::UnboundedSender<Arc<Recorded>>) -> Self {
        Self {
            listeners: broadcast::channel(BACKLOG).0,
            supervisor,
            tails: Mutex::default(),
            seq: AtomicI64::new(0),
            drivers: AtomicUsize::new(0),
            gone: Notify::new(),
        }
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Pushed> {
        self.listeners.subscribe()
    }

    pub fn seq(&self) -> Seq {
        self.seq.load(Ordering::Acquire)
    }

    pub fn start_at(&self, seq: Seq) {
        self.seq.fetch_max(seq, Ordering::AcqRel);
    }

    /// Takes an event; called on the writer's thread, in order, after the commit.
    pub fn recorded(&self, recorded: Arc<Recorded>) {
        match &recorded.event {
            Event::TurnCommitted { call, .. } | Event::TurnFailed { call, .. } | Event::TurnAbandoned { call, .. } => {
                if let Ok(mut tails) = self.tails.lock() {
                    tails.remove(call);
                }
            }
            _ => {}
        }
        self.seq.store(recorded.seq, Ordering::Release);
        // Nobody listening is no fault.
        let _ = self.supervisor.send(recorded.clone());
        let _ = self.listeners.send(Pushed::Recorded(recorded));
    }

    /// Shows something that is not stored.
    pub fn show(&self, transient: Transient) {
        // Sent before the lock is given back: whoever takes the tail then knows what of it still
        // waits in the feed.
        let tails = self.tails.lock().map(|mut tails| {
            grow(&mut tails, &transient);
            tails
        });
        let _ = self.listeners.send(Pushed::Transient(Arc::new(transient)));
        drop(tails);
    }

    /// The answers that are being given, each whole so far, and how many pushes that wait in `feed`
    /// came before: what was recorded among those comes first.
    pub fn live_tail(&self, feed: &broadcast::Receiver<Pushed>, task: Option<&TaskId>) -> (usize, Vec<Transient>) {
        let Ok(tails) = self.tails.lock() else { return (0, Vec::new()) };
        let tail = tails
            .values()
            .flat_map(|tail| tail.thought.iter().chain(tail.said.iter()))
            .filter(|transient| task.is_none_or(|task| transient.task() == task))
            .cloned()
            .collect();
        (feed.len(), tail)
    }

    /// Counts a driver in; dropping the guard counts it out.
    pub fn driver(self: &Arc<Self>) -> DriverGuard {
        self.drivers.fetch_add(1, Ordering::AcqRel);
        DriverGuard(self.clone())
    }

    /// Returns when no driver is left.
    pub async fn drivers_gone(&self) {
        loop {
            let gone = self.gone.notified();
            if self.drivers.load(Ordering::Acquire) == 0 {
                return;
            }
            gone.await;
        }
    }
}

/// Counts a driver out when it is dropped.
pub(super) struct DriverGuard(Arc<FeedHub>);

impl Drop for DriverGuard {
    fn drop(&mut self) {
        self.0.drivers.fetch_sub(1, Ordering::AcqRel);
        self.0.gone.notify_waiters();
    }
}

/// Adds a piece to the answer it belongs to.
fn grow(tails: &mut BTreeMap<ModelCallId, Tail>, piece: &Transient) {
    let (call, thinking) = match piece {
        Transient::Text { call, .. } => (call, false),
        Transient::Thinking { call, .. } => (call, true),
        Transient::CallForming { .. } | Transient::ToolOutput { .. } | Transient::Unsaved { .. } => return,
    };
    let tail = tails.entry(call.clone()).or_insert(Tail { said: None, thought: None });
    let slot = if thinking { &mut tail.thought } else { &mut tail.said };
    match (slot.as_mut(), piece) {
        (Some(Transient::Text { text, .. }), Transient::Text { text: more, .. })
        | (Some(Transient::Thinking { text, .. }), Transient::Thinking { text: more, .. }) => text.push_str(more),
        _ => *slot = Some(piece.clone()),
    }
}
