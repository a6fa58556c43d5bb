//! Where the socket of a host is: in the state folder, or under a short name when that is too long.
//!
//! The place follows from the state folder alone, never from the login, so that every terminal of
//! a user finds the same host. It refuses a short name in a folder that somebody else made.

use super::error::HostError;
use super::home::Home;
use super::lock::HostLock;
use sha2::{Digest, Sha256};
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

/// The longest path used; a socket's address holds 108 bytes on Linux and 104 on macOS.
const LONGEST: usize = 100;

/// The path of a host's socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    home: Home,
    path: PathBuf,
    /// The folder of short names, where the path is one.
    shared: Option<PathBuf>,
}

impl Address {
    /// Derives the address of the host of `home`.
    pub fn of(home: &Home) -> Self {
        Self::under(Path::new("/tmp"), home)
    }

    fn under(root: &Path, home: &Home) -> Self {
        let path = home.path().join("host.sock");
        if path.as_os_str().len() <= LONGEST {
            return Self { home: home.clone(), path, shared: None };
        }
        let hash = Sha256::digest(home.path().as_os_str().as_bytes());
        let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let shared = root.join(format!("cowork-{}", rustix::process::geteuid().as_raw()));
        Self { home: home.clone(), path: shared.join(format!("{name}.sock")), shared: Some(shared) }
    }

    /// The state folder whose host is there.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The path itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Listens; what a host that died left behind is cleared away, which only the owner may do.
    pub fn bind(&self, _owned: &HostLock) -> Result<Listener, HostError> {
        if let Some(shared) = &self.shared {
            match DirBuilder::new().mode(0o700).create(shared) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(HostError::io("create", shared)(error));
                }
                Ok(()) | Err(_) => check_private(shared)?,
            }
        }
        match fs::symlink_metadata(&self.path) {
            Ok(meta) if meta.file_type().is_socket() => {
                fs::remove_file(&self.path).map_err(HostError::io("remove", &self.path))?;
            }
            Ok(_) => {
                let reason = "it is in the way of the host's socket and is none; move it away".into();
                return Err(HostError::Unfit { path: self.path.clone(), reason });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(HostError::io("look at", &self.path)(error)),
        }
        // Its folder is private, so the moment before the mode is set is nobody's chance.
        let listener = UnixListener::bind(&self.path).map_err(HostError::io("listen on", &self.path))?;
        let private = fs::set_permissions(&self.path, Permissions::from_mode(0o600));
        private.map_err(HostError::io("close", &self.path))?;
        let meta = fs::symlink_metadata(&self.path).map_err(HostError::io("look at", &self.path))?;
        Ok(Listener { listener, path: self.path.clone(), identity: (meta.dev(), meta.ino()) })
    }

    /// Connects to the host, if one listens there and it runs as this user or root.
    pub async fn dial(&self) -> Result<Option<UnixStream>, HostError> {
        if let Some(shared) = &self.shared
            && shared.symlink_metadata().is_ok()
        {
            check_private(shared)?;
        }
        match UnixStream::connect(&self.path).await {
            Ok(stream) if is_ours(&stream) => Ok(Some(stream)),
            Ok(_) => {
                let reason = "its socket belongs to a process of another user".into();
                Err(HostError::Unfit { path: self.path.clone(), reason })
            }
            Err(error) => match error.kind() {
                // The last one: more clients than the socket's queue holds, for a moment.
                io::ErrorKind::NotFound
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::WouldBlock => Ok(None),
                _ => Err(HostError::io("connect to", &self.path)(error)),
            },
        }
    }
}

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    identity: (u64, u64),
}

impl Listener {
    /// Takes the next connection of this user; others are dropped without a word.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if is_ours(&stream) {
                return Ok(stream);
            }
            tracing::warn!("a process of another user was turned away");
        }
    }
}

impl Drop for Listener {
    /// Removes the socket, unless another host has put its own there.
    fn drop(&mut self) {
        if let Ok(meta) = fs::symlink_metadata(&self.path)
            && (meta.dev(), meta.ino()) == self.identity
        {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the process at the other end is of this user, or root's.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| may_talk(peer.uid(), rustix::process::geteuid().as_raw()))
}

fn may_talk(peer: u32, own: u32) -> bool {
    peer == own || peer == 0
}

/// Makes sure that a folder is one, is ours, and is closed to others.
fn check_private(folder: &Path) -> Result<(), HostError> {
    let meta = fs::symlink_metadata(folder).map_err(HostError::io("look at", folder))?;
    if meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o077 == 0 {
        return Ok(());
    }
    let reason = "it should be a folder that only you can open; remove it, or choose a shorter --home".into();
    Err(HostError::Unfit { path: folder.into(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        scratch: tempfile::TempDir,
        lock: HostLock,
    }

    impl Place {
        fn new(folder: &str) -> Self {
            let scratch = tempfile::tempdir().expect("a folder");
            let home = Home::prepare(&scratch.path().join(folder)).expect("a home");
            Self { scratch, lock: HostLock::acquire(&home).expect("free") }
        }

        fn address(&self) -> Address {
            Address::under(&self.scratch.path().join("short"), self.lock.home())
        }
    }

    #[tokio::test]
    async fn the_socket_is_private_and_leaves_with_its_listener() {
        let place = Place::new("home");
        let address = place.address();
        assert_eq!(address.path(), place.lock.home().path().join("host.sock"));
        assert!(address.dial().await.expect("nothing wrong").is_none(), "nobody listens yet");
        let listener = address.bind(&place.lock).expect("listens");
        let mode = fs::metadata(address.path()).expect("is there").mode();
        assert_eq!(mode & 0o777, 0o600);
        let (accepted, dialled) = tokio::join!(listener.accept(), address.dial());
        accepted.expect("taken");
        assert!(dialled.expect("nothing wrong").is_some());
        drop(listener);
        assert!(!address.path().exists());
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_gets_a_short_name_in_a_private_folder() {
        let place = Place::new(&"a-folder-with-a-long-name/".repeat(8));
        let address = place.address();
        fs::create_dir(place.scratch.path().join("short")).expect("made");
        assert!(address.path().as_os_str().len() <= LONGEST, "{}", address.path().display());
        assert_eq!(address, place.address(), "the same home has the same address");
        assert!(address.dial().await.expect("nothing wrong").is_none());
        let listener = address.bind(&place.lock).expect("listens");
        let folder = address.path().parent().expect("a folder");
        assert_eq!(fs::metadata(folder).expect("is there").mode() & 0o777, 0o700);
        let (accepted, dialled) = tokio::join!(listener.accept(), address.dial());
        accepted.expect("taken");
        assert!(dialled.expect("nothing wrong").is_some());
    }

    #[tokio::test]
    async fn a_folder_of_short_names_that_others_can_enter_or_that_is_a_link_is_refused() {
        let place = Place::new(&"a-folder-with-a-long-name/".repeat(8));
        let address = place.address();
        let folder = address.path().parent().expect("a folder").to_owned();
        fs::create_dir_all(&folder).expect("made");
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("opened");
        assert!(matches!(address.bind(&place.lock), Err(HostError::Unfit { .. })));
        assert!(matches!(address.dial().await, Err(HostError::Unfit { .. })));
        fs::remove_dir(&folder).expect("removed");
        let elsewhere = tempfile::tempdir().expect("a folder");
        std::os::unix::fs::symlink(elsewhere.path(), &folder).expect("linked");
        assert!(matches!(address.bind(&place.lock), Err(HostError::Unfit { .. })));
    }

    #[tokio::test]
    async fn what_a_dead_host_left_behind_is_cleared_and_anything_else_is_not() {
        let place = Place::new("home");
        let address = place.address();
        drop(std::os::unix::net::UnixListener::bind(address.path()).expect("left behind"));
        assert!(address.dial().await.expect("nothing wrong").is_none(), "nobody listens there");
        drop(address.bind(&place.lock).expect("listens"));
        fs::write(address.path(), "a letter").expect("written");
        assert!(matches!(address.bind(&place.lock), Err(HostError::Unfit { .. })));
        assert_eq!(fs::read_to_string(address.path()).expect("still there"), "a letter");
    }

    #[tokio::test]
    async fn a_listener_does_not_remove_the_socket_of_its_successor() {
        let place = Place::new("home");
        let address = place.address();
        let first = address.bind(&place.lock).expect("listens");
        let second = address.bind(&place.lock).expect("listens");
        drop(first);
        assert!(address.path().exists());
        drop(second);
        assert!(!address.path().exists());
    }

    #[test]
    fn only_the_same_user_and_root_may_talk() {
        assert!(may_talk(1000, 1000));
        assert!(may_talk(0, 1000));
        assert!(!may_talk(1001, 1000));
        assert!(!may_talk(1000, 0));
    }
}
