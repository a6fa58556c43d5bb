//! Bad weather between here and the model: overload, faults inside a stream, silence.

use crate::support::home::{Exec, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::watch::eventually;
use serde_json::json;
use std::time::{Duration, Instant};

fn overloaded() -> Reply {
    Reply::error_status(529, "overloaded_error", "Overloaded")
}

#[test]
fn t5_an_overloaded_server_is_asked_again_after_the_time_it_names() {
    let server = ModelServer::with([overloaded().header("Retry-After", "2"), Reply::say("now")]);
    let home = Home::with_model(&server);
    let begin = Instant::now();
    let exec = home.exec(["hello"]).expect_code(0);
    assert!(begin.elapsed() >= Duration::from_secs(2));
    assert_eq!(exec.text(), "now");
    assert_eq!(server.requests().len(), 2);
    home.assert_sound();
}

#[test]
fn t5_an_error_inside_a_stream_is_tried_again_and_nothing_is_said_twice() {
    let server = ModelServer::with([
        Reply::stream().text("The half").text(" of it").error_event("overloaded_error", "Overloaded"),
        Reply::say("The half of it and the rest."),
    ]);
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(0);
    assert_eq!(exec.text(), "The half of it and the rest.");
    let finished = home.run(["show", exec.task()]).expect_code(0);
    assert!(!finished.stdout.contains("failed"), "{}", finished.stdout);
    assert_eq!(server.wait_for_request(2).messages(), server.wait_for_request(1).messages());
}

#[test]
fn t5_a_wait_of_a_day_is_not_waited_for() {
    let server = ModelServer::with([
        Reply::error_status(429, "rate_limit_exceeded", "Too many requests").header("Retry-After", "86400")
    ]);
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(5);
    assert_eq!(server.requests().len(), 1);
    for words in ["Too many requests", "asks to wait 24 h", "another model"] {
        assert!(exec.stderr.contains(words), "{words}: {}", exec.stderr);
    }
}

#[test]
fn t5_a_date_says_when_to_ask_again() {
    let at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3);
    let date = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let server = ModelServer::with([
        Reply::error_status(429, "rate_limit_exceeded", "Too many requests").header("Retry-After", &date),
        Reply::say("now"),
    ]);
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(0);
    assert!(jiff::Timestamp::now().as_second() >= at.as_second(), "it was asked too early");
    assert_eq!(exec.text(), "now");
}

#[test]
fn t5_the_countdown_is_seen_and_esc_ends_it() {
    let server = ModelServer::with([overloaded().header("Retry-After", "50"), Reply::say("here I am")]);
    let home = Home::with_model(&server);
    let mut terminal = home.terminal([""; 0], 100, 30);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen());
    terminal.type_words("hello").keys("enter").wait_for("4").wait_for("Overloaded").keys("esc").wait_gone("Overloaded");
    let begin = Instant::now();
    terminal.type_words("again").keys("enter").wait_for("here I am");
    assert!(begin.elapsed() < Duration::from_secs(40), "what was waited for before is waited for no more");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn t5_one_agents_wait_holds_no_other_up() {
    let server = ModelServer::start();
    server.when(|request| request.user() == "slow", overloaded().header("Retry-After", "50"));
    server.when(|request| request.user() == "quick", Reply::say("at once"));
    let home = Home::with_model(&server);
    let slow = home.start(["exec", "--json", "slow"]);
    server.wait_for_request(1);
    let begin = Instant::now();
    assert_eq!(home.exec(["quick"]).expect_code(0).text(), "at once");
    assert!(begin.elapsed() < Duration::from_secs(40));
    slow.signal(rustix::process::Signal::INT);
    slow.finish().expect_code(7);
}

#[test]
fn a_server_error_is_tried_again_as_often_as_configured_and_then_ends_with_5() {
    let server = ModelServer::start();
    server.otherwise(|_| Reply::error_status(500, "server_error", "it broke").header("Retry-After", "0"));
    let home = Home::with_model(&server);
    home.configure("[limits]\nretries = 2\n");
    let exec = home.exec(["hello"]).expect_code(5);
    assert_eq!(server.requests().len(), 3, "one request and two more");
    assert!(exec.stderr.contains("it broke"), "{}", exec.stderr);
    home.assert_sound();
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again() {
    let server = ModelServer::with([Reply::stream().text("half").cut(), Reply::say("whole")]);
    let home = Home::with_model(&server);
    assert_eq!(home.exec(["hello"]).expect_code(0).text(), "whole");
}

#[test]
fn t6_pings_are_no_content_and_the_idle_time_out_ends_them() {
    let server = ModelServer::with([Reply::pings(), Reply::say("now")]);
    let home = Home::with_model(&server);
    home.configure("[limits]\nidle_seconds = 1\n");
    assert_eq!(home.exec(["hello"]).expect_code(0).text(), "now");
    server.wait_for_hang_up(1);
}

#[test]
fn t6_a_server_that_says_nothing_is_given_up() {
    let server = ModelServer::with([Reply::silence(), Reply::say("now")]);
    let home = Home::with_model(&server);
    home.configure("[limits]\nidle_seconds = 1\n");
    assert_eq!(home.exec(["hello"]).expect_code(0).text(), "now");
    server.wait_for_hang_up(1);
}

#[test]
fn t6_esc_works_at_once_on_a_stalled_stream_and_what_was_queued_goes_on() {
    let server = ModelServer::with([Reply::pings(), Reply::say("the second")]);
    let home = Home::with_model(&server);
    let mut terminal = home.terminal([""; 0], 100, 30);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen());
    terminal.type_words("first").keys("enter");
    server.wait_for_request(1);
    terminal.type_words("second").keys("enter").wait_for("queued  second").keys("esc");
    server.wait_for_hang_up(1);
    terminal.wait_for("the second");
    assert_eq!(server.wait_for_request(2).user(), "second");
}

#[test]
fn nobody_at_the_address_ends_with_5_and_names_it() {
    let home = Home::new().env("COWORK_MODEL", "openai:test").env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    home.configure("[limits]\nretries = 0\n");
    let exec = home.exec(["hello"]).expect_code(5);
    assert!(exec.stderr.contains("127.0.0.1:9"), "{}", exec.stderr);
}

#[test]
fn a_provider_without_its_key_ends_with_5_at_once_and_names_the_key() {
    for (model, key) in [("openai:gpt-x", "OPENAI_API_KEY"), ("anthropic:claude-x", "ANTHROPIC_API_KEY")] {
        let home = Home::new().env("COWORK_MODEL", model);
        let exec = home.exec(["hello"]).expect_code(5);
        let again = exec.of("notice").iter().filter(|notice| notice.get("retry_at").is_some()).count();
        assert_eq!(again, 0, "nothing is tried again: {:#?}", exec.lines);
        let provider = model.split_once(':').expect("a provider").0;
        let words = format!("no key for {provider}: set {key}, or ");
        assert!(exec.stderr.contains(&words), "{}", exec.stderr);
        assert!(home.ok(["models"]).contains(&words));
    }
}

#[test]
fn the_reason_of_a_failure_is_said_once_and_each_further_try_is_short() {
    let server = ModelServer::start();
    server.otherwise(|_| Reply::error_status(500, "server_error", "it broke").header("Retry-After", "0"));
    let home = Home::with_model(&server);
    home.configure("[limits]\nretries = 3\n");
    let said = home.run(["exec", "hello"]).expect_code(5).stderr;
    assert_eq!(said.matches("it broke").count(), 2, "at first and at the end: {said}");
    assert!(said.contains("again in 0 s (2 of 3)") && said.contains("(3 of 3)"), "{said}");
}

#[test]
fn a_model_that_goes_on_in_place_of_another_is_named_and_its_tries_are_counted_anew() {
    let server = ModelServer::start();
    let of = |name: &'static str| move |request: &Request| request.body["model"] == name;
    server.when(of("test"), Reply::error_status(401, "authentication_error", "no such key"));
    server.then(Reply::error_status(500, "server_error", "it broke").header("Retry-After", "0"));
    server.then(Reply::say("went on"));
    let home = Home::with_model(&server);
    home.configure("[model]\nfallback = \"openai:other\"\n[limits]\nretries = 3\n");
    let said = home.run(["exec", "hello"]).expect_code(0).stderr;
    let line = |about: &str| said.lines().find(|line| line.contains(about)).expect("a line");
    assert!(line("no such key").ends_with("Going on with openai:other"), "{said}");
    assert!(line("it broke").ends_with("again in 0 s (1 of 3)"), "{said}");
}

#[test]
fn models_never_points_to_itself() {
    let home = Home::new().env("COWORK_MODEL", "openai:test").env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let said = home.ok(["models"]);
    assert!(said.contains("such as http://127.0.0.1:11434/v1"), "{said}");
    assert!(!said.contains("`cowork models`"), "{said}");
}

#[test]
fn ctrl_c_stops_the_step_and_ends_with_7() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("so far").hold(&latch).finish(), Reply::say("went on")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "hello"]);
    latch.wait_reached();
    running.signal(rustix::process::Signal::INT);
    let exec = Exec::new(running.finish()).expect_code(7);
    server.wait_for_hang_up(1);
    assert_eq!(home.exec(["--task", exec.task(), "go on"]).expect_code(0).text(), "went on");
}

#[test]
fn an_interruption_before_the_first_word_ends_the_step_and_nobody_asks_again() {
    for reply in [Reply::silence(), overloaded().header("Retry-After", "50")] {
        let server = ModelServer::with([reply, Reply::say("went on")]);
        let home = Home::with_model(&server);
        let running = home.start(["exec", "--json", "hello"]);
        running.wait_for("turn_started");
        server.wait_for_request(1);
        let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
        home.ok(["interrupt", &task]);
        let exec = Exec::new(running.finish()).expect_code(7);
        eventually("nothing needs the host any more", || home.host().is_none());
        assert_eq!(server.requests().len(), 1);
        let begins = home.events(&task).iter().filter(|event| event.to_string().contains("run_started")).count();
        assert_eq!(begins, 1, "{exec:#?}");
        assert_eq!(home.exec(["--task", &task, "go on"]).expect_code(0).text(), "went on");
        home.assert_sound();
    }
}

#[test]
fn a_time_out_of_exec_stops_the_step_and_ends_with_7() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("so far").hold(&latch).finish()]);
    let home = Home::with_model(&server);
    home.exec(["--timeout", "500ms", "hello"]).expect_code(7);
    server.wait_for_hang_up(1);
    home.assert_sound();
}

#[test]
fn money_is_counted_and_its_budget_held() {
    let server = ModelServer::with([Reply::stream().tool("list", json!({})).finish_using(1_000_000, 100_000)]);
    let home = Home::with_model(&server);
    home.configure("[models.\"openai:test\"]\nprice = { input = 2.0, output = 10.0 }\n");
    let exec = home.exec(["--budget", "usd=1.5", "spend"]).expect_code(6);
    assert_eq!(exec.result()["usage"]["usd"], 3.0, "{:#}", exec.result());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn connections_are_used_again_from_turn_to_turn() {
    const TURNS: usize = 12;
    let server = ModelServer::start();
    for _ in 1..TURNS {
        server.then(Reply::call("list", json!({})));
    }
    server.then(Reply::say("done"));
    let home = Home::with_model(&server);
    home.exec(["look often"]).expect_code(0);
    assert_eq!(server.requests().len(), TURNS);
    // One is enough where every answer was read to its end before the next request; a machine that
    // was held up at that very moment may have needed another.
    assert!(server.connections() <= TURNS / 3, "{} connections: each costs round trips", server.connections());
}

#[test]
fn tokens_that_nobody_counted_are_said_to_be_estimated() {
    let server = ModelServer::with([
        Reply::stream().text("counted").finish(),
        Reply::stream()
            .text("not counted")
            .raw(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"),
    ]);
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(0);
    assert_eq!(exec.result()["usage"].get("estimated"), None, "{:#}", exec.result());
    let task = exec.task().to_owned();
    let exec = home.exec(["--task", &task, "again"]).expect_code(0);
    assert_eq!(exec.of("text").last().expect("an answer")["usage"]["estimated"], true);
    assert_eq!(exec.result()["usage"]["estimated"], true, "the sum rests on it");
    assert!(home.ok(["show", &task]).contains("about "), "people are told as well");
    home.assert_sound();
    assert_eq!(Home::new().exec(["help"]).result()["usage"]["estimated"], true, "the guide counts nothing");
}
