//! Bounding what a model sees of an output: its beginning and its end, cut at line borders, with a
//! line between them that says what was left out and how to see it.
//!
//! All bounding of tools happens here. A cut is never inside a character, and never inside a
//! control sequence, because those are gone before anything is cut.

use crate::agent::port::Blobs;
use crate::domain::sanitise;
use std::borrow::Cow;

/// How much there was in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) bytes: u64,
    pub(super) lines: u64,
}

/// Makes of what a program printed what a model gets to see: no control sequences, and of progress
/// that overwrites itself the last state.
pub(super) fn clean(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw);
    sanitise::output(&text).into_owned()
}

/// Bounds a text; where something is left out, the whole is kept and can be read by reference.
pub(super) fn bound(text: &str, limit: usize, blobs: &dyn Blobs) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let whole = Whole { bytes: text.len() as u64, lines: count_lines(text.as_bytes()) };
    let kept = blobs.put(text.as_bytes());
    let plain = |line: &[u8]| String::from_utf8_lossy(line).into_owned();
    excerpt(text.as_bytes(), text.as_bytes(), whole, limit, &reference(&kept), plain)
}

/// Words how what was left out can be seen.
pub(super) fn reference(kept: &std::io::Result<String>) -> String {
    match kept {
        Ok(name) => format!(r#"read {{"path":"output:{name}"}} shows them"#),
        Err(error) => format!("they could not be kept: {error}"),
    }
}

/// Shows the first and the last lines of an output that does not fit. `head` begins with its
/// beginning and `tail` ends with its end; `show` makes text of one line.
pub(super) fn excerpt(
    head: &[u8],
    tail: &[u8],
    whole: Whole,
    limit: usize,
    reference: &str,
    show: impl Fn(&[u8]) -> String,
) -> String {
    let first = gather(head.split_inclusive(|byte| *byte == b'\n'), limit / 2, &show, Side::Start);
    let last = gather(tail.split_inclusive(|byte| *byte == b'\n').rev(), limit / 2, &show, Side::End);
    let bytes = whole.bytes.saturating_sub(first.bytes + last.bytes);
    let lines = whole.lines.saturating_sub(first.lines + last.lines);
    let lines = if lines == 0 { "inside one line".to_owned() } else { format!("{lines} lines") };
    let middle = format!("[… {bytes} bytes left out, {lines}; {reference} …]");
    let mut out: String = first.shown.concat();
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(&middle);
    out.push('\n');
    out.extend(last.shown.iter().rev().map(String::as_str));
    out
}

/// Which end of a line is kept when even one line is too much.
#[derive(Clone, Copy)]
enum Side {
    Start,
    End,
}

/// Lines that fit, in the order they were gathered, and how much of the output they stand for.
struct Gathered {
    shown: Vec<String>,
    bytes: u64,
    lines: u64,
}

fn gather<'a>(
    lines: impl Iterator<Item = &'a [u8]>,
    budget: usize,
    show: impl Fn(&[u8]) -> String,
    side: Side,
) -> Gathered {
    let mut gathered = Gathered { shown: Vec::new(), bytes: 0, lines: 0 };
    let mut used = 0;
    for line in lines {
        let text = show(line);
        if used + text.len() <= budget {
            used += text.len();
            gathered.bytes += line.len() as u64;
            gathered.lines += count_lines(line);
            gathered.shown.push(text);
            continue;
        }
        // A line is cut only when it alone takes more than half of the room.
        if used <= budget / 2 {
            let part = match side {
                Side::Start => &text[..text.floor_char_boundary(budget - used)],
                Side::End => &text[text.ceil_char_boundary(text.len() - (budget - used))..],
            };
            gathered.bytes += part.len() as u64;
            gathered.shown.push(part.to_owned());
        }
        break;
    }
    gathered
}

/// Counts lines by their ends.
pub(super) fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Counts lines as a person does: the last one counts also without an end.
pub(super) fn count_text_lines(bytes: &[u8]) -> u64 {
    count_lines(bytes) + u64::from(bytes.last().is_some_and(|byte| *byte != b'\n'))
}

/// A number with its noun, such as `1 line` or `2 lines`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Cuts a single line short, at a character border.
pub(super) fn short(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}…", &text[..text.floor_char_boundary(limit)]))
}

/// Shows a name of a file: as it is, or in JSON's quotes where it holds something that can't be
/// seen, so that it can be given back just so.
pub(super) fn name(name: &str) -> Cow<'_, str> {
    let is_seen = |text: &str| matches!(sanitise::approval(text), Cow::Borrowed(_)) && !text.contains(['\n', '\t']);
    // What begins with a bracket is a note of ours, what begins with a quote is quoted.
    if is_seen(name) && !name.starts_with(['"', '[']) {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::with_capacity(name.len() + 8);
    quoted.push('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if is_seen(c.encode_utf8(&mut [0; 4])) => quoted.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| quoted.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    quoted.push('"');
    Cow::Owned(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Memory;

    #[test]
    fn what_fits_is_left_as_it_is_and_not_kept() {
        let blobs = Memory::default();
        assert_eq!(bound("short\n", 16, &blobs), "short\n");
        assert!(blobs.is_empty());
    }

    #[test]
    fn the_middle_line_tells_exactly_what_was_left_out_and_where_it_is() {
        let blobs = Memory::default();
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        let shown = bound(&text, 200, &blobs);
        let (middle, rest): (Vec<&str>, Vec<&str>) = shown.lines().partition(|line| line.starts_with('['));
        assert!(rest.starts_with(&["line 1", "line 2"]) && rest.ends_with(&["line 999", "line 1000"]), "{shown}");
        let seen: usize = rest.iter().map(|line| line.len() + 1).sum();
        assert!(seen <= 200);
        let name = blobs.only();
        let expected = format!(
            r#"[… {} bytes left out, {} lines; read {{"path":"output:{name}"}} shows them …]"#,
            text.len() - seen,
            1000 - rest.len()
        );
        assert_eq!(middle, [expected]);
        assert_eq!(blobs.get(&name, 0, usize::MAX).expect("kept").1, text.as_bytes());
    }

    #[test]
    fn one_endless_line_is_cut_at_characters_and_without_its_sequences() {
        let blobs = Memory::default();
        let text = "é".repeat(5000);
        let shown = bound(&text, 101, &blobs);
        assert!(shown.chars().filter(|c| *c == 'é').count() >= 48, "{shown}");
        assert!(!shown.contains('\u{fffd}') && shown.contains("inside one line"), "{shown}");
        let red = "\x1b[31mx\x1b[0m".repeat(1000);
        let whole = Whole { bytes: red.len() as u64, lines: 0 };
        let shown = excerpt(red.as_bytes(), red.as_bytes(), whole, 50, "…", clean);
        assert!(
            shown.lines().filter(|line| !line.starts_with('[')).all(|line| line.chars().all(|c| c == 'x')),
            "{shown}"
        );
    }

    #[test]
    fn progress_that_overwrites_itself_shows_its_last_state() {
        assert_eq!(clean(b"10%\r20%\r100%\ndone\x1b]0;owned\x07\n"), "100%\ndone\n");
    }

    #[test]
    fn a_name_that_hides_something_is_quoted_so_that_it_can_be_given_back() {
        assert_eq!(name("plain ü.txt"), "plain ü.txt");
        assert_eq!(name("[id].tsx"), "\"[id].tsx\"");
        let odd = "a\nb\x1b[2J\u{202e}\"c";
        let quoted = name(odd);
        assert!(!quoted.contains(['\n', '\x1b', '\u{202e}']), "{quoted}");
        assert_eq!(serde_json::from_str::<String>(&quoted).expect("JSON"), odd);
    }
}
