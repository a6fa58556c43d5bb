//! Looking back, judging Candidates, deciding conflicts.

use super::super::super::action::{Effect, Step};
use super::super::super::editor::conflict::Stage;
use super::super::super::editor::doc::Show;
use super::super::super::editor::review::{Difference, History, Review, revision};
use super::super::super::editor::{EditorAsk, Outside};
use super::super::super::model::Model;
use super::super::submit;
use super::told;
use crate::domain::command::resource::{Change, How, ResourceDeed};
use crate::domain::{Candidate, CandidateState, ContentOf, Delivery, ResourceId, Revision, UserCommand};
use crate::resources::merge::Choice;

/// Goes back to the text. A conflict that is left stays as a Candidate; the text is that of the
/// revision that stands.
pub(super) fn leave(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    doc.show = Show::Text;
    doc.leaves = doc.apart.is_some();
    if doc.leaves {
        model.say("your text is kept as a Candidate; the revision that stands is shown");
    }
    told::catch_up(model)
}

/// Scrolls what is shown.
pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let page = usize::from(doc.area.height).max(1);
    // The drawing stops at the end; what lies behind it is not known here.
    let scrolled = |at: usize| step.apply(at, usize::MAX / 2, page).min(at + page);
    match &mut doc.show {
        Show::Text => doc.scroll(step),
        Show::History(history) => history.diff.scroll = scrolled(history.diff.scroll),
        Show::Candidates(review) => review.diff.scroll = scrolled(review.diff.scroll),
        Show::Conflict(conflict) => conflict.scroll = scrolled(conflict.scroll),
    }
    Vec::new()
}

/// Shows the revisions.
pub(super) fn history(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    doc.show = Show::History(History::default());
    vec![Effect::Editor(EditorAsk::History(doc.resource.id.clone()))]
}

/// Shows the Candidates.
pub(super) fn candidates(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    doc.show = Show::Candidates(Review::default());
    vec![Effect::Editor(EditorAsk::History(doc.resource.id.clone()))]
}

/// Something became of a Candidate or a revision: what is listed is asked for again.
pub(super) fn look_again(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    match doc.show {
        Show::History(_) | Show::Candidates(_) => vec![Effect::Editor(EditorAsk::History(doc.resource.id.clone()))],
        Show::Text | Show::Conflict(_) => Vec::new(),
    }
}

/// The revisions and Candidates are there.
pub(super) fn listed(
    model: &mut Model,
    resource: &ResourceId,
    mut revisions: Vec<Revision>,
    candidates: Vec<Candidate>,
) -> Vec<Effect> {
    let Some(doc) = model.editor.doc.as_deref_mut().filter(|doc| doc.resource.id == *resource) else {
        return Vec::new();
    };
    revisions.reverse();
    match &mut doc.show {
        Show::History(history) => {
            let was_newest = history.at + 1 >= history.revisions.len();
            history.revisions = revisions;
            if was_newest {
                history.at = history.revisions.len().saturating_sub(1);
            }
            compare_revision(history)
        }
        Show::Candidates(review) => {
            let shown = review.shown().map(|candidate| candidate.id.clone());
            let at = candidates.iter().position(|candidate| Some(&candidate.id) == shown.as_ref());
            review.at = at.unwrap_or(review.at).min(candidates.len().saturating_sub(1));
            review.candidates = candidates;
            compare_candidate(review)
        }
        Show::Text | Show::Conflict(_) => Vec::new(),
    }
}

/// Asks for the difference of the revision that is shown to the one before it.
fn compare_revision(history: &mut History) -> Vec<Effect> {
    let Some(shown) = history.shown() else { return Vec::new() };
    let to = revision(&shown.resource, shown.number);
    let from = shown.number.checked_sub(1).map(|before| revision(&shown.resource, before));
    wait(&mut history.diff, from, to)
}

/// Asks for what the Candidate that is shown changes.
fn compare_candidate(review: &mut Review) -> Vec<Effect> {
    let Some(shown) = review.shown() else { return Vec::new() };
    let (from, to) = (revision(&shown.resource, shown.base), ContentOf::Candidate(shown.id.clone()));
    wait(&mut review.diff, Some(from), to)
}

fn wait(diff: &mut Difference, from: Option<ContentOf>, to: ContentOf) -> Vec<Effect> {
    if diff.of.as_ref() == Some(&to) {
        return Vec::new();
    }
    *diff = Difference::wait(to.clone());
    vec![Effect::Editor(EditorAsk::Compare { from, to })]
}

/// Goes to an older or a newer revision.
pub(super) fn slide(model: &mut Model, step: Step) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let Show::History(history) = &mut doc.show else { return Vec::new() };
    history.at = step.apply(history.at, history.revisions.len(), 10);
    compare_revision(history)
}

/// Chooses among the Candidates.
pub(super) fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let Show::Candidates(review) = &mut doc.show else { return Vec::new() };
    review.at = step.apply(review.at, review.candidates.len(), 5);
    compare_candidate(review)
}

/// Makes the revision that is shown the newest one.
pub(super) fn bring_back(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let Show::History(history) = &doc.show else { return Vec::new() };
    let Some(number) = history.shown().map(|shown| shown.number) else { return Vec::new() };
    if number == doc.latest {
        model.say("this is the revision that stands");
        return Vec::new();
    }
    if doc.buffer.is_dirty() {
        model.warn("there is text that is not saved: save it, or take it back, first");
        return Vec::new();
    }
    let change = Change { how: How::Revision(number), summary: String::new() };
    let deed = ResourceDeed::Commit { resource: doc.resource.id.clone(), base: doc.latest, by: None, change };
    doc.show = Show::Text;
    submit(model, UserCommand::Resource { deed }, None)
}

/// The Candidate that is shown.
fn shown(model: &Model) -> Option<&Candidate> {
    match &model.editor.doc.as_ref()?.show {
        Show::Candidates(review) => review.shown(),
        Show::Text | Show::History(_) | Show::Conflict(_) => None,
    }
}

/// Makes the chosen Candidate a revision; one that came too late is merged first.
pub(super) fn accept(model: &mut Model) -> Vec<Effect> {
    let Some(candidate) = shown(model) else { return Vec::new() };
    let (candidate, state) = (candidate.id.clone(), candidate.state);
    if state == CandidateState::Conflict {
        return merge(model);
    }
    submit(model, UserCommand::Resource { deed: ResourceDeed::Accept { candidate } }, None)
}

/// Decides against the chosen Candidate.
pub(super) fn reject(model: &mut Model) -> Vec<Effect> {
    let Some(candidate) = shown(model).map(|candidate| candidate.id.clone()) else { return Vec::new() };
    submit(model, UserCommand::Resource { deed: ResourceDeed::Reject { candidate, because: None } }, None)
}

/// Looks at the chosen Candidate piece by piece.
pub(super) fn merge(model: &mut Model) -> Vec<Effect> {
    let Some(candidate) = shown(model).map(|candidate| candidate.id.clone()) else { return Vec::new() };
    vec![Effect::Editor(EditorAsk::Sides(candidate))]
}

/// Goes to another piece.
pub(super) fn piece(model: &mut Model, step: Step) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let Show::Conflict(conflict) = &mut doc.show else { return Vec::new() };
    conflict.at = step.apply(conflict.at, conflict.pieces.len(), 5);
    conflict.scroll = 0;
    Vec::new()
}

/// Decides the piece.
pub(super) fn take(model: &mut Model, choice: Choice) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    if let Show::Conflict(conflict) = &mut doc.show {
        conflict.take(choice);
    }
    Vec::new()
}

/// Has the piece written by hand.
pub(super) fn by_hand(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &model.editor.doc else { return Vec::new() };
    let text = doc.for_outside(Outside::Piece);
    model.editor.outside = Some(Outside::Piece);
    vec![Effect::EditOutside(text)]
}

/// Makes what was decided a new Candidate on the revision that stands, and that one the next revision.
pub(super) fn settle(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let Show::Conflict(conflict) = &mut doc.show else { return Vec::new() };
    if conflict.stage != Stage::Deciding {
        return Vec::new();
    }
    let Some(choices) = conflict.decided() else {
        let open = conflict.open();
        model.say(format!("{open} still to decide"));
        return Vec::new();
    };
    conflict.stage = Stage::Merging;
    let choices = choices.iter().filter_map(|choice| serde_json::to_value(choice).ok()).collect();
    let change = Change { how: How::Merge(choices), summary: String::new() };
    let deed = ResourceDeed::Rebase { candidate: conflict.candidate.id.clone(), onto: conflict.onto, change };
    submit(model, UserCommand::Resource { deed }, None)
}

/// Hands the conflict to Main, with the three texts.
pub(super) fn to_main(model: &mut Model) -> Vec<Effect> {
    let Some(task) = model.wanted.clone() else {
        model.say("there is no Task yet: Main begins with what you say in the chat");
        return Vec::new();
    };
    let Some(doc) = &model.editor.doc else { return Vec::new() };
    let Show::Conflict(conflict) = &doc.show else { return Vec::new() };
    let text = conflict.for_main(&doc.resource.name);
    let refs = Vec::new();
    let mut effects = submit(model, UserCommand::SendMessage { task, text, refs, delivery: Delivery::Boundary }, None);
    effects.extend(leave(model));
    model.say("Main has the conflict; your text is kept as a Candidate");
    effects
}
