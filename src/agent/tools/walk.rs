//! Walking through folders as a person who works there would: without what is ignored, without
//! git's own folder, never through links.
//!
//! Ignore files only hide names here; nothing of a folder runs or configures anything by it.

use super::{ToolContext, paths};
use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};
use std::path::Path;

/// Which names are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// All that are not ignored.
    Kept,
    /// Ignored ones too.
    All,
}

/// Walks below `root` in the order of names; `depth` 1 is the folder itself. What is private is
/// passed by unless `root` is there.
pub(super) fn walk(
    ctx: &ToolContext,
    root: &Path,
    names: Names,
    depth: Option<usize>,
) -> impl Iterator<Item = DirEntry> + use<> {
    let ignoring = names == Names::Kept;
    let private: Vec<_> = paths::private(ctx).into_iter().filter(|place| !root.starts_with(place)).collect();
    WalkBuilder::new(root)
        .hidden(false)
        .ignore(ignoring)
        .git_ignore(ignoring)
        .git_exclude(ignoring)
        .git_global(ignoring)
        .parents(ignoring)
        // An unpacked archive has its ignore file and no repository.
        .require_git(false)
        .follow_links(false)
        .max_depth(depth)
        .filter_entry(move |entry| entry.file_name() != ".git" && !private.iter().any(|place| place == entry.path()))
        .sort_by_file_name(Ord::cmp)
        .build()
        // What can't be read is left out, as a folder that may not be looked into.
        .filter_map(Result::ok)
        .filter(|entry| entry.depth() > 0)
}

/// A filter of names as people write it: `*.rs` anywhere, `src/**/*.rs` from the root, `!x` not x.
pub(super) fn filter(root: &Path, glob: &str) -> Result<ignore::overrides::Override, ignore::Error> {
    OverrideBuilder::new(root).add(glob)?.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;

    #[test]
    fn our_own_state_is_passed_by_unless_it_is_asked_for() {
        let mut bench = Bench::new();
        bench.ctx.cwd = bench.cwd().parent().expect("a folder").to_path_buf();
        bench.put("project/a", "");
        bench.put("state/cowork.db", "");
        let found = |root: &Path| -> Vec<String> {
            let entries = walk(&bench.ctx, root, Names::All, None);
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        };
        assert_eq!(found(bench.cwd()), ["project", "a"]);
        assert!(found(&bench.cwd().join("state")).contains(&"cowork.db".to_owned()));
    }
}
