//! The real program in a real pseudo-terminal, with a terminal's screen to look at.
//!
//! One thread reads what the program writes, keeps every byte, feeds the screen, answers what a
//! program asks its terminal, and wakes whoever waits. A wait that fails prints the screen.

use super::keys::{self, Key};
use super::watch::{PATIENCE, Watch};
use portable_pty::{CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::Arc;

/// A program in a terminal; dropping it hangs up, as closing the window does.
pub struct Terminal {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Arc<Watch<Box<dyn Write + Send>>>,
    pid: u32,
    shared: Arc<Watch<Watched>>,
}

struct Watched {
    parser: vt100::Parser<Asked>,
    bytes: Vec<u8>,
    closed: bool,
    status: Option<ExitStatus>,
}

impl Watched {
    fn is_over(&self) -> bool {
        self.closed && self.status.is_some()
    }
}

/// What the program asked its terminal, to be answered.
#[derive(Default)]
struct Asked {
    answers: Vec<u8>,
    /// What this terminal answers when it is asked for its background.
    background: Option<&'static str>,
}

impl vt100::Callbacks for Asked {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        i1: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        match (i1, last) {
            (None, 'c') => self.answers.extend_from_slice(b"\x1b[?62;22c"),
            (None, 'n') if params.first().and_then(|param| param.first()) == Some(&6) => {
                let (row, column) = screen.cursor_position();
                self.answers.extend_from_slice(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        if let ([b"11", b"?"], Some(colour)) = (params, self.background) {
            self.answers.extend_from_slice(format!("\x1b]11;{colour}\x1b\\").as_bytes());
        }
    }
}

impl Terminal {
    /// Opens a terminal of so many columns and rows and runs the command in it.
    pub fn open(command: CommandBuilder, columns: u16, rows: u16) -> Self {
        Self::open_on(None, command, columns, rows)
    }

    /// The same, in a terminal that says what its background is, such as `rgb:ffff/ffff/ffff`.
    pub fn open_on(background: Option<&'static str>, command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a pseudo-terminal");
        let mut child = pair.slave.spawn_command(command).expect("the program starts");
        drop(pair.slave);
        let parser = vt100::Parser::new_with_callbacks(
            cells(rows),
            cells(columns),
            0,
            Asked { background, answers: Vec::new() },
        );
        let watched = Watched { parser, bytes: Vec::new(), closed: false, status: None };
        let shared = Arc::new(Watch::new(watched));
        let writer = Arc::new(Watch::new(pair.master.take_writer().expect("the terminal's input")));
        let reader = pair.master.try_clone_reader().expect("the terminal's output");
        let pid = child.process_id().expect("the program's id");
        read(&shared, reader, &writer);
        let ending = Arc::clone(&shared);
        std::thread::spawn(move || {
            let status = child.wait().expect("a child can be waited for");
            ending.change(|watched| watched.status = Some(status));
        });
        Self { master: Some(pair.master), writer, pid, shared }
    }

    /// The program's process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Plays a script of keys: see [`keys::parse`].
    #[track_caller]
    pub fn keys(&mut self, script: &str) -> &mut Self {
        for key in keys::parse(script) {
            match key {
                Key::Bytes(bytes) => self.send(&bytes),
                Key::Paste(text) => self.paste(&text),
                Key::Wait(text) => self.wait_for(&text),
                Key::Resize(columns, rows) => self.resize(columns, rows),
            };
        }
        self
    }

    /// Types words as they stand.
    pub fn type_words(&mut self, words: &str) -> &mut Self {
        self.send(words.as_bytes())
    }

    /// Sends bytes in one write.
    pub fn send(&mut self, bytes: &[u8]) -> &mut Self {
        let mut writer = self.writer.look();
        // A program that has ended takes no more keys; what the test waits for then tells.
        let _ = writer.write_all(bytes).and_then(|()| writer.flush());
        drop(writer);
        self
    }

    /// Pastes, as a terminal does that brackets pastes.
    pub fn paste(&mut self, text: &str) -> &mut Self {
        self.send(format!("\x1b[200~{text}\x1b[201~").as_bytes())
    }

    /// Gives the terminal another size.
    pub fn resize(&mut self, columns: u16, rows: u16) -> &mut Self {
        self.shared.look().parser.set_size(cells(rows), cells(columns));
        self.master.as_ref().expect("an open terminal").resize(size(columns, rows)).expect("the new size");
        self
    }

    /// Waits until the screen holds `text`, in one row.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("the screen shows {text:?}"), |screen| rows(screen).iter().any(|row| row.contains(text)))
    }

    /// Waits until the screen no longer holds `text`.
    #[track_caller]
    pub fn wait_gone(&mut self, text: &str) -> &mut Self {
        self.wait(&format!("the screen no longer shows {text:?}"), |screen| {
            rows(screen).iter().all(|row| !row.contains(text))
        })
    }

    /// Waits until the screen is as `is_so` says; `what` names it when it never is.
    #[track_caller]
    pub fn wait(&mut self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) -> &mut Self {
        self.wait_watched(what, |watched| is_so(watched.parser.screen()));
        self
    }

    #[track_caller]
    fn wait_watched(&self, what: &str, is_so: impl Fn(&Watched) -> bool) {
        // What a program that has ended did not do, it never will.
        let watched = match self.shared.wait(PATIENCE, |watched| is_so(watched) || watched.is_over()) {
            Ok(watched) | Err(watched) => watched,
        };
        if !is_so(&watched) {
            let (picture, status) = (framed(watched.parser.screen()), &watched.status);
            panic!("not within {PATIENCE:?}: {what}\nthe program: {status:?}\n{picture}");
        }
    }

    /// Waits for the program's end and for everything it wrote.
    #[track_caller]
    pub fn wait_exit(&self) -> ExitStatus {
        self.wait_watched("the program ends", Watched::is_over);
        self.shared.look().status.clone().expect("just seen")
    }

    /// The rows of the screen, without blanks at their ends.
    pub fn rows(&self) -> Vec<String> {
        rows(self.shared.look().parser.screen())
    }

    /// The screen as text.
    pub fn screen_text(&self) -> String {
        self.rows().join("\n")
    }

    /// Looks at the screen itself.
    pub fn screen<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.shared.look().parser.screen())
    }

    /// Every byte the program has written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.shared.look().bytes.clone()
    }

    /// Kills the program with -9.
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: rustix::process::Signal) {
        if self.shared.look().status.is_none() {
            super::process::send(self.pid, signal);
        }
    }

    /// Fails unless the program left the terminal as it found it.
    #[track_caller]
    pub fn assert_clean(&self) {
        let watched = self.shared.look();
        let screen = watched.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is still on\n{}", framed(screen));
        assert!(!screen.hide_cursor(), "the cursor is still hidden");
        assert!(!screen.bracketed_paste(), "bracketed paste is still on");
        assert_eq!(screen.mouse_protocol_mode(), vt100::MouseProtocolMode::None, "the mouse is still captured");
        let (pushed, popped) = (count(&watched.bytes, b"\x1b[>", b'u'), count(&watched.bytes, b"\x1b[<", b'u'));
        assert_eq!(pushed, popped, "the keyboard's mode was pushed {pushed} times and popped {popped} times");
    }

    /// Whether the terminal is in raw mode: no echo, no lines.
    pub fn is_raw(&self) -> bool {
        let Some(fd) = self.master.as_ref().and_then(|master| master.as_raw_fd()) else { return false };
        // SAFETY: the master is open for as long as `self` holds it.
        let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
        let mode = rustix::termios::tcgetattr(fd).expect("the terminal's mode");
        !mode.local_modes.contains(rustix::termios::LocalModes::ICANON)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.master = None;
        self.signal(rustix::process::Signal::HUP);
        let has_ended = self.shared.wait(PATIENCE, |watched| watched.status.is_some()).is_ok();
        if !has_ended {
            self.kill();
            assert!(std::thread::panicking(), "the program did not end when its terminal was hung up");
        }
    }
}

fn read(shared: &Arc<Watch<Watched>>, mut reader: Box<dyn Read + Send>, writer: &Arc<Watch<Box<dyn Write + Send>>>) {
    let (shared, writer) = (Arc::clone(shared), Arc::clone(writer));
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = reader.read(&mut buffer).unwrap_or(0);
            let answers = shared.change(|watched| {
                watched.bytes.extend_from_slice(&buffer[..read]);
                watched.parser.process(&buffer[..read]);
                watched.closed = read == 0;
                std::mem::take(&mut watched.parser.callbacks_mut().answers)
            });
            if read == 0 {
                return;
            }
            if !answers.is_empty() {
                let _ = writer.look().write_all(&answers);
            }
        }
    });
}

/// The rows of a screen as text, without blanks at their ends.
pub fn rows(screen: &vt100::Screen) -> Vec<String> {
    let (_, columns) = screen.size();
    screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect()
}

/// The screen with a frame, for a failure.
fn framed(screen: &vt100::Screen) -> String {
    let (_, columns) = screen.size();
    let line = "─".repeat(columns.get().into());
    let mut out = format!("┌{line}┐\n");
    for row in rows(screen) {
        let _ = writeln!(out, "│{row}");
    }
    let _ = write!(out, "└{line}┘");
    out
}

fn count(bytes: &[u8], start: &[u8], last: u8) -> usize {
    let starts = bytes.windows(start.len()).enumerate().filter(|(_, window)| *window == start);
    starts
        .filter(|(at, _)| {
            let rest = &bytes[at + start.len()..];
            rest.iter().find(|byte| !byte.is_ascii_digit() && **byte != b';') == Some(&last)
        })
        .count()
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

/// An emulator has at least one cell, whatever the program is told.
fn cells(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}
