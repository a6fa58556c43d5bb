//! The words for states and kinds, and the transitions between them.
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
//! | assignment | queued · running · blocked · completed* · failed* · cancelled* |
//! | Contribution | unreviewed · accepted* · rejected* · superseded* |
//! | decision request | open · answered* · fallback_used* · cancelled* |
//! | check | open · passed · failed · waived |
//! | control | requested · applied* · moot* |
//! | Job | starting · running · stopping · exited* · signaled* · failed_to_start* · cancelled* · uncertain* (its words stand in `job.rs`) |

use serde::{Deserialize, Serialize};

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
        /// Can be looked up, by content hash or by what was kept of it: probe, then decide.
        Reconcilable = "reconcilable",
        /// Changes the world in ways we can't look up: report it as uncertain.
        Effectful = "effectful" }
    /// The state of an approval.
    ApprovalState { Pending = "pending", Allowed = "allowed", Denied = "denied", Expired = "expired", Cancelled = "cancelled" }
    /// The state of a question to the person.
    QuestionState { Open = "open", Answered = "answered", Cancelled = "cancelled" }
    /// The state of an assignment.
    AssignmentState { Queued = "queued", Running = "running", Blocked = "blocked",
        Completed = "completed", Failed = "failed", Cancelled = "cancelled" }
    /// How a delegation returns.
    DelegationMode {
        /// Its Contribution is the result of the call.
        Sync = "sync",
        /// The call returns at once, and the Contribution comes as a message.
        Async = "async" }
    /// How an assignment came out.
    Outcome { Completed = "completed", Partial = "partial", Failed = "failed", Cancelled = "cancelled" }
    /// What became of a Contribution.
    ReviewState { Unreviewed = "unreviewed", Accepted = "accepted", Rejected = "rejected", Superseded = "superseded" }
    /// The state of a decision request.
    DecisionState { Open = "open", Answered = "answered", FallbackUsed = "fallback_used", Cancelled = "cancelled" }
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

impl AssignmentState {
    /// Whether it has its Contribution.
    pub fn is_ended(self) -> bool {
        match self {
            Self::Completed | Self::Failed | Self::Cancelled => true,
            Self::Queued | Self::Running | Self::Blocked => false,
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
