//! Letting what an agent's call runs go on as a Job.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::session::Happening;
use crate::domain::*;
use serde_json::json;

/// Asks for it, and returns when it is a Job or has ended before.
pub(super) async fn run(app: &App, task: &str) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Work).await?;
    let task = session.id::<TaskId>(task).await?;
    let receipt = session.submit(UserCommand::Background { task: task.clone() }).await?;
    // What was asked for is told as well: the events begin with it.
    session.follow(Some(task), receipt.seq - 1).await?;
    let mut asked: Option<ToolCallId> = None;
    loop {
        let Happening::Recorded(recorded) = session.next().await? else { continue };
        match &recorded.event {
            Event::BackgroundAsked { call } => asked = asked.or(Some(call.clone())),
            Event::JobCreated { job } if asked.as_ref().is_some_and(|call| job.id == JobId::of_call(call)) => {
                if app.out.json {
                    app.out.json(&json!({ "id": job.id, "state": job.state }))?;
                } else {
                    app.out.line(job.id.as_str())?;
                    app.out
                        .note(&format!("`cowork jobs logs -f {0}` follows it, `cowork jobs stop {0}` ends it", job.id));
                }
                return Ok(Exit::Done);
            }
            Event::ToolSettled { call, .. } if asked.as_ref() == Some(call) => {
                let hint = "look at what it printed in the conversation";
                return Err(Fault::new("wrong_state", "the command ended before it could go on as a Job", hint));
            }
            _ => {}
        }
    }
}
