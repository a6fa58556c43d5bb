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

#[test]
fn ui_12_from_nothing_to_a_conversation_by_pressing_only_what_is_offered() {
    let home = home().env("OPENAI_API_KEY", "k");
    home.write("AGENTS.md", "Be brief.\n");
    let mut terminal = home.terminal([] as [&str; 0], 80, 24);
    terminal
        .wait_for("You and AI agents work here")
        .wait_for("The guide answers here: built in, no AI")
        .wait_for("OPENAI_API_KEY is set: /model openai:NAME uses it")
        .wait_for("tab to answer")
        .wait_for("enter alone asks: what is here?");
    // A person looks before they answer; a key that comes faster is not taken.
    std::thread::park_timeout(std::time::Duration::from_secs(1));
    terminal.keys("tab").wait_for("y trust it  n not now").keys("y").wait_for("this folder is trusted");
    terminal.keys("enter").wait_for("README.md").wait_for("AGENTS.md");
    terminal.wait_gone("enter alone asks");
    let kept = home.json(["ls"]);
    assert_eq!((kept[0]["title"].as_str(), kept[0]["model"].as_str()), (Some("what is here?"), Some("guide:guide")));
    // Whoever has sent something knows what this is, and an empty message is sent no more.
    let mut again = home.terminal([] as [&str; 0], 80, 24);
    again.wait_for("Say what you want done").keys("enter").type_words("x").wait_for("› x");
    assert!(!again.screen_text().contains("You and AI agents"), "{}", again.screen_text());
    assert_eq!(home.json(["ls"]).len(), 1);
}

#[test]
fn a_model_chosen_at_the_first_start_is_kept_for_the_next_one() {
    let home = home().env("OPENAI_API_KEY", "k");
    let mut terminal = home.terminal([] as [&str; 0], 80, 24);
    terminal.wait_for("OPENAI_API_KEY is set").type_words("/model openai:mine").keys("enter").wait_for("kept in");
    terminal.wait_for("openai:mine answers here");
    let kept = home.json(["config", "show"]);
    let model = kept.iter().find(|entry| entry["name"] == "model").expect("a model");
    assert_eq!(model["value"], "openai:mine");
}
