//! The walls of the house: who may know whom, which library has which room, and a few habits.
//!
//! cargo cannot hold a wall inside one package, so this reads the source. What it refuses it names
//! with file and line. The table is the one of `docs/architecture.md`.

#[path = "architecture/source.rs"]
mod source;

use source::{Origin, Source};
use std::collections::BTreeMap;
use std::path::Path;

/// Which rooms a room may import. The second word of an entry narrows it to parts of that room.
const ROOMS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("store", &["domain"]),
    ("process", &["domain"]),
    ("jobs", &["domain", "process"]),
    ("resources", &["domain"]),
    ("apps", &["domain", "process", "resources"]),
    ("agent", &["domain", "process", "resources", "apps"]),
    ("runtime", &["domain", "store", "process", "jobs", "resources", "apps", "agent"]),
    ("host", &["domain"]),
    ("host/server", &["domain", "runtime"]),
    ("tui", &["domain", "host::client", "host::protocol"]),
    ("cli", &["domain", "store", "process", "jobs", "resources", "apps", "agent", "runtime", "host", "tui"]),
];

/// What is no room and serves them all.
const EVERYBODYS: &[&str] = &["crash"];

/// Libraries that have a room, or one place in it.
const LIBRARIES: &[(&str, &[&str])] = &[
    ("rusqlite", &["store"]),
    ("reqwest", &["agent/model", "agent/tools/fetch", "cli/models"]),
    ("rmcp", &["apps"]),
    ("portable_pty", &["jobs"]),
    ("ratatui", &["tui"]),
    ("crossterm", &["tui"]),
    ("tui_textarea", &["tui"]),
    ("ratatui_textarea", &["tui"]),
    ("clap", &["cli"]),
    ("anyhow", &["cli"]),
];

/// Where there is no async runtime: pure rooms, and the pure half of the screen.
const WITHOUT_TOKIO: &[&str] = &["domain", "resources"];

/// The longest file, in lines that are not tests.
const LONGEST: usize = 700;

/// Files that are longer, and why that is right.
const LONGER: &[(&str, &str)] =
    &[("domain/records.rs", "the vocabulary: one declaration of data after the other, no logic")];

/// Everything wrong with the files, each a line `file:line what`.
fn faults(files: &BTreeMap<String, String>) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, text) in files {
        let source = Source::read(path, text);
        let mut fault = |line: usize, what: String| faults.push(format!("src/{path}:{line} {what}"));
        if !text.starts_with("//!") {
            fault(1, "does not open with `//!`: what it owns, what it refuses, who calls it".into());
        }
        let lines = source.production_lines();
        if lines > LONGEST && !LONGER.iter().any(|(long, _)| long == path) {
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
                    if let Some(room) = source.room().filter(|room| !may_know(path, room, &named.names)) {
                        fault(named.line, format!("{room} may not know {what}"));
                    }
                }
                Origin::Scope if !named.in_test => {
                    if let Some((_, places)) = LIBRARIES.iter().find(|(library, _)| *library == first)
                        && !places.iter().any(|place| is_in(path, place))
                    {
                        fault(named.line, format!("{first} belongs into {}", places.join(", ")));
                    }
                    if matches!(first, "tokio" | "tokio_util") && WITHOUT_TOKIO.iter().any(|place| is_in(path, place)) {
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
fn may_know(path: &str, room: &str, names: &[String]) -> bool {
    let Some(target) = names.first() else { return true };
    let is_room = ROOMS.iter().any(|(known, _)| known == target);
    if !is_room || target == room {
        return true;
    }
    // The most particular line of the table counts.
    let line = ROOMS.iter().filter(|(place, _)| is_in(path, place)).max_by_key(|(place, _)| place.len());
    line.is_some_and(|(_, allowed)| {
        allowed.iter().any(|allowed| {
            let mut wanted = allowed.split("::");
            wanted.next() == Some(target)
                && wanted.next().is_none_or(|part| names.get(1).is_some_and(|name| name == part))
        })
    })
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
    for path in files_of_src().keys() {
        let room = path.split(['/', '.']).next().unwrap_or_default();
        assert!(
            matches!(room, "lib" | "main")
                || EVERYBODYS.contains(&room)
                || ROOMS.iter().any(|(known, _)| *known == room),
            "no line for {path}"
        );
    }
}

#[test]
fn a_longer_file_is_excused_only_while_it_is_longer() {
    let files = files_of_src();
    for (path, _) in LONGER {
        let lines = files.get(*path).map_or(0, |text| Source::read(path, text).production_lines());
        assert!(lines > LONGEST, "{path} has {lines} lines and needs no excuse");
    }
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
        ("agent/tools/fetch.rs", "use reqwest::Client;"),
        ("agent/mod.rs", "fn f(rusqlite: u8) -> u8 { rusqlite }"),
        ("agent/mod.rs", "#[cfg(test)] mod tests { fn f() { Some(1).unwrap(); portable_pty::native_pty_system(); } }"),
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
