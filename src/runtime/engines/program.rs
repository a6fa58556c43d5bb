//! One run of an engine's program in a folder of its own.

use crate::process::{Exit, Spec, StartError, Started, TOOL_CHAINS};
use crate::resources::EngineFailure;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

/// The most that is told of what a program printed, in bytes.
const TOLD: usize = 600;

/// How long what a program left behind may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// Runs a program to its end; what it made stands in files. Dropped, its processes are ended.
///
/// `install` says how a program that is not there comes to this machine.
pub(in crate::runtime) async fn run(
    program: &str,
    args: &[&str],
    folder: &Path,
    install: &str,
) -> Result<(), EngineFailure> {
    let spec = args.iter().fold(Spec::program(program, folder), |spec, arg| spec.arg(arg)).pass(TOOL_CHAINS);
    // Whatever it keeps of its own, it keeps where it works.
    let spec = spec.set("HOME", folder).set("TMPDIR", folder);
    let (mut started, mut output) = Started::start(&spec).map_err(|error| match error {
        StartError::Program { source, .. } if source.kind() == ErrorKind::NotFound => {
            EngineFailure::Missing { engine: program.into(), install: install.into() }
        }
        other => EngineFailure::Crashed { message: other.to_string() },
    })?;
    let mut last = Last::default();
    tokio::select! {
        biased;
        () = started.exited() => {}
        () = last.hear(&mut output) => started.exited().await,
    }
    let exit = started.end(GRACE).await.exit;
    // What was printed last may still be in the pipe, which a process that got away may hold open.
    let _ = tokio::time::timeout(GRACE, last.hear(&mut output)).await;
    let said = String::from_utf8_lossy(last.0.make_contiguous()).trim().to_owned();
    let or = |otherwise: String| if said.is_empty() { otherwise } else { said.clone() };
    match exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(code) => {
            Err(EngineFailure::Refused { message: format!("{program}: {}", or(format!("it ended with {code}"))) })
        }
        Exit::Signal(signal) => {
            let what = format!("{program} was ended by signal {signal}");
            Err(EngineFailure::Crashed { message: if said.is_empty() { what } else { format!("{what}; {said}") } })
        }
        Exit::Unknown => Err(EngineFailure::Crashed { message: format!("nobody knows how {program} ended") }),
    }
}

/// The end of what a program prints.
#[derive(Default)]
struct Last(VecDeque<u8>);

impl Last {
    /// Reads to the end; dropped in between, it keeps what it has.
    async fn hear(&mut self, output: &mut pipe::Receiver) {
        let mut buffer = [0; 4 << 10];
        while let Ok(count @ 1..) = output.read(&mut buffer).await {
            self.0.extend(&buffer[..count]);
            self.0.drain(..self.0.len().saturating_sub(TOLD));
        }
    }
}

/// A failure of this machine, not of what was asked.
pub(in crate::runtime) fn failed(what: &str, error: &std::io::Error) -> EngineFailure {
    EngineFailure::Crashed { message: format!("{what}: {error}") }
}
