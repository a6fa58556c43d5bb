//! A few connections that only read, opened when they are needed and used again.

use super::{error, open};
use crate::domain::Rejection;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Mutex;

/// How many idle connections are kept.
const KEPT: usize = 4;

/// The connections that only read.
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::new(Vec::new()) }
    }

    /// Reads one consistent state: everything `read` sees belongs to one moment.
    pub fn with<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Rejection> {
        let idle = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let mut connection = match idle {
            Some(connection) => connection,
            None => open::reader(&self.path).map_err(|e| error::refuse(&e))?,
        };
        let result = (|| {
            let transaction = connection.transaction()?;
            let value = read(&transaction)?;
            transaction.commit()?;
            Ok(value)
        })();
        if result.is_ok()
            && let Ok(mut idle) = self.idle.lock()
            && idle.len() < KEPT
        {
            idle.push(connection);
        }
        result.map_err(|e| error::refuse(&e))
    }
}
