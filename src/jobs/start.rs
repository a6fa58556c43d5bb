//! Starting a Job: its definition, its shim, and the shim's word that it is recorded.

use super::folder::Folder;
use super::reconcile::{Outcome, reconcile};
use super::shim::{FOLDER, READY, ROLE, TAKEN};
use super::spec::Spec;
use super::{MARK, random};
use crate::process::{self, start_apart};
use std::io::{self, Read};
use std::path::Path;

/// How much of a shim's last words is kept.
const LAST_WORDS: u64 = 4 * 1024;

/// Why it is not known whether a Job started. [`reconcile`] tells what is known.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its folder could not be written or read.
    #[error("the Job could not be recorded: {0}")]
    Folder(#[from] io::Error),
    /// Its shim could not be started.
    #[error("the Job's shim could not be started: {0}")]
    Process(#[from] process::StartError),
    /// Its shim ended before it had recorded anything.
    #[error("the Job's shim ended at once: {0}")]
    Shim(String),
}

/// Starts a Job, unless its folder says that it was started before: what it runs is started at most
/// once, however often this is called. `program` is this program; `/proc/self/exe` is right even
/// when its file has been replaced.
///
/// Returns when the start, or why it failed, is on disk. Blocks for as long as the system takes to
/// start two processes.
pub fn start(folder: &Folder, spec: &Spec, program: &Path) -> Result<Outcome, StartError> {
    let folder = &folder.clone().lasting(spec.lasting);
    let mut spec = spec.clone();
    spec.set.retain(|(name, value)| !process::looks_secret(name, value.as_ref()));
    folder.define(&spec)?;
    // The one that was written first holds.
    let spec = folder.spec()?.ok_or_else(|| io::Error::other("its definition can't be read"))?;
    let path = std::fs::canonicalize(folder.path())?;
    let shim = process::Spec::program(program, "/")
        .arg(ROLE)
        .arg(FOLDER)
        .arg(&path)
        .pass(spec.pass.iter().map(String::as_str))
        .set(MARK, format!("{}.{}", folder.job(), random()?));
    let (mut child, says) = start_apart(&shim)?;
    let mut words = String::new();
    let heard = says.take(LAST_WORDS).read_to_string(&mut words);
    // Only the one that stepped aside is waited for; the shim is nobody's child.
    child.wait()?;
    heard?;
    match words.trim() {
        READY | TAKEN => Ok(reconcile(folder)?),
        "" => Err(StartError::Shim("it said nothing".into())),
        words => Err(StartError::Shim(words.to_owned())),
    }
}

/// The definition of a Job that was started before, for starting it again under another id.
pub fn definition(folder: &Folder) -> io::Result<Option<Spec>> {
    folder.spec()
}

/// Takes away everything that is kept of a Job that has ended. One that may still run is refused.
pub fn remove(folder: &Folder) -> io::Result<()> {
    match reconcile(folder)? {
        Outcome::Ended(_) | Outcome::Uncertain { .. } => {
            if let Ok(address) = super::address::Address::of(folder.path()) {
                address.remove();
            }
            std::fs::remove_dir_all(folder.path())
        }
        Outcome::Starting | Outcome::Running(_) | Outcome::Orphaned(_) => {
            Err(io::Error::other("the Job still runs; stop it first"))
        }
    }
}
