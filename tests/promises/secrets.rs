//! A key is used and never kept: not on disk, not in a child, not in what anybody is shown.

use crate::support::calls::{call, read, shell, write};
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use std::os::unix::fs::PermissionsExt;

const KEY: &str = "sk-test-0123456789abcdefghijklmnop";

#[test]
fn a_key_is_sent_to_its_server_and_to_nobody_else() {
    let server = ModelServer::with([
        call(shell("env; cat /proc/$PPID/environ | tr '\\0' '\\n'; echo shown")),
        Reply::say(&format!("your key is {KEY}")),
        Reply::error_status(400, "invalid_request_error", &format!("bad key {KEY}")),
    ]);
    let home = Home::with_model(&server).env("OPENAI_API_KEY", KEY);
    let exec = home.exec(["go"]).expect_code(0);
    assert_eq!(server.wait_for_request(1).header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(exec.tool_texts()[0].contains("shown"));
    assert!(!server.wait_for_request(2).body.to_string().contains(KEY), "the model never sees it");
    let failed = home.exec(["--task", exec.task(), &format!("is it {KEY}?")]);
    for told in [format!("{exec:?}"), format!("{failed:?}")] {
        assert!(!told.contains(KEY), "{told}");
    }
    home.run(["doctor"]);
    home.run(["config", "show"]);
    assert_eq!(home.find_bytes(KEY), [""; 0].map(std::path::PathBuf::from), "no file holds it");
}

#[test]
fn a_key_among_bytes_that_are_no_text_is_not_kept_either() {
    let server = ModelServer::with([
        call(read("dot.png")),
        call(shell(&format!("printf '\\377 {KEY} \\377'; yes | head -c 100000"))),
        Reply::say("done"),
    ]);
    let home = Home::with_model(&server).env("OPENAI_API_KEY", KEY);
    let picture =
        home.write("dot.png", [b"\x89PNG\r\n\x1a\n\0\0\0\x2etEXtComment\0".as_slice(), KEY.as_bytes()].concat());
    home.exec(["go"]).expect_code(0);
    assert_eq!(home.find_bytes(KEY), [picture], "only where the person put it");
}

#[test]
fn a_child_gets_an_allowed_environment_and_no_more() {
    let server = ModelServer::with([call(shell("env | sort")), Reply::say("done")]);
    let home = Home::with_model(&server)
        .env("AWS_SECRET_ACCESS_KEY", "not-for-children")
        .env("LD_PRELOAD_NOT", "strange")
        .env("GITHUB_TOKEN", "ghp_notforchildren00000000000000000000");
    let exec = home.exec(["go"]).expect_code(0);
    let text = exec.tool_texts()[0];
    assert!(text.contains("PATH="), "{text}");
    for name in ["AWS_SECRET", "GITHUB_TOKEN", "LD_PRELOAD_NOT", "OPENAI", "COWORK_HOME"] {
        assert!(!text.contains(name), "{name} in\n{text}");
    }
}

#[test]
fn everything_kept_is_the_users_alone() {
    let server = ModelServer::with([call(write("a", "x")), call(shell("yes | head -c 100000")), Reply::say("done")]);
    let home = Home::with_model(&server);
    home.exec(["go"]).expect_code(0);
    let mut folders = vec![home.state()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let mode = std::fs::metadata(&folder).expect("a folder").permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(path);
            } else if !kind.is_symlink() {
                let mode = entry.metadata().expect("a file").permissions().mode() & 0o777;
                assert_eq!(mode & 0o177, 0, "{} is {mode:o}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 3, "only {seen} files were looked at");
}
