//! Drawing: from the model to the cells of a frame, and nothing else.
//!
//! Nothing here changes anything; [`Model::lay_out`](super::model::Model::lay_out) has fitted the
//! model to the terminal before. This file composes; each part has a file of its own.

pub mod agents;
pub mod banner;
mod chat;
pub mod editor;
pub mod help;
mod inbox;
mod jobs;
mod keys;
mod panes;
pub mod paper;
pub mod picker;
mod shell;
mod status;
pub mod strip;
pub mod tasks;
mod write;

use super::action::Pane;
use super::look::Form;
use super::model::{Model, Overlay};
use super::text;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

/// Draws one frame.
pub fn view(model: &Model, frame: &mut Frame) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    strip::draw(model, buffer);
    for (pane, area) in &model.layout.frames {
        frame_of(model, *pane, *area, buffer);
    }
    for (pane, area) in &model.layout.panes {
        self::pane(model, *pane, *area, buffer);
    }
    status::draw(model, buffer);
    match model.overlay {
        Some(Overlay::Tasks) => {
            tasks::draw(model, buffer);
            if let Some(caret) = tasks::caret(model).filter(|caret| area.contains(*caret)) {
                frame.set_cursor_position(caret);
            }
        }
        Some(Overlay::Help { scroll }) => help::draw(model, scroll, buffer),
        Some(Overlay::Keys) => keys::draw(model, buffer),
        Some(Overlay::Shell) => shell::draw(model, buffer),
        Some(Overlay::Paper) => paper::draw(model, buffer),
        Some(Overlay::Picker) => {
            if let Some(caret) = picker::draw(model, buffer).filter(|caret| area.contains(*caret)) {
                frame.set_cursor_position(caret);
            }
        }
        None => {
            let caret = write::caret(model).or_else(|| editor::caret(model));
            if let Some(caret) = caret.filter(|caret| area.contains(*caret)) {
                frame.set_cursor_position(caret);
            }
        }
    }
    if model.form == Form::Plain {
        plain(frame.buffer_mut());
    }
}

/// Draws what is in a pane.
fn pane(model: &Model, pane: Pane, area: Rect, buffer: &mut Buffer) {
    match pane {
        _ if model.layout.cards.contains(&pane) => panes::card(model, pane, area, buffer),
        Pane::Chat => chat::draw(model, buffer),
        Pane::Inbox => inbox::draw(model, area, buffer),
        Pane::Jobs => jobs::draw(model, area, buffer),
        Pane::Subagents => agents::draw(model, area, buffer),
        Pane::Editor => editor::draw(model, area, buffer),
    }
}

/// Takes everything off the frame that only draws: a screen reader would read it out.
fn plain(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().chars().all(|c| matches!(c, '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}')) {
            cell.set_symbol(" ");
        }
    }
}

/// Puts a line at the start of a row, cut at the row's end.
fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line) {
    if row < area.height && area.width > 0 {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}

/// A row with words at both ends; the left ones give way.
fn both_ends(area: Rect, left: Vec<Span<'static>>, right: Vec<Span<'static>>) -> Line<'static> {
    let room = usize::from(area.width);
    let right_width: usize = right.iter().map(|span| text::width(&span.content)).sum();
    let mut spans = cut_spans(left, room.saturating_sub(right_width + 1));
    let left_width: usize = spans.iter().map(|span| text::width(&span.content)).sum();
    if left_width + right_width < room {
        spans.push(Span::raw(" ".repeat(room - left_width - right_width)));
        spans.extend(right);
    }
    Line::from(spans)
}

fn cut_spans(spans: Vec<Span<'static>>, room: usize) -> Vec<Span<'static>> {
    let (mut out, mut used) = (Vec::new(), 0);
    for span in spans {
        let wide = text::width(&span.content);
        if used + wide > room {
            out.push(Span::styled(text::cut(&span.content, room - used), span.style));
            break;
        }
        used += wide;
        out.push(span);
    }
    out
}

/// The frame of a pane, lit when the keys go there.
fn frame_of(model: &Model, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let focused = model.pane() == pane && model.overlay.is_none();
    let (border, title) =
        if focused { (model.theme.focus, model.theme.focus) } else { (model.theme.border, model.theme.dim) };
    let read = model.told.read_subagent().filter(|_| pane == Pane::Chat);
    let called = if read.is_some() { Pane::Subagents.name().trim_end_matches('s') } else { pane.name() };
    let mut name = vec![Span::styled(format!(" {called} "), Style::from(title))];
    if pane == Pane::Chat {
        let room = usize::from(area.width).saturating_sub(14);
        name.push(Span::styled(
            format!("{} ", text::cut(&strip::heading(model), room)),
            Style::from(model.theme.strong),
        ));
    }
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(border)
        .title_top(Line::from(name))
        .render(area, buffer);
}

/// A box over everything, with a title and its keys below; gives the inside.
fn overlay(model: &Model, buffer: &mut Buffer, title: &str, keys: &str, (width, height): (u16, u16)) -> Rect {
    let area = boxed(model.layout.area, (width, height));
    let width = area.width;
    Clear.render(area, buffer);
    // A wide character that begins left of the box would reach into it.
    if let Some(x) = area.x.checked_sub(1) {
        for y in area.top()..area.bottom() {
            if text::width(buffer[(x, y)].symbol()) > 1 {
                buffer[(x, y)].set_symbol(" ");
            }
        }
    }
    let block = Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(model.theme.focus)
        .title_top(Line::styled(format!(" {title} "), model.theme.focus))
        .title_bottom(Line::styled(
            format!(" {} ", text::cut(keys, usize::from(width).saturating_sub(4))),
            model.theme.dim,
        ));
    block.render(area, buffer);
    inside(area)
}

/// Where a box of so many columns and rows stands in the middle of the screen.
fn boxed(all: Rect, (width, height): (u16, u16)) -> Rect {
    let (width, height) = (width.min(all.width), height.min(all.height));
    Rect { x: all.x + (all.width - width) / 2, y: all.y + (all.height - height) / 2, width, height }
}

/// The inside of a box, with a breath at both sides.
fn inside(area: Rect) -> Rect {
    let inner = Block::bordered().inner(area);
    Rect { x: inner.x + inner.width.min(1), width: inner.width.saturating_sub(2), ..inner }
}

#[cfg(test)]
mod tests;
