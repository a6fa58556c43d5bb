//! The Editor pane: the list of Resources, or the document that is open.

mod review;
mod text;

use super::super::action::{Action, Pane};
use super::super::editor::doc::{Doc, Show};
use super::super::editor::{EditorAct, who};
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::{text as plain, words, wrap};
use super::{both_ends, put};
use crate::domain::{Actor, Resource};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    match &model.editor.doc {
        Some(doc) => document(model, doc, area, buffer),
        None => list(model, area, buffer),
    }
}

/// Where the caret stands in the document, if the keys go there.
pub fn caret(model: &Model) -> Option<Position> {
    let doc = model.editor.doc.as_ref().filter(|_| model.types_document())?;
    model.layout.pane(Pane::Editor)?;
    let (x, y) = doc.caret()?;
    Some(Position { x, y })
}

fn inside(area: Rect) -> Rect {
    Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area }
}

fn document(model: &Model, doc: &Doc, area: Rect, buffer: &mut Buffer) {
    put(buffer, inside(area), 0, &headline(model, doc, inside(area)));
    let body = Rect { y: area.y + area.height.min(1), height: area.height.saturating_sub(1), ..area };
    match &doc.show {
        Show::Text => text::draw(model, doc, area, buffer),
        Show::History(history) => review::history(model, history, inside(body), buffer),
        Show::Candidates(candidates) => review::candidates(model, candidates, inside(body), buffer),
        Show::Conflict(conflict) => review::conflict(model, conflict, inside(body), buffer),
    }
}

/// The name of the document, and how it stands.
fn headline(model: &Model, doc: &Doc, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let mut left = vec![Span::styled(plain::line(&doc.resource.name), Style::from(theme.strong))];
    left.push(Span::styled(format!("  r{}", doc.buffer.revision()), Style::from(theme.dim)));
    if doc.saving.is_some() {
        left.push(Span::styled("  saving…", Style::from(theme.dim)));
    } else if doc.apart.is_some() && !doc.leaves {
        let key = key(model, When::Document, EditorAct::Save);
        left.push(Span::styled(format!("  not saved: {key} merges"), Style::from(theme.warn)));
    } else if doc.buffer.is_dirty() || doc.apart.is_some() {
        left.push(Span::styled("  not saved", Style::from(theme.warn)));
    }
    // Where the chat is not in sight, nothing else shows what is said to the person.
    if let Some(hint) = model.hint.as_ref().filter(|_| model.layout.pane(Pane::Chat).is_none()) {
        let style = if hint.warns { theme.warn } else { theme.text };
        let said = plain::cut(&plain::line(&hint.text), usize::from(area.width).saturating_sub(16));
        return both_ends(area, left, vec![Span::styled(said, Style::from(style))]);
    }
    let mut right = Vec::new();
    // What is to be done about a save that was refused comes before what is only worth knowing.
    let stands_apart = doc.apart.is_some() && !doc.leaves;
    let changes = doc.buffer.marks().len();
    if changes > 0 && !stands_apart {
        let key = key(model, When::Document, EditorAct::NextChange);
        let said = format!("{} by others {key}  ", words::many(changes, "change", "changes"));
        right.push(Span::styled(said, Style::from(theme.accent)));
    }
    let waiting = model.editor.waiting.iter().filter(|candidate| candidate.resource == doc.resource.id).count();
    if waiting > 0 && !stands_apart {
        let key = key(model, When::Document, EditorAct::Candidates);
        let said = format!("{} {key}  ", words::many(waiting, "Candidate", "Candidates"));
        right.push(Span::styled(said, Style::from(theme.accent)));
    }
    let head = doc.buffer.selection().head;
    let line = doc.buffer.line_of(head);
    right.push(Span::styled(format!("{}:{}", line + 1, doc.buffer.column(head) + 1), Style::from(theme.dim)));
    both_ends(area, left, right)
}

/// The key of something that can be done here.
fn key(model: &Model, when: When, act: EditorAct) -> String {
    model.keymap.key_of(when, &Action::Editor(act)).to_owned()
}

/// Keys with what they do, as many as fit.
fn keys(model: &Model, when: When, acts: &[(EditorAct, &str)], room: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (act, says) in acts {
        let key = key(model, when, act.clone());
        let gap = if spans.is_empty() { "" } else { "   " };
        let wide = gap.len() + plain::width(&key) + 1 + plain::width(says);
        if used + wide > room {
            break;
        }
        used += wide;
        spans.push(Span::styled(format!("{gap}{key}"), Style::from(model.theme.accent)));
        spans.push(Span::styled(format!(" {says}"), Style::from(model.theme.dim)));
    }
    Line::from(spans)
}

/// What a person calls whoever did something.
fn name(model: &Model, actor: &Actor) -> String {
    plain::line(&who(actor, model.told.task().map(|task| task.main.0.as_str())))
}

/// The first Resource of the list that is shown.
pub fn first_listed(model: &Model, area: Rect) -> usize {
    (model.editor.chosen + 1).saturating_sub(usize::from(area.height).max(1))
}

fn list(model: &Model, area: Rect, buffer: &mut Buffer) {
    let area = inside(area);
    let theme = &model.theme;
    if model.editor.opening.is_some() {
        return put(buffer, area, 0, &Line::styled("opening…", theme.dim));
    }
    if model.editor.list.is_empty() {
        let words = "Nothing is open.\n`/new-document` begins one.\nWhat you and the agents edit together opens here.";
        let room = usize::from(area.width).max(1);
        for (row, range) in wrap::wrap(words, room).iter().enumerate() {
            put(buffer, area, row as u16, &Line::styled(wrap::shown(words, range, room).to_owned(), theme.dim));
        }
        return;
    }
    let focused = model.focus == Focus::Side(Pane::Editor);
    let first = first_listed(model, area);
    let shown = model.editor.list.iter().enumerate().skip(first).take(usize::from(area.height));
    for (row, (ix, resource)) in shown.enumerate() {
        put(buffer, area, row as u16, &listed(model, resource, area));
        if ix == model.editor.chosen && focused {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, theme.select);
        }
    }
}

fn listed(model: &Model, resource: &Resource, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let waiting = model.editor.waiting.iter().filter(|candidate| candidate.resource == resource.id).count();
    let mut left = vec![Span::styled(plain::line(&resource.name), Style::from(theme.text))];
    if waiting > 0 {
        let said = format!("  {}", words::many(waiting, "Candidate", "Candidates"));
        left.push(Span::styled(said, Style::from(theme.accent)));
    }
    let kind = if area.width >= 56 { format!("{}  ", resource.kind) } else { String::new() };
    let by = name(model, &resource.updated_by);
    let at = words::clock(resource.updated_at, model.now, &model.facts.zone);
    let right = format!("{kind}r{}  {by}  {at}", resource.revision);
    both_ends(area, left, vec![Span::styled(right, Style::from(theme.dim))])
}
