//! Identities: short, random, with a letter for their kind, so that a prefix is enough to name one.
//!
//! Order never comes from an id; it comes from `seq`. New ids come in with the command: an
//! [`Ids`] made from the envelope's seed yields the same ids for the same command.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// Unix time in milliseconds, UTC.
pub type Millis = i64;

/// The number of a recorded event; global, rising, the only order there is.
pub type Seq = i64;

/// The ownership number of a host; the database refuses a write under an older one.
pub type Fence = i64;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident $prefix:literal $len:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The letter and underscore every id of this kind begins with.
            pub const PREFIX: &'static str = $prefix;
            /// The text of the id.
            pub fn as_str(&self) -> &str { &self.0 }
            /// Draws the next id of this kind.
            pub fn new(ids: &mut Ids) -> Self { Self(ids.draw($prefix, $len)) }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str(&self.0) }
        }
        impl From<&str> for $name { fn from(text: &str) -> Self { Self(text.to_owned()) } }
        impl From<String> for $name { fn from(text: String) -> Self { Self(text) } }
    )*};
}

ids! {
    /// What the user wants done and everything kept for it.
    TaskId "t_" 8;
    /// An agent: one conversation with a model. Also its id as an actor.
    AgentId "a_" 8;
    /// One execution of one agent.
    RunId "r_" 10;
    /// A message in somebody's Inbox.
    MessageId "m_" 10;
    /// One request to a model.
    ModelCallId "k_" 12;
    /// One tool call; the idempotency key of its effect.
    ToolCallId "c_" 10;
    /// A person's yes or no to one exact action.
    ApprovalId "p_" 8;
    /// A standing answer to approvals of one shape.
    RuleId "y_" 8;
    /// A bounded part of a Task, given to a Subagent.
    AssignmentId "g_" 8;
    /// What came of an assignment.
    ContributionId "b_" 8;
    /// A Subagent's question with a bounded wait.
    DecisionId "d_" 8;
    /// A question to the person.
    QuestionId "q_" 8;
    /// A point of acceptance.
    CheckId "x_" 8;
    /// A judgement of a point of acceptance.
    VerdictId "v_" 10;
    /// A settled boundary to resume from.
    CheckpointId "z_" 12;
    /// A request to stop something at once.
    ControlId "l_" 10;
    /// A command that outlives us. Also its id as an actor, and the name of its folder.
    JobId "j_" 8;
    /// One command; sent twice it is carried out once.
    CommandId "e_" 16;
    /// One attached client.
    ClientId "n_" 8;
}

/// Digits and letters that can't be mistaken for one another.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// A source of ids that depends on its seed alone.
#[derive(Debug, Clone)]
pub struct Ids {
    seed: [u8; 16],
    drawn: u64,
}

impl Ids {
    /// Starts the source that belongs to `seed`.
    pub fn new(seed: [u8; 16]) -> Self {
        Self { seed, drawn: 0 }
    }

    fn draw(&mut self, prefix: &str, len: usize) -> String {
        let mut hash = Sha256::new();
        hash.update(self.seed);
        hash.update(self.drawn.to_le_bytes());
        self.drawn += 1;
        let digest = hash.finalize();
        let mut id = String::with_capacity(prefix.len() + len);
        id.push_str(prefix);
        for byte in digest.iter().take(len) {
            id.push(ALPHABET[usize::from(byte & 31)] as char);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_ids_and_never_one_twice() {
        let draw = |seed| {
            let mut ids = Ids::new(seed);
            (0..1000).map(|_| TaskId::new(&mut ids)).collect::<Vec<_>>()
        };
        let first = draw([7; 16]);
        assert_eq!(first, draw([7; 16]));
        assert_ne!(first, draw([8; 16]));
        let distinct: std::collections::BTreeSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());
        assert!(first[0].as_str().starts_with("t_"));
        assert_eq!(first[0].as_str().len(), 10);
    }
}
