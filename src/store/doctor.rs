//! Looks at every invariant of the store and says what is broken and how to mend it.

use super::blobs::BlobDir;
use super::event_log::Columns;
use super::{project, rows};
use crate::domain::*;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Examines the store; `deep` also recomputes every hash and reads every blob's name.
pub(super) fn examine(c: &Connection, blobs: &BlobDir, deep: bool) -> rusqlite::Result<DoctorReport> {
    let mut report = DoctorReport {
        faults: [view(c, "fsck")?, view(c, "fsck_jobs")?, view(c, "fsck_delegation")?].concat(),
        warnings: view(c, "fsck_warn")?,
        events: count(c, "event")?,
        rows: count(c, "trajectory")?,
        tasks: count(c, "task")?,
    };
    foreign_keys(c, &mut report)?;
    integrity(c, deep, &mut report)?;
    named_blobs(c, blobs, &mut report)?;
    if deep {
        event_hashes(c, &mut report)?;
        row_hashes(c, &mut report)?;
    }
    Ok(report)
}

fn finding(code: &str, entity: &str, id: String, detail: String, hint: &str) -> Finding {
    Finding { code: code.into(), entity: entity.into(), id, detail, hint: hint.into() }
}

const RESTORE: &str = "keep a copy of the state directory; restore this part from a backup, or remove the Task";

fn view(c: &Connection, name: &str) -> rusqlite::Result<Vec<Finding>> {
    c.prepare(&format!("SELECT code, entity, id, detail FROM {name}"))?
        .query_map([], |row| {
            let code: String = row.get(0)?;
            let hint = hint(&code).to_owned();
            Ok(Finding { code, entity: row.get(1)?, id: row.get(2)?, detail: row.get(3)?, hint })
        })?
        .collect()
}

/// What to do about a finding of a view.
fn hint(code: &str) -> &'static str {
    match code {
        "F02" | "F07" | "F16" | "F17" => {
            "start the host once (`cowork ls`): taking over settles what an older owner held"
        }
        "W10" => "answer it: `cowork approvals ls`",
        "W12" => "its log is kept (`cowork jobs logs`); look at what it may have left behind",
        "W11" => "look at what that call may have changed; nothing else is needed",
        _ => RESTORE,
    }
}

fn count(c: &Connection, table: &str) -> rusqlite::Result<u64> {
    c.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))
}

fn foreign_keys(c: &Connection, report: &mut DoctorReport) -> rusqlite::Result<()> {
    let mut statement = c.prepare("PRAGMA foreign_key_check")?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let table: String = row.get(0)?;
        let rowid: Option<i64> = row.get(1)?;
        let parent: String = row.get(2)?;
        let id = rowid.map_or_else(|| "?".into(), |id| id.to_string());
        report.faults.push(finding("F50", &table, id, format!("names a row of {parent} that is not there"), RESTORE));
    }
    Ok(())
}

fn integrity(c: &Connection, deep: bool, report: &mut DoctorReport) -> rusqlite::Result<()> {
    let pragma = if deep { "PRAGMA integrity_check(20)" } else { "PRAGMA quick_check(20)" };
    let mut statement = c.prepare(pragma)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let text: String = row.get(0)?;
        if text != "ok" {
            report.faults.push(finding("F51", "file", "cowork.db".into(), text, RESTORE));
        }
    }
    Ok(())
}

fn event_hashes(c: &Connection, report: &mut DoctorReport) -> rusqlite::Result<()> {
    let mut statement = c.prepare(
        "SELECT seq, task, command, actor, fence, kind, entity, entity_id, payload, at, prev_hash, row_hash FROM event",
    )?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let columns = Columns {
            seq: row.get(0)?,
            task: row.get_ref(1)?.as_str_or_null()?,
            command: row.get_ref(2)?.as_str()?,
            actor: row.get_ref(3)?.as_str()?,
            fence: row.get(4)?,
            kind: row.get_ref(5)?.as_str()?,
            entity: row.get_ref(6)?.as_str()?,
            entity_id: row.get_ref(7)?.as_str()?,
            payload: row.get_ref(8)?.as_str()?,
            at: row.get(9)?,
            prev_hash: row.get_ref(10)?.as_blob_or_null()?,
        };
        if columns.hash() != row.get_ref(11)?.as_blob()? {
            let detail = "differs from what was recorded".to_owned();
            report.faults.push(finding("F52", "event", columns.seq.to_string(), detail, RESTORE));
        }
    }
    Ok(())
}

fn row_hashes(c: &Connection, report: &mut DoctorReport) -> rusqlite::Result<()> {
    let mut statement =
        c.prepare(&format!("SELECT {}, agent, prev_hash, row_hash, body FROM trajectory", rows::CONTEXT_ROW))?;
    let mut found = statement.query([])?;
    while let Some(sql_row) = found.next()? {
        let row = rows::context_row(sql_row)?;
        let agent = AgentId(sql_row.get(9)?);
        let prev_hash: Option<Vec<u8>> = sql_row.get(10)?;
        let kept: Vec<u8> = sql_row.get(11)?;
        let body: String = sql_row.get(12)?;
        if project::row_hash(&agent, &row, &body, prev_hash.as_deref()) != kept {
            let detail = "differs from what was saved".to_owned();
            report.faults.push(finding("F52", "trajectory", format!("{agent}:{}", row.seq), detail, RESTORE));
        }
    }
    Ok(())
}

/// Every blob that a row of context names must be there.
fn named_blobs(c: &Connection, blobs: &BlobDir, report: &mut DoctorReport) -> rusqlite::Result<()> {
    let mut statement = c.prepare(
        "SELECT DISTINCT json_extract(part.value, '$.blob') FROM trajectory, json_each(trajectory.body) part
         WHERE json_extract(part.value, '$.type') = 'image'",
    )?;
    let named: BTreeSet<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for name in named {
        if !blobs.path(&name).is_some_and(|path| path.exists()) {
            report.faults.push(finding("F53", "blob", name, "a row names it, the file is not there".into(), RESTORE));
        }
    }
    Ok(())
}
