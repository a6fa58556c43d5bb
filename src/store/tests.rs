//! The promises of the store: rows equal the fold of the events, nothing acknowledged is lost,
//! nothing is done twice, and files that can't be used are refused without being touched.

use super::*;
use crate::domain::command::{Move, ReviewVerdict};
use crate::domain::permission::{Access, Action, Policy};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use proptest::prelude::*;
use std::sync::Mutex;

mod jobs;

/// A store in a folder of its own, driven by hand.
struct Bench {
    dir: tempfile::TempDir,
    store: Store,
    seen: Arc<Mutex<Vec<Arc<Recorded>>>>,
    count: u64,
}

impl Bench {
    fn new() -> Self {
        Self::at(tempfile::tempdir().expect("a folder"), 0)
    }

    fn at(dir: tempfile::TempDir, count: u64) -> Self {
        let seen: Arc<Mutex<Vec<Arc<Recorded>>>> = Arc::default();
        let feed = seen.clone();
        let store =
            Store::open(dir.path(), Box::new(move |event| feed.lock().expect("feed").push(event))).expect("opens");
        let mut bench = Self { dir, store, seen, count };
        bench.take_over();
        bench
    }

    fn reopen(self) -> Self {
        let Self { dir, store, count, .. } = self;
        drop(store);
        Self::at(dir, count)
    }

    fn envelope(&mut self, command: impl Into<Command>) -> Envelope {
        self.count += 1;
        let mut seed = [0; 16];
        seed[..8].copy_from_slice(&self.count.to_le_bytes());
        seed[8..12].copy_from_slice(self.dir.path().to_string_lossy().as_bytes()[..4].as_ref());
        let command = command.into();
        let actor = match &command {
            Command::User(_) => Actor::person(),
            Command::System(SystemCommand::Job { job, .. }) => Actor::job(job),
            Command::Run(_) | Command::System(_) => Actor::system(),
        };
        Envelope { id: CommandId(format!("e_{}", self.count)), at: 1_000_000 + self.count as i64, actor, seed, command }
    }

    fn submit(&mut self, command: impl Into<Command>) -> Result<Committed, Rejection> {
        let envelope = self.envelope(command);
        runtime().block_on(self.store.submit(envelope))
    }

    fn take_over(&mut self) {
        let owner = Owner {
            holder: format!("h{}", self.dir.path().display()),
            host: "test".into(),
            pid: 1,
            pid_start: 1,
            boot_id: "b".into(),
        };
        let fence = self.everything().fence;
        let owner = Owner { holder: format!("{}{fence}", owner.holder), ..owner };
        self.submit(SystemCommand::TakeOver { owner }).expect("takes over");
    }

    fn everything(&self) -> Snapshot {
        self.store.readers.with(load::everything).expect("reads")
    }

    fn fold(&self) -> Snapshot {
        let mut snapshot = Snapshot::default();
        let events = self.store.readers.with(|c| event_log::after(c, None, 0, u32::MAX)).expect("reads");
        for recorded in events {
            snapshot.apply(recorded.task.as_ref(), &recorded.actor, recorded.at, &recorded.event);
        }
        snapshot
    }

    fn check(&self) {
        let (rows, fold) = (self.everything(), self.fold());
        assert_eq!(rows, fold, "rows differ from the fold of the events");
        let Answer::Doctor(report) = self.store.ask(&Query::Doctor { deep: true }).expect("examined") else {
            panic!("doctor answered something else")
        };
        assert_eq!(report.faults, [], "doctor found faults");
    }

    fn main(&self, task: &TaskId) -> AgentId {
        self.everything().tasks[task].main.clone()
    }

    fn create(&mut self, policy: &str) -> TaskId {
        let committed = self.submit(create(policy, Some("list the files"))).expect("created");
        committed.receipt.task.expect("a Task")
    }
}

impl Bench {
    /// Starts Main and sends its first request.
    fn ask(&mut self, task: &TaskId) -> (AgentId, RunId, ModelCallId) {
        let main = self.everything().tasks[task].main.clone();
        self.submit(SystemCommand::StartRun { task: task.clone(), agent: main.clone() }).expect("starts");
        let run = self.everything().live_run(&main).expect("live").id.clone();
        let call = ModelCallId("k_1".into());
        self.submit(RunCommand::BeginTurn { run: run.clone(), call: call.clone(), model: "m:x".into() })
            .expect("begins");
        (main, run, call)
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

fn create(policy: &str, message: Option<&str>) -> UserCommand {
    UserCommand::CreateTask {
        title: String::new(),
        cwd: Some("/w".into()),
        model: None,
        policy: Policy::named(policy).expect("a policy"),
        budget: Budget::default(),
        message: message.map(str::to_owned),
        checks: Vec::new(),
    }
}

fn shell(command: &str) -> Action {
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

/// Makes the next command out of what stands and a few random bits.
fn next_command(s: &Snapshot, bits: u64) -> Command {
    let pick = |n: usize| ((bits >> 8) as usize) % n.max(1);
    let tasks: Vec<&Task> = s.tasks.values().collect();
    if tasks.is_empty() || bits.is_multiple_of(23) {
        let message = (!bits.is_multiple_of(3)).then_some("do something");
        return create(["ask", "workspace", "read", "full"][pick(4)], message).into();
    }
    let task = tasks[pick(tasks.len())];
    let id = task.id.clone();
    let approval = s.approvals.values().find(|a| a.task == id && a.state == ApprovalState::Pending);
    let question = s.questions.values().find(|q| q.task == id && q.state == QuestionState::Open);
    let queued = s.messages.values().find(|m| m.task.as_ref() == Some(&id) && m.state == MessageState::Queued);
    let check = s.checks.values().find(|c| c.task == id);
    match bits % 29 {
        0 | 1 => {
            let delivery = if bits.is_multiple_of(2) { Delivery::Boundary } else { Delivery::TurnEnd };
            UserCommand::SendMessage { task: id, text: format!("more {bits}"), refs: vec![], delivery }.into()
        }
        2 if bits.is_multiple_of(3) && queued.is_some() => {
            let message = queued.expect("there").id.clone();
            let to = if bits.is_multiple_of(2) { Move::Earlier } else { Move::Later };
            UserCommand::MoveMessage { task: id, message, to }.into()
        }
        2 if bits.is_multiple_of(7) && queued.is_some() => {
            let message = queued.expect("there").id.clone();
            UserCommand::SetDelivery { task: id, message, delivery: Delivery::TurnEnd }.into()
        }
        2 => UserCommand::Interrupt { task: id }.into(),
        3 => UserCommand::Pause { task: id }.into(),
        4 | 5 => UserCommand::Resume { task: id }.into(),
        6 if bits.is_multiple_of(4) => UserCommand::Cancel { task: id }.into(),
        7 if bits.is_multiple_of(8) => UserCommand::Remove { task: id }.into(),
        8 => UserCommand::SetObjective { task: id, text: format!("aim {bits}") }.into(),
        9 => UserCommand::AddCheck { task: id, kind: CheckKind::Person, text: "looks right".into() }.into(),
        10 | 11 if check.is_some() => UserCommand::GiveVerdict {
            task: id,
            check: check.expect("there").id.clone(),
            outcome: [CheckState::Passed, CheckState::Failed, CheckState::Waived][pick(3)],
            evidence: serde_json::json!({"said": "so"}),
        }
        .into(),
        12 | 13 if queued.is_some() => {
            UserCommand::WithdrawMessage { task: id, message: queued.expect("there").id.clone() }.into()
        }
        14 if queued.is_some() => {
            UserCommand::EditMessage { task: id, message: queued.expect("there").id.clone(), text: "edited".into() }
                .into()
        }
        15..=17 if approval.is_some() => {
            let approval = approval.expect("there");
            use crate::domain::command::ApprovalAnswer::*;
            UserCommand::DecideApproval {
                task: id,
                approval: approval.id.clone(),
                shown: approval.action_hash.clone(),
                answer: [Once, Always, Deny, Never][pick(4)],
                because: None,
            }
            .into()
        }
        18 | 19 if question.is_some() => UserCommand::AnswerQuestion {
            task: id,
            question: question.expect("there").id.clone(),
            answer: "yes".into(),
        }
        .into(),
        24 if !s.assignments.is_empty() => {
            let works: Vec<_> = s.assignments.values().collect();
            let (task, agent) = (works[pick(works.len())].task.clone(), works[pick(works.len())].agent.clone());
            match bits % 3 {
                0 => UserCommand::CancelAgent { task, agent }.into(),
                _ => UserCommand::Guide { task, agent, text: "rather so".into() }.into(),
            }
        }
        25 if unreviewed(s, &id).is_some() => UserCommand::Review {
            task: id.clone(),
            contribution: unreviewed(s, &id).expect("there"),
            verdict: ReviewVerdict::ALL[pick(3)],
            because: Some("once more".into()),
        }
        .into(),
        26 | 27 if s.decisions.values().any(|q| q.state == DecisionState::Open) => {
            let open = s.decisions.values().find(|q| q.state == DecisionState::Open).expect("there");
            let (task, decision) = (open.task.clone(), open.id.clone());
            match bits % 2 {
                0 => SystemCommand::ExpireDecision { task, decision }.into(),
                _ => UserCommand::AnswerDecision { task, decision, answer: "this".into() }.into(),
            }
        }
        21..=23 => jobs::next_command(s, &id, bits),
        20 => UserCommand::Archive { task: id, archived: bits.is_multiple_of(2) }.into(),
        _ => work(s, task, bits),
    }
}

fn unreviewed(s: &Snapshot, task: &TaskId) -> Option<ContributionId> {
    let open = |c: &&Contribution| c.task == *task && c.state == ReviewState::Unreviewed;
    s.contributions.values().find(open).map(|contribution| contribution.id.clone())
}

fn contract() -> Contract {
    let policy = Policy::named("ask").expect("a policy");
    let tools = ["shell", "read", "decide", "delegate"].map(String::from).to_vec();
    Contract {
        background: String::new(),
        constraints: vec![],
        evidence: vec!["a file".into()],
        grant: Grant { tools, reads: vec![], writes: vec![], network: false, policy },
        budget: Budget { turns: Some(20), ..Budget::default() },
        model: None,
    }
}

/// What a driver of an agent would do now, or something close to it.
fn work(s: &Snapshot, task: &Task, bits: u64) -> Command {
    let agents: Vec<_> =
        s.agents.values().filter(|agent| agent.task == task.id).map(|agent| agent.id.clone()).collect();
    let agent = agents[((bits >> 20) as usize) % agents.len()].clone();
    let Some(run) = s.live_run(&agent).filter(|run| run.state == RunState::Running) else {
        return SystemCommand::StartRun { task: task.id.clone(), agent }.into();
    };
    let id = run.id.clone();
    if let Some(call) = s.live_model_call(&agent) {
        let call = call.id.clone();
        let planned = |n: u64| command::PlannedCall {
            provider_id: format!("call{}", n / 2),
            name: ["shell", "read", "ask", "delegate", "decide"][(bits / 3 + n) as usize % 5].into(),
            arguments: "{}".into(),
            effect: [Effect::Effectful, Effect::Pure, Effect::Idempotent][(n % 3) as usize],
        };
        return match bits % 7 {
            0 => RunCommand::FailTurn {
                run: id,
                call,
                class: "overloaded".into(),
                message: "try later".into(),
                retry_at: bits.is_multiple_of(2).then_some(5),
                instead: None,
            },
            1 => RunCommand::CommitTurn {
                run: id,
                call,
                parts: if bits.is_multiple_of(2) { vec![] } else { vec![Part::text("half an ans")] },
                calls: vec![],
                usage: Usage { turns: 1, ..Usage::default() },
                cut: true,
            },
            2 | 3 => RunCommand::CommitTurn {
                run: id,
                call,
                parts: vec![Part::text("let me look")],
                calls: (0..bits % 4).map(planned).collect(),
                usage: Usage { turns: 1, input_tokens: 10, output_tokens: 3, micro_usd: Some(2), ..Usage::default() },
                cut: false,
            },
            _ => RunCommand::CommitTurn {
                run: id,
                call,
                parts: vec![Part::text("done")],
                calls: vec![],
                usage: Usage { turns: 1, ..Usage::default() },
                cut: false,
            },
        }
        .into();
    }
    match next_step(s, &id, 2_000_000) {
        Step::RunTools(calls) => {
            let call = &calls[0];
            if call.name == "ask" && call.state == ToolCallState::Planned {
                return RunCommand::AskPerson {
                    run: id,
                    call: call.id.clone(),
                    question: "really?".into(),
                    options: vec!["yes".into()],
                    meanwhile: String::new(),
                }
                .into();
            }
            if call.name == "delegate" && !s.assignments.values().any(|a| a.call.as_ref() == Some(&call.id)) {
                return RunCommand::Delegate {
                    run: id,
                    call: call.id.clone(),
                    mode: if bits.is_multiple_of(2) { DelegationMode::Sync } else { DelegationMode::Async },
                    name: "part".into(),
                    objective: "do a part".into(),
                    contract: contract(),
                }
                .into();
            }
            if call.name == "decide" && s.decision_of(&call.id).is_none() && s.live_assignment(&agent).is_some() {
                return RunCommand::RequestDecision {
                    run: id,
                    call: call.id.clone(),
                    question: "this or that?".into(),
                    fallback: "this".into(),
                    wait_ms: 1000 + bits % 5000,
                }
                .into();
            }
            if bits.is_multiple_of(11) {
                let to = agents[((bits >> 30) as usize) % agents.len()].clone();
                return RunCommand::Tell {
                    run: id,
                    call: call.id.clone(),
                    to,
                    text: "by the way".into(),
                    refs: vec![],
                }
                .into();
            }
            if bits.is_multiple_of(13) {
                let agent = agents[((bits >> 30) as usize) % agents.len()].clone();
                return RunCommand::CancelAgent { run: id, agent }.into();
            }
            if let Some(decision) = s.decisions.values().find(|q| q.task == task.id && q.state == DecisionState::Open)
                && bits.is_multiple_of(3)
            {
                return RunCommand::AnswerDecision { run: id, decision: decision.id.clone(), answer: "that".into() }
                    .into();
            }
            if let Some(contribution) = unreviewed(s, &task.id)
                && bits.is_multiple_of(7)
            {
                let verdict = ReviewVerdict::ALL[(bits >> 40) as usize % 3];
                let because = (!bits.is_multiple_of(2)).then(|| "so".into());
                return RunCommand::Review { run: id, contribution, verdict, because }.into();
            }
            if call.state == ToolCallState::Running || bits.is_multiple_of(5) {
                let state = [ToolCallState::Done, ToolCallState::Error, ToolCallState::Cancelled][(bits % 3) as usize];
                return RunCommand::SettleTool {
                    run: id,
                    call: call.id.clone(),
                    state,
                    parts: vec![Part::text("result")],
                    saw: bits.is_multiple_of(7).then(|| "ab".repeat(32)),
                }
                .into();
            }
            RunCommand::StartTool {
                run: id,
                call: call.id.clone(),
                action: shell(if bits.is_multiple_of(2) { "ls" } else { "rm -r x" }),
                pre_hash: None,
                post_hash: None,
            }
            .into()
        }
        Step::Ask { .. } => {
            RunCommand::BeginTurn { run: id, call: ModelCallId(format!("k_{bits}")), model: "openai:test".into() }
                .into()
        }
        Step::Judge(checks) => RunCommand::GiveVerdict {
            run: id,
            check: checks[0].id.clone(),
            outcome: CheckState::Passed,
            evidence: serde_json::json!({"exit_code": 0}),
        }
        .into(),
        Step::Suspend(reason) => RunCommand::Suspend { run: id, reason }.into(),
        Step::End(EndReason::Finished, _) if s.live_assignment(&agent).is_some() => RunCommand::Report {
            run: id,
            call: None,
            report: Report {
                outcome: Outcome::ALL[(bits >> 40) as usize % 3],
                done: "a part".into(),
                uncertain: String::new(),
                refs: vec![],
            },
        }
        .into(),
        Step::End(reason, detail) => RunCommand::End { run: id, reason, detail }.into(),
        Step::Leave => SystemCommand::StartRun { task: task.id.clone(), agent }.into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn rows_equal_the_fold_of_the_events_whatever_is_asked_and_whenever_the_host_dies(
        choices in prop::collection::vec(any::<u64>(), 1..120)
    ) {
        let mut bench = Bench::new();
        for bits in choices {
            if bits % 31 == 0 {
                bench.take_over();
            }
            if bits % 97 == 0 {
                bench = bench.reopen();
            }
            let everything = bench.everything();
            let command = next_command(&everything, bits);
            match bench.submit(command.clone()) {
                Ok(_) => {}
                Err(rejection) => prop_assert!(
                    !matches!(rejection.kind, RejectionKind::Internal | RejectionKind::Storage | RejectionKind::StaleFence),
                    "{command:?} gave {rejection}"
                ),
            }
        }
        bench.check();
    }
}

#[test]
fn a_command_sent_twice_is_carried_out_once_and_answered_alike() {
    let mut bench = Bench::new();
    let envelope = bench.envelope(create("ask", Some("hello")));
    let first = runtime().block_on(bench.store.submit(envelope.clone())).expect("carried out");
    let second = runtime().block_on(bench.store.submit(envelope)).expect("answered");
    assert_eq!(first.receipt, second.receipt);
    assert!(second.events.is_empty());
    assert_eq!(bench.everything().tasks.len(), 1);
}

#[test]
fn a_refused_command_takes_nobody_along_in_its_group() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    let good = bench.envelope(UserCommand::Rename { task: task.clone(), title: "kept".into() });
    let bad = bench.envelope(UserCommand::Rename { task: "t_nosuch".into(), title: "x".into() });
    let also_good = bench.envelope(UserCommand::SetModel { task: task.clone(), model: Some("openai:x".into()) });
    let (a, b, c) = runtime().block_on(async {
        tokio::join!(bench.store.submit(good), bench.store.submit(bad), bench.store.submit(also_good))
    });
    assert!(a.is_ok() && c.is_ok());
    assert_eq!(b.expect_err("refused").kind, RejectionKind::NotFound);
    let stored = &bench.everything().tasks[&task];
    assert_eq!((stored.title.as_str(), stored.model.as_deref()), ("kept", Some("openai:x")));
    bench.check();
}

#[test]
fn an_owner_that_was_overtaken_writes_nothing_more() {
    let mut old = Bench::new();
    let task = old.create("ask");
    let second = Store::open(old.dir.path(), Box::new(|_| {})).expect("opens");
    let mut envelope = old.envelope(SystemCommand::TakeOver {
        owner: Owner { holder: "new".into(), host: "test".into(), pid: 2, pid_start: 2, boot_id: "b".into() },
    });
    envelope.id = CommandId("e_other".into());
    runtime().block_on(second.submit(envelope)).expect("takes over");
    let refused = old.submit(UserCommand::Rename { task: task.clone(), title: "zombie".into() });
    assert_eq!(refused.expect_err("refused").kind, RejectionKind::StaleFence);
    let again = old.submit(UserCommand::Rename { task: task.clone(), title: "zombie".into() });
    assert_eq!(again.expect_err("still refused").kind, RejectionKind::StaleFence);
    assert_ne!(old.everything().tasks[&task].title, "zombie");
    old.check();
}

#[test]
fn removing_a_task_leaves_nothing_of_it_but_its_tombstone() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    let (_, run, call) = bench.ask(&task);
    let calls = vec![command::PlannedCall {
        provider_id: "1".into(),
        name: "shell".into(),
        arguments: "{}".into(),
        effect: Effect::Effectful,
    }];
    let usage = Usage::default();
    bench.submit(RunCommand::CommitTurn { run, call, parts: vec![], calls, usage, cut: false }).expect("commits");
    bench.submit(UserCommand::Cancel { task: task.clone() }).expect("cancelled");
    bench.check();
    bench.submit(UserCommand::Remove { task: task.clone() }).expect("removed");
    bench.check();
    let left = bench.everything();
    assert!(left.tasks.is_empty() && left.rows.is_empty() && left.tool_calls.is_empty() && left.messages.is_empty());
    let events = bench.store.readers.with(|c| event_log::after(c, Some(&task), 0, 100)).expect("reads");
    assert!(events.is_empty());
}

#[test]
fn the_feed_brings_every_event_once_in_order_after_its_commit() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    bench.submit(UserCommand::Rename { task, title: "x".into() }).expect("renamed");
    let seen = bench.seen.lock().expect("feed").clone();
    let stored = bench.store.readers.with(|c| event_log::after(c, None, 0, 100)).expect("reads");
    assert_eq!(seen.iter().map(|e| (**e).clone()).collect::<Vec<_>>(), stored);
}

#[test]
fn the_list_of_tasks_has_the_last_words_of_each_and_what_was_sent_is_listed_once() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    let (_, run, call) = bench.ask(&task);
    let (parts, usage) = (vec![Part::text(" It is the cache.\nShall I mend it?")], Usage::default());
    bench.submit(RunCommand::CommitTurn { run, call, parts, calls: vec![], usage, cut: false }).expect("commits");
    let Answer::Tasks(tasks) = bench.store.ask(&Query::Tasks { all: true }).expect("asked") else { panic!("tasks") };
    assert_eq!(tasks[0].last_words, "It is the cache.\nShall I mend it?");
    for text in ["first", "second", "first"] {
        let delivery = Delivery::Boundary;
        bench
            .submit(UserCommand::SendMessage { task: task.clone(), text: text.into(), refs: vec![], delivery })
            .expect("sent");
    }
    let sent = |limit| match bench.store.ask(&Query::Sent { limit }).expect("asked") {
        Answer::Sent(texts) => texts,
        other => panic!("{other:?}"),
    };
    assert_eq!(sent(2), ["second", "first"], "each once, the newest last");
    assert_eq!(sent(9).len(), 3, "with the first message of the Task");
}

#[test]
fn a_draft_survives_and_an_empty_one_goes() {
    let bench = Bench::new();
    let keep = |text: &str| runtime().block_on(bench.store.keep_draft("n_1", "composer", text, 5)).expect("kept");
    let ask = || bench.store.ask(&Query::Draft { client: "n_1".into(), pane: "composer".into() }).expect("asked");
    keep("half a sent");
    assert_eq!(ask(), Answer::Draft(Some("half a sent".into())));
    keep("");
    assert_eq!(ask(), Answer::Draft(None));
}

#[test]
fn a_draft_passes_from_a_client_that_is_gone_to_one_that_comes_and_never_from_one_that_is_here() {
    let bench = Bench::new();
    let adopt =
        |present: &[ClientId]| runtime().block_on(bench.store.adopt_draft("n_new", "chat", present)).expect("asked");
    runtime().block_on(bench.store.keep_draft("n_old", "chat", "half a sent", 5)).expect("kept");
    assert_eq!(adopt(&["n_old".into(), "n_new".into()]), None);
    assert_eq!(adopt(&["n_new".into()]), Some("half a sent".into()));
    let own = bench.store.ask(&Query::Draft { client: "n_new".into(), pane: "chat".into() }).expect("asked");
    assert_eq!(own, Answer::Draft(Some("half a sent".into())));
    assert_eq!(adopt(&["n_new".into()]), None);
}

#[test]
fn a_file_of_a_newer_version_is_refused_untouched() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("cowork.db");
    drop(Store::open(dir.path(), Box::new(|_| {})).expect("opens"));
    rusqlite::Connection::open(&path).expect("opens").execute_batch("PRAGMA user_version = 99").expect("set");
    let before = std::fs::read(&path).expect("read");
    let error = Store::open(dir.path(), Box::new(|_| {})).err().expect("refused");
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
    assert!(!error.hint().is_empty());
    assert_eq!(before, std::fs::read(&path).expect("read"));
}

#[test]
fn a_damaged_file_is_refused_and_never_started_empty() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("cowork.db");
    std::fs::write(&path, b"this is no database, but somebody's file, long enough to be looked at".repeat(100))
        .expect("written");
    let before = std::fs::read(&path).expect("read");
    let error = Store::open(dir.path(), Box::new(|_| {})).err().expect("refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(before, std::fs::read(&path).expect("read"));
}

#[test]
fn a_database_of_another_program_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("cowork.db");
    rusqlite::Connection::open(&path).expect("opens").execute_batch("CREATE TABLE theirs (x)").expect("made");
    let error = Store::open(dir.path(), Box::new(|_| {})).err().expect("refused");
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}

#[test]
fn a_write_ahead_log_without_its_database_is_no_reason_to_start_empty() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("cowork.db-wal"), b"something").expect("written");
    let error = Store::open(dir.path(), Box::new(|_| {})).err().expect("refused");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[test]
fn a_row_that_was_changed_behind_our_back_is_found() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    let raw = rusqlite::Connection::open(bench.dir.path().join("cowork.db")).expect("opens");
    raw.execute_batch("DROP TRIGGER event_append_only_u; UPDATE event SET payload = '{}' WHERE seq = 2")
        .expect("changed");
    let Answer::Doctor(report) = bench.store.ask(&Query::Doctor { deep: true }).expect("examined") else {
        panic!("doctor answered something else")
    };
    assert!(report.faults.iter().any(|fault| fault.code == "F52" && fault.id == "2"), "{report:?}");
    assert!(!bench.everything().tasks[&task].title.is_empty());
}

#[test]
fn a_prefix_of_an_id_is_enough_while_it_is_the_only_one() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    let ask = |prefix: &str| bench.store.ask(&Query::Resolve { prefix: prefix.into() });
    assert_eq!(ask(&task.as_str()[..5]).expect("found"), Answer::Resolved(task.0.clone()));
    assert_eq!(ask("t_zzzzzz").expect_err("unknown").kind, RejectionKind::NotFound);
    assert_eq!(ask("whatever").expect_err("no id").kind, RejectionKind::Invalid);
}

#[test]
fn of_many_messages_all_that_are_open_are_given_and_the_newest_of_the_others() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    for n in 0..20 {
        let delivery = Delivery::Boundary;
        let text = format!("n {n}");
        bench.submit(UserCommand::SendMessage { task: task.clone(), text, refs: vec![], delivery }).expect("sent");
    }
    let messages = |bench: &Bench, settled| match bench
        .store
        .ask(&Query::Messages { task: Some(task.clone()), settled })
        .expect("answered")
    {
        Answer::Messages(messages) => {
            messages.into_iter().map(|message| (message.id, message.text)).collect::<Vec<_>>()
        }
        other => panic!("not messages: {other:?}"),
    };
    let all = messages(&bench, 0);
    assert_eq!(all.len(), 21);
    for (message, _) in &all[3..] {
        let (task, message) = (task.clone(), message.clone());
        bench.submit(UserCommand::WithdrawMessage { task, message }).expect("withdrawn");
    }
    assert_eq!(messages(&bench, 0), all[..3]);
    assert_eq!(messages(&bench, 2), [&all[..3], &all[19..]].concat());
}

#[test]
fn a_task_of_very_long_messages_opens_page_by_page() {
    let mut bench = Bench::new();
    let task = bench.create("ask");
    for n in 0..20 {
        let (text, delivery) = (format!("{n} {}", "x".repeat(300_000)), Delivery::Boundary);
        bench.submit(UserCommand::SendMessage { task: task.clone(), text, refs: vec![], delivery }).expect("sent");
    }
    let (main, run, call) = bench.ask(&task);
    let (parts, usage) = (vec![Part::text("done")], Usage::default());
    bench.submit(RunCommand::CommitTurn { run, call, parts, calls: vec![], usage, cut: false }).expect("answers");
    let (mut before, mut rows) = (None, 0);
    loop {
        let query = Query::Transcript { agent: main.clone(), before, limit: 200 };
        let page = match bench.store.ask(&query).expect("answered") {
            Answer::Transcript(page) => page,
            other => panic!("no page: {other:?}"),
        };
        assert!(serde_json::to_vec(&page).expect("written").len() < 4 << 20);
        rows += page.rows.len();
        before = page.rows.first().map(|row| row.seq);
        if !page.more {
            break;
        }
    }
    assert_eq!(rows, 22);
    match bench.store.ask(&Query::Messages { task: Some(task), settled: 200 }).expect("answered") {
        Answer::Messages(messages) => {
            assert!((1..10).contains(&messages.len()), "{}", messages.len());
            assert!(messages.last().expect("the newest").text.starts_with("19 "));
        }
        other => panic!("no messages: {other:?}"),
    }
}

#[test]
fn repairing_a_damaged_file_saves_what_can_be_read_and_keeps_the_rest() {
    let mut bench = Bench::new();
    for _ in 0..40 {
        bench.create("ask");
    }
    let tasks = bench.everything().tasks.len() as u64;
    let Bench { dir, store, .. } = bench;
    drop(store);
    let path = dir.path().join("cowork.db");
    rusqlite::Connection::open(&path).expect("opens").execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("folded");
    let mut bytes = std::fs::read(&path).expect("read");
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&path, &bytes).expect("damaged");
    assert!(matches!(Store::open(dir.path(), Box::new(|_| {})).err(), Some(StoreError::Damaged { .. })));
    let repaired = repair(dir.path(), "now").expect("repaired");
    assert_eq!(std::fs::read(&repaired.kept).expect("kept"), bytes);
    let saved: u64 = repaired.rows.iter().filter(|(table, _)| table == "task").map(|(_, rows)| *rows).sum();
    assert!(saved > 0 && saved <= tasks, "{repaired:?}");
    Store::open(dir.path(), Box::new(|_| {})).expect("opens again");
}
