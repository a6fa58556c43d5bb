//! Commands of the person's own: run, read, put into the message or not.

use super::super::action::{Effect, Step};
use super::super::model::{Model, Overlay};
use super::super::shell::{Ran, Shell};

/// Runs what was typed.
pub(super) fn run(model: &mut Model, command: String) -> Vec<Effect> {
    model.composer.resume();
    // Set apart from the screen, as a shell would, but for good.
    if let Some(line) = command.strip_prefix('&') {
        return super::jobs::start(model, line.trim().to_owned());
    }
    let folder = model.folder().to_owned();
    model.shell = Some(Shell { command: command.clone(), since: model.now, ran: None, back: 0 });
    model.overlay = Some(Overlay::Shell);
    vec![Effect::RunInShell { command, folder }]
}

/// It ended.
pub(super) fn ended(model: &mut Model, ran: Ran) -> Vec<Effect> {
    if let Some(shell) = &mut model.shell {
        shell.ran = Some(ran);
    }
    Vec::new()
}

pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 2).max(1);
    if let Some(shell) = &mut model.shell {
        let rows = shell.ran.as_ref().map_or(0, |ran| ran.output.lines().count());
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
        }
        None => model.say("it still runs"),
    }
    Vec::new()
}

/// Puts it away; one that still runs is stopped.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    model.overlay = None;
    match model.shell.take() {
        Some(shell) if shell.ran.is_none() => vec![Effect::StopShell],
        Some(_) | None => Vec::new(),
    }
}
