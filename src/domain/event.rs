//! What can have happened. Everything a projection needs stands in the event.
//!
//! Events are recorded in the order of `seq`, are never changed, and are the only way in which
//! rows change: the store projects them to rows, the screen folds them into what it shows.

use super::ids::*;
use super::permission::Policy;
use super::records::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One fact. The serde tag is the name stored in the database and shown by `cowork events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A host took the state over; `fence` is its number.
    TakenOver { fence: Fence, owner: Owner },
    /// A Task began, with its Main.
    TaskCreated { task: Task, agent: Agent },
    /// A Task got another name.
    TaskRenamed {
        title: String,
        /// What finding it used, where a model found it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The objective got a new version.
    ObjectiveSet { version: u32, text: String },
    /// A point of acceptance was agreed.
    CheckAdded { check: Check },
    /// A point of acceptance was judged.
    VerdictGiven { verdict: Verdict },
    /// A Task changed its state.
    TaskStatusChanged {
        status: TaskStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resume_status: Option<TaskStatus>,
    },
    /// A Task got another model; absent means the configured default.
    TaskModelSet { model: Option<String> },
    /// What is possible, or when a person is asked, changed.
    TaskPolicySet { policy: Policy },
    /// A Task's limits changed.
    TaskBudgetSet { budget: Budget },
    /// A Task was put away or taken out again.
    TaskArchived { archived: bool },
    /// A Task and everything kept for it was removed; recorded outside the Task.
    TaskRemoved { removed: TaskId, title: String },

    /// A message was put into an Inbox.
    MessageQueued { message: Message },
    /// Its sender changed its words before it was delivered.
    MessageEdited { message: MessageId, text: String },
    /// It has another place among those that wait.
    MessageMoved { message: MessageId, order: u64 },
    /// It may enter the context at another time.
    MessageDeliverySet { message: MessageId, delivery: Delivery },
    /// Its sender took it back before it was delivered.
    MessageWithdrawn { message: MessageId },
    /// It became a row of its recipient's context.
    MessageDelivered { message: MessageId, agent: AgentId, run: RunId, row: Row },
    /// Its recipient is gone.
    MessageUndelivered { message: MessageId, reason: String },
    /// Its delivery now holds under the new owner's fence.
    MessageHeld { message: MessageId, fence: Fence },

    /// A Run began, or was resumed.
    RunStarted { run: Run, resumed: bool, woken_by: Vec<MessageId> },
    /// A Run stands still until something happens.
    RunSuspended { run: RunId, reason: String, ran_ms: u64 },
    /// A Run is over.
    RunEnded {
        run: RunId,
        state: RunState,
        reason: EndReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
        ran_ms: u64,
    },

    /// A request went to a model.
    TurnStarted { call: ModelCall },
    /// The model answered; the row is saved, and the messages it answers are consumed.
    TurnCommitted { call: ModelCallId, agent: AgentId, row: Row, usage: Usage, consumed: Vec<MessageId> },
    /// The request failed; with `retry_at` it is sent again, without it that was all.
    TurnFailed {
        call: ModelCallId,
        agent: AgentId,
        class: String,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Millis>,
        /// The model that goes on in place of this one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead: Option<String>,
    },
    /// The request was given up: its host died, or its Run was stopped before it had said anything.
    TurnAbandoned { call: ModelCallId, agent: AgentId, reason: String },

    /// The assistant asked for a tool call.
    ToolPlanned { call: ToolCall },
    /// The call was checked and runs.
    ToolStarted {
        call: ToolCallId,
        fence: Fence,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pre_hash: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        post_hash: Option<String>,
    },
    /// The call was in flight when its host died, and may be taken up again.
    ToolRequeued { call: ToolCallId, fence: Fence },
    /// A person wants what the call runs to go on as a Job.
    BackgroundAsked { call: ToolCallId },
    /// The call has its result; `row` is the row that holds it.
    ToolSettled {
        call: ToolCallId,
        agent: AgentId,
        state: ToolCallState,
        row: Row,
        /// SHA-256 of the file that was looked at.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        saw: Option<String>,
    },

    /// A person is asked to allow one exact action.
    ApprovalRequested { approval: Approval },
    /// A person, or a standing rule, decided.
    ApprovalDecided {
        approval: ApprovalId,
        call: ToolCallId,
        state: ApprovalState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided_by: Option<Actor>,
    },
    /// An answer became a standing rule.
    RuleAdded { rule: Rule },
    /// A standing rule was taken back.
    RuleRemoved { rule: RuleId },

    /// The person is asked something.
    QuestionAsked { question: Question },
    /// The question was answered, or dropped without an answer.
    QuestionResolved {
        question: QuestionId,
        state: QuestionState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },

    /// A part of the Task was given to a Subagent; `agent` is the Subagent, where it is new.
    AssignmentGiven {
        assignment: Assignment,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Agent>,
    },
    /// Work on an assignment began, waits for a decision, or goes on.
    AssignmentMoved { assignment: AssignmentId, state: AssignmentState },
    /// Its giver waits for it no longer; its Contribution will come as a message.
    AssignmentReleased { assignment: AssignmentId },
    /// An assignment ended with what came of it.
    ContributionMade { contribution: Contribution, state: AssignmentState },
    /// A Contribution was accepted, refused or superseded.
    ContributionReviewed {
        contribution: ContributionId,
        state: ReviewState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
    },
    /// A Subagent will do nothing more.
    AgentRetired { agent: AgentId },
    /// A Subagent asks for a decision.
    DecisionAsked { decision: DecisionRequest },
    /// It was answered, its time is over, or nobody needs it any more.
    DecisionResolved {
        decision: DecisionId,
        state: DecisionState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    },

    /// Somebody asked to stop something at once.
    ControlRequested { control: Control },
    /// The request to stop took effect, or there was nothing left to stop.
    ControlSettled { control: ControlId, state: ControlState },

    /// A Job was asked for: from now on it is started once, whatever happens.
    JobCreated { job: Job },
    /// A Job's command runs.
    JobStarted { job: JobId, process: JobProcess },
    /// A Job's shim is gone and its command runs on.
    JobOrphaned { job: JobId, note: String },
    /// A Job is given something to read.
    JobInputSent { job: JobId, bytes: u64, closed: bool },
    /// A Job is signalled.
    JobSignalSent { job: JobId, signal: i32 },
    /// A Job is told to end.
    JobStopRequested { job: JobId, stop: JobStop },
    /// A Job printed what was watched for.
    JobMatched { job: JobId, through: u64, count: u64, line: String },
    /// Something of a Job is not as was stated to be normal.
    JobBreached { job: JobId, breach: String, text: String },
    /// A Job has ended.
    JobSettled { job: JobId, state: JobState, end: JobEnd },
    /// Everything that was kept of a Job is taken away; recorded outside its Task.
    JobRemoved { job: JobId },

    /// A Resource was made, with its first revision.
    ResourceCreated { resource: Resource, first: Revision },
    /// A Resource has its next revision.
    RevisionCommitted { revision: Revision },
    /// A proposal is kept apart.
    CandidateKept { candidate: Candidate },
    /// Its author worked on it.
    CandidateRevised { candidate: CandidateId, made: Made },
    /// Something became of it, or the Resource went on without it.
    CandidateMoved {
        candidate: CandidateId,
        state: CandidateState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        because: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rebased_to: Option<CandidateId>,
    },
    /// A Resource got another name.
    ResourceRenamed { resource: ResourceId, name: String },
    /// A Resource was tied to a file, or to none.
    ResourceMirrored { resource: ResourceId, mirror: Option<String> },
    /// The file of a Resource holds a revision, or can't.
    MirrorLooked {
        resource: ResourceId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        revision: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    },
    /// Somebody knows a revision.
    ResourceSeen { by: Actor, resource: ResourceId, revision: u64 },
    /// Somebody selected something, or nothing any more.
    ResourceSelected { resource: ResourceId, selection: Option<Selection> },
    /// Everything that was kept of a Resource is taken away; recorded outside its Task.
    ResourceRemoved { resource: ResourceId, name: String },
    /// An engine is asked for an edit.
    EngineAsked { intent: EngineIntent },
    /// It answered, or nobody knows how far it came.
    EngineAnswered { intent: EngineIntentId, state: EngineState, outcome: Value },

    /// Everything up to a row is settled: a Run can resume from here.
    CheckpointSaved { checkpoint: Checkpoint },

    /// The person said whether a folder's configuration and instructions may be used.
    FolderTrustSet { trust: Trust },
}

impl Event {
    /// The stored name of the event, such as `turn_committed`.
    pub fn kind(&self) -> &'static str {
        self.facts().0
    }

    /// What kind of record the event is about, and its id.
    pub fn entity(&self) -> (&'static str, String) {
        let (_, entity, id) = self.facts();
        (entity, id)
    }

    /// Whether the Task was worked on; a new owner that takes messages over does not, nor does looking.
    pub fn is_work(&self) -> bool {
        !matches!(self, Self::MessageHeld { .. } | Self::ResourceSeen { .. } | Self::ResourceSelected { .. })
    }

    /// The agent whose own step it is: what it was told, asked, answered and did.
    pub fn stepper(&self) -> Option<&AgentId> {
        match self {
            Self::RunStarted { run, .. } => Some(&run.agent),
            Self::TurnStarted { call } => Some(&call.agent),
            Self::ToolPlanned { call } => Some(&call.agent),
            Self::MessageDelivered { agent, .. }
            | Self::TurnCommitted { agent, .. }
            | Self::TurnFailed { agent, .. }
            | Self::TurnAbandoned { agent, .. }
            | Self::ToolSettled { agent, .. } => Some(agent),
            _ => None,
        }
    }

    fn facts(&self) -> (&'static str, &'static str, String) {
        match self {
            Self::TakenOver { owner, .. } => ("taken_over", "host", owner.holder.clone()),
            Self::TaskCreated { task, .. } => ("task_created", "task", task.id.0.clone()),
            Self::TaskRenamed { .. } => ("task_renamed", "task", String::new()),
            Self::ObjectiveSet { version, .. } => ("objective_set", "objective", version.to_string()),
            Self::CheckAdded { check } => ("check_added", "check", check.id.0.clone()),
            Self::VerdictGiven { verdict } => ("verdict_given", "check", verdict.check.0.clone()),
            Self::TaskStatusChanged { .. } => ("task_status_changed", "task", String::new()),
            Self::TaskModelSet { .. } => ("task_model_set", "task", String::new()),
            Self::TaskPolicySet { .. } => ("task_policy_set", "task", String::new()),
            Self::TaskBudgetSet { .. } => ("task_budget_set", "task", String::new()),
            Self::TaskArchived { .. } => ("task_archived", "task", String::new()),
            Self::TaskRemoved { removed, .. } => ("task_removed", "task", removed.0.clone()),
            Self::MessageQueued { message } => ("message_queued", "message", message.id.0.clone()),
            Self::MessageEdited { message, .. } => ("message_edited", "message", message.0.clone()),
            Self::MessageMoved { message, .. } => ("message_moved", "message", message.0.clone()),
            Self::MessageDeliverySet { message, .. } => ("message_delivery_set", "message", message.0.clone()),
            Self::MessageWithdrawn { message } => ("message_withdrawn", "message", message.0.clone()),
            Self::MessageDelivered { message, .. } => ("message_delivered", "message", message.0.clone()),
            Self::MessageUndelivered { message, .. } => ("message_undelivered", "message", message.0.clone()),
            Self::MessageHeld { message, .. } => ("message_held", "message", message.0.clone()),
            Self::RunStarted { run, .. } => ("run_started", "run", run.id.0.clone()),
            Self::RunSuspended { run, .. } => ("run_suspended", "run", run.0.clone()),
            Self::RunEnded { run, .. } => ("run_ended", "run", run.0.clone()),
            Self::TurnStarted { call } => ("turn_started", "model_call", call.id.0.clone()),
            Self::TurnCommitted { call, .. } => ("turn_committed", "model_call", call.0.clone()),
            Self::TurnFailed { call, .. } => ("turn_failed", "model_call", call.0.clone()),
            Self::TurnAbandoned { call, .. } => ("turn_abandoned", "model_call", call.0.clone()),
            Self::ToolPlanned { call } => ("tool_planned", "tool_call", call.id.0.clone()),
            Self::ToolStarted { call, .. } => ("tool_started", "tool_call", call.0.clone()),
            Self::ToolRequeued { call, .. } => ("tool_requeued", "tool_call", call.0.clone()),
            Self::BackgroundAsked { call } => ("background_asked", "tool_call", call.0.clone()),
            Self::ToolSettled { call, .. } => ("tool_settled", "tool_call", call.0.clone()),
            Self::ApprovalRequested { approval } => ("approval_requested", "approval", approval.id.0.clone()),
            Self::ApprovalDecided { approval, .. } => ("approval_decided", "approval", approval.0.clone()),
            Self::RuleAdded { rule } => ("rule_added", "rule", rule.id.0.clone()),
            Self::RuleRemoved { rule } => ("rule_removed", "rule", rule.0.clone()),
            Self::QuestionAsked { question } => ("question_asked", "question", question.id.0.clone()),
            Self::QuestionResolved { question, .. } => ("question_resolved", "question", question.0.clone()),
            Self::AssignmentGiven { assignment, .. } => ("assignment_given", "assignment", assignment.id.0.clone()),
            Self::AssignmentMoved { assignment, .. } => ("assignment_moved", "assignment", assignment.0.clone()),
            Self::AssignmentReleased { assignment } => ("assignment_released", "assignment", assignment.0.clone()),
            Self::ContributionMade { contribution, .. } => {
                ("contribution_made", "contribution", contribution.id.0.clone())
            }
            Self::ContributionReviewed { contribution, .. } => {
                ("contribution_reviewed", "contribution", contribution.0.clone())
            }
            Self::AgentRetired { agent } => ("agent_retired", "agent", agent.0.clone()),
            Self::DecisionAsked { decision } => ("decision_asked", "decision", decision.id.0.clone()),
            Self::DecisionResolved { decision, .. } => ("decision_resolved", "decision", decision.0.clone()),
            Self::ControlRequested { control } => ("control_requested", "control", control.id.0.clone()),
            Self::ControlSettled { control, .. } => ("control_settled", "control", control.0.clone()),
            Self::JobCreated { job } => ("job_created", "job", job.id.0.clone()),
            Self::JobStarted { job, .. } => ("job_started", "job", job.0.clone()),
            Self::JobOrphaned { job, .. } => ("job_orphaned", "job", job.0.clone()),
            Self::JobInputSent { job, .. } => ("job_input_sent", "job", job.0.clone()),
            Self::JobSignalSent { job, .. } => ("job_signal_sent", "job", job.0.clone()),
            Self::JobStopRequested { job, .. } => ("job_stop_requested", "job", job.0.clone()),
            Self::JobMatched { job, .. } => ("job_matched", "job", job.0.clone()),
            Self::JobBreached { job, .. } => ("job_breached", "job", job.0.clone()),
            Self::JobSettled { job, .. } => ("job_settled", "job", job.0.clone()),
            Self::JobRemoved { job } => ("job_removed", "job", job.0.clone()),
            Self::ResourceCreated { resource, .. } => ("resource_created", "resource", resource.id.0.clone()),
            Self::RevisionCommitted { revision } => {
                ("revision_committed", "revision", format!("{}@{}", revision.resource, revision.number))
            }
            Self::CandidateKept { candidate } => ("candidate_kept", "candidate", candidate.id.0.clone()),
            Self::CandidateRevised { candidate, .. } => ("candidate_revised", "candidate", candidate.0.clone()),
            Self::CandidateMoved { candidate, .. } => ("candidate_moved", "candidate", candidate.0.clone()),
            Self::ResourceRenamed { resource, .. } => ("resource_renamed", "resource", resource.0.clone()),
            Self::ResourceMirrored { resource, .. } => ("resource_mirrored", "resource", resource.0.clone()),
            Self::MirrorLooked { resource, .. } => ("mirror_looked", "resource", resource.0.clone()),
            Self::ResourceSeen { resource, .. } => ("resource_seen", "resource", resource.0.clone()),
            Self::ResourceSelected { resource, .. } => ("resource_selected", "resource", resource.0.clone()),
            Self::ResourceRemoved { resource, .. } => ("resource_removed", "resource", resource.0.clone()),
            Self::EngineAsked { intent } => ("engine_asked", "engine_intent", intent.id.0.clone()),
            Self::EngineAnswered { intent, .. } => ("engine_answered", "engine_intent", intent.0.clone()),
            Self::CheckpointSaved { checkpoint } => ("checkpoint_saved", "checkpoint", checkpoint.id.0.clone()),
            Self::FolderTrustSet { trust } => ("folder_trust_set", "folder", trust.folder.path.clone()),
        }
    }
}

/// An event as it was recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Its place in the order of everything.
    pub seq: Seq,
    /// When.
    pub at: Millis,
    /// The Task it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Who caused it.
    pub actor: Actor,
    /// What happened.
    pub event: Event,
}
