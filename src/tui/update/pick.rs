//! Picking: which items a picker has, and what a pick means.

use super::super::action::{Effect, Step};
use super::super::model::{Model, Overlay};
use super::super::picker::{Item, Kind, MOST_FILES, Pick, Picker, Wish};
use super::super::text;
use super::super::theme::BuiltIn;
use super::{person, submit, tasks};
use crate::domain::permission::Policy;
use crate::domain::{MessageKind, UserCommand};

/// How many rows a page of the picker has, roughly.
const PAGE: usize = 10;

fn open(model: &mut Model, picker: Picker) {
    model.picker = Some(picker);
    model.overlay = Some(Overlay::Picker);
}

/// Every command that can be given where the keys went.
pub(super) fn commands(model: &mut Model, lead: Option<char>) -> Vec<Effect> {
    let item = |row: &super::super::keymap::Row| Item {
        text: row.says.to_owned(),
        detail: row.name.to_owned(),
        key: row.keys.first().cloned().unwrap_or_default(),
        pick: Pick::Run(row.action.clone()),
    };
    let items = model.keymap.commands(model).into_iter().map(item).collect();
    open(model, Picker::new(Kind::Commands, lead, items));
    Vec::new()
}

/// What was sent before, newest first.
pub(super) fn history(model: &mut Model) -> Vec<Effect> {
    let items = sent(model);
    open(model, Picker::new(Kind::History, None, items));
    Vec::new()
}

/// The history came while it is being searched.
pub(super) fn history_came(model: &mut Model) {
    let items = sent(model);
    if let Some(picker) = model.picker.as_mut().filter(|picker| picker.kind == Kind::History) {
        picker.replace(items);
    }
}

fn sent(model: &Model) -> Vec<Item> {
    let items = model.history().into_iter().rev().map(|words| Item {
        text: text::line(&words),
        detail: String::new(),
        key: String::new(),
        pick: Pick::Words(words),
    });
    items.collect()
}

/// The files of the folder: they come while the picker is open.
pub(super) fn files(model: &mut Model, lead: Option<char>) -> Vec<Effect> {
    model.searches += 1;
    let search = model.searches;
    let mut picker = Picker::new(Kind::Files, lead, Vec::new());
    picker.search = search;
    picker.searching = true;
    open(model, picker);
    vec![Effect::FindFiles { search, folder: model.folder().to_owned() }]
}

pub(super) fn found(model: &mut Model, search: u64, paths: Vec<String>, last: bool) -> Vec<Effect> {
    let Some(picker) = model.picker.as_mut().filter(|picker| picker.search == search) else { return Vec::new() };
    let room = MOST_FILES.saturating_sub(picker.counts().1);
    picker.add(paths.into_iter().take(room).map(Item::file));
    picker.searching = !last;
    preview(model)
}

/// The word that a command needs.
pub(super) fn ask(model: &mut Model, wish: Wish, typed: &str) -> Vec<Effect> {
    if matches!(wish, Wish::Rename | Wish::Objective) && model.wanted.is_none() {
        model.say("there is no Task yet: say what you want done");
        return Vec::new();
    }
    let items = match wish {
        Wish::Rename | Wish::Objective | Wish::StartJob | Wish::FindInJob | Wish::JumpInJob | Wish::FilterJobs => {
            Vec::new()
        }
        Wish::NewDocument | Wish::FindInText | Wish::ReplaceInText | Wish::ReplaceWith | Wish::GoToLine => Vec::new(),
        Wish::OpenDocument => super::editor::items(model),
        Wish::FilterInbox => {
            let kinds = MessageKind::ALL.iter().map(|kind| kind.as_str().replace('_', " "));
            let is_there = |kind: &String| {
                let mut messages = model.told.records.messages.values();
                messages.any(|message| message.kind.as_str().replace('_', " ") == *kind)
            };
            let words = [("all", "every message"), ("open", "what is not answered yet")];
            let words = words.into_iter().map(|(word, says)| Item::words(word, says));
            words.chain(kinds.filter(is_there).map(|kind| Item::words(&kind, ""))).collect()
        }
        Wish::Model => model.facts.models.iter().map(|name| Item::words(name, "")).collect(),
        Wish::Policy => Policy::NAMES.iter().map(|(name, _)| Item::words(*name, says(name))).collect(),
        Wish::Theme => BuiltIn::ALL.iter().map(|theme| Item::words(theme.name(), theme.says())).collect(),
    };
    let mut picker = Picker::new(Kind::Wish(wish), None, items);
    match model.told.task() {
        Some(task) if wish == Wish::Rename && typed.is_empty() => picker.query.set(&task.title),
        _ => picker.query.set(typed),
    }
    if matches!(wish, Wish::FindInText | Wish::ReplaceInText) && typed.is_empty() {
        picker.query.set(model.editor.find.as_deref().unwrap_or_default());
    }
    picker.refind();
    open(model, picker);
    if wish == Wish::OpenDocument { super::editor::ask(model) } else { Vec::new() }
}

/// What a policy means, in a few words.
fn says(policy: &str) -> &'static str {
    match policy {
        "read" => "asks before anything but reading in the folder",
        "ask" => "asks before every command, change and request",
        "workspace" => "asks before what goes beyond the folder",
        "full" => "never asks",
        _ => "",
    }
}

/// What is typed changed.
pub(super) fn retyped(model: &mut Model) -> Vec<Effect> {
    let Some(picker) = &mut model.picker else { return Vec::new() };
    picker.refind();
    let typed = picker.query.text();
    let Some((word, rest)) = typed.split_once(' ') else { return preview(model) };
    match (picker.kind, picker.lead) {
        (Kind::Commands, Some(_)) => match model.keymap.wish_named(word) {
            Some(wish) => {
                let rest = rest.to_owned();
                ask(model, wish, &rest)
            }
            // Words after something that is no command: they are meant for Main.
            None => leave(model),
        },
        // A path was typed to its end.
        (Kind::Files, Some(_)) => leave(model),
        (Kind::Commands | Kind::Files | Kind::History | Kind::Wish(_), _) => preview(model),
    }
}

/// Closes the picker; what was typed into it goes where it would have gone without one.
fn leave(model: &mut Model) -> Vec<Effect> {
    model.overlay = None;
    if let Some(picker) = model.picker.take()
        && let Some(lead) = picker.lead
    {
        model.composer.write(&format!("{lead}{}", picker.query.text()));
    }
    Vec::new()
}

/// Closes the picker without a pick.
pub(super) fn close(model: &mut Model) -> Vec<Effect> {
    let typed = model.picker.as_ref().is_some_and(|picker| picker.kind == Kind::Files || !picker.query.is_empty());
    if typed {
        return leave(model);
    }
    model.overlay = None;
    model.picker = None;
    Vec::new()
}

pub(super) fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    if let Some(picker) = &mut model.picker {
        picker.choose(step, PAGE);
    }
    preview(model)
}

/// Asks for the first lines of the chosen file.
fn preview(model: &mut Model) -> Vec<Effect> {
    let Some(picker) = model.picker.as_ref().filter(|picker| picker.kind == Kind::Files) else { return Vec::new() };
    let Some(path) = picker.choice().map(|item| item.text.clone()) else { return Vec::new() };
    if picker.preview.as_ref().is_some_and(|preview| preview.path == path) {
        return Vec::new();
    }
    vec![Effect::Preview { folder: model.folder().to_owned(), path }]
}

/// Takes what is chosen.
pub(super) fn take(model: &mut Model) -> Vec<Effect> {
    let Some(picker) = &model.picker else { return Vec::new() };
    let (kind, typed) = (picker.kind, picker.query.text().trim().to_owned());
    let pick = picker.choice().map(|item| item.pick.clone());
    match (kind, pick) {
        (Kind::Wish(wish), pick) => {
            let word = match pick {
                Some(Pick::Words(word)) => word,
                Some(Pick::Run(_)) | None => typed,
            };
            model.overlay = None;
            model.picker = None;
            if word.is_empty() && wish != Wish::ReplaceWith { Vec::new() } else { grant(model, wish, word) }
        }
        (Kind::Commands, Some(Pick::Run(action))) => {
            model.overlay = None;
            model.picker = None;
            person(model, action, false)
        }
        (Kind::Files, Some(Pick::Words(path))) => {
            model.overlay = None;
            model.picker = None;
            model.composer.write(&format!("{} ", mention(&path)));
            Vec::new()
        }
        (Kind::History, Some(Pick::Words(words))) => {
            model.overlay = None;
            model.picker = None;
            model.composer.set(&words);
            Vec::new()
        }
        (Kind::Commands | Kind::Files | Kind::History, _) => leave(model),
    }
}

/// A file as it is named in a message: `@src/main.rs`, `@"two words.txt"`.
pub(super) fn mention(path: &str) -> String {
    if path.contains(|c: char| c.is_whitespace() || c == '"') {
        format!("@\"{}\"", path.replace('"', "\\\""))
    } else {
        format!("@{path}")
    }
}

/// Does what was asked for, with the word that it needed.
fn grant(model: &mut Model, wish: Wish, word: String) -> Vec<Effect> {
    match wish {
        Wish::Rename => tasks::of_open(model, |task| UserCommand::Rename { task, title: word }),
        Wish::Objective => tasks::of_open(model, |task| UserCommand::SetObjective { task, text: word }),
        Wish::Model => {
            if !word.contains(':') {
                model.warn(format!("`{}` is not PROVIDER:NAME", text::line(&word)));
                return Vec::new();
            }
            match model.wanted.clone() {
                Some(task) => submit(model, UserCommand::SetModel { task, model: Some(word) }, None),
                None => {
                    // Nobody chose one before: the choice is kept for the next start.
                    model.facts.model = word.clone();
                    if !model.facts.offers.is_empty() { vec![Effect::KeepModel(word)] } else { Vec::new() }
                }
            }
        }
        Wish::Policy => {
            let Some(policy) = Policy::named(&word) else {
                model.warn(format!("there is no policy `{}`", text::line(&word)));
                return Vec::new();
            };
            match model.wanted.clone() {
                Some(task) => submit(model, UserCommand::SetPolicy { task, policy }, None),
                None => {
                    model.facts.policy = policy;
                    Vec::new()
                }
            }
        }
        Wish::StartJob => super::jobs::start(model, word),
        Wish::FindInJob => super::jobs::find(model, word),
        Wish::JumpInJob => super::job_log::jump(model, &word),
        Wish::FilterJobs => super::job_log::filter(model, &word),
        Wish::OpenDocument
        | Wish::NewDocument
        | Wish::FindInText
        | Wish::ReplaceInText
        | Wish::ReplaceWith
        | Wish::GoToLine => super::editor::grant(model, wish, word),
        Wish::FilterInbox => super::inbox::filter(model, &word),
        Wish::Theme => {
            match BuiltIn::named(&word) {
                Some(theme) => {
                    model.guessed = None;
                    model.theme = theme.load();
                    model.say(format!("for this screen; `[screen] theme = \"{word}\"` keeps it"));
                }
                None => model.warn(format!("there is no theme `{}`", text::line(&word))),
            }
            Vec::new()
        }
    }
}
