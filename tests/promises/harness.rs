//! The tools of these tests keep their own promises.

use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;
use portable_pty::CommandBuilder;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Asks the scripted model as a client of HTTP would and gives the open connection.
fn ask(server: &ModelServer, messages: &Value) -> TcpStream {
    let address = server.url();
    let address = address.trim_start_matches("http://").trim_end_matches("/v1");
    let mut stream = TcpStream::connect(address).expect("the server listens");
    let body = json!({"model": "test", "messages": messages}).to_string();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Test: Yes\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("a request");
    stream.write_all(body.as_bytes()).expect("a request");
    stream
}

/// Reads one whole answer: the status line and the body, its chunks as they came.
fn answer(stream: &mut TcpStream) -> (String, Vec<Vec<u8>>) {
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status).expect("a status");
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        reader.read_line(&mut line).expect("a header");
    }
    let mut chunks = Vec::new();
    loop {
        let mut size = String::new();
        if reader.read_line(&mut size).unwrap_or(0) == 0 {
            return (status, chunks);
        }
        let size = usize::from_str_radix(size.trim(), 16).expect("the size of a chunk");
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).expect("a chunk");
        if size == 0 {
            return (status, chunks);
        }
        chunk.truncate(size);
        chunks.push(chunk);
    }
}

fn hello() -> Value {
    json!([{"role": "user", "content": "hello"}])
}

#[test]
fn the_scripted_model_answers_in_order_and_records_what_it_was_asked() {
    let server = ModelServer::with([
        Reply::say("one"),
        Reply::error_status(429, "rate_limited", "slow down").header("retry-after", "2"),
    ]);
    let (status, chunks) = answer(&mut ask(&server, &hello()));
    assert!(status.contains(" 200 "), "{status}");
    let body = String::from_utf8(chunks.concat()).expect("UTF-8");
    assert!(body.contains(r#""content":"one""#) && body.ends_with("data: [DONE]\n\n"), "{body}");
    let (status, _) = answer(&mut ask(&server, &hello()));
    assert!(status.contains(" 429 "), "{status}");
    let request = server.wait_for_request(2);
    assert_eq!((request.last().as_str(), request.header("x-test")), ("hello", Some("Yes")));
}

#[test]
fn an_answer_is_cut_at_every_byte_and_stays_the_same() {
    let reply = Reply::say("北京那🌍é");
    let server =
        ModelServer::with([reply.clone().byte_by_byte(), reply.clone().split_at(&[3, 7]), reply.clone().with_crlf()]);
    let (_, chunks) = answer(&mut ask(&server, &hello()));
    assert!(chunks.iter().all(|chunk| chunk.len() == 1));
    assert_eq!(chunks.concat(), reply.body());
    let (_, chunks) = answer(&mut ask(&server, &hello()));
    assert_eq!(chunks.iter().map(Vec::len).collect::<Vec<_>>(), [3, 4, reply.body().len() - 7]);
    let (_, chunks) = answer(&mut ask(&server, &hello()));
    assert!(chunks.concat().ends_with(b"data: [DONE]\r\n\r\n"));
}

#[test]
fn a_held_answer_goes_on_when_the_test_says_so() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("first").hold(&latch).text("second").finish()]);
    let mut stream = ask(&server, &hello());
    latch.wait_reached();
    latch.release();
    let (_, chunks) = answer(&mut stream);
    assert!(String::from_utf8_lossy(&chunks.concat()).contains("second"));
    server.wait_answered(1);
}

#[test]
fn a_client_that_hangs_up_is_noticed_while_the_answer_is_held() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().hold(&latch).finish(), Reply::silence(), Reply::pings()]);
    for number in 1..=3 {
        let stream = ask(&server, &hello());
        server.wait_for_request(number);
        drop(stream);
        server.wait_for_hang_up(number);
    }
}

#[test]
fn a_cut_answer_ends_without_its_end() {
    let server = ModelServer::with([Reply::stream().text("half").cut()]);
    let mut stream = ask(&server, &hello());
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    let all = String::from_utf8_lossy(&all).into_owned();
    assert!(all.contains("half") && !all.contains("0\r\n\r\n"), "{all}");
}

#[test]
fn rules_come_before_the_script_and_the_fallback_after_it() {
    let server = ModelServer::with([Reply::say("script")]);
    server.when(|request| request.last() == "special", Reply::say("rule"));
    server.otherwise(|request| Reply::say(&format!("echo {}", request.last())));
    let mut said = Vec::new();
    for words in ["special", "a", "b"] {
        let (_, chunks) = answer(&mut ask(&server, &json!([{"role": "user", "content": words}])));
        said.push(String::from_utf8_lossy(&chunks.concat()).into_owned());
    }
    assert!(said[0].contains("rule") && said[1].contains("script") && said[2].contains("echo b"), "{said:#?}");
}

#[test]
fn a_history_a_strict_provider_would_refuse_is_refused() {
    let call = |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
    let user = || json!({"role": "user", "content": "hello"});
    let broken = [
        json!([user(), call("a"), user()]),
        json!([user(), call("a")]),
        json!([user(), call("a"), result("a"), result("a")]),
        json!([user(), result("b")]),
        json!([user(), {"role": "assistant", "content": ""}]),
        json!([user(), {"role": "narrator", "content": "x"}]),
        json!([]),
    ];
    let server = ModelServer::with([]);
    for (at, messages) in broken.iter().enumerate() {
        let (status, _) = answer(&mut ask(&server, messages));
        assert!(status.contains(" 400 "), "{messages}");
        assert_eq!(server.faults().len(), at + 1);
    }
    server.forgive();
    server.then(Reply::say("fine"));
    let (status, _) = answer(&mut ask(&server, &json!([user(), call("a"), result("a")])));
    assert!(status.contains(" 200 "), "{status}");
}

#[test]
fn a_request_nobody_expected_fails_the_test() {
    let outcome = std::panic::catch_unwind(|| {
        let server = ModelServer::with([]);
        answer(&mut ask(&server, &hello()));
    });
    assert!(outcome.is_err());
}

/// A shell as the program in the terminal.
fn shell(script: &str) -> CommandBuilder {
    let mut command = CommandBuilder::new("sh");
    command.args(["-c", script]);
    command
}

#[test]
fn a_terminal_takes_keys_shows_the_screen_and_tells_how_the_program_ended() {
    let mut terminal =
        Terminal::open(shell("printf 'ready\\n'; read line; printf 'got %s\\n' \"$line\"; exit 3"), 40, 10);
    terminal.keys("wait:'ready' 'some words' enter").wait_for("got some words");
    assert_eq!(terminal.wait_exit().exit_code(), 3);
    terminal.assert_clean();
}

#[test]
fn a_terminal_has_the_size_it_was_given() {
    let mut terminal = Terminal::open(shell("stty size; read line; stty size; read line"), 40, 10);
    terminal.wait_for("10 40").resize(100, 30).keys("enter").wait_for("30 100");
}

#[test]
fn a_program_that_asks_its_terminal_is_answered() {
    let script =
        "stty raw -echo; printf '\\033[c'; head -c 9 | od -An -c; printf '\\033[6n'; head -c 6 | od -An -c; stty sane";
    let mut terminal = Terminal::open(shell(script), 80, 10);
    terminal.wait_for("033   [   ?   6   2").wait_for("033   [   2   ;");
}

#[test]
#[should_panic(expected = "the alternate screen is still on")]
fn a_program_that_leaves_the_terminal_dirty_is_caught() {
    let terminal = Terminal::open(shell("printf '\\033[?1049h'"), 40, 10);
    terminal.wait_exit();
    terminal.assert_clean();
}
