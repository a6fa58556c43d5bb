//! Places of a text named by what stands there, so that they survive edits elsewhere.
//!
//! An anchor must match exactly one place. Where it matches none the nearest candidates are told;
//! where it matches several, each with an anchor that is unique.

use super::outline::{self, Section};
use super::syntax::Syntax;
use crate::resources::content::Hash;
use crate::resources::diff::cut;
use crate::resources::lines::{self, LineIndex};
use crate::resources::refusal::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

/// A place of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case", deny_unknown_fields)]
pub enum Anchor {
    /// A section under a heading with all of its subsections, or an item of source code with the
    /// comments right above it.
    Section {
        /// Headings or names from the outermost to its own; the last ones suffice where they are
        /// unique.
        path: Vec<String>,
    },
    /// A quote that stands there word for word; it may span lines.
    Quote {
        /// The quote.
        text: String,
        /// What stands right before it, where the quote alone is not unique.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        before: String,
        /// What stands right after it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        after: String,
    },
    /// Whole lines, guarded by their hash as reading and feedback give it.
    Lines {
        /// The first, from 1.
        from: usize,
        /// The last.
        to: usize,
        /// The hash of these lines.
        hash: String,
    },
    /// The whole text.
    All,
}

/// Where an anchor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Whether it is whole lines, so that what is put beside it is whole lines too.
    pub whole_lines: bool,
    /// The number of its section, where it is one.
    pub section: Option<usize>,
}

/// A text, cut up for finding places in it.
pub struct Ground<'a> {
    /// The text.
    pub text: &'a str,
    /// What it is written in.
    pub syntax: Syntax,
    /// Its lines.
    pub index: LineIndex,
    /// Its sections, once somebody has asked for them.
    sections: OnceCell<Vec<Section>>,
}

/// How many candidates or places a refusal names.
const NAMED: usize = 5;
/// How many bytes are hashed to find lines that moved.
const SEARCHED: usize = 16 << 20;

/// The short hash that guards lines: eight hex digits, whatever their ends are.
pub fn line_hash(lines: &str) -> String {
    let plain = lines.replace("\r\n", "\n");
    let mut hash = Hash::of(plain.strip_suffix('\n').unwrap_or(&plain).as_bytes()).to_string();
    hash.truncate(8);
    hash
}

impl<'a> Ground<'a> {
    /// Cuts a text up.
    pub fn new(text: &'a str, syntax: Syntax) -> Self {
        Self { text, syntax, index: LineIndex::new(text), sections: OnceCell::new() }
    }

    /// The sections of the text, found at the first call.
    pub fn sections(&self) -> &[Section] {
        self.sections.get_or_init(|| outline::outline(self.text, self.syntax))
    }

    /// Finds the one place of an anchor.
    pub fn find(&self, anchor: &Anchor) -> Result<Spot, Refusal> {
        match anchor {
            Anchor::Section { path } => {
                let number = self.section(path)?;
                let bytes = self.index.bytes(self.sections()[number].lines.clone());
                Ok(Spot { bytes, whole_lines: true, section: Some(number) })
            }
            Anchor::Quote { text, before, after } => self.quote(text, before, after),
            Anchor::Lines { from, to, hash } => self.lines(*from, *to, hash),
            Anchor::All => Ok(Spot { bytes: 0..self.text.len(), whole_lines: true, section: None }),
        }
    }

    /// The number of the section of a path.
    pub fn section(&self, path: &[String]) -> Result<usize, Refusal> {
        let anchor = || format!("the section {:?}", path.join(" › "));
        if path.is_empty() {
            return Err(Refusal::Invalid { what: "the path of a section has at least its own title".into() });
        }
        let wanted: Vec<String> = path.iter().map(|title| plain(title)).collect();
        let matching: Vec<usize> = (0..self.sections().len())
            .filter(|number| {
                let titles: Vec<String> = self.sections()[*number].path.iter().map(|title| plain(title)).collect();
                titles.ends_with(&wanted)
            })
            .collect();
        // A path that is whole is meant, whatever deeper one also ends with it.
        let whole: Vec<usize> =
            matching.iter().copied().filter(|number| self.sections()[*number].path.len() == path.len()).collect();
        match (whole.as_slice(), matching.as_slice()) {
            ([one], _) | ([], [one]) => Ok(*one),
            ([], []) => Err(Refusal::NoSuchAnchor { anchor: anchor(), nearest: self.nearest_sections(&wanted) }),
            (_, all) => Err(Refusal::Ambiguous {
                anchor: anchor(),
                count: all.len(),
                places: all.iter().take(NAMED).map(|number| self.section_place(*number)).collect(),
            }),
        }
    }

    fn section_place(&self, number: usize) -> String {
        let section = &self.sections()[number];
        format!("{} = {}", section.title(), self.lines_anchor(section.lines.clone()))
    }

    /// An anchor by lines, as text to copy.
    fn lines_anchor(&self, lines: Range<usize>) -> String {
        let hash = line_hash(&self.text[self.index.bytes(lines.clone())]);
        format!(r#"{{"by":"lines","from":{},"to":{},"hash":"{hash}"}}"#, lines.start + 1, lines.end)
    }

    fn nearest_sections(&self, wanted: &[String]) -> Vec<String> {
        let wanted = wanted.join(" ").to_lowercase();
        let mut scored: Vec<(usize, usize)> = self
            .sections()
            .iter()
            .enumerate()
            .map(|(number, section)| {
                let own = section.path.last().map(|title| title.to_lowercase()).unwrap_or_default();
                let whole = section.path.join(" ").to_lowercase();
                (alike(&own, &wanted).max(alike(&whole, &wanted)), number)
            })
            .filter(|(score, _)| *score >= 300)
            .collect();
        scored.sort_by_key(|(score, number)| (std::cmp::Reverse(*score), *number));
        if scored.is_empty() {
            return self.sections().iter().filter(|s| s.path.len() <= 2).take(NAMED).map(Section::title).collect();
        }
        scored.into_iter().take(NAMED).map(|(_, number)| self.sections()[number].title()).collect()
    }

    fn quote(&self, text: &str, before: &str, after: &str) -> Result<Spot, Refusal> {
        if text.is_empty() {
            return Err(Refusal::Invalid { what: "a quote can't be empty".into() });
        }
        let anchor = || format!("the quote {:?}", cut(text, 80));
        let whole = [before, text, after].concat();
        let found = self.occurrences(&whole, NAMED + 1);
        match found.as_slice() {
            [place] => {
                let start = self.skip(place.start, before);
                let bytes = start..self.skip(start, text);
                Ok(Spot { bytes, whole_lines: false, section: None })
            }
            [] => Err(Refusal::NoSuchAnchor { anchor: anchor(), nearest: self.nearest_lines(text) }),
            several => Err(Refusal::Ambiguous {
                anchor: anchor(),
                count: self.occurrences(&whole, usize::MAX).len(),
                places: several.iter().take(NAMED).map(|place| self.around(place)).collect(),
            }),
        }
    }

    /// Where a text stands, apart from one another; `\n` in it matches any line end.
    pub fn occurrences(&self, text: &str, limit: usize) -> Vec<Range<usize>> {
        let wanted = text.replace("\r\n", "\n");
        if !self.text.contains("\r\n") || !wanted.contains('\n') {
            return self.text.match_indices(&wanted).take(limit).map(|(at, found)| at..at + found.len()).collect();
        }
        // Line by line: the first piece is searched, the others must follow.
        let pieces: Vec<&str> = wanted.split('\n').collect();
        let mut out = Vec::new();
        let mut from = 0;
        let candidates = self.text.match_indices(pieces[0]);
        for (at, _) in candidates {
            if at < from || out.len() >= limit {
                continue;
            }
            if let Some(end) = self.follows(at, &pieces) {
                out.push(at..end);
                from = end;
            }
        }
        out
    }

    /// Where the pieces end that stand from a byte on with line ends between them.
    fn follows(&self, start: usize, pieces: &[&str]) -> Option<usize> {
        let mut at = start;
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                let rest = &self.text[at..];
                let end = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n')?;
                at = self.text.len() - end.len();
            }
            self.text[at..].starts_with(piece).then_some(())?;
            at += piece.len();
        }
        Some(at)
    }

    /// The byte after a text that is known to stand at `at`, whatever its line ends are there.
    fn skip(&self, at: usize, text: &str) -> usize {
        let plain = text.replace("\r\n", "\n");
        self.follows(at, &plain.split('\n').collect::<Vec<_>>()).unwrap_or(at + text.len())
    }

    fn around(&self, place: &Range<usize>) -> String {
        let first = self.index.line_of(place.start);
        let last = self.index.line_of(place.end.saturating_sub(1).max(place.start));
        self.lines_anchor(first..last + 1)
    }

    /// The lines that have most words in common with a quote.
    fn nearest_lines(&self, quote: &str) -> Vec<String> {
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
        };
        let first = quote.lines().find(|line| !line.trim().is_empty()).unwrap_or(quote);
        let wanted: HashSet<String> = words(first).into_iter().collect();
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut best: Vec<(usize, usize)> = Vec::new();
        for number in 0..self.index.count() {
            let line = &self.text[self.index.bytes(number..number + 1)];
            let has: HashSet<String> = words(cut(line, 4000)).into_iter().collect();
            let common = wanted.intersection(&has).count();
            let score = 2000 * common / (wanted.len() + has.len());
            if score >= 600 {
                best.push((score, number));
            }
        }
        best.sort_by_key(|(score, number)| (std::cmp::Reverse(*score), *number));
        let show = |number: usize| {
            let line = lines::body(&self.text[self.index.bytes(number..number + 1)]);
            format!("line {}: {}", number + 1, cut(line.trim(), 120))
        };
        best.into_iter().take(3).map(|(_, number)| show(number)).collect()
    }

    fn lines(&self, from: usize, to: usize, hash: &str) -> Result<Spot, Refusal> {
        let count = self.index.count();
        if from == 0 || to < from || to > count {
            return Err(Refusal::Invalid { what: format!("there are no lines {from} to {to}: the text has {count}") });
        }
        let bytes = self.index.bytes(from - 1..to);
        let now = line_hash(&self.text[bytes.clone()]);
        if now == hash {
            return Ok(Spot { bytes, whole_lines: true, section: None });
        }
        let moved_to = self.moved(from - 1..to, hash);
        let excerpt = cut(lines::body(&self.text[self.index.bytes(from - 1..from)]), 120).to_owned();
        Err(Refusal::StaleLines { from, to, expected: hash.to_owned(), now, moved_to, excerpt })
    }

    /// Where lines with this hash stand that once stood at `lines`, looked for around there.
    fn moved(&self, lines: Range<usize>, hash: &str) -> Option<(usize, usize)> {
        let height = lines.len();
        let tries = (SEARCHED / self.index.bytes(lines.clone()).len().max(1)).min(self.index.count());
        let fits = |first: usize| {
            let range = first..first + height;
            range.end <= self.index.count() && line_hash(&self.text[self.index.bytes(range)]) == hash
        };
        let mut near = (1..=tries).flat_map(|by| [lines.start.checked_sub(by), lines.start.checked_add(by)]).flatten();
        near.find(|first| fits(*first)).map(|first| (first + 1, first + height))
    }
}

/// A title without marks and with single spaces, to compare.
fn plain(title: &str) -> String {
    let title = title.trim().trim_start_matches('#').replace(['`', '*'], "");
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// How alike two short texts are, in thousandths: by their pairs of letters.
fn alike(a: &str, b: &str) -> usize {
    let pairs = |text: &str| -> HashSet<(char, char)> {
        let padded: Vec<char> = std::iter::once(' ').chain(text.chars()).chain([' ']).collect();
        padded.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (a, b) = (pairs(a), pairs(b));
    2000 * a.intersection(&b).count() / (a.len() + b.len()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::text::ground;
    use crate::resources::text::syntax::Syntax;

    const DOC: &str = "# Guide\n\n## Install\n\n### Linux\nrun it\n\n### Mac\nrun it\n\n## Use\n\n### Linux\nuse it\n";

    fn path(titles: &[&str]) -> Anchor {
        Anchor::Section { path: titles.iter().map(|title| (*title).to_owned()).collect() }
    }

    #[test]
    fn a_section_is_found_by_as_much_of_its_path_as_is_unique() {
        let ground = ground(DOC, Syntax::Markdown);
        assert_eq!(&DOC[ground.find(&path(&["Mac"])).expect("found").bytes], "### Mac\nrun it\n\n");
        assert_eq!(&DOC[ground.find(&path(&["Use", "Linux"])).expect("found").bytes], "### Linux\nuse it\n");
        let several = ground.find(&path(&["Linux"])).expect_err("two");
        assert!(matches!(&several, Refusal::Ambiguous { count: 2, .. }), "{several:?}");
        assert!(
            several.hint().contains(r#"Guide › Install › Linux = {"by":"lines","from":5,"to":7,"hash":""#),
            "{}",
            several.hint()
        );
        let none = ground.find(&path(&["instal"])).expect_err("none");
        assert!(none.hint().contains("Guide › Install"), "{}", none.hint());
    }

    #[test]
    fn a_quote_must_stand_there_once() {
        let ground = ground(DOC, Syntax::Markdown);
        let quote =
            |text: &str, before: &str| Anchor::Quote { text: text.into(), before: before.into(), after: String::new() };
        assert_eq!(
            ground.find(&quote("use it", "")).expect("found").bytes,
            DOC.find("use it").map(|at| at..at + 6).expect("there")
        );
        assert!(matches!(ground.find(&quote("run it", "")), Err(Refusal::Ambiguous { count: 2, .. })));
        let second = ground.find(&quote("run it", "### Mac\n")).expect("found");
        assert_eq!(second.bytes.start, DOC.rfind("run it").expect("there"));
        let none = ground.find(&quote("Use it now", "")).expect_err("none");
        assert!(none.hint().contains("line 14: use it"), "{}", none.hint());
    }

    #[test]
    fn a_quote_matches_whatever_the_line_ends_are() {
        let text = "one\r\ntwo\nthree\r\n";
        let ground = ground(text, Syntax::Plain);
        let quote = Anchor::Quote { text: "two\nthree\n".into(), before: "one\n".into(), after: String::new() };
        assert_eq!(&text[ground.find(&quote).expect("found").bytes], "two\nthree\r\n");
        assert_eq!(ground.occurrences("o\n", 9).len(), 1);
        assert!(ground.occurrences("twothree", 9).is_empty());
    }

    #[test]
    fn lines_are_guarded_by_their_hash_and_found_again_where_they_moved() {
        let old = ground("a\nb\nc\n", Syntax::Plain);
        let hash = line_hash("b\nc\n");
        assert_eq!(old.find(&Anchor::Lines { from: 2, to: 3, hash: hash.clone() }).expect("found").bytes, 2..6);
        let new = ground("x\r\na\r\nb\r\nc", Syntax::Plain);
        let stale = new.find(&Anchor::Lines { from: 2, to: 3, hash: hash.clone() }).expect_err("moved");
        assert!(matches!(&stale, Refusal::StaleLines { moved_to: Some((3, 4)), .. }), "{stale:?}");
        assert!(new.find(&Anchor::Lines { from: 3, to: 4, hash: hash.clone() }).is_ok());
        assert!(matches!(new.find(&Anchor::Lines { from: 4, to: 9, hash }), Err(Refusal::Invalid { .. })));
    }
}
