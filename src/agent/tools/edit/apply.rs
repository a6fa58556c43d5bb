//! The replacing itself, on bytes and pure: what is not replaced stays as it is, whatever it is.
//!
//! A model sees lines and writes `\n`; a file may end its lines otherwise, or in several ways. So
//! where the exact text is not found, a line break of `old` matches any kind of line break, and
//! new lines get the kind that stands where they go.

use super::{Replacement, nearest};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;

/// How many matches are looked for; a text that is there more often is never meant to be unique.
const MOST_MATCHES: usize = 100_000;

/// Makes all replacements, one after the other, and counts the places.
pub(super) fn apply(before: &[u8], edits: &[Replacement]) -> Result<(Vec<u8>, usize), String> {
    let mut bytes = before.to_vec();
    let mut places = 0;
    for (ix, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 { String::new() } else { format!("edits[{ix}]: ") };
        places += apply_one(&mut bytes, edit).map_err(|wrong| format!("{which}{wrong}"))?;
    }
    Ok((bytes, places))
}

fn apply_one(bytes: &mut Vec<u8>, edit: &Replacement) -> Result<usize, String> {
    if edit.old.is_empty() {
        return Err("`old` is empty; give the text that is to be replaced, or use write".into());
    }
    if edit.old == edit.new {
        return Err("`old` and `new` are the same".into());
    }
    let matches = find(bytes, &edit.old)?;
    let chosen = match matches.as_slice() {
        [] => return Err(format!("`old` is not in it. {}", nearest::nearest(bytes, &edit.old))),
        [one] => vec![one.clone()],
        many if edit.all => without_overlaps(many),
        many => {
            let lines: Vec<String> = many.iter().take(5).map(|found| line_of(bytes, found.start).to_string()).collect();
            let more = if many.len() > 5 { ", …" } else { "" };
            return Err(format!(
                "`old` is in it {} times (lines {}{more}); add text around it until it is unique, or set `all`",
                many.len(),
                lines.join(", ")
            ));
        }
    };
    if std::str::from_utf8(bytes).is_err() {
        check_undecodable(bytes, &chosen, &edit.new)?;
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut copied = 0;
    for found in &chosen {
        out.extend_from_slice(&bytes[copied..found.start]);
        out.extend(weave(bytes, found, &edit.old, &edit.new));
        copied = found.end;
    }
    out.extend_from_slice(&bytes[copied..]);
    *bytes = out;
    Ok(chosen.len())
}

/// Finds a text exactly, or, where it is not there so, with any kind of line break.
fn find(bytes: &[u8], old: &str) -> Result<Vec<Range<usize>>, String> {
    let exact = matches(&compile(&regex::escape(old))?, bytes);
    if !exact.is_empty() || !old.contains('\n') {
        return Ok(exact);
    }
    let lines: Vec<String> =
        old.split('\n').map(|line| regex::escape(line.strip_suffix('\r').unwrap_or(line))).collect();
    Ok(matches(&compile(&lines.join(r"(?:\r\n|\n|\r)"))?, bytes))
}

fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).size_limit(1 << 28).build().map_err(|_| "`old` is too long to be looked for".to_owned())
}

/// Every match, also those that overlap: a text that matches twice is not unique.
fn matches(pattern: &Regex, bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(one) = pattern.find_at(bytes, from) {
        found.push(one.range());
        from = one.start() + 1;
        if found.len() == MOST_MATCHES {
            break;
        }
    }
    found
}

fn without_overlaps(matches: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut chosen: Vec<Range<usize>> = Vec::new();
    for found in matches {
        if chosen.last().is_none_or(|last| last.end <= found.start) {
            chosen.push(found.clone());
        }
    }
    chosen
}

/// Refuses what could break text in an encoding that isn't known.
fn check_undecodable(bytes: &[u8], chosen: &[Range<usize>], new: &str) -> Result<(), String> {
    if !new.is_ascii() {
        return Err("it is not UTF-8, so only ASCII can be put into it; convert it with iconv first".into());
    }
    // In some encodings the second byte of a character is an ASCII letter.
    match chosen.iter().find(|found| !ends_with_char(&bytes[..found.start])) {
        Some(found) => Err(format!(
            "in line {} `old` begins right after a byte that can't be decoded; begin it elsewhere, or convert the file",
            line_of(bytes, found.start)
        )),
        None => Ok(()),
    }
}

/// Whether bytes are empty or end with a whole character.
fn ends_with_char(bytes: &[u8]) -> bool {
    bytes.is_empty() || (1..=bytes.len().min(4)).any(|len| std::str::from_utf8(&bytes[bytes.len() - len..]).is_ok())
}

/// What takes the place of a match: lines that `old` and `new` begin or end with alike keep their
/// bytes, the others get the line ends that stand there.
fn weave(bytes: &[u8], found: &Range<usize>, old: &str, new: &str) -> Vec<u8> {
    // Whoever writes carriage returns means them.
    if !new.contains('\n') || new.contains('\r') {
        return new.as_bytes().to_vec();
    }
    let there = lines_of(&bytes[found.clone()]);
    let old = old.replace("\r\n", "\n");
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    if there.len() != old.len() {
        return new.concat().into_bytes();
    }
    let same_first = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let room = old.len().min(new.len()) - same_first;
    let same_last = old.iter().rev().zip(new.iter().rev()).take(room).take_while(|(old, new)| old == new).count();
    let replaced = &there[same_first..there.len() - same_last];
    let inserted = &new[same_first..new.len() - same_last];
    let end = end_near(bytes, found, &there, same_first);
    let mut out = there[..same_first].concat();
    for (ix, line) in inserted.iter().enumerate() {
        let Some(text) = line.strip_suffix('\n') else {
            out.extend_from_slice(line.as_bytes());
            continue;
        };
        out.extend_from_slice(text.as_bytes());
        let own = replaced.get(ix).filter(|_| replaced.len() == inserted.len()).map(|line| end_of(line));
        out.extend_from_slice(own.filter(|end| !end.is_empty()).unwrap_or(end));
    }
    out.extend(there[there.len() - same_last..].concat());
    out
}

/// The line end to use for lines that are put in: of the line before, of the match, of the line it
/// ends in, of the last line above.
fn end_near<'a>(bytes: &'a [u8], found: &Range<usize>, there: &[&'a [u8]], before: usize) -> &'a [u8] {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let last_before = before.checked_sub(1).and_then(|ix| there.get(ix)).map(|line| end_of(line));
    let within = there.iter().map(|line| end_of(line)).find(|end| !end.is_empty());
    let below = || {
        let rest = &bytes[found.end..];
        let at = rest.iter().position(is_end)?;
        Some(if rest[at..].starts_with(b"\r\n") { &rest[at..at + 2] } else { &rest[at..=at] })
    };
    let above = || {
        let at = bytes[..found.start].iter().rposition(is_end)?;
        Some(end_of(&bytes[..=at]))
    };
    last_before.or(within).or_else(below).or_else(above).unwrap_or(b"\n")
}

/// Splits into lines with their ends, of every kind.
fn lines_of(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = match &bytes[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        at += end.max(1);
        if end > 0 {
            lines.push(&bytes[start..at]);
            start = at;
        }
    }
    if start < bytes.len() {
        lines.push(&bytes[start..]);
    }
    lines
}

fn end_of(line: &[u8]) -> &[u8] {
    match line {
        [.., b'\r', b'\n'] => &line[line.len() - 2..],
        [.., b'\r' | b'\n'] => &line[line.len() - 1..],
        _ => &[],
    }
}

fn line_of(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}
