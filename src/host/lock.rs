//! The lock that makes a process the one host of a state folder.
//!
//! A lock lives as long as its process and no longer, so it is the only sign of life that is
//! trusted. The number in the file is for people to read and never for programs to believe; the
//! file is never removed, since a removed lock file can be held twice.

use super::error::HostError;
use super::home::Home;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Ownership of a state folder; given up when dropped, or when the process ends in any way.
#[derive(Debug)]
pub struct HostLock {
    file: File,
    home: Home,
}

impl Drop for HostLock {
    /// Unlocks rather than closes: a process that is just being started holds our descriptors for
    /// the moment before it runs its program, and would hold the lock for as long.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

impl HostLock {
    /// Takes the lock, or says at once that another host has it.
    pub fn acquire(home: &Home) -> Result<Self, HostError> {
        let path = path(home);
        let mut file = open(&path).map_err(HostError::io("open", &path))?;
        if let Some(kind) = network_kind(&file).map_err(HostError::io("look at", &path))? {
            return Err(unfit(home, &format!("it lies on a network file system ({kind})")));
        }
        match take(&file) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(HostError::Busy { home: home.path().into() }),
            Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => {
                return Err(unfit(home, "its file system has no locks"));
            }
            Err(error) => return Err(HostError::io("lock", &path)(error.into())),
        }
        // A file system can accept locks and not keep them: a second one must be refused.
        let second = open(&path).map_err(HostError::io("open", &path))?;
        if take(&second) != Err(Errno::WOULDBLOCK) {
            return Err(unfit(home, "its file system does not keep locks"));
        }
        let noted = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        noted.map_err(HostError::io("write", &path))?;
        Ok(Self { file, home: home.clone() })
    }

    /// The folder that is owned.
    pub fn home(&self) -> &Home {
        &self.home
    }
}

/// The process that wrote its number last, for a message to a person.
pub fn noted_pid(home: &Home) -> Option<u32> {
    std::fs::read_to_string(path(home)).ok()?.trim().parse().ok()
}

fn path(home: &Home) -> PathBuf {
    home.path().join("host.lock")
}

fn open(path: &Path) -> io::Result<File> {
    // The standard library closes its files on exec: no child ever holds the lock.
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

fn take(file: &File) -> Result<(), Errno> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
}

fn unfit(home: &Home, what: &str) -> HostError {
    let reason = format!("{what}; choose a folder on a local disk with --home or COWORK_HOME");
    HostError::Unfit { path: home.path().into(), reason }
}

/// Names the network file system that a file lies on, if it does.
#[cfg(target_os = "linux")]
fn network_kind(file: &File) -> io::Result<Option<String>> {
    use std::os::unix::fs::MetadataExt;
    // The kernel's word is wider than the magic numbers, and signed on some machines.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let magic = rustix::fs::fstatfs(file)?.f_type as u32;
    if magic != FUSE {
        return Ok(network_magic(magic).map(str::to_owned));
    }
    // FUSE serves local disks too; which program is behind it stands in the table of mounts.
    let device = file.metadata()?.dev();
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Ok(network_fuse(&mounts, &device))
}

#[cfg(not(target_os = "linux"))]
fn network_kind(_file: &File) -> io::Result<Option<String>> {
    Ok(None)
}

#[cfg(target_os = "linux")]
const FUSE: u32 = 0x6573_5546;

#[cfg(target_os = "linux")]
fn network_magic(magic: u32) -> Option<&'static str> {
    match magic {
        0x0000_6969 => Some("NFS"),
        0x0000_517b | 0xff53_4d42 | 0xfe53_4d42 => Some("SMB"),
        0x0102_1997 => Some("9p"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x00c3_6400 => Some("Ceph"),
        0x0bd0_0bd0 => Some("Lustre"),
        _ => None,
    }
}

#[cfg(target_os = "linux")]
fn network_fuse(mounts: &str, device: &str) -> Option<String> {
    const REMOTE: [&str; 8] = ["sshfs", "rclone", "s3fs", "gcsfuse", "davfs", "curlftpfs", "glusterfs", "juicefs"];
    let line = mounts.lines().find(|line| line.split(' ').nth(2) == Some(device))?;
    let mut after_dash = line.split_once(" - ")?.1.split(' ');
    let (kind, source) = (after_dash.next()?, after_dash.next()?);
    let program = kind.strip_prefix("fuse.").unwrap_or(source);
    REMOTE.into_iter().find(|remote| program.starts_with(remote)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead;
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    fn home() -> (tempfile::TempDir, Home) {
        let scratch = tempfile::tempdir().expect("a folder");
        let home = Home::prepare(scratch.path()).expect("a home");
        (scratch, home)
    }

    #[test]
    fn only_one_holds_the_lock_and_the_next_gets_it_when_the_first_lets_go() {
        let (_scratch, home) = home();
        let first = HostLock::acquire(&home).expect("free");
        assert!(matches!(HostLock::acquire(&home), Err(HostError::Busy { .. })));
        assert_eq!(noted_pid(&home), Some(std::process::id()));
        drop(first);
        HostLock::acquire(&home).expect("free again");
        let mode = std::fs::metadata(path(&home)).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    /// Not a test of its own: the other process of the next one.
    #[test]
    #[ignore = "holds a lock for another test until it is killed"]
    fn holds_the_lock_until_killed() {
        let home = std::env::args().next_back().expect("a folder");
        let _lock = HostLock::acquire(&Home::prepare(Path::new(&home)).expect("a home")).expect("free");
        println!("\nheld");
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).expect("waits for ever");
    }

    #[test]
    fn a_lock_of_another_process_is_busy_and_ends_with_that_process_however_it_ends() {
        let (_scratch, home) = home();
        let mut other = Command::new(std::env::current_exe().expect("ourselves"))
            .args(["host::lock::tests::holds_the_lock_until_killed", "--exact", "--ignored", "--nocapture"])
            .arg(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("started");
        let lines = io::BufReader::new(other.stdout.take().expect("piped")).lines();
        assert!(lines.map_while(Result::ok).any(|line| line == "held"));
        assert!(matches!(HostLock::acquire(&home), Err(HostError::Busy { .. })));
        other.kill().expect("killed");
        other.wait().expect("gone");
        HostLock::acquire(&home).expect("free: the kernel let go");
    }

    #[test]
    fn no_child_inherits_the_lock() {
        let (_scratch, home) = home();
        let lock = HostLock::acquire(&home).expect("free");
        let flags = rustix::io::fcntl_getfd(&lock.file).expect("its flags");
        assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        assert_eq!(network_magic(0x6969), Some("NFS"));
        assert_eq!(network_magic(0xff53_4d42), Some("SMB"));
        assert_eq!(network_magic(0x0102_1997), Some("9p"));
        assert_eq!(network_magic(0xef53), None, "ext4");
        let mounts = "36 25 0:42 / /home/u/far rw,nosuid - fuse.sshfs u@far:/ rw,user_id=0\n\
                      37 25 0:43 / /home/u/vault rw - fuse.gocryptfs /crypt rw\n\
                      38 25 0:44 / /mnt/win rw - fuseblk /dev/sda1 rw\n";
        assert_eq!(network_fuse(mounts, "0:42").as_deref(), Some("sshfs"));
        assert_eq!(network_fuse(mounts, "0:43"), None);
        assert_eq!(network_fuse(mounts, "0:44"), None);
    }
}
