//! `delegate`: give a bounded part of the Task to a new Subagent.

use super::super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, paths, plan};
use super::{action, is_called, refused};
use crate::domain::permission::Policy;
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The tools of a Subagent that was given none by name. `fetch` comes with the network.
const USUAL: [&str; 10] = ["shell", "read", "write", "edit", "list", "glob", "grep", "job", "jobs", "doc"];

/// Gives work to a Subagent.
pub(in super::super) struct Delegate;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Short
    name: String,
    /// What is wanted
    objective: String,
    /// All it must know; it sees nothing else
    #[serde(default)]
    background: String,
    #[serde(default)]
    constraints: Vec<String>,
    /// What it must show
    #[serde(default)]
    evidence: Vec<String>,
    /// default: all
    #[serde(default)]
    tools: Vec<String>,
    /// Paths (default: all)
    #[serde(default)]
    reads: Vec<String>,
    /// Paths it may change (default: none); shell needs the folder
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    network: bool,
    model: Option<String>,
    /// At most
    turns: Option<u64>,
    /// At most
    seconds: Option<u64>,
    /// Wait for the result; else it comes as a message
    #[serde(default)]
    wait: bool,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Give a bounded part to a Subagent; several work side by side.";
    arguments::spec::<Arguments>(super::DELEGATE, description, Effect::Idempotent)
});

impl Tool for Delegate {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            if given.objective.trim().is_empty() || given.name.trim().is_empty() {
                return Err(arguments::bad(&SPEC, "`name` and `objective` must say something"));
            }
            let contract = contract(&given, ctx)?;
            let mode = if given.wait { DelegationMode::Sync } else { DelegationMode::Async };
            let action = action(&SPEC, given.name.trim(), ctx);
            let (name, objective) = (given.name, given.objective);
            Ok(plan(action, move |ctx| async move {
                let command = RunCommand::Delegate {
                    run: ctx.team.run().clone(),
                    call: ctx.team.call().clone(),
                    mode,
                    name,
                    objective,
                    contract,
                };
                match ctx.team.submit(command).await {
                    Ok(()) => given_away(&ctx, mode).await.unwrap_or_else(|rejection| refused(&rejection)),
                    Err(rejection) => refused(&rejection),
                }
            }))
        })
    }
}

/// What is agreed: what was asked for, with whole paths.
fn contract(given: &Arguments, ctx: &ToolContext) -> Result<Contract, BadCall> {
    let whole = |paths: &[String]| -> Result<Vec<String>, BadCall> {
        paths.iter().map(|path| Ok(paths::locate(ctx, path)?.path.to_string_lossy().into_owned())).collect()
    };
    let known: Vec<&str> = super::super::all().iter().map(|tool| tool.spec().name).collect();
    if let Some(unknown) = given.tools.iter().find(|tool| !known.contains(&tool.as_str())) {
        return Err(arguments::bad(&SPEC, &format!("there is no tool `{unknown}` (there is: {})", known.join(", "))));
    }
    let mut tools: Vec<String> = match given.tools.is_empty() {
        true => USUAL.map(str::to_owned).to_vec(),
        // Who answers to the person is Main.
        false => given.tools.iter().filter(|tool| *tool != super::super::ASK).cloned().collect(),
    };
    if given.network && !tools.iter().any(|tool| tool == "fetch") {
        tools.push("fetch".into());
    }
    let grant = Grant {
        tools,
        reads: whole(&given.reads)?,
        writes: whole(&given.writes)?,
        network: given.network,
        // Narrowed to the Task's where it is given.
        policy: WIDEST,
    };
    let budget = Budget { turns: given.turns, seconds: given.seconds, ..Budget::default() };
    Ok(Contract {
        background: given.background.clone(),
        constraints: given.constraints.clone(),
        evidence: given.evidence.clone(),
        grant,
        budget,
        model: given.model.clone(),
    })
}

/// Everything: a Task's own policy is never wider.
const WIDEST: Policy = Policy { reach: permission::Reach::Full, ask: permission::Ask::Never };

/// Acknowledges, or waits for what comes of it.
async fn given_away(ctx: &ToolContext, mode: DelegationMode) -> Result<Outcome, Rejection> {
    let team = &ctx.team;
    let mine = |snapshot: &Snapshot| {
        snapshot.assignments.values().find(|work| work.call.as_ref() == Some(team.call())).cloned()
    };
    let Some(work) = mine(&team.look().await?) else {
        return Ok(Outcome::error("BUG: nothing was given"));
    };
    let (name, agent) = (&work.name, &work.agent);
    if mode == DelegationMode::Async {
        return Ok(Outcome::done(format!("Given to {name} ({agent}). You get a message when it ends.")));
    }
    let over = |snapshot: &Snapshot| {
        is_called(snapshot, team.agent()) || mine(snapshot).is_none_or(|work| work.state.is_ended())
    };
    let snapshot = tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => {
            return Ok(Outcome::cancelled(format!("Not waited for any longer; {name} ({agent}) goes on.")));
        }
        snapshot = team.wait(&over, None) => snapshot?,
    };
    let made = snapshot.contributions.values().find(|made| made.assignment == work.id);
    Ok(match made {
        Some(made) => Outcome::done(made.told(&work)),
        None if is_called(&snapshot, team.agent()) => Outcome::done(format!(
            "Still running: {name} ({agent}) goes on and you get a message when it ends. First, \
                                   another message waits for you."
        )),
        None => Outcome::done(format!("{name} ({agent}) has ended and was reviewed already.")),
    })
}
