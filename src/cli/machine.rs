//! What `doctor` looks at outside the store: the state folder, the disk, the machine's habits, the
//! configuration. Looking changes nothing; mending closes what stands open to others.

use super::app::App;
use super::config::ConfigError;
use super::fault::Fault;
use crate::domain::Finding;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Below this the store can't promise to take anything more.
const FULL: u64 = 32 * 1024 * 1024;

/// Below this it is time to make room.
const TIGHT: u64 = 512 * 1024 * 1024;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// What is wrong.
    pub faults: Vec<Finding>,
    /// What deserves a look.
    pub warnings: Vec<Finding>,
}

impl Found {
    fn fault(&mut self, code: &str, id: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) {
        self.faults.push(finding(code, id, detail, hint));
    }
    fn warn(&mut self, code: &str, id: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) {
        self.warnings.push(finding(code, id, detail, hint));
    }
}

/// Something found on the machine.
pub fn finding(code: &str, id: impl Into<String>, detail: impl Into<String>, hint: impl Into<String>) -> Finding {
    Finding { code: code.into(), entity: "machine".into(), id: id.into(), detail: detail.into(), hint: hint.into() }
}

/// Looks at everything.
pub fn look(app: &App) -> Found {
    let mut found = Found::default();
    configuration(app, &mut found);
    private(&app.paths.home, &mut found);
    room(&app.paths.home, &mut found);
    logout(&mut found);
    found
}

fn configuration(app: &App, found: &mut Found) {
    match app.configured() {
        Ok(configured) => {
            for warning in configured.warnings {
                found.warn("M02", "configuration", warning, "");
            }
        }
        Err(ConfigError::Mistakes(mistakes)) => {
            for mistake in mistakes {
                let place = format!("{}:{}:{}", mistake.path.display(), mistake.line, mistake.column);
                found.fault("M01", place, mistake.message, mistake.allowed);
            }
        }
        Err(error) => {
            let fault = Fault::from(error);
            found.fault("M01", "configuration", fault.message, fault.hint);
        }
    }
}

/// The state folder and what lies directly in it must be closed to others.
fn private(home: &Path, found: &mut Found) {
    let Ok(folder) = home.metadata() else { return };
    let me = rustix::process::geteuid().as_raw();
    if folder.uid() != me {
        found.fault("M03", shown(home), "it belongs to another user", "choose another folder with --home");
        return;
    }
    for path in std::iter::once(home.to_owned()).chain(entries(home)) {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if !meta.is_symlink() && meta.mode() & 0o077 != 0 {
            let detail = format!("others can use it (mode {:04o})", meta.mode() & 0o7777);
            found.fault("M03", shown(&path), detail, "`cowork doctor --repair` closes it");
        }
    }
}

fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten();
    found.flatten().map(|entry| entry.path()).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn room(home: &Path, found: &mut Found) {
    let mut place = home;
    while !place.exists() {
        let Some(parent) = place.parent() else { return };
        place = parent;
    }
    let Ok(disk) = rustix::fs::statvfs(place) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let detail = format!("{} MiB are free on its disk", free / 1024 / 1024);
    let hint = "make room, or move the state to another disk with --home";
    if free < FULL {
        found.fault("M04", shown(home), detail, hint);
    } else if free < TIGHT {
        found.warn("M04", shown(home), detail, hint);
    }
}

/// Where the system ends a user's processes at logout, the host and everything it runs go too.
fn logout(found: &mut Found) {
    let mut texts = vec![std::fs::read_to_string("/etc/systemd/logind.conf").unwrap_or_default()];
    for folder in ["/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"] {
        let mut files = entries(Path::new(folder));
        files.sort();
        texts.extend(files.iter().filter_map(|path| std::fs::read_to_string(path).ok()));
    }
    let user = std::env::var("USER").unwrap_or_default();
    let lingers = !user.is_empty() && Path::new("/var/lib/systemd/linger").join(&user).exists();
    if kills_at_logout(&texts, &user) && !lingers {
        found.warn(
            "M05",
            "logind",
            "this machine ends all your processes when you log out (KillUserProcesses=yes), the host too",
            format!("`loginctl enable-linger {user}` keeps them"),
        );
    }
}

fn kills_at_logout(texts: &[String], user: &str) -> bool {
    let (mut kills, mut excluded) = (false, user == "root");
    for line in texts.iter().flat_map(|text| text.lines()).map(str::trim) {
        if let Some(value) = line.strip_prefix("KillUserProcesses=") {
            kills = matches!(value.trim().to_ascii_lowercase().as_str(), "yes" | "true" | "on" | "1");
        }
        if let Some(users) = line.strip_prefix("KillExcludeUsers=") {
            excluded = users.split_whitespace().any(|name| name == user);
        }
    }
    kills && !excluded
}

/// Closes what stands open to others; says what was done.
pub fn mend(home: &Path) -> Result<Vec<String>, Fault> {
    let mut done = Vec::new();
    let me = rustix::process::geteuid().as_raw();
    if !home.metadata().is_ok_and(|folder| folder.uid() == me) {
        return Ok(done);
    }
    for path in std::iter::once(home.to_owned()).chain(entries(home)) {
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_symlink() || meta.mode() & 0o077 == 0 || meta.uid() != me {
            continue;
        }
        let mode = meta.mode() & 0o700;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))
            .map_err(|error| Fault::io("close", &path, &error))?;
        done.push(format!("closed {} to others", path.display()));
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_can_use_is_found_and_closed() {
        let dir = tempfile::tempdir().expect("a directory");
        let home = dir.path().join("home");
        std::fs::create_dir(&home).expect("made");
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(0o750)).expect("opened");
        std::fs::write(home.join("cowork.db"), "x").expect("written");
        std::fs::set_permissions(home.join("cowork.db"), std::fs::Permissions::from_mode(0o644)).expect("opened");
        let mut found = Found::default();
        private(&home, &mut found);
        assert_eq!(found.faults.len(), 2, "{found:?}");
        assert_eq!(mend(&home).expect("mended").len(), 2);
        let mut found = Found::default();
        private(&home, &mut found);
        assert!(found.faults.is_empty());
        assert!(mend(&home).expect("nothing left").is_empty());
    }

    #[test]
    fn a_machine_that_ends_processes_at_logout_is_told_from_one_that_does_not() {
        let texts = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert!(kills_at_logout(&texts(&["[Login]\nKillUserProcesses=yes\n"]), "ann"));
        assert!(!kills_at_logout(&texts(&["#KillUserProcesses=yes"]), "ann"));
        assert!(!kills_at_logout(&texts(&["KillUserProcesses=yes", "KillUserProcesses=no"]), "ann"));
        assert!(!kills_at_logout(&texts(&["KillUserProcesses=yes\nKillExcludeUsers=root ann"]), "ann"));
        assert!(!kills_at_logout(&texts(&["KillUserProcesses=yes"]), "root"));
    }
}
