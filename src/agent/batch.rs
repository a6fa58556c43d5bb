//! The tool batch: calls that only look run side by side, calls that change something run alone
//! and in their order.

use super::drive::{Drive, Going, Told};
use super::tools::{self, Outcome, Plan, Seen, Tool, ToolContext};
use crate::crash;
use crate::domain::*;
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a call that was told to stop may take to do so before it is left behind.
const STOP_GRACE: Duration = Duration::from_millis(900);

/// Runs the first of the calls that can go on now: those that only look, together, or one that
/// changes something. What comes after is looked at anew: it may have to wait for a person by then.
pub(super) async fn run(drive: &mut Drive, calls: Vec<ToolCall>) -> Going {
    let drive = &*drive;
    let together = match calls.iter().position(|call| call.effect.changes_something()) {
        Some(first) => first.max(1),
        None => calls.len(),
    };
    let seen = match what_was_seen(drive, &calls[..together]).await {
        Ok(seen) => Arc::new(seen),
        Err(rejection) => return Going::Wrong(rejection),
    };
    let at_once = drive.port.settings().limits.parallel_tools.max(1);
    let results: Vec<Result<Told, Rejection>> = stream::iter(calls.into_iter().take(together))
        .map(|call| one(drive, call, seen.clone()))
        .buffered(at_once)
        .collect()
        .await;
    match results.into_iter().find_map(Result::err) {
        Some(rejection) => Going::Wrong(rejection),
        None => Going::On,
    }
}

/// What the agent knows of files, for a call that would replace one: the hash it last saw of each.
async fn what_was_seen(drive: &Drive, calls: &[ToolCall]) -> Result<Seen, Rejection> {
    let mut seen = Seen::new();
    if !calls.iter().any(|call| call.effect == Effect::Reconcilable) {
        return Ok(seen);
    }
    for call in drive.port.calls_on_files().await? {
        let Some(hash) = call.post_hash.clone().or_else(|| call.pre_hash.clone()) else { continue };
        let Ok(arguments) = serde_json::from_str(&call.arguments) else { continue };
        if let Some(path) = tools::target(&arguments, &context(drive, &call, Arc::default())) {
            seen.entry(path).or_insert(hash);
        }
    }
    Ok(seen)
}

/// Takes one call as far as it goes now.
async fn one(drive: &Drive, call: ToolCall, seen: Arc<Seen>) -> Result<Told, Rejection> {
    let Some(tool) = tools::find(&call.name) else {
        let known: Vec<_> = tools::all().iter().map(|tool| tool.spec().name).collect();
        let text = format!("There is no tool `{}`. The tools are: {}.", call.name, known.join(", "));
        return settle(drive, &call, error(text)).await;
    };
    let ctx = context(drive, &call, seen);
    let arguments = match tools::arguments::parse(&call.arguments, tool.spec()) {
        Ok(arguments) => arguments,
        Err(bad) => return settle(drive, &call, error(bad.0)).await,
    };
    if call.name == tools::ASK {
        return ask(drive, &call, &arguments).await;
    }
    let plan = match tool.plan(&arguments, &ctx).await {
        Ok(plan) => plan,
        // What was in flight may have done its work and so changed what a plan rests on.
        Err(bad) if call.state == ToolCallState::Running => {
            let target = tools::target(&arguments, &ctx);
            return match tools::probe(target.as_deref(), call.pre_hash.as_deref(), call.post_hash.as_deref()) {
                tools::Probe::Done => settle(drive, &call, found_done()).await,
                tools::Probe::NotDone | tools::Probe::Unknown => settle(drive, &call, uncertain(&bad.0)).await,
            };
        }
        Err(bad) => return settle(drive, &call, error(bad.0)).await,
    };
    crash::point("loop.tool_planned");
    match call.state {
        ToolCallState::Running => resume(drive, &call, tool, plan, ctx).await,
        _ => start(drive, &call, plan, ctx).await,
    }
}

fn context(drive: &Drive, call: &ToolCall, seen: Arc<Seen>) -> ToolContext {
    let (port, task, agent, id) = (drive.port.clone(), drive.task.clone(), drive.agent.clone(), call.id.clone());
    ToolContext {
        cwd: drive.place.cwd.clone(),
        own: drive.place.own.clone(),
        trusted: drive.place.trusted,
        seen,
        limits: drive.port.settings().limits,
        blobs: drive.port.blobs(),
        jobs: drive.port.jobs(&drive.run, &call.id),
        team: drive.port.team(&drive.run, &call.id),
        cancel: drive.stop.child_token(),
        live: Arc::new(move |text| {
            let (task, agent, call) = (task.clone(), agent.clone(), id.clone());
            port.show(Transient::ToolOutput { task, agent, call, text: text.to_owned() });
        }),
    }
}

/// Asks whether the call may run; runs it if so. Otherwise it now waits, or was settled as denied.
async fn start(drive: &Drive, call: &ToolCall, plan: Plan, ctx: ToolContext) -> Result<Told, Rejection> {
    let command = RunCommand::StartTool {
        run: drive.run.clone(),
        call: call.id.clone(),
        action: plan.action.clone(),
        pre_hash: plan.pre_hash.clone(),
        post_hash: plan.post_hash.clone(),
    };
    if drive.tell(command).await? == Told::Stale {
        return Ok(Told::Stale);
    }
    let snapshot = drive.port.look().await?;
    let running = snapshot.tool_calls.get(&call.id).is_some_and(|call| call.state == ToolCallState::Running);
    if !running {
        return Ok(Told::Done);
    }
    crash::point("loop.tool_started");
    perform(drive, call, plan, ctx, drive.time_left(&snapshot)).await
}

/// A call that was in flight when its host died: looking is done again, a write is looked up.
async fn resume(
    drive: &Drive,
    call: &ToolCall,
    tool: Arc<dyn Tool>,
    plan: Plan,
    ctx: ToolContext,
) -> Result<Told, Rejection> {
    let left = drive.time_left(&drive.port.look().await?);
    if !tool.spec().effect.changes_something() {
        return perform(drive, call, plan, ctx, left).await;
    }
    if plan.again == tools::Again::TakeUp {
        return match ctx.jobs.has_begun().await {
            true => perform(drive, call, plan, ctx, left).await,
            false => settle(drive, call, uncertain("nothing is left of it")).await,
        };
    }
    match tools::probe(plan.target.as_deref(), call.pre_hash.as_deref(), call.post_hash.as_deref()) {
        tools::Probe::Done => settle(drive, call, found_done()).await,
        tools::Probe::NotDone => perform(drive, call, plan, ctx, left).await,
        tools::Probe::Unknown => settle(drive, call, uncertain("the file is neither as before nor as intended")).await,
    }
}

/// Runs the call and saves its result. A tool that panics is a failed call, not the end of the Run.
async fn perform(
    drive: &Drive,
    call: &ToolCall,
    plan: Plan,
    ctx: ToolContext,
    left: Option<Duration>,
) -> Result<Told, Rejection> {
    let cancel = ctx.cancel.clone();
    let mut running = tokio::spawn((plan.run)(ctx));
    let joined = tokio::select! {
        joined = &mut running => Some(joined),
        () = overdue(&cancel) => None,
        // A budget of time ends what it runs out in.
        () = run_out(left, &cancel) => None,
    };
    let outcome = match joined {
        Some(Ok(outcome)) => outcome,
        Some(Err(panic)) => error(format!("BUG: the tool failed: {panic}")),
        None => {
            running.abort();
            let text = "Stopped; it did not end in time and was left behind. Look at what it did before you repeat it.";
            Outcome::cancelled(text)
        }
    };
    crash::point("loop.tool_done");
    if drive.leaving.is_cancelled() && call.effect != Effect::Effectful {
        // The next owner takes it up again.
        return Ok(Told::Stale);
    }
    let told = settle(drive, call, outcome).await;
    crash::point("loop.tool_settled");
    told
}

/// Tells a call to stop when its time is over; returns a moment after that.
async fn run_out(left: Option<Duration>, cancel: &CancellationToken) {
    match left {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
    cancel.cancel();
    overdue(cancel).await;
}

/// Returns a moment after a call was told to stop.
async fn overdue(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(STOP_GRACE).await;
}

async fn settle(drive: &Drive, call: &ToolCall, outcome: Outcome) -> Result<Told, Rejection> {
    let command = RunCommand::SettleTool {
        run: drive.run.clone(),
        call: call.id.clone(),
        state: outcome.state,
        parts: outcome.parts,
        saw: outcome.saw,
    };
    drive.tell(command).await
}

async fn ask(drive: &Drive, call: &ToolCall, arguments: &serde_json::Value) -> Result<Told, Rejection> {
    let asked = match tools::asked(arguments) {
        Ok(asked) => asked,
        Err(bad) => return settle(drive, call, error(bad.0)).await,
    };
    let command = RunCommand::AskPerson {
        run: drive.run.clone(),
        call: call.id.clone(),
        question: asked.question,
        options: asked.options,
        meanwhile: asked.meanwhile,
    };
    drive.tell(command).await
}

fn found_done() -> Outcome {
    let text = "The process died after this was done and before it was recorded: the file holds \
                what was to be written.";
    Outcome::done(text)
}

fn error(text: String) -> Outcome {
    Outcome::error(text)
}

fn uncertain(why: &str) -> Outcome {
    let text = format!("{} ({why})", crate::domain::decide::PROCESS_DIED);
    Outcome::text(ToolCallState::Uncertain, text)
}
