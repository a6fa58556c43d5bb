//! A tool call in one line: what it is about, without the JSON around it.

use super::text;
use serde_json::Value;

/// The arguments that say best what a call is about, most telling first. What is done comes before
/// what it is done with.
const TELLING: [&str; 14] = [
    "action",
    "command",
    "pattern",
    "query",
    "path",
    "url",
    "question",
    "objective",
    "doc",
    "section",
    "candidate",
    "name",
    "ids",
    "id",
];

/// How many of them are shown.
const SHOWN: usize = 3;

/// What a call is about, from its arguments; on one line, harmless to draw. Of a longer text that is
/// its first line: the rest is there when the call is opened.
pub fn gist(arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(arguments) else {
        return text::line(arguments);
    };
    let telling = TELLING.iter().filter_map(|name| fields.get(*name)).map(first_line);
    let mut words: Vec<String> = telling.filter(|words| !words.is_empty()).take(SHOWN).collect();
    if words.is_empty() {
        words.extend(fields.iter().map(|(name, value)| format!("{name}: {}", first_line(value))).take(SHOWN));
    }
    text::line(&words.join("  "))
}

/// The first line of a value that has words, and a sign that there are more.
fn first_line(value: &Value) -> String {
    let whole = match value {
        Value::Array(values) if values.iter().all(Value::is_string) => {
            values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        other => plain(other),
    };
    let mut lines = whole.lines().filter(|line| !line.trim().is_empty());
    match (lines.next(), lines.next()) {
        (Some(first), Some(_)) => format!("{} …", first.trim_end()),
        (first, _) => first.unwrap_or_default().trim_end().to_owned(),
    }
}

/// All arguments, a line for each; long texts stand below their name.
pub fn arguments(arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(arguments) else {
        return arguments.to_owned();
    };
    let mut lines = Vec::new();
    for (name, value) in &fields {
        let value = plain(value);
        if value.contains('\n') {
            lines.push(format!("{name}:"));
            lines.extend(value.lines().map(|line| format!("  {line}")));
        } else {
            lines.push(format!("{name}: {value}"));
        }
    }
    lines.join("\n")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_what_it_is_about() {
        assert_eq!(gist(r#"{"command":"cargo test\n--lib"}"#), "cargo test …");
        assert_eq!(gist(r##"{"action":"new","doc":"plan.md","text":"# Plan\n\n1."}"##), "new  plan.md");
        assert_eq!(gist(r#"{"action":"wait","ids":["a","b"]}"#), "wait  a, b");
        assert_eq!(gist(r##"{"text":"# Plan\n\n1."}"##), "text: # Plan …");
        assert_eq!(gist(r#"{"pattern":"trim_end","path":"src"}"#), "trim_end  src");
        assert_eq!(gist(r#"{"edits":[1,2]}"#), "edits: [1,2]");
        assert_eq!(gist("{}"), "");
        assert_eq!(gist(r#"{"path":"a"#), r#"{"path":"a"#);
    }

    #[test]
    fn arguments_are_read_without_json() {
        assert_eq!(arguments(r#"{"path":"a","text":"x\ny"}"#), "path: a\ntext:\n  x\n  y");
    }
}
