//! The invariants: what must never stand, whatever was asked and whoever died.

use super::World;
use crate::domain::*;

/// The first law that is broken, if one is.
pub fn broken(world: &World) -> Option<String> {
    contributions(world)
        .or_else(|| decisions(&world.snap))
        .or_else(|| agents(&world.snap))
        .or_else(|| in_flight(&world.snap))
        .or_else(|| at_rest(&world.snap))
        .or_else(|| world.ledger.differs(world))
}

/// Each assignment has one Contribution when it has ended and none before, and its giver is told once.
fn contributions(world: &World) -> Option<String> {
    let s = &world.snap;
    for (id, seen) in &world.seen {
        let live = s.assignments.get(id).filter(|work| !work.state.is_ended());
        let made = u32::from(live.is_none());
        if seen.made != made {
            return Some(format!("assignment {id} has {} Contributions and not {made}", seen.made));
        }
        let waits = s.assignments.get(id).filter(|work| {
            work.mode == DelegationMode::Sync && work.call.as_ref().is_some_and(|call| s.tool_calls.contains_key(call))
        });
        let told = u32::from(live.is_none() && waits.is_none());
        if seen.told + seen.handed != told {
            return Some(format!("the end of {id} was told {seen:?} times and not {told}"));
        }
    }
    None
}

/// A decision is open only for one who waits for it, and whoever waits for one is blocked.
fn decisions(s: &Snapshot) -> Option<String> {
    for decision in s.decisions.values().filter(|one| one.state == DecisionState::Open) {
        let work = s.assignments.get(&decision.assignment).filter(|work| !work.state.is_ended());
        if work.is_none() {
            return Some(format!("decision {} is open and its assignment is dead", decision.id));
        }
        if !s.tool_calls.contains_key(&decision.tool_call) {
            return Some(format!("decision {} is open and its call is settled", decision.id));
        }
    }
    for work in s.assignments.values().filter(|work| !work.state.is_ended()) {
        let open = s.decisions.values().any(|one| one.assignment == work.id && one.state == DecisionState::Open);
        if open != (work.state == AssignmentState::Blocked) {
            return Some(format!("assignment {} is {} and has a decision open: {open}", work.id, work.state));
        }
    }
    None
}

/// Who has nothing to do has no Run, nothing in the Inbox and nobody below; who is retired even less.
fn agents(s: &Snapshot) -> Option<String> {
    for agent in s.agents.values().filter(|agent| agent.role == AgentRole::Subagent) {
        let id = &agent.id;
        let live = s.live_assignment(id);
        if live.is_none() && s.live_run(id).is_some() {
            return Some(format!("{id} has a Run and no assignment"));
        }
        if live.is_none() && !s.inbox(id, MessageState::Queued).is_empty() {
            return Some(format!("a message is queued for {id}, which has ended"));
        }
        if live.is_none() && s.assignments.values().any(|work| work.parent == *id && !work.state.is_ended()) {
            return Some(format!("{id} has ended and somebody works for it"));
        }
        if s.assignments.values().filter(|work| work.agent == *id && !work.state.is_ended()).count() > 1 {
            return Some(format!("{id} is at two assignments"));
        }
        let unreviewed = s.contributions.values().any(|c| c.agent == *id && c.state == ReviewState::Unreviewed);
        if agent.retired_at.is_some() != (live.is_none() && !unreviewed) {
            return Some(format!("{id} is retired at {:?}, unreviewed: {unreviewed}", agent.retired_at));
        }
    }
    None
}

/// What is in flight is held by a live Run under the present fence.
fn in_flight(s: &Snapshot) -> Option<String> {
    for agent in s.agents.keys() {
        let live: Vec<&Run> = s.runs.values().filter(|run| run.agent == *agent && !run.state.is_ended()).collect();
        if live.len() > 1 {
            return Some(format!("{agent} has {} Runs", live.len()));
        }
        let running = live.iter().any(|run| run.state == RunState::Running);
        if live.iter().any(|run| run.state == RunState::Running && run.fence != s.fence) {
            return Some(format!("the Run of {agent} runs under an older fence"));
        }
        if s.model_calls.values().filter(|call| call.agent == *agent).count() > usize::from(running) {
            return Some(format!("a request of {agent} is under way and nobody waits for it"));
        }
        if live.is_empty() && !s.open_calls(agent).is_empty() {
            return Some(format!("calls of {agent} are open and it has no Run"));
        }
    }
    for message in s.messages.values().filter(|m| m.state == MessageState::Delivered) {
        if message.fence != Some(s.fence) {
            return Some(format!("message {} is held under an older fence", message.id));
        }
    }
    for control in s.controls.values() {
        if !s.runs.contains_key(&control.run) {
            return Some(format!("control {} is open and its Run has ended", control.id));
        }
    }
    for call in s.tool_calls.values().filter(|call| call.state == ToolCallState::AwaitingApproval) {
        if !s.approvals.values().any(|a| a.tool_call == call.id && a.state == ApprovalState::Pending) {
            return Some(format!("call {} waits for an approval that nobody can give", call.id));
        }
    }
    None
}

/// Where nobody runs and nobody is due, somebody outside is waited for, or nothing is left undone.
fn at_rest(s: &Snapshot) -> Option<String> {
    for task in s.tasks.values() {
        match task.status {
            TaskStatus::Paused | TaskStatus::Failed => continue,
            TaskStatus::Cancelled => {
                let live = s.assignments.values().find(|work| work.task == task.id && !work.state.is_ended());
                if let Some(work) = live {
                    return Some(format!("the Task is cancelled and {} is {}", work.id, work.state));
                }
                continue;
            }
            TaskStatus::Active | TaskStatus::Parked | TaskStatus::AwaitingHuman | TaskStatus::Completed => {}
        }
        let of_task = s.agents.values().filter(|agent| agent.task == task.id);
        for agent in of_task {
            let id = &agent.id;
            let asks_person = s.approvals.values().any(|a| a.agent == *id && a.state == ApprovalState::Pending)
                || s.questions.values().any(|q| q.agent == *id);
            let goes_on = s.live_run(id).is_some_and(|run| run.state == RunState::Running)
                || s.is_due(task, agent)
                || (s.live_run(id).is_some() && asks_person);
            let has_work = match agent.role {
                AgentRole::Subagent => s.live_assignment(id).is_some(),
                AgentRole::Main => {
                    s.live_run(id).is_some()
                        || s.inbox(id, MessageState::Queued).iter().any(|m| {
                            // By the words of the design, not by the function under test.
                            m.kind != MessageKind::Notice || m.from.kind == ActorKind::System
                        })
                }
            };
            if has_work && !goes_on {
                return Some(format!("{id} has work, and nothing will ever wake it ({})", task.status));
            }
        }
        let live = s.assignments.values().any(|work| work.task == task.id && !work.state.is_ended());
        if task.status == TaskStatus::Completed && (live || s.live_run(&task.main).is_some()) {
            return Some("the Task is completed and somebody works".into());
        }
        let asked = s.approvals.values().any(|a| a.task == task.id && a.state == ApprovalState::Pending)
            || s.questions.values().any(|q| q.task == task.id);
        if asked != (task.status == TaskStatus::AwaitingHuman) {
            return Some(format!("a person is asked: {asked}, and the Task is {}", task.status));
        }
    }
    None
}
