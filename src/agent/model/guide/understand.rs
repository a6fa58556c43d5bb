//! From a person's words to wishes: a table of shapes, forgiving in wording.
//!
//! Words are taken apart at "then", at line breaks of a list and, where that makes sense, at "and".
//! Each piece is held against the table of [`shapes`]; the first shape that fits is meant. Quotes
//! and backticks keep what is in them together.

mod shapes;
mod spelling;
mod words;

pub(super) use shapes::quoted;

use super::pattern::pattern;
use super::wish::Wish;
use regex::Regex;
use std::sync::LazyLock;

/// What earlier words left to refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Before {
    /// The file or folder named last.
    pub(super) path: Option<String>,
    /// Where the last reading stopped.
    pub(super) next_lines: Option<(String, u64)>,
}

/// Reads the wishes of one message, in order.
pub(super) fn wishes(text: &str, before: &mut Before) -> Vec<Wish> {
    let (text, attached) = split_attached(text);
    if let Some(notice) = notice(text) {
        return vec![notice];
    }
    if let Some(path) = attached {
        before.path = Some(path);
    }
    let text = text.trim();
    if text.is_empty() {
        // A file alone was given: tell of it.
        return before.path.iter().map(|path| Wish::Describe { path: path.clone() }).collect();
    }
    if let Some(wishes) = list(text, before) {
        return wishes;
    }
    match pieces(text, before) {
        wishes if wishes.is_empty() => vec![shapes::unknown(text)],
        wishes => wishes,
    }
}

/// Takes off what the runtime adds for attached files, and gives the first of them.
fn split_attached(text: &str) -> (&str, Option<String>) {
    match text.rsplit_once("\n\nAttached: ") {
        Some((text, files)) => (text, files.split(", ").next().map(str::to_owned)),
        None => (text, None),
    }
}

/// Recognises what the runtime tells, such as `[notice from system]`.
fn notice(text: &str) -> Option<Wish> {
    static HEAD: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\[[a-z_]+ from [a-z]+\]\n"));
    let head = HEAD.find(text)?;
    if head.as_str().starts_with("[job ") {
        return Some(Wish::JobNews { text: text[head.end()..].trim().to_owned() });
    }
    Some(Wish::Notice { text: text[head.end()..].trim().to_owned() })
}

/// Reads a list of wishes, one a line, if every line is one.
fn list(text: &str, before: &mut Before) -> Option<Vec<Wish>> {
    let lines: Vec<&str> = text.lines().map(words::without_bullet).filter(|line| !line.is_empty()).collect();
    if lines.len() < 2 {
        return None;
    }
    let mut trial = before.clone();
    let mut wishes = Vec::new();
    for line in lines {
        let of_line = pieces(line, &mut trial);
        if of_line.is_empty() {
            return None;
        }
        wishes.extend(of_line);
    }
    *before = trial;
    Some(wishes)
}

/// Reads one or several wishes; empty where there is none.
fn pieces(text: &str, before: &mut Before) -> Vec<Wish> {
    for halves in words::cuts(text, words::Cut::Then) {
        if let Some(both) = both(halves, before, is_sure) {
            return both;
        }
    }
    let mut trial = before.clone();
    let whole = shapes::read(text, &mut trial);
    // "run a and show b": what is swallowed by a command or a search may be a wish of its own.
    let greedy = matches!(whole, None | Some(Wish::Run { .. } | Wish::Search { .. } | Wish::Ask { .. }));
    if greedy {
        for halves in words::cuts(text, words::Cut::And) {
            if let Some(both) = both(halves, before, |wish| whole.is_none() || is_sure(wish)) {
                return both;
            }
        }
    }
    *before = trial;
    whole.into_iter().collect()
}

/// Reads both sides of a cut, if both are wishes and the right one counts.
fn both(halves: words::Halves, before: &mut Before, counts: impl Fn(&Wish) -> bool) -> Option<Vec<Wish>> {
    let mut trial = before.clone();
    let mut wishes = vec![shapes::read(halves.left, &mut trial)?];
    let rest = pieces(halves.right, &mut trial);
    if !rest.first().is_some_and(counts) {
        return None;
    }
    // To a shell, a semicolon is a part of the command.
    if halves.joint == ";" && matches!(wishes[0], Wish::Run { .. }) {
        return None;
    }
    wishes.extend(rest);
    *before = trial;
    Some(wishes)
}

/// Whether a wish is more than a chance likeness: ordinary words after "then" may be content.
fn is_sure(wish: &Wish) -> bool {
    let is_path = |path: &str| path == "." || path.contains(['.', '/']);
    match wish {
        Wish::Read { path, .. } | Wish::List { path } | Wish::Outline { path } | Wish::Describe { path } => {
            is_path(path)
        }
        Wish::Greeting | Wish::Thanks | Wish::Stop | Wish::Nothing | Wish::TooLong => false,
        Wish::Unknown { .. } | Wish::Notice { .. } | Wish::JobNews { .. } => false,
        Wish::Overview
        | Wish::Count(_)
        | Wish::Search { .. }
        | Wish::Find { .. }
        | Wish::Compare { .. }
        | Wish::Todos { .. }
        | Wish::Largest { .. }
        | Wish::Run { .. }
        | Wish::Project(_)
        | Wish::Job(_)
        | Wish::Create { .. }
        | Wish::Write { .. }
        | Wish::Append { .. }
        | Wish::Replace { .. }
        | Wish::Fetch { .. }
        | Wish::Ask { .. }
        | Wish::Help
        | Wish::Connect
        | Wish::Who
        | Wish::Where => true,
    }
}

#[cfg(test)]
mod tests;
