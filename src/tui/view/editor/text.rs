//! The text of a document: gutter, colours, selection, and the text as it is read beside it.

use super::super::super::colours::PartOfSpeech;
use super::super::super::editor::EditorAct;
use super::super::super::editor::doc::{Doc, Row};
use super::super::super::editor::rows;
use super::super::super::keymap::When;
use super::super::super::model::Model;
use super::super::super::theme::Theme;
use super::super::super::{markdown, text as plain};
use super::super::put;
use super::{inside, key, name};
use crate::domain::{Actor, ActorKind};
use crate::resources::Author;
use crate::resources::editor::{Case, Pattern, Query};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// How many lines above the top the beginning of a block is looked for.
const BLOCK: usize = 12;

/// The longest text that is laid out to be read beside its source.
const LONGEST_READ: usize = 128 << 10;

pub(super) fn draw(model: &Model, doc: &Doc, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    if let Some(by) = &doc.held {
        let save = key(model, When::Document, EditorAct::Save);
        let words = format!("{} changed what you are changing: {save} shows both", name(model, by));
        put(buffer, inside(area), 1, &Line::styled(words, theme.warn));
    }
    let authors = authors_of(doc);
    let found = matches(model, doc);
    for (at, row) in doc.rows.iter().enumerate() {
        let y = doc.area.y + at as u16;
        let gutter = Rect { x: area.x, y, width: doc.area.x - area.x, height: 1 };
        put(buffer, gutter, 0, &gutter_of(model, doc, row, authors.get(at).unwrap_or(&None), gutter.width));
        let line = Rect { y, height: 1, ..doc.area };
        put(buffer, line, 0, &text_of(theme, doc, row, &found));
    }
    if doc.read_area.area() > 0 {
        read(model, doc, area, buffer);
    }
}

/// Who wrote each row on screen.
fn authors_of(doc: &Doc) -> Vec<Option<(Author, Option<Actor>)>> {
    let Some(known) = doc.authors.as_ref().filter(|_| doc.shows_authors) else { return Vec::new() };
    let (Some(first), Some(last)) = (doc.rows.first(), doc.rows.last()) else { return Vec::new() };
    let authors = doc.buffer.authors(first.line..last.line + 1, &known.attribution);
    let of = |row: &Row| {
        let author = authors.get(row.line - first.line).copied().flatten().filter(|_| row.row == 0)?;
        let actor = match author {
            Author::Revision(revision) => known.actors.get(&revision).cloned(),
            Author::Unsaved => None,
        };
        Some((author, actor))
    };
    doc.rows.iter().map(of).collect()
}

/// The colour of an author, by what kind of one it is.
fn colour(theme: &Theme, actor: Option<&Actor>) -> Style {
    match actor.map(|actor| actor.kind) {
        None => theme.warn.into(),
        Some(ActorKind::Person) => theme.person.into(),
        Some(ActorKind::Agent) => theme.accent.into(),
        Some(ActorKind::File | ActorKind::Source) => theme.ok.into(),
        Some(ActorKind::Job | ActorKind::System) => theme.dim.into(),
    }
}

fn gutter_of(
    model: &Model,
    doc: &Doc,
    row: &Row,
    author: &Option<(Author, Option<Actor>)>,
    width: u16,
) -> Line<'static> {
    let theme = &model.theme;
    let mut spans = Vec::new();
    let mut room = usize::from(width).saturating_sub(2);
    if doc.shows_authors {
        let (words, style) = match author {
            Some((Author::Unsaved, _)) => ("unsaved".to_owned(), theme.warn.into()),
            Some((Author::Revision(_), Some(actor))) => (name(model, actor), colour(theme, Some(actor))),
            Some((Author::Revision(revision), None)) => (format!("r{revision}"), theme.dim.into()),
            None => (String::new(), Style::new()),
        };
        let words = plain::cut(&words, 7);
        let gap = 7 - plain::width(&words);
        spans.push(Span::styled(format!("{words}{}", " ".repeat(gap)), style));
        room = room.saturating_sub(7);
    }
    let number = if row.row == 0 { (row.line + 1).to_string() } else { String::new() };
    spans.push(Span::styled(format!("{number:>room$}"), Style::from(theme.dim)));
    let marked = doc.buffer.marks().iter().find(|mark| {
        let range = &mark.range;
        let touches = range.start < row.range.end && range.end > row.range.start;
        touches
            || (row.range.start..=row.range.end).contains(&range.start) && (range.is_empty() || row.range.is_empty())
    });
    match marked {
        Some(mark) => spans.push(Span::styled("▌ ", colour(theme, Some(&mark.author)))),
        None => spans.push(Span::raw("  ")),
    }
    Line::from(spans)
}

/// Where what is looked for is found on screen.
fn matches(model: &Model, doc: &Doc) -> Vec<Range<usize>> {
    let Some(words) = &model.editor.find else { return Vec::new() };
    let (Some(first), Some(last)) = (doc.rows.first(), doc.rows.last()) else { return Vec::new() };
    let Ok(query) = Query::new(words, Pattern::Literal, Case::Smart) else { return Vec::new() };
    doc.buffer.matches_within(&query, first.range.start..last.range.end)
}

fn of_speech(theme: &Theme, part: Option<PartOfSpeech>) -> Style {
    match part {
        None => theme.text.into(),
        Some(PartOfSpeech::Comment) => theme.dim.into(),
        Some(PartOfSpeech::Text) => theme.ok.into(),
        Some(PartOfSpeech::Word) => theme.accent.into(),
        Some(PartOfSpeech::Value) => theme.warn.into(),
        Some(PartOfSpeech::Name) => theme.strong.into(),
    }
}

/// A row with its colours, what is found and what is selected.
fn text_of(theme: &Theme, doc: &Doc, row: &Row, found: &[Range<usize>]) -> Line<'static> {
    let line_start = doc.buffer.line_range(row.line).start;
    let selected = doc.buffer.selection().range();
    let text = doc.buffer.slice(row.range.clone());
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut column = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        let byte = row.range.start + at;
        let mut style = of_speech(theme, doc.part_of(row.line, byte - line_start));
        if found.iter().any(|range| range.contains(&byte)) {
            style = style.add_modifier(Modifier::UNDERLINED);
        }
        if selected.contains(&byte) {
            style = style.patch(Style::from(theme.select));
        }
        let drawn = rows::drawn(cluster, column);
        column += rows::columns(cluster, column);
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&drawn),
            Some(_) | None => spans.push(Span::styled(drawn, style)),
        }
    }
    // A selected line end is seen.
    if selected.contains(&row.range.end) && !selected.is_empty() {
        spans.push(Span::styled(" ", Style::from(theme.select)));
    }
    Line::from(spans)
}

/// The text as it is read, from about the line at the top on.
fn read(model: &Model, doc: &Doc, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let (rest, beside) = (doc.read_area, doc.read_area.x > area.x);
    if beside {
        for y in rest.top()..rest.bottom() {
            put(buffer, Rect { x: rest.x - 1, y, width: 1, height: 1 }, 0, &Line::styled("│", theme.border));
        }
    } else if rest.y > 0 {
        let rule = Rect { y: rest.y - 1, height: 1, ..rest };
        put(buffer, rule, 0, &Line::styled("─".repeat(usize::from(rest.width)), theme.border));
    }
    let rest = inside(rest);
    let room = usize::from(rest.width).max(1);
    let Some(first) = doc.rows.first() else { return };
    // Reading begins where a block does, a little above the line at the top; else with that line.
    let begins = |line: &usize| *line == 0 || doc.buffer.line(line - 1).trim().is_empty();
    let from = (first.line.saturating_sub(BLOCK)..=first.line).rev().find(begins).unwrap_or(first.line);
    let start = doc.buffer.line_range(from).start;
    let mut end = doc.buffer.len().min(start + LONGEST_READ);
    if end < doc.buffer.len() {
        end = doc.buffer.line_range(doc.buffer.line_of(end)).start;
    }
    let clean = plain::clean(&doc.buffer.slice(start..end.max(start)));
    let colours = |language: &str, code: &str| model.chat.colours.of(language, code);
    let paper = markdown::Paper { room, theme, colours: &colours };
    for (row, line) in markdown::draw(&paper, &clean).iter().take(usize::from(rest.height)).enumerate() {
        put(buffer, rest, row as u16, line);
    }
}
