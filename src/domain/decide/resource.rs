//! Resources (Eq. 7): one check for everybody, no gap in the revisions, no proposal lost. What others
//! are told of a change (Eq. 8) is in [`news`], what engines answer in [`engine`].
//!
//! | base and the revision that stands | who | what comes of an edit |
//! |---|---|---|
//! | equal | a person, Main, a file, a Job | the next revision |
//! | equal | a Subagent | a Candidate, submitted |
//! | different | anybody | a Candidate in conflict |

mod engine;
mod news;

pub(super) use engine::take_over;
pub(super) use news::{before_turn, selected, told};

use super::*;
use crate::domain::command::resource::{ResourceCommand, ResourceDeed};
use news::{see, seen, tell_of};

/// The longest name, in bytes.
const NAME: usize = 200;

pub(super) fn act(d: &mut Decision, command: &ResourceCommand) -> Result<(), Rejection> {
    if let Some(run) = &command.run {
        d.running(run)?;
    }
    let before = d.snap.candidates.values().filter(|candidate| candidate.state.is_open()).count();
    decide(d, &command.deed)?;
    // An open Candidate keeps its Task from being completed, one that is decided does not.
    if d.snap.candidates.values().filter(|candidate| candidate.state.is_open()).count() != before {
        let of = d.snap.resources.values().filter_map(|resource| resource.task.clone());
        for task in of.collect::<std::collections::BTreeSet<_>>() {
            d.settle_status(&task);
        }
    }
    Ok(())
}

fn decide(d: &mut Decision, deed: &ResourceDeed<Made>) -> Result<(), Rejection> {
    match deed {
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
        ResourceDeed::Intend { resource, base, by, operation, request } => {
            let resource = known(d, resource)?;
            exists(&resource, *base)?;
            let author = author(d, by.as_ref())?;
            engine::intend(d, &resource, *base, author, operation, request);
            Ok(())
        }
        ResourceDeed::Conclude { intent, outcome, change } => engine::conclude(d, intent, outcome, change.as_ref()),
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

/// What becomes of an edit.
enum Admission {
    /// It is the next revision.
    Next,
    /// It is kept apart, as a Candidate in this state.
    Kept(CandidateState),
}

/// The one law of Eq. 7, whatever an edit came by.
fn admit(d: &Decision, resource: &Resource, base: u64, author: &Actor) -> Admission {
    if base != resource.revision {
        Admission::Kept(CandidateState::Conflict)
    } else if is_subagent(d, author) {
        Admission::Kept(CandidateState::Submitted)
    } else {
        Admission::Next
    }
}

fn is_subagent(d: &Decision, author: &Actor) -> bool {
    d.snap.agents.values().any(|agent| agent.id.0 == author.id && agent.role == AgentRole::Subagent)
}

/// Whether an edit leaves the revision that stands as it is.
fn is_unchanged(d: &Decision, resource: &Resource, made: &Made) -> bool {
    let standing = d.snap.revisions.get(&(resource.id.clone(), resource.revision));
    standing.is_some_and(|now| now.made.content == made.content)
}

/// The door of edits.
fn edit(d: &mut Decision, resource: &Resource, base: u64, author: Actor, made: &Made) -> Result<(), Rejection> {
    exists(resource, base)?;
    match admit(d, resource, base, &author) {
        Admission::Next if is_unchanged(d, resource, made) => {
            return Err(Rejection::wrong_state("nothing would change", ""));
        }
        Admission::Next => commit(d, resource, author, made, None),
        Admission::Kept(state) => drop(keep(d, resource, base, author, made, state)),
    }
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
    let state = match admit(d, resource, base, by) {
        Admission::Next if is_unchanged(d, resource, made) => {
            looked(d, resource, Some(base), None);
            return Ok(());
        }
        Admission::Next => {
            commit(d, resource, by.clone(), made, None);
            looked(d, resource, Some(base + 1), None);
            // Who wrote it works on it: it is told of what others change from here on.
            if let Some(agent) = d.snap.agents.get(&AgentId(by.id.clone())).cloned() {
                seen(d, &agent, &resource.id, base + 1);
            }
            return Ok(());
        }
        Admission::Kept(state) => state,
    };
    let mut open = d.snap.candidates.values().filter(|kept| kept.resource == resource.id && kept.state.is_open());
    if !open.any(|kept| kept.base == base && kept.made.content == made.content) {
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
