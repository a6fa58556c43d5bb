//! `host`: the process that owns the runtime. `run` is the role that clients start on demand.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::role;
use crate::cli::session::failed;
use crate::cli::units;
use crate::domain::sanitise::line;
use crate::domain::{Answer, HostStatus, Query, Settings};
use crate::host::address::Address;
use crate::host::client::Hello;
use crate::host::home::Home;
use crate::host::lock::noted_pid;
use crate::host::ready::Ready;
use crate::host::start::{Stopped, connect_if_running, stop};
use crate::host::{HostError, log, server};
use crate::process::Identity;
use rustix::process::Pid;
use serde_json::json;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct HostArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Say whether a host runs, and what keeps it
    Status,
    /// End it; nothing is lost, and work goes on when the next one starts
    Stop,
    /// Be the host, in the foreground
    Run {
        /// Started by a client that waits for a word
        #[arg(long, hide = true)]
        detached: bool,
    },
}

/// Shows, ends or becomes the host.
pub async fn run(app: &App, args: HostArgs) -> Result<Exit, Fault> {
    match args.verb {
        Verb::Status => status(app).await,
        Verb::Stop => {
            let running = Running::find(app);
            match stop(&app.paths.home).await? {
                Stopped::Ended => {
                    running.gone().await;
                    app.out.note("the host has ended; nothing is lost");
                }
                Stopped::NoneRan => app.out.note("no host was running"),
            }
            Ok(Exit::Done)
        }
        Verb::Run { detached } => be(app, if detached { Ready::Starter } else { Ready::Nobody }).await,
    }
}

/// The process of the host, to wait until it is gone: it lets go of the state a moment earlier.
struct Running(Option<Identity>);

impl Running {
    fn find(app: &App) -> Self {
        let pid = Home::prepare(&app.paths.home).ok().and_then(|home| noted_pid(&home));
        let pid = pid.and_then(|pid| Pid::from_raw(pid.cast_signed()));
        Self(pid.and_then(|pid| Identity::of(pid).ok()))
    }

    /// Waits until it is gone, but not for ever: what matters was given up before.
    async fn gone(self) {
        let Some(identity) = self.0 else { return };
        for _ in 0..100 {
            if !identity.is_running() {
                return;
            }
            // Nobody tells us of the end of a process that is no child of ours.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn status(app: &App) -> Result<Exit, Fault> {
    let hello = Hello::new(None).map_err(failed)?;
    let Some((client, _pushes)) = connect_if_running(&app.paths.home, hello).await? else {
        if app.out.json {
            app.out.json(&json!({ "running": false }))?
        } else {
            app.out.line("no host is running")?
        }
        return Ok(Exit::Done);
    };
    let Answer::Host(status) = client.ask(Query::Host).await.map_err(failed)? else {
        return Err(Fault::bug("the host does not say how it is"));
    };
    if app.out.json {
        let mut value = json!({ "running": true });
        if let (Some(object), Ok(serde_json::Value::Object(fields))) =
            (value.as_object_mut(), serde_json::to_value(&status))
        {
            object.extend(fields);
        }
        app.out.json(&value)?;
    } else {
        print_status(app, &status)?;
    }
    Ok(Exit::Done)
}

fn print_status(app: &App, status: &HostStatus) -> Result<(), Fault> {
    let needs: Vec<String> = status.needs.iter().map(|w| format!("{} {}: {}", w.kind, w.id, line(&w.text))).collect();
    let stays = if needs.is_empty() { "nothing: it leaves with its last client".into() } else { needs.join("\n") };
    app.out.fields(&[
        ("process", status.pid.to_string()),
        ("version", line(&status.version).into_owned()),
        ("started", units::moment(status.started_at)),
        ("home", line(&app.paths.home.display().to_string()).into_owned()),
        ("clients", status.clients.saturating_sub(1).to_string()),
        ("events", status.seq.to_string()),
        ("owner", status.fence.to_string()),
        ("kept by", stays),
    ])
}

/// Is the host until it ends.
async fn be(app: &App, ready: Ready) -> Result<Exit, Fault> {
    let (home, lock) = match role::own(app) {
        Err(fault) if fault.kind == "busy" && ready == Ready::Starter => {
            ready.busy();
            return Ok(Exit::Done);
        }
        owned => owned?,
    };
    log::init(&home)?;
    let settings = match app.configured() {
        Ok(configured) => configured.settings,
        // The client that started us brings settings of its own, and has told its user.
        Err(error) if ready == Ready::Starter => {
            tracing::warn!(%error, "the configuration can't be used");
            Settings::default()
        }
        Err(error) => return Err(error.into()),
    };
    let coordinator = role::coordinator(&home, settings).await?;
    if ready == Ready::Nobody {
        app.out.note(&format!("the host of {} is up; Ctrl-C ends it", line(&home.path().display().to_string())));
    }
    let address = Address::of(&home);
    match server::serve(coordinator, lock, address, ready, server::Options::default()).await {
        Ok(()) => Ok(Exit::Done),
        Err(error) => {
            if let HostError::Fatal(reason) = &error {
                tracing::error!(%reason, "the host had to end");
            }
            Err(error.into())
        }
    }
}
