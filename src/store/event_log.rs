//! The log of events: appended with the fence and a chain of hashes per Task, read back in order.

use super::hash;
use crate::domain::{Actor, CommandId, EditReceipt, Event, Fence, JobId, MessageId, Receipt, Recorded, Seq, TaskId};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// The columns of an event that its hash covers.
pub(super) struct Columns<'a> {
    pub seq: Seq,
    pub task: Option<&'a str>,
    pub command: &'a str,
    pub actor: &'a str,
    pub fence: Fence,
    pub kind: &'a str,
    pub entity: &'a str,
    pub entity_id: &'a str,
    pub payload: &'a str,
    pub at: i64,
    pub prev_hash: Option<&'a [u8]>,
}

impl Columns<'_> {
    /// The hash over all of them.
    pub fn hash(&self) -> Vec<u8> {
        hash::row(&[
            Some(&self.seq.to_le_bytes()),
            self.task.map(str::as_bytes),
            Some(self.command.as_bytes()),
            Some(self.actor.as_bytes()),
            Some(&self.fence.to_le_bytes()),
            Some(self.kind.as_bytes()),
            Some(self.entity.as_bytes()),
            Some(self.entity_id.as_bytes()),
            Some(self.payload.as_bytes()),
            Some(&self.at.to_le_bytes()),
            self.prev_hash,
        ])
    }
}

/// The last number that was given out, also to events that were removed since.
pub(super) fn last_seq(connection: &Connection) -> rusqlite::Result<Seq> {
    connection
        .prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'event'")?
        .query_row([], |row| row.get(0))
        .optional()
        .map(|seq| seq.unwrap_or(0))
}

/// Appends an event. A stale fence rolls the whole transaction back.
pub(super) fn append(
    connection: &Connection,
    command: &CommandId,
    fence: Fence,
    recorded: &Recorded,
) -> rusqlite::Result<()> {
    let task = recorded.task.as_ref().map(TaskId::as_str);
    let payload =
        serde_json::to_string(&recorded.event).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
    let (entity, entity_id) = recorded.event.entity();
    let prev_hash: Option<Vec<u8>> = connection
        .prepare_cached("SELECT row_hash FROM event WHERE task IS ?1 ORDER BY seq DESC LIMIT 1")?
        .query_row([task], |row| row.get(0))
        .optional()?;
    let columns = Columns {
        seq: recorded.seq,
        task,
        command: command.as_str(),
        actor: &recorded.actor.id,
        fence,
        kind: recorded.event.kind(),
        entity,
        entity_id: &entity_id,
        payload: &payload,
        at: recorded.at,
        prev_hash: prev_hash.as_deref(),
    };
    connection
        .prepare_cached(
            "INSERT INTO event (seq, task, command, actor, fence, kind, entity, entity_id, payload, at, prev_hash, row_hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            columns.seq,
            columns.task,
            columns.command,
            columns.actor,
            columns.fence,
            columns.kind,
            columns.entity,
            columns.entity_id,
            columns.payload,
            columns.at,
            columns.prev_hash,
            columns.hash()
        ])?;
    Ok(())
}

/// Reads an event from `seq, at, task, actor, payload`.
pub(super) fn read(row: &Row) -> rusqlite::Result<Recorded> {
    let payload: String = row.get(4)?;
    let event: Event = serde_json::from_str(&payload)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, e.into()))?;
    Ok(Recorded {
        seq: row.get(0)?,
        at: row.get(1)?,
        task: row.get::<_, Option<String>>(2)?.map(TaskId),
        actor: Actor::of(&row.get::<_, String>(3)?),
        event,
    })
}

/// What the events of one page have together at the most, unless the page is a single event.
pub(super) const PAGE_BYTES: usize = 1024 * 1024;

/// Events after a number, oldest first: at most `limit`, and fewer where they are long, but one.
pub(super) fn after(
    connection: &Connection,
    task: Option<&TaskId>,
    seq: Seq,
    limit: u32,
) -> rusqlite::Result<Vec<Recorded>> {
    match task {
        Some(task) => page(
            connection
                .prepare_cached(
                    "SELECT seq, at, task, actor, payload FROM event WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
                )?
                .query(params![task.as_str(), seq, limit])?,
        ),
        None => page(
            connection
                .prepare_cached("SELECT seq, at, task, actor, payload FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2")?
                .query(params![seq, limit])?,
        ),
    }
}

fn page(mut rows: rusqlite::Rows) -> rusqlite::Result<Vec<Recorded>> {
    let mut page = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        bytes += row.get_ref(4)?.as_bytes()?.len();
        if bytes > PAGE_BYTES && !page.is_empty() {
            break;
        }
        page.push(read(row)?);
    }
    Ok(page)
}

/// What a command gave the first time it came, if it came before.
pub(super) fn receipt_of(connection: &Connection, command: &CommandId) -> rusqlite::Result<Option<Receipt>> {
    let mut statement =
        connection.prepare_cached("SELECT seq, task, kind, entity_id FROM event WHERE command = ?1 ORDER BY seq")?;
    let mut rows = statement.query([command.as_str()])?;
    let mut receipt: Option<Receipt> = None;
    while let Some(row) = rows.next()? {
        let receipt = receipt.get_or_insert(Receipt { seq: 0, task: None, message: None, job: None, edit: None });
        receipt.seq = row.get(0)?;
        if let Some(task) = row.get::<_, Option<String>>(1)? {
            receipt.task = Some(TaskId(task));
        }
        if row.get::<_, String>(2)? == "message_queued" && receipt.message.is_none() {
            receipt.message = Some(MessageId(row.get(3)?));
        }
        if row.get::<_, String>(2)? == "job_created" && receipt.job.is_none() {
            receipt.job = Some(JobId(row.get(3)?));
        }
        let text = |at| row.get::<_, String>(at);
        EditReceipt::take(&mut receipt.edit, &text(2)?, &text(3)?);
    }
    Ok(receipt)
}
