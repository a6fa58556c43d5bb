//! From an event to the rows it changes: the one place where rows change.
//!
//! Mirrors [`Snapshot::apply`](crate::domain::Snapshot::apply): rows equal the fold of the events.

use super::delegation;
use crate::domain::*;
use rusqlite::{Connection, OptionalExtension, Params, params};
use serde::Serialize;

/// Changes the rows that an event is about.
pub(super) fn project(c: &Connection, fence: Fence, recorded: &Recorded) -> rusqlite::Result<()> {
    let at = recorded.at;
    let task = recorded.task.as_ref().map(TaskId::as_str);
    know(c, &recorded.actor, at)?;
    match &recorded.event {
        // The lease was raised before the event was appended: the fence stands in the event's way.
        Event::TakenOver { .. } => {}

        Event::TaskCreated { task, agent } => task_created(c, task, agent)?,
        Event::TaskRenamed { title, usage } => {
            run(c, "UPDATE task SET title = ?2 WHERE id = ?1", params![task, title])?;
            if let Some(usage) = usage {
                add_usage(c, task, usage)?;
            }
        }
        Event::ObjectiveSet { version, text } => {
            run(
                c,
                "INSERT INTO objective_version (task, version, text, actor, at) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![task, version, text, recorded.actor.id, at],
            )?;
            run(c, "UPDATE task SET objective_version = ?2 WHERE id = ?1", params![task, version])?;
        }
        Event::CheckAdded { check } => run(
            c,
            "INSERT INTO acceptance_check (id, task, objective_version, kind, text, state, failures, judged_through, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                check.id.as_str(),
                check.task.as_str(),
                (check.objective_version > 0).then_some(check.objective_version),
                check.kind.as_str(),
                check.text,
                check.state.as_str(),
                check.failures,
                check.judged_through,
                check.created_at
            ],
        )?,
        Event::VerdictGiven { verdict } => {
            run(
                c,
                "INSERT INTO verdict (id, acceptance_check, outcome, evidence, through_seq, actor, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    verdict.id.as_str(),
                    verdict.check.as_str(),
                    verdict.outcome.as_str(),
                    json(&verdict.evidence)?,
                    verdict.through_seq,
                    verdict.actor.id,
                    verdict.at
                ],
            )?;
            run(
                c,
                "UPDATE acceptance_check SET state = ?2, judged_through = ?3, failures = failures + ?4 WHERE id = ?1",
                params![
                    verdict.check.as_str(),
                    verdict.outcome.as_str(),
                    verdict.through_seq,
                    verdict.outcome == CheckState::Failed
                ],
            )?;
        }
        Event::TaskStatusChanged { status, reason, resume_status } => run(
            c,
            "UPDATE task SET status = ?2, reason = ?3, resume_status = ?4 WHERE id = ?1",
            params![task, status.as_str(), reason, resume_status.map(TaskStatus::as_str)],
        )?,
        Event::TaskModelSet { model } => run(c, "UPDATE task SET model = ?2 WHERE id = ?1", params![task, model])?,
        Event::TaskPolicySet { policy } => {
            run(c, "UPDATE task SET policy = ?2 WHERE id = ?1", params![task, json(policy)?])?
        }
        Event::TaskBudgetSet { budget } => {
            run(c, "UPDATE task SET budget = ?2 WHERE id = ?1", params![task, json(budget)?])?
        }
        Event::TaskArchived { archived } => {
            run(c, "UPDATE task SET archived = ?2 WHERE id = ?1", params![task, archived])?
        }
        Event::TaskRemoved { removed, .. } => super::removal::remove_task(c, removed, at)?,

        Event::MessageQueued { message } => message_queued(c, message)?,
        Event::MessageEdited { message, text } => {
            run(c, "UPDATE message SET text = ?2 WHERE id = ?1", params![message.as_str(), text])?
        }
        Event::MessageMoved { message, order } => {
            run(c, "UPDATE message SET ord = ?2 WHERE id = ?1", params![message.as_str(), order])?
        }
        Event::MessageDeliverySet { message, delivery } => {
            run(c, "UPDATE message SET delivery = ?2 WHERE id = ?1", params![message.as_str(), delivery.as_str()])?
        }
        Event::MessageWithdrawn { message } => {
            run(c, "UPDATE message SET state = 'withdrawn' WHERE id = ?1", [message.as_str()])?
        }
        Event::MessageDelivered { message, agent, row, .. } => {
            save_row(c, agent, row)?;
            run(
                c,
                "UPDATE message SET state = 'delivered', context_seq = ?2, delivered_at = ?3, fence = ?4 WHERE id = ?1",
                params![message.as_str(), row.seq, at, fence],
            )?;
        }
        Event::MessageUndelivered { message, reason } => run(
            c,
            "UPDATE message SET state = 'undelivered', reason = ?2 WHERE id = ?1",
            params![message.as_str(), reason],
        )?,
        Event::MessageHeld { message, fence } => {
            run(c, "UPDATE message SET fence = ?2 WHERE id = ?1", params![message.as_str(), fence])?
        }

        Event::RunStarted { run: started, .. } => run(
            c,
            "INSERT INTO run (id, task, agent, state, fence, started_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (id) DO UPDATE SET state = excluded.state, fence = excluded.fence, started_at = excluded.started_at",
            params![
                started.id.as_str(),
                started.task.as_str(),
                started.agent.as_str(),
                started.state.as_str(),
                started.fence,
                started.started_at
            ],
        )?,
        Event::RunSuspended { run: stopped, ran_ms, .. } => {
            run(c, "UPDATE run SET state = 'interrupted' WHERE id = ?1", [stopped.as_str()])?;
            add_run_time(c, stopped, *ran_ms)?;
        }
        Event::RunEnded { run: ended, state, reason, detail, ran_ms } => {
            run(
                c,
                "UPDATE run SET state = ?2, end_reason = ?3, detail = ?4, ended_at = ?5 WHERE id = ?1",
                params![ended.as_str(), state.as_str(), reason.as_str(), detail, at],
            )?;
            run(
                c,
                "UPDATE agent SET failures = 0, retry_at = NULL WHERE id = (SELECT agent FROM run WHERE id = ?1)",
                [ended.as_str()],
            )?;
            add_run_time(c, ended, *ran_ms)?;
        }

        Event::TurnStarted { call } => {
            run(
                c,
                "INSERT INTO model_call (id, agent, run, purpose, state, fence, model, through_seq, started_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    call.id.as_str(),
                    call.agent.as_str(),
                    call.run.as_str(),
                    call.purpose,
                    call.state.as_str(),
                    call.fence,
                    call.model,
                    call.through_seq,
                    call.started_at
                ],
            )?;
            run(c, "UPDATE agent SET retry_at = NULL WHERE id = ?1", [call.agent.as_str()])?;
        }
        Event::TurnCommitted { call, agent, row, usage, consumed } => {
            save_row(c, agent, row)?;
            run(
                c,
                "UPDATE model_call SET state = 'committed', result_seq = ?2, usage = ?3, ended_at = ?4 WHERE id = ?1",
                params![call.as_str(), row.seq, json(usage)?, at],
            )?;
            for message in consumed {
                run(
                    c,
                    "UPDATE message SET state = 'consumed', consumed_seq = ?2, consumed_at = ?3 WHERE id = ?1",
                    params![message.as_str(), row.seq, at],
                )?;
            }
            add_usage(c, task, usage)?;
            delegation::add_usage(c, agent, usage)?;
        }
        Event::TurnFailed { call, agent, class, retry_at, .. } => {
            run(
                c,
                "UPDATE model_call SET state = 'failed', error_class = ?2, ended_at = ?3 WHERE id = ?1",
                params![call.as_str(), class, at],
            )?;
            run(
                c,
                "UPDATE agent SET failures = failures + 1, retry_at = ?2 WHERE id = ?1",
                params![agent.as_str(), retry_at],
            )?;
        }
        Event::TurnAbandoned { call, .. } => run(
            c,
            "UPDATE model_call SET state = 'abandoned', ended_at = ?2 WHERE id = ?1",
            params![call.as_str(), at],
        )?,

        Event::ToolPlanned { call } => tool_planned(c, call)?,
        Event::ToolStarted { call, fence, pre_hash, post_hash } => run(
            c,
            "UPDATE tool_call SET state = 'running', fence = ?2, pre_hash = ?3, post_hash = ?4, started_at = ?5 WHERE id = ?1",
            params![call.as_str(), fence, pre_hash, post_hash, at],
        )?,
        Event::ToolRequeued { call, fence } => {
            run(c, "UPDATE tool_call SET fence = ?2 WHERE id = ?1", params![call.as_str(), fence])?
        }
        Event::ToolSettled { call, agent, state, row, saw } => {
            save_row(c, agent, row)?;
            run(
                c,
                "UPDATE tool_call SET state = ?2, result_seq = ?3, ended_at = ?4, post_hash = coalesce(?5, post_hash) WHERE id = ?1",
                params![call.as_str(), state.as_str(), row.seq, at, saw],
            )?;
        }

        Event::ApprovalRequested { approval } => {
            run(c, "UPDATE tool_call SET state = 'awaiting_approval' WHERE id = ?1", [approval.tool_call.as_str()])?;
            run(
                c,
                "INSERT INTO approval (id, task, agent, tool_call, action, action_hash, why, state, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    approval.id.as_str(),
                    approval.task.as_str(),
                    approval.agent.as_str(),
                    approval.tool_call.as_str(),
                    json(&approval.action)?,
                    approval.action_hash,
                    approval.why,
                    approval.state.as_str(),
                    approval.created_at
                ],
            )?;
        }
        Event::ApprovalDecided { approval, call, state, because, decided_by } => {
            run(
                c,
                "UPDATE approval SET state = ?2, because = ?3, decided_by = ?4, decided_at = ?5 WHERE id = ?1",
                params![approval.as_str(), state.as_str(), because, decided_by.as_ref().map(|a| a.id.as_str()), at],
            )?;
            if *state == ApprovalState::Allowed {
                run(c, "UPDATE tool_call SET state = 'approved' WHERE id = ?1", [call.as_str()])?;
            }
        }
        Event::RuleAdded { rule } => run(
            c,
            "INSERT INTO rule (id, cwd, allow, tool, subject, approval, actor, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                rule.id.as_str(),
                rule.cwd,
                rule.allow,
                rule.tool,
                rule.subject,
                rule.approval.as_str(),
                rule.actor.id,
                rule.created_at
            ],
        )?,
        Event::RuleRemoved { rule } => run(c, "DELETE FROM rule WHERE id = ?1", [rule.as_str()])?,

        Event::QuestionAsked { question } => {
            run(
                c,
                "UPDATE tool_call SET state = 'running', fence = ?2, started_at = ?3 WHERE id = ?1",
                params![question.tool_call.as_str(), fence, at],
            )?;
            run(
                c,
                "INSERT INTO human_request (id, task, agent, tool_call, question, options, meanwhile, state, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    question.id.as_str(),
                    question.task.as_str(),
                    question.agent.as_str(),
                    question.tool_call.as_str(),
                    question.question,
                    json(&question.options)?,
                    question.meanwhile,
                    question.state.as_str(),
                    question.created_at
                ],
            )?;
        }
        Event::QuestionResolved { question, state, answer } => run(
            c,
            "UPDATE human_request SET state = ?2, answer = ?3, resolved_at = ?4 WHERE id = ?1",
            params![question.as_str(), state.as_str(), answer, at],
        )?,

        Event::AssignmentGiven { .. }
        | Event::AssignmentMoved { .. }
        | Event::AssignmentReleased { .. }
        | Event::ContributionMade { .. }
        | Event::ContributionReviewed { .. }
        | Event::AgentRetired { .. }
        | Event::DecisionAsked { .. }
        | Event::DecisionResolved { .. } => delegation::project(c, fence, recorded)?,

        Event::ControlRequested { control } => run(
            c,
            "INSERT INTO control (id, task, run, action, actor, state, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                control.id.as_str(),
                control.task.as_str(),
                control.run.as_str(),
                control.action,
                control.actor.id,
                control.state.as_str(),
                control.created_at
            ],
        )?,
        Event::ControlSettled { control, state } => {
            run(c, "UPDATE control SET state = ?2 WHERE id = ?1", params![control.as_str(), state.as_str()])?
        }

        Event::JobCreated { job } => job_created(c, job)?,
        Event::JobStarted { job, process } => run(
            c,
            "UPDATE job SET state = CASE WHEN stop IS NULL THEN 'running' ELSE 'stopping' END, process = ?2 WHERE id = ?1",
            params![job.as_str(), json(process)?],
        )?,
        Event::JobOrphaned { job, note } => {
            run(c, "UPDATE job SET note = ?2 WHERE id = ?1", params![job.as_str(), note])?
        }
        Event::JobInputSent { .. } | Event::JobSignalSent { .. } | Event::BackgroundAsked { .. } => {}
        Event::JobStopRequested { job, stop } => run(
            c,
            "UPDATE job SET state = CASE state WHEN 'running' THEN 'stopping' ELSE state END, stop = ?2 WHERE id = ?1",
            params![job.as_str(), json(stop)?],
        )?,
        Event::JobMatched { job, through, .. } => {
            run(c, "UPDATE job SET matched_through = ?2 WHERE id = ?1", params![job.as_str(), through])?
        }
        Event::JobBreached { job, breach, .. } => run(
            c,
            "UPDATE job SET breached = json_insert(breached, '$[#]', ?2) WHERE id = ?1",
            params![job.as_str(), breach],
        )?,
        Event::JobSettled { job, state, end } => run(
            c,
            "UPDATE job SET state = ?2, exit_code = ?3, signal = ?4, evidence = ?5, reason = ?6, log_bytes = ?7,
               last_output_at = ?8, last_line = ?9, ended_at = ?10 WHERE id = ?1",
            params![
                job.as_str(),
                state.as_str(),
                end.exit_code,
                end.signal,
                end.evidence.as_str(),
                end.reason,
                end.log_bytes,
                end.last_output_at,
                end.last_line,
                end.ended_at
            ],
        )?,
        Event::JobRemoved { job } => run(c, "DELETE FROM job WHERE id = ?1", [job.as_str()])?,

        Event::ResourceCreated { .. }
        | Event::RevisionCommitted { .. }
        | Event::CandidateKept { .. }
        | Event::CandidateRevised { .. }
        | Event::CandidateMoved { .. }
        | Event::ResourceRenamed { .. }
        | Event::ResourceMirrored { .. }
        | Event::MirrorLooked { .. }
        | Event::ResourceSeen { .. }
        | Event::ResourceSelected { .. }
        | Event::ResourceRemoved { .. }
        | Event::EngineAsked { .. }
        | Event::EngineAnswered { .. } => super::resources::project(c, recorded)?,

        Event::CheckpointSaved { checkpoint } => run(
            c,
            "INSERT INTO checkpoint (id, agent, run, through_seq, tail_from_seq, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![
                checkpoint.id.as_str(),
                checkpoint.agent.as_str(),
                checkpoint.run.as_str(),
                checkpoint.through_seq,
                checkpoint.tail_from_seq,
                checkpoint.created_at
            ],
        )?,
        Event::FolderTrustSet { trust } => run(
            c,
            "INSERT INTO trust (path, device, inode, owner, trusted, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT DO UPDATE SET trusted = excluded.trusted, at = excluded.at",
            params![
                trust.folder.path,
                trust.folder.device as i64,
                trust.folder.inode as i64,
                trust.folder.owner,
                trust.trusted,
                trust.at
            ],
        )?,
    }
    if task.is_some() && recorded.event.is_work() {
        run(c, "UPDATE task SET updated_at = ?2 WHERE id = ?1", params![task, at])?;
    }
    Ok(())
}

/// Raises the lease: comes before the event that says so, since the fence guards that event too.
pub(super) fn raise_lease(c: &Connection, fence: Fence, owner: &Owner, at: Millis) -> rusqlite::Result<()> {
    run(
        c,
        "INSERT INTO writer_lease (id, fence, holder, host, pid, pid_start, boot_id, acquired_at)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (id) DO UPDATE SET fence = excluded.fence, holder = excluded.holder, host = excluded.host,
           pid = excluded.pid, pid_start = excluded.pid_start, boot_id = excluded.boot_id, acquired_at = excluded.acquired_at",
        params![fence, owner.holder, owner.host, owner.pid, owner.pid_start as i64, owner.boot_id, at],
    )
}

/// Makes sure that an actor is known before a row names it.
pub(super) fn know(c: &Connection, actor: &Actor, at: Millis) -> rusqlite::Result<()> {
    run(
        c,
        "INSERT INTO actor (id, kind, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING",
        params![actor.id, actor.kind.as_str(), at],
    )
}

fn task_created(c: &Connection, task: &Task, agent: &Agent) -> rusqlite::Result<()> {
    run(
        c,
        "INSERT INTO task (id, title, status, reason, resume_status, archived, cwd, model, policy, budget,
           objective_version, usage, main, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            task.id.as_str(),
            task.title,
            task.status.as_str(),
            task.reason,
            task.resume_status.map(TaskStatus::as_str),
            task.archived,
            task.cwd,
            task.model,
            json(&task.policy)?,
            json(&task.budget)?,
            task.objective_version,
            json(&task.usage)?,
            task.main.as_str(),
            task.created_at,
            task.updated_at
        ],
    )?;
    new_agent(c, agent)
}

pub(super) fn new_agent(c: &Connection, agent: &Agent) -> rusqlite::Result<()> {
    know(c, &Actor::agent(&agent.id), agent.created_at)?;
    run(
        c,
        "INSERT INTO agent (id, task, role, next_seq, tail_from_seq, failures, retry_at, created_at, retired_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            agent.id.as_str(),
            agent.task.as_str(),
            agent.role.as_str(),
            agent.next_seq,
            agent.tail_from_seq,
            agent.failures,
            agent.retry_at,
            agent.created_at,
            agent.retired_at
        ],
    )
}

fn message_queued(c: &Connection, message: &Message) -> rusqlite::Result<()> {
    know(c, &message.to, message.created_at)?;
    know(c, &message.from, message.created_at)?;
    run(
        c,
        "INSERT INTO message (id, task, to_actor, from_actor, kind, key, delivery, ord, text, refs, state, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            message.id.as_str(),
            message.task.as_ref().map(TaskId::as_str),
            message.to.id,
            message.from.id,
            message.kind.as_str(),
            message.key,
            message.delivery.as_str(),
            message.order,
            message.text,
            json(&message.refs)?,
            message.state.as_str(),
            message.created_at
        ],
    )
}

fn job_created(c: &Connection, job: &Job) -> rusqlite::Result<()> {
    let JobDefinition { name, command, cwd, terminal, role, watch, levels } = &job.definition;
    know(c, &Actor::job(&job.id), job.created_at)?;
    run(
        c,
        "INSERT INTO job (id, origin, task, actor, name, command, cwd, terminal, role, watch, state, matched_through, created_at,
           levels, breached)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            job.id.as_str(),
            job.origin,
            job.task.as_ref().map(TaskId::as_str),
            job.actor.id,
            name,
            json(command)?,
            cwd,
            terminal,
            role.as_str(),
            json(watch)?,
            job.state.as_str(),
            job.matched_through,
            job.created_at,
            json(levels)?,
            json(&job.breached)?
        ],
    )
}

fn tool_planned(c: &Connection, call: &ToolCall) -> rusqlite::Result<()> {
    run(
        c,
        "INSERT INTO tool_call (id, agent, run, assistant_seq, ix, provider_id, name, arguments, effect, state, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        params![
            call.id.as_str(),
            call.agent.as_str(),
            call.run.as_str(),
            call.assistant_seq,
            call.ix,
            call.provider_id,
            call.name,
            call.arguments,
            call.effect.as_str(),
            call.state.as_str(),
            call.created_at
        ],
    )
}

/// The columns of a row of context that its hash covers.
pub(super) fn row_hash(agent: &AgentId, row: &Row, body: &str, prev_hash: Option<&[u8]>) -> Vec<u8> {
    super::hash::row(&[
        Some(agent.as_str().as_bytes()),
        Some(&row.seq.to_le_bytes()),
        Some(row.role.as_str().as_bytes()),
        Some(body.as_bytes()),
        row.message.as_ref().map(|id| id.as_str().as_bytes()),
        row.tool_call.as_ref().map(|id| id.as_str().as_bytes()),
        Some(&[u8::from(row.cut)]),
        Some(&row.tokens.to_le_bytes()),
        Some(&row.at.to_le_bytes()),
        prev_hash,
    ])
}

fn save_row(c: &Connection, agent: &AgentId, row: &Row) -> rusqlite::Result<()> {
    let body = json(&row.parts)?;
    let prev_hash: Option<Vec<u8>> = c
        .prepare_cached("SELECT row_hash FROM trajectory WHERE agent = ?1 AND seq = ?2")?
        .query_row(params![agent.as_str(), row.seq.saturating_sub(1)], |row| row.get(0))
        .optional()?;
    let hash = row_hash(agent, row, &body, prev_hash.as_deref());
    run(
        c,
        "INSERT INTO trajectory (agent, seq, role, body, message, tool_call, n_tool_calls, cut, tokens, at, prev_hash, row_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        params![
            agent.as_str(),
            row.seq,
            row.role.as_str(),
            body,
            row.message.as_ref().map(MessageId::as_str),
            row.tool_call.as_ref().map(ToolCallId::as_str),
            row.calls(),
            row.cut,
            row.tokens,
            row.at,
            prev_hash,
            hash
        ],
    )?;
    let answered = row.role == Role::Assistant;
    run(
        c,
        "UPDATE agent SET next_seq = ?2, failures = CASE WHEN ?3 THEN 0 ELSE failures END,
           retry_at = CASE WHEN ?3 THEN NULL ELSE retry_at END WHERE id = ?1",
        params![agent.as_str(), row.seq + 1, answered],
    )
}

/// Adds the time of a Run: a Task's is Main's, a Subagent's belongs to its work.
fn add_run_time(c: &Connection, of: &RunId, ran_ms: u64) -> rusqlite::Result<()> {
    let found: Option<(String, String, String)> = c
        .prepare_cached("SELECT r.task, r.agent, g.role FROM run r JOIN agent g ON g.id = r.agent WHERE r.id = ?1")?
        .query_row([of.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((task, agent, role)) = found else { return Ok(()) };
    let time = Usage { run_ms: ran_ms, ..Usage::default() };
    if role == AgentRole::Main.as_str() {
        return add_usage(c, Some(&task), &time);
    }
    delegation::add_usage(c, &AgentId(agent), &time).map(|_| ())
}

/// Adds to what a Task has used.
fn add_usage(c: &Connection, task: Option<&str>, more: &Usage) -> rusqlite::Result<()> {
    let Some(task) = task else { return Ok(()) };
    let text: String = c.prepare_cached("SELECT usage FROM task WHERE id = ?1")?.query_row([task], |row| row.get(0))?;
    let mut usage: Usage = serde_json::from_str(&text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, e.into()))?;
    usage.add(more);
    run(c, "UPDATE task SET usage = ?2 WHERE id = ?1", params![task, json(&usage)?])
}

pub(super) fn json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))
}

pub(super) fn run(c: &Connection, sql: &str, parameters: impl Params) -> rusqlite::Result<()> {
    c.prepare_cached(sql)?.execute(parameters).map(|_| ())
}
