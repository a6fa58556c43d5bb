//! What can go wrong with the file, in words that say what to do.

use crate::domain::Rejection;
use crate::domain::rejection::RejectionKind;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why the store can't be opened or used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file was written by a newer version of the program.
    #[error("{path} was written by a newer version of cowork (schema {found}, this one knows {known})")]
    Newer { path: PathBuf, found: i64, known: i64 },
    /// The file is not ours.
    #[error("{path} is not a database of cowork")]
    Foreign { path: PathBuf },
    /// The file is damaged.
    #[error("{path} is damaged: {detail}")]
    Damaged { path: PathBuf, detail: String },
    /// The database did not accept a setting it must have.
    #[error("{path}: SQLite did not take `{pragma}` (it answered `{answer}`)")]
    Pragma { path: PathBuf, pragma: &'static str, answer: String },
    /// Some file operation failed.
    #[error("can't {verb} {path}: {source}")]
    Io { verb: &'static str, path: PathBuf, source: std::io::Error },
    /// SQLite failed.
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    /// The writer's thread is gone.
    #[error("the writer has stopped: {0}")]
    Stopped(String),
}

impl StoreError {
    /// Names the operation and the path of a failed file operation.
    pub fn io(verb: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::Io { verb, path: path.to_owned(), source }
    }

    /// What to do about it, one sentence.
    pub fn hint(&self) -> String {
        match self {
            Self::Newer { .. } => "update cowork, or use another state directory with --home".into(),
            Self::Foreign { .. } => "move that file away, or use another state directory with --home".into(),
            Self::Damaged { path, .. } => format!(
                "nothing was changed; keep a copy of {} and its -wal file, then `cowork doctor --repair` saves what can be read",
                path.display()
            ),
            Self::Pragma { .. } => "keep the state directory on a local disk (--home)".into(),
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                "make the state directory yours (chown, chmod 700), or use another with --home".into()
            }
            Self::Io { .. } => "check the disk and the state directory".into(),
            Self::Sqlite(error) => sqlite_hint(error).into(),
            Self::Stopped(_) => "start again; everything acknowledged is on disk".into(),
        }
    }

    /// Sorts an error of SQLite into the classes above.
    pub fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged { path: path.to_owned(), detail: error.to_string() }
            }
            _ => Self::Sqlite(error),
        }
    }
}

fn sqlite_hint(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "free some space and try again; nothing was lost",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "close it (a sqlite3 shell, a backup) and try again"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            "make the state directory writable for you (chown, chmod 700), or use another with --home"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "the file is damaged: keep a copy, then `cowork doctor` says what is wrong"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "the disk reported an error: check it; everything acknowledged before is on disk"
        }
        _ => "run `cowork doctor`",
    }
}

/// What an error of SQLite means for the one who asked.
pub(super) fn refuse(error: &rusqlite::Error) -> Rejection {
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full".to_owned(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "another program holds the database".to_owned(),
        _ => format!("the store can't take it now: {error}"),
    };
    Rejection::new(RejectionKind::Storage, message, sqlite_hint(error))
}
