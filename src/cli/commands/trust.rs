//! `trust`: whether a folder's configuration and instructions may be used.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::domain::UserCommand;
use crate::domain::sanitise::line;
use crate::runtime::folder_of;
use serde_json::json;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct TrustArgs {
    /// The folder [default: the project]
    pub dir: Option<PathBuf>,
    /// Trust it no longer
    #[arg(long, conflicts_with = "show")]
    pub no: bool,
    /// Only say whether it is trusted
    #[arg(long)]
    pub show: bool,
}

/// Trusts a folder, or says whether it is trusted.
pub async fn run(app: &App, args: TrustArgs) -> Result<Exit, Fault> {
    let dir = match args.dir {
        Some(dir) => dir,
        None => app.project_dir()?,
    };
    let folder = folder_of(&dir).map_err(|error| Fault::io("open", &dir, &error))?;
    let mut session = app.session(Purpose::Look).await?;
    if !args.show {
        session.submit(UserCommand::TrustFolder { folder: folder.clone(), trusted: !args.no }).await?;
    }
    let trusted = session.trust(folder.clone()).await?.map(|trust| trust.trusted);
    if app.out.json {
        let mut answer = json!({ "path": folder.path });
        if let Some(trusted) = trusted {
            answer["trusted"] = trusted.into();
        }
        app.out.json(&answer)?;
    } else {
        let word = match trusted {
            Some(true) => "trusted: its configuration and instructions are used",
            Some(false) => "not trusted",
            None => "not trusted (you have not said)",
        };
        app.out.line(&format!("{}  {word}", line(&folder.path)))?;
    }
    Ok(Exit::Done)
}
