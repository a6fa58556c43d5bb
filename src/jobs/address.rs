//! Where the socket of a Job's shim is: in the Job's folder, or under a short name when that is too
//! long for one. The place follows from the folder alone, so that every client finds it.

use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The longest path used; a socket's address holds 108 bytes on Linux and 104 on macOS.
const LONGEST: usize = 100;

/// The place of a socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    path: PathBuf,
    /// The folder of short names, where the path is one.
    shared: Option<PathBuf>,
}

impl Address {
    /// Derives the address from a Job's folder.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        Ok(Self::under(Path::new("/tmp"), &fs::canonicalize(folder)?))
    }

    fn under(root: &Path, folder: &Path) -> Self {
        let path = folder.join("sock");
        if path.as_os_str().len() <= LONGEST {
            return Self { path, shared: None };
        }
        let hash = Sha256::digest(folder.as_os_str().as_bytes());
        let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let shared = root.join(format!("cowork-{}", rustix::process::geteuid().as_raw()));
        Self { path: shared.join(format!("{name}.sock")), shared: Some(shared) }
    }

    /// Listens there; only the one who has claimed the Job may.
    pub(super) fn bind(&self) -> io::Result<UnixListener> {
        if let Some(shared) = &self.shared {
            match DirBuilder::new().mode(0o700).create(shared) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => check_private(shared)?,
            }
        }
        match fs::symlink_metadata(&self.path) {
            Ok(meta) if meta.file_type().is_socket() => fs::remove_file(&self.path)?,
            Ok(_) => return Err(io::Error::other(format!("{} is in the way of a socket", self.path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // Its folder is private, so the moment before the mode is set is nobody's chance.
        let listener = UnixListener::bind(&self.path)?;
        fs::set_permissions(&self.path, Permissions::from_mode(0o600))?;
        Ok(listener)
    }

    /// Connects; `None` where nobody listens.
    pub(super) fn dial(&self) -> io::Result<Option<UnixStream>> {
        if let Some(shared) = &self.shared
            && shared.symlink_metadata().is_ok()
        {
            check_private(shared)?;
        }
        match UnixStream::connect(&self.path) {
            Ok(stream) if is_ours(&stream) => Ok(Some(stream)),
            Ok(_) => Err(io::Error::other(format!("{} belongs to a process of another user", self.path.display()))),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
                _ => Err(error),
            },
        }
    }

    /// Takes the socket away.
    pub(super) fn remove(&self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process at the other end is of this user, or root's.
#[cfg(target_os = "linux")]
pub(super) fn is_ours(stream: &UnixStream) -> bool {
    let own = rustix::process::geteuid();
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid == own || peer.uid.is_root())
}

/// Where the system does not tell, the socket's mode and its folder's keep others out.
#[cfg(not(target_os = "linux"))]
pub(super) fn is_ours(_stream: &UnixStream) -> bool {
    true
}

/// Makes sure that a folder is one, is ours, and is closed to others.
fn check_private(folder: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(folder)?;
    if meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0 {
        return Ok(());
    }
    let what = format!("{} should be a folder that only you can open; remove it", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_private_and_who_listens_is_found() {
        let scratch = tempfile::tempdir().expect("a folder");
        let address = Address::of(scratch.path()).expect("an address");
        assert!(address.dial().expect("nothing wrong").is_none());
        let listener = address.bind().expect("listens");
        assert_eq!(fs::metadata(&address.path).expect("there").mode() & 0o777, 0o600);
        assert!(is_ours(&address.dial().expect("reached").expect("somebody listens")));
        drop(listener);
        assert!(address.dial().expect("nothing wrong").is_none(), "what is left over is nobody");
        drop(address.bind().expect("a successor may"));
        address.remove();
        assert!(!address.path.exists());
    }

    #[test]
    fn a_long_path_gets_a_short_name_in_a_folder_that_is_closed_to_others() {
        let scratch = tempfile::tempdir().expect("a folder");
        let address = Address::under(scratch.path(), &scratch.path().join("a-long-name/".repeat(20)));
        assert!(address.path.as_os_str().len() <= LONGEST);
        let shared = address.shared.clone().expect("shared");
        drop(address.bind().expect("listens"));
        assert_eq!(fs::metadata(&shared).expect("there").mode() & 0o777, 0o700);
        fs::set_permissions(&shared, Permissions::from_mode(0o755)).expect("opened");
        assert!(address.bind().is_err());
        assert!(address.dial().is_err());
    }
}
