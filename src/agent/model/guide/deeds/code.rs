//! Headings of Markdown and definitions of code, by the look of their lines.

use super::super::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

/// A heading or definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// The line it stands in, from 1.
    pub(super) line: usize,
    /// How deep it is.
    pub(super) depth: usize,
    pub(super) text: String,
}

/// Finds the marks of a file; `None` if its kind has none that are known.
pub(super) fn marks(path: &str, lines: &[String]) -> Option<Vec<Mark>> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    let found = match end.as_str() {
        "md" | "markdown" | "mdx" => return Some(headings(lines)),
        "toml" | "ini" | "cfg" | "conf" => &*SECTIONS,
        "rs" => &*RUST,
        "py" | "pyi" => &*PYTHON,
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "tsx" => &*SCRIPT,
        "go" => &*GO,
        "c" | "h" | "cc" | "cpp" | "hpp" | "cxx" => &*C,
        "java" | "kt" | "cs" | "swift" | "scala" | "php" => &*CLASSES,
        "rb" | "ex" | "exs" | "lua" => &*SCRIPTED,
        "sh" | "bash" | "zsh" => &*SHELL,
        "sql" => &*SQL,
        _ => return None,
    };
    let marks = (1..).zip(lines).filter(|(_, line)| found.is_match(line));
    Some(
        marks
            .map(|(number, line)| {
                let text = line.trim().trim_end_matches(['{', ':', ' ']).trim_end();
                let text =
                    text.char_indices().nth(110).map_or(text.to_owned(), |(end, _)| format!("{}…", &text[..end]));
                Mark { line: number, depth: indent(line), text }
            })
            .collect(),
    )
}

/// How deep a line is set in, in steps of four columns.
fn indent(line: &str) -> usize {
    let columns: usize = line
        .chars()
        .map_while(|c| match c {
            ' ' => Some(1),
            '\t' => Some(4),
            _ => None,
        })
        .sum();
    columns / 4
}

fn headings(lines: &[String]) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in (1..).zip(lines) {
        let start = line.trim_start();
        if let Some(open) = ["```", "~~~"].into_iter().find(|open| start.starts_with(open)) {
            match fence {
                None => fence = Some(open),
                Some(closes) if closes == open => fence = None,
                Some(_) => {}
            }
            continue;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if fence.is_none() && (1..=6).contains(&level) && line[level..].starts_with(' ') {
            marks.push(Mark {
                line: number,
                depth: level - 1,
                text: line[level..].trim().trim_end_matches('#').trim().to_owned(),
            });
        }
    }
    marks
}

static RUST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^\s*(?:pub(?:\([a-z: ]+\))?\s+)?(?:default\s+)?(?:async\s+)?(?:const\s+)?(?:unsafe\s+)?
            (?:extern\s+"[^"]*"\s+)?(?:(?:fn|struct|enum|trait|union|mod|type|static|macro_rules!)\s+\w
            |(?:impl\b|macro_rules!)|const\s+[A-Z_]+\s*:)"#,
    )
});
static PYTHON: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:async\s+)?(?:def|class)\s+\w"));
static SCRIPT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?
            (?:function\b|class\s+\w|interface\s+\w|enum\s+\w|type\s+\w+\s*=|namespace\s+\w)
            |^(?:export\s+)?(?:const|let|var)\s+\w+\s*=\s*(?:async\s*)?(?:function\b|\(|\w+\s*=>)",
    )
});
static GO: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:func|type)\s"));
static C: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(?:(?:typedef\s+)?(?:struct|enum|union|class|namespace)\s+\w|#define\s+\w
            |[A-Za-z_][\w\s\*&:<>,~]*\([^;]*\)?\s*(?:const\s*)?\{?\s*$)",
    )
});
static CLASSES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:(?:public|private|protected|internal|static|final|abstract|open|sealed|data|override|suspend)\s+)*
            (?:class|interface|enum|record|object|trait|struct|protocol|extension|fun|func|function|def)\s+\w
            |^\s*(?:(?:public|private|protected|static|final)\s+)+[\w<>\[\], ]+\s+\w+\s*\(",
    )
});
static SCRIPTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:(?:local\s+)?function|def|defp|class|module|defmodule)\s+\w"));
static SHELL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*(?:function\s+[\w-]+|[\w-]+\s*\(\))"));
static SQL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?:unique\s+)?(?:virtual\s+)?
            (?:table|view|index|trigger|function|procedure|type)\b",
    )
});
static SECTIONS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*\[.+\]\s*$"));

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(usize, usize, String)> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        marks(path, &lines).expect("a known kind").into_iter().map(|mark| (mark.line, mark.depth, mark.text)).collect()
    }

    #[test]
    fn headings_within_a_fence_are_none() {
        let text = "# One\ntext\n```sh\n# no heading\n```\n## Two ##\n#no\n####### no\n";
        assert_eq!(found("a.md", text), [(1, 0, "One".into()), (6, 1, "Two".into())]);
    }

    #[test]
    fn definitions_are_found_in_common_languages() {
        let lines = |path, text| found(path, text).into_iter().map(|(line, _, _)| line).collect::<Vec<_>>();
        assert_eq!(
            lines(
                "a.rs",
                "use x;\npub struct A {\n    b: u8,\n}\nimpl A {\n    pub async fn f(&self) {\n        let fn_x = 1;\n"
            ),
            [2, 5, 6]
        );
        assert_eq!(lines("a.py", "import x\nclass A:\n    def f(self):\n        pass\nasync def g():\n"), [2, 3, 5]);
        assert_eq!(
            lines("a.ts", "export class A {\n  x = 1\n}\nexport const f = (a) => a\nfunction g() {\nconst n = 5\n"),
            [1, 4, 5]
        );
        assert_eq!(lines("a.go", "package a\nfunc F() {\ntype T struct {\n\tx int\n"), [2, 3]);
        assert_eq!(lines("a.toml", "[package]\nname = \"x\"\n[[bin]]\n"), [1, 3]);
        assert_eq!(lines("a.sql", "CREATE TABLE t (\n  x\n);\n-- create\n"), [1]);
        assert_eq!(marks("a.unknown", &[]), None);
    }
}
