//! The screen: from the start to the first key, from a key to its echo, at rest, and before a long
//! conversation.
//!
//! An echo is seen in the very cell in which the letter must stand, not anywhere on the screen.

use super::sample::{Sample, memory, row};
use super::support::calls::{call, read};
use super::support::home::Home;
use super::support::model_server::ModelServer;
use super::support::reply::Reply;
use super::support::terminal::Terminal;
use super::{COMPOSER, long_answer, new_task, stay, timed};
use portable_pty::CommandBuilder;
use std::time::{Duration, Instant};

/// What stands before the text that is written.
const PROMPT: &str = "› ";

/// The row of the composer, and the column in which its text begins.
fn composer(screen: &Terminal) -> (u16, u16) {
    let rows = screen.rows();
    let found = rows.iter().enumerate().rev().find_map(|(at, row)| Some((at, row.find(PROMPT)?)));
    let (at, byte) = found.expect("a composer");
    let column = rows[at][..byte].chars().count() + PROMPT.chars().count();
    (at as u16, column as u16)
}

/// Presses letters one by one, a moment apart as a person does, and waits for each in its own cell.
fn type_and_wait(screen: &mut Terminal, letters: usize) -> Sample {
    const LINE: u16 = 40;
    let (at, left) = composer(screen);
    let stands = |screen: &vt100::Screen, column: u16, letter: &str| {
        screen.cell(at, left + column).is_some_and(|cell| cell.contents() == letter)
    };
    let alphabet = "abcdefghijklmnopqrstuvwxyz".chars().cycle().take(letters).enumerate();
    let took = alphabet.map(|(ix, letter)| {
        let column = ix as u16 % LINE;
        if column == 0 && ix > 0 {
            screen
                .keys("ctrl+c")
                .wait("the line is empty", |screen| !stands(screen, LINE - 1, "n") && !stands(screen, 1, "b"));
        }
        let letter = letter.to_string();
        std::thread::park_timeout(Duration::from_millis(35));
        timed(|| {
            screen.type_words(&letter).wait("its echo", |screen| stands(screen, column, &letter));
        })
    });
    let sample = Sample::from(took.collect());
    screen.keys("ctrl+c").wait("the line is empty", |screen| !stands(screen, 1, "b"));
    sample
}

pub fn typed() {
    // The key is there before the program is; it is seen where it belongs, not where the terminal echoes it.
    let first_key = |home: &Home| {
        let mut screen = None;
        let took = timed(|| {
            let mut opened = home.terminal([] as [&str; 0], 120, 40);
            opened.type_words("x").wait("the key stands in the composer", |screen| {
                let row = screen.rows(0, 120).find(|row| row.contains("│ › x"));
                row.is_some()
            });
            screen = Some(opened);
        });
        drop(screen);
        took
    };
    let warm = Home::new();
    let _stays = stay(&warm);
    Sample::head();
    Sample::of(11, || first_key(&warm)).row("start to the first typed key on the screen, a host runs");
    Sample::of(11, || first_key(&Home::new())).row("start to the first typed key on the screen, no host, empty state");
}

pub fn keys() {
    let server = ModelServer::start();
    server.otherwise(|_| long_answer(400_000).finish());
    let home = Home::with_model(&server);
    let mut screen = home.terminal([] as [&str; 0], 120, 40);
    screen.wait_for(COMPOSER);
    Sample::head();
    type_and_wait(&mut screen, 200).row("at rest");
    screen.type_words("go").keys("enter").wait_for("piece.");
    type_and_wait(&mut screen, 120).row("while an answer streams as fast as the server can write");
    home.run(["jobs", "start", "--", "yes"]).expect_code(0);
    let others: Vec<_> = (0..7).map(|_| home.start(["exec", "--no-wait", "go"])).collect();
    std::thread::park_timeout(Duration::from_secs(1));
    type_and_wait(&mut screen, 120).row("while eight answers stream so and a Job prints as fast as it can");
    bare_echo(119).row("the same load: a `cat` that gives back what is typed, on a terminal of its own");
    drop(others);
    screen.kill();
    home.kill_everything();
}

/// What the machine itself needs for a key: through a terminal to a process that only gives it back.
fn bare_echo(letters: u16) -> Sample {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", "stty raw -echo; printf ready; exec cat"]);
    let mut terminal = Terminal::open(command, 120, 40);
    terminal.wait_for("ready").type_words("\r").wait("the start of the line", |screen| screen.cursor_position().1 == 0);
    let took = (0..letters).map(|column| {
        std::thread::park_timeout(Duration::from_millis(35));
        let echo = move |screen: &vt100::Screen| screen.cell(0, column).is_some_and(|cell| cell.contents() == "x");
        timed(|| {
            terminal.type_words("x").wait("its echo", echo);
        })
    });
    Sample::from(took.collect())
}

/// Ticks of the processor that a process has used, and bytes it has written anywhere.
fn used(pid: u32) -> (u64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("a number")).sum();
    let io = std::fs::read_to_string(format!("/proc/{pid}/io")).expect("it runs");
    let written = io.lines().find_map(|line| line.strip_prefix("wchar: ")).expect("what it wrote");
    (ticks, written.parse().expect("a number"))
}

pub fn rest() {
    const LOOK: Duration = Duration::from_secs(10);
    let server = ModelServer::with([Reply::say("hello")]);
    let home = Home::with_model(&server);
    let mut screen = home.terminal([] as [&str; 0], 120, 40);
    screen.wait_for(COMPOSER).type_words("hello").keys("enter").wait_for("✓ done");
    let host = home.host().expect("a host runs").pid;
    memory("the host", host);
    memory("one screen", screen.pid());
    std::thread::park_timeout(Duration::from_secs(2));
    let (before, began) = ((used(host), used(screen.pid())), Instant::now());
    std::thread::park_timeout(LOOK);
    let (after, took) = ((used(host), used(screen.pid())), began.elapsed().as_secs());
    for (what, before, after) in [("the host", before.0, after.0), ("the screen", before.1, after.1)] {
        let (ticks, bytes) = (after.0 - before.0, after.1 - before.1);
        row(what, format!("{ticks} ticks of the processor (10 ms each) and {bytes} bytes written in {took} s"));
    }
}

pub fn long() {
    const LINES: usize = 100_000;
    let server = ModelServer::start();
    let answer = (0..LINES).fold(Reply::stream(), |reply, line| reply.text(&format!("line {line} of it\n\n"))).finish();
    server.otherwise(move |_| answer.clone());
    let home = Home::with_model(&server);
    let mut screen = home.terminal([] as [&str; 0], 120, 40);
    screen.wait_for(COMPOSER).type_words("go").keys("enter").wait_for("✓ done");
    screen.wait_for(&format!("line {} of it", LINES - 1));
    let first = |screen: &vt100::Screen| screen.rows(1, 100).nth(2).unwrap_or_default();
    Sample::head();
    let steps = (0..100).map(|_| {
        let before = screen.screen(first);
        std::thread::park_timeout(Duration::from_millis(35));
        timed(|| {
            screen.keys("shift+up").wait("it moved", |screen| first(screen) != before);
        })
    });
    Sample::from(steps.collect()).row("a key that scrolls a conversation of 100 000 lines, to its frame");
    let widths = (0..10_u16).map(|step| {
        let columns = if step % 2 == 0 { 90 } else { 120 };
        let is_drawn = move |screen: &vt100::Screen| {
            let last = screen.rows(0, columns).last().unwrap_or_default();
            screen.size().1.get() == columns
                && last.contains("f1 keys")
                && last.trim_end().chars().count() + 2 >= usize::from(columns)
        };
        timed(|| {
            screen.resize(columns, 40).wait("it fits", is_drawn);
        })
    });
    Sample::from(widths.collect()).row("another width, to its frame");
    memory("the screen that shows it", screen.pid());
}

pub fn events() {
    const RUNS: usize = 26;
    const TURNS: usize = 500;
    let server = ModelServer::start();
    for _ in 0..RUNS {
        for _ in 1..TURNS {
            server.then(call(read("given.txt")));
        }
        server.then(Reply::say("the last words of it"));
    }
    let home = Home::with_model(&server);
    home.configure("[models.test]\ncontext_tokens = 8192\n");
    home.write("given.txt", "given");
    let _stays = stay(&home);
    let task = home.exec(["go"]).expect_code(0).task().to_owned();
    for _ in 1..RUNS {
        home.exec(["--task", &task, "go on"]).expect_code(0);
    }
    let database = rusqlite::Connection::open(home.state().join("cowork.db")).expect("the database");
    let events: u64 = database.query_row("SELECT count(*) FROM event", [], |row| row.get(0)).expect("a number");
    row("events of its real turns", events.to_string());
    let empty = new_task(&home);
    let open = |task: &str, words: &str| {
        let mut screen = None;
        let took = timed(|| {
            let mut opened = home.terminal([task], 120, 40);
            opened.wait_for(words);
            screen = Some(opened);
        });
        drop(screen);
        took
    };
    Sample::head();
    Sample::of(11, || open(&task, "the last words of it")).row("`cowork TASK` to its last words");
    Sample::of(11, || open(&empty, "idle")).row("the same, of a Task without any");
    memory("the host", home.host().expect("a host runs").pid);
}
