//! Walking through folders as a person who works there would: without what is ignored, without
//! git's own folder, never through links.
//!
//! Ignore files only hide names here; nothing of a folder runs or configures anything by it.

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

/// Walks below `root` in the order of names; `depth` 1 is the folder itself.
pub(super) fn walk(root: &Path, names: Names, depth: Option<usize>) -> impl Iterator<Item = DirEntry> {
    let ignoring = names == Names::Kept;
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
        .filter_entry(|entry| entry.file_name() != ".git")
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
