//! What is folded from events is what the host would have answered.

use super::*;
use crate::domain::permission::Policy;
use crate::domain::*;
use crate::tui::fixtures::{self, NOW};

fn recorded(seq: Seq, event: Event) -> Recorded {
    Recorded { seq, at: NOW + seq, task: Some("t_parser00".into()), actor: Actor::system(), event }
}

/// A whole story: asked, thought, two tools of which one is denied, answered.
fn story() -> Vec<Event> {
    let main: AgentId = "a_main0000".into();
    let call =
        |id: &str, ix| ToolCall { started_at: None, ..fixtures::call(id, ix, "shell", "{}", ToolCallState::Planned) };
    let calls = [call("c_1", 0), call("c_2", 1)];
    let mut parts = vec![Part::text("I will look.")];
    parts.extend(calls.iter().map(|call| Part::Call {
        id: call.id.clone(),
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    }));
    let commit = |id: &str, row: Row, consumed: Vec<MessageId>| Event::TurnCommitted {
        call: id.into(),
        agent: main.clone(),
        row,
        usage: Usage { turns: 1, input_tokens: 900, output_tokens: 50, ..Usage::default() },
        consumed,
    };
    let settle = |id: &str, seq, state, words: &str| Event::ToolSettled {
        call: id.into(),
        agent: main.clone(),
        state,
        saw: None,
        row: Row { tool_call: Some(id.into()), ..fixtures::row(seq, Role::Tool, vec![Part::text(words)]) },
    };
    let asked = Row { message: Some("m_1".into()), ..fixtures::row(1, Role::User, vec![Part::text("look")]) };
    let decided = |state| Event::ApprovalDecided {
        approval: "p_2".into(),
        call: "c_2".into(),
        state,
        because: None,
        decided_by: Some(Actor::person()),
    };
    let approval = Approval { tool_call: "c_2".into(), ..fixtures::approval_of("p_2", "rm -r target") };
    let mut story = vec![
        Event::MessageQueued { message: fixtures::message("m_1", "look", MessageState::Queued) },
        Event::RunStarted { run: fixtures::run(), resumed: false, woken_by: vec!["m_1".into()] },
        Event::MessageDelivered { message: "m_1".into(), agent: main.clone(), run: "r_run0000000".into(), row: asked },
        Event::TurnStarted { call: ModelCall { through_seq: 1, ..fixtures::model_call("k_1") } },
        commit("k_1", fixtures::row(2, Role::Assistant, parts), vec!["m_1".into()]),
        Event::ToolPlanned { call: calls[0].clone() },
        Event::ToolPlanned { call: calls[1].clone() },
        Event::ToolStarted { call: "c_1".into(), fence: 1, pre_hash: None, post_hash: None },
        Event::ApprovalRequested { approval },
        settle("c_1", 3, ToolCallState::Done, "fine"),
        decided(ApprovalState::Denied),
        settle("c_2", 4, ToolCallState::Denied, "The person said no."),
    ];
    story.extend(story_of_a_subagent());
    story.extend([
        Event::TurnStarted { call: ModelCall { through_seq: 4, ..fixtures::model_call("k_2") } },
        commit("k_2", fixtures::row(5, Role::Assistant, vec![Part::text("Done.")]), Vec::new()),
        Event::RunEnded {
            run: "r_run0000000".into(),
            state: RunState::Completed,
            reason: EndReason::Finished,
            detail: None,
            ran_ms: 100,
        },
        Event::TaskStatusChanged { status: TaskStatus::Completed, reason: None, resume_status: None },
    ]);
    story
}

/// What a Subagent does in the middle of it: it is told its work, asks, is answered, reports.
fn story_of_a_subagent() -> Vec<Event> {
    let agent: AgentId = "a_reader".into();
    let work = Assignment {
        usage: Usage::default(),
        ..fixtures::assignment("reader", "reader", "Read the parser.", AssignmentState::Queued)
    };
    let state = |state| Event::AssignmentMoved { assignment: work.id.clone(), state };
    let run = Run { id: "r_reader".into(), agent: agent.clone(), ..fixtures::run() };
    let order = Message {
        to: Actor::agent(&agent),
        from: Actor::agent(&"a_main0000".into()),
        kind: MessageKind::Guidance,
        ..fixtures::message("m_order", "Your assignment (reader): read", MessageState::Queued)
    };
    let told = Row { message: Some(order.id.clone()), ..fixtures::row(1, Role::User, vec![Part::text("read")]) };
    let call = ToolCall {
        agent: agent.clone(),
        run: run.id.clone(),
        started_at: None,
        ..fixtures::call("c_ask", 0, "decide", "{}", ToolCallState::Planned)
    };
    let part = Part::Call {
        id: call.id.clone(),
        provider_id: call.provider_id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    let asking = fixtures::row(2, Role::Assistant, vec![Part::text("I am not sure of one thing."), part]);
    let result = Row { tool_call: Some(call.id.clone()), ..fixtures::row(3, Role::Tool, vec![Part::text("green")]) };
    let decision = DecisionRequest {
        id: "d_1".into(),
        task: work.task.clone(),
        assignment: work.id.clone(),
        agent: agent.clone(),
        tool_call: call.id.clone(),
        question: "Which colour?".into(),
        fallback: "red".into(),
        deadline_at: NOW + 60_000,
        state: DecisionState::Open,
        answer: None,
        answered_by: None,
        created_at: NOW,
        resolved_at: None,
    };
    let model_call = |id: &str| ModelCall { agent: agent.clone(), run: run.id.clone(), ..fixtures::model_call(id) };
    let commit = |id: &str, row: Row, consumed: Vec<MessageId>| Event::TurnCommitted {
        call: id.into(),
        agent: agent.clone(),
        row,
        usage: Usage { turns: 1, input_tokens: 90, output_tokens: 5, ..Usage::default() },
        consumed,
    };
    let made = fixtures::contribution(&work, "It is green.");
    let (contribution, key) = (made.id.clone(), format!("assignment:{}:terminal", work.id));
    let tells = fixtures::told_main("m_made", "a_reader", MessageKind::Contribution, key, "reader completed");
    vec![
        Event::AssignmentGiven { assignment: work.clone(), agent: Some(fixtures::subagent("reader")) },
        Event::MessageQueued { message: order.clone() },
        state(AssignmentState::Running),
        Event::RunStarted { run: run.clone(), resumed: false, woken_by: vec![order.id.clone()] },
        Event::MessageDelivered { message: order.id.clone(), agent: agent.clone(), run: run.id.clone(), row: told },
        Event::TurnStarted { call: model_call("k_r1") },
        commit("k_r1", asking, vec![order.id]),
        Event::ToolPlanned { call: call.clone() },
        Event::DecisionAsked { decision: decision.clone() },
        state(AssignmentState::Blocked),
        Event::DecisionResolved { decision: decision.id, state: DecisionState::Answered, answer: Some("green".into()) },
        state(AssignmentState::Running),
        Event::ToolSettled { call: call.id, agent: agent.clone(), state: ToolCallState::Done, saw: None, row: result },
        Event::TurnStarted { call: model_call("k_r2") },
        Event::TurnFailed {
            call: "k_r2".into(),
            agent: agent.clone(),
            class: "overloaded".into(),
            message: "busy".into(),
            retry_at: Some(NOW + 4_000),
            instead: None,
        },
        Event::TurnStarted { call: model_call("k_r3") },
        commit("k_r3", fixtures::row(4, Role::Assistant, vec![Part::text("It is green.")]), Vec::new()),
        Event::RunEnded {
            run: run.id,
            state: RunState::Completed,
            reason: EndReason::Finished,
            detail: None,
            ran_ms: 40,
        },
        Event::ContributionMade { contribution: made, state: AssignmentState::Completed },
        Event::MessageQueued { message: tells },
        Event::ContributionReviewed { contribution, state: ReviewState::Accepted, because: None },
        Event::AgentRetired { agent },
    ]
}

fn empty_opening() -> Opening {
    let mut opening = fixtures::opening();
    opening.detail.agents = vec![fixtures::agent()];
    opening.detail.run = None;
    opening.detail.seq = 0;
    opening.detail.task.policy = Policy::named("ask").expect("a policy");
    (opening.page.rows, opening.page.calls, opening.messages) = (Vec::new(), Vec::new(), Vec::new());
    opening
}

fn last_words(truth: &Snapshot, agent: &AgentId) -> String {
    let rows = truth.rows.range((agent.clone(), 0)..=(agent.clone(), u64::MAX)).rev();
    let said = rows.filter(|(_, row)| row.role == Role::Assistant).map(|(_, row)| row.text());
    said.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// What the store would answer for the rows of an agent after some events.
fn page_after(events: &[Recorded], agent: &AgentId) -> TranscriptPage {
    let truth = truth_after(events);
    TranscriptPage {
        rows: truth.rows.iter().filter(|((whose, _), _)| whose == agent).map(|(_, row)| row.clone()).collect(),
        calls: truth.tool_calls.values().filter(|call| call.agent == *agent).cloned().collect(),
        messages: Vec::new(),
        more: false,
        seq: events.last().map_or(0, |event| event.seq),
    }
}

fn truth_after(events: &[Recorded]) -> Snapshot {
    let mut truth = Snapshot { fence: 1, ..Snapshot::default() };
    let opening = empty_opening();
    truth.tasks.insert("t_parser00".into(), opening.detail.task.clone());
    truth.agents.insert("a_main0000".into(), fixtures::agent());
    for event in events {
        truth.apply(event.task.as_ref(), &event.actor, event.at, &event.event);
    }
    truth
}

/// What the store would answer after some events, by the domain's own fold.
fn answer_after(events: &[Recorded]) -> Opening {
    let (truth, opening, main) = (truth_after(events), empty_opening(), AgentId::from("a_main0000"));
    let seq = events.last().map_or(0, |event| event.seq);
    let delegated = truth.assignments.values().map(|work| Delegated {
        contribution: truth.contributions.values().find(|made| made.assignment == work.id).cloned(),
        decisions: truth.decisions.values().filter(|asked| asked.assignment == work.id).cloned().collect(),
        run: truth.live_run(&work.agent).cloned(),
        calls: truth.open_calls(&work.agent).into_iter().cloned().collect(),
        last_words: last_words(&truth, &work.agent),
        assignment: work.clone(),
    });
    let delegated = delegated.collect();
    let task = truth.tasks.values().next().expect("a Task").clone();
    Opening {
        detail: TaskDetail {
            agents: truth.agents.values().cloned().collect(),
            run: truth.live_run(&task.main).cloned(),
            delegated,
            asking: truth.live_model_call(&task.main).map(|call| call.id.clone()),
            seq,
            task,
            ..opening.detail
        },
        page: TranscriptPage {
            rows: truth.rows.iter().filter(|((agent, _), _)| *agent == main).map(|(_, row)| row.clone()).collect(),
            calls: truth.tool_calls.values().filter(|call| call.agent == main).cloned().collect(),
            messages: Vec::new(),
            more: false,
            seq,
        },
        messages: truth.messages.values().cloned().collect(),
        approvals: truth.approvals.values().filter(|a| a.state == ApprovalState::Pending).cloned().collect(),
        questions: Vec::new(),
        fence: 1,
    }
}

#[test]
fn folding_events_gives_the_transcript_that_loading_it_gives() {
    let events: Vec<Recorded> =
        story().into_iter().enumerate().map(|(ix, event)| recorded(ix as Seq + 1, event)).collect();
    for opened_after in 0..=events.len() {
        let mut loaded = Projection::default();
        loaded.open(answer_after(&events));
        let mut folded = Projection::default();
        folded.open(answer_after(&events[..opened_after]));
        for event in &events {
            folded.record(event);
        }
        assert_eq!(folded.rows().collect::<Vec<_>>(), loaded.rows().collect::<Vec<_>>(), "after {opened_after}");
        assert_eq!(folded.records.tool_calls, loaded.records.tool_calls);
        assert_eq!(folded.records.messages, loaded.records.messages);
        assert_eq!(folded.approvals(), loaded.approvals());
        assert_eq!(folded.run(), loaded.run());
        assert_eq!(folded.task(), loaded.task());
        assert_eq!(folded.seq, loaded.seq);
        assert_same_team(&folded, &loaded);
    }
}

fn assert_same_team(one: &Projection, other: &Projection) {
    let (a, b) = (&one.records, &other.records);
    assert_eq!((&a.assignments, &a.contributions, &a.decisions), (&b.assignments, &b.contributions, &b.decisions));
    assert_eq!((&a.agents, &a.runs), (&b.agents, &b.runs));
    assert_eq!((one.team(), one.at_work()), (other.team(), other.at_work()));
    for member in one.team() {
        let agent = &member.work.agent;
        assert_eq!(one.last_line(agent), other.last_line(agent));
    }
}

#[test]
fn at_every_instant_a_screen_that_followed_and_one_that_just_joined_show_the_same_team() {
    let events: Vec<Recorded> =
        story().into_iter().enumerate().map(|(ix, event)| recorded(ix as Seq + 1, event)).collect();
    let mut followed = Projection::default();
    followed.open(empty_opening());
    for now in 0..events.len() {
        followed.record(&events[now]);
        let mut joined = Projection::default();
        joined.open(answer_after(&events[..=now]));
        assert_same_team(&followed, &joined);
        assert_eq!(followed.rows().collect::<Vec<_>>(), joined.rows().collect::<Vec<_>>(), "after {now}");
    }
}

#[test]
fn a_trajectory_is_the_same_whenever_it_is_opened_and_however_late_its_rows_come() {
    let reader = AgentId::from("a_reader");
    let events: Vec<Recorded> =
        story().into_iter().enumerate().map(|(ix, event)| recorded(ix as Seq + 1, event)).collect();
    let whole = page_after(&events, &reader);
    for opened in 0..events.len() {
        for answered in opened..events.len() {
            for came in answered..events.len() {
                let mut told = Projection::default();
                told.open(empty_opening());
                events[..=opened].iter().for_each(|event| told.record(event));
                told.read(reader.clone());
                events[opened + 1..=came].iter().for_each(|event| told.record(event));
                told.arrived(&reader, page_after(&events[..=answered], &reader));
                events[came + 1..].iter().for_each(|event| told.record(event));
                assert_eq!(told.rows().cloned().collect::<Vec<_>>(), whole.rows, "{opened} {answered} {came}");
                let calls: Vec<_> = told.records.tool_calls.values().filter(|call| call.agent == reader).collect();
                assert_eq!(calls, whole.calls.iter().collect::<Vec<_>>(), "{opened} {answered} {came}");
                told.read_main();
                assert!(told.records.rows.keys().all(|(agent, _)| *agent != reader));
            }
        }
    }
}

#[test]
fn what_a_subagent_does_changes_nothing_of_what_is_told_of_main() {
    let mut told = Projection::default();
    told.open(empty_opening());
    let (story, team) = (story(), story_of_a_subagent());
    let mut seq = 0;
    let mut hear = |told: &mut Projection, event: &Event| {
        seq += 1;
        told.record(&recorded(seq, event.clone()));
    };
    story.iter().take(4).for_each(|event| hear(&mut told, event));
    let says = |agent: &str, call: &str, text: &str| Transient::Text {
        task: "t_parser00".into(),
        agent: agent.into(),
        call: call.into(),
        at: 0,
        text: text.into(),
    };
    told.take(&says("a_main0000", "k_1", "I will lo"));
    let before = (told.live().clone(), told.context_tokens, told.woken_by.clone(), told.run().cloned());
    for event in &team {
        hear(&mut told, event);
        told.take(&says("a_reader", "k_r9", "something else"));
        assert_eq!((told.live().clone(), told.context_tokens), (before.0.clone(), before.1), "{}", event.kind());
        assert_eq!((&told.woken_by, told.run()), (&before.2, before.3.as_ref()), "{}", event.kind());
        assert_eq!((told.notice(), told.rows().count(), told.is_running()), (None, 1, true), "{}", event.kind());
    }
}

#[test]
fn answers_newer_than_the_first_one_come_to_the_same_once_their_events_came() {
    let events: Vec<Recorded> =
        story().into_iter().enumerate().map(|(ix, event)| recorded(ix as Seq + 1, event)).collect();
    let early = answer_after(&events[..4]);
    let late = answer_after(&events[..12]);
    let mut mixed = Projection::default();
    mixed.open(Opening { detail: early.detail, ..late });
    for event in &events {
        mixed.record(event);
    }
    let mut loaded = Projection::default();
    loaded.open(answer_after(&events));
    assert_eq!(mixed.rows().collect::<Vec<_>>(), loaded.rows().collect::<Vec<_>>());
    assert_eq!(mixed.records.tool_calls, loaded.records.tool_calls);
    assert_eq!(mixed.records.messages, loaded.records.messages);
    assert_eq!(mixed.approvals(), loaded.approvals());
    assert_eq!(mixed.task(), loaded.task());
}

#[test]
fn an_event_told_twice_counts_once() {
    let mut told = Projection::default();
    told.open(empty_opening());
    let events: Vec<Recorded> =
        story().into_iter().enumerate().map(|(ix, event)| recorded(ix as Seq + 1, event)).collect();
    for event in events.iter().chain(&events) {
        told.record(event);
    }
    assert_eq!(told.task().map(|task| task.usage.turns), Some(4));
}

#[test]
fn the_live_tail_goes_in_the_same_step_in_which_its_row_comes() {
    let mut told = Projection::default();
    told.open(empty_opening());
    let events = story();
    for (ix, event) in events.iter().take(4).enumerate() {
        told.record(&recorded(ix as Seq + 1, event.clone()));
    }
    let tail = Transient::Text {
        task: "t_parser00".into(),
        agent: "a_main0000".into(),
        call: "k_1".into(),
        at: 0,
        text: "I will lo".into(),
    };
    assert!(told.take(&tail));
    assert_eq!(told.live().pieces.len(), 1);
    told.record(&recorded(5, events[4].clone()));
    assert!(told.live().pieces.is_empty());
    assert_eq!(told.rows().last().map(|row| row.seq), Some(2));
}

#[test]
fn a_failed_turn_drops_the_tail_and_says_when_it_is_tried_again() {
    let mut told = Projection::default();
    told.open(empty_opening());
    for (ix, event) in story().into_iter().take(4).enumerate() {
        told.record(&recorded(ix as Seq + 1, event));
    }
    told.record(&recorded(
        5,
        Event::TurnFailed {
            call: "k_1".into(),
            agent: "a_main0000".into(),
            class: "overloaded".into(),
            message: "busy".into(),
            retry_at: Some(NOW + 4_000),
            instead: None,
        },
    ));
    assert_eq!(told.retry_at(), Some(NOW + 4_000));
    assert!(matches!(told.notice(), Some(Notice::Failed { retry_at: Some(_), .. })));
    assert!(told.live().pieces.is_empty());
}

#[test]
fn what_woke_main_is_known_after_loading_too() {
    let events: Vec<Recorded> =
        story().into_iter().enumerate().map(|(ix, event)| recorded(ix as Seq + 1, event)).collect();
    let mut opening = answer_after(&events[..6]);
    // The fixture's Run began before its message was delivered and after it was queued.
    opening.detail.run = opening.detail.run.map(|run| Run { started_at: NOW - 12_000, ..run });
    let mut told = Projection::default();
    told.open(opening);
    assert_eq!(told.woken_by, ["m_1".into()]);
}

#[test]
fn old_rows_are_forgotten_and_can_be_had_again() {
    let mut told = Projection::default();
    let mut opening = empty_opening();
    opening.page.rows = (1..=50).map(|seq| fixtures::row(seq, Role::User, vec![Part::text("x")])).collect();
    told.open(opening.clone());
    told.trim(20);
    assert_eq!((told.rows().next().map(|row| row.seq), told.more()), (Some(31), true));
    told.prepend(&"a_main0000".into(), opening.page);
    assert_eq!((told.rows().count(), told.more()), (50, false));
}
