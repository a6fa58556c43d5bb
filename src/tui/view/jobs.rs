//! Jobs: the list, and the log of the chosen one below it or instead of it.

use super::super::action::{Action, Pane};
use super::super::jobs::{JobLog, JobsAct};
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::{text, words, wrap};
use super::{both_ends, put};
use crate::domain::{JobState, JobView, LogLine, LogLineKind};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A pane that is lower shows the list alone.
const LEAST_FOR_BOTH: u16 = 9;

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let area = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area };
    if model.jobs.views.is_empty() {
        return empty(model, area, buffer);
    }
    if model.jobs.reads() {
        return log(model, area, buffer);
    }
    let count = model.jobs.views.len().min(usize::from(u16::MAX)) as u16;
    let both = area.height >= LEAST_FOR_BOTH;
    let height = if both { count.min(area.height / 2) } else { area.height };
    list(model, Rect { height, ..area }, buffer);
    if both {
        let rest = Rect { y: area.y + height, height: area.height - height, ..area };
        put(buffer, rest, 0, &Line::styled("─".repeat(usize::from(rest.width)), model.theme.border));
        log(model, Rect { y: rest.y + 1, height: rest.height - 1, ..rest }, buffer);
    }
}

/// A log that is narrower leaves the keys to the help.
const ROOM_FOR_KEYS: u16 = 60;

fn empty(model: &Model, area: Rect, buffer: &mut Buffer) {
    let all = model.keymap.key_of(When::Jobs, &Action::Jobs(JobsAct::ToggleEnded));
    let words = match model.jobs.ended {
        true => "No Jobs.\n`/start-job` starts one.".to_owned(),
        false => format!("No Job runs.\n`/start-job` starts one.\n{all} shows those that have ended."),
    };
    let room = usize::from(area.width).max(1);
    for (row, range) in wrap::wrap(&words, room).iter().enumerate() {
        put(buffer, area, row as u16, &Line::styled(wrap::shown(&words, range, room).to_owned(), model.theme.dim));
    }
}

fn list(model: &Model, area: Rect, buffer: &mut Buffer) {
    let height = usize::from(area.height).max(1);
    let first = (model.jobs.chosen + 1).saturating_sub(height);
    let focused = model.focus == Focus::Side(Pane::Jobs);
    for (row, (ix, view)) in model.jobs.views.iter().enumerate().skip(first).take(height).enumerate() {
        put(buffer, area, row as u16, &line(model, view, area));
        if ix == model.jobs.chosen && focused {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, model.theme.select);
        }
    }
}

fn line(model: &Model, view: &JobView, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let JobView { job, seen } = view;
    let (sign, style): (_, Style) = match job.state {
        JobState::Starting => ("○", theme.dim.into()),
        JobState::Running => ("●", theme.accent.into()),
        JobState::Stopping => ("●", theme.warn.into()),
        JobState::Exited if job.end.as_ref().is_some_and(|end| end.exit_code == Some(0)) => ("✓", theme.ok.into()),
        JobState::Exited | JobState::Signaled | JobState::FailedToStart => ("✗", theme.error.into()),
        JobState::Cancelled => ("–", theme.dim.into()),
        JobState::Uncertain => ("?", theme.warn.into()),
    };
    let of_this_task = job.task.is_some() && job.task == model.wanted;
    let name = if of_this_task || job.task.is_none() { theme.text } else { theme.dim };
    let last = seen.last_line.as_deref().map(text::line).unwrap_or_default();
    let left = vec![
        Span::styled(format!("{sign} "), style),
        Span::styled(text::line(&job.definition.name), Style::from(name)),
        Span::styled(format!("  {last}"), Style::from(theme.dim)),
    ];
    let time = job.process.as_ref().map_or_else(String::new, |process| {
        words::duration(job.end.as_ref().map_or(model.now, |end| end.ended_at) - process.started_at)
    });
    let mut facts = Vec::new();
    if let Some(done) = seen.progress.filter(|_| !job.state.is_ended()) {
        facts.push(format!("{:.0}%", done * 100.0));
    }
    if area.width >= 60 {
        facts.extend(seen.cpu_percent.map(|cpu| format!("cpu {cpu:.0}%")));
        facts.extend(seen.rss_bytes.map(|bytes| format!("{:.0} MB", bytes as f64 / 1e6)));
    }
    if !time.is_empty() {
        facts.push(time);
    }
    let state = if job.state == JobState::Running { String::new() } else { format!(" {}", job.told()) };
    let right = vec![Span::styled(facts.join("  "), Style::from(theme.dim)), Span::styled(state, style)];
    both_ends(area, left, right)
}

/// The log, its end last; what is above is further back.
fn log(model: &Model, area: Rect, buffer: &mut Buffer) {
    let Some(log) = &model.jobs.log else { return };
    let head = u16::from(log.is_open);
    if log.is_open {
        put(buffer, area, 0, &headline(model, log, area));
    }
    let body = Rect { y: area.y + head, height: area.height.saturating_sub(head), ..area };
    let shown = log.shown();
    let end = shown.len().saturating_sub(log.back);
    let height = usize::from(body.height);
    let mut upwards = Vec::with_capacity(height);
    for line in shown[..end].iter().rev() {
        if upwards.len() >= height {
            break;
        }
        upwards.extend(rows(model, log, line, body.width).into_iter().rev());
    }
    for (row, line) in upwards.iter().take(height).rev().enumerate() {
        put(buffer, body, row as u16, line);
    }
    if shown.is_empty() && body.height > 0 {
        let words = if log.found.is_some() { "looking…" } else { "It has printed nothing." };
        put(buffer, body, 0, &Line::styled(words, model.theme.dim));
    }
}

fn headline(model: &Model, log: &JobLog, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let key = |act| model.keymap.key_of(When::JobLog, &Action::Jobs(act)).to_owned();
    let left = match &log.found {
        Some((pattern, found)) => format!("{} with {}", words::many(found.len(), "line", "lines"), text::line(pattern)),
        None => model.jobs.chosen().map(|view| text::line(&view.job.definition.name)).unwrap_or_default(),
    };
    let mut right = match log.back {
        0 if log.found.is_none() => "follows".to_owned(),
        0 => String::new(),
        back => format!("{back} below"),
    };
    if area.width >= ROOM_FOR_KEYS {
        right.push_str(&format!("  {} attach  {} back", key(JobsAct::Attach), key(JobsAct::Leave)));
    }
    let left = vec![Span::styled(left, Style::from(theme.strong))];
    both_ends(area, left, vec![Span::styled(right, Style::from(theme.dim))])
}

/// The rows of one line.
fn rows(model: &Model, log: &JobLog, line: &LogLine, width: u16) -> Vec<Line<'static>> {
    let theme = &model.theme;
    let time = match (log.is_open && log.times, line.at) {
        (true, Some(at)) => format!("{} ", words::second(at, &model.facts.zone)),
        (true, None) => " ".repeat(9),
        (false, _) => String::new(),
    };
    let room = usize::from(width).saturating_sub(text::width(&time)).max(1);
    let style: Style = match line.kind {
        LogLineKind::Gap => theme.warn.into(),
        LogLineKind::Whole | LogLineKind::Open => theme.text.into(),
    };
    let shown = text::output(&line.text);
    let shown = shown.trim_end_matches(['\n', '\r']);
    let pieces: Vec<String> = if log.is_open && log.wraps {
        wrap::wrap(shown, room).iter().map(|range| wrap::shown(shown, range, room).to_owned()).collect()
    } else {
        vec![text::cut(&text::line(shown), room)]
    };
    let gutter = Style::from(theme.dim);
    let blank = " ".repeat(text::width(&time));
    let lead = |ix: usize| if ix == 0 { time.clone() } else { blank.clone() };
    let row = |(ix, piece)| Line::from(vec![Span::styled(lead(ix), gutter), Span::styled(piece, style)]);
    pieces.into_iter().enumerate().map(row).collect()
}
