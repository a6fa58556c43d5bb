//! A program of the person's own on this terminal, such as their editor: it has the terminal, the
//! process group and the environment that we have, but for what looks like a key, until it ends.

use super::environment::looks_secret;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

/// Runs a line of shell with a file as its last word, on the terminal that we stand on.
pub async fn with_file(line: &str, file: &Path) -> io::Result<ExitStatus> {
    let mut command = tokio::process::Command::new("/bin/sh");
    command.arg("-c").arg(format!("{line} \"$1\"")).arg("sh").arg(file);
    let ours = std::env::vars_os().filter(|(name, value)| !looks_secret(&name.to_string_lossy(), value));
    command.env_clear().envs(ours);
    command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    command.status().await
}
