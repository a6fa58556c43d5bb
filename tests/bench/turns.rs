//! What the runtime itself costs an agent: its time for each turn with a tool, how that grows with
//! the turns before, and the bytes of a request. `cargo bench --bench turns`, or one section with
//! its word behind `--`. Prints the tables of `docs/performance.md`.
//!
//! The model answers at once and does nothing else, so that what is measured is the program.

// The tools are those of the promises; their own tests belong there.
#![allow(dead_code, unused_imports)]

#[path = "../promises/support/mod.rs"]
mod support;

mod at_once;
mod replay;
mod sample;

use at_once::AtOnce;
use replay::commits_again;
use sample::{Sample, plain_commits, row};
use std::process::Stdio;
use std::time::{Duration, Instant};
use support::attached::Attached;
use support::home::Home;
use support::watch::eventually;

/// A section: the word by which it is asked for, its heading, and how it is measured.
type Section = (&'static str, &'static str, fn());

const SECTIONS: &[Section] = &[
    ("own", "A turn with a tool, and its commits of SQLite alone", own),
    ("window", "Turns of one Task, sent as far as a window of 8192 tokens holds them", || {
        growth(most(10_000), "context_tokens = 8192")
    }),
    ("whole", "Turns of one Task, all of them sent", || growth(most(1_000), "")),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (word, heading, measure) in SECTIONS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == word) {
            println!("\n## {heading}\n\nLoad: {}\n", load());
            measure();
        }
    }
}

/// How many turns the longest Task has; `COWORK_TURNS` makes it another number.
fn most(usual: usize) -> usize {
    std::env::var("COWORK_TURNS").ok().and_then(|turns| turns.parse().ok()).unwrap_or(usual)
}

fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').take(3).collect::<Vec<_>>().join(" ")
}

/// A home with that server and a host that stays, because somebody is attached.
fn ready(server: &AtOnce, more: &str) -> (Home, Attached) {
    let home = Home::new().env("COWORK_MODEL", "own:test");
    let provider = format!("[providers.own]\nkind = \"openai\"\nbase_url = \"{}\"\n", server.url());
    home.configure(&format!("{provider}[models.test]\n{more}\n"));
    home.write("given.txt", "given\n");
    let task = home.json(["new", "idle"])[0]["id"].as_str().expect("an id").to_owned();
    let follower = home.start(["--json", "events", &task, "--follow"]);
    eventually("a host runs", || home.host().is_some());
    let attached = Attached::to(&home, "n_stays");
    drop(follower);
    (home, attached)
}

fn exec(home: &Home) -> Duration {
    let mut command = home.command(["exec", "go"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    assert!(command.status().expect("it starts").success());
    began.elapsed()
}

/// How many transactions have been committed so far, as SQLite counts them in the head of its index of
/// the write-ahead log.
fn commits_so_far(home: &Home) -> usize {
    let head = std::fs::read(home.state().join("cowork.db-shm")).expect("a host runs");
    u32::from_ne_bytes(head[8..12].try_into().expect("four bytes")) as usize
}

/// What a process has written to disk so far, in bytes.
fn written(pid: u32) -> usize {
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("it runs");
    let bytes = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")).expect("a line of it");
    bytes.parse().expect("a number")
}

/// Ratios of one turn to its commits of SQLite alone.
#[derive(Default)]
struct Ratios(Vec<f64>);

impl Ratios {
    fn row(mut self, what: &str) {
        self.0.sort_by(f64::total_cmp);
        let [least, median, most] = [0, self.0.len() / 2, self.0.len() - 1].map(|at| self.0[at]);
        row(what, format!("{median:.2} ({least:.2} to {most:.2})"));
    }
}

/// One turn beside 41, and after them the commits of SQLite alone: every round of it is one
/// figure, so that what else the machine does falls on both.
fn own() {
    const ROUNDS: usize = 9;
    const TURNS: usize = 41;
    let (mut one, mut many, mut turn, mut plain, mut same) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut of_plain, mut of_same) = (Ratios::default(), Ratios::default());
    let (mut first, mut commits, mut bytes) = (0, 0.0, 0);
    for round in 0..=ROUNDS {
        let mut measure = |turns| {
            let server = AtOnce::with(turns);
            let (home, _stays) = ready(&server, "");
            let host = home.host().expect("a host runs").pid;
            let before = (written(host), commits_so_far(&home));
            let took = exec(&home);
            let made = commits_so_far(&home) - before.1;
            bytes = (written(host) - before.0) / made;
            (took, made, home, server)
        };
        let (short, fewer, _, server) = measure(1);
        first = server.asked()[0].bytes;
        let (long, more, home, _) = measure(TURNS);
        let number = more - fewer;
        commits = number as f64 / (TURNS - 1) as f64;
        let (alone, again) =
            (plain_commits(home.root(), number), commits_again(home.root(), &home.state().join("cowork.db")));
        // The first round is not counted.
        if round > 0 {
            let each = long.saturating_sub(short) / (TURNS as u32 - 1);
            let ratio = |alone: &Sample| each.as_secs_f64() / (alone.mean().as_secs_f64() * commits);
            of_plain.0.push(ratio(&alone));
            of_same.0.push(ratio(&again));
            one.push(short);
            many.push(long);
            turn.push(each);
            plain.push(alone.mean());
            same.push(again.mean());
        }
    }
    Sample::head();
    Sample::from(one).row("`cowork exec`, 1 turn, a host runs");
    Sample::from(many).row("`cowork exec`, 41 turns, 40 of them with a call of `read`");
    Sample::from(turn).row("the runtime's own time for each of the 40");
    Sample::from(plain).row("one commit of SQLite alone (WAL, synchronous=FULL, 500 bytes)");
    Sample::from(same).row("one commit of a turn by SQLite alone: the same rows into the same tables");
    println!();
    row("commits of a turn", format!("{commits:.1}, of {:.0} kB each", bytes as f64 / 1e3));
    of_plain.row("a turn, in as many commits of SQLite alone of 500 bytes");
    of_same.row("a turn, in its own commits by SQLite alone");
    row("the first request", format!("{first} bytes"));
}

/// The last turns before 10, 100, 1 000 and so on of one Task: their time, and what the host holds.
fn growth(most: usize, model: &str) {
    let server = AtOnce::with(most);
    let (home, _stays) = ready(&server, model);
    let marks: Vec<usize> = (1..).map(|power| 10_usize.pow(power)).take_while(|mark| *mark <= most).collect();
    server.looks_at(home.host().expect("a host runs").pid, &marks);
    exec(&home);
    let asked = server.asked();
    println!("| turns | ms a turn, median | bytes sent | host, MB resident |\n|---|---|---|---|");
    for mark in marks {
        let last = &asked[(mark - mark / 2).max(mark.saturating_sub(500))..mark];
        let between = last.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
        let median = Sample::from(between).median().as_secs_f64() * 1e3;
        let turn = &asked[mark - 1];
        println!("| {mark} | {median:.2} | {} | {:.1} |", turn.bytes, turn.resident_mb.unwrap_or_default());
    }
}
