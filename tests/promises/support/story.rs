//! A model that follows a script and finishes a real piece of work: it counts the promises of this
//! project's tests and writes them down. What it does next follows from the conversation alone, so
//! it goes on wherever it was stopped.

use super::calls::{list, read, shell, write};
use super::reply::Reply;
use super::request::Request;
use std::fmt::Write;

const COUNT: &str = "grep -c '^#\\[test\\]' tests/promises/*.rs > counts.txt";

/// What it says and does next.
pub fn answer(request: &Request) -> Reply {
    let last = request.last();
    let say = |text: &str| Reply::stream().text(text);
    if request.last_role() == "user" {
        let (tool, arguments) = list("tests/promises");
        return say("I look where the promises are.").tool(tool, arguments).finish();
    }
    match newest_call(request).as_str() {
        "list tests/promises" => {
            let (tool, arguments) = shell(&format!("touch counting; sleep 10; {COUNT}"));
            say("I count them; that takes a while.").tool(tool, arguments).finish()
        }
        "shell" if last.contains("may have happened") => {
            let (tool, arguments) = list(".");
            say("The count was cut off. I look what is there before I repeat anything.").tool(tool, arguments).finish()
        }
        "list ." if !last.contains("counts.txt") => {
            let (tool, arguments) = shell(COUNT);
            say("There are no counts, so I count again.").tool(tool, arguments).finish()
        }
        "shell" | "list ." => {
            let (tool, arguments) = read("counts.txt");
            Reply::stream().tool(tool, arguments).finish()
        }
        "read" => {
            let (tool, arguments) = write("promises.md", &page(&last));
            say("I write it down.").tool(tool, arguments).finish()
        }
        _ => say("promises.md says how many promises each subject has.").finish(),
    }
}

/// The newest call in the conversation: its tool, and the folder of one that lists.
fn newest_call(request: &Request) -> String {
    let calls = request.messages().iter().rev().find_map(|message| message["tool_calls"].as_array());
    let Some(function) = calls.and_then(|calls| calls.last()).map(|call| &call["function"]) else {
        return String::new();
    };
    let name = function["name"].as_str().unwrap_or_default();
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
    match (name, arguments["path"].as_str()) {
        ("list", Some(path)) => format!("list {path}"),
        _ => name.to_owned(),
    }
}

/// Makes a table of lines such as `tests/promises/exec.rs:20`.
fn page(counts: &str) -> String {
    let mut page = String::from("# Promises\n\n| subject | promises |\n|---|---|\n");
    let mut all = 0;
    for line in counts.lines() {
        let Some((_, rest)) = line.split_once("tests/promises/") else { continue };
        let Some((subject, count)) = rest.trim().split_once(".rs:") else { continue };
        let Ok(count) = count.parse::<u32>() else { continue };
        if count > 0 {
            all += count;
            let _ = writeln!(page, "| {subject} | {count} |");
        }
    }
    let _ = writeln!(page, "| **all** | {all} |");
    page
}
