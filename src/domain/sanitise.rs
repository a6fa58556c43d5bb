//! The one sanitiser for all text that is not ours, on screen and in logs.
//!
//! Whatever a program, a file, a model, a server or a name brings with it, nothing of it may drive
//! the terminal of the user or hide from the eye. Four ways to show such text:
//!
//! * [`text`]: prose and file content, several lines;
//! * [`line`]: names, titles, messages: one line;
//! * [`output`]: what a program printed to a terminal, as it would stand there in the end;
//! * [`approval`]: what a person is asked to allow: nothing goes, everything odd is spelled out.
//!
//! All of them are pure, total, idempotent, linear in the length, and borrow where nothing changes.
//! Their result holds no control character but `\n` and `\t` ([`line`]: none). Tabs are left to
//! whoever knows the column. Right-to-left letters stay as they are; only the controls that
//! reorder text go. Escape sequences must come whole: give [`output`] what has accumulated, not
//! each chunk by itself.

mod emoji;
mod grid;
mod scan;

use grid::Grid;
use scan::{Scanner, Token};
use std::borrow::Cow;
use std::fmt::Write;

/// What stands for a line break where only one line has room.
pub const LINE_BREAK: char = '↵';

/// Shows prose or file content: line breaks and tabs stay, escape sequences and whatever is
/// invisible go.
pub fn text(raw: &str) -> Cow<'_, str> {
    if raw.chars().all(|c| scan::is_plain(c) || c == '\n' || c == '\t') {
        return Cow::Borrowed(raw);
    }
    let mut shown = String::with_capacity(raw.len());
    for token in Scanner::new(raw) {
        match token {
            Token::Char(c) => shown.push(c),
            Token::Tab => shown.push('\t'),
            Token::Newline | Token::Return => shown.push('\n'),
            Token::Back | Token::Column(_) | Token::Forward(_) | Token::Backward(_) | Token::Erase(_) => {}
        }
    }
    Cow::Owned(shown)
}

/// Shows a name, a title or a message on one line: a line break becomes [`LINE_BREAK`], a tab a
/// space; breaks at the end go.
pub fn line(raw: &str) -> Cow<'_, str> {
    if raw.chars().all(scan::is_plain) {
        return Cow::Borrowed(raw);
    }
    let several = text(raw);
    let mut shown = String::with_capacity(several.len());
    for c in several.trim_end_matches('\n').chars() {
        shown.push(match c {
            '\n' => LINE_BREAK,
            '\t' => ' ',
            other => other,
        });
    }
    Cow::Owned(shown)
}

/// Shows what a program printed to a terminal: what it overwrote by carriage return, backspace or
/// by moving within the line is gone, as it would be there; every other sequence is taken out.
pub fn output(raw: &str) -> Cow<'_, str> {
    if raw.chars().all(|c| scan::is_plain(c) || c == '\n' || c == '\t') {
        return Cow::Borrowed(raw);
    }
    let mut shown = String::with_capacity(raw.len());
    let mut grid = Grid::default();
    let mut tokens = Scanner::new(raw).peekable();
    // The line as it is collected: plain until something moves within it.
    let mut start = 0;
    let mut moved = false;
    while let Some(token) = tokens.next() {
        match token {
            Token::Newline => {
                if moved {
                    grid.flush(&mut shown);
                    moved = false;
                }
                shown.push('\n');
                start = shown.len();
            }
            Token::Char(c) if !moved => shown.push(c),
            Token::Tab if !moved => shown.push('\t'),
            Token::Return if !moved && matches!(tokens.peek(), Some(Token::Newline)) => {}
            other => {
                if !moved {
                    grid.fill(&shown[start..]);
                    shown.truncate(start);
                    moved = true;
                }
                grid.apply(other);
            }
        }
    }
    if moved {
        grid.flush(&mut shown);
    }
    Cow::Owned(shown)
}

/// Shows what a person is asked to allow: line breaks and tabs stay, and everything that could not
/// be seen or could be taken for something else is written as `\u{202e}`.
pub fn approval(raw: &str) -> Cow<'_, str> {
    let seen = |c: char| (scan::is_plain(c) || c == '\n' || c == '\t') && !scan::is_odd_blank(c);
    if raw.chars().all(seen) {
        return Cow::Borrowed(raw);
    }
    let mut shown = String::with_capacity(raw.len() + 16);
    let mut sequence = emoji::Sequence::default();
    let mut rest = raw;
    while let Some(c) = rest.chars().next() {
        if seen(c) {
            sequence.saw(c);
            shown.push(c);
            rest = &rest[c.len_utf8()..];
        } else if let Some(len) = sequence.accept(rest) {
            shown.push_str(&rest[..len]);
            rest = &rest[len..];
        } else {
            sequence.end();
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
            rest = &rest[c.len_utf8()..];
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests;
