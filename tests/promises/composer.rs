//! Writing: files, commands, the shell, one's own editor, long pastes, history and the queue.

use crate::support::home::Home;
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;
use std::os::unix::fs::PermissionsExt;

fn open(home: &Home, arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    let mut terminal = home.terminal(arguments, columns, rows);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen() && screen.contents().trim().len() > 40);
    terminal
}

/// An editor of the person: a script that is given the file.
fn editor(home: &Home, script: &str) -> String {
    let path = home.write("editor.sh", format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a script");
    path.to_str().expect("a path").to_owned()
}

#[test]
fn ui_2_a_file_is_named_with_a_few_letters_and_shows_its_first_lines() {
    let server = ModelServer::with([Reply::say("read it")]);
    let home = Home::with_model(&server);
    home.write("src/parser.rs", "//! The parser of it all.\n");
    home.write("target/parser.o", "x");
    home.write(".gitignore", "target\n");
    let mut terminal = open(&home, &[], 110, 30);
    terminal.type_words("look at @").wait_for(".gitignore");
    assert!(!terminal.screen_text().contains("parser.o"), "what is ignored is not offered");
    terminal.type_words("srpa").wait_for("The parser of it all.").keys("enter").wait_gone("Files");
    terminal.wait_for("look at @src/parser.rs").keys("enter").wait_for("read it");
    assert_eq!(server.wait_for_request(1).user().trim_end(), "look at @src/parser.rs");
}

#[test]
fn ui_9_a_command_is_given_by_its_name() {
    let server = ModelServer::with([Reply::say("hello")]);
    let home = Home::with_model(&server);
    let id = home.exec(["begin"]).expect_code(0).task().to_owned();
    let mut terminal = open(&home, &[&id], 100, 30);
    terminal.wait_for("hello").type_words("/rename The better name").keys("enter").wait_for("The better name");
    assert_eq!(home.json(["show", &id])[0]["title"], "The better name");
    terminal.keys("ctrl+p").wait_for("Commands").type_words("all ta").keys("enter").wait_for("Tasks");
}

#[test]
fn ui_2_a_command_of_the_person_runs_at_once_and_reaches_main_only_when_told() {
    let server = ModelServer::with([Reply::say("I see")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &["--approve", "read"], 100, 30);
    terminal.type_words("!echo seen > made.txt; echo printed").keys("enter").wait_for("exit 0").wait_for("printed");
    assert_eq!(home.read("made.txt"), "seen\n");
    assert_eq!(server.requests().len(), 0);
    terminal.keys("enter").wait_gone("exit 0").type_words("what was that?").keys("enter").wait_for("I see");
    let said = server.wait_for_request(1).user().to_owned();
    assert!(said.contains("printed") && said.ends_with("what was that?"), "{said}");
}

#[test]
fn a_command_of_the_person_that_hangs_is_left_running_with_esc_or_stopped() {
    let home = Home::new();
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("!sleep 600").keys("enter").wait_for("running");
    let sleeps =
        || home.processes().iter().any(|process| process.arguments.first().is_some_and(|name| name == "sleep"));
    crate::support::watch::eventually("the command runs", sleeps);
    terminal.keys("esc").wait_gone("running");
    assert!(sleeps(), "it goes on as a Job");
    let id = home.json(["jobs", "ls"])[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["jobs", "stop", "--grace", "100ms", &id]);
    terminal.type_words("!sleep 600").keys("enter").wait_for("running");
    crate::support::watch::eventually("the command runs", sleeps);
    terminal.keys("s").wait_for("signaled 15");
    crate::support::watch::eventually("it was stopped", || !sleeps());
}

#[test]
fn ui_2_the_own_editor_gets_the_terminal_and_the_text_and_gives_both_back() {
    let server = ModelServer::with([Reply::say("got it")]);
    let home = Home::with_model(&server);
    let script = editor(&home, "printf 'the editor has it: '; cat \"$1\"; read line; echo \"$line\" >> \"$1\"");
    let home = home.env("EDITOR", &script);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("first line").keys("ctrl+g").wait_for("the editor has it: first line");
    assert!(!terminal.is_raw(), "the editor has the terminal as the shell left it");
    terminal.type_words("second line\n").wait_for("› first line").wait_for("second line");
    terminal.keys("enter").wait_for("got it");
    assert_eq!(server.wait_for_request(1).user(), "first line\nsecond line");
}

#[test]
fn an_editor_that_fails_leaves_the_text_as_it_was() {
    let home = Home::new();
    let script = editor(&home, "echo spoilt > \"$1\"; exit 1");
    let home = home.env("VISUAL", &script);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("my words").keys("ctrl+g").wait_for("the text is as it was").wait_for("my words");
    assert!(!terminal.screen_text().contains("spoilt"));
}

#[test]
fn t13_a_paste_of_a_megabyte_is_a_chip_and_is_sent_whole() {
    let server = ModelServer::with([Reply::say("got it")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    let long: String =
        (0..20_000).map(|number| format!("line {number} of a log that is long enough to matter\n")).collect();
    terminal.type_words("look: ").paste(&long).wait_for("[pasted\u{a0}20000\u{a0}lines]").type_words(" why?");
    terminal.keys("enter").wait_for("got it");
    assert_eq!(server.wait_for_request(1).user(), format!("look: {long} why?"));
}

#[test]
fn what_was_sent_in_another_task_is_found_again() {
    let server = ModelServer::with([Reply::say("hello"), Reply::say("watered")]);
    let home = Home::with_model(&server);
    home.exec(["water the garden"]).expect_code(0);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.keys("ctrl+r").wait_for("water the garden").type_words("gard").keys("enter enter").wait_for("watered");
    assert_eq!(server.wait_for_request(2).user(), "water the garden");
}

#[test]
fn in_5_queued_messages_enter_in_the_order_the_person_gives_them() {
    let latch = Latch::new();
    let server = ModelServer::with([
        Reply::stream().text("halfway").hold(&latch).finish(),
        Reply::say("heard both"),
        Reply::say("heard the last"),
    ]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 110, 30);
    terminal.type_words("begin").keys("enter").wait_for("halfway");
    terminal.type_words("first words").keys("enter").wait_for("queued  first words");
    terminal.type_words("second words").keys("enter").wait_for("queued  second words");
    terminal.type_words("much later").keys("alt+s").wait_for("after the answer  much later");
    let id = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    let queue = || -> Vec<String> {
        home.json(["queue", &id])
            .iter()
            .map(|message| message["text"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(queue(), ["first words", "second words", "much later"]);
    terminal.keys("alt+q J");
    crate::support::watch::eventually("the first one waits longer", || queue()[0] == "second words");
    latch.release();
    terminal.wait_for("heard");
    let asked = server.wait_for_request(2);
    let said = asked.said_by("user").join("|");
    assert!(said.contains("second words") && said.find("second words") < said.find("first words"), "{said}");
}
