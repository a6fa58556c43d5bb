//! Resources (Eq. 7): one check for everybody, no gap in the revisions, no proposal lost; and what
//! others are told of a change (Eq. 8).
//!
//! | base and the revision that stands | who | what comes of an edit |
//! |---|---|---|
//! | equal | a person, Main, a file, a Job | the next revision |
//! | equal | a Subagent | a Candidate, submitted |
//! | different | anybody | a Candidate in conflict |

use super::*;
use crate::domain::changes::{Change as Told, others, summarise};
use crate::domain::command::resource::{ResourceCommand, ResourceDeed};
use serde_json::Value;

/// The most that is told of others' changes at once, in bytes.
const NEWS: usize = 1500;

/// The longest name, in bytes.
const NAME: usize = 200;

pub(super) fn act(d: &mut Decision, command: &ResourceCommand) -> Result<(), Rejection> {
    if let Some(run) = &command.run {
        d.running(run)?;
    }
    match &command.deed {
        ResourceDeed::Create { kind, name, task, mirror, change } => create(d, kind, name, task, mirror, change),
        ResourceDeed::Commit { resource, base, by, change } => {
            let resource = known(d, resource)?;
            let author = author(d, by.as_ref())?;
            edit(d, &resource, *base, author, change)
        }
        ResourceDeed::Propose { resource, base, change } => {
            let resource = known(d, resource)?;
            exists(&resource, *base)?;
            let state = if *base == resource.revision { CandidateState::Submitted } else { CandidateState::Conflict };
            keep(d, &resource, *base, d.actor.clone(), change, state);
            Ok(())
        }
        ResourceDeed::Revise { candidate, change } => {
            let (candidate, resource) = open(d, candidate)?;
            if candidate.actor != d.actor {
                return Err(forbidden("only its author works on a Candidate", "propose another one"));
            }
            let event = Event::CandidateRevised { candidate: candidate.id, made: change.clone() };
            d.emit(resource.task.as_ref(), event);
            Ok(())
        }
        ResourceDeed::Accept { candidate } => accept(d, candidate),
        ResourceDeed::Reject { candidate, because } => {
            let (candidate, resource) = open(d, candidate)?;
            let own = candidate.actor == d.actor;
            if !own {
                not_a_subagent(d, "reject a Candidate of somebody else")?;
            }
            let state = if own { CandidateState::Withdrawn } else { CandidateState::Rejected };
            settle(d, &resource, &candidate, Settled { because: because.clone(), ..Settled::as_(state) });
            Ok(())
        }
        ResourceDeed::Rebase { candidate, onto, change } => {
            let (candidate, resource) = open(d, candidate)?;
            if *onto != resource.revision {
                let hint = "look at the newest revision, then merge again";
                return Err(Rejection::wrong_state(moved_on(&resource, *onto), hint));
            }
            let author = candidate.actor.clone();
            let new = keep(d, &resource, *onto, author, change, CandidateState::Submitted);
            settle(
                d,
                &resource,
                &candidate,
                Settled { rebased_to: Some(new), ..Settled::as_(CandidateState::Rebased) },
            );
            Ok(())
        }
        ResourceDeed::Rename { resource, name } => {
            let resource = known(d, resource)?;
            not_a_subagent(d, "rename a Resource")?;
            let name = free_name(d, name, &resource.task)?;
            let event = Event::ResourceRenamed { resource: resource.id, name };
            d.emit(resource.task.as_ref(), event);
            Ok(())
        }
        ResourceDeed::Mirror { resource, mirror } => {
            let resource = known(d, resource)?;
            not_a_subagent(d, "tie a Resource to a file")?;
            let mirror = free_mirror(d, mirror)?;
            d.emit(resource.task.as_ref(), Event::ResourceMirrored { resource: resource.id, mirror });
            Ok(())
        }
        ResourceDeed::Take { resource, base, by, change } => {
            runtime_alone(d)?;
            let resource = known(d, resource)?;
            take(d, &resource, *base, by, change)
        }
        ResourceDeed::Mirrored { resource, revision, trouble } => {
            runtime_alone(d)?;
            let resource = known(d, resource)?;
            looked(d, &resource, *revision, trouble.clone());
            Ok(())
        }
        ResourceDeed::Remove { resource } => {
            let resource = known(d, resource)?;
            if d.actor.kind == ActorKind::Agent {
                return Err(forbidden("only a person removes a Resource", "ask the person"));
            }
            d.emit(None, Event::ResourceRemoved { resource: resource.id, name: resource.name });
            Ok(())
        }
        ResourceDeed::See { resource, revision } => {
            let resource = known(d, resource)?;
            exists(&resource, *revision)?;
            see(d, &resource, *revision);
            Ok(())
        }
        ResourceDeed::Select { resource, selection } => {
            let resource = known(d, resource)?;
            let view = d.snap.resource_views.get(&(d.actor.clone(), resource.id.clone()));
            if view.and_then(|view| view.selection.as_ref()) != selection.as_ref() {
                let event = Event::ResourceSelected { resource: resource.id, selection: selection.clone() };
                d.emit(resource.task.as_ref(), event);
            }
            Ok(())
        }
        ResourceDeed::Intend { resource, base, operation, request } => {
            let resource = known(d, resource)?;
            exists(&resource, *base)?;
            let intent = EngineIntent {
                id: EngineIntentId::new(&mut d.ids),
                resource: resource.id,
                base: *base,
                actor: d.actor.clone(),
                operation: operation.clone(),
                request: request.clone(),
                state: EngineState::Intent,
                outcome: None,
                at: d.at,
            };
            d.emit(resource.task.as_ref(), Event::EngineAsked { intent });
            Ok(())
        }
        ResourceDeed::Conclude { intent, outcome, change } => conclude(d, intent, outcome, change.as_ref()),
    }
}

fn forbidden(message: impl Into<String>, hint: &str) -> Rejection {
    Rejection::new(crate::domain::rejection::RejectionKind::Forbidden, message, hint)
}

fn no_such(id: &ResourceId) -> Rejection {
    Rejection::not_found(format!("Resource {id}"), "`cowork resources ls` lists them")
}

fn moved_on(resource: &Resource, base: u64) -> String {
    format!("{} is at revision {}, not at {base}", resource.name, resource.revision)
}

/// The agent that acts, where one does.
fn agent(d: &Decision) -> Option<&Agent> {
    match d.actor.kind {
        ActorKind::Agent => d.snap.agents.get(&AgentId(d.actor.id.clone())),
        ActorKind::Person | ActorKind::Job | ActorKind::Source | ActorKind::File | ActorKind::System => None,
    }
}

/// A Resource that whoever acts may know: an agent those of its Task and those of nobody.
fn known(d: &Decision, id: &ResourceId) -> Result<Resource, Rejection> {
    let resource = d.snap.resources.get(id).ok_or_else(|| no_such(id))?;
    if d.actor.kind == ActorKind::Agent {
        let of = agent(d).map(|agent| &agent.task);
        if resource.task.is_some() && resource.task.as_ref() != of {
            return Err(no_such(id));
        }
    }
    Ok(resource.clone())
}

fn open(d: &Decision, id: &CandidateId) -> Result<(Candidate, Resource), Rejection> {
    let hint = "`cowork resources candidates` lists them";
    let candidate =
        d.snap.candidates.get(id).cloned().ok_or_else(|| Rejection::not_found(format!("Candidate {id}"), hint))?;
    let resource = known(d, &candidate.resource)?;
    if !candidate.state.is_open() {
        return Err(Rejection::wrong_state(format!("Candidate {id} is {}", candidate.state), hint));
    }
    Ok((candidate, resource))
}

fn exists(resource: &Resource, revision: u64) -> Result<(), Rejection> {
    if revision > resource.revision {
        let what = format!("revision {revision} of {} does not exist yet", resource.name);
        return Err(Rejection::invalid(what, format!("the newest is {}", resource.revision)));
    }
    Ok(())
}

fn not_a_subagent(d: &Decision, what: &str) -> Result<(), Rejection> {
    match agent(d).map(|agent| agent.role) {
        Some(AgentRole::Subagent) => Err(forbidden(format!("a Subagent can't {what}"), "propose it to Main")),
        Some(AgentRole::Main) | None => Ok(()),
    }
}

/// Who wrote an edit. A person's program may say so for a file, a Job or another person, never for an agent.
fn author(d: &Decision, by: Option<&Actor>) -> Result<Actor, Rejection> {
    match by {
        None => Ok(d.actor.clone()),
        Some(by) if *by == d.actor => Ok(by.clone()),
        Some(by) if d.actor.kind == ActorKind::Agent || by.kind == ActorKind::Agent => {
            // The runtime knows which agent wrote a mirrored file; nobody else speaks for one.
            match d.actor.kind {
                ActorKind::System => Ok(by.clone()),
                ActorKind::Person | ActorKind::Agent | ActorKind::Job | ActorKind::Source | ActorKind::File => {
                    Err(forbidden("nobody edits in the name of an agent, nor an agent in another's", ""))
                }
            }
        }
        Some(by) => Ok(by.clone()),
    }
}

fn free_name(d: &Decision, name: &str, task: &Option<TaskId>) -> Result<String, Rejection> {
    let name = name.trim();
    if name.is_empty() || name.len() > NAME || name.chars().any(char::is_control) {
        let hint = format!("a name has 1 to {NAME} bytes and no control characters");
        return Err(Rejection::invalid(format!("`{}` is no name", name.escape_debug()), hint));
    }
    if d.snap.resources.values().any(|other| other.name == name && other.task == *task) {
        return Err(Rejection::wrong_state(format!("there is a Resource {name} already"), "give it another name"));
    }
    Ok(name.to_owned())
}

fn free_mirror(d: &Decision, mirror: &Option<String>) -> Result<Option<String>, Rejection> {
    let Some(path) = mirror else { return Ok(None) };
    if !path.starts_with('/') {
        return Err(Rejection::invalid(format!("`{path}` is no whole path"), "give the file's whole path"));
    }
    if let Some(other) = d.snap.resources.values().find(|other| other.mirror.as_ref() == Some(path)) {
        let hint = format!("edit that one: {}", other.id);
        return Err(Rejection::wrong_state(format!("{path} is tied to {} already", other.name), hint));
    }
    Ok(Some(path.clone()))
}

fn create(
    d: &mut Decision,
    kind: &str,
    name: &str,
    task: &Option<TaskId>,
    mirror: &Option<String>,
    made: &Made,
) -> Result<(), Rejection> {
    not_a_subagent(d, "make a Resource")?;
    if let Some(task) = task {
        d.task(task)?;
    }
    let name = free_name(d, name, task)?;
    let mirror = free_mirror(d, mirror)?;
    let resource = Resource {
        id: ResourceId::new(&mut d.ids),
        kind: kind.to_owned(),
        name,
        task: task.clone(),
        mirror,
        revision: 0,
        created_at: d.at,
        updated_at: d.at,
        updated_by: d.actor.clone(),
        in_file: None,
        trouble: None,
    };
    let first = Revision {
        resource: resource.id.clone(),
        number: 0,
        base: None,
        actor: d.actor.clone(),
        accepted_by: None,
        candidate: None,
        made: made.clone(),
        at: d.at,
    };
    d.emit(task.as_ref(), Event::ResourceCreated { resource: resource.clone(), first });
    see(d, &resource, 0);
    Ok(())
}

/// The one door of Eq. 7.
fn edit(d: &mut Decision, resource: &Resource, base: u64, author: Actor, made: &Made) -> Result<(), Rejection> {
    exists(resource, base)?;
    let is_subagent = not_a_subagent(d, "commit").is_err();
    if base == resource.revision && !is_subagent {
        if d.snap.revisions.get(&(resource.id.clone(), base)).is_some_and(|now| now.made.content == made.content) {
            return Err(Rejection::wrong_state("nothing would change", ""));
        }
        commit(d, resource, author, made, None);
        return Ok(());
    }
    let state = if base == resource.revision { CandidateState::Submitted } else { CandidateState::Conflict };
    keep(d, resource, base, author, made, state);
    Ok(())
}

fn runtime_alone(d: &Decision) -> Result<(), Rejection> {
    match d.actor.kind {
        ActorKind::System => Ok(()),
        ActorKind::Person | ActorKind::Agent | ActorKind::Job | ActorKind::Source | ActorKind::File => {
            Err(forbidden("only the runtime says what a file holds", "write the file, or commit"))
        }
    }
}

/// What somebody wrote into the file of a Resource, under the same check as any edit. What is kept
/// already is not kept twice: a crash may have come before the file was written back.
fn take(d: &mut Decision, resource: &Resource, base: u64, by: &Actor, made: &Made) -> Result<(), Rejection> {
    exists(resource, base)?;
    if resource.mirror.is_none() {
        return Err(Rejection::wrong_state(format!("{} is tied to no file any more", resource.name), ""));
    }
    if base == resource.revision && author_may_commit(d, by) {
        let standing = d.snap.revisions.get(&(resource.id.clone(), base)).map(|now| now.made.content.as_str());
        if standing == Some(made.content.as_str()) {
            looked(d, resource, Some(base), None);
            return Ok(());
        }
        commit(d, resource, by.clone(), made, None);
        looked(d, resource, Some(base + 1), None);
        // Who wrote it works on it: it is told of what others change from here on.
        if let Some(agent) = d.snap.agents.get(&AgentId(by.id.clone())).cloned() {
            seen(d, &agent, &resource.id, base + 1);
        }
        return Ok(());
    }
    let mut open = d.snap.candidates.values().filter(|kept| kept.resource == resource.id && kept.state.is_open());
    if !open.any(|kept| kept.base == base && kept.made.content == made.content) {
        let state = if base == resource.revision { CandidateState::Submitted } else { CandidateState::Conflict };
        keep(d, resource, base, by.clone(), made, state);
    }
    Ok(())
}

fn looked(d: &mut Decision, resource: &Resource, revision: Option<u64>, trouble: Option<String>) {
    if resource.mirror.is_some() && (resource.in_file, &resource.trouble) != (revision, &trouble) {
        let event = Event::MirrorLooked { resource: resource.id.clone(), revision, trouble };
        d.emit(resource.task.as_ref(), event);
    }
}

/// Records the next revision; who knows the Resource is told, and what was proposed on the last one is stale.
fn commit(d: &mut Decision, resource: &Resource, author: Actor, made: &Made, candidate: Option<&Candidate>) {
    let number = resource.revision + 1;
    // A person's edit is guidance, also where it comes by a file.
    let is_persons = d.actor.kind == ActorKind::Person || author.kind == ActorKind::File;
    let revision = Revision {
        resource: resource.id.clone(),
        number,
        base: Some(resource.revision),
        accepted_by: candidate.map(|_| d.actor.clone()),
        candidate: candidate.map(|candidate| candidate.id.clone()),
        actor: author,
        made: made.clone(),
        at: d.at,
    };
    d.emit(resource.task.as_ref(), Event::RevisionCommitted { revision });
    if let Some(candidate) = candidate {
        let settled = Settled { revision: Some(number), ..Settled::as_(CandidateState::Accepted) };
        settle(d, resource, candidate, settled);
    }
    let stale: Vec<Candidate> = d
        .snap
        .candidates
        .values()
        .filter(|other| other.resource == resource.id && other.state == CandidateState::Submitted)
        .cloned()
        .collect();
    for other in stale {
        settle(d, resource, &other, Settled::as_(CandidateState::Conflict));
    }
    see(d, resource, number);
    if is_persons {
        tell_of(d, &resource.id);
    }
}

fn keep(
    d: &mut Decision,
    resource: &Resource,
    base: u64,
    author: Actor,
    made: &Made,
    state: CandidateState,
) -> CandidateId {
    let candidate = Candidate {
        id: CandidateId::new(&mut d.ids),
        resource: resource.id.clone(),
        base,
        actor: author,
        state,
        made: made.clone(),
        because: None,
        settled_by: None,
        revision: None,
        rebased_to: None,
        at: d.at,
    };
    let id = candidate.id.clone();
    d.emit(resource.task.as_ref(), Event::CandidateKept { candidate });
    id
}

/// What becomes of a Candidate.
struct Settled {
    state: CandidateState,
    because: Option<String>,
    revision: Option<u64>,
    rebased_to: Option<CandidateId>,
}

impl Settled {
    fn as_(state: CandidateState) -> Self {
        Self { state, because: None, revision: None, rebased_to: None }
    }
}

fn settle(d: &mut Decision, resource: &Resource, candidate: &Candidate, settled: Settled) {
    let Settled { state, because, revision, rebased_to } = settled;
    let event = Event::CandidateMoved { candidate: candidate.id.clone(), state, because, revision, rebased_to };
    d.emit(resource.task.as_ref(), event);
}

fn accept(d: &mut Decision, id: &CandidateId) -> Result<(), Rejection> {
    let (candidate, resource) = open(d, id)?;
    not_a_subagent(d, "accept a Candidate")?;
    if candidate.base != resource.revision {
        let what =
            format!("Candidate {id} was made on revision {}: {}", candidate.base, moved_on(&resource, candidate.base));
        return Err(Rejection::wrong_state(
            what,
            format!("`cowork resources merge {id}` brings it up to that revision"),
        ));
    }
    let made = candidate.made.clone();
    commit(d, &resource, candidate.actor.clone(), &made, Some(&candidate));
    Ok(())
}

/// Takes what an engine answered, once; what comes after its failure was told is never committed by itself.
fn conclude(d: &mut Decision, id: &EngineIntentId, outcome: &Value, made: Option<&Made>) -> Result<(), Rejection> {
    let intent =
        d.snap.engine_intents.get(id).cloned().ok_or_else(|| Rejection::not_found(format!("intent {id}"), ""))?;
    let resource = d.snap.resources.get(&intent.resource).cloned().ok_or_else(|| no_such(&intent.resource))?;
    let is_late = match (intent.state, made) {
        (EngineState::Done, Some(_) | None) | (EngineState::Failed, None) => return Ok(()),
        (EngineState::Failed, Some(_)) => true,
        (EngineState::Intent | EngineState::Uncertain, Some(_) | None) => false,
    };
    if !is_late {
        let state = if made.is_some() { EngineState::Done } else { EngineState::Failed };
        let event = Event::EngineAnswered { intent: id.clone(), state, outcome: outcome.clone() };
        d.emit(resource.task.as_ref(), event);
    }
    let Some(made) = made else { return Ok(()) };
    let stands = intent.base == resource.revision;
    if stands && !is_late && author_may_commit(d, &intent.actor) {
        commit(d, &resource, intent.actor, made, None);
    } else {
        let state = if stands { CandidateState::Submitted } else { CandidateState::Conflict };
        keep(d, &resource, intent.base, intent.actor, made, state);
    }
    Ok(())
}

fn author_may_commit(d: &Decision, author: &Actor) -> bool {
    !d.snap.agents.values().any(|agent| agent.id.0 == author.id && agent.role == AgentRole::Subagent)
}

/// An owner that died asked engines: nobody knows how far they came.
pub(super) fn take_over(d: &mut Decision) {
    let open: Vec<EngineIntent> =
        d.snap.engine_intents.values().filter(|intent| intent.state == EngineState::Intent).cloned().collect();
    for intent in open {
        let task = d.snap.resources.get(&intent.resource).and_then(|resource| resource.task.clone());
        let event = Event::EngineAnswered { intent: intent.id, state: EngineState::Uncertain, outcome: Value::Null };
        d.emit(task.as_ref(), event);
    }
}

/// Whoever acts knows this revision now. Where that is the newest, a message that would tell an agent of
/// it is void; who looked at an older one is still to be told.
fn see(d: &mut Decision, resource: &Resource, revision: u64) {
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

fn seen(d: &mut Decision, agent: &Agent, resource: &ResourceId, revision: u64) {
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
fn tell_of(d: &mut Decision, resource: &ResourceId) {
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
pub(super) fn before_turn(d: &mut Decision, agent: &Agent) {
    for view in views_of(d, &agent.id) {
        tell(d, agent, &view);
    }
}

/// What was told has entered the context: the agent knows it.
pub(super) fn told(d: &mut Decision, agent: &Agent) {
    for view in views_of(d, &agent.id) {
        let revision = d.snap.resources.get(&view.resource).map_or(view.seen, |resource| resource.revision);
        if waiting(d, &agent.id, &view.resource).is_empty() {
            seen(d, agent, &view.resource, revision);
        }
    }
}

/// What the person has selected in what the agent may know, for the end of the person's words.
pub(super) fn selected(d: &Decision, task: &TaskId) -> String {
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
