//! Where things are: the state's home, the configuration, and the folder the user works in.
//!
//! Nothing here reads or makes a file; `host::home` makes the state folder, for its owner only.

use super::fault::Fault;
use std::path::{Path, PathBuf};

/// The environment, as far as the program looks at it: passed in, so that tests need not touch it.
pub trait Environment {
    /// The value of a variable that is set, is text and is not empty.
    fn get(&self, name: &str) -> Option<String>;
}

/// The environment of this process.
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }
}

/// The places of one invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The directory of all state.
    pub home: PathBuf,
    /// The user's configuration file; it need not exist.
    pub config: PathBuf,
    /// Whether the user named that file, so that it must exist.
    pub config_named: bool,
}

impl Paths {
    /// Finds the places from the flags, then the environment, then the defaults.
    pub fn find(home: Option<&Path>, config: Option<&Path>, env: &dyn Environment) -> Result<Self, Fault> {
        let user_home = || {
            env.get("HOME")
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .ok_or_else(|| Fault::new("paths", "HOME is not set", "set HOME, or give --home DIR and --config FILE"))
        };
        let base = |variable: &str, fallback: &str| match env.get(variable).map(PathBuf::from) {
            Some(path) if path.is_absolute() => Ok(path),
            Some(_) | None => user_home().map(|home| home.join(fallback)),
        };
        let home = match home.map(Path::to_owned).or_else(|| env.get("COWORK_HOME").map(PathBuf::from)) {
            Some(path) => absolute(&path)?,
            None => base("XDG_STATE_HOME", ".local/state")?.join("cowork"),
        };
        let named = config.map(Path::to_owned).or_else(|| env.get("COWORK_CONFIG").map(PathBuf::from));
        let config_named = named.is_some();
        let config = match named {
            Some(path) => absolute(&path)?,
            None => base("XDG_CONFIG_HOME", ".config")?.join("cowork").join("config.toml"),
        };
        Ok(Self { home, config, config_named })
    }

    /// The user's own keys, beside the configuration.
    pub fn keys(&self) -> PathBuf {
        self.config.with_file_name("keys.toml")
    }

    /// The user's own instructions, beside the configuration.
    pub fn instructions(&self) -> PathBuf {
        self.config.with_file_name("AGENTS.md")
    }
}

/// A project's own configuration.
pub fn project_config(project: &Path) -> PathBuf {
    project.join(".cowork").join("config.toml")
}

/// The folder the user works in, every link resolved.
pub fn project_dir(given: Option<&Path>) -> Result<PathBuf, Fault> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => std::env::current_dir()
            .map_err(|error| Fault::new("io", format!("the current directory is gone: {error}"), "use -C DIR"))?,
    };
    let real = path.canonicalize().map_err(|error| Fault::io("open", &path, &error))?;
    if !real.is_dir() {
        return Err(Fault::usage(format!("{} is not a directory", path.display()), "-C takes the project's directory"));
    }
    Ok(real)
}

fn absolute(path: &Path) -> Result<PathBuf, Fault> {
    std::path::absolute(path).map_err(|error| Fault::io("find", path, &error))
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// An environment made of pairs.
    pub struct Pairs(pub BTreeMap<String, String>);

    /// Builds an environment.
    pub fn env(pairs: &[(&str, &str)]) -> Pairs {
        Pairs(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    impl Environment for Pairs {
        fn get(&self, name: &str) -> Option<String> {
            self.0.get(name).filter(|value| !value.is_empty()).cloned()
        }
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_defaults() {
        let plain = env(&[("HOME", "/u")]);
        let found = Paths::find(None, None, &plain).expect("found");
        assert_eq!(found.home, Path::new("/u/.local/state/cowork"));
        assert_eq!(found.config, Path::new("/u/.config/cowork/config.toml"));
        assert!(!found.config_named);

        let xdg = env(&[("HOME", "/u"), ("XDG_STATE_HOME", "/s"), ("XDG_CONFIG_HOME", "relative")]);
        let found = Paths::find(None, None, &xdg).expect("found");
        assert_eq!(found.home, Path::new("/s/cowork"));
        assert_eq!(found.config, Path::new("/u/.config/cowork/config.toml"), "a relative XDG path is to be ignored");

        let own = env(&[("COWORK_HOME", "/h"), ("COWORK_CONFIG", "/c.toml"), ("XDG_STATE_HOME", "/s")]);
        let found = Paths::find(None, None, &own).expect("found");
        assert_eq!((found.home.as_path(), found.config.as_path()), (Path::new("/h"), Path::new("/c.toml")));
        assert!(found.config_named);

        let found = Paths::find(Some(Path::new("/f")), Some(Path::new("/f.toml")), &own).expect("found");
        assert_eq!((found.home.as_path(), found.config.as_path()), (Path::new("/f"), Path::new("/f.toml")));
        assert_eq!(found.instructions(), Path::new("/AGENTS.md"));
    }

    #[test]
    fn without_a_home_the_message_says_what_to_give() {
        let fault = Paths::find(None, None, &env(&[])).expect_err("nothing to go by");
        assert!(fault.hint.contains("--home"));
        assert!(Paths::find(Some(Path::new("/h")), Some(Path::new("/c")), &env(&[])).is_ok());
    }
}
