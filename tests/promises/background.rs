//! What a call runs outlives the host that waits for it, and can go on in the background as it is.

use crate::support::crash::DoomedHost;
use crate::support::home::{Exec, Home};
use crate::support::model_server::ModelServer;
use crate::support::process;
use crate::support::reply::Reply;
use crate::support::watch::eventually;
use serde_json::{Value, json};

/// A command that shows that it began, waits for the file `go`, and ends in a way of its own.
const WAITS: &str =
    "echo once >> effects; echo $$ > pid; echo begun; while [ ! -e go ]; do sleep 0.05; done; echo through; exit 3";

/// A model that has something run, and then tells what it heard of it and of its end.
fn runs(arguments: Value) -> ModelServer {
    let server = ModelServer::start();
    server.otherwise(move |request| match (request.last_role(), request.heard().len()) {
        ("user", 1) => Reply::call("shell", arguments.clone()),
        ("tool", _) => Reply::say(&format!("it said: {}", request.last())),
        _ => Reply::say(&format!("heard: {}", request.user())),
    });
    server
}

fn began(home: &Home) -> u32 {
    eventually("the command runs", || home.has("pid") && home.read("pid").ends_with('\n'));
    home.read("pid").trim().parse().expect("a number")
}

fn task(home: &Home) -> String {
    home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned()
}

fn folders(home: &Home) -> Vec<String> {
    let found = std::fs::read_dir(home.state().join("jobs")).into_iter().flatten();
    found.map(|entry| entry.expect("read").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn st_2_a_command_in_flight_outlives_its_host_and_its_real_result_is_recorded() {
    let server = runs(json!({"command": WAITS}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    home.kill_host();
    eventually("another host is there", || home.host().is_some());
    assert!(process::processes_of(home.root()).iter().any(|process| process.pid == pid), "the same process");
    home.kill_host();
    home.write("go", "");
    let exec = Exec::new(running.finish()).expect_code(0);
    let said = exec.text();
    assert!(said.contains("exited 3") && said.contains("begun\nthrough"), "{said}");
    assert_eq!(home.read("effects"), "once\n");
    eventually("nothing is left of it", || folders(&home).is_empty());
    home.assert_sound();
}

#[test]
fn st_2_a_host_that_is_stopped_leaves_a_command_to_the_next() {
    let server = runs(json!({"command": WAITS}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    home.run(["host", "stop"]);
    eventually("another host is there", || home.host().is_some());
    assert!(process::processes_of(home.root()).iter().any(|process| process.pid == pid), "the same process");
    home.write("go", "");
    let exec = Exec::new(running.finish()).expect_code(0);
    assert!(exec.text().contains("exited 3"), "{}", exec.text());
    assert_eq!(home.read("effects"), "once\n");
    home.assert_sound();
}

#[test]
fn st_2_a_crash_at_every_point_of_what_a_call_runs_runs_it_once_and_leaves_nothing() {
    for point in coworkos::crash::CALL_POINTS.iter().chain(&["loop.tool_done", "loop.tool_settled"]) {
        eprintln!("{point}");
        let server = runs(json!({"command": "echo once >> effects; echo printed; exit 4"}));
        let mut home = Home::with_model(&server);
        home.expect_survivors();
        let host = DoomedHost::start(&home, point);
        let exec = home.exec(["do it"]).expect_code(0);
        assert!(host.died(&home), "the point {point} was never passed");
        let said = exec.text();
        let is_known = said.contains("exited 4") && said.contains("printed");
        let never_began = *point == "calls.before_start" && said.contains("may have happened") && !home.has("effects");
        assert!(is_known || never_began, "{point}: {said}");
        assert!(never_began || home.read("effects") == "once\n", "{point}");
        eventually("nothing is left of it", || folders(&home).is_empty());
        home.assert_sound();
    }
}

#[test]
fn st_2_a_command_whose_shim_is_killed_too_is_ended_and_reported() {
    let server = runs(json!({"command": WAITS}));
    let mut home = Home::with_model(&server);
    home.expect_survivors();
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    let started = home.state().join("jobs").join(&folders(&home)[0]).join("started.json");
    let started: Value = serde_json::from_slice(&std::fs::read(started).expect("read")).expect("JSON");
    process::kill_and_wait(started["shim"]["pid"].as_u64().expect("a number") as u32);
    let exec = Exec::new(running.finish()).expect_code(0);
    assert!(exec.text().contains("may have happened") && exec.text().contains("begun"), "{}", exec.text());
    process::wait_gone(pid);
    assert_eq!(home.read("effects"), "once\n");
    home.assert_sound();
}

#[test]
fn ag_7_a_command_whose_task_is_cancelled_after_its_host_died_is_ended() {
    let server = runs(json!({"command": WAITS}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    let task = task(&home);
    running.kill();
    home.kill_host();
    home.ok(["cancel", &task]);
    process::wait_gone(pid);
    eventually("nothing is left of it", || folders(&home).is_empty());
    home.assert_sound();
}

#[test]
fn what_belongs_to_no_call_and_no_job_is_ended_when_a_host_begins() {
    let server = runs(json!({"command": WAITS}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    running.kill();
    home.kill_host();
    // As if what was kept of the conversation came from a backup.
    for file in ["cowork.db", "cowork.db-wal", "cowork.db-shm"] {
        let _ = std::fs::remove_file(home.state().join(file));
    }
    home.ok(["new", "another"]);
    process::wait_gone(pid);
    eventually("nothing is left of it", || folders(&home).is_empty());
}

#[test]
fn a_person_lets_what_runs_go_on_in_the_background_and_its_end_is_told() {
    let server = runs(json!({"command": WAITS}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    let task = task(&home);
    let id = home.ok(["jobs", "background", &task]).trim().to_owned();
    eventually("the call has returned", || server.requests().len() >= 2);
    let told = server.wait_for_request(2).last();
    assert!(told.contains("goes on in the background as Job ") && told.contains(&id), "{told}");
    assert!(told.contains("Its output so far:\nbegun"), "{told}");
    let shown = home.json(["jobs", "show", &id]).remove(0);
    assert_eq!((shown["state"].as_str(), shown["pid"].as_u64()), (Some("running"), Some(pid.into())), "{shown}");
    let refused = home.run(["jobs", "background", &task]).expect_code(1);
    assert!(refused.stderr.contains("runs no command"), "{refused:?}");
    home.kill_host();
    home.write("go", "");
    let exec = Exec::new(running.finish()).expect_code(0);
    assert!(exec.text().contains("heard: ") && exec.text().contains("exited 3"), "{}", exec.text());
    assert_eq!(home.ok(["jobs", "logs", &id]), "begun\nthrough\n");
    assert_eq!(home.read("effects"), "once\n");
    home.assert_sound();
}

#[test]
fn a_call_goes_on_in_the_background_by_itself_when_the_model_said_so() {
    let server = runs(json!({"command": WAITS, "background": 1}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    let pid = began(&home);
    let told = server.wait_for_request(2).last();
    assert!(told.contains("goes on in the background as Job j_"), "{told}");
    assert!(process::processes_of(home.root()).iter().any(|process| process.pid == pid), "the same process");
    home.write("go", "");
    let exec = Exec::new(running.finish()).expect_code(0);
    assert!(exec.text().contains("exited 3"), "{}", exec.text());
    home.assert_sound();
}

#[test]
fn a_crash_at_every_point_of_becoming_a_job_loses_neither_the_command_nor_its_end() {
    for point in coworkos::crash::KEEP_POINTS {
        eprintln!("{point}");
        let server = runs(json!({"command": WAITS, "background": 1}));
        let mut home = Home::with_model(&server);
        home.expect_survivors();
        let host = DoomedHost::start(&home, point);
        let running = home.start(["exec", "--json", "do it"]);
        began(&home);
        eventually("it goes on in the background", || !home.json(["jobs", "ls"]).is_empty());
        home.write("go", "");
        let exec = Exec::new(running.finish()).expect_code(0);
        assert!(host.died(&home), "the point {point} was never passed");
        let jobs = home.json(["jobs", "ls", "--all"]);
        assert_eq!((jobs.len(), &jobs[0]["exit_code"]), (1, &json!(3)), "{point}: {jobs:#?}");
        assert!(exec.text().contains("exited 3"), "{point}: {}", exec.text());
        assert_eq!(home.read("effects"), "once\n", "{point}");
        home.assert_sound();
    }
}

#[test]
fn a_key_lets_what_runs_go_on_in_the_background() {
    let server = runs(json!({"command": WAITS}));
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    began(&home);
    let mut screen = home.terminal([task(&home)], 120, 36);
    screen.wait_for("begun").send(b"\x1bg").wait_for("1 Job");
    eventually("the call has returned", || server.requests().len() >= 2);
    home.write("go", "");
    screen.wait_for("exited 3");
    Exec::new(running.finish()).expect_code(0);
    home.assert_sound();
}
