//! What an agent is saying right now: the tail that is shown while it comes and is never stored.
//!
//! Deltas may be lost, repeated or late; the committed row replaces all of it at once.

use crate::domain::{ModelCallId, ToolCallId, Transient};
use std::collections::BTreeMap;

/// How much of a running tool's output is kept to be looked at.
const OUTPUT: usize = 8 * 1024;

/// A piece of an answer that is being given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// Thinking.
    Thinking(String),
}

/// A tool call that is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forming {
    /// Its place among the calls of the answer.
    pub ix: u32,
    /// The tool.
    pub name: String,
    /// How many bytes of arguments there are.
    pub bytes: u64,
}

/// The live tail of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    call: Option<ModelCallId>,
    /// The request that ended last: what still comes of it is late.
    ended: Option<ModelCallId>,
    /// Words of the request came before word of its beginning.
    ahead: bool,
    /// How often what was said so far became something else, instead of longer.
    rewritten: u64,
    /// What was said so far.
    pub pieces: Vec<Piece>,
    /// The calls being written.
    pub forming: Vec<Forming>,
    /// The end of what running tools printed.
    pub output: BTreeMap<ToolCallId, String>,
}

impl Live {
    /// A request went out: what is shown of an earlier one is gone; words that overtook this news stay.
    pub fn begin(&mut self, call: &ModelCallId) {
        self.ahead = false;
        if self.call.as_ref() != Some(call) {
            self.clear();
            self.call = Some(call.clone());
        }
    }

    /// The host answered which request is under way. Words of one that it does not know yet stay.
    pub fn resume(&mut self, asking: Option<&ModelCallId>) {
        match asking {
            Some(call) => self.begin(call),
            None if self.ahead => {}
            None => {
                if let Some(call) = self.call.clone() {
                    self.end(&call);
                }
            }
        }
    }

    /// Whether words came before word of the request's beginning: by then it took in everything
    /// that was queued, though that was not told yet.
    pub fn is_ahead(&self) -> bool {
        self.ahead
    }

    /// A request ended: its row is there, or will never be.
    pub fn end(&mut self, call: &ModelCallId) {
        if self.call.as_ref().is_none_or(|live| live == call) {
            self.clear();
            self.call = None;
            self.ahead = false;
        }
        self.ended = Some(call.clone());
    }

    /// Whether a request is under way, as far as is known.
    pub fn is_asking(&self) -> bool {
        self.call.is_some()
    }

    /// A tool call has its result: its row holds the output.
    pub fn settle(&mut self, call: &ToolCallId) {
        self.output.remove(call);
    }

    fn clear(&mut self) {
        self.rewritten += 1;
        self.pieces.clear();
        self.forming.clear();
    }

    /// Another number means that what was said so far is not the beginning of what is there now.
    pub fn rewritten(&self) -> u64 {
        self.rewritten
    }

    /// Takes one push in; says whether anything changed.
    pub fn take(&mut self, push: &Transient) -> bool {
        match push {
            Transient::Text { call, at, text, .. } => self.is_current(call) && self.grow(Kind::Text, *at, text),
            Transient::Thinking { call, at, text, .. } => self.is_current(call) && self.grow(Kind::Thinking, *at, text),
            Transient::CallForming { call, ix, name, bytes, .. } => {
                self.is_current(call) && self.form(*ix, name, *bytes)
            }
            // About the Task, not about what is said.
            Transient::Unsaved { .. } => false,
            Transient::ToolOutput { call, text, .. } => {
                let output = self.output.entry(call.clone()).or_default();
                output.push_str(text);
                if output.len() > 2 * OUTPUT {
                    let cut = output.ceil_char_boundary(output.len() - OUTPUT);
                    output.drain(..cut);
                }
                true
            }
        }
    }

    fn is_current(&mut self, call: &ModelCallId) -> bool {
        if self.ended.as_ref() == Some(call) {
            return false;
        }
        if self.call.as_ref() != Some(call) {
            self.begin(call);
            self.ahead = true;
        }
        true
    }

    fn grow(&mut self, kind: Kind, at: u64, text: &str) -> bool {
        match grow(&mut self.pieces, kind, at, text) {
            Grown::Not => false,
            Grown::Longer => true,
            Grown::Anew => {
                self.rewritten += 1;
                true
            }
        }
    }

    fn form(&mut self, ix: u32, name: &str, bytes: u64) -> bool {
        match self.forming.iter_mut().find(|forming| forming.ix == ix) {
            Some(forming) => {
                if !name.is_empty() {
                    forming.name = name.to_owned();
                }
                forming.bytes = forming.bytes.max(bytes);
            }
            None => self.forming.push(Forming { ix, name: name.to_owned(), bytes }),
        }
        true
    }
}

/// Stands for what was dropped on the way.
const LOST: &str = " … ";

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Thinking,
}

/// What a delta did to what was there.
enum Grown {
    Not,
    Longer,
    Anew,
}

/// Adds a delta where it belongs: `at` counts the bytes of its kind that came before it.
fn grow(pieces: &mut Vec<Piece>, kind: Kind, at: u64, text: &str) -> Grown {
    if text.is_empty() {
        return Grown::Not;
    }
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let last = pieces.iter_mut().rev().find_map(|piece| match (piece, kind) {
        (Piece::Text(last), Kind::Text) | (Piece::Thinking(last), Kind::Thinking) => Some(last),
        _ => None,
    });
    let Some(last) = last else {
        let lost = if at == 0 { "" } else { LOST };
        pieces.push(piece(kind, format!("{lost}{text}")));
        return Grown::Longer;
    };
    if at >= last.len() {
        if at > last.len() {
            last.push_str(LOST);
        }
        last.push_str(text);
        return Grown::Longer;
    }
    // It was told before, in part or wholly.
    let told = &last.as_bytes()[at..];
    let same = told.iter().zip(text.as_bytes()).all(|(a, b)| a == b);
    match (same, text.get(told.len()..)) {
        (true, Some(more)) if !more.is_empty() => {
            last.push_str(more);
            Grown::Longer
        }
        (true, Some(_) | None) => Grown::Not,
        (false, _) if at == 0 => {
            *last = text.to_owned();
            Grown::Anew
        }
        (false, _) => Grown::Not,
    }
}

fn piece(kind: Kind, text: String) -> Piece {
    match kind {
        Kind::Text => Piece::Text(text),
        Kind::Thinking => Piece::Thinking(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(call: &str, at: u64, text: &str) -> Transient {
        Transient::Text { task: "t_1".into(), agent: "a_1".into(), call: call.into(), at, text: text.into() }
    }

    fn said(live: &Live) -> Vec<&str> {
        live.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Thinking(text) => text.as_str(),
            })
            .collect()
    }

    #[test]
    fn a_tail_that_is_told_again_is_shown_once() {
        let mut live = Live::default();
        assert!(live.take(&text("k_1", 0, "one ")));
        assert!(live.take(&text("k_1", 4, "two")));
        assert!(!live.take(&text("k_1", 0, "one two")));
        assert!(live.take(&text("k_1", 0, "one two three")));
        assert_eq!(said(&live), ["one two three"]);
    }

    #[test]
    fn what_was_lost_is_marked_not_glued() {
        let mut live = Live::default();
        live.take(&text("k_1", 0, "one"));
        live.take(&text("k_1", 9, "four"));
        assert_eq!(said(&live), ["one … four"]);
    }

    #[test]
    fn a_whole_tail_replaces_one_with_holes() {
        let mut live = Live::default();
        live.take(&text("k_1", 0, "one"));
        live.take(&text("k_1", 9, "four"));
        live.take(&text("k_1", 0, "one two three four"));
        assert_eq!(said(&live), ["one two three four"]);
    }

    #[test]
    fn words_and_thinking_that_take_turns_stay_two_pieces() {
        let thinking = |at, words: &str| Transient::Thinking {
            task: "t_1".into(),
            agent: "a_1".into(),
            call: "k_1".into(),
            at,
            text: words.into(),
        };
        let mut live = Live::default();
        live.take(&thinking(0, "let me "));
        live.take(&text("k_1", 0, "I "));
        live.take(&thinking(7, "see"));
        live.take(&text("k_1", 2, "look"));
        assert_eq!(said(&live), ["let me see", "I look"]);
    }

    #[test]
    fn words_that_overtake_the_news_of_their_request_stay_and_are_known_to() {
        let mut live = Live::default();
        live.begin(&"k_1".into());
        live.take(&text("k_1", 0, "words"));
        assert!(!live.is_ahead());
        live.end(&"k_1".into());
        live.take(&text("k_2", 0, "more "));
        assert!(live.is_ahead());
        live.begin(&"k_2".into());
        assert!(!live.is_ahead());
        live.take(&text("k_2", 5, "words"));
        assert_eq!(said(&live), ["more words"]);
    }

    #[test]
    fn who_joins_in_the_middle_learns_from_the_answer_that_the_request_is_old() {
        let mut live = Live::default();
        live.resume(Some(&"k_1".into()));
        live.take(&text("k_1", 0, "words"));
        assert!(!live.is_ahead());
        live.resume(None);
        assert!(live.pieces.is_empty());
    }

    #[test]
    fn nothing_late_comes_back_after_the_end() {
        let mut live = Live::default();
        live.begin(&"k_1".into());
        live.take(&text("k_1", 0, "words"));
        live.end(&"k_1".into());
        assert!(!live.take(&text("k_1", 5, " more")));
        assert!(live.pieces.is_empty());
        assert!(live.take(&text("k_2", 0, "next")));
        assert_eq!(said(&live), ["next"]);
    }
}
