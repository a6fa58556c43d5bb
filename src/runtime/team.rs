//! The agents of one Task, as a call of one of them acts on the others and waits for them.

use super::{Coordinator, Pushed, fresh_command};
use crate::agent::port::{Over, Team};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// The way of one call to the others of its Task.
pub(super) struct TaskTeam {
    pub coordinator: Coordinator,
    pub task: TaskId,
    pub agent: AgentId,
    pub run: RunId,
    pub call: ToolCallId,
}

impl TaskTeam {
    /// Whether an event may end a wait.
    fn concerns(&self, recorded: &Recorded) -> bool {
        if recorded.task.as_ref() != Some(&self.task) {
            return false;
        }
        match &recorded.event {
            Event::MessageQueued { message } => message.to.id == self.agent.0,
            Event::ContributionMade { .. } | Event::DecisionResolved { .. } | Event::AssignmentReleased { .. } => true,
            _ => false,
        }
    }

    async fn until(&self, over: Over<'_>) -> Result<Snapshot, Rejection> {
        // Listened first, looked then: nothing falls in between.
        let mut feed = self.coordinator.feed();
        loop {
            let snapshot = self.look().await?;
            if over(&snapshot) {
                return Ok(snapshot);
            }
            loop {
                match feed.recv().await {
                    Ok(Pushed::Recorded(recorded)) if self.concerns(&recorded) => break,
                    Ok(Pushed::Recorded(_) | Pushed::Transient(_)) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Ok(snapshot),
                }
            }
        }
    }
}

impl Team for TaskTeam {
    fn agent(&self) -> &AgentId {
        &self.agent
    }

    fn run(&self) -> &RunId {
        &self.run
    }

    fn call(&self) -> &ToolCallId {
        &self.call
    }

    fn submit(&self, command: RunCommand) -> BoxFuture<'_, Result<(), Rejection>> {
        Box::pin(async move {
            let actor = Actor::agent(&self.agent);
            self.coordinator.insist(Some(&self.task), actor, command.into()).await.map(|_| ())
        })
    }

    fn look(&self) -> BoxFuture<'_, Result<Snapshot, Rejection>> {
        let task = self.task.clone();
        Box::pin(self.coordinator.read(move |store| store.look(&task)))
    }

    fn delegated(&self) -> BoxFuture<'_, Result<Vec<Delegated>, Rejection>> {
        Box::pin(async move {
            match self.coordinator.ask(Query::Task { task: self.task.clone() }).await? {
                Answer::Task(detail) => Ok(detail.delegated),
                other => {
                    let message = format!("BUG: Subagents were answered with {other:.80?}");
                    Err(Rejection::new(RejectionKind::Internal, message, ""))
                }
            }
        })
    }

    fn wait<'a>(&'a self, over: Over<'a>, until: Option<Millis>) -> BoxFuture<'a, Result<Snapshot, Rejection>> {
        Box::pin(async move {
            let Some(until) = until else { return self.until(over).await };
            let most = Duration::from_millis(until.saturating_sub(super::now()).max(0) as u64);
            match tokio::time::timeout(most, self.until(over)).await {
                Ok(snapshot) => snapshot,
                Err(_) => self.look().await,
            }
        })
    }

    fn expire<'a>(&'a self, decision: &'a DecisionId) -> BoxFuture<'a, Result<(), Rejection>> {
        Box::pin(async move {
            let (task, decision) = (self.task.clone(), decision.clone());
            let command = SystemCommand::ExpireDecision { task: task.clone(), decision }.into();
            self.coordinator.carry_out(fresh_command(), Actor::system(), command).await.map(|_| ())
        })
    }
}
