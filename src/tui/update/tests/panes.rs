//! Panes under the mouse and keys: borders, sizes, lists.

use super::*;

fn mouse(model: &mut Model, button: u8, column: u16, row: u16, last: char) -> Vec<Wanted> {
    bytes(model, format!("\x1b[<{button};{};{}{last}", column + 1, row + 1).as_bytes())
}

fn kept_sizes(effects: &[Wanted]) -> Option<crate::tui::sizes::Sizes> {
    effects.iter().find_map(|effect| match effect {
        Wanted::KeepDraft { pane, text } if pane == "layout" => Some(crate::tui::sizes::Sizes::of_text(text)),
        _ => None,
    })
}

#[test]
fn a_border_is_dragged_and_stays_where_it_was_let_go() {
    let mut model = fixtures::model(160, 50);
    let chat = |model: &Model| model.layout.frame(Pane::Chat).expect("a frame");
    let border = chat(&model).right();
    mouse(&mut model, 0, border, 10, 'M');
    assert_eq!(model.focus, Focus::Composer, "a border is no pane");
    mouse(&mut model, 32, 80, 10, 'M');
    assert_eq!(chat(&model).right(), 81);
    let effects = mouse(&mut model, 0, 80, 10, 'm');
    let kept = kept_sizes(&effects).expect("kept");
    mouse(&mut model, 32, 100, 10, 'M');
    assert_eq!(chat(&model).right(), 81, "it was let go");
    // The same terminal, opened again.
    let mut again = fixtures::model(160, 50);
    told(&mut again, News::Draft { pane: "layout".into(), text: kept.to_text() });
    assert_eq!(chat(&again).right(), 81);
}

#[test]
fn a_border_between_two_panes_of_a_column_is_dragged() {
    let mut model = fixtures::model(160, 50);
    let frame = |model: &Model, pane| model.layout.frame(pane).expect("a frame");
    let subagents = frame(&model, Pane::Subagents);
    mouse(&mut model, 0, subagents.x + 5, subagents.bottom() - 1, 'M');
    mouse(&mut model, 32, subagents.x + 5, subagents.bottom() + 6, 'M');
    assert_eq!(frame(&model, Pane::Subagents).height, subagents.height + 7);
    mouse(&mut model, 0, 0, 0, 'm');
    let inbox = frame(&model, Pane::Inbox);
    mouse(&mut model, 0, inbox.x + 5, inbox.bottom(), 'M');
    mouse(&mut model, 32, inbox.x + 5, inbox.bottom() - 5, 'M');
    assert!(frame(&model, Pane::Inbox).height < inbox.height);
    assert!(frame(&model, Pane::Jobs).height > 5);
}

#[test]
fn panes_are_resized_hidden_and_put_back_with_keys() {
    let mut model = fixtures::model(160, 50);
    fixtures::job(&mut model);
    let told = Message { kind: MessageKind::Notice, ..fixtures::message("m_n", "noted", MessageState::Queued) };
    model.told.records.messages.insert(told.id.clone(), told);
    model.lay_out();
    let chat = |model: &Model| model.layout.frame(Pane::Chat).expect("a frame").width;
    let before = chat(&model);
    assert!(kept_sizes(&press(&mut model, "ctrl+alt+right")).is_some());
    assert_eq!(chat(&model), before + 4);
    press(&mut model, "ctrl+alt+left ctrl+alt+left");
    assert_eq!(chat(&model), before - 4);
    let jobs = |model: &Model| model.layout.frame(Pane::Jobs).map(|frame| frame.height);
    press(&mut model, "alt+4 alt+= alt+=");
    assert_eq!(jobs(&model), Some(9));
    press(&mut model, "alt+3 alt+=");
    assert_eq!(jobs(&model), Some(9), "the Inbox grows by what is above it");
    let effects = press(&mut model, "alt+4 alt+x");
    assert!(kept_sizes(&effects).is_some_and(|sizes| sizes.hidden.contains(&Pane::Jobs)));
    assert_eq!(jobs(&model), None);
    assert!(kept_sizes(&press(&mut model, "alt+4")).is_some_and(|sizes| sizes.hidden.is_empty()));
    act(&mut model, Action::ResetLayout);
    assert_eq!((chat(&model), jobs(&model)), (before, Some(5)));
    for _ in 0..100 {
        press(&mut model, "ctrl+alt+left");
    }
    assert!(chat(&model) >= 30, "no pane is squeezed away");
}

#[test]
fn where_one_pane_is_shown_a_border_is_not_looked_for() {
    let mut model = fixtures::model(80, 24);
    assert_eq!(press(&mut model, "ctrl+alt+left"), []);
    assert!(model.hint.is_some());
}

#[test]
fn a_click_takes_what_stands_there_and_beside_the_list_nothing() {
    let mut model = fixtures::model(80, 24);
    press(&mut model, "ctrl+p");
    let names = |model: &Model| -> Vec<String> {
        let picker = model.picker.as_ref().expect("open");
        picker.shown(0, 50).into_iter().map(|(item, _)| item.detail.clone()).collect()
    };
    let tasks = names(&model).iter().position(|name| name == "tasks").expect("there") as u16;
    // The box is 14 rows high in the middle of 24; its first item stands in its fourth row.
    assert_eq!(mouse(&mut model, 0, 2, 1, 'M'), []);
    assert_eq!(model.overlay, Some(Overlay::Picker));
    let effects = mouse(&mut model, 0, 20, 5 + 3 + tasks, 'M');
    assert_eq!(model.overlay, Some(Overlay::Tasks), "{effects:?}");
    let task = |id: &str| Task { id: id.into(), ..fixtures::task() };
    told(&mut model, News::Tasks(vec![task("t_a"), task("t_b"), task("t_c")]));
    model.tasks.chosen = 0;
    let effects = mouse(&mut model, 0, 20, 12, 'M');
    assert!(effects.contains(&Wanted::Open("t_b".into())), "{effects:?}");
}

#[test]
fn the_list_of_tasks_is_narrowed_by_typing_and_keys_are_words_meanwhile() {
    let mut model = fixtures::model(80, 24);
    press(&mut model, "ctrl+t");
    let task = |id: &str, title: &str| Task { id: id.into(), title: title.into(), ..fixtures::task() };
    told(&mut model, News::Tasks(vec![task("t_a", "Water the garden"), task("t_b", "Pay bills"), task("t_c", "Dig")]));
    assert_eq!(press(&mut model, "/ p a y"), []);
    let listed = |model: &Model| model.listed_tasks().iter().map(|task| task.id.to_string()).collect::<Vec<_>>();
    assert_eq!(listed(&model), ["t_b"]);
    // Kept, the keys of the list act on what is listed.
    press(&mut model, "tab");
    let paused = press(&mut model, "p");
    assert!(
        matches!(&paused[..], [Wanted::Submit { wanted: UserCommand::Pause { task }, .. }] if task.as_str() == "t_b")
    );
    press(&mut model, "/ esc");
    assert_eq!((listed(&model).len(), model.tasks.chosen), (3, 1));
    press(&mut model, "/ d i g");
    let effects = press(&mut model, "enter");
    assert_eq!(model.wanted.as_ref().map(|task| task.as_str()), Some("t_c"), "{effects:?}");
}
