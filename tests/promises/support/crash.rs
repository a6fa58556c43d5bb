//! A host that was told to die at a named point of its work, and chance that can be repeated.

use super::home::Home;
use super::process::Running;
use super::watch::eventually;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;

/// A host of a home that dies when it passes a point.
pub struct DoomedHost(Running);

impl DoomedHost {
    /// Starts it; it dies when it passes `point`, such as `store.before_commit:3`.
    pub fn start(home: &Home, point: &str) -> Self {
        let mut command = home.command(["host", "run"]);
        command.env("COWORK_CRASH_AT", point);
        let running = Running::start(command, "");
        let lock = home.state().join("host.lock");
        eventually("the host owns its state, or is dead", || running.has_ended() || is_locked(&lock));
        Self(running)
    }

    /// Whether it has ended by now.
    pub fn is_dead(&self) -> bool {
        self.0.has_ended()
    }

    /// Whether it died there; one that did not is stopped first.
    pub fn died(self, home: &Home) -> bool {
        if !self.0.has_ended() {
            home.run(["host", "stop"]);
        }
        self.0.finish().status.signal() == Some(9)
    }
}

/// Whether somebody holds the lock on this file.
fn is_locked(lock: &std::path::Path) -> bool {
    let Ok(file) = File::open(lock) else { return false };
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockShared).is_err()
}

/// Chance from a seed: the same seed, the same numbers.
pub struct Chance(u64);

impl Chance {
    /// Takes the seed from `COWORK_SEED`, or from the clock, and prints it, so that a failure can be repeated.
    pub fn new(name: &str) -> Self {
        let seed = std::env::var("COWORK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
            now.as_nanos() as u64 ^ u64::from(std::process::id())
        });
        eprintln!("{name}: COWORK_SEED={seed} repeats this run");
        Self(seed | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
