//! The screen of a Job, and how it is drawn for whoever looks at it.
//!
//! Others see what [`Model::whole`] and [`Model::changes`] give: sequences made here, from the
//! screen's cells and the modes we know. The history is kept as text, not as cells, so that a
//! thousand lines of it stay small.

use super::charset::{Charset, Translated};
use super::modes::Modes;
use crate::jobs::spec::Size;
use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many lines that scrolled off are kept.
const HISTORY: usize = 1000;

/// The screen.
pub struct Model {
    parser: vt100::Parser<Seen>,
    size: Size,
    charset: Charset,
    translated: Vec<u8>,
    /// The screen as it was drawn last.
    drawn: vt100::Screen,
    drawn_focus: bool,
    focus: bool,
}

/// What the parser tells besides the screen.
#[derive(Debug, Default)]
struct Seen {
    history: VecDeque<String>,
    bell: bool,
}

impl vt100::Callbacks for Seen {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bell = true;
    }

    fn on_scroll(&mut self, row: vt100::capture::RowContents<'_>, is_alternate: bool) {
        if is_alternate {
            return;
        }
        // The memory of the line that goes serves the one that comes.
        let mut line = if self.history.len() >= HISTORY { self.history.pop_front() } else { None }.unwrap_or_default();
        line.clear();
        // Writing to a String cannot fail.
        let _ = row.write_formatted_basic(&mut line, &mut vt100::capture::BasicFormattedCaptureState::new());
        self.history.push_back(line);
    }
}

impl Model {
    /// Begins an empty screen in modes that were set before.
    pub fn new(size: Size, modes: &Modes) -> Self {
        let parser = parser(size);
        let drawn = parser.screen().clone();
        let mut model = Self {
            parser,
            size,
            charset: Charset::default(),
            translated: Vec::new(),
            drawn,
            drawn_focus: false,
            focus: false,
        };
        model.parser.process(&modes.prelude());
        model.focus = modes.private(1004) == Some(true);
        model
    }

    /// Takes what was printed.
    pub fn process(&mut self, bytes: &[u8]) {
        let Self { parser, charset, translated, .. } = self;
        let bytes = match charset.translate(bytes, translated) {
            Translated::Unchanged => bytes,
            Translated::Changed => translated,
        };
        // A fault in the emulation costs a screen, never the Job.
        if catch_unwind(AssertUnwindSafe(|| parser.process(bytes))).is_err() {
            self.parser = self::parser(self.size);
        }
    }

    /// Follows what the modes say about focus reports, which the screen does not know of.
    pub fn follow(&mut self, modes: &Modes) {
        self.focus = modes.private(1004) == Some(true);
    }

    /// Takes on another size.
    pub fn resize(&mut self, size: Size) {
        self.size = size;
        let parser = &mut self.parser;
        let resized = catch_unwind(AssertUnwindSafe(|| parser.set_size(non_zero(size.rows), non_zero(size.cols))));
        if resized.is_err() {
            self.parser = self::parser(size);
        }
    }

    /// Begins anew in modes that were set before; what was drawn last stays known.
    pub fn restart(&mut self, modes: &Modes) {
        self.parser = parser(self.size);
        self.charset = Charset::default();
        self.parser.process(&modes.prelude());
        self.follow(modes);
    }

    /// Where the cursor is: row and column, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// The sequences that draw the screen on any terminal, whatever stood there.
    pub fn whole(&self) -> Vec<u8> {
        let mut bytes = b"\x1b[m\x1b[r\x1b[?6l".to_vec();
        bytes.extend_from_slice(self.parser.screen().state_formatted().as_bytes());
        bytes.extend_from_slice(focus(self.focus));
        bytes
    }

    /// The sequences that bring a terminal from what was drawn last to what stands there now.
    pub fn changes(&mut self) -> Vec<u8> {
        let screen = self.parser.screen();
        let mut bytes =
            if screen.size() == self.drawn.size() { screen.state_diff(&self.drawn).into_bytes() } else { self.whole() };
        self.drawn = self.parser.screen().clone();
        if std::mem::replace(&mut self.drawn_focus, self.focus) != self.focus {
            bytes.extend_from_slice(focus(self.focus));
        }
        if std::mem::take(&mut self.parser.callbacks_mut().bell) {
            bytes.push(0x07);
        }
        bytes
    }

    /// The last lines that scrolled off, oldest first, with their colours.
    pub fn history(&self, lines: usize) -> Vec<String> {
        let history = &self.parser.callbacks().history;
        history.iter().skip(history.len().saturating_sub(lines)).cloned().collect()
    }
}

fn focus(reports: bool) -> &'static [u8] {
    if reports { b"\x1b[?1004h" } else { b"\x1b[?1004l" }
}

fn parser(size: Size) -> vt100::Parser<Seen> {
    // No scroll-back of cells: rows go to the history as text.
    vt100::Parser::new_with_callbacks(non_zero(size.rows), non_zero(size.cols), 0, Seen::default())
}

fn non_zero(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: Size = Size { rows: 5, cols: 20 };

    fn model(printed: &[u8]) -> Model {
        let mut model = Model::new(SIZE, &Modes::default());
        model.process(printed);
        model
    }

    /// A terminal that shows what it is sent.
    fn terminal() -> vt100::Parser {
        vt100::Parser::new(non_zero(SIZE.rows), non_zero(SIZE.cols), 0)
    }

    fn text(model: &mut Model) -> String {
        let mut terminal = terminal();
        model.changes();
        terminal.process(&model.whole());
        terminal.screen().contents()
    }

    #[test]
    fn nothing_that_a_program_prints_reaches_the_terminal_of_who_looks() {
        let hostile =
            "before\x1b]0;owned\x07\x1b]52;c;cGF3bmVk\x07\x1b]8;;http://x\x07link\x1bPx\x1b\\\x1b[21t\u{202e}after";
        let mut model = model(hostile.as_bytes());
        let changes = model.changes();
        let whole = String::from_utf8([changes, model.whole()].concat()).expect("text");
        for part in ["owned", "cGF3bmVk", "http", "\x1b]", "\x1bP", "21t"] {
            assert!(!whole.contains(part), "{part}: {whole:?}");
        }
        assert!(text(&mut model).starts_with("beforelink"));
    }

    #[test]
    fn lines_that_scroll_off_are_kept_with_their_colours_up_to_a_bound() {
        let mut model = model(b"");
        for number in 0..1500 {
            model.process(format!("\x1b[31mline {number}\x1b[m\r\n").as_bytes());
        }
        let history = model.history(2);
        assert_eq!(history.len(), 2);
        assert!(history[1].contains("\x1b[31mline 1495"), "{history:?}");
        assert_eq!(model.history(usize::MAX).len(), HISTORY);
        model.process(b"\x1b[?1049h\r\n\r\n\r\n\r\n\r\n\r\n");
        assert!(model.history(1)[0].contains("line 1495"), "a full-screen program leaves no history");
    }

    #[test]
    fn frames_in_the_old_manner_are_drawn() {
        assert_eq!(text(&mut model(b"\x1b(0lqk\x1b(B")), "┌─┐");
    }

    #[test]
    fn a_model_that_begins_in_the_middle_has_the_modes_that_were_set() {
        let before = b"\x1b[?1049h\x1b[?2004h\x1b[?1002h\x1b[?1006h\x1b[?1h\x1b[?1004h";
        let mut model = Model::new(SIZE, &Modes::of(before));
        let mut terminal = terminal();
        model.changes();
        let whole = model.whole();
        terminal.process(&whole);
        assert!(terminal.screen().bracketed_paste() && terminal.screen().application_cursor());
        assert_eq!(terminal.screen().mouse_protocol_mode(), vt100::MouseProtocolMode::ButtonMotion);
        assert!(whole.ends_with(b"\x1b[?1004h"));
    }

    fn printed() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            "[ -~]{0,30}".prop_map(String::into_bytes),
            "[éあ👍\u{301}]{0,5}".prop_map(String::into_bytes),
            Just(b"\r\n".to_vec()),
            (0..8_u8, 0..25_u8).prop_map(|(row, col)| format!("\x1b[{row};{col}H").into_bytes()),
            (0..110_u8).prop_map(|sgr| format!("\x1b[{sgr}m").into_bytes()),
            "[ABCDJKLMPSTX@]".prop_map(|last| format!("\x1b[2{last}").into_bytes()),
            Just(b"\x1b[?1049h".to_vec()),
            Just(b"\x1b[?1049l".to_vec()),
            Just(b"\x1b[2;4r".to_vec()),
            Just(b"\x1b[?25l\x07".to_vec()),
            Just(b"\x1bM\x1b7\x1b8".to_vec()),
            proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn who_gets_the_changes_sees_what_who_gets_the_whole_sees(pieces in proptest::collection::vec(printed(), 1..5)) {
            let mut model = model(b"");
            let mut follower = terminal();
            follower.process(&model.whole());
            for piece in pieces {
                model.process(&piece);
                follower.process(&model.changes());
                let mut fresh = terminal();
                fresh.process(&model.whole());
                prop_assert_eq!(follower.screen().contents_formatted(), fresh.screen().contents_formatted());
                prop_assert_eq!(follower.screen().cursor_position(), model.cursor());
                prop_assert_eq!(follower.screen().input_mode_formatted(), fresh.screen().input_mode_formatted());
            }
        }
    }
}
