//! Over SSH, by a real sshd: lines that drop in every way, people who come back from elsewhere,
//! pipes without a terminal, and the clipboard of the machine a person sits at.

use crate::support::home::{COWORK, Home};
use crate::support::latch::Latch;
use crate::support::machine::Machine;
use crate::support::model_server::ModelServer;
use crate::support::process::{Process, run};
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;
use crate::support::watch::eventually;
use crate::support::wire::Wire;
use base64::Engine;
use rustix::process::Signal;
use std::process::Command;

/// Opens the screen over a line and waits until it can be typed into.
fn open(machine: &Machine, wire: &Wire, task: &str, columns: u16, rows: u16) -> Terminal {
    let mut terminal = machine.terminal(wire, &format!("exec {COWORK} {task}"), columns, rows);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen() && screen.contents().trim().len() > 40);
    terminal
}

fn only_task(home: &Home) -> String {
    home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned()
}

/// Works over a line, has something happen to it in the middle of a turn, and comes back with another size.
fn comes_back_after(happens: impl FnOnce(&Wire, &Terminal), over: bool) {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("the first half").hold(&latch).text(", the second").finish()]);
    let home = Home::with_model(&server);
    let Some(machine) = Machine::of(&home) else { return };
    let (wire, another) = (Wire::to(machine.port()), Wire::to(machine.port()));
    let mut first = open(&machine, &wire, "", 80, 24);
    first.type_words("work").keys("enter").wait_for("the first half");
    let task = only_task(&home);
    first.type_words("words I have not sent").wait_for("words I have not sent");
    eventually("the draft is kept", || !home.find_bytes("words I have not sent").is_empty());
    happens(&wire, &first);
    if over {
        first.wait_exit();
        let is_screen = |process: &Process| process.arguments[0] == COWORK && !process.is_host();
        eventually("the screen over there has ended", || !home.processes().iter().any(is_screen));
    }

    let mut second = open(&machine, &another, &task, 120, 36);
    second.wait_for("the first half");
    if over {
        second.wait_for("words I have not sent");
    }
    latch.release();
    second.wait_for("the first half, the second");
    if !over {
        wire.thaw();
        first.wait_for("the first half, the second").wait_for("words I have not sent");
    }
    assert_eq!(server.requests().len(), 1, "the turn went on; nothing was asked again");
    home.assert_sound();
}

#[test]
fn ui_11_a_line_that_is_reset_in_the_middle_of_a_turn_costs_nothing() {
    comes_back_after(|wire, _| wire.reset(), true);
}

#[test]
fn ui_11_a_terminal_that_is_closed_in_the_middle_of_a_turn_costs_nothing() {
    comes_back_after(|_, terminal| terminal.signal(Signal::HUP), true);
}

#[test]
fn ui_11_a_line_that_freezes_in_the_middle_of_a_turn_holds_up_nobody_and_goes_on_when_it_thaws() {
    comes_back_after(|wire, _| wire.freeze(), false);
}

#[test]
fn ui_11_two_people_work_on_one_task_each_with_a_size_and_words_of_their_own() {
    let server = ModelServer::with([Reply::say("an answer for both"), Reply::say("a second answer")]);
    let home = Home::with_model(&server);
    let Some(machine) = Machine::of(&home) else { return };
    let (wire, another) = (Wire::to(machine.port()), Wire::to(machine.port()));
    let mut ann = open(&machine, &wire, "", 80, 24);
    ann.type_words("begin").keys("enter").wait_for("an answer for both");
    let mut ben = open(&machine, &another, &only_task(&home), 130, 40);
    ben.wait_for("an answer for both");
    ann.type_words("of Ann").wait_for("of Ann");
    ben.type_words("of Ben").wait_for("of Ben");
    ann.resize(60, 20).wait_for("of Ann");
    assert!(!ann.screen_text().contains("of Ben") && !ben.screen_text().contains("of Ann"));
    ben.keys("enter").wait_for("a second answer");
    ann.wait_for("a second answer").wait_for("of Ben").wait_for("of Ann");
    assert_eq!(server.wait_for_request(2).user(), "of Ben");
}

#[test]
fn cl_2_exec_works_over_ssh_without_a_terminal_and_the_line_closes_when_it_ends() {
    let server = ModelServer::start();
    server.otherwise(|request| Reply::say(&format!("heard: {}", request.user())));
    let home = Home::with_model(&server);
    let Some(machine) = Machine::of(&home) else { return };
    // The host it starts stays behind and holds nothing of the line: its end is waited for.
    let finished = machine.run(&format!("{COWORK} exec hello"), "").finish().expect_code(0);
    assert_eq!(finished.stdout, "heard: hello\n");
    let finished = machine.run(&format!("{COWORK} exec -"), "two\nlines\n").finish().expect_code(0);
    assert_eq!(finished.stdout, "heard: two\nlines\n");
    let finished = machine.run(&format!("{COWORK} exec --json more | tail -1"), "").finish().expect_code(0);
    assert!(finished.stdout.contains(r#""kind":"result""#), "{finished:?}");
    let finished = machine.run(&format!("{COWORK} exec --model nobody:knows x"), "").finish().expect_code(2);
    assert!(finished.stdout.is_empty() && !finished.stderr.is_empty(), "{finished:?}");
    let finished = machine.run(COWORK, "").finish().expect_code(1);
    assert!(finished.stderr.contains("terminal") && finished.stderr.contains("cowork exec"), "{finished:?}");
}

#[test]
fn what_is_copied_over_ssh_reaches_the_clipboard_of_the_terminal_the_person_sits_at() {
    let server = ModelServer::with([Reply::say("words worth keeping, 北京")]);
    let home = Home::with_model(&server);
    let Some(machine) = Machine::of(&home) else { return };
    let wire = Wire::to(machine.port());
    let mut terminal = open(&machine, &wire, "", 100, 30);
    terminal.type_words("say it").keys("enter").wait_for("words worth keeping");
    eventually("it is said", || home.json(["show", &only_task(&home)])[0]["status"] == "completed");
    terminal.keys("alt+up y").wait_for("copied");
    let bytes = terminal.bytes();
    let start = b"\x1b]52;c;";
    let at = bytes.windows(start.len()).position(|window| window == start).expect("OSC 52") + start.len();
    let end = at + bytes[at..].iter().position(|byte| matches!(byte, 7 | 27)).expect("its end");
    let text = base64::engine::general_purpose::STANDARD.decode(&bytes[at..end]).expect("base64");
    assert_eq!(String::from_utf8(text).expect("UTF-8").trim(), "words worth keeping, 北京");
}

#[test]
fn doctor_says_where_the_system_ends_the_host_at_logout() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give logind another configuration");
        return;
    }
    let home = Home::new().env("USER", "ann");
    let mut doctor = Command::new("unshare");
    let script = "mount -t tmpfs none /run && mkdir -p /run/systemd/logind.conf.d && \
                  printf '[Login]\\nKillUserProcesses=yes\\n' > /run/systemd/logind.conf.d/x.conf && exec \"$0\" doctor";
    doctor.args(["-m", "sh", "-c", script, COWORK]).current_dir(home.work()).env_clear().envs(home.environment());
    let finished = run(doctor, "");
    if finished.stdout.is_empty() {
        eprintln!("SKIPPED: no mounts of our own here: {}", finished.stderr);
        return;
    }
    assert!(finished.stdout.contains("KillUserProcesses=yes"), "{finished:?}");
    assert!(finished.stdout.contains("loginctl enable-linger ann"), "{finished:?}");
}

#[test]
fn st_1_a_state_directory_on_a_network_file_system_is_refused_by_every_command() {
    let home = Home::new();
    if Command::new("sshfs").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no sshfs, so no network file system can be had");
        return;
    }
    let Some(machine) = Machine::of(&home) else { return };
    let far = home.root().join("far");
    for folder in [&far, &home.state()] {
        std::fs::create_dir(folder).expect("a folder");
    }
    let mut sshfs = Command::new("sshfs");
    sshfs.arg("-F").arg("/dev/null").args(machine.options(machine.port()));
    sshfs.arg(format!("127.0.0.1:{}", far.display())).arg(home.state());
    let mounted = run(sshfs, "");
    if mounted.status.code() != Some(0) {
        eprintln!("SKIPPED: sshfs can't mount here: {}", mounted.stderr);
        return;
    }
    let _unmount = Unmount(&home);
    for arguments in [&["ls"][..], &["exec", "hello"], &["exec", "--in-process", "hello"], &["host", "run"]] {
        let finished = home.run(arguments).expect_code(1);
        assert!(finished.stderr.contains("network file system (sshfs)"), "{arguments:?}: {finished:?}");
        assert!(finished.stderr.contains("--home"), "it says what to do: {finished:?}");
    }
    let finished = home.run(["doctor"]).expect_code(1);
    assert!(finished.stdout.contains("network file system (sshfs)"), "{finished:?}");
    assert!(!far.join("cowork.db").exists(), "nothing was begun there");
}

/// Takes the network file system at a home's state directory away.
struct Unmount<'a>(&'a Home);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.state()).status();
    }
}
