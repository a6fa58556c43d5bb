//! What goes wrong around a Job.

use crate::world::*;
use coworkos::jobs::client::ClientError;
use coworkos::jobs::log::{Log, Loss, Stream};
use coworkos::jobs::protocol::{LogState, Phase};
use coworkos::jobs::{End, Input, LogLimits, Outcome, Size, Spec, StopState, Streams};
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// The processes that carry a Job's mark, its shim excepted.
fn left_of(job: &Job) -> Vec<String> {
    let record = job.record();
    let mark = coworkos::process::Mark::new(coworkos::jobs::MARK, &record.mark);
    let members = coworkos::process::Table::read().marked(&mark);
    members.into_iter().filter(|member| member.pid != record.shim.pid).map(|member| member.to_string()).collect()
}

#[test]
fn a_child_that_ignores_term_is_killed_after_its_grace() {
    let world = World::new();
    let job = world.run("trap '' TERM; echo up; while :; do sleep 60; done");
    job.says("up");
    let mut control = job.control();
    let asked = Instant::now();
    control.stop(Duration::from_millis(300)).expect("taken");
    assert_eq!(control.status().expect("answered").phase, Phase::Stopping);
    let record = job.end();
    assert!(asked.elapsed() >= Duration::from_millis(300));
    assert_eq!((&record.end, record.stop), (&End::Signaled { signal: 9 }, StopState::Killed));
    assert!(record.survivors.is_empty(), "{record:?}");
    assert_eq!(left_of(&job), [""; 0]);
}

#[test]
fn a_job_that_ends_within_its_grace_keeps_its_own_code() {
    let world = World::new();
    let job = world.run("trap 'echo bye; exit 3' TERM; echo up; while :; do read x; done");
    job.says("up");
    job.control().stop(Duration::from_secs(30)).expect("taken");
    let record = job.end();
    assert_eq!((record.end, record.stop), (End::Exited { code: 3 }, StopState::Asked));
    assert!(job.text().contains("bye"));
}

#[test]
fn stopping_reaches_what_left_the_session_by_a_double_fork() {
    let world = World::new();
    let job = world.run("(setsid sh -c 'echo $$ > stray; exec sleep 60' &) ; (setsid sh -c 'trap \"\" TERM; echo $$ > tough; while :; do sleep 60; done' &); while [ ! -s stray -o ! -s tough ]; do sleep 0.01; done; echo up; read x");
    job.says("up");
    let pid = |name: &str| -> i32 {
        std::fs::read_to_string(world.path().join(name)).expect("read").trim().parse().expect("a number")
    };
    assert!(is_running(pid("stray")) && is_running(pid("tough")));
    job.control().stop(Duration::from_millis(300)).expect("taken");
    let record = job.end();
    assert!(!is_running(pid("stray")) && !is_running(pid("tough")), "{record:?}");
    assert!(record.ended.iter().any(|member| member.pid == pid("stray")), "{record:?}");
    assert!(record.survivors.is_empty(), "{record:?}");
}

#[test]
fn what_left_the_session_before_the_job_ended_by_itself_goes_on_and_is_listed() {
    let world = World::new();
    let job = world
        .run("(setsid sh -c 'echo $$ > stray; exec sleep 60' &) ; while [ ! -s stray ]; do sleep 0.01; done; exit 4");
    let record = job.end();
    let stray: i32 = std::fs::read_to_string(world.path().join("stray")).expect("read").trim().parse().expect("number");
    assert_eq!(record.end, End::Exited { code: 4 });
    assert_eq!(record.survivors.iter().map(|member| member.pid).collect::<Vec<_>>(), [stray]);
    assert!(is_running(stray));
    kill_and_wait(stray);
}

#[test]
fn t8_a_job_is_over_soon_after_its_leader_whoever_holds_its_output() {
    let world = World::new();
    for (line, code, said) in [
        ("sleep 60 & echo done", 0, "done"),
        ("setsid sleep 61 & echo spawned", 0, "spawned"),
        ("exec > >(tee -a f) 2>&1 && echo hi", 0, "hi"),
        ("(sleep 62 &) ; exit 3", 3, ""),
    ] {
        for spec in [world.shell(line), world.piped(line, Input::Nothing)] {
            let started = Instant::now();
            let job = world.start(&spec);
            let record = job.end();
            assert_eq!(record.end, End::Exited { code }, "{line}");
            assert!(job.text().contains(said), "{line}: {:?}", job.text());
            assert!(started.elapsed() < Duration::from_secs(20), "{line}");
            let others: Vec<_> = record.ended.iter().chain(&record.survivors).map(|m| m.command.clone()).collect();
            if line.contains("sleep") {
                assert!(others.iter().any(|command| command.contains("sleep 6")), "{line}: {record:?}");
            }
            for survivor in record.survivors {
                kill(survivor.pid, Signal::KILL);
            }
        }
    }
}

#[test]
fn a_job_that_tells_its_parent_to_end_ends_only_itself() {
    let world = World::new();
    let job = world.run("exec bash -c 'for s in HUP INT QUIT TERM USR1 USR2 ALRM TSTP; do kill -$s $PPID; done; echo still here; exit 6'");
    assert_eq!(job.end().end, End::Exited { code: 6 });
    assert!(job.text().contains("still here"));
}

#[test]
fn what_is_sent_to_a_job_that_does_not_read_is_bounded_and_blocks_nobody() {
    let world = World::new();
    for spec in [world.shell("stty raw; echo up; exec sleep 60"), world.piped("echo up; exec sleep 60", Input::Sent)] {
        let job = world.start(&spec);
        job.says("up");
        let mut control = job.control();
        let piece = vec![b'x'; 100_000];
        let refused = (0..100).find_map(|_| control.send(&piece).err()).expect("at last it is refused");
        assert!(matches!(&refused, ClientError::Refused(reason) if reason.contains("nobody reads")), "{refused}");
        let status = control.status().expect("it still answers");
        assert!(status.unread_input <= 1024 * 1024, "{status:?}");
        control.stop(Duration::ZERO).expect("and can be ended");
        job.end();
    }
}

#[test]
fn a_terminal_of_no_size_gets_a_usable_one() {
    let world = World::new();
    let mut spec = world.shell("stty size; read x; stty size");
    spec.streams = Streams::Terminal { size: Size { rows: 0, cols: 0 } };
    let job = world.start(&spec);
    job.says("24 80");
    let mut control = job.control();
    control.resize(Size { rows: 0, cols: 0 }).expect("taken");
    control.resize(Size { rows: 1, cols: 1 }).expect("taken");
    control.send(b"\n").expect("sent");
    job.end();
    assert!(job.text().contains("1 1"), "{:?}", job.text());
}

#[test]
fn every_byte_is_kept_whatever_it_is() {
    let world = World::new();
    let mut bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    bytes.extend_from_slice(b"\x1b[2J\x1b]0;owned\x07\xff\xfe\xc3\x28no end");
    write(world.path().join("bytes"), &bytes);
    let piped = world.start(&world.piped("cat bytes", Input::Nothing));
    let record = piped.end();
    assert!(piped.printed(Stream::Output) == bytes, "by a pipe");
    assert_eq!(record.log_bytes, bytes.len() as u64);
    let terminal = world.run("stty raw -echo; cat bytes");
    terminal.end();
    assert!(terminal.printed(Stream::Output) == bytes, "by a terminal");
}

#[test]
fn a_log_that_is_removed_underneath_goes_on_and_says_so() {
    let world = World::new();
    let job = world.run("echo first; while [ ! -e go ]; do echo tick; sleep 0.05; done; echo last");
    job.says("first");
    std::fs::remove_file(job.folder.file("output.log")).expect("removed");
    eventually("it is noticed", || job.folder.file("output.1.log").exists());
    write(world.path().join("go"), b"");
    job.end();
    let log = Log::open(job.folder.path(), Stream::Output).expect("opened");
    assert!(log.gaps().iter().any(|gap| gap.loss == Loss::Removed && gap.at.is_some()), "{:?}", log.gaps());
    assert!(job.text().ends_with("last\r\n"));
}

#[test]
fn a_folder_that_vanishes_takes_the_records_and_not_the_command() {
    let world = World::new();
    let job = world.run("echo up; while [ ! -e go ]; do sleep 0.01; done; echo end > proof");
    job.says("up");
    let record = job.record();
    std::fs::remove_dir_all(job.folder.path()).expect("removed");
    write(world.path().join("go"), b"");
    eventually("the command came to its end", || world.path().join("proof").exists());
    eventually("its shim leaves", || !is_running(record.shim.pid));
}

/// A small disk, where this user may mount one.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    fn mount(path: std::path::PathBuf) -> Option<Self> {
        std::fs::create_dir_all(&path).expect("made");
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(&path)
            .output()
            .is_ok_and(|out| out.status.success());
        if !mounted {
            eprintln!("LEFT OUT: a small disk can't be mounted by this user");
        }
        mounted.then_some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

#[test]
fn a_job_goes_on_while_the_disk_is_full_and_its_end_is_recorded() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(world.path().join("jobs")) else { return };
    let job = world.run("head -c 3000000 /dev/zero | tr '\\0' x; read x; echo after; exit 3");
    let mut control = job.control();
    // Nothing it prints is kept any more: the shim tells.
    eventually("the disk is full", || matches!(control.status().map(|status| status.log), Ok(LogState::Lost { .. })));
    let ballast: Vec<_> = std::fs::read_dir(&disk.0).expect("read").collect();
    assert!(!ballast.is_empty());
    control.send(b"\n").expect("sent");
    let record = job.end();
    assert_eq!(record.end, End::Exited { code: 3 }, "the record had its room");
    assert!(record.lost_bytes > 1_000_000, "{record:?}");
    assert_eq!(record.log_bytes + record.lost_bytes, 3_000_000 + "\r\nafter\r\n".len() as u64, "{record:?}");
    assert!(matches!(job.outcome(), Outcome::Ended(_)));
}

#[test]
fn a_job_that_can_not_be_recorded_is_not_started() {
    let world = World::new();
    let Some(disk) = SmallDisk::mount(world.path().join("jobs")) else { return };
    let folder = world.folder();
    let spec = world.shell("echo started > proof");
    folder.define(&spec).expect("defined");
    let filler = std::process::Command::new("dd")
        .args(["if=/dev/zero", "bs=4096", &format!("of={}", disk.0.join("filler").display())])
        .output()
        .expect("ran");
    assert!(!filler.status.success(), "the disk is full");
    let refused = coworkos::jobs::start(&folder, &spec, program()).expect_err("no room");
    assert!(refused.to_string().contains("No space left"), "{refused}");
    assert!(!world.path().join("proof").exists());
    assert!(matches!(
        coworkos::jobs::reconcile(&folder).expect("looked"),
        Outcome::Uncertain { doubt: coworkos::jobs::Doubt::NeverClaimed, .. }
    ));
    std::fs::remove_file(disk.0.join("filler")).expect("removed");
    let started = coworkos::jobs::start(&folder, &spec, program()).expect("now there is room");
    assert!(matches!(started, Outcome::Running(_) | Outcome::Ended(_)), "{started:?}");
    Job { folder, first: started }.end();
}

#[test]
fn a_job_that_prints_as_fast_as_it_can_costs_no_memory_and_holds_up_no_other() {
    let world = World::new();
    let mut spec = world.shell("yes 'a line of a job that prints as fast as it can'");
    spec.log = LogLimits { keep_bytes: 8 << 20 };
    let noisy = world.start(&spec);
    let quiet = world.run("echo up; read x; echo answered; read x");
    quiet.says("up");
    let shim = noisy.record().shim.pid;
    let mut control = noisy.control();
    let grown = |control: &mut coworkos::jobs::client::Controller, bytes| {
        eventually("it prints", || control.status().expect("answered").log_bytes > bytes);
    };
    grown(&mut control, 4 << 20);
    let early = memory(shim, "status", "VmRSS");
    quiet.control().send(b"\n").expect("sent");
    quiet.says("answered");
    grown(&mut control, 60 << 20);
    let late = memory(shim, "status", "VmRSS");
    println!("shim of `yes`: {early} kB resident after 4 MB, {late} kB after 60 MB");
    assert!(late <= early + 1024, "{early} kB, then {late} kB");
    let log = Log::open(noisy.folder.path(), Stream::Output).expect("opened");
    assert!(log.end() - log.start() < 10 << 20, "the log keeps to its size");
    assert!(log.gaps().iter().any(|gap| gap.loss == Loss::Dropped));
    control.stop(Duration::from_secs(5)).expect("taken");
    noisy.end();
}

#[test]
fn a_signal_reaches_the_group_in_the_foreground() {
    let world = World::new();
    let job = world.run("trap 'echo interrupted' INT; echo up; sleep 60; echo after; read x");
    job.says("up");
    let mut control = job.control();
    eventually("it sleeps", || left_of(&job).iter().any(|left| left.starts_with("sleep 60")));
    control.signal(Signal::INT.as_raw()).expect("taken");
    assert!(job.says("after").contains("interrupted"));
    assert!(matches!(control.signal(9999), Err(ClientError::Refused(_))));
}

#[test]
fn a_job_that_starts_another_does_not_take_it_along() {
    let world = World::new();
    let inner = world.folder();
    inner.define(&world.shell("echo inner up; read x")).expect("defined");
    // As a command line in a Job does it: the other shim descends from this one's command.
    let shim =
        format!("COWORK_JOB={}.1 '{}' shim --dir '{}'", inner.job(), program().display(), inner.path().display());
    let line = format!("{shim}; echo outer up; read x");
    let outer = world.run(&line);
    outer.says("outer up");
    let inner = Job { first: Outcome::Starting, folder: inner };
    inner.says("inner up");
    outer.control().stop(Duration::from_millis(500)).expect("taken");
    outer.end();
    assert!(matches!(inner.outcome(), Outcome::Running(_)), "{:?}", inner.outcome());
}

#[test]
fn one_who_has_taken_over_is_obeyed_and_the_one_before_no_more() {
    use coworkos::jobs::client::Controller;
    let world = World::new();
    let job = world.run("echo up; read x");
    job.says("up");
    let mut old = Controller::connect(&job.folder, Some(4)).expect("in");
    old.status().expect("answered");
    let mut new = Controller::connect(&job.folder, Some(5)).expect("in");
    new.status().expect("answered");
    assert!(matches!(old.stop(Duration::ZERO), Err(ClientError::Refused(reason)) if reason.contains("taken over")));
    assert!(matches!(Controller::connect(&job.folder, Some(4)), Err(ClientError::Refused(_))));
    Controller::connect(&job.folder, None).expect("a person is no host").status().expect("answered");
    new.stop(Duration::ZERO).expect("obeyed");
    job.end();
}

#[test]
fn a_folder_with_a_long_name_is_no_obstacle() {
    let world = World::new();
    let folder = coworkos::jobs::Folder::new(world.path().join("a-long-name/".repeat(12)).join("j_long"));
    let spec = Spec::new(coworkos::jobs::Command::Shell { line: "read x; exit 2".into() }, "/");
    let outcome = coworkos::jobs::start(&folder, &spec, program()).expect("started");
    let job = Job { folder, first: outcome };
    job.control().send(b"\n").expect("sent");
    assert_eq!(job.end().end, End::Exited { code: 2 });
}
