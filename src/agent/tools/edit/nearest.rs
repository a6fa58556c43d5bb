//! What a model is told when its text is not there: the line that comes closest.

use super::super::output;
use std::collections::BTreeMap;

/// How many lines are compared, and how much of each, in bytes.
const MOST_LINES: usize = 20_000;
const MOST_LINE: usize = 300;

/// Says where the file comes closest to `old`.
pub(super) fn nearest(bytes: &[u8], old: &str) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_LINES * MOST_LINE)]);
    let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let wanted: Vec<&str> = old.lines().skip_while(|line| line.trim().is_empty()).collect();
    let Some(first) = wanted.first() else { return "It is nothing but blanks".into() };
    // Where the first line is there, what counts is where it stops being the same.
    let same = |ix: usize| lines[ix..].iter().zip(&wanted).take_while(|(line, wanted)| line == wanted).count();
    let whole = |ix: &usize| if wanted.len() == 1 { lines[*ix].trim() == first.trim() } else { lines[*ix] == *first };
    if let Some(ix) = (0..lines.len()).filter(whole).max_by_key(|ix| (same(*ix), std::cmp::Reverse(*ix))) {
        let agreed = same(ix);
        let (line, wanted) = (lines.get(ix + agreed).copied(), wanted.get(agreed).copied().unwrap_or_default());
        return match line {
            Some(line) if line.trim() == wanted.trim() => {
                format!("Line {} differs only in blanks: {}", ix + agreed + 1, quoted(line))
            }
            Some(line) => format!("Line {} is {} where `old` has {}", ix + agreed + 1, quoted(line), quoted(wanted)),
            None => format!("It ends after line {} where `old` has {}", lines.len(), quoted(wanted)),
        };
    }
    let score = |line: &str| likeness(line.trim(), first.trim());
    let best = lines
        .iter()
        .enumerate()
        .map(|(ix, line)| (score(line), ix))
        .max_by(|one, other| one.0.total_cmp(&other.0).then(other.1.cmp(&one.1)));
    match best {
        Some((score, ix)) if score > 0.4 => format!("Nearest is line {}: {}", ix + 1, quoted(lines[ix])),
        Some(_) | None => format!("No line is near it. The file now begins:\n{}", beginning(&lines)),
    }
}

/// The first lines of a file, at most twenty and at most 1,500 bytes of them.
fn beginning(lines: &[&str]) -> String {
    let mut shown = String::new();
    for line in lines.iter().take(20) {
        if shown.len() + line.len() > 1_500 {
            break;
        }
        shown.push_str(line);
        shown.push('\n');
    }
    shown
}

/// How much two lines have in common, from 0 to 1, by their pairs of bytes.
fn likeness(one: &str, other: &str) -> f64 {
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
