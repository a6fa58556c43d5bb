//! `glob`: files by a pattern of their names.

use super::paths::{self, Located};
use super::walk::{Names, walk};
use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, looking, output, plan};
use crate::domain::Effect;
use crate::domain::permission::Access;
use futures_util::future::BoxFuture;
use globset::{GlobBuilder, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::LazyLock;

/// The most files that are gathered; of those, what does not fit is kept to be read by reference.
const MOST: usize = 10_000;

/// Finds files by name.
pub(super) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Such as *.rs or src/**/*.{ts,tsx}
    pattern: String,
    /// Folder to look in
    path: Option<String>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Find files by name pattern; what .gitignore hides is left out.";
    arguments::spec::<Arguments>("glob", description, Effect::Pure)
});

impl Tool for Glob {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let Arguments { pattern, path } = arguments::typed(arguments, &SPEC)?;
            let matcher = compile(&pattern).map_err(|wrong| arguments::bad(&SPEC, &format!("`pattern`: {wrong}")))?;
            let located = paths::locate(ctx, path.as_deref().unwrap_or("."))?;
            let action = located.action(ctx, SPEC.name, Access::Read, String::new());
            Ok(plan(action, move |ctx| looking(ctx, move |ctx| glob(ctx, &located, &matcher, &pattern))))
        })
    }
}

/// A pattern without a slash matches in every folder.
fn compile(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Err("it is matched below `path`; give the folder there".into());
    }
    let anywhere = format!("**/{pattern}");
    let pattern = if pattern.contains('/') { pattern } else { &anywhere };
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.to_string())?;
    Ok(glob.compile_matcher())
}

fn glob(ctx: &ToolContext, located: &Located, matcher: &GlobMatcher, pattern: &str) -> Outcome {
    let shown = paths::shown(ctx, &located.path);
    if !located.path.is_dir() {
        return Outcome::error(format!("{shown} is not a folder"));
    }
    let (mut text, mut count) = (String::new(), 0);
    for entry in walk(ctx, &located.path, Names::Kept, None) {
        if ctx.cancel.is_cancelled() {
            return Outcome::cancelled("stopped before it was done");
        }
        let below = entry.path().strip_prefix(&located.path).unwrap_or(entry.path());
        if entry.file_type().is_some_and(|kind| kind.is_dir()) || !matcher.is_match(below) {
            continue;
        }
        if count == MOST {
            text.push_str(&format!("[more than {count} files; narrow the pattern or the path]\n"));
            break;
        }
        count += 1;
        text.push_str(&paths::shown(ctx, entry.path()));
        text.push('\n');
    }
    if text.is_empty() {
        text = format!("no file below {shown} matches {pattern}\n");
    }
    Outcome::done(output::bound(&text, ctx.limits.tool_output_bytes, ctx.blobs.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;
    use serde_json::json;

    #[tokio::test]
    async fn patterns_match_as_people_mean_them() {
        let bench = Bench::new();
        for name in ["a.rs", "src/b.rs", "src/deep/c.rs", "src/d.txt", "out/e.rs", ".hidden/f.rs"] {
            bench.put(name, "");
        }
        bench.put(".gitignore", "out/\n");
        let found = async |call| bench.done(&Glob, call).await;
        assert_eq!(found(json!({"pattern": "*.rs"})).await, ".hidden/f.rs\na.rs\nsrc/b.rs\nsrc/deep/c.rs\n");
        assert_eq!(found(json!({"pattern": "src/*.rs"})).await, "src/b.rs\n");
        assert_eq!(found(json!({"pattern": "./src/**/*.{rs,txt}"})).await, "src/b.rs\nsrc/d.txt\nsrc/deep/c.rs\n");
        assert_eq!(found(json!({"pattern": "*.rs", "path": "src/deep"})).await, "src/deep/c.rs\n");
        assert_eq!(found(json!({"pattern": "*.py"})).await, "no file below . matches *.py\n");
        assert!(bench.refused(&Glob, json!({"pattern": "/etc/*"})).await.contains("give the folder there"));
        assert!(bench.refused(&Glob, json!({"pattern": "a[b"})).await.contains("`pattern`:"));
    }
}
