//! The one width of text, and the one door for text that is not ours.
//!
//! Layout and drawing measure with [`width`], the same sum over grapheme clusters that the cell
//! buffer uses, so nothing is cut in half and borders stay straight. Whatever a model, a tool, a
//! file or a server wrote passes [`clean`] or [`line`] before it is measured.

use crate::domain::sanitise;
use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// The width of one grapheme cluster in cells; control characters take none, as they are not drawn.
pub fn cluster_width(cluster: &str) -> usize {
    if cluster.chars().any(char::is_control) { 0 } else { usize::from(cluster.cell_width()) }
}

/// The width of a text in cells.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.len();
    }
    text.graphemes(true).map(cluster_width).sum()
}

/// Foreign prose of any number of lines, harmless to draw: line ends are `\n`, tabs are spaces.
pub fn clean(text: &str) -> String {
    expand_tabs(&sanitise::text(text))
}

/// What a program printed, as it would stand on a terminal in the end.
pub fn output(text: &str) -> String {
    expand_tabs(&sanitise::output(text))
}

/// Foreign text on one line; a line end shows as `↵`.
pub fn line(text: &str) -> String {
    sanitise::line(text.trim()).into_owned()
}

/// Text a person must be able to see whole before saying yes: what can't be seen is written out.
pub fn exact(text: &str) -> String {
    expand_tabs(&sanitise::approval(text))
}

/// Cuts a text to a width; what was left out is marked with `…`.
pub fn cut(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let (mut out, mut used) = (String::new(), 0);
    for cluster in text.graphemes(true) {
        let wide = cluster_width(cluster);
        if used + wide > room {
            break;
        }
        used += wide;
        out.push_str(cluster);
    }
    if max > 0 {
        out.push('…');
    }
    out
}

/// Cuts the beginning of a text, for paths: the end is what tells them apart.
pub fn cut_start(text: &str, max: usize) -> String {
    if width(text) <= max {
        return text.to_owned();
    }
    let room = max.saturating_sub(1);
    let (mut kept, mut used) = (Vec::new(), 0);
    for cluster in text.graphemes(true).rev() {
        let wide = cluster_width(cluster);
        if used + wide > room {
            break;
        }
        used += wide;
        kept.push(cluster);
    }
    let mut out = String::from(if max > 0 { "…" } else { "" });
    out.extend(kept.into_iter().rev());
    out
}

fn expand_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let (mut out, mut column) = (String::with_capacity(text.len() + 16), 0);
    for cluster in text.graphemes(true) {
        match cluster {
            "\t" => {
                let step = 4 - column % 4;
                out.extend(std::iter::repeat_n(' ', step));
                column += step;
            }
            "\n" => {
                out.push('\n');
                column = 0;
            }
            other => {
                out.push_str(other);
                column += cluster_width(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_of_emoji_is_as_wide_as_it_is_drawn() {
        assert_eq!(width("👩‍👩‍👧‍👦"), 2);
        assert_eq!(width("日本"), 4);
        assert_eq!(width("e\u{301}"), 1);
        assert_eq!(width(""), 0);
    }

    #[test]
    fn cutting_never_splits_a_cluster_and_marks_what_is_missing() {
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut_start("/home/me/project", 9), "…/project");
    }

    #[test]
    fn tabs_stand_on_columns_of_four() {
        assert_eq!(expand_tabs("a\tb\n\tc"), "a   b\n    c");
        assert_eq!(expand_tabs("日\tx"), "日  x");
    }

    #[test]
    fn foreign_text_on_one_line_has_no_line_ends() {
        assert_eq!(line("a\r\nb\n"), "a↵b");
    }

    #[test]
    fn what_is_shown_for_approval_hides_nothing() {
        assert_eq!(exact("ls \u{202e}\x1b[2J"), "ls \\u{202e}\\u{1b}[2J");
    }
}
