//! One line of a terminal whose cursor can move within it.

use super::scan::{Erase, Scanner, Token};
use unicode_width::UnicodeWidthChar;

/// How far to the right of what is written a move may go: a few bytes must not make a huge line.
const REACH: usize = 240;

/// A place one column wide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Cell {
    /// Nothing was written here.
    #[default]
    Blank,
    /// A character, with what combines with it.
    Text(char, String),
    /// The right half of the character before.
    Half,
}

/// The line.
#[derive(Debug, Default)]
pub(super) struct Grid {
    cells: Vec<Cell>,
    column: usize,
    /// Where the last character went, as long as more may combine with it.
    last: Option<usize>,
    /// The last character joins the next one to itself.
    joins: bool,
}

impl Grid {
    /// Writes a line that holds nothing that moves but tabs.
    pub(super) fn fill(&mut self, plain: &str) {
        for token in Scanner::new(plain) {
            self.apply(token);
        }
    }

    /// Does what a token says.
    pub(super) fn apply(&mut self, token: Token) {
        match token {
            Token::Char(c) => return self.put(c),
            Token::Tab => self.column = self.reachable((self.column / 8 + 1) * 8),
            Token::Return => self.column = 0,
            Token::Back => self.column = self.column.saturating_sub(1),
            Token::Column(column) => self.column = self.reachable(column),
            Token::Forward(by) => self.column = self.reachable(self.column + by),
            Token::Backward(by) => self.column = self.column.saturating_sub(by),
            Token::Erase(Erase::ToEnd) => {
                self.split(self.column);
                self.cells.truncate(self.column);
            }
            Token::Erase(Erase::ToStart) => {
                self.split(self.column + 1);
                let end = self.cells.len().min(self.column + 1);
                self.cells[..end].fill(Cell::Blank);
            }
            Token::Erase(Erase::Whole) => self.cells.clear(),
            Token::Newline => {}
        }
        self.last = None;
        self.joins = false;
    }

    /// Moves the line to the end of `shown` and begins a new one.
    pub(super) fn flush(&mut self, shown: &mut String) {
        for cell in self.cells.drain(..) {
            match cell {
                Cell::Blank => shown.push(' '),
                Cell::Text(c, more) => {
                    shown.push(c);
                    shown.push_str(&more);
                }
                Cell::Half => {}
            }
        }
        self.column = 0;
        self.last = None;
        self.joins = false;
    }

    fn reachable(&self, column: usize) -> usize {
        column.min(self.cells.len().max(REACH))
    }

    fn put(&mut self, c: char) {
        let width = c.width().unwrap_or(0);
        let joined = std::mem::replace(&mut self.joins, c == '\u{200d}');
        if width == 0 || joined {
            if let Some(at) = self.last {
                if let Some(Cell::Text(_, more)) = self.cells.get_mut(at) {
                    more.push(c);
                }
                // An emoji in its own style takes two columns, also where its text style takes one.
                if c == '\u{fe0f}' && self.column == at + 1 {
                    self.occupy(at + 1, Cell::Half);
                }
            }
            return;
        }
        let at = self.column;
        self.occupy(at, Cell::Text(c, String::new()));
        for half in at + 1..at + width {
            self.occupy(half, Cell::Half);
        }
        self.last = Some(at);
    }

    /// Takes one column for what was written and goes to the next.
    fn occupy(&mut self, column: usize, cell: Cell) {
        self.split(column + 1);
        if cell != Cell::Half {
            self.split(column);
        }
        if self.cells.len() <= column {
            self.cells.resize(column + 1, Cell::Blank);
        }
        self.cells[column] = cell;
        self.column = column + 1;
    }

    /// Blanks a wide character that a cut at `column` would leave in halves.
    fn split(&mut self, column: usize) {
        if self.cells.get(column) == Some(&Cell::Half) {
            self.cells[column] = Cell::Blank;
            if column > 0 {
                self.cells[column - 1] = Cell::Blank;
            }
        }
    }
}
