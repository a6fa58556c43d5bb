//! Interrupts from the keyboard and requests to end: the first is passed on, the second ends the
//! program at once.

use super::fault::Exit;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

/// The requests to stop.
pub struct Stops(mpsc::UnboundedReceiver<()>);

impl Stops {
    /// Waits for a request to stop.
    pub async fn next(&mut self) {
        if self.0.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}

/// Listens from now on.
pub fn stops() -> Stops {
    let (told, stops) = mpsc::unbounded_channel();
    for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
        // Where the system refuses, the signal ends the program as it always would.
        let Ok(mut signals) = signal(kind) else { continue };
        let told = told.clone();
        tokio::spawn(async move {
            let mut before = false;
            while signals.recv().await.is_some() {
                if before {
                    std::process::exit(Exit::Stopped.code().into());
                }
                before = true;
                let _ = told.send(()); // Nobody may be waiting any more.
            }
        });
    }
    Stops(stops)
}
