//! Doing what is wished, step by step: each deed asks [`Steps`] for the results it needs and ends
//! in words that state what they say.

mod change;
mod code;
mod count;
mod find;
mod jobs;
mod look;
mod run;

use super::Call;
use super::show::{Page, code as quoted, counted, fenced, first_lines};
use super::steps::{Steps, Told};
use super::talk;
use super::wish::{Count, Wish};
use serde_json::json;

/// How many pages of one file are read; each holds some hundred lines.
const MOST_PAGES: usize = 60;

/// Follows a wish as far as results are there. `None` means that calls are wanted first.
pub(super) fn follow(wish: &Wish, folder: Option<&str>, steps: &mut Steps) -> Option<String> {
    Some(match wish {
        Wish::Overview => look::overview(steps)?,
        Wish::List { path } => look::list(steps, path)?,
        Wish::Read { path, lines } => look::read(steps, path, *lines)?,
        Wish::Describe { path } => look::describe(steps, path)?,
        Wish::Outline { path } => look::outline(steps, path)?,
        Wish::Compare { old, new } => look::compare(steps, old, new)?,
        Wish::Count(Count::Text { path }) => count::text(steps, path)?,
        Wish::Count(Count::Lines { place }) => count::lines(steps, place)?,
        Wish::Count(Count::Files { place }) => count::files(steps, place)?,
        Wish::Count(Count::Matches { text, place }) => count::matches(steps, text, place)?,
        Wish::Largest { count, path } => count::largest(steps, *count, path)?,
        Wish::Search { text, regex, place } => find::search(steps, text, *regex, place)?,
        Wish::Find { pattern } => find::by_name(steps, pattern)?,
        Wish::Todos { place } => find::todos(steps, place)?,
        Wish::Run { command } => run::command(steps, command)?,
        Wish::Job(wish) => jobs::follow(steps, wish)?,
        Wish::JobNews { text } => text.clone(),
        Wish::Project(chore) => run::chore(steps, *chore)?,
        Wish::Fetch { url } => run::fetch(steps, url)?,
        Wish::Ask { question, options } => run::ask(steps, question, options)?,
        Wish::Create { path, content } => change::create(steps, path, content)?,
        Wish::Write { path, content } => change::write(steps, path, content)?,
        Wish::Append { path, content } => change::append(steps, path, content)?,
        Wish::Replace { path, old, new, all } => change::replace(steps, path, old, new, *all)?,
        Wish::Help => talk::HELP.trim_end().to_owned(),
        Wish::Connect => talk::CONNECT.trim_end().to_owned(),
        Wish::Who => talk::WHO.trim_end().to_owned(),
        Wish::Where => match folder {
            Some(folder) => format!("This Task works in {}.", quoted(folder)),
            None => run::command(steps, "pwd")?,
        },
        Wish::Greeting => talk::GREETING.to_owned(),
        Wish::Thanks => talk::THANKS.to_owned(),
        Wish::Stop => talk::STOP.to_owned(),
        Wish::Notice { text } => talk::notice(text),
        Wish::Nothing => talk::NOTHING.to_owned(),
        Wish::TooLong => talk::TOO_LONG.to_owned(),
        Wish::Unknown { text, like } => talk::unknown(text, *like),
    })
}

/// A file as far as it was read.
struct Whole {
    lines: Vec<String>,
    notes: Vec<String>,
    /// It was read to its end.
    complete: bool,
}

impl Whole {
    fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        if !self.notes.iter().any(|note| note == "no line end at the end") {
            text.push('\n');
        }
        text
    }

    /// How many lines it has, as far as that is known.
    fn counted_lines(&self) -> String {
        let lines = counted(self.lines.len(), "line");
        if self.complete { lines } else { format!("more than {lines}") }
    }

    /// What must be said of every result that rests on it.
    fn caution(&self) -> &'static str {
        if self.complete { "" } else { " I read only its beginning; the file goes on." }
    }
}

/// What became of reading a file.
enum Reading {
    Text(Whole),
    Empty,
    Picture(String),
    /// It could not be read; in words.
    Failed(String),
}

/// Reads a file to its end, page by page.
fn whole(steps: &mut Steps, path: &str) -> Option<Reading> {
    let mut whole = Whole { lines: Vec::new(), notes: Vec::new(), complete: false };
    let mut offset = None;
    for _ in 0..MOST_PAGES {
        let told = match offset {
            None => steps.call("read", json!({"path": path}))?,
            Some(offset) => steps.call("read", json!({"path": path, "offset": offset}))?,
        };
        let Some(page) = Page::parse(&told.text) else {
            // A page in the middle that is none: the file changed, or reading was stopped.
            if !whole.lines.is_empty() {
                break;
            }
            return Some(match () {
                () if told.text.trim_end().ends_with(" is empty") => Reading::Empty,
                () if told.picture => Reading::Picture(told.text.trim().to_owned()),
                () => Reading::Failed(failed("read", path, &told)),
            });
        };
        whole.lines.extend(page.lines);
        whole.notes.extend(page.notes);
        match page.next {
            Some(next) => offset = Some(next),
            None => {
                whole.complete = true;
                break;
            }
        }
    }
    Some(Reading::Text(whole))
}

/// Says plainly that a call did not do what it should.
fn failed(deed: &str, path: &str, told: &Told) -> String {
    match told.refusal() {
        Some(words) => format!("I did not {deed} {}: {}", quoted(path), words.trim()),
        None => format!("I could not {deed} {}: {}", quoted(path), quote(&told.text)),
    }
}

/// A tool's words within a sentence, or below it where they are many.
fn quote(text: &str) -> String {
    let text = text.trim();
    match text.lines().count() {
        0 => "there was no answer.".to_owned(),
        1 if text.len() <= 300 => text.to_owned(),
        _ => format!("\n\n{}", fenced("", &first_lines(text, 20))),
    }
}

/// Several calls of `read` for short looks.
fn peek(path: &str, limit: u64) -> Call {
    Call::new("read", json!({"path": path, "limit": limit}))
}
