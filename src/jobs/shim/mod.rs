//! The shim: one small process for each Job, which outlives everyone who may have started it.
//!
//! It starts the command in a session of its own, keeps every byte that it prints, lets clients
//! attach, ends it when told to, waits for it, and records how it ended. It knows no database and
//! no async runtime, and it has two threads:
//!
//! * `intake` takes what is printed, writes the log, and watches for what the terminal is asked;
//! * the first one (`serve`) does everything else: children, clients, the screen.
//!
//! So a client that hangs, a disk that is full or a screen that is slow to draw never holds up the
//! command. Who starts a shim is `jobs::start`; whoever else needs one speaks to its socket.

mod client;
mod command;
mod ending;
mod intake;
mod screen;
mod serve;
mod tail;

use self::command::Launched;
use self::intake::{Intake, Kind, Source};
use self::serve::Serve;
use self::tail::Shared;
use super::address::Address;
use super::folder::{Claim, Folder};
use super::log::{Stream, Writer};
use super::record::{End, ExitRecord, StartRecord, StopState};
use super::spec::{Spec, Streams};
use super::{MARK, now, random};
use crate::process::{Identity, StartError, Supervisor, become_supervisor};
use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// The first argument that makes the program a shim.
pub const ROLE: &str = "shim";

/// The option that names the Job's folder.
pub const FOLDER: &str = "--dir";

/// What a shim says on its standard output when its Job has been recorded as started or failed.
pub(super) const READY: &str = "ready";

/// What it says when another shim has the Job.
pub(super) const TAKEN: &str = "taken";

/// Plays the role of a shim. Must be called before anything has started a thread.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let folder = match (arguments.next(), arguments.next()) {
        (Some(option), Some(folder)) if option == FOLDER => Folder::new(folder),
        _ => {
            eprintln!("cowork {ROLE} {FOLDER} FOLDER: started by Cowork itself, for one Job");
            return ExitCode::from(2);
        }
    };
    // SAFETY: nothing has run yet that could have started a thread.
    let begun = unsafe { become_supervisor() }.and_then(|supervisor| begin(&folder, supervisor));
    match begun {
        Ok(Begun::Running(serve)) => {
            say(READY);
            serve.run();
        }
        Ok(Begun::Failed) => say(READY),
        Ok(Begun::Taken) => say(TAKEN),
        Err(error) => {
            say(&error.to_string());
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// What came of the beginning.
enum Begun {
    /// The command runs.
    Running(Box<Serve>),
    /// It was not started, and that is recorded.
    Failed,
    /// Another shim has the Job, or had it.
    Taken,
}

/// Takes the Job, starts its command and records that. An error means that nothing was started and
/// nothing could be recorded.
fn begin(folder: &Folder, supervisor: Supervisor) -> io::Result<Begun> {
    let Some(spec) = folder.spec()? else {
        return Err(io::Error::other(format!("{} holds no Job", folder.path().display())));
    };
    let folder = &folder.clone().lasting(spec.lasting);
    let shim = Identity::of(rustix::process::getpid())?;
    let mark = own_mark(folder)?;
    match folder.claim(&shim)? {
        Claim::Ours => {}
        Claim::Taken => return Ok(Begun::Taken),
    }
    let (started, exit) = folder.reserve().inspect_err(|_| folder.unclaim())?;
    match launch(folder, &spec, &mark) {
        Ok((launched, prepared)) => {
            let (command, session) = (launched.identity.clone(), launched.session);
            let record = StartRecord { job: folder.job(), mark, shim, command, session, started_at: now() };
            // Its room was taken before; could it not be written after all, the claim leads to us.
            let _ = started.write(&record);
            Ok(Begun::Running(Box::new(Serve::new(supervisor, record, launched, prepared, exit))))
        }
        Err(error) => {
            started.release();
            exit.write(&ExitRecord {
                job: folder.job(),
                end: End::failed(&error),
                ended_at: now(),
                log_bytes: 0,
                lost_bytes: 0,
                stop: StopState::NotAsked,
                ended: Vec::new(),
                survivors: Vec::new(),
            })?;
            Ok(Begun::Failed)
        }
    }
}

/// What stands around a command: the way to it, and where what it prints goes.
struct Prepared {
    folder: PathBuf,
    address: Address,
    listener: UnixListener,
    shared: Arc<Shared>,
    intake: Intake,
}

/// Prepares everything, starts the command last, and clears up if it did not start.
fn launch(folder: &Folder, spec: &Spec, mark: &str) -> Result<(Launched, Prepared), StartError> {
    let (streams, kind) = match spec.streams {
        Streams::Terminal { .. } => (&[Stream::Output][..], Kind::Terminal),
        Streams::Separate { .. } => (&[Stream::Output, Stream::Errors][..], Kind::Pipes),
        Streams::Together { .. } => (&[Stream::Output][..], Kind::Pipes),
    };
    let log = |stream: &Stream| Ok(Writer::create(folder.path(), *stream, spec.log, now())?.lasting(spec.lasting));
    let logs = streams.iter().map(log).collect::<io::Result<Vec<Writer>>>()?;
    let address = Address::of(folder.path())?;
    let listener = address.bind()?;
    let launched = listener.set_nonblocking(true).map_err(StartError::from).and_then(|()| {
        let shared = Arc::new(Shared::new()?);
        // The thread waits for the command's streams, so that nothing can fail once it runs.
        let intake = Intake::start(kind, Arc::clone(&shared))?;
        let mut launched = command::launch(spec, mark)?;
        intake.take(launched.sources.drain(..).zip(logs).map(|(fd, log)| Source { fd, log }).collect());
        Ok((launched, shared, intake))
    });
    match launched {
        Ok((launched, shared, intake)) => {
            Ok((launched, Prepared { folder: folder.path().to_owned(), address, listener, shared, intake }))
        }
        Err(error) => {
            address.remove();
            Err(error)
        }
    }
}

/// The mark that we were started with; one that belongs to another Job is none of ours.
fn own_mark(folder: &Folder) -> io::Result<String> {
    let ours = |mark: &String| mark.strip_prefix(&folder.job()).is_some_and(|rest| rest.starts_with('.'));
    match std::env::var(MARK).ok().filter(ours) {
        Some(mark) => Ok(mark),
        None => Ok(format!("{}.{}", folder.job(), random()?)),
    }
}

/// Says one thing to whoever started us, and lets go of them.
fn say(word: &str) {
    // They may be gone.
    let _ = rustix::io::write(rustix::stdio::stdout(), format!("{word}\n").as_bytes());
    if let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
    }
}
