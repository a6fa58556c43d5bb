//! Snapshots to decide on: the live part of one Task, or of everything in flight.

use super::{resources, rows};
use crate::domain::*;
use rusqlite::{Connection, OptionalExtension, Params, Row as SqlRow};
use std::collections::BTreeMap;
use std::ops::Range;

/// What a command needs to be decided.
pub(super) fn for_command(connection: &Connection, command: &Command) -> rusqlite::Result<Snapshot> {
    match command {
        Command::User(_) | Command::Run(_) => {
            let id = match (command.task(), command.run(), command.job()) {
                (Some(task), _, _) => Some(task.clone()),
                (None, Some(run), _) => task_of_run(connection, run)?,
                (None, None, Some(job)) => task_of_job(connection, job)?,
                (None, None, None) => None,
            };
            let mut snapshot = match &id {
                Some(id) => task(connection, id)?,
                None => base(connection)?,
            };
            if let Some(job) = command.job() {
                add_jobs(connection, "id = ?1", job.as_str(), &mut snapshot)?;
            }
            if let Command::User(UserCommand::Remove { task }) = command {
                add_jobs(connection, "task = ?1", task.as_str(), &mut snapshot)?;
            }
            Ok(snapshot)
        }
        Command::Resource(command) => resource(connection, command),
        Command::System(SystemCommand::Job { job, .. }) => {
            let mut snapshot = match task_of_job(connection, job)? {
                Some(id) => task(connection, &id)?,
                None => base(connection)?,
            };
            add_jobs(connection, "id = ?1", job.as_str(), &mut snapshot)?;
            Ok(snapshot)
        }
        Command::System(SystemCommand::StartRun { task: id, .. } | SystemCommand::ExpireDecision { task: id, .. }) => {
            task(connection, id)
        }
        Command::System(SystemCommand::TakeOver { .. }) => in_flight(connection),
    }
}

/// The Resource with everybody who knows it, and the Task of the agent that acts.
fn resource(c: &Connection, command: &ResourceCommand) -> rusqlite::Result<Snapshot> {
    let mut snapshot = base(c)?;
    let named = resources::named(c, &command.deed)?;
    let mut tasks: std::collections::BTreeSet<TaskId> = match &named {
        Some(id) => resources::tasks_of(c, id)?.into_iter().chain(resources::task_of(c, id)?).collect(),
        None => Default::default(),
    };
    if let Some(run) = &command.run {
        tasks.extend(task_of_run(c, run)?);
    }
    if let ResourceDeed::Create { task: Some(task), .. } = &command.deed {
        tasks.insert(task.clone());
    }
    if let ResourceDeed::Take { by, .. } = &command.deed {
        tasks.extend(task_of_agent(c, &by.id)?);
    }
    for id in &tasks {
        add_task(c, id, &mut snapshot)?;
    }
    if let Some(id) = &named {
        resources::add_one(c, id, &command.deed, &mut snapshot)?;
    }
    resources::add_neighbours(c, &command.deed, &mut snapshot)?;
    Ok(snapshot)
}

/// The Task of an agent, where the id is one of an agent.
fn task_of_agent(connection: &Connection, id: &str) -> rusqlite::Result<Option<TaskId>> {
    connection
        .prepare_cached("SELECT task FROM agent WHERE id = ?1")?
        .query_row([id], |row| row.get(0).map(TaskId))
        .optional()
}

fn task_of_run(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<TaskId>> {
    connection
        .prepare_cached("SELECT task FROM run WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0).map(TaskId))
        .optional()
}

fn task_of_job(connection: &Connection, job: &JobId) -> rusqlite::Result<Option<TaskId>> {
    connection
        .prepare_cached("SELECT task FROM job WHERE id = ?1")?
        .query_row([job.as_str()], |row| row.get::<_, Option<String>>(0))
        .optional()
        .map(|task| task.flatten().map(TaskId))
}

fn add_jobs(c: &Connection, filter: &str, value: &str, snapshot: &mut Snapshot) -> rusqlite::Result<()> {
    snapshot.jobs.extend(map(c, rows::JOB, "job", filter, [value], rows::job, |job| job.id.clone())?);
    Ok(())
}

/// The Jobs that have not ended.
pub(super) fn live_jobs(c: &Connection) -> rusqlite::Result<Vec<Job>> {
    let jobs = map(c, rows::JOB, "job", "ended_at IS NULL", [], rows::job, |job| job.id.clone())?;
    Ok(jobs.into_values().collect())
}

/// The Jobs that ended before a time; those of a Task that is not over are left out.
pub(super) fn jobs_ended_before(c: &Connection, at: Millis) -> rusqlite::Result<Vec<JobId>> {
    let sql = "SELECT j.id FROM job j LEFT JOIN task t ON t.id = j.task
               WHERE j.ended_at < ?1 AND (t.id IS NULL OR t.status IN ('completed', 'failed', 'cancelled')) LIMIT 1000";
    c.prepare_cached(sql)?.query_map([at], |row| row.get(0).map(JobId))?.collect()
}

/// Whether the folder of a Job is that of one, or of a call that runs.
pub(super) fn owns_folder(c: &Connection, job: &JobId) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM job WHERE id = ?1)
                   OR EXISTS (SELECT 1 FROM tool_call WHERE id = ?2 AND state = 'running')";
    c.prepare_cached(sql)?.query_row([job.as_str(), job.call().as_str()], |row| row.get(0))
}

/// The fence and the standing rules, which belong to no Task.
fn base(connection: &Connection) -> rusqlite::Result<Snapshot> {
    let fence = connection
        .prepare_cached("SELECT fence FROM writer_lease WHERE id = 1")?
        .query_row([], |row| row.get(0))
        .optional()?
        .unwrap_or(0);
    let rules = map(connection, rows::RULE, "rule", "TRUE", [], rows::rule, |rule| rule.id.clone())?;
    Ok(Snapshot { fence, rules, ..Snapshot::default() })
}

/// The live part of one Task: what is settled is left out, except for the points of acceptance.
pub(super) fn task(connection: &Connection, id: &TaskId) -> rusqlite::Result<Snapshot> {
    let mut snapshot = base(connection)?;
    add_task(connection, id, &mut snapshot)?;
    Ok(snapshot)
}

fn add_task(c: &Connection, id: &TaskId, snapshot: &mut Snapshot) -> rusqlite::Result<()> {
    let task = [id.as_str()];
    let s = snapshot;
    s.tasks.extend(map(c, rows::TASK, "task", "id = ?1", task, rows::task, |t| t.id.clone())?);
    if !s.tasks.contains_key(id) {
        return Ok(());
    }
    s.checks.extend(map(c, rows::CHECK, "acceptance_check", "task = ?1", task, rows::check, |x| x.id.clone())?);
    let agents = map(c, rows::AGENT, rows::AGENT_FROM, "agent.task = ?1", task, rows::agent, |a| a.id.clone())?;
    s.runs.extend(map(
        c,
        rows::RUN,
        "run",
        "task = ?1 AND state IN ('running','interrupted')",
        task,
        rows::run,
        |r| r.id.clone(),
    )?);
    s.controls.extend(map(
        c,
        rows::CONTROL,
        "control",
        "task = ?1 AND state = 'requested'",
        task,
        rows::control,
        |x| x.id.clone(),
    )?);
    s.questions.extend(map(
        c,
        rows::QUESTION,
        "human_request",
        "task = ?1 AND state = 'open'",
        task,
        rows::question,
        |q| q.id.clone(),
    )?);
    // What has ended is needed while it is unreviewed, and while the call that gave it is open.
    let needed = "task = ?1 AND (ended_at IS NULL
        OR id IN (SELECT assignment FROM contribution WHERE task = ?1 AND state = 'unreviewed')
        OR call IN (SELECT c.id FROM tool_call c JOIN agent g ON g.id = c.agent WHERE g.task = ?1 AND c.result_seq IS NULL))";
    s.assignments.extend(map(c, rows::ASSIGNMENT, "assignment", needed, task, rows::assignment, |a| a.id.clone())?);
    let of_needed =
        format!("task = ?1 AND (state = 'unreviewed' OR assignment IN (SELECT id FROM assignment WHERE {needed}))");
    s.contributions
        .extend(map(c, rows::CONTRIBUTION, "contribution", &of_needed, task, rows::contribution, |b| b.id.clone())?);
    let open = "task = ?1 AND (state = 'open'
        OR tool_call IN (SELECT c.id FROM tool_call c JOIN agent g ON g.id = c.agent WHERE g.task = ?1 AND c.result_seq IS NULL))";
    s.decisions.extend(map(c, rows::DECISION, "decision", open, task, rows::decision, |x| x.id.clone())?);
    add_jobs(c, "task = ?1 AND ended_at IS NULL", id.as_str(), s)?;
    // Of all agents at once: a Task may have hundreds, most of which do nothing any more.
    let of = "(SELECT id FROM agent WHERE task = ?1)";
    let live = format!("to_actor IN {of} AND state IN ('queued','delivered')");
    s.messages.extend(map(c, rows::MESSAGE, "message", &live, task, rows::message, |m| m.id.clone())?);
    let asking = format!("agent IN {of} AND state = 'started'");
    s.model_calls.extend(map(c, rows::MODEL_CALL, "model_call", &asking, task, rows::model_call, |k| k.id.clone())?);
    let open = format!("agent IN {of} AND result_seq IS NULL");
    s.tool_calls.extend(map(c, rows::TOOL_CALL, "tool_call", &open, task, rows::tool_call, |x| x.id.clone())?);
    let judged = format!("tool_call IN (SELECT id FROM tool_call WHERE {open})");
    s.approvals.extend(map(c, rows::APPROVAL, "approval", &judged, task, rows::approval, |p| p.id.clone())?);
    s.agents.extend(agents);
    resources::add_open(c, id, s)?;
    resources::add_known(c, id, s)
}

/// Every Task that holds something under a fence.
fn in_flight(connection: &Connection) -> rusqlite::Result<Snapshot> {
    let mut snapshot = base(connection)?;
    let tasks: Vec<TaskId> = connection
        .prepare_cached(
            "SELECT task FROM run WHERE state IN ('running','interrupted')
             UNION SELECT task FROM message WHERE state = 'delivered' AND task IS NOT NULL",
        )?
        .query_map([], |row| row.get(0).map(TaskId))?
        .collect::<rusqlite::Result<_>>()?;
    for id in &tasks {
        let mut one = Snapshot::default();
        add_task(connection, id, &mut one)?;
        snapshot.tasks.append(&mut one.tasks);
        snapshot.checks.append(&mut one.checks);
        snapshot.agents.append(&mut one.agents);
        snapshot.runs.append(&mut one.runs);
        snapshot.messages.append(&mut one.messages);
        snapshot.model_calls.append(&mut one.model_calls);
        snapshot.tool_calls.append(&mut one.tool_calls);
        snapshot.approvals.append(&mut one.approvals);
        snapshot.questions.append(&mut one.questions);
        snapshot.controls.append(&mut one.controls);
        snapshot.assignments.append(&mut one.assignments);
        snapshot.contributions.append(&mut one.contributions);
        snapshot.decisions.append(&mut one.decisions);
        snapshot.jobs.append(&mut one.jobs);
        snapshot.resources.append(&mut one.resources);
        snapshot.candidates.append(&mut one.candidates);
    }
    resources::add_in_flight(connection, &mut snapshot)?;
    Ok(snapshot)
}

/// Everything there is, settled or not: what a fold of all events must equal.
#[cfg(test)]
pub(super) fn everything(c: &Connection) -> rusqlite::Result<Snapshot> {
    let mut s = base(c)?;
    s.tasks = map(c, rows::TASK, "task", "TRUE", [], rows::task, |t| t.id.clone())?;
    s.objectives =
        map(c, rows::OBJECTIVE, "objective_version", "TRUE", [], rows::objective, |o| (o.task.clone(), o.version))?;
    s.checks = map(c, rows::CHECK, "acceptance_check", "TRUE", [], rows::check, |x| x.id.clone())?;
    s.verdicts = map(c, rows::VERDICT, "verdict", "TRUE", [], rows::verdict, |v| v.id.clone())?;
    s.agents = map(c, rows::AGENT, rows::AGENT_FROM, "TRUE", [], rows::agent, |a| a.id.clone())?;
    s.runs = map(c, rows::RUN, "run", "TRUE", [], rows::run, |r| r.id.clone())?;
    s.messages = map(c, rows::MESSAGE, "message", "TRUE", [], rows::message, |m| m.id.clone())?;
    s.model_calls = map(c, rows::MODEL_CALL, "model_call", "TRUE", [], rows::model_call, |k| k.id.clone())?;
    s.tool_calls = map(c, rows::TOOL_CALL, "tool_call", "TRUE", [], rows::tool_call, |x| x.id.clone())?;
    s.approvals = map(c, rows::APPROVAL, "approval", "TRUE", [], rows::approval, |p| p.id.clone())?;
    s.questions = map(c, rows::QUESTION, "human_request", "TRUE", [], rows::question, |q| q.id.clone())?;
    s.assignments = map(c, rows::ASSIGNMENT, "assignment", "TRUE", [], rows::assignment, |a| a.id.clone())?;
    s.contributions = map(c, rows::CONTRIBUTION, "contribution", "TRUE", [], rows::contribution, |b| b.id.clone())?;
    s.decisions = map(c, rows::DECISION, "decision", "TRUE", [], rows::decision, |x| x.id.clone())?;
    s.controls = map(c, rows::CONTROL, "control", "TRUE", [], rows::control, |x| x.id.clone())?;
    s.checkpoints = map(c, rows::CHECKPOINT, "checkpoint", "TRUE", [], rows::checkpoint, |z| z.id.clone())?;
    s.jobs = map(c, rows::JOB, "job", "TRUE", [], rows::job, |job| job.id.clone())?;
    s.trust = map(c, rows::TRUST, "trust", "TRUE", [], rows::trust, |t| t.folder.clone())?;
    resources::add_everything(c, &mut s)?;
    for agent in s.agents.keys() {
        for row in rows_of(c, agent, 0..i64::MAX as u64)? {
            s.rows.insert((agent.clone(), row.seq), row);
        }
    }
    Ok(s)
}

/// Rows of an agent's context.
pub(super) fn rows_of(connection: &Connection, agent: &AgentId, seqs: Range<u64>) -> rusqlite::Result<Vec<Row>> {
    let sql = format!(
        "SELECT {} FROM trajectory WHERE agent = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq",
        rows::CONTEXT_ROW
    );
    connection
        .prepare_cached(&sql)?
        .query_map(rusqlite::params![agent.as_str(), seqs.start, seqs.end], rows::context_row)?
        .collect()
}

/// Agents that are absent and have work: Main before its Subagents, these in the order they began.
pub(super) fn due(connection: &Connection) -> rusqlite::Result<Vec<Due>> {
    let tasks: Vec<TaskId> = connection
        .prepare_cached("SELECT task FROM maybe_due")?
        .query_map([], |row| row.get(0).map(TaskId))?
        .collect::<rusqlite::Result<_>>()?;
    let mut due = Vec::new();
    for id in tasks {
        let snapshot = task(connection, &id)?;
        if let Some(of) = snapshot.tasks.get(&id) {
            due.extend(snapshot.due(of));
        }
    }
    due.sort_by_key(|due| (due.queues, due.since));
    Ok(due)
}

/// What keeps a host from leaving.
pub(super) fn needs(connection: &Connection) -> rusqlite::Result<Vec<Waiting>> {
    let mut needs: Vec<Waiting> = connection
        .prepare_cached("SELECT why, ref, task FROM needs_host")?
        .query_map([], |row| {
            let text = row.get::<_, Option<String>>(2)?.unwrap_or_default();
            Ok(Waiting { kind: row.get(0)?, id: row.get(1)?, text })
        })?
        .collect::<rusqlite::Result<_>>()?;
    needs.extend(due(connection)?.into_iter().map(|due| Waiting {
        kind: "agent_due".into(),
        id: due.agent.0,
        text: due.task.0,
    }));
    Ok(needs)
}

/// Reads the rows of one table into a map.
pub(super) fn map<K: Ord, V>(
    connection: &Connection,
    columns: &str,
    from: &str,
    filter: &str,
    parameters: impl Params,
    read: fn(&SqlRow) -> rusqlite::Result<V>,
    key: impl Fn(&V) -> K,
) -> rusqlite::Result<BTreeMap<K, V>> {
    let sql = format!("SELECT {columns} FROM {from} WHERE {filter}");
    let mut statement = connection.prepare_cached(&sql)?;
    let found = statement.query_map(parameters, read)?;
    let mut out = BTreeMap::new();
    for value in found {
        let value = value?;
        out.insert(key(&value), value);
    }
    Ok(out)
}
