//! `tell`: a Subagent says something to one that works beside it.

use super::super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, plan};
use super::{action, refused};
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Says something to a peer.
pub(in super::super) struct TellTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The id or name of a Subagent
    to: String,
    /// Short
    text: String,
    /// Files it is about
    #[serde(default)]
    refs: Vec<String>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Say something to another Subagent of this Task; it is read at its next step.";
    arguments::spec::<Arguments>("tell", description, Effect::Idempotent)
});

impl Tool for TellTool {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let action = action(&SPEC, given.to.clone(), ctx);
            Ok(plan(action, move |ctx| async move {
                say(&ctx, &given).await.unwrap_or_else(|rejection| refused(&rejection))
            }))
        })
    }
}

async fn say(ctx: &ToolContext, given: &Arguments) -> Result<Outcome, Rejection> {
    let team = &ctx.team;
    let snapshot = team.look().await?;
    let live: Vec<&Assignment> = snapshot.assignments.values().filter(|work| !work.state.is_ended()).collect();
    let found = live.iter().find(|work| work.agent.as_str() == given.to || work.name == given.to);
    let Some(work) = found.filter(|work| work.agent != *team.agent()) else {
        let others = live.iter().filter(|work| work.agent != *team.agent());
        let known: Vec<String> = others.map(|work| format!("{} ({})", work.name, work.agent)).collect();
        let there = if known.is_empty() { "nobody works beside you".to_owned() } else { known.join(", ") };
        return Ok(Outcome::error(format!("{} is no Subagent at work (there is: {there})", given.to)));
    };
    let command = RunCommand::Tell {
        run: team.run().clone(),
        call: team.call().clone(),
        to: work.agent.clone(),
        text: given.text.clone(),
        refs: given.refs.clone(),
    };
    team.submit(command).await?;
    Ok(Outcome::done(format!("Queued for {}.", work.agent)))
}
