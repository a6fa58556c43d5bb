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
    wrap_some(text, room, usize::MAX).0
}

/// Wraps a text until there are enough rows; says whether these are all.
pub fn wrap_some(text: &str, room: usize, enough: usize) -> (Vec<Range<usize>>, bool) {
    let room = room.max(1);
    let mut rows = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        if rows.len() >= enough {
            return (rows, false);
        }
        // A line of megabytes is not wrapped for the sake of its first rows.
        let most = enough.saturating_sub(rows.len()).saturating_mul(room).saturating_mul(4).saturating_add(1024);
        if line.len() > most {
            wrap_line(&line[..line.floor_char_boundary(most)], start, room, &mut rows);
            return (rows, false);
        }
        wrap_line(line, start, room, &mut rows);
        start += line.len() + 1;
    }
    (rows, true)
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
    let mut clusters = line.grapheme_indices(true).peekable();
    while let Some((at, cluster)) = clusters.next() {
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
        let clings = clusters.peek().is_some_and(|(_, next)| clings(next)) || opens(cluster);
        if space || (wide > 1 && !clings) {
            candidate = Some((at + cluster.len(), used));
        }
    }
    rows.push(offset + start..offset + line.len());
}

/// Whether a sign of wide text belongs to what stands before it: no row begins with it.
fn clings(cluster: &str) -> bool {
    const SIGNS: &str = "、。，．・：；？！）］｝」』】〉》〕〗゛゜ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々…‥";
    cluster.chars().next().is_some_and(|c| SIGNS.contains(c))
}

/// Whether a sign of wide text belongs to what follows it: no row ends with it.
fn opens(cluster: &str) -> bool {
    const SIGNS: &str = "（［｛「『【〈《〔〖";
    cluster.chars().next().is_some_and(|c| SIGNS.contains(c))
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
    fn no_row_of_wide_text_begins_with_a_sign_that_ends_a_sentence() {
        assert_eq!(rows("日本です。次", 8), ["日本で", "す。次"]);
        assert_eq!(rows("日本「で」す", 6), ["日本", "「で」", "す"]);
    }

    #[test]
    fn of_a_line_of_megabytes_only_the_first_rows_are_wrapped() {
        let line = "word ".repeat(1_000_000);
        let (rows, is_all) = wrap_some(&line, 50, 10);
        assert!(rows.len() >= 10 && rows.len() < 200 && !is_all);
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
