//! What the tests of the tools work on: a folder, and blobs kept in memory.

use super::{BadCall, Outcome, Plan, Tool, ToolContext, arguments};
use crate::agent::port::{Blobs, Documents, JobPhase, Jobs, Opened, Over, Team};
use crate::agent::running::{Line, Listener, Ran};
use crate::domain::permission::hex;
use crate::domain::settings::Limits;
use crate::domain::*;
use crate::resources::{Content, EngineFailure, EngineRequest, Evaluated, Registry};
use futures_util::future::BoxFuture;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Blobs in memory.
#[derive(Default)]
pub(crate) struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Memory {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().expect("unbroken").is_empty()
    }
    /// The name of the one blob there is.
    pub(crate) fn only(&self) -> String {
        let blobs = self.0.lock().expect("unbroken");
        assert_eq!(blobs.len(), 1);
        blobs.keys().next().expect("one").clone()
    }
}

impl Blobs for Memory {
    fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let name = hex(&Sha256::digest(bytes));
        self.0.lock().expect("unbroken").insert(name.clone(), bytes.to_vec());
        Ok(name)
    }
    fn get(&self, name: &str, offset: u64, limit: usize) -> io::Result<(u64, Vec<u8>)> {
        let blobs = self.0.lock().expect("unbroken");
        let bytes = blobs.get(name).ok_or(io::ErrorKind::NotFound)?;
        let start = bytes.len().min(offset as usize);
        let end = bytes.len().min(start.saturating_add(limit));
        Ok((bytes.len() as u64, bytes[start..end].to_vec()))
    }
}

/// A Task without Jobs.
struct NoJobs;

impl Jobs for NoJobs {
    fn act(&self, _: JobDeed) -> BoxFuture<'_, Result<Option<JobId>, Rejection>> {
        Box::pin(async { Err(none()) })
    }
    fn list(&self) -> BoxFuture<'_, Result<Vec<JobView>, Rejection>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn view<'a>(&'a self, _: &'a JobId) -> BoxFuture<'a, Result<JobView, Rejection>> {
        Box::pin(async { Err(none()) })
    }
    fn log<'a>(&'a self, _: &'a JobId, _: LogPlace, _: u32) -> BoxFuture<'a, Result<LogPage, Rejection>> {
        Box::pin(async { Err(none()) })
    }
    fn search<'a>(&'a self, _: &'a JobId, _: String, _: u64, _: u32) -> BoxFuture<'a, Result<LogPage, Rejection>> {
        Box::pin(async { Err(none()) })
    }
    fn run<'a>(&'a self, line: Line, listener: &'a mut dyn Listener) -> BoxFuture<'a, Result<Ran, Rejection>> {
        Box::pin(super::shell::run_directly(line, listener))
    }
    fn has_begun(&self) -> BoxFuture<'_, bool> {
        Box::pin(async { false })
    }
    fn wait<'a>(&'a self, _: &'a JobId, _: JobPhase, _: Duration) -> BoxFuture<'a, Result<JobView, Rejection>> {
        Box::pin(async { Err(none()) })
    }
}

/// A Task without documents.
struct NoDocuments;

impl Documents for NoDocuments {
    fn registry(&self) -> Registry {
        Registry::default()
    }
    fn task(&self) -> TaskId {
        TaskId("t_1".into())
    }
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, Rejection>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn open(&self, _: ContentOf) -> BoxFuture<'_, Result<Opened, Rejection>> {
        Box::pin(async { Err(Rejection::not_found("that document", "there are none")) })
    }
    fn history(&self, _: ResourceId) -> BoxFuture<'_, Result<Vec<Revision>, Rejection>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn candidates(&self, _: ResourceId) -> BoxFuture<'_, Result<Vec<Candidate>, Rejection>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn ask(&self, request: EngineRequest, _: Content) -> BoxFuture<'_, Result<Evaluated, EngineFailure>> {
        Box::pin(async move { Err(EngineFailure::Missing { engine: request.engine, install: String::new() }) })
    }
    fn act(&self, _: ResourceDeed<Change>) -> BoxFuture<'_, Result<EditReceipt, Rejection>> {
        Box::pin(async { Err(Rejection::not_found("that document", "there are none")) })
    }
}

/// A Task with nobody else in it.
struct Nobody {
    agent: AgentId,
    run: RunId,
    call: ToolCallId,
}

impl Default for Nobody {
    fn default() -> Self {
        Self { agent: "a_1".into(), run: "r_1".into(), call: "c_1".into() }
    }
}

impl Team for Nobody {
    fn agent(&self) -> &AgentId {
        &self.agent
    }
    fn run(&self) -> &RunId {
        &self.run
    }
    fn call(&self) -> &ToolCallId {
        &self.call
    }
    fn submit(&self, _: RunCommand) -> BoxFuture<'_, Result<(), Rejection>> {
        Box::pin(async { Err(Rejection::not_found("that Subagent", "there is nobody else")) })
    }
    fn look(&self) -> BoxFuture<'_, Result<Snapshot, Rejection>> {
        Box::pin(async { Ok(Snapshot::default()) })
    }
    fn delegated(&self) -> BoxFuture<'_, Result<Vec<Delegated>, Rejection>> {
        Box::pin(async { Ok(Vec::new()) })
    }
    fn wait<'a>(&'a self, _: Over<'a>, _: Option<Millis>) -> BoxFuture<'a, Result<Snapshot, Rejection>> {
        self.look()
    }
    fn expire<'a>(&'a self, _: &'a DecisionId) -> BoxFuture<'a, Result<(), Rejection>> {
        Box::pin(async { Ok(()) })
    }
}

fn none() -> Rejection {
    Rejection::not_found("that Job", "there are none")
}

/// A folder of a Task, gone when dropped.
pub(crate) struct Bench {
    pub(crate) ctx: ToolContext,
    pub(crate) blobs: Arc<Memory>,
    pub(crate) live: Arc<Mutex<String>>,
    _folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        let (cwd, own) = (root.join("project"), root.join("state/tasks/t_1/agents/a_1"));
        std::fs::create_dir_all(&cwd).expect("made");
        std::fs::create_dir_all(&own).expect("made");
        let blobs = Arc::new(Memory::default());
        let live = Arc::new(Mutex::new(String::new()));
        let seen = live.clone();
        let ctx = ToolContext {
            cwd,
            own,
            trusted: true,
            seen: Arc::default(),
            limits: Limits::default(),
            blobs: blobs.clone(),
            jobs: Arc::new(NoJobs),
            team: Arc::new(Nobody::default()),
            documents: Arc::new(NoDocuments),
            cancel: CancellationToken::new(),
            live: Arc::new(move |text| seen.lock().expect("unbroken").push_str(text)),
        };
        Self { ctx, blobs, live, _folder: folder }
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.ctx.cwd
    }
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.ctx.cwd.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, content).expect("written");
    }
    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.ctx.cwd.join(name)).expect("read")
    }
    /// Plans a call as the loop does.
    pub(crate) async fn plan(&self, tool: &dyn Tool, call: Value) -> Result<Plan, BadCall> {
        let parsed = arguments::parse(&call.to_string(), tool.spec())?;
        tool.plan(&parsed, &self.ctx).await
    }
    /// Plans and runs a call, and gives how it ended and its text.
    pub(crate) async fn call(&self, tool: &dyn Tool, call: Value) -> (ToolCallState, String) {
        let plan = self.plan(tool, call).await.expect("it can be planned");
        told(&(plan.run)(self.ctx.clone()).await)
    }
    /// The text of a call that must succeed.
    pub(crate) async fn done(&self, tool: &dyn Tool, call: Value) -> String {
        let (state, text) = self.call(tool, call).await;
        assert_eq!(state, ToolCallState::Done, "{text}");
        text
    }
    /// The text of a call that must not be planned.
    pub(crate) async fn refused(&self, tool: &dyn Tool, call: Value) -> String {
        self.plan(tool, call).await.err().expect("it can't be planned").0
    }
}

/// How a call ended, and its text.
pub(crate) fn told(outcome: &Outcome) -> (ToolCallState, String) {
    let texts: Vec<&str> = outcome
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Thinking { .. } | Part::Image { .. } | Part::Call { .. } => None,
        })
        .collect();
    (outcome.state, texts.join("\n"))
}
