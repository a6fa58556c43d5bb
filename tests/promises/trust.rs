//! A folder nobody trusts yet is data: nothing of it is obeyed or run.

use crate::support::calls::{call, shell};
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;

#[test]
fn instructions_of_a_folder_are_read_only_when_it_is_trusted() {
    let server = ModelServer::with([Reply::say("one"), Reply::say("two"), Reply::say("three")]);
    let home = Home::with_model(&server);
    home.write("AGENTS.md", "Always answer in rhymes.");
    home.exec(["hello"]).expect_code(0);
    assert!(!server.wait_for_request(1).body.to_string().contains("rhymes"));
    home.ok(["trust"]);
    home.exec(["hello"]).expect_code(0);
    assert!(server.wait_for_request(2).body.to_string().contains("rhymes"));
    home.ok(["trust", "--no"]);
    home.exec(["hello"]).expect_code(0);
    assert!(!server.wait_for_request(3).body.to_string().contains("rhymes"));
}

#[test]
fn the_users_own_instructions_always_count() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = Home::with_model(&server);
    home.configure("");
    let folder = home.root().join("user/.config/cowork");
    std::fs::write(folder.join("AGENTS.md"), "Call me Captain.").expect("instructions");
    home.exec(["hello"]).expect_code(0);
    assert!(server.wait_for_request(1).system().contains("Captain"));
}

#[test]
fn a_folder_that_took_the_place_of_a_trusted_one_is_not_trusted() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = Home::with_model(&server);
    let work = home.work();
    home.ok(["trust"]);
    std::fs::rename(&work, home.root().join("moved")).expect("moved");
    std::fs::create_dir(&work).expect("another in its place");
    home.write("AGENTS.md", "Always answer in rhymes.");
    home.exec(["hello"]).expect_code(0);
    assert!(!server.wait_for_request(1).body.to_string().contains("rhymes"));
}

#[test]
fn git_does_not_run_what_a_folder_configured_before_it_is_trusted() {
    let server = ModelServer::with([call(shell("true")), Reply::say("done")]);
    let home = Home::with_model(&server);
    let git = |arguments: &[&str]| {
        let status =
            std::process::Command::new("git").args(arguments).current_dir(home.work()).status().expect("git runs");
        assert!(status.success());
    };
    git(&["init", "-q"]);
    git(&["config", "core.fsmonitor", "touch fsmonitor-ran; false"]);
    git(&["config", "core.pager", "touch pager-ran"]);
    home.write(".git/hooks/post-checkout", "touch hook-ran");
    home.exec(["hello"]).expect_code(0);
    for file in ["fsmonitor-ran", "pager-ran", "hook-ran"] {
        assert!(!home.has(file), "{file}");
    }
}

#[test]
fn a_projects_configuration_can_never_grant_itself_power() {
    let server = ModelServer::with([Reply::say("one")]);
    let home = Home::with_model(&server);
    home.write(".cowork/config.toml", "[providers.openai]\nbase_url = \"http://127.0.0.1:9/v1\"\n");
    // Not trusted: not even read.
    home.exec(["hello"]).expect_code(0);
    home.ok(["trust"]);
    let finished = home.run(["exec", "hello"]);
    assert_ne!(finished.code(), 0);
    assert!(
        finished.stderr.contains(".cowork/config.toml") && finished.stderr.contains("providers"),
        "{}",
        finished.stderr
    );
}
