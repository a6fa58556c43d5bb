//! The Subagents of the open Task, as every pane and the chat see them: who they are, how far, what
//! they ask and what they brought.

use super::Projection;
use super::live::Piece;
use crate::domain::{
    Actor, ActorKind, AgentId, Assignment, AssignmentId, AssignmentState, Contribution, DecisionRequest, DecisionState,
    Delegated, Message, MessageKind, ReviewState, RunState, TaskStatus, ToolCall, ToolCallId,
};
use crate::tui::summary;
use std::collections::BTreeMap;

/// How a Subagent stands, from what needs somebody to what is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// It asked for a decision and waits.
    Asks,
    /// It waits for a person to allow something.
    Waits,
    /// It works.
    Works,
    /// It waits for its turn, or for those it gave work to.
    Queued,
    /// What it brought is to be reviewed.
    Brought,
    /// It is over.
    Over,
}

/// A Subagent in the tree of those who gave the work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member<'a> {
    /// The work it is at, or was at last.
    pub work: &'a Assignment,
    /// How far below Main, from 0.
    pub depth: usize,
    /// How it stands.
    pub standing: Standing,
}

impl Projection {
    /// Takes in what was given to Subagents.
    pub(super) fn gave(&mut self, delegated: Vec<Delegated>) {
        for Delegated { assignment, contribution, decisions, run, calls, last_words } in delegated {
            self.began(&assignment.agent);
            let voice = self.voices.entry(assignment.agent.clone()).or_default();
            // Work that was sent back comes later in the list, and its words are the newer ones.
            if !last_words.is_empty() {
                voice.last_words = last_words;
            }
            let records = &mut self.records;
            records.contributions.extend(contribution.map(|brought| (brought.id.clone(), brought)));
            records.decisions.extend(decisions.into_iter().map(|decision| (decision.id.clone(), decision)));
            records.tool_calls.extend(calls.into_iter().map(|call| (call.id.clone(), call)));
            records.runs.extend(run.map(|run| (run.id.clone(), run)));
            records.assignments.insert(assignment.id.clone(), assignment);
        }
    }

    /// Notes the place of a Subagent among those that were given work.
    pub(super) fn began(&mut self, agent: &AgentId) {
        let next = self.places.len();
        self.places.entry(agent.clone()).or_insert(next);
    }

    /// The work a Subagent is at, or was at last.
    pub fn work_of(&self, agent: &AgentId) -> Option<&Assignment> {
        self.records.assignments.values().filter(|work| work.agent == *agent).max_by_key(|work| work.turn)
    }

    /// The work that a call gave.
    pub fn given_by(&self, call: &ToolCallId) -> Option<&Assignment> {
        self.records.assignments.values().find(|work| work.call.as_ref() == Some(call))
    }

    /// What came of an assignment.
    pub fn contribution_to(&self, work: &AssignmentId) -> Option<&Contribution> {
        self.records.contributions.values().find(|brought| brought.assignment == *work)
    }

    /// The Contribution that a call reported.
    pub fn reported_by(&self, call: &ToolCall) -> Option<&Contribution> {
        if call.name != "report" || !call.state.is_settled() {
            return None;
        }
        let said: serde_json::Value = serde_json::from_str(&call.arguments).ok()?;
        let done = said.get("done")?.as_str()?.trim();
        let mut own = self.records.contributions.values().filter(|brought| brought.agent == call.agent);
        own.find(|brought| brought.report.done.trim() == done)
    }

    /// What an agent waits to be decided.
    pub fn asked_by(&self, agent: &AgentId) -> Option<&DecisionRequest> {
        let open = |decision: &&DecisionRequest| decision.agent == *agent && decision.state == DecisionState::Open;
        self.records.decisions.values().find(open)
    }

    /// What is to be decided, by what runs out first.
    pub fn open_decisions(&self) -> Vec<&DecisionRequest> {
        let open = |decision: &&DecisionRequest| decision.state == DecisionState::Open;
        let mut open: Vec<_> = self.records.decisions.values().filter(open).collect();
        open.sort_by_key(|decision| (decision.deadline_at, &decision.id));
        open
    }

    /// What only a person can decide now: Main can't, for it waits for a person itself or stands still.
    pub fn decisions_for_a_person(&self) -> Vec<&DecisionRequest> {
        let main_stands = self.task().is_some_and(|task| match task.status {
            TaskStatus::AwaitingHuman | TaskStatus::Paused | TaskStatus::Failed => !self.is_running(),
            TaskStatus::Active | TaskStatus::Parked | TaskStatus::Completed | TaskStatus::Cancelled => false,
        });
        if main_stands { self.open_decisions() } else { Vec::new() }
    }

    /// How a piece of work stands.
    fn standing(&self, work: &Assignment) -> Standing {
        match work.state {
            AssignmentState::Queued => Standing::Queued,
            AssignmentState::Blocked => Standing::Asks,
            AssignmentState::Running => {
                let asks = |agent: &AgentId| *agent == work.agent;
                if self.records.approvals.values().any(|approval| asks(&approval.agent)) {
                    return Standing::Waits;
                }
                Standing::Works
            }
            AssignmentState::Completed | AssignmentState::Failed | AssignmentState::Cancelled => {
                match self.contribution_to(&work.id).map(|brought| brought.state) {
                    Some(ReviewState::Unreviewed) => Standing::Brought,
                    Some(ReviewState::Accepted | ReviewState::Rejected | ReviewState::Superseded) | None => {
                        Standing::Over
                    }
                }
            }
        }
    }

    /// The Subagents as a tree: children under who gave them their work; those who still have work
    /// first, then what is to be reviewed, and last what is over; each in the order they began.
    pub fn team(&self) -> Vec<Member<'_>> {
        let mut newest: BTreeMap<&AgentId, &Assignment> = BTreeMap::new();
        for work in self.records.assignments.values() {
            let known = newest.entry(&work.agent).or_insert(work);
            if known.turn < work.turn {
                *known = work;
            }
        }
        let mut children: BTreeMap<&AgentId, Vec<&Assignment>> = BTreeMap::new();
        for work in newest.values() {
            // Who gave work and is not here any more leaves it to Main.
            let parent =
                if newest.contains_key(&work.parent) { &work.parent } else { self.main().unwrap_or(&work.parent) };
            children.entry(parent).or_default().push(work);
        }
        let mut list = Vec::new();
        if let Some(main) = self.main() {
            self.add_below(main, 0, &children, &mut list);
        }
        list
    }

    fn add_below<'a>(
        &self,
        parent: &AgentId,
        depth: usize,
        children: &BTreeMap<&AgentId, Vec<&'a Assignment>>,
        list: &mut Vec<Member<'a>>,
    ) {
        /// Nobody gives work so far down; a circle in a damaged history ends here.
        const DEEPEST: usize = 16;
        let Some(own) = children.get(parent).filter(|_| depth < DEEPEST) else { return };
        let mut own: Vec<Member<'a>> =
            own.iter().map(|work| Member { work, depth, standing: self.standing(work) }).collect();
        let group = |standing| match standing {
            Standing::Asks | Standing::Waits | Standing::Works | Standing::Queued => 0,
            Standing::Brought => 1,
            Standing::Over => 2,
        };
        own.sort_by_key(|member| (group(member.standing), self.places.get(&member.work.agent)));
        for member in own {
            list.push(member);
            self.add_below(&member.work.agent, depth + 1, children, list);
        }
    }

    /// How many Subagents are at work.
    pub fn at_work(&self) -> usize {
        let runs = self.records.runs.values();
        runs.filter(|run| run.state == RunState::Running && Some(&run.agent) != self.main()).count()
    }

    /// What an agent is doing or said last, raw, in few words.
    pub fn last_line(&self, agent: &AgentId) -> String {
        let voice = self.voice(agent);
        if let Some(voice) = voice {
            if let Some(forming) = voice.live.forming.last() {
                return format!("{}…", forming.name);
            }
            let said = voice.live.pieces.iter().rev().find_map(|piece| match piece {
                Piece::Text(text) | Piece::Thinking(text) => text.lines().rev().find(|line| !line.trim().is_empty()),
            });
            if let Some(line) = said {
                return line.to_owned();
            }
        }
        if let Some(call) = self.newest_call(agent) {
            let printed = voice.and_then(|voice| voice.live.output.get(&call.id));
            let last = printed.and_then(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
            return last.map_or_else(|| format!("{} {}", call.name, summary::gist(&call.arguments)), str::to_owned);
        }
        let words = voice.map(|voice| voice.last_words.as_str()).unwrap_or_default();
        words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
    }

    /// What an agent is called.
    pub fn name_of(&self, agent: &AgentId) -> String {
        match self.work_of(agent) {
            Some(work) => work.name.clone(),
            None if self.main() == Some(agent) => "Main".to_owned(),
            None => agent.to_string(),
        }
    }

    /// What whoever sent or gets a message is called.
    pub fn called(&self, actor: &Actor) -> String {
        match actor.kind {
            ActorKind::Person => "you".to_owned(),
            ActorKind::Agent => self.name_of(&AgentId::from(actor.id.as_str())),
            ActorKind::Job | ActorKind::Source | ActorKind::File | ActorKind::System => actor.kind.as_str().to_owned(),
        }
    }

    /// The Contribution that a message tells of.
    pub fn told_contribution(&self, message: &Message) -> Option<&Contribution> {
        let work = message.key.strip_prefix("assignment:")?.strip_suffix(":terminal")?;
        self.contribution_to(&AssignmentId::from(work)).filter(|_| message.kind == MessageKind::Contribution)
    }

    /// The decision that a message asks for.
    pub fn told_decision(&self, message: &Message) -> Option<&DecisionRequest> {
        let id = message.key.strip_prefix("decision:")?.strip_suffix(":request")?;
        self.records.decisions.get(&crate::domain::DecisionId::from(id))
    }
}
