//! The state directory in bad hands and bad weather: another user, a full disk, a file that is
//! locked, damaged, newer or on the network. Each is said plainly and nothing is lost.

use crate::support::calls::{call, shell};
use crate::support::disk::{SmallDisk, fill};
use crate::support::home::{COWORK, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::process::{self, Running, run};
use crate::support::reply::Reply;
use crate::support::watch::eventually;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Says aloud that a test needs what this machine does not give.
fn skip(what: &str) {
    eprintln!("SKIPPED: {what}");
}

/// A home whose first Task is complete and whose host has left.
fn used_home(server: &ModelServer) -> Home {
    let home = Home::with_model(server);
    home.exec(["hello"]).expect_code(0);
    stop_host(&home);
    home
}

fn stop_host(home: &Home) {
    home.run(["host", "stop"]);
    eventually("the host is gone", || home.host().is_none());
}

fn database(home: &Home) -> PathBuf {
    home.state().join("cowork.db")
}

#[test]
fn the_socket_refuses_another_user() {
    if !is_root() {
        return skip("only root can become another user");
    }
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().hold(&latch).text("hello").finish()]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "hello"]);
    latch.wait_reached();
    // Even where the file system would let them in.
    let sockets = sockets_of(&home);
    assert!(!sockets.is_empty(), "the host listens somewhere");
    for socket in &sockets {
        for place in socket.ancestors().take_while(|place| *place != Path::new("/tmp") && *place != Path::new("/")) {
            let _ = std::fs::set_permissions(place, std::fs::Permissions::from_mode(0o777));
        }
        let script = r#"use IO::Socket::UNIX; $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "no way in: $!";
            print $s '{"to_host":"hello","protocol":1,"version":"0","client":"n_1"}', "\n"; $s->flush; print <$s> // "nothing""#;
        let knock = |user: &str| {
            let mut client = Command::new("setpriv");
            client.args(["--reuid", user, "--regid", user, "--clear-groups", "perl", "-e", script]).arg(socket);
            run(client, "").stdout
        };
        assert!(knock("0").contains("refused"), "its own user is answered, if only that the version is another");
        let told = knock("65534");
        assert!(told.is_empty() || told == "nothing", "another user is told nothing: {told}");
    }
    latch.release();
    running.finish().expect_code(0);
}

/// The sockets the host of a home listens on.
fn sockets_of(home: &Home) -> Vec<PathBuf> {
    let host = home.host().expect("a host runs").pid;
    let fds = std::fs::read_dir(format!("/proc/{host}/fd")).expect("its descriptors");
    let inodes: Vec<String> = fds
        .flatten()
        .filter_map(|fd| {
            std::fs::read_link(fd.path()).ok()?.to_str()?.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned)
        })
        .collect();
    let table = std::fs::read_to_string("/proc/net/unix").expect("the table of sockets");
    table
        .lines()
        .filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let path = words.get(7).filter(|path| path.starts_with('/'))?;
            inodes.iter().any(|inode| inode == words[6]).then(|| PathBuf::from(path))
        })
        .collect()
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = used_home(&server);
    let path = database(&home);
    let connection = rusqlite::Connection::open(&path).expect("the database");
    connection.pragma_update(None, "user_version", 9999).expect("a version");
    drop(connection);
    let before = std::fs::read(&path).expect("the database");
    let finished = home.run(["ls"]).expect_code(1);
    assert!(finished.stderr.contains("newer"), "{}", finished.stderr);
    assert_eq!(std::fs::read(&path).expect("the database"), before);
    assert!(home.host().is_none());
}

#[test]
fn a_damaged_file_is_said_to_be_damaged_and_nothing_starts_empty() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = used_home(&server);
    let path = database(&home);
    let connection = rusqlite::Connection::open(&path).expect("the database");
    connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").expect("everything is in the one file");
    drop(connection);
    let mut bytes = std::fs::read(&path).expect("the database");
    let whole = bytes.len();
    bytes[4096..whole].fill(0xa5);
    std::fs::write(&path, &bytes).expect("damaged");
    for arguments in [&["ls"][..], &["exec", "hello"]] {
        let finished = home.run(arguments).expect_code(1);
        assert!(finished.stderr.contains("damaged") && finished.stderr.contains("cowork.db"), "{}", finished.stderr);
    }
    assert_eq!(std::fs::read(&path).expect("the database"), bytes, "not a byte of it was changed");
}

#[test]
fn after_an_orderly_stop_everything_is_in_the_one_file() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = used_home(&server);
    let log = std::fs::metadata(home.state().join("cowork.db-wal")).map_or(0, |log| log.len());
    assert_eq!(log, 0, "who copies cowork.db then has everything");
}

#[test]
fn an_emptied_file_beside_its_log_is_no_reason_to_start_empty() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = Home::with_model(&server);
    home.exec(["hello"]).expect_code(0);
    if home.host().is_some() {
        home.kill_host();
    }
    let path = database(&home);
    let log = home.state().join("cowork.db-wal");
    assert!(std::fs::metadata(&log).is_ok_and(|log| log.len() > 0), "a host that was killed leaves its log");
    std::fs::rename(&path, home.root().join("moved.db")).expect("moved away");
    let finished = home.run(["ls"]).expect_code(1);
    assert!(finished.stderr.contains("cowork.db"), "{}", finished.stderr);
    let _ = std::fs::remove_file(&path);
    std::fs::rename(home.root().join("moved.db"), &path).expect("moved back");
    assert_eq!(home.json(["ls"]).len(), 1, "nothing was lost");
    home.assert_sound();
}

#[test]
fn a_locked_file_is_said_to_be_locked_and_works_when_it_is_free() {
    let server = ModelServer::with([Reply::say("one"), Reply::say("two")]);
    let home = used_home(&server);
    let connection = rusqlite::Connection::open(database(&home)).expect("the database");
    connection.execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    let finished = home.run(["exec", "hello"]).expect_code(1);
    assert!(finished.stderr.contains("another program holds"), "{}", finished.stderr);
    connection.execute_batch("ROLLBACK").expect("the lock is gone");
    drop(connection);
    home.exec(["hello"]).expect_code(0);
    home.assert_sound();
}

#[test]
fn a_file_that_another_program_locks_while_a_model_works_is_said_and_the_work_goes_on_when_it_is_free() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half an answer").hold(&latch).text(" and all").finish()]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "work"]);
    latch.wait_reached();
    let connection = rusqlite::Connection::open(database(&home)).expect("the database");
    connection.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    latch.release();
    running.wait_for_error("another program holds");
    connection.execute_batch("ROLLBACK").expect("the lock is gone");
    drop(connection);
    assert!(running.finish().expect_code(0).stdout.contains("half an answer and all"));
    assert_eq!(server.requests().len(), 1, "nothing was asked again");
    home.assert_sound();
}

#[test]
fn a_state_directory_that_cannot_be_written_is_said_plainly() {
    let home = Home::new();
    std::fs::write(home.state(), "a file where the directory should be").expect("a file");
    let finished = home.run(["ls"]).expect_code(1);
    assert!(finished.stderr.contains(home.state().to_str().expect("a path")), "{}", finished.stderr);
}

#[test]
fn a_disk_that_fills_while_a_command_runs_keeps_its_result_until_there_is_room() {
    let wait = "until [ -e go ]; do sleep 0.02; done; echo it ran to its end | tee -a effects";
    let server = ModelServer::with([call(shell(wait)), Reply::say("done")]);
    let home = Home::with_model(&server);
    let Some(_disk) = SmallDisk::mount(&home, "size=48m,mode=700") else { return };
    let running = home.start(["exec", "work"]);
    server.wait_answered(1);
    eventually("the command runs", || {
        home.processes().iter().any(|process| process.arguments.first().is_some_and(|name| name.ends_with("sh")))
    });
    let fillers = ["filler", "rest"].map(|name| home.state().join(name));
    fill(&fillers[0]);
    std::fs::remove_file(home.state().join("ballast")).expect("the reserve");
    fill(&fillers[1]);
    home.write("go", "");
    running.wait_for_error("full");
    for filler in fillers {
        std::fs::remove_file(filler).expect("room again");
    }
    running.finish().expect_code(0);
    assert!(server.wait_for_request(2).last().contains("it ran to its end"));
    assert_eq!(home.read("effects"), "it ran to its end\n");
    home.assert_sound();
    stop_host(&home);
}

#[test]
fn a_full_disk_refuses_plainly_loses_nothing_and_works_again_when_there_is_room() {
    let server = ModelServer::start();
    server.otherwise(|request| Reply::say(&format!("answer to {}", request.user())));
    let home = Home::with_model(&server);
    let Some(_disk) = SmallDisk::mount(&home, "size=64m,mode=700") else { return };
    let task = home.exec(["the first"]).expect_code(0).task().to_owned();
    let filler = home.state().join("filler");
    fill(&filler);
    // What is kept in reserve lets some more be recorded; it does not last.
    let mut kept = 0;
    let refused = loop {
        let words = format!("message {kept} {}", "words ".repeat(150_000));
        let finished = process::run(home.command(["send", &task, "-"]), &words);
        if finished.status.code() != Some(0) {
            break finished;
        }
        kept += 1;
        assert!(kept < 40, "the disk never fills");
    };
    assert!(refused.stderr.contains("full"), "{}", refused.stderr);
    std::fs::remove_file(&filler).expect("room again");
    let exec = home.exec(["--task", &task, "the last"]).expect_code(0);
    assert_eq!(exec.text(), "answer to the last");
    let heard = server.requests().pop().expect("a request").heard();
    for number in 0..kept {
        let beginning = format!("message {number} words");
        assert_eq!(heard.iter().filter(|words| words.starts_with(&beginning)).count(), 1, "message {number} was kept");
    }
    home.assert_sound();
    stop_host(&home);
}

#[test]
fn a_disk_that_fills_while_a_model_works_is_said_at_once_everywhere_and_the_work_goes_on_when_there_is_room() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half an answer").hold(&latch).text(" and all").finish()]);
    let home = Home::with_model(&server);
    let Some(_disk) = SmallDisk::mount(&home, "size=48m,mode=700") else { return };
    let running = home.start(["exec", "work"]);
    latch.wait_reached();
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    let mut screen = home.terminal([task.as_str()], 120, 30);
    screen.wait_for("half an answer");
    let fillers = ["filler", "rest"].map(|name| home.state().join(name));
    fill(&fillers[0]);
    // Neither is there a reserve.
    std::fs::remove_file(home.state().join("ballast")).expect("the reserve");
    fill(&fillers[1]);
    let full = Instant::now();
    latch.release();
    running.wait_for_error("full");
    screen.wait_for("full");
    assert!(full.elapsed() < Duration::from_secs(20), "said after {:?}", full.elapsed());
    let refused = home.run(["new", "another"]).expect_code(1);
    assert!(refused.stderr.contains("full"), "{refused:?}");

    for filler in fillers {
        std::fs::remove_file(filler).expect("room again");
    }
    let finished = running.finish().expect_code(0);
    assert!(finished.stdout.contains("half an answer and all"), "{finished:?}");
    screen.wait_for("half an answer and all").wait_gone("full");
    assert_eq!(server.requests().len(), 1, "nothing was asked again");
    home.assert_sound();
    drop(screen);
    stop_host(&home);
}

#[test]
fn st_10_doctor_finds_what_is_broken_says_where_and_ends_with_1() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = used_home(&server);
    home.assert_sound();
    let connection = rusqlite::Connection::open(database(&home)).expect("the database");
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .and_then(|mut rows| rows.query_map([], |row| row.get(0))?.collect())
        .expect("the triggers");
    for trigger in tables {
        connection.execute_batch(&format!("DROP TRIGGER {trigger}")).expect("no guard");
    }
    connection.execute("UPDATE message SET state = 'queued' WHERE state = 'consumed'", []).expect("broken");
    drop(connection);
    let finished = home.run(["doctor"]).expect_code(1);
    assert!(finished.stdout.contains('F') && finished.stdout.contains("m_"), "{finished:?}");
}

#[test]
fn two_first_clients_share_one_host() {
    let server = ModelServer::start();
    server.otherwise(|_| Reply::say("hello"));
    let home = Home::with_model(&server);
    let all: Vec<Running> = (0..4).map(|_| home.start(["exec", "hello"])).collect();
    for running in all {
        running.finish().expect_code(0);
    }
    assert!(home.processes().iter().filter(|process| process.is_host()).count() <= 1);
    assert_eq!(home.json(["ls"]).len(), 4);
    home.assert_sound();
}

#[test]
fn a_host_leaves_when_nothing_needs_it() {
    let home = Home::new();
    home.exec(["what is here?"]).expect_code(0);
    eventually("the host leaves", || home.host().is_none());
}

#[test]
fn another_version_on_the_other_end_is_refused_in_words() {
    use std::io::{BufRead, BufReader, Write};
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().hold(&latch).text("hello").finish()]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "hello"]);
    latch.wait_reached();
    let socket = sockets_of(&home).pop().expect("a socket");
    let mut stream = std::os::unix::net::UnixStream::connect(socket).expect("the host listens");
    stream
        .write_all(b"{\"to_host\":\"hello\",\"protocol\":999,\"version\":\"9.9.9\",\"client\":\"n_1\"}\n")
        .expect("sent");
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).expect("an answer");
    assert!(answer.contains("refused") && answer.contains("999"), "{answer}");
    latch.release();
    running.finish().expect_code(0);
}

#[test]
fn the_program_says_its_version() {
    let finished = run(
        {
            let mut command = Command::new(COWORK);
            command.arg("--version");
            command
        },
        "",
    );
    assert_eq!(finished.expect_code(0).stdout.trim(), format!("cowork {}", env!("CARGO_PKG_VERSION")));
}
