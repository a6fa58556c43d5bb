//! Which key arrives: what the terminal sent, in the words of the keymap, and what it means.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::text;
use super::{overlay, put};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let close = model.keymap.key_of(When::Keys, &Action::CloseOverlay);
    let inner = overlay(model, buffer, "Which key arrives", &format!("{close} close"), (74, 16));
    let theme = &model.theme;
    if model.keys_seen.is_empty() {
        put(
            buffer,
            inner,
            0,
            &Line::styled("Press a key. What never shows here your terminal keeps for itself.", theme.dim),
        );
        return;
    }
    let height = usize::from(inner.height).max(1);
    let first = model.keys_seen.len().saturating_sub(height);
    for (row, (key, meaning)) in model.keys_seen.iter().skip(first).enumerate() {
        let pad = " ".repeat(18usize.saturating_sub(text::width(key)));
        let line = Line::from(vec![
            Span::styled(format!("{key}{pad}"), Style::from(theme.accent)),
            Span::styled(meaning.clone(), Style::from(theme.text)),
        ]);
        put(buffer, inner, row as u16, &line);
    }
}
