//! `job`: start a command in the background, and everything that is told to one.

use super::super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, plan, shell};
use super::{id, told};
use crate::agent::port::JobPhase;
use crate::domain::permission::Action;
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;

/// How long a start, or an end after the grace, is waited for before it is told as it stands.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long what is told to end has before it is killed, unless another time is given.
const GRACE: u64 = 5;

/// Does something with Jobs.
pub(in super::super) struct JobTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// start, send, signal, stop or restart
    action: String,
    /// start: for bash -c
    command: Option<String>,
    /// start: short
    name: Option<String>,
    /// start: regex; a match is a message
    watch: Option<String>,
    /// start: most seconds of silence
    silence: Option<u64>,
    /// start: most seconds
    deadline: Option<u64>,
    /// start: most megabytes
    memory: Option<u64>,
    /// start: beyond these, stop or restart
    then: Option<String>,
    /// start: a server, not waited for
    #[serde(default)]
    service: bool,
    /// The Job, else
    id: Option<String>,
    /// send; end lines with \n
    text: Option<String>,
    /// signal: such as INT
    signal: Option<String>,
    /// Seconds from TERM to KILL
    grace: Option<u64>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Run a command in the background, for minutes or days. You get a message when it ends.";
    arguments::spec::<Arguments>(super::JOB, description, Effect::Effectful)
});

impl Tool for JobTool {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let job = || id(given.id.as_deref(), &SPEC);
            let grace_ms = given.grace.unwrap_or(GRACE).min(3600) * 1000;
            let (deed, action) = match given.action.as_str() {
                "start" => {
                    let line = given.command.clone().unwrap_or_default();
                    if line.trim().is_empty() {
                        return Err(arguments::bad(&SPEC, "`command` is missing"));
                    }
                    let definition = definition(&given, levels(&given)?, &line, ctx);
                    let deed = JobDeed::Start { task: None, definition: Box::new(definition) };
                    (deed, shell::action(SPEC.name, &line, &line, ctx))
                }
                "send" => {
                    let text = given.text.clone().unwrap_or_default();
                    if text.is_empty() {
                        return Err(arguments::bad(&SPEC, "`text` is missing"));
                    }
                    let job = job()?;
                    // What is typed may be a command: it is judged like one.
                    let action = shell::action(SPEC.name, &format!("type into {job}: {text}"), &text, ctx);
                    (JobDeed::Send { job, text, close: false }, action)
                }
                "signal" => {
                    let name = given.signal.as_deref().unwrap_or_default();
                    let Some(signal) = crate::process::signal_number(name) else {
                        return Err(arguments::bad(&SPEC, &format!("there is no signal `{name}`")));
                    };
                    let job = job()?;
                    let action = shell::action(SPEC.name, &format!("signal {job}: {name}"), "", ctx);
                    (JobDeed::Signal { job, signal }, action)
                }
                "stop" => {
                    let job = job()?;
                    let action = shell::action(SPEC.name, &format!("stop {job}"), "", ctx);
                    (JobDeed::Stop { job, grace_ms }, action)
                }
                "restart" => {
                    let job = job()?;
                    let line = match ctx.jobs.view(&job).await {
                        Ok(view) => view.job.definition.command.to_string(),
                        Err(rejection) => return Err(arguments::bad(&SPEC, &rejection.to_string())),
                    };
                    let action = shell::action(SPEC.name, &format!("restart {job}: {line}"), &line, ctx);
                    (JobDeed::Restart { job, grace_ms }, action)
                }
                other => return Err(arguments::bad(&SPEC, &format!("there is no action `{other}`"))),
            };
            Ok(doing(action, deed))
        })
    }
}

/// What is normal for it, as the model says.
fn levels(given: &Arguments) -> Result<JobLevels, BadCall> {
    let reaction = match given.then.as_deref() {
        None | Some("") => None,
        Some(word) => match JobReaction::ALL.iter().copied().find(|reaction| reaction.as_str() == word) {
            Some(reaction) => Some(reaction),
            None => return Err(arguments::bad(&SPEC, &format!("`then` is stop or restart, not `{word}`"))),
        },
    };
    let ms = |seconds: Option<u64>| seconds.map(|seconds| seconds.saturating_mul(1_000));
    let levels = JobLevels {
        silence_ms: ms(given.silence),
        deadline_ms: ms(given.deadline),
        rss_bytes: given.memory.map(|megabytes| megabytes.saturating_mul(1_000_000)),
        reaction,
        ..JobLevels::default()
    };
    if levels.is_empty() && reaction.is_some() {
        return Err(arguments::bad(&SPEC, "`then` needs one of silence, deadline, memory"));
    }
    Ok(levels)
}

fn definition(given: &Arguments, levels: JobLevels, line: &str, ctx: &ToolContext) -> JobDefinition {
    JobDefinition {
        name: given.name.clone().unwrap_or_default(),
        command: JobCommand::Shell(line.to_owned()),
        cwd: super::cwd(ctx),
        terminal: true,
        role: if given.service { JobRole::Service } else { JobRole::Work },
        watch: given.watch.iter().filter(|pattern| !pattern.is_empty()).cloned().collect(),
        levels,
    }
}

fn doing(action: Action, deed: JobDeed) -> Plan {
    plan(action, move |ctx| async move {
        let about = deed.job().cloned();
        match ctx.jobs.act(deed.clone()).await {
            Ok(made) => done(&ctx, &deed, made.or(about)).await,
            Err(rejection) => Outcome::error(rejection.to_string()),
        }
    })
}

/// Tells what came of it, as soon as that is known.
async fn done(ctx: &ToolContext, deed: &JobDeed, job: Option<JobId>) -> Outcome {
    let Some(job) = job else { return Outcome::error("BUG: it is not known which Job that was") };
    let (phase, most, words) = match deed {
        JobDeed::Start { .. } | JobDeed::Keep { .. } => (JobPhase::Started, PATIENCE, "Started: "),
        JobDeed::Stop { grace_ms, .. } => (JobPhase::Ended, PATIENCE + Duration::from_millis(*grace_ms), ""),
        JobDeed::Restart { .. } => (JobPhase::Started, PATIENCE, "To be started again: "),
        JobDeed::Send { .. } => return Outcome::done(format!("Sent to {job}.")),
        JobDeed::Signal { signal, .. } => return Outcome::done(format!("Signal {signal} sent to {job}.")),
        JobDeed::Remove { .. } => return Outcome::done(format!("{job} is taken away.")),
    };
    let viewed = tokio::select! {
        biased;
        () = ctx.cancel.cancelled() => return Outcome::cancelled(format!("stopped; {job} goes on, see `jobs`")),
        viewed = ctx.jobs.wait(&job, phase, most) => viewed,
    };
    match viewed {
        Ok(view) if view.job.state == JobState::FailedToStart => Outcome::error(told(&view)),
        Ok(view) => Outcome::done(format!("{words}{}", told(&view))),
        Err(rejection) => Outcome::error(rejection.to_string()),
    }
}
