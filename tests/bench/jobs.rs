//! Figures of Jobs, printed and never asserted: `cargo bench --bench jobs [NAME …]`.
//!
//! Every figure stands beside what it is to be compared with, taken in the same run: a loop that
//! only reads the same terminal, `grep` over the same bytes, `tmux` with the same keys.

use coworkos::jobs::client::{AttachClient, Controller, Event};
use coworkos::jobs::log::{Log, Pattern, Search, Stream};
use coworkos::jobs::protocol::Role;
use coworkos::jobs::{
    Command, ExitRecord, Folder, Input, Lasting, LogLimits, Outcome, Size, Spec, Streams, reconcile, start,
};
use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let all: [(&str, fn()); 6] = [
        ("start", start_and_end),
        ("intake", intake),
        ("quiet", quiet),
        ("attach", attach),
        ("search", search),
        ("echo", echo),
    ];
    for (name, bench) in all {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            println!("== {name}");
            bench();
        }
    }
}

struct Place {
    scratch: tempfile::TempDir,
    next: u32,
}

impl Place {
    fn new() -> Self {
        Self { scratch: tempfile::tempdir().expect("a folder"), next: 0 }
    }

    fn start(&mut self, line: &str, streams: Streams) -> Folder {
        self.start_lasting(line, streams, Lasting::Machine)
    }

    fn start_lasting(&mut self, line: &str, streams: Streams, lasting: Lasting) -> Folder {
        self.next += 1;
        let folder = Folder::new(self.scratch.path().join(format!("j_{}", self.next)));
        let mut spec = Spec::new(Command::Shell { line: line.into() }, self.scratch.path());
        spec.streams = streams;
        spec.lasting = lasting;
        spec.log = LogLimits { keep_bytes: 8 << 30 };
        start(&folder, &spec, Path::new(env!("CARGO_BIN_EXE_cowork"))).expect("started");
        folder
    }
}

const TERMINAL: Streams = Streams::Terminal { size: Size { rows: 24, cols: 80 } };

fn wait(folder: &Folder) -> ExitRecord {
    if let Ok(mut controller) = Controller::connect(folder, None)
        && let Ok(Some(record)) = controller.wait(None)
    {
        return record;
    }
    match reconcile(folder).expect("looked") {
        Outcome::Ended(record) => record,
        other => panic!("{other:?}"),
    }
}

fn stop(folder: &Folder) {
    if let Ok(mut controller) = Controller::connect(folder, None) {
        let _ = controller.stop(Duration::ZERO);
        let _ = controller.wait(None);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn spread(name: &str, unit: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
    println!("{name}: median {:.2} {unit}, p90 {:.2}, worst {:.2}", at(0.5), at(0.9), at(1.0));
}

fn start_and_end() {
    let mut place = Place::new();
    let call = Streams::Together { input: Input::Nothing };
    for (what, streams, lasting) in [("a Job", TERMINAL, Lasting::Machine), ("a call", call, Lasting::Processes)] {
        let (mut starts, mut wholes) = (Vec::new(), Vec::new());
        for _ in 0..100 {
            let begun = Instant::now();
            let folder = place.start_lasting("true", streams, lasting);
            starts.push(begun.elapsed().as_secs_f64() * 1e3);
            wait(&folder);
            wholes.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        spread(&format!("start of {what} until recorded"), "ms", starts);
        spread(&format!("start of {what} until its end is recorded"), "ms", wholes);
    }
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut wholes = Vec::new();
    for _ in 0..100 {
        let begun = Instant::now();
        runtime.block_on(async {
            let (mut process, _output) =
                coworkos::process::Started::start(&coworkos::process::Spec::shell("true", "/")).expect("started");
            process.exited().await;
            process.end(Duration::from_millis(300)).await;
        });
        wholes.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    spread("the same line as a child of ours, until it has ended", "ms", wholes);
}

/// Reads the same from the same kind of terminal, and does nothing with it.
fn only_read(line: &str) -> f64 {
    let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).expect("a terminal");
    let mut command = CommandBuilder::new("bash");
    command.args(["-c", line]);
    let begun = Instant::now();
    let mut child = pair.slave.spawn_command(command).expect("started");
    drop(pair.slave);
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    let mut buffer = vec![0; 64 * 1024];
    let mut total = 0;
    while let Ok(read) = reader.read(&mut buffer) {
        if read == 0 {
            break;
        }
        total += read;
    }
    child.wait().expect("waited");
    total as f64 / 1e6 / begun.elapsed().as_secs_f64()
}

fn intake() {
    let kinds = [
        ("short lines", "seq 1 6000000"),
        (
            "long lines",
            "yes 'a line that is about as long as those that compilers and servers print, eighty' | head -c 80000000",
        ),
        ("colours", "yes $'\\e[32m   Compiling\\e[0m serde \\e[1mv1.0.229\\e[0m' | head -c 60000000"),
    ];
    let mut place = Place::new();
    for (name, line) in kinds {
        let (mut reads, mut jobs, mut watched) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            reads.push(only_read(line));
            jobs.push(taken(&mut place, line, |_| {}));
            watched.push(taken(&mut place, line, |folder| {
                let mut client = AttachClient::attach(folder, Role::Watcher, None).expect("attached");
                std::thread::spawn(move || while !matches!(client.read(), Ok(Event::Ended(_)) | Err(_)) {});
            }));
        }
        let (read, job, watched) = (median(reads), median(jobs), median(watched));
        println!(
            "{name}: only read {read:.1} MB/s, Job {job:.1} MB/s ({:.2}), Job watched {watched:.1} MB/s ({:.2})",
            job / read,
            watched / read
        );
    }
}

/// How fast a Job's output comes into its log.
fn taken(place: &mut Place, line: &str, with: impl Fn(&Folder)) -> f64 {
    let folder = place.start(&format!("read x; {line}"), TERMINAL);
    with(&folder);
    let mut controller = Controller::connect(&folder, None).expect("its shim");
    let begun = Instant::now();
    controller.send(b"\n").expect("sent");
    let record = controller.wait(None).expect("waited").expect("ended");
    let speed = record.log_bytes as f64 / 1e6 / begun.elapsed().as_secs_f64();
    std::fs::remove_dir_all(folder.path()).expect("removed");
    speed
}

/// Processor time that a process has used, in milliseconds.
fn cpu_ms(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect()).unwrap_or_default();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    (ticks(11) + ticks(12)) * 10
}

fn memory(pid: i32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}

fn quiet() {
    let mut place = Place::new();
    let folders: Vec<Folder> = (0..100).map(|_| place.start("read x", TERMINAL)).collect();
    let shims: Vec<i32> =
        folders.iter().map(|folder| folder.started().expect("read").expect("started").shim.pid).collect();
    let before: u64 = shims.iter().map(|pid| cpu_ms(*pid)).sum();
    std::thread::sleep(Duration::from_secs(10));
    let after: u64 = shims.iter().map(|pid| cpu_ms(*pid)).sum();
    println!("100 quiet shims: {} ms of processor in 10 s", after - before);
    let mean = |file: &str, name: &str| shims.iter().map(|pid| memory(*pid, file, name)).sum::<u64>() / 100;
    println!(
        "a quiet shim: {} kB resident, {} kB proportional, {} kB of its own",
        mean("status", "VmRSS"),
        mean("smaps_rollup", "Pss"),
        mean("smaps_rollup", "Private_Dirty")
    );
    folders.iter().for_each(stop);
}

/// A Job with a log of a gigabyte that still runs.
fn large(place: &mut Place) -> Folder {
    let line = "yes '2026-11-30T12:00:00 step 4711 of 100000 loss 0.1234 accuracy 0.9876 rate 12.3 it/s' | head -c 1000000000; \
                echo the needle in the haystack; echo through; read x";
    let folder = place.start(line, Streams::Separate { input: Input::Sent });
    let mut log = Log::open(folder.path(), Stream::Output).expect("opened");
    while log.end() < 1_000_000_000 {
        std::thread::sleep(Duration::from_millis(50));
        log.refresh().expect("looked");
    }
    folder
}

fn attach() {
    let mut place = Place::new();
    let folder = large(&mut place);
    let times = |role| -> Vec<f64> {
        (0..30)
            .map(|_| {
                // Long enough for the one before to be forgotten.
                std::thread::sleep(Duration::from_millis(50));
                let begun = Instant::now();
                let client = AttachClient::attach(&folder, role, Some(Size { rows: 50, cols: 160 })).expect("attached");
                assert!(client.screen().contents().contains("through"));
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect()
    };
    spread("attach to first screen, log of 1 GB", "ms", times(Role::Watcher));
    let shim = folder.started().expect("read").expect("started").shim.pid;
    let _watcher = AttachClient::attach(&folder, Role::Watcher, None).expect("attached");
    println!("its shim while it is watched: {} kB resident", memory(shim, "status", "VmRSS"));
    stop(&folder);
}

fn search() {
    let mut place = Place::new();
    let folder = large(&mut place);
    let ours = |pattern: Pattern<'_>| {
        let log = Log::open(folder.path(), Stream::Output).expect("opened");
        let range = 0..log.end();
        let begun = Instant::now();
        let hits = Search::new(log, pattern, range).expect("a pattern").count();
        (begun.elapsed().as_secs_f64(), hits)
    };
    let grep = |arguments: &[&str]| {
        let files: Vec<_> = std::fs::read_dir(folder.path())
            .expect("read")
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
            .collect();
        let begun = Instant::now();
        std::process::Command::new("grep").args(arguments).args(files).env("LC_ALL", "C.UTF-8").output().expect("ran");
        begun.elapsed().as_secs_f64()
    };
    for (name, pattern, arguments) in [
        ("literal, one hit", Pattern::Literal("needle in"), ["-F", "needle in"]),
        ("regex, one hit", Pattern::Regex(r"needle \w+ the \w+"), ["-E", r"needle \w+ the \w+"]),
        ("regex, none", Pattern::Regex(r"loss 0\.[5-9]\d+ acc"), ["-E", r"loss 0\.[5-9][0-9]+ acc"]),
    ] {
        let (mut mine, mut theirs, mut found) = (Vec::new(), Vec::new(), 0);
        for _ in 0..ROUNDS {
            let (time, hits) = ours(pattern);
            mine.push(time);
            found = hits;
            theirs.push(grep(&arguments));
        }
        let (mine, theirs) = (median(mine), median(theirs));
        println!("{name}: {mine:.2} s ({found} found), grep {theirs:.2} s, {:.2} times as long", mine / theirs);
    }
    stop(&folder);
}

fn echo() {
    const KEYS: usize = 300;
    let mut place = Place::new();
    let folder = place.start("stty -icanon -echo; exec cat", TERMINAL);
    let mut client = AttachClient::attach(&folder, Role::Typist, Some(Size { rows: 24, cols: 80 })).expect("attached");
    let mut times = Vec::new();
    for _ in 0..KEYS {
        // As a person types: long after what came before.
        std::thread::sleep(Duration::from_millis(15));
        while client.view.read_until(Some(Instant::now() + Duration::from_millis(1))).expect("connected").is_some() {}
        let before = client.screen().contents().len();
        let begun = Instant::now();
        client.write(b"x").expect("typed");
        while client.screen().contents().len() == before {
            client.read().expect("connected");
        }
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    spread("a key until it is on the screen, attached", "ms", times);
    stop(&folder);
    let pair = native_pty_system().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).expect("a terminal");
    let mut command = CommandBuilder::new("tmux");
    command.env("TERM", "xterm-256color");
    let socket = format!("cowork-bench-{}", std::process::id());
    command.args(["-L", &socket, "-f", "/dev/null", "new-session", "stty -icanon -echo; exec cat"]);
    let Ok(mut child) = pair.slave.spawn_command(command) else {
        println!("tmux is not installed");
        return;
    };
    let mut reader = pair.master.try_clone_reader().expect("a reader");
    let mut writer = pair.master.take_writer().expect("a writer");
    let mut buffer = vec![0; 64 * 1024];
    let mut times = Vec::new();
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(read) = reader.read(&mut buffer) {
            if read == 0 || tell.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                return;
            }
        }
    });
    std::thread::sleep(Duration::from_secs(1));
    for _ in 0..KEYS {
        std::thread::sleep(Duration::from_millis(15));
        while told.try_recv().is_ok() {}
        let begun = Instant::now();
        writer.write_all(b"x").expect("typed");
        while let Ok((at, bytes)) = told.recv_timeout(Duration::from_secs(2)) {
            if bytes.contains(&b'x') {
                times.push(at.duration_since(begun).as_secs_f64() * 1e3);
                break;
            }
        }
    }
    spread("a key until it is on the screen, tmux", "ms", times);
    let _ = std::process::Command::new("tmux").args(["-L", &socket, "kill-server"]).output();
    let _ = child.wait();
}
