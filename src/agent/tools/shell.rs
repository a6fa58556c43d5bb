//! `shell`: a command, without a terminal, until its leader exits or it goes on in the background.
//!
//! Whatever the leader leaves behind in its session is ended and named; what left the session is
//! named and left alone. It outlives this process: the next host takes the call up as it stands.

mod capture;
mod check;
mod reach;
mod run;

pub use check::{Ran, run_command};

use super::{Again, BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, output, plan};
use crate::agent::running::{Finished, Line, Listener, Ran as RanAs, Stop};
use crate::domain::permission::{Access, Action};
use crate::domain::{Effect, SHELL, ToolCallState, sanitise};
use crate::process::{Exit, Member};
use capture::{Capture, Live};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::time::Instant;

/// The longest a command may be given.
const MOST_SECONDS: u64 = 3600;

/// The most processes that are named one by one.
const MOST_NAMED: usize = 10;

/// Runs a command.
pub(super) struct Shell;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// For bash -c
    command: String,
    /// Seconds it may run
    timeout: Option<u64>,
    /// Seconds, then it goes on as a Job
    background: Option<u64>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Run a command in the Task's folder. No terminal, no input; \
                       what it leaves behind is ended.";
    arguments::spec::<Arguments>(SHELL, description, Effect::Reconcilable)
});

impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let Arguments { command, timeout, background } = arguments::typed(arguments, &SPEC)?;
            if command.trim().is_empty() {
                return Err(arguments::bad(&SPEC, "`command` is empty"));
            }
            if command.contains('\0') {
                return Err(arguments::bad(&SPEC, "`command` holds a NUL character"));
            }
            let seconds = timeout.unwrap_or(ctx.limits.shell_seconds).clamp(1, MOST_SECONDS);
            let action = action(SPEC.name, &command, &command, ctx);
            let in_front = background.map(Duration::from_secs);
            let doing = plan(action, move |ctx| async move { shell(&ctx, command, seconds, in_front).await });
            Ok(Plan { again: Again::TakeUp, ..doing })
        })
    }
}

/// What is judged where a line of shell is run in the Task's folder: `subject` is shown, `line` runs.
pub(super) fn action(tool: &str, subject: &str, line: &str, ctx: &ToolContext) -> Action {
    let home = std::env::home_dir();
    let scope = reach::Scope { cwd: &ctx.cwd, own: &ctx.own, home: home.as_deref() };
    let beyond = reach::beyond(line, &scope);
    Action {
        tool: tool.into(),
        access: Access::Execute,
        subject: subject.to_owned(),
        cwd: ctx.cwd.to_string_lossy().into_owned(),
        detail: String::new(),
        inside: beyond.is_empty(),
        own: false,
        beyond,
        rule_subject: subject.to_owned(),
    }
}

/// What a model and those who watch hear of a command.
struct Heard<'a> {
    ctx: &'a ToolContext,
    capture: Capture,
    live: Live,
}

impl Listener for Heard<'_> {
    fn hear<'a>(&'a mut self, chunk: &'a [u8]) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            self.capture.push(self.ctx, chunk).await;
            self.live.push(chunk);
        })
    }
    fn due(&self) -> Option<Instant> {
        self.live.due()
    }
    fn tell(&mut self) {
        self.live.tell(self.ctx);
    }
}

async fn shell(ctx: &ToolContext, line: String, seconds: u64, in_front: Option<Duration>) -> Outcome {
    let mut heard = Heard { ctx, capture: Capture::new(), live: Live::new() };
    let (cwd, at_most, cancel) = (ctx.cwd.clone(), Duration::from_secs(seconds), ctx.cancel.clone());
    let ran = match ctx.jobs.run(Line { line, cwd, at_most, in_front, cancel }, &mut heard).await {
        Ok(ran) => ran,
        Err(rejection) => return Outcome::error(rejection.to_string()),
    };
    heard.live.end(ctx);
    let output = heard.capture.told(ctx).await;
    let output = if output.is_empty() { "(no output)\n" } else { &output };
    match ran {
        RanAs::Finished(finished) => told(&finished, seconds, output),
        RanAs::Kept { job, took } => Outcome::done(format!(
            "still runs after {:.1} s, and goes on in the background as Job {job}. You get a message when it ends; \
             `jobs` looks at it, `job` acts on it. Its output so far:\n{output}",
            took.as_secs_f64()
        )),
        RanAs::NotStarted(why) => Outcome::error(why),
        RanAs::Uncertain(why) => {
            let text = format!(
                "how it ended is not known: {why}. It may have happened, wholly or in part; look at the state of \
                 things before you repeat it."
            );
            Outcome::text(ToolCallState::Uncertain, format!("{text}\n{output}"))
        }
        RanAs::Left => Outcome::cancelled("left to the next host"),
    }
}

fn told(finished: &Finished, seconds: u64, output: &str) -> Outcome {
    let Finished { stop, took, ended } = finished;
    let took = took.as_secs_f64();
    let mut text = match stop {
        Stop::Exited => format!("{} after {took:.1} s\n", ended.exit),
        Stop::TimedOut => {
            format!(
                "timed out after {seconds} s and {}; `timeout` may be up to {MOST_SECONDS}, and with `background` it goes on as a Job\n",
                ended.exit
            )
        }
        Stop::Cancelled => format!("stopped on request after {took:.1} s and {}\n", ended.exit),
    };
    for (members, said) in [
        (&ended.killed, "still ran when it ended, and was ended"),
        (&ended.survivors, "COULD NOT be ended and still runs"),
        (&ended.strays, "left its session and still runs; its output is not seen any more"),
    ] {
        members.iter().take(MOST_NAMED).for_each(|member| text.push_str(&format!("[{}: {said}]\n", named(member))));
        if members.len() > MOST_NAMED {
            text.push_str(&format!("[{} more: {said}]\n", members.len() - MOST_NAMED));
        }
    }
    text.push_str(output);
    let state = match (stop, ended.exit) {
        (Stop::Cancelled, _) => ToolCallState::Cancelled,
        (Stop::Exited, Exit::Code(0)) => ToolCallState::Done,
        (Stop::Exited, Exit::Code(_) | Exit::Signal(_) | Exit::Unknown) | (Stop::TimedOut, _) => ToolCallState::Error,
    };
    Outcome::text(state, text)
}

/// A process as it is named in a result: its command line is not ours.
fn named(member: &Member) -> String {
    let command = sanitise::line(&member.command);
    format!("{} (pid {})", output::short(&command, 200), member.pid)
}

/// Runs a line where there is no runtime: for tests of what is told of it.
#[cfg(test)]
pub(super) async fn run_directly(line: Line, listener: &mut dyn Listener) -> Result<RanAs, crate::domain::Rejection> {
    let ran = run::run(&line.line, &line.cwd, line.at_most.as_secs(), &line.cancel, listener).await;
    Ok(ran.map_or_else(|error| RanAs::NotStarted(error.to_string()), RanAs::Finished))
}

#[cfg(test)]
mod tests;
