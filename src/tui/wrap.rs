//! Soft wrap: a text and a width give rows, as ranges of bytes that together are the whole text.
//!
//! Pure and free of styles: the chat, the composer and every list wrap with this one function.

use super::text::{cluster_width, width};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// Wraps a text into rows no wider than `room` cells.
///
/// Rows break after spaces and after wide characters; a word wider than the room breaks between
/// clusters. Spaces at a break hang over the edge and are left out by [`shown`]. The ranges of one
/// line touch; line ends lie between them.
pub fn wrap(text: &str, room: usize) -> Vec<Range<usize>> {
    let room = room.max(1);
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        wrap_line(line, start, room, &mut rows);
        start += line.len() + 1;
    }
    rows
}

/// The part of a row that is drawn.
pub fn shown<'a>(text: &'a str, row: &Range<usize>, room: usize) -> &'a str {
    let whole = &text[row.clone()];
    if width(whole) <= room {
        return whole;
    }
    let trimmed = whole.trim_end_matches(' ');
    if width(trimmed) <= room { trimmed } else { "" }
}

/// A line of plain characters, one cell each: no clusters to look for.
fn wrap_plain(line: &[u8], offset: usize, room: usize, rows: &mut Vec<Range<usize>>) {
    let (mut start, mut at) = (0, 0);
    let mut candidate: Option<usize> = None;
    while at < line.len() {
        let space = line[at] == b' ';
        if !space && at - start >= room {
            let end = candidate.take().unwrap_or(at);
            rows.push(offset + start..offset + end);
            start = end;
            continue;
        }
        at += 1;
        if space {
            candidate = Some(at);
        }
    }
    rows.push(offset + start..offset + line.len());
}

fn wrap_line(line: &str, offset: usize, room: usize, rows: &mut Vec<Range<usize>>) {
    if line.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return wrap_plain(line.as_bytes(), offset, room, rows);
    }
    wrap_clusters(line, offset, room, rows);
}

fn wrap_clusters(line: &str, offset: usize, room: usize, rows: &mut Vec<Range<usize>>) {
    let (mut start, mut used) = (0, 0);
    // Where the row may end, and how wide it is up to there.
    let mut candidate: Option<(usize, usize)> = None;
    for (at, cluster) in line.grapheme_indices(true) {
        let wide = cluster_width(cluster);
        let space = cluster == " ";
        if !space && used + wide > room && at > start {
            let (end, before) = candidate.take().unwrap_or((at, used));
            rows.push(offset + start..offset + end);
            start = end;
            used -= before;
            if used + wide > room && at > start {
                rows.push(offset + start..offset + at);
                start = at;
                used = 0;
            }
        }
        used += wide;
        if space || wide > 1 {
            candidate = Some((at + cluster.len(), used));
        }
    }
    rows.push(offset + start..offset + line.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, room: usize) -> Vec<&str> {
        wrap(text, room).iter().map(|row| shown(text, row, room)).collect()
    }

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(rows("the quick brown fox", 9), ["the quick", "brown fox"]);
        assert_eq!(rows("one\n\ntwo", 9), ["one", "", "two"]);
    }

    #[test]
    fn a_long_word_breaks_between_clusters() {
        assert_eq!(rows("aaaaabbbbb c", 5), ["aaaaa", "bbbbb", "c"]);
        assert_eq!(rows("x 👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3), ["x ", "👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]);
    }

    #[test]
    fn wide_text_breaks_between_characters() {
        assert_eq!(rows("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
    }

    #[test]
    fn a_cluster_wider_than_the_pane_is_left_out_not_halved() {
        assert_eq!(rows("日", 1), [""]);
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_pane_and_the_rows_are_the_text(text in any_text(), room in 1usize..40) {
            let rows = wrap(&text, room);
            let mut rebuilt = String::new();
            let mut end = 0;
            for row in &rows {
                prop_assert!(width(shown(&text, row, room)) <= room);
                rebuilt.push_str(&text[end..row.start]);
                prop_assert!(matches!(&text[end..row.start], "" | "\n"));
                rebuilt.push_str(&text[row.clone()]);
                end = row.end;
            }
            prop_assert_eq!(rebuilt, text);
        }

        #[test]
        fn plain_text_wraps_as_any_text_does(line in "[a-c ]{0,60}", room in 1usize..12) {
            let (mut plain, mut any) = (Vec::new(), Vec::new());
            wrap_plain(line.as_bytes(), 3, room, &mut plain);
            wrap_clusters(&line, 3, room, &mut any);
            prop_assert_eq!(plain, any);
        }

        #[test]
        fn only_spaces_are_left_out(text in any_text(), room in 2usize..40) {
            for row in wrap(&text, room) {
                let hidden = &text[row.clone()][shown(&text, &row, room).len()..];
                prop_assert!(hidden.chars().all(|c| c == ' '));
            }
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z]{1,12}",
            Just(" ".to_owned()),
            Just("   ".to_owned()),
            Just("\n".to_owned()),
            Just("日本".to_owned()),
            Just("👩‍👩‍👧‍👦".to_owned()),
            Just("🏳️‍🌈".to_owned()),
            Just("⚙️".to_owned()),
            Just("สวัสดี".to_owned()),
            Just("اختبار".to_owned()),
            Just("e\u{301}".to_owned()),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }
}
