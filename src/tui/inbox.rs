//! The Inbox on this terminal: which message is chosen, and which of them are shown.

use super::action::Step;
use super::projection::Projection;
use crate::domain::{Message, MessageId, MessageState};

/// Something done in the Inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxAct {
    /// Chooses a message.
    Choose(Step),
    /// Shows the chosen one whole.
    Open,
    /// Answers what it asks.
    Answer,
    /// Goes to where it was answered in the chat.
    GoTo,
}

/// Which messages are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Filter {
    /// All.
    #[default]
    All,
    /// Those that are not answered yet.
    Open,
    /// Those whose kind, sender or words hold this.
    With(String),
}

impl Filter {
    /// The filter that a word asks for.
    pub fn named(word: &str) -> Self {
        match word.trim() {
            "" | "all" => Self::All,
            "open" => Self::Open,
            word => Self::With(word.to_lowercase()),
        }
    }

    /// Its word, where not everything is shown.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::All => None,
            Self::Open => Some("open"),
            Self::With(word) => Some(word),
        }
    }

    /// Whether a message is shown.
    pub fn shows(&self, told: &Projection, message: &Message) -> bool {
        match self {
            Self::All => true,
            Self::Open => matches!(message.state, MessageState::Queued | MessageState::Delivered),
            Self::With(word) => {
                let kind = message.kind.as_str().replace('_', " ");
                let among = [&kind, message.state.as_str(), &told.called(&message.from), &message.text];
                among.iter().any(|text| text.to_lowercase().contains(word.as_str()))
            }
        }
    }
}

/// The Inbox on this terminal.
#[derive(Debug, Default)]
pub struct Inbox {
    /// The chosen message.
    pub chosen: Option<MessageId>,
    /// Which are shown.
    pub filter: Filter,
}

impl Inbox {
    /// The messages that are shown, newest first.
    pub fn list<'a>(&self, told: &'a Projection) -> Vec<&'a Message> {
        told.inbox().into_iter().filter(|message| self.filter.shows(told, message)).collect()
    }

    /// The place of the chosen one in the list.
    pub fn at(&self, told: &Projection) -> usize {
        self.list(told).iter().position(|message| Some(&message.id) == self.chosen.as_ref()).unwrap_or(0)
    }

    /// The chosen one; the newest where none is.
    pub fn chosen<'a>(&self, told: &'a Projection) -> Option<&'a Message> {
        self.list(told).get(self.at(told)).copied()
    }
}
