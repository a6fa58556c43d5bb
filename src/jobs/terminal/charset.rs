//! The line-drawing characters of old terminals, which many programs still draw their frames with.
//!
//! The screen model knows Unicode only, so what is printed in them is translated before it gets there.

use super::sequence::{Piece, Splitter};

/// What the characters from `` ` `` to `~` mean in the line-drawing set.
const DRAWN: [char; 31] = [
    '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─', '⎼', '⎽', '├', '┤', '┴',
    '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

/// Which sets are in use.
#[derive(Debug, Default)]
pub struct Charset {
    splitter: Splitter,
    /// Whether G0 and G1 are the line-drawing set.
    draws: [bool; 2],
    /// Whether G1 is in use.
    is_shifted: bool,
}

impl Charset {
    /// Translates what is printed into `out`, or says that it stays as it is.
    pub fn translate(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Translated {
        let may_matter = self.draws != [false; 2]
            || !self.splitter.is_at_rest()
            || memchr::memmem::find(bytes, b"\x1b(").is_some()
            || memchr::memmem::find(bytes, b"\x1b)").is_some()
            || bytes.last() == Some(&0x1b);
        if !may_matter {
            // A shift counts even where the sets are the usual ones.
            if let Some(at) = memchr::memrchr2(SHIFT_OUT, SHIFT_IN, bytes) {
                self.is_shifted = bytes[at] == SHIFT_OUT;
            }
            return Translated::Unchanged;
        }
        out.clear();
        let Self { splitter, draws, is_shifted } = self;
        splitter.feed(bytes, |piece, _| match piece {
            Piece::Sequence(sequence) => {
                match sequence {
                    [0x1b, b'(', set] => draws[0] = *set == b'0',
                    [0x1b, b')', set] => draws[1] = *set == b'0',
                    [0x1b, b'c'] => (*draws, *is_shifted) = ([false; 2], false),
                    _ => {}
                }
                out.extend_from_slice(sequence);
            }
            Piece::Text(text) => {
                for byte in text {
                    match *byte {
                        SHIFT_OUT => *is_shifted = true,
                        SHIFT_IN => *is_shifted = false,
                        byte @ b'`'..=b'~' if draws[usize::from(*is_shifted)] => {
                            let mut buffer = [0; 4];
                            let drawn = DRAWN[usize::from(byte - b'`')].encode_utf8(&mut buffer);
                            out.extend_from_slice(drawn.as_bytes());
                        }
                        byte => out.push(byte),
                    }
                }
            }
        });
        Translated::Changed
    }
}

/// What came of a translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Translated {
    /// The bytes stay as they are.
    Unchanged,
    /// They are to be replaced.
    Changed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(chunks: &[&[u8]]) -> String {
        let (mut charset, mut out, mut all) = (Charset::default(), Vec::new(), Vec::new());
        for chunk in chunks {
            match charset.translate(chunk, &mut out) {
                Translated::Unchanged => all.extend_from_slice(chunk),
                Translated::Changed => all.extend_from_slice(&out),
            }
        }
        String::from_utf8(all).expect("text")
    }

    #[test]
    fn frames_are_drawn_in_either_way_and_text_stays() {
        assert_eq!(translated(&[b"lq \x1b(0lqk\x1b(B lq"]), "lq \x1b(0┌─┐\x1b(B lq");
        assert_eq!(translated(&[b"\x1b)0a\x0elqk\x0fb"]), "\x1b)0a┌─┐b");
        assert_eq!(translated(&[b"\x1b", b"(", b"0x", b"\x1b(Bx"]), "\x1b(0│\x1b(Bx");
        assert_eq!(translated(&["née x".as_bytes()]), "née x");
    }
}
