//! A line of the user's own configuration, run for what it prints: a key, asked of a password store.
//!
//! It gets the user's own environment and no terminal; it is the user's own words, of a file that
//! no repository and no model can write.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// More than any line prints that is of use here.
const LARGEST: u64 = 64 * 1024;

/// Runs a line with `sh` and gives its standard output; an error says how it failed.
pub fn output_of(line: &str, patience: Duration) -> io::Result<Vec<u8>> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let Some(stdout) = child.stdout.take() else { return Err(io::Error::other("it has no output")) };
    let (told, output) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(LARGEST).read_to_end(&mut bytes);
        // Nobody listens after the time is over.
        let _ = told.send(read.map(|_| bytes));
    });
    let Ok(read) = output.recv_timeout(patience) else {
        child.kill()?;
        child.wait()?;
        return Err(io::Error::other(format!("it took longer than {} s", patience.as_secs())));
    };
    let ended = child.wait()?;
    match ended.success() {
        true => read,
        false => Err(io::Error::other(format!("it failed ({ended})"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_prints_is_given_and_its_failure_told() {
        let run = |line: &str| output_of(line, Duration::from_secs(10));
        assert_eq!(run("echo secret; echo noise >&2").expect("printed"), b"secret\n");
        assert!(run("echo secret; exit 3").expect_err("failed").to_string().contains("exit status: 3"));
        assert!(run("no-such-program-here").is_err());
    }

    #[test]
    fn a_line_that_does_not_end_is_ended() {
        let error = output_of("exec sleep 600", Duration::from_millis(50)).expect_err("over time");
        assert!(error.to_string().contains("took longer"), "{error}");
    }
}
