//! The folder of a Job, `jobs/<id>/`: which file is what, and who may say that it is taken.
//!
//! Every record in it is whole or not there: it is written beside its place, brought to disk, and
//! gets its name last. The room for the records is taken before the command is started, so that a disk
//! that fills up later cannot take the truth about its end. Where a Job says so ([`Lasting`]) the
//! system may bring them to disk when it likes.

use super::record::{ExitRecord, StartRecord};
use super::spec::{Lasting, Spec};
use crate::process::Identity;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How much room is taken for a record in advance.
const ROOM: u64 = 16 * 1024;

/// A Job's folder; its name is the Job's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
    lasting: Lasting,
}

impl Folder {
    /// Names the folder; it need not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), lasting: Lasting::default() }
    }

    /// Says what the records that are written from now on are to outlive.
    pub fn lasting(self, lasting: Lasting) -> Self {
        Self { lasting, ..self }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The Job's id.
    pub fn job(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Makes the folder and writes the definition, unless there is one already: a Job is defined
    /// once, however often it is asked for.
    pub fn define(&self, spec: &Spec) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        if self.file(SPEC).exists() {
            return Ok(());
        }
        let aside = self.file(&format!("{SPEC}.{}.new", super::random()?));
        let written = self.write_aside(&aside, spec);
        let named = written.and_then(|()| fs::hard_link(&aside, self.file(SPEC)));
        let _ = fs::remove_file(&aside);
        match named {
            // Somebody else was first.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other.and_then(|()| self.sync()),
        }
    }

    /// Brings to disk what was left to the system so far: the Job is to outlive a loss of power.
    pub fn secure(&self) -> io::Result<()> {
        for name in [SPEC, CLAIM, STARTED, EXIT] {
            match File::open(self.file(name)) {
                Ok(file) => file.sync_all()?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        File::open(&self.path)?.sync_all()
    }

    /// Reads the definition.
    pub fn spec(&self) -> io::Result<Option<Spec>> {
        self.read(SPEC)
    }

    /// Takes the Job for this process, for good: whoever comes second is told so. What it runs is
    /// thus started at most once.
    pub fn claim(&self, shim: &Identity) -> io::Result<Claim> {
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(self.file(CLAIM));
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(Claim::Taken),
            Err(error) => return Err(error),
        };
        let noted =
            file.write_all(&serde_json::to_vec(shim)?).and_then(|()| self.flush(&file)).and_then(|()| self.sync());
        // Nothing has been started yet, so the next one may try.
        noted.inspect_err(|_| self.unclaim())?;
        Ok(Claim::Ours)
    }

    /// Gives the Job back; only for the one who has it and has started nothing.
    pub(super) fn unclaim(&self) {
        let _ = fs::remove_file(self.file(CLAIM));
        let _ = fs::remove_file(self.file(&format!("{STARTED}.new")));
    }

    /// Reads who has taken the Job; `Some(None)` when that was cut short.
    pub fn claimed_by(&self) -> io::Result<Option<Option<Identity>>> {
        match fs::read(self.file(CLAIM)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes).ok())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads what was recorded when the command started.
    pub fn started(&self) -> io::Result<Option<StartRecord>> {
        self.read(STARTED)
    }

    /// Reads what was recorded when the Job ended.
    pub fn ended(&self) -> io::Result<Option<ExitRecord>> {
        self.read(EXIT)
    }

    /// Takes the room for both records.
    pub(super) fn reserve(&self) -> io::Result<(Reserved<StartRecord>, Reserved<ExitRecord>)> {
        Ok((Reserved::new(self, STARTED)?, Reserved::new(self, EXIT)?))
    }

    fn write_aside(&self, aside: &Path, record: &impl Serialize) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(aside)?;
        file.write_all(&serde_json::to_vec(record)?)?;
        self.flush(&file)
    }

    /// Reads a record; one that can't be understood is as good as none, since ours are whole.
    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        match fs::read(self.file(name)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Brings the names in the folder to disk.
    fn sync(&self) -> io::Result<()> {
        match self.lasting {
            Lasting::Machine => File::open(&self.path)?.sync_all(),
            Lasting::Processes => Ok(()),
        }
    }

    /// Brings a file in it to disk.
    fn flush(&self, file: &File) -> io::Result<()> {
        match self.lasting {
            Lasting::Machine => file.sync_all(),
            Lasting::Processes => Ok(()),
        }
    }
}

const SPEC: &str = "spec.json";
const CLAIM: &str = "claim";
const STARTED: &str = "started.json";
const EXIT: &str = "exit.json";

/// What came of taking a Job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// It is ours.
    Ours,
    /// Another process has it, or had it.
    Taken,
}

/// The room for a record that will be written.
#[must_use]
pub(super) struct Reserved<T> {
    folder: Folder,
    name: &'static str,
    file: File,
    _record: std::marker::PhantomData<T>,
}

impl<T: Serialize> Reserved<T> {
    fn new(folder: &Folder, name: &'static str) -> io::Result<Self> {
        let aside = folder.file(&format!("{name}.new"));
        let file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(aside)?;
        take_room(&file)?;
        folder.flush(&file)?;
        Ok(Self { folder: folder.clone(), name, file, _record: std::marker::PhantomData })
    }

    /// Writes the record into its room and gives it its name.
    pub(super) fn write(mut self, record: &T) -> io::Result<()> {
        let bytes = serde_json::to_vec(record)?;
        self.file.write_all(&bytes)?;
        self.file.set_len(bytes.len() as u64)?;
        self.folder.flush(&self.file)?;
        fs::rename(self.folder.file(&format!("{}.new", self.name)), self.folder.file(self.name))?;
        self.folder.sync()
    }

    /// Gives the room back.
    pub(super) fn release(self) {
        let _ = fs::remove_file(self.folder.file(&format!("{}.new", self.name)));
    }
}

#[cfg(target_os = "linux")]
fn take_room(file: &File) -> io::Result<()> {
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, ROOM) {
        Err(rustix::io::Errno::OPNOTSUPP) => fill_room(file),
        other => Ok(other?),
    }
}

#[cfg(not(target_os = "linux"))]
fn take_room(file: &File) -> io::Result<()> {
    fill_room(file)
}

fn fill_room(mut file: &File) -> io::Result<()> {
    file.write_all(&vec![b' '; ROOM as usize])?;
    io::Seek::rewind(&mut file)
}

#[cfg(test)]
mod tests {
    use super::super::spec::Command;
    use super::*;

    fn us() -> Identity {
        Identity::of(rustix::process::getpid()).expect("we exist")
    }

    #[test]
    fn a_job_is_defined_once_and_taken_once() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(scratch.path().join("jobs/j_1"));
        assert_eq!(folder.job(), "j_1");
        let first = Spec::new(Command::Shell { line: "true".into() }, "/");
        folder.define(&first).expect("defined");
        folder.define(&Spec::new(Command::Shell { line: "false".into() }, "/")).expect("left as it is");
        assert_eq!(folder.spec().expect("read"), Some(first));
        assert_eq!(folder.claimed_by().expect("read"), None);
        assert_eq!(folder.claim(&us()).expect("claimed"), Claim::Ours);
        assert_eq!(folder.claim(&us()).expect("refused"), Claim::Taken);
        assert_eq!(folder.claimed_by().expect("read"), Some(Some(us())));
    }

    #[test]
    fn a_record_is_not_there_before_it_is_whole() {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(scratch.path());
        let (started, exit) = folder.reserve().expect("room");
        assert_eq!(folder.started().expect("read"), None);
        let record =
            StartRecord { job: folder.job(), mark: "j.1".into(), shim: us(), command: us(), session: 1, started_at: 7 };
        started.write(&record).expect("written");
        assert_eq!(folder.started().expect("read"), Some(record));
        exit.release();
        assert_eq!(folder.ended().expect("read"), None);
        assert_eq!(fs::read_dir(scratch.path()).expect("read").count(), 1);
    }
}
