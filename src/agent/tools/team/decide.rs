//! `decide`: a Subagent asks who gave it its work, for a bounded time, and says what holds otherwise.

use super::super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, plan};
use super::{action, refused};
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// Asks for a decision.
pub(in super::super) struct Decide;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// With all that is needed to answer it
    question: String,
    /// What you go on with if nobody answers
    fallback: String,
    /// How long you wait (default 300)
    seconds: Option<u64>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Ask who gave you the work to decide something that changes the result.";
    arguments::spec::<Arguments>("decide", description, Effect::Idempotent)
});

impl Tool for Decide {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let wait_ms = given.seconds.unwrap_or(300).saturating_mul(1000);
            let action = action(&SPEC, given.question.clone(), ctx);
            Ok(plan(action, move |ctx| async move {
                let command = RunCommand::RequestDecision {
                    run: ctx.team.run().clone(),
                    call: ctx.team.call().clone(),
                    question: given.question,
                    fallback: given.fallback,
                    wait_ms,
                };
                match ctx.team.submit(command).await {
                    Ok(()) => decided(&ctx).await.unwrap_or_else(|rejection| refused(&rejection)),
                    Err(rejection) => refused(&rejection),
                }
            }))
        })
    }
}

/// Waits for the answer, or for the time to be over.
async fn decided(ctx: &ToolContext) -> Result<Outcome, Rejection> {
    let team = &ctx.team;
    let over = |snapshot: &Snapshot| {
        let decision = snapshot.decision_of(team.call());
        decision.is_none_or(|decision| decision.state != DecisionState::Open) || is_guided(snapshot, team.agent())
    };
    loop {
        let snapshot = team.look().await?;
        let Some(decision) = snapshot.decision_of(team.call()) else {
            return Ok(Outcome::error("BUG: the question was not put"));
        };
        if let Some(told) = decision.told() {
            return Ok(Outcome::done(told));
        }
        if decision.state == DecisionState::Cancelled {
            return Ok(Outcome::cancelled("The question was dropped."));
        }
        if decision.deadline_at <= super::now() {
            // Refused where an answer was faster; looking again tells.
            let _ = team.expire(&decision.id).await;
            continue;
        }
        if is_guided(&snapshot, team.agent()) {
            // Settling the call drops the question.
            let text = "Guidance came instead of an answer and follows. What it leaves open is as your fallback says.";
            return Ok(Outcome::done(text));
        }
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => return Ok(Outcome::cancelled("Stopped while it waited for an answer.")),
            waited = team.wait(&over, Some(decision.deadline_at)) => waited?,
        };
    }
}

/// Whether guidance waits for the Subagent: it may well be the answer.
fn is_guided(snapshot: &Snapshot, agent: &AgentId) -> bool {
    snapshot.inbox(agent, MessageState::Queued).into_iter().any(|message| message.kind == MessageKind::Guidance)
}
