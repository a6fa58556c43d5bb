//! The items of source code, found by a few patterns per language and by indentation.
//!
//! This is no parser: it reads code as a person skims it. An item begins at a line that looks like
//! its first, with the comments and attributes right above it, and ends before the next line that
//! is indented as little. What formatters produce is found; what hides in strings may mislead it,
//! so every operation tells which lines it touched.

use super::outline::Section;
use super::syntax::Language;
use crate::resources::lines;
use regex::Regex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, Mutex};

/// Patterns with the kind of item they find; the first that matches a line holds.
fn patterns(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::Rust => &[
            (
                "function",
                r#"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:(?:const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*fn\s+(?P<name>\w+)"#,
            ),
            ("type", r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:struct|enum|union|trait|type)\s+(?P<name>\w+)"),
            ("module", r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(?P<name>\w+)\s*\{"),
            ("macro", r"^\s*macro_rules!\s*(?P<name>\w+)"),
            ("impl", r"^\s*(?:unsafe\s+)?impl\b(?:<[^{]*?>)?\s*(?P<name>[^{]*[^{\s])\s*(?:\{.*)?$"),
            ("constant", r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?(?P<name>[A-Z_][A-Z0-9_]*)\s*:"),
        ],
        Language::Python => {
            &[("function", r"^\s*(?:async\s+)?def\s+(?P<name>\w+)"), ("class", r"^\s*class\s+(?P<name>\w+)")]
        }
        Language::JavaScript => &[
            ("function", r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(?P<name>[\w$]+)"),
            ("class", r"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+(?P<name>[\w$]+)"),
            ("type", r"^\s*(?:export\s+)?(?:declare\s+)?(?:interface|enum|namespace|type)\s+(?P<name>[\w$]+)"),
            (
                "function",
                r"^\s*(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)",
            ),
            (
                "method",
                r"^\s+(?:(?:public|private|protected|static|async|get|set|override|readonly)\s+)*(?P<name>[A-Za-z_$#][\w$]*)\s*\([^;]*\)\s*(?::[^{;]+)?\{\s*$",
            ),
        ],
        Language::Go => &[("function", r"^func\s+(?:\([^)]*\)\s*)?(?P<name>\w+)"), ("type", r"^type\s+(?P<name>\w+)")],
        Language::C => &[
            (
                "type",
                r"^\s*(?:typedef\s+)?(?:template\s*<[^>]*>\s*)?(?:struct|class|enum(?:\s+class)?|union|namespace)\s+(?P<name>[\w:]+)[^;()]*$",
            ),
            ("macro", r"^#define\s+(?P<name>\w+)"),
            ("function", r"^(?:[A-Za-z_][\w:<>,\s]*[\s*&]+)(?P<name>[A-Za-z_~][\w:~]*)\s*\([^;]*$"),
        ],
        Language::Java => &[
            (
                "class",
                r"^\s*(?:@\w+\s+)*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|data|partial|case)\s+)*(?:class|interface|enum|record|object|trait|struct|namespace)\s+(?P<name>[\w.]+)",
            ),
            (
                "function",
                r"^\s*(?:(?:public|private|protected|internal|override|open|suspend|inline)\s+)*(?:fun|def)\s+(?:<[^>]*>\s*)?(?P<name>[\w.]+)",
            ),
            (
                "method",
                r"^\s+(?:(?:public|private|protected|internal|static|final|abstract|synchronized|override|virtual|async|native)\s+)+(?:<[^>]*>\s*)?(?:[\w<>\[\],.?]+\s+)?(?P<name>\w+)\s*\([^;]*$",
            ),
        ],
        Language::Swift => &[
            (
                "function",
                r"^\s*(?:(?:public|private|internal|fileprivate|open|static|class|override|mutating|final|@\w+)\s+)*func\s+(?P<name>\w+)",
            ),
            (
                "type",
                r"^\s*(?:(?:public|private|internal|fileprivate|open|final)\s+)*(?:class|struct|enum|protocol|extension|actor)\s+(?P<name>[\w.]+)",
            ),
        ],
        Language::Ruby => {
            &[("function", r"^\s*def\s+(?P<name>[\w.?!=]+)"), ("class", r"^\s*(?:class|module)\s+(?P<name>[\w:]+)")]
        }
        Language::Php => &[
            ("function", r"^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?(?P<name>\w+)"),
            ("class", r"^\s*(?:(?:final|abstract|readonly)\s+)*(?:class|interface|trait|enum)\s+(?P<name>\w+)"),
        ],
        Language::Shell => {
            &[("function", r"^\s*function\s+(?P<name>[\w:-]+)"), ("function", r"^\s*(?P<name>[\w:-]+)\s*\(\)")]
        }
        Language::Lua => &[("function", r"^\s*(?:local\s+)?function\s+(?P<name>[\w.:]+)")],
        Language::Sql => &[(
            "object",
            r"(?i)^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+)*(?:table|view|index|trigger|function|procedure)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.]+)",
        )],
        Language::Sections => &[("section", r"^\s*\[+\s*(?P<name>[^\[\]]+?)\s*\]+")],
    }
}

type Compiled = &'static [(&'static str, Regex)];

/// The compiled patterns of a language; compiled once.
fn compiled(language: Language) -> Compiled {
    static ALL: LazyLock<Mutex<HashMap<Language, Compiled>>> = LazyLock::new(Mutex::default);
    let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.entry(language).or_insert_with(|| {
        let compile = |(kind, pattern): &(&'static str, &str)| Regex::new(pattern).ok().map(|regex| (*kind, regex));
        Box::leak(patterns(language).iter().filter_map(compile).collect())
    })
}

/// Words that look like a call or a method but begin a statement.
const STATEMENTS: &[&str] =
    &["if", "for", "while", "switch", "catch", "return", "else", "do", "sizeof", "new", "function"];

/// Finds the items of source code.
pub fn sections(text: &str, language: Language) -> Vec<Section> {
    let patterns = compiled(language);
    let all = lines::lines(text);
    let mut found: Vec<Section> = Vec::new();
    let mut open: Vec<(usize, String, Range<usize>)> = Vec::new();
    for (number, line) in all.iter().enumerate() {
        let body = lines::body(line);
        let Some((kind, name)) = item(patterns, body) else { continue };
        let indent = indent(body);
        let head = number - above(&all[..number], language)..number + 1;
        let end = match language {
            Language::Sections => end_of_table(&all, number, patterns),
            _ => end_of_item(&all, number, indent, language),
        };
        open.retain(|(outer, _, lines)| *outer < indent && lines.end > number);
        let path = open.iter().map(|(_, name, _)| name.clone()).chain([name.clone()]).collect::<Vec<_>>();
        open.push((indent, name, head.start..end));
        let lines = head.start..end;
        found.push(Section { level: path.len(), path, kind, own: head.end..end, head, lines });
    }
    // An item's own lines end where its first inner item begins.
    for number in 0..found.len() {
        if let Some(next) =
            found.get(number + 1).map(|next| next.lines.start).filter(|start| *start < found[number].lines.end)
        {
            found[number].own.end = next.max(found[number].own.start);
        }
    }
    found
}

fn item(patterns: Compiled, line: &str) -> Option<(&'static str, String)> {
    // Long lines are data or generated; no item begins there.
    if line.len() > 400 {
        return None;
    }
    patterns.iter().find_map(|(kind, pattern)| {
        let name = pattern.captures(line)?.name("name")?.as_str().trim();
        let name = name.strip_suffix(" where").unwrap_or(name);
        (!STATEMENTS.contains(&name)).then(|| (*kind, name.split_whitespace().collect::<Vec<_>>().join(" ")))
    })
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).map(|c| if c == '\t' { 8 } else { 1 }).sum()
}

/// How many lines of comments and attributes stand right above.
fn above(before: &[&str], language: Language) -> usize {
    let belongs = |line: &&&str| {
        let line = line.trim();
        let marks: &[&str] = match language {
            Language::Python | Language::Ruby | Language::Shell => &["#", "@"],
            Language::Sections => &["#", ";"],
            Language::Lua | Language::Sql => &["--"],
            Language::C => &["//", "/*", "*"],
            _ => &["//", "/*", "*", "#[", "@"],
        };
        !line.is_empty() && !line.starts_with("#!") && marks.iter().any(|mark| line.starts_with(mark))
    };
    before.iter().rev().take_while(belongs).count()
}

/// The line after the last one of an item that begins at `start`.
fn end_of_item(all: &[&str], start: usize, indentation: usize, language: Language) -> usize {
    let closes = |line: &str| {
        let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        line.starts_with(['}', ')', ']', '{', '>'])
            || match language {
                Language::Ruby | Language::Lua => {
                    matches!(word, "end" | "else" | "elsif" | "elseif" | "rescue" | "ensure")
                }
                Language::Shell => matches!(word, "fi" | "done" | "esac"),
                Language::Rust => word == "where",
                Language::Sql => {
                    line.starts_with(')') || word.eq_ignore_ascii_case("end") || word.eq_ignore_ascii_case("begin")
                }
                _ => false,
            }
    };
    // One line that opens nothing is the whole item.
    let first = lines::body(all[start]).trim_end();
    let single = matches!(
        language,
        Language::Rust | Language::JavaScript | Language::Go | Language::C | Language::Java | Language::Sql
    ) && (first.ends_with(';') || first.ends_with('}'));
    if single {
        return start + 1;
    }
    let mut end = start + 1;
    for (number, line) in all.iter().enumerate().skip(start + 1) {
        let body = lines::body(line);
        let text = body.trim();
        if text.is_empty() {
            continue;
        }
        if indent(body) > indentation {
            end = number + 1;
            continue;
        }
        if !closes(text) {
            break;
        }
        end = number + 1;
        // `} else {` and `) -> u8 {` go on; `}` and `end` are the last line.
        if !text.ends_with(['{', '(', '[', ',', ':']) && !text.starts_with('>') && text != "where" {
            break;
        }
    }
    end
}

/// The line after the last one of a table of a configuration file.
fn end_of_table(all: &[&str], start: usize, patterns: Compiled) -> usize {
    let next = all.iter().enumerate().skip(start + 1).find(|(_, line)| item(patterns, lines::body(line)).is_some());
    let next = next.map_or(all.len(), |(number, _)| number - above(&all[..number], Language::Sections));
    let blank = all[start + 1..next.max(start + 1)].iter().rev().take_while(|line| line.trim().is_empty()).count();
    next.max(start + 1) - blank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, language: Language) -> Vec<(String, &'static str, Range<usize>)> {
        sections(text, language).into_iter().map(|s| (s.title(), s.kind, s.lines)).collect()
    }

    #[test]
    fn every_pattern_compiles_and_names_its_item() {
        for language in Language::ALL {
            let patterns = patterns(*language);
            assert_eq!(compiled(*language).len(), patterns.len(), "{language:?}");
            assert!(compiled(*language).iter().all(|(_, p)| p.capture_names().flatten().any(|name| name == "name")));
        }
    }

    #[test]
    fn items_of_rust_are_found_with_their_comments_and_ends() {
        let text = "use x;\n\n/// Doc.\n#[derive(Debug)]\npub struct A {\n    b: u8,\n}\n\nimpl<T> Show for A<T>\nwhere\n    T: Copy,\n{\n    /// Does.\n    pub async fn go(\n        &self,\n    ) -> u8 {\n        if x {\n        }\n        1\n    }\n\n    fn short() {}\n}\n\nconst MAX: u8 = 3;\n";
        assert_eq!(
            found(text, Language::Rust),
            [
                ("A".into(), "type", 2..7),
                ("Show for A<T>".into(), "impl", 8..23),
                ("Show for A<T> › go".into(), "function", 12..20),
                ("Show for A<T> › short".into(), "function", 21..22),
                ("MAX".into(), "constant", 24..25),
            ]
        );
    }

    #[test]
    fn items_of_python_end_with_their_indentation() {
        let text = "class A:\n    @property\n    def b(self):\n        return 1\n\n    def c(\n        self,\n    ):\n        pass\n\n\ndef d():\n    x = [\n        1,\n    ]\n\n    return x\n\nprint(1)\n";
        assert_eq!(
            found(text, Language::Python),
            [
                ("A".into(), "class", 0..9),
                ("A › b".into(), "function", 1..4),
                ("A › c".into(), "function", 5..9),
                ("d".into(), "function", 11..17),
            ]
        );
    }

    #[test]
    fn items_of_other_languages_are_found() {
        let js = "export const f = async (a) => {\n  x();\n};\nclass B {\n  go(a) {\n    if (a) {\n    }\n  }\n}\n";
        assert_eq!(
            found(js, Language::JavaScript),
            [("f".into(), "function", 0..3), ("B".into(), "class", 3..9), ("B › go".into(), "method", 4..8)]
        );
        let go = "// Doc\nfunc (s *S) Run(a int) error {\n\treturn nil\n}\n\ntype S struct {\n\tx int\n}\n";
        assert_eq!(found(go, Language::Go), [("Run".into(), "function", 0..4), ("S".into(), "type", 5..8)]);
        let c = "static int\nadd(int a)\n{\n  return a;\n}\n\nint main(void) {\n  return add(1);\n}\n";
        assert_eq!(found(c, Language::C), [("main".into(), "function", 6..9)]);
        let sh = "go() {\n  x\n}\n";
        assert_eq!(found(sh, Language::Shell), [("go".into(), "function", 0..3)]);
        let toml = "a = 1\n\n# deps\n[dependencies]\nb = 2\n\n[dev]\nc = 3\n";
        assert_eq!(
            found(toml, Language::Sections),
            [("dependencies".into(), "section", 2..5), ("dev".into(), "section", 6..8)]
        );
    }
}
