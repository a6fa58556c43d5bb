//! Queries, beside the records they answer with. Every answer belongs to one moment.

use super::blobs::BlobDir;
use super::{event_log, load, resources, rows};
use crate::domain::*;
use base64::Engine;
use rusqlite::{Connection, OptionalExtension, params};

/// Answers a query that needs the database alone. The outer error is SQLite's, the inner one the
/// asker's.
pub(super) fn answer(c: &Connection, query: &Query) -> rusqlite::Result<Result<Answer, Rejection>> {
    Ok(match query {
        Query::Tasks { all } => Ok(Answer::Tasks(tasks(c, *all)?)),
        Query::Task { task } => detail(c, task)?.map(|detail| Answer::Task(Box::new(detail))),
        Query::Transcript { agent, before, limit } => Ok(Answer::Transcript(transcript(c, agent, *before, *limit)?)),
        Query::Messages { task, settled } => Ok(Answer::Messages(messages(c, task.as_ref(), *settled)?)),
        Query::Message { message } => one_message(c, message)?.map(|message| Answer::Message(Box::new(message))),
        Query::Sent { limit } => {
            let sql = "SELECT text FROM (SELECT text, max(created_at) AS at, max(rowid) AS place FROM message
                       WHERE kind = 'user' GROUP BY text ORDER BY at DESC, place DESC LIMIT ?1) ORDER BY at, place";
            let texts =
                c.prepare_cached(sql)?.query_map([limit], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok(Answer::Sent(texts))
        }
        Query::Approvals { task, open } => {
            let filter = if *open { "state = 'pending'" } else { "TRUE" };
            Ok(Answer::Approvals(of_task(c, rows::APPROVAL, "approval", filter, task.as_ref(), rows::approval)?))
        }
        Query::Questions { task, open } => {
            let filter = if *open { "state = 'open'" } else { "TRUE" };
            Ok(Answer::Questions(of_task(c, rows::QUESTION, "human_request", filter, task.as_ref(), rows::question)?))
        }
        Query::Rules => {
            let sql = format!("SELECT {} FROM rule ORDER BY created_at", rows::RULE);
            let rules = c.prepare_cached(&sql)?.query_map([], rows::rule)?.collect::<rusqlite::Result<_>>()?;
            Ok(Answer::Rules(rules))
        }
        Query::Events { task, after, limit } => Ok(Answer::Events(event_log::after(c, task.as_ref(), *after, *limit)?)),
        Query::Resolve { prefix } => resolve(c, prefix)?.map(Answer::Resolved),
        Query::Trust { folder } => Ok(Answer::Trust(trust(c, folder)?)),
        Query::Draft { client, pane } => {
            let text = c
                .prepare_cached("SELECT text FROM draft WHERE client = ?1 AND pane = ?2")?
                .query_row(params![client, pane], |row| row.get(0))
                .optional()?;
            Ok(Answer::Draft(text))
        }
        Query::Jobs { task, ended } => Ok(Answer::Jobs(jobs(c, task.as_ref(), *ended)?)),
        Query::Job { job } => one_job(c, job)?.map(|job| Answer::Job(Box::new(job))),
        Query::Resources { task } => Ok(Answer::Resources(resources::list(c, task.as_ref())?)),
        Query::Resource { resource } => resources::one(c, resource)?
            .map(|found| Answer::Resource(Box::new(found)))
            .ok_or_else(|| resources::no_such(resource)),
        Query::Revisions { resource, before, limit } => {
            Ok(Answer::Revisions(resources::revisions(c, resource, *before, *limit)?))
        }
        Query::Candidates { resource, open } => {
            Ok(Answer::Candidates(resources::candidates(c, resource.as_ref(), *open)?))
        }
        Query::Candidate { candidate } => resources::one_candidate(c, candidate)?
            .map(|found| Answer::Candidate(Box::new(found)))
            .ok_or_else(|| resources::no_such_candidate(candidate)),
        Query::Content { .. } | Query::Blame { .. } => {
            Err(Rejection::invalid("this question is not for the database", ""))
        }
        Query::JobLog { .. } | Query::JobSearch { .. } | Query::Blob { .. } | Query::Doctor { .. } | Query::Host => {
            Err(Rejection::invalid("this question is not for the database", ""))
        }
    })
}

/// The last calls of an agent that read or changed a file, newest first: what it knows of files.
pub(super) fn calls_on_files(c: &Connection, agent: &AgentId) -> rusqlite::Result<Vec<ToolCall>> {
    let sql = format!(
        "SELECT {} FROM tool_call WHERE agent = ?1 AND state = 'done' AND name IN ('read', 'write', 'edit')
         ORDER BY assistant_seq DESC, ix DESC LIMIT 500",
        rows::TOOL_CALL
    );
    c.prepare_cached(&sql)?.query_map([agent.as_str()], rows::tool_call)?.collect()
}

/// Reads part of a blob.
pub(super) fn blob(blobs: &BlobDir, name: &str, offset: u64, limit: u32) -> Result<Answer, Rejection> {
    let limit = (limit as usize).min(4 * 1024 * 1024);
    let (size, bytes) =
        blobs.get(name, offset, limit).map_err(|_| Rejection::not_found(format!("kept output {name}"), ""))?;
    let base64 = base64::engine::general_purpose::STANDARD.encode(bytes);
    Ok(Answer::Blob(BlobSlice { size, base64 }))
}

fn tasks(c: &Connection, all: bool) -> rusqlite::Result<Vec<Task>> {
    let sql = format!("SELECT {} FROM task WHERE archived = 0 OR ?1 ORDER BY updated_at DESC, id", rows::TASK);
    let mut tasks: Vec<Task> =
        c.prepare_cached(&sql)?.query_map([all], rows::task)?.collect::<rusqlite::Result<_>>()?;
    for task in &mut tasks {
        task.last_words = last_words(c, &task.main)?;
        if matches!(task.status, TaskStatus::Completed | TaskStatus::Cancelled) {
            continue;
        }
        let snapshot = load::task(c, &task.id)?;
        task.waiting_for = waiting(&snapshot, task);
    }
    Ok(tasks)
}

/// How many characters of what was said last are told: a line of the widest list.
const LAST_WORDS: usize = 200;

/// The beginning of the last words of an agent; its last rows may be calls without any.
fn last_words(c: &Connection, agent: &AgentId) -> rusqlite::Result<String> {
    let sql = "SELECT body FROM trajectory WHERE agent = ?1 AND role = 'assistant' ORDER BY seq DESC LIMIT 5";
    let mut statement = c.prepare_cached(sql)?;
    let bodies = statement.query_map([agent.as_str()], |row| row.get::<_, String>(0))?;
    for body in bodies {
        let parts: Vec<Part> = serde_json::from_str(&body?).unwrap_or_default();
        let said = parts.iter().find_map(|part| match part {
            Part::Text { text } if !text.trim().is_empty() => Some(text.trim()),
            Part::Text { .. } | Part::Thinking { .. } | Part::Image { .. } | Part::Call { .. } => None,
        });
        if let Some(said) = said {
            return Ok(said.chars().take(LAST_WORDS).collect());
        }
    }
    Ok(String::new())
}

/// What a Task waits for, in a person's terms: that Main has not answered yet is no news.
fn waiting(snapshot: &Snapshot, task: &Task) -> Vec<Waiting> {
    let mut waiting = snapshot.blockers(task);
    waiting.retain(|one| !matches!(one.kind.as_str(), "answer" | "tool_call"));
    waiting
}

fn detail(c: &Connection, id: &TaskId) -> rusqlite::Result<Result<TaskDetail, Rejection>> {
    let snapshot = load::task(c, id)?;
    let Some(mut task) = snapshot.tasks.get(id).cloned() else {
        return Ok(Err(Rejection::not_found(format!("Task {id}"), "`cowork ls --all` lists the Tasks")));
    };
    task.waiting_for = waiting(&snapshot, &task);
    let sql =
        format!("SELECT {} FROM objective_version WHERE task = ?1 ORDER BY version DESC LIMIT 1", rows::OBJECTIVE);
    let objective = c.prepare_cached(&sql)?.query_row([id.as_str()], rows::objective).optional()?;
    let sql = format!(
        "SELECT {} FROM verdict WHERE acceptance_check IN (SELECT id FROM acceptance_check WHERE task = ?1) ORDER BY at, rowid",
        rows::VERDICT
    );
    let verdicts = c.prepare_cached(&sql)?.query_map([id.as_str()], rows::verdict)?.collect::<rusqlite::Result<_>>()?;
    let mut checks: Vec<Check> = snapshot.checks.values().cloned().collect();
    checks.sort_by_key(|check| (check.created_at, check.id.clone()));
    let context_tokens: i64 = c
        .prepare_cached(
            "SELECT coalesce(sum(t.tokens), 0) FROM trajectory t JOIN agent g ON g.id = t.agent
             WHERE t.agent = ?1 AND t.seq >= g.tail_from_seq",
        )?
        .query_row([task.main.as_str()], |row| row.get(0))?;
    let run = snapshot.live_run(&task.main).cloned();
    let asking = snapshot.live_model_call(&task.main).map(|call| call.id.clone());
    let sql = format!("SELECT {} FROM checkpoint WHERE agent = ?1 ORDER BY through_seq DESC LIMIT 1", rows::CHECKPOINT);
    let checkpoint = c.prepare_cached(&sql)?.query_row([task.main.as_str()], rows::checkpoint).optional()?;
    let delegated = delegated(c, &snapshot, id)?;
    // Main, then the others in the order they were given their work.
    let mut agents: Vec<Agent> = snapshot.agents.values().cloned().collect();
    agents.sort_by_key(|agent| delegated.iter().position(|one| one.assignment.agent == agent.id));
    Ok(Ok(TaskDetail {
        objective,
        checks,
        verdicts,
        agents,
        delegated,
        run,
        asking,
        checkpoint,
        context_tokens: context_tokens.max(0) as u64,
        seq: event_log::last_seq(c)?,
        task,
    }))
}

/// What was given to Subagents of a Task, with all that came of it.
fn delegated(c: &Connection, snapshot: &Snapshot, task: &TaskId) -> rusqlite::Result<Vec<Delegated>> {
    let given = of_task(c, rows::ASSIGNMENT, "assignment", "TRUE", Some(task), rows::assignment)?;
    let made = of_task(c, rows::CONTRIBUTION, "contribution", "TRUE", Some(task), rows::contribution)?;
    let asked = of_task(c, rows::DECISION, "decision", "TRUE", Some(task), rows::decision)?;
    given
        .into_iter()
        .map(|assignment| {
            let live = !assignment.state.is_ended();
            let calls = if live { snapshot.open_calls(&assignment.agent) } else { Vec::new() };
            Ok(Delegated {
                contribution: made.iter().find(|one| one.assignment == assignment.id).cloned(),
                decisions: asked.iter().filter(|one| one.assignment == assignment.id).cloned().collect(),
                run: snapshot.live_run(&assignment.agent).filter(|_| live).cloned(),
                calls: calls.into_iter().cloned().collect(),
                last_words: last_words(c, &assignment.agent)?,
                assignment,
            })
        })
        .collect()
}

fn transcript(c: &Connection, agent: &AgentId, before: Option<u64>, limit: u32) -> rusqlite::Result<TranscriptPage> {
    let sql = format!(
        "SELECT {} FROM trajectory WHERE agent = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3",
        rows::CONTEXT_ROW
    );
    let before = before.map_or(i64::MAX, |seq| seq as i64);
    let mut found: Vec<Row> = Vec::new();
    let (mut statement, mut bytes) = (c.prepare_cached(&sql)?, 0);
    let mut newest = statement.query(params![agent.as_str(), before, limit])?;
    // Long rows make a short page: it has to fit into one line of the protocol.
    while let Some(row) = newest.next()? {
        bytes += row.get_ref("body")?.as_bytes()?.len();
        if bytes > event_log::PAGE_BYTES && !found.is_empty() {
            break;
        }
        found.push(rows::context_row(row)?);
    }
    found.reverse();
    let first = found.first().map_or(0, |row| row.seq);
    let last = found.last().map_or(0, |row| row.seq);
    let sql = format!(
        "SELECT {} FROM tool_call WHERE agent = ?1 AND assistant_seq BETWEEN ?2 AND ?3
         UNION SELECT {} FROM tool_call WHERE agent = ?1 AND result_seq BETWEEN ?2 AND ?3 ORDER BY 4, 5",
        rows::TOOL_CALL,
        rows::TOOL_CALL
    );
    let calls = c
        .prepare_cached(&sql)?
        .query_map(params![agent.as_str(), first, last], rows::tool_call)?
        .collect::<rusqlite::Result<_>>()?;
    let sql = format!(
        "SELECT {} FROM message WHERE id IN
           (SELECT message FROM trajectory WHERE agent = ?1 AND seq BETWEEN ?2 AND ?3 AND message IS NOT NULL)",
        rows::MESSAGE
    );
    let messages = c
        .prepare_cached(&sql)?
        .query_map(params![agent.as_str(), first, last], rows::message)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(TranscriptPage { more: first > 1, rows: found, calls, messages, seq: event_log::last_seq(c)? })
}

fn messages(c: &Connection, task: Option<&TaskId>, settled: u32) -> rusqlite::Result<Vec<Message>> {
    let scope = if task.is_some() { "task = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "SELECT {} FROM message WHERE {scope} AND (state IN ('queued','delivered') OR rowid IN
           (SELECT rowid FROM message WHERE {scope} AND state NOT IN ('queued','delivered') ORDER BY rowid DESC LIMIT ?2))
         ORDER BY created_at, rowid",
        rows::MESSAGE
    );
    let mut found: Vec<Message> = c
        .prepare_cached(&sql)?
        .query_map(params![task.map(TaskId::as_str), settled], rows::message)?
        .collect::<rusqlite::Result<_>>()?;
    // The newest of those that are settled, as many as fit into one line of the protocol.
    let mut bytes = 0;
    found.reverse();
    found.retain(|message| {
        bytes += message.text.len();
        matches!(message.state, MessageState::Queued | MessageState::Delivered) || bytes <= event_log::PAGE_BYTES
    });
    found.reverse();
    Ok(found)
}

fn one_message(c: &Connection, id: &MessageId) -> rusqlite::Result<Result<Message, Rejection>> {
    let sql = format!("SELECT {} FROM message WHERE id = ?1", rows::MESSAGE);
    let found = c.prepare_cached(&sql)?.query_row([id.as_str()], rows::message).optional()?;
    Ok(found.ok_or_else(|| Rejection::not_found(format!("message {id}"), "`cowork inbox ls` lists them")))
}

/// The most Jobs that are listed at once.
const JOBS: u32 = 1000;

fn jobs(c: &Connection, task: Option<&TaskId>, ended: bool) -> rusqlite::Result<Vec<JobView>> {
    let scope = if task.is_some() { "task = ?1" } else { "?1 IS NULL" };
    let sql = format!(
        "SELECT {} FROM job WHERE {scope} AND (ended_at IS NULL OR ?2) ORDER BY created_at DESC, rowid DESC LIMIT ?3",
        rows::JOB
    );
    let jobs: Vec<Job> = c
        .prepare_cached(&sql)?
        .query_map(params![task.map(TaskId::as_str), ended, JOBS], rows::job)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(jobs.into_iter().map(recorded).collect())
}

fn one_job(c: &Connection, id: &JobId) -> rusqlite::Result<Result<JobView, Rejection>> {
    let sql = format!("SELECT {} FROM job WHERE id = ?1", rows::JOB);
    let found = c.prepare_cached(&sql)?.query_row([id.as_str()], rows::job).optional()?;
    Ok(found
        .map(recorded)
        .ok_or_else(|| Rejection::not_found(format!("Job {id}"), "`cowork jobs ls --all` lists the Jobs")))
}

/// A Job with what was recorded of it; what is to be seen of it now is no matter of the database.
fn recorded(job: Job) -> JobView {
    let mut seen = JobSeen::default();
    if let Some(end) = &job.end {
        seen.log_bytes = end.log_bytes;
        seen.last_output_at = end.last_output_at;
        seen.last_line = end.last_line.clone();
    }
    JobView { job, seen }
}

/// Reads the rows of one table, of one Task or of all, in the order of their making.
fn of_task<T>(
    c: &Connection,
    columns: &str,
    table: &str,
    filter: &str,
    task: Option<&TaskId>,
    read: fn(&rusqlite::Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let scope = if task.is_some() { "task = ?1" } else { "?1 IS NULL" };
    let sql = format!("SELECT {columns} FROM {table} WHERE {filter} AND {scope} ORDER BY created_at, rowid");
    c.prepare_cached(&sql)?.query_map([task.map(TaskId::as_str)], read)?.collect()
}

fn trust(c: &Connection, folder: &Folder) -> rusqlite::Result<Option<Trust>> {
    let sql =
        format!("SELECT {} FROM trust WHERE path = ?1 AND device = ?2 AND inode = ?3 AND owner = ?4", rows::TRUST);
    c.prepare_cached(&sql)?
        .query_row(params![folder.path, folder.device as i64, folder.inode as i64, folder.owner], rows::trust)
        .optional()
}

/// The tables whose ids a person may shorten.
const NAMED: [(&str, &str); 14] = [
    (TaskId::PREFIX, "task"),
    (AgentId::PREFIX, "agent"),
    (MessageId::PREFIX, "message"),
    (ApprovalId::PREFIX, "approval"),
    (QuestionId::PREFIX, "human_request"),
    (CheckId::PREFIX, "acceptance_check"),
    (RuleId::PREFIX, "rule"),
    (ToolCallId::PREFIX, "tool_call"),
    (JobId::PREFIX, "job"),
    (AssignmentId::PREFIX, "assignment"),
    (ContributionId::PREFIX, "contribution"),
    (DecisionId::PREFIX, "decision"),
    (ResourceId::PREFIX, "resource"),
    (CandidateId::PREFIX, "candidate"),
];

fn resolve(c: &Connection, prefix: &str) -> rusqlite::Result<Result<String, Rejection>> {
    let Some((_, table)) = NAMED.iter().find(|(letter, _)| prefix.starts_with(letter)) else {
        let hint = "ids begin with a letter and an underscore, such as t_7k3m9q";
        return Ok(Err(Rejection::invalid(format!("`{prefix}` is no id"), hint)));
    };
    let sql = format!("SELECT id FROM {table} WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 3");
    let found: Vec<String> = c
        .prepare_cached(&sql)?
        .query_map([prefix, &format!("{prefix}\u{7f}")], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(match found.as_slice() {
        [] => Err(Rejection::not_found(format!("`{prefix}`"), "`cowork ls --all` lists the Tasks")),
        [id] => Ok(id.clone()),
        several if several.iter().any(|id| id == prefix) => Ok(prefix.to_owned()),
        several => {
            Err(Rejection::invalid(format!("`{prefix}` may mean {}", several.join(", ")), "give more of its letters"))
        }
    })
}
