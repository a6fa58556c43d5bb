//! A home of its own for each test: state, work folder and configuration in a temporary place,
//! the real program with a clean environment, and nothing left running when it ends.

use super::model_server::ModelServer;
use super::process::{self, Finished, Process, Running};
use super::terminal::Terminal;
use super::watch::{LOOK_AGAIN, PATIENCE};
use portable_pty::CommandBuilder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The program under test.
pub const COWORK: &str = env!("CARGO_BIN_EXE_cowork");

/// Everything one test's program has to itself.
pub struct Home {
    root: TempDir,
    environment: BTreeMap<String, OsString>,
    survivors: Survivors,
}

/// Whether processes may outlive the host in this test.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Survivors {
    AreAFault,
    AreExpected,
}

impl Home {
    /// A home without any configuration: the guide answers.
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("cw-").tempdir().expect("a temporary folder");
        let user = root.path().join("user");
        for folder in [&user, &root.path().join("work")] {
            std::fs::create_dir(folder).expect("a folder of the home");
        }
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let environment = BTreeMap::from([
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), user.into_os_string()),
            ("COWORK_HOME".to_owned(), root.path().join("state").into_os_string()),
            ("LANG".to_owned(), "C.UTF-8".into()),
            ("TERM".to_owned(), "xterm-256color".into()),
        ]);
        Self { root, environment, survivors: Survivors::AreAFault }
    }

    /// A home whose model is the scripted one.
    pub fn with_model(server: &ModelServer) -> Self {
        Self::new().env("COWORK_MODEL", "openai:test").env("OPENAI_BASE_URL", &server.url())
    }

    /// Adds a variable to the environment of every program started from here.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// The environment of every program started from here.
    pub fn environment(&self) -> impl Iterator<Item = (&str, &OsString)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Says that processes may be left behind in this test; they are killed without a word.
    pub fn expect_survivors(&mut self) {
        self.survivors = Survivors::AreExpected;
    }

    /// The folder everything of this home is in.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("state")
    }

    /// The folder the program is started in, links resolved.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work").canonicalize().expect("the work folder")
    }

    /// Writes a file of the work folder.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder of the work");
        }
        std::fs::write(&path, content).expect("a file of the work");
        path
    }

    /// Reads a file of the work folder.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Whether the work folder holds that file.
    pub fn has(&self, name: &str) -> bool {
        self.work().join(name).exists()
    }

    /// Writes the user's configuration.
    pub fn configure(&self, toml: &str) -> &Self {
        let folder = self.root.path().join("user/.config/cowork");
        std::fs::create_dir_all(&folder).expect("the folder of the configuration");
        std::fs::write(folder.join("config.toml"), toml).expect("the configuration");
        self
    }

    /// The program with these arguments, in the work folder, with a clean environment.
    pub fn command<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(COWORK);
        command.current_dir(self.work()).env_clear().envs(&self.environment);
        for argument in arguments {
            command.arg(argument.as_ref());
        }
        command
    }

    /// Runs the program to its end.
    pub fn run<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Finished {
        process::run(self.command(arguments), "")
    }

    /// Runs the program, which must succeed, and gives its output.
    #[track_caller]
    pub fn ok<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        self.run(arguments).expect_code(0).stdout
    }

    /// Runs the program with `--json`, which must succeed, and gives the lines it printed.
    #[track_caller]
    pub fn json<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<Value> {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        json_lines(&self.ok(std::iter::once("--json".to_owned()).chain(arguments)))
    }

    /// Starts the program and leaves it running.
    pub fn start<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Running {
        Running::start(self.command(arguments), "")
    }

    /// Runs `cowork exec --json` with these arguments to its end.
    pub fn exec<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Exec {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        let finished = self.run(["exec", "--json"].map(str::to_owned).into_iter().chain(arguments));
        Exec::new(finished)
    }

    /// Opens the program in a terminal of so many columns and rows.
    pub fn terminal<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>, columns: u16, rows: u16) -> Terminal {
        let mut command = CommandBuilder::new(COWORK);
        for argument in arguments {
            command.arg(argument.as_ref());
        }
        self.open(command, columns, rows)
    }

    /// Opens a shell that runs a script in a terminal of so many columns and rows.
    pub fn shell(&self, script: &str, columns: u16, rows: u16) -> Terminal {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        self.open(command, columns, rows)
    }

    /// The screen in a terminal that says what its background is, such as `rgb:ffff/ffff/ffff`.
    pub fn terminal_on(&self, background: &'static str, columns: u16, rows: u16) -> Terminal {
        Terminal::open_on(Some(background), self.dressed(CommandBuilder::new(COWORK)), columns, rows)
    }

    fn open(&self, command: CommandBuilder, columns: u16, rows: u16) -> Terminal {
        Terminal::open(self.dressed(command), columns, rows)
    }

    /// The command in the environment and the folder of this home.
    fn dressed(&self, mut command: CommandBuilder) -> CommandBuilder {
        command.env_clear();
        for (name, value) in &self.environment {
            command.env(name, value);
        }
        command.cwd(self.work());
        command
    }

    /// Every recorded event of a Task.
    #[track_caller]
    pub fn events(&self, task: &str) -> Vec<Value> {
        self.json(["events", task])
    }

    /// Fails unless `doctor` finds every invariant held.
    #[track_caller]
    pub fn assert_sound(&self) {
        let finished = self.run(["doctor"]);
        assert_eq!(finished.status.code(), Some(0), "doctor found faults:\n{}\n{}", finished.stdout, finished.stderr);
    }

    /// The live processes of this home.
    pub fn processes(&self) -> Vec<Process> {
        process::processes_of(self.root())
    }

    /// The host, if one runs.
    pub fn host(&self) -> Option<Process> {
        self.processes().into_iter().find(Process::is_host)
    }

    /// Kills the host with -9 and waits until it is gone.
    #[track_caller]
    pub fn kill_host(&self) {
        process::kill_and_wait(self.host().expect("a host runs").pid);
    }

    /// Kills everything of this home with -9.
    pub fn kill_everything(&self) {
        for process in self.processes() {
            process::kill_and_wait(process.pid);
        }
    }

    /// Whether these bytes are anywhere in this home: files, names of files.
    pub fn find_bytes(&self, needle: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                if path.as_os_str().as_encoded_bytes().windows(needle.len()).any(|window| window == needle.as_bytes()) {
                    found.push(path.clone());
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(path),
                    Ok(kind) if kind.is_file() => {
                        let bytes = std::fs::read(&path).unwrap_or_default();
                        if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
                            found.push(path);
                        }
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(host) = self.host() {
            process::send(host.pid, rustix::process::Signal::TERM);
            if std::thread::panicking() {
                process::send(host.pid, rustix::process::Signal::KILL);
            }
            process::wait_gone(host.pid);
        }
        // A screen whose terminal is gone has a moment to end by itself.
        let deadline = std::time::Instant::now() + PATIENCE;
        let mut left = self.processes();
        while !left.is_empty() && !std::thread::panicking() && std::time::Instant::now() < deadline {
            if self.survivors != Survivors::AreAFault {
                break;
            }
            std::thread::park_timeout(LOOK_AGAIN);
            left = self.processes();
        }
        for process in &left {
            process::send(process.pid, rustix::process::Signal::KILL);
        }
        if self.survivors == Survivors::AreAFault && !std::thread::panicking() {
            assert!(left.is_empty(), "the test left processes behind: {left:#?}");
        }
    }
}

/// Reads JSON lines; anything else among them is a fault.
#[track_caller]
pub fn json_lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("no JSON ({error}): {line}\nin\n{text}")))
        .collect()
}

/// What `cowork exec --json` did.
#[derive(Debug)]
pub struct Exec {
    /// Its exit code.
    pub code: i32,
    /// Its lines, the result included.
    pub lines: Vec<Value>,
    /// What it said to people.
    pub stderr: String,
}

impl Exec {
    /// Reads a finished `exec --json`.
    pub fn new(finished: Finished) -> Self {
        Self { code: finished.code(), lines: json_lines(&finished.stdout), stderr: finished.stderr }
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "ended otherwise: {}\n{:#?}", self.stderr, self.lines);
        self
    }

    /// The lines of one kind.
    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.lines.iter().filter(|line| line["kind"] == kind).collect()
    }

    /// The last line, which is the result.
    #[track_caller]
    pub fn result(&self) -> &Value {
        self.lines.last().filter(|line| line["kind"] == "result").unwrap_or_else(|| panic!("no result: {self:#?}"))
    }

    /// The words of the result.
    #[track_caller]
    pub fn text(&self) -> &str {
        self.result()["text"].as_str().unwrap_or_default()
    }

    /// The Task it was about.
    #[track_caller]
    pub fn task(&self) -> &str {
        self.result()["task"].as_str().unwrap_or_else(|| panic!("no Task: {self:#?}"))
    }

    /// The text of each tool's result, in order.
    pub fn tool_texts(&self) -> Vec<&str> {
        self.of("tool_result").into_iter().filter_map(|line| line["text"].as_str()).collect()
    }
}
