//! What holds for all tools together.

use super::arguments::parse;
use super::testing::Bench;
use super::*;
use serde_json::json;

#[test]
fn every_tool_is_found_by_its_name_and_has_the_effect_that_recovery_counts_on() {
    let table: Vec<_> = all().iter().map(|tool| (tool.spec().name, tool.spec().effect)).collect();
    let expected = [
        ("shell", Effect::Reconcilable),
        ("read", Effect::Pure),
        ("write", Effect::Reconcilable),
        ("edit", Effect::Reconcilable),
        ("list", Effect::Pure),
        ("glob", Effect::Pure),
        ("grep", Effect::Pure),
        ("fetch", Effect::Idempotent),
        ("ask", Effect::Idempotent),
        ("job", Effect::Effectful),
        ("jobs", Effect::Pure),
        ("delegate", Effect::Idempotent),
        ("team", Effect::Idempotent),
        ("report", Effect::Idempotent),
        ("decide", Effect::Idempotent),
        ("tell", Effect::Idempotent),
        ("doc", Effect::Idempotent),
    ];
    assert_eq!(table, expected);
    for (name, _) in expected {
        assert_eq!(find(name).expect("found").spec().name, name);
    }
    assert!(find("none").is_none());
}

#[test]
fn what_main_is_told_of_at_first_stays_small() {
    let specs: Vec<Value> = all()
        .iter()
        .filter(|tool| !LATER.contains(&tool.spec().name) && !OF_SUBAGENTS.contains(&tool.spec().name))
        .map(|tool| {
            let spec = tool.spec();
            json!({"type": "function", "function": {
                "name": spec.name, "description": spec.description, "parameters": *spec.schema
            }})
        })
        .collect();
    let size = Value::from(specs).to_string().len();
    // With the standing instructions the first request stays below 8 kB.
    assert!(size < 6_500, "{size} bytes");
}

#[tokio::test]
async fn broken_arguments_run_no_tool() {
    let bench = Bench::new();
    for tool in all() {
        for raw in ["null", "[1]", "5", r#"{"path":"a"#, r#"{"path":"a"} trailing"#, r#"{"unheard_of":1}"#] {
            let BadCall(text) = parse(raw, tool.spec()).expect_err(raw);
            assert!(text.contains("Nothing was run") && text.contains("\"properties\""), "{text}");
        }
        // Also where the loop did not check.
        assert!(tool.plan(&json!({"unheard_of": 1}), &bench.ctx).await.is_err());
    }
    assert!(parse(r#"{"path":7}"#, read::Read.spec()).expect_err("refused").0.contains("`path`: expected text, got 7"));
    for raw in ["", "   ", "{}"] {
        assert_eq!(parse(raw, list::List.spec()), Ok(json!({})));
    }
}
