//! The one place where the model changes: an action comes in, effects go out. Pure.
//!
//! This file is the dispatch; each noun has a file of its own.

mod agents;
mod ask;
mod chat;
mod editor;
mod focus;
mod host;
mod inbox;
mod job_log;
mod jobs;
mod pick;
mod shell;
mod tasks;
mod write;

use super::action::{Action, Effect};
use super::input::decode::Answer;
use super::model::{Model, Outgoing};
use crate::domain::{CommandId, Delivery, UserCommand};
pub(super) use inbox::references;

/// Takes one action in; says what is wanted of the world.
pub fn update(model: &mut Model, action: Action) -> Vec<Effect> {
    match action {
        Action::News(news) => host::news(model, news),
        Action::Tick => tick(model),
        Action::Painted(job, coloured) => {
            model.dirty = true;
            model.chat.colours.know(job, coloured);
            Vec::new()
        }
        Action::Resize { width, height } => {
            model.dirty = true;
            model.size = (width, height);
            Vec::new()
        }
        Action::Answered(answer) => answered(model, answer),
        Action::Looks(looking) => {
            model.looking = looking;
            Vec::new()
        }
        asked => {
            model.last_key = Some(model.now);
            model.dirty = true;
            model.hint = None;
            let quit_asked = std::mem::take(&mut model.quit_asked);
            if !matches!(asked, Action::Drag { .. } | Action::Release) {
                (model.marked, model.marking) = (None, false);
            }
            let was = model.composer.version();
            let effects = person(model, asked, quit_asked);
            if model.composer.version() != was {
                model.draft_due = Some(model.now + write::DRAFT_AFTER);
            }
            effects
        }
    }
}

fn person(model: &mut Model, action: Action, quit_asked: bool) -> Vec<Effect> {
    match action {
        Action::Quit => quit(model),
        Action::AskToQuit if quit_asked => quit(model),
        Action::AskToQuit => {
            model.quit_asked = true;
            model.say("ctrl+c again quits; the work goes on");
            Vec::new()
        }
        Action::Suspend => vec![Effect::Suspend],

        Action::Focus(pane) => focus::to(model, pane),
        Action::FocusNext => focus::along(model, 1),
        Action::FocusPrevious => focus::along(model, -1),
        Action::FocusComposer => focus::composer(model),
        Action::ToggleZoom => focus::zoom(model),
        Action::HidePane => focus::hide(model),
        Action::MoveBorder(by) => focus::move_border(model, by),
        Action::Grow(by) => focus::grow(model, by),
        Action::ResetLayout => focus::reset_layout(model),
        Action::Drag { column, row } => focus::drag(model, column, row),
        Action::Release => focus::release(model),
        Action::LookAtAsks => focus::asks(model),
        Action::LookAtQueue => focus::queue(model),
        Action::ScrollPane(step) => focus::scroll(model, step),
        Action::Wheel { column, row, step } => focus::wheel(model, column, row, step),
        Action::Click { column, row } => focus::click(model, column, row),
        Action::OpenHelp => focus::help(model),
        Action::ScrollHelp(step) => focus::scroll_help(model, step),
        Action::CloseOverlay => focus::close_overlay(model),

        Action::ScrollChat(step) => chat::scroll(model, step),
        Action::ChooseEntry(step) => chat::choose(model, step),
        Action::ToggleEntry => chat::toggle(model),
        Action::ToggleDetails => chat::toggle_all(model),
        Action::ChooseSaid(step) => chat::choose_said(model, step),
        Action::CopyEntry => chat::copy(model),
        Action::CopyCode => chat::copy_code(model),
        Action::ShowEntry(viewer) => chat::show_entry(model, viewer),
        Action::ShowChat(viewer) => chat::show_all(model, viewer),
        Action::Shown(result) => chat::shown(model, result),
        Action::OpenSearch => chat::search(model),
        Action::TypeSearch(words) => chat::type_search(model, &words),
        Action::BackspaceSearch => chat::backspace_search(model),
        Action::KeepSearch => chat::keep_search(model),
        Action::LeaveSearch => chat::leave_search(model),
        Action::Seek(step) => chat::seek(model, Some(step)),

        Action::Edit(edit) => write::edit(model, edit),
        Action::Type(text) => write::typed(model, &text),
        Action::Paste(text) => write::paste(model, &text),
        Action::Send => write::send(model, Delivery::Boundary),
        Action::SendLater => write::send(model, Delivery::TurnEnd),
        Action::ExpandPaste => write::expand(model),
        Action::EditOutside => write::edit_outside(model),
        Action::EditedOutside(result) => write::edited_outside(model, result),
        Action::SearchHistory => pick::history(model),
        Action::PickFile => pick::files(model, None),
        Action::ClearComposer => write::clear(model),
        Action::HistoryOlder => write::older(model),
        Action::HistoryNewer => write::newer(model),
        Action::LeavePurpose => write::leave(model),
        Action::ChooseQueued(step) => write::choose_queued(model, step),
        Action::EditQueued => write::edit_queued(model),
        Action::WithdrawQueued => write::withdraw(model),
        Action::MoveQueued(to) => write::move_queued(model, to),
        Action::ToggleDelivery => write::toggle_delivery(model),

        Action::ChooseAsk(step) => ask::choose(model, step),
        Action::ScrollAsk(step) => ask::scroll(model, step),
        Action::AnswerApproval(answer) => ask::answer(model, answer),
        Action::JudgeCheck(outcome) => ask::judge(model, outcome),
        Action::ChooseOption(step) => ask::choose_option(model, step),
        Action::TakeOption => ask::take_option(model),
        Action::WriteAnswer => ask::write(model),
        Action::TrustFolder => ask::trust(model),
        Action::TrustLater => ask::trust_later(model),
        Action::Interrupt => ask::interrupt(model),
        Action::Background => jobs::background(model),

        Action::ScrollShell(step) => shell::scroll(model, step),
        Action::KeepShell => shell::keep(model),
        Action::StopShell => shell::stop(model),
        Action::AttachShell => shell::attach(model),
        Action::Jobs(act) => jobs::act(model, act),
        Action::Editor(act) => editor::act(model, act),
        Action::Agents(act) => agents::act(model, act),
        Action::Inbox(act) => inbox::act(model, act),
        Action::Paper(act) => inbox::read(model, act),
        Action::Attached(result) => jobs::attached(model, result),
        Action::OpenTasks => tasks::list(model),
        Action::ChooseTask(step) => tasks::choose(model, step),
        Action::FilterTasks => tasks::filter(model),
        Action::TypeFilter(words) => tasks::type_filter(model, &words),
        Action::BackspaceFilter => tasks::backspace_filter(model),
        Action::KeepFilter => tasks::keep_filter(model),
        Action::LeaveFilter => tasks::leave_filter(model),
        Action::OpenTask => tasks::open_chosen(model),
        Action::NewTask => tasks::new(model),
        Action::ToggleArchived => tasks::toggle_archived(model),
        Action::PauseTask => tasks::pause(model),
        Action::ArchiveTask => tasks::archive(model),
        Action::Pause => tasks::of_open(model, |task| UserCommand::Pause { task }),
        Action::Resume => tasks::of_open(model, |task| UserCommand::Resume { task }),
        Action::Cancel => tasks::of_open(model, |task| UserCommand::Cancel { task }),
        Action::OpenCommands => pick::commands(model, None),
        Action::Ask(wish) => pick::ask(model, wish, ""),
        Action::ChoosePick(step) => pick::choose(model, step),
        Action::Pick => pick::take(model),
        Action::OpenKeys => focus::show_keys(model),
        Action::ShowKey(key) => focus::show_key(model, key),

        // These are handled before a person is asked.
        Action::News(_)
        | Action::Tick
        | Action::Resize { .. }
        | Action::Answered(_)
        | Action::Looks(_)
        | Action::Painted(..) => Vec::new(),
    }
}

/// The terminal said something about itself.
fn answered(model: &mut Model, answer: Answer) -> Vec<Effect> {
    match answer {
        Answer::Background(red, green, blue) => {
            if let Some(guess) = model.guessed.take() {
                model.theme = guess.on((red, green, blue)).load();
                model.dirty = true;
            }
        }
        // The driver keeps that one.
        Answer::TakesStatus => {}
    }
    Vec::new()
}

fn tick(model: &mut Model) -> Vec<Effect> {
    match model.draft_due.filter(|due| *due <= model.now) {
        Some(_) => write::keep_draft(model),
        None => {
            model.dirty = true;
            let mut effects = jobs::tick(model);
            effects.extend(shell::tick(model));
            effects.extend(editor::tick(model));
            effects
        }
    }
}

fn quit(model: &mut Model) -> Vec<Effect> {
    let mut effects = if model.draft_due.is_some() { write::keep_draft(model) } else { Vec::new() };
    effects.extend(editor::tell(model));
    effects.push(Effect::Quit);
    effects
}

/// Sends a command, and keeps it until it is answered.
fn submit(model: &mut Model, wanted: UserCommand, words: Option<String>) -> Vec<Effect> {
    let id = CommandId::new(&mut model.ids);
    model.outbox.push(Outgoing { id: id.clone(), wanted: wanted.clone(), words });
    vec![Effect::Submit { id, wanted }]
}

#[cfg(test)]
mod tests;
