//! Conversations: the person's words, the calls the guide makes of them, and what it answers.
//! Most run against the real tools in a folder of their own.

use super::*;
use crate::agent::tools::testing::{Bench, told};
use crate::agent::tools::{self, arguments};
use crate::domain::{Part, Role, Row, ToolCallState};
use futures_util::StreamExt;
use serde_json::json;

fn row(role: Role, parts: Vec<Part>) -> Row {
    Row { seq: 0, role, parts, message: None, tool_call: None, outcome: None, cut: false, tokens: 0, at: 0 }
}

fn request(rows: &[Row]) -> Request {
    let system = "You are Main.\n\nFolder: /the/project\nSystem: linux".to_owned();
    Request {
        model: "guide".into(),
        system,
        rows: rows.to_vec(),
        tools: vec![],
        info: crate::domain::settings::ModelInfo::default(),
    }
}

/// A conversation in a folder.
struct Talk {
    bench: Bench,
    rows: Vec<Row>,
    /// The calls that were made, as text.
    calls: Vec<String>,
    /// The answers, one for each turn.
    answers: Vec<String>,
}

impl Talk {
    fn new() -> Self {
        let bench = Bench::new();
        bench.put("README.md", "# Example\n\nA small thing to try the guide on.\n\n## Use\n\nRun it.\n");
        bench.put("Cargo.toml", "[package]\nname = \"example\"\nversion = \"1.2.3\"\ndescription = \"An example.\"\n");
        bench.put(
            "src/main.rs",
            "use std::io;\n\nfn main() {\n    // TODO: say more\n    println!(\"hello\");\n}\n\nstruct Config;\n",
        );
        bench.put("src/lib.rs", "pub fn config() -> Config {\n    Config\n}\n");
        bench.put("notes.txt", "milk\nbread\nmilk\n");
        Self { bench, rows: Vec::new(), calls: Vec::new(), answers: Vec::new() }
    }

    /// Adds the person's words.
    fn words(&mut self, text: &str) {
        self.rows.push(row(Role::User, vec![Part::text(text)]));
    }

    /// Takes one turn; whether calls were made. A turn is what the rows say and nothing else.
    async fn turn(&mut self) -> bool {
        let reply = reply(&request(&self.rows));
        assert_eq!(super::reply(&request(&self.rows)), reply, "the same rows give the same answer");
        self.answers.push(reply.text.clone());
        let mut parts = Vec::new();
        if !reply.text.is_empty() {
            parts.push(Part::text(reply.text));
        }
        let mut results = Vec::new();
        for call in &reply.calls {
            let id = format!("c_{}", self.calls.len());
            let arguments = call.arguments.to_string();
            self.calls.push(format!("{} {arguments}", call.tool));
            let (name, provider_id) = (call.tool.to_owned(), String::new());
            parts.push(Part::Call { id: id.as_str().into(), provider_id, name, arguments });
            let (outcome, text) = self.run(call).await;
            let result = row(Role::Tool, vec![Part::text(text)]);
            results.push(Row { tool_call: Some(id.as_str().into()), outcome: Some(outcome), ..result });
        }
        self.rows.push(row(Role::Assistant, parts));
        self.rows.extend(results);
        !reply.calls.is_empty()
    }

    /// Runs a call with the real tool; a question is answered with "blue".
    async fn run(&self, call: &Call) -> (ToolCallState, String) {
        if call.tool == tools::ASK {
            return (ToolCallState::Done, "The person answered: blue".to_owned());
        }
        let tool = tools::find(call.tool).expect("a tool that is there");
        let arguments = arguments::parse(&call.arguments.to_string(), tool.spec()).expect("an object");
        match tool.plan(&arguments, &self.bench.ctx).await {
            Ok(plan) => {
                let outcome = (plan.run)(self.bench.ctx.clone()).await;
                (outcome.state, told(&outcome).1)
            }
            Err(bad) => {
                assert!(!bad.0.contains("unknown field") && !bad.0.contains("is missing"), "{call:?}: {}", bad.0);
                (ToolCallState::Error, bad.0)
            }
        }
    }

    /// Says something and gives all that is answered until the end.
    async fn say(&mut self, text: &str) -> String {
        self.words(text);
        let first = self.answers.len();
        for _ in 0..20 {
            if !self.turn().await {
                return self.answers[first..]
                    .iter()
                    .filter(|answer| !answer.is_empty())
                    .cloned()
                    .collect::<Vec<_>>()
                    .join("\n\n");
            }
        }
        panic!("no end: {:?}", self.calls);
    }
}

/// What is said, and what must be in the answer to it.
async fn answers(table: &[(&str, &[&str])]) {
    for (said, expected) in table {
        let answer = Talk::new().say(said).await;
        for words in *expected {
            assert!(answer.contains(words), "{said}: no {words:?} in\n{answer}");
        }
    }
}

#[tokio::test]
async fn looking_states_facts_of_the_files() {
    answers(&[
        (
            "what is here?",
            &[
                "a Rust project, named **example**, version 1.2.3",
                "“An example.”",
                "titled **Example**",
                "A small thing",
                "5 files in all",
                "2 `.rs`",
                "src/",
            ],
        ),
        ("list src", &["`src` holds 0 folders and 2 files", "main.rs  89 B"]),
        ("read notes.txt", &["`notes.txt`, 3 lines", "1  milk\n2  bread\n3  milk"]),
        ("read src/main.rs lines 3-4", &["lines 3 to 4 of `src/main.rs`", "3  fn main() {\n4      // TODO"]),
        ("read src", &["`src` holds 0 folders and 2 files"]),
        ("list notes.txt", &["`notes.txt`, 3 lines"]),
        ("last 2 lines of notes.txt", &["2  bread\n3  milk"]),
        ("read main.rs", &["There is no `main.rs`, but there is `src/main.rs`", "fn main()"]),
        ("read note.txt", &["There is no `note.txt`. Did you mean `notes.txt`?"]),
        ("read nothing-like-it.txt", &["no file with a similar name"]),
        ("outline src/main.rs", &["2 entries in 8 lines", "3  fn main()", "8  struct Config;"]),
        ("outline README.md", &["2 entries", "1  Example", "5    Use"]),
        ("outline notes.txt", &["I know no headings or definitions"]),
        ("describe README.md", &["7 lines, 14 words", "Title: **Example**", "I don't understand what it says"]),
        ("compare src/main.rs and src/lib.rs", &["7 lines removed, 2 lines added", "+pub fn config()"]),
        ("compare notes.txt with notes.txt", &["hold the same text (3 lines)"]),
    ])
    .await;
}

#[tokio::test]
async fn counting_and_finding_state_facts_of_the_files() {
    answers(&[
        ("how many lines are in notes.txt?", &["`notes.txt` has 3 lines, 3 words and 16 characters"]),
        ("how many files are there?", &["There are 5 files here", "2  .rs"]),
        ("how many rust files are there?", &["There are 2 files here", "`**/*.rs`"]),
        ("how many python files are there?", &["0 files"]),
        ("count files in src", &["There are 2 files in `src`"]),
        ("how many lines of rust code are there?", &["hold 11 lines in all"]),
        ("how often does milk occur in notes.txt?", &["`milk` occurs 2 times in 2 lines of 1 file"]),
        ("search for config in src", &["in 1 line of 1 file", "src/lib.rs:1: pub fn config()"]),
        ("search for MILK", &["in other case it is in 2 lines of 1 file"]),
        ("search for zebra", &["Nothing holds `zebra`", "5 files searched"]),
        ("where is Config defined?", &["src/main.rs:8: struct Config;"]),
        ("find files named *.rs", &["2 files match", "src/lib.rs\nsrc/main.rs"]),
        ("find *.py", &["No file matches"]),
        ("list the todos", &["in 1 line of 1 file", "TODO: say more"]),
        ("todos in notes.txt", &["There is no TODO"]),
        ("largest files", &["src/main.rs", "The largest files here"]),
    ])
    .await;
}

#[tokio::test]
async fn running_says_how_it_ended() {
    answers(&[
        ("run echo hello", &["`echo hello` succeeded after", "hello"]),
        ("!exit 7", &["`exit 7` did not succeed: exited 7"]),
        ("run true", &["succeeded", "without output"]),
        ("test it", &["cargo test"]),
        ("ask me which colour: red, green or blue", &["You answered: blue"]),
    ])
    .await;
}

#[tokio::test]
async fn files_are_written_appended_to_and_edited() {
    let mut talk = Talk::new();
    assert!(talk.say("write new.txt: one").await.contains("Done: new.txt: created"));
    assert!(talk.say("append \"two\" to it").await.contains("Done: new.txt: edited in 1 place"));
    assert!(talk.say("append \"two\" to it").await.contains("Done:"));
    assert_eq!(talk.bench.bytes("new.txt"), b"one\ntwo\ntwo\n");
    assert!(talk.say("replace one with three in new.txt").await.contains("Done:"));
    let several = talk.say("replace two with four in new.txt").await;
    assert!(several.contains("2 times") && several.contains("replace all two with four"), "{several}");
    assert!(talk.say("replace all two with four in new.txt").await.contains("edited in 2 places"));
    assert_eq!(talk.bench.bytes("new.txt"), b"three\nfour\nfour\n");
    let kept = talk.say("create notes.txt with nothing").await;
    assert!(kept.contains("is there already"), "{kept}");
    assert_eq!(talk.bench.bytes("notes.txt"), b"milk\nbread\nmilk\n");
    assert!(talk.say("create a note: remember the milk").await.contains("note.md: created"));
    assert!(talk.say("append \"x\" to fresh.txt").await.contains("There was no such file"));
    assert_eq!(talk.bench.bytes("fresh.txt"), b"x\n");
    let missing = talk.say("replace zebra with horse in notes.txt").await;
    assert!(missing.contains("I could not change `notes.txt`") && missing.contains("is not in it"), "{missing}");
}

#[tokio::test]
async fn appending_keeps_line_ends_and_a_missing_one() {
    let mut talk = Talk::new();
    talk.bench.put("dos.txt", "a\r\nb\r\n");
    talk.bench.put("open.txt", "a\nb");
    talk.bench.put("empty.txt", "");
    for file in ["dos.txt", "open.txt", "empty.txt"] {
        talk.say(&format!("append \"c\" to {file}")).await;
    }
    assert_eq!(talk.bench.bytes("dos.txt"), b"a\r\nb\r\nc\r\n");
    assert_eq!(talk.bench.bytes("open.txt"), b"a\nb\nc");
    assert_eq!(talk.bench.bytes("empty.txt"), b"c\n");
}

#[tokio::test]
async fn a_large_file_is_read_to_its_end_over_several_turns() {
    let mut talk = Talk::new();
    let lines: String = (1..=4000).map(|n| format!("line number {n}\n")).collect();
    talk.bench.put("large.txt", lines);
    assert!(talk.say("count lines in large.txt").await.contains("has 4000 lines, 12000 words"));
    assert!(talk.calls.len() > 3, "{:?}", talk.calls);
    let first = talk.say("read large.txt").await;
    assert!(first.contains("in the tool's result"), "{first}");
    let page = talk.say("more").await;
    assert!(page.contains("lines ") && !page.contains("of `large.txt`, 4000"), "{page}");
}

#[tokio::test]
async fn wishes_joined_by_then_are_done_in_order_and_each_is_told_once() {
    let mut talk = Talk::new();
    let answer =
        talk.say("write a.txt: hello then read it, then count lines in notes.txt and then run echo done").await;
    let tools: Vec<&str> = talk.calls.iter().map(|call| call.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(tools, ["write", "read", "read", "shell"]);
    for once in ["Done: a.txt: created", "1  hello", "has 3 lines", "`echo done` succeeded"] {
        assert_eq!(answer.matches(once).count(), 1, "{once} in\n{answer}");
    }
    assert_eq!(talk.answers.len(), 5, "one turn for each call, and the end");
    assert_eq!(talk.answers[..4], ["", "", "", ""], "the last answer tells all");
}

#[tokio::test]
async fn words_that_arrive_in_the_middle_join_the_round() {
    let mut talk = Talk::new();
    talk.words("count lines in notes.txt then run echo one");
    assert!(talk.turn().await);
    talk.words("and then list src");
    while talk.turn().await {}
    let all = talk.answers.join("\n");
    for once in ["has 3 lines", "`echo one` succeeded", "`src` holds"] {
        assert_eq!(all.matches(once).count(), 1, "{once} in\n{all}");
    }
}

#[tokio::test]
async fn a_second_message_in_the_middle_does_not_hold_back_the_answer_to_the_first() {
    let mut talk = Talk::new();
    talk.words("search for bread");
    assert!(talk.turn().await);
    talk.words("run echo two");
    assert!(talk.turn().await);
    assert!(talk.answers[1].contains("`bread` is in 1 line"), "told beside the call: {:?}", talk.answers);
    // The second is stopped, as by Esc at its approval; the first has its answer.
    let mut stopped = Talk { rows: talk.rows.clone(), ..Talk::new() };
    let last = stopped.rows.len() - 1;
    stopped.rows[last].outcome = Some(ToolCallState::Cancelled);
    assert!(!stopped.say("who are you?").await.contains("bread"));
    talk.words("and then run echo three");
    while talk.turn().await {}
    let all = talk.answers.join("\n");
    for once in ["`bread` is in 1 line", "`echo two` succeeded", "`echo three` succeeded"] {
        assert_eq!(all.matches(once).count(), 1, "{once} in\n{all}");
    }
}

#[tokio::test]
async fn stop_takes_back_what_was_wished_before_it() {
    let mut talk = Talk::new();
    talk.words("read notes.txt then run touch never");
    assert!(talk.turn().await);
    talk.words("stop");
    talk.words("read README.md");
    while talk.turn().await {}
    assert_eq!(talk.calls.iter().filter(|call| call.starts_with("shell")).count(), 0);
    let all = talk.answers.join("\n");
    assert!(all.contains("Stopped.") && all.contains("# Example") && !all.contains("bread"), "{all}");
}

#[tokio::test]
async fn a_round_that_was_stopped_by_the_person_is_not_taken_up_by_the_next_words() {
    let mut talk = Talk::new();
    talk.words("run echo one then run echo two");
    assert!(talk.turn().await);
    let last = talk.rows.len() - 1;
    talk.rows[last].outcome = Some(ToolCallState::Cancelled);
    let answer = talk.say("who are you?").await;
    assert!(answer.contains("not an AI") && !answer.contains("echo"), "{answer}");
    assert_eq!(talk.calls.len(), 1);
}

#[tokio::test]
async fn an_answer_that_was_cut_is_given_again() {
    let mut talk = Talk::new();
    let whole = talk.say("how many lines are in notes.txt?").await;
    let last = talk.rows.len() - 1;
    talk.rows[last] = Row { cut: true, ..row(Role::Assistant, vec![Part::text("`notes.txt` has")]) };
    assert_eq!(reply(&request(&talk.rows)).text, whole);
}

#[test]
fn what_was_denied_or_failed_is_said_plainly() {
    for (outcome, result, expected) in [
        (ToolCallState::Denied, "No: not today", "I did not run `rm -- x.txt`: No: not today"),
        (ToolCallState::Cancelled, "Over.", "I did not run `rm -- x.txt`: Over."),
        (ToolCallState::Uncertain, "exited 0 after 0.1 s", "`rm -- x.txt`: exited 0 after 0.1 s"),
        (ToolCallState::Error, "exited 1 after 0.0 s\nrm: cannot remove", "did not succeed: exited 1 after 0.0 s"),
        // Words that only sound like a refusal are the tool's own.
        (ToolCallState::Error, "Stopped: no such program", "`rm -- x.txt`: Stopped: no such program"),
    ] {
        let call =
            Part::Call { id: "c_1".into(), provider_id: String::new(), name: "shell".into(), arguments: "{}".into() };
        let rows = [
            row(Role::User, vec![Part::text("delete x.txt")]),
            row(Role::Assistant, vec![call]),
            Row { tool_call: Some("c_1".into()), outcome: Some(outcome), ..row(Role::Tool, vec![Part::text(result)]) },
        ];
        let reply = reply(&request(&rows));
        assert!(reply.calls.is_empty() && reply.text.contains(expected), "{}", reply.text);
    }
}

#[test]
fn every_call_is_one_of_the_tools_with_arguments_it_takes() {
    for (said, calls) in [
        ("what is here?", vec![("list", json!({})), ("glob", json!({"pattern": "**/*"}))]),
        ("read a.txt lines 3-5", vec![("read", json!({"path": "a.txt", "offset": 3, "limit": 3}))]),
        ("search for a.b in src", vec![("grep", json!({"pattern": "a\\.b", "path": "src"}))]),
        ("run ls", vec![("shell", json!({"command": "ls"}))]),
        ("write a.txt: hi", vec![("write", json!({"path": "a.txt", "content": "hi\n"}))]),
        (
            "replace all a with b in c.txt",
            vec![("edit", json!({"path": "c.txt", "edits": [{"old": "a", "new": "b", "all": true}]}))],
        ),
        ("fetch https://example.com", vec![("fetch", json!({"url": "https://example.com"}))]),
        ("ask me which: a or b", vec![("ask", json!({"question": "Which?", "options": ["a", "b"]}))]),
        ("help", vec![]),
    ] {
        let reply = reply(&request(&[row(Role::User, vec![Part::text(said)])]));
        let made: Vec<_> = reply.calls.into_iter().map(|call| (call.tool, call.arguments)).collect();
        assert_eq!(made, calls, "{said}");
    }
}

#[test]
fn talk_about_itself_and_models_needs_no_tool() {
    let answer = |text: &str| reply(&request(&[row(Role::User, vec![Part::text(text)])])).text;
    assert!(answer("are you an AI?").contains("I am not an AI"));
    let connect = answer("how do I connect a model?");
    for line in [
        "export OPENAI_BASE_URL=",
        "export OPENAI_API_KEY=",
        "export COWORK_MODEL=openai:",
        "11434",
        "[providers.local]",
        "config.toml",
    ] {
        assert!(connect.contains(line), "{line}");
    }
    assert!(answer("where am I?").contains("`/the/project`"));
    let unknown = answer("write a poem about the sea");
    assert!(
        unknown.contains("I don't understand") && unknown.contains("not an AI") && unknown.contains("help"),
        "{unknown}"
    );
    assert!(answer("[notice from system]\nThe check failed").contains("The check failed"));
    assert!(reply(&request(&[])).text.contains("nothing for me to do"));
}

#[tokio::test]
async fn an_answer_streams_word_by_word_and_ends_with_what_it_counts() {
    let rows = [row(Role::User, vec![Part::text("count lines in a.txt")])];
    let events: Vec<_> = Guide.ask(request(&rows)).map(|event| event.expect("no failure")).collect().await;
    let Some(StreamEvent::Done(finished)) = events.last() else { panic!("{events:?}") };
    assert_eq!(finished.calls, [(String::new(), "read".to_owned(), "{\"path\":\"a.txt\"}".to_owned())]);
    assert_eq!((finished.usage.turns, finished.reason.as_str()), (1, "tool_calls"));
    assert!(finished.usage.input_tokens > 0 && finished.usage.output_tokens > 0);
    let rows = [row(Role::User, vec![Part::text("help")])];
    let events: Vec<_> = Guide.ask(request(&rows)).map(|event| event.expect("no failure")).collect().await;
    let text: String = events
        .iter()
        .filter_map(|event| match event {
            StreamEvent::Text(word) => Some(word.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, talk::HELP.trim_end());
    assert!(events.len() > 50);
}
