//! Subagents and the Inbox on screen.

use super::*;
use crate::tui::agents::AgentsAct;
use crate::tui::inbox::{Filter, InboxAct};
use crate::tui::paper::PaperAct;

fn act(model: &mut Model, act: AgentsAct) -> Vec<crate::tui::action::Effect> {
    let effects = update(model, Action::Agents(act));
    model.lay_out();
    effects
}

#[test]
fn subagents_in_their_tree_what_needs_somebody_first() {
    snapshots("team", |model| {
        fixtures::team(model);
        model.focus = Focus::Side(Pane::Subagents);
    });
}

#[test]
fn subagents_beside_the_chat() {
    snapshots("team_beside", fixtures::team);
}

#[test]
fn the_inbox_with_what_others_sent() {
    snapshots("inbox_team", |model| {
        fixtures::team(model);
        model.focus = Focus::Side(Pane::Inbox);
    });
}

/// The trajectory of the one that reads is opened, and its rows come.
fn read(model: &mut Model) {
    fixtures::team(model);
    model.focus = Focus::Side(Pane::Subagents);
    model.agents.chosen = Some("a_reader".into());
    act(model, AgentsAct::Guide);
    let order = Message {
        to: Actor::agent(&"a_reader".into()),
        from: Actor::agent(&"a_main0000".into()),
        kind: MessageKind::Guidance,
        ..fixtures::message("m_order", "Your assignment (reader): read the parser.", MessageState::Consumed)
    };
    let row = Row { message: Some(order.id.clone()), ..fixtures::row(1, Role::User, vec![Part::text("read")]) };
    let page = TranscriptPage { rows: vec![row], calls: Vec::new(), messages: vec![order], more: false, seq: 20 };
    news(model, News::Trajectory("a_reader".into(), page));
}

#[test]
fn a_trajectory_in_the_place_of_the_chat() {
    snapshots("trajectory", read);
}

#[test]
fn a_contribution_whole_with_its_evidence() {
    snapshots("contribution", |model| {
        fixtures::team(model);
        model.focus = Focus::Side(Pane::Subagents);
        model.agents.chosen = Some("a_tests".into());
        act(model, AgentsAct::Contribution);
    });
}

#[test]
fn what_is_written_over_a_trajectory_goes_to_its_subagent_and_the_draft_for_main_comes_back() {
    let mut model = fixtures::model(80, 24);
    fixtures::working(&mut model);
    model.composer.set("half a message");
    read(&mut model);
    assert!(drawn(&mut model).contains("to reader"));
    update(&mut model, Action::Type("not the tests".into()));
    let sent = update(&mut model, Action::Send);
    let wanted: Vec<_> = model.outbox.iter().map(|out| out.wanted.clone()).collect();
    assert!(
        matches!(&wanted[..], [UserCommand::Guide { agent, text, .. }] if agent.as_str() == "a_reader" && text == "not the tests"),
        "{wanted:?} {sent:?}"
    );
    model.lay_out();
    assert!(drawn(&mut model).contains("to reader"), "the next words go there too");
    act(&mut model, AgentsAct::Leave);
    assert_eq!(model.composer.text(), "half a message");
    assert_eq!(model.focus, Focus::Side(Pane::Subagents));
    assert!(drawn(&mut model).contains("read the parser") || model.told.read_subagent().is_none());
}

#[test]
fn esc_over_a_trajectory_goes_back_and_never_stops_main() {
    let mut model = fixtures::model(80, 24);
    read(&mut model);
    let esc = "esc".parse().expect("a key");
    assert_eq!(model.keymap.action(esc, &model), Some(Action::Agents(AgentsAct::Leave)));
    model.focus = Focus::Transcript;
    assert_eq!(model.keymap.action(esc, &model), Some(Action::Agents(AgentsAct::Leave)));
}

#[test]
fn a_subagent_is_stopped_only_when_it_is_said_twice_and_soon() {
    let mut model = fixtures::model(120, 40);
    fixtures::team(&mut model);
    model.focus = Focus::Side(Pane::Subagents);
    model.agents.chosen = Some("a_reader".into());
    assert_eq!(act(&mut model, AgentsAct::Cancel), []);
    let mut small = fixtures::model(80, 24);
    fixtures::team(&mut small);
    small.focus = Focus::Side(Pane::Subagents);
    act(&mut small, AgentsAct::Cancel);
    assert!(drawn(&mut small).contains("the same key again"), "it is said where the chat is not shown, too");
    model.now += 6_000;
    assert_eq!(act(&mut model, AgentsAct::Cancel), []);
    act(&mut model, AgentsAct::Choose(crate::tui::action::Step::Down));
    assert_eq!(act(&mut model, AgentsAct::Cancel), [], "another one is another question");
    act(&mut model, AgentsAct::Cancel);
    let wanted: Vec<_> = model.outbox.iter().map(|out| &out.wanted).collect();
    assert!(matches!(wanted[..], [UserCommand::CancelAgent { .. }]), "{wanted:?}");
}

#[test]
fn a_decision_is_answered_from_either_pane_and_counts_down_in_both() {
    let mut model = fixtures::model(120, 40);
    fixtures::team(&mut model);
    assert_eq!(drawn(&mut model).matches("1:35 left").count(), 2, "{}", drawn(&mut model));
    model.now += 30_000;
    assert_eq!(drawn(&mut model).matches("1:05 left").count(), 2);
    model.focus = Focus::Side(Pane::Inbox);
    let of_docs = model.told.records.messages.keys().find(|id| id.as_str() == "m_asks").cloned();
    model.inbox.chosen = of_docs;
    update(&mut model, Action::Inbox(InboxAct::Answer));
    update(&mut model, Action::Type("British".into()));
    update(&mut model, Action::Send);
    let wanted: Vec<_> = model.outbox.iter().map(|out| &out.wanted).collect();
    assert!(matches!(&wanted[..], [UserCommand::AnswerDecision { answer, .. }] if answer == "British"), "{wanted:?}");
}

#[test]
fn a_decision_is_no_need_of_a_person_while_main_can_decide() {
    let mut model = fixtures::model(80, 24);
    fixtures::team(&mut model);
    assert!(!model.awaits());
    for run in model.told.records.runs.values_mut().filter(|run| run.agent.as_str() == "a_main0000") {
        run.state = RunState::Interrupted;
    }
    let status = TaskStatus::Paused;
    fixtures::record(&mut model, Event::TaskStatusChanged { status, reason: None, resume_status: None });
    assert!(model.awaits());
    assert!(drawn(&mut model).contains("British or American"), "{}", drawn(&mut model));
}

#[test]
fn an_approval_says_which_subagent_asks() {
    let mut model = fixtures::model(80, 24);
    fixtures::team(&mut model);
    let approval = Approval { agent: "a_reader".into(), ..fixtures::approval_of("p_sub", "cargo doc") };
    fixtures::record(&mut model, Event::ApprovalRequested { approval });
    assert!(drawn(&mut model).contains("reader: shell wants to run cargo doc"), "{}", drawn(&mut model));
    model.focus = Focus::Asks;
    assert!(drawn(&mut model).contains("reader asks: may this run?"), "{}", drawn(&mut model));
}

#[test]
fn the_inbox_is_narrowed_by_a_word() {
    let mut model = fixtures::model(120, 40);
    fixtures::team(&mut model);
    for (word, many) in [("all", 3), ("open", 2), ("contribution", 1), ("文档", 1), ("newline", 1), ("nothing", 0)] {
        model.inbox.filter = Filter::named(word);
        assert_eq!(model.inbox.list(&model.told).len(), many, "{word}");
    }
}

#[test]
fn a_contribution_is_sent_back_with_words_from_where_it_is_read() {
    let mut model = fixtures::model(80, 24);
    fixtures::team(&mut model);
    model.focus = Focus::Side(Pane::Subagents);
    model.agents.chosen = Some("a_tests".into());
    act(&mut model, AgentsAct::Contribution);
    update(&mut model, Action::Paper(PaperAct::SendBack));
    update(&mut model, Action::Type("on Windows too".into()));
    update(&mut model, Action::Send);
    let wanted: Vec<_> = model.outbox.iter().map(|out| &out.wanted).collect();
    assert!(
        matches!(&wanted[..], [UserCommand::Review { because: Some(words), .. }] if words == "on Windows too"),
        "{wanted:?}"
    );
}
