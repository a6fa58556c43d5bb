//! `report`: a Subagent hands in its work, and with that its Run ends.

use super::super::{BadCall, Outcome as Ended, Plan, Tool, ToolContext, ToolSpec, arguments, plan};
use super::{action, refused};
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Hands in a Contribution.
pub(in super::super) struct ReportTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// completed, partial or failed
    outcome: String,
    /// What was done and found, with its evidence
    done: String,
    /// What is uncertain or left out
    #[serde(default)]
    uncertain: String,
    /// Files and outputs where it can be looked up
    #[serde(default)]
    refs: Vec<String>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Hand in your work, alone in an answer; your Run ends with it.";
    arguments::spec::<Arguments>("report", description, Effect::Idempotent)
});

impl Tool for ReportTool {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let outcome = match given.outcome.as_str() {
                "completed" => Outcome::Completed,
                "partial" => Outcome::Partial,
                "failed" => Outcome::Failed,
                other => {
                    let wrong = format!("`outcome` is completed, partial or failed, not `{other}`");
                    return Err(arguments::bad(&SPEC, &wrong));
                }
            };
            if given.done.trim().is_empty() {
                return Err(arguments::bad(&SPEC, "`done` says nothing"));
            }
            let report = Report { outcome, done: given.done, uncertain: given.uncertain, refs: given.refs };
            Ok(plan(action(&SPEC, outcome.as_str(), ctx), move |ctx| async move {
                let (run, call) = (ctx.team.run().clone(), Some(ctx.team.call().clone()));
                match ctx.team.submit(RunCommand::Report { run, call, report }).await {
                    // The command has settled this call and ended the Run.
                    Ok(()) => Ended::done("Handed in."),
                    Err(rejection) => refused(&rejection),
                }
            }))
        })
    }
}
