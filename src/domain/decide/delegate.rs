//! Delegation: work given to Subagents, what is said to them, what they ask, and what comes of it.
//!
//! The one place where an assignment ends is [`finish`]: whatever ends it, there is exactly one
//! Contribution, and whoever gave the work hears of it exactly once.

use super::*;
use crate::domain::command::ReviewVerdict;
use crate::domain::rejection::RejectionKind;
use crate::domain::step::CANCEL;

/// The tools that every Subagent has.
const SUBAGENTS_OWN: [&str; 3] = ["report", "decide", "tell"];

/// The most bytes of objective and background that a Subagent begins with.
const LARGEST_BRIEFING: usize = 24_000;

/// How long a decision may be waited for, in milliseconds.
const WAIT_MS: std::ops::RangeInclusive<u64> = 1_000..=86_400_000;

/// A piece of work to be given.
pub(super) struct Work<'a> {
    pub mode: DelegationMode,
    pub name: &'a str,
    pub objective: &'a str,
    pub contract: &'a Contract,
}

pub(super) fn give(d: &mut Decision, id: &RunId, call: &ToolCallId, work: Work) -> Result<(), Rejection> {
    let (_, task, parent) = d.running(id)?;
    let call = d.open_call(&parent, call)?;
    if d.snap.assignments.values().any(|known| known.call.as_ref() == Some(&call.id)) {
        return Ok(());
    }
    if work.objective.trim().is_empty() {
        return Err(Rejection::invalid("the objective is empty", "say what is wanted"));
    }
    let bytes = work.objective.len() + work.contract.background.len();
    if bytes > LARGEST_BRIEFING {
        let hint = format!("at most {LARGEST_BRIEFING} may be; put the rest into a file and name it");
        return Err(Rejection::invalid(format!("objective and background are {bytes} bytes"), hint));
    }
    let agent = Agent {
        id: AgentId::new(&mut d.ids),
        task: task.id.clone(),
        role: AgentRole::Subagent,
        next_seq: 1,
        tail_from_seq: 1,
        last: None,
        failures: 0,
        retry_at: None,
        created_at: d.at,
        retired_at: None,
    };
    let mut contract = work.contract.clone();
    contract.grant.policy = contract.grant.policy.narrowed_by(task.policy);
    if let Some(above) = d.snap.live_assignment(&parent.id) {
        contract.grant = contract.grant.below(&above.contract.grant);
    }
    contract.grant.tools.extend(SUBAGENTS_OWN.map(str::to_owned));
    let assignment = Assignment {
        id: AssignmentId::new(&mut d.ids),
        task: task.id.clone(),
        agent: agent.id.clone(),
        parent: parent.id,
        turn: 1,
        call: Some(call.id),
        mode: work.mode,
        name: work.name.trim().to_owned(),
        objective: work.objective.to_owned(),
        objective_version: task.objective_version,
        contract,
        state: AssignmentState::Queued,
        usage: Usage::default(),
        created_at: after_all_others(d, &task),
        ended_at: None,
    };
    let (to, key, text) = (agent.id.clone(), format!("assignment:{}", assignment.id), briefing(&assignment));
    d.emit(Some(&task.id), Event::AssignmentGiven { assignment, agent: Some(agent) });
    d.tell(&task.id, &to, MessageKind::Guidance, key, text, Tell::soon());
    d.settle_status(&task.id);
    Ok(())
}

/// Now, and later than everything that was given before: they are taken up in this order.
fn after_all_others(d: &Decision, task: &Task) -> Millis {
    let given = d.snap.assignments.values().filter(|work| work.task == task.id).map(|work| work.created_at);
    given.max().map_or(d.at, |last| d.at.max(last + 1))
}

/// What a Subagent is told of its work: all that it sees of the Task.
fn briefing(work: &Assignment) -> String {
    let Contract { background, constraints, evidence, .. } = &work.contract;
    let mut text = format!("Your assignment ({}): {}", work.name, work.objective.trim());
    if !background.trim().is_empty() {
        text.push_str(&format!("\n\nBackground:\n{}", background.trim()));
    }
    for (title, points) in [("Constraints", constraints), ("Evidence to show", evidence)] {
        if !points.is_empty() {
            text.push_str(&format!("\n\n{title}:"));
            points.iter().for_each(|point| text.push_str(&format!("\n- {}", point.trim())));
        }
    }
    text
}

/// Ends an assignment: its Run, what it holds and handed on, and its Contribution, told once.
pub(super) fn finish(d: &mut Decision, work: &Assignment, report: Report, reason: EndReason, detail: Option<String>) {
    let task = work.task.clone();
    if let Some(run) = d.snap.live_run(&work.agent).cloned() {
        super::run::stop(d, &run, reason, detail);
    }
    let open: Vec<DecisionRequest> = d.snap.decisions.values().filter(|q| q.agent == work.agent).cloned().collect();
    for decision in open.iter().filter(|decision| decision.state == DecisionState::Open) {
        cancel_decision(d, decision);
    }
    // What it handed on ends with it, before it: so that nothing is told to somebody who is gone.
    let children: Vec<Assignment> =
        d.snap.assignments.values().filter(|a| a.parent == work.agent && !a.state.is_ended()).cloned().collect();
    for child in children {
        cancel_now(d, &child, "its giver ended");
    }
    let waiting: Vec<MessageId> =
        d.snap.inbox(&work.agent, MessageState::Queued).iter().map(|message| message.id.clone()).collect();
    for message in waiting {
        d.emit(Some(&task), Event::MessageUndelivered { message, reason: "the assignment had ended".into() });
    }
    let state = match report.outcome {
        Outcome::Completed | Outcome::Partial => AssignmentState::Completed,
        Outcome::Failed => AssignmentState::Failed,
        Outcome::Cancelled => AssignmentState::Cancelled,
    };
    let contribution = Contribution {
        id: ContributionId::new(&mut d.ids),
        assignment: work.id.clone(),
        task: task.clone(),
        agent: work.agent.clone(),
        report,
        state: ReviewState::Unreviewed,
        reviewed_by: None,
        because: None,
        created_at: d.at,
        reviewed_at: None,
    };
    d.emit(Some(&task), Event::ContributionMade { contribution: contribution.clone(), state });
    // A giver whose call still waits takes it from there.
    let awaited = work.mode == DelegationMode::Sync
        && work.call.as_ref().is_some_and(|call| d.snap.tool_calls.get(call).is_some_and(|c| !c.state.is_settled()));
    if !awaited {
        tell_of(d, work, &contribution);
    }
    d.settle_status(&task);
}

/// Tells whoever gave the work what came of it.
fn tell_of(d: &mut Decision, work: &Assignment, contribution: &Contribution) {
    let key = format!("assignment:{}:terminal", work.id);
    let text = contribution.told(work);
    d.tell(&work.task, &work.parent, MessageKind::Contribution, key, text, Tell::soon());
}

/// A call that waited is settled otherwise. One that waited for an assignment: its giver hears of it
/// as a message. One that waited for a decision: nobody needs it any more.
pub(super) fn release(d: &mut Decision, call: &ToolCall, state: ToolCallState) {
    let asked = d.snap.decision_of(&call.id).filter(|decision| decision.state == DecisionState::Open).cloned();
    if let Some(decision) = asked {
        cancel_decision(d, &decision);
    }
    let Some(work) = d
        .snap
        .assignments
        .values()
        .find(|work| work.call.as_ref() == Some(&call.id) && work.mode == DelegationMode::Sync)
        .cloned()
    else {
        return;
    };
    if !work.state.is_ended() {
        d.emit(Some(&work.task), Event::AssignmentReleased { assignment: work.id });
    } else if state != ToolCallState::Done
        && let Some(contribution) = d.snap.contributions.values().find(|c| c.assignment == work.id).cloned()
    {
        tell_of(d, &work, &contribution);
    }
}

/// What a call that ends well returns where what it waited for has come: its tool may have looked a
/// moment before, and what is decided here is never told again.
pub(super) fn awaited(d: &Decision, call: &ToolCall) -> Option<Vec<Part>> {
    let decided = d.snap.decision_of(&call.id).and_then(DecisionRequest::told);
    let given = || d.snap.assignments.values().find(|work| work.call.as_ref() == Some(&call.id));
    let made = || {
        let work = given().filter(|work| work.mode == DelegationMode::Sync)?;
        let made = d.snap.contributions.values().find(|made| made.assignment == work.id)?;
        Some(made.told(work))
    };
    decided.or_else(made).map(|text| vec![Part::text(text)])
}

pub(super) fn report(
    d: &mut Decision,
    id: &RunId,
    call: &Option<ToolCallId>,
    report: &Report,
) -> Result<(), Rejection> {
    let (run, _, agent) = d.running(id)?;
    let Some(work) = d.snap.live_assignment(&agent.id).cloned() else {
        return Err(Rejection::wrong_state("only a Subagent reports", "give your answer instead"));
    };
    if let Some(call) = call {
        let call = d.open_call(&agent, call)?;
        super::tool::settle_with(d, &run, &call, ToolCallState::Done, vec![Part::text("Handed in.")], None);
    }
    if !d.snap.open_calls(&agent.id).is_empty() {
        return Err(Rejection::wrong_state("calls are open", "settle them first"));
    }
    finish(d, &work, report.clone(), EndReason::Finished, None);
    Ok(())
}

/// A Subagent's Run ends without its own report.
pub(super) fn broke_off(d: &mut Decision, work: &Assignment, reason: EndReason, detail: Option<String>) {
    let (outcome, done) = match reason {
        EndReason::Cancelled | EndReason::Interrupted => (Outcome::Cancelled, "It was stopped."),
        EndReason::Budget => (Outcome::Partial, "A budget ran out before it had finished."),
        EndReason::Model => (Outcome::Failed, "Its model failed."),
        EndReason::Internal => (Outcome::Failed, "A fault of the program ended it."),
        EndReason::Finished => (Outcome::Completed, "It ended without a word."),
    };
    let done = match &detail {
        Some(detail) => format!("{done} {detail}"),
        None => done.to_owned(),
    };
    let report = Report { outcome, done, uncertain: String::new(), refs: Vec::new() };
    finish(d, work, report, reason, detail);
}

fn cancel_now(d: &mut Decision, work: &Assignment, why: &str) {
    broke_off(d, work, EndReason::Cancelled, Some(format!("({why})")));
}

/// Ends every assignment of a Task that is being cancelled; nobody is told.
pub(super) fn cancel_all(d: &mut Decision, task: &Task) {
    let live: Vec<AssignmentId> = d
        .snap
        .assignments
        .values()
        .filter(|a| a.task == task.id && !a.state.is_ended())
        .map(|a| a.id.clone())
        .collect();
    for id in live {
        // An earlier one may have taken it along.
        if let Some(work) = d.snap.assignments.get(&id).filter(|work| !work.state.is_ended()).cloned() {
            cancel_now(d, &work, "the Task was cancelled");
        }
    }
    for contribution in all_unreviewed(d, task) {
        settle(d, &contribution, ReviewState::Superseded, None);
    }
}

fn mine(d: &Decision, task: &Task, agent: &AgentId) -> Result<Agent, Rejection> {
    d.snap
        .agents
        .get(agent)
        .filter(|known| known.task == task.id && known.role == AgentRole::Subagent)
        .cloned()
        .ok_or_else(|| Rejection::not_found(format!("Subagent {agent}"), "`cowork agents ls` lists those of a Task"))
}

/// Whether `above` gave `agent` its work, itself or through others.
fn is_below(d: &Decision, agent: &AgentId, above: &AgentId) -> bool {
    let mut at = agent.clone();
    while let Some(work) = d.snap.assignments.values().filter(|work| work.agent == at).max_by_key(|work| work.turn) {
        if work.parent == *above {
            return true;
        }
        at = work.parent.clone();
    }
    false
}

fn only_own(d: &Decision, agent: &AgentId, above: &AgentId) -> Result<(), Rejection> {
    if is_below(d, agent, above) {
        return Ok(());
    }
    Err(Rejection::new(RejectionKind::Forbidden, format!("{agent} is no Subagent of yours"), ""))
}

/// An agent stops a Subagent of its own.
pub(super) fn cancel_own(d: &mut Decision, id: &RunId, agent: &AgentId) -> Result<(), Rejection> {
    let (_, task, me) = d.running(id)?;
    mine(d, &task, agent)?;
    only_own(d, agent, &me.id)?;
    cancel(d, &task.id, agent)
}

/// Stops a Subagent: one that works is told to, any other ends here and now.
pub(super) fn cancel(d: &mut Decision, id: &TaskId, agent: &AgentId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    mine(d, &task, agent)?;
    let Some(work) = d.snap.live_assignment(agent).cloned() else {
        return Err(Rejection::wrong_state(format!("{agent} has nothing to do"), "there is nothing to stop"));
    };
    match d.snap.live_run(agent).cloned() {
        Some(run) if run.state == RunState::Running => {
            if d.snap.open_control(&run.id).is_none() {
                super::run::request_stop(d, &run, CANCEL);
            }
        }
        Some(_) | None => cancel_now(d, &work, "before it went on"),
    }
    Ok(())
}

/// A person says something to a Subagent; Main is told in the same step.
pub(super) fn guide(d: &mut Decision, id: &TaskId, agent: &AgentId, text: &str) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let name = reachable(d, &task, agent, text)?;
    let key = format!("user:{}", d.command);
    d.tell(id, agent, MessageKind::Guidance, key.clone(), text.to_owned(), Tell::soon());
    let words = format!("The person told {name} ({agent}): {}", text.trim());
    d.tell_main(&task, MessageKind::Notice, key, words, Tell::soon());
    d.settle_status(id);
    Ok(())
}

/// An agent says something to a Subagent: guidance from above, or a word from beside.
pub(super) fn tell(
    d: &mut Decision,
    id: &RunId,
    call: &ToolCallId,
    to: &AgentId,
    text: &str,
    refs: &[String],
) -> Result<(), Rejection> {
    let (_, task, me) = d.running(id)?;
    d.open_call(&me, call)?;
    reachable(d, &task, to, text)?;
    let kind = if is_below(d, to, &me.id) { MessageKind::Guidance } else { MessageKind::Peer };
    let more = Tell { delivery: Delivery::Boundary, refs: refs.to_vec() };
    d.tell(&task.id, to, kind, format!("msg:{call}:{to}"), text.to_owned(), more);
    Ok(())
}

/// The name of a Subagent that can be told something.
fn reachable(d: &Decision, task: &Task, agent: &AgentId, text: &str) -> Result<String, Rejection> {
    mine(d, task, agent)?;
    if text.trim().is_empty() {
        return Err(Rejection::invalid("the message is empty", "say something"));
    }
    match d.snap.live_assignment(agent) {
        Some(work) => Ok(work.name.clone()),
        None => {
            let hint = "send its Contribution back for rework, or give the work to a new one";
            Err(Rejection::wrong_state(format!("{agent} has ended"), hint))
        }
    }
}

pub(super) fn request_decision(
    d: &mut Decision,
    id: &RunId,
    call: &ToolCallId,
    question: &str,
    fallback: &str,
    wait_ms: u64,
) -> Result<(), Rejection> {
    let (_, task, agent) = d.running(id)?;
    let call = d.open_call(&agent, call)?;
    if d.snap.decision_of(&call.id).is_some() {
        return Ok(());
    }
    let Some(work) = d.snap.live_assignment(&agent.id).cloned() else {
        return Err(Rejection::wrong_state("only a Subagent asks for a decision", "ask the person instead"));
    };
    if question.trim().is_empty() || fallback.trim().is_empty() || !WAIT_MS.contains(&wait_ms) {
        let hint = "give a question, what you do without an answer, and a wait of 1 second to 24 hours";
        return Err(Rejection::invalid("a decision request is not complete", hint));
    }
    let decision = DecisionRequest {
        id: DecisionId::new(&mut d.ids),
        task: task.id.clone(),
        assignment: work.id.clone(),
        agent: agent.id,
        tool_call: call.id,
        question: question.to_owned(),
        fallback: fallback.to_owned(),
        deadline_at: d.at.saturating_add_unsigned(wait_ms),
        state: DecisionState::Open,
        answer: None,
        answered_by: None,
        created_at: d.at,
        resolved_at: None,
    };
    let key = format!("decision:{}:request", decision.id);
    let text = format!(
        "{} asks for decision {} within {} s: {question}\nWithout an answer it goes on with: {fallback}",
        work.name,
        decision.id,
        wait_ms / 1000
    );
    d.emit(Some(&task.id), Event::DecisionAsked { decision });
    d.emit(Some(&task.id), Event::AssignmentMoved { assignment: work.id, state: AssignmentState::Blocked });
    d.tell(&task.id, &work.parent, MessageKind::DecisionRequest, key, text, Tell::soon());
    Ok(())
}

/// An agent answers a Subagent of its own.
pub(super) fn answer_own(d: &mut Decision, id: &RunId, decision: &DecisionId, answer: &str) -> Result<(), Rejection> {
    let (_, task, me) = d.running(id)?;
    let asking = open_decision(d, &task, decision)?.agent;
    only_own(d, &asking, &me.id)?;
    self::answer(d, &task.id, decision, answer)
}

pub(super) fn answer(d: &mut Decision, id: &TaskId, decision: &DecisionId, answer: &str) -> Result<(), Rejection> {
    let task = d.task(id)?;
    if answer.trim().is_empty() {
        return Err(Rejection::invalid("the answer is empty", "say what is decided"));
    }
    let decision = open_decision(d, &task, decision)?;
    resolve(d, &decision, DecisionState::Answered, Some(answer.to_owned()));
    if d.actor.kind == ActorKind::Person {
        let name = d.snap.assignments.get(&decision.assignment).map_or("its Subagent", |work| work.name.as_str());
        let words = format!("The person decided for {name}: {}\nAsked was: {}", answer.trim(), decision.question);
        d.tell_main(&task, MessageKind::Notice, format!("decision:{}:answer", decision.id), words, Tell::soon());
    }
    d.settle_status(id);
    Ok(())
}

/// The time is over: the fallback holds, and whoever was asked hears so.
pub(super) fn expire(d: &mut Decision, id: &TaskId, decision: &DecisionId) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let decision = open_decision(d, &task, decision)?;
    if d.at < decision.deadline_at {
        return Err(Rejection::wrong_state(format!("decision {} still has time", decision.id), ""));
    }
    resolve(d, &decision, DecisionState::FallbackUsed, Some(decision.fallback.clone()));
    let words =
        format!("No answer came in time to: {}\nThe fallback was used: {}", decision.question, decision.fallback);
    let parent = d.snap.assignments.get(&decision.assignment).map(|work| work.parent.clone());
    let key = format!("decision:{}:fallback", decision.id);
    d.tell(id, &parent.unwrap_or(task.main), MessageKind::Notice, key, words, Tell::soon());
    Ok(())
}

fn open_decision(d: &Decision, task: &Task, id: &DecisionId) -> Result<DecisionRequest, Rejection> {
    let known = d.snap.decisions.get(id).filter(|known| known.task == task.id);
    known.filter(|known| known.state == DecisionState::Open).cloned().ok_or_else(|| {
        Rejection::not_found(
            format!("an open decision request {id}"),
            "it may have been answered or have run out of time",
        )
    })
}

fn resolve(d: &mut Decision, decision: &DecisionRequest, state: DecisionState, answer: Option<String>) {
    let task = decision.task.clone();
    d.emit(Some(&task), Event::DecisionResolved { decision: decision.id.clone(), state, answer });
    // One answer may ask for several decisions at once: it is blocked until the last is made.
    let of_same = |other: &DecisionRequest| other.assignment == decision.assignment;
    if d.snap.decisions.values().any(|other| of_same(other) && other.state == DecisionState::Open) {
        return;
    }
    let blocked = |work: &&Assignment| work.id == decision.assignment && work.state == AssignmentState::Blocked;
    if let Some(work) = d.snap.assignments.values().find(blocked).map(|work| work.id.clone()) {
        d.emit(Some(&task), Event::AssignmentMoved { assignment: work, state: AssignmentState::Running });
    }
}

/// Drops a decision request that nobody needs any more.
pub(super) fn cancel_decision(d: &mut Decision, decision: &DecisionRequest) {
    resolve(d, decision, DecisionState::Cancelled, None);
}

/// An agent reviews what a Subagent of its own brought.
pub(super) fn review_own(
    d: &mut Decision,
    id: &RunId,
    contribution: &ContributionId,
    verdict: ReviewVerdict,
    because: &Option<String>,
) -> Result<(), Rejection> {
    let (_, task, me) = d.running(id)?;
    let found = unreviewed(d, &task, contribution)?;
    only_own(d, &found.agent, &me.id)?;
    review(d, &task.id, contribution, verdict, because)
}

pub(super) fn review(
    d: &mut Decision,
    id: &TaskId,
    contribution: &ContributionId,
    verdict: ReviewVerdict,
    because: &Option<String>,
) -> Result<(), Rejection> {
    let task = d.task(id)?;
    let contribution = unreviewed(d, &task, contribution)?;
    match verdict {
        ReviewVerdict::Accept => settle(d, &contribution, ReviewState::Accepted, because.clone()),
        ReviewVerdict::Reject => settle(d, &contribution, ReviewState::Rejected, because.clone()),
        ReviewVerdict::Rework => send_back(d, &task, &contribution, because)?,
    }
    d.settle_status(id);
    Ok(())
}

/// What was brought in a Task and nobody has reviewed.
fn all_unreviewed(d: &Decision, task: &Task) -> Vec<Contribution> {
    let of_task = d.snap.contributions.values().filter(|c| c.task == task.id);
    of_task.filter(|c| c.state == ReviewState::Unreviewed).cloned().collect()
}

fn unreviewed(d: &Decision, task: &Task, id: &ContributionId) -> Result<Contribution, Rejection> {
    let known = d.snap.contributions.get(id).filter(|known| known.task == task.id);
    known.filter(|known| known.state == ReviewState::Unreviewed).cloned().ok_or_else(|| {
        Rejection::not_found(format!("a Contribution {id} to review"), "it may have been reviewed already")
    })
}

/// Records a review after which its Subagent does nothing more.
fn settle(d: &mut Decision, contribution: &Contribution, state: ReviewState, because: Option<String>) {
    let (task, agent) = (contribution.task.clone(), contribution.agent.clone());
    d.emit(Some(&task), Event::ContributionReviewed { contribution: contribution.id.clone(), state, because });
    if d.snap.live_assignment(&agent).is_none() {
        d.emit(Some(&task), Event::AgentRetired { agent });
    }
}

/// The same Subagent goes on, with all it knows and what the reviewer says.
fn send_back(
    d: &mut Decision,
    task: &Task,
    contribution: &Contribution,
    because: &Option<String>,
) -> Result<(), Rejection> {
    let Some(words) = because.as_deref().map(str::trim).filter(|words| !words.is_empty()) else {
        return Err(Rejection::invalid("nothing is said about what to do differently", "say it with the review"));
    };
    let Some(before) = d.snap.assignments.get(&contribution.assignment).cloned() else {
        return Err(Rejection::wrong_state("its assignment is not known any more", ""));
    };
    let state = ReviewState::Rejected;
    let event = Event::ContributionReviewed { contribution: contribution.id.clone(), state, because: because.clone() };
    d.emit(Some(&task.id), event);
    // Who gave it at first may have ended since: then it is Main's.
    let parent = match d.snap.live_assignment(&before.parent) {
        Some(_) => before.parent.clone(),
        None => task.main.clone(),
    };
    let assignment = Assignment {
        id: AssignmentId::new(&mut d.ids),
        parent,
        turn: before.turn + 1,
        call: None,
        mode: DelegationMode::Async,
        state: AssignmentState::Queued,
        usage: Usage::default(),
        created_at: after_all_others(d, task),
        ended_at: None,
        ..before
    };
    let (agent, key) = (assignment.agent.clone(), format!("assignment:{}", assignment.id));
    d.emit(Some(&task.id), Event::AssignmentGiven { assignment, agent: None });
    let text = format!("Your work was sent back: {words}");
    d.tell(&task.id, &agent, MessageKind::Guidance, key, text, Tell::soon());
    Ok(())
}

/// Main's final answer takes in what it did not send back.
pub(super) fn accept_rest(d: &mut Decision, task: &Task) {
    for contribution in all_unreviewed(d, task) {
        let told = format!("assignment:{}:terminal", contribution.assignment);
        let unread = |message: &Message| message.key == told && message.state == MessageState::Queued;
        if d.snap.messages.values().any(unread) {
            continue;
        }
        let state = match contribution.report.outcome {
            Outcome::Completed | Outcome::Partial => ReviewState::Accepted,
            Outcome::Failed | Outcome::Cancelled => ReviewState::Superseded,
        };
        settle(d, &contribution, state, Some("Main gave its answer".into()));
    }
}
