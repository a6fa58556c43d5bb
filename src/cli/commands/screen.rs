//! The bare `cowork [TASK]` and `attach`: the screen.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::input;
use crate::domain::permission::Policy;

#[derive(Debug, clap::Args)]
pub struct ScreenArgs {
    /// Open this Task
    pub task: Option<String>,
    /// The model of new Tasks, PROVIDER:NAME
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// What is possible in new Tasks and when you are asked: read, ask, workspace, full
    #[arg(long, value_name = "POLICY", value_parser = input::policy)]
    pub approve: Option<Policy>,
}

/// Opens the screen.
pub async fn run(app: &App, args: ScreenArgs) -> Result<Exit, Fault> {
    let _ = (app, args);
    Err(Fault::new("screen", "the screen is not built into this program", "use `cowork exec`"))
}
