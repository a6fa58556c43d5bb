//! A key in a file of its own: read only if nobody else can.

use crate::domain::Secret;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Why a key file can't be used.
pub(super) struct Problem {
    pub message: String,
    pub allowed: String,
}

/// Reads a key; a relative path starts at the configuration's folder, `~/` at the user's home.
pub(super) fn read(named: &str, beside: &Path, home: Option<&str>) -> Result<Secret, Problem> {
    let path = match (named.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(home).join(rest),
        (Some(_), None) | (None, _) => beside.join(named),
    };
    open(&path)
}

fn open(path: &PathBuf) -> Result<Secret, Problem> {
    let shown = path.display();
    let problem = |message: String, allowed: &str| Problem { message, allowed: allowed.to_owned() };
    let unreadable =
        |error: std::io::Error| problem(format!("cannot read {shown}: {error}"), "a file that holds the key");
    // Without blocking: a pipe in this place must not stop the program.
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    let mut file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unreadable)?;
    let found = file.metadata().map_err(unreadable)?;
    if !found.is_file() {
        return Err(problem(format!("{shown} is not a file"), "a file that holds the key"));
    }
    let me = rustix::process::getuid().as_raw();
    if found.uid() != me && found.uid() != 0 {
        return Err(problem(format!("{shown} belongs to another user"), "a file of your own"));
    }
    let mode = found.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(problem(
            format!("others can use {shown} (mode {mode:04o})"),
            &format!("make it yours alone: chmod 600 {shown}"),
        ));
    }
    let mut text = String::new();
    file.by_ref().take(16 * 1024).read_to_string(&mut text).map_err(unreadable)?;
    let key = text.trim();
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err(problem(format!("{shown} does not hold one key"), "the key alone, on one line"));
    }
    Ok(Secret::new(key))
}
