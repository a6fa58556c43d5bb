//! The Jobs of one Task, as its agent acts on them and looks at them.

use super::super::{Coordinator, Pushed};
use super::Errand;
use super::call::Running;
use crate::agent::port::{JobPhase, Jobs};
use crate::agent::running::{Line, Listener, Ran};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;

/// The way of one call to the Jobs of its Task.
pub(in crate::runtime) struct TaskJobs {
    pub(in crate::runtime) coordinator: Coordinator,
    pub(in crate::runtime) task: TaskId,
    pub(in crate::runtime) agent: AgentId,
    pub(in crate::runtime) run: RunId,
    pub(in crate::runtime) call: ToolCallId,
}

impl TaskJobs {
    async fn one(&self, job: &JobId) -> Result<JobView, Rejection> {
        match self.coordinator.ask(Query::Job { job: job.clone() }).await? {
            Answer::Job(view) if view.job.task.as_ref() == Some(&self.task) => Ok(*view),
            Answer::Job(_) => Err(Rejection::not_found(format!("Job {job} of this Task"), "`jobs list` lists them")),
            other => Err(odd(&other)),
        }
    }

    async fn page(&self, job: &JobId, query: Query) -> Result<LogPage, Rejection> {
        self.one(job).await?;
        match self.coordinator.ask(query).await? {
            Answer::JobLog(page) => Ok(page),
            other => Err(odd(&other)),
        }
    }

    /// Returns when an event says that a Job is as far, or that the agent has a message.
    async fn until(&self, job: &JobId, phase: JobPhase) -> Result<JobView, Rejection> {
        let mut feed = self.coordinator.feed();
        loop {
            let view = self.one(job).await?;
            let is_there = match phase {
                JobPhase::Started => view.job.state != JobState::Starting,
                JobPhase::Ended => view.job.state.is_ended(),
            };
            if is_there {
                return Ok(view);
            }
            loop {
                match feed.recv().await {
                    Ok(Pushed::Recorded(recorded)) => match &recorded.event {
                        Event::MessageQueued { message } if message.to.id == self.agent.0 => {
                            return self.one(job).await;
                        }
                        Event::JobStarted { job: other, .. } | Event::JobSettled { job: other, .. } if other == job => {
                            break;
                        }
                        _ => {}
                    },
                    Ok(Pushed::Transient(_)) => {}
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Ok(view),
                }
            }
        }
    }
}

fn odd(answer: &Answer) -> Rejection {
    Rejection::new(RejectionKind::Internal, format!("BUG: Jobs were answered with {answer:.80?}"), "")
}

impl Jobs for TaskJobs {
    fn act(&self, deed: JobDeed) -> BoxFuture<'_, Result<Option<JobId>, Rejection>> {
        Box::pin(async move {
            let errand = Errand::of(&deed);
            let command = RunCommand::Job { run: self.run.clone(), call: self.call.clone(), deed };
            let actor = Actor::agent(&self.agent);
            let committed = self.coordinator.insist(Some(&self.task), actor, command.into()).await?;
            if let Some(errand) = errand {
                errand.run(&self.coordinator).await?;
            }
            Ok(committed.receipt.job)
        })
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<JobView>, Rejection>> {
        Box::pin(async move {
            let query = Query::Jobs { task: Some(self.task.clone()), ended: true };
            match self.coordinator.ask(query).await? {
                Answer::Jobs(views) => Ok(views),
                other => Err(odd(&other)),
            }
        })
    }

    fn view<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<JobView, Rejection>> {
        Box::pin(self.one(job))
    }

    fn log<'a>(&'a self, job: &'a JobId, place: LogPlace, lines: u32) -> BoxFuture<'a, Result<LogPage, Rejection>> {
        let query = Query::JobLog { job: job.clone(), errors: false, from: place, lines };
        Box::pin(self.page(job, query))
    }

    fn search<'a>(
        &'a self,
        job: &'a JobId,
        pattern: String,
        from: u64,
        lines: u32,
    ) -> BoxFuture<'a, Result<LogPage, Rejection>> {
        let query = Query::JobSearch { job: job.clone(), errors: false, pattern, regex: true, from, limit: lines };
        Box::pin(self.page(job, query))
    }

    fn run<'a>(&'a self, line: Line, listener: &'a mut dyn Listener) -> BoxFuture<'a, Result<Ran, Rejection>> {
        Box::pin(Running::new(self, line).run(listener))
    }

    fn has_begun(&self) -> BoxFuture<'_, bool> {
        let folder = self.coordinator.inner.jobs.folder(&JobId::of_call(&self.call));
        Box::pin(async move {
            super::blocking(move || folder.claimed_by()).await.is_ok_and(|claim| matches!(claim, Ok(Some(_))))
        })
    }

    fn wait<'a>(
        &'a self,
        job: &'a JobId,
        phase: JobPhase,
        most: Duration,
    ) -> BoxFuture<'a, Result<JobView, Rejection>> {
        Box::pin(async move {
            match tokio::time::timeout(most, self.until(job, phase)).await {
                Ok(view) => view,
                Err(_) => self.one(job).await,
            }
        })
    }
}
