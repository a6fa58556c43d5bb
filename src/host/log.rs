//! What a host writes down about itself: `host.log`, JSON lines, private, of bounded size.
//!
//! Never to a terminal: nobody watches a host. What people and models said is no part of it.

use super::error::HostError;
use super::home::Home;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;

/// At this size the file becomes `host.log.1`, and the one before it is gone.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Sends what the host says to its log from now on, panics too.
pub fn init(home: &Home) -> Result<(), HostError> {
    let path = home.path().join("host.log");
    let file = LogFile::open(path.clone(), LARGEST).map_err(HostError::io("open", &path))?;
    let subscriber = tracing_subscriber::fmt().json().with_writer(Mutex::new(file)).finish();
    // Only a second call can fail, and the first log then stays in use.
    let _ = tracing::subscriber::set_global_default(subscriber);
    let said_before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        tracing::error!(panic = %panic, "a part of the host failed");
        said_before(panic);
    }));
    Ok(())
}

struct LogFile {
    path: PathBuf,
    file: File,
    size: u64,
    largest: u64,
}

impl LogFile {
    fn open(path: PathBuf, largest: u64) -> io::Result<Self> {
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(&path)?;
        let size = file.metadata()?.len();
        Ok(Self { path, file, size, largest })
    }
}

impl Write for LogFile {
    /// Writes one line, which is how the subscriber calls it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.size > 0 && self.size + line.len() as u64 > self.largest {
            let mut old = self.path.clone().into_os_string();
            old.push(".1");
            std::fs::rename(&self.path, old)?;
            *self = Self::open(self.path.clone(), self.largest)?;
        }
        let written = self.file.write(line)?;
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_log_is_private_and_keeps_to_its_size() {
        let scratch = tempfile::tempdir().expect("a folder");
        let path = scratch.path().join("host.log");
        for _ in 0..2 {
            let mut log = LogFile::open(path.clone(), 100).expect("opened");
            for _ in 0..9 {
                log.write_all(b"a line of twenty b.\n").expect("written");
            }
        }
        let size = |path: &str| std::fs::metadata(scratch.path().join(path)).expect("is there").len();
        assert_eq!((size("host.log.1"), size("host.log")), (100, 60));
        let mode = std::fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
