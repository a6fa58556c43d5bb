//! The conversation as a list of entries: what each is, and when it is to be drawn anew.
//!
//! Rows of the context are not entries: an answer may hold thinking, words and calls, and the row
//! of a call's result belongs to the call.

use crate::domain::{AgentId, Message, MessageKind, Millis, Part, Role, Row, TaskStatus, ToolCallId, ToolCallState};
use crate::tui::markdown::cuts;
use crate::tui::projection::live::Piece;
use crate::tui::projection::{Notice, Projection};
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Names an entry as long as it is the same thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// What a person, or a message of another kind, said: the row.
    Said(u64),
    /// Words of an answer: the row, which part of it, and, of long words, which part of that.
    Words(u64, usize, usize),
    /// Thinking: the row, and which part of it.
    Thinking(u64, usize),
    /// A tool call.
    Call(ToolCallId),
    /// The mark of an answer that was cut short: the row.
    Cut(u64),
    /// What is being said right now: which piece, and which part of that.
    Live(usize, usize),
    /// A call that is being written: its place.
    Forming(u32),
    /// Why there is no answer.
    Notice,
    /// What woke Main: the first row of those that did.
    Woken(u64),
}

/// An entry in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub key: Key,
    /// One line that belongs to its neighbours: no blank line between two of these.
    pub tight: bool,
    /// How many bytes of text it is, roughly: what its height is guessed from.
    pub bytes: usize,
}

/// Texts longer than this are cut into parts that are laid out one by one.
const LONG: usize = 32 * 1024;

/// How far apart the cuts are, in what is there and in what is being said.
const APART: usize = 16 * 1024;
const APART_LIVE: usize = 1024;

/// Where long texts are cut: in parts that are laid out only where somebody looks.
#[derive(Debug, Default)]
pub struct Cuts {
    rows: HashMap<(u64, usize), Vec<usize>>,
    live: Vec<Vec<usize>>,
    /// Of which form of the live tail `live` is.
    rewritten: u64,
}

impl Cuts {
    fn row(&mut self, seq: u64, part: usize, text: &str) -> &[usize] {
        if text.len() <= LONG {
            return &[];
        }
        self.rows.entry((seq, part)).or_insert_with(|| {
            let mut found = Vec::new();
            cuts::extend(&mut found, text, APART);
            found
        })
    }

    fn live(&mut self, piece: usize, text: &str, rewritten: u64) -> &[usize] {
        if self.rewritten != rewritten {
            self.rewritten = rewritten;
            self.live.clear();
        }
        if self.live.len() <= piece {
            self.live.resize(piece + 1, Vec::new());
        }
        let found = &mut self.live[piece];
        cuts::extend(found, text, APART_LIVE);
        found
    }

    /// A part of the words of an answer, raw.
    pub fn part<'a>(&self, told: &'a Projection, key: &Key) -> &'a str {
        let (text, cuts, ix) = match key {
            Key::Words(seq, part, ix) => match told.row(*seq).and_then(|row| row.parts.get(*part)) {
                Some(Part::Text { text }) => (text, self.rows.get(&(*seq, *part)), *ix),
                Some(Part::Thinking { .. } | Part::Image { .. } | Part::Call { .. }) | None => return "",
            },
            Key::Live(piece, ix) => match told.live().pieces.get(*piece) {
                Some(Piece::Text(text)) => (text, self.live.get(*piece), *ix),
                Some(Piece::Thinking(_)) | None => return "",
            },
            Key::Said(_)
            | Key::Thinking(..)
            | Key::Call(_)
            | Key::Cut(_)
            | Key::Forming(_)
            | Key::Notice
            | Key::Woken(_) => return "",
        };
        let cut = |at: usize| cuts.and_then(|cuts| cuts.get(at)).copied();
        let start = ix.checked_sub(1).map_or(Some(0), cut);
        start.and_then(|start| text.get(start..cut(ix).unwrap_or(text.len()))).unwrap_or("")
    }
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

/// Lists what is settled of the conversation, oldest first.
pub fn settled(told: &Projection, cuts: &mut Cuts) -> Vec<Entry> {
    let mut list = Vec::new();
    let mut add = |key: Key, tight: bool, bytes: usize| list.push(Entry { key, tight, bytes });
    let mut rests = false;
    for row in told.rows() {
        match row.role {
            Role::User | Role::System => {
                if std::mem::take(&mut rests) && !woken_by(told, row.seq).is_empty() {
                    add(Key::Woken(row.seq), true, 0);
                }
                add(Key::Said(row.seq), is_card(told, row), 80);
            }
            Role::Assistant => {
                rests = row.calls() == 0 && !row.cut;
                for (ix, part) in row.parts.iter().enumerate() {
                    match part {
                        Part::Text { text } if text.trim().is_empty() => {}
                        Part::Text { text } => {
                            let cuts = cuts.row(row.seq, ix, text);
                            let mut start = 0;
                            for (piece, end) in cuts.iter().copied().chain([text.len()]).enumerate() {
                                add(Key::Words(row.seq, ix, piece), false, end - start);
                                start = end;
                            }
                        }
                        Part::Image { .. } => add(Key::Words(row.seq, ix, 0), false, 80),
                        Part::Thinking { text, .. } if text.trim().is_empty() => {}
                        Part::Thinking { .. } => add(Key::Thinking(row.seq, ix), true, 0),
                        Part::Call { id, .. } => add(Key::Call(id.clone()), true, 0),
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
    list
}

/// Whether a row is a message that is shown as a card of one line.
fn is_card(told: &Projection, row: &Row) -> bool {
    let message = row.message.as_ref().and_then(|id| told.records.messages.get(id));
    message.is_some_and(|message| told.told_contribution(message).is_some() || told.told_decision(message).is_some())
}

/// What woke Main from its rest, where that was not the person alone: the messages that came
/// together, from a row on.
pub fn woken_by(told: &Projection, first: u64) -> Vec<&Message> {
    if told.read_subagent().is_some() {
        return Vec::new();
    }
    let rows = (first..).map_while(|seq| told.row(seq)).take_while(|row| row.role == Role::User);
    let messages: Vec<_> = rows.filter_map(|row| told.records.messages.get(row.message.as_ref()?)).collect();
    let by_others = messages.iter().any(|message| message.kind != MessageKind::User);
    if by_others { messages.into_iter().filter(|message| message.wakes()).collect() } else { Vec::new() }
}

/// Lists what is being said, and why nothing is.
pub fn live(told: &Projection, cuts: &mut Cuts) -> Vec<Entry> {
    let mut list = Vec::new();
    let mut add = |key: Key, tight: bool, bytes: usize| list.push(Entry { key, tight, bytes });
    for (ix, piece) in told.live().pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) => {
                let cuts = cuts.live(ix, text, told.live().rewritten());
                let mut start = 0;
                for (piece, end) in cuts.iter().copied().chain([text.len()]).enumerate() {
                    add(Key::Live(ix, piece), false, end - start);
                    start = end;
                }
            }
            Piece::Thinking(_) => add(Key::Live(ix, 0), true, 0),
        }
    }
    for forming in &told.live().forming {
        add(Key::Forming(forming.ix), true, 0);
    }
    let of_main = told.read_subagent().is_none();
    let failed = of_main && told.task().is_some_and(|task| task.status == TaskStatus::Failed);
    if failed || told.notice().is_some() {
        add(Key::Notice, false, 80);
    }
    list
}

/// Changes whenever an entry would be drawn differently.
pub fn stamp(told: &Projection, opened: &Opened, cuts: &Cuts, key: &Key, now: Millis) -> u64 {
    match key {
        Key::Said(seq) => {
            let message = told.row(*seq).and_then(|row| row.message.as_ref());
            let message = message.and_then(|id| told.records.messages.get(id));
            let kind = message.map(|message| message.kind.as_str());
            let brought = message.and_then(|message| told.told_contribution(message)).map(|brought| brought.state);
            let asked = message
                .and_then(|message| told.told_decision(message))
                .map(|asked| (asked.state, (asked.deadline_at - now).max(0) / 1000));
            hash((kind, opened.contains(key), brought, asked))
        }
        Key::Words(..) | Key::Cut(_) => 0,
        Key::Woken(seq) => hash(woken_by(told, *seq).len()),
        Key::Thinking(..) => hash(opened.contains(key)),
        Key::Call(id) => hash((opened.contains(key), call_stamp(told, id, now))),
        Key::Live(ix, _) => match told.live().pieces.get(*ix) {
            Some(Piece::Thinking(text)) => hash((text.len(), opened.contains(key))),
            Some(Piece::Text(_)) | None => hash(cuts.part(told, key)),
        },
        Key::Forming(ix) => {
            let forming = told.live().forming.iter().find(|forming| forming.ix == *ix);
            hash(forming.map(|forming| (&forming.name, forming.bytes / 256)))
        }
        Key::Notice => {
            let left = match told.notice() {
                Some(Notice::Failed { retry_at, .. }) => retry_at.map(|at| (at - now).max(0) / 1000),
                Some(Notice::Abandoned { .. } | Notice::Stopped) | None => None,
            };
            hash((left, told.notice().is_some(), told.revision))
        }
    }
}

/// Everything a call shows that can change.
fn call_stamp(told: &Projection, id: &ToolCallId, now: Millis) -> u64 {
    let output = told.live().output.get(id).map_or((0, ""), |text| (text.len(), tail(text)));
    match told.records.tool_calls.get(id) {
        None => hash(output),
        Some(call) => {
            let running = (call.state == ToolCallState::Running).then_some(());
            let seconds = running.and(call.started_at).map(|at| (now - at).max(0) / 1000);
            let asks = told.records.question_of(id).is_some();
            let given = told.given_by(id).map(|work| given_stamp(told, &work.agent));
            let reported = told.reported_by(call).is_some();
            hash((call.state, call.result_seq, call.ended_at, seconds, output, asks, given, reported))
        }
    }
}

/// Everything that the card of a Subagent shows and that can change, but for the time.
fn given_stamp(told: &Projection, agent: &AgentId) -> u64 {
    let work = told.work_of(agent);
    let brought = work.and_then(|work| told.contribution_to(&work.id)).map(|brought| brought.state);
    let asked = told.asked_by(agent).map(|asked| &asked.id);
    hash((work.map(|work| (work.state, work.usage.turns, work.turn)), brought, asked, told.last_line(agent)))
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(32))..]
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
