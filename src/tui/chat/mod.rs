//! The transcript on this terminal: laid out once, cached, scrolled by anchor.
//!
//! Heights are kept as prefix sums, so that a frame costs what is visible, whatever the length.
//! The reading place is an entry and a row within it: rows that are loaded above it, or another
//! width, do not move it.

pub mod draw;
pub mod entries;

use super::action::Step;
use super::projection::Projection;
use super::theme::Theme;
use crate::domain::Millis;
use entries::{Entry, Key, Opened};
use ratatui::text::Line;
use std::collections::HashMap;

/// What the transcript is laid out with.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// What the host told.
    pub told: &'a Projection,
    /// Colours.
    pub theme: &'a Theme,
    /// The time.
    pub now: Millis,
}

/// Where the reader is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// At the end, whatever comes.
    End,
    /// An entry, and the row of it that is the topmost.
    At(Key, usize),
}

/// An entry as it was laid out.
#[derive(Debug)]
struct Laid {
    entry: Entry,
    lines: Vec<Line<'static>>,
}

/// The transcript.
#[derive(Debug)]
pub struct Chat {
    place: Place,
    /// What is open.
    pub opened: Opened,
    /// The entry that is chosen.
    pub chosen: Option<Key>,
    /// Older rows were asked for.
    pub asked_older: bool,
    laid: Vec<Laid>,
    /// How many rows come before each entry, and after the last one: one longer than `laid`.
    sums: Vec<usize>,
    width: usize,
    height: usize,
    /// How many rows there were when the reader left the end.
    left_at: usize,
    /// An entry that was opened or closed: it is brought on screen when it is laid out.
    reveals: Option<Key>,
}

impl Default for Chat {
    fn default() -> Self {
        Self {
            place: Place::End,
            opened: Opened::default(),
            chosen: None,
            asked_older: false,
            laid: Vec::new(),
            sums: vec![0],
            width: 0,
            height: 0,
            left_at: 0,
            reveals: None,
        }
    }
}

impl Chat {
    /// Lays out what changed since the last time.
    pub fn lay_out(&mut self, context: Context, width: usize, height: usize) {
        let list = entries::list(context.told, &self.opened, context.now);
        let mut old: HashMap<Key, Laid> = HashMap::new();
        if self.width == width {
            old.extend(self.laid.drain(..).map(|laid| (laid.entry.key.clone(), laid)));
        }
        (self.width, self.height) = (width, height);
        self.laid = list
            .into_iter()
            .map(|entry| match old.remove(&entry.key) {
                Some(laid) if laid.entry.stamp == entry.stamp => Laid { entry, lines: laid.lines },
                _ => {
                    let lines = draw::entry(context, &self.opened, &entry.key, width);
                    Laid { entry, lines }
                }
            })
            .collect();
        self.sums.clear();
        let mut sum = 0;
        for (ix, laid) in self.laid.iter().enumerate() {
            self.sums.push(sum);
            sum += usize::from(self.has_gap_before(ix)) + laid.lines.len();
        }
        self.sums.push(sum);
        if self.chosen.as_ref().is_some_and(|key| self.index_of(key).is_none()) {
            self.chosen = None;
        }
        if let Some(key) = self.reveals.take() {
            self.show(&key);
        }
        if let Place::At(..) = self.place
            && self.top() >= self.last_top()
        {
            self.place = Place::End;
        }
    }

    /// Opens or closes the chosen entry and keeps it on screen.
    pub fn toggle_chosen(&mut self) {
        if let Some(key) = self.chosen.clone() {
            self.toggle(key);
        }
    }

    /// Opens or closes the entry that is drawn on a row of the pane.
    pub fn toggle_at(&mut self, row: usize) {
        let Some(at) = (self.top() + row).checked_sub(self.space_above()).filter(|at| *at < self.total()) else {
            return;
        };
        let ix = self.sums.partition_point(|sum| *sum <= at).saturating_sub(1);
        if let Some(key) = self.laid.get(ix).map(|laid| laid.entry.key.clone()) {
            self.toggle(key);
        }
    }

    fn toggle(&mut self, key: Key) {
        self.opened.toggle(&key);
        self.reveals = Some(key);
    }

    fn has_gap_before(&self, ix: usize) -> bool {
        ix > 0 && !(self.laid[ix].entry.tight && self.laid[ix - 1].entry.tight && self.laid[ix - 1].lines.len() <= 2)
    }

    fn index_of(&self, key: &Key) -> Option<usize> {
        self.laid.iter().position(|laid| laid.entry.key == *key)
    }

    /// How many rows there are.
    pub fn total(&self) -> usize {
        self.sums.last().copied().unwrap_or(0)
    }

    /// How many rows stay free above: a short conversation stands on the composer, where the eye is.
    pub fn space_above(&self) -> usize {
        self.height.saturating_sub(self.total())
    }

    fn last_top(&self) -> usize {
        self.total().saturating_sub(self.height)
    }

    /// The topmost row that is shown.
    pub fn top(&self) -> usize {
        match &self.place {
            Place::End => self.last_top(),
            Place::At(key, row) => match self.index_of(key) {
                Some(ix) => (self.sums[ix] + row).min(self.last_top()),
                None => self.last_top(),
            },
        }
    }

    /// Whether the end is followed.
    pub fn is_following(&self) -> bool {
        self.place == Place::End
    }

    /// Whether something came below that was not seen.
    pub fn has_new_below(&self) -> bool {
        !self.is_following() && self.total() > self.left_at
    }

    /// Whether the first rows are near enough that older ones should be asked for.
    pub fn is_near_start(&self) -> bool {
        self.top() < 2 * self.height.max(1)
    }

    /// Follows the end again.
    pub fn follow(&mut self) {
        self.place = Place::End;
        self.chosen = None;
    }

    /// Scrolls by rows, pages or to an end.
    pub fn scroll(&mut self, step: Step) {
        let page = self.height.saturating_sub(1).max(1);
        let top = step.apply(self.top(), self.last_top() + 1, page);
        self.show_from(top);
    }

    fn show_from(&mut self, top: usize) {
        if top >= self.last_top() {
            self.place = Place::End;
            return;
        }
        if self.is_following() {
            self.left_at = self.total();
        }
        let ix = self.sums.partition_point(|sum| *sum <= top).saturating_sub(1);
        if let Some(laid) = self.laid.get(ix) {
            self.place = Place::At(laid.entry.key.clone(), top - self.sums[ix]);
        }
    }

    /// Chooses the entry above or below and brings it on screen; below the last one, none.
    pub fn choose(&mut self, step: Step) {
        let at = self.chosen.as_ref().and_then(|key| self.index_of(key));
        let last = self.laid.len().checked_sub(1);
        let next = match (step, at, last) {
            (_, _, None) => None,
            (Step::Up, None, Some(last)) => Some(last),
            (Step::Down, None, _) => None,
            (Step::Down, Some(at), Some(last)) if at == last => None,
            (step, at, Some(last)) => Some(step.apply(at.unwrap_or(last), last + 1, 10)),
        };
        let Some(ix) = next else { return self.follow() };
        let key = self.laid[ix].entry.key.clone();
        self.show(&key);
        self.chosen = Some(key);
    }

    /// Brings an entry on screen.
    fn show(&mut self, key: &Key) {
        let Some(ix) = self.index_of(key) else { return };
        let (start, end) = (self.sums[ix], self.sums[ix + 1]);
        let top = self.top();
        if start < top || end - start >= self.height {
            self.show_from(start);
        } else if end > top + self.height {
            self.show_from(end - self.height);
        }
    }

    /// The rows on screen, and whether each belongs to the chosen entry.
    pub fn visible(&self) -> impl Iterator<Item = (Option<&Line<'static>>, bool)> {
        let top = self.top();
        let first = self.sums.partition_point(|sum| *sum <= top).saturating_sub(1);
        let skip = top - self.sums.get(first).copied().unwrap_or(top);
        (first..self.laid.len())
            .flat_map(move |ix| {
                let laid = &self.laid[ix];
                let chosen = self.chosen.as_ref() == Some(&laid.entry.key);
                let gap = self.has_gap_before(ix).then_some((None, false));
                gap.into_iter().chain(laid.lines.iter().map(move |line| (Some(line), chosen)))
            })
            .skip(skip)
            .take(self.height)
    }
}
