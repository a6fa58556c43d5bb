//! Removing a Task and everything kept for it, behind tombstones that close its chains.

use super::project::run;
use crate::domain::{Millis, TaskId};
use rusqlite::{Connection, params};

/// The tables that hold something of a Task, in an order that foreign keys allow.
const TABLES: &[&str] = &[
    "DELETE FROM approval WHERE task = ?1",
    "DELETE FROM human_request WHERE task = ?1",
    "DELETE FROM control WHERE task = ?1",
    "DELETE FROM verdict WHERE acceptance_check IN (SELECT id FROM acceptance_check WHERE task = ?1)",
    "DELETE FROM acceptance_check WHERE task = ?1",
    "DELETE FROM decision WHERE task = ?1",
    "DELETE FROM contribution WHERE task = ?1",
    "DELETE FROM assignment WHERE task = ?1",
    "DELETE FROM checkpoint WHERE agent IN (SELECT id FROM agent WHERE task = ?1)",
    "DELETE FROM model_call WHERE agent IN (SELECT id FROM agent WHERE task = ?1)",
    // Calls and rows of context name each other.
    "DELETE FROM trajectory WHERE role = 'tool' AND agent IN (SELECT id FROM agent WHERE task = ?1)",
    "DELETE FROM tool_call WHERE agent IN (SELECT id FROM agent WHERE task = ?1)",
    "DELETE FROM trajectory WHERE agent IN (SELECT id FROM agent WHERE task = ?1)",
    "DELETE FROM message WHERE task = ?1",
    "DELETE FROM engine_intent WHERE resource IN (SELECT id FROM resource WHERE task = ?1)",
    "DELETE FROM resource_view WHERE resource IN (SELECT id FROM resource WHERE task = ?1) OR actor IN (SELECT id FROM agent WHERE task = ?1)",
    "DELETE FROM revision WHERE resource IN (SELECT id FROM resource WHERE task = ?1)",
    "DELETE FROM candidate WHERE resource IN (SELECT id FROM resource WHERE task = ?1)",
    "DELETE FROM resource WHERE task = ?1",
    "DELETE FROM run WHERE task = ?1",
    "DELETE FROM objective_version WHERE task = ?1",
    "DELETE FROM event WHERE task = ?1",
    "DELETE FROM agent WHERE task = ?1",
    "DELETE FROM task WHERE id = ?1",
];

/// Removes a Task. What closes its chains stays.
pub(super) fn remove_task(c: &Connection, task: &TaskId, at: Millis) -> rusqlite::Result<()> {
    let task = task.as_str();
    run(
        c,
        "INSERT INTO tombstone (chain, task, from_seq, through_seq, last_hash, reason, at)
         SELECT 'event:' || ?1, ?1, min(seq), max(seq), (SELECT row_hash FROM event WHERE task = ?1 ORDER BY seq DESC LIMIT 1),
           'removed by the person', ?2 FROM event WHERE task = ?1 HAVING count(*) > 0",
        params![task, at],
    )?;
    run(
        c,
        "INSERT INTO tombstone (chain, task, from_seq, through_seq, last_hash, reason, at)
         SELECT 'trajectory:' || t.agent, ?1, min(t.seq), max(t.seq),
           (SELECT row_hash FROM trajectory l WHERE l.agent = t.agent ORDER BY l.seq DESC LIMIT 1), 'removed by the person', ?2
         FROM trajectory t WHERE t.agent IN (SELECT id FROM agent WHERE task = ?1) GROUP BY t.agent",
        params![task, at],
    )?;
    for sql in TABLES {
        run(c, sql, [task])?;
    }
    super::resources::sweep(c)
}
