//! What a call runs: under a shim from its beginning, so that it outlives this process.
//!
//! ```text
//! begun ──► waited for ──it ends──► its result, and its folder goes with it
//!                ├──wanted in the background──► a Job, as it is
//!                ├──told to end, or too late──► ended, then as above
//!                └──this process leaves or dies──► the next host takes the call up
//! ```
//!
//! Its folder has the name of the Job that it may become. What lies there and belongs neither to a
//! Job nor to a call that runs is ended when a host begins: nothing runs on unseen.

use super::super::Coordinator;
use super::watch::{AGAIN, hear, waiting_for};
use super::{TaskJobs, blocking};
use crate::agent::running::{Finished, Line, Listener, Ran, Stop};
use crate::domain::*;
use crate::jobs::client::{ClientError, Controller};
use crate::jobs::log::{Cursor, Log, Piece, Stream};
use crate::jobs::orphan::Orphan;
use crate::jobs::record::{End, ExitRecord, StopState};
use crate::jobs::{self, Doubt, Folder, Outcome, reconcile};
use crate::process::{Ended, Exit, TOOL_CHAINS};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long processes have between TERM and KILL.
const GRACE: Duration = Duration::from_millis(300);

/// How long what is left of a call has to end when nobody waits for it any more.
const PATIENCE: Duration = Duration::from_secs(5);

/// The log is looked at no more often than this; who watches is told no more often either.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// How many pieces of a log are heard before anything else is looked at again.
const AT_ONCE: usize = 8;

/// The calls that run something, or have run it and have no recorded result yet.
#[derive(Default)]
pub(super) struct Calls(Mutex<HashMap<ToolCallId, Standing>>);

/// How a call stands that runs something.
#[derive(Debug)]
struct Standing {
    /// The way to tell it that it is wanted in the background.
    asked: Arc<Notify>,
    stage: Stage,
}

/// What is still to come before the folder of a call can go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It runs.
    Runs,
    /// It runs, and the call was given up.
    GivenUp,
    /// It has ended, and that is about to be recorded.
    Over,
}

impl Calls {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<ToolCallId, Standing>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn begin(&self, call: &ToolCallId) -> Arc<Notify> {
        let asked = Arc::new(Notify::new());
        let standing = Standing { asked: asked.clone(), stage: Stage::Runs };
        self.with(|calls| calls.insert(call.clone(), standing));
        asked
    }

    /// Tells a call that it is wanted in the background.
    pub(super) fn ask_for_background(&self, call: &ToolCallId) {
        self.with(|calls| {
            if let Some(standing) = calls.get(call) {
                standing.asked.notify_one();
            }
        });
    }

    /// Takes note that what a call ran is over; says whether its folder can go at once.
    fn is_over(&self, call: &ToolCallId) -> bool {
        self.with(|calls| match calls.get_mut(call) {
            Some(standing) if standing.stage == Stage::Runs => {
                standing.stage = Stage::Over;
                false
            }
            Some(_) | None => calls.remove(call).is_some(),
        })
    }

    fn forget(&self, call: &ToolCallId) {
        self.with(|calls| calls.remove(call));
    }
}

/// A call has its result now: what it ran goes, with its folder.
pub(super) fn settled(coordinator: &Coordinator, call: &ToolCallId) {
    let job = JobId::of_call(call);
    let folder = coordinator.inner.jobs.folder(&job);
    let stage = coordinator.inner.jobs.calls.with(|calls| match calls.get_mut(call) {
        Some(standing) if standing.stage == Stage::Over => calls.remove(call).map(|_| Stage::Over),
        Some(standing) => {
            standing.stage = Stage::GivenUp;
            Some(Stage::GivenUp)
        }
        None => None,
    });
    match stage {
        Some(Stage::Over) => drop(tokio::task::spawn_blocking(move || remove(&folder))),
        // Whoever waits for it sees to that.
        Some(Stage::Runs | Stage::GivenUp) => {}
        // Nobody waited for it, for it was given up before it was taken up; or it is a Job now.
        None if folder.path().exists() => {
            let coordinator = coordinator.clone();
            tokio::spawn(async move { give_up(&coordinator, job).await });
        }
        None => {}
    }
}

fn remove(folder: &Folder) {
    if let Err(error) = jobs::start::remove(folder) {
        tracing::warn!(folder = %folder.path().display(), %error, "what a call ran can't be taken away");
    }
}

/// Ends what lies among the folders of Jobs and belongs to nobody: a host died between the two
/// steps of something, or a call was given up while none was there.
pub(super) async fn sweep(coordinator: &Coordinator) {
    let home = coordinator.inner.jobs.home.clone();
    let found = blocking(move || {
        let names = std::fs::read_dir(home)
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        names.filter(|name| name.starts_with(JobId::PREFIX)).map(JobId).collect::<Vec<_>>()
    });
    for job in found.await.unwrap_or_default() {
        give_up(coordinator, job).await;
    }
}

/// Ends what runs in a folder that belongs to nobody.
async fn give_up(coordinator: &Coordinator, job: JobId) {
    let id = job.clone();
    match coordinator.read(move |store| store.owns_folder(&id)).await {
        Ok(true) => {}
        Ok(false) => {
            let folder = coordinator.inner.jobs.folder(&job);
            tracing::info!(%job, "what a call ran belongs to nobody any more, and is ended");
            let _ = blocking(move || discard(&folder)).await;
        }
        Err(rejection) => tracing::error!(%rejection, "can't look to whom a folder belongs"),
    }
}

/// Ends what runs in a folder, and takes the folder away.
fn discard(folder: &Folder) {
    match reconcile(folder) {
        Ok(Outcome::Running(_) | Outcome::Starting) => {
            if let Ok(mut controller) = Controller::connect(folder, None)
                && controller.stop(GRACE).is_ok()
            {
                let _ = controller.wait(Some(std::time::Instant::now() + PATIENCE));
            }
        }
        Ok(Outcome::Orphaned(record)) => {
            if let Some(orphan) = Orphan::hold(&record) {
                orphan.stop(GRACE);
            }
        }
        Ok(Outcome::Ended(_) | Outcome::Uncertain { .. }) | Err(_) => {}
    }
    remove(folder);
}

/// What a call runs, as long as this process waits for it.
pub(super) struct Running<'a> {
    of: &'a TaskJobs,
    folder: Folder,
    line: Line,
    asked: Arc<Notify>,
    /// What it printed, as far as it was heard.
    heard: Option<Cursor>,
    stop: Option<Stop>,
    /// Whoever goes away without a result leaves it to be ended.
    is_unfinished: bool,
}

/// What ended a wait.
enum Woken {
    /// Look again what is true.
    Look,
    /// The call is through with it.
    Through(Ran),
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.is_unfinished {
            return;
        }
        self.of.coordinator.inner.jobs.calls.forget(&self.of.call);
        if !self.of.coordinator.inner.leaving.is_cancelled() {
            let folder = self.folder.clone();
            tokio::task::spawn_blocking(move || discard(&folder));
        }
    }
}

impl<'a> Running<'a> {
    pub(super) fn new(of: &'a TaskJobs, line: Line) -> Self {
        let jobs = &of.coordinator.inner.jobs;
        let asked = jobs.calls.begin(&of.call);
        let folder = jobs.folder(&JobId::of_call(&of.call));
        Self { of, folder, line, asked, heard: None, stop: None, is_unfinished: true }
    }

    /// Runs it, or takes it up, until the call is through with it.
    pub(super) async fn run(mut self, listener: &mut dyn Listener) -> Result<Ran, Rejection> {
        let ran = self.until_it_ends(listener).await?;
        self.is_unfinished = false;
        let calls = &self.of.coordinator.inner.jobs.calls;
        match &ran {
            Ran::Finished(_) | Ran::NotStarted(_) | Ran::Uncertain(_) => {
                if calls.is_over(&self.of.call) {
                    let folder = self.folder.clone();
                    tokio::task::spawn_blocking(move || remove(&folder));
                }
            }
            Ran::Kept { .. } | Ran::Left => calls.forget(&self.of.call),
        }
        Ok(ran)
    }

    async fn until_it_ends(&mut self, listener: &mut dyn Listener) -> Result<Ran, Rejection> {
        let mut outcome = match self.start().await? {
            Ok(outcome) => outcome,
            Err(why) => return Ok(Ran::NotStarted(why)),
        };
        loop {
            outcome = match outcome {
                Outcome::Starting => {
                    tokio::time::sleep(AGAIN).await;
                    self.look().await?
                }
                Outcome::Running(record) => match self.while_running(record.started_at, listener).await? {
                    Woken::Look => self.look().await?,
                    Woken::Through(ran) => return Ok(ran),
                },
                Outcome::Orphaned(record) => {
                    let orphan = Orphan::hold(&record);
                    blocking(move || orphan.map(|orphan| orphan.stop(GRACE))).await?;
                    self.hear_all(listener).await?;
                    return Ok(Ran::Uncertain("its shim was lost, and what was left of it was ended".into()));
                }
                Outcome::Ended(record) => {
                    self.hear_all(listener).await?;
                    return Ok(self.finished(record));
                }
                Outcome::Uncertain { doubt, .. } => {
                    self.hear_all(listener).await?;
                    return Ok(match doubt {
                        Doubt::NeverClaimed => Ran::NotStarted(doubt.to_string()),
                        Doubt::ShimLost | Doubt::GoneWithoutRecord | Doubt::BootChanged => {
                            Ran::Uncertain(doubt.to_string())
                        }
                    });
                }
            };
        }
    }

    /// Starts it, unless it was started before.
    async fn start(&self) -> Result<Result<Outcome, String>, Rejection> {
        let (folder, spec) = (self.folder.clone(), self.spec());
        let program = self.of.coordinator.inner.jobs.program.clone();
        crate::crash::point("calls.before_start");
        let started = blocking(move || jobs::start(&folder, &spec, &program)).await?;
        crate::crash::point("calls.started");
        match started {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(error) => match self.look().await? {
                Outcome::Uncertain { doubt: Doubt::NeverClaimed, .. } => Ok(Err(error.to_string())),
                other => Ok(Ok(other)),
            },
        }
    }

    fn spec(&self) -> jobs::Spec {
        let command = jobs::Command::Shell { line: self.line.line.clone() };
        let mut spec = jobs::Spec::new(command, &self.line.cwd);
        spec.pass = TOOL_CHAINS.iter().map(|name| (*name).to_owned()).collect();
        spec.streams = jobs::Streams::Together { input: jobs::Input::Nothing };
        spec.lasting = jobs::Lasting::Processes;
        spec
    }

    async fn look(&self) -> Result<Outcome, Rejection> {
        let folder = self.folder.clone();
        blocking(move || reconcile(&folder)).await?.map_err(|error| unreadable(&error))
    }

    /// Waits for it and passes on what it prints.
    async fn while_running(&mut self, started_at: Millis, listener: &mut dyn Listener) -> Result<Woken, Rejection> {
        let coordinator = self.of.coordinator.clone();
        let (folder, fence) = (self.folder.clone(), coordinator.fence());
        let controller = match blocking(move || Controller::connect(&folder, Some(fence))).await? {
            Ok(controller) => controller,
            Err(ClientError::Ended(_) | ClientError::NoShim | ClientError::Lost(_)) => {
                tokio::time::sleep(LOOK_EVERY).await;
                return Ok(Woken::Look);
            }
            // Another host has it.
            Err(ClientError::Refused(_)) => return Ok(Woken::Through(Ran::Left)),
        };
        let Some(mut shim) = waiting_for(controller) else { return Ok(Woken::Look) };
        let follower = coordinator.inner.jobs.follow.follow(self.folder.path()).map_err(|error| unreadable(&error))?;
        let ran = Duration::from_millis(super::super::now().saturating_sub(started_at).max(0) as u64);
        let from_now = |whole: Duration| Instant::now() + whole.saturating_sub(ran);
        let late = from_now(self.line.at_most);
        let mut front = self.line.in_front.map(from_now);
        let asked = self.asked.clone();
        loop {
            let grown = follower.grown();
            let is_more = self.hear_some(listener).await?;
            let due = listener.due();
            let wish = tokio::select! {
                biased;
                () = coordinator.inner.leaving.cancelled() => return Ok(Woken::Through(Ran::Left)),
                () = self.line.cancel.cancelled(), if self.stop.is_none() => Wish::Stop(Stop::Cancelled),
                () = asked.notified(), if self.stop.is_none() => Wish::Keep,
                () = until(front), if self.stop.is_none() => Wish::Keep,
                () = tokio::time::sleep_until(late), if self.stop.is_none() => Wish::Stop(Stop::TimedOut),
                ready = shim.readable() => match ready {
                    Ok(mut guard) => { guard.clear_ready(); Wish::Hear }
                    Err(_) => return Ok(Woken::Look),
                },
                () = until(due) => { listener.tell(); Wish::Nothing }
                () = grown, if !is_more => { tokio::time::sleep(LOOK_EVERY).await; Wish::Nothing }
                () = std::future::ready(()), if is_more => Wish::Nothing,
            };
            match wish {
                Wish::Nothing => {}
                Wish::Keep => match self.keep(started_at, listener).await? {
                    Some(ran) => return Ok(Woken::Through(ran)),
                    None => front = None,
                },
                Wish::Stop(stop) => {
                    self.stop = Some(stop);
                    let (kept, told) = blocking(move || {
                        let told = shim.get_mut().0.stop(GRACE);
                        (shim, told)
                    })
                    .await?;
                    shim = kept;
                    if told.is_err() {
                        return Ok(Woken::Look);
                    }
                }
                Wish::Hear => {
                    let (kept, goes_on) = blocking(move || {
                        let goes_on = hear(&mut shim.get_mut().0);
                        (shim, goes_on)
                    })
                    .await?;
                    shim = kept;
                    if !goes_on {
                        return Ok(Woken::Look);
                    }
                }
            }
        }
    }

    /// Makes a Job of it, as it is; `None` when it is too late for that.
    async fn keep(&mut self, started_at: Millis, listener: &mut dyn Listener) -> Result<Option<Ran>, Rejection> {
        let folder = self.folder.clone();
        blocking(move || folder.secure()).await?.map_err(|error| unreadable(&error))?;
        crate::crash::point("calls.before_kept");
        let definition = JobDefinition {
            name: String::new(),
            command: JobCommand::Shell(self.line.line.clone()),
            cwd: self.line.cwd.to_string_lossy().into_owned(),
            terminal: false,
            role: JobRole::Work,
            watch: Vec::new(),
            levels: JobLevels::default(),
        };
        let deed = JobDeed::Keep { definition: Box::new(definition) };
        let command = RunCommand::Job { run: self.of.run.clone(), call: self.of.call.clone(), deed };
        let actor = Actor::agent(&self.of.agent);
        match self.of.coordinator.insist(Some(&self.of.task), actor, command.into()).await {
            Ok(_) => {
                crate::crash::point("calls.kept");
                // From here on it is the Job's, whatever becomes of the call.
                self.is_unfinished = false;
                self.hear_some(listener).await?;
                let took = super::super::now().saturating_sub(started_at).max(0) as u64;
                let job = JobId::of_call(&self.of.call);
                Ok(Some(Ran::Kept { job, took: Duration::from_millis(took) }))
            }
            Err(rejection) => {
                tracing::debug!(call = %self.of.call, %rejection, "what a call runs can't become a Job any more");
                Ok(None)
            }
        }
    }

    /// Hears some of what was printed; says whether there is more.
    async fn hear_some(&mut self, listener: &mut dyn Listener) -> Result<bool, Rejection> {
        for _ in 0..AT_ONCE {
            let (cursor, folder) = (self.heard.take(), self.folder.clone());
            let read = blocking(move || {
                let mut cursor = match cursor {
                    Some(cursor) => cursor,
                    None => Cursor::new(Log::open(folder.path(), Stream::Output)?, 0),
                };
                let mut buffer = Vec::new();
                let piece = cursor.next(&mut buffer)?;
                std::io::Result::Ok((cursor, piece, buffer))
            });
            let (cursor, piece, bytes) = read.await?.map_err(|error| unreadable(&error))?;
            self.heard = Some(cursor);
            match piece {
                None => return Ok(false),
                Some(Piece::Bytes { .. }) => listener.hear(&bytes).await,
                Some(Piece::Gap(gap)) => listener.hear(format!("\n[{gap}]\n").as_bytes()).await,
            }
        }
        Ok(true)
    }

    async fn hear_all(&mut self, listener: &mut dyn Listener) -> Result<(), Rejection> {
        while self.hear_some(listener).await? {}
        Ok(())
    }

    fn finished(&self, record: ExitRecord) -> Ran {
        let exit = match record.end {
            End::Exited { code } => Exit::Code(code),
            End::Signaled { signal } => Exit::Signal(signal),
            End::FailedToStart { message, .. } => return Ran::NotStarted(message),
        };
        let stop = self.stop.filter(|_| record.stop != StopState::NotAsked).unwrap_or(match record.stop {
            StopState::NotAsked => Stop::Exited,
            StopState::Asked | StopState::Killed => Stop::Cancelled,
        });
        // Who was told to end and is still there could not be ended; else they had left on purpose.
        let (survivors, strays) = match stop {
            Stop::Exited => (Vec::new(), record.survivors),
            Stop::TimedOut | Stop::Cancelled => (record.survivors, Vec::new()),
        };
        let started_at = self.folder.started().ok().flatten().map_or(record.ended_at, |started| started.started_at);
        let took = Duration::from_millis(record.ended_at.saturating_sub(started_at).max(0) as u64);
        Ran::Finished(Finished { stop, took, ended: Ended { exit, killed: record.ended, survivors, strays } })
    }
}

/// What is to be done next.
enum Wish {
    Nothing,
    Hear,
    Keep,
    Stop(Stop),
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn unreadable(error: &std::io::Error) -> Rejection {
    use crate::domain::rejection::RejectionKind;
    Rejection::new(RejectionKind::Internal, format!("what the call runs can't be looked after: {error}"), "")
}
