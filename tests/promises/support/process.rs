//! Starting the real program and watching it from outside: output as it comes, how it ended, and
//! which processes of a home are alive.

use super::watch::{PATIENCE, Watch, eventually};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

/// A program that ended.
#[derive(Debug)]
pub struct Finished {
    /// How.
    pub status: ExitStatus,
    /// What it wrote.
    pub stdout: String,
    /// What it wrote for people.
    pub stderr: String,
}

impl Finished {
    /// Its exit code; a signal is no code.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("ended by a signal: {self:?}"))
    }

    /// Fails unless it ended with this code.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Self {
        assert_eq!(
            self.status.code(),
            Some(code),
            "ended otherwise: {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// A program that runs, or has ended; dropping it kills it.
pub struct Running {
    pid: u32,
    shared: Arc<Watch<Watched>>,
}

#[derive(Default)]
struct Watched {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    open_pipes: u32,
    status: Option<ExitStatus>,
}

impl Running {
    /// Starts it with `input` as its standard input.
    pub fn start(mut command: Command, input: &str) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let pid = child.id();
        let shared = Arc::new(Watch::new(Watched { open_pipes: 2, ..Watched::default() }));
        let mut stdin = child.stdin.take().expect("its input");
        let input = input.to_owned();
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
        collect(&shared, child.stdout.take().expect("its output"), |watched| &mut watched.stdout);
        collect(&shared, child.stderr.take().expect("its errors"), |watched| &mut watched.stderr);
        watch_end(&shared, child);
        Self { pid, shared }
    }

    #[track_caller]
    fn wait(&self, what: &str, is_so: impl Fn(&Watched) -> bool) {
        // What a program that has ended did not write, it never will.
        let is_over = |watched: &Watched| watched.status.is_some() && watched.open_pipes == 0;
        let watched = match self.shared.wait(PATIENCE, |watched| is_so(watched) || is_over(watched)) {
            Ok(watched) | Err(watched) => watched,
        };
        if !is_so(&watched) {
            let (stdout, stderr) = (text(&watched.stdout), text(&watched.stderr));
            panic!("not within {PATIENCE:?}: {what}\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
        }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.shared.look().status.is_some()
    }

    /// Waits until its output holds `text`.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait(&format!("it writes {text:?}"), |watched| find(&watched.stdout, text.as_bytes()));
    }

    /// Waits until its error output holds `text`.
    #[track_caller]
    pub fn wait_for_error(&self, text: &str) {
        self.wait(&format!("it says {text:?}"), |watched| find(&watched.stderr, text.as_bytes()));
    }

    /// What it has written so far.
    pub fn stdout(&self) -> String {
        text(&self.shared.look().stdout)
    }

    /// What it has said to people so far.
    pub fn stderr(&self) -> String {
        text(&self.shared.look().stderr)
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        if self.shared.look().status.is_none() {
            send(self.pid, signal);
        }
    }

    /// Kills it with -9.
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Waits for its end, and for the end of its output: nobody may keep the pipes open.
    #[track_caller]
    pub fn finish(self) -> Finished {
        self.wait("it ends", |watched| watched.status.is_some());
        self.wait("its pipes are closed (does a child of it hold them?)", |watched| watched.open_pipes == 0);
        let watched = self.shared.look();
        let status = watched.status.expect("just seen");
        Finished { status, stdout: text(&watched.stdout), stderr: text(&watched.stderr) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs a program to its end.
pub fn run(command: Command, input: &str) -> Finished {
    Running::start(command, input).finish()
}

fn collect(
    shared: &Arc<Watch<Watched>>,
    mut pipe: impl Read + Send + 'static,
    into: impl Fn(&mut Watched) -> &mut Vec<u8> + Send + 'static,
) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = pipe.read(&mut buffer).unwrap_or(0);
            shared.change(|watched| {
                into(watched).extend_from_slice(&buffer[..read]);
                if read == 0 {
                    watched.open_pipes -= 1;
                }
            });
            if read == 0 {
                return;
            }
        }
    });
}

fn watch_end(shared: &Arc<Watch<Watched>>, mut child: Child) {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let status = child.wait().expect("a child can be waited for");
        shared.change(|watched| watched.status = Some(status));
    });
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn find(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len()).any(|window| window == needle)
}

/// A process found in `/proc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its arguments, the program first.
    pub arguments: Vec<String>,
}

impl Process {
    /// Whether it is the host.
    pub fn is_host(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "host")
            && self.arguments.iter().any(|argument| argument == "run")
    }
}

/// Every live process that belongs to `root`: by its environment, arguments or working directory.
pub fn processes_of(root: &Path) -> Vec<Process> {
    let needle = root.as_os_str().as_encoded_bytes();
    let entries = std::fs::read_dir("/proc").expect("/proc is there");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != std::process::id())
        .filter_map(|pid| {
            let proc = Path::new("/proc").join(pid.to_string());
            let arguments = std::fs::read(proc.join("cmdline")).ok()?;
            let environment = std::fs::read(proc.join("environ")).unwrap_or_default();
            let cwd = std::fs::read_link(proc.join("cwd")).unwrap_or_default();
            if arguments.is_empty() {
                // A zombie, or a thread of the kernel.
                return None;
            }
            let is_ours = find(&arguments, needle) || find(&environment, needle) || cwd.starts_with(root);
            let arguments = arguments.split(|byte| *byte == 0).filter(|part| !part.is_empty()).map(text).collect();
            is_ours.then_some(Process { pid, arguments })
        })
        .collect()
}

/// Sends a signal to a process, if it is still there.
pub fn send(pid: u32, signal: rustix::process::Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Kills a process that is not a child of ours with -9 and waits until it is gone.
pub fn kill_and_wait(pid: u32) {
    send(pid, rustix::process::Signal::KILL);
    wait_gone(pid);
}

/// Waits until a process is gone, or only waits to be reaped.
pub fn wait_gone(pid: u32) {
    eventually(&format!("process {pid} is gone"), || {
        !std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|arguments| !arguments.is_empty())
    });
}
