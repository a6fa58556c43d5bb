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
        let (is_first, grown) = {
            let mut followed = self.followed.lock().map_err(|_| broken())?;
            let (count, grown) = followed.entry(folder.to_owned()).or_default();
            *count += 1;
            (*count == 1, grown.clone())
        };
        // Whoever is followed is not locked here: the watcher's thread may be waiting for that, and
        // answers us when it is through.
        if is_first
            && let Some(watcher) = watcher.as_mut()
            && let Err(error) = watcher.watch(folder)
        {
            self.followed.lock().map_err(|_| broken())?.remove(folder);
            return Err(error);
        }
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
        let is_last = {
            let Ok(mut followed) = self.followed.lock() else { return };
            let Some((count, _)) = followed.get_mut(&self.folder) else { return };
            *count -= 1;
            let is_last = *count == 0;
            if is_last {
                followed.remove(&self.folder);
            }
            is_last
        };
        if is_last && let Some(watcher) = watcher.as_mut() {
            watcher.unwatch(&self.folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn beginning_and_ending_to_follow_goes_on_while_logs_grow() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folders: Vec<PathBuf> = (0..20).map(|number| scratch.path().join(format!("j_{number}"))).collect();
        folders.iter().for_each(|folder| std::fs::create_dir(folder).expect("made"));
        let busy = folders[0].clone();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let grower = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                std::fs::write(busy.join("output.log"), "x").expect("written");
            }
        });
        let follow = Follow::default();
        let _all_along = follow.follow(&folders[0]).expect("followed");
        let following = tokio::task::spawn_blocking(move || {
            for _ in 0..100 {
                let followers: Vec<_> = folders.iter().map(|folder| follow.follow(folder).expect("followed")).collect();
                drop(followers);
            }
        });
        let through = tokio::time::timeout(Duration::from_secs(60), following).await;
        is_over.store(true, Ordering::Relaxed);
        grower.join().expect("it grew");
        through.expect("nobody waits for another for ever").expect("through");
    }
}
