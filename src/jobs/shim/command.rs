//! Starting a Job's command: its terminal or its pipes, its environment, its mark.

use crate::jobs::MARK;
use crate::jobs::spec::{Command, Input, Size, Spec, Streams};
use crate::process::{self, Identity, StartError};
use portable_pty::{MasterPty, PtySize, native_pty_system};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::{Child, Stdio};

/// A command that runs, and the ends of its streams that are ours.
pub(super) struct Launched {
    pub(super) child: Child,
    pub(super) identity: Identity,
    /// Its session: ours where it has our terminal.
    pub(super) session: i32,
    /// What it prints: its output, and its errors where they are apart.
    pub(super) sources: Vec<OwnedFd>,
    /// What it reads, unless it reads nothing.
    pub(super) input: Option<OwnedFd>,
    pub(super) terminal: Option<Terminal>,
    pub(super) size: Size,
}

/// The terminal of a Job.
pub(super) struct Terminal {
    master: Box<dyn MasterPty + Send>,
    /// The command's side, kept open as long as the command lives: without it every moment in
    /// which nobody has the terminal open would look like its end.
    peer: OwnedFd,
}

impl Terminal {
    fn open(size: Size) -> io::Result<Self> {
        let pair = native_pty_system().openpty(pty_size(size)).map_err(|error| io::Error::other(error.to_string()))?;
        let peer = peer(&*pair.master)?;
        // It is the terminal of our session, in which the command will be in the foreground.
        rustix::process::ioctl_tiocsctty(&peer)?;
        Ok(Self { master: pair.master, peer })
    }

    /// Tells the command that its terminal has another size.
    pub(super) fn resize(&self, size: Size) {
        // The one who asked sees by the screen what came of it.
        let _ = self.master.resize(pty_size(size));
    }

    /// The process group that is in the foreground.
    pub(super) fn foreground(&self) -> Option<i32> {
        self.master.process_group_leader()
    }

    fn master(&self) -> io::Result<BorrowedFd<'_>> {
        descriptor(&*self.master)
    }
}

fn descriptor(master: &dyn MasterPty) -> io::Result<BorrowedFd<'_>> {
    let fd = master.as_raw_fd().ok_or_else(|| io::Error::other("a terminal without a descriptor"))?;
    // SAFETY: the descriptor is the master's, which lives as long as what is returned.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Opens the command's side.
#[cfg(target_os = "linux")]
fn peer(master: &dyn MasterPty) -> io::Result<OwnedFd> {
    use rustix::pty::OpenptFlags;
    // Through the master rather than by name: /dev/pts may be another one here.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    Ok(rustix::pty::ioctl_tiocgptpeer(descriptor(master)?, flags)?)
}

/// Opens the command's side.
#[cfg(not(target_os = "linux"))]
fn peer(master: &dyn MasterPty) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let name = master.tty_name().ok_or_else(|| io::Error::other("a terminal without a name"))?;
    Ok(rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?)
}

fn pty_size(size: Size) -> PtySize {
    PtySize { rows: size.rows, cols: size.cols, pixel_width: 0, pixel_height: 0 }
}

/// Starts the command.
pub(super) fn launch(spec: &Spec, mark: &str) -> Result<Launched, StartError> {
    let mut program = match &spec.command {
        Command::Program { program, args } => {
            args.iter().fold(process::Spec::program(program, &spec.cwd), |program, arg| program.arg(arg))
        }
        Command::Shell { line } => process::Spec::shell(line, &spec.cwd),
    };
    program = program.sifted().pass(spec.pass.iter().map(String::as_str));
    if matches!(spec.streams, Streams::Terminal { .. }) {
        program = program.set("TERM", "xterm-256color").set("COLORTERM", "truecolor");
    }
    program = spec.set.iter().fold(program, |program, (name, value)| program.set(name, value)).set(MARK, mark);
    match spec.streams {
        Streams::Terminal { size } => on_terminal(&program, size.sane()),
        Streams::Separate { input } => on_pipes(&program, input, Errors::Apart),
        Streams::Together { input } => on_pipes(&program, input, Errors::WithOutput),
    }
}

fn on_terminal(program: &process::Spec, size: Size) -> Result<Launched, StartError> {
    let terminal = Terminal::open(size)?;
    let ours = terminal.master()?.try_clone_to_owned()?;
    let input = ours.try_clone()?;
    // Both lead to one open file: it is not waited for, neither reading nor writing.
    set_nonblocking(&ours)?;
    let child = process::start_child(program, process::Streams::Terminal(terminal.peer.try_clone()?))?;
    Ok(Launched {
        identity: identity(&child),
        session: rustix::process::getpid().as_raw_pid(),
        child,
        sources: vec![ours],
        input: Some(input),
        terminal: Some(terminal),
        size,
    })
}

/// Where errors go when there is no terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Errors {
    Apart,
    WithOutput,
}

fn on_pipes(program: &process::Spec, input: Input, errors: Errors) -> Result<Launched, StartError> {
    let (output, stdout) = io::pipe()?;
    let (errors, stderr) = match errors {
        Errors::Apart => {
            let (errors, stderr) = io::pipe()?;
            (Some(OwnedFd::from(errors)), stderr)
        }
        Errors::WithOutput => (None, stdout.try_clone()?),
    };
    let (stdin, input) = match input {
        Input::Nothing => (Stdio::null(), None),
        Input::Sent => {
            let (stdin, input) = io::pipe()?;
            (stdin.into(), Some(OwnedFd::from(input)))
        }
    };
    let sources: Vec<OwnedFd> = [Some(OwnedFd::from(output)), errors].into_iter().flatten().collect();
    for ours in sources.iter().chain(&input) {
        set_nonblocking(ours)?;
    }
    let streams = process::Streams::Apart { stdin, stdout: stdout.into(), stderr: stderr.into() };
    let child = process::start_child(program, streams)?;
    Ok(Launched {
        session: rustix::process::Pid::from_child(&child).as_raw_pid(),
        identity: identity(&child),
        child,
        sources,
        input,
        terminal: None,
        size: Size::USUAL,
    })
}

/// Reads who the child is; even if it has exited, it is not reaped and its number still its own.
fn identity(child: &Child) -> Identity {
    let pid = rustix::process::Pid::from_child(child);
    Identity::of(pid).unwrap_or(Identity { pid: pid.as_raw_pid(), start_time: 0, boot_id: String::new() })
}

fn set_nonblocking(fd: &OwnedFd) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    Ok(rustix::fs::fcntl_setfl(fd, flags | rustix::fs::OFlags::NONBLOCK)?)
}
