//! Deeds that an engine has to be asked for: the edit is recorded, the engine works outside of any
//! transaction, and what it makes is decided under the revision check, once.
//!
//! | what happens | what comes of it |
//! |---|---|
//! | the engine answers | the next revision, or a Candidate where another one stands by now |
//! | it refuses, crashes, or is not there | the intent has failed, and whoever asked is told why |
//! | it is slower than the request allows | told as failed; what it still makes is kept as a Candidate |
//! | the host dies | the next one asks again: the edit was recorded |
//!
//! Only a commit changes a revision, so only a commit is recorded before. What makes a Resource or a
//! Candidate asks first and is decided after; a crash in between leaves nothing of it.

use super::super::Coordinator;
use super::Step;
use super::prepare::{Ask, Prepared};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use crate::resources::{EngineFailure, EngineOutcome, EngineRequest, Evaluated};
use serde_json::Value;
use std::time::Duration;

/// How many times its limit an engine may still work after its failure was told.
const LATE: u32 = 10;

/// An edit as it is recorded before an engine is asked.
struct Edit {
    intent: EngineIntentId,
    actor: Actor,
    deed: ResourceDeed<Change>,
}

/// What engines made of a deed.
type Answered = Result<(Prepared, EngineOutcome), EngineFailure>;

impl Coordinator {
    /// Does a deed for which an engine has to be asked.
    pub(super) async fn act_with_engine(
        &self,
        id: CommandId,
        actor: Actor,
        run: Option<RunId>,
        deed: ResourceDeed<Change>,
        ask: Ask,
    ) -> Result<Receipt, Rejection> {
        let ResourceDeed::Commit { resource, base, by, change } = &deed else {
            let limit = Duration::from_millis(ask.request.limit_ms);
            let answered = match tokio::time::timeout(limit, self.evaluate(&deed, ask.clone())).await {
                Ok(answered) => answered?,
                Err(_) => Err(EngineFailure::TimedOut { limit_ms: ask.request.limit_ms }),
            };
            let (prepared, _) = answered.map_err(refused)?;
            return self.decide_deed(id, actor, run, prepared).await;
        };
        let intend = ResourceDeed::Intend {
            resource: resource.clone(),
            base: *base,
            by: by.clone(),
            operation: value(change)?,
            request: value(&ask.request)?,
        };
        let recorded = self.carry_out(id, actor.clone(), ResourceCommand { run, deed: intend }.into()).await?;
        crate::crash::point("engines.asked");
        let Some(intent) = recorded.receipt.edit.and_then(|edit| edit.intent) else {
            return Err(Rejection::invalid("BUG: an intent was recorded without an id", ""));
        };
        self.ask_for(Edit { intent, actor, deed }, ask).await
    }

    /// What became of an edit that was recorded before: whoever asks again is told, or waits for it.
    pub(super) async fn answered(&self, actor: Actor, intent: EngineIntentId) -> Result<Receipt, Rejection> {
        let (known, of) = (answer_of(&intent), intent.clone());
        let (receipt, intent) = self.read(move |store| Ok((store.receipt(&known)?, store.engine_intent(&of)?))).await?;
        match (receipt, intent.state) {
            (Some(receipt), _) => told(receipt),
            (None, EngineState::Failed) => Err(refused(failure_of(&intent))),
            (None, EngineState::Intent | EngineState::Uncertain | EngineState::Done) => {
                self.ask_again(actor, intent).await
            }
        }
    }

    /// Asks again for every edit that a crash cut off; nobody waits for it.
    pub(in crate::runtime) async fn ask_engines_again(&self) -> Result<(), Rejection> {
        for intent in self.read(|store| store.uncertain_intents()).await? {
            let (this, id) = (self.clone(), intent.id.clone());
            tokio::spawn(async move {
                if let Err(rejection) = this.ask_again(intent.actor.clone(), intent).await {
                    tracing::warn!(%id, %rejection, "an edit that a crash cut off was not made");
                }
            });
        }
        Ok(())
    }

    async fn ask_again(&self, actor: Actor, intent: EngineIntent) -> Result<Receipt, Rejection> {
        let bug = |error: serde_json::Error| Rejection::new(RejectionKind::Internal, format!("BUG: {error}"), "");
        let change: Change = serde_json::from_value(intent.operation).map_err(bug)?;
        let (resource, base) = (intent.resource, intent.base);
        let deed = ResourceDeed::Commit { resource, base, by: Some(intent.actor), change };
        let edit = Edit { intent: intent.id, actor, deed };
        match self.make_ready(&edit.deed, &[]).await {
            Ok(Step::Ask(ask)) => self.ask_for(edit, *ask).await,
            Ok(Step::Now(_)) => Err(Rejection::invalid("BUG: an edit needs no engine any more", "")),
            Err(rejection) => {
                self.fail(&edit, EngineFailure::Refused { message: rejection.to_string() }).await?;
                Err(rejection)
            }
        }
    }

    /// Asks, for as long as the request allows, and decides what comes back.
    async fn ask_for(&self, edit: Edit, ask: Ask) -> Result<Receipt, Rejection> {
        let limit_ms = ask.request.limit_ms;
        let limit = Duration::from_millis(limit_ms);
        let (this, deed) = (self.clone(), edit.deed.clone());
        let leaving = self.inner.leaving.clone();
        // The work goes on where whoever waits for it does not.
        let mut work = tokio::spawn(async move {
            tokio::select! {
                answered = this.evaluate(&deed, ask) => answered,
                () = leaving.cancelled() => Err(Rejection::wrong_state("the host leaves", "the next one asks again")),
            }
        });
        let bug = |error: tokio::task::JoinError| {
            Rejection::new(RejectionKind::Internal, format!("BUG: an engine's work failed: {error}"), "")
        };
        match tokio::time::timeout(limit, &mut work).await {
            Ok(done) => match done.map_err(bug)? {
                Ok(answered) => self.conclude(&edit, answered).await,
                // Its place was removed meanwhile, or its base; but leaving is no failure of the engine.
                Err(rejection) if self.inner.leaving.is_cancelled() => Err(rejection),
                Err(rejection) => {
                    self.fail(&edit, EngineFailure::Refused { message: rejection.to_string() }).await?;
                    Err(rejection)
                }
            },
            Err(_) => {
                let failure = EngineFailure::TimedOut { limit_ms };
                self.fail(&edit, failure.clone()).await?;
                let this = self.clone();
                tokio::spawn(async move {
                    match tokio::time::timeout(limit * LATE, &mut work).await {
                        Ok(Ok(Ok(answered @ Ok(_)))) => {
                            if let Err(rejection) = this.conclude(&edit, answered).await {
                                tracing::warn!(%rejection, "what an engine made late was not kept");
                            }
                        }
                        Ok(_) => {}
                        Err(_) => work.abort(),
                    }
                });
                Err(refused(failure))
            }
        }
    }

    /// Asks engines until a deed is ready or one of them fails.
    async fn evaluate(&self, deed: &ResourceDeed<Change>, mut ask: Ask) -> Result<Answered, Rejection> {
        let mut answers: Vec<(EngineRequest, Evaluated)> = Vec::new();
        loop {
            let evaluated = match self.inner.resources.engines.evaluate(&ask.request, &ask.parts).await {
                Ok(evaluated) => evaluated,
                Err(failure) => return Ok(Err(failure)),
            };
            let outcome = evaluated.record();
            answers.push((ask.request, evaluated));
            match self.make_ready(deed, &answers).await? {
                Step::Now(prepared) => return Ok(Ok((*prepared, outcome))),
                Step::Ask(next) => ask = *next,
            }
        }
    }

    async fn conclude(&self, edit: &Edit, answered: Answered) -> Result<Receipt, Rejection> {
        crate::crash::point("engines.answered");
        let (prepared, outcome) = match answered {
            Ok(answered) => answered,
            Err(failure) => {
                self.fail(edit, failure.clone()).await?;
                return Err(refused(failure));
            }
        };
        let ResourceDeed::Commit { change, .. } = prepared.deed else {
            return Err(Rejection::invalid("BUG: an edit became something else", ""));
        };
        let deed =
            ResourceDeed::Conclude { intent: edit.intent.clone(), outcome: value(&outcome)?, change: Some(change) };
        let prepared = Prepared { deed, ..prepared };
        let receipt = self.decide_deed(answer_of(&edit.intent), edit.actor.clone(), None, prepared).await?;
        crate::crash::point("engines.concluded");
        told(receipt)
    }

    /// Records that an engine failed.
    async fn fail(&self, edit: &Edit, failure: EngineFailure) -> Result<(), Rejection> {
        let outcome = value(&EngineOutcome::Failed { failure })?;
        let deed = ResourceDeed::Conclude { intent: edit.intent.clone(), outcome, change: None };
        let id = CommandId(format!("{}.failed", edit.intent));
        self.carry_out(id, edit.actor.clone(), ResourceCommand { run: None, deed }.into()).await?;
        Ok(())
    }
}

/// The command that decides what an engine made: whoever brings it, it is decided once.
fn answer_of(intent: &EngineIntentId) -> CommandId {
    CommandId(format!("{intent}.answer"))
}

/// An answer that left everything as it is has neither a revision nor a Candidate.
fn told(receipt: Receipt) -> Result<Receipt, Rejection> {
    match &receipt.edit {
        Some(_) => Ok(receipt),
        None => Err(Rejection::wrong_state("nothing would change", "")),
    }
}

fn value(of: &impl serde::Serialize) -> Result<Value, Rejection> {
    serde_json::to_value(of).map_err(|error| Rejection::new(RejectionKind::Internal, format!("BUG: {error}"), ""))
}

fn failure_of(intent: &EngineIntent) -> EngineFailure {
    match intent.outcome.clone().map(serde_json::from_value) {
        Some(Ok(EngineOutcome::Failed { failure })) => failure,
        Some(Ok(EngineOutcome::Evaluated { .. }) | Err(_)) | None => {
            EngineFailure::Crashed { message: "nobody knows how".into() }
        }
    }
}

/// Says a failure of an engine to whoever asked.
fn refused(failure: EngineFailure) -> Rejection {
    let hint = match &failure {
        EngineFailure::Missing { .. } | EngineFailure::Refused { .. } => "",
        EngineFailure::Crashed { .. } => "nothing was changed; try again",
        EngineFailure::TimedOut { .. } => "nothing was changed; what it still makes is kept as a Candidate",
    };
    Rejection::wrong_state(failure.to_string(), hint)
}
