//! A Task is complete when what was agreed holds, and not because a model says so.

use crate::support::calls::{call, write};
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::watch::eventually;

/// A Task with an objective, whose first turn is over.
fn begun_task(home: &Home) -> String {
    home.exec(["the work"]).expect_code(0).task().to_owned()
}

#[test]
fn tk_1_a_check_that_is_a_command_is_run_and_its_failure_sent_back() {
    let server = ModelServer::with([
        Reply::say("I begin"),
        Reply::say("I am done"),
        call(write("result.txt", "42\n")),
        Reply::say("now it is there"),
    ]);
    let home = Home::with_model(&server);
    let task = begun_task(&home);
    home.ok(["checks", &task, "add", "command", "test -s result.txt"]);
    let exec = home.exec(["--task", &task, "make result.txt"]).expect_code(0);
    assert_eq!(exec.result()["status"], "completed");
    let told = server.wait_for_request(3).last();
    assert!(told.contains("test -s result.txt"), "the model learns what failed: {told}");
    let detail = &home.json(["show", &task])[0];
    assert_eq!(detail["checks"][0]["state"], "passed");
    let verdicts = detail["verdicts"].as_array().expect("verdicts");
    let outcomes: Vec<&str> = verdicts.iter().filter_map(|verdict| verdict["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["failed", "passed"], "{detail:#}");
    home.assert_sound();
}

#[test]
fn tk_1_a_check_that_a_person_judges_keeps_the_task_open_until_they_do() {
    let server = ModelServer::with([Reply::say("I begin"), Reply::say("please look")]);
    let home = Home::with_model(&server);
    let task = begun_task(&home);
    home.ok(["checks", &task, "add", "person", "it reads well"]);
    let exec = home.exec(["--task", &task, "write it"]);
    assert_ne!(exec.result()["status"], "completed", "{exec:#?}");
    let check = home.json(["show", &task])[0]["checks"][0]["id"].as_str().expect("an id").to_owned();
    home.ok(["checks", &task, "judge", &check, "passed"]);
    eventually("the Task is complete", || home.json(["show", &task])[0]["status"] == "completed");
    home.assert_sound();
}

#[test]
fn tk_2_a_changed_objective_is_a_new_version_that_the_model_learns() {
    let server = ModelServer::with([Reply::say("one"), Reply::say("two")]);
    let home = Home::with_model(&server);
    let task = begun_task(&home);
    home.ok(["objective", &task, "the second aim"]);
    assert!(server.wait_for_request(2).body.to_string().contains("the second aim"));
    eventually("the Task is complete", || home.json(["show", &task])[0]["status"] == "completed");
    assert_eq!(home.json(["show", &task])[0]["objective"]["version"], 2);
}
