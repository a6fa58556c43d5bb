//! `cowork exec`: what it prints, in which order, and how it ends. Other programs parse this.

use crate::support::calls::{call, shell};
use crate::support::home::{Exec, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::process;
use crate::support::reply::Reply;
use rustix::process::Signal;
use serde_json::Value;

const KINDS: &[&str] = &[
    "message",
    "turn_started",
    "text",
    "thinking",
    "tool_call",
    "tool_result",
    "approval",
    "question",
    "agent",
    "job",
    "source",
    "goal",
    "resource",
    "compaction",
    "notice",
    "error",
    "result",
];

#[test]
fn exec_prints_the_answer_and_nothing_else_on_standard_output() {
    let server = ModelServer::with([Reply::stream().text("Hello ").text("there.").finish()]);
    let home = Home::with_model(&server);
    let finished = home.run(["exec", "say hello"]).expect_code(0);
    assert_eq!(finished.stdout.trim_end(), "Hello there.");
    assert_eq!(server.wait_for_request(1).user(), "say hello");
}

#[test]
fn exec_with_json_prints_one_event_a_line_in_order_and_the_result_last() {
    let server = ModelServer::with([
        Reply::stream()
            .thinking("hm")
            .text("I look.")
            .tool("shell", shell("echo from the shell").1)
            .finish_using(100, 20),
        Reply::stream().text("It says so.").finish_using(150, 10),
    ]);
    let home = Home::with_model(&server);
    let exec = home.exec(["what does it say"]).expect_code(0);
    let task = exec.task().to_owned();
    let mut before = 0;
    for line in &exec.lines {
        let kind = line["kind"].as_str().unwrap_or_default();
        assert!(KINDS.contains(&kind), "an unknown kind: {line}");
        assert_eq!(line["task"], task.as_str(), "{line}");
        assert!(line["at"].as_i64().is_some_and(|at| at > 1_600_000_000_000), "{line}");
        let seq = line["seq"].as_i64().unwrap_or_else(|| panic!("no seq: {line}"));
        assert!(seq >= before, "out of order: {line}");
        before = seq;
    }
    let calls = exec.of("tool_call");
    let results = exec.of("tool_result");
    assert_eq!((calls.len(), results.len()), (1, 1), "{:#?}", exec.lines);
    assert_eq!(calls[0]["name"], "shell");
    assert_eq!(calls[0]["id"], results[0]["id"]);
    assert_eq!(results[0]["ok"], true);
    assert!(results[0]["text"].as_str().is_some_and(|text| text.contains("from the shell")), "{}", results[0]);
    assert_eq!(exec.result()["status"], "completed");
    assert_eq!(exec.text(), "It says so.");
    let usage = &exec.result()["usage"];
    assert_eq!(
        (&usage["turns"], &usage["input_tokens"], &usage["output_tokens"]),
        (&2.into(), &250.into(), &30.into())
    );
    let said: String = exec.of("text").iter().filter_map(|line| line["text"].as_str()).collect();
    assert!(said.contains("I look.") && said.contains("It says so."), "{said}");
}

#[test]
fn a_prompt_can_come_from_standard_input() {
    let server = ModelServer::with([Reply::say("read it")]);
    let home = Home::with_model(&server);
    crate::support::process::run(home.command(["exec", "-"]), "two\nlines\n").expect_code(0);
    assert_eq!(server.wait_for_request(1).user().trim_end(), "two\nlines");
}

#[test]
fn what_is_piped_in_follows_the_words_where_a_dash_says_so_and_is_left_alone_elsewhere() {
    let server = ModelServer::with([Reply::say("read it"), Reply::say("left it")]);
    let home = Home::with_model(&server);
    crate::support::process::run(home.command(["exec", "sum", "up", "-"]), "two\nlines\n").expect_code(0);
    assert_eq!(server.wait_for_request(1).heard().join("\n\n").trim_end(), "sum up\n\n```\ntwo\nlines\n```");
    // As in a loop that reads its own lines.
    let mut looped = std::process::Command::new("sh");
    let one = home.command(["exec", "count"]);
    looped.envs(one.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(home.work());
    looped.args(["-c", &format!("{} exec count; cat", crate::support::home::COWORK)]);
    let finished = crate::support::process::run(looped, "the loop's\n").expect_code(0);
    assert_eq!(server.wait_for_request(2).user(), "count");
    assert!(finished.stdout.ends_with("the loop's\n"), "{}", finished.stdout);
}

#[test]
fn one_more_message_goes_on_in_the_same_task() {
    let server = ModelServer::with([Reply::say("one"), Reply::say("two")]);
    let home = Home::with_model(&server);
    let first = home.exec(["first words"]).expect_code(0);
    let second = home.exec(["--task", first.task(), "second words"]).expect_code(0);
    assert_eq!(first.task(), second.task());
    assert_eq!(second.text(), "two");
    let request = server.wait_for_request(2);
    assert_eq!(request.heard(), ["first words", "second words"]);
    assert_eq!(request.said_by("assistant"), ["one"]);
}

#[test]
fn a_shortened_id_names_the_task() {
    let server = ModelServer::with([Reply::say("one"), Reply::say("two")]);
    let home = Home::with_model(&server);
    let task = home.exec(["hello"]).expect_code(0).task().to_owned();
    assert_eq!(home.exec(["--task", &task[..6], "again"]).expect_code(0).task(), task);
}

#[test]
fn wrong_use_ends_with_2() {
    let home = Home::new();
    for arguments in [
        &["exec"][..],
        &["exec", "--no-such-flag", "x"],
        &["exec", "--approve", "everything", "x"],
        &["exec", "--budget", "turns=many", "x"],
        &["exec", "--model", "nobody:knows", "x"],
        &["no-such-command", "x", "y"],
    ] {
        let finished = home.run(arguments).expect_code(2);
        assert!(!finished.stderr.is_empty() && finished.stdout.is_empty(), "{arguments:?}: {finished:?}");
    }
}

#[test]
fn what_does_not_exist_ends_with_1_and_says_so_in_json_when_asked() {
    let home = Home::new();
    let finished = home.run(["--json", "show", "t_nowhere"]).expect_code(1);
    assert_eq!(finished.stdout, "");
    let error: Value = serde_json::from_str(finished.stderr.trim()).expect("one JSON object");
    assert_eq!(error["error"]["kind"], "not_found");
    assert!(error["error"]["message"].as_str().is_some_and(|message| message.contains("t_nowhere")), "{error}");
}

#[test]
fn a_server_that_refuses_the_key_ends_with_5_and_says_what_to_do() {
    let server = ModelServer::with([Reply::error_status(401, "invalid_api_key", "Incorrect API key provided")]);
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(5);
    assert_eq!(exec.result()["status"], "failed");
    assert!(exec.stderr.to_lowercase().contains("key"), "{}", exec.stderr);
    assert_eq!(server.requests().len(), 1, "a wrong key does not get better by asking again");
}

#[test]
fn a_model_that_failed_for_good_leaves_a_task_that_goes_on_when_it_works_again() {
    let server = ModelServer::with([Reply::error_status(401, "invalid_api_key", "no"), Reply::say("here I am")]);
    let home = Home::with_model(&server);
    let task = home.exec(["first"]).expect_code(5).task().to_owned();
    let exec = home.exec(["--task", &task, "second"]).expect_code(0);
    assert_eq!(exec.text(), "here I am");
    assert_eq!(server.wait_for_request(2).heard(), ["first", "second"]);
    home.assert_sound();
}

#[test]
fn interrupting_and_cancelling_from_elsewhere_ends_with_7() {
    for (verb, status) in [("interrupt", None), ("cancel", Some("cancelled"))] {
        let latch = Latch::new();
        let server = ModelServer::with([Reply::stream().text("so far").hold(&latch).finish()]);
        let home = Home::with_model(&server);
        let running = home.start(["exec", "--json", "go"]);
        latch.wait_reached();
        let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
        home.ok([verb, &task]);
        let exec = Exec::new(running.finish());
        assert_eq!(exec.code, 7, "{verb}: {exec:#?}");
        if let Some(status) = status {
            assert_eq!(exec.result()["status"], status);
        }
        server.wait_for_hang_up(1);
        home.assert_sound();
    }
}

#[test]
fn an_interrupt_from_the_keyboard_stops_the_work_cleanly_and_ends_with_7() {
    for signal in [Signal::INT, Signal::TERM] {
        let latch = Latch::new();
        let server =
            ModelServer::with([Reply::stream().text("half a sen").hold(&latch).finish(), Reply::say("went on")]);
        let home = Home::with_model(&server);
        let running = home.start(["exec", "--json", "go"]);
        latch.wait_reached();
        running.signal(signal);
        let exec = Exec::new(running.finish()).expect_code(7);
        assert_eq!(exec.result()["status"], "cancelled");
        server.wait_for_hang_up(1);
        assert_eq!(home.exec(["--task", exec.task(), "go on"]).expect_code(0).text(), "went on");
        home.assert_sound();
    }
}

#[test]
fn a_second_interrupt_from_the_keyboard_ends_exec_at_once_with_7() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half").hold(&latch).finish()]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "go"]);
    latch.wait_reached();
    // A host that does not answer, as on a machine that is busy beyond measure.
    let host = home.host().expect("a host runs").pid;
    process::send(host, Signal::STOP);
    running.signal(Signal::INT);
    running.wait_for_error("once more to leave at once");
    running.signal(Signal::INT);
    running.finish().expect_code(7);
    process::send(host, Signal::CONT);
    latch.release();
    home.assert_sound();
}

#[test]
fn two_interrupts_at_once_still_stop_the_work() {
    for _ in 0..5 {
        let latch = Latch::new();
        let server = ModelServer::with([Reply::stream().text("half").hold(&latch).finish()]);
        let home = Home::with_model(&server);
        let running = home.start(["exec", "go"]);
        latch.wait_reached();
        running.signal(Signal::INT);
        running.signal(Signal::INT);
        running.finish().expect_code(7);
        server.wait_for_hang_up(1);
    }
}

#[test]
fn what_was_said_before_an_interruption_is_kept_and_told_the_model() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half a sen").hold(&latch).finish(), Reply::say("whole")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "go"]);
    latch.wait_reached();
    running.wait_for("turn_started");
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["interrupt", &task]);
    running.finish();
    home.exec(["--task", &task, "go on"]).expect_code(0);
    let request = server.wait_for_request(2);
    assert!(request.said_by("assistant").join("\n").contains("half a sen"), "{:#?}", request.messages());
}

#[test]
fn a_budget_that_runs_out_ends_with_6_and_says_which() {
    let server = ModelServer::start();
    server.otherwise(|_| call(shell("true")));
    let home = Home::with_model(&server);
    let exec = home.exec(["--budget", "turns=2", "loop"]).expect_code(6);
    assert_eq!(server.requests().len(), 2);
    assert!(format!("{} {}", exec.stderr, exec.result()).contains("turns"), "{exec:#?}");
    home.assert_sound();
}

#[test]
fn a_budget_of_time_ends_the_command_it_runs_out_in() {
    let server = ModelServer::with([call(shell("echo begun; sleep 600"))]);
    let home = Home::with_model(&server);
    let exec = home.exec(["--budget", "seconds=1", "wait for it"]).expect_code(6);
    assert!(exec.tool_texts()[0].contains("begun"), "what it printed is kept: {exec:?}");
}

#[test]
fn a_raised_budget_lets_the_task_go_on() {
    let server = ModelServer::with([call(shell("true")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let task = home.exec(["--budget", "turns=1", "two steps"]).expect_code(6).task().to_owned();
    home.ok(["set", &task, "--budget", "turns=5"]);
    assert_eq!(home.exec(["--task", &task, "go on"]).expect_code(0).text(), "done");
}

#[test]
fn tokens_count_towards_a_budget_as_the_server_counted_them() {
    let server = ModelServer::with([Reply::stream().tool("shell", shell("true").1).finish_using(900, 200)]);
    let home = Home::with_model(&server);
    let exec = home.exec(["--budget", "tokens=1000", "spend"]).expect_code(6);
    assert_eq!(exec.result()["usage"]["input_tokens"], 900);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    home.exec(["what is here?"]).expect_code(0);
    let mut shell = std::process::Command::new("bash");
    shell.args([
        "-o",
        "pipefail",
        "-c",
        "\"$0\" --json events $(\"$0\" --json ls | sed 's/.*\"id\":\"\\(t_[^\"]*\\)\".*/\\1/') | head -c 1",
    ]);
    shell.arg(crate::support::home::COWORK).env("COWORK_HOME", home.state()).current_dir(home.work());
    let finished = crate::support::process::run(shell, "");
    assert_eq!((finished.status.code(), finished.stdout.as_str(), finished.stderr.as_str()), (Some(0), "{", ""));
}

#[test]
fn exec_works_without_a_host_process() {
    let server = ModelServer::with([call(shell("echo hello")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let exec = home.exec(["--in-process", "go"]).expect_code(0);
    assert_eq!(exec.text(), "done");
    assert_eq!(home.processes(), [], "nothing runs when it has ended");
    home.assert_sound();
}
