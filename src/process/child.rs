//! Starting a program for a supervisor that waits for it itself.
//!
//! The program is resolved and executed by our own call: the standard library's would hand a file
//! that is no program to the shell, and the true reason would be lost.

use super::spec::{Spec, StartError, find};
use super::started::seal_descriptors;
use super::system::{self, Disposition};
use rustix::process::Signal;
use std::ffi::{CString, OsStr, OsString, c_char};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where a child's standard streams go.
#[derive(Debug)]
pub enum Streams {
    /// All three to the controlling terminal of our own session, in whose foreground the child
    /// will be. Were it to lead the session itself, its exit would end whatever it left in the
    /// foreground, such as a `tee` that has yet to write the last lines.
    Terminal(OwnedFd),
    /// Each to its own place.
    Apart {
        /// Its input.
        stdin: Stdio,
        /// Its output.
        stdout: Stdio,
        /// Its errors.
        stderr: Stdio,
    },
}

/// Starts the program of `spec` as the leader of a group of its own; without a terminal also of a
/// session.
///
/// An error is why it did not start: the folder, or what the system said when it was to load the
/// program. Whatever exit code comes later is the program's own.
pub fn start_child(spec: &Spec, streams: Streams) -> Result<Child, StartError> {
    std::fs::metadata(&spec.cwd)
        .and_then(|found| if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) })
        .map_err(|source| StartError::Folder { cwd: spec.cwd.clone(), source })?;
    let refused = |source| StartError::Program { program: spec.program.clone(), source };
    let environment = spec.environment();
    let program = resolve(&spec.program, &spec.cwd, &environment).map_err(refused)?;
    let image = Image::new(&program, &spec.program, &spec.args, environment)?;
    let mut command = Command::new(&program);
    command.current_dir(&spec.cwd);
    let place = match streams {
        Streams::Terminal(terminal) => {
            command.stdin(terminal.try_clone()?).stdout(terminal.try_clone()?).stderr(terminal);
            Place::Foreground
        }
        Streams::Apart { stdin, stdout, stderr } => {
            command.stdin(stdin).stdout(stdout).stderr(stderr);
            Place::OwnSession
        }
    };
    // Confinement by the kernel belongs here as well: right before the program is loaded.
    // SAFETY: between fork and exec only calls that are safe in a signal handler are allowed. These
    // are; execve works on memory that was prepared before the fork.
    unsafe {
        command.pre_exec(move || {
            match place {
                Place::Foreground => take_foreground()?,
                Place::OwnSession => drop(rustix::process::setsid()?),
            }
            Err(image.execute())
        });
    }
    seal_descriptors();
    command.spawn().map_err(refused)
}

/// Where a child stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// In the foreground of our terminal.
    Foreground,
    /// In a session of its own.
    OwnSession,
}

/// Puts the calling process into a group of its own, in the foreground of its standard input.
///
/// # Safety
///
/// For a new process only: the default is set for a signal.
unsafe fn take_foreground() -> io::Result<()> {
    rustix::process::setpgid(None, None)?;
    // Who is in the background would be stopped for this.
    // SAFETY: nothing of ours is called.
    unsafe { system::dispose(Signal::TTOU, Disposition::Ignore) };
    rustix::termios::tcsetpgrp(rustix::stdio::stdin(), rustix::process::getpid())?;
    // SAFETY: as above.
    unsafe { system::dispose(Signal::TTOU, Disposition::Default) };
    Ok(())
}

/// Finds the file of a program as a shell would: a bare name in `PATH`, any other where it says.
fn resolve(program: &Path, cwd: &Path, environment: &[(OsString, OsString)]) -> io::Result<PathBuf> {
    if program.as_os_str().as_bytes().contains(&b'/') {
        return Ok(cwd.join(program));
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let name = program.to_str().ok_or(io::ErrorKind::NotFound)?;
    find(name, path.unwrap_or(OsStr::new(""))).ok_or_else(|| {
        // There, but not to be executed, is another fault than not there.
        let there = std::env::split_paths(path.unwrap_or(OsStr::new(""))).any(|folder| folder.join(name).is_file());
        if there { io::ErrorKind::PermissionDenied.into() } else { io::ErrorKind::NotFound.into() }
    })
}

/// A program with its arguments and environment, as `execve` takes them.
struct Image {
    path: CString,
    arguments: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    /// What the pointers above point into.
    _kept: Vec<CString>,
}

// SAFETY: the pointers lead into heap memory that the image owns and never changes.
unsafe impl Send for Image {}
// SAFETY: as above; it is only read.
unsafe impl Sync for Image {}

impl Image {
    fn new(path: &Path, name: &Path, args: &[OsString], environment: Vec<(OsString, OsString)>) -> io::Result<Self> {
        let mut kept = Vec::new();
        let mut list = |entries: Vec<Vec<u8>>| -> io::Result<Vec<*const c_char>> {
            let mut pointers = Vec::new();
            for entry in entries {
                let entry = CString::new(entry)?;
                pointers.push(entry.as_ptr());
                kept.push(entry);
            }
            pointers.push(std::ptr::null());
            Ok(pointers)
        };
        let arguments = list(
            std::iter::once(name.as_os_str())
                .chain(args.iter().map(OsString::as_os_str))
                .map(|a| a.as_bytes().to_vec())
                .collect(),
        )?;
        let entries = environment.into_iter().map(|(name, value)| {
            let mut entry = name.into_vec();
            entry.push(b'=');
            entry.extend_from_slice(value.as_bytes());
            entry
        });
        let environment = list(entries.collect())?;
        Ok(Self { path: CString::new(path.as_os_str().as_bytes())?, arguments, environment, _kept: kept })
    }

    /// Becomes the program; returns only with the reason why not.
    fn execute(&self) -> io::Error {
        // SAFETY: they are lists of C strings that live as long as `self`.
        unsafe { system::become_program(self.path.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    fn start(spec: &Spec) -> Result<Child, StartError> {
        start_child(spec, Streams::Apart { stdin: Stdio::null(), stdout: Stdio::piped(), stderr: Stdio::null() })
    }

    fn says(spec: &Spec) -> String {
        let mut child = start(spec).expect("started");
        let mut said = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut said).expect("read");
        child.wait().expect("reaped");
        said
    }

    fn file(dir: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, content).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("set");
        path
    }

    #[test]
    fn a_child_leads_its_session_in_its_folder_with_its_arguments_and_its_environment() {
        let script = "test $(ps -o sid= -p $$) = $$ && echo leads; pwd; echo $0 $1 $MINE; echo ${CARGO_HOME:-none}";
        let spec = Spec::program("sh", "/usr").arg("-c").arg(script).arg("zero").arg("one").set("MINE", "set");
        assert_eq!(says(&spec), "leads\n/usr\nzero one set\nnone\n");
    }

    #[test]
    fn why_a_program_does_not_start_is_told_apart() {
        let dir = tempfile::tempdir().expect("a folder");
        let garbage = file(dir.path(), "garbage", b"\x00\x01\x02", 0o755);
        let text = file(dir.path(), "text", b"echo hello\n", 0o644);
        let orphan = file(dir.path(), "orphan", b"#!/no/such/shell\n", 0o755);
        let why = |program: &Path| match start(&Spec::program(program, "/")).expect_err("refused") {
            StartError::Program { source, .. } => source.raw_os_error(),
            other => panic!("{other}"),
        };
        assert_eq!(why(&garbage), Some(8), "ENOEXEC");
        assert_eq!(why(&text), Some(13), "EACCES");
        assert_eq!(why(&orphan), Some(2), "ENOENT");
        assert_eq!(why(Path::new("/no/such/program")), Some(2), "ENOENT");
        let error = start(&Spec::program("no-such-program-anywhere", "/")).expect_err("refused");
        assert!(matches!(error, StartError::Program { source, .. } if source.kind() == io::ErrorKind::NotFound));
        let error = start(&Spec::program("/bin/true", dir.path().join("gone"))).expect_err("refused");
        assert!(matches!(error, StartError::Folder { .. }));
    }

    #[test]
    fn a_program_is_found_relative_to_its_folder() {
        let dir = tempfile::tempdir().expect("a folder");
        file(dir.path(), "tool", b"#!/bin/sh\necho from the tool\n", 0o755);
        assert_eq!(says(&Spec::program("./tool", dir.path())), "from the tool\n");
    }
}
