//! Looking after one Job, from whatever is true of it to its recorded end.

use super::super::Coordinator;
use super::blocking;
use super::levels::Levels;
use super::matches::Matches;
use crate::domain::*;
use crate::jobs::client::{ClientError, Controller, News};
use crate::jobs::orphan::Orphan;
use crate::jobs::record::{End, ExitRecord, StartRecord, StopState};
use crate::jobs::{self, Doubt, Folder, Outcome, reconcile, typed};
use crate::process::{Member, TOOL_CHAINS};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::watch as channel;

/// How long what has been said is waited for once something has been said.
const NEWS: Duration = Duration::from_millis(5);

/// How soon it is looked again where nobody can tell: another shim is starting the Job, or a
/// connection broke that should not have.
pub(super) const AGAIN: Duration = Duration::from_millis(200);

/// The most processes that are named in a reason.
const NAMED: usize = 5;

/// A Job that is looked after.
pub(super) struct Watch {
    coordinator: Coordinator,
    job: Job,
    folder: Folder,
    told: channel::Receiver<Option<JobStop>>,
    matches: Matches,
    levels: Levels,
    is_started: bool,
}

/// Something with a descriptor that tells when there is news.
pub(super) struct Fd<T>(pub(super) T);

impl<T: AsFd> AsRawFd for Fd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

/// Lets something be waited for until there is news of it.
pub(super) fn waiting_for<T: AsFd>(inner: T) -> Option<AsyncFd<Fd<T>>> {
    // SAFETY: both kinds that are waited for own their descriptor and keep it as long as they live.
    unsafe { AsyncFd::register_with_interest(Fd(inner), Interest::READABLE) }.ok()
}

/// What ended a wait.
enum Woken {
    /// Look again what is true.
    Look,
    /// This process leaves.
    Leave,
}

impl Watch {
    pub(super) fn new(coordinator: Coordinator, job: Job, told: channel::Receiver<Option<JobStop>>) -> Self {
        let folder = coordinator.inner.jobs.folder(&job.id);
        let matches = Matches::new(&job, &folder);
        let levels = Levels::new(&job, &folder);
        let is_started = job.process.is_some();
        Self { coordinator, job, folder, told, matches, levels, is_started }
    }

    /// Looks after the Job until its end is recorded, or this process leaves.
    pub(super) async fn run(mut self) {
        let mut outcome = match self.job.state {
            JobState::Starting => self.start().await,
            JobState::Running | JobState::Stopping => self.look().await,
            JobState::Exited
            | JobState::Signaled
            | JobState::FailedToStart
            | JobState::Cancelled
            | JobState::Uncertain => return,
        };
        loop {
            let Some(found) = outcome else { return };
            let woken = match found {
                Outcome::Starting => self.pause().await,
                Outcome::Running(record) => {
                    self.has_started(&record).await;
                    self.while_running().await
                }
                Outcome::Orphaned(record) => {
                    self.has_started(&record).await;
                    self.while_orphaned(record).await
                }
                Outcome::Ended(record) => return self.has_ended(record).await,
                Outcome::Uncertain { doubt, started } => return self.is_uncertain(doubt, started).await,
            };
            if matches!(woken, Woken::Leave) {
                return;
            }
            outcome = self.look().await;
        }
    }

    /// Starts it, unless it was started before or was called off; `None` when its end is recorded.
    async fn start(&mut self) -> Option<Outcome> {
        let coordinator = self.coordinator.clone();
        let _permit = coordinator.inner.jobs.starts.acquire().await.ok()?;
        let called_off = self.told.borrow().is_some();
        let (folder, spec) = (self.folder.clone(), self.spec());
        if called_off && matches!(folder.claimed_by(), Ok(None)) {
            let reason = "it was told to end before it was started".to_owned();
            self.report_end(JobState::Cancelled, JobEvidence::NeverClaimed, Some(reason)).await;
            return None;
        }
        let program = coordinator.inner.jobs.program.clone();
        crate::crash::point("jobs.before_start");
        let started = blocking(move || jobs::start(&folder, &spec, &program)).await.ok()?;
        crate::crash::point("jobs.after_start");
        match started {
            Ok(outcome) => Some(outcome),
            Err(error) => match self.look().await {
                Some(Outcome::Uncertain { doubt: Doubt::NeverClaimed, .. }) => {
                    self.report_end(JobState::FailedToStart, JobEvidence::SpawnError, Some(error.to_string())).await;
                    None
                }
                other => other,
            },
        }
    }

    fn spec(&self) -> jobs::Spec {
        let definition = &self.job.definition;
        let command = match &definition.command {
            JobCommand::Shell(line) => jobs::Command::Shell { line: line.clone() },
            JobCommand::Program(words) => jobs::Command::Program {
                program: words.first().cloned().unwrap_or_default(),
                args: words.iter().skip(1).cloned().collect(),
            },
        };
        let mut spec = jobs::Spec::new(command, &definition.cwd);
        spec.pass = TOOL_CHAINS.iter().map(|name| (*name).to_owned()).collect();
        if !definition.terminal {
            spec.streams = jobs::Streams::Separate { input: jobs::Input::Sent };
        }
        spec
    }

    /// Looks what is true; `None` when that can't be found out any more.
    async fn look(&self) -> Option<Outcome> {
        loop {
            let folder = self.folder.clone();
            match blocking(move || reconcile(&folder)).await.ok()? {
                Ok(outcome) => return Some(outcome),
                Err(error) => tracing::error!(job = %self.job.id, %error, "can't look how a Job stands"),
            }
            if matches!(self.pause().await, Woken::Leave) {
                return None;
            }
        }
    }

    async fn pause(&self) -> Woken {
        tokio::select! {
            () = tokio::time::sleep(AGAIN) => Woken::Look,
            () = self.coordinator.inner.leaving.cancelled() => Woken::Leave,
        }
    }

    /// Listens to its shim until there is something to look at.
    async fn while_running(&mut self) -> Woken {
        let (folder, fence) = (self.folder.clone(), self.coordinator.fence());
        let connected = blocking(move || Controller::connect(&folder, Some(fence))).await;
        let controller = match connected {
            Ok(Ok(controller)) => controller,
            Ok(Err(ClientError::Ended(_))) => return Woken::Look,
            Ok(Err(error)) => {
                tracing::debug!(job = %self.job.id, %error, "no connection to a Job's shim");
                return self.pause().await;
            }
            Err(_) => return Woken::Leave,
        };
        let Some(mut shim) = waiting_for(controller) else { return self.pause().await };
        let leaving = self.coordinator.inner.leaving.clone();
        self.told.mark_changed();
        loop {
            tokio::select! {
                () = leaving.cancelled() => return Woken::Leave,
                changed = self.told.changed() => {
                    if changed.is_err() {
                        return Woken::Leave;
                    }
                    let wish = *self.told.borrow_and_update();
                    if let Some(stop) = wish {
                        let done = blocking(move || {
                            let result = shim.get_mut().0.stop(Duration::from_millis(stop.grace_ms));
                            (shim, result)
                        });
                        match done.await {
                            Ok((kept, Ok(()))) => shim = kept,
                            Ok((_, Err(_))) => return Woken::Look,
                            Err(_) => return Woken::Leave,
                        }
                    }
                }
                ready = shim.readable() => {
                    match ready {
                        Ok(mut guard) => guard.clear_ready(),
                        Err(_) => return Woken::Look,
                    }
                    let heard = blocking(move || {
                        let heard = hear(&mut shim.get_mut().0);
                        (shim, heard)
                    });
                    match heard.await {
                        Ok((kept, true)) => shim = kept,
                        Ok((_, false)) => return Woken::Look,
                        Err(_) => return Woken::Leave,
                    }
                }
                () = self.levels.due() => self.levels.look(&self.coordinator).await,
                () = self.matches.due(&self.coordinator) => self.matches.look(&self.coordinator).await,
            }
        }
    }

    /// Watches a command whose shim is gone.
    async fn while_orphaned(&mut self, record: StartRecord) -> Woken {
        let note = "its shim is gone: what it prints is not kept any more, and how it ends will not be known";
        self.report(JobReport::Orphaned { note: note.into() }).await;
        let Some(orphan) = Orphan::hold(&record) else { return Woken::Look };
        let Some(orphan) = waiting_for(orphan) else { return self.pause().await };
        let leaving = self.coordinator.inner.leaving.clone();
        self.told.mark_changed();
        loop {
            tokio::select! {
                () = leaving.cancelled() => return Woken::Leave,
                _ = orphan.readable() => return Woken::Look,
                changed = self.told.changed() => {
                    if changed.is_err() {
                        return Woken::Leave;
                    }
                    let wish = *self.told.borrow_and_update();
                    if let Some(stop) = wish {
                        let held = orphan.into_inner().0;
                        let ended = blocking(move || held.stop(Duration::from_millis(stop.grace_ms))).await;
                        return if ended.is_ok() { Woken::Look } else { Woken::Leave };
                    }
                }
            }
        }
    }

    async fn has_started(&mut self, record: &StartRecord) {
        if !std::mem::replace(&mut self.is_started, true) {
            self.report(JobReport::Started { process: process(record) }).await;
        }
    }

    async fn has_ended(&mut self, record: ExitRecord) {
        if let Ok(Some(started)) = self.folder.started() {
            self.has_started(&started).await;
        }
        let (state, exit_code, signal, evidence, failure) = match &record.end {
            End::Exited { code } => (JobState::Exited, Some(*code), None, JobEvidence::ExitRecord, None),
            End::Signaled { signal } => (JobState::Signaled, None, Some(*signal), JobEvidence::ExitRecord, None),
            End::FailedToStart { message, .. } => {
                (JobState::FailedToStart, None, None, JobEvidence::SpawnError, Some(message.clone()))
            }
        };
        let reason = reason(&record, failure, self.typed());
        let end = JobEnd { exit_code, signal, reason, ended_at: record.ended_at, ..self.said(evidence).await };
        let end = JobEnd { log_bytes: record.log_bytes.max(end.log_bytes), ..end };
        self.end(state, end).await;
    }

    async fn is_uncertain(&mut self, doubt: Doubt, started: Option<StartRecord>) {
        if let Some(started) = &started {
            self.has_started(started).await;
        }
        let (state, evidence) = match doubt {
            Doubt::NeverClaimed if self.job.state == JobState::Starting => {
                (JobState::FailedToStart, JobEvidence::SpawnError)
            }
            // Its folder was taken away behind our back.
            Doubt::NeverClaimed | Doubt::GoneWithoutRecord => (JobState::Uncertain, JobEvidence::GoneWithoutRecord),
            Doubt::ShimLost => (JobState::Uncertain, JobEvidence::ShimLost),
            Doubt::BootChanged => (JobState::Uncertain, JobEvidence::BootChanged),
        };
        self.report_end(state, evidence, Some(doubt.to_string())).await;
    }

    async fn report_end(&mut self, state: JobState, evidence: JobEvidence, reason: Option<String>) {
        let end = JobEnd { reason, ..self.said(evidence).await };
        self.end(state, end).await;
    }

    async fn end(&mut self, state: JobState, end: JobEnd) {
        // What it printed last is told before its end.
        self.matches.finish(&self.coordinator).await;
        crate::crash::point("jobs.before_settled");
        self.report(JobReport::Ended { state, end }).await;
        crate::crash::point("jobs.settled");
    }

    /// An end of which nothing is known but what the log says.
    async fn said(&self, evidence: JobEvidence) -> JobEnd {
        let folder = self.folder.clone();
        let said = blocking(move || jobs::look::said(&folder)).await.ok().and_then(Result::ok).unwrap_or_default();
        JobEnd {
            exit_code: None,
            signal: None,
            evidence,
            reason: None,
            log_bytes: said.bytes,
            last_output_at: said.at,
            last_line: said.line,
            ended_at: super::super::now(),
        }
    }

    fn typed(&self) -> usize {
        typed::typed(self.folder.path()).map(|times| times.len()).unwrap_or_default()
    }

    async fn report(&self, report: JobReport) {
        super::report(&self.coordinator, &self.job, report).await;
    }
}

/// Takes what a shim has said; false when there is something to look at.
pub(super) fn hear(controller: &mut Controller) -> bool {
    loop {
        match controller.news(Some(Instant::now() + NEWS)) {
            Ok(Some(News::Log(state))) => tracing::warn!(?state, "a Job's log"),
            Ok(Some(News::Ended(_))) | Err(_) => return false,
            Ok(None) => return true,
        }
    }
}

fn process(record: &StartRecord) -> JobProcess {
    JobProcess {
        pid: record.command.pid,
        pid_start: record.command.start_time,
        shim_pid: record.shim.pid,
        shim_start: record.shim.start_time,
        boot_id: record.command.boot_id.clone(),
        started_at: record.started_at,
    }
}

/// What else is to be known of an end, in words.
fn reason(record: &ExitRecord, failure: Option<String>, typed: usize) -> Option<String> {
    let mut said: Vec<String> = failure.into_iter().collect();
    match record.stop {
        StopState::NotAsked => {}
        StopState::Asked => said.push("it was told to end".into()),
        StopState::Killed => said.push("it was told to end, did not, and was killed".into()),
    }
    for (members, what) in
        [(&record.ended, "it left behind, and was ended"), (&record.survivors, "it left behind and still runs")]
    {
        if !members.is_empty() {
            said.push(format!("{what}: {}", named(members)));
        }
    }
    if record.lost_bytes > 0 {
        said.push(format!("{} bytes that it printed could not be kept", record.lost_bytes));
    }
    match typed {
        0 => {}
        1 => said.push("a person typed in its terminal".into()),
        times => said.push(format!("a person typed in its terminal, {times} times")),
    }
    (!said.is_empty()).then(|| said.join("; "))
}

fn named(members: &[Member]) -> String {
    let mut names: Vec<String> = members
        .iter()
        .take(NAMED)
        .map(|member| format!("{} (pid {})", sanitise::line(&member.command), member.pid))
        .collect();
    if members.len() > NAMED {
        names.push(format!("{} more", members.len() - NAMED));
    }
    names.join(", ")
}
