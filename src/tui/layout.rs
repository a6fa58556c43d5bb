//! Where everything is on the screen: one function of the size, the focus and what there is to show.
//!
//! From [`WIDE`] columns on, the chat stands beside a column of the other panes, each in its frame,
//! and from [`WIDEST`] on beside two; below that one pane is shown and a strip names the others.
//! Where a person moved a border, it stays where they put it.

use super::action::Pane;
use super::chat::draw::MARGIN;
use super::look::Form;
use super::model::{Focus, Model};
use super::sizes::{Border, FEWEST};
use super::view::{agents, banner};
use ratatui::layout::Rect;

/// From how many columns on there is a column of side panes.
pub const WIDE: u16 = 120;

/// From how many columns on there are two of them.
pub const WIDEST: u16 = 200;

/// A column of panes beside the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its panes, from above.
    pub panes: Vec<Pane>,
    /// The one that takes what is left.
    pub grows: Pane,
}

/// Where everything is; what is not shown has no area.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The whole terminal.
    pub area: Rect,
    /// The line that names the panes.
    pub strip: Rect,
    /// The frames of the panes.
    pub frames: Vec<(Pane, Rect)>,
    /// The panes that have nothing yet and say so in a line.
    pub cards: Vec<Pane>,
    /// The columns beside the chat.
    pub columns: Vec<Column>,
    /// The inside of each pane that is shown.
    pub panes: Vec<(Pane, Rect)>,
    /// The transcript.
    pub transcript: Rect,
    /// The banner about trust.
    pub trust: Rect,
    /// What waits for a person: a line, or with the focus all of it.
    pub asks: Rect,
    /// The part of it that scrolls.
    pub ask_body: Rect,
    /// Queued messages.
    pub queue: Rect,
    /// The rule above the composer.
    pub rule: Rect,
    /// The text being written, without its margin.
    pub composer: Rect,
    /// The status line.
    pub status: Rect,
}

/// Takes rows off the bottom of an area.
fn take_bottom(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    area.height -= rows;
    Rect { y: area.y + area.height, height: rows, ..*area }
}

/// Takes rows off the top of an area.
fn take_top(area: &mut Rect, rows: u16) -> Rect {
    let rows = rows.min(area.height);
    let taken = Rect { height: rows, ..*area };
    area.y += rows;
    area.height -= rows;
    taken
}

fn inside(frame: Rect) -> Rect {
    Rect {
        x: frame.x.saturating_add(1),
        y: frame.y.saturating_add(1),
        width: frame.width.saturating_sub(2),
        height: frame.height.saturating_sub(2),
    }
}

/// Whether the keys go to a document, or to the list of them.
fn writes(model: &Model) -> bool {
    model.focus == Focus::Side(Pane::Editor) && model.holds_something(Pane::Editor)
}

impl Layout {
    /// Places the panes; [`Layout::fill_chat`] places what is in the chat.
    pub fn place_panes(model: &Model) -> Self {
        let (width, height) = model.size;
        let area = Rect { x: 0, y: 0, width, height };
        let mut layout = Self { area, ..Self::default() };
        let mut rest = area;
        if height > 1 {
            layout.status = take_bottom(&mut rest, 1);
        }
        if width >= WIDE && rest.height >= 16 && !model.zoomed && model.form == Form::Panes {
            layout.place_side_by_side(model, rest);
        } else {
            if rest.height >= 8 {
                layout.strip = take_top(&mut rest, 1);
            }
            layout.panes = vec![(model.pane(), rest)];
        }
        layout
    }

    fn place_side_by_side(&mut self, model: &Model, area: Rect) {
        let is_shown = |pane: &Pane| !model.sizes.hidden.contains(pane);
        let busy = Pane::ALL
            .into_iter()
            .filter(|pane| *pane != Pane::Chat && is_shown(pane) && model.holds_something(*pane))
            .count();
        let columns: &[&[Pane]] = if area.width >= WIDEST && (busy > 1 || model.sizes.beside.is_some()) {
            &[&[Pane::Subagents, Pane::Inbox], &[Pane::Jobs, Pane::Editor]]
        } else {
            &[&[Pane::Subagents, Pane::Inbox, Pane::Jobs, Pane::Editor]]
        };
        let columns = columns.iter().map(|panes| panes.iter().copied().filter(is_shown).collect::<Vec<_>>());
        let columns: Vec<Vec<Pane>> = columns.filter(|panes| !panes.is_empty()).collect();
        let mut left = area;
        if !columns.is_empty() {
            let usual = match (busy, columns.len()) {
                // Whoever writes a document wants the room for it.
                (_, _) if writes(model) => area.width * 3 / 5,
                (0, _) => FEWEST.0,
                (_, 1) => (area.width / 3).clamp(38, 60),
                _ => area.width / 2,
            };
            let beside = model.sizes.columns_beside(area.width, usual);
            left.width -= beside;
            let mut rest = Rect { x: area.x + left.width, width: beside, ..area };
            for (ix, panes) in columns.iter().enumerate() {
                let width = rest.width / (columns.len() - ix) as u16;
                self.place_column(model, panes, Rect { width, ..rest });
                rest = Rect { x: rest.x + width, width: rest.width - width, ..rest };
            }
        }
        self.frames.insert(0, (Pane::Chat, left));
        self.panes = self.frames.iter().map(|(pane, frame)| (*pane, inside(*frame))).collect();
    }

    fn place_column(&mut self, model: &Model, panes: &[Pane], area: Rect) {
        // A pane that has nothing yet is a card of one line; one with the focus shows all it says.
        let opened = if area.height >= 24 { 5 } else { 4 };
        let is_card = |pane: &Pane| !model.holds_something(*pane) && model.focus != Focus::Side(*pane);
        let usual = |pane: &Pane| match pane {
            _ if is_card(pane) => FEWEST.1,
            // As many rows as there are Subagents, and with the focus room for what is known of one.
            Pane::Subagents => {
                let more = if model.focus == Focus::Side(*pane) { 8 } else { 0 };
                let rows = agents::wanted_rows(model).min(usize::from(area.height)) as u16 + 2 + more;
                rows.clamp(opened, (area.height / 2).max(opened))
            }
            Pane::Chat | Pane::Inbox | Pane::Jobs | Pane::Editor => opened,
        };
        let busy: Vec<Pane> = panes.iter().copied().filter(|pane| model.holds_something(*pane)).collect();
        let is_chosen = panes.iter().any(|pane| model.sizes.rows.contains_key(pane));
        // The Inbox takes the rest, or whoever has something; where nobody has, it stays free.
        let grows = match busy.last() {
            Some(_) if writes(model) && panes.contains(&Pane::Editor) => Pane::Editor,
            Some(last) if !busy.contains(&Pane::Inbox) => *last,
            Some(_) | None if panes.contains(&Pane::Inbox) => Pane::Inbox,
            Some(_) | None => panes[panes.len() - 1],
        };
        let shares = match busy.is_empty() && !is_chosen {
            true => panes.iter().map(usual).collect(),
            false => model.sizes.share(panes, grows, area.height, usual),
        };
        let mut rest = area;
        for (pane, rows) in panes.iter().zip(shares) {
            let frame = take_top(&mut rest, rows);
            self.frames.push((*pane, frame));
            if is_card(pane) {
                self.cards.push(*pane);
            }
        }
        self.columns.push(Column { panes: panes.to_vec(), grows });
    }

    /// How many columns stand beside the chat.
    pub fn beside(&self) -> u16 {
        self.frame(Pane::Chat).map_or(0, |chat| self.area.width.saturating_sub(chat.width))
    }

    /// The frame of a pane, where panes have frames.
    pub fn frame(&self, pane: Pane) -> Option<Rect> {
        self.frames.iter().find(|(shown, _)| *shown == pane).map(|(_, frame)| *frame)
    }

    /// The column a pane stands in, and which of it it is.
    pub fn place_of(&self, pane: Pane) -> Option<(&Column, usize)> {
        self.columns
            .iter()
            .find_map(|column| column.panes.iter().position(|shown| *shown == pane).map(|at| (column, at)))
    }

    /// The border that can be moved at a place.
    pub fn border_at(&self, column: u16, row: u16) -> Option<Border> {
        let chat = self.frame(Pane::Chat)?;
        let touches = |edge: u16| column + 1 == edge || column == edge;
        if self.frames.len() > 1 && touches(chat.right()) && row < chat.bottom() {
            return Some(Border::Beside);
        }
        self.columns.iter().find_map(|column_of| {
            let upper = column_of.panes.iter().take(column_of.panes.len().saturating_sub(1));
            upper.copied().find_map(|pane| {
                let frame = self.frame(pane)?;
                let is_under = row + 1 == frame.bottom() || row == frame.bottom();
                (is_under && column >= frame.x && column < frame.right()).then_some(Border::Under(pane))
            })
        })
    }

    /// The inside of a pane, if it is shown.
    pub fn pane(&self, pane: Pane) -> Option<Rect> {
        self.panes.iter().find(|(shown, _)| *shown == pane).map(|(_, area)| *area)
    }

    /// How many columns the text being written has.
    pub fn composer_width(&self) -> u16 {
        self.pane(Pane::Chat).map_or(0, |chat| chat.width.saturating_sub(MARGIN as u16))
    }

    /// Places what is in the chat, from the composer upwards.
    pub fn fill_chat(&mut self, model: &Model, ask_rows: usize) {
        let Some(chat) = self.pane(Pane::Chat) else { return };
        let mut rest = chat;
        let most = (chat.height / 3).max(1);
        let rows = (model.composer.rows().len() as u16).clamp(1, most);
        let line = take_bottom(&mut rest, rows);
        let margin = (MARGIN as u16).min(line.width);
        self.composer = Rect { x: line.x + margin, width: line.width - margin, ..line };
        if rest.height > 1 {
            self.rule = take_bottom(&mut rest, 1);
        }
        let queued =
            if model.told.read_subagent().is_some() { 0 } else { model.told.queued().len() + model.sending().count() }
                as u16;
        let shown = if model.focus == Focus::Queue { 8 } else { 3 };
        self.queue = take_bottom(&mut rest, queued.min(shown).min(chat.height / 4));
        self.place_asks(model, ask_rows, &mut rest);
        if model.asks_for_trust() {
            let rows = banner::trust(model, usize::from(chat.width)).len() as u16;
            if rest.height > rows {
                self.trust = take_bottom(&mut rest, rows);
            }
        }
        if rest.height >= 12 {
            // A breath between what was said and what comes.
            take_bottom(&mut rest, 1);
        }
        self.transcript = rest;
    }

    fn place_asks(&mut self, model: &Model, rows: usize, rest: &mut Rect) {
        if rows == 0 {
            return;
        }
        if model.focus != Focus::Asks {
            self.asks = take_bottom(rest, 1);
            return;
        }
        let body = rows.min(usize::from(rest.height)) as u16;
        // A rule above, the keys below; some of the conversation stays in sight where there is room.
        let (room, air) = if rest.height >= 14 { (rest.height - 4, 1) } else { (rest.height, 0) };
        self.asks = take_bottom(rest, (body + 2 + air).min(room));
        self.ask_body = self.asks;
        take_top(&mut self.ask_body, 1);
        take_bottom(&mut self.ask_body, 1 + air);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::fixtures;

    #[test]
    fn every_pane_can_be_reached_at_every_size_and_nothing_lies_outside() {
        for width in 0..=130 {
            for height in 0..=40 {
                for pane in Pane::ALL {
                    let mut model = fixtures::model(width, height);
                    model.focus = if pane == Pane::Chat { Focus::Composer } else { Focus::Side(pane) };
                    model.lay_out();
                    let layout = &model.layout;
                    assert!(layout.pane(pane).is_some() || width == 0, "{pane:?} at {width}x{height}");
                    let all =
                        [layout.strip, layout.transcript, layout.asks, layout.rule, layout.composer, layout.status];
                    for area in all.into_iter().chain(layout.panes.iter().map(|(_, area)| *area)) {
                        assert_eq!(area.intersection(layout.area).area(), area.area(), "{area:?} at {width}x{height}");
                    }
                }
            }
        }
    }

    #[test]
    fn side_by_side_the_frames_tile_the_screen_whatever_was_chosen() {
        for (width, height) in [(120, 24), (120, 40), (160, 50), (200, 60), (300, 100)] {
            for beside in [None, Some(1), Some(333), Some(1000)] {
                for rows in [0, 7, 90] {
                    let mut model = fixtures::model(width, height);
                    fixtures::job(&mut model);
                    model.sizes.beside = beside;
                    model.sizes.rows = [(Pane::Jobs, rows), (Pane::Subagents, rows)].into_iter().collect();
                    model.lay_out();
                    let frames = &model.layout.frames;
                    let area: u32 = frames.iter().map(|(_, frame)| frame.area()).sum();
                    assert_eq!(area, u32::from(width) * u32::from(height - 1), "{width}x{height} {beside:?} {rows}");
                    for (ix, (_, one)) in frames.iter().enumerate() {
                        assert!(one.width >= 15 && one.height >= 3, "{one:?}");
                        assert!(frames[..ix].iter().all(|(_, other)| one.intersection(*other).area() == 0));
                    }
                }
            }
        }
    }

    #[test]
    fn panes_that_have_nothing_leave_the_chat_the_room() {
        for (width, height) in [(120, 24), (120, 40), (200, 60), (300, 100)] {
            let mut model = fixtures::model(width, height);
            model.lay_out();
            assert_eq!(model.layout.beside(), FEWEST.0);
            assert!(model.layout.frames[1..].iter().all(|(_, frame)| frame.height == FEWEST.1));
            // With the focus, a pane shows all it says, and the chat stays as it is.
            model.focus = Focus::Side(Pane::Jobs);
            model.lay_out();
            assert_eq!(model.layout.beside(), FEWEST.0);
            assert!(model.layout.frame(Pane::Jobs).expect("a frame").height > FEWEST.1);
            fixtures::job(&mut model);
            model.lay_out();
            assert!(model.layout.beside() > FEWEST.0);
            assert!(model.layout.frame(Pane::Jobs).expect("a frame").height > height / 2);
        }
    }

    #[test]
    fn the_composer_grows_to_a_third_of_the_chat() {
        let mut model = fixtures::model(80, 24);
        model.composer.set(&"line\n".repeat(40));
        model.lay_out();
        assert_eq!(model.layout.composer.height, 7);
    }
}
