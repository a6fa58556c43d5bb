//! What the host says: answers, events, refusals, and the way to it being lost and found.

use super::super::action::{Effect, News};
use super::super::model::{Model, Outgoing, Overlay, Refresh};
use super::super::projection::{Host, Opening, Trusted};
use super::super::sizes::{KEPT_AS, Sizes};
use super::super::text;
use super::{chat, write};
use crate::domain::{CommandId, Event, Fence, JobDeed, Receipt, Recorded, Rejection, Seq, TaskStatus, UserCommand};

pub(super) fn news(model: &mut Model, news: News) -> Vec<Effect> {
    // What happens elsewhere is no reason to draw.
    let revision = model.told.revision;
    let may_be_elsewhere = matches!(news, News::Recorded(_) | News::Transient(_));
    let effects = take(model, news);
    model.dirty |= !may_be_elsewhere || model.told.revision != revision || !effects.is_empty();
    effects
}

fn take(model: &mut Model, news: News) -> Vec<Effect> {
    match news {
        News::Connected { seq, fence } => connected(model, seq, fence),
        News::Lost(reason) => {
            model.told.host = Host::Lost(reason);
            Vec::new()
        }
        News::Refused(reason) => {
            model.told.host = Host::Refused(reason);
            Vec::new()
        }
        News::Accepted(id, receipt) => accepted(model, &id, receipt),
        News::Rejected(id, rejection) => rejected(model, &id, &rejection),
        News::Unanswered(why) => {
            model.chat.asked_older = false;
            model.tasks.asked = false;
            model.waiting = Refresh::default();
            super::editor::unanswered(model);
            model.jobs.refresh = Refresh::default();
            model.jobs.log.iter_mut().for_each(|log| log.asked = false);
            model.warn(why);
            Vec::new()
        }
        News::Opened(opening) => opened(model, *opening),
        News::Older(agent, page) => {
            model.chat.asked_older = false;
            model.told.prepend(&agent, page);
            Vec::new()
        }
        News::Trajectory(agent, page) => super::agents::arrived(model, &agent, page),
        News::Tasks(mut tasks) => {
            // What waits for a person comes first; the rest stays by its last change.
            tasks.sort_by_key(|task| task.status != TaskStatus::AwaitingHuman);
            let listed = model.listed_tasks();
            let chosen = listed.get(model.tasks.chosen).map(|task| task.id.clone()).or(model.wanted.clone());
            model.told.tasks = tasks;
            if let Some(at) = model.listed_tasks().iter().position(|task| Some(&task.id) == chosen.as_ref()) {
                model.tasks.chosen = at;
            }
            model.tasks.asked = std::mem::take(&mut model.tasks.stale);
            let again = model.tasks.asked && model.overlay == Some(Overlay::Tasks);
            if again { vec![Effect::ListTasks { archived: model.tasks.archived }] } else { Vec::new() }
        }
        News::Sent(texts) => {
            model.is_first_start = texts.is_empty() && model.sent.is_empty();
            model.sent = texts;
            super::pick::history_came(model);
            Vec::new()
        }
        News::Files { search, paths, last } => super::pick::found(model, search, paths, last),
        News::Preview(preview) => {
            if !super::inbox::looked(model, &preview)
                && let Some(picker) = &mut model.picker
            {
                picker.preview = Some(preview);
            }
            Vec::new()
        }
        News::Jobs(views) => super::jobs::listed(model, views),
        News::JobLog(job, page) => super::jobs::read(model, &job, page),
        News::JobFound(job, pattern, page) => super::jobs::found(model, &job, &pattern, page),
        News::Shell(view, page) => super::shell::seen(model, &view.job.id, &view, &page),
        News::ModelKept(Ok(place)) => {
            model.say(format!("kept in {}", text::line(&place)));
            Vec::new()
        }
        News::ModelKept(Err(why)) => {
            model.warn(why);
            Vec::new()
        }
        News::Editor(news) => super::editor::news(model, news),
        News::Waiting(tasks) => {
            model.told.waiting = tasks;
            if model.waiting.answered() { vec![Effect::AskWaiting] } else { Vec::new() }
        }
        News::Trust(trusted) => {
            model.told.trusted = match trusted {
                None => Trusted::Unknown,
                Some(true) => Trusted::Yes,
                Some(false) => Trusted::No,
            };
            Vec::new()
        }
        News::Draft { pane, text } if pane == KEPT_AS => {
            // Whoever moved a border before this came has the last word.
            if model.sizes == Sizes::default() {
                model.sizes = Sizes::of_text(&text);
            }
            Vec::new()
        }
        News::Draft { pane, text } => {
            if pane == model.draft_pane() && model.composer.is_empty() && model.writes_message() {
                model.composer.set(&text);
            }
            Vec::new()
        }
        News::Recorded(recorded) => heard(model, &recorded),
        News::Transient(transient) => {
            model.told.take(&transient);
            Vec::new()
        }
        News::Lagged(seq) => {
            let mut effects = vec![Effect::Subscribe { after: seq }];
            effects.extend(ask_waiting(model));
            effects
        }
    }
}

fn connected(model: &mut Model, seq: Seq, fence: Fence) -> Vec<Effect> {
    let first = model.told.host == Host::Connecting;
    model.told.host = Host::Connected;
    model.told.records.fence = fence;
    // What was on its way when the connection went is sent again; the ids see to it that it is
    // carried out once.
    let mut effects: Vec<_> =
        model.outbox.iter().map(|out| Effect::Submit { id: out.id.clone(), wanted: out.wanted.clone() }).collect();
    effects.push(Effect::AskTrust(model.facts.folder.clone()));
    effects.push(Effect::ListSent);
    // What was asked of an earlier connection is not answered any more.
    model.waiting = Refresh::default();
    effects.extend(ask_waiting(model));
    model.jobs.refresh = Refresh::default();
    model.jobs.log.iter_mut().for_each(|log| log.asked = false);
    effects.extend(super::jobs::ask(model));
    effects.extend(super::editor::connected(model));
    match &model.wanted {
        Some(task) => effects.push(Effect::Open(task.clone())),
        None => {
            model.told.seq = seq;
            effects.push(Effect::Subscribe { after: seq });
        }
    }
    if first {
        effects.push(Effect::LoadDraft { client: model.facts.client.clone(), pane: KEPT_AS.to_owned() });
        effects.push(Effect::LoadDraft { client: model.facts.client.clone(), pane: model.draft_pane() });
    } else {
        // The new host keeps drafts on its own disk, but the newest keys may not have got there.
        effects.push(Effect::KeepDraft { pane: model.draft_pane(), text: write::unsent(model) });
    }
    if model.overlay == Some(Overlay::Tasks) {
        model.tasks.asked = true;
        effects.push(Effect::ListTasks { archived: model.tasks.archived });
    }
    effects
}

/// Whether an event changes what waits for a person, in whatever Task.
fn asks_a_person(event: &Event) -> bool {
    matches!(
        event,
        Event::ApprovalRequested { .. }
            | Event::ApprovalDecided { .. }
            | Event::QuestionAsked { .. }
            | Event::QuestionResolved { .. }
            | Event::TaskRemoved { .. }
    )
}

fn ask_waiting(model: &mut Model) -> Option<Effect> {
    model.waiting.ask().then_some(Effect::AskWaiting)
}

fn take_out(model: &mut Model, id: &CommandId) -> Option<Outgoing> {
    let at = model.outbox.iter().position(|out| out.id == *id)?;
    Some(model.outbox.remove(at))
}

fn accepted(model: &mut Model, id: &CommandId, receipt: Receipt) -> Vec<Effect> {
    let Some(out) = take_out(model, id) else { return Vec::new() };
    let kept = receipt.clone();
    match (out.wanted, receipt.task) {
        (UserCommand::CreateTask { .. }, Some(task)) => {
            let mut effects = write::send_to_new_task(model, &task);
            if model.wanted.is_none() {
                // What stands in the composer is a draft of the new Task from here on.
                effects.push(Effect::KeepDraft { pane: model.draft_pane(), text: String::new() });
                model.wanted = Some(task.clone());
                effects.push(Effect::Open(task));
                if !model.composer.draft().is_empty() {
                    effects.extend(write::keep_draft(model));
                }
            }
            effects
        }
        (UserCommand::TrustFolder { trusted, .. }, _) => {
            model.told.trusted = if trusted { Trusted::Yes } else { Trusted::No };
            model.say(if trusted { "this folder is trusted" } else { "this folder is not trusted" });
            Vec::new()
        }
        (UserCommand::Job { deed: JobDeed::Start { .. } }, _) => super::shell::accepted(model, id, &kept),
        (UserCommand::Resource { deed }, _) => super::editor::accepted(model, id, &deed, kept),
        _ => Vec::new(),
    }
}

/// Nothing was changed: says why, and gives the words back that a person typed for it.
fn rejected(model: &mut Model, id: &CommandId, rejection: &Rejection) -> Vec<Effect> {
    let out = take_out(model, id);
    model.warn(rejection.to_string());
    super::shell::refused(model, id);
    let effects = match &out {
        Some(Outgoing { wanted: UserCommand::Resource { deed }, .. }) => super::editor::refused(model, id, deed),
        Some(_) | None => Vec::new(),
    };
    let Some(Outgoing { wanted, words: Some(words), .. }) = out else { return effects };
    let mut back = vec![words];
    if matches!(wanted, UserCommand::CreateTask { .. }) {
        back.append(&mut model.for_new_task);
    }
    let text = write::above(back.iter().map(String::as_str), model.composer.draft());
    model.composer.set_draft(&text);
    model.draft_due = Some(model.now + write::DRAFT_AFTER);
    effects
}

fn opened(model: &mut Model, opening: Opening) -> Vec<Effect> {
    if model.wanted.as_ref() != Some(&opening.detail.task.id) {
        return Vec::new();
    }
    model.told.open(opening);
    model.chat.asked_older = false;
    let mut effects = vec![Effect::Subscribe { after: model.told.seq }];
    // What is read meanwhile is asked for again; what was told of it before may have gaps.
    effects.extend(model.told.read_subagent().map(|agent| Effect::Trajectory { agent: agent.clone() }));
    effects
}

fn heard(model: &mut Model, recorded: &Recorded) -> Vec<Effect> {
    if let Event::FolderTrustSet { trust } = &recorded.event
        && trust.folder == model.facts.folder
    {
        model.told.trusted = if trust.trusted { Trusted::Yes } else { Trusted::No };
    }
    let removed =
        matches!(&recorded.event, Event::TaskRemoved { removed, .. } if Some(removed) == model.wanted.as_ref());
    if model.wanted.is_some() && recorded.task == model.wanted && model.told.open != model.wanted {
        model.told.hear_ahead(recorded);
    }
    model.told.record(recorded);
    chat::forget_old(model);
    let mut effects = super::tasks::heard(model, &recorded.event);
    effects.extend(super::jobs::heard(model, &recorded.event));
    effects.extend(super::editor::heard(model, &recorded.event));
    effects.extend(super::shell::heard(model, &recorded.event));
    if asks_a_person(&recorded.event) {
        effects.extend(ask_waiting(model));
    }
    if removed {
        model.wanted = None;
        super::agents::leave(model);
        super::inbox::forget(model);
        model.told.close();
        model.warn("this Task was removed");
    }
    effects
}
