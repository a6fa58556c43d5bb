//! Resources: people and agents edit the same things; nobody overwrites anybody, and no proposal is lost.

use crate::support::calls::call;
use crate::support::crash::DoomedHost;
use crate::support::home::{Exec, Home, json_lines};
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[track_caller]
fn show(home: &Home, name: &str) -> Value {
    home.json(["resources", "show", name]).remove(0)
}

/// Commits a text; gives what became of it: a revision, or a Candidate.
#[track_caller]
fn commit(home: &Home, name: &str, base: u64, text: &str, by: &str) -> Value {
    let base = base.to_string();
    let file = home.write(&format!("{by}.txt"), text);
    let file = file.to_string_lossy().into_owned();
    let finished = home.run(["resources", "commit", name, "--base", &base, "--from", &file, "--as", by, "--json"]);
    json_lines(&finished.stdout).into_iter().next().unwrap_or_else(|| panic!("nothing became of it: {finished:?}"))
}

#[test]
fn rs_1_one_of_many_edits_of_a_revision_is_the_next_and_every_other_one_is_kept() {
    for actors in [2, 16] {
        let home = Home::new();
        home.ok(["resources", "new", "document", "shared.md"]);
        let rounds = 3;
        let answers: Vec<Vec<Value>> = std::thread::scope(|scope| {
            let actors: Vec<_> = (0..actors)
                .map(|actor| {
                    let home = &home;
                    scope.spawn(move || {
                        let by = format!("actor{actor}");
                        (0..rounds)
                            .map(|round| {
                                let now = show(home, "shared.md");
                                let base = now["revision"].as_u64().expect("a revision");
                                let text = format!("{}{by} {round}\n", now["text"].as_str().unwrap_or_default());
                                commit(home, "shared.md", base, &text, &by)
                            })
                            .collect()
                    })
                })
                .collect();
            actors.into_iter().map(|actor| actor.join().expect("an actor")).collect()
        });
        let all: Vec<&Value> = answers.iter().flatten().collect();
        let accepted: BTreeSet<u64> = all.iter().filter_map(|answer| answer["number"].as_u64()).collect();
        let kept: BTreeSet<&str> = all.iter().filter_map(|answer| answer["id"].as_str()).collect();
        assert_eq!(accepted.len() + kept.len(), actors * rounds, "each edit is one or the other, once");
        assert_eq!(accepted, (1..=accepted.len() as u64).collect(), "without a gap");
        let history = home.json(["resources", "history", "shared.md"]);
        let numbers: Vec<u64> = history.iter().filter_map(|revision| revision["number"].as_u64()).collect();
        assert_eq!(numbers, (0..=accepted.len() as u64).rev().collect::<Vec<_>>());
        let candidates = home.json(["resources", "candidates", "shared.md"]);
        let found: BTreeSet<&str> = candidates.iter().filter_map(|candidate| candidate["id"].as_str()).collect();
        assert_eq!(found, kept);
        // What stands is what the accepted edits wrote, one line each.
        let text = show(&home, "shared.md")["text"].as_str().expect("a text").to_owned();
        assert_eq!(text.lines().count(), accepted.len(), "{text}");
        home.assert_sound();
    }
}

#[test]
fn rs_1_a_host_killed_at_any_step_of_a_commit_leaves_it_done_once_or_not_at_all() {
    for point in ["store.decided:2", "store.projected:2", "store.before_commit:2", "store.after_commit:2"] {
        let home = Home::new();
        home.ok(["resources", "new", "document", "a.md"]);
        home.ok(["host", "stop"]);
        let host = DoomedHost::start(&home, point);
        let file = home.write("new.txt", "one line\n");
        let file = file.to_string_lossy().into_owned();
        // The client comes back to another host and sends the same command again.
        let finished = home.run(["resources", "commit", "a.md", "--base", "0", "--from", &file, "--json"]);
        assert!(host.died(&home), "{point} was passed");
        assert_eq!(finished.code(), 0, "{point}: {finished:?}");
        let now = show(&home, "a.md");
        assert_eq!((&now["revision"], &now["text"]), (&json!(1), &json!("one line\n")), "{point}");
        assert_eq!(home.json(["resources", "candidates", "--all"]), [Value::Null; 0], "{point}");
        home.assert_sound();
    }
}

#[test]
fn rs_5_a_stale_edit_is_merged_with_one_command_where_nothing_overlaps_and_piece_by_piece_where_it_does() {
    let home = Home::new();
    let start = home.write("start.md", "one\n\ntwo\n\nthree\n");
    home.ok(["resources", "import", &start.to_string_lossy(), "--name", "n.md"]);
    assert_eq!(commit(&home, "n.md", 0, "ONE\n\ntwo\n\nthree\n", "anna")["number"], 1);
    let apart = commit(&home, "n.md", 0, "one\n\ntwo\n\nTHREE\n", "ben");
    let same = commit(&home, "n.md", 0, "uno\n\ntwo\n\nthree\n", "cleo");
    assert_eq!((&apart["state"], &same["state"]), (&json!("conflict"), &json!("conflict")));
    let merged = home.json(["resources", "merge", apart["id"].as_str().expect("an id")]).remove(0);
    home.ok(["resources", "accept", merged["id"].as_str().expect("an id")]);
    assert_eq!(show(&home, "n.md")["text"], "ONE\n\ntwo\n\nTHREE\n");
    let same = same["id"].as_str().expect("an id");
    assert_eq!(home.run(["resources", "merge", same]).code(), 1, "two wrote the same line");
    let chosen = home.json(["resources", "merge", same, "--take", "mine"]).remove(0);
    home.ok(["resources", "accept", chosen["id"].as_str().expect("an id")]);
    assert_eq!(show(&home, "n.md")["text"], "uno\n\ntwo\n\nTHREE\n");
    let authors: Vec<Value> =
        home.json(["resources", "blame", "n.md"]).into_iter().map(|run| run["actor"]["id"].clone()).collect();
    assert_eq!(authors, ["cleo", "person", "ben"]);
    home.ok(["resources", "revert", "n.md", "--to", "0"]);
    let now = show(&home, "n.md");
    assert_eq!((&now["revision"], &now["text"]), (&json!(4), &json!("one\n\ntwo\n\nthree\n")));
    let diff = home.ok(["resources", "diff", "n.md", "3..4"]);
    assert!(diff.contains("-uno") && diff.contains("+one"), "{diff}");
    let to = home.work().join("out.md");
    home.ok(["resources", "export", "n.md", "--to", &to.to_string_lossy()]);
    assert_eq!(std::fs::read_to_string(to).expect("written"), "one\n\ntwo\n\nthree\n");
    home.assert_sound();
}

#[test]
fn rs_4_an_agent_edits_by_what_stands_there_and_is_told_what_a_person_changed() {
    let doc = |arguments: Value| call(("doc", arguments));
    let server = ModelServer::with([
        doc(json!({"action": "edit", "doc": "memory.md", "text": "# Objective\n\nwrite the report\n"})),
        doc(json!({"action": "edit", "doc": "memory.md", "section": "Objective", "text": "write a short report"})),
        Reply::say("noted"),
        doc(json!({"action": "edit", "doc": "memory.md", "rev": 1, "find": "report", "text": "letter"})),
        Reply::say("kept apart"),
    ]);
    let home = Home::with_model(&server);
    let exec = Exec::new(home.run(["exec", "--json", "remember this"])).expect_code(0);
    let task = exec.task().to_owned();
    assert_eq!(show(&home, "memory.md")["text"], "# Objective\n\nwrite a short report\n");
    let told = commit(&home, "memory.md", 1, "# Objective\n\nwrite a long report\n", "anna");
    assert_eq!(told["number"], 2);
    let again = Exec::new(home.run(["exec", "--json", "--task", &task, "go on"])).expect_code(3);
    let request = server.wait_for_request(4);
    let told = request.heard().join("\n");
    assert!(told.contains("revision 2") && told.contains("write a long report"), "{told}");
    assert!(
        again.tool_texts().iter().any(|text| text.contains("Conflict") && text.contains("w_")),
        "{:?}",
        again.tool_texts()
    );
    assert_eq!(show(&home, "memory.md")["text"], "# Objective\n\nwrite a long report\n", "nobody overwrites anybody");
    let kept = home.json(["resources", "candidates", "memory.md"]);
    assert_eq!((kept.len(), &kept[0]["actor"]["kind"]), (1, &json!("agent")));
    // What nobody has decided keeps the Task from being completed, and says so.
    let waits = || home.json(["show", &task]).remove(0);
    assert_eq!(waits()["status"], "awaiting_human");
    assert_eq!(
        (&waits()["waiting_for"][0]["kind"], &waits()["waiting_for"][0]["id"]),
        (&json!("candidate"), &kept[0]["id"])
    );
    let told = waits()["waiting_for"][0]["text"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("memory.md is to be merged"), "{told}");
    home.ok(["resources", "reject", kept[0]["id"].as_str().expect("an id")]);
    assert_eq!(waits()["status"], "completed");
    home.assert_sound();
}
