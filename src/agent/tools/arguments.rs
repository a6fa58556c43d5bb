//! The arguments of a call: from the text a model wrote to the type a tool takes.
//!
//! [`parse`] reads the text and holds it against the tool's schema; the loop calls it before
//! anything else. [`typed`] makes the tool's own type of it. What does not fit is a [`BadCall`]
//! that names the field and shows the schema; it never runs, and nobody is asked about it.

use super::{BadCall, ToolSpec};
use crate::domain::Effect;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Builds a spec whose schema is that of `T`; the doc comments of its fields are what models read.
pub(super) fn spec<T: JsonSchema>(name: &'static str, description: &'static str, effect: Effect) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    compact(&mut schema);
    let schema_bytes = schema.to_string().len();
    ToolSpec { name, description, schema: schema.into(), schema_bytes, effect }
}

/// Takes out what costs tokens and tells a model nothing.
fn compact(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for noise in ["$schema", "title", "format", "minimum", "default", "additionalProperties"] {
        object.remove(noise);
    }
    // An optional field may be left out; that it may also be null need not be said.
    if let Some(Value::Array(types)) = object.get("type")
        && let Some(only) = types.iter().find(|name| *name != "null").cloned()
    {
        object.insert("type".into(), only);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(compact);
    }
    if let Some(items) = object.get_mut("items") {
        compact(items);
    }
    // The description of the whole is the tool's.
    if object.contains_key("properties") {
        object.remove("description");
    }
}

/// Reads the arguments a model wrote. Nothing at all means no arguments.
pub fn parse(raw: &str, spec: &ToolSpec) -> Result<Value, BadCall> {
    if raw.trim().is_empty() {
        return fitting(Value::Object(Map::new()), spec);
    }
    let value = serde_json::from_str(raw)
        .map_err(|error| bad(spec, &format!("the arguments are not one whole JSON object: {error}")))?;
    fitting(value, spec)
}

/// Holds arguments against the schema and leaves out optional fields that are null.
fn fitting(mut value: Value, spec: &ToolSpec) -> Result<Value, BadCall> {
    let mut wrong = Vec::new();
    check(&mut value, &spec.schema, "", &mut wrong);
    if wrong.is_empty() { Ok(value) } else { Err(bad(spec, &wrong.join("; "))) }
}

/// Makes a tool's own type of its arguments.
pub(super) fn typed<T: DeserializeOwned>(value: &Value, spec: &ToolSpec) -> Result<T, BadCall> {
    let value = fitting(value.clone(), spec)?;
    serde_json::from_value(value).map_err(|error| bad(spec, &error.to_string()))
}

/// Words what is wrong so that the model can do better.
pub(super) fn bad(spec: &ToolSpec, wrong: &str) -> BadCall {
    BadCall(format!("{wrong}. Nothing was run. Arguments of {}: {}", spec.name, spec.schema))
}

fn check(value: &mut Value, schema: &Value, at: &str, wrong: &mut Vec<String>) {
    let expected = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let fits = match expected {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        _ => true,
    };
    if !fits {
        let place = if at.is_empty() { "the arguments".to_owned() } else { format!("`{at}`") };
        wrong.push(format!("{place}: expected {}, got {}", kind(expected), got(value)));
        return;
    }
    match value {
        Value::Object(object) => check_object(object, schema, at, wrong),
        Value::Array(items) => {
            let schema = schema.get("items").unwrap_or(&Value::Null);
            for (ix, item) in items.iter_mut().enumerate() {
                check(item, schema, &format!("{at}[{ix}]"), wrong);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check_object(object: &mut Map<String, Value>, schema: &Value, at: &str, wrong: &mut Vec<String>) {
    let Some(Value::Object(fields)) = schema.get("properties") else { return };
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let place = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    object.retain(|name, value| !value.is_null() || required.contains(&name.as_str()) || !fields.contains_key(name));
    for (name, value) in object.iter_mut() {
        match fields.get(name) {
            Some(schema) => check(value, schema, &place(name), wrong),
            None => {
                let known: Vec<&str> = fields.keys().map(String::as_str).collect();
                wrong.push(format!("`{}` is unknown (known: {})", place(name), known.join(", ")));
            }
        }
    }
    for name in required {
        if !object.contains_key(name) {
            wrong.push(format!("`{}` is missing", place(name)));
        }
    }
}

fn kind(expected: &str) -> &'static str {
    match expected {
        "object" => "an object",
        "array" => "a list",
        "string" => "text",
        "boolean" => "true or false",
        _ => "a whole number, 0 or more",
    }
}

fn got(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => "text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// Where.
        path: Option<String>,
        /// How many.
        #[serde(default)]
        count: Option<u64>,
        /// What.
        #[serde(default)]
        parts: Vec<Inner>,
    }

    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        old: String,
        #[serde(default)]
        all: bool,
    }

    fn sample() -> ToolSpec {
        spec::<Sample>("sample", "A sample.", Effect::Pure)
    }

    fn refused(raw: &str) -> String {
        let BadCall(text) = parse(raw, &sample()).expect_err(raw);
        assert!(text.contains("Nothing was run") && text.contains(r#""path""#), "the schema is shown: {text}");
        text
    }

    #[test]
    fn the_schema_says_what_there_is_and_nothing_more() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": {"description": "Where.", "type": "string"},
                "count": {"description": "How many.", "type": "integer"},
                "parts": {"description": "What.", "type": "array", "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "all": {"type": "boolean"}},
                    "required": ["old"]
                }}
            }
        });
        assert_eq!(*sample().schema, expected);
    }

    #[test]
    fn nothing_blanks_and_braces_all_mean_no_arguments() {
        for raw in ["", "   ", "\n", "{}", " {} "] {
            assert_eq!(parse(raw, &sample()), Ok(json!({})), "{raw:?}");
        }
    }

    #[test]
    fn broken_arguments_are_refused_with_the_place_and_the_schema() {
        assert!(refused("null").contains("the arguments: expected an object, got null"));
        assert!(refused("[1]").contains("the arguments: expected an object, got a list"));
        assert!(refused("5").contains("the arguments: expected an object, got 5"));
        assert!(refused(r#"{"path":"a"#).contains("not one whole JSON object: EOF"));
        assert!(refused(r#"{"path":"a"} trailing"#).contains("trailing characters"));
        assert!(refused(r#"{"path":7}"#).contains("`path`: expected text, got 7"));
        assert!(refused(r#"{"count":-1}"#).contains("`count`: expected a whole number, 0 or more, got -1"));
        assert!(refused(r#"{"parts":[{"old":"a"},{"old":null}]}"#).contains("`parts[1].old`: expected text, got null"));
        assert!(refused(r#"{"parts":[{}]}"#).contains("`parts[0].old` is missing"));
        assert!(refused(r#"{"file":"a"}"#).contains("`file` is unknown (known: path, count, parts)"));
    }

    #[test]
    fn an_optional_field_that_is_null_counts_as_left_out() {
        let value = parse(r#"{"path":null,"parts":[{"old":"x"}]}"#, &sample()).expect("fits");
        assert_eq!(value, json!({"parts": [{"old": "x"}]}));
        let made: Sample = typed(&value, &sample()).expect("fits");
        assert_eq!(made, Sample { path: None, count: None, parts: vec![Inner { old: "x".into(), all: false }] });
    }
}
