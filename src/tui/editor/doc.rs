//! The document that is open: its buffer, and where this terminal looks at it.

use super::conflict::Conflict;
use super::review::{History, Review};
use super::rows;
use super::{Opened, Outside};
use crate::domain::{Actor, Blame, CandidateId, CommandId, Millis, Resource};
use crate::resources::attribution::{Attribution, Run};
use crate::resources::editor::{EditorBuffer, Motion, Reach};
use crate::resources::lines;
use crate::resources::refusal::Refusal;
use crate::resources::text::Syntax;
use crate::tui::action::Step;
use crate::tui::colours::{Colours, PartOfSpeech};
use ratatui::layout::Rect;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// How many lines the colours are asked for at once: scrolling a little asks for nothing.
const CHUNK: usize = 64;

/// From how many columns on the text as it is read stands beside the text.
const WIDE: u16 = 96;

/// What of the document is shown.
#[derive(Debug, Clone, PartialEq)]
pub enum Show {
    /// The text.
    Text,
    /// Its revisions.
    History(History),
    /// Its Candidates.
    Candidates(Review),
    /// A Candidate that came too late.
    Conflict(Box<Conflict>),
}

/// A row of the text on screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its line, from 0.
    pub line: usize,
    /// Which row of the line.
    pub row: usize,
    /// Its bytes.
    pub range: Range<usize>,
}

/// A row of the whole text: the line, and which row of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line, from 0.
    pub line: usize,
    /// The row of it.
    pub row: usize,
}

/// Who wrote the lines of a revision.
#[derive(Debug)]
pub struct Authors {
    /// Of which revision.
    pub revision: u64,
    /// Which revision wrote each line.
    pub attribution: Attribution,
    /// Who wrote those revisions.
    pub actors: BTreeMap<u64, Actor>,
}

/// The parts of speech of a line.
type Speech = Vec<(Range<usize>, PartOfSpeech)>;

/// The document that is open.
#[derive(Debug)]
pub struct Doc {
    /// Of which Resource.
    pub resource: Resource,
    /// The part that is edited.
    pub part: String,
    /// What it is written in.
    pub syntax: Syntax,
    /// The text.
    pub buffer: EditorBuffer,
    /// What is shown.
    pub show: Show,
    /// The newest revision there is.
    pub latest: u64,
    /// The save that is on its way.
    pub saving: Option<CommandId>,
    /// What leads to a newer revision is on its way.
    pub asked: bool,
    /// A newer revision changes what is changed here too: who wrote it. It waits for the person.
    pub held: Option<Actor>,
    /// The text is not based on a revision but on this Candidate, which came too late.
    pub apart: Option<CandidateId>,
    /// The person wants what stands apart merged: as soon as its sides are known.
    pub merges: bool,
    /// The person left what stands apart, or it is merged: the revision that stands comes next.
    pub leaves: bool,
    /// Who wrote the lines, where that is shown.
    pub authors: Option<Authors>,
    /// Whether that is shown.
    pub shows_authors: bool,
    /// Whether the text as it is read is shown too.
    pub preview: bool,
    /// When what is not saved, and what is selected, is to be told to the host.
    pub due: Option<Millis>,
    /// Whether the host keeps something that is not saved.
    pub is_kept: bool,
    /// What the host knows to be selected.
    pub told: Range<usize>,
    /// Where the text is drawn; its gutter is left of it.
    pub area: Rect,
    /// Where the text as it is read is drawn.
    pub read_area: Rect,
    /// The rows on screen.
    pub rows: Vec<Row>,
    /// The parts of speech of the lines on screen, from the first one on.
    pub speech: Vec<Speech>,
    /// The first row on screen.
    top: Place,
    /// Whether the caret is kept in sight.
    follows: bool,
    /// The column that going up and down aims at.
    goal: Option<usize>,
    /// The parts of speech that lines had.
    known: HashMap<String, Speech>,
}

impl Doc {
    /// Opens a text, with what was not saved of it.
    pub fn open(opened: Opened) -> Result<Self, Refusal> {
        let Opened { resource, revision, part, media_type, text, draft } = opened;
        let is_kept = draft.is_some();
        let buffer = match &draft {
            Some(draft) => EditorBuffer::restore(&text, draft)?,
            None => EditorBuffer::open(&text, revision),
        };
        Ok(Self {
            part,
            syntax: Syntax::of_media_type(&media_type),
            buffer,
            show: Show::Text,
            latest: resource.revision.max(revision),
            resource,
            saving: None,
            asked: false,
            held: None,
            apart: None,
            merges: false,
            leaves: false,
            authors: None,
            shows_authors: false,
            preview: false,
            due: None,
            is_kept,
            told: 0..0,
            area: Rect::default(),
            read_area: Rect::default(),
            rows: Vec::new(),
            speech: Vec::new(),
            top: Place::default(),
            follows: true,
            goal: None,
            known: HashMap::new(),
        })
    }

    /// The word by which a grammar is found.
    fn language(&self) -> &str {
        let name = self.resource.name.as_str();
        let ending = name.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map_or("", |(_, ending)| ending);
        match self.syntax {
            Syntax::Plain => "",
            Syntax::Markdown => "md",
            Syntax::Code(language) if ending.is_empty() => language.word(),
            Syntax::Code(_) | Syntax::Other => ending,
        }
    }

    /// Takes in who wrote the lines.
    pub fn take_blame(&mut self, revision: u64, blame: Vec<Blame>) {
        let runs = blame.iter().map(|run| Run { lines: run.lines, revision: run.revision }).collect();
        let actors = blame.into_iter().map(|run| (run.revision, run.actor)).collect();
        let attribution = Attribution { runs, elements: BTreeMap::new() };
        self.authors = Some(Authors { revision, attribution, actors });
    }

    /// The columns left of the text.
    pub fn gutter(&self) -> u16 {
        let digits = self.buffer.line_count().to_string().len().max(2) as u16;
        digits + 3 + if self.shows_authors { 7 } else { 0 }
    }

    /// Whether the text is Markdown, which is read in another form than it is written in.
    pub fn is_markdown(&self) -> bool {
        self.syntax == Syntax::Markdown
    }

    fn room(&self) -> usize {
        // The caret stands behind a full row.
        usize::from(self.area.width).saturating_sub(1).max(2)
    }

    /// The rows of a line, as ranges of bytes of the text.
    fn wrapped(&self, line: usize, enough: usize) -> Vec<Range<usize>> {
        let start = self.buffer.line_range(line).start;
        let text = self.buffer.line(line);
        let rows = rows::wrap(lines::body(&text), self.room(), enough);
        rows.into_iter().map(|row| start + row.start..start + row.end).collect()
    }

    fn last_line(&self) -> usize {
        self.buffer.line_count().saturating_sub(1)
    }

    /// The row that a byte is on.
    fn place_of(&self, byte: usize) -> Place {
        let line = self.buffer.line_of(byte);
        let rows = self.wrapped(line, usize::MAX);
        let row = rows.iter().rposition(|row| row.start <= byte).unwrap_or(0);
        Place { line, row }
    }

    /// The place so many rows above.
    fn above(&self, mut at: Place, mut by: usize) -> Place {
        while by > at.row {
            by -= at.row + 1;
            if at.line == 0 {
                return Place::default();
            }
            at.line -= 1;
            at.row = self.wrapped(at.line, usize::MAX).len() - 1;
        }
        at.row -= by;
        at
    }

    /// The place so many rows below.
    fn below(&self, mut at: Place, mut by: usize) -> Place {
        loop {
            let last = self.wrapped(at.line, at.row.saturating_add(by).saturating_add(1)).len() - 1;
            if at.row + by <= last {
                at.row += by;
                return at;
            }
            by -= last.saturating_sub(at.row) + 1;
            if at.line == self.last_line() {
                return Place { row: last, ..at };
            }
            at = Place { line: at.line + 1, row: 0 };
        }
    }

    /// The column of a byte on its row.
    fn column(&self, place: Place, byte: usize) -> usize {
        let start = self.wrapped(place.line, usize::MAX).get(place.row).map_or(byte, |row| row.start);
        let text = self.buffer.slice(start..byte.max(start));
        text.graphemes(true).fold(0, |column, cluster| column + rows::columns(cluster, column))
    }

    /// The byte at a column of a row, or the last one before it.
    fn byte_at(&self, place: Place, column: usize) -> usize {
        let rows = self.wrapped(place.line, usize::MAX);
        let Some(row) = rows.get(place.row).or(rows.last()) else { return 0 };
        let text = self.buffer.slice(row.clone());
        let (mut at, mut reached, mut before) = (row.start, 0, row.start);
        for cluster in text.graphemes(true) {
            reached += rows::columns(cluster, reached);
            if reached > column {
                return at;
            }
            before = at;
            at += cluster.len();
        }
        // Behind the last cluster of a row that goes on is the start of the next one.
        if place.row + 1 < rows.len() { before } else { at }
    }

    /// Moves the caret.
    pub fn go(&mut self, motion: Motion, reach: Reach) {
        self.buffer.go(motion, reach);
        self.goal = None;
        self.follows = true;
    }

    /// Moves the caret by rows as they are drawn.
    pub fn go_rows(&mut self, step: Step, reach: Reach) {
        let page = usize::from(self.area.height).saturating_sub(1).max(1);
        let head = self.buffer.selection().head;
        let at = self.place_of(head);
        let goal = self.goal.unwrap_or_else(|| self.column(at, head));
        let to = match step {
            Step::Up => self.above(at, 1),
            Step::Down => self.below(at, 1),
            Step::PageUp => self.above(at, page),
            Step::PageDown => self.below(at, page),
            Step::HalfUp => self.above(at, page.div_ceil(2)),
            Step::HalfDown => self.below(at, page.div_ceil(2)),
            Step::Start => Place::default(),
            Step::End => Place { line: self.last_line(), row: 0 },
        };
        let byte = match to == at {
            false => self.byte_at(to, goal),
            true if matches!(step, Step::Up | Step::PageUp | Step::HalfUp | Step::Start) => 0,
            true => self.buffer.len(),
        };
        self.buffer.go(Motion::To(byte), reach);
        self.goal = Some(goal);
        self.follows = true;
    }

    /// Puts the caret where the pointer is.
    pub fn click(&mut self, column: u16, row: u16) {
        let row = usize::from(row.saturating_sub(self.area.y));
        let Some(row) = self.rows.get(row).or(self.rows.last()) else { return };
        let place = Place { line: row.line, row: row.row };
        let byte = self.byte_at(place, usize::from(column.saturating_sub(self.area.x)));
        self.go(Motion::To(byte), Reach::Move);
    }

    /// Scrolls the text; the caret stays where it is.
    pub fn scroll(&mut self, step: Step) {
        let page = usize::from(self.area.height).max(1);
        self.top = match step {
            Step::Up => self.above(self.top, 1),
            Step::Down => self.below(self.top, 1),
            Step::PageUp => self.above(self.top, page),
            Step::PageDown => self.below(self.top, page),
            Step::HalfUp => self.above(self.top, page.div_ceil(2)),
            Step::HalfDown => self.below(self.top, page.div_ceil(2)),
            Step::Start => Place::default(),
            Step::End => self.above(Place { line: self.last_line(), row: 0 }, page / 2),
        };
        self.follows = false;
    }

    /// The text changed, by whoever: the caret is kept in sight.
    pub fn changed(&mut self) {
        self.goal = None;
        self.follows = true;
    }

    /// Takes in what others committed; what is on screen stays where it is.
    pub fn take(&mut self, patch: &crate::resources::Patch, to: u64, by: &Actor) -> Result<(), Refusal> {
        let line = |doc: &Self| doc.buffer.line_of(doc.buffer.selection().head);
        let before = line(self);
        self.buffer.apply_remote(patch, to, by)?;
        let moved = line(self) as isize - before as isize;
        self.top.line = self.top.line.saturating_add_signed(moved);
        self.goal = None;
        Ok(())
    }

    /// Fits the text to the pane, and notes what of it is on screen.
    pub(super) fn lay_out(&mut self, area: Rect, colours: &Colours) {
        let head = 1 + u16::from(self.held.is_some());
        let mut area = Rect { y: area.y + head.min(area.height), height: area.height.saturating_sub(head), ..area };
        self.read_area = Rect::default();
        if self.preview && area.width >= WIDE {
            let width = area.width / 2;
            self.read_area = Rect { x: area.x + width + 1, width: area.width - width - 1, ..area };
            area.width = width;
        } else if self.preview {
            let height = area.height / 2;
            self.read_area = Rect { y: area.y + height + 1, height: (area.height - height).saturating_sub(1), ..area };
            area.height = height;
        }
        let gutter = self.gutter().min(area.width);
        self.area = Rect { x: area.x + gutter, width: area.width - gutter, ..area };
        let height = usize::from(self.area.height);
        self.top.line = self.top.line.min(self.last_line());
        self.top.row = self.top.row.min(self.wrapped(self.top.line, self.top.row + 1).len() - 1);
        if self.follows && height > 0 {
            let caret = self.place_of(self.buffer.selection().head);
            self.top = self.top.min(caret).max(self.above(caret, height - 1));
        }
        self.rows.clear();
        let (mut line, mut skip) = (self.top.line, self.top.row);
        while self.rows.len() < height && line <= self.last_line() {
            let wrapped = self.wrapped(line, skip + height);
            let rows = wrapped.into_iter().enumerate().skip(skip).map(|(row, range)| Row { line, row, range });
            self.rows.extend(rows.take(height - self.rows.len()));
            (line, skip) = (line + 1, 0);
        }
        self.speak(colours);
    }

    /// Finds the parts of speech of the lines on screen. While they are being found out, a line keeps
    /// those that one with the same words had.
    fn speak(&mut self, colours: &Colours) {
        self.speech.clear();
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return };
        let (first, last) = (first.line, last.line);
        let language = self.language();
        if language.is_empty() {
            return;
        }
        let from = (first / CHUNK).saturating_sub(1) * CHUNK;
        let to = (last / CHUNK + 1) * CHUNK;
        let range = self.buffer.line_range(from).start..self.buffer.line_range(to.min(self.last_line())).end;
        let code = self.buffer.slice(range);
        if let Some(coloured) = colours.of(language, &code).filter(|_| !colours.is_asked(language, &code)) {
            let known = code.split_inclusive('\n').zip(coloured.iter()).map(|(line, speech)| {
                let line = line.trim_end_matches(['\n', '\r']);
                (line.to_owned(), speech.clone())
            });
            self.known = known.collect();
            let ours = coloured.iter().skip(first - from).take(last - first + 1).cloned();
            self.speech = ours.collect();
            return;
        }
        drop(code);
        let speech = (first..=last).map(|line| {
            let text = self.buffer.line(line);
            self.known.get(lines::body(&text)).cloned().unwrap_or_default()
        });
        self.speech = speech.collect();
    }

    /// The part of speech of a byte of a line on screen.
    pub fn part_of(&self, line: usize, byte_in_line: usize) -> Option<PartOfSpeech> {
        let first = self.rows.first()?.line;
        let speech = self.speech.get(line.checked_sub(first)?)?;
        speech.iter().find(|(range, _)| range.contains(&byte_in_line)).map(|(_, part)| *part)
    }

    /// Where the caret is drawn, if it is on screen.
    pub fn caret(&self) -> Option<(u16, u16)> {
        let head = self.buffer.selection().head;
        let row = self.rows.iter().rposition(|row| row.range.start <= head && self.buffer.line_of(head) == row.line)?;
        let is_end_of_line = self.rows.get(row + 1).is_none_or(|next| next.line != self.rows[row].line);
        if head > self.rows[row].range.end || (head == self.rows[row].range.end && !is_end_of_line) {
            return None;
        }
        let text = self.buffer.slice(self.rows[row].range.start..head);
        let column = text.graphemes(true).fold(0, |column, cluster| column + rows::columns(cluster, column));
        let column = (column as u16).min(self.area.width.saturating_sub(1));
        Some((self.area.x + column, self.area.y + row as u16))
    }

    /// What is handed to the person's own editor.
    pub fn for_outside(&self, what: Outside) -> String {
        match (what, &self.show) {
            (Outside::Piece, Show::Conflict(conflict)) => conflict.by_hand(),
            (Outside::Piece | Outside::Text, _) => self.buffer.text(),
        }
    }
}
