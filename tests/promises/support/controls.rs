//! What a program told the terminal besides text: every control sequence in captured bytes, and
//! which of them a program like ours has no business to send.

/// One control in a stream of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// A control character that stands alone, C1 as its code point.
    Character(u32),
    /// `ESC [` … : what stands between, and the last character.
    Csi(String, char),
    /// `ESC ]` … : an operating system command.
    Osc(String),
    /// `ESC P`, `ESC X`, `ESC ^`, `ESC _` … : a string for the terminal itself.
    Text(char, String),
    /// `ESC` and one or two more.
    Escape(String),
    /// A character that changes the direction of text or hides itself.
    Invisible(char),
}

/// The private modes a screen of ours switches: keys, wrap, cursor, mouse, focus, alternate screen, paste, synchronised update.
const MODES: &[&str] =
    &["1", "7", "12", "25", "1000", "1002", "1003", "1004", "1006", "1015", "1049", "2004", "2026", "2031"];

/// Lists every control in `bytes`.
pub fn scan(bytes: &[u8]) -> Vec<Control> {
    let text = String::from_utf8_lossy(bytes);
    let mut characters = text.chars().peekable();
    let mut found = Vec::new();
    while let Some(character) = characters.next() {
        match character {
            '\r' | '\n' | '\x08' | '\t' => {}
            '\x1b' => {
                let Some(kind) = characters.next() else {
                    found.push(Control::Escape(String::new()));
                    break;
                };
                match kind {
                    '[' => {
                        let mut between = String::new();
                        let last = loop {
                            match characters.next() {
                                Some(last @ '@'..='~') => break last,
                                Some(other) => between.push(other),
                                None => break '\0',
                            }
                        };
                        found.push(Control::Csi(between, last));
                    }
                    ']' | 'P' | 'X' | '^' | '_' => {
                        let mut words = String::new();
                        loop {
                            match characters.next() {
                                Some('\x07') if kind == ']' => break,
                                Some('\x1b') if characters.peek() == Some(&'\\') => {
                                    characters.next();
                                    break;
                                }
                                Some(other) => words.push(other),
                                None => break,
                            }
                        }
                        found.push(if kind == ']' { Control::Osc(words) } else { Control::Text(kind, words) });
                    }
                    ' '..='/' => {
                        let rest: String = characters.next().into_iter().collect();
                        found.push(Control::Escape(format!("{kind}{rest}")));
                    }
                    other => found.push(Control::Escape(other.to_string())),
                }
            }
            control if control.is_control() => found.push(Control::Character(control.into())),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {
                found.push(Control::Invisible(character));
            }
            _ => {}
        }
    }
    found
}

/// The controls a screen of ours never sends. Its title is ours to choose: see [`titles`].
pub fn foreign(bytes: &[u8]) -> Vec<Control> {
    scan(bytes).into_iter().filter(|control| !is_ours(control)).collect()
}

/// The window titles that were set.
pub fn titles(bytes: &[u8]) -> Vec<String> {
    scan(bytes)
        .into_iter()
        .filter_map(|control| match control {
            Control::Osc(words) => {
                words.split_once(';').filter(|(code, _)| matches!(*code, "0" | "2")).map(|(_, title)| title.to_owned())
            }
            _ => None,
        })
        .collect()
}

fn is_ours(control: &Control) -> bool {
    match control {
        Control::Csi(between, last) => match (between.as_bytes().first(), last) {
            (Some(b'?'), 'h' | 'l') => between[1..].split(';').all(|mode| MODES.contains(&mode)),
            // The keyboard's extended mode: asked for, pushed, popped.
            (Some(b'?' | b'>' | b'<'), 'u') | (None, 'c') => true,
            (_, 'q') => between.ends_with(' '),
            (_, 'm' | 'H' | 'A' | 'B' | 'C' | 'D' | 'G' | 'd' | 'J' | 'K') => {
                between.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b';' | b':'))
            }
            // The window's title is put by and taken back.
            (_, 't') => matches!(between.as_str(), "22;2" | "23;2"),
            _ => false,
        },
        // The title, the background asked for, the program's status, a call to the person.
        Control::Osc(words) => {
            let ours = ["0;", "2;", "7501;", "9;Cowork: ", "777;notify;Cowork;"];
            // A link: to an address, and its end.
            let link = words.strip_prefix("8;;");
            let links = link.is_some_and(|to| to.is_empty() || to.starts_with("https://") || to.starts_with("http://"));
            links || words == "11;?" || ours.iter().any(|begin| words.starts_with(begin))
        }
        Control::Escape(rest) => matches!(rest.as_str(), "7" | "8"),
        Control::Character(_) | Control::Text(..) | Control::Invisible(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_screen_sends_is_not_foreign() {
        assert_eq!(
            foreign(
                b"\x1b[?1049h\x1b[?2026h\x1b[12;4H\x1b[1;38;5;4mwords\x1b[0m\x1b[?25l\x1b]0;cowork\x07\r\n\x1b[2 q"
            ),
            []
        );
    }

    #[test]
    fn what_a_hostile_program_sends_is_found() {
        let hostile =
            "\x07\u{9b}31m\x1b]52;c;cGF3bmVk\x07\x1b]8;;file:///x\x07\x1bPq\x1b\\\u{202e}\x1bc\x1b[?47h\x1b[5n";
        let found = foreign(hostile.as_bytes());
        let expected = [
            Control::Character(7),
            Control::Character(0x9b),
            Control::Osc("52;c;cGF3bmVk".into()),
            Control::Osc("8;;file:///x".into()),
            Control::Text('P', "q".into()),
            Control::Invisible('\u{202e}'),
            Control::Escape("c".into()),
            Control::Csi("?47".into(), 'h'),
            Control::Csi("5".into(), 'n'),
        ];
        assert_eq!(found, expected);
        assert_eq!(titles(b"\x1b]0;owned\x07\x1b]2;cowork\x1b\\"), ["owned", "cowork"]);
    }
}
