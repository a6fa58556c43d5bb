//! Looking for files and into them, on threads of its own: the screen never waits for a disk.
//!
//! Only inside the folder, never through links, without what ignore files hide; bounded in number,
//! and the first lines of a file only. A new search ends the one before.

use super::action::News;
use super::picker::{MOST_FILES, Preview};
use super::text;
use ignore::WalkBuilder;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often files that were found are told.
const TELL: Duration = Duration::from_millis(60);

/// How much of a file is looked at, and how many of its lines are shown.
const BYTES: u64 = 16 * 1024;
const LINES: usize = 60;

/// Takes what was found; says whether anybody still listens. Called on threads that may wait.
pub type Tell = Arc<dyn Fn(News) -> bool + Send + Sync>;

/// Looks for files.
pub struct Finder {
    tell: Tell,
    /// The search that is wanted; an older one ends.
    wanted: Arc<AtomicU64>,
}

impl Finder {
    /// Makes one that tells what it finds.
    pub fn new(tell: Tell) -> Self {
        Self { tell, wanted: Arc::default() }
    }

    /// Looks for all files of a folder.
    pub fn find(&self, search: u64, folder: String) {
        self.wanted.store(search, Ordering::Relaxed);
        let (told, wanted) = (self.tell.clone(), self.wanted.clone());
        std::thread::spawn(move || {
            let tell = |paths, last| {
                let is_wanted = wanted.load(Ordering::Relaxed) == search;
                is_wanted && told(News::Files { search, paths, last })
            };
            walk(Path::new(&folder), tell);
        });
    }

    /// Reads the first lines of a file.
    pub fn preview(&self, folder: String, path: String) {
        let tell = self.tell.clone();
        std::thread::spawn(move || {
            let lines = first_lines(Path::new(&folder), Path::new(&path)).unwrap_or_else(|why| vec![why]);
            tell(News::Preview(Preview { path, lines }));
        });
    }
}

/// Walks a folder and tells the paths of its files in portions, until nobody wants them.
fn walk(folder: &Path, tell: impl Fn(Vec<String>, bool) -> bool) {
    let mut paths = Vec::new();
    let (mut count, mut told) = (0, Instant::now());
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk.filter_map(Result::ok) {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink());
        let Some(path) = entry.path().strip_prefix(folder).ok().and_then(Path::to_str).filter(|_| is_file) else {
            continue;
        };
        // A name that can't be shown as it is can't be named in a message either.
        if text::line(path) != path {
            continue;
        }
        paths.push(path.to_owned());
        count += 1;
        if count == MOST_FILES {
            break;
        }
        if told.elapsed() >= TELL {
            told = Instant::now();
            if !tell(std::mem::take(&mut paths), false) {
                return;
            }
        }
    }
    tell(paths, true);
}

/// The first lines of a file in the folder, or in words why they are not shown.
fn first_lines(folder: &Path, path: &Path) -> Result<Vec<String>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let real = folder.join(path).canonicalize().map_err(failed)?;
    if !real.starts_with(folder.canonicalize().map_err(failed)?) {
        return Err("leads out of the folder".to_owned());
    }
    // A pipe or a device is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(&real, flags, Mode::empty()).map_err(|error| failed(error.into()))?);
    if !file.metadata().map_err(failed)?.is_file() {
        return Err("is no file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(BYTES).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.contains(&0) {
        return Err("holds no text".to_owned());
    }
    if bytes.is_empty() {
        return Err("is empty".to_owned());
    }
    let text = text::clean(&String::from_utf8_lossy(&bytes));
    Ok(text.lines().take(LINES).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn found(folder: &Path) -> Vec<String> {
        let all = RefCell::new(Vec::new());
        walk(folder, |paths, _| {
            all.borrow_mut().extend(paths);
            true
        });
        all.into_inner()
    }

    #[test]
    fn what_is_ignored_and_what_lies_outside_is_not_found() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("work");
        std::fs::create_dir_all(folder.join("src")).expect("made");
        std::fs::create_dir_all(folder.join("target")).expect("made");
        std::fs::create_dir_all(place.path().join("other")).expect("made");
        for file in ["work/src/main.rs", "work/target/out", "other/secret", "work/.hidden", "work/odd\u{202e}name"] {
            std::fs::write(place.path().join(file), "x").expect("written");
        }
        std::fs::write(folder.join(".gitignore"), "target\n").expect("written");
        std::os::unix::fs::symlink(place.path().join("other"), folder.join("link")).expect("linked");
        assert_eq!(found(&folder), [".gitignore", ".hidden", "link", "src/main.rs"]);
    }

    #[test]
    fn a_preview_shows_text_and_says_why_there_is_none() {
        let place = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| std::fs::write(place.path().join(name), bytes).expect("written");
        write("text", b"one\n\x1b[2Jtwo\n");
        write("bytes", b"a\0b");
        write("empty", b"");
        std::os::unix::fs::symlink("/etc/hostname", place.path().join("out")).expect("linked");
        let look = |name: &str| first_lines(place.path(), Path::new(name));
        assert_eq!(look("text"), Ok(vec!["one".to_owned(), "two".to_owned()]));
        assert_eq!(look("bytes"), Err("holds no text".to_owned()));
        assert_eq!(look("empty"), Err("is empty".to_owned()));
        assert_eq!(look("out"), Err("leads out of the folder".to_owned()));
        assert!(look("gone").is_err());
        assert_eq!(look("."), Err("is no file".to_owned()));
    }

    #[test]
    fn a_search_that_nobody_wants_any_more_ends() {
        let place = tempfile::tempdir().expect("a folder");
        std::fs::write(place.path().join("a"), "x").expect("written");
        let told = RefCell::new(0);
        walk(place.path(), |_, _| {
            *told.borrow_mut() += 1;
            false
        });
        assert_eq!(*told.borrow(), 1);
    }
}
