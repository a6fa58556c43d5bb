//! Models in known states, for tests.

use super::model::{Facts, Model};
use super::projection::{Host, Opening, Trusted};
use super::theme::BuiltIn;
use crate::domain::permission::{Access, Action, Policy};
use crate::domain::*;
use jiff::tz::TimeZone;

/// The time in every fixture: 2026-03-04, noon, UTC.
pub const NOW: Millis = 1_772_625_600_000;

pub fn facts() -> Facts {
    Facts {
        to_trust: vec!["AGENTS.md".into(), ".git".into()],
        folder: Folder { path: "/home/me/parser".into(), device: 1, inode: 2, owner: 1000 },
        client: "n_client".into(),
        model: "openai:gpt-5".into(),
        windows: [("openai:gpt-5".to_owned(), 400_000)].into_iter().collect(),
        models: vec!["openai:gpt-5".into(), "guide:guide".into()],
        offers: Vec::new(),
        policy: Policy::named("ask").expect("a policy"),
        zone: TimeZone::UTC,
    }
}

/// A screen that is connected and has no Task.
pub fn model(width: u16, height: u16) -> Model {
    let mut model = Model::new(facts(), BuiltIn::Dark.load(), None, Ids::new([7; 16]), NOW, (width, height));
    model.told.host = Host::Connected;
    model.told.trusted = Trusted::Yes;
    model.lay_out();
    model
}

pub fn task() -> Task {
    Task {
        id: "t_parser00".into(),
        title: "Why does the parser test fail?".into(),
        status: TaskStatus::Active,
        reason: None,
        resume_status: None,
        archived: false,
        cwd: Some("/home/me/parser".into()),
        model: None,
        policy: Policy::named("ask").expect("a policy"),
        budget: Budget::default(),
        objective_version: 1,
        usage: Usage { micro_usd: Some(31_000), ..Usage::default() },
        main: "a_main0000".into(),
        waiting_for: Vec::new(),
        last_words: String::new(),
        created_at: NOW - 60_000,
        updated_at: NOW - 5_000,
    }
}

pub fn agent() -> Agent {
    Agent {
        id: "a_main0000".into(),
        task: "t_parser00".into(),
        role: AgentRole::Main,
        next_seq: 1,
        tail_from_seq: 1,
        last: None,
        failures: 0,
        retry_at: None,
        created_at: NOW - 60_000,
        retired_at: None,
    }
}

pub fn run() -> Run {
    Run {
        id: "r_run0000000".into(),
        task: "t_parser00".into(),
        agent: "a_main0000".into(),
        state: RunState::Running,
        fence: 1,
        end_reason: None,
        detail: None,
        started_at: NOW - 12_000,
        ended_at: None,
    }
}

/// A request that is under way.
pub fn model_call(id: &str) -> ModelCall {
    ModelCall {
        id: id.into(),
        agent: "a_main0000".into(),
        run: "r_run0000000".into(),
        purpose: "turn".into(),
        state: ModelCallState::Started,
        fence: 1,
        model: "guide:guide".into(),
        through_seq: 1,
        result_seq: None,
        error_class: None,
        usage: None,
        started_at: NOW,
        ended_at: None,
    }
}

pub fn row(seq: u64, role: Role, parts: Vec<Part>) -> Row {
    Row { seq, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 100, at: NOW - 30_000 }
}

pub fn message(id: &str, text: &str, state: MessageState) -> Message {
    Message {
        id: id.into(),
        task: Some("t_parser00".into()),
        to: Actor::agent(&"a_main0000".into()),
        from: Actor::person(),
        kind: MessageKind::User,
        key: format!("user:{id}"),
        delivery: Delivery::Boundary,
        order: 1,
        text: text.into(),
        refs: Vec::new(),
        state,
        reason: None,
        context_seq: None,
        consumed_seq: None,
        fence: None,
        created_at: NOW - 20_000,
        delivered_at: None,
        consumed_at: None,
    }
}

pub fn call(id: &str, ix: u32, name: &str, arguments: &str, state: ToolCallState) -> ToolCall {
    ToolCall {
        id: id.into(),
        agent: "a_main0000".into(),
        run: "r_run0000000".into(),
        assistant_seq: 2,
        ix,
        provider_id: format!("call_{ix}"),
        name: name.into(),
        arguments: arguments.into(),
        effect: Effect::Pure,
        pre_hash: None,
        post_hash: None,
        state,
        fence: None,
        result_seq: None,
        created_at: NOW - 10_000,
        started_at: Some(NOW - 4_000),
        ended_at: state.is_settled().then_some(NOW - 3_500),
    }
}

fn part(call: &ToolCall) -> Part {
    Part::Call {
        id: call.id.clone(),
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    }
}

/// What the host answers for a Task in which a question was asked and Main looks for the answer.
pub fn opening() -> Opening {
    let asked = Row {
        message: Some("m_first00000".into()),
        ..row(1, Role::User, vec![Part::text("Why does the parser test fail?")])
    };
    let mut calls = vec![
        call("c_read000000", 0, "read", r#"{"path":"src/parser.rs"}"#, ToolCallState::Done),
        call("c_grep000000", 1, "grep", r#"{"pattern":"trim_end","path":"src"}"#, ToolCallState::Done),
        call("c_shell00000", 2, "shell", r#"{"command":"cargo test parser"}"#, ToolCallState::Running),
    ];
    (calls[0].result_seq, calls[1].result_seq) = (Some(3), Some(4));
    let mut parts = vec![
        Part::Thinking { text: "The test may expect a trailing newline. Let me look.".into(), signature: None },
        Part::text("The test expects a trailing newline, but `parse` may trim it. I will look at the code first."),
    ];
    parts.extend(calls.iter().map(part));
    let rows = vec![
        asked,
        row(2, Role::Assistant, parts),
        row(3, Role::Tool, vec![Part::text("fn parse(text: &str) -> Ast {\n    let text = text.trim_end();\n}")]),
        row(4, Role::Tool, vec![Part::text("src/parser.rs:2: let text = text.trim_end();")]),
    ];
    let detail = TaskDetail {
        task: task(),
        objective: None,
        checks: Vec::new(),
        verdicts: Vec::new(),
        agents: vec![Agent { next_seq: 5, ..agent() }],
        delegated: Vec::new(),
        asking: None,
        checkpoint: None,
        run: Some(run()),
        context_tokens: 12_400,
        seq: 20,
    };
    let first = Message {
        context_seq: Some(1),
        consumed_seq: Some(2),
        ..message("m_first00000", "Why does the parser test fail?", MessageState::Consumed)
    };
    Opening {
        detail,
        page: TranscriptPage { rows, calls, messages: Vec::new(), more: false, seq: 20 },
        messages: vec![first],
        approvals: Vec::new(),
        questions: Vec::new(),
        fence: 1,
    }
}

/// Main is at work on a Task.
pub fn working(model: &mut Model) {
    model.wanted = Some("t_parser00".into());
    model.told.woken_by = vec!["m_first00000".into()];
    model.told.open(opening());
    model.told.woken_by = vec!["m_first00000".into()];
    model.lay_out();
}

pub fn record(model: &mut Model, event: Event) {
    let recorded =
        Recorded { seq: model.told.seq + 1, at: NOW, task: model.wanted.clone(), actor: Actor::system(), event };
    model.told.record(&recorded);
    model.lay_out();
}

pub fn action(subject: &str) -> Action {
    Action {
        tool: "shell".into(),
        access: Access::Execute,
        subject: subject.into(),
        cwd: "/home/me/parser".into(),
        detail: String::new(),
        inside: true,
        own: false,
        beyond: String::new(),
        rule_subject: subject.into(),
    }
}

pub fn approval_of(id: &str, subject: &str) -> Approval {
    let action = action(subject);
    Approval {
        id: id.into(),
        task: "t_parser00".into(),
        agent: "a_main0000".into(),
        tool_call: "c_shell00000".into(),
        action_hash: action.hash(),
        action,
        why: "it runs a command".into(),
        state: ApprovalState::Pending,
        because: None,
        decided_by: None,
        created_at: NOW - 2_000,
        decided_at: None,
    }
}

/// The Run is put down in the middle of a step: it waits.
fn rest(model: &mut Model) {
    for run in model.told.records.runs.values_mut() {
        run.state = RunState::Interrupted;
    }
}

/// A command waits for a person.
pub fn approval(model: &mut Model) {
    working(model);
    rest(model);
    record(model, Event::ApprovalRequested { approval: approval_of("p_first000", "cargo test parser") });
    record(
        model,
        Event::TaskStatusChanged {
            status: TaskStatus::AwaitingHuman,
            reason: Some("approval".into()),
            resume_status: None,
        },
    );
}

/// Main asks the person something.
pub fn question(model: &mut Model) {
    working(model);
    rest(model);
    let question = Question {
        id: "q_first000".into(),
        task: "t_parser00".into(),
        agent: "a_main0000".into(),
        tool_call: "c_shell00000".into(),
        question: "Should `parse` keep the trailing newline, or should the test change?".into(),
        options: vec!["Keep the newline".into(), "Change the test".into()],
        meanwhile: "nothing is changed".into(),
        state: QuestionState::Open,
        answer: None,
        created_at: NOW - 2_000,
        resolved_at: None,
    };
    record(model, Event::QuestionAsked { question });
    record(
        model,
        Event::TaskStatusChanged {
            status: TaskStatus::AwaitingHuman,
            reason: Some("question".into()),
            resume_status: None,
        },
    );
}

/// Main is done; a person is to say whether a point of acceptance is met.
pub fn acceptance(model: &mut Model) {
    working(model);
    model.told.records.runs.clear();
    let check = Check {
        id: "x_first000".into(),
        task: "t_parser00".into(),
        objective_version: 1,
        kind: CheckKind::Person,
        text: "The explanation is clear to somebody who never saw the parser.".into(),
        state: CheckState::Open,
        failures: 0,
        judged_through: None,
        created_at: NOW - 50_000,
    };
    record(model, Event::CheckAdded { check });
    record(
        model,
        Event::TaskStatusChanged {
            status: TaskStatus::AwaitingHuman,
            reason: Some("acceptance".into()),
            resume_status: None,
        },
    );
}

/// A Job that runs, as the host lists it.
pub fn job(model: &mut Model) {
    let mut view = running_job("build", Some("t_parser00"));
    view.job.definition.command = JobCommand::Shell("cargo build".into());
    view.job.id = "j_build000".into();
    view.job.created_at = NOW - 90_000;
    model.jobs.take(vec![view]);
    model.lay_out();
}

/// A Job of some name that runs.
pub fn running_job(name: &str, task: Option<&str>) -> JobView {
    let job = Job {
        id: format!("j_{}", name.replace(' ', "")).into(),
        origin: "command:1".into(),
        task: task.map(Into::into),
        actor: Actor::person(),
        definition: JobDefinition {
            name: name.into(),
            command: JobCommand::Shell("make".into()),
            cwd: "/home/me/parser".into(),
            terminal: true,
            role: JobRole::Work,
            watch: Vec::new(),
            levels: JobLevels::default(),
        },
        state: JobState::Running,
        process: None,
        stop: None,
        note: None,
        matched_through: 0,
        breached: Vec::new(),
        end: None,
        created_at: 1,
    };
    JobView { job, seen: JobSeen::default() }
}

/// Work given to a Subagent a while ago.
pub fn assignment(id: &str, name: &str, objective: &str, state: AssignmentState) -> Assignment {
    Assignment {
        id: format!("w_{id}").as_str().into(),
        task: "t_parser00".into(),
        agent: format!("a_{id}").as_str().into(),
        parent: "a_main0000".into(),
        turn: 1,
        call: None,
        mode: DelegationMode::Async,
        name: name.into(),
        objective: objective.into(),
        objective_version: 1,
        contract: Contract {
            background: String::new(),
            constraints: Vec::new(),
            evidence: vec!["the failing test".into()],
            grant: Grant {
                tools: vec!["read".into()],
                reads: Vec::new(),
                writes: Vec::new(),
                network: false,
                policy: Policy::named("ask").expect("a policy"),
            },
            budget: Budget::default(),
            model: None,
        },
        state,
        usage: Usage { turns: 3, input_tokens: 4_100, output_tokens: 250, micro_usd: Some(12_000), ..Usage::default() },
        created_at: NOW - 42_000,
        ended_at: state.is_ended().then_some(NOW - 2_000),
    }
}

/// A Subagent.
pub fn subagent(id: &str) -> Agent {
    Agent { id: format!("a_{id}").as_str().into(), role: AgentRole::Subagent, ..agent() }
}

/// What came of an assignment.
pub fn contribution(work: &Assignment, done: &str) -> Contribution {
    Contribution {
        id: format!("o_{}", work.agent.as_str().trim_start_matches("a_")).as_str().into(),
        assignment: work.id.clone(),
        task: work.task.clone(),
        agent: work.agent.clone(),
        report: Report {
            outcome: Outcome::Completed,
            done: done.into(),
            uncertain: "whether Windows line ends count".into(),
            refs: vec!["src/parser.rs:2".into(), "notes.md".into()],
        },
        state: ReviewState::Unreviewed,
        reviewed_by: None,
        because: None,
        created_at: NOW - 2_000,
        reviewed_at: None,
    }
}

/// A message of an agent to Main.
pub fn told_main(id: &str, from: &str, kind: MessageKind, key: String, text: &str) -> Message {
    let from = Actor::agent(&from.into());
    Message { from, kind, key, created_at: NOW - 1_500, ..message(id, text, MessageState::Queued) }
}

/// Three Subagents: one works, one asks, one has brought something; and one whose work is over.
pub fn team(model: &mut Model) {
    working(model);
    let call = ToolCall {
        started_at: Some(NOW - 42_000),
        ..call("c_give000000", 3, "delegate", r#"{"name":"reader","objective":"read the parser"}"#, ToolCallState::Done)
    };
    record(model, Event::ToolPlanned { call: call.clone() });
    let works = Assignment {
        call: Some(call.id.clone()),
        ..assignment("reader", "reader", "Read the parser and say where the newline is lost.", AssignmentState::Running)
    };
    let asks = assignment("docs", "文档 📚", "Bring the manual in line with the code.", AssignmentState::Blocked);
    let brought = assignment("tests", "tests", "Find the test that fails.", AssignmentState::Completed);
    let over = assignment("lint", "lint", "Run the linter.", AssignmentState::Completed);
    let below = Assignment {
        parent: "a_reader".into(),
        ..assignment("grep", "grep", "Look for trim_end everywhere.", AssignmentState::Queued)
    };
    for work in [&works, &asks, &brought, &over, &below] {
        let agent = Some(Agent { id: work.agent.clone(), role: AgentRole::Subagent, ..agent() });
        record(model, Event::AssignmentGiven { assignment: work.clone(), agent });
    }
    for (ix, agent) in ["a_reader", "a_docs"].into_iter().enumerate() {
        let run = Run { id: format!("r_sub{ix}").as_str().into(), agent: agent.into(), ..run() };
        record(model, Event::RunStarted { run, resumed: false, woken_by: Vec::new() });
    }
    let decision = DecisionRequest {
        id: "d_first000".into(),
        task: "t_parser00".into(),
        assignment: asks.id.clone(),
        agent: asks.agent.clone(),
        tool_call: "c_decide0000".into(),
        question: "British or American spelling?".into(),
        fallback: "keep what is there".into(),
        deadline_at: NOW + 95_000,
        state: DecisionState::Open,
        answer: None,
        answered_by: None,
        created_at: NOW - 5_000,
        resolved_at: None,
    };
    let key = format!("decision:{}:request", decision.id);
    let words = "文档 📚 asks for decision d_first000 within 100 s: British or American spelling?";
    record(model, Event::DecisionAsked { decision });
    let message = told_main("m_asks", "a_docs", MessageKind::DecisionRequest, key, words);
    record(model, Event::MessageQueued { message });
    for (work, done, reviewed) in [
        (&over, "No warnings.", true),
        (&brought, "`parser::keeps` fails: it expects a trailing newline.\n\nIt is the only one.", false),
    ] {
        let made = contribution(work, done);
        let (contribution, state) = (made.id.clone(), ReviewState::Accepted);
        record(model, Event::ContributionMade { contribution: made, state: AssignmentState::Completed });
        if reviewed {
            record(model, Event::ContributionReviewed { contribution, state, because: None });
        } else {
            let key = format!("assignment:{}:terminal", work.id);
            let words = format!("tests (a_tests, Contribution {contribution}) completed: {done}");
            let message = told_main("m_tests", "a_tests", MessageKind::Contribution, key, &words);
            record(model, Event::MessageQueued { message });
        }
    }
    model.told.take(&Transient::Text {
        task: "t_parser00".into(),
        agent: "a_reader".into(),
        call: "k_reader".into(),
        at: 0,
        text: "The newline goes in `parse`, on line 2.\nNow the callers".into(),
    });
    model.lay_out();
}
