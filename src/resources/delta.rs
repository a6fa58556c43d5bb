//! Changes of a text as data: applied, inverted, composed, and transformed over one another.
//!
//! A [`Delta`] walks over the old text: keep so many bytes, delete so many, insert this. What it
//! inserts is a parameter: a [`Patch`] carries the text, a [`Shape`] only its length, which is
//! enough to map positions and to transform other changes, and costs nothing when somebody pastes
//! twenty megabytes. What follows the last step is kept.
//!
//! The law of [`Delta::transform`]: for two changes `a` and `b` of one text, with
//! `(a2, b2) = a.transform(&b)`, applying `a` then `b2` gives the same text as `b` then `a2`.
//! All positions are bytes and lie on the borders of characters.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What a change inserts.
pub trait Payload: Clone + PartialEq + Default {
    /// Its length in bytes.
    fn size(&self) -> usize;
    /// The piece of it.
    fn piece(&self, range: Range<usize>) -> Self;
    /// Appends another.
    fn join(&mut self, other: Self);
}

impl Payload for String {
    fn size(&self) -> usize {
        self.len()
    }
    fn piece(&self, range: Range<usize>) -> Self {
        self[range].to_owned()
    }
    fn join(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
        } else {
            self.push_str(&other);
        }
    }
}

impl Payload for usize {
    fn size(&self) -> usize {
        *self
    }
    fn piece(&self, range: Range<usize>) -> Self {
        range.len()
    }
    fn join(&mut self, other: Self) {
        *self += other;
    }
}

/// One step over the old text.
#[derive(Debug, Clone, PartialEq)]
enum Step<T> {
    Keep(usize),
    Delete(usize),
    Insert(T),
}

/// Which side of an insertion at exactly its place a position goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bias {
    /// It stays before what is inserted.
    Before,
    /// It goes after it.
    After,
}

/// A change of a text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delta<T> {
    steps: Vec<Step<T>>,
}

/// A change with the text it inserts.
pub type Patch = Delta<String>;

/// A change of which only the lengths are known.
pub type Shape = Delta<usize>;

/// One replaced range, in the coordinates of the old text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit<T = String> {
    /// Where it starts.
    pub at: usize,
    /// How many bytes go.
    pub delete: usize,
    /// What comes instead.
    pub insert: T,
}

impl<T: Payload> Delta<T> {
    /// A change that replaces one range.
    pub fn replace(range: Range<usize>, insert: T) -> Self {
        let mut delta = Self::default();
        delta.keep(range.start);
        delta.insert(insert);
        delta.delete(range.len());
        delta
    }

    /// A change of several ranges, which must be in order and apart; `None` where they are not.
    pub fn of_edits(edits: impl IntoIterator<Item = Edit<T>>) -> Option<Self> {
        let mut delta = Self::default();
        let mut at = 0;
        for edit in edits {
            delta.keep(edit.at.checked_sub(at)?);
            delta.insert(edit.insert);
            delta.delete(edit.delete);
            at = edit.at.checked_add(edit.delete)?;
        }
        Some(delta)
    }

    /// The replaced ranges, in order.
    pub fn edits(&self) -> Vec<Edit<T>> {
        let mut edits: Vec<Edit<T>> = Vec::new();
        let mut at = 0;
        let mut open = false;
        for step in &self.steps {
            if let Step::Keep(n) = step {
                at += n;
                open = false;
                continue;
            }
            if !open {
                edits.push(Edit { at, delete: 0, insert: T::default() });
                open = true;
            }
            let Some(edit) = edits.last_mut() else { continue };
            match step {
                Step::Insert(payload) => edit.insert.join(payload.clone()),
                Step::Delete(n) => {
                    edit.delete += n;
                    at += n;
                }
                Step::Keep(_) => {}
            }
        }
        edits
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many bytes of the old text it reaches over at least.
    pub fn reach(&self) -> usize {
        self.steps.iter().map(|step| if let Step::Keep(n) | Step::Delete(n) = step { *n } else { 0 }).sum()
    }

    /// By how many bytes the text grows.
    pub fn growth(&self) -> isize {
        self.steps.iter().fold(0, |sum, step| match step {
            Step::Keep(_) => sum,
            Step::Delete(n) => sum - *n as isize,
            Step::Insert(payload) => sum + payload.size() as isize,
        })
    }

    fn keep(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        match self.steps.last_mut() {
            Some(Step::Keep(last)) => *last += n,
            _ => self.steps.push(Step::Keep(n)),
        }
    }

    fn delete(&mut self, n: usize) {
        if n == 0 {
            return;
        }
        match self.steps.last_mut() {
            Some(Step::Delete(last)) => *last += n,
            _ => self.steps.push(Step::Delete(n)),
        }
    }

    /// Inserts; before a deletion at the same place, so that equal changes have equal steps.
    fn insert(&mut self, payload: T) {
        if payload.size() == 0 {
            return;
        }
        let place = self.steps.len() - usize::from(matches!(self.steps.last(), Some(Step::Delete(_))));
        match place.checked_sub(1).and_then(|i| self.steps.get_mut(i)) {
            Some(Step::Insert(last)) => last.join(payload),
            _ => self.steps.insert(place, Step::Insert(payload)),
        }
    }

    fn trimmed(mut self) -> Self {
        if matches!(self.steps.last(), Some(Step::Keep(_))) {
            self.steps.pop();
        }
        self
    }

    /// The change without its texts.
    pub fn shape(&self) -> Shape {
        let steps = self.steps.iter().map(|step| match step {
            Step::Keep(n) => Step::Keep(*n),
            Step::Delete(n) => Step::Delete(*n),
            Step::Insert(payload) => Step::Insert(payload.size()),
        });
        Delta { steps: steps.collect() }
    }

    /// The change with texts for its lengths: each insertion is fetched by its range in the new text.
    pub fn with_texts(&self, mut fetch: impl FnMut(Range<usize>) -> String) -> Patch {
        let mut at = 0;
        let steps = self.steps.iter().map(|step| match step {
            Step::Keep(n) => {
                at += n;
                Step::Keep(*n)
            }
            Step::Delete(n) => Step::Delete(*n),
            Step::Insert(payload) => {
                let range = at..at + payload.size();
                at = range.end;
                Step::Insert(fetch(range))
            }
        });
        Delta { steps: steps.collect() }
    }

    /// The change that takes this one back; what was deleted is fetched by its range in the old text.
    pub fn invert(&self, mut fetch: impl FnMut(Range<usize>) -> String) -> Patch {
        let mut inverse = Patch::default();
        let mut at = 0;
        for step in &self.steps {
            match step {
                Step::Keep(n) => {
                    inverse.keep(*n);
                    at += n;
                }
                Step::Delete(n) => {
                    inverse.insert(fetch(at..at + n));
                    at += n;
                }
                Step::Insert(payload) => inverse.delete(payload.size()),
            }
        }
        inverse.trimmed()
    }

    /// Where a position of the old text is in the new one.
    pub fn map(&self, position: usize, bias: Bias) -> usize {
        let mut old = 0;
        let mut new = 0;
        for step in &self.steps {
            match step {
                Step::Keep(n) => {
                    if position < old + n {
                        break;
                    }
                    old += n;
                    new += n;
                }
                Step::Insert(payload) => {
                    if position == old && bias == Bias::Before {
                        return new;
                    }
                    new += payload.size();
                }
                Step::Delete(n) => {
                    if position < old + n {
                        return new;
                    }
                    old += n;
                }
            }
        }
        new + (position - old)
    }

    /// Where a position of the new text was in the old one; inside an insertion, where that is.
    pub fn map_back(&self, position: usize) -> usize {
        let mut old = 0;
        let mut new = 0;
        for step in &self.steps {
            match step {
                Step::Keep(n) => {
                    if position < new + n {
                        break;
                    }
                    old += n;
                    new += n;
                }
                Step::Insert(payload) => {
                    if position < new + payload.size() {
                        return old;
                    }
                    new += payload.size();
                }
                Step::Delete(n) => old += n,
            }
        }
        old + (position - new)
    }

    /// Whether a range of the new text is untouched text of the old one, and where it was.
    pub fn kept(&self, range: Range<usize>) -> Option<Range<usize>> {
        let mut old = 0;
        let mut new = 0;
        for step in &self.steps {
            match step {
                Step::Keep(n) => {
                    if range.start < new + n {
                        let start = old + range.start.checked_sub(new)?;
                        return (range.end <= new + n).then(|| start..start + range.len());
                    }
                    old += n;
                    new += n;
                }
                Step::Insert(payload) => {
                    if range.start < new + payload.size() {
                        return None;
                    }
                    new += payload.size();
                }
                Step::Delete(n) => old += n,
            }
        }
        let start = old + range.start.checked_sub(new)?;
        Some(start..start + range.len())
    }

    /// This change, then `next`, as one.
    pub fn compose(&self, next: &Self) -> Self {
        let mut out = Self::default();
        let mut first = Walk::new(&self.steps);
        let mut second = Walk::new(&next.steps);
        loop {
            if let Some(Step::Delete(_)) = first.peek() {
                out.delete(first.rest());
                first.advance(first.rest());
                continue;
            }
            if let Some(Step::Insert(payload)) = second.peek() {
                out.insert(payload.clone());
                second.advance(second.rest());
                continue;
            }
            let n = match (first.peek(), second.peek()) {
                (None, None) => break,
                (None, Some(_)) => second.rest(),
                (Some(_), None) => first.rest(),
                (Some(_), Some(_)) => first.rest().min(second.rest()),
            };
            match (first.peek(), second.peek()) {
                (None | Some(Step::Keep(_)), None | Some(Step::Keep(_))) => out.keep(n),
                (None | Some(Step::Keep(_)), Some(Step::Delete(_))) => out.delete(n),
                (Some(Step::Insert(_)), None | Some(Step::Keep(_))) => out.insert(first.piece(n)),
                (Some(Step::Insert(_)), Some(Step::Delete(_))) => {}
                (Some(Step::Delete(_)), _) | (_, Some(Step::Insert(_))) => {}
            }
            first.advance(n);
            second.advance(n);
        }
        out.trimmed()
    }

    /// Both changes of one text, each as it is after the other one; where both insert at the same
    /// place, what `self` inserts comes first.
    pub fn transform<U: Payload>(&self, other: &Delta<U>) -> (Self, Delta<U>) {
        let mut left = Self::default();
        let mut right = Delta::<U>::default();
        let mut a = Walk::new(&self.steps);
        let mut b = Walk::new(&other.steps);
        loop {
            if let Some(Step::Insert(payload)) = a.peek() {
                left.insert(payload.clone());
                right.keep(payload.size());
                a.advance(a.rest());
                continue;
            }
            if let Some(Step::Insert(payload)) = b.peek() {
                left.keep(payload.size());
                right.insert(payload.clone());
                b.advance(b.rest());
                continue;
            }
            let n = match (a.peek(), b.peek()) {
                (None, None) => break,
                (None, Some(_)) => b.rest(),
                (Some(_), None) => a.rest(),
                (Some(_), Some(_)) => a.rest().min(b.rest()),
            };
            match (matches!(a.peek(), Some(Step::Delete(_))), matches!(b.peek(), Some(Step::Delete(_)))) {
                (true, true) => {}
                (true, false) => left.delete(n),
                (false, true) => right.delete(n),
                (false, false) => {
                    left.keep(n);
                    right.keep(n);
                }
            }
            a.advance(n);
            b.advance(n);
        }
        (left.trimmed(), right.trimmed())
    }

    /// The ranges of the old text that both changes replace or meet at: where two people wrote at
    /// the same place.
    pub fn overlaps<U: Payload>(&self, other: &Delta<U>) -> Vec<Range<usize>> {
        let ours = self.edits();
        let theirs = other.edits();
        let mut out = Vec::new();
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (ours.get(i), theirs.get(j)) {
            let (a, b) = (a.at..a.at + a.delete, b.at..b.at + b.delete);
            if a.start <= b.end && b.start <= a.end {
                out.push(a.start.min(b.start)..a.end.max(b.end));
            }
            if a.end <= b.end {
                i += 1;
            } else {
                j += 1;
            }
        }
        out
    }
}

impl Patch {
    /// Applies the change; `None` where it does not fit the text.
    pub fn apply(&self, text: &str) -> Option<String> {
        let size = text.len().checked_add_signed(self.growth())?;
        let mut out = String::with_capacity(size);
        let mut at = 0;
        for step in &self.steps {
            match step {
                Step::Keep(n) => {
                    out.push_str(text.get(at..at + n)?);
                    at += n;
                }
                Step::Delete(n) => {
                    text.get(at..at + n)?;
                    at += n;
                }
                Step::Insert(new) => out.push_str(new),
            }
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }

    /// The change that takes this one back, seen from the old text.
    pub fn inverse(&self, old: &str) -> Self {
        self.invert(|range| old[range].to_owned())
    }
}

impl Serialize for Patch {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.edits().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Patch {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let edits = Vec::<Edit>::deserialize(deserializer)?;
        Self::of_edits(edits)
            .map(Self::trimmed)
            .ok_or_else(|| serde::de::Error::custom("edits must be in order and apart"))
    }
}

/// A place inside the steps of a change.
struct Walk<'a, T> {
    steps: &'a [Step<T>],
    used: usize,
}

impl<'a, T: Payload> Walk<'a, T> {
    fn new(steps: &'a [Step<T>]) -> Self {
        Self { steps, used: 0 }
    }
    fn peek(&self) -> Option<&'a Step<T>> {
        self.steps.first()
    }
    /// What is left of the present step.
    fn rest(&self) -> usize {
        match self.steps.first() {
            Some(Step::Keep(n) | Step::Delete(n)) => n - self.used,
            Some(Step::Insert(payload)) => payload.size() - self.used,
            None => 0,
        }
    }
    /// The next `n` bytes of the present insertion.
    fn piece(&self, n: usize) -> T {
        match self.steps.first() {
            Some(Step::Insert(payload)) => payload.piece(self.used..self.used + n),
            _ => T::default(),
        }
    }
    fn advance(&mut self, n: usize) {
        if self.steps.is_empty() {
            return;
        }
        self.used += n;
        if self.rest() == 0 {
            self.steps = &self.steps[1..];
            self.used = 0;
        }
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn border(text: &str, at: usize) -> usize {
        (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }

    /// Draws a change of `text` from plain numbers.
    pub(crate) fn patch_of(text: &str, numbers: &[(u16, u8, String)]) -> Patch {
        let mut cuts: Vec<(usize, usize, &String)> = numbers
            .iter()
            .map(|(at, n, insert)| {
                let at = border(text, usize::from(*at) % (text.len() + 1));
                let end = border(text, (at + usize::from(*n % 12)).min(text.len()));
                (at, end.max(at), insert)
            })
            .collect();
        cuts.sort();
        let mut edits = Vec::new();
        let mut last = 0;
        for (at, end, insert) in cuts {
            if at >= last {
                edits.push(Edit { at, delete: end - at, insert: insert.clone() });
                last = end;
            }
        }
        Patch::of_edits(edits).expect("in order").trimmed()
    }

    fn numbers() -> impl Strategy<Value = Vec<(u16, u8, String)>> {
        proptest::collection::vec((any::<u16>(), any::<u8>(), "[a-z京🌍\n]{0,4}"), 0..6)
    }

    proptest! {
        #[test]
        fn two_changes_in_either_order_give_one_text(text in "[a-zé京\n]{0,40}", a in numbers(), b in numbers()) {
            let (a, b) = (patch_of(&text, &a), patch_of(&text, &b));
            let (a2, b2) = a.transform(&b);
            let one = b2.apply(&a.apply(&text).expect("fits")).expect("fits");
            let other = a2.apply(&b.apply(&text).expect("fits")).expect("fits");
            prop_assert_eq!(one, other);
            let (shape, b3) = a.shape().transform(&b);
            prop_assert_eq!(shape, a2.shape());
            prop_assert_eq!(b3, b2);
        }

        #[test]
        fn composing_is_applying_one_after_the_other(text in "[a-zé京\n]{0,40}", a in numbers(), b in numbers()) {
            let a = patch_of(&text, &a);
            let middle = a.apply(&text).expect("fits");
            let b = patch_of(&middle, &b);
            let end = b.apply(&middle).expect("fits");
            let both = a.compose(&b);
            prop_assert_eq!(both.apply(&text).expect("fits"), end.clone());
            let shape = a.shape().compose(&b.shape());
            prop_assert_eq!(&shape, &both.shape());
            prop_assert_eq!(shape.with_texts(|range| end[range].to_owned()).apply(&text).expect("fits"), end);
        }

        #[test]
        fn an_inverse_takes_a_change_back_and_json_carries_it(text in "[a-zé京\n]{0,40}", a in numbers()) {
            let a = patch_of(&text, &a);
            let new = a.apply(&text).expect("fits");
            prop_assert_eq!(a.inverse(&text).apply(&new).expect("fits"), text.clone());
            let back: Patch = serde_json::from_str(&serde_json::to_string(&a).expect("json")).expect("json");
            prop_assert_eq!(back.apply(&text).expect("fits"), new);
        }

        #[test]
        fn positions_of_kept_text_map_there_and_back(text in "[a-z]{1,40}", a in numbers(), at in any::<u16>()) {
            let a = patch_of(&text, &a);
            let new = a.apply(&text).expect("fits");
            let at = usize::from(at) % text.len();
            let there = a.map(at, Bias::After);
            prop_assert!(there <= new.len());
            if let Some(old) = (there < new.len()).then(|| a.kept(there..there + 1)).flatten() {
                prop_assert_eq!(&new[there..=there], &text[old.clone()]);
                prop_assert_eq!(a.map_back(there), old.start);
            }
        }
    }

    #[test]
    fn a_change_that_does_not_fit_is_not_applied() {
        assert_eq!(Patch::replace(2..5, "x".into()).apply("abc"), None);
        assert_eq!(Patch::replace(1..2, String::new()).apply("é"), None, "inside a character");
        let edit = |at, delete| Edit { at, delete, insert: String::new() };
        assert!(Patch::of_edits([edit(4, 2), edit(5, 1)]).is_none());
        assert!(
            serde_json::from_str::<Patch>(r#"[{"at":3,"delete":1,"insert":""},{"at":1,"delete":1,"insert":""}]"#)
                .is_err()
        );
    }

    #[test]
    fn places_where_both_wrote_are_named() {
        let mine = Patch::replace(4..6, "x".into());
        assert_eq!(mine.overlaps(&Patch::replace(5..9, String::new())), [4..9]);
        assert!(mine.overlaps(&Patch::replace(7..9, String::new())).is_empty());
    }
}
