//! Saves what can be read of a damaged file into a new one, and keeps the damaged one.
//!
//! Only `cowork doctor --repair` calls it, holding the host lock. Nothing is thrown away: the old
//! file stays beside the new one under another name.

use super::error::StoreError;
use super::open;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};
use std::path::{Path, PathBuf};

/// What was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Where the damaged file is kept.
    pub kept: PathBuf,
    /// Rows saved, by table.
    pub rows: Vec<(String, u64)>,
    /// Tables of which some part could not be read.
    pub lost: Vec<String>,
}

/// Rebuilds `cowork.db` of a state directory. `stamp` names the copy that is kept.
pub fn repair(home: &Path, stamp: &str) -> Result<Repaired, StoreError> {
    let path = home.join("cowork.db");
    let fresh_path = home.join("cowork.db.repaired");
    let old = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let tables = table_names(&old).map_err(|error| StoreError::Damaged {
        path: path.clone(),
        detail: format!("not even its list of tables can be read ({error}); restore a backup"),
    })?;

    let _ = std::fs::remove_file(&fresh_path);
    let fresh = open::bare(&fresh_path)?;
    let (mut rows, mut lost) = (Vec::new(), Vec::new());
    fresh.execute_batch("PRAGMA foreign_keys=OFF; BEGIN")?;
    let guards = take_guards(&fresh)?;
    for table in tables.iter().filter(|table| has_table(&fresh, table)) {
        let (saved, whole) = copy(&old, &fresh, table)?;
        rows.push((table.clone(), saved));
        if !whole {
            lost.push(table.clone());
        }
    }
    for guard in guards {
        fresh.execute_batch(&guard)?;
    }
    fresh.execute_batch("COMMIT")?;
    drop(fresh);
    drop(old);

    let kept = home.join(format!("cowork.db.damaged-{stamp}"));
    for suffix in ["", "-wal", "-shm"] {
        let from = with_suffix(&path, suffix);
        if from.exists() {
            std::fs::rename(&from, with_suffix(&kept, suffix)).map_err(|e| StoreError::io("move away", &from, e))?;
        }
    }
    std::fs::rename(&fresh_path, &path).map_err(|e| StoreError::io("put in place", &fresh_path, e))?;
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(with_suffix(&fresh_path, suffix));
    }
    Ok(Repaired { kept, rows, lost })
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn table_names(c: &Connection) -> rusqlite::Result<Vec<String>> {
    c.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn has_table(c: &Connection, table: &str) -> bool {
    c.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")
        .and_then(|mut statement| statement.exists([table]))
        .unwrap_or(false)
}

/// Takes the triggers off while rows come in that they would refuse; gives back how to set them.
fn take_guards(c: &Connection) -> rusqlite::Result<Vec<String>> {
    let found: Vec<(String, String)> = c
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (name, _) in &found {
        c.execute_batch(&format!("DROP TRIGGER {name}"))?;
    }
    Ok(found.into_iter().map(|(_, sql)| sql).collect())
}

/// Copies what can be read of one table, from its beginning and, past a damage, from its end.
fn copy(old: &Connection, fresh: &Connection, table: &str) -> rusqlite::Result<(u64, bool)> {
    let mut saved = 0;
    let mut whole = true;
    for order in ["ASC", "DESC"] {
        match copy_in_order(old, fresh, table, order) {
            Ok((more, true)) => return Ok((saved + more, whole)),
            Ok((more, false)) => saved += more,
            Err(error) => return Err(error),
        }
        whole = false;
    }
    Ok((saved, whole))
}

/// Copies rows in one order until the end or until one can't be read.
fn copy_in_order(old: &Connection, fresh: &Connection, table: &str, order: &str) -> rusqlite::Result<(u64, bool)> {
    let Ok(mut statement) = old.prepare(&format!("SELECT * FROM {table} ORDER BY 1 {order}")) else {
        return Ok((0, false));
    };
    let columns = statement.column_count();
    let insert = format!("INSERT OR IGNORE INTO {table} VALUES ({})", vec!["?"; columns].join(", "));
    let mut rows = statement.query([])?;
    let mut saved = 0;
    loop {
        let values: Vec<Value> = match rows.next() {
            Ok(Some(row)) => (0..columns).map(|i| row.get(i)).collect::<rusqlite::Result<_>>()?,
            Ok(None) => return Ok((saved, true)),
            Err(_) => return Ok((saved, false)),
        };
        saved += fresh.prepare_cached(&insert)?.execute(params_from_iter(values))? as u64;
    }
}
