//! Many terminals on one host: one that does not read holds up nobody, and what one person leaves
//! at one of them is found at another.

use crate::support::attached::Attached;
use crate::support::home::{COWORK, Home};
use crate::support::model_server::ModelServer;
use crate::support::process::Process;
use crate::support::reply::Reply;
use crate::support::watch::eventually;
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use rustix::process::Signal;
use serde_json::json;
use std::io::Read;

/// The memory a process holds, in bytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

fn host(home: &Home) -> Process {
    home.host().expect("a host runs")
}

/// Has this many bytes of events recorded, in events of half a megabyte, and waits for each; gives the number of the last.
fn record(busy: &mut Attached, task: &str, bytes: usize) -> i64 {
    let mut seq = 0;
    let words = "word ".repeat(100_000);
    for number in 0..bytes / words.len() {
        let wanted = json!({"do": "set_model", "task": task, "model": format!("{number} {words}")});
        let answer = busy.submit(&wanted);
        assert_eq!(answer["from_host"], "accepted", "{answer:.300}");
        seq = answer["receipt"]["seq"].as_i64().expect("its number");
    }
    seq
}

/// Reads a feed until this event; it goes on where it is told to, and every event comes once.
fn read_up_to(attached: &mut Attached, mut last: i64, end: i64) {
    while last < end {
        let pushed = attached.read();
        match pushed["from_host"].as_str() {
            Some("recorded") => {
                let seq = pushed["seq"].as_i64().expect("its number");
                assert_eq!(seq, last + 1, "no event is left out in silence, and none comes twice");
                last = seq;
            }
            Some("lagged") => {
                assert_eq!(pushed["seq"], last);
                attached.subscribe(last);
            }
            Some("done") => {}
            _ => panic!("not of a feed: {pushed:.300}"),
        }
    }
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody_costs_little_memory_and_catches_up_truthfully() {
    let home = Home::new();
    let task = home.json(["new", "idle"])[0]["id"].as_str().expect("an id").to_owned();
    let _stays = home.start(["--json", "events", &task, "--follow"]);
    eventually("a host runs", || home.host().is_some());
    let mut busy = Attached::to(&home, "n_busy");
    // What the writer, the caches and the allocator want for themselves.
    record(&mut busy, &task, 8 << 20);
    let before = resident(host(&home).pid);

    // One is behind when it stops reading, the other has everything that happened.
    let (mut behind, mut current) = (Attached::to(&home, "n_behind"), Attached::to(&home, "n_current"));
    behind.subscribe(0);
    let seen = current.seq();
    current.subscribe(seen);
    assert_eq!(current.read()["from_host"], "done");
    let end = record(&mut busy, &task, 24 << 20);
    let grown = resident(host(&home).pid).saturating_sub(before) >> 20;
    assert!(grown < 32, "two clients that do not read cost the host {grown} MB");

    read_up_to(&mut behind, 0, end);
    read_up_to(&mut current, seen, end);
    // More than fits into one answer of the host.
    assert!(home.events(&task).len() > 60);
}

#[test]
fn a_screen_that_is_stopped_holds_up_nobody_and_is_right_again_when_it_goes_on() {
    let server = ModelServer::start();
    server.when(|request| request.user() == "the last words", Reply::say("the last answer"));
    server.otherwise(|_| {
        let lines = (0..400).fold(Reply::stream(), |reply, number| reply.text(&format!("line {number} of it\n\n")));
        lines.text("the very end").finish()
    });
    let home = Home::with_model(&server);
    let task = home.exec(["begin"]).expect_code(0).task().to_owned();
    let mut screen = home.terminal([task.as_str()], 80, 24);
    screen.wait_for("the very end");
    screen.signal(Signal::STOP);
    for _ in 0..3 {
        home.exec(["--task", &task, "more"]).expect_code(0);
    }
    home.exec(["--task", &task, "the last words"]).expect_code(0);
    screen.signal(Signal::CONT);
    screen.wait_for("the last words").wait_for("the last answer").wait_for("the very end");
    home.assert_sound();
}

#[test]
fn what_was_typed_at_a_terminal_that_is_gone_is_found_at_another_and_what_is_being_typed_is_not() {
    let server = ModelServer::with([Reply::say("hello")]);
    let home = Home::with_model(&server);
    let task = home.exec(["begin"]).expect_code(0).task().to_owned();
    let mut gone = home.terminal([task.as_str()], 100, 30);
    let mut stays = home.terminal([task.as_str()], 80, 24);
    gone.wait_for("hello").type_words("words of the one that goes").wait_for("words of the one that goes");
    stays.wait_for("hello").type_words("words of the one that stays").wait_for("words of the one that stays");
    for words in ["words of the one that goes", "words of the one that stays"] {
        eventually("the draft is kept", || !home.find_bytes(words).is_empty());
    }
    gone.kill();
    gone.wait_exit();
    // The terminal itself is still open, so the next one has another name.
    let mut next = home.terminal([task.as_str()], 120, 40);
    next.wait_for("words of the one that goes");
    assert!(!next.screen_text().contains("stays") && !stays.screen_text().contains("that goes"));
    let mut third = home.terminal([task.as_str()], 60, 20);
    third.wait_for("hello");
    third.type_words("mine").wait_for("mine");
    assert!(!third.screen_text().contains("words of"), "{}", third.screen_text());
}

#[test]
fn a_client_whose_terminal_is_gone_ends_at_once_whatever_it_was_told_of_it() {
    let home = Home::new();
    let ends = native_pty_system().openpty(PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 });
    let ends = ends.expect("a terminal");
    // A shell that leads the session takes the word of the system that the line is gone; what the client
    // has to go by is that its terminal fails.
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", &format!("trap '' HUP; {COWORK}; exit 0")]);
    command.env_clear();
    home.environment().for_each(|(name, value)| command.env(name, value));
    command.cwd(home.work());
    let mut child = ends.slave.spawn_command(command).expect("a shell");
    drop(ends.slave);
    let mut reader = ends.master.try_clone_reader().expect("its output");
    let (mut seen, mut buffer) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&seen).contains("new Task") {
        let read = reader.read(&mut buffer).expect("the screen is drawn");
        assert!(read > 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&buffer[..read]);
    }
    drop((reader, ends.master));
    // The shell waits for the client and for nothing else.
    eventually("the client is gone", || child.try_wait().expect("its state").is_some());
}

#[test]
fn a_storm_of_sizes_down_to_nothing_leaves_the_screen_a_fresh_terminal_would_show() {
    let server = ModelServer::with([Reply::say(
        "# A heading\n\nWords that wrap at many widths, 日本語 and all. ".repeat(9).as_str(),
    )]);
    let home = Home::with_model(&server);
    let task = home.exec(["begin"]).expect_code(0).task().to_owned();
    let mut stormy = home.terminal([task.as_str()], 120, 40);
    stormy.wait_for("A heading");
    for step in 0_u16..150 {
        let (columns, rows) = match step % 10 {
            3 => (0, 0),
            6 => (1, 1),
            9 => (3, 2),
            _ => (20 + step * 7 % 180, 5 + step * 11 % 60),
        };
        stormy.resize(columns, rows);
        stormy.send(b"x\x7f");
    }
    stormy.resize(100, 30).wait_for("A heading").wait_for("✓ done");
    let mut fresh = home.terminal([task.as_str()], 100, 30);
    fresh.wait_for("A heading").wait_for("✓ done").wait_for("f1 keys");
    let shown = fresh.rows();
    stormy.wait("it shows what a fresh terminal does", |screen| crate::support::terminal::rows(screen) == shown);
    stormy.keys("ctrl+c ctrl+c");
    assert_eq!(stormy.wait_exit().exit_code(), 0);
    stormy.assert_clean();
}
