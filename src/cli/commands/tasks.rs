//! `ls`, `show`, `new`, `send`, and the verbs that take nothing but a Task.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::input;
use crate::cli::output::{Style, fit};
use crate::cli::session::Session;
use crate::cli::units;
use crate::domain::permission::Policy;
use crate::domain::sanitise::{line, text};
use crate::domain::*;

/// One Task.
#[derive(Debug, clap::Args)]
pub struct One {
    /// The Task
    pub task: String,
}

#[derive(Debug, clap::Args)]
pub struct LsArgs {
    /// Archived ones too
    #[arg(long)]
    pub all: bool,
}

#[derive(Debug, clap::Args)]
pub struct NewArgs {
    /// Its name
    #[arg(value_name = "TITLE")]
    pub words: Vec<String>,
    /// The model, PROVIDER:NAME
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// What is possible and when you are asked: read, ask, workspace, full
    #[arg(long, value_name = "POLICY", value_parser = input::policy)]
    pub approve: Option<Policy>,
    /// Limits: turns=N,tokens=N,seconds=N,usd=X
    #[arg(long, value_name = "LIMITS", value_parser = units::budget)]
    pub budget: Option<Budget>,
}

#[derive(Debug, clap::Args)]
pub struct SendArgs {
    /// The Task
    pub task: String,
    /// The words; - reads standard input
    #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
    /// Deliver it after the final answer, not at the next boundary
    #[arg(long)]
    pub later: bool,
}

#[derive(Debug, clap::Args)]
pub struct ArchiveArgs {
    /// The Task
    pub task: String,
    /// Take it out again
    #[arg(long)]
    pub undo: bool,
}

/// Lists the Tasks.
pub async fn ls(app: &App, args: LsArgs) -> Result<Exit, Fault> {
    let tasks = app.session(Purpose::Look).await?.tasks(args.all).await?;
    if app.out.json {
        for task in &tasks {
            app.out.json(task)?;
        }
        return Ok(Exit::Done);
    }
    if tasks.is_empty() {
        app.out.note("no Tasks yet; `cowork` opens the screen, `cowork exec \"…\"` works without one");
    }
    let now = units::now();
    let room = app.out.width.map_or(60, |width| (width / 2).saturating_sub(12).max(16));
    let rows: Vec<Vec<String>> = tasks
        .iter()
        .map(|task| {
            let status = if task.archived { format!("{} (archived)", task.status) } else { task.status.to_string() };
            let id = task.id.to_string();
            vec![id, status, units::age(task.updated_at, now), fit(&line(&task.title), room), waits_for(task)]
        })
        .collect();
    app.out.table(&["id", "state", "age", "title", "waits for"], &rows)?;
    Ok(Exit::Done)
}

/// What a Task waits for, in one line.
fn waits_for(task: &Task) -> String {
    let reason = || task.reason.as_deref().map(|words| line(words).into_owned()).unwrap_or_default();
    match task.waiting_for.as_slice() {
        [] if task.status == TaskStatus::Active => "your next message".into(),
        [] => reason(),
        _ if task.status.is_ended() => reason(),
        [first] => waiting_line(first),
        [first, rest @ ..] => format!("{} (+{})", waiting_line(first), rest.len()),
    }
}

/// Something a Task waits for, in one line; of what is to be allowed nothing is left out.
pub fn waiting_line(waiting: &Waiting) -> String {
    let text = match waiting.kind.as_str() {
        "approval" => sanitise::approval(&waiting.text).replace('\n', "↵"),
        _ => line(&waiting.text).into_owned(),
    };
    format!("{} {}: {text}", waiting.kind, waiting.id)
}

/// Shows a Task whole.
pub async fn show(app: &App, args: One) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let id = session.id::<TaskId>(&args.task).await?;
    let detail = session.task(&id).await?;
    if app.out.json {
        app.out.json(&detail)?;
    } else {
        print_detail(app, &detail)?;
        let last = session.transcript(&detail.task.main, None, 20).await?.rows;
        let answer = last.iter().rev().find(|row| row.role == Role::Assistant && !row.text().trim().is_empty());
        if let Some(answer) = answer {
            app.out.line("")?;
            app.out.line(&text(&answer.text()))?;
        }
    }
    Ok(Exit::Done)
}

fn print_detail(app: &App, detail: &TaskDetail) -> Result<(), Fault> {
    let task = &detail.task;
    let mut status = task.status.to_string();
    if let Some(reason) = &task.reason {
        status += &format!(" ({})", line(reason));
    }
    if task.archived {
        status += ", archived";
    }
    let objective = detail.objective.as_ref().map(|objective| {
        let version = if objective.version > 1 { format!("[version {}] ", objective.version) } else { String::new() };
        version + &text(&objective.text)
    });
    let waiting: Vec<String> = task.waiting_for.iter().map(waiting_line).collect();
    let checks: Vec<String> = detail.checks.iter().map(check_line).collect();
    app.out.line(&app.out.out.paint(Style::Strong, &line(&task.title)))?;
    app.out.fields(&[
        ("id", task.id.to_string()),
        ("state", status),
        ("objective", objective.unwrap_or_default()),
        ("waits for", waiting.join("\n")),
        ("acceptance", checks.join("\n")),
        ("folder", task.cwd.as_deref().map(|words| line(words).into_owned()).unwrap_or_default()),
        ("model", task.model.clone().unwrap_or_else(|| "the configured default".into())),
        ("policy", format!("{} ({}, {})", task.policy.name(), task.policy.reach, task.policy.ask)),
        ("budget", budget_words(&task.budget)),
        ("used", usage_words(&task.usage)),
        (
            "context",
            if detail.context_tokens > 0 { format!("{} tokens", detail.context_tokens) } else { String::new() },
        ),
        ("main", task.main.to_string()),
        ("began", units::moment(task.created_at)),
        ("changed", units::moment(task.updated_at)),
    ])
}

/// One point of acceptance in one line.
pub fn check_line(check: &Check) -> String {
    format!("{}  {:<6}  {} ({})", check.id, check.state, line(&check.text), check.kind)
}

/// What was used, in words.
pub fn usage_words(usage: &Usage) -> String {
    let about = if usage.estimated { "about " } else { "" };
    let mut words =
        format!("{} turns, {about}{} tokens in, {} out", usage.turns, usage.input_tokens, usage.output_tokens);
    if let Some(micro) = usage.micro_usd {
        words += &format!(", {about}{}", units::usd(micro));
    }
    words
}

fn budget_words(budget: &Budget) -> String {
    let mut words = Vec::new();
    for (name, limit) in [("turns", budget.turns), ("tokens", budget.tokens), ("seconds", budget.seconds)] {
        words.extend(limit.map(|limit| format!("{name}={limit}")));
    }
    words.extend(budget.micro_usd.map(|micro| format!("usd={}", micro as f64 / 1e6)));
    words.join(",")
}

/// Makes an idle Task.
pub async fn new(app: &App, args: NewArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Work).await?;
    let begin = app.begin(&mut session, args.model, args.budget).await?;
    let receipt = session
        .submit(UserCommand::CreateTask {
            title: args.words.join(" "),
            cwd: Some(begin.cwd),
            model: Some(begin.model),
            policy: args.approve.unwrap_or(begin.policy),
            budget: args.budget.unwrap_or_default(),
            message: None,
            checks: Vec::new(),
        })
        .await?;
    let id = made(&receipt)?;
    if app.out.json {
        print_task(app, &mut session, &id).await?
    } else {
        app.out.line(id.as_str())?
    }
    Ok(Exit::Done)
}

/// The Task a receipt speaks of.
pub fn made(receipt: &Receipt) -> Result<TaskId, Fault> {
    receipt.task.clone().ok_or_else(|| Fault::bug("the host made a Task and did not name it"))
}

/// Sends a message.
pub async fn send(app: &App, args: SendArgs) -> Result<Exit, Fault> {
    let text = input::words(&args.words)?;
    let mut session = app.session(Purpose::Work).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    let delivery = if args.later { Delivery::TurnEnd } else { Delivery::Boundary };
    let receipt =
        session.submit(UserCommand::SendMessage { task: task.clone(), text, refs: Vec::new(), delivery }).await?;
    if let Some(message) = receipt.message {
        if app.out.json {
            let message = session.message(&message).await?;
            app.out.json(&message)?;
        } else {
            app.out.note(&format!("{message} is queued for {task}"));
        }
    }
    Ok(Exit::Done)
}

/// A verb that takes nothing but a Task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Interrupt,
    Pause,
    Resume,
    Cancel,
    Archive,
    Unarchive,
}

/// Carries a verb out and says what became of the Task.
pub async fn verb(app: &App, task: &str, verb: Verb) -> Result<Exit, Fault> {
    let purpose = if verb == Verb::Resume { Purpose::Work } else { Purpose::Look };
    let mut session = app.session(purpose).await?;
    let task = session.id::<TaskId>(task).await?;
    let (wanted, done) = match verb {
        Verb::Interrupt => (UserCommand::Interrupt { task: task.clone() }, "is told to stop its step"),
        Verb::Pause => (UserCommand::Pause { task: task.clone() }, "pauses at its next boundary"),
        Verb::Resume => (UserCommand::Resume { task: task.clone() }, "goes on"),
        Verb::Cancel => (UserCommand::Cancel { task: task.clone() }, "is cancelled"),
        Verb::Archive => (UserCommand::Archive { task: task.clone(), archived: true }, "is archived"),
        Verb::Unarchive => (UserCommand::Archive { task: task.clone(), archived: false }, "is listed again"),
    };
    session.submit(wanted).await?;
    if app.out.json {
        print_task(app, &mut session, &task).await?;
    }
    app.out.note(&format!("{task} {done}"));
    Ok(Exit::Done)
}

/// Removes a Task.
pub async fn rm(app: &App, args: One) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    session.submit(UserCommand::Remove { task: task.clone() }).await?;
    app.out.note(&format!("{task} is removed"));
    Ok(Exit::Done)
}

/// Prints a Task as one JSON object.
pub async fn print_task(app: &App, session: &mut Session<'_>, task: &TaskId) -> Result<(), Fault> {
    let detail = session.task(task).await?;
    app.out.json(&detail.task)
}
