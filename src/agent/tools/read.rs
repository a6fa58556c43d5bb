//! `read`: a text by its lines, a picture, or an output that was kept.

use super::content::{self, Kind};
use super::paths::{self, Located};
use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, change, looking, output, plan};
use crate::agent::port::Blobs;
use crate::domain::permission::{Access, Action};
use crate::domain::{Effect, Part};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::sync::{Arc, LazyLock};

/// What a path begins with that names a kept output instead of a file.
const OUTPUT: &str = "output:";

/// The largest picture a model is shown, in bytes.
const MOST_IMAGE: u64 = 5_000_000;

/// The most that is shown of one line, in bytes.
const MOST_LINE: usize = 4_000;

/// Reads a file.
pub(super) struct Read;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// File, or output:HASH for a kept output
    path: String,
    /// First line, from 1
    offset: Option<u64>,
    /// How many lines
    limit: Option<u64>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Read a text file by lines (shown as NUMBER<tab>LINE) or look at an image.";
    arguments::spec::<Arguments>("read", description, Effect::Pure)
});

impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let Arguments { path, offset, limit } = arguments::typed(arguments, &SPEC)?;
            let range = Range { first: offset.unwrap_or(1).max(1), count: limit.unwrap_or(u64::MAX) };
            if let Some(name) = path.strip_prefix(OUTPUT) {
                if name.len() != 64 || !name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
                    return Err(arguments::bad(&SPEC, "`path`: output: is followed by the 64 digits that were shown"));
                }
                let name = name.to_owned();
                let action = kept(ctx, &path);
                return Ok(plan(action, move |ctx| looking(ctx, move |ctx| read_output(ctx, &name, range))));
            }
            let located = paths::locate(ctx, &path)?;
            let action = located.action(ctx, SPEC.name, Access::Read, String::new());
            Ok(plan(action, move |ctx| looking(ctx, move |ctx| read_file(ctx, &located, range))))
        })
    }
}

/// Reading back what a tool of this Task put out is always inside.
fn kept(ctx: &ToolContext, path: &str) -> Action {
    Action {
        tool: SPEC.name.into(),
        access: Access::Read,
        subject: path.to_owned(),
        cwd: ctx.cwd.to_string_lossy().into_owned(),
        detail: String::new(),
        inside: true,
        own: true,
        beyond: String::new(),
        rule_subject: path.to_owned(),
    }
}

#[derive(Clone, Copy)]
struct Range {
    first: u64,
    count: u64,
}

fn read_file(ctx: &ToolContext, located: &Located, range: Range) -> Outcome {
    let shown = paths::shown(ctx, &located.path);
    if let Err(moved) = located.recheck() {
        return Outcome::error(moved);
    }
    // Asked for before opening: opening a pipe would wait for whoever writes into it.
    match std::fs::metadata(&located.path) {
        Ok(found) if found.is_dir() => return Outcome::error(format!("{shown} is a folder; use list")),
        Ok(found) if !found.is_file() => {
            return Outcome::error(format!("{shown} is not a file (a pipe, socket or device)"));
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Outcome::error(format!("{shown} does not exist; use glob or list to find it"));
        }
        Err(error) => return Outcome::error(format!("{shown} can't be read: {error}")),
    }
    // Before reading: what changes meanwhile counts as not seen.
    let saw = change::seen_hash(&located.path);
    match read_opened(ctx, &located.path, &shown, range) {
        Ok(outcome) => Outcome { saw, ..outcome },
        Err(error) => Outcome::error(format!("{shown} can't be read: {error}")),
    }
}

fn read_opened(ctx: &ToolContext, path: &std::path::Path, shown: &str, range: Range) -> io::Result<Outcome> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(content::SNIFF, file);
    match content::kind(reader.fill_buf()?) {
        Kind::Other(what) => Ok(Outcome::error(format!("{shown} can't be read as text: it is {what} ({size} bytes)"))),
        Kind::Image(media_type) if size > MOST_IMAGE => Ok(Outcome::error(format!(
            "{shown} is a picture ({media_type}) of {size} bytes; up to {MOST_IMAGE} can be shown, scale it down first"
        ))),
        Kind::Image(media_type) => {
            let mut bytes = Vec::new();
            reader.take(MOST_IMAGE).read_to_end(&mut bytes)?;
            let blob = ctx.blobs.put(&bytes)?;
            let image = Part::Image { media_type: media_type.into(), blob, name: shown.to_owned() };
            let words = Part::text(format!("{shown}: {media_type}, {} bytes", bytes.len()));
            Ok(Outcome { parts: vec![words, image], ..Outcome::done("") })
        }
        Kind::Text => page(ctx, reader, shown, range, |line| String::from_utf8_lossy(line).into_owned()),
    }
}

fn read_output(ctx: &ToolContext, name: &str, range: Range) -> Outcome {
    let shown = format!("{OUTPUT}{name}");
    let reader = BufReader::new(Blob { blobs: ctx.blobs.clone(), name: name.to_owned(), at: 0 });
    page(ctx, reader, &shown, range, output::clean).unwrap_or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Outcome::error(format!("{shown} is not kept (any more); run the command again")),
        _ => Outcome::error(format!("{shown} can't be read: {error}")),
    })
}

/// Shows the lines of a range, as many as fit, and reads no further than it must.
fn page(
    ctx: &ToolContext,
    mut reader: impl BufRead,
    shown: &str,
    range: Range,
    show: impl Fn(&[u8]) -> String,
) -> io::Result<Outcome> {
    let mut page = Page::default();
    for skipped in 1..range.first {
        if skipped % 4096 == 0 && ctx.cancel.is_cancelled() {
            return Ok(Outcome::cancelled("stopped before it was done"));
        }
        if reader.skip_until(b'\n')? == 0 {
            let last = skipped - 1;
            return Ok(Outcome::error(format!(
                "{shown} has only {last} lines; `offset` {} is past its end",
                range.first
            )));
        }
    }
    let mut number = range.first;
    while number - range.first < range.count {
        let mut line = Vec::new();
        if reader.by_ref().take(MOST_LINE as u64).read_until(b'\n', &mut line)? == 0 {
            page.ended = true;
            break;
        }
        let cut = if line.ends_with(b"\n") || line.len() < MOST_LINE { 0 } else { reader.skip_until(b'\n')? };
        if !page.push(number, &line, cut, ctx.limits.tool_output_bytes, &show) {
            break;
        }
        number += 1;
    }
    if !page.ended {
        page.ended = reader.fill_buf()?.is_empty() && page.stopped_at.is_none();
    }
    Ok(Outcome::done(page.text(shown, range.first, number)))
}

/// Lines as they are shown, and what is to be said of them.
#[derive(Default)]
struct Page {
    text: String,
    ended: bool,
    stopped_at: Option<u64>,
    crlf: bool,
    lf: bool,
    bom: bool,
    unterminated: bool,
    undecodable: Option<u64>,
}

impl Page {
    /// Adds a line unless it does not fit; the first one always does.
    fn push(&mut self, number: u64, line: &[u8], cut: usize, limit: usize, show: &impl Fn(&[u8]) -> String) -> bool {
        let bom = number == 1 && line.starts_with(content::BOM);
        let bare = if bom { &line[content::BOM.len()..] } else { line };
        let (bare, end) = match bare {
            [bare @ .., b'\r', b'\n'] => (bare, "\r\n"),
            [bare @ .., b'\n'] => (bare, "\n"),
            bare => (bare, ""),
        };
        let mut text = show(bare);
        if cut > 0 {
            // The cut may have gone through a character.
            text.truncate(text.trim_end_matches('\u{fffd}').len());
            text.push_str(&format!(" [… {cut} more bytes in this line]"));
        }
        let entry = format!("{number}\t{text}\n");
        if !self.text.is_empty() && self.text.len() + entry.len() > limit {
            self.stopped_at = Some(number);
            return false;
        }
        self.text.push_str(&entry);
        self.bom |= bom;
        self.crlf |= end == "\r\n";
        self.lf |= end == "\n";
        self.unterminated = end.is_empty() && cut == 0;
        if cut == 0 && std::str::from_utf8(bare).is_err() {
            self.undecodable.get_or_insert(number);
        }
        true
    }

    fn text(mut self, shown: &str, first: u64, next: u64) -> String {
        if self.text.is_empty() {
            return if first == 1 && self.ended {
                format!("{shown} is empty")
            } else {
                format!("{shown}: no lines asked for")
            };
        }
        let mut notes = Vec::new();
        if !self.ended {
            notes.push(format!("more follows: offset {next}"));
        }
        if self.bom {
            notes.push("begins with a byte order mark".into());
        }
        match (self.crlf, self.lf) {
            (true, true) => notes.push("line ends are mixed, CRLF and LF".into()),
            (true, false) => notes.push("line ends are CRLF".into()),
            (false, _) => {}
        }
        if self.ended && self.unterminated {
            notes.push("no line end at the end".into());
        }
        if let Some(line) = self.undecodable {
            notes.push(format!("not all UTF-8: what can't be decoded is shown as \u{fffd}, first in line {line}"));
        }
        if !notes.is_empty() {
            self.text.push_str(&format!("[{}]\n", notes.join("; ")));
        }
        self.text
    }
}

/// Reads a blob piece by piece.
struct Blob {
    blobs: Arc<dyn Blobs>,
    name: String,
    at: u64,
}

impl io::Read for Blob {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let (_, bytes) = self.blobs.get(&self.name, self.at, buf.len())?;
        let count = bytes.len().min(buf.len());
        buf[..count].copy_from_slice(&bytes[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::{Bench, told};
    use crate::domain::ToolCallState;
    use serde_json::json;

    #[tokio::test]
    async fn lines_are_numbered_and_a_range_says_what_follows() {
        let bench = Bench::new();
        bench.put("a.txt", "one\ntwo\nthree\nfour\n");
        assert_eq!(bench.done(&Read, json!({"path": "a.txt"})).await, "1\tone\n2\ttwo\n3\tthree\n4\tfour\n");
        let middle = bench.done(&Read, json!({"path": "./a.txt", "offset": 2, "limit": 2})).await;
        assert_eq!(middle, "2\ttwo\n3\tthree\n[more follows: offset 4]\n");
        let end = bench.done(&Read, json!({"path": "a.txt", "offset": 4, "limit": 1})).await;
        assert_eq!(end, "4\tfour\n");
        let (state, text) = bench.call(&Read, json!({"path": "a.txt", "offset": 6})).await;
        assert_eq!(
            (state, text.as_str()),
            (ToolCallState::Error, "a.txt has only 4 lines; `offset` 6 is past its end")
        );
    }

    #[tokio::test]
    async fn what_is_special_about_a_text_is_said() {
        let bench = Bench::new();
        bench.put("a", "\u{feff}a\r\nb\nc\rd");
        let text = bench.done(&Read, json!({"path": "a"})).await;
        let notes = "[begins with a byte order mark; line ends are mixed, CRLF and LF; no line end at the end]";
        assert_eq!(text, format!("1\ta\n2\tb\n3\tc\rd\n{notes}\n"));
        bench.put("b", b"const x = 1;\n// caf\xe9 note\n");
        let text = bench.done(&Read, json!({"path": "b"})).await;
        assert!(text.contains("2\t// caf\u{fffd} note\n") && text.contains("first in line 2"), "{text}");
        bench.put("c", "");
        assert_eq!(bench.done(&Read, json!({"path": "c"})).await, "c is empty");
    }

    #[tokio::test]
    async fn what_is_no_text_is_refused_plainly() {
        let bench = Bench::new();
        bench.put("bin", b"\0\x01\x02");
        bench.put("gbk", b"\xd6\xd0\xce\xc4");
        rustix::fs::mkfifoat(rustix::fs::CWD, bench.cwd().join("pipe"), rustix::fs::Mode::RWXU).expect("a pipe");
        for (path, said) in [
            ("bin", "bin can't be read as text: it is binary (3 bytes)"),
            ("gbk", "convert it with iconv"),
            (".", ". is a folder; use list"),
            ("pipe", "is not a file"),
            ("none", "none does not exist; use glob or list"),
            ("bin/x", "bin/x can't be read"),
        ] {
            let (state, text) = bench.call(&Read, json!({"path": path})).await;
            assert_eq!(state, ToolCallState::Error);
            assert!(text.contains(said), "{text}");
        }
    }

    #[tokio::test]
    async fn a_large_file_is_read_page_by_page_without_losing_a_line() {
        let bench = Bench::new();
        let whole: String = (1..=5000).map(|n| format!("this is line {n}\n")).collect();
        bench.put("large", &whole);
        let (mut offset, mut seen) = (1, String::new());
        loop {
            let text = bench.done(&Read, json!({"path": "large", "offset": offset})).await;
            assert!(text.len() <= bench.ctx.limits.tool_output_bytes + 100);
            for line in text.lines().filter(|line| !line.starts_with('[')) {
                seen.push_str(line.split_once('\t').expect("numbered").1);
                seen.push('\n');
            }
            match text.lines().last().and_then(|line| line.strip_prefix("[more follows: offset ")) {
                Some(next) => offset = next.trim_end_matches(']').parse().expect("a number"),
                None => break,
            }
        }
        assert_eq!(seen, whole);
    }

    #[tokio::test]
    async fn an_endless_line_is_cut_and_says_so() {
        let bench = Bench::new();
        bench.put("long", format!("{}\nnext\n", "é".repeat(11_000)));
        let text = bench.done(&Read, json!({"path": "long"})).await;
        assert!(text.contains("[… 18001 more bytes in this line]\n2\tnext\n"), "{}", &text[3900..]);
        assert!(!text.contains('\u{fffd}'));
    }

    #[tokio::test]
    async fn a_picture_is_kept_and_shown() {
        let bench = Bench::new();
        let png = b"\x89PNG\r\n\x1a\n and so on";
        bench.put("p.png", png);
        let plan = bench.plan(&Read, json!({"path": "p.png"})).await.expect("planned");
        let outcome = (plan.run)(bench.ctx.clone()).await;
        assert_eq!(told(&outcome).1, "p.png: image/png, 18 bytes");
        let image = Part::Image { media_type: "image/png".into(), blob: bench.blobs.only(), name: "p.png".into() };
        assert_eq!(outcome.parts[1], image);
        bench.put("big.png", [png.as_slice(), &vec![0; MOST_IMAGE as usize]].concat());
        let (state, text) = bench.call(&Read, json!({"path": "big.png"})).await;
        assert!(state == ToolCallState::Error && text.contains("scale it down"), "{text}");
    }

    #[tokio::test]
    async fn a_kept_output_is_read_by_its_name_without_its_sequences() {
        let bench = Bench::new();
        let name = bench.blobs.put(b"one\n\x1b[31mtwo\x1b[0m\n10%\r100%\n").expect("kept");
        let path = format!("output:{name}");
        let text = bench.done(&Read, json!({"path": path, "offset": 2})).await;
        assert_eq!(text, "2\ttwo\n3\t100%\n");
        assert!(bench.plan(&Read, json!({"path": path})).await.expect("planned").action.inside);
        let (state, text) = bench.call(&Read, json!({"path": format!("output:{}", "0".repeat(64))})).await;
        assert!(state == ToolCallState::Error && text.contains("is not kept"), "{text}");
        assert!(bench.refused(&Read, json!({"path": "output:../../etc/passwd"})).await.contains("64 digits"));
    }

    #[tokio::test]
    async fn reading_outside_says_so_before_it_runs() {
        let bench = Bench::new();
        let action = bench.plan(&Read, json!({"path": "/etc/passwd"})).await.expect("planned").action;
        assert!(!action.inside);
        assert_eq!(action.beyond, "it reads /etc/passwd, outside the Task's folder");
        assert_eq!((action.subject.as_str(), action.rule_subject.as_str()), ("/etc/passwd", "/etc/passwd"));
    }
}
