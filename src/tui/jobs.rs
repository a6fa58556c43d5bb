//! Jobs on this terminal: which there are, which one is chosen, and the lines of its log.

use crate::domain::{JobId, JobView, LogLine, LogPage, LogPlace, Millis};

use super::action::Step;
use super::job_order::{Order, pick};
use super::model::Refresh;

/// The most lines of a log that are held; the host has the rest.
const MOST_LINES: usize = 5_000;

/// How many lines are asked for at once.
pub const LINES: u32 = 500;

/// How often what a Job uses and prints is asked for while it is shown.
pub const LOOK_EVERY: Millis = 1_000;

/// How soon is looked again at a log on screen that has just grown.
pub const FOLLOW: Millis = 100;

/// How many bytes may be read after; beyond them the end is read instead.
const FAR: u64 = 256 * 1024;

/// How long the question whether it is meant stays open.
pub const SURE_FOR: Millis = 5_000;

/// Something done in the pane of Jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobsAct {
    /// Chooses a Job.
    Choose(Step),
    /// Reads the log of the chosen one, the whole pane high.
    Read,
    /// Leaves the log, or what was found in it.
    Leave,
    /// Scrolls the log.
    Scroll(Step),
    /// Follows the end of the log.
    Follow,
    /// Shows when lines came, or not.
    ToggleTimes,
    /// Breaks long lines, or cuts them.
    ToggleWrap,
    /// Shows Jobs that have ended too, or not.
    ToggleEnded,
    /// Puts the list in another order.
    Order,
    /// Reads the whole log of the chosen one in the person's pager.
    Page,
    /// Copies the lines of the log that are here.
    Copy,
    /// Takes over the terminal of the chosen one.
    Attach,
    /// Ends the chosen one, once that is confirmed.
    Stop,
    /// Starts the chosen one again, once that is confirmed.
    Restart,
    /// Takes the chosen one away, once that is confirmed.
    Remove,
}

/// The pane of Jobs.
#[derive(Debug, Default)]
pub struct Jobs {
    /// Which there are, newest first.
    pub all: Vec<JobView>,
    /// Those that are shown, in their order.
    pub views: Vec<JobView>,
    /// The order they are in.
    pub order: Order,
    /// What those that are shown must hold.
    pub words: String,
    /// The chosen one.
    pub chosen: usize,
    /// Whether those that have ended are shown.
    pub ended: bool,
    /// The question which there are.
    pub refresh: Refresh,
    /// The log of the chosen one.
    pub log: Option<JobLog>,
    /// What is to be confirmed, of which Job, and since when.
    pub sure: Option<(JobsAct, JobId, Millis)>,
    /// When is looked again.
    pub next: Millis,
}

impl Jobs {
    /// The chosen Job.
    pub fn chosen(&self) -> Option<&JobView> {
        self.views.get(self.chosen)
    }

    /// Whether some Job on screen has not ended.
    pub fn lives(&self) -> bool {
        self.all.iter().any(|view| !view.job.state.is_ended())
    }

    /// Takes the list in; the chosen one stays chosen.
    pub fn take(&mut self, views: Vec<JobView>) {
        self.all = views;
        self.pick();
    }

    /// Picks anew what is shown; the chosen one stays chosen.
    pub fn pick(&mut self) {
        let chosen = self.chosen().map(|view| view.job.id.clone());
        self.views = pick(&self.all, &self.words, self.order);
        let at = self.views.iter().position(|view| Some(&view.job.id) == chosen.as_ref());
        self.chosen = at.unwrap_or(self.chosen.min(self.views.len().saturating_sub(1)));
    }

    /// Whether the log fills the pane.
    pub fn reads(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.is_open)
    }
}

/// The lines of a log, as far as they are here.
#[derive(Debug, Clone, PartialEq)]
pub struct JobLog {
    /// Whose.
    pub job: JobId,
    /// The lines, oldest first.
    pub lines: Vec<LogLine>,
    /// The byte after them.
    pub to: u64,
    /// Whether it fills the pane.
    pub is_open: bool,
    /// How many lines from the end the last one on screen is.
    pub back: usize,
    /// Whether lines are on their way.
    pub asked: bool,
    /// What is looked for, and what was found of it so far.
    pub found: Option<(String, Vec<LogLine>)>,
    /// Whether it is shown when lines came.
    pub times: bool,
    /// Whether long lines are broken.
    pub wraps: bool,
    /// When is looked again at a log that grows.
    pub next: Option<Millis>,
    /// Whether it grows faster than it is read here: whoever follows it then reads its end, and not all before it.
    pub is_far: bool,
    /// A moment that is looked at: more lines come when they are scrolled to, and not by themselves.
    pub moment: Option<Millis>,
}

impl JobLog {
    /// A log of which nothing is here yet.
    pub fn new(job: JobId) -> Self {
        Self {
            job,
            lines: Vec::new(),
            to: 0,
            is_open: false,
            back: 0,
            asked: false,
            found: None,
            times: false,
            wraps: true,
            next: None,
            is_far: false,
            moment: None,
        }
    }

    /// From where the next lines are asked for: the last one again where it may have gone on.
    pub fn place(&self) -> LogPlace {
        match self.lines.last() {
            Some(_) if self.is_far && self.back == 0 => LogPlace::Tail,
            None => self.moment.map_or(LogPlace::Tail, LogPlace::Time),
            Some(line) if line.kind == crate::domain::LogLineKind::Open => LogPlace::Offset(line.offset),
            Some(_) => LogPlace::Offset(self.to),
        }
    }

    /// Looks at a moment from now on; `None` follows the end again.
    pub fn jump(&mut self, moment: Option<Millis>) {
        self.lines.clear();
        (self.to, self.back, self.asked, self.found, self.moment) = (0, 0, false, None, moment);
    }

    /// Takes lines in.
    pub fn take(&mut self, page: LogPage) {
        self.asked = false;
        self.next = None;
        if page.from > self.to && self.moment.is_none() {
            // What lies between was never here: lines that don't follow each other don't stand together.
            self.lines.clear();
        }
        self.is_far = self.moment.is_none() && page.end.saturating_sub(page.to) > FAR;
        let before = self.lines.len();
        self.lines.retain(|line| line.offset < page.from);
        let kept = self.lines.len();
        self.to = page.to;
        self.lines.extend(page.lines);
        let more = self.lines.len().saturating_sub(before.max(kept));
        // Who reads further up stays where they read; at a moment one begins with it.
        if self.moment.is_some() && before == 0 {
            self.back = self.lines.len().saturating_sub(1);
        } else if self.back > 0 || self.moment.is_some() {
            self.back += more;
        }
        if self.lines.len() > MOST_LINES {
            self.lines.drain(..self.lines.len() - MOST_LINES);
        }
    }

    /// The lines that are shown: what was found, or all.
    pub fn shown(&self) -> &[LogLine] {
        self.found.as_ref().map_or(&self.lines, |(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::LogLineKind;

    fn line(offset: u64, text: &str, kind: LogLineKind) -> LogLine {
        LogLine { offset, at: None, kind, text: text.into() }
    }

    #[test]
    fn a_line_that_went_on_takes_the_place_of_its_beginning() {
        let mut log = JobLog::new("j_1".into());
        assert_eq!(log.place(), LogPlace::Tail);
        let lines = vec![line(0, "one", LogLineKind::Whole), line(4, "tw", LogLineKind::Open)];
        log.take(LogPage { start: 0, end: 6, from: 0, to: 6, lines });
        assert_eq!(log.place(), LogPlace::Offset(4));
        let lines = vec![line(4, "two", LogLineKind::Whole), line(8, "three", LogLineKind::Whole)];
        log.take(LogPage { start: 0, end: 14, from: 4, to: 14, lines });
        let texts: Vec<&str> = log.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((texts, log.place()), (vec!["one", "two", "three"], LogPlace::Offset(14)));
    }

    #[test]
    fn who_reads_further_up_stays_there_while_lines_come() {
        let mut log = JobLog::new("j_1".into());
        let lines = (0..10).map(|at| line(at * 2, "x", LogLineKind::Whole)).collect();
        log.take(LogPage { start: 0, end: 20, from: 0, to: 20, lines });
        log.back = 4;
        let lines = vec![line(20, "y", LogLineKind::Whole), line(22, "z", LogLineKind::Whole)];
        log.take(LogPage { start: 0, end: 24, from: 20, to: 24, lines });
        assert_eq!(log.back, 6);
    }

    #[test]
    fn of_a_log_that_floods_its_end_is_read_and_what_was_left_out_is_not_glued_over() {
        let mut log = JobLog::new("j_1".into());
        log.take(LogPage { start: 0, end: 4, from: 0, to: 4, lines: vec![line(0, "one", LogLineKind::Whole)] });
        let end = 10 * FAR;
        log.take(LogPage { start: 0, end, from: 4, to: 8, lines: vec![line(4, "two", LogLineKind::Whole)] });
        assert_eq!((log.lines.len(), log.place()), (2, LogPlace::Tail));
        log.back = 1;
        assert_eq!(log.place(), LogPlace::Offset(8), "who reads further up reads on from there");
        log.back = 0;
        log.take(LogPage {
            start: 0,
            end,
            from: end - 4,
            to: end,
            lines: vec![line(end - 4, "end", LogLineKind::Whole)],
        });
        assert_eq!((log.lines.len(), log.place()), (1, LogPlace::Offset(end)));
    }
}
