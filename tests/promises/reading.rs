//! What can be done with what was said: copied, opened elsewhere, followed where it leads.

use crate::support::controls::{self, Control};
use crate::support::home::Home;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;
use crate::support::watch::eventually;

/// A conversation in which a model said this.
fn said(home: &Home) -> Terminal {
    let mut terminal = home.terminal([] as [&str; 0], 80, 24);
    terminal.wait_for("Say what you want done").type_words("begin").keys("enter").wait_for("✓ done");
    terminal
}

fn oscs(terminal: &Terminal) -> Vec<String> {
    let found = controls::scan(&terminal.bytes()).into_iter();
    found.filter_map(|control| if let Control::Osc(words) = control { Some(words) } else { None }).collect()
}

/// The row and the column at which words stand, as the mouse counts.
fn place(terminal: &Terminal, words: &str) -> (usize, usize) {
    let rows = terminal.screen(|screen| screen.rows(0, 80).collect::<Vec<_>>());
    let found = rows.iter().enumerate().find_map(|(row, text)| Some((row, text.find(words)?)));
    let (row, byte) = found.unwrap_or_else(|| panic!("{words} is not on screen"));
    (row + 1, rows[row][..byte].chars().count() + 1)
}

#[test]
fn what_is_dragged_over_with_the_mouse_is_on_the_clipboard() {
    let server = ModelServer::with([Reply::say("The first line\n\nThe second line, längere Wörter")]);
    let home = Home::with_model(&server);
    let mut terminal = said(&home);
    let (first, left) = place(&terminal, "first line");
    let (second, right) = place(&terminal, "line, längere");
    // Down at one place, over to the other, up.
    terminal.send(format!("\x1b[<0;{left};{first}M\x1b[<32;{};{second}M\x1b[<0;1;1m", right + 3).as_bytes());
    terminal.wait_for("copied");
    // "first line", a row between, "The second line"
    eventually("the terminal was told", || {
        oscs(&terminal).contains(&"52;c;Zmlyc3QgbGluZQoKVGhlIHNlY29uZCBsaW5l".to_owned())
    });
}

#[test]
fn the_conversation_and_a_message_open_in_the_pager_and_the_editor_of_the_person() {
    let server = ModelServer::with([Reply::say("one \x1b[2J two")]);
    let home = Home::with_model(&server);
    let shown = home.root().join("shown");
    let keeps = |name: &str| format!("sh -c 'cp \"$1\" {}.{name}; echo held; read line' {name}", shown.display());
    let home = home.env("PAGER", &keeps("pager")).env("EDITOR", &keeps("editor"));
    let mut terminal = said(&home);
    terminal
        .keys("alt+p")
        .wait_for("held")
        .keys("enter")
        .wait("the screen is back", |screen| screen.alternate_screen() && screen.contents().contains("✓ done"));
    let all = std::fs::read_to_string(shown.with_extension("pager")).expect("shown");
    assert!(all.starts_with("› begin\n\n") && all.contains("one ") && !all.contains('\x1b'), "{all:?}");
    let both = |screen: &vt100::Screen| screen.contents().matches("held").count() == 2;
    terminal.keys("alt+up e").wait("the editor is there", both).keys("enter");
    terminal.wait("the screen is back", |screen| screen.alternate_screen());
    let one = std::fs::read_to_string(shown.with_extension("editor")).expect("shown");
    assert!(one.starts_with("one") && !one.contains("begin"), "{one:?}");
}

#[test]
fn an_address_leads_where_it_says_and_is_told_to_the_terminal_once() {
    let server = ModelServer::with([Reply::say("See [the page](https://a.example/x) for it.")]);
    let home = Home::with_model(&server);
    let mut terminal = said(&home);
    terminal.wait_for("https://a.example/x");
    eventually("the terminal knows the link", || oscs(&terminal).contains(&"8;;https://a.example/x".to_owned()));
    let links =
        |terminal: &Terminal| oscs(terminal).into_iter().filter(|words| words == "8;;https://a.example/x").count();
    let told = links(&terminal);
    terminal.type_words("and on").wait_for("and on");
    assert_eq!(links(&terminal), told, "what did not move is not told again");
    assert_eq!(controls::foreign(&terminal.bytes()), []);
}
