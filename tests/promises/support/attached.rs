//! A client that speaks the host's protocol line by line over the real socket, and reads only when
//! the test says so.

use super::home::Home;
use super::watch::PATIENCE;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

/// A connection to the host of a home.
pub struct Attached {
    reader: BufReader<UnixStream>,
    writer: UnixStream,
    requests: u64,
    welcome: Value,
}

impl Attached {
    /// Connects to the host, which runs, and says hello.
    #[track_caller]
    pub fn to(home: &Home, client: &str) -> Self {
        let stream = UnixStream::connect(home.state().join("host.sock")).expect("the host listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let writer = stream.try_clone().expect("its other direction");
        let mut attached = Self { reader: BufReader::new(stream), writer, requests: 0, welcome: Value::Null };
        let version = env!("CARGO_PKG_VERSION");
        attached.write(&json!({"to_host": "hello", "protocol": 1, "version": version, "client": client}));
        attached.welcome = attached.read();
        assert_eq!(attached.welcome["from_host"], "welcome");
        attached
    }

    /// The last event when the connection was made.
    pub fn seq(&self) -> i64 {
        self.welcome["seq"].as_i64().expect("its number")
    }

    /// Asks for the feed of everything after `after`, and does not read it.
    pub fn subscribe(&mut self, after: i64) {
        self.requests += 1;
        let request = self.requests;
        self.write(&json!({"to_host": "subscribe", "request": request, "task": null, "after": after}));
    }

    /// Has a command carried out; gives the answer, and drops what is pushed before it.
    #[track_caller]
    pub fn submit(&mut self, wanted: &Value) -> Value {
        self.requests += 1;
        let request = self.requests;
        let command = format!("c_{}_{request}", std::process::id());
        self.write(&json!({"to_host": "command", "request": request, "command": command, "wanted": wanted}));
        loop {
            let answer = self.read();
            if answer["request"] == request {
                return answer;
            }
        }
    }

    /// Reads the next line.
    #[track_caller]
    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line within the time a test waits");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("no JSON ({error}): {line:.200}"))
    }

    fn write(&mut self, value: &Value) {
        self.writer.write_all(format!("{value}\n").as_bytes()).expect("the host reads");
    }
}
