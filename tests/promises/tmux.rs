//! The screen inside tmux: another terminal between us and the person.

use crate::support::home::{COWORK, Home};
use crate::support::latch::Latch;
use crate::support::model_server::ModelServer;
use crate::support::reply::Reply;
use std::process::Command;

/// A tmux server of its own, gone with the test.
struct Tmux {
    call: String,
}

impl Tmux {
    /// Absent where there is no tmux, which is said aloud.
    fn of(home: &Home) -> Option<Self> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("SKIPPED: no tmux on this machine, so nothing is known of the screen inside it");
            return None;
        }
        let socket = home.root().join("tmux.sock");
        Some(Self { call: format!("tmux -S {} -f /dev/null", socket.display()) })
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = Command::new("sh").args(["-c", &format!("{} kill-server 2>/dev/null", self.call)]).status();
    }
}

#[test]
fn the_screen_works_inside_tmux_through_resize_detach_and_attach() {
    let latch = Latch::new();
    let server =
        ModelServer::with([Reply::stream().text("half an answer, 日本 ").hold(&latch).text("and the rest").finish()]);
    let home = Home::with_model(&server);
    let Some(tmux) = Tmux::of(&home) else { return };
    let call = &tmux.call;
    let mut terminal = home.shell(
        &format!("{call} new-session {COWORK}; echo the line is free; read go; {call} attach; echo the end"),
        100,
        30,
    );
    terminal.wait_for("Say what you want done").type_words("tell me 한국").wait_for("tell me 한국");
    terminal.keys("enter").wait_for("half an answer, 日本");
    terminal.resize(60, 20).wait_for("half an answer, 日本");
    terminal.resize(130, 36).wait_for("Subagents").wait_for("half an answer, 日本");
    terminal.send(b"\x02d").wait_for("the line is free");
    terminal.assert_clean();
    latch.release();
    terminal.resize(90, 28).type_words("\n").wait_for("half an answer, 日本 and the rest");
    terminal.wait_for("tell me 한국").keys("alt+h").wait_for("╭ Keys").keys("esc").wait_gone("╭ Keys");
    terminal.paste("pasted\nlines").wait_for("lines").keys("ctrl+c").wait_gone("lines");
    terminal.keys("ctrl+c ctrl+c").wait_for("the end").wait_exit();
    terminal.assert_clean();
}
