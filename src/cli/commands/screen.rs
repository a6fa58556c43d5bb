//! The bare `cowork [TASK]` and `attach`: the screen.

use super::{outside, plain};
use crate::agent::model::find_local;
use crate::cli::app::{App, Purpose, checked_model};
use crate::cli::config::{self, Configured, Origin, nearest};
use crate::cli::fault::{Exit, Fault};
use crate::cli::input;
use crate::cli::session::spelled;
use crate::domain::permission::Policy;
use crate::domain::settings::{Provider, ProviderKind};
use crate::domain::{ClientId, Ids, TaskId};
use crate::host::client::{Client, Failure, Hello, Pushes};
use crate::runtime::folder_of;
use crate::tui::model::Offer;
use crate::tui::{self, Start};
use clap::CommandFactory;
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

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
    if plain::is_all_there_is() {
        return plain::run(app, args).await;
    }
    let mut configured = app.configured()?;
    let dir = app.project_dir()?;
    let folder = folder_of(&dir).map_err(|error| Fault::io("open", &dir, &error))?;
    // Both at once: whoever chose a model waits for neither.
    let (session, offers) = tokio::join!(app.session(Purpose::Work), offers(&mut configured));
    let mut session = session?;
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

    let keep_model = keep_model(app.clone(), configured.settings.providers.clone());
    let hello = Hello { client: client()?, settings: Some(Box::new(configured.settings)) };
    let start = Start {
        connect: connect(app.clone(), hello.clone()),
        look: configured.look,
        editor: outside::editor(),
        attach: outside::attach(app.paths.home.clone()),
        shell: outside::shell(settings.limits),
        keep_model,
        offers,
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

/// How long servers of this machine may take to say that they are there before the screen opens.
const PATIENCE: Duration = Duration::from_millis(150);

/// What could answer where nobody chose a model: servers of this machine, which can be used at once,
/// and providers whose key is in the environment.
async fn offers(configured: &mut Configured) -> Vec<(Offer, Vec<String>)> {
    if configured.origin("model") != Origin::BuiltIn {
        return Vec::new();
    }
    let providers = configured.settings.providers.iter();
    let keyed = providers.filter(|(_, provider)| provider.key.is_some()).map(|(name, provider)| {
        let what = match &provider.key_env {
            Some(variable) => format!("{variable} is set"),
            None => format!("{name} is configured"),
        };
        (Offer { what, model: format!("{name}:NAME") }, Vec::new())
    });
    let mut offers: Vec<_> = keyed.collect();
    let known: Vec<String> = configured.settings.providers.values().map(|known| known.base_url.clone()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let found = tokio::time::timeout(PATIENCE, find_local(&known)).await.unwrap_or_default();
    for server in found {
        let models: Vec<String> = server.models.iter().map(|model| format!("{}:{model}", server.name)).collect();
        let Some(first) = models.first().cloned() else { continue };
        let what = match models.len() {
            1 => format!("{} runs on this machine", server.name),
            many => format!("{} runs on this machine with {many} models", server.name),
        };
        let provider = Provider::new(ProviderKind::Openai, server.base_url);
        configured.settings.providers.entry(server.name.to_owned()).or_insert(provider);
        offers.push((Offer { what, model: first }, models));
    }
    offers
}

/// Keeps a chosen model in the user's file, and with it the server of this machine that it is of.
fn keep_model(app: Arc<App>, providers: BTreeMap<String, Provider>) -> tui::KeepModel {
    Box::new(move |model| {
        let file = &app.paths.config;
        let failed = |why: String| format!("{model} is used here, and not kept in {}: {why}", file.display());
        let name = model.split(':').next().unwrap_or_default();
        let found = providers.get(name).filter(|found| found.key_env.is_none() && found.kind == ProviderKind::Openai);
        let server = found.map(|found| (name, found.base_url.as_str()));
        config::keep_model(file, &model, server).map_err(|error| failed(error.to_string()))?;
        Ok(file.display().to_string())
    })
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
