//! Following logs: one watcher for all that are followed, as long as somebody follows.

use crate::jobs::log::Watcher;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// Who follows which folder.
type Followed = Arc<Mutex<HashMap<PathBuf, (usize, Arc<Notify>)>>>;

/// Tells when logs grow.
#[derive(Default)]
pub(super) struct Follow {
    watcher: Arc<Mutex<Option<Watcher>>>,
    followed: Followed,
}

/// Somebody who follows a log; of several on one log, each growth wakes one.
pub(in crate::runtime) struct Follower {
    folder: PathBuf,
    grown: Arc<Notify>,
    watcher: Arc<Mutex<Option<Watcher>>>,
    followed: Followed,
}

impl Follow {
    /// Begins to follow the log in a folder.
    pub(super) fn follow(&self, folder: &Path) -> io::Result<Follower> {
        let broken = || io::Error::other("BUG: a follower failed");
        let mut watcher = self.watcher.lock().map_err(|_| broken())?;
        if watcher.is_none() {
            let followed = self.followed.clone();
            *watcher = Some(Watcher::new(move |file| {
                if let Some(folder) = file.parent()
                    && let Ok(followed) = followed.lock()
                    && let Some((_, grown)) = followed.get(folder)
                {
                    // Kept for who looks at something else right now.
                    grown.notify_one();
                }
            })?);
        }
        let mut followed = self.followed.lock().map_err(|_| broken())?;
        if !followed.contains_key(folder)
            && let Some(watcher) = watcher.as_mut()
        {
            watcher.watch(folder)?;
        }
        let (count, grown) = followed.entry(folder.to_owned()).or_default();
        *count += 1;
        let grown = grown.clone();
        let (watcher, followed) = (self.watcher.clone(), self.followed.clone());
        Ok(Follower { folder: folder.to_owned(), grown, watcher, followed })
    }
}

impl Follower {
    /// What resolves when the log has grown after this was called; look at the log after calling it.
    pub(in crate::runtime) fn grown(&self) -> tokio::sync::futures::Notified<'_> {
        self.grown.notified()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let Ok(mut watcher) = self.watcher.lock() else { return };
        let Ok(mut followed) = self.followed.lock() else { return };
        let Some((count, _)) = followed.get_mut(&self.folder) else { return };
        *count -= 1;
        if *count == 0 {
            followed.remove(&self.folder);
            if let Some(watcher) = watcher.as_mut() {
                watcher.unwatch(&self.folder);
            }
        }
    }
}
