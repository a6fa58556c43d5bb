//! What a Job was told to watch for in its own output: looked for as the log grows, told at a rate
//! that a reader can bear, and each line once, across any number of hosts.

use super::super::Coordinator;
use super::{Follower, blocking};
use crate::domain::*;
use crate::jobs::Folder;
use crate::jobs::log::{Line, LineEnd, Lines, Log, Stream, shown};
use regex::RegexSet;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// How often a Job's matches are told at most.
const TELL_EVERY: Duration = Duration::from_secs(10);

/// How often a log is looked through at most.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Watches one Job's output. Does nothing for a Job that was not told to.
pub(super) struct Matches {
    job: Job,
    folder: Folder,
    patterns: Option<RegexSet>,
    follower: Option<Follower>,
    /// Up to where what was found is recorded.
    told_through: u64,
    found: Found,
    next_look: Instant,
    next_tell: Instant,
    /// Whether the log has been looked through to its end since it was followed.
    is_first: bool,
}

/// What was found and not told yet.
#[derive(Debug, Clone, Default)]
struct Found {
    through: u64,
    count: u64,
    line: String,
}

impl Matches {
    pub(super) fn new(job: &Job, folder: &Folder) -> Self {
        let watch = &job.definition.watch;
        let patterns = if watch.is_empty() { None } else { RegexSet::new(watch).ok() };
        let found = Found { through: job.matched_through, ..Found::default() };
        let now = Instant::now();
        Self {
            told_through: job.matched_through,
            job: job.clone(),
            folder: folder.clone(),
            patterns,
            follower: None,
            found,
            next_look: now,
            next_tell: now,
            is_first: true,
        }
    }

    /// Returns when there may be something to find, or to tell. Never for a Job that watches for nothing.
    pub(super) async fn due(&mut self, coordinator: &Coordinator) {
        if self.patterns.is_none() {
            return std::future::pending().await;
        }
        if self.follower.is_none() {
            match coordinator.inner.jobs.follow.follow(self.folder.path()) {
                Ok(follower) => self.follower = Some(follower),
                Err(error) => {
                    tracing::error!(job = %self.job.id, %error, "a Job's log can't be followed");
                    tokio::time::sleep(TELL_EVERY).await;
                    return;
                }
            }
        }
        let Some(follower) = &self.follower else { return };
        let grown = follower.grown();
        if self.is_first {
            self.is_first = false;
            return;
        }
        tokio::select! {
            () = grown => tokio::time::sleep_until(self.next_look).await,
            () = tokio::time::sleep_until(self.next_tell), if self.found.count > 0 => {}
        }
    }

    /// Looks through what has come, and tells what was found when it is time.
    pub(super) async fn look(&mut self, coordinator: &Coordinator) {
        self.search(LastLine::MayGoOn).await;
        // What came while it was looked at is looked at soon.
        self.next_look = Instant::now() + LOOK_EVERY;
        if Instant::now() >= self.next_tell {
            self.tell(coordinator).await;
        }
    }

    /// Looks through the rest, now that nothing more comes, and tells it.
    pub(super) async fn finish(&mut self, coordinator: &Coordinator) {
        self.search(LastLine::IsWhole).await;
        self.tell(coordinator).await;
    }

    async fn search(&mut self, last: LastLine) {
        let Some(patterns) = self.patterns.clone() else { return };
        let (folder, found) = (self.folder.clone(), self.found.clone());
        match blocking(move || search(&folder, &patterns, found, last)).await {
            Ok(Ok(found)) => self.found = found,
            Ok(Err(error)) => tracing::error!(job = %self.job.id, %error, "a Job's log can't be looked through"),
            Err(_) => {}
        }
    }

    async fn tell(&mut self, coordinator: &Coordinator) {
        if self.found.count == 0 {
            return;
        }
        let Found { through, count, line } = self.found.clone();
        let report = JobReport::Matched { from: self.told_through, through, count, line };
        super::report(coordinator, &self.job, report).await;
        self.told_through = through;
        self.found = Found { through, ..Found::default() };
        self.next_tell = Instant::now() + TELL_EVERY;
    }
}

/// Whether the last line of a log may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastLine {
    MayGoOn,
    IsWhole,
}

fn search(folder: &Folder, patterns: &RegexSet, mut found: Found, last: LastLine) -> io::Result<Found> {
    let log = Log::open(folder.path(), Stream::Output)?;
    let end = log.end();
    let mut lines = Lines::new(log, found.through).until(end);
    while let Some(line) = lines.next_line()? {
        let Line::Text { offset, bytes, end: line_end, .. } = line else { continue };
        if line_end == LineEnd::Open && last == LastLine::MayGoOn {
            return Ok(found);
        }
        let text = shown(&bytes);
        if patterns.is_match(&text) {
            found.count += 1;
            found.line = text;
        }
        found.through = offset + bytes.len() as u64 + u64::from(line_end == LineEnd::Break);
    }
    found.through = found.through.max(end);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_found_once_and_the_last_one_when_nothing_more_comes() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(scratch.path());
        let patterns = RegexSet::new(["ready", "^error"]).expect("patterns");
        let write = |text: &str| std::fs::write(folder.file("output.log"), text).expect("written");
        write("error: no\nfine\nan error\nis rea");
        let found = search(&folder, &patterns, Found::default(), LastLine::MayGoOn).expect("searched");
        assert_eq!((found.count, found.through, found.line.as_str()), (1, 24, "error: no"));
        write("error: no\nfine\nan error\nis ready");
        let again = search(&folder, &patterns, found, LastLine::MayGoOn).expect("searched");
        assert_eq!((again.count, again.through), (1, 24));
        let all = search(&folder, &patterns, again, LastLine::IsWhole).expect("searched");
        assert_eq!((all.count, all.line.as_str()), (2, "is ready"));
    }
}
