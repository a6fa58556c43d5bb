//! A model server that answers at once and costs next to nothing: it reads the length of a request,
//! throws its body away, and notes when it came.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// One request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    pub at: Instant,
    pub bytes: u64,
    /// What the watched process held at that moment, where that was to be looked at.
    pub resident_mb: Option<f64>,
}

#[derive(Default)]
struct State {
    asked: Vec<Asked>,
    watched: Option<(u32, Vec<usize>)>,
}

/// The server; it listens until the process ends.
pub struct AtOnce {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl AtOnce {
    /// One that asks for a call of `read` in every answer but the last of so many.
    pub fn with(turns: usize) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = shared.clone();
                std::thread::spawn(move || serve(&shared, &stream, turns));
            }
        });
        Self { port, state }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.lock().expect("the state").asked.clone()
    }

    /// Looks at what a process holds when these requests come, counted from 1.
    pub fn looks_at(&self, pid: u32, requests: &[usize]) {
        self.state.lock().expect("the state").watched = Some((pid, requests.to_vec()));
    }
}

fn serve(state: &Mutex<State>, mut stream: &TcpStream, turns: usize) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().ok()?
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        std::io::copy(&mut (&mut reader).take(length), &mut std::io::sink()).ok()?;
        let number = note(state, length);
        let body = answer(number, number == turns);
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length:";
        stream.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).ok()?;
    }
}

fn note(state: &Mutex<State>, bytes: u64) -> usize {
    let at = Instant::now();
    let mut state = state.lock().expect("the state");
    let number = state.asked.len() + 1;
    let watched = state.watched.as_ref().filter(|(_, requests)| requests.contains(&number));
    let resident_mb = watched.map(|(pid, _)| resident(*pid));
    state.asked.push(Asked { at, bytes, resident_mb });
    number
}

fn resident(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of it");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
}

fn answer(number: usize, last: bool) -> String {
    let (delta, reason) = match last {
        true => (r#"{"content":"done"}"#.to_owned(), "stop"),
        false => {
            let function = r#"{"name":"read","arguments":"{\"path\":\"given.txt\"}"}"#;
            let id = format!("call_{number}");
            (
                format!(r#"{{"tool_calls":[{{"index":0,"id":"{id}","type":"function","function":{function}}}]}}"#),
                "tool_calls",
            )
        }
    };
    let choice = format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":"{reason}"}}]}}"#);
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}"#;
    format!("data: {choice}\n\ndata: {usage}\n\ndata: [DONE]\n\n")
}
