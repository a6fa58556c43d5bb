//! The status line: what is true now, most important first; what has no room is left out whole.

use super::super::action::Action;
use super::super::asks;
use super::super::keymap::When;
use super::super::model::{Model, SPIN};
use super::super::projection::Host;
use super::super::{text, words};
use super::put;
use crate::domain::{RunState, Task, TaskStatus, ToolCallState};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let area = model.layout.status;
    if area.area() == 0 {
        return;
    }
    let theme = &model.theme;
    // Where the chat is not shown, a word to the person has no other place.
    let said = model.hint.as_ref().filter(|_| model.layout.rule.area() == 0);
    let (sign, state, style) = match said {
        Some(hint) if hint.warns => ("!", text::line(&hint.text), theme.warn.into()),
        Some(hint) => ("›", text::line(&hint.text), theme.text.into()),
        None => state(model),
    };
    let mut spans = vec![Span::styled(format!(" {sign} "), style), Span::styled(state, style)];
    let mut room = usize::from(area.width);
    spans = super::cut_spans(spans, room.saturating_sub(1));
    room -= spans.iter().map(|span| text::width(&span.content)).sum::<usize>();
    let help = format!("{} keys ", model.keymap.key_of(When::Panes, &Action::OpenHelp));
    let mut facts = Vec::new();
    for fact in facts_of(model).into_iter().chain([help]) {
        let wide = text::width(&fact) + 3;
        if wide <= room {
            room -= wide;
            facts.push(fact);
        }
    }
    let facts = facts.join(" · ");
    let used: usize = spans.iter().map(|span| text::width(&span.content)).sum();
    let gap = usize::from(area.width).saturating_sub(used + text::width(&facts));
    spans.push(Span::raw(" ".repeat(gap)));
    spans.push(Span::styled(facts, Style::from(theme.dim)));
    put(buffer, area, 0, &Line::from(spans));
}

/// What is going on: a sign, its words, their style.
fn state(model: &Model) -> (&'static str, String, Style) {
    let theme = &model.theme;
    match &model.told.host {
        Host::Connecting => return ("○", "connecting…".into(), theme.dim.into()),
        Host::Lost(why) if why.is_empty() => {
            return ("!", "the host is gone, starting it again…".into(), theme.warn.into());
        }
        Host::Lost(why) => return ("!", format!("no host, trying again: {}", text::line(why)), theme.warn.into()),
        Host::Refused(reason) => return ("✗", text::line(reason), theme.error.into()),
        Host::Connected => {}
    }
    let Some(task) = model.told.task() else {
        let words = if model.wanted.is_some() { "opening…" } else { "new Task" };
        return ("○", words.into(), theme.dim.into());
    };
    if let Some(why) = &model.told.unsaved {
        return ("!", format!("can't save, trying again: {}", text::line(why)), theme.warn.into());
    }
    match model.told.run().map(|run| (run.state, run.started_at)) {
        Some((RunState::Running, since)) => {
            let picture = match model.turns() {
                true => SPINNER[(model.now / SPIN).rem_euclid(SPINNER.len() as i64) as usize],
                false => "●",
            };
            (picture, working(model, since), theme.accent.into())
        }
        Some((RunState::Interrupted | RunState::Completed | RunState::Failed | RunState::Cancelled, _)) | None => {
            resting(model, task)
        }
    }
}

fn working(model: &Model, since: i64) -> String {
    if model.told.run().is_some_and(|run| model.told.records.open_control(&run.id).is_some()) {
        return "stopping…".into();
    }
    if let Some(at) = model.told.retry_at().filter(|at| *at > model.now) {
        return format!("no answer, tried again in {}", words::duration(at - model.now + 999));
    }
    let main = model.told.main();
    let of_main = model.told.records.tool_calls.values().filter(|call| Some(&call.agent) == main);
    let running = of_main.filter(|call| call.state == ToolCallState::Running);
    let names: Vec<String> = running.map(|call| text::line(&call.name)).collect();
    let what = match names.as_slice() {
        [] => "working".to_owned(),
        [one] => format!("running {one}"),
        several => format!("running {} tools", several.len()),
    };
    format!("{what} {}", words::duration(model.now - since))
}

fn resting(model: &Model, task: &Task) -> (&'static str, String, Style) {
    let theme = &model.theme;
    let reason = task.reason.as_deref().map(text::line).unwrap_or_default();
    match task.status {
        TaskStatus::AwaitingHuman => {
            let approvals = model.told.approvals().len();
            let questions = model.told.questions().len();
            let words = match (approvals, questions) {
                (0, 0) if reason == "acceptance" => "waits for your verdict".to_owned(),
                (0, 0) => "waits for you".to_owned(),
                (0, _) => "waits for your answer".to_owned(),
                (1, _) => "waits for your approval".to_owned(),
                (several, _) => format!("waits for {several} approvals"),
            };
            ("◆", words, theme.warn.into())
        }
        TaskStatus::Active | TaskStatus::Parked if model.told.at_work() > 0 => {
            ("●", "waits for its Subagents".into(), theme.accent.into())
        }
        TaskStatus::Active if !model.told.is_due() => ("○", "idle".into(), theme.dim.into()),
        TaskStatus::Active => ("○", "starting".into(), theme.dim.into()),
        TaskStatus::Parked if reason == "job" => ("○", "waits for its Jobs".into(), theme.dim.into()),
        TaskStatus::Parked => ("○", format!("parked {reason}").trim_end().to_owned(), theme.dim.into()),
        TaskStatus::Paused => ("‖", "paused".into(), theme.warn.into()),
        TaskStatus::Completed => ("✓", "done".into(), theme.ok.into()),
        TaskStatus::Failed => ("✗", format!("failed: {reason}"), theme.error.into()),
        TaskStatus::Cancelled => ("–", "cancelled".into(), theme.dim.into()),
    }
}

/// The facts beside the state, most important first; absent ones are not there.
fn facts_of(model: &Model) -> Vec<String> {
    let mut facts = Vec::new();
    let task = model.told.task();
    let pending = asks::list(&model.told).len();
    if pending > 0 && model.told.is_running() {
        facts.push(words::many(pending, "waits for you", "wait for you"));
    }
    let elsewhere = model.told.waiting_elsewhere();
    if elsewhere > 0 {
        let words = words::many(elsewhere, "waits in another Task", "wait in other Tasks");
        facts.push(format!("{words}, {}", model.keymap.key_of(When::Panes, &Action::LookAtAsks)));
    }
    let team = model.told.at_work();
    if team > 0 {
        facts.push(words::many(team, "Subagent", "Subagents"));
    }
    let live = model.jobs.views.iter().filter(|view| !view.job.state.is_ended()).count();
    if live > 0 {
        facts.push(words::many(live, "Job", "Jobs"));
    }
    let chosen = task.and_then(|task| task.model.as_deref()).unwrap_or(&model.facts.model);
    facts.push(text::cut(&text::line(chosen), 28));
    // Nobody counted the tokens: size and price are a guess, and look like one.
    let about = if task.is_some_and(|task| task.usage.estimated) { "~" } else { "" };
    if model.told.context_tokens > 0 {
        let used = model.told.context_tokens;
        let of = match model.facts.windows.get(chosen) {
            Some(window) if *window > 0 => format!("{}% of {}", used * 100 / window, words::count(*window)),
            Some(_) | None => format!("{} context", words::count(used)),
        };
        facts.push(format!("{about}{of}"));
    }
    if let Some(micro_usd) = task.and_then(|task| task.usage.micro_usd) {
        facts.push(format!("{about}{}", words::money(micro_usd)));
    }
    facts.push(task.map_or(model.facts.policy, |task| task.policy).name().to_owned());
    facts
}
