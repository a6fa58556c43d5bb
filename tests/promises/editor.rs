//! The Editor: people and agents write in one document; no character is lost, no cursor jumps.

use crate::support::attached::Attached;
use crate::support::calls::call;
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;
use crate::support::watch::eventually;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A document with this text.
fn document(home: &Home, name: &str, text: &str) {
    let file = home.write(&format!("start/{name}"), text);
    home.ok(["resources", "import", &file.to_string_lossy(), "--name", name]);
}

fn show(home: &Home, name: &str) -> Value {
    home.json(["resources", "show", name]).remove(0)
}

fn text(home: &Home, name: &str) -> String {
    show(home, name)["text"].as_str().unwrap_or_default().to_owned()
}

/// Commits a text as somebody else.
fn commit(home: &Home, name: &str, base: u64, text: &str, by: &str) -> Value {
    let (file, base) = (home.write(&format!("{by}.txt"), text), base.to_string());
    let file = file.to_string_lossy().into_owned();
    home.json(["resources", "commit", name, "--base", &base, "--from", &file, "--as", by]).remove(0)
}

/// Opens a document in a terminal of its own, from the palette.
fn open(home: &Home, arguments: &[&str], name: &str, (columns, rows): (u16, u16)) -> Terminal {
    let mut terminal = home.terminal(arguments, columns, rows);
    terminal.wait_for("keys").keys("ctrl+p").wait_for("Commands").type_words("open a document").keys("enter");
    terminal.wait_for("Open a document").wait_for(name).type_words(name).keys("enter").wait_for("1:1");
    terminal
}

#[test]
fn ui_6_a_document_is_opened_written_in_and_saved_as_a_revision() {
    for size in [(80, 24), (120, 36)] {
        let home = Home::new();
        document(&home, "notes.md", "# Notes\r\n\r\n日本語 and 👩‍👩‍👧‍👦 here\r\n");
        let mut terminal = open(&home, &[], "notes.md", size);
        terminal.keys("down down end").type_words(" 🏳️‍🌈 more").wait_for("not saved");
        terminal.keys("enter").type_words("the last line").wait_for("the last line");
        terminal.keys("ctrl+s").wait_for("saved as revision 1").wait_gone("not saved");
        assert_eq!(
            text(&home, "notes.md"),
            "# Notes\r\n\r\n日本語 and 👩‍👩‍👧‍👦 here 🏳️‍🌈 more\r\nthe last line\r\n",
            "line ends are kept, and so is every character"
        );
        assert_eq!(show(&home, "notes.md")["revision"], 1);
        terminal.keys("ctrl+z ctrl+z").wait_for("not saved").keys("ctrl+y ctrl+y").wait_gone("not saved");
        home.assert_sound();
    }
}

#[test]
fn ui_6_what_others_save_comes_live_and_takes_nothing_that_is_not_saved() {
    let home = Home::new();
    document(&home, "n.md", "one\n\ntwo\n\nthree\n");
    let mut terminal = open(&home, &[], "n.md", (100, 30));
    terminal.keys("down down end").type_words(" mine").wait_for("two mine");
    commit(&home, "n.md", 0, "zero\none\n\ntwo\n\nthree\n", "anna");
    terminal.wait_for("1 change by others").wait_for("4:9");
    terminal.type_words("!").wait_for("two mine!");
    terminal.keys("ctrl+s").wait_for("saved as revision 2");
    assert_eq!(text(&home, "n.md"), "zero\none\n\ntwo mine!\n\nthree\n");
    terminal.keys("alt+m").wait_gone("by others").wait_for("1:1").wait_for("zero");
    terminal.keys("alt+a").wait_for("anna").wait_for("you");
    terminal.keys("alt+i").wait_for("3 of 3").wait_for("mine!").keys("left").wait_for("2 of 3").wait_for("zero");
    terminal.keys("left").wait_for("1 of 3").keys("b").wait_for("brought back as revision 3");
    assert_eq!(text(&home, "n.md"), "one\n\ntwo\n\nthree\n");
    home.assert_sound();
}

#[test]
fn rs_5_what_two_changed_at_once_is_decided_piece_by_piece_with_keys() {
    for (keys, outcome) in [("m", "mine two"), ("t", "their two"), ("b", "their two\nmine two"), ("e", "by hand")] {
        let home = Home::new();
        let script = home.write("editor.sh", "#!/bin/sh\nprintf 'by hand\\n' > \"$1\"\n");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a script");
        let home = home.env("VISUAL", script.to_str().expect("a path"));
        document(&home, "n.rs", "one\ntwo\nthree\n");
        let mut terminal = open(&home, &[], "n.rs", (80, 24));
        terminal.keys("down").type_words("mine ").wait_for("mine two");
        commit(&home, "n.rs", 0, "one\ntheir two\nthree\n", "anna");
        terminal.wait_for("anna changed what you are changing").wait_for("mine two");
        terminal.keys("ctrl+s").wait_for("it was").wait_for("theirs").wait_for("their two").wait_for("1 to decide");
        terminal.keys(keys).wait_for("all decided").keys("enter").wait_for("holds both").wait_gone("it was");
        assert_eq!(text(&home, "n.rs"), format!("one\n{outcome}\nthree\n"), "{keys}");
        assert_eq!(home.json(["resources", "candidates", "n.rs"]), [Value::Null; 0]);
        home.assert_sound();
    }
}

#[test]
fn rs_5_a_conflict_is_handed_to_main_with_the_three_texts_or_left_for_later() {
    let server = ModelServer::with([Reply::say("hello"), Reply::say("I look at it")]);
    let home = Home::with_model(&server);
    let task = home.exec(["begin"]).expect_code(0).task().to_owned();
    document(&home, "n.rs", "one\ntwo\nthree\n");
    let mut terminal = open(&home, &[&task], "n.rs", (100, 30));
    terminal.keys("down").type_words("mine ").wait_for("mine two");
    commit(&home, "n.rs", 0, "one\ntheir two\nthree\n", "anna");
    terminal.wait_for("changed what you").keys("ctrl+s").wait_for("1 to decide").keys("M").wait_gone("it was");
    let said = server.wait_for_request(2).heard().join("\n");
    assert!(["n.rs", "their two", "mine two", "w_"].iter().all(|words| said.contains(words)), "{said}");
    // The Candidate waits in the list, with its difference.
    terminal.wait_for("Main has the conflict").keys("alt+k").wait_for("came too late").wait_for("mine two").keys("r");
    terminal.wait_for("No Candidates");
    home.assert_sound();
}

#[test]
fn rs_3_a_candidate_is_looked_at_and_accepted_or_rejected() {
    let home = Home::new();
    document(&home, "n.md", "one\n");
    let mut terminal = open(&home, &[], "n.md", (100, 30));
    let id = show(&home, "n.md")["id"].clone();
    let change = json!({"text": "one\nbetter\n"});
    let deed = json!({"deed": "propose", "resource": id, "base": 0, "change": change});
    Attached::to(&home, "n_proposer0").submit(&json!({"do": "resource", "deed": deed}));
    terminal.wait_for("1 Candidate").keys("alt+k").wait_for("to be judged").wait_for("better").keys("a");
    terminal.wait_for("No Candidates").keys("esc").wait_for("better").wait_for("r1");
    assert_eq!(text(&home, "n.md"), "one\nbetter\n");
    home.assert_sound();
}

#[test]
fn ui_6_what_was_not_saved_comes_back_after_the_screen_was_killed() {
    let home = Home::new();
    document(&home, "n.md", "one\ntwo\n");
    let mut terminal = open(&home, &[], "n.md", (80, 24));
    terminal.keys("end").type_words(" and a half, 日本").wait_for("half, 日本");
    let kept = || home.find_bytes(" and a half, 日本").iter().any(|file| file.starts_with(home.state()));
    eventually("it is kept", kept);
    terminal.kill();
    terminal.wait_exit();
    // Somebody else goes on meanwhile.
    commit(&home, "n.md", 0, "one\ntwo\nthree\n", "anna");
    let mut terminal = home.terminal::<&str>([], 80, 24);
    terminal.wait_for("keys").keys("alt+5").wait_for("n.md").keys("enter");
    terminal.wait_for("one and a half, 日本").wait_for("three").wait_for("not saved");
    terminal.keys("ctrl+s").wait_for("saved as revision 2");
    assert_eq!(text(&home, "n.md"), "one and a half, 日本\ntwo\nthree\n");
    home.assert_sound();
}

#[test]
fn ui_6_find_replace_go_to_a_line_preview_and_ones_own_editor() {
    let home = Home::new();
    let script = home.write("editor.sh", "#!/bin/sh\nsed -i 's/last/final/; s/^line 3$/line three/' \"$1\"\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("a script");
    let home = home.env("VISUAL", script.to_str().expect("a path"));
    let lines: String = (1..=200).map(|line| format!("line {line}\n")).collect();
    document(&home, "n.md", &format!("# Title\n\n{lines}\n**last** words\n"));
    let mut terminal = open(&home, &[], "n.md", (100, 30));
    terminal.keys("ctrl+f").wait_for("Find in").type_words("line 150").keys("enter").wait_for("152:9");
    terminal.keys("ctrl+l").wait_for("Go to line").type_words("3").keys("enter").wait_for("3:1");
    terminal.keys("ctrl+r").wait_for("Replace in").keys("ctrl+u").type_words("line 1").keys("enter");
    terminal.wait_for("Replace it with").type_words("row 1").keys("enter").wait_for("replaces all");
    terminal.keys("alt+R").wait_for("111 replaced");
    // What is pressed while the editor has the terminal is the editor's.
    terminal.keys("ctrl+g").wait_for("line three").keys("ctrl+end").wait_for("**final** words");
    terminal.keys("alt+v").wait("the text is read too", |screen| screen.contents().matches("final").count() > 1);
    terminal.keys("alt+v ctrl+s").wait_for("saved as revision 1");
    let now = text(&home, "n.md");
    assert!(now.contains("row 150\n") && now.contains("line 2\n") && now.ends_with("**final** words\n"), "{now}");
    home.assert_sound();
}

#[test]
fn ui_6_two_terminals_and_an_agent_write_in_one_document_and_no_character_is_lost() {
    // A minute and more where that is asked for.
    let rounds: usize = std::env::var("COWORK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let edit =
        |round: usize| call(("doc", json!({"action": "edit", "doc": "n.md", "text": format!("agent {round}\n")})));
    let replies = (0..rounds).map(edit).chain([Reply::say("all written")]);
    let server = ModelServer::with(replies);
    let home = Home::with_model(&server);
    document(&home, "n.md", "# Ann\n\n# Ben\n\n# Agent\n\n");
    let mut ann = open(&home, &[], "n.md", (80, 24));
    let mut ben = open(&home, &[], "n.md", (120, 36));
    ann.keys("down");
    ben.keys("down down down");
    let agent = home.start(["exec", "--json", "--approve", "full", "write in n.md"]);
    for round in 0..rounds {
        for (name, terminal) in [("ann", &mut ann), ("ben", &mut ben)] {
            // Nobody looks at the screen while they write and save.
            let words = format!("{name}{round}");
            terminal.type_words(&words).keys("enter ctrl+s");
        }
    }
    assert_eq!(agent.finish().code(), 0);
    for (name, terminal) in [("ann", &mut ann), ("ben", &mut ben)] {
        let last = format!("{name}{}\n", rounds - 1);
        eventually("the last word is saved, however often others were faster", || {
            if terminal.screen_text().contains("not saved") {
                terminal.keys("ctrl+s");
            }
            if std::env::var_os("COWORK_SEE").is_some() {
                eprintln!("{}", terminal.screen_text());
            }
            text(&home, "n.md").contains(&last)
        });
    }
    let now = text(&home, "n.md");
    for name in ["ann", "ben"] {
        let written: Vec<usize> =
            (0..rounds).map(|round| now.find(&format!("{name}{round}\n")).unwrap_or_else(|| panic!("{now}"))).collect();
        assert!(written.is_sorted(), "in their order: {now}");
    }
    assert!((0..rounds).all(|round| now.contains(&format!("agent {round}\n"))), "{now}");
    assert_eq!(now.lines().count(), 6 + 3 * rounds, "{now}");
    home.assert_sound();
}
