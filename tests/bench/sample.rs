//! A figure and how it is written: several runs, the least, the median and the most.

use std::path::Path;
use std::time::{Duration, Instant};

/// Several runs of the same thing, sorted.
pub struct Sample(Vec<Duration>);

impl Sample {
    /// Measures so many runs, after one that is not counted.
    pub fn of(runs: usize, mut run: impl FnMut() -> Duration) -> Self {
        run();
        Self::from((0..runs).map(|_| run()).collect())
    }

    /// Takes runs that were measured already.
    pub fn from(mut runs: Vec<Duration>) -> Self {
        runs.sort();
        Self(runs)
    }

    /// The run in the middle.
    pub fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    /// What they took together, for each.
    pub fn mean(&self) -> Duration {
        self.0.iter().sum::<Duration>() / self.0.len() as u32
    }

    /// Writes the head of a table of samples.
    pub fn head() {
        println!("| milliseconds | runs | least | median | most |\n|---|---|---|---|---|");
    }

    /// Writes a row of the table.
    pub fn row(&self, what: &str) {
        let runs = self.0.len();
        let [least, median, most] =
            [self.0[0], self.median(), self.0[runs - 1]].map(|took| format!("{:.2}", took.as_secs_f64() * 1e3));
        println!("| {what} | {runs} | {least} | {median} | {most} |");
    }
}

/// Writes a figure that stands alone.
pub fn row(what: &str, figure: String) {
    println!("- {what}: {figure}");
}

/// Writes what a process holds of memory: all of it, and its share where pages are shared.
pub fn memory(what: &str, pid: u32) {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("it runs");
    let of = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name)).expect("a line of it");
        line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number") / 1024.0
    };
    println!("- {what}: {:.1} MB resident (RSS), {:.1} MB its share (PSS)", of("Rss:"), of("Pss:"));
}

/// Inserts rows of 500 bytes into a plain database of SQLite, each in a commit of its own, on the disk of `folder`.
pub fn plain_commits(folder: &Path, commits: usize) -> Sample {
    let path = folder.join("plain.db");
    let database = rusqlite::Connection::open(&path).expect("a database");
    let settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE IF NOT EXISTS t (text TEXT);";
    database.execute_batch(settings).expect("its settings");
    let words = "w".repeat(500);
    let mut insert = database.prepare("INSERT INTO t VALUES (?1)").expect("an insert");
    let runs = (0..commits).map(|_| {
        let began = Instant::now();
        insert.execute([&words]).expect("inserted");
        began.elapsed()
    });
    Sample::from(runs.collect())
}
