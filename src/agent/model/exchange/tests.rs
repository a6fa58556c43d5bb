//! The wire, byte by byte, against a server on this machine.

use super::super::{Reach, connect};
use super::*;
use crate::agent::tools::testing::Memory;
use crate::domain::settings::{Limits, ProviderKind};
use crate::domain::{Secret, Settings, Usage};
use futures_util::StreamExt;
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// What the server does after it has read a request.
type Script = Box<dyn FnOnce(&mut TcpStream) + Send>;

/// A server that answers one request by a script, and tells what it was sent.
struct TestServer {
    base: String,
    requests: mpsc::Receiver<String>,
}

fn serve(script: Script) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let (told, requests) = mpsc::channel();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let _ = told.send(read_request(&mut stream));
        script(&mut stream);
    });
    TestServer { base, requests }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length =
                length.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return text,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// Answers with a head and chunks of body, then hangs up. A client that has left is no fault.
fn answer(head: &str, chunks: Vec<Vec<u8>>) -> Script {
    let head = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n");
    Box::new(move |stream| {
        let _ = stream.set_nodelay(true);
        let _ = stream.write_all(head.as_bytes());
        for chunk in chunks {
            let _ = stream.write_all(&chunk);
        }
    })
}

fn events(body: &str) -> Script {
    answer("200 OK\r\nContent-Type: text/event-stream", vec![body.as_bytes().to_vec()])
}

fn settings(base: &str) -> Settings {
    let mut settings = Settings { limits: Limits { idle_seconds: 1, ..Limits::default() }, ..Settings::default() };
    let provider = Provider {
        key_env: Some("TEST_KEY".into()),
        key: Some(Secret::new("sk-secret-of-the-test")),
        headers: [("x-extra".to_owned(), Secret::new("more"))].into(),
        ..Provider::new(ProviderKind::Openai, base)
    };
    settings.providers.insert("local".into(), provider);
    settings
}

fn request() -> Request {
    let row = crate::domain::Row {
        seq: 1,
        role: crate::domain::Role::User,
        parts: vec![crate::domain::Part::text("hello")],
        message: None,
        tool_call: None,
        outcome: None,
        cut: false,
        tokens: 0,
        at: 0,
    };
    Request {
        model: "m".into(),
        system: "s".into(),
        rows: vec![row],
        tools: vec![],
        info: crate::domain::settings::ModelInfo::default(),
    }
}

async fn ask(base: &str) -> Vec<Result<StreamEvent, ModelError>> {
    let model = connect(&settings(base), "local:m", Arc::new(Memory::default())).expect("configured");
    model.ask(request()).collect().await
}

/// Waits for what a server's thread tells, while the connection goes on beside.
async fn told(what: mpsc::Receiver<()>) {
    let waiting = tokio::task::spawn_blocking(move || what.recv_timeout(Duration::from_secs(10)));
    waiting.await.expect("no panic").expect("told within ten seconds");
}

/// The text of an answer, and its end.
fn summed(items: Vec<Result<StreamEvent, ModelError>>) -> (String, Result<super::super::Finished, ModelError>) {
    let mut text = String::new();
    let mut items = items.into_iter();
    let end = loop {
        match items.next().expect("an end") {
            Ok(StreamEvent::Text(piece)) => text.push_str(&piece),
            Ok(StreamEvent::Done(finished)) => break Ok(finished),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    assert_eq!(items.next(), None, "the end is the end");
    (text, end)
}

async fn failure(script: Script) -> ModelError {
    summed(ask(&serve(script).base).await).1.expect_err("a failure")
}

const WHOLE: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"北京那\"}}]}\r\n\r\n\
    : ping\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"🌍é\"}}]}\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_a\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\"}}]}}]}\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"é\\\"}\"}}]}}]}\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\r\n\r\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\r\n\r\n\
    data: [DONE]\r\n\r\n";

#[tokio::test]
async fn a_stream_is_read_to_its_end_and_the_key_is_in_one_header_only() {
    let server = serve(events(WHOLE));
    let (text, end) = summed(ask(&server.base).await);
    assert_eq!(text, "北京那🌍é");
    let finished = end.expect("whole");
    assert_eq!(finished.calls, [("call_a".into(), "read".into(), "{\"path\":\"é\"}".into())]);
    assert_eq!(finished.reason, "tool_calls");
    assert_eq!(
        finished.usage,
        Usage { turns: 1, input_tokens: 10, cached_tokens: 8, output_tokens: 4, ..Usage::default() }
    );
    let sent = server.requests.recv().expect("a request");
    assert!(sent.starts_with("POST /v1/chat/completions HTTP/1.1"), "{sent}");
    assert!(sent.to_ascii_lowercase().contains("authorization: bearer sk-secret-of-the-test"));
    assert!(sent.contains("x-extra: more") && sent.contains("\"stream\":true"));
    assert_eq!(sent.matches("sk-secret").count(), 1);
}

#[tokio::test]
async fn a_stream_cut_into_single_bytes_reads_the_same() {
    let single = WHOLE.bytes().map(|byte| vec![byte]).collect();
    let server = serve(answer("200 OK\r\nContent-Type: text/event-stream", single));
    let (text, end) = summed(ask(&server.base).await);
    assert_eq!((text.as_str(), end.is_ok()), ("北京那🌍é", true));
}

#[tokio::test]
async fn a_stream_that_ends_anywhere_is_whole_or_cut_and_says_nothing_wrong() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for end in 0..WHOLE.len() {
            let (mut stream, _) = listener.accept().expect("a client");
            read_request(&mut stream);
            answer("200 OK\r\nContent-Type: text/event-stream", vec![WHOLE.as_bytes()[..end].to_vec()])(&mut stream);
        }
    });
    let reason = WHOLE.find("\"finish_reason\"").expect("there") + "\"finish_reason\":\"tool_calls\"}]}".len();
    for end in 0..WHOLE.len() {
        let (text, ended) = summed(ask(&base).await);
        assert!("北京那🌍é".starts_with(&text), "{end}: {text}");
        match ended {
            Ok(finished) => {
                assert!(end >= reason, "{end}: {finished:?}");
                assert_eq!(finished.calls, [("call_a".into(), "read".into(), "{\"path\":\"é\"}".into())]);
            }
            Err(error) => assert!(end < reason && error.class == ErrorClass::Cut, "{end}: {error}"),
        }
    }
}

#[tokio::test]
async fn an_end_without_done_is_fine_after_a_reason_and_a_cut_before() {
    let one = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let reason = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let (text, end) = summed(ask(&serve(events(&format!("{one}{reason}"))).base).await);
    assert_eq!((text.as_str(), end.expect("whole").reason.as_str()), ("a", "stop"));
    let (_, end) = summed(ask(&serve(events(&format!("{one}{}", reason.trim_end()))).base).await);
    assert!(end.is_ok(), "the last blank line may be missing");
    let (text, end) = summed(ask(&serve(events(one)).base).await);
    assert_eq!((text.as_str(), end.expect_err("cut").class), ("a", ErrorClass::Cut));
    let (_, end) = summed(ask(&serve(events(&format!("{one}{}", &reason[..20]))).base).await);
    assert_eq!(end.expect_err("cut").class, ErrorClass::Cut, "half an event");
    let (_, end) = summed(ask(&serve(events("")).base).await);
    assert_eq!(end.expect_err("cut").class, ErrorClass::Cut);
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_a_cut_unless_the_answer_was_whole() {
    let head = "200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 99999";
    let one = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let error = failure(answer(head, vec![one.into()])).await;
    assert_eq!(error.class, ErrorClass::Cut);
    assert!(error.class.passing());
    let reason = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let (_, end) = summed(ask(&serve(answer(head, vec![one.into(), reason.into()])).base).await);
    assert!(end.is_ok());
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken_too() {
    let body = json!({
        "choices": [{"message": {"content": "hi", "reasoning_content": "hm", "tool_calls": [
            {"id": "a", "function": {"name": "list", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    });
    let head = "200 OK\r\nContent-Type: application/json; charset=utf-8";
    let items = ask(&serve(answer(head, vec![body.to_string().into_bytes()])).base).await;
    assert_eq!(items.first(), Some(&Ok(StreamEvent::Thinking("hm".into()))));
    let (text, end) = summed(items);
    let finished = end.expect("whole");
    assert_eq!((text.as_str(), finished.calls.len(), finished.usage.input_tokens), ("hi", 1, 3));
}

#[tokio::test]
async fn an_error_within_a_stream_has_the_class_it_names_and_comes_after_the_text() {
    let two = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n";
    for (error, class) in [
        (r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, ErrorClass::Overloaded),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, ErrorClass::Overloaded),
        (r#"{"error":{"code":502,"message":"Provider returned error"}}"#, ErrorClass::Overloaded),
        (r#"{"error":{"code":"rate_limit_exceeded","message":"slow down"}}"#, ErrorClass::RateLimited),
        (r#"{"error":"something odd"}"#, ErrorClass::Overloaded),
        (
            r#"{"error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"x"}}"#,
            ErrorClass::TooLong,
        ),
        (r#"{"error":{"type":"insufficient_quota","code":429,"message":"no money"}}"#, ErrorClass::Refused),
        (r#"{"object":"error","message":"bad","type":"BadRequestError","code":400}"#, ErrorClass::Refused),
        (r#"{"choices":[{"error":{"code":429,"message":"busy"},"delta":{}}]}"#, ErrorClass::RateLimited),
    ] {
        let (text, end) = summed(ask(&serve(events(&format!("{two}data: {error}\n\n"))).base).await);
        assert_eq!((text.as_str(), end.expect_err("an error").class), ("ab", class), "{error}");
    }
    let (_, end) = summed(ask(&serve(events(&format!("{two}event: error\ndata: {{\"code\":1}}\n\n"))).base).await);
    assert_eq!(end.expect_err("an error").class, ErrorClass::Overloaded);
}

#[tokio::test]
async fn statuses_become_classes_and_say_what_to_do() {
    let body = |message: &str| json!({"error": {"message": message}}).to_string();
    for (status, body, class, hint) in [
        ("401 Unauthorized", body("Incorrect API key provided: sk-secret-of-the-test"), ErrorClass::Auth, "TEST_KEY"),
        ("403 Forbidden", body("no"), ErrorClass::Auth, "TEST_KEY"),
        ("404 Not Found", body("model 'm' not found, try pulling it first"), ErrorClass::NoModel, "cowork models"),
        ("404 Not Found", "<html>nothing</html>".into(), ErrorClass::Config, "/v1"),
        (
            "400 Bad Request",
            body("This model's maximum context length is 8192 tokens"),
            ErrorClass::TooLong,
            "new Task",
        ),
        ("400 Bad Request", body("messages: bad"), ErrorClass::Refused, "messages: bad"),
        ("413 Payload Too Large", String::new(), ErrorClass::TooLong, ""),
        ("402 Payment Required", body("pay"), ErrorClass::Refused, "pay"),
        ("429 Too Many Requests", body("slow"), ErrorClass::RateLimited, "slow"),
        ("500 Internal Server Error", String::new(), ErrorClass::Overloaded, "500"),
        ("503 Service Unavailable", "loading model".into(), ErrorClass::Overloaded, "loading model"),
        ("529 Site Overloaded", body("Overloaded"), ErrorClass::Overloaded, "529"),
        ("302 Found\r\nLocation: https://elsewhere.example/", String::new(), ErrorClass::Config, "elsewhere"),
    ] {
        let error = failure(answer(status, vec![body.into_bytes()])).await;
        assert_eq!(error.class, class, "{status}: {error}");
        assert!(error.message.contains(hint), "{status}: {error}");
        assert!(!error.message.contains("sk-secret"), "{error}");
    }
}

#[tokio::test]
async fn the_delay_a_server_asks_for_is_passed_on() {
    for (head, wait) in [
        ("529 Overloaded\r\nRetry-After: 2", Some(2_000)),
        ("429 Too Many Requests\r\nRetry-After: 86400", Some(86_400_000)),
        (
            "429 Too Many Requests\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 07:28:07 GMT",
            Some(7_000),
        ),
        (
            "429 Too Many Requests\r\nDate: Wed, 21 Oct 2015 07:28:00 GMT\r\nRetry-After: Wed, 21 Oct 2015 07:00:00 GMT",
            Some(0),
        ),
        ("429 Too Many Requests\r\nretry-after-ms: 350\r\nRetry-After: 1", Some(350)),
        ("429 Too Many Requests\r\nRetry-After: soon", None),
        ("429 Too Many Requests", None),
    ] {
        let error = failure(answer(head, vec![])).await;
        assert_eq!(error.retry_after_ms, wait, "{head}");
    }
}

#[tokio::test]
async fn the_words_of_a_server_are_bounded_and_harmless() {
    let message = format!("\x1b]0;owned\x07\x1b[2J{}", "x".repeat(100_000));
    let body = json!({"error": {"message": message}}).to_string();
    let error = failure(answer("500 Oops", vec![body.into_bytes()])).await;
    assert!(error.message.len() < 1000 && !error.message.contains(char::is_control), "{error}");
}

#[tokio::test]
async fn pings_do_not_count_as_an_answer_and_the_connection_is_closed() {
    for (kind, ping) in [
        (ProviderKind::Openai, ": ping\n\ndata: {\"choices\":[{\"delta\":{}}]}\n\n"),
        (ProviderKind::Anthropic, "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        (ProviderKind::Responses, "data: {\"type\":\"response.in_progress\",\"response\":{\"error\":null}}\n\n"),
    ] {
        let (closed, was_closed) = mpsc::channel();
        let script: Script = Box::new(move |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
            // As fast as the peer takes them, until it hangs up.
            let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
            loop {
                if stream.write_all(ping.as_bytes()).is_err() || matches!(stream.read(&mut [0; 1]), Ok(0)) {
                    let _ = closed.send(());
                    return;
                }
            }
        });
        let mut settings = settings(&serve(script).base);
        if let Some(provider) = settings.providers.get_mut("local") {
            provider.kind = kind;
        }
        let model = connect(&settings, "local:m", Arc::new(Memory::default())).expect("configured");
        let error = summed(model.ask(request()).collect().await).1.expect_err("silence");
        assert_eq!(error.class, ErrorClass::Idle, "{kind:?}: {error}");
        assert!(error.message.contains("1 s"), "{error}");
        told(was_closed).await;
    }
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing_is_given_up() {
    let error = failure(Box::new(|stream| drop(stream.read(&mut [0; 1])))).await;
    assert_eq!(error.class, ErrorClass::Idle, "{error}");
}

#[tokio::test]
async fn a_server_that_neither_counts_nor_hangs_up_after_a_whole_answer_is_no_failure() {
    let script: Script = Box::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        let _ =
            stream.write_all(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n");
        let _ = stream.read(&mut [0; 1]);
    });
    let (text, end) = summed(ask(&serve(script).base).await);
    assert_eq!((text.as_str(), end.is_ok()), ("a", true));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let (closed, was_closed) = mpsc::channel();
    let script: Script = Box::new(move |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n");
        let _ = stream.write_all(b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
        while stream.read(&mut [0; 1]).is_ok_and(|read| read > 0) {}
        let _ = closed.send(());
    });
    let server = serve(script);
    let model = connect(&settings(&server.base), "local:m", Arc::new(Memory::default())).expect("configured");
    let mut stream = model.ask(request());
    assert_eq!(stream.next().await, Some(Ok(StreamEvent::Text("a".into()))));
    drop(stream);
    told(was_closed).await;
}

#[tokio::test]
async fn nobody_there_is_a_network_failure_that_names_the_address() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let (_, end) = summed(ask(&format!("http://me:hidden@127.0.0.1:{port}/v1?key=hidden")).await);
    let error = end.expect_err("nobody");
    assert_eq!(error.class, ErrorClass::Network);
    assert!(error.message.contains(&format!("http://127.0.0.1:{port}/v1")), "{error}");
    assert!(error.message.contains("refused") && !error.message.contains("hidden"), "{error}");
}

#[tokio::test]
async fn what_is_no_answer_at_all_is_said_so() {
    let error = failure(events("data: this is no JSON\n\ndata: [DONE]\n\n")).await;
    assert_eq!(error.class, ErrorClass::Garbled);
    let error = failure(answer("200 OK\r\nContent-Type: text/html", vec![b"<html>".to_vec()])).await;
    assert_eq!(error.class, ErrorClass::Config);
    let error = failure(answer("200 OK\r\nContent-Type: application/json", vec![b"{\"a\":1}".to_vec()])).await;
    assert_eq!(error.class, ErrorClass::Garbled);
    let error = failure(answer("200 OK", vec![b"data: caf\xe9\n\ndata: x\n\n".to_vec()])).await;
    assert_eq!(error.class, ErrorClass::Garbled);
}

#[tokio::test]
async fn the_models_of_a_server_are_listed() {
    let reach_with = async |script: Script, key: bool| {
        let server = serve(script);
        let mut provider = settings(&server.base).providers["local"].clone();
        if !key {
            provider.key = None;
        }
        super::super::reach("local", &provider).await
    };
    let list = json!({"data": [{"id": "b"}, {"id": "a"}]}).to_string().into_bytes();
    let json = "200 OK\r\nContent-Type: application/json";
    assert_eq!(reach_with(answer(json, vec![list]), true).await, Reach::Ok { models: vec!["a".into(), "b".into()] });
    let refused = reach_with(answer("401 Unauthorized", vec![]), false).await;
    assert!(matches!(&refused, Reach::NoKey { why } if why.contains("set TEST_KEY")), "{refused:?}");
    let wrong = reach_with(answer("401 Unauthorized", vec![]), true).await;
    assert!(matches!(&wrong, Reach::Unreachable { why } if why.contains("Check the key in TEST_KEY")), "{wrong:?}");
    let page = reach_with(answer("200 OK", vec![b"<html>".to_vec()]), true).await;
    assert!(matches!(&page, Reach::Unreachable { why } if why.contains("list of models")), "{page:?}");
}

#[test]
fn a_configuration_that_cannot_work_is_refused_without_showing_the_key() {
    let connect = |change: &dyn Fn(&mut Provider)| {
        let mut settings = settings("http://127.0.0.1:1/v1");
        change(settings.providers.get_mut("local").expect("there"));
        let error = super::super::connect(&settings, "local:m", Arc::new(Memory::default())).err().expect("refused");
        assert_eq!(error.class, ErrorClass::Config);
        assert!(!error.message.contains("sk-"), "{error}");
        error.message
    };
    assert!(connect(&|provider| provider.base_url = "localhost:8080".into()).contains("http://"));
    assert!(connect(&|provider| provider.base_url = String::new()).contains("base URL"));
    assert!(connect(&|provider| provider.key = Some(Secret::new("sk-a\nb"))).contains("key"));
    assert!(
        connect(&|provider| drop(provider.headers.insert("bad name".into(), Secret::new("x")))).contains("bad name")
    );
}
