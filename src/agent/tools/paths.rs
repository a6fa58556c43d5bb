//! Where a path leads: every link followed, and whether that is inside of what the Task may touch.

use super::{BadCall, ToolContext};
use crate::domain::permission::{Access, Action};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Places of a person's keys, under the home folder. They count as outside wherever the Task works.
const KEYS: [&str; 13] = [
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".config/gcloud",
    ".config/gh",
];

/// A path, and where it leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Located {
    /// The path with every link followed, also where nothing is there yet.
    pub(super) path: PathBuf,
    /// Whether that is inside the Task's folder or the working area of one of its agents.
    pub(super) inside: bool,
    /// Whether that is in the agent's own working area.
    own: bool,
    /// What is to be said of it when it is not.
    why: &'static str,
}

/// Finds where a path of a call leads. Relative paths start at the Task's folder.
pub(super) fn locate(ctx: &ToolContext, given: &str) -> Result<Located, BadCall> {
    if given.is_empty() {
        return Err(BadCall("the path is empty".into()));
    }
    let home = std::env::home_dir();
    let path = match (given.strip_prefix('~'), &home) {
        (Some(""), Some(home)) => home.clone(),
        (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        _ => ctx.cwd.join(given),
    };
    let path = resolve(&path)
        .map_err(|error| BadCall(format!("{} can't be followed: {error}", super::output::name(given))))?;
    Ok(judge(ctx, home.as_deref(), path))
}

/// Places that are not walked into from a folder above them: our own state, and where keys are
/// kept. Whoever names one of them is asked about it.
pub(super) fn private(ctx: &ToolContext) -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let keys = home.iter().flat_map(|home| KEYS.iter().map(|keys| home.join(keys)));
    let state = state_of(&ctx.own).map(Path::to_path_buf);
    state.into_iter().chain(keys).filter_map(|path| resolve(&path).ok()).collect()
}

fn judge(ctx: &ToolContext, home: Option<&Path>, path: PathBuf) -> Located {
    let under = |root: &Path| resolve(root).is_ok_and(|root| path.starts_with(root));
    let own = under(&ctx.own);
    // What the agents of a Task leave for each other lies side by side.
    let (inside, why) = if own || state_of(&ctx.own).and(ctx.own.parent()).is_some_and(under) {
        (true, "")
    } else if state_of(&ctx.own).is_some_and(under) {
        (false, "in Cowork's own state")
    } else if home.is_some_and(|home| KEYS.iter().any(|keys| under(&home.join(keys)))) {
        (false, "where keys are kept")
    } else if path.starts_with(&ctx.cwd) {
        (true, "")
    } else {
        (false, "outside the Task's folder")
    };
    Located { path, inside, own, why }
}

/// The state directory that an agent's working area, `tasks/<id>/agents/<id>`, lies in.
fn state_of(own: &Path) -> Option<&Path> {
    let agents = own.parent()?;
    let tasks = agents.parent()?.parent()?;
    (agents.file_name()? == "agents" && tasks.file_name()? == "tasks").then(|| tasks.parent())?
}

impl Located {
    /// The action of a call that reads or writes here.
    pub(super) fn action(&self, ctx: &ToolContext, tool: &str, access: Access, detail: String) -> Action {
        let path = self.path.to_string_lossy().into_owned();
        let beyond = if self.inside { String::new() } else { format!("it {access}s {path}, {}", self.why) };
        Action {
            tool: tool.to_owned(),
            access,
            subject: path.clone(),
            cwd: ctx.cwd.to_string_lossy().into_owned(),
            detail,
            inside: self.inside,
            own: self.own,
            beyond,
            rule_subject: path,
        }
    }

    /// Says so when the path has come to lead elsewhere since it was judged.
    pub(super) fn recheck(&self) -> Result<(), String> {
        match resolve(&self.path) {
            Ok(path) if path == self.path => Ok(()),
            Ok(path) => Err(format!("{} leads to {} now; nothing was done", self.path.display(), path.display())),
            Err(error) => Err(format!("{} can't be followed any more: {error}", self.path.display())),
        }
    }
}

/// The path as it is shown: relative to the Task's folder where it is inside.
pub(super) fn shown(ctx: &ToolContext, path: &Path) -> String {
    let path = match path.strip_prefix(&ctx.cwd) {
        Ok(inner) if inner.as_os_str().is_empty() => Path::new("."),
        Ok(inner) => inner,
        Err(_) => path,
    };
    super::output::name(&path.to_string_lossy()).into_owned()
}

/// Follows every link of an absolute path, also of one whose end does not exist yet.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: usize = 40;
    let parts =
        |path: &Path| path.components().rev().map(|part| part.as_os_str().to_owned()).collect::<Vec<OsString>>();
    let mut real = PathBuf::from("/");
    let mut todo = parts(path);
    let mut links = 0;
    while let Some(part) = todo.pop() {
        match Path::new(&part).components().next() {
            Some(Component::ParentDir) => {
                real.pop();
            }
            Some(Component::Normal(name)) => {
                let next = real.join(name);
                let is_link = match std::fs::symlink_metadata(&next) {
                    Ok(found) => found.is_symlink(),
                    // What is not there is no link; whoever opens it gets the error that fits.
                    Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                        false
                    }
                    Err(error) => return Err(error),
                };
                if !is_link {
                    real = next;
                    continue;
                }
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::other("too many links, perhaps in a circle"));
                }
                let target = std::fs::read_link(&next)?;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                todo.extend(parts(&target));
            }
            Some(Component::RootDir | Component::CurDir | Component::Prefix(_)) | None => {}
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;
    use std::os::unix::fs::symlink;

    #[test]
    fn inside_is_judged_where_the_links_lead() {
        let bench = Bench::new();
        let outside = tempfile::tempdir().expect("a folder");
        let elsewhere = outside.path().canonicalize().expect("there");
        symlink(&elsewhere, bench.cwd().join("out")).expect("linked");
        symlink("sub/../out/new", bench.cwd().join("deep")).expect("linked");
        symlink("circle", bench.cwd().join("circle")).expect("linked");
        std::fs::create_dir(bench.cwd().join("sub")).expect("made");
        let inside = |given: &str| locate(&bench.ctx, given).map(|found| found.inside);
        assert_eq!(inside("sub/new/file"), Ok(true));
        assert_eq!(inside("./sub/../x"), Ok(true));
        assert_eq!(inside("."), Ok(true));
        assert_eq!(inside(".."), Ok(false));
        assert_eq!(inside("sub/../../x"), Ok(false));
        assert_eq!(inside("/etc/passwd"), Ok(false));
        assert_eq!(inside("out"), Ok(false));
        assert_eq!(locate(&bench.ctx, "deep").expect("followed").path, elsewhere.join("new"));
        assert_eq!(inside("deep"), Ok(false));
        assert!(inside("circle").is_err() && inside("").is_err());
        assert_eq!(inside(bench.ctx.own.to_str().expect("text")), Ok(true));
    }

    #[test]
    fn keys_and_our_own_state_are_outside_even_of_a_home_folder() {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path().canonicalize().expect("there");
        let mut bench = Bench::new();
        bench.ctx.cwd = home.clone();
        bench.ctx.own = home.join(".local/state/cowork/tasks/t_1/agents/a_1");
        let judged = |path: &str| judge(&bench.ctx, Some(&home), home.join(path));
        assert!(judged("notes.txt").inside && judged("project/.env").inside);
        assert!(judged(".local/state/cowork/tasks/t_1/agents/a_1/draft").inside);
        for path in
            [".ssh/id_rsa", ".aws/credentials", ".local/state/cowork/cowork.db", ".local/state/cowork/tasks/t_2/x"]
        {
            let found = judged(path);
            assert!(!found.inside, "{path}");
            let action = found.action(&bench.ctx, "read", Access::Read, String::new());
            assert!(action.beyond.starts_with("it reads "), "{}", action.beyond);
        }
    }

    #[test]
    fn a_path_that_came_to_lead_elsewhere_is_noticed() {
        let bench = Bench::new();
        let found = locate(&bench.ctx, "sub/file").expect("followed");
        assert_eq!(found.recheck(), Ok(()));
        symlink("/etc", bench.cwd().join("sub")).expect("linked");
        assert!(found.recheck().expect_err("noticed").contains("leads to /etc/file now"));
    }
}
