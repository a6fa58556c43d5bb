//! `jobs`: commands that go on by themselves. What changes one goes through the runtime; its log is
//! read from its folder, and a terminal is attached to its shim, so that both need no host.

mod attach;
mod background;
mod control;
mod logs;
mod show;

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::units;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct JobsArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List the Jobs that have not ended
    Ls {
        /// Of one Task
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Those that have ended as well
        #[arg(long)]
        all: bool,
    },
    /// Start a command as a Job
    Start(control::StartArgs),
    /// Show a Job
    Show {
        /// The Job
        id: String,
    },
    /// Print what a Job printed
    Logs(logs::LogsArgs),
    /// Take over a Job's terminal; the detach key leaves it and the Job goes on
    Attach(attach::AttachArgs),
    /// Let a Job read something; - reads it from standard input
    Send {
        /// The Job
        id: String,
        /// What it is to read; a line break is added
        #[arg(value_name = "TEXT", required_unless_present = "end")]
        text: Option<String>,
        /// Add no line break
        #[arg(short = 'n')]
        no_break: bool,
        /// Then let it read the end of its input; for Jobs without a terminal
        #[arg(long)]
        end: bool,
    },
    /// Signal what runs in a Job's foreground
    Signal {
        /// The Job
        id: String,
        /// A name or a number: INT, USR1, 15
        #[arg(value_name = "SIG", value_parser = control::signal)]
        signal: i32,
    },
    /// End a Job: TERM, and KILL when the grace is over
    Stop(control::StopArgs),
    /// End a Job if it runs, and start it again under the same definition
    Restart(control::StopArgs),
    /// Let the command that a Task's agent runs go on as a Job, as it is
    Background {
        /// The Task
        task: String,
    },
    /// Take away a Job that has ended, with its log
    Rm {
        /// The Job
        id: String,
    },
}

/// How long a Job that is told to end has before it is killed.
const GRACE: &str = "5s";

fn grace(text: &str) -> Result<Duration, String> {
    if text == "0" || text == "0s" { Ok(Duration::ZERO) } else { units::duration(text) }
}

/// Does it.
pub async fn run(app: &App, args: JobsArgs) -> Result<Exit, Fault> {
    match args.verb {
        Verb::Ls { task, all } => show::list(app, task, all).await,
        Verb::Show { id } => show::one(app, &id).await,
        Verb::Start(args) => control::start(app, args).await,
        Verb::Logs(args) => logs::run(app, args).await,
        Verb::Attach(args) => attach::run(app, args).await,
        Verb::Send { id, text, no_break, end } => control::send(app, &id, text, no_break, end).await,
        Verb::Signal { id, signal } => control::signal_job(app, &id, signal).await,
        Verb::Stop(args) => control::stop(app, args).await,
        Verb::Restart(args) => control::restart(app, args).await,
        Verb::Background { task } => background::run(app, &task).await,
        Verb::Rm { id } => control::remove(app, &id).await,
    }
}

/// A Job's folder and its full id.
async fn folder(app: &App, word: &str) -> Result<(crate::domain::JobId, crate::jobs::Folder), Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let id = session.id::<crate::domain::JobId>(word).await?;
    let folder = crate::jobs::Folder::new(app.paths.home.join("jobs").join(id.as_str()));
    Ok((id, folder))
}
