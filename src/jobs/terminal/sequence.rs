//! Cuts what a program prints into text and escape sequences.

/// A sequence that is longer is passed over: it carries data, not what we look for.
const LONGEST: usize = 4 * 1024;

const ESC: u8 = 0x1b;

/// A piece of what was printed.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text and single control characters.
    Text(&'a [u8]),
    /// A whole escape sequence, `ESC` first, a string's terminator included.
    Sequence(&'a [u8]),
}

/// Cuts a stream that comes in chunks, at whatever byte they end.
#[derive(Debug, Default)]
pub struct Splitter {
    state: State,
    held: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// In text.
    #[default]
    Ground,
    /// After `ESC`, perhaps with intermediates.
    Escape,
    /// After `ESC [`.
    Control,
    /// In a string: `ESC ]`, `ESC P`, `ESC X`, `ESC ^`, `ESC _`.
    Text,
    /// After an `ESC` in a string, which ends it.
    TextEscape,
}

impl Splitter {
    /// Cuts a chunk; `take` gets each piece and the number of bytes of the chunk up to its end.
    pub fn feed(&mut self, chunk: &[u8], mut take: impl FnMut(Piece<'_>, usize)) {
        let mut at = 0;
        while at < chunk.len() {
            if self.state == State::Ground {
                let text = memchr::memchr(ESC, &chunk[at..]).map_or(chunk.len(), |found| at + found);
                if text > at {
                    take(Piece::Text(&chunk[at..text]), text);
                }
                if text == chunk.len() {
                    return;
                }
                self.held.clear();
                self.held.push(ESC);
                self.state = State::Escape;
                at = text + 1;
                continue;
            }
            let byte = chunk[at];
            at += 1;
            if self.step(byte) {
                if self.held.len() <= LONGEST {
                    take(Piece::Sequence(&self.held), at);
                }
                self.state = State::Ground;
            }
        }
    }

    /// Whether it stands between sequences.
    pub fn is_at_rest(&self) -> bool {
        self.state == State::Ground
    }

    /// Takes a byte of a sequence; says whether the sequence is whole.
    fn step(&mut self, byte: u8) -> bool {
        // Beyond what is looked for, only the end counts.
        if self.held.len() <= LONGEST {
            self.held.push(byte);
        }
        match (self.state, byte) {
            (State::Text, 0x07) => return true,
            (State::Text, ESC) => self.state = State::TextEscape,
            (State::Text, _) => {}
            (State::TextEscape, b'\\') => return true,
            // Broken off: what comes is a sequence of its own.
            (State::TextEscape, _) => {
                self.held.clear();
                self.held.extend([ESC, byte]);
                self.state = State::Escape;
                return self.escape(byte);
            }
            // Cancelled, or begun anew.
            (_, 0x18 | 0x1a) => {
                self.held.clear();
                self.state = State::Ground;
            }
            (_, ESC) => {
                self.held.clear();
                self.held.push(ESC);
                self.state = State::Escape;
            }
            (State::Escape, byte) => return self.escape(byte),
            (State::Control, 0x40..=0x7e) => return true,
            // Control characters within a sequence act at once and are no part of it.
            (State::Control, 0x00..=0x1f) => {
                self.held.pop();
            }
            (State::Control | State::Ground, _) => {}
        }
        false
    }

    fn escape(&mut self, byte: u8) -> bool {
        let is_first = self.held.len() == 2;
        match byte {
            b'[' if is_first => self.state = State::Control,
            b']' | b'P' | b'X' | b'^' | b'_' if is_first => self.state = State::Text,
            0x20..=0x2f => {}
            0x00..=0x1f => {
                self.held.pop();
            }
            _ => return true,
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(chunks: &[&[u8]]) -> Vec<(char, Vec<u8>)> {
        let mut splitter = Splitter::default();
        let mut pieces: Vec<(char, Vec<u8>)> = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |piece, _| match piece {
                Piece::Text(text) => match pieces.last_mut() {
                    Some(('t', last)) => last.extend_from_slice(text),
                    _ => pieces.push(('t', text.to_vec())),
                },
                Piece::Sequence(sequence) => pieces.push(('s', sequence.to_vec())),
            });
        }
        pieces
    }

    const SAMPLE: &[u8] = b"a\x1b[31mb\x1b]0;title\x07c\x1bPq#0\x1b\\d\x1b(0e\x1b7\x1b[?25hf\x1b[6\x1b[5ng\x1b[1\x18h";

    #[test]
    fn sequences_are_cut_from_text_and_what_is_broken_off_is_dropped() {
        let pieces = split(&[SAMPLE]);
        let shown: Vec<String> = pieces.iter().map(|(kind, bytes)| format!("{kind}{}", bytes.escape_ascii())).collect();
        let expected = [
            "ta",
            "s\\x1b[31m",
            "tb",
            "s\\x1b]0;title\\x07",
            "tc",
            "s\\x1bPq#0\\x1b\\\\",
            "td",
            "s\\x1b(0",
            "te",
            "s\\x1b7",
            "s\\x1b[?25h",
            "tf",
            "s\\x1b[5n",
            "tgh",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_cut_at_any_byte_changes_nothing() {
        let whole = split(&[SAMPLE]);
        for cut in 0..SAMPLE.len() {
            let (before, after) = SAMPLE.split_at(cut);
            assert_eq!(split(&[before, after]), whole, "{cut}");
        }
    }

    #[test]
    fn a_string_without_end_holds_no_more_than_it_may() {
        let mut splitter = Splitter::default();
        splitter.feed(b"\x1b]52;c;", |_, _| {});
        for _ in 0..100 {
            splitter.feed(&[b'A'; 4096], |piece, _| panic!("{piece:?}"));
        }
        assert!(splitter.held.capacity() < 3 * LONGEST);
        let mut after = Vec::new();
        splitter.feed(b"\x07text", |piece, end| after.push((format!("{piece:?}"), end)));
        assert_eq!(after, [("Text([116, 101, 120, 116])".to_owned(), 5)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            Splitter::default().feed(&bytes, |_, end| assert!(end <= bytes.len()));
        }
    }
}
