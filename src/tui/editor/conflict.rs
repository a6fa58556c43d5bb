//! A Candidate that came too late, piece by piece: what it was, what the others made of it, and mine.

use super::Sides;
use crate::domain::{Actor, Candidate, CandidateId};
use crate::resources::Piece;
use crate::resources::merge::{self, Choice, TextMerge};
use crate::resources::text::Syntax;

/// How far the way from what was decided to the next revision is.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// Pieces are being decided.
    Deciding,
    /// The merge is on its way to be a new Candidate.
    Merging,
    /// The new Candidate is on its way to be a revision.
    Accepting(CandidateId),
}

/// A conflict that is being decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Conflict {
    /// The Candidate.
    pub candidate: Candidate,
    /// Who wrote the revision that stands.
    pub by: Actor,
    /// The revision that stands.
    pub onto: u64,
    /// The pieces that do not fit.
    pub pieces: Vec<Piece>,
    /// What was decided of each.
    pub choices: Vec<Option<Choice>>,
    /// The piece that is looked at.
    pub at: usize,
    /// How far it is scrolled.
    pub scroll: usize,
    /// How far it is.
    pub stage: Stage,
    /// Whether the person went into it. One that came by itself while they wrote takes no letters:
    /// these go on into their text.
    pub is_entered: bool,
}

impl Conflict {
    /// Opens one: what fits together is merged already.
    pub fn new(sides: Sides, is_entered: bool) -> Self {
        let Sides { candidate, by, onto, base, theirs, mine, media_type } = sides;
        let syntax = Syntax::of_media_type(&media_type);
        let merged: TextMerge = merge::texts(&base, &theirs, &mine, syntax.grain());
        let pieces = merged.pieces("", |line| crate::resources::text::outline::title_at(&outline(&base, syntax), line));
        let choices = vec![None; pieces.len()];
        Self { candidate, by, onto, pieces, choices, at: 0, scroll: 0, stage: Stage::Deciding, is_entered }
    }

    /// How many pieces nobody has decided yet.
    pub fn open(&self) -> usize {
        self.choices.iter().filter(|choice| choice.is_none()).count()
    }

    /// Whether all of it fits together.
    pub fn fits(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Decides the piece that is looked at, and goes to the next one that is open.
    pub fn take(&mut self, choice: Choice) {
        let Some(place) = self.choices.get_mut(self.at) else { return };
        *place = Some(choice);
        let after = (self.at + 1..self.choices.len()).chain(0..self.at);
        if let Some(open) = after.into_iter().find(|at| self.choices[*at].is_none()) {
            (self.at, self.scroll) = (open, 0);
        }
    }

    /// The choices in order, once every piece is decided.
    pub fn decided(&self) -> Option<Vec<Choice>> {
        self.choices.iter().cloned().collect()
    }

    /// What a person begins with who writes the piece by hand.
    pub fn by_hand(&self) -> String {
        match (self.choices.get(self.at), self.pieces.get(self.at)) {
            (Some(Some(Choice::Custom { text })), _) => text.clone(),
            (_, Some(piece)) => format!("{}{}", ended(&piece.theirs), piece.mine),
            (_, None) => String::new(),
        }
    }

    /// The conflict in words for Main: what it is, and the three texts of each piece.
    pub fn for_main(&self, name: &str) -> String {
        let Candidate { id, base, .. } = &self.candidate;
        let mut words = format!(
            "My edit of `{name}` was made on revision {base} and revision {} stands now: it is kept as Candidate {id}. \
             Please merge the two so that both intentions hold, and commit it on the newest revision; then reject {id}.\n",
            self.onto
        );
        for (ix, piece) in self.pieces.iter().enumerate() {
            words.push_str(&format!("\n## Piece {}\n", ix + 1));
            for (side, text) in
                [("It was", &piece.base), ("They made of it", &piece.theirs), ("I made of it", &piece.mine)]
            {
                words.push_str(&format!("\n{side}:\n\n~~~~\n{}~~~~\n", ended(text)));
            }
        }
        words
    }
}

fn outline(text: &str, syntax: Syntax) -> Vec<crate::resources::text::outline::Section> {
    crate::resources::text::outline::outline(text, syntax)
}

/// A text whose last line has an end.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CandidateState, Made};

    fn conflict(base: &str, theirs: &str, mine: &str) -> Conflict {
        let made = Made { content: String::new(), size: 0, summary: String::new(), digest: Default::default() };
        let candidate = Candidate {
            id: "w_1".into(),
            resource: "d_1".into(),
            base: 0,
            actor: Actor::person(),
            state: CandidateState::Conflict,
            made,
            because: None,
            settled_by: None,
            revision: None,
            rebased_to: None,
            at: 0,
        };
        let (base, theirs, mine) = (base.to_owned(), theirs.to_owned(), mine.to_owned());
        let media_type = "text/x-rust".to_owned();
        let sides = Sides { candidate, by: Actor::system(), onto: 1, base, theirs, mine, media_type };
        Conflict::new(sides, true)
    }

    #[test]
    fn what_fits_together_leaves_nothing_to_decide() {
        let conflict = conflict("a\n\nb\n\nc\n", "A\n\nb\n\nc\n", "a\n\nb\n\nC\n");
        assert_eq!((conflict.open(), conflict.decided()), (0, Some(Vec::new())));
    }

    #[test]
    fn each_piece_is_decided_and_the_next_open_one_comes_by_itself() {
        let mut conflict = conflict("a\n\nb\n\nc\n", "t1\n\nb\n\nt2\n", "m1\n\nb\n\nm2\n");
        assert_eq!((conflict.pieces.len(), conflict.open()), (2, 2));
        conflict.at = 1;
        conflict.take(Choice::Mine);
        assert_eq!((conflict.at, conflict.decided()), (0, None));
        assert_eq!(conflict.by_hand(), "t1\nm1\n");
        conflict.take(Choice::Theirs);
        assert_eq!(conflict.decided(), Some(vec![Choice::Theirs, Choice::Mine]));
        let words = conflict.for_main("a.rs");
        assert!(words.contains("w_1") && words.contains("t1") && words.contains("m2") && words.contains("Piece 2"));
    }
}
