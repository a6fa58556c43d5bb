//! Folders as the file system knows them, and whether they are trusted.

use crate::domain::ids::Millis;
use serde::{Deserialize, Serialize};

/// A folder as the file system knows it: the key of trust.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Folder {
    /// Its path with every link resolved.
    pub path: String,
    /// The device it is on.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
    /// The user id of its owner.
    pub owner: u32,
}

/// What the person said about a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trust {
    /// The folder.
    pub folder: Folder,
    /// Whether its configuration and instructions may be used.
    pub trusted: bool,
    /// When it was said.
    pub at: Millis,
}
