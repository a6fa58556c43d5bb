//! Edits are lossless: whatever was not touched is the same, byte for byte.

use super::apply::apply;
use super::*;
use crate::agent::tools::testing::{Bench, told};
use crate::domain::ToolCallState;
use serde_json::json;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn one(old: &str, new: &str) -> Replacement {
    Replacement { old: old.into(), new: new.into(), all: false }
}

fn edited(before: &[u8], edits: &[Replacement]) -> Vec<u8> {
    apply(before, edits).expect("it applies").0
}

fn wrong(before: &[u8], edit: Replacement) -> String {
    apply(before, &[edit]).expect_err("it does not apply")
}

#[test]
fn bytes_that_cannot_be_decoded_stay() {
    let before = b"const x = 1;\n// caf\xe9 note\n";
    assert_eq!(edited(before, &[one("const x = 1;", "const x = 2;")]), b"const x = 2;\n// caf\xe9 note\n");
    assert_eq!(edited(before, &[one("note", "remark")]), b"const x = 1;\n// caf\xe9 remark\n");
    assert!(wrong(before, one("note", "nöte")).contains("only ASCII can be put into it"));
    assert!(wrong(before, one("café", "cafe")).contains("is not in it"));
}

#[test]
fn an_ascii_letter_that_is_the_second_half_of_a_character_is_not_replaced() {
    // 0x5c is a backslash, and here the end of one Japanese character in Shift-JIS.
    let before = b"\x83\x5c = a;\n";
    assert!(wrong(before, one("\\", "/")).contains("right after a byte that can't be decoded"));
    assert_eq!(edited(before, &[one("= a", "= b")]), b"\x83\x5c = b;\n");
}

#[test]
fn a_byte_order_mark_stays() {
    assert_eq!(edited("\u{feff}a\nb\n".as_bytes(), &[one("a\n", "A\n")]), "\u{feff}A\nb\n".as_bytes());
}

#[test]
fn mixed_line_ends_stay_and_new_lines_get_those_of_their_place() {
    let before = b"a\r\nb\nc\rd";
    assert_eq!(edited(before, &[one("b", "B")]), b"a\r\nB\nc\rd");
    assert_eq!(edited(before, &[one("a\nb\nc", "a\nB\nc")]), b"a\r\nB\nc\rd");
    assert_eq!(edited(before, &[one("a\nb", "a\nx\ny\nb")]), b"a\r\nx\r\ny\r\nb\nc\rd");
    assert_eq!(edited(before, &[one("a\nb\nc\nd", "a\nb\nc\nD")]), b"a\r\nb\nc\rD");
    assert_eq!(edited(before, &[one("d", "d\ne")]), b"a\r\nb\nc\rd\re");
    assert_eq!(edited(b"1\r\n2\r\n", &[one("2", "2\n3")]), b"1\r\n2\r\n3\r\n");
    assert_eq!(edited(b"1\r\n2\r\n3\r\n", &[one("1\n2\n", "one\ntwo\n")]), b"one\r\ntwo\r\n3\r\n");
    assert_eq!(edited(b"1\r\n2\r\n3\r\n", &[one("2\n", "")]), b"1\r\n3\r\n");
}

#[test]
fn line_ends_that_were_written_out_are_taken_as_meant() {
    assert_eq!(edited(b"1\r\n2\r\n", &[one("1\r\n2", "1\n2\r\n3")]), b"1\n2\r\n3\r\n");
    assert_eq!(edited(b"1\n2\n", &[one("1\r\n2", "1\n3")]), b"1\n3\n");
}

#[test]
fn a_missing_end_stays_missing() {
    assert_eq!(edited(b"a\nlast", &[one("a\n", "b\n")]), b"b\nlast");
    assert_eq!(edited(b"a\nlast", &[one("last", "end")]), b"a\nend");
}

#[test]
fn several_edits_are_made_in_order_and_all_or_none() {
    assert_eq!(edited(b"a b c", &[one("a", "x"), one("x b", "y")]), b"y c");
    let error = apply(b"a b", &[one("a", "x"), one("gone", "y")]).expect_err("refused");
    assert!(error.starts_with("edits[1]: `old` is not in it"), "{error}");
    let all = Replacement { all: true, ..one("a", "bb") };
    assert_eq!(apply(b"a-a-a", &[all]).expect("applies"), (b"bb-bb-bb".to_vec(), 3));
    let overlapping = Replacement { all: true, ..one("aa", "b") };
    assert_eq!(edited(b"aaaaa", &[overlapping]), b"bba");
}

#[test]
fn what_is_not_unique_says_how_often_and_where() {
    let error = wrong(b"x\ny\nx\n", one("x", "z"));
    assert!(error.contains("2 times (lines 1, 3)") && error.contains("set `all`"), "{error}");
    assert!(wrong(b"aaa", one("aa", "b")).contains("2 times"), "overlapping matches are not unique");
}

#[test]
fn what_is_not_there_shows_what_comes_closest() {
    let file = b"fn main() {\n    let value = compute(1);\n    print(value);\n}\n";
    let near = wrong(file, one("let value = compute(2);", "x"));
    let now = "It reads now:\n1\tfn main() {\n2\t    let value = compute(1);\n3\t    print(value);\n4\t}\n";
    assert_eq!(near, format!("`old` is not in it. Nearest is line 2. {now}"));
    let blanks = wrong(file, one("\tlet value = compute(1);", "x"));
    assert!(blanks.contains("Line 2 differs only in blanks."), "{blanks}");
    let later = wrong(file, one("fn main() {\n    let value = compute(1);\n    show(value);", "x"));
    assert!(later.contains("Line 3 is another than `    show(value);`."), "{later}");
    let beyond = wrong(file, one("}\nmore", "x"));
    assert!(beyond.contains("It ends after line 4 where `old` goes on with `more`."), "{beyond}");
    assert!(wrong(file, one("zzzzqqqq", "x")).contains("No line is near it. It reads now:\n1\tfn"));
    assert!(wrong(b"", one("a", "x")).contains("The file is empty."));
    let long: String = (1..=500).map(|n| format!("the line with number {n}\n")).collect();
    let near = wrong(long.as_bytes(), one("the lime with number 250", "x"));
    assert!(near.contains("Nearest is line 250.") && near.lines().count() == 12, "{near}");
    assert!(wrong(file, one("", "x")).contains("`old` is empty"));
    assert!(wrong(file, one("fn", "fn")).contains("are the same"));
}

#[tokio::test]
async fn mode_and_link_are_kept_and_everything_is_one_write() {
    let bench = Bench::new();
    bench.put("real.sh", "#!/bin/sh\necho one\necho two\n");
    let real = bench.cwd().join("real.sh");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o755)).expect("set");
    std::os::unix::fs::symlink("real.sh", bench.cwd().join("link.sh")).expect("linked");
    let edits = json!([{"old": "one", "new": "1"}, {"old": "two", "new": "2"}]);
    let text = bench.done(&Edit, json!({"path": "link.sh", "edits": edits})).await;
    assert!(text.starts_with("real.sh: edited in 2 places\n@@"), "{text}");
    assert_eq!(bench.bytes("real.sh"), b"#!/bin/sh\necho 1\necho 2\n");
    assert!(bench.cwd().join("link.sh").is_symlink());
    assert_eq!(std::fs::metadata(&real).expect("there").mode() & 0o7777, 0o755);
    assert_eq!(std::fs::read_dir(bench.cwd()).expect("read").count(), 2, "nothing is left behind");
}

#[tokio::test]
async fn what_is_no_text_or_not_there_is_refused_plainly() {
    let bench = Bench::new();
    bench.put("gbk", b"\xd6\xd0\xce\xc4");
    bench.put("bin", b"a\0b");
    let call = |path: &str| json!({"path": path, "edits": [{"old": "a", "new": "b"}]});
    assert!(bench.refused(&Edit, call("gbk")).await.contains("can't be edited as text"));
    assert!(bench.refused(&Edit, call("bin")).await.contains("it is binary"));
    assert!(bench.refused(&Edit, call("none")).await.contains("create it with write"));
    assert!(bench.refused(&Edit, json!({"path": "bin", "edits": []})).await.contains("`edits` is empty"));
    assert_eq!(bench.bytes("gbk"), b"\xd6\xd0\xce\xc4");
}

#[tokio::test]
async fn a_file_that_a_person_changed_in_between_is_left_to_them() {
    let bench = Bench::new();
    bench.put("f", "a\nb\nc\n");
    let plan = bench.plan(&Edit, json!({"path": "f", "edits": [{"old": "b", "new": "B"}]})).await.expect("planned");
    bench.put("f", "a\nb\nperson\n");
    let (state, text) = told(&(plan.run)(bench.ctx.clone()).await);
    assert_eq!(state, ToolCallState::Error);
    assert!(text.contains("changed by someone else") && text.contains("+person\n"), "{text}");
    assert_eq!(bench.bytes("f"), b"a\nb\nperson\n");
}

#[tokio::test]
async fn a_cancelled_edit_writes_nothing() {
    let bench = Bench::new();
    bench.put("f", "a");
    let plan = bench.plan(&Edit, json!({"path": "f", "edits": [{"old": "a", "new": "b"}]})).await.expect("planned");
    bench.ctx.cancel.cancel();
    assert_eq!((plan.run)(bench.ctx.clone()).await.state, ToolCallState::Cancelled);
    assert_eq!(bench.bytes("f"), b"a");
}

proptest::proptest! {
    #[test]
    fn only_the_replaced_bytes_differ(
        before in proptest::collection::vec(proptest::sample::select(b"ab\r\n\xe9\xc3\xa9".to_vec()), 0..40),
        after in proptest::collection::vec(proptest::sample::select(b"ab\r\n\xe9\xc3\xa9".to_vec()), 0..40),
        new in "[ab]{0,3}",
    ) {
        let file = [before.as_slice(), b"\nMARK", &after].concat();
        let edits = [Replacement { old: "MARK".into(), new: new.clone(), all: false }];
        let expected = [before.as_slice(), b"\n", new.as_bytes(), &after].concat();
        proptest::prop_assert_eq!(apply(&file, &edits).expect("it applies").0, expected);
    }
}
