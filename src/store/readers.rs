//! A few connections that only read, opened when they are needed and used again.
//!
//! There are never more than a few: SQLite keeps the descriptor of a closed one for as long as any
//! other of the process holds a lock, and the writer always does.

use super::{error, open};
use crate::domain::Rejection;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many connections there are at the most; whoever comes then waits for one.
const MOST: usize = 4;

/// The connections that only read.
pub(super) struct Readers {
    path: PathBuf,
    pool: Mutex<Pool>,
    given_back: Condvar,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Connection>,
    /// Connections that somebody reads with, or is about to open.
    lent: usize,
}

/// The right to read, given back when it is dropped; with its connection where that is still good.
struct Lent<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Readers {
    pub fn new(path: PathBuf) -> Self {
        Self { path, pool: Mutex::default(), given_back: Condvar::new() }
    }

    /// Reads one consistent state: everything `read` sees belongs to one moment. It must not read
    /// through these readers again itself.
    pub fn with<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Rejection> {
        let mut lent = self.lend();
        let mut connection = match lent.connection.take() {
            Some(connection) => connection,
            None => open::reader(&self.path).map_err(|e| error::refuse(&e))?,
        };
        let result = (|| {
            let transaction = connection.transaction()?;
            let value = read(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })();
        lent.connection = result.is_ok().then_some(connection);
        result.map_err(|e| error::refuse(&e))
    }

    fn lend(&self) -> Lent<'_> {
        let full = |pool: &mut Pool| pool.lent >= MOST;
        let waited = self.given_back.wait_while(self.pool(), full);
        let mut pool = waited.unwrap_or_else(PoisonError::into_inner);
        pool.lent += 1;
        Lent { readers: self, connection: pool.idle.pop() }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.pool();
        pool.lent -= 1;
        pool.idle.extend(self.connection.take());
        drop(pool);
        self.readers.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn however_many_read_at_once_there_are_few_connections_and_everybody_is_served() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("cowork.db");
        let writer = open::writer(&path).expect("opens");
        let readers = Readers::new(path);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..40 {
                scope.spawn(|| {
                    let read = readers.with(|c| {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        let version: i64 = c.query_row("PRAGMA user_version", [], |row| row.get(0))?;
                        now.fetch_sub(1, Ordering::SeqCst);
                        Ok(version)
                    });
                    assert!(read.expect("read") > 0);
                });
            }
        });
        assert!(most.into_inner() <= MOST);
        let failed = readers.with(|c| c.query_row("SELECT nothing", [], |row| row.get::<_, i64>(0)));
        assert!(failed.is_err());
        assert!(readers.pool().lent == 0 && readers.pool().idle.len() <= MOST);
        drop(writer);
    }
}
