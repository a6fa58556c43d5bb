//! The description of a process to start.

use super::environment::{self, Values};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Variables that say where tool chains, proxies and certificates are: without them a project that
/// builds in the user's shell would not build here.
pub const TOOL_CHAINS: [&str; 29] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "NIX_PATH",
    "PKG_CONFIG_PATH",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// What is to be started, where, and with what in its environment.
#[derive(Debug, Clone)]
pub struct Spec {
    pub(super) program: PathBuf,
    pub(super) args: Vec<OsString>,
    pub(super) cwd: PathBuf,
    pass: Vec<String>,
    set: Vec<(String, OsString)>,
    values: Values,
}

/// Why a process could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The folder it was to run in can't be used.
    #[error("{cwd} can't be used as the folder to run in: {source}", cwd = .cwd.display())]
    Folder {
        /// The folder.
        cwd: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be started.
    #[error("{program} could not be started: {source}", program = .program.display())]
    Program {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused what starting needs.
    #[error("no process could be prepared: {0}")]
    System(#[from] io::Error),
}

impl Spec {
    /// Describes a program; a bare name is looked for in `PATH`.
    pub fn program(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            pass: Vec::new(),
            set: Vec::new(),
            values: Values::Any,
        }
    }

    /// Describes a line for the shell: bash where there is one, else `sh`.
    pub fn shell(line: &str, cwd: impl Into<PathBuf>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_else(|| environment::DEFAULT_PATH.into());
        Self::program(find("bash", &path).unwrap_or_else(|| "/bin/sh".into()), cwd).arg("-c").arg(line)
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Lets variables of our own environment through, as far as they do not look like a key.
    pub fn pass<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.pass.extend(names.into_iter().map(str::to_owned));
        self
    }

    /// Sets a variable, as far as it does not look like a key.
    pub fn set(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.set.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Says that our own environment, and what is set, were sifted by whoever started us.
    pub fn sifted(self) -> Self {
        Self { values: Values::Sifted, ..self }
    }

    /// The environment the process will have.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        environment::build(std::env::vars_os(), &self.pass, &self.set, self.values)
    }
}

/// Finds an executable in the folders of `path`; relative folders do not count, they would mean
/// another program in every folder.
pub(super) fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_only_in_absolute_folders_and_only_when_it_can_run() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("tool"), "x").expect("written");
        let path = OsString::from(format!(".::{}:/bin", dir.path().display()));
        assert_eq!(find("tool", &path), None);
        assert_eq!(find("sh", &path), Some("/bin/sh".into()));
        assert_eq!(find("sh", OsStr::new(".:bin")), None);
    }
}
