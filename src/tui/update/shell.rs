//! Commands of the person's own: run as Jobs, read, put into the message or not.

use super::super::action::{Effect, Step};
use super::super::model::{Model, Overlay};
use super::super::shell::Shell;
use super::submit;
use crate::domain::{CommandId, Event, JobDeed, JobId, JobView, LogPage, Receipt, UserCommand};

/// How long a command has between TERM and KILL when the person stops it.
const GRACE_MS: u64 = 2_000;

/// Runs what was typed.
pub(super) fn run(model: &mut Model, command: String) -> Vec<Effect> {
    model.composer.resume();
    // Set apart from the screen, as a shell would, but for good.
    if let Some(line) = command.strip_prefix('&') {
        return super::jobs::start(model, line.trim().to_owned());
    }
    let definition = Box::new(super::jobs::definition(model, command.clone()));
    let effects = submit(model, UserCommand::Job { deed: JobDeed::Start { task: None, definition } }, None);
    let Some(asked) = model.outbox.last().map(|out| out.id.clone()) else { return effects };
    model.shell =
        Some(Shell { command, asked, job: None, since: model.now, printed: String::new(), ran: None, back: 0 });
    model.overlay = Some(Overlay::Shell);
    effects
}

/// It is known which Job it is.
pub(super) fn accepted(model: &mut Model, id: &CommandId, receipt: &Receipt) -> Vec<Effect> {
    match model.shell.as_mut().filter(|shell| shell.asked == *id) {
        Some(shell) => {
            shell.job.clone_from(&receipt.job);
            look(model)
        }
        None => Vec::new(),
    }
}

/// It was refused.
pub(super) fn refused(model: &mut Model, id: &CommandId) {
    if model.shell.take_if(|shell| shell.asked == *id).is_some() {
        model.overlay = None;
    }
}

/// Asks how it stands and what it has printed.
fn look(model: &Model) -> Vec<Effect> {
    let running = model.shell.as_ref().filter(|shell| shell.ran.is_none());
    running.and_then(|shell| shell.job.clone()).map(Effect::LookAtShell).into_iter().collect()
}

/// An event may be about it.
pub(super) fn heard(model: &Model, event: &Event) -> Vec<Effect> {
    let job = model.shell.as_ref().and_then(|shell| shell.job.as_ref());
    match event {
        Event::JobSettled { job: other, .. } if Some(other) == job => look(model),
        _ => Vec::new(),
    }
}

/// Time passed: looks again while it is on screen and runs.
pub(super) fn tick(model: &Model) -> Vec<Effect> {
    if model.overlay == Some(Overlay::Shell) { look(model) } else { Vec::new() }
}

/// How it stands.
pub(super) fn seen(model: &mut Model, job: &JobId, view: &JobView, page: &LogPage) -> Vec<Effect> {
    if let Some(shell) = model.shell.as_mut().filter(|shell| shell.job.as_ref() == Some(job)) {
        shell.take(view, page);
    }
    Vec::new()
}

pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 2).max(1);
    if let Some(shell) = &mut model.shell {
        let rows = shell.output().lines().count();
        let top = rows.saturating_sub(shell.back);
        shell.back = rows - step.apply(top, rows + 1, page);
    }
    Vec::new()
}

/// Puts the command and what it printed into the message.
pub(super) fn keep(model: &mut Model) -> Vec<Effect> {
    match model.shell.take_if(|shell| shell.ran.is_some()) {
        Some(shell) => {
            model.overlay = None;
            model.composer.chip(&shell.told());
            put_away(model, shell)
        }
        None => {
            model.say("it still runs");
            Vec::new()
        }
    }
}

/// Takes over its terminal.
pub(super) fn attach(model: &mut Model) -> Vec<Effect> {
    let running = model.shell.as_ref().filter(|shell| shell.ran.is_none());
    running.and_then(|shell| shell.job.clone()).map(Effect::Attach).into_iter().collect()
}

/// Tells it to end.
pub(super) fn stop(model: &mut Model) -> Vec<Effect> {
    let running = model.shell.as_ref().filter(|shell| shell.ran.is_none());
    match running.and_then(|shell| shell.job.clone()) {
        Some(job) => submit(model, UserCommand::Job { deed: JobDeed::Stop { job, grace_ms: GRACE_MS } }, None),
        None => Vec::new(),
    }
}

/// Puts it away; one that still runs goes on as a Job.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    model.overlay = None;
    match model.shell.take() {
        Some(shell) if shell.ran.is_none() => {
            model.say("it goes on as a Job: alt+4");
            Vec::new()
        }
        Some(shell) => put_away(model, shell),
        None => Vec::new(),
    }
}

/// What has ended and was read is not kept.
fn put_away(model: &mut Model, shell: Shell) -> Vec<Effect> {
    match shell.job {
        Some(job) => submit(model, UserCommand::Job { deed: JobDeed::Remove { job } }, None),
        None => Vec::new(),
    }
}
