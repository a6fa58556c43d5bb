//! Starting a process that outlives us: a session of its own, nothing of ours inherited.

use super::started::seal_descriptors;
use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Stdio;
use tokio::net::unix::pipe;
use tokio::process::Command;

/// Starts `program` in a session of its own and in `cwd`, without input, and gives what it prints
/// until it closes its output. It gets our environment. Needs a running tokio.
///
/// No descriptor of ours but that pipe reaches it, also none that we were given ourselves: whoever
/// waits for our output to end, such as ssh, must not wait for it.
pub fn spawn_detached(program: &Path, args: &[&OsStr], cwd: &Path) -> io::Result<pipe::Receiver> {
    let (reader, writer) = io::pipe()?;
    let mut command = Command::new(program);
    command.args(args).current_dir(cwd).stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    // SAFETY: between fork and exec only calls that are safe in a signal handler are allowed;
    // setsid is one, it allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| Ok(rustix::process::setsid().map(|_| ())?));
    }
    seal_descriptors();
    // Dropped and not killed: tokio reaps it should it end before us.
    drop(command.spawn()?);
    // The command keeps the write end of the pipe; with it the output would never end.
    drop(command);
    pipe::Receiver::from_owned_fd(reader.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;
    use tokio::io::AsyncReadExt;

    async fn says(script: &str) -> String {
        let words = spawn_detached(Path::new("/bin/sh"), &["-c", script].map(OsStr::new), Path::new("/"));
        let mut said = String::new();
        words.expect("started").read_to_string(&mut said).await.expect("read");
        said
    }

    #[tokio::test]
    async fn a_detached_process_leads_a_session_without_input_in_its_folder() {
        let said = says("cat; pwd; test $(ps -o sid= -p $$) = $$ && echo leads; echo bad >&2").await;
        assert_eq!(said, "/\nleads\nbad\n");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_descriptor_that_we_were_given_does_not_reach_it() {
        let _alone = super::super::INHERITABLE.lock().await;
        let given = std::fs::File::open("/dev/null").expect("opened");
        rustix::io::fcntl_setfd(&given, rustix::io::FdFlags::empty()).expect("as if inherited");
        let said = says("ls /proc/$$/fd").await;
        assert!(!said.lines().any(|fd| fd == given.as_raw_fd().to_string()), "{said}");
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_an_error() {
        let error = spawn_detached(Path::new("/nowhere/cowork"), &[], Path::new("/")).expect_err("not there");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
