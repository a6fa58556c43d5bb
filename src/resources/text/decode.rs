//! Bytes as text: UTF-8, nothing else, and not one byte changed.
//!
//! A byte order mark and line ends of any kind are part of the text and stay where they are. What
//! is not UTF-8, or holds NUL (as UTF-16 and programs do), is refused plainly with its place.

use crate::resources::content::Content;
use crate::resources::refusal::Refusal;

/// The text of a byte order mark.
pub const BOM: char = '\u{feff}';

/// Reads bytes as text.
pub fn decode(bytes: &[u8]) -> Result<&str, Refusal> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Refusal::NotText { why: "it begins like UTF-16".into() });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Refusal::NotText { why: format!("byte {at} (line {line}) is {:#04x}, which is not UTF-8", bytes[at]) }
    })?;
    match text.find('\0') {
        Some(at) => Err(Refusal::NotText { why: format!("byte {at} is NUL: this is UTF-16 or not text at all") }),
        None => Ok(text),
    }
}

/// The text of a part.
pub fn text_of<'a>(content: &'a Content, part: &str) -> Result<&'a str, Refusal> {
    let part = content.get(part).ok_or_else(|| Refusal::BadContent { why: format!("there is no part `{part}`") })?;
    decode(&part.bytes)
}

/// The line end used around a byte: that of the line before, else of the first line, else `\n`.
pub fn ending_at(text: &str, byte: usize) -> &'static str {
    let end_of = |end: usize| if text[..end].ends_with('\r') { "\r\n" } else { "\n" };
    match text[..byte].rfind('\n').or_else(|| text.find('\n')) {
        Some(end) => end_of(end),
        None => "\n",
    }
}

/// A text with each of its line ends made `ending`.
pub fn with_endings(text: &str, ending: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if ending == "\n" { plain } else { plain.replace('\n', ending) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_utf_8_is_refused_with_its_place() {
        let why = |bytes: &[u8]| decode(bytes).expect_err("refused").to_string();
        assert_eq!(why(b"const x = 1;\n// caf\xe9 note\n"), "not text: byte 19 (line 2) is 0xe9, which is not UTF-8");
        assert!(why(&[0xd6, 0xd0, 0xce, 0xc4]).contains("byte 0"));
        assert!(why(b"\xff\xfea\0").contains("UTF-16"));
        assert!(why(b"a\0b\0").contains("NUL"));
        assert_eq!(decode("\u{feff}a\r\nb\nc\rd".as_bytes()).expect("text"), "\u{feff}a\r\nb\nc\rd");
    }

    #[test]
    fn the_line_end_in_use_is_found_where_it_is_asked_for() {
        let text = "a\r\nb\nc";
        assert_eq!(ending_at(text, 0), "\r\n");
        assert_eq!(ending_at(text, 3), "\r\n");
        assert_eq!(ending_at(text, 5), "\n");
        assert_eq!(ending_at("a", 1), "\n");
        assert_eq!(with_endings("x\ny\r\nz", "\r\n"), "x\r\ny\r\nz");
    }
}
