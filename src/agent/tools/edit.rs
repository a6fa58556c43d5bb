//! `edit`: exact replacement in a file, several at once, in one write.

mod apply;
mod nearest;

use super::content::{self, Kind};
use super::{BadCall, Plan, Tool, ToolContext, ToolSpec, arguments, change, output, paths, planning};
use crate::domain::Effect;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Replaces text in a file.
pub(super) struct Edit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// Made in order, all or none
    edits: Vec<Replacement>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    /// Exact text that is there once
    old: String,
    new: String,
    /// Replace every occurrence
    #[serde(default)]
    all: bool,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Replace exact text in a file. Everything else stays byte for byte.";
    arguments::spec::<Arguments>("edit", description, Effect::Reconcilable)
});

impl Tool for Edit {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let arguments = arguments::typed(arguments, &SPEC)?;
            planning(ctx, move |ctx| plan(ctx, arguments)).await
        })
    }
}

fn plan(ctx: &ToolContext, Arguments { path, edits }: Arguments) -> Result<Plan, BadCall> {
    if edits.is_empty() {
        return Err(arguments::bad(&SPEC, "`edits` is empty"));
    }
    let before = change::look(ctx, &path)?;
    let shown = paths::shown(ctx, &before.located.path);
    let Some(bytes) = &before.bytes else {
        return Err(BadCall(format!("{shown} does not exist; create it with write")));
    };
    match content::kind(&bytes[..bytes.len().min(content::SNIFF)]) {
        Kind::Text => {}
        Kind::Image(what) | Kind::Other(what) => {
            return Err(BadCall(format!("{shown} can't be edited as text: it is {what}")));
        }
    }
    let (after, places) =
        apply::apply(bytes, &edits).map_err(|wrong| BadCall(format!("Nothing was changed in {shown}: {wrong}")))?;
    let done = format!("edited in {}", output::counted(places as u64, "place"));
    Ok(change::plan(ctx, SPEC.name, before, after, done))
}

#[cfg(test)]
mod tests;
