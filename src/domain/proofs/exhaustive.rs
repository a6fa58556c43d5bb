//! Every interleaving of Main and two Subagents, with a crash of the owner at each step.
//!
//! Breadth first over what stands, ids and times made canonical. `COWORK_EVENTS` makes the bound
//! another than that of a usual run; 12 is the one of which `docs/performance.md` tells.

use super::driver::{self, CALM};
use super::world::{action, contract, planned, report};
use super::{World, laws};
use crate::domain::*;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};

/// How many commands lie between the beginning and the end of a usual run.
const USUAL: usize = 5;

/// Two Subagents, one that is waited for and one that is not, both given and neither begun.
fn beginning() -> World {
    let mut world = World::with_task("full");
    let (task, agent) = (world.id(), world.main());
    world.ok(SystemCommand::StartRun { task, agent: agent.clone() });
    let run = world.snap.live_run(&agent).expect("it runs").id.clone();
    let call = ModelCallId("k_first".into());
    world.ok(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() });
    let calls = vec![planned("delegate", "wait"), planned("delegate", "")];
    let (parts, usage) = (vec![Part::text("I give it away")], Usage::default());
    world.ok(RunCommand::CommitTurn { run: run.clone(), call, parts, calls, usage, cut: false });
    for (call, mode) in world.snap.open_calls(&agent).into_iter().cloned().zip(DelegationMode::ALL).collect::<Vec<_>>()
    {
        let (run, id) = (run.clone(), call.id.clone());
        world.ok(RunCommand::StartTool {
            run: run.clone(),
            call: id.clone(),
            action: action(&call),
            pre_hash: None,
            post_hash: None,
        });
        let (name, objective) = ("part".to_owned(), "do a part".to_owned());
        world.ok(RunCommand::Delegate { run, call: id, mode: *mode, name, objective, contract: contract() });
    }
    world
}

/// All that anybody could do next.
fn choices(world: &World) -> Vec<Command> {
    let s = &world.snap;
    let task = world.id();
    let owner = Owner { holder: "h".into(), host: "here".into(), pid: 1, pid_start: 1, boot_id: "b".into() };
    let mut all: Vec<Command> = vec![SystemCommand::TakeOver { owner }.into()];
    for due in s.due(world.task()) {
        all.push(SystemCommand::StartRun { task: due.task, agent: due.agent }.into());
    }
    for work in s.assignments.values().filter(|work| !work.state.is_ended()) {
        all.push(UserCommand::CancelAgent { task: task.clone(), agent: work.agent.clone() }.into());
    }
    all.push(UserCommand::Interrupt { task: task.clone() }.into());
    for decision in s.decisions.values().filter(|one| one.state == DecisionState::Open) {
        let (task, decision) = (task.clone(), decision.id.clone());
        all.push(UserCommand::AnswerDecision { task, decision, answer: "this".into() }.into());
    }
    for run in s.runs.values().filter(|run| run.state == RunState::Running) {
        of_run(world, run, &mut all);
    }
    all
}

fn of_run(world: &World, run: &Run, all: &mut Vec<Command>) {
    let s = &world.snap;
    let id = run.id.clone();
    if let Some(call) = s.live_model_call(&run.agent) {
        let is_subagent = s.live_assignment(&run.agent).is_some();
        let answers = match is_subagent {
            true => vec![vec![], vec![planned("report", "")], vec![planned("decide", "")]],
            false => vec![vec![]],
        };
        for calls in answers {
            let (parts, usage) = (vec![Part::text("said")], Usage::default());
            let (run, call) = (id.clone(), call.id.clone());
            all.push(RunCommand::CommitTurn { run, call, parts, calls, usage, cut: false }.into());
        }
        return;
    }
    match next_step(s, &id, world.at) {
        Step::RunTools(calls) => {
            for call in calls {
                let (run, id) = (id.clone(), call.id.clone());
                if call.state != ToolCallState::Running {
                    let action = action(&call);
                    all.push(RunCommand::StartTool { run, call: id, action, pre_hash: None, post_hash: None }.into());
                    continue;
                }
                match call.name.as_str() {
                    "report" => {
                        all.push(RunCommand::Report { run, call: Some(id), report: report(Outcome::Completed) }.into())
                    }
                    "decide" if s.decision_of(&id).is_none() => {
                        let (question, fallback) = ("which?".into(), "this".into());
                        all.push(
                            RunCommand::RequestDecision { run, call: id, question, fallback, wait_ms: 1000 }.into(),
                        );
                    }
                    // Whatever it knows when it returns: a tool may have looked before the last step.
                    _ => {
                        for state in [ToolCallState::Done, ToolCallState::Cancelled] {
                            let (run, call) = (run.clone(), id.clone());
                            let parts = vec![Part::text("returns")];
                            all.push(RunCommand::SettleTool { run, call, state, parts, saw: None }.into());
                        }
                    }
                }
            }
        }
        Step::Ask { .. } => {
            let call = ModelCallId(format!("k_{}", world.count));
            all.push(RunCommand::BeginTurn { run: id, call, model: "m:x".into() }.into());
        }
        Step::Suspend(_) | Step::End(..) | Step::Judge(_) => {
            let mut calm = super::Chance::new(0);
            all.extend(driver::step(world, &run.agent, CALM, &mut calm));
        }
        Step::Leave => {}
    }
}

/// What stands, without what only tells histories apart: ids by their first appearance, no times,
/// no fence, no story.
fn canonical(world: &World) -> [u8; 32] {
    let text = format!("{:?}", world.snap);
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hash = Sha256::new();
    hash.update(format!("{:?}", world.seen.values().collect::<Vec<_>>()));
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        let (letter, rest) = word.split_at(word.len().min(2));
        let is_id = letter.ends_with('_') && !rest.is_empty();
        if is_id {
            let next = names.len();
            hash.update([1, letter.as_bytes()[0]]);
            hash.update(names.entry(word).or_insert(next).to_le_bytes());
        } else if !word.starts_with(|c: char| c.is_ascii_digit()) {
            hash.update(word);
            hash.update([0]);
        }
    }
    hash.finalize().into()
}

/// What a search has met.
struct Met {
    states: usize,
    steps: usize,
}

fn search(depth: usize) -> Met {
    let mut known = HashSet::new();
    let mut level = vec![beginning()];
    known.insert(canonical(&level[0]));
    let mut met = Met { states: 1, steps: 0 };
    for _ in 0..depth {
        let mut next = Vec::new();
        for world in &level {
            for command in choices(world) {
                let mut after = world.clone();
                met.steps += 1;
                if after.submit(command).is_err() {
                    continue;
                }
                if let Some(broken) = laws::broken(&after) {
                    panic!("{broken}\n{}", after.story.join("\n"));
                }
                if known.insert(canonical(&after)) {
                    next.push(after);
                }
            }
        }
        met.states += next.len();
        level = next;
    }
    // From wherever the bound was reached, and so from everywhere before, everything comes to its end.
    for world in level {
        let mut world = world;
        if let Err(stuck) = driver::drain(&mut world) {
            panic!("{stuck}\n{}", world.story.join("\n"));
        }
        let waits = world.snap.assignments.values().find(|work| !work.state.is_ended());
        assert!(waits.is_none(), "somebody waits for ever: {waits:?}\n{}", world.story.join("\n"));
    }
    met
}

#[test]
fn no_interleaving_of_two_subagents_with_a_crash_at_each_step_breaks_a_law_or_waits_for_ever() {
    let depth = std::env::var("COWORK_EVENTS").ok().and_then(|n| n.parse().ok()).unwrap_or(USUAL);
    let began = std::time::Instant::now();
    let Met { states, steps } = search(depth);
    eprintln!("{depth} events: {states} states, {steps} steps, {:.1} s", began.elapsed().as_secs_f64());
    assert!(states > 100, "only {states} states: the choices are too few");
}
