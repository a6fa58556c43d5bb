//! From rows of tables to records: one function for each table, beside the columns it reads.

use crate::domain::*;
use rusqlite::{Row as SqlRow, types::Type};
use serde::de::DeserializeOwned;

pub(super) const TASK: &str = "id, title, status, reason, resume_status, archived, cwd, model, policy, budget, \
     objective_version, usage, main, created_at, updated_at";

pub(super) fn task(row: &SqlRow) -> rusqlite::Result<Task> {
    Ok(Task {
        id: TaskId(row.get(0)?),
        title: row.get(1)?,
        status: word(row, 2)?,
        reason: row.get(3)?,
        resume_status: optional_word(row, 4)?,
        archived: row.get(5)?,
        cwd: row.get(6)?,
        model: row.get(7)?,
        policy: json(row, 8)?,
        budget: json(row, 9)?,
        objective_version: row.get(10)?,
        usage: json(row, 11)?,
        main: AgentId(row.get(12)?),
        waiting_for: Vec::new(),
        last_words: String::new(),
        created_at: row.get(13)?,
        updated_at: row.get(14)?,
    })
}

pub(super) const OBJECTIVE: &str = "task, version, text, actor, at";

pub(super) fn objective(row: &SqlRow) -> rusqlite::Result<Objective> {
    Ok(Objective {
        task: TaskId(row.get(0)?),
        version: row.get(1)?,
        text: row.get(2)?,
        actor: actor(row, 3)?,
        at: row.get(4)?,
    })
}

pub(super) const CHECK: &str = "id, task, objective_version, kind, text, state, failures, judged_through, created_at";

pub(super) fn check(row: &SqlRow) -> rusqlite::Result<Check> {
    Ok(Check {
        id: CheckId(row.get(0)?),
        task: TaskId(row.get(1)?),
        objective_version: row.get::<_, Option<u32>>(2)?.unwrap_or(0),
        kind: word(row, 3)?,
        text: row.get(4)?,
        state: word(row, 5)?,
        failures: row.get(6)?,
        judged_through: row.get(7)?,
        created_at: row.get(8)?,
    })
}

pub(super) const VERDICT: &str = "id, acceptance_check, outcome, evidence, through_seq, actor, at";

pub(super) fn verdict(row: &SqlRow) -> rusqlite::Result<Verdict> {
    Ok(Verdict {
        id: VerdictId(row.get(0)?),
        check: CheckId(row.get(1)?),
        outcome: word(row, 2)?,
        evidence: json(row, 3)?,
        through_seq: row.get(4)?,
        actor: actor(row, 5)?,
        at: row.get(6)?,
    })
}

/// An agent, with the last row of its context beside it.
pub(super) const AGENT: &str = "agent.id, agent.task, agent.role, agent.next_seq, agent.tail_from_seq, agent.failures, \
     agent.retry_at, agent.created_at, agent.retired_at, last.role, last.n_tool_calls, last.cut";
pub(super) const AGENT_FROM: &str =
    "agent LEFT JOIN trajectory last ON last.agent = agent.id AND last.seq = agent.next_seq - 1";

pub(super) fn agent(row: &SqlRow) -> rusqlite::Result<Agent> {
    let last = match optional_word::<Role>(row, 9)? {
        Some(role) => Some(LastRow { role, calls: row.get(10)?, cut: row.get(11)? }),
        None => None,
    };
    Ok(Agent {
        id: AgentId(row.get(0)?),
        task: TaskId(row.get(1)?),
        role: word(row, 2)?,
        next_seq: row.get(3)?,
        tail_from_seq: row.get(4)?,
        last,
        failures: row.get(5)?,
        retry_at: row.get(6)?,
        created_at: row.get(7)?,
        retired_at: row.get(8)?,
    })
}

pub(super) const RUN: &str = "id, task, agent, state, fence, end_reason, detail, started_at, ended_at";

pub(super) fn run(row: &SqlRow) -> rusqlite::Result<Run> {
    Ok(Run {
        id: RunId(row.get(0)?),
        task: TaskId(row.get(1)?),
        agent: AgentId(row.get(2)?),
        state: word(row, 3)?,
        fence: row.get(4)?,
        end_reason: optional_word(row, 5)?,
        detail: row.get(6)?,
        started_at: row.get(7)?,
        ended_at: row.get(8)?,
    })
}

pub(super) const JOB: &str = "id, origin, task, actor, name, command, cwd, terminal, role, watch, state, process, stop, note, \
     matched_through, exit_code, signal, evidence, reason, log_bytes, last_output_at, last_line, created_at, ended_at, levels, breached";

pub(super) fn job(row: &SqlRow) -> rusqlite::Result<Job> {
    let end = match optional_word::<JobEvidence>(row, 17)? {
        Some(evidence) => Some(JobEnd {
            exit_code: row.get(15)?,
            signal: row.get(16)?,
            evidence,
            reason: row.get(18)?,
            log_bytes: row.get(19)?,
            last_output_at: row.get(20)?,
            last_line: row.get(21)?,
            ended_at: row.get(23)?,
        }),
        None => None,
    };
    Ok(Job {
        id: JobId(row.get(0)?),
        origin: row.get(1)?,
        task: row.get::<_, Option<String>>(2)?.map(TaskId),
        actor: actor(row, 3)?,
        definition: JobDefinition {
            name: row.get(4)?,
            command: json(row, 5)?,
            cwd: row.get(6)?,
            terminal: row.get(7)?,
            role: word(row, 8)?,
            watch: json(row, 9)?,
            levels: json(row, 24)?,
        },
        state: word(row, 10)?,
        process: optional_json(row, 11)?,
        stop: optional_json(row, 12)?,
        note: row.get(13)?,
        matched_through: row.get(14)?,
        breached: json(row, 25)?,
        end,
        created_at: row.get(22)?,
    })
}

pub(super) const CONTEXT_ROW: &str = "seq, role, body, message, tool_call, cut, tokens, at, \
     (SELECT c.state FROM tool_call c WHERE c.id = trajectory.tool_call)";

pub(super) fn context_row(row: &SqlRow) -> rusqlite::Result<Row> {
    Ok(Row {
        seq: row.get(0)?,
        role: word(row, 1)?,
        parts: json(row, 2)?,
        message: row.get::<_, Option<String>>(3)?.map(MessageId),
        tool_call: row.get::<_, Option<String>>(4)?.map(ToolCallId),
        outcome: optional_word(row, 8)?,
        cut: row.get(5)?,
        tokens: row.get(6)?,
        at: row.get(7)?,
    })
}

pub(super) const MESSAGE: &str = "id, task, to_actor, from_actor, kind, key, delivery, ord, text, refs, state, reason, \
     context_seq, consumed_seq, fence, created_at, delivered_at, consumed_at";

pub(super) fn message(row: &SqlRow) -> rusqlite::Result<Message> {
    Ok(Message {
        id: MessageId(row.get(0)?),
        task: row.get::<_, Option<String>>(1)?.map(TaskId),
        to: actor(row, 2)?,
        from: actor(row, 3)?,
        kind: word(row, 4)?,
        key: row.get(5)?,
        delivery: word(row, 6)?,
        order: row.get(7)?,
        text: row.get(8)?,
        refs: json(row, 9)?,
        state: word(row, 10)?,
        reason: row.get(11)?,
        context_seq: row.get(12)?,
        consumed_seq: row.get(13)?,
        fence: row.get(14)?,
        created_at: row.get(15)?,
        delivered_at: row.get(16)?,
        consumed_at: row.get(17)?,
    })
}

pub(super) const MODEL_CALL: &str = "id, agent, run, purpose, state, fence, model, through_seq, result_seq, error_class, \
     usage, started_at, ended_at";

pub(super) fn model_call(row: &SqlRow) -> rusqlite::Result<ModelCall> {
    Ok(ModelCall {
        id: ModelCallId(row.get(0)?),
        agent: AgentId(row.get(1)?),
        run: RunId(row.get(2)?),
        purpose: row.get(3)?,
        state: word(row, 4)?,
        fence: row.get(5)?,
        model: row.get(6)?,
        through_seq: row.get(7)?,
        result_seq: row.get(8)?,
        error_class: row.get(9)?,
        usage: optional_json(row, 10)?,
        started_at: row.get(11)?,
        ended_at: row.get(12)?,
    })
}

pub(super) const TOOL_CALL: &str = "id, agent, run, assistant_seq, ix, provider_id, name, arguments, effect, pre_hash, \
     post_hash, state, fence, result_seq, created_at, started_at, ended_at";

pub(super) fn tool_call(row: &SqlRow) -> rusqlite::Result<ToolCall> {
    Ok(ToolCall {
        id: ToolCallId(row.get(0)?),
        agent: AgentId(row.get(1)?),
        run: RunId(row.get(2)?),
        assistant_seq: row.get(3)?,
        ix: row.get(4)?,
        provider_id: row.get(5)?,
        name: row.get(6)?,
        arguments: row.get(7)?,
        effect: word(row, 8)?,
        pre_hash: row.get(9)?,
        post_hash: row.get(10)?,
        state: word(row, 11)?,
        fence: row.get(12)?,
        result_seq: row.get(13)?,
        created_at: row.get(14)?,
        started_at: row.get(15)?,
        ended_at: row.get(16)?,
    })
}

pub(super) const APPROVAL: &str =
    "id, task, agent, tool_call, action, action_hash, why, state, because, decided_by, created_at, decided_at";

pub(super) fn approval(row: &SqlRow) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: ApprovalId(row.get(0)?),
        task: TaskId(row.get(1)?),
        agent: AgentId(row.get(2)?),
        tool_call: ToolCallId(row.get(3)?),
        action: json(row, 4)?,
        action_hash: row.get(5)?,
        why: row.get(6)?,
        state: word(row, 7)?,
        because: row.get(8)?,
        decided_by: optional_actor(row, 9)?,
        created_at: row.get(10)?,
        decided_at: row.get(11)?,
    })
}

pub(super) const ASSIGNMENT: &str = "id, task, agent, parent, turn, call, mode, name, objective, objective_version, contract, \
     state, usage, created_at, ended_at";

pub(super) fn assignment(row: &SqlRow) -> rusqlite::Result<Assignment> {
    Ok(Assignment {
        id: AssignmentId(row.get(0)?),
        task: TaskId(row.get(1)?),
        agent: AgentId(row.get(2)?),
        parent: AgentId(row.get(3)?),
        turn: row.get(4)?,
        call: row.get::<_, Option<String>>(5)?.map(ToolCallId),
        mode: word(row, 6)?,
        name: row.get(7)?,
        objective: row.get(8)?,
        objective_version: row.get(9)?,
        contract: json(row, 10)?,
        state: word(row, 11)?,
        usage: json(row, 12)?,
        created_at: row.get(13)?,
        ended_at: row.get(14)?,
    })
}

pub(super) const CONTRIBUTION: &str =
    "id, assignment, task, agent, report, state, reviewed_by, because, created_at, reviewed_at";

pub(super) fn contribution(row: &SqlRow) -> rusqlite::Result<Contribution> {
    Ok(Contribution {
        id: ContributionId(row.get(0)?),
        assignment: AssignmentId(row.get(1)?),
        task: TaskId(row.get(2)?),
        agent: AgentId(row.get(3)?),
        report: json(row, 4)?,
        state: word(row, 5)?,
        reviewed_by: optional_actor(row, 6)?,
        because: row.get(7)?,
        created_at: row.get(8)?,
        reviewed_at: row.get(9)?,
    })
}

pub(super) const DECISION: &str = "id, task, assignment, agent, tool_call, question, fallback, deadline_at, state, answer, \
     answered_by, created_at, resolved_at";

pub(super) fn decision(row: &SqlRow) -> rusqlite::Result<DecisionRequest> {
    Ok(DecisionRequest {
        id: DecisionId(row.get(0)?),
        task: TaskId(row.get(1)?),
        assignment: AssignmentId(row.get(2)?),
        agent: AgentId(row.get(3)?),
        tool_call: ToolCallId(row.get(4)?),
        question: row.get(5)?,
        fallback: row.get(6)?,
        deadline_at: row.get(7)?,
        state: word(row, 8)?,
        answer: row.get(9)?,
        answered_by: optional_actor(row, 10)?,
        created_at: row.get(11)?,
        resolved_at: row.get(12)?,
    })
}

pub(super) const RULE: &str = "id, cwd, allow, tool, subject, approval, actor, created_at";

pub(super) fn rule(row: &SqlRow) -> rusqlite::Result<Rule> {
    Ok(Rule {
        id: RuleId(row.get(0)?),
        cwd: row.get(1)?,
        allow: row.get(2)?,
        tool: row.get(3)?,
        subject: row.get(4)?,
        approval: ApprovalId(row.get(5)?),
        actor: actor(row, 6)?,
        created_at: row.get(7)?,
    })
}

pub(super) const QUESTION: &str =
    "id, task, agent, tool_call, question, options, meanwhile, state, answer, created_at, resolved_at";

pub(super) fn question(row: &SqlRow) -> rusqlite::Result<Question> {
    Ok(Question {
        id: QuestionId(row.get(0)?),
        task: TaskId(row.get(1)?),
        agent: AgentId(row.get(2)?),
        tool_call: ToolCallId(row.get(3)?),
        question: row.get(4)?,
        options: json(row, 5)?,
        meanwhile: row.get(6)?,
        state: word(row, 7)?,
        answer: row.get(8)?,
        created_at: row.get(9)?,
        resolved_at: row.get(10)?,
    })
}

pub(super) const CONTROL: &str = "id, task, run, action, actor, state, created_at";

pub(super) fn control(row: &SqlRow) -> rusqlite::Result<Control> {
    Ok(Control {
        id: ControlId(row.get(0)?),
        task: TaskId(row.get(1)?),
        run: RunId(row.get(2)?),
        action: row.get(3)?,
        actor: actor(row, 4)?,
        state: word(row, 5)?,
        created_at: row.get(6)?,
    })
}

pub(super) const CHECKPOINT: &str = "id, agent, run, through_seq, tail_from_seq, created_at";

pub(super) fn checkpoint(row: &SqlRow) -> rusqlite::Result<Checkpoint> {
    Ok(Checkpoint {
        id: CheckpointId(row.get(0)?),
        agent: AgentId(row.get(1)?),
        run: RunId(row.get(2)?),
        through_seq: row.get(3)?,
        tail_from_seq: row.get(4)?,
        created_at: row.get(5)?,
    })
}

pub(super) const TRUST: &str = "path, device, inode, owner, trusted, at";

pub(super) fn trust(row: &SqlRow) -> rusqlite::Result<Trust> {
    Ok(Trust {
        folder: Folder {
            path: row.get(0)?,
            device: row.get::<_, i64>(1)? as u64,
            inode: row.get::<_, i64>(2)? as u64,
            owner: row.get(3)?,
        },
        trusted: row.get(4)?,
        at: row.get(5)?,
    })
}

fn optional_actor(row: &SqlRow, index: usize) -> rusqlite::Result<Option<Actor>> {
    Ok(row.get::<_, Option<String>>(index)?.map(|id| Actor::of(&id)))
}

fn actor(row: &SqlRow, index: usize) -> rusqlite::Result<Actor> {
    Ok(Actor::of(&row.get::<_, String>(index)?))
}

fn word<T: std::str::FromStr<Err = String>>(row: &SqlRow, index: usize) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    text.parse().map_err(|e: String| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, e.into()))
}

fn optional_word<T: std::str::FromStr<Err = String>>(row: &SqlRow, index: usize) -> rusqlite::Result<Option<T>> {
    match row.get::<_, Option<String>>(index)? {
        Some(_) => word(row, index).map(Some),
        None => Ok(None),
    }
}

fn json<T: DeserializeOwned>(row: &SqlRow, index: usize) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    serde_json::from_str(&text).map_err(|e| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, e.into()))
}

fn optional_json<T: DeserializeOwned>(row: &SqlRow, index: usize) -> rusqlite::Result<Option<T>> {
    match row.get::<_, Option<String>>(index)? {
        Some(_) => json(row, index).map(Some),
        None => Ok(None),
    }
}
