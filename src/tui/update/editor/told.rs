//! What the host says to the Editor: texts, receipts, what others committed.

use super::super::super::action::Effect;
use super::super::super::editor::conflict::{Conflict, Stage};
use super::super::super::editor::doc::{Doc, Show};
use super::super::super::editor::review::Difference;
use super::super::super::editor::{EditorAsk, EditorNews, Opened};
use super::super::super::model::{Model, Refresh};
use super::super::submit;
use super::{TELL_AFTER, ask, keep, listed_for_picker, open, review};
use crate::domain::command::resource::{Change, ResourceDeed};
use crate::domain::{CommandId, EditReceipt, Event, Receipt, ResourceId, UserCommand};

/// How far behind the revisions are taken one by one, each with its author.
const ONE_BY_ONE: u64 = 8;

/// Something that was asked for is there.
pub(in super::super) fn news(model: &mut Model, news: EditorNews) -> Vec<Effect> {
    match news {
        EditorNews::Listed(resources, waiting) => {
            let chosen = model.editor.chosen().map(|resource| resource.id.clone());
            let at = resources.iter().position(|resource| Some(&resource.id) == chosen.as_ref());
            model.editor.chosen = at.unwrap_or(model.editor.chosen).min(resources.len().saturating_sub(1));
            (model.editor.list, model.editor.waiting) = (resources, waiting);
            listed_for_picker(model);
            if model.editor.refresh.answered() { vec![Effect::Editor(EditorAsk::List)] } else { Vec::new() }
        }
        EditorNews::Opened(opened) => opened_one(model, *opened),
        EditorNews::Unopened(why) => {
            model.editor.opening = None;
            model.warn(why);
            Vec::new()
        }
        EditorNews::Caught { resource, to, by, patch } => {
            let Some(doc) = of(model, &resource) else { return Vec::new() };
            doc.asked = false;
            // A save that was sent meanwhile has the first word.
            if doc.saving.is_some() || doc.buffer.revision() >= to && doc.apart.is_none() {
                return catch_up(model);
            }
            if doc.apart.is_none() && doc.buffer.meets(&patch) {
                doc.held = Some(by);
                return Vec::new();
            }
            if let Err(refusal) = doc.take(&patch, to, &by) {
                model.warn(refusal.to_string());
                return open_again(model);
            }
            (doc.apart, doc.leaves) = (None, false);
            let mut effects = ask_authors(doc);
            effects.extend(catch_up(model));
            effects
        }
        EditorNews::Blamed(resource, revision, blame) => {
            if let Some(doc) = of(model, &resource) {
                doc.take_blame(revision, blame);
            }
            Vec::new()
        }
        EditorNews::History(resource, revisions, candidates) => review::listed(model, &resource, revisions, candidates),
        EditorNews::Compared(what, diff) => {
            let Some(doc) = &mut model.editor.doc else { return Vec::new() };
            let shown: Option<&mut Difference> = match &mut doc.show {
                Show::History(history) => Some(&mut history.diff),
                Show::Candidates(review) => Some(&mut review.diff),
                Show::Text | Show::Conflict(_) => None,
            };
            if let Some(shown) = shown.filter(|shown| shown.of.as_ref() == Some(&what)) {
                shown.text = Some(diff);
            }
            Vec::new()
        }
        EditorNews::Sides(sides) => {
            let Some(doc) = of(model, &sides.candidate.resource.clone()) else { return Vec::new() };
            doc.latest = doc.latest.max(sides.onto);
            // Who said that what fits is to be merged need not say it again because others went on.
            let goes_on =
                matches!(&doc.show, Show::Conflict(before) if before.fits() && before.stage != Stage::Deciding);
            let wanted = std::mem::take(&mut doc.merges);
            let is_ours = doc.apart.as_ref() == Some(&sides.candidate.id);
            let mut conflict = Conflict::new(*sides, wanted || !is_ours);
            let settles = (goes_on || wanted) && conflict.fits();
            if is_ours && doc.buffer.is_dirty() && !settles {
                // Who wrote on meanwhile is not interrupted; the head says how it stands.
                return Vec::new();
            }
            conflict.is_entered &= !settles;
            doc.show = Show::Conflict(Box::new(conflict));
            if settles { review::settle(model) } else { Vec::new() }
        }
        EditorNews::Unanswered(why) => {
            unanswered(model);
            model.warn(why);
            Vec::new()
        }
    }
}

/// The document, if it is this one.
fn of<'a>(model: &'a mut Model, resource: &ResourceId) -> Option<&'a mut Doc> {
    model.editor.doc.as_deref_mut().filter(|doc| doc.resource.id == *resource)
}

fn opened_one(model: &mut Model, opened: Opened) -> Vec<Effect> {
    if model.editor.opening.as_ref() != Some(&opened.resource.id) {
        return Vec::new();
    }
    model.editor.opening = None;
    let had_draft = opened.draft.is_some();
    match Doc::open(opened) {
        Ok(doc) => {
            let unsaved = had_draft && doc.buffer.is_dirty();
            model.editor.doc = Some(Box::new(doc));
            if unsaved {
                model.say("what was not saved is back; undo takes it out");
            }
            catch_up(model)
        }
        Err(refusal) => {
            model.warn(refusal.to_string());
            Vec::new()
        }
    }
}

/// Opens the document from its beginning: what is here fits no revision.
fn open_again(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = model.editor.doc.take() else { return Vec::new() };
    open(model, doc.resource.id)
}

/// Asks for the next revision where there is one that is not here.
pub(super) fn catch_up(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let here = doc.buffer.revision();
    let decides = doc.apart.is_some() && !doc.leaves;
    let waits = doc.asked || doc.saving.is_some() || doc.held.is_some() || decides;
    if waits || (doc.latest <= here && doc.apart.is_none()) {
        return Vec::new();
    }
    doc.asked = true;
    let to = if doc.latest - here > ONE_BY_ONE || doc.apart.is_some() { doc.latest } else { here + 1 };
    let (resource, from) = (doc.resource.id.clone(), doc.buffer.base_text());
    vec![Effect::Editor(EditorAsk::Catch { resource, from, to })]
}

/// Asks who wrote the lines, where that is shown and not known.
pub(super) fn ask_authors(doc: &mut Doc) -> Vec<Effect> {
    let revision = doc.buffer.revision();
    let known = doc.authors.as_ref().is_some_and(|authors| authors.revision == revision);
    if !doc.shows_authors || known {
        return Vec::new();
    }
    vec![Effect::Editor(EditorAsk::Blame { resource: doc.resource.id.clone(), revision })]
}

/// A deed was carried out.
pub(in super::super) fn accepted(
    model: &mut Model,
    id: &CommandId,
    deed: &ResourceDeed<Change>,
    receipt: Receipt,
) -> Vec<Effect> {
    let EditReceipt { resource, revision, candidate, .. } = receipt.edit.unwrap_or_default();
    match deed {
        ResourceDeed::Create { .. } => return resource.map_or_else(Vec::new, |id| open(model, id)),
        ResourceDeed::Select { .. } => return Vec::new(),
        _ => {}
    }
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    if doc.saving.as_ref() == Some(id) {
        doc.saving = None;
        if let ResourceDeed::Revise { candidate, .. } = deed {
            // What stands apart holds now what was written since.
            let seen = doc.buffer.revision();
            doc.buffer.saved(seen);
            let sides = Effect::Editor(EditorAsk::Sides(candidate.clone()));
            return if doc.merges { vec![sides] } else { Vec::new() };
        }
        let effects = match (revision, candidate) {
            (Some(revision), _) => {
                doc.buffer.saved(revision);
                doc.merges = false;
                doc.latest = doc.latest.max(revision);
                let mut effects = keep(doc);
                effects.extend(ask_authors(doc));
                model.say(format!("saved as revision {revision}"));
                effects
            }
            (None, Some(candidate)) => {
                // Others were faster: the text stands apart, as a Candidate.
                let seen = doc.buffer.revision();
                doc.buffer.saved(seen);
                doc.held = None;
                doc.apart = Some(candidate.clone());
                let mut effects = keep(doc);
                effects.push(Effect::Editor(EditorAsk::Sides(candidate)));
                effects
            }
            (None, None) => {
                doc.buffer.save_refused();
                Vec::new()
            }
        };
        let mut effects = effects;
        effects.extend(catch_up_unless_apart(model));
        return effects;
    }
    match deed {
        ResourceDeed::Rebase { candidate: old, .. } => match candidate {
            Some(new) => {
                let mut is_ours = false;
                if let Show::Conflict(conflict) = &mut doc.show
                    && conflict.candidate.id == *old
                {
                    conflict.stage = Stage::Accepting(new.clone());
                    is_ours = true;
                }
                let deed = ResourceDeed::Accept { candidate: new };
                if is_ours { submit(model, UserCommand::Resource { deed }, None) } else { Vec::new() }
            }
            // All of it is in the Resource already.
            None => review::leave(model),
        },
        ResourceDeed::Accept { candidate } => {
            if let Some(revision) = revision {
                doc.latest = doc.latest.max(revision);
            }
            let ours =
                matches!(&doc.show, Show::Conflict(conflict) if conflict.stage == Stage::Accepting(candidate.clone()));
            if ours {
                doc.show = Show::Text;
                doc.leaves = true;
            }
            let said = revision.map(|revision| format!("revision {revision} holds both"));
            if let Some(said) = said.filter(|_| ours) {
                model.say(said);
            }
            let mut effects = catch_up(model);
            effects.extend(review::look_again(model));
            effects
        }
        ResourceDeed::Reject { .. } => review::look_again(model),
        ResourceDeed::Commit { .. } => {
            if let Some(revision) = revision {
                doc.latest = doc.latest.max(revision);
                model.say(format!("brought back as revision {revision}"));
            }
            catch_up(model)
        }
        _ => Vec::new(),
    }
}

fn catch_up_unless_apart(model: &mut Model) -> Vec<Effect> {
    if model.editor.doc.as_ref().is_some_and(|doc| doc.apart.is_some()) { Vec::new() } else { catch_up(model) }
}

/// A deed was refused; why is said.
pub(in super::super) fn refused(model: &mut Model, id: &CommandId, deed: &ResourceDeed<Change>) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    if doc.saving.as_ref() == Some(id) {
        doc.saving = None;
        doc.merges = false;
        doc.buffer.save_refused();
        return catch_up(model);
    }
    let Show::Conflict(conflict) = &mut doc.show else { return Vec::new() };
    // The Resource went on meanwhile: the pieces are looked at anew.
    let candidate = match (deed, &conflict.stage) {
        (ResourceDeed::Accept { .. }, Stage::Accepting(new)) => new.clone(),
        (ResourceDeed::Rebase { candidate, .. }, _) => candidate.clone(),
        _ => return Vec::new(),
    };
    if conflict.fits() {
        model.hint = None;
    } else {
        conflict.stage = Stage::Deciding;
    }
    vec![Effect::Editor(EditorAsk::Sides(candidate))]
}

/// Something happened to a Resource.
pub(in super::super) fn heard(model: &mut Model, event: &Event) -> Vec<Effect> {
    let mut effects = Vec::new();
    match event {
        Event::RevisionCommitted { revision } => {
            if let Some(doc) = of(model, &revision.resource) {
                doc.latest = doc.latest.max(revision.number);
                effects.extend(catch_up(model));
            }
        }
        Event::ResourceRenamed { resource, name } => {
            if let Some(doc) = of(model, resource) {
                doc.resource.name = name.clone();
            }
        }
        Event::ResourceRemoved { resource, name } => {
            if of(model, resource).is_some() {
                model.editor.doc = None;
                model.warn(format!("{name} was removed"));
            }
        }
        Event::ResourceCreated { .. }
        | Event::ResourceMirrored { .. }
        | Event::CandidateKept { .. }
        | Event::CandidateMoved { .. } => {}
        _ => return Vec::new(),
    }
    if model.holds_something(super::Pane::Editor) || model.focus == super::Focus::Side(super::Pane::Editor) {
        effects.extend(ask(model));
    }
    if let Event::CandidateKept { .. } | Event::CandidateMoved { .. } = event {
        effects.extend(review::look_again(model));
    }
    effects
}

/// The connection stands again: what was asked of the one before is not answered any more.
pub(in super::super) fn connected(model: &mut Model) -> Vec<Effect> {
    unanswered(model);
    let now = model.now;
    let mut effects = ask(model);
    if let Some(doc) = &mut model.editor.doc {
        doc.due = doc.buffer.is_dirty().then_some(now + TELL_AFTER).or(doc.due);
    }
    if let Some(opening) = model.editor.opening.clone() {
        effects.extend(open(model, opening));
    }
    effects.extend(catch_up_unless_apart(model));
    effects
}

/// A question is not answered: it may be asked again.
pub(in super::super) fn unanswered(model: &mut Model) {
    model.editor.refresh = Refresh::default();
    if let Some(doc) = &mut model.editor.doc {
        (doc.asked, doc.merges) = (false, false);
    }
}
