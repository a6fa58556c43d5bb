//! Addresses in what is drawn, so that the terminal can open them: each leads where it says and
//! nowhere else, since it is made of nothing but the cells that are seen.

use super::chat::draw::MARGIN;
use super::markdown::LINE;
use super::text;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;

/// A stretch of cells that leads somewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Where it leads.
    pub address: String,
    /// The cells it is made of, with their places.
    pub cells: Vec<(u16, u16, Cell)>,
}

/// The longest address that is looked at.
const LONGEST: usize = 2_000;

/// Finds the addresses in the rows of an area.
pub fn find(buffer: &Buffer, area: Rect) -> Vec<Link> {
    let mut found: Vec<Link> = Vec::new();
    // Where words wrap: an address that reaches this far goes on in the next row.
    let full = (area.x as usize + MARGIN + usize::from(area.width).saturating_sub(MARGIN + 1).min(LINE)) as u16;
    let mut goes_on = false;
    for y in area.top()..area.bottom() {
        let mut x = area.x;
        if std::mem::take(&mut goes_on)
            && let Some(link) = found.last_mut()
        {
            let start = area.x + MARGIN as u16;
            x = take_cells(buffer, link, start, y, area.right());
            goes_on = x == full && x > start && link.address.len() < LONGEST;
            if !goes_on {
                trim(link);
            }
        }
        while x < area.right() {
            if !begins(buffer, x, y, area.right()) {
                x += 1;
                continue;
            }
            let mut link = Link { address: String::new(), cells: Vec::new() };
            x = take_cells(buffer, &mut link, x, y, area.right());
            goes_on = x == full;
            if !goes_on {
                trim(&mut link);
            }
            found.push(link);
        }
    }
    if goes_on && let Some(link) = found.last_mut() {
        trim(link);
    }
    found.retain(|link| !link.address.ends_with("//"));
    found
}

/// What the terminal is to be told: the links that are new, and the cells of those that lead nowhere
/// any more, as they are now.
pub fn changed(told: &[Link], seen: &[Link], buffer: &Buffer) -> Vec<Link> {
    // The second cell of a wide character is not written by itself.
    let is_half = |x: u16, y: u16| x > 0 && text::width(buffer[(x - 1, y)].symbol()) > 1;
    let as_now = |link: &Link| Link {
        address: String::new(),
        cells: link
            .cells
            .iter()
            .filter(|(x, y, _)| !is_half(*x, *y))
            .map(|(x, y, _)| (*x, *y, buffer[(*x, *y)].clone()))
            .collect(),
    };
    let gone = told.iter().filter(|link| !seen.contains(link)).map(as_now);
    gone.chain(seen.iter().filter(|link| !told.contains(link)).cloned()).collect()
}

/// Whether an address begins at a cell, not within a word.
fn begins(buffer: &Buffer, x: u16, y: u16, end: u16) -> bool {
    let says = |words: &str| {
        words.char_indices().all(|(ix, c)| {
            let x = x + ix as u16;
            x < end && buffer[(x, y)].symbol().chars().eq([c])
        })
    };
    let is_first = x == 0 || !buffer[(x - 1, y)].symbol().starts_with(char::is_alphanumeric);
    is_first && (says("https://") || says("http://"))
}

/// Takes cells as long as they can be part of an address; gives the column behind the last.
fn take_cells(buffer: &Buffer, link: &mut Link, mut x: u16, y: u16, end: u16) -> u16 {
    while x < end {
        let cell = &buffer[(x, y)];
        let mut characters = cell.symbol().chars();
        let (Some(c), None) = (characters.next(), characters.next()) else { break };
        if !c.is_ascii_graphic() || matches!(c, '<' | '>' | '"' | '`' | '{' | '}' | '|' | '\\' | '^') {
            break;
        }
        link.address.push(c);
        link.cells.push((x, y, cell.clone()));
        x += 1;
    }
    x
}

/// Takes off what belongs to the sentence around it.
fn trim(link: &mut Link) {
    while let Some(last) = link.address.chars().last() {
        let closes = |open: char, close: char| {
            last == close && link.address.matches(close).count() > link.address.matches(open).count()
        };
        if matches!(last, '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_') || closes('(', ')') || closes('[', ']')
        {
            link.address.pop();
            link.cells.pop();
        } else {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(rows: &[&str], width: u16) -> Vec<(String, usize)> {
        let buffer = Buffer::with_lines(rows.iter().map(|row| format!("{row:width$}", width = usize::from(width))));
        find(&buffer, buffer.area).into_iter().map(|link| (link.address, link.cells.len())).collect()
    }

    #[test]
    fn an_address_leads_where_it_says_without_what_stands_around_it() {
        let found = links(&["   see (https://a.example/b_(c)?d=1), or http://x.", "   nothttp://y https://"], 60);
        assert_eq!(found, [("https://a.example/b_(c)?d=1".to_owned(), 27), ("http://x".to_owned(), 8)]);
        assert_eq!(links(&["   日本 https://a.example/日本"], 60), [("https://a.example/".to_owned(), 18)]);
    }

    #[test]
    fn an_address_that_wraps_is_one_and_one_that_only_ends_a_row_is_not() {
        // Eighteen columns of words between a margin of three and a free column.
        let found = links(&["   https://a.example", "   /long/path end", "   http://b.example", "   word"], 22);
        assert_eq!(found[0], ("https://a.example".to_owned(), 17));
        let found = links(&["   https://a.exampl", "   e/path end"], 20);
        assert_eq!(found, [("https://a.example/path".to_owned(), 22)]);
    }
}
