//! Mirrors (RS-6): each Resource that is tied to a file has a task of its own, which takes over what
//! any program saves there and writes there what is committed elsewhere.
//!
//! What the file and the Resource agreed on last stands in the store, never here: what changed while
//! no host was there, or was cut off by a crash, is found by looking. Nothing polls: the system tells
//! of changes in the file's folder, the events of commits.

mod file;
mod look;
mod watch;

use super::Coordinator;
use crate::domain::*;
use look::Next;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore, watch as channel};

/// How long nothing must have been written before what was saved is taken over.
const QUIET: Duration = Duration::from_millis(100);

/// How long that is put off while a program saves again and again.
const LONGEST: Duration = Duration::from_millis(500);

/// How long a program that has the file open is waited for.
const OPEN: Duration = Duration::from_secs(2);

/// How many files are looked at at once.
const AT_ONCE: usize = 4;

/// What the runtime keeps of mirrors.
pub(super) struct Mirrors {
    watch: watch::Watch,
    /// The way to tell a mirror's task that there is something to look at.
    told: Mutex<HashMap<ResourceId, Arc<Notify>>>,
    room: Semaphore,
}

impl Default for Mirrors {
    fn default() -> Self {
        Self { watch: watch::Watch::default(), told: Mutex::default(), room: Semaphore::new(AT_ONCE) }
    }
}

/// Looks at every file that a Resource is tied to.
pub(super) async fn take_up(coordinator: &Coordinator) {
    match coordinator.read(|store| store.mirrored()).await {
        Ok(tied) => tied.into_iter().for_each(|resource| tell_or_begin(coordinator, &resource.id)),
        Err(rejection) => tracing::error!(%rejection, "can't look which Resources are tied to files"),
    }
}

/// Acts on an event.
pub(super) fn take(coordinator: &Coordinator, event: &Event) {
    match event {
        Event::ResourceCreated { resource, .. } if resource.mirror.is_some() => {
            tell_or_begin(coordinator, &resource.id);
        }
        Event::ResourceMirrored { resource, mirror: Some(_) } => tell_or_begin(coordinator, resource),
        Event::ResourceMirrored { resource, mirror: None } | Event::ResourceRemoved { resource, .. } => {
            tell(coordinator, resource);
        }
        Event::RevisionCommitted { revision } => tell(coordinator, &revision.resource),
        Event::TaskRemoved { .. } => {
            if let Ok(told) = coordinator.inner.mirrors.told.lock() {
                told.values().for_each(|told| told.notify_one());
            }
        }
        _ => {}
    }
}

fn tell(coordinator: &Coordinator, id: &ResourceId) {
    if let Ok(told) = coordinator.inner.mirrors.told.lock()
        && let Some(told) = told.get(id)
    {
        told.notify_one();
    }
}

fn tell_or_begin(coordinator: &Coordinator, id: &ResourceId) {
    let told = {
        let Ok(mut all) = coordinator.inner.mirrors.told.lock() else { return };
        if let Some(told) = all.get(id) {
            told.notify_one();
            return;
        }
        let told = Arc::new(Notify::new());
        all.insert(id.clone(), told.clone());
        told
    };
    let (coordinator, id) = (coordinator.clone(), id.clone());
    tokio::spawn(async move {
        let following = tokio::spawn(follow(coordinator.clone(), id.clone(), told));
        if let Err(panic) = following.await {
            // What is true of it stands in the file and in the store: the next host looks again.
            tracing::error!(%id, %panic, "BUG: a mirror is not looked after any more");
            if let Ok(mut all) = coordinator.inner.mirrors.told.lock() {
                all.remove(&id);
            }
        }
        coordinator.inner.mirrors.watch.forget(&id);
    });
}

/// Looks after one mirror, until its Resource is tied to no file or this process leaves.
async fn follow(coordinator: Coordinator, id: ResourceId, told: Arc<Notify>) {
    let leaving = coordinator.inner.leaving.clone();
    let (touch, mut touched) = channel::channel(watch::Hand::Off);
    let mut pause = Duration::ZERO;
    while let Some(resource) = tied(&coordinator, &id).await {
        let path = Path::new(resource.mirror.as_deref().unwrap_or_default());
        // Watched before it is looked at, so that nothing falls in between.
        let watched = coordinator.inner.mirrors.watch.follow(&id, file::places(path), &touch);
        if *touched.borrow_and_update() == watch::Hand::On {
            quiet(&mut touched).await;
        }
        let next = {
            let Ok(_room) = coordinator.inner.mirrors.room.acquire().await else { return };
            match watched {
                Ok(()) => look::look(&coordinator, &resource, pause).await,
                Err(error) => look::trouble(&coordinator, &resource, format!("it can't be watched: {error}")).await,
            }
        };
        pause = match next {
            Next::Now => continue,
            Next::Told => Duration::ZERO,
            Next::After(pause) => pause,
        };
        tokio::select! {
            () = leaving.cancelled() => return,
            () = told.notified() => {}
            changed = touched.changed() => {
                if changed.is_ok() {
                    quiet(&mut touched).await;
                }
            }
            () = tokio::time::sleep(pause), if !pause.is_zero() => {}
        }
    }
}

/// The Resource, while it is tied to a file; else it is forgotten, unless it was tied again by now.
async fn tied(coordinator: &Coordinator, id: &ResourceId) -> Option<Resource> {
    let look = || {
        let id = id.clone();
        coordinator.read(move |store| store.resource(&id))
    };
    if let Some(found) = look().await.ok().filter(|resource| resource.mirror.is_some()) {
        return Some(found);
    }
    if let Ok(mut all) = coordinator.inner.mirrors.told.lock() {
        all.remove(id);
    }
    let again = look().await.ok().filter(|resource| resource.mirror.is_some())?;
    tell_or_begin(coordinator, &again.id);
    None
}

/// Waits until what was written is whole: nobody writes and nothing was written for a moment.
async fn quiet(touched: &mut channel::Receiver<watch::Hand>) {
    let began = Instant::now();
    loop {
        let (pause, most) = match *touched.borrow_and_update() {
            watch::Hand::On => (OPEN, OPEN),
            watch::Hand::Off => (QUIET, LONGEST),
        };
        let left = most.saturating_sub(began.elapsed());
        match tokio::time::timeout(pause.min(left), touched.changed()).await {
            Ok(Ok(())) if !left.is_zero() => {}
            Ok(_) | Err(_) => return,
        }
    }
}
