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
    vec![
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

/// What the store would answer after some events, by the domain's own fold.
fn answer_after(events: &[Recorded]) -> Opening {
    let mut truth = Snapshot { fence: 1, ..Snapshot::default() };
    let opening = empty_opening();
    truth.tasks.insert("t_parser00".into(), opening.detail.task.clone());
    truth.agents.insert("a_main0000".into(), fixtures::agent());
    for event in events {
        truth.apply(event.task.as_ref(), &event.actor, event.at, &event.event);
    }
    let seq = events.last().map_or(0, |event| event.seq);
    let task = truth.tasks.values().next().expect("a Task").clone();
    Opening {
        detail: TaskDetail {
            agents: truth.agents.values().cloned().collect(),
            run: truth.live_run(&task.main).cloned(),
            asking: truth.live_model_call(&task.main).map(|call| call.id.clone()),
            seq,
            task,
            ..opening.detail
        },
        page: TranscriptPage {
            rows: truth.rows.values().cloned().collect(),
            calls: truth.tool_calls.values().cloned().collect(),
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
    assert_eq!(told.task().map(|task| task.usage.turns), Some(2));
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
    assert_eq!(told.live.pieces.len(), 1);
    told.record(&recorded(5, events[4].clone()));
    assert!(told.live.pieces.is_empty());
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
    assert!(matches!(&told.notice, Some(Notice::Failed { retry_at: Some(_), .. })));
    assert!(told.live.pieces.is_empty());
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
    assert_eq!((told.rows().next().map(|row| row.seq), told.more), (Some(31), true));
    told.prepend(&"a_main0000".into(), opening.page);
    assert_eq!((told.rows().count(), told.more), (50, false));
}
