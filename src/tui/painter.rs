//! Finds the parts of speech of code, on a thread of its own: grammars are slow, and no key waits for them.
//!
//! The thread begins with the first piece of code and ends with whoever sends the jobs.

use super::colours::{Coloured, Job, PartOfSpeech};
use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxSet};

/// A line longer than this is left plain, and so is what follows it.
const LONGEST_LINE: usize = 2_000;

/// Starts a painter; what it finds goes to `found`, until that says that nobody listens.
pub fn start(found: impl Fn(Job, Coloured) -> bool + Send + 'static) -> Sender<Job> {
    let (send, jobs) = channel::<Job>();
    let run = move || {
        let mut painter: Option<Painter> = None;
        while let Ok(job) = jobs.recv() {
            let coloured = painter.get_or_insert_with(Painter::new).paint(&job);
            if !found(job, coloured) {
                return;
            }
        }
    };
    // Without a thread code stays plain.
    let _ = std::thread::Builder::new().name("painter".into()).spawn(run);
    send
}

pub(super) struct Painter {
    grammars: SyntaxSet,
    /// The beginnings of scopes, the most telling first.
    scopes: Vec<(Scope, PartOfSpeech)>,
}

impl Painter {
    pub(super) fn new() -> Self {
        const SCOPES: [(&str, PartOfSpeech); 13] = [
            ("comment", PartOfSpeech::Comment),
            ("string", PartOfSpeech::Text),
            ("constant", PartOfSpeech::Value),
            ("entity.name", PartOfSpeech::Name),
            ("entity.other.inherited-class", PartOfSpeech::Name),
            ("entity.other.attribute-name", PartOfSpeech::Name),
            ("support.type", PartOfSpeech::Name),
            ("support.class", PartOfSpeech::Name),
            ("markup.heading", PartOfSpeech::Name),
            ("markup.deleted", PartOfSpeech::Value),
            ("markup.inserted", PartOfSpeech::Text),
            ("keyword", PartOfSpeech::Word),
            ("storage", PartOfSpeech::Word),
        ];
        let scopes = SCOPES.iter().filter_map(|(name, part)| Some((Scope::new(name).ok()?, *part))).collect();
        Self { grammars: two_face::syntax::extra_newlines(), scopes }
    }

    pub(super) fn paint(&self, job: &Job) -> Coloured {
        let token = job.language.trim().to_ascii_lowercase();
        let Some(grammar) = self.grammars.find_syntax_by_token(&token) else { return Vec::new() };
        let (mut state, mut stack) = (ParseState::new(grammar), ScopeStack::new());
        let mut coloured = Vec::new();
        for line in job.code.split_inclusive('\n') {
            if line.len() > LONGEST_LINE {
                break;
            }
            let Ok(changes) = state.parse_line(line, &self.grammars) else { break };
            let end = line.trim_end_matches('\n').len();
            let mut stretches = Vec::new();
            let mut at = 0;
            for (change_at, change) in changes {
                self.push(&mut stretches, at..change_at.min(end), &stack);
                at = change_at.min(end);
                if stack.apply(&change).is_err() {
                    return coloured;
                }
            }
            self.push(&mut stretches, at..end, &stack);
            coloured.push(stretches);
        }
        coloured
    }

    fn push(&self, stretches: &mut Vec<(Range<usize>, PartOfSpeech)>, range: Range<usize>, stack: &ScopeStack) {
        let part =
            stack.as_slice().iter().rev().find_map(|scope| {
                self.scopes.iter().find(|(begin, _)| begin.is_prefix_of(*scope)).map(|(_, part)| *part)
            });
        match (part, stretches.last_mut()) {
            (_, _) if range.is_empty() => {}
            (Some(part), Some((last, same))) if last.end == range.start && *same == part => last.end = range.end,
            (Some(part), _) => stretches.push((range, part)),
            (None, _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_painter_tells_words_from_comments_and_texts() {
        let (send, results) = channel();
        let jobs = start(move |job, coloured| send.send((job, coloured)).is_ok());
        let code = "fn main() {\n    // note\n    let s = \"日本\";\n}\n";
        jobs.send(Job { language: "rust".into(), code: code.into() }).expect("a painter");
        let (job, coloured) = results.recv_timeout(Duration::from_secs(60)).expect("colours");
        let lines: Vec<&str> = job.code.lines().collect();
        let is = |line: usize, words: &str| {
            let found = coloured[line].iter().find(|(range, _)| lines[line][range.clone()].contains(words));
            found.map(|(_, part)| *part)
        };
        assert_eq!(is(0, "fn"), Some(PartOfSpeech::Word));
        assert_eq!(is(0, "main"), Some(PartOfSpeech::Name));
        assert_eq!(is(1, "note"), Some(PartOfSpeech::Comment));
        assert_eq!(is(2, "日本"), Some(PartOfSpeech::Text));
    }

    #[test]
    fn a_language_that_nobody_knows_stays_plain() {
        let painter = Painter::new();
        assert!(painter.paint(&Job { language: "klingon".into(), code: "Qapla'".into() }).is_empty());
    }
}
