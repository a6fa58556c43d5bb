//! Keys as text: `ctrl+t`, `alt+1`, `shift+enter`, `pgup`, `f1`, `?`.
//!
//! The keymap, the help, the documentation and the tests name keys in these words.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;
use std::str::FromStr;

/// A key with what was held down, in one form for each way a terminal can send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

const NAMES: [(KeyCode, &str); 15] = [
    (KeyCode::Enter, "enter"),
    (KeyCode::Esc, "esc"),
    (KeyCode::Tab, "tab"),
    (KeyCode::Backspace, "backspace"),
    (KeyCode::Delete, "del"),
    (KeyCode::Insert, "ins"),
    (KeyCode::Up, "up"),
    (KeyCode::Down, "down"),
    (KeyCode::Left, "left"),
    (KeyCode::Right, "right"),
    (KeyCode::PageUp, "pgup"),
    (KeyCode::PageDown, "pgdn"),
    (KeyCode::Home, "home"),
    (KeyCode::End, "end"),
    (KeyCode::Char(' '), "space"),
];

const MODIFIERS: [(KeyModifiers, &str); 3] =
    [(KeyModifiers::CONTROL, "ctrl+"), (KeyModifiers::ALT, "alt+"), (KeyModifiers::SHIFT, "shift+")];

impl Key {
    /// Brings a key event into its one form.
    pub fn from_event(event: KeyEvent) -> Self {
        let known = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT;
        let (mut code, mut modifiers) = (event.code, event.modifiers & known);
        if code == KeyCode::BackTab {
            (code, modifiers) = (KeyCode::Tab, modifiers | KeyModifiers::SHIFT);
        }
        if let KeyCode::Char(c) = code
            && c != ' '
        {
            if modifiers.contains(KeyModifiers::SHIFT) && c.is_lowercase() {
                code = KeyCode::Char(c.to_uppercase().next().unwrap_or(c));
            }
            modifiers -= KeyModifiers::SHIFT;
        }
        Self { code, modifiers }
    }

    /// The character, if the key types one.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if (self.modifiers - KeyModifiers::SHIFT).is_empty() => Some(c),
            _ => None,
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        if let Some((_, name)) = NAMES.iter().find(|(code, _)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "f{n}"),
            other => write!(f, "{other}"),
        }
    }
}

impl FromStr for Key {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut rest, mut modifiers) = (text, KeyModifiers::NONE);
        while let Some((modifier, name)) = MODIFIERS.iter().find(|(_, name)| rest.starts_with(name)) {
            modifiers |= *modifier;
            rest = &rest[name.len()..];
        }
        let mut characters = rest.chars();
        let code = match (characters.next(), characters.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => match NAMES.iter().find(|(_, name)| *name == rest) {
                Some((code, _)) => *code,
                None => rest
                    .strip_prefix('f')
                    .and_then(|number| number.parse().ok())
                    .filter(|number| (1..=24).contains(number))
                    .map(KeyCode::F)
                    .ok_or_else(|| format!("`{text}` is no key (such as ctrl+t, alt+1, shift+enter, pgup, f1)"))?,
            },
        };
        Ok(Self::from_event(KeyEvent::new(code, modifiers)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_as_it_is_written() {
        for text in ["ctrl+t", "alt+1", "shift+enter", "ctrl+alt+x", "pgup", "f12", "?", "N", "space", "shift+tab", "+"]
        {
            assert_eq!(text.parse::<Key>().expect(text).to_string(), text);
        }
        assert!("hyper+x".parse::<Key>().is_err());
        assert!("f99".parse::<Key>().is_err());
    }

    #[test]
    fn shift_and_a_letter_is_the_capital_letter() {
        let sent = KeyEvent::new(KeyCode::Char('n'), KeyModifiers::SHIFT);
        assert_eq!(Key::from_event(sent), "N".parse().expect("a key"));
        assert_eq!(Key::from_event(sent).typed(), Some('N'));
        assert_eq!("ctrl+n".parse::<Key>().expect("a key").typed(), None);
    }
}
