//! Folding events back into records.
//!
//! One struct serves twice: the store loads the live part of one Task into it for [`decide`] to
//! look at, and a test folds the whole history into it and compares with the rows.
//!
//! [`decide`]: super::decide()

mod resource;

use super::event::Event;
use super::ids::*;
use super::records::*;
use std::collections::BTreeMap;

/// Records as they stand after some events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Snapshot {
    /// The current ownership number; 0 before the first take-over.
    pub fence: Fence,
    /// Tasks.
    pub tasks: BTreeMap<TaskId, Task>,
    /// Every wording of every objective.
    pub objectives: BTreeMap<(TaskId, u32), Objective>,
    /// Points of acceptance.
    pub checks: BTreeMap<CheckId, Check>,
    /// Their judgements.
    pub verdicts: BTreeMap<VerdictId, Verdict>,
    /// Agents.
    pub agents: BTreeMap<AgentId, Agent>,
    /// Runs.
    pub runs: BTreeMap<RunId, Run>,
    /// Rows of context; empty in a snapshot to decide on.
    pub rows: BTreeMap<(AgentId, u64), Row>,
    /// Messages.
    pub messages: BTreeMap<MessageId, Message>,
    /// Requests to models.
    pub model_calls: BTreeMap<ModelCallId, ModelCall>,
    /// Tool calls.
    pub tool_calls: BTreeMap<ToolCallId, ToolCall>,
    /// Approvals.
    pub approvals: BTreeMap<ApprovalId, Approval>,
    /// Standing rules.
    pub rules: BTreeMap<RuleId, Rule>,
    /// Questions to the person.
    pub questions: BTreeMap<QuestionId, Question>,
    /// What was given to Subagents.
    pub assignments: BTreeMap<AssignmentId, Assignment>,
    /// What came of it.
    pub contributions: BTreeMap<ContributionId, Contribution>,
    /// Decision requests.
    pub decisions: BTreeMap<DecisionId, DecisionRequest>,
    /// Requests to stop.
    pub controls: BTreeMap<ControlId, Control>,
    /// Settled boundaries; empty in a snapshot to decide on.
    pub checkpoints: BTreeMap<CheckpointId, Checkpoint>,
    /// Jobs; those that have ended are left out of a snapshot to decide on, but for the one it is about.
    pub jobs: BTreeMap<JobId, Job>,
    /// Resources.
    pub resources: BTreeMap<ResourceId, Resource>,
    /// Their revisions; in a snapshot to decide on, those that somebody does not know yet.
    pub revisions: BTreeMap<(ResourceId, u64), Revision>,
    /// Proposals kept apart.
    pub candidates: BTreeMap<CandidateId, Candidate>,
    /// Who knows which revision.
    pub resource_views: BTreeMap<(Actor, ResourceId), ResourceView>,
    /// Edits that an engine is asked for.
    pub engine_intents: BTreeMap<EngineIntentId, EngineIntent>,
    /// What the person said about folders.
    pub trust: BTreeMap<Folder, Trust>,
}

/// An agent that is absent and has work.
#[derive(Debug, Clone, PartialEq)]
pub struct Due {
    /// In which Task.
    pub task: TaskId,
    /// Who.
    pub agent: AgentId,
    /// Whether it waits its turn among all Subagents. Main never does; nor does a Subagent of a
    /// Subagent, for which somebody waits who has had its turn.
    pub queues: bool,
    /// Since when it has had this work.
    pub since: Millis,
}

impl Snapshot {
    /// The live Run of an agent, if it has one.
    pub fn live_run(&self, agent: &AgentId) -> Option<&Run> {
        self.runs.values().find(|run| run.agent == *agent && !run.state.is_ended())
    }

    /// The calls of an agent that have no result yet, in the order they were asked for.
    pub fn open_calls(&self, agent: &AgentId) -> Vec<&ToolCall> {
        let mut open: Vec<_> =
            self.tool_calls.values().filter(|call| call.agent == *agent && !call.state.is_settled()).collect();
        open.sort_by_key(|call| (call.assistant_seq, call.ix));
        open
    }

    /// The calls of a Task that run a command just now.
    pub fn running_commands(&self, task: &TaskId) -> Vec<&ToolCall> {
        let is_of_task = |call: &ToolCall| self.agents.get(&call.agent).is_some_and(|agent| agent.task == *task);
        let runs = |call: &&ToolCall| call.state == ToolCallState::Running && call.is_kept() && is_of_task(call);
        self.tool_calls.values().filter(runs).collect()
    }

    /// The request of an agent that is under way, if one is.
    pub fn live_model_call(&self, agent: &AgentId) -> Option<&ModelCall> {
        self.model_calls.values().find(|call| call.agent == *agent && call.state == ModelCallState::Started)
    }

    /// The messages in an agent's Inbox in one state, in their order.
    pub fn inbox(&self, agent: &AgentId, state: MessageState) -> Vec<&Message> {
        let mut found: Vec<_> =
            self.messages.values().filter(|message| message.to.id == agent.0 && message.state == state).collect();
        found.sort_by_key(|message| (message.order, message.created_at));
        found
    }

    /// The approval of a call, if it was ever asked for.
    pub fn approval_of(&self, call: &ToolCallId) -> Option<&Approval> {
        self.approvals.values().find(|approval| approval.tool_call == *call)
    }

    /// The question asked by a call, if it asked one.
    pub fn question_of(&self, call: &ToolCallId) -> Option<&Question> {
        self.questions.values().find(|question| question.tool_call == *call)
    }

    /// The work that a Subagent is at, if it is at any.
    pub fn live_assignment(&self, agent: &AgentId) -> Option<&Assignment> {
        self.assignments.values().find(|assignment| assignment.agent == *agent && !assignment.state.is_ended())
    }

    /// The decision request of a call, if it made one.
    pub fn decision_of(&self, call: &ToolCallId) -> Option<&DecisionRequest> {
        self.decisions.values().find(|decision| decision.tool_call == *call)
    }

    /// The request to interrupt a Run that has not been settled, if there is one.
    pub fn open_control(&self, run: &RunId) -> Option<&Control> {
        self.controls.values().find(|control| control.run == *run && control.state == ControlState::Requested)
    }

    /// The Jobs of a Task that have not ended.
    pub fn live_jobs<'a>(&'a self, task: &'a TaskId) -> impl Iterator<Item = &'a Job> {
        self.jobs.values().filter(move |job| job.task.as_ref() == Some(task) && !job.state.is_ended())
    }

    /// Whether the last row of an agent is a final answer.
    pub fn has_final_answer(&self, agent: &AgentId) -> bool {
        self.agents
            .get(agent)
            .and_then(|agent| agent.last)
            .is_some_and(|last| last.role == Role::Assistant && last.calls == 0 && !last.cut)
    }

    /// What keeps a Task from being complete, in the words of the screen.
    pub fn blockers(&self, task: &Task) -> Vec<Waiting> {
        let mut out = Vec::new();
        let mut add = |kind: &str, id: &str, text: String| out.push(Waiting { kind: kind.into(), id: id.into(), text });
        for approval in self.approvals.values().filter(|a| a.task == task.id && a.state == ApprovalState::Pending) {
            add("approval", approval.id.as_str(), format!("{}: {}", approval.action.tool, approval.action.subject));
        }
        for question in self.questions.values().filter(|q| q.task == task.id && q.state == QuestionState::Open) {
            add("question", question.id.as_str(), question.question.clone());
        }
        if let Some(run) = self.live_run(&task.main) {
            let text = match run.state {
                RunState::Running => "Main is working",
                RunState::Interrupted | RunState::Completed | RunState::Failed | RunState::Cancelled => {
                    "Main stands still until something happens"
                }
            };
            add("run", run.id.as_str(), text.into());
        }
        for call in self.open_calls(&task.main) {
            add("tool_call", call.id.as_str(), call.name.clone());
        }
        for assignment in self.assignments.values().filter(|a| a.task == task.id && !a.state.is_ended()) {
            add("assignment", assignment.id.as_str(), format!("{} is {}", assignment.name, assignment.state));
        }
        let unreviewed = |c: &&Contribution| c.task == task.id && c.state == ReviewState::Unreviewed;
        for contribution in self.contributions.values().filter(unreviewed) {
            add("contribution", contribution.id.as_str(), "a Contribution is not reviewed".into());
        }
        for candidate in self.candidates.values().filter(|candidate| candidate.state.is_open()) {
            if let Some(of) = self.resources.get(&candidate.resource).filter(|of| of.task.as_ref() == Some(&task.id)) {
                let by = &candidate.actor.id;
                let text = match candidate.state == CandidateState::Conflict {
                    true => format!("what {by} wrote in {} is to be merged", of.name),
                    false => format!("what {by} proposes for {} is to be decided", of.name),
                };
                add("candidate", candidate.id.as_str(), text);
            }
        }
        for message in self.inbox(&task.main, MessageState::Queued) {
            let kind = if message.wakes() { "message" } else { "notice" };
            add(kind, message.id.as_str(), message.text.clone());
        }
        // Delivered, and whoever read it was stopped before an answer: it wakes nobody by itself.
        for message in self.inbox(&task.main, MessageState::Delivered) {
            // That it was stopped is no question.
            if message.kind == MessageKind::Notice {
                continue;
            }
            add("unanswered", message.id.as_str(), message.text.clone());
        }
        for check in self.checks.values().filter(|c| c.task == task.id) {
            if matches!(check.state, CheckState::Open | CheckState::Failed) {
                add("check", check.id.as_str(), format!("{} ({})", check.text, check.state));
            }
        }
        for job in self.live_jobs(&task.id).filter(|job| job.definition.role == JobRole::Work) {
            add("job", job.id.as_str(), format!("{} ({})", job.definition.name, job.told()));
        }
        if !self.has_final_answer(&task.main) {
            add("answer", task.main.as_str(), "Main has not given a final answer".into());
        }
        out
    }

    /// The agents of a Task that are absent and have work, in the order they began (what wakes the
    /// supervisor).
    pub fn due(&self, task: &Task) -> Vec<Due> {
        let of_task = self.agents.values().filter(|agent| agent.task == task.id && self.is_due(task, agent));
        let mut due: Vec<Due> = of_task
            .map(|agent| {
                let work = self.live_assignment(&agent.id);
                let queues = work.is_some_and(|work| work.parent == task.main);
                let since = work.map_or(agent.created_at, |work| work.created_at);
                Due { task: task.id.clone(), agent: agent.id.clone(), queues, since }
            })
            .collect();
        due.sort_by_key(|due| (due.queues, due.since));
        due
    }

    /// Whether an agent is absent and has work.
    pub fn is_due(&self, task: &Task, agent: &Agent) -> bool {
        match task.status {
            TaskStatus::Active | TaskStatus::Parked | TaskStatus::AwaitingHuman => {}
            TaskStatus::Paused | TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled => return false,
        }
        if agent.role == AgentRole::Subagent && self.live_assignment(&agent.id).is_none() {
            return false;
        }
        match self.live_run(&agent.id) {
            // One that waits for a person has calls that are open and none that can go on.
            Some(run) => run.state == RunState::Interrupted && super::step::can_go_on(self, &agent.id),
            // What was delivered and not answered does not wake it: somebody stopped it there.
            None => {
                agent.role == AgentRole::Subagent
                    || self.inbox(&agent.id, MessageState::Queued).into_iter().any(Message::wakes)
            }
        }
    }

    fn save_row(&mut self, agent: &AgentId, row: &Row) {
        if let Some(agent) = self.agents.get_mut(agent) {
            agent.next_seq = row.seq + 1;
            agent.last = Some(row.last());
            if row.role == Role::Assistant {
                agent.failures = 0;
                agent.retry_at = None;
            }
        }
        self.rows.insert((agent.clone(), row.seq), row.clone());
    }

    /// The time of a Task is Main's; Subagents work beside it, each on a clock of its own.
    fn stop_run(&mut self, run: &RunId, ran_ms: u64, change: impl FnOnce(&mut Run)) {
        let Some(run) = self.runs.get_mut(run) else { return };
        change(run);
        let (task, agent) = (run.task.clone(), run.agent.clone());
        match self.agents.get(&agent).map(|agent| agent.role) {
            Some(AgentRole::Subagent) => self.with_work_of(&agent, |work| work.usage.run_ms += ran_ms),
            Some(AgentRole::Main) | None => self.with_task(Some(&task), |task| task.usage.run_ms += ran_ms),
        }
    }

    fn with_work_of(&mut self, agent: &AgentId, change: impl FnOnce(&mut Assignment)) {
        if let Some(work) = self.assignments.values_mut().find(|work| work.agent == *agent && !work.state.is_ended()) {
            change(work);
        }
    }

    /// Takes one event in. Total: an event about something unknown changes nothing.
    pub fn apply(&mut self, task: Option<&TaskId>, actor: &Actor, at: Millis, event: &Event) {
        match event {
            Event::TakenOver { fence, .. } => self.fence = *fence,
            Event::TaskCreated { task, agent } => {
                self.tasks.insert(task.id.clone(), task.clone());
                self.agents.insert(agent.id.clone(), agent.clone());
            }
            Event::TaskRenamed { title, usage } => self.with_task(task, |t| {
                t.title = title.clone();
                if let Some(usage) = usage {
                    t.usage.add(usage);
                }
            }),
            Event::ObjectiveSet { version, text } => {
                if let Some(id) = task {
                    let objective =
                        Objective { task: id.clone(), version: *version, text: text.clone(), actor: actor.clone(), at };
                    self.objectives.insert((id.clone(), *version), objective);
                }
                self.with_task(task, |t| t.objective_version = *version);
            }
            Event::CheckAdded { check } => {
                self.checks.insert(check.id.clone(), check.clone());
            }
            Event::VerdictGiven { verdict } => {
                if let Some(check) = self.checks.get_mut(&verdict.check) {
                    check.state = verdict.outcome;
                    check.judged_through = Some(verdict.through_seq);
                    check.failures += u32::from(verdict.outcome == CheckState::Failed);
                }
                self.verdicts.insert(verdict.id.clone(), verdict.clone());
            }
            Event::TaskStatusChanged { status, reason, resume_status } => self.with_task(task, |t| {
                t.status = *status;
                t.reason = reason.clone();
                t.resume_status = *resume_status;
            }),
            Event::TaskModelSet { model } => self.with_task(task, |t| t.model = model.clone()),
            Event::TaskPolicySet { policy } => self.with_task(task, |t| t.policy = *policy),
            Event::TaskBudgetSet { budget } => self.with_task(task, |t| t.budget = *budget),
            Event::TaskArchived { archived } => self.with_task(task, |t| t.archived = *archived),
            Event::TaskRemoved { removed, .. } => self.remove_task(removed),

            Event::MessageQueued { message } => {
                self.messages.insert(message.id.clone(), message.clone());
            }
            Event::MessageEdited { message, text } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.text = text.clone();
                }
            }
            Event::MessageMoved { message, order } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.order = *order;
                }
            }
            Event::MessageDeliverySet { message, delivery } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.delivery = *delivery;
                }
            }
            Event::MessageWithdrawn { message } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.state = MessageState::Withdrawn;
                }
            }
            Event::MessageDelivered { message, agent, row, .. } => {
                let fence = self.fence;
                if let Some(message) = self.messages.get_mut(message) {
                    message.state = MessageState::Delivered;
                    message.context_seq = Some(row.seq);
                    message.delivered_at = Some(at);
                    message.fence = Some(fence);
                }
                self.save_row(agent, row);
            }
            Event::MessageUndelivered { message, reason } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.state = MessageState::Undelivered;
                    message.reason = Some(reason.clone());
                }
            }
            Event::MessageHeld { message, fence } => {
                if let Some(message) = self.messages.get_mut(message) {
                    message.fence = Some(*fence);
                }
            }

            Event::RunStarted { run, .. } => {
                self.runs.insert(run.id.clone(), run.clone());
            }
            Event::RunSuspended { run, ran_ms, .. } => {
                self.stop_run(run, *ran_ms, |run| run.state = RunState::Interrupted)
            }
            Event::RunEnded { run: ended, state, reason, detail, ran_ms } => {
                self.stop_run(ended, *ran_ms, |run| {
                    run.state = *state;
                    run.end_reason = Some(*reason);
                    run.detail = detail.clone();
                    run.ended_at = Some(at);
                });
                // The next Run begins afresh: what this one waited out is over.
                let agent = self.runs.get(ended).map(|run| run.agent.clone());
                if let Some(agent) = agent.and_then(|agent| self.agents.get_mut(&agent)) {
                    agent.failures = 0;
                    agent.retry_at = None;
                }
            }

            Event::TurnStarted { call } => {
                if let Some(agent) = self.agents.get_mut(&call.agent) {
                    agent.retry_at = None;
                }
                self.model_calls.insert(call.id.clone(), call.clone());
            }
            Event::TurnCommitted { call, agent, row, usage, consumed } => {
                if let Some(call) = self.model_calls.get_mut(call) {
                    call.state = ModelCallState::Committed;
                    call.result_seq = Some(row.seq);
                    call.usage = Some(usage.clone());
                    call.ended_at = Some(at);
                }
                for message in consumed {
                    if let Some(message) = self.messages.get_mut(message) {
                        message.state = MessageState::Consumed;
                        message.consumed_seq = Some(row.seq);
                        message.consumed_at = Some(at);
                    }
                }
                self.save_row(agent, row);
                self.with_task(task, |t| t.usage.add(usage));
                self.with_work_of(agent, |work| work.usage.add(usage));
            }
            Event::TurnFailed { call, agent, class, retry_at, .. } => {
                if let Some(call) = self.model_calls.get_mut(call) {
                    call.state = ModelCallState::Failed;
                    call.error_class = Some(class.clone());
                    call.ended_at = Some(at);
                }
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.failures += 1;
                    agent.retry_at = *retry_at;
                }
            }
            Event::TurnAbandoned { call, .. } => {
                if let Some(call) = self.model_calls.get_mut(call) {
                    call.state = ModelCallState::Abandoned;
                    call.ended_at = Some(at);
                }
            }

            Event::ToolPlanned { call } => {
                self.tool_calls.insert(call.id.clone(), call.clone());
            }
            Event::ToolStarted { call, fence, pre_hash, post_hash } => {
                if let Some(call) = self.tool_calls.get_mut(call) {
                    call.state = ToolCallState::Running;
                    call.fence = Some(*fence);
                    call.pre_hash = pre_hash.clone();
                    call.post_hash = post_hash.clone();
                    call.started_at = Some(at);
                }
            }
            Event::ToolRequeued { call, fence } => {
                if let Some(call) = self.tool_calls.get_mut(call) {
                    call.fence = Some(*fence);
                }
            }
            Event::ToolSettled { call, agent, state, row, saw } => {
                if let Some(call) = self.tool_calls.get_mut(call) {
                    call.post_hash = saw.clone().or(call.post_hash.take());
                    call.state = *state;
                    call.result_seq = Some(row.seq);
                    call.ended_at = Some(at);
                }
                // Events of older versions say it beside the row alone.
                self.save_row(agent, &Row { outcome: Some(*state), ..row.clone() });
            }

            Event::ApprovalRequested { approval } => {
                if let Some(call) = self.tool_calls.get_mut(&approval.tool_call) {
                    call.state = ToolCallState::AwaitingApproval;
                }
                self.approvals.insert(approval.id.clone(), approval.clone());
            }
            Event::ApprovalDecided { approval, call, state, because, decided_by } => {
                if let Some(approval) = self.approvals.get_mut(approval) {
                    approval.state = *state;
                    approval.because = because.clone();
                    approval.decided_by = decided_by.clone();
                    approval.decided_at = Some(at);
                }
                if *state == ApprovalState::Allowed
                    && let Some(call) = self.tool_calls.get_mut(call)
                {
                    call.state = ToolCallState::Approved;
                }
            }
            Event::RuleAdded { rule } => {
                self.rules.insert(rule.id.clone(), rule.clone());
            }
            Event::RuleRemoved { rule } => {
                self.rules.remove(rule);
            }

            Event::QuestionAsked { question } => {
                if let Some(call) = self.tool_calls.get_mut(&question.tool_call) {
                    call.state = ToolCallState::Running;
                    call.fence = Some(self.fence);
                    call.started_at = Some(at);
                }
                self.questions.insert(question.id.clone(), question.clone());
            }
            Event::QuestionResolved { question, state, answer } => {
                if let Some(question) = self.questions.get_mut(question) {
                    question.state = *state;
                    question.answer = answer.clone();
                    question.resolved_at = Some(at);
                }
            }

            Event::AssignmentGiven { assignment, agent } => {
                if let Some(agent) = agent {
                    self.agents.insert(agent.id.clone(), agent.clone());
                }
                self.assignments.insert(assignment.id.clone(), assignment.clone());
            }
            Event::AssignmentMoved { assignment, state } => {
                if let Some(assignment) = self.assignments.get_mut(assignment) {
                    assignment.state = *state;
                }
            }
            Event::AssignmentReleased { assignment } => {
                if let Some(assignment) = self.assignments.get_mut(assignment) {
                    assignment.mode = DelegationMode::Async;
                }
            }
            Event::ContributionMade { contribution, state } => {
                if let Some(assignment) = self.assignments.get_mut(&contribution.assignment) {
                    assignment.state = *state;
                    assignment.ended_at = Some(at);
                }
                self.contributions.insert(contribution.id.clone(), contribution.clone());
            }
            Event::ContributionReviewed { contribution, state, because } => {
                if let Some(contribution) = self.contributions.get_mut(contribution) {
                    contribution.state = *state;
                    contribution.because = because.clone();
                    contribution.reviewed_by = Some(actor.clone());
                    contribution.reviewed_at = Some(at);
                }
            }
            Event::AgentRetired { agent } => {
                if let Some(agent) = self.agents.get_mut(agent) {
                    agent.retired_at = Some(at);
                }
            }
            Event::DecisionAsked { decision } => {
                if let Some(call) = self.tool_calls.get_mut(&decision.tool_call) {
                    call.state = ToolCallState::Running;
                    call.fence = Some(self.fence);
                    call.started_at = Some(at);
                }
                self.decisions.insert(decision.id.clone(), decision.clone());
            }
            Event::DecisionResolved { decision, state, answer } => {
                if let Some(decision) = self.decisions.get_mut(decision) {
                    decision.state = *state;
                    decision.answer = answer.clone();
                    decision.answered_by = (*state == DecisionState::Answered).then(|| actor.clone());
                    decision.resolved_at = Some(at);
                }
            }

            Event::ControlRequested { control } => {
                self.controls.insert(control.id.clone(), control.clone());
            }
            Event::ControlSettled { control, state } => {
                if let Some(control) = self.controls.get_mut(control) {
                    control.state = *state;
                }
            }

            Event::JobCreated { job } => {
                self.jobs.insert(job.id.clone(), job.clone());
            }
            Event::JobStarted { job, process } => self.with_job(job, |job| {
                job.state = if job.stop.is_some() { JobState::Stopping } else { JobState::Running };
                job.process = Some(process.clone());
            }),
            Event::JobOrphaned { job, note } => self.with_job(job, |job| job.note = Some(note.clone())),
            Event::JobInputSent { .. } | Event::JobSignalSent { .. } | Event::BackgroundAsked { .. } => {}
            Event::JobStopRequested { job, stop } => self.with_job(job, |job| {
                if job.state == JobState::Running {
                    job.state = JobState::Stopping;
                }
                job.stop = Some(*stop);
            }),
            Event::JobMatched { job, through, .. } => self.with_job(job, |job| job.matched_through = *through),
            Event::JobBreached { job, breach, .. } => self.with_job(job, |job| job.breached.push(breach.clone())),
            Event::JobSettled { job, state, end } => self.with_job(job, |job| {
                job.state = *state;
                job.end = Some(end.clone());
            }),
            Event::JobRemoved { job } => {
                self.jobs.remove(job);
            }

            Event::ResourceCreated { .. }
            | Event::RevisionCommitted { .. }
            | Event::CandidateKept { .. }
            | Event::CandidateRevised { .. }
            | Event::CandidateMoved { .. }
            | Event::ResourceRenamed { .. }
            | Event::ResourceMirrored { .. }
            | Event::MirrorLooked { .. }
            | Event::ResourceSeen { .. }
            | Event::ResourceSelected { .. }
            | Event::ResourceRemoved { .. }
            | Event::EngineAsked { .. }
            | Event::EngineAnswered { .. } => self.apply_to_resource(actor, at, event),

            Event::CheckpointSaved { checkpoint } => {
                self.checkpoints.insert(checkpoint.id.clone(), checkpoint.clone());
            }
            Event::FolderTrustSet { trust } => {
                self.trust.insert(trust.folder.clone(), trust.clone());
            }
        }
        if event.is_work() {
            self.with_task(task, |t| t.updated_at = at);
        }
    }

    fn with_task(&mut self, id: Option<&TaskId>, change: impl FnOnce(&mut Task)) {
        if let Some(task) = id.and_then(|id| self.tasks.get_mut(id)) {
            change(task);
        }
    }

    fn with_job(&mut self, id: &JobId, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.jobs.get_mut(id) {
            change(job);
        }
    }

    fn remove_task(&mut self, id: &TaskId) {
        self.tasks.remove(id);
        let agents: Vec<AgentId> =
            self.agents.values().filter(|agent| agent.task == *id).map(|agent| agent.id.clone()).collect();
        let checks: Vec<CheckId> =
            self.checks.values().filter(|check| check.task == *id).map(|check| check.id.clone()).collect();
        self.objectives.retain(|(task, _), _| task != id);
        self.verdicts.retain(|_, verdict| !checks.contains(&verdict.check));
        self.checks.retain(|_, check| check.task != *id);
        self.agents.retain(|_, agent| agent.task != *id);
        self.runs.retain(|_, run| run.task != *id);
        self.rows.retain(|(agent, _), _| !agents.contains(agent));
        self.messages.retain(|_, message| message.task.as_ref() != Some(id));
        self.model_calls.retain(|_, call| !agents.contains(&call.agent));
        self.tool_calls.retain(|_, call| !agents.contains(&call.agent));
        self.approvals.retain(|_, approval| approval.task != *id);
        self.questions.retain(|_, question| question.task != *id);
        self.assignments.retain(|_, assignment| assignment.task != *id);
        self.contributions.retain(|_, contribution| contribution.task != *id);
        self.decisions.retain(|_, decision| decision.task != *id);
        self.controls.retain(|_, control| control.task != *id);
        self.jobs.retain(|_, job| job.task.as_ref() != Some(id));
        let owned: Vec<ResourceId> =
            self.resources.values().filter(|of| of.task.as_ref() == Some(id)).map(|of| of.id.clone()).collect();
        owned.iter().for_each(|resource| self.remove_resource(resource));
        self.resource_views.retain(|(actor, _), _| !agents.iter().any(|agent| agent.0 == actor.id));
        self.checkpoints.retain(|_, checkpoint| !agents.contains(&checkpoint.agent));
    }
}
