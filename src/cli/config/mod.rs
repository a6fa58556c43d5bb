//! Configuration: built-in values, the user's file, the environment and flags make one [`Settings`],
//! with the origin of every value; a trusted project's file then says what its new Tasks begin with.
//!
//! The project's layer is kept apart because the host is shared: what one project says must not
//! reach the Tasks of another. Called by every command that starts or sends work.

mod environment;
mod keep;
mod key_command;
mod key_file;
mod mistake;
mod project;
mod reader;
mod screen;
mod user;

pub use keep::keep_model;
pub use mistake::{Mistake, nearest};
pub use project::Project;

use super::fault::{Exit, Fault};
use super::paths::{Environment, Paths};
use crate::domain::Settings;
use crate::domain::settings::{Provider, ProviderKind};
use crate::tui::look::Look;
use mistake::Source;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The largest file of instructions that is read: it goes into every request.
const INSTRUCTIONS_LIMIT: u64 = 64 * 1024;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nothing was said.
    BuiltIn,
    /// A file, and the line in it.
    File(PathBuf, usize),
    /// An environment variable.
    Environment(String),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
            Self::Flag(name) => f.write_str(name),
        }
    }
}

/// What was configured, and where each value comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Configured {
    /// The settings.
    pub settings: Settings,
    /// The origins by the value's dotted name; what is missing is built in.
    pub origins: BTreeMap<String, Origin>,
    /// How the screen looks and behaves.
    pub look: Look,
    /// What works but deserves a look.
    pub warnings: Vec<String>,
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file says something that can't be used.
    #[error("{} mistakes", .0.len())]
    Mistakes(Vec<Mistake>),
    /// A variable or a flag says something that can't be used.
    #[error("{origin}: {message}")]
    Value {
        /// Who said it.
        origin: Origin,
        /// What is wrong.
        message: String,
    },
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Unreadable { path, source } => Fault { kind: "config", ..Fault::io("read", &path, &source) },
            ConfigError::Value { origin, message } => Fault {
                exit: if matches!(origin, Origin::Flag(_)) { Exit::Usage } else { Exit::Failed },
                ..Fault::new("config", format!("{origin}: {message}"), "`cowork models` shows what is configured")
            },
            ConfigError::Mistakes(mistakes) => {
                let more = match mistakes.len().saturating_sub(1) {
                    0 => String::new(),
                    n => format!("\nand {n} more (`cowork config check` shows all)"),
                };
                match mistakes.into_iter().next() {
                    Some(first) => Fault::new("config", format!("{first}{more}"), first.allowed),
                    None => Fault::bug("a configuration failed without a mistake"),
                }
            }
        }
    }
}

impl Configured {
    /// The values nobody had to say.
    fn built_in() -> Self {
        let mut settings = Settings::default();
        for (name, kind, url, key) in [
            ("openai", ProviderKind::Openai, "https://api.openai.com/v1", "OPENAI_API_KEY"),
            ("anthropic", ProviderKind::Anthropic, "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        ] {
            let provider = Provider { key_env: Some(key.into()), ..Provider::new(kind, url) };
            settings.providers.insert(name.into(), provider);
        }
        Self { settings, origins: BTreeMap::new(), look: Look::default(), warnings: Vec::new() }
    }

    /// Where a value comes from.
    pub fn origin(&self, name: &str) -> Origin {
        self.origins.get(name).cloned().unwrap_or(Origin::BuiltIn)
    }

    fn set_origin(&mut self, name: impl Into<String>, origin: Origin) {
        self.origins.insert(name.into(), origin);
    }
}

/// Reads the user's file and the environment over the built-in values.
pub fn load(paths: &Paths, env: &dyn Environment) -> Result<Configured, ConfigError> {
    let mut configured = Configured::built_in();
    if let Some(source) = read_source(&paths.config, paths.config_named)? {
        let mistakes = user::apply(&source, &mut configured, env);
        if !mistakes.is_empty() {
            return Err(ConfigError::Mistakes(mistakes));
        }
    }
    configured.look.keymap = screen::keymap(paths)?;
    environment::apply(&mut configured, env)?;
    configured.settings.instructions = read_instructions(&paths.instructions())?;
    Ok(configured)
}

/// Reads what a trusted project says; the caller has made sure that it is trusted.
pub fn load_project(dir: &Path, user: &Configured) -> Result<Project, ConfigError> {
    let path = super::paths::project_config(dir);
    let Some(source) = read_source(&path, false)? else { return Ok(Project::default()) };
    project::read(&source, user).map_err(ConfigError::Mistakes)
}

fn read_source(path: &Path, must_exist: bool) -> Result<Option<Source>, ConfigError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(Source::new(path, text))),
        Err(error) if !must_exist && is_absent(&error) => Ok(None),
        Err(source) => Err(ConfigError::Unreadable { path: path.to_owned(), source }),
    }
}

fn read_instructions(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(found) if found.len() > INSTRUCTIONS_LIMIT => {
            let words = format!("it is larger than {} KiB, and it goes into every request", INSTRUCTIONS_LIMIT / 1024);
            Err(unreadable(std::io::Error::other(words)))
        }
        Ok(_) => std::fs::read_to_string(path).map_err(unreadable),
        Err(error) if is_absent(&error) => Ok(String::new()),
        Err(error) => Err(unreadable(error)),
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests;
