//! Nothing that needs a person's yes runs without it, from wherever the yes comes.

use crate::support::calls::{ask, call, calls, fetch, read, shell, write};
use crate::support::home::{Exec, Home};
use crate::support::model_server::ModelServer;
use crate::support::pages::Pages;
use crate::support::reply::Reply;
use crate::support::watch::eventually;
use serde_json::Value;

/// The open approvals.
fn open(home: &Home) -> Vec<Value> {
    home.json(["approvals", "ls"])
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap_or_else(|| panic!("no id: {value}"))
}

#[test]
fn where_nobody_is_there_the_question_stays_open_and_nothing_runs() {
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let exec = home.exec(["--approve", "ask", "run it"]).expect_code(3);
    assert_eq!(exec.result()["status"], "awaiting_human");
    assert!(!home.has("ran"));
    let approval = exec.of("approval")[0];
    assert!(approval.to_string().contains("touch ran"), "the action is shown: {approval}");
    assert_eq!(open(&home).len(), 1);
    assert_eq!(server.requests().len(), 1);
    home.assert_sound();
}

#[test]
fn a_yes_from_the_command_line_lets_it_run_and_the_task_go_on() {
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let task = home.exec(["--approve", "ask", "run it"]).expect_code(3).task().to_owned();
    home.ok(["approvals", "allow", id(&open(&home)[0])]);
    eventually("the Task is complete", || home.json(["show", &task])[0]["status"] == "completed");
    assert!(home.has("ran"));
    assert_eq!(open(&home), [Value::Null; 0]);
    home.assert_sound();
}

#[test]
fn a_no_is_told_the_model_in_the_persons_words() {
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("as you wish")]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "ask", "run it"]).expect_code(3);
    home.ok(["approvals", "deny", id(&open(&home)[0]), "--because", "not on a Friday"]);
    let told = server.wait_for_request(2).last();
    assert!(told.contains("not on a Friday"), "{told}");
    server.wait_answered(2);
    assert!(!home.has("ran"));
}

#[test]
fn an_answer_counts_once() {
    let server = ModelServer::with([call(shell("echo ran >> runs")), Reply::say("done")]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "ask", "run it"]).expect_code(3);
    let approval = open(&home)[0].clone();
    home.ok(["approvals", "allow", id(&approval)]);
    server.wait_answered(2);
    assert_eq!(home.run(["approvals", "deny", id(&approval)]).code(), 1, "it was decided already");
    assert_eq!(home.read("runs"), "ran\n");
}

#[test]
fn always_holds_for_exactly_this_in_this_folder() {
    let server = ModelServer::with([
        call(shell("echo a >> runs")),
        Reply::say("one"),
        call(shell("echo a >> runs")),
        Reply::say("two"),
        call(shell("echo b >> runs")),
    ]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "ask", "first"]).expect_code(3);
    home.ok(["approvals", "allow", "--always", id(&open(&home)[0])]);
    server.wait_answered(2);
    home.exec(["--approve", "ask", "the same"]).expect_code(0);
    assert_eq!(home.read("runs"), "a\na\n");
    home.exec(["--approve", "ask", "another"]).expect_code(3);
    assert_eq!(home.read("runs"), "a\na\n");
    assert_eq!(home.json(["approvals", "rules"]).len(), 1);
}

#[test]
fn always_does_not_reach_another_folder() {
    let server = ModelServer::with([call(shell("echo a >> runs")), Reply::say("one"), call(shell("echo a >> runs"))]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "ask", "first"]).expect_code(3);
    home.ok(["approvals", "allow", "--always", id(&open(&home)[0])]);
    server.wait_answered(2);
    std::fs::create_dir(home.work().join("below")).expect("a folder");
    let below = home.work().join("below").to_string_lossy().into_owned();
    home.exec(["-C", &below, "--approve", "ask", "the same, elsewhere"]).expect_code(3);
    assert!(!home.has("below/runs"));
}

#[test]
fn never_holds_and_the_model_is_told() {
    let server =
        ModelServer::with([call(shell("touch ran")), Reply::say("one"), call(shell("touch ran")), Reply::say("two")]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "ask", "first"]).expect_code(3);
    home.ok(["approvals", "deny", "--never", id(&open(&home)[0])]);
    server.wait_answered(2);
    // Not even where nothing else would be asked.
    let exec = home.exec(["--approve", "full", "again"]).expect_code(0);
    assert_eq!(exec.of("tool_result")[0]["ok"], false);
    assert!(server.wait_for_request(4).last().contains("never"), "{}", server.wait_for_request(4).last());
    assert!(!home.has("ran"));
}

#[test]
fn what_is_shown_is_what_is_decided_on() {
    let command = "printf 'a\\nb' > \"out put\"; # \u{202e}txt.exe \x1b[2J";
    let server = ModelServer::with([call(shell(command)), Reply::say("done")]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "ask", "go"]).expect_code(3);
    let approval = open(&home)[0].clone();
    assert_eq!(approval["action"]["subject"], command, "a program gets the command as it is");
    let shown = home.ok(["approvals", "show", id(&approval)]);
    assert!(shown.contains("printf 'a\\nb' > \"out put\""), "{shown}");
    assert!(!shown.contains('\u{202e}') && !shown.contains('\x1b'), "a person sees nothing invisible: {shown:?}");
    assert!(shown.to_lowercase().contains("202e"), "and sees that it was there: {shown}");
}

#[test]
fn read_asks_before_every_change() {
    let server = ModelServer::with([calls([read("a.txt"), write("b.txt", "x")]), Reply::say("done")]);
    let home = Home::with_model(&server);
    home.write("a.txt", "words of a");
    let exec = home.exec(["--approve", "read", "go"]).expect_code(3);
    assert!(!home.has("b.txt"));
    assert_eq!(open(&home).len(), 1, "{:#?}", exec.lines);
    assert_eq!(open(&home)[0]["action"]["tool"], "write");
}

#[test]
fn workspace_asks_only_before_what_leaves_the_folder() {
    let pages = Pages::together(1);
    let server =
        ModelServer::with([calls([shell("touch inside"), write("inside.txt", "x")]), call(fetch(&pages.url("x")))]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "workspace", "go"]).expect_code(3);
    assert!(home.has("inside") && home.has("inside.txt"));
    assert_eq!(pages.asked(), 0);
    assert_eq!(open(&home)[0]["action"]["tool"], "fetch");
}

#[test]
fn a_link_that_leads_out_of_the_folder_is_outside() {
    let server = ModelServer::with([call(write("link/escaped.txt", "x"))]);
    let home = Home::with_model(&server);
    let outside = home.root().join("outside");
    std::fs::create_dir(&outside).expect("a folder");
    std::os::unix::fs::symlink(&outside, home.work().join("link")).expect("a link");
    home.exec(["go"]).expect_code(3);
    assert!(!outside.join("escaped.txt").exists());
    let asked = open(&home)[0].to_string();
    assert!(asked.contains("outside/escaped.txt"), "the resolved path is shown: {asked}");
}

#[test]
fn full_asks_nothing() {
    let pages = Pages::together(1);
    let server = ModelServer::with([calls([fetch(&pages.url("x")), write("../out.txt", "x")]), Reply::say("done")]);
    let home = Home::with_model(&server);
    home.exec(["--approve", "full", "go"]).expect_code(0);
    assert_eq!(
        (pages.asked(), std::fs::read_to_string(home.root().join("out.txt")).expect("written")),
        (1, "x".into())
    );
}

#[test]
fn full_comes_only_from_the_command_line() {
    let server = ModelServer::start();
    let home = Home::with_model(&server);
    home.configure("policy = \"full\"\n");
    let finished = home.run(["exec", "go"]);
    assert_ne!(finished.code(), 0);
    assert!(finished.stderr.contains("config.toml") && finished.stderr.contains("full"), "{}", finished.stderr);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_question_of_the_agent_waits_for_a_person_and_any_terminal_answers_it_once() {
    let server = ModelServer::with([call(ask("Which colour?", &["red", "blue"])), Reply::say("blue it is")]);
    let home = Home::with_model(&server);
    let exec = home.exec(["paint it"]).expect_code(3);
    assert_eq!(exec.of("question").len(), 1);
    let questions: Vec<Value> =
        home.json(["inbox", "ls", "--unread"]).into_iter().filter(|m| m["kind"] == "question").collect();
    assert_eq!(questions.len(), 1);
    home.ok(["inbox", "answer", id(&questions[0]), "blue"]);
    assert!(server.wait_for_request(2).last().contains("blue"));
    assert_eq!(home.run(["inbox", "answer", id(&questions[0]), "red"]).code(), 1);
    eventually("the Task is complete", || home.json(["show", exec.task()])[0]["status"] == "completed");
}

#[test]
fn an_open_approval_outlives_the_host() {
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let task = home.exec(["--approve", "ask", "run it"]).expect_code(3).task().to_owned();
    if home.host().is_some() {
        home.kill_host();
    }
    assert_eq!(open(&home).len(), 1);
    assert!(!home.has("ran"));
    home.ok(["approvals", "allow", id(&open(&home)[0])]);
    eventually("the Task is complete", || home.json(["show", &task])[0]["status"] == "completed");
    assert!(home.has("ran"));
    home.assert_sound();
}

#[test]
fn a_yes_that_comes_while_exec_waits_is_taken_by_it() {
    // `exec` leaves at an open question; one more message finds it answered and goes on from there.
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("done"), Reply::say("more")]);
    let home = Home::with_model(&server);
    let task = home.exec(["--approve", "ask", "run it"]).expect_code(3).task().to_owned();
    home.ok(["approvals", "allow", id(&open(&home)[0])]);
    let exec: Exec = home.exec(["--task", &task, "and more"]).expect_code(0);
    assert!(home.has("ran"), "{exec:#?}");
}
