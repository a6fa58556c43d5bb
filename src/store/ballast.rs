//! A few megabytes kept in reserve: when the disk is full they are freed, so that what is in
//! flight can still be recorded.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const SIZE: usize = 4 * 1024 * 1024;

/// The reserve of one state directory.
pub(super) struct Ballast {
    path: PathBuf,
}

impl Ballast {
    /// Lays the reserve if it is not there and the disk has room.
    pub fn lay(home: &Path) -> Self {
        let ballast = Self { path: home.join("ballast") };
        ballast.refill();
        ballast
    }

    /// Frees the reserve; says whether there was one.
    pub fn drop(&self) -> bool {
        std::fs::remove_file(&self.path).is_ok()
    }

    /// Lays the reserve again. On a disk that is still full it stays away: that is what it is for.
    pub fn refill(&self) {
        let there = std::fs::metadata(&self.path).is_ok_and(|meta| meta.len() == SIZE as u64);
        if !there && self.write().is_err() {
            let _ = std::fs::remove_file(&self.path);
        }
    }

    fn write(&self) -> std::io::Result<()> {
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&self.path)?;
        for _ in 0..SIZE / 65_536 {
            file.write_all(&[0x5a; 65_536])?;
        }
        file.sync_all()
    }
}
