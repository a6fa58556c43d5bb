//! Subagents on screen: seen at work, opened, guided, answered, stopped, and reviewed, in a real terminal.

use crate::support::calls::{Call, call, calls};
use crate::support::controls;
use crate::support::home::Home;
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::terminal::{Terminal, rows};
use crate::support::watch::eventually;
use serde_json::{Value, json};

const NAMES: [&str; 3] = ["reader", "painter", "sleeper"];

fn delegate(name: &str) -> Call {
    ("delegate", json!({"name": name, "objective": format!("do {name}")}))
}

fn is_subagent(request: &Request) -> bool {
    request.system().contains("You are a Subagent")
}

/// Whether it is the Subagent of that name.
fn is(request: &Request, name: &str) -> bool {
    is_subagent(request) && request.heard().join("\n").contains(&format!("Your assignment ({name})"))
}

fn report(done: &str) -> Reply {
    call(("report", json!({"outcome": "completed", "done": done, "uncertain": "the margin", "refs": ["notes.txt"]})))
}

/// Main gives three parts away and says little about what comes back. The reader speaks until it is
/// let go and says what it was told; the painter asks for a colour; the sleeper speaks for ever.
fn three(reader: &Latch, sleeper: &Latch) -> ModelServer {
    let (reader, sleeper) = (reader.clone(), sleeper.clone());
    let server = ModelServer::start();
    server.otherwise(move |request| {
        if !is_subagent(request) {
            return match request.last_role() {
                "user" if request.said_by("tool").is_empty() => {
                    calls([delegate("reader"), delegate("painter"), delegate("sleeper")])
                }
                _ => Reply::say("Noted."),
            };
        }
        let heard = request.heard().join("\n");
        if is(request, "painter") {
            return match request.last_role() {
                "user" => call(("decide", json!({"question": "Which colour?", "fallback": "red", "seconds": 3600}))),
                _ => report(&format!("painted: {}", request.last())),
            };
        }
        if is(request, "sleeper") {
            return Reply::stream().text("I sleep on").hold(&sleeper).finish();
        }
        match heard.contains("only the preface") {
            true => report("I read **only** the preface"),
            false => Reply::stream().text("I read page one").hold(&reader).tool("list", json!({"path": "."})).finish(),
        }
    });
    server
}

fn open(home: &Home, columns: u16, rows: u16) -> Terminal {
    let mut terminal = home.terminal([] as [&str; 0], columns, rows);
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen() && screen.contents().trim().len() > 40);
    terminal
}

fn quit(terminal: &mut Terminal) {
    terminal.keys("ctrl+c ctrl+c ctrl+c");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    terminal.assert_clean();
}

fn subagents(home: &Home) -> Vec<Value> {
    let task = home.json(["ls"])[0]["id"].as_str().expect("an id").to_owned();
    let mut all = home.json(["agents", "ls", "--task", &task]);
    all.retain(|agent| agent["role"] == "subagent");
    all
}

fn state_of(home: &Home, name: &str) -> String {
    let all = subagents(home);
    let found = all.iter().find(|agent| agent["name"] == name);
    found.and_then(|agent| agent["state"].as_str()).unwrap_or_default().to_owned()
}

/// The names in the pane of Subagents from above, and which of them is chosen.
fn listed(screen: &vt100::Screen) -> (Vec<String>, Option<usize>) {
    let rows = rows(screen);
    let frame = rows.iter().find_map(|row| row.find("╭ Subagents").map(|at| row[..at].chars().count()));
    let start = frame.map_or(0, |frame| frame + 1);
    let (mut names, mut chosen) = (Vec::new(), None);
    for (at, row) in rows.iter().enumerate() {
        let words: String = row.chars().skip(start).collect();
        let mut words = words.split_whitespace();
        let Some("●" | "○" | "?" | "✓" | "–" | "✗") = words.next() else { continue };
        let Some(name) = words.next().filter(|name| NAMES.contains(name)) else { continue };
        let cell = screen.cell(at as u16, start as u16 + 3);
        if cell.is_some_and(|cell| cell.bgcolor() != vt100::Color::Default || cell.inverse()) {
            chosen = Some(names.len());
        }
        names.push(name.to_owned());
        if names.len() == NAMES.len() {
            break;
        }
    }
    (names, chosen)
}

/// Chooses the Subagent of that name in the pane, which has the focus, row by row.
fn choose(terminal: &mut Terminal, name: &str) {
    loop {
        terminal.wait("a Subagent is chosen", |screen| listed(screen).1.is_some());
        let (names, Some(at)) = terminal.screen(listed) else { continue };
        let Some(wanted) = names.iter().position(|known| known == name) else { continue };
        let next = match wanted.cmp(&at) {
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Less => "up",
            std::cmp::Ordering::Greater => "down",
        };
        let before = (names, Some(at));
        terminal.keys(next).wait("another one is chosen", |screen| listed(screen) != before);
    }
}

fn ui_3_a_team_is_seen_opened_guided_answered_and_stopped(columns: u16, rows: u16) {
    let (reader, sleeper) = (Latch::new(), Latch::new());
    let server = three(&reader, &sleeper);
    let home = Home::with_model(&server);
    home.write("notes.txt", "what was noted\n");
    let mut terminal = open(&home, columns, rows);
    terminal.type_words("share it out").keys("enter").wait_for("Noted.");
    reader.wait_reached();
    sleeper.wait_reached();
    terminal.wait_for("3 Subagents");

    // All three in the pane, with what each does and what one asks.
    terminal.keys("alt+2").wait_for("I read page one").wait_for("I sleep on").wait_for("Which colour?");
    terminal.wait("a decision counts down", |screen| screen.contents().contains(" left"));

    // The reader is opened live, and guided; the host dies under it.
    choose(&mut terminal, "reader");
    terminal.keys("g").wait_for("to reader").wait_for("Your assignment (reader)").wait_for("I read page one");
    home.kill_host();
    terminal.type_words("only the preface").keys("enter");
    terminal.wait_for("queued for reader");
    reader.release();
    terminal.wait_for("I read only the preface").wait_for("only the preface");
    terminal.keys("esc").wait_gone("to reader");

    // The painter's question is answered in the Inbox.
    terminal.keys("alt+3").wait_for("Which colour?");
    terminal.keys("/").wait_for("Messages:").type_words("decision request").keys("enter");
    terminal.keys("a").wait_for("painter asks: Which colour?");
    terminal.type_words("green").keys("enter");
    eventually("the painter reported", || {
        state_of(&home, "painter") != "blocked" && state_of(&home, "painter") != "running"
    });

    // The sleeper is stopped, once that is confirmed.
    terminal.keys("alt+2");
    choose(&mut terminal, "sleeper");
    terminal.keys("s").wait_for("the same key again");
    assert_ne!(state_of(&home, "sleeper"), "cancelled");
    terminal.keys("s");
    eventually("the sleeper is stopped", || !["running", "queued"].contains(&state_of(&home, "sleeper").as_str()));
    terminal.wait_gone("I sleep on").wait_for("cancelled");

    // What came back is read whole, with the file it refers to.
    choose(&mut terminal, "painter");
    terminal
        .keys("c")
        .wait_for("Contribution of painter")
        .wait_for("painted: Decided: green")
        .wait_for("uncertain: the margin");
    terminal.keys("enter").wait_for("what was noted").keys("esc").wait_for("uncertain").keys("esc");
    terminal.wait_gone("uncertain");

    // The chat says it quietly, and what woke Main.
    terminal.keys("alt+1").wait_for("woken by");
    assert!(!terminal.screen_text().contains("[contribution from agent]"), "{}", terminal.screen_text());
    let alien = controls::foreign(&terminal.bytes());
    assert_eq!(alien, []);
    quit(&mut terminal);
    home.assert_sound();
}

#[test]
fn ui_3_a_team_is_seen_opened_guided_answered_and_stopped_on_a_small_terminal() {
    ui_3_a_team_is_seen_opened_guided_answered_and_stopped(80, 24);
}

#[test]
fn ui_3_a_team_is_seen_opened_guided_answered_and_stopped_side_by_side() {
    ui_3_a_team_is_seen_opened_guided_answered_and_stopped(120, 36);
}

#[test]
fn ui_4_the_chat_shows_work_given_and_contributions_as_cards_and_an_entry_of_the_inbox_leads_there() {
    let server = ModelServer::start();
    server.otherwise(|request| match (is_subagent(request), request.last_role()) {
        (true, _) => report("42 apples"),
        (false, "user") if request.last().contains("[contribution from agent]") => Reply::say("So it is 42."),
        (false, "user") => call(delegate("counting")),
        (false, _) => Reply::say("It is being counted."),
    });
    let home = Home::with_model(&server);
    let mut terminal = open(&home, 100, 30);
    terminal.type_words("count").keys("enter").wait_for("So it is 42.");
    terminal.wait_for("counting do counting").wait_for("woken by Contribution of counting");
    terminal.wait_for("⇠ counting completed: 42 apples");
    terminal.keys("alt+3").wait_for("completed: 42 apples").keys("/").wait_for("Messages:");
    terminal.type_words("contribution").keys("enter").wait_for("with “contribution”");
    terminal.keys("enter").wait_for("Contribution of counting").wait_for("uncertain: the margin");
    terminal.keys("t").wait_gone("uncertain: the margin").wait_for("So it is 42.");
    quit(&mut terminal);
}
