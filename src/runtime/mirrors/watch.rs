//! Being told when a file was written: one watcher of the system's for all files, on their folders,
//! since programs save by renaming.

use crate::domain::ResourceId;
use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::watch as channel;

/// Whether a program is known to be writing a file right now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hand {
    /// It has written, and has not closed the file.
    On,
    /// Nobody is.
    Off,
}

/// Watches the files of all mirrors.
#[derive(Default)]
pub(super) struct Watch {
    watcher: Mutex<Option<RecommendedWatcher>>,
    places: Arc<Mutex<Places>>,
}

/// Who wants to know of which path.
#[derive(Default)]
struct Places {
    of: HashMap<ResourceId, (Vec<PathBuf>, channel::Sender<Hand>)>,
    by_path: HashMap<PathBuf, HashSet<ResourceId>>,
    /// The folders that are watched.
    folders: HashSet<PathBuf>,
    /// Folders that were taken away: another one may stand in their place, and is not watched yet.
    gone: HashSet<PathBuf>,
}

impl Watch {
    /// Tells `touch` of every change at these places from now on, and of no others.
    pub(super) fn follow(
        &self,
        id: &ResourceId,
        places: Vec<PathBuf>,
        touch: &channel::Sender<Hand>,
    ) -> io::Result<()> {
        let broken = || io::Error::other("BUG: a watcher failed");
        let mut watcher = self.watcher.lock().map_err(|_| broken())?;
        let (missing, idle) = {
            let mut kept = self.places.lock().map_err(|_| broken())?;
            kept.put(id, places, touch);
            kept.take_due()
        };
        // Not under the lock of the places: the watcher's thread may be waiting for that, and answers
        // us when it is through.
        for folder in idle {
            if let Some(watcher) = watcher.as_mut() {
                // One that is gone is not watched any more.
                let _ = watcher.unwatch(&folder);
            }
        }
        for folder in missing {
            let made = match watcher.as_mut() {
                Some(watcher) => watcher,
                None => watcher.insert(self.start()?),
            };
            if let Err(error) = made.watch(&folder, RecursiveMode::NonRecursive) {
                self.places.lock().map_err(|_| broken())?.folders.remove(&folder);
                return Err(plain(error));
            }
        }
        Ok(())
    }

    /// No longer tells of a Resource's file.
    pub(super) fn forget(&self, id: &ResourceId) {
        let Ok(mut watcher) = self.watcher.lock() else { return };
        let idle = {
            let Ok(mut kept) = self.places.lock() else { return };
            kept.leave(id);
            kept.take_due().1
        };
        if let Some(watcher) = watcher.as_mut() {
            idle.iter().for_each(|folder| drop(watcher.unwatch(folder)));
        }
    }

    fn start(&self) -> io::Result<RecommendedWatcher> {
        let places = self.places.clone();
        notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(mut places) = places.lock() else { return };
            match event {
                Ok(event) if event.need_rescan() => places.tell_all(),
                Ok(event) => places.take(&event),
                Err(_) => places.tell_all(),
            }
        })
        .map_err(plain)
    }
}

impl Places {
    fn put(&mut self, id: &ResourceId, places: Vec<PathBuf>, touch: &channel::Sender<Hand>) {
        if self.of.get(id).is_some_and(|(known, _)| *known == places) {
            return;
        }
        self.leave(id);
        for place in &places {
            self.by_path.entry(place.clone()).or_default().insert(id.clone());
        }
        self.of.insert(id.clone(), (places, touch.clone()));
    }

    fn leave(&mut self, id: &ResourceId) {
        let Some((places, _)) = self.of.remove(id) else { return };
        for place in places {
            if let Some(ids) = self.by_path.get_mut(&place) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_path.remove(&place);
                }
            }
        }
    }

    /// The folders to be watched that are not, and those that are and need not be; both are taken as done.
    fn take_due(&mut self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let wanted: HashSet<PathBuf> = self.by_path.keys().filter_map(|path| path.parent()).map(Into::into).collect();
        let gone = std::mem::take(&mut self.gone);
        let idle: Vec<PathBuf> =
            self.folders.iter().filter(|folder| !wanted.contains(*folder) || gone.contains(*folder)).cloned().collect();
        self.folders.retain(|folder| !idle.contains(folder));
        let missing: Vec<PathBuf> = wanted.into_iter().filter(|folder| !self.folders.contains(folder)).collect();
        self.folders.extend(missing.iter().cloned());
        (missing, idle)
    }

    fn take(&mut self, event: &notify::Event) {
        let hand = match event.kind {
            EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => Hand::On,
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Create(_)
            | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(_)) => Hand::Off,
            // Looking at a file, or at its mode, changes nothing of what it holds.
            _ => return,
        };
        for path in &event.paths {
            self.tell(path, hand);
            if hand == Hand::Off && self.folders.contains(path) {
                self.gone.insert(path.clone());
                let within: Vec<PathBuf> =
                    self.by_path.keys().filter(|place| place.parent() == Some(path)).cloned().collect();
                within.iter().for_each(|place| self.tell(place, hand));
            }
        }
    }

    fn tell(&self, path: &Path, hand: Hand) {
        for id in self.by_path.get(path).into_iter().flatten() {
            if let Some((_, touch)) = self.of.get(id) {
                touch.send_replace(hand);
            }
        }
    }

    fn tell_all(&self) {
        for (_, touch) in self.of.values() {
            touch.send_replace(Hand::Off);
        }
    }
}

fn plain(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(source) => source,
        notify::ErrorKind::MaxFilesWatch => {
            io::Error::other("the system's limit of watched files is reached (fs.inotify.max_user_watches)")
        }
        _ => io::Error::other(error.to_string()),
    }
}
