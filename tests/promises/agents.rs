//! Main, the Coordinator and its Subagents: what is given away comes back exactly once, whatever dies.

use crate::support::calls::{Call, call, calls, read, shell, write};
use crate::support::home::{Exec, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::watch::eventually;
use serde_json::{Value, json};

fn delegate(name: &str, more: Value) -> Call {
    let mut arguments = json!({"name": name, "objective": format!("do {name}")});
    if let (Some(all), Some(more)) = (arguments.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    ("delegate", arguments)
}

fn team(action: &str, more: Value) -> Call {
    let mut arguments = json!({"action": action});
    if let (Some(all), Some(more)) = (arguments.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    ("team", arguments)
}

fn report(done: &str) -> Reply {
    call(("report", json!({"outcome": "completed", "done": done, "uncertain": "the margin", "refs": ["a.txt"]})))
}

fn is_subagent(request: &Request) -> bool {
    request.system().contains("You are a Subagent")
}

/// Whether it is the Subagent of that name.
fn is(request: &Request, name: &str) -> bool {
    is_subagent(request) && request.heard().join("\n").contains(&format!("Your assignment ({name})"))
}

/// What Main says next is made from the request, and so is what each Subagent says.
fn play(
    main: impl Fn(&Request) -> Reply + Send + 'static,
    subagent: impl Fn(&Request) -> Reply + Send + 'static,
) -> ModelServer {
    let server = ModelServer::start();
    server.otherwise(move |request| if is_subagent(request) { subagent(request) } else { main(request) });
    server
}

/// All that was given away in a Task, as `agents ls` tells it.
fn subagents(home: &Home, task: &str) -> Vec<Value> {
    let mut all = home.json(["agents", "ls", "--task", task]);
    all.retain(|agent| agent["role"] == "subagent");
    all
}

#[test]
fn ag_3_a_sync_delegation_returns_its_contribution_as_the_result_and_several_run_side_by_side() {
    let (first, second) = (Latch::new(), Latch::new());
    let held = (first.clone(), second.clone());
    let server = play(
        |request| match request.last_role() {
            "user" => calls([delegate("one", json!({"wait": true})), delegate("two", json!({"wait": true}))]),
            _ => Reply::say("Both are done."),
        },
        move |request| {
            let latch = if is(request, "one") { &held.0 } else { &held.1 };
            Reply::stream()
                .hold(latch)
                .tool(
                    "report",
                    json!({"outcome": "completed", "done": "42 apples", "uncertain": "the pears", "refs": ["a.txt"]}),
                )
                .finish()
        },
    );
    let home = Home::with_model(&server);
    let running = home.start(["--json", "exec", "count the fruit"]);
    first.wait_reached();
    second.wait_reached();
    second.release();
    first.release();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "Both are done.");
    let mut results = exec.tool_texts();
    results.sort();
    assert_eq!(results.len(), 2, "{results:?}");
    for (result, name) in results.iter().zip(["one (a_", "two (a_"]) {
        assert!(result.starts_with(name) && result.contains("completed: 42 apples"), "{result}");
        assert!(result.contains("Uncertain: the pears") && result.contains("References: a.txt"), "{result}");
    }
    let told = subagents(&home, exec.task());
    assert_eq!(told.len(), 2);
    assert!(told.iter().all(|one| one["state"] == "retired" && one["contribution"]["state"] == "accepted"), "{told:?}");
    let before = server.requests().iter().filter(|request| is_subagent(request)).cloned().collect::<Vec<_>>();
    for request in &before {
        assert!(
            !request.heard().join(" ").contains("count the fruit"),
            "a Subagent sees what it was given and no more"
        );
        assert!(request.tools().contains(&"report") && !request.tools().contains(&"delegate"), "{:?}", request.tools());
    }
    home.assert_sound();
}

#[test]
fn ag_3_an_async_delegation_is_acknowledged_at_once_and_its_result_wakes_main() {
    let latch = Latch::new();
    let held = latch.clone();
    let server = play(
        |request| match request.last_role() {
            "user" if request.last().contains("[contribution from agent]") => Reply::say("It found 42."),
            "user" => call(delegate("counting", json!({}))),
            _ => Reply::say("It is being counted."),
        },
        move |_| Reply::stream().hold(&held).text("There are 42.").finish(),
    );
    let home = Home::with_model(&server);
    let running = home.start(["--json", "exec", "count"]);
    running.wait_for("It is being counted.");
    latch.wait_reached();
    latch.release();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "It found 42.", "what it said last is its report");
    assert!(exec.tool_texts()[0].starts_with("Given to counting (a_"), "{:?}", exec.tool_texts());
    assert_eq!(exec.of("contribution").len(), 1);
    home.assert_sound();
}

#[test]
fn in_4_a_decision_is_answered_by_main_and_a_waiting_main_is_released_for_it() {
    let server = play(
        |request| {
            let last = request.last();
            match request.last_role() {
                "user" if last.contains("[decision_request from agent]") => {
                    call(team("answer", json!({"ids": ["paint"], "text": "green"})))
                }
                "user" if last.contains("[contribution from agent]") => Reply::say("It is green."),
                "user" => call(delegate("paint", json!({"wait": true}))),
                _ if last.contains("Answered d_") => call(team("wait", json!({"ids": ["paint"]}))),
                _ => Reply::say("Going on."),
            }
        },
        |request| match request.last_role() {
            "user" => call(("decide", json!({"question": "Which colour?", "fallback": "red"}))),
            _ => report(&request.last()),
        },
    );
    let home = Home::with_model(&server);
    let exec = home.exec(["paint it"]).expect_code(0);
    assert_eq!(exec.text(), "It is green.");
    let results = exec.tool_texts();
    assert!(results[0].contains("Still running: paint"), "a waiting Main is released: {results:?}");
    let made = exec.of("contribution");
    assert_eq!(made[0]["done"], "Decided: green");
    home.assert_sound();
}

#[test]
fn in_4_without_an_answer_in_time_the_fallback_holds_and_main_learns_it() {
    let server = play(
        |request| match request.last_role() {
            "user" if request.last().contains("The fallback was used") => Reply::say("So it is red."),
            "user" if request.said_by("tool").is_empty() => call(delegate("paint", json!({}))),
            _ => Reply::say("Noted."),
        },
        |request| match request.last_role() {
            "user" => call(("decide", json!({"question": "Which colour?", "fallback": "red", "seconds": 1}))),
            _ => report(&request.last()),
        },
    );
    let home = Home::with_model(&server);
    let exec = home.exec(["paint it"]).expect_code(0);
    assert_eq!(exec.of("contribution")[0]["done"], "Nobody answered in time. Go on with: red");
    let heard: Vec<String> = server.requests().iter().filter(|r| !is_subagent(r)).flat_map(Request::heard).collect();
    assert!(heard.iter().any(|words| words.contains("The fallback was used")), "{heard:?}");
    home.assert_sound();
}

#[test]
fn ag_4_what_was_not_granted_is_refused_below_the_model() {
    let server = play(
        |request| match request.last_role() {
            "user" => call(delegate(
                "careful",
                json!({"wait": true, "tools": ["read", "write"], "writes": ["drafts"], "reads": ["open"]}),
            )),
            _ => Reply::say("Done."),
        },
        |request| match request.said_by("tool").len() {
            0 => calls([
                write("drafts/a.txt", "mine"),
                write("open/b.txt", "not mine"),
                read("secret.txt"),
                read("open/seen.txt"),
                shell("touch drafts/c.txt"),
                delegate("more", json!({})),
            ]),
            _ => report(&request.said_by("tool").join("\n---\n")),
        },
    );
    let home = Home::with_model(&server);
    home.write("secret.txt", "the secret\n");
    home.write("open/seen.txt", "seen\n");
    let exec = home.exec(["go"]).expect_code(0);
    let done = exec.of("contribution")[0]["done"].as_str().expect("words").to_owned();
    let parts: Vec<&str> = done.split("\n---\n").collect();
    assert_eq!(parts.len(), 6, "{done}");
    assert_eq!(home.read("drafts/a.txt"), "mine");
    assert!(parts[1].contains("Not allowed") && !home.has("open/b.txt"), "{}", parts[1]);
    assert!(parts[2].contains("Not allowed") && !done.contains("the secret"), "{}", parts[2]);
    assert!(parts[3].contains("seen"), "{}", parts[3]);
    assert!(parts[4].contains("Not allowed") && !home.has("drafts/c.txt"), "{}", parts[4]);
    assert!(parts[5].contains("Not allowed"), "{}", parts[5]);
    home.assert_sound();
}

#[test]
fn ag_7_a_subagent_is_stopped_within_a_second_while_it_streams_or_runs_a_command_and_main_hears_it_once() {
    let stream = Latch::new();
    let held = stream.clone();
    let server = play(
        |request| match request.last_role() {
            "user" if request.last().contains("[contribution from agent]") => Reply::say("Noted."),
            "user" => calls([delegate("talker", json!({})), delegate("runner", json!({"writes": ["."]}))]),
            _ => Reply::say("They work."),
        },
        move |request| match is(request, "talker") {
            true => Reply::stream().text("I talk").hold(&held).finish(),
            false => call(shell("touch began; sleep 600; touch ended")),
        },
    );
    let home = Home::with_model(&server);
    let running = home.start(["--json", "exec", "go"]);
    stream.wait_reached();
    eventually("the command runs", || home.has("began"));
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    for agent in subagents(&home, &task) {
        home.ok(["agents", "cancel", agent["id"].as_str().expect("an id")]);
    }
    let exec = Exec::new(running.finish()).expect_code(0);
    let outcomes: Vec<&Value> = exec.of("contribution").iter().map(|made| &made["outcome"]).collect();
    assert_eq!(outcomes, ["cancelled", "cancelled"]);
    assert!(
        !home.has("ended") && !home.processes().iter().any(|process| process.arguments.join(" ").contains("sleep 600"))
    );
    home.assert_sound();
}

#[test]
fn ag_6_more_than_the_limit_wait_their_turn_in_order() {
    let latch = Latch::new();
    let held = latch.clone();
    let server = play(
        |request| match request.last_role() {
            "user" if request.last().contains("[contribution") => Reply::say("Noted."),
            "user" => calls((1..=4).map(|n| delegate(&format!("part {n}"), json!({})))),
            _ => Reply::say("They work."),
        },
        move |_| Reply::stream().hold(&held).text("done").finish(),
    );
    let home = Home::with_model(&server);
    home.configure("[limits]\nsubagents = 2\n");
    let running = home.start(["--json", "exec", "go"]);
    latch.wait_reached();
    let mut task = String::new();
    eventually("two of four run", || {
        task = home.json(["ls"])[0]["id"].as_str().unwrap_or_default().to_owned();
        let states: Vec<Value> = subagents(&home, &task).into_iter().map(|one| one["state"].clone()).collect();
        states == ["running", "running", "queued", "queued"]
    });
    let asking = || server.requests().iter().filter(|request| is_subagent(request)).count();
    eventually("two were asked", || asking() == 2);
    latch.release();
    Exec::new(running.finish()).expect_code(0);
    assert_eq!(asking(), 4);
    home.assert_sound();
}

#[test]
fn in_3_a_person_guides_a_subagent_and_main_is_told_and_work_is_sent_back_to_who_did_it() {
    let latch = Latch::new();
    let held = latch.clone();
    let server = play(
        |request| match request.last_role() {
            "user" if request.last().contains("brown") => Reply::say("Brown it is."),
            "user" if request.last().contains("[contribution") => {
                call(team("rework", json!({"ids": ["paint"], "text": "darker"})))
            }
            "user" => call(delegate("paint", json!({}))),
            _ => Reply::say("Waiting."),
        },
        move |request| {
            let heard = request.heard().join("\n");
            if heard.contains("darker") {
                report("brown, as I was told")
            } else if heard.contains("not red") {
                report("orange")
            } else {
                Reply::stream().hold(&held).tool("list", json!({"path": "."})).finish()
            }
        },
    );
    let home = Home::with_model(&server);
    let running = home.start(["--json", "exec", "paint it"]);
    latch.wait_reached();
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    let agent = subagents(&home, &task)[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["agents", "guide", &agent, "not red, please"]);
    latch.release();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "Brown it is.");
    let made: Vec<&Value> = exec.of("contribution").iter().map(|made| &made["done"]).collect();
    assert_eq!(made, ["orange", "brown, as I was told"], "the same Subagent, twice");
    let heard: Vec<String> = server.requests().iter().filter(|r| !is_subagent(r)).flat_map(Request::heard).collect();
    assert!(heard.iter().any(|words| words.contains("The person told paint")), "{heard:?}");
    assert_eq!(subagents(&home, &task).len(), 1);
    let log = home.ok(["agents", "log", &agent]);
    assert!(log.contains("not red, please") && log.contains("Your work was sent back: darker"), "{log}");
    home.assert_sound();
}

#[test]
fn a_host_killed_while_subagents_work_loses_nothing_and_does_nothing_twice() {
    let latch = Latch::new();
    let held = latch.clone();
    let server = play(
        |request| match request.last_role() {
            "user" => calls((1..=3).map(|n| delegate(&format!("part{n}"), json!({"wait": true, "writes": ["."]})))),
            _ => Reply::say("All three."),
        },
        move |request| match request.said_by("tool").len() {
            0 => call(write(&format!("{}.txt", name_of(request)), "x")),
            1 => Reply::stream().hold(&held).tool("list", json!({"path": "."})).finish(),
            _ => report(&format!("{} is written", name_of(request))),
        },
    );
    let home = Home::with_model(&server);
    let running = home.start(["--json", "exec", "go"]);
    latch.wait_reached();
    home.kill_host();
    latch.release();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "All three.");
    let mut done: Vec<&str> = exec.tool_texts();
    done.sort();
    assert_eq!(done.len(), 3, "{done:?}");
    for (n, text) in (1..=3).zip(done) {
        assert!(text.contains(&format!("part{n} is written")), "{text}");
    }
    home.assert_sound();
}

/// The name in the briefing of a Subagent.
fn name_of(request: &Request) -> String {
    let heard = request.heard().join("\n");
    let at = heard.find("Your assignment (").map_or(0, |at| at + "Your assignment (".len());
    heard[at..].split(')').next().unwrap_or_default().to_owned()
}
