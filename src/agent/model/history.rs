//! A saved context as turns that every server accepts.
//!
//! What is stored may be a history that servers refuse: a call whose result was never saved, ids
//! that a server gave twice or that another server made, arguments that are no JSON, an answer cut
//! before its first word, two messages of a person in a row. It is made valid here, for one
//! request; the rows stay as they are.

use crate::agent::port::Blobs;
use crate::domain::{Part, Role, Row, ToolCallId, ToolCallState};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The largest picture that is sent.
const LARGEST_IMAGE: usize = 20 * 1024 * 1024;

const NO_RESULT: &str =
    "No result was saved for this call. It may or may not have happened: look before you repeat it.";

/// One side's turn.
#[derive(Debug, PartialEq)]
pub(super) enum Turn<'a> {
    /// What the person, or the runtime, said; never empty.
    User(Vec<Piece<'a>>),
    /// What the model answered; says something or calls something.
    Assistant {
        /// Its thoughts: words, and what the server wants to see again.
        thoughts: Vec<(&'a str, Option<&'a str>)>,
        /// Its words.
        text: String,
        /// Its calls, each with its result.
        calls: Vec<Called<'a>>,
    },
}

/// A piece of what is said.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece<'a> {
    /// Words.
    Text(String),
    /// A picture: media type, blob, name.
    Image(&'a str, &'a str, &'a str),
}

/// A call and its result.
#[derive(Debug, PartialEq)]
pub(super) struct Called<'a> {
    /// Its id on the wire: unique, and of the server's own making where that is possible.
    pub(super) id: String,
    /// The tool.
    pub(super) name: &'a str,
    /// A JSON object, as the model wrote it.
    pub(super) arguments: String,
    /// What came of it; never empty.
    pub(super) result: Vec<Piece<'a>>,
    /// It did not do what it should.
    pub(super) failed: bool,
}

impl<'a> Called<'a> {
    /// The words of the result, for a format whose results hold nothing else.
    pub(super) fn text(&self) -> String {
        let texts: Vec<&str> = self.result.iter().filter_map(Piece::text).collect();
        match texts.is_empty() {
            true => "(the picture follows)".to_owned(),
            false => texts.join("\n"),
        }
    }

    /// The pictures of the result.
    pub(super) fn pictures(&self) -> Vec<Piece<'a>> {
        self.result.iter().filter(|piece| piece.text().is_none()).cloned().collect()
    }
}

impl<'a> Piece<'a> {
    fn of(part: &'a Part) -> Option<Self> {
        match part {
            Part::Text { text } if text.trim().is_empty() => None,
            Part::Text { text } => Some(Self::Text(text.clone())),
            Part::Image { media_type, blob, name } => Some(Self::Image(media_type, blob, name)),
            Part::Thinking { .. } | Part::Call { .. } => None,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(..) => None,
        }
    }

    /// The words, or a picture as media type and Base64; one that can't be sent becomes words.
    pub(super) fn load(&self, blobs: &dyn Blobs) -> Result<String, (String, String)> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Image(media_type, blob, name) => match blobs.get(blob, 0, LARGEST_IMAGE) {
                Ok((size, _)) if size > LARGEST_IMAGE as u64 => Ok(format!("[picture {name}: too large to be sent]")),
                Ok((_, bytes)) => Err(((*media_type).to_owned(), STANDARD.encode(bytes))),
                Err(_) => Ok(format!("[picture {name}: no longer kept]")),
            },
        }
    }
}

/// The turns of a context; `accepts` says whether the server takes an id of that form.
pub(super) fn turns(rows: &[Row], accepts: fn(&str) -> bool) -> Vec<Turn<'_>> {
    let results = results(rows);
    let ids = wire_ids(rows, accepts);
    let mut turns = Vec::new();
    for row in rows {
        match row.role {
            Role::User => say(&mut turns, row.parts.iter().filter_map(Piece::of).collect()),
            // A server may take but one system message, the first.
            Role::System => {
                let words = format!("<note from=\"runtime\">\n{}\n</note>", row.text());
                say(&mut turns, vec![Piece::Text(words)]);
            }
            Role::Assistant => turns.extend(answer(row, &ids, &results)),
            // Written with the call it belongs to.
            Role::Tool => {}
        }
    }
    let is_open = |row: &Row| row.role == Role::Assistant && row.cut && row.calls() == 0;
    if rows.iter().rfind(|row| row.role != Role::Tool).is_some_and(is_open) {
        say(&mut turns, vec![Piece::Text("(Your answer was cut here. Go on where it ends.)".into())]);
    }
    if matches!(turns.first(), Some(Turn::Assistant { .. })) {
        let words = "(What was said before is left out.)";
        turns.insert(0, Turn::User(vec![Piece::Text(words.into())]));
    }
    turns
}

/// Adds what was said; what follows other words joins them, since many servers want the sides to
/// alternate.
fn say<'a>(turns: &mut Vec<Turn<'a>>, pieces: Vec<Piece<'a>>) {
    match turns.last_mut() {
        _ if pieces.is_empty() => {}
        Some(Turn::User(before)) => before.extend(pieces),
        Some(Turn::Assistant { .. }) | None => turns.push(Turn::User(pieces)),
    }
}

fn answer<'a>(
    row: &'a Row,
    ids: &BTreeMap<&ToolCallId, String>,
    results: &BTreeMap<&ToolCallId, &'a Row>,
) -> Option<Turn<'a>> {
    let mut thoughts = Vec::new();
    let mut calls = Vec::new();
    for part in &row.parts {
        match part {
            Part::Thinking { text, signature } => thoughts.push((text.as_str(), signature.as_deref())),
            Part::Call { id, name, arguments, .. } => {
                let result = results.get(id).copied();
                let mut pieces: Vec<Piece> = result.iter().flat_map(|row| &row.parts).filter_map(Piece::of).collect();
                if pieces.is_empty() {
                    pieces.push(Piece::Text(if result.is_some() { "(no output)" } else { NO_RESULT }.into()));
                }
                calls.push(Called {
                    id: ids.get(id).cloned().unwrap_or_else(|| id.to_string()),
                    name,
                    arguments: valid_arguments(arguments),
                    result: pieces,
                    failed: result.is_none_or(|row| row.outcome.is_some_and(|state| state != ToolCallState::Done)),
                });
            }
            Part::Text { .. } | Part::Image { .. } => {}
        }
    }
    let text = row.text();
    (!text.trim().is_empty() || !calls.is_empty()).then_some(Turn::Assistant { thoughts, text, calls })
}

/// The result of each call; where there should be two, the first.
fn results(rows: &[Row]) -> BTreeMap<&ToolCallId, &Row> {
    let mut results = BTreeMap::new();
    for row in rows.iter().filter(|row| row.role == Role::Tool) {
        if let Some(call) = &row.tool_call {
            results.entry(call).or_insert(row);
        }
    }
    results
}

/// The id of each call on the wire: the server's own, since some accept no other form, unless it
/// gave none, gave it before, or another server gave it and this one would refuse it.
fn wire_ids(rows: &[Row], accepts: fn(&str) -> bool) -> BTreeMap<&ToolCallId, String> {
    let mut taken = BTreeSet::new();
    let mut ids = BTreeMap::new();
    for part in rows.iter().flat_map(|row| &row.parts) {
        if let Part::Call { id, provider_id, .. } = part {
            let fresh = !provider_id.is_empty() && accepts(provider_id) && taken.insert(provider_id.as_str());
            ids.insert(id, if fresh { provider_id.clone() } else { id.to_string() });
        }
    }
    ids
}

/// Makes arguments a JSON object: servers parse what they are sent back, and the model should see
/// what it wrote.
fn valid_arguments(arguments: &str) -> String {
    if arguments.trim().is_empty() {
        return "{}".to_owned();
    }
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(_) => arguments.to_owned(),
        Err(_) => json!({"invalid_arguments": arguments}).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_no_object_are_wrapped_into_one() {
        assert_eq!(valid_arguments(""), "{}");
        assert_eq!(valid_arguments("   "), "{}");
        assert_eq!(valid_arguments("{\"a\": 1}"), "{\"a\": 1}", "word for word: servers cache what they wrote");
        for broken in ["null", "[1]", "5", "{\"path\":\"a", "{\"path\":\"a\"} trailing"] {
            let value: Value = serde_json::from_str(&valid_arguments(broken)).expect("JSON");
            assert_eq!(value, json!({"invalid_arguments": broken}));
        }
    }

    fn row(role: Role, parts: Vec<Part>) -> Row {
        Row { seq: 0, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 0, at: 0 }
    }

    #[test]
    fn a_cut_answer_at_the_end_is_asked_to_go_on_and_a_beginning_that_is_left_out_is_said() {
        let cut = Row { cut: true, ..row(Role::Assistant, vec![Part::text("The half")]) };
        let turns = turns(std::slice::from_ref(&cut), |_| true);
        assert!(
            matches!(&turns[0], Turn::User(said) if matches!(&said[0], Piece::Text(words) if words.contains("left out")))
        );
        assert!(matches!(&turns[1], Turn::Assistant { text, .. } if text == "The half"));
        assert!(
            matches!(&turns[2], Turn::User(said) if matches!(&said[0], Piece::Text(words) if words.contains("Go on")))
        );
    }

    #[test]
    fn an_id_that_another_server_made_and_this_one_refuses_becomes_ours() {
        let call = Part::Call {
            id: "c_1".into(),
            provider_id: "functions.read:0".into(),
            name: "read".into(),
            arguments: String::new(),
        };
        let rows = [row(Role::User, vec![Part::text("go")]), row(Role::Assistant, vec![call])];
        let id = |accepts| match turns(&rows, accepts).remove(1) {
            Turn::Assistant { mut calls, .. } => calls.remove(0).id,
            Turn::User(_) => panic!("an assistant's"),
        };
        assert_eq!(id(|_| true), "functions.read:0");
        assert_eq!(id(|id| !id.contains('.')), "c_1");
    }
}
