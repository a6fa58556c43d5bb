//! The first line where one pane is shown: what the Task is called, and the panes by number.

use super::super::action::Pane;
use super::super::model::Model;
use super::super::text;
use super::{both_ends, put};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

/// The name of what is on screen.
pub fn title(model: &Model) -> String {
    match model.told.task() {
        Some(task) => text::line(&task.title),
        None if model.wanted.is_some() => "…".to_owned(),
        None => "new Task".to_owned(),
    }
}

/// The name of what stands in the chat's place: the Task's, or the one of the Subagent that is read.
pub fn heading(model: &Model) -> String {
    match model.told.read_subagent() {
        Some(agent) => format!("{} \u{2039} {}", text::line(&model.told.name_of(agent)), title(model)),
        None => title(model),
    }
}

/// The words for each pane: names where there is room, else numbers.
fn labels(model: &Model) -> Vec<(Pane, String)> {
    let named = model.layout.strip.width >= 72;
    Pane::ALL
        .into_iter()
        .enumerate()
        .map(|(ix, pane)| {
            let number = ix + 1;
            let label =
                if named || pane == model.pane() { format!("{number} {}", pane.name()) } else { number.to_string() };
            (pane, label)
        })
        .collect()
}

/// Where each pane's words stand.
pub fn places(model: &Model) -> Vec<(Pane, Rect)> {
    let strip = model.layout.strip;
    let labels = labels(model);
    let total: usize = labels.iter().map(|(_, label)| label.len() + 2).sum();
    let mut x = strip.x + strip.width.saturating_sub(total as u16 + 1);
    let mut places = Vec::new();
    for (pane, label) in labels {
        let width = label.len() as u16 + 2;
        places.push((pane, Rect { x, width, ..strip }));
        x += width;
    }
    places
}

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let strip = model.layout.strip;
    if strip.area() == 0 {
        return;
    }
    let theme = &model.theme;
    let left = vec![Span::styled(format!(" {}", heading(model)), Style::from(theme.strong))];
    let mut right = Vec::new();
    for (pane, label) in labels(model) {
        let style = if pane == model.pane() { Style::from(theme.focus) } else { Style::from(theme.dim) };
        right.push(Span::styled(format!(" {label} "), style));
    }
    right.push(Span::raw(" "));
    put(buffer, strip, 0, &both_ends(strip, left, right));
}
