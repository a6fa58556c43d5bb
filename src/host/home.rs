//! The state folder: private to its owner, and known by one name however it was written.

use super::error::HostError;
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A state folder that exists, belongs to this user and is closed to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    path: PathBuf,
}

impl Home {
    /// Makes the folder if it is missing, and makes sure that only its owner can look into it.
    ///
    /// A folder that others can read and that holds other things is refused rather than closed:
    /// it was hardly meant.
    pub fn prepare(path: &Path) -> Result<Self, HostError> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(HostError::io("create", path))?;
        let path = fs::canonicalize(path).map_err(HostError::io("open", path))?;
        let meta = fs::metadata(&path).map_err(HostError::io("look at", &path))?;
        if meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(Self::unfit(&path, "it belongs to another user; choose another folder with --home"));
        }
        if meta.mode() & 0o077 != 0 {
            let empty = fs::read_dir(&path).map_err(HostError::io("read", &path))?.next().is_none();
            if !empty && !path.join("host.lock").exists() {
                let reason = "others can read it and it holds other things; choose a folder of its own with --home, \
                              or close it with chmod 700";
                return Err(Self::unfit(&path, reason));
            }
            fs::set_permissions(&path, Permissions::from_mode(0o700)).map_err(HostError::io("close", &path))?;
        }
        Ok(Self { path })
    }

    /// The folder, links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn unfit(path: &Path, reason: &str) -> HostError {
        HostError::Unfit { path: path.into(), reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("is there").mode() & 0o777
    }

    #[test]
    fn a_new_folder_is_private_and_an_empty_one_is_closed() {
        let scratch = tempfile::tempdir().expect("a folder");
        let new = Home::prepare(&scratch.path().join("a/b")).expect("made");
        assert_eq!(mode(new.path()), 0o700);
        let empty = scratch.path().join("empty");
        fs::create_dir(&empty).expect("made");
        fs::set_permissions(&empty, Permissions::from_mode(0o755)).expect("opened");
        Home::prepare(&empty).expect("taken");
        assert_eq!(mode(&empty), 0o700);
    }

    #[test]
    fn an_open_folder_with_other_things_in_it_is_left_alone() {
        let scratch = tempfile::tempdir().expect("a folder");
        fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).expect("opened");
        fs::write(scratch.path().join("letter.txt"), "mine").expect("written");
        let refused = Home::prepare(scratch.path()).expect_err("not a state folder");
        assert!(refused.to_string().contains("--home"), "{refused}");
        assert_eq!(mode(scratch.path()), 0o755);
    }

    #[test]
    fn a_link_and_the_folder_itself_are_one_home() {
        let scratch = tempfile::tempdir().expect("a folder");
        let real = scratch.path().join("real");
        let link = scratch.path().join("link");
        fs::create_dir(&real).expect("made");
        std::os::unix::fs::symlink(&real, &link).expect("linked");
        assert_eq!(Home::prepare(&real).expect("home"), Home::prepare(&link).expect("home"));
    }
}
