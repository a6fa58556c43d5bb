//! `agents log`: everything an agent read, said and did, and what it does next.

use crate::cli::app::App;
use crate::cli::fault::Fault;
use crate::cli::output::Style;
use crate::cli::session::{Happening, Session};
use crate::cli::units;
use crate::domain::sanitise::{line, output, text};
use crate::domain::*;

/// Prints the rows of an agent's context, oldest first, and goes on with new ones if wanted.
pub(super) async fn print(app: &App, session: &mut Session<'_>, agent: &Agent, follow: bool) -> Result<(), Fault> {
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
