//! Replacing the content of a file at once: after a crash there is the old content or the new one,
//! never a part.

use super::change::hash;
use crate::domain::permission::hex;
use rustix::fs::{Gid, Uid};
use sha2::{Digest, Sha256};
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Held while a file is replaced.
static TURN: Mutex<()> = Mutex::new(());

/// What is to be there right before the new content takes its place.
pub(crate) enum Expected<'a> {
    /// No file.
    Nothing,
    /// A file; the check says whether it still is the one that was looked at.
    File(&'a dyn Fn() -> io::Result<bool>),
    /// A file of exactly this hash; another one that came in the last moment is put aside, not lost.
    Held(&'a str),
}

/// Why nothing was replaced.
#[derive(Debug)]
pub(crate) enum NotReplaced {
    /// Something else is there than was expected.
    Overtaken,
    /// It was replaced, and what came in the last moment before lies in this file.
    Displaced(PathBuf),
    /// It can't be done; in words, with what to do.
    Failed(String),
}

/// Replaces what `path` holds, or creates it with the folders it needs. Mode and owner stay.
///
/// `path` must have its links followed already: a link is written through, not replaced. What is
/// there is looked at last of all, when only the renaming is left to do.
pub(crate) fn replace(path: &Path, content: &[u8], expected: Expected<'_>) -> Result<(), NotReplaced> {
    let outcome = attempt(path, content, expected).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::PermissionDenied => "; its folder can't be written to",
            io::ErrorKind::ReadOnlyFilesystem => "; it is on a read-only file system",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space and try again",
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => "; a file is where a folder is needed",
            _ => "",
        };
        NotReplaced::Failed(format!("{} could not be written: {error}{hint}. Nothing was changed", path.display()))
    })?;
    match outcome {
        Attempt::Replaced => Ok(()),
        Attempt::Overtaken => Err(NotReplaced::Overtaken),
        Attempt::Displaced(aside) => Err(NotReplaced::Displaced(aside)),
    }
}

/// The hash of a content, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hash(bytes)
}

/// What came of trying.
enum Attempt {
    Replaced,
    Overtaken,
    Displaced(PathBuf),
}

fn attempt(path: &Path, content: &[u8], expected: Expected<'_>) -> io::Result<Attempt> {
    let folder = path.parent().ok_or(io::ErrorKind::IsADirectory)?;
    create_folders(folder)?;
    let existing = match std::fs::metadata(path) {
        Ok(existing) => Some(existing),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // One at a time: two that write the same would share their temporary file.
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Named by what it is for, so that trying again after a crash takes away what the first try
    // left. In the same folder, since only there can it be renamed.
    let name = temporary_name(path, &hash(content));
    match std::fs::remove_file(folder.join(&name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    // A new file's mode is cut down by the user's umask, as it should be; what takes the place of
    // another stays closed until it has that one's mode.
    let mode = if existing.is_some() { 0o600 } else { 0o666 };
    let mut temporary = tempfile::Builder::new()
        .prefix(&name)
        .rand_bytes(0)
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(folder)?;
    temporary.write_all(content)?;
    if let Some(existing) = existing {
        copy_attributes(&File::open(path)?, temporary.as_file());
        let ours = temporary.as_file().metadata()?;
        if (existing.uid(), existing.gid()) != (ours.uid(), ours.gid()) {
            let (uid, gid) = (Uid::from_raw(existing.uid()), Gid::from_raw(existing.gid()));
            rustix::fs::fchown(temporary.as_file(), Some(uid), Some(gid)).map_err(|error| {
                io::Error::other(format!("it belongs to another user or group, which can't be kept ({error})"))
            })?;
        }
        // Last of all: writing and changing the owner take mode bits away.
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    temporary.as_file().sync_all()?;
    crate::crash::point("tools.before_rename");
    match expected {
        Expected::Nothing => match temporary.persist_noclobber(path) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(Attempt::Overtaken),
            Err(error) => return Err(error.error),
        },
        Expected::File(is_same) => {
            if !is_same()? {
                return Ok(Attempt::Overtaken);
            }
            temporary.persist(path).map_err(|error| error.error)?;
        }
        Expected::Held(wanted) => {
            if hash(&std::fs::read(path)?) != wanted {
                return Ok(Attempt::Overtaken);
            }
            if exchange(temporary.path(), path)? {
                crate::crash::point("tools.after_rename");
                sync_folder(folder)?;
                // The temporary file is what was there.
                if hash(&std::fs::read(temporary.path())?) == wanted {
                    return Ok(Attempt::Replaced);
                }
                let (_, aside) = temporary.keep().map_err(|error| error.error)?;
                return Ok(Attempt::Displaced(aside));
            }
            temporary.persist(path).map_err(|error| error.error)?;
        }
    }
    crate::crash::point("tools.after_rename");
    sync_folder(folder)?;
    Ok(Attempt::Replaced)
}

/// Puts each of two files in the place of the other at once; false where the file system can't.
fn exchange(one: &Path, other: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Takes away what a try that a crash cut off left beside `path`; `hash` is that of the new content.
pub(super) fn sweep(path: &Path, hash: &str) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Mostly there is nothing.
    let _ = std::fs::remove_file(path.with_file_name(temporary_name(path, hash)));
}

/// What a try to write this content to `path` left beside it when it was cut off: the new content, or
/// after the exchange the old one.
pub(crate) fn left_beside(path: &Path, content: &[u8]) -> Option<PathBuf> {
    let aside = path.with_file_name(temporary_name(path, &hash(content)));
    aside.is_file().then_some(aside)
}

/// The name is made of what is recorded of a call before it runs, so that it is found again.
fn temporary_name(path: &Path, hash: &str) -> String {
    let digest = Sha256::new().chain_update(path.as_os_str().as_bytes()).chain_update([0]).chain_update(hash);
    format!(".cowork-{}.tmp", &hex(&digest.finalize())[..16])
}

/// Takes over what else is attached to a file, such as access lists and labels, as far as the file
/// system and our rights allow: some can't be set by anyone but root, and none concerns content.
fn copy_attributes(from: &File, to: &File) {
    let mut names = vec![0; 64 << 10];
    let mut value = vec![0; 64 << 10];
    let length = rustix::fs::flistxattr(from, names.as_mut_slice()).unwrap_or(0);
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if let Ok(length) = rustix::fs::fgetxattr(from, name, value.as_mut_slice()) {
            let _ = rustix::fs::fsetxattr(to, name, &value[..length], rustix::fs::XattrFlags::empty());
        }
    }
}

/// Creates the folders that are missing and makes them last.
fn create_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        create_folders(parent)?;
        match std::fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
            made => made?,
        }
        sync_folder(parent)?;
    }
    Ok(())
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::super::change::{Probe, probe};
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(folder)
            .expect("read")
            .map(|entry| entry.expect("read").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Does something as a user who may not do everything, also where the tests run as root.
    fn as_nobody<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                if rustix::process::geteuid().is_root() {
                    // Holds for this thread alone.
                    let nobody = Uid::from_raw(65534);
                    rustix::thread::set_thread_res_uid(None, nobody, None).expect("root may");
                }
                work()
            });
            thread.join().expect("it ended")
        })
    }

    fn said(result: Result<(), NotReplaced>) -> Result<(), String> {
        result.map_err(|error| match error {
            NotReplaced::Failed(words) => words,
            NotReplaced::Overtaken => "overtaken".into(),
            NotReplaced::Displaced(aside) => format!("displaced to {}", aside.display()),
        })
    }

    fn create(path: &Path, content: &[u8]) -> Result<(), String> {
        said(replace(path, content, Expected::Nothing))
    }

    fn overwrite(path: &Path, content: &[u8]) -> Result<(), String> {
        said(replace(path, content, Expected::File(&|| Ok(true))))
    }

    #[test]
    fn a_new_file_gets_its_folders_and_an_old_one_keeps_its_mode() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/c.txt");
        create(&path, b"new").expect("written");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert_eq!(std::fs::metadata(&path).expect("there").mode() & 0o111, 0);
        std::fs::set_permissions(&path, Permissions::from_mode(0o4755)).expect("set");
        overwrite(&path, b"newer").expect("written");
        assert_eq!(std::fs::metadata(&path).expect("there").mode() & 0o7777, 0o4755);
        assert_eq!(names(path.parent().expect("a folder")), ["c.txt"]);
    }

    #[test]
    fn trying_again_takes_away_what_a_crash_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(folder.path().join(temporary_name(&path, &hash(b"new"))), "ne").expect("written");
        create(&path, b"new").expect("written");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_a_crash_left_of_a_change_that_is_not_tried_again_is_taken_away_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for name in [temporary_name(&path, &hash(b"new")), temporary_name(&path, &hash(b"other")), "file".into()] {
            std::fs::write(folder.path().join(name), "ne").expect("written");
        }
        let (before, after) = (hash(b"old"), hash(b"new"));
        assert_eq!(probe(Some(&path), Some(&before), Some(&after)), Probe::Unknown);
        assert_eq!(names(folder.path()), [temporary_name(&path, &hash(b"other")), "file".into()]);
    }

    #[test]
    fn attributes_are_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "old").expect("written");
        let set = rustix::fs::setxattr(&path, "user.note", b"mine", rustix::fs::XattrFlags::empty());
        if set.is_err() {
            println!("skipped: no attributes on this file system");
            return;
        }
        overwrite(&path, b"new").expect("written");
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&path, "user.note", value.as_mut_slice()).expect("kept");
        assert_eq!(&value[..length], b"mine");
    }

    #[test]
    fn what_came_in_between_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "theirs").expect("written");
        assert!(matches!(replace(&path, b"ours", Expected::Nothing), Err(NotReplaced::Overtaken)));
        assert!(matches!(replace(&path, b"ours", Expected::File(&|| Ok(false))), Err(NotReplaced::Overtaken)));
        assert_eq!(std::fs::read(&path).expect("read"), b"theirs");
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_changed_and_it_is_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("locked/file");
        std::fs::create_dir(folder.path().join("locked")).expect("made");
        std::fs::write(&path, "old").expect("written");
        for open in [folder.path(), &path] {
            std::fs::set_permissions(open, Permissions::from_mode(0o755)).expect("set");
        }
        std::fs::set_permissions(path.parent().expect("a folder"), Permissions::from_mode(0o555)).expect("set");
        let error = as_nobody(|| overwrite(&path, b"new")).expect_err("refused");
        assert!(error.contains("its folder can't be written to. Nothing was changed"), "{error}");
        assert_eq!(std::fs::read(&path).expect("read"), b"old");
        assert_eq!(names(path.parent().expect("a folder")), ["file"]);
        std::fs::set_permissions(path.parent().expect("a folder"), Permissions::from_mode(0o755)).expect("set");
        let error = create(&path.join("below"), b"x").expect_err("refused");
        assert!(error.contains("a file is where a folder is needed"), "{error}");
    }

    #[test]
    fn the_owner_is_kept_or_nothing_is_changed() {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can give a file to somebody else");
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "old").expect("written");
        std::os::unix::fs::chown(&path, Some(12), Some(34)).expect("root may");
        overwrite(&path, b"new").expect("written");
        let kept = std::fs::metadata(&path).expect("there");
        assert_eq!((kept.uid(), kept.gid()), (12, 34));
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("set");
        let error = as_nobody(|| overwrite(&path, b"newer")).expect_err("refused");
        assert!(error.contains("belongs to another user"), "{error}");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert_eq!(names(folder.path()), ["file"]);
    }
}
