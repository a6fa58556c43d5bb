//! T12: nothing that comes from outside can drive the user's terminal, wherever it is shown.

use crate::support::calls::{call, calls, list, read, shell};
use crate::support::controls;
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;

/// Every kind of thing a program may print to take a terminal over; `before` and `after` frame each.
const HOSTILE: &str = "before1\x1b[2J\x1b[Hafter1 before2\x07after2 before3\u{9b}31mafter3 before4\x1b]0;owned\x07after4 \
    before5\x1b]52;c;cGF3bmVk\x07after5 before6\x1b]8;;http://x\x07link\x1b]8;;\x07after6 before7\x1bPq\x1b\\after7 \
    before8\u{202e}after8 before9\u{200d}after9 before10\tafter10 before11\x1b[?1049lafter11 before12\x1bcafter12";

/// Opens the screen on what comes of `wish`, and waits for the last of the hostile words.
fn look(home: &Home, last: &str) -> Terminal {
    let mut terminal = home.terminal(["--approve", "ask"], 120, 50);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen());
    terminal.type_words("go").keys("enter").wait_for(last);
    terminal
}

fn assert_unharmed(mut terminal: Terminal) {
    assert!(terminal.screen(|screen| screen.alternate_screen()), "the screen is still ours");
    terminal.keys("ctrl+c ctrl+c ctrl+c").wait_exit();
    let bytes = terminal.bytes();
    assert_eq!(controls::foreign(&bytes), []);
    assert!(controls::titles(&bytes).iter().all(|title| !title.contains("owned")), "{:?}", controls::titles(&bytes));
    terminal.assert_clean();
}

#[test]
fn t12_in_an_answer() {
    let server = ModelServer::with([Reply::say(&format!("{HOSTILE} the end"))]);
    let home = Home::with_model(&server);
    assert_unharmed(look(&home, "the end"));
}

#[test]
fn t12_in_thinking_and_in_a_message_of_ones_own() {
    let server = ModelServer::with([Reply::stream().thinking(HOSTILE).text("the end").finish()]);
    let home = Home::with_model(&server);
    let mut terminal = look(&home, "the end");
    terminal.keys("ctrl+o").paste(HOSTILE).wait_for("after12");
    assert_unharmed(terminal);
}

#[test]
fn t12_in_a_tools_result_and_a_files_name() {
    let server = ModelServer::with([calls([read("hostile.txt"), list(".")]), Reply::say("the end")]);
    let home = Home::with_model(&server);
    home.write("hostile.txt", HOSTILE);
    home.write("name \x1b]0;owned\x07\x1b[2J\u{202e}gpj.txt", "x");
    let mut terminal = look(&home, "the end");
    terminal.keys("ctrl+o").wait_for("after1");
    assert_unharmed(terminal);
}

#[test]
fn t12_in_an_approvals_command() {
    let server = ModelServer::with([call(shell(&format!("echo '{HOSTILE}' the end")))]);
    let home = Home::with_model(&server);
    let terminal = look(&home, "before1");
    assert_unharmed(terminal);
}

#[test]
fn t12_in_the_error_of_a_server_and_in_a_tasks_name() {
    let server = ModelServer::with([Reply::error_status(400, "invalid_request_error", &format!("{HOSTILE} the end"))]);
    let home = Home::with_model(&server);
    home.run(["new", &format!("task {HOSTILE}")]);
    let mut terminal = look(&home, "before1");
    terminal.keys("ctrl+t").wait_for("task before1");
    terminal.keys("esc");
    assert_unharmed(terminal);
}

#[test]
fn t12_on_the_command_line() {
    let server = ModelServer::with([call(read("hostile.txt")), Reply::say(HOSTILE), Reply::say(HOSTILE)]);
    let home = Home::with_model(&server);
    home.write("hostile.txt", HOSTILE);
    let exec = home.exec(["go"]).expect_code(0);
    assert!(exec.text().contains("after12"));
    let plain = home.run(["exec", "again"]).expect_code(0).stdout;
    let outputs = [
        plain,
        home.ok(["ls"]),
        home.ok(["show", exec.task()]),
        home.ok(["events", exec.task()]),
        home.ok(["--json", "events", exec.task()]),
    ];
    for output in outputs {
        assert_eq!(controls::scan(output.as_bytes()), [], "{output:?}");
    }
}

#[test]
fn progress_that_overwrites_itself_shows_its_end_and_twenty_lines_are_twenty_rows() {
    let script = "printf '10%%\\r20%%\\r100%%\\n'; for i in $(seq 1 20); do echo row $i of it; done";
    let server = ModelServer::with([call(shell("sh progress.sh")), Reply::say("the end")]);
    let home = Home::with_model(&server);
    home.write("progress.sh", script);
    let mut terminal = home.terminal(["--approve", "workspace"], 120, 60);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen());
    terminal.type_words("go").keys("enter").wait_for("the end").keys("ctrl+o").wait_for("row 20 of it");
    let rows = terminal.rows();
    let count = |words: &str| rows.iter().filter(|row| row.contains(words)).count();
    assert_eq!((count("100%"), count("20%"), count("│ row ")), (1, 0, 20), "{rows:#?}");
}

#[test]
fn a_line_without_an_end_is_wrapped_and_bounded() {
    let server = ModelServer::with([call(shell("head -c 22000 /dev/zero | tr '\\0' x")), Reply::say("the end")]);
    let home = Home::with_model(&server);
    let mut terminal = home.terminal(["--approve", "workspace"], 80, 24);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen());
    terminal.type_words("go").keys("enter").wait_for("the end").keys("ctrl+o").wait_for("xxxxxxxx");
    terminal.wait_for("the end").keys("ctrl+home").wait_for("head -c 22000");
}
