//! What is normal for a Job, and what of it is not as it should be. Pure: whoever has looked says
//! what was seen, and gets the breaches.

pub use crate::domain::{JobLevels as Levels, JobPace as Pace};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What was seen of a Job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observation {
    /// How long it has run.
    pub elapsed_ms: u64,
    /// How long ago it printed something, or was started.
    pub silent_ms: u64,
    /// The memory it has resident, where that is known.
    pub rss_bytes: Option<u64>,
    /// How much it has printed.
    pub log_bytes: u64,
    /// How far it had come at which time of its running, oldest first; only what it has said.
    pub progress: Vec<Point>,
}

/// How far a Job had come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// After so much time.
    pub elapsed_ms: u64,
    /// This much of the whole, between 0 and 1.
    pub fraction: f64,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Breach {
    /// It has printed nothing for too long.
    Silent {
        /// For so long.
        ms: u64,
        /// The longest that is normal.
        limit_ms: u64,
    },
    /// It comes on too slowly.
    Slow {
        /// It came on by this much of the whole …
        fraction: f64,
        /// … where this much is normal …
        least: f64,
        /// … in this time.
        within_ms: u64,
    },
    /// It has run for too long.
    Late {
        /// For so long.
        ms: u64,
        /// The longest that is normal.
        limit_ms: u64,
    },
    /// It uses too much memory.
    Memory {
        /// So much.
        bytes: u64,
        /// The most that is normal.
        limit: u64,
    },
    /// It prints too much.
    Log {
        /// So much.
        bytes: u64,
        /// The most that is normal.
        limit: u64,
    },
}

impl Breach {
    /// The name of what is breached: one message is enough for each, as long as it lasts.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Silent { .. } => "silence",
            Self::Slow { .. } => "pace",
            Self::Late { .. } => "deadline",
            Self::Memory { .. } => "memory",
            Self::Log { .. } => "log",
        }
    }
}

/// Compares what was seen with what is normal.
pub fn breaches(levels: &Levels, seen: &Observation) -> Vec<Breach> {
    let over = |limit: Option<u64>, value: u64| limit.filter(|limit| value > *limit);
    let mut breaches = Vec::new();
    if let Some(limit_ms) = over(levels.silence_ms, seen.silent_ms) {
        breaches.push(Breach::Silent { ms: seen.silent_ms, limit_ms });
    }
    if let Some(pace) = levels.pace {
        breaches.extend(too_slow(pace, seen));
    }
    if let Some(limit_ms) = over(levels.deadline_ms, seen.elapsed_ms) {
        breaches.push(Breach::Late { ms: seen.elapsed_ms, limit_ms });
    }
    if let Some(bytes) = seen.rss_bytes
        && let Some(limit) = over(levels.rss_bytes, bytes)
    {
        breaches.push(Breach::Memory { bytes, limit });
    }
    if let Some(limit) = over(levels.log_bytes, seen.log_bytes) {
        breaches.push(Breach::Log { bytes: seen.log_bytes, limit });
    }
    breaches
}

/// A Job that has said that it is through is not slow, nor one that has not run for the time.
fn too_slow(pace: Pace, seen: &Observation) -> Option<Breach> {
    let since = seen.elapsed_ms.checked_sub(pace.within_ms)?;
    let now = seen.progress.last().map_or(0.0, |point| point.fraction);
    let before = seen.progress.iter().rev().find(|point| point.elapsed_ms <= since).map_or(0.0, |point| point.fraction);
    let fraction = now - before;
    let is_slow = now < 1.0 && fraction < pace.fraction;
    is_slow.then_some(Breach::Slow { fraction, least: pace.fraction, within_ms: pace.within_ms })
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ms: u64| ms / 1000;
        match *self {
            Self::Silent { ms, limit_ms } => {
                write!(f, "it has printed nothing for {} s; {} s are normal", seconds(ms), seconds(limit_ms))
            }
            Self::Slow { fraction, least, within_ms } => {
                let within = seconds(within_ms);
                write!(f, "it came on by {:.1} % in {within} s; {:.1} % are normal", fraction * 100.0, least * 100.0)
            }
            Self::Late { ms, limit_ms } => {
                write!(f, "it has run for {} s; {} s are normal", seconds(ms), seconds(limit_ms))
            }
            Self::Memory { bytes, limit } => write!(f, "it uses {bytes} bytes of memory; {limit} are normal"),
            Self::Log { bytes, limit } => write!(f, "it has printed {bytes} bytes; {limit} are normal"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(elapsed_ms: u64, fraction: f64) -> Point {
        Point { elapsed_ms, fraction }
    }

    fn names(levels: &Levels, seen: &Observation) -> Vec<&'static str> {
        breaches(levels, seen).iter().map(Breach::name).collect()
    }

    #[test]
    fn what_is_not_stated_is_not_looked_at() {
        let seen =
            Observation { elapsed_ms: u64::MAX, silent_ms: u64::MAX, log_bytes: u64::MAX, ..Observation::default() };
        assert_eq!(breaches(&Levels::default(), &seen), []);
    }

    #[test]
    fn each_limit_is_breached_above_it_and_not_at_it() {
        let levels = Levels {
            silence_ms: Some(10),
            deadline_ms: Some(20),
            rss_bytes: Some(30),
            log_bytes: Some(40),
            ..Levels::default()
        };
        let fine = Observation { elapsed_ms: 20, silent_ms: 10, rss_bytes: Some(30), log_bytes: 40, progress: vec![] };
        assert_eq!(names(&levels, &fine), [""; 0]);
        let over = Observation { elapsed_ms: 21, silent_ms: 11, rss_bytes: Some(31), log_bytes: 41, progress: vec![] };
        assert_eq!(names(&levels, &over), ["silence", "deadline", "memory", "log"]);
        let unknown = Observation { rss_bytes: None, ..fine };
        assert_eq!(names(&levels, &unknown), [""; 0]);
    }

    #[test]
    fn a_job_is_slow_only_after_the_time_it_has_and_never_when_it_is_through() {
        let levels = Levels { pace: Some(Pace { fraction: 0.1, within_ms: 1000 }), ..Levels::default() };
        let seen = |elapsed_ms, progress| Observation { elapsed_ms, progress, ..Observation::default() };
        assert_eq!(names(&levels, &seen(999, vec![])), [""; 0], "too early to say");
        assert_eq!(names(&levels, &seen(1000, vec![])), ["pace"], "it has said nothing");
        assert_eq!(names(&levels, &seen(1000, vec![at(500, 0.1)])), [""; 0]);
        assert_eq!(names(&levels, &seen(2000, vec![at(500, 0.3), at(1500, 0.35)])), ["pace"]);
        assert_eq!(names(&levels, &seen(2000, vec![at(500, 0.3), at(1500, 0.45)])), [""; 0]);
        assert_eq!(names(&levels, &seen(9000, vec![at(500, 1.0)])), [""; 0], "it is through");
    }
}
