//! Messages: what is in an Inbox.

use super::{Actor, ActorKind, Delivery, MessageKind, MessageState};
use crate::domain::ids::*;
use serde::{Deserialize, Serialize};

/// A message in somebody's Inbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// Its Task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Whose Inbox it is in.
    pub to: Actor,
    /// Who sent it.
    pub from: Actor,
    /// What it is about.
    pub kind: MessageKind,
    /// Names the fact, never the attempt: a fact is told once.
    pub key: String,
    /// When it may enter the context.
    pub delivery: Delivery,
    /// Its place among the messages that wait in the same Inbox.
    pub order: u64,
    /// The words.
    pub text: String,
    /// Files and records it points at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<String>,
    /// Its state.
    pub state: MessageState,
    /// Why it was not delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The row of the recipient's context that holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_seq: Option<u64>,
    /// The row that first answered it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed_seq: Option<u64>,
    /// The ownership it was delivered under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<Fence>,
    /// When it was queued.
    pub created_at: Millis,
    /// When it entered the context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Millis>,
    /// When it was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumed_at: Option<Millis>,
}

impl Message {
    /// Whether it wakes an absent agent. A Job that a restart of the machine cut leaves a notice
    /// that is read when there is something else to do.
    pub fn wakes(&self) -> bool {
        !(self.kind == MessageKind::Notice && matches!(self.from.kind, ActorKind::Job | ActorKind::Person))
    }
}
