//! Bulk bytes that rows point to: plain files named by their SHA-256.
//!
//! A blob is written to a temporary file, synced, renamed, and its folder synced, before any row
//! names it. Nothing here is ever overwritten: the name is the content.

use crate::domain::permission::hex;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The folder that holds the blobs.
#[derive(Debug)]
pub struct BlobDir {
    root: PathBuf,
}

impl BlobDir {
    /// Opens the folder, creating it when it is not there.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(root)?;
        Ok(Self { root: root.to_owned() })
    }

    /// Where a blob lies; `None` for what is no name of a blob.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let valid = name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit());
        valid.then(|| self.root.join(&name[..2]).join(name))
    }

    /// The names of all blobs.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for folder in fs::read_dir(&self.root)? {
            let folder = folder?.path();
            if folder.is_dir() {
                for file in fs::read_dir(folder)? {
                    names.push(file?.file_name().to_string_lossy().into_owned());
                }
            }
        }
        Ok(names)
    }

    /// Keeps bytes, on disk when this returns, and gives their name.
    pub fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let name = hex(&Sha256::digest(bytes));
        let path = self.path(&name).ok_or_else(|| io::Error::other("BUG: a hash is no name"))?;
        if path.exists() {
            return Ok(name);
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let temporary = folder.join(format!(".{name}.{}", std::process::id()));
        let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)?;
        File::open(folder)?.sync_all()?;
        File::open(&self.root)?.sync_all()?;
        Ok(name)
    }

    /// Keeps everything that can be read from `source`, without holding it in memory.
    pub fn put_from(&self, source: &mut dyn Read) -> io::Result<String> {
        let mut temporary = tempfile::NamedTempFile::new_in(&self.root)?;
        let mut digest = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            match source.read(&mut buffer)? {
                0 => break,
                count => {
                    digest.update(&buffer[..count]);
                    temporary.write_all(&buffer[..count])?;
                }
            }
        }
        let name = hex(&digest.finalize());
        let path = self.path(&name).ok_or_else(|| io::Error::other("BUG: a hash is no name"))?;
        if path.exists() {
            return Ok(name);
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        temporary.as_file().sync_all()?;
        temporary.persist(&path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()?;
        File::open(&self.root)?.sync_all()?;
        Ok(name)
    }

    /// Reads up to `limit` bytes from `offset`; the size of the whole comes with them.
    pub fn get(&self, name: &str, offset: u64, limit: usize) -> io::Result<(u64, Vec<u8>)> {
        let path = self.path(name).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "not the name of a blob"))?;
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(offset.min(size)))?;
        let mut bytes = Vec::new();
        file.take(limit as u64).read_to_end(&mut bytes)?;
        Ok((size, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_is_read_back_by_range_and_kept_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = BlobDir::open(dir.path()).expect("opens");
        let name = blobs.put(b"hello world").expect("kept");
        assert_eq!(name, blobs.put(b"hello world").expect("kept"));
        assert_eq!(blobs.get(&name, 6, 3).expect("read"), (11, b"wor".to_vec()));
        assert_eq!(blobs.get(&name, 99, 3).expect("read"), (11, Vec::new()));
        assert_eq!(blobs.names().expect("listed"), [name]);
    }

    #[test]
    fn what_is_read_from_a_source_is_kept_under_the_same_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = BlobDir::open(dir.path()).expect("opens");
        let bytes: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        let name = blobs.put_from(&mut bytes.as_slice()).expect("kept");
        assert_eq!(blobs.get(&name, 0, usize::MAX).expect("read").1, bytes);
        assert_eq!(blobs.put(&bytes).expect("kept"), name);
        assert_eq!(blobs.put_from(&mut bytes.as_slice()).expect("kept"), name);
        assert_eq!(blobs.names().expect("listed"), [name], "nothing is left behind");
    }

    #[test]
    fn a_name_that_is_no_hash_reads_nothing() {
        let dir = tempfile::tempdir().expect("a folder");
        let blobs = BlobDir::open(dir.path()).expect("opens");
        assert!(blobs.get("../../etc/passwd", 0, 10).is_err());
    }
}
