//! Ten Subagents, and a host that dies in the midst of their work: every result comes once, and
//! nothing that was answered is asked again.
//!
//! `COWORK_ROUNDS` makes it more rounds at random points than those of a usual run.

use crate::support::calls::{Call, call, calls, shell};
use crate::support::crash::{Chance, DoomedHost};
use crate::support::home::{Exec, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::watch::eventually;
use serde_json::json;
use std::collections::BTreeMap;

const SUBAGENTS: usize = 10;

fn delegate(name: &str, wait: bool) -> Call {
    let objective = format!("do {name}");
    ("delegate", json!({"name": name, "objective": objective, "writes": ["."], "wait": wait}))
}

/// The name of the Subagent that asks; nothing where Main does.
fn subagent(request: &Request) -> Option<String> {
    let heard = request.heard().join("\n");
    let (_, rest) = heard.split_once("Your assignment (")?;
    rest.split(')').next().filter(|_| request.system().contains("You are a Subagent")).map(str::to_owned)
}

/// Main gives ten parts away, half of them to be waited for; each leaves one trace and reports.
fn ten(request: &Request) -> Reply {
    match subagent(request) {
        Some(name) if request.said_by("tool").is_empty() => call(shell(&format!("echo {name} >> effects"))),
        Some(name) => call(("report", json!({"outcome": "completed", "done": format!("{name} is done")}))),
        None if request.said_by("tool").is_empty() => {
            calls((0..SUBAGENTS).map(|n| delegate(&format!("part{n}"), n % 2 == 0)))
        }
        None => Reply::say("Noted."),
    }
}

/// Each part came once, left its trace once at the most, and was asked nothing that it had answered.
fn assert_each_once(home: &Home, server: &ModelServer, task: &str, at: &str) {
    let mut all = home.json(["agents", "ls", "--task", task]);
    all.retain(|agent| agent["role"] == "subagent");
    assert_eq!(all.len(), SUBAGENTS, "{at}: {all:#?}");
    for one in &all {
        assert_eq!((&one["state"], &one["contribution"]["state"]), (&json!("retired"), &json!("accepted")), "{at}");
    }
    let mut traces: Vec<String> = home.read("effects").lines().map(str::to_owned).collect();
    traces.sort();
    let left = traces.len();
    traces.dedup();
    assert_eq!(traces.len(), left, "{at}: an effect happened twice");
    let mut furthest: BTreeMap<String, usize> = BTreeMap::new();
    for request in server.requests().iter() {
        let (who, results) = (subagent(request).unwrap_or_default(), request.said_by("tool").len());
        let before = furthest.entry(who.clone()).or_default();
        assert!(results >= *before, "{at}: `{who}` was asked again what it had answered");
        *before = results;
    }
    home.assert_sound();
}

/// One Task with a host that dies when it passes a point, if it does so often enough.
fn round(at: &str) {
    eprintln!("{at}");
    let server = ModelServer::start();
    server.otherwise(ten);
    let mut home = Home::with_model(&server);
    home.expect_survivors();
    home.write("effects", "");
    let host = DoomedHost::start(&home, at);
    let exec = home.exec(["go"]).expect_code(0);
    host.died(&home);
    assert_each_once(&home, &server, exec.task(), at);
}

/// The points that this work passes: no file is written by a tool.
fn points() -> Vec<&'static str> {
    let all = coworkos::crash::POINTS.iter().chain(coworkos::crash::CALL_POINTS);
    all.copied().filter(|point| !point.starts_with("tools.")).collect()
}

#[test]
fn a_host_that_dies_at_random_points_of_the_work_of_ten_subagents_loses_and_doubles_nothing() {
    let mut chance = Chance::new("ten Subagents");
    let rounds = std::env::var("COWORK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(12);
    let points = points();
    for _ in 0..rounds {
        let point = points[chance.below(points.len() as u64) as usize];
        let most = if point.starts_with("store.") { 120 } else { 12 };
        round(&format!("{point}:{}", 1 + chance.below(most)));
    }
}

#[test]
fn results_that_come_while_main_is_being_killed_and_several_at_once_reach_it_once_each() {
    let latch = Latch::new();
    let held = latch.clone();
    let server = ModelServer::start();
    server.otherwise(move |request| match subagent(request) {
        Some(name) => Reply::stream().hold(&held).text(&format!("{name} found it")).finish(),
        None if request.said_by("tool").is_empty() => calls((0..6).map(|n| delegate(&format!("part{n}"), n == 0))),
        None => Reply::say("Noted."),
    });
    let home = Home::with_model(&server);
    home.configure("[limits]\nsubagents = 6\n");
    let running = home.start(["--json", "exec", "go"]);
    let asked = || server.requests().iter().filter(|request| subagent(request).is_some()).count();
    eventually("all six are asked", || asked() == 6);
    // All answer at the same moment, and the host dies among their results.
    latch.release();
    home.kill_host();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "Noted.");
    let requests = server.requests();
    let last = requests.iter().rev().find(|request| subagent(request).is_none()).expect("Main was asked");
    let told = [last.heard(), last.said_by("tool")].concat().join("\n");
    for n in 0..6 {
        let words = format!("completed: part{n} found it");
        assert_eq!(told.matches(&words).count(), 1, "{words}: {told}");
    }
    home.assert_sound();
}
