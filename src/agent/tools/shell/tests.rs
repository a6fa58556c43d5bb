//! Real commands: who holds the pipe, how they end, and what is seen of them.

use super::*;
use crate::agent::port::Blobs;
use crate::agent::tools::testing::{Bench, told};
use serde_json::json;
use std::time::Duration;

/// Runs a command and gives how it ended, its first line without the time, its notes and its output.
async fn run_in(bench: &Bench, command: &str) -> (ToolCallState, String, String, String) {
    let begun = Instant::now();
    let (state, text) = bench.call(&Shell, json!({"command": command})).await;
    // Generous: the machine may be busy. Whoever waits for the pipe waits for half a minute.
    assert!(begun.elapsed() < Duration::from_secs(10), "{command} took {:?}", begun.elapsed());
    let (first, rest) = text.split_once('\n').expect("a first line");
    let first = first.split(" after ").next().unwrap_or_default().to_owned();
    let (notes, output): (Vec<&str>, Vec<&str>) = rest.lines().partition(|line| line.starts_with('['));
    (state, first, notes.join("\n"), output.join("\n"))
}

async fn run(command: &str) -> (ToolCallState, String, String, String) {
    run_in(&Bench::new(), command).await
}

fn end(pid: &str) {
    let pid = pid.parse().ok().and_then(rustix::process::Pid::from_raw).expect("a number");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("ours to end");
}

#[tokio::test]
async fn a_child_that_holds_the_pipe_keeps_nobody_waiting_and_is_ended_and_named() {
    let (state, first, notes, output) = run("sleep 60 & echo done").await;
    assert_eq!((state, first.as_str(), output.as_str()), (ToolCallState::Done, "exited 0", "done"));
    assert!(
        notes.starts_with("[sleep 60 (pid ") && notes.ends_with("): still ran when it ended, and was ended]"),
        "{notes}"
    );
    let (state, first, notes, output) = run("(sleep 60 &) ; exit 3").await;
    assert_eq!((state, first.as_str(), output.as_str()), (ToolCallState::Error, "exited 3", "(no output)"));
    assert!(notes.contains("sleep 60") && notes.contains("was ended"), "{notes}");
}

#[tokio::test]
async fn a_child_that_left_the_session_is_listed() {
    // The leader exits when the child has left for sure.
    let (state, first, notes, output) =
        run("setsid sh -c 'touch left; exec sleep 30' & until [ -e left ]; do sleep 0.01; done; echo spawned").await;
    assert_eq!((state, first.as_str(), output.as_str()), (ToolCallState::Done, "exited 0", "spawned"));
    assert!(notes.contains("left its session and still runs"), "{notes}");
    end(notes.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()).expect("a number"));
    // Without that it may be caught before it leaves: then it was ended, and that is said.
    let (_, _, notes, output) = run("setsid sleep 30 & echo spawned").await;
    assert_eq!(output, "spawned");
    assert!(notes.contains("sleep 30"), "{notes}");
    if notes.contains("left its session") {
        end(notes.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()).expect("a number"));
    }
}

#[tokio::test]
async fn output_that_goes_through_a_child_arrives() {
    let bench = Bench::new();
    let (state, first, _, output) = run_in(&bench, "exec > >(tee -a f) 2>&1 && echo hi").await;
    assert_eq!((state, first.as_str(), output.as_str()), (ToolCallState::Done, "exited 0", "hi"));
    assert_eq!(bench.bytes("f"), b"hi\n");
}

#[tokio::test]
async fn reading_sees_the_end_of_the_input_and_there_is_no_terminal() {
    let (state, first, _, _) = run("read x").await;
    assert_eq!((state, first.as_str()), (ToolCallState::Error, "exited 1"));
    let (_, _, _, output) = run("test -t 0 || test -t 1 || (: < /dev/tty) 2>/dev/null || echo none; echo $TERM").await;
    assert_eq!(output, "none\ndumb");
}

#[tokio::test]
async fn codes_and_signals_are_true() {
    assert_eq!(run("exit 7").await.1, "exited 7");
    assert_eq!(run("kill -9 $$").await.1, "signaled 9 (KILL)");
    assert_eq!(run("no-such-command-here").await.1, "exited 127");
    assert_eq!(run("echo out; echo err >&2").await.3, "out\nerr");
}

/// Blobs that hold nothing: what they are given must come in pieces.
#[derive(Default)]
struct Counted(std::sync::Mutex<Vec<u64>>);

impl Blobs for Counted {
    fn put(&self, bytes: &[u8]) -> std::io::Result<String> {
        panic!("{} bytes in one piece", bytes.len());
    }
    fn put_from(&self, source: &mut dyn std::io::Read) -> std::io::Result<String> {
        let size = std::io::copy(source, &mut std::io::sink())?;
        self.0.lock().expect("unbroken").push(size);
        Ok("f".repeat(64))
    }
    fn get(&self, _: &str, _: u64, _: usize) -> std::io::Result<(u64, Vec<u8>)> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

#[tokio::test]
async fn fifty_megabytes_are_kept_whole_in_pieces_and_shown_in_part() {
    let mut bench = Bench::new();
    let blobs = std::sync::Arc::new(Counted::default());
    bench.ctx.blobs = blobs.clone();
    let (state, text) = bench.call(&Shell, json!({"command": "yes | head -c 50000000"})).await;
    assert_eq!(state, ToolCallState::Done);
    assert_eq!(*blobs.0.lock().expect("unbroken"), [50_000_000]);
    let limit = bench.ctx.limits.tool_output_bytes;
    assert!(text.len() < limit + 300, "{}", text.len());
    let left = (50_000_000 - limit, 25_000_000 - limit / 2);
    let middle = text.lines().find(|line| line.contains("left out")).expect("a middle");
    let said = format!(
        r#"[… {} bytes left out, {} lines; read {{"path":"output:{}"}} shows them …]"#,
        left.0,
        left.1,
        "f".repeat(64)
    );
    assert_eq!(middle, said);
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_with_its_children_and_that_is_said() {
    let bench = Bench::new();
    let call = json!({"command": "echo begun; sleep 60 & echo $!; sleep 61", "timeout": 1});
    let (state, text) = bench.call(&Shell, call).await;
    assert_eq!(state, ToolCallState::Error);
    assert!(text.starts_with("timed out after 1 s and signaled 15 (TERM)"), "{text}");
    assert!(text.contains("begun\n") && text.contains("[sleep 60 (pid "), "{text}");
    let child: i32 = text.lines().last().and_then(|line| line.parse().ok()).expect("its number");
    let running = std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!running);
}

#[tokio::test]
async fn cancelling_stops_it_at_once_and_gives_what_there_was() {
    let bench = Bench::new();
    let call = json!({"command": "trap '' TERM; echo begun; sleep 60; sleep 60"});
    let plan = bench.plan(&Shell, call).await.expect("planned");
    let (tell, mut told_live) = tokio::sync::mpsc::unbounded_channel();
    let mut ctx = bench.ctx.clone();
    ctx.live = std::sync::Arc::new(move |text| tell.send(text.to_owned()).expect("heard"));
    let running = tokio::spawn((plan.run)(ctx));
    assert_eq!(told_live.recv().await.as_deref(), Some("begun\n"), "it is shown while it comes");
    let asked = Instant::now();
    bench.ctx.cancel.cancel();
    let (state, text) = told(&running.await.expect("it ended"));
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(state, ToolCallState::Cancelled);
    assert!(text.starts_with("stopped on request after ") && text.ends_with("begun\n"), "{text}");
}

#[tokio::test]
async fn what_drives_terminals_is_gone_and_progress_shows_its_last_state() {
    let hostile = r"printf 'before\033[2J\033[Hafter\007\033]0;owned\007\033]52;c;cGF3bmVk\007\n10%%\r20%%\r100%%\n'";
    let (_, _, _, output) = run(hostile).await;
    assert!(!output.chars().any(|c| c.is_control() && c != '\n'), "{output:?}");
    assert!(output.contains("before") && output.contains("after") && output.ends_with("100%"), "{output:?}");
    assert!(!output.contains("owned") && !output.contains("10%"), "{output:?}");
}

#[tokio::test]
async fn no_key_reaches_a_command() {
    let (_, _, _, output) = run("env | cut -d= -f1 | sort").await;
    assert!(output.lines().all(|name| !name.contains("KEY") && !name.contains("TOKEN")), "{output}");
    assert!(output.lines().any(|name| name == "PATH"), "{output}");
}

#[tokio::test]
async fn what_is_judged_is_the_whole_command() {
    let bench = Bench::new();
    let action = bench.plan(&Shell, json!({"command": "make && sudo make install"})).await.expect("planned").action;
    assert_eq!(action.subject, "make && sudo make install");
    assert_eq!(action.rule_subject, action.subject);
    assert_eq!((action.access, action.inside), (Access::Execute, false));
    assert_eq!(action.beyond, "it runs as another user (sudo)");
    assert!(bench.plan(&Shell, json!({"command": "make"})).await.expect("planned").action.inside);
    assert!(bench.refused(&Shell, json!({"command": "  "})).await.contains("`command` is empty"));
}
