//! Starting: open the store, take it over in one step, wake whoever has work.

use super::feed::FeedHub;
use super::jobs::Jobs;
use super::resources::{Kinds, Resources};
use super::{Coordinator, Inner, fresh_command, supervisor};
use crate::domain::redact::Redactor;
use crate::domain::*;
use crate::store::{Store, StoreError};
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// What a Coordinator is started with.
pub struct Options {
    /// The state directory; the caller holds its lock.
    pub home: PathBuf,
    /// What the user configured.
    pub settings: Settings,
    /// Values that must never be stored, besides the keys of the settings.
    pub environment_secrets: Vec<String>,
    /// The program that plays the shim of a Job: this one.
    pub program: PathBuf,
    /// Which process this is.
    pub owner: Owner,
    /// The kinds of Resources.
    pub kinds: Kinds,
}

/// Why a Coordinator could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StartError {
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl From<StoreError> for StartError {
    fn from(error: StoreError) -> Self {
        Self { message: error.to_string(), hint: error.hint() }
    }
}

impl From<Rejection> for StartError {
    fn from(rejection: Rejection) -> Self {
        Self { message: rejection.message, hint: rejection.hint }
    }
}

impl Coordinator {
    /// Opens the state directory, becomes its one owner, and wakes whoever has work.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let (to_supervisor, from_feed) = mpsc::unbounded_channel();
        let feed = Arc::new(FeedHub::new(to_supervisor));
        let for_writer = feed.clone();
        let home = options.home.clone();
        let jobs = Jobs::new(options.program, options.home);
        let store = tokio::task::spawn_blocking(move || {
            Store::open(&home, Box::new(move |recorded| for_writer.recorded(recorded)))
        })
        .await
        .map_err(|e| StartError { message: format!("BUG: opening the store failed: {e}"), hint: String::new() })??;
        feed.start_at(store.seq()?);

        let mut secrets: Vec<String> =
            options.settings.secrets().iter().map(|secret| secret.expose().to_owned()).collect();
        secrets.extend(options.environment_secrets.iter().cloned());
        let mut inner = Inner {
            store,
            feed,
            settings: RwLock::new(Arc::new(options.settings)),
            redactor: RwLock::new(Arc::new(Redactor::new(&secrets))),
            environment_secrets: options.environment_secrets,
            jobs,
            resources: Arc::new(Resources::new(options.kinds)),
            mirrors: super::mirrors::Mirrors::default(),
            fence: 0,
            fatal: watch::channel(None).0,
            leaving: CancellationToken::new(),
        };
        let envelope = Envelope {
            id: fresh_command(),
            at: super::now(),
            actor: Actor::system(),
            seed: super::fresh_seed(),
            command: SystemCommand::TakeOver { owner: options.owner }.into(),
        };
        let taken = inner.store.submit(envelope).await?;
        for event in &taken.events {
            if let Event::TakenOver { fence, .. } = &event.event {
                inner.fence = *fence;
            }
        }
        crate::crash::point("runtime.taken_over");
        let coordinator = Self { inner: Arc::new(inner) };
        supervisor::start(coordinator.clone(), from_feed);
        coordinator.ask_engines_again().await?;
        crate::crash::point("runtime.started");
        Ok(coordinator)
    }
}
