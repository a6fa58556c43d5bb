//! The Coordinator: take a command, decide, commit, deliver, wake and recover agents.
//!
//! It is not a model. It owns the store, the drivers of the agents and their order, and holds
//! nothing that is not on disk: killing it is safe. `host` serves it to clients.

pub mod engines;
mod feed;
mod folder;
mod jobs;
mod kept;
mod mirrors;
mod port;
mod resources;
mod start;
mod supervisor;
mod team;

pub use engines::Engines;
pub use feed::Pushed;
pub use folder::identify as folder_of;
pub use resources::Kinds;
pub use start::{Options, StartError};

use crate::domain::redact::Redactor;
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use crate::store::{Bulk, Committed, Store};
use std::sync::{Arc, RwLock};
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

/// The runtime of one state directory.
#[derive(Clone)]
pub struct Coordinator {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    feed: Arc<feed::FeedHub>,
    settings: RwLock<Arc<Settings>>,
    redactor: RwLock<Arc<Redactor>>,
    /// Values that must never be stored, besides the keys of the settings.
    environment_secrets: Vec<String>,
    jobs: jobs::Jobs,
    resources: Arc<resources::Resources>,
    mirrors: mirrors::Mirrors,
    fence: Fence,
    fatal: watch::Sender<Option<String>>,
    /// Cancelled when this process leaves: drivers stop where they are.
    leaving: CancellationToken,
}

impl Coordinator {
    /// Carries out what a person wants, or refuses it. The same `command` twice is done once.
    pub async fn submit(&self, command: CommandId, actor: Actor, wanted: UserCommand) -> Result<Receipt, Rejection> {
        if let UserCommand::Resource { deed } = wanted {
            return self.act_on_resource(command, actor, None, deed).await;
        }
        let errand = match &wanted {
            UserCommand::Job { deed } => jobs::Errand::of(deed),
            _ => None,
        };
        let committed = self.carry_out(command, actor, wanted.into()).await?;
        if let Some(errand) = errand.filter(|_| !committed.events.is_empty()) {
            errand.run(self).await?;
        }
        Ok(committed.receipt)
    }

    /// Answers a question; only how the host itself is, it does not know.
    pub async fn ask(&self, query: Query) -> Result<Answer, Rejection> {
        self.ask_of_resources(query).await
    }

    /// Every event from now on, in the order of `seq`, and what is shown and not stored.
    pub fn feed(&self) -> broadcast::Receiver<Pushed> {
        self.inner.feed.subscribe()
    }

    /// The answers that are being given right now, each whole so far, and how many pushes that wait
    /// in `feed` go before them.
    pub fn live_tail(&self, feed: &broadcast::Receiver<Pushed>, task: Option<&TaskId>) -> (usize, Vec<Transient>) {
        self.inner.feed.live_tail(feed, task)
    }

    /// Shows something that is not stored, in place of an agent that is at work.
    #[cfg(test)]
    pub(crate) fn show(&self, transient: Transient) {
        self.inner.feed.show(transient);
    }

    /// Keeps the unsent text of a client's pane.
    pub async fn keep_draft(&self, client: &str, pane: &str, text: &str) -> Result<(), Rejection> {
        let text = self.redactor().redact(text).into_owned();
        self.inner.store.keep_draft(client, pane, &text, now()).await
    }

    /// The unsent text of a client's pane; where it has none, that of a client that is gone becomes
    /// its own. `present` are those who are not gone.
    pub async fn draft(&self, client: &str, pane: &str, present: &[ClientId]) -> Result<Option<String>, Rejection> {
        let query = Query::Draft { client: client.to_owned(), pane: pane.to_owned() };
        match self.ask(query).await? {
            Answer::Draft(Some(text)) => Ok(Some(text)),
            _ => self.inner.store.adopt_draft(client, pane, present).await,
        }
    }

    /// Takes the settings of the client that came last.
    pub fn set_settings(&self, mut settings: Settings) {
        settings.keep_keys_of(&self.settings());
        let mut secrets: Vec<String> = settings.secrets().iter().map(|secret| secret.expose().to_owned()).collect();
        secrets.extend(self.inner.environment_secrets.iter().cloned());
        if let Ok(mut redactor) = self.inner.redactor.write() {
            *redactor = Arc::new(Redactor::new(&secrets));
        }
        if let Ok(mut kept) = self.inner.settings.write() {
            *kept = Arc::new(settings);
        }
    }

    /// The last recorded event.
    pub fn seq(&self) -> Seq {
        self.inner.feed.seq()
    }

    /// The ownership number of this process.
    pub fn fence(&self) -> Fence {
        self.inner.fence
    }

    /// What keeps the host from leaving.
    pub async fn needs(&self) -> Vec<Waiting> {
        match self.read(|store| store.needs()).await {
            Ok(needs) => needs,
            // What can't be looked up may be needed.
            Err(rejection) => {
                vec![Waiting { kind: "store".into(), id: String::new(), text: rejection.to_string() }]
            }
        }
    }

    /// Is set, with the reason, when this process must not go on.
    pub fn fatal(&self) -> watch::Receiver<Option<String>> {
        self.inner.fatal.subscribe()
    }

    /// Stops the drivers where they are. Nothing is lost: the next owner takes over.
    pub async fn stop(&self) {
        self.inner.leaving.cancel();
        self.inner.feed.drivers_gone().await;
    }

    /// Submits any command.
    async fn carry_out(&self, id: CommandId, actor: Actor, command: Command) -> Result<Committed, Rejection> {
        self.carry_out_with(id, actor, command, Bulk::default()).await
    }

    /// Submits a command with what is kept by its hash.
    async fn carry_out_with(
        &self,
        id: CommandId,
        actor: Actor,
        command: Command,
        bulk: Bulk,
    ) -> Result<Committed, Rejection> {
        let result = self.inner.store.submit_with(self.envelope(id, actor, command)?, bulk).await;
        self.look_after(result.is_err());
        result
    }

    /// A command as it is decided: under a fresh seed, with keys blotted out.
    fn envelope(&self, id: CommandId, actor: Actor, command: Command) -> Result<Envelope, Rejection> {
        Ok(Envelope { id, at: now(), actor, seed: fresh_seed(), command: self.blot(command)? })
    }

    /// Says that this process must not go on, if the store broke when something failed.
    fn look_after(&self, failed: bool) {
        if failed && let Some(broken) = self.inner.store.broken() {
            self.inner.fatal.send_replace(Some(broken.to_string()));
        }
    }

    /// Submits a command of the runtime's own, and again while the disk can't take it: what an agent
    /// has done must be recorded, and waiting costs nothing that is not already on disk.
    async fn insist(&self, task: Option<&TaskId>, actor: Actor, command: Command) -> Result<Committed, Rejection> {
        let lost = || Err(Rejection::new(RejectionKind::Internal, "BUG: a command had no answer", ""));
        self.insist_together(task, actor, vec![command]).await?.pop().unwrap_or_else(lost)
    }

    /// The same with commands that share a commit; one that is refused takes nobody along.
    async fn insist_together(
        &self,
        task: Option<&TaskId>,
        actor: Actor,
        commands: Vec<Command>,
    ) -> Result<Vec<Result<Committed, Rejection>>, Rejection> {
        let mut pause = Duration::from_secs(1);
        loop {
            let envelope = |command: &Command| self.envelope(fresh_command(), actor.clone(), command.clone());
            let envelopes = commands.iter().map(envelope).collect::<Result<_, _>>()?;
            let results = self.inner.store.submit_together(envelopes).await;
            self.look_after(results.iter().any(Result::is_err));
            let full = |result: &Result<_, Rejection>| match result {
                Err(rejection) if rejection.kind == RejectionKind::Storage => Some(rejection.clone()),
                _ => None,
            };
            // Where the disk can't take it, that holds for all that share the commit.
            let failed = results.iter().find_map(full).filter(|_| self.inner.store.broken().is_none());
            let Some(rejection) = failed else { return Ok(results) };
            tracing::warn!(?pause, %rejection, "trying again");
            if let Some(task) = task {
                self.inner.feed.show(Transient::Unsaved { task: task.clone(), why: rejection.to_string() });
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(Duration::from_secs(30)),
                () = self.inner.leaving.cancelled() => return Ok(results),
            }
        }
    }

    /// Keys never reach the store: what holds one is rewritten first.
    fn blot(&self, command: Command) -> Result<Command, Rejection> {
        let redactor = self.redactor();
        let bug = |e: serde_json::Error| Rejection::new(RejectionKind::Internal, format!("BUG: {e}"), "");
        let text = serde_json::to_string(&command).map_err(bug)?;
        if matches!(redactor.redact(&text), std::borrow::Cow::Borrowed(_)) {
            return Ok(command);
        }
        let mut value: serde_json::Value = serde_json::from_str(&text).map_err(bug)?;
        redactor.redact_value(&mut value);
        serde_json::from_value(value).map_err(bug)
    }

    fn redactor(&self) -> Arc<Redactor> {
        match self.inner.redactor.read() {
            Ok(redactor) => redactor.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    fn settings(&self) -> Arc<Settings> {
        match self.inner.settings.read() {
            Ok(settings) => settings.clone(),
            Err(poisoned) => poisoned.into_inner().clone(),
        }
    }

    /// Reads from the store, away from the async threads.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Store) -> Result<T, Rejection> + Send + 'static,
    ) -> Result<T, Rejection> {
        let inner = self.inner.clone();
        tokio::task::spawn_blocking(move || read(&inner.store))
            .await
            .map_err(|e| Rejection::new(RejectionKind::Internal, format!("BUG: a query failed: {e}"), ""))?
    }
}

/// Unix milliseconds, now.
fn now() -> Millis {
    jiff::Timestamp::now().as_millisecond()
}

/// Randomness for new ids.
fn fresh_seed() -> [u8; 16] {
    let mut seed = [0; 16];
    // Without randomness there is no identity; the system always has some once it has booted.
    if let Err(error) = getrandom::fill(&mut seed) {
        tracing::error!(%error, "the system gives no random bytes");
        seed = (now() as u128 ^ (u128::from(std::process::id()) << 64)).to_le_bytes();
    }
    seed
}

/// A fresh id for a command of the runtime's own.
fn fresh_command() -> CommandId {
    CommandId::new(&mut Ids::new(fresh_seed()))
}
