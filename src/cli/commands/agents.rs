//! `agents`: who works, in what state, and what each one did.

use crate::cli::app::{App, Purpose};
use crate::cli::commands::tasks::usage_words;
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::session::{Happening, Session};
use crate::cli::units;
use crate::domain::sanitise::{line, output, text};
use crate::domain::*;
use serde::Serialize;

#[derive(Debug, clap::Args)]
pub struct AgentsArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List the agents
    Ls {
        /// Of one Task
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
    },
    /// Show an agent
    Show {
        /// The agent
        id: String,
    },
    /// Print an agent's whole trajectory
    Log {
        /// The agent, or a Task for its Main
        id: String,
        /// Go on as it works
        #[arg(long, short)]
        follow: bool,
    },
}

/// An agent as the contract writes it.
#[derive(Debug, Serialize)]
struct Shown {
    id: AgentId,
    task: TaskId,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<RunId>,
    role: AgentRole,
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<String>,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_reason: Option<EndReason>,
    steps: u64,
    usage: Usage,
    started_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
}

impl Shown {
    /// Says what is known of Main: the Task's usage is its own.
    fn new(agent: &Agent, detail: &TaskDetail) -> Self {
        let run = detail.run.as_ref().filter(|run| run.agent == agent.id);
        let state = match (agent.retired_at, run.map(|run| run.state)) {
            (Some(_), _) => "retired",
            (None, Some(RunState::Running)) => "running",
            (None, Some(RunState::Interrupted)) => match detail.task.status {
                TaskStatus::AwaitingHuman | TaskStatus::Paused => "blocked",
                TaskStatus::Active
                | TaskStatus::Parked
                | TaskStatus::Completed
                | TaskStatus::Failed
                | TaskStatus::Cancelled => "queued",
            },
            (None, Some(RunState::Completed | RunState::Failed | RunState::Cancelled) | None) => "idle",
        };
        Self {
            id: agent.id.clone(),
            task: agent.task.clone(),
            run: run.map(|run| run.id.clone()),
            role: agent.role,
            objective: detail.objective.as_ref().map(|objective| objective.text.clone()),
            state,
            end_reason: run.and_then(|run| run.end_reason),
            steps: detail.task.usage.turns,
            usage: detail.task.usage.clone(),
            started_at: agent.created_at,
            ended_at: agent.retired_at,
        }
    }
}

/// Lists, shows or prints the log.
pub async fn run(app: &App, args: AgentsArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    match args.verb {
        Verb::Ls { task } => {
            let tasks = match task {
                Some(word) => vec![session.id::<TaskId>(&word).await?],
                None => session.tasks(false).await?.into_iter().map(|task| task.id).collect(),
            };
            let mut all = Vec::new();
            for task in tasks {
                let detail = session.task(&task).await?;
                all.extend(detail.agents.iter().map(|agent| Shown::new(agent, &detail)));
            }
            list(app, &all)?;
        }
        Verb::Show { id } => {
            let (agent, detail) = find(&mut session, &id).await?;
            show(app, &Shown::new(&agent, &detail))?;
        }
        Verb::Log { id, follow } => {
            let (agent, _) = find(&mut session, &id).await?;
            log(app, &mut session, &agent, follow).await?;
        }
    }
    Ok(Exit::Done)
}

async fn find(session: &mut Session<'_>, word: &str) -> Result<(Agent, TaskDetail), Fault> {
    // A Task stands for its Main.
    if word.starts_with(TaskId::PREFIX) {
        let task = session.id::<TaskId>(word).await?;
        let detail = session.task(&task).await?;
        if let Some(agent) = detail.agents.iter().find(|agent| agent.id == detail.task.main) {
            return Ok((agent.clone(), detail));
        }
    }
    let id = session.id::<AgentId>(word).await?;
    for task in session.tasks(true).await? {
        let detail = session.task(&task.id).await?;
        if let Some(agent) = detail.agents.iter().find(|agent| agent.id == id) {
            return Ok((agent.clone(), detail));
        }
    }
    Err(Fault::new("not_found", format!("agent {id} does not exist"), "`cowork agents ls` lists the agents"))
}

fn list(app: &App, agents: &[Shown]) -> Result<(), Fault> {
    if app.out.json {
        return agents.iter().try_for_each(|agent| app.out.json(agent));
    }
    if agents.is_empty() {
        app.out.note("there are no agents");
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = agents
        .iter()
        .map(|agent| {
            let objective = agent.objective.as_deref().map(|words| line(words).into_owned()).unwrap_or_default();
            let (id, task, age) = (agent.id.to_string(), agent.task.to_string(), units::age(agent.started_at, now));
            vec![id, task, agent.role.to_string(), agent.state.into(), agent.steps.to_string(), age, objective]
        })
        .collect();
    app.out.table(&["id", "task", "role", "state", "steps", "age", "objective"], &rows)
}

fn show(app: &App, agent: &Shown) -> Result<(), Fault> {
    if app.out.json {
        return app.out.json(agent);
    }
    app.out.fields(&[
        ("id", agent.id.to_string()),
        ("task", agent.task.to_string()),
        ("run", agent.run.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("role", agent.role.to_string()),
        ("state", agent.state.into()),
        ("objective", agent.objective.as_deref().map(|words| text(words).into_owned()).unwrap_or_default()),
        ("steps", agent.steps.to_string()),
        ("used", usage_words(&agent.usage)),
        ("began", units::moment(agent.started_at)),
        ("ended", agent.ended_at.map(units::moment).unwrap_or_default()),
    ])
}

/// Prints the rows of an agent's context, oldest first, and goes on with new ones if wanted.
async fn log(app: &App, session: &mut Session<'_>, agent: &Agent, follow: bool) -> Result<(), Fault> {
    let mut pages = Vec::new();
    let mut before = None;
    let mut through = None;
    loop {
        let page = session.transcript(&agent.id, before, 200).await?;
        through = through.or(Some(page.seq));
        before = page.rows.first().map(|row| row.seq);
        pages.push(page.rows);
        if !page.more || before.is_none() {
            break;
        }
    }
    let mut printed = 0;
    for row in pages.iter().rev().flatten() {
        print_row(app, agent, row)?;
        printed = row.seq;
    }
    if !follow {
        return Ok(());
    }
    session.follow(Some(agent.task.clone()), through.unwrap_or(0)).await?;
    loop {
        let Happening::Recorded(recorded) = session.next().await? else { continue };
        let (owner, row) = match &recorded.event {
            Event::MessageDelivered { agent, row, .. }
            | Event::TurnCommitted { agent, row, .. }
            | Event::ToolSettled { agent, row, .. } => (agent, row),
            _ => continue, // Every other event is no row of a context.
        };
        if *owner == agent.id && row.seq > printed {
            print_row(app, agent, row)?;
            printed = row.seq;
        }
    }
}

fn print_row(app: &App, agent: &Agent, row: &Row) -> Result<(), Fault> {
    if app.out.json {
        let mut value = serde_json::to_value(row).map_err(|error| Fault::bug(error.to_string()))?;
        value["agent"] = agent.id.0.clone().into();
        return app.out.json(&value);
    }
    let cut = if row.cut { " (cut short)" } else { "" };
    let head = format!("#{} {}{cut}  {}", row.seq, row.role, units::moment(row.at));
    app.out.line(&app.out.out.paint(Style::Strong, &head))?;
    for part in &row.parts {
        let shown = match part {
            Part::Text { text: words } if row.role == Role::Tool => output(words).into_owned(),
            Part::Text { text: words } => text(words).into_owned(),
            Part::Thinking { text: words, .. } => app.out.out.paint(Style::Dim, &text(words)),
            Part::Image { media_type, name, .. } => format!("[picture {} {}]", line(name), line(media_type)),
            Part::Call { id, name, arguments, .. } => format!("→ {id} {} {}", line(name), line(arguments)),
        };
        app.out.line(shown.trim_end_matches('\n'))?;
    }
    app.out.line("")
}
