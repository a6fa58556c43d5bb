//! What is done with the log of the chosen Job besides reading on: a moment in it, its lines for
//! elsewhere, the person's own pager.

use super::super::action::Effect;
use super::super::model::Model;
use super::jobs::read_on;
use crate::domain::Millis;
use jiff::Timestamp;
use jiff::civil::Time;
use jiff::tz::TimeZone;

/// The most that is copied, in bytes: terminals take no more.
const MOST_COPIED: usize = 100_000;

/// Follows the end again.
pub(super) fn follow(model: &mut Model) -> Vec<Effect> {
    if let Some(log) = &mut model.jobs.log {
        log.back = 0;
        if log.moment.is_some() {
            log.jump(None);
        }
    }
    read_on(model)
}

/// Reads the whole log in the person's pager.
pub(super) fn page(model: &mut Model) -> Vec<Effect> {
    model.jobs.chosen().map(|view| Effect::Page(view.job.id.clone())).into_iter().collect()
}

/// Copies the lines that are here, or those that were found; of many the last.
pub(super) fn copy(model: &mut Model) -> Vec<Effect> {
    let Some(log) = model.jobs.log.as_ref().filter(|log| !log.shown().is_empty()) else { return Vec::new() };
    let (mut size, mut lines) = (0, Vec::new());
    for line in log.shown().iter().rev() {
        size += line.text.len() + 1;
        if size > MOST_COPIED {
            break;
        }
        lines.push(line.text.trim_end());
    }
    lines.reverse();
    let (count, text) = (lines.len(), lines.join("\n"));
    model.say(format!("{} copied", super::super::words::many(count, "line", "lines")));
    vec![Effect::Copy(text)]
}

/// Goes to a moment of the log.
pub(super) fn jump(model: &mut Model, word: &str) -> Vec<Effect> {
    let Some(moment) = moment(word, model.now, &model.facts.zone) else {
        model.warn("write a time of the day or how long ago: 14:05, 10m");
        return Vec::new();
    };
    let Some(log) = &mut model.jobs.log else { return Vec::new() };
    log.jump(Some(moment));
    log.is_open = true;
    log.times = true;
    read_on(model)
}

/// Shows only Jobs that hold some words; without any all of them.
pub(super) fn filter(model: &mut Model, words: &str) -> Vec<Effect> {
    model.jobs.words = words.trim().to_owned();
    model.jobs.pick();
    read_on(model)
}

/// A moment as a person says it: `14:05` (the last time it was), `14:05:30`, `90s`, `10m`, `2h`, `1d`.
fn moment(word: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let word = word.trim();
    if word.contains(':') {
        let time: Time = word.parse().ok()?;
        let here = zone.to_datetime(Timestamp::from_millisecond(now).ok()?);
        let on = |date: jiff::civil::Date| Some(zone.to_timestamp(date.to_datetime(time)).ok()?.as_millisecond());
        let today = on(here.date())?;
        return if today <= now { Some(today) } else { on(here.date().yesterday().ok()?) };
    }
    let unit = word.chars().last()?;
    let number: i64 = word[..word.len() - unit.len_utf8()].parse().ok().filter(|number| *number >= 0)?;
    let ms = match unit {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    now.checked_sub(number.checked_mul(ms)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_of_the_day_or_a_while_ago() {
        // 2023-11-14 22:13:20 UTC
        let now = 1_700_000_000_000;
        let at = |word| moment(word, now, &TimeZone::UTC).map(|at| (now - at) / 1_000);
        assert_eq!(at("10m"), Some(600));
        assert_eq!(at("2h"), Some(7_200));
        assert_eq!(at(" 90s "), Some(90));
        assert_eq!(at("22:13"), Some(20));
        assert_eq!(at("22:13:10"), Some(10));
        assert_eq!(at("22:14"), Some(86_400 - 40), "yesterday's");
        for word in ["", "m", "x", "10", "10w", "-5m", "25:00", "99999999999999999d", "é"] {
            assert_eq!(at(word), None, "{word}");
        }
    }
}
