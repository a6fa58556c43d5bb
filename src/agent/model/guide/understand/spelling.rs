//! Puts right a slip of the finger in the word a wish begins with.

use super::words;

/// Words that begin wishes; a slip of the finger in one of them is put right.
const VERBS: &[&str] = &[
    "search",
    "find",
    "grep",
    "count",
    "read",
    "show",
    "print",
    "list",
    "outline",
    "compare",
    "describe",
    "summarise",
    "summarize",
    "write",
    "create",
    "append",
    "replace",
    "fetch",
    "download",
    "explain",
    "display",
    "execute",
    "locate",
    "change",
    "what",
];

/// Puts right one slip in the first word.
pub(super) fn respelled(text: &str) -> Option<String> {
    let text = words::bare(text);
    let first = text.split_whitespace().next()?.trim_end_matches([',', ':']);
    let lower = first.to_ascii_lowercase();
    if lower.len() < 4 || VERBS.contains(&lower.as_str()) {
        return None;
    }
    let verb = VERBS.iter().find(|verb| one_slip(&lower, verb))?;
    Some(format!("{verb}{}", &text[first.len()..]))
}

/// Whether two words differ by one letter too many, too few, wrong, or by two that changed places.
fn one_slip(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same_start = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same_start..], &b[same_start..]);
    match (a, b) {
        ([], [_]) | ([_], []) => true,
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([a1, a2, a @ ..], [b1, b2, b @ ..]) if a1 == b2 && a2 == b1 && a == b => true,
        ([_, rest @ ..], other) | (other, [_, rest @ ..]) if rest == other => true,
        ([_, ..], [_, rest @ ..]) => a == rest,
        _ => false,
    }
}
