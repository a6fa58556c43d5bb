//! Terminals that are attached to Jobs.

use crate::world::*;
use coworkos::jobs::client::{AttachClient, ClientError, Event};
use coworkos::jobs::protocol::{Role, Typing};
use coworkos::jobs::{End, Input, Outcome, Size, StopState};
use std::time::{Duration, Instant};

fn attach(job: &Job, role: Role) -> AttachClient {
    attach_at(job, role, Size { rows: 24, cols: 80 })
}

fn attach_at(job: &Job, role: Role, size: Size) -> AttachClient {
    AttachClient::attach(&job.folder, role, Some(size)).expect("attached")
}

fn contents(client: &AttachClient) -> String {
    client.screen().contents()
}

/// Waits until the screen holds a text.
fn shows(client: &mut AttachClient, text: &str) {
    shows_when(client, text, |screen| screen.contents().contains(text));
}

fn shows_when(client: &mut AttachClient, what: &str, is_it: impl Fn(&vt100::Screen) -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_it(client.screen()) {
        let event = client.view.read_until(Some(deadline)).expect("connected");
        assert!(event.is_some(), "waited for {what}, see:\n{}", contents(client));
    }
}

/// Waits for an event.
fn event(client: &mut AttachClient, what: &str, is_it: impl Fn(&Event) -> bool) -> Event {
    let deadline = Instant::now() + LONG;
    loop {
        match client.view.read_until(Some(deadline)).expect("connected") {
            Some(event) if is_it(&event) => return event,
            Some(_) => {}
            None => panic!("waited for {what}, see:\n{}", contents(client)),
        }
    }
}

#[test]
fn the_screen_is_there_at_once_and_what_is_typed_arrives() {
    let world = World::new();
    let job = world.run("printf '\\033[31mred\\033[m ready\\n'; read line; echo got $line; read x; exit 2");
    job.says("ready");
    let mut client = attach(&job, Role::Typist);
    assert!(contents(&client).starts_with("red ready"), "{:?}", contents(&client));
    assert_eq!(client.screen().cell(0, 0).expect("a cell").fgcolor(), vt100::Color::Idx(1));
    assert_eq!(client.view.typing(), Typing::You);
    client.write(b"hello\r").expect("typed");
    shows(&mut client, "got hello");
    client.write(b"\r").expect("typed");
    let ended = event(&mut client, "the end", |event| matches!(event, Event::Ended(_)));
    assert!(matches!(ended, Event::Ended(record) if record.end == End::Exited { code: 2 }));
}

#[test]
fn a_job_runs_on_when_its_terminal_is_let_go_of() {
    let world = World::new();
    let job = world.run("echo up; read line; echo got $line; read x");
    let mut first = attach(&job, Role::Typist);
    shows(&mut first, "up");
    first.write(b"half ").expect("typed");
    first.detach();
    let mut second = attach(&job, Role::Typist);
    shows(&mut second, "half");
    second.keys.take_over().expect("asked");
    if second.view.typing() != Typing::You {
        event(&mut second, "the keys", |event| *event == Event::Typing(Typing::You));
    }
    second.write(b"a line\r").expect("typed");
    shows(&mut second, "got half a line");
    assert!(matches!(job.outcome(), Outcome::Running(_)));
    let typed = coworkos::jobs::typed::typed(job.folder.path()).expect("read");
    assert_eq!(typed.iter().map(|typed| typed.bytes).collect::<Vec<_>>(), [5], "noted when it was let go of");
}

#[test]
fn several_watch_one_types_and_typing_can_be_taken_over() {
    let world = World::new();
    let job = world.run("echo up; while read line; do echo got $line; done");
    job.says("up");
    let mut typist = attach(&job, Role::Typist);
    let mut watcher = attach(&job, Role::Watcher);
    let mut other = attach(&job, Role::Typist);
    assert_eq!(
        [typist.view.typing(), watcher.view.typing(), other.view.typing()],
        [Typing::You, Typing::Another, Typing::Another]
    );
    typist.write(b"one\r").expect("typed");
    for client in [&mut typist, &mut watcher, &mut other] {
        shows(client, "got one");
    }
    for refused in [&mut watcher, &mut other] {
        refused.write(b"no\r").expect("sent");
        event(refused, "a refusal", |event| matches!(event, Event::Refused(_)));
    }
    let sent = job.control().send(b"from a program\n");
    assert!(matches!(sent, Err(ClientError::Refused(reason)) if reason.contains("a person is typing")));
    other.keys.take_over().expect("asked");
    event(&mut other, "the keys", |event| *event == Event::Typing(Typing::You));
    event(&mut typist, "their loss", |event| *event == Event::Typing(Typing::Another));
    other.write(b"two\r").expect("typed");
    for client in [&mut typist, &mut watcher, &mut other] {
        shows(client, "got two");
        assert!(!contents(client).contains("no"), "{}", contents(client));
    }
    other.detach();
    event(&mut typist, "nobody", |event| *event == Event::Typing(Typing::Nobody));
}

#[test]
fn the_terminal_has_the_size_of_who_types() {
    let world = World::new();
    let job = world.run("trap 'stty size' WINCH; echo up; while :; do sleep 0.1; done");
    job.says("up");
    let mut typist = attach_at(&job, Role::Typist, Size { rows: 30, cols: 100 });
    shows(&mut typist, "30 100");
    assert_eq!(typist.screen().size().0.get(), 30);
    let mut watcher = attach_at(&job, Role::Watcher, Size { rows: 10, cols: 20 });
    assert_eq!(watcher.screen().size().1.get(), 100, "who watches sees it as it is");
    typist.resize(Size { rows: 12, cols: 50 }).expect("said");
    shows(&mut typist, "12 50");
    shows(&mut watcher, "12 50");
    assert_eq!(watcher.screen().size().1.get(), 50);
}

#[test]
fn what_was_printed_is_laid_out_anew_for_a_larger_terminal() {
    let world = World::new();
    let job = world.run("for i in $(seq 1 100); do echo line $i; done; read x");
    job.says("line 100");
    let client = attach_at(&job, Role::Typist, Size { rows: 60, cols: 80 });
    let shown = contents(&client);
    assert!(shown.contains("line 50\n") && shown.contains("line 100"), "{shown}");
}

#[test]
fn what_scrolled_off_can_be_asked_for() {
    let world = World::new();
    let job = world.run("for i in $(seq 1 3000); do echo line $i; done; read x");
    job.says("line 3000");
    let mut client = attach(&job, Role::Watcher);
    client.keys.ask_history(5000).expect("asked");
    match event(&mut client, "the history", |event| matches!(event, Event::History(_))) {
        Event::History(lines) => {
            assert_eq!(lines.len(), 1000);
            assert!(lines.last().expect("a line").starts_with("line 29"), "{:?}", lines.last());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_client_that_hangs_holds_up_nobody() {
    let world = World::new();
    let job = world.run("echo up; read x; seq 1 300000; echo through; read x");
    job.says("up");
    // It never reads what comes.
    let hung = attach(&job, Role::Watcher);
    let mut watcher = attach(&job, Role::Watcher);
    job.control().send(b"\n").expect("sent");
    shows(&mut watcher, "through");
    job.says("through");
    // When it reads again, it sees how things stand.
    let mut hung = hung;
    shows(&mut hung, "through");
}

#[test]
fn what_a_program_asks_its_terminal_is_answered_though_nobody_is_attached() {
    let world = World::new();
    let ask = |question: &str, end: &str| {
        let script = format!(
            "stty raw -echo min 0 time 100; printf '%s' abc; printf '{question}'; a=; while c=$(dd bs=1 count=1 2>/dev/null); \
             [ -n \"$c\" ]; do a=$a$c; case $a in *'{end}') break;; esac; done; printf '<%s>' \"$a\" | tr '\\033' '^'"
        );
        let job = world.start(&world.shell(&script));
        job.end();
        let text = job.text();
        text[text.find('<').expect("an answer")..].to_owned()
    };
    assert_eq!(ask("\\033[6n", "R"), "<^[1;4R>", "where the cursor is");
    assert_eq!(ask("\\033[c", "c"), "<^[?62;22c>", "which terminal it is");
    assert_eq!(ask("\\033]11;?\\033\\\\\\033[c", "c"), "<^]11;rgb:0000/0000/0000^\\^[?62;22c>");
    assert_eq!(ask("\\033[?u\\033[c", "c"), "<^[?62;22c>", "what we do not speak is not said to be spoken");
}

#[test]
fn a_question_far_behind_much_output_is_answered_rightly() {
    let world = World::new();
    let job = world.run(
        "stty raw -echo; seq 1 200000 | tr '\\n' ' '; printf '\\r\\nab\\033[6n'; IFS= read -r -d R pos; printf '<%s>' \"${pos#?}\"; stty sane; read x",
    );
    let text = job.says(">");
    assert!(text.contains("<[24;3>"), "{:?}", &text[text.len() - 40..]);
}

#[test]
fn t12_nothing_that_a_job_prints_drives_the_terminal_of_who_looks() {
    let world = World::new();
    let hostile = "before\\033]0;owned\\007\\033]52;c;cGF3bmVk\\007\\033]8;;http://x\\007link\\033Pq#0\\033\\\\\\033[21t\\033]9;notify\\007 after";
    let job = world.run(&format!("echo up; read x; printf '{hostile}\\n'; read x"));
    job.says("up");
    let mut client = attach(&job, Role::Typist);
    client.write(b"\r").expect("typed");
    let mut seen = client.view.whole();
    let deadline = Instant::now() + LONG;
    while !contents(&client).contains("after") {
        if let Some(Event::Changed(bytes)) = client.view.read_until(Some(deadline)).expect("connected") {
            seen.extend(bytes);
        }
    }
    let seen = String::from_utf8_lossy(&seen).into_owned();
    for part in ["owned", "cGF3bmVk", "http", "notify", "\x1b]", "\x1bP", "21t"] {
        assert!(!seen.contains(part), "{part}: {seen:?}");
    }
    assert!(contents(&client).contains("beforelink after"));
    assert!(job.text().contains("cGF3bmVk"), "the log has it all");
}

#[test]
fn a_full_screen_program_is_there_as_it_stands_for_who_comes_later() {
    let world = World::new();
    let job = world.run("printf 'below'; printf '\\033[?1049h\\033[?1h\\033[?2004h\\033[5;10Hin the middle'; read x; printf '\\033[?1049l'; read x");
    job.says("in the middle");
    let mut client = attach(&job, Role::Typist);
    assert!(!contents(&client).contains("below"));
    assert!(client.screen().rows(9, 13).nth(4).expect("a row").starts_with("in the middle"));
    assert!(client.screen().bracketed_paste() && client.screen().application_cursor());
    client.write(b"\r").expect("typed");
    shows(&mut client, "below");
    assert!(!contents(&client).contains("in the middle"));
}

#[test]
fn vim_works() {
    if !has("vim") {
        return;
    }
    let world = World::new();
    let job = world.run("vim -u NONE -i NONE -n notes.txt");
    let mut client = attach_at(&job, Role::Typist, Size { rows: 20, cols: 60 });
    // The line that names the file goes when the size changes; the empty rows stay.
    shows(&mut client, "~");
    client.write(b"iHello from vim").expect("typed");
    shows(&mut client, "Hello from vim");
    client.write(b"\x1b").expect("typed");
    client.resize(Size { rows: 30, cols: 70 }).expect("said");
    shows_when(&mut client, "the other size", |screen| {
        screen.size().0.get() == 30 && screen.contents().contains("Hello from vim")
    });
    let later = attach(&job, Role::Watcher);
    assert!(contents(&later).contains("Hello from vim"), "{}", contents(&later));
    client.write(b":wq\r").expect("typed");
    event(&mut client, "the end", |event| matches!(event, Event::Ended(_)));
    assert_eq!(std::fs::read_to_string(world.path().join("notes.txt")).expect("written"), "Hello from vim\n");
}

#[test]
fn less_works() {
    if !has("less") {
        return;
    }
    let world = World::new();
    let lines: String = (1..=500).map(|number| format!("line {number}\n")).collect();
    write(world.path().join("text"), lines.as_bytes());
    let job = world.run("less text");
    let mut client = attach(&job, Role::Typist);
    shows(&mut client, "line 23");
    client.write(b"G").expect("typed");
    shows(&mut client, "line 500");
    client.write(b"?line 250$\r").expect("typed");
    shows(&mut client, "line 250\n");
    client.write(b"q").expect("typed");
    assert!(
        matches!(event(&mut client, "the end", |event| matches!(event, Event::Ended(_))), Event::Ended(record) if record.end == End::Exited { code: 0 })
    );
}

#[test]
fn top_or_htop_works() {
    let program = if has("htop") { "htop" } else { "top" };
    if !has(program) {
        return;
    }
    let world = World::new();
    let job = world.run(program);
    let mut client = attach_at(&job, Role::Typist, Size { rows: 30, cols: 120 });
    shows(&mut client, "PID");
    let first = client.view.whole();
    shows_when(&mut client, "it goes on", |screen| screen.state_formatted().into_bytes() != first);
    client.write(b"q").expect("typed");
    event(&mut client, "the end", |event| matches!(event, Event::Ended(_)));
}

#[test]
fn a_job_without_a_terminal_can_be_watched() {
    let world = World::new();
    let job = world.start(&world.piped("echo one; read x; echo two >&2; read x", Input::Sent));
    job.says("one");
    let mut client = attach(&job, Role::Watcher);
    assert!(contents(&client).starts_with("one"));
    job.control().send(b"\n").expect("sent");
    shows(&mut client, "one\ntwo");
}

#[test]
fn a_stop_is_seen_by_who_looks() {
    let world = World::new();
    let job = world.run("echo up; sleep 60");
    let mut client = attach(&job, Role::Watcher);
    shows(&mut client, "up");
    job.control().stop(Duration::from_secs(10)).expect("taken");
    match event(&mut client, "the end", |event| matches!(event, Event::Ended(_))) {
        Event::Ended(record) => assert_eq!(record.stop, StopState::Asked),
        other => panic!("{other:?}"),
    }
    assert!(matches!(AttachClient::attach(&job.folder, Role::Watcher, None), Err(ClientError::NoShim)));
}
