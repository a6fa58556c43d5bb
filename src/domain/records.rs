//! What there is: Tasks, agents, Runs, rows of context, messages, calls, approvals, questions.
//!
//! The same structs are the rows the store answers with, what the protocol carries and what
//! `--json` prints, so their field names are a contract (snake_case, `*_at` in Unix milliseconds).
//!
//! States and their transitions (first is initial, `*` ends):
//!
//! | record | states |
//! |---|---|
//! | Task | active · parked · paused · awaiting_human · completed · failed · cancelled (the last three reopen when a person writes again) |
//! | Run | running · interrupted · completed* · failed* · cancelled* |
//! | message | queued · delivered · consumed* · undelivered* · coalesced* · withdrawn* |
//! | model call | started · committed* · failed* · abandoned* |
//! | tool call | planned · awaiting_approval · approved · running · done* · error* · uncertain* · cancelled* · denied* |
//! | approval | pending · allowed* · denied* · expired* · cancelled* |
//! | question | open · answered* · cancelled* |
//! | check | open · passed · failed · waived |
//! | control | requested · applied* · moot* |

use super::ids::*;
use super::permission::Policy;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Declares an enum whose variants are words used alike on screen, in JSON and in the database.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }
        impl $name {
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];
            /// The word used on screen, in JSON and in the database.
            pub fn as_str(self) -> &'static str { match self { $(Self::$variant => $word),+ } }
        }
        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(word: &str) -> Result<Self, String> {
                match word {
                    $($word => Ok(Self::$variant),)+
                    other => Err(format!("unknown {} `{other}` (one of: {})", stringify!($name), [$($word),+].join(", "))),
                }
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.as_str()) }
        }
    )+};
}
pub(crate) use words;

words! {
    /// The state of a Task.
    TaskStatus { Active = "active", Parked = "parked", AwaitingHuman = "awaiting_human", Paused = "paused",
        Completed = "completed", Failed = "failed", Cancelled = "cancelled" }
    /// The state of a Run.
    RunState { Running = "running", Interrupted = "interrupted", Completed = "completed", Failed = "failed", Cancelled = "cancelled" }
    /// The state of a message.
    MessageState { Queued = "queued", Delivered = "delivered", Consumed = "consumed", Undelivered = "undelivered",
        Coalesced = "coalesced", Withdrawn = "withdrawn" }
    /// What a message is about.
    MessageKind { User = "user", Guidance = "guidance", Peer = "peer", Contribution = "contribution",
        DecisionRequest = "decision_request", DecisionAnswer = "decision_answer", Question = "question", Answer = "answer",
        Job = "job", Source = "source", Timer = "timer", Resource = "resource", Notice = "notice" }
    /// When a queued message may enter the context.
    Delivery {
        /// At the next decision boundary, between two model calls.
        Boundary = "boundary",
        /// After the agent has given its final answer.
        TurnEnd = "turn_end" }
    /// The state of a request to a model.
    ModelCallState { Started = "started", Committed = "committed", Failed = "failed", Abandoned = "abandoned" }
    /// The state of a tool call.
    ToolCallState { Planned = "planned", AwaitingApproval = "awaiting_approval", Approved = "approved", Running = "running",
        Done = "done", Error = "error", Uncertain = "uncertain", Cancelled = "cancelled", Denied = "denied" }
    /// What a crash in the middle of a tool call means.
    Effect {
        /// Changes nothing: run it again.
        Pure = "pure",
        /// Doing it twice is doing it once: run it again.
        Idempotent = "idempotent",
        /// Can be looked up by content hash: probe, then decide.
        Reconcilable = "reconcilable",
        /// Changes the world in ways we can't look up: report it as uncertain.
        Effectful = "effectful" }
    /// The state of an approval.
    ApprovalState { Pending = "pending", Allowed = "allowed", Denied = "denied", Expired = "expired", Cancelled = "cancelled" }
    /// The state of a question to the person.
    QuestionState { Open = "open", Answered = "answered", Cancelled = "cancelled" }
    /// The state of a point of acceptance.
    CheckState { Open = "open", Passed = "passed", Failed = "failed", Waived = "waived" }
    /// How a point of acceptance is judged.
    CheckKind { Command = "command", Test = "test", Artifact = "artifact", Person = "person", Outside = "outside" }
    /// The state of a control.
    ControlState { Requested = "requested", Applied = "applied", Moot = "moot" }
    /// Who an agent is in its Task.
    AgentRole { Main = "main", Subagent = "subagent" }
    /// Whose words a row of context is.
    Role { System = "system", User = "user", Assistant = "assistant", Tool = "tool" }
    /// What kind of actor did something.
    ActorKind { Person = "person", Agent = "agent", Job = "job", Source = "source", File = "file", System = "system" }
    /// Why a Run ended.
    EndReason {
        /// The agent gave its final answer.
        Finished = "finished",
        /// A person pressed Esc or said so.
        Interrupted = "interrupted",
        /// The Task was cancelled.
        Cancelled = "cancelled",
        /// A budget ran out.
        Budget = "budget",
        /// The model or its server failed for good.
        Model = "model",
        /// A fault of ours.
        Internal = "internal" }
}

impl TaskStatus {
    /// Whether the Task is over until a person writes again.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Active | Self::Parked | Self::AwaitingHuman | Self::Paused => false,
        }
    }
}

impl RunState {
    /// Whether the Run is over.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Running | Self::Interrupted => false,
        }
    }
}

impl ToolCallState {
    /// Whether the call has its result.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Done | Self::Error | Self::Uncertain | Self::Cancelled | Self::Denied => true,
            Self::Planned | Self::AwaitingApproval | Self::Approved | Self::Running => false,
        }
    }
}

impl Effect {
    /// Whether a call of this kind changes something, and so runs alone and in its order.
    pub fn changes_something(self) -> bool {
        match self {
            Self::Pure | Self::Idempotent => false,
            Self::Reconcilable | Self::Effectful => true,
        }
    }
}

/// Whoever can act or be named as a cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Actor {
    /// What kind of actor.
    pub kind: ActorKind,
    /// Its id; an agent's is its agent id, the local person's is `person`.
    pub id: String,
}

impl Actor {
    /// The person at this machine.
    pub fn person() -> Self {
        Self { kind: ActorKind::Person, id: "person".into() }
    }
    /// The runtime itself.
    pub fn system() -> Self {
        Self { kind: ActorKind::System, id: "system".into() }
    }
    /// An agent.
    pub fn agent(id: &AgentId) -> Self {
        Self { kind: ActorKind::Agent, id: id.0.clone() }
    }
    /// The actor of an id: its letter tells its kind.
    pub fn of(id: &str) -> Self {
        let kind = match id.split_once('_') {
            Some(("a", _)) => ActorKind::Agent,
            Some(("j", _)) => ActorKind::Job,
            Some(("s", _)) => ActorKind::Source,
            Some(("f", _)) => ActorKind::File,
            _ if id == "system" => ActorKind::System,
            _ => ActorKind::Person,
        };
        Self { kind, id: id.to_owned() }
    }
}

/// A process that owns the state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Random, one for each host process.
    pub holder: String,
    /// The machine's name, for a person to read.
    pub host: String,
    /// Its process id; an identity only together with the next two.
    pub pid: u32,
    /// When that process started, in the kernel's count.
    pub pid_start: u64,
    /// Which boot of the machine that was.
    pub boot_id: String,
}

/// What has been used up: counted by the runtime, never by the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Model turns.
    pub turns: u64,
    /// Tokens sent, as the server counted them.
    pub input_tokens: u64,
    /// Of those, tokens the server had cached.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// Millionths of a US dollar; absent when no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "usd", with = "usd")]
    pub micro_usd: Option<i64>,
    /// Milliseconds in which a Run was running.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub run_ms: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Writes money as dollars for people and programs; keeps it as whole millionths inside.
mod usd {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    pub fn serialize<S: Serializer>(micro: &Option<i64>, s: S) -> Result<S::Ok, S::Error> {
        micro.map(|m| m as f64 / 1e6).serialize(s)
    }
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<i64>, D::Error> {
        Ok(Option::<f64>::deserialize(d)?.map(|usd| (usd * 1e6).round() as i64))
    }
}

impl Usage {
    /// Adds another count; money stays unknown only while no part of it is known.
    pub fn add(&mut self, other: &Usage) {
        self.turns += other.turns;
        self.input_tokens += other.input_tokens;
        self.cached_tokens += other.cached_tokens;
        self.output_tokens += other.output_tokens;
        self.run_ms += other.run_ms;
        self.micro_usd = match (self.micro_usd, other.micro_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0) + b.unwrap_or(0)),
        };
    }
}

/// Limits that the runtime enforces; absent means unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Model turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u64>,
    /// Tokens, sent and received together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Seconds in which a Run was running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micro_usd: Option<i64>,
}

impl Budget {
    /// Names the first budget that is used up, with both numbers, or nothing.
    pub fn exhausted_by(&self, used: &Usage) -> Option<String> {
        let tokens = used.input_tokens + used.output_tokens;
        if let Some(limit) = self.turns.filter(|limit| used.turns >= *limit) {
            return Some(format!("turns: {} of {limit} used", used.turns));
        }
        if let Some(limit) = self.tokens.filter(|limit| tokens >= *limit) {
            return Some(format!("tokens: {tokens} of {limit} used"));
        }
        if let Some(limit) = self.seconds.filter(|limit| used.run_ms >= limit.saturating_mul(1000)) {
            return Some(format!("seconds: {} of {limit} used", used.run_ms / 1000));
        }
        let spent = used.micro_usd.unwrap_or(0);
        if let Some(limit) = self.micro_usd.filter(|limit| spent >= *limit) {
            return Some(format!("usd: {:.4} of {:.4} used", spent as f64 / 1e6, limit as f64 / 1e6));
        }
        None
    }
}

/// Something a Task waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// `approval`, `question`, `run`, `check`, …
    pub kind: String,
    /// Its id.
    pub id: String,
    /// What it is, one line.
    pub text: String,
}

/// What the user wants done and everything kept for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// A short name.
    pub title: String,
    /// Its state.
    pub status: TaskStatus,
    /// Why it is in that state, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What `paused` goes back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_status: Option<TaskStatus>,
    /// Put away; not listed unless asked for.
    pub archived: bool,
    /// The folder it works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its model, `PROVIDER:NAME`; absent means the configured default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is possible, and when a person is asked.
    pub policy: Policy,
    /// Its limits.
    #[serde(default)]
    pub budget: Budget,
    /// The newest version of the objective; 0 means there is none yet.
    pub objective_version: u32,
    /// What it has used.
    #[serde(default)]
    pub usage: Usage,
    /// The agent that answers for it.
    pub main: AgentId,
    /// What it waits for; filled in by queries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_for: Vec<Waiting>,
    /// When it began.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
}

/// One wording of the objective.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objective {
    /// Whose.
    pub task: TaskId,
    /// 1, 2, 3 …
    pub version: u32,
    /// The words.
    pub text: String,
    /// Who set it.
    pub actor: Actor,
    /// When.
    pub at: Millis,
}

/// A point to be met before the Task is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its id.
    pub id: CheckId,
    /// Whose.
    pub task: TaskId,
    /// The objective it was agreed under.
    pub objective_version: u32,
    /// How it is judged.
    pub kind: CheckKind,
    /// What must hold, in words; for `command` and `test` the command itself.
    pub text: String,
    /// Its state; only a person waives, and `failed` still blocks.
    pub state: CheckState,
    /// How often it was judged as failed.
    #[serde(default)]
    pub failures: u32,
    /// How far Main's context reached when it was last judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_through: Option<u64>,
    /// When it was agreed.
    pub created_at: Millis,
}

/// A judgement of a point of acceptance, with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Its id.
    pub id: VerdictId,
    /// What was judged.
    pub check: CheckId,
    /// The judgement: passed, failed or waived.
    pub outcome: CheckState,
    /// What it rests on: command, exit code, output, or a person's words.
    pub evidence: Value,
    /// How far Main's context reached then.
    pub through_seq: u64,
    /// Who judged.
    pub actor: Actor,
    /// When.
    pub at: Millis,
}

/// An agent: one conversation with a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: AgentId,
    /// Its Task.
    pub task: TaskId,
    /// Main or Subagent.
    pub role: AgentRole,
    /// The number the next row of its context will have.
    pub next_seq: u64,
    /// The first row that is sent to the model verbatim.
    pub tail_from_seq: u64,
    /// The last row, as far as deciding needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<LastRow>,
    /// Failed requests in a row since the last row was saved.
    #[serde(default)]
    pub failures: u32,
    /// Not before this time may the model be asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Millis>,
    /// When it began.
    pub created_at: Millis,
    /// When it was retired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<Millis>,
}

/// What deciding needs to know of the last row of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastRow {
    /// Whose words.
    pub role: Role,
    /// How many calls it asked for.
    pub calls: u32,
    /// Whether it was cut short.
    pub cut: bool,
}

/// One execution of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Its Task.
    pub task: TaskId,
    /// Its agent.
    pub agent: AgentId,
    /// Its state.
    pub state: RunState,
    /// The ownership under which it runs.
    pub fence: Fence,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_reason: Option<EndReason>,
    /// What there is to say about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// When it was last started or resumed.
    pub started_at: Millis,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

/// A piece of a row of context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// Words the model thought and did not say.
    Thinking {
        /// The words.
        text: String,
        /// What the server needs to see again to accept them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A picture, kept as a blob.
    Image {
        /// Such as `image/png`.
        media_type: String,
        /// SHA-256 of the bytes, in hex: its name under `blobs/`.
        blob: String,
        /// What it is called.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
    },
    /// A call the assistant asked for; its record is the tool call of that id.
    Call {
        /// The call.
        id: ToolCallId,
        /// The id the server gave it.
        provider_id: String,
        /// The tool.
        name: String,
        /// The arguments, as text: they may not be valid JSON.
        arguments: String,
    },
}

impl Part {
    /// A part of plain words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// One row of an agent's saved context.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Its number within the agent's context, from 1.
    pub seq: u64,
    /// Whose words.
    pub role: Role,
    /// What it holds.
    pub parts: Vec<Part>,
    /// The message it delivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<MessageId>,
    /// The call it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCallId>,
    /// The answer was cut short.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// How large it is for the model: counted or estimated.
    #[serde(default)]
    pub tokens: u64,
    /// When it was saved.
    pub at: Millis,
}

impl Row {
    /// The words of the row, without thinking, joined.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            if let Part::Text { text } = part {
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(text);
            }
        }
        out
    }
    /// How many calls the row asks for.
    pub fn calls(&self) -> u32 {
        self.parts.iter().filter(|part| matches!(part, Part::Call { .. })).count() as u32
    }
    /// What deciding needs to know of it.
    pub fn last(&self) -> LastRow {
        LastRow { role: self.role, calls: self.calls(), cut: self.cut }
    }
}

/// A message in somebody's Inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Its Task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Whose Inbox it is in.
    pub to: Actor,
    /// Who sent it.
    pub from: Actor,
    /// What it is about.
    pub kind: MessageKind,
    /// Names the fact, never the attempt: a fact is told once.
    pub key: String,
    /// When it may enter the context.
    pub delivery: Delivery,
    /// Its place among the messages that wait in the same Inbox.
    pub order: u64,
    /// The words.
    pub text: String,
    /// Files and records it points at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
    /// Its state.
    pub state: MessageState,
    /// Why it was not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The row of the recipient's context that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_seq: Option<u64>,
    /// The row that first answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed_seq: Option<u64>,
    /// The ownership it was delivered under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    /// When it was queued.
    pub created_at: Millis,
    /// When it entered the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Millis>,
    /// When it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed_at: Option<Millis>,
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// Its id.
    pub id: ModelCallId,
    /// Who asked.
    pub agent: AgentId,
    /// In which Run.
    pub run: RunId,
    /// `turn`, later also `compact`, `analysis` …
    pub purpose: String,
    /// Its state.
    pub state: ModelCallState,
    /// The ownership under which it was sent.
    pub fence: Fence,
    /// The model, `PROVIDER:NAME`.
    pub model: String,
    /// The last row that was sent.
    pub through_seq: u64,
    /// The row that came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_seq: Option<u64>,
    /// The class of failure, such as `overloaded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_class: Option<String>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// When it was sent.
    pub started_at: Millis,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

/// One tool call of an assistant row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id; the idempotency key of its effect.
    pub id: ToolCallId,
    /// Whose call.
    pub agent: AgentId,
    /// In which Run it was planned.
    pub run: RunId,
    /// The row that asked for it.
    pub assistant_seq: u64,
    /// Its place among the calls of that row, from 0.
    pub ix: u32,
    /// The id the server gave it.
    pub provider_id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as text: they may not be valid JSON.
    pub arguments: String,
    /// What a crash in the middle of it means.
    pub effect: Effect,
    /// SHA-256 of what was there before, for effects that can be looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_hash: Option<String>,
    /// SHA-256 of what will be there after, for effects that can be looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_hash: Option<String>,
    /// Its state.
    pub state: ToolCallState,
    /// The ownership under which it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    /// The row that holds its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result_seq: Option<u64>,
    /// When it was planned.
    pub created_at: Millis,
    /// When it began to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Millis>,
    /// When it was settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
}

/// A person's yes or no to one exact action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// In which Task.
    pub task: TaskId,
    /// Who asks.
    pub agent: AgentId,
    /// For which call.
    pub tool_call: ToolCallId,
    /// What would be done, whole, as it would run.
    pub action: super::permission::Action,
    /// SHA-256 in hex of exactly what is shown.
    pub action_hash: String,
    /// Why a person is asked.
    pub why: String,
    /// Its state.
    pub state: ApprovalState,
    /// What the person added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<Actor>,
    /// When it was asked.
    pub created_at: Millis,
    /// When it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_at: Option<Millis>,
}

/// A question to the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its id.
    pub id: QuestionId,
    /// In which Task.
    pub task: TaskId,
    /// Who asks.
    pub agent: AgentId,
    /// By which call.
    pub tool_call: ToolCallId,
    /// The words.
    pub question: String,
    /// Answers to choose from; empty means free text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// What happens while nobody answers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meanwhile: String,
    /// Its state.
    pub state: QuestionState,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// When it was asked.
    pub created_at: Millis,
    /// When it was answered or dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<Millis>,
}

/// A standing answer to approvals of one shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// The folder it holds in; it never reaches further.
    pub cwd: String,
    /// Yes or no.
    pub allow: bool,
    /// The tool.
    pub tool: String,
    /// Exactly what it covers: the command, the path or the host.
    pub subject: String,
    /// The approval it came from.
    pub approval: ApprovalId,
    /// Who decided.
    pub actor: Actor,
    /// When.
    pub created_at: Millis,
}

/// A request to stop something at once; not a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// Its id.
    pub id: ControlId,
    /// In which Task.
    pub task: TaskId,
    /// The Run it stops.
    pub run: RunId,
    /// `interrupt`.
    pub action: String,
    /// Who asked.
    pub actor: Actor,
    /// Its state.
    pub state: ControlState,
    /// When.
    pub created_at: Millis,
}

/// A settled boundary to resume from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its id.
    pub id: CheckpointId,
    /// Whose.
    pub agent: AgentId,
    /// In which Run.
    pub run: RunId,
    /// The last row covered; every call up to it has settled.
    pub through_seq: u64,
    /// The first row that is sent verbatim.
    pub tail_from_seq: u64,
    /// When.
    pub created_at: Millis,
}

/// A folder as the file system knows it: the key of trust.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Folder {
    /// Its path with every link resolved.
    pub path: String,
    /// The device it is on.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// The user id of its owner.
    pub owner: u32,
}

/// What the person said about a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// The folder.
    pub folder: Folder,
    /// Whether its configuration and instructions may be used.
    pub trusted: bool,
    /// When it was said.
    pub at: Millis,
}
