//! Step mode: for models that can't call tools by themselves but whose server can bind an answer to
//! a JSON schema. Each answer is one step: `{"tool": …, "arguments": …}` or `{"answer": …}`.

use crate::agent::tools::ToolSpec;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// What an answer is bound by.
pub(super) fn schema(tools: &[ToolSpec]) -> Value {
    let closed = |properties: Value| {
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let mut steps = vec![closed(json!({"answer": {"type": "string"}}))];
    steps.extend(tools.iter().map(|tool| closed(json!({"tool": {"const": tool.name}, "arguments": *tool.schema}))));
    json!({"anyOf": steps})
}

/// What the model is told, since it does not see the schema.
pub(super) fn instructions(tools: &[ToolSpec]) -> String {
    let mut out = String::from(
        "Answer with one JSON object and nothing else. To use a tool: {\"tool\": NAME, \"arguments\": {…}}; its result \
         comes next. When the work is done: {\"answer\": TEXT}. The tools:",
    );
    for tool in tools {
        let fields: Vec<&str> =
            tool.schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let _ = write!(out, "\n- {}({}): {}", tool.name, fields.join(", "), tool.description);
    }
    out
}

/// A step as the model wrote it.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// It wants a tool: name, arguments as text.
    Call(String, String),
    /// It is done.
    Answer(String),
}

/// Reads a step; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<Step> {
    let mut object: Map<String, Value> = serde_json::from_str(text.trim()).ok()?;
    match (object.remove("tool"), object.remove("answer")) {
        (Some(Value::String(tool)), _) => {
            let arguments = object.remove("arguments").unwrap_or_else(|| json!({}));
            Some(Step::Call(tool, arguments.to_string()))
        }
        (_, Some(Value::String(answer))) => Some(Step::Answer(answer)),
        (_, _) => None,
    }
}

/// A call of before, as it stood in the answer.
pub(super) fn call(tool: &str, arguments: &str) -> String {
    format!("{{\"tool\":{},\"arguments\":{arguments}}}", json!(tool))
}

/// An answer of before.
pub(super) fn answer(text: &str) -> String {
    json!({"answer": text}).to_string()
}

/// The result of a call of before.
pub(super) fn result(tool: &str, text: &str) -> String {
    format!("Result of {tool}:\n{text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools;

    #[test]
    fn what_a_model_wrote_under_the_schema_is_read_back() {
        assert_eq!(
            parse(&call("read", "{\"path\":\"a\"}")),
            Some(Step::Call("read".into(), "{\"path\":\"a\"}".into()))
        );
        assert_eq!(parse(&answer("done")), Some(Step::Answer("done".into())));
        assert_eq!(parse("  {\"tool\": \"list\"} "), Some(Step::Call("list".into(), "{}".into())));
        for broken in ["", "done", "{\"tool\": 7}", "{\"tool\": \"re", "[]"] {
            assert_eq!(parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn every_tool_is_a_branch_of_the_schema_and_named_in_the_instructions() {
        let specs: Vec<ToolSpec> = tools::all().iter().map(|tool| tool.spec().clone()).collect();
        let schema = schema(&specs);
        assert_eq!(schema["anyOf"].as_array().map(Vec::len), Some(specs.len() + 1));
        assert_eq!(schema["anyOf"][2]["required"], json!(["tool", "arguments"]));
        let words = instructions(&specs);
        assert!(specs.iter().all(|spec| words.contains(&format!("\n- {}(", spec.name))), "{words}");
    }
}
