//! What can be changed about a Task: its name, model, policy, budget and objective.

use crate::cli::app::{App, Purpose, checked_model};
use crate::cli::commands::tasks::print_task;
use crate::cli::fault::{Exit, Fault};
use crate::cli::{input, units};
use crate::domain::permission::Policy;
use crate::domain::*;

#[derive(Debug, clap::Args)]
pub struct RenameArgs {
    /// The Task
    pub task: String,
    /// Its new name
    #[arg(value_name = "TITLE", required = true)]
    pub words: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub struct Changes {
    /// Another model from the next turn on, PROVIDER:NAME; "default" means the configured one
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// What is possible and when you are asked: read, ask, workspace, full
    #[arg(long, value_name = "POLICY", value_parser = input::policy)]
    pub approve: Option<Policy>,
    /// Limits in place of the old ones: turns=N,tokens=N,seconds=N,usd=X; "none" lifts them
    #[arg(long, value_name = "LIMITS", value_parser = new_budget)]
    pub budget: Option<Budget>,
}

#[derive(Debug, clap::Args)]
pub struct SetArgs {
    /// The Task
    pub task: String,
    #[command(flatten)]
    pub changes: Changes,
}

#[derive(Debug, clap::Args)]
pub struct ObjectiveArgs {
    /// The Task
    pub task: String,
    /// The new wording; - reads standard input
    #[arg(value_name = "TEXT")]
    pub words: Vec<String>,
}

fn new_budget(text: &str) -> Result<Budget, String> {
    if text == "none" { Ok(Budget::default()) } else { units::budget(text) }
}

/// Gives a Task another name.
pub async fn rename(app: &App, args: RenameArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    session.submit(UserCommand::Rename { task: task.clone(), title: args.words.join(" ") }).await?;
    if app.out.json {
        print_task(app, &mut session, &task).await?;
    }
    Ok(Exit::Done)
}

/// Changes a Task's model, policy or budget.
pub async fn set(app: &App, args: SetArgs) -> Result<Exit, Fault> {
    let Changes { model, approve, budget } = args.changes;
    let mut session = app.session(Purpose::Work).await?;
    let id = session.id::<TaskId>(&args.task).await?;
    let task = session.task(&id).await?.task;
    if model.is_some() || budget.is_some() {
        let wanted = model.clone().filter(|model| model != "default");
        let effective = if model.is_some() { wanted } else { task.model.clone() };
        checked_model(&app.configured()?, effective, Some(budget.unwrap_or(task.budget)))?;
    }
    if let Some(model) = model {
        let model = Some(model).filter(|model| model != "default");
        session.submit(UserCommand::SetModel { task: id.clone(), model }).await?;
    }
    if let Some(policy) = approve {
        session.submit(UserCommand::SetPolicy { task: id.clone(), policy }).await?;
    }
    if let Some(budget) = budget {
        session.submit(UserCommand::SetBudget { task: id.clone(), budget }).await?;
    }
    if app.out.json {
        print_task(app, &mut session, &id).await?;
    } else if task.status == TaskStatus::Failed {
        app.out.note(&format!("{id} has stopped; `cowork resume {id}` lets it go on"));
    }
    Ok(Exit::Done)
}

/// Shows a Task's objective, or gives it a new wording.
pub async fn objective(app: &App, args: ObjectiveArgs) -> Result<Exit, Fault> {
    if args.words.is_empty() {
        let mut session = app.session(Purpose::Look).await?;
        let task = session.id::<TaskId>(&args.task).await?;
        let Some(objective) = session.task(&task).await?.objective else {
            app.out.note(&format!("{task} has no objective yet; its first message becomes it"));
            return Ok(Exit::Done);
        };
        if app.out.json {
            app.out.json(&objective)?
        } else {
            app.out.text(&objective.text)?
        }
        return Ok(Exit::Done);
    }
    let text = input::words(&args.words)?;
    let mut session = app.session(Purpose::Work).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    session.submit(UserCommand::SetObjective { task: task.clone(), text }).await?;
    let objective = session.task(&task).await?.objective;
    match objective {
        Some(objective) if app.out.json => app.out.json(&objective)?,
        Some(objective) => app.out.note(&format!("the objective of {task} is now version {}", objective.version)),
        None => {}
    }
    Ok(Exit::Done)
}
