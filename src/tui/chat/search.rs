//! Search in what is loaded of the conversation: from match to match, newest first.

use super::entries::Key;
use super::{Chat, Context, Place, draw};
use crate::tui::action::Step;
use std::ops::Range;

/// What is searched for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Search {
    /// The words. Without a capital they match both cases.
    pub words: String,
    /// Whether they are still being typed.
    pub typing: bool,
    /// The match that is shown: the entry, and the row of it.
    at: Option<(Key, usize)>,
}

/// What came of going to another match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought {
    /// It is on screen.
    Found,
    /// There is none in that direction.
    Nothing,
}

impl Search {
    /// A search whose words are still to come.
    pub fn begin() -> Self {
        Self { typing: true, ..Self::default() }
    }

    /// Of the entry that holds the match that is shown: the row.
    pub fn row(&self) -> Option<usize> {
        self.at.as_ref().map(|(_, row)| *row)
    }

    /// Where the words stand in a text, without overlap.
    pub fn matches(&self, text: &str) -> Vec<Range<usize>> {
        if self.words.is_empty() {
            return Vec::new();
        }
        if self.words.chars().any(char::is_uppercase) {
            return text.match_indices(&self.words).map(|(at, found)| at..at + found.len()).collect();
        }
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, _) in text.char_indices() {
            if found.last().is_none_or(|last| last.end <= at)
                && let Some(len) = begins_with(&text[at..], &self.words)
            {
                found.push(at..at + len);
            }
        }
        found
    }

    /// The words where they wrap from one row to the next: the end of the upper one, the start of the
    /// lower one.
    pub fn straddles(&self, upper: &str, lower: &str) -> Option<(Range<usize>, Range<usize>)> {
        let upper = upper.trim_end();
        // What stands in the margin of a row is none of its words.
        let body = lower.find(|c: char| !c.is_whitespace() && !matches!(c, '│' | '▌')).unwrap_or(lower.len());
        // Words wrap at a blank, which is not drawn, or in the middle of a long one.
        [" ", ""].into_iter().find_map(|between| {
            let joint = upper.len() + between.len();
            let all = format!("{upper}{between}{}", &lower[body..]);
            let found = self.matches(&all).into_iter().find(|found| found.start < upper.len() && found.end > joint)?;
            Some((found.start..upper.len(), body..body + found.end - joint))
        })
    }

    fn is_in(&self, text: &str) -> bool {
        if self.words.is_empty() {
            return false;
        }
        if self.words.is_ascii() && text.is_ascii() && !self.words.bytes().any(|byte| byte.is_ascii_uppercase()) {
            let words = self.words.as_bytes();
            return text.as_bytes().windows(words.len()).any(|window| window.eq_ignore_ascii_case(words));
        }
        !self.matches(text).is_empty()
    }
}

/// How many bytes of a text say the words, whatever its case.
fn begins_with(text: &str, words: &str) -> Option<usize> {
    let mut words = words.chars().flat_map(char::to_lowercase).peekable();
    let mut len = 0;
    for c in text.chars() {
        if words.peek().is_none() {
            break;
        }
        for lower in c.to_lowercase() {
            if words.next() != Some(lower) {
                return None;
            }
        }
        len += c.len_utf8();
    }
    words.peek().is_none().then_some(len)
}

impl Chat {
    /// Goes to the next match above or below, or, when the words changed, to the newest at or above
    /// the one that is shown.
    pub fn seek(&mut self, context: Context, step: Option<Step>) -> Sought {
        let Some(search) = self.search.clone() else { return Sought::Nothing };
        let at = search.at.as_ref().and_then(|(key, row)| Some((self.index_of(key)?, *row)));
        let is_down = step == Some(Step::Down);
        let start = at.map_or(self.laid.len().saturating_sub(1), |(ix, _)| ix);
        let mut ix = start;
        loop {
            if self.laid.is_empty() {
                return Sought::Nothing;
            }
            if let Some(row) = self.row_of_match(context, &search, ix, at.filter(|(was, _)| *was == ix), step) {
                self.show_match(ix, row);
                return Sought::Found;
            }
            let next = if is_down { Some(ix + 1).filter(|ix| *ix < self.laid.len()) } else { ix.checked_sub(1) };
            match next {
                Some(next) => ix = next,
                None => return Sought::Nothing,
            }
        }
    }

    /// The row of an entry that holds the next match; opens the entry if the match is hidden in it.
    fn row_of_match(
        &mut self,
        context: Context,
        search: &Search,
        ix: usize,
        from: Option<(usize, usize)>,
        step: Option<Step>,
    ) -> Option<usize> {
        let key = self.laid[ix].entry.key.clone();
        let part = self.cuts.part(context.told, &key);
        let is_in =
            if part.is_empty() { search.is_in(&draw::words_of(context.told, &key)) } else { search.is_in(part) };
        if !is_in && !matches!(key, Key::Call(_)) {
            return None;
        }
        self.draw(context, ix);
        let mut rows = self.rows_with(search, ix);
        if rows.is_empty() && is_in && from.is_none() && !self.opened.contains(&key) && can_open(&key) {
            self.opened.toggle(&key);
            self.draw(context, ix);
            rows = self.rows_with(search, ix);
        }
        self.add_up();
        let row = match (from, step) {
            (None, Some(Step::Down)) => rows.first(),
            (None, _) => rows.last(),
            (Some((_, at)), Some(Step::Down)) => rows.iter().find(|row| **row > at),
            (Some((_, at)), Some(_)) => rows.iter().rev().find(|row| **row < at),
            (Some((_, at)), None) => rows.iter().rev().find(|row| **row <= at),
        };
        // Words that wrap more than once, or across a mark, are in the entry and in no row of it.
        row.copied().or_else(|| (rows.is_empty() && is_in && from.is_none()).then_some(0))
    }

    fn rows_with(&self, search: &Search, ix: usize) -> Vec<usize> {
        let lines = self.laid[ix].drawn.as_ref().map_or(&[][..], |drawn| &drawn.lines);
        let words: Vec<String> = lines.iter().map(ToString::to_string).collect();
        let wraps = |row: usize| words.get(row + 1).is_some_and(|next| search.straddles(&words[row], next).is_some());
        (0..words.len()).filter(|row| search.is_in(&words[*row]) || wraps(*row)).collect()
    }

    fn show_match(&mut self, ix: usize, row: usize) {
        let key = self.laid[ix].entry.key.clone();
        let at = self.sums[ix] + usize::from(self.has_gap_before(ix)) + row;
        let top = self.top();
        if at < top || at >= top + self.height {
            self.show_from(at.saturating_sub(self.height / 2));
        } else if self.place == Place::End {
            // It stays on screen whatever comes.
            self.hold(top);
        }
        self.chosen = Some(key.clone());
        if let Some(search) = &mut self.search {
            search.at = Some((key, row));
        }
    }
}

fn can_open(key: &Key) -> bool {
    match key {
        Key::Said(_) | Key::Thinking(..) | Key::Call(_) | Key::Live(..) => true,
        Key::Words(..) | Key::Cut(_) | Key::Forming(_) | Key::Notice | Key::Woken(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(words: &str) -> Search {
        Search { words: words.into(), ..Search::default() }
    }

    #[test]
    fn words_without_a_capital_match_both_cases_in_every_script() {
        let found = |words: &str, text: &str| -> Vec<(usize, usize)> {
            search(words).matches(text).into_iter().map(|found| (found.start, found.end)).collect()
        };
        assert_eq!(found("newline", "The Newline, the newline"), [(4, 11), (17, 24)]);
        assert_eq!(found("Newline", "The Newline, the newline"), [(4, 11)]);
        assert_eq!(found("straße", "STRAßE"), [(0, 7)]);
        assert_eq!(found("привет", "Привет!"), [(0, 12)]);
        assert_eq!(found("日本", "in 日本"), [(3, 9)]);
        assert_eq!(search("seven eight").straddles("   six seven ", "   eight nine"), Some((7..12, 3..8)));
        assert_eq!(search("longword").straddles("   a longw", " │ ord"), Some((5..10, 5..8)));
        assert_eq!(search("six").straddles("   six seven ", "   eight nine"), None);
        assert!(search("").matches("x").is_empty());
        assert!(search("x").is_in("aXb") && !search("X").is_in("axb"));
    }
}
