//! Jobs: asked for, told to end, ended. Each is started once, and its end is told once.

use super::*;
use crate::domain::command::{JobDeed, JobReport};

/// The longest name that is made from a command, in characters.
const NAME: usize = 40;

/// The most of a printed line that a message repeats, in characters.
const LINE: usize = 300;

/// How long what is told to end because its Task is cancelled has before it is killed.
const CANCEL_GRACE_MS: u64 = 5_000;

/// A person does something with a Job.
pub(super) fn by_person(d: &mut Decision, deed: &JobDeed) -> Result<(), Rejection> {
    let origin = format!("command:{}", d.command);
    match deed {
        JobDeed::Start { task, definition } => {
            let task = task.as_ref().map(|id| d.task(id)).transpose()?;
            create(d, None, task.as_ref(), definition, origin)
        }
        JobDeed::Keep { .. } => Err(Rejection::invalid("only a call can keep what it runs", "")),
        JobDeed::Send { job, .. }
        | JobDeed::Signal { job, .. }
        | JobDeed::Stop { job, .. }
        | JobDeed::Restart { job, .. }
        | JobDeed::Remove { job } => {
            let job = known(d, job)?;
            with(d, &job, deed, origin)
        }
    }
}

/// An agent does something with a Job of its Task, as the effect of a call.
pub(super) fn by_agent(d: &mut Decision, run: &RunId, call: &ToolCallId, deed: &JobDeed) -> Result<(), Rejection> {
    let (_, task, agent) = d.running(run)?;
    let call = d.open_call(&agent, call)?;
    if call.state != ToolCallState::Running {
        return Err(Rejection::wrong_state(format!("call {} was never started", call.id), ""));
    }
    let origin = origin_of(&call.id);
    match deed {
        JobDeed::Start { definition, .. } => create(d, None, Some(&task), definition, origin),
        JobDeed::Keep { definition } => create(d, Some(JobId::of_call(&call.id)), Some(&task), definition, origin),
        JobDeed::Send { job, .. }
        | JobDeed::Signal { job, .. }
        | JobDeed::Stop { job, .. }
        | JobDeed::Restart { job, .. }
        | JobDeed::Remove { job } => {
            let job = known(d, job)?;
            if job.task.as_ref() != Some(&task.id) {
                return Err(no_such(&job.id));
            }
            with(d, &job, deed, origin)
        }
    }
}

/// What names a call as the one that asked for a Job.
pub(super) fn origin_of(call: &ToolCallId) -> String {
    format!("call:{call}")
}

fn no_such(id: &JobId) -> Rejection {
    Rejection::not_found(format!("Job {id}"), "`cowork jobs ls --all` lists the Jobs")
}

fn known(d: &Decision, id: &JobId) -> Result<Job, Rejection> {
    d.snap.jobs.get(id).cloned().ok_or_else(|| no_such(id))
}

/// Has a Job made; what runs already has its id.
fn create(
    d: &mut Decision,
    id: Option<JobId>,
    task: Option<&Task>,
    definition: &JobDefinition,
    origin: String,
) -> Result<(), Rejection> {
    if d.snap.jobs.values().any(|job| job.origin == origin) {
        return Ok(());
    }
    let mut definition = checked(definition)?;
    if definition.name.is_empty() {
        definition.name = short(&definition.command.to_string(), NAME);
    }
    let job = Job {
        id: id.unwrap_or_else(|| JobId::new(&mut d.ids)),
        origin,
        task: task.map(|task| task.id.clone()),
        actor: d.actor.clone(),
        definition,
        state: JobState::Starting,
        process: None,
        stop: None,
        note: None,
        matched_through: 0,
        breached: Vec::new(),
        end: None,
        created_at: d.at,
    };
    d.emit(task.map(|task| &task.id), Event::JobCreated { job });
    if let Some(task) = task {
        d.settle_status(&task.id);
    }
    Ok(())
}

fn checked(definition: &JobDefinition) -> Result<JobDefinition, Rejection> {
    let mut definition = definition.clone();
    definition.name = definition.name.trim().to_owned();
    let words: Vec<&str> = match &definition.command {
        JobCommand::Shell(line) => vec![line],
        JobCommand::Program(words) => words.iter().map(String::as_str).collect(),
    };
    if words.first().is_none_or(|word| word.trim().is_empty()) {
        return Err(Rejection::invalid("there is no command", "say what is to be run"));
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err(Rejection::invalid("the command holds a NUL character", "leave it out"));
    }
    if !definition.cwd.starts_with('/') {
        let hint = "give the folder's whole path";
        return Err(Rejection::invalid(format!("`{}` is no folder to run in", definition.cwd), hint));
    }
    for pattern in &definition.watch {
        if let Err(error) = regex::bytes::Regex::new(pattern) {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or_default();
            return Err(Rejection::invalid(
                format!("`{pattern}` is no regular expression: {why}"),
                "write it another way",
            ));
        }
    }
    Ok(definition)
}

fn with(d: &mut Decision, job: &Job, deed: &JobDeed, origin: String) -> Result<(), Rejection> {
    let (id, task) = (job.id.clone(), job.task.clone());
    let has_ended = || {
        let hint = format!("`cowork jobs restart {id}` starts it again");
        Rejection::wrong_state(format!("Job {id} has ended ({})", job.told()), hint)
    };
    match deed {
        JobDeed::Start { .. } | JobDeed::Keep { .. } => Ok(()),
        JobDeed::Send { text, close, .. } => {
            running(job).ok_or_else(has_ended)??;
            if text.is_empty() && !close {
                return Err(Rejection::invalid("there is nothing to send", "give the text it is to read"));
            }
            let event = Event::JobInputSent { job: id, bytes: text.len() as u64, closed: *close };
            d.emit(task.as_ref(), event);
            Ok(())
        }
        JobDeed::Signal { signal, .. } => {
            running(job).ok_or_else(has_ended)??;
            if !(1..=64).contains(signal) {
                return Err(Rejection::invalid(format!("there is no signal {signal}"), "give a name such as INT"));
            }
            d.emit(task.as_ref(), Event::JobSignalSent { job: id, signal: *signal });
            Ok(())
        }
        JobDeed::Stop { grace_ms, .. } => {
            if job.state.is_ended() {
                return Err(has_ended());
            }
            stop(d, job, JobStop { grace_ms: *grace_ms, restart: false });
            Ok(())
        }
        JobDeed::Restart { grace_ms, .. } => {
            if job.state.is_ended() {
                let task = task.as_ref().and_then(|id| d.snap.tasks.get(id)).cloned();
                return create(d, None, task.as_ref(), &job.definition, origin);
            }
            stop(d, job, JobStop { grace_ms: *grace_ms, restart: true });
            Ok(())
        }
        JobDeed::Remove { .. } => {
            if !job.state.is_ended() {
                let hint = format!("`cowork jobs stop {id}` ends it");
                return Err(Rejection::wrong_state(format!("Job {id} still runs"), hint));
            }
            d.emit(None, Event::JobRemoved { job: id });
            Ok(())
        }
    }
}

/// Whether a Job can be given something now; `None` when it has ended.
fn running(job: &Job) -> Option<Result<(), Rejection>> {
    match job.state {
        JobState::Running | JobState::Stopping => Some(Ok(())),
        JobState::Starting => {
            Some(Err(Rejection::wrong_state(format!("Job {} has not started yet", job.id), "try again in a moment")))
        }
        JobState::Exited | JobState::Signaled | JobState::FailedToStart | JobState::Cancelled | JobState::Uncertain => {
            None
        }
    }
}

fn stop(d: &mut Decision, job: &Job, stop: JobStop) {
    d.emit(job.task.as_ref(), Event::JobStopRequested { job: job.id.clone(), stop });
}

/// Tells every Job of a Task to end, for the Task is cancelled.
pub(super) fn stop_all(d: &mut Decision, task: &TaskId) {
    let live: Vec<Job> =
        d.snap.live_jobs(task).filter(|job| job.stop.is_none_or(|stop| stop.restart)).cloned().collect();
    for job in live {
        stop(d, &job, JobStop { grace_ms: CANCEL_GRACE_MS, restart: false });
    }
}

/// Takes away what is kept of a Task's Jobs, before the Task itself goes.
pub(super) fn remove_all(d: &mut Decision, task: &TaskId) -> Result<(), Rejection> {
    if let Some(job) = d.snap.live_jobs(task).next() {
        let hint = format!("`cowork jobs stop {}` ends it", job.id);
        return Err(Rejection::wrong_state(format!("Job {} of this Task still runs", job.id), hint));
    }
    let jobs: Vec<JobId> =
        d.snap.jobs.values().filter(|job| job.task.as_ref() == Some(task)).map(|job| job.id.clone()).collect();
    for job in jobs {
        d.emit(None, Event::JobRemoved { job });
    }
    Ok(())
}

/// Takes what was found out about a Job. What has ended stays as it ended.
pub(super) fn report(d: &mut Decision, id: &JobId, report: &JobReport) -> Result<(), Rejection> {
    let job = known(d, id)?;
    if job.state.is_ended() {
        return Err(Rejection::wrong_state(format!("Job {id} has ended ({})", job.told()), ""));
    }
    let task = job.task.as_ref().and_then(|id| d.snap.tasks.get(id)).cloned();
    match report {
        JobReport::Started { process } => {
            if job.state == JobState::Starting {
                let event = Event::JobStarted { job: id.clone(), process: process.clone() };
                d.emit(job.task.as_ref(), event);
            }
        }
        JobReport::Orphaned { note } => {
            if job.note.is_none() {
                d.emit(job.task.as_ref(), Event::JobOrphaned { job: id.clone(), note: note.clone() });
            }
        }
        JobReport::Matched { from, through, count, line } => {
            if *from != job.matched_through || through < from {
                return Err(Rejection::wrong_state(format!("the log of Job {id} was looked through already"), ""));
            }
            let line = short(line, LINE);
            let event = Event::JobMatched { job: id.clone(), through: *through, count: *count, line: line.clone() };
            d.emit(job.task.as_ref(), event);
            if let Some(task) = task.filter(|_| *count > 0) {
                let text = match count {
                    1 => format!("Job {id} ({}) printed what you watch for:\n{line}", job.definition.name),
                    _ => format!(
                        "Job {id} ({}) printed {count} lines of what you watch for; the last:\n{line}",
                        job.definition.name
                    ),
                };
                d.tell_main(&task, MessageKind::Job, format!("job:{id}:match:{through}"), text, Tell::soon());
                d.settle_status(&task.id);
            }
        }
        JobReport::Breached { breach, text } => breached(d, &job, task.as_ref(), breach, text),
        JobReport::Ended { state, end } => settle(d, &job, task.as_ref(), *state, end)?,
    }
    Ok(())
}

/// Tells each breach once, and does what was declared for the first.
fn breached(d: &mut Decision, job: &Job, task: Option<&Task>, breach: &str, text: &str) {
    if job.breached.iter().any(|known| known == breach) {
        return;
    }
    let id = &job.id;
    let event = Event::JobBreached { job: id.clone(), breach: breach.to_owned(), text: text.to_owned() };
    d.emit(job.task.as_ref(), event);
    let reaction = job.definition.levels.reaction.filter(|_| job.stop.is_none());
    if let Some(reaction) = reaction {
        let restart = reaction == JobReaction::Restart;
        stop(d, job, JobStop { grace_ms: CANCEL_GRACE_MS, restart });
    }
    let Some(task) = task else { return };
    let what = match reaction {
        Some(JobReaction::Stop) => " It was told to end, as was declared.",
        Some(JobReaction::Restart) => " It was told to end and is started again, as was declared.",
        None => "",
    };
    let words = format!("Job {id} ({}) is not as it should be: {text}.{what}", job.definition.name);
    d.tell_main(task, MessageKind::Job, format!("job:{id}:breach:{breach}"), words, Tell::soon());
    d.settle_status(&task.id);
}

fn settle(d: &mut Decision, job: &Job, task: Option<&Task>, state: JobState, end: &JobEnd) -> Result<(), Rejection> {
    if !state.is_ended() {
        return Err(Rejection::invalid(format!("{state} is no end"), ""));
    }
    let id = job.id.clone();
    d.emit(job.task.as_ref(), Event::JobSettled { job: id.clone(), state, end: end.clone() });
    let restarted = job.stop.is_some_and(|stop| stop.restart);
    if restarted {
        create(d, None, task, &job.definition, format!("restart:{id}"))?;
    }
    let Some(task) = task else { return Ok(()) };
    let ended = d.snap.jobs.get(&id).cloned().unwrap_or_else(|| job.clone());
    let mut text = obituary(&ended, end);
    if restarted {
        text.push_str("\nIt was started again, as a new Job, since that was asked for.");
    }
    // A machine that was restarted ended everything: that is told when there is something else to do.
    let kind = match end.evidence {
        JobEvidence::BootChanged => MessageKind::Notice,
        JobEvidence::ExitRecord
        | JobEvidence::GoneWithoutRecord
        | JobEvidence::ShimLost
        | JobEvidence::SpawnError
        | JobEvidence::NeverClaimed => MessageKind::Job,
    };
    d.tell_main(task, kind, format!("job:{id}:terminal"), text, Tell::soon());
    d.settle_status(&task.id);
    Ok(())
}

/// What an agent is told of the end of a Job.
fn obituary(job: &Job, end: &JobEnd) -> String {
    let mut text = format!("Job {} ({}) has ended: {}", job.id, job.definition.name, job.told());
    if let Some(process) = &job.process {
        let ran = end.ended_at.saturating_sub(process.started_at).max(0) as f64 / 1000.0;
        text.push_str(&format!(" after {ran:.1} s, {} bytes printed", end.log_bytes));
    }
    text.push('.');
    if let Some(reason) = &end.reason {
        text.push_str(&format!("\n{reason}"));
    }
    if let Some(line) = end.last_line.as_deref().filter(|line| !line.trim().is_empty()) {
        text.push_str(&format!("\nLast line: {}", short(line, LINE)));
    }
    text
}

/// The beginning of a text, in one line.
fn short(text: &str, most: usize) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
