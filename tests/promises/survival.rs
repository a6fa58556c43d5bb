//! What survives what, where the other promises do not show it already: the cells of
//! `cowork doctor --survival`. A machine that dies is every process killed at once.

use crate::support::calls::{call, edit, read, shell, write};
use crate::support::crash::DoomedHost;
use crate::support::disk::{SmallDisk, fill};
use crate::support::home::Home;
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::watch::eventually;
use serde_json::Value;

fn id(value: &Value) -> &str {
    value["id"].as_str().expect("an id")
}

fn open_approvals(home: &Home) -> Vec<Value> {
    home.json(["approvals", "ls"])
}

fn wait_completed(home: &Home, task: &str) {
    eventually("the Task is complete", || home.json(["show", task])[0]["status"] == "completed");
}

#[test]
fn a_client_that_dies_leaves_a_running_command_and_the_calls_after_it_alone() {
    let wait = "until [ -e go ]; do sleep 0.02; done; echo it ran to its end";
    let more = [call(read("given.txt")), call(write("out.txt", "written")), call(edit("out.txt", "ten", "ing"))];
    let server = ModelServer::start();
    server.then(call(shell(wait)));
    for reply in more {
        server.then(reply);
    }
    server.then(Reply::say("done"));
    let home = Home::with_model(&server);
    home.write("given.txt", "what was given");
    let running = home.start(["exec", "--json", "run it"]);
    running.wait_for("tool_call");
    eventually("the command runs", || {
        home.processes().iter().any(|process| process.arguments.first().is_some_and(|name| name.ends_with("sh")))
    });
    let task = id(&home.json(["ls"])[0]).to_owned();
    running.kill();
    home.write("go", "");
    wait_completed(&home, &task);
    assert!(server.wait_for_request(2).last().contains("it ran to its end"));
    assert!(server.wait_for_request(3).last().contains("what was given"));
    assert_eq!(home.read("out.txt"), "writing", "what came after was done without the screen");
    home.assert_sound();
}

#[test]
fn what_is_being_typed_outlives_the_host() {
    let server = ModelServer::with([Reply::say("hello")]);
    let home = Home::with_model(&server);
    let task = home.exec(["begin"]).expect_code(0).task().to_owned();
    let mut screen = home.terminal([task.as_str()], 100, 30);
    screen.wait_for("hello").type_words("before it died").wait_for("before it died");
    home.kill_host();
    screen.type_words(" and after").wait_for("before it died and after");
    eventually("the next host keeps it", || !home.find_bytes("before it died and after").is_empty());
}

#[test]
fn when_everything_dies_at_once_what_was_said_typed_asked_and_allowed_is_there_again() {
    let server = ModelServer::with([
        call(shell("touch first")),
        call(shell("touch second")),
        Reply::say("both ran"),
        call(shell("touch first")),
        Reply::say("no question this time"),
    ]);
    let home = Home::with_model(&server);
    home.write("AGENTS.md", "Be brief.");
    home.ok(["trust"]);
    let exec = home.exec(["--approve", "ask", "--budget", "turns=7", "acknowledged words"]).expect_code(3);
    home.ok(["approvals", "allow", "--always", id(&open_approvals(&home)[0])]);
    eventually("the second question is open", || {
        open_approvals(&home).iter().any(|asked| asked.to_string().contains("second"))
    });
    let mut screen = home.terminal([exec.task()], 100, 30);
    screen.wait_for("touch second").type_words("words I have not sent").wait_for("words I have not sent");
    eventually("the draft is kept", || !home.find_bytes("words I have not sent").is_empty());
    home.kill_everything();
    screen.wait_exit();

    let asked = open_approvals(&home);
    assert!(asked.len() == 1 && asked[0].to_string().contains("touch second"), "{asked:#?}");
    assert!(home.has("first") && !home.has("second"));
    home.ok(["approvals", "allow", id(&asked[0])]);
    wait_completed(&home, exec.task());
    let request = server.wait_for_request(3);
    assert_eq!(request.heard(), ["acknowledged words"]);
    assert!(request.body.to_string().contains("Be brief."), "the folder is still trusted");
    assert!(home.ok(["show", exec.task()]).contains('7'), "the budget stands");
    // The standing yes holds as well.
    let mut screen = home.terminal([exec.task()], 100, 30);
    screen.wait_for("words I have not sent").keys("enter").wait_for("no question this time");
    assert_eq!(open_approvals(&home).len(), 0);
    home.assert_sound();
}

#[test]
fn when_everything_dies_at_once_a_command_in_flight_is_reported_and_not_run_again() {
    let server = ModelServer::with([call(shell("echo once >> effects; sleep 600")), Reply::say("I looked first")]);
    let home = Home::with_model(&server);
    let running = home.start(["exec", "--json", "do it"]);
    eventually("the command runs", || home.has("effects"));
    let task = id(&home.json(["ls"])[0]).to_owned();
    home.kill_everything();
    drop(running);
    home.ok(["ls"]);
    wait_completed(&home, &task);
    let told = server.wait_for_request(2).last();
    assert!(told.contains("may have happened"), "{told}");
    assert_eq!(home.read("effects"), "once\n");
    home.assert_sound();
}

#[test]
fn when_everything_dies_at_once_a_look_is_repeated_and_a_write_is_compared_with_what_was_to_be_written() {
    for done_and_not_recorded in ["loop.tool_done:1", "loop.tool_done:2"] {
        let server =
            ModelServer::with([call(read("given.txt")), call(write("out.txt", "written")), Reply::say("all done")]);
        let mut home = Home::with_model(&server);
        home.expect_survivors();
        home.write("given.txt", "what was given");
        let host = DoomedHost::start(&home, done_and_not_recorded);
        let running = home.start(["exec", "--json", "do it"]);
        eventually("the host is dead", || host.is_dead());
        home.kill_everything();
        drop(running);
        home.ok(["ls"]);
        let task = id(&home.json(["ls"])[0]).to_owned();
        wait_completed(&home, &task);
        assert!(server.wait_for_request(2).last().contains("what was given"));
        assert_eq!(home.read("out.txt"), "written");
        assert_eq!(server.requests().len(), 3, "no turn is asked again");
        if done_and_not_recorded.ends_with('2') {
            let told = server.wait_for_request(3).last();
            assert!(told.contains("the file holds what was to be written"), "{told}");
        }
        home.assert_sound();
    }
}

#[test]
fn what_is_kept_when_the_disk_fills_is_there_and_what_is_open_stays_open() {
    let latch = Latch::new();
    let server = ModelServer::with([
        call(shell("touch first")),
        call(shell("touch second")),
        Reply::stream().hold(&latch).text("both ran").finish(),
        call(shell("touch first")),
        Reply::say("no question this time"),
    ]);
    let home = Home::with_model(&server);
    let Some(_disk) = SmallDisk::mount(&home, "size=48m,mode=700") else { return };
    let exec = home.exec(["--approve", "ask", "acknowledged words"]).expect_code(3);
    home.ok(["approvals", "allow", "--always", id(&open_approvals(&home)[0])]);
    eventually("the second question is open", || {
        open_approvals(&home).iter().any(|asked| asked.to_string().contains("second"))
    });
    let mut screen = home.terminal([exec.task()], 100, 30);
    screen.wait_for("touch second").type_words("words I have not sent").wait_for("words I have not sent");
    eventually("the draft is kept", || !home.find_bytes("words I have not sent").is_empty());
    let fillers = ["filler", "rest"].map(|name| home.state().join(name));
    fill(&fillers[0]);
    std::fs::remove_file(home.state().join("ballast")).expect("the reserve");
    fill(&fillers[1]);
    let asked = open_approvals(&home);
    let refused = home.run(["approvals", "allow", id(&asked[0])]).expect_code(1);
    assert!(refused.stderr.contains("full"), "{refused:?}");
    assert_eq!(open_approvals(&home), asked, "it is still open");
    screen.type_words(" and more").wait_for("words I have not sent and more");
    home.kill_everything();
    screen.wait_exit();

    for filler in fillers {
        std::fs::remove_file(filler).expect("room again");
    }
    assert_eq!(open_approvals(&home).len(), 1);
    assert!(!home.has("second"));
    home.ok(["approvals", "allow", id(&asked[0])]);
    latch.release();
    wait_completed(&home, exec.task());
    assert_eq!(server.wait_for_request(3).heard(), ["acknowledged words"]);
    let mut screen = home.terminal([exec.task()], 100, 30);
    screen.wait_for("words I have not sent").keys("enter").wait_for("no question this time");
    drop(screen);
    home.assert_sound();
    home.run(["host", "stop"]);
    eventually("the host is gone", || home.host().is_none());
}

#[test]
fn a_disk_that_fills_before_files_are_written_and_edited_has_that_done_once_when_there_is_room() {
    let latch = Latch::new();
    let [(made, new), (changed, edits)] = [write("new.txt", "made\n"), edit("old.txt", "one", "one and more")];
    let server = ModelServer::with([
        call(read("old.txt")),
        Reply::stream().tool(made, new).tool(changed, edits).hold(&latch).finish(),
        Reply::say("both done"),
    ]);
    let home = Home::with_model(&server);
    home.write("old.txt", "one\n");
    let Some(_disk) = SmallDisk::mount(&home, "size=48m,mode=700") else { return };
    let running = home.start(["exec", "--approve", "workspace", "work"]);
    latch.wait_reached();
    let fillers = ["filler", "rest"].map(|name| home.state().join(name));
    fill(&fillers[0]);
    std::fs::remove_file(home.state().join("ballast")).expect("the reserve");
    fill(&fillers[1]);
    latch.release();
    running.wait_for_error("full");
    assert!(!home.has("new.txt") && home.read("old.txt") == "one\n", "nothing is done that can't be recorded");
    for filler in fillers {
        std::fs::remove_file(filler).expect("room again");
    }
    running.finish().expect_code(0);
    assert_eq!((home.read("new.txt").as_str(), home.read("old.txt").as_str()), ("made\n", "one and more\n"));
    assert_eq!(server.requests().len(), 3, "nothing was asked again");
    home.assert_sound();
    home.run(["host", "stop"]);
    eventually("the host is gone", || home.host().is_none());
}

#[test]
fn doctor_prints_what_survives_what() {
    let home = Home::new();
    let table = home.ok(["doctor", "--survival"]);
    assert!(table.contains("a shell command that runs") && table.contains("may have happened"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let cells = home.json(["doctor", "--survival"]);
    assert!(cells.len() >= 28 && cells.iter().all(|cell| cell["proof"].is_string()), "{cells:#?}");
    assert!(cells.iter().any(|cell| cell["when"] == "shim dies"), "{cells:#?}");
    assert!(!home.state().exists(), "saying it needs no state and no host");
}
