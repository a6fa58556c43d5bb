//! What is answered of Jobs: the record, what is to be seen of it now, and lines of its log.

use super::super::Coordinator;
use super::blocking;
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use crate::jobs::log::{Hit, Line, LineEnd, Lines, Log, Pattern, Search, Stream, shown};
use crate::jobs::{self, Folder, typed};
use crate::process::{Identity, Table};
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The most that a page holds of text, in bytes; a client shows less, and may ask again.
const PAGE: usize = 1 << 20;

/// The most lines of a page.
const LINES: u32 = 5000;

/// The most that is shown of one line, in bytes.
const LINE: usize = 16 << 10;

/// How long a search goes on before it gives what it has.
const SEARCH: Duration = Duration::from_secs(2);

/// When the processor time of Jobs was looked at last, and what it was.
pub(super) type Samples = Arc<Mutex<HashMap<JobId, (Instant, u64)>>>;

impl Coordinator {
    /// Answers what the store alone can't.
    pub(in crate::runtime) async fn ask_of_jobs(&self, query: Query) -> Result<Answer, Rejection> {
        match query {
            Query::Jobs { .. } => match self.read(move |store| store.ask(&query)).await? {
                Answer::Jobs(views) => Ok(Answer::Jobs(self.see(views).await?)),
                other => Ok(other),
            },
            Query::Job { .. } => match self.read(move |store| store.ask(&query)).await? {
                Answer::Job(view) => {
                    let mut seen = self.see(vec![*view]).await?;
                    seen.pop().map(|view| Answer::Job(Box::new(view))).ok_or_else(|| unread("it was not there"))
                }
                other => Ok(other),
            },
            Query::JobLog { job, errors, from, lines } => {
                let folder = self.known(&job).await?;
                let page = blocking(move || page(&folder, stream(errors), from, lines.min(LINES))).await?;
                page.map(Answer::JobLog).map_err(|error| unread(&error.to_string()))
            }
            Query::JobSearch { job, errors, pattern, regex, from, limit } => {
                let folder = self.known(&job).await?;
                let limit = limit.min(LINES) as usize;
                blocking(move || search(&folder, stream(errors), &pattern, regex, from, limit))
                    .await?
                    .map(Answer::JobLog)
            }
            query => self.read(move |store| store.ask(&query)).await,
        }
    }

    /// The folder of a Job that there is.
    async fn known(&self, job: &JobId) -> Result<Folder, Rejection> {
        let query = Query::Job { job: job.clone() };
        self.read(move |store| store.ask(&query)).await?;
        Ok(self.inner.jobs.folder(job))
    }

    /// Adds what is to be seen of Jobs that have not ended.
    async fn see(&self, mut views: Vec<JobView>) -> Result<Vec<JobView>, Rejection> {
        let samples = self.inner.jobs.samples.clone();
        let folders: Vec<Folder> = views.iter().map(|view| self.inner.jobs.folder(&view.job.id)).collect();
        blocking(move || {
            let mut table = None;
            for (view, folder) in views.iter_mut().zip(folders) {
                view.seen.typed = typed::typed(folder.path()).map(|times| times.len()).unwrap_or_default();
                if view.job.state.is_ended() {
                    continue;
                }
                if let Ok(said) = jobs::look::said(&folder) {
                    view.seen.log_bytes = said.bytes;
                    view.seen.last_output_at = said.at;
                    view.seen.last_line = said.line;
                    view.seen.progress = said.progress.and_then(|progress| progress.fraction);
                    view.seen.eta_s = said.progress.and_then(|progress| progress.eta_s);
                }
                use_of(view, &folder, table.get_or_insert_with(Table::read), &samples);
            }
            views
        })
        .await
    }
}

/// Adds what a Job's processes use.
fn use_of(view: &mut JobView, folder: &Folder, table: &Table, samples: &Samples) {
    let Ok(Some(record)) = folder.started() else { return };
    if !Identity::is_running(&record.shim) {
        return;
    }
    let usage = jobs::look::usage(table, &record);
    view.seen.rss_bytes = Some(usage.rss_bytes);
    view.seen.processes = Some(usage.processes);
    let now = Instant::now();
    let before = samples.lock().ok().and_then(|mut samples| samples.insert(view.job.id.clone(), (now, usage.cpu_ms)));
    let (elapsed_ms, used_ms) = match before {
        Some((then, cpu_ms)) if now.duration_since(then) >= Duration::from_millis(200) => {
            (now.duration_since(then).as_millis() as f64, usage.cpu_ms.saturating_sub(cpu_ms) as f64)
        }
        Some(_) | None => {
            let since = super::super::now().saturating_sub(record.started_at).max(1);
            (since as f64, usage.cpu_ms as f64)
        }
    };
    view.seen.cpu_percent = Some((used_ms / elapsed_ms * 1000.0).round() / 10.0);
}

fn stream(errors: bool) -> Stream {
    if errors { Stream::Errors } else { Stream::Output }
}

fn unread(why: &str) -> Rejection {
    Rejection::new(RejectionKind::Storage, format!("the Job's log can't be read: {why}"), "try again")
}

fn page(folder: &Folder, stream: Stream, place: LogPlace, lines: u32) -> io::Result<LogPage> {
    let log = Log::open(folder.path(), stream)?;
    let (start, end) = (log.start(), log.end());
    let (from, until) = match place {
        LogPlace::Offset(offset) => (offset.clamp(start, end), end),
        LogPlace::Time(at) => (log.offset_at(at), end),
        LogPlace::Tail => (log.tail(lines as usize, PAGE as u64)?, end),
        LogPlace::Before(offset) => {
            let until = offset.clamp(start, end);
            (log.before(until, lines as usize, PAGE as u64)?, until)
        }
    };
    let mut page = LogPage { start, end, from, to: from, lines: Vec::new() };
    let mut walk = Lines::new(log, from).until(until);
    let mut size = 0;
    while page.lines.len() < lines as usize
        && size < PAGE
        && let Some(line) = walk.next_line()?
    {
        let (line, to) = told(line);
        size += line.text.len();
        page.to = to.min(until).max(page.to);
        page.lines.push(line);
    }
    Ok(page)
}

/// A line as it is shown, and where it ends.
fn told(line: Line) -> (LogLine, u64) {
    match line {
        Line::Text { offset, at, bytes, end } => {
            let to = offset + bytes.len() as u64 + u64::from(end == LineEnd::Break);
            let kind = if end == LineEnd::Open { LogLineKind::Open } else { LogLineKind::Whole };
            (LogLine { offset, at, kind, text: cut(shown(&bytes)) }, to)
        }
        Line::Gap(gap) => {
            let line = LogLine { offset: gap.offset, at: gap.at, kind: LogLineKind::Gap, text: gap.to_string() };
            (line, gap.offset)
        }
    }
}

fn cut(mut text: String) -> String {
    if text.len() > LINE {
        let end = (0..=LINE).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        let more = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… [{more} bytes more]"));
    }
    text
}

fn search(
    folder: &Folder,
    stream: Stream,
    pattern: &str,
    regex: bool,
    from: u64,
    limit: usize,
) -> Result<LogPage, Rejection> {
    let log = Log::open(folder.path(), stream).map_err(|error| unread(&error.to_string()))?;
    let (start, end) = (log.start(), log.end());
    let from = from.clamp(start, end);
    let pattern = if regex { Pattern::Regex(pattern) } else { Pattern::Literal(pattern) };
    let mut search = Search::new(log, pattern, from..end)
        .map_err(|error| Rejection::invalid(error.to_string(), "write it another way"))?;
    let mut page = LogPage { start, end, from, to: from, lines: Vec::new() };
    let deadline = Instant::now() + SEARCH;
    let mut size = 0;
    while page.lines.len() < limit && Instant::now() < deadline {
        let Some(hits) = search.step().map_err(|error| unread(&error.to_string()))? else {
            page.to = end;
            return Ok(page);
        };
        page.to = search.at();
        for hit in hits {
            if page.lines.len() == limit || size >= PAGE {
                // The search goes on at the first that is left out.
                page.to = hit.line;
                return Ok(page);
            }
            let line = told_hit(hit);
            size += line.text.len();
            page.lines.push(line);
        }
    }
    Ok(page)
}

fn told_hit(hit: Hit) -> LogLine {
    LogLine { offset: hit.line, at: hit.at, kind: LogLineKind::Whole, text: cut(shown(&hit.text)) }
}
