//! Jobs: started in the background, looked at, ended.

use super::super::show::{code as quoted, fenced};
use super::super::steps::Steps;
use super::super::wish::JobWish;
use super::{Told, quote};
use serde_json::{Value, json};

/// How many lines of a Job's output an answer shows.
const SHOWN: u32 = 20;

pub(super) fn follow(steps: &mut Steps, wish: &JobWish) -> Option<String> {
    Some(match wish {
        JobWish::Start { command, watch } => start(steps, command, watch.as_deref())?,
        JobWish::List => told(&steps.call("jobs", json!({"action": "list"}))?, "The Jobs of this Task"),
        JobWish::Log { job } => {
            let Some(job) = named(steps, job.as_deref())? else { return Some(WHICH.to_owned()) };
            let log = steps.call("jobs", json!({"action": "log", "id": job, "lines": SHOWN}))?;
            told(&log, &format!("The last lines of {job}"))
        }
        JobWish::Stop { job } => {
            let Some(job) = named(steps, job.as_deref())? else { return Some(WHICH.to_owned()) };
            let stopped = steps.call("job", json!({"action": "stop", "id": job}))?;
            match stopped.refusal() {
                Some(words) => format!("I did not stop {job}: {}", words.trim()),
                None => told(&stopped, "Stopped"),
            }
        }
    })
}

const WHICH: &str = "No Job of this Task runs, or several do. Say `show my jobs`, then `stop j_…` or \
                     `what does j_… say`.";

fn start(steps: &mut Steps, command: &str, watch: Option<&str>) -> Option<String> {
    let mut arguments = json!({"action": "start", "command": command});
    if let (Some(watch), Value::Object(arguments)) = (watch, &mut arguments) {
        arguments.insert("watch".into(), regex::escape(watch).into());
    }
    let started = steps.call("job", arguments)?;
    if let Some(words) = started.refusal() {
        return Some(format!("I did not run {}: {}", quoted(command), words.trim()));
    }
    if !started.is_done() {
        return Some(format!("{} could not be started: {}", quoted(command), quote(&started.text)));
    }
    let when = match watch {
        Some(watch) => format!("I tell you when it ends, or says {}", quoted(watch)),
        None => "I tell you when it ends".to_owned(),
    };
    Some(format!("{} runs in the background. {when}.\n\n{}", quoted(command), fenced("", started.text.trim())))
}

/// The Job that is meant: the one that was named, or the only one that runs.
fn named(steps: &mut Steps, job: Option<&str>) -> Option<Option<String>> {
    if let Some(job) = job {
        return Some(Some(job.to_owned()));
    }
    let list = steps.call("jobs", json!({"action": "list"}))?;
    let heads = |line: &str| line.starts_with("j_");
    let all: Vec<&str> = list.text.lines().filter(|line| heads(line)).collect();
    let live: Vec<&str> = all
        .iter()
        .copied()
        .filter(|line| [": running", ": stopping", ": starting"].iter().any(|state| line.contains(state)))
        .collect();
    let id = |line: &&str| line.split(' ').next().unwrap_or_default().to_owned();
    Some(match (live.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => Some(id(one)),
        _ => None,
    })
}

fn told(told: &Told, head: &str) -> String {
    match told.refusal() {
        Some(words) => words.trim().to_owned(),
        None => format!("{head}:\n\n{}", fenced("", told.text.trim())),
    }
}
