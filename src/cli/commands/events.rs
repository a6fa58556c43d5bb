//! `events`: what happened in a Task, in order, as it was recorded.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::session::Happening;
use crate::cli::units;
use crate::domain::*;
use serde::Serialize;

#[derive(Debug, clap::Args)]
pub struct EventsArgs {
    /// The Task
    pub task: String,
    /// Only what came after this number
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    pub after: Seq,
    /// Go on as more happens
    #[arg(long, short)]
    pub follow: bool,
}

/// A recorded event as a line: its kind beside its place in the order.
#[derive(Serialize)]
struct Line<'a> {
    seq: Seq,
    at: Millis,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a TaskId>,
    kind: &'static str,
    actor: &'a Actor,
    event: &'a Event,
}

/// Prints the events of a Task.
pub async fn run(app: &App, args: EventsArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    let task = session.id::<TaskId>(&args.task).await?;
    if args.follow {
        session.follow(Some(task), args.after).await?;
        loop {
            match session.next().await? {
                Happening::Recorded(recorded) => print(app, &recorded)?,
                Happening::Transient(_) => {}
            }
        }
    }
    let mut after = args.after;
    loop {
        let page = session.events(Some(task.clone()), after).await?;
        let Some(last) = page.last() else { return Ok(Exit::Done) };
        after = last.seq;
        for recorded in &page {
            print(app, recorded)?;
        }
    }
}

fn print(app: &App, recorded: &Recorded) -> Result<(), Fault> {
    let Recorded { seq, at, task, actor, event } = recorded;
    let kind = event.kind();
    if app.out.json {
        return app.out.json(&Line { seq: *seq, at: *at, task: task.as_ref(), kind, actor, event });
    }
    let (entity, id) = event.entity();
    let time = app.out.out.paint(Style::Dim, &units::moment(*at));
    let what = sanitise::line(&format!("{entity} {id}")).into_owned();
    app.out.line(&format!("{seq:>6}  {time}  {:<7} {kind:<20}  {what}", actor.kind.as_str()))
}
