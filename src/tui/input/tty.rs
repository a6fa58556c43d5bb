//! The terminal as a device: bytes as they come, its size, and the end of it.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tokio::net::unix::pipe::Receiver;

/// The terminal, opened anew: that it does not block is nobody else's business.
///
/// The runtime's receiver of pipes waits on any descriptor, and a terminal is read like a pipe.
pub struct Tty(Receiver);

impl Tty {
    /// Opens the terminal that the program was started on.
    pub fn open() -> io::Result<Self> {
        let named = name_of_stdin().and_then(|path| open(&path));
        let file = named.or_else(|_| open(Path::new("/dev/tty")))?;
        Ok(Self(Receiver::from_file_unchecked(file)?))
    }

    /// Waits for bytes. Nought bytes, or an error, means the terminal is gone.
    pub async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.0.readable().await?;
            match self.0.try_read(buffer) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
                read => return read,
            }
        }
    }

    /// Columns and rows; nought where the terminal does not know.
    pub fn size(&self) -> (u16, u16) {
        rustix::termios::tcgetwinsize(&self.0).map_or((0, 0), |size| (size.ws_col, size.ws_row))
    }
}

fn name_of_stdin() -> io::Result<PathBuf> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes())))
}

fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}
