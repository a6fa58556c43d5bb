//! Reading: scrolling, opening, copying, and asking for what is older.

use super::super::action::{Effect, Step};
use super::super::model::{Focus, Model};

/// How many rows are kept while the end is followed.
const KEEP: usize = 600;

pub(super) fn scroll(model: &mut Model, step: Step) -> Vec<Effect> {
    model.chat.scroll(step);
    ask_older(model)
}

/// Asks for older rows when the reader comes near the first ones.
pub(super) fn ask_older(model: &mut Model) -> Vec<Effect> {
    if !model.told.more || model.chat.asked_older || model.chat.is_following() || !model.chat.is_near_start() {
        return Vec::new();
    }
    let before = model.told.rows().next().map(|row| row.seq);
    let agent = model.told.task().map(|task| task.main.clone());
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
    if model.chat.is_following() && model.told.records.rows.len() > 2 * KEEP {
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
