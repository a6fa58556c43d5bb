//! Tool calls through the whole program: nothing broken runs, each call has one result, those that
//! may run together do, and what a command leaves behind holds nobody up.

use crate::support::calls::{call, calls, edit, fetch, list, read, shell, write};
use crate::support::home::Home;
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn t3_broken_arguments_never_run_a_tool_and_the_task_goes_on() {
    let broken = [
        "null",
        "[1]",
        "5",
        r#"{"path":"a"#,
        r#"{"path":"a","content":"b"} trailing"#,
        r#"{"path":7,"content":"b"}"#,
        r#"{"path":"a"}"#,
        "",
    ];
    for arguments in broken {
        let server = ModelServer::with([
            Reply::stream().tool_text("write", arguments).finish(),
            Reply::say("I see."),
            Reply::say("still here"),
        ]);
        server.reads_old_arguments();
        let home = Home::with_model(&server);
        let exec = home.exec(["--approve", "ask", "write something"]).expect_code(0);
        let results = exec.of("tool_result");
        assert_eq!(results.len(), 1, "{arguments}: {:#?}", exec.lines);
        assert_eq!(results[0]["ok"], false, "{arguments}");
        assert_eq!(exec.of("approval").len(), 0, "{arguments}: nobody is asked about a call that can't run");
        let told = server.wait_for_request(2).last();
        assert!(told.contains("path") && told.contains("content"), "{arguments}: the model is told the schema: {told}");
        assert!(!home.has("a"), "{arguments}");
        assert_eq!(home.exec(["--task", exec.task(), "go on"]).expect_code(0).text(), "still here", "{arguments}");
        home.assert_sound();
    }
}

#[test]
fn t3_empty_arguments_are_an_empty_object() {
    for arguments in ["", "   ", "{}"] {
        let server = ModelServer::with([Reply::stream().tool_text("list", arguments).finish(), Reply::say("done")]);
        server.reads_old_arguments();
        let home = Home::with_model(&server);
        home.write("found.txt", "x");
        let exec = home.exec(["list"]).expect_code(0);
        assert_eq!(exec.of("tool_result")[0]["ok"], true, "{arguments:?}: {:#?}", exec.lines);
        assert!(exec.tool_texts()[0].contains("found.txt"), "{:#?}", exec.lines);
    }
}

/// Plays deltas of calls as a server sends them, and gives the names and arguments of the calls that came of it.
fn calls_of(deltas: &[Value]) -> Vec<(String, String)> {
    let mut reply = Reply::stream();
    for delta in deltas {
        reply = reply.delta(json!({"tool_calls": delta}));
    }
    let server = ModelServer::with([reply.finish(), Reply::say("done")]);
    let home = Home::with_model(&server);
    let exec = home.exec(["go"]).expect_code(0);
    // Calls that only look run side by side: their results come in any order.
    let mut results: Vec<String> = exec.of("tool_result").into_iter().map(|line| line["id"].to_string()).collect();
    let mut calls: Vec<String> = exec.of("tool_call").into_iter().map(|line| line["id"].to_string()).collect();
    results.sort();
    calls.sort();
    assert_eq!(calls, results, "every call has exactly one result");
    let request = server.wait_for_request(2);
    let assistant = request.messages().iter().find(|message| message["tool_calls"].is_array()).expect("the calls");
    assistant["tool_calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|call| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (text(&call["function"]["name"]), text(&call["function"]["arguments"]))
        })
        .collect()
}

fn pair(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

#[test]
fn t2_two_calls_that_share_an_index_are_two() {
    let found = calls_of(&[
        json!([{"index": 0, "id": "call_a", "function": {"name": "read", "arguments": "{\"path\":\"paris\"}"}}]),
        json!([{"index": 0, "id": "call_b", "function": {"name": "read", "arguments": "{\"path\":\"oslo\"}"}}]),
    ]);
    assert_eq!(found, [pair("read", r#"{"path":"paris"}"#), pair("read", r#"{"path":"oslo"}"#)]);
}

#[test]
fn t2_a_call_in_two_entries_of_one_chunk_is_one() {
    let found = calls_of(&[
        json!([{"index": 0, "id": "call_a", "function": {"name": "read", "arguments": ""}},
               {"index": 0, "function": {"arguments": "{\"path\":"}}]),
        json!([{"index": 0, "function": {"arguments": "\"oslo\"}"}}]),
    ]);
    assert_eq!(found, [pair("read", r#"{"path":"oslo"}"#)]);
}

#[test]
fn t2_calls_without_an_index_are_told_apart_by_their_ids() {
    let found = calls_of(&[
        json!([{"id": "call_a", "function": {"name": "read", "arguments": ""}}]),
        json!([{"function": {"arguments": "{\"path\":\"paris\"}"}}]),
        json!([{"id": "call_b", "function": {"name": "read", "arguments": "{\"path\":\"oslo\"}"}}]),
    ]);
    assert_eq!(found, [pair("read", r#"{"path":"paris"}"#), pair("read", r#"{"path":"oslo"}"#)]);
}

#[test]
fn t2_a_name_repeated_in_every_delta_is_the_name_once() {
    let found = calls_of(&[
        json!([{"index": 0, "id": "call_a", "function": {"name": "read", "arguments": "{\"path\":"}}]),
        json!([{"index": 0, "id": "call_a", "function": {"name": "read", "arguments": "\"oslo\"}"}}]),
    ]);
    assert_eq!(found, [pair("read", r#"{"path":"oslo"}"#)]);
}

#[test]
fn t1_a_text_cut_at_every_byte_is_stored_as_it_was_sent() {
    let text = "北京那🌍é";
    let plain = Reply::say(text);
    let server =
        ModelServer::with([plain.clone().byte_by_byte(), plain.with_crlf().byte_by_byte(), Reply::say("done")]);
    let home = Home::with_model(&server);
    let first = home.exec(["one"]).expect_code(0);
    assert_eq!(first.text(), text);
    let task = first.task().to_owned();
    assert_eq!(home.exec(["--task", &task, "two"]).expect_code(0).text(), text);
    home.exec(["--task", &task, "three"]).expect_code(0);
    assert_eq!(server.wait_for_request(3).said_by("assistant"), [text, text]);
}

#[test]
fn the_result_of_a_call_to_a_tool_that_does_not_exist_names_those_that_do() {
    let server = ModelServer::with([Reply::call("teleport", json!({"to": "mars"})), Reply::say("no")]);
    let home = Home::with_model(&server);
    home.exec(["go"]).expect_code(0);
    let told = server.wait_for_request(2).last();
    assert!(told.contains("teleport") && told.contains("shell") && told.contains("read"), "{told}");
}

#[test]
fn tools_that_may_run_together_do() {
    // Each page is only given when both were asked for: one after the other they would never end.
    let pages = crate::support::pages::Pages::together(2);
    let server = ModelServer::with([calls([fetch(&pages.url("one")), fetch(&pages.url("two"))]), Reply::say("both")]);
    let home = Home::with_model(&server);
    let exec = home.exec(["--approve", "full", "fetch both"]).expect_code(0);
    let texts = exec.tool_texts().join("\n");
    assert!(texts.contains("page one") && texts.contains("page two"), "{texts}");
    assert_eq!(exec.text(), "both");
}

#[test]
fn results_reach_the_model_in_the_order_of_the_calls() {
    let server =
        ModelServer::with([calls([shell("sleep 0.3; echo slow"), read("quick.txt"), list(".")]), Reply::say("done")]);
    let home = Home::with_model(&server);
    home.write("quick.txt", "quick words");
    home.exec(["go"]).expect_code(0);
    let told = server.wait_for_request(2).said_by("tool");
    assert_eq!(told.len(), 3);
    assert!(told[0].contains("slow") && told[1].contains("quick words") && told[2].contains("quick.txt"), "{told:#?}");
}

#[test]
fn files_are_written_and_edited_as_asked() {
    let server = ModelServer::with([
        call(write("src/new.txt", "one\ntwo\n")),
        call(edit("src/new.txt", "two", "three")),
        Reply::say("done"),
    ]);
    let home = Home::with_model(&server);
    home.exec(["write"]).expect_code(0);
    assert_eq!(home.read("src/new.txt"), "one\nthree\n");
}

#[test]
fn a_picture_that_is_read_is_shown_to_the_model() {
    // A PNG of one pixel.
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
    let server = ModelServer::with([call(read("dot.png")), Reply::say("a dot")]);
    let home = Home::with_model(&server);
    home.write("dot.png", png);
    home.exec(["what is on it?"]).expect_code(0);
    assert!(server.wait_for_request(2).body.to_string().contains("data:image/png;base64,iVBORw0KGgo"));
    home.assert_sound();
}

#[test]
fn t15_a_file_that_a_person_changed_after_the_agent_read_it_is_not_overwritten_blindly() {
    let latch = Latch::new();
    let server = ModelServer::with([
        call(read("shared.txt")),
        Reply::stream().hold(&latch).tool("edit", edit("shared.txt", "old line", "agent's line").1).finish(),
        Reply::say("told"),
    ]);
    let home = Home::with_model(&server);
    home.write("shared.txt", "old line\n");
    let running = home.start(["exec", "--json", "edit it"]);
    latch.wait_reached();
    home.write("shared.txt", "a person's line\n");
    latch.release();
    running.finish().expect_code(0);
    assert_eq!(home.read("shared.txt"), "a person's line\n");
    let told = server.wait_for_request(3).last();
    assert!(told.contains("a person's line"), "the current text is shown: {told}");
}

#[test]
fn t15_a_file_that_a_person_changed_after_the_agent_read_it_is_not_replaced_blindly() {
    let latch = Latch::new();
    let server = ModelServer::with([
        call(read("shared.txt")),
        Reply::stream().hold(&latch).tool("write", write("shared.txt", "agent's text\n").1).finish(),
        Reply::say("told"),
    ]);
    let home = Home::with_model(&server);
    home.write("shared.txt", "old line\n");
    let running = home.start(["exec", "--json", "replace it"]);
    latch.wait_reached();
    home.write("shared.txt", "a person's line\n");
    latch.release();
    running.finish().expect_code(0);
    assert_eq!(home.read("shared.txt"), "a person's line\n");
    let told = server.wait_for_request(3).last();
    assert!(told.contains("a person's line"), "the current text is shown: {told}");
}

#[test]
fn t15_what_was_not_touched_stays_to_the_byte() {
    let before = b"\xef\xbb\xbfconst x = 1;\r\n// caf\xc3\xa9 note\nlast\rline".to_vec();
    let server = ModelServer::with([call(edit("code.js", "const x = 1;", "const x = 2;")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let path = home.write("code.js", &before);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("a mode");
    home.exec(["edit"]).expect_code(0);
    let mut expected = before;
    expected[3 + 10] = b'2';
    assert_eq!(std::fs::read(&path).expect("the file"), expected);
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&path).expect("the file").permissions());
    assert_eq!(mode & 0o777, 0o755);
}

/// Runs one command through the whole program and gives its result and how long all of it took.
fn run_shell(command: &str) -> (Home, String, Duration) {
    let server = ModelServer::with([call(shell(command)), Reply::say("done")]);
    let mut home = Home::with_model(&server);
    home.expect_survivors();
    let begin = Instant::now();
    let exec = home.exec(["run it"]).expect_code(0);
    let took = begin.elapsed();
    let text = exec.tool_texts()[0].to_owned();
    assert_eq!(server.wait_for_request(2).said_by("tool").len(), 1);
    (home, text, took)
}

/// Well below the sixty seconds that the commands of T8 would hold a program up.
const SOON: Duration = Duration::from_secs(25);

#[test]
fn t8_a_child_in_the_background_holds_nobody_up_and_is_listed() {
    let (_home, text, took) = run_shell("sleep 60 & echo done");
    assert!(took < SOON, "{took:?}");
    assert!(text.contains("done") && text.contains("sleep"), "{text}");
}

#[test]
fn t8_a_child_in_a_session_of_its_own_holds_nobody_up() {
    let (_home, text, took) = run_shell("setsid sleep 60 & echo spawned");
    assert!(took < SOON, "{took:?}");
    assert!(text.contains("spawned"), "{text}");
}

#[test]
fn t8_a_pipe_kept_by_another_process_holds_nobody_up() {
    let (home, text, took) = run_shell("exec > >(tee -a f) 2>&1 && echo hi");
    assert!(took < SOON, "{took:?}");
    assert!(text.contains("hi"), "{text}");
    assert!(home.has("f"));
}

#[test]
fn t8_the_leaders_exit_code_is_the_result() {
    let (_home, text, took) = run_shell("(sleep 60 &) ; exit 3");
    assert!(took < SOON, "{took:?}");
    assert!(text.contains('3'), "{text}");
}

#[test]
fn t8_a_flood_of_output_is_bounded_and_kept() {
    let (home, text, _) = run_shell("yes | head -c 50000000");
    assert!(text.len() < 100_000, "the model sees {} bytes", text.len());
    assert!(text.contains("output:"), "and where the rest is: {}", &text[text.len().saturating_sub(400)..]);
    home.assert_sound();
}

#[test]
fn t8_a_command_that_reads_sees_the_end_of_its_input() {
    let (_home, text, took) = run_shell("read x; echo \"got [$x] $?\"");
    assert!(took < SOON, "{took:?}");
    assert!(text.contains("got []"), "{text}");
}

#[test]
fn esc_on_a_running_command_kills_its_whole_group_and_keeps_its_output() {
    let server = ModelServer::with([call(shell("echo before; sleep 600 & sleep 600")), Reply::say("went on")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "run it"]);
    crate::support::watch::eventually("the command runs", || {
        home.processes().iter().filter(|process| process.arguments.first().is_some_and(|name| name == "sleep")).count()
            == 2
    });
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["interrupt", &task]);
    running.finish().expect_code(7);
    crate::support::watch::eventually("nothing of it is left", || {
        home.processes().iter().all(|process| process.arguments.first().is_none_or(|name| name != "sleep"))
    });
    home.exec(["--task", &task, "go on"]).expect_code(0);
    let told = server.wait_for_request(2).said_by("tool");
    assert!(told.len() == 1 && told[0].contains("before"), "{told:#?}");
    home.assert_sound();
}
