//! State that several threads look at: changed under its lock, waited for without polling.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

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
