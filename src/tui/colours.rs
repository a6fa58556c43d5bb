//! The parts of speech of code on screen, as far as they are known; what is not is asked for.
//!
//! Pure: the [painter](super::painter) finds them out on a thread of its own, and what it found
//! comes back as an action. Code that is still being written keeps the colours of its beginning.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// Longer code stays plain.
const LONGEST: usize = 128 * 1024;

/// How many pieces of code are remembered.
const REMEMBERED: usize = 256;

/// What a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartOfSpeech {
    /// Said to people.
    Comment,
    /// A text in quotes.
    Text,
    /// A word of the language.
    Word,
    /// A number or another value.
    Value,
    /// What is being defined, a type.
    Name,
}

/// For each line of a piece of code its stretches, in their order.
pub type Coloured = Vec<Vec<(Range<usize>, PartOfSpeech)>>;

/// A piece of code that is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// The language, as the text names it.
    pub language: String,
    /// The code.
    pub code: String,
}

/// What is known.
#[derive(Debug, Default)]
pub struct Colours {
    known: HashMap<u64, Arc<Coloured>>,
    asked: RefCell<HashSet<u64>>,
    wanted: RefCell<Vec<Job>>,
    /// The newest answer, for code that grows.
    newest: Option<(Job, Arc<Coloured>)>,
    /// Grows with every answer.
    pub revision: u64,
}

impl Colours {
    /// What is known of a piece of code; notes what is not.
    pub fn of(&self, language: &str, code: &str) -> Option<Arc<Coloured>> {
        if language.is_empty() || code.is_empty() || code.len() > LONGEST {
            return None;
        }
        let name = name(language, code);
        if let Some(known) = self.known.get(&name) {
            return Some(Arc::clone(known));
        }
        if self.asked.borrow_mut().insert(name) {
            self.wanted.borrow_mut().push(Job { language: language.to_owned(), code: code.to_owned() });
        }
        let (job, coloured) = self.newest.as_ref()?;
        let whole_lines = job.code.rfind('\n').map_or("", |end| &job.code[..=end]);
        let grew = job.language == language && !whole_lines.is_empty() && code.starts_with(whole_lines);
        grew.then(|| Arc::clone(coloured))
    }

    /// Whether an answer for this code is still to come.
    pub fn is_asked(&self, language: &str, code: &str) -> bool {
        self.asked.borrow().contains(&name(language, code))
    }

    /// What is to be looked at, once; of code that grew only its newest form.
    pub fn take_wanted(&mut self) -> Vec<Job> {
        let mut wanted = std::mem::take(&mut *self.wanted.borrow_mut());
        let grown: Vec<String> = wanted.iter().map(|job| job.code.clone()).collect();
        let asked = &mut *self.asked.borrow_mut();
        wanted.retain(|job| {
            let is_old = grown.iter().any(|code| code.len() > job.code.len() && code.starts_with(&job.code));
            if is_old {
                asked.remove(&name(&job.language, &job.code));
            }
            !is_old
        });
        wanted
    }

    /// Takes an answer in.
    pub fn know(&mut self, job: Job, coloured: Coloured) {
        let name = name(&job.language, &job.code);
        self.asked.borrow_mut().remove(&name);
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        let coloured = Arc::new(coloured);
        self.known.insert(name, Arc::clone(&coloured));
        self.newest = Some((job, coloured));
        self.revision += 1;
    }
}

fn name(language: &str, code: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (language, code).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_asked_for_once_and_what_grew_keeps_its_colours() {
        let mut colours = Colours::default();
        assert!(colours.of("rust", "fn a() {\n").is_none());
        assert!(colours.of("rust", "fn a() {\n").is_none());
        let [job] = &colours.take_wanted()[..] else { panic!("one job") };
        let job = job.clone();
        assert!(colours.take_wanted().is_empty());
        colours.know(job, vec![vec![(0..2, PartOfSpeech::Word)]]);
        assert!(colours.of("rust", "fn a() {\n").is_some() && !colours.is_asked("rust", "fn a() {\n"));
        assert!(colours.of("rust", "fn a() {\n  let x").is_some_and(|coloured| coloured.len() == 1));
        assert!(colours.of("rust", "struct").is_none());
        assert_eq!(colours.take_wanted().len(), 2);
    }

    #[test]
    fn of_code_that_grew_in_the_meantime_only_the_newest_is_looked_at() {
        let mut colours = Colours::default();
        for code in ["let", "let x", "let x = 1"] {
            colours.of("rust", code);
        }
        assert_eq!(colours.take_wanted().iter().map(|job| job.code.as_str()).collect::<Vec<_>>(), ["let x = 1"]);
    }
}
