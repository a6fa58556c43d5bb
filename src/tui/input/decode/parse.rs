//! One event at the start of a buffer: control characters, UTF-8, CSI, SS3, the reports of the
//! mouse, and the key protocols of kitty and xterm. Strings of the terminal itself (OSC, DCS) are
//! taken out.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

/// What stands at the start of a buffer.
#[derive(Debug, PartialEq)]
pub enum Parsed {
    /// An event, and how many bytes it took.
    Event(Event, usize),
    /// What the terminal answered to a question of ours, and how many bytes it took.
    Answer(Answer, usize),
    /// Bytes that mean nothing to us.
    Skip(usize),
    /// The mark that opens a paste.
    Paste(usize),
    /// Not all of it is there yet.
    Incomplete,
}

/// What a terminal answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The colour of its background.
    Background(u8, u8, u8),
    /// It takes reports of what the program is doing.
    TakesStatus,
}

/// The longest string of a terminal that is waited for.
const LONGEST: usize = 4_096;

/// Reads what stands at the start of a buffer.
pub fn parse(buffer: &[u8]) -> Parsed {
    match buffer {
        [] => Parsed::Incomplete,
        [0x1b, rest @ ..] => escape(rest),
        [byte, ..] if *byte < 0x20 || *byte == 0x7f => control(*byte),
        _ => utf8(buffer),
    }
}

/// What follows a mouse report whose escape was already taken for a key, if that is what it is.
pub fn mouse_tail(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"[<")?;
    let end = rest.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';'))?;
    matches!(rest[end], b'M' | b'm').then(|| &rest[end + 1..])
}

fn event(code: KeyCode, modifiers: KeyModifiers, used: usize) -> Parsed {
    Parsed::Event(Event::Key(KeyEvent::new(code, modifiers)), used)
}

fn control(byte: u8) -> Parsed {
    let (code, modifiers) = match byte {
        b'\r' => (KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => (KeyCode::Tab, KeyModifiers::NONE),
        0x7f => (KeyCode::Backspace, KeyModifiers::NONE),
        0 => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        1..=0x1a => (KeyCode::Char(char::from(byte - 1 + b'a')), KeyModifiers::CONTROL),
        _ => (KeyCode::Char(char::from(byte + 0x40)), KeyModifiers::CONTROL),
    };
    event(code, modifiers, 1)
}

fn utf8(buffer: &[u8]) -> Parsed {
    let length = match buffer[0] {
        0x00..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Parsed::Skip(1),
    };
    let head = &buffer[..length.min(buffer.len())];
    match std::str::from_utf8(head) {
        Ok(text) => match text.chars().next() {
            Some(c) => event(KeyCode::Char(c), KeyModifiers::NONE, length),
            None => Parsed::Skip(1),
        },
        Err(error) if error.error_len().is_none() => Parsed::Incomplete,
        Err(_) => Parsed::Skip(1),
    }
}

/// What follows an escape; lengths count the escape.
fn escape(rest: &[u8]) -> Parsed {
    match rest {
        [] => Parsed::Incomplete,
        [b'[', rest @ ..] => csi(rest),
        [b'O', rest @ ..] => ss3(rest),
        [b']', rest @ ..] => match string(rest) {
            Parsed::Skip(used) => match answer(rest) {
                Some(answer) => Parsed::Answer(answer, used),
                None => Parsed::Skip(used),
            },
            other => other,
        },
        [b'P' | b'_' | b'^', rest @ ..] => string(rest),
        [0x1b, ..] => event(KeyCode::Esc, KeyModifiers::NONE, 1),
        other => match parse(other) {
            Parsed::Event(Event::Key(key), used) => event(key.code, key.modifiers | KeyModifiers::ALT, used + 1),
            Parsed::Event(_, used) | Parsed::Skip(used) | Parsed::Paste(used) | Parsed::Answer(_, used) => {
                Parsed::Skip(used + 1)
            }
            Parsed::Incomplete => Parsed::Incomplete,
        },
    }
}

fn string(rest: &[u8]) -> Parsed {
    if rest.is_empty() {
        return Parsed::Incomplete;
    }
    for (at, byte) in rest.iter().enumerate() {
        match byte {
            0x07 => return Parsed::Skip(at + 3),
            b'\\' if at > 0 && rest[at - 1] == 0x1b => return Parsed::Skip(at + 3),
            _ => {}
        }
    }
    if rest.len() > LONGEST { Parsed::Skip(rest.len() + 2) } else { Parsed::Incomplete }
}

/// What the string of an operating system command answers, if it is an answer of ours.
fn answer(rest: &[u8]) -> Option<Answer> {
    let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b))?;
    let text = std::str::from_utf8(&rest[..end]).ok()?;
    if text == "7501;?" {
        return Some(Answer::TakesStatus);
    }
    let colour = text.strip_prefix("11;rgb:").or_else(|| text.strip_prefix("11;rgba:"))?;
    let mut parts = colour.split('/').map(|part| {
        // One to four digits, of which the first two count.
        let value = u32::from_str_radix(part, 16).ok()?;
        match part.len() {
            1 => u8::try_from(value * 0x11).ok(),
            2 => u8::try_from(value).ok(),
            3 => u8::try_from(value >> 4).ok(),
            4 => u8::try_from(value >> 8).ok(),
            _ => None,
        }
    });
    Some(Answer::Background(parts.next()??, parts.next()??, parts.next()??))
}

fn ss3(rest: &[u8]) -> Parsed {
    let Some(byte) = rest.first() else { return Parsed::Incomplete };
    let code = match byte {
        b'M' => Some(KeyCode::Enter),
        b'j'..=b'y' => Some(KeyCode::Char(char::from(byte - b'j' + b'*'))),
        b'P'..=b'S' => Some(KeyCode::F(byte - b'P' + 1)),
        other => arrow(*other),
    };
    match code {
        Some(code) => event(code, KeyModifiers::NONE, 3),
        None => Parsed::Skip(3),
    }
}

fn arrow(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        _ => return None,
    })
}

/// What follows `ESC [`; lengths count those two.
fn csi(rest: &[u8]) -> Parsed {
    if let Some(number) = rest.strip_prefix(b"[") {
        // The Linux console's function keys.
        return match number.first() {
            None => Parsed::Incomplete,
            Some(byte @ b'A'..=b'E') => event(KeyCode::F(byte - b'A' + 1), KeyModifiers::NONE, 4),
            Some(_) => Parsed::Skip(4),
        };
    }
    let Some(end) = rest.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return if rest.len() > 64 { Parsed::Skip(rest.len() + 2) } else { Parsed::Incomplete };
    };
    let (parameters, last, used) = (&rest[..end], rest[end], end + 3);
    if !(0x40..0x7f).contains(&last) {
        return Parsed::Skip(end + 2);
    }
    if last == b'M' && parameters.is_empty() {
        // The old mouse report: three bytes follow. We never ask for it.
        return if rest.len() < end + 4 { Parsed::Incomplete } else { Parsed::Skip(used + 3) };
    }
    if let Some(report) = parameters.strip_prefix(b"<") {
        return mouse(report, last, used);
    }
    let numbers = numbers(parameters);
    let first = numbers.first().and_then(|parts| parts.first()).copied().unwrap_or(0);
    let second = numbers.get(1);
    let modifiers = modifiers(second.and_then(|parts| parts.first()).copied().unwrap_or(1));
    if second.and_then(|parts| parts.get(1)) == Some(&3) {
        return Parsed::Skip(used);
    }
    match last {
        b'I' if parameters.is_empty() => Parsed::Event(Event::FocusGained, used),
        b'O' if parameters.is_empty() => Parsed::Event(Event::FocusLost, used),
        b'Z' => event(KeyCode::BackTab, modifiers | KeyModifiers::SHIFT, used),
        b'P' | b'Q' | b'S' => event(KeyCode::F(last - b'P' + 1), modifiers, used),
        b'R' if first == 1 => event(KeyCode::F(3), modifiers, used),
        b'~' => tilde(first, &numbers, modifiers, used),
        b'u' => match kitty(first) {
            Some(code) => event(code, modifiers, used),
            None => Parsed::Skip(used),
        },
        other => match arrow(other) {
            Some(code) => event(code, modifiers, used),
            None => Parsed::Skip(used),
        },
    }
}

fn tilde(number: u32, numbers: &[Vec<u32>], modifiers: KeyModifiers, used: usize) -> Parsed {
    let code = match number {
        200 => return Parsed::Paste(used),
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F((number - 10) as u8),
        17..=21 => KeyCode::F((number - 11) as u8),
        23..=26 => KeyCode::F((number - 12) as u8),
        27 => {
            // xterm's modifyOtherKeys: 27;modifiers;character~
            let character = numbers.get(2).and_then(|parts| parts.first()).copied().unwrap_or(0);
            return match kitty(character) {
                Some(code) => event(code, modifiers, used),
                None => Parsed::Skip(used),
            };
        }
        _ => return Parsed::Skip(used),
    };
    event(code, modifiers, used)
}

/// A key named by its character's number.
fn kitty(number: u32) -> Option<KeyCode> {
    Some(match number {
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        127 | 8 => KeyCode::Backspace,
        57399..=57408 => KeyCode::Char(char::from(b'0' + (number - 57399) as u8)),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57421 => KeyCode::PageUp,
        57422 => KeyCode::PageDown,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57426 => KeyCode::Delete,
        0xe000..=0xf8ff => return None,
        other => KeyCode::Char(char::from_u32(other).filter(|c| !c.is_control())?),
    })
}

fn modifiers(parameter: u32) -> KeyModifiers {
    let bits = parameter.saturating_sub(1);
    let mut out = KeyModifiers::NONE;
    for (bit, modifier) in [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (32, KeyModifiers::META),
    ] {
        if bits & bit != 0 {
            out |= modifier;
        }
    }
    out
}

/// Parameters between `;`, each with its parts between `:`.
fn numbers(parameters: &[u8]) -> Vec<Vec<u32>> {
    parameters
        .split(|byte| *byte == b';')
        .map(|parameter| {
            parameter
                .split(|byte| *byte == b':')
                .map(|digits| std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0))
                .collect()
        })
        .collect()
}

fn mouse(report: &[u8], last: u8, used: usize) -> Parsed {
    let numbers: Vec<u32> = numbers(report).into_iter().filter_map(|parts| parts.first().copied()).collect();
    let (&[button, column, row], b'M' | b'm') = (numbers.as_slice(), last) else { return Parsed::Skip(used) };
    let of = |low| match low {
        0 => MouseButton::Left,
        1 => MouseButton::Middle,
        _ => MouseButton::Right,
    };
    let kind = match (button & 0b1100_0000, button & 0b11, button & 32 != 0) {
        (64, 0, _) => MouseEventKind::ScrollUp,
        (64, 1, _) => MouseEventKind::ScrollDown,
        (64, 2, _) => MouseEventKind::ScrollLeft,
        (64, _, _) => MouseEventKind::ScrollRight,
        (0, 3, true) => MouseEventKind::Moved,
        (0, low, true) => MouseEventKind::Drag(of(low)),
        (0, low, false) if last == b'M' => MouseEventKind::Down(of(low)),
        (0, low, false) => MouseEventKind::Up(of(low)),
        _ => return Parsed::Skip(used),
    };
    let mut modifiers = KeyModifiers::NONE;
    for (bit, modifier) in [(4, KeyModifiers::SHIFT), (8, KeyModifiers::ALT), (16, KeyModifiers::CONTROL)] {
        if button & bit != 0 {
            modifiers |= modifier;
        }
    }
    let place = |number: u32| u16::try_from(number.saturating_sub(1)).unwrap_or(u16::MAX);
    let event = MouseEvent { kind, column: place(column), row: place(row), modifiers };
    Parsed::Event(Event::Mouse(event), used)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> (KeyCode, KeyModifiers) {
        match parse(bytes) {
            Parsed::Event(Event::Key(key), used) if used == bytes.len() => (key.code, key.modifiers),
            other => panic!("{bytes:?} gave {other:?}"),
        }
    }

    #[test]
    fn keys_of_many_terminals_come_out_alike() {
        const NONE: KeyModifiers = KeyModifiers::NONE;
        let shift_enter = (KeyCode::Enter, KeyModifiers::SHIFT);
        for (bytes, wanted) in [
            (&b"\r"[..], (KeyCode::Enter, NONE)),
            (b"\n", (KeyCode::Char('j'), KeyModifiers::CONTROL)),
            (b"\x1b\r", (KeyCode::Enter, KeyModifiers::ALT)),
            (b"\x1b[13;2u", shift_enter),
            (b"\x1b[27;2;13~", shift_enter),
            (b"\x14", (KeyCode::Char('t'), KeyModifiers::CONTROL)),
            (b"\x1b[116;5u", (KeyCode::Char('t'), KeyModifiers::CONTROL)),
            (b"\x1b1", (KeyCode::Char('1'), KeyModifiers::ALT)),
            (b"\x1b[27u", (KeyCode::Esc, NONE)),
            (b"\x1b[A", (KeyCode::Up, NONE)),
            (b"\x1bOA", (KeyCode::Up, NONE)),
            (b"\x1b[1;3A", (KeyCode::Up, KeyModifiers::ALT)),
            (b"\x1b[1;3:1A", (KeyCode::Up, KeyModifiers::ALT)),
            (b"\x1b[5~", (KeyCode::PageUp, NONE)),
            (b"\x1b[1~", (KeyCode::Home, NONE)),
            (b"\x1bOP", (KeyCode::F(1), NONE)),
            (b"\x1b[11~", (KeyCode::F(1), NONE)),
            (b"\x1b[[A", (KeyCode::F(1), NONE)),
            (b"\x1b[Z", (KeyCode::BackTab, KeyModifiers::SHIFT)),
            (b"\x7f", (KeyCode::Backspace, NONE)),
            (b"\x1b\x7f", (KeyCode::Backspace, KeyModifiers::ALT)),
            (b"\x1f", (KeyCode::Char('_'), KeyModifiers::CONTROL)),
        ] {
            assert_eq!(one(bytes), wanted, "{bytes:?}");
        }
    }

    #[test]
    fn a_key_that_is_let_go_is_no_key() {
        assert_eq!(parse(b"\x1b[13;1:3u"), Parsed::Skip(9));
    }

    #[test]
    fn answers_of_the_terminal_are_not_typed() {
        assert_eq!(parse(b"\x1b]10;rgb:0000/0000/0000\x07x"), Parsed::Skip(24));
        assert_eq!(parse(b"\x1b]11;rgb:1e1e/2020/f\x07x"), Parsed::Answer(Answer::Background(0x1e, 0x20, 0xff), 21));
        assert_eq!(parse(b"\x1b]11;rgb:ff/fd/f0\x1b\\x"), Parsed::Answer(Answer::Background(0xff, 0xfd, 0xf0), 19));
        assert_eq!(parse(b"\x1b]11;rgb:zz/fd/f0\x07"), Parsed::Skip(18));
        assert_eq!(parse(b"\x1b]7501;?\x1b\\"), Parsed::Answer(Answer::TakesStatus, 10));
        assert_eq!(parse(b"\x1bP1$r0m\x1b\\x"), Parsed::Skip(9));
        assert_eq!(parse(b"\x1b[?62;22c"), Parsed::Skip(9));
        assert_eq!(parse(b"\x1b[24;80R"), Parsed::Skip(8));
    }
}
