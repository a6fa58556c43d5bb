//! A tool call in one line: what it is about, without the JSON around it.

use super::text;
use serde_json::Value;

/// The arguments that say best what a call is about, most telling first.
const TELLING: [&str; 8] = ["command", "pattern", "query", "path", "url", "question", "objective", "id"];

/// What a call is about, from its arguments; on one line, harmless to draw.
pub fn gist(arguments: &str) -> String {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(arguments) else {
        return text::line(arguments);
    };
    let mut words = Vec::new();
    for name in TELLING {
        if let Some(value) = fields.get(name) {
            words.push(plain(value));
            if words.len() == 2 {
                break;
            }
        }
    }
    if words.is_empty() {
        words.extend(fields.iter().map(|(name, value)| format!("{name}: {}", plain(value))).take(3));
    }
    text::line(&words.join("  "))
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
        assert_eq!(gist(r#"{"command":"cargo test\n--lib"}"#), "cargo test↵--lib");
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
