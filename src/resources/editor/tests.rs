//! Cases of the editor's buffer: alone, and beside others.

#![allow(clippy::single_range_in_vec_init)]

use super::*;
use crate::resources::attribution::Attribution;
use crate::resources::delta::Edit;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

fn other() -> crate::domain::Actor {
    crate::domain::Actor::system()
}

fn typed(buffer: &mut EditorBuffer, at: usize, text: &str) {
    buffer.select(Selection::caret(at));
    buffer.insert(text);
}

#[test]
fn the_caret_steps_over_whole_clusters() {
    let text = "e\u{301}👩‍👩‍👧‍👦🏳️‍🌈ทั\r\nx";
    let mut buffer = EditorBuffer::open(text, 1);
    let mut stops = vec![0];
    while stops.last() != Some(&text.len()) {
        buffer.go(Motion::Right, Reach::Move);
        stops.push(buffer.selection().head);
    }
    let expected: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
    assert_eq!(stops, expected);
    buffer.go(Motion::Left, Reach::Move);
    assert!(buffer.delete(Delete::Back), "the line end");
    assert_eq!(buffer.text(), text.replace("\r\n", ""));
    buffer.go(Motion::Start, Reach::Move);
    buffer.delete(Delete::Forward);
    assert!(buffer.text().starts_with('👩'));
}

#[test]
fn moving_up_and_down_keeps_the_column_in_cells() {
    let mut buffer = EditorBuffer::open("日本語x\nab\n\tq\n", 1);
    buffer.select(Selection::caret("日本語".len()));
    assert_eq!(buffer.column(buffer.selection().head), 6);
    buffer.go(Motion::Down(1), Reach::Move);
    assert_eq!(buffer.line(1)[..2], *"ab");
    assert_eq!(buffer.column(buffer.selection().head), 2);
    buffer.go(Motion::Down(1), Reach::Move);
    assert_eq!(buffer.column(buffer.selection().head), 5, "a tab of four, then q");
    buffer.go(Motion::Up(2), Reach::Extend);
    assert_eq!(buffer.column(buffer.selection().head), 6);
    assert_eq!(buffer.selected(), "x\nab\n\tq");
}

#[test]
fn words_lines_and_ends_are_reached_with_one_motion() {
    let mut buffer = EditorBuffer::open("  let foo_bar = 1;\nend", 1);
    let mut go = |motion| {
        buffer.go(motion, Reach::Move);
        buffer.selection().head
    };
    assert_eq!(go(Motion::WordRight), 5);
    assert_eq!(go(Motion::WordRight), 13);
    assert_eq!(go(Motion::WordLeft), 6);
    assert_eq!(go(Motion::LineEnd), 18);
    assert_eq!(go(Motion::LineStart), 2);
    assert_eq!(go(Motion::LineStart), 0);
    assert_eq!(go(Motion::Line(1)), 19);
    assert_eq!(go(Motion::Down(1)), 22);
    assert_eq!(go(Motion::Line(99)), 19);
}

#[test]
fn typing_is_one_step_and_a_new_line_keeps_the_indentation_and_the_line_end() {
    let mut buffer = EditorBuffer::open("  a\r\nb", 1);
    buffer.select(Selection::caret(3));
    for letter in ["x", "y", "z"] {
        buffer.insert(letter);
    }
    buffer.newline();
    buffer.insert("q");
    assert_eq!(buffer.text(), "  axyz\r\n  q\r\nb");
    assert!(buffer.undo() && buffer.undo());
    assert_eq!(buffer.text(), "  axyz\r\nb");
    assert!(buffer.undo());
    assert_eq!(buffer.text(), "  a\r\nb");
    assert!(!buffer.undo());
    assert!(buffer.redo() && buffer.redo() && buffer.redo() && !buffer.redo());
    assert_eq!(buffer.text(), "  axyz\r\n  q\r\nb");
}

#[test]
fn lines_are_indented_together_and_the_selection_stays_on_them() {
    let mut buffer = EditorBuffer::open("a\n\n\tb\n      c\nd\n", 1);
    buffer.select(Selection { anchor: 0, head: 14 });
    buffer.indent("    ");
    assert_eq!(buffer.text(), "    a\n\n    \tb\n          c\nd\n");
    buffer.outdent(4);
    buffer.outdent(4);
    assert_eq!(buffer.text(), "a\n\nb\n  c\nd\n");
    assert!(buffer.undo() && buffer.undo() && buffer.undo());
    assert_eq!(buffer.text(), "a\n\n\tb\n      c\nd\n");
}

#[test]
fn found_text_is_replaced_one_by_one_and_all_at_once() {
    let mut buffer = EditorBuffer::open("one two One\ntwo\n", 1);
    let two = Query::new("two", Pattern::Literal, Case::Smart).expect("compiles");
    let found = buffer.find_next(&two, 0).expect("found");
    assert_eq!(found, 4..7);
    assert_eq!(buffer.find_next(&two, 13), Some(4..7), "from the start again");
    assert_eq!(buffer.find_previous(&two, 4), Some(12..15), "from the end again");
    buffer.select(Selection { anchor: 4, head: 7 });
    assert_eq!(buffer.replace_next(&two, "2"), Some(10..13));
    assert_eq!(buffer.text(), "one 2 One\ntwo\n");
    let one = Query::new("(o)ne$", Pattern::Regex, Case::Ignore).expect("compiles");
    assert_eq!(buffer.replace_all(&one, "<$1>"), 1);
    assert_eq!(buffer.text(), "one 2 <O>\ntwo\n");
    assert!(buffer.undo());
    assert_eq!(buffer.text(), "one 2 One\ntwo\n");
    assert!(Query::new("(", Pattern::Regex, Case::Exact).is_err());
    assert!(Query::new("(", Pattern::Literal, Case::Exact).is_ok());
}

#[test]
fn a_commit_of_somebody_else_moves_neither_the_caret_nor_the_selection_off_its_text() {
    let mut buffer = EditorBuffer::open("one\ntwo\nthree\n", 4);
    buffer.select(Selection { anchor: 4, head: 7 });
    let arrival = buffer.apply_remote(&Patch::replace(0..4, "ONE and more\n".into()), 5, &other()).expect("fits");
    assert_eq!(buffer.selected(), "two");
    assert_eq!((arrival.places, arrival.meets), (vec![0..13], vec![]));
    assert_eq!(buffer.marks().len(), 1);
    assert_eq!(buffer.revision(), 5);
    assert!(!buffer.is_dirty());
    // At the end of a line the caret stays there, whatever is put after it.
    buffer.go(Motion::LineEnd, Reach::Move);
    let end = buffer.selection().head;
    buffer.apply_remote(&Patch::replace(end..end, "\nnew".into()), 6, &other()).expect("fits");
    assert_eq!(buffer.selection().head, end);
    buffer.clear_marks();
    assert!(buffer.marks().is_empty());
}

#[test]
fn unsaved_text_survives_a_commit_at_the_same_place_and_the_meeting_is_told() {
    let mut buffer = EditorBuffer::open("the quick fox\n", 1);
    buffer.select(Selection { anchor: 4, head: 9 });
    buffer.insert("slow");
    let arrival = buffer.apply_remote(&Patch::replace(4..9, "red".into()), 2, &other()).expect("fits");
    assert_eq!(buffer.text(), "the slowred fox\n");
    assert_eq!(arrival.meets, [4..11]);
    assert!(buffer.is_dirty());
    assert!(buffer.undo());
    assert_eq!(buffer.text(), "the quickred fox\n", "one's own deletion is taken back, theirs is not");
}

#[test]
fn a_save_commits_what_was_sent_and_what_is_typed_meanwhile_stays_unsaved() {
    let mut buffer = EditorBuffer::open("a\n", 1);
    assert_eq!(buffer.save(), None, "nothing to save");
    typed(&mut buffer, 1, "b");
    let save = buffer.save().expect("dirty");
    assert_eq!((save.base, save.patch.apply("a\n").as_deref()), (1, Some("ab\n")));
    assert_eq!(buffer.save(), None, "one at a time");
    buffer.insert("c");
    assert!(buffer.saved(2));
    assert_eq!((buffer.revision(), buffer.text().as_str(), buffer.is_dirty()), (2, "abc\n", true));
    assert_eq!(buffer.to_patch().apply("ab\n").as_deref(), Some("abc\n"));
    assert!(buffer.undo());
    assert!(!buffer.is_dirty(), "back at what is committed");
    assert!(buffer.undo());
    assert_eq!((buffer.text().as_str(), buffer.is_dirty()), ("a\n", true), "a saved step can be taken back");
}

#[test]
fn a_refused_save_loses_nothing() {
    let mut buffer = EditorBuffer::open("a\n", 1);
    typed(&mut buffer, 1, "b");
    buffer.save().expect("dirty");
    buffer.insert("c");
    buffer.apply_remote(&Patch::replace(0..0, "X".into()), 2, &other()).expect("fits");
    assert!(!buffer.saved(3), "that save can't have been accepted");
    assert_eq!(buffer.text(), "Xabc\n");
    let again = buffer.save().expect("dirty");
    assert_eq!((again.base, again.patch.apply("Xa\n").as_deref()), (2, Some("Xabc\n")));
}

#[test]
fn a_draft_brings_unsaved_text_back_after_a_crash() {
    let mut buffer = EditorBuffer::open("hello world\n", 7);
    assert_eq!(buffer.draft(), None);
    typed(&mut buffer, 5, ", dear");
    let json = serde_json::to_string(&buffer.draft().expect("dirty")).expect("json");
    let mut back = EditorBuffer::restore("hello world\n", &serde_json::from_str(&json).expect("json")).expect("fits");
    assert_eq!((back.text(), back.selection(), back.revision()), (buffer.text(), buffer.selection(), 7));
    assert!(back.undo() && !back.is_dirty());
    let draft = buffer.draft().expect("dirty");
    assert!(EditorBuffer::restore("hi", &draft).is_err());
}

#[test]
fn what_was_typed_and_taken_back_does_not_stand_against_what_others_write_there() {
    let mut buffer = EditorBuffer::open("one two\n", 1);
    buffer.select(Selection { anchor: 0, head: 3 });
    buffer.delete(Delete::Forward);
    assert!(buffer.undo());
    buffer.apply_remote(&Patch::replace(0..3, "ONE".into()), 2, &other()).expect("fits");
    assert_eq!((buffer.text().as_str(), buffer.is_dirty()), ("ONE two\n", false));
}

#[test]
fn the_gutter_knows_who_wrote_a_line_and_which_are_not_saved() {
    let attribution = Attribution::of_history([(0, "a\nb\nc\n"), (3, "a\nB\nc\n")]);
    let mut buffer = EditorBuffer::open("a\nB\nc\n", 3);
    typed(&mut buffer, 2, "new\n");
    typed(&mut buffer, 0, "x");
    let authors = buffer.authors(0..5, &attribution);
    let (unsaved, by) = (Some(Author::Unsaved), |revision| Some(Author::Revision(revision)));
    assert_eq!(authors, [unsaved, unsaved, by(3), by(0), None]);
}

/// What one of several people does next.
#[derive(Debug, Clone)]
enum Act {
    Type(u16, String),
    Delete(u16, u8),
    Undo,
    Redo,
    Save,
    Hear,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (any::<u16>(), "[a-z]{1,3}|京|\n|e\u{301}|👩‍👩‍👧").prop_map(|(at, text)| Act::Type(at, text)),
        3 => (any::<u16>(), 0u8..9).prop_map(|(at, n)| Act::Delete(at, n)),
        2 => Just(Act::Undo),
        1 => Just(Act::Redo),
        3 => Just(Act::Save),
        3 => Just(Act::Hear),
    ]
}

/// The revisions of a Resource, as texts.
struct Shared {
    texts: Vec<String>,
    by: Vec<usize>,
}

impl Shared {
    /// Commits as Eq. 7 says.
    fn commit(&mut self, who: usize, save: &Save) -> Option<u64> {
        let current = self.texts.len() as u64 - 1;
        (save.base == current).then(|| {
            let text = save.patch.apply(self.texts.last().expect("one")).expect("the patch fits its base");
            self.texts.push(text);
            self.by.push(who);
            current + 1
        })
    }
}

/// Hears of the next revision; tells whether there was one.
fn hear(buffer: &mut EditorBuffer, shared: &Shared) -> bool {
    let known = buffer.revision() as usize;
    let Some(next) = shared.texts.get(known + 1) else { return false };
    let patch = crate::resources::diff::patch_between(&shared.texts[known], next);
    buffer.apply_remote(&patch, known as u64 + 1, &other()).expect("fits");
    true
}

fn save(buffer: &mut EditorBuffer, shared: &mut Shared, who: usize) {
    let Some(save) = buffer.save() else { return };
    match shared.commit(who, &save) {
        Some(revision) => assert!(buffer.saved(revision)),
        None => buffer.save_refused(),
    }
}

fn sound(buffer: &EditorBuffer) {
    let text = buffer.text();
    let Selection { anchor, head } = buffer.selection();
    for at in [anchor, head] {
        assert!(at == text.len() || text.grapheme_indices(true).any(|(border, _)| border == at), "{at} in {text:?}");
    }
    for mark in buffer.marks() {
        assert!(
            mark.range.end <= text.len()
                && text.is_char_boundary(mark.range.start)
                && text.is_char_boundary(mark.range.end)
        );
    }
}

fn carry_out(buffer: &mut EditorBuffer, act: &Act) {
    let at = |n: u16| usize::from(n) % (buffer.len() + 1);
    match act {
        Act::Type(place, text) => {
            let place = at(*place);
            typed(buffer, place, text);
        }
        Act::Delete(place, n) => {
            let place = at(*place);
            buffer.select(Selection { anchor: place, head: (place + usize::from(*n)).min(buffer.len()) });
            buffer.delete(Delete::Forward);
        }
        Act::Undo => {
            buffer.undo();
        }
        Act::Redo => {
            buffer.redo();
        }
        Act::Save | Act::Hear => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_number_of_people_end_with_the_committed_text(
        start in "[a-z京\n]{0,30}", acts in proptest::collection::vec((0usize..4, act()), 0..60),
    ) {
        let mut shared = Shared { texts: vec![start.clone()], by: vec![] };
        let mut buffers: Vec<EditorBuffer> = (0..4).map(|_| EditorBuffer::open(&start, 0)).collect();
        for (who, act) in &acts {
            let buffer = &mut buffers[*who];
            match act {
                Act::Save => save(buffer, &mut shared, *who),
                Act::Hear => {
                    hear(buffer, &shared);
                }
                local => carry_out(buffer, local),
            }
            sound(buffer);
            let base = shared.texts[buffer.revision() as usize].clone();
            prop_assert_eq!(buffer.to_patch().apply(&base), Some(buffer.text()), "base and change give the screen");
        }
        for (who, buffer) in buffers.iter_mut().enumerate() {
            while hear(buffer, &shared) {}
            save(buffer, &mut shared, who);
        }
        for buffer in &mut buffers {
            while hear(buffer, &shared) {}
            prop_assert!(!buffer.is_dirty());
            prop_assert_eq!(&buffer.text(), shared.texts.last().expect("one"));
        }
    }

    #[test]
    fn undoing_everything_leaves_what_the_others_wrote_and_nothing_else(
        mine in proptest::collection::vec((0usize..10, "[a-z]{1,3}|京\n"), 1..8),
        theirs in proptest::collection::vec((0usize..10, "[A-Z]{0,4}"), 0..8),
        order in proptest::collection::vec(any::<bool>(), 16),
    ) {
        // I write at the ends of lines, they rewrite what stands at their starts.
        let base: String = (0..10).map(|n| format!("line{n}|\n")).collect();
        let mut buffer = EditorBuffer::open(&base, 0);
        let mut committed = base.clone();
        let (mut mine, mut theirs) = (mine.iter(), theirs.iter());
        let mut revision = 0;
        for first in order {
            if first {
                let Some((line, text)) = mine.next() else { continue };
                let bar = buffer.text().match_indices('|').nth(*line).map(|(at, _)| at + 1).expect("ten bars");
                typed(&mut buffer, bar, text);
                buffer.pause();
            } else {
                let Some((line, text)) = theirs.next() else { continue };
                let bar = committed.match_indices('|').nth(*line).map(|(at, _)| at).expect("ten bars");
                let start = committed[..bar].rfind('\n').map_or(0, |end| end + 1);
                let patch = Patch::replace(start..bar, text.clone());
                committed = patch.apply(&committed).expect("fits");
                revision += 1;
                buffer.apply_remote(&patch, revision, &other()).expect("fits");
            }
        }
        let written = buffer.text();
        while buffer.undo() {}
        prop_assert_eq!(buffer.text(), committed.clone());
        prop_assert!(!buffer.is_dirty());
        while buffer.redo() {}
        prop_assert_eq!(buffer.text(), written);
    }

    #[test]
    fn the_caret_stays_at_its_cluster_while_others_write(
        pieces in proptest::collection::vec("[a-z]|京|e\u{301}|👩‍👩‍👧|\n|\r\n", 1..30), at in any::<u16>(),
        edits in proptest::collection::vec((any::<u16>(), 0u8..4, "[A-Z\n]{0,3}"), 1..5), local in "[xyz]{0,3}",
    ) {
        let base = pieces.concat();
        let clusters: Vec<(usize, &str)> = base.grapheme_indices(true).collect();
        let (at, cluster) = clusters[usize::from(at) % clusters.len()];
        let mut buffer = EditorBuffer::open(&base, 0);
        typed(&mut buffer, base.len(), &local);
        buffer.select(Selection::caret(at));
        // Others delete whole clusters, none of which is the caret's, and write letters and lines.
        let mut cuts: Vec<Edit> = edits.iter().map(|(place, n, text)| {
            let first = usize::from(*place) % (clusters.len() + 1);
            let last = (first + usize::from(*n)).min(clusters.len());
            let byte = |number: usize| clusters.get(number).map_or(base.len(), |(at, _)| *at);
            Edit { at: byte(first), delete: byte(last) - byte(first), insert: text.clone() }
        }).filter(|edit| !(edit.at..edit.at + edit.delete).contains(&at)).collect();
        cuts.sort_by_key(|edit| edit.at);
        let mut end = 0;
        cuts.retain(|edit| { let fits = edit.at >= end; if fits { end = edit.at + edit.delete; } fits });
        let patch = Patch::of_edits(cuts).expect("in order");
        let before_line_end = cluster.ends_with('\n');
        let previous = base[..at].graphemes(true).next_back().map(str::to_owned);
        let previous_goes = patch.edits().iter().any(|edit| edit.delete > 0 && edit.at + edit.delete == at);
        buffer.apply_remote(&patch, 1, &other()).expect("fits");
        let text = buffer.text();
        let head = buffer.selection().head;
        if before_line_end {
            // At the end of a line it stays right behind what it was behind.
            if let Some(previous) = previous.filter(|_| !previous_goes) {
                prop_assert!(text[..head].ends_with(&previous), "{:?} at {head} after {previous:?}", text);
            }
        } else {
            prop_assert!(text[head..].starts_with(cluster), "{:?} at {head}: {cluster:?}", text);
        }
        prop_assert!(text.contains(&local));
    }
}
