//! Starting a process that outlives us, without an async runtime.

use super::spec::{Spec, StartError};
use super::started::seal_descriptors;
use std::io::{self, PipeReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts the program of `spec` in a session of its own, without input, and gives what it prints
/// until it closes its output. It has the environment of the spec and no descriptor of ours.
pub fn start_apart(spec: &Spec) -> Result<(Child, PipeReader), StartError> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(&spec.program);
    command
        .args(&spec.args)
        .current_dir(&spec.cwd)
        .env_clear()
        .envs(spec.environment())
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null());
    // SAFETY: between fork and exec only calls that are safe in a signal handler are allowed;
    // setsid is one, it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(|_| ())?));
    }
    seal_descriptors();
    let child = command.spawn().map_err(|source| StartError::Program { program: spec.program.clone(), source })?;
    Ok((child, reader))
}
