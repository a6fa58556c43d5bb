//! `keys`: the keys of the screen, from the table the screen itself uses.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use serde_json::json;

/// Prints the table.
pub fn run(app: &App) -> Result<Exit, Fault> {
    let keymap = app.configured()?.look.keymap;
    for (number, (title, rows)) in keymap.sections().into_iter().enumerate() {
        if app.out.json {
            for row in rows {
                app.out.json(&json!({ "where": title, "place": row.when.name(), "command": row.name, "keys": row.keys, "does": row.says }))?;
            }
            continue;
        }
        if number > 0 {
            app.out.line("")?;
        }
        app.out.line(&app.out.out.paint(Style::Strong, title))?;
        let widest = rows.iter().map(|row| row.keys.join(" ").len()).max().unwrap_or(0);
        for row in rows {
            app.out.line(&format!("  {:<widest$}  {}", row.keys.join(" "), row.says))?;
        }
    }
    Ok(Exit::Done)
}
