//! A line of a document as rows of a pane: soft wrap that keeps every byte in its place.
//!
//! Unlike the [wrap](super::super::wrap) of what is only read, nothing hangs over the edge: the caret
//! can stand on each cluster, and a tab reaches to the next stop.

use super::super::text::cluster_width;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// How many columns lie between two stops of a tab.
pub const TAB: usize = 4;

/// The columns that a cluster takes when it begins at a column of its row.
pub fn columns(cluster: &str, column: usize) -> usize {
    match cluster {
        "\t" => TAB - column % TAB,
        one if one.chars().any(char::is_control) => 1,
        other => cluster_width(other),
    }
}

/// What is drawn for a cluster that begins at a column.
pub fn drawn(cluster: &str, column: usize) -> String {
    match cluster {
        "\t" => " ".repeat(columns(cluster, column)),
        one if one.chars().any(char::is_control) => "·".to_owned(),
        other => other.to_owned(),
    }
}

/// Wraps a line without its end into rows of at most `room` columns, at least one row, and about
/// `enough` at the most.
pub fn wrap(line: &str, room: usize, enough: usize) -> Vec<Range<usize>> {
    let room = room.max(2);
    // A line of megabytes is not looked at for the sake of its first rows.
    let most = enough.saturating_mul(room).saturating_mul(4).saturating_add(1024).min(line.len());
    let line = &line[..line.floor_char_boundary(most)];
    let clusters: Vec<(usize, &str)> = line.grapheme_indices(true).collect();
    let mut rows = Vec::new();
    let (mut start, mut column, mut next) = (0, 0, 0);
    // Where the row may end, behind its last space.
    let mut border = None;
    while let Some((at, cluster)) = clusters.get(next) {
        let wide = columns(cluster, column);
        if column + wide > room && *at > start {
            (start, next) = {
                let (end, after) = border.take().unwrap_or((*at, next));
                rows.push(start..end);
                (end, after)
            };
            column = 0;
            continue;
        }
        column += wide;
        next += 1;
        if matches!(*cluster, " " | "\t") {
            border = Some((at + cluster.len(), next));
        }
    }
    rows.push(start..line.len());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(line: &str, room: usize) -> Vec<&str> {
        wrap(line, room, 1_000).into_iter().map(|row| &line[row]).collect()
    }

    #[test]
    fn words_stay_whole_where_they_fit_and_no_byte_is_left_out() {
        assert_eq!(rows("the quick brown fox", 10), ["the quick ", "brown fox"]);
        assert_eq!(rows("", 10), [""]);
        assert_eq!(rows("日本語テキスト", 5), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(rows("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 3), ["👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]);
    }

    #[test]
    fn a_tab_reaches_to_the_next_stop() {
        assert_eq!((columns("\t", 0), columns("\t", 3), columns("\u{7}", 0)), (4, 1, 1));
    }

    proptest! {
        #[test]
        fn the_rows_are_the_line_and_none_is_too_wide(line in "[a-c 日\t👍]{0,60}", room in 4usize..20) {
            let rows = rows(&line, room);
            prop_assert_eq!(rows.concat(), line.clone());
            for row in rows {
                let wide = row.graphemes(true).fold(0, |column, cluster| column + columns(cluster, column));
                prop_assert!(wide <= room, "{row:?} is {wide} wide");
            }
        }
    }
}
