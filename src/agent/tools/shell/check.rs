//! A command that judges whether something holds: what counts is its exit code, and the end of what
//! it printed is the evidence.

use super::super::output;
use super::run::run;
use crate::agent::running::{Listener, Stop};
use crate::domain::settings::Limits;
use crate::process::Exit;
use futures_util::future::BoxFuture;
use std::path::Path;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How much of the end is kept as evidence, in bytes.
const HELD: usize = 4_000;

/// What a command gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; none when a signal ended it or its time was over.
    pub exit_code: Option<i32>,
    /// How it ended, where that is no exit code, and the end of what it printed.
    pub tail: String,
}

/// Runs a command in `cwd` as the shell tool does, without keeping all it prints.
pub async fn run_command(
    command: &str,
    cwd: &Path,
    limits: &Limits,
    cancel: &CancellationToken,
) -> Result<Ran, String> {
    let mut end = End(Vec::new());
    let finished =
        run(command, cwd, limits.shell_seconds, cancel, &mut end).await.map_err(|error| error.to_string())?;
    let exit = finished.ended.exit;
    let (exit_code, why) = match (finished.stop, exit) {
        (Stop::Exited, Exit::Code(code)) => (Some(code), String::new()),
        (Stop::Exited, Exit::Signal(_) | Exit::Unknown) => (None, format!("{exit}\n")),
        (Stop::TimedOut, _) => (None, format!("timed out after {} s and {exit}\n", limits.shell_seconds)),
        (Stop::Cancelled, _) => (None, format!("stopped on request and {exit}\n")),
    };
    Ok(Ran { exit_code, tail: why + &end.told() })
}

/// The end of an output.
struct End(Vec<u8>);

impl Listener for End {
    fn hear<'a>(&'a mut self, chunk: &'a [u8]) -> BoxFuture<'a, ()> {
        self.0.extend_from_slice(chunk);
        if self.0.len() > 16 * HELD {
            self.0.drain(..self.0.len() - 8 * HELD);
        }
        Box::pin(std::future::ready(()))
    }
    fn due(&self) -> Option<Instant> {
        None
    }
    fn tell(&mut self) {}
}

impl End {
    fn told(&self) -> String {
        let text = output::clean(&self.0);
        if text.len() <= HELD {
            return text;
        }
        let end = &text[text.ceil_char_boundary(text.len() - HELD)..];
        format!("…\n{}", end.split_once('\n').map_or(end, |(_, lines)| lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn ran(command: &str) -> Ran {
        let limits = Limits { shell_seconds: 1, ..Limits::default() };
        run_command(command, Path::new("/"), &limits, &CancellationToken::new()).await.expect("it ran")
    }

    #[tokio::test]
    async fn what_counts_is_the_exit_code_and_the_end_is_the_evidence() {
        assert_eq!(ran("echo yes").await, Ran { exit_code: Some(0), tail: "yes\n".into() });
        assert_eq!(ran("echo no >&2; exit 3").await, Ran { exit_code: Some(3), tail: "no\n".into() });
        let long = ran("seq 100000; exit 1").await;
        assert!(long.tail.starts_with("…\n") && long.tail.ends_with("\n100000\n"), "{}", long.tail);
        assert!(long.tail.len() <= HELD + 10);
    }

    #[tokio::test]
    async fn what_did_not_exit_has_no_code() {
        assert_eq!(ran("kill -9 $$").await, Ran { exit_code: None, tail: "signaled 9 (KILL)\n".into() });
        let late = ran("echo begun; sleep 60").await;
        assert_eq!((late.exit_code, late.tail.as_str()), (None, "timed out after 1 s and signaled 15 (TERM)\nbegun\n"));
        let missing = run_command("x", Path::new("/no/folder"), &Limits::default(), &CancellationToken::new()).await;
        assert!(missing.expect_err("refused").contains("/no/folder can't be used"));
    }
}
