//! A process that was started: waiting for it, and ending it with everything it left behind.

use super::identity::Identity;
use super::session::{self, Held, Member};
use super::spec::{Spec, StartError};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

/// The variable that tells a process and what it started from all others.
const MARK: &str = "COWORK_PROCESS";

/// How long a process that got KILL is waited for; longer means the kernel holds it.
const KILL_PATIENCE: Duration = Duration::from_millis(200);

/// How often a session is looked through for processes that were forked while it was being killed.
const ROUNDS: usize = 5;

/// The signals one meets, where they have the same number everywhere.
const NAMES: [(i32, &str); 9] = [
    (1, "HUP"),
    (2, "INT"),
    (3, "QUIT"),
    (6, "ABRT"),
    (8, "FPE"),
    (9, "KILL"),
    (11, "SEGV"),
    (13, "PIPE"),
    (15, "TERM"),
];

/// How a leader ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with a code.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
    /// The system did not tell: somebody else reaped it.
    Unknown,
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited {code}"),
            Self::Signal(number) => match NAMES.iter().find(|(known, _)| known == number) {
                Some((_, name)) => write!(f, "signaled {number} ({name})"),
                None => write!(f, "signaled {number}"),
            },
            Self::Unknown => f.write_str("exited, with a code that is not known"),
        }
    }
}

/// What became of a process and of what it had started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How its leader ended.
    pub exit: Exit,
    /// Members of its session that outlived the leader and were ended.
    pub killed: Vec<Member>,
    /// Members of its session that are still there: not ours to signal, or held by the kernel.
    pub survivors: Vec<Member>,
    /// Processes that left its session and were left alone.
    pub strays: Vec<Member>,
}

/// A running process. Dropping it kills its session.
pub struct Started {
    /// Which process it is.
    pub identity: Identity,
    leader: Pid,
    mark: String,
    child: Option<Child>,
    exited: oneshot::Receiver<()>,
    has_exited: bool,
}

impl Started {
    /// Starts a process in a session of its own, and gives what it and its children print: standard
    /// output and error, in the order they come. Needs a running tokio.
    pub fn start(spec: &Spec) -> Result<(Self, pipe::Receiver), StartError> {
        // Asked for first: the system's own error for a missing folder names the program.
        std::fs::metadata(&spec.cwd)
            .and_then(|found| if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) })
            .map_err(|source| StartError::Folder { cwd: spec.cwd.clone(), source })?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let mark = crate::domain::permission::hex(&random);
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(&spec.program);
        command
            .args(&spec.args)
            .current_dir(&spec.cwd)
            .env_clear()
            .envs(spec.environment())
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        // Confinement by the kernel (Landlock, seccomp) belongs here and nowhere else: in this hook,
        // after `setsid` and before the program is loaded, decided from `spec` before the fork.
        // SAFETY: between fork and exec only calls that are safe in a signal handler are allowed;
        // setsid is one, it allocates nothing and takes no lock.
        unsafe {
            command.pre_exec(|| Ok(rustix::process::setsid().map(|_| ())?));
        }
        seal_descriptors();
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(reader))?;
        let child = command.spawn().map_err(|source| StartError::Program { program: spec.program.clone(), source })?;
        // The command keeps the write end of the pipe; with it the end of the output would never come.
        drop(command);
        let leader = Pid::from_child(&child);
        let mut started = Self {
            // Read while it can't have been reaped: even if it has exited, its number is still its own.
            identity: Identity::of(leader).unwrap_or_else(|_| unknown(leader)),
            leader,
            mark: format!("{MARK}={mark}"),
            child: Some(child),
            exited: oneshot::channel().1,
            has_exited: false,
        };
        started.exited = watch(leader)?;
        Ok((started, output))
    }

    /// Waits until the leader has exited. It is not reaped yet, so its number stays its own.
    pub async fn exited(&mut self) {
        if !self.has_exited {
            let _ = (&mut self.exited).await;
            self.has_exited = true;
        }
    }

    /// Gives whatever the leader left behind a moment to end by itself.
    pub async fn settle(&mut self, patience: Duration) {
        let held = session::hold(&session::members(self.leader));
        self.wait_until_gone(held, patience).await;
    }

    /// Ends the whole session, TERM first and KILL after `grace`, and says what became of it.
    ///
    /// A leader that has already exited keeps its own exit code.
    pub async fn end(&mut self, grace: Duration) -> Ended {
        let mut known = session::members(self.leader);
        if !known.is_empty() || !self.has_exited {
            let held = session::hold(&known);
            self.signal(&held, Signal::TERM);
            // A stopped process acts on TERM only when it is let go on.
            self.signal(&held, Signal::CONT);
            self.wait_until_gone(held, grace).await;
        }
        // Whoever forks while it is being killed shows up in the next round; the rounds are bounded
        // by what a process that forks as fast as it can may cost us.
        for _ in 0..ROUNDS {
            let members = session::members(self.leader);
            if members.is_empty() && self.has_exited {
                break;
            }
            let held = session::hold(&members);
            self.signal(&held, Signal::KILL);
            self.wait_until_gone(held, KILL_PATIENCE).await;
            known.extend(members.into_iter().filter(|member| !is_among(member, &known)).collect::<Vec<_>>());
            let left = session::members(self.leader);
            if !left.is_empty() && left.iter().all(|member| is_among(member, &known)) {
                break;
            }
        }
        let survivors = session::members(self.leader);
        let mut killed = known;
        killed.retain(|member| member.pid != self.leader.as_raw_pid() && !is_among(member, &survivors));
        let strays = session::strays(self.leader, self.identity.start_time, &self.mark);
        Ended { exit: self.reap(), killed, survivors, strays }
    }

    /// Signals the group and those members of the session that left it.
    fn signal(&self, held: &[Held], signal: Signal) {
        // The leader is not reaped, so this number can't have become another group's.
        let _ = rustix::process::kill_process_group(self.leader, signal);
        for held in held {
            held.signal(signal);
        }
    }

    async fn wait_until_gone(&mut self, held: Vec<Held>, patience: Duration) {
        let others = tokio::task::spawn_blocking(move || session::wait_until_gone(held, patience));
        let _ = tokio::time::timeout(patience, self.exited()).await;
        let _ = others.await;
    }

    /// Takes the leader's exit, where it has exited.
    fn reap(&mut self) -> Exit {
        let Some(mut child) = self.child.take() else { return Exit::Unknown };
        match child.try_wait() {
            Ok(Some(status)) => match (status.code(), status.signal()) {
                (Some(code), _) => Exit::Code(code),
                (None, Some(signal)) => Exit::Signal(signal),
                (None, None) => Exit::Unknown,
            },
            Ok(None) => {
                reap_later(child);
                Exit::Unknown
            }
            Err(_) => Exit::Unknown,
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            self.signal(&session::hold(&session::members(self.leader)), Signal::KILL);
            reap_later(child);
        }
    }
}

/// A member is the same process when number and start agree; its command line may change.
fn is_among(member: &Member, members: &[Member]) -> bool {
    members.iter().any(|other| other.pid == member.pid && other.start_time == member.start_time)
}

fn unknown(pid: Pid) -> Identity {
    Identity { pid: pid.as_raw_pid(), start_time: 0, boot_id: String::new() }
}

/// Reaps a process that will exit soon, without waiting for it here.
fn reap_later(mut child: Child) {
    let _ = std::thread::Builder::new().name("reap".into()).spawn(move || child.wait());
}

/// Tells when a process has exited and leaves it to be reaped by its owner.
///
/// A thread of its own rather than one of tokio's: those are waited for when a runtime ends.
fn watch(pid: Pid) -> io::Result<oneshot::Receiver<()>> {
    let (tell, told) = oneshot::channel();
    std::thread::Builder::new().name("wait".into()).spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), options) {}
        let _ = tell.send(());
    })?;
    Ok(told)
}

/// Marks every open descriptor of ours as not to be inherited.
///
/// Ours are opened that way; this is for those that we were given ourselves.
pub(super) fn seal_descriptors() {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let open = std::fs::read_dir(folder).into_iter().flatten();
    for fd in open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok()).filter(|fd| *fd > 2) {
        // SAFETY: the number may have been closed or used again since it was listed. Then this
        // call fails, or marks another descriptor of ours as it is marked anyhow; nothing is read,
        // written or closed through it.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
        if let Ok(flags) = rustix::io::fcntl_getfd(fd) {
            let _ = rustix::io::fcntl_setfd(fd, flags | rustix::io::FdFlags::CLOEXEC);
        }
    }
}

#[cfg(test)]
mod tests;
