//! What stands in an empty chat, and the banner that asks about trust.

use super::super::action::Action;
use super::super::keymap::When;
use super::super::model::Model;
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
    let yes = model.keymap.key_of(When::Untrusted, &Action::TrustFolder);
    let later = model.keymap.key_of(When::Untrusted, &Action::TrustLater);
    let held = model.facts.to_trust.join(", ");
    say(&format!("Only then is this used: {held}    {yes} trust it  {later} not now"), theme.dim.into());
    lines.push(Line::default());
    lines
}

/// What stands where nothing was said yet.
pub fn empty(model: &Model, room: usize) -> Vec<Line<'static>> {
    let theme = &model.theme;
    let inner = room.saturating_sub(4).max(1);
    let mut lines = vec![Line::default()];
    let mut say = |words: String, style: Style| {
        for row in wrap::wrap(&words, inner) {
            lines.push(Line::styled(format!("   {}", wrap::shown(&words, &row, inner)), style));
        }
    };
    let path = text::cut_start(&text::exact(&model.facts.folder.path), inner);
    say(path, theme.strong.into());
    if model.facts.model.starts_with("guide:") {
        say(
            "The guide answers here: built in, no AI, no network. It reads, searches, edits and runs what you ask."
                .into(),
            theme.dim.into(),
        );
        say("Try: what is here?".into(), theme.dim.into());
    } else {
        say(format!("{} works here.", text::line(&model.facts.model)), theme.dim.into());
        say("Say what you want done.".into(), theme.dim.into());
    }
    lines
}
