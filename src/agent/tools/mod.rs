//! The tools of an agent: what each is called, what it would do, and doing it.
//!
//! A call goes through two steps. [`Tool::plan`] checks the arguments and says what would happen
//! ([`Plan::action`]), touching nothing: that is what is judged, and what a person is shown. Only
//! then is [`Plan::run`] called.

pub mod arguments;
mod ask;
mod change;
mod content;
mod diff;
mod doc;
mod edit;
mod fetch;
mod glob;
mod grep;
mod job;
mod list;
mod output;
mod paths;
mod read;
pub(crate) mod replace;
mod shell;
mod team;
#[cfg(test)]
pub(crate) mod testing;
mod walk;
mod write;

pub use ask::{ASK, Asked, asked};
pub use change::{Probe, probe, target};
pub use job::{JOB, JOBS};
pub use shell::{Ran, run_command};
pub use team::{DELEGATE, LEAD, OF_SUBAGENTS};

use super::port::{Blobs, Documents, Jobs, Team};
use crate::domain::permission::Action;
use crate::domain::settings::Limits;
use crate::domain::{Effect, Part, ToolCallState};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio_util::sync::CancellationToken;

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name, such as `read`.
    pub name: &'static str,
    /// What it does and when to use it; short, tokens cost money.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Arc<Value>,
    /// How long that schema is as text.
    pub schema_bytes: usize,
    /// What a crash in the middle of it means; what changes nothing may run beside others.
    pub effect: Effect,
}

/// What an agent last saw of files, by path: their SHA-256.
pub type Seen = BTreeMap<PathBuf, String>;

/// What a tool works with.
#[derive(Clone)]
pub struct ToolContext {
    /// The Task's folder, links resolved: relative paths start here.
    pub cwd: PathBuf,
    /// The agent's own working area: writing here is always inside.
    pub own: PathBuf,
    /// Whether the person trusts the folder.
    pub trusted: bool,
    /// What the agent last saw of files: their hash when it read or wrote them.
    pub seen: Arc<Seen>,
    /// Limits of output and time.
    pub limits: Limits,
    /// Where whole outputs and pictures are kept.
    pub blobs: Arc<dyn Blobs>,
    /// The Jobs of the Task.
    pub jobs: Arc<dyn Jobs>,
    /// The other agents of the Task.
    pub team: Arc<dyn Team>,
    /// The shared documents that the agent may know.
    pub documents: Arc<dyn Documents>,
    /// Cancelled when the call must stop at once.
    pub cancel: CancellationToken,
    /// Takes output while it comes, for the screen only.
    pub live: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A call that was checked and not yet run.
pub struct Plan {
    /// What would happen.
    pub action: Action,
    /// SHA-256 of what is there now, for effects that can be looked up (`-` where nothing is).
    pub pre_hash: Option<String>,
    /// SHA-256 of what will be there after.
    pub post_hash: Option<String>,
    /// The file whose hash those are.
    pub target: Option<PathBuf>,
    /// What is done when its host died in the middle of it.
    pub again: Again,
    /// Does it.
    pub run: Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Outcome> + Send>,
}

/// What is done with a call whose host died in the middle of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// Whether it was done is looked up by its hashes.
    Probe,
    /// What it began goes on, and running the call takes it up.
    TakeUp,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// `Done`, `Error` or `Cancelled`.
    pub state: ToolCallState,
    /// What the model sees, already within the limits.
    pub parts: Vec<Part>,
    /// SHA-256 of the file that was looked at, so that a later change of it is noticed.
    pub saw: Option<String>,
}

/// Arguments that can't be run; the text tells the model what is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCall(pub String);

/// A tool.
pub trait Tool: Send + Sync {
    /// What a model is told of it.
    fn spec(&self) -> &ToolSpec;
    /// Checks the arguments and says what would happen. Touches nothing.
    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>>;
}

impl Outcome {
    /// Words, and how it ended.
    pub fn text(state: ToolCallState, text: impl Into<String>) -> Self {
        Self { state, parts: vec![Part::text(text)], saw: None }
    }
    /// It was done.
    pub fn done(text: impl Into<String>) -> Self {
        Self::text(ToolCallState::Done, text)
    }
    /// It failed; the text says why and what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self::text(ToolCallState::Error, text)
    }
    /// It was stopped; the text holds what there was until then.
    pub fn cancelled(text: impl Into<String>) -> Self {
        Self::text(ToolCallState::Cancelled, text)
    }
}

/// Every tool there is.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(shell::Shell),
        Arc::new(read::Read),
        Arc::new(write::Write),
        Arc::new(edit::Edit),
        Arc::new(list::List),
        Arc::new(glob::Glob),
        Arc::new(grep::Grep),
        Arc::new(fetch::Fetch),
        Arc::new(ask::Ask),
        Arc::new(job::JobTool),
        Arc::new(job::JobsTool),
        Arc::new(team::Delegate),
        Arc::new(team::Lead),
        Arc::new(team::ReportTool),
        Arc::new(team::Decide),
        Arc::new(team::TellTool),
        Arc::new(doc::Doc),
    ]
}

/// The tools that a model is told of once there is something to use them on: every request pays
/// for every tool.
pub const LATER: [&str; 2] = [LEAD, JOBS];

/// Finds a tool by its name.
pub fn find(name: &str) -> Option<Arc<dyn Tool>> {
    all().into_iter().find(|tool| tool.spec().name == name)
}

/// Builds a plan of something that leaves nothing to look up.
fn plan<F>(action: Action, run: impl FnOnce(ToolContext) -> F + Send + 'static) -> Plan
where
    F: Future<Output = Outcome> + Send + 'static,
{
    let run = Box::new(move |ctx| -> BoxFuture<'static, Outcome> { Box::pin(run(ctx)) });
    Plan { action, pre_hash: None, post_hash: None, target: None, again: Again::Probe, run }
}

/// Plans away from the async threads, where files have to be looked at.
async fn planning(
    ctx: &ToolContext,
    work: impl FnOnce(&ToolContext) -> Result<Plan, BadCall> + Send + 'static,
) -> Result<Plan, BadCall> {
    let ctx = ctx.clone();
    let planned = tokio::task::spawn_blocking(move || work(&ctx)).await;
    planned.unwrap_or_else(|error| Err(BadCall(broke_off(&error))))
}

/// Does work that blocks away from the async threads. Cancelling returns at once; the work is told
/// by its own copy of the token and changes nothing, so it may end when it notices.
async fn looking(ctx: ToolContext, work: impl FnOnce(&ToolContext) -> Outcome + Send + 'static) -> Outcome {
    let cancel = ctx.cancel.clone();
    tokio::select! {
        biased;
        () = cancel.cancelled() => Outcome::cancelled("stopped before it was done"),
        outcome = off_thread(ctx, work) => outcome,
    }
}

/// Does work that blocks and must not be left half done.
async fn off_thread(ctx: ToolContext, work: impl FnOnce(&ToolContext) -> Outcome + Send + 'static) -> Outcome {
    match tokio::task::spawn_blocking(move || work(&ctx)).await {
        Ok(outcome) => outcome,
        Err(error) => Outcome::error(broke_off(&error)),
    }
}

/// Unix milliseconds, now.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

fn broke_off(error: &tokio::task::JoinError) -> String {
    format!("BUG: the tool broke off: {error}")
}

#[cfg(test)]
mod tests;
