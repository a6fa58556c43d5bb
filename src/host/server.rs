//! The host itself: takes connections, and ends when it is told to, must, or is not needed.
//!
//! It ends in an order that nobody falls through: first it takes no more connections, then those
//! there are get their answers, then the Coordinator releases everything, then the lock is free,
//! and only then do the clients see their connections end. Whoever was just connecting finds no
//! host, and starts one.

use super::address::{Address, Listener};
use super::client::{self, Client, Failure, Hello, Pushes};
use super::connection::attend;
use super::error::HostError;
use super::hub::Hub;
use super::lock::HostLock;
use super::protocol::VERSION;
use super::ready::Ready;
use crate::runtime::{Coordinator, Pushed};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// How often a host without clients asks again whether it is needed, should no event say so.
const ASK_AGAIN: Duration = Duration::from_secs(30);

/// How long the Coordinator may take to release everything; what it can't is taken over later.
const RELEASE: Duration = Duration::from_secs(10);

/// How much a pipe in memory holds.
const PIPE: usize = 64 * 1024;

/// How a host behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long it stays when nobody is attached and nothing needs it.
    pub grace: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { grace: Duration::from_secs(2) }
    }
}

/// Why a host ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Ending {
    Asked,
    Signalled,
    NotNeeded,
    Fatal(String),
}

/// Serves clients until the host ends. Needs the lock, and gives it back.
pub async fn serve(
    coordinator: Coordinator,
    lock: HostLock,
    address: Address,
    ready: Ready,
    options: Options,
) -> Result<(), HostError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(HostError::io("watch signals for", address.path()))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(HostError::io("watch signals for", address.path()))?;
    let mut fatal = coordinator.fatal();
    let hub = Arc::new(Hub::new(coordinator));
    let listener = address.bind(&lock)?;
    ready.listening();
    tracing::info!(socket = %address.path().display(), fence = hub.coordinator.fence(), "the host listens");

    let mut connections = JoinSet::new();
    let not_needed = not_needed(&hub, options.grace);
    tokio::pin!(not_needed);
    let ending = loop {
        tokio::select! {
            // In this order: the wish to end is heard before the connection that brought it ends.
            biased;
            reason = fatal_reason(&mut fatal) => break Ending::Fatal(reason),
            () = hub.stopping() => break Ending::Asked,
            _ = terminate.recv() => break Ending::Signalled,
            _ = interrupt.recv() => break Ending::Signalled,
            stream = accept(&listener) => {
                connections.spawn(attend(hub.clone(), stream));
            }
            Some(_) = connections.join_next() => {}
            () = &mut not_needed => break Ending::NotNeeded,
        }
    };
    tracing::info!(?ending, "the host ends");
    drop(listener);
    if let Ending::Fatal(reason) = ending {
        // Nothing can be saved any more, and every moment longer is one too many.
        return Err(HostError::Fatal(reason));
    }
    hub.stop();
    let mut ended = Vec::new();
    while let Some(connection) = connections.join_next().await {
        ended.push(connection);
    }
    if timeout(RELEASE, hub.coordinator.stop()).await.is_err() {
        tracing::error!("the Coordinator did not release everything in time");
    }
    drop(lock);
    drop(ended);
    Ok(())
}

/// Runs the host's end inside this process and connects to it.
pub async fn in_process(coordinator: Coordinator, hello: Hello) -> Result<(Client, Pushes), Failure> {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let mut fatal = coordinator.fatal();
    let over = fatal.borrow().clone();
    if let Some(reason) = over {
        return Err(Failure::Refused { version: VERSION.into(), reason });
    }
    let hub = Arc::new(Hub::new(coordinator));
    tokio::spawn(async move {
        // A runtime that must not go on serves nobody, as a host that ends would not.
        tokio::select! {
            _ = attend(hub.clone(), theirs) => {}
            reason = fatal_reason(&mut fatal) => tracing::error!(reason, "the runtime ends"),
        }
    });
    client::connect(ours, hello).await
}

/// Takes the next connection. That the system has no room for one right now passes.
async fn accept(listener: &Listener) -> tokio::net::UnixStream {
    loop {
        match listener.accept().await {
            Ok(stream) => return stream,
            Err(error) => {
                tracing::error!(%error, "a connection can't be accepted");
                sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn fatal_reason(fatal: &mut watch::Receiver<Option<String>>) -> String {
    let reason = match fatal.wait_for(Option::is_some).await {
        Ok(reason) => reason.clone(),
        Err(_) => None,
    };
    reason.unwrap_or_else(|| "the Coordinator is gone".into())
}

/// Returns when nobody has been attached for `grace` and nothing needs the host.
async fn not_needed(hub: &Hub, grace: Duration) {
    let mut attached = hub.attached();
    loop {
        if attached.wait_for(|count| *count == 0).await.is_err() {
            return;
        }
        // Not before: a feed that nobody reads keeps what happens in memory.
        let mut feed = hub.coordinator.feed();
        let idle = hub.coordinator.needs().await.is_empty();
        let patience = if idle { grace } else { ASK_AGAIN };
        tokio::select! {
            // Somebody came.
            _ = attached.wait_for(|count| *count > 0) => continue,
            // Something happened: what was needed may have ended, or begun.
            () = next_event(&mut feed) => continue,
            () = sleep(patience) => {}
        }
        if idle && hub.coordinator.needs().await.is_empty() && *attached.borrow() == 0 {
            return;
        }
    }
}

async fn next_event(feed: &mut tokio::sync::broadcast::Receiver<Pushed>) {
    loop {
        match feed.recv().await {
            Ok(Pushed::Recorded(_)) | Err(RecvError::Lagged(_)) => return,
            Ok(Pushed::Transient(_)) => {}
            // The Coordinator is gone; its end is told otherwise.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
