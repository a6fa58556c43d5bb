//! Text with stretches that are set apart: wrapped and cut into spans without losing them.

use super::wrap;
use ratatui::style::Style;
use ratatui::text::Span;
use std::ops::Range;

/// Stretches of a text in their order, without overlap, each with its style.
pub type Stretches = [(Range<usize>, Style)];

/// Wraps a text; each row is a list of spans.
pub fn wrapped(text: &str, stretches: &Stretches, room: usize, style: Style) -> Vec<Vec<Span<'static>>> {
    let room = room.max(1);
    wrap::wrap(text, room)
        .iter()
        .map(|row| {
            let shown = wrap::shown(text, row, room);
            cut_out(text, stretches, &(row.start..row.start + shown.len()), style)
        })
        .collect()
}

/// A piece of a text as spans; what no stretch covers has the given style.
fn cut_out(text: &str, stretches: &Stretches, piece: &Range<usize>, style: Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = piece.start;
    let first = stretches.partition_point(|(range, _)| range.end <= piece.start);
    for (range, inked) in stretches[first..].iter().take_while(|(range, _)| range.start < piece.end) {
        let (start, end) = (range.start.max(at), range.end.min(piece.end));
        if at < start {
            spans.push(Span::styled(text[at..start].to_owned(), style));
        }
        if start < end {
            spans.push(Span::styled(text[start..end].to_owned(), *inked));
            at = end;
        }
    }
    if at < piece.end {
        spans.push(Span::styled(text[at..piece.end].to_owned(), style));
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::style::Modifier;

    #[test]
    fn a_stretch_that_wraps_keeps_its_style_on_both_rows() {
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let rows = wrapped("one two three", &[(4..13, bold)], 8, Style::new());
        let said: Vec<Vec<_>> = rows
            .iter()
            .map(|row| row.iter().map(|span| (span.content.as_ref(), span.style == bold)).collect())
            .collect();
        assert_eq!(said, [vec![("one ", false), ("two ", true)], vec![("three", true)]]);
    }
}
