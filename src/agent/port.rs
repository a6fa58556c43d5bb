//! What an agent's loop needs from outside, as one trait: the runtime implements it.

use super::running::{Line, Listener, Ran};
use crate::domain::*;
use crate::resources::{Content, EngineFailure, EngineRequest, Evaluated, Registry};
use futures_util::future::BoxFuture;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The door through which an agent changes state and looks at it.
pub trait Port: Send + Sync + 'static {
    /// Submits commands that share a commit, in their order, and returns when they are on disk, or
    /// refused: one that is refused takes nobody along.
    fn submit(&self, commands: Vec<RunCommand>) -> BoxFuture<'_, Result<Vec<Carried>, Rejection>>;
    /// The live part of the agent's Task.
    fn look(&self) -> BoxFuture<'_, Result<Snapshot, Rejection>>;
    /// The rows of the agent's context with these numbers.
    fn rows(&self, seqs: Range<u64>) -> BoxFuture<'_, Result<Vec<Row>, Rejection>>;
    /// The last calls of the agent that read or changed a file, newest first.
    fn calls_on_files(&self) -> BoxFuture<'_, Result<Vec<ToolCall>, Rejection>>;
    /// Where blobs are kept.
    fn blobs(&self) -> Arc<dyn Blobs>;
    /// The Jobs of the agent's Task, to be acted on as the effect of a call.
    fn jobs(&self, run: &RunId, call: &ToolCallId) -> Arc<dyn Jobs>;
    /// The Subagents of the agent's Task, and whoever gave it its work, as a call reaches them.
    fn team(&self, run: &RunId, call: &ToolCallId) -> Arc<dyn Team>;
    /// The Resources that the agent may know, to be acted on as the effect of a call.
    fn documents(&self, run: &RunId, call: &ToolCallId) -> Arc<dyn Documents>;
    /// Shows something that is not stored.
    fn show(&self, transient: Transient);
    /// What the user configured, as of now.
    fn settings(&self) -> Arc<Settings>;
    /// Where this agent works.
    fn place(&self) -> BoxFuture<'_, Result<Place, Rejection>>;
    /// Unix milliseconds, now.
    fn now(&self) -> i64;
}

/// What became of a command: refused, or carried out, with what the agent's Task is like then.
pub type Carried = Result<Option<Box<Snapshot>>, Rejection>;

/// How far a Job is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobPhase {
    /// It runs, or could not be started.
    Started,
    /// It has ended.
    Ended,
}

/// The Jobs of one Task, and no others.
pub trait Jobs: Send + Sync + 'static {
    /// Does something with one, as the effect of the call; gives the Job that it made.
    fn act(&self, deed: JobDeed) -> BoxFuture<'_, Result<Option<JobId>, Rejection>>;
    /// All of them, newest first.
    fn list(&self) -> BoxFuture<'_, Result<Vec<JobView>, Rejection>>;
    /// One, with what it uses.
    fn view<'a>(&'a self, job: &'a JobId) -> BoxFuture<'a, Result<JobView, Rejection>>;
    /// Lines of its output.
    fn log<'a>(&'a self, job: &'a JobId, place: LogPlace, lines: u32) -> BoxFuture<'a, Result<LogPage, Rejection>>;
    /// Lines of its output in which a pattern is found.
    fn search<'a>(
        &'a self,
        job: &'a JobId,
        pattern: String,
        from: u64,
        lines: u32,
    ) -> BoxFuture<'a, Result<LogPage, Rejection>>;
    /// Runs a line for the call, while somebody listens. Where the call has begun to run it before,
    /// as one whose host died, it is taken up as it is, and heard from its beginning.
    fn run<'a>(&'a self, line: Line, listener: &'a mut dyn Listener) -> BoxFuture<'a, Result<Ran, Rejection>>;
    /// Whether the call has begun to run something.
    fn has_begun(&self) -> BoxFuture<'_, bool>;
    /// Waits for a phase of it, at most so long, and no longer than until the agent has a message.
    fn wait<'a>(&'a self, job: &'a JobId, phase: JobPhase, most: Duration)
    -> BoxFuture<'a, Result<JobView, Rejection>>;
}

/// What is looked for in a Task while a call waits.
pub type Over<'a> = &'a (dyn Fn(&Snapshot) -> bool + Send + Sync);

/// The agents of one Task, as a call of one of them reaches the others.
pub trait Team: Send + Sync + 'static {
    /// Whose call it is.
    fn agent(&self) -> &AgentId;
    /// In which Run.
    fn run(&self) -> &RunId;
    /// Which call.
    fn call(&self) -> &ToolCallId;
    /// Submits a command and returns when it is on disk, or refused.
    fn submit(&self, command: RunCommand) -> BoxFuture<'_, Result<(), Rejection>>;
    /// The live part of the Task.
    fn look(&self) -> BoxFuture<'_, Result<Snapshot, Rejection>>;
    /// All that was given to Subagents of the Task so far, oldest first.
    fn delegated(&self) -> BoxFuture<'_, Result<Vec<Delegated>, Rejection>>;
    /// Returns when `over` holds or at `until`, whichever comes first.
    fn wait<'a>(&'a self, over: Over<'a>, until: Option<Millis>) -> BoxFuture<'a, Result<Snapshot, Rejection>>;
    /// Lets the fallback of a decision hold whose time is over.
    fn expire<'a>(&'a self, decision: &'a DecisionId) -> BoxFuture<'a, Result<(), Rejection>>;
}

/// A content that was opened.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The Resource.
    pub resource: Resource,
    /// The revision; of a Candidate, the one it was made on.
    pub revision: u64,
    /// The Candidate, where it is one.
    pub candidate: Option<Candidate>,
    /// The content.
    pub content: Content,
}

/// The Resources that one agent may know, and no others.
pub trait Documents: Send + Sync + 'static {
    /// The kinds there are.
    fn registry(&self) -> Registry;
    /// The agent's Task.
    fn task(&self) -> TaskId;
    /// All of them, the newest change first.
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, Rejection>>;
    /// Opens a content of one.
    fn open(&self, of: ContentOf) -> BoxFuture<'_, Result<Opened, Rejection>>;
    /// Its last revisions, the newest first.
    fn history(&self, resource: ResourceId) -> BoxFuture<'_, Result<Vec<Revision>, Rejection>>;
    /// What is proposed for one, the newest first.
    fn candidates(&self, resource: ResourceId) -> BoxFuture<'_, Result<Vec<Candidate>, Rejection>>;
    /// Asks the engine of a kind, to look at something.
    fn ask(&self, request: EngineRequest, parts: Content) -> BoxFuture<'_, Result<Evaluated, EngineFailure>>;
    /// Does something with one, as the effect of the call; done twice it is done once.
    fn act(&self, deed: ResourceDeed<Change>) -> BoxFuture<'_, Result<EditReceipt, Rejection>>;
}

/// Where an agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The Task's folder, links resolved.
    pub cwd: PathBuf,
    /// The agent's own working area.
    pub own: PathBuf,
    /// Whether the person trusts the folder's configuration and instructions.
    pub trusted: bool,
}

/// Bulk bytes that rows point to, named by their SHA-256 in hex.
pub trait Blobs: Send + Sync + 'static {
    /// Keeps bytes, on disk when this returns, and gives their name.
    fn put(&self, bytes: &[u8]) -> std::io::Result<String>;
    /// Keeps everything that can be read from `source`, which may be larger than memory should
    /// hold: where blobs are files, this is to be implemented without holding it whole.
    fn put_from(&self, source: &mut dyn std::io::Read) -> std::io::Result<String> {
        let mut bytes = Vec::new();
        source.read_to_end(&mut bytes)?;
        self.put(&bytes)
    }
    /// Reads up to `limit` bytes from `offset`; the size of the whole comes with them.
    fn get(&self, name: &str, offset: u64, limit: usize) -> std::io::Result<(u64, Vec<u8>)>;
}
