//! The list of all Tasks, over the panes.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::{text, words};
use super::{both_ends, overlay, put};
use crate::domain::{Task, TaskStatus};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let key = |action: &Action| model.keymap.key_of(When::Tasks, action);
    let keys = format!(
        "{} open  {} new  {} pause, go on  {} put away  {} close",
        key(&Action::OpenTask),
        key(&Action::NewTask),
        key(&Action::PauseTask),
        key(&Action::ArchiveTask),
        key(&Action::CloseOverlay)
    );
    let size = model.layout.area;
    let rows = (model.told.tasks.len().max(1) as u16).saturating_add(2);
    let inner = overlay(model, buffer, "Tasks", &keys, 100, rows.min(size.height.saturating_sub(2)).max(5));
    if model.told.tasks.is_empty() {
        let words = if model.tasks.asked { "asking…" } else { "No Tasks yet." };
        put(buffer, inner, 0, &Line::styled(words, model.theme.dim));
        return;
    }
    let height = usize::from(inner.height).max(1);
    let first = (model.tasks.chosen + 1).saturating_sub(height);
    for (row, (ix, task)) in model.told.tasks.iter().enumerate().skip(first).take(height).enumerate() {
        put(buffer, inner, row as u16, &line(model, task, inner));
        if ix == model.tasks.chosen {
            buffer.set_style(Rect { y: inner.y + row as u16, height: 1, ..inner }, model.theme.select);
        }
    }
}

fn line(model: &Model, task: &Task, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let (sign, style) = sign(model, task);
    let waits = match task.waiting_for.first() {
        Some(waiting) if task.status == TaskStatus::AwaitingHuman => format!("{}: {}", waiting.kind, waiting.text),
        _ => task.reason.clone().unwrap_or_default(),
    };
    let state = task.status.as_str().replace('_', " ").replace("awaiting human", "waits for you");
    let left = vec![
        Span::styled(format!("{sign} "), style),
        Span::styled(text::line(&task.title), Style::from(if task.archived { theme.dim } else { theme.text })),
        Span::styled(format!("  {}", text::line(&waits)), Style::from(theme.dim)),
    ];
    let about = if task.usage.estimated { "~" } else { "" };
    let cost = task.usage.micro_usd.map(|usd| format!("{about}{}", words::money(usd))).unwrap_or_default();
    let narrow = area.width < 60;
    let state = if narrow { String::new() } else { format!("{state:<14}") };
    let right = vec![
        Span::styled(state, style),
        Span::styled(format!("{cost:>8} {:>6}", words::age(model.now - task.updated_at)), Style::from(theme.dim)),
    ];
    both_ends(area, left, right)
}

fn sign(model: &Model, task: &Task) -> (&'static str, Style) {
    let theme = &model.theme;
    match task.status {
        TaskStatus::Active => ("●", theme.accent.into()),
        TaskStatus::AwaitingHuman => ("◆", theme.warn.into()),
        TaskStatus::Parked => ("○", theme.dim.into()),
        TaskStatus::Paused => ("‖", theme.warn.into()),
        TaskStatus::Completed => ("✓", theme.ok.into()),
        TaskStatus::Failed => ("✗", theme.error.into()),
        TaskStatus::Cancelled => ("–", theme.dim.into()),
    }
}
