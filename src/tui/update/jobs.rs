//! Jobs: listed, read, taken over, ended. What can't be taken back is asked for twice.

use super::super::action::{Effect, Pane, Step};
use super::super::jobs::{FOLLOW, JobLog, JobsAct, LOOK_EVERY, SURE_FOR};
use super::super::model::{Focus, Model};
use super::submit;
use crate::domain::{
    Event, JobCommand, JobDeed, JobDefinition, JobId, JobLevels, JobRole, JobView, LogPage, UserCommand,
};

/// How long a Job that is told to end here has before it is killed.
const GRACE_MS: u64 = 5_000;

/// Does it.
pub(super) fn act(model: &mut Model, act: JobsAct) -> Vec<Effect> {
    match act {
        JobsAct::Choose(step) => choose(model, step),
        JobsAct::Read => {
            if let Some(log) = &mut model.jobs.log {
                log.is_open = true;
            }
            Vec::new()
        }
        JobsAct::Leave => {
            if let Some(log) = &mut model.jobs.log {
                if log.found.take().is_none() {
                    log.is_open = false;
                }
                log.back = 0;
            }
            Vec::new()
        }
        JobsAct::Scroll(step) => scroll(model, step),
        JobsAct::Follow => super::job_log::follow(model),
        JobsAct::Page => super::job_log::page(model),
        JobsAct::Copy => super::job_log::copy(model),
        JobsAct::Order => {
            model.jobs.order = model.jobs.order.next();
            model.jobs.pick();
            model.say(format!("Jobs {}", model.jobs.order.name()));
            read_on(model)
        }
        JobsAct::ToggleTimes => of_log(model, |log| log.times = !log.times),
        JobsAct::ToggleWrap => of_log(model, |log| log.wraps = !log.wraps),
        JobsAct::ToggleEnded => {
            model.jobs.ended = !model.jobs.ended;
            ask(model)
        }
        JobsAct::Attach => attach(model),
        JobsAct::Stop | JobsAct::Restart | JobsAct::Remove => ask_twice(model, act),
    }
}

fn of_log(model: &mut Model, change: impl FnOnce(&mut JobLog)) -> Vec<Effect> {
    if let Some(log) = &mut model.jobs.log {
        change(log);
    }
    Vec::new()
}

fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = model.layout.pane(Pane::Jobs).map_or(1, |area| usize::from(area.height / 2));
    model.jobs.chosen = step.apply(model.jobs.chosen, model.jobs.views.len(), page);
    read_on(model)
}

fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = model.layout.pane(Pane::Jobs).map_or(1, |area| usize::from(area.height));
    if let Some(log) = &mut model.jobs.log {
        let rows = log.shown().len();
        let at = rows.saturating_sub(log.back);
        log.back = rows - step.apply(at, rows + 1, page);
    }
    Vec::new()
}

fn attach(model: &mut Model) -> Vec<Effect> {
    let Some(view) = model.jobs.chosen() else { return Vec::new() };
    let (id, ended, terminal) = (view.job.id.clone(), view.job.state.is_ended(), view.job.definition.terminal);
    match (ended, terminal) {
        (true, _) => model.say("it has ended; its log stays"),
        (false, false) => model.say("it has no terminal; `cowork jobs send` lets it read something"),
        (false, true) => return vec![Effect::Attach(id)],
    }
    Vec::new()
}

fn ask_twice(model: &mut Model, act: JobsAct) -> Vec<Effect> {
    let Some(view) = model.jobs.chosen() else { return Vec::new() };
    let (job, name, ended) = (view.job.id.clone(), view.job.definition.name.clone(), view.job.state.is_ended());
    let what = match act {
        JobsAct::Stop if ended => {
            model.say("it has ended");
            return Vec::new();
        }
        JobsAct::Remove if !ended => {
            model.say("it still runs: stop it first");
            return Vec::new();
        }
        JobsAct::Restart if ended => "starts it again",
        JobsAct::Restart => "ends it and starts it again",
        JobsAct::Remove => "takes it away, with its log",
        _ => "ends it",
    };
    let confirmed =
        model.jobs.sure.take().is_some_and(|(asked, of, at)| asked == act && of == job && model.now - at < SURE_FOR);
    if !confirmed {
        model.jobs.sure = Some((act, job, model.now));
        model.say(format!("the same key again {what}: {name}"));
        return Vec::new();
    }
    let deed = match act {
        JobsAct::Restart => JobDeed::Restart { job, grace_ms: GRACE_MS },
        JobsAct::Remove => JobDeed::Remove { job },
        _ => JobDeed::Stop { job, grace_ms: GRACE_MS },
    };
    submit(model, UserCommand::Job { deed }, None)
}

/// What a person typed, as a Job in the folder.
pub(super) fn definition(model: &Model, line: String) -> JobDefinition {
    JobDefinition {
        name: String::new(),
        command: JobCommand::Shell(line),
        cwd: model.folder().to_owned(),
        terminal: true,
        role: JobRole::Work,
        watch: Vec::new(),
        levels: JobLevels::default(),
    }
}

/// Starts what a person typed as a Job of the open Task, or as their own.
pub(super) fn start(model: &mut Model, line: String) -> Vec<Effect> {
    let definition = Box::new(definition(model, line));
    model.focus = Focus::Side(Pane::Jobs);
    model.sizes.hidden.remove(&Pane::Jobs);
    submit(model, UserCommand::Job { deed: JobDeed::Start { task: model.wanted.clone(), definition } }, None)
}

/// Looks for something in the log of the chosen Job.
pub(super) fn find(model: &mut Model, pattern: String) -> Vec<Effect> {
    let Some(job) = model.jobs.chosen().map(|view| view.job.id.clone()) else { return Vec::new() };
    let mut log = model.jobs.log.take().filter(|log| log.job == job).unwrap_or_else(|| JobLog::new(job.clone()));
    log.is_open = true;
    log.back = 0;
    log.found = Some((pattern.clone(), Vec::new()));
    model.jobs.log = Some(log);
    vec![Effect::SearchJob { job, pattern, from: 0 }]
}

/// Asks which Jobs there are, once at a time.
pub(super) fn ask(model: &mut Model) -> Vec<Effect> {
    model.jobs.next = model.now + LOOK_EVERY;
    if model.jobs.refresh.ask() { vec![Effect::ListJobs { ended: model.jobs.ended }] } else { Vec::new() }
}

/// Whether the pane is on screen.
fn is_seen(model: &Model) -> bool {
    model.layout.pane(Pane::Jobs).is_some()
}

/// Time passed: looks again while something that lives is on screen, sooner at a log that grows.
pub(super) fn tick(model: &mut Model) -> Vec<Effect> {
    if !is_seen(model) || !model.jobs.lives() {
        return Vec::new();
    }
    if model.jobs.next <= model.now {
        return ask(model);
    }
    let now = model.now;
    let grows = |log: &&mut JobLog| !log.asked && log.next.is_some_and(|next| next <= now);
    let Some(log) = model.jobs.log.as_mut().filter(grows) else { return Vec::new() };
    log.asked = true;
    vec![Effect::ReadJob { job: log.job.clone(), place: log.place() }]
}

/// An event may have changed what there is.
pub(super) fn heard(model: &mut Model, event: &Event) -> Vec<Effect> {
    match event {
        Event::JobCreated { .. }
        | Event::JobStarted { .. }
        | Event::JobOrphaned { .. }
        | Event::JobStopRequested { .. }
        | Event::JobSettled { .. }
        | Event::JobRemoved { .. } => ask(model),
        _ => Vec::new(),
    }
}

/// The list is there.
pub(super) fn listed(model: &mut Model, views: Vec<JobView>) -> Vec<Effect> {
    model.jobs.take(views);
    let mut effects = read_on(model);
    if model.jobs.refresh.answered() {
        effects.push(Effect::ListJobs { ended: model.jobs.ended });
    }
    effects
}

/// Asks for what came to the log of the chosen Job.
pub(super) fn read_on(model: &mut Model) -> Vec<Effect> {
    if !is_seen(model) {
        return Vec::new();
    }
    let Some(view) = model.jobs.chosen() else {
        model.jobs.log = None;
        return Vec::new();
    };
    let (job, printed) = (view.job.id.clone(), view.seen.log_bytes);
    if model.jobs.log.as_ref().is_none_or(|log| log.job != job) {
        model.jobs.log = Some(JobLog::new(job.clone()));
    }
    let Some(log) = &mut model.jobs.log else { return Vec::new() };
    if log.asked || log.to >= printed || (log.moment.is_some() && !log.lines.is_empty()) {
        return Vec::new();
    }
    log.asked = true;
    vec![Effect::ReadJob { job, place: log.place() }]
}

/// Lines of a log are there.
pub(super) fn read(model: &mut Model, job: &JobId, page: LogPage) -> Vec<Effect> {
    let Some(log) = model.jobs.log.as_mut().filter(|log| log.job == *job) else { return Vec::new() };
    let grew = !page.lines.is_empty() && page.end > log.to && log.moment.is_none();
    let more = grew && page.to < page.end;
    log.take(page);
    log.next = grew.then_some(model.now + FOLLOW);
    if more && !log.is_far {
        log.asked = true;
        return vec![Effect::ReadJob { job: job.clone(), place: log.place() }];
    }
    Vec::new()
}

/// Lines in which something was found are there.
pub(super) fn found(model: &mut Model, job: &JobId, pattern: &str, page: LogPage) -> Vec<Effect> {
    let Some(log) = model.jobs.log.as_mut().filter(|log| log.job == *job) else { return Vec::new() };
    let Some((wanted, found)) = &mut log.found else { return Vec::new() };
    if wanted != pattern {
        return Vec::new();
    }
    found.extend(page.lines);
    let enough = found.len() >= 5_000;
    if page.to < page.end && !enough {
        return vec![Effect::SearchJob { job: job.clone(), pattern: pattern.to_owned(), from: page.to }];
    }
    if found.is_empty() {
        model.say("nothing like that was printed");
    }
    Vec::new()
}

/// The terminal is ours again.
pub(super) fn attached(model: &mut Model, result: Result<(), String>) -> Vec<Effect> {
    if let Err(why) = result {
        model.warn(why);
    }
    ask(model)
}

/// Lets the command that an agent runs go on as a Job.
pub(super) fn background(model: &mut Model) -> Vec<Effect> {
    match model.wanted.clone() {
        Some(task) => submit(model, UserCommand::Background { task }, None),
        None => {
            model.say("nothing runs");
            Vec::new()
        }
    }
}
