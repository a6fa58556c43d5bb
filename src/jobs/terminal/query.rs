//! What a program asks its terminal, and what it is told.
//!
//! The answers describe the terminal that the model is: xterm-like, in colour, without graphics.
//! Questions whose answer would carry data of the user (clipboard, title) get none. A question for
//! an extension that we do not speak gets none either, which is how its protocol says no: the
//! answer to the attributes that is asked for behind it comes alone.

use super::modes::Modes;
use crate::jobs::spec::Size;

/// A question of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Which terminal it is (DA1).
    Attributes,
    /// Which version of it (DA2).
    Secondary,
    /// Which unit of it (DA3).
    Tertiary,
    /// Whether it works (DSR).
    Status,
    /// Where the cursor is (CPR).
    Cursor,
    /// Where the cursor is, in the extended form.
    ExtendedCursor,
    /// Whether a private mode is set (DECRQM).
    PrivateMode(u16),
    /// Whether a mode is set.
    Mode(u16),
    /// Its name (XTVERSION).
    Name,
    /// A colour: what names it, and how the question ended.
    Colour(Slot, StringEnd),
    /// Its size in characters.
    Size,
    /// A setting (DECRQSS).
    Setting,
    /// Capabilities by name (XTGETTCAP).
    Capability,
}

/// A colour that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Foreground (10), background (11) or cursor (12).
    Special(u8),
    /// One of the 256.
    Palette(u8),
}

/// How a string sequence ends; an answer ends as its question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringEnd {
    /// With BEL.
    Bell,
    /// With `ESC \`.
    Terminator,
}

impl Query {
    /// Recognises a question in an escape sequence.
    pub fn of(sequence: &[u8]) -> Option<Self> {
        match sequence {
            [0x1b, b'Z'] => Some(Self::Attributes),
            [0x1b, b'[', parameters @ .., last] => Self::control(parameters, *last),
            [0x1b, b']', text @ .., 0x07] => Self::colour(text, StringEnd::Bell),
            [0x1b, b']', text @ .., 0x1b, b'\\'] => Self::colour(text, StringEnd::Terminator),
            [0x1b, b'P', b'$', b'q', ..] => Some(Self::Setting),
            [0x1b, b'P', b'+', b'q', ..] => Some(Self::Capability),
            _ => None,
        }
    }

    fn control(parameters: &[u8], last: u8) -> Option<Self> {
        match (parameters, last) {
            (b"" | b"0", b'c') => Some(Self::Attributes),
            (b">" | b">0", b'c') => Some(Self::Secondary),
            (b"=" | b"=0", b'c') => Some(Self::Tertiary),
            (b"5", b'n') => Some(Self::Status),
            (b"6", b'n') => Some(Self::Cursor),
            (b"?6", b'n') => Some(Self::ExtendedCursor),
            (b">" | b">0", b'q') => Some(Self::Name),
            (b"18", b't') => Some(Self::Size),
            ([b'?', number @ .., b'$'], b'p') => Some(Self::PrivateMode(decimal(number)?)),
            ([number @ .., b'$'], b'p') => Some(Self::Mode(decimal(number)?)),
            _ => None,
        }
    }

    fn colour(text: &[u8], end: StringEnd) -> Option<Self> {
        match text.strip_suffix(b";?")? {
            b"10" => Some(Self::Colour(Slot::Special(10), end)),
            b"11" => Some(Self::Colour(Slot::Special(11), end)),
            b"12" => Some(Self::Colour(Slot::Special(12), end)),
            [b'4', b';', number @ ..] => Some(Self::Colour(Slot::Palette(u8::try_from(decimal(number)?).ok()?), end)),
            _ => None,
        }
    }

    /// Whether the answer depends on what stands on the screen.
    pub fn needs_screen(&self) -> bool {
        matches!(self, Self::Cursor | Self::ExtendedCursor)
    }
}

fn decimal(digits: &[u8]) -> Option<u16> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// What is true of the terminal when a question is answered.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Where the cursor is: row and column, from 0.
    pub cursor: (u16, u16),
    /// Its size.
    pub size: Size,
    /// Its modes.
    pub modes: &'a Modes,
}

/// Answers a question.
pub fn answer(query: &Query, facts: &Facts<'_>) -> Vec<u8> {
    let (row, column) = (facts.cursor.0 + 1, facts.cursor.1 + 1);
    let text = match query {
        // A VT220 with colour.
        Query::Attributes => "\x1b[?62;22c".to_owned(),
        // An xterm of an age that knows the usual mouse reports.
        Query::Secondary => "\x1b[>0;277;0c".to_owned(),
        Query::Tertiary => "\x1bP!|00000000\x1b\\".to_owned(),
        Query::Status => "\x1b[0n".to_owned(),
        Query::Cursor => format!("\x1b[{row};{column}R"),
        Query::ExtendedCursor => format!("\x1b[?{row};{column}R"),
        Query::PrivateMode(number) => {
            let state = match facts.modes.private(*number) {
                Some(true) => 1,
                Some(false) => 2,
                None => 0,
            };
            format!("\x1b[?{number};{state}$y")
        }
        Query::Mode(number) => format!("\x1b[{number};0$y"),
        Query::Name => concat!("\x1bP>|cowork ", env!("CARGO_PKG_VERSION"), "\x1b\\").to_owned(),
        Query::Colour(slot, end) => {
            let end = match end {
                StringEnd::Bell => "\x07",
                StringEnd::Terminator => "\x1b\\",
            };
            let (name, [red, green, blue]) = match slot {
                // The user's own colours are not known here: light on dark is the usual.
                Slot::Special(11) => ("11".to_owned(), [0x00; 3]),
                Slot::Special(number) => (number.to_string(), [0xd0; 3]),
                Slot::Palette(number) => (format!("4;{number}"), palette(*number)),
            };
            format!("\x1b]{name};rgb:{red:02x}{red:02x}/{green:02x}{green:02x}/{blue:02x}{blue:02x}{end}")
        }
        Query::Size => format!("\x1b[8;{};{}t", facts.size.rows, facts.size.cols),
        Query::Setting => "\x1bP0$r\x1b\\".to_owned(),
        Query::Capability => "\x1bP0+r\x1b\\".to_owned(),
    };
    text.into_bytes()
}

/// The colours of xterm.
fn palette(number: u8) -> [u8; 3] {
    const FIRST: [[u8; 3]; 16] = [
        [0, 0, 0],
        [205, 0, 0],
        [0, 205, 0],
        [205, 205, 0],
        [0, 0, 238],
        [205, 0, 205],
        [0, 205, 205],
        [229, 229, 229],
        [127, 127, 127],
        [255, 0, 0],
        [0, 255, 0],
        [255, 255, 0],
        [92, 92, 255],
        [255, 0, 255],
        [0, 255, 255],
        [255, 255, 255],
    ];
    let cube = |level: u8| if level == 0 { 0 } else { 55 + 40 * level };
    match number {
        0..=15 => FIRST[usize::from(number)],
        16..=231 => {
            let number = number - 16;
            [cube(number / 36), cube(number / 6 % 6), cube(number % 6)]
        }
        232..=255 => [8 + 10 * (number - 232); 3],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(sequence: &[u8]) -> Option<String> {
        let modes = Modes::of(b"\x1b[?2004h\x1b[?25l");
        let facts = Facts { cursor: (4, 9), size: Size { rows: 30, cols: 100 }, modes: &modes };
        let query = Query::of(sequence)?;
        Some(String::from_utf8(answer(&query, &facts)).expect("text"))
    }

    #[test]
    fn what_a_program_asks_is_answered_as_by_the_terminal_that_it_has() {
        let table: [(&[u8], &str); 21] = [
            (b"\x1b[c", "\x1b[?62;22c"),
            (b"\x1b[0c", "\x1b[?62;22c"),
            (b"\x1b[>c", "\x1b[>0;277;0c"),
            (b"\x1b[=c", "\x1bP!|00000000\x1b\\"),
            (b"\x1b[5n", "\x1b[0n"),
            (b"\x1b[6n", "\x1b[5;10R"),
            (b"\x1b[?6n", "\x1b[?5;10R"),
            (b"\x1b[?2004$p", "\x1b[?2004;1$y"),
            (b"\x1b[?25$p", "\x1b[?25;2$y"),
            (b"\x1b[?2027$p", "\x1b[?2027;0$y"),
            (b"\x1b[4$p", "\x1b[4;0$y"),
            (b"\x1b[>q", concat!("\x1bP>|cowork ", env!("CARGO_PKG_VERSION"), "\x1b\\")),
            (b"\x1b]10;?\x07", "\x1b]10;rgb:d0d0/d0d0/d0d0\x07"),
            (b"\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\"),
            (b"\x1b]4;1;?\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x07"),
            (b"\x1b]4;16;?\x07", "\x1b]4;16;rgb:0000/0000/0000\x07"),
            (b"\x1b]4;231;?\x07", "\x1b]4;231;rgb:ffff/ffff/ffff\x07"),
            (b"\x1b]4;255;?\x07", "\x1b]4;255;rgb:eeee/eeee/eeee\x07"),
            (b"\x1b[18t", "\x1b[8;30;100t"),
            (b"\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"),
            (b"\x1bP$qm\x1b\\", "\x1bP0$r\x1b\\"),
        ];
        for (asked, expected) in table {
            assert_eq!(told(asked).as_deref(), Some(expected), "{}", asked.escape_ascii());
        }
    }

    #[test]
    fn what_is_no_question_of_ours_gets_no_answer() {
        let silent: [&[u8]; 10] = [
            b"\x1b[31m",
            b"\x1b[?u",
            b"\x1b]52;c;?\x07",
            b"\x1b[21t",
            b"\x1b[14t",
            b"\x1b]0;title\x07",
            b"\x1b[>1u",
            b"\x1b]4;999;?\x07",
            b"\x1b[?996n",
            b"\x1b[1c",
        ];
        for sequence in silent {
            assert_eq!(told(sequence), None, "{}", sequence.escape_ascii());
        }
    }
}
