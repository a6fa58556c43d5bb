//! Where the keys go, what is shown, and what the mouse points at.

use super::super::action::{Effect, Pane, Step};
use super::super::asks;
use super::super::editor::EditorAct;
use super::super::key::Key;
use super::super::model::{Focus, Model, Overlay};
use super::super::paper::PaperAct;
use super::super::selection::Selection;
use super::super::sizes::{Border, FEWEST, KEPT_AS, Sizes};
use ratatui::layout::{Position, Rect};

pub(super) fn to(model: &mut Model, pane: Pane) -> Vec<Effect> {
    let was_hidden = model.sizes.hidden.remove(&pane);
    model.side_scroll = 0;
    model.chat.chosen = None;
    model.chat.search = None;
    model.focus = if pane == Pane::Chat { Focus::Composer } else { Focus::Side(pane) };
    let mut effects = if was_hidden { keep_sizes(model) } else { Vec::new() };
    if pane == Pane::Editor {
        effects.extend(super::editor::ask(model));
    }
    if pane == Pane::Jobs {
        effects.extend(super::jobs::ask(model));
    }
    effects
}

pub(super) fn along(model: &mut Model, by: isize) -> Vec<Effect> {
    let shown: Vec<Pane> = Pane::ALL.into_iter().filter(|pane| !model.sizes.hidden.contains(pane)).collect();
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
            model.sizes.hidden.insert(pane);
            model.focus = Focus::Composer;
            model.say(format!("{} is hidden; its number brings it back", pane.name()));
            return keep_sizes(model);
        }
    }
    Vec::new()
}

/// Has the arrangement kept for this terminal.
fn keep_sizes(model: &Model) -> Vec<Effect> {
    vec![Effect::KeepDraft { pane: KEPT_AS.to_owned(), text: model.sizes.to_text() }]
}

fn is_side_by_side(model: &mut Model) -> bool {
    let is = model.layout.frames.len() > 1;
    if !is {
        model.say("one pane is shown; a wider terminal shows them side by side");
    }
    is
}

pub(super) fn move_border(model: &mut Model, by: i16) -> Vec<Effect> {
    if !is_side_by_side(model) {
        return Vec::new();
    }
    let width = model.layout.area.width;
    let beside = model.layout.beside().saturating_add_signed(-by);
    model.sizes.set_beside(beside, width);
    let fits = model.sizes.columns_beside(width, beside);
    model.sizes.set_beside(fits, width);
    keep_sizes(model)
}

pub(super) fn grow(model: &mut Model, by: i16) -> Vec<Effect> {
    let pane = model.pane();
    if pane == Pane::Chat {
        return move_border(model, 2 * by);
    }
    if !is_side_by_side(model) {
        return Vec::new();
    }
    let Some((column, at)) = model.layout.place_of(pane) else { return Vec::new() };
    // The pane that fills its column grows by what the one beside it gives.
    let (changed, by) = match (column.grows == pane, column.panes.len()) {
        (true, 0 | 1) => return Vec::new(),
        (true, _) => (column.panes[if at > 0 { at - 1 } else { at + 1 }], -by),
        (false, _) => (pane, by),
    };
    let rows = model.layout.frame(changed).map_or(0, |frame| frame.height);
    model.sizes.rows.insert(changed, rows.saturating_add_signed(by).max(FEWEST.1));
    keep_sizes(model)
}

pub(super) fn reset_layout(model: &mut Model) -> Vec<Effect> {
    model.sizes = Sizes::default();
    model.zoomed = false;
    keep_sizes(model)
}

pub(super) fn drag(model: &mut Model, column: u16, row: u16) -> Vec<Effect> {
    let area = model.layout.area;
    if let Some(marked) = model.marked.as_mut().filter(|_| model.marking) {
        marked.reach(column, row, model.layout.transcript);
        return Vec::new();
    }
    match model.moving {
        Some(Border::Beside) => model.sizes.set_beside(area.width.saturating_sub(column + 1), area.width),
        Some(Border::Under(pane)) => {
            let Some((column, at)) = model.layout.place_of(pane) else { return Vec::new() };
            let Some(frame) = model.layout.frame(pane) else { return Vec::new() };
            let rows = (row + 1).saturating_sub(frame.y).max(FEWEST.1);
            let below = column.panes.get(at + 1).copied();
            match below.filter(|_| column.grows == pane) {
                // What fills the column has no size of its own: the one below it changes.
                Some(below) => {
                    let height = model.layout.frame(below).map_or(0, |frame| frame.height);
                    let rows = (height + frame.height).saturating_sub(rows);
                    model.sizes.rows.insert(below, rows.max(FEWEST.1));
                }
                None => drop(model.sizes.rows.insert(pane, rows)),
            }
        }
        None => {}
    }
    Vec::new()
}

pub(super) fn release(model: &mut Model) -> Vec<Effect> {
    if std::mem::take(&mut model.marking) {
        return super::chat::let_go(model);
    }
    match model.moving.take() {
        Some(_) => keep_sizes(model),
        None => Vec::new(),
    }
}

pub(super) fn asks(model: &mut Model) -> Vec<Effect> {
    if !asks::list(&model.told).is_empty() {
        model.focus = Focus::Asks;
        return Vec::new();
    }
    if model.asks_for_trust() {
        model.focus = Focus::Trust;
        return Vec::new();
    }
    match model.told.waiting.iter().find(|task| Some(*task) != model.wanted.as_ref()).cloned() {
        Some(task) => super::tasks::go_to(model, Some(task)),
        None => {
            model.say("nothing waits for you");
            Vec::new()
        }
    }
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
    if model.focus == Focus::Side(Pane::Editor) {
        return super::editor::act(model, EditorAct::Scroll(step));
    }
    let (rows, page) = match model.focus {
        Focus::Side(Pane::Inbox) => {
            let height = model.layout.pane(Pane::Inbox).map_or(0, |area| usize::from(area.height));
            (model.told.records.messages.len(), height)
        }
        Focus::Side(_) | Focus::Composer | Focus::Transcript | Focus::Asks | Focus::Trust | Focus::Queue => (0, 0),
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
        let rows = super::super::view::help::rows(model);
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
        Some(Overlay::Paper) => {
            model.overlay = Some(Overlay::Paper);
            super::inbox::read(model, PaperAct::Leave)
        }
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
            Some(Overlay::Paper) => super::inbox::read(model, PaperAct::Scroll(step)),
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
    let place = Position { x: column, y: row };
    match model.overlay {
        Some(Overlay::Tasks) => {
            return match super::super::view::tasks::at(model, place) {
                Some(task) => {
                    model.tasks.chosen = task;
                    super::tasks::open_chosen(model)
                }
                None => Vec::new(),
            };
        }
        Some(Overlay::Picker) => {
            let screen = model.layout.area;
            let hit = model.picker.as_ref().and_then(|picker| super::super::view::picker::at(picker, screen, place));
            return match (hit, &mut model.picker) {
                (Some(item), Some(picker)) => {
                    picker.chosen = item;
                    super::pick::take(model)
                }
                (None, _) | (Some(_), None) => Vec::new(),
            };
        }
        Some(Overlay::Help { .. } | Overlay::Keys | Overlay::Shell | Overlay::Paper) => return Vec::new(),
        None => {}
    }
    let layout = &model.layout;
    if let Some(border) = layout.border_at(column, row) {
        model.moving = Some(border);
        return Vec::new();
    }
    if holds(layout.asks, column, row) {
        return asks(model);
    }
    if holds(layout.queue, column, row) {
        return queue(model);
    }
    if holds(layout.transcript, column, row) {
        // The focus stays with the composer: whoever clicks and then types, writes.
        // What is done is seen when the button is let go: it may mark something until then.
        (model.marked, model.marking) = (Some(Selection::at(column, row)), true);
        return composer(model);
    }
    if holds(layout.strip, column, row) {
        let hit = super::super::view::strip::places(model).into_iter().find(|(_, area)| holds(*area, column, row));
        return hit.map_or_else(Vec::new, |(pane, _)| to(model, pane));
    }
    let pane = layout.panes.iter().find(|(_, area)| holds(*area, column, row)).map(|(pane, _)| *pane);
    let mut effects = pane.map_or_else(Vec::new, |pane| to(model, pane));
    if pane == Some(Pane::Editor) {
        effects.extend(super::editor::click(model, column, row));
    }
    effects
}
