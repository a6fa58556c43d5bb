//! What waits for a person: looked at first, answered once, by nobody by accident.

use super::*;

#[test]
fn a_no_is_given_with_its_reason() {
    let mut model = fixtures::model(80, 24);
    fixtures::approval(&mut model);
    press(&mut model, "d r a f t alt+a");
    model.now += 1_000;
    assert!(submitted(&press(&mut model, "w")).is_empty());
    let effects = press(&mut model, "t o o space l a t e enter");
    let [UserCommand::DecideApproval { answer, because, shown, .. }] = submitted(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((*answer, because.as_deref()), (ApprovalAnswer::Deny, Some("too late")));
    assert_eq!(*shown, fixtures::action("cargo test parser").hash());
    assert_eq!(model.composer.text(), "draft");
}

#[test]
fn a_reason_that_comes_too_late_is_not_lost() {
    let mut model = fixtures::model(80, 24);
    fixtures::approval(&mut model);
    press(&mut model, "alt+a");
    model.now += 1_000;
    press(&mut model, "w n o");
    allowed_elsewhere(&mut model);
    assert!(submitted(&press(&mut model, "enter")).is_empty());
    assert_eq!(model.composer.text(), "no");
    assert!(model.hint.as_ref().is_some_and(|hint| hint.warns));
}

#[test]
fn what_waits_in_other_tasks_is_asked_for_whenever_it_may_have_changed_one_at_a_time() {
    let mut model = working();
    let asks = |effects: &[Wanted]| effects.iter().filter(|effect| **effect == Wanted::AskWaiting).count();
    let mut seq = model.told.seq;
    let mut elsewhere = |model: &mut Model| {
        seq += 1;
        let approval = Approval { task: "t_other000".into(), ..fixtures::approval_of("p_other000", "ls") };
        let event = Event::ApprovalRequested { approval };
        let recorded = Recorded { seq, at: NOW, task: Some("t_other000".into()), actor: Actor::system(), event };
        told(model, News::Recorded(Box::new(recorded)))
    };
    assert_eq!(asks(&elsewhere(&mut model)), 1);
    assert_eq!(asks(&elsewhere(&mut model)), 0);
    assert_eq!(asks(&told(&mut model, News::Waiting(vec!["t_other000".into()]))), 1, "it was stale");
    let all = vec!["t_other000".into(), "t_parser00".into(), "t_other000".into()];
    assert_eq!(asks(&told(&mut model, News::Waiting(all))), 0);
    assert_eq!(model.told.waiting_elsewhere(), 2);
}

#[test]
fn keys_typed_while_an_approval_opens_are_text_and_no_answer() {
    let mut model = working();
    let mut effects = press(&mut model, "1");
    let approval = fixtures::approval_of("p_first000", "rm -r /");
    fixtures::record(&mut model, Event::ApprovalRequested { approval });
    effects.extend(press(&mut model, "space 2 space y"));
    assert!(submitted(&effects).is_empty());
    assert_eq!(model.composer.text(), "1 2 y");
    assert_eq!(model.focus, Focus::Composer);
}

#[test]
fn a_key_pressed_before_the_approval_was_seen_is_no_answer() {
    let mut model = fixtures::model(80, 24);
    fixtures::approval(&mut model);
    let effects = press(&mut model, "alt+a y");
    assert!(submitted(&effects).is_empty());
    assert!(model.hint.as_ref().is_some_and(|hint| hint.warns));
    model.now += 1_000;
    let effects = press(&mut model, "y");
    let [UserCommand::DecideApproval { approval, shown, answer, .. }] = submitted(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!((approval.as_str(), *answer), ("p_first000", ApprovalAnswer::Once));
    assert_eq!(*shown, fixtures::action("cargo test parser").hash());
}

#[test]
fn the_next_approval_needs_its_own_look() {
    let mut model = fixtures::model(80, 24);
    fixtures::approval(&mut model);
    press(&mut model, "alt+a");
    let next = Approval { created_at: NOW, ..fixtures::approval_of("p_second00", "rm -r target") };
    fixtures::record(&mut model, Event::ApprovalRequested { approval: next });
    model.now += 1_000;
    assert_eq!(submitted(&press(&mut model, "y")).len(), 1);
    allowed_elsewhere(&mut model);
    assert_eq!(model.focus, Focus::Asks);
    assert!(submitted(&press(&mut model, "y")).is_empty());
}

#[test]
fn an_approval_longer_than_the_screen_is_read_to_its_end_before_a_yes() {
    let mut model = fixtures::model(80, 24);
    fixtures::working(&mut model);
    let long = format!("echo start\n{}rm -r /", "echo line\n".repeat(60));
    fixtures::record(&mut model, Event::ApprovalRequested { approval: fixtures::approval_of("p_long0000", &long) });
    press(&mut model, "alt+a");
    model.now += 1_000;
    assert!(submitted(&press(&mut model, "y")).is_empty());
    assert!(submitted(&press(&mut model, "a")).is_empty());
    for _ in 0..20 {
        press(&mut model, "pgdn");
    }
    assert_eq!(submitted(&press(&mut model, "y")).len(), 1);
}

#[test]
fn a_no_needs_no_reading_to_the_end() {
    let mut model = fixtures::model(80, 24);
    fixtures::working(&mut model);
    let long = "echo line\n".repeat(60);
    fixtures::record(&mut model, Event::ApprovalRequested { approval: fixtures::approval_of("p_long0000", &long) });
    press(&mut model, "alt+a");
    model.now += 1_000;
    let effects = press(&mut model, "N");
    assert!(matches!(submitted(&effects)[..], [UserCommand::DecideApproval { answer: ApprovalAnswer::Never, .. }]));
}

#[test]
fn a_question_is_answered_with_an_option_or_in_words() {
    let mut model = fixtures::model(80, 24);
    fixtures::question(&mut model);
    press(&mut model, "h a l f alt+a");
    model.now += 1_000;
    let effects = press(&mut model, "down enter");
    let [UserCommand::AnswerQuestion { answer, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(answer, "Change the test");
    press(&mut model, "w");
    assert_eq!(model.composer.purpose, Purpose::Answer("q_first000".into()));
    let effects = press(&mut model, "n o enter");
    let [UserCommand::AnswerQuestion { answer, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(answer, "no");
    assert_eq!(model.composer.text(), "half");
}

#[test]
fn a_point_of_acceptance_is_judged_once_it_was_seen() {
    let mut model = fixtures::model(80, 24);
    fixtures::acceptance(&mut model);
    assert!(submitted(&press(&mut model, "alt+a y")).is_empty());
    model.now += 1_000;
    let effects = press(&mut model, "y");
    let [UserCommand::GiveVerdict { check, outcome, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((check.as_str(), *outcome), ("x_first000", CheckState::Passed));
}

#[test]
fn trust_is_given_by_a_chord_that_was_seen_first_and_not_by_typing() {
    let mut model = fixtures::model(80, 24);
    model.told.trusted = Trusted::Unknown;
    model.lay_out();
    assert!(submitted(&press(&mut model, "y alt+y")).is_empty());
    model.now += 1_000;
    let effects = press(&mut model, "alt+y");
    assert!(matches!(submitted(&effects)[..], [UserCommand::TrustFolder { trusted: true, .. }]));
    told(
        &mut model,
        News::Accepted(id_of(&effects), Receipt { seq: 1, task: None, message: None, job: None, edit: None }),
    );
    assert!(!model.asks_for_trust());
}

#[test]
fn trust_is_asked_for_the_folder_of_what_is_open_and_where_there_is_something_to_trust() {
    let mut model = fixtures::model(80, 24);
    told(&mut model, News::Trust(None));
    assert!(model.asks_for_trust());
    model.facts.to_trust.clear();
    assert!(!model.asks_for_trust(), "nothing in it would be used");
    let mut model = working();
    told(&mut model, News::Trust(None));
    model.facts.folder.path = "/somewhere/else".into();
    assert!(!model.asks_for_trust(), "the Task that is open works in another folder");
}
