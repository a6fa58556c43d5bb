//! Looking: folders, files, their shape, and how two of them differ.

use super::super::Call;
use super::super::show::{self, Entry, Page, bytes, code as quoted, counted, fenced, first_lines, language};
use super::super::steps::Steps;
use super::super::understand::quoted as for_shell;
use super::super::wish::Lines;
use super::{Reading, code, failed, peek, whole};
use serde_json::json;
use similar::TextDiff;
use std::collections::BTreeMap;

/// The most lines of a file that an answer shows; the tool's result holds the rest.
const MOST_SHOWN: usize = 120;

/// What is here: the folder, its kinds of files, and what the project says of itself.
pub(super) fn overview(steps: &mut Steps) -> Option<String> {
    let here = steps.all(vec![Call::new("list", json!({})), Call::new("glob", json!({"pattern": "**/*"}))])?;
    let (list, files) = (&here[0], &here[1]);
    let (entries, notes) = show::entries(&list.text);
    if entries.is_empty() {
        return Some(match list.text.contains(" is empty") {
            true => "This folder is empty. Try `write notes.txt: hello`, or `help`.".to_owned(),
            false => failed("look into", ".", list),
        });
    }
    let (names, more) = show::files(&files.text);
    let root: Vec<&str> = entries
        .iter()
        .filter_map(|entry| match entry {
            Entry::File(name, _) => Some(name.as_str()),
            Entry::Folder(_) | Entry::Link(_) => None,
        })
        .collect();
    let readme = root.iter().find(|name| name.to_ascii_lowercase().starts_with("readme")).copied();
    let manifest = MANIFESTS.iter().find(|(name, _)| root.contains(name)).copied();
    let wanted: Vec<Call> =
        readme.into_iter().chain(manifest.map(|(name, _)| name)).map(|name| peek(name, 60)).collect();
    let mut pages = steps.all(wanted)?.into_iter().map(|told| Page::parse(&told.text));
    let readme = readme.and_then(|name| Some((name, pages.next()??)));
    let manifest = manifest.and_then(|(name, kind)| Some((name, kind, pages.next()??)));

    let mut words = String::from("Here is what I see");
    let (folders, loose) = (entries.len() - root.len(), root.len());
    words.push_str(&format!(": {} and {} at the top", counted(folders, "folder"), counted(loose, "file")));
    words.push_str(&match more {
        true => format!(", more than {} in all.\n", counted(names.len(), "file")),
        false => format!(", {} in all.\n", counted(names.len(), "file")),
    });
    if let Some((file, kind, page)) = manifest {
        let field = |name: &str| field(&page.lines, name);
        let named = field("name").map(|name| format!(", named **{name}**")).unwrap_or_default();
        let version = field("version").map(|version| format!(", version {version}")).unwrap_or_default();
        words.push_str(&format!("\nBy {} it is {kind}{named}{version}.", quoted(file)));
        if let Some(description) = field("description") {
            words.push_str(&format!(" It says of itself: “{description}”"));
        }
        words.push('\n');
    }
    if let Some((file, page)) = readme {
        let (title, first) = introduction(&page.lines);
        if let Some(title) = title {
            words.push_str(&format!("\n{} is titled **{title}**.", quoted(file)));
        }
        if !first.is_empty() {
            words.push_str(&format!(" It begins:\n\n> {first}\n"));
        } else {
            words.push('\n');
        }
    }
    let kinds = kinds(&names);
    if !kinds.is_empty() {
        let shown: Vec<String> =
            kinds.iter().take(8).map(|(kind, count)| format!("{count} {}", quoted(kind))).collect();
        let rest = if kinds.len() > 8 { format!(" and {} more kinds", kinds.len() - 8) } else { String::new() };
        words.push_str(&format!("\nKinds of files: {}{rest}.\n", shown.join(", ")));
    }
    words.push_str(&format!("\n{}", fenced("", &first_lines(&table(&entries), 40))));
    for note in notes {
        words.push_str(&format!("\n({note})"));
    }
    words.push_str("\n\nThis is what the files say; I read no meaning into them.");
    Some(words)
}

/// Files that say what kind of project a folder holds.
const MANIFESTS: &[(&str, &str)] = &[
    ("Cargo.toml", "a Rust project"),
    ("package.json", "a JavaScript or TypeScript project"),
    ("pyproject.toml", "a Python project"),
    ("setup.py", "a Python project"),
    ("go.mod", "a Go module"),
    ("pom.xml", "a Java project (Maven)"),
    ("build.gradle", "a Java or Kotlin project (Gradle)"),
    ("CMakeLists.txt", "a C or C++ project (CMake)"),
    ("Gemfile", "a Ruby project"),
    ("composer.json", "a PHP project"),
    ("Makefile", "a project built with make"),
];

/// A field of a manifest in TOML or JSON, by the look of its line.
fn field(lines: &[String], name: &str) -> Option<String> {
    let value = lines.iter().find_map(|line| {
        let rest = line.trim().trim_start_matches('"').strip_prefix(name)?;
        rest.trim_start_matches('"').trim_start().strip_prefix([':', '='])
    })?;
    let value = value.trim().trim_end_matches(',').trim();
    value.strip_prefix('"')?.split('"').next().filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The title and the first paragraph of a text; of code, of the comment at its beginning.
fn introduction(lines: &[String]) -> (Option<String>, String) {
    let prose = |line: &&str| !line.is_empty() && !line.starts_with(['#', '<', '[', '!', '|', '-', '=', '>', '`']);
    let comments = ["//!", "///", "//", "/**", "/*", "*/", "* ", "\"\"\"", "--"];
    let bare = |line: &str| {
        let line = line.trim().to_owned();
        comments.iter().find_map(|mark| line.strip_prefix(mark)).map_or(line.clone(), |rest| rest.trim().to_owned())
    };
    let title = lines.iter().find_map(|line| line.strip_prefix("# ")).map(|title| title.trim().to_owned());
    let bare: Vec<String> = lines.iter().take(200).map(|line| bare(line)).collect();
    let start = bare.iter().position(|line| prose(&line.as_str())).unwrap_or(bare.len());
    let paragraph: Vec<&str> = bare[start..].iter().map(String::as_str).take_while(prose).collect();
    let paragraph = paragraph.join(" ");
    let cut = paragraph.char_indices().nth(400).map(|(end, _)| format!("{}…", &paragraph[..end]));
    (title, cut.unwrap_or(paragraph))
}

/// How many files there are of each kind, the most frequent first.
pub(super) fn kinds(names: &[&str]) -> Vec<(String, usize)> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for name in names {
        let name = name.trim_matches('"').rsplit('/').next().unwrap_or(name);
        let kind = match name.rsplit_once('.') {
            Some((start, end)) if !start.is_empty() && !end.is_empty() && end.len() <= 10 => format!(".{end}"),
            _ => "no extension".to_owned(),
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let mut kinds: Vec<(String, usize)> = kinds.into_iter().collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    kinds
}

/// Entries one below the other, folders first.
fn table(entries: &[Entry]) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(entries.iter().filter_map(|entry| match entry {
        Entry::Folder(name) => Some(format!("{name}/")),
        Entry::File(..) | Entry::Link(_) => None,
    }));
    let files = entries.iter().filter_map(|entry| match entry {
        Entry::File(name, size) => Some(format!("{name}  {}", bytes(*size))),
        Entry::Link(name) => Some(format!("{name}  (link)")),
        Entry::Folder(_) => None,
    });
    lines.extend(files);
    lines.join("\n")
}

/// What is in a folder.
pub(super) fn list(steps: &mut Steps, path: &str) -> Option<String> {
    let told = steps.call("list", json!({"path": path}))?;
    if told.text.contains("is a file; use read") {
        return read(steps, path, Lines::All);
    }
    let (entries, notes) = show::entries(&told.text);
    let name = if path == "." { "This folder".to_owned() } else { quoted(path) };
    if entries.is_empty() {
        let empty = told.text.lines().any(|line| line.ends_with(" is empty"));
        let hidden: String = notes.iter().map(|note| format!(" ({note})")).collect();
        return Some(if empty { format!("{name} is empty.{hidden}") } else { failed("list", path, &told) });
    }
    let folders = entries.iter().filter(|entry| matches!(entry, Entry::Folder(_))).count();
    let mut words = format!(
        "{name} holds {} and {}:\n\n{}",
        counted(folders, "folder"),
        counted(entries.len() - folders, "file"),
        fenced("", &first_lines(&table(&entries), 80))
    );
    notes.iter().for_each(|note| words.push_str(&format!("\n({note})")));
    Some(words)
}

/// A file, or some lines of it.
pub(super) fn read(steps: &mut Steps, path: &str, lines: Lines) -> Option<String> {
    let told = match lines {
        Lines::All => steps.call("read", json!({"path": path}))?,
        Lines::Range(first, last) => {
            steps.call("read", json!({"path": path, "offset": first, "limit": last.saturating_sub(first) + 1}))?
        }
        Lines::From(first) => steps.call("read", json!({"path": path, "offset": first}))?,
        Lines::Last(count) => return last_lines(steps, path, count),
    };
    if told.text.contains("is a folder; use list") {
        return list(steps, path);
    }
    if told.text.contains("does not exist; use glob or list") {
        return elsewhere(steps, path);
    }
    let Some(page) = Page::parse(&told.text) else {
        return Some(match () {
            () if told.text.trim_end().ends_with(" is empty") => format!("{} is empty.", quoted(path)),
            () if told.picture => {
                format!("{} is a picture ({}). I can show no pictures here.", quoted(path), told.text.trim())
            }
            () => failed("read", path, &told),
        });
    };
    Some(pages(path, &page))
}

/// Shows lines as they were read.
fn pages(path: &str, page: &Page) -> String {
    let shown = page.lines.len().min(MOST_SHOWN);
    let last = page.first + page.lines.len() as u64 - 1;
    let what = match (page.lines.len(), page.next) {
        (1, _) => format!("line {} of {}", page.first, quoted(path)),
        (_, None) if page.first == 1 => format!("{}, {}", quoted(path), counted(page.lines.len(), "line")),
        _ => format!("lines {} to {last} of {}", page.first, quoted(path)),
    };
    let width = last.to_string().len();
    let numbered: Vec<String> =
        (page.first..).zip(&page.lines).take(shown).map(|(number, line)| format!("{number:>width$}  {line}")).collect();
    let mut words = format!("Here: {what}:\n\n{}", fenced(language(path), &numbered.join("\n")));
    if shown < page.lines.len() {
        let from = page.first + shown as u64;
        words.push_str(&format!(
            "\n… to line {last} in the tool's result; `read {path} lines {from}-{last}` shows them here."
        ));
    } else if page.next.is_some() {
        words.push_str("\nThe file goes on; say `more`.");
    }
    page.notes.iter().for_each(|note| words.push_str(&format!("\n({note})")));
    words
}

fn last_lines(steps: &mut Steps, path: &str, count: u64) -> Option<String> {
    Some(match whole(steps, path)? {
        // Too long to be read to its end: a command can look at the end alone.
        Reading::Text(whole) if !whole.complete => {
            let command = format!("tail -n {count} {}", for_shell(path));
            let told = steps.call("shell", json!({"command": command}))?;
            let Some((_, end)) = told.done().and_then(|text| text.split_once('\n')) else {
                return Some(failed("read the end of", path, &told));
            };
            format!(
                "The last {} of {}:\n\n{}",
                counted(count as usize, "line"),
                quoted(path),
                fenced(language(path), end.trim_end())
            )
        }
        Reading::Text(whole) => {
            let skip = whole.lines.len().saturating_sub(count as usize);
            let page = Page {
                first: skip as u64 + 1,
                lines: whole.lines[skip..].to_vec(),
                next: None,
                notes: whole.notes.clone(),
            };
            pages(path, &page)
        }
        Reading::Empty => format!("{} is empty.", quoted(path)),
        Reading::Picture(words) => format!("{words} is a picture; it has no lines."),
        Reading::Failed(words) => words,
    })
}

/// A file that is not there: one of that name elsewhere may be meant.
fn elsewhere(steps: &mut Steps, path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let safe: String = stem.chars().filter(|c| !matches!(c, '[' | ']' | '{' | '}' | '*' | '?' | '!')).collect();
    let told = steps.call("glob", json!({"pattern": format!("*{safe}*")}))?;
    let (files, _) = show::files(&told.text);
    let same: Vec<&&str> = files
        .iter()
        .filter(|file| file.rsplit('/').next().is_some_and(|found| found.eq_ignore_ascii_case(name)))
        .collect();
    let missing = format!("There is no {}", quoted(path));
    match (same.as_slice(), files.as_slice()) {
        ([only], _) => {
            let found = steps.call("read", json!({"path": only}))?;
            let shown =
                Page::parse(&found.text).map_or_else(|| failed("read", only, &found), |page| pages(only, &page));
            Some(format!("{missing}, but there is {}. {shown}", quoted(only)))
        }
        (_, []) => Some(format!("{missing}, and no file with a similar name. `what is here?` shows what there is.")),
        (_, files) => {
            let names: Vec<String> = files.iter().take(8).map(|file| quoted(file)).collect();
            Some(format!("{missing}. Did you mean {}?", names.join(", ")))
        }
    }
}

/// Facts of a file.
pub(super) fn describe(steps: &mut Steps, path: &str) -> Option<String> {
    let whole = match whole(steps, path)? {
        Reading::Text(whole) => whole,
        Reading::Empty => return Some(format!("{} is empty.", quoted(path))),
        Reading::Picture(words) => return Some(format!("{words}. It is a picture, and I can't see.")),
        Reading::Failed(words) if words.contains("is a folder") => return list(steps, path),
        Reading::Failed(words) => return Some(words),
    };
    let text = whole.text();
    let longest = (1..).zip(&whole.lines).max_by_key(|(_, line)| line.chars().count());
    let blank = whole.lines.iter().filter(|line| line.trim().is_empty()).count();
    let mut words = format!(
        "Facts of {}: {}, {}, {}; {} of the lines are blank.{}",
        quoted(path),
        whole.counted_lines(),
        counted(text.split_whitespace().count(), "word"),
        bytes(text.len() as u64),
        blank,
        whole.caution()
    );
    if let Some((number, line)) = longest {
        words.push_str(&format!(
            " The longest line is line {number}, with {}.",
            counted(line.chars().count(), "character")
        ));
    }
    whole.notes.iter().for_each(|note| words.push_str(&format!(" ({note})")));
    let (title, first) = introduction(&whole.lines);
    if let Some(title) = title.filter(|_| path.ends_with(".md")) {
        words.push_str(&format!("\n\nTitle: **{title}**"));
    }
    if let Some(marks) = code::marks(path, &whole.lines).filter(|marks| !marks.is_empty()) {
        let noun = if path.ends_with(".md") { "heading" } else { "definition" };
        let top: Vec<&str> =
            marks.iter().filter(|mark| mark.depth <= 1).map(|mark| mark.text.as_str()).take(12).collect();
        words.push_str(&format!("\n\n{}, among them:\n\n- {}", counted(marks.len(), noun), top.join("\n- ")));
    }
    if !first.is_empty() {
        words.push_str(&format!("\n\nIts first words:\n\n> {first}"));
    }
    words.push_str(
        "\n\nThese are counts and quotations. I don't understand what it says: that takes a model \
         (`how do I connect a model?`).",
    );
    Some(words)
}

/// The headings or definitions of a file.
pub(super) fn outline(steps: &mut Steps, path: &str) -> Option<String> {
    let whole = match whole(steps, path)? {
        Reading::Text(whole) => whole,
        Reading::Empty => return Some(format!("{} is empty.", quoted(path))),
        Reading::Picture(words) => return Some(format!("{words} is a picture; it has no outline.")),
        Reading::Failed(words) if words.contains("is a folder") => return list(steps, path),
        Reading::Failed(words) => return Some(words),
    };
    let Some(marks) = code::marks(path, &whole.lines) else {
        return Some(format!(
            "I know no headings or definitions in this kind of file ({}, {}). I do for Markdown, Rust, Python, \
             JavaScript, TypeScript, Go, C, Java and some others.",
            quoted(path),
            whole.counted_lines()
        ));
    };
    if marks.is_empty() {
        return Some(format!(
            "{} has {} and no headings or definitions that I recognise.",
            quoted(path),
            whole.counted_lines()
        ));
    }
    let width = marks.last().map_or(1, |mark| mark.line.to_string().len());
    let lines: Vec<String> = marks
        .iter()
        .map(|mark| format!("{:>width$}  {}{}", mark.line, "  ".repeat(mark.depth.min(8)), mark.text))
        .collect();
    Some(format!(
        "Outline of {} ({} in {}), with line numbers{}\n\n{}",
        quoted(path),
        counted(marks.len(), "entry"),
        whole.counted_lines(),
        if whole.complete { ":".to_owned() } else { format!(".{}", whole.caution()) },
        fenced("", &first_lines(&lines.join("\n"), 150))
    ))
}

/// How two files differ, line by line.
pub(super) fn compare(steps: &mut Steps, old: &str, new: &str) -> Option<String> {
    let mut texts = Vec::new();
    for path in [old, new] {
        texts.push(match whole(steps, path)? {
            Reading::Text(whole) if whole.complete => whole.text(),
            Reading::Text(_) => {
                return Some(format!("{} is too large for me to compare. Try `!diff -u {old} {new}`.", quoted(path)));
            }
            Reading::Empty => String::new(),
            Reading::Picture(words) => return Some(format!("{words} is a picture; I compare text only.")),
            Reading::Failed(words) => return Some(words),
        });
    }
    if texts[0] == texts[1] {
        return Some(format!(
            "{} and {} hold the same text ({}).",
            quoted(old),
            quoted(new),
            counted(texts[0].lines().count(), "line")
        ));
    }
    let diff = TextDiff::from_lines(&texts[0], &texts[1]);
    let unified = diff.unified_diff().context_radius(3).header(old, new).to_string();
    let sign = |sign: char| unified.lines().skip(2).filter(|line| line.starts_with(sign)).count();
    Some(format!(
        "From {} to {}: {} removed, {} added.\n\n{}",
        quoted(old),
        quoted(new),
        counted(sign('-'), "line"),
        counted(sign('+'), "line"),
        fenced("diff", &first_lines(&unified, 200))
    ))
}
