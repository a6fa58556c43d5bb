//! Opening the file: settings that are read back, the schema brought up to date, refusals that
//! change nothing.

use super::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `COWK`: marks the file as ours.
const APPLICATION_ID: i64 = 1_129_271_115;

/// The schema, step by step; a step that was released is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/0001_core.sql"),
    include_str!("schema/0002_jobs.sql"),
    include_str!("schema/0003_delegation.sql"),
    include_str!("schema/0004_resources.sql"),
    include_str!("schema/0005_mirrors.sql"),
    include_str!("schema/0006_authors.sql"),
];

/// Opens the one connection that writes.
pub(super) fn writer(path: &Path) -> Result<Connection, StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let empty_before = std::fs::metadata(path).map(|meta| meta.len() == 0).unwrap_or(true);
    if empty_before && has_wal(path) {
        // A WAL without its database: somebody moved the file away. An empty start would hide that.
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            detail: "its -wal file is there, the database is not".into(),
        });
    }
    create_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sqlite)?;
    connection.busy_timeout(std::time::Duration::from_secs(5)).map_err(sqlite)?;
    identify(&connection, path, empty_before)?;
    settings(&connection, path)?;
    migrate(&connection, path)?;
    keep_statements(&connection).map_err(sqlite)?;
    Ok(connection)
}

/// Has every statement prepared once. Without the guarantee that a plan does not depend on what is
/// bound, this build of SQLite prepares many of them anew each time that something is.
fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(128);
    Ok(())
}

/// Makes a new, empty file with the schema; only repairing needs it.
pub(super) fn bare(path: &Path) -> Result<Connection, StoreError> {
    create_private(path)?;
    let connection = Connection::open(path)?;
    migrate(&connection, path)?;
    Ok(connection)
}

/// Makes the file for its owner only where there is none: SQLite would follow the umask, and gives
/// its -wal and -shm files the mode of the database.
fn create_private(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    match options.write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io("create", path, error)),
    }
}

/// Opens a connection that only reads.
pub(super) fn reader(path: &Path) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.execute_batch(
        "PRAGMA query_only=ON; PRAGMA trusted_schema=OFF; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;",
    )?;
    keep_statements(&connection)?;
    Ok(connection)
}

fn has_wal(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    std::fs::metadata(Path::new(&wal)).is_ok_and(|meta| meta.len() > 0)
}

/// Refuses files of others and of newer versions, before anything is written.
fn identify(connection: &Connection, path: &Path, empty_before: bool) -> Result<(), StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let application: i64 = connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(sqlite)?;
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
    if empty_before {
        return Ok(());
    }
    let known = MIGRATIONS.len() as i64;
    if application == APPLICATION_ID && version > known {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known });
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(sqlite)?;
    if application != APPLICATION_ID && tables > 0 {
        return Err(StoreError::Foreign { path: path.to_owned() });
    }
    let health: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(sqlite)?;
    if health != "ok" {
        return Err(StoreError::Damaged { path: path.to_owned(), detail: health });
    }
    Ok(())
}

/// Sets what must hold for each connection that writes, and reads every answer back.
fn settings(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let wanted: [(&'static str, &str, &str); 9] = [
        ("journal_mode", "WAL", "wal"),
        ("synchronous", "FULL", "2"),
        ("foreign_keys", "ON", "1"),
        ("trusted_schema", "OFF", "0"),
        ("cell_size_check", "ON", "1"),
        ("mmap_size", "0", "0"),
        ("wal_autocheckpoint", "1000", "1000"),
        ("journal_size_limit", "67108864", "67108864"),
        ("recursive_triggers", "ON", "1"),
    ];
    for (pragma, value, expected) in wanted {
        connection
            .pragma_update(None, pragma, value)
            .or_else(|error| match error {
                rusqlite::Error::ExecuteReturnedResults => Ok(()),
                other => Err(other),
            })
            .map_err(sqlite)?;
        let answer: rusqlite::types::Value =
            connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0)).map_err(sqlite)?;
        let answer = match answer {
            rusqlite::types::Value::Integer(number) => number.to_string(),
            rusqlite::types::Value::Text(text) => text,
            other => format!("{other:?}"),
        };
        if answer != expected {
            return Err(StoreError::Pragma { path: path.to_owned(), pragma, answer });
        }
    }
    connection.execute_batch("PRAGMA temp_store=MEMORY;").map_err(sqlite)?;
    Ok(())
}

/// Applies the steps that the file has not seen, each in a transaction of its own.
fn migrate(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let sqlite = |error| StoreError::from_sqlite(path, error);
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(sqlite)?;
    for (index, step) in MIGRATIONS.iter().enumerate().skip(version.max(0) as usize) {
        let batch = format!(
            "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; {step} PRAGMA user_version = {}; COMMIT;",
            index + 1
        );
        if let Err(error) = connection.execute_batch(&batch) {
            // The step is all or nothing; what failed is reported, not the roll-back.
            let _ = connection.execute_batch("ROLLBACK");
            return Err(sqlite(error));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::StatementStatus;

    #[test]
    fn a_statement_is_prepared_once_however_often_it_is_used() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("cowork.db");
        let writer = writer(&path).expect("opens");
        let reader = reader(&path).expect("opens");
        for connection in [&writer, &reader] {
            for task in ["t_1", "t_2", "t_3"] {
                let sql = "SELECT id FROM tool_call WHERE agent IN (SELECT id FROM agent WHERE task = ?1) AND result_seq IS NULL
                           UNION SELECT command FROM event WHERE task IS ?1 ORDER BY 1";
                let mut statement = connection.prepare_cached(sql).expect("prepared");
                assert_eq!(statement.query_map([task], |row| row.get::<_, String>(0)).expect("asked").count(), 0);
                assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "for {task}");
            }
        }
    }
}
