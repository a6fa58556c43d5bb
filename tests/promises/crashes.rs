//! `kill -9` of anything at any moment loses nothing that was acknowledged and does nothing twice.

use crate::support::calls::{calls, read, shell, write};
use crate::support::crash::{Chance, DoomedHost};
use crate::support::home::{Exec, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::process;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::watch::eventually;
use std::collections::BTreeMap;
use std::time::Duration;

fn status(home: &Home, task: &str) -> String {
    home.json(["show", task])[0]["status"].as_str().unwrap_or_default().to_owned()
}

fn only_task(home: &Home) -> String {
    home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned()
}

#[test]
fn st_2_a_host_killed_in_the_middle_of_a_stream_asks_again_and_exec_goes_on() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().text("lost tail").hold(&latch).finish(), Reply::say("the whole answer")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "tell me"]);
    latch.wait_reached();
    home.kill_host();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "the whole answer");
    assert_eq!(server.wait_for_request(2).messages(), server.wait_for_request(1).messages());
    home.assert_sound();
}

#[test]
fn st_2_everything_killed_goes_on_when_anything_is_started() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half").hold(&latch).finish(), Reply::say("done")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "work"]);
    latch.wait_reached();
    let task = only_task(&home);
    home.kill_everything();
    drop(running);
    assert_eq!(home.processes(), []);
    home.ok(["ls"]);
    eventually("the Task is complete", || status(&home, &task) == "completed");
    assert_eq!(server.requests().len(), 2);
    home.assert_sound();
}

#[test]
fn st_2_the_client_killed_leaves_the_work_going_on() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half").hold(&latch).text(" and half").finish()]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "work"]);
    latch.wait_reached();
    let task = only_task(&home);
    running.kill();
    latch.release();
    eventually("the Task is complete", || status(&home, &task) == "completed");
    assert_eq!(server.requests().len(), 1);
    home.assert_sound();
}

#[test]
fn a_host_that_is_told_to_stop_loses_nothing_and_the_next_one_goes_on() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("half").hold(&latch).finish(), Reply::say("done")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "work"]);
    latch.wait_reached();
    home.ok(["host", "stop"]);
    assert_eq!(Exec::new(running.finish()).expect_code(0).text(), "done");
    home.assert_sound();
}

/// A model that works whatever it is told when: tools for a person's words, an answer for their results.
fn worker(request: &Request) -> Reply {
    let newest = request.user();
    if request.last_role() == "tool" {
        return Reply::say(&format!("answer to {newest}"));
    }
    calls([
        read("given.txt"),
        write(&format!("out {newest}.txt"), &newest),
        shell(&format!("echo '{newest}' >> effects")),
    ])
}

/// What must hold in a home whose worker was told `messages`, those with `true` for certain.
fn assert_nothing_lost_or_doubled(home: &Home, server: &ModelServer, task: &str, messages: &BTreeMap<String, bool>) {
    home.assert_sound();
    home.exec(["--task", task, "the last words"]).expect_code(0);
    let request = server.requests().pop().expect("a request");
    let count = |words: &[String], wanted: &str| words.iter().filter(|word| *word == wanted).count();
    let (users, answers) = (request.heard(), request.said_by("assistant"));
    let effects = std::fs::read_to_string(home.work().join("effects")).unwrap_or_default();
    let effects: Vec<String> = effects.lines().map(str::to_owned).collect();
    for (message, is_certain) in messages {
        let heard = count(&users, message);
        assert!(heard <= 1, "`{message}` was delivered {heard} times");
        assert!(heard == 1 || !is_certain, "`{message}` was acknowledged and lost; the model heard {users:#?}");
        let answered = count(&answers, &format!("answer to {message}"));
        assert!(answered <= 1, "`{message}` was answered {answered} times");
        let done = count(&effects, message);
        assert!(done <= 1, "the effect of `{message}` happened {done} times");
    }
}

#[test]
fn st_2_a_crash_at_every_point_of_the_write_path_and_the_loop_loses_nothing() {
    for point in coworkos::crash::POINTS {
        // The write path is passed many times: each of the first ones counts.
        let passings = if point.starts_with("store.") { 12 } else { 2 };
        for passing in 1..=passings {
            let at = format!("{point}:{passing}");
            eprintln!("{at}");
            let server = ModelServer::start();
            server.otherwise(worker);
            let mut home = Home::with_model(&server);
            home.expect_survivors();
            home.write("given.txt", "given");
            let host = DoomedHost::start(&home, &at);
            let exec = home.exec(["work"]).expect_code(0);
            assert_eq!(exec.text(), "answer to work", "{at}");
            let died = host.died(&home);
            assert!(died || passing > 1, "the point {at} was never passed");
            assert_eq!(home.read("out work.txt"), "work", "{at}");
            let told =
                server.requests().iter().flat_map(|request| request.said_by("tool")).collect::<Vec<_>>().join("\n");
            assert!(
                home.has("effects") || told.contains("may have happened"),
                "{at}: an effect is missing and nobody said so"
            );
            assert_nothing_lost_or_doubled(&home, &server, exec.task(), &BTreeMap::from([("work".to_owned(), true)]));
            if !died {
                break;
            }
        }
    }
}

/// Sends one message after the other while host, client or both are killed at random moments.
fn rounds_of_kills(name: &str, rounds: u32) {
    let mut chance = Chance::new(name);
    let server = ModelServer::start();
    server.otherwise(worker);
    let mut home = Home::with_model(&server);
    home.expect_survivors();
    home.write("given.txt", "given");
    let task = home.exec(["begin"]).expect_code(0).task().to_owned();
    let mut messages = BTreeMap::from([("begin".to_owned(), true)]);
    for round in 0..rounds {
        let message = format!("message {round}");
        let running = home.start(["exec", "--json", "--task", &task, &message]);
        // The moment is what is random here; nothing waits for anything.
        std::thread::park_timeout(Duration::from_millis(chance.below(300)));
        let kills_client = chance.below(3) == 0;
        let kills_host = !kills_client || chance.below(2) == 0;
        if kills_host && let Some(host) = home.host() {
            process::kill_and_wait(host.pid);
        }
        if kills_client {
            running.kill();
            messages.insert(message, false);
        } else {
            let exec = Exec::new(running.finish());
            assert_eq!(exec.code, 0, "round {round}: {exec:#?}");
            messages.insert(message, true);
        }
        if round % 10 == 9 {
            home.assert_sound();
        }
    }
    assert_nothing_lost_or_doubled(&home, &server, &task, &messages);
}

#[test]
fn st_2_the_first_fifty_rounds_of_kill_9_at_random_moments_lose_and_double_nothing() {
    rounds_of_kills("first rounds", 50);
}

#[test]
fn st_2_the_second_fifty_rounds_of_kill_9_at_random_moments_lose_and_double_nothing() {
    rounds_of_kills("second rounds", 50);
}

#[test]
fn st_2_the_third_fifty_rounds_of_kill_9_at_random_moments_lose_and_double_nothing() {
    rounds_of_kills("third rounds", 50);
}

#[test]
fn st_2_the_last_fifty_rounds_of_kill_9_at_random_moments_lose_and_double_nothing() {
    rounds_of_kills("last rounds", 50);
}
