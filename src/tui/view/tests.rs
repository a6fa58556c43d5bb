//! Screens as snapshots at the three sizes of the house.

use super::view;
use crate::domain::*;
use crate::tui::action::{Action, News, Pane};
use crate::tui::fixtures::{self, NOW};
use crate::tui::input::decode::Decoder;
use crate::tui::keymap;
use crate::tui::model::{Focus, Model, Overlay};
use crate::tui::projection::Trusted;
use crate::tui::update::update;
use proptest::prelude::*;
use ratatui::backend::{CrosstermBackend, TestBackend};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::cell::RefCell;
use std::io;
use std::num::NonZeroU16;
use std::rc::Rc;

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
        news(model, News::ShellEnded(crate::tui::shell::Ran { ended: "exit 101".into(), output }));
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
        };
        fixtures::record(model, failed);
    });
}

/// Anything that can happen, many times: keys, bytes, sizes, events.
#[derive(Debug, Clone)]
enum Happening {
    Bytes(Vec<u8>),
    Size(u16, u16),
    Later(i64),
    Working,
    Approval,
    Question,
    Says(String),
    Queued(String),
    Trust,
}

fn happening() -> impl Strategy<Value = Happening> {
    let key = prop_oneof![
        Just(b"\x1b[A".to_vec()),
        Just(b"\x1b[B".to_vec()),
        Just(b"\x1b[D".to_vec()),
        Just(b"\x1b[5~".to_vec()),
        Just(b"\x1b[6~".to_vec()),
        Just(b"\x1b[1;3A".to_vec()),
        Just(b"\x1b[1;5H".to_vec()),
        Just(b"\x1b[200~p\xc3\xa4ste\nof lines\tand \xe6\x97\xa5\xe6\x9c\xac\x1b[201~".to_vec()),
        Just(b"\x1b[<64;10;5M".to_vec()),
        Just(b"\x1b[<0;10;5M".to_vec()),
        Just("日本".as_bytes().to_vec()),
        (1u8..=0x1a).prop_filter("not asleep", |byte| *byte != 0x1a).prop_map(|byte| vec![byte]),
        (0x20u8..0x7f).prop_map(|byte| vec![byte]),
        (0x20u8..0x5b).prop_map(|byte| vec![0x1b, byte]),
        (b'a'..=b'z').prop_map(|byte| vec![0x1b, byte]),
    ];
    prop_oneof![
        12 => key.prop_map(Happening::Bytes),
        2 => (0u16..160, 0u16..50).prop_map(|(width, height)| Happening::Size(width, height)),
        1 => (0i64..2_000).prop_map(Happening::Later),
        1 => Just(Happening::Working),
        1 => Just(Happening::Approval),
        1 => Just(Happening::Question),
        1 => "[a-z 日本\n\t\u{202e}\x1b]{0,80}".prop_map(Happening::Says),
        1 => "[a-z 日\n]{1,40}".prop_map(Happening::Queued),
        1 => Just(Happening::Trust),
    ]
}

fn happen(model: &mut Model, what: &Happening, step: usize) {
    match what {
        Happening::Bytes(bytes) => {
            let mut decoder = Decoder::default();
            let mut events = decoder.feed(bytes, 0);
            events.extend(decoder.expire(10_000));
            for event in events {
                if let Some(action) = keymap::resolve(event, model) {
                    update(model, action);
                    model.lay_out();
                }
            }
        }
        Happening::Size(width, height) => {
            update(model, Action::Resize { width: *width, height: *height });
        }
        Happening::Later(millis) => {
            model.now += millis;
            update(model, Action::Tick);
        }
        Happening::Working => fixtures::working(model),
        Happening::Approval => fixtures::approval(model),
        Happening::Question => fixtures::question(model),
        Happening::Says(text) => news(model, says(text, 0)),
        Happening::Queued(text) => {
            let message = fixtures::message(&format!("m_{step}"), text, MessageState::Queued);
            fixtures::record(model, Event::MessageQueued { message });
        }
        Happening::Trust => model.told.trusted = Trusted::Unknown,
    }
}

/// The screen of an emulator, fed with the bytes of every frame.
#[derive(Clone)]
struct Glass(Rc<RefCell<vt100::Parser>>);

impl io::Write for Glass {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().process(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal as it really is.
struct Emulated {
    terminal: Terminal<CrosstermBackend<Glass>>,
    glass: Glass,
    size: (u16, u16),
}

impl Emulated {
    fn new(size: (u16, u16)) -> Self {
        let side = |cells: u16| NonZeroU16::new(cells).unwrap_or(NonZeroU16::MIN);
        let glass = Glass(Rc::new(RefCell::new(vt100::Parser::new(side(size.1), side(size.0), 0))));
        let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, size.0, size.1)) };
        let terminal = Terminal::with_options(CrosstermBackend::new(glass.clone()), options).expect("a terminal");
        Self { terminal, glass, size }
    }

    fn draw(&mut self, model: &Model) {
        if self.size != model.size {
            *self = Self::new(model.size);
        }
        self.terminal.draw(|frame| view(model, frame)).expect("a frame");
    }

    /// What is seen in each cell, and how.
    fn cells(&self) -> Vec<(String, String)> {
        let glass = self.glass.0.borrow();
        let places = (0..self.size.1).flat_map(|row| (0..self.size.0).map(move |column| (row, column)));
        let cells = places.filter_map(|(row, column)| glass.screen().cell(row, column));
        cells
            .map(|cell| {
                let seen = if cell.has_contents() { cell.contents() } else { " " };
                let ground = (cell.bgcolor(), cell.inverse());
                let ink = (seen != " ").then(|| (cell.fgcolor(), cell.bold()));
                (seen.to_owned(), format!("{ground:?} {ink:?}"))
            })
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_happens_the_screen_is_the_one_a_fresh_terminal_would_show(
        story in prop::collection::vec(happening(), 1..60)
    ) {
        let mut model = fixtures::model(80, 24);
        let mut lasting = Emulated::new((80, 24));
        for (step, what) in story.iter().enumerate() {
            happen(&mut model, what, step);
            model.lay_out();
            lasting.draw(&model);
        }
        let mut fresh = Emulated::new(model.size);
        fresh.draw(&model);
        let width = usize::from(model.size.0.max(1));
        for (ix, (lasting, fresh)) in lasting.cells().iter().zip(fresh.cells()).enumerate() {
            prop_assert_eq!(lasting, &fresh, "at column {}, row {}", ix % width, ix / width);
        }
        for (seen, _) in fresh.cells() {
            prop_assert!(!seen.chars().any(|c| c.is_control() || c == '\u{202e}'), "{seen:?}");
        }
    }
}

mod agents;
