//! Taking over a Job's terminal: the whole screen is the Job's, but for one line that says how to
//! leave. Speaks to the shim itself, so it goes on when the host does not.

use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::cli::units;
use crate::domain::JobId;
use crate::jobs::client::{AttachClient, ClientError, Event, Keys, LEAVE, View};
use crate::jobs::protocol::{LogState, Role, Typing};
use crate::jobs::{Folder, Outcome, Size, reconcile};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::OwnedFd;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// How long what follows on news is waited for, before keys are looked at again.
const NEWS: Duration = Duration::from_millis(1);

/// A screen that is lower keeps every line for the Job.
const LEAST_ROWS: u16 = 6;

#[derive(Debug, clap::Args)]
pub struct AttachArgs {
    /// The Job
    pub id: String,
    /// Only watch
    #[arg(long)]
    pub read_only: bool,
    /// Type even if another terminal does; that one watches from then on
    #[arg(long, conflicts_with = "read_only")]
    pub take_over: bool,
    /// The key that leaves the Job, which goes on: ctrl and a letter or one of [ ] \ ^ _
    /// [default: `detach` of the configuration, else ctrl-]]
    #[arg(long, value_name = "KEY", value_parser = units::control_key)]
    pub detach: Option<u8>,
}

/// Attaches until the detach key is pressed or the Job ends.
pub(super) async fn run(app: &App, args: AttachArgs) -> Result<Exit, Fault> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Fault::usage("attach needs a terminal", "`cowork jobs logs -f JOB` follows without one"));
    }
    let detach = match args.detach {
        Some(key) => key,
        None => app.configured()?.settings.jobs.detach,
    };
    let (id, folder) = super::folder(app, &args.id).await?;
    let (wake, woken) =
        io::pipe().map_err(io_fault).map(|(read, write)| (OwnedFd::from(write), OwnedFd::from(read)))?;
    let resized = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::window_change());
    let mut resized = resized.map_err(io_fault)?;
    let telling = tokio::spawn(async move {
        while resized.recv().await.is_some() {
            // A full pipe tells as well.
            let _ = rustix::io::write(&wake, &[0]);
        }
    });
    let left = tokio::task::block_in_place(|| attach(&folder, &id, &args, detach, &woken));
    telling.abort();
    match left? {
        Left::Detached => app.out.note(&format!("left {id}; it goes on")),
        Left::Ended(how) => app.out.note(&format!("{id} has ended: {how}")),
        Left::Lost(why) => {
            return Err(Fault::new(
                "lost",
                format!("{id}: {why}"),
                format!("`cowork jobs show {id}` tells how it stands"),
            ));
        }
    }
    Ok(Exit::Done)
}

fn io_fault(error: io::Error) -> Fault {
    Fault::new("io", format!("cannot attach: {error}"), "")
}

/// Why the terminal is ours again.
enum Left {
    Detached,
    Ended(String),
    Lost(String),
}

fn attach(folder: &Folder, id: &JobId, args: &AttachArgs, detach: u8, woken: &OwnedFd) -> Result<Left, Fault> {
    let role = if args.read_only { Role::Watcher } else { Role::Typist };
    let ours = measure();
    let client = match AttachClient::attach(folder, role, Some(inner(ours))) {
        Ok(client) => client,
        Err(ClientError::Ended(record)) => return Ok(Left::Ended(record.end.to_string())),
        Err(ClientError::NoShim) => return Ok(without_shim(folder)),
        Err(error) => return Err(Fault::new("lost", error.to_string(), "")),
    };
    let AttachClient { view, mut keys } = client;
    if args.take_over {
        keys.take_over().map_err(|error| Fault::new("lost", error.to_string(), ""))?;
    }
    let terminal = Raw::enter().map_err(io_fault)?;
    let mut attached = Attached { view, keys, ours, id: id.clone(), detach, role, note: String::new() };
    let left = attached.run(woken);
    drop(terminal);
    Ok(left)
}

/// Says how a Job stands that nobody answers for.
fn without_shim(folder: &Folder) -> Left {
    match reconcile(folder) {
        Ok(Outcome::Ended(record)) => Left::Ended(record.end.to_string()),
        Ok(Outcome::Uncertain { doubt, .. }) => Left::Ended(format!("uncertain: {doubt}")),
        Ok(Outcome::Orphaned(_)) => {
            Left::Lost("its shim is gone, and its terminal with it; the command runs on".into())
        }
        Ok(Outcome::Starting | Outcome::Running(_)) => Left::Lost("its shim does not answer".into()),
        Err(error) => Left::Lost(error.to_string()),
    }
}

/// The size of our terminal.
fn measure() -> Size {
    let size = tcgetwinsize(io::stdout().as_fd());
    size.map_or(Size::USUAL, |size| Size { rows: size.ws_row, cols: size.ws_col }).sane()
}

/// What of it the Job gets.
fn inner(ours: Size) -> Size {
    if ours.rows < LEAST_ROWS { ours } else { Size { rows: ours.rows - 1, ..ours } }
}

/// Our terminal while it is the Job's; dropping it gives it back as it was.
struct Raw {
    before: Termios,
}

impl Raw {
    fn enter() -> io::Result<Self> {
        let stdin = io::stdin();
        let before = tcgetattr(stdin.as_fd())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(stdin.as_fd(), OptionalActions::Now, &raw)?;
        let terminal = Self { before };
        say(b"\x1b[?1049h\x1b[2J\x1b[H")?;
        Ok(terminal)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        // Where this fails there is no terminal any more.
        let _ = say(LEAVE.as_bytes());
        let _ = say(b"\x1b[?1049l");
        let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Flush, &self.before);
    }
}

fn say(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

struct Attached {
    view: View,
    keys: Keys,
    ours: Size,
    id: JobId,
    detach: u8,
    role: Role,
    /// Something that is to be known, in the last line.
    note: String,
}

impl Attached {
    fn run(&mut self, woken: &OwnedFd) -> Left {
        match self.until_left(woken) {
            Ok(left) => left,
            Err(error) => Left::Lost(error.to_string()),
        }
    }

    fn until_left(&mut self, woken: &OwnedFd) -> Result<Left, ClientError> {
        self.draw()?;
        let mut typed = vec![0; 64 * 1024];
        loop {
            let stdin = io::stdin();
            let [of_shim, of_keys, of_size] = {
                let mut fds = [
                    PollFd::new(&self.view, PollFlags::IN),
                    PollFd::new(&stdin, PollFlags::IN),
                    PollFd::new(woken, PollFlags::IN),
                ];
                match poll(&mut fds, None) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(ClientError::Lost(error.into())),
                }
                fds.map(|fd| !fd.revents().is_empty())
            };
            if of_keys {
                let count = rustix::io::read(stdin.as_fd(), typed.as_mut_slice()).unwrap_or(0);
                let typed = &typed[..count];
                let leaves = typed.iter().position(|byte| *byte == self.detach);
                let before = &typed[..leaves.unwrap_or(typed.len())];
                if !before.is_empty() && self.role == Role::Typist {
                    self.keys.write(before)?;
                }
                if leaves.is_some() || count == 0 {
                    return Ok(Left::Detached);
                }
            }
            if of_size {
                let _ = rustix::io::read(woken, &mut [0; 64]);
                self.ours = measure();
                if self.role == Role::Typist {
                    self.keys.resize(inner(self.ours))?;
                }
                self.draw()?;
            }
            if of_shim && let Some(left) = self.hear()? {
                return Ok(left);
            }
        }
    }

    /// Takes what the shim has said.
    fn hear(&mut self) -> Result<Option<Left>, ClientError> {
        let mut erased = false;
        loop {
            match self.view.read_until(Some(Instant::now() + NEWS)) {
                Ok(Some(Event::Changed(bytes))) => {
                    if self.fits() {
                        // Erasing what is below takes our line as well.
                        erased |= bytes.contains(&b'J');
                        say(&bytes)?;
                    } else {
                        self.draw()?;
                    }
                }
                Ok(Some(Event::Resized(_))) => {
                    say(b"\x1b[m\x1b[2J")?;
                    self.status()?;
                }
                Ok(Some(Event::Typing(_))) => self.status()?,
                Ok(Some(Event::Log(LogState::Lost { why, .. }))) => {
                    self.note = format!("its output can't be kept: {why}");
                    self.status()?;
                }
                Ok(Some(Event::Log(LogState::Written))) => {
                    self.note.clear();
                    self.status()?;
                }
                Ok(Some(Event::Refused(why))) => {
                    self.note = why;
                    self.status()?;
                }
                Ok(Some(Event::History(_))) => {}
                Ok(Some(Event::Ended(record))) => return Ok(Some(Left::Ended(record.end.to_string()))),
                Ok(None) => {
                    if erased {
                        self.status()?;
                    }
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the Job's screen fits into ours, so that what changes it changes ours alike.
    fn fits(&self) -> bool {
        let (rows, cols) = self.view.screen().size();
        u16::from(rows) <= inner(self.ours).rows && u16::from(cols) <= self.ours.cols
    }

    /// Draws everything anew.
    fn draw(&mut self) -> Result<(), ClientError> {
        let mut bytes = b"\x1b[m\x1b[2J\x1b[H".to_vec();
        if self.fits() {
            bytes.extend(self.view.whole());
        } else {
            let inner = inner(self.ours);
            for (row, line) in
                self.view.screen().rows_formatted(0, inner.cols).take(usize::from(inner.rows)).enumerate()
            {
                bytes.extend(format!("\x1b[{};1H\x1b[m", row + 1).into_bytes());
                bytes.extend(line.into_bytes());
            }
        }
        say(&bytes)?;
        self.status()
    }

    /// Says in the last line what this is and how to leave it.
    fn status(&self) -> Result<(), ClientError> {
        if self.ours.rows < LEAST_ROWS {
            return Ok(());
        }
        let typing = match (self.role, self.view.typing()) {
            (Role::Watcher | Role::Controller, _) => " · only watching",
            (Role::Typist, Typing::Another) => " · another terminal types; attach --take-over types here",
            (Role::Typist, Typing::You | Typing::Nobody) => "",
        };
        let note = if self.note.is_empty() { String::new() } else { format!(" · {}", self.note) };
        let text =
            format!(" {} · {} leaves, the Job goes on{typing}{note}", self.id, units::control_key_name(self.detach));
        let text = crate::cli::output::fit(&crate::domain::sanitise::line(&text), usize::from(self.ours.cols));
        let line = format!("\x1b7\x1b[{};1H\x1b[0;7m{text}\x1b[K\x1b[m\x1b8", self.ours.rows);
        Ok(say(line.as_bytes())?)
    }
}
