//! Numbers in the words of the screen: times, tokens, money.

use crate::domain::Millis;
use jiff::{Timestamp, tz::TimeZone};

/// How long something took or has been going on, in its one or two largest units.
pub fn duration(millis: Millis) -> String {
    let seconds = millis.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 if seconds % 60 == 0 => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

/// How long ago something was, roughly.
pub fn age(millis: Millis) -> String {
    match millis.max(0) / 1000 {
        0..60 => "now".to_owned(),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// When something was: the time today, else the day.
pub fn clock(at: Millis, now: Millis, zone: &TimeZone) -> String {
    let zoned = |millis| Timestamp::from_millisecond(millis).map(|time| time.to_zoned_datetime(zone.clone()));
    match (zoned(at), zoned(now)) {
        (Ok(at), Ok(now)) if at.date() == now.date() => at.strftime("%H:%M").to_string(),
        (Ok(at), Ok(now)) if at.year() == now.year() => at.strftime("%-d %b").to_string(),
        (Ok(at), _) => at.strftime("%Y-%m").to_string(),
        (Err(_), _) => String::new(),
    }
}

/// When something was, to the second.
pub fn second(at: Millis, zone: &TimeZone) -> String {
    Timestamp::from_millisecond(at)
        .map(|time| time.to_zoned_datetime(zone.clone()).strftime("%H:%M:%S").to_string())
        .unwrap_or_default()
}

/// A count, short: `950`, `12.4k`, `1.2M`.
pub fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..100_000 => format!("{:.1}k", number as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// Money: cents where there are some, more digits where there are none.
pub fn money(micro_usd: i64) -> String {
    let usd = micro_usd as f64 / 1e6;
    if micro_usd == 0 || usd >= 0.01 { format!("${usd:.2}") } else { format!("${usd:.4}") }
}

/// A number with its noun.
pub fn many(number: usize, one: &str, several: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {several}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_like_words() {
        assert_eq!(duration(4_200), "4 s");
        assert_eq!(duration(125_000), "2 min 5 s");
        assert_eq!(duration(4_320_000), "1 h 12 min");
        assert_eq!(age(59_000), "now");
        assert_eq!(age(7_200_000), "2 h");
        assert_eq!(count(950), "950");
        assert_eq!(count(12_400), "12.4k");
        assert_eq!(count(1_200_000), "1.2M");
        assert_eq!(money(31_000), "$0.03");
        assert_eq!(money(400), "$0.0004");
        assert_eq!(many(1, "message", "messages"), "1 message");
    }

    #[test]
    fn a_time_is_shown_as_short_as_it_stays_clear() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time").as_millisecond();
        let now = at("2026-03-04T12:00:00Z");
        assert_eq!(clock(at("2026-03-04T09:05:00Z"), now, &TimeZone::UTC), "09:05");
        assert_eq!(clock(at("2026-02-04T09:05:00Z"), now, &TimeZone::UTC), "4 Feb");
        assert_eq!(clock(at("2025-02-04T09:05:00Z"), now, &TimeZone::UTC), "2025-02");
    }
}
