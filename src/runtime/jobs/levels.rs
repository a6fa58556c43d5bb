//! Whether a Job is as was stated to be normal: looked at now and then, for Jobs of which something
//! was stated, and for no others.

use super::super::{Coordinator, now};
use super::blocking;
use crate::domain::*;
use crate::jobs::levels::{Observation, Point, breaches};
use crate::jobs::{Folder, look};
use crate::process::Table;
use std::time::Duration;
use tokio::time::Instant;

/// How often is looked.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The most points of progress that are remembered.
const MOST_POINTS: usize = 10_000;

/// Watches one Job's levels.
pub(super) struct Levels {
    job: Job,
    folder: Folder,
    next: Instant,
    progress: Vec<Point>,
    told: Vec<&'static str>,
}

impl Levels {
    pub(super) fn new(job: &Job, folder: &Folder) -> Self {
        let next = Instant::now() + LOOK_EVERY;
        Self { job: job.clone(), folder: folder.clone(), next, progress: Vec::new(), told: Vec::new() }
    }

    /// Returns when it is time to look. Never for a Job of which nothing was stated.
    pub(super) async fn due(&self) {
        match self.job.definition.levels.is_empty() {
            true => std::future::pending().await,
            false => tokio::time::sleep_until(self.next).await,
        }
    }

    /// Looks, and tells what is not as it should be.
    pub(super) async fn look(&mut self, coordinator: &Coordinator) {
        self.next = Instant::now() + LOOK_EVERY;
        let Some(seen) = self.observe().await else { return };
        for breach in breaches(&self.job.definition.levels, &seen) {
            // Once is enough for this host; that it was told by another one, the store knows.
            if !self.told.contains(&breach.name()) {
                self.told.push(breach.name());
                let report = JobReport::Breached { breach: breach.name().into(), text: breach.to_string() };
                super::report(coordinator, &self.job, report).await;
            }
        }
    }

    async fn observe(&mut self) -> Option<Observation> {
        let (folder, wants_memory) = (self.folder.clone(), self.job.definition.levels.rss_bytes.is_some());
        let (record, said, rss_bytes) = blocking(move || {
            let record = folder.started().ok()??;
            let said = look::said(&folder).ok()?;
            let rss = wants_memory.then(|| look::usage(&Table::read(), &record).rss_bytes);
            Some((record, said, rss))
        })
        .await
        .ok()??;
        let since = |at: Millis| u64::try_from(now().saturating_sub(at)).unwrap_or(0);
        let elapsed_ms = since(record.started_at);
        if let Some(fraction) = said.progress.and_then(|progress| progress.fraction) {
            if self.progress.len() == MOST_POINTS {
                self.progress.remove(0);
            }
            self.progress.push(Point { elapsed_ms, fraction });
        }
        Some(Observation {
            elapsed_ms,
            silent_ms: since(said.at.unwrap_or(record.started_at)),
            rss_bytes,
            log_bytes: said.bytes,
            progress: self.progress.clone(),
        })
    }
}
