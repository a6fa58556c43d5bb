//! Whole-process timings, throughput and memory of the real program: `cargo bench`, or one section
//! with `cargo bench -- WORD`. Prints the tables of `docs/performance.md`.
//!
//! A figure is the median of several runs after one that is not counted, with the least and the
//! most; what it is compared with is measured in the same run, on the same disk. Nothing is judged.

// The tools are those of the promises; their own tests belong there.
#![allow(dead_code, unused_imports)]

#[path = "../promises/support/mod.rs"]
mod support;

mod sample;
mod screen;

use sample::{Sample, memory, plain_commits};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use support::attached::Attached;
use support::home::Home;
use support::model_server::ModelServer;
use support::reply::Reply;
use support::watch::eventually;

/// A section: the word by which it is asked for, its heading, and how it is measured.
type Section = (&'static str, &'static str, fn());

const SECTIONS: &[Section] = &[
    ("start", "Start", start),
    ("typed", "Start to the first key on the screen", screen::typed),
    ("keys", "A key and its echo", screen::keys),
    ("commits", "Commits, and a store of 100 000 events", commits),
    ("stream", "A stream of 100 000 pieces", stream),
    ("rest", "At rest: memory, processor, writes", screen::rest),
    ("long", "A long conversation", screen::long),
    ("events", "A Task of 100 000 events", screen::events),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (word, heading, measure) in SECTIONS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == word) {
            println!("\n## {heading}\n");
            measure();
        }
    }
}

/// A host that stays, because somebody is attached.
fn stay(home: &Home) -> Attached {
    let task = new_task(home);
    let follower = home.start(["--json", "events", &task, "--follow"]);
    eventually("a host runs", || home.host().is_some());
    let attached = Attached::to(home, "n_stays");
    drop(follower);
    attached
}

fn new_task(home: &Home) -> String {
    home.json(["new", "idle"])[0]["id"].as_str().expect("an id").to_owned()
}

fn timed(work: impl FnOnce()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

const COMPOSER: &str = "Say what you want done";

fn start() {
    let guide = ["exec", "what is here?"];
    let warm = Home::new();
    let _stays = stay(&warm);
    let first_frame = |home: &Home| {
        let mut screen = None;
        let took = timed(|| {
            let mut opened = home.terminal([] as [&str; 0], 120, 40);
            opened.wait_for(COMPOSER);
            screen = Some(opened);
        });
        drop(screen);
        took
    };
    Sample::head();
    Sample::of(21, || timed(|| drop(warm.run(["--version"])))).row("`cowork --version`: the floor of a process");
    Sample::of(11, || first_frame(&Home::new())).row("`cowork` to its first frame, no host, empty state");
    Sample::of(11, || first_frame(&warm)).row("`cowork` to its first frame, a host runs");
    Sample::of(11, || {
        let home = Home::new();
        timed(|| drop(home.run(guide).expect_code(0)))
    })
    .row("`cowork exec` with the guide, no host, empty state");
    Sample::of(21, || timed(|| drop(warm.run(guide).expect_code(0)))).row("`cowork exec` with the guide, a host runs");
    Sample::of(11, || {
        let home = Home::new();
        timed(|| drop(home.run(["exec", "--in-process", "what is here?"]).expect_code(0)))
    })
    .row("`cowork exec --in-process` with the guide, empty state");
}

/// An answer of so many pieces.
fn long_answer(pieces: usize) -> Reply {
    (0..pieces)
        .fold(Reply::stream(), |reply, number| reply.text(if number % 20 == 19 { "piece.\n\n" } else { "piece " }))
}

fn rename(attached: &mut Attached, task: &str, number: usize) {
    let wanted = serde_json::json!({"do": "rename", "task": task, "title": format!("name {number}")});
    let answer = attached.submit(&wanted);
    assert_eq!(answer["from_host"], "accepted", "{answer}");
}

fn commits() {
    const EVENTS: usize = 100_000;
    const CLIENTS: usize = 64;
    let home = Home::new();
    let mut one = stay(&home);
    let task = new_task(&home);
    let plain = plain_commits(home.root(), 1000);
    let alone = timed(|| (0..1000).for_each(|number| rename(&mut one, &task, number)));
    let tasks: Vec<String> = (0..CLIENTS).map(|_| new_task(&home)).collect();
    let together = timed(|| {
        std::thread::scope(|scope| {
            for (number, task) in tasks.iter().enumerate() {
                let mut attached = Attached::to(&home, &format!("n_{number}"));
                scope.spawn(move || (0..EVENTS / CLIENTS).for_each(|number| rename(&mut attached, task, number)));
            }
        });
    });
    let again = plain_commits(home.root(), 1000);
    let rate = |count: usize, took: Duration| count as f64 / took.as_secs_f64();
    let base = (rate(1, plain.median()) + rate(1, again.median())) / 2.0;
    let (alone, together) = (rate(1000, alone), rate(EVENTS, together));
    println!("| | per second | of SQLite alone |\n|---|---|---|");
    println!("| one insert after the other, SQLite alone (before and after, mean) | {base:.0} | 1 |");
    println!("| one client, one command after the other | {alone:.0} | {:.2} |", alone / base);
    println!("| {CLIENTS} clients at once (group commit) | {together:.0} | {:.2} |", together / base);
    let host = home.host().expect("a host runs").pid;
    memory("the host after 100 000 commands", host);
    drop(one);
    home.run(["host", "stop"]);
    eventually("the host is gone", || home.host().is_none());
    let empty = Home::new();
    new_task(&empty);
    println!();
    Sample::head();
    for (what, home) in [("one event", &empty), ("100 000 events", &home)] {
        let open = |arguments: &[&str]| {
            home.run(["host", "stop"]);
            eventually("the host is gone", || home.host().is_none());
            timed(|| drop(home.run(arguments.iter().copied()).expect_code(0)))
        };
        Sample::of(7, || open(&["ls"])).row(&format!("`cowork ls`, no host, {what}"));
        Sample::of(3, || open(&["doctor"])).row(&format!("`cowork doctor`, {what}"));
        Sample::of(3, || open(&["doctor", "--deep"])).row(&format!("`cowork doctor --deep`, {what}"));
    }
}

/// Reads the same answer and does nothing with it.
fn bare_reader(server: &ModelServer) {
    let address = server.url();
    let address = address.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let body = r#"{"model":"test","messages":[{"role":"user","content":"go"}]}"#;
    let head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length:";
    write!(stream, "{head} {}\r\n\r\n{body}", body.len()).expect("a request");
    let mut buffer = vec![0; 64 * 1024];
    let mut tail = Vec::new();
    loop {
        let read = stream.read(&mut buffer).expect("the answer");
        tail.extend_from_slice(&buffer[..read]);
        if read == 0 || tail.ends_with(b"0\r\n\r\n") {
            return;
        }
        tail.drain(..tail.len().saturating_sub(16));
    }
}

fn stream() {
    const PIECES: usize = 100_000;
    let server = ModelServer::start();
    let answer = long_answer(PIECES).finish();
    server.otherwise(move |_| answer.clone());
    let home = Home::with_model(&server);
    let _stays = stay(&home);
    Sample::head();
    Sample::of(5, || timed(|| bare_reader(&server))).row("a reader that throws the answer away");
    Sample::of(5, || timed(|| drop(home.run(["exec", "go"]).expect_code(0)))).row("`cowork exec`, the whole answer");
    let mut screen = home.terminal([] as [&str; 0], 120, 40);
    screen.wait_for(COMPOSER).type_words("go").keys("enter").wait_for("✓ done");
    memory("the host after six such answers", home.host().expect("a host runs").pid);
    memory("a screen that shows one", screen.pid());
}
