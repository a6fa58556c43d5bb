//! Wakes agents that are absent and have work, and stops those that were told to stop.
//!
//! It listens to the events after their commit and asks the store who is due; it polls nothing.

use super::port::AgentPort;
use super::{Coordinator, jobs, mirrors};
use crate::agent;
use crate::domain::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Starts watching; ends when the Coordinator leaves.
pub(super) fn start(coordinator: Coordinator, mut events: mpsc::UnboundedReceiver<Arc<Recorded>>) {
    let leaving = coordinator.inner.leaving.clone();
    tokio::spawn(async move {
        let mut drivers = Drivers::default();
        jobs::take_up(&coordinator).await;
        mirrors::take_up(&coordinator).await;
        drivers.wake_due(&coordinator).await;
        loop {
            let first = tokio::select! {
                () = leaving.cancelled() => return,
                event = events.recv() => match event { Some(event) => event, None => return },
            };
            let mut may_be_due = drivers.take(&coordinator, &first);
            while let Ok(next) = events.try_recv() {
                may_be_due |= drivers.take(&coordinator, &next);
            }
            if may_be_due {
                drivers.wake_due(&coordinator).await;
            }
        }
    });
}

/// A Run that is being driven.
struct Driver {
    agent: AgentId,
    stop: CancellationToken,
}

/// The Runs that are being driven, and which of their agents had to wait their turn.
#[derive(Default)]
struct Drivers {
    running: HashMap<RunId, Driver>,
    turns: HashSet<AgentId>,
}

impl Drivers {
    /// Acts on an event; says whether somebody may be due after it.
    fn take(&mut self, coordinator: &Coordinator, recorded: &Recorded) -> bool {
        jobs::take(coordinator, &recorded.event);
        mirrors::take(coordinator, &recorded.event);
        match &recorded.event {
            Event::RunStarted { run, .. } => {
                let stop = coordinator.inner.leaving.child_token();
                self.running.insert(run.id.clone(), Driver { agent: run.agent.clone(), stop: stop.clone() });
                drive(coordinator.clone(), run.clone(), stop);
                false
            }
            Event::ControlRequested { control } => {
                if let Some(driver) = self.running.get(&control.run) {
                    driver.stop.cancel();
                }
                false
            }
            Event::RunEnded { run, .. } | Event::RunSuspended { run, .. } => {
                if let Some(driver) = self.running.remove(run) {
                    driver.stop.cancel();
                    self.turns.remove(&driver.agent);
                }
                true
            }
            Event::MessageQueued { .. }
            | Event::TaskStatusChanged { .. }
            | Event::ApprovalDecided { .. }
            | Event::AssignmentGiven { .. } => true,
            _ => false,
        }
    }

    /// Starts every agent that is absent and has work, Subagents as far as there is room.
    async fn wake_due(&mut self, coordinator: &Coordinator) {
        let due = match coordinator.read(|store| store.due()).await {
            Ok(due) => due,
            Err(rejection) => {
                tracing::error!(%rejection, "can't look who is due");
                return;
            }
        };
        let room = coordinator.settings().limits.subagents.max(1);
        for Due { task, agent, queues, .. } in due {
            if queues && (self.turns.len() >= room || !self.turns.insert(agent.clone())) {
                continue;
            }
            let command = SystemCommand::StartRun { task: task.clone(), agent: agent.clone() }.into();
            if let Err(rejection) = coordinator.insist(Some(&task), Actor::system(), command).await {
                // Somebody else acted in between; the next event brings it up again.
                tracing::debug!(%task, %rejection, "a start was refused");
                self.turns.remove(&agent);
            }
        }
    }
}

/// Drives one Run on a task of its own. A driver that fails ends its Run, and no other.
fn drive(coordinator: Coordinator, run: Run, stop: CancellationToken) {
    let guard = coordinator.inner.feed.driver();
    tokio::spawn(async move {
        let _guard = guard;
        let port = Arc::new(AgentPort::new(coordinator.clone(), &run));
        let driven = tokio::spawn(agent::drive(port, run.clone(), stop, coordinator.inner.leaving.clone())).await;
        let failure = match driven {
            Ok(Ok(())) => return,
            Ok(Err(rejection)) => rejection.to_string(),
            Err(panic) => format!("the agent's loop failed: {panic}"),
        };
        if coordinator.inner.leaving.is_cancelled() {
            return;
        }
        tracing::error!(run = %run.id, failure, "a driver failed");
        let command = RunCommand::End { run: run.id, reason: EndReason::Internal, detail: Some(failure) }.into();
        if let Err(rejection) = coordinator.insist(Some(&run.task), Actor::system(), command).await {
            tracing::debug!(%rejection, "its Run had ended already");
        }
    });
}
