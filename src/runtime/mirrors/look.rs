//! One look at a mirror: what its file holds against what its Resource holds, and what follows.
//!
//! | the file holds | and then |
//! |---|---|
//! | the revision that stands | they agree |
//! | the revision they agreed on last | what stands is written to the file |
//! | anything else | it is committed on the revision they agreed on last: the next revision, or a Candidate, and what stands is written to the file |
//!
//! A file that is tied for the first time is what the person looks at: it becomes the next revision.

use super::super::{Coordinator, fresh_command};
use super::file::{self, Found, Held};
use crate::agent::tools::replace::{Expected, NotReplaced, left_beside, replace, sha256};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use crate::resources::{Foreign, Format};
use crate::store::Store;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a file may be away before it counts as deleted: programs move it aside while they save.
const AWAY: Duration = Duration::from_millis(500);

/// When what could not be written is tried again.
const RETRY: Duration = Duration::from_secs(30);

/// When to look again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// At once.
    Now,
    /// When something happens.
    Told,
    /// After a while, or when something happens.
    After(Duration),
}

/// What is to be done.
enum Verdict {
    Agrees,
    Write(Write),
    Take {
        base: u64,
        by: Actor,
        text: String,
        back: Write,
    },
    Missing,
    /// A crash came between writing and recording it: what was in the file before lies aside.
    Aside(PathBuf),
    Trouble(String),
    Moving,
}

/// What is to be written to the file.
#[derive(Clone)]
struct Write {
    path: PathBuf,
    bytes: Arc<[u8]>,
    /// The hash of what it holds now; absent: there is none.
    over: Option<String>,
}

/// Looks, and does what follows. `waited` is how long was waited since the look before.
pub(super) async fn look(coordinator: &Coordinator, resource: &Resource, waited: Duration) -> Next {
    let (inner, of) = (coordinator.clone(), resource.clone());
    match coordinator.read(move |store| compare(&inner, store, &of)).await {
        Ok(Verdict::Agrees) => record(coordinator, resource, Some(resource.revision), None).await,
        Ok(Verdict::Write(write)) => write_out(coordinator, resource, write).await,
        Ok(Verdict::Take { base, by, text, back }) => take(coordinator, resource, base, by, text, back).await,
        Ok(Verdict::Aside(aside)) => keep_displaced(coordinator, resource, &aside).await,
        Ok(Verdict::Missing) if waited != AWAY => Next::After(AWAY),
        Ok(Verdict::Missing) => {
            let what = "it was deleted; nothing of the Resource is lost, and tying it again writes it".into();
            trouble(coordinator, resource, what).await
        }
        Ok(Verdict::Trouble(what)) => trouble(coordinator, resource, what).await,
        Ok(Verdict::Moving) => Next::After(super::QUIET),
        Err(rejection) => refused(coordinator, resource, &rejection).await,
    }
}

/// Says why file and Resource don't follow each other.
pub(super) async fn trouble(coordinator: &Coordinator, resource: &Resource, what: String) -> Next {
    record(coordinator, resource, resource.in_file, Some(what)).await
}

async fn refused(coordinator: &Coordinator, resource: &Resource, rejection: &Rejection) -> Next {
    match rejection.kind {
        // A Resource that was taken away is told of as well.
        RejectionKind::NotFound | RejectionKind::Storage => {
            tracing::warn!(%rejection, id = %resource.id, "a mirror is looked at again later");
            Next::After(RETRY)
        }
        RejectionKind::WrongState
        | RejectionKind::Invalid
        | RejectionKind::Forbidden
        | RejectionKind::Budget
        | RejectionKind::StaleFence
        | RejectionKind::Internal => trouble(coordinator, resource, rejection.to_string()).await,
    }
}

async fn record(
    coordinator: &Coordinator,
    resource: &Resource,
    revision: Option<u64>,
    trouble: Option<String>,
) -> Next {
    if (resource.in_file, &resource.trouble) == (revision, &trouble) {
        return Next::Told;
    }
    let deed = ResourceDeed::Mirrored { resource: resource.id.clone(), revision, trouble };
    let command = ResourceCommand { run: None, deed }.into();
    if let Err(rejection) = coordinator.insist(None, Actor::system(), command).await {
        // It was taken away or untied meanwhile.
        tracing::debug!(%rejection, "what a file holds was not recorded");
    }
    crate::crash::point("mirrors.recorded");
    Next::Told
}

fn compare(coordinator: &Coordinator, store: &Store, resource: &Resource) -> Result<Verdict, Rejection> {
    let path = Path::new(resource.mirror.as_deref().unwrap_or_default());
    let known = &coordinator.inner.resources;
    let adapter = known.registry.get(&resource.kind)?;
    let written = |number| -> Result<Arc<[u8]>, Rejection> {
        let revision = store.revision(&resource.id, Some(number))?;
        let kept = known.contents.open(store, &revision.made.content)?;
        Ok(adapter.export(&resource.name, &kept.content, &Format::Native)?.ready()?.bytes)
    };
    let stands = written(resource.revision)?;
    let Held { path: real, bytes, at } = match file::read(path) {
        Found::Held(held) => held,
        Found::Missing if resource.in_file.is_none() => {
            return Ok(Verdict::Write(Write { path: path.to_owned(), bytes: stands, over: None }));
        }
        Found::Missing => return Ok(Verdict::Missing),
        Found::Trouble(what) => return Ok(Verdict::Trouble(what)),
        Found::Moving => return Ok(Verdict::Moving),
    };
    let is_recorded = resource.in_file == Some(resource.revision);
    if *bytes == *stands {
        let Some(aside) = left_beside(&real, &stands).filter(|_| !is_recorded) else { return Ok(Verdict::Agrees) };
        let left = std::fs::read(&aside).unwrap_or_default();
        let is_agreed = resource.in_file.map(written).transpose()?.is_some_and(|agreed| *agreed == *left);
        if !is_agreed && !stands.starts_with(&left) {
            return Ok(Verdict::Aside(aside));
        }
        // A part of what is there, or what was agreed on before: both are kept.
        if let Err(error) = std::fs::remove_file(&aside) {
            tracing::warn!(%error, "what a crash left beside a file stays there");
        }
        return Ok(Verdict::Agrees);
    }
    let hash = sha256(&bytes);
    let back = Write { path: real.clone(), bytes: stands, over: Some(hash.clone()) };
    if let Some(agreed) = resource.in_file.filter(|_| !is_recorded)
        && *bytes == *written(agreed)?
    {
        return Ok(Verdict::Write(back));
    }
    let foreign = Foreign { name: resource.name.clone(), media_type: String::new(), bytes: bytes.into() };
    if let Err(refusal) = adapter.read(&foreign) {
        return Ok(Verdict::Trouble(format!("what it holds is not taken over: {refusal}")));
    }
    let Ok(text) = String::from_utf8(foreign.bytes.to_vec()) else {
        return Ok(Verdict::Trouble("what it holds is not taken over: it is no text".into()));
    };
    if let Cow::Owned(_) = coordinator.redactor().redact(&text) {
        return Ok(Verdict::Trouble("what it holds is not taken over: it holds a key, and keys are not kept".into()));
    }
    let by = author(store, [path, &real], &hash, at)?;
    Ok(Verdict::Take { base: resource.in_file.unwrap_or(resource.revision), by, text, back })
}

/// Who wrote a file: the call that said it would leave exactly this; else the one agent, else the one
/// Job, that was at work around it at that moment; else the person of the file.
fn author(store: &Store, paths: [&Path; 2], hash: &str, at: Millis) -> Result<Actor, Rejection> {
    let mut near: [BTreeSet<Actor>; 2] = Default::default();
    for work in store.at_work(at)? {
        match work.leaves {
            Some(leaves) if leaves == hash => return Ok(work.actor),
            Some(_) => {}
            None => {
                let real = std::fs::canonicalize(&work.folder).unwrap_or_else(|_| work.folder.clone().into());
                let is_around = paths.iter().any(|path| path.starts_with(&work.folder) || path.starts_with(&real));
                let is_job = work.actor.kind == ActorKind::Job;
                if is_around {
                    near[usize::from(is_job)].insert(work.actor);
                }
            }
        }
    }
    // Of several, nobody knows which it was.
    let known = near.into_iter().find(|those| !those.is_empty()).filter(|those| those.len() == 1);
    Ok(known.and_then(|mut those| those.pop_first()).unwrap_or_else(|| of_file(paths[0])))
}

fn of_file(path: &Path) -> Actor {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Actor { kind: ActorKind::File, id: format!("f_{name}") }
}

async fn take(coordinator: &Coordinator, resource: &Resource, base: u64, by: Actor, text: String, back: Write) -> Next {
    let is_persons = by.kind == ActorKind::File;
    let summary = if is_persons { "Save the file" } else { "Write the file" }.to_owned();
    crate::crash::point("mirrors.before_take");
    let change = Change { how: How::Text(text), summary };
    let deed = ResourceDeed::Take { resource: resource.id.clone(), base, by, change };
    let taken = coordinator.act_on_resource(fresh_command(), Actor::system(), None, deed).await;
    crate::crash::point("mirrors.taken");
    match taken.map(|receipt| receipt.edit.and_then(|edit| edit.revision)) {
        // They agree: that was recorded with it.
        Ok(Some(_)) => Next::Told,
        // It is kept apart: the file holds what stands again.
        Ok(None) => write_out(coordinator, resource, back).await,
        Err(rejection) => refused(coordinator, resource, &rejection).await,
    }
}

async fn write_out(coordinator: &Coordinator, resource: &Resource, write: Write) -> Next {
    crate::crash::point("mirrors.before_write");
    let written = coordinator.read(move |_| Ok(put(&write))).await;
    crate::crash::point("mirrors.written");
    match written {
        Ok(Ok(())) => record(coordinator, resource, Some(resource.revision), None).await,
        Ok(Err(NotReplaced::Overtaken)) => Next::Now,
        Ok(Err(NotReplaced::Displaced(aside))) => keep_displaced(coordinator, resource, &aside).await,
        Ok(Err(NotReplaced::Failed(why))) => {
            trouble(coordinator, resource, why).await;
            Next::After(RETRY)
        }
        Err(rejection) => refused(coordinator, resource, &rejection).await,
    }
}

fn put(write: &Write) -> Result<(), NotReplaced> {
    let Some(over) = &write.over else { return replace(&write.path, &write.bytes, Expected::Nothing) };
    // Replacing a file asks its folder alone, and would pass over the file's own protection.
    if rustix::fs::access(&write.path, rustix::fs::Access::WRITE_OK).is_err() {
        let what = format!("{} is read-only, and was not written", write.path.display());
        return Err(NotReplaced::Failed(what));
    }
    replace(&write.path, &write.bytes, Expected::Held(over))
}

/// Somebody saved in the very moment the file was replaced: that text becomes a Candidate.
async fn keep_displaced(coordinator: &Coordinator, resource: &Resource, aside: &Path) -> Next {
    let text = std::fs::read(aside).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(text) = text else {
        let what = format!("what was saved while it was written is no text; it lies in {}", aside.display());
        return trouble(coordinator, resource, what).await;
    };
    let by = of_file(Path::new(resource.mirror.as_deref().unwrap_or_default()));
    let change = Change { how: How::Text(text), summary: "Save the file".into() };
    let base = resource.in_file.unwrap_or(resource.revision);
    let deed = ResourceDeed::Take { resource: resource.id.clone(), base, by, change };
    match coordinator.act_on_resource(fresh_command(), Actor::system(), None, deed).await {
        Ok(_) => {
            if let Err(error) = std::fs::remove_file(aside) {
                tracing::warn!(%error, "what was kept of a file stays beside it");
            }
            Next::Now
        }
        Err(rejection) => {
            let what = format!("what was saved while it was written lies in {}: {rejection}", aside.display());
            trouble(coordinator, resource, what).await
        }
    }
}
