//! Figures of shared documents: what a thousand revisions take, what blame, merge and the editor
//! cost in a large text: `cargo bench --bench resources`, or a section with a word of `main` after
//! `--`. They measure and judge nothing.

use coworkos::domain::Actor;
use coworkos::resources::attribution::Attribution;
use coworkos::resources::editor::{Case, Delete, EditorBuffer, Motion, Pattern, Query, Reach, Selection};
use coworkos::resources::manifest::{self, Kept};
use coworkos::resources::merge::{self, Grain};
use coworkos::resources::text::{Document, Syntax, content_of};
use coworkos::resources::{Adapter, diff, lines};
use serde_json::json;
use std::time::{Duration, Instant};

struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides.max(1)
    }
}

/// A Markdown text of at least so many bytes: a heading now and then, paragraphs of real length.
fn text(dice: &mut Dice, bytes: usize) -> String {
    const WORDS: &[&str] =
        &["the", "shared", "document", "changes", "北京", "every", "day", "and", "nobody", "overwrites"];
    let mut out = String::with_capacity(bytes + 200);
    let mut number = 0;
    while out.len() < bytes {
        if number % 50 == 0 {
            out.push_str(&format!("## Section {}\n\n", number / 50));
        }
        for _ in 0..4 + dice.roll(12) {
            out.push_str(WORDS[dice.roll(WORDS.len())]);
            out.push(' ');
        }
        out.push_str(&format!("{number}\n"));
        number += 1;
    }
    out
}

/// Replaces some words somewhere.
fn edited(dice: &mut Dice, text: &str) -> String {
    let border = |from: usize| (from..).find(|at| text.is_char_boundary(*at)).expect("a border");
    let at = border(dice.roll(text.len() - 200));
    let end = border(at + dice.roll(40));
    [&text[..at], "some new words ", &text[end..]].concat()
}

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = run();
    println!("  {what}: {:.2?}", start.elapsed());
    out
}

fn a_thousand_revisions_of_ten_megabytes() {
    let mut dice = Dice(3);
    let mut now = text(&mut dice, 10 << 20);
    let (mut stored, mut sums, mut rows, mut alone) = (0u64, 0u64, 0usize, 0usize);
    let mut previous: Option<Kept> = None;
    let mut spent = Duration::ZERO;
    for revision in 0..=1000 {
        if revision > 0 {
            now = edited(&mut dice, &now);
        }
        sums += now.len() as u64;
        let content = content_of(&now, Syntax::Markdown);
        let start = Instant::now();
        let keep = manifest::keep(content, previous.as_ref());
        spent += start.elapsed();
        stored += keep.blobs.iter().map(|blob| blob.range.len() as u64).sum::<u64>();
        rows += keep.row.parts.len();
        alone += usize::from(keep.row.depth == 0);
        previous = Some(keep.written(None));
    }
    println!(
        "1000 edits of 10 MiB: texts {} MiB, blobs {:.1} MiB, {rows} rows of parts in 1001 lists ({alone} alone), {:.2?} a revision",
        sums >> 20,
        stored as f64 / f64::from(1 << 20),
        spent / 1001
    );
}

fn blame_over_ten_thousand_revisions() {
    let mut dice = Dice(5);
    let mut now = text(&mut dice, 1 << 20);
    let mut attribution = Attribution::of_text(&now, 0);
    let mut spent = Duration::ZERO;
    for revision in 1..=10_000 {
        let next = edited(&mut dice, &now);
        let start = Instant::now();
        attribution.advance_text(&now, &next, revision);
        spent += start.elapsed();
        now = next;
    }
    println!(
        "10000 revisions of 1 MiB: {:.2?} to carry authorship on, {} runs, {} bytes as JSON",
        spent / 10_000,
        attribution.runs.len(),
        serde_json::to_string(&attribution).expect("json").len()
    );
    timed("authors of all lines", || attribution.of_lines(0..lines::count(&now)));
}

fn the_editor_in_twenty_megabytes() {
    let mut dice = Dice(7);
    let large = text(&mut dice, 20 << 20);
    println!("editor, {} MiB, {} lines", large.len() >> 20, lines::count(&large));
    let mut buffer = timed("open", || EditorBuffer::open(&large, 0));
    timed("1000 keys typed in the middle", || {
        buffer.select(Selection::caret(large.len() / 2));
        (0..1000).for_each(|_| buffer.insert("x"));
    });
    timed("1000 edits all over", || {
        for _ in 0..1000 {
            buffer.go(Motion::To(dice.roll(buffer.len())), Reach::Move);
            buffer.insert("new");
            buffer.delete(Delete::Back);
        }
    });
    timed("100 keys after that", || (0..100).for_each(|_| buffer.insert("x")));
    timed("1000 motions down, with lines read", || {
        for _ in 0..1000 {
            buffer.go(Motion::Down(40), Reach::Move);
            std::hint::black_box(buffer.line(buffer.line_of(buffer.selection().head)).len());
        }
    });
    let save = timed("save: the patch", || buffer.save()).expect("dirty");
    timed("saved", || buffer.saved(1));
    let committed = timed("the patch applied by a commit", || save.patch.apply(&large)).expect("fits");
    buffer.insert("unsaved");
    let remote = edited(&mut dice, &committed);
    let patch = timed("the change between two revisions", || diff::patch_between(&committed, &remote));
    timed("a remote commit over 1000 steps of history", || buffer.apply_remote(&patch, 2, &Actor::system()))
        .expect("fits");
    timed("undo", || buffer.undo());
    let attribution = Attribution::of_text(&remote, 2);
    timed("the gutter of 60 lines", || buffer.authors(200_000..200_060, &attribution));
    let query = Query::new("nowhere to be found", Pattern::Literal, Case::Smart).expect("compiles");
    timed("find what is nowhere", || buffer.find_next(&query, 0));
    let query = Query::new("nobody", Pattern::Literal, Case::Exact).expect("compiles");
    println!("  {} replaced", timed("replace all", || buffer.replace_all(&query, "somebody")));
    timed("a key after that", || buffer.insert("x"));
    timed("undo of that", || buffer.undo());
    timed("a paste of all", || buffer.insert(&large));
    timed("a key after that", || buffer.insert("x"));
}

fn operations_merges_and_differences_in_twenty_megabytes() {
    let mut dice = Dice(11);
    let base = text(&mut dice, 20 << 20);
    println!("document, {} MiB", base.len() >> 20);
    let content = content_of(&base, Syntax::Markdown);
    let append = json!({"op": "append", "path": ["Section 300"], "text": "a new line"});
    let applied =
        timed("append to a section", || Document.apply(&content, &append)).expect("applied").ready().expect("ready");
    let patch = json!({"op": "patch", "edits": [{"at": 9, "delete": 0, "insert": "x"}]});
    let _ = timed("a patch of an editor", || Document.apply(&content, &patch)).expect("applied");
    timed("digest", || Document.digest(&content, &applied.content)).expect("made");
    timed("outline", || Document.outline(&content)).expect("made");
    timed("inspect", || Document.inspect(&content, &|_| coworkos::resources::adapter::Existence::Unknown))
        .expect("made");
    let keep = timed("keep, for the first time", || manifest::keep(content.clone(), None));
    timed("keep, after an edit", || manifest::keep(applied.content.clone(), Some(&keep.kept)));
    let (mut theirs, mut mine) = (base.clone(), base.clone());
    for _ in 0..20 {
        theirs = edited(&mut dice, &theirs);
        mine = edited(&mut dice, &mine);
    }
    timed("merge of 20 edits beside 20", || merge::texts(&base, &theirs, &mine, Grain::Words));
    let other = text(&mut Dice(99), 20 << 20);
    println!("  {} hunks", timed("difference to quite another text", || lines::hunks(&base, &other)).len());
    let crlf = base.replace('\n', "\r\n");
    println!("  {} hunks", timed("difference to the same with CRLF", || lines::hunks(&base, &crlf)).len());
    timed("its patch", || diff::patch_between(&base, &crlf));
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let all: [(&str, fn()); 4] = [
        ("revisions", a_thousand_revisions_of_ten_megabytes),
        ("blame", blame_over_ten_thousand_revisions),
        ("editor", the_editor_in_twenty_megabytes),
        ("merge", operations_merges_and_differences_in_twenty_megabytes),
    ];
    for (name, bench) in all {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            println!("== {name}");
            bench();
        }
    }
}
