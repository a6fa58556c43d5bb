//! The runtime's owner: this process as the host, or the runtime inside a command (`--in-process`).

use super::app::App;
use super::fault::{Exit, Fault};
use super::session::failed;
use crate::domain::permission::hex;
use crate::domain::redact::names_a_secret;
use crate::domain::{Owner, Settings};
use crate::host::client::{Client, Hello, Pushes};
use crate::host::home::Home;
use crate::host::lock::HostLock;
use crate::host::{HostError, server};
use crate::process::Identity;
use crate::runtime::{Coordinator, Kinds, Options, StartError};
use std::path::PathBuf;

/// The runtime inside this process; the lock is held as long as it lives.
pub struct Local {
    coordinator: Coordinator,
    _lock: HostLock,
}

impl Local {
    /// Takes the state over.
    pub async fn start(app: &App) -> Result<Self, Fault> {
        let (home, lock) = own(app)?;
        let coordinator = coordinator(&home, app.configured()?.settings).await?;
        Ok(Self { coordinator, _lock: lock })
    }

    /// Connects to it.
    pub async fn connect(&self, hello: Hello) -> Result<(Client, Pushes), Fault> {
        server::in_process(self.coordinator.clone(), hello).await.map_err(failed)
    }

    /// Stops what runs where it stands; the next owner goes on with it.
    pub async fn stop(&self) {
        self.coordinator.stop().await;
    }
}

/// Becomes the one owner of the state folder.
pub fn own(app: &App) -> Result<(Home, HostLock), Fault> {
    let home = Home::prepare(&app.paths.home)?;
    let lock = HostLock::acquire(&home)?;
    Ok((home, lock))
}

/// Starts the Coordinator of a state folder that this process owns.
pub async fn coordinator(home: &Home, settings: Settings) -> Result<Coordinator, Fault> {
    let environment_secrets = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| names_a_secret(name))
        .map(|(_, value)| value)
        .collect();
    let home = home.path().to_owned();
    let (program, owner) = (this_program(), owner()?);
    let options = Options { home, settings, environment_secrets, program, owner, kinds: Kinds::default() };
    Ok(Coordinator::start(options).await?)
}

/// This program, also when its file has been replaced by a newer one in the meantime.
fn this_program() -> PathBuf {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { running } else { std::env::current_exe().unwrap_or_else(|_| "cowork".into()) }
}

fn owner() -> Result<Owner, Fault> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)
        .map_err(|error| Fault::new("io", format!("the system gives no random bytes: {error}"), ""))?;
    let me = Identity::of(rustix::process::getpid())
        .map_err(|error| Fault::new("io", format!("the system does not tell which process this is: {error}"), ""))?;
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Ok(Owner { holder: hex(&random), host, pid: std::process::id(), pid_start: me.start_time, boot_id: me.boot_id })
}

impl From<HostError> for Fault {
    fn from(error: HostError) -> Self {
        let message = error.to_string();
        match error {
            HostError::Busy { .. } => Self::new(
                "busy",
                message,
                "leave --in-process out to work through it, or end it with `cowork host stop`",
            ),
            HostError::Unfit { .. } => Self::new("home", message, "`cowork doctor` looks at the machine"),
            HostError::Io { .. } => Self::new("io", message, ""),
            HostError::Fatal(_) => {
                Self { exit: Exit::Again, ..Self::new("fatal", message, "the next command starts a new host") }
            }
            HostError::DidNotStart(words) => {
                // A host says its faults as every command does.
                let words = words.trim_start_matches("error: ");
                let (why, hint) =
                    words.split_once("\n hint: ").unwrap_or((words, "`cowork doctor` looks for the reason"));
                Self::new("host", format!("the host did not start: {why}"), hint)
            }
            HostError::NoAnswer { .. } => Self::new("host", message, ""),
            HostError::Client(failure) => failed(failure),
        }
    }
}

impl From<StartError> for Fault {
    fn from(error: StartError) -> Self {
        Self::new("storage", error.message, error.hint)
    }
}
