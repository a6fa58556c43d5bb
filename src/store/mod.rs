//! The SQLite file: schema, one writer, snapshots to decide on, projections, queries.
//!
//! One database per state directory. One thread writes ([`writer`]): it takes commands, decides
//! them inside the transaction, projects the events to rows and commits them in groups. A few
//! read-only connections answer queries ([`query`]). Nothing else opens the file.
//!
//! Who calls it: `runtime`, and `cli` for `doctor` when no host runs. It knows no screen and no model.

mod ballast;
pub mod blobs;
mod delegation;
mod doctor;
mod error;
mod event_log;
mod hash;
mod load;
mod open;
mod project;
mod query;
mod readers;
mod removal;
mod repair;
mod resources;
mod rows;
mod writer;

#[cfg(test)]
mod tests;

pub use blobs::BlobDir;
pub use error::StoreError;
pub use repair::{Repaired, repair};
pub use resources::{AtWork, Bulk, ContentRow, Pieces};
pub use writer::{Committed, Feed};

use crate::domain::{Answer, CommandId, Due, Envelope, Millis, Query, Receipt, Rejection, Snapshot, TaskId};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The store of one state directory.
pub struct Store {
    home: PathBuf,
    // Closed before the writer: the last connection to close folds the -wal file into the database,
    // and one that only reads can't.
    readers: readers::Readers,
    writer: writer::Writer,
    blobs: Arc<BlobDir>,
}

impl Store {
    /// Opens the store of a state directory, creating it when there is none, and brings its schema
    /// up to date. The caller holds the host lock. `feed` is called on the writer's thread with
    /// every event, in order, after the commit that holds it.
    pub fn open(home: &Path, feed: Feed) -> Result<Self, StoreError> {
        let path = home.join("cowork.db");
        let connection = open::writer(&path)?;
        let blobs = Arc::new(BlobDir::open(&home.join("blobs")).map_err(|e| StoreError::io("open", home, e))?);
        let readers = readers::Readers::new(path);
        let ballast = ballast::Ballast::lay(home);
        let writer = writer::Writer::start(connection, ballast, feed)?;
        Ok(Self { home: home.to_owned(), writer, readers, blobs })
    }

    /// Carries a command out, or refuses it; returns when that is on disk.
    pub async fn submit(&self, envelope: Envelope) -> Result<Committed, Rejection> {
        self.writer.submit(envelope, Bulk::default()).await
    }

    /// Carries a command out with what is kept by its hash, in one transaction.
    pub async fn submit_with(&self, envelope: Envelope, bulk: Bulk) -> Result<Committed, Rejection> {
        self.writer.submit(envelope, bulk).await
    }

    /// Carries commands out in one commit, in their order; one that is refused takes nobody along.
    pub async fn submit_together(&self, envelopes: Vec<Envelope>) -> Vec<Result<Committed, Rejection>> {
        self.writer.submit_together(envelopes).await
    }

    /// Keeps the unsent text of a client's pane.
    pub async fn keep_draft(&self, client: &str, pane: &str, text: &str, at: Millis) -> Result<(), Rejection> {
        self.writer.keep_draft(client, pane, text, at).await
    }

    /// Gives a client the newest unsent text that a client which is not `present` left in a pane.
    pub async fn adopt_draft(
        &self,
        client: &str,
        pane: &str,
        present: &[crate::domain::ClientId],
    ) -> Result<Option<String>, Rejection> {
        self.writer.adopt_draft(client, pane, present).await
    }

    /// What a command gave, if it came before. Blocks for as long as SQLite reads.
    pub fn receipt(&self, command: &CommandId) -> Result<Option<Receipt>, Rejection> {
        self.readers.with(|c| event_log::receipt_of(c, command))
    }

    /// Answers a query. Blocks for as long as SQLite reads.
    pub fn ask(&self, query: &Query) -> Result<Answer, Rejection> {
        match query {
            Query::Blob { blob, offset, limit } => query::blob(&self.blobs, blob, *offset, *limit),
            Query::Doctor { deep } => self.readers.with(|c| doctor::examine(c, &self.blobs, *deep)).map(Answer::Doctor),
            _ => self.readers.with(|c| query::answer(c, query))?,
        }
    }

    /// The live part of a Task, as it stands on disk. Blocks for as long as SQLite reads.
    pub fn look(&self, task: &TaskId) -> Result<Snapshot, Rejection> {
        self.readers.with(|c| load::task(c, task))
    }

    /// Rows of an agent's context. Blocks for as long as SQLite reads.
    pub fn rows(&self, agent: &crate::domain::AgentId, seqs: Range<u64>) -> Result<Vec<crate::domain::Row>, Rejection> {
        self.readers.with(|c| load::rows_of(c, agent, seqs))
    }

    /// The last calls of an agent that read or changed a file, newest first.
    pub fn calls_on_files(&self, agent: &crate::domain::AgentId) -> Result<Vec<crate::domain::ToolCall>, Rejection> {
        self.readers.with(|c| query::calls_on_files(c, agent))
    }

    /// Agents that are absent and have work, with their Tasks.
    pub fn due(&self) -> Result<Vec<Due>, Rejection> {
        self.readers.with(load::due)
    }

    /// The Jobs that have not ended.
    pub fn live_jobs(&self) -> Result<Vec<crate::domain::Job>, Rejection> {
        self.readers.with(load::live_jobs)
    }

    /// The Jobs that ended before a time; those of a Task that is not over are left out.
    pub fn jobs_ended_before(&self, at: crate::domain::Millis) -> Result<Vec<crate::domain::JobId>, Rejection> {
        self.readers.with(|c| load::jobs_ended_before(c, at))
    }

    /// Whether the folder of a Job is that of one, or of a call that runs.
    pub fn owns_folder(&self, job: &crate::domain::JobId) -> Result<bool, Rejection> {
        self.readers.with(|c| load::owns_folder(c, job))
    }

    /// What keeps a host from leaving.
    pub fn needs(&self) -> Result<Vec<crate::domain::Waiting>, Rejection> {
        self.readers.with(load::needs)
    }

    /// The last recorded event.
    pub fn seq(&self) -> Result<crate::domain::Seq, Rejection> {
        self.readers.with(event_log::last_seq)
    }

    /// Why nothing is written any more, if so: this process must not go on.
    pub fn broken(&self) -> Option<Rejection> {
        self.writer.broken()
    }

    /// Where bulk bytes are kept.
    pub fn blobs(&self) -> Arc<BlobDir> {
        self.blobs.clone()
    }

    /// The state directory.
    pub fn home(&self) -> &Path {
        &self.home
    }
}
