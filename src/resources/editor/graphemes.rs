//! A rope in bytes and grapheme clusters.

use crate::resources::delta::Patch;
use ropey::Rope;
use std::borrow::Cow;
use std::ops::Range;
use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete};

/// A piece of a rope, borrowed where it lies in one chunk.
pub fn slice(rope: &Rope, range: Range<usize>) -> Cow<'_, str> {
    let len = rope.len_bytes();
    let range = range.start.min(len)..range.end.min(len);
    match rope.get_byte_slice(range) {
        Some(slice) => slice.into(),
        None => Cow::Borrowed(""),
    }
}

/// Applies a change that fits.
pub fn apply(rope: &mut Rope, patch: &Patch) {
    // From the back, so that earlier places keep their numbers.
    for edit in patch.edits().iter().rev() {
        let start = rope.byte_to_char(edit.at.min(rope.len_bytes()));
        let end = rope.byte_to_char((edit.at + edit.delete).min(rope.len_bytes()));
        if start < end {
            rope.remove(start..end);
        }
        if !edit.insert.is_empty() {
            rope.insert(start, &edit.insert);
        }
    }
}

/// The border of a cluster after `at`; the end where there is none.
pub fn next(rope: &Rope, at: usize) -> usize {
    let len = rope.len_bytes();
    if at >= len {
        return len;
    }
    let mut cursor = GraphemeCursor::new(at, len, true);
    let (mut chunk, mut start, _, _) = rope.chunk_at_byte(at);
    loop {
        match cursor.next_boundary(chunk, start) {
            Ok(border) => return border.unwrap_or(len),
            Err(GraphemeIncomplete::NextChunk) => {
                start += chunk.len();
                chunk = rope.chunk_at_byte(start).0;
            }
            Err(GraphemeIncomplete::PreContext(end)) => {
                let (context, from, _, _) = rope.chunk_at_byte(end - 1);
                cursor.provide_context(context, from);
            }
            Err(GraphemeIncomplete::PrevChunk | GraphemeIncomplete::InvalidOffset) => return len,
        }
    }
}

/// The border of a cluster before `at`; the start where there is none.
pub fn previous(rope: &Rope, at: usize) -> usize {
    let len = rope.len_bytes();
    let at = at.min(len);
    if at == 0 {
        return 0;
    }
    let mut cursor = GraphemeCursor::new(at, len, true);
    let (mut chunk, mut start, _, _) = rope.chunk_at_byte(at - 1);
    loop {
        match cursor.prev_boundary(chunk, start) {
            Ok(border) => return border.unwrap_or(0),
            Err(GraphemeIncomplete::PrevChunk) => {
                (chunk, start, _, _) = rope.chunk_at_byte(start - 1);
            }
            Err(GraphemeIncomplete::PreContext(end)) => {
                let (context, from, _, _) = rope.chunk_at_byte(end - 1);
                cursor.provide_context(context, from);
            }
            Err(GraphemeIncomplete::NextChunk | GraphemeIncomplete::InvalidOffset) => return 0,
        }
    }
}

/// The last border of a cluster at or before `at`, which may lie anywhere.
pub fn floor(rope: &Rope, at: usize) -> usize {
    let len = rope.len_bytes();
    if at >= len {
        return len;
    }
    let at = rope.char_to_byte(rope.byte_to_char(at));
    let mut cursor = GraphemeCursor::new(at, len, true);
    let (chunk, start, _, _) = rope.chunk_at_byte(at);
    loop {
        match cursor.is_boundary(chunk, start) {
            Ok(true) => return at,
            Ok(false) => return previous(rope, at),
            Err(GraphemeIncomplete::PreContext(end)) => {
                let (context, from, _, _) = rope.chunk_at_byte(end - 1);
                cursor.provide_context(context, from);
            }
            Err(_) => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    proptest! {
        #[test]
        fn borders_in_a_rope_are_those_of_the_text(pieces in proptest::collection::vec("👩‍👩‍👧‍👦|🇩🇪|e\u{301}|\r\n|a|京|\n| |ส", 0..60), times in 1usize..40) {
            let text = pieces.concat().repeat(times);
            let rope = Rope::from_str(&text);
            let borders: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            for pair in borders.windows(2).take(400) {
                prop_assert_eq!(next(&rope, pair[0]), pair[1]);
                prop_assert_eq!(previous(&rope, pair[1]), pair[0]);
                for at in pair[0]..pair[1] {
                    prop_assert_eq!(floor(&rope, at), pair[0]);
                }
            }
        }
    }
}
