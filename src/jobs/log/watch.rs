//! Tells when a log has grown, without asking.

use notify::event::{EventKind, ModifyKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use std::io;
use std::path::{Path, PathBuf};

/// Watches the folders of any number of Jobs.
#[derive(Debug)]
pub struct Watcher {
    inner: RecommendedWatcher,
}

impl Watcher {
    /// Makes a watcher that calls `changed` with every file that was written, made or removed in a
    /// watched folder. It is called from a thread of the watcher, often, and should only take note.
    pub fn new(mut changed: impl FnMut(&Path) + Send + 'static) -> io::Result<Self> {
        let inner = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let Ok(event) = event else { return };
            let is_change = matches!(
                event.kind,
                EventKind::Create(_)
                    | EventKind::Remove(_)
                    | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Name(_) | ModifyKind::Any)
            );
            if is_change {
                event.paths.iter().for_each(|path| changed(path));
            }
        });
        Ok(Self { inner: inner.map_err(error)? })
    }

    /// Watches the folder of a Job as well.
    pub fn watch(&mut self, folder: &Path) -> io::Result<()> {
        self.inner.watch(folder, RecursiveMode::NonRecursive).map_err(error)
    }

    /// No longer watches the folder of a Job.
    pub fn unwatch(&mut self, folder: &Path) {
        // One that is gone is not watched any more.
        let _ = self.inner.unwatch(folder);
    }
}

fn error(error: notify::Error) -> io::Error {
    let paths: Vec<PathBuf> = error.paths.clone();
    match error.kind {
        notify::ErrorKind::Io(source) => source,
        notify::ErrorKind::MaxFilesWatch => {
            io::Error::other("the system's limit of watched files is reached (fs.inotify.max_user_watches)")
        }
        _ => io::Error::other(format!("{:?} can't be watched: {error}", paths)),
    }
}
