//! Changing files: new ones, more at the end, other words. What was there before is looked at
//! first, so that nothing is lost by a slip.

use super::super::show::{code as quoted, fenced};
use super::super::steps::{Steps, Told};
use super::{Reading, failed, whole};
use serde_json::json;

/// A new file, unless there is one of that name.
pub(super) fn create(steps: &mut Steps, path: &str, content: &str) -> Option<String> {
    let there = steps.call("read", json!({"path": path, "limit": 1}))?;
    let is_missing = there.text.contains("does not exist");
    let is_there = there.is_done();
    match (is_missing, is_there) {
        (true, _) => write(steps, path, content),
        (false, true) => Some(format!(
            "{} is there already, and I don't write over it unasked. Say `write {path}: …` to replace it, or \
             `append … to {path}`.",
            quoted(path)
        )),
        (false, false) => Some(failed("create", path, &there)),
    }
}

/// A file, whether it is there or not.
pub(super) fn write(steps: &mut Steps, path: &str, content: &str) -> Option<String> {
    let told = steps.call("write", json!({"path": path, "content": content}))?;
    Some(outcome("write", path, &told))
}

/// More at the end of a file: the text at its end is replaced by itself and more, so that all that
/// stands before stays byte for byte.
pub(super) fn append(steps: &mut Steps, path: &str, content: &str) -> Option<String> {
    let whole = match whole(steps, path)? {
        Reading::Text(whole) => whole,
        Reading::Empty => return write(steps, path, content),
        Reading::Picture(words) => return Some(format!("{words} is a picture; nothing can be appended to it.")),
        Reading::Failed(words) if words.contains("does not exist") => {
            let words = write(steps, path, content)?;
            return Some(format!("{words}\n\nThere was no such file, so it is new."));
        }
        Reading::Failed(words) => return Some(words),
    };
    let Some(tail) = unique_tail(&whole.lines).filter(|_| whole.complete) else {
        return Some(format!(
            "I can't append to {} safely: I found no text at its end that is there only once. Try a command, such as \
             `!echo … >> {path}`.",
            quoted(path)
        ));
    };
    let more = content.trim_end_matches('\n');
    let told = steps.call("edit", json!({"path": path, "edits": [{"old": tail, "new": format!("{tail}\n{more}")}]}))?;
    Some(outcome("append to", path, &told))
}

/// The fewest last lines that stand in a text but once.
fn unique_tail(lines: &[String]) -> Option<String> {
    let text = lines.join("\n");
    (1..=lines.len().min(200)).find_map(|count| {
        let tail = lines[lines.len() - count..].join("\n");
        let first = text.find(&tail)?;
        // Also at another place that overlaps.
        let again = text[first..].char_indices().nth(1).and_then(|(step, _)| text[first + step..].find(&tail));
        (!tail.trim().is_empty() && again.is_none()).then_some(tail)
    })
}

/// Other words in a file.
pub(super) fn replace(steps: &mut Steps, path: &str, old: &str, new: &str, all: bool) -> Option<String> {
    let mut edit = json!({"old": old, "new": new});
    if all {
        edit["all"] = json!(true);
    }
    let told = steps.call("edit", json!({"path": path, "edits": [edit]}))?;
    let several = told.text.contains("add text around it until it is unique");
    let hint = match several {
        true => format!("\n\nSay `replace all {old} with {new} in {path}` to change every one of them."),
        false => String::new(),
    };
    Some(format!("{}{hint}", outcome("change", path, &told)))
}

/// What became of a change: the tool's first line, and the difference below it.
fn outcome(deed: &str, path: &str, told: &Told) -> String {
    let (first, rest) = told.text.split_once('\n').unwrap_or((told.text.as_str(), ""));
    match (told.is_done(), rest.trim().is_empty()) {
        (false, _) => failed(deed, path, told),
        (true, true) => format!("Done: {}.", first.trim_end_matches('.')),
        (true, false) => format!("Done: {}.\n\n{}", first.trim_end_matches('.'), fenced("diff", rest.trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_long_enough_to_be_there_once() {
        let tail = |text: &str| unique_tail(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(tail("a\nb\nc"), Some("c".into()));
        assert_eq!(tail("}\nb\n}"), Some("b\n}".into()));
        assert_eq!(tail("x\n\n"), Some("x\n".into()));
        assert_eq!(tail("a\na"), Some("a\na".into()));
        assert_eq!(tail("aa"), Some("aa".into()));
        assert_eq!(tail("\n\n"), None);
    }
}
