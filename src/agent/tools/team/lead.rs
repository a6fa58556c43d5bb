//! `team`: everything that is done with Subagents after they were given their work.

use super::super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, output, plan};
use super::{action, is_called, now, refused};
use crate::domain::command::ReviewVerdict;
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The longest wait of one call, in seconds.
const LONGEST: u64 = 3600;

/// Leads the Subagents of an agent.
pub(in super::super) struct Lead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// list, show, wait, tell, cancel, answer, accept, reject or rework
    action: String,
    /// Names or ids of Subagents; answer: the decision; accept, reject, rework: Contributions
    #[serde(default)]
    ids: Vec<String>,
    /// tell, answer, rework: the words
    #[serde(default)]
    text: String,
    /// wait: at most (default 600)
    seconds: Option<u64>,
    /// wait: for the first instead of all
    #[serde(default)]
    first: bool,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Your Subagents: look, wait, guide, stop; answer what they ask; review what they bring (your \
                       final answer accepts the rest).";
    arguments::spec::<Arguments>(super::LEAD, description, Effect::Idempotent)
});

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    List,
    Show,
    Wait,
    Tell,
    Cancel,
    Answer,
    Review(ReviewVerdict),
}

impl What {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "list" => Self::List,
            "show" => Self::Show,
            "wait" => Self::Wait,
            "tell" => Self::Tell,
            "cancel" => Self::Cancel,
            "answer" => Self::Answer,
            "accept" => Self::Review(ReviewVerdict::Accept),
            "reject" => Self::Review(ReviewVerdict::Reject),
            "rework" => Self::Review(ReviewVerdict::Rework),
            _ => return None,
        })
    }

    /// What is missing from the arguments, if something is.
    fn misses(self, given: &Arguments) -> Option<&'static str> {
        let wants_ids = !matches!(self, Self::List | Self::Wait);
        let wants_text = matches!(self, Self::Tell | Self::Answer | Self::Review(ReviewVerdict::Rework));
        if wants_ids && given.ids.is_empty() {
            Some("`ids` is missing")
        } else if wants_text && given.text.trim().is_empty() {
            Some("`text` is missing")
        } else {
            None
        }
    }
}

impl Tool for Lead {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let Some(what) = What::named(&given.action) else {
                return Err(arguments::bad(&SPEC, &format!("there is no action `{}`", given.action)));
            };
            if let Some(missing) = what.misses(&given) {
                return Err(arguments::bad(&SPEC, missing));
            }
            let action = action(&SPEC, format!("{} {}", given.action, given.ids.join(" ")).trim(), ctx);
            Ok(plan(action, move |ctx| async move {
                run(&ctx, what, &given).await.unwrap_or_else(|rejection| refused(&rejection))
            }))
        })
    }
}

async fn run(ctx: &ToolContext, what: What, given: &Arguments) -> Result<Outcome, Rejection> {
    let all = ctx.team.delegated().await?;
    match what {
        What::List => Ok(Outcome::done(bounded(ctx, &listed(&all)))),
        What::Show => {
            let shown: Result<Vec<String>, Rejection> =
                given.ids.iter().map(|word| find(&all, word).map(shown)).collect();
            Ok(Outcome::done(bounded(ctx, &shown?.join("\n\n"))))
        }
        What::Wait => wait(ctx, &all, given).await,
        What::Tell | What::Cancel | What::Answer | What::Review(_) => {
            let mut said = Vec::new();
            for word in &given.ids {
                said.push(act(ctx, &all, what, word, given.text.trim()).await?);
            }
            Ok(Outcome::done(said.join("\n")))
        }
    }
}

/// Does one thing to one of them and says so.
async fn act(ctx: &ToolContext, all: &[Delegated], what: What, word: &str, text: &str) -> Result<String, Rejection> {
    let (run, call) = (ctx.team.run().clone(), ctx.team.call().clone());
    let (command, said) = match what {
        What::Answer => {
            let decision = open_decision(all, word)?;
            let said = format!("Answered {}.", decision.id);
            (RunCommand::AnswerDecision { run, decision: decision.id.clone(), answer: text.into() }, said)
        }
        What::Review(verdict) => {
            let made = contribution(all, word)?;
            let done = match verdict {
                ReviewVerdict::Accept => "accepted",
                ReviewVerdict::Reject => "rejected",
                ReviewVerdict::Rework => "sent back",
            };
            let said = format!("{} is {done}.", made.id);
            let because = Some(text.to_owned()).filter(|text| !text.is_empty());
            (RunCommand::Review { run, contribution: made.id.clone(), verdict, because }, said)
        }
        What::Cancel => {
            let agent = find(all, word)?.assignment.agent.clone();
            let said = format!("{agent} is told to stop.");
            (RunCommand::CancelAgent { run, agent }, said)
        }
        What::List | What::Show | What::Wait | What::Tell => {
            let to = find(all, word)?.assignment.agent.clone();
            let said = format!("Queued for {to}.");
            (RunCommand::Tell { run, call, to, text: text.into(), refs: Vec::new() }, said)
        }
    };
    ctx.team.submit(command).await.map(|()| said)
}

/// The newest work of a Subagent, by its id or its name.
fn find<'a>(all: &'a [Delegated], word: &str) -> Result<&'a Delegated, Rejection> {
    let word = word.trim();
    let named = |one: &&Delegated| {
        let work = &one.assignment;
        work.agent.as_str() == word || work.id.as_str() == word || work.name == word
    };
    all.iter().rev().find(named).ok_or_else(|| {
        let known: Vec<String> =
            all.iter().map(|one| format!("{} ({})", one.assignment.name, one.assignment.agent)).collect();
        Rejection::not_found(format!("Subagent {word}"), format!("there is: {}", known.join(", ")))
    })
}

fn open_decision<'a>(all: &'a [Delegated], word: &str) -> Result<&'a DecisionRequest, Rejection> {
    let open = |decision: &&DecisionRequest| decision.state == DecisionState::Open;
    let named = all.iter().flat_map(|one| &one.decisions).filter(open).find(|decision| decision.id.as_str() == word);
    match named {
        Some(decision) => Ok(decision),
        None => find(all, word)?.decisions.iter().find(open).ok_or_else(|| {
            Rejection::not_found(format!("an open decision request {word}"), "it may have been answered already")
        }),
    }
}

fn contribution<'a>(all: &'a [Delegated], word: &str) -> Result<&'a Contribution, Rejection> {
    let named = all.iter().filter_map(|one| one.contribution.as_ref()).find(|made| made.id.as_str() == word);
    match named {
        Some(made) => Ok(made),
        None => find(all, word)?.contribution.as_ref().ok_or_else(|| {
            Rejection::wrong_state(format!("{word} has brought nothing yet"), "wait for it with action `wait`")
        }),
    }
}

async fn wait(ctx: &ToolContext, all: &[Delegated], given: &Arguments) -> Result<Outcome, Rejection> {
    let team = &ctx.team;
    let mut awaited: Vec<&Assignment> = match given.ids.is_empty() {
        true => all.iter().map(|one| &one.assignment).filter(|work| work.parent == *team.agent()).collect(),
        false => {
            given.ids.iter().map(|word| find(all, word).map(|one| &one.assignment)).collect::<Result<_, Rejection>>()?
        }
    };
    awaited.retain(|work| !work.state.is_ended());
    let is_live = |snapshot: &Snapshot, work: &Assignment| {
        snapshot.assignments.get(&work.id).is_some_and(|work| !work.state.is_ended())
    };
    let over = |snapshot: &Snapshot| {
        let live = awaited.iter().filter(|work| is_live(snapshot, work)).count();
        is_called(snapshot, team.agent()) || live == 0 || (given.first && live < awaited.len())
    };
    let until = now().saturating_add_unsigned(given.seconds.unwrap_or(600).clamp(1, LONGEST) * 1000);
    let snapshot = tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => return Ok(Outcome::cancelled("Not waited for any longer; they go on.")),
        snapshot = team.wait(&over, Some(until)) => snapshot?,
    };
    let running: Vec<String> = awaited
        .iter()
        .filter(|work| is_live(&snapshot, work))
        .map(|work| format!("{} ({})", work.name, work.agent))
        .collect();
    // What each of them brought is a message of its own, taken in next.
    Ok(Outcome::done(match (running.is_empty(), is_called(&snapshot, team.agent())) {
        (true, _) => "All have ended; what they bring follows.".to_owned(),
        (false, true) => format!("Still running: {}. First, a message waits for you.", running.join(", ")),
        (false, false) => format!("Still running: {}.", running.join(", ")),
    }))
}

fn bounded(ctx: &ToolContext, text: &str) -> String {
    output::bound(text, ctx.limits.tool_output_bytes, &*ctx.blobs)
}

fn listed(all: &[Delegated]) -> String {
    if all.is_empty() {
        return "There are no Subagents.".to_owned();
    }
    let lines: Vec<String> = all
        .iter()
        .map(|one| {
            let Delegated { assignment: work, contribution, decisions, .. } = one;
            let mut line = format!("{} ({}) {}, {} turns", work.name, work.agent, work.state, work.usage.turns);
            if let Some(made) = contribution {
                line.push_str(&format!("; Contribution {} {}", made.id, made.state));
            }
            for decision in decisions.iter().filter(|decision| decision.state == DecisionState::Open) {
                line.push_str(&format!("; asks {}: {}", decision.id, output::short(&decision.question, 200)));
            }
            if !one.last_words.is_empty() && !work.state.is_ended() {
                line.push_str(&format!("; said last: {}", output::short(&one.last_words, 120)));
            }
            line
        })
        .collect();
    lines.join("\n")
}

fn shown(one: &Delegated) -> String {
    let work = &one.assignment;
    let mut text = format!("{} ({}) {}\nObjective: {}", work.name, work.agent, work.state, work.objective);
    match &one.contribution {
        Some(made) => {
            let Report { outcome, done, uncertain, refs } = &made.report;
            text.push_str(&format!("\nContribution {} ({outcome}, {}): {done}", made.id, made.state));
            if !uncertain.is_empty() {
                text.push_str(&format!("\nUncertain: {uncertain}"));
            }
            if !refs.is_empty() {
                text.push_str(&format!("\nReferences: {}", refs.join(", ")));
            }
        }
        None => text.push_str(&format!("\nSaid last: {}", one.last_words)),
    }
    text
}
