//! The guide's own regular expressions.

use regex::Regex;

/// Compiles one of our own patterns. It may go over several lines: a line break and what sets the
/// next line in are no part of it.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(&joined(text)).expect("BUG: a pattern of ours is not valid")
}

/// Puts the lines of a pattern together.
pub(super) fn joined(text: &str) -> String {
    text.split('\n').map(str::trim_start).collect()
}
