//! `completions`: a shell's completion script.

use crate::cli::app::App;
use crate::cli::args::Args;
use crate::cli::fault::{Exit, Fault};
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Prints the script.
pub fn run(app: &App, args: CompletionsArgs) -> Result<Exit, Fault> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "cowork", &mut script);
    app.out.piece(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
