//! Resources as the runtime serves them: a deed is made ready outside of any transaction, decided and
//! written in one; contents and authorship are put together for those who ask.
//!
//! Who calls it: the Coordinator for people's commands and questions, the port of agents, and whoever
//! ties a Resource to a file.

mod agent;
pub(super) mod contents;
mod look;
mod prepare;

pub(super) use agent::TaskDocuments;

use super::Coordinator;
use crate::domain::*;
use crate::resources::{Attribution, Registry};
use std::collections::HashMap;
use std::sync::Mutex;

/// What the runtime keeps of Resources; all of it can be had again from the store.
#[derive(Default)]
pub(super) struct Resources {
    pub(super) registry: Registry,
    pub(super) contents: contents::Contents,
    /// Authorship as far as somebody asked for it.
    authorship: Mutex<HashMap<ResourceId, (u64, Attribution)>>,
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
            return Ok(receipt);
        }
        // Keys are blotted out of what is written, before it becomes a content.
        let Command::User(UserCommand::Resource { deed }) = self.blot(UserCommand::Resource { deed }.into())? else {
            return Err(Rejection::invalid("BUG: a deed became something else", ""));
        };
        let resources = self.inner.resources.clone();
        let prepared =
            self.read(move |store| prepare::prepare(store, &resources.contents, &resources.registry, deed)).await?;
        let command = ResourceCommand { run, deed: prepared.deed };
        let committed = self.carry_out_with(id, actor, command.into(), prepared.bulk).await?;
        let mut receipt = committed.receipt;
        if let Some(edit) = &mut receipt.edit {
            edit.feedback = prepared.feedback;
        }
        Ok(receipt)
    }
}
