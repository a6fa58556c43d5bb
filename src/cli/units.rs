//! Amounts as people write them: durations (`200ms`, `5s`, `10m`, `2h`, `1d`) and budgets
//! (`turns=N,tokens=N,seconds=N,usd=X`).

use crate::domain::{Budget, Millis};
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
