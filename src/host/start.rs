//! The way to a host from outside: reach the one that runs, start one on demand, end one.
//!
//! Whoever starts a host waits for its word through a pipe and is told why when it does not come
//! up. Two that start one at once end up with the same: the lock decides, and the loser tries the
//! socket again.

use super::address::Address;
use super::client::{self, Client, Failure, Hello, Pushes};
use super::error::HostError;
use super::home::Home;
use super::line::{self, Lines};
use super::lock;
use super::protocol::{FromHost, MAX_LINE, MAX_REQUEST, PROTOCOL, ToHost};
use super::ready::{self, Outcome};
use crate::process::spawn_detached;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep, timeout};

/// How long a host that owns the state may stay out of reach: while it leaves, or comes up.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a host that listens may take to greet, and one that was started to listen or end.
const LONG_PATIENCE: Duration = Duration::from_secs(30);

/// The arguments that make the program the host of a state folder, started by a client.
pub fn host_arguments(home: &Path) -> [&OsStr; 5] {
    [OsStr::new("--home"), home.as_os_str(), OsStr::new("host"), OsStr::new("run"), OsStr::new("--detached")]
}

/// How often a host that ended without a word is started again.
const SILENT_ENDS: u32 = 3;

/// Connects to the host of `home`, and starts `program` as one if there is none.
pub async fn connect_or_start(home: &Path, program: &Path, hello: Hello) -> Result<(Client, Pushes), HostError> {
    let home = Home::prepare(home)?;
    start_with(&home, program, &host_arguments(home.path()), hello, PATIENCE).await
}

/// Connects to the host of `home`, if one runs.
pub async fn connect_if_running(home: &Path, hello: Hello) -> Result<Option<(Client, Pushes)>, HostError> {
    reach(&Address::of(&Home::prepare(home)?), hello).await
}

pub(super) async fn start_with(
    home: &Home,
    program: &Path,
    arguments: &[&OsStr],
    hello: Hello,
    patience: Duration,
) -> Result<(Client, Pushes), HostError> {
    let address = Address::of(home);
    let deadline = Instant::now() + patience;
    let mut pause = Duration::from_millis(5);
    let mut silent = 0;
    loop {
        if let Some(connected) = reach(&address, hello.clone()).await? {
            return Ok(connected);
        }
        let says = spawn_detached(program, arguments, home.path()).map_err(HostError::io("start", program))?;
        match timeout(LONG_PATIENCE, ready::outcome(says)).await {
            Ok(Outcome::Listening) => {
                if let Some(connected) = reach(&address, hello.clone()).await? {
                    return Ok(connected);
                }
            }
            Ok(Outcome::Busy) => {}
            // Killed while it started, it could say nothing: that is no reason not to try again.
            Ok(Outcome::Ended(words)) if words.is_empty() && silent < SILENT_ENDS => silent += 1,
            Ok(Outcome::Ended(words)) if words.is_empty() => {
                return Err(HostError::DidNotStart(format!("it said nothing; {}", look_into_log(home))));
            }
            Ok(Outcome::Ended(words)) => return Err(HostError::DidNotStart(words)),
            Err(_) => {
                let what = format!("it is not up after {} s; {}", LONG_PATIENCE.as_secs(), look_into_log(home));
                return Err(HostError::DidNotStart(what));
            }
        }
        // Another host owns the state and is on its way, in or out: neither says when it is there.
        if Instant::now() + pause > deadline {
            return Err(no_answer(home, ""));
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(250));
    }
}

/// Connects if a host listens; one that leaves before it greets is as good as none.
async fn reach(address: &Address, hello: Hello) -> Result<Option<(Client, Pushes)>, HostError> {
    let Some(stream) = address.dial().await? else { return Ok(None) };
    match timeout(LONG_PATIENCE, client::connect(stream, hello)).await {
        Ok(Ok(connected)) => Ok(Some(connected)),
        Ok(Err(Failure::Lost(_))) => Ok(None),
        Ok(Err(failure)) => Err(failure.into()),
        Err(_) => Err(no_answer(address.home(), " (it listens and does not answer)")),
    }
}

fn look_into_log(home: &Home) -> String {
    format!("look into {}", home.path().join("host.log").display())
}

fn no_answer(home: &Home, what: &'static str) -> HostError {
    HostError::NoAnswer { home: home.path().into(), what, pid: lock::noted_pid(home) }
}

/// What came of ending a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It ran and has ended; its lock is free.
    Ended,
    /// There was none.
    NoneRan,
}

/// Ends the host of `home`, of whatever version, and waits until its lock is free.
pub async fn stop(home: &Path) -> Result<Stopped, HostError> {
    let home = Home::prepare(home)?;
    let address = Address::of(&home);
    let Some(mut stream) = address.dial().await? else { return Ok(Stopped::NoneRan) };
    // A host that refuses a client for its version still lets itself be stopped by it.
    let mut lines = Vec::new();
    let client = Hello::new(None)?.client;
    let hello = ToHost::Hello { protocol: PROTOCOL, version: super::protocol::VERSION.into(), client, settings: None };
    for line in [hello, ToHost::StopHost { request: 1 }] {
        line::append(&mut lines, &line, MAX_REQUEST).map_err(|error| Failure::Lost(error.to_string()))?;
    }
    let ended = timeout(LONG_PATIENCE, async {
        // If it ends before it has read all this, that was the wish.
        let _ = stream.write_all(&lines).await;
        // The connection ends after the lock is free.
        let mut answers = Lines::new(stream, MAX_LINE);
        let mut agreed = false;
        while let Ok(Some(answer)) = answers.next_line().await {
            agreed |= matches!(serde_json::from_slice(&answer), Ok(FromHost::Done { .. }));
        }
        agreed
    });
    // One that went away without a word was ended by somebody else.
    if ended.await.unwrap_or(false) || address.dial().await?.is_none() {
        return Ok(Stopped::Ended);
    }
    Err(no_answer(&home, " (it was told to end and does not)"))
}
