//! Tests of the request: what of a context goes out, to the byte.

use super::*;
use crate::agent::tools::ToolSpec;
use crate::agent::tools::testing::Memory;
use crate::domain::settings::ModelInfo;
use crate::domain::{Effect, Part, Role};

fn row(role: Role, parts: Vec<Part>) -> Row {
    Row { seq: 0, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 0, at: 0 }
}

fn user(text: &str) -> Row {
    row(Role::User, vec![Part::text(text)])
}

fn call(id: &str, provider_id: &str, arguments: &str) -> Part {
    Part::Call { id: id.into(), provider_id: provider_id.into(), name: "read".into(), arguments: arguments.into() }
}

fn result(id: &str, parts: Vec<Part>) -> Row {
    Row { tool_call: Some(id.into()), ..row(Role::Tool, parts) }
}

fn messages(system: &str, rows: &[Row], blobs: &dyn Blobs) -> Vec<Value> {
    Writer { blobs, thinking: None, again: Some("p"), signed: false, stepwise: false }.messages(system, rows)
}

fn written(rows: &[Row]) -> Value {
    Value::Array(messages("", rows, &Memory::default()))
}

#[test]
fn a_conversation_is_written_in_order() {
    let thinking = Part::Thinking { text: "hm".into(), signature: None };
    let rows = [
        user("read it"),
        row(Role::Assistant, vec![thinking, Part::text("Reading."), call("c_1", "call_a", "{\"path\":\"a\"}")]),
        result("c_1", vec![Part::text("content")]),
        row(Role::Assistant, vec![Part::text("It says content.")]),
    ];
    let mut expected = vec![json!({"role": "system", "content": "Be brief."})];
    expected.extend([
        json!({"role": "user", "content": "read it"}),
        json!({"role": "assistant", "content": "Reading.", "tool_calls": [
            {"id": "call_a", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a\"}"}}]}),
        json!({"role": "tool", "tool_call_id": "call_a", "content": "content"}),
        json!({"role": "assistant", "content": "It says content."}),
    ]);
    assert_eq!(messages("Be brief.", &rows, &Memory::default()), expected);
}

#[test]
fn a_call_without_a_result_gets_one_and_a_result_without_a_call_goes() {
    let rows = [
        user("go"),
        row(Role::Assistant, vec![call("c_1", "a", "{}"), call("c_2", "b", "{}")]),
        result("c_2", vec![Part::text("two")]),
        result("c_9", vec![Part::text("whose?")]),
        user("and?"),
    ];
    let written = written(&rows);
    assert_eq!(written.as_array().map(Vec::len), Some(5));
    assert_eq!(written[2]["tool_call_id"], "a");
    assert!(written[2]["content"].as_str().is_some_and(|text| text.contains("may or may not")));
    assert_eq!(written[3], json!({"role": "tool", "tool_call_id": "b", "content": "two"}));
    assert_eq!(written[4]["content"], "and?");
}

#[test]
fn ids_that_are_missing_or_used_twice_become_ours() {
    let rows = [
        user("go"),
        row(Role::Assistant, vec![call("c_1", "same", "{}"), call("c_2", "same", "{}"), call("c_3", "", "{}")]),
        result("c_3", vec![Part::text("3")]),
        result("c_2", vec![Part::text("2")]),
        result("c_1", vec![Part::text("1")]),
    ];
    let written = written(&rows);
    let ids: Vec<_> = (0..3).map(|ix| written[1]["tool_calls"][ix]["id"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(ids, ["same", "c_2", "c_3"]);
    for (ix, id) in ids.iter().enumerate() {
        assert_eq!(written[ix + 2]["tool_call_id"], *id);
        assert_eq!(written[ix + 2]["content"], (ix + 1).to_string());
    }
}

#[test]
fn an_empty_answer_is_not_sent_and_users_around_it_join() {
    let rows = [user("one"), row(Role::Assistant, vec![]), user("two"), row(Role::System, vec![Part::text("fact")])];
    let expected = json!([{"role": "user", "content": "one\n\ntwo\n\n<note from=\"runtime\">\nfact\n</note>"}]);
    assert_eq!(written(&rows), expected);
}

#[test]
fn pictures_are_sent_as_data_and_those_of_results_follow_the_batch() {
    let blobs = Memory::default();
    let blob = blobs.put(b"png").expect("kept");
    let image = Part::Image { media_type: "image/png".into(), blob, name: "a.png".into() };
    let lost = Part::Image { media_type: "image/png".into(), blob: "gone".into(), name: "b.png".into() };
    let rows = [
        row(Role::User, vec![Part::text("look"), image.clone(), lost]),
        row(Role::Assistant, vec![call("c_1", "a", "{}"), call("c_2", "b", "{}")]),
        result("c_1", vec![image]),
        result("c_2", vec![]),
        user("well?"),
    ];
    let written = Value::Array(messages("", &rows, &blobs));
    let data = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}});
    assert_eq!(written[0]["content"][1], data);
    assert_eq!(written[0]["content"][2]["text"], "[picture b.png: no longer kept]");
    assert_eq!(written[2]["content"], "(the picture follows)");
    assert_eq!(written[3]["content"], "(no output)");
    assert_eq!(written[4]["content"][1], data);
    assert_eq!(written[4]["content"][2]["text"], "well?", "the next user message joins the pictures");
    assert_eq!(written.as_array().map(Vec::len), Some(5));
}

#[test]
fn tools_and_the_limit_are_told_only_where_there_are_any() {
    let mut request = request(vec![]);
    let blobs = Memory::default();
    let bare = body(&request, &blobs, "p", &Quirks::default());
    assert!(bare.get("tools").is_none() && bare.get("max_tokens").is_none());
    assert_eq!(bare["stream_options"], json!({"include_usage": true}));
    request.info.max_output_tokens = Some(9);
    request.tools.push(ToolSpec {
        name: "read",
        description: "Reads.",
        schema: json!({"type": "object"}).into(),
        schema_bytes: 17,
        effect: Effect::Pure,
    });
    let limit = Quirks { limit_field: Some("max_completion_tokens".into()), ..Quirks::default() };
    let full = body(&request, &blobs, "p", &limit);
    assert_eq!(full["max_completion_tokens"], 9);
    let function = json!({"name": "read", "description": "Reads.", "parameters": {"type": "object"}});
    assert_eq!(full["tools"], json!([{"type": "function", "function": function}]));
}

fn request(rows: Vec<Row>) -> Request {
    Request { model: "m".into(), system: "s".into(), rows, tools: vec![], info: ModelInfo::default() }
}

#[test]
fn a_server_that_does_not_count_in_streams_is_not_asked_to_and_thinking_goes_back_where_it_is_wanted() {
    let thinking = Part::Thinking { text: "hm".into(), signature: None };
    let request = request(vec![user("go"), row(Role::Assistant, vec![thinking, call("c_1", "a", "{}")])]);
    let blobs = Memory::default();
    let quirks =
        Quirks { stream_usage: Some(false), thinking_field: Some("reasoning_content".into()), ..Quirks::default() };
    let with = body(&request, &blobs, "p", &quirks);
    assert!(with.get("stream_options").is_none());
    assert_eq!(with["messages"][2]["reasoning_content"], "hm");
    let without = body(&request, &blobs, "p", &Quirks::default());
    assert!(without["messages"][2].get("reasoning_content").is_none());
}

#[test]
fn step_mode_says_everything_in_words_and_binds_the_answer() {
    let mut request = request(vec![
        user("go"),
        row(Role::Assistant, vec![call("c_1", "a", "{\"path\":\"a\"}")]),
        result("c_1", vec![Part::text("content")]),
        row(Role::Assistant, vec![Part::text("It says content.")]),
        user("thanks"),
    ]);
    request.info.steps = true;
    request.tools.push(ToolSpec {
        name: "read",
        description: "Reads.",
        schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}).into(),
        schema_bytes: 59,
        effect: Effect::Pure,
    });
    let body = body(&request, &Memory::default(), "p", &Quirks::default());
    assert!(body.get("tools").is_none());
    assert_eq!(body["response_format"]["json_schema"]["schema"]["anyOf"].as_array().map(Vec::len), Some(2));
    let said: Vec<&str> =
        body["messages"].as_array().expect("messages").iter().filter_map(|said| said["content"].as_str()).collect();
    assert!(said[0].contains("- read(path): Reads."), "{}", said[0]);
    assert_eq!(
        said[1..],
        [
            "go",
            "{\"tool\":\"read\",\"arguments\":{\"path\":\"a\"}}",
            "Result of read:\ncontent",
            "{\"answer\":\"It says content.\"}",
            "thanks"
        ]
    );
}
