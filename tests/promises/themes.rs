//! How the screen looks: themes, the terminal's own background, plain lines, keys of the person's
//! own, and what the terminal is told when a person is needed.

use crate::support::calls::{call, shell};
use crate::support::controls;
use crate::support::home::Home;
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use crate::support::terminal::Terminal;

fn is_drawn(terminal: &mut Terminal) {
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen() && screen.contents().trim().len() > 40);
}

fn open(home: &Home) -> Terminal {
    let mut terminal = home.terminal([""; 0], 100, 30);
    is_drawn(&mut terminal);
    terminal
}

/// The colour of the mark before the composer: the accent.
fn accent(screen: &vt100::Screen) -> Option<vt100::Color> {
    let (rows, columns) = screen.size();
    let cells = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    cells
        .filter_map(|(row, column)| screen.cell(row, column))
        .find(|cell| cell.contents() == "›")
        .map(vt100::Cell::fgcolor)
}

#[test]
fn ui_9_the_background_that_the_terminal_tells_chooses_between_dark_and_light() {
    let home = Home::new();
    let light = home.terminal_on("rgb:ffff/fdfd/f0f0", 100, 30);
    let dark = home.terminal_on("rgb:1e1e/1e1e/2e2e", 100, 30);
    for (mut terminal, wanted) in [(light, 25), (dark, 110)] {
        terminal.wait("its accent suits it", |screen| accent(screen) == Some(vt100::Color::Idx(wanted)));
        assert_eq!(controls::foreign(&terminal.bytes()), []);
    }
}

#[test]
fn ui_9_no_color_wins_over_every_theme() {
    let home = Home::new().env("NO_COLOR", "1");
    home.configure("[screen]\ntheme = \"light\"\n");
    let mut terminal = open(&home);
    terminal.wait("the mark has no colour", |screen| accent(screen) == Some(vt100::Color::Default));
}

#[test]
fn ui_9_a_theme_and_keys_of_the_persons_own_hold() {
    let home = Home::new();
    home.configure("[screen]\ntheme = \"mine\"\n");
    let folder = home.root().join("user/.config/cowork");
    std::fs::create_dir_all(folder.join("themes")).expect("a folder");
    std::fs::write(folder.join("themes/mine.toml"), "accent = { fg = \"#ff8800\" }\n").expect("a theme");
    std::fs::write(folder.join("keys.toml"), "[panes]\n\"ctrl+x\" = \"tasks\"\n").expect("keys");
    let mut terminal = open(&home);
    terminal.wait("the accent is theirs", |screen| accent(screen) == Some(vt100::Color::Rgb(0xff, 0x88, 0)));
    terminal.keys("ctrl+x").wait_for("No Tasks yet.");
}

#[test]
fn a_mistake_in_a_file_of_keys_is_said_at_its_line_before_the_screen_opens() {
    let home = Home::new();
    home.configure("");
    std::fs::write(home.root().join("user/.config/cowork/keys.toml"), "[panes]\n\"ctrl+x\" = \"taks\"\n")
        .expect("keys");
    let terminal = home.terminal([""; 0], 100, 30);
    assert_eq!(terminal.wait_exit().exit_code(), 1);
    let said = terminal.screen_text();
    assert!(said.contains("keys.toml:2:12") && said.contains("did you mean `tasks`?"), "{said}");
}

#[test]
fn ui_1_a_border_that_was_moved_and_a_pane_that_was_hidden_are_so_when_the_screen_opens_again() {
    let home = Home::new();
    let mut terminal = home.shell(&format!("{0}; read line; {0}", crate::support::home::COWORK), 160, 40);
    is_drawn(&mut terminal);
    terminal.wait_for("Jobs").keys("alt+4 alt+x").wait_gone("╭ Jobs").keys("ctrl+alt+left ctrl+alt+left");
    let corner = |screen: &vt100::Screen| screen.rows(0, 160).next().and_then(|row| row.chars().position(|c| c == '╮'));
    terminal.wait("the border moved", |screen| corner(screen).is_some_and(|at| at < 125));
    let moved = terminal.screen(corner);
    crate::support::watch::eventually("it is kept", || !home.find_bytes("\"hidden\":[\"Jobs\"]").is_empty());
    terminal.keys("ctrl+c ctrl+c").wait("the shell is back", |screen| !screen.alternate_screen());
    // What is pressed before the terminal is the shell's again goes to nobody.
    crate::support::watch::eventually("the terminal is given back", || !terminal.is_raw());
    terminal.keys("enter");
    is_drawn(&mut terminal);
    terminal.wait("the border is where it was", |screen| corner(screen) == moved).wait_gone("╭ Jobs");
}

#[test]
fn plain_lines_have_no_frames_and_nothing_that_turns() {
    let server = ModelServer::with([Reply::say("hello")]);
    let home = Home::with_model(&server);
    home.configure("[screen]\nform = \"plain\"\n");
    let mut terminal = home.terminal([""; 0], 160, 40);
    is_drawn(&mut terminal);
    terminal.type_words("begin").keys("enter").wait_for("hello");
    let screen = terminal.screen_text();
    assert!(!screen.contains(|c| matches!(c, '\u{2500}'..='\u{259f}' | '\u{2800}'..='\u{28ff}')), "{screen}");
}

#[test]
fn ui_13_a_person_who_looks_elsewhere_is_called_when_needed_and_the_title_says_how_it_stands() {
    let latch = Latch::new();
    let reply = Reply::stream().text("halfway").hold(&latch).tool("shell", shell("touch ran").1).finish();
    let server = ModelServer::with([reply]);
    let home = Home::with_model(&server);
    let mut terminal = open(&home);
    terminal.type_words("run it").keys("enter").wait_for("halfway");
    // The terminal says that the keys go elsewhere now.
    terminal.send(b"\x1b[O");
    latch.release();
    terminal.wait_for("tab to answer");
    crate::support::watch::eventually("the terminal was told", || {
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        bytes.contains("\x07\x1b]9;Cowork: ") && bytes.contains("\x1b]2;◆ run it\x07")
    });
}

#[test]
fn ui_13_whoever_looks_is_not_called_and_what_is_off_stays_off() {
    let server = ModelServer::with([call(shell("touch ran"))]);
    let home = Home::with_model(&server);
    home.configure("[screen]\ntitle = false\n");
    let mut terminal = open(&home);
    terminal.send(b"\x1b[I").type_words("run it").keys("enter").wait_for("tab to answer");
    terminal.keys("ctrl+c ctrl+c");
    terminal.wait_exit();
    let found = controls::scan(&terminal.bytes());
    let called = |control: &controls::Control| match control {
        controls::Control::Character(7) => true,
        controls::Control::Osc(words) => words.starts_with("9;") || words.starts_with("2;"),
        _ => false,
    };
    assert_eq!(found.into_iter().filter(called).collect::<Vec<_>>(), []);
}

#[test]
fn a_terminal_that_draws_no_panes_has_the_conversation_in_plain_lines() {
    let home = Home::new().env("TERM", "dumb");
    home.write("seeds.txt", "tomato\n");
    let mut terminal = home.terminal([] as [&str; 0], 80, 24);
    terminal.wait_for("TERM=dumb draws no panes");
    terminal.type_words("read seeds.txt\n").wait_for("tomato");
    terminal.wait("the next line is asked for", |screen| screen.contents().trim_end().ends_with("\n>"));
    terminal.type_words("count the lines of seeds.txt\n").wait("it is answered", |screen| {
        let said = screen.contents();
        said.trim_end().ends_with("\n>") && said.matches("\n> ").count() >= 1
    });
    terminal.type_words("\n");
    assert_eq!(terminal.wait_exit().exit_code(), 0);
    assert_eq!(home.json(["ls"]).len(), 1, "one conversation");
    assert_eq!(controls::scan(&terminal.bytes()), [], "not one control sequence");
}
