//! One turn: deliver what is queued, send the request, show the answer while it comes, save it.

use super::context;
use super::drive::{Drive, Going, Told};
use super::model::{self, ErrorClass, Finished, ModelError, Request, StreamEvent};
use super::tools;
use crate::crash;
use crate::domain::command::PlannedCall;
use crate::domain::*;
use futures_util::StreamExt;
use std::time::Duration;
use tokio::time::Instant;

/// How long pieces of an answer are gathered before they are shown.
const GATHER: Duration = Duration::from_millis(30);

/// The longest pause a server may ask for; beyond it the turn fails at once and plainly.
const LONGEST_PAUSE_MS: u64 = 5 * 60 * 1000;

/// Takes one turn.
pub(super) async fn take(drive: &mut Drive, snapshot: &Snapshot) -> Going {
    let settings = drive.port.settings();
    let Some(task) = snapshot.tasks.get(&drive.task) else { return Going::Away };
    let model_name = task.model.clone().unwrap_or_else(|| settings.model.clone());
    let call = fresh_call();
    let begin = RunCommand::BeginTurn { run: drive.run.clone(), call: call.clone(), model: model_name.clone() };
    match drive.tell(begin).await {
        Ok(Told::Done) => {}
        Ok(Told::Stale) => return Going::On,
        Err(rejection) => return Going::Wrong(rejection),
    }
    crash::point("loop.turn_begun");
    if let Err(rejection) = drive.read_rows().await {
        return Going::Wrong(rejection);
    }
    let attempt = match snapshot.agents.get(&drive.agent) {
        Some(agent) => agent.failures,
        None => 0,
    };
    let tail_from = snapshot.agents.get(&drive.agent).map_or(1, |agent| agent.tail_from_seq);
    let info = settings.model_info(&model_name);
    let request = Request {
        model: model_name.split_once(':').map_or(model_name.as_str(), |(_, name)| name).to_owned(),
        system: context::system_prompt(&settings, task, snapshot, &drive.place),
        rows: drive.rows.iter().filter(|row| row.seq >= tail_from).cloned().collect(),
        tools: tools::all().iter().map(|tool| tool.spec().clone()).collect(),
        max_output_tokens: info.max_output_tokens,
    };
    let mut answer = Answer::new(drive, call.clone());
    let ended = match model::connect(&settings, &model_name, drive.port.blobs()) {
        Ok(model) => answer.receive(model.ask(request), seconds_left(task, snapshot, drive)).await,
        Err(error) => Ended::Failed(error),
    };
    match ended {
        Ended::Whole(finished) => commit(drive, call, answer.into_parts(), finished, &info).await,
        Ended::Stopped if drive.leaving.is_cancelled() => Going::Away,
        Ended::Stopped => {
            let parts = answer.into_parts();
            let usage = Usage { turns: 1, ..Usage::default() };
            let run = drive.run.clone();
            drive.tell(RunCommand::CommitTurn { run, call, parts, calls: Vec::new(), usage, cut: true }).await.into()
        }
        Ended::Failed(error) => fail(drive, call, error, attempt, settings.limits.retries).await,
    }
}

fn fresh_call() -> ModelCallId {
    let mut seed = [0; 16];
    if getrandom::fill(&mut seed).is_err() {
        seed[..8].copy_from_slice(&(std::process::id() as u64).to_le_bytes());
    }
    ModelCallId::new(&mut Ids::new(seed))
}

/// How long this turn may take under the Task's budget of seconds.
fn seconds_left(task: &Task, snapshot: &Snapshot, drive: &Drive) -> Option<Duration> {
    let limit = task.budget.seconds?.saturating_mul(1000);
    let run = snapshot.runs.get(&drive.run)?;
    let used = task.usage.run_ms + drive.port.now().saturating_sub(run.started_at).max(0) as u64;
    Some(Duration::from_millis(limit.saturating_sub(used)))
}

async fn commit(
    drive: &mut Drive,
    call: ModelCallId,
    parts: Vec<Part>,
    finished: Finished,
    info: &settings::ModelInfo,
) -> Going {
    crash::point("loop.turn_received");
    let calls = finished
        .calls
        .into_iter()
        .map(|(provider_id, name, arguments)| {
            // What we do not know, we can't look up after a crash.
            let effect = tools::find(&name).map_or(Effect::Pure, |tool| tool.spec().effect);
            PlannedCall { provider_id, name, arguments, effect }
        })
        .collect();
    let mut usage = finished.usage;
    usage.turns = 1;
    usage.micro_usd = info.price.map(|price| cost(&price, &usage));
    let run = drive.run.clone();
    let told = drive.tell(RunCommand::CommitTurn { run, call, parts, calls, usage, cut: false }).await;
    crash::point("loop.turn_committed");
    told.into()
}

/// Millionths of a dollar, from prices for a million tokens.
fn cost(price: &settings::Price, usage: &Usage) -> i64 {
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let fresh = usage.input_tokens - cached;
    let dollars_per_million = fresh as f64 * price.input
        + cached as f64 * price.cached.unwrap_or(price.input)
        + usage.output_tokens as f64 * price.output;
    dollars_per_million.round() as i64
}

async fn fail(drive: &mut Drive, call: ModelCallId, error: ModelError, attempt: u32, retries: u32) -> Going {
    let pause = error.retry_after_ms.unwrap_or_else(|| back_off_ms(attempt));
    let again = error.class.passing() && attempt < retries && pause <= LONGEST_PAUSE_MS;
    let retry_at = again.then(|| drive.port.now() + pause as i64);
    let run = drive.run.clone();
    let message = match error.class.passing() && pause > LONGEST_PAUSE_MS {
        true => too_long_a_pause(&error.message, pause),
        false => error.message.clone(),
    };
    let class = error.class.as_str().to_owned();
    let told = drive
        .tell(RunCommand::FailTurn { run: run.clone(), call, class: class.clone(), message: message.clone(), retry_at })
        .await;
    match told {
        Ok(Told::Done) if !again => {
            let detail = Some(format!("{class}: {message}"));
            drive.tell(RunCommand::End { run, reason: EndReason::Model, detail }).await.into()
        }
        other => other.into(),
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

/// How the stream of an answer ended.
enum Ended {
    /// The answer is whole.
    Whole(Finished),
    /// The step was stopped.
    Stopped,
    /// The request failed.
    Failed(ModelError),
}

/// An answer while it comes.
struct Answer<'a> {
    port: &'a dyn super::port::Port,
    stop: tokio_util::sync::CancellationToken,
    task: TaskId,
    agent: AgentId,
    call: ModelCallId,
    said: Stretch,
    thought: Stretch,
    forming: Vec<(u32, String, u64)>,
}

/// Words of one kind: what came, and how much of it was shown.
#[derive(Default)]
struct Stretch {
    text: String,
    shown: usize,
}

impl Stretch {
    /// Takes what was not shown yet, with the place where it begins.
    fn fresh(&mut self) -> Option<(u64, String)> {
        let at = self.shown;
        self.shown = self.text.len();
        (at < self.text.len()).then(|| (at as u64, self.text[at..].to_owned()))
    }
}

impl<'a> Answer<'a> {
    fn new(drive: &'a Drive, call: ModelCallId) -> Self {
        Self {
            port: drive.port.as_ref(),
            stop: drive.stop.clone(),
            task: drive.task.clone(),
            agent: drive.agent.clone(),
            call,
            said: Stretch::default(),
            thought: Stretch::default(),
            forming: Vec::new(),
        }
    }

    async fn receive(&mut self, mut stream: model::AnswerStream, time_left: Option<Duration>) -> Ended {
        let deadline = time_left.map(|left| Instant::now() + left);
        let mut show_at: Option<Instant> = None;
        loop {
            let out_of_time = async {
                match deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            let gathered = async {
                match show_at {
                    Some(at) => tokio::time::sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.stop.cancelled() => { self.show(); return Ended::Stopped; }
                () = out_of_time => { self.show(); return Ended::Stopped; }
                () = gathered => { self.show(); show_at = None; }
                item = stream.next() => match item {
                    Some(Ok(StreamEvent::Done(finished))) => { self.show(); return Ended::Whole(finished); }
                    Some(Ok(event)) => {
                        self.take(event);
                        crash::point("loop.streaming");
                        show_at.get_or_insert(Instant::now() + GATHER);
                    }
                    Some(Err(error)) => return Ended::Failed(error),
                    None => return Ended::Failed(ModelError {
                        class: ErrorClass::Cut,
                        message: "the answer stopped before its end".into(),
                        retry_after_ms: None,
                    }),
                },
            }
        }
    }

    fn take(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Text(text) => self.said.text.push_str(&text),
            StreamEvent::Thinking(text) => self.thought.text.push_str(&text),
            StreamEvent::CallStarted { ix, name } => self.forming.push((ix, name, 0)),
            StreamEvent::CallArguments { ix, fragment } => {
                if let Some(forming) = self.forming.iter_mut().find(|forming| forming.0 == ix) {
                    forming.2 += fragment.len() as u64;
                }
            }
            StreamEvent::Done(_) => {}
        }
    }

    /// Shows what came since the last time.
    fn show(&mut self) {
        let (task, agent, call) = (&self.task, &self.agent, &self.call);
        if let Some((at, text)) = self.thought.fresh() {
            let (task, agent, call) = (task.clone(), agent.clone(), call.clone());
            self.port.show(Transient::Thinking { task, agent, call, at, text });
        }
        if let Some((at, text)) = self.said.fresh() {
            let (task, agent, call) = (task.clone(), agent.clone(), call.clone());
            self.port.show(Transient::Text { task, agent, call, at, text });
        }
        if let Some((ix, name, bytes)) = self.forming.last().cloned() {
            let (task, agent, call) = (task.clone(), agent.clone(), call.clone());
            self.port.show(Transient::CallForming { task, agent, call, ix, name, bytes });
        }
    }

    /// What was said and thought, as parts of a row.
    fn into_parts(self) -> Vec<Part> {
        let mut parts = Vec::new();
        if !self.thought.text.is_empty() {
            parts.push(Part::Thinking { text: self.thought.text, signature: None });
        }
        if !self.said.text.is_empty() {
            parts.push(Part::text(self.said.text));
        }
        parts
    }
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
