//! A real small model on this machine: transport, streaming, cancelling, counting, calls bound by a
//! grammar. It has no judgement, so nothing here rests on what it means.
//!
//! Run by `tests/small_model/run`, which starts its server, or says aloud that it can't.

use crate::support::home::{Exec, Home};
use crate::support::watch::eventually;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;

fn url() -> String {
    std::env::var("COWORK_SMALL_MODEL").expect("the address of the small model: start tests/small_model/run")
}

/// A home whose model is the small one, with these lines of configuration for it.
fn home(model: &str) -> Home {
    let home = Home::new().env("COWORK_MODEL", "small:smollm2");
    let limits = "[limits]\nidle_seconds = 300\n";
    let provider = format!("[providers.small]\nkind = \"openai\"\nbase_url = \"{}\"\n", url());
    home.configure(&format!("{limits}{provider}[models.\"small:smollm2\"]\n{model}\n"));
    home
}

/// What the server has seen so far.
fn seen(what: &str) -> u64 {
    let url = url();
    let host = url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(host).expect("the server is there");
    write!(stream, "GET /seen HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("asked");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("answered");
    let body = text.rsplit("\r\n\r\n").next().unwrap_or_default();
    let json = body.find('{').zip(body.rfind('}')).map(|(begin, end)| &body[begin..=end]).unwrap_or_default();
    serde_json::from_str::<Value>(json).expect("JSON")[what].as_u64().expect("a number")
}

#[test]
#[ignore = "needs a real small model: tests/small_model/run"]
fn the_small_model_streams_words_and_they_are_counted() {
    let home = home("max_output_tokens = 40");
    let exec = home.exec(["Say hello to the garden."]).expect_code(0);
    assert!(!exec.text().trim().is_empty());
    let usage = &exec.result()["usage"];
    assert!(usage["input_tokens"].as_u64() > Some(100) && usage["output_tokens"].as_u64() > Some(1), "{usage}");
    assert_eq!(usage.get("estimated"), None);
    home.assert_sound();
}

#[test]
#[ignore = "needs a real small model: tests/small_model/run"]
fn the_small_model_stops_at_once_when_it_is_told_to() {
    let home = home("max_output_tokens = 3000");
    let (asked, aborted) = (seen("asked"), seen("aborted"));
    let running = home.start(["exec", "--json", "Tell a very long story about a garden."]);
    eventually("it is at work", || seen("asked") > asked);
    running.signal(rustix::process::Signal::INT);
    Exec::new(running.finish()).expect_code(7);
    eventually("the server stopped as well", || seen("aborted") > aborted);
    home.assert_sound();
}

#[test]
#[ignore = "needs a real small model: tests/small_model/run"]
fn the_small_model_calls_a_tool_by_grammar() {
    let home = home("max_output_tokens = 200\nrequest = { tool_choice = \"required\" }");
    home.write("a.txt", "milk\n");
    let exec = home.exec(["--budget", "turns=1", "--approve", "workspace", "List the files."]);
    // Which tool it takes is its own whim; one that reaches out waits for a person.
    assert!(matches!(exec.code, 3 | 6), "{exec:#?}");
    let calls = exec.of("tool_call");
    assert_eq!(calls.len(), 1, "{:#?}", exec.lines);
    assert!(calls[0]["arguments"].is_object(), "{:#?}", calls[0]);
    home.assert_sound();
}

#[test]
#[ignore = "needs a real small model: tests/small_model/run"]
fn the_small_model_edits_a_file_in_a_whole_turn_of_step_mode() {
    // Bound to one step, since it would not find the right one by itself.
    let home = home(
        r#"steps = true
max_output_tokens = 120
[models."small:smollm2".request.response_format]
type = "json_schema"
[models."small:smollm2".request.response_format.json_schema.schema]
type = "object"
required = ["tool", "arguments"]
[models."small:smollm2".request.response_format.json_schema.schema.properties]
tool = { const = "write" }
arguments = { type = "object", required = ["path", "content"], properties = { path = { const = "note.txt" }, content = { type = "string", maxLength = 40 } } }"#,
    );
    home.write("note.txt", "before\n");
    let exec =
        home.exec(["--budget", "turns=1", "--approve", "workspace", "Write hello into note.txt."]).expect_code(6);
    let calls = exec.of("tool_call");
    assert_eq!(calls[0]["name"], "write", "{:#?}", exec.lines);
    let content = calls[0]["arguments"]["content"].as_str().expect("words");
    assert_eq!(home.read("note.txt"), content, "the file holds what the model said");
    assert_ne!(content, "before\n");
    home.assert_sound();
}
