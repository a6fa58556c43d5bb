//! Whole Tasks of 1 to 50 Subagents under a seeded scheduler: models that stall, fail and answer
//! out of order, and an owner that is killed. The same seed gives the same events.

use super::driver::{self, Mood};
use super::{Chance, World, laws};
use crate::domain::command::PlannedCall;
use crate::domain::*;

/// Plays a Task with so many Subagents to its end; returns the hash of its events.
fn play(seed: u64, subagents: usize) -> [u8; 32] {
    let mut chance = Chance::new(seed);
    let mut world = World::with_task("full");
    begin(&mut world, subagents);
    // Which models answer slowly: they are passed over most of the time.
    let slow = chance.bits();
    for _ in 0..40 * subagents {
        if chance.one_in(60) {
            world.take_over();
        }
        let due = world.snap.due(world.task());
        if let Some(due) = chance.pick(&due).filter(|_| chance.one_in(2)).cloned() {
            world.ok(SystemCommand::StartRun { task: due.task, agent: due.agent });
            continue;
        }
        let running: Vec<AgentId> =
            world.snap.runs.values().filter(|r| r.state == RunState::Running).map(|r| r.agent.clone()).collect();
        let Some(agent) = chance.pick(&running) else { continue };
        let stalls = agent.as_str().bytes().map(u64::from).sum::<u64>() & slow & 3 == 1;
        if stalls && !chance.one_in(8) {
            continue;
        }
        let mood = Mood { most: 0, races: true };
        if let Some(command) = driver::step(&world, agent, mood, &mut chance) {
            // What came too late is refused; the loop looks again.
            let _ = world.submit(command);
        }
        let broken = laws::broken(&world);
        assert_eq!(broken, None, "seed {seed}, {subagents} Subagents\n{}", world.story.join("\n"));
    }
    let drained = driver::drain(&mut world);
    assert_eq!(drained, Ok(()), "seed {seed}, {subagents} Subagents");
    assert_eq!(world.task().status, TaskStatus::Completed, "seed {seed}, {subagents} Subagents");
    assert_eq!(world.seen.len(), subagents);
    assert!(world.seen.values().all(|seen| seen.made == 1 && seen.told + seen.handed == 1));
    world.hash
}

/// Main gives all of it away in its first answer, every other one to be waited for.
fn begin(world: &mut World, subagents: usize) {
    let (task, agent) = (world.id(), world.main());
    world.ok(SystemCommand::StartRun { task, agent: agent.clone() });
    let run = world.snap.live_run(&agent).expect("it runs").id.clone();
    let call = ModelCallId("k_first".into());
    world.ok(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() });
    let calls: Vec<PlannedCall> =
        (0..subagents).map(|n| super::world::planned("delegate", if n % 2 == 0 { "wait" } else { "" })).collect();
    let (parts, usage) = (vec![Part::text("I give it away")], Usage::default());
    world.ok(RunCommand::CommitTurn { run: run.clone(), call, parts, calls, usage, cut: false });
    for call in world.snap.open_calls(&agent).into_iter().cloned().collect::<Vec<_>>() {
        let (run, id, action) = (run.clone(), call.id.clone(), super::world::action(&call));
        world.ok(RunCommand::StartTool { run: run.clone(), call: id.clone(), action, pre_hash: None, post_hash: None });
        let mode = if call.arguments == "wait" { DelegationMode::Sync } else { DelegationMode::Async };
        let (name, objective, contract) = ("part".into(), "do a part".into(), super::world::contract());
        world.ok(RunCommand::Delegate { run, call: id, mode, name, objective, contract });
    }
}

#[test]
fn whole_tasks_of_one_to_fifty_subagents_come_to_their_end_and_the_same_seed_gives_the_same_events() {
    for (seed, subagents) in [(1, 1), (2, 2), (3, 5), (4, 10), (5, 10), (6, 25), (7, 50)] {
        let first = play(seed, subagents);
        assert_eq!(first, play(seed, subagents), "seed {seed} is played in two ways");
        assert_ne!(first, play(seed + 100, subagents), "the seed changes nothing");
    }
}
