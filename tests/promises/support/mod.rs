//! What the promises are tested with: a scripted model behind real HTTP, a home of its own for
//! each test, the real program in a real terminal.

pub mod controls;
pub mod home;
pub mod keys;
pub mod latch;
pub mod model_server;
pub mod process;
pub mod reply;
pub mod request;
pub mod terminal;
pub mod watch;

use std::time::{Duration, Instant};

/// How long a test waits for what must come: long, because it is only ever used up by a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at something that can't tell us when it changes.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Waits until another process has made something true that it can't tell us of: a file, an exit.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::park_timeout(LOOK_AGAIN);
    }
}
