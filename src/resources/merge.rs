//! Three-way merge: what two people made of one base, put together.
//!
//! The unit is the line. Runs of lines that only one side changed are taken from it; what both
//! changed alike is taken once; what both changed differently, or at the very same place, is a
//! [`Piece`] for somebody to decide. For prose ([`Grain::Words`]) such a run is first tried word by
//! word, because there a line is a whole paragraph: it merges where the two sides kept most of it
//! and at least one word stands untouched between their changes. Source code is never merged within
//! a run of lines: two edits of one line of code rarely mean the sum of both.
//!
//! A merge is a pure function of three texts, so resolving it again takes only the choices.

use super::content::{Content, Part};
use super::diff;
use super::lines::{self, Hunk, LineIndex};
use super::refusal::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How finely texts are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// By lines alone.
    Lines,
    /// By lines, and by words within lines that both changed.
    Words,
}

/// A merged content, or what somebody has to decide.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Merge {
    /// Everything fitted.
    Merged(Content),
    /// These pieces did not; the rest did.
    Conflicts(Vec<Piece>),
}

/// A place where both sides made something different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The part.
    pub part: String,
    /// The section, element or parameter; empty where there is none.
    pub unit: String,
    /// The lines of the base, from 0, where the part is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Range<usize>>,
    /// What it was.
    pub base: String,
    /// What the others made of it.
    pub theirs: String,
    /// What I made of it.
    pub mine: String,
    /// Whether it is text, so that both can be kept and another text be given.
    pub text: bool,
}

/// What to take for a piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "take", rename_all = "snake_case", deny_unknown_fields)]
pub enum Choice {
    /// What the others made.
    Theirs,
    /// What I made.
    Mine,
    /// Theirs, then mine.
    Both,
    /// What it was.
    Base,
    /// Another text.
    Custom {
        /// The text.
        text: String,
    },
}

/// A stretch of a merged text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// It is settled.
    Agreed(String),
    /// It is to be decided.
    Open {
        /// The lines of the base, from 0.
        lines: Range<usize>,
        /// What it was.
        base: String,
        /// What the others made of it.
        theirs: String,
        /// What I made of it.
        mine: String,
    },
}

/// The merge of three texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMerge {
    /// In order; joined they are the text.
    pub segments: Vec<Segment>,
}

/// Merges three texts.
pub fn texts(base: &str, theirs: &str, mine: &str, grain: Grain) -> TextMerge {
    let mut merge = TextMerge { segments: Vec::new() };
    // Whole texts first: these are the commonest cases, and laws.
    if theirs == mine || mine == base {
        merge.agree(theirs);
        return merge;
    }
    if theirs == base {
        merge.agree(mine);
        return merge;
    }
    let index = [base, theirs, mine].map(LineIndex::new);
    let text = |side: usize, lines: Range<usize>| -> &str { &[base, theirs, mine][side][index[side].bytes(lines)] };
    let hunks = |side: usize, new: &str| {
        settled(lines::hunks(base, new), |at| text(BASE, at..at + 1), |at| text(side, at..at + 1), index[BASE].count())
    };
    let (their_hunks, my_hunks) = (hunks(THEIRS, theirs), hunks(MINE, mine));
    for region in regions(index[BASE].count(), &their_hunks, &my_hunks, |_| true) {
        match region {
            Region::Kept(lines) => merge.agree(text(BASE, lines)),
            Region::Theirs(lines) => merge.agree(text(THEIRS, lines)),
            Region::Mine(lines) => merge.agree(text(MINE, lines)),
            Region::Both { base: lines, theirs, mine } => {
                let (was, their_text, my_text) = (text(BASE, lines.clone()), text(THEIRS, theirs), text(MINE, mine));
                if their_text == my_text {
                    merge.agree(their_text);
                } else if let (Grain::Words, Some(merged)) = (grain, by_words(was, their_text, my_text)) {
                    merge.agree(&merged);
                } else {
                    merge.open(lines, was, their_text, my_text);
                }
            }
        }
    }
    merge
}

const BASE: usize = 0;
const THEIRS: usize = 1;
const MINE: usize = 2;

/// Moves what was only inserted or only deleted down to the last place where it says the same: a
/// function put between two others can begin with its own first line or with the brace before it,
/// and two sides that put one at the same place must be seen to do so.
fn settled<'a>(
    mut hunks: Vec<Hunk>,
    old: impl Fn(usize) -> &'a str,
    new: impl Fn(usize) -> &'a str,
    len: usize,
) -> Vec<Hunk> {
    let mut below = len + 1;
    for hunk in hunks.iter_mut().rev() {
        // It never comes to touch the next one.
        while hunk.old.end + 1 < below {
            let moves = match (hunk.old.is_empty(), hunk.new.is_empty()) {
                (true, false) => new(hunk.new.start) == old(hunk.old.end),
                (false, true) => old(hunk.old.start) == old(hunk.old.end),
                (_, _) => false,
            };
            if !moves {
                break;
            }
            hunk.old = hunk.old.start + 1..hunk.old.end + 1;
            hunk.new = hunk.new.start + 1..hunk.new.end + 1;
        }
        below = hunk.old.start;
    }
    hunks
}

/// A stretch of a base and what became of it.
enum Region {
    /// Neither side changed it.
    Kept(Range<usize>),
    /// Only they did; a range of theirs.
    Theirs(Range<usize>),
    /// Only I did; a range of mine.
    Mine(Range<usize>),
    /// Both did.
    Both { base: Range<usize>, theirs: Range<usize>, mine: Range<usize> },
}

/// Walks over the changes of both sides; changes that overlap, or have nothing between them that
/// `parts` them, come together.
fn regions(len: usize, theirs: &[Hunk], mine: &[Hunk], parts: impl Fn(Range<usize>) -> bool) -> Vec<Region> {
    let mut out = Vec::new();
    let (mut their_hunks, mut my_hunks) = (theirs.iter().peekable(), mine.iter().peekable());
    let mut at = 0;
    // How far a side's lines have moved against the base's before the present place.
    let (mut their_shift, mut my_shift) = (0isize, 0isize);
    let shifted = |n: usize, shift: isize| n.checked_add_signed(shift).unwrap_or(0);
    loop {
        let next = [their_hunks.peek(), my_hunks.peek()].into_iter().flatten().map(|hunk| hunk.old.start).min();
        let Some(start) = next else { break };
        let mut end = start;
        let (mut theirs_grow, mut mine_grow) = (0isize, 0isize);
        let (mut their_count, mut my_count) = (0, 0);
        loop {
            let joins = |hunk: &&&Hunk, others: usize| {
                // Touching hunks of the other side overlap; ones of the same side never touch.
                hunk.old.start < end
                    || (hunk.old.start == end && (others > 0 || end == start))
                    || (others > 0 && hunk.old.start > end && !parts(end..hunk.old.start))
            };
            if let Some(hunk) = their_hunks.peek().filter(|hunk| joins(hunk, my_count)) {
                end = end.max(hunk.old.end);
                theirs_grow += hunk.new.len() as isize - hunk.old.len() as isize;
                their_count += 1;
                their_hunks.next();
            } else if let Some(hunk) = my_hunks.peek().filter(|hunk| joins(hunk, their_count)) {
                end = end.max(hunk.old.end);
                mine_grow += hunk.new.len() as isize - hunk.old.len() as isize;
                my_count += 1;
                my_hunks.next();
            } else {
                break;
            }
        }
        out.push(Region::Kept(at..start));
        let theirs = shifted(start, their_shift)..shifted(end, their_shift + theirs_grow);
        let mine = shifted(start, my_shift)..shifted(end, my_shift + mine_grow);
        out.push(match (their_count, my_count) {
            (_, 0) => Region::Theirs(theirs),
            (0, _) => Region::Mine(mine),
            (_, _) => Region::Both { base: start..end, theirs, mine },
        });
        their_shift += theirs_grow;
        my_shift += mine_grow;
        at = end;
    }
    out.push(Region::Kept(at..len));
    out
}

/// Runs larger than this are not merged by words.
const WORDS_LIMIT: usize = 64 << 10;

/// Merges a run of lines word by word, where both sides kept at least half of its words and a word
/// stands between any two changes of different sides.
fn by_words(base: &str, theirs: &str, mine: &str) -> Option<String> {
    if base.is_empty() || theirs.is_empty() || mine.is_empty() || base.len() + theirs.len() + mine.len() > WORDS_LIMIT {
        return None;
    }
    let tokens = [base, theirs, mine].map(diff::words);
    let is_word = |token: &&str| token.chars().any(char::is_alphanumeric);
    let hunks = |side: usize| {
        let (old, new) = (&tokens[BASE], &tokens[side]);
        settled(lines::diff(old, new), |at| old[at], |at| new[at], old.len())
    };
    let (their_hunks, my_hunks) = (hunks(THEIRS), hunks(MINE));
    let all = tokens[BASE].iter().filter(|token| is_word(token)).count();
    let lost = |hunks: &[Hunk]| -> usize {
        hunks.iter().map(|hunk| tokens[BASE][hunk.old.clone()].iter().filter(|token| is_word(token)).count()).sum()
    };
    if 2 * lost(&their_hunks) > all || 2 * lost(&my_hunks) > all {
        return None;
    }
    let parts = |range: Range<usize>| tokens[BASE][range].iter().any(is_word);
    let mut out = String::new();
    for region in regions(tokens[BASE].len(), &their_hunks, &my_hunks, parts) {
        match region {
            Region::Kept(range) => out.extend(tokens[BASE][range].iter().copied()),
            Region::Theirs(range) => out.extend(tokens[THEIRS][range].iter().copied()),
            Region::Mine(range) => out.extend(tokens[MINE][range].iter().copied()),
            Region::Both { theirs, mine, .. } => {
                if tokens[THEIRS][theirs.clone()] != tokens[MINE][mine] {
                    return None;
                }
                out.extend(tokens[THEIRS][theirs].iter().copied());
            }
        }
    }
    Some(out)
}

impl TextMerge {
    fn agree(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.segments.last_mut() {
            Some(Segment::Agreed(last)) => last.push_str(text),
            _ => self.segments.push(Segment::Agreed(text.to_owned())),
        }
    }

    /// Opens a conflict; what both sides begin or end with alike is agreed.
    fn open(&mut self, base_lines: Range<usize>, base: &str, theirs: &str, mine: &str) {
        let (t, m) = (lines::lines(theirs), lines::lines(mine));
        let front = t.iter().zip(&m).take_while(|(t, m)| t == m).count();
        let back = t[front..].iter().rev().zip(m[front..].iter().rev()).take_while(|(t, m)| t == m).count();
        self.agree(&t[..front].concat());
        self.segments.push(Segment::Open {
            lines: base_lines,
            base: base.to_owned(),
            theirs: t[front..t.len() - back].concat(),
            mine: m[front..m.len() - back].concat(),
        });
        self.agree(&t[t.len() - back..].concat());
    }

    /// How many pieces are to be decided.
    pub fn open_count(&self) -> usize {
        self.segments.iter().filter(|segment| matches!(segment, Segment::Open { .. })).count()
    }

    /// The merged text, where nothing is to be decided.
    pub fn merged(&self) -> Option<String> {
        (self.open_count() == 0).then(|| self.resolve(&[]).ok()).flatten()
    }

    /// The text with one choice for each open piece, in order.
    pub fn resolve(&self, choices: &[Choice]) -> Result<String, Refusal> {
        let open = self.open_count();
        if choices.len() != open {
            let what = format!("there are {open} pieces to decide, and {} choices came", choices.len());
            return Err(Refusal::Invalid { what });
        }
        let mut choices = choices.iter();
        let mut out = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Agreed(text) => out.push_str(text),
                Segment::Open { base, theirs, mine, .. } => match choices.next() {
                    Some(Choice::Theirs) => out.push_str(theirs),
                    Some(Choice::Mine) => out.push_str(mine),
                    Some(Choice::Base) => out.push_str(base),
                    Some(Choice::Custom { text }) => out.push_str(text),
                    Some(Choice::Both) => {
                        out.push_str(theirs);
                        // The last line of a text may have no end; two lines must not become one.
                        if !theirs.is_empty() && !theirs.ends_with('\n') && !mine.is_empty() {
                            out.push_str(if mine.contains("\r\n") { "\r\n" } else { "\n" });
                        }
                        out.push_str(mine);
                    }
                    None => {}
                },
            }
        }
        Ok(out)
    }

    /// The open pieces; `unit_at` names the section of a line of the base.
    pub fn pieces(&self, part: &str, unit_at: impl Fn(usize) -> String) -> Vec<Piece> {
        self.segments
            .iter()
            .filter_map(|segment| match segment {
                Segment::Agreed(_) => None,
                Segment::Open { lines, base, theirs, mine } => Some(Piece {
                    part: part.to_owned(),
                    unit: unit_at(lines.start),
                    lines: Some(lines.clone()),
                    base: base.clone(),
                    theirs: theirs.clone(),
                    mine: mine.clone(),
                    text: true,
                }),
            })
            .collect()
    }
}

/// What became of a part on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartMerge {
    /// This is the merged part; `None` where it went.
    Settled(Option<Part>),
    /// Both sides changed it, in different ways.
    Contested,
}

/// Merges a part as a whole: by who changed it.
pub fn part(base: Option<&Part>, theirs: Option<&Part>, mine: Option<&Part>) -> PartMerge {
    if theirs == mine || mine == base {
        PartMerge::Settled(theirs.cloned())
    } else if theirs == base {
        PartMerge::Settled(mine.cloned())
    } else {
        PartMerge::Contested
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "(([ab京]{0,2}|the quick fox) {0,1}[x,]{0,1}\r?\n){0,9}[xy]{0,1}";

    fn merged(base: &str, theirs: &str, mine: &str, grain: Grain) -> Option<String> {
        texts(base, theirs, mine, grain).merged()
    }

    fn grain() -> impl Strategy<Value = Grain> {
        prop_oneof![Just(Grain::Lines), Just(Grain::Words)]
    }

    /// A base of distinct lines, and for each side which lines it replaces and what it puts there;
    /// every line is unlike every other, so that there is one way to compare them.
    fn edited(lines: usize, edits: &[(usize, usize, usize)], side: char, end: &str) -> String {
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        for (number, (start, len, new)) in edits.iter().enumerate() {
            out.extend((at..*start).map(|n| format!("line {n} 京{end}")));
            out.extend((0..*new).map(|n| format!("{side}{number}.{n}{end}")));
            at = start + len;
        }
        out.extend((at..lines).map(|n| format!("line {n} 京{end}")));
        out.concat()
    }

    /// Draws edits apart from each other by at least one line.
    fn edits(lines: usize) -> impl Strategy<Value = Vec<(usize, usize, usize)>> {
        proptest::collection::vec((1usize..6, 0usize..4, 0usize..3), 0..5).prop_map(move |draws| {
            let mut out = Vec::new();
            let mut at = 0;
            for (gap, len, new) in draws {
                let start = at + gap;
                if start + len > lines || (len == 0 && new == 0) {
                    continue;
                }
                out.push((start, len, new));
                at = start + len;
            }
            out
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn who_changed_nothing_takes_nothing_from_the_other(base in TEXT, other in TEXT, grain in grain()) {
            prop_assert_eq!(merged(&base, &base, &other, grain), Some(other.clone()));
            prop_assert_eq!(merged(&base, &other, &base, grain), Some(other.clone()));
            prop_assert_eq!(merged(&base, &other, &other, grain), Some(other));
        }

        #[test]
        fn the_sides_may_be_exchanged(base in TEXT, theirs in TEXT, mine in TEXT, grain in grain()) {
            let one = texts(&base, &theirs, &mine, grain);
            let other = texts(&base, &mine, &theirs, grain);
            prop_assert_eq!(one.merged(), other.merged());
            let all = |choice: Choice, merge: &TextMerge| merge.resolve(&vec![choice; merge.open_count()]).expect("resolved");
            prop_assert_eq!(all(Choice::Mine, &one), all(Choice::Theirs, &other));
        }

        #[test]
        fn edits_of_different_lines_merge_and_edits_of_the_same_conflict(
            theirs in edits(23), mine in edits(23), crlf in any::<bool>(), open_end in any::<bool>(),
        ) {
            let end = if crlf { "\r\n" } else { "\n" };
            let cut = |text: String| if open_end { text.strip_suffix(end).unwrap_or(&text).to_owned() } else { text };
            let base = cut(edited(24, &[], ' ', end));
            let (their_text, my_text) = (cut(edited(24, &theirs, 't', end)), cut(edited(24, &mine, 'm', end)));
            let overlap = theirs.iter().any(|t| mine.iter().any(|m| t.0 <= m.0 + m.1 && m.0 <= t.0 + t.1));
            // Both deleting the very same lines is one change, made twice.
            let alike = |t: &(usize, usize, usize), m: &(usize, usize, usize)| t == m && t.2 == 0;
            let only_alike = theirs.iter().all(|t| mine.iter().all(|m| alike(t, m) || !(t.0 <= m.0 + m.1 && m.0 <= t.0 + t.1)));
            let merge = texts(&base, &their_text, &my_text, Grain::Lines);
            if theirs.is_empty() || mine.is_empty() {
                prop_assert!(merge.merged().is_some());
            } else if !overlap || only_alike {
                let mut both: Vec<_> = theirs.iter().map(|e| (*e, 't')).chain(mine.iter().map(|e| (*e, 'm'))).collect();
                both.sort();
                both.dedup_by_key(|(edit, _)| *edit);
                let result = merge.merged().expect("disjoint edits merge");
                for n in 0..24 {
                    let gone = both.iter().any(|((start, len, _), _)| (*start..start + len).contains(&n));
                    prop_assert_eq!(result.contains(&format!("line {n} ")), !gone);
                }
                let count = 24 + both.iter().map(|((_, _, new), _)| new).sum::<usize>()
                    - both.iter().map(|((_, len, _), _)| len).sum::<usize>();
                prop_assert_eq!(lines::count(&result), count, "no line lost or invented");
            } else {
                prop_assert!(merge.open_count() > 0, "overlapping edits conflict");
            }
        }

        #[test]
        fn no_line_is_lost_or_invented_whatever_is_chosen(theirs in edits(23), mine in edits(23)) {
            let (their_text, my_text) = (edited(24, &theirs, 't', "\n"), edited(24, &mine, 'm', "\n"));
            let merge = texts(&edited(24, &[], ' ', "\n"), &their_text, &my_text, Grain::Lines);
            let take = |choice: Choice| merge.resolve(&vec![choice; merge.open_count()]).expect("resolved");
            let (all_theirs, all_mine, both) = (take(Choice::Theirs), take(Choice::Mine), take(Choice::Both));
            for (text, side) in [(&all_theirs, &their_text), (&all_mine, &my_text)] {
                for line in side.lines().filter(|line| !line.starts_with("line")) {
                    prop_assert_eq!(text.lines().filter(|l| l == &line).count(), 1, "{}", line);
                    prop_assert_eq!(both.lines().filter(|l| l == &line).count(), 1, "{}", line);
                }
            }
            for text in [&all_theirs, &all_mine] {
                for line in text.lines() {
                    prop_assert!(their_text.lines().chain(my_text.lines()).any(|l| l == line), "{} came from nowhere", line);
                }
                for n in 0..24 {
                    let line = format!("line {n} 京");
                    if their_text.contains(&line) && my_text.contains(&line) {
                        prop_assert!(text.contains(&line), "{} was deleted by nobody", line);
                    }
                }
            }
        }
    }

    #[test]
    fn two_words_of_one_paragraph_merge_in_prose_and_conflict_in_code() {
        let base = "The quick brown fox jumps over the lazy dog.\n";
        let theirs = "The slow brown fox jumps over the lazy dog.\n";
        let mine = "The quick brown fox jumps over the eager dog.\n";
        let both = "The slow brown fox jumps over the eager dog.\n";
        assert_eq!(merged(base, theirs, mine, Grain::Words).as_deref(), Some(both));
        assert_eq!(merged(base, theirs, mine, Grain::Lines), None);
        // The same word, and neighbouring words, are for a person to decide.
        let same = "The swift brown fox jumps over the lazy dog.\n";
        assert_eq!(merged(base, theirs, same, Grain::Words), None);
        let next = "The quick red fox jumps over the lazy dog.\n";
        assert_eq!(merged(base, theirs, next, Grain::Words), None);
        let whole = "A slow turtle crawls under a lazy dog, and nobody sees it.\n";
        assert_eq!(merged(base, whole, mine, Grain::Words), None);
    }

    #[test]
    fn a_conflict_is_only_as_large_as_what_differs_and_each_choice_can_be_taken() {
        let merge = texts("a\nb\nc\n", "a\nsame\nT\nc\n", "a\nsame\nM\nc\n", Grain::Lines);
        let pieces = merge.pieces("text", |_| "Top".into());
        assert_eq!(pieces.len(), 1);
        assert_eq!(
            (pieces[0].theirs.as_str(), pieces[0].mine.as_str(), pieces[0].base.as_str()),
            ("T\n", "M\n", "b\n")
        );
        let take = |choice: Choice| merge.resolve(&[choice]).expect("resolved");
        assert_eq!(take(Choice::Both), "a\nsame\nT\nM\nc\n");
        assert_eq!(take(Choice::Theirs), "a\nsame\nT\nc\n");
        assert_eq!(take(Choice::Mine), "a\nsame\nM\nc\n");
        assert_eq!(take(Choice::Custom { text: "X\n".into() }), "a\nsame\nX\nc\n");
        assert!(merge.resolve(&[]).is_err());
    }

    #[test]
    fn both_at_the_end_without_a_newline_stay_two_lines() {
        let merge = texts("a", "t", "m", Grain::Lines);
        assert_eq!(merge.resolve(&[Choice::Both]).expect("resolved"), "t\nm");
    }

    #[test]
    fn what_both_put_between_two_blocks_is_seen_as_one_wherever_a_diff_says_it_begins() {
        // The diffs of these two begin the same insertion in different lines: one at `fn b`, the other at
        // the brace before it, since the brace after `b` may be matched instead.
        let (old, new) = ("{\na\n}\n{\nc\n}\n", "{\na\n}\n{\nb\n}\n{\nc\n}\n");
        let at = |hunks: Vec<Hunk>| {
            let (old, new) = (lines::lines(old), lines::lines(new));
            settled(hunks, |at| old[at], |at| new[at], old.len())
        };
        let early = at(vec![Hunk { old: 2..2, new: 2..5 }]);
        assert_eq!(early, at(vec![Hunk { old: 3..3, new: 3..6 }]));
        assert_eq!(early, [Hunk { old: 4..4, new: 4..7 }], "as far down as it says the same");
        let other = new.replace('b', "d");
        assert_eq!(texts(old, new, &other, Grain::Lines).merged(), None, "two blocks at one place");
        assert_eq!(texts(old, new, new, Grain::Lines).merged().as_deref(), Some(new));
    }

    #[test]
    fn two_insertions_at_one_place_are_a_conflict() {
        assert_eq!(merged("a\nb\n", "a\nt\nb\n", "a\nm\nb\n", Grain::Words), None);
        assert_eq!(merged("a\nb\n", "a\nx\nb\n", "a\nx\nb\n", Grain::Lines).as_deref(), Some("a\nx\nb\n"));
    }
}
