//! What is asked of the store and what it answers: the same types from the query to the screen.

use super::event::Recorded;
use super::ids::*;
use super::records::*;
use serde::{Deserialize, Serialize};

/// A question to the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "query", rename_all = "snake_case")]
pub enum Query {
    /// Tasks, newest change first; archived ones only with `all`.
    Tasks { all: bool },
    /// One Task with its objective, acceptance and agents.
    Task { task: TaskId },
    /// The newest rows of an agent's context before a row, oldest first.
    Transcript { agent: AgentId, before: Option<u64>, limit: u32 },
    /// The open messages of a Task, or of all, and the newest `settled` of those that are consumed,
    /// withdrawn or undelivered; oldest first.
    Messages { task: Option<TaskId>, settled: u32 },
    /// One message.
    Message { message: MessageId },
    /// What a person sent in any Task, each text once, the newest `limit` of them, oldest first.
    Sent { limit: u32 },
    /// Approvals; `open` means pending only.
    Approvals { task: Option<TaskId>, open: bool },
    /// Questions to the person; `open` means unanswered only.
    Questions { task: Option<TaskId>, open: bool },
    /// Standing rules.
    Rules,
    /// Events after a number, oldest first, of one Task or of everything.
    Events { task: Option<TaskId>, after: Seq, limit: u32 },
    /// Completes a prefix of an id, whatever it names.
    Resolve { prefix: String },
    /// What the person said about a folder.
    Trust { folder: Folder },
    /// The unsent text of a client's pane.
    Draft { client: String, pane: String },
    /// A blob's bytes, in part.
    Blob { blob: String, offset: u64, limit: u32 },
    /// Jobs, newest first, of one Task or of all; those that have ended only with `ended`.
    Jobs { task: Option<TaskId>, ended: bool },
    /// One Job, with what it uses.
    Job { job: JobId },
    /// Lines of a Job's log.
    JobLog { job: JobId, errors: bool, from: LogPlace, lines: u32 },
    /// Lines of a Job's log in which something is found, from an offset on.
    JobSearch { job: JobId, errors: bool, pattern: String, regex: bool, from: u64, limit: u32 },
    /// Resources, the newest change first: all, or those that a Task may know.
    Resources { task: Option<TaskId> },
    /// One Resource.
    Resource { resource: ResourceId },
    /// Revisions of a Resource before one, the newest first.
    Revisions { resource: ResourceId, before: Option<u64>, limit: u32 },
    /// Candidates, the newest first; those that are settled only without `open`.
    Candidates { resource: Option<ResourceId>, open: bool },
    /// One Candidate.
    Candidate { candidate: CandidateId },
    /// The bytes of a part of a content, in part; of its first part where none is named.
    Content { of: ContentOf, part: Option<String>, offset: u64, limit: u32 },
    /// Which revision wrote each line, or each element.
    Blame { resource: ResourceId, revision: Option<u64> },
    /// Every broken invariant.
    Doctor { deep: bool },
    /// How the host is.
    Host,
}

/// An answer of the store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", content = "value", rename_all = "snake_case")]
pub enum Answer {
    Tasks(Vec<Task>),
    Task(Box<TaskDetail>),
    Transcript(TranscriptPage),
    Messages(Vec<Message>),
    Message(Box<Message>),
    Sent(Vec<String>),
    Approvals(Vec<Approval>),
    Questions(Vec<Question>),
    Rules(Vec<Rule>),
    Events(Vec<Recorded>),
    /// The full id.
    Resolved(String),
    Trust(Option<Trust>),
    Draft(Option<String>),
    Blob(BlobSlice),
    Jobs(Vec<JobView>),
    Job(Box<JobView>),
    JobLog(LogPage),
    Resources(Vec<Resource>),
    Resource(Box<Resource>),
    Revisions(Vec<Revision>),
    Candidates(Vec<Candidate>),
    Candidate(Box<Candidate>),
    Content(ContentSlice),
    Blame(Vec<Blame>),
    Doctor(DoctorReport),
    Host(HostStatus),
}

/// A Task with what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskDetail {
    /// The Task, `waiting_for` filled in.
    #[serde(flatten)]
    pub task: Task,
    /// The newest wording of its objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Objective>,
    /// Its points of acceptance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Their judgements, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verdicts: Vec<Verdict>,
    /// Its agents.
    pub agents: Vec<Agent>,
    /// What was given to Subagents, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegated: Vec<Delegated>,
    /// Main's live Run, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The request of Main that is under way: what it took in can't be taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<ModelCallId>,
    /// The last settled boundary of Main: where it would resume from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Tokens that the next request would send, as far as is known.
    pub context_tokens: u64,
    /// The last event that this answer includes.
    pub seq: Seq,
}

/// A piece of work that was given to a Subagent, with all that came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Delegated {
    /// The assignment.
    #[serde(flatten)]
    pub assignment: Assignment,
    /// Its Contribution, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution: Option<Contribution>,
    /// What it asked to be decided, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<DecisionRequest>,
    /// The live Run of its Subagent, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The calls of its Subagent that have no result yet, in the order they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The beginning of what it said last.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
}

/// Some rows of a context, with what is known of their calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TranscriptPage {
    /// The rows, oldest first.
    pub rows: Vec<Row>,
    /// The tool calls of those rows.
    pub calls: Vec<ToolCall>,
    /// The messages that are those rows.
    pub messages: Vec<Message>,
    /// Whether older rows exist.
    pub more: bool,
    /// The last event that this answer includes.
    pub seq: Seq,
}

/// Part of a blob.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlobSlice {
    /// How large the whole is.
    pub size: u64,
    /// The bytes, base64.
    pub base64: String,
}

/// A Job with what is seen of it now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobView {
    /// The Job.
    #[serde(flatten)]
    pub job: Job,
    /// What is seen of it.
    pub seen: JobSeen,
}

/// What is seen of a Job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JobSeen {
    /// How many bytes it has printed.
    pub log_bytes: u64,
    /// When it printed something last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output_at: Option<Millis>,
    /// The last line it printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_line: Option<String>,
    /// How much of the whole is done, between 0 and 1, as its output tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// How long it says that it will take, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_s: Option<u64>,
    /// The processor time it uses, in percent of one, since it was looked at last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// The memory it has resident, with everything that it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// How many processes it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<usize>,
    /// How often a person typed in its terminal.
    pub typed: usize,
}

/// A place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogPlace {
    /// From a byte on.
    Offset(u64),
    /// From a time on.
    Time(Millis),
    /// The last lines.
    Tail,
    /// The lines before a byte.
    Before(u64),
}

/// Lines of a log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LogPage {
    /// The first byte that is kept.
    pub start: u64,
    /// How many bytes there are, dropped ones included.
    pub end: u64,
    /// The first byte that the lines hold.
    pub from: u64,
    /// The byte after the lines.
    pub to: u64,
    /// The lines, oldest first.
    pub lines: Vec<LogLine>,
}

/// A line of a log, as it is shown: nothing in it drives a terminal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// Where it begins.
    pub offset: u64,
    /// When it came, to a quarter of a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Millis>,
    /// What kind of line.
    pub kind: LogLineKind,
    /// Its text; of a gap, what is missing and why.
    pub text: String,
}

words! {
    /// What a line of a log is.
    LogLineKind {
        /// A whole line.
        Whole = "whole",
        /// The last one, which may go on.
        Open = "open",
        /// Something is missing here.
        Gap = "gap" }
}

/// Which content is meant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentOf {
    /// That of a revision; of the one that stands where no number is given.
    Revision { resource: ResourceId, number: Option<u64> },
    /// That of a Candidate.
    Candidate(CandidateId),
}

/// Part of a part of a content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ContentSlice {
    /// The revision, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Every part of the content.
    pub parts: Vec<PartInfo>,
    /// The part that the bytes are of.
    pub part: String,
    /// The bytes, base64.
    pub base64: String,
}

/// A part of a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartInfo {
    /// Its name.
    pub name: String,
    /// What it is.
    pub media_type: String,
    /// How large.
    pub size: u64,
}

/// Who wrote a run of lines, or an element.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blame {
    /// How many lines; 0 for an element.
    pub lines: usize,
    /// The element; empty for lines.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub element: String,
    /// The revision that wrote it.
    pub revision: u64,
    /// Who wrote that.
    pub actor: Actor,
    /// When.
    pub at: Millis,
}

/// What `doctor` found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// Broken invariants.
    pub faults: Vec<Finding>,
    /// Things that deserve a look.
    pub warnings: Vec<Finding>,
    /// How many events, rows and Tasks were looked at.
    pub events: u64,
    /// Rows of context.
    pub rows: u64,
    /// Tasks.
    pub tasks: u64,
}

/// One thing `doctor` found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable code, such as `F09`.
    pub code: String,
    /// What kind of record.
    pub entity: String,
    /// Which one.
    pub id: String,
    /// What is wrong.
    pub detail: String,
    /// How to mend it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// How the host is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostStatus {
    /// Its process id.
    pub pid: u32,
    /// The program's version.
    pub version: String,
    /// Its ownership number.
    pub fence: Fence,
    /// The last recorded event.
    pub seq: Seq,
    /// Attached clients.
    pub clients: u32,
    /// What keeps it from leaving: `run`, `main_due`, ….
    pub needs: Vec<Waiting>,
    /// When it started.
    pub started_at: Millis,
}

/// What a carried out command gives back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Receipt {
    /// The last event that came of it, or of its first time.
    pub seq: Seq,
    /// The Task it was about or made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The message it queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The Job it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// What came of an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<EditReceipt>,
}

/// What came of an edit of a Resource.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EditReceipt {
    /// The Resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<ResourceId>,
    /// The revision it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The Candidate it is kept as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<CandidateId>,
    /// The recorded intent, where an engine has to be asked first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<EngineIntentId>,
    /// What the adapter says of its effect; only the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl EditReceipt {
    /// Takes in what an event says of an edit: its kind and what it is about.
    pub fn take(edit: &mut Option<Self>, kind: &str, entity: &str) {
        match (kind, entity.split_once('@')) {
            ("resource_created", _) => {
                let edit = edit.get_or_insert_default();
                edit.resource = Some(ResourceId(entity.to_owned()));
                edit.revision = Some(0);
            }
            ("revision_committed", Some((resource, number))) => {
                let edit = edit.get_or_insert_default();
                edit.resource = Some(ResourceId(resource.to_owned()));
                edit.revision = number.parse().ok();
            }
            ("engine_asked", _) => edit.get_or_insert_default().intent = Some(EngineIntentId(entity.to_owned())),
            ("candidate_kept", _) => edit.get_or_insert_default().candidate = Some(CandidateId(entity.to_owned())),
            _ => {}
        }
    }
}

/// What is shown while it happens and never stored: it may be dropped at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "transient", rename_all = "snake_case")]
pub enum Transient {
    /// Words of an answer that is being given. `at` is how many bytes came before them in this
    /// part, so that a client that joins late can be given the whole tail first.
    Text { task: TaskId, agent: AgentId, call: ModelCallId, at: u64, text: String },
    /// Thinking of an answer that is being given.
    Thinking { task: TaskId, agent: AgentId, call: ModelCallId, at: u64, text: String },
    /// A tool call that is being written: its name, and how many bytes of arguments there are.
    CallForming { task: TaskId, agent: AgentId, call: ModelCallId, ix: u32, name: String, bytes: u64 },
    /// Output of a tool that is running.
    ToolOutput { task: TaskId, agent: AgentId, call: ToolCallId, text: String },
    /// Why nothing can be saved right now and the Task stands still, and what to do; it goes on, and
    /// an event says so, as soon as it can.
    Unsaved { task: TaskId, why: String },
}

impl Transient {
    /// The agent that does it.
    pub fn agent(&self) -> Option<&AgentId> {
        match self {
            Self::Text { agent, .. }
            | Self::Thinking { agent, .. }
            | Self::CallForming { agent, .. }
            | Self::ToolOutput { agent, .. } => Some(agent),
            Self::Unsaved { .. } => None,
        }
    }

    /// The Task it belongs to.
    pub fn task(&self) -> &TaskId {
        match self {
            Self::Text { task, .. }
            | Self::Thinking { task, .. }
            | Self::CallForming { task, .. }
            | Self::ToolOutput { task, .. }
            | Self::Unsaved { task, .. } => task,
        }
    }
}
