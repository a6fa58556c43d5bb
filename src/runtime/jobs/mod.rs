//! Jobs as the runtime looks after them: each live one is started, watched and recorded by a task of
//! its own, which begins with what is true of it and ends when its end is on disk.
//!
//! What is true of a Job stands in its folder and in its processes, never here: a host that is
//! killed loses nothing, the next one looks again. Nothing polls: a shim's socket tells of the end.

mod call;
mod follow;
mod levels;
mod look;
mod matches;
mod task;
mod watch;

pub(super) use follow::Follower;
pub(super) use task::TaskJobs;

use super::Coordinator;
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use crate::jobs::client::{ClientError, Controller};
use crate::jobs::{self, Folder};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;
use tokio::sync::{Semaphore, watch as channel};

/// How many Jobs are started at the same time.
const STARTS: usize = 4;

/// What the runtime keeps of the Jobs it looks after.
pub(super) struct Jobs {
    /// The program that plays the shim: this one.
    program: PathBuf,
    /// Where the folders of Jobs lie.
    home: PathBuf,
    /// The way to tell whoever looks after a Job that it is to end.
    told: Mutex<HashMap<JobId, channel::Sender<Option<JobStop>>>>,
    starts: Semaphore,
    calls: call::Calls,
    follow: follow::Follow,
    samples: look::Samples,
}

impl Jobs {
    pub(super) fn new(program: PathBuf, home: PathBuf) -> Self {
        Self {
            program,
            home: home.join("jobs"),
            told: Mutex::default(),
            starts: Semaphore::new(STARTS),
            calls: call::Calls::default(),
            follow: follow::Follow::default(),
            samples: look::Samples::default(),
        }
    }

    fn folder(&self, job: &JobId) -> Folder {
        Folder::new(self.home.join(job.as_str()))
    }
}

/// Takes up every Job that has not ended, and ends what belongs to nobody.
pub(super) async fn take_up(coordinator: &Coordinator) {
    match coordinator.read(|store| store.live_jobs()).await {
        Ok(jobs) => jobs.into_iter().for_each(|job| look_after(coordinator, job)),
        Err(rejection) => tracing::error!(%rejection, "can't look which Jobs there are"),
    }
    let coordinator = coordinator.clone();
    tokio::spawn(async move { call::sweep(&coordinator).await });
}

/// Acts on an event.
pub(super) fn take(coordinator: &Coordinator, event: &Event) {
    match event {
        Event::JobCreated { job } => look_after(coordinator, job.clone()),
        Event::JobStopRequested { job, stop } => {
            if let Ok(told) = coordinator.inner.jobs.told.lock()
                && let Some(told) = told.get(job)
            {
                told.send_replace(Some(*stop));
            }
        }
        Event::BackgroundAsked { call } => coordinator.inner.jobs.calls.ask_for_background(call),
        Event::ToolSettled { call, .. } => call::settled(coordinator, call),
        Event::JobRemoved { job } => {
            let (folder, id) = (coordinator.inner.jobs.folder(job), job.clone());
            tokio::task::spawn_blocking(move || {
                if let Err(error) = jobs::start::remove(&folder) {
                    tracing::warn!(%id, %error, "what is kept of a Job can't be taken away");
                }
            });
        }
        _ => {}
    }
}

fn look_after(coordinator: &Coordinator, job: Job) {
    let (tell, told) = channel::channel(job.stop);
    if let Ok(mut all) = coordinator.inner.jobs.told.lock() {
        // It may come up twice when it is asked for while this process begins.
        if all.contains_key(&job.id) {
            return;
        }
        all.insert(job.id.clone(), tell);
    }
    let coordinator = coordinator.clone();
    tokio::spawn(async move {
        let id = job.id.clone();
        let watching = tokio::spawn(watch::Watch::new(coordinator.clone(), job, told).run());
        if let Err(panic) = watching.await {
            // What is true of it stands in its folder: the next host looks again.
            tracing::error!(%id, %panic, "BUG: a Job is not looked after any more");
        }
        if let Ok(mut all) = coordinator.inner.jobs.told.lock() {
            all.remove(&id);
        }
    });
}

/// What is done with a Job's shim once it is recorded that it will be.
pub(super) enum Errand {
    Send { job: JobId, text: String, close: bool },
    Signal { job: JobId, signal: i32 },
}

impl Errand {
    /// The errand of a deed, if it has one.
    pub(super) fn of(deed: &command::JobDeed) -> Option<Self> {
        match deed {
            JobDeed::Send { job, text, close } => {
                Some(Self::Send { job: job.clone(), text: text.clone(), close: *close })
            }
            JobDeed::Signal { job, signal } => Some(Self::Signal { job: job.clone(), signal: *signal }),
            JobDeed::Start { .. }
            | JobDeed::Keep { .. }
            | JobDeed::Stop { .. }
            | JobDeed::Restart { .. }
            | JobDeed::Remove { .. } => None,
        }
    }

    /// Does it, at most once: what is lost on the way is reported, never repeated.
    pub(super) async fn run(self, coordinator: &Coordinator) -> Result<(), Rejection> {
        let (Self::Send { job, .. } | Self::Signal { job, .. }) = &self;
        let folder = coordinator.inner.jobs.folder(job);
        let fence = coordinator.fence();
        blocking(move || {
            let mut controller = Controller::connect(&folder, Some(fence))?;
            match self {
                Self::Send { text, close, .. } => {
                    if !text.is_empty() {
                        controller.send(text.as_bytes())?;
                        // What is sent is not answered unless it is refused: what is asked next is.
                        controller.status()?;
                    }
                    if close { controller.close_input() } else { Ok(()) }
                }
                Self::Signal { signal, .. } => controller.signal(signal),
            }
        })
        .await?
        .map_err(|error| refused(&error))
    }
}

fn refused(error: &ClientError) -> Rejection {
    let hint = match error {
        ClientError::Refused(_) => "look at it: `cowork jobs show JOB`",
        ClientError::NoShim | ClientError::Lost(_) | ClientError::Ended(_) => {
            "`cowork jobs show JOB` tells how it stands"
        }
    };
    Rejection::new(RejectionKind::WrongState, error.to_string(), hint)
}

/// Does something that blocks.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Rejection> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Rejection::new(RejectionKind::Internal, format!("BUG: a Job can't be seen to: {error}"), ""))
}

/// Records what was found out about a Job, however long the disk can't take it.
async fn report(coordinator: &Coordinator, job: &Job, report: JobReport) {
    let command = SystemCommand::Job { job: job.id.clone(), report };
    if let Err(rejection) = coordinator.insist(job.task.as_ref(), Actor::job(&job.id), command.into()).await {
        // It was removed, or had ended already.
        tracing::debug!(job = %job.id, %rejection, "what was found out about a Job is not news");
    }
}
