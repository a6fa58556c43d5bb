//! A table whose columns share what room there is; cells wrap. Where no columns fit beside each
//! other, each row is a list of its cells under their heads.

use super::super::text;
use super::layout::Paper;
use super::parse::Words;
use pulldown_cmark::Alignment;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Between two columns.
const GAP: &str = " │ ";
const GAP_WIDTH: usize = 3;

/// A column is not squeezed below this while another is wider.
const LEAST: usize = 6;

pub(super) fn draw(paper: &Paper, columns: &[Alignment], rows: &[Vec<Words>], room: usize) -> Vec<Line<'static>> {
    let natural: Vec<usize> = (0..columns.len())
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(widest).max().unwrap_or(0).max(1))
        .collect();
    let gaps = GAP_WIDTH * columns.len().saturating_sub(1);
    match room.checked_sub(gaps).and_then(|room| share(natural, room)) {
        Some(widths) => side_by_side(paper, columns, rows, &widths),
        None => one_below_the_other(paper, rows, room),
    }
}

fn widest(words: &Words) -> usize {
    words.text.split('\n').map(text::width).max().unwrap_or(0)
}

/// Takes from the widest columns until all fit; gives up when a column would be too narrow to read.
fn share(mut widths: Vec<usize>, room: usize) -> Option<Vec<usize>> {
    let mut total: usize = widths.iter().sum();
    while total > room {
        let widest = widths.iter().copied().max().filter(|widest| *widest > LEAST)?;
        let next = widths.iter().copied().filter(|width| *width < widest).max().unwrap_or(0).max(LEAST);
        let many = widths.iter().filter(|width| **width == widest).count();
        // Down to the next widest at once, or as far as is needed; what does not divide comes off the first.
        let excess = (total - room).min(many * (widest - next));
        let (each, rest) = (excess / many, excess % many);
        for (ix, width) in widths.iter_mut().filter(|width| **width == widest).enumerate() {
            *width -= each + usize::from(ix < rest);
        }
        total -= excess;
    }
    Some(widths)
}

fn side_by_side(paper: &Paper, columns: &[Alignment], rows: &[Vec<Words>], widths: &[usize]) -> Vec<Line<'static>> {
    let theme = paper.theme;
    let border = Style::from(theme.border);
    let rule = || {
        let bars: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        Line::styled(bars.join("─┼─"), border)
    };
    let nothing = Words::default();
    let drawn: Vec<Vec<Vec<Line<'static>>>> = rows
        .iter()
        .enumerate()
        .map(|(ix, row)| {
            let style = if ix == 0 { theme.strong } else { theme.text };
            let cell = |(column, width): (usize, &usize)| {
                paper.flow(row.get(column).unwrap_or(&nothing), *width, style.into())
            };
            widths.iter().enumerate().map(cell).collect()
        })
        .collect();
    // Rows that wrap are told apart by rules.
    let wraps = drawn.iter().skip(1).any(|row| row.iter().any(|cell| cell.len() > 1));
    let mut lines = Vec::new();
    for (ix, row) in drawn.into_iter().enumerate() {
        if ix == 1 || (ix > 1 && wraps) {
            lines.push(rule());
        }
        let height = row.iter().map(Vec::len).max().unwrap_or(1);
        let mut cells: Vec<_> = row.into_iter().map(Vec::into_iter).collect();
        for _ in 0..height {
            let mut spans = Vec::new();
            for (column, cell) in cells.iter_mut().enumerate() {
                if column > 0 {
                    spans.push(Span::styled(GAP, border));
                }
                let words = cell.next().unwrap_or_default();
                let alignment = columns.get(column).copied().unwrap_or(Alignment::None);
                place(&mut spans, words, widths[column], alignment);
            }
            lines.push(Line::from(spans));
        }
    }
    lines
}

fn place(spans: &mut Vec<Span<'static>>, words: Line<'static>, width: usize, alignment: Alignment) {
    let used: usize = words.spans.iter().map(|span| text::width(&span.content)).sum();
    let free = width.saturating_sub(used);
    let left = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => free / 2,
        Alignment::Right => free,
    };
    spans.push(Span::raw(" ".repeat(left)));
    spans.extend(words.spans);
    spans.push(Span::raw(" ".repeat(free - left)));
}

fn one_below_the_other(paper: &Paper, rows: &[Vec<Words>], room: usize) -> Vec<Line<'static>> {
    let theme = paper.theme;
    let Some((head, rows)) = rows.split_first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (ix, row) in rows.iter().enumerate() {
        if ix > 0 {
            lines.push(Line::styled("─".repeat(room), theme.border));
        }
        for (column, cell) in row.iter().enumerate() {
            if let Some(name) = head.get(column).filter(|name| !name.text.is_empty()) {
                lines.extend(paper.flow(name, room, theme.strong.into()));
            }
            lines.extend(paper.flow(cell, room, theme.text.into()));
        }
    }
    if rows.is_empty() {
        head.iter().for_each(|name| lines.extend(paper.flow(name, room, theme.strong.into())));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_give_first() {
        assert_eq!(share(vec![4, 50, 20], 40), Some(vec![4, 18, 18]));
        assert_eq!(share(vec![4, 10], 40), Some(vec![4, 10]));
        assert_eq!(share(vec![9, 9, 9], 20), Some(vec![6, 7, 7]));
        assert_eq!(share(vec![9, 9, 9], 17), None);
    }
}
