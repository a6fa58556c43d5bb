//! Where the keys go, what is shown, and what the mouse points at.

use super::super::action::{Effect, Pane, Step};
use super::super::asks;
use super::super::key::Key;
use super::super::model::{Focus, Model, Overlay};
use ratatui::layout::{Position, Rect};

pub(super) fn to(model: &mut Model, pane: Pane) -> Vec<Effect> {
    model.hidden.remove(&pane);
    model.side_scroll = 0;
    model.chat.chosen = None;
    model.focus = if pane == Pane::Chat { Focus::Composer } else { Focus::Side(pane) };
    if pane == Pane::Jobs { super::jobs::ask(model) } else { Vec::new() }
}

pub(super) fn along(model: &mut Model, by: isize) -> Vec<Effect> {
    let shown: Vec<Pane> = Pane::ALL.into_iter().filter(|pane| !model.hidden.contains(pane)).collect();
    let at = shown.iter().position(|pane| *pane == model.pane()).unwrap_or(0) as isize;
    let next = (at + by).rem_euclid(shown.len().max(1) as isize) as usize;
    shown.get(next).map_or_else(Vec::new, |pane| to(model, *pane))
}

pub(super) fn composer(model: &mut Model) -> Vec<Effect> {
    to(model, Pane::Chat)
}

pub(super) fn zoom(model: &mut Model) -> Vec<Effect> {
    model.zoomed = !model.zoomed;
    Vec::new()
}

pub(super) fn hide(model: &mut Model) -> Vec<Effect> {
    match model.pane() {
        Pane::Chat => model.say("the chat stays; alt+z shows it alone"),
        pane => {
            model.hidden.insert(pane);
            model.focus = Focus::Composer;
            model.say(format!("{} is hidden; its number brings it back", pane.name()));
        }
    }
    Vec::new()
}

pub(super) fn asks(model: &mut Model) -> Vec<Effect> {
    if asks::list(&model.told).is_empty() {
        model.say("nothing waits for you");
    } else {
        model.focus = Focus::Asks;
    }
    Vec::new()
}

pub(super) fn queue(model: &mut Model) -> Vec<Effect> {
    if model.told.queued().is_empty() {
        model.say("nothing is queued");
    } else {
        model.focus = Focus::Queue;
    }
    Vec::new()
}

pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    let (rows, page) = match model.focus {
        Focus::Side(Pane::Inbox) => {
            let height = model.layout.pane(Pane::Inbox).map_or(0, |area| usize::from(area.height));
            (model.told.records.messages.len(), height)
        }
        Focus::Side(_) | Focus::Composer | Focus::Transcript | Focus::Asks | Focus::Queue => (0, 0),
    };
    let last = rows.saturating_sub(page);
    model.side_scroll = step.apply(model.side_scroll, last + 1, page);
    Vec::new()
}

pub(super) fn help(model: &mut Model) -> Vec<Effect> {
    model.overlay = Some(Overlay::Help { scroll: 0 });
    Vec::new()
}

pub(super) fn scroll_help(model: &mut Model, step: Step) -> Vec<Effect> {
    if let Some(Overlay::Help { scroll }) = model.overlay {
        let rows: usize = model.keymap.sections().iter().map(|(_, rows)| rows.len() + 2).sum();
        let page = usize::from(model.size.1).saturating_sub(6);
        let last = rows.saturating_sub(page);
        model.overlay = Some(Overlay::Help { scroll: step.apply(scroll, last + 1, page) });
    }
    Vec::new()
}

/// How many keys are shown at the most.
const KEYS_SEEN: usize = 12;

pub(super) fn show_keys(model: &mut Model) -> Vec<Effect> {
    model.keys_seen.clear();
    model.overlay = Some(Overlay::Keys);
    Vec::new()
}

/// Notes a key, with what it means where the keys went before.
pub(super) fn show_key(model: &mut Model, key: Key) -> Vec<Effect> {
    let covered = model.overlay.take();
    let meaning = match model.keymap.row(key, model) {
        Some(row) => format!("{}.{}  {}", row.when.name(), row.name, row.says),
        None if key.typed().is_some() && model.writes() => "types itself".to_owned(),
        None => "nothing here".to_owned(),
    };
    model.overlay = covered;
    if model.keys_seen.len() == KEYS_SEEN {
        model.keys_seen.remove(0);
    }
    model.keys_seen.push((key.to_string(), meaning));
    Vec::new()
}

pub(super) fn close_overlay(model: &mut Model) -> Vec<Effect> {
    match model.overlay.take() {
        Some(Overlay::Picker) => {
            model.overlay = Some(Overlay::Picker);
            super::pick::close(model)
        }
        Some(Overlay::Shell) => super::shell::close(model),
        Some(Overlay::Tasks | Overlay::Help { .. } | Overlay::Keys) | None => Vec::new(),
    }
}

fn holds(area: Rect, column: u16, row: u16) -> bool {
    area.contains(Position { x: column, y: row })
}

pub(super) fn wheel(model: &mut Model, column: u16, row: u16, step: Step) -> Vec<Effect> {
    const LINES: usize = 3;
    let mut effects = Vec::new();
    for _ in 0..LINES {
        effects.extend(match model.overlay {
            Some(Overlay::Tasks) => return super::tasks::choose(model, step),
            Some(Overlay::Help { .. }) => scroll_help(model, step),
            Some(Overlay::Picker) => return super::pick::choose(model, step),
            Some(Overlay::Shell) => super::shell::scroll(model, step),
            Some(Overlay::Keys) => return Vec::new(),
            None if model.focus == Focus::Asks && holds(model.layout.asks, column, row) => {
                super::ask::scroll(model, step)
            }
            None if matches!(model.focus, Focus::Side(pane) if model.layout.pane(pane).is_some_and(|area| holds(area, column, row))) => {
                scroll(model, step)
            }
            None => super::chat::scroll(model, step),
        });
    }
    effects
}

pub(super) fn click(model: &mut Model, column: u16, row: u16) -> Vec<Effect> {
    if model.overlay.is_some() {
        return Vec::new();
    }
    let layout = &model.layout;
    if holds(layout.asks, column, row) {
        return asks(model);
    }
    if holds(layout.queue, column, row) {
        return queue(model);
    }
    if holds(layout.transcript, column, row) {
        // The focus stays with the composer: whoever clicks and then types, writes.
        model.chat.toggle_at(usize::from(row - layout.transcript.y));
        return composer(model);
    }
    if holds(layout.strip, column, row) {
        let hit = super::super::view::strip::places(model).into_iter().find(|(_, area)| holds(*area, column, row));
        return hit.map_or_else(Vec::new, |(pane, _)| to(model, pane));
    }
    let pane = layout.panes.iter().find(|(_, area)| holds(*area, column, row)).map(|(pane, _)| *pane);
    pane.map_or_else(Vec::new, |pane| to(model, pane))
}
