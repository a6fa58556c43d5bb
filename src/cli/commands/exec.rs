//! `exec`: something done without a screen. A new Task, or one more message in one; it ends when
//! the Task comes to rest, and its exit code says how.

use crate::cli::app::{App, Purpose, checked_model};
use crate::cli::commands::tasks::{made, waiting_line};
use crate::cli::fault::{Exit, Fault};
use crate::cli::lines::{Calls, line, lines};
use crate::cli::outcome::{Outcome, Seen};
use crate::cli::progress::Progress;
use crate::cli::session::{Happening, Session};
use crate::cli::{input, signals, units};
use crate::domain::permission::{Ask, Policy, Reach};
use crate::domain::*;
use serde_json::json;
use std::collections::HashSet;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct ExecArgs {
    /// What is to be done; - reads standard input, and what is piped in is added to the words
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,
    /// One more message in this Task
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// The model, PROVIDER:NAME
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<String>,
    /// What is possible and when you are asked: read, ask, workspace, full [default: workspace]
    #[arg(long, value_name = "POLICY", value_parser = input::policy)]
    pub approve: Option<Policy>,
    /// Limits: turns=N,tokens=N,seconds=N,usd=X
    #[arg(long, value_name = "LIMITS", value_parser = units::budget)]
    pub budget: Option<Budget>,
    /// Interrupt the Task after this time: 200ms, 5s, 10m, 2h, 1d
    #[arg(long, value_name = "D", value_parser = units::duration)]
    pub timeout: Option<Duration>,
    /// Don't wait for background work
    #[arg(long)]
    pub no_wait: bool,
    /// The same as --json
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub output: Form,
}

/// The form of the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// The answer as text, progress on standard error
    #[default]
    Text,
    /// One event a line
    Json,
}

/// Does it.
pub async fn run(app: &App, args: ExecArgs) -> Result<Exit, Fault> {
    let mut begun = None;
    say(app, args, &mut begun).await
}

/// Does it, and tells as soon as there is one in which Task.
pub(super) async fn say(app: &App, args: ExecArgs, begun: &mut Option<TaskId>) -> Result<Exit, Fault> {
    let prompt = input::prompt(&args.words, app.out)?;
    let stops = signals::stops();
    let mut session = app.session(Purpose::Work).await?;
    let (task, after, told) = match &args.task {
        Some(word) => add_message(app, &mut session, word, &args, prompt).await?,
        None => create(app, &mut session, &args, prompt).await?,
    };
    if !app.out.json && begun.as_ref() != Some(&task) {
        app.out.note(&app.out.err.paint(crate::cli::output::Style::Dim, &format!("{task}")));
    }
    *begun = Some(task.clone());
    session.follow(Some(task.clone()), after).await?;
    let printer = if app.out.json {
        Printer::Lines(Calls::default())
    } else {
        Printer::Text(Box::new(Progress::new(app.out, app.verbose > 0, app.configured()?.settings.limits.retries)))
    };
    let detail = session.task(&task).await?;
    let beside = detail.delegated.iter().filter_map(|one| one.run.as_ref()).map(|run| run.id.clone()).collect();
    let mut watch = Watch {
        app,
        session,
        task,
        main: detail.task.main,
        beside,
        told,
        wait: !args.no_wait,
        printer,
        seen: Seen::default(),
        asked_to_stop: false,
        unsaved: None,
    };
    let (outcome, detail) = watch.until_rest(stops, args.timeout).await?;
    watch.conclude(outcome, &detail)
}

/// The Task, the event to begin after, and the event by which the message is queued.
type Told = (TaskId, Seq, Seq);

async fn create(app: &App, session: &mut Session<'_>, args: &ExecArgs, prompt: String) -> Result<Told, Fault> {
    let begin = app.begin(session, args.model.clone(), args.budget).await?;
    let receipt = session
        .submit(UserCommand::CreateTask {
            title: String::new(),
            cwd: Some(begin.cwd),
            model: Some(begin.model),
            policy: args.approve.unwrap_or(DEFAULT_POLICY),
            budget: args.budget.unwrap_or_default(),
            message: Some(prompt),
            checks: Vec::new(),
        })
        .await?;
    Ok((made(&receipt)?, 0, receipt.seq))
}

/// Nobody sits there to be asked each time: what stays inside the folder runs.
const DEFAULT_POLICY: Policy = Policy { reach: Reach::Workspace, ask: Ask::Escalation };

async fn add_message(
    app: &App,
    session: &mut Session<'_>,
    word: &str,
    args: &ExecArgs,
    prompt: String,
) -> Result<Told, Fault> {
    let id = session.id::<TaskId>(word).await?;
    let detail = session.task(&id).await?;
    if args.model.is_some() || args.budget.is_some() {
        let model = args.model.clone().or_else(|| detail.task.model.clone());
        let model = checked_model(&app.configured()?, model, Some(args.budget.unwrap_or(detail.task.budget)))?;
        if args.model.is_some() {
            session.submit(UserCommand::SetModel { task: id.clone(), model: Some(model) }).await?;
        }
    }
    if let Some(policy) = args.approve {
        session.submit(UserCommand::SetPolicy { task: id.clone(), policy }).await?;
    }
    if let Some(budget) = args.budget {
        session.submit(UserCommand::SetBudget { task: id.clone(), budget }).await?;
    }
    let wanted =
        UserCommand::SendMessage { task: id.clone(), text: prompt, refs: Vec::new(), delivery: Delivery::Boundary };
    let receipt = session.submit(wanted).await?;
    Ok((id, detail.seq, receipt.seq))
}

enum Printer {
    Lines(Calls),
    Text(Box<Progress>),
}

/// Waiting for a Task to come to rest.
struct Watch<'a> {
    app: &'a App,
    session: Session<'a>,
    task: TaskId,
    /// The agent whose words are the answer; the others are told of, not copied.
    main: AgentId,
    /// The Runs of the others.
    beside: HashSet<RunId>,
    /// The event by which our message is queued: rest before it is not ours.
    told: Seq,
    wait: bool,
    printer: Printer,
    seen: Seen,
    asked_to_stop: bool,
    /// Why nothing can be saved, as it was last said.
    unsaved: Option<String>,
}

impl Watch<'_> {
    async fn until_rest(
        &mut self,
        mut stops: signals::Stops,
        timeout: Option<Duration>,
    ) -> Result<(Outcome, TaskDetail), Fault> {
        if let Some(rest) = self.look().await? {
            return Ok(rest);
        }
        let deadline = timeout.map(|timeout| tokio::time::Instant::now() + timeout);
        loop {
            let happening = tokio::select! {
                happening = self.session.next() => happening?,
                () = stops.next(), if !self.asked_to_stop => {
                    self.say("stopping; once more to leave at once")?;
                    if let Some(rest) = self.stop().await? { return Ok(rest); }
                    continue;
                }
                () = until(deadline), if !self.asked_to_stop => {
                    self.say("the time is up; stopping")?;
                    if let Some(rest) = self.stop().await? { return Ok(rest); }
                    continue;
                }
            };
            match happening {
                Happening::Transient(Transient::Unsaved { why, .. }) => {
                    if self.unsaved.as_ref() != Some(&why) {
                        self.say(&format!("nothing can be saved, trying again: {why}"))?;
                        self.unsaved = Some(why);
                    }
                }
                Happening::Transient(transient) => {
                    if transient.agent().is_none_or(|agent| *agent == self.main)
                        && let Printer::Text(progress) = &mut self.printer
                    {
                        progress.transient(&transient)?;
                    }
                }
                Happening::Recorded(recorded) => {
                    let look = self.take(&recorded)?;
                    if self.asked_to_stop && matches!(recorded.event, Event::RunStarted { .. }) {
                        self.interrupt().await?;
                    }
                    if look
                        && recorded.seq >= self.told
                        && let Some(rest) = self.look().await?
                    {
                        return Ok(rest);
                    }
                }
            }
        }
    }

    /// Prints an event; says whether it is a reason to look at the Task.
    fn take(&mut self, recorded: &Recorded) -> Result<bool, Fault> {
        if recorded.event.stepper().is_some_and(|agent| *agent != self.main) {
            if let Event::RunStarted { run, .. } = &recorded.event {
                self.beside.insert(run.id.clone());
            }
            return Ok(false);
        }
        // How the Run of a Subagent ends is told with what it brings; the Task may rest after it.
        if let Event::RunEnded { run, .. } | Event::RunSuspended { run, .. } = &recorded.event
            && self.beside.contains(run)
        {
            return Ok(true);
        }
        match &mut self.printer {
            Printer::Lines(calls) => {
                for line in lines(recorded, calls) {
                    self.app.out.json(&line)?;
                }
            }
            Printer::Text(progress) => progress.event(&recorded.event)?,
        }
        Ok(self.seen.take(&recorded.event))
    }

    /// Looks whether the Task has come to rest. If it has, everything up to there is printed.
    async fn look(&mut self) -> Result<Option<(Outcome, TaskDetail)>, Fault> {
        let detail = self.session.task(&self.task).await?;
        // Whether it rests does not depend on what was seen; why it failed does.
        if Outcome::of(&detail, &self.seen, self.wait).is_none() {
            return Ok(None);
        }
        for recorded in self.session.catch_up(detail.seq).await? {
            self.take(&recorded)?;
        }
        Ok(Outcome::of(&detail, &self.seen, self.wait).map(|outcome| (outcome, detail)))
    }

    fn say(&mut self, text: &str) -> Result<(), Fault> {
        if let Printer::Text(progress) = &mut self.printer {
            progress.end_line()?;
        }
        self.app.out.note(text);
        Ok(())
    }

    /// Asks the Task to stop its step.
    async fn stop(&mut self) -> Result<Option<(Outcome, TaskDetail)>, Fault> {
        self.asked_to_stop = true;
        self.interrupt().await?;
        self.look().await
    }

    async fn interrupt(&mut self) -> Result<(), Fault> {
        match self.session.submit(UserCommand::Interrupt { task: self.task.clone() }).await {
            Ok(_) => Ok(()),
            // Nothing runs now: it is over, or about to begin and then asked again.
            Err(fault) if fault.kind == "wrong_state" => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    /// Says how it ended.
    fn conclude(&mut self, outcome: Outcome, detail: &TaskDetail) -> Result<Exit, Fault> {
        let answer = self.seen.answer.take();
        let out = self.app.out;
        match &mut self.printer {
            Printer::Lines(_) => {
                let seq = self.session.last();
                let mut result = json!({ "status": outcome.status() });
                result["text"] = answer.unwrap_or_default().into();
                if let Some(reason) = &detail.task.reason {
                    result["reason"] = reason.clone().into();
                }
                if outcome == Outcome::AwaitingHuman {
                    result["waiting_for"] = json!(detail.task.waiting_for);
                }
                result["usage"] = json!(detail.task.usage);
                out.json(&line(seq, units::now(), Some(&self.task), "result", result))?;
            }
            Printer::Text(progress) => {
                progress.finish(answer.as_deref().filter(|_| outcome == Outcome::Completed))?;
            }
        }
        let id = &self.task;
        match outcome {
            Outcome::Completed => {}
            Outcome::Parked => out.note(&format!("{id} waits for background work")),
            Outcome::Cancelled => {
                out.note(&format!("{id} was stopped; `cowork exec --task {id} …` goes on with it"));
            }
            Outcome::AwaitingHuman => self.say_what_is_open(detail),
            Outcome::Failed(why) => return Err(failure(id, why, detail, outcome.exit())),
        }
        Ok(outcome.exit())
    }

    fn say_what_is_open(&self, detail: &TaskDetail) {
        let (out, id) = (self.app.out, &self.task);
        if detail.task.status == TaskStatus::Paused {
            out.note(&format!("{id} is paused; `cowork resume {id}` lets it go on"));
            return;
        }
        for waiting in &detail.task.waiting_for {
            let how = match waiting.kind.as_str() {
                "approval" => format!("`cowork approvals allow {}` or deny", waiting.id),
                "question" => format!("`cowork inbox answer {} TEXT`", waiting.id),
                "check" => format!("`cowork checks {id} judge {} passed`, failed or waived", waiting.id),
                _ => continue, // What follows from the answer needs no person.
            };
            out.note(&format!("{}\n  {how}", waiting_line(waiting)));
        }
        out.note(&format!("{id} waits for you and goes on with your answer"));
    }
}

fn failure(id: &TaskId, why: Option<EndReason>, detail: &TaskDetail, exit: Exit) -> Fault {
    let reason = detail.task.reason.as_deref().unwrap_or("the Task failed");
    let (kind, hint) = match why {
        Some(EndReason::Model) => {
            ("model", format!("`cowork models` shows what is reachable; `cowork resume {id}` tries again"))
        }
        Some(EndReason::Budget) => {
            ("budget", format!("`cowork set {id} --budget …` raises it; `cowork resume {id}` then goes on"))
        }
        Some(EndReason::Finished | EndReason::Interrupted | EndReason::Cancelled | EndReason::Internal) | None => {
            ("failed", format!("`cowork show {id}` says more; `cowork resume {id}` tries again"))
        }
    };
    Fault { exit, ..Fault::new(kind, reason, hint) }
}

async fn until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
