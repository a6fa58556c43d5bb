//! Screens as snapshots at the three sizes of the house.

mod storm;

use super::view;
use crate::domain::*;
use crate::tui::action::{Action, News, Pane};
use crate::tui::fixtures::{self, NOW};
use crate::tui::model::{Focus, Model, Overlay};
use crate::tui::projection::Trusted;
use crate::tui::update::update;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (40, 12)];

/// Draws a model as the driver does.
fn drawn(model: &mut Model) -> String {
    model.lay_out();
    let (width, height) = model.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| view(model, frame)).expect("a frame");
    let lines: Vec<String> =
        terminal.backend().to_string().lines().map(|line| line.trim_matches('"').trim_end().to_owned()).collect();
    lines.join("\n")
}

fn snapshots(name: &str, set_up: impl Fn(&mut Model)) {
    for (width, height) in SIZES {
        let mut model = fixtures::model(width, height);
        set_up(&mut model);
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), drawn(&mut model));
    }
}

fn news(model: &mut Model, said: News) {
    update(model, Action::News(said));
    model.lay_out();
}

fn says(text: &str, at: u64) -> News {
    News::Transient(Transient::Text {
        task: "t_parser00".into(),
        agent: "a_main0000".into(),
        call: "k_live".into(),
        at,
        text: text.into(),
    })
}

#[test]
fn an_empty_start() {
    snapshots("empty", |_| {});
}

#[test]
fn the_guide_says_what_it_is() {
    snapshots("guide", |model| model.facts.model = "guide:guide".into());
}

#[test]
fn the_banner_about_trust() {
    snapshots("trust", |model| model.told.trusted = Trusted::Unknown);
}

#[test]
fn tool_calls_with_their_states() {
    snapshots("tools", |model| {
        fixtures::working(model);
        let output = Transient::ToolOutput {
            task: "t_parser00".into(),
            agent: "a_main0000".into(),
            call: "c_shell00000".into(),
            text: "running 3 tests\ntest parser::trims ... ok\n".into(),
        };
        news(model, News::Transient(output));
    });
}

#[test]
fn an_open_tool_call_shows_arguments_and_result() {
    snapshots("tool_open", |model| {
        fixtures::working(model);
        model.chat.chosen = Some(crate::tui::chat::entries::Key::Call("c_read000000".into()));
        model.focus = Focus::Transcript;
        update(model, Action::ToggleEntry);
    });
}

#[test]
fn words_as_they_stream() {
    snapshots("streaming", |model| {
        fixtures::working(model);
        let shell = Row {
            tool_call: Some("c_shell00000".into()),
            ..fixtures::row(5, Role::Tool, vec![Part::text("test parser::keeps ... FAILED")])
        };
        let settled = Event::ToolSettled {
            call: "c_shell00000".into(),
            agent: "a_main0000".into(),
            state: ToolCallState::Error,
            row: shell,
            saw: None,
        };
        fixtures::record(model, settled);
        news(model, says("The test fails because `parse` trims the line end before it ", 0));
        news(model, says("counts the lines. The fix is one line", 60));
    });
}

#[test]
fn an_approval_waits_in_one_line() {
    snapshots("approval_waits", fixtures::approval);
}

#[test]
fn an_approval_is_shown_whole() {
    snapshots("approval", |model| {
        fixtures::approval(model);
        model.focus = Focus::Asks;
        model.lay_out();
        model.now += 1_000;
    });
}

#[test]
fn a_question_with_options() {
    snapshots("question", |model| {
        fixtures::question(model);
        model.focus = Focus::Asks;
        model.lay_out();
        model.now += 1_000;
    });
}

#[test]
fn a_point_of_acceptance_waits_for_its_verdict() {
    snapshots("acceptance", |model| {
        fixtures::acceptance(model);
        model.focus = Focus::Asks;
        model.lay_out();
        model.now += 1_000;
    });
}

#[test]
fn a_message_is_queued() {
    snapshots("queued", |model| {
        fixtures::working(model);
        let message = fixtures::message("m_second0000", "And look at the docs too, please.", MessageState::Queued);
        fixtures::record(model, Event::MessageQueued { message });
        model.composer.set("one more thing");
    });
}

#[test]
fn the_list_of_tasks() {
    snapshots("tasks", |model| {
        fixtures::working(model);
        model.overlay = Some(Overlay::Tasks);
        let task = |title: &str, status, minutes: i64, usd| Task {
            id: format!("t_{minutes}").into(),
            title: title.into(),
            status,
            updated_at: NOW - minutes * 60_000,
            usage: Usage { micro_usd: usd, ..Usage::default() },
            last_words: "I looked at it; **one** thing is left: the cache.\nShall I?".into(),
            waiting_for: vec![Waiting { kind: "approval".into(), id: "p_1".into(), text: "shell: git push".into() }],
            ..fixtures::task()
        };
        news(
            model,
            News::Tasks(vec![
                fixtures::task(),
                task("Translate the manual", TaskStatus::AwaitingHuman, 12, Some(1_240_000)),
                task("Measure the cache", TaskStatus::Completed, 200, None),
                Task {
                    reason: Some("budget: turns: 40 of 40 used".into()),
                    ..task("Clean up the logs", TaskStatus::Failed, 3_000, Some(90_000))
                },
            ]),
        );
        model.tasks.chosen = 1;
    });
}

#[test]
fn the_keys() {
    snapshots("help", |model| model.overlay = Some(Overlay::Help { scroll: 0 }));
}

#[test]
fn the_palette() {
    snapshots("palette", |model| {
        fixtures::working(model);
        update(model, Action::OpenCommands);
        update(model, Action::Type("task".into()));
    });
}

#[test]
fn files_to_pick_with_the_first_lines_of_the_chosen_one() {
    snapshots("files", |model| {
        update(model, Action::Type("see @".into()));
        let paths = ["src/main.rs", "src/日本語/解析.rs", "tests/parse.rs", "README.md"].map(str::to_owned).to_vec();
        news(model, News::Files { search: 1, paths, last: true });
        update(model, Action::Type("rs".into()));
        let lines = vec!["//! The program.".to_owned(), String::new(), "fn main() {}".to_owned()];
        let path = model.picker.as_ref().and_then(|picker| picker.choice()).map(|item| item.text.clone());
        let path = path.unwrap_or_default();
        news(model, News::Preview(crate::tui::picker::Preview { path, lines }));
    });
}

#[test]
fn a_command_of_the_person() {
    snapshots("shell", |model| {
        fixtures::working(model);
        update(model, Action::Type("!cargo test".into()));
        update(model, Action::Send);
        let output = "running 3 tests\ntest parser::trims ... ok\ntest parser::keeps ... FAILED\n".to_owned();
        if let Some(shell) = &mut model.shell {
            shell.ran = Some(crate::tui::shell::Ran { ended: "exit 101".into(), output });
        }
    });
}

#[test]
fn a_long_paste_is_a_chip() {
    snapshots("chip", |model| {
        update(model, Action::Type("what is wrong in ".into()));
        update(model, Action::Paste("a line of a log\n".repeat(212)));
        update(model, Action::Type(" and why?".into()));
    });
}

#[test]
fn the_widest_terminals_have_two_columns_beside_the_chat() {
    for (width, height) in [(200, 60), (300, 100)] {
        let mut model = fixtures::model(width, height);
        fixtures::working(&mut model);
        insta::assert_snapshot!(format!("wide_{width}x{height}"), drawn(&mut model));
    }
}

#[test]
fn plain_lines_for_a_screen_reader() {
    for (width, height) in SIZES {
        let mut model = fixtures::model(width, height);
        model.form = crate::tui::look::Form::Plain;
        fixtures::working(&mut model);
        update(&mut model, Action::OpenCommands);
        let drawn = drawn(&mut model);
        insta::assert_snapshot!(format!("plain_{width}x{height}"), drawn);
        let draws = |c: char| matches!(c, '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}');
        assert!(!drawn.contains(draws), "{drawn}");
    }
}

#[test]
fn with_reduced_motion_nothing_turns() {
    let mut model = fixtures::model(80, 24);
    fixtures::working(&mut model);
    let (before, turning) = (drawn(&mut model), model.due());
    model.motion = crate::tui::look::Motion::Reduced;
    let still = drawn(&mut model);
    model.now += 300;
    assert_eq!(drawn(&mut model), still);
    assert_ne!(before, still);
    assert!(model.due() > turning.map(|at| at + 300));
}

#[test]
fn the_inbox_alone() {
    snapshots("inbox", |model| {
        fixtures::working(model);
        let message = fixtures::message("m_second0000", "And look at the docs too, please.", MessageState::Queued);
        fixtures::record(model, Event::MessageQueued { message });
        model.focus = Focus::Side(Pane::Inbox);
    });
}

#[test]
fn a_failure_says_when_it_is_tried_again() {
    snapshots("retry", |model| {
        fixtures::working(model);
        model.told.records.agents.entry("a_main0000".into()).or_insert_with(fixtures::agent);
        let failed = Event::TurnFailed {
            call: "k_1".into(),
            agent: "a_main0000".into(),
            class: "overloaded".into(),
            message: "the server is overloaded".into(),
            retry_at: Some(NOW + 4_000),
            instead: None,
        };
        fixtures::record(model, failed);
    });
}
