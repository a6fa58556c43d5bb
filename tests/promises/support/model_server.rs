//! The scripted model: a real HTTP server on loopback whose every byte is the test's.
//!
//! A script is rules (a predicate and a reply, tried first), then steps used up in order, then a
//! fallback. A request nothing answers, or one that a strict provider would refuse, fails the test.
//! Each connection has two threads: one reads, so that it sees the client hang up at once; the
//! other plays replies.

use super::latch::Latch;
use super::reply::{Piece, Reply};
use super::request::Request;
use super::watch::{PATIENCE, Watch};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How often a server that only pings does so.
const PING_EVERY: Duration = Duration::from_millis(50);

type Predicate = Box<dyn Fn(&Request) -> bool + Send>;
type Answerer = Box<dyn Fn(&Request) -> Reply + Send>;

/// The scripted model.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Watch<State>>,
}

#[derive(Default)]
struct State {
    rules: Vec<(Predicate, Reply)>,
    steps: VecDeque<Reply>,
    fallback: Option<Answerer>,
    exchanges: Vec<Exchange>,
    others: Vec<Request>,
    faults: Vec<String>,
    reads_old_arguments: bool,
    streams: Vec<TcpStream>,
    closing: bool,
}

struct Exchange {
    request: Request,
    end: Option<End>,
}

/// How an exchange ended; the first end counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The reply was played whole.
    Answered,
    /// The script broke it off.
    Cut,
    /// The client closed the connection before it had its answer.
    HungUp,
}

impl State {
    fn end(&mut self, number: Option<usize>, end: End) {
        if let Some(number) = number {
            self.exchanges[number - 1].end.get_or_insert(end);
        }
    }

    /// Whether nobody waits for the rest of that answer.
    fn is_over(&self, number: Option<usize>) -> bool {
        self.closing || number.is_some_and(|number| self.exchanges[number - 1].end.is_some())
    }
}

impl ModelServer {
    /// Starts a server with an empty script.
    pub fn start() -> Self {
        Self::at(0)
    }

    /// Starts a server with an empty script on this port; 0 is one that is free.
    pub fn at(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).expect("a port on loopback");
        let address = listener.local_addr().expect("the port's address");
        let shared = Arc::new(Watch::<State>::default());
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.look().closing {
                    return;
                }
                serve(&serving, stream);
            }
        });
        Self { address, shared }
    }

    /// A server that gives these replies in order.
    pub fn with(replies: impl IntoIterator<Item = Reply>) -> Self {
        let server = Self::start();
        server.shared.look().steps.extend(replies);
        server
    }

    /// Adds a reply to the end of the script.
    pub fn then(&self, reply: Reply) -> &Self {
        self.shared.look().steps.push_back(reply);
        self
    }

    /// Answers every request that `matches` with `reply`, before the script is looked at.
    pub fn when(&self, matches: impl Fn(&Request) -> bool + Send + 'static, reply: Reply) -> &Self {
        self.shared.look().rules.push((Box::new(matches), reply));
        self
    }

    /// Answers what neither a rule nor the script answers.
    pub fn otherwise(&self, answer: impl Fn(&Request) -> Reply + Send + 'static) -> &Self {
        self.shared.look().fallback = Some(Box::new(answer));
        self
    }

    /// From now on refuses, as some servers do, a history whose old calls have unreadable arguments.
    pub fn reads_old_arguments(&self) -> &Self {
        self.shared.look().reads_old_arguments = true;
        self
    }

    /// The base URL to configure.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Every chat request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.look().exchanges.iter().map(|exchange| exchange.request.clone()).collect()
    }

    /// Every other request so far, such as for the list of models.
    pub fn other_requests(&self) -> Vec<Request> {
        self.shared.look().others.clone()
    }

    /// Waits for the chat request of this number, from 1, and gives it.
    #[track_caller]
    pub fn wait_for_request(&self, number: usize) -> Request {
        self.wait(&format!("request {number}"), |state| state.exchanges.len() >= number);
        self.shared.look().exchanges[number - 1].request.clone()
    }

    /// Waits until the client has closed the connection of that request, before it had its answer.
    #[track_caller]
    pub fn wait_for_hang_up(&self, number: usize) {
        self.wait_for_end(number, End::HungUp);
    }

    /// Waits until the answer to that request was sent whole.
    #[track_caller]
    pub fn wait_answered(&self, number: usize) {
        self.wait_for_end(number, End::Answered);
    }

    #[track_caller]
    fn wait_for_end(&self, number: usize, end: End) {
        self.wait(&format!("request {number} ends as {end:?}"), |state| {
            state.exchanges.get(number - 1).is_some_and(|exchange| exchange.end == Some(end))
        });
    }

    #[track_caller]
    fn wait(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        if let Err(state) = self.shared.wait(PATIENCE, is_so) {
            let asked: Vec<String> = state.exchanges.iter().map(|exchange| exchange.request.last()).collect();
            panic!("not within {PATIENCE:?}: {what}; the model was asked {asked:#?}");
        }
    }

    /// How many connections were made so far.
    pub fn connections(&self) -> usize {
        self.shared.look().streams.len()
    }

    /// How many replies of the script are still to be given.
    pub fn steps_left(&self) -> usize {
        self.shared.look().steps.len()
    }

    /// What went wrong at the server so far.
    pub fn faults(&self) -> Vec<String> {
        self.shared.look().faults.clone()
    }

    /// Forgets what went wrong: for tests of the server itself.
    pub fn forgive(&self) {
        self.shared.look().faults.clear();
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        let (streams, faults) = self.shared.change(|state| {
            state.closing = true;
            (std::mem::take(&mut state.streams), std::mem::take(&mut state.faults))
        });
        for stream in streams {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts, which then sees that it is over.
        let _ = TcpStream::connect(self.address);
        if !std::thread::panicking() {
            assert!(faults.is_empty(), "the scripted model had to refuse: {faults:#?}");
        }
    }
}

/// Serves one connection on two threads of its own.
fn serve(shared: &Arc<Watch<State>>, stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let (Ok(reading), Ok(writing)) = (stream.try_clone(), stream.try_clone()) else { return };
    shared.look().streams.push(stream);
    let (ask, asked) = channel();
    let reader = Arc::clone(shared);
    std::thread::spawn(move || read_requests(&reader, reading, ask));
    let writer = Arc::clone(shared);
    std::thread::spawn(move || play_replies(&writer, writing, asked));
}

/// Reads requests until the client hangs up, and says so.
fn read_requests(shared: &Watch<State>, stream: TcpStream, ask: Sender<(Option<usize>, Reply)>) {
    let mut reader = BufReader::new(stream);
    let mut mine = Vec::new();
    while let Some(request) = read_request(&mut reader) {
        let (number, reply) = shared.change(|state| choose(state, request));
        mine.extend(number);
        if ask.send((number, reply)).is_err() {
            break;
        }
    }
    shared.change(|state| {
        for number in mine {
            state.end(Some(number), End::HungUp);
        }
    });
}

/// Reads one request, or nothing when the connection ends.
fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let find = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let mut body = Vec::new();
    if let Some(length) = find("content-length").and_then(|length| length.parse().ok()) {
        body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
    } else if find("transfer-encoding").is_some_and(|encoding| encoding.contains("chunked")) {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            reader.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Request { number: 0, method, path, headers, body })
}

/// Records a request and picks its reply; only chat requests have a number.
fn choose(state: &mut State, mut request: Request) -> (Option<usize>, Reply) {
    if !request.is_ask() {
        let models = json!({"object": "list", "data": [{"id": "test", "object": "model"}]});
        let reply = if request.path.ends_with("/models") {
            Reply::status(200).header("content-type", "application/json").raw(models.to_string().as_bytes())
        } else {
            Reply::error_status(404, "not_found", "the scripted model knows no such path")
        };
        state.others.push(request);
        return (None, reply);
    }
    request.number = state.exchanges.len() + 1;
    let number = Some(request.number);
    let refused =
        request.broken_rule().or_else(|| if state.reads_old_arguments { request.unreadable_arguments() } else { None });
    let reply = if let Some(rule) = refused {
        state.faults.push(rule.clone());
        Reply::error_status(400, "invalid_request_error", &rule)
    } else if let Some((_, reply)) = state.rules.iter().find(|(matches, _)| matches(&request)) {
        reply.clone()
    } else if let Some(reply) = state.steps.pop_front() {
        reply
    } else if let Some(answer) = &state.fallback {
        answer(&request)
    } else {
        state.faults.push(format!("nothing in the script answers request {}: {}", request.number, request.last()));
        Reply::error_status(400, "invalid_request_error", "the script of the test has no answer to this")
    };
    state.exchanges.push(Exchange { request, end: None });
    (number, reply)
}

/// Plays replies one after the other until one of them breaks the connection.
fn play_replies(shared: &Watch<State>, mut stream: TcpStream, asked: Receiver<(Option<usize>, Reply)>) {
    for (number, reply) in asked {
        match play(shared, &mut stream, number, &reply) {
            Ok(()) => shared.change(|state| state.end(number, End::Answered)),
            Err(end) => {
                shared.change(|state| state.end(number, end));
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

/// Plays one reply; an error says how the connection ended instead.
fn play(shared: &Watch<State>, stream: &mut TcpStream, number: Option<usize>, reply: &Reply) -> Result<(), End> {
    // A client that can't be written to has gone.
    let mut send = |bytes: &[u8]| stream.write_all(bytes).map_err(|_| End::HungUp);
    let is_over = || shared.look().is_over(number);
    if matches!(reply.pieces.first(), Some(Piece::Silence)) {
        wait_until_over(shared, number);
        return Err(End::HungUp);
    }
    let mut head = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    send(format!("{head}\r\n").as_bytes())?;
    for (at, piece) in reply.pieces.iter().enumerate() {
        if at + 1 == reply.pieces.len() && matches!(piece, Piece::Bytes(_)) {
            // Who has all of it may hang up before the body's formal end.
            shared.change(|state| state.end(number, End::Answered));
        }
        match piece {
            Piece::Bytes(bytes) if bytes.is_empty() => {}
            Piece::Bytes(bytes) => send(&chunk(bytes))?,
            Piece::Hold(latch) => {
                latch.arrive();
                while !latch.wait_open(PING_EVERY) {
                    if is_over() {
                        return Err(End::HungUp);
                    }
                }
            }
            Piece::Pings => {
                let never = Latch::new();
                while !is_over() {
                    send(&chunk(b": ping\n\n"))?;
                    never.wait_open(PING_EVERY);
                }
                return Err(End::HungUp);
            }
            Piece::Silence => {
                wait_until_over(shared, number);
                return Err(End::HungUp);
            }
            Piece::Cut => return Err(End::Cut),
        }
    }
    send(b"0\r\n\r\n")
}

/// Waits until the client has gone or the test is over.
fn wait_until_over(shared: &Watch<State>, number: Option<usize>) {
    while shared.wait(PATIENCE, |state| state.is_over(number)).is_err() {}
}

/// Frames bytes as a chunk of HTTP.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    chunk
}
