//! What a model is told when its text is not there: which line comes closest, and the current text
//! around it.

use super::super::output;
use std::collections::BTreeMap;

/// How many lines are compared, and how much of each, in bytes.
const MOST_LINES: usize = 20_000;
const MOST_LINE: usize = 300;

/// How many lines are shown before and after the one that comes closest.
const AROUND: usize = 5;

/// A file up to this size is shown whole, in bytes.
const SMALL: usize = 2_000;

/// Says where the file comes closest to `old`, and what it reads there now.
pub(super) fn nearest(bytes: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_LINES * MOST_LINE)]);
    let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let (said, at) = closest(&lines, old);
    let shown =
        if text.len() <= SMALL { 0..lines.len() } else { at.saturating_sub(AROUND)..lines.len().min(at + AROUND + 1) };
    let shown: String = shown.map(|ix| format!("{}\t{}\n", ix + 1, output::short(lines[ix], MOST_LINE))).collect();
    if shown.is_empty() { format!("{said} The file is empty.") } else { format!("{said} It reads now:\n{shown}") }
}

/// The line that comes closest, by its index, and how.
fn closest(lines: &[&str], old: &str) -> (String, usize) {
    let wanted: Vec<&str> = old.lines().skip_while(|line| line.trim().is_empty()).collect();
    let Some(first) = wanted.first() else { return ("It is nothing but blanks.".into(), 0) };
    // Where the first line is there, what counts is where it stops being the same.
    let same = |ix: usize| lines[ix..].iter().zip(&wanted).take_while(|(line, wanted)| line == wanted).count();
    let whole = |ix: &usize| if wanted.len() == 1 { lines[*ix].trim() == first.trim() } else { lines[*ix] == *first };
    if let Some(ix) = (0..lines.len()).filter(whole).max_by_key(|ix| (same(*ix), std::cmp::Reverse(*ix))) {
        let at = ix + same(ix);
        let wanted = wanted.get(at - ix).copied().unwrap_or_default();
        let said = match lines.get(at) {
            Some(line) if line.trim() == wanted.trim() => format!("Line {} differs only in blanks.", at + 1),
            Some(_) => format!("Line {} is another than {}.", at + 1, quoted(wanted)),
            None => format!("It ends after line {} where `old` goes on with {}.", lines.len(), quoted(wanted)),
        };
        return (said, at.min(lines.len().saturating_sub(1)));
    }
    let score = |line: &str| likeness(line.trim(), first.trim());
    let best = lines
        .iter()
        .enumerate()
        .map(|(ix, line)| (score(line), ix))
        .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    match best {
        Some((score, ix)) if score > 0.4 => (format!("Nearest is line {}.", ix + 1), ix),
        Some(_) | None => ("No line is near it.".into(), 0),
    }
}

/// How much two lines have in common, from 0 to 1, by their pairs of bytes.
fn likeness(one: &str, other: &str) -> f64 {
    // Lines of very different length can't have much in common; most are passed over here.
    if one.len().max(other.len()) > 3 * one.len().min(other.len()) {
        return 0.0;
    }
    let pairs = |line: &str| {
        let bytes = &line.as_bytes()[..line.len().min(MOST_LINE)];
        bytes.windows(2).map(|pair| (pair[0], pair[1])).fold(BTreeMap::new(), |mut counts, pair| {
            *counts.entry(pair).or_insert(0_u32) += 1;
            counts
        })
    };
    let (one, other) = (pairs(one), pairs(other));
    let total: u32 = one.values().chain(other.values()).sum();
    let shared: u32 = one.iter().map(|(pair, count)| *count.min(other.get(pair).unwrap_or(&0))).sum();
    if total == 0 { 0.0 } else { f64::from(2 * shared) / f64::from(total) }
}

fn quoted(line: &str) -> String {
    format!("`{}`", output::short(line, MOST_LINE))
}
