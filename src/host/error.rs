//! What can go wrong around a host: finding its place, owning it, starting it, running it.

use super::client::Failure;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no host, or no way to it.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Another host owns the state folder.
    #[error("another host already works in {}", .home.display())]
    Busy { home: PathBuf },
    /// The state folder can't be used as one.
    #[error("{} can't hold Cowork's state: {reason}", .path.display())]
    Unfit { path: PathBuf, reason: String },
    /// A file or socket refused what was done to it.
    #[error("can't {verb} {}: {source}", .path.display())]
    Io { verb: &'static str, path: PathBuf, source: io::Error },
    /// The process must not go on: another host took over, or the disk failed.
    #[error("the host had to end: {0}")]
    Fatal(String),
    /// The host that was started ended before it listened; these were its last words.
    #[error("the host did not start: {0}")]
    DidNotStart(String),
    /// Somebody holds the lock and does not answer.
    #[error("a host works in {} but can't be reached{}; end it with `kill {}` (nothing is lost), then try again", .home.display(), .what, .pid.map_or("PID".to_owned(), |pid| pid.to_string()))]
    NoAnswer { home: PathBuf, what: &'static str, pid: Option<u32> },
    /// The host was reached and does not take this client.
    #[error(transparent)]
    Client(#[from] Failure),
}

impl HostError {
    /// Wraps an error with what was done, and to what.
    pub fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { verb, path, source }
    }

    /// The exit code of a host that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            // The other host serves; there is nothing left to do.
            Self::Busy { .. } => 0,
            // EX_TEMPFAIL: the next one may go on where this one had to end.
            Self::Fatal(_) => 75,
            Self::Unfit { .. } | Self::Io { .. } | Self::DidNotStart(_) | Self::NoAnswer { .. } | Self::Client(_) => 1,
        }
    }
}
