//! Waiting: for state that threads share, without polling; for what another process does, by looking again.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a test waits for what must come: long, because it is only ever used up by a failure.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at something that can't tell us when it changes.
pub const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A value under a lock, whose every change wakes those who wait for one.
#[derive(Debug, Default)]
pub struct Watch<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Watch<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self { value: Mutex::new(value), changed: Condvar::new() }
    }

    /// Looks at the value. A test that failed while it looked spoils it for nobody.
    pub fn look(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value and wakes whoever waits.
    pub fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.look());
        self.changed.notify_all();
        result
    }

    /// Waits until the value is as `is_so` says; gives it as an error when it never was within `limit`.
    pub fn wait(&self, limit: Duration, is_so: impl Fn(&T) -> bool) -> Result<MutexGuard<'_, T>, MutexGuard<'_, T>> {
        let waited = self.changed.wait_timeout_while(self.look(), limit, |value| !is_so(value));
        let (value, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() { Err(value) } else { Ok(value) }
    }
}

/// Waits until another process has made something true that it can't tell us of: a file, an exit.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        std::thread::park_timeout(LOOK_AGAIN);
    }
}
