//! Writing: messages, new words for queued ones, answers; history; the draft.

use super::super::action::{Effect, Step};
use super::super::composer::{Edit, Purpose};
use super::super::model::{Focus, Model, Overlay};
use super::{pick, shell, submit};
use crate::domain::command::{ApprovalAnswer, Move};
use crate::domain::{Budget, Delivery, MessageId, Millis, TaskId, UserCommand};

/// How long after the last key the draft is kept.
pub(super) const DRAFT_AFTER: Millis = 300;

pub(super) fn edit(model: &mut Model, edit: Edit) -> Vec<Effect> {
    if let (Some(Overlay::Picker), Some(picker)) = (model.overlay, &mut model.picker) {
        picker.query.edit(edit);
        return pick::retyped(model);
    }
    match edit {
        Edit::Insert(c) => typed(model, c.encode_utf8(&mut [0; 4])),
        other => {
            model.composer.edit(other);
            Vec::new()
        }
    }
}

/// Types characters; some of them open something at their place.
pub(super) fn typed(model: &mut Model, characters: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut rest = characters;
    while !rest.is_empty() {
        if let (Some(Overlay::Picker), Some(picker)) = (model.overlay, &mut model.picker) {
            // A space may close the picker: what follows it is typed into the text.
            let end = rest.char_indices().skip(1).find(|(_, c)| *c == ' ').map_or(rest.len(), |(at, _)| at);
            picker.query.write(&rest[..end]);
            rest = &rest[end..];
            effects.extend(pick::retyped(model));
            continue;
        }
        if model.overlay.is_some() {
            break;
        }
        let opened = rest.chars().next().and_then(|first| opener(model, first));
        if let Some(opener) = opened {
            effects.extend(opener(model));
            rest = &rest[1..];
            continue;
        }
        let after_blank = |(at, c): (usize, char)| c == '@' && at > 0 && rest[..at].ends_with([' ', '\n', '(']);
        let end = rest.char_indices().find(|found| after_blank(*found)).map_or(rest.len(), |(at, _)| at);
        model.composer.write(&rest[..end]);
        rest = &rest[end..];
    }
    effects
}

type Opener = fn(&mut Model) -> Vec<Effect>;

/// What a character opens where it is typed.
fn opener(model: &Model, c: char) -> Option<Opener> {
    let first = model.composer.is_empty() && model.writes_message();
    let word = model.composer.before_caret().is_none_or(|before| before.is_whitespace() || before == '(');
    match c {
        '/' if first => Some(|model| pick::commands(model, Some('/'))),
        '!' if first => Some(|model| {
            model.composer.begin(Purpose::Shell, "");
            Vec::new()
        }),
        '@' if word => Some(|model| pick::files(model, Some('@'))),
        _ => None,
    }
}

pub(super) fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    if let (Some(Overlay::Picker), Some(picker)) = (model.overlay, &mut model.picker) {
        picker.query.write(text.lines().next().unwrap_or_default());
        return pick::retyped(model);
    }
    if model.overlay.is_none() {
        model.focus = Focus::Composer;
        match dropped(text) {
            Some(path) => model.composer.write(&format!("{} ", pick::mention(&path))),
            None => model.composer.paste(text),
        }
    }
    Vec::new()
}

/// The path of a picture that was dropped onto the terminal: it comes as a paste of its address or
/// of its path, quoted for a shell.
fn dropped(text: &str) -> Option<String> {
    const PICTURES: [&str; 7] = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "svg"];
    let text = text.trim();
    if text.contains('\n') {
        return None;
    }
    let path = match text.strip_prefix("file://") {
        Some(address) => unescaped(address, '%')?,
        None => match text.strip_prefix('\'').and_then(|inner| inner.strip_suffix('\'')) {
            Some(quoted) => quoted.to_owned(),
            None => unescaped(text, '\\')?,
        },
    };
    let ending = path.rsplit_once('.')?.1.to_ascii_lowercase();
    (path.starts_with('/') && PICTURES.contains(&ending.as_str())).then_some(path)
}

/// Takes the escapes of a shell (`\\`) or of an address (`%`) out of a path; a bare blank is none.
fn unescaped(text: &str, escape: char) -> Option<String> {
    let mut bytes = Vec::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '%' if escape == '%' => {
                let digits: String = characters.by_ref().take(2).collect();
                bytes.push(u8::from_str_radix(&digits, 16).ok()?);
            }
            '\\' if escape == '\\' => bytes.extend(characters.next()?.to_string().as_bytes()),
            c if c.is_whitespace() => return None,
            c => bytes.extend(c.to_string().as_bytes()),
        }
    }
    String::from_utf8(bytes).ok()
}

pub(super) fn expand(model: &mut Model) -> Vec<Effect> {
    if !model.composer.expand() {
        model.say("nothing long was pasted");
    }
    Vec::new()
}

pub(super) fn edit_outside(model: &mut Model) -> Vec<Effect> {
    vec![Effect::EditOutside(model.composer.text())]
}

/// Takes what the editor gave back; one that failed leaves the text as it was.
pub(super) fn edited_outside(model: &mut Model, result: Result<String, String>) -> Vec<Effect> {
    if model.editor.outside.is_some() {
        return super::editor::edited_outside(model, result);
    }
    match result {
        Ok(text) => model.composer.set(text.strip_suffix('\n').unwrap_or(&text)),
        Err(why) => model.warn(why),
    }
    Vec::new()
}

pub(super) fn clear(model: &mut Model) -> Vec<Effect> {
    model.composer.set("");
    Vec::new()
}

pub(super) fn older(model: &mut Model) -> Vec<Effect> {
    let history = model.history();
    model.composer.recall_older(&history);
    Vec::new()
}

pub(super) fn newer(model: &mut Model) -> Vec<Effect> {
    let history = model.history();
    model.composer.recall_newer(&history);
    Vec::new()
}

pub(super) fn leave(model: &mut Model) -> Vec<Effect> {
    model.composer.resume();
    Vec::new()
}

pub(super) fn keep_draft(model: &mut Model) -> Vec<Effect> {
    model.draft_due = None;
    vec![Effect::KeepDraft { pane: model.draft_pane(), text: unsent(model) }]
}

/// What is lost with this screen if nobody keeps it: messages for a Task that is not made yet are
/// still words of the draft.
pub(super) fn unsent(model: &Model) -> String {
    let waiting = model.for_new_task.iter().filter(|_| model.wanted.is_none());
    above(waiting.map(String::as_str), model.composer.draft())
}

/// Puts words above a draft, with a blank line between them.
pub(super) fn above<'a>(words: impl Iterator<Item = &'a str>, draft: String) -> String {
    let mut parts: Vec<&str> = words.collect();
    if !draft.is_empty() {
        parts.push(&draft);
    }
    parts.join("\n\n")
}

pub(super) fn send(model: &mut Model, delivery: Delivery) -> Vec<Effect> {
    let mut text = model.composer.text();
    if text.trim().is_empty() {
        let Some(example) = model.example() else { return Vec::new() };
        text = example.to_owned();
    }
    let purpose = model.composer.purpose.clone();
    match purpose {
        Purpose::Message => return send_message(model, text, delivery),
        Purpose::Shell => return shell::run(model, text),
        Purpose::Edit(_) | Purpose::Answer(_) | Purpose::Refuse(_) => {}
        Purpose::Guide(_) | Purpose::Decide(_) | Purpose::SendBack(_) => {
            model.composer.resume();
            return super::agents::send(model, &purpose, text);
        }
    }
    model.composer.resume();
    let Some(task) = model.wanted.clone() else { return Vec::new() };
    let words = text.clone();
    let wanted = match purpose {
        Purpose::Message | Purpose::Shell | Purpose::Guide(_) | Purpose::Decide(_) | Purpose::SendBack(_) => {
            return Vec::new();
        }
        Purpose::Edit(message) => UserCommand::EditMessage { task, message, text },
        Purpose::Answer(question) => UserCommand::AnswerQuestion { task, question, answer: text },
        Purpose::Refuse(approval) => {
            let Some(shown) = model.told.records.approvals.get(&approval).map(|asked| asked.action_hash.clone()) else {
                model.warn("that was answered already");
                return put_back(model, &words);
            };
            UserCommand::DecideApproval { task, approval, shown, answer: ApprovalAnswer::Deny, because: Some(text) }
        }
    };
    submit(model, wanted, Some(words))
}

/// Gives words back that could not be sent.
fn put_back(model: &mut Model, words: &str) -> Vec<Effect> {
    let text = above(std::iter::once(words), model.composer.draft());
    model.composer.set_draft(&text);
    model.draft_due = Some(model.now + DRAFT_AFTER);
    Vec::new()
}

fn send_message(model: &mut Model, text: String, delivery: Delivery) -> Vec<Effect> {
    let wanted = match model.wanted.clone() {
        Some(task) => UserCommand::SendMessage { task, text: text.clone(), refs: Vec::new(), delivery },
        None if is_creating(model) => {
            model.composer.take();
            remember(model, &text);
            model.for_new_task.push(text);
            return keep_draft(model);
        }
        None => UserCommand::CreateTask {
            title: String::new(),
            cwd: Some(model.facts.folder.path.clone()),
            // Always named, so that another client's default can't change it.
            model: Some(model.facts.model.clone()),
            policy: model.facts.policy,
            budget: Budget::default(),
            message: Some(text.clone()),
            checks: Vec::new(),
        },
    };
    model.composer.take();
    remember(model, &text);
    model.chat.follow();
    let mut effects = submit(model, wanted, Some(text));
    effects.extend(keep_draft(model));
    effects
}

/// Puts a text at the end of the history, where it stands once.
fn remember(model: &mut Model, text: &str) {
    model.is_first_start = false;
    model.sent.retain(|known| known != text);
    model.sent.push(text.to_owned());
}

/// The Task is made: what was written for it meanwhile goes there.
pub(super) fn send_to_new_task(model: &mut Model, task: &TaskId) -> Vec<Effect> {
    let mut effects = Vec::new();
    for text in std::mem::take(&mut model.for_new_task) {
        let (task, refs, words) = (task.clone(), Vec::new(), Some(text.clone()));
        let wanted = UserCommand::SendMessage { task, text, refs, delivery: Delivery::Boundary };
        effects.extend(submit(model, wanted, words));
    }
    effects
}

fn is_creating(model: &Model) -> bool {
    model.outbox.iter().any(|out| matches!(out.wanted, UserCommand::CreateTask { .. }))
}

pub(super) fn choose_queued(model: &mut Model, step: Step) -> Vec<Effect> {
    model.queue = step.apply(model.queue, model.told.queued().len(), 1);
    Vec::new()
}

fn chosen_queued(model: &Model) -> Option<(MessageId, String)> {
    model.told.queued().get(model.queue).map(|message| (message.id.clone(), message.text.clone()))
}

pub(super) fn edit_queued(model: &mut Model) -> Vec<Effect> {
    if let Some((id, text)) = chosen_queued(model) {
        model.composer.begin(Purpose::Edit(id), &text);
        model.focus = Focus::Composer;
    }
    Vec::new()
}

pub(super) fn move_queued(model: &mut Model, to: Move) -> Vec<Effect> {
    let Some((message, _)) = chosen_queued(model) else { return Vec::new() };
    let Some(task) = model.wanted.clone() else { return Vec::new() };
    let step = match to {
        Move::Earlier => Step::Up,
        Move::Later => Step::Down,
    };
    model.queue = step.apply(model.queue, model.told.queued().len(), 1);
    submit(model, UserCommand::MoveMessage { task, message, to }, None)
}

pub(super) fn toggle_delivery(model: &mut Model) -> Vec<Effect> {
    let queued = model.told.queued();
    let Some(message) = queued.get(model.queue) else { return Vec::new() };
    let delivery = match message.delivery {
        Delivery::Boundary => Delivery::TurnEnd,
        Delivery::TurnEnd => Delivery::Boundary,
    };
    let id = message.id.clone();
    match model.wanted.clone() {
        Some(task) => submit(model, UserCommand::SetDelivery { task, message: id, delivery }, None),
        None => Vec::new(),
    }
}

pub(super) fn withdraw(model: &mut Model) -> Vec<Effect> {
    match (model.wanted.clone(), chosen_queued(model)) {
        (Some(task), Some((message, _))) => submit(model, UserCommand::WithdrawMessage { task, message }, None),
        _ => Vec::new(),
    }
}
