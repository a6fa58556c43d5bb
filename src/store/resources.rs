//! Resources in the database: rows from events, records from rows, contents by their hash.
//!
//! The pieces of a content come beside the command that names it and are written in its
//! transaction: a revision and its content are on disk together or not at all.

use super::load::map;
use super::project::{json, know, run};
use super::rows::{actor, json as read_json, optional_actor, optional_json, word};
use crate::domain::*;
use rusqlite::{Connection, OptionalExtension, Row as SqlRow, params};
use std::collections::BTreeMap;

/// What a command brings that is kept by its hash.
#[derive(Debug, Clone, Default)]
pub struct Bulk {
    /// Pieces of contents by their SHA-256 in hex.
    pub chunks: Vec<(String, Vec<u8>)>,
    /// Lists of pieces.
    pub contents: Vec<ContentRow>,
}

/// A content as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct ContentRow {
    /// Names the whole list.
    pub sha256: String,
    /// The list it differs from.
    pub base: Option<String>,
    /// How many bases are under it.
    pub depth: u8,
    /// What differs, as JSON.
    pub parts: String,
}

/// Writes what a command brings, unless it is there.
pub(super) fn write(c: &Connection, bulk: &Bulk) -> rusqlite::Result<()> {
    for (sha256, bytes) in &bulk.chunks {
        run(c, "INSERT INTO chunk (sha256, bytes) VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![sha256, bytes])?;
    }
    for row in &bulk.contents {
        run(
            c,
            "INSERT INTO content (sha256, base, depth, parts) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
            params![row.sha256, row.base, row.depth, row.parts],
        )?;
    }
    Ok(())
}

/// The rows of a content, the one that stands alone first; none where there is no such content.
pub(super) fn content(c: &Connection, sha256: &str) -> rusqlite::Result<Vec<ContentRow>> {
    let sql = "WITH RECURSIVE under (sha256, base, depth, parts) AS (
                 SELECT sha256, base, depth, parts FROM content WHERE sha256 = ?1
                 UNION ALL SELECT t.sha256, t.base, t.depth, t.parts FROM content t JOIN under u ON t.sha256 = u.base)
               SELECT sha256, base, depth, parts FROM under ORDER BY depth";
    c.prepare_cached(sql)?
        .query_map([sha256], |row| {
            Ok(ContentRow { sha256: row.get(0)?, base: row.get(1)?, depth: row.get(2)?, parts: row.get(3)? })
        })?
        .collect()
}

/// The bytes of a piece.
pub(super) fn chunk(c: &Connection, sha256: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    c.prepare_cached("SELECT bytes FROM chunk WHERE sha256 = ?1")?.query_row([sha256], |row| row.get(0)).optional()
}

/// Takes away the contents, pieces and authors that nothing names any more.
pub(super) fn sweep(c: &Connection) -> rusqlite::Result<()> {
    let named = "WITH RECURSIVE named (sha256) AS (
                   SELECT content FROM revision UNION SELECT content FROM candidate
                   UNION SELECT t.base FROM content t JOIN named n ON t.sha256 = n.sha256 WHERE t.base IS NOT NULL)";
    let dead: Vec<String> = c
        .prepare(&format!(
            "{named} SELECT sha256 FROM content WHERE sha256 NOT IN (SELECT sha256 FROM named) ORDER BY depth DESC"
        ))?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for sha256 in dead {
        run(c, "DELETE FROM content WHERE sha256 = ?1", [sha256])?;
    }
    run(
        c,
        "DELETE FROM chunk WHERE sha256 NOT IN (
           SELECT part.value ->> '$.entry.blob' FROM content t, json_each(t.parts) part
           WHERE part.value ->> '$.entry.blob' IS NOT NULL)",
        [],
    )?;
    // What an agent wrote in Resources that are not its Task's stays, and stays its own.
    let authors = "DELETE FROM actor WHERE kind = 'agent' AND id NOT IN (SELECT id FROM agent)
                     AND id NOT IN (SELECT actor FROM author)";
    run(c, authors, [])
}

pub(super) const RESOURCE: &str =
    "id, kind, name, task, mirror, revision, created_at, updated_at, updated_by, in_file, trouble";

pub(super) fn resource(row: &SqlRow) -> rusqlite::Result<Resource> {
    Ok(Resource {
        id: ResourceId(row.get(0)?),
        kind: row.get(1)?,
        name: row.get(2)?,
        task: row.get::<_, Option<String>>(3)?.map(TaskId),
        mirror: row.get(4)?,
        revision: row.get(5)?,
        created_at: row.get(6)?,
        updated_at: row.get(7)?,
        updated_by: actor(row, 8)?,
        in_file: row.get(9)?,
        trouble: row.get(10)?,
    })
}

fn made(row: &SqlRow, from: usize) -> rusqlite::Result<Made> {
    Ok(Made {
        content: row.get(from)?,
        size: row.get(from + 1)?,
        summary: row.get(from + 2)?,
        digest: read_json(row, from + 3)?,
    })
}

pub(super) const REVISION: &str =
    "resource, number, base, content, size, summary, digest, actor, accepted_by, candidate, at";

pub(super) fn revision(row: &SqlRow) -> rusqlite::Result<Revision> {
    Ok(Revision {
        resource: ResourceId(row.get(0)?),
        number: row.get(1)?,
        base: row.get(2)?,
        made: made(row, 3)?,
        actor: actor(row, 7)?,
        accepted_by: optional_actor(row, 8)?,
        candidate: row.get::<_, Option<String>>(9)?.map(CandidateId),
        at: row.get(10)?,
    })
}

pub(super) const CANDIDATE: &str =
    "id, resource, base, content, size, summary, digest, actor, state, because, settled_by, revision, rebased_to, at";

pub(super) fn candidate(row: &SqlRow) -> rusqlite::Result<Candidate> {
    Ok(Candidate {
        id: CandidateId(row.get(0)?),
        resource: ResourceId(row.get(1)?),
        base: row.get(2)?,
        made: made(row, 3)?,
        actor: actor(row, 7)?,
        state: word(row, 8)?,
        because: row.get(9)?,
        settled_by: optional_actor(row, 10)?,
        revision: row.get(11)?,
        rebased_to: row.get::<_, Option<String>>(12)?.map(CandidateId),
        at: row.get(13)?,
    })
}

pub(super) const VIEW: &str = "actor, resource, seen, selection";

pub(super) fn view(row: &SqlRow) -> rusqlite::Result<ResourceView> {
    Ok(ResourceView {
        actor: actor(row, 0)?,
        resource: ResourceId(row.get(1)?),
        seen: row.get(2)?,
        selection: optional_json(row, 3)?,
    })
}

pub(super) const INTENT: &str = "id, resource, base, actor, operation, request, state, outcome, at";

pub(super) fn intent(row: &SqlRow) -> rusqlite::Result<EngineIntent> {
    Ok(EngineIntent {
        id: EngineIntentId(row.get(0)?),
        resource: ResourceId(row.get(1)?),
        base: row.get(2)?,
        actor: actor(row, 3)?,
        operation: read_json(row, 4)?,
        request: read_json(row, 5)?,
        state: word(row, 6)?,
        outcome: optional_json(row, 7)?,
        at: row.get(8)?,
    })
}

/// Changes the rows that an event about Resources is about.
pub(super) fn project(c: &Connection, recorded: &Recorded) -> rusqlite::Result<()> {
    let at = recorded.at;
    match &recorded.event {
        Event::ResourceCreated { resource, first } => {
            know(c, &resource.updated_by, at)?;
            run(
                c,
                "INSERT INTO resource (id, kind, name, task, mirror, revision, created_at, updated_at, updated_by)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    resource.id.as_str(),
                    resource.kind,
                    resource.name,
                    resource.task.as_ref().map(TaskId::as_str),
                    resource.mirror,
                    resource.revision,
                    resource.created_at,
                    resource.updated_at,
                    resource.updated_by.id
                ],
            )?;
            insert_revision(c, first)
        }
        Event::RevisionCommitted { revision } => {
            know(c, &revision.actor, at)?;
            insert_revision(c, revision)?;
            run(
                c,
                "UPDATE resource SET revision = ?2, updated_at = ?3, updated_by = ?4 WHERE id = ?1",
                params![revision.resource.as_str(), revision.number, at, revision.actor.id],
            )
        }
        Event::CandidateKept { candidate } => {
            know(c, &candidate.actor, at)?;
            let made = &candidate.made;
            run(
                c,
                "INSERT INTO candidate (id, resource, base, content, size, summary, digest, actor, state, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    candidate.id.as_str(),
                    candidate.resource.as_str(),
                    candidate.base,
                    made.content,
                    made.size,
                    made.summary,
                    json(&made.digest)?,
                    candidate.actor.id,
                    candidate.state.as_str(),
                    candidate.at
                ],
            )
        }
        Event::CandidateRevised { candidate, made } => run(
            c,
            "UPDATE candidate SET content = ?2, size = ?3, summary = ?4, digest = ?5 WHERE id = ?1",
            params![candidate.as_str(), made.content, made.size, made.summary, json(&made.digest)?],
        ),
        Event::CandidateMoved { candidate, state, because, revision, rebased_to } => run(
            c,
            "UPDATE candidate SET state = ?2, because = ?3, revision = ?4, rebased_to = ?5, settled_by = ?6 WHERE id = ?1",
            params![
                candidate.as_str(),
                state.as_str(),
                because,
                revision,
                rebased_to.as_ref().map(CandidateId::as_str),
                (!state.is_open()).then_some(&recorded.actor.id)
            ],
        ),
        Event::ResourceRenamed { resource, name } => {
            run(c, "UPDATE resource SET name = ?2 WHERE id = ?1", params![resource.as_str(), name])
        }
        Event::ResourceMirrored { resource, mirror } => run(
            c,
            "UPDATE resource SET mirror = ?2, in_file = NULL, trouble = NULL WHERE id = ?1",
            params![resource.as_str(), mirror],
        ),
        Event::MirrorLooked { resource, revision, trouble } => run(
            c,
            "UPDATE resource SET in_file = ?2, trouble = ?3 WHERE id = ?1",
            params![resource.as_str(), revision, trouble],
        ),
        Event::ResourceSeen { by, resource, revision } => {
            know(c, by, at)?;
            run(
                c,
                "INSERT INTO resource_view (actor, resource, seen) SELECT ?1, id, ?3 FROM resource WHERE id = ?2
                 ON CONFLICT DO UPDATE SET seen = excluded.seen",
                params![by.id, resource.as_str(), revision],
            )
        }
        Event::ResourceSelected { resource, selection } => {
            let selection = selection.as_ref().map(json).transpose()?;
            run(
                c,
                "INSERT INTO resource_view (actor, resource, seen, selection) SELECT ?1, id, 0, ?3 FROM resource WHERE id = ?2
                 ON CONFLICT DO UPDATE SET selection = excluded.selection",
                params![recorded.actor.id, resource.as_str(), selection],
            )
        }
        Event::ResourceRemoved { resource, .. } => remove(c, "id = ?1", resource.as_str()),
        Event::EngineAsked { intent } => {
            know(c, &intent.actor, at)?;
            run(
                c,
                "INSERT INTO engine_intent (id, resource, base, actor, operation, request, state, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params![
                    intent.id.as_str(),
                    intent.resource.as_str(),
                    intent.base,
                    intent.actor.id,
                    json(&intent.operation)?,
                    json(&intent.request)?,
                    intent.state.as_str(),
                    intent.at
                ],
            )
        }
        Event::EngineAnswered { intent, state, outcome } => run(
            c,
            "UPDATE engine_intent SET state = ?2, outcome = ?3 WHERE id = ?1",
            params![intent.as_str(), state.as_str(), json(outcome)?],
        ),
        _ => Ok(()),
    }
}

fn insert_revision(c: &Connection, revision: &Revision) -> rusqlite::Result<()> {
    let made = &revision.made;
    run(
        c,
        "INSERT INTO revision (resource, number, base, content, size, summary, digest, actor, accepted_by, candidate, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            revision.resource.as_str(),
            revision.number,
            revision.base,
            made.content,
            made.size,
            made.summary,
            json(&made.digest)?,
            revision.actor.id,
            revision.accepted_by.as_ref().map(|actor| &actor.id),
            revision.candidate.as_ref().map(CandidateId::as_str),
            revision.at
        ],
    )
}

/// Takes Resources away with everything that is kept of them.
pub(super) fn remove(c: &Connection, which: &str, value: &str) -> rusqlite::Result<()> {
    let of = format!("resource IN (SELECT id FROM resource WHERE {which})");
    for table in ["engine_intent", "resource_view", "revision", "candidate"] {
        run(c, &format!("DELETE FROM {table} WHERE {of}"), [value])?;
    }
    run(c, &format!("DELETE FROM resource WHERE {which}"), [value])?;
    sweep(c)
}

/// Adds to a snapshot what deciding on a Task's turns needs: what its agents know, the revisions they
/// don't, and what a person has selected there.
pub(super) fn add_known(c: &Connection, task: &TaskId, s: &mut Snapshot) -> rusqlite::Result<()> {
    let of = "SELECT w.resource FROM resource_view w JOIN agent g ON g.id = w.actor WHERE g.task = ?1";
    let one = [task.as_str()];
    let found = map(c, RESOURCE, "resource", &format!("id IN ({of})"), one, resource, |r| r.id.clone())?;
    if found.is_empty() {
        return Ok(());
    }
    s.resources.extend(found);
    let views =
        format!("resource IN ({of}) AND (selection IS NOT NULL OR actor IN (SELECT id FROM agent WHERE task = ?1))");
    s.resource_views
        .extend(map(c, VIEW, "resource_view", &views, one, view, |w| (w.actor.clone(), w.resource.clone()))?);
    add_unseen(c, s)
}

/// The most revisions that are looked at for telling what is new.
const UNSEEN: i64 = 200;

/// Adds the revisions that some agent in the snapshot does not know.
fn add_unseen(c: &Connection, s: &mut Snapshot) -> rusqlite::Result<()> {
    let mut from: BTreeMap<ResourceId, u64> = BTreeMap::new();
    for view in s.resource_views.values().filter(|view| view.actor.kind == ActorKind::Agent) {
        let least = from.entry(view.resource.clone()).or_insert(view.seen);
        *least = view.seen.min(*least);
    }
    for (id, seen) in from {
        let Some(newest) = s.resources.get(&id).map(|resource| resource.revision).filter(|newest| *newest > seen)
        else {
            continue;
        };
        let after = seen.max(newest.saturating_sub(UNSEEN as u64));
        let found = map(
            c,
            REVISION,
            "revision",
            "resource = ?1 AND number > ?2",
            params![id.as_str(), after],
            revision,
            |v| (v.resource.clone(), v.number),
        )?;
        s.revisions.extend(found);
    }
    Ok(())
}

/// The Tasks whose agents know a Resource.
pub(super) fn tasks_of(c: &Connection, id: &ResourceId) -> rusqlite::Result<Vec<TaskId>> {
    c.prepare_cached(
        "SELECT DISTINCT g.task FROM resource_view w JOIN agent g ON g.id = w.actor WHERE w.resource = ?1 AND g.retired_at IS NULL",
    )?
    .query_map([id.as_str()], |row| row.get(0).map(TaskId))?
    .collect()
}

/// The Task that a Resource belongs to.
pub(super) fn task_of(c: &Connection, id: &ResourceId) -> rusqlite::Result<Option<TaskId>> {
    c.prepare_cached("SELECT task FROM resource WHERE id = ?1")?
        .query_row([id.as_str()], |row| row.get::<_, Option<String>>(0))
        .optional()
        .map(|task| task.flatten().map(TaskId))
}

/// Adds what is proposed for the Resources of a Task and not decided, with these.
pub(super) fn add_open(c: &Connection, task: &TaskId, s: &mut Snapshot) -> rusqlite::Result<()> {
    let task = [task.as_str()];
    let open = "settled_by IS NULL AND resource IN (SELECT id FROM resource WHERE task = ?1)";
    let found = map(c, CANDIDATE, "candidate", open, task, candidate, |x| x.id.clone())?;
    if !found.is_empty() {
        s.candidates.extend(found);
        s.resources.extend(map(c, RESOURCE, "resource", "task = ?1", task, resource, |r| r.id.clone())?);
    }
    Ok(())
}

/// The Resource that a deed is about.
pub(super) fn named<C>(c: &Connection, deed: &ResourceDeed<C>) -> rusqlite::Result<Option<ResourceId>> {
    let (table, id) = match (deed.resource(), deed.candidate(), deed) {
        (Some(resource), _, _) => return Ok(Some(resource.clone())),
        (None, Some(candidate), _) => ("candidate", candidate.as_str()),
        (None, None, ResourceDeed::Conclude { intent, .. }) => ("engine_intent", intent.as_str()),
        (None, None, _) => return Ok(None),
    };
    c.prepare_cached(&format!("SELECT resource FROM {table} WHERE id = ?1"))?
        .query_row([id], |row| row.get(0).map(ResourceId))
        .optional()
}

/// Adds a Resource with what is open of it: the revision that stands, open Candidates and the one that
/// is named, intents, and everybody who knows it.
pub(super) fn add_one<C>(
    c: &Connection,
    id: &ResourceId,
    deed: &ResourceDeed<C>,
    s: &mut Snapshot,
) -> rusqlite::Result<()> {
    let one = [id.as_str()];
    s.resources.extend(map(c, RESOURCE, "resource", "id = ?1", one, resource, |r| r.id.clone())?);
    let newest = "resource = ?1 AND number = (SELECT revision FROM resource WHERE id = ?1)";
    s.revisions.extend(map(c, REVISION, "revision", newest, one, revision, |v| (v.resource.clone(), v.number))?);
    let open = "resource = ?1 AND settled_by IS NULL";
    s.candidates.extend(map(c, CANDIDATE, "candidate", open, one, candidate, |x| x.id.clone())?);
    if let Some(named) = deed.candidate() {
        let named = [named.as_str()];
        s.candidates.extend(map(c, CANDIDATE, "candidate", "id = ?1", named, candidate, |x| x.id.clone())?);
    }
    if let ResourceDeed::Conclude { intent: named, .. } = deed {
        let named = [named.as_str()];
        s.engine_intents.extend(map(c, INTENT, "engine_intent", "id = ?1", named, intent, |i| i.id.clone())?);
    }
    s.resource_views
        .extend(map(c, VIEW, "resource_view", "resource = ?1", one, view, |w| (w.actor.clone(), w.resource.clone()))?);
    add_unseen(c, s)
}

/// Adds the Resources that a new name or mirror could meet.
pub(super) fn add_neighbours<C>(c: &Connection, deed: &ResourceDeed<C>, s: &mut Snapshot) -> rusqlite::Result<()> {
    let (name, mirror) = match deed {
        ResourceDeed::Create { name, mirror, .. } => (Some(name.trim()), mirror.as_deref()),
        ResourceDeed::Rename { name, .. } => (Some(name.trim()), None),
        ResourceDeed::Mirror { mirror, .. } => (None, mirror.as_deref()),
        _ => return Ok(()),
    };
    let alike = params![name, mirror];
    s.resources.extend(map(c, RESOURCE, "resource", "name = ?1 OR mirror = ?2", alike, resource, |r| r.id.clone())?);
    Ok(())
}

/// Adds the intents that were being carried out.
pub(super) fn add_in_flight(c: &Connection, s: &mut Snapshot) -> rusqlite::Result<()> {
    s.engine_intents.extend(map(c, INTENT, "engine_intent", "state = 'intent'", [], intent, |i| i.id.clone())?);
    let of = "id IN (SELECT resource FROM engine_intent WHERE state = 'intent')";
    s.resources.extend(map(c, RESOURCE, "resource", of, [], resource, |r| r.id.clone())?);
    Ok(())
}

/// Everything there is.
#[cfg(test)]
pub(super) fn add_everything(c: &Connection, s: &mut Snapshot) -> rusqlite::Result<()> {
    s.resources = map(c, RESOURCE, "resource", "TRUE", [], resource, |r| r.id.clone())?;
    s.revisions = map(c, REVISION, "revision", "TRUE", [], revision, |v| (v.resource.clone(), v.number))?;
    s.candidates = map(c, CANDIDATE, "candidate", "TRUE", [], candidate, |x| x.id.clone())?;
    s.resource_views = map(c, VIEW, "resource_view", "TRUE", [], view, |w| (w.actor.clone(), w.resource.clone()))?;
    s.engine_intents = map(c, INTENT, "engine_intent", "TRUE", [], intent, |i| i.id.clone())?;
    Ok(())
}

/// Resources, the newest change first.
pub(super) fn list(c: &Connection, task: Option<&TaskId>) -> rusqlite::Result<Vec<Resource>> {
    let scope = if task.is_some() { "task = ?1 OR task IS NULL" } else { "?1 IS NULL" };
    let sql = format!("SELECT {RESOURCE} FROM resource WHERE {scope} ORDER BY updated_at DESC, id");
    c.prepare_cached(&sql)?.query_map([task.map(TaskId::as_str)], resource)?.collect()
}

/// One Resource.
pub(super) fn one(c: &Connection, id: &ResourceId) -> rusqlite::Result<Option<Resource>> {
    let sql = format!("SELECT {RESOURCE} FROM resource WHERE id = ?1");
    c.prepare_cached(&sql)?.query_row([id.as_str()], resource).optional()
}

/// One revision; the one that stands where none is named.
pub(super) fn one_revision(c: &Connection, id: &ResourceId, number: Option<u64>) -> rusqlite::Result<Option<Revision>> {
    let sql = format!(
        "SELECT {REVISION} FROM revision WHERE resource = ?1 AND number = coalesce(?2, (SELECT revision FROM resource WHERE id = ?1))"
    );
    c.prepare_cached(&sql)?.query_row(params![id.as_str(), number], revision).optional()
}

/// Revisions before one, the newest first.
pub(super) fn revisions(
    c: &Connection,
    id: &ResourceId,
    before: Option<u64>,
    limit: u32,
) -> rusqlite::Result<Vec<Revision>> {
    let sql =
        format!("SELECT {REVISION} FROM revision WHERE resource = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3");
    let before = before.map_or(i64::MAX, |number| number as i64);
    c.prepare_cached(&sql)?.query_map(params![id.as_str(), before, limit.min(1000)], revision)?.collect()
}

/// Candidates, the newest first.
pub(super) fn candidates(c: &Connection, id: Option<&ResourceId>, open: bool) -> rusqlite::Result<Vec<Candidate>> {
    let scope = if id.is_some() { "resource = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "SELECT {CANDIDATE} FROM candidate WHERE {scope} AND (settled_by IS NULL OR NOT ?2) ORDER BY at DESC, rowid DESC LIMIT 1000"
    );
    c.prepare_cached(&sql)?.query_map(params![id.map(ResourceId::as_str), open], candidate)?.collect()
}

/// One Candidate.
pub(super) fn one_candidate(c: &Connection, id: &CandidateId) -> rusqlite::Result<Option<Candidate>> {
    let sql = format!("SELECT {CANDIDATE} FROM candidate WHERE id = ?1");
    c.prepare_cached(&sql)?.query_row([id.as_str()], candidate).optional()
}

/// Somebody who was at work at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct AtWork {
    /// Who.
    pub actor: Actor,
    /// In which folder.
    pub folder: String,
    /// The content it said it would leave, by its SHA-256; absent where it may write anything.
    pub leaves: Option<String>,
}

/// How far the clock of a file system may be behind ours, in milliseconds.
const CLOCK: Millis = 20;

fn at_work(c: &Connection, at: Millis) -> rusqlite::Result<Vec<AtWork>> {
    let sql =
        "SELECT r.agent, t.cwd, c.post_hash FROM tool_call c JOIN run r ON r.id = c.run JOIN task t ON t.id = r.task
               WHERE c.started_at <= ?1 + ?2 AND coalesce(c.ended_at, ?1) >= ?1 - ?2
                 AND (c.post_hash IS NOT NULL OR c.name = 'shell') AND t.cwd IS NOT NULL
               UNION ALL
               SELECT id, cwd, NULL FROM job
               WHERE created_at <= ?1 + ?2 AND coalesce(ended_at, ?1) >= ?1 - ?2 AND role = 'work'";
    c.prepare_cached(sql)?
        .query_map([at, CLOCK], |row| {
            Ok(AtWork { actor: Actor::of(&row.get::<_, String>(0)?), folder: row.get(1)?, leaves: row.get(2)? })
        })?
        .collect()
}

/// Says that there is no such Resource.
pub(super) fn no_such(id: &ResourceId) -> Rejection {
    Rejection::not_found(format!("Resource {id}"), "`cowork resources ls` lists them")
}

/// Says that there is no such Candidate.
pub(super) fn no_such_candidate(id: &CandidateId) -> Rejection {
    Rejection::not_found(format!("Candidate {id}"), "`cowork resources candidates` lists them")
}

/// Gives the bytes of a piece by its hash, where it is kept.
pub type Pieces<'a> = &'a dyn Fn(&str) -> rusqlite::Result<Option<Vec<u8>>>;

/// What whoever makes contents needs. Each blocks for as long as SQLite reads.
impl super::Store {
    /// One Resource.
    pub fn resource(&self, id: &ResourceId) -> Result<Resource, Rejection> {
        self.readers.with(|c| one(c, id))?.ok_or_else(|| no_such(id))
    }

    /// The Resources that are tied to a file.
    pub fn mirrored(&self) -> Result<Vec<Resource>, Rejection> {
        self.readers.with(|c| {
            let sql = format!("SELECT {RESOURCE} FROM resource WHERE mirror IS NOT NULL");
            c.prepare_cached(&sql)?.query_map([], resource)?.collect()
        })
    }

    /// Who was at work with files at a moment: what may have written them.
    pub fn at_work(&self, at: Millis) -> Result<Vec<AtWork>, Rejection> {
        self.readers.with(|c| at_work(c, at))
    }

    /// One revision; the one that stands where no number is given.
    pub fn revision(&self, id: &ResourceId, number: Option<u64>) -> Result<Revision, Rejection> {
        let missing = || match number {
            Some(number) => {
                let hint = format!("`cowork resources history {id}` lists them");
                Rejection::not_found(format!("revision {number} of {id}"), hint)
            }
            None => no_such(id),
        };
        self.readers.with(|c| one_revision(c, id, number))?.ok_or_else(missing)
    }

    /// Revisions before one, the newest first.
    pub fn revisions(&self, id: &ResourceId, before: Option<u64>, limit: u32) -> Result<Vec<Revision>, Rejection> {
        self.readers.with(|c| revisions(c, id, before, limit))
    }

    /// One Candidate.
    pub fn candidate(&self, id: &CandidateId) -> Result<Candidate, Rejection> {
        self.readers.with(|c| one_candidate(c, id))?.ok_or_else(|| no_such_candidate(id))
    }

    /// What is proposed for a Resource, the newest first.
    pub fn open_candidates(&self, id: &ResourceId) -> Result<Vec<Candidate>, Rejection> {
        self.readers.with(|c| candidates(c, Some(id), true))
    }

    /// An edit that an engine was asked for.
    pub fn engine_intent(&self, id: &EngineIntentId) -> Result<EngineIntent, Rejection> {
        let found = self
            .readers
            .with(|c| map(c, INTENT, "engine_intent", "id = ?1", [id.as_str()], intent, |i| i.id.clone()))?;
        found.into_values().next().ok_or_else(|| Rejection::not_found(format!("intent {id}"), ""))
    }

    /// The edits of which nobody knows how far their engine came, the oldest first.
    pub fn uncertain_intents(&self) -> Result<Vec<EngineIntent>, Rejection> {
        let state = "state = 'uncertain'";
        let found =
            self.readers.with(|c| map(c, INTENT, "engine_intent", state, [], intent, |i| (i.at, i.id.clone())))?;
        Ok(found.into_values().collect())
    }

    /// The rows of a content, the one that stands alone first.
    pub fn content(&self, sha256: &str) -> Result<Vec<ContentRow>, Rejection> {
        self.readers.with(|c| content(c, sha256))
    }

    /// Lends the way to the pieces of contents.
    pub fn with_pieces<T>(&self, read: impl FnOnce(Pieces) -> T) -> Result<T, Rejection> {
        self.readers.with(|c| Ok(read(&|sha256| chunk(c, sha256))))
    }
}
