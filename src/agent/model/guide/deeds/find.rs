//! Finding: text in files, files by name, unfinished work.

use super::super::show::{self, Hits, code as quoted, counted, fenced, first_lines};
use super::super::steps::Steps;
use super::super::wish::Place;
use super::failed;
use serde_json::{Value, json};

/// The most lines an answer shows.
const MOST_SHOWN: usize = 60;

/// The arguments of a search.
pub(super) fn arguments(pattern: &str, place: &Place, ignore_case: bool) -> Value {
    let mut arguments = json!({"pattern": pattern, "path": place.path});
    if let Some(glob) = &place.glob {
        arguments["glob"] = json!(glob);
    }
    if ignore_case {
        arguments["ignore_case"] = json!(true);
    }
    arguments
}

/// Where was looked, in words.
pub(super) fn scope(place: &Place) -> String {
    let folder = if place.path == "." { String::new() } else { format!(" in {}", quoted(&place.path)) };
    let kind = place.glob.as_ref().map(|glob| format!(" (only {})", quoted(glob))).unwrap_or_default();
    format!("{folder}{kind}")
}

/// Text in files: first as it was written, then, if there is none, in any case.
pub(super) fn search(steps: &mut Steps, text: &str, regex: bool, place: &Place) -> Option<String> {
    let pattern = if regex { text.to_owned() } else { regex::escape(text) };
    let told = steps.call("grep", arguments(&pattern, place, false))?;
    let Some(hits) = told.done().and_then(show::hits) else { return Some(failed("search", &place.path, &told)) };
    if !hits.lines.is_empty() {
        return Some(format!("{} is {}:\n\n{}", quoted(text), extent(&hits, place), listed(&hits)));
    }
    let any_case = steps.call("grep", arguments(&pattern, place, true))?;
    Some(match any_case.done().and_then(show::hits).filter(|hits| !hits.lines.is_empty()) {
        Some(hits) => format!(
            "{} is not there as written, but in other case it is {}:\n\n{}",
            quoted(text),
            extent(&hits, place),
            listed(&hits)
        ),
        None => format!("Nothing{} holds {}, in whatever case ({}).", scope(place), quoted(text), searched(&told.text)),
    })
}

/// "12 files searched", out of the tool's words.
fn searched(text: &str) -> &str {
    text.rsplit_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("nothing was found", |(words, _)| words)
}

fn extent(hits: &Hits, place: &Place) -> String {
    let at_least = if hits.more { "at least " } else { "" };
    format!("in {at_least}{} of {}{}", counted(hits.lines.len(), "line"), counted(hits.files, "file"), scope(place))
}

/// Hits, one a line.
fn listed(hits: &Hits) -> String {
    let lines: Vec<String> =
        hits.lines.iter().map(|(file, number, line)| format!("{file}:{number}: {}", line.trim())).collect();
    fenced("", &first_lines(&lines.join("\n"), MOST_SHOWN))
}

/// Files by their name.
pub(super) fn by_name(steps: &mut Steps, pattern: &str) -> Option<String> {
    let told = steps.call("glob", json!({"pattern": pattern}))?;
    let (files, more) = show::files(&told.text);
    if told.is_done() && told.text.starts_with("no file below ") {
        return Some(format!("No file matches {}. What `.gitignore` hides is left out.", quoted(pattern)));
    }
    // An error is no name of a file.
    if files.is_empty() || !told.is_done() {
        return Some(failed("find", pattern, &told));
    }
    let more = if more { "more than " } else { "" };
    let verb = if files.len() == 1 { "matches" } else { "match" };
    Some(format!(
        "{more}{} {verb} {}:\n\n{}",
        counted(files.len(), "file"),
        quoted(pattern),
        fenced("", &first_lines(&files.join("\n"), MOST_SHOWN))
    ))
}

/// Marks of unfinished work.
pub(super) fn todos(steps: &mut Steps, place: &Place) -> Option<String> {
    let told = steps.call("grep", arguments(r"\b(TODO|FIXME|XXX|HACK)\b", place, false))?;
    let Some(hits) = told.done().and_then(show::hits) else { return Some(failed("search", &place.path, &told)) };
    if hits.lines.is_empty() {
        return Some(format!("There is no TODO, FIXME, XXX or HACK{} ({}).", scope(place), searched(&told.text)));
    }
    Some(format!("Marks of unfinished work {}:\n\n{}", extent(&hits, place), listed(&hits)))
}
