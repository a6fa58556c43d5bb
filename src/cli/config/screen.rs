//! How the screen looks: `[screen]` of the user's file, a theme of their own beside it, and the file
//! of keys. A project has no say in any of it.

use super::mistake::{Mistake, Source, nearest};
use super::reader::{At, Reader, Section};
use super::{ConfigError, read_source};
use crate::cli::paths::Paths;
use crate::tui::keymap::{Keymap, NOTHING, When};
use crate::tui::look::{Choice, Form, Look, Motion};
use crate::tui::theme::{BuiltIn, Theme, is_colour};
use std::path::Path;

const SCREEN: [&str; 6] = ["theme", "motion", "form", "bell", "notify", "title"];
const TRUTHS: [&str; 5] = ["bold", "dim", "italic", "underline", "reverse"];
const COLOURS: &str = "a name of the sixteen, a number of the 256, or #rrggbb";

/// Reads `[screen]`; a theme of the person's own is a file beside this one.
pub(super) fn look(section: &Section, config: &Path) -> Look {
    section.allow(&SCREEN);
    let mut look = Look::default();
    if let Some(name) = section.text("theme") {
        look.theme = theme(section, &name, config);
    }
    let words = ["full", "reduced"];
    if let Some(motion) = section.text("motion") {
        match motion.value.as_str() {
            "full" => look.motion = Motion::Full,
            "reduced" => look.motion = Motion::Reduced,
            other => section.mistake(&motion.span, format!("there is no motion `{other}`"), one_of(&words)),
        }
    }
    let words = ["panes", "plain"];
    if let Some(form) = section.text("form") {
        match form.value.as_str() {
            "panes" => look.form = Form::Panes,
            "plain" => look.form = Form::Plain,
            other => section.mistake(&form.span, format!("there is no form `{other}`"), one_of(&words)),
        }
    }
    let calls = &mut look.calls;
    for (key, slot) in [("bell", &mut calls.bell), ("notify", &mut calls.notify), ("title", &mut calls.title)] {
        if let Some(truth) = section.truth(key) {
            *slot = truth.value;
        }
    }
    look
}

fn one_of(words: &[&str]) -> String {
    format!("one of: {}", words.join(", "))
}

fn theme(section: &Section, name: &At<String>, config: &Path) -> Choice {
    if name.value == "auto" {
        return Choice::Auto;
    }
    if let Some(theme) = BuiltIn::named(&name.value) {
        return Choice::BuiltIn(theme);
    }
    let known: Vec<&str> = BuiltIn::ALL.iter().map(|theme| theme.name()).collect();
    let allowed = format!("auto, {}, or NAME for themes/NAME.toml beside this file", known.join(", "));
    if name.value.contains(['/', '.']) || name.value.is_empty() {
        section.mistake(&name.span, format!("`{}` is no name of a theme", name.value), allowed);
        return Choice::Auto;
    }
    let path = config.with_file_name("themes").join(format!("{}.toml", name.value));
    match read_source(&path, false) {
        Ok(Some(source)) => {
            let (theme, mistakes) = own_theme(&source);
            mistakes.into_iter().for_each(|mistake| section.add(mistake));
            theme.map_or(Choice::Auto, |theme| Choice::Own { name: name.value.clone(), theme: Box::new(theme) })
        }
        Ok(None) => {
            section.mistake(&name.span, format!("there is no theme `{}`: no {}", name.value, path.display()), allowed);
            Choice::Auto
        }
        Err(error) => {
            section.mistake(&name.span, error.to_string(), allowed);
            Choice::Auto
        }
    }
}

/// Reads a theme; every mistake is shown at its place.
fn own_theme(source: &Source) -> (Option<Theme>, Vec<Mistake>) {
    let mut base = BuiltIn::Dark;
    let roles = BuiltIn::roles();
    let mut known: Vec<&str> = roles.iter().map(String::as_str).collect();
    known.push("base");
    let mistakes = Reader::new(source).read(|top| {
        top.allow(&known);
        if let Some(name) = top.text("base") {
            match BuiltIn::named(&name.value) {
                Some(theme) => base = theme,
                None => {
                    let names: Vec<&str> = BuiltIn::ALL.iter().map(|theme| theme.name()).collect();
                    top.mistake(&name.span, format!("there is no theme `{}`", name.value), one_of(&names));
                }
            }
        }
        for role in top.keys().iter().filter(|key| roles.contains(&key.value)) {
            let Some(section) = top.section(&role.value) else { continue };
            section.allow(&["fg", "bg", "bold", "dim", "italic", "underline", "reverse"]);
            for colour in ["fg", "bg"].into_iter().filter_map(|key| section.text(key)) {
                if !is_colour(&colour.value) {
                    section.mistake(&colour.span, format!("`{}` is no colour", colour.value), COLOURS);
                }
            }
            for key in TRUTHS {
                section.truth(key);
            }
        }
    });
    if !mistakes.is_empty() {
        return (None, mistakes);
    }
    match Theme::over(base, &source.text) {
        Ok(theme) => (Some(theme), mistakes),
        Err(message) => (None, vec![source.mistake(0..0, message, "see the themes that come with the program")]),
    }
}

/// Reads the file of keys, where there is one.
pub(super) fn keymap(paths: &Paths) -> Result<Keymap, ConfigError> {
    let mut keymap = Keymap::default();
    let Some(source) = read_source(&paths.keys(), false)? else { return Ok(keymap) };
    let places = When::all();
    let names: Vec<&str> = places.iter().map(|place| place.name()).collect();
    let mistakes = Reader::new(&source).read(|top| {
        top.allow(&names);
        for place in &places {
            let Some(section) = top.section(place.name()) else { continue };
            for key in section.keys() {
                let Some(command) = section.text(&key.value) else { continue };
                if let Err(message) = keymap.rebind(*place, &key.value, &command.value) {
                    let at = if message.contains("command") { &command.span } else { &key.span };
                    let near = nearest(&command.value, &keymap.names()).map(|near| format!("did you mean `{near}`? "));
                    let near = near.filter(|_| message.contains("command")).unwrap_or_default();
                    let allowed = format!("{near}`cowork keys` lists keys and commands; `{NOTHING}` frees a key");
                    section.mistake(at, message, allowed);
                }
            }
        }
    });
    if mistakes.is_empty() { Ok(keymap) } else { Err(ConfigError::Mistakes(mistakes)) }
}
