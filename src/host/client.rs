//! The client end of a connection: requests with their answers, and a stream of pushes.
//!
//! It owns the numbering of requests and the queue of pushes. It knows nothing of sockets: the
//! stream may be a socket or a pipe in memory. The screen and the command line are its callers.

use super::line::{self, LineError, Lines};
use super::protocol::{FromHost, MAX_LINE, MAX_REQUEST, PROTOCOL, ToHost, VERSION};
use crate::domain::{
    Answer, ClientId, CommandId, Fence, Ids, Query, Receipt, Recorded, Rejection, Seq, Settings, TaskId, Transient,
    UserCommand,
};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

/// How many pushes wait for a caller that does not take them.
const PUSHES: usize = 4096;

/// How many requests wait to be written.
const REQUESTS: usize = 64;

/// Why something asked of the host was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The host refused it; nothing was changed.
    #[error("{0}")]
    Rejected(#[from] Rejection),
    /// The connection is gone; whether it was done is unknown. Sending a command again under the
    /// same id is safe.
    #[error("the connection to the host is lost: {0}")]
    Lost(String),
    /// The host does not take this client.
    #[error("{reason}")]
    Refused {
        /// The version of the program that the host runs.
        version: String,
        /// Why, and what to do.
        reason: String,
    },
}

/// Who a client is and what its user configured.
#[derive(Debug, Clone, PartialEq)]
pub struct Hello {
    /// The key of its drafts.
    pub client: ClientId,
    /// What its user configured; absent leaves the host as it is.
    pub settings: Option<Box<Settings>>,
}

impl Hello {
    /// Introduces a client that was never here before.
    pub fn new(settings: Option<Settings>) -> Result<Self, Failure> {
        Ok(Self { client: ClientId::new(&mut fresh_ids()?), settings: settings.map(Box::new) })
    }
}

/// What the host said when the connection was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The program's version.
    pub version: String,
    /// The last recorded event.
    pub seq: Seq,
    /// The host's ownership number.
    pub fence: Fence,
    /// The host's process.
    pub pid: u32,
}

/// What comes without having been asked for one by one.
#[derive(Debug, Clone, PartialEq)]
pub enum Push {
    /// An event, in the order of `seq`.
    Recorded(Box<Recorded>),
    /// Something that is shown and not stored.
    Transient(Transient),
    /// Pushes were left out: subscribe again after `seq`. Nothing is pushed until then.
    Lagged { seq: Seq },
}

/// A handle on a connection; the connection closes with the last of its handles and [`Pushes`].
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    welcome: Welcome,
    numbers: AtomicU64,
    requests: mpsc::Sender<Vec<u8>>,
    waiting: Arc<Waiting>,
}

/// The pushes of a connection.
pub struct Pushes {
    /// Keeps the connection open.
    _client: Client,
    queue: mpsc::UnboundedReceiver<(Push, Option<OwnedSemaphorePermit>)>,
}

impl Pushes {
    /// Takes the next push; `None` when the connection is gone.
    pub async fn next(&mut self) -> Option<Push> {
        self.queue.recv().await.map(|(push, _)| push)
    }
}

/// Makes a connection over `stream`; another version on the other end is a [`Failure::Refused`].
pub async fn connect(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    hello: Hello,
) -> Result<(Client, Pushes), Failure> {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = Lines::new(reader, MAX_LINE);
    let opening =
        ToHost::Hello { protocol: PROTOCOL, version: VERSION.into(), client: hello.client, settings: hello.settings };
    // A host that closes at once may have said why before it did: its words are read first.
    let written = writer.write_all(&encode(&opening)?).await;
    let welcome = match lines.next::<FromHost>().await {
        Ok(Some(FromHost::Welcome { version, seq, fence, pid, .. })) => Welcome { version, seq, fence, pid },
        Ok(Some(FromHost::Refused { version, reason, .. })) => return Err(Failure::Refused { version, reason }),
        Ok(Some(_)) => return Err(Failure::Lost("the host did not greet".into())),
        Ok(None) => return Err(Failure::Lost("the host closed the connection before it greeted".into())),
        Err(error) => return Err(Failure::Lost(written.err().map_or(error, LineError::from).to_string())),
    };

    let (requests, outgoing) = mpsc::channel(REQUESTS);
    let (pushes, queue) = mpsc::unbounded_channel();
    let waiting = Arc::new(Waiting::default());
    tokio::spawn(write(writer, outgoing));
    tokio::spawn(Reader::new(waiting.clone(), pushes).run(lines));
    let client = Client { inner: Arc::new(Inner { welcome, numbers: AtomicU64::new(1), requests, waiting }) };
    Ok((client.clone(), Pushes { _client: client, queue }))
}

impl Client {
    /// Asks for a change under a fresh id; returns when it is on disk.
    pub async fn submit(&self, wanted: UserCommand) -> Result<Receipt, Failure> {
        self.submit_as(CommandId::new(&mut fresh_ids()?), wanted).await
    }

    /// Asks for a change; the same id twice is carried out once and answered alike.
    pub async fn submit_as(&self, command: CommandId, wanted: UserCommand) -> Result<Receipt, Failure> {
        match self.request(|request| ToHost::Command { request, command, wanted }).await? {
            FromHost::Accepted { receipt, .. } => Ok(receipt),
            other => Err(unexpected(other)),
        }
    }

    /// Asks the store, or how the host is.
    pub async fn ask(&self, query: Query) -> Result<Answer, Failure> {
        match self.request(|request| ToHost::Ask { request, query }).await? {
            FromHost::Answered { answer, .. } => Ok(*answer),
            other => Err(unexpected(other)),
        }
    }

    /// Has everything after `after` pushed, of one Task or of all, in place of what was asked before.
    pub async fn subscribe(&self, task: Option<TaskId>, after: Seq) -> Result<(), Failure> {
        self.done(|request| ToHost::Subscribe { request, task, after }).await
    }

    /// Has the host keep the unsent text of a pane.
    pub async fn keep_draft(&self, pane: &str, text: &str) -> Result<(), Failure> {
        self.done(|request| ToHost::KeepDraft { request, pane: pane.into(), text: text.into() }).await
    }

    /// Ends the host: nothing is lost, and work goes on when the next one starts.
    pub async fn stop_host(&self) -> Result<(), Failure> {
        self.done(|request| ToHost::StopHost { request }).await
    }

    /// Says what the host said when the connection was made.
    pub fn welcome(&self) -> &Welcome {
        &self.inner.welcome
    }

    async fn done(&self, build: impl FnOnce(u64) -> ToHost) -> Result<(), Failure> {
        match self.request(build).await? {
            FromHost::Done { .. } => Ok(()),
            other => Err(unexpected(other)),
        }
    }

    async fn request(&self, build: impl FnOnce(u64) -> ToHost) -> Result<FromHost, Failure> {
        let number = self.inner.numbers.fetch_add(1, Ordering::Relaxed);
        let request = build(number);
        let subscribes = match &request {
            ToHost::Subscribe { after, .. } => Some(*after),
            ToHost::Hello { .. }
            | ToHost::Command { .. }
            | ToHost::Ask { .. }
            | ToHost::KeepDraft { .. }
            | ToHost::StopHost { .. } => None,
        };
        let line = encode(&request)?;
        let answer = self.inner.waiting.wait_for(number, subscribes)?;
        if self.inner.requests.send(line).await.is_err() {
            return Err(self.inner.waiting.forget(number));
        }
        match answer.await {
            Ok(FromHost::Rejected { rejection, .. }) => Err(Failure::Rejected(rejection)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(self.inner.waiting.forget(number)),
        }
    }
}

/// A source of ids that nobody else draws from.
pub fn fresh_ids() -> Result<Ids, Failure> {
    let mut seed = [0; 16];
    getrandom::fill(&mut seed).map_err(|error| Failure::Lost(format!("the system gives no random bytes: {error}")))?;
    Ok(Ids::new(seed))
}

fn encode(request: &ToHost) -> Result<Vec<u8>, Failure> {
    let mut line = Vec::new();
    line::append(&mut line, request, MAX_REQUEST)
        .map_err(|error| Rejection::invalid(error.to_string(), "send less at once, or put it into a file"))?;
    Ok(line)
}

fn unexpected(answer: FromHost) -> Failure {
    Failure::Lost(format!("the host gave an answer of the wrong kind: {answer:.100?}"))
}

/// The requests that have no answer yet.
#[derive(Default)]
struct Waiting {
    state: Mutex<WaitingState>,
    /// Somebody began to wait.
    asked: Notify,
}

#[derive(Default)]
struct WaitingState {
    open: HashMap<u64, Open>,
    /// Why there will be no more answers.
    gone: Option<String>,
}

struct Open {
    answer: oneshot::Sender<FromHost>,
    /// For a subscription: after which event.
    subscribes: Option<Seq>,
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, WaitingState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_for(&self, number: u64, subscribes: Option<Seq>) -> Result<oneshot::Receiver<FromHost>, Failure> {
        let mut state = self.state();
        if let Some(reason) = &state.gone {
            return Err(Failure::Lost(reason.clone()));
        }
        let (answer, receiver) = oneshot::channel();
        state.open.insert(number, Open { answer, subscribes });
        drop(state);
        self.asked.notify_one();
        Ok(receiver)
    }

    fn forget(&self, number: u64) -> Failure {
        let mut state = self.state();
        state.open.remove(&number);
        Failure::Lost(state.gone.clone().unwrap_or_else(|| "the host closed the connection".into()))
    }

    fn close(&self, reason: String) {
        let mut state = self.state();
        state.gone = Some(reason);
        state.open.clear();
    }
}

/// Writes requests until every handle is gone, then closes this direction: the host sees us leave.
async fn write<S: AsyncWrite>(mut to: WriteHalf<S>, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = outgoing.recv().await {
        if to.write_all(&line).await.is_err() {
            return; // The reader learns why.
        }
    }
    let _ = to.shutdown().await;
}

/// The task that reads: answers go to whoever waits for them, pushes into the queue.
struct Reader {
    waiting: Arc<Waiting>,
    pushes: mpsc::UnboundedSender<(Push, Option<OwnedSemaphorePermit>)>,
    /// Room in the queue; every push but `Lagged` holds one until it is taken.
    slots: Arc<Semaphore>,
    /// The last event put into the queue, or the one subscribed after.
    last: Seq,
    /// Whether pushes are left out until the next subscription stands.
    lagged: bool,
}

impl Reader {
    fn new(waiting: Arc<Waiting>, pushes: mpsc::UnboundedSender<(Push, Option<OwnedSemaphorePermit>)>) -> Self {
        Self { waiting, pushes, slots: Arc::new(Semaphore::new(PUSHES)), last: 0, lagged: false }
    }

    async fn run<S: AsyncRead>(mut self, mut lines: Lines<ReadHalf<S>>) {
        let reason = loop {
            match lines.next::<FromHost>().await {
                Ok(Some(FromHost::Refused { reason, .. })) => break reason,
                Ok(Some(message)) => self.take(message).await,
                Ok(None) => break "the host closed the connection".into(),
                Err(error) => break error.to_string(),
            }
        };
        self.waiting.close(reason);
    }

    async fn take(&mut self, message: FromHost) {
        match message {
            FromHost::Accepted { request, .. }
            | FromHost::Rejected { request, .. }
            | FromHost::Answered { request, .. }
            | FromHost::Done { request } => self.answer(request, message),
            FromHost::Recorded(recorded) if !self.lagged => {
                let seq = recorded.seq;
                if self.push(Push::Recorded(recorded)).await {
                    self.last = seq;
                }
            }
            FromHost::Transient(transient) if !self.lagged => {
                // It may be lost, so nobody waits for room.
                if let Ok(slot) = self.slots.clone().try_acquire_owned() {
                    let _ = self.pushes.send((Push::Transient(transient), Some(slot)));
                }
            }
            FromHost::Lagged { .. } if !self.lagged => self.lag(),
            // Left out until the next subscription stands.
            FromHost::Recorded(_) | FromHost::Transient(_) | FromHost::Lagged { .. } => {}
            // Neither comes in the middle of a connection.
            FromHost::Welcome { .. } | FromHost::Refused { .. } => {}
        }
    }

    fn answer(&mut self, request: u64, message: FromHost) {
        let Some(open) = self.waiting.state().open.remove(&request) else { return };
        if let (FromHost::Done { .. }, Some(after)) = (&message, open.subscribes) {
            self.last = after;
            self.lagged = false;
        }
        let _ = open.answer.send(message); // Whoever asked may have given up.
    }

    /// Waits for room as long as nobody waits for an answer: answers stand behind pushes, so
    /// whoever waits for one may be the one who should make room.
    async fn push(&mut self, push: Push) -> bool {
        let slot = loop {
            if let Ok(slot) = self.slots.clone().try_acquire_owned() {
                break slot;
            }
            if !self.waiting.state().open.is_empty() {
                self.lag();
                return false;
            }
            tokio::select! {
                slot = self.slots.clone().acquire_owned() => match slot {
                    Ok(slot) => break slot,
                    Err(_) => return false,
                },
                () = self.waiting.asked.notified() => {}
            }
        };
        let _ = self.pushes.send((push, Some(slot))); // Nobody may want pushes.
        true
    }

    fn lag(&mut self) {
        self.lagged = true;
        let _ = self.pushes.send((Push::Lagged { seq: self.last }, None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Actor, Event};
    use std::time::Duration;
    use tokio::io::DuplexStream;
    use tokio::time::timeout;

    const LONG: Duration = Duration::from_secs(20);

    fn event(seq: Seq) -> FromHost {
        let event = Event::TaskRenamed { title: seq.to_string(), usage: None };
        FromHost::Recorded(Box::new(Recorded { seq, at: 0, task: None, actor: Actor::person(), event }))
    }

    /// A host that has `last` events, and tells everything it has at once when it is asked to.
    async fn host(stream: DuplexStream, last: Seq) {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut lines = Lines::new(reader, MAX_REQUEST);
        while let Ok(Some(request)) = lines.next::<ToHost>().await {
            let answers = match request {
                ToHost::Hello { .. } => {
                    let version = VERSION.into();
                    vec![FromHost::Welcome { protocol: PROTOCOL, version, seq: last, fence: 1, pid: 1 }]
                }
                ToHost::Subscribe { request, after, .. } => {
                    std::iter::once(FromHost::Done { request }).chain((after + 1..=last).map(event)).collect()
                }
                ToHost::Ask { request, .. } => {
                    vec![FromHost::Answered { request, answer: Box::new(Answer::Rules(Vec::new())) }]
                }
                ToHost::StopHost { .. } => {
                    let (version, reason) = (VERSION.into(), "enough".into());
                    vec![FromHost::Refused { protocol: PROTOCOL, version, reason }]
                }
                ToHost::Command { .. } | ToHost::KeepDraft { .. } => return,
            };
            let mut out = Vec::new();
            for answer in answers {
                line::append(&mut out, &answer, MAX_LINE).expect("short enough");
            }
            if writer.write_all(&out).await.is_err() {
                return;
            }
        }
    }

    async fn connected(last: Seq) -> (Client, Pushes) {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::spawn(host(theirs, last));
        connect(ours, Hello::new(None).expect("ids")).await.expect("connected")
    }

    /// Takes events, each once and in order, up to `last`, and counts how often it lagged.
    async fn take_all(client: &Client, pushes: &mut Pushes, last: Seq) -> u32 {
        let (mut seen, mut lagged) = (0, 0);
        while seen < last {
            match timeout(LONG, pushes.next()).await.expect("in time") {
                Some(Push::Recorded(recorded)) => {
                    assert_eq!(recorded.seq, seen + 1);
                    seen = recorded.seq;
                }
                Some(Push::Lagged { seq }) => {
                    assert_eq!(seq, seen);
                    lagged += 1;
                    client.subscribe(None, seq).await.expect("subscribed");
                }
                other => panic!("neither event nor lag: {other:?}"),
            }
        }
        lagged
    }

    #[tokio::test]
    async fn a_caller_that_takes_no_pushes_still_gets_its_answers_and_can_go_on() {
        let last = 3 * PUSHES as Seq;
        let (client, mut pushes) = connected(last).await;
        client.subscribe(None, 0).await.expect("subscribed");
        let answer = timeout(LONG, client.ask(Query::Rules)).await.expect("answered although nobody takes pushes");
        assert_eq!(answer, Ok(Answer::Rules(Vec::new())));
        assert!(take_all(&client, &mut pushes, last).await >= 1);
    }

    #[tokio::test]
    async fn a_caller_that_is_slow_to_take_pushes_and_asks_nothing_loses_none() {
        let last = 3 * PUSHES as Seq;
        let (client, mut pushes) = connected(last).await;
        client.subscribe(None, 0).await.expect("subscribed");
        while pushes.queue.len() < PUSHES {
            tokio::task::yield_now().await;
        }
        assert_eq!(take_all(&client, &mut pushes, last).await, 0);
    }

    #[tokio::test]
    async fn the_last_words_of_the_host_are_what_a_lost_request_says() {
        let (client, mut pushes) = connected(0).await;
        assert_eq!(client.stop_host().await, Err(Failure::Lost("enough".into())));
        assert_eq!(client.ask(Query::Rules).await, Err(Failure::Lost("enough".into())));
        drop(client);
        assert_eq!(timeout(LONG, pushes.next()).await, Ok(None));
    }

    #[tokio::test]
    async fn a_host_that_goes_away_without_a_word_loses_what_was_asked() {
        let (client, mut pushes) = connected(0).await;
        assert!(matches!(client.keep_draft("composer", "x").await, Err(Failure::Lost(_))));
        assert_eq!(timeout(LONG, pushes.next()).await, Ok(None));
    }
}
