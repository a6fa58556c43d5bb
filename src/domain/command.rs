//! What can be asked for. Every change of state, whoever wants it, is one of these.
//!
//! Three kinds by who may send them: people ([`UserCommand`], the only kind the protocol carries),
//! the agent loop ([`RunCommand`]) and the runtime's own clocks and recovery ([`SystemCommand`]).

pub mod resource;

use super::ids::*;
use super::permission::{Action, Policy};
use super::records::*;
use resource::{Change, ResourceCommand, ResourceDeed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A command with everything that deciding may not look up: who, when, and fresh ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// Sent twice under one id, it is carried out once and answered alike.
    pub id: CommandId,
    /// When it was taken.
    pub at: Millis,
    /// Who wants it.
    pub actor: Actor,
    /// Where new ids come from.
    pub seed: [u8; 16],
    /// What is wanted.
    pub command: Command,
}

/// Any command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Command {
    /// From a person.
    User(UserCommand),
    /// From an agent's loop.
    Run(RunCommand),
    /// From the runtime.
    System(SystemCommand),
    /// A deed with a Resource, by anybody.
    Resource(ResourceCommand),
}

impl From<UserCommand> for Command {
    fn from(command: UserCommand) -> Self {
        Self::User(command)
    }
}
impl From<RunCommand> for Command {
    fn from(command: RunCommand) -> Self {
        Self::Run(command)
    }
}
impl From<ResourceCommand> for Command {
    fn from(command: ResourceCommand) -> Self {
        Self::Resource(command)
    }
}
impl From<SystemCommand> for Command {
    fn from(command: SystemCommand) -> Self {
        Self::System(command)
    }
}

/// What a person can ask for, from a screen or the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum UserCommand {
    /// Begin a Task; with a `message` its Main starts at once and the message is the objective.
    CreateTask {
        /// Empty: made from the message.
        title: String,
        cwd: Option<String>,
        model: Option<String>,
        policy: Policy,
        budget: Budget,
        /// The first words to Main.
        message: Option<String>,
        /// Points of acceptance: how each is judged, and its words.
        checks: Vec<(CheckKind, String)>,
    },
    /// Say something to Main; an ended Task goes on.
    SendMessage { task: TaskId, text: String, refs: Vec<String>, delivery: Delivery },
    /// Change the words of a message that is still queued.
    EditMessage { task: TaskId, message: MessageId, text: String },
    /// Have a message that is still queued enter before or after the one beside it.
    MoveMessage { task: TaskId, message: MessageId, to: Move },
    /// Say when a message that is still queued may enter the context.
    SetDelivery { task: TaskId, message: MessageId, delivery: Delivery },
    /// Take back a message that is still queued.
    WithdrawMessage { task: TaskId, message: MessageId },
    /// Stop the current step; what was produced is kept.
    Interrupt { task: TaskId },
    /// Stop at the next boundary until told to go on.
    Pause { task: TaskId },
    /// Go on: after a pause, a failure, or a budget that was raised.
    Resume { task: TaskId },
    /// End the Task and everything that runs for it.
    Cancel { task: TaskId },
    /// Give it another name.
    Rename { task: TaskId, title: String },
    /// Put it away, or take it out again.
    Archive { task: TaskId, archived: bool },
    /// Remove it and everything kept for it.
    Remove { task: TaskId },
    /// Give the objective a new wording.
    SetObjective { task: TaskId, text: String },
    /// Agree a point of acceptance.
    AddCheck { task: TaskId, kind: CheckKind, text: String },
    /// Judge a point of acceptance.
    GiveVerdict { task: TaskId, check: CheckId, outcome: CheckState, evidence: Value },
    /// Use another model from the next turn on; absent means the configured default.
    SetModel { task: TaskId, model: Option<String> },
    /// Change what is possible and when a person is asked.
    SetPolicy { task: TaskId, policy: Policy },
    /// Change the limits.
    SetBudget { task: TaskId, budget: Budget },
    /// Answer an approval. `shown` is the hash of what was on the person's screen.
    DecideApproval {
        task: TaskId,
        approval: ApprovalId,
        shown: String,
        answer: ApprovalAnswer,
        because: Option<String>,
    },
    /// Answer a question of an agent.
    AnswerQuestion { task: TaskId, question: QuestionId, answer: String },
    /// Say something to a Subagent; Main is told of it.
    Guide { task: TaskId, agent: AgentId, text: String },
    /// Stop a Subagent and what it handed on.
    CancelAgent { task: TaskId, agent: AgentId },
    /// Answer a Subagent's decision request.
    AnswerDecision { task: TaskId, decision: DecisionId, answer: String },
    /// Accept a Contribution, refuse it, or send it back.
    Review { task: TaskId, contribution: ContributionId, verdict: ReviewVerdict, because: Option<String> },
    /// Say whether a folder's configuration and instructions may be used.
    TrustFolder { folder: Folder, trusted: bool },
    /// Take a standing rule back.
    RemoveRule { rule: RuleId },
    /// Do something with a Job.
    Job { deed: JobDeed },
    /// Let the command that Main runs go on as a Job, and its call return; where Main runs none,
    /// those of its Subagents.
    Background { task: TaskId },
    /// Do something with a Resource.
    Resource { deed: ResourceDeed<Change> },
}

/// What can be done with Jobs, by whoever may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum JobDeed {
    /// Start one, for a Task or for nobody but the person.
    Start { task: Option<TaskId>, definition: Box<JobDefinition> },
    /// Make one of what the call runs just now: it goes on as it is.
    Keep { definition: Box<JobDefinition> },
    /// Let one read something; afterwards, perhaps, the end of its input.
    Send { job: JobId, text: String, close: bool },
    /// Signal the processes in its foreground.
    Signal { job: JobId, signal: i32 },
    /// Tell one to end: TERM, and KILL after the grace.
    Stop { job: JobId, grace_ms: u64 },
    /// Start one again under the same definition, when it has ended.
    Restart { job: JobId, grace_ms: u64 },
    /// Take away everything that is kept of one that has ended.
    Remove { job: JobId },
}

impl JobDeed {
    /// The Job it is about, where there is one already.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::Start { .. } | Self::Keep { .. } => None,
            Self::Send { job, .. }
            | Self::Signal { job, .. }
            | Self::Stop { job, .. }
            | Self::Restart { job, .. }
            | Self::Remove { job } => Some(job),
        }
    }
}

/// What was found out about a Job by those who look after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub enum JobReport {
    /// Its command runs.
    Started { process: JobProcess },
    /// Its shim is gone and its command runs on.
    Orphaned { note: String },
    /// It printed what was watched for; the log was looked through between the two places.
    Matched { from: u64, through: u64, count: u64, line: String },
    /// Something of it is not as it should be.
    Breached { breach: String, text: String },
    /// It has ended.
    Ended { state: JobState, end: JobEnd },
}

words! {
    /// Which way a queued message is moved.
    Move {
        /// Before the one that enters before it.
        Earlier = "earlier",
        /// After the one that enters after it.
        Later = "later" }
    /// What a person says to an approval.
    ApprovalAnswer {
        /// Yes, this one time.
        Once = "once",
        /// Yes, and from now on for exactly this in this folder.
        Always = "always",
        /// No, this time.
        Deny = "deny",
        /// No, and from now on for exactly this in this folder.
        Never = "never" }
}

words! {
    /// What a reviewer says to a Contribution.
    ReviewVerdict {
        /// It is taken as it is; its Subagent is retired.
        Accept = "accept",
        /// It is not used; its Subagent is retired.
        Reject = "reject",
        /// The same Subagent works on it again.
        Rework = "rework" }
}

/// What an agent's loop reports and asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum RunCommand {
    /// A request is about to be sent: deliver what is queued, and record it.
    BeginTurn { run: RunId, call: ModelCallId, model: String },
    /// The model answered, whole or cut. Cut answers have no calls.
    CommitTurn { run: RunId, call: ModelCallId, parts: Vec<Part>, calls: Vec<PlannedCall>, usage: Usage, cut: bool },
    /// The request failed. With `retry_at` it will be sent again, to the same model or to one `instead`.
    FailTurn {
        run: RunId,
        call: ModelCallId,
        class: String,
        message: String,
        retry_at: Option<Millis>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead: Option<String>,
    },
    /// May this call run? Starts it, asks a person, or settles it as denied.
    StartTool { run: RunId, call: ToolCallId, action: Action, pre_hash: Option<String>, post_hash: Option<String> },
    /// The call has its result.
    SettleTool { run: RunId, call: ToolCallId, state: ToolCallState, parts: Vec<Part>, saw: Option<String> },
    /// The call asks the person.
    AskPerson { run: RunId, call: ToolCallId, question: String, options: Vec<String>, meanwhile: String },
    /// Agree points of acceptance, or record a judgement, as the call's effect.
    GiveVerdict { run: RunId, check: CheckId, outcome: CheckState, evidence: Value },
    /// Give a part of the Task to a new Subagent; the same call gives it once.
    Delegate { run: RunId, call: ToolCallId, mode: DelegationMode, name: String, objective: String, contract: Contract },
    /// The Subagent's work is done: its Run ends with its Contribution. `call` is the call that says so.
    Report { run: RunId, call: Option<ToolCallId>, report: Report },
    /// Say something to a Subagent of one's own, or to one that works beside.
    Tell { run: RunId, call: ToolCallId, to: AgentId, text: String, refs: Vec<String> },
    /// Ask who gave the work to decide, until a deadline.
    RequestDecision { run: RunId, call: ToolCallId, question: String, fallback: String, wait_ms: u64 },
    /// Answer a decision request of a Subagent of one's own.
    AnswerDecision { run: RunId, decision: DecisionId, answer: String },
    /// Stop a Subagent of one's own.
    CancelAgent { run: RunId, agent: AgentId },
    /// Review a Contribution.
    Review { run: RunId, contribution: ContributionId, verdict: ReviewVerdict, because: Option<String> },
    /// Nothing can go on until a person acts, or the Task is no longer paused.
    Suspend { run: RunId, reason: String },
    /// Do something with a Job of the Task, as the call's effect.
    Job { run: RunId, call: ToolCallId, deed: JobDeed },
    /// A model found a title for the Task, in place of the first words of what was asked.
    NameTask { run: RunId, task: TaskId, title: String, instead_of: String, usage: Usage },
    /// The Run is over.
    End { run: RunId, reason: EndReason, detail: Option<String> },
}

/// A tool call as the model asked for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The id the server gave it.
    pub provider_id: String,
    /// The tool.
    pub name: String,
    /// The arguments, as text.
    pub arguments: String,
    /// What a crash in the middle of it means.
    pub effect: Effect,
}

/// What the runtime does by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum SystemCommand {
    /// Become the one owner, and take over or release what the last one held, in one step.
    TakeOver { owner: Owner },
    /// Start or resume an agent: it has work.
    StartRun { task: TaskId, agent: AgentId },
    /// The time for a decision is over: its fallback holds.
    ExpireDecision { task: TaskId, decision: DecisionId },
    /// Record what was found out about a Job.
    Job { job: JobId, report: JobReport },
}

impl Command {
    /// The Task the command is about, where there is one already.
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::User(command) => match command {
                UserCommand::CreateTask { .. }
                | UserCommand::TrustFolder { .. }
                | UserCommand::RemoveRule { .. }
                | UserCommand::Resource { .. } => None,
                UserCommand::Job { deed: JobDeed::Start { task, .. } } => task.as_ref(),
                UserCommand::Job { .. } => None,
                UserCommand::SendMessage { task, .. }
                | UserCommand::EditMessage { task, .. }
                | UserCommand::MoveMessage { task, .. }
                | UserCommand::SetDelivery { task, .. }
                | UserCommand::WithdrawMessage { task, .. }
                | UserCommand::Interrupt { task }
                | UserCommand::Pause { task }
                | UserCommand::Resume { task }
                | UserCommand::Cancel { task }
                | UserCommand::Rename { task, .. }
                | UserCommand::Archive { task, .. }
                | UserCommand::Remove { task }
                | UserCommand::SetObjective { task, .. }
                | UserCommand::AddCheck { task, .. }
                | UserCommand::GiveVerdict { task, .. }
                | UserCommand::SetModel { task, .. }
                | UserCommand::SetPolicy { task, .. }
                | UserCommand::SetBudget { task, .. }
                | UserCommand::DecideApproval { task, .. }
                | UserCommand::AnswerQuestion { task, .. }
                | UserCommand::Guide { task, .. }
                | UserCommand::CancelAgent { task, .. }
                | UserCommand::AnswerDecision { task, .. }
                | UserCommand::Review { task, .. }
                | UserCommand::Background { task } => Some(task),
            },
            Self::Run(_) => None,
            Self::Resource(command) => match &command.deed {
                ResourceDeed::Create { task, .. } => task.as_ref(),
                _ => None,
            },
            Self::System(command) => match command {
                SystemCommand::TakeOver { .. } | SystemCommand::Job { .. } => None,
                SystemCommand::StartRun { task, .. } | SystemCommand::ExpireDecision { task, .. } => Some(task),
            },
        }
    }

    /// The Job the command is about, where there is one already.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::User(UserCommand::Job { deed }) | Self::Run(RunCommand::Job { deed, .. }) => deed.job(),
            Self::System(SystemCommand::Job { job, .. }) => Some(job),
            Self::User(_) | Self::Run(_) | Self::System(_) | Self::Resource(_) => None,
        }
    }

    /// The Run the command is about.
    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(command) => Some(command.run()),
            Self::Resource(command) => command.run.as_ref(),
            Self::User(_) | Self::System(_) => None,
        }
    }
}

impl RunCommand {
    /// The Run it is about.
    pub fn run(&self) -> &RunId {
        match self {
            Self::BeginTurn { run, .. }
            | Self::CommitTurn { run, .. }
            | Self::FailTurn { run, .. }
            | Self::StartTool { run, .. }
            | Self::SettleTool { run, .. }
            | Self::AskPerson { run, .. }
            | Self::GiveVerdict { run, .. }
            | Self::Delegate { run, .. }
            | Self::Report { run, .. }
            | Self::Tell { run, .. }
            | Self::RequestDecision { run, .. }
            | Self::AnswerDecision { run, .. }
            | Self::CancelAgent { run, .. }
            | Self::Review { run, .. }
            | Self::Suspend { run, .. }
            | Self::Job { run, .. }
            | Self::NameTask { run, .. }
            | Self::End { run, .. } => run,
        }
    }
}
