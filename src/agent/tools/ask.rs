//! `ask`: a question to the person.
//!
//! The one tool that is not run: the loop takes what [`asked`] makes of the call, submits the
//! question and suspends; the answer of the person is the result. Its plan is there so that it is
//! judged like any other call.

use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, plan};
use crate::domain::Effect;
use crate::domain::permission::{Access, Action};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The name of the tool that is not run but answered by a person.
pub const ASK: &str = "ask";

/// Asks the person.
pub(super) struct Ask;

/// What the person is asked.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// With what is needed to answer it
    pub question: String,
    /// To choose from
    #[serde(default)]
    pub options: Vec<String>,
    /// Until they answer
    #[serde(default)]
    pub meanwhile: String,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Ask the user and wait. Only for what you can't find out or decide yourself.";
    arguments::spec::<Asked>(ASK, description, Effect::Idempotent)
});

/// Reads the arguments of a call of `ask`.
pub fn asked(arguments: &Value) -> Result<Asked, BadCall> {
    let asked: Asked = arguments::typed(arguments, &SPEC)?;
    if asked.question.trim().is_empty() {
        return Err(arguments::bad(&SPEC, "`question` is empty"));
    }
    Ok(asked)
}

impl Tool for Ask {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let asked = asked(arguments)?;
            let action = Action {
                tool: SPEC.name.into(),
                access: Access::Human,
                subject: asked.question,
                cwd: ctx.cwd.to_string_lossy().into_owned(),
                detail: asked.options.join("\n"),
                inside: true,
                own: false,
                beyond: String::new(),
                rule_subject: SPEC.name.into(),
            };
            // Reached only by a loop that does not know this tool: then that is what it is told.
            Ok(plan(action, |_| async { Outcome::error("BUG: the question was not put") }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;
    use serde_json::json;

    #[tokio::test]
    async fn a_question_is_read_and_judged_as_one_to_a_person() {
        let bench = Bench::new();
        let call = json!({"question": "Which?", "options": ["a", "b"], "meanwhile": "I wait"});
        let wanted =
            Asked { question: "Which?".into(), options: vec!["a".into(), "b".into()], meanwhile: "I wait".into() };
        assert_eq!(asked(&call), Ok(wanted));
        let action = bench.plan(&Ask, call).await.expect("planned").action;
        assert_eq!((action.access, action.subject.as_str()), (Access::Human, "Which?"));
        assert!(bench.refused(&Ask, json!({"question": " "})).await.contains("`question` is empty"));
        assert!(bench.refused(&Ask, json!({})).await.contains("`question` is missing"));
    }
}
