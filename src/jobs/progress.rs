//! How far a command has come, read out of what it prints. Pure, and rather silent than wrong.

use regex::Regex;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A longer line is no progress line.
const LONGEST: usize = 1000;

/// How far a command has come, as far as a line of it tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// How much of the whole, between 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
    /// So many of so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// The round of so many that these steps belong to: an epoch, a pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<Steps>,
    /// How long it says that it will take, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eta_s: Option<u64>,
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// How many are done.
    pub done: f64,
    /// How many there are.
    pub of: f64,
}

impl Steps {
    fn fraction(self) -> f64 {
        self.done / self.of
    }
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("a pattern of ours"));
    };
}

pattern!(PERCENT, r"(?:^|[^\w.%/:-])(\d{1,3}(?:\.\d+)?)\s?%");
pattern!(
    ROUND,
    r"(?i)\b(?:epoch|round|pass|iter(?:ation)?|fold|cycle|generation|trial)s?[\s:#\[(]*(\d+)\s*(?:/|of)\s*(\d+)"
);
pattern!(
    STEPS,
    r"(?:^|[\s\[(|>])(\d[\d,]*(?:\.\d+)?)\s*([kKMGT]i?B?|B)?\s*(?:/|of|out of)\s*(\d[\d,]*(?:\.\d+)?)\s*([kKMGT]i?B?|B)?(?:$|[\s\]),:;.|!])"
);
pattern!(
    REST,
    r"(?i)(?:\beta\b|\bremaining\b|time left|\bleft\b)[\s:=]*(?:in\s+)?([\dhms:.\s]*\d\s*[hms]?\b|\d[\d:]+)"
);
pattern!(REST_BEFORE, r"(?i)(\d[\dhms: ]*)\s*(?:remaining|left)\b");
pattern!(BAR, r"\[(?:\d+:)?\d+:\d+<((?:\d+:)?\d+:\d+)");
pattern!(
    NOT_OF_WORK,
    r"(?i)\b(?:cpu|gpu|mem|memory|ram|disk|swap|usage|used|util|utili[sz]ation|load|full|battery|coverage|accuracy|acc|confidence|discount|volume)\b[\s:=]*$"
);

/// Reads how far a command has come out of a line that it printed, as [`super::log::shown`] shows it.
pub fn progress(line: &str) -> Option<Progress> {
    if line.len() > LONGEST {
        return None;
    }
    let round = ROUND.captures(line).and_then(|found| steps(&found[1], None, &found[2], None));
    // A round is no step of itself.
    let rest = ROUND.replace(line, " ");
    let steps = STEPS.captures_iter(&rest).find_map(|found| {
        let unit = |at| found.get(at).map(|unit: regex::Match<'_>| unit.as_str());
        steps(&found[1], unit(2), &found[3], unit(4))
    });
    let percent = PERCENT.captures_iter(&rest).find_map(|found| {
        let whole = found.get(1)?;
        let value: f64 = whole.as_str().parse().ok()?;
        let is_of_work = !NOT_OF_WORK.is_match(&rest[..whole.start()]);
        (value <= 100.0 && is_of_work).then_some(value / 100.0)
    });
    let eta_s = BAR
        .captures(line)
        .or_else(|| REST.captures(line))
        .or_else(|| REST_BEFORE.captures(line))
        .and_then(|found| seconds(&found[1]));
    let within = percent.or(steps.map(Steps::fraction));
    let fraction = match (round, within) {
        // Whole rounds before this one, and what of this one is done.
        (Some(round), Some(within)) if round.done >= 1.0 => Some((round.done - 1.0 + within) / round.of),
        (Some(round), _) => Some(round.fraction()),
        (None, within) => within,
    };
    let says_anything = fraction.is_some() || eta_s.is_some();
    says_anything.then_some(Progress { fraction, steps, round, eta_s })
}

/// Reads `12,345` or `1.5G` of something as large.
fn steps(done: &str, done_unit: Option<&str>, of: &str, of_unit: Option<&str>) -> Option<Steps> {
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok();
    let scale = |unit: Option<&str>| match unit.and_then(|unit| unit.chars().next()) {
        Some('k' | 'K') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        Some('T') => 1e12,
        Some(_) | None => 1.0,
    };
    // `12.3/45.6 MB` gives the unit once.
    let done = number(done)? * scale(done_unit.or(of_unit));
    let of = number(of)? * scale(of_unit);
    (of > 0.0 && done <= of).then_some(Steps { done, of })
}

/// Reads `1:02:03`, `02:03`, `3m20s`, `1h 5m`, `12s` or `12`.
fn seconds(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.contains(':') {
        return text.split(':').try_fold(0_u64, |sum, part| {
            let part: f64 = part.trim().parse().ok()?;
            sum.checked_mul(60)?.checked_add(part as u64)
        });
    }
    let mut sum = 0.0;
    let mut number = String::new();
    for c in text.chars() {
        let factor = match c {
            '0'..='9' | '.' => {
                number.push(c);
                continue;
            }
            'h' => 3600.0,
            'm' => 60.0,
            's' => 1.0,
            _ => continue,
        };
        sum += number.parse::<f64>().ok()? * factor;
        number.clear();
    }
    if !number.is_empty() {
        sum += number.parse::<f64>().ok()?;
    }
    Some(sum as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line, the percentage, the steps, the round, and the rest in seconds.
    type Row = (&'static str, Option<f64>, Option<(f64, f64)>, Option<(f64, f64)>, Option<u64>);

    #[test]
    fn progress_is_read_as_programs_write_it() {
        let table: [Row; 22] = [
            ("45%", Some(45.0), None, None, None),
            ("Downloading… 12.5 %", Some(12.5), None, None, None),
            ("Progress: [=====>    ] 50% done", Some(50.0), None, None, None),
            ("[12/345] CC foo.o", Some(12.0 / 3.45), Some((12.0, 345.0)), None, None),
            ("    Building [=====>      ] 45/120: serde, tokio", Some(37.5), Some((45.0, 120.0)), None, None),
            ("step 500/10000 loss 0.31", Some(5.0), Some((500.0, 10000.0)), None, None),
            ("123 of 456 files", Some(12300.0 / 456.0), Some((123.0, 456.0)), None, None),
            ("tests/test_a.py ....   [ 45%]", Some(45.0), None, None, None),
            ("Epoch 3/10", Some(30.0), None, Some((3.0, 10.0)), None),
            ("Epoch [3/10], Step [50/100], Loss: 0.4", Some(25.0), Some((50.0, 100.0)), Some((3.0, 10.0)), None),
            (" 45%|████▌     | 450/1000 [00:12<00:15, 36.5it/s]", Some(45.0), Some((450.0, 1000.0)), None, Some(15)),
            (
                "Epoch 2/4:  50%|█████ | 5/10 [00:05<1:00:05, 1s/it]",
                Some(37.5),
                Some((5.0, 10.0)),
                Some((2.0, 4.0)),
                Some(3605),
            ),
            ("  12.3/45.6 MB 3.2 MB/s eta 0:00:11", Some(1230.0 / 45.6), Some((12.3e6, 45.6e6)), None, Some(11)),
            ("1,234,567  45%  1.2MB/s  0:00:12 (xfr#3, to-chk=12/34)", Some(45.0), None, None, None),
            ("45/100 [====>....] - ETA: 12s - loss: 0.3", Some(45.0), Some((45.0, 100.0)), None, Some(12)),
            ("file.iso  45%[====>   ] 1.2G  120KB/s  eta 3m20s", Some(45.0), None, None, Some(200)),
            ("about 1h 5m remaining", None, None, None, Some(3900)),
            ("Time left: 02:10", None, None, None, Some(130)),
            ("100%", Some(100.0), None, None, None),
            ("0/10", Some(0.0), Some((0.0, 10.0)), None, None),
            ("fetched 1.5G/3.0G", Some(50.0), Some((1.5e9, 3.0e9)), None, None),
            ("remote: Counting objects:  33% (1/3)", Some(33.0), Some((1.0, 3.0)), None, None),
        ];
        for (line, percent, steps, round, eta_s) in table {
            let found = progress(line).unwrap_or_else(|| panic!("{line}: nothing"));
            let pair = |steps: Option<Steps>| steps.map(|steps| (steps.done, steps.of));
            let near = |found: Option<f64>| match (found, percent) {
                (Some(found), Some(percent)) => (found * 100.0 - percent).abs() < 1e-6,
                (found, percent) => found.is_none() && percent.is_none(),
            };
            assert!(near(found.fraction), "{line}: {found:?}");
            assert_eq!(pair(found.steps), steps, "{line}");
            assert_eq!(pair(found.round), round, "{line}");
            assert_eq!(found.eta_s, eta_s, "{line}");
        }
    }

    #[test]
    fn what_only_looks_like_progress_is_none() {
        let lines = [
            "",
            "2024/05/06 12:34:56 started",
            "see src/12/34 for more",
            "GET /index.html HTTP/1.1",
            "CPU 45% of one core",
            "memory usage: 81%",
            "accuracy: 93.1%",
            "version 1.2.3",
            "error: 120% is too much",
            "10/3 is more than three",
            "Compiling serde v1.0.229",
            "listening on 127.0.0.1:8080",
            "24/7 support",
            "url=http%3A%2F%2F12%25",
        ];
        for line in lines {
            assert_eq!(progress(line), None, "{line}");
        }
        assert_eq!(progress(&"50% ".repeat(1000)), None);
    }
}
