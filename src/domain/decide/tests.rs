//! The laws, each as a promise.

use super::*;
use crate::domain::command::{ApprovalAnswer, Move, PlannedCall};
use crate::domain::permission::{Access, Action, Policy};
use crate::domain::rejection::RejectionKind;
use crate::domain::step::{Step, next_step};

/// A world that commands are decided on and applied to, one after the other.
#[derive(Default)]
struct World {
    snap: Snapshot,
    count: u64,
    last: Vec<Event>,
}

impl World {
    fn with_owner() -> Self {
        let mut world = Self::default();
        world.take_over();
        world
    }

    fn take_over(&mut self) {
        let owner = Owner { holder: "h".into(), host: "here".into(), pid: 1, pid_start: 1, boot_id: "b".into() };
        self.ok(SystemCommand::TakeOver { owner });
    }

    fn submit(&mut self, command: impl Into<Command>) -> Result<(), Rejection> {
        self.count += 1;
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.count.to_le_bytes());
        let envelope = Envelope {
            id: CommandId(format!("e_{}", self.count)),
            at: self.count as i64 * 1000,
            actor: Actor::person(),
            seed,
            command: command.into(),
        };
        let decided = decide(self.snap.clone(), &envelope)?;
        for one in &decided {
            self.snap.apply(one.task.as_ref(), &envelope.actor, envelope.at, &one.event);
        }
        self.last = decided.into_iter().map(|one| one.event).collect();
        Ok(())
    }

    fn ok(&mut self, command: impl Into<Command>) {
        if let Err(rejection) = self.submit(command) {
            panic!("refused: {rejection}");
        }
    }

    /// A Task with a first message, under a policy.
    fn task(policy: &str) -> Self {
        let mut world = Self::with_owner();
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

    /// The same, with its Run started.
    fn running(policy: &str) -> Self {
        let mut world = Self::task(policy);
        world.ok(SystemCommand::StartRun { task: world.id(), agent: world.main() });
        world
    }

    /// The same, with calls planned.
    fn with_calls(policy: &str, calls: &[(&str, Effect)]) -> Self {
        let mut world = Self::running(policy);
        world.turn(calls);
        world
    }

    fn turn(&mut self, calls: &[(&str, Effect)]) {
        let call = ModelCallId(format!("k_{}", self.count));
        self.ok(RunCommand::BeginTurn { run: self.run(), call: call.clone(), model: "m:x".into() });
        let calls = calls
            .iter()
            .map(|(name, effect)| PlannedCall {
                provider_id: "same".into(),
                name: (*name).into(),
                arguments: "{}".into(),
                effect: *effect,
            })
            .collect();
        let (parts, usage) = (vec![Part::text("said")], Usage { turns: 1, ..Usage::default() });
        self.ok(RunCommand::CommitTurn { run: self.run(), call, parts, calls, usage, cut: false });
    }

    fn start(&mut self, ix: usize, command: &str) {
        let (run, call) = (self.run(), self.open()[ix].clone());
        let action = action(command);
        self.ok(RunCommand::StartTool { run, call, action, pre_hash: None, post_hash: None });
    }

    fn settle(&mut self, ix: usize) {
        let (run, call) = (self.run(), self.open()[ix].clone());
        let parts = vec![Part::text("ok")];
        self.ok(RunCommand::SettleTool { run, call, state: ToolCallState::Done, parts, saw: None });
    }

    fn answer(&mut self, answer: ApprovalAnswer) {
        let approval = self.snap.approvals.values().find(|a| a.state == ApprovalState::Pending).expect("open").clone();
        self.ok(UserCommand::DecideApproval {
            task: self.id(),
            approval: approval.id,
            shown: approval.action_hash,
            answer,
            because: None,
        });
    }

    fn id(&self) -> TaskId {
        self.snap.tasks.keys().next().expect("a Task").clone()
    }
    fn the_task(&self) -> &Task {
        self.snap.tasks.values().next().expect("a Task")
    }
    fn main(&self) -> AgentId {
        self.the_task().main.clone()
    }
    fn main_is_due(&self) -> bool {
        self.snap.due(self.the_task()).iter().any(|due| due.agent == self.main())
    }
    fn run(&self) -> RunId {
        self.snap.live_run(&self.the_task().main).expect("a live Run").id.clone()
    }
    fn open(&self) -> Vec<ToolCallId> {
        self.snap.open_calls(&self.the_task().main).iter().map(|call| call.id.clone()).collect()
    }
    fn step(&self) -> Step {
        next_step(&self.snap, &self.run(), self.count as i64 * 1000)
    }
    fn say(&mut self, text: &str, delivery: Delivery) {
        let task = self.id();
        self.ok(UserCommand::SendMessage { task, text: text.into(), refs: vec![], delivery });
    }
}

fn action(command: &str) -> Action {
    Action {
        tool: "shell".into(),
        access: Access::Execute,
        subject: command.into(),
        cwd: "/w".into(),
        detail: String::new(),
        inside: true,
        own: false,
        beyond: String::new(),
        rule_subject: command.into(),
    }
}

#[test]
fn the_first_words_are_the_objective_and_wake_main() {
    let world = World::task("ask");
    assert_eq!(world.the_task().objective_version, 1);
    assert_eq!(world.the_task().title, "do it");
    assert!(world.main_is_due());
}

#[test]
fn a_task_is_complete_when_main_has_answered_and_nothing_is_open() {
    let mut world = World::running("ask");
    world.turn(&[]);
    assert_eq!(world.step(), Step::End(EndReason::Finished, None));
    let run = world.run();
    world.ok(RunCommand::End { run, reason: EndReason::Finished, detail: None });
    assert_eq!(world.the_task().status, TaskStatus::Completed);
    assert!(world.snap.messages.values().all(|m| m.state == MessageState::Consumed));
}

#[test]
fn words_that_come_while_main_answers_keep_the_run_going() {
    let mut world = World::running("ask");
    world.turn(&[]);
    world.say("and this", Delivery::Boundary);
    let run = world.run();
    let refused = world.submit(RunCommand::End { run, reason: EndReason::Finished, detail: None });
    assert_eq!(refused.expect_err("refused").kind, RejectionKind::WrongState);
    assert!(matches!(world.step(), Step::Ask { .. }));
}

#[test]
fn words_for_the_end_of_the_turn_do_not_enter_before_it() {
    let mut world = World::with_calls("workspace", &[("shell", Effect::Effectful)]);
    world.say("when you are done", Delivery::TurnEnd);
    world.say("now", Delivery::Boundary);
    world.start(0, "ls");
    world.settle(0);
    world.turn(&[]);
    let state = |world: &World, text: &str| {
        world.snap.messages.values().find(|m| m.text == text).map(|m| m.state).expect("there")
    };
    assert_eq!(state(&world, "now"), MessageState::Consumed);
    assert_eq!(state(&world, "when you are done"), MessageState::Queued);
    world.turn(&[]);
    assert_eq!(state(&world, "when you are done"), MessageState::Consumed);
}

#[test]
fn what_was_delivered_can_no_longer_be_changed_or_taken_back() {
    let mut world = World::task("ask");
    let message = world.snap.messages.keys().next().expect("queued").clone();
    let task = world.id();
    world.ok(UserCommand::EditMessage { task: task.clone(), message: message.clone(), text: "do that".into() });
    world.ok(SystemCommand::StartRun { task: task.clone(), agent: world.main() });
    world.turn(&[]);
    let late = world.submit(UserCommand::WithdrawMessage { task, message });
    assert_eq!(late.expect_err("refused").kind, RejectionKind::WrongState);
}

#[test]
fn a_withdrawn_message_is_never_delivered() {
    let mut world = World::running("ask");
    world.turn(&[]);
    world.say("oops", Delivery::Boundary);
    let message = world.snap.messages.values().find(|m| m.text == "oops").expect("queued").id.clone();
    let task = world.id();
    world.ok(UserCommand::WithdrawMessage { task, message });
    assert_eq!(world.step(), Step::End(EndReason::Finished, None));
}

#[test]
fn queued_messages_enter_in_the_order_and_at_the_time_that_the_person_gave_them_last() {
    let mut world = World::running("ask");
    world.turn(&[]);
    for text in ["first", "second", "third"] {
        world.say(text, Delivery::Boundary);
    }
    let task = world.id();
    let id =
        |world: &World, text: &str| world.snap.messages.values().find(|m| m.text == text).expect("queued").id.clone();
    let queue = |world: &World| -> Vec<String> {
        let main = world.the_task().main.clone();
        world.snap.inbox(&main, MessageState::Queued).iter().map(|m| m.text.clone()).collect()
    };
    let (first, third) = (id(&world, "first"), id(&world, "third"));
    world.ok(UserCommand::MoveMessage { task: task.clone(), message: third.clone(), to: Move::Earlier });
    assert_eq!(queue(&world), ["first", "third", "second"]);
    world.ok(UserCommand::MoveMessage { task: task.clone(), message: first.clone(), to: Move::Earlier });
    world.ok(UserCommand::MoveMessage { task: task.clone(), message: first.clone(), to: Move::Later });
    assert_eq!(queue(&world), ["third", "first", "second"]);
    world.ok(UserCommand::SetDelivery { task, message: first.clone(), delivery: Delivery::TurnEnd });
    assert_eq!(world.snap.messages[&first].delivery, Delivery::TurnEnd);
}

#[test]
fn nothing_runs_before_the_person_said_yes() {
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful)]);
    world.start(0, "rm -r x");
    assert_eq!(world.the_task().status, TaskStatus::AwaitingHuman);
    assert!(matches!(world.step(), Step::Suspend(_)));
    world.answer(ApprovalAnswer::Once);
    assert_eq!(world.the_task().status, TaskStatus::Active);
    assert!(matches!(world.step(), Step::RunTools(_)));
    world.start(0, "rm -r x");
    assert_eq!(world.snap.tool_calls.values().next().expect("call").state, ToolCallState::Running);
}

#[test]
fn a_yes_to_one_action_is_no_yes_to_another() {
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful)]);
    world.start(0, "rm -r x");
    world.answer(ApprovalAnswer::Once);
    world.start(0, "rm -r /");
    let call = world.snap.tool_calls.values().next().expect("call");
    assert_eq!((call.state, call.started_at), (ToolCallState::Error, None));
}

#[test]
fn an_answer_to_what_was_not_shown_is_refused() {
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful)]);
    world.start(0, "ls");
    let approval = world.snap.approvals.keys().next().expect("open").clone();
    let refused = world.submit(UserCommand::DecideApproval {
        task: world.id(),
        approval,
        shown: "something else".into(),
        answer: ApprovalAnswer::Once,
        because: None,
    });
    assert_eq!(refused.expect_err("refused").kind, RejectionKind::WrongState);
    assert_eq!(world.the_task().status, TaskStatus::AwaitingHuman);
}

#[test]
fn always_holds_from_then_on_and_never_refuses_without_asking() {
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful), ("shell", Effect::Effectful)]);
    world.start(0, "ls");
    world.answer(ApprovalAnswer::Always);
    world.start(1, "ls");
    assert_eq!(world.snap.tool_calls.values().filter(|c| c.state == ToolCallState::Running).count(), 1);
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful), ("shell", Effect::Effectful)]);
    world.start(0, "ls");
    world.answer(ApprovalAnswer::Never);
    world.start(0, "ls");
    assert!(world.snap.tool_calls.values().all(|c| c.state == ToolCallState::Denied));
}

#[test]
fn what_changes_something_waits_for_the_approval_before_it_and_looking_does_not() {
    let mut world = World::with_calls(
        "ask",
        &[("shell", Effect::Effectful), ("read", Effect::Pure), ("write", Effect::Reconcilable)],
    );
    world.start(0, "make");
    let Step::RunTools(ready) = world.step() else { panic!("{:?}", world.step()) };
    assert_eq!(ready.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["read"]);
}

#[test]
fn ids_of_the_server_that_occur_twice_are_told_apart() {
    let world = World::with_calls("ask", &[("read", Effect::Pure), ("read", Effect::Pure)]);
    let ids: std::collections::BTreeSet<_> = world.snap.tool_calls.values().map(|c| c.provider_id.clone()).collect();
    assert_eq!(ids.len(), 2);
}

#[test]
fn esc_while_main_waits_for_a_person_ends_the_waiting() {
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful)]);
    world.start(0, "make");
    let run = world.run();
    world.ok(RunCommand::Suspend { run, reason: "a person is needed".into() });
    let task = world.id();
    world.ok(UserCommand::Interrupt { task });
    assert!(world.snap.approvals.values().all(|a| a.state == ApprovalState::Cancelled));
    assert!(world.snap.tool_calls.values().all(|c| c.state == ToolCallState::Cancelled));
    assert_eq!(world.the_task().status, TaskStatus::Active);
}

#[test]
fn esc_before_the_first_word_is_not_overridden_by_the_words_it_stopped() {
    let mut world = World::running("ask");
    let call = ModelCallId("k_0".into());
    let run = world.run();
    world.ok(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() });
    let task = world.id();
    world.ok(UserCommand::Interrupt { task });
    let usage = Usage::default();
    world.ok(RunCommand::CommitTurn { run: run.clone(), call, parts: vec![], calls: vec![], usage, cut: true });
    world.ok(RunCommand::End { run, reason: EndReason::Interrupted, detail: None });
    assert!(!world.main_is_due());
    world.say("go on, then", Delivery::Boundary);
    assert!(world.main_is_due());
}

#[test]
fn a_question_is_answered_once_and_its_answer_is_the_calls_result() {
    let mut world = World::with_calls("ask", &[("ask", Effect::Idempotent)]);
    let (run, call) = (world.run(), world.open()[0].clone());
    let ask = RunCommand::AskPerson {
        run,
        call,
        question: "blue or green?".into(),
        options: vec![],
        meanwhile: String::new(),
    };
    world.ok(ask.clone());
    world.ok(ask);
    assert_eq!(world.snap.questions.len(), 1);
    let question = world.snap.questions.keys().next().expect("asked").clone();
    let answer = UserCommand::AnswerQuestion { task: world.id(), question: question.clone(), answer: "green".into() };
    world.ok(answer.clone());
    assert!(world.submit(answer).is_err());
    assert!(world.snap.rows.values().any(|row| row.text().contains("green")));
    assert!(matches!(world.step(), Step::Ask { .. }));
}

#[test]
fn other_words_release_a_main_that_waits_and_the_answer_comes_as_a_message() {
    let mut world = World::with_calls("ask", &[("ask", Effect::Idempotent)]);
    let (run, call) = (world.run(), world.open()[0].clone());
    let (question, options, meanwhile) = ("which?".to_owned(), vec![], String::new());
    world.ok(RunCommand::AskPerson { run, call, question, options, meanwhile });
    world.say("look at the weather first", Delivery::Boundary);
    assert!(world.open().is_empty());
    let question = world.snap.questions.keys().next().expect("asked").clone();
    let task = world.id();
    world.ok(UserCommand::AnswerQuestion { task, question, answer: "the left one".into() });
    assert!(world.snap.messages.values().any(|m| m.kind == MessageKind::Answer && m.text.contains("the left one")));
}

#[test]
fn taking_over_settles_everything_the_last_owner_held() {
    let mut world = World::with_calls(
        "full",
        &[("read", Effect::Pure), ("write", Effect::Reconcilable), ("shell", Effect::Effectful)],
    );
    for _ in 0..3 {
        let started = world.snap.tool_calls.values().filter(|c| c.state == ToolCallState::Running).count();
        world.start(started, "x");
    }
    world.take_over();
    let state = |name: &str| world.snap.tool_calls.values().find(|c| c.name == name).expect("call");
    assert_eq!(state("read").state, ToolCallState::Running);
    assert_eq!(state("read").fence, Some(2));
    assert_eq!(state("write").state, ToolCallState::Running);
    assert_eq!(state("shell").state, ToolCallState::Uncertain);
    assert!(world.snap.rows.values().any(|row| row.text().contains("may have happened")));
    assert_eq!(world.snap.runs.values().next().expect("run").state, RunState::Interrupted);
    assert!(world.main_is_due());
}

#[test]
fn a_request_in_flight_is_asked_again_by_the_next_owner_and_its_messages_stay() {
    let mut world = World::running("ask");
    let call = ModelCallId("k_0".into());
    let run = world.run();
    world.ok(RunCommand::BeginTurn { run, call, model: "m:x".into() });
    world.take_over();
    assert!(world.snap.model_calls.values().all(|c| c.state == ModelCallState::Abandoned));
    let message = world.snap.messages.values().next().expect("message");
    assert_eq!((message.state, message.fence), (MessageState::Delivered, Some(2)));
    let task = world.id();
    let agent = world.main();
    world.ok(SystemCommand::StartRun { task, agent });
    assert!(matches!(world.step(), Step::Ask { .. }));
}

#[test]
fn taking_over_is_no_work_on_a_task_that_has_ended() {
    let mut world = World::running("ask");
    let (run, call) = (world.run(), ModelCallId("k_0".into()));
    world.ok(RunCommand::BeginTurn { run: run.clone(), call, model: "m:x".into() });
    world.ok(RunCommand::End { run, reason: EndReason::Internal, detail: None });
    assert!(world.snap.messages.values().any(|message| message.state == MessageState::Delivered), "still held");
    let before = world.the_task().updated_at;
    world.take_over();
    assert_eq!(world.the_task().updated_at, before);
}

#[test]
fn a_person_who_pressed_esc_before_the_host_died_is_not_overridden() {
    let mut world = World::running("ask");
    let task = world.id();
    world.ok(UserCommand::Interrupt { task });
    world.take_over();
    assert_eq!(world.snap.runs.values().next().expect("run").state, RunState::Cancelled);
    assert!(world.snap.controls.values().all(|c| c.state == ControlState::Applied));
}

#[test]
fn a_budget_that_ran_out_ends_the_run_and_says_which() {
    let mut world = World::running("ask");
    let task = world.id();
    world.ok(UserCommand::SetBudget { task, budget: Budget { turns: Some(1), ..Budget::default() } });
    world.turn(&[("read", Effect::Pure)]);
    world.start(0, "x");
    let call = world.open()[0].clone();
    assert!(world.open().contains(&call));
    if world.snap.tool_calls[&call].state != ToolCallState::Running {
        world.answer(ApprovalAnswer::Once);
        world.start(0, "x");
    }
    world.settle(0);
    let Step::End(EndReason::Budget, Some(what)) = world.step() else { panic!("{:?}", world.step()) };
    assert!(what.contains("turns: 1 of 1"), "{what}");
    let run = world.run();
    world.ok(RunCommand::End { run, reason: EndReason::Budget, detail: Some(what) });
    assert_eq!(world.the_task().status, TaskStatus::Failed);
}

#[test]
fn a_failed_check_is_told_to_main_three_times_and_then_left_to_the_person() {
    let mut world = World::running("ask");
    let task = world.id();
    world.ok(UserCommand::AddCheck { task, kind: CheckKind::Command, text: "make test".into() });
    let mut told = 0;
    for _ in 0..5 {
        if !matches!(world.step(), Step::Ask { .. }) {
            break;
        }
        world.turn(&[]);
        let Step::Judge(checks) = world.step() else { panic!("{:?}", world.step()) };
        let run = world.run();
        let evidence = serde_json::json!({"exit_code": 1});
        world.ok(RunCommand::GiveVerdict { run, check: checks[0].id.clone(), outcome: CheckState::Failed, evidence });
        told += usize::from(world.last.iter().any(|event| matches!(event, Event::MessageQueued { .. })));
    }
    assert_eq!(told, 3);
    let run = world.run();
    world.ok(RunCommand::End { run, reason: EndReason::Finished, detail: None });
    assert_eq!(world.the_task().status, TaskStatus::AwaitingHuman);
    let (task, check) = (world.id(), world.snap.checks.keys().next().expect("check").clone());
    let evidence = serde_json::json!("good enough");
    world.ok(UserCommand::GiveVerdict { task, check, outcome: CheckState::Waived, evidence });
    assert_eq!(world.the_task().status, TaskStatus::Completed);
}

#[test]
fn cancelling_leaves_nothing_open() {
    let mut world = World::with_calls("ask", &[("shell", Effect::Effectful), ("ask", Effect::Idempotent)]);
    world.start(0, "make");
    world.say("later", Delivery::TurnEnd);
    let task = world.id();
    world.ok(UserCommand::Cancel { task });
    assert!(world.open().is_empty());
    assert_eq!(world.the_task().status, TaskStatus::Cancelled);
    let queued = world.snap.messages.values().find(|m| m.text == "later").expect("there");
    assert_eq!(queued.state, MessageState::Undelivered);
}

#[test]
fn words_reopen_a_task_that_has_ended() {
    let mut world = World::task("ask");
    let task = world.id();
    world.ok(UserCommand::Cancel { task });
    world.say("on second thought", Delivery::Boundary);
    assert_eq!(world.the_task().status, TaskStatus::Active);
    assert!(world.main_is_due());
}

#[test]
fn a_paused_task_stops_at_the_boundary_and_goes_on_when_told() {
    let mut world = World::with_calls("workspace", &[("shell", Effect::Effectful)]);
    let task = world.id();
    world.ok(UserCommand::Pause { task: task.clone() });
    world.start(0, "ls");
    world.settle(0);
    assert_eq!(world.step(), Step::Suspend("paused".into()));
    let run = world.run();
    world.ok(RunCommand::Suspend { run, reason: "paused".into() });
    assert!(!world.main_is_due());
    world.ok(UserCommand::Resume { task });
    assert!(world.main_is_due());
}

#[test]
fn a_cut_answer_is_kept_and_is_no_final_one() {
    let mut world = World::running("ask");
    let call = ModelCallId("k_0".into());
    let run = world.run();
    world.ok(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() });
    let parts = vec![Part::text("I was about to")];
    let calls = vec![PlannedCall {
        provider_id: "1".into(),
        name: "shell".into(),
        arguments: "{\"comm".into(),
        effect: Effect::Effectful,
    }];
    let usage = Usage::default();
    world.ok(RunCommand::CommitTurn { run, call, parts, calls, usage, cut: true });
    assert!(world.snap.tool_calls.is_empty());
    assert!(!world.snap.has_final_answer(&world.the_task().main));
}
