//! The transcript on this terminal: laid out where it is looked at, cached, scrolled by anchor.
//!
//! The list of entries is made anew only when something is settled; what is being said is a short
//! list at its end. An entry is drawn when it comes near the screen; until then its height is a
//! guess. Heights are kept as prefix sums, so that a frame costs what is visible, whatever the
//! length. The reading place is an entry and a row within it: rows that are loaded above it, better
//! guesses, or another width do not move it.

pub mod draw;
pub mod entries;
pub mod search;

use super::action::Step;
use super::colours::Colours;
use super::projection::Projection;
use super::text;
use super::theme::Theme;
use crate::domain::Millis;
use entries::{Cuts, Entry, Key, Opened};
use ratatui::text::Line;
use search::Search;
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

/// What an entry was drawn from, and its rows.
#[derive(Debug)]
struct Drawn {
    stamp: u64,
    /// The colours of some code in it were not known yet when it was drawn at this revision of them.
    pale: Option<u64>,
    lines: Vec<Line<'static>>,
}

/// An entry as far as it is laid out.
#[derive(Debug)]
struct Laid {
    entry: Entry,
    /// How many rows it has, or may have.
    height: usize,
    drawn: Option<Drawn>,
}

/// How many entries may stay drawn that nobody looks at.
const KEPT: usize = 400;

/// The transcript.
#[derive(Debug)]
pub struct Chat {
    place: Place,
    /// What is open.
    pub opened: Opened,
    /// The entry that is chosen.
    pub chosen: Option<Key>,
    /// What is searched for.
    pub search: Option<Search>,
    /// The code block that was copied last: of which entry, and which one.
    copied: Option<(Key, usize)>,
    /// Older rows were asked for.
    pub asked_older: bool,
    /// What is known of code on screen.
    pub colours: Colours,
    cuts: Cuts,
    laid: Vec<Laid>,
    /// How many of them are settled, and as of which change.
    settled: Option<(usize, u64)>,
    /// How many rows come before each entry, and after the last one: one longer than `laid`.
    sums: Vec<usize>,
    width: usize,
    height: usize,
    /// What was the last entry when the reader left the end.
    left_at: Option<Entry>,
    /// An entry that was opened or closed: it is brought on screen when it is laid out.
    reveals: Option<Key>,
}

impl Default for Chat {
    fn default() -> Self {
        Self {
            place: Place::End,
            opened: Opened::default(),
            chosen: None,
            search: None,
            copied: None,
            asked_older: false,
            colours: Colours::default(),
            cuts: Cuts::default(),
            laid: Vec::new(),
            settled: None,
            sums: vec![0],
            width: 0,
            height: 0,
            left_at: None,
            reveals: None,
        }
    }
}

impl Chat {
    /// Lays out what changed since the last time, where it is looked at.
    pub fn lay_out(&mut self, context: Context, width: usize, height: usize) {
        if self.width != width {
            for laid in &mut self.laid {
                (laid.drawn, laid.height) = (None, guess(&laid.entry, width));
            }
        }
        self.width = width;
        let (top, settled) = (self.top(), self.settled.map_or(0, |(many, _)| many));
        self.height = height;
        self.list(context.told);
        self.add_up();
        if let Place::At(key, _) = &self.place
            && self.index_of(key).is_none()
        {
            // What was being said is settled now and has another name; it stands where it stood.
            for ix in settled..self.laid.len() {
                self.draw(context, ix);
            }
            self.add_up();
            self.show_from(top);
        }
        if self.chosen.as_ref().is_some_and(|key| self.index_of(key).is_none()) {
            self.chosen = None;
        }
        self.draw_what_is_near(context);
        if let Some(key) = self.reveals.take() {
            self.show(&key);
            self.draw_what_is_near(context);
        }
        if let Place::At(..) = self.place
            && self.top() >= self.last_top()
        {
            self.place = Place::End;
            self.draw_what_is_near(context);
        }
        self.forget_what_is_far();
    }

    /// Lists the entries; what was known of them stays.
    fn list(&mut self, told: &Projection) {
        let as_of = told.settled();
        let keep = match self.settled {
            Some((many, then)) if then == as_of => many,
            _ => 0,
        };
        let mut old: HashMap<Key, Laid> = self.laid.drain(keep..).map(|laid| (laid.entry.key.clone(), laid)).collect();
        let mut entries = Vec::new();
        if keep == 0 {
            entries = entries::settled(told, &mut self.cuts);
            self.settled = Some((entries.len(), as_of));
        }
        entries.extend(entries::live(told, &mut self.cuts));
        let width = self.width;
        self.laid.extend(entries.into_iter().map(|entry| match old.remove(&entry.key) {
            Some(laid) => Laid { entry, ..laid },
            None => Laid { height: guess(&entry, width), drawn: None, entry },
        }));
    }

    fn add_up(&mut self) {
        self.sums.clear();
        let mut sum = 0;
        for ix in 0..self.laid.len() {
            self.sums.push(sum);
            sum += usize::from(self.has_gap_before(ix)) + self.laid[ix].height;
        }
        self.sums.push(sum);
    }

    /// Draws entries until all that are on screen, and a page above and below it, are drawn as they are now.
    fn draw_what_is_near(&mut self, context: Context) {
        loop {
            let top = self.top();
            let (from, to) = (top.saturating_sub(self.height), top + 2 * self.height);
            let first = self.sums.partition_point(|sum| *sum <= from).saturating_sub(1);
            let end = self.sums.partition_point(|sum| *sum < to).min(self.laid.len());
            let mut moved = false;
            for ix in first..end {
                moved |= self.draw(context, ix);
            }
            if !moved {
                return;
            }
            self.add_up();
        }
    }

    /// Draws an entry if it is not drawn as it is now; says whether its height is another one.
    fn draw(&mut self, context: Context, ix: usize) -> bool {
        let laid = &self.laid[ix];
        let stamp = entries::stamp(context.told, &self.opened, &self.cuts, &laid.entry.key, context.now);
        let revision = self.colours.revision;
        let is_fresh = |drawn: &Drawn| drawn.stamp == stamp && drawn.pale.is_none_or(|then| then == revision);
        if laid.drawn.as_ref().is_some_and(is_fresh) {
            return false;
        }
        let page = draw::Page::new(context, &self.opened, &self.cuts, &self.colours, self.width);
        let lines = page.entry(&laid.entry.key);
        let pale = page.is_pale().then_some(revision);
        let laid = &mut self.laid[ix];
        let moved = laid.height != lines.len();
        laid.height = lines.len();
        laid.drawn = Some(Drawn { stamp, pale, lines });
        moved
    }

    /// Memory follows what is visible: of what is far away only the heights stay.
    fn forget_what_is_far(&mut self) {
        let drawn = self.laid.iter().filter(|laid| laid.drawn.is_some()).count();
        if drawn <= KEPT {
            return;
        }
        let top = self.top();
        let at = self.sums.partition_point(|sum| *sum <= top).saturating_sub(1);
        let near = at.saturating_sub(KEPT / 4)..at + KEPT / 4 + self.height;
        for (ix, laid) in self.laid.iter_mut().enumerate() {
            if !near.contains(&ix) {
                laid.drawn = None;
            }
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
        ix > 0 && !(self.laid[ix].entry.tight && self.laid[ix - 1].entry.tight && self.laid[ix - 1].height <= 2)
    }

    fn index_of(&self, key: &Key) -> Option<usize> {
        self.laid.iter().position(|laid| laid.entry.key == *key)
    }

    /// How many rows there are, as far as is known.
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
                // An entry has a gap above it, which may be the topmost row.
                Some(ix) => (self.sums[ix] + (*row).min(self.laid[ix].height)).min(self.last_top()),
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
        !self.is_following() && self.laid.last().map(|laid| &laid.entry) != self.left_at.as_ref()
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
        self.hold(top);
    }

    /// Stays at a row, whatever comes below.
    fn hold(&mut self, top: usize) {
        if self.is_following() {
            self.left_at = self.laid.last().map(|laid| laid.entry.clone());
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

    /// Chooses what a person said before the chosen entry, or after it.
    pub fn choose_said(&mut self, step: Step) {
        let at = self.chosen.as_ref().and_then(|key| self.index_of(key)).unwrap_or(self.laid.len());
        let is_said = |ix: &usize| matches!(self.laid[*ix].entry.key, Key::Said(_));
        let next = match step {
            Step::Up | Step::PageUp | Step::HalfUp | Step::Start => (0..at).rev().find(is_said),
            Step::Down | Step::PageDown | Step::HalfDown | Step::End => (at + 1..self.laid.len()).find(is_said),
        };
        if let Some(key) = next.map(|ix| self.laid[ix].entry.key.clone()) {
            self.show(&key);
            self.chosen = Some(key);
        }
    }

    /// A block of code of the chosen entry, to be copied: the last one, then the one before it. With
    /// its place among all of them.
    pub fn code_of_chosen(&mut self, told: &Projection) -> Option<(String, usize, usize)> {
        let key = self.chosen.clone()?;
        let codes = super::markdown::codes(&text::clean(&draw::words_of(told, &key)));
        let last = codes.len().checked_sub(1)?;
        let at = match &self.copied {
            Some((then, at)) if *then == key => at.checked_sub(1).unwrap_or(last).min(last),
            _ => last,
        };
        self.copied = Some((key, at));
        codes.into_iter().nth(at).map(|code| (code, at + 1, last + 1))
    }

    /// Chooses what a row of the context is shown as and brings it on screen; says whether it is here.
    pub fn go_to(&mut self, told: &Projection, row: u64) -> bool {
        self.list(told);
        self.add_up();
        let of = |key: &Key| match key {
            Key::Said(seq) | Key::Words(seq, ..) | Key::Thinking(seq, _) | Key::Cut(seq) => Some(*seq),
            Key::Call(id) => told.records.tool_calls.get(id).map(|call| call.assistant_seq),
            Key::Live(..) | Key::Forming(_) | Key::Notice | Key::Woken(_) => None,
        };
        let Some(key) = self.laid.iter().map(|laid| &laid.entry.key).find(|key| of(key) == Some(row)).cloned() else {
            return false;
        };
        self.show(&key);
        self.chosen = Some(key);
        true
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

    /// The rows on screen, and whether each belongs to the chosen entry, or of it holds the match.
    pub fn visible(&self) -> impl Iterator<Item = (Option<&Line<'static>>, bool)> {
        let top = self.top();
        let first = self.sums.partition_point(|sum| *sum <= top).saturating_sub(1);
        let skip = top - self.sums.get(first).copied().unwrap_or(top);
        (first..self.laid.len())
            .flat_map(move |ix| {
                let laid = &self.laid[ix];
                let chosen = self.chosen.as_ref() == Some(&laid.entry.key);
                let found = self.search.as_ref().and_then(Search::row);
                let gap = self.has_gap_before(ix).then_some((None, false));
                let lines = laid.drawn.as_ref().map_or(&[][..], |drawn| &drawn.lines);
                let is_chosen = move |row: usize| chosen && found.is_none_or(|found| found == row);
                gap.into_iter().chain(lines.iter().enumerate().map(move |(row, line)| (Some(line), is_chosen(row))))
            })
            .skip(skip)
            .take(self.height)
    }

    /// The words of the entry that is chosen, to be copied.
    pub fn words_of_chosen(&self, told: &Projection) -> String {
        self.chosen.as_ref().map(|key| draw::words_of(told, key)).unwrap_or_default()
    }
}

/// The conversation as text, as far as it is loaded: harmless to any program that shows it.
pub fn whole(told: &Projection) -> String {
    let mut out = String::new();
    for entry in entries::settled(told, &mut Cuts::default()) {
        // A long text is one here, whatever parts it is laid out in.
        if matches!(entry.key, Key::Words(_, _, piece) if piece > 0) {
            continue;
        }
        let words = text::clean(&draw::words_of(told, &entry.key));
        let words = words.trim_end();
        let heading = match &entry.key {
            Key::Said(_) => "› ".to_owned(),
            Key::Thinking(..) => "∴ ".to_owned(),
            Key::Call(id) => match told.records.tool_calls.get(id) {
                Some(call) => {
                    let gist = super::summary::gist(&call.arguments);
                    format!("● {} {}\n", text::line(&call.name), text::line(&gist))
                }
                None => continue,
            },
            Key::Cut(_) => "– cut short here".to_owned(),
            // What woke Main stands before the words that did.
            Key::Woken(_) => continue,
            Key::Words(..) | Key::Live(..) | Key::Forming(_) | Key::Notice => String::new(),
        };
        out.push_str(&format!("{heading}{words}\n\n"));
    }
    if told.more() && !out.is_empty() {
        out.insert_str(0, "(what was said before is not loaded here)\n\n");
    }
    out
}

/// How many rows an entry may have that was not drawn yet.
fn guess(entry: &Entry, width: usize) -> usize {
    1 + entry.bytes / width.clamp(20, 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Part, Role};
    use crate::tui::fixtures::{self, NOW};
    use crate::tui::theme::BuiltIn;

    /// A conversation of so many answers, each of several paragraphs of its own.
    fn told(answers: u64) -> Projection {
        let mut opening = fixtures::opening();
        opening.page.calls.clear();
        opening.page.rows = (1..=answers)
            .map(|seq| {
                let words: Vec<String> = (0..1 + seq % 7)
                    .map(|part| format!("row {seq} part {part} {}", "and on ".repeat((seq % 40) as usize)))
                    .collect();
                fixtures::row(seq, Role::Assistant, vec![Part::text(words.join("\n\n"))])
            })
            .collect();
        let mut told = Projection::default();
        told.open(opening);
        told
    }

    fn lay_out(chat: &mut Chat, told: &Projection, width: usize) {
        chat.lay_out(Context { told, theme: &BuiltIn::Dark.load(), now: NOW }, width, 20);
    }

    fn shown(chat: &Chat) -> Vec<String> {
        chat.visible().map(|(line, _)| line.map(ToString::to_string).unwrap_or_default()).collect()
    }

    #[test]
    fn only_what_is_looked_at_is_drawn_and_kept() {
        let told = told(20_000);
        let mut chat = Chat::default();
        lay_out(&mut chat, &told, 80);
        let drawn = |chat: &Chat| chat.laid.iter().filter(|laid| laid.drawn.is_some()).count();
        assert!(drawn(&chat) < 60, "{}", drawn(&chat));
        for _ in 0..400 {
            chat.scroll(Step::PageUp);
            lay_out(&mut chat, &told, 80);
        }
        assert!(drawn(&chat) <= KEPT + 60, "{}", drawn(&chat));
        chat.scroll(Step::Start);
        lay_out(&mut chat, &told, 80);
        assert!(shown(&chat)[0].contains("row 1 part 0"));
    }

    #[test]
    fn reading_page_by_page_leaves_nothing_out_and_repeats_nothing() {
        let told = told(300);
        let mut whole = Chat::default();
        let context = Context { told: &told, theme: &BuiltIn::Dark.load(), now: NOW };
        whole.lay_out(context, 60, 1_000_000);
        let all = shown(&whole);
        let mut chat = Chat::default();
        lay_out(&mut chat, &told, 60);
        let mut read = shown(&chat);
        while chat.top() > 0 {
            chat.scroll(Step::Up);
            lay_out(&mut chat, &told, 60);
            read.insert(0, shown(&chat)[0].clone());
        }
        assert_eq!(read, all);
    }

    #[test]
    fn what_is_said_stays_where_it_is_read_when_it_is_settled() {
        let mut told = told(3);
        let words: String = (0..200).map(|line| format!("line {line}\n\n")).collect();
        let say = crate::domain::Transient::Text {
            task: "t_parser00".into(),
            agent: "a_main0000".into(),
            call: "k_1".into(),
            at: 0,
            text: words.clone(),
        };
        told.take(&say);
        let mut chat = Chat::default();
        lay_out(&mut chat, &told, 80);
        chat.scroll(Step::PageUp);
        chat.scroll(Step::PageUp);
        lay_out(&mut chat, &told, 80);
        let read = shown(&chat);
        let event = crate::domain::Event::TurnCommitted {
            call: "k_1".into(),
            agent: "a_main0000".into(),
            row: fixtures::row(4, Role::Assistant, vec![Part::text(words)]),
            usage: Default::default(),
            consumed: Vec::new(),
        };
        let (seq, task) = (told.seq + 1, told.open.clone());
        let actor = crate::domain::Actor::system();
        told.record(&crate::domain::Recorded { seq, at: NOW, task, actor, event });
        lay_out(&mut chat, &told, 80);
        assert_eq!(shown(&chat), read);
    }
}
