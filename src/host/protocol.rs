//! What clients and the host say to each other: JSON lines over a Unix socket or a pipe in memory.
//!
//! A client opens with [`ToHost::Hello`] and is answered [`FromHost::Welcome`] or
//! [`FromHost::Refused`]. After that each request carries a number and gets exactly one answer
//! with that number; pushes ([`FromHost::Recorded`], [`FromHost::Transient`], [`FromHost::Lagged`])
//! come in between. A line is at most [`MAX_LINE`] bytes.

use crate::domain::{
    Answer, ClientId, CommandId, Fence, Query, Receipt, Recorded, Rejection, Seq, Settings, TaskId, Transient,
    UserCommand,
};
use serde::{Deserialize, Serialize};

/// The version of this protocol; another one on the other end is refused.
pub const PROTOCOL: u32 = 1;

/// The version of the program that this is.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The longest line either side accepts.
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// The longest line the host accepts: the event that comes of a command repeats its text and must
/// still fit into a [`MAX_LINE`].
pub const MAX_REQUEST: usize = MAX_LINE / 2;

/// From a client to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "to_host", rename_all = "snake_case")]
pub enum ToHost {
    /// The first line of a connection.
    Hello {
        protocol: u32,
        /// The program's version.
        version: String,
        /// Who is attached: the key of its drafts.
        client: ClientId,
        /// What the client's user configured; the newest one that came is used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<Box<Settings>>,
    },
    /// A person wants something. The same `command` id twice is carried out once.
    Command { request: u64, command: CommandId, wanted: UserCommand },
    /// A question to the store.
    Ask { request: u64, query: Query },
    /// Push what is recorded after `after`, and what happens, of one Task or of all.
    Subscribe { request: u64, task: Option<TaskId>, after: Seq },
    /// Keep the unsent text of a pane.
    KeepDraft { request: u64, pane: String, text: String },
    /// End the host: nothing is lost, and work goes on when the next one starts.
    StopHost { request: u64 },
}

/// From the host to a client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "from_host", rename_all = "snake_case")]
pub enum FromHost {
    /// The connection stands.
    Welcome { protocol: u32, version: String, seq: Seq, fence: Fence, pid: u32 },
    /// The connection does not: another version, or the host is leaving.
    Refused { protocol: u32, version: String, reason: String },
    /// The command is on disk.
    Accepted { request: u64, receipt: Receipt },
    /// Nothing was changed.
    Rejected { request: u64, rejection: Rejection },
    /// The answer to a question.
    Answered { request: u64, answer: Box<Answer> },
    /// Done: a subscription stands, a draft is kept, the host is leaving.
    Done { request: u64 },
    /// An event, in the order of `seq`.
    Recorded(Box<Recorded>),
    /// Something that is shown and not stored.
    Transient(Transient),
    /// The client was too slow: subscribe again after `seq`, the last event it was sent.
    Lagged { seq: Seq },
}
