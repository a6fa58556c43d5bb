//! `jobs`: which there are, how one stands, what it printed; and waiting for one, for a while.

use super::super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, output, plan};
use super::{cwd, id, told};
use crate::agent::port::JobPhase;
use crate::domain::permission::{Access, Action};
use crate::domain::*;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;

/// How many lines are shown unless it is said.
const LINES: u32 = 50;

/// The longest that is waited at once, in seconds.
const LONGEST: u64 = 600;

/// Looks at Jobs.
pub(in super::super) struct JobsTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// list, show, log, search or wait
    action: String,
    /// The Job (all but list)
    id: Option<String>,
    /// log, search: how many (default 50, the last)
    lines: Option<u32>,
    /// log, search: from this byte on
    from: Option<u64>,
    /// log: of the last so many seconds
    since: Option<u64>,
    /// search: regex
    pattern: Option<String>,
    /// wait: at most so long (default 60)
    seconds: Option<u64>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Look at background Jobs of this Task: state, progress, output.";
    arguments::spec::<Arguments>(super::JOBS, description, Effect::Pure)
});

enum Wanted {
    List,
    Show(JobId),
    Log { job: JobId, place: LogPlace, lines: u32 },
    Search { job: JobId, pattern: String, from: u64, lines: u32 },
    Wait { job: JobId, most: Duration },
}

impl Tool for JobsTool {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let job = || id(given.id.as_deref(), &SPEC);
            let lines = given.lines.unwrap_or(LINES).clamp(1, 2000);
            let wanted = match given.action.as_str() {
                "list" => Wanted::List,
                "show" => Wanted::Show(job()?),
                "log" => {
                    let place = match (given.from, given.since) {
                        (Some(from), _) => LogPlace::Offset(from),
                        (None, Some(seconds)) => {
                            LogPlace::Time(super::now().saturating_sub_unsigned(seconds.saturating_mul(1000)))
                        }
                        (None, None) => LogPlace::Tail,
                    };
                    Wanted::Log { job: job()?, place, lines }
                }
                "search" => {
                    let Some(pattern) = given.pattern.clone().filter(|pattern| !pattern.is_empty()) else {
                        return Err(arguments::bad(&SPEC, "`pattern` is missing"));
                    };
                    Wanted::Search { job: job()?, pattern, from: given.from.unwrap_or(0), lines }
                }
                "wait" => {
                    let most = Duration::from_secs(given.seconds.unwrap_or(60).clamp(1, LONGEST));
                    Wanted::Wait { job: job()?, most }
                }
                other => return Err(arguments::bad(&SPEC, &format!("there is no action `{other}`"))),
            };
            let action = Action {
                tool: SPEC.name.into(),
                access: Access::Read,
                subject: given.action.clone(),
                cwd: cwd(ctx),
                detail: String::new(),
                inside: true,
                own: true,
                beyond: String::new(),
                rule_subject: given.action,
            };
            Ok(plan(action, move |ctx| async move {
                let cancel = ctx.cancel.clone();
                tokio::select! {
                    biased;
                    () = cancel.cancelled() => Outcome::cancelled("stopped before it was done"),
                    looked = look(&ctx, wanted) => looked.unwrap_or_else(|rejection| Outcome::error(rejection.to_string())),
                }
            }))
        })
    }
}

async fn look(ctx: &ToolContext, wanted: Wanted) -> Result<Outcome, Rejection> {
    match wanted {
        Wanted::List => {
            let views = ctx.jobs.list().await?;
            if views.is_empty() {
                return Ok(Outcome::done("This Task has no Jobs."));
            }
            let text: Vec<String> = views.iter().map(told).collect();
            Ok(Outcome::done(bounded(ctx, &text.join("\n"))))
        }
        Wanted::Show(job) => Ok(Outcome::done(told(&ctx.jobs.view(&job).await?))),
        Wanted::Log { job, place, lines } => {
            let page = ctx.jobs.log(&job, place, lines).await?;
            Ok(Outcome::done(paged(ctx, &page, "of its output")))
        }
        Wanted::Search { job, pattern, from, lines } => {
            let page = ctx.jobs.search(&job, pattern, from, lines).await?;
            Ok(Outcome::done(match page.lines.is_empty() {
                true if page.to >= page.end => "Nothing found.".to_owned(),
                true => format!("Nothing found up to byte {}; go on with from={}.", page.to, page.to),
                false => paged(ctx, &page, "looked through"),
            }))
        }
        Wanted::Wait { job, most } => {
            let view = ctx.jobs.wait(&job, JobPhase::Ended, most).await?;
            let words = if view.job.state.is_ended() { "" } else { "Still running; you get a message when it ends.\n" };
            Ok(Outcome::done(format!("{words}{}", told(&view))))
        }
    }
}

/// Lines with the places that lead on from them.
fn paged(ctx: &ToolContext, page: &LogPage, what: &str) -> String {
    let lines: Vec<&str> = page.lines.iter().map(|line| line.text.as_str()).collect();
    let mut head = format!("[bytes {} to {} of {} {what}", page.from, page.to, page.end);
    if page.to < page.end {
        head.push_str(&format!("; more: from={}", page.to));
    }
    if page.start > 0 {
        head.push_str(&format!("; what came before byte {} is no longer kept", page.start));
    }
    head.push_str("]\n");
    if lines.is_empty() { format!("{head}(nothing)") } else { bounded(ctx, &format!("{head}{}", lines.join("\n"))) }
}

fn bounded(ctx: &ToolContext, text: &str) -> String {
    output::bound(text, ctx.limits.tool_output_bytes, &*ctx.blobs)
}
