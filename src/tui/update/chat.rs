//! Reading: scrolling, opening, copying, and asking for what is older.

use super::super::action::{Effect, Step, Viewer};
use super::super::chat::Context;
use super::super::chat::search::{Search, Sought};
use super::super::model::{Focus, Model};
use super::super::{selection, text};

/// How many rows are kept while the end is followed.
const KEEP: usize = 600;

pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    model.chat.scroll(step);
    ask_older(model)
}

/// Asks for older rows when the reader comes near the first ones.
pub(super) fn ask_older(model: &mut Model) -> Vec<Effect> {
    if !model.told.more() || model.chat.asked_older || model.chat.is_following() || !model.chat.is_near_start() {
        return Vec::new();
    }
    let before = model.told.rows().next().map(|row| row.seq);
    let agent = model.told.reader().cloned();
    match (agent, before) {
        (Some(agent), Some(before)) => {
            model.chat.asked_older = true;
            vec![Effect::Older { agent, before }]
        }
        _ => Vec::new(),
    }
}

/// Lets go of old rows that nobody looks at.
pub(super) fn forget_old(model: &mut Model) {
    if model.chat.is_following() && model.told.rows().nth(2 * KEEP).is_some() {
        model.told.trim(KEEP);
    }
}

pub(super) fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    model.chat.choose(step);
    model.focus = if model.chat.chosen.is_some() { Focus::Transcript } else { Focus::Composer };
    ask_older(model)
}

pub(super) fn toggle(model: &mut Model) -> Vec<Effect> {
    model.chat.toggle_chosen();
    Vec::new()
}

pub(super) fn toggle_all(model: &mut Model) -> Vec<Effect> {
    model.chat.opened.all = !model.chat.opened.all;
    model.chat.opened.except.clear();
    Vec::new()
}

pub(super) fn copy(model: &mut Model) -> Vec<Effect> {
    let words = model.chat.words_of_chosen(&model.told);
    if words.is_empty() {
        return Vec::new();
    }
    model.say("copied");
    vec![Effect::Copy(words)]
}

/// The button that marked something, or only clicked, was let go.
pub(super) fn let_go(model: &mut Model) -> Vec<Effect> {
    let area = model.layout.transcript;
    let Some(marked) = model.marked else { return Vec::new() };
    if !marked.is_some() {
        let (_, row) = marked.start();
        model.marked = None;
        model.chat.toggle_at(usize::from(row.saturating_sub(area.y)));
        return Vec::new();
    }
    let space = model.chat.space_above();
    let lines = model.chat.visible().enumerate().filter_map(|(row, (line, _))| {
        let (start, end) = marked.columns(area.y + (row + space) as u16, area)?;
        let columns = (usize::from(start - area.x), usize::from(end - area.x));
        Some(line.map_or_else(String::new, |line| selection::cut_out(&line.to_string(), columns)))
    });
    let words = lines.collect::<Vec<_>>().join("\n");
    if words.trim().is_empty() {
        return Vec::new();
    }
    model.say("copied");
    vec![Effect::Copy(words)]
}

/// Shows the chosen entry in the person's own program.
pub(super) fn show_entry(model: &mut Model, viewer: Viewer) -> Vec<Effect> {
    let words = model.chat.words_of_chosen(&model.told);
    if words.is_empty() {
        model.say("there is nothing to show of this");
        return Vec::new();
    }
    vec![Effect::Show(viewer, text::clean(&words))]
}

/// Shows the whole conversation, as far as it is loaded, in the person's own program.
pub(super) fn show_all(model: &mut Model, viewer: Viewer) -> Vec<Effect> {
    let words = super::super::chat::whole(&model.told);
    if words.is_empty() {
        model.say("nothing was said yet");
        return Vec::new();
    }
    vec![Effect::Show(viewer, words)]
}

pub(super) fn shown(model: &mut Model, result: Result<(), String>) -> Vec<Effect> {
    if let Err(why) = result {
        model.warn(why);
    }
    Vec::new()
}

pub(super) fn choose_said(model: &mut Model, step: Step) -> Vec<Effect> {
    model.chat.choose_said(step);
    ask_older(model)
}

pub(super) fn copy_code(model: &mut Model) -> Vec<Effect> {
    match model.chat.code_of_chosen(&model.told) {
        Some((code, at, all)) => {
            model.say(if all == 1 { "code copied".to_owned() } else { format!("code block {at} of {all} copied") });
            vec![Effect::Copy(code)]
        }
        None => {
            model.say("no code here");
            Vec::new()
        }
    }
}

pub(super) fn search(model: &mut Model) -> Vec<Effect> {
    model.chat.search = Some(Search::begin());
    model.focus = Focus::Transcript;
    Vec::new()
}

pub(super) fn type_search(model: &mut Model, words: &str) -> Vec<Effect> {
    if let Some(search) = &mut model.chat.search {
        search.words.push_str(&text::line(words));
        // A space that is typed is one; trimming is for what is foreign.
        if words == " " {
            search.words.push(' ');
        }
    }
    seek(model, None)
}

pub(super) fn backspace_search(model: &mut Model) -> Vec<Effect> {
    if let Some(search) = &mut model.chat.search {
        search.words.pop();
    }
    seek(model, None)
}

pub(super) fn keep_search(model: &mut Model) -> Vec<Effect> {
    match &mut model.chat.search {
        Some(search) if !search.words.is_empty() => {
            search.typing = false;
            Vec::new()
        }
        Some(_) | None => leave_search(model),
    }
}

pub(super) fn leave_search(model: &mut Model) -> Vec<Effect> {
    super::focus::composer(model)
}

pub(super) fn seek(model: &mut Model, step: Option<Step>) -> Vec<Effect> {
    let Some(search) = &model.chat.search else {
        model.say("nothing is searched for; / begins");
        return Vec::new();
    };
    if search.words.is_empty() {
        return Vec::new();
    }
    let words = search.words.clone();
    let context = Context { told: &model.told, theme: &model.theme, now: model.now };
    if model.chat.seek(context, step) == Sought::Found {
        return ask_older(model);
    }
    let is_up = step != Some(Step::Down);
    if is_up && model.told.more() {
        model.say("none in what is loaded; older rows are being asked for");
        model.chat.scroll(Step::Start);
        return ask_older(model);
    }
    model.say(match step {
        None => format!("no \u{201c}{words}\u{201d} here"),
        Some(Step::Down) => "no match below".to_owned(),
        Some(_) => "no match above".to_owned(),
    });
    Vec::new()
}
