//! What others changed, told within a budget (the Δ of Eq. 8).
//!
//! A [`Digest`] is made when a revision is committed and kept with it: small, whatever the size of
//! the change, so that telling an agent of twenty revisions loads none of them. An agent's own
//! revisions are left out: they stand in its own history.

use super::diff::{bounded, cut};
use crate::domain::Actor;
use serde::{Deserialize, Serialize};

/// How many units a digest names.
const UNITS: usize = 12;
/// How many bytes of words a digest quotes.
const EXCERPT: usize = 240;

/// What is kept of a change for later summaries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The sections, elements or parameters that changed, the first of them.
    pub units: Vec<UnitChange>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: usize,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A change of one unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitChange {
    /// Its name; empty where the content has no units.
    pub unit: String,
    /// How many lines or fields came.
    pub added: usize,
    /// How many went.
    pub removed: usize,
    /// The first words that came, or else that went with a `-` before.
    pub excerpt: String,
}

impl Digest {
    /// Adds a change, within the bounds.
    pub fn push(&mut self, change: UnitChange) {
        if let Some(known) = self.units.iter_mut().find(|known| known.unit == change.unit) {
            known.added += change.added;
            known.removed += change.removed;
        } else if self.units.len() < UNITS {
            let excerpt = cut(change.excerpt.trim(), EXCERPT).to_owned();
            self.units.push(UnitChange { excerpt, ..change });
        } else {
            self.more += 1;
        }
    }
}

/// A revision as a reader is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its number.
    pub revision: u64,
    /// Who made it.
    pub actor: Actor,
    /// The line that was given with it.
    pub summary: String,
    /// What was kept of it.
    pub digest: Digest,
}

/// The changes after `acknowledged` that are not the reader's own.
pub fn others(changes: &[Change], acknowledged: u64, reader: &Actor) -> Vec<Change> {
    changes.iter().filter(|change| change.revision > acknowledged && &change.actor != reader).cloned().collect()
}

/// Tells changes in at most `budget` bytes, the newest being told for sure.
///
/// Revisions of one actor in a row are told as one: a person who saves often made one edit.
pub fn summarise(changes: &[Change], budget: usize) -> String {
    let mut groups: Vec<(&Change, Vec<&Change>)> = Vec::new();
    for change in changes {
        match groups.last_mut() {
            Some((first, group)) if first.actor == change.actor => group.push(change),
            _ => groups.push((change, vec![change])),
        }
    }
    // Newest first, so that what the budget cuts off is the oldest.
    let rows: Vec<String> = groups.iter().rev().flat_map(|(first, group)| told(first, group)).collect();
    bounded(&rows, budget)
}

fn told(first: &Change, group: &[&Change]) -> Vec<String> {
    let last = group[group.len() - 1];
    let numbers = match group.len() {
        1 => format!("revision {}", first.revision),
        _ => format!("revisions {}-{}", first.revision, last.revision),
    };
    let mut summaries: Vec<&str> = group.iter().map(|change| change.summary.trim()).filter(|s| !s.is_empty()).collect();
    summaries.dedup();
    let mut rows = vec![format!("{numbers} by {} {}: {}", first.actor.kind, first.actor.id, summaries.join("; "))];
    let mut all = Digest::default();
    let mut more = 0;
    for change in group.iter().rev() {
        more += change.digest.more;
        change.digest.units.iter().for_each(|unit| all.push(unit.clone()));
    }
    for unit in &all.units {
        let name = if unit.unit.is_empty() { "text" } else { unit.unit.as_str() };
        let excerpt = unit.excerpt.replace('\n', " ⏎ ");
        rows.push(format!("  {name}: +{} -{} {excerpt}", unit.added, unit.removed));
    }
    if all.more + more > 0 {
        rows.push(format!("  and {} more places", all.more + more));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Actor, AgentId};
    use proptest::prelude::*;

    fn change(revision: u64, actor: &Actor, unit: &str, excerpt: &str) -> Change {
        let mut digest = Digest::default();
        digest.push(UnitChange { unit: unit.into(), added: 1, removed: 0, excerpt: excerpt.into() });
        Change { revision, actor: actor.clone(), summary: format!("edit {unit}"), digest }
    }

    #[test]
    fn a_reader_is_never_told_of_its_own_changes_nor_of_what_it_has_seen() {
        let (person, agent) = (Actor::person(), Actor::agent(&AgentId::from("a_1")));
        let changes = [change(1, &person, "A", "x"), change(2, &agent, "B", "y"), change(3, &person, "C", "z")];
        let told: Vec<_> = others(&changes, 1, &agent).into_iter().map(|change| change.revision).collect();
        assert_eq!(told, [3]);
    }

    #[test]
    fn saves_in_a_row_are_told_as_one_edit() {
        let person = Actor::person();
        let changes = [
            change(4, &person, "Intro", "a"),
            change(5, &person, "Intro", "new words"),
            change(6, &person, "End", "z"),
        ];
        let text = summarise(&changes, 1000);
        assert_eq!(
            text,
            "revisions 4-6 by person person: edit Intro; edit End\n  End: +1 -0 z\n  Intro: +2 -0 new words\n"
        );
    }

    proptest! {
        #[test]
        fn a_summary_keeps_its_budget_and_tells_the_newest(n in 1u64..60, budget in 200usize..2000, words in "[a-z京]{0,400}") {
            let actors = [Actor::person(), Actor::system()];
            let changes: Vec<_> = (1..=n).map(|r| change(r, &actors[(r % 2) as usize], &format!("Unit {r}"), &words)).collect();
            let text = summarise(&changes, budget);
            prop_assert!(text.len() <= budget, "{} > {budget}", text.len());
            let newest = format!("revision {n} ");
            prop_assert!(text.starts_with(&newest));
        }

        #[test]
        fn a_digest_stays_small_whatever_changed(units in proptest::collection::vec("[a-z]{0,40}", 0..200), words in "[a-z京]{0,3000}") {
            let mut digest = Digest::default();
            for unit in &units {
                digest.push(UnitChange { unit: unit.clone(), added: 1, removed: 1, excerpt: words.clone() });
            }
            prop_assert!(digest.units.len() <= 12);
            prop_assert!(digest.units.iter().all(|unit| unit.excerpt.len() <= 240));
        }
    }
}
