//! The Resources that one agent may know: those of its Task and those of nobody.

use super::super::Coordinator;
use crate::agent::port::{Documents, Opened};
use crate::domain::*;
use crate::resources::{Content, EngineFailure, EngineRequest, Evaluated, Registry};
use futures_util::future::BoxFuture;

/// How many revisions of a history are told.
const HISTORY: u32 = 50;

/// The way of one call to the Resources of its agent.
pub(in crate::runtime) struct TaskDocuments {
    pub(in crate::runtime) coordinator: Coordinator,
    pub(in crate::runtime) task: TaskId,
    pub(in crate::runtime) agent: AgentId,
    pub(in crate::runtime) run: RunId,
    pub(in crate::runtime) call: ToolCallId,
}

impl TaskDocuments {
    /// Whether this agent may know the Resource of this id.
    async fn may_open(&self, id: &ResourceId) -> Result<(), Rejection> {
        let id = id.clone();
        let resource = self.coordinator.read(move |store| store.resource(&id)).await?;
        self.may_know(&resource)
    }

    fn may_know(&self, resource: &Resource) -> Result<(), Rejection> {
        match resource.task.as_ref().is_none_or(|of| *of == self.task) {
            true => Ok(()),
            false => Err(Rejection::not_found(format!("document {}", resource.id), "`doc list` lists them")),
        }
    }
}

impl Documents for TaskDocuments {
    fn registry(&self) -> Registry {
        self.coordinator.inner.resources.registry.clone()
    }

    fn task(&self) -> TaskId {
        self.task.clone()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, Rejection>> {
        let task = Some(self.task.clone());
        Box::pin(async move {
            match self.coordinator.ask(Query::Resources { task }).await? {
                Answer::Resources(found) => Ok(found),
                other => Err(Rejection::invalid(format!("BUG: Resources were answered with {other:.80?}"), "")),
            }
        })
    }

    fn open(&self, of: ContentOf) -> BoxFuture<'_, Result<Opened, Rejection>> {
        Box::pin(async move {
            let resources = self.coordinator.inner.resources.clone();
            let opened = self
                .coordinator
                .read(move |store| {
                    let (id, revision, candidate, made) = match of {
                        ContentOf::Revision { resource, number } => {
                            let found = store.revision(&resource, number)?;
                            (resource, found.number, None, found.made)
                        }
                        ContentOf::Candidate(candidate) => {
                            let found = store.candidate(&candidate)?;
                            let made = found.made.clone();
                            (found.resource.clone(), found.base, Some(found), made)
                        }
                    };
                    let content = resources.contents.open(store, &made.content)?.content.clone();
                    Ok(Opened { resource: store.resource(&id)?, revision, candidate, content })
                })
                .await?;
            self.may_know(&opened.resource)?;
            Ok(opened)
        })
    }

    fn history(&self, resource: ResourceId) -> BoxFuture<'_, Result<Vec<Revision>, Rejection>> {
        Box::pin(async move {
            self.may_open(&resource).await?;
            self.coordinator.read(move |store| store.revisions(&resource, None, HISTORY)).await
        })
    }

    fn candidates(&self, resource: ResourceId) -> BoxFuture<'_, Result<Vec<Candidate>, Rejection>> {
        Box::pin(async move {
            self.may_open(&resource).await?;
            self.coordinator.read(move |store| store.open_candidates(&resource)).await
        })
    }

    fn ask(&self, request: EngineRequest, parts: Content) -> BoxFuture<'_, Result<Evaluated, EngineFailure>> {
        Box::pin(async move { self.coordinator.inner.resources.engines.ask(&request, &parts).await })
    }

    fn act(&self, deed: ResourceDeed<Change>) -> BoxFuture<'_, Result<EditReceipt, Rejection>> {
        Box::pin(async move {
            // A call does each deed once, however often it is run: the command is named after both.
            let id = CommandId(format!("e_{}_{}", self.call, deed.word()));
            let actor = Actor::agent(&self.agent);
            let receipt = self.coordinator.act_on_resource(id, actor, Some(self.run.clone()), deed).await?;
            Ok(receipt.edit.unwrap_or_default())
        })
    }
}
