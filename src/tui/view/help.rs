//! All keys, over the panes, made from the keymap: the ones of every day first, in two columns where
//! there is room.

use super::super::action::{Action, Step};
use super::super::composer::Edit;
use super::super::keymap::{Row, When};
use super::super::model::Model;
use super::super::text;
use super::{overlay, put};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// How wide one column is, and two of them are.
const ONE: u16 = 74;
const TWO: u16 = 140;

/// From how many columns of the terminal on there are two.
const ROOM_FOR_TWO: u16 = 110;

/// The keys of every day.
const DAILY: [(When, Action); 10] = [
    (When::Writing, Action::Send),
    (When::Writing, Action::Edit(Edit::Newline)),
    (When::Awaited, Action::LookAtAsks),
    (When::Working, Action::Interrupt),
    (When::Panes, Action::FocusNext),
    (When::Panes, Action::OpenTasks),
    (When::Panes, Action::OpenCommands),
    (When::Panes, Action::ToggleDetails),
    (When::Panes, Action::ScrollChat(Step::PageUp)),
    (When::Always, Action::AskToQuit),
];

pub(super) fn draw(model: &Model, scroll: usize, buffer: &mut Buffer) {
    let close = model.keymap.key_of(When::Help, &Action::CloseOverlay);
    let size = model.layout.area;
    let wide = if size.width >= ROOM_FOR_TWO { TWO } else { ONE };
    let inner = overlay(model, buffer, "Keys", &format!("{close} close"), (wide, size.height.saturating_sub(2)));
    let columns = columns(model);
    let width = inner.width / columns.len() as u16;
    for (ix, lines) in columns.iter().enumerate() {
        let place = Rect { x: inner.x + ix as u16 * width, width, ..inner };
        for (row, line) in lines.iter().skip(scroll).take(usize::from(inner.height)).enumerate() {
            put(buffer, place, row as u16, line);
        }
    }
}

/// How many rows there are to scroll.
pub fn rows(model: &Model) -> usize {
    columns(model).iter().map(Vec::len).max().unwrap_or(0)
}

/// The sections as one column, or as two of about the same height.
fn columns(model: &Model) -> Vec<Vec<Line<'static>>> {
    let area = model.layout.area;
    let is_two = area.width >= ROOM_FOR_TWO;
    let inside = usize::from(area.width.min(if is_two { TWO } else { ONE }).saturating_sub(4));
    let width = if is_two { inside / 2 } else { inside };
    let sections = sections(model, width);
    if !is_two {
        return vec![sections.concat()];
    }
    let half = sections.iter().map(Vec::len).sum::<usize>().div_ceil(2);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for section in sections {
        if right.is_empty() && (left.is_empty() || left.len() + section.len() / 2 < half) {
            left.extend(section);
        } else {
            right.extend(section);
        }
    }
    vec![left, right]
}

fn sections(model: &Model, width: usize) -> Vec<Vec<Line<'static>>> {
    let all = model.keymap.sections();
    let every = || all.iter().flat_map(|(_, rows)| rows.iter().copied());
    let daily =
        DAILY.iter().filter_map(|(when, action)| every().find(|row| row.when == *when && row.action == *action));
    let daily = ("Every day", daily.collect::<Vec<_>>());
    std::iter::once(&daily).chain(&all).map(|(title, rows)| section(model, title, rows, width)).collect()
}

fn section(model: &Model, title: &str, rows: &[&Row], width: usize) -> Vec<Line<'static>> {
    let theme = &model.theme;
    let column = (width * 2 / 7).clamp(8, 24);
    let mut lines = vec![Line::styled(title.to_owned(), theme.strong)];
    for row in rows {
        let keys = if row.keys.is_empty() { format!("/{}", row.name) } else { row.keys.join("  ") };
        let keys = text::cut(&keys, column);
        let pad = " ".repeat(column.saturating_sub(text::width(&keys)) + 2);
        let says = text::cut(row.says, width.saturating_sub(column + 5));
        lines.push(Line::from(vec![
            Span::styled(format!("  {keys}{pad}"), Style::from(theme.accent)),
            Span::styled(says, Style::from(theme.text)),
        ]));
    }
    lines.push(Line::default());
    lines
}
