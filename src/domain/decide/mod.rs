//! The laws: given what stands and what is wanted, either the events that follow or a refusal.
//!
//! Pure. Called on the writer's thread inside the transaction; the same command on the same
//! records always gives the same events. One file for each noun; this one is the dispatch.

mod approval;
mod delegate;
mod job;
mod resource;
mod run;
mod takeover;
mod task;
mod tool;
mod turn;

use super::command::{Command, Envelope, Move, RunCommand, SystemCommand, UserCommand};
use super::event::Event;
use super::ids::*;
use super::records::*;
use super::rejection::Rejection;
use super::snapshot::Snapshot;

pub use run::STOPPED;
pub use task::short_title;
pub use tool::{PROCESS_DIED, judgement};
pub use turn::FROM_A_JOB;

/// An event, and the Task it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Decided {
    /// The Task, where there is one.
    pub task: Option<TaskId>,
    /// What happens.
    pub event: Event,
}

/// Decides one command on what stands.
pub fn decide(snapshot: Snapshot, envelope: &Envelope) -> Result<Vec<Decided>, Rejection> {
    decide_and_apply(snapshot, envelope).map(|(decided, _)| decided)
}

/// Decides one command on what stands, and gives what stands then as well.
pub fn decide_and_apply(snapshot: Snapshot, envelope: &Envelope) -> Result<(Vec<Decided>, Snapshot), Rejection> {
    let mut d = Decision {
        snap: snapshot,
        at: envelope.at,
        actor: envelope.actor.clone(),
        command: envelope.id.clone(),
        ids: Ids::new(envelope.seed),
        out: Vec::new(),
    };
    match &envelope.command {
        Command::User(command) => user(&mut d, command)?,
        Command::Run(command) => run_command(&mut d, command)?,
        Command::Resource(command) => resource::act(&mut d, command)?,
        Command::System(command) => match command {
            SystemCommand::TakeOver { owner } => takeover::take_over(&mut d, owner),
            SystemCommand::StartRun { task, agent } => run::start(&mut d, task, agent)?,
            SystemCommand::ExpireDecision { task, decision } => delegate::expire(&mut d, task, decision)?,
            SystemCommand::Job { job, report } => job::report(&mut d, job, report)?,
        },
    }
    Ok((d.out, d.snap))
}

fn user(d: &mut Decision, command: &UserCommand) -> Result<(), Rejection> {
    match command {
        UserCommand::CreateTask { title, cwd, model, policy, budget, message, checks } => {
            let new = task::NewTask { title, cwd, model, policy: *policy, budget: *budget, message, checks };
            task::create(d, new)
        }
        UserCommand::SendMessage { task, text, refs, delivery } => task::send(d, task, text, refs, *delivery),
        UserCommand::EditMessage { task, message, text } => task::edit_message(d, task, message, text),
        UserCommand::MoveMessage { task, message, to } => task::move_message(d, task, message, *to),
        UserCommand::SetDelivery { task, message, delivery } => task::set_delivery(d, task, message, *delivery),
        UserCommand::WithdrawMessage { task, message } => task::withdraw(d, task, message),
        UserCommand::Interrupt { task } => run::interrupt(d, task),
        UserCommand::Pause { task } => task::pause(d, task),
        UserCommand::Resume { task } => task::resume(d, task),
        UserCommand::Cancel { task } => task::cancel(d, task),
        UserCommand::Rename { task, title } => task::rename(d, task, title),
        UserCommand::Archive { task, archived } => task::archive(d, task, *archived),
        UserCommand::Remove { task } => task::remove(d, task),
        UserCommand::SetObjective { task, text } => task::set_objective(d, task, text),
        UserCommand::AddCheck { task, kind, text } => task::add_check(d, task, *kind, text),
        UserCommand::GiveVerdict { task, check, outcome, evidence } => {
            task::person_verdict(d, task, check, *outcome, evidence)
        }
        UserCommand::SetModel { task, model } => task::set_model(d, task, model),
        UserCommand::SetPolicy { task, policy } => task::set_policy(d, task, *policy),
        UserCommand::SetBudget { task, budget } => task::set_budget(d, task, *budget),
        UserCommand::DecideApproval { task, approval, shown, answer, because } => {
            approval::answer(d, task, approval, shown, *answer, because)
        }
        UserCommand::AnswerQuestion { task, question, answer } => approval::answer_question(d, task, question, answer),
        UserCommand::Guide { task, agent, text } => delegate::guide(d, task, agent, text),
        UserCommand::CancelAgent { task, agent } => delegate::cancel(d, task, agent),
        UserCommand::AnswerDecision { task, decision, answer } => delegate::answer(d, task, decision, answer),
        UserCommand::Review { task, contribution, verdict, because } => {
            delegate::review(d, task, contribution, *verdict, because)
        }
        UserCommand::TrustFolder { folder, trusted } => {
            let trust = Trust { folder: folder.clone(), trusted: *trusted, at: d.at };
            d.emit(None, Event::FolderTrustSet { trust });
            Ok(())
        }
        UserCommand::RemoveRule { rule } => approval::remove_rule(d, rule),
        UserCommand::Job { deed } => job::by_person(d, deed),
        UserCommand::Background { task } => tool::background(d, task),
        UserCommand::Resource { .. } => {
            Err(Rejection::invalid("BUG: the change of a Resource was not made before it was decided", ""))
        }
    }
}

fn run_command(d: &mut Decision, command: &RunCommand) -> Result<(), Rejection> {
    match command {
        RunCommand::BeginTurn { run, call, model } => turn::begin(d, run, call, model),
        RunCommand::CommitTurn { run, call, parts, calls, usage, cut } => {
            turn::commit(d, run, turn::Answer { call, parts, calls, usage, cut: *cut })
        }
        RunCommand::FailTurn { run, call, class, message, retry_at, instead } => {
            let failure = turn::Failure { call, class, message, retry_at: *retry_at, instead: instead.as_deref() };
            turn::fail(d, run, failure)
        }
        RunCommand::NameTask { task, title, instead_of, usage, .. } => task::name(d, task, title, instead_of, usage),
        RunCommand::StartTool { run, call, action, pre_hash, post_hash } => {
            tool::start(d, run, call, action, pre_hash, post_hash)
        }
        RunCommand::SettleTool { run, call, state, parts, saw } => {
            tool::settle(d, run, call, *state, parts.clone(), saw.clone())
        }
        RunCommand::AskPerson { run, call, question, options, meanwhile } => {
            tool::ask_person(d, run, call, question, options, meanwhile)
        }
        RunCommand::GiveVerdict { run, check, outcome, evidence } => {
            run::agent_verdict(d, run, check, *outcome, evidence)
        }
        RunCommand::Delegate { run, call, mode, name, objective, contract } => {
            delegate::give(d, run, call, delegate::Work { mode: *mode, name, objective, contract })
        }
        RunCommand::Report { run, call, report } => delegate::report(d, run, call, report),
        RunCommand::Tell { run, call, to, text, refs } => delegate::tell(d, run, call, to, text, refs),
        RunCommand::RequestDecision { run, call, question, fallback, wait_ms } => {
            delegate::request_decision(d, run, call, question, fallback, *wait_ms)
        }
        RunCommand::AnswerDecision { run, decision, answer } => delegate::answer_own(d, run, decision, answer),
        RunCommand::CancelAgent { run, agent } => delegate::cancel_own(d, run, agent),
        RunCommand::Review { run, contribution, verdict, because } => {
            delegate::review_own(d, run, contribution, *verdict, because)
        }
        RunCommand::Job { run, call, deed } => job::by_agent(d, run, call, deed),
        RunCommand::Suspend { run, reason } => run::suspend(d, run, reason),
        RunCommand::End { run, reason, detail } => run::end(d, run, *reason, detail.clone()),
    }
}

/// A decision being made: events are applied as they are emitted, so later ones see them.
pub(super) struct Decision {
    pub snap: Snapshot,
    pub at: Millis,
    pub actor: Actor,
    pub command: CommandId,
    pub ids: Ids,
    pub out: Vec<Decided>,
}

impl Decision {
    /// Adds an event and applies it.
    fn emit(&mut self, task: Option<&TaskId>, event: Event) {
        self.snap.apply(task, &self.actor, self.at, &event);
        self.out.push(Decided { task: task.cloned(), event });
    }

    fn task(&self, id: &TaskId) -> Result<Task, Rejection> {
        self.snap
            .tasks
            .get(id)
            .cloned()
            .ok_or_else(|| Rejection::not_found(format!("Task {id}"), "`cowork ls --all` lists the Tasks"))
    }

    /// The Run, its Task and its agent, if the Run is running: nothing else may report or ask.
    fn running(&self, id: &RunId) -> Result<(Run, Task, Agent), Rejection> {
        let gone = || Rejection::wrong_state(format!("Run {id} is not running"), "");
        let run = self.snap.runs.get(id).filter(|run| run.state == RunState::Running).ok_or_else(gone)?;
        let task = self.snap.tasks.get(&run.task).ok_or_else(gone)?;
        let agent = self.snap.agents.get(&run.agent).ok_or_else(gone)?;
        Ok((run.clone(), task.clone(), agent.clone()))
    }

    /// An open call of a Run's agent.
    fn open_call(&self, agent: &Agent, id: &ToolCallId) -> Result<ToolCall, Rejection> {
        self.snap
            .tool_calls
            .get(id)
            .filter(|call| call.agent == agent.id && !call.state.is_settled())
            .cloned()
            .ok_or_else(|| Rejection::wrong_state(format!("call {id} is not open"), ""))
    }

    /// The next row of an agent's context.
    fn row(&self, agent: &AgentId, role: Role, parts: Vec<Part>, tokens: u64) -> Row {
        let seq = self.snap.agents.get(agent).map_or(1, |agent| agent.next_seq);
        let tokens = if tokens > 0 { tokens } else { estimate_tokens(&parts) };
        Row { seq, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens, at: self.at }
    }

    /// Puts a message into Main's Inbox, unless the fact it tells was told before.
    fn tell_main(&mut self, task: &Task, kind: MessageKind, key: String, text: String, more: Tell) {
        self.tell(&task.id, &task.main, kind, key, text, more);
    }

    /// Puts a message into an agent's Inbox, unless the fact it tells was told before.
    fn tell(&mut self, task: &TaskId, to: &AgentId, kind: MessageKind, key: String, text: String, more: Tell) {
        if self.snap.messages.values().any(|message| message.to.id == to.0 && message.key == key) {
            return;
        }
        let order = self.snap.messages.values().map(|message| message.order).max().unwrap_or(0) + 1;
        let message = Message {
            id: MessageId::new(&mut self.ids),
            task: Some(task.clone()),
            to: Actor::agent(to),
            from: self.actor.clone(),
            kind,
            key,
            delivery: more.delivery,
            order,
            text,
            refs: more.refs,
            state: MessageState::Queued,
            reason: None,
            context_seq: None,
            consumed_seq: None,
            fence: None,
            created_at: self.at,
            delivered_at: None,
            consumed_at: None,
        };
        self.emit(Some(task), Event::MessageQueued { message });
    }

    fn set_status(&mut self, id: &TaskId, status: TaskStatus, reason: Option<String>) {
        let Some(task) = self.snap.tasks.get(id) else { return };
        if task.status == status && task.reason == reason {
            return;
        }
        self.emit(Some(id), Event::TaskStatusChanged { status, reason, resume_status: None });
    }

    /// Brings a Task's state in line with what is open in it.
    ///
    /// `paused`, `failed` and `cancelled` stay: only a person leads out of them.
    fn settle_status(&mut self, id: &TaskId) {
        let Some(task) = self.snap.tasks.get(id).cloned() else { return };
        match task.status {
            TaskStatus::Paused | TaskStatus::Failed | TaskStatus::Cancelled => return,
            TaskStatus::Active | TaskStatus::Parked | TaskStatus::AwaitingHuman | TaskStatus::Completed => {}
        }
        let blockers = self.snap.blockers(&task);
        let person = blockers.iter().find(|waiting| matches!(waiting.kind.as_str(), "approval" | "question"));
        if let Some(waiting) = person {
            let reason = waiting.kind.clone();
            self.set_status(id, TaskStatus::AwaitingHuman, Some(reason));
        } else if blockers.is_empty() {
            self.set_status(id, TaskStatus::Completed, None);
        } else if blockers.iter().all(|waiting| waiting.kind == "check") {
            self.set_status(id, TaskStatus::AwaitingHuman, Some("acceptance".into()));
        } else if blockers.iter().all(|waiting| matches!(waiting.kind.as_str(), "check" | "candidate")) {
            self.set_status(id, TaskStatus::AwaitingHuman, Some("candidates".into()));
        } else if let Some(behind) = waits_behind(&blockers) {
            self.set_status(id, TaskStatus::Parked, Some(behind.into()));
        } else {
            self.set_status(id, TaskStatus::Active, None);
        }
    }

    /// Saves a checkpoint when every call of the agent is settled.
    fn checkpoint(&mut self, run: &Run) {
        if !self.snap.open_calls(&run.agent).is_empty() {
            return;
        }
        let Some(agent) = self.snap.agents.get(&run.agent) else { return };
        let checkpoint = Checkpoint {
            id: CheckpointId::new(&mut self.ids),
            agent: agent.id.clone(),
            run: run.id.clone(),
            through_seq: agent.next_seq.saturating_sub(1),
            tail_from_seq: agent.tail_from_seq,
            created_at: self.at,
        };
        self.emit(Some(&run.task), Event::CheckpointSaved { checkpoint });
    }

    /// How long a Run has run since it was last started or resumed.
    fn ran_ms(&self, run: &Run) -> u64 {
        self.at.saturating_sub(run.started_at).max(0) as u64
    }
}

/// What Main, which has answered, waits for behind its back, if that is all there is.
fn waits_behind(blockers: &[Waiting]) -> Option<&'static str> {
    let kinds: Vec<&str> = blockers.iter().map(|waiting| waiting.kind.as_str()).collect();
    let all = kinds
        .iter()
        .all(|kind| matches!(*kind, "assignment" | "job" | "notice" | "check" | "contribution" | "candidate"));
    let of = |kind| kinds.contains(&kind);
    match all {
        true if of("assignment") => Some("subagents"),
        true if of("job") || of("notice") => Some("job"),
        true | false => None,
    }
}

/// How a message to Main is to be delivered, and what it points at.
pub(super) struct Tell {
    delivery: Delivery,
    refs: Vec<String>,
}

impl Tell {
    /// At the next boundary, pointing at nothing.
    fn soon() -> Self {
        Self { delivery: Delivery::Boundary, refs: Vec::new() }
    }
}

/// A rough size for the model, where the server has not counted: 3.7 bytes to a token.
pub fn estimate_tokens(parts: &[Part]) -> u64 {
    let bytes: usize = parts
        .iter()
        .map(|part| match part {
            Part::Text { text } | Part::Thinking { text, .. } => text.len(),
            Part::Image { .. } => 4_000,
            Part::Call { name, arguments, .. } => name.len() + arguments.len() + 20,
        })
        .sum();
    (bytes as u64 * 10).div_ceil(37)
}

#[cfg(test)]
mod tests;
