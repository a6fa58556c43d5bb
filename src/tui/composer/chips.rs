//! Chips: a long paste stands in the text as one character, drawn as a few words in brackets.
//!
//! The caret steps over it and a backspace takes it away, as with any character. The text that is
//! sent and kept has the paste in full.

use crate::tui::text;
use crate::tui::words;
use std::ops::RangeInclusive;

/// The characters that stand for chips: nobody types them, and a paste is kept free of them.
const RESERVED: RangeInclusive<char> = '\u{F0000}'..='\u{F7FFF}';

/// From how many lines on a paste is a chip.
const LINES: usize = 8;

/// From how many bytes on a paste is a chip.
const BYTES: usize = 1_200;

/// The pastes of a text. They are kept while the composer is: undo may bring one back.
#[derive(Debug, Default)]
pub(super) struct Chips(Vec<String>);

impl Chips {
    /// Whether a paste is better shown as a chip.
    pub fn suits(text: &str) -> bool {
        text.len() >= BYTES || text.lines().nth(LINES - 1).is_some()
    }

    /// Keeps a paste; gives the character that stands for it, if there is one left.
    pub fn keep(&mut self, text: String) -> Option<char> {
        let c = char::from_u32(*RESERVED.start() as u32 + self.0.len() as u32).filter(|c| RESERVED.contains(c))?;
        self.0.push(text);
        Some(c)
    }

    /// The paste that a character stands for.
    pub fn get(&self, c: char) -> Option<&str> {
        let at = (c as u32).checked_sub(*RESERVED.start() as u32)?;
        self.0.get(at as usize).map(String::as_str)
    }

    /// What is drawn for a chip, no wider than `room`, and without a place to break at.
    pub fn label(&self, c: char, room: usize) -> Option<String> {
        let text = self.get(c)?;
        let lines = text.lines().count();
        let size = if lines > 1 {
            words::many(lines, "line", "lines")
        } else {
            format!("{} bytes", words::count(text.len() as u64))
        };
        Some(text::cut(&format!("[pasted {size}]").replace(' ', "\u{a0}"), room))
    }

    /// A text with every chip written out.
    pub fn expand(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c) {
                Some(pasted) => out.push_str(pasted),
                None => out.push(c),
            }
        }
        out
    }
}

/// Takes the reserved characters out of foreign text.
pub(super) fn without_reserved(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(|c| RESERVED.contains(&c)) {
        text.replace(|c| RESERVED.contains(&c), "\u{fffd}").into()
    } else {
        text.into()
    }
}
