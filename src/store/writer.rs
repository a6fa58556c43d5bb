//! The one thread that writes.
//!
//! It drains its queue into one transaction (group commit), with a savepoint for each command so
//! that a refused one takes nobody along. Answers go out, and the feed is told, after the commit.
//! An error of the disk itself stops the writer for good: what was acknowledged is on disk, and
//! the host starts again rather than trust a failed fsync.

use super::ballast::Ballast;
use super::error::{StoreError, refuse};
use super::resources::{self, Bulk};
use super::{event_log, load, project};
use crate::domain::rejection::RejectionKind;
use crate::domain::{
    ClientId, Command, EditReceipt, Envelope, Event, Fence, Millis, Receipt, Recorded, Rejection, Seq, Snapshot,
    decide_and_apply,
};
use rusqlite::{Connection, ErrorCode, params};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock};
use tokio::sync::oneshot;

/// Is called with every event, in order, after the commit that holds it.
pub type Feed = Box<dyn Fn(Arc<Recorded>) + Send>;

/// The most commands that share a commit.
const GROUP: usize = 256;

/// What a carried out command gave.
#[derive(Debug, Clone)]
pub struct Committed {
    /// What the one who asked is told.
    pub receipt: Receipt,
    /// The events, in order; empty when the command had been carried out before.
    pub events: Vec<Arc<Recorded>>,
    /// What an agent's Task is like then, if it was an agent's command and was carried out now.
    pub after: Option<Box<Snapshot>>,
}

enum Job {
    /// Commands that share a commit whatever else does.
    Commands(Vec<Asked>),
    Adopt {
        client: String,
        pane: String,
        present: Vec<ClientId>,
        done: oneshot::Sender<Result<Option<String>, Rejection>>,
    },
    Draft {
        client: String,
        pane: String,
        text: String,
        at: Millis,
        done: oneshot::Sender<Result<(), Rejection>>,
    },
}

/// The way to the writer's thread.
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    broken: Arc<OnceLock<Rejection>>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Writer {
    /// Starts the thread.
    pub fn start(connection: Connection, ballast: Ballast, feed: Feed) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel();
        let broken = Arc::new(OnceLock::new());
        let mut state = State { connection, ballast, feed, fence: 0, broken: broken.clone() };
        let thread = std::thread::Builder::new()
            .name("cowork-writer".into())
            .spawn(move || state.work(&queue))
            .map_err(|e| StoreError::Stopped(e.to_string()))?;
        Ok(Self { jobs: Some(jobs), broken, thread: Mutex::new(Some(thread)) })
    }

    /// Carries a command out, or refuses it.
    pub async fn submit(&self, envelope: Envelope, bulk: Bulk) -> Result<Committed, Rejection> {
        let (done, answer) = oneshot::channel();
        self.send(Job::Commands(vec![(envelope, bulk, done)]))?;
        answer.await.map_err(|_| stopped())?
    }

    /// Carries commands out in one commit, in their order; one that is refused takes nobody along.
    pub async fn submit_together(&self, envelopes: Vec<Envelope>) -> Vec<Result<Committed, Rejection>> {
        let mut asked = Vec::with_capacity(envelopes.len());
        let mut answers = Vec::with_capacity(envelopes.len());
        for envelope in envelopes {
            let (done, answer) = oneshot::channel();
            asked.push((envelope, Bulk::default(), done));
            answers.push(answer);
        }
        let sent = self.send(Job::Commands(asked));
        let mut results = Vec::with_capacity(answers.len());
        for answer in answers {
            results.push(match &sent {
                Ok(()) => answer.await.unwrap_or_else(|_| Err(stopped())),
                Err(rejection) => Err(rejection.clone()),
            });
        }
        results
    }

    /// Keeps the unsent text of a client's pane.
    pub async fn keep_draft(&self, client: &str, pane: &str, text: &str, at: Millis) -> Result<(), Rejection> {
        let (done, answer) = oneshot::channel();
        self.send(Job::Draft { client: client.into(), pane: pane.into(), text: text.into(), at, done })?;
        answer.await.map_err(|_| stopped())?
    }

    /// Gives a client the text that one which is gone left in a pane.
    pub async fn adopt_draft(
        &self,
        client: &str,
        pane: &str,
        present: &[ClientId],
    ) -> Result<Option<String>, Rejection> {
        let (done, answer) = oneshot::channel();
        self.send(Job::Adopt { client: client.into(), pane: pane.into(), present: present.to_vec(), done })?;
        answer.await.map_err(|_| stopped())?
    }

    /// Why nothing is written any more, if so: this process must not go on.
    pub fn broken(&self) -> Option<Rejection> {
        self.broken.get().cloned()
    }

    fn send(&self, job: Job) -> Result<(), Rejection> {
        self.jobs.as_ref().and_then(|jobs| jobs.send(job).ok()).ok_or_else(stopped)
    }
}

impl Drop for Writer {
    /// Lets the thread finish what it was given, so that the file is closed when this returns.
    fn drop(&mut self) {
        self.jobs = None;
        if let Ok(mut thread) = self.thread.lock()
            && let Some(thread) = thread.take()
        {
            let _ = thread.join();
        }
    }
}

fn stopped() -> Rejection {
    Rejection::new(RejectionKind::Storage, "the store has stopped", "start again; everything acknowledged is on disk")
}

struct State {
    connection: Connection,
    ballast: Ballast,
    feed: Feed,
    /// The ownership under which this writer writes; 0 before it took over.
    fence: Fence,
    /// Why nothing is written any more.
    broken: Arc<OnceLock<Rejection>>,
}

/// A command with what is kept by its hash and the one who waits for its answer.
type Asked = (Envelope, Bulk, oneshot::Sender<Result<Committed, Rejection>>);

impl State {
    fn work(&mut self, queue: &mpsc::Receiver<Job>) {
        while let Ok(first) = queue.recv() {
            let mut group = vec![first];
            while group.len() < GROUP
                && let Ok(next) = queue.try_recv()
            {
                group.push(next);
            }
            self.group(group);
        }
    }

    fn group(&mut self, jobs: Vec<Job>) {
        let mut envelopes = Vec::new();
        for job in jobs {
            match job {
                Job::Commands(asked) => envelopes.extend(asked),
                Job::Adopt { client, pane, present, done } => {
                    let _ = done.send(self.adopt(&client, &pane, &present));
                }
                Job::Draft { client, pane, text, at, done } => {
                    let _ = done.send(self.draft(&client, &pane, &text, at));
                }
            }
        }
        if !envelopes.is_empty() {
            self.commands(envelopes);
        }
    }

    fn commands(&mut self, envelopes: Vec<Asked>) {
        if let Some(broken) = self.broken.get() {
            for (_, _, done) in envelopes {
                let _ = done.send(Err(broken.clone()));
            }
            return;
        }
        let fence = self.fence;
        let mut result = self.transaction(&envelopes);
        if result.as_ref().is_err_and(|e| e.sqlite_error_code() == Some(ErrorCode::DiskFull)) && self.ballast.drop() {
            tracing::warn!("the disk is full: the reserve was freed");
            self.fence = fence;
            result = self.transaction(&envelopes);
        }
        match result {
            Ok(answers) => {
                for committed in answers.iter().flatten() {
                    for event in &committed.events {
                        (self.feed)(event.clone());
                    }
                }
                for (answer, (_, _, done)) in answers.into_iter().zip(envelopes) {
                    let _ = done.send(answer);
                }
            }
            Err(error) => {
                self.fence = fence;
                let _ = self.connection.execute_batch("ROLLBACK");
                let rejection = self.classify(&error);
                for (_, _, done) in envelopes {
                    let _ = done.send(Err(rejection.clone()));
                }
            }
        }
    }

    /// Decides whether the writer can go on after an error of the whole transaction.
    fn classify(&mut self, error: &rusqlite::Error) -> Rejection {
        tracing::error!(%error, "a transaction failed");
        if error.to_string().contains("stale_fence") {
            let rejection = Rejection::new(
                RejectionKind::StaleFence,
                "another host has taken this state directory over",
                "connect to it; nothing of this command was done",
            );
            let _ = self.broken.set(rejection.clone());
            return rejection;
        }
        let rejection = refuse(error);
        let fatal = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
        );
        if fatal {
            let _ = self.broken.set(rejection.clone());
        }
        rejection
    }

    fn transaction(&mut self, envelopes: &[Asked]) -> rusqlite::Result<Vec<Result<Committed, Rejection>>> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let mut answers = Vec::with_capacity(envelopes.len());
        let mut seq = event_log::last_seq(&self.connection)?;
        // What the command before left, where the next one is of the same Run.
        let mut left: Option<Snapshot> = None;
        for (at, (envelope, bulk, _)) in envelopes.iter().enumerate() {
            let goes_on = envelopes.get(at + 1).is_some_and(|(next, ..)| goes_on(&envelope.command, &next.command));
            self.connection.execute_batch("SAVEPOINT command")?;
            let before = seq;
            match self.carry_out(envelope, bulk, left.take(), &mut seq) {
                Ok(Ok(committed)) => {
                    self.connection.execute_batch("RELEASE command")?;
                    left = committed.after.as_deref().filter(|_| goes_on).cloned();
                    answers.push(Ok(committed));
                }
                Ok(Err(rejection)) => {
                    self.connection.execute_batch("ROLLBACK TO command; RELEASE command")?;
                    seq = before;
                    answers.push(Err(rejection));
                }
                Err(error) if of_this_command_alone(&error) => {
                    tracing::error!(%error, command = ?envelope.command, "a command broke a rule of the database");
                    self.connection.execute_batch("ROLLBACK TO command; RELEASE command")?;
                    seq = before;
                    let text = format!("BUG: the database refused what was decided: {error}");
                    answers.push(Err(Rejection::new(
                        RejectionKind::Internal,
                        text,
                        "run `cowork doctor`; nothing was changed",
                    )));
                }
                Err(error) => return Err(error),
            }
        }
        crate::crash::point("store.before_commit");
        self.connection.execute_batch("COMMIT")?;
        crate::crash::point("store.after_commit");
        Ok(answers)
    }

    /// Decides one command and projects its events, inside the open transaction. `stands` is what it
    /// is decided on, where that is known.
    fn carry_out(
        &mut self,
        envelope: &Envelope,
        bulk: &Bulk,
        stands: Option<Snapshot>,
        seq: &mut Seq,
    ) -> rusqlite::Result<Result<Committed, Rejection>> {
        if let Some(receipt) = event_log::receipt_of(&self.connection, &envelope.id)? {
            return Ok(Ok(Committed { receipt, events: Vec::new(), after: None }));
        }
        let snapshot = match stands {
            Some(known) => known,
            None => load::for_command(&self.connection, &envelope.command)?,
        };
        let (decided, after) = match decide_and_apply(snapshot, envelope) {
            Ok(decided) => decided,
            Err(rejection) => return Ok(Err(rejection)),
        };
        crate::crash::point("store.decided");
        resources::write(&self.connection, bulk)?;
        let mut receipt =
            Receipt { seq: *seq, task: envelope.command.task().cloned(), message: None, job: None, edit: None };
        let mut events = Vec::with_capacity(decided.len());
        for one in decided {
            *seq += 1;
            let recorded = Recorded {
                seq: *seq,
                at: envelope.at,
                task: one.task,
                actor: envelope.actor.clone(),
                event: one.event,
            };
            if let Event::TakenOver { fence, owner } = &recorded.event {
                project::raise_lease(&self.connection, *fence, owner, recorded.at)?;
                self.fence = *fence;
            }
            event_log::append(&self.connection, &envelope.id, self.fence, &recorded)?;
            project::project(&self.connection, self.fence, &recorded)?;
            crate::crash::point("store.projected");
            receipt.seq = *seq;
            if let Some(task) = &recorded.task {
                receipt.task = Some(task.clone());
            }
            if let Event::MessageQueued { message } = &recorded.event
                && receipt.message.is_none()
            {
                receipt.message = Some(message.id.clone());
            }
            if let Event::JobCreated { job } = &recorded.event
                && receipt.job.is_none()
            {
                receipt.job = Some(job.id.clone());
            }
            EditReceipt::take(&mut receipt.edit, recorded.event.kind(), &recorded.event.entity().1);
            events.push(Arc::new(recorded));
        }
        let after = matches!(envelope.command, Command::Run(_)).then(|| Box::new(after));
        Ok(Ok(Committed { receipt, events, after }))
    }

    /// Keeps a draft; guarded by the fence like everything else, but no event: it is not history.
    fn draft(&mut self, client: &str, pane: &str, text: &str, at: Millis) -> Result<(), Rejection> {
        if let Some(broken) = self.broken.get() {
            return Err(broken.clone());
        }
        let sql = if text.is_empty() {
            "DELETE FROM draft WHERE client = ?1 AND pane = ?2 AND (SELECT fence FROM writer_lease) = ?5 AND ?3 = '' AND ?4 > 0"
        } else {
            "INSERT INTO draft (client, pane, text, updated_at) SELECT ?1, ?2, ?3, ?4 WHERE (SELECT fence FROM writer_lease) = ?5
             ON CONFLICT (client, pane) DO UPDATE SET text = excluded.text, updated_at = excluded.updated_at"
        };
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params![client, pane, text, at, self.fence]))
            .map(|_| ())
            .map_err(|e| self.classify(&e))
    }

    fn adopt(&mut self, client: &str, pane: &str, present: &[ClientId]) -> Result<Option<String>, Rejection> {
        if let Some(broken) = self.broken.get() {
            return Err(broken.clone());
        }
        self.move_draft(client, pane, present).map_err(|e| self.classify(&e))
    }

    fn move_draft(&self, client: &str, pane: &str, present: &[ClientId]) -> rusqlite::Result<Option<String>> {
        let left: Vec<(String, String)> = self
            .connection
            .prepare_cached("SELECT client, text FROM draft WHERE pane = ?1 ORDER BY updated_at DESC")?
            .query_map([pane], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let orphan = left.into_iter().find(|(owner, _)| !present.iter().any(|here| here.as_str() == owner));
        let Some((owner, text)) = orphan else { return Ok(None) };
        self.connection
            .prepare_cached(
                "UPDATE draft SET client = ?3 WHERE client = ?1 AND pane = ?2 AND (SELECT fence FROM writer_lease) = ?4",
            )?
            .execute(params![owner, pane, client, self.fence])?;
        Ok(Some(text))
    }
}

/// Whether a command is decided on no more than what the one before it was: it is of the same Run, and
/// of no Job that may have ended.
fn goes_on(before: &Command, next: &Command) -> bool {
    match (before, next) {
        (Command::Run(before), Command::Run(after)) => before.run() == after.run() && next.job().is_none(),
        _ => false,
    }
}

/// Whether an error concerns one command only: a broken rule of the schema, not the disk.
fn of_this_command_alone(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::SqliteFailure(failure, message) => {
            let stale = message.as_deref().is_some_and(|text| text.contains("stale_fence"));
            failure.code == ErrorCode::ConstraintViolation && !stale
        }
        rusqlite::Error::FromSqlConversionFailure(..) | rusqlite::Error::ToSqlConversionFailure(_) => true,
        _ => false,
    }
}
