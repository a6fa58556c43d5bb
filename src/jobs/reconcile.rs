//! What is true of a Job, found out from what lies in its folder and from what runs.
//!
//! ```text
//! exit record ─────────────────────────────► Ended
//! started, another boot ───────────────────► Uncertain(BootChanged)
//! started, its shim lives or answers ──────► Running
//! started, only its command lives ─────────► Orphaned
//! started, neither ────────────────────────► Uncertain(GoneWithoutRecord)
//! claimed, its shim lives ─────────────────► Starting
//! claimed, it does not ────────────────────► Uncertain(ShimLost)
//! not claimed ─────────────────────────────► Uncertain(NeverClaimed)
//! ```
//!
//! Number, start and boot make a process; a number alone is none. An end is never made up.

use super::client;
use super::folder::Folder;
use super::record::{ExitRecord, StartRecord};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;

/// What is true of a Job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Its shim is about to start its command.
    Starting,
    /// It runs.
    Running(StartRecord),
    /// It runs and its shim is gone: nobody takes what it prints, and how it ends will not be known.
    Orphaned(StartRecord),
    /// It ended, and that is recorded.
    Ended(ExitRecord),
    /// Nothing runs and no end is recorded.
    Uncertain {
        /// Why nothing is known.
        doubt: Doubt,
        /// What was recorded when it started, if it did.
        started: Option<StartRecord>,
    },
}

/// Why it is not known how a Job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// No shim ever took it: its command was not started.
    NeverClaimed,
    /// Its shim ended between taking it and recording that its command was started.
    ShimLost,
    /// Its command and its shim are gone, and left no record of the end.
    GoneWithoutRecord,
    /// The machine was started anew since.
    BootChanged,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NeverClaimed => "it was never started",
            Self::ShimLost => "its shim was lost while it started; the command may have run",
            Self::GoneWithoutRecord => "it is gone and left no record of how it ended",
            Self::BootChanged => "the machine was restarted while it ran",
        })
    }
}

/// Finds out what is true of a Job. Looks, and changes nothing.
pub fn reconcile(folder: &Folder) -> io::Result<Outcome> {
    if let Some(record) = folder.ended()? {
        return Ok(Outcome::Ended(record));
    }
    let found = match (folder.started()?, folder.claimed_by()?) {
        (Some(started), _) => of_started(folder, started),
        (None, Some(Some(shim))) if shim.is_running() => return Ok(Outcome::Starting),
        (None, Some(_)) => Outcome::Uncertain { doubt: Doubt::ShimLost, started: None },
        (None, None) => Outcome::Uncertain { doubt: Doubt::NeverClaimed, started: None },
    };
    match found {
        // It may have been recorded while we looked at its processes.
        Outcome::Uncertain { .. } | Outcome::Orphaned(_) => {
            if let Some(record) = folder.ended()? {
                return Ok(Outcome::Ended(record));
            }
            match (&found, folder.started()?) {
                (Outcome::Uncertain { started: None, .. }, Some(started)) => Ok(of_started(folder, started)),
                _ => Ok(found),
            }
        }
        Outcome::Starting | Outcome::Running(_) | Outcome::Ended(_) => Ok(found),
    }
}

fn of_started(folder: &Folder, started: StartRecord) -> Outcome {
    if !started.shim.is_of_this_boot() {
        return Outcome::Uncertain { doubt: Doubt::BootChanged, started: Some(started) };
    }
    if started.shim.is_running() || client::answers(folder, &started.job) {
        return Outcome::Running(started);
    }
    // A start in the same instant under the same number is no other process, unless it says so.
    if started.command.is_running() && !started.mark().is_anothers(started.command.pid) {
        return Outcome::Orphaned(started);
    }
    Outcome::Uncertain { doubt: Doubt::GoneWithoutRecord, started: Some(started) }
}

#[cfg(test)]
mod tests {
    use super::super::record::{End, StopState};
    use super::super::spec::{Command, Spec};
    use super::*;
    use crate::process::Identity;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            let place = Self(tempfile::tempdir().expect("a folder"));
            place.folder().define(&Spec::new(Command::Shell { line: "true".into() }, "/")).expect("defined");
            place
        }

        fn folder(&self) -> Folder {
            Folder::new(self.0.path())
        }

        fn started(&self, shim: &Identity, command: &Identity) -> StartRecord {
            let record = StartRecord {
                job: self.folder().job(),
                mark: "j.1".into(),
                shim: shim.clone(),
                command: command.clone(),
                session: command.pid,
                started_at: 1,
            };
            let (started, exit) = self.folder().reserve().expect("room");
            started.write(&record).expect("written");
            exit.release();
            record
        }

        fn outcome(&self) -> Outcome {
            reconcile(&self.folder()).expect("looked")
        }
    }

    fn us() -> Identity {
        Identity::of(rustix::process::getpid()).expect("we exist")
    }

    /// A process that had our number before us.
    fn before_us() -> Identity {
        Identity { start_time: us().start_time - 1, ..us() }
    }

    #[test]
    fn a_job_that_no_shim_took_was_never_started() {
        assert_eq!(Place::new().outcome(), Outcome::Uncertain { doubt: Doubt::NeverClaimed, started: None });
    }

    #[test]
    fn a_shim_that_is_gone_before_it_recorded_a_start_leaves_doubt() {
        let place = Place::new();
        place.folder().claim(&before_us()).expect("claimed");
        assert_eq!(place.outcome(), Outcome::Uncertain { doubt: Doubt::ShimLost, started: None });
        let place = Place::new();
        place.folder().claim(&us()).expect("claimed");
        assert_eq!(place.outcome(), Outcome::Starting);
    }

    #[test]
    fn a_number_that_another_process_has_now_is_neither_shim_nor_command() {
        let place = Place::new();
        let record = place.started(&before_us(), &before_us());
        let doubt = Doubt::GoneWithoutRecord;
        assert_eq!(place.outcome(), Outcome::Uncertain { doubt, started: Some(record) });
    }

    #[test]
    fn after_a_restart_of_the_machine_nothing_is_known() {
        let place = Place::new();
        let elsewhere = Identity { boot_id: "another".into(), ..us() };
        let record = place.started(&elsewhere, &elsewhere);
        assert_eq!(place.outcome(), Outcome::Uncertain { doubt: Doubt::BootChanged, started: Some(record) });
    }

    #[test]
    fn a_command_without_its_shim_still_runs() {
        let place = Place::new();
        let record = place.started(&before_us(), &us());
        assert_eq!(place.outcome(), Outcome::Orphaned(record));
        let place = Place::new();
        let record = place.started(&us(), &before_us());
        assert_eq!(place.outcome(), Outcome::Running(record));
    }

    #[test]
    fn a_recorded_end_counts_whatever_else_there_is() {
        let place = Place::new();
        place.started(&us(), &us());
        let record = ExitRecord {
            job: place.folder().job(),
            end: End::Exited { code: 7 },
            ended_at: 2,
            log_bytes: 3,
            lost_bytes: 0,
            stop: StopState::NotAsked,
            ended: Vec::new(),
            survivors: Vec::new(),
        };
        let (started, exit) = place.folder().reserve().expect("room");
        exit.write(&record).expect("written");
        started.release();
        assert_eq!(place.outcome(), Outcome::Ended(record));
        std::fs::write(place.folder().file("exit.json"), "{\"job\":").expect("spoilt");
        assert!(matches!(place.outcome(), Outcome::Running(_)), "half a record is none");
    }
}
