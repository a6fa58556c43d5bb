//! `agents`: who works, in what state, what each one did, and what a person says to one of them.

mod act;
mod log;

pub(super) use act::answer;

use crate::cli::app::{App, Purpose};
use crate::cli::commands::tasks::usage_words;
use crate::cli::fault::{Exit, Fault};
use crate::cli::session::Session;
use crate::cli::{input, units};
use crate::domain::command::ReviewVerdict;
use crate::domain::sanitise::{line, text};
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
    /// Say something to a Subagent; it reads it at its next step, and Main is told
    Guide {
        /// The Subagent
        id: String,
        /// The words; - reads standard input
        #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Answer what a Subagent asked to be decided
    Answer {
        /// The decision request, or the Subagent that waits for it
        #[arg(value_name = "REQUEST")]
        id: String,
        /// The answer; - reads standard input
        #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Stop a Subagent and what it handed on
    Cancel {
        /// The Subagent
        id: String,
    },
    /// Take what a Subagent brought as it is
    Accept {
        /// The Contribution, or the Subagent that made it
        id: String,
    },
    /// Do not use what a Subagent brought
    Reject {
        /// The Contribution, or the Subagent that made it
        id: String,
        /// Why
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Send work back to the Subagent that did it
    Rework {
        /// The Contribution, or the Subagent that made it
        id: String,
        /// What to do differently; - reads standard input
        #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
        words: Vec<String>,
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
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<AgentId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objective: Option<String>,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_reason: Option<EndReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<DelegationMode>,
    steps: u64,
    usage: Usage,
    /// What it asks to be decided and nobody has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionRequest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contribution: Option<Contribution>,
    started_at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Millis>,
}

impl Shown {
    /// Says what is known of an agent.
    fn new(agent: &Agent, detail: &TaskDetail) -> Self {
        match detail.delegated.iter().rev().find(|one| one.assignment.agent == agent.id) {
            Some(one) => Self::subagent(agent, one),
            None => Self::main(agent, detail),
        }
    }

    /// Main: the Task's usage is its own and that of all it gave away.
    fn main(agent: &Agent, detail: &TaskDetail) -> Self {
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
            name: None,
            parent: None,
            objective: detail.objective.as_ref().map(|objective| objective.text.clone()),
            state,
            end_reason: run.and_then(|run| run.end_reason),
            mode: None,
            steps: detail.task.usage.turns,
            usage: detail.task.usage.clone(),
            decision: None,
            contribution: None,
            started_at: agent.created_at,
            ended_at: agent.retired_at,
        }
    }

    fn subagent(agent: &Agent, one: &Delegated) -> Self {
        let work = &one.assignment;
        // One whose work was reviewed does nothing any more; until then it may be asked again.
        let state = if agent.retired_at.is_some() { "retired" } else { work.state.as_str() };
        let open = |decision: &&DecisionRequest| decision.state == DecisionState::Open;
        Self {
            id: agent.id.clone(),
            task: agent.task.clone(),
            run: one.run.as_ref().map(|run| run.id.clone()),
            role: agent.role,
            name: Some(work.name.clone()),
            parent: Some(work.parent.clone()),
            objective: Some(work.objective.clone()),
            state,
            end_reason: None,
            mode: Some(work.mode),
            steps: work.usage.turns,
            usage: work.usage.clone(),
            decision: one.decisions.iter().find(open).cloned(),
            contribution: one.contribution.clone(),
            started_at: work.created_at,
            ended_at: work.ended_at,
        }
    }
}

/// Does what the verb says.
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
            log::print(app, &mut session, &agent, follow).await?;
        }
        Verb::Guide { id, words } => act::guide(app, &mut session, &id, &input::words(&words)?).await?,
        Verb::Answer { id, words } => act::answer(app, &mut session, &id, &input::words(&words)?).await?,
        Verb::Cancel { id } => act::cancel(app, &mut session, &id).await?,
        Verb::Accept { id } => act::review(app, &mut session, &id, ReviewVerdict::Accept, None).await?,
        Verb::Reject { id, words } => {
            let why = if words.is_empty() { None } else { Some(input::words(&words)?) };
            act::review(app, &mut session, &id, ReviewVerdict::Reject, why).await?;
        }
        Verb::Rework { id, words } => {
            let why = Some(input::words(&words)?);
            act::review(app, &mut session, &id, ReviewVerdict::Rework, why).await?;
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
            let name = line(agent.name.as_deref().unwrap_or("Main")).into_owned();
            vec![id, task, name, agent.state.into(), agent.steps.to_string(), age, objective]
        })
        .collect();
    app.out.table(&["id", "task", "name", "state", "steps", "age", "objective"], &rows)?;
    for decision in agents.iter().filter_map(|agent| agent.decision.as_ref()) {
        app.out.note(&format!("{} asks: {}", decision.agent, line(&decision.question)));
        app.out.note(&format!("  `cowork agents answer {} TEXT`", decision.id));
    }
    Ok(())
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
        ("name", agent.name.as_deref().map(|name| line(name).into_owned()).unwrap_or_default()),
        ("given by", agent.parent.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("state", agent.state.into()),
        ("objective", agent.objective.as_deref().map(|words| text(words).into_owned()).unwrap_or_default()),
        ("steps", agent.steps.to_string()),
        ("used", usage_words(&agent.usage)),
        ("began", units::moment(agent.started_at)),
        ("ended", agent.ended_at.map(units::moment).unwrap_or_default()),
        ("asks", agent.decision.as_ref().map(asked).unwrap_or_default()),
        ("brought", agent.contribution.as_ref().map(brought).unwrap_or_default()),
    ])
}

fn asked(decision: &DecisionRequest) -> String {
    let until = units::moment(decision.deadline_at);
    format!("{} until {until}: {}\nelse: {}", decision.id, text(&decision.question), text(&decision.fallback))
}

fn brought(made: &Contribution) -> String {
    let Report { outcome, done, uncertain, refs } = &made.report;
    let mut words = format!("{} {outcome}, {}: {}", made.id, made.state, text(done));
    if !uncertain.is_empty() {
        words += &format!("\nuncertain: {}", text(uncertain));
    }
    if !refs.is_empty() {
        words += &format!("\nsee: {}", line(&refs.join(", ")));
    }
    words
}
