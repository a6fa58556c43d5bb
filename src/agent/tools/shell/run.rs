//! Running a command to its end as a child of ours, while somebody listens to what it prints. It
//! does not outlive us: what a call runs does, and is run by the runtime.

use crate::agent::running::{Finished, Listener, Stop};
use crate::process::{Spec, StartError, Started, TOOL_CHAINS};
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long what the leader left behind may take to end by itself, such as a `tee` that still
/// writes.
const SETTLE: Duration = Duration::from_secs(1);

/// How long processes have between TERM and KILL.
const GRACE: Duration = Duration::from_millis(300);

/// The most that is taken from a pipe that a process outside of the session still holds open.
const MOST_LEFT: usize = 1 << 20;

/// Runs a line of shell until its leader exits, at most for `seconds`, and ends what is left of it.
pub(super) async fn run(
    line: &str,
    cwd: &Path,
    seconds: u64,
    cancel: &CancellationToken,
    listener: &mut dyn Listener,
) -> Result<Finished, StartError> {
    let begun = Instant::now();
    let (mut process, pipe) = Started::start(&Spec::shell(line, cwd).pass(TOOL_CHAINS))?;
    let mut stream = Stream { pipe, open: true, buffer: vec![0; 64 << 10], listener };
    let waiting = async {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Stop::Cancelled,
            () = process.exited() => Stop::Exited,
            () = tokio::time::sleep(Duration::from_secs(seconds)) => Stop::TimedOut,
        }
    };
    let stop = stream.read_while(waiting).await;
    let took = begun.elapsed();
    let ending = async {
        if stop == Stop::Exited {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = process.settle(SETTLE) => {}
            }
        }
        process.end(GRACE).await
    };
    let ended = stream.read_while(ending).await;
    stream.read_rest().await;
    Ok(Finished { stop, took, ended })
}

/// The output on its way from the pipe to who listens.
struct Stream<'a> {
    pipe: pipe::Receiver,
    open: bool,
    buffer: Vec<u8>,
    listener: &'a mut dyn Listener,
}

impl Stream<'_> {
    /// Reads until something else is done.
    async fn read_while<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        loop {
            let due = self.listener.due();
            tokio::select! {
                biased;
                done = &mut other => return done,
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.listener.tell(),
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    let count = read.unwrap_or(0);
                    self.open = count > 0;
                    self.listener.hear(&self.buffer[..count]).await;
                }
            }
        }
    }

    /// Reads what is still in the pipe, without waiting for more.
    async fn read_rest(&mut self) {
        let mut left = MOST_LEFT;
        while self.open && left > 0 {
            // Asked of the system itself: the pipe's own idea of whether it is empty may be old.
            let count = rustix::io::read(&self.pipe, self.buffer.as_mut_slice()).unwrap_or(0);
            self.open = count > 0;
            left = left.saturating_sub(count);
            self.listener.hear(&self.buffer[..count]).await;
        }
    }
}
