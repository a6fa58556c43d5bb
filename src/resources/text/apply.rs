//! Applying an operation to a text: which bytes are replaced, and what to tell of it.
//!
//! Every operation becomes replaced ranges of bytes, so what it does not touch stays byte for byte
//! as it was. A text without a final line end keeps having none when lines are put at its end.

use super::PART;
use super::anchor::{Anchor, Ground, Spot, line_hash};
use super::decode::{BOM, ending_at, with_endings};
use super::operation::{Destination, Extent, Operation};
use super::outline::{Section, title_at};
use super::syntax::Syntax;
use super::words;
use crate::resources::adapter::{Feedback, Place};
use crate::resources::delta::{Edit, Patch};
use crate::resources::diff::cut;
use crate::resources::lines;
use crate::resources::refusal::Refusal;
use serde_json::json;
use std::ops::Range;

/// How many places and entries of the outline feedback names.
const NAMED: usize = 12;

/// What an operation replaces, and a line that says so.
pub struct Change {
    /// The replaced ranges.
    pub patch: Patch,
    /// One line for the history.
    pub summary: String,
}

/// Works out what an operation replaces.
pub fn change(ground: &Ground<'_>, syntax: Syntax, operation: &Operation) -> Result<Change, Refusal> {
    let (edits, summary) = match operation {
        Operation::InsertBefore { at, text } => {
            let spot = ground.find(at)?;
            let place = spot.bytes.start;
            (vec![insert(ground, syntax, &spot, place, text)], format!("Insert before {}", named(ground, at)))
        }
        Operation::InsertAfter { at, text } => {
            let spot = ground.find(at)?;
            let place = spot.bytes.end;
            (vec![insert(ground, syntax, &spot, place, text)], format!("Insert after {}", named(ground, at)))
        }
        Operation::Replace { at, text } => {
            let spot = ground.find(at)?;
            let new = if spot.whole_lines {
                whole_lines(ground.text, spot.bytes.clone(), text)
            } else {
                with_endings(text, ending_at(ground.text, spot.bytes.start))
            };
            (vec![edit(spot.bytes, new)], format!("Replace {}", named(ground, at)))
        }
        Operation::Delete { at } => {
            let spot = ground.find(at)?;
            (vec![edit(spot.bytes, String::new())], format!("Delete {}", named(ground, at)))
        }
        Operation::ReplaceEach { find, text, count } => {
            let new = |place: &Range<usize>| with_endings(text, ending_at(ground.text, place.start));
            if find.is_empty() {
                return Err(Refusal::Invalid { what: "the text to look for can't be empty".into() });
            }
            let places = ground.occurrences(find, usize::MAX);
            if places.len() != *count {
                let what = format!("{:?} stands there {} times, not {count}", cut(find, 80), places.len());
                return Err(Refusal::Invalid { what });
            }
            let edits = places.into_iter().map(|place| edit(place.clone(), new(&place))).collect();
            (edits, format!("Replace {:?} by {:?} {count} times", cut(find, 40), cut(text, 40)))
        }
        Operation::Append { text, path } if path.is_empty() => {
            let end = ground.text.len();
            let spot = Spot { bytes: end..end, whole_lines: true, section: None };
            (vec![insert(ground, syntax, &spot, end, text)], "Append to the document".into())
        }
        Operation::Append { text, path } => {
            let number = ground.section(path)?;
            let section = &ground.sections()[number];
            let end = last_text(ground, &section.own);
            let spot = Spot { bytes: end..end, whole_lines: true, section: None };
            let mut edit = insert(ground, syntax, &spot, end, text);
            // The first words right under a heading get a line between.
            if syntax == Syntax::Markdown && end == ground.index.bytes(section.head.clone()).end {
                edit = separated(ground, end, text);
            }
            (vec![edit], format!("Append to {}", section.title()))
        }
        Operation::SetBody { path, text, extent } => set_body(ground, syntax, path, text, *extent)?,
        Operation::MoveSection { path, to } => move_section(ground, syntax, path, to)?,
        Operation::SetText { text } => {
            super::decode::decode(text.as_bytes())?;
            let patch = crate::resources::diff::patch_between(ground.text, text);
            return sound(ground, Change { patch, summary: "Rewrite the text".into() });
        }
        Operation::Patch { edits } => {
            let edits: Vec<Edit> = edits.iter().cloned().map(Edit::from).collect();
            let places = edits.len();
            let patch = Patch::of_edits(edits)
                .ok_or_else(|| Refusal::Invalid { what: "the ranges must be in order and apart".into() })?;
            let summary = if places == 1 { "Edit one place".into() } else { format!("Edit {places} places") };
            return sound(ground, Change { patch, summary });
        }
    };
    let patch = Patch::of_edits(edits).ok_or_else(|| Refusal::Invalid { what: "the places overlap".into() })?;
    sound(ground, Change { patch, summary })
}

/// Refuses a change that does not fit or changes nothing.
fn sound(ground: &Ground<'_>, change: Change) -> Result<Change, Refusal> {
    let mut changes = false;
    for edit in change.patch.edits() {
        let Some(old) = ground.text.get(edit.at..edit.at.saturating_add(edit.delete)) else {
            return Err(Refusal::Invalid {
                what: format!("byte {} with {} more is not a range of characters of the text", edit.at, edit.delete),
            });
        };
        if edit.insert.contains('\0') {
            return Err(Refusal::NotText { why: "the new text holds NUL".into() });
        }
        changes |= old != edit.insert;
    }
    if changes {
        return Ok(change);
    }
    Err(Refusal::Unchanged { why: "the text already is what it would become".into() })
}

fn edit(range: Range<usize>, insert: String) -> Edit {
    Edit { at: range.start, delete: range.len(), insert }
}

/// Text put at a byte beside an anchor.
fn insert(ground: &Ground<'_>, syntax: Syntax, spot: &Spot, at: usize, text: &str) -> Edit {
    if !spot.whole_lines {
        return edit(at..at, with_endings(text, ending_at(ground.text, at)));
    }
    if syntax == Syntax::Markdown && spot.section.is_some() {
        return separated(ground, at, text);
    }
    edit(at..at, whole_lines(ground.text, at..at, text))
}

/// Text as whole lines that take the place of a range of whole lines.
fn whole_lines(old: &str, range: Range<usize>, text: &str) -> String {
    let ending = ending_at(old, range.start);
    let mut new = with_endings(text, ending);
    if new.is_empty() {
        return new;
    }
    if !new.ends_with('\n') {
        new.push_str(ending);
    }
    // At the end of a text without a final line end there stays none.
    if range.end == old.len() && !old.is_empty() && !old.ends_with('\n') {
        new.truncate(new.len() - ending.len());
        if range.is_empty() {
            new.insert_str(0, ending);
        }
    }
    new
}

/// Text as lines with an empty line before and after, as Markdown wants between blocks.
fn separated(ground: &Ground<'_>, at: usize, text: &str) -> Edit {
    let (before, after) = (ground.text[..at].trim_start_matches(BOM), &ground.text[at..]);
    let ending = ending_at(ground.text, at);
    let mut new = whole_lines(ground.text, at..at, text);
    if after.is_empty() {
        // No empty lines at the end of the document.
        let open = !before.is_empty() && !before.ends_with('\n');
        new.truncate(new.trim_end_matches(['\r', '\n']).len());
        if !open && !new.is_empty() {
            new.push_str(ending);
        }
    }
    let blank_before =
        before.is_empty() || before.ends_with("\n\n") || before.ends_with("\n\r\n") || starts_blank(&new);
    if !blank_before && !new.is_empty() {
        new.insert_str(0, ending);
    }
    if !after.is_empty() && !starts_blank(after) && !new.is_empty() && !ends_blank(&new) {
        new.push_str(ending);
    }
    edit(at..at, new)
}

fn starts_blank(text: &str) -> bool {
    text.starts_with('\n') || text.starts_with("\r\n")
}

fn ends_blank(text: &str) -> bool {
    text.ends_with("\n\n") || text.ends_with("\n\r\n")
}

/// The end of the last line of a range that is not blank; the start of the range where all are.
fn last_text(ground: &Ground<'_>, lines: &Range<usize>) -> usize {
    let blank = |line: usize| ground.text[ground.index.bytes(line..line + 1)].trim().is_empty();
    let end = lines.clone().rev().find(|line| !blank(*line)).map_or(lines.start, |line| line + 1);
    ground.index.bytes(end..end).start
}

fn heading_only(syntax: Syntax, what: &str) -> Result<(), Refusal> {
    if syntax == Syntax::Markdown {
        return Ok(());
    }
    Err(Refusal::Invalid { what: format!("{what} is for headings of Markdown; here replace the item or its lines") })
}

fn set_body(
    ground: &Ground<'_>,
    syntax: Syntax,
    path: &[String],
    text: &str,
    extent: Extent,
) -> Result<(Vec<Edit>, String), Refusal> {
    heading_only(syntax, "set_body")?;
    let section = &ground.sections()[ground.section(path)?];
    let range = match extent {
        Extent::Own => section.own.clone(),
        Extent::Whole => section.head.end..section.lines.end,
    };
    let bytes = ground.index.bytes(range);
    let head = &ground.text[ground.index.bytes(section.head.clone())];
    // A model that repeats the heading means the one that is there.
    let plain = with_endings(text, "\n");
    let repeated = with_endings(head, "\n");
    let body = plain
        .trim_start_matches('\n')
        .strip_prefix(repeated.trim_end())
        .filter(|rest| rest.is_empty() || rest.starts_with('\n'));
    let body = body.unwrap_or(&plain).trim_matches('\n');
    let at_end = bytes.end == ground.text.len();
    let open_end = at_end && !ground.text.ends_with('\n');
    let ending = ending_at(ground.text, bytes.start);
    let mut new = String::new();
    if !head.ends_with('\n') {
        new.push_str(ending);
    }
    new.push_str(ending);
    if !body.is_empty() {
        new.push_str(&with_endings(body, ending));
        new.push_str(ending);
        new.push_str(ending);
    }
    if at_end {
        // No empty line at the end of the document, and a final line end only where there was one.
        let keep = new.trim_end_matches(['\r', '\n']).len();
        new.truncate(keep);
        if !open_end && !new.is_empty() {
            new.push_str(ending);
        }
    }
    Ok((vec![edit(bytes, new)], format!("Set the text under {}", section.title())))
}

fn move_section(
    ground: &Ground<'_>,
    syntax: Syntax,
    path: &[String],
    to: &Destination,
) -> Result<(Vec<Edit>, String), Refusal> {
    let number = ground.section(path)?;
    let section = &ground.sections()[number];
    let (other, at_line, level) = match to {
        Destination::Before { path } => {
            let other = ground.section(path)?;
            (other, ground.sections()[other].lines.start, ground.sections()[other].level)
        }
        Destination::After { path } => {
            let other = ground.section(path)?;
            (other, ground.sections()[other].lines.end, ground.sections()[other].level)
        }
        Destination::Into { path } => {
            heading_only(syntax, "moving a section into another")?;
            let other = ground.section(path)?;
            (other, ground.sections()[other].lines.end, ground.sections()[other].level + 1)
        }
    };
    if section.lines.contains(&ground.sections()[other].lines.start) && number <= other {
        return Err(Refusal::Invalid { what: "a section can't be moved to itself or into itself".into() });
    }
    let from = past_mark(ground, ground.index.bytes(section.lines.clone()));
    let mut moved = ground.text[from.clone()].to_owned();
    if syntax == Syntax::Markdown {
        moved = relevelled(ground, section, level)?;
    } else if section.level != level {
        return Err(Refusal::Invalid { what: "the item stands at another depth there; move its lines by hand".into() });
    }
    let summary = format!("Move {} {}", section.title(), describe(ground, to, other));
    let at = past_mark(ground, ground.index.bytes(at_line..at_line)).start;
    if at == from.start || at == from.end {
        // It stays where it is; only its level may change.
        return Ok((vec![edit(from, moved)], summary));
    }
    let mut put = match syntax {
        Syntax::Markdown => separated(ground, at, &moved),
        _ => edit(at..at, whole_lines(ground.text, at..at, &moved)),
    };
    let mut gone = edit(from.clone(), String::new());
    let ending = ending_at(ground.text, from.start);
    if from.end == ground.text.len() && at < from.start {
        // The last section takes its open end along; the one before it then ends the text.
        let trimmed = ground.text[..from.start].trim_end_matches(['\r', '\n']).len();
        let open_end = !ground.text.ends_with('\n');
        let keep = if open_end { trimmed } else { trimmed + ending.len().min(from.start - trimmed) };
        let start = keep.max(at);
        gone = edit(start..from.end, String::new());
        if !put.insert.ends_with('\n') {
            put.insert.push_str(ending);
        }
    }
    let mut edits = vec![gone, put];
    edits.sort_by_key(|edit| edit.at);
    Ok((edits, summary))
}

/// A byte order mark belongs to the text, not to its first section: it stays where it is.
fn past_mark(ground: &Ground<'_>, bytes: Range<usize>) -> Range<usize> {
    let first = ground.text.len() - ground.text.strip_prefix(BOM).unwrap_or(ground.text).len();
    bytes.start.max(first)..bytes.end.max(first)
}

fn describe(ground: &Ground<'_>, to: &Destination, other: usize) -> String {
    let word = match to {
        Destination::Before { .. } => "before",
        Destination::After { .. } => "after",
        Destination::Into { .. } => "into",
    };
    format!("{word} {}", ground.sections()[other].title())
}

/// A section with its heading made `level`, and those under it as much deeper or higher.
fn relevelled(ground: &Ground<'_>, section: &Section, level: usize) -> Result<String, Refusal> {
    let shift = level as isize - section.level as isize;
    let bytes = past_mark(ground, ground.index.bytes(section.lines.clone()));
    if shift == 0 {
        return Ok(ground.text[bytes].to_owned());
    }
    let mut out = String::new();
    let mut at = bytes.start;
    let inside = |inner: &&Section| section.lines.start <= inner.lines.start && inner.lines.end <= section.lines.end;
    for inner in ground.sections().iter().filter(inside) {
        let new = inner.level.saturating_add_signed(shift);
        if !(1..=6).contains(&new) {
            let what = format!("{} would become a heading of level {new}; there are six", inner.title());
            return Err(Refusal::Invalid { what });
        }
        let head = past_mark(ground, ground.index.bytes(inner.head.clone()));
        out.push_str(&ground.text[at..head.start]);
        out.push_str(&heading(&ground.text[head.clone()], new));
        at = head.end;
    }
    out.push_str(&ground.text[at..bytes.end]);
    Ok(out)
}

/// The lines of a heading at another level.
fn heading(lines: &str, level: usize) -> String {
    let marks = "#".repeat(level);
    let first = lines.trim_start_matches(' ');
    if let Some(rest) = first.starts_with('#').then(|| first.trim_start_matches('#')) {
        let indent = &lines[..lines.len() - first.len()];
        return format!("{indent}{marks}{rest}");
    }
    // A heading with a line under it is written with marks instead.
    let mut parts = lines::lines(lines);
    parts.pop();
    let ending = if lines.contains("\r\n") { "\r\n" } else { "\n" };
    let title: Vec<&str> = parts.iter().map(|line| line.trim()).collect();
    format!("{marks} {}{ending}", title.join(" "))
}

fn named(ground: &Ground<'_>, anchor: &Anchor) -> String {
    match anchor {
        Anchor::Section { path } => {
            ground.section(path).map_or_else(|_| path.join(" › "), |number| ground.sections()[number].title())
        }
        Anchor::Quote { text, .. } => format!("{:?}", cut(text.lines().next().unwrap_or(""), 60)),
        Anchor::Lines { from, to, .. } if from == to => format!("line {from}"),
        Anchor::Lines { from, to, .. } => format!("lines {from}-{to}"),
        Anchor::All => "the whole text".into(),
    }
}

/// What is told of a change: where it is now, the outline around it, the change in words.
///
/// An editor that saves ranges of bytes knows what it changed: it is told the lines alone, which
/// spares it the structure of a large text.
pub fn feedback(old: &Ground<'_>, new: &Ground<'_>, operation: &Operation, change: &Change) -> Feedback {
    let hunks = lines::hunks(old.text, new.text);
    let words_of =
        |ground: &Ground<'_>, lines: Range<usize>| words::count(&ground.text[ground.index.bytes(lines)]) as i64;
    let delta: i64 = hunks.iter().map(|hunk| words_of(new, hunk.new.clone()) - words_of(old, hunk.old.clone())).sum();
    let (added, removed): (usize, usize) =
        hunks.iter().fold((0, 0), |(a, r), hunk| (a + hunk.new.len(), r + hunk.old.len()));
    let touched = |section: &&Section| {
        hunks.iter().any(|hunk| {
            section.lines.start < hunk.new.end.max(hunk.new.start + 1) && hunk.new.start < section.lines.end
        })
    };
    let sections = if matches!(operation, Operation::Patch { .. }) { &[] } else { new.sections() };
    let place = |lines: Range<usize>| Place {
        part: PART.into(),
        unit: title_at(sections, lines.start),
        hash: if lines.is_empty() { String::new() } else { line_hash(&new.text[new.index.bytes(lines.clone())]) },
        lines: Some((lines.start + 1, lines.end)),
    };
    let mut figures = serde_json::Map::new();
    figures.insert("words_delta".into(), json!(delta));
    let more = if hunks.len() > NAMED { format!(", {} places", hunks.len()) } else { String::new() };
    Feedback {
        what: format!("{}: +{added} -{removed} lines{more}", change.summary),
        places: hunks.iter().take(NAMED).map(|hunk| place(hunk.new.clone())).collect(),
        outline: sections.iter().filter(touched).take(NAMED).map(Section::node).collect(),
        figures,
        findings: Vec::new(),
    }
}
