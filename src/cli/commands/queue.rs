//! `queue`: the messages of a Task that wait for a boundary; they can be changed or taken back.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::{input, units};
use crate::domain::command::Move;
use crate::domain::sanitise::line;
use crate::domain::*;

#[derive(Debug, clap::Args)]
pub struct QueueArgs {
    /// The Task
    pub task: String,
    #[command(subcommand)]
    pub change: Option<Change>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Change {
    /// Change the words of a message
    Edit {
        /// The message
        message: String,
        /// The new words; - reads standard input
        #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
    /// Have a message enter before the one ahead of it, or after the one behind it
    Move {
        /// The message
        message: String,
        /// earlier or later
        #[arg(value_parser = str::parse::<Move>)]
        to: Move,
    },
    /// Say when a message may enter: at the next boundary, or after the answer (turn_end)
    When {
        /// The message
        message: String,
        /// boundary or turn_end
        #[arg(value_parser = str::parse::<Delivery>)]
        delivery: Delivery,
    },
    /// Take a message back
    Withdraw {
        /// The message
        message: String,
    },
}

/// Lists or changes what is queued.
pub async fn run(app: &App, args: QueueArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    let changed = match args.change {
        None => {
            let waiting = session.messages(Some(task), 0).await?;
            let mut waiting: Vec<_> = waiting.into_iter().filter(|m| m.state == MessageState::Queued).collect();
            waiting.sort_by_key(|message| message.order);
            return list(app, &waiting);
        }
        Some(Change::Edit { message, words }) => {
            let text = input::words(&words)?;
            let message = session.id::<MessageId>(&message).await?;
            session.submit(UserCommand::EditMessage { task, message: message.clone(), text }).await?;
            app.out.note(&format!("{message} is changed"));
            message
        }
        Some(Change::Move { message, to }) => {
            let message = session.id::<MessageId>(&message).await?;
            session.submit(UserCommand::MoveMessage { task, message: message.clone(), to }).await?;
            app.out.note(&format!("{message} is moved"));
            message
        }
        Some(Change::When { message, delivery }) => {
            let message = session.id::<MessageId>(&message).await?;
            session.submit(UserCommand::SetDelivery { task, message: message.clone(), delivery }).await?;
            app.out.note(&format!("{message} enters at {delivery}"));
            message
        }
        Some(Change::Withdraw { message }) => {
            let message = session.id::<MessageId>(&message).await?;
            session.submit(UserCommand::WithdrawMessage { task, message: message.clone() }).await?;
            app.out.note(&format!("{message} is withdrawn"));
            message
        }
    };
    if app.out.json {
        let message = session.message(&changed).await?;
        app.out.json(&message)?;
    }
    Ok(Exit::Done)
}

fn list(app: &App, waiting: &[Message]) -> Result<Exit, Fault> {
    if app.out.json {
        for message in waiting {
            app.out.json(message)?;
        }
        return Ok(Exit::Done);
    }
    if waiting.is_empty() {
        app.out.note("nothing is queued");
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = waiting
        .iter()
        .map(|message| {
            let when = match message.delivery {
                Delivery::Boundary => "next boundary",
                Delivery::TurnEnd => "after the answer",
            };
            let age = units::age(message.created_at, now);
            vec![message.id.to_string(), message.kind.to_string(), age, when.into(), line(&message.text).into_owned()]
        })
        .collect();
    app.out.table(&["id", "kind", "age", "enters", "text"], &rows)?;
    Ok(Exit::Done)
}
