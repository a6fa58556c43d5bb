//! The table of shapes: how each wish can be said.
//!
//! Order matters: the first shape that fits is meant, so the particular ones stand before the
//! general ones. A shape fits the whole of a piece, without politeness and, unless it carries
//! content, without the marks at its end.

mod changes;
mod commands;
mod counts;
mod finds;
mod jobs;
mod looks;
mod talk;

pub(in super::super) use commands::quoted;

use super::super::pattern::joined;
use super::super::wish::{Place, Wish};
use super::words::{self, PATH, SAID, WITHIN};
use super::{Before, spelling};
use regex::{Captures, Regex, RegexBuilder};
use std::sync::LazyLock;

/// What a shape is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sees {
    /// The piece without the marks at its end.
    Sentence,
    /// The piece with all that stands at its end: it is content, or a command.
    Content,
}

/// Makes a wish of what a shape found; `None` if it does not fit after all.
type Make = fn(&Found, &Before) -> Option<Wish>;

struct Shape {
    pattern: Regex,
    sees: Sees,
    make: Make,
}

/// What a shape found, by name.
struct Found<'a>(Captures<'a>);

impl Found<'_> {
    fn raw(&self, name: &str) -> Option<&str> {
        self.0.name(name).map(|found| found.as_str()).filter(|text| !text.trim().is_empty())
    }
    fn said(&self, name: &str) -> Option<String> {
        self.raw(name).map(|text| words::unquoted(text).to_owned()).filter(|text| !text.is_empty())
    }
    fn number(&self, name: &str) -> Option<u64> {
        self.raw(name)?.parse().ok()
    }
    /// A path, where "it" means the one named before.
    fn path(&self, name: &str, before: &Before) -> Option<String> {
        let text = self.raw(name)?;
        match text.trim().to_ascii_lowercase().as_str() {
            "it" | "that" | "this" | "them" | "both" => before.path.clone(),
            _ => Some(words::path(text)).filter(|path| !path.is_empty()),
        }
    }
    /// A place, where nothing said means here.
    fn place(&self, name: &str) -> Option<Place> {
        self.raw(name).map_or(Some(Place::here()), words::place)
    }
    fn content(&self, name: &str) -> String {
        self.0.name(name).map(|found| words::content(found.as_str())).unwrap_or_default()
    }
}

/// Reads one wish, and remembers the path it names.
pub(super) fn read(text: &str, before: &mut Before) -> Option<Wish> {
    let wish = read_once(text, before).or_else(|| read_once(&spelling::respelled(text)?, before))?;
    if let Some(path) = wish.path() {
        before.path = Some(path.to_owned());
    }
    Some(wish)
}

fn read_once(text: &str, before: &Before) -> Option<Wish> {
    let content = words::bare(text);
    let sentence = words::without_end(content);
    SHAPES.iter().find_map(|shape| {
        let text = match shape.sees {
            Sees::Sentence => sentence,
            Sees::Content => content,
        };
        shape.pattern.captures(text).and_then(|found| (shape.make)(&Found(found), before))
    })
}

/// The wish behind words that fit no shape.
pub(super) fn unknown(text: &str) -> Wish {
    let lower = text.to_ascii_lowercase();
    let like =
        LIKENESSES.iter().find(|(words, _)| words.iter().any(|word| lower.contains(word))).map(|(_, like)| *like);
    Wish::Unknown { text: text.to_owned(), like }
}

/// What a word speaks of, and how that could be said.
const LIKENESSES: &[(&[&str], &str)] = &[
    (&["summar", "explain", "understand", "describe"], "describe README.md"),
    (&["replace", "rename", "change", "edit", "fix", "refactor"], "replace \"old words\" with \"new words\" in FILE"),
    (&["append", "add "], "append \"a line\" to FILE"),
    (&["write", "create", "make", "generate", "note"], "write FILE: what it should hold"),
    (&["count", "how many", "number of"], "count the lines in FILE"),
    (&["search", "find", "where", "grep"], "search for SOMETHING in FOLDER"),
    (&["compare", "diff"], "compare FILE and OTHER"),
    (&["read", "show", "open", "look"], "read FILE lines 1-20"),
    (&["run", "execute", "command", "install", "test", "build"], "run COMMAND"),
    (&["model", "llm", "api", "key", "ollama", "gpt"], "how do I connect a model?"),
    (&["http", "web", "page", "download"], "fetch https://example.com"),
];

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let mut shapes = Vec::new();
    let mut add = |sees: Sees, pattern: &str, make: Make| {
        let pattern = joined(pattern).replace("PATH", PATH).replace("SAID", SAID).replace("WITHIN", WITHIN);
        let pattern =
            RegexBuilder::new(&format!("^(?:{pattern})$")).case_insensitive(true).dot_matches_new_line(true).build();
        shapes.push(Shape { pattern: pattern.expect("BUG: a shape is no valid pattern"), sees, make });
    };
    talk::add(&mut add);
    jobs::add(&mut add);
    commands::add(&mut add);
    changes::add(&mut add);
    counts::add(&mut add);
    finds::add(&mut add);
    looks::add(&mut add);
    looks::add_bare_names(&mut add);
    commands::add_bare_programs(&mut add);
    shapes
});

type Add<'a> = &'a mut dyn FnMut(Sees, &str, Make);
