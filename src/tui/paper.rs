//! One thing shown whole over the panes: a Contribution with its evidence, or a message.

use super::action::Step;
use super::picker::Preview;
use crate::domain::{ContributionId, MessageId};

/// What is shown whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A Contribution.
    Contribution(ContributionId),
    /// A message.
    Message(MessageId),
}

/// Something done with what is shown whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaperAct {
    /// Scrolls it.
    Scroll(Step),
    /// Chooses what it refers to.
    Choose(Step),
    /// Shows the file that is chosen.
    Look,
    /// Back from the file, or to the panes.
    Leave,
    /// Answers what it asks.
    Answer,
    /// Goes to where it was answered in the chat.
    GoTo,
    /// Accepts the Contribution.
    Accept,
    /// Sends the Contribution back.
    SendBack,
}

/// What is shown whole, and how far it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    /// What.
    pub subject: Subject,
    /// The first row that is shown.
    pub scroll: usize,
    /// The chosen reference.
    pub reference: usize,
    /// The file that is looked at, once its lines are here.
    pub looked_at: Option<(String, Option<Preview>)>,
}

impl Paper {
    /// From the start.
    pub fn new(subject: Subject) -> Self {
        Self { subject, scroll: 0, reference: 0, looked_at: None }
    }
}
