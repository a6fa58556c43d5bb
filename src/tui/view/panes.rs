//! The panes that have nothing yet: they say what will be there.

use super::super::action::Pane;
use super::super::model::Model;
use super::super::wrap;
use super::put;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

fn words(pane: Pane) -> &'static str {
    match pane {
        Pane::Subagents => "No Subagents.\nMain will show here whom it gave work to, and how far they are.",
        Pane::Inbox => "No messages.\nWhat you and others send to Main shows here.",
        Pane::Chat | Pane::Jobs | Pane::Editor => "",
    }
}

/// What will be in a pane, in a line.
pub(super) fn card(model: &Model, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let words = match pane {
        Pane::Chat => "",
        Pane::Subagents => "whom Main gave work to",
        Pane::Inbox => "messages to Main",
        Pane::Jobs => "`/start-job` runs one",
        Pane::Editor => "`/open-document` opens one",
    };
    put(buffer, area, 0, &Line::styled(format!(" {words}"), model.theme.dim));
}

pub(super) fn draw(model: &Model, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let room = usize::from(area.width).saturating_sub(2).max(1);
    let words = words(pane);
    for (row, range) in wrap::wrap(words, room).iter().enumerate() {
        put(buffer, area, row as u16, &Line::styled(format!(" {}", wrap::shown(words, range, room)), model.theme.dim));
    }
}
