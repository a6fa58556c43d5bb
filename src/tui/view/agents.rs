//! Subagents: the tree with how far each is, and the chosen one in more words below it.

use super::super::action::{Action, Pane};
use super::super::agents::{self, AgentsAct};
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::projection::team::{Member, Standing};
use super::super::{text, words, wrap};
use super::{both_ends, put};
use crate::domain::Assignment;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A pane that is lower shows the list alone.
const LEAST_FOR_BOTH: u16 = 9;

/// From how many columns on a row has room for all facts.
const ROOM_FOR_FACTS: u16 = 64;

/// How many rows the pane would need to show all of them.
pub fn wanted_rows(model: &Model) -> usize {
    rows(model).len()
}

/// A row of the list.
enum Row<'a> {
    Member(Member<'a>),
    /// What the one above asks to be decided.
    Asks(Member<'a>),
}

fn rows(model: &Model) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for member in model.told.team() {
        rows.push(Row::Member(member));
        if model.told.asked_by(&member.work.agent).is_some() {
            rows.push(Row::Asks(member));
        }
    }
    rows
}

pub(super) fn draw(model: &Model, area: Rect, buffer: &mut Buffer) {
    let area = Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area };
    let rows = rows(model);
    if rows.is_empty() {
        return super::panes::draw(model, Pane::Subagents, area, buffer);
    }
    let focused = model.focus == Focus::Side(Pane::Subagents);
    let both = focused && area.height >= LEAST_FOR_BOTH;
    let wanted = rows.len().min(usize::from(u16::MAX)) as u16;
    let height = if both { wanted.clamp(1, area.height / 2) } else { area.height };
    list(model, &rows, Rect { height, ..area }, buffer);
    if both {
        let rest = Rect { y: area.y + height, height: area.height - height, ..area };
        put(buffer, rest, 0, &Line::styled("─".repeat(usize::from(rest.width)), model.theme.border));
        chosen(model, Rect { y: rest.y + 1, height: rest.height - 1, ..rest }, buffer);
    }
}

fn list(model: &Model, rows: &[Row], area: Rect, buffer: &mut Buffer) {
    let focused = model.focus == Focus::Side(Pane::Subagents);
    let chosen = model.agents.chosen(&model.told);
    let is_chosen = |row: &Row| matches!(row, Row::Member(member) if Some(&member.work.agent) == chosen.as_ref());
    let at = rows.iter().position(is_chosen).unwrap_or(0);
    let height = usize::from(area.height).max(1);
    let first = if focused { (at + 1).saturating_sub(height) } else { 0 };
    let hidden = rows.len().saturating_sub(first + height);
    let columns = Columns::of(model, rows, area);
    for (row, entry) in rows.iter().skip(first).take(height).enumerate() {
        if row + 1 == height && hidden > 0 && !(focused && is_chosen(entry)) {
            let words = format!("  … {}", words::many(hidden + 1, "more row", "more rows"));
            put(buffer, area, row as u16, &Line::styled(words, model.theme.dim));
            continue;
        }
        let line = match entry {
            Row::Member(member) => line(model, member, &columns, area),
            Row::Asks(member) => asks(model, member, area),
        };
        put(buffer, area, row as u16, &line);
        if focused && is_chosen(entry) {
            buffer.set_style(Rect { y: area.y + row as u16, height: 1, ..area }, model.theme.select);
        }
    }
}

/// What it has used, in few words: turns, time, tokens, and money where it is known.
fn facts(model: &Model, work: &Assignment) -> [String; 4] {
    let usage = &work.usage;
    let about = if usage.estimated { "~" } else { "" };
    [
        words::many(usage.turns as usize, "turn", "turns"),
        agents::elapsed(work, model.now),
        format!("{about}{}", words::count(usage.input_tokens + usage.output_tokens)),
        usage.micro_usd.map(|micro_usd| format!("{about}{}", words::money(micro_usd))).unwrap_or_default(),
    ]
}

/// How wide the columns of the list are, so that what is alike stands below each other.
struct Columns {
    name: usize,
    facts: [usize; 4],
    state: usize,
}

impl Columns {
    fn of(model: &Model, rows: &[Row], area: Rect) -> Self {
        let most = usize::from(area.width) / if area.width >= ROOM_FOR_FACTS { 4 } else { 3 };
        let mut columns = Self { name: 0, facts: [0; 4], state: 0 };
        for row in rows {
            let Row::Member(Member { work, depth, standing }) = row else { continue };
            let (_, _, word) = agents::state(&model.told, &model.theme, work, *standing);
            columns.name = columns.name.max(2 * depth + text::width(&text::line(&work.name)));
            columns.state = columns.state.max(text::width(&word));
            for (wide, fact) in columns.facts.iter_mut().zip(facts(model, work)) {
                *wide = (*wide).max(text::width(&fact));
            }
        }
        columns.name = columns.name.min(most.max(6));
        columns
    }
}

/// A text filled up with blanks to a width.
fn filled(words: String, wide: usize) -> String {
    let pad = wide.saturating_sub(text::width(&words));
    words + &" ".repeat(pad)
}

fn line(model: &Model, member: &Member, columns: &Columns, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let Member { work, depth, standing } = *member;
    let (sign, style, word) = agents::state(&model.told, theme, work, standing);
    let quiet = standing == Standing::Over;
    let name = if quiet { theme.dim } else { theme.text };
    let last = match model.told.contribution_to(&work.id) {
        Some(brought) => agents::first_words(&brought.report.done),
        None if model.told.asked_by(&work.agent).is_some() => String::new(),
        None => model.told.last_line(&work.agent),
    };
    let last = text::line(&text::output(&last));
    let wide = area.width >= ROOM_FOR_FACTS;
    let indent = "  ".repeat(depth);
    let room = columns.name.saturating_sub(indent.len()).max(4);
    let left = vec![
        Span::raw(indent),
        Span::styled(format!("{sign} "), style),
        Span::styled(filled(text::cut(&text::line(&work.name), room), room), Style::from(name)),
        Span::styled(format!("  {last}"), Style::from(theme.dim)),
    ];
    let calm = if quiet { theme.dim.into() } else { style };
    let right = match (wide, standing) {
        (true, _) => {
            let facts = facts(model, work);
            let facts = facts.iter().zip(columns.facts).filter(|(_, wide)| *wide > 0);
            let facts: Vec<String> =
                facts.map(|(fact, wide)| format!("{}{fact}", " ".repeat(wide - text::width(fact)))).collect();
            vec![
                Span::styled(format!("{}  ", facts.join("  ")), Style::from(theme.dim)),
                Span::styled(filled(word, columns.state), calm),
            ]
        }
        (false, Standing::Works) => vec![Span::styled(agents::elapsed(work, model.now), Style::from(theme.dim))],
        (false, _) => vec![Span::styled(word, calm)],
    };
    both_ends(area, left, right)
}

/// What a Subagent asks, and how long it still waits.
fn asks(model: &Model, member: &Member, area: Rect) -> Line<'static> {
    let theme = &model.theme;
    let Some(asked) = model.told.asked_by(&member.work.agent) else { return Line::default() };
    let left = vec![
        Span::raw("  ".repeat(member.depth + 1)),
        Span::styled(text::line(&asked.question), Style::from(theme.text)),
    ];
    both_ends(area, left, vec![Span::styled(agents::left(asked, model.now), Style::from(theme.warn))])
}

/// The chosen one in more words, and what can be done with it.
fn chosen(model: &Model, area: Rect, buffer: &mut Buffer) {
    let theme = &model.theme;
    let Some(agent) = model.agents.chosen(&model.told) else { return };
    let Some(member) = model.told.team().into_iter().find(|member| member.work.agent == agent) else { return };
    let work = member.work;
    let room = usize::from(area.width).max(1);
    let mut lines = Vec::new();
    let mut add = |words: &str, style: Style, most: usize| {
        let words = text::clean(words);
        for range in wrap::wrap(&words, room).iter().take(most) {
            lines.push(Line::styled(wrap::shown(&words, range, room).to_owned(), style));
        }
    };
    let (_, _, word) = agents::state(&model.told, theme, work, member.standing);
    let model_name = work.contract.model.as_deref().map(|name| format!("  {}", text::line(name))).unwrap_or_default();
    add(&format!("{word}  {}{model_name}", facts(model, work).join("  ").trim_end()), theme.dim.into(), 2);
    add(&work.objective, theme.text.into(), 3);
    if let Some(asked) = model.told.asked_by(&agent) {
        add(&format!("? {}", asked.question), theme.warn.into(), 3);
        add(&format!("without an answer: {}", asked.fallback), theme.dim.into(), 2);
    }
    match model.told.contribution_to(&work.id) {
        Some(brought) => {
            add(&format!("⇠ {}: {}", brought.report.outcome, brought.report.done.trim()), theme.text.into(), 6)
        }
        None => add(&format!("… {}", text::line(&model.told.last_line(&agent))), theme.dim.into(), 2),
    }
    let keys = keys(model, &member);
    for (row, line) in lines.iter().take(usize::from(area.height).saturating_sub(1)).enumerate() {
        put(buffer, area, row as u16, line);
    }
    if area.height > 0 {
        put(buffer, area, area.height - 1, &Line::styled(text::cut(&keys, room), theme.dim));
    }
}

fn keys(model: &Model, member: &Member) -> String {
    let key = |act, words: &str| format!("{} {words}", model.keymap.key_of(When::Subagents, &Action::Agents(act)));
    let mut keys = vec![key(AgentsAct::Read, "open")];
    match member.standing {
        Standing::Asks => keys.extend([key(AgentsAct::Decide, "decide"), key(AgentsAct::Guide, "guide")]),
        Standing::Works | Standing::Waits | Standing::Queued => {
            keys.extend([key(AgentsAct::Guide, "guide"), key(AgentsAct::Cancel, "stop")]);
        }
        Standing::Brought => keys.extend([
            key(AgentsAct::Contribution, "whole"),
            key(AgentsAct::Accept, "accept"),
            key(AgentsAct::SendBack, "send back"),
        ]),
        Standing::Over => keys.push(key(AgentsAct::Contribution, "what it brought")),
    }
    keys.join("  ")
}
