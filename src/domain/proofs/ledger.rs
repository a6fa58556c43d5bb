//! The reference model: who owes what to whom, in a few lines that know nothing of the records.
//!
//! It follows commands that were carried out, and says what must then stand. It reads from the
//! records only which ids were given out and whose Run a command names.

use super::World;
use crate::domain::command::ReviewVerdict;
use crate::domain::*;
use std::collections::BTreeMap;

/// One debt: `by` owes a Contribution to `to`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Debt {
    by: AgentId,
    to: AgentId,
    /// The call of the giver that waits for it.
    awaited_by: Option<ToolCallId>,
    paid: bool,
    messages: u32,
}

/// All debts of a Task.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    debts: BTreeMap<AssignmentId, Debt>,
    /// Who was told to stop and has not yet.
    stopping: Vec<AgentId>,
    /// What asks are open: by call.
    asks: BTreeMap<ToolCallId, AgentId>,
}

impl Ledger {
    pub fn follow(&mut self, command: &Command, before: &Snapshot, after: &Snapshot) {
        match command {
            Command::Run(command) => self.follow_run(command, before, after),
            Command::User(UserCommand::CancelAgent { agent, .. }) => self.cancel(agent, before),
            Command::User(UserCommand::AnswerDecision { decision, .. }) => self.resolved(decision, before),
            Command::User(UserCommand::Review { contribution, verdict, .. }) => {
                self.review(contribution, *verdict, before, after)
            }
            Command::User(UserCommand::Interrupt { task }) => {
                let main = &before.tasks[task].main;
                match before.live_run(main) {
                    Some(run) if run.state == RunState::Running => self.stopping.push(main.clone()),
                    Some(_) | None => self.stopped(main, before),
                }
            }
            Command::User(UserCommand::Cancel { task }) => {
                self.stopped(&before.tasks[task].main, before);
                let all: Vec<AgentId> = self.debts.values().filter(|debt| !debt.paid).map(|d| d.by.clone()).collect();
                all.iter().for_each(|agent| self.ended(agent, before));
            }
            Command::System(SystemCommand::TakeOver { .. }) => {
                for agent in std::mem::take(&mut self.stopping) {
                    self.ended(&agent, before);
                    self.stopped(&agent, before);
                }
            }
            Command::System(SystemCommand::ExpireDecision { decision, .. }) => self.resolved(decision, before),
            Command::User(UserCommand::AnswerQuestion { question, .. }) => {
                let call = before.questions[question].tool_call.clone();
                self.settled(&call, ToolCallState::Done);
            }
            _ => {}
        }
    }

    fn follow_run(&mut self, command: &RunCommand, before: &Snapshot, after: &Snapshot) {
        match command {
            RunCommand::Delegate { run, call, mode, .. } => {
                let given = after.assignments.values().find(|work| work.call.as_ref() == Some(call));
                let given = given.expect("a delegation gives something");
                let awaited_by = (*mode == DelegationMode::Sync).then(|| call.clone());
                let (by, to) = (given.agent.clone(), before.runs[run].agent.clone());
                let debt = Debt { by, to, awaited_by, paid: false, messages: 0 };
                self.debts.entry(given.id.clone()).or_insert(debt);
            }
            RunCommand::SettleTool { call, state, .. } => self.settled(call, *state),
            RunCommand::Report { run, call, .. } => {
                if let Some(call) = call {
                    self.settled(call, ToolCallState::Done);
                }
                self.ended(&before.runs[run].agent, before);
            }
            RunCommand::RequestDecision { run, call, .. } if before.decision_of(call).is_none() => {
                self.asks.insert(call.clone(), before.runs[run].agent.clone());
            }
            RunCommand::AnswerDecision { decision, .. } => self.resolved(decision, before),
            RunCommand::CancelAgent { agent, .. } => self.cancel(agent, before),
            RunCommand::Review { contribution, verdict, .. } => self.review(contribution, *verdict, before, after),
            RunCommand::End { run, .. } => {
                let agent = before.runs[run].agent.clone();
                self.ended(&agent, before);
                self.stopped(&agent, before);
            }
            RunCommand::StartTool { call, .. }
                if after.tool_calls.get(call).is_none_or(|call| call.state.is_settled()) =>
            {
                self.settled(call, ToolCallState::Denied);
            }
            _ => {}
        }
    }

    /// Whoever works is told to stop; whoever does not has ended.
    fn cancel(&mut self, agent: &AgentId, before: &Snapshot) {
        match before.live_run(agent) {
            Some(run) if run.state == RunState::Running => self.stopping.push(agent.clone()),
            Some(_) | None => self.ended(agent, before),
        }
    }

    /// An agent pays what it owes, and everybody below it before; its own calls wait for nobody.
    fn ended(&mut self, agent: &AgentId, before: &Snapshot) {
        let Some(id) = self.debts.iter().find(|(_, debt)| debt.by == *agent && !debt.paid).map(|(id, _)| id.clone())
        else {
            return;
        };
        self.stopped(agent, before);
        let below: Vec<AgentId> =
            self.debts.values().filter(|debt| debt.to == *agent && !debt.paid).map(|debt| debt.by.clone()).collect();
        below.iter().for_each(|child| self.ended(child, before));
        let debt = self.debts.get_mut(&id).expect("found");
        debt.paid = true;
        debt.messages += u32::from(debt.awaited_by.is_none());
    }

    /// All that an agent has open is settled, none of it as done.
    fn stopped(&mut self, agent: &AgentId, before: &Snapshot) {
        self.stopping.retain(|one| one != agent);
        let calls: Vec<ToolCallId> = before.open_calls(agent).into_iter().map(|call| call.id.clone()).collect();
        calls.iter().for_each(|call| self.settled(call, ToolCallState::Cancelled));
    }

    fn settled(&mut self, call: &ToolCallId, state: ToolCallState) {
        self.asks.remove(call);
        for debt in self.debts.values_mut().filter(|debt| debt.awaited_by.as_ref() == Some(call)) {
            debt.awaited_by = None;
            // What has come is the result; where the call has another result, it is told besides.
            debt.messages += u32::from(debt.paid && state != ToolCallState::Done);
        }
    }

    fn resolved(&mut self, decision: &DecisionId, before: &Snapshot) {
        self.asks.remove(&before.decisions[decision].tool_call);
    }

    fn review(&mut self, id: &ContributionId, verdict: ReviewVerdict, before: &Snapshot, after: &Snapshot) {
        if verdict != ReviewVerdict::Rework {
            return;
        }
        let agent = &before.contributions[id].agent;
        let work = after.live_assignment(agent).expect("what is sent back is worked on");
        let debt = Debt { by: agent.clone(), to: work.parent.clone(), awaited_by: None, paid: false, messages: 0 };
        self.debts.insert(work.id.clone(), debt);
    }

    /// What stands otherwise than it is owed.
    pub fn differs(&self, world: &World) -> Option<String> {
        for (id, debt) in &self.debts {
            let seen = &world.seen[id];
            if seen.made != u32::from(debt.paid) || seen.told != debt.messages {
                return Some(format!("{id}: the ledger says {debt:?}, seen was {seen:?}"));
            }
        }
        if self.debts.len() != world.seen.len() {
            return Some("somebody works and nobody knows why".into());
        }
        let open: Vec<&ToolCallId> =
            world.snap.decisions.values().filter(|q| q.state == DecisionState::Open).map(|q| &q.tool_call).collect();
        if open.len() != self.asks.len() || !open.iter().all(|call| self.asks.contains_key(call)) {
            return Some(format!("open are {open:?}, and the ledger says {:?}", self.asks));
        }
        None
    }
}
