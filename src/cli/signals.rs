//! Interrupts from the keyboard and requests to end: the first is passed on, the second ends the
//! program at once, but not before the first has had its chance to reach the host.

use super::fault::Exit;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// How long the second request waits at most for the first to be passed on.
const CHANCE: Duration = Duration::from_millis(500);

/// The requests to stop.
pub struct Stops {
    asked: mpsc::UnboundedReceiver<()>,
    passed_on: watch::Sender<bool>,
}

impl Stops {
    /// Waits for a request to stop.
    pub async fn next(&mut self) {
        if self.asked.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Says that the first request has reached who is to stop.
    pub fn passed_on(&self) {
        self.passed_on.send_replace(true);
    }
}

/// Listens from now on.
pub fn stops() -> Stops {
    let (told, asked) = mpsc::unbounded_channel();
    let (passed_on, _) = watch::channel(false);
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        // Where the system refuses, the signal ends the program as it always would.
        let Ok(mut signals) = signal(kind) else { continue };
        let told = told.clone();
        let mut passed = passed_on.subscribe();
        tokio::spawn(async move {
            let mut before = false;
            while signals.recv().await.is_some() {
                if before {
                    let _ = timeout(CHANCE, passed.wait_for(|passed| *passed)).await;
                    std::process::exit(Exit::Stopped.code().into());
                }
                before = true;
                let _ = told.send(()); // Nobody may be waiting any more.
            }
        });
    }
    Stops { asked, passed_on }
}
