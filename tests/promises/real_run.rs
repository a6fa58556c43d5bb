//! What `docs/a-real-run.md` says was typed and seen is typed and seen again.

use crate::support::home::{COWORK, Home};
use crate::support::model_server::ModelServer;
use crate::support::process::run;
use crate::support::story;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../docs/a-real-run.md");

/// The lines of the boxes that show a terminal.
fn typed_and_seen() -> impl Iterator<Item = &'static str> {
    PAGE.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()).flat_map(str::lines)
}

/// Whether a line is as the page says, where `…` stands for anything; blanks at both ends don't count.
fn is_like(line: &str, said: &str) -> bool {
    let mut pattern = String::from("^");
    for (at, part) in said.trim().split('…').enumerate() {
        pattern.push_str(if at > 0 { ".*" } else { "" });
        pattern.push_str(&regex::escape(part));
    }
    regex::Regex::new(&(pattern + "$")).expect("a pattern").is_match(line.trim())
}

#[test]
fn what_the_page_of_a_real_run_shows_happens() {
    let server = ModelServer::start();
    server.otherwise(story::answer);
    let mut home = Home::new();
    home.expect_survivors();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut copy = Command::new("cp");
    copy.arg("-r").args(["src", "docs", "tests", "README.md"].map(|name| source.join(name))).arg(home.work());
    assert!(copy.status().expect("cp").success());
    std::os::unix::fs::symlink(COWORK, home.root().join("cowork")).expect("the program under its name");

    let commands = typed_and_seen().filter_map(|line| line.strip_prefix("$ "));
    let script = commands.map(|command| format!("{command}\n")).collect::<String>();
    let script = script.replace("http://127.0.0.1:4141/v1", &server.url());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("exec 2>&1; PATH={}:$PATH\n{script}", home.root().display())]);
    shell.current_dir(home.work()).env_clear().envs(home.environment());
    let seen = run(shell, "").expect_code(0).stdout;
    for said in typed_and_seen().filter(|line| !line.starts_with("$ ") && !line.is_empty()) {
        assert!(seen.lines().any(|line| is_like(line.trim_start(), said)), "not seen: {said}\nin\n{seen}");
    }
    assert_eq!(server.faults(), [] as [&str; 0]);
}
