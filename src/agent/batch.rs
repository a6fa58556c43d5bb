//! The tool batch: calls that only look run side by side, calls that change something run alone
//! and in their order.

use super::drive::{Drive, Going, Told};
use super::tools::{self, Outcome, Plan, Seen, Tool, ToolContext};
use super::turn::Begun;
use crate::crash;
use crate::domain::permission::Judgement;
use crate::domain::*;
use futures_util::{StreamExt, stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long a call that was told to stop may take to do so before it is left behind.
const STOP_GRACE: Duration = Duration::from_millis(900);

/// How long a call may take that is over at once: one that only looks is recorded and shown as running
/// when it takes longer, and the next turn is chosen anew.
const AT_ONCE: Duration = Duration::from_millis(20);

/// Calls that run together.
struct Batch<'a> {
    drive: &'a Drive,
    /// What the Task was like when they began.
    snapshot: &'a Snapshot,
    /// What the agent knows of files.
    seen: Arc<Seen>,
    /// How many calls of the agent have no result yet.
    open: AtomicUsize,
    began: Instant,
}

/// What came of taking a call as far as it goes.
struct Came {
    /// What its commands were answered, in their order.
    told: Vec<Told>,
    /// The turn that began with its result.
    begun: Option<Begun>,
}

/// Runs the first of the calls that can go on now: those that only look, together, or one that
/// changes something. What comes after is looked at anew: it may have to wait for a person by then.
pub(super) async fn run(drive: &mut Drive, calls: Vec<ToolCall>, snapshot: &Snapshot) -> Going {
    let together = match calls.iter().position(|call| call.effect.changes_something()) {
        Some(first) => first.max(1),
        None => calls.len(),
    };
    let seen = match what_was_seen(drive, &calls[..together]).await {
        Ok(seen) => Arc::new(seen),
        Err(rejection) => return Going::Wrong(rejection),
    };
    let at_once = drive.port.settings().limits.parallel_tools.max(1);
    let open = AtomicUsize::new(snapshot.open_calls(&drive.agent).len());
    let batch = Batch { drive, snapshot, seen, open, began: Instant::now() };
    let taken = calls.into_iter().take(together).map(|call| batch.one(call));
    let results: Vec<Result<Came, Rejection>> = stream::iter(taken).buffered(at_once).collect().await;
    let alone = together == 1;
    for result in results {
        let came = match result {
            Ok(came) => came,
            Err(rejection) => return Going::Wrong(rejection),
        };
        // Of those that ran side by side, only the one that ended the batch knows what stands then.
        let is_last = alone || came.begun.is_some();
        for told in came.told {
            match told {
                Told::Done(after) if is_last => drive.know(after),
                Told::Done(_) | Told::Stale => drive.known = None,
            }
        }
        drive.begun = came.begun.or(drive.begun.take());
    }
    Going::On
}

/// What the agent knows of files, for a call that would replace one: the hash it last saw of each.
async fn what_was_seen(drive: &Drive, calls: &[ToolCall]) -> Result<Seen, Rejection> {
    let mut seen = Seen::new();
    if !calls.iter().any(|call| call.effect == Effect::Reconcilable) {
        return Ok(seen);
    }
    for call in drive.port.calls_on_files().await? {
        let Some(hash) = call.post_hash.clone().or_else(|| call.pre_hash.clone()) else { continue };
        let Ok(arguments) = serde_json::from_str(&call.arguments) else { continue };
        if let Some(path) = tools::target(&arguments, &context(drive, &call, Arc::default())) {
            seen.entry(path).or_insert(hash);
        }
    }
    Ok(seen)
}

impl Batch<'_> {
    /// Takes one call as far as it goes now.
    async fn one(&self, call: ToolCall) -> Result<Came, Rejection> {
        let Some(tool) = tools::find(&call.name) else {
            let known: Vec<_> = tools::all().iter().map(|tool| tool.spec().name).collect();
            let text = format!("There is no tool `{}`. The tools are: {}.", call.name, known.join(", "));
            return self.settle(&call, error(text)).await;
        };
        let ctx = context(self.drive, &call, self.seen.clone());
        let arguments = match tools::arguments::parse(&call.arguments, tool.spec()) {
            Ok(arguments) => arguments,
            Err(bad) => return self.settle(&call, error(bad.0)).await,
        };
        if call.name == tools::ASK {
            return self.ask(&call, &arguments).await;
        }
        let plan = match tool.plan(&arguments, &ctx).await {
            Ok(plan) => plan,
            // What was in flight may have done its work and so changed what a plan rests on.
            Err(bad) if call.state == ToolCallState::Running => {
                let target = tools::target(&arguments, &ctx);
                return match tools::probe(target.as_deref(), call.pre_hash.as_deref(), call.post_hash.as_deref()) {
                    tools::Probe::Done => self.settle(&call, found_done()).await,
                    tools::Probe::NotDone | tools::Probe::Unknown => self.settle(&call, uncertain(&bad.0)).await,
                };
            }
            Err(bad) => return self.settle(&call, error(bad.0)).await,
        };
        crash::point("loop.tool_planned");
        match call.state {
            ToolCallState::Running => self.resume(&call, tool, plan, ctx).await,
            _ => self.start(&call, plan, ctx).await,
        }
    }

    /// Asks whether the call may run; runs it if so. Otherwise it now waits, or was settled as denied.
    async fn start(&self, call: &ToolCall, plan: Plan, ctx: ToolContext) -> Result<Came, Rejection> {
        let command = RunCommand::StartTool {
            run: self.drive.run.clone(),
            call: call.id.clone(),
            action: plan.action.clone(),
            pre_hash: plan.pre_hash.clone(),
            post_hash: plan.post_hash.clone(),
        };
        if !self.may_look(call, &plan) {
            return match self.begin(call, command).await? {
                Ok(left) => self.perform(call, plan, ctx, left).await,
                Err(came) => Ok(came),
            };
        }
        // A look that is over at once is recorded when it is over: done twice, it does no harm.
        let cancel = ctx.cancel.clone();
        let mut looking = std::pin::pin!(self.outcome(plan, ctx, self.drive.time_left(self.snapshot)));
        let outcome = tokio::select! {
            outcome = &mut looking => outcome,
            () = tokio::time::sleep(AT_ONCE) => {
                if let Err(came) = self.begin(call, command).await? {
                    cancel.cancel();
                    return Ok(came);
                }
                return self.keep(call, looking.await).await;
            }
        };
        self.keep_with(vec![command], call, outcome).await
    }

    /// Whether the call only looks, and needs nobody's leave.
    fn may_look(&self, call: &ToolCall, plan: &Plan) -> bool {
        let Some(task) = self.snapshot.tasks.get(&self.drive.task) else { return false };
        let judged = || decide::judgement(self.snapshot, task, &self.drive.agent, &plan.action);
        call.effect == Effect::Pure && call.state == ToolCallState::Planned && judged() == Judgement::Allow
    }

    /// Records that a call runs; gives how long it may, or what became of it instead.
    async fn begin(&self, call: &ToolCall, command: RunCommand) -> Result<Result<Option<Duration>, Came>, Rejection> {
        let told = self.drive.tell(command).await?;
        let running =
            |after: &Snapshot| after.tool_calls.get(&call.id).is_some_and(|call| call.state == ToolCallState::Running);
        let left = match &told {
            Told::Done(Some(after)) if running(after) => self.drive.time_left(after),
            Told::Done(_) | Told::Stale => return Ok(Err(Came { told: vec![told], begun: None })),
        };
        crash::point("loop.tool_started");
        Ok(Ok(left))
    }

    /// A call that was in flight when its host died: looking is done again, a write is looked up.
    async fn resume(
        &self,
        call: &ToolCall,
        tool: Arc<dyn Tool>,
        plan: Plan,
        ctx: ToolContext,
    ) -> Result<Came, Rejection> {
        let left = self.drive.time_left(self.snapshot);
        if !tool.spec().effect.changes_something() {
            return self.perform(call, plan, ctx, left).await;
        }
        if plan.again == tools::Again::TakeUp {
            return match ctx.jobs.has_begun().await {
                true => self.perform(call, plan, ctx, left).await,
                false => self.settle(call, uncertain("nothing is left of it")).await,
            };
        }
        match tools::probe(plan.target.as_deref(), call.pre_hash.as_deref(), call.post_hash.as_deref()) {
            tools::Probe::Done => self.settle(call, found_done()).await,
            tools::Probe::NotDone => self.perform(call, plan, ctx, left).await,
            tools::Probe::Unknown => {
                self.settle(call, uncertain("the file is neither as before nor as intended")).await
            }
        }
    }

    /// Runs the call and saves its result.
    async fn perform(
        &self,
        call: &ToolCall,
        plan: Plan,
        ctx: ToolContext,
        left: Option<Duration>,
    ) -> Result<Came, Rejection> {
        let outcome = self.outcome(plan, ctx, left).await;
        self.keep(call, outcome).await
    }

    /// Runs the call. A tool that panics is a failed call, not the end of the Run.
    async fn outcome(&self, plan: Plan, ctx: ToolContext, left: Option<Duration>) -> Outcome {
        let cancel = ctx.cancel.clone();
        let mut running = tokio::spawn((plan.run)(ctx));
        let joined = tokio::select! {
            joined = &mut running => Some(joined),
            () = overdue(&cancel) => None,
            // A budget of time ends what it runs out in.
            () = run_out(left, &cancel) => None,
        };
        let outcome = match joined {
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => error(format!("BUG: the tool failed: {panic}")),
            None => {
                running.abort();
                let text =
                    "Stopped; it did not end in time and was left behind. Look at what it did before you repeat it.";
                Outcome::cancelled(text)
            }
        };
        crash::point("loop.tool_done");
        outcome
    }

    async fn keep(&self, call: &ToolCall, outcome: Outcome) -> Result<Came, Rejection> {
        self.keep_with(Vec::new(), call, outcome).await
    }

    /// Saves what came of a call that ran, unless this process leaves: then the next owner takes it
    /// up again.
    async fn keep_with(&self, first: Vec<RunCommand>, call: &ToolCall, outcome: Outcome) -> Result<Came, Rejection> {
        if self.drive.leaving.is_cancelled() && call.effect != Effect::Effectful {
            return Ok(Came { told: vec![Told::Stale], begun: None });
        }
        let came = self.settle_with(first, call, outcome).await;
        crash::point("loop.tool_settled");
        came
    }

    async fn settle(&self, call: &ToolCall, outcome: Outcome) -> Result<Came, Rejection> {
        self.settle_with(Vec::new(), call, outcome).await
    }

    /// Saves a result after what goes before it. With the last one that was open the next turn begins
    /// in the same commit, unless it took so long that another model may have been chosen meanwhile.
    async fn settle_with(
        &self,
        mut commands: Vec<RunCommand>,
        call: &ToolCall,
        outcome: Outcome,
    ) -> Result<Came, Rejection> {
        commands.push(RunCommand::SettleTool {
            run: self.drive.run.clone(),
            call: call.id.clone(),
            state: outcome.state,
            parts: outcome.parts,
            saw: outcome.saw,
        });
        let is_last = self.open.fetch_sub(1, Ordering::AcqRel) == 1;
        let goes_on = is_last && self.began.elapsed() < AT_ONCE && !self.drive.stop.is_cancelled();
        let next = goes_on.then(|| Begun::next(self.drive, self.snapshot)).flatten();
        commands.extend(next.as_ref().map(|begun| begun.command(&self.drive.run)));
        let mut told = self.drive.tell_together(commands).await?;
        let has_begun = next.is_some() && matches!(told.last(), Some(Told::Done(_)));
        if next.is_some() && !has_begun {
            // What stands is told by the command before.
            told.pop();
        }
        Ok(Came { told, begun: next.filter(|_| has_begun) })
    }

    async fn ask(&self, call: &ToolCall, arguments: &serde_json::Value) -> Result<Came, Rejection> {
        let asked = match tools::asked(arguments) {
            Ok(asked) => asked,
            Err(bad) => return self.settle(call, error(bad.0)).await,
        };
        let command = RunCommand::AskPerson {
            run: self.drive.run.clone(),
            call: call.id.clone(),
            question: asked.question,
            options: asked.options,
            meanwhile: asked.meanwhile,
        };
        Ok(Came { told: vec![self.drive.tell(command).await?], begun: None })
    }
}

fn context(drive: &Drive, call: &ToolCall, seen: Arc<Seen>) -> ToolContext {
    let (port, task, agent, id) = (drive.port.clone(), drive.task.clone(), drive.agent.clone(), call.id.clone());
    ToolContext {
        cwd: drive.place.cwd.clone(),
        own: drive.place.own.clone(),
        trusted: drive.place.trusted,
        seen,
        limits: drive.port.settings().limits,
        blobs: drive.port.blobs(),
        jobs: drive.port.jobs(&drive.run, &call.id),
        team: drive.port.team(&drive.run, &call.id),
        documents: drive.port.documents(&drive.run, &call.id),
        cancel: drive.stop.child_token(),
        live: Arc::new(move |text| {
            let (task, agent, call) = (task.clone(), agent.clone(), id.clone());
            port.show(Transient::ToolOutput { task, agent, call, text: text.to_owned() });
        }),
    }
}

/// Tells a call to stop when its time is over; returns a moment after that.
async fn run_out(left: Option<Duration>, cancel: &CancellationToken) {
    match left {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
    cancel.cancel();
    overdue(cancel).await;
}

/// Returns a moment after a call was told to stop.
async fn overdue(cancel: &CancellationToken) {
    cancel.cancelled().await;
    tokio::time::sleep(STOP_GRACE).await;
}

fn found_done() -> Outcome {
    let text = "The process died after this was done and before it was recorded: the file holds \
                what was to be written.";
    Outcome::done(text)
}

fn error(text: String) -> Outcome {
    Outcome::error(text)
}

fn uncertain(why: &str) -> Outcome {
    let text = format!("{} ({why})", crate::domain::decide::PROCESS_DIED);
    Outcome::text(ToolCallState::Uncertain, text)
}
