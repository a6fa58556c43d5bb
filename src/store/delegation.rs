//! From an event of delegation to its rows: assignments, Contributions, decision requests.

use super::project::{json, new_agent, run};
use crate::domain::*;
use rusqlite::{Connection, OptionalExtension, params};

/// Changes the rows that an event of delegation is about; others are none of it.
pub(super) fn project(c: &Connection, fence: Fence, recorded: &Recorded) -> rusqlite::Result<()> {
    let at = recorded.at;
    match &recorded.event {
        Event::AssignmentGiven { assignment, agent } => {
            if let Some(agent) = agent {
                new_agent(c, agent)?;
            }
            given(c, assignment)
        }
        Event::AssignmentMoved { assignment, state } => {
            run(c, "UPDATE assignment SET state = ?2 WHERE id = ?1", params![assignment.as_str(), state.as_str()])
        }
        Event::AssignmentReleased { assignment } => {
            run(c, "UPDATE assignment SET mode = 'async' WHERE id = ?1", [assignment.as_str()])
        }
        Event::ContributionMade { contribution, state } => {
            run(
                c,
                "UPDATE assignment SET state = ?2, ended_at = ?3 WHERE id = ?1",
                params![contribution.assignment.as_str(), state.as_str(), at],
            )?;
            run(
                c,
                "INSERT INTO contribution (id, assignment, task, agent, report, state, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                params![
                    contribution.id.as_str(),
                    contribution.assignment.as_str(),
                    contribution.task.as_str(),
                    contribution.agent.as_str(),
                    json(&contribution.report)?,
                    contribution.state.as_str(),
                    contribution.created_at
                ],
            )
        }
        Event::ContributionReviewed { contribution, state, because } => run(
            c,
            "UPDATE contribution SET state = ?2, because = ?3, reviewed_by = ?4, reviewed_at = ?5 WHERE id = ?1",
            params![contribution.as_str(), state.as_str(), because, recorded.actor.id, at],
        ),
        Event::AgentRetired { agent } => {
            run(c, "UPDATE agent SET retired_at = ?2 WHERE id = ?1", params![agent.as_str(), at])
        }
        Event::DecisionAsked { decision } => {
            run(
                c,
                "UPDATE tool_call SET state = 'running', fence = ?2, started_at = ?3 WHERE id = ?1",
                params![decision.tool_call.as_str(), fence, at],
            )?;
            run(
                c,
                "INSERT INTO decision (id, task, assignment, agent, tool_call, question, fallback, deadline_at, state, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                params![
                    decision.id.as_str(),
                    decision.task.as_str(),
                    decision.assignment.as_str(),
                    decision.agent.as_str(),
                    decision.tool_call.as_str(),
                    decision.question,
                    decision.fallback,
                    decision.deadline_at,
                    decision.state.as_str(),
                    decision.created_at
                ],
            )
        }
        Event::DecisionResolved { decision, state, answer } => {
            let by = (*state == DecisionState::Answered).then_some(&recorded.actor.id);
            run(
                c,
                "UPDATE decision SET state = ?2, answer = ?3, answered_by = ?4, resolved_at = ?5 WHERE id = ?1",
                params![decision.as_str(), state.as_str(), answer, by, at],
            )
        }
        _ => Ok(()),
    }
}

fn given(c: &Connection, work: &Assignment) -> rusqlite::Result<()> {
    run(
        c,
        "INSERT INTO assignment (id, task, agent, parent, turn, call, mode, name, objective, objective_version,
           contract, state, usage, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            work.id.as_str(),
            work.task.as_str(),
            work.agent.as_str(),
            work.parent.as_str(),
            work.turn,
            work.call.as_ref().map(ToolCallId::as_str),
            work.mode.as_str(),
            work.name,
            work.objective,
            work.objective_version,
            json(&work.contract)?,
            work.state.as_str(),
            json(&work.usage)?,
            work.created_at
        ],
    )
}

/// Adds to what the work that an agent is at has used; says whether it is at any.
pub(super) fn add_usage(c: &Connection, agent: &AgentId, more: &Usage) -> rusqlite::Result<bool> {
    let found: Option<(String, String)> = c
        .prepare_cached("SELECT id, usage FROM assignment WHERE agent = ?1 AND ended_at IS NULL")?
        .query_row([agent.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((id, text)) = found else { return Ok(false) };
    let mut usage: Usage = serde_json::from_str(&text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, e.into()))?;
    usage.add(more);
    run(c, "UPDATE assignment SET usage = ?2 WHERE id = ?1", params![id, json(&usage)?])?;
    Ok(true)
}
