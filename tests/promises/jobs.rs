//! Jobs: they outlive everything of ours, and never is it said that one went well which nobody knows of.

use crate::support::calls::{Call, call};
use crate::support::crash::DoomedHost;
use crate::support::disk::{SmallDisk, fill};
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::process;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::watch::eventually;
use serde_json::{Value, json};

fn job(arguments: Value) -> Call {
    ("job", arguments)
}

/// Starts a line for the shell; gives its id.
#[track_caller]
fn start(home: &Home, line: &str) -> String {
    home.ok(["jobs", "start", "--", &format!("{line} ")]).trim().to_owned()
}

#[track_caller]
fn show(home: &Home, id: &str) -> Value {
    home.json(["jobs", "show", id]).remove(0)
}

/// Waits until a Job has ended; gives what is shown of it.
#[track_caller]
fn ended(home: &Home, id: &str) -> Value {
    let mut shown = Value::Null;
    eventually("the Job has ended", || {
        shown = show(home, id);
        shown["ended_at"].is_i64()
    });
    shown
}

fn pid(shown: &Value) -> u32 {
    shown["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()).unwrap_or_else(|| panic!("no pid: {shown}"))
}

fn file(home: &Home, id: &str, name: &str) -> Value {
    let path = home.state().join("jobs").join(id).join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn jb_1_a_job_goes_on_when_the_host_is_killed_and_its_true_end_is_found() {
    let home = Home::new();
    home.write("go", "");
    let id = start(&home, "while [ -e go ]; do sleep 0.05; done; echo done; exit 7");
    let before = show(&home, &id);
    assert_eq!(before["state"], "running");
    assert!(before["name"].as_str().is_some_and(|name| name.starts_with("while [ -e go ]") && name.ends_with('…')));
    home.kill_host();
    assert_eq!(show(&home, &id)["pid"], before["pid"], "another host finds the same process");
    home.kill_host();
    std::fs::remove_file(home.work().join("go")).expect("removed");
    process::wait_gone(pid(&before));
    let after = ended(&home, &id);
    assert_eq!(
        (&after["state"], &after["exit_code"], &after["last_line"]),
        (&json!("exited"), &json!(7), &json!("done"))
    );
    assert_eq!(home.ok(["jobs", "logs", &id]), "done\n");
    home.assert_sound();
}

#[test]
fn jb_7_how_a_job_ended_is_told_as_it_was_and_never_made_up() {
    let mut home = Home::new();
    home.expect_survivors();
    let plain = start(&home, "exit 7");
    assert_eq!(ended(&home, &plain)["exit_code"], 7);

    let killed = start(&home, "sleep 600");
    process::kill_and_wait(pid(&show(&home, &killed)));
    let shown = ended(&home, &killed);
    assert_eq!((&shown["state"], &shown["signal"]), (&json!("signaled"), &json!(9)));

    // Without its shim nobody can know how it ends.
    let alone = start(&home, "echo begun; sleep 600");
    eventually("it has begun", || home.ok(["jobs", "logs", &alone]) == "begun\n");
    let running = show(&home, &alone);
    let shim = file(&home, &alone, "started.json")["shim"]["pid"].as_u64().expect("a number") as u32;
    process::kill_and_wait(shim);
    eventually("its shim is missed", || {
        show(&home, &alone)["reason"].as_str().is_some_and(|why| why.contains("shim is gone")) || {
            // A terminal that is gone ends what reads it.
            show(&home, &alone)["ended_at"].is_i64()
        }
    });
    process::kill_and_wait(pid(&running));
    let shown = ended(&home, &alone);
    assert_eq!(shown["state"], "uncertain", "{shown}");
    assert!(shown["exit_code"].is_null() && shown["signal"].is_null(), "{shown}");
    assert_eq!(home.ok(["jobs", "logs", &alone]), "begun\n");

    let nowhere = home.run(["jobs", "start", "--", "/no/such/program"]).expect_code(1);
    assert!(nowhere.stderr.contains("No such file"), "{}", nowhere.stderr);
    home.assert_sound();
}

#[test]
fn jb_7_when_everything_of_ours_is_killed_the_truth_is_found_out_afterwards() {
    let mut home = Home::new();
    home.expect_survivors();
    let id = start(&home, "sleep 600");
    home.kill_everything();
    let shown = ended(&home, &id);
    assert!(shown["exit_code"].is_null() && shown["state"] == "uncertain", "{shown}");
    home.assert_sound();
}

#[test]
fn jb_5_a_job_is_sent_words_signalled_stopped_and_started_again() {
    let home = Home::new();
    let id = start(&home, "read line; echo got $line; trap 'echo usr1' USR1; while :; do sleep 0.05; done");
    home.ok(["jobs", "send", &id, "hello"]);
    eventually("it has read", || home.ok(["jobs", "logs", &id]).contains("got hello"));
    home.ok(["jobs", "signal", &id, "USR1"]);
    eventually("it has the signal", || home.ok(["jobs", "logs", &id]).contains("usr1"));
    let again = home.ok(["jobs", "restart", "--grace", "100ms", &id]).trim().to_owned();
    assert_ne!(again, id);
    assert_eq!(ended(&home, &id)["state"], "signaled");
    eventually("it runs again", || show(&home, &again)["state"] == "running");
    assert_eq!(show(&home, &again)["command"], show(&home, &id)["command"]);
    home.ok(["jobs", "stop", "--grace", "100ms", &again]);
    assert_eq!(show(&home, &again)["state"], "signaled");
    home.run(["jobs", "stop", &again]).expect_code(1);
    home.ok(["jobs", "rm", &id]);
    home.run(["jobs", "show", &id]).expect_code(1);
    eventually("its folder is gone", || !home.state().join("jobs").join(&id).exists());
    home.assert_sound();
}

#[test]
fn jb_3_a_log_holds_every_byte_and_is_read_by_tail_time_and_pattern() {
    let home = Home::new();
    let id = start(
        &home,
        r"printf '10%%\r50%%\r100%%\n\033[31mred\033[0m\n\033]0;owned\007x\n'; seq 1 500; printf '\377\376 end\n'",
    );
    ended(&home, &id);
    let raw = home.run(["jobs", "logs", "--raw", &id]).stdout;
    assert!(raw.contains("10%\r50%\r100%") && raw.contains("\u{1b}[31mred"), "the bytes are as they were");
    let shown = home.ok(["jobs", "logs", &id]);
    assert!(shown.starts_with("100%\nred\n") && !shown.contains('\u{1b}') && !shown.contains("owned"), "{shown:.80}");
    assert_eq!(home.ok(["jobs", "logs", "--tail", "3", &id]).lines().next(), Some("499"));
    assert_eq!(home.ok(["jobs", "logs", "--grep", "^49.$", &id]).lines().count(), 10);
    assert!(home.ok(["jobs", "logs", "--since", "1h", &id]).lines().count() >= 504);
    let line = home.json(["jobs", "logs", "--tail", "1", &id]).remove(0);
    assert!(line["at"].is_i64() && line["text"].as_str().is_some_and(|text| text.ends_with(" end")), "{line}");
}

#[test]
fn jb_3_a_log_is_followed_until_the_job_ends() {
    let home = Home::new();
    home.write("go", "");
    let id = start(&home, "echo first; while [ -e go ]; do sleep 0.05; done; echo last");
    let following = home.start(["jobs", "logs", "-f", &id]);
    following.wait_for("first");
    std::fs::remove_file(home.work().join("go")).expect("removed");
    assert_eq!(following.finish().expect_code(0).stdout, "first\nlast\n");
}

/// A model that starts a Job, gives its answer, and says what it is told.
fn starter(line: &str, more: Value) -> ModelServer {
    let server = ModelServer::start();
    let mut arguments = json!({"action": "start", "command": line, "name": "work"});
    if let (Value::Object(all), Value::Object(more)) = (&mut arguments, more) {
        all.extend(more);
    }
    server.otherwise(move |request| {
        let heard = request.heard().len();
        match (request.last_role(), heard) {
            ("user", 1) => call(job(arguments.clone())),
            ("tool", 1) => Reply::say("It runs."),
            _ => Reply::say(&format!("heard: {}", request.user())),
        }
    });
    server
}

#[test]
fn jb_8_the_end_of_a_job_wakes_an_idle_main_once_with_the_true_outcome() {
    let server = starter("sleep 0.3; echo bad; exit 3", json!({}));
    let home = Home::with_model(&server);
    let exec = home.exec(["do it"]).expect_code(0);
    assert!(exec.text().contains("exited 3") && exec.text().contains("bad"), "{}", exec.text());
    let told = exec.of("message").iter().filter(|line| line["about"] == "job").count();
    assert_eq!(told, 1, "{:#?}", exec.lines);
    assert!(exec.of("job").iter().any(|line| line["state"] == "exited" && line["exit_code"] == 3));
    home.assert_sound();
}

#[test]
fn exec_that_does_not_wait_ends_with_4_while_a_job_runs_and_the_host_stays_for_it() {
    let server = starter("while [ -e go ]; do sleep 0.05; done", json!({}));
    let home = Home::with_model(&server);
    home.write("go", "");
    let exec = home.exec(["--no-wait", "do it"]).expect_code(4);
    assert_eq!(exec.result()["status"], "parked");
    let shown = home.json(["show", exec.task()]).remove(0);
    assert_eq!(shown["waiting_for"][0]["kind"], "job", "{shown}");
    let status = home.json(["host", "status"]).remove(0);
    assert!(status["needs"].as_array().is_some_and(|needs| needs.iter().any(|need| need["kind"] == "job")), "{status}");
    std::fs::remove_file(home.work().join("go")).expect("removed");
    eventually("the Task is complete", || home.json(["show", exec.task()])[0]["status"] == "completed");
    assert!(server.requests().last().is_some_and(|request| request.user().contains("exited 0")));
    home.assert_sound();
}

#[test]
fn jb_8_what_a_job_is_watched_for_is_told_and_a_service_keeps_no_task_waiting() {
    let server = starter("sleep 0.2; echo ready on port 80; sleep 600", json!({"watch": "^ready", "service": true}));
    let mut home = Home::with_model(&server);
    home.expect_survivors();
    let exec = home.exec(["do it"]).expect_code(0);
    let told = || server.requests().iter().flat_map(Request::heard).any(|words| words.contains("ready on port 80"));
    eventually("Main was told", told);
    eventually("and the Task is complete", || home.json(["show", exec.task()])[0]["status"] == "completed");
    let id = home.json(["jobs", "ls"])[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["jobs", "stop", "--grace", "100ms", &id]);
    home.assert_sound();
}

#[test]
fn jb_8_a_crash_at_every_point_of_a_jobs_life_starts_it_once_and_tells_its_end_once() {
    for point in coworkos::crash::JOB_POINTS {
        eprintln!("{point}");
        let server = starter("echo x >> started; exit 7", json!({}));
        let mut home = Home::with_model(&server);
        home.expect_survivors();
        let host = DoomedHost::start(&home, point);
        let exec = home.exec(["do it"]).expect_code(0);
        assert!(host.died(&home), "the point {point} was never passed");
        let task = exec.task().to_owned();
        assert_eq!(home.read("started"), "x\n", "{point}: it was started once");
        let jobs = home.json(["jobs", "ls", "--all", "--task", &task]);
        assert_eq!((jobs.len(), &jobs[0]["exit_code"]), (1, &json!(7)), "{point}: {jobs:#?}");
        let told = home
            .events(&task)
            .iter()
            .filter(|event| event["event"]["type"] == "message_queued" && event["event"]["message"]["kind"] == "job")
            .count();
        assert_eq!(told, 1, "{point}");
        home.assert_sound();
    }
}

#[test]
fn pe_a_job_of_an_agent_is_asked_for_like_any_command_and_looking_is_free() {
    let server = starter("touch made", json!({}));
    let home = Home::with_model(&server);
    let exec = home.exec(["--approve", "ask", "do it"]).expect_code(3);
    let asked = exec.of("approval");
    assert_eq!((asked.len(), &asked[0]["action"]["subject"]), (1, &json!("touch made")), "{asked:#?}");
    assert!(!home.has("made") && home.json(["jobs", "ls", "--all"]).is_empty());
    home.ok(["approvals", "allow", asked[0]["id"].as_str().expect("an id")]);
    eventually("it ran", || home.has("made"));
    eventually("the Task is complete", || home.json(["show", exec.task()])[0]["status"] == "completed");
    home.assert_sound();
}

#[test]
fn the_guide_runs_something_in_the_background_and_tells_how_it_ended() {
    let home = Home::new();
    let exec = home
        .exec([
            "--approve",
            "full",
            "run `sleep 0.2; echo ERROR here; exit 4` in the background and tell me when it ends",
        ])
        .expect_code(0);
    assert!(exec.text().contains("exited 4") && exec.text().contains("ERROR here"), "{}", exec.text());
    let listed = home.exec(["--task", exec.task(), "show my jobs"]).expect_code(0);
    assert!(listed.text().contains("exited 4"), "{}", listed.text());
    let log = home.exec(["--task", exec.task(), "what does the job say"]).expect_code(0);
    assert!(log.text().contains("ERROR here"), "{}", log.text());
    home.assert_sound();
}

#[test]
fn jb_4_a_person_takes_over_a_full_screen_program_and_leaves_it_running() {
    let found = |name: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    if !found("less") {
        eprintln!("LEFT OUT: less is not installed");
        return;
    }
    let home = Home::new();
    let lines: String = (1..=200).map(|number| format!("line {number}\n")).collect();
    home.write("long.txt", lines);
    let id = start(&home, "less long.txt");
    let mut terminal = home.terminal(["jobs", "attach", &id], 80, 24);
    terminal.wait_for("line 1").wait_for("leaves, the Job goes on");
    terminal.wait("it has all but one line, and says its file there", |screen| {
        crate::support::terminal::rows(screen).get(22).is_some_and(|row| row.contains("long.txt"))
    });
    terminal.send(b"G").wait_for("line 200");
    // The host is not needed for this.
    home.kill_host();
    terminal.send(b"g").wait("it is at its beginning", |screen| {
        crate::support::terminal::rows(screen).first().is_some_and(|row| row.trim_end() == "line 1")
    });
    terminal.resize(60, 20).wait_for("leaves, the Job goes on").wait("the program has the new size", |screen| {
        crate::support::terminal::rows(screen).get(17).is_some_and(|row| row.starts_with("line 18"))
    });
    terminal.send(b"\x1d");
    terminal.wait_exit();
    assert!(!terminal.is_raw());
    terminal.wait_for("it goes on");
    assert_eq!(show(&home, &id)["state"], "running");
    let mut second = home.terminal(["jobs", "attach", &id], 80, 24);
    second.wait_for("line 1").send(b"q");
    second.wait_for("has ended: exited 0");
    let shown = ended(&home, &id);
    assert_eq!(shown["exit_code"], 0, "{shown}");
    assert!(shown["reason"].as_str().is_some_and(|why| why.contains("a person typed")), "{shown}");
}

#[test]
fn jb_1_a_terminal_that_is_killed_while_it_is_attached_leaves_the_job_and_its_screen() {
    let home = Home::new();
    let id = start(&home, "echo hello; read line; echo got $line; exit 5");
    let mut terminal = home.terminal(["jobs", "attach", &id], 80, 24);
    terminal.wait_for("hello");
    terminal.kill();
    terminal.wait_exit();
    assert_eq!(show(&home, &id)["state"], "running");
    let mut second = home.terminal(["jobs", "attach", &id], 80, 24);
    second.wait_for("hello").send(b"again\r").wait_for("has ended: exited 5");
    assert_eq!(ended(&home, &id)["last_line"], "got again");
}

#[test]
fn jb_3_a_disk_that_fills_leaves_a_gap_that_is_said_and_the_true_end() {
    let home = Home::new();
    let Some(_disk) = SmallDisk::mount(&home, "size=48m,mode=700") else { return };
    let wait = |name: &str| format!("until [ -e {name} ]; do sleep 0.05; done");
    let script =
        format!("echo before; {}; seq 1 50000; touch printed; {}; echo after; exit 7", wait("full"), wait("room"));
    let id = start(&home, &script);
    eventually("it has begun", || home.ok(["jobs", "logs", &id]) == "before\n");
    let filler = home.state().join("filler");
    fill(&filler);
    home.write("full", "");
    eventually("it has printed all the same", || home.has("printed"));
    std::fs::remove_file(&filler).expect("room again");
    home.write("room", "");
    let shown = ended(&home, &id);
    assert_eq!((&shown["exit_code"], &shown["last_line"]), (&json!(7), &json!("after")), "{shown}");
    assert!(shown["reason"].as_str().is_some_and(|why| why.contains("could not be kept")), "{shown}");
    let log = home.ok(["jobs", "logs", &id]);
    assert!(
        log.starts_with("before\n") && log.contains("could not be written") && log.ends_with("after\n"),
        "{log:.300}"
    );
    home.run(["host", "stop"]);
}

#[test]
fn ui_5_the_pane_of_jobs_lists_reads_finds_takes_over_and_ends() {
    let home = Home::new();
    let line = "echo first words; while :; do echo tick; sleep 0.1; done";
    let id = home.ok(["jobs", "start", "--name", "ticker", "--", line]).trim().to_owned();
    let mut screen = home.terminal::<&str>([], 120, 36);
    screen.wait_for("ticker").send(b"\x1b4").wait_for("tick");
    screen.send(b"\r").wait_for("follows");
    screen.send(b"/").wait_for("regular expression").type_words("^first").send(b"\r").wait_for("1 line with ^first");
    screen.wait_for("first words").wait_gone("tick\n");
    screen.send(b"\x1b").wait_for("follows");
    screen.send(b"a").wait_for("leaves, the Job goes on");
    screen.send(b"\x1d").wait_for("follows");
    screen.send(b"q").wait_gone("follows");
    screen.send(b"s").wait_for("the same key again").send(b"s");
    assert_eq!(ended(&home, &id)["state"], "signaled");
    screen.wait_for("No Job runs");
    screen.send(b"e").wait_for("signaled 15");
    home.assert_sound();
}

#[test]
fn ui_5_a_command_typed_behind_an_ampersand_becomes_a_job_and_the_status_line_counts_it() {
    let home = Home::new();
    let mut screen = home.terminal::<&str>([], 120, 36);
    screen.wait_for("new Task").type_words("!&echo from the screen; sleep 600").send(b"\r");
    screen.wait_for("from the screen").wait_for("1 Job");
    let id = home.json(["jobs", "ls"])[0]["id"].as_str().expect("an id").to_owned();
    assert_eq!(show(&home, &id)["started_by"]["kind"], "person");
    home.ok(["jobs", "stop", "--grace", "100ms", &id]);
    screen.wait_gone("1 Job");
    home.assert_sound();
}

#[test]
fn a_job_that_is_silent_for_too_long_is_told_and_ended_as_was_declared() {
    let home = Home::new();
    let line = "echo hello; sleep 600";
    let started = home.ok(["jobs", "start", "--silence", "300ms", "--then", "stop", "--", line]);
    let shown = ended(&home, started.trim());
    assert_eq!((&shown["state"], &shown["breached"]), (&json!("signaled"), &json!(["silence"])), "{shown}");
    home.assert_sound();
}

#[test]
fn jb_3_how_much_is_kept_of_jobs_and_how_long_is_configured() {
    let home = Home::new();
    home.configure("[jobs]\nlog_megabytes = 1\nkeep_days = 2\n");
    let id = start(&home, "yes | head -c 5000000");
    ended(&home, &id);
    assert_eq!(file(&home, &id, "spec.json")["log"]["keep_bytes"], 1_000_000);
    let (day, now) = (86_400_000_i64, std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH));
    let now = i64::try_from(now.expect("after 1970").as_millis()).expect("a time");
    let ended_at = |at: i64| {
        home.run(["host", "stop"]);
        eventually("the host is gone", || home.host().is_none());
        let database = rusqlite::Connection::open(home.state().join("cowork.db")).expect("the database");
        database.execute("UPDATE job SET ended_at = ?1", [at]).expect("as if it were later");
    };
    ended_at(now - day);
    assert_eq!(home.json(["jobs", "ls", "--all"]).len(), 1, "it is kept for two days");
    ended_at(now - 3 * day);
    eventually("and then taken away", || home.json(["jobs", "ls", "--all"]).is_empty());
    eventually("with its log", || !home.state().join("jobs").join(&id).exists());
    home.assert_sound();
}

#[test]
fn jb_4_the_key_that_leaves_is_configured_and_said() {
    let home = Home::new();
    home.configure("[jobs]\ndetach = \"ctrl-a\"\n");
    let id = start(&home, "echo up; sleep 600");
    let mut terminal = home.terminal(["jobs", "attach", &id], 80, 24);
    terminal.wait_for("ctrl-a leaves, the Job goes on").send(b"\x01").wait_exit();
    assert_eq!(show(&home, &id)["state"], "running");
    home.ok(["jobs", "stop", "--grace", "100ms", &id]);
    home.assert_sound();
}

#[test]
fn jb_6_an_agent_states_what_is_normal_and_is_told_when_it_is_not() {
    let server = starter("echo hello; sleep 600", json!({"silence": 1, "then": "stop"}));
    let home = Home::with_model(&server);
    let exec = home.exec(["do it"]).expect_code(0);
    assert!(exec.text().contains("heard: "), "{}", exec.text());
    let shown = home.json(["jobs", "ls", "--all"]).remove(0);
    assert_eq!(shown["state"], "signaled", "{shown}");
    // The breach and the end that it brought may come to Main in one turn.
    let told = server.requests().iter().flat_map(Request::heard).any(|words| words.contains("not as it should be"));
    assert!(told, "the breach was a message");
    home.assert_sound();
}
