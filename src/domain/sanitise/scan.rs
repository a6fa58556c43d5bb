//! Cuts text into what is shown and what moves, dropping escape sequences and what is invisible.

use super::emoji::Sequence;

/// A piece of text as a terminal would take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// A character that is shown (or is part of an emoji).
    Char(char),
    /// A tab.
    Tab,
    /// The end of the line.
    Newline,
    /// A carriage return that no line feed follows directly.
    Return,
    /// A backspace.
    Back,
    /// Go to this column, from 0.
    Column(usize),
    /// Go right.
    Forward(usize),
    /// Go left.
    Backward(usize),
    /// Erase within the line.
    Erase(Erase),
}

/// What of a line is erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Erase {
    /// From the cursor on.
    ToEnd,
    /// Up to the cursor.
    ToStart,
    /// All of it.
    Whole,
}

/// Whether a character is shown as it is, wherever it stands.
pub(super) fn is_plain(c: char) -> bool {
    match c {
        ' '..='~' => true,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => false,
        _ => !is_invisible(c),
    }
}

/// Whether a character beyond ASCII is never seen: default-ignorable code points, format
/// characters without a shape of their own, and separators of lines and paragraphs.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character looks like a space and is none, or looks like nothing at all.
pub(super) fn is_odd_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}')
}

/// Whether a character is a letter or sign of a script in which a joiner, or its opposite, changes
/// how the letters beside it are written: Persian words need it, and so do those of India.
fn is_joined(c: char) -> bool {
    matches!(c,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Cuts text into [`Token`]s.
pub(super) struct Scanner<'a> {
    rest: &'a str,
    sequence: Sequence,
    /// Bytes that were found to belong to the emoji before them.
    accepted: usize,
    /// The character shown last, if nothing came between.
    last: Option<char>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(raw: &'a str) -> Self {
        Self { rest: raw, sequence: Sequence::None, accepted: 0, last: None }
    }

    /// Takes the next character off, if it is one of those.
    fn eat(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let c = self.rest.chars().next().filter(|c| wanted(*c))?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// Takes a joiner, or a non-joiner, off that stands between two letters that it is made for.
    fn joiner(&mut self) -> Option<char> {
        let mut ahead = self.rest.chars();
        let joiner = ahead.next().filter(|c| matches!(c, '\u{200c}' | '\u{200d}'))?;
        let fits = self.last.is_some_and(is_joined) && ahead.next().is_some_and(is_joined);
        self.last = None;
        self.eat(|_| fits).map(|_| joiner)
    }

    /// What follows an ESC.
    fn escape(&mut self) -> Option<Token> {
        match self.eat(|c| matches!(c, '['..='_' | 'P' | 'X')) {
            Some('[') => self.control_sequence(),
            Some(']' | '^' | '_' | 'P' | 'X') => {
                self.string();
                None
            }
            // ESC \ ends a string that is over already.
            Some(_) => None,
            None => {
                while self.eat(|c| matches!(c, ' '..='/')).is_some() {}
                self.eat(|c| matches!(c, '0'..='~'));
                None
            }
        }
    }

    /// What follows a CSI; a character that can't belong to it ends it and stays.
    fn control_sequence(&mut self) -> Option<Token> {
        let whole = self.rest;
        while self.eat(|c| matches!(c, '0'..='?')).is_some() {}
        let parameters = &whole[..whole.len() - self.rest.len()];
        if self.eat(|c| matches!(c, ' '..='/')).is_some() {
            while self.eat(|c| matches!(c, ' '..='/')).is_some() {}
            self.eat(|c| matches!(c, '@'..='~'));
            return None;
        }
        let end = self.eat(|c| matches!(c, '@'..='~'))?;
        let number = || match parameters {
            "" => Some(0),
            digits => digits.parse::<u16>().ok().map(usize::from),
        };
        match end {
            'G' | '`' => Some(Token::Column(number()?.saturating_sub(1))),
            'C' | 'a' => Some(Token::Forward(number()?.max(1))),
            'D' => Some(Token::Backward(number()?.max(1))),
            'K' => match number()? {
                0 => Some(Token::Erase(Erase::ToEnd)),
                1 => Some(Token::Erase(Erase::ToStart)),
                2 => Some(Token::Erase(Erase::Whole)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The payload of an OSC, DCS, APC, PM or SOS up to its end. The end of the line ends it too,
    /// so that one that is never closed hides no more than its line.
    fn string(&mut self) {
        let over = |c: char| matches!(c, '\n' | '\r' | '\u{18}' | '\u{1a}' | '\u{1b}' | '\u{7}' | '\u{9c}');
        while self.eat(|c| !over(c)).is_some() {}
        if self.rest.starts_with("\u{1b}\\") {
            self.rest = &self.rest[2..];
        } else {
            self.eat(|c| matches!(c, '\u{7}' | '\u{9c}' | '\u{18}' | '\u{1a}'));
        }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            if self.accepted > 0 {
                let c = self.eat(|_| true)?;
                self.accepted -= c.len_utf8();
                return Some(Token::Char(c));
            }
            if let Some(len) = self.sequence.accept(self.rest) {
                self.accepted = len;
                continue;
            }
            if let Some(joiner) = self.joiner() {
                return Some(Token::Char(joiner));
            }
            let c = self.eat(|_| true)?;
            self.last = is_plain(c).then_some(c);
            let token = match c {
                c if is_plain(c) => {
                    self.sequence.saw(c);
                    return Some(Token::Char(c));
                }
                '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(Token::Newline),
                '\r' => match self.eat(|c| c == '\n') {
                    Some(_) => Some(Token::Newline),
                    None => Some(Token::Return),
                },
                '\t' => Some(Token::Tab),
                '\u{8}' => Some(Token::Back),
                '\u{1b}' => self.escape(),
                '\u{9b}' => self.control_sequence(),
                '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                    self.string();
                    None
                }
                _ => None,
            };
            if token.is_some() {
                self.sequence.end();
                return token;
            }
        }
    }
}
