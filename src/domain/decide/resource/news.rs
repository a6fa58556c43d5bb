//! What an agent knows of a Resource, and what it is told of others' changes (Eq. 8): one message for
//! each Resource, bounded, never its own edits.

use super::super::*;
use super::agent;
use crate::domain::changes::{Change as Told, others, summarise};

/// The most that is told of others' changes at once, in bytes.
const NEWS: usize = 1500;

/// Whoever acts knows this revision now. Where that is the newest, a message that would tell an agent of
/// it is void; who looked at an older one is still to be told.
pub(super) fn see(d: &mut Decision, resource: &Resource, revision: u64) {
    let Some(agent) = agent(d).cloned() else { return };
    seen(d, &agent, &resource.id, revision);
    if d.snap.resources.get(&resource.id).is_some_and(|now| revision < now.revision) {
        return;
    }
    let told: Vec<MessageId> = waiting(d, &agent.id, &resource.id).into_iter().map(|message| message.id).collect();
    for message in told {
        let reason = "it has read that revision by itself".to_owned();
        d.emit(Some(&agent.task), Event::MessageUndelivered { message, reason });
    }
}

pub(super) fn seen(d: &mut Decision, agent: &Agent, resource: &ResourceId, revision: u64) {
    let actor = Actor::agent(&agent.id);
    let known = d.snap.resource_views.get(&(actor.clone(), resource.clone()));
    if known.is_none_or(|view| view.seen < revision) {
        let event = Event::ResourceSeen { by: actor, resource: resource.clone(), revision };
        d.emit(Some(&agent.task), event);
    }
}

fn waiting(d: &Decision, agent: &AgentId, resource: &ResourceId) -> Vec<Message> {
    let key = key(resource);
    let queued = d.snap.inbox(agent, MessageState::Queued);
    queued.into_iter().filter(|message| message.key.starts_with(&key)).cloned().collect()
}

/// Names what is told of changes of a Resource; the revision from which on follows.
fn key(resource: &ResourceId) -> String {
    format!("rev:{resource}:")
}

/// What an agent has not been told of a Resource, and who wrote the last of it.
fn news(d: &Decision, view: &ResourceView) -> Option<(String, Actor)> {
    let resource = d.snap.resources.get(&view.resource)?;
    let from = (view.resource.clone(), view.seen + 1);
    let until = (view.resource.clone(), u64::MAX);
    let changes: Vec<Told> = d
        .snap
        .revisions
        .range(from..=until)
        .map(|(_, revision)| Told {
            revision: revision.number,
            actor: revision.actor.clone(),
            summary: revision.made.summary.clone(),
            digest: revision.made.digest.clone(),
        })
        .collect();
    let changes = others(&changes, view.seen, &view.actor);
    let last = changes.last()?.actor.clone();
    let text = format!(
        "{} ({}) is now at revision {}. What others changed:\n{}",
        resource.name,
        resource.id,
        resource.revision,
        summarise(&changes, NEWS)
    );
    Some((text.trim_end().to_owned(), last))
}

/// Puts what others changed into an agent's Inbox: one message for each Resource, however often it changes.
fn tell(d: &mut Decision, agent: &Agent, view: &ResourceView) {
    let Some((text, from)) = news(d, view) else { return };
    if let Some(message) = waiting(d, &agent.id, &view.resource).pop() {
        if message.text != text {
            d.emit(Some(&agent.task), Event::MessageEdited { message: message.id, text });
        }
        return;
    }
    let order = d.snap.messages.values().map(|message| message.order).max().unwrap_or(0) + 1;
    let id = MessageId::new(&mut d.ids);
    let message = Message {
        // One waits at a time, which was looked at above; one that was never taken in is told anew.
        key: format!("{}{}:{id}", key(&view.resource), view.seen + 1),
        id,
        task: Some(agent.task.clone()),
        to: Actor::agent(&agent.id),
        from,
        kind: MessageKind::Resource,
        delivery: Delivery::Boundary,
        order,
        text,
        refs: Vec::new(),
        state: MessageState::Queued,
        reason: None,
        context_seq: None,
        consumed_seq: None,
        fence: None,
        created_at: d.at,
        delivered_at: None,
        consumed_at: None,
    };
    d.emit(Some(&agent.task), Event::MessageQueued { message });
}

/// A person's edit is guidance: agents at work on the Resource are told at their next boundary, and
/// one that stands still goes on. A Task that has ended is not begun again by it: it is told when it is.
pub(super) fn tell_of(d: &mut Decision, resource: &ResourceId) {
    let views: Vec<ResourceView> =
        d.snap.resource_views.values().filter(|view| view.resource == *resource).cloned().collect();
    for view in views {
        let Some(agent) = d.snap.agents.get(&AgentId(view.actor.id.clone())).cloned() else { continue };
        let is_open = d.snap.tasks.get(&agent.task).is_some_and(|task| !task.status.is_ended());
        if view.actor == d.actor || agent.retired_at.is_some() || !is_open {
            continue;
        }
        tell(d, &agent, &view);
        d.settle_status(&agent.task);
    }
}

fn views_of(d: &Decision, agent: &AgentId) -> Vec<ResourceView> {
    let actor = Actor::agent(agent);
    d.snap.resource_views.values().filter(|view| view.actor == actor).cloned().collect()
}

/// Before a request: what others changed since the agent looked last waits in its Inbox.
pub(in crate::domain::decide) fn before_turn(d: &mut Decision, agent: &Agent) {
    for view in views_of(d, &agent.id) {
        tell(d, agent, &view);
    }
}

/// What was told has entered the context: the agent knows it.
pub(in crate::domain::decide) fn told(d: &mut Decision, agent: &Agent) {
    for view in views_of(d, &agent.id) {
        let revision = d.snap.resources.get(&view.resource).map_or(view.seen, |resource| resource.revision);
        if waiting(d, &agent.id, &view.resource).is_empty() {
            seen(d, agent, &view.resource, revision);
        }
    }
}

/// What the person has selected in what the agent may know, for the end of the person's words.
pub(in crate::domain::decide) fn selected(d: &Decision, task: &TaskId) -> String {
    let mut out = String::new();
    for view in d.snap.resource_views.values().filter(|view| view.actor.kind == ActorKind::Person) {
        let Some(selection) = view.selection.as_ref().filter(|selection| !selection.told.is_empty()) else { continue };
        let Some(resource) = d.snap.resources.get(&view.resource) else { continue };
        if resource.task.as_ref().is_none_or(|of| of == task) {
            let (name, id, revision) = (&resource.name, &resource.id, selection.revision);
            out.push_str(&format!("\n\n[selected in {name} ({id}, revision {revision}): {}]", selection.told));
        }
    }
    out
}
