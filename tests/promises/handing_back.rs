//! The terminal as it was found: after a panic, after signals, and while the screen sleeps.

use crate::support::home::{COWORK, Home};
use crate::support::terminal::Terminal;
use crate::support::watch::eventually;
use rustix::process::Signal;

/// Opens a shell that runs the screen and says how it ended, as a person's shell does.
fn shell(home: &Home, script: &str) -> Terminal {
    let mut terminal = home.shell(script, 80, 24);
    wait_until_up(&mut terminal);
    terminal
}

fn wait_until_up(terminal: &mut Terminal) {
    terminal.wait("the screen is drawn", |screen| screen.alternate_screen() && screen.contents().trim().len() > 40);
}

/// Fails unless the shell has the terminal as it was before the screen came.
#[track_caller]
fn assert_handed_back(terminal: &Terminal) {
    terminal.assert_clean();
    assert!(!terminal.is_raw(), "the terminal is still raw");
}

/// Sends the screen a signal; the shell it was started from is left alone.
fn signal_screen(home: &Home, signal: Signal) {
    let screens = || home.processes().into_iter().filter(|process| process.arguments == [COWORK]);
    eventually("the screen runs", || screens().count() == 1);
    for screen in screens() {
        crate::support::process::send(screen.pid, signal);
    }
}

#[test]
fn a_panic_gives_the_terminal_back_before_it_says_why() {
    let home = Home::new();
    let script = format!("COWORK_CRASH_AT=screen.panic:2 {COWORK}; echo ended with $?");
    let mut terminal = shell(&home, &script);
    terminal.type_words("a").wait_for("a").type_words("b");
    terminal.wait_for("ended with").wait_exit();
    assert_handed_back(&terminal);
    let said = terminal.screen_text();
    assert!(said.contains("told to panic by COWORK_CRASH_AT"), "{said}");
    assert!(!said.contains("ended with 0"), "{said}");
}

#[test]
fn signals_that_end_the_screen_leave_the_shell_a_usable_terminal() {
    let home = Home::new();
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let mut terminal = shell(&home, &format!("{COWORK}; echo ended with $?; read words; echo heard $words"));
        signal_screen(&home, signal);
        terminal.wait_for("ended with");
        assert_handed_back(&terminal);
        terminal.type_words("you\n").wait_for("heard you").wait_exit();
    }
}

#[test]
fn a_screen_that_is_put_to_sleep_gives_the_terminal_to_the_shell_and_takes_it_again() {
    for way in [None, Some(Signal::TSTP)] {
        let home = Home::new();
        let script = format!("set -m; {COWORK}; echo asleep; read words; echo heard $words; fg; echo ended with $?");
        let mut terminal = shell(&home, &script);
        terminal.type_words("half a thought").wait_for("half a thought");
        match way {
            None => {
                terminal.keys("ctrl+z");
            }
            Some(signal) => signal_screen(&home, signal),
        }
        terminal.wait_for("asleep");
        assert_handed_back(&terminal);
        terminal.resize(100, 30).type_words("you\n");
        wait_until_up(&mut terminal);
        terminal.wait_for("half a thought").type_words(" goes on").wait_for("half a thought goes on");
        assert!(terminal.is_raw());
        terminal.keys("ctrl+c ctrl+c ctrl+c").wait_for("ended with 0").wait_exit();
        assert_handed_back(&terminal);
    }
}
