//! Amounts as people write them: durations (`200ms`, `5s`, `10m`, `2h`, `1d`) and budgets
//! (`turns=N,tokens=N,seconds=N,usd=X`).

use crate::domain::{Budget, JobPace, Millis};
use std::time::Duration;

/// Reads a duration: a whole number and its unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    const SHAPE: &str = "write a whole number and its unit: 200ms, 5s, 10m, 2h, 1d";
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| SHAPE.to_owned())?;
    let ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(SHAPE.into()),
    };
    match number.checked_mul(ms) {
        Some(0) => Err("it must be more than nothing".into()),
        Some(ms) if ms <= 3650 * 86_400_000 => Ok(Duration::from_millis(ms)),
        Some(_) | None => Err("that is longer than ten years".into()),
    }
}

/// Reads a control key: `ctrl-]`, `C-a`, `^]`; gives what a terminal sends for it.
pub fn control_key(text: &str) -> Result<u8, String> {
    let lower = text.to_ascii_lowercase();
    let name = ["ctrl-", "ctrl+", "c-", "^"].iter().find_map(|prefix| lower.strip_prefix(prefix));
    match name.map(str::as_bytes) {
        Some([byte @ (b'a'..=b'z' | b'[' | b'\\' | b']' | b'^' | b'_')]) => Ok(byte & 0x1f),
        Some(_) | None => Err("ctrl and a letter, such as ctrl-] or ctrl-a".into()),
    }
}

/// How a control key is written.
pub fn control_key_name(key: u8) -> String {
    format!("ctrl-{}", char::from(key | 0x40).to_ascii_lowercase())
}

/// Reads a share of a whole in a time: `5%/10m`.
pub fn pace(text: &str) -> Result<JobPace, String> {
    const SHAPE: &str = "write how much in how much time: 5%/10m";
    let (share, time) = text.split_once('/').ok_or(SHAPE)?;
    let percent: f64 = share.strip_suffix('%').and_then(|share| share.parse().ok()).ok_or(SHAPE)?;
    if !(percent > 0.0 && percent <= 100.0) {
        return Err("the share is more than 0% and no more than 100%".into());
    }
    Ok(JobPace { fraction: percent / 100.0, within_ms: duration(time)?.as_millis() as u64 })
}

/// Reads a budget.
pub fn budget(text: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (name, amount) = entry.split_once('=').ok_or_else(|| format!("`{entry}` is not NAME=AMOUNT"))?;
        let twice = match name {
            "turns" => budget.turns.replace(whole(name, amount)?).is_some(),
            "tokens" => budget.tokens.replace(whole(name, amount)?).is_some(),
            "seconds" => budget.seconds.replace(whole(name, amount)?).is_some(),
            "usd" => budget.micro_usd.replace(dollars(amount)?).is_some(),
            other => return Err(format!("there is no budget `{other}` (one of: turns, tokens, seconds, usd)")),
        };
        if twice {
            return Err(format!("`{name}` is given twice"));
        }
    }
    if budget == Budget::default() {
        return Err("name at least one of turns, tokens, seconds, usd".into());
    }
    Ok(budget)
}

fn whole(name: &str, amount: &str) -> Result<u64, String> {
    amount.parse().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{name}={amount}` needs a whole number above 0"))
}

fn dollars(amount: &str) -> Result<i64, String> {
    let usd: f64 = amount.parse().map_err(|_| format!("`usd={amount}` needs an amount, such as 0.50"))?;
    let micro = (usd * 1e6).round();
    if !(1.0..=1e15).contains(&micro) {
        return Err(format!("`usd={amount}` needs an amount above 0"));
    }
    Ok(micro as i64)
}

/// Writes how long ago something was, in one or two figures: `now`, `42s`, `7m`, `3h`, `12d`.
pub fn age(since: Millis, now: Millis) -> String {
    let seconds = now.saturating_sub(since).max(0) / 1000;
    match seconds {
        0..=1 => "now".into(),
        2..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m", seconds / 60),
        3600..=86_399 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Writes a moment in the local time zone.
pub fn moment(at: Millis) -> String {
    match jiff::Timestamp::from_millisecond(at) {
        Ok(time) => time.to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => at.to_string(),
    }
}

/// Unix milliseconds, now.
pub fn now() -> Millis {
    jiff::Timestamp::now().as_millisecond()
}

/// Writes money kept in millionths of a dollar.
pub fn usd(micro: i64) -> String {
    format!("${:.4}", micro as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_take_a_whole_number_and_a_unit() {
        for (text, ms) in [("200ms", 200), ("5s", 5_000), ("10m", 600_000), ("2h", 7_200_000), ("1d", 86_400_000)] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "5", "s", "0s", "-1s", "1.5h", "5 s", "1w", "99999999999999999999d", "9999999d", "５s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pace_is_a_share_in_a_time() {
        assert_eq!(pace("5%/10m"), Ok(JobPace { fraction: 0.05, within_ms: 600_000 }));
        assert_eq!(pace("0.5%/1h"), Ok(JobPace { fraction: 0.005, within_ms: 3_600_000 }));
        for text in ["", "5%", "5/10m", "0%/1m", "101%/1m", "x%/1m", "nan%/1m", "5%/0s", "5%/"] {
            assert!(pace(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_control_key_is_read_however_it_is_written() {
        for text in ["ctrl-]", "Ctrl+]", "C-]", "^]"] {
            assert_eq!(control_key(text), Ok(0x1d), "{text}");
        }
        assert_eq!(control_key("ctrl-a"), Ok(1));
        for text in ["", "]", "ctrl-", "ctrl-1", "ctrl-ab", "alt-a"] {
            assert!(control_key(text).is_err(), "{text}");
        }
        assert_eq!((control_key_name(0x1d), control_key_name(1)), ("ctrl-]".into(), "ctrl-a".into()));
    }

    #[test]
    fn budgets_name_each_amount_once() {
        let all = budget("turns=3,tokens=10000, seconds=60,usd=0.5").expect("a whole budget");
        assert_eq!(all, Budget { turns: Some(3), tokens: Some(10_000), seconds: Some(60), micro_usd: Some(500_000) });
        for text in
            ["", "turns", "turns=", "turns=0", "turns=-1", "turns=1,turns=2", "usd=0", "usd=x", "usd=inf", "steps=1"]
        {
            assert!(budget(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ages_have_one_unit() {
        let second = 1000;
        for (ms, text) in
            [(0, "now"), (59 * second, "59s"), (60 * second, "1m"), (7200 * second, "2h"), (90_000 * second, "1d")]
        {
            assert_eq!(age(0, ms), text);
        }
        assert_eq!(age(10_000, 0), "now");
    }
}
