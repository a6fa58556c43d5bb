//! What the saved rows tell: the words of the current round, and what was done for them.
//!
//! A round begins with the person's words after a final answer and ends with the next one. Words
//! that arrive in the middle of it join it.

use super::deeds;
use super::steps::{Made, Steps, Told};
use super::understand::{self, Before};
use super::wish::Wish;
use crate::domain::decide::STOPPED;
use crate::domain::{Part, Role, Row, ToolCallState};
use serde_json::Value;

/// Stops a round that does not end, whatever the reason.
const MOST_CALLS: usize = 400;

/// The rows, read.
pub(super) struct History {
    /// The person's words of this round, each with how many answers came before it.
    words: Vec<(usize, String)>,
    /// Calls of this round that have their result, each with the number of its answer, from 0.
    made: Vec<(usize, Made)>,
    /// What earlier rounds left to refer to.
    before: Before,
    /// How many messages of this round have had their answer, in words that stand beside calls.
    pub(super) told: usize,
}

/// A wish, and the message of the round that it was in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wished {
    pub(super) message: usize,
    pub(super) wish: Wish,
}

impl History {
    pub(super) fn of(rows: &[Row]) -> Self {
        let (earlier, round) = rows.split_at(begin_of_round(rows));
        let mut before = Before::default();
        for text in earlier.iter().filter_map(words_of) {
            understand::wishes(&text, &mut before);
        }
        before.next_lines = next_lines(earlier);
        let mut history = Self { words: Vec::new(), made: Vec::new(), before, told: 0 };
        let mut answers = 0;
        for row in round {
            match row.role {
                Role::User => history.words.extend(words_of(row).map(|text| (answers, text))),
                Role::Assistant => {
                    // Words beside calls answer every message but the one that the calls are for.
                    if !row.text().is_empty() && !row.cut {
                        history.told = history.in_work();
                    }
                    history.made.extend(made(row, rows).map(|made| (answers, made)));
                    answers += 1;
                }
                Role::System | Role::Tool => {}
            }
        }
        history
    }

    /// The first message of the round that is not answered by what was done so far.
    fn in_work(&self) -> usize {
        let (wishes, mut steps) = self.round();
        let waiting = wishes.iter().find(|wished| deeds::follow(&wished.wish, None, &mut steps).is_none());
        waiting.map_or(self.words.len(), |wished| wished.message)
    }

    /// What is wished in this round, and what was done for it so far.
    pub(super) fn round(&self) -> (Vec<Wished>, Steps) {
        if self.made.len() > MOST_CALLS {
            return (vec![Wished { message: 0, wish: Wish::TooLong }], Steps::new(Vec::new()));
        }
        let mut before = self.before.clone();
        let mut since = 0;
        let mut wishes = Vec::new();
        for (message, (answered, text)) in self.words.iter().enumerate() {
            for wish in understand::wishes(text, &mut before) {
                // Whoever says stop takes back what was said before it.
                if wish == Wish::Stop {
                    wishes.clear();
                    since = *answered;
                }
                wishes.push(Wished { message, wish });
            }
        }
        if wishes.is_empty() {
            wishes.push(Wished { message: 0, wish: Wish::Nothing });
        }
        let made = self.made.iter().filter(|(answer, _)| *answer >= since);
        (wishes, Steps::new(made.map(|(_, made)| made.clone()).collect()))
    }
}

/// Finds where the round begins: after the last answer without calls that words follow, and after
/// the last step that was stopped, if words follow that.
fn begin_of_round(rows: &[Row]) -> usize {
    let Some(last_words) = rows.iter().rposition(|row| words_of(row).is_some()) else { return 0 };
    let ends = |row: &Row| match row.role {
        Role::Assistant => row.calls() == 0,
        Role::Tool => row.outcome == Some(ToolCallState::Cancelled),
        Role::User => was_stopped(row),
        Role::System => false,
    };
    rows[..last_words].iter().rposition(ends).map_or(0, |end| end + 1)
}

/// Whether a row says that a person stopped what was being done.
fn was_stopped(row: &Row) -> bool {
    row.text().ends_with(STOPPED)
}

/// The words of a row a person or the runtime wrote; that it was stopped asks for nothing.
fn words_of(row: &Row) -> Option<String> {
    (row.role == Role::User && !was_stopped(row)).then(|| row.text())
}

/// The calls of an answer that have their result.
fn made<'a>(row: &'a Row, rows: &'a [Row]) -> impl Iterator<Item = Made> + 'a {
    row.parts.iter().filter_map(|part| {
        let Part::Call { id, name, arguments, .. } = part else { return None };
        let result = rows.iter().find(|row| row.role == Role::Tool && row.tool_call.as_ref() == Some(id));
        let result = match result {
            Some(row) => Told {
                outcome: row.outcome,
                text: row.text(),
                picture: row.parts.iter().any(|part| matches!(part, Part::Image { .. })),
            },
            None => Told { outcome: None, text: "No result was saved for this call.".to_owned(), picture: false },
        };
        let arguments = serde_json::from_str(arguments).unwrap_or(Value::Null);
        Some(Made { tool: name.clone(), arguments, result })
    })
}

/// Where the last reading stopped: file and next line.
fn next_lines(rows: &[Row]) -> Option<(String, u64)> {
    let made: Vec<Made> =
        rows.iter().filter(|row| row.role == Role::Assistant).flat_map(|row| made(row, rows)).collect();
    let last = made.iter().rfind(|made| made.tool == "read")?;
    let path = last.arguments["path"].as_str()?.to_owned();
    Some((path, super::show::Page::parse(&last.result.text)?.next?))
}
