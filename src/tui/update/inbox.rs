//! The Inbox, and what is shown whole: chosen, filtered, opened, answered, followed to its place in the chat.

use super::super::action::{Effect, Pane, Step};
use super::super::inbox::{Filter, InboxAct};
use super::super::model::{Focus, Model, Overlay};
use super::super::paper::{Paper, PaperAct, Subject};
use super::super::picker::Preview;
use super::agents;
use crate::domain::{DecisionState, Message, MessageId};

pub(super) fn act(model: &mut Model, act: InboxAct) -> Vec<Effect> {
    if let InboxAct::Choose(step) = act {
        return choose(model, step);
    }
    let Some(message) = model.inbox.chosen(&model.told).cloned() else {
        model.say("no message is chosen");
        return Vec::new();
    };
    match act {
        InboxAct::Choose(_) => Vec::new(),
        InboxAct::Open => {
            // A Contribution is shown with its evidence, as everywhere.
            let subject = match model.told.told_contribution(&message) {
                Some(brought) => Subject::Contribution(brought.id.clone()),
                None => Subject::Message(message.id),
            };
            model.paper = Some(Paper::new(subject));
            model.overlay = Some(Overlay::Paper);
            Vec::new()
        }
        InboxAct::Answer => answer(model, &message),
        InboxAct::GoTo => go_to(model, &message),
    }
}

fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = model.layout.pane(Pane::Inbox).map_or(1, |area| usize::from(area.height));
    let list = model.inbox.list(&model.told);
    let at = step.apply(model.inbox.at(&model.told), list.len(), page);
    model.inbox.chosen = list.get(at).map(|message| message.id.clone());
    Vec::new()
}

/// Shows only what a word asks for.
pub(super) fn filter(model: &mut Model, word: &str) -> Vec<Effect> {
    model.inbox.filter = Filter::named(word);
    model.inbox.chosen = None;
    Vec::new()
}

/// Answers what a message asks, where it asks something.
fn answer(model: &mut Model, message: &Message) -> Vec<Effect> {
    match model.told.told_decision(message).map(|asked| (asked.id.clone(), asked.state)) {
        Some((decision, DecisionState::Open)) => agents::decide(model, decision),
        Some(_) => {
            model.say("that is decided already");
            Vec::new()
        }
        None => {
            model.say("it asks nothing");
            Vec::new()
        }
    }
}

/// Goes to where a message was answered in the chat, or else to where it stands there.
fn go_to(model: &mut Model, message: &Message) -> Vec<Effect> {
    let to_main = model.told.main().is_some_and(|main| main.0 == message.to.id);
    let Some(row) = message.consumed_seq.or(message.context_seq) else {
        model.say("it is in no conversation yet");
        return Vec::new();
    };
    model.overlay = None;
    let mut effects = Vec::new();
    if to_main {
        if model.told.read_subagent().is_some() {
            effects.extend(agents::leave(model));
        }
    } else {
        effects.extend(agents::read(model, crate::domain::AgentId::from(message.to.id.as_str())));
    }
    model.focus = Focus::Transcript;
    if !model.chat.go_to(&model.told, row) {
        model.say("that is further back than what is loaded; older rows are being asked for");
        model.chat.scroll(Step::Start);
        effects.extend(super::chat::ask_older(model));
    }
    effects
}

/// Does something with what is shown whole.
pub(super) fn read(model: &mut Model, act: PaperAct) -> Vec<Effect> {
    let Some(paper) = model.paper.clone() else { return Vec::new() };
    match act {
        PaperAct::Scroll(step) => {
            let page = usize::from(model.size.1).saturating_sub(8);
            let rows = super::super::view::paper::rows(model, &paper).len();
            if let Some(paper) = &mut model.paper {
                paper.scroll = step.apply(paper.scroll, rows.saturating_sub(page) + 1, page);
            }
            Vec::new()
        }
        PaperAct::Choose(step) => {
            let all = references(model, &paper.subject).len();
            if let Some(paper) = &mut model.paper {
                paper.reference = step.apply(paper.reference, all, 1);
            }
            Vec::new()
        }
        PaperAct::Look => look(model, &paper),
        PaperAct::Leave => {
            match &mut model.paper {
                Some(paper) if paper.looked_at.is_some() => (paper.looked_at, paper.scroll) = (None, 0),
                Some(_) | None => {
                    model.paper = None;
                    model.overlay = None;
                }
            }
            Vec::new()
        }
        PaperAct::Answer => match message(model, &paper.subject) {
            Some(message) => answer(model, &message),
            None => Vec::new(),
        },
        PaperAct::GoTo => match message(model, &paper.subject) {
            Some(message) => go_to(model, &message),
            None => {
                model.say("no message tells of it");
                Vec::new()
            }
        },
        PaperAct::Accept => match paper.subject {
            Subject::Contribution(id) => agents::accept(model, &id),
            Subject::Message(_) => Vec::new(),
        },
        PaperAct::SendBack => match paper.subject {
            Subject::Contribution(id) => agents::send_back(model, id),
            Subject::Message(_) => Vec::new(),
        },
    }
}

/// The message that is shown, or that tells of what is shown.
fn message(model: &Model, subject: &Subject) -> Option<Message> {
    let messages = &model.told.records.messages;
    match subject {
        Subject::Message(id) => messages.get(id).cloned(),
        Subject::Contribution(id) => {
            let tells = |message: &&Message| model.told.told_contribution(message).is_some_and(|told| told.id == *id);
            messages.values().find(tells).cloned()
        }
    }
}

/// What a Contribution or a message refers to.
pub(in crate::tui) fn references(model: &Model, subject: &Subject) -> Vec<String> {
    let records = &model.told.records;
    let refs = match subject {
        Subject::Contribution(id) => records.contributions.get(id).map(|brought| &brought.report.refs),
        Subject::Message(id) => records.messages.get(id).map(|message: &Message| &message.refs),
    };
    refs.cloned().unwrap_or_default()
}

/// Shows the file that is chosen.
fn look(model: &mut Model, paper: &Paper) -> Vec<Effect> {
    let Some(reference) = references(model, &paper.subject).get(paper.reference).cloned() else {
        model.say("it refers to nothing");
        return Vec::new();
    };
    let path = super::super::view::paper::path_of(&reference).to_owned();
    if let Some(paper) = &mut model.paper {
        (paper.looked_at, paper.scroll) = (Some((path.clone(), None)), 0);
    }
    vec![Effect::Preview { folder: model.folder().to_owned(), path }]
}

/// The first lines of a file are here; says whether somebody looks at it.
pub(super) fn looked(model: &mut Model, preview: &Preview) -> bool {
    let looked_at = model.paper.as_mut().and_then(|paper| paper.looked_at.as_mut());
    match looked_at.filter(|(path, _)| *path == preview.path) {
        Some((_, lines)) => {
            *lines = Some(preview.clone());
            true
        }
        None => false,
    }
}

/// The chosen message goes with the Task.
pub(super) fn forget(model: &mut Model) {
    model.inbox.chosen = None::<MessageId>;
}
