//! The loop of one agent's Run: look, do the next step, look again.
//!
//! What a command leaves is told with its answer, so that the loop looks for itself only where it
//! does not know: at the beginning, after steps that ran side by side, and after a refusal.

use super::held::Held;
use super::port::{Carried, Place, Port};
use super::{batch, judge, turn};
use crate::crash;
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What the steps of one Run share.
pub(super) struct Drive {
    pub port: Arc<dyn Port>,
    pub run: RunId,
    pub task: TaskId,
    pub agent: AgentId,
    /// Where the agent works.
    pub place: Place,
    /// Cancelled when the current step must stop at once.
    pub stop: CancellationToken,
    /// Cancelled when the process leaves: the step is left as it is, for the next owner.
    pub leaving: CancellationToken,
    /// The rows of its context.
    pub held: Held,
    /// What its Task is like after the last command, if nothing ran beside it.
    pub known: Option<Box<Snapshot>>,
    /// The turn that began with the last command.
    pub begun: Option<turn::Begun>,
    /// Whether a title was looked for.
    pub naming: bool,
    /// The model that is asked instead, after the chosen one failed for good.
    pub instead: Option<Instead>,
}

/// A model that stands in for another, until the Run ends.
pub(super) struct Instead {
    /// Its name, `PROVIDER:NAME`.
    pub model: String,
    /// How often the other one had failed: its failures are not counted against this one.
    pub failures_before: u32,
}

/// Drives a Run until it ends, is suspended, or is no longer ours.
pub async fn drive(
    port: Arc<dyn Port>,
    run: Run,
    stop: CancellationToken,
    leaving: CancellationToken,
) -> Result<(), Rejection> {
    let place = match port.place().await {
        Ok(place) => place,
        Err(rejection) if rejection.kind == RejectionKind::WrongState => {
            let detail = Some(rejection.to_string());
            let end = RunCommand::End { run: run.id, reason: EndReason::Internal, detail };
            return port.submit(vec![end]).await?.into_iter().try_for_each(|carried| carried.map(drop));
        }
        Err(rejection) => return Err(rejection),
    };
    let mut drive = Drive {
        port,
        run: run.id,
        task: run.task,
        agent: run.agent,
        place,
        stop,
        leaving,
        held: Held::default(),
        known: None,
        begun: None,
        naming: false,
        instead: None,
    };
    loop {
        if drive.leaving.is_cancelled() {
            return Ok(());
        }
        let snapshot = match drive.known.take() {
            Some(known) => known,
            None => Box::new(drive.port.look().await?),
        };
        let begun = drive.begun.take();
        let step = next_step(&snapshot, &drive.run, drive.port.now());
        let going_on = match step {
            Step::Leave => Going::Away,
            Step::RunTools(calls) => batch::run(&mut drive, calls, &snapshot).await,
            Step::Ask { not_before } => match drive.wait_until(not_before).await {
                Waited::Through => turn::take(&mut drive, snapshot, begun).await,
                Waited::Stopped => Going::On,
            },
            Step::Judge(checks) => judge::run(&mut drive, checks).await,
            Step::Suspend(reason) => {
                drive.tell(RunCommand::Suspend { run: drive.run.clone(), reason }).await?;
                Going::Away
            }
            Step::End(reason, detail) => {
                crash::point("loop.before_end");
                let ended = drive.end(&snapshot, reason, detail).await?;
                crash::point("loop.ended");
                // Words that came in between are work: then the end was refused, and it goes on.
                match ended {
                    Told::Done(_) => Going::Away,
                    Told::Stale => Going::On,
                }
            }
        };
        match going_on {
            Going::On => {}
            Going::Away => return Ok(()),
            Going::Wrong(rejection) => return Err(rejection),
        }
    }
}

/// Whether the loop goes on.
pub(super) enum Going {
    /// Look again.
    On,
    /// The Run is no longer this loop's.
    Away,
    /// Something of ours failed.
    Wrong(Rejection),
}

/// What became of a command.
#[derive(Debug)]
pub(super) enum Told {
    /// It was carried out, and this is what the Task is like then, where that was told.
    Done(Option<Box<Snapshot>>),
    /// It no longer fits what stands: look again.
    Stale,
}

enum Waited {
    Through,
    Stopped,
}

impl Drive {
    /// How long this Run may still take under its budget of seconds: Main's is its Task's, that of a
    /// Subagent stands in its contract.
    pub fn time_left(&self, snapshot: &Snapshot) -> Option<Duration> {
        let task = snapshot.tasks.get(&self.task)?;
        let (budget, usage) = match snapshot.live_assignment(&self.agent) {
            Some(work) => (work.contract.budget, &work.usage),
            None => (task.budget, &task.usage),
        };
        let limit = budget.seconds?.saturating_mul(1000);
        let run = snapshot.runs.get(&self.run)?;
        let used = usage.run_ms + self.port.now().saturating_sub(run.started_at).max(0) as u64;
        Some(Duration::from_millis(limit.saturating_sub(used)))
    }

    /// Submits a command. That it no longer fits is no failure: somebody else acted in between.
    pub async fn tell(&self, command: RunCommand) -> Result<Told, Rejection> {
        let told = self.tell_together(vec![command]).await?.pop();
        told.ok_or_else(|| Rejection::new(RejectionKind::Internal, "BUG: a command had no answer", ""))
    }

    /// Submits commands that share a commit.
    pub async fn tell_together(&self, commands: Vec<RunCommand>) -> Result<Vec<Told>, Rejection> {
        self.port.submit(commands).await?.into_iter().map(|carried| self.told(carried)).collect()
    }

    fn told(&self, carried: Carried) -> Result<Told, Rejection> {
        match carried {
            Ok(after) => Ok(Told::Done(after)),
            Err(rejection) => match rejection.kind {
                RejectionKind::WrongState | RejectionKind::NotFound | RejectionKind::Budget => {
                    tracing::debug!(run = %self.run, %rejection, "a step was stale");
                    Ok(Told::Stale)
                }
                RejectionKind::Storage
                | RejectionKind::Invalid
                | RejectionKind::Forbidden
                | RejectionKind::StaleFence
                | RejectionKind::Internal => Err(rejection),
            },
        }
    }

    /// Goes on from what a command left.
    pub fn go_on(&mut self, told: Result<Told, Rejection>) -> Going {
        match told {
            Ok(Told::Done(after)) => {
                self.know(after);
                Going::On
            }
            Ok(Told::Stale) => Going::On,
            Err(rejection) => Going::Wrong(rejection),
        }
    }

    /// Takes what the Task is like after a command, and the rows that came with it.
    pub fn know(&mut self, after: Option<Box<Snapshot>>) {
        if let Some(after) = &after {
            self.held.hear(after, &self.agent);
        }
        self.known = after;
    }

    /// Ends the Run. What a Subagent said last is its report, if it made none.
    async fn end(&mut self, snapshot: &Snapshot, reason: EndReason, detail: Option<String>) -> Result<Told, Rejection> {
        let run = self.run.clone();
        if reason != EndReason::Finished || snapshot.live_assignment(&self.agent).is_none() {
            return self.tell(RunCommand::End { run, reason, detail }).await;
        }
        let newest = self.held.newest(&*self.port, snapshot, &self.agent).await?;
        let done = newest.as_ref().map(Row::text).unwrap_or_default();
        let report = Report { outcome: Outcome::Completed, done, uncertain: String::new(), refs: Vec::new() };
        self.tell(RunCommand::Report { run, call: None, report }).await
    }

    /// Waits out a back-off; a person's Esc ends it at once.
    async fn wait_until(&self, not_before: Option<Millis>) -> Waited {
        let wait = not_before.map_or(0, |at| at - self.port.now());
        if wait <= 0 {
            return Waited::Through;
        }
        tokio::select! {
            () = tokio::time::sleep(Duration::from_millis(wait as u64)) => Waited::Through,
            () = self.stop.cancelled() => Waited::Stopped,
        }
    }
}
