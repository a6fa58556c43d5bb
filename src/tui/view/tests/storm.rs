//! Anything that can happen, many times: no key, size or event breaks the screen, nothing draws where
//! it has no business, and what is seen in the end is what a fresh terminal would show.

use super::{news, says};
use crate::domain::*;
use crate::tui::action::Action;
use crate::tui::fixtures;
use crate::tui::input::decode::Decoder;
use crate::tui::keymap;
use crate::tui::model::Model;
use crate::tui::projection::Trusted;
use crate::tui::update::update;
use crate::tui::view::view;
use proptest::prelude::*;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::cell::RefCell;
use std::io;
use std::num::NonZeroU16;
use std::rc::Rc;

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
    Job,
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
        (0u8..130, 1u16..170, 1u16..60, prop::bool::ANY).prop_map(|(button, column, row, is_down)| {
            format!("\x1b[<{button};{column};{row}{}", if is_down { 'M' } else { 'm' }).into_bytes()
        }),
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
        1 => Just(Happening::Job),
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
        Happening::Job => fixtures::job(model),
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

/// How many stories are told: some twenty thousand events, or as many as `PROPTEST_CASES` says.
fn stories() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

/// What a pane draws stays in its frame.
fn each_pane_stays_in_its_frame(model: &Model) -> Result<(), TestCaseError> {
    const FOREIGN: &str = "▞";
    let (width, height) = model.size;
    for (pane, inside) in &model.layout.panes {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        for cell in &mut buffer.content {
            cell.set_symbol(FOREIGN);
        }
        super::super::pane(model, *pane, *inside, &mut buffer);
        let own = model.layout.frame(*pane).unwrap_or(*inside);
        for (ix, cell) in buffer.content.iter().enumerate() {
            let place = Position { x: ix as u16 % width.max(1), y: ix as u16 / width.max(1) };
            prop_assert!(own.contains(place) || cell.symbol() == FOREIGN, "{pane:?} draws {cell:?} at {place:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(stories()))]
    #[test]
    fn whatever_happens_the_screen_is_the_one_a_fresh_terminal_would_show(
        story in prop::collection::vec((happening(), 0u8..5), 1..150)
    ) {
        let mut model = fixtures::model(80, 24);
        let mut lasting = Emulated::new((80, 24));
        for (step, (what, frame)) in story.iter().enumerate() {
            happen(&mut model, what, step);
            model.lay_out();
            // Much can happen between two frames.
            if *frame == 0 {
                lasting.draw(&model);
            }
        }
        lasting.draw(&model);
        each_pane_stays_in_its_frame(&model)?;
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
