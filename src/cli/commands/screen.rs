//! The bare `cowork [TASK]` and `attach`: the screen.

use super::outside;
use crate::cli::app::{App, Purpose, checked_model};
use crate::cli::config::nearest;
use crate::cli::fault::{Exit, Fault};
use crate::cli::input;
use crate::cli::session::spelled;
use crate::domain::permission::Policy;
use crate::domain::{ClientId, Ids, TaskId};
use crate::host::client::{Client, Failure, Hello, Pushes};
use crate::runtime::folder_of;
use crate::tui::{self, Start};
use clap::CommandFactory;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use std::sync::Arc;

#[derive(Debug, Default, PartialEq, clap::Args)]
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

/// Shows the screen until the person leaves. What can't work is said before it opens.
pub async fn run(app: &Arc<App>, args: ScreenArgs) -> Result<Exit, Fault> {
    if let Some(word) = &args.task {
        check_word(word)?;
    }
    let configured = app.configured()?;
    let dir = app.project_dir()?;
    let folder = folder_of(&dir).map_err(|error| Fault::io("open", &dir, &error))?;
    let mut session = app.session(Purpose::Work).await?;
    let task = match &args.task {
        Some(word) => {
            Some(session.id::<TaskId>(word).await.map_err(|fault| match word.starts_with(TaskId::PREFIX) {
                true => fault,
                false => Fault::usage(
                    format!("there is neither a command nor a Task `{word}`"),
                    "`cowork --help` lists the commands, `cowork ls` the Tasks",
                ),
            })?)
        }
        None => None,
    };
    let project = app.project(&mut session, &dir, &configured).await?;
    let mut settings = configured.settings.clone();
    if let Some((model, _)) = project.model {
        settings.model = model;
    }
    if let Some((policy, _)) = project.policy {
        settings.policy = policy;
    }
    if args.model.is_some() {
        settings.model = checked_model(&configured, args.model, None)?;
    }
    settings.policy = args.approve.unwrap_or(settings.policy);
    drop(session);

    let hello = Hello { client: client()?, settings: Some(Box::new(configured.settings)) };
    let start = Start {
        connect: connect(app.clone(), hello.clone()),
        look: configured.look,
        editor: outside::editor(),
        attach: outside::attach(app.paths.home.clone()),
        task,
        folder,
        settings,
        client: hello.client,
    };
    let left = tui::run(start).await?;
    if let Some(task) = left.task {
        app.out.note(&format!("`cowork {task}` comes back to it"));
    }
    Ok(Exit::Done)
}

/// A word that is no id was probably meant as a command.
fn check_word(word: &str) -> Result<(), Fault> {
    if word.starts_with(TaskId::PREFIX) {
        return Ok(());
    }
    let program = crate::cli::args::Args::command();
    let commands: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
    match nearest(word, &commands) {
        Some(command) => Err(Fault::usage(
            format!("there is no command `{word}`"),
            format!("did you mean `cowork {command}`? `cowork --help` lists the commands"),
        )),
        None => spelled::<TaskId>(word).map(|_| ()),
    }
}

/// Makes connections for the screen, each time one is lost.
fn connect(app: Arc<App>, hello: Hello) -> tui::Connect {
    Box::new(move || -> BoxFuture<'static, Result<(Client, Pushes), Failure>> {
        let (app, hello) = (app.clone(), hello.clone());
        Box::pin(async move {
            app.connect(hello).await.map_err(|fault| match fault.kind {
                "version" => Failure::Refused { version: "another".into(), reason: fault.message },
                _ => Failure::Lost(fault.message),
            })
        })
    })
}

/// Whose drafts are restored: those of this terminal, whoever opened it again.
fn client() -> Result<ClientId, Fault> {
    let Ok(terminal) = std::fs::read_link("/proc/self/fd/0") else {
        return Ok(Hello::new(None).map_err(crate::cli::session::failed)?.client);
    };
    let mut seed = [0; 16];
    seed.copy_from_slice(&Sha256::digest(terminal.as_os_str().as_encoded_bytes())[..16]);
    Ok(ClientId::new(&mut Ids::new(seed)))
}

impl From<tui::Error> for Fault {
    fn from(error: tui::Error) -> Self {
        Self::new("screen", error.to_string(), "")
    }
}
