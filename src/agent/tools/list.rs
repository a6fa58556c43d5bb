//! `list`: what is in a folder.

use super::paths::{self, Located};
use super::walk::{Names, walk};
use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, looking, output, plan};
use crate::domain::Effect;
use crate::domain::permission::Access;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The most entries that are gathered; of those, what does not fit is kept to be read by reference.
const MOST: usize = 10_000;

/// Lists a folder.
pub(super) struct List;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Folder (default: the Task's)
    path: Option<String>,
    /// Levels to show (default 1)
    depth: Option<usize>,
    /// Also what .gitignore hides
    #[serde(default)]
    all: bool,
}

static SPEC: LazyLock<ToolSpec> =
    LazyLock::new(|| arguments::spec::<Arguments>("list", "List a folder: names, sizes in bytes.", Effect::Pure));

impl Tool for List {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let Arguments { path, depth, all } = arguments::typed(arguments, &SPEC)?;
            let located = paths::locate(ctx, path.as_deref().unwrap_or("."))?;
            let action = located.action(ctx, SPEC.name, Access::Read, String::new());
            let names = if all { Names::All } else { Names::Kept };
            let depth = depth.unwrap_or(1).max(1);
            Ok(plan(action, move |ctx| looking(ctx, move |ctx| list(ctx, &located, names, depth))))
        })
    }
}

fn list(ctx: &ToolContext, located: &Located, names: Names, depth: usize) -> Outcome {
    let shown = paths::shown(ctx, &located.path);
    if let Err(error) = std::fs::read_dir(&located.path) {
        return Outcome::error(match error.kind() {
            std::io::ErrorKind::NotADirectory => format!("{shown} is a file; use read"),
            std::io::ErrorKind::NotFound => format!("{shown} does not exist"),
            _ => format!("{shown} can't be listed: {error}"),
        });
    }
    let (mut text, mut count, mut more) = (String::new(), 0, false);
    for entry in walk(ctx, &located.path, names, Some(depth)) {
        if ctx.cancel.is_cancelled() {
            return Outcome::cancelled("stopped before it was done");
        }
        if count == MOST {
            more = true;
            break;
        }
        count += 1;
        let path = entry.path().strip_prefix(&located.path).unwrap_or(entry.path());
        text.push_str(&output::name(&path.to_string_lossy()));
        match entry.file_type() {
            Some(kind) if kind.is_dir() => text.push('/'),
            Some(kind) if kind.is_symlink() => {
                let target = std::fs::read_link(entry.path()).unwrap_or_default();
                text.push_str(&format!(" -> {}", output::name(&target.to_string_lossy())));
            }
            Some(_) | None => text.push_str(&format!(" {}", entry.metadata().map_or(0, |found| found.len()))),
        }
        text.push('\n');
    }
    let hidden = match names {
        Names::Kept if depth == 1 && !more => hidden(located, count),
        Names::Kept | Names::All => 0,
    };
    if text.is_empty() {
        text = format!("{shown} is empty\n");
    }
    if hidden > 0 {
        text.push_str(&format!("[{hidden} ignored, not shown; all shows them]\n"));
    }
    if more {
        text.push_str(&format!("[more than {count} entries; list a folder below, or use glob]\n"));
    }
    Outcome::done(output::bound(&text, ctx.limits.tool_output_bytes, ctx.blobs.as_ref()))
}

/// How many entries of the folder itself were left out because they are ignored.
fn hidden(located: &Located, shown: usize) -> usize {
    let all = std::fs::read_dir(&located.path)
        .map_or(0, |entries| entries.filter_map(Result::ok).filter(|entry| entry.file_name() != ".git").count());
    all.saturating_sub(shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;
    use crate::domain::ToolCallState;
    use serde_json::json;

    #[tokio::test]
    async fn a_folder_is_listed_without_what_is_ignored_and_that_is_said() {
        let bench = Bench::new();
        bench.put("src/main.rs", "fn main() {}\n");
        bench.put("target/big", "x");
        bench.put(".git/config", "x");
        bench.put(".gitignore", "target\n");
        std::os::unix::fs::symlink("src/main.rs", bench.cwd().join("link")).expect("linked");
        let text = bench.done(&List, json!({})).await;
        assert_eq!(text, ".gitignore 7\nlink -> src/main.rs\nsrc/\n[1 ignored, not shown; all shows them]\n");
        let text = bench.done(&List, json!({"depth": 2, "all": true})).await;
        assert_eq!(text, ".gitignore 7\nlink -> src/main.rs\nsrc/\nsrc/main.rs 13\ntarget/\ntarget/big 1\n");
        assert_eq!(bench.done(&List, json!({"path": "src"})).await, "main.rs 13\n");
    }

    #[tokio::test]
    async fn a_name_that_drives_terminals_is_quoted() {
        let bench = Bench::new();
        bench.put("a\x1b[2J\nb", "x");
        bench.put("c\u{202e}d", "x");
        let text = bench.done(&List, json!({})).await;
        assert_eq!(text, "\"a\\u001b[2J\\u000ab\" 1\n\"c\\u202ed\" 1\n");
    }

    #[tokio::test]
    async fn what_is_no_folder_says_what_to_use() {
        let bench = Bench::new();
        bench.put("f", "x");
        for (path, said) in [("f", "f is a file; use read"), ("none", "none does not exist")] {
            assert_eq!(bench.call(&List, json!({"path": path})).await, (ToolCallState::Error, said.to_owned()));
        }
    }

    #[tokio::test]
    async fn a_large_folder_is_bounded_and_the_rest_is_kept() {
        let bench = Bench::new();
        for n in 0..MOST + 5 {
            bench.put(&format!("f{n:05}"), "");
        }
        let text = bench.done(&List, json!({})).await;
        assert!(text.len() < bench.ctx.limits.tool_output_bytes + 300);
        assert!(text.starts_with("f00000 0\n"), "{}", &text[..100]);
        assert!(text.ends_with("[more than 10000 entries; list a folder below, or use glob]\n"));
        let kept = format!("output:{}", bench.blobs.only());
        assert!(text.contains(&kept), "{kept}");
    }
}
