//! `shell`: a command, without a terminal, until its leader exits.
//!
//! Whatever the leader leaves behind in its session is ended and named; what left the session is
//! named and left alone.

mod capture;
mod reach;

use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, output, plan};
use crate::domain::permission::{Access, Action};
use crate::domain::{Effect, ToolCallState, sanitise};
use crate::process::{Ended, Exit, Member, Spec, Started};
use capture::{Capture, Live};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::time::Instant;

/// The longest a command may be given.
const MOST_SECONDS: u64 = 3600;

/// How long what the leader left behind may take to end by itself, such as a `tee` that still
/// writes.
const SETTLE: Duration = Duration::from_millis(400);

/// How long processes have between TERM and KILL.
const GRACE: Duration = Duration::from_millis(300);

/// The most that is taken from a pipe that a process outside of the session still holds open.
const MOST_LEFT: usize = 1 << 20;

/// Variables that say where tool chains, proxies and certificates are: without them a project that
/// builds in the user's shell would not build here.
const PASSED: [&str; 29] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "ANDROID_HOME",
    "NVM_DIR",
    "VOLTA_HOME",
    "PNPM_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "RBENV_ROOT",
    "NIX_PATH",
    "PKG_CONFIG_PATH",
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
];

/// Runs a command.
pub(super) struct Shell;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// For bash -c
    command: String,
    /// Seconds it may run
    timeout: Option<u64>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Run a command in the Task's folder. No terminal and no input; \
                       background processes are ended when it exits.";
    arguments::spec::<Arguments>("shell", description, Effect::Effectful, false)
});

impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let Arguments { command, timeout } = arguments::typed(arguments, &SPEC)?;
            if command.trim().is_empty() {
                return Err(arguments::bad(&SPEC, "`command` is empty"));
            }
            if command.contains('\0') {
                return Err(arguments::bad(&SPEC, "`command` holds a NUL character"));
            }
            let seconds = timeout.unwrap_or(ctx.limits.shell_seconds).clamp(1, MOST_SECONDS);
            let home = std::env::home_dir();
            let scope = reach::Scope { cwd: &ctx.cwd, own: &ctx.own, home: home.as_deref() };
            let beyond = reach::beyond(&command, &scope);
            let action = Action {
                tool: SPEC.name.into(),
                access: Access::Execute,
                subject: command.clone(),
                cwd: ctx.cwd.to_string_lossy().into_owned(),
                detail: String::new(),
                inside: beyond.is_empty(),
                beyond,
                rule_subject: command.clone(),
            };
            Ok(plan(action, move |ctx| async move { run(&ctx, &command, seconds).await }))
        })
    }
}

/// Why we stopped waiting for the leader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Exited,
    TimedOut,
    Cancelled,
}

/// The output on its way from the pipe to the capture and to those who watch.
struct Stream<'a> {
    ctx: &'a ToolContext,
    pipe: pipe::Receiver,
    open: bool,
    buffer: Vec<u8>,
    capture: Capture,
    live: Live,
}

async fn run(ctx: &ToolContext, command: &str, seconds: u64) -> Outcome {
    let begun = Instant::now();
    let spec = Spec::shell(command, &ctx.cwd).pass(PASSED);
    let (mut process, pipe) = match Started::start(&spec) {
        Ok(started) => started,
        Err(error) => return Outcome::error(error.to_string()),
    };
    let mut stream =
        Stream { ctx, pipe, open: true, buffer: vec![0; 64 << 10], capture: Capture::new(), live: Live::new() };
    let waiting = async {
        tokio::select! {
            biased;
            () = ctx.cancel.cancelled() => Stop::Cancelled,
            () = process.exited() => Stop::Exited,
            () = tokio::time::sleep(Duration::from_secs(seconds)) => Stop::TimedOut,
        }
    };
    let stop = stream.read_while(waiting).await;
    let took = begun.elapsed();
    let ending = async {
        if stop == Stop::Exited {
            tokio::select! {
                () = ctx.cancel.cancelled() => {}
                () = process.settle(SETTLE) => {}
            }
        }
        process.end(GRACE).await
    };
    let ended = stream.read_while(ending).await;
    stream.read_rest().await;
    let Stream { capture, live, .. } = stream;
    live.end(ctx);
    let text = capture.told(ctx).await;
    told(stop, seconds, took, &ended, &text)
}

impl Stream<'_> {
    /// Reads until something else is done.
    async fn read_while<T>(&mut self, other: impl Future<Output = T>) -> T {
        tokio::pin!(other);
        loop {
            let due = self.live.due();
            tokio::select! {
                biased;
                done = &mut other => return done,
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => self.live.tell(self.ctx),
                read = self.pipe.read(&mut self.buffer), if self.open => {
                    let count = read.unwrap_or(0);
                    self.open = count > 0;
                    self.take(count).await;
                }
            }
        }
    }

    /// Takes what is still in the pipe, without waiting for more.
    async fn read_rest(&mut self) {
        let mut left = MOST_LEFT;
        while self.open && left > 0 {
            // Asked of the system itself: the pipe's own idea of whether it is empty may be old.
            let count = rustix::io::read(&self.pipe, self.buffer.as_mut_slice()).unwrap_or(0);
            self.open = count > 0;
            left = left.saturating_sub(count);
            self.take(count).await;
        }
    }

    async fn take(&mut self, count: usize) {
        let chunk = &self.buffer[..count];
        self.capture.push(self.ctx, chunk).await;
        self.live.push(chunk);
    }
}

fn told(stop: Stop, seconds: u64, took: Duration, ended: &Ended, output: &str) -> Outcome {
    let took = took.as_secs_f64();
    let mut text = match stop {
        Stop::Exited => format!("{} after {took:.1} s\n", ended.exit),
        Stop::TimedOut => format!(
            "timed out: it was stopped after {seconds} s ({}); `timeout` may be up to {MOST_SECONDS}\n",
            ended.exit
        ),
        Stop::Cancelled => format!("stopped on request after {took:.1} s ({})\n", ended.exit),
    };
    for (members, said) in [
        (&ended.killed, "still ran when it exited and was ended"),
        (&ended.survivors, "COULD NOT be ended and still runs"),
        (&ended.strays, "left its session and still runs; its output is not seen any more"),
    ] {
        members.iter().for_each(|member| text.push_str(&format!("[{}: {said}]\n", named(member))));
    }
    text.push_str(if output.is_empty() { "(no output)\n" } else { output });
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

#[cfg(test)]
mod tests;
