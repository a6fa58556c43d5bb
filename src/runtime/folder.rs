//! A folder as the file system knows it.

use crate::domain::Folder;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Resolves every link and names the folder by path, device, inode and owner: a folder that was
/// swapped for another under the same path is another folder.
pub fn identify(path: &Path) -> std::io::Result<Folder> {
    let path = std::fs::canonicalize(path)?;
    let meta = std::fs::metadata(&path)?;
    if !meta.is_dir() {
        return Err(std::io::Error::new(
            std::io::ErrorKind::NotADirectory,
            format!("{} is not a folder", path.display()),
        ));
    }
    Ok(Folder { path: path.to_string_lossy().into_owned(), device: meta.dev(), inode: meta.ino(), owner: meta.uid() })
}
