//! Cases of the document adapter as a whole.

use super::decode::BOM;
use super::*;
use crate::resources::adapter::Existence;
use proptest::prelude::*;
use serde_json::json;

fn apply(text: &str, syntax: Syntax, operation: Value) -> Result<(String, Applied), Refusal> {
    let applied = Document.apply(&content_of(text, syntax), &operation)?.ready()?;
    Document.validate(&applied.content)?;
    Ok((text_of(&applied.content)?.to_owned(), applied))
}

fn markdown(text: &str, operation: Value) -> String {
    apply(text, Syntax::Markdown, operation).expect("applied").0
}

const DOC: &str = "# Guide\n\nintro\n\n## Install\n\nget it\n\n### Linux\n\nrun it\n\n## Use\n\nuse it\n";

#[test]
fn t15_untouched_bytes_stay_as_they_are() {
    let quote = |text: &str, new: &str| json!({"op": "replace", "at": {"by": "quote", "text": text}, "text": new});
    for (before, operation, after) in [
        ("\u{feff}a\nb\n", quote("b", "c"), "\u{feff}a\nc\n"),
        ("a\r\nb\nc\rd", quote("b", "x\ny"), "a\r\nx\r\ny\nc\rd"),
        ("a\r\nb", quote("b", "x\ny"), "a\r\nx\r\ny"),
        ("a\nb", json!({"op": "append", "text": "c\n"}), "a\nb\nc"),
        ("a\nb\n", json!({"op": "append", "text": "c"}), "a\nb\nc\n"),
        ("", json!({"op": "append", "text": "c"}), "c\n"),
        ("a\r\n", json!({"op": "append", "text": "b\nc\n"}), "a\r\nb\r\nc\r\n"),
        (
            "a\nb",
            json!({"op": "replace", "at": {"by": "lines", "from": 2, "to": 2, "hash": line_hash("b")}, "text": "c\n"}),
            "a\nc",
        ),
        (
            "a\nb",
            json!({"op": "insert_before", "at": {"by": "lines", "from": 2, "to": 2, "hash": line_hash("b")}, "text": "c"}),
            "a\nc\nb",
        ),
        ("a\nb", json!({"op": "insert_after", "at": {"by": "all"}, "text": "c"}), "a\nb\nc"),
        ("a\nb\n", json!({"op": "delete", "at": {"by": "lines", "from": 1, "to": 1, "hash": line_hash("a")}}), "b\n"),
        ("a", json!({"op": "set_text", "text": "b\r\n"}), "b\r\n"),
        ("日本語", json!({"op": "patch", "edits": [{"at": 3, "delete": 3, "insert": "x"}]}), "日x語"),
        ("a b a\n", json!({"op": "replace_each", "find": "a", "text": "aa", "count": 2}), "aa b aa\n"),
    ] {
        assert_eq!(
            apply(before, Syntax::Plain, operation.clone()).expect("applied").0,
            after,
            "{before:?} {operation}"
        );
    }
}

#[test]
fn t15_what_is_not_text_is_refused() {
    for bytes in [&b"const x = 1;\n// caf\xe9 note\n"[..], &[0xd6, 0xd0, 0xce, 0xc4]] {
        let content = Content::single(PART, "text/plain", bytes);
        let refusal = Document.apply(&content, &json!({"op": "append", "text": "x"})).expect_err("refused");
        assert!(matches!(refusal, Refusal::NotText { .. }));
        let file = Foreign { name: "a.js".into(), media_type: String::new(), bytes: bytes.into() };
        assert!(matches!(Document.read(&file), Err(Refusal::NotText { .. })));
    }
}

#[test]
fn a_section_is_replaced_deleted_and_set_as_a_block_of_its_own() {
    let at = |path: &[&str]| json!({"by": "section", "path": path});
    assert_eq!(
        markdown(DOC, json!({"op": "delete", "at": at(&["Install"])})),
        "# Guide\n\nintro\n\n## Use\n\nuse it\n"
    );
    assert_eq!(
        markdown(DOC, json!({"op": "insert_after", "at": at(&["Install"]), "text": "## Run\n\nrun"})),
        DOC.replace("## Use", "## Run\n\nrun\n\n## Use")
    );
    assert_eq!(
        markdown(DOC, json!({"op": "insert_before", "at": at(&["Use"]), "text": "## Run"})),
        DOC.replace("## Use", "## Run\n\n## Use")
    );
    assert_eq!(
        markdown(DOC, json!({"op": "set_body", "path": ["Install"], "text": "fetch it"})),
        DOC.replace("get it", "fetch it")
    );
    assert_eq!(
        markdown(
            DOC,
            json!({"op": "set_body", "path": ["Install"], "text": "## Install\n\nall new", "extent": "whole"})
        ),
        "# Guide\n\nintro\n\n## Install\n\nall new\n\n## Use\n\nuse it\n"
    );
    assert_eq!(
        markdown(DOC, json!({"op": "set_body", "path": ["Use"], "text": "done"})),
        DOC.replace("use it", "done")
    );
    assert_eq!(
        markdown("# A", json!({"op": "set_body", "path": ["A"], "text": "done\n"})),
        "# A\n\ndone",
        "no final line end stays none"
    );
    assert_eq!(
        markdown(DOC, json!({"op": "append", "path": ["Install"], "text": "- more"})),
        DOC.replace("get it\n", "get it\n- more\n")
    );
    assert_eq!(markdown("# A\n# B\n", json!({"op": "append", "path": ["A"], "text": "text"})), "# A\n\ntext\n\n# B\n");
}

#[test]
fn a_moved_section_takes_its_subsections_along_and_fits_its_new_depth() {
    assert_eq!(
        markdown(DOC, json!({"op": "move_section", "path": ["Install"], "to": {"place": "after", "path": ["Use"]}})),
        "# Guide\n\nintro\n\n## Use\n\nuse it\n\n## Install\n\nget it\n\n### Linux\n\nrun it\n"
    );
    assert_eq!(
        markdown(DOC, json!({"op": "move_section", "path": ["Use"], "to": {"place": "before", "path": ["Install"]}})),
        "# Guide\n\nintro\n\n## Use\n\nuse it\n\n## Install\n\nget it\n\n### Linux\n\nrun it\n"
    );
    assert_eq!(
        markdown(DOC, json!({"op": "move_section", "path": ["Install"], "to": {"place": "into", "path": ["Use"]}})),
        "# Guide\n\nintro\n\n## Use\n\nuse it\n\n### Install\n\nget it\n\n#### Linux\n\nrun it\n"
    );
    let setext = "# A\n\nOne\n===\n\nx\n\n## Two\n\ny";
    assert_eq!(
        markdown(setext, json!({"op": "move_section", "path": ["One"], "to": {"place": "into", "path": ["A"]}})),
        "# A\n\n## One\n\nx\n\n### Two\n\ny"
    );
    let into_itself = json!({"op": "move_section", "path": ["Install"], "to": {"place": "into", "path": ["Linux"]}});
    assert!(apply(DOC, Syntax::Markdown, into_itself).is_err());
}

#[test]
fn an_item_of_code_is_replaced_with_its_comments() {
    let code = "use x;\n\n/// Old.\nfn a() {\n    1\n}\n\nfn b() {}\n";
    let rust = Syntax::of_name("a.rs");
    let replace = json!({"op": "replace", "at": {"by": "section", "path": ["a"]}, "text": "/// New.\nfn a() {}"});
    let (text, applied) = apply(code, rust, replace).expect("applied");
    assert_eq!(text, "use x;\n\n/// New.\nfn a() {}\n\nfn b() {}\n");
    assert_eq!(applied.summary, "Replace a");
    let set_body = json!({"op": "set_body", "path": ["a"], "text": "x"});
    assert!(apply(code, rust, set_body).is_err());
}

#[test]
fn feedback_tells_what_changed_where_and_how_to_name_it_next() {
    let operation =
        json!({"op": "replace", "at": {"by": "quote", "text": "run it"}, "text": "run it twice, or\nthree times"});
    let (text, applied) = apply(DOC, Syntax::Markdown, operation).expect("applied");
    let feedback = applied.feedback;
    assert_eq!(feedback.what, "Replace \"run it\": +2 -1 lines");
    assert_eq!(feedback.places[0].lines, Some((11, 12)));
    assert_eq!(feedback.places[0].unit, "Guide › Install › Linux");
    assert_eq!(feedback.figures["words_delta"], json!(4));
    let path: Vec<_> = feedback.outline.iter().map(|node| node.path.join("/")).collect();
    assert_eq!(path, ["Guide", "Guide/Install", "Guide/Install/Linux"]);
    assert!(feedback.text().contains("lines 11-12 (hash "), "{}", feedback.text());
    let next = json!({"op": "delete", "at": {"by": "lines", "from": 11, "to": 12, "hash": feedback.places[0].hash}});
    assert_eq!(markdown(&text, next), DOC.replace("run it\n", ""));
}

#[test]
fn an_operation_that_changes_nothing_or_does_not_fit_is_refused() {
    let refused = |operation: Value| apply("é a\n", Syntax::Plain, operation).expect_err("refused");
    let same = json!({"op": "replace", "at": {"by": "quote", "text": "a"}, "text": "a"});
    assert!(matches!(refused(same), Refusal::Unchanged { .. }));
    assert!(matches!(
        refused(json!({"op": "patch", "edits": [{"at": 1, "delete": 1, "insert": ""}]})),
        Refusal::Invalid { .. }
    ));
    assert!(matches!(
        refused(json!({"op": "patch", "edits": [{"at": 9, "delete": 9, "insert": ""}]})),
        Refusal::Invalid { .. }
    ));
    assert!(matches!(refused(json!({"op": "set_text", "text": "a\u{0}"})), Refusal::NotText { .. }));
    assert!(matches!(
        refused(json!({"op": "replace_each", "find": "a", "text": "b", "count": 2})),
        Refusal::Invalid { .. }
    ));
    let huge = json!({"op": "patch", "edits": [{"at": usize::MAX, "delete": usize::MAX, "insert": ""}]});
    assert!(apply("a", Syntax::Plain, huge).is_err());
}

#[test]
fn the_schema_of_operations_is_one_a_model_can_be_given() {
    let schema = Document.operations().to_string();
    for word in ["insert_before", "move_section", "set_body", "quote", "hash"] {
        assert!(schema.contains(word), "{word}");
    }
}

#[test]
fn foreign_formats_go_through_a_converter_and_our_own_do_not() {
    let file = |name: &str| Foreign { name: name.into(), media_type: String::new(), bytes: b"# A\n"[..].into() };
    assert!(matches!(Document.import(&file("a.md")), Ok(Step::Ready(_))));
    assert!(matches!(Document.read(&file("a.html")), Ok(content) if syntax_of(&content) == Syntax::Other));
    let Ok(Step::Evaluate(request)) = Document.import(&file("a.docx")) else { panic!("asks") };
    assert_eq!((request.engine.as_str(), &request.input["from"]), ("converter", &json!("docx")));
    let evaluated =
        Evaluated { output: Value::Null, parts: Content::single(convert::OUTPUT, "text/markdown", *b"# B\n") };
    let content = Document.import_evaluated(&file("a.docx"), evaluated).expect("imported");
    assert_eq!(text_of(&content), Ok("# B\n"));
    let Ok(Step::Evaluate(_)) = Document.export("a.md", &content, &Format::Named("docx".into())) else {
        panic!("asks")
    };
    let Ok(Step::Ready(page)) = Document.export("a.md", &content, &Format::Named("html".into())) else {
        panic!("at once")
    };
    assert!(page.name == "a.html" && String::from_utf8_lossy(&page.bytes).contains("<h1>B</h1>"));
    assert_eq!((convert::name_of("a.docx"), convert::name_of("a.rs")), ("a.md".into(), "a.rs".into()));
    let Ok(Step::Ready(native)) = Document.export("a.md", &content, &Format::Native) else { panic!("at once") };
    assert_eq!((native.name.as_str(), &*native.bytes), ("a.md", &b"# B\n"[..]));
    let code = content_of("x", Syntax::of_name("a.rs"));
    assert!(matches!(Document.export("a.rs", &code, &Format::Named("pdf".into())), Err(Refusal::NoFormat { .. })));
}

#[test]
fn a_document_merges_through_the_adapter_and_names_the_section_of_a_conflict() {
    let of = |text: &str| content_of(text, Syntax::Markdown);
    let base = of(DOC);
    let theirs = of(&DOC.replace("get it", "fetch it"));
    let mine = of(&DOC.replace("use it", "use it well"));
    let Ok(Merge::Merged(both)) = Document.merge(&base, &theirs, &mine) else { panic!("merges") };
    assert_eq!(text_of(&both), Ok(DOC.replace("get it", "fetch it").replace("use it", "use it well").as_str()));
    let other = of(&DOC.replace("get it", "take it"));
    let Ok(Merge::Conflicts(pieces)) = Document.merge(&base, &theirs, &other) else { panic!("conflicts") };
    assert_eq!((pieces.len(), pieces[0].unit.as_str(), pieces[0].base.as_str()), (1, "Guide › Install", "get it\n"));
    let resolved = Document.resolve(&base, &theirs, &other, &[Choice::Mine]).expect("resolved");
    assert_eq!(resolved, other);
}

#[test]
fn a_digest_tells_the_sections_that_changed() {
    let after = DOC.replace("get it", "fetch it").replace("use it\n", "");
    let digest =
        Document.digest(&content_of(DOC, Syntax::Markdown), &content_of(&after, Syntax::Markdown)).expect("made");
    let units: Vec<_> =
        digest.units.iter().map(|u| (u.unit.as_str(), u.added, u.removed, u.excerpt.as_str())).collect();
    assert_eq!(units, [("Guide › Install", 1, 1, "fetch it"), ("Guide › Use", 0, 1, "-use it")]);
}

#[test]
fn a_byte_order_mark_stays_at_the_start_when_the_first_section_moves() {
    let moved = json!({"op": "move_section", "path": ["a"], "to": {"place": "after", "path": ["b"]}});
    assert_eq!(markdown("\u{feff}### a\n\n# b\n", moved), "\u{feff}# b\n\n# a\n");
    let before = json!({"op": "move_section", "path": ["b"], "to": {"place": "before", "path": ["a"]}});
    assert!(markdown("\u{feff}# a\n\n# b\n", before).starts_with("\u{feff}# b\n"));
}

#[test]
fn inspection_asks_for_files_and_changes_nothing() {
    let content = content_of("[a](b.md)\n", Syntax::Markdown);
    let found = Document.inspect(&content, &|_| Existence::Absent).expect("inspected");
    assert_eq!(found.iter().map(|f| f.code.as_str()).collect::<Vec<_>>(), ["dead_link"]);
    assert!(Document.inspect(&content, &|_| Existence::Unknown).expect("inspected").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Whatever is edited by whatever anchor, all other bytes stay.
    #[test]
    fn an_edit_touches_only_the_bytes_it_names(
        lines in proptest::collection::vec("(#{1,4} [ab]{1,2}|[a-c京 ]{0,5}|fn [ab]\\(\\) \\{|\\})(\r?\n)", 0..14), tail in "[x京]{0,2}",
        bom in any::<bool>(), number in any::<u16>(), new in "[xy\n]{0,6}", code in any::<bool>(),
    ) {
        let text = format!("{}{}{tail}", if bom { "\u{feff}" } else { "" }, lines.concat());
        let syntax = if code { Syntax::of_name("a.rs") } else { Syntax::Markdown };
        let ground = ground(&text, syntax);
        let count = ground.index.count();
        if count == 0 { return Ok(()); }
        let line = usize::from(number) % count;
        let bytes = ground.index.bytes(line..line + 1);
        let hash = line_hash(&text[bytes.clone()]);
        let at = json!({"by": "lines", "from": line + 1, "to": line + 1, "hash": hash});
        for (operation, kept) in [
            (json!({"op": "replace", "at": at, "text": new}), bytes.clone()),
            (json!({"op": "delete", "at": at}), bytes.clone()),
            (json!({"op": "insert_before", "at": at, "text": new}), bytes.start..bytes.start),
            (json!({"op": "insert_after", "at": at, "text": new}), bytes.end..bytes.end),
        ] {
            match apply(&text, syntax, operation.clone()) {
                Ok((result, _)) => {
                    prop_assert!(result.starts_with(&text[..kept.start]), "{} {:?} {:?}", operation, text, result);
                    prop_assert!(result.ends_with(&text[kept.end..]), "{} {:?} {:?}", operation, text, result);
                    prop_assert!(result.len() + kept.len() >= text.len());
                }
                Err(refusal) => prop_assert!(matches!(refusal, Refusal::Unchanged { .. }), "{}", refusal),
            }
        }
        // Sections are whole lines, in order, each within the one it is under.
        for section in ground.sections() {
            prop_assert!(section.lines.start <= section.head.start && section.head.end <= section.own.start.max(section.head.end));
            prop_assert!(section.own.end <= section.lines.end && section.lines.end <= count);
        }
        // A moved section loses no word.
        if let [first, .., last] = ground.sections() {
            let operation = json!({"op": "move_section", "path": first.path, "to": {"place": "after", "path": last.path}});
            if let Ok((result, _)) = apply(&text, syntax, operation) {
                prop_assert_eq!(result.starts_with(BOM), bom);
                prop_assert_eq!(result.matches(BOM).count(), usize::from(bom));
                let words = |text: &str| { let mut all: Vec<String> = text.trim_start_matches(BOM).split_whitespace().filter(|w| !w.starts_with('#')).map(str::to_owned).collect(); all.sort(); all };
                prop_assert_eq!(words(&result), words(&text));
            }
        }
    }
}
