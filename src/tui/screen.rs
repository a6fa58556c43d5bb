//! The terminal's own state: taken over on the way in, given back on every way out.
//!
//! Return, error, panic and signal all pass [`restore`]; doing it twice does it once.

use super::action::Pane;
use super::links::{self, Link};
use super::model::Model;
use super::view::view;
use base64::Engine;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::event::{KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{self, BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Buttons, dragging and the wheel, as SGR reports; not every move of the pointer.
const MOUSE_ON: &[u8] = b"\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &[u8] = b"\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// The window's title is put by; reports say whether the keys go here.
const REPORTS_ON: &[u8] = b"\x1b[22;2t\x1b[?1004h";
const REPORTS_OFF: &[u8] = b"\x1b[?1004l\x1b[23;2t";

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
    size: (u16, u16),
    /// The addresses that the terminal knows to be some, where it can know them.
    links: Option<Vec<Link>>,
}

impl Screen {
    /// Takes the terminal over.
    pub fn enter(size: (u16, u16)) -> io::Result<Self> {
        give_back_on_panic();
        take()?;
        let options = TerminalOptions { viewport: Viewport::Fixed(area(size)) };
        let backend = CrosstermBackend::new(BufWriter::with_capacity(64 * 1024, io::stdout()));
        match Terminal::with_options(backend, options) {
            Ok(terminal) => Ok(Self { terminal, size, links: takes_links().then(Vec::new) }),
            Err(error) => {
                restore();
                Err(error)
            }
        }
    }

    /// Draws a frame; what did not change is not written. In a terminal of another size everything
    /// is drawn anew, in the same update, so that a storm of sizes does not flicker.
    pub fn draw(&mut self, model: &Model) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        if self.size != model.size {
            self.size = model.size;
            self.terminal.resize(area(self.size))?;
            self.links.iter_mut().for_each(Vec::clear);
        }
        let drawn = self.terminal.draw(|frame| view(model, frame))?;
        if let Some(told) = &mut self.links {
            let uncovered = model.overlay.is_none() && model.layout.pane(Pane::Chat).is_some();
            let seen = if uncovered { links::find(drawn.buffer, model.layout.transcript) } else { Vec::new() };
            let changed = links::changed(told, &seen, drawn.buffer);
            *told = seen;
            write_links(self.terminal.backend_mut(), &changed)?;
        }
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    /// Takes the terminal over again, after a shell had it.
    pub fn retake(&mut self) -> io::Result<()> {
        restore();
        take()?;
        self.links.iter_mut().for_each(Vec::clear);
        self.terminal.clear()
    }

    /// Asks the terminal for its background, and whether it takes reports of the program's status.
    pub fn ask(&mut self) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(b"\x1b]11;?\x1b\\\x1b]7501;?\x1b\\")?;
        Write::flush(out)
    }

    /// Tells the terminal something besides the frame.
    pub fn tell(&mut self, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let out = self.terminal.backend_mut();
        out.write_all(bytes)?;
        Write::flush(out)
    }

    /// Puts text on the clipboard of the terminal.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        let encoded = base64::engine::general_purpose::STANDARD.encode(text);
        let out = self.terminal.backend_mut();
        write!(out, "\x1b]52;c;{encoded}\x07")?;
        Write::flush(out)
    }
}

/// Whether the terminal may know links; that of the kernel would print them.
fn takes_links() -> bool {
    std::env::var("TERM").is_ok_and(|term| term != "linux" && term != "dumb")
}

/// Writes cells again, with where they lead; those that lead nowhere any more without.
fn write_links(out: &mut CrosstermBackend<BufWriter<Stdout>>, links: &[Link]) -> io::Result<()> {
    if links.is_empty() {
        return Ok(());
    }
    // The caret stays where the frame put it.
    out.write_all(b"\x1b7")?;
    for link in links {
        write!(out, "\x1b]8;;{}\x1b\\", link.address)?;
        out.draw(link.cells.iter().map(|(x, y, cell)| (*x, *y, cell)))?;
        if !link.address.is_empty() {
            out.write_all(b"\x1b]8;;\x1b\\")?;
        }
    }
    out.write_all(b"\x1b8")
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn area((width, height): (u16, u16)) -> Rect {
    Rect { x: 0, y: 0, width, height }
}

fn take() -> io::Result<()> {
    // The library keeps what it found the first time; a shell may have set something else since.
    let _ = disable_raw_mode();
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    let entered = execute!(
        out,
        EnterAlternateScreen,
        EnableBracketedPaste,
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
    )
    .and_then(|()| out.write_all(MOUSE_ON))
    .and_then(|()| out.write_all(REPORTS_ON))
    .and_then(|()| out.flush());
    if entered.is_err() {
        restore();
    }
    entered
}

/// Gives the terminal back as it was found. A terminal that is gone is no error.
pub fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = out.write_all(MOUSE_OFF);
    let _ = out.write_all(REPORTS_OFF);
    let _ = execute!(
        out,
        EndSynchronizedUpdate,
        PopKeyboardEnhancementFlags,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show,
    );
    let _ = disable_raw_mode();
}

/// A panic of the screen gives the terminal back before it says anything; one elsewhere says it in
/// the log, since what it would print would be painted over the screen.
fn give_back_on_panic() {
    static ONCE: AtomicBool = AtomicBool::new(false);
    if ONCE.swap(true, Ordering::SeqCst) {
        return;
    }
    let ours = thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if thread::current().id() == ours {
            restore();
        } else if TAKEN.load(Ordering::SeqCst) {
            tracing::error!("{panic}");
            return;
        }
        before(panic);
    }));
}
