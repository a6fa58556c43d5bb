//! The lines of `exec --json`: one recorded event becomes none, one or several of them.
//!
//! Field names and kinds are a contract; every line begins with `seq, at, task, kind`. What is
//! bookkeeping of ours (checkpoints, controls, deliveries under a new owner) is no line.

use crate::domain::*;
use serde_json::{Map, Value, json};

/// The lines an event becomes. `calls` remembers the names of calls for their results.
pub fn lines(recorded: &Recorded, calls: &mut Calls) -> Vec<Value> {
    let mut lines = Lines { recorded, out: Vec::new() };
    match &recorded.event {
        Event::MessageQueued { message } => lines.add(
            "message",
            json!({ "id": message.id, "state": message.state, "about": message.kind, "from": message.from, "text": message.text }),
        ),
        Event::MessageEdited { message, text } => {
            lines.add("message", json!({ "id": message, "state": MessageState::Queued, "text": text }));
        }
        Event::MessageMoved { message, .. } => {
            lines.add("message", json!({ "id": message, "state": MessageState::Queued }));
        }
        Event::MessageDeliverySet { message, delivery } => {
            lines.add("message", json!({ "id": message, "state": MessageState::Queued, "delivery": delivery }));
        }
        Event::MessageWithdrawn { message } => {
            lines.add("message", json!({ "id": message, "state": MessageState::Withdrawn }));
        }
        Event::MessageDelivered { message, .. } => {
            lines.add("message", json!({ "id": message, "state": MessageState::Delivered }));
        }
        Event::MessageUndelivered { message, reason } => {
            lines.add("message", json!({ "id": message, "state": MessageState::Undelivered, "text": reason }));
        }

        Event::TurnStarted { call } => {
            calls.failure_told = false;
            lines.add("turn_started", json!({ "call": call.id, "model": call.model }));
        }
        Event::TurnCommitted { row, usage, .. } => answer(&mut lines, row, usage),
        Event::TurnFailed { class, message, retry_at: Some(_), instead: Some(instead), .. } => {
            lines.add("notice", json!({ "text": message, "class": class, "instead": instead }));
        }
        Event::TurnFailed { class, message, retry_at: Some(retry_at), instead: None, .. } => {
            lines.add("notice", json!({ "text": message, "class": class, "retry_at": retry_at }));
        }
        Event::TurnFailed { class, message, retry_at: None, .. } => {
            calls.failure_told = true;
            lines.add("error", json!({ "class": class, "message": message }));
        }
        Event::TurnAbandoned { reason, .. } => lines.notice(format!("the request was given up: {reason}")),

        Event::ToolPlanned { call } => {
            calls.planned(call);
            let arguments = arguments(&call.arguments);
            lines.add("tool_call", json!({ "id": call.id, "name": call.name, "arguments": arguments }));
        }
        Event::BackgroundAsked { call } => lines.notice(format!("{call} is to go on in the background")),
        Event::ToolRequeued { call, .. } => lines.notice(format!("{call} is taken up again: its host had died")),
        Event::ToolSettled { call, state, row, .. } => {
            let mut result = json!({ "id": call, "ok": *state == ToolCallState::Done, "state": state, "text": row.text() });
            if let Some(name) = calls.settled(call) {
                result["name"] = name.into();
            }
            if let Some(reference) = reference(row) {
                result["ref"] = reference.into();
            }
            lines.add("tool_result", result);
        }

        Event::ApprovalRequested { approval } => {
            let hash = &approval.action_hash;
            lines.add("approval", json!({ "id": approval.id, "action": approval.action, "why": approval.why, "hash": hash }));
        }
        Event::ApprovalDecided { approval, state, because, .. } => {
            lines.notice(worded(&format!("approval {approval} is {state}"), because.as_deref()));
        }
        Event::QuestionAsked { question } => {
            let Question { id, question, options, meanwhile, .. } = question;
            lines.add("question", json!({ "id": id, "question": question, "options": options, "meanwhile": meanwhile }));
        }
        Event::QuestionResolved { question, state, .. } => lines.notice(format!("question {question} is {state}")),

        Event::AssignmentGiven { assignment, .. } => {
            let Assignment { id, agent, name, objective, .. } = assignment;
            lines.add("assignment", json!({ "id": id, "agent": agent, "name": name, "objective": objective }));
        }
        Event::ContributionMade { contribution, .. } => {
            let Contribution { id, agent, report, .. } = contribution;
            lines.add(
                "contribution",
                json!({ "id": id, "agent": agent, "outcome": report.outcome, "done": report.done,
                        "uncertain": report.uncertain, "refs": report.refs }),
            );
        }
        Event::ContributionReviewed { contribution, state, because } => {
            lines.notice(worded(&format!("Contribution {contribution} is {state}"), because.as_deref()));
        }
        Event::DecisionAsked { decision } => {
            let DecisionRequest { id, agent, question, fallback, deadline_at, .. } = decision;
            lines.add(
                "decision",
                json!({ "id": id, "agent": agent, "question": question, "fallback": fallback, "deadline_at": deadline_at }),
            );
        }
        Event::DecisionResolved { decision, state, answer } => {
            lines.notice(worded(&format!("decision {decision} is {state}"), answer.as_deref()));
        }

        Event::RunStarted { run, resumed, woken_by } => {
            let text = if *resumed { "Main goes on" } else { "Main begins" };
            lines.add("notice", json!({ "text": text, "run": run.id, "woken_by": woken_by }));
        }
        Event::RunSuspended { reason, .. } => lines.notice(format!("Main stands still: {reason}")),
        Event::RunEnded { reason, detail, .. } => {
            // A turn that failed after words is kept as cut: its failure stands here alone.
            if let (EndReason::Model, Some(detail), false) = (reason, detail, calls.failure_told) {
                let (class, message) = detail.split_once(": ").unwrap_or(("config", detail));
                lines.add("error", json!({ "class": class, "message": message }));
            }
            lines.notice(worded(&format!("Main has ended: {reason}"), detail.as_deref()));
        }
        Event::TaskStatusChanged { status, reason, .. } => {
            let text = worded(&format!("the Task is {status}"), reason.as_deref());
            lines.add("notice", json!({ "text": text, "status": status }));
        }
        Event::JobCreated { job } => {
            let (state, command) = (job.state, job.definition.command.to_string());
            lines.add("job", json!({ "id": job.id, "name": job.definition.name, "state": state, "command": command }));
        }
        Event::JobStarted { job, process } => {
            lines.add("job", json!({ "id": job, "state": JobState::Running, "pid": process.pid }));
        }
        Event::JobStopRequested { job, .. } => lines.add("job", json!({ "id": job, "state": JobState::Stopping })),
        Event::JobMatched { job, count, line, .. } if *count > 0 => {
            lines.add("job", json!({ "id": job, "matched": count, "line": line }));
        }
        Event::JobSettled { job, state, end } => {
            let (code, signal) = (end.exit_code, end.signal);
            lines.add("job", json!({ "id": job, "state": state, "exit_code": code, "signal": signal, "reason": end.reason }));
        }
        Event::JobBreached { job, breach, text } => {
            lines.add("job", json!({ "id": job, "breach": breach, "text": text }));
        }
        Event::JobOrphaned { job, note } => lines.notice(format!("Job {job}: {note}")),
        Event::JobInputSent { job, bytes, .. } => lines.notice(format!("Job {job} was sent {bytes} bytes")),
        Event::JobSignalSent { job, signal } => lines.notice(format!("Job {job} was sent signal {signal}")),
        Event::ResourceCreated { resource, .. } => {
            lines.add("resource", json!({ "id": resource.id, "name": resource.name, "revision": resource.revision }));
        }
        Event::RevisionCommitted { revision } => lines.add(
            "resource",
            json!({ "id": revision.resource, "revision": revision.number, "actor": revision.actor, "summary": revision.made.summary }),
        ),
        Event::CandidateKept { candidate } => lines.add(
            "resource",
            json!({ "id": candidate.resource, "candidate": candidate.id, "base": candidate.base, "state": candidate.state, "actor": candidate.actor }),
        ),
        Event::CandidateMoved { candidate, state, .. } => {
            lines.add("resource", json!({ "candidate": candidate, "state": state }));
        }
        Event::ResourceRenamed { resource, name } => lines.add("resource", json!({ "id": resource, "name": name })),
        Event::ResourceMirrored { resource, mirror } => {
            lines.add("resource", json!({ "id": resource, "mirror": mirror }));
        }
        Event::MirrorLooked { resource, trouble: Some(trouble), .. } => {
            lines.notice(format!("{resource} and its file do not follow each other: {trouble}"));
        }
        Event::EngineAnswered { intent, state, .. } => lines.notice(format!("the engine's work {intent} is {state}")),
        Event::CheckAdded { check } => {
            lines.add("notice", json!({ "text": format!("to be met: {}", check.text), "check": check.id }));
        }
        Event::VerdictGiven { verdict } => {
            let text = format!("{} is {}", verdict.check, verdict.outcome);
            lines.add("notice", json!({ "text": text, "check": verdict.check, "evidence": verdict.evidence }));
        }
        Event::TaskRenamed { title, .. } => lines.notice(format!("the Task is now called {title}")),
        Event::ObjectiveSet { version, .. } if *version > 1 => {
            lines.notice(format!("the objective has version {version}"));
        }
        Event::TaskModelSet { model } => {
            lines.notice(format!("the model is now {}", model.as_deref().unwrap_or("the configured default")));
        }
        Event::TaskPolicySet { policy } => lines.notice(format!("the policy is now {}", policy.name())),
        Event::TaskBudgetSet { .. } => lines.notice("the budget has changed".into()),

        Event::TakenOver { .. }
        | Event::AssignmentMoved { .. }
        | Event::AssignmentReleased { .. }
        | Event::AgentRetired { .. }
        | Event::TaskCreated { .. }
        | Event::ObjectiveSet { .. }
        | Event::TaskArchived { .. }
        | Event::TaskRemoved { .. }
        | Event::MessageHeld { .. }
        | Event::JobMatched { .. }
        | Event::JobRemoved { .. }
        | Event::CandidateRevised { .. }
        | Event::MirrorLooked { trouble: None, .. }
        | Event::ResourceSeen { .. }
        | Event::ResourceSelected { .. }
        | Event::ResourceRemoved { .. }
        | Event::EngineAsked { .. }
        | Event::ToolStarted { .. }
        | Event::RuleAdded { .. }
        | Event::RuleRemoved { .. }
        | Event::ControlRequested { .. }
        | Event::ControlSettled { .. }
        | Event::CheckpointSaved { .. }
        | Event::FolderTrustSet { .. } => {}
    }
    lines.out
}

/// What earlier events say about later ones: the names of calls that have no result yet, and
/// whether the failure of the last turn was told.
#[derive(Debug, Default)]
pub struct Calls {
    names: std::collections::HashMap<ToolCallId, String>,
    failure_told: bool,
}

impl Calls {
    /// Remembers the name of a call.
    pub fn planned(&mut self, call: &ToolCall) {
        self.names.insert(call.id.clone(), call.name.clone());
    }
    /// Takes the name of a call that has its result now.
    pub fn settled(&mut self, call: &ToolCallId) -> Option<String> {
        self.names.remove(call)
    }
}

struct Lines<'a> {
    recorded: &'a Recorded,
    out: Vec<Value>,
}

impl Lines<'_> {
    fn add(&mut self, kind: &str, fields: Value) {
        let Recorded { seq, at, task, .. } = self.recorded;
        self.out.push(line(*seq, *at, task.as_ref(), kind, fields));
    }
    fn notice(&mut self, text: String) {
        self.add("notice", json!({ "text": text }));
    }
}

/// One line: its place, then its fields.
pub fn line(seq: Seq, at: Millis, task: Option<&TaskId>, kind: &str, fields: Value) -> Value {
    let mut line = Map::new();
    line.insert("seq".into(), seq.into());
    line.insert("at".into(), at.into());
    if let Some(task) = task {
        line.insert("task".into(), task.0.clone().into());
    }
    line.insert("kind".into(), kind.into());
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    Value::Object(line)
}

/// An answer: what was thought, what was said; its calls have events of their own.
fn answer(lines: &mut Lines, row: &Row, usage: &Usage) {
    let mut thought = String::new();
    for part in &row.parts {
        if let Part::Thinking { text, .. } = part {
            thought += text;
        }
    }
    if !thought.is_empty() {
        lines.add("thinking", json!({ "text": thought }));
    }
    let mut said = json!({ "text": row.text(), "final": row.calls() == 0 && !row.cut });
    if row.cut {
        said["cut"] = true.into();
    }
    said["usage"] = json!(usage);
    if !row.text().is_empty() || row.calls() == 0 {
        lines.add("text", said);
    }
}

/// Arguments as a value; those that are not valid stay the text they are.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Where the whole of a result can be read.
fn reference(row: &Row) -> Option<String> {
    const MARK: &str = "\"output:";
    row.parts.iter().find_map(|part| match part {
        Part::Image { blob, .. } => Some(format!("output:{blob}")),
        Part::Text { text } => text.match_indices(MARK).find_map(|(at, _)| {
            let name = text[at + MARK.len()..].split('"').next().unwrap_or_default();
            let hex = name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
            hex.then(|| format!("output:{name}"))
        }),
        Part::Thinking { .. } | Part::Call { .. } => None,
    })
}

fn worded(what: &str, more: Option<&str>) -> String {
    match more {
        Some(more) => format!("{what} ({more})"),
        None => what.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::permission::{Access, Action};

    fn recorded(seq: Seq, event: Event) -> Recorded {
        Recorded { seq, at: 1_700_000_000_000 + seq, task: Some("t_1".into()), actor: Actor::system(), event }
    }

    fn row(seq: u64, role: Role, parts: Vec<Part>) -> Row {
        Row { seq, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 0, at: 0 }
    }

    fn call(arguments: &str) -> ToolCall {
        ToolCall {
            id: "c_1".into(),
            agent: "a_1".into(),
            run: "r_1".into(),
            assistant_seq: 2,
            ix: 0,
            provider_id: "call_0".into(),
            name: "shell".into(),
            arguments: arguments.into(),
            effect: Effect::Effectful,
            pre_hash: None,
            post_hash: None,
            state: ToolCallState::Planned,
            fence: None,
            result_seq: None,
            created_at: 0,
            started_at: None,
            ended_at: None,
        }
    }

    fn settled(state: ToolCallState, parts: Vec<Part>) -> Event {
        Event::ToolSettled { call: "c_1".into(), agent: "a_1".into(), state, row: row(3, Role::Tool, parts), saw: None }
    }

    /// A conversation with everything in it that has a line.
    fn conversation() -> Vec<Event> {
        let action = Action {
            tool: "shell".into(),
            access: Access::Execute,
            subject: "make".into(),
            cwd: "/w".into(),
            detail: String::new(),
            inside: true,
            own: false,
            beyond: String::new(),
            rule_subject: "make".into(),
        };
        let message = Message {
            id: "m_1".into(),
            task: Some("t_1".into()),
            to: Actor::agent(&"a_1".into()),
            from: Actor::person(),
            kind: MessageKind::User,
            key: "user:e_1".into(),
            delivery: Delivery::Boundary,
            order: 1,
            text: "build it".into(),
            refs: Vec::new(),
            state: MessageState::Queued,
            reason: None,
            context_seq: None,
            consumed_seq: None,
            fence: None,
            created_at: 0,
            delivered_at: None,
            consumed_at: None,
        };
        let run = Run {
            id: "r_1".into(),
            task: "t_1".into(),
            agent: "a_1".into(),
            state: RunState::Running,
            fence: 1,
            end_reason: None,
            detail: None,
            started_at: 0,
            ended_at: None,
        };
        let model_call = ModelCall {
            id: "k_1".into(),
            agent: "a_1".into(),
            run: "r_1".into(),
            purpose: "turn".into(),
            state: ModelCallState::Started,
            fence: 1,
            model: "openai:gpt".into(),
            through_seq: 1,
            result_seq: None,
            error_class: None,
            usage: None,
            started_at: 0,
            ended_at: None,
        };
        let thinking = Part::Thinking { text: "a Makefile".into(), signature: Some("sig".into()) };
        let asks = Part::Call {
            id: "c_1".into(),
            provider_id: "call_0".into(),
            name: "shell".into(),
            arguments: r#"{"command":"make"}"#.into(),
        };
        let committed = |row| Event::TurnCommitted {
            call: "k_1".into(),
            agent: "a_1".into(),
            row,
            usage: Usage { turns: 1, input_tokens: 10, output_tokens: 2, ..Usage::default() },
            consumed: Vec::new(),
        };
        let failed = |retry_at| Event::TurnFailed {
            call: "k_1".into(),
            agent: "a_1".into(),
            class: "overloaded".into(),
            message: "the server is overloaded".into(),
            retry_at,
            instead: None,
        };
        let whole = format!("first\n[… read {{\"path\":\"output:{}\"}} shows them …]\nlast", "ab".repeat(32));
        vec![
            Event::MessageQueued { message },
            Event::RunStarted { run, resumed: false, woken_by: vec!["m_1".into()] },
            Event::MessageDelivered {
                message: "m_1".into(),
                agent: "a_1".into(),
                run: "r_1".into(),
                row: row(1, Role::User, vec![Part::text("build it")]),
            },
            Event::TurnStarted { call: model_call },
            failed(Some(1_700_000_002_000)),
            committed(row(2, Role::Assistant, vec![thinking, Part::text("I build it."), asks])),
            Event::ToolPlanned { call: call(r#"{"command":"make"}"#) },
            Event::ApprovalRequested {
                approval: Approval {
                    id: "p_1".into(),
                    task: "t_1".into(),
                    agent: "a_1".into(),
                    tool_call: "c_1".into(),
                    action_hash: action.hash(),
                    action,
                    why: "it runs a command".into(),
                    state: ApprovalState::Pending,
                    because: None,
                    decided_by: None,
                    created_at: 0,
                    decided_at: None,
                },
            },
            Event::TaskStatusChanged {
                status: TaskStatus::AwaitingHuman,
                reason: Some("approval".into()),
                resume_status: None,
            },
            Event::ApprovalDecided {
                approval: "p_1".into(),
                call: "c_1".into(),
                state: ApprovalState::Allowed,
                because: None,
                decided_by: Some(Actor::person()),
            },
            Event::ToolStarted { call: "c_1".into(), fence: 1, pre_hash: None, post_hash: None },
            settled(ToolCallState::Error, vec![Part::text(whole)]),
            Event::QuestionAsked {
                question: Question {
                    id: "q_1".into(),
                    task: "t_1".into(),
                    agent: "a_1".into(),
                    tool_call: "c_2".into(),
                    question: "Which?".into(),
                    options: vec!["a".into(), "b".into()],
                    meanwhile: "I wait".into(),
                    state: QuestionState::Open,
                    answer: None,
                    created_at: 0,
                    resolved_at: None,
                },
            },
            committed(row(4, Role::Assistant, vec![Part::text("Done.")])),
            failed(None),
            Event::ControlSettled { control: "l_1".into(), state: ControlState::Moot },
        ]
    }

    #[test]
    fn a_conversation_becomes_the_lines_of_the_contract() {
        let mut calls = Calls::default();
        let mut shown = Vec::new();
        for (ix, event) in conversation().into_iter().enumerate() {
            shown.extend(lines(&recorded(ix as Seq + 1, event), &mut calls).iter().map(Value::to_string));
        }
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn every_line_says_its_place_and_a_kind_of_the_contract() {
        let kinds = [
            "message",
            "turn_started",
            "text",
            "thinking",
            "tool_call",
            "tool_result",
            "approval",
            "question",
            "agent",
            "job",
            "source",
            "goal",
            "resource",
            "compaction",
            "notice",
            "error",
            "result",
        ];
        let mut calls = Calls::default();
        let mut last = 0;
        for (ix, event) in conversation().into_iter().enumerate() {
            for line in lines(&recorded(ix as Seq + 1, event), &mut calls) {
                let keys: Vec<_> = line.as_object().expect("an object").keys().take(4).cloned().collect();
                assert_eq!(keys, ["seq", "at", "task", "kind"]);
                assert!(kinds.contains(&line["kind"].as_str().expect("a word")), "{line}");
                let seq = line["seq"].as_i64().expect("a number");
                assert!(seq >= last);
                last = seq;
            }
        }
    }

    #[test]
    fn arguments_that_are_no_json_stay_text() {
        let mut calls = Calls::default();
        for (text, want) in [("", json!({})), (r#"{"a":1}"#, json!({"a":1})), (r#"{"a":"#, json!(r#"{"a":"#))] {
            let event = Event::ToolPlanned { call: call(text) };
            assert_eq!(lines(&recorded(1, event), &mut calls)[0]["arguments"], want);
        }
    }

    #[test]
    fn a_result_names_where_its_whole_is_and_only_then() {
        let mut calls = Calls::default();
        let line = |parts| lines(&recorded(1, settled(ToolCallState::Done, parts)), &mut Calls::default()).remove(0);
        assert!(line(vec![Part::text("see \"output:short\"")]).get("ref").is_none());
        let image = Part::Image { media_type: "image/png".into(), blob: "ab".repeat(32), name: String::new() };
        assert_eq!(line(vec![image])["ref"], format!("output:{}", "ab".repeat(32)));
        lines(&recorded(1, Event::ToolPlanned { call: call("{}") }), &mut calls);
        let named = lines(&recorded(2, settled(ToolCallState::Done, vec![])), &mut calls).remove(0);
        assert_eq!((&named["name"], &named["ok"]), (&json!("shell"), &json!(true)));
    }
}
