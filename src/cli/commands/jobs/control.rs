//! Starting Jobs, and everything that is told to them.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::input;
use crate::cli::session::{Happening, Session};
use crate::cli::units;
use crate::domain::*;
use serde_json::json;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct StartArgs {
    /// Its name [default: made from the command]
    #[arg(long, value_name = "N", default_value = "")]
    pub name: String,
    /// The folder it runs in [default: the project]
    #[arg(long, value_name = "D")]
    pub cwd: Option<std::path::PathBuf>,
    /// For a Task: it waits for the Job, and its Main is told of the end
    #[arg(long, value_name = "T")]
    pub task: Option<String>,
    /// Tell the Task's Main of output that matches; may be given several times
    #[arg(long, value_name = "REGEX")]
    pub watch: Vec<String>,
    /// Without a terminal: its errors are kept apart, and its input can be ended
    #[arg(long)]
    pub no_terminal: bool,
    /// It is to go on, like a server: no Task waits for it
    #[arg(long)]
    pub service: bool,
    /// It is not as it should be when it prints nothing for so long
    #[arg(long, value_name = "D", value_parser = units::duration)]
    pub silence: Option<Duration>,
    /// It is not as it should be when it comes less far than this in so long: 5%/10m
    #[arg(long, value_name = "P/D", value_parser = units::pace)]
    pub pace: Option<JobPace>,
    /// It is not as it should be when it runs for so long
    #[arg(long, value_name = "D", value_parser = units::duration)]
    pub deadline: Option<Duration>,
    /// It is not as it should be when it has more memory: 500MB, 4GB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
    /// It is not as it should be when it has printed more: 500MB, 4GB
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub output: Option<u64>,
    /// What is done then, besides telling its Task's Main: stop, restart
    #[arg(long, value_name = "WHAT")]
    pub then: Option<JobReaction>,
    /// The command; one word with spaces is a line for the shell
    #[arg(required = true, last = true, value_name = "CMD")]
    pub command: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub struct StopArgs {
    /// The Job
    pub id: String,
    /// How long it has before it is killed: 200ms, 5s, 10m
    #[arg(long, value_name = "D", default_value = super::GRACE, value_parser = super::grace)]
    pub grace: Duration,
}

/// Reads a signal.
pub(super) fn signal(name: &str) -> Result<i32, String> {
    crate::process::signal_number(name).ok_or_else(|| format!("there is no signal `{name}`"))
}

/// Reads a size: a whole number and its unit.
fn bytes(text: &str) -> Result<u64, String> {
    const SHAPE: &str = "write a whole number and its unit: 500kB, 200MB, 4GB";
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| SHAPE.to_owned())?;
    let scale = match unit {
        "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        _ => return Err(SHAPE.into()),
    };
    number.checked_mul(scale).ok_or_else(|| "that is too much".to_owned())
}

/// Starts one and returns when it runs, or could not be started.
pub(super) async fn start(app: &App, args: StartArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Work).await?;
    let task = match &args.task {
        Some(word) => Some(session.id::<TaskId>(word).await?),
        None => None,
    };
    let cwd = match args.cwd {
        Some(cwd) => std::fs::canonicalize(&cwd).map_err(|error| Fault::io("open", &cwd, &error))?,
        None => app.project_dir()?,
    };
    let cwd = cwd
        .into_os_string()
        .into_string()
        .map_err(|_| Fault::usage("the folder's path is not UTF-8", "work in a folder whose name is text"))?;
    let command = match args.command.as_slice() {
        [line] if line.contains(char::is_whitespace) => JobCommand::Shell(line.clone()),
        words => JobCommand::Program(words.to_vec()),
    };
    let role = if args.service { JobRole::Service } else { JobRole::Work };
    let millis = |limit: Option<Duration>| limit.map(|limit| limit.as_millis() as u64);
    let levels = JobLevels {
        silence_ms: millis(args.silence),
        deadline_ms: millis(args.deadline),
        rss_bytes: args.memory,
        log_bytes: args.output,
        reaction: args.then,
        pace: args.pace,
    };
    let terminal = !args.no_terminal;
    let definition = JobDefinition { name: args.name, command, cwd, terminal, role, watch: args.watch, levels };
    let definition = Box::new(definition);
    let receipt = session.submit(UserCommand::Job { deed: JobDeed::Start { task, definition } }).await?;
    let id = receipt.job.clone().ok_or_else(|| Fault::bug("a Job was started without an id"))?;
    let state = wait(&mut session, &id, receipt.seq, |event| match event {
        Event::JobStarted { process, .. } => Some((JobState::Running, Some(process.pid), None)),
        Event::JobSettled { state, end, .. } => Some((*state, None, Some(end.clone()))),
        _ => None,
    })
    .await?;
    match state {
        (JobState::FailedToStart | JobState::Cancelled, _, end) => {
            let why = end.and_then(|end| end.reason).unwrap_or_else(|| "it was called off".into());
            Err(Fault::new("failed_to_start", format!("Job {id}: {why}"), "check the command and the folder"))
        }
        (state, pid, _) => {
            if app.out.json {
                app.out.json(&json!({ "id": id, "state": state, "pid": pid }))?;
            } else {
                app.out.line(id.as_str())?;
                app.out
                    .note(&format!("`cowork jobs logs -f {id}` follows it, `cowork jobs attach {id}` takes it over"));
            }
            Ok(Exit::Done)
        }
    }
}

/// Follows what happens until something is said of a Job.
async fn wait<T>(
    session: &mut Session<'_>,
    id: &JobId,
    after: Seq,
    what: impl Fn(&Event) -> Option<T>,
) -> Result<T, Fault> {
    session.follow(None, after).await?;
    loop {
        if let Happening::Recorded(recorded) = session.next().await?
            && recorded.event.entity().1 == id.as_str()
            && let Some(found) = what(&recorded.event)
        {
            return Ok(found);
        }
    }
}

/// Lets one read something.
pub(super) async fn send(
    app: &App,
    word: &str,
    text: Option<String>,
    no_break: bool,
    close: bool,
) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let job = session.id::<JobId>(word).await?;
    let text = match text {
        Some(text) if text == "-" => input::words(&[text])?,
        Some(text) if no_break => text,
        Some(text) => format!("{text}\n"),
        None => String::new(),
    };
    session.submit(UserCommand::Job { deed: JobDeed::Send { job, text, close } }).await?;
    Ok(Exit::Done)
}

/// Signals one.
pub(super) async fn signal_job(app: &App, word: &str, signal: i32) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let job = session.id::<JobId>(word).await?;
    session.submit(UserCommand::Job { deed: JobDeed::Signal { job, signal } }).await?;
    Ok(Exit::Done)
}

/// Ends one and returns when it has ended.
pub(super) async fn stop(app: &App, args: StopArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let job = session.id::<JobId>(&args.id).await?;
    let grace_ms = args.grace.as_millis() as u64;
    let receipt = session.submit(UserCommand::Job { deed: JobDeed::Stop { job: job.clone(), grace_ms } }).await?;
    ended(&mut session, &job, receipt.seq).await?;
    let view = session.job(&job).await?;
    if app.out.json {
        let end = view.job.end.as_ref();
        let (code, signal) = (end.and_then(|end| end.exit_code), end.and_then(|end| end.signal));
        app.out.json(&json!({ "id": job, "state": view.job.state, "exit_code": code, "signal": signal }))?;
    } else {
        app.out.note(&format!("{job} {}", view.job.told()));
    }
    Ok(Exit::Done)
}

async fn ended(session: &mut Session<'_>, job: &JobId, after: Seq) -> Result<(), Fault> {
    wait(session, job, after, |event| matches!(event, Event::JobSettled { .. }).then_some(())).await
}

/// Ends one if it runs, and starts it again.
pub(super) async fn restart(app: &App, args: StopArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let job = session.id::<JobId>(&args.id).await?;
    let grace_ms = args.grace.as_millis() as u64;
    let deed = JobDeed::Restart { job: job.clone(), grace_ms };
    let receipt = session.submit(UserCommand::Job { deed }).await?;
    let again = match receipt.job {
        Some(again) => again,
        None => {
            let origin = format!("restart:{job}");
            session.follow(None, receipt.seq).await?;
            loop {
                if let Happening::Recorded(recorded) = session.next().await?
                    && let Event::JobCreated { job } = &recorded.event
                    && job.origin == origin
                {
                    break job.id.clone();
                }
            }
        }
    };
    if app.out.json {
        app.out.json(&json!({ "id": again, "restart_of": job }))?;
    } else {
        app.out.line(again.as_str())?;
    }
    Ok(Exit::Done)
}

/// Takes one away.
pub(super) async fn remove(app: &App, word: &str) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let job = session.id::<JobId>(word).await?;
    session.submit(UserCommand::Job { deed: JobDeed::Remove { job } }).await?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_takes_a_whole_number_and_a_unit() {
        for (text, size) in [("12B", 12), ("500kB", 500_000), ("200MB", 200_000_000), ("4GB", 4_000_000_000)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "12", "MB", "1.5GB", "-1GB", "99999999999999GB"] {
            bytes(text).expect_err(text);
        }
    }
}
