//! Every kind of model server: the wire formats with their calls, thoughts and pictures, their bad
//! weather, windows, quirks, and what a small local model needs.

use crate::support::home::{Exec, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::tls;
use crate::support::watch::eventually;
use crate::support::wires::{CIPHER, SIGNATURE, Said, Wire};
use serde_json::{Value, json};

/// A home with a provider of each kind, all of them the same scripted model; `model` answers.
fn home(server: &ModelServer, model: &str, more: &str) -> Home {
    let home = Home::new().env("COWORK_MODEL", model).env("TEST_KEY", "sk-of-the-test-0123456789abcdef");
    let url = server.url();
    let mut toml = more.to_owned();
    for wire in Wire::ALL {
        let kind = wire.kind();
        toml +=
            &format!("\n[providers.{kind}-like]\nkind = \"{kind}\"\nbase_url = \"{url}\"\nkey_env = \"TEST_KEY\"\n");
    }
    home.configure(&toml);
    home
}

fn model_of(wire: Wire) -> String {
    format!("{}-like:test", wire.kind())
}

/// A picture of one pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

#[test]
fn each_wire_format_carries_a_whole_turn_with_thoughts_parallel_calls_and_what_was_counted() {
    for wire in Wire::ALL {
        let server = ModelServer::with([
            wire.answer(&Said {
                thinking: "Let me see what is there 北京🌍",
                text: "I look.",
                calls: vec![("read", json!({"path": "a.txt"})), ("list", json!({}))],
            })
            .byte_by_byte(),
            wire.say("It says é."),
        ]);
        let home = home(&server, &model_of(wire), "");
        home.write("a.txt", "é\n");
        let exec = home.exec(["look"]).expect_code(0);
        assert_eq!(exec.text(), "It says é.", "{wire:?}");
        assert_eq!(exec.of("thinking")[0]["text"], "Let me see what is there 北京🌍", "{wire:?}");
        assert_eq!(exec.tool_texts().len(), 2);
        let usage = &exec.result()["usage"];
        let counted = [&usage["turns"], &usage["input_tokens"], &usage["cached_tokens"], &usage["output_tokens"]];
        assert_eq!(counted, [2, 200, 120, 14], "counted once: {usage}");
        assert_eq!(usage.get("estimated"), None);
        let (first, second) = (server.wait_for_request(1), server.wait_for_request(2));
        let (header, key) = match wire {
            Wire::Messages => ("x-api-key", "sk-of-the-test-0123456789abcdef"),
            Wire::Chat | Wire::Responses => ("authorization", "Bearer sk-of-the-test-0123456789abcdef"),
        };
        assert_eq!(first.header(header), Some(key));
        let again = second.body.to_string();
        match wire {
            Wire::Chat => assert!(!again.contains("Let me see"), "chat completions are not shown thoughts again"),
            Wire::Messages => {
                let thought = &second.body["messages"][1]["content"][0];
                let expected =
                    json!({"type": "thinking", "thinking": "Let me see what is there 北京🌍", "signature": SIGNATURE});
                assert_eq!(*thought, expected);
                assert_eq!(first.header("anthropic-version"), Some("2023-06-01"));
                assert_eq!(again.matches("cache_control").count(), 3, "{again}");
            }
            Wire::Responses => {
                assert_eq!(second.body["input"][1]["encrypted_content"], CIPHER);
                assert_eq!((&second.body["store"], &second.body["stream"]), (&json!(false), &json!(true)));
            }
        }
        assert!(home.find_bytes("sk-of-the-test").is_empty(), "the key is nowhere");
        home.assert_sound();
    }
}

#[test]
fn a_picture_that_a_tool_gave_is_shown_in_each_wire_format() {
    for wire in Wire::ALL {
        let server = ModelServer::with([wire.call("read", json!({"path": "dot.png"})), wire.say("a dot")]);
        let home = home(&server, &model_of(wire), "");
        home.write("dot.png", PNG);
        home.exec(["look"]).expect_code(0);
        let sent = server.wait_for_request(2).body.to_string();
        assert!(sent.contains("iVBORw0KGgo"), "{wire:?}: the bytes of the picture are sent");
    }
}

#[test]
fn the_model_of_a_task_can_change_in_the_middle_whatever_the_wire_format() {
    let thoughtful = Said { thinking: "hm", text: "", calls: vec![("list", json!({}))] };
    for (first, second) in
        [(Wire::Messages, Wire::Responses), (Wire::Responses, Wire::Messages), (Wire::Messages, Wire::Chat)]
    {
        let server = ModelServer::with([first.answer(&thoughtful), first.say("so far"), second.say("went on")]);
        let home = home(&server, &model_of(first), "");
        let exec = home.exec(["look"]).expect_code(0);
        let task = exec.task();
        let next = home.exec(["--task", task, "--model", &model_of(second), "go on"]).expect_code(0);
        assert_eq!(next.text(), "went on");
        let sent = server.wait_for_request(3).body.to_string();
        assert!(sent.contains("so far") && !sent.contains(SIGNATURE) && !sent.contains(CIPHER), "{sent}");
        assert_eq!(home.json(["show", task])[0]["model"], model_of(second));
        home.assert_sound();
    }
}

#[test]
fn a_model_that_is_chosen_while_a_command_runs_is_the_one_that_is_asked_next() {
    let wait = json!({"command": "touch begun; until [ -e go ]; do sleep 0.02; done"});
    let server = ModelServer::with([Reply::call("shell", wait), Reply::say("done")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "run it"]);
    eventually("the command runs", || home.has("begun"));
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["set", &task, "--model", "openai:another"]);
    home.write("go", "");
    Exec::new(running.finish()).expect_code(0);
    let asked = |number| server.wait_for_request(number).body["model"].clone();
    assert_eq!((asked(1), asked(2)), (json!("test"), json!("another")));
}

#[test]
fn a_stream_that_breaks_off_in_words_or_in_a_call_is_asked_again_and_nothing_of_it_is_run_or_said_twice() {
    for wire in Wire::ALL {
        let half = Said {
            text: "The half",
            calls: vec![("write", json!({"path": "x.txt", "content": "no"}))],
            ..Said::default()
        };
        for broken in [
            wire.begin(&half).cut(),
            wire.overloaded(wire.begin(&half)),
            wire.begin(&Said { text: "The half", ..Said::default() }).cut(),
        ] {
            let server = ModelServer::with([broken, wire.say("The half and the rest.")]);
            let home = home(&server, &model_of(wire), "");
            let exec = home.exec(["hello"]).expect_code(0);
            assert_eq!(exec.text(), "The half and the rest.", "{wire:?}");
            assert_eq!(exec.of("text").len(), 1, "{:#?}", exec.lines);
            assert_eq!(exec.of("tool_call").len(), 0, "{wire:?}");
            assert!(!home.has("x.txt"));
            assert_eq!(server.wait_for_request(2).messages(), server.wait_for_request(1).messages());
        }
    }
}

#[test]
fn what_was_said_before_the_last_try_failed_is_kept_as_cut() {
    let server = ModelServer::with([Reply::stream().text("as far as it came").cut(), Reply::say("went on")]);
    let home = Home::with_model(&server);
    home.configure("[limits]\nretries = 0\n");
    let exec = home.exec(["hello"]).expect_code(5);
    let said = exec.of("text");
    assert_eq!((said[0]["text"].as_str(), &said[0]["cut"]), (Some("as far as it came"), &json!(true)));
    let errors = exec.of("error");
    let told = errors.iter().filter(|error| error["class"] == "cut").count();
    assert_eq!(told, 1, "that it failed is told once: {:#?}", exec.lines);
    home.exec(["--task", exec.task(), "go on"]).expect_code(0);
    assert_eq!(server.wait_for_request(2).said_by("assistant"), ["as far as it came"]);
    home.assert_sound();
}

#[test]
fn an_answer_that_reaches_its_limit_goes_on_and_its_half_call_is_not_run() {
    let server = ModelServer::with([
        Reply::stream().text("The first half").finish_because("length", 10, 0, 5),
        Reply::stream()
            .text(" and a call")
            .tool_text("write", "{\"path\": \"x.txt\", \"content\": \"ha")
            .finish_because("length", 10, 0, 5),
        Reply::say(" and the rest."),
    ]);
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(0);
    let cut: Vec<bool> = exec.of("text").iter().map(|said| said["cut"] == true).collect();
    assert_eq!(cut, [true, true, false]);
    assert_eq!(exec.of("tool_call").len(), 0);
    assert!(!home.has("x.txt"));
    assert!(server.wait_for_request(2).user().contains("Go on"));
    home.assert_sound();
}

#[test]
fn answers_that_only_ever_reach_their_limit_end_with_what_to_do() {
    let server = ModelServer::start();
    server.otherwise(|_| Reply::stream().text("more").finish_because("length", 10, 0, 5));
    let home = Home::with_model(&server);
    let exec = home.exec(["hello"]).expect_code(5);
    assert!(exec.stderr.contains("max_output_tokens"), "{}", exec.stderr);
    assert_eq!(server.requests().len(), 4);
    home.assert_sound();
}

#[test]
fn a_server_that_refuses_a_field_is_asked_without_it_and_from_then_on() {
    let server = ModelServer::start();
    let refuses = |field: &'static str| move |request: &Request| request.body.get(field).is_some();
    server.when(
        refuses("stream_options"),
        Reply::error_status(400, "invalid_request_error", "Unknown field: stream_options"),
    );
    server.when(
        refuses("max_tokens"),
        Reply::error_status(400, "unsupported_parameter", "'max_tokens' is not supported: use 'max_completion_tokens'"),
    );
    server.then(Reply::call("list", json!({}))).then(Reply::say("done"));
    let home = Home::with_model(&server);
    home.configure("[models.test]\nmax_output_tokens = 500\n");
    assert_eq!(home.exec(["hello"]).expect_code(0).text(), "done");
    let sent = server.requests();
    assert_eq!(sent.len(), 4, "twice refused, then two turns");
    assert_eq!(sent[3].body["max_completion_tokens"], 500);
}

#[test]
fn thinking_that_its_server_no_longer_accepts_is_left_out_and_the_work_goes_on() {
    for (wire, sent, refusal) in [
        (Wire::Messages, SIGNATURE, "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (Wire::Responses, CIPHER, "The encrypted content could not be verified"),
    ] {
        let server = ModelServer::start();
        let refused = move |request: &Request| request.body.to_string().contains(sent);
        server.when(refused, Reply::error_status(400, "invalid_request_error", refusal));
        server.then(wire.answer(&Said { thinking: "hm", text: "", calls: vec![("list", json!({}))] }));
        server.then(wire.say("went on"));
        let home = home(&server, &model_of(wire), "");
        assert_eq!(home.exec(["look"]).expect_code(0).text(), "went on", "{wire:?}");
        assert_eq!(server.requests().len(), 3);
        home.assert_sound();
    }
}

/// How servers of a format say that a request is longer than their window.
fn too_long(wire: Wire) -> Vec<Reply> {
    let refused = |kind: &str, words: &str| Reply::error_status(400, kind, words);
    match wire {
        Wire::Chat => vec![refused("invalid_request_error", "This model's maximum context length is 8192 tokens")],
        Wire::Messages => vec![
            refused("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
            Reply::error_status(413, "request_too_large", "Request exceeds the maximum size"),
        ],
        Wire::Responses => {
            let error = json!({"code": "context_length_exceeded", "message": "Your input exceeds the context window"});
            let response = json!({"object": "response", "status": "failed", "error": error});
            let stream = Reply::status(200).header("content-type", "text/event-stream");
            vec![
                refused("invalid_request_error", "Your input exceeds the context window of this model"),
                stream.event(&json!({"type": "response.failed", "response": response})),
            ]
        }
    }
}

fn of_every_format(mut each: impl FnMut(Wire, Reply)) {
    for wire in Wire::ALL {
        for refusal in too_long(wire) {
            each(wire, refusal);
        }
    }
}

#[test]
fn a_conversation_longer_than_the_window_is_shortened_once_in_every_wire_format_and_what_is_stored_stays() {
    of_every_format(|wire, refusal| {
        let server = ModelServer::start();
        let too_long = |request: &Request| request.body.to_string().len() > 60_000;
        server.when(too_long, refusal);
        for _ in 0..8 {
            server.then(wire.call("read", json!({"path": "long.txt"})));
        }
        server.then(wire.say("done")).then(wire.say("again"));
        let home = home(&server, &model_of(wire), "");
        home.write("long.txt", "word after word after word\n".repeat(500));
        let exec = home.exec(["read it often"]).expect_code(0);
        assert_eq!(exec.text(), "done", "{wire:?}");
        home.exec(["--task", exec.task(), "again"]).expect_code(0);
        let refused = server.requests().iter().filter(|request| too_long(request)).count();
        assert_eq!(refused, 1, "{wire:?}: what was learned holds for the turns that follow");
        let last = server.requests().pop().expect("asked").body.to_string();
        assert!(last.contains("read it often") && last.contains("left out"), "{wire:?}: the first words stay");
        assert_eq!(exec.tool_texts().len(), 8);
        home.assert_sound();
    });
}

#[test]
fn a_request_that_cannot_be_short_enough_is_no_loop_in_any_wire_format() {
    of_every_format(|wire, refusal| {
        let server = ModelServer::start();
        server.otherwise(move |_| refusal.clone());
        let home = home(&server, &model_of(wire), "");
        let exec = home.exec([&"word ".repeat(3_000)]).expect_code(5);
        assert!(server.requests().len() <= 2, "{wire:?}: {}", server.requests().len());
        let words = ["too long", "maximum", "context window"];
        assert!(words.iter().any(|words| exec.stderr.contains(words)), "{wire:?}: {}", exec.stderr);
    });
}

#[test]
fn a_known_window_is_respected_before_anything_is_refused() {
    let server = ModelServer::start();
    for _ in 0..6 {
        server.then(Reply::call("read", json!({"path": "long.txt"})));
    }
    server.then(Reply::say("done"));
    let home = Home::with_model(&server);
    home.configure("[models.test]\ncontext_tokens = 8192\n");
    home.write("long.txt", "word after word after word\n".repeat(500));
    home.exec(["read it often"]).expect_code(0);
    let largest = server.requests().iter().map(|request| request.body.to_string().len()).max().expect("asked");
    assert!(largest < 8_192 * 4, "{largest} bytes for a window of 8192 tokens");
}

#[test]
fn a_task_much_longer_than_its_window_goes_on_in_another_run_with_its_first_words_and_its_newest() {
    const TURNS: usize = 150;
    let server = ModelServer::start();
    for _ in 0..TURNS {
        server.then(Reply::call("read", json!({"path": "given.txt"})));
    }
    server.then(Reply::say("done at last")).then(Reply::say("once more"));
    let home = Home::with_model(&server);
    home.configure("[models.test]\ncontext_tokens = 8192\n");
    home.write("given.txt", "word after word\n".repeat(20));
    let exec = home.exec(["the very first words"]).expect_code(0);
    home.kill_host();
    home.exec(["--task", exec.task(), "and the newest"]).expect_code(0);
    let (before, after) = (server.wait_for_request(TURNS + 1), server.wait_for_request(TURNS + 2));
    for request in [&before, &after] {
        let sent = request.body.to_string();
        assert!(sent.contains("the very first words") && sent.contains("earlier entries"), "{sent}");
        assert!(sent.len() < 8_192 * 4, "{} bytes", sent.len());
    }
    assert!(after.body.to_string().contains("done at last") && after.last() == "and the newest");
    assert!(after.messages().len() > 20, "as much is sent as fits: {} messages", after.messages().len());
    home.assert_sound();
}

#[test]
fn a_fallback_model_goes_on_where_the_first_one_failed_for_good() {
    let server = ModelServer::start();
    let primary = |request: &Request| request.body["model"] == "test";
    server.when(
        primary,
        Reply::error_status(429, "rate_limit_exceeded", "Too many requests").header("Retry-After", "86400"),
    );
    server.then(Wire::Messages.call("list", json!({}))).then(Wire::Messages.say("went on"));
    let home = home(&server, "openai-like:test", "[model]\nfallback = \"anthropic-like:other\"\n");
    let exec = home.exec(["hello"]).expect_code(0);
    assert_eq!(exec.text(), "went on");
    let models: Vec<Value> = server.requests().iter().map(|request| request.body["model"].clone()).collect();
    assert_eq!(models, ["test", "other", "other"], "once fallen back, it stays for this Run");
    let notice = exec.of("notice").into_iter().find(|notice| notice["class"] == "rate_limited").expect("said");
    let words = notice["text"].as_str().unwrap_or_default();
    assert!(words.contains("Going on with anthropic-like:other"), "{words}");
    assert_eq!((&notice["instead"], notice.get("retry_at")), (&json!("anthropic-like:other"), None));
    home.assert_sound();
}

#[test]
fn a_fallback_without_a_price_is_not_asked_where_dollars_are_counted() {
    let server = ModelServer::with([Reply::error_status(401, "authentication_error", "no such key")]);
    let toml = "[model]\nfallback = \"anthropic-like:other\"\n[models.test]\nprice = { input = 1, output = 1 }\n";
    let home = home(&server, "openai-like:test", toml);
    home.exec(["--budget", "usd=1", "hello"]).expect_code(5);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn the_cheap_model_names_a_task_beside_the_work_and_what_it_used_is_counted() {
    let (latch, cheap) =
        (Latch::new(), ModelServer::with([Reply::stream().text("\"Mend the login page.\"").finish_using(30, 5)]));
    let server = ModelServer::with([
        Reply::stream().hold(&latch).text("mended").finish_using(100, 7),
        Reply::stream().text("mended again").finish_using(100, 7),
    ]);
    let home = Home::with_model(&server);
    let second = format!("[providers.small]\nkind = \"openai\"\nbase_url = \"{}\"\n", cheap.url());
    home.configure(&format!("[model]\ncheap = \"small:mini\"\n{second}"));
    assert!(home.ok(["models"]).contains("cheap: small:mini"));
    let words = "the page where one logs in is broken, look at it, please";
    let running = home.start(["exec", "--json", words]);
    eventually("it has its name while the first answer is awaited", || {
        home.json(["ls"]).first().is_some_and(|task| task["title"] == "Mend the login page")
    });
    latch.release();
    let exec = Exec::new(running.finish()).expect_code(0);
    assert_eq!(exec.text(), "mended");
    let used = home.json(["show", exec.task()])[0]["usage"].clone();
    assert_eq!([&used["turns"], &used["input_tokens"], &used["output_tokens"]], [1, 130, 12], "{used}");
    let asked = cheap.wait_for_request(1);
    assert!(asked.heard() == [words] && asked.tools().is_empty(), "{asked:?}");
    assert!(!server.wait_for_request(1).body.to_string().contains("title"), "the work knows nothing of it");
    home.exec(["--task", exec.task(), "again"]).expect_code(0);
    assert_eq!(cheap.requests().len(), 1, "a Task is named once");
    home.assert_sound();
}

#[test]
fn a_title_that_a_person_gave_stays_and_a_cheap_model_that_fails_harms_nothing() {
    let (server, cheap) = (ModelServer::with([Reply::say("one"), Reply::say("two")]), ModelServer::start());
    cheap.otherwise(|_| Reply::error_status(500, "server_error", "Not now"));
    let home = Home::with_model(&server);
    let second = format!("[providers.small]\nkind = \"openai\"\nbase_url = \"{}\"\n", cheap.url());
    home.configure(&format!("[model]\ncheap = \"small:mini\"\n{second}"));
    let task = home.json(["new", "My own title"])[0]["id"].as_str().expect("an id").to_owned();
    home.exec(["--task", &task, "some words"]).expect_code(0);
    assert_eq!((home.json(["show", &task])[0]["title"].as_str(), cheap.requests().len()), (Some("My own title"), 0));
    let exec = home.exec(["other words"]).expect_code(0);
    cheap.wait_for_request(1);
    assert_eq!(home.json(["show", exec.task()])[0]["title"], "other words");
    home.assert_sound();
}

#[test]
fn a_call_in_a_fenced_block_of_a_local_model_is_run() {
    let fenced = "I will look.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a.txt\"}}\n```";
    let server = ModelServer::with([Reply::say(fenced), Reply::say("It says milk.")]);
    let home = Home::with_model(&server);
    home.write("a.txt", "milk\n");
    let exec = home.exec(["what is in it?"]).expect_code(0);
    assert_eq!(exec.text(), "It says milk.");
    assert!(exec.tool_texts()[0].contains("milk"));
    assert_eq!(exec.of("text")[0]["text"], "I will look.", "the block is a call, not words");
    let second = server.wait_for_request(2);
    assert_eq!(second.last_role(), "tool");
    home.assert_sound();
}

#[test]
fn step_mode_does_a_whole_turn_that_edits_a_file() {
    let step = |step: Value| Reply::say(&step.to_string());
    let server = ModelServer::with([
        step(json!({"tool": "read", "arguments": {"path": "a.txt"}})),
        step(json!({"tool": "edit", "arguments": {"path": "a.txt", "edits": [{"old": "milk", "new": "bread"}]}})),
        step(json!({"answer": "It is bread now."})),
    ]);
    let home = Home::with_model(&server);
    home.configure("[models.test]\nsteps = true\n");
    home.write("a.txt", "milk\n");
    let exec = home.exec(["make it bread"]).expect_code(0);
    assert_eq!((exec.text(), home.read("a.txt").as_str()), ("It is bread now.", "bread\n"));
    let first = server.wait_for_request(1);
    assert!(first.tools().is_empty() && first.body["response_format"]["type"] == "json_schema");
    home.assert_sound();
}

#[test]
fn the_first_request_is_below_8_kb_in_every_wire_format() {
    for wire in Wire::ALL {
        let server = ModelServer::with([wire.say("hi")]);
        let home = home(&server, &model_of(wire), "");
        home.exec(["hello"]).expect_code(0);
        let request = server.wait_for_request(1);
        let bytes: usize = request.header("content-length").and_then(|bytes| bytes.parse().ok()).expect("a length");
        assert!(bytes < 8_000, "{wire:?}: {bytes} bytes");
    }
}

#[test]
fn a_proxy_of_the_environment_is_used_for_hosts_elsewhere_and_never_for_this_machine() {
    let proxy = ModelServer::with([Reply::say("through the proxy")]);
    let address = proxy.url().trim_end_matches("/v1").to_owned();
    let elsewhere = Home::new()
        .env("COWORK_MODEL", "openai:test")
        .env("OPENAI_BASE_URL", "http://model.example/v1")
        .env("HTTP_PROXY", &address)
        .env("http_proxy", &address);
    assert_eq!(elsewhere.exec(["hello"]).expect_code(0).text(), "through the proxy");
    assert_eq!(proxy.wait_for_request(1).path, "http://model.example/v1/chat/completions");
    let server = ModelServer::with([Reply::say("directly")]);
    let here = Home::with_model(&server).env("HTTP_PROXY", &address).env("http_proxy", &address);
    assert_eq!(here.exec(["hello"]).expect_code(0).text(), "directly");
    assert_eq!(proxy.requests().len(), 1);
}

#[test]
fn a_certificate_of_an_authority_of_ones_own_is_accepted_only_when_it_is_named() {
    let server = ModelServer::with([Reply::say("in private")]);
    let base = tls::in_front_of(&server);
    let stranger = Home::new().env("COWORK_MODEL", "openai:test").env("OPENAI_BASE_URL", &base);
    stranger.configure("[limits]\nretries = 0\n");
    let exec = stranger.exec(["hello"]).expect_code(5);
    assert!(exec.stderr.contains("certificate") && exec.stderr.contains("SSL_CERT_FILE"), "{}", exec.stderr);
    assert_eq!(server.requests().len(), 0);
    let authority = tls::authority();
    let known = Home::new()
        .env("COWORK_MODEL", "openai:test")
        .env("OPENAI_BASE_URL", &base)
        .env("SSL_CERT_FILE", authority.to_str().expect("text"));
    assert_eq!(known.exec(["hello"]).expect_code(0).text(), "in private");
}

#[test]
fn fields_of_a_request_can_be_configured_and_a_repository_can_set_nothing_of_it() {
    let server = ModelServer::with([Reply::say("hi")]);
    let home = Home::with_model(&server);
    home.configure("[models.\"openai:test\"]\nrequest = { temperature = 0.25, reasoning_effort = \"low\" }\n");
    home.write(".cowork/config.toml", "[providers.openai]\nbase_url = \"http://127.0.0.1:9/v1\"\nkey_command = \"touch was-run\"\n[model]\nfallback = \"openai:evil\"\n");
    home.exec(["hello"]).expect_code(0);
    let body = server.wait_for_request(1).body;
    assert_eq!((&body["temperature"], &body["reasoning_effort"]), (&json!(0.25), &json!("low")));
    assert!(!home.has("was-run"));
}
