//! What all connections of a host share: the Coordinator, who is attached, and the wish to end.

use super::protocol::VERSION;
use crate::domain::{ClientId, HostStatus, Millis};
use crate::runtime::Coordinator;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Shared by the connections of one host.
pub(super) struct Hub {
    pub(super) coordinator: Coordinator,
    started_at: Millis,
    attached: watch::Sender<u32>,
    /// Who is attached, and by how many connections.
    present: Mutex<BTreeMap<ClientId, u32>>,
    stopping: watch::Sender<bool>,
}

/// Counts a connection as attached for as long as it lives.
pub(super) struct Attached<'a> {
    hub: &'a Hub,
}

impl Drop for Attached<'_> {
    fn drop(&mut self) {
        self.hub.attached.send_modify(|count| *count -= 1);
    }
}

impl Hub {
    pub(super) fn new(coordinator: Coordinator) -> Self {
        let started_at = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX));
        Self {
            coordinator,
            started_at,
            attached: watch::Sender::new(0),
            present: Mutex::default(),
            stopping: watch::Sender::new(false),
        }
    }

    /// Counts one more connection, from the moment it is accepted.
    pub(super) fn attach(&self) -> Attached<'_> {
        self.attached.send_modify(|count| *count += 1);
        Attached { hub: self }
    }

    /// Notes that a client is here: its drafts are its own.
    pub(super) fn arrived(&self, client: &ClientId) {
        if let Ok(mut present) = self.present.lock() {
            *present.entry(client.clone()).or_insert(0) += 1;
        }
    }

    /// Notes that a connection of a client is gone.
    pub(super) fn left(&self, client: &ClientId) {
        if let Ok(mut present) = self.present.lock()
            && let Some(count) = present.get_mut(client)
        {
            *count -= 1;
            if *count == 0 {
                present.remove(client);
            }
        }
    }

    /// Who is here.
    pub(super) fn present(&self) -> Vec<ClientId> {
        self.present.lock().map(|present| present.keys().cloned().collect()).unwrap_or_default()
    }

    /// How many connections there are, to be watched.
    pub(super) fn attached(&self) -> watch::Receiver<u32> {
        self.attached.subscribe()
    }

    /// Asks everything to come to its end.
    pub(super) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Returns when everything is asked to come to its end.
    pub(super) async fn stopping(&self) {
        // The sender is ours, so this ends only with the wish.
        let _ = self.stopping.subscribe().wait_for(|stopping| *stopping).await;
    }

    /// Says how the host is.
    pub(super) async fn status(&self) -> HostStatus {
        let clients = *self.attached.borrow();
        HostStatus {
            pid: std::process::id(),
            version: VERSION.into(),
            fence: self.coordinator.fence(),
            seq: self.coordinator.seq(),
            clients,
            needs: self.coordinator.needs().await,
            started_at: self.started_at,
        }
    }
}
