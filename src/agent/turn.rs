//! One turn: deliver what is queued, send the request, show the answer while it comes, save it.

mod answer;
pub(super) mod window;

use super::context;
use super::drive::{Drive, Going, Instead, Told};
use super::model::{self, ErrorClass, Finished, ModelError, Request};
use super::naming;
use super::tools;
use crate::crash;
use crate::domain::command::PlannedCall;
use crate::domain::*;
use answer::{Answer, Ended};

/// How many answers in a row may be cut at the limit of their length and be asked to go on.
const MOST_CUTS: usize = 3;

/// The longest pause a server may ask for; beyond it the turn fails at once and plainly.
const LONGEST_PAUSE_MS: u64 = 5 * 60 * 1000;

/// A turn that has begun, or is about to.
pub(super) struct Begun {
    call: ModelCallId,
    /// The model that is asked, `PROVIDER:NAME`.
    model: String,
}

impl Begun {
    /// The next turn, as things stand.
    pub(super) fn next(drive: &Drive, snapshot: &Snapshot) -> Option<Self> {
        let (task, agent) = (snapshot.tasks.get(&drive.task)?, snapshot.agents.get(&drive.agent)?);
        let model = match &drive.instead {
            Some(instead) => instead.model.clone(),
            None => chosen_model(&drive.port.settings(), snapshot, task, agent),
        };
        Some(Self { call: fresh_call(), model })
    }

    /// The command that begins it.
    pub(super) fn command(&self, run: &RunId) -> RunCommand {
        RunCommand::BeginTurn { run: run.clone(), call: self.call.clone(), model: self.model.clone() }
    }
}

/// Takes one turn, which may have begun with what came before it.
pub(super) async fn take(drive: &mut Drive, before: Box<Snapshot>, begun: Option<Begun>) -> Going {
    let (Begun { call, model }, snapshot) = match begun {
        Some(begun) => (begun, before),
        None => {
            let Some(begun) = Begun::next(drive, &before) else { return Going::Away };
            match drive.tell(begun.command(&drive.run)).await {
                Ok(Told::Done(after)) => {
                    drive.know(after);
                    (begun, drive.known.take().unwrap_or(before))
                }
                Ok(Told::Stale) => return Going::On,
                Err(rejection) => return Going::Wrong(rejection),
            }
        }
    };
    crash::point("loop.turn_begun");
    let settings = drive.port.settings();
    let (Some(task), Some(agent)) = (snapshot.tasks.get(&drive.task), snapshot.agents.get(&drive.agent)) else {
        return Going::Away;
    };
    let before = drive.instead.as_ref().map_or(0, |instead| instead.failures_before);
    let attempt = agent.failures.saturating_sub(before);
    let of_jobs = drive.held.speaks_of_jobs();
    let mut frame = Request {
        model: model.split_once(':').map_or(model.as_str(), |(_, name)| name).to_owned(),
        system: context::system_prompt(&settings, task, agent, &snapshot, &drive.place),
        rows: Vec::new(),
        tools: offered(&snapshot, agent, of_jobs),
        info: settings.model_info(&model),
    };
    let room = |frame: &Request| {
        [window::room(frame), window::learned(&model)].into_iter().flatten().min().unwrap_or(u64::MAX)
    };
    if let Err(rejection) = drive.held.read(&*drive.port, &snapshot, &drive.agent, room(&frame)).await {
        return Going::Wrong(rejection);
    }
    if drive.held.speaks_of_jobs() != of_jobs {
        frame.tools = offered(&snapshot, agent, !of_jobs);
    }
    naming::begin(drive, task);
    let context = drive.held.rows();
    let rows = window::fit(context, agent.tail_from_seq, room(&frame));
    let size = window::size(&rows);
    let turn = Turn {
        call,
        model,
        sent: window::standing(&frame) + size,
        attempt,
        in_dollars: task.budget.micro_usd.is_some(),
        info: frame.info.clone(),
    };
    let connected = model::connect(&settings, &turn.model, drive.port.blobs());
    let mut answer = Answer::new(drive, turn.call.clone());
    let ended = match connected {
        Ok(model) => {
            let ask = |rows| model.ask(Request { rows, ..frame.clone() });
            let first = answer.receive(ask(rows), drive.time_left(&snapshot)).await;
            // Longer than the server takes: asked once more with less, and from now on with so much.
            let shorter = match &first {
                Ended::Failed(error) if error.class == ErrorClass::TooLong && answer.bytes() == 0 => {
                    Some(window::fit(context, agent.tail_from_seq, size / 2))
                        .filter(|shorter| window::size(shorter) < size)
                }
                Ended::Failed(_) | Ended::Whole(_) | Ended::Stopped => None,
            };
            match shorter {
                Some(shorter) => {
                    window::learn(&turn.model, size / 2);
                    answer.receive(ask(shorter), drive.time_left(&snapshot)).await
                }
                None => first,
            }
        }
        Err(error) => Ended::Failed(error),
    };
    let left = Left { bytes: answer.bytes(), says_something: answer.says_something(), parts: answer.into_parts() };
    match ended {
        Ended::Whole(finished) => commit(drive, turn, left.parts, finished).await,
        Ended::Stopped if drive.leaving.is_cancelled() => Going::Away,
        Ended::Stopped => {
            let told = keep_cut(drive, &turn, left).await;
            drive.go_on(told)
        }
        Ended::Failed(error) => fail(drive, turn, left, error).await,
    }
}

/// The model of an agent: its own, its role's, its Task's, the default.
fn chosen_model(settings: &Settings, snapshot: &Snapshot, task: &Task, agent: &Agent) -> String {
    let own = snapshot.live_assignment(&agent.id).and_then(|work| work.contract.model.clone());
    let of_role = match agent.role {
        AgentRole::Main => None,
        AgentRole::Subagent => settings.roles.subagent.clone(),
    };
    own.or(of_role).or_else(|| task.model.clone()).unwrap_or_else(|| settings.model_of(agent.role).to_owned())
}

/// The tools that an agent is told of: a Subagent those it was granted, Main all but a Subagent's
/// own; what there is nothing to use on yet is left out. `of_jobs`: its context speaks of Jobs.
fn offered(snapshot: &Snapshot, agent: &Agent, of_jobs: bool) -> Vec<tools::ToolSpec> {
    let granted = snapshot.live_assignment(&agent.id).map(|work| &work.contract.grant.tools);
    let may = |name: &str| match granted {
        // Whoever may give work away leads those who got it.
        Some(tools) if name == tools::LEAD => tools.iter().any(|tool| tool == tools::DELEGATE),
        Some(tools) => tools.iter().any(|tool| tool == name),
        None => !tools::OF_SUBAGENTS.contains(&name),
    };
    let is_of_use = |name: &str| match name {
        tools::LEAD => {
            let of_task = |other: &&Agent| other.task == agent.task && other.role == AgentRole::Subagent;
            snapshot.agents.values().any(|other| of_task(&other))
        }
        tools::JOBS => of_jobs || snapshot.live_jobs(&agent.task).next().is_some(),
        _ => true,
    };
    let all = tools::all();
    all.iter().map(|tool| tool.spec()).filter(|spec| may(spec.name) && is_of_use(spec.name)).cloned().collect()
}

/// A request that was sent.
struct Turn {
    call: ModelCallId,
    /// The model that was asked, `PROVIDER:NAME`.
    model: String,
    /// The size of the request, in tokens as we estimate them.
    sent: u64,
    /// How often it failed before.
    attempt: u32,
    /// Whether the Task has a budget in dollars: no model without a price may be asked then.
    in_dollars: bool,
    info: settings::ModelInfo,
}

/// What there is of an answer that did not come to its end.
struct Left {
    bytes: usize,
    says_something: bool,
    parts: Vec<Part>,
}

/// Keeps what came of an answer, marked as cut; its calls are not run.
async fn keep_cut(drive: &Drive, turn: &Turn, left: Left) -> Result<Told, Rejection> {
    let mut usage = Usage { input_tokens: turn.sent, ..Usage::estimate(0, left.bytes) };
    usage.micro_usd = turn.info.price.map(|price| cost(&price, &usage));
    let (run, call, parts) = (drive.run.clone(), turn.call.clone(), left.parts);
    drive.tell(RunCommand::CommitTurn { run, call, parts, calls: Vec::new(), usage, cut: true }).await
}

fn fresh_call() -> ModelCallId {
    let mut seed = [0; 16];
    if getrandom::fill(&mut seed).is_err() {
        seed[..8].copy_from_slice(&(std::process::id() as u64).to_le_bytes());
    }
    ModelCallId::new(&mut Ids::new(seed))
}

async fn commit(drive: &mut Drive, turn: Turn, streamed: Vec<Part>, finished: Finished) -> Going {
    crash::point("loop.turn_received");
    let parts = finished.parts.unwrap_or(streamed);
    let mut calls = finished.calls;
    if finished.cut {
        // The last call may have been cut in the middle of its arguments: it is not run.
        let is_whole =
            |arguments: &str| serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(arguments).is_ok();
        calls.retain(|(_, _, arguments)| is_whole(arguments));
    }
    let cut = finished.cut && calls.is_empty();
    let said = parts.iter().any(|part| matches!(part, Part::Text { text } if !text.trim().is_empty()));
    if cut && (!said || cuts_in_a_row(drive.held.rows()) >= MOST_CUTS) {
        let limit = turn.info.max_output_tokens.map_or(String::new(), |limit| format!(" of {limit} tokens"));
        let message = format!(
            "the answer reached its limit{limit} before it came to an end. Raise `max_output_tokens` of \
             [models.\"{}\"]",
            turn.model
        );
        let error = ModelError { class: ErrorClass::Refused, message, retry_after_ms: None };
        return fail(drive, turn, Left { bytes: 0, says_something: said, parts }, error).await;
    }
    if !cut && !said && calls.is_empty() && !parts.iter().any(|part| matches!(part, Part::Image { .. })) {
        let message = "the model gave an empty answer".to_owned();
        let error = ModelError { class: ErrorClass::Empty, message, retry_after_ms: None };
        return fail(drive, turn, Left { bytes: 0, says_something: false, parts }, error).await;
    }
    let calls = calls
        .into_iter()
        .map(|(provider_id, name, arguments)| {
            // What we do not know, we can't look up after a crash.
            let effect = tools::find(&name).map_or(Effect::Pure, |tool| tool.spec().effect);
            PlannedCall { provider_id, name, arguments, effect }
        })
        .collect();
    let mut usage = finished.usage;
    usage.turns = 1;
    usage.micro_usd = turn.info.price.map(|price| cost(&price, &usage));
    let run = drive.run.clone();
    let told = drive.tell(RunCommand::CommitTurn { run, call: turn.call, parts, calls, usage, cut }).await;
    crash::point("loop.turn_committed");
    drive.go_on(told)
}

/// How many answers at the end of a context were cut, one after the other.
fn cuts_in_a_row(rows: &[Row]) -> usize {
    rows.iter().rev().take_while(|row| row.role == Role::Assistant && row.cut).count()
}

/// Millionths of a dollar, from prices for a million tokens.
pub(super) fn cost(price: &settings::Price, usage: &Usage) -> i64 {
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let fresh = usage.input_tokens - cached;
    let dollars_per_million = fresh as f64 * price.input
        + cached as f64 * price.cached.unwrap_or(price.input)
        + usage.output_tokens as f64 * price.output;
    dollars_per_million.round() as i64
}

async fn fail(drive: &mut Drive, turn: Turn, left: Left, error: ModelError) -> Going {
    let settings = drive.port.settings();
    let pause = error.retry_after_ms.unwrap_or_else(|| back_off_ms(turn.attempt));
    let too_long = error.class.passing() && pause > LONGEST_PAUSE_MS;
    let again = error.class.passing() && turn.attempt < settings.limits.retries && !too_long;
    let instead = settings.roles.fallback.clone().filter(|fallback| {
        let affordable = !turn.in_dollars || settings.has_price(fallback);
        let fresh = drive.instead.is_none() && *fallback != turn.model;
        !again && fresh && affordable && error.class != ErrorClass::TooLong
    });
    let mut message = match too_long {
        true => too_long_a_pause(&error.message, pause),
        false => error.message,
    };
    let class = error.class.as_str().to_owned();
    let retry_at = match (again, &instead) {
        (true, _) => Some(drive.port.now() + pause as i64),
        (false, Some(fallback)) => {
            message = format!("{}. Going on with {fallback}", message.trim_end_matches(['.', ' ']));
            Some(drive.port.now())
        }
        (false, None) => None,
    };
    if let Some(model) = instead.clone() {
        drive.instead = Some(Instead { model, failures_before: turn.attempt + 1 });
    }
    let run = drive.run.clone();
    let told = match retry_at.is_none() && left.says_something {
        // Nobody will say it again.
        true => keep_cut(drive, &turn, left).await,
        false => {
            let (run, class, message) = (run.clone(), class.clone(), message.clone());
            drive.tell(RunCommand::FailTurn { run, call: turn.call, class, message, retry_at, instead }).await
        }
    };
    match told {
        Ok(Told::Done(_)) if retry_at.is_none() => {
            let detail = Some(format!("{class}: {message}"));
            let told = drive.tell(RunCommand::End { run, reason: EndReason::Model, detail }).await;
            drive.go_on(told)
        }
        other => drive.go_on(other),
    }
}

/// A server that asks for a longer pause than anybody should sit through: how long, and what to do.
fn too_long_a_pause(message: &str, pause_ms: u64) -> String {
    format!(
        "{message}. It asks to wait {}, longer than is waited here. Nothing is lost: write again then, or give the \
         Task another model now (`cowork set TASK --model PROVIDER:NAME`)",
        duration(pause_ms)
    )
}

/// A time of minutes or hours, for people; rounded up.
fn duration(ms: u64) -> String {
    match ms.div_ceil(60_000) {
        minutes @ 0..=120 => format!("{minutes} min"),
        minutes => format!("{} h", minutes.div_ceil(60)),
    }
}

/// Half a second, doubled with every failure, at most half a minute.
fn back_off_ms(attempt: u32) -> u64 {
    (500u64 << attempt.min(6)).min(30_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_counted_from_prices_for_a_million_tokens() {
        let price = settings::Price { input: 2.0, cached: Some(0.5), output: 8.0 };
        let usage = Usage { input_tokens: 1_000, cached_tokens: 400, output_tokens: 100, ..Usage::default() };
        assert_eq!(cost(&price, &usage), 1_200 + 200 + 800);
    }

    #[test]
    fn the_back_off_doubles_and_has_an_end() {
        assert_eq!([0, 1, 2, 20].map(back_off_ms), [500, 1_000, 2_000, 30_000]);
    }
}
