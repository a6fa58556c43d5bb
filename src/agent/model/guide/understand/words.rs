//! Small pieces of language: quotes, paths, places, kinds of files, politeness.

use super::super::pattern::pattern;
use super::super::wish::Place;
use regex::Regex;
use std::sync::LazyLock;

/// A word or something in quotes.
pub(super) const PATH: &str = r#"(?:"[^"\n]+"|'[^'\n]+'|`[^`\n]+`|[^\s"'`,;]+)"#;

/// Quoted text, or words up to where the shape goes on.
pub(super) const SAID: &str = r#"(?:"[^"]*"|'[^']*'|`[^`]*`|.+?)"#;

/// Where something is, if that is said.
pub(super) const WITHIN: &str =
    r"(?:\s+(?:are (?:there )?)?(?:in|inside|under|within|across|through)\s+(?P<place>.+))?";

/// Where sentences are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// At "then", "after that", a semicolon.
    Then,
    /// At "and" or a full stop.
    And,
}

/// A text in two parts, and what stood between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Halves<'a> {
    pub(super) left: &'a str,
    pub(super) joint: &'a str,
    pub(super) right: &'a str,
}

/// Every way to cut a text in two at its joints, the first joint first.
pub(super) fn cuts(text: &str, cut: Cut) -> Vec<Halves<'_>> {
    static THEN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?i)(?:\s*[,;.]?\s+(?:and\s+)?(?:then|after that|afterwards|finally|next)\b[,:]?\s+|\s*;\s+)")
    });
    static AND: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)(?:\s*,?\s+and\s+(?:also\s+)?|[.!?]\s+|\s*,\s+)"));
    let joint = match cut {
        Cut::Then => &*THEN,
        Cut::And => &*AND,
    };
    let cuts = joint.find_iter(text).filter(|found| !inside_quotes(&text[..found.start()]));
    let halves = cuts.map(|found| Halves {
        left: text[..found.start()].trim(),
        joint: found.as_str().trim(),
        right: text[found.end()..].trim(),
    });
    halves.filter(|halves| !halves.left.is_empty() && !halves.right.is_empty()).collect()
}

/// Whether a quote is open at the end of a text. An apostrophe within a word opens none.
fn inside_quotes(text: &str) -> bool {
    let mut open = None;
    let mut last = ' ';
    for c in text.chars() {
        match open {
            Some(quote) if quote == c => open = None,
            None if matches!(c, '"' | '`') || (c == '\'' && !last.is_alphanumeric()) => open = Some(c),
            Some(_) | None => {}
        }
        last = c;
    }
    open.is_some()
}

/// Takes the number or the dash of a list off a line.
pub(super) fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')'])).flatten();
    let bullet = || ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet));
    numbered.filter(|rest| rest.starts_with(' ')).or_else(bullet).unwrap_or(line).trim()
}

/// Takes off what is said for politeness around a wish.
pub(super) fn bare(text: &str) -> &str {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:(?:please|pls|ok(?:ay)?|so|now|well|hey|hi|hello|guide|and|then|also|just|kindly|finally)\b
                [,:!]?\s+|(?:first|next)[,:]\s+|
                (?:can|could|would|will) you\s+(?:please\s+)?(?:for me\s+)?|
                i(?:'d| would)? (?:want|like|need|wish)(?: you)? to\s+|i want you to\s+|
                (?:let's|let us|go ahead and|try to|help me(?: to)?|you should|do me a favou?r and)\s+)",
        )
    });
    let mut text = text.trim();
    // "hello there" is nothing but polite.
    let greets = |word: &str| ["hi", "hello", "hey"].contains(&word.to_ascii_lowercase().as_str());
    if text.split_whitespace().count() == 2 && text.split([' ', ',']).next().is_some_and(greets) {
        return text;
    }
    while let Some(found) = BEFORE.find(text).filter(|found| found.end() < text.len()) {
        text = text[found.end()..].trim_start();
    }
    text
}

/// Takes the end of a sentence off: marks, "please", "for me".
pub(super) fn without_end(text: &str) -> &str {
    static AFTER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)(?:[\s,]*\b(?:please|pls|for me|now|thanks|thank you)|\s*[?!]|\s*\.\s*|\s+)$"));
    let mut text = text;
    while let Some(found) = AFTER.find(text).filter(|found| found.start() > 0) {
        // The name of the folder we are in, or of the one above.
        if text.ends_with(" .") || text.ends_with("..") || text.ends_with("/.") {
            break;
        }
        text = &text[..found.start()];
    }
    text
}

/// Takes quotes off, if they are around the whole.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'', '`']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote).filter(|inner| !inner.contains(*quote)))
        .unwrap_or(text)
}

/// A path as it was meant: without quotes, the sign of a mention, and marks of the sentence.
pub(super) fn path(text: &str) -> String {
    let quoted = unquoted(text);
    if quoted.len() < text.trim().len() {
        return quoted.to_owned();
    }
    let mut path = text.trim().trim_end_matches([',', ';', '!', '?', ':', ')']).trim_start_matches('(');
    path = path.strip_prefix('@').filter(|rest| !rest.is_empty()).unwrap_or(path);
    if path.len() > 1 && path.ends_with('.') && !path.ends_with("..") && !path.ends_with("/.") {
        path = &path[..path.len() - 1];
    }
    match path.to_ascii_lowercase().as_str() {
        "readme" => "README.md".to_owned(),
        "license" | "licence" => "LICENSE".to_owned(),
        "changelog" => "CHANGELOG.md".to_owned(),
        "makefile" => "Makefile".to_owned(),
        "dockerfile" => "Dockerfile".to_owned(),
        "gitignore" => ".gitignore".to_owned(),
        _ => match path.trim_end_matches('/') {
            "" => path.to_owned(),
            bare => bare.to_owned(),
        },
    }
}

/// Whether a text speaks of the folder we are in.
pub(super) fn is_here(text: &str) -> bool {
    static HERE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:\.|\./|here|everything|everywhere|(?:all|every|any)(?: of)?(?: the)? files?|it all|
                (?:(?:the|this|my|our|that)\s+)?(?:whole\s+|entire\s+|current\s+|present\s+|working\s+)*
                (?:folder|directory|dir|project|repo|repository|code ?base|code|workspace|files|source|sources|tree))$",
        )
    });
    HERE.is_match(text.trim())
}

/// Reads a place: a folder, a file, a pattern, a kind of file, or several of them.
pub(super) fn place(text: &str) -> Option<Place> {
    static WITHIN: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"(?i)^(.+?)\s+(?:in|under|inside|within|of|below)\s+(.+)$"));
    let text = text.trim();
    if is_here(text) {
        return Some(Place::here());
    }
    if let Some(extensions) = kind_of_files(text) {
        return Some(Place { path: ".".into(), glob: Some(extensions) });
    }
    if let Some(found) = WITHIN.captures(text) {
        let (inner, outer) = (place(&found[1])?, place(&found[2])?);
        return (outer.glob.is_none() && inner.path == ".").then_some(Place { path: outer.path, glob: inner.glob });
    }
    let rest = strip_words(text, &["the", "my", "folder", "directory", "dir", "file"]);
    let rest = strip_last_word(rest, &["folder", "directory", "dir", "file"]);
    if rest.is_empty() || (unquoted(rest) == rest && rest.contains(char::is_whitespace)) {
        return None;
    }
    let path = path(rest);
    Some(match path.contains(['*', '?']) {
        true => Place { path: ".".into(), glob: Some(anywhere(&path)) },
        false => Place { path, glob: None },
    })
}

/// Takes leading words off.
pub(super) fn strip_words<'a>(mut text: &'a str, words: &[&str]) -> &'a str {
    while let Some((first, rest)) = text.split_once(char::is_whitespace) {
        if !words.iter().any(|word| first.eq_ignore_ascii_case(word)) {
            break;
        }
        text = rest.trim_start();
    }
    text
}

fn strip_last_word<'a>(text: &'a str, words: &[&str]) -> &'a str {
    match text.rsplit_once(char::is_whitespace) {
        Some((rest, last)) if words.iter().any(|word| last.eq_ignore_ascii_case(word)) => rest.trim_end(),
        _ => text,
    }
}

/// A pattern that holds in every folder.
pub(super) fn anywhere(pattern: &str) -> String {
    match pattern.contains('/') {
        true => pattern.to_owned(),
        false => format!("**/{pattern}"),
    }
}

/// The pattern for "rust files", ".rs files", "*.rs", "markdown".
pub(super) fn kind_of_files(text: &str) -> Option<String> {
    static KIND: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:(?:all|the|any|every|my|our)\s+)*(?:\*?\.)?([a-z0-9+#]+)(?:[- ](?:source|code|script))?
                (?:\s+(?:files?|sources?|scripts?|documents?))?$",
        )
    });
    let found = KIND.captures(text.trim())?;
    let word = found[1].to_ascii_lowercase();
    let dotted = text.contains('.');
    let files = text.trim().contains(char::is_whitespace);
    let by_name = match word.as_str() {
        "rust" => "rs",
        "python" => "py",
        "markdown" => "md",
        "javascript" => "js",
        "typescript" => "ts",
        "ruby" => "rb",
        "shell" | "bash" => "sh",
        "golang" => "go",
        "text" => "txt",
        "picture" | "pictures" | "image" | "images" => "{png,jpg,jpeg,gif,svg,webp}",
        "toml" | "json" | "yaml" | "yml" | "html" | "css" | "java" | "sql" | "xml" | "csv" | "c" | "h" | "cpp"
        | "go" | "lua"
            if files || dotted =>
        {
            word.as_str()
        }
        other if dotted && (files || text.trim().starts_with(['.', '*'])) && other.len() <= 8 => other,
        _ => return None,
    };
    Some(format!("**/*.{by_name}"))
}

/// The content of a file as it was said: without quotes or a fence, with a line end at its end.
pub(super) fn content(text: &str) -> String {
    let text = text.trim_matches(['\n', '\r']);
    let trimmed = text.trim();
    let fenced =
        trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")).and_then(|inner| inner.split_once('\n'));
    let mut content = match fenced {
        Some((_, inner)) => inner.to_owned(),
        None => {
            let inner = unquoted(text);
            match inner.len() < trimmed.len() {
                // Who quotes writes line breaks as signs.
                true => inner.replace("\\n", "\n").replace("\\t", "\t"),
                false => text.trim_start_matches([' ', '\t']).trim_end().to_owned(),
            }
        }
    };
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    content
}
