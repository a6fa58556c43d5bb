//! Resources as the runtime serves them: a deed is made ready outside of any transaction, decided and
//! written in one; contents and authorship are put together for those who ask.
//!
//! Who calls it: the Coordinator for people's commands and questions, the port of agents, and whoever
//! ties a Resource to a file.

mod agent;
pub(super) mod contents;
mod engine;
mod look;
mod prepare;
#[cfg(test)]
mod tests;

pub(super) use agent::TaskDocuments;

use super::Coordinator;
use super::engines::Engines;
use crate::domain::*;
use crate::resources::{Attribution, Registry};
use crate::store::Store;
use prepare::{Answers, Unready, prepare};
use std::collections::HashMap;
use std::sync::Mutex;

/// The kinds of Resources there are, and the engines that some of them ask.
#[derive(Clone, Default)]
pub struct Kinds {
    /// One adapter for each kind.
    pub registry: Registry,
    /// The engines.
    pub engines: Engines,
}

/// What the runtime keeps of Resources; all of it can be had again from the store.
pub(super) struct Resources {
    pub(super) registry: Registry,
    pub(super) engines: Engines,
    pub(super) contents: contents::Contents,
    /// Authorship as far as somebody asked for it.
    authorship: Mutex<HashMap<ResourceId, (u64, Attribution)>>,
}

impl Resources {
    pub(super) fn new(kinds: Kinds) -> Self {
        let Kinds { registry, engines } = kinds;
        Self { registry, engines, contents: contents::Contents::default(), authorship: Mutex::default() }
    }
}

impl Coordinator {
    /// Does something with a Resource, in the name of `actor`; under one `id` it is done once.
    pub(super) async fn act_on_resource(
        &self,
        id: CommandId,
        actor: Actor,
        run: Option<RunId>,
        deed: ResourceDeed<Change>,
    ) -> Result<Receipt, Rejection> {
        // What was done is not made again: its base may be gone, its place may have been edited.
        let known = id.clone();
        if let Some(receipt) = self.read(move |store| store.receipt(&known)).await? {
            return match receipt.edit.as_ref().and_then(|edit| edit.intent.clone()) {
                Some(intent) => self.answered(actor, intent).await,
                None => Ok(receipt),
            };
        }
        // Keys are blotted out of what is written, before it becomes a content.
        let Command::User(UserCommand::Resource { deed }) = self.blot(UserCommand::Resource { deed }.into())? else {
            return Err(Rejection::invalid("BUG: a deed became something else", ""));
        };
        match self.make_ready(&deed, &[]).await? {
            Step::Now(prepared) => self.decide_deed(id, actor, run, *prepared).await,
            Step::Ask(ask) => self.act_with_engine(id, actor, run, deed, *ask).await,
        }
    }

    /// Decides a deed that is ready, and writes what it makes.
    async fn decide_deed(
        &self,
        id: CommandId,
        actor: Actor,
        run: Option<RunId>,
        prepared: prepare::Prepared,
    ) -> Result<Receipt, Rejection> {
        let command = ResourceCommand { run, deed: prepared.deed };
        let committed = self.carry_out_with(id, actor, command.into(), prepared.bulk).await?;
        let mut receipt = committed.receipt;
        if let Some(edit) = &mut receipt.edit {
            edit.feedback = prepared.feedback;
        }
        Ok(receipt)
    }

    /// Makes a deed ready with what engines have answered so far, or says what to ask next.
    async fn make_ready(&self, deed: &ResourceDeed<Change>, answers: &Answers) -> Result<Step, Rejection> {
        let (resources, deed, answers) = (self.inner.resources.clone(), deed.clone(), answers.to_vec());
        let prepare =
            move |store: &Store| match prepare(store, &resources.contents, &resources.registry, &answers, deed) {
                Ok(prepared) => Ok(Step::Now(Box::new(prepared))),
                Err(Unready::Ask(ask)) => Ok(Step::Ask(ask)),
                Err(Unready::No(rejection)) => Err(rejection),
            };
        self.read(prepare).await
    }
}

/// How far a deed could be made ready.
enum Step {
    Now(Box<prepare::Prepared>),
    Ask(Box<prepare::Ask>),
}
