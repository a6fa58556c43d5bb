//! Pages that are written from what they describe, so that they can't drift.
//!
//! `UPDATE_DOCS=1 cargo test --test docs` writes them anew.

use std::fmt::Write;
use std::path::Path;

fn keep(page: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, text).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "docs/{page} is not what its source says; UPDATE_DOCS=1 cargo test --test docs writes it");
}

#[test]
fn the_page_of_keys_is_the_keymap() {
    keep("keys.md", &coworkos::tui::keys_markdown());
}

#[test]
fn the_table_of_what_survives_what_is_the_one_that_doctor_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/state.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (before, rest) = page.split_once("<!-- survival -->\n").expect("where the table begins");
    let (_, after) = rest.split_once("<!-- /survival -->").expect("where it ends");
    let table = coworkos::cli::survival::markdown();
    keep("state.md", &format!("{before}<!-- survival -->\n{table}<!-- /survival -->{after}"));
}

#[test]
fn every_cell_of_what_survives_what_names_a_promise_that_exists() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/promises");
    let files = std::fs::read_dir(folder).expect("the promises").map(|entry| entry.expect("a file").path());
    let source: String =
        files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).expect("read")).collect();
    for cell in coworkos::cli::survival::cells() {
        assert!(source.contains(&format!("#[test]\nfn {}()", cell.proof)), "{cell:?}");
    }
}

#[test]
fn the_page_of_the_schema_is_the_schema() {
    let mut page = String::from(
        "# Schema\n\nWritten from `src/store/schema/`. What holds it together is in [state.md](state.md).\n",
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/store/schema");
    let mut steps: Vec<_> = std::fs::read_dir(folder).expect("a folder").map(|e| e.expect("a file").path()).collect();
    steps.sort();
    for step in steps {
        describe(&std::fs::read_to_string(step).expect("read"), &mut page);
    }
    keep("schema.md", &page);
}

/// Writes a section for each table and view: the comment before it, then its columns with theirs.
fn describe(sql: &str, page: &mut String) {
    let mut comment = String::new();
    let mut inside = false;
    for line in sql.lines() {
        if let Some(text) = line.strip_prefix("-- ") {
            if text.starts_with("----") {
                comment.clear();
            } else {
                let _ = write!(comment, "{}{text}", if comment.is_empty() { "" } else { " " });
            }
        } else if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            let name = rest.split_whitespace().next().unwrap_or_default();
            let _ = write!(page, "\n## {name}\n\n{}\n\n```sql\n", sentence(&comment));
            comment.clear();
            inside = true;
        } else if let Some(rest) = line.strip_prefix("CREATE VIEW ") {
            let name = rest.split_whitespace().next().unwrap_or_default();
            let _ = write!(page, "\n## {name} (view)\n\n{}\n", sentence(&comment));
            comment.clear();
        } else if inside && line.starts_with(')') {
            page.push_str("```\n");
            inside = false;
        } else if inside {
            let _ = writeln!(page, "{}", line.trim_start());
        } else if line.trim().is_empty() {
            comment.clear();
        }
    }
}

fn sentence(comment: &str) -> String {
    let mut letters = comment.chars();
    match letters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), letters.as_str().trim_end_matches('.')),
        None => String::new(),
    }
}
