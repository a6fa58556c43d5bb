//! Calls that a small local model wrote into its words instead of calling: a fenced block of JSON,
//! `<tool_call>…</tool_call>`, or an object that is all it said.
//!
//! A block is a call only where it ends the answer, names a tool that was offered, and its arguments
//! validate; anything else stays what it is, words.

use crate::agent::tools::{ToolSpec, arguments};
use serde_json::Value;

/// The languages a fence of a call may name.
const LANGUAGES: [&str; 5] = ["", "json", "tool_call", "tool", "tool_code"];

/// Finds the calls at the end of an answer: where the words before them end, name and arguments of
/// each.
pub(super) fn calls(text: &str, tools: &[ToolSpec]) -> Option<(usize, Vec<(String, String)>)> {
    let mut rest = text.trim_end();
    let mut calls = Vec::new();
    while let Some((before, block)) = last_block(rest) {
        let Some(mut found) = read(block, tools) else { break };
        found.append(&mut calls);
        calls = found;
        rest = before.trim_end();
    }
    (!calls.is_empty()).then_some((rest.len(), calls))
}

/// The block a text ends with, and what stands before it.
fn last_block(text: &str) -> Option<(&str, &str)> {
    if let Some(inner) = text.strip_suffix("```") {
        let (before, block) = inner.rsplit_once("```")?;
        let (language, block) = block.split_once('\n')?;
        return LANGUAGES.contains(&language.trim()).then_some((before, block));
    }
    if let Some(inner) = text.strip_suffix("</tool_call>") {
        return inner.rsplit_once("<tool_call>");
    }
    // An object that is all there is.
    let text = text.trim_start();
    (text.starts_with('{') && text.ends_with('}')).then_some(("", text))
}

/// Reads one call or a list of them.
fn read(block: &str, tools: &[ToolSpec]) -> Option<Vec<(String, String)>> {
    match serde_json::from_str(block.trim()).ok()? {
        Value::Array(all) if !all.is_empty() => all.iter().map(|call| one(call, tools)).collect(),
        call => Some(vec![one(&call, tools)?]),
    }
}

fn one(call: &Value, tools: &[ToolSpec]) -> Option<(String, String)> {
    let call = if call["function"].is_object() { &call["function"] } else { call };
    let first = |names: [&str; 4]| names.into_iter().map(|name| &call[name]).find(|value| !value.is_null());
    let name = first(["name", "tool", "function", "tool_name"])?.as_str()?;
    let text = match first(["arguments", "parameters", "args", "input"])? {
        Value::String(text) => text.clone(),
        object => object.to_string(),
    };
    let tool = tools.iter().find(|tool| tool.name == name)?;
    arguments::parse(&text, tool).ok()?;
    Some((name.to_owned(), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools;

    fn found(text: &str) -> Option<(&str, Vec<(String, String)>)> {
        let specs: Vec<ToolSpec> = tools::all().iter().map(|tool| tool.spec().clone()).collect();
        calls(text, &specs).map(|(end, calls)| (&text[..end], calls))
    }

    fn read(path: &str) -> (String, String) {
        ("read".into(), format!("{{\"path\":\"{path}\"}}"))
    }

    #[test]
    fn a_block_that_names_a_tool_and_validates_is_a_call() {
        for text in [
            "Let me look.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```\n",
            "Let me look.\n```\n{\"tool\": \"read\", \"parameters\": {\"path\": \"a\"}}\n```",
            "Let me look.\n<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>",
            "Let me look.\n```json\n{\"function\": {\"name\": \"read\", \"arguments\": \"{\\\"path\\\":\\\"a\\\"}\"}}\n```",
            "Let me look.\n```json\n[{\"name\": \"read\", \"args\": {\"path\": \"a\"}}]\n```",
        ] {
            assert_eq!(found(text), Some(("Let me look.", vec![read("a")])), "{text}");
        }
        assert_eq!(found("{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}"), Some(("", vec![read("a")])));
        let two = "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}</tool_call>\n\
                   <tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"b\"}}</tool_call>";
        assert_eq!(found(two), Some(("", vec![read("a"), read("b")])), "in their order");
    }

    #[test]
    fn everything_else_stays_words() {
        for text in [
            "",
            "```",
            "``````",
            "Done.",
            "```json\n{\"name\": \"read\"}\n```",
            "```json\n{\"name\": \"reed\", \"arguments\": {\"path\": \"a\"}}\n```",
            "```json\n{\"name\": \"read\", \"arguments\": {\"path\": 7}}\n```",
            "```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```\nThat is how one calls it.",
            "```rust\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```",
            "So: {\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}",
            "```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
