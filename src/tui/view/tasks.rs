//! The list of all Tasks, over the panes.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::{text, words};
use super::{both_ends, boxed, inside, overlay, put};
use crate::domain::{Task, TaskStatus};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

pub(super) fn draw(model: &Model, buffer: &mut Buffer) {
    let key = |action: &Action| model.keymap.key_of(When::Tasks, action);
    let keys = format!(
        "{} open  {} find  {} new  {} pause, go on  {} put away  {} close",
        key(&Action::OpenTask),
        key(&Action::FilterTasks),
        key(&Action::NewTask),
        key(&Action::PauseTask),
        key(&Action::ArchiveTask),
        key(&Action::CloseOverlay)
    );
    let lines = lines(model);
    let keys = match model.types_filter() {
        true => {
            format!("{} keep  {} all", filtering(model, &Action::KeepFilter), filtering(model, &Action::LeaveFilter))
        }
        false => keys,
    };
    let title = model.tasks.filter.as_ref().map_or("Tasks".to_owned(), |filter| format!("Tasks: {}", filter.words));
    let inner = overlay(model, buffer, &title, &keys, size(model));
    let listed = model.listed_tasks();
    if listed.is_empty() {
        let words = match (model.tasks.asked, model.told.tasks.is_empty()) {
            (true, _) => "asking…",
            (false, true) => "No Tasks yet.",
            (false, false) => "No Task says that.",
        };
        put(buffer, inner, 0, &Line::styled(words, model.theme.dim));
        return;
    }
    let (first, height) = window(model, inner);
    for (row, (ix, task)) in listed.into_iter().enumerate().skip(first).take(height).enumerate() {
        let row = row as u16 * lines;
        put(buffer, inner, row, &line(model, task, inner));
        if lines > 1 {
            let first = task.last_words.lines().next().unwrap_or_default();
            let said = text::cut(&text::line(first), usize::from(inner.width).saturating_sub(3));
            put(buffer, inner, row + 1, &Line::styled(format!("  {said}"), model.theme.dim));
        }
        if ix == model.tasks.chosen {
            let chosen = Rect { y: inner.y + row, height: lines, ..inner };
            buffer.set_style(chosen.intersection(inner), model.theme.select);
        }
    }
}

fn filtering<'a>(model: &'a Model, action: &Action) -> &'a str {
    model.keymap.key_of(When::TasksTyping, action)
}

/// Where the caret is while words are typed.
pub(super) fn caret(model: &Model) -> Option<Position> {
    let words = &model.tasks.filter.as_ref().filter(|filter| filter.typing)?.words;
    let outside = boxed(model.layout.area, size(model));
    // Behind the corner, a blank and the heading.
    let column = (2 + text::width("Tasks: ") + text::width(words)) as u16;
    Some(Position { x: outside.x + column.min(outside.width.saturating_sub(2)), y: outside.y })
}

/// How many lines a Task has: where there is room, a second one says what was said last.
fn lines(model: &Model) -> u16 {
    let area = model.layout.area;
    if area.width >= 70 && area.height >= 20 { 2 } else { 1 }
}

fn size(model: &Model) -> (u16, u16) {
    let area = model.layout.area;
    let rows = (model.told.tasks.len().max(1) as u16).saturating_mul(lines(model)).saturating_add(2);
    let width = if area.width >= 160 { 130 } else { 100 };
    (width, rows.min(area.height.saturating_sub(2)).max(5))
}

/// The first Task that is shown, and how many are.
fn window(model: &Model, inner: Rect) -> (usize, usize) {
    let height = usize::from(inner.height / lines(model)).max(1);
    ((model.tasks.chosen + 1).saturating_sub(height), height)
}

/// Which Task of the list stands at a place.
pub fn at(model: &Model, place: Position) -> Option<usize> {
    let inner = inside(boxed(model.layout.area, size(model)));
    let (first, height) = window(model, inner);
    let row = usize::from(place.y.checked_sub(inner.y)? / lines(model));
    let task = first + row;
    (inner.contains(place) && row < height && task < model.listed_tasks().len()).then_some(task)
}

fn line(model: &Model, task: &Task, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let (sign, style) = sign(model, task);
    let waits = match task.waiting_for.first() {
        Some(waiting) if task.status == TaskStatus::AwaitingHuman => format!("{}: {}", waiting.kind, waiting.text),
        _ => task.reason.clone().unwrap_or_default(),
    };
    let state = state(task);
    // Where it works, if not here.
    let elsewhere = task.cwd.as_deref().filter(|cwd| *cwd != model.facts.folder.path);
    let folder = elsewhere.map_or(String::new(), |cwd| format!("  {}", text::cut_start(&text::line(cwd), 24)));
    let left = vec![
        Span::styled(format!("{sign} "), style),
        Span::styled(text::line(&task.title), Style::from(if task.archived { theme.dim } else { theme.text })),
        Span::styled(format!("{folder}  {}", text::line(&waits)), Style::from(theme.dim)),
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

/// Whether somebody is at work in it, or will be at once.
fn works(task: &Task) -> bool {
    task.status == TaskStatus::Active
        && task.waiting_for.iter().any(|one| matches!(one.kind.as_str(), "run" | "message"))
}

/// The state in a person's words.
fn state(task: &Task) -> String {
    match task.status {
        TaskStatus::Active => if works(task) { "works" } else { "idle" }.to_owned(),
        TaskStatus::AwaitingHuman => "waits for you".to_owned(),
        TaskStatus::Completed => "done".to_owned(),
        other @ (TaskStatus::Parked | TaskStatus::Paused | TaskStatus::Failed | TaskStatus::Cancelled) => {
            other.to_string()
        }
    }
}

fn sign(model: &Model, task: &Task) -> (&'static str, Style) {
    let theme = &model.theme;
    match task.status {
        TaskStatus::Active if works(task) => ("●", theme.accent.into()),
        TaskStatus::Active => ("○", theme.dim.into()),
        TaskStatus::AwaitingHuman => ("◆", theme.warn.into()),
        TaskStatus::Parked => ("○", theme.dim.into()),
        TaskStatus::Paused => ("‖", theme.warn.into()),
        TaskStatus::Completed => ("✓", theme.ok.into()),
        TaskStatus::Failed => ("✗", theme.error.into()),
        TaskStatus::Cancelled => ("–", theme.dim.into()),
    }
}
