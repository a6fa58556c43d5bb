//! The Editor: the list of Resources, and writing in the document that is open.

mod review;
mod told;

use super::super::action::{Effect, Pane};
use super::super::editor::conflict::Stage;
use super::super::editor::doc::{Doc, Show};
use super::super::editor::rows::TAB;
use super::super::editor::{EditorAct, EditorAsk, Outside, kept_as};
use super::super::model::{Focus, Model};
use super::super::picker::{Item, Kind, Wish};
use super::super::text;
use super::{pick, submit};
use crate::domain::command::resource::{Change, How, ResourceDeed};
use crate::domain::{Millis, ResourceId, Selection as Selected, UserCommand};
use crate::resources::delta::Patch;
use crate::resources::editor::{Case, Motion, Pattern, Query, Reach, Save, Selection};
use crate::resources::text::operation::{ByteEdit, Operation};
pub(super) use told::{accepted, connected, heard, news, refused, unanswered};

/// How long after the last key what is not saved is kept, and what is selected is told.
const TELL_AFTER: Millis = 300;

/// Does it.
pub(super) fn act(model: &mut Model, act: EditorAct) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return list(model, act) };
    let before = doc.buffer.selection();
    if let Show::Conflict(conflict) = &doc.show
        && !conflict.is_entered
        && conflict.stage == Stage::Deciding
        && !matches!(act, EditorAct::Save | EditorAct::Leave)
    {
        // Who goes on writing is back in the text; the head says how it stands.
        doc.show = Show::Text;
    }
    let effects = match act {
        EditorAct::Type(c) => change(doc, |doc| doc.buffer.insert(c.encode_utf8(&mut [0; 4]))),
        EditorAct::Paste(text) => change(doc, |doc| doc.buffer.insert(&text)),
        EditorAct::Newline => change(doc, |doc| doc.buffer.newline()),
        EditorAct::Indent if doc.buffer.selection().is_empty() => change(doc, |doc| doc.buffer.insert("    ")),
        EditorAct::Indent => change(doc, |doc| doc.buffer.indent("    ")),
        EditorAct::Outdent => change(doc, |doc| doc.buffer.outdent(TAB)),
        EditorAct::Delete(what) => change(doc, |doc| doc.buffer.delete(what)),
        EditorAct::Undo => change(doc, |doc| doc.buffer.undo()),
        EditorAct::Redo => change(doc, |doc| doc.buffer.redo()),
        EditorAct::Go(motion, reach) => {
            doc.go(motion, reach);
            Vec::new()
        }
        EditorAct::Rows(step, reach) => {
            doc.go_rows(step, reach);
            Vec::new()
        }
        EditorAct::SelectAll => {
            doc.buffer.select(Selection { anchor: 0, head: doc.buffer.len() });
            Vec::new()
        }
        EditorAct::Copy => vec![Effect::Copy(doc.buffer.selected().into_owned())],
        EditorAct::Cut => {
            let cut = Effect::Copy(doc.buffer.selected().into_owned());
            doc.buffer.insert("");
            doc.changed();
            vec![cut]
        }
        EditorAct::Save => save(model),
        EditorAct::FindNext => seek(model, Seek::Next),
        EditorAct::FindPrevious => seek(model, Seek::Previous),
        EditorAct::Replace => replace(model),
        EditorAct::ReplaceAll => replace_all(model),
        EditorAct::NextChange => next_change(model),
        EditorAct::ToggleAuthors => {
            doc.shows_authors = !doc.shows_authors;
            told::ask_authors(doc)
        }
        EditorAct::TogglePreview => {
            if doc.is_markdown() {
                doc.preview = !doc.preview;
            } else {
                model.say("only Markdown is read in another form than it is written in");
            }
            Vec::new()
        }
        EditorAct::Outside => {
            let text = doc.for_outside(Outside::Text);
            model.editor.outside = Some(Outside::Text);
            vec![Effect::EditOutside(text)]
        }
        EditorAct::Close => return close(model),
        EditorAct::Scroll(step) => review::scroll(model, step),
        EditorAct::Choose(step) => review::choose(model, step),
        EditorAct::Open => Vec::new(),
        EditorAct::Leave => review::leave(model),
        EditorAct::History => review::history(model),
        EditorAct::Slide(step) => review::slide(model, step),
        EditorAct::BringBack => review::bring_back(model),
        EditorAct::Candidates => review::candidates(model),
        EditorAct::Accept => review::accept(model),
        EditorAct::Reject => review::reject(model),
        EditorAct::Merge => review::merge(model),
        EditorAct::Piece(step) => review::piece(model, step),
        EditorAct::Take(choice) => review::take(model, choice),
        EditorAct::ByHand => review::by_hand(model),
        EditorAct::Settle => review::settle(model),
        EditorAct::ToMain => review::to_main(model),
    };
    notice(model, before);
    let mut effects = effects;
    effects.extend(told::catch_up(model));
    effects
}

/// Changes the text.
fn change<T>(doc: &mut Doc, change: impl FnOnce(&mut Doc) -> T) -> Vec<Effect> {
    change(doc);
    doc.changed();
    Vec::new()
}

/// What is not saved, or selected, is told to the host a moment after the last key.
fn notice(model: &mut Model, before: Selection) {
    let now = model.now;
    let Some(doc) = &mut model.editor.doc else { return };
    let selects = doc.buffer.selection() != before;
    let unsaved = doc.buffer.is_dirty();
    if unsaved || doc.is_kept || selects {
        doc.due = Some(now + TELL_AFTER);
    }
    if !unsaved {
        doc.held = None;
    }
}

/// Time passed: tells the host what is not saved, and what is selected.
pub(super) fn tick(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    match doc.due {
        Some(due) if due <= model.now => tell(model),
        Some(_) | None => Vec::new(),
    }
}

/// Tells it now.
pub(super) fn tell(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    doc.due = None;
    if doc.apart.is_some() {
        return revise_apart(model);
    }
    let mut effects = keep(doc);
    let range = doc.buffer.selection().range();
    if range == doc.told || (range.is_empty() && doc.told.is_empty()) {
        return effects;
    }
    let selection = (!range.is_empty()).then(|| Selected {
        revision: doc.buffer.revision(),
        part: doc.part.clone(),
        bytes: Some(doc.buffer.base_range(range.clone())),
        elements: Vec::new(),
        told: String::new(),
    });
    doc.told = range;
    let deed = ResourceDeed::Select { resource: doc.resource.id.clone(), selection };
    effects.extend(submit(model, UserCommand::Resource { deed }, None));
    effects
}

/// Has the host keep what is not saved, or forget it.
fn keep(doc: &mut Doc) -> Vec<Effect> {
    // What stands apart from the revisions is kept as a Candidate.
    let draft = doc.buffer.draft().filter(|_| doc.apart.is_none());
    if draft.is_none() && !doc.is_kept {
        return Vec::new();
    }
    doc.is_kept = draft.is_some();
    let text = draft.and_then(|draft| serde_json::to_string(&draft).ok()).unwrap_or_default();
    vec![Effect::KeepDraft { pane: kept_as(&doc.resource.id), text }]
}

/// What can be done in the list of Resources.
fn list(model: &mut Model, act: EditorAct) -> Vec<Effect> {
    match act {
        EditorAct::Choose(step) | EditorAct::Scroll(step) => {
            let page = model.layout.pane(Pane::Editor).map_or(1, |area| usize::from(area.height));
            model.editor.chosen = step.apply(model.editor.chosen, model.editor.list.len(), page);
            Vec::new()
        }
        EditorAct::Open => match model.editor.chosen().map(|resource| resource.id.clone()) {
            Some(id) => open(model, id),
            None => Vec::new(),
        },
        _ => {
            model.say("no document is open");
            Vec::new()
        }
    }
}

/// Asks which Resources there are, once at a time.
pub(super) fn ask(model: &mut Model) -> Vec<Effect> {
    if model.editor.refresh.ask() { vec![Effect::Editor(EditorAsk::List)] } else { Vec::new() }
}

/// Opens a document.
pub(super) fn open(model: &mut Model, resource: ResourceId) -> Vec<Effect> {
    model.focus = Focus::Side(Pane::Editor);
    model.sizes.hidden.remove(&Pane::Editor);
    if model.editor.doc.as_ref().is_some_and(|doc| doc.resource.id == resource) {
        return Vec::new();
    }
    let mut effects = tell(model);
    model.editor.opening = Some(resource.clone());
    let client = model.facts.client.clone();
    effects.push(Effect::Editor(EditorAsk::Open { resource, client }));
    effects
}

/// The documents to open, as items of the picker.
pub(super) fn items(model: &Model) -> Vec<Item> {
    let items = model.editor.list.iter().map(|resource| Item {
        text: text::line(&resource.name),
        detail: format!("{}  r{}", resource.kind, resource.revision),
        key: String::new(),
        pick: super::super::picker::Pick::Words(resource.id.0.clone()),
    });
    items.collect()
}

/// Opens what was picked: by its id, or by the name that was typed.
pub(super) fn open_named(model: &mut Model, word: &str) -> Vec<Effect> {
    let found = model.editor.list.iter().find(|resource| resource.id.0 == word || resource.name == word);
    match found.map(|resource| resource.id.clone()) {
        Some(id) => open(model, id),
        None => {
            model.warn(format!("there is no document `{}`; `/new-document` makes one", text::line(word)));
            Vec::new()
        }
    }
}

/// Makes an empty document, which opens once it is there.
pub(super) fn create(model: &mut Model, name: String) -> Vec<Effect> {
    let change = Change { how: How::Blank, summary: String::new() };
    let (kind, task) = ("document".to_owned(), model.wanted.clone());
    let deed = ResourceDeed::Create { kind, name, task, mirror: None, change };
    submit(model, UserCommand::Resource { deed }, None)
}

/// Goes back to the list; what is not saved is kept and comes back.
fn close(model: &mut Model) -> Vec<Effect> {
    let mut effects = tell(model);
    if model.editor.doc.take().is_some_and(|doc| doc.buffer.is_dirty()) {
        model.say("what is not saved is kept, and comes back with the document");
    }
    effects.extend(ask(model));
    effects
}

/// Commits the text on the revision that was seen.
fn save(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    if doc.apart.is_some() {
        return merge_apart(model);
    }
    let Some(Save { base, patch }) = doc.buffer.save() else {
        let words = if doc.saving.is_some() { "it is being saved" } else { "nothing changed" };
        model.say(words);
        return Vec::new();
    };
    let Some(change) = changed_by(&patch) else { return Vec::new() };
    // Who was told that others are changing the same means to see both.
    doc.merges = doc.held.is_some();
    let deed = ResourceDeed::Commit { resource: doc.resource.id.clone(), base, by: None, change };
    send_save(model, deed)
}

/// Merges what stands apart with the revision that stands, with all that was written since.
fn merge_apart(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let Some(candidate) = doc.apart.clone().filter(|_| !doc.leaves) else { return Vec::new() };
    let is_under_way = matches!(&doc.show, Show::Conflict(conflict) if conflict.stage != Stage::Deciding);
    if is_under_way || std::mem::replace(&mut doc.merges, true) || doc.saving.is_some() {
        return Vec::new();
    }
    let revised = revise_apart(model);
    if revised.is_empty() { vec![Effect::Editor(EditorAsk::Sides(candidate))] } else { revised }
}

/// Has the Candidate hold what was written since it stands apart.
fn revise_apart(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let rests = !matches!(&doc.show, Show::Conflict(conflict) if conflict.stage != Stage::Deciding) && !doc.leaves;
    let Some(candidate) = doc.apart.clone().filter(|_| rests) else { return Vec::new() };
    let Some(Save { patch, .. }) = doc.buffer.save() else { return Vec::new() };
    let Some(change) = changed_by(&patch) else { return Vec::new() };
    send_save(model, ResourceDeed::Revise { candidate, change })
}

/// What was done to the text, as a change of the Resource.
fn changed_by(patch: &Patch) -> Option<Change> {
    let edits = patch.edits().into_iter().map(ByteEdit::from).collect();
    let operation = serde_json::to_value(Operation::Patch { edits }).ok()?;
    Some(Change { how: How::Operations(vec![operation]), summary: String::new() })
}

fn send_save(model: &mut Model, deed: ResourceDeed<Change>) -> Vec<Effect> {
    let effects = submit(model, UserCommand::Resource { deed }, None);
    let id = model.outbox.last().map(|out| out.id.clone());
    if let Some(doc) = &mut model.editor.doc {
        doc.saving = id;
    }
    effects
}

/// Which match is gone to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seek {
    /// The one at the caret or after it.
    Here,
    /// The next one.
    Next,
    /// The one before.
    Previous,
}

/// What is looked for, compiled.
fn query(model: &mut Model) -> Option<Query> {
    let Some(words) = model.editor.find.clone() else {
        model.say("nothing is looked for yet");
        return None;
    };
    match Query::new(&words, Pattern::Literal, Case::Smart) {
        Ok(query) => Some(query),
        Err(refusal) => {
            model.warn(refusal.to_string());
            None
        }
    }
}

fn seek(model: &mut Model, seek: Seek) -> Vec<Effect> {
    let Some(query) = query(model) else { return Vec::new() };
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let range = doc.buffer.selection().range();
    let found = match seek {
        Seek::Here => doc.buffer.find_next(&query, range.start),
        Seek::Next => doc.buffer.find_next(&query, range.end),
        Seek::Previous => doc.buffer.find_previous(&query, range.start),
    };
    match found {
        Some(found) => {
            doc.buffer.select(Selection { anchor: found.start, head: found.end });
            doc.changed();
        }
        None => model.say("that is not in the text"),
    }
    Vec::new()
}

fn replace(model: &mut Model) -> Vec<Effect> {
    let Some(with) = model.editor.with.clone() else { return pick::ask(model, Wish::ReplaceInText, "") };
    let Some(query) = query(model) else { return Vec::new() };
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let next = doc.buffer.replace_next(&query, &with);
    doc.changed();
    if next.is_none() {
        model.say("there is no other match");
    }
    Vec::new()
}

fn replace_all(model: &mut Model) -> Vec<Effect> {
    let Some(with) = model.editor.with.clone() else { return pick::ask(model, Wish::ReplaceInText, "") };
    let Some(query) = query(model) else { return Vec::new() };
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let count = doc.buffer.replace_all(&query, &with);
    doc.changed();
    model.say(format!("{count} replaced"));
    Vec::new()
}

fn next_change(model: &mut Model) -> Vec<Effect> {
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    match doc.buffer.look_at_next(doc.buffer.selection().head) {
        Some(range) => doc.go(Motion::To(range.start), Reach::Move),
        None => model.say("nobody else changed anything since you looked"),
    }
    Vec::new()
}

/// Does what was asked for, with the word that it needed.
pub(super) fn grant(model: &mut Model, wish: Wish, word: String) -> Vec<Effect> {
    let before = model.editor.doc.as_ref().map(|doc| doc.buffer.selection()).unwrap_or_default();
    let effects = match wish {
        Wish::OpenDocument => return open_named(model, &word),
        Wish::NewDocument => return create(model, word),
        Wish::FindInText => {
            model.editor.find = Some(word);
            seek(model, Seek::Here)
        }
        Wish::ReplaceInText => {
            model.editor.find = Some(word);
            return pick::ask(model, Wish::ReplaceWith, "");
        }
        Wish::ReplaceWith => {
            model.editor.with = Some(word);
            let next =
                model.keymap.key_of(super::super::keymap::When::Document, &super::Action::Editor(EditorAct::Replace));
            let all = model
                .keymap
                .key_of(super::super::keymap::When::Document, &super::Action::Editor(EditorAct::ReplaceAll));
            let words = format!("{next} replaces this one and goes on, {all} replaces all");
            let effects = seek(model, Seek::Here);
            if model.hint.is_none() {
                model.say(words);
            }
            effects
        }
        Wish::GoToLine => {
            match (word.trim().parse::<usize>(), &mut model.editor.doc) {
                (Ok(line), Some(doc)) => doc.go(Motion::Line(line.saturating_sub(1)), Reach::Move),
                (Err(_), _) => model.warn(format!("`{}` is no number of a line", text::line(&word))),
                (Ok(_), None) => {}
            }
            Vec::new()
        }
        _ => Vec::new(),
    };
    notice(model, before);
    effects
}

/// Takes what the person's own editor gave back.
pub(super) fn edited_outside(model: &mut Model, result: Result<String, String>) -> Vec<Effect> {
    let what = model.editor.outside.take();
    let new = match result {
        Ok(new) => new,
        Err(why) => {
            model.warn(why);
            return Vec::new();
        }
    };
    let Some(doc) = &mut model.editor.doc else { return Vec::new() };
    let before = doc.buffer.selection();
    match (what, &mut doc.show) {
        (Some(Outside::Piece), Show::Conflict(conflict)) => {
            conflict.take(crate::resources::Choice::Custom { text: new });
            return Vec::new();
        }
        (_, _) => {
            doc.buffer.replace_with(&new);
        }
    }
    doc.changed();
    notice(model, before);
    told::catch_up(model)
}

/// Puts the caret where the pointer is, or opens what it points at.
pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Vec<Effect> {
    let Some(area) = model.layout.pane(Pane::Editor) else { return Vec::new() };
    match &mut model.editor.doc {
        Some(doc) if doc.show == Show::Text => {
            let before = doc.buffer.selection();
            doc.click(column, row);
            notice(model, before);
            Vec::new()
        }
        Some(_) => Vec::new(),
        None => {
            let at = usize::from(row.saturating_sub(area.y));
            let first = super::super::view::editor::first_listed(model, area);
            if first + at < model.editor.list.len() {
                model.editor.chosen = first + at;
                return list(model, EditorAct::Open);
            }
            Vec::new()
        }
    }
}

/// The list came while a document is being picked.
fn listed_for_picker(model: &mut Model) {
    let items = items(model);
    if let Some(picker) = model.picker.as_mut().filter(|picker| picker.kind == Kind::Wish(Wish::OpenDocument)) {
        picker.replace(items);
    }
}
