//! Servers as they come: every weather in every wire format, two of them on different days, and what
//! one gave to be shown again.

use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::wires::{Said, Wire};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

/// The configuration of a provider of that name.
fn provider(name: &str, wire: Wire, server: &ModelServer) -> String {
    let (kind, url) = (wire.kind(), server.url());
    format!("\n[providers.{name}]\nkind = \"{kind}\"\nbase_url = \"{url}\"\n")
}

fn failed(status: u16, kind: &str) -> Reply {
    Reply::error_status(status, kind, "Not now")
}

/// What may go wrong in passing, each in the words of the format.
fn weathers(wire: Wire) -> Vec<(&'static str, Reply)> {
    let words = Said { text: "The half", ..Said::default() };
    let call = Said { calls: vec![("write", json!({"path": "x.txt", "content": "no"}))], ..words.clone() };
    let past = (jiff::Timestamp::now() - jiff::SignedDuration::from_secs(5)).strftime("%a, %d %b %Y %H:%M:%S GMT");
    vec![
        ("overloaded", failed(529, "overloaded_error").header("Retry-After", "0")),
        ("until a date", failed(429, "rate_limit_exceeded").header("Retry-After", &past.to_string())),
        ("a server's error", failed(500, "server_error").header("Retry-After", "0")),
        ("a gateway's page", Reply::status(502).header("Retry-After", "0").raw(b"<html>Bad Gateway</html>")),
        ("overloaded in the stream", wire.overloaded(wire.begin(&call))),
        ("cut in words", wire.begin(&words).cut()),
        ("cut in a call", wire.begin(&call).cut()),
        ("an end before the end", wire.begin(&words)),
        ("cut in an event", wire.begin(&words).raw(b"data: {\"type\": \"mes").cut()),
        ("no JSON", wire.begin(&words).raw(b"data: {not JSON}\n\n")),
        ("no text", wire.begin(&words).raw(b"data: \xff\xfe\n\n")),
        ("silence", Reply::silence()),
        ("pings alone", Reply::pings()),
        ("pings after words", wire.begin(&words).then_pings()),
    ]
}

/// Asks in each weather: the same is asked again, nothing is said twice, nothing of a cut call is run.
fn comes_through_every_weather(wire: Wire) {
    let server = ModelServer::start();
    let home = Home::new().env("COWORK_MODEL", "own:test");
    home.configure(&format!("[limits]\nidle_seconds = 1\n{}", provider("own", wire, &server)));
    for (number, (weather, reply)) in weathers(wire).into_iter().enumerate() {
        server.then(reply).then(wire.say("The half and the rest."));
        let exec = home.exec(["hello"]).expect_code(0);
        assert_eq!(exec.text(), "The half and the rest.", "{weather}");
        assert_eq!(exec.of("text").len(), 1, "{weather}: {:#?}", exec.lines);
        assert!(exec.of("tool_call").is_empty() && !home.has("x.txt"), "{weather}");
        let again = exec.of("notice").iter().filter(|notice| notice["retry_at"].is_i64()).count();
        assert_eq!(again, 1, "{weather}: {:#?}", exec.lines);
        let asked = server.requests();
        assert_eq!(asked.len(), 2 * number + 2, "{weather}");
        assert_eq!(asked[2 * number].body, asked[2 * number + 1].body, "{weather}");
    }
    home.assert_sound();
}

#[test]
fn chat_completions_come_through_every_weather() {
    comes_through_every_weather(Wire::Chat);
}

#[test]
fn responses_come_through_every_weather() {
    comes_through_every_weather(Wire::Responses);
}

#[test]
fn messages_come_through_every_weather() {
    comes_through_every_weather(Wire::Messages);
}

#[test]
fn what_no_other_try_can_mend_is_said_at_once_in_every_wire_format() {
    for wire in Wire::ALL {
        let server = ModelServer::start();
        let home = Home::new().env("COWORK_MODEL", "own:test");
        home.configure(&provider("own", wire, &server));
        for (number, (status, kind)) in
            [(401, "authentication_error"), (402, "billing_error"), (404, "not_found_error")].into_iter().enumerate()
        {
            server.then(failed(status, kind));
            let exec = home.exec(["hello"]).expect_code(5);
            assert!(exec.stderr.contains("Not now"), "{wire:?} {status}: {}", exec.stderr);
            assert_eq!(server.requests().len(), number + 1, "{wire:?} {status}");
        }
    }
}

#[test]
fn one_servers_bad_day_leaves_the_agents_of_another_alone() {
    const TURNS: usize = 20;
    let (bad, good) = (ModelServer::start(), ModelServer::start());
    // Each of these lasts longer than the test may.
    let days = [
        ("waits", failed(529, "overloaded_error").header("Retry-After", "280")),
        ("silent", Reply::silence()),
        ("pings", Reply::pings()),
        ("stalls", Reply::stream().text("The half").then_pings()),
    ];
    let home = Home::new();
    home.configure(&format!(
        "[limits]\nidle_seconds = 280\n{}{}",
        provider("bad", Wire::Chat, &bad),
        provider("good", Wire::Chat, &good)
    ));
    let waiting: Vec<_> = days
        .into_iter()
        .enumerate()
        .map(|(number, (day, reply))| {
            bad.when(move |request: &Request| request.user() == day, reply);
            let running = home.start(["exec", "--json", "--model", "bad:test", day]);
            bad.wait_for_request(number + 1);
            running
        })
        .collect();
    for _ in 1..TURNS {
        good.then(Reply::call("list", json!({})));
    }
    good.then(Reply::say("all done"));
    let exec = home.exec(["--model", "good:test", "work"]).expect_code(0);
    assert_eq!((exec.text(), good.requests().len()), ("all done", TURNS));
    assert_eq!(bad.requests().len(), 4, "meanwhile nobody there was answered or asked again");
    for running in waiting {
        running.signal(Signal::INT);
        running.finish().expect_code(7);
    }
    home.assert_sound();
}

#[test]
fn signatures_of_calls_go_back_word_for_word_and_calls_of_another_model_get_a_stand_in() {
    let signature = json!({"google": {"thought_signature": "CqQBAXLI2nx+/=="}});
    let call = |id: &str, extra: &Value| {
        json!({"tool_calls": [{"index": 0, "id": id, "type": "function", "extra_content": extra,
            "function": {"name": "list", "arguments": "{}"}}]})
    };
    let (gemini, other) = (ModelServer::start(), ModelServer::start());
    let unsigned = |request: &Request| {
        let first = request.messages().iter().find_map(|message| message["tool_calls"].get(0).cloned());
        first.is_some_and(|call| !call["extra_content"]["google"]["thought_signature"].is_string())
    };
    let refusal = "Function call is missing a thought_signature in functionCall parts.";
    gemini.when(unsigned, Reply::error_status(400, "INVALID_ARGUMENT", refusal));
    gemini.then(Reply::stream().delta(call("f1", &signature)).finish_because("tool_calls", 10, 0, 5));
    gemini.then(Reply::say("so far"));
    let home = Home::new();
    home.configure(&(provider("gemini", Wire::Chat, &gemini) + &provider("other", Wire::Chat, &other)));
    let exec = home.exec(["--model", "gemini:test", "look"]).expect_code(0);
    let again = |request: Request| {
        let made = request.messages().iter().find_map(|message| message["tool_calls"].get(0).cloned());
        made.expect("a call")["extra_content"].clone()
    };
    assert_eq!(again(gemini.wait_for_request(2)), signature);

    other.then(Reply::say("from elsewhere"));
    home.exec(["--task", exec.task(), "--model", "other:test", "and you?"]).expect_code(0);
    assert_eq!(again(other.wait_for_request(1)), Value::Null, "another server is not sent it");

    other.then(Reply::call("list", json!({}))).then(Reply::say("listed"));
    let foreign = home.exec(["--model", "other:test", "look"]).expect_code(0);
    gemini.then(Reply::say("went on"));
    let gone_on = home.exec(["--task", foreign.task(), "--model", "gemini:test", "go on"]).expect_code(0);
    assert_eq!(gone_on.text(), "went on");
    assert_eq!(gemini.requests().len(), 4, "refused once, and asked again with a stand-in");
    home.assert_sound();
}

#[test]
fn a_key_comes_from_the_environment_from_a_file_of_its_owner_or_from_a_command() {
    let server = ModelServer::start();
    server.otherwise(|_| Reply::say("hello"));
    let home = Home::new().env("COWORK_MODEL", "env:test").env("THE_KEY", "sk-of-the-environment-0123456789");
    let of = |name: &str, key: &str| provider(name, Wire::Chat, &server) + key + "\n";
    let command = "key_command = \"printf sk-of-a-%s-0123456789 command\"";
    home.configure(
        &[of("env", "key_env = \"THE_KEY\""), of("file", "key_file = \"the.key\""), of("command", command)].concat(),
    );
    let file = home.root().join("user/.config/cowork/the.key");
    std::fs::write(&file, "sk-of-a-file-0123456789\n").expect("the key");
    let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("its mode");
    mode(0o600);
    for (number, (name, of)) in
        [("env", "the-environment"), ("file", "a-file"), ("command", "a-command")].iter().enumerate()
    {
        home.exec(["--model", &format!("{name}:test"), "hello"]).expect_code(0);
        let expected = format!("Bearer sk-of-{of}-0123456789");
        assert_eq!(server.wait_for_request(number + 1).header("authorization"), Some(expected.as_str()));
        assert!(home.find_bytes(&expected[7..]).iter().all(|found| *found == file), "{name}: the key is nowhere else");
    }
    mode(0o644);
    let refused = home.run(["exec", "--model", "file:test", "hello"]);
    assert!(refused.status.code() != Some(0) && refused.stderr.contains("the.key"), "others can read it: {refused:?}");
    assert_eq!(server.requests().len(), 3);
}

/// A server that answers everything with this status.
fn refuses_with(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let body = r#"{"error": {"message": "Incorrect API key provided"}}"#;
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all((head + body).as_bytes());
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn models_says_which_servers_can_be_reached_and_why_the_others_can_not() {
    let server = ModelServer::start();
    let home = Home::new().env("COWORK_MODEL", "there:test").env("THE_KEY", "sk-wrong-0123456789abcdef");
    let refusing = refuses_with("401 Unauthorized");
    let other = |name: &str, url: &str, more: &str| {
        format!("\n[providers.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\n{more}\n")
    };
    home.configure(
        &[
            provider("there", Wire::Chat, &server),
            other("away", "http://127.0.0.1:9/v1", ""),
            other("keyless", &refusing, ""),
            other("wrong", &refusing, "key_env = \"THE_KEY\""),
        ]
        .concat(),
    );
    let told = home.json(["models"]);
    let of = |name: &str| told.iter().find(|told| told["provider"] == name).expect("it is named").clone();
    assert_eq!((&of("there")["state"], &of("there")["models"]), (&json!("reachable"), &json!(["there:test"])));
    let why = |name: &str| of(name)["why"].as_str().unwrap_or_default().to_owned();
    assert!(of("away")["state"] == "unreachable" && why("away").contains("http://127.0.0.1:9/v1"), "{told:#?}");
    assert!(of("keyless")["state"] == "no_key" && !why("keyless").is_empty(), "{told:#?}");
    assert!(of("wrong")["state"] == "unreachable" && why("wrong").contains("401"), "{told:#?}");
    let said = home.ok(["models"]);
    assert!(said.contains("there:test") && said.contains(&why("away")) && said.contains(&why("wrong")), "{said}");
    assert!(!said.contains("sk-wrong"), "{said}");
}

#[test]
fn a_model_server_of_this_machine_that_nobody_configured_is_found_and_offered() {
    let usual = [("ollama", 11434), ("lmstudio", 1234), ("llamacpp", 8080), ("vllm", 8000)];
    let free = |(_, port): &&(&str, u16)| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let Some((name, port)) = usual.iter().find(free) else {
        eprintln!("SKIPPED: something listens at every usual port");
        return;
    };
    let server = ModelServer::at(*port);
    server.then(Reply::say("hello from here"));
    let home = Home::new();
    let told = home.json(["models"]);
    let found = told.iter().find(|told| told["provider"] == *name).expect("it is offered");
    assert_eq!((&found["state"], &found["models"]), (&json!("found"), &json!([format!("{name}:test")])));
    let said = home.run(["models"]).expect_code(0);
    let toml = &said.stderr[said.stderr.find(&format!("[providers.{name}]")).expect("what to configure")..];
    home.configure(toml.lines().take(3).collect::<Vec<_>>().join("\n").as_str());
    assert!(server.requests().is_empty(), "nothing but the list was asked for");
    let exec = home.exec(["--model", &format!("{name}:test"), "hello"]).expect_code(0);
    assert_eq!(exec.text(), "hello from here");
}
