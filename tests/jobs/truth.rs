//! How a Job ended is evidence, never a guess.

use crate::world::*;
use coworkos::jobs::log::Stream;
use coworkos::jobs::orphan::Orphan;
use coworkos::jobs::{Command, Doubt, End, Input, Obstacle, Outcome, Spec, StopState, reconcile, start};
use rustix::process::{Pid, Signal};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

#[test]
fn t9_a_job_that_exits_7_exited_7_and_one_that_is_killed_was_signaled() {
    let world = World::new();
    assert_eq!(world.run("exit 7").end().end, End::Exited { code: 7 });
    assert_eq!(world.run("true").end().end, End::Exited { code: 0 });
    let leader = world.run("echo up; sleep 60; echo never");
    leader.says("up");
    kill(leader.record().command.pid, Signal::KILL);
    assert_eq!(leader.end().end, End::Signaled { signal: 9 });
    let group = world.run("echo up; sleep 60; echo never");
    group.says("up");
    let pid = Pid::from_raw(group.record().command.pid).expect("a number");
    rustix::process::kill_process_group(pid, Signal::KILL).expect("ours");
    let record = group.end();
    assert_eq!((record.end, record.stop), (End::Signaled { signal: 9 }, StopState::NotAsked));
    assert!(!group.text().contains("never"));
}

#[test]
fn t9_a_job_whose_shim_was_killed_is_uncertain_and_never_0() {
    let world = World::new();
    let job = world.run("echo up; exec sleep 60");
    job.says("up");
    job.kill_shim();
    // Its terminal went with the shim, and with that the command.
    eventually("the command is gone", || !is_running(job.record().command.pid));
    match job.outcome() {
        Outcome::Uncertain { doubt, started } => {
            assert_eq!(doubt, Doubt::GoneWithoutRecord);
            assert_eq!(started, Some(job.record()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(job.text(), "up\r\n", "its log stays");
}

#[test]
fn t9_a_command_that_outlives_its_shim_is_watched_and_can_be_ended() {
    let world = World::new();
    let job = world.start(&world.piped("trap '' HUP PIPE; echo up; sleep 60 & wait", Input::Nothing));
    job.says("up");
    job.kill_shim();
    let record = job.record();
    assert_eq!(job.outcome(), Outcome::Orphaned(record.clone()));
    let orphan = Orphan::hold(&record).expect("it runs");
    assert!(!orphan.wait_for(Duration::ZERO));
    assert_eq!(orphan.stop(Duration::from_millis(200)), []);
    assert!(orphan.wait_for(Duration::ZERO));
    assert!(Orphan::hold(&record).is_none());
    assert!(matches!(job.outcome(), Outcome::Uncertain { doubt: Doubt::GoneWithoutRecord, .. }));
}

#[test]
fn t9_a_number_that_came_to_mean_another_process_gets_no_signal() {
    let world = World::new();
    let job = world.start(&world.piped("trap '' HUP PIPE; echo up; sleep 60 & wait", Input::Nothing));
    job.says("up");
    job.kill_shim();
    let mut record = job.record();
    // As if another process had the number now: it started at another time.
    record.command.start_time -= 1;
    assert!(Orphan::hold(&record).is_none());
    std::fs::write(job.folder.file("started.json"), serde_json::to_vec(&record).expect("json")).expect("written");
    assert!(matches!(job.outcome(), Outcome::Uncertain { doubt: Doubt::GoneWithoutRecord, .. }));
    record.command.start_time += 1;
    assert!(is_running(record.command.pid), "it got no signal");
    std::fs::write(job.folder.file("started.json"), serde_json::to_vec(&record).expect("json")).expect("written");
}

#[test]
fn a_job_goes_on_without_whoever_started_it_and_ends_with_its_true_code() {
    let world = World::new();
    let job = world.run("echo up; read go; exit 5");
    job.says("up");
    let record = job.record();
    // It is nobody's child, in a session of its own, in whose foreground its command is.
    let parent = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
        let fields: Vec<i32> = stat
            .rsplit_once(") ")
            .expect("a name")
            .1
            .split(' ')
            .skip(1)
            .take(3)
            .map(|f| f.parse().expect("number"))
            .collect();
        (fields[0], fields[1], fields[2])
    };
    let own = std::process::id() as i32;
    let (shims_parent, _, shims_session) = parent(record.shim.pid);
    assert_ne!(shims_parent, own);
    assert_eq!(shims_session, record.shim.pid);
    assert_eq!(parent(record.command.pid), (record.shim.pid, record.command.pid, record.shim.pid));
    assert_eq!(job.outcome(), Outcome::Running(record));
    job.control().send(b"go\n").expect("sent");
    assert_eq!(job.end().end, End::Exited { code: 5 });
    assert!(matches!(job.outcome(), Outcome::Ended(_)));
}

#[test]
fn why_a_command_did_not_start_is_told_from_what_it_exits_with() {
    let world = World::new();
    let garbage = write(world.path().join("garbage"), b"\x00\x01\x02\x03");
    std::fs::set_permissions(&garbage, std::fs::Permissions::from_mode(0o755)).expect("set");
    let plain = write(world.path().join("plain"), b"echo hello");
    let program = |program: &str| Command::Program { program: program.into(), args: Vec::new() };
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let why = |spec: &Spec| match world.start(spec).first {
        Outcome::Ended(record) => match record.end {
            End::FailedToStart { why, message } => (why, message),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let of = |command| why(&Spec::new(command, world.path())).0;
    assert_eq!(of(program("/no/such/program")), Obstacle::NotFound);
    assert_eq!(of(program("no-such-program-anywhere")), Obstacle::NotFound);
    assert_eq!(of(program(&path(&plain))), Obstacle::NotAllowed);
    assert_eq!(of(program(&path(&garbage))), Obstacle::NotAProgram);
    let (obstacle, message) = why(&Spec::new(program("true"), world.path().join("gone")));
    assert_eq!(obstacle, Obstacle::Folder);
    assert!(message.contains("gone can't be used as the folder to run in"), "{message}");
    assert_eq!(world.run("no-such-program-anywhere").end().end, End::Exited { code: 127 });
}

#[test]
fn what_a_job_runs_is_started_once_however_often_it_is_asked_for() {
    let world = World::new();
    let spec = world.shell("echo started >> starts; read go");
    let folder = world.folder();
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let starts: Vec<_> =
            (0..6).map(|_| scope.spawn(|| start(&folder, &spec, program()).expect("started"))).collect();
        starts.into_iter().map(|start| start.join().expect("joined")).collect()
    });
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Outcome::Running(_) | Outcome::Starting)), "{outcomes:?}");
    let job = Job { first: outcomes[0].clone(), folder };
    job.control().send(b"\n").expect("sent");
    job.end();
    assert!(matches!(start(&job.folder, &spec, program()).expect("asked"), Outcome::Ended(_)));
    assert_eq!(std::fs::read_to_string(world.path().join("starts")).expect("read"), "started\n");
}

#[test]
fn a_job_sees_what_it_may_of_the_environment_and_never_a_key() {
    let world = World::new();
    let mut spec = world.shell("env; echo TERM=$TERM; tty; stty size; pwd");
    spec.set = vec![("MODE".into(), "fast".into()), ("MY_API_KEY".into(), "sk-secret".into())];
    let job = world.start(&spec);
    job.end();
    let text = job.text();
    for expected in
        ["MODE=fast", "TERM=xterm-256color", "/dev/pts/", "24 80", &format!("COWORK_JOB={}", job.folder.job())]
    {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains("sk-secret") && !text.contains("CARGO_PKG_NAME"), "{text}");
    let shim = std::fs::read_to_string(job.folder.file("spec.json")).expect("read");
    assert!(!shim.contains("CARGO_PKG"), "{shim}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_commands_signals_are_as_usual() {
    let world = World::new();
    for spec in [world.shell("exec cat /proc/self/status"), world.piped("exec cat /proc/self/status", Input::Nothing)] {
        let job = world.start(&spec);
        job.end();
        let text = job.text();
        for name in ["SigBlk:\t", "SigIgn:\t"] {
            let mask = text.lines().find_map(|line| line.strip_prefix(name)).expect("a mask");
            let mask = u64::from_str_radix(mask.trim(), 16).expect("a number");
            // 32 and 33 are the C library's own: it lets nobody change them.
            assert_eq!(mask & !(3 << 31), 0, "{text}");
        }
    }
}

#[test]
fn without_a_terminal_errors_are_apart_and_input_is_what_is_sent() {
    let world = World::new();
    use coworkos::jobs::log::Stream;
    let job = world.start(&world.piped("tty; read line; echo got $line; echo bad >&2; cat; echo end", Input::Sent));
    job.says("not a tty");
    let mut control = job.control();
    control.send(b"hello\nrest").expect("sent");
    control.close_input().expect("closed");
    assert_eq!(job.end().end, End::Exited { code: 0 });
    assert_eq!(job.text(), "not a tty\ngot hello\nrestend\n");
    assert_eq!(job.printed(Stream::Errors), b"bad\n");
    let nothing = world.start(&world.piped("read x || echo end of input", Input::Nothing));
    nothing.end();
    assert_eq!(nothing.text(), "end of input\n");
}

#[test]
fn what_a_call_runs_has_one_output_no_input_and_a_true_end() {
    let world = World::new();
    let job = world.start(&world.called("echo out; echo err >&2; cat; test -t 1 || echo none; echo $TERM; exit 5"));
    assert_eq!(job.end().end, End::Exited { code: 5 });
    assert_eq!(job.printed(Stream::Output), b"out\nerr\nnone\ndumb\n");
    assert_eq!(job.printed(Stream::Errors), b"");
    job.folder.secure().expect("it can be made to outlive a loss of power");
    assert!(matches!(reconcile(&job.folder), Ok(Outcome::Ended(_))));
}

#[test]
fn what_a_call_leaves_behind_is_ended_and_listed_however_it_left() {
    let world = World::new();
    let job = world.start(&world.called("(sleep 61 &); exit 0"));
    let ended = job.end().ended;
    assert_eq!(ended.iter().map(|member| member.command.as_str()).collect::<Vec<_>>(), ["sleep 61"]);
}
