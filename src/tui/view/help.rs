//! All keys, over the panes, made from the keymap.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::text;
use super::{overlay, put};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, scroll: usize, buffer: &mut Buffer) {
    let close = model.keymap.key_of(When::Help, &Action::CloseOverlay);
    let size = model.layout.area;
    let inner = overlay(model, buffer, "Keys", &format!("{close} close"), (74, size.height.saturating_sub(2)));
    let theme = &model.theme;
    let column = usize::from(inner.width / 3).clamp(8, 24);
    let mut lines = Vec::new();
    for (title, rows) in model.keymap.sections() {
        lines.push(Line::styled(title, theme.strong));
        for row in rows {
            let keys = if row.keys.is_empty() { format!("/{}", row.name) } else { row.keys.join("  ") };
            let keys = text::cut(&keys, column);
            let pad = " ".repeat(column.saturating_sub(text::width(&keys)) + 2);
            lines.push(Line::from(vec![
                Span::styled(format!("  {keys}{pad}"), Style::from(theme.accent)),
                Span::styled(row.says, Style::from(theme.text)),
            ]));
        }
        lines.push(Line::default());
    }
    for (row, line) in lines.iter().skip(scroll).take(usize::from(inner.height)).enumerate() {
        put(buffer, inner, row as u16, line);
    }
}
