//! Going from Task to Task: the list, opening one, starting a new one.

use super::super::action::{Effect, Step};
use super::super::model::{Focus, Model, Overlay};
use super::{submit, write};
use crate::domain::{Event, Task, TaskId, TaskStatus, UserCommand};

pub(super) fn list(model: &mut Model) -> Vec<Effect> {
    model.overlay = Some(Overlay::Tasks);
    model.tasks.asked = true;
    model.tasks.stale = false;
    model.tasks.filter = None;
    let wanted = &model.wanted;
    if let Some(at) = model.told.tasks.iter().position(|task| Some(&task.id) == wanted.as_ref()) {
        model.tasks.chosen = at;
    }
    vec![Effect::ListTasks { archived: model.tasks.archived }]
}

pub(super) fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 2).max(1);
    model.tasks.chosen = step.apply(model.tasks.chosen, model.listed_tasks().len(), page);
    Vec::new()
}

pub(super) fn toggle_archived(model: &mut Model) -> Vec<Effect> {
    model.tasks.archived = !model.tasks.archived;
    model.tasks.asked = true;
    vec![Effect::ListTasks { archived: model.tasks.archived }]
}

fn chosen(model: &Model) -> Option<&Task> {
    model.listed_tasks().get(model.tasks.chosen).copied()
}

/// Begins to narrow the list to what is typed.
pub(super) fn filter(model: &mut Model) -> Vec<Effect> {
    model.tasks.filter.get_or_insert_default().typing = true;
    Vec::new()
}

pub(super) fn type_filter(model: &mut Model, words: &str) -> Vec<Effect> {
    if let Some(filter) = &mut model.tasks.filter {
        filter.words.extend(words.chars().map(|c| if c.is_control() { ' ' } else { c }));
        model.tasks.chosen = 0;
    }
    Vec::new()
}

pub(super) fn backspace_filter(model: &mut Model) -> Vec<Effect> {
    if model.tasks.filter.as_mut().is_some_and(|filter| filter.words.pop().is_none()) {
        return leave_filter(model);
    }
    Vec::new()
}

/// The list stays narrowed, and keys act on it again.
pub(super) fn keep_filter(model: &mut Model) -> Vec<Effect> {
    match &mut model.tasks.filter {
        Some(filter) if !filter.words.trim().is_empty() => filter.typing = false,
        Some(_) | None => model.tasks.filter = None,
    }
    Vec::new()
}

pub(super) fn leave_filter(model: &mut Model) -> Vec<Effect> {
    let chosen = chosen(model).map(|task| task.id.clone());
    model.tasks.filter = None;
    if let Some(at) = model.told.tasks.iter().position(|task| Some(&task.id) == chosen.as_ref()) {
        model.tasks.chosen = at;
    }
    Vec::new()
}

pub(super) fn pause(model: &mut Model) -> Vec<Effect> {
    let wanted = chosen(model).map(|task| {
        let id = task.id.clone();
        match task.status {
            TaskStatus::Active | TaskStatus::Parked | TaskStatus::AwaitingHuman => UserCommand::Pause { task: id },
            TaskStatus::Paused | TaskStatus::Failed | TaskStatus::Cancelled | TaskStatus::Completed => {
                UserCommand::Resume { task: id }
            }
        }
    });
    wanted.map_or_else(Vec::new, |wanted| submit(model, wanted, None))
}

/// Has something done to the Task that is open.
pub(super) fn of_open(model: &mut Model, wanted: impl FnOnce(TaskId) -> UserCommand) -> Vec<Effect> {
    match model.wanted.clone() {
        Some(task) => submit(model, wanted(task), None),
        None => {
            model.say("there is no Task yet: say what you want done");
            Vec::new()
        }
    }
}

pub(super) fn archive(model: &mut Model) -> Vec<Effect> {
    let wanted = chosen(model).map(|task| UserCommand::Archive { task: task.id.clone(), archived: !task.archived });
    wanted.map_or_else(Vec::new, |wanted| submit(model, wanted, None))
}

/// An event may have changed the list: asks again, once at a time.
pub(super) fn heard(model: &mut Model, event: &Event) -> Vec<Effect> {
    let shows = matches!(
        event,
        Event::TaskCreated { .. }
            | Event::TaskRenamed { .. }
            | Event::TaskStatusChanged { .. }
            | Event::TaskArchived { .. }
            | Event::TaskRemoved { .. }
            | Event::TurnCommitted { .. }
    );
    if model.overlay != Some(Overlay::Tasks) || !shows {
        return Vec::new();
    }
    if model.tasks.asked {
        model.tasks.stale = true;
        return Vec::new();
    }
    model.tasks.asked = true;
    vec![Effect::ListTasks { archived: model.tasks.archived }]
}

pub(super) fn open_chosen(model: &mut Model) -> Vec<Effect> {
    let Some(task) = chosen(model).map(|task| task.id.clone()) else { return Vec::new() };
    model.overlay = None;
    if model.wanted.as_ref() == Some(&task) {
        return Vec::new();
    }
    go_to(model, Some(task))
}

pub(super) fn new(model: &mut Model) -> Vec<Effect> {
    model.overlay = None;
    if model.wanted.is_none() {
        return Vec::new();
    }
    go_to(model, None)
}

/// Leaves one Task for another: what is being written stays with its Task.
pub(super) fn go_to(model: &mut Model, task: Option<TaskId>) -> Vec<Effect> {
    super::agents::leave(model);
    super::inbox::forget(model);
    if !model.writes_message() {
        model.composer.resume();
    }
    let mut effects = write::keep_draft(model);
    model.composer.set("");
    model.wanted = task.clone();
    model.told.close();
    model.chat = Default::default();
    model.focus = Focus::Composer;
    effects.extend(task.map(Effect::Open));
    effects.push(Effect::LoadDraft { client: model.facts.client.clone(), pane: model.draft_pane() });
    effects
}
