//! Cases that cross the files of this room, and texts for the tests of all.

use super::attribution::Attribution;
use super::content::Content;
use super::manifest::{self, Kept};
use super::rebase::{Rebased, rebase};
use super::refusal::Refusal;
use super::text::{Document, Syntax, content_of, text_of};
use super::{Adapter, Applied};
use proptest::prelude::*;
use serde_json::json;
use std::collections::HashMap;

/// A text of so many lines that depends on a seed alone.
pub(super) fn prose(seed: u64, lines: usize) -> String {
    let mut state = seed | 1;
    let mut out = String::new();
    for _ in 0..lines {
        for _ in 0..8 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let word = ["lorem ", "ipsum ", "dolor ", "北京 ", "sit ", "amet ", "erat ", "no "][(state >> 61) as usize];
            out.push_str(word);
        }
        out.push_str(&format!("{}\n", state >> 40));
    }
    out
}

/// A Resource as whoever keeps it would: revisions, Candidates, blobs, answers by idempotency key.
struct Kitchen {
    revisions: Vec<(usize, Content)>,
    candidates: Vec<Candidate>,
    answers: HashMap<u32, Option<u64>>,
    blobs: HashMap<super::Hash, Vec<u8>>,
    kept: Kept,
    lists: Vec<manifest::Manifest>,
    attribution: Attribution,
}

#[derive(Debug, Clone)]
struct Candidate {
    base: u64,
    content: Content,
    open: bool,
}

impl Kitchen {
    fn new(text: &str) -> Self {
        let content = content_of(text, Syntax::Markdown);
        let keep = manifest::keep(content.clone(), None);
        let mut kitchen = Self {
            revisions: vec![(0, content)],
            candidates: Vec::new(),
            answers: HashMap::new(),
            blobs: HashMap::new(),
            lists: vec![keep.kept.manifest.clone()],
            kept: keep.kept.clone(),
            attribution: Attribution::of_text(text, 0),
        };
        kitchen.write(&keep);
        kitchen
    }

    fn write(&mut self, keep: &manifest::Keep) {
        for blob in &keep.blobs {
            self.blobs.insert(blob.hash, blob.of(&keep.kept.content).expect("there").to_vec());
        }
    }

    /// The one door as `domain` decides it (Eq. 7): the same for everybody, once for each key; gives the
    /// revision an edit became.
    fn commit(&mut self, key: u32, who: usize, base: u64, content: Content) -> Option<u64> {
        if let Some(answer) = self.answers.get(&key) {
            return *answer;
        }
        let current = self.revisions.len() as u64 - 1;
        let answer = (base == current).then_some(current + 1);
        match answer {
            Some(revision) => {
                let before = &self.revisions[current as usize].1;
                Document.attribute(&mut self.attribution, before, &content, revision).expect("attributed");
                let keep = manifest::keep(content.clone(), Some(&self.kept));
                self.write(&keep);
                self.lists.push(keep.kept.manifest.clone());
                self.kept = keep.written(None);
                self.revisions.push((who, content));
            }
            None => self.candidates.push(Candidate { base, content, open: true }),
        }
        self.answers.insert(key, answer);
        answer
    }
}

#[derive(Debug, Clone)]
enum Act {
    /// Reads the newest revision.
    Read,
    /// Edits what was read and commits it; the answer may get lost, and then it is sent again.
    Edit { place: u16, words: String, lost: bool },
    /// Brings the oldest open Candidate up to date and commits it.
    Rebase,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        2 => Just(Act::Read),
        3 => (any::<u16>(), "[a-z]{1,4}", any::<bool>()).prop_map(|(place, words, lost)| Act::Edit { place, words, lost }),
        1 => Just(Act::Rebase),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Eq. 7 for two to sixteen actors: revisions without gaps, each accepted edit once, each
    /// refused one a Candidate, content equal to the replay of the history.
    #[test]
    fn whoever_edits_revisions_are_gapless_and_no_proposal_is_lost(
        actors in 2usize..=16, acts in proptest::collection::vec((any::<usize>(), act()), 1..80),
    ) {
        let start: String = (0..12).map(|n| format!("# Part {n}\n\nwords of part {n} 京\n\n")).collect();
        let mut kitchen = Kitchen::new(&start);
        let mut seen = vec![0u64; actors];
        let (mut key, mut edits, mut rebased) = (0, 0, 0);
        for (who, act) in acts {
            let who = who % actors;
            match act {
                Act::Read => seen[who] = kitchen.revisions.len() as u64 - 1,
                Act::Edit { place, words, lost } => {
                    let base = seen[who];
                    let operation = json!({"op": "append", "path": [format!("Part {}", place % 12)], "text": format!("{words} {key}")});
                    let Applied { content, .. } = Document.apply(&kitchen.revisions[base as usize].1, &operation).and_then(super::Step::ready).expect("applied");
                    let answer = kitchen.commit(key, who, base, content.clone());
                    if lost {
                        prop_assert_eq!(kitchen.commit(key, who, base, content), answer, "sent again, answered alike");
                    }
                    if let Some(revision) = answer {
                        seen[who] = revision;
                    }
                    key += 1;
                    edits += 1;
                }
                Act::Rebase => {
                    let Some(number) = kitchen.candidates.iter().position(|candidate| candidate.open) else { continue };
                    let candidate = kitchen.candidates[number].clone();
                    let current = kitchen.revisions.len() as u64 - 1;
                    let base = kitchen.revisions[candidate.base as usize].1.clone();
                    let newest = kitchen.revisions[current as usize].1.clone();
                    match rebase(&Document, &base, &newest, &candidate.content).expect("merged") {
                        Rebased::Candidate(content) => {
                            let accepted = kitchen.commit(key, who, current, content);
                            prop_assert_eq!(accepted, Some(current + 1));
                            key += 1;
                            rebased += 1;
                            kitchen.candidates[number].open = false;
                        }
                        Rebased::Contained => kitchen.candidates[number].open = false,
                        Rebased::Conflicts(pieces) => prop_assert!(!pieces.is_empty()),
                    }
                }
            }
        }
        let accepted = kitchen.revisions.len() - 1;
        prop_assert_eq!(accepted + kitchen.candidates.len(), edits + rebased, "each edit is one or the other");
        // What was kept gives every revision back.
        for (list, (_, content)) in kitchen.lists.iter().zip(&kitchen.revisions) {
            let back = manifest::assemble::<Refusal>(list, |hash| Ok(kitchen.blobs[hash].clone())).expect("assembled");
            prop_assert_eq!(&back, content);
        }
        // Every accepted word is there, once, and its line belongs to the revision that wrote it.
        let texts: Vec<&str> = kitchen.revisions.iter().map(|(_, content)| text_of(content).expect("text")).collect();
        let replayed = Attribution::of_history((0..).zip(texts.iter().copied()));
        prop_assert_eq!(&replayed, &kitchen.attribution);
        let last = texts.last().expect("one");
        for (revision, pair) in (1..).zip(texts.windows(2)) {
            for line in pair[1].lines().filter(|line| !line.is_empty() && !pair[0].lines().any(|old| old == *line)) {
                let found: Vec<usize> = last.lines().enumerate().filter(|(_, l)| l == &line).map(|(n, _)| n).collect();
                prop_assert_eq!(found.len(), 1, "{} stands once", line);
                prop_assert_eq!(kitchen.attribution.of_line(found[0]), Some(revision));
            }
        }
    }
}
