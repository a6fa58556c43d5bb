//! Keys as text: `"ctrl+t enter 'some words' esc"` to the bytes a terminal sends.

/// One step of a script of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// Bytes as a terminal sends them, in one write.
    Bytes(Vec<u8>),
    /// A bracketed paste.
    Paste(String),
    /// Waits until the screen holds these words.
    Wait(String),
    /// Resizes the terminal, columns by rows.
    Resize(u16, u16),
}

/// Reads a script: names of keys (`enter`, `ctrl+t`, `shift+tab`, `alt+b`, `f1`, `x`), `'words'`
/// typed as they stand, `paste:'words'`, `wait:'words'`, `resize:80x24`. In words, `\n` and `\'` stand for themselves.
pub fn parse(script: &str) -> Vec<Key> {
    tokens(script)
        .into_iter()
        .map(|(head, words)| match (head.as_str(), words) {
            ("", Some(words)) => Key::Bytes(words.into_bytes()),
            ("paste:", Some(words)) => Key::Paste(words),
            ("wait:", Some(words)) => Key::Wait(words),
            (name, None) => match name.strip_prefix("resize:").and_then(|size| size.split_once('x')) {
                Some((columns, rows)) => Key::Resize(
                    columns.parse().unwrap_or_else(|_| panic!("no width: {name}")),
                    rows.parse().unwrap_or_else(|_| panic!("no height: {name}")),
                ),
                None => Key::Bytes(bytes(name)),
            },
            (head, Some(_)) => panic!("`{head}` takes no words"),
        })
        .collect()
}

/// Splits a script at blanks outside of quotes; the words in quotes come apart from what stands before.
fn tokens(script: &str) -> Vec<(String, Option<String>)> {
    let mut tokens = Vec::new();
    let mut head = String::new();
    let mut characters = script.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' if head.is_empty() || head.ends_with(':') => {
                let mut words = String::new();
                loop {
                    match characters.next() {
                        Some('\\') => match characters.next() {
                            Some('n') => words.push('\n'),
                            Some(other) => words.push(other),
                            None => panic!("a script ends in a backslash: {script}"),
                        },
                        Some('\'') => break,
                        Some(other) => words.push(other),
                        None => panic!("a quote has no end: {script}"),
                    }
                }
                tokens.push((std::mem::take(&mut head), Some(words)));
            }
            blank if blank.is_whitespace() => {
                if !head.is_empty() {
                    tokens.push((std::mem::take(&mut head), None));
                }
            }
            other => head.push(other),
        }
    }
    if !head.is_empty() {
        tokens.push((head, None));
    }
    tokens
}

/// The bytes of one named key.
fn bytes(name: &str) -> Vec<u8> {
    let mut rest = name;
    let (mut shift, mut alt, mut ctrl) = (0, 0, 0);
    loop {
        if let Some(after) = rest.strip_prefix("shift+") {
            (shift, rest) = (1, after);
        } else if let Some(after) = rest.strip_prefix("alt+") {
            (alt, rest) = (2, after);
        } else if let Some(after) = rest.strip_prefix("ctrl+") {
            (ctrl, rest) = (4, after);
        } else {
            break;
        }
    }
    let modifiers = shift + alt + ctrl;
    let csi = |number: &str, last: char| match modifiers {
        0 if number == "1" => format!("\x1b[{last}"),
        0 => format!("\x1b[{number}{last}"),
        _ => format!("\x1b[{number};{}{last}", modifiers + 1),
    };
    let plain = match rest {
        "enter" if shift > 0 => "\x1b[13;2u".to_owned(),
        "enter" => "\r".to_owned(),
        "esc" => "\x1b".to_owned(),
        "tab" if shift > 0 => return b"\x1b[Z".to_vec(),
        "tab" => "\t".to_owned(),
        "space" if ctrl > 0 => "\0".to_owned(),
        "space" => " ".to_owned(),
        "backspace" => "\x7f".to_owned(),
        "up" => return csi("1", 'A').into_bytes(),
        "down" => return csi("1", 'B').into_bytes(),
        "right" => return csi("1", 'C').into_bytes(),
        "left" => return csi("1", 'D').into_bytes(),
        "home" => return csi("1", 'H').into_bytes(),
        "end" => return csi("1", 'F').into_bytes(),
        "insert" => return csi("2", '~').into_bytes(),
        "delete" => return csi("3", '~').into_bytes(),
        "pageup" => return csi("5", '~').into_bytes(),
        "pagedown" => return csi("6", '~').into_bytes(),
        "f1" => "\x1bOP".to_owned(),
        "f2" => "\x1bOQ".to_owned(),
        "f3" => "\x1bOR".to_owned(),
        "f4" => "\x1bOS".to_owned(),
        "f5" => "\x1b[15~".to_owned(),
        one if one.chars().count() == 1 => {
            let character = one.chars().next().expect("it has one");
            if ctrl > 0 { char::from(character.to_ascii_uppercase() as u8 & 0x1f).to_string() } else { one.to_owned() }
        }
        other => panic!("no key is called `{other}`"),
    };
    let mut out = if alt > 0 { vec![0x1b] } else { Vec::new() };
    out.extend(plain.into_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_keys_becomes_the_bytes_of_a_terminal() {
        let sent = parse(
            "a ctrl+t 'two words\\n' enter esc alt+b up ctrl+right shift+tab paste:'x y' wait:'done' resize:80x24",
        );
        let bytes = |text: &str| Key::Bytes(text.as_bytes().to_vec());
        let expected = vec![
            bytes("a"),
            bytes("\x14"),
            bytes("two words\n"),
            bytes("\r"),
            bytes("\x1b"),
            bytes("\x1bb"),
            bytes("\x1b[A"),
            bytes("\x1b[1;5C"),
            bytes("\x1b[Z"),
            Key::Paste("x y".into()),
            Key::Wait("done".into()),
            Key::Resize(80, 24),
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    #[should_panic(expected = "no key is called `entr`")]
    fn a_key_that_does_not_exist_is_a_mistake_of_the_test() {
        parse("entr");
    }
}
