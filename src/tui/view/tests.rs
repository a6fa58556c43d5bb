//! Screens as snapshots at the three sizes of the house.

mod storm;

use super::view;
use crate::domain::*;
use crate::tui::action::{Action, News, Pane};
use crate::tui::fixtures::{self, NOW};
use crate::tui::model::{Focus, Model, Overlay};
use crate::tui::painter::Painter;
use crate::tui::projection::Trusted;
use crate::tui::text;
use crate::tui::theme::BuiltIn;
use crate::tui::update::update;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::Color;

const SIZES: [(u16, u16); 4] = [(80, 24), (120, 40), (200, 60), (40, 12)];

/// Draws a model as the driver does.
fn frame(model: &mut Model) -> Buffer {
    model.lay_out();
    let (width, height) = model.size;
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
    terminal.draw(|frame| view(model, frame)).expect("a frame").buffer.clone()
}

/// The words of a frame.
fn drawn(model: &mut Model) -> String {
    let buffer = frame(model);
    let mut lines = Vec::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width.max(1))) {
        let (mut line, mut covered) = (String::new(), 0);
        for cell in row {
            if covered == 0 {
                line.push_str(cell.symbol());
                covered = text::width(cell.symbol()).max(1);
            }
            covered -= 1;
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// The styles of a frame: a letter for each, as a map, and what each stands for.
fn inked(model: &mut Model) -> String {
    let buffer = frame(model);
    let mut known: Vec<String> = Vec::new();
    let mut map = String::new();
    for row in buffer.content.chunks(usize::from(buffer.area.width.max(1))) {
        let mut line = String::new();
        for cell in row {
            let ink = if cell.symbol() == " " { Color::Reset } else { cell.fg };
            let style = format!("{ink} on {} {:?}", cell.bg, cell.modifier);
            if style == "Reset on Reset NONE" {
                line.push(' ');
                continue;
            }
            let at = known.iter().position(|seen| *seen == style).unwrap_or_else(|| {
                known.push(style);
                known.len() - 1
            });
            line.push(char::from(b'a' + at as u8));
        }
        map.push_str(line.trim_end());
        map.push('\n');
    }
    for (at, style) in known.iter().enumerate() {
        map.push_str(&format!("{}: {style}\n", char::from(b'a' + at as u8)));
    }
    map
}

/// One file for each state: its words at every size, and its styles at the first in three themes.
fn snapshots(name: &str, set_up: impl Fn(&mut Model)) {
    let mut page = String::new();
    let set = |(width, height): (u16, u16), theme: BuiltIn| {
        let mut model = fixtures::model(width, height);
        model.theme = theme.load();
        set_up(&mut model);
        model
    };
    for (width, height) in SIZES {
        page.push_str(&format!("== {width}x{height}\n{}\n", drawn(&mut set((width, height), BuiltIn::Dark))));
    }
    for theme in [BuiltIn::Dark, BuiltIn::Light, BuiltIn::None] {
        page.push_str(&format!("== {} at {}x{}\n", theme.name(), SIZES[0].0, SIZES[0].1));
        page.push_str(&inked(&mut set(SIZES[0], theme)));
    }
    insta::assert_snapshot!(name, page);
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
fn the_widest_terminals_have_two_columns_beside_the_chat_once_there_is_something_in_them() {
    let mut model = fixtures::model(300, 100);
    fixtures::working(&mut model);
    fixtures::job(&mut model);
    let told = Message { kind: MessageKind::Notice, ..fixtures::message("m_n", "noted", MessageState::Queued) };
    model.told.records.messages.insert(told.id.clone(), told);
    insta::assert_snapshot!("wide", drawn(&mut model));
}

#[test]
fn panes_with_something_in_them() {
    snapshots("busy", |model| {
        fixtures::working(model);
        fixtures::job(model);
        let told = Message { kind: MessageKind::Notice, ..fixtures::message("m_n", "noted", MessageState::Queued) };
        model.told.records.messages.insert(told.id.clone(), told);
    });
}

#[test]
fn the_pane_of_jobs() {
    snapshots("jobs", |model| {
        fixtures::working(model);
        fixtures::job(model);
        model.focus = Focus::Side(Pane::Jobs);
    });
}

/// An answer that is settled, with the colours of its code.
fn answered(model: &mut Model, words: &str) {
    model.wanted = Some("t_parser00".into());
    let mut opening = fixtures::opening();
    opening.detail.run = None;
    opening.page.rows = vec![
        fixtures::row(1, Role::User, vec![Part::text("Show me")]),
        fixtures::row(2, Role::Assistant, vec![Part::text(words)]),
    ];
    news(model, News::Opened(Box::new(opening)));
    let painter = Painter::new();
    for job in model.chat.colours.take_wanted() {
        let coloured = painter.paint(&job);
        update(model, Action::Painted(job, coloured));
    }
    model.lay_out();
}

#[test]
fn an_answer_in_markdown() {
    let words = "# Report\n\nSome **bold**, *slanted*, ~~gone~~ and `code`, see [the page](https://a.example).\n\n\
        > A quote that is long enough to wrap in a narrow pane, surely.\n\n1. first\n2. second\n   - nested\n\n\
        - [x] done\n- [ ] open\n\n| name | size |\n|---|---:|\n| a.txt | 10 |\n| 日本語.txt | 2 000 |\n\n---\nThe end.";
    snapshots("markdown", |model| answered(model, words));
}

#[test]
fn a_card_of_code() {
    let words = "The fix:\n\n```rust\nfn parse(text: &str) -> usize {\n    // Keep the end.\n    let lines = text.lines().count();\n    lines + 1\n}\n```\n\n```\nno language\n```";
    snapshots("code", |model| answered(model, words));
}

#[test]
fn the_scripts_of_the_world() {
    let words = "日本語テキストはここで折り返されますか、狭い画面でも正しく。\n\nاختبار العربية في سطر طويل بما يكفي\n\n\
        สวัสดีครับ ทดสอบภาษาไทย\n\n👩‍👩‍👧‍👦 🏳️‍🌈 ⚙️ ⏺ e\u{301}\n\n| a | b |\n|---|---|\n| 👩‍👩‍👧‍👦 | 日本 |\n| العربية | x |";
    snapshots("scripts", |model| answered(model, words));
}

#[test]
fn the_diff_of_a_change() {
    let diff = "--- a/src/parser.rs\n+++ b/src/parser.rs\n@@ -1,4 +1,4 @@\n fn parse(text: &str) -> usize {\n\
        -    let text = text.trim_end();\n+    let text = text.trim_start();\n     text.lines().count()\n }\n";
    snapshots("diff", |model| {
        model.wanted = Some("t_parser00".into());
        let mut opening = fixtures::opening();
        opening.page.calls[0].name = "edit".into();
        opening.page.rows[2] = fixtures::row(3, Role::Tool, vec![Part::text(diff)]);
        news(model, News::Opened(Box::new(opening)));
        model.chat.opened.toggle(&crate::tui::chat::entries::Key::Call("c_read000000".into()));
    });
}

#[test]
fn plain_lines_for_a_screen_reader() {
    let mut page = String::new();
    for (width, height) in SIZES {
        let mut model = fixtures::model(width, height);
        model.form = crate::tui::look::Form::Plain;
        fixtures::working(&mut model);
        update(&mut model, Action::OpenCommands);
        page.push_str(&format!("== {width}x{height}\n{}\n", drawn(&mut model)));
    }
    let draws = |c: char| matches!(c, '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}');
    assert!(!page.contains(draws), "{page}");
    insta::assert_snapshot!("plain", page);
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
