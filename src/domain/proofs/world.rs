//! What stands, its live part alone, and what was seen to happen on the way there.

use super::Ledger;
use crate::domain::command::PlannedCall;
use crate::domain::permission::{Access, Action, Policy};
use crate::domain::*;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What happened to one assignment, counted from the events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Contributions made.
    pub made: u32,
    /// Messages that told its giver.
    pub told: u32,
    /// Results of calls that told its giver.
    pub handed: u32,
}

/// Records, and what is counted beside them.
#[derive(Clone, Default)]
pub struct World {
    pub snap: Snapshot,
    pub seen: BTreeMap<AssignmentId, Seen>,
    pub ledger: Ledger,
    pub at: Millis,
    pub count: u64,
    /// The words of the last call that was settled.
    pub last_result: Option<String>,
    /// The hash of all events so far.
    pub hash: [u8; 32],
    /// What was asked, for the story of a failure.
    pub story: Vec<Arc<str>>,
}

impl World {
    /// A Task with a first message, in a world that has an owner.
    pub fn with_task(policy: &str) -> Self {
        let mut world = Self { at: 1_000_000, ..Self::default() };
        world.take_over();
        world.ok(UserCommand::CreateTask {
            title: String::new(),
            cwd: Some("/w".into()),
            model: None,
            policy: Policy::named(policy).expect("a policy"),
            budget: Budget::default(),
            message: Some("do it".into()),
            checks: vec![],
        });
        world
    }

    pub fn task(&self) -> &Task {
        self.snap.tasks.values().next().expect("a Task")
    }

    pub fn id(&self) -> TaskId {
        self.task().id.clone()
    }

    pub fn main(&self) -> AgentId {
        self.task().main.clone()
    }

    pub fn take_over(&mut self) {
        let owner = Owner {
            holder: format!("h{}", self.snap.fence),
            host: "here".into(),
            pid: 1,
            pid_start: 1,
            boot_id: "b".into(),
        };
        self.ok(SystemCommand::TakeOver { owner });
    }

    pub fn ok(&mut self, command: impl Into<Command>) {
        let command = command.into();
        if let Err(rejection) = self.submit(command.clone()) {
            panic!("{command:?} was refused: {rejection}\n{}", self.story.join("\n"));
        }
    }

    /// Carries a command out, and says what became of it.
    pub fn submit(&mut self, command: impl Into<Command>) -> Result<(), Rejection> {
        let command = command.into();
        self.count += 1;
        self.at += 10;
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.count.to_le_bytes());
        let actor = match &command {
            Command::User(_) => Actor::person(),
            Command::System(SystemCommand::Job { job, .. }) => Actor::job(job),
            Command::Run(command) => self.actor(command),
            Command::System(_) | Command::Resource(_) => Actor::system(),
        };
        let id = CommandId(format!("e_{}", self.count));
        let envelope = Envelope { id, at: self.at, actor, seed, command };
        let decided = decide(self.snap.clone(), &envelope);
        let told = match &decided {
            Ok(_) => format!("{} {:?}", self.count, envelope.command),
            Err(rejection) => format!("{} {:?} — refused: {rejection}", self.count, envelope.command),
        };
        self.story.push(told.into());
        let decided = decided?;
        let before = self.snap.clone();
        for one in decided {
            self.see(&one.event);
            let mut hash = Sha256::new();
            hash.update(self.hash);
            hash.update(serde_json::to_vec(&one.event).expect("written"));
            self.hash = hash.finalize().into();
            self.snap.apply(one.task.as_ref(), &envelope.actor, envelope.at, &one.event);
        }
        self.ledger.follow(&envelope.command, &before, &self.snap);
        self.forget_what_is_settled();
        Ok(())
    }

    fn actor(&self, command: &RunCommand) -> Actor {
        self.snap.runs.get(command.run()).map_or(Actor::system(), |run| Actor::agent(&run.agent))
    }

    /// Counts how often each end of an assignment was told, and by what.
    fn see(&mut self, event: &Event) {
        match event {
            Event::AssignmentGiven { assignment, .. } => {
                self.seen.insert(assignment.id.clone(), Seen::default());
            }
            Event::ContributionMade { contribution, .. } => {
                self.seen.entry(contribution.assignment.clone()).or_default().made += 1;
            }
            Event::MessageQueued { message } if message.kind == MessageKind::Contribution => {
                let of = message.key.strip_prefix("assignment:").and_then(|key| key.strip_suffix(":terminal"));
                let of = AssignmentId(of.expect("the key of an end").to_owned());
                self.seen.entry(of).or_default().told += 1;
            }
            Event::ToolSettled { call, row, .. } => {
                let text = row.text();
                self.last_result = Some(text.clone());
                let given = self.snap.assignments.values().find(|work| work.call.as_ref() == Some(call));
                let made = given.and_then(|work| self.snap.contributions.values().find(|c| c.assignment == work.id));
                if let (Some(work), Some(made)) = (given, made)
                    && text.contains(made.id.as_str())
                {
                    self.seen.entry(work.id.clone()).or_default().handed += 1;
                }
            }
            _ => {}
        }
    }

    /// Leaves what the store would load to decide on, and no more.
    fn forget_what_is_settled(&mut self) {
        let s = &mut self.snap;
        s.rows.clear();
        s.checkpoints.clear();
        s.objectives.clear();
        s.verdicts.clear();
        s.tool_calls.retain(|_, call| !call.state.is_settled());
        let open: Vec<ToolCallId> = s.tool_calls.keys().cloned().collect();
        s.approvals.retain(|_, approval| open.contains(&approval.tool_call));
        s.questions.retain(|_, question| question.state == QuestionState::Open);
        s.decisions.retain(|_, one| one.state == DecisionState::Open || open.contains(&one.tool_call));
        s.controls.retain(|_, control| control.state == ControlState::Requested);
        s.runs.retain(|_, run| !run.state.is_ended());
        s.messages.retain(|_, m| matches!(m.state, MessageState::Queued | MessageState::Delivered));
        s.model_calls.retain(|_, call| call.state == ModelCallState::Started);
        s.jobs.retain(|_, job| !job.state.is_ended());
        let unreviewed: Vec<AssignmentId> = s
            .contributions
            .values()
            .filter(|made| made.state == ReviewState::Unreviewed)
            .map(|made| made.assignment.clone())
            .collect();
        s.assignments.retain(|id, work| {
            !work.state.is_ended() || unreviewed.contains(id) || work.call.as_ref().is_some_and(|c| open.contains(c))
        });
        let needed: Vec<AssignmentId> = s.assignments.keys().cloned().collect();
        s.contributions.retain(|_, made| needed.contains(&made.assignment));
    }
}

/// A call as a model plans it. Delegations say in their arguments how they return.
pub fn planned(name: &str, arguments: &str) -> PlannedCall {
    let effect = match name {
        "shell" => Effect::Effectful,
        "read" => Effect::Pure,
        _ => Effect::Idempotent,
    };
    PlannedCall { provider_id: "same".into(), name: name.into(), arguments: arguments.into(), effect }
}

/// What a call would do, as the laws of permission see it.
pub fn action(call: &ToolCall) -> Action {
    let access = if call.name == "shell" { Access::Execute } else { Access::Read };
    Action {
        tool: call.name.clone(),
        access,
        subject: "/w/x".into(),
        cwd: "/w".into(),
        detail: String::new(),
        inside: true,
        own: false,
        beyond: String::new(),
        rule_subject: "x".into(),
    }
}

/// What is agreed with every Subagent here: it has every tool.
pub fn contract() -> Contract {
    let tools = ["shell", "read", "decide", "delegate", "tell", "report", "ask", "team"].map(String::from).to_vec();
    let policy = Policy::named("full").expect("a policy");
    let grant = Grant { tools, reads: vec![], writes: vec!["/w".into()], network: false, policy };
    Contract {
        background: String::new(),
        constraints: vec![],
        evidence: vec![],
        grant,
        budget: Budget::default(),
        model: None,
    }
}

pub fn report(outcome: Outcome) -> Report {
    Report { outcome, done: "a part".into(), uncertain: String::new(), refs: vec![] }
}
