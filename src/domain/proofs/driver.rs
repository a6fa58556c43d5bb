//! What the loop of an agent would submit next, and the model behind it with chance.

use super::world::{action, contract, planned, report};
use super::{Chance, World};
use crate::domain::command::{PlannedCall, ReviewVerdict};
use crate::domain::*;

/// How an agent and its model behave.
#[derive(Clone, Copy)]
pub struct Mood {
    /// How many Subagents may work at once before models stop giving work away; 0: models only answer.
    pub most: usize,
    /// Whether tools act on what stood a moment ago, and models fail.
    pub races: bool,
}

/// Everything goes well, and every answer is the last one.
pub const CALM: Mood = Mood { most: 0, races: false };

/// The next command of the Run of `agent`, or nothing where it waits for somebody.
pub fn step(world: &World, agent: &AgentId, mood: Mood, chance: &mut Chance) -> Option<Command> {
    let s = &world.snap;
    let run = s.live_run(agent).filter(|run| run.state == RunState::Running)?.id.clone();
    if let Some(call) = s.live_model_call(agent) {
        return Some(answer(world, agent, run, call.id.clone(), mood, chance).into());
    }
    Some(match next_step(s, &run, world.at) {
        Step::RunTools(calls) => {
            let first = chance.below(if mood.races { calls.len() } else { 1 });
            // Calls that only wait run side by side.
            return calls
                .iter()
                .cycle()
                .skip(first)
                .take(calls.len())
                .find_map(|call| tool(world, agent, &run, call, mood, chance));
        }
        Step::Ask { .. } => {
            let call = ModelCallId(format!("k_{}", world.count));
            RunCommand::BeginTurn { run, call, model: "m:x".into() }.into()
        }
        Step::Judge(checks) => {
            let (check, evidence) = (checks[0].id.clone(), serde_json::json!({"exit_code": 0}));
            RunCommand::GiveVerdict { run, check, outcome: CheckState::Passed, evidence }.into()
        }
        Step::Suspend(reason) => RunCommand::Suspend { run, reason }.into(),
        Step::End(EndReason::Finished, _) if s.live_assignment(agent).is_some() => {
            RunCommand::Report { run, call: None, report: report(Outcome::Completed) }.into()
        }
        Step::End(reason, detail) => RunCommand::End { run, reason, detail }.into(),
        Step::Leave => return None,
    })
}

fn answer(
    world: &World,
    agent: &AgentId,
    run: RunId,
    call: ModelCallId,
    mood: Mood,
    chance: &mut Chance,
) -> RunCommand {
    let usage = Usage { turns: 1, ..Usage::default() };
    if mood.races && chance.one_in(12) {
        let retry_at = chance.one_in(2).then_some(world.at);
        let (class, message) = ("overloaded".into(), "later".into());
        return RunCommand::FailTurn { run, call, class, message, retry_at, instead: None };
    }
    if mood.races && chance.one_in(14) {
        let parts = if chance.one_in(2) { vec![] } else { vec![Part::text("half an ans")] };
        return RunCommand::CommitTurn { run, call, parts, calls: vec![], usage, cut: true };
    }
    let calls = if mood.most == 0 || chance.one_in(3) { vec![] } else { plan(world, agent, mood, chance) };
    RunCommand::CommitTurn { run, call, parts: vec![Part::text("said")], calls, usage, cut: false }
}

fn plan(world: &World, agent: &AgentId, mood: Mood, chance: &mut Chance) -> Vec<PlannedCall> {
    let is_main = *agent == world.main();
    let working = world.snap.assignments.values().filter(|work| !work.state.is_ended()).count();
    (0..1 + chance.below(3))
        .map(|_| match chance.below(10) {
            0..=3 if working < mood.most => planned("delegate", if chance.one_in(2) { "wait" } else { "" }),
            4 | 5 if !is_main => planned("decide", ""),
            4 if is_main => planned("ask", ""),
            6 if !is_main => planned("report", ""),
            7 => planned("shell", ""),
            8 => planned("read", ""),
            _ => planned("team", ""),
        })
        .collect()
}

/// What the tool of a call does next; nothing where it waits.
fn tool(
    world: &World,
    agent: &AgentId,
    run: &RunId,
    call: &ToolCall,
    mood: Mood,
    chance: &mut Chance,
) -> Option<Command> {
    let s = &world.snap;
    let (run, id) = (run.clone(), call.id.clone());
    if call.state != ToolCallState::Running {
        let action = action(call);
        return Some(RunCommand::StartTool { run, call: id, action, pre_hash: None, post_hash: None }.into());
    }
    let settle = |state, text: String| {
        let parts = vec![Part::text(text)];
        Some(RunCommand::SettleTool { run: run.clone(), call: id.clone(), state, parts, saw: None }.into())
    };
    if mood.races && chance.one_in(20) {
        let state = [ToolCallState::Error, ToolCallState::Cancelled][chance.below(2)];
        return settle(state, "stopped".into());
    }
    match call.name.as_str() {
        "delegate" => {
            let mode = if call.arguments == "wait" { DelegationMode::Sync } else { DelegationMode::Async };
            let Some(work) = s.assignments.values().find(|work| work.call.as_ref() == Some(&id)) else {
                let (name, objective) = ("part".into(), "do a part".into());
                return Some(
                    RunCommand::Delegate { run, call: id, mode, name, objective, contract: contract() }.into(),
                );
            };
            if mode == DelegationMode::Async {
                return settle(ToolCallState::Done, "Given away.".into());
            }
            let is_called = s.inbox(agent, MessageState::Queued).into_iter().any(Message::wakes);
            // It looked a moment ago: what ended since then it does not know of.
            if is_called || (mood.races && chance.one_in(8)) {
                return settle(ToolCallState::Done, "Still running.".into());
            }
            let made = s.contributions.values().find(|made| made.assignment == work.id)?;
            settle(ToolCallState::Done, made.told(work))
        }
        "decide" => {
            let Some(decision) = s.decision_of(&id) else {
                let (question, fallback, wait_ms) = ("which?".into(), "this".into(), 1_000);
                return Some(RunCommand::RequestDecision { run, call: id, question, fallback, wait_ms }.into());
            };
            if decision.state != DecisionState::Open {
                return settle(ToolCallState::Done, format!("Decided: {}", decision.answer.as_deref().unwrap_or("")));
            }
            if mood.races && chance.one_in(6) {
                return settle(ToolCallState::Done, "Guidance came instead.".into());
            }
            if decision.deadline_at <= world.at {
                let (task, decision) = (world.id(), decision.id.clone());
                return Some(SystemCommand::ExpireDecision { task, decision }.into());
            }
            None
        }
        "ask" => {
            if s.question_of(&id).is_some() {
                return None;
            }
            let (question, meanwhile) = ("really?".into(), String::new());
            Some(RunCommand::AskPerson { run, call: id, question, options: vec![], meanwhile }.into())
        }
        "report" => {
            if s.open_calls(agent).len() > 1 {
                return settle(ToolCallState::Error, "calls are open".into());
            }
            let outcome = Outcome::ALL[chance.below(3)];
            Some(RunCommand::Report { run, call: Some(id), report: report(outcome) }.into())
        }
        "team" if mood.races => {
            let below: Vec<AgentId> =
                s.agents.values().filter(|one| one.role == AgentRole::Subagent).map(|one| one.id.clone()).collect();
            let open: Vec<DecisionId> = s.decisions.keys().cloned().collect();
            let made: Vec<ContributionId> = s.contributions.keys().cloned().collect();
            let other = chance.pick(&below).cloned();
            match (chance.below(8), other) {
                (0 | 1, Some(to)) => {
                    Some(RunCommand::Tell { run, call: id, to, text: "by the way".into(), refs: vec![] }.into())
                }
                (2, Some(agent)) => Some(RunCommand::CancelAgent { run, agent }.into()),
                (3 | 4, _) if !open.is_empty() => {
                    let decision = chance.pick(&open)?.clone();
                    Some(RunCommand::AnswerDecision { run, decision, answer: "that".into() }.into())
                }
                (5 | 6, _) if !made.is_empty() => {
                    let contribution = chance.pick(&made)?.clone();
                    let verdict = ReviewVerdict::ALL[chance.below(3)];
                    Some(RunCommand::Review { run, contribution, verdict, because: Some("so".into()) }.into())
                }
                _ => settle(ToolCallState::Done, "looked".into()),
            }
        }
        _ => settle(ToolCallState::Done, "result".into()),
    }
}

/// Drives everybody until nothing moves, with a person who answers whatever is asked.
///
/// Says who still waits, where it does not come to rest.
pub fn drain(world: &mut World) -> Result<(), String> {
    let mut chance = Chance::new(7);
    match world.task().status {
        TaskStatus::Paused | TaskStatus::Failed => {
            let task = world.id();
            world.ok(UserCommand::Resume { task });
        }
        TaskStatus::Active
        | TaskStatus::Parked
        | TaskStatus::AwaitingHuman
        | TaskStatus::Completed
        | TaskStatus::Cancelled => {}
    }
    for _ in 0..2_000 {
        if let Some(command) = by_person(world).or_else(|| next_of_all(world, &mut chance)) {
            if let Err(rejection) = world.submit(command.clone()) {
                return Err(format!("{command:?} was refused: {rejection}"));
            }
            if let Some(broken) = super::laws::broken(world) {
                return Err(broken);
            }
            continue;
        }
        let open = world.snap.decisions.values().filter(|one| one.state == DecisionState::Open);
        match open.map(|one| one.deadline_at).min() {
            Some(deadline) if deadline > world.at => world.at = deadline,
            Some(_) => return Err("a decision is overdue and nobody lets it expire".into()),
            None => return Ok(()),
        }
    }
    Err("it goes on for ever".into())
}

fn by_person(world: &World) -> Option<Command> {
    let (s, task) = (&world.snap, world.id());
    if let Some(approval) = s.approvals.values().find(|a| a.state == ApprovalState::Pending) {
        let (approval, shown) = (approval.id.clone(), approval.action_hash.clone());
        let answer = crate::domain::command::ApprovalAnswer::Once;
        return Some(UserCommand::DecideApproval { task, approval, shown, answer, because: None }.into());
    }
    let question = s.questions.values().next()?.id.clone();
    Some(UserCommand::AnswerQuestion { task, question, answer: "yes".into() }.into())
}

/// The next command of whoever can do something: those below before those above.
fn next_of_all(world: &World, chance: &mut Chance) -> Option<Command> {
    if let Some(due) = world.snap.due(world.task()).into_iter().next() {
        return Some(SystemCommand::StartRun { task: due.task, agent: due.agent }.into());
    }
    let main = world.main();
    let mut agents: Vec<&AgentId> = world.snap.agents.keys().collect();
    agents.sort_by_key(|agent| **agent == main);
    agents.into_iter().find_map(|agent| step(world, agent, CALM, chance))
}
