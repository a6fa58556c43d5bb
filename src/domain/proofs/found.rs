//! Faults that the histories found, each as the shortest history that shows it.

use super::world::{action, contract, planned, report};
use super::{World, laws};
use crate::domain::command::ReviewVerdict;
use crate::domain::*;

impl World {
    fn start(&mut self, agent: &AgentId) -> RunId {
        self.ok(SystemCommand::StartRun { task: self.id(), agent: agent.clone() });
        self.snap.live_run(agent).expect("it runs").id.clone()
    }

    /// A turn that plans one call and starts it.
    fn call(&mut self, run: &RunId, name: &str) -> ToolCallId {
        let call = ModelCallId(format!("k_{}", self.count));
        self.ok(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() });
        let (parts, usage, calls) = (vec![], Usage::default(), vec![planned(name, "")]);
        self.ok(RunCommand::CommitTurn { run: run.clone(), call, parts, calls, usage, cut: false });
        let call = self.snap.tool_calls.values().find(|call| call.run == *run && !call.state.is_settled());
        let call = call.expect("planned").clone();
        let (run, id, action) = (run.clone(), call.id.clone(), action(&call));
        self.ok(RunCommand::StartTool { run, call: id, action, pre_hash: None, post_hash: None });
        call.id
    }

    /// Gives work away, and begins it.
    fn give(&mut self, run: &RunId, mode: DelegationMode) -> (ToolCallId, AgentId, RunId) {
        let call = self.call(run, "delegate");
        let (name, objective) = ("part".into(), "do a part".into());
        let (by, of) = (run.clone(), call.clone());
        self.ok(RunCommand::Delegate { run: by, call: of, mode, name, objective, contract: contract() });
        let given = self.snap.assignments.values().find(|work| work.call.as_ref() == Some(&call));
        let agent = given.expect("given").agent.clone();
        let run = self.start(&agent);
        (call, agent, run)
    }

    fn returns(&mut self, run: &RunId, call: ToolCallId, text: &str) {
        let (run, parts) = (run.clone(), vec![Part::text(text)]);
        self.ok(RunCommand::SettleTool { run, call, state: ToolCallState::Done, parts, saw: None });
    }

    fn hands_in(&mut self, run: RunId) {
        self.ok(RunCommand::Report { run, call: None, report: report(Outcome::Completed) });
    }
}

/// A world with Main at work.
fn at_work() -> (World, RunId) {
    let mut world = World::with_task("full");
    let main = world.main();
    let run = world.start(&main);
    (world, run)
}

#[test]
fn a_result_that_comes_between_the_last_look_of_a_call_and_its_end_is_the_result_of_that_call() {
    let (mut world, main) = at_work();
    let (call, _, run) = world.give(&main, DelegationMode::Sync);
    world.hands_in(run);
    world.returns(&main, call, "Still running; you get a message when it ends.");
    assert_eq!(world.seen.values().map(|seen| (seen.told, seen.handed)).collect::<Vec<_>>(), [(0, 1)]);
}

#[test]
fn a_decision_that_comes_between_the_last_look_of_a_call_and_its_end_is_the_result_of_that_call() {
    let (mut world, main) = at_work();
    let (_, asking, run) = world.give(&main, DelegationMode::Async);
    let call = world.call(&run, "decide");
    let (question, fallback, wait_ms) = ("which?".into(), "this".into(), 1_000);
    world.ok(RunCommand::RequestDecision { run: run.clone(), call: call.clone(), question, fallback, wait_ms });
    let (task, decision) = (world.id(), world.snap.decision_of(&call).expect("asked").id.clone());
    world.ok(UserCommand::AnswerDecision { task, decision, answer: "green".into() });
    world.returns(&run, call, "Guidance came instead of an answer.");
    assert_eq!(world.last_result.as_deref(), Some("Decided: green"));
    let named = format!("The person decided for {}: green", world.snap.live_assignment(&asking).expect("work").name);
    assert!(world.snap.messages.values().any(|told| told.text.starts_with(&named)), "Main hears the name: {named}");
}

#[test]
fn a_subagent_that_asks_for_two_decisions_is_blocked_until_the_second_is_made() {
    let (mut world, main) = at_work();
    let (_, agent, run) = world.give(&main, DelegationMode::Async);
    let call = ModelCallId("k_two".into());
    world.ok(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() });
    let (parts, usage, calls) = (vec![], Usage::default(), vec![planned("decide", ""), planned("decide", "")]);
    world.ok(RunCommand::CommitTurn { run: run.clone(), call, parts, calls, usage, cut: false });
    for call in world.snap.open_calls(&agent).into_iter().map(|call| call.id.clone()).collect::<Vec<_>>() {
        let (question, fallback, wait_ms) = ("which?".into(), "this".into(), 1_000);
        world.ok(RunCommand::RequestDecision { run: run.clone(), call, question, fallback, wait_ms });
    }
    for state in [AssignmentState::Blocked, AssignmentState::Running] {
        let open = world.snap.decisions.values().find(|one| one.state == DecisionState::Open);
        let (task, decision) = (world.id(), open.expect("open").id.clone());
        world.ok(UserCommand::AnswerDecision { task, decision, answer: "green".into() });
        assert_eq!(world.snap.live_assignment(&agent).expect("works").state, state);
    }
}

#[test]
fn a_run_that_ended_with_its_giver_in_a_takeover_stays_ended() {
    // Which of the two is looked at first lies in their ids.
    for turns in 0..8 {
        let (mut world, main) = at_work();
        for _ in 0..turns {
            let call = world.call(&main, "read");
            world.returns(&main, call, "read");
        }
        let (call, above, run) = world.give(&main, DelegationMode::Async);
        world.returns(&main, call, "Given away.");
        world.give(&run, DelegationMode::Async);
        world.ok(UserCommand::CancelAgent { task: world.id(), agent: above });
        world.take_over();
        assert_eq!(laws::broken(&world), None);
    }
}

#[test]
fn work_that_is_sent_back_after_its_giver_ended_is_owed_to_main() {
    let (mut world, main) = at_work();
    let (call, _, run) = world.give(&main, DelegationMode::Async);
    world.returns(&main, call, "Given away.");
    let (call, below, run_below) = world.give(&run, DelegationMode::Async);
    world.returns(&run, call, "Given away.");
    world.hands_in(run_below);
    let found = world.snap.contributions.values().find(|made| made.agent == below);
    let contribution = found.expect("made").id.clone();
    world.ok(RunCommand::End { run, reason: EndReason::Model, detail: None });
    let (task, because) = (world.id(), Some("darker".into()));
    world.ok(UserCommand::Review { task, contribution, verdict: ReviewVerdict::Rework, because });
    assert_eq!(world.snap.live_assignment(&below).expect("works again").parent, world.main());
}

#[test]
fn a_task_that_failed_goes_on_when_the_person_says_so_though_nothing_was_said_to_it() {
    let (mut world, run) = at_work();
    let call = world.call(&run, "read");
    world.returns(&run, call, "read");
    world.ok(RunCommand::End { run, reason: EndReason::Model, detail: None });
    world.ok(UserCommand::Resume { task: world.id() });
    assert_eq!(world.snap.due(world.task()).len(), 1, "Main is woken");
}
