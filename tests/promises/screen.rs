//! The screen, driven key by key in a real terminal.

use crate::support::calls::{call, shell};
use crate::support::controls;
use crate::support::home::{COWORK, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;
use crate::support::watch::eventually;
use rustix::process::Signal;

/// Opens the screen and waits until it can be typed into.
fn open(home: &Home, arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    let mut terminal = home.terminal(arguments, columns, rows);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen() && screen.contents().trim().len() > 40);
    terminal
}

/// A Task that was made on the command line, by a model that said `words`.
fn task(home: &Home, words: &str) -> String {
    home.exec([words]).expect_code(0).task().to_owned()
}

/// Presses a key as a person does who has looked at what is asked: an answer that comes faster is not taken.
fn press_after_looking(terminal: &mut Terminal, key: &str) {
    std::thread::park_timeout(std::time::Duration::from_secs(1));
    terminal.keys(key);
}

fn quit(terminal: &mut Terminal) {
    terminal.keys("ctrl+c ctrl+c ctrl+c");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    terminal.assert_clean();
    assert!(!terminal.is_raw(), "the terminal is still raw");
}

#[test]
fn a_fresh_folder_can_be_worked_in_at_once() {
    let home = Home::new();
    home.write("seeds.txt", "tomato\nbean\n");
    let mut terminal = open(&home, &[], 80, 24);
    terminal.type_words("read seeds.txt").wait_for("read seeds.txt").keys("enter");
    terminal.wait_for("tomato");
    quit(&mut terminal);
    assert_eq!(controls::foreign(&terminal.bytes()), []);
}

#[test]
fn words_are_on_screen_while_the_model_still_speaks() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().text("The first half,").hold(&latch).text(" and the second.").finish()]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 80, 24);
    terminal.type_words("speak").keys("enter").wait_for("The first half,");
    latch.release();
    terminal.wait_for("and the second.");
    quit(&mut terminal);
}

#[test]
fn leaving_leaves_the_work_going_on_and_coming_back_shows_how_it_stands() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("begun").hold(&latch).text(" and ended").finish()]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 80, 24);
    terminal.type_words("work").keys("enter").wait_for("begun");
    let id = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    quit(&mut terminal);
    latch.release();
    eventually("the Task is complete", || home.json(["show", &id])[0]["status"] == "completed");
    let mut again = open(&home, &[&id], 100, 30);
    again.wait_for("begun and ended").wait_for("work");
    quit(&mut again);
}

#[test]
fn a_terminal_that_joins_in_the_middle_gets_what_was_said_so_far() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().text("said before you came").hold(&latch).text(", said after").finish()]);
    let home = Home::with_model(&server);
    let mut first = open(&home, &[], 80, 24);
    first.type_words("speak").keys("enter").wait_for("said before you came");
    let id = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    let mut second = open(&home, &[&id], 120, 40);
    second.wait_for("said before you came");
    latch.release();
    first.wait_for("said before you came, said after");
    second.wait_for("said before you came, said after");
}

#[test]
fn ui_11_two_terminals_see_the_same_each_with_its_own_draft_and_scroll() {
    let long: String = (1..=60).map(|number| format!("line {number} of it\n\n")).collect();
    let server = ModelServer::with([Reply::say(&long), Reply::say("a second answer")]);
    let home = Home::with_model(&server);
    let id = task(&home, "begin");
    let mut first = open(&home, &[&id], 120, 40);
    let mut second = open(&home, &[&id], 80, 24);
    first.wait_for("line 60 of it");
    second.wait_for("line 60 of it");
    second.keys("ctrl+home").wait_for("line 1 of it").wait_gone("line 60 of it");
    first.type_words("a draft of my own").wait_for("a draft of my own");
    assert!(first.screen_text().contains("line 60 of it"));
    assert!(!second.screen_text().contains("a draft of my own"));
    first.keys("enter").wait_for("a second answer");
    second.keys("ctrl+end").wait_for("a draft of my own").wait_for("a second answer");
    assert_eq!(server.wait_for_request(2).user(), "a draft of my own");
}

#[test]
fn in_5_what_is_typed_while_main_works_is_queued_and_enters_at_the_next_boundary() {
    let latch = Latch::new();
    let server = ModelServer::with([
        Reply::stream().text("halfway").hold(&latch).tool("shell", shell("echo step").1).finish(),
        Reply::say("heard you"),
    ]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &["--approve", "workspace"], 100, 30);
    terminal.type_words("begin").keys("enter").wait_for("halfway");
    terminal.type_words("and think of the garden").keys("enter").wait_for("queued  and think of the garden");
    latch.release();
    terminal.wait_for("heard you").wait_gone("queued  and");
    let request = server.wait_for_request(2);
    assert_eq!(request.heard(), ["begin", "and think of the garden"]);
}

#[test]
fn a_queued_message_that_was_taken_back_is_never_sent() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("halfway").hold(&latch).finish(), Reply::say("next")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("begin").keys("enter").wait_for("halfway");
    terminal.type_words("never mind this").keys("enter").wait_for("queued  never mind this");
    terminal.keys("alt+q d").wait_gone("never mind this");
    latch.release();
    let id = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    eventually("the Task is complete", || home.json(["show", &id])[0]["status"] == "completed");
    home.exec(["--task", &id, "more"]).expect_code(0);
    assert_eq!(server.requests().len(), 2);
    assert!(!server.wait_for_request(2).body.to_string().contains("never mind this"));
}

#[test]
fn a_queued_message_can_be_changed_until_it_is_delivered() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("halfway").hold(&latch).finish(), Reply::say("next")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("begin").keys("enter").wait_for("halfway");
    terminal.type_words("paint it red").keys("enter").wait_for("queued  paint it red");
    terminal.keys("alt+q e end backspace backspace backspace 'blue' enter").wait_for("queued  paint it blue");
    latch.release();
    terminal.wait_for("next");
    assert_eq!(server.wait_for_request(2).user(), "paint it blue");
}

#[test]
fn esc_interrupts_a_stream_and_keeps_what_was_said() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().text("half a sentence").hold(&latch).finish(), Reply::say("went on")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("speak").keys("enter").wait_for("half a sentence");
    terminal.keys("esc");
    server.wait_for_hang_up(1);
    terminal.wait_for("half a sentence").type_words("go on").keys("enter").wait_for("went on");
    let request = server.wait_for_request(2);
    assert!(request.said_by("assistant").join("\n").contains("half a sentence"));
    let heard = request.heard().join("\n");
    assert!(heard.contains("stopped you here") && heard.ends_with("go on"), "{heard}");
    home.assert_sound();
}

#[test]
fn a_request_that_was_stopped_before_its_answer_is_no_order_any_more() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().hold(&latch).text("too late").finish(), Reply::say("hello to you")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("delete everything").keys("enter");
    latch.wait_reached();
    terminal.keys("esc");
    server.wait_for_hang_up(1);
    terminal.wait_for("stopped").type_words("hello").keys("enter").wait_for("hello to you").wait_for("stopped");
    let heard = server.wait_for_request(2).heard().join("\n");
    let stopped = heard.find("stopped you here").expect("the model is told");
    assert!(heard.find("delete everything").expect("kept") < stopped && stopped < heard.rfind("hello").expect("new"));
    home.assert_sound();
}

#[test]
fn esc_stops_a_running_command_and_keeps_its_output() {
    let server = ModelServer::with([call(shell("echo before; sleep 600")), Reply::say("went on")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &["--approve", "workspace"], 100, 30);
    terminal.type_words("run").keys("enter");
    let sleeps =
        || home.processes().iter().any(|process| process.arguments.first().is_some_and(|name| name == "sleep"));
    eventually("the command runs", sleeps);
    terminal.keys("esc");
    eventually("it was stopped", || !sleeps());
    terminal.type_words("go on").keys("enter").wait_for("went on");
    assert!(server.wait_for_request(2).said_by("tool").join("\n").contains("before"));
}

#[test]
fn ui_7_an_approval_takes_no_key_that_was_meant_for_something_else() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().hold(&latch).tool("shell", shell("touch ran").1).finish()]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("run").keys("enter");
    latch.wait_reached();
    latch.release();
    // Typed without looking, before and after the approval opens.
    for _ in 0..20 {
        terminal.type_words("1 2 y ");
    }
    terminal.wait_for("touch ran").type_words("y a n").wait_for("y a n");
    assert_eq!(home.json(["approvals", "ls"]).len(), 1, "it is still open");
    assert!(!home.has("ran"));
}

#[test]
fn ui_7_an_approval_is_answered_from_another_terminal() {
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("it ran")]);
    let home = Home::with_model(&server);
    let mut first = open(&home, &[], 100, 30);
    first.type_words("run").keys("enter").wait_for("touch ran");
    let id = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    let mut second = open(&home, &[&id], 80, 24);
    second.wait_for("tab to answer").keys("alt+a").wait_for("May this run?");
    press_after_looking(&mut second, "y");
    second.wait_for("it ran");
    first.wait_for("it ran");
    assert!(home.has("ran"));
    assert_eq!(home.json(["approvals", "ls"]).len(), 0);
}

#[test]
fn a_draft_outlives_a_screen_that_was_killed() {
    let server = ModelServer::with([Reply::say("hello")]);
    let home = Home::with_model(&server);
    let id = task(&home, "begin");
    // A shell, as a person has one: it is there again when the screen is gone.
    let mut terminal = home.shell(&format!("{COWORK} {id}; echo the screen is gone; {COWORK} {id}"), 100, 30);
    terminal.wait_for("hello").type_words("words I have not sent").wait_for("words I have not sent");
    eventually("the draft is kept", || !home.find_bytes("words I have not sent").is_empty());
    let screens =
        home.processes().into_iter().filter(|process| process.arguments.contains(&id) && process.arguments.len() == 2);
    for screen in screens {
        crate::support::process::send(screen.pid, Signal::KILL);
    }
    terminal.wait_for("the screen is gone").wait_gone("the screen is gone").wait_for("words I have not sent");
    // The shell ends with its terminal and does not wait for the screen it started.
    terminal.keys("ctrl+c ctrl+c ctrl+c").wait_exit();
}

#[test]
fn t13_a_paste_with_every_kind_of_line_end_is_one_message_of_four_lines() {
    let server = ModelServer::with([Reply::say("got it")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.send(b"\x1b[200~AAA\nBBB\r\nCCC\rDDD\x1b[201~").wait_for("DDD").keys("enter").wait_for("got it");
    assert_eq!(server.wait_for_request(1).user(), "AAA\nBBB\nCCC\nDDD");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn t13_a_paste_and_enter_in_one_write_are_one_message() {
    let server = ModelServer::with([Reply::say("got it")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.send(b"\x1b[200~AAA\nBBB\r\nCCC\rDDD\x1b[201~\r").wait_for("got it");
    assert_eq!(server.wait_for_request(1).user(), "AAA\nBBB\nCCC\nDDD");
}

#[test]
fn t13_a_paste_whose_end_never_comes_does_not_hold_the_keyboard() {
    let server = ModelServer::with([Reply::say("got it")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.send(b"\x1b[200~pasted").keys("esc").wait_for("pasted");
    terminal.type_words(" and typed").wait_for("and typed").keys("enter").wait_for("got it");
    assert!(server.wait_for_request(1).user().contains("pasted"));
}

#[test]
fn t13_a_mouse_report_cut_in_two_leaves_nothing_behind() {
    let server = ModelServer::with([Reply::say("got it")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.send(b"\x1b[<35;15");
    // The rest comes in a write of its own, after the program has seen the first.
    std::thread::park_timeout(std::time::Duration::from_millis(100));
    terminal.send(b"0;7M").type_words("words").wait_for("words").keys("enter").wait_for("got it");
    assert_eq!(server.wait_for_request(1).user(), "words");
}

#[test]
fn signals_leave_a_clean_terminal() {
    let home = Home::new();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let terminal = open(&home, &[], 80, 24);
        assert!(terminal.is_raw());
        terminal.signal(signal);
        terminal.wait_exit();
        terminal.assert_clean();
        assert!(!terminal.is_raw(), "{signal:?}");
    }
}

#[test]
fn a_terminal_that_is_closed_ends_the_screen_and_not_the_work() {
    let latch = Latch::new();
    let server = ModelServer::with([Reply::stream().text("begun").hold(&latch).text(" and ended").finish()]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 80, 24);
    terminal.type_words("work").keys("enter").wait_for("begun");
    let id = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    drop(terminal);
    latch.release();
    eventually("the Task is complete", || home.json(["show", &id])[0]["status"] == "completed");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn any_size_is_drawn() {
    let server = ModelServer::with([Reply::say("日本語テキスト 👩‍👩‍👧‍👦 🏳️‍🌈 สวัสดีครับ اختبار and words")]);
    let home = Home::with_model(&server);
    let id = task(&home, "begin");
    let mut terminal = open(&home, &[&id], 80, 24);
    for (columns, rows) in [(1, 1), (2, 40), (200, 2), (13, 5), (39, 11), (40, 12), (250, 80), (3, 3)] {
        terminal.resize(columns, rows);
    }
    terminal.resize(120, 40).wait_for("and words");
    quit(&mut terminal);
}

#[test]
fn a_host_that_dies_is_replaced_and_the_screen_goes_on() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().text("lost tail").hold(&latch).finish(), Reply::say("the whole answer")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("tell me").keys("enter").wait_for("lost tail");
    home.kill_host();
    terminal.wait_for("the whole answer").wait_gone("lost tail");
    home.assert_sound();
}

#[test]
fn the_list_of_tasks_opens_another_one() {
    let server = ModelServer::with([Reply::say("answer of the first"), Reply::say("answer of the second")]);
    let home = Home::with_model(&server);
    let first = task(&home, "the first one");
    task(&home, "the second one");
    let mut terminal = open(&home, &[&first], 100, 30);
    terminal.wait_for("answer of the first");
    terminal.keys("ctrl+t").wait_for("the second one").keys("home enter").wait_for("answer of the second");
    quit(&mut terminal);
}

#[test]
fn what_is_sent_while_the_task_is_being_made_follows_the_first_message() {
    let latch = Latch::new();
    let server = ModelServer::with([
        Reply::stream().text("halfway").hold(&latch).tool("shell", shell("true").1).finish(),
        Reply::say("heard both"),
    ]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &["--approve", "workspace"], 100, 30);
    // In one write: the second Enter comes before any host could have answered the first.
    terminal.send(b"the first\rand the second\r").wait_for("halfway");
    latch.release();
    terminal.wait_for("heard both");
    assert_eq!(server.requests().last().expect("a request").heard(), ["the first", "and the second"]);
    assert_eq!(home.json(["ls"]).len(), 1, "there is one Task");
    quit(&mut terminal);
}

#[test]
fn ui_7_the_reason_of_a_no_is_told_to_main_and_stands_with_the_call() {
    let server = ModelServer::with([call(shell("rm -r seeds")), Reply::say("I leave them")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("tidy up").keys("enter").wait_for("to answer").keys("alt+a").wait_for("May this run?");
    press_after_looking(&mut terminal, "w");
    terminal.wait_for("why not?").type_words("the seeds are for May").keys("enter").wait_for("I leave them");
    terminal.wait_for("The person said no: the seeds are for May").wait_for("not allowed");
    assert!(server.wait_for_request(2).said_by("tool").join("\n").contains("the seeds are for May"));
    quit(&mut terminal);
}

#[test]
fn esc_stops_a_step_that_waits_for_an_approval() {
    let server = ModelServer::with([call(shell("touch ran")), Reply::say("went on")]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home, &[], 100, 30);
    terminal.type_words("run").keys("enter").wait_for("to answer").keys("esc").wait_gone("to answer");
    terminal.wait_for("stopped");
    assert_eq!(home.json(["approvals", "ls"]).len(), 0);
    terminal.type_words("go on").keys("enter").wait_for("went on");
    assert!(!home.has("ran"));
    quit(&mut terminal);
}

#[test]
fn what_waits_in_another_task_is_counted_until_it_is_answered() {
    let server = ModelServer::with([Reply::say("nothing to do"), call(shell("touch ran")), Reply::say("it ran")]);
    let home = Home::with_model(&server);
    let quiet = task(&home, "the quiet one");
    let mut terminal = open(&home, &[&quiet], 120, 30);
    terminal.wait_for("nothing to do");
    home.exec(["--approve", "ask", "the busy one"]).expect_code(3);
    terminal.wait_for("1 waits in another Task, alt+a");
    terminal.keys("ctrl+t").wait_for("waits for you").keys("esc").wait_gone("waits for you");
    terminal.keys("alt+a").wait_for("tab to answer");
    terminal.wait_gone("in another Task").keys("alt+a").wait_for("May this run?");
    press_after_looking(&mut terminal, "y");
    terminal.wait_for("it ran");
    quit(&mut terminal);
}
