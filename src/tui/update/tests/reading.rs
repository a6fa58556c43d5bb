//! Reading: scrolling, opening, searching, copying.

use super::*;

#[test]
fn older_rows_are_asked_for_once_when_the_reader_comes_near() {
    let mut model = fixtures::model(80, 24);
    model.wanted = Some("t_parser00".into());
    let mut opening = fixtures::opening();
    opening.page.calls.clear();
    opening.page.more = true;
    opening.page.rows =
        (101..=200).map(|seq| fixtures::row(seq, Role::User, vec![Part::text(format!("row {seq}"))])).collect();
    told(&mut model, News::Opened(Box::new(opening)));
    assert!(press(&mut model, "pgup").is_empty());
    let effects = press(&mut model, "ctrl+home");
    assert_eq!(effects, [Wanted::Older { agent: "a_main0000".into(), before: 101 }]);
    assert!(press(&mut model, "shift+up").is_empty());
    let rows = (1..=100).map(|seq| fixtures::row(seq, Role::User, vec![Part::text(format!("row {seq}"))])).collect();
    let top = |model: &Model| model.chat.visible().find_map(|(line, _)| line.map(ToString::to_string));
    let before = top(&model);
    told(
        &mut model,
        News::Older(
            "a_main0000".into(),
            TranscriptPage { rows, calls: Vec::new(), messages: Vec::new(), more: false, seq: 0 },
        ),
    );
    assert_eq!(top(&model), before, "what is read does not move");
}

#[test]
fn the_reading_place_stays_and_what_came_below_is_marked() {
    let mut model = fixtures::model(80, 24);
    model.wanted = Some("t_parser00".into());
    let mut opening = fixtures::opening();
    opening.page.rows =
        (1..=60).map(|seq| fixtures::row(seq, Role::User, vec![Part::text(format!("row {seq}"))])).collect();
    told(&mut model, News::Opened(Box::new(opening)));
    press(&mut model, "pgup");
    assert!(!model.chat.has_new_below());
    let top = model.chat.top();
    let row = fixtures::row(61, Role::Assistant, vec![Part::text("news")]);
    let event = Event::TurnCommitted {
        call: "k_9".into(),
        agent: "a_main0000".into(),
        row,
        usage: Usage::default(),
        consumed: Vec::new(),
    };
    fixtures::record(&mut model, event);
    assert_eq!(model.chat.top(), top);
    assert!(model.chat.has_new_below());
    press(&mut model, "ctrl+end");
    assert!(model.chat.is_following());
}

#[test]
fn reading_opens_a_call_and_copies_its_result() {
    let mut model = working();
    press(&mut model, "alt+up up up");
    assert_eq!(model.focus, Focus::Transcript);
    let lines = model.chat.total();
    press(&mut model, "enter");
    assert!(model.chat.total() > lines);
    assert!(model.chat.visible().any(|(_, chosen)| chosen), "what was opened stays on screen");
    let effects = press(&mut model, "y");
    assert!(matches!(&effects[..], [Wanted::Copy(text)] if text.contains("trim_end")));
    press(&mut model, "down down down");
    assert_eq!(model.focus, Focus::Composer);
}

#[test]
fn a_click_opens_a_call_and_leaves_the_keys_with_the_composer() {
    let mut model = working();
    let rows = model.chat.total();
    let transcript = model.layout.transcript;
    let read = (0..transcript.height)
        .find(|row| {
            let line = model.chat.visible().nth(usize::from(*row)).and_then(|(line, _)| line.map(ToString::to_string));
            line.is_some_and(|line| line.contains("src/parser.rs"))
        })
        .expect("the call is on screen");
    let row = transcript.y + read + model.chat.space_above() as u16;
    act(&mut model, Action::Click { column: 5, row });
    assert_eq!(model.chat.total(), rows, "the button is still down");
    act(&mut model, Action::Release);
    assert!(model.chat.total() > rows);
    press(&mut model, "y");
    assert_eq!((model.focus, model.composer.text().as_str()), (Focus::Composer, "y"));
}

#[test]
fn a_search_goes_from_match_to_match_and_opens_what_hides_one() {
    let mut model = working();
    press(&mut model, "alt+/ t r i m _ e n d");
    let search = model.chat.search.clone().expect("a search");
    assert_eq!(search.words, "trim_end");
    let on_screen = |model: &Model| {
        let search = model.chat.search.clone().expect("a search");
        model
            .chat
            .visible()
            .filter(|(line, chosen)| *chosen && line.is_some_and(|line| !search.matches(&line.to_string()).is_empty()))
            .count()
    };
    assert!(on_screen(&model) > 0);
    let newest = model.chat.chosen.clone();
    press(&mut model, "enter");
    while model.chat.chosen == newest {
        let at = model.chat.search.clone();
        press(&mut model, "n");
        assert_ne!(model.chat.search, at, "each n goes on");
    }
    assert!(on_screen(&model) > 0);
    press(&mut model, "N");
    assert_eq!(model.chat.chosen, newest);
    press(&mut model, "esc");
    assert_eq!((model.focus, model.chat.search.is_none()), (Focus::Composer, true));
}

#[test]
fn what_is_typed_or_pasted_into_a_search_goes_nowhere_else() {
    let mut model = working();
    bytes(&mut model, b"\x1b/nothing like \x1b[200~this\x1b[201~");
    assert_eq!(model.chat.search.as_ref().map(|search| search.words.as_str()), Some("nothing like this"));
    assert!(model.composer.is_empty());
    assert!(model.hint.as_ref().is_some_and(|hint| hint.text.contains("here")));
    press(&mut model, "esc");
    assert_eq!(model.focus, Focus::Composer);
}

#[test]
fn a_code_block_is_copied_alone_the_last_one_first() {
    let mut model = fixtures::model(80, 24);
    model.wanted = Some("t_parser00".into());
    let mut opening = fixtures::opening();
    opening.page.calls.clear();
    let words = "one\n\n```sh\nls\n```\n\ntwo\n\n```rust\nfn f() {}\n```\n";
    opening.page.rows = vec![
        fixtures::row(1, Role::User, vec![Part::text("say")]),
        fixtures::row(2, Role::Assistant, vec![Part::text(words)]),
    ];
    told(&mut model, News::Opened(Box::new(opening)));
    assert_eq!(press(&mut model, "alt+up c"), [Wanted::Copy("fn f() {}".into())]);
    assert_eq!(press(&mut model, "c"), [Wanted::Copy("ls".into())]);
    press(&mut model, "{");
    assert_eq!(model.chat.chosen, Some(crate::tui::chat::entries::Key::Said(1)));
    assert_eq!(press(&mut model, "c"), []);
}
