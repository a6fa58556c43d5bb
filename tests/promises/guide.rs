//! The first start: no configuration, no key, no network, and real work in the folder one is in.

use crate::support::home::Home;

/// A folder with something in it.
fn home() -> Home {
    let home = Home::new();
    home.write("README.md", "# Garden\n\nNotes about the garden.\n\n## Beds\n\nTomatoes and beans.\n");
    home.write("src/plan.txt", "tomatoes\nbeans\ntomatoes again\n");
    home
}

#[test]
fn the_guide_says_what_it_is_and_what_it_can_do() {
    let home = home();
    let exec = home.exec(["help"]).expect_code(0);
    let text = exec.text().to_lowercase();
    assert!(text.contains("guide") && (text.contains("no ai") || text.contains("not an ai")), "{text}");
}

#[test]
fn the_guide_lists_reads_counts_and_searches_with_the_real_tools() {
    let home = home();
    for (wish, tool, answer) in [
        ("what is here?", "list", "README.md"),
        ("read README.md", "read", "Tomatoes and beans."),
        ("search for tomatoes", "grep", "plan.txt"),
        ("outline README.md", "", "Beds"),
        ("count the lines of src/plan.txt", "", "3"),
    ] {
        let exec = home.exec([wish]).expect_code(0);
        let calls = exec.of("tool_call");
        assert!(!calls.is_empty(), "{wish}: a real tool is used\n{:#?}", exec.lines);
        assert!(tool.is_empty() || calls.iter().any(|call| call["name"] == tool), "{wish}: {calls:#?}");
        assert!(exec.text().contains(answer), "{wish}: {}", exec.text());
    }
    home.assert_sound();
}

#[test]
fn the_guide_runs_and_writes_under_the_same_rule_as_any_model() {
    let home = home();
    let exec = home.exec(["--approve", "ask", "run `touch made-by-the-guide`"]).expect_code(3);
    assert!(!home.has("made-by-the-guide"));
    let open = home.json(["approvals", "ls"]);
    home.ok(["approvals", "allow", open[0]["id"].as_str().expect("an id")]);
    crate::support::watch::eventually("it was done", || home.has("made-by-the-guide"));
    crate::support::watch::eventually("the Task is complete", || {
        home.json(["show", exec.task()])[0]["status"] == "completed"
    });
}

#[test]
fn a_second_message_at_once_leaves_the_first_its_answer_even_if_the_second_waits_for_a_person() {
    let home = home();
    let task = home.json(["new", "two wishes"])[0]["id"].as_str().expect("an id").to_owned();
    home.ok(["send", &task, "search for tomatoes"]);
    home.ok(["send", &task, "run `touch second`"]);
    crate::support::watch::eventually("the second waits", || !home.json(["approvals", "ls"]).is_empty());
    let events = home.events(&task);
    let said = events.iter().filter(|event| event.to_string().contains("turn_committed"));
    let answers = said.filter(|event| event.to_string().contains("`tomatoes` is in 2 lines")).count();
    assert_eq!(answers, 1, "{events:#?}");
    assert!(!home.has("second"));
}

#[test]
fn what_the_guide_cannot_do_it_says_plainly() {
    let home = home();
    let exec = home.exec(["write me a poem about the sea in the style of a tired accountant"]).expect_code(0);
    assert_eq!(exec.of("tool_call").len(), 0, "{:#?}", exec.lines);
    assert!(exec.text().to_lowercase().contains("model"), "and how to get further: {}", exec.text());
}

#[test]
fn what_was_stopped_is_not_taken_up_again_with_the_next_words() {
    let home = home();
    let mut terminal = home.terminal(["--approve", "workspace"], 100, 30);
    terminal.wait_for("Say what you want done").type_words("run sleep 600").keys("enter");
    terminal.wait_for("running shell").keys("esc").wait_for("stopped");
    terminal.type_words("count the lines of README.md").keys("enter").wait_for("7 lines");
    let said = terminal.screen_text();
    assert!(!said.contains("I was told") && said.matches("sleep 600").count() <= 3, "{said}");
}

#[test]
fn the_guide_claims_no_more_of_a_long_file_than_it_has_read() {
    let home = home();
    let lines: String = (1..=400_000).map(|number| format!("row {number}\n")).collect();
    home.write("long.txt", lines);
    let counted = home.exec(["count the lines of long.txt"]).expect_code(0);
    assert!(counted.text().contains("more than") && counted.text().contains("wc -l"), "{}", counted.text());
    let last = home.exec(["last 3 lines of long.txt"]).expect_code(0);
    assert!(last.text().contains("row 399998\nrow 399999\nrow 400000"), "{}", last.text());
}
