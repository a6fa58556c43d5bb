//! `keys`: the keys of the screen, from the table the screen itself uses.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};

/// Prints the table.
pub fn run(app: &App) -> Result<Exit, Fault> {
    let _ = app;
    Err(Fault::new("screen", "the screen is not built into this program", ""))
}
