//! The conversation as a list of entries: what each is, and what it was last drawn from.
//!
//! Rows of the context are not entries: an answer may hold thinking, words and calls, and the row
//! of a call's result belongs to the call.

use crate::domain::{MessageKind, Millis, Part, Role, TaskStatus, ToolCallId, ToolCallState};
use crate::tui::projection::Projection;
use crate::tui::projection::live::Piece;
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Names an entry as long as it is the same thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// What a person, or a message of another kind, said: the row.
    Said(u64),
    /// Words of an answer: the row, and which part of it.
    Words(u64, usize),
    /// Thinking: the row, and which part of it.
    Thinking(u64, usize),
    /// A tool call.
    Call(ToolCallId),
    /// The mark of an answer that was cut short: the row.
    Cut(u64),
    /// What is being said right now: which piece.
    Live(usize),
    /// A call that is being written: its place.
    Forming(u32),
    /// Why there is no answer.
    Notice,
}

/// An entry in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub key: Key,
    /// Changes whenever it would be drawn differently.
    pub stamp: u64,
    /// One line that belongs to its neighbours: no blank line between two of these.
    pub tight: bool,
}

/// What the reader opened.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    /// Entries that differ from `all`.
    pub except: BTreeSet<Key>,
    /// Whether entries are open that nobody touched.
    pub all: bool,
}

impl Opened {
    /// Whether an entry is open.
    pub fn contains(&self, key: &Key) -> bool {
        self.all != self.except.contains(key)
    }

    /// Opens an entry, or closes it.
    pub fn toggle(&mut self, key: &Key) {
        if !self.except.remove(key) {
            self.except.insert(key.clone());
        }
    }
}

/// Lists the conversation, oldest first.
pub fn list(told: &Projection, opened: &Opened, now: Millis) -> Vec<Entry> {
    let mut list = Vec::new();
    let mut add = |key: Key, tight: bool, stamp: u64| list.push(Entry { key, stamp, tight });
    for row in told.rows() {
        match row.role {
            Role::User | Role::System => {
                let kind =
                    row.message.as_ref().and_then(|id| told.records.messages.get(id)).map(|message| message.kind);
                let key = Key::Said(row.seq);
                let stamp = hash((kind.map(MessageKind::as_str), opened.contains(&key)));
                add(key, false, stamp);
            }
            Role::Assistant => {
                for (ix, part) in row.parts.iter().enumerate() {
                    match part {
                        Part::Text { text } if text.trim().is_empty() => {}
                        Part::Text { .. } | Part::Image { .. } => add(Key::Words(row.seq, ix), false, 0),
                        Part::Thinking { text, .. } if text.trim().is_empty() => {}
                        Part::Thinking { .. } => {
                            let key = Key::Thinking(row.seq, ix);
                            let stamp = hash(opened.contains(&key));
                            add(key, true, stamp);
                        }
                        Part::Call { id, .. } => {
                            let key = Key::Call(id.clone());
                            let stamp = hash((opened.contains(&key), call_stamp(told, id, now)));
                            add(key, true, stamp);
                        }
                    }
                }
                if row.cut {
                    add(Key::Cut(row.seq), true, 0);
                }
            }
            // Shown with its call.
            Role::Tool => {}
        }
    }
    for (ix, piece) in told.live.pieces.iter().enumerate() {
        let key = Key::Live(ix);
        match piece {
            Piece::Text(text) => add(key, false, hash(text.len())),
            Piece::Thinking(text) => {
                let stamp = hash((text.len(), opened.contains(&key)));
                add(key, true, stamp);
            }
        }
    }
    for forming in &told.live.forming {
        add(Key::Forming(forming.ix), true, hash((&forming.name, forming.bytes / 256)));
    }
    let failed = told.task().is_some_and(|task| task.status == TaskStatus::Failed);
    if failed || told.notice.is_some() {
        let left = told.retry_at().map(|at| (at - now).max(0) / 1000);
        add(Key::Notice, false, hash((failed, left, told.notice.is_some(), told.revision)));
    }
    list
}

/// Everything a folded call shows that can change.
fn call_stamp(told: &Projection, id: &ToolCallId, now: Millis) -> u64 {
    let output = told.live.output.get(id).map_or((0, ""), |text| (text.len(), tail(text)));
    match told.records.tool_calls.get(id) {
        None => hash(output),
        Some(call) => {
            let running = (call.state == ToolCallState::Running).then_some(());
            let seconds = running.and(call.started_at).map(|at| (now - at).max(0) / 1000);
            let asks = told.records.question_of(id).is_some();
            hash((call.state, call.result_seq, call.ended_at, seconds, output, asks))
        }
    }
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(32))..]
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
