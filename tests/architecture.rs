//! The walls of the house: who may know whom, which library has which room, and a few habits.
//!
//! cargo cannot hold a wall inside one package, so this reads the source. What it refuses it names
//! with file and line. The table itself is read from `docs/architecture.md`, so that it cannot drift.

#[path = "architecture/source.rs"]
mod source;

use source::{Origin, Source};
use std::collections::BTreeMap;
use std::path::Path;

/// The page that says who may import whom.
const PAGE: &str = include_str!("../docs/architecture.md");

/// The files that are the server end of the host.
const SERVER_END: &[&str] =
    &["host/server", "host/hub", "host/subscription", "host/connection", "host/desk", "host/tests"];

/// What is no room and serves them all.
const EVERYBODYS: &[&str] = &["crash"];

/// Libraries that have a room, or one place in it.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("reqwest", &["agent/model", "agent/tools/fetch", "cli/models"]),
    ("ratatui", &["tui"]),
    ("crossterm", &["tui"]),
    ("tui_textarea", &["tui"]),
    ("ratatui_textarea", &["tui"]),
    ("clap", &["cli"]),
    ("anyhow", &["cli"]),
    ("portable_pty", &["jobs"]),
];

/// Where there is no async runtime: pure rooms, the shim, and the screen but for the files that touch the world.
const WITHOUT_TOKIO: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("jobs", &[]),
    ("resources", &[]),
    ("tui", &["tui/finder", "tui/link", "tui/run", "tui/signals", "tui/input/tty"]),
];

/// The longest file, in lines that are not tests.
const LONGEST: usize = 700;

/// A line of the table: a place, and what it may name. `host::client` allows a part of a room.
type Line = (String, Vec<String>);

/// Reads the table of the page.
fn table(page: &str) -> Vec<Line> {
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let room = cells.next()?.trim_end_matches("/`").to_owned();
        let allowed = cells.nth(1)?.trim_end_matches(" |").to_owned();
        Some((room, allowed))
    });
    let rows: Vec<(String, String)> = rows.collect();
    let mut lines = Vec::new();
    for (room, allowed) in &rows {
        let (all, server_end) = allowed.split_once("; the server end also ").unwrap_or((allowed, ""));
        let own = match all {
            "nothing of ours" => Vec::new(),
            "all" => rows.iter().map(|(room, _)| room.clone()).collect(),
            list => names(list),
        };
        if !server_end.is_empty() {
            let both: Vec<String> = own.iter().cloned().chain(names(server_end)).collect();
            lines.extend(SERVER_END.iter().map(|place| ((*place).to_owned(), both.clone())));
        }
        lines.push((room.clone(), own));
    }
    lines
}

/// Reads `domain, host (client, protocol)` as `domain`, `host::client`, `host::protocol`.
fn names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut room: Option<&str> = None;
    for word in list.split(", ") {
        let (before, part) = match (word.split_once(" ("), room) {
            (Some((before, part)), _) => (Some(before), part),
            (None, Some(before)) => (Some(before), word),
            (None, None) => (None, word),
        };
        let name = part.trim_end_matches(')');
        names.push(before.map_or_else(|| name.to_owned(), |before| format!("{before}::{name}")));
        room = before.filter(|_| !part.ends_with(')'));
    }
    names
}

/// Everything wrong with the files, each a line `file:line what`.
fn faults(files: &BTreeMap<String, String>) -> Vec<String> {
    let table = table(PAGE);
    let mut faults = Vec::new();
    for (path, text) in files {
        let source = Source::read(path, text);
        let mut fault = |line: usize, what: String| faults.push(format!("src/{path}:{line} {what}"));
        if !text.starts_with("//!") {
            fault(1, "does not open with `//!`: what it owns, what it refuses, who calls it".into());
        }
        let lines = source.production_lines();
        if lines > LONGEST {
            fault(1, format!("has {lines} lines without its tests; which second subject moved in?"));
        }
        for line in source.calls_of("unwrap") {
            fault(line, "unwraps: say what is wrong, or `expect` what can't be".into());
        }
        for named in source.paths() {
            let first = named.names.first().map_or("", String::as_str);
            let what = named.names.join("::");
            match named.origin {
                Origin::Crate => {
                    if let Some(room) = source.room().filter(|room| !may_know(&table, path, room, &named.names)) {
                        fault(named.line, format!("{room} may not know {what}"));
                    }
                }
                Origin::Scope if !named.in_test => {
                    if let Some((_, places)) = LIBRARIES.iter().find(|(library, _)| *library == first)
                        && !places.iter().any(|place| is_in(path, place))
                    {
                        fault(named.line, format!("{first} belongs into {}", places.join(", ")));
                    }
                    if matches!(first, "tokio" | "tokio_util") && is_pure(path) {
                        fault(named.line, format!("{first} in a place that is pure"));
                    }
                }
                Origin::Scope => {}
            }
        }
    }
    faults
}

/// Whether the file at `path` in `room` may name this path from the crate's root.
fn may_know(table: &[Line], path: &str, room: &str, names: &[String]) -> bool {
    let Some(target) = names.first() else { return true };
    let is_room = table.iter().any(|(known, _)| known == target);
    if !is_room || target == room {
        return true;
    }
    // The most particular line of the table counts.
    let line = table.iter().filter(|(place, _)| is_in(path, place)).max_by_key(|(place, _)| place.len());
    line.is_some_and(|(_, allowed)| {
        allowed.iter().any(|allowed| {
            let mut wanted = allowed.split("::");
            wanted.next() == Some(target)
                && wanted.next().is_none_or(|part| names.get(1).is_some_and(|name| name == part))
        })
    })
}

/// Whether a file knows no async runtime.
fn is_pure(path: &str) -> bool {
    WITHOUT_TOKIO.iter().any(|(place, but)| is_in(path, place) && !but.iter().any(|place| is_in(path, place)))
}

/// Whether a file is at a place: the file itself, or a folder it is in.
fn is_in(path: &str, place: &str) -> bool {
    path.strip_prefix(place).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

/// Every source file under `src/`, by its path from there.
fn files_of_src() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of src").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).expect("under src").to_string_lossy().into_owned();
                files.insert(name, std::fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    files
}

#[test]
fn the_house_keeps_its_walls() {
    let files = files_of_src();
    assert!(files.len() > 20, "only {} files were found", files.len());
    let faults = faults(&files);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_room_stands_in_the_table() {
    let table = table(PAGE);
    for path in files_of_src().keys() {
        let room = path.split(['/', '.']).next().unwrap_or_default();
        assert!(
            matches!(room, "lib" | "main")
                || EVERYBODYS.contains(&room)
                || table.iter().any(|(known, _)| known == room),
            "no line for {path}"
        );
    }
}

#[test]
fn the_table_is_read_as_it_is_meant() {
    let page = "| room | one sentence | may import |\n|---|---|---|\n| `domain/` | words | nothing of ours |\n\
        | `host/` | process | domain, process; the server end also runtime |\n\
        | `tui/` | terminal | domain, host (client, protocol) |\n| `cli/` | all | all |\n";
    let table: BTreeMap<String, Vec<String>> = table(page).into_iter().collect();
    assert_eq!(table["domain"], [""; 0]);
    assert_eq!(table["host"], ["domain", "process"]);
    assert_eq!(table["host/server"], ["domain", "process", "runtime"]);
    assert_eq!(table["tui"], ["domain", "host::client", "host::protocol"]);
    assert_eq!(table["cli"], ["domain", "host", "tui", "cli"]);
}

/// The faults of one made-up file.
fn faults_of(path: &str, text: &str) -> Vec<String> {
    faults(&BTreeMap::from([(path.to_owned(), format!("//! Made up.\n{text}"))]))
}

#[test]
fn a_wall_that_is_broken_in_any_spelling_is_seen() {
    let spellings = [
        ("tui/view/chat.rs", "use crate::store::Store;"),
        ("tui/view/chat.rs", "use crate::{domain::Task, store::{self, Store}};"),
        ("tui/view/chat.rs", "use crate::store;"),
        ("tui/view/chat.rs", "pub(crate) use crate::store as kept;"),
        ("tui/view/chat.rs", "fn f() { crate::store::open(); }"),
        ("tui/view/chat.rs", "fn f(x: &crate::store::Store) {}"),
        ("tui/view/chat.rs", "fn f() -> Vec<crate::store::Row> { vec![] }"),
        ("tui/view/chat.rs", "macro_rules! m { () => { $crate::store::open() } }"),
        ("tui/view/chat.rs", "use coworkos::store::Store;"),
        ("tui/view/chat.rs", "#[cfg(test)] mod tests { use crate::store::Store; }"),
        ("tui/view/chat.rs", "use super::super::super::store::Store;"),
        ("tui/view.rs", "use super::super::store::Store;"),
        ("tui/mod.rs", "use super::store::Store;"),
        ("tui/mod.rs", "mod inner { use super::super::store::Store; }"),
    ];
    for (path, text) in spellings {
        let found = faults_of(path, text);
        assert!(!found.is_empty(), "{text}");
        assert!(found.iter().all(|fault| fault.contains("tui may not know store")), "{text}: {found:?}");
    }
}

#[test]
fn what_is_allowed_or_only_spoken_of_is_no_fault() {
    let fine = [
        (
            "tui/update.rs",
            "use crate::domain::{Task, TaskId};\nuse crate::host::client::Client;\nuse super::model::Model;",
        ),
        ("tui/view/chat.rs", "use super::super::model::Model; // not crate::store::Store"),
        (
            "tui/view.rs",
            "const A: &str = \"crate::store::Store\"; const B: &str = r#\"use \"crate::store::X\"#; /* crate::store */",
        ),
        ("tui/view.rs", "fn f<'a>(x: &'a str) -> char { let q = '\\''; let c = '\"'; c }"),
        ("host/server.rs", "use crate::runtime::Runtime;"),
        ("host/server/connection.rs", "use crate::runtime::Runtime;"),
        ("store/mod.rs", "use rusqlite::Connection;"),
        ("tui/input/tty.rs", "use tokio::net::unix::pipe::Receiver;"),
        ("agent/tools/fetch.rs", "use reqwest::Client;"),
        ("agent/mod.rs", "fn f(rusqlite: u8) -> u8 { rusqlite }"),
        ("agent/mod.rs", "#[cfg(test)] mod tests { fn f() { Some(1).unwrap(); ratatui::init(); } }"),
    ];
    for (path, text) in fine {
        assert_eq!(faults_of(path, text), [""; 0], "{text}");
    }
}

#[test]
fn every_other_fault_is_seen_too() {
    let wrong = [
        ("tui/update.rs", "use crate::host::server::Server;", "tui may not know host::server"),
        ("host/client.rs", "use crate::runtime::Runtime;", "host may not know runtime"),
        ("domain/task.rs", "use crate::process::spawn;", "domain may not know process"),
        ("agent/mod.rs", "use rusqlite::Connection;", "rusqlite belongs into store"),
        ("agent/tools/shell.rs", "fn f() { reqwest::get(\"x\"); }", "reqwest belongs into"),
        ("domain/task.rs", "use tokio::sync::mpsc;", "tokio in a place that is pure"),
        ("tui/update/write.rs", "use tokio::sync::mpsc;", "tokio in a place that is pure"),
        ("tui/input/decode.rs", "fn f() { tokio::spawn(g()); }", "tokio in a place that is pure"),
        ("agent/mod.rs", "fn f() { Some(1).unwrap(); }", "unwraps"),
        ("agent/mod.rs", &"fn f() {}\n".repeat(LONGEST), "which second subject"),
    ];
    for (path, text, expected) in wrong {
        let found = faults_of(path, text);
        assert!(found.len() == 1 && found[0].contains(expected), "{text}: {found:?}");
    }
    let silent = faults(&BTreeMap::from([("agent/mod.rs".to_owned(), "fn f() {}".to_owned())]));
    assert!(silent[0].contains("does not open with"), "{silent:?}");
}

#[test]
fn lines_of_tests_do_not_count() {
    let text = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{}}}\nfn g() {{}}\n", "    fn t() {}\n".repeat(50));
    assert_eq!(Source::read("agent/mod.rs", &text).production_lines(), 2);
}
