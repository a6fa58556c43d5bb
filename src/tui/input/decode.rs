//! Bytes of a terminal to events. Pure: time comes in with the bytes, and what is cut short says
//! until when it waits.
//!
//! | waiting for the rest of | is given up after | and becomes |
//! |---|---|---|
//! | a lone escape | 40 ms | the Esc key |
//! | `ESC [`, `ESC O`, `ESC ]` … and nothing more | 40 ms | Alt and that character |
//! | a sequence that began | 1 s | nothing |
//! | a mouse report that began | its rest, however late | nothing |
//! | a paste | 1 s without bytes, or Esc | the paste, as far as it came |

mod parse;

use crate::domain::Millis;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
pub use parse::Answer;
use parse::{Parsed, parse};

const ESCAPE_MS: Millis = 40;
const SEQUENCE_MS: Millis = 1_000;
const PASTE_MS: Millis = 1_000;
const PASTE_END: &[u8] = b"\x1b[201~";
/// Reads shorter than this while a paste is open are keys that somebody presses, not the paste.
const CHUNK: usize = 16;

/// The state between two reads.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// A paste is open, and its text begins at the start of the buffer.
    pasting: bool,
    /// How much of an open paste is known to hold no end mark.
    searched: usize,
    /// The last read that counts against the waiting.
    since: Millis,
    /// An Esc was given out at this time; the rest of a mouse report may still follow.
    gave_escape: Option<Millis>,
    /// What the terminal answered.
    answers: Vec<Answer>,
}

impl Decoder {
    /// Takes bytes in and gives the events that are complete.
    pub fn feed(&mut self, bytes: &[u8], now: Millis) -> Vec<Event> {
        let fresh = self.buffer.is_empty() || !self.pasting;
        if fresh || bytes.len() >= CHUNK {
            self.since = now;
        }
        if self.buffer.is_empty()
            && !self.pasting
            && self.gave_escape.take().is_some_and(|at| now - at <= SEQUENCE_MS)
            && let Some(rest) = parse::mouse_tail(bytes)
        {
            self.buffer.extend_from_slice(rest);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        self.drain(now)
    }

    /// Gives what the terminal answered since it was asked last.
    pub fn answers(&mut self) -> Vec<Answer> {
        std::mem::take(&mut self.answers)
    }

    /// When [`Decoder::expire`] is to be called, if nothing comes before.
    pub fn deadline(&self) -> Option<Millis> {
        if self.pasting {
            let escape = self.buffer.ends_with(b"\x1b");
            return Some(self.since + if escape { ESCAPE_MS } else { PASTE_MS });
        }
        match self.buffer.as_slice() {
            [] => None,
            [0x1b] | [0x1b, b'[' | b'O' | b']' | b'P' | b'_' | b'^'] => Some(self.since + ESCAPE_MS),
            [0x1b, b'[', b'<', ..] => None,
            _ => Some(self.since + SEQUENCE_MS),
        }
    }

    /// Gives up what waited too long.
    pub fn expire(&mut self, now: Millis) -> Vec<Event> {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return Vec::new();
        }
        if self.pasting {
            if self.buffer.last() == Some(&0x1b) {
                self.buffer.pop();
            }
            return self.end_paste(self.buffer.len(), 0);
        }
        let events = match self.buffer.as_slice() {
            [0x1b] => {
                self.gave_escape = Some(now);
                vec![key(KeyCode::Esc, KeyModifiers::NONE)]
            }
            [0x1b, other] => vec![key(KeyCode::Char(char::from(*other)), KeyModifiers::ALT)],
            _ => Vec::new(),
        };
        self.buffer.clear();
        events
    }

    fn drain(&mut self, now: Millis) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            if self.pasting {
                let from = self.searched.min(self.buffer.len());
                let Some(at) = find(&self.buffer[from..], PASTE_END) else {
                    self.searched = self.buffer.len().saturating_sub(PASTE_END.len() - 1);
                    return events;
                };
                events.extend(self.end_paste(from + at, PASTE_END.len()));
                self.since = now;
                continue;
            }
            match parse(&self.buffer) {
                Parsed::Event(event, used) => {
                    events.push(event);
                    self.buffer.drain(..used);
                }
                Parsed::Answer(answer, used) => {
                    self.answers.push(answer);
                    self.buffer.drain(..used);
                }
                Parsed::Skip(used) => drop(self.buffer.drain(..used)),
                Parsed::Paste(used) => {
                    self.buffer.drain(..used);
                    self.pasting = true;
                    self.since = now;
                }
                Parsed::Incomplete => return events,
            }
        }
    }

    fn end_paste(&mut self, text: usize, marker: usize) -> Vec<Event> {
        let bytes: Vec<u8> = self.buffer.drain(..text + marker).take(text).collect();
        self.pasting = false;
        self.searched = 0;
        let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n").replace('\r', "\n");
        if text.is_empty() { Vec::new() } else { vec![Event::Paste(text)] }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{MouseEvent, MouseEventKind};
    use proptest::prelude::*;

    fn all(decoder: &mut Decoder, bytes: &[u8]) -> Vec<Event> {
        decoder.feed(bytes, 0)
    }

    fn plain(c: char) -> Event {
        key(KeyCode::Char(c), KeyModifiers::NONE)
    }

    #[test]
    fn a_paste_keeps_its_lines_and_the_enter_after_it_is_a_key() {
        let mut decoder = Decoder::default();
        let events = all(&mut decoder, b"\x1b[200~AAA\nBBB\r\nCCC\rDDD\x1b[201~\r");
        let enter = key(KeyCode::Enter, KeyModifiers::NONE);
        assert_eq!(events, [Event::Paste("AAA\nBBB\nCCC\nDDD".into()), enter]);
    }

    #[test]
    fn a_paste_whose_end_never_comes_ends_within_a_second_whatever_is_typed() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"\x1b[200~some text that was pasted", 0), []);
        assert_eq!(decoder.feed(b"a", 900), []);
        assert_eq!(decoder.deadline(), Some(1_000));
        assert_eq!(decoder.expire(999), []);
        assert_eq!(decoder.expire(1_000), [Event::Paste("some text that was pasteda".into())]);
        assert_eq!(decoder.feed(b"\x1b[201~b", 5_000), [plain('b')]);
    }

    #[test]
    fn esc_ends_a_paste_whose_end_never_comes() {
        let mut decoder = Decoder::default();
        decoder.feed(b"\x1b[200~pasted text without an end", 0);
        decoder.feed(b"\x1b", 300);
        assert_eq!(decoder.expire(340), [Event::Paste("pasted text without an end".into())]);
        assert_eq!(decoder.feed(b"x", 400), [plain('x')]);
    }

    #[test]
    fn a_mouse_report_cut_anywhere_types_nothing() {
        let report = b"\x1b[<35;150;7M";
        for cut in 1..report.len() {
            for pause in [0, 10_000] {
                let mut decoder = Decoder::default();
                let mut events = decoder.feed(&report[..cut], 0);
                if cut > 2 {
                    events.extend(decoder.expire(pause));
                }
                events.extend(decoder.feed(&report[cut..], pause));
                let moved = |event: &Event| {
                    matches!(event, Event::Mouse(MouseEvent { kind: MouseEventKind::Moved, column: 149, row: 6, .. }))
                };
                assert!(events.len() == 1 && moved(&events[0]), "cut at {cut}: {events:?}");
            }
        }
    }

    #[test]
    fn the_rest_of_a_report_whose_escape_was_taken_for_a_key_types_nothing() {
        let mut decoder = Decoder::default();
        decoder.feed(b"\x1b", 0);
        assert_eq!(decoder.expire(40), [key(KeyCode::Esc, KeyModifiers::NONE)]);
        assert_eq!(decoder.feed(b"[<35;150;7Mx", 100), [plain('x')]);
    }

    #[test]
    fn a_lone_escape_is_the_esc_key_after_a_moment() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.feed(b"\x1b", 5), []);
        assert_eq!(decoder.deadline(), Some(45));
        assert_eq!(decoder.expire(45), [key(KeyCode::Esc, KeyModifiers::NONE)]);
        assert_eq!(decoder.deadline(), None);
    }

    #[test]
    fn text_cut_between_bytes_comes_whole() {
        let text = "日本👩‍👩‍👧‍👦é";
        for cut in 0..text.len() {
            let mut decoder = Decoder::default();
            let mut events = all(&mut decoder, &text.as_bytes()[..cut]);
            events.extend(all(&mut decoder, &text.as_bytes()[cut..]));
            assert_eq!(events, text.chars().map(plain).collect::<Vec<_>>());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_get_the_decoder_stuck(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut decoder = Decoder::default();
            decoder.feed(&bytes, 0);
            let mut now = 0;
            for _ in 0..4 {
                let Some(deadline) = decoder.deadline() else { break };
                now = deadline;
                decoder.expire(now);
            }
            let waits_for_mouse = decoder.buffer.starts_with(b"\x1b[<");
            prop_assert!(decoder.deadline().is_none());
            if !waits_for_mouse {
                prop_assert_eq!(decoder.feed(b"k", now + 5_000), vec![plain('k')]);
            }
        }
    }
}
