//! Picking one of many by a few letters: commands, files, what was sent before, a choice.
//!
//! The items come from whoever opens it; what is typed narrows and orders them. Matching is fuzzy
//! and only looks again at what matched before while the query grows. It decides nothing: what a
//! pick means is the [update](super::update)'s.

use super::action::{Action, Step};
use super::composer::Composer;
use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// What a person is asked for when a command needs a word more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Another name for the Task.
    Rename,
    /// Another model.
    Model,
    /// Another policy.
    Policy,
    /// A new wording of the objective.
    Objective,
    /// Other colours.
    Theme,
    /// A command to run in the background.
    StartJob,
    /// What to look for in a Job's log.
    FindInJob,
    /// A moment in the log of the chosen Job.
    JumpInJob,
    /// What the Jobs that are shown hold.
    FilterJobs,
    /// A document to open.
    OpenDocument,
    /// The name of a new document.
    NewDocument,
    /// What to look for in the document.
    FindInText,
    /// What is to be replaced in the document.
    ReplaceInText,
    /// What takes its place.
    ReplaceWith,
    /// A line to go to.
    GoToLine,
    /// Which messages of the Inbox to show.
    FilterInbox,
}

impl Wish {
    /// What the picker is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Rename => "Another name for this Task",
            Self::Model => "Model, PROVIDER:NAME",
            Self::Policy => "What is possible, and when you are asked",
            Self::Objective => "The objective, in new words",
            Self::Theme => "Theme",
            Self::StartJob => "A command to run in the background",
            Self::FilterInbox => "Messages: all, open, a kind, a sender, words",
            Self::FindInJob => "A regular expression to look for in the log",
            Self::JumpInJob => "When: 14:05, or how long ago: 10m, 2h",
            Self::FilterJobs => "Only Jobs with these words; none shows all",
            Self::OpenDocument => "Open a document",
            Self::NewDocument => "The name of a new document, such as plan.md",
            Self::FindInText => "Find in the document",
            Self::ReplaceInText => "Replace in the document: what",
            Self::ReplaceWith => "Replace it with; nothing takes it away",
            Self::GoToLine => "Go to line",
        }
    }
}

/// What is picked from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Commands.
    Commands,
    /// Files of the folder.
    Files,
    /// What was sent before.
    History,
    /// The word that a command needs.
    Wish(Wish),
}

/// What a pick gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Pick {
    /// A command.
    Run(Action),
    /// Words.
    Words(String),
}

/// One of many.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What is shown and matched.
    pub text: String,
    /// What is matched and shown dim.
    pub detail: String,
    /// The key that does the same.
    pub key: String,
    /// What picking it gives.
    pub pick: Pick,
}

/// The first lines of a file, or why there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// Which file.
    pub path: String,
    /// The lines, harmless to draw.
    pub lines: Vec<String>,
}

/// The most rows a search through a folder brings.
pub const MOST_FILES: usize = 50_000;

/// A picker that is open.
#[derive(Debug)]
pub struct Picker {
    /// What is picked from.
    pub kind: Kind,
    /// The character that opened it in the text; it is typed after all if nothing is picked.
    pub lead: Option<char>,
    /// What is typed.
    pub query: Composer,
    /// Which search through the folder brings the items.
    pub search: u64,
    /// Items may still come.
    pub searching: bool,
    /// The first lines of the chosen file.
    pub preview: Option<Preview>,
    items: Vec<Item>,
    /// Indices of the items that match, the best first.
    found: Vec<u32>,
    /// What `found` was found with.
    asked: String,
    /// The chosen one among the found.
    pub chosen: usize,
}

impl Picker {
    /// Opens one.
    pub fn new(kind: Kind, lead: Option<char>, items: Vec<Item>) -> Self {
        let mut picker = Self {
            kind,
            lead,
            query: Composer::default(),
            search: 0,
            searching: false,
            preview: None,
            items,
            found: Vec::new(),
            asked: String::new(),
            chosen: 0,
        };
        picker.find_all();
        picker
    }

    /// Adds items that were found later.
    pub fn add(&mut self, items: impl IntoIterator<Item = Item>) {
        let chosen = self.chosen_index();
        self.items.extend(items);
        self.find_all();
        if self.chosen > 0 {
            let at = self.found.iter().position(|ix| Some(*ix) == chosen);
            self.chosen = at.unwrap_or(0);
        }
    }

    /// Puts other items in the place of all there are.
    pub fn replace(&mut self, items: Vec<Item>) {
        self.items = items;
        self.find_all();
        self.chosen = 0;
    }

    /// Finds anew after the query changed.
    pub fn refind(&mut self) {
        let asked = self.query.text();
        if asked == self.asked {
            return;
        }
        // A longer query matches nothing that the shorter one did not.
        let narrows =
            !self.asked.is_empty() && asked.starts_with(&self.asked) && !asked.contains(['!', '^', '$', '\\']);
        self.asked = asked;
        let among = if narrows { std::mem::take(&mut self.found) } else { self.every() };
        self.find(among);
        self.chosen = 0;
    }

    fn find_all(&mut self) {
        let every = self.every();
        self.find(every);
    }

    fn every(&self) -> Vec<u32> {
        (0..self.items.len() as u32).collect()
    }

    fn find(&mut self, among: Vec<u32>) {
        if self.asked.trim().is_empty() {
            self.found = self.every();
            return;
        }
        let mut matcher = self.matcher();
        let pattern = pattern(&self.asked);
        let mut letters = Vec::new();
        let mut found: Vec<(u32, u32)> = Vec::with_capacity(among.len());
        for ix in among {
            let Some(item) = self.items.get(ix as usize) else { continue };
            let haystack = item.haystack();
            if let Some(score) = pattern.score(Utf32Str::new(&haystack, &mut letters), &mut matcher) {
                found.push((score, ix));
            }
        }
        found.sort_by_key(|(score, ix)| (std::cmp::Reverse(*score), *ix));
        self.found = found.into_iter().map(|(_, ix)| ix).collect();
    }

    fn matcher(&self) -> Matcher {
        let paths = self.kind == Kind::Files;
        Matcher::new(if paths { Config::DEFAULT.match_paths() } else { Config::DEFAULT })
    }

    fn chosen_index(&self) -> Option<u32> {
        self.found.get(self.chosen).copied()
    }

    /// The chosen item.
    pub fn choice(&self) -> Option<&Item> {
        self.chosen_index().and_then(|ix| self.items.get(ix as usize))
    }

    /// Moves the choice.
    pub fn choose(&mut self, step: Step, page: usize) {
        self.chosen = step.apply(self.chosen, self.found.len(), page);
    }

    /// How many match, and how many there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.found.len(), self.items.len())
    }

    /// The items to show from `first` on, each with the places of the letters that matched.
    pub fn shown(&self, first: usize, rows: usize) -> Vec<(&Item, Vec<u32>)> {
        let mut matcher = self.matcher();
        let pattern = pattern(&self.asked);
        let mut letters = Vec::new();
        let items = self.found.iter().skip(first).take(rows).filter_map(|ix| self.items.get(*ix as usize));
        items
            .map(|item| {
                let mut places = Vec::new();
                let haystack = item.haystack();
                pattern.indices(Utf32Str::new(&haystack, &mut letters), &mut matcher, &mut places);
                places.sort_unstable();
                (item, places)
            })
            .collect()
    }
}

fn pattern(asked: &str) -> Pattern {
    Pattern::parse(asked, CaseMatching::Smart, Normalization::Smart)
}

impl Item {
    /// A file.
    pub fn file(path: String) -> Self {
        Self { pick: Pick::Words(path.clone()), text: path, detail: String::new(), key: String::new() }
    }

    /// Words to choose.
    pub fn words(text: impl Into<String>, detail: impl Into<String>) -> Self {
        let text = text.into();
        Self { pick: Pick::Words(text.clone()), text, detail: detail.into(), key: String::new() }
    }

    fn haystack(&self) -> std::borrow::Cow<'_, str> {
        if self.detail.is_empty() { (&self.text).into() } else { format!("{} {}", self.text, self.detail).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Picker {
        Picker::new(Kind::Files, None, paths.iter().map(|path| Item::file((*path).to_owned())).collect())
    }

    fn ask(picker: &mut Picker, words: &str) -> Vec<String> {
        picker.query.set(words);
        picker.refind();
        picker.shown(0, 10).into_iter().map(|(item, _)| item.text.clone()).collect()
    }

    #[test]
    fn a_few_letters_find_the_file_that_is_meant_first() {
        let mut picker = of(&["docs/manual.md", "src/tui/model.rs", "src/main.rs", "tests/mod.rs"]);
        assert_eq!(ask(&mut picker, "main")[0], "src/main.rs");
        assert_eq!(ask(&mut picker, "tuimod"), ["src/tui/model.rs"]);
        assert_eq!(ask(&mut picker, "nothing like it"), Vec::<String>::new());
        assert_eq!(ask(&mut picker, "").len(), 4);
    }

    #[test]
    fn a_query_that_shrinks_finds_again_what_it_had_lost() {
        let mut picker = of(&["alpha", "beta"]);
        assert_eq!(ask(&mut picker, "alp"), ["alpha"]);
        assert_eq!(ask(&mut picker, "a").len(), 2);
    }

    #[test]
    fn what_comes_later_leaves_the_choice_where_it_is() {
        let mut picker = of(&["b.rs", "c.rs"]);
        picker.choose(Step::Down, 5);
        picker.add([Item::file("a.rs".into())]);
        assert_eq!(picker.choice().map(|item| item.text.as_str()), Some("c.rs"));
        assert_eq!(picker.counts(), (3, 3));
    }

    #[test]
    fn the_letters_that_matched_are_known() {
        let mut picker = of(&["src/main.rs"]);
        picker.query.set("mn");
        picker.refind();
        assert_eq!(picker.shown(0, 1)[0].1, [4, 7]);
    }
}
