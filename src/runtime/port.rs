//! The runtime's side of the door through which an agent changes state and looks at it.

use super::jobs::TaskJobs;
use super::kept::KeptBlobs;
use super::resources::TaskDocuments;
use super::team::TaskTeam;
use super::{Coordinator, folder};
use crate::agent::port::{Blobs, Carried, Documents, Jobs, Place, Port, Team};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use futures_util::future::BoxFuture;
use std::fs::DirBuilder;
use std::ops::Range;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;

/// One agent's door.
pub(super) struct AgentPort {
    coordinator: Coordinator,
    task: TaskId,
    agent: AgentId,
}

impl AgentPort {
    pub fn new(coordinator: Coordinator, run: &Run) -> Self {
        Self { coordinator, task: run.task.clone(), agent: run.agent.clone() }
    }

    /// Where the agent's own files lie.
    fn own(&self) -> PathBuf {
        let home = self.coordinator.inner.store.home();
        home.join("tasks").join(self.task.as_str()).join("agents").join(self.agent.as_str())
    }
}

impl Port for AgentPort {
    fn submit(&self, commands: Vec<RunCommand>) -> BoxFuture<'_, Result<Vec<Carried>, Rejection>> {
        Box::pin(async move {
            let actor = Actor::agent(&self.agent);
            let commands = commands.into_iter().map(Command::from).collect();
            let results = self.coordinator.insist_together(Some(&self.task), actor, commands).await?;
            Ok(results.into_iter().map(|result| result.map(|committed| committed.after)).collect())
        })
    }

    fn look(&self) -> BoxFuture<'_, Result<Snapshot, Rejection>> {
        let task = self.task.clone();
        Box::pin(self.coordinator.read(move |store| store.look(&task)))
    }

    fn rows(&self, seqs: Range<u64>) -> BoxFuture<'_, Result<Vec<Row>, Rejection>> {
        let agent = self.agent.clone();
        Box::pin(self.coordinator.read(move |store| store.rows(&agent, seqs)))
    }

    fn calls_on_files(&self) -> BoxFuture<'_, Result<Vec<ToolCall>, Rejection>> {
        let agent = self.agent.clone();
        Box::pin(self.coordinator.read(move |store| store.calls_on_files(&agent)))
    }

    fn blobs(&self) -> Arc<dyn Blobs> {
        Arc::new(KeptBlobs { dir: self.coordinator.inner.store.blobs(), coordinator: self.coordinator.clone() })
    }

    fn jobs(&self, run: &RunId, call: &ToolCallId) -> Arc<dyn Jobs> {
        Arc::new(TaskJobs {
            coordinator: self.coordinator.clone(),
            task: self.task.clone(),
            agent: self.agent.clone(),
            run: run.clone(),
            call: call.clone(),
        })
    }

    fn team(&self, run: &RunId, call: &ToolCallId) -> Arc<dyn Team> {
        Arc::new(TaskTeam {
            coordinator: self.coordinator.clone(),
            task: self.task.clone(),
            agent: self.agent.clone(),
            run: run.clone(),
            call: call.clone(),
        })
    }

    fn documents(&self, run: &RunId, call: &ToolCallId) -> Arc<dyn Documents> {
        Arc::new(TaskDocuments {
            coordinator: self.coordinator.clone(),
            task: self.task.clone(),
            agent: self.agent.clone(),
            run: run.clone(),
            call: call.clone(),
        })
    }

    fn show(&self, transient: Transient) {
        self.coordinator.inner.feed.show(transient);
    }

    fn settings(&self) -> Arc<Settings> {
        self.coordinator.settings()
    }

    fn place(&self) -> BoxFuture<'_, Result<Place, Rejection>> {
        Box::pin(async move {
            let snapshot = self.look().await?;
            let own = self.own();
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&own)
                .map_err(|e| unusable(&own.to_string_lossy(), &e))?;
            let cwd = snapshot.tasks.get(&self.task).and_then(|task| task.cwd.clone());
            let Some(cwd) = cwd else {
                return Ok(Place { cwd: own.clone(), own, trusted: true });
            };
            let folder = folder::identify(cwd.as_ref()).map_err(|e| unusable(&cwd, &e))?;
            let path = PathBuf::from(&folder.path);
            let answer = self.coordinator.ask(Query::Trust { folder }).await?;
            let trusted = matches!(answer, Answer::Trust(Some(trust)) if trust.trusted);
            Ok(Place { cwd: path, own, trusted })
        })
    }

    fn now(&self) -> i64 {
        super::now()
    }
}

fn unusable(path: &str, error: &std::io::Error) -> Rejection {
    let hint = "put the folder back, or start a Task in another one with -C";
    Rejection::new(RejectionKind::WrongState, format!("can't work in {path}: {error}"), hint)
}
