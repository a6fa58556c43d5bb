//! The host's two ends together: over pipes in memory, over sockets, and as processes of their own.

mod ending;
mod feed;
mod requests;
mod starting;

use super::address::Address;
use super::client::{Client, Hello, Push, Pushes, connect, fresh_ids};
use super::connection::attend;
use super::home::Home;
use super::hub::Hub;
use super::line::{self, Lines};
use super::lock::HostLock;
use super::protocol::{FromHost, MAX_LINE, MAX_REQUEST, PROTOCOL, ToHost, VERSION};
use super::ready::Ready;
use super::server::{Options, serve};
use super::*;
use crate::domain::permission::{Ask, Policy, Reach};
use crate::domain::*;
use crate::runtime::Coordinator;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf};

/// Nothing here takes this long, unless it hangs.
const LONG: Duration = Duration::from_secs(20);

/// A state folder with its Coordinator.
struct Stage {
    _scratch: tempfile::TempDir,
    home: Home,
    coordinator: Coordinator,
}

impl Stage {
    async fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a folder");
        let home = Home::prepare(scratch.path()).expect("a home");
        let coordinator = start_coordinator(&home).await;
        Self { _scratch: scratch, home, coordinator }
    }

    fn hub(&self) -> Arc<Hub> {
        Arc::new(Hub::new(self.coordinator.clone()))
    }

    async fn client(&self) -> (Client, Pushes) {
        server::in_process(self.coordinator.clone(), Hello::new(None).expect("ids")).await.expect("connected")
    }
}

async fn start_coordinator(home: &Home) -> Coordinator {
    let owner = Owner {
        holder: command_id().0,
        host: "test".into(),
        pid: std::process::id(),
        pid_start: 1,
        boot_id: "this boot".into(),
    };
    let settings = Settings::default();
    let options = crate::runtime::Options {
        home: home.path().into(),
        settings,
        environment_secrets: Vec::new(),
        program: "/nowhere/cowork".into(),
        owner,
        kinds: Default::default(),
    };
    Coordinator::start(options).await.expect("started")
}

/// A client that speaks the protocol by hand, so that it can misbehave.
struct Raw<S> {
    lines: Lines<ReadHalf<S>>,
    writer: WriteHalf<S>,
}

impl<S: AsyncRead + AsyncWrite> Raw<S> {
    fn new(stream: S) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { lines: Lines::new(reader, MAX_LINE), writer }
    }

    async fn write(&mut self, message: &ToHost) {
        let mut out = Vec::new();
        line::append(&mut out, message, MAX_REQUEST).expect("short enough");
        self.writer.write_all(&out).await.expect("written");
    }

    async fn read(&mut self) -> Option<FromHost> {
        tokio::time::timeout(LONG, self.lines.next()).await.expect("in time").expect("a line")
    }

    async fn greeted(mut self) -> Self {
        self.write(&hello(PROTOCOL, VERSION)).await;
        assert!(matches!(self.read().await, Some(FromHost::Welcome { .. })));
        self
    }
}

/// A connection by hand to a hub, over a pipe that holds `pipe` bytes.
fn raw(hub: Arc<Hub>, pipe: usize) -> Raw<DuplexStream> {
    let (ours, theirs) = tokio::io::duplex(pipe);
    tokio::spawn(attend(hub, theirs));
    Raw::new(ours)
}

fn hello(protocol: u32, version: &str) -> ToHost {
    let client = ClientId::new(&mut fresh_ids().expect("ids"));
    ToHost::Hello { protocol, version: version.into(), client, settings: None }
}

fn command_id() -> CommandId {
    CommandId::new(&mut fresh_ids().expect("ids"))
}

fn new_task(title: &str) -> UserCommand {
    UserCommand::CreateTask {
        title: title.into(),
        cwd: None,
        model: None,
        policy: Policy { reach: Reach::Workspace, ask: Ask::Always },
        budget: Budget::default(),
        message: None,
        checks: Vec::new(),
    }
}

fn rename(task: &TaskId, title: impl ToString) -> UserCommand {
    UserCommand::Rename { task: task.clone(), title: title.to_string() }
}

async fn make_task(client: &Client) -> TaskId {
    client.submit(new_task("a task")).await.expect("made").task.expect("a Task")
}

/// The next event; whatever else is pushed is left out.
async fn next_event(pushes: &mut Pushes) -> Recorded {
    loop {
        match tokio::time::timeout(LONG, pushes.next()).await.expect("in time") {
            Some(Push::Recorded(recorded)) => return *recorded,
            Some(Push::Transient(_)) => {}
            other => panic!("an event was expected, not {other:?}"),
        }
    }
}
