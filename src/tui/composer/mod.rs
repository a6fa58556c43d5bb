//! The text being written: a text area for buffer and undo, laid out with our own wrap.
//!
//! The caret steps over whole grapheme clusters and moves by rows as they are drawn. What a sent
//! text is for (a message, the new words of a queued one, an answer) is its [`Purpose`]; the text
//! that stood there before is put aside and comes back.

mod chips;
mod edits;
mod rows;

use super::text;
use crate::domain::{ApprovalId, MessageId, QuestionId, sanitise};
use chips::{Chips, without_reserved};
pub use edits::Edit;
pub use rows::Row;
use tui_textarea::TextArea;

/// What the text will be once it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purpose {
    /// A message to Main.
    Message,
    /// The new words of a message that is still queued.
    Edit(MessageId),
    /// An answer to a question.
    Answer(QuestionId),
    /// A line for the shell.
    Shell,
    /// Why something must not run.
    Refuse(ApprovalId),
}

/// The composer.
#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    chips: Chips,
    /// Goes up with every change of the text.
    version: u64,
    /// What the text will be.
    pub purpose: Purpose,
    /// The message that was being written before the purpose changed.
    aside: Option<String>,
    /// How far back in the history, and the text that was there before.
    recalled: Option<(usize, String)>,
    rows: Vec<Row>,
    /// How wide the rows are.
    room: usize,
    /// The first row that is drawn.
    pub top: usize,
    /// The column that moves up and down aim at.
    goal: Option<usize>,
}

impl Default for Composer {
    fn default() -> Self {
        let mut composer = Self {
            area: TextArea::default(),
            chips: Chips::default(),
            version: 0,
            purpose: Purpose::Message,
            aside: None,
            recalled: None,
            rows: Vec::new(),
            room: 80,
            top: 0,
            goal: None,
        };
        composer.wrap();
        composer
    }
}

impl Composer {
    /// The whole text.
    pub fn text(&self) -> String {
        self.chips.expand(&self.area.lines().join("\n"))
    }

    /// Goes up with every change of the text.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The character before the caret.
    pub fn before_caret(&self) -> Option<char> {
        let (line, at) = self.line();
        at.checked_sub(1).and_then(|at| line.chars().nth(at))
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// The message being written, wherever it is now: what is kept as the draft.
    pub fn draft(&self) -> String {
        self.aside.clone().unwrap_or_else(|| self.text())
    }

    /// Puts another text in, caret at its end; undo brings the old one back.
    pub fn set(&mut self, text: &str) {
        self.area.clear();
        self.insert(text);
        self.recalled = None;
        self.changed();
    }

    fn insert(&mut self, text: &str) {
        let text = sanitise::text(text);
        self.area.insert_str(without_reserved(&text));
    }

    /// Takes the text out.
    pub fn take(&mut self) -> String {
        let text = self.text();
        self.set("");
        text
    }

    /// Starts writing something else; the message is put aside.
    pub fn begin(&mut self, purpose: Purpose, text: &str) {
        if self.aside.is_none() {
            self.aside = Some(self.text());
        }
        self.purpose = purpose;
        self.set(text);
    }

    /// Goes back to the message that was put aside.
    pub fn resume(&mut self) {
        self.purpose = Purpose::Message;
        let text = self.aside.take().unwrap_or_default();
        self.set(&text);
    }

    /// Puts another message in where the message is now: in the composer, or aside.
    pub fn set_draft(&mut self, text: &str) {
        match &mut self.aside {
            Some(aside) => {
                *aside = sanitise::text(text).into_owned();
                self.version += 1;
            }
            None => self.set(text),
        }
    }

    /// Adds pasted text at the caret: what can't be seen does not get in.
    pub fn paste(&mut self, text: &str) {
        let text = sanitise::text(text);
        let text = without_reserved(&text);
        let chip = if Chips::suits(&text) { self.chips.keep(text.to_string()) } else { None };
        match chip {
            Some(chip) => self.area.insert_char(chip),
            None => drop(self.area.insert_str(text)),
        }
        self.recalled = None;
        self.changed();
    }

    /// Puts words in at the caret as a chip, however short they are.
    pub fn chip(&mut self, words: &str) {
        let words = sanitise::text(words);
        match self.chips.keep(without_reserved(&words).into_owned()) {
            Some(chip) => drop(self.area.insert_str(format!("{chip} "))),
            None => self.insert(&words),
        }
        self.recalled = None;
        self.changed();
    }

    /// Types words at the caret.
    pub fn write(&mut self, words: &str) {
        self.insert(words);
        self.recalled = None;
        self.changed();
    }

    /// Shows the paste at the caret, or else the last one, in full; says whether there was one.
    pub fn expand(&mut self) -> bool {
        let cursor = self.area.cursor();
        let place = |(row, line): (usize, &String)| {
            line.chars().enumerate().filter(|(_, c)| self.chips.get(*c).is_some()).map(|(at, c)| (row, at, c)).last()
        };
        let touched = |at: usize| self.line().0.chars().nth(at).filter(|c| self.chips.get(*c).is_some());
        let near = [Some(cursor.1), cursor.1.checked_sub(1)].into_iter().flatten();
        let here = near.filter_map(|at| Some((cursor.0, at, touched(at)?))).next();
        let last = || self.area.lines().iter().enumerate().filter_map(place).next_back();
        let Some((row, at, chip)) = here.or_else(last) else { return false };
        let Some(text) = self.chips.get(chip).map(str::to_owned) else { return false };
        self.go(row, at);
        self.area.delete_str(1);
        self.area.insert_str(text);
        self.recalled = None;
        self.changed();
        true
    }

    /// Shows an older text of the history (newest last); says whether there was one.
    pub fn recall_older(&mut self, history: &[String]) -> bool {
        let next = self.recalled.as_ref().map_or(0, |(at, _)| at + 1);
        let Some(text) = history.iter().rev().nth(next) else { return false };
        let before = self.recalled.take().map_or_else(|| self.text(), |(_, before)| before);
        self.set(text);
        self.recalled = Some((next, before));
        true
    }

    /// Shows a newer text of the history, at last the one that was being written.
    pub fn recall_newer(&mut self, history: &[String]) -> bool {
        let Some((at, before)) = self.recalled.take() else { return false };
        match at.checked_sub(1).and_then(|next| history.iter().rev().nth(next)) {
            Some(text) => {
                self.set(text);
                self.recalled = Some((at - 1, before));
            }
            None => self.set(&before),
        }
        true
    }

    /// Whether a text of the history is shown.
    pub fn is_recalling(&self) -> bool {
        self.recalled.is_some()
    }

    fn changed(&mut self) {
        self.goal = None;
        self.version += 1;
        self.wrap();
    }
}

/// One line that says what a text begins with, for lists.
pub fn first_words(text: &str, max: usize) -> String {
    text::cut(&text::line(text), max)
}

#[cfg(test)]
mod tests {
    use super::super::text::width;
    use super::*;

    fn with(text: &str, room: usize) -> Composer {
        let mut composer = Composer::default();
        composer.set(text);
        composer.lay_out(room, 10);
        composer
    }

    #[test]
    fn pasting_a_cut_that_took_nothing_changes_nothing() {
        let mut composer = Composer::default();
        composer.edit(Edit::Insert(' '));
        composer.edit(Edit::Delete);
        assert!(!composer.edit(Edit::Yank));
        assert_eq!(composer.text(), " ");
    }

    #[test]
    fn the_caret_takes_one_step_for_a_cluster_whatever_it_is_made_of() {
        for text in ["👩‍👩‍👧‍👦", "🏳️‍🌈", "⚙️", "e\u{301}", "日", "ก็"] {
            let mut composer = with(text, 20);
            assert_eq!(composer.caret(), (0, width(text)), "{text}");
            composer.edit(Edit::Left);
            assert_eq!(composer.caret(), (0, 0), "{text}");
            composer.edit(Edit::Right);
            composer.edit(Edit::Backspace);
            assert_eq!(composer.text(), "", "{text}");
            composer.edit(Edit::Undo);
            assert_eq!(composer.text(), text);
        }
    }

    #[test]
    fn up_and_down_follow_the_rows_that_are_drawn() {
        let mut composer = with("the quick brown fox jumps", 11);
        let rows: Vec<_> = composer.rows().iter().map(|row| row.text.as_str()).collect();
        assert_eq!(rows, ["the quick ", "brown fox ", "jumps"]);
        assert_eq!(composer.caret(), (2, 5));
        composer.edit(Edit::Up);
        assert_eq!(composer.caret(), (1, 5));
        composer.edit(Edit::Up);
        composer.edit(Edit::Up);
        assert_eq!(composer.caret(), (0, 5));
        composer.edit(Edit::Insert('X'));
        assert_eq!(composer.text(), "the qXuick brown fox jumps");
    }

    #[test]
    fn the_caret_stays_inside_whatever_the_width() {
        for room in 1..12 {
            let mut composer = with("日本 ab 👩‍👩‍👧‍👦\n\nlast line of it", room);
            for edit in [Edit::Up, Edit::Up, Edit::Left, Edit::Down, Edit::Up, Edit::Up, Edit::Home, Edit::End] {
                composer.edit(edit);
                composer.lay_out(room, 3);
                let (row, column) = composer.caret();
                assert!(row < composer.rows().len() && column <= room, "{edit:?} at {room}");
                assert!(row >= composer.top && row < composer.top + 3);
            }
        }
    }

    #[test]
    fn history_gives_back_what_was_being_written() {
        let history = ["first".to_owned(), "second".to_owned()];
        let mut composer = with("half a thought", 40);
        assert!(composer.recall_older(&history));
        assert_eq!(composer.text(), "second");
        assert!(composer.recall_older(&history));
        assert!(!composer.recall_older(&history));
        assert_eq!(composer.text(), "first");
        assert!(composer.recall_newer(&history));
        assert!(composer.recall_newer(&history));
        assert_eq!(composer.text(), "half a thought");
        assert!(!composer.recall_newer(&history));
    }

    #[test]
    fn a_message_put_aside_comes_back_and_is_the_draft_meanwhile() {
        let mut composer = with("my message", 40);
        composer.begin(Purpose::Edit("m_1".into()), "queued words");
        assert_eq!((composer.text().as_str(), composer.draft().as_str()), ("queued words", "my message"));
        composer.resume();
        assert_eq!((composer.text().as_str(), &composer.purpose), ("my message", &Purpose::Message));
    }

    #[test]
    fn a_long_paste_is_one_step_for_the_caret_and_is_sent_whole() {
        let long: String = (1..=40).map(|n| format!("line {n}\n")).collect();
        let mut composer = with("see ", 60);
        composer.paste(&long);
        composer.write(" end");
        assert_eq!(composer.rows().len(), 1);
        assert_eq!(composer.rows()[0].text.replace('\u{a0}', " "), "see [pasted 40 lines] end");
        assert_eq!(composer.text(), format!("see {long} end"));
        for _ in 0..5 {
            composer.edit(Edit::Left);
        }
        assert_eq!(composer.caret(), (0, 4), "before the chip");
        composer.edit(Edit::Right);
        composer.edit(Edit::Backspace);
        assert_eq!(composer.text(), "see  end");
        composer.edit(Edit::Undo);
        assert_eq!(composer.text(), format!("see {long} end"));
    }

    #[test]
    fn a_chip_opens_where_it_stands_and_undo_closes_it() {
        let long = "word ".repeat(400);
        let mut composer = with("a", 60);
        composer.paste(&long);
        assert!(composer.expand());
        assert_eq!(composer.text(), format!("a{long}"));
        assert!(composer.rows().len() > 20);
        assert!(!composer.expand());
        composer.edit(Edit::Undo);
        composer.edit(Edit::Undo);
        assert_eq!(composer.rows().len(), 1);
        assert_eq!(composer.text(), format!("a{long}"));
    }

    #[test]
    fn nobody_can_paste_what_stands_for_a_chip() {
        let mut composer = with("", 60);
        composer.paste(&"x\n".repeat(20));
        composer.paste("\u{f0000}");
        assert_eq!(composer.text(), format!("{}\u{fffd}", "x\n".repeat(20)));
    }

    #[test]
    fn a_paste_brings_its_lines_and_nothing_that_hides() {
        let mut composer = with("", 40);
        composer.paste("AAA\nBBB\x1b[2J\u{202e}\nC\tC");
        assert_eq!(composer.text(), "AAA\nBBB\nC\tC");
        assert_eq!(composer.rows()[2].text, "C⇥C");
    }
}
