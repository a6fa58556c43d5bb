//! `checks`: the points of acceptance of a Task, and a person's judgement of them.

use crate::cli::app::{App, Purpose};
use crate::cli::commands::tasks::check_line;
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::session::Session;
use crate::domain::sanitise::text;
use crate::domain::*;
use serde_json::json;

#[derive(Debug, clap::Args)]
pub struct ChecksArgs {
    /// The Task
    pub task: String,
    #[command(subcommand)]
    pub verb: Option<Verb>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List them with their state
    Ls,
    /// Agree another one
    Add {
        /// How it is judged: command, test, artifact, person, outside
        #[arg(value_parser = str::parse::<CheckKind>)]
        kind: CheckKind,
        /// What must hold; for command and test the command itself
        #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Judge one
    Judge {
        /// The point of acceptance
        check: String,
        /// passed, failed or waived
        #[arg(value_parser = outcome)]
        outcome: CheckState,
        /// What the judgement rests on
        #[arg(long, value_name = "TEXT")]
        because: Option<String>,
    },
}

fn outcome(word: &str) -> Result<CheckState, String> {
    match word.parse::<CheckState>() {
        Ok(outcome) if outcome != CheckState::Open => Ok(outcome),
        Ok(_) | Err(_) => Err("one of: passed, failed, waived".into()),
    }
}

/// Lists, adds or judges.
pub async fn run(app: &App, args: ChecksArgs) -> Result<Exit, Fault> {
    let purpose = match &args.verb {
        None | Some(Verb::Ls) => Purpose::Look,
        Some(Verb::Add { .. } | Verb::Judge { .. }) => Purpose::Work,
    };
    let mut session = app.session(purpose).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    match args.verb {
        None | Some(Verb::Ls) => {}
        Some(Verb::Add { kind, words }) => {
            session.submit(UserCommand::AddCheck { task: task.clone(), kind, text: words.join(" ") }).await?;
        }
        Some(Verb::Judge { check, outcome, because }) => {
            let check = session.id::<CheckId>(&check).await?;
            let evidence = because.map_or_else(|| json!({}), |words| json!({ "words": words }));
            session.submit(UserCommand::GiveVerdict { task: task.clone(), check, outcome, evidence }).await?;
        }
    }
    list(app, &mut session, &task).await?;
    Ok(Exit::Done)
}

/// What a judgement rests on, line by line.
fn evidence(evidence: &serde_json::Value) -> Vec<String> {
    let fields = evidence.as_object().into_iter().flatten();
    fields
        .flat_map(|(name, value)| {
            let words = value.as_str().map_or_else(|| value.to_string(), |words| text(words).into_owned());
            let lines: Vec<String> = words.lines().take(8).map(str::to_owned).collect();
            lines.into_iter().enumerate().map(move |(ix, line)| match ix {
                0 => format!("{name}: {line}"),
                _ => format!("  {line}"),
            })
        })
        .collect()
}

async fn list(app: &App, session: &mut Session<'_>, task: &TaskId) -> Result<(), Fault> {
    let detail = session.task(task).await?;
    let checks = detail.checks;
    if checks.is_empty() {
        app.out.note(&format!("{task} has no points of acceptance; `cowork checks {task} add KIND TEXT` adds one"));
    }
    for check in &checks {
        if app.out.json {
            app.out.json(check)?;
            continue;
        }
        app.out.line(&check_line(check))?;
        if let Some(verdict) = detail.verdicts.iter().rev().find(|verdict| verdict.check == check.id) {
            for shown in evidence(&verdict.evidence) {
                app.out.line(&app.out.out.paint(Style::Dim, &format!("    {shown}")))?;
            }
        }
    }
    Ok(())
}
