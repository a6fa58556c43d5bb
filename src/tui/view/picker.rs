//! A picker over the panes: what is typed, what matches with its letters marked, and for files the
//! first lines of the chosen one beside them.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
use super::super::picker::{Item, Kind, Pick, Picker};
use super::super::text;
use super::{both_ends, boxed, inside, overlay, put};
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

/// From how many columns on a preview stands beside the files.
const WITH_PREVIEW: u16 = 90;

fn title(picker: &Picker) -> &'static str {
    match picker.kind {
        Kind::Commands => "Commands",
        Kind::Files => "Files",
        Kind::History => "Sent before",
        Kind::Wish(wish) => wish.title(),
    }
}

pub(super) fn draw(model: &Model, buffer: &mut Buffer) -> Option<Position> {
    let picker = model.picker.as_ref()?;
    let theme = &model.theme;
    let screen = model.layout.area;
    let key = |action: &Action| model.keymap.key_of(When::Picker, action);
    let (found, all) = picker.counts();
    let count = match picker.kind {
        Kind::Wish(_) if all == 0 => String::new(),
        Kind::Commands | Kind::Files | Kind::History | Kind::Wish(_) => {
            format!("  {found} of {all}{}", if picker.searching { "…" } else { "" })
        }
    };
    let keys = format!("{} take  {} close{count}", key(&Action::Pick), key(&Action::CloseOverlay));
    let inner = overlay(model, buffer, title(picker), &keys, size(picker, screen));
    let room = usize::from(inner.width).saturating_sub(2);
    let query = picker.query.text();
    let shown = text::cut_start(&query, room.saturating_sub(1));
    let prompt = Line::from(vec![
        Span::styled("› ", Style::from(theme.accent)),
        Span::styled(shown.clone(), Style::from(theme.text)),
    ]);
    put(buffer, inner, 0, &prompt);
    let list = list(picker, screen);
    if previews(picker, screen) {
        let x = inner.x + inner.width / 2;
        let beside = Rect { x, width: inner.width - inner.width / 2, ..list };
        preview(model, picker, beside, buffer);
    }
    rows(model, picker, list, buffer);
    let hidden = text::width(&query) - text::width(&shown).min(text::width(&query));
    let caret = picker.query.caret().1.saturating_sub(hidden).min(room);
    (inner.area() > 0).then(|| Position { x: inner.x + 2 + caret as u16, y: inner.y })
}

fn previews(picker: &Picker, screen: Rect) -> bool {
    picker.kind == Kind::Files && screen.width >= WITH_PREVIEW
}

fn size(picker: &Picker, screen: Rect) -> (u16, u16) {
    let width = if previews(picker, screen) { screen.width.saturating_sub(8).min(140) } else { 84 };
    let height = match picker.counts().1 {
        0 if matches!(picker.kind, Kind::Wish(_)) => 3,
        _ => (screen.height * 3 / 5).max(12).min(screen.height.saturating_sub(2)),
    };
    (width, height)
}

/// Where the items stand.
fn list(picker: &Picker, screen: Rect) -> Rect {
    let inner = inside(boxed(screen, size(picker, screen)));
    let width = if previews(picker, screen) { (inner.width / 2).saturating_sub(2) } else { inner.width };
    Rect { y: inner.y + inner.height.min(2), height: inner.height.saturating_sub(2), width, ..inner }
}

/// Which of the found items stands at a place.
pub fn at(picker: &Picker, screen: Rect, place: Position) -> Option<usize> {
    let list = list(picker, screen);
    let first = (picker.chosen + 1).saturating_sub(usize::from(list.height));
    let item = first + usize::from(place.y.checked_sub(list.y)?);
    (list.contains(place) && item < picker.counts().0).then_some(item)
}

fn rows(model: &Model, picker: &Picker, area: Rect, buffer: &mut Buffer) {
    let height = usize::from(area.height);
    if height == 0 {
        return;
    }
    let (found, all) = picker.counts();
    if found == 0 {
        let words = match picker.kind {
            Kind::Files if picker.searching => "looking…",
            Kind::Wish(_) if all == 0 => "",
            Kind::Files | Kind::History | Kind::Commands | Kind::Wish(_) => "Nothing like that.",
        };
        put(buffer, area, 0, &Line::styled(words, model.theme.dim));
        return;
    }
    let first = (picker.chosen + 1).saturating_sub(height);
    let shown = picker.shown(first, height);
    let keys = shown.iter().map(|(item, _)| text::width(&item.key)).max().unwrap_or(0);
    for (row, (item, places)) in shown.into_iter().enumerate() {
        put(buffer, area, row as u16, &line(model, (item, &places), keys, area));
        if first + row == picker.chosen {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, model.theme.select);
        }
    }
}

fn line(model: &Model, (item, places): (&Item, &[u32]), keys: usize, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let detail = if area.width < 50 { "" } else { &item.detail };
    let is_command = matches!(item.pick, Pick::Run(_));
    let mut right = vec![Span::styled(detail.to_owned(), Style::from(theme.dim))];
    if is_command {
        right.push(Span::styled(format!("  {:>keys$}", item.key), Style::from(theme.accent)));
    }
    let room =
        usize::from(area.width).saturating_sub(right.iter().map(|span| text::width(&span.content)).sum::<usize>() + 1);
    both_ends(area, marked(model, &item.text, places, room), right)
}

/// A text with the letters marked that matched; a path gives way at its start.
fn marked(model: &Model, words: &str, places: &[u32], room: usize) -> Vec<Span<'static>> {
    let theme = &model.theme;
    let plain = Style::from(theme.text);
    let hit = Style::from(theme.accent).add_modifier(Modifier::BOLD);
    let clusters: Vec<&str> = words.graphemes(true).collect();
    let mut spans: Vec<Span> = Vec::new();
    let mut skip = 0;
    let too_wide = text::width(words) > room;
    if too_wide && words.contains('/') && !words.contains(' ') {
        let kept = text::width(&text::cut_start(words, room)).saturating_sub(1);
        let mut used = 0;
        skip = clusters.len();
        for (at, cluster) in clusters.iter().enumerate().rev() {
            used += text::cluster_width(cluster);
            if used > kept {
                break;
            }
            skip = at;
        }
        spans.push(Span::styled("…", plain));
    }
    for (at, cluster) in clusters.iter().enumerate().skip(skip) {
        let style = if places.binary_search(&(at as u32)).is_ok() { hit } else { plain };
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(cluster),
            _ => spans.push(Span::styled((*cluster).to_owned(), style)),
        }
    }
    spans
}

fn preview(model: &Model, picker: &Picker, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    for row in 0..area.height {
        put(buffer, Rect { x: area.x.saturating_sub(1), ..area }, row, &Line::styled("│", theme.border));
    }
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    let chosen = picker.choice().map(|item| item.text.as_str());
    let Some(preview) = picker.preview.as_ref().filter(|preview| Some(preview.path.as_str()) == chosen) else { return };
    for (row, line) in preview.lines.iter().take(usize::from(area.height)).enumerate() {
        put(buffer, area, row as u16, &Line::styled(text::cut(line, usize::from(area.width)), theme.dim));
    }
}
