//! Counting: lines, words, files, matches, sizes.

use super::super::show::{self, Entry, bytes, code as quoted, counted, fenced};
use super::super::steps::Steps;
use super::super::understand::quoted as for_shell;
use super::super::wish::Place;
use super::look::kinds;
use super::{Reading, failed, whole};
use serde_json::json;

/// Lines, words and characters of a file.
pub(super) fn text(steps: &mut Steps, path: &str) -> Option<String> {
    Some(match whole(steps, path)? {
        Reading::Text(whole) => {
            let text = whole.text();
            if !whole.complete {
                return Some(format!(
                    "{} has {}: it is too long for me to read to its end. `run wc -l {}` counts them all.",
                    quoted(path),
                    whole.counted_lines(),
                    for_shell(path)
                ));
            }
            format!(
                "{} has {}, {} and {} ({}).",
                quoted(path),
                whole.counted_lines(),
                counted(text.split_whitespace().count(), "word"),
                counted(text.chars().count(), "character"),
                bytes(text.len() as u64)
            )
        }
        Reading::Empty => format!("{} is empty: 0 lines, 0 words.", quoted(path)),
        Reading::Picture(words) => format!("{words}. It is a picture and has no lines."),
        Reading::Failed(words) if words.contains("is a folder") => {
            return files(steps, &Place { path: path.to_owned(), glob: None });
        }
        Reading::Failed(words) => words,
    })
}

/// Folders that hold what is made, not what is written.
const NOT_SOURCE: &str =
    "\\( -name .git -o -name target -o -name node_modules -o -name .venv -o -name __pycache__ \\) -prune";

/// Lines of all files of a kind, counted by a command since no tool sees all of them at once.
pub(super) fn lines(steps: &mut Steps, place: &Place) -> Option<String> {
    let kinds = names_of(place.glob.as_deref());
    let command = format!("find {} {NOT_SOURCE} -o -type f{kinds} -exec cat {{}} + | wc -l", for_shell(&place.path));
    let told = steps.call("shell", json!({"command": command}))?;
    let count = told.text.lines().rev().find_map(|line| line.trim().parse::<u64>().ok());
    let what = match &place.glob {
        Some(glob) => format!("files matching {}", quoted(glob)),
        None => "all files (binary ones too)".to_owned(),
    };
    let place =
        if place.path == "." { "below this folder".to_owned() } else { format!("below {}", quoted(&place.path)) };
    Some(match count {
        Some(count) => format!(
            "{} {place} hold {count} lines in all, leaving out `.git`, `target`, `node_modules` and the like.",
            capital(&what)
        ),
        None => failed("count the lines of", &place, &told),
    })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// The names a pattern such as `**/*.{a,b}` stands for, as `find` wants them.
fn names_of(glob: Option<&str>) -> String {
    let Some(name) = glob.and_then(|glob| glob.rsplit('/').next()) else { return String::new() };
    match name.split_once('{').and_then(|(start, rest)| Some((start, rest.strip_suffix('}')?))) {
        Some((start, ends)) => {
            let names: Vec<String> =
                ends.split(',').map(|end| format!("-name {}", for_shell(&format!("{start}{end}")))).collect();
            format!(" \\( {} \\)", names.join(" -o "))
        }
        None => format!(" -name {}", for_shell(name)),
    }
}

/// Files, by kind.
pub(super) fn files(steps: &mut Steps, place: &Place) -> Option<String> {
    let pattern = place.glob.as_deref().unwrap_or("**/*");
    let told = steps.call("glob", json!({"pattern": pattern, "path": place.path}))?;
    let (names, more) = show::files(&told.text);
    if names.is_empty() || !told.is_done() {
        let none = told.is_done() && told.text.starts_with("no file below ");
        return Some(if none {
            format!("0 files: {}.", told.text.trim())
        } else {
            failed("count the files of", &place.path, &told)
        });
    }
    let here = if place.path == "." { "here".to_owned() } else { format!("in {}", quoted(&place.path)) };
    let at_least = if more { "more than " } else { "" };
    let mut words =
        format!("There are {at_least}{} {here}, leaving out what `.gitignore` hides", counted(names.len(), "file"));
    if let Some(glob) = &place.glob {
        words.push_str(&format!(" (matching {})", quoted(glob)));
    }
    words.push('.');
    if more {
        words.push_str(" That is where the tool stops; a part of the project can be counted whole.");
    }
    let kinds = kinds(&names);
    if kinds.len() > 1 {
        let width = kinds.iter().map(|(_, count)| count.to_string().len()).max().unwrap_or(1);
        let lines: Vec<String> =
            kinds.iter().take(25).map(|(kind, count)| format!("{count:>width$}  {kind}")).collect();
        words.push_str(&format!("\n\n{}", fenced("", &lines.join("\n"))));
    }
    Some(words)
}

/// How often a text occurs.
pub(super) fn matches(steps: &mut Steps, text: &str, place: &Place) -> Option<String> {
    let told = steps.call("grep", super::find::arguments(&regex::escape(text), place, false))?;
    let Some(hits) = told.done().and_then(show::hits) else { return Some(failed("count", text, &told)) };
    let times: usize = hits.lines.iter().map(|(_, _, line)| line.matches(text).count().max(1)).sum();
    let at_least = if hits.more { "at least " } else { "" };
    Some(format!(
        "{} occurs {at_least}{} in {} of {}{}.",
        quoted(text),
        counted(times, "time"),
        counted(hits.lines.len(), "line"),
        counted(hits.files, "file"),
        super::find::scope(place)
    ))
}

/// The largest files.
pub(super) fn largest(steps: &mut Steps, count: usize, path: &str) -> Option<String> {
    let told = steps.call("list", json!({"path": path, "depth": 30}))?;
    let (entries, notes) = show::entries(&told.text);
    let cut = notes.iter().any(|note| note.starts_with("more than ") || note.starts_with("… "));
    let mut files: Vec<(u64, String)> = entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::File(name, size) => Some((size, name)),
            Entry::Folder(_) | Entry::Link(_) => None,
        })
        .collect();
    let mut left_out = "what `.gitignore` hides";
    if cut {
        let command = format!(
            "find {} {NOT_SOURCE} -o -type f -exec wc -c {{}} + | grep -v ' total$' | sort -rn | head -n {count}",
            for_shell(path)
        );
        let told = steps.call("shell", json!({"command": command}))?;
        files = told
            .text
            .lines()
            .filter_map(|line| line.trim().split_once(' '))
            .filter_map(|(size, name)| Some((size.parse().ok()?, name.trim().to_owned())))
            .collect();
        if files.is_empty() {
            return Some(failed("find the largest files of", path, &told));
        }
        left_out = "`.git`, `target`, `node_modules` and the like";
    }
    if files.is_empty() {
        return Some(if told.text.contains(" is empty") {
            format!("{} is empty.", quoted(path))
        } else {
            failed("list", path, &told)
        });
    }
    files.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    files.truncate(count);
    let lines: Vec<String> = files.iter().map(|(size, name)| format!("{:>9}  {name}", bytes(*size))).collect();
    let place = if path == "." { "here".to_owned() } else { format!("in {}", quoted(path)) };
    Some(format!("The largest files {place}, leaving out {left_out}:\n\n{}", fenced("", &lines.join("\n"))))
}
