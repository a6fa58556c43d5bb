//! `grep`: lines by a regular expression, with ripgrep's own libraries.

use super::paths::{self, Located};
use super::walk::{self, Names};
use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, looking, output, plan};
use crate::domain::Effect;
use crate::domain::permission::Access;
use futures_util::future::BoxFuture;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch};
use ignore::overrides::Override;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::io;
use std::path::Path;
use std::sync::LazyLock;

/// The most that is shown of one line, in bytes.
const MOST_LINE: usize = 400;

/// The most that is gathered, in bytes; what does not fit is kept to be read by reference.
const MOST: usize = 1_000_000;

/// The longest line that is searched, in bytes.
const MOST_HELD: usize = 64_000_000;

/// The most lines of context.
const MOST_CONTEXT: usize = 20;

/// Searches in files.
pub(super) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Regular expression (Rust syntax)
    pattern: String,
    /// File or folder
    path: Option<String>,
    /// Only files like *.rs; !*.rs for others
    glob: Option<String>,
    #[serde(default)]
    ignore_case: bool,
    /// Lines around each match
    context: Option<usize>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Search file contents. Shows NUMBER:LINE under each file's name.";
    arguments::spec::<Arguments>("grep", description, Effect::Pure)
});

impl Tool for Grep {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let Arguments { pattern, path, glob, ignore_case, context } = arguments::typed(arguments, &SPEC)?;
            let matcher = RegexMatcherBuilder::new()
                .case_insensitive(ignore_case)
                .line_terminator(Some(b'\n'))
                .build(&pattern)
                .map_err(|error| arguments::bad(&SPEC, &format!("`pattern`: {error}")))?;
            let located = paths::locate(ctx, path.as_deref().unwrap_or("."))?;
            let filter = walk::filter(&located.path, glob.as_deref().unwrap_or("**"))
                .map_err(|error| arguments::bad(&SPEC, &format!("`glob`: {error}")))?;
            let action = located.action(ctx, SPEC.name, Access::Read, String::new());
            let search = Search { located, matcher, filter, context: context.unwrap_or(0).min(MOST_CONTEXT), pattern };
            Ok(plan(action, move |ctx| looking(ctx, move |ctx| search.run(ctx))))
        })
    }
}

struct Search {
    located: Located,
    matcher: RegexMatcher,
    filter: Override,
    context: usize,
    pattern: String,
}

impl Search {
    fn run(&self, ctx: &ToolContext) -> Outcome {
        let root = &self.located.path;
        let shown = paths::shown(ctx, root);
        let found = match std::fs::metadata(root) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Outcome::error(format!("{shown} does not exist"));
            }
            Err(error) => return Outcome::error(format!("{shown} can't be searched: {error}")),
        };
        let mut searcher = SearcherBuilder::new()
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(MOST_HELD))
            .build();
        let mut hits = Hits::default();
        if found.is_file() {
            self.search(ctx, &mut searcher, root, &mut hits);
        } else {
            for entry in walk::walk(ctx, root, Names::Kept, None) {
                if ctx.cancel.is_cancelled() {
                    return Outcome::cancelled("stopped before it was done");
                }
                let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                if is_file && !self.filter.matched(entry.path(), false).is_ignore() {
                    self.search(ctx, &mut searcher, entry.path(), &mut hits);
                    if hits.full {
                        break;
                    }
                }
            }
        }
        let text = hits.told(&shown, &self.pattern);
        Outcome::done(output::bound(&text, ctx.limits.tool_output_bytes, ctx.blobs.as_ref()))
    }

    fn search(&self, ctx: &ToolContext, searcher: &mut Searcher, path: &Path, hits: &mut Hits) {
        hits.files += 1;
        hits.heading = Some(paths::shown(ctx, path));
        if let Err(error) = searcher.search_path(&self.matcher, path, &mut *hits) {
            hits.failed += 1;
            hits.failure.get_or_insert_with(|| format!("{}: {error}", paths::shown(ctx, path)));
        }
    }
}

/// What was found so far.
#[derive(Default)]
struct Hits {
    text: String,
    full: bool,
    matches: u64,
    files: u64,
    failed: u64,
    failure: Option<String>,
    /// The name of the file that is searched, until it was shown.
    heading: Option<String>,
}

impl Hits {
    /// Adds a line; stops everything when there is no room for more.
    fn add(&mut self, number: Option<u64>, mark: char, line: &[u8]) -> bool {
        if self.text.len() > MOST {
            self.full = true;
            return false;
        }
        if let Some(name) = self.heading.take() {
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            self.text.push_str(&name);
            self.text.push('\n');
        }
        let line = String::from_utf8_lossy(line);
        let line = output::short(line.trim_end_matches(['\n', '\r']), MOST_LINE);
        self.text.push_str(&format!("{}{mark}{line}\n", number.unwrap_or(0)));
        true
    }

    fn told(mut self, shown: &str, pattern: &str) -> String {
        if self.matches == 0 {
            let files = output::counted(self.files, "file");
            self.text = format!("nothing matches {pattern} in {shown} ({files} searched)\n");
        }
        if self.full {
            let matches = output::counted(self.matches, "match");
            self.text.push_str(&format!("[stopped after {matches}, there are more; narrow pattern, path or glob]\n"));
        }
        if let Some(failure) = self.failure {
            self.text.push_str(&format!(
                "[{} could not be searched, such as {failure}]\n",
                output::counted(self.failed, "file")
            ));
        }
        self.text
    }
}

impl Sink for &mut Hits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let added = self.add(found.line_number(), ':', found.bytes());
        self.matches += u64::from(added);
        Ok(added)
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        Ok(self.add(found.line_number(), '-', found.bytes()))
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if self.heading.is_none() {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    /// Nothing beyond a NUL is searched; where lines were shown before it, that is said.
    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        if self.heading.is_none() {
            self.text.push_str("[binary from here on, not searched]\n");
        }
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;
    use crate::domain::ToolCallState;
    use serde_json::json;

    fn bench() -> Bench {
        let bench = Bench::new();
        bench.put("a.rs", "one\ntwo\nthree\nfour\nfive\nTwo\n");
        bench.put("src/b.txt", "two\r\n");
        bench.put("src/c.bin", b"two\0\n");
        bench.put("out/d.rs", "two\n");
        bench.put(".gitignore", "out\n");
        bench
    }

    #[tokio::test]
    async fn matches_stand_under_their_file_with_their_line() {
        let bench = bench();
        let found = async |call| bench.done(&Grep, call).await;
        assert_eq!(found(json!({"pattern": "^two"})).await, "a.rs\n2:two\n\nsrc/b.txt\n1:two\n");
        assert_eq!(found(json!({"pattern": "two", "ignore_case": true, "path": "a.rs"})).await, "a.rs\n2:two\n6:Two\n");
        assert_eq!(found(json!({"pattern": "two", "glob": "*.txt"})).await, "src/b.txt\n1:two\n");
        assert_eq!(found(json!({"pattern": "two", "glob": "!*.txt"})).await, "a.rs\n2:two\n");
        let around = found(json!({"pattern": "o$|Two", "context": 1, "path": "a.rs"})).await;
        assert_eq!(around, "a.rs\n1-one\n2:two\n3-three\n--\n5-five\n6:Two\n");
        bench.put("late.log", [b"two\n", b"x\n".repeat(100_000).as_slice(), b"\0\0", b"two\n"].concat());
        let late = found(json!({"pattern": "two", "path": "late.log"})).await;
        assert_eq!(late, "late.log\n1:two\n[binary from here on, not searched]\n");
        std::fs::remove_file(bench.cwd().join("late.log")).expect("removed");
        let none = found(json!({"pattern": "(absent)"})).await;
        assert_eq!(none, "nothing matches (absent) in . (4 files searched)\n");
    }

    #[tokio::test]
    async fn what_is_too_much_is_cut_and_says_so() {
        let bench = Bench::new();
        bench.put("many", "a line that matches\n".repeat(50_000));
        bench.put("wide", format!("matches {}\n", "x".repeat(10_000)));
        let text = bench.done(&Grep, json!({"pattern": "matches"})).await;
        assert!(text.len() < bench.ctx.limits.tool_output_bytes + 300);
        assert!(text.ends_with("there are more; narrow pattern, path or glob]\n"), "{}", &text[text.len() - 200..]);
        assert!(text.contains(&format!("output:{}", bench.blobs.only())));
        let text = bench.done(&Grep, json!({"pattern": "matches", "path": "wide"})).await;
        assert!(text.len() < 500 && text.ends_with("x…\n"), "{text}");
    }

    #[tokio::test]
    async fn what_cannot_be_searched_says_why() {
        let bench = bench();
        assert!(bench.refused(&Grep, json!({"pattern": "a("})).await.contains("`pattern`: regex parse error"));
        let (state, text) = bench.call(&Grep, json!({"pattern": "a", "path": "none"})).await;
        assert_eq!((state, text.as_str()), (ToolCallState::Error, "none does not exist"));
    }
}
