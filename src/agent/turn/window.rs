//! Fits a context into a model's window, for one request: the first words and the newest rows stay,
//! what is between is left out, and the model is told so. What is stored stays as it is.
//!
//! Sizes are tokens as we estimate them, from bytes.

use super::super::model::Request;
use crate::domain::decide::estimate_tokens;
use crate::domain::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// How much of a window is left to the answer where the user set no limit to it: a quarter, at most
/// so many tokens.
const LARGEST_RESERVE: u64 = 8_192;

/// How much the rows of a request may take, where the model's window is known.
pub(super) fn room(request: &Request) -> Option<u64> {
    let window = request.info.context_tokens?;
    let reserve = request.info.max_output_tokens.unwrap_or(LARGEST_RESERVE).min(window / 4);
    Some(window.saturating_sub(reserve + standing(request)))
}

/// How much models turned out to take while this process ran, by `PROVIDER:NAME`.
static LEARNED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// How much of a context a model turned out to take.
pub(super) fn learned(model: &str) -> Option<u64> {
    LEARNED.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied()
}

/// Remembers that a model refused more than that as too long.
pub(super) fn learn(model: &str, room: u64) {
    LEARNED.lock().unwrap_or_else(PoisonError::into_inner).insert(model.to_owned(), room);
}

/// The size of what every request begins with.
pub(super) fn standing(request: &Request) -> u64 {
    let tools: usize = request.tools.iter().map(|tool| tool.schema_bytes + tool.description.len() + 60).sum();
    Usage::estimate(request.system.len() + tools, 0).input_tokens
}

/// What a row takes besides its words: whose it is, the ids of calls, what a format puts around it.
const FRAME: u64 = 12;

/// The size of rows.
pub(in crate::agent) fn size(rows: &[Row]) -> u64 {
    rows.iter().map(|row| estimate_tokens(&row.parts) + FRAME).sum()
}

/// The first words, which say what all is about; they stay unless they are what is too long.
fn first_words(rows: &[Row], begins: u64, room: u64) -> Option<&Row> {
    let is_short = |row: &&Row| row.role == Role::User && size(std::slice::from_ref(row)) <= room / 4;
    rows.first().filter(|row| row.seq == begins).filter(is_short)
}

/// Where the newest rows begin that fit into so much room. A result can't stand without its call,
/// so they begin with somebody's words, and if that is more than fits.
fn newest(rows: &[Row], room: u64) -> usize {
    let mut start = rows.iter().rposition(|row| row.role != Role::Tool).unwrap_or(0);
    let mut taken = 0;
    for (at, row) in rows.iter().enumerate().rev() {
        taken += size(std::slice::from_ref(row));
        if taken > room {
            break;
        }
        if row.role != Role::Tool {
            start = at;
        }
    }
    start
}

/// Drops rows between the first words and the newest ones, if there are more than fit into so much
/// room of a context that begins with row `begins`; says whether.
/// A quarter of the room is left free then, so that the next requests begin with the same words:
/// servers need not read again what begins alike.
pub(in crate::agent) fn shorten(rows: &mut Vec<Row>, begins: u64, room: u64) -> bool {
    if size(rows) <= room {
        return false;
    }
    let room = room - room / 4;
    let first = first_words(rows, begins, room).map_or(0, |row| size(std::slice::from_ref(row)));
    let from = usize::from(first > 0);
    rows.drain(from..newest(rows, room.saturating_sub(first)).max(from));
    true
}

/// Takes what fits into so much room of a context that begins with row `begins`.
pub(super) fn fit(rows: &[Row], begins: u64, room: u64) -> Vec<Row> {
    let fits = size(rows) <= room;
    let first = match fits {
        true => rows.first().filter(|row| row.seq == begins),
        false => first_words(rows, begins, room),
    };
    let left = room.saturating_sub(first.map_or(0, |row| size(std::slice::from_ref(row))));
    let start = if fits { usize::from(first.is_some()) } else { newest(rows, left) };
    let tail = &rows[start..];
    let mut fitted = Vec::with_capacity(tail.len() + 2);
    if start > 0 || rows.first().is_some_and(|row| row.seq > begins) {
        let first = first.filter(|_| start > 0);
        fitted.extend(first.cloned());
        let gone = tail.first().map_or(0, |row| row.seq - begins - u64::from(first.is_some()));
        if gone > 0 {
            let words = format!(
                "{gone} earlier entries of this conversation are left out here, since they do not fit into your \
                 window. Look again, or ask, where you miss something."
            );
            fitted.push(Row {
                seq: tail.first().map_or(0, |row| row.seq.saturating_sub(1)),
                role: Role::System,
                parts: vec![Part::text(words)],
                message: None,
                tool_call: None,
                outcome: None,
                cut: false,
                tokens: 0,
                at: 0,
            });
        }
    }
    match fits || size(tail) <= left {
        true => fitted.extend_from_slice(tail),
        // Even the newest step alone is too long: of each long text in it, the middle goes.
        false => {
            let share = (left as usize * 3 / tail.len().max(1)).max(200);
            fitted.extend(tail.iter().map(|row| shortened(row, share)));
        }
    }
    fitted
}

/// A row whose texts have at most so many bytes.
fn shortened(row: &Row, most: usize) -> Row {
    let parts = row.parts.iter().map(|part| match part {
        Part::Text { text } if text.len() > most => {
            let floor = |at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let (head, tail) = (floor(most / 2), floor(text.len() - most / 2));
            let gone = tail - head;
            Part::text(format!(
                "{}\n[… {gone} bytes left out, to fit into your window]\n{}",
                &text[..head],
                &text[tail..]
            ))
        }
        other => other.clone(),
    });
    Row { parts: parts.collect(), ..row.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(seq: u64, role: Role, text: String) -> Row {
        let tool_call = (role == Role::Tool).then(|| format!("c_{seq}").as_str().into());
        let parts = vec![Part::text(text)];
        Row { seq, role, parts, message: None, tool_call, outcome: None, cut: false, tokens: 0, at: 0 }
    }

    fn conversation(steps: u64, bytes: usize) -> Vec<Row> {
        let mut rows = vec![row(1, Role::User, "do it".into())];
        for step in 0..steps {
            rows.push(row(2 + step * 2, Role::Assistant, "look".into()));
            rows.push(row(3 + step * 2, Role::Tool, "x".repeat(bytes)));
        }
        rows
    }

    #[test]
    fn what_fits_is_sent_as_it_is() {
        let rows = conversation(3, 100);
        assert_eq!(fit(&rows, 1, 10_000), rows);
    }

    #[test]
    fn the_first_words_and_the_newest_steps_stay_and_the_rest_is_said_to_be_left_out() {
        let rows = conversation(50, 1_000);
        let fitted = fit(&rows, 1, 2_000);
        assert!(size(&fitted) <= 2_100, "{}", size(&fitted));
        assert_eq!((&fitted[0], fitted.last()), (&rows[0], rows.last()));
        assert!(fitted[1].role == Role::System && fitted[1].text().contains("left out"));
        assert_eq!(fitted[2].role, Role::Assistant, "no result without its call");
    }

    #[test]
    fn a_single_step_that_is_too_long_loses_the_middle_of_its_texts() {
        let rows = conversation(1, 100_000);
        let fitted = fit(&rows, 1, 1_000);
        assert!(size(&fitted) < 1_500, "{}", size(&fitted));
        assert!(fitted.last().is_some_and(|row| row.role == Role::Tool && row.text().contains("bytes left out")));
    }

    #[test]
    fn many_short_steps_take_the_room_that_their_frames_need() {
        let rows = conversation(1_000, 4);
        let fitted = fit(&rows, 1, 6_000);
        assert!(fitted.len() < 500, "{} rows for 6000 tokens", fitted.len());
        assert_eq!(fitted.last(), rows.last());
    }

    #[test]
    fn what_was_dropped_before_is_still_said_to_be_left_out() {
        let mut rows = conversation(50, 1_000);
        let whole = rows.clone();
        assert!(!shorten(&mut rows, 1, 100_000));
        assert!(shorten(&mut rows, 1, 4_000));
        assert!(size(&rows) <= 3_000 && size(&rows) > 2_000, "{}", size(&rows));
        assert_eq!((rows[0].seq, rows.last()), (1, whole.last()));
        let fitted = fit(&rows, 1, 4_000);
        assert_eq!((fitted.len(), &fitted[0]), (rows.len() + 1, &whole[0]));
        let gone = rows[1].seq - 2;
        assert!(fitted[1].text().starts_with(&format!("{gone} earlier entries")), "{}", fitted[1].text());
        // Words that would take more than their share are not kept.
        let mut long = whole.clone();
        long[0] = row(1, Role::User, "x".repeat(20_000));
        assert!(shorten(&mut long, 1, 4_000));
        assert!(long[0].seq > 1);
        assert!(fit(&long, 1, 4_000)[0].text().starts_with(&format!("{} earlier entries", long[0].seq - 1)));
    }

    proptest! {
        #[test]
        fn dropping_first_leaves_what_would_be_sent_without_it(steps in 0u64..20, bytes in 0usize..5_000, room in 0u64..5_000) {
            let whole = conversation(steps, bytes);
            let mut held = whole.clone();
            shorten(&mut held, 1, room);
            let (before, after) = (fit(&whole, 1, room - room / 4), fit(&held, 1, room - room / 4));
            prop_assert_eq!(before.last(), after.last());
            prop_assert_eq!(before.first().map(|row| row.seq), after.first().map(|row| row.seq));
        }

        #[test]
        fn whatever_the_room_there_is_something_to_send_and_no_result_stands_alone(
            steps in 0u64..20, bytes in 0usize..5_000, room in 0u64..5_000,
        ) {
            let fitted = fit(&conversation(steps, bytes), 1, room);
            prop_assert!(!fitted.is_empty());
            prop_assert!(fitted[0].role != Role::Tool);
            let alone = fitted.windows(2).any(|pair| pair[1].role == Role::Tool && pair[0].role != Role::Assistant);
            prop_assert!(!alone);
        }
    }
}
