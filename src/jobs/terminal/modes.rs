//! The modes that a program has set, so that a model that begins in the middle begins rightly.

#[cfg(test)]
use super::sequence::{Piece, Splitter};

/// The private modes that are kept: each is set, reset, or was never spoken of.
const PRIVATE: [u16; 12] = [1, 7, 9, 25, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 2004];

/// Those that lead to the alternate screen.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];

/// The modes of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Modes {
    private: [Option<bool>; PRIVATE.len()],
    is_alternate: bool,
    is_application_keypad: bool,
    /// `CSI … r` and `CSI … SP q`, as they were printed last.
    region: Vec<u8>,
    cursor_style: Vec<u8>,
}

impl Modes {
    /// The modes after all this was printed.
    #[cfg(test)]
    pub fn of(printed: &[u8]) -> Self {
        let mut modes = Self::default();
        let mut splitter = Splitter::default();
        splitter.feed(printed, |piece, _| {
            if let Piece::Sequence(sequence) = piece {
                modes.follow(sequence);
            }
        });
        modes
    }

    /// Takes note of a sequence that was printed.
    pub fn follow(&mut self, sequence: &[u8]) {
        match sequence {
            [0x1b, b'c'] | [0x1b, b'[', b'!', b'p'] => *self = Self::default(),
            [0x1b, b'='] => self.is_application_keypad = true,
            [0x1b, b'>'] => self.is_application_keypad = false,
            [0x1b, b'[', b'?', numbers @ .., b'h'] => self.set(numbers, true),
            [0x1b, b'[', b'?', numbers @ .., b'l'] => self.set(numbers, false),
            [0x1b, b'[', b'0'..=b'9' | b';', .., b'r'] => self.region = sequence.to_vec(),
            [0x1b, b'[', b'r'] => self.region.clear(),
            [0x1b, b'[', .., b' ', b'q'] => self.cursor_style = sequence.to_vec(),
            _ => {}
        }
    }

    fn set(&mut self, numbers: &[u8], value: bool) {
        for number in numbers.split(|byte| *byte == b';') {
            let Some(number) = std::str::from_utf8(number).ok().and_then(|number| number.parse::<u16>().ok()) else {
                continue;
            };
            if let Some(at) = PRIVATE.iter().position(|known| *known == number) {
                self.private[at] = Some(value);
            }
            if ALTERNATE.contains(&number) {
                self.is_alternate = value;
            }
        }
    }

    /// Whether a private mode is set; `None` for one that we do not know.
    pub fn private(&self, number: u16) -> Option<bool> {
        if ALTERNATE.contains(&number) {
            return Some(self.is_alternate);
        }
        let at = PRIVATE.iter().position(|known| *known == number)?;
        // Two are set from the beginning: wrapping, and the cursor's being seen.
        Some(self.private[at].unwrap_or(matches!(number, 7 | 25)))
    }

    /// Whether the alternate screen is shown: a program has the whole screen.
    pub fn is_alternate(&self) -> bool {
        self.is_alternate
    }

    /// The sequences that bring a fresh terminal into these modes.
    pub fn prelude(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.is_alternate {
            bytes.extend_from_slice(b"\x1b[?1049h");
        }
        bytes.extend_from_slice(&self.region);
        bytes.extend_from_slice(&self.cursor_style);
        if self.is_application_keypad {
            bytes.extend_from_slice(b"\x1b=");
        }
        for (number, value) in PRIVATE.iter().zip(self.private) {
            if let Some(value) = value {
                bytes.extend_from_slice(format!("\x1b[?{number}{}", if value { 'h' } else { 'l' }).as_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prelude_leads_to_the_same_modes() {
        let samples: [&[u8]; 6] = [
            b"",
            b"\x1b[?1049h\x1b[?1;2004h\x1b[?25l",
            b"\x1b[?1002;1006h\x1b=\x1b[2;20r\x1b[4 q",
            b"\x1b[?1049h\x1b[?1049l",
            b"\x1b[?2004h\x1bc",
            b"\x1b[5;10r\x1b[r",
        ];
        for sample in samples {
            let modes = Modes::of(sample);
            assert_eq!(Modes::of(&modes.prelude()), modes, "{}", sample.escape_ascii());
        }
    }

    #[test]
    fn a_mode_that_was_never_set_is_as_terminals_begin() {
        let modes = Modes::default();
        assert_eq!(
            [modes.private(25), modes.private(2004), modes.private(1049)],
            [Some(true), Some(false), Some(false)]
        );
        assert_eq!(modes.private(2026), None);
    }
}
