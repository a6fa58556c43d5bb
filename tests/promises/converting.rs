//! Documents come in and go out in other formats through converters; an edit that needs one is
//! recorded before, and made once whatever dies.

use crate::support::crash::DoomedHost;
use crate::support::home::Home;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn text(home: &Home, name: &str) -> String {
    home.json(["resources", "show", name])[0]["text"].as_str().expect("a text").to_owned()
}

/// Whether a program is on the path.
fn is_there(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// A home whose converter is this line of shell.
fn with_converter(line: &str) -> Home {
    let home = Home::new();
    let bin = home.root().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let pandoc = bin.join("pandoc");
    std::fs::write(&pandoc, format!("#!/bin/sh\n{line}\n")).expect("written");
    std::fs::set_permissions(&pandoc, PermissionsExt::from_mode(0o755)).expect("executable");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    home.env("PATH", &path)
}

#[test]
fn ap_1_a_document_goes_out_as_docx_odt_html_and_pdf_and_comes_back_from_docx_odt_and_html() {
    if !["pandoc", "soffice"].iter().all(|name| is_there(name)) {
        eprintln!("SKIPPED: pandoc and LibreOffice are not both on this machine");
        return;
    }
    let home = Home::new();
    let plan = home.write("plan.md", "# Plan\n\nA **bold** word and `code`.\n\n- one\n- two 京\n");
    home.ok(["resources", "import", &plan.to_string_lossy()]);
    for format in ["docx", "odt", "html"] {
        let file = home.work().join(format!("out.{format}")).to_string_lossy().into_owned();
        home.ok(["resources", "export", "plan.md", "--to", &file]);
        home.ok(["resources", "import", &file, "--name", &format!("{format}.md")]);
        let back = text(&home, &format!("{format}.md"));
        for words in ["# Plan", "**bold**", "one", "two 京"] {
            assert!(back.contains(words), "{format} lost {words}: {back}");
        }
    }
    let pdf = home.work().join("out.pdf");
    home.ok(["resources", "export", "plan.md", "--to", &pdf.to_string_lossy()]);
    assert!(std::fs::read(pdf).expect("written").starts_with(b"%PDF-"));
    // Without a name, what is converted is called what it became.
    home.ok(["resources", "import", &home.work().join("out.docx").to_string_lossy()]);
    assert!(text(&home, "out.md").contains("# Plan"));
    // A converted file is an edit like any other.
    let docx = home.work().join("out.docx").to_string_lossy().into_owned();
    home.ok(["resources", "new", "document", "blank.md"]);
    let taken = home.json(["resources", "commit", "blank.md", "--base", "0", "--from", &docx, "--as", "anna"]);
    assert_eq!((&taken[0]["number"], &taken[0]["actor"]["id"]), (&json!(1), &json!("anna")));
    home.assert_sound();
}

#[test]
fn ap_1_what_is_not_installed_is_said_with_what_to_install_and_html_needs_nothing() {
    let home = Home::new();
    let empty = home.root().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    let home = home.env("PATH", &empty.to_string_lossy());
    home.ok(["resources", "new", "document", "a.md"]);
    let out = |name: &str| home.work().join(name).to_string_lossy().into_owned();
    for (file, program) in [("a.docx", "pandoc"), ("a.odt", "pandoc"), ("a.pdf", "LibreOffice")] {
        let refused = home.run(["resources", "export", "a.md", "--to", &out(file)]);
        assert_eq!(refused.code(), 1);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(said.contains("is not installed") && said.contains("apt install") && said.contains(program), "{said}");
        assert!(!home.has(file), "nothing is left of it");
    }
    home.ok(["resources", "export", "a.md", "--to", &out("a.html")]);
    assert!(home.read("a.html").starts_with("<!DOCTYPE html>"));
    let docx = home.write("in.docx", "x").to_string_lossy().into_owned();
    let refused = home.run(["resources", "commit", "a.md", "--base", "0", "--from", &docx]);
    assert!(refused.stderr.contains("pandoc is not installed"), "{refused:?}");
    assert_eq!(home.json(["resources", "show", "a.md"])[0]["revision"], 0);
    home.assert_sound();
}

#[test]
fn ap_1_an_edit_that_needs_a_converter_is_made_once_wherever_the_host_dies() {
    for point in ["engines.asked", "engines.answered", "engines.concluded"] {
        let home = with_converter("echo converted > made");
        home.ok(["resources", "new", "document", "a.md"]);
        home.ok(["host", "stop"]);
        let host = DoomedHost::start(&home, point);
        let docx = home.write("in.docx", "x").to_string_lossy().into_owned();
        // The client comes back to another host and sends the same command again.
        let finished = home.run(["resources", "commit", "a.md", "--base", "0", "--from", &docx]);
        assert!(host.died(&home), "{point} was passed");
        assert_eq!(finished.code(), 0, "{point}: {finished:?}");
        let now = home.json(["resources", "show", "a.md"]).remove(0);
        assert_eq!((&now["revision"], &now["text"]), (&json!(1), &json!("converted\n")), "{point}");
        assert_eq!(home.json(["resources", "candidates", "--all"]), [Value::Null; 0], "{point}");
        home.assert_sound();
    }
}

#[test]
fn ap_1_a_converter_that_crashes_or_refuses_is_told_in_its_own_words_and_changes_nothing() {
    for (line, said) in [
        ("echo 'in.docx is no zip file'; exit 63", "in.docx is no zip file"),
        ("kill -SEGV $$", "pandoc was ended by signal 11"),
        ("exit 0", "the converter made nothing that can be read"),
    ] {
        let home = with_converter(line);
        home.ok(["resources", "new", "document", "a.md"]);
        let docx = home.write("in.docx", "x").to_string_lossy().into_owned();
        for words in [["commit", "a.md", "--base", "0", "--from", &docx].as_slice(), &["import", &docx]] {
            let refused = home.run([&["resources"], words].concat());
            assert_eq!(refused.code(), 1, "{refused:?}");
            assert!(refused.stderr.contains(said), "{refused:?}");
        }
        let all = home.json(["resources", "ls"]);
        assert_eq!((all.len(), &all[0]["revision"]), (1, &json!(0)));
        home.assert_sound();
    }
}
