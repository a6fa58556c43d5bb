//! The file of a mirror: what it holds, in plain words where it can't be had, and where to watch it.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The largest file that is taken over, in bytes.
const LARGEST: u64 = 64 << 20;

/// What is where the file should be.
pub(super) enum Found {
    /// Nothing.
    Missing,
    /// The file.
    Held(Held),
    /// Something that can't be followed; in words.
    Trouble(String),
    /// It changed while it was read.
    Moving,
}

/// A file as it was read.
pub(super) struct Held {
    /// Where it is, with links followed.
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// When it was written or put there, in Unix milliseconds.
    pub at: i64,
}

/// Reads the file at a path. Blocks.
pub(super) fn read(path: &Path) -> Found {
    let real = match std::fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == ErrorKind::NotFound && path.is_symlink() => {
            return Found::Trouble("it is a link that leads nowhere".into());
        }
        Err(error) if error.kind() == ErrorKind::NotFound => return Found::Missing,
        Err(error) => return Found::Trouble(told(&error)),
    };
    let found = match std::fs::metadata(&real) {
        Ok(found) if found.is_dir() => return Found::Trouble("it is a folder now".into()),
        Ok(found) if !found.is_file() => return Found::Trouble("it is no file now (a pipe, socket or device)".into()),
        Ok(found) if found.len() > LARGEST => {
            return Found::Trouble(format!("it has {} bytes, and {LARGEST} are the most", found.len()));
        }
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Found::Moving,
        Err(error) => return Found::Trouble(told(&error)),
    };
    let bytes = match std::fs::read(&real) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Found::Moving,
        Err(error) => return Found::Trouble(told(&error)),
    };
    match std::fs::metadata(&real) {
        Ok(after) if stamp(&after) == stamp(&found) => {
            let at = after.ctime() * 1000 + after.ctime_nsec() / 1_000_000;
            Found::Held(Held { path: real, bytes, at })
        }
        Ok(_) | Err(_) => Found::Moving,
    }
}

/// What changes with every writing.
fn stamp(of: &Metadata) -> (u64, u64, i64, i64, u64) {
    (of.dev(), of.ino(), of.mtime(), of.mtime_nsec(), of.len())
}

fn told(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "it can't be read: permission denied".into(),
        ErrorKind::NotADirectory => "a part of its path is a file, not a folder".into(),
        _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            "it is a link that leads back to itself".into()
        }
        _ => format!("it can't be read: {error}"),
    }
}

/// Where something has to happen for the file to change: the path itself and, where that is a link,
/// what it leads to; while a folder is missing, the first part of the path that is.
pub(super) fn places(path: &Path) -> Vec<PathBuf> {
    let mut places = vec![nearest(path)];
    if let Ok(real) = std::fs::canonicalize(path)
        && !places.contains(&real)
    {
        places.push(real);
    }
    places
}

fn nearest(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.is_dir() && folder.parent().is_some() => nearest(folder),
        Some(_) | None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(path: &Path) -> String {
        match read(path) {
            Found::Trouble(why) => why,
            Found::Missing => "missing".into(),
            Found::Held(_) | Found::Moving => "fine".into(),
        }
    }

    #[test]
    fn what_is_no_file_is_named_for_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(at("loop"), at("loop")).expect("linked");
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).expect("linked");
        std::fs::write(at("file"), "x").expect("written");
        assert_eq!(trouble(folder.path()), "it is a folder now");
        assert_eq!(trouble(&at("loop")), "it is a link that leads back to itself");
        assert_eq!(trouble(&at("dangling")), "it is a link that leads nowhere");
        assert_eq!(trouble(&at("file/below")), "a part of its path is a file, not a folder");
        assert_eq!(trouble(&at("absent")), "missing");
        assert_eq!(trouble(&at("file")), "fine");
    }

    #[test]
    fn a_file_whose_folder_is_missing_is_waited_for_where_the_folder_will_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        assert_eq!(places(&root.join("a/b/c.md")), [root.join("a")]);
        std::fs::create_dir_all(root.join("a/b")).expect("made");
        assert_eq!(places(&root.join("a/b/c.md")), [root.join("a/b/c.md")]);
        std::fs::write(root.join("real"), "x").expect("written");
        std::os::unix::fs::symlink(root.join("real"), root.join("a/b/c.md")).expect("linked");
        assert_eq!(places(&root.join("a/b/c.md")), [root.join("a/b/c.md"), root.join("real")]);
    }
}
