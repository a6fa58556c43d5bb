//! Keys in, effects out: the real keymap, the real update, no host.

use super::update;
use crate::domain::command::ApprovalAnswer;
use crate::domain::*;
use crate::tui::action::{Action, Effect as Wanted, News, Pane};
use crate::tui::composer::Purpose;
use crate::tui::fixtures::{self, NOW};
use crate::tui::input::decode::Decoder;
use crate::tui::keymap;
use crate::tui::model::{Focus, Model, Overlay};
use crate::tui::projection::{Host, Trusted};

mod answering;
mod panes;
mod reading;
mod writing;

fn act(model: &mut Model, action: Action) -> Vec<Wanted> {
    let effects = update(model, action);
    model.lay_out();
    effects
}

/// Presses keys, in their words.
fn press(model: &mut Model, keys: &str) -> Vec<Wanted> {
    let mut effects = Vec::new();
    for key in keys.split(' ') {
        let key = key.parse().expect(key);
        if let Some(action) = model.keymap.action(key, model) {
            effects.extend(act(model, action));
        }
    }
    effects
}

/// Sends raw bytes through decoder, keymap and update, as the driver does.
fn bytes(model: &mut Model, raw: &[u8]) -> Vec<Wanted> {
    let mut decoder = Decoder::default();
    let mut effects = Vec::new();
    for event in decoder.feed(raw, 0) {
        if let Some(action) = keymap::resolve(event, model) {
            effects.extend(act(model, action));
        }
    }
    effects
}

fn told(model: &mut Model, said: News) -> Vec<Wanted> {
    act(model, Action::News(said))
}

fn submitted(effects: &[Wanted]) -> Vec<&UserCommand> {
    effects
        .iter()
        .filter_map(|effect| match effect {
            Wanted::Submit { wanted, .. } => Some(wanted),
            _ => None,
        })
        .collect()
}

fn id_of(effects: &[Wanted]) -> CommandId {
    effects
        .iter()
        .find_map(|effect| match effect {
            Wanted::Submit { id, .. } => Some(id.clone()),
            _ => None,
        })
        .expect("a command")
}

/// Somebody else says yes to the first approval.
fn allowed_elsewhere(model: &mut Model) {
    let decided = Event::ApprovalDecided {
        approval: "p_first000".into(),
        call: "c_shell00000".into(),
        state: ApprovalState::Allowed,
        because: None,
        decided_by: None,
    };
    fixtures::record(model, decided);
}

fn working() -> Model {
    let mut model = fixtures::model(80, 24);
    fixtures::working(&mut model);
    model
}

#[test]
fn the_first_message_makes_the_task_and_opens_it() {
    let mut model = fixtures::model(80, 24);
    let effects = press(&mut model, "h i enter");
    let [UserCommand::CreateTask { message, cwd, policy, .. }] = submitted(&effects)[..] else {
        panic!("{effects:?}");
    };
    assert_eq!(message.as_deref(), Some("hi"));
    assert_eq!(cwd.as_deref(), Some("/home/me/parser"));
    assert_eq!(policy.name(), "ask");
    assert!(model.composer.is_empty());
    let receipt = Receipt { seq: 3, task: Some("t_parser00".into()), message: None, job: None, edit: None };
    let opens = told(&mut model, News::Accepted(id_of(&effects), receipt));
    assert!(opens.contains(&Wanted::Open("t_parser00".into())));
}

#[test]
fn messages_written_while_the_task_is_being_made_follow_the_first_in_their_order() {
    let mut model = fixtures::model(80, 24);
    let first = press(&mut model, "h i enter");
    let second = press(&mut model, "m o r e enter");
    assert!(submitted(&second).is_empty() && model.composer.is_empty());
    assert!(
        second.contains(&Wanted::KeepDraft { pane: "chat/new".into(), text: "more".into() }),
        "a screen that dies now has lost nothing"
    );
    press(&mut model, "l a s t enter");
    assert_eq!(model.sending().collect::<Vec<_>>(), ["hi", "more", "last"]);
    press(&mut model, "x");
    let receipt = Receipt { seq: 3, task: Some("t_parser00".into()), message: None, job: None, edit: None };
    let effects = told(&mut model, News::Accepted(id_of(&first), receipt));
    let sent: Vec<_> = submitted(&effects)
        .into_iter()
        .map(|wanted| match wanted {
            UserCommand::SendMessage { task, text, .. } => (task.as_str(), text.as_str()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(sent, [("t_parser00", "more"), ("t_parser00", "last")]);
    assert!(effects.contains(&Wanted::KeepDraft { pane: "chat/new".into(), text: String::new() }));
    assert!(effects.contains(&Wanted::KeepDraft { pane: "chat/t_parser00".into(), text: "x".into() }));
}

#[test]
fn a_task_that_is_refused_gives_all_words_back() {
    let mut model = fixtures::model(80, 24);
    let first = press(&mut model, "h i enter");
    press(&mut model, "m o r e enter x");
    told(&mut model, News::Rejected(id_of(&first), Rejection::invalid("no", "")));
    assert_eq!(model.composer.text(), "hi\n\nmore\n\nx");
    assert_eq!(model.sending().count(), 0);
}

#[test]
fn words_that_overtake_the_news_of_their_request_take_the_queue_away() {
    let mut model = working();
    let message = fixtures::message("m_second0000", "words", MessageState::Queued);
    fixtures::record(&mut model, Event::MessageQueued { message });
    press(&mut model, "alt+q");
    assert_eq!(model.focus, Focus::Queue);
    let words = Transient::Text {
        task: "t_parser00".into(),
        agent: "a_main0000".into(),
        call: "k_next".into(),
        at: 0,
        text: "I see".into(),
    };
    told(&mut model, News::Transient(words));
    assert_eq!(model.focus, Focus::Composer, "the message can't be had back any more");
    assert!(submitted(&press(&mut model, "alt+q e d")).is_empty());
    // Only a request that its news has caught up with leaves what is queued to the person.
    let late = fixtures::message("m_third00000", "later", MessageState::Queued);
    fixtures::record(&mut model, Event::TurnStarted { call: fixtures::model_call("k_next") });
    fixtures::record(&mut model, Event::MessageQueued { message: late });
    assert!(model.told.queued().iter().any(|message| message.id.as_str() == "m_third00000"));
}

#[test]
fn four_pasted_lines_and_enter_are_one_message() {
    let mut model = working();
    let effects = bytes(&mut model, b"\x1b[200~AAA\nBBB\r\nCCC\rDDD\x1b[201~\r");
    let [UserCommand::SendMessage { text, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!(text, "AAA\nBBB\nCCC\nDDD");
}

#[test]
fn the_list_pauses_a_task_and_lets_it_go_on() {
    let mut model = working();
    press(&mut model, "ctrl+t");
    let paused = Task { id: "t_other000".into(), status: TaskStatus::Paused, ..fixtures::task() };
    told(&mut model, News::Tasks(vec![fixtures::task(), paused]));
    assert!(matches!(submitted(&press(&mut model, "p"))[..], [UserCommand::Pause { .. }]));
    assert!(matches!(submitted(&press(&mut model, "down p"))[..], [UserCommand::Resume { .. }]));
    let effects = press(&mut model, "d");
    assert!(matches!(submitted(&effects)[..], [UserCommand::Archive { archived: true, .. }]));
}

#[test]
fn a_queued_message_is_edited_in_the_composer_and_the_draft_comes_back() {
    let mut model = working();
    let message = fixtures::message("m_second0000", "old words", MessageState::Queued);
    fixtures::record(&mut model, Event::MessageQueued { message });
    press(&mut model, "d r a f t alt+q e");
    assert_eq!(model.composer.text(), "old words");
    let effects = press(&mut model, "! enter");
    let [UserCommand::EditMessage { message, text, .. }] = submitted(&effects)[..] else { panic!("{effects:?}") };
    assert_eq!((message.as_str(), text.as_str()), ("m_second0000", "old words!"));
    assert_eq!(model.composer.text(), "draft");
}

#[test]
fn a_message_withdrawn_too_late_says_so_and_one_withdrawn_in_time_is_gone() {
    let mut model = working();
    let message = fixtures::message("m_second0000", "words", MessageState::Queued);
    fixtures::record(&mut model, Event::MessageQueued { message });
    let effects = press(&mut model, "alt+q d");
    assert!(matches!(submitted(&effects)[..], [UserCommand::WithdrawMessage { .. }]));
    let late =
        Rejection::wrong_state("message m_second0000 was already delivered", "send another message to correct it");
    told(&mut model, News::Rejected(id_of(&effects), late));
    assert!(model.hint.as_ref().is_some_and(|hint| hint.text.contains("already delivered")));
    fixtures::record(&mut model, Event::MessageWithdrawn { message: "m_second0000".into() });
    assert!(model.told.queued().is_empty());
    assert_eq!(model.focus, Focus::Composer);
}

#[test]
fn refused_words_come_back_to_the_composer() {
    let mut model = working();
    let effects = press(&mut model, "h i enter");
    press(&mut model, "n e x t");
    told(&mut model, News::Rejected(id_of(&effects), Rejection::invalid("no", "")));
    assert_eq!(model.composer.text(), "hi\n\nnext");
    assert!(model.outbox.is_empty());
}

#[test]
fn what_was_on_its_way_when_the_host_died_is_sent_again_under_its_own_id() {
    let mut model = working();
    let sent = press(&mut model, "h i enter");
    told(&mut model, News::Lost("killed".into()));
    press(&mut model, "m o r e");
    assert!(matches!(model.told.host, Host::Lost(_)));
    let effects = told(&mut model, News::Connected { seq: 40, fence: 2 });
    assert_eq!(id_of(&effects), id_of(&sent));
    assert!(effects.contains(&Wanted::Open("t_parser00".into())));
    assert_eq!(model.composer.text(), "more");
    told(
        &mut model,
        News::Accepted(id_of(&sent), Receipt { seq: 41, task: None, message: None, job: None, edit: None }),
    );
    assert!(model.outbox.is_empty());
}

#[test]
fn a_reopened_task_is_subscribed_from_its_own_answer() {
    let mut model = working();
    let mut opening = fixtures::opening();
    opening.detail.seq = 57;
    let effects = told(&mut model, News::Opened(Box::new(opening)));
    assert_eq!(effects, [Wanted::Subscribe { after: 57 }]);
    let effects = told(&mut model, News::Lagged(60));
    assert_eq!(effects, [Wanted::Subscribe { after: 60 }, Wanted::AskWaiting]);
}

#[test]
fn what_is_heard_of_a_task_while_it_is_being_opened_is_not_lost_when_more_follows() {
    let mut model = fixtures::model(80, 24);
    let effects = press(&mut model, "h i enter");
    let receipt = Receipt { seq: 3, task: Some("t_parser00".into()), message: None, job: None, edit: None };
    told(&mut model, News::Accepted(id_of(&effects), receipt));
    // The answer was given before the Run began; that it did is heard before the answer.
    let mut opening = fixtures::opening();
    let run = opening.detail.run.take().expect("a Run");
    let recorded = |seq, event| {
        let task = Some("t_parser00".into());
        News::Recorded(Box::new(Recorded { seq, at: fixtures::NOW, task, actor: Actor::system(), event }))
    };
    told(&mut model, recorded(21, Event::RunStarted { run, resumed: false, woken_by: Vec::new() }));
    let effects = told(&mut model, News::Opened(Box::new(opening)));
    assert!(model.told.is_running());
    assert_eq!(effects, [Wanted::Subscribe { after: 21 }]);
    told(&mut model, recorded(22, Event::TaskRenamed { title: "another name".into(), usage: None }));
    assert!(model.told.is_running());
    assert!(matches!(submitted(&press(&mut model, "esc"))[..], [UserCommand::Interrupt { .. }]));
}

#[test]
fn esc_stops_what_runs_or_waits_in_the_middle_and_nothing_else() {
    let mut model = working();
    assert!(matches!(submitted(&press(&mut model, "esc"))[..], [UserCommand::Interrupt { .. }]));
    let mut model = fixtures::model(80, 24);
    fixtures::approval(&mut model);
    press(&mut model, "alt+a");
    assert_eq!(model.focus, Focus::Asks);
    assert!(submitted(&press(&mut model, "esc")).is_empty(), "first it only leaves the approval");
    assert_eq!(model.focus, Focus::Composer);
    assert!(matches!(submitted(&press(&mut model, "esc"))[..], [UserCommand::Interrupt { .. }]));
    let mut model = fixtures::model(80, 24);
    fixtures::acceptance(&mut model);
    assert!(press(&mut model, "esc").is_empty(), "nothing is under way");
}

#[test]
fn ctrl_c_clears_then_asks_then_quits() {
    let mut model = working();
    press(&mut model, "h i ctrl+c");
    assert!(model.composer.is_empty() && !model.quit_asked);
    press(&mut model, "ctrl+_");
    assert_eq!(model.composer.text(), "hi", "what was cleared can be had back");
    press(&mut model, "ctrl+c ctrl+c");
    assert!(model.quit_asked);
    press(&mut model, "x ctrl+c");
    assert!(!model.quit_asked, "another key in between starts over");
    let effects = press(&mut model, "ctrl+c ctrl+c");
    assert_eq!(effects.last(), Some(&Wanted::Quit));
}

#[test]
fn ctrl_d_quits_only_without_text() {
    let mut model = working();
    assert!(!press(&mut model, "a left ctrl+d").contains(&Wanted::Quit));
    assert!(model.composer.is_empty());
    assert!(press(&mut model, "ctrl+d").contains(&Wanted::Quit));
}

#[test]
fn the_draft_is_kept_a_moment_after_the_last_key_and_before_quitting() {
    let mut model = working();
    press(&mut model, "h i");
    let due = model.draft_due.expect("a time");
    assert_eq!(due, NOW + 300);
    model.now = due;
    let kept = Wanted::KeepDraft { pane: "chat/t_parser00".into(), text: "hi".into() };
    assert_eq!(update(&mut model, Action::Tick), [kept]);
    assert_eq!(model.draft_due, None);
    press(&mut model, "!");
    let effects = press(&mut model, "home ctrl+k ctrl+d");
    assert_eq!(effects, [Wanted::KeepDraft { pane: "chat/t_parser00".into(), text: String::new() }, Wanted::Quit]);
}

#[test]
fn a_draft_that_comes_late_does_not_overwrite_what_is_typed() {
    let mut model = working();
    let draft = |text: &str| News::Draft { pane: "chat/t_parser00".into(), text: text.into() };
    told(&mut model, draft("kept"));
    assert_eq!(model.composer.text(), "kept");
    told(&mut model, draft("other"));
    assert_eq!(model.composer.text(), "kept");
}

#[test]
fn going_to_another_task_keeps_the_draft_of_this_one() {
    let mut model = working();
    press(&mut model, "w o r d s ctrl+t");
    let other = Task { id: "t_other000".into(), ..fixtures::task() };
    told(&mut model, News::Tasks(vec![fixtures::task(), other]));
    let effects = press(&mut model, "down enter");
    assert!(effects.contains(&Wanted::KeepDraft { pane: "chat/t_parser00".into(), text: "words".into() }));
    assert!(effects.contains(&Wanted::Open("t_other000".into())));
    assert!(model.composer.is_empty());
    assert_eq!(model.overlay, None);
}

#[test]
fn an_answer_for_a_task_that_was_left_is_not_shown() {
    let mut model = working();
    press(&mut model, "ctrl+t n");
    assert_eq!(model.wanted, None);
    assert!(told(&mut model, News::Opened(Box::new(fixtures::opening()))).is_empty());
    assert_eq!(model.told.open, None);
}

#[test]
fn panes_are_reached_by_number_and_in_turn_and_hidden_ones_come_back() {
    let mut model = fixtures::model(130, 40);
    press(&mut model, "tab tab");
    assert_eq!(model.focus, Focus::Side(Pane::Inbox));
    press(&mut model, "alt+x");
    assert_eq!((model.focus, model.layout.pane(Pane::Inbox)), (Focus::Composer, None));
    press(&mut model, "tab tab");
    assert_eq!(model.focus, Focus::Side(Pane::Jobs));
    press(&mut model, "alt+3 alt+z");
    assert_eq!(model.layout.panes.len(), 1);
    press(&mut model, "esc");
    assert_eq!(model.focus, Focus::Composer);
    press(&mut model, "esc");
    assert!(!model.zoomed);
}

#[test]
fn nothing_is_due_at_rest_and_what_happens_elsewhere_draws_nothing() {
    let mut model = fixtures::model(80, 24);
    fixtures::approval(&mut model);
    assert_eq!(model.due(), None);
    model.dirty = false;
    let elsewhere = Transient::Text {
        task: "t_other000".into(),
        agent: "a_1".into(),
        call: "k_1".into(),
        at: 0,
        text: "words".into(),
    };
    update(&mut model, Action::News(News::Transient(elsewhere)));
    assert!(!model.dirty);
    let mut model = working();
    assert_eq!(model.due(), Some(NOW + crate::tui::model::SPIN));
    model.overlay = Some(Overlay::Tasks);
    assert!(model.due().is_some());
}

#[test]
fn what_waits_for_a_person_is_listed_first() {
    let mut model = fixtures::model(80, 24);
    let listed = |id: &str, status| Task { id: id.into(), status, ..fixtures::opening().detail.task };
    let tasks = vec![listed("t_done", TaskStatus::Completed), listed("t_waits", TaskStatus::AwaitingHuman)];
    told(&mut model, News::Tasks(tasks));
    assert_eq!(model.told.tasks[0].id.as_str(), "t_waits");
}
