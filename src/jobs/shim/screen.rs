//! The screen, kept only while somebody needs it, and drawn at most once in a frame's time.
//!
//! Needed means: a client looks, a program has the whole screen (its state could not be had again
//! from what was printed last), or a program asks where its cursor is. When more is printed than
//! can be followed, the screen goes on with what was printed last.

use super::tail::Shared;
use crate::jobs::spec::Size;
use crate::jobs::terminal::{Facts, Model, Modes, answer};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The least time between two drawings.
const FRAME: Duration = Duration::from_millis(8);

/// How much is followed at once before the clients are looked after again.
const SLICE: usize = 64 * 1024;

/// The screen of a Job.
pub(super) struct Screen {
    shared: Arc<Shared>,
    size: Size,
    model: Option<Model>,
    /// The position up to which the model has followed.
    at: u64,
    buffer: Vec<u8>,
    modes: Modes,
    /// A program has asked where its cursor is, and will again.
    is_asked: bool,
    /// More was printed than could be followed while nobody looked.
    is_given_up: bool,
    is_dirty: bool,
    drawn_at: Instant,
}

/// What following came to.
pub(super) struct Followed {
    /// What the program is to read as the answer to its questions.
    pub(super) answers: Vec<u8>,
    /// There is more to follow.
    pub(super) is_behind: bool,
}

impl Screen {
    pub(super) fn new(shared: Arc<Shared>, size: Size) -> Self {
        Self {
            shared,
            size,
            model: None,
            at: 0,
            buffer: Vec::new(),
            modes: Modes::default(),
            is_asked: false,
            is_given_up: false,
            is_dirty: false,
            drawn_at: Instant::now() - FRAME,
        }
    }

    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// Follows what was printed, as far as it goes in one slice.
    pub(super) fn follow(&mut self, watchers: usize) -> Followed {
        let mut answers = Vec::new();
        if watchers > 0 {
            self.is_given_up = false;
        }
        let (end, query) = {
            let tail = self.shared.tail();
            if self.modes != tail.modes {
                self.modes = tail.modes.clone();
            }
            (tail.end(), tail.queries.front().cloned())
        };
        self.is_given_up &= self.modes.is_alternate();
        self.is_asked |= query.as_ref().is_some_and(|(_, query)| query.needs_screen());
        let is_wanted = watchers > 0 || self.is_asked || (self.modes.is_alternate() && !self.is_given_up);
        self.shared.listen(is_wanted);
        let Some((until, query)) = query else {
            if !is_wanted {
                self.model = None;
                self.at = end;
                return Followed { answers, is_behind: false };
            }
            self.advance(end, watchers);
            return Followed { answers, is_behind: self.at < end };
        };
        if is_wanted || query.needs_screen() {
            self.advance(until, watchers);
            if self.at < until {
                return Followed { answers, is_behind: true };
            }
        }
        let cursor = self.model.as_ref().map_or((0, 0), Model::cursor);
        answers = answer(&query, &Facts { cursor, size: self.size, modes: &self.modes });
        self.shared.tail().queries.pop_front();
        Followed { answers, is_behind: true }
    }

    /// Brings the model one slice nearer to a position.
    fn advance(&mut self, until: u64, watchers: usize) {
        let tail = self.shared.tail();
        match &mut self.model {
            None => {
                // From the beginning nothing was set before; from the middle what is set now was.
                let modes = if tail.start() == 0 { Modes::default() } else { tail.modes.clone() };
                self.model = Some(Model::new(self.size, &modes));
                self.at = tail.first_line().min(until);
            }
            Some(model) if self.at < tail.start() => {
                if watchers == 0 {
                    self.is_given_up = true;
                    self.is_asked = false;
                }
                model.restart(&tail.modes);
                self.at = tail.first_line().min(until);
            }
            Some(_) => {}
        }
        // Had the answer been asked for so long ago that it is gone, it is given from what is there.
        self.at = self.at.max(tail.start().min(until));
        tail.copy(self.at, until, SLICE, &mut self.buffer);
        drop(tail);
        if let Some(model) = &mut self.model
            && !self.buffer.is_empty()
        {
            model.process(&self.buffer);
            model.follow(&self.modes);
            self.is_dirty = true;
        }
        self.at += self.buffer.len() as u64;
    }

    /// Takes on another size. What was printed last is laid out anew, except where a program has
    /// the whole screen and draws it itself.
    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        if let Some(model) = &mut self.model {
            model.resize(size);
            if !self.modes.is_alternate() {
                let tail = self.shared.tail();
                let modes = if tail.start() == 0 { Modes::default() } else { tail.modes.clone() };
                model.restart(&modes);
                self.at = tail.first_line();
            }
            self.is_dirty = true;
        }
    }

    /// When the screen is to be drawn next.
    pub(super) fn due(&self) -> Option<Instant> {
        self.is_dirty.then(|| self.drawn_at + FRAME)
    }

    /// What has changed since it was drawn last, if that is due.
    pub(super) fn draw_if_due(&mut self) -> Option<Vec<u8>> {
        if self.drawn_at.elapsed() < FRAME { None } else { self.draw() }
    }

    /// What has changed since it was drawn last.
    pub(super) fn draw(&mut self) -> Option<Vec<u8>> {
        if !std::mem::take(&mut self.is_dirty) {
            return None;
        }
        self.drawn_at = Instant::now();
        self.model.as_mut().map(Model::changes).filter(|changes| !changes.is_empty())
    }

    /// The whole screen, as it was drawn last.
    pub(super) fn whole(&self) -> Option<Vec<u8>> {
        self.model.as_ref().map(Model::whole)
    }

    /// The last lines that scrolled off.
    pub(super) fn history(&self, lines: usize) -> Vec<String> {
        self.model.as_ref().map(|model| model.history(lines)).unwrap_or_default()
    }
}
