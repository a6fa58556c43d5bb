//! What stands in an empty chat, and the banner that asks about trust.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::{Focus, Model};
use super::super::text;
use super::super::wrap;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The banner that says what trusting the folder means.
pub fn trust(model: &Model, room: usize) -> Vec<Line<'static>> {
    let theme = &model.theme;
    let inner = room.saturating_sub(5).max(1);
    let bar = || Span::styled(" ▌ ", Style::from(theme.warn));
    let mut lines = Vec::new();
    let mut say = |words: &str, style: Style| {
        for row in wrap::wrap(words, inner) {
            let words = wrap::shown(words, &row, inner).to_owned();
            lines.push(Line::from(vec![bar(), Span::styled(words, style)]));
        }
    };
    let path = text::cut_start(&text::exact(&model.facts.folder.path), inner.saturating_sub(8));
    say(&format!("Trust {path}?"), theme.strong.into());
    let place = if model.focus == Focus::Trust { When::Trust } else { When::Untrusted };
    let yes = model.keymap.key_of(place, &Action::TrustFolder);
    let later = model.keymap.key_of(place, &Action::TrustLater);
    let held = model.facts.to_trust.join(", ");
    say(&format!("Only then is this used: {held}"), theme.dim.into());
    let reach = match model.focus == Focus::Composer {
        true => format!("{} to answer, or ", model.keymap.key_of(When::Awaited, &Action::LookAtAsks)),
        false => String::new(),
    };
    say(&format!("{reach}{yes} trust it  {later} not now"), theme.warn.into());
    lines.push(Line::default());
    lines
}

/// What stands where nothing was said yet: what this is, for whoever sees it first, where it works
/// and who answers.
pub fn empty(model: &Model, room: usize) -> Vec<Line<'static>> {
    let theme = &model.theme;
    let inner = room.saturating_sub(4).max(1);
    let mut lines = Vec::new();
    let mut say = |words: &str, style: Style| {
        for row in wrap::wrap(words, inner) {
            lines.push(Line::styled(format!("   {}", wrap::shown(words, &row, inner)), style));
        }
    };
    let (strong, text, dim) = (Style::from(theme.strong), Style::from(theme.text), Style::from(theme.dim));
    if model.is_first_start {
        say("You and AI agents work here on the same files, documents and commands.", text);
        say("What runs goes on when you leave; `cowork` shows it again.", text);
        say("", text);
    }
    say(&text::cut_start(&text::exact(&model.facts.folder.path), inner), strong);
    match model.facts.model.strip_prefix("guide:") {
        Some(_) => say(
            "The guide answers here: built in, no AI, no network. It reads, searches, edits and runs what you ask.",
            dim,
        ),
        None => say(&format!("{} answers here.", text::line(&model.facts.model)), dim),
    }
    for offer in model.facts.offers.iter().filter(|offer| offer.model != model.facts.model) {
        say(&format!("{}: /model {} uses it.", text::line(&offer.what), text::line(&offer.model)), dim);
    }
    lines
}
