//! A command of the person's own, and the end of what it printed.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::{text, words, wrap};
use super::{overlay, put};
use ratatui::buffer::Buffer;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let Some(shell) = &model.shell else { return };
    let theme = &model.theme;
    let key = |action: &Action| model.keymap.key_of(When::Shell, action);
    let keys = match shell.ran {
        Some(_) => format!("{} put it into the message  {} close", key(&Action::KeepShell), key(&Action::CloseOverlay)),
        None => format!(
            "{} stop it  {} its terminal  {} leave it running",
            key(&Action::StopShell),
            key(&Action::AttachShell),
            key(&Action::CloseOverlay)
        ),
    };
    let screen = model.layout.area;
    let height = (screen.height * 3 / 4).max(8);
    let inner = overlay(model, buffer, "Shell", &keys, (120, height));
    let ended = match &shell.ran {
        Some(ran) => ran.ended.clone(),
        None => format!("running {}", words::duration(model.now - shell.since)),
    };
    let room = usize::from(inner.width);
    let command = text::cut(&text::line(&shell.command), room.saturating_sub(text::width(&ended) + 5));
    let head = vec![Span::styled("$ ", Style::from(theme.accent)), Span::styled(command, Style::from(theme.strong))];
    put(buffer, inner, 0, &super::both_ends(inner, head, vec![Span::styled(ended, Style::from(theme.dim))]));
    let output = text::output(shell.output());
    let output = output.trim_end_matches('\n');
    let rows = wrap::wrap(output, room.max(1));
    let height = usize::from(inner.height.saturating_sub(2));
    let end = rows.len().saturating_sub(shell.back).max(height.min(rows.len()));
    let first = end.saturating_sub(height);
    for (row, range) in rows[first..end].iter().enumerate() {
        let words = wrap::shown(output, range, room.max(1));
        put(buffer, inner, row as u16 + 2, &Line::styled(words.to_owned(), theme.text));
    }
    if output.is_empty() && shell.ran.is_some() {
        put(buffer, inner, 2, &Line::styled("It printed nothing.", theme.dim));
    }
}
