//! One invocation: its places, its output, and how it reaches the runtime.

use super::args::Global;
use super::config::{self, ConfigError, Configured, Origin};
use super::fault::Fault;
use super::output::Output;
use super::paths::{self, Paths, ProcessEnvironment};
use super::role::Local;
use super::session::Session;
use crate::domain::permission::Policy;
use crate::domain::{Budget, Settings};
use crate::host::client::{Client, Hello, Pushes};
use crate::host::start;
use crate::runtime::folder_of;
use std::path::{Path, PathBuf};

/// One invocation of the program.
pub struct App {
    /// Where things are.
    pub paths: Paths,
    /// How to speak.
    pub out: Output,
    /// Whether more is to be said.
    pub verbose: u8,
    dir: Option<PathBuf>,
    in_process: bool,
    local: tokio::sync::OnceCell<Local>,
}

/// What a command wants from the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To look, or to change records: the host keeps the settings it has.
    Look,
    /// To start work: the host takes this user's settings.
    Work,
}

/// What a new Task begins with.
pub struct Begin {
    /// The folder.
    pub cwd: String,
    /// The model, always named, so that another client's default can't change it.
    pub model: String,
    /// The policy on screen.
    pub policy: Policy,
}

impl App {
    /// Composes an invocation.
    pub fn new(global: &Global) -> Result<Self, Fault> {
        let env = ProcessEnvironment;
        Ok(Self {
            paths: Paths::find(global.home.as_deref(), global.config.as_deref(), &env)?,
            out: Output::new(global.json, global.quiet, global.color, &env),
            verbose: global.verbose,
            dir: global.dir.clone(),
            in_process: global.in_process,
            local: tokio::sync::OnceCell::new(),
        })
    }

    /// The folder the user works in.
    pub fn project_dir(&self) -> Result<PathBuf, Fault> {
        paths::project_dir(self.dir.as_deref())
    }

    /// What the user configured.
    pub fn configured(&self) -> Result<Configured, ConfigError> {
        config::load(&self.paths, &ProcessEnvironment)
    }

    /// Connects to the runtime.
    pub async fn session(&self, purpose: Purpose) -> Result<Session<'_>, Fault> {
        let configured = self.configured()?;
        let settings = match purpose {
            Purpose::Look => None,
            Purpose::Work => Some(configured.settings),
        };
        Session::open(self, settings).await
    }

    /// Makes one connection, starting the host where none runs.
    pub async fn connect(&self, hello: Hello) -> Result<(Client, Pushes), Fault> {
        if self.in_process {
            let local = self.local.get_or_try_init(|| Local::start(self)).await?;
            return local.connect(hello).await;
        }
        if hello.settings.is_none()
            && let Some(connected) = start::connect_if_running(&self.paths.home, hello.clone()).await?
        {
            return Ok(connected);
        }
        // A host that is started takes this user's settings, whatever the command wants.
        let hello = match hello.settings {
            Some(_) => hello,
            None => Hello { settings: Some(Box::new(self.configured()?.settings)), ..hello },
        };
        let program = std::env::current_exe()
            .map_err(|error| Fault::new("io", format!("cannot find the program itself: {error}"), ""))?;
        Ok(start::connect_or_start(&self.paths.home, &program, hello).await?)
    }

    /// Ends what runs inside this process; without `--in-process` nothing does.
    pub async fn close(&self) {
        if let Some(local) = self.local.get() {
            local.stop().await;
        }
    }

    /// What a new Task in the project's folder begins with: flags, then a trusted project's file,
    /// then the user's settings.
    pub async fn begin(
        &self,
        session: &mut Session<'_>,
        model: Option<String>,
        budget: Option<Budget>,
    ) -> Result<Begin, Fault> {
        let dir = self.project_dir()?;
        let mut configured = self.configured()?;
        let (policy, project_model) = {
            let project = self.project(session, &dir, &configured).await?;
            (project.policy.map_or(configured.settings.policy, |(policy, _)| policy), project.model)
        };
        if let Some((model, origin)) = project_model {
            configured.settings.model = model;
            configured.origins.insert("model".into(), origin);
        }
        let model = checked_model(&configured, model, budget)?;
        let cwd = dir
            .into_os_string()
            .into_string()
            .map_err(|_| Fault::usage("the folder's path is not UTF-8", "work in a folder whose name is text"))?;
        Ok(Begin { cwd, model, policy })
    }

    /// What the project's file says, if the person trusts the folder.
    pub async fn project(
        &self,
        session: &mut Session<'_>,
        dir: &Path,
        configured: &Configured,
    ) -> Result<config::Project, Fault> {
        Ok(self.project_layer(session, dir, configured).await??)
    }

    /// The same, its mistakes kept apart.
    pub async fn project_layer(
        &self,
        session: &mut Session<'_>,
        dir: &Path,
        configured: &Configured,
    ) -> Result<Result<config::Project, ConfigError>, Fault> {
        if !paths::project_config(dir).exists() {
            return Ok(Ok(config::Project::default()));
        }
        let trusted = session
            .trust(folder_of(dir).map_err(|error| Fault::io("open", dir, &error))?)
            .await?
            .is_some_and(|trust| trust.trusted);
        if !trusted {
            self.out.note(&format!(
                "{} is not used: the folder is not trusted (`cowork trust` if it is yours)",
                paths::project_config(dir).display()
            ));
            return Ok(Ok(config::Project::default()));
        }
        Ok(config::load_project(dir, configured))
    }
}

/// Chooses the model of a Task and makes sure that its budget can be kept.
pub fn checked_model(configured: &Configured, flag: Option<String>, budget: Option<Budget>) -> Result<String, Fault> {
    let settings: &Settings = &configured.settings;
    let (model, origin) = match flag {
        Some(model) => (model, Origin::Flag("--model")),
        None => (settings.model.clone(), configured.origin("model")),
    };
    settings.resolve(&model).map_err(|message| Fault::from(ConfigError::Value { origin, message }))?;
    if budget.is_some_and(|budget| budget.micro_usd.is_some()) && !settings.has_price(&model) {
        return Err(Fault::usage(
            format!("a budget in dollars can't be kept: the price of {model} is not known"),
            format!(
                "add to the configuration (US dollars for a million tokens):\n\
                 [models.\"{model}\"]\nprice = {{ input = 1.25, output = 10.0 }}"
            ),
        ));
    }
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::paths::tests::env;

    fn configured() -> Configured {
        let dir = tempfile::tempdir().expect("a directory");
        let paths = Paths { home: dir.path().into(), config: dir.path().join("none.toml"), config_named: false };
        config::load(&paths, &env(&[])).expect("built in")
    }

    #[test]
    fn a_budget_in_dollars_needs_a_price() {
        let dollars = Some(Budget { micro_usd: Some(1), ..Budget::default() });
        let fault = checked_model(&configured(), Some("openai:gpt-x".into()), dollars).expect_err("no price");
        assert_eq!(fault.exit, crate::cli::fault::Exit::Usage);
        assert!(fault.hint.contains("[models.\"openai:gpt-x\"]"), "{}", fault.hint);
        assert_eq!(
            checked_model(&configured(), None, dollars).as_deref(),
            Ok("guide:guide"),
            "the guide costs nothing"
        );
        let turns = Some(Budget { turns: Some(1), ..Budget::default() });
        assert!(checked_model(&configured(), Some("openai:gpt-x".into()), turns).is_ok());
    }

    #[test]
    fn a_model_of_an_unknown_provider_is_wrong_use() {
        let fault = checked_model(&configured(), Some("nobody:x".into()), None).expect_err("unknown");
        assert_eq!(fault.exit, crate::cli::fault::Exit::Usage);
        assert!(fault.message.starts_with("--model: "), "{}", fault.message);
    }
}
