//! A disk so small that it can be filled.

use super::home::Home;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system of its own at the state directory of a home, for as long as this lives.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts it; says aloud where that can't be done.
    pub fn mount(home: &Home, options: &str) -> Option<Self> {
        Self::mount_at(home.state(), options)
    }

    /// Mounts it at a place.
    pub fn mount_at(place: PathBuf, options: &str) -> Option<Self> {
        std::fs::create_dir_all(&place).expect("a folder");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&place).status();
        if !mounted.is_ok_and(|status| status.success()) {
            eprintln!("SKIPPED: a small disk (tmpfs) can't be mounted here; it takes root");
            return None;
        }
        Some(Self(place))
    }

    /// Mounts it again with other options.
    pub fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(&self.0).status().expect("mount runs");
        assert!(done.success(), "remounted");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Writes until the disk is full.
pub fn fill(path: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(path).expect("a file");
    for size in [1 << 20, 1 << 12, 1] {
        let block = vec![0; size];
        while file.write_all(&block).is_ok() {}
    }
}
