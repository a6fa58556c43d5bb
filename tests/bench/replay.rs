//! The commits of a Task once more, by SQLite alone: the same rows into the same tables with their
//! indexes, checks and triggers, as many commits, on the same disk; nothing is decided, asked or told.

use super::sample::Sample;
use rusqlite::{Connection, Transaction};
use std::path::Path;
use std::time::Instant;

/// The tables to which turns add rows, each in the order in which they came.
const GROWING: [&str; 5] = ["event", "trajectory", "model_call", "tool_call", "checkpoint"];

/// What begins a commit of a turn with a call that only looks.
const BEGINS: [&str; 2] = ["turn_committed", "tool_started"];

/// Does them again in `folder`; each is one run of the sample.
pub fn commits_again(folder: &Path, of: &Path) -> Sample {
    let path = folder.join("again.db");
    // The one of the round before.
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", path.display()));
    }
    let mut database = Connection::open(&path).expect("a database");
    database.set_prepared_statement_cache_capacity(64);
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;";
    database.execute_batch(settings).expect("its settings");
    database.execute("ATTACH ?1 AS done", [of.to_string_lossy()]).expect("what was done");
    let events: Vec<(i64, String)> = database
        .prepare("SELECT seq, kind FROM done.event ORDER BY seq")
        .and_then(|mut events| events.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .expect("its events");
    let begins: Vec<usize> = (0..events.len()).filter(|at| BEGINS.contains(&events[*at].1.as_str())).collect();
    let first = *begins.first().expect("a turn");
    let mut rows = GROWING.map(|table| rows_of(&database, table));
    lay(&database, &events[..first], &mut rows);
    let ends = begins.iter().skip(1).copied().chain([events.len()]);
    let runs = begins.iter().zip(ends).map(|(begin, end)| {
        let events = &events[*begin..end];
        let began = Instant::now();
        let transaction = database.transaction().expect("begun");
        again(&transaction, events, &mut rows);
        transaction.commit().expect("committed");
        began.elapsed()
    });
    Sample::from(runs.collect())
}

/// The numbers of a table's rows that are to be written again.
type Rows = std::vec::IntoIter<i64>;

fn rows_of(database: &Connection, table: &str) -> Rows {
    let mut rows = database.prepare(&format!("SELECT rowid FROM done.{table} ORDER BY rowid")).expect("a table");
    let rows = rows.query_map([], |row| row.get(0)).expect("asked");
    rows.collect::<rusqlite::Result<Vec<i64>>>().expect("read").into_iter()
}

/// Makes the tables, with all there was before the first turn was over.
fn lay(database: &Connection, events: &[(i64, String)], rows: &mut [Rows; GROWING.len()]) {
    let of_kind = |kind: &str| -> Vec<(String, String)> {
        let sql =
            "SELECT name, sql FROM done.sqlite_schema WHERE type = ?1 AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%'";
        let mut found = database.prepare(sql).expect("the schema");
        let rows = found.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?))).expect("asked");
        rows.collect::<rusqlite::Result<_>>().expect("read")
    };
    for (name, sql) in of_kind("table") {
        database.execute_batch(&sql).expect("a table");
        if !GROWING.contains(&name.as_str()) {
            database.execute_batch(&format!("INSERT INTO main.{name} SELECT * FROM done.{name}")).expect("its rows");
        }
    }
    for (_, sql) in of_kind("index").into_iter().chain(of_kind("trigger")) {
        database.execute_batch(&sql).expect("an index or a trigger");
    }
    let transaction = database.unchecked_transaction().expect("begun");
    again(&transaction, events, rows);
    transaction.commit().expect("committed");
}

/// Writes what these events changed: new rows as they ended up, and the rows that were changed.
fn again(transaction: &Transaction, events: &[(i64, String)], rows: &mut [Rows; GROWING.len()]) {
    let run = |sql: &str| {
        transaction.prepare_cached(sql).and_then(|mut statement| statement.execute([])).expect("written again");
    };
    for (_, kind) in events {
        let adds = |table: &str| match table {
            "event" => true,
            "trajectory" => matches!(kind.as_str(), "message_delivered" | "turn_committed" | "tool_settled"),
            "model_call" => kind == "turn_started",
            "tool_call" => kind == "tool_planned",
            _ => kind == "checkpoint_saved",
        };
        for (table, rows) in GROWING.iter().zip(rows.iter_mut()).filter(|(table, _)| adds(table)) {
            let sql = format!("INSERT INTO main.{table} SELECT * FROM done.{table} WHERE rowid = ?1");
            let mut insert = transaction.prepare_cached(&sql).expect("an insert");
            let row = rows.next().expect("as many rows as events that say so");
            assert_eq!(insert.execute([row]).expect("written again"), 1);
        }
        match kind.as_str() {
            "turn_committed" => {
                run(&newest("model_call", "usage = usage || ''"));
                run(&newest("task", "usage = usage || ''"));
                run(&newest("agent", "next_seq = next_seq + 1"));
            }
            "tool_started" => run(&newest("tool_call", "started_at = started_at + 1")),
            "tool_settled" => {
                run(&newest("tool_call", "ended_at = ended_at + 1"));
                run(&newest("agent", "next_seq = next_seq + 1"));
            }
            _ => {}
        }
        run(&newest("task", "updated_at = updated_at + 1"));
    }
}

/// Changes the newest row of a table.
fn newest(table: &str, change: &str) -> String {
    format!("UPDATE main.{table} SET {change} WHERE rowid = (SELECT max(rowid) FROM main.{table})")
}
