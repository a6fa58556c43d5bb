//! A place for Jobs, and what tests look at them with.

use coworkos::jobs::client::{ClientError, Controller};
use coworkos::jobs::log::{Cursor, Log, Piece, Stream};
use coworkos::jobs::orphan::Orphan;
use coworkos::jobs::{
    Command, ExitRecord, Folder, Input, Lasting, Outcome, Spec, StartRecord, Streams, reconcile, start,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a slow machine.
pub const LONG: Duration = Duration::from_secs(60);

/// The program, which is also the shim.
pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cowork"))
}

/// A folder with Jobs in it; what still runs of them at the end is ended.
pub struct World {
    scratch: tempfile::TempDir,
    next: AtomicUsize,
}

impl World {
    pub fn new() -> Self {
        Self { scratch: tempfile::tempdir().expect("a folder"), next: AtomicUsize::new(0) }
    }

    pub fn path(&self) -> &Path {
        self.scratch.path()
    }

    /// A Job that is not there yet.
    pub fn folder(&self) -> Folder {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Folder::new(self.path().join("jobs").join(format!("j_{number:04}")))
    }

    /// A line for the shell, as a Job with a terminal.
    pub fn shell(&self, line: &str) -> Spec {
        Spec::new(Command::Shell { line: line.into() }, self.path())
    }

    /// The same without a terminal.
    pub fn piped(&self, line: &str, input: Input) -> Spec {
        Spec { streams: Streams::Separate { input }, ..self.shell(line) }
    }

    /// The same as a tool call runs it.
    pub fn called(&self, line: &str) -> Spec {
        let streams = Streams::Together { input: Input::Nothing };
        Spec { streams, lasting: Lasting::Processes, ..self.shell(line) }
    }

    /// Starts a Job.
    pub fn start(&self, spec: &Spec) -> Job {
        let folder = self.folder();
        let outcome = start(&folder, spec, program()).expect("started");
        Job { folder, first: outcome }
    }

    /// Starts a line for the shell as a Job with a terminal.
    pub fn run(&self, line: &str) -> Job {
        self.start(&self.shell(line))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for number in 0..self.next.load(Ordering::Relaxed) {
            let folder = Folder::new(self.path().join("jobs").join(format!("j_{number:04}")));
            match reconcile(&folder) {
                Ok(Outcome::Running(_) | Outcome::Starting) => {
                    if let Ok(mut controller) = Controller::connect(&folder, None) {
                        let _ = controller.stop(Duration::ZERO);
                        let _ = controller.wait(Some(Instant::now() + Duration::from_secs(5)));
                    }
                }
                Ok(Outcome::Orphaned(record)) => {
                    if let Some(orphan) = Orphan::hold(&record) {
                        orphan.stop(Duration::ZERO);
                    }
                }
                Ok(Outcome::Ended(_) | Outcome::Uncertain { .. }) | Err(_) => {}
            }
        }
    }
}

/// A Job that was started.
pub struct Job {
    pub folder: Folder,
    /// What was true of it when it was started.
    pub first: Outcome,
}

impl Job {
    pub fn outcome(&self) -> Outcome {
        reconcile(&self.folder).expect("looked")
    }

    pub fn record(&self) -> StartRecord {
        self.folder.started().expect("read").expect("it was started")
    }

    pub fn control(&self) -> Controller {
        Controller::connect(&self.folder, None).expect("its shim is there")
    }

    /// Waits for the recorded end.
    pub fn end(&self) -> ExitRecord {
        match Controller::connect(&self.folder, None) {
            Ok(mut controller) => match controller.wait(Some(Instant::now() + LONG)) {
                Ok(Some(record)) => return record,
                Ok(None) => panic!("it does not end: {:?}", self.status()),
                Err(ClientError::Lost(_)) => {}
                Err(other) => panic!("{other}"),
            },
            Err(ClientError::Ended(record)) => return *record,
            Err(ClientError::NoShim | ClientError::Lost(_)) => {}
            Err(other) => panic!("{other}"),
        }
        match self.outcome() {
            Outcome::Ended(record) => record,
            other => panic!("{other:?}"),
        }
    }

    fn status(&self) -> Option<coworkos::jobs::protocol::Status> {
        Controller::connect(&self.folder, None).ok()?.status().ok()
    }

    /// Waits until what it printed holds a text; gives all that it printed.
    pub fn says(&self, text: &str) -> String {
        let mut watch = Follow::new(self, Stream::Output);
        watch.until(|printed| printed.contains(text), &format!("{text:?}"))
    }

    /// All that it printed, byte by byte.
    pub fn printed(&self, stream: Stream) -> Vec<u8> {
        let log = Log::open(self.folder.path(), stream).expect("opened");
        let mut bytes = vec![0; (log.end() - log.start()) as usize];
        let read = log.read_all(log.start(), &mut bytes).expect("read");
        bytes.truncate(read);
        bytes
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.printed(Stream::Output)).into_owned()
    }

    /// Ends the shim as the system would, and waits until it is gone.
    pub fn kill_shim(&self) {
        kill_and_wait(self.record().shim.pid);
    }
}

/// Follows what a Job prints.
pub struct Follow {
    cursor: Cursor,
    told: std::sync::mpsc::Receiver<()>,
    _watcher: coworkos::jobs::log::Watcher,
    printed: String,
}

impl Follow {
    pub fn new(job: &Job, stream: Stream) -> Self {
        let (tell, told) = std::sync::mpsc::channel();
        let mut watcher =
            coworkos::jobs::log::Watcher::new(move |_| tell.send(()).unwrap_or_default()).expect("watches");
        watcher.watch(job.folder.path()).expect("watched");
        let cursor = Cursor::new(Log::open(job.folder.path(), stream).expect("opened"), 0);
        Self { cursor, told, _watcher: watcher, printed: String::new() }
    }

    pub fn until(&mut self, is_it: impl Fn(&str) -> bool, what: &str) -> String {
        let mut buffer = Vec::new();
        let deadline = Instant::now() + LONG;
        loop {
            while let Some(piece) = self.cursor.next(&mut buffer).expect("read") {
                match piece {
                    Piece::Bytes { .. } => self.printed.push_str(&String::from_utf8_lossy(&buffer)),
                    Piece::Gap(gap) => self.printed.push_str(&format!("[{gap}]")),
                }
            }
            if is_it(&self.printed) {
                return self.printed.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(self.told.recv_timeout(left).is_ok(), "waited for {what}, got {:?}", self.printed);
        }
    }
}

/// Waits until something is true; for what nobody tells.
pub fn eventually(what: &str, mut is_true: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !is_true() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}

pub fn is_running(pid: i32) -> bool {
    rustix::process::Pid::from_raw(pid)
        .and_then(|pid| coworkos::process::Identity::of(pid).ok())
        .is_some_and(|identity| identity.is_running())
}

pub fn kill(pid: i32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid).expect("a number");
    let _ = rustix::process::kill_process(pid, signal);
}

pub fn kill_and_wait(pid: i32) {
    kill(pid, rustix::process::Signal::KILL);
    eventually("a killed process is gone", || !is_running(pid));
}

/// A number out of a file of `/proc`, in kB.
pub fn memory(pid: i32, file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next()?.parse().ok()).unwrap_or(0)
}

/// Finds a program, or says aloud that a test is left out.
pub fn has(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !found {
        eprintln!("LEFT OUT: {name} is not installed");
    }
    found
}

pub fn write(path: PathBuf, bytes: &[u8]) -> PathBuf {
    std::fs::write(&path, bytes).expect("written");
    path
}
