//! Looking back and deciding: revisions with a slider, Candidates, and a conflict piece by piece.

use super::super::super::action::Step;
use super::super::super::editor::EditorAct;
use super::super::super::editor::conflict::{Conflict, Stage};
use super::super::super::editor::review::{Difference, History, Review};
use super::super::super::keymap::When;
use super::super::super::model::Model;
use super::super::super::theme::Role;
use super::super::super::{diff, styled, text as plain, words};
use super::super::{both_ends, put};
use super::{keys, name};
use crate::domain::{Candidate, CandidateState};
use crate::resources::merge::Choice;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// From how many columns on the sides of a conflict stand beside each other.
const WIDE: u16 = 90;

/// The rows below the first ones, without the last one for the keys.
fn between(area: Rect, above: u16) -> Rect {
    Rect { y: area.y + above.min(area.height), height: area.height.saturating_sub(above + 1), ..area }
}

fn below(area: Rect) -> u16 {
    area.height.saturating_sub(1)
}

pub(super) fn history(model: &Model, history: &History, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let Some(shown) = history.shown() else {
        return put(buffer, area, 0, &Line::styled("looking back…", theme.dim));
    };
    put(buffer, area, 0, &slider(model, history.at, history.revisions.len(), usize::from(area.width)));
    let left = vec![
        Span::styled(format!("r{}  ", shown.number), Style::from(theme.accent)),
        Span::styled(name(model, &shown.actor), Style::from(theme.strong)),
        Span::styled(format!("  {}", plain::line(&shown.made.summary)), Style::from(theme.text)),
    ];
    let at = words::clock(shown.at, model.now, &model.facts.zone);
    put(buffer, area, 1, &both_ends(area, left, vec![Span::styled(at, Style::from(theme.dim))]));
    difference(model, &history.diff, between(area, 3), buffer);
    let acts = [
        (EditorAct::Slide(Step::Up), "older"),
        (EditorAct::Slide(Step::Down), "newer"),
        (EditorAct::BringBack, "bring back"),
        (EditorAct::Leave, "the text"),
    ];
    put(buffer, area, below(area), &keys(model, When::DocumentHistory, &acts, usize::from(area.width)));
}

/// Where among the revisions the one is that is shown.
fn slider(model: &Model, at: usize, count: usize, room: usize) -> Line<'static> {
    let theme = &model.theme;
    let said = format!("  {} of {count}", at + 1);
    let track = room.saturating_sub(plain::width(&said)).clamp(1, count.max(1) * 2 - 1);
    let place = if count > 1 { at * (track - 1) / (count - 1) } else { 0 };
    Line::from(vec![
        Span::styled("─".repeat(place), Style::from(theme.dim)),
        Span::styled("●", Style::from(theme.accent)),
        Span::styled("─".repeat(track - place - 1), Style::from(theme.dim)),
        Span::styled(said, Style::from(theme.dim)),
    ])
}

fn difference(model: &Model, difference: &Difference, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let Some(text) = &difference.text else {
        return put(buffer, area, 0, &Line::styled("comparing…", theme.dim));
    };
    if text.trim().is_empty() {
        return put(buffer, area, 0, &Line::styled("nothing differs", theme.dim));
    }
    let lines = diff::draw(&plain::clean(text), theme, usize::from(area.width).max(1));
    scrolled(&lines, difference.scroll, area, buffer);
}

/// The lines from one on; the last page stays on screen.
fn scrolled(lines: &[Line], scroll: usize, area: Rect, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    let from = scroll.min(lines.len().saturating_sub(height));
    for (row, line) in lines.iter().skip(from).take(height).enumerate() {
        put(buffer, area, row as u16, line);
    }
}

pub(super) fn candidates(model: &Model, review: &Review, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let acts = [
        (EditorAct::Accept, "accept"),
        (EditorAct::Reject, "reject"),
        (EditorAct::Merge, "piece by piece"),
        (EditorAct::Leave, "the text"),
    ];
    if review.candidates.is_empty() {
        put(buffer, area, 0, &Line::styled("No Candidates: nothing waits to be judged.", theme.dim));
        return put(
            buffer,
            area,
            below(area),
            &keys(model, When::DocumentCandidates, &acts[3..], usize::from(area.width)),
        );
    }
    let rows = (review.candidates.len() as u16).min(area.height / 3).max(1);
    let first = (review.at + 1).saturating_sub(usize::from(rows));
    for (row, (ix, candidate)) in review.candidates.iter().enumerate().skip(first).take(usize::from(rows)).enumerate() {
        put(buffer, area, row as u16, &candidate_line(model, candidate, area));
        if ix == review.at {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, theme.select);
        }
    }
    difference(model, &review.diff, between(area, rows + 1), buffer);
    put(buffer, area, below(area), &keys(model, When::DocumentCandidates, &acts, usize::from(area.width)));
}

fn candidate_line(model: &Model, candidate: &Candidate, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let (state, style) = match candidate.state {
        CandidateState::Draft => ("being worked on", theme.dim),
        CandidateState::Submitted => ("to be judged", theme.accent),
        CandidateState::Conflict => ("came too late", theme.warn),
        CandidateState::Accepted => ("accepted", theme.ok),
        CandidateState::Rejected => ("rejected", theme.dim),
        CandidateState::Withdrawn => ("taken back", theme.dim),
        CandidateState::Rebased => ("brought up", theme.dim),
    };
    let left = vec![
        Span::styled(name(model, &candidate.actor), Style::from(theme.strong)),
        Span::styled(format!("  {}", plain::line(&candidate.made.summary)), Style::from(theme.text)),
    ];
    let right = vec![
        Span::styled(state, Style::from(style)),
        Span::styled(format!("  on r{}", candidate.base), Style::from(theme.dim)),
    ];
    both_ends(area, left, right)
}

pub(super) fn conflict(model: &Model, conflict: &Conflict, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let by = name(model, &conflict.by);
    let room = usize::from(area.width);
    let leave = (EditorAct::Leave, "later");
    let Some(piece) = conflict.pieces.get(conflict.at) else {
        let words = format!("The Candidate and r{} by {by} fit together.", conflict.onto);
        put(buffer, area, 0, &Line::styled(words, theme.strong));
        if !conflict.is_entered {
            return put(buffer, area, 2, &apart(model, "merges them", room));
        }
        let acts = [(EditorAct::Settle, "merge them"), leave];
        return put(buffer, area, 2, &keys(model, When::DocumentConflict, &acts, room));
    };
    let words = match conflict.stage {
        Stage::Deciding => {
            format!("r{} by {by} came first. Piece {} of {}", conflict.onto, conflict.at + 1, conflict.pieces.len())
        }
        Stage::Merging | Stage::Accepting(_) => "merging…".to_owned(),
    };
    let open = match conflict.open() {
        0 => "all decided".to_owned(),
        open => format!("{open} to decide"),
    };
    let place = if piece.unit.is_empty() { String::new() } else { format!(" · {}", plain::line(&piece.unit)) };
    let left = vec![Span::styled(words, Style::from(theme.strong)), Span::styled(place, Style::from(theme.dim))];
    put(buffer, area, 0, &both_ends(area, left, vec![Span::styled(open, Style::from(theme.warn))]));
    sides(model, conflict, &by, between(area, 2), buffer);
    if !conflict.is_entered {
        return put(buffer, area, below(area), &apart(model, "decides piece by piece", room));
    }
    let mut acts = vec![
        (EditorAct::Take(Choice::Theirs), "theirs"),
        (EditorAct::Take(Choice::Mine), "mine"),
        (EditorAct::Take(Choice::Both), "both"),
        (EditorAct::ByHand, "by hand"),
    ];
    if conflict.open() == 0 {
        acts.insert(0, (EditorAct::Settle, "save"));
    }
    if conflict.pieces.len() > 1 {
        acts.push((EditorAct::Piece(Step::Down), "next"));
    }
    acts.extend([(EditorAct::ToMain, "to Main"), leave]);
    put(buffer, area, below(area), &keys(model, When::DocumentConflict, &acts, room));
}

/// What can be done about a conflict that came by itself: whoever writes on is not disturbed.
fn apart(model: &Model, merges: &'static str, room: usize) -> Line<'static> {
    let save = keys(model, When::Document, &[(EditorAct::Save, merges)], room);
    let later = keys(model, When::DocumentApart, &[(EditorAct::Leave, "later")], room);
    let writes = Span::styled("  write on: it is kept", Style::from(model.theme.dim));
    Line::from_iter(save.into_iter().chain([Span::raw("  ")]).chain(later).chain([writes]))
}

/// The texts of the piece, beside each other where there is room.
fn sides(model: &Model, conflict: &Conflict, by: &str, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let Some(piece) = conflict.pieces.get(conflict.at) else { return };
    let chosen = conflict.choices.get(conflict.at).and_then(Option::as_ref);
    let takes = |choice: &Choice| chosen == Some(choice) || chosen == Some(&Choice::Both) && *choice != Choice::Base;
    let mut sides: Vec<(String, bool, &str, Role)> = vec![
        ("it was".to_owned(), takes(&Choice::Base), &piece.base, theme.dim),
        (format!("theirs · {by}"), takes(&Choice::Theirs), &piece.theirs, theme.text),
        ("mine".to_owned(), takes(&Choice::Mine), &piece.mine, theme.text),
    ];
    if let Some(Choice::Custom { text }) = chosen {
        sides.push(("by hand".to_owned(), true, text, theme.text));
    }
    let title = |title: &str, taken: bool| {
        let (sign, style) = if taken { ("✓ ", theme.ok) } else { ("  ", theme.accent) };
        Line::styled(format!("{sign}{title}"), style)
    };
    let block = |text: &str, style: Role, room: usize| -> Vec<Line<'static>> {
        let clean = plain::clean(text);
        let clean = clean.strip_suffix('\n').unwrap_or(&clean);
        if clean.is_empty() {
            return vec![Line::styled("  (nothing)", theme.dim)];
        }
        let rows = styled::wrapped(clean, &[], room.saturating_sub(2).max(1), style.into());
        rows.into_iter().map(|row| Line::from([vec![Span::raw("  ")], row].concat())).collect()
    };
    if area.width >= WIDE {
        let width = area.width / sides.len() as u16;
        for (ix, (name, taken, text, style)) in sides.into_iter().enumerate() {
            let column = Rect { x: area.x + width * ix as u16, width: width.saturating_sub(1), ..area };
            put(buffer, column, 0, &title(&name, taken));
            let body = Rect { y: column.y + 1, height: column.height.saturating_sub(1), ..column };
            scrolled(&block(text, style, usize::from(column.width)), conflict.scroll, body, buffer);
        }
        return;
    }
    let mut lines = Vec::new();
    for (name, taken, text, style) in sides {
        lines.push(title(&name, taken));
        lines.extend(block(text, style, usize::from(area.width)));
    }
    scrolled(&lines, conflict.scroll, area, buffer);
}
