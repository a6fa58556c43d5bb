//! Listing and showing Jobs.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::units;
use crate::domain::sanitise::line;
use crate::domain::*;
use serde::Serialize;

/// A Job as the contract writes it.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    id: &'a JobId,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a TaskId>,
    command: String,
    cwd: &'a str,
    state: JobState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    terminal: bool,
    role: JobRole,
    started_by: &'a Actor,
    created_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    started_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    breached: &'a [String],
    #[serde(flatten)]
    seen: &'a JobSeen,
}

impl<'a> Shown<'a> {
    fn new(view: &'a JobView) -> Self {
        let job = &view.job;
        let end = job.end.as_ref();
        Self {
            id: &job.id,
            name: &job.definition.name,
            task: job.task.as_ref(),
            command: job.definition.command.to_string(),
            cwd: &job.definition.cwd,
            state: job.state,
            pid: job.process.as_ref().map(|process| process.pid),
            exit_code: end.and_then(|end| end.exit_code),
            signal: end.and_then(|end| end.signal),
            reason: end.and_then(|end| end.reason.as_deref()).or(job.note.as_deref()),
            terminal: job.definition.terminal,
            role: job.definition.role,
            started_by: &job.actor,
            created_at: job.created_at,
            started_at: job.process.as_ref().map(|process| process.started_at),
            ended_at: end.map(|end| end.ended_at),
            breached: &job.breached,
            seen: &view.seen,
        }
    }
}

/// Lists Jobs.
pub(super) async fn list(app: &App, task: Option<String>, all: bool) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let task = match task {
        Some(word) => Some(session.id::<TaskId>(&word).await?),
        None => None,
    };
    let views = session.jobs(task, all).await?;
    if app.out.json {
        views.iter().try_for_each(|view| app.out.json(&Shown::new(view)))?;
        return Ok(Exit::Done);
    }
    if views.is_empty() {
        app.out.note(if all { "there are no Jobs" } else { "no Job runs; --all shows those that have ended" });
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = views.iter().map(|view| row(view, now)).collect();
    app.out.table(&["id", "state", "time", "cpu", "memory", "done", "name", "last line"], &rows)?;
    Ok(Exit::Done)
}

fn row(view: &JobView, now: Millis) -> Vec<String> {
    let JobView { job, seen } = view;
    vec![
        job.id.to_string(),
        job.told(),
        elapsed(job, now),
        seen.cpu_percent.map(|cpu| format!("{cpu:.0}%")).unwrap_or_default(),
        seen.rss_bytes.map(size).unwrap_or_default(),
        seen.progress.map(|done| format!("{:.0}%", done * 100.0)).unwrap_or_default(),
        line(&job.definition.name).into_owned(),
        seen.last_line.as_deref().map(|last| line(last).into_owned()).unwrap_or_default(),
    ]
}

/// How long a Job has run, or ran.
fn elapsed(job: &Job, now: Millis) -> String {
    let Some(process) = &job.process else { return String::new() };
    let until = job.end.as_ref().map_or(now, |end| end.ended_at);
    units::age(process.started_at, until).replace("now", "0s")
}

/// Writes a number of bytes.
pub(super) fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if value < 1000.0 {
            return if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") };
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

/// Shows one Job.
pub(super) async fn one(app: &App, word: &str) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let id = session.id::<JobId>(word).await?;
    let view = session.job(&id).await?;
    if app.out.json {
        app.out.json(&Shown::new(&view))?;
        return Ok(Exit::Done);
    }
    let JobView { job, seen } = &view;
    let definition = &job.definition;
    let end = job.end.as_ref();
    app.out.line(&app.out.out.paint(Style::Strong, &line(&definition.name)))?;
    app.out.fields(&[
        ("id", job.id.to_string()),
        ("state", job.told()),
        ("why", end.and_then(|end| end.reason.as_deref()).or(job.note.as_deref()).map(words).unwrap_or_default()),
        ("command", words(&definition.command.to_string())),
        ("folder", words(&definition.cwd)),
        ("task", job.task.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("started by", format!("{} {}", job.actor.kind, job.actor.id)),
        ("pid", job.process.as_ref().map(|process| process.pid.to_string()).unwrap_or_default()),
        ("started", job.process.as_ref().map(|process| units::moment(process.started_at)).unwrap_or_default()),
        ("ended", end.map(|end| units::moment(end.ended_at)).unwrap_or_default()),
        ("time", elapsed(job, units::now())),
        ("cpu", seen.cpu_percent.map(|cpu| format!("{cpu:.1} %")).unwrap_or_default()),
        ("memory", seen.rss_bytes.map(size).unwrap_or_default()),
        ("processes", seen.processes.map(|count| count.to_string()).unwrap_or_default()),
        ("progress", seen.progress.map(|done| format!("{:.1} %", done * 100.0)).unwrap_or_default()),
        ("log", size(seen.log_bytes)),
        ("last output", seen.last_output_at.map(units::moment).unwrap_or_default()),
        ("last line", seen.last_line.as_deref().map(words).unwrap_or_default()),
        ("not normal", job.breached.join(", ")),
        ("watches for", definition.watch.iter().map(|pattern| words(pattern)).collect::<Vec<_>>().join("\n")),
    ])?;
    Ok(Exit::Done)
}

fn words(text: &str) -> String {
    line(text).into_owned()
}
