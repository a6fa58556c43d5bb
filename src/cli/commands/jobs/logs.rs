//! Printing a Job's log: read from its folder, so that gigabytes cost no host anything.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::cli::units;
use crate::domain::Millis;
use crate::jobs::log::{Cursor, Hit, Line, LineEnd, Lines, Log, Pattern, Piece, Search, Stream, Watcher, shown};
use crate::jobs::{Folder, Outcome, reconcile};
use regex::RegexBuilder;
use serde_json::json;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The most of a log that is looked through for its last lines, in bytes.
const TAIL_BYTES: u64 = 1 << 30;

/// How often it is looked whether a Job still runs that prints nothing.
const LOOK_EVERY: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub struct LogsArgs {
    /// The Job
    pub id: String,
    /// Go on as it prints, until it ends
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last lines
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Only what came since: 10m ago, at 14:05, or at a date with time
    #[arg(long, value_name = "T", value_parser = since)]
    pub since: Option<Millis>,
    /// Only lines that match
    #[arg(long, value_name = "RE")]
    pub grep: Option<String>,
    /// Byte for byte as it was printed
    #[arg(long, conflicts_with_all = ["grep", "times"])]
    pub raw: bool,
    /// The errors of a Job without a terminal
    #[arg(long)]
    pub errors: bool,
    /// Say when each line came
    #[arg(long)]
    pub times: bool,
}

/// Reads a time: so long ago, a time of today, or a date with a time.
fn since(text: &str) -> Result<Millis, String> {
    if let Ok(ago) = units::duration(text) {
        return Ok(units::now() - ago.as_millis() as Millis);
    }
    let zone = jiff::tz::TimeZone::system();
    let now = jiff::Timestamp::now();
    let at = |local: jiff::civil::DateTime| zone.to_timestamp(local).map_err(|error| error.to_string());
    if let Ok(time) = text.parse::<jiff::civil::Time>() {
        let today = zone.to_datetime(now).date().to_datetime(time);
        // 23:50 said shortly after midnight was yesterday.
        let day = if at(today)? > now { today.yesterday().map_err(|error| error.to_string())? } else { today };
        return Ok(at(day)?.as_millisecond());
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Ok(at.as_millisecond());
    }
    match text.parse::<jiff::civil::DateTime>() {
        Ok(local) => Ok(at(local)?.as_millisecond()),
        Err(_) => Err("write how long ago (10m), a time (14:05) or a date with a time (2026-01-31T14:05)".into()),
    }
}

/// Prints it.
pub(super) async fn run(app: &App, args: LogsArgs) -> Result<Exit, Fault> {
    let (_, folder) = super::folder(app, &args.id).await?;
    let printer = Printer::new(app, &args)?;
    tokio::task::block_in_place(|| print(&folder, &args, printer))?;
    Ok(Exit::Done)
}

fn failed(error: io::Error) -> Fault {
    Fault::new("io", format!("cannot read the log: {error}"), "")
}

fn print(folder: &Folder, args: &LogsArgs, mut printer: Printer<'_>) -> Result<(), Fault> {
    let stream = if args.errors { Stream::Errors } else { Stream::Output };
    // Watched before it is read: nothing is missed in between.
    let told = args.follow.then(|| watch(folder)).transpose().map_err(failed)?;
    let log = Log::open(folder.path(), stream).map_err(failed)?;
    let mut from = log.start();
    if let Some(at) = args.since {
        from = from.max(log.offset_at(at));
    }
    if let Some(lines) = args.tail
        && args.grep.is_none()
    {
        from = from.max(log.tail(lines, TAIL_BYTES).map_err(failed)?);
    }
    if args.raw {
        return raw(Cursor::new(log, from), folder, told, &printer);
    }
    if let Some(pattern) = &args.grep {
        from = found(log, pattern, from, args.tail, &printer)?;
        if told.is_none() {
            return Ok(());
        }
    }
    let log = Log::open(folder.path(), stream).map_err(failed)?;
    let end = log.end();
    let mut lines = Lines::new(log, from);
    if told.is_none() {
        // One that floods prints faster than its lines are read.
        lines = lines.until(end);
    }
    loop {
        let ended = told.is_none() || has_ended(folder);
        while let Some(line) = lines.next_line().map_err(failed)? {
            if let Line::Text { offset, end: LineEnd::Open, .. } = &line
                && !ended
            {
                // It may go on: it is read again when it has.
                let log = Log::open(folder.path(), stream).map_err(failed)?;
                lines = Lines::new(log, *offset);
                break;
            }
            printer.line(line)?;
        }
        let Some(told) = told.as_ref().filter(|_| !ended) else { return Ok(()) };
        wait(told);
    }
}

fn raw(mut cursor: Cursor, folder: &Folder, told: Option<Watched>, printer: &Printer<'_>) -> Result<(), Fault> {
    let mut buffer = Vec::new();
    loop {
        let ended = told.is_none() || has_ended(folder);
        while let Some(piece) = cursor.next(&mut buffer).map_err(failed)? {
            match piece {
                Piece::Bytes { .. } => printer.app.out.bytes(&buffer)?,
                Piece::Gap(gap) => printer.app.out.note(&gap.to_string()),
            }
        }
        let Some(told) = told.as_ref().filter(|_| !ended) else { return Ok(()) };
        wait(told);
    }
}

/// Prints the lines that match; gives where the search ended.
fn found(log: Log, pattern: &str, from: u64, tail: Option<usize>, printer: &Printer<'_>) -> Result<u64, Fault> {
    let end = log.end();
    let mut search = Search::new(log, Pattern::Regex(pattern), from..end)
        .map_err(|error| Fault::usage(error.to_string(), "write it another way"))?;
    let mut last = std::collections::VecDeque::new();
    while let Some(hits) = search.step().map_err(failed)? {
        for hit in hits {
            match tail {
                None => printer.hit(hit)?,
                Some(lines) => {
                    last.push_back(hit);
                    if last.len() > lines {
                        last.pop_front();
                    }
                }
            }
        }
    }
    last.into_iter().try_for_each(|hit| printer.hit(hit))?;
    Ok(end)
}

/// Something that tells when the folder changes.
struct Watched {
    told: Receiver<()>,
    _watcher: Watcher,
}

fn watch(folder: &Folder) -> io::Result<Watched> {
    let (tell, told) = channel();
    let mut watcher = Watcher::new(move |_| {
        // Nobody listening is no fault.
        let _ = tell.send(());
    })?;
    watcher.watch(folder.path())?;
    Ok(Watched { told, _watcher: watcher })
}

fn wait(watched: &Watched) {
    match watched.told.recv_timeout(LOOK_EVERY) {
        Ok(()) => while watched.told.try_recv().is_ok() {},
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
    }
}

fn has_ended(folder: &Folder) -> bool {
    match folder.ended() {
        Ok(Some(_)) => true,
        Ok(None) | Err(_) => matches!(reconcile(folder), Ok(Outcome::Ended(_) | Outcome::Uncertain { .. })),
    }
}

/// How lines are printed.
struct Printer<'a> {
    app: &'a App,
    times: bool,
    pattern: Option<regex::Regex>,
}

impl<'a> Printer<'a> {
    fn new(app: &'a App, args: &LogsArgs) -> Result<Self, Fault> {
        let pattern = args.grep.as_deref().map(|pattern| {
            let small = !pattern.chars().any(char::is_uppercase);
            RegexBuilder::new(pattern).case_insensitive(small).build()
        });
        let pattern = pattern
            .transpose()
            .map_err(|_| Fault::usage("--grep: this is no regular expression", "write it another way"))?;
        Ok(Self { app, times: args.times, pattern })
    }

    fn line(&mut self, line: Line) -> Result<(), Fault> {
        match line {
            Line::Text { offset, at, bytes, .. } => {
                let text = shown(&bytes);
                if self.pattern.as_ref().is_some_and(|pattern| !pattern.is_match(&text)) {
                    return Ok(());
                }
                self.say(offset, at, &text)
            }
            Line::Gap(gap) if self.app.out.json => {
                self.app.out.json(&json!({ "offset": gap.offset, "at": gap.at, "gap": gap.to_string() }))
            }
            Line::Gap(gap) => self.app.out.line(&self.app.out.out.paint(Style::Warn, &format!("[{gap}]"))),
        }
    }

    fn hit(&self, hit: Hit) -> Result<(), Fault> {
        self.say(hit.line, hit.at, shown(&hit.text).trim_end_matches('\n'))
    }

    fn say(&self, offset: u64, at: Option<Millis>, text: &str) -> Result<(), Fault> {
        let out = &self.app.out;
        if out.json {
            return out.json(&json!({ "offset": offset, "at": at, "text": text }));
        }
        if self.times {
            let time = at.map(units::moment).unwrap_or_default();
            out.piece(&format!("{} ", out.out.paint(Style::Dim, &format!("{time:19}"))))?;
        }
        out.line(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_so_long_ago_or_of_a_day() {
        let now = units::now();
        assert!((since("10m").expect("understood") - (now - 600_000)).abs() < 5_000);
        assert_eq!(since("2026-01-31T14:05:00Z"), Ok(1_769_868_300_000));
        let time = since("00:00").expect("understood");
        assert!(time <= now && now - time < 25 * 3_600_000);
        since("soon").expect_err("no time");
    }
}
