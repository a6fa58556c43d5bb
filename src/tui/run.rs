//! The driver: waits for the terminal, the host, the clock and signals; carries effects out; draws.
//!
//! It decides nothing. Whatever is pending is taken in before a frame is drawn, a frame is drawn
//! only when something changed and at most every 16 ms (sooner where a key changed it), and at rest
//! nothing wakes it.

use super::action::{Action, Effect, News, Viewer};
use super::attention::{Attention, Notice};
use super::colours::{Coloured, Job};
use super::composer::Edit;
use super::finder::{Finder, Tell};
use super::input::decode::{Answer, Decoder};
use super::input::tty::Tty;
use super::key::Key;
use super::keymap;
use super::link::Link;
use super::model::{Facts, Model, Offer};
use super::painter;
use super::ports::{Attach, Editor, KeepModel, Lent, Show, Start};
use super::screen::{self, Screen};
use super::signals::{Caught, Signals, can_be_continued};
use super::update::update;
use crate::domain::{Folder, Millis, Settings, TaskId};
use crate::host::client::{Failure, fresh_ids};
use crossterm::event::Event;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::process::{Signal, kill_current_process_group};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How the screen ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// The Task that was open.
    pub task: Option<TaskId>,
}

/// Why the screen could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no terminal.
    #[error("the screen needs a terminal: {0} (`cowork exec` works without one)")]
    NoTerminal(io::Error),
    /// The terminal does not do what was asked of it.
    #[error("the terminal failed: {0}")]
    Terminal(#[from] io::Error),
    /// The system gives no random bytes.
    #[error(transparent)]
    Ids(#[from] Failure),
}

/// The least time between two frames, and before one that shows what a key did: a person waits for that.
const FRAME: Duration = Duration::from_millis(16);
const FRAME_OF_KEY: Duration = Duration::from_millis(2);

/// How long news are taken in before keys and frames have their turn again.
const TURN_OF_NEWS: Duration = Duration::from_millis(4);

/// What a folder holds that is used only when it is trusted.
fn to_trust(folder: &Folder) -> Vec<String> {
    let known = ["AGENTS.md", ".cowork/config.toml", ".git"];
    known.into_iter().filter(|name| Path::new(&folder.path).join(name).exists()).map(str::to_owned).collect()
}

/// Shows the screen until the person leaves or the terminal is gone.
pub async fn run(start: Start) -> Result<Exit, Error> {
    if !io::stdout().is_terminal() {
        return Err(Error::NoTerminal(io::Error::other("standard output is not one")));
    }
    let tty = Tty::open().map_err(Error::NoTerminal)?;
    let mut signals = Signals::new()?;
    let size = known_size(&tty);
    let facts = Facts {
        to_trust: to_trust(&start.folder),
        folder: start.folder,
        client: start.client,
        windows: windows(&start.settings),
        models: models(&start.settings, &start.offers),
        offers: start.offers.into_iter().map(|(offer, _)| offer).collect(),
        model: start.settings.model,
        policy: start.settings.policy,
        zone: TimeZone::system(),
    };
    let environment = |name: &str| std::env::var(name).ok();
    let (theme, guessed) = start.look.begin(environment);
    let mut model = Model::new(facts, theme, start.task, fresh_ids()?, wall_clock(), size);
    model.guessed = guessed;
    let attention = Attention::new(start.look.calls, Notice::from_environment(environment));
    model.look_like(start.look);
    let mut screen = Screen::enter(size)?;
    if environment("TERM").is_none_or(|term| term != "dumb" && term != "linux") {
        screen.ask()?;
    }
    let (link, news) = Link::start(start.connect);
    let (found, painted) = mpsc::unbounded_channel();
    let painter = painter::start(move |job, coloured| found.send((job, coloured)).is_ok());
    let mut driver = Driver {
        model,
        screen,
        finder: Finder::new(teller(link.news().clone())),
        link,
        painter,
        editor: start.editor,
        show: start.show,
        attach: start.attach,
        keep_model: start.keep_model,
        attention,
        decoder: Decoder::default(),
        began: Instant::now(),
        drawn: None,
        pressed: false,
        state: State::Going,
        slept: false,
    };
    let ended = driver.go(&tty, news, painted, &mut signals).await;
    driver.link.settle().await;
    // A terminal that is gone needs no word.
    let _ = driver.screen.tell(driver.attention.leave().as_bytes());
    let task = driver.model.wanted.clone();
    drop(driver);
    ended.map(|()| Exit { task }).map_err(Error::Terminal)
}

/// The models that can be named without knowing more.
fn models(settings: &Settings, offers: &[(Offer, Vec<String>)]) -> Vec<String> {
    let named = settings.models.keys().filter(|name| name.contains(':'));
    let found = offers.iter().flat_map(|(_, models)| models);
    let mut models: Vec<String> = std::iter::once(&settings.model).chain(named).chain(found).cloned().collect();
    models.push("guide:guide".to_owned());
    let mut seen = std::collections::HashSet::new();
    models.retain(|name| seen.insert(name.clone()));
    models
}

/// How much the windows of models hold, by every name that a Task may give them.
fn windows(settings: &Settings) -> BTreeMap<String, u64> {
    let known = settings.models.iter().filter_map(|(name, info)| Some((name.clone(), info.context_tokens?)));
    let mut windows: BTreeMap<String, u64> = known.collect();
    for model in models(settings, &[]) {
        if let Some(tokens) = settings.model_info(&model).context_tokens {
            windows.insert(model, tokens);
        }
    }
    windows
}

/// Puts what is found on other threads among the news.
fn teller(news: mpsc::Sender<News>) -> Tell {
    Arc::new(move |said| news.blocking_send(said).is_ok())
}

fn wall_clock() -> Millis {
    Timestamp::now().as_millisecond()
}

/// The size of the terminal; one that does not know it is taken for the usual one.
fn known_size(tty: &Tty) -> (u16, u16) {
    match tty.size() {
        (0, _) | (_, 0) => (80, 24),
        size => size,
    }
}

#[derive(Debug, Clone, PartialEq)]
enum State {
    Going,
    Suspending,
    /// The person's own editor is to have the terminal, with this text.
    EditingOutside(String),
    /// A program that shows this text is to have the terminal.
    Showing(Viewer, String),
    /// A Job is to have the terminal.
    Lending(Lent),
    Ending,
}

struct Driver {
    model: Model,
    screen: Screen,
    link: Link,
    painter: std::sync::mpsc::Sender<Job>,
    finder: Finder,
    editor: Editor,
    show: Show,
    attach: Attach,
    keep_model: KeepModel,
    attention: Attention,
    decoder: Decoder,
    began: Instant,
    drawn: Option<Instant>,
    /// A key changed something since then.
    pressed: bool,
    state: State,
    /// It was us who stopped: the signal to go on is no surprise.
    slept: bool,
}

/// What the driver was woken by.
enum Woken {
    Bytes(usize),
    TerminalGone,
    News(News),
    Painted(Job, Coloured),
    Time,
    Signal(Caught),
}

impl Driver {
    async fn go(
        &mut self,
        tty: &Tty,
        mut news: mpsc::Receiver<News>,
        mut painted: mpsc::UnboundedReceiver<(Job, Coloured)>,
        signals: &mut Signals,
    ) -> io::Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            self.draw_if_due()?;
            let alarm = self.model.due().map(|at| Instant::now() + millis(at - wall_clock()));
            let wake = self.next_wake(alarm);
            let woken = tokio::select! {
                read = tty.read(&mut buffer) => match read {
                    Ok(0) | Err(_) => Woken::TerminalGone,
                    Ok(read) => Woken::Bytes(read),
                },
                Some(said) = news.recv() => Woken::News(said),
                Some((job, coloured)) = painted.recv() => Woken::Painted(job, coloured),
                caught = signals.next() => Woken::Signal(caught),
                () = sleep_until(wake) => Woken::Time,
            };
            self.model.now = wall_clock();
            match woken {
                Woken::TerminalGone => self.take(Action::Quit),
                Woken::Bytes(read) => self.take_bytes(&buffer[..read]),
                Woken::News(said) => {
                    let began = Instant::now();
                    self.take(Action::News(said));
                    while began.elapsed() < TURN_OF_NEWS
                        && let Ok(said) = news.try_recv()
                    {
                        self.take(Action::News(said));
                    }
                }
                Woken::Painted(job, coloured) => self.take(Action::Painted(job, coloured)),
                Woken::Time => self.take_time(alarm),
                Woken::Signal(caught) => self.take_signal(caught, tty)?,
            }
            match std::mem::replace(&mut self.state, State::Going) {
                State::Going => {}
                State::Suspending => self.suspend(tty)?,
                State::Lending(lent) => self.lend(tty, signals, lent).await?,
                State::Showing(viewer, text) => self.show(tty, signals, viewer, text).await?,
                State::EditingOutside(text) => self.edit_outside(tty, signals, &text).await?,
                State::Ending => return Ok(()),
            }
        }
    }

    fn take_bytes(&mut self, bytes: &[u8]) {
        let now = self.monotonic();
        let events = self.decoder.feed(bytes, now);
        for answer in self.decoder.answers() {
            self.attention.takes_status |= answer == Answer::TakesStatus;
            self.take(Action::Answered(answer));
        }
        self.take_events(events);
    }

    fn take_events(&mut self, events: Vec<Event>) {
        // Characters that came together are typed together: each alone would wrap the text anew.
        let mut typed = String::new();
        for event in events {
            let character = matches!(&event, Event::Key(key) if Key::from_event(*key).typed().is_some());
            if !character {
                self.type_in(&mut typed);
            }
            match keymap::resolve(event, &self.model) {
                Some(Action::Edit(Edit::Insert(c))) => {
                    self.pressed = true;
                    typed.push(c);
                }
                Some(action) => {
                    self.type_in(&mut typed);
                    self.pressed = true;
                    self.take(action);
                    // The next key may mean something else after this one.
                    self.model.lay_out();
                }
                None => {}
            }
        }
        self.type_in(&mut typed);
    }

    fn type_in(&mut self, typed: &mut String) {
        let mut characters = typed.chars();
        match (characters.next(), characters.next()) {
            (None, _) => return,
            (Some(c), None) => self.take(Action::Edit(Edit::Insert(c))),
            (Some(_), Some(_)) => self.take(Action::Type(std::mem::take(typed))),
        }
        typed.clear();
    }

    fn take_time(&mut self, alarm: Option<Instant>) {
        let now = self.monotonic();
        let events = self.decoder.expire(now);
        self.take_events(events);
        if alarm.is_some_and(|alarm| alarm <= Instant::now()) {
            self.take(Action::Tick);
        }
    }

    fn take_signal(&mut self, caught: Caught, tty: &Tty) -> io::Result<()> {
        match caught {
            Caught::End => self.take(Action::Quit),
            Caught::Stop => self.take(Action::Suspend),
            Caught::Resized => self.fit(tty),
            Caught::Continued if std::mem::take(&mut self.slept) => {}
            Caught::Continued => {
                self.screen.retake()?;
                self.fit(tty);
                self.model.dirty = true;
            }
        }
        Ok(())
    }

    fn fit(&mut self, tty: &Tty) {
        let (width, height) = known_size(tty);
        if (width, height) != self.model.size {
            self.take(Action::Resize { width, height });
        }
    }

    fn take(&mut self, action: Action) {
        for effect in update(&mut self.model, action) {
            match effect {
                Effect::Quit => self.state = State::Ending,
                Effect::Suspend => self.state = State::Suspending,
                Effect::Copy(text) => {
                    // A terminal that is gone is noticed by its reader.
                    let _ = self.screen.copy(&text);
                }
                Effect::Attach(job) => self.state = State::Lending(Lent::Terminal(job)),
                Effect::Page(job) => self.state = State::Lending(Lent::Log(job)),
                Effect::EditOutside(text) => self.state = State::EditingOutside(text),
                Effect::Show(viewer, text) => self.state = State::Showing(viewer, text),
                Effect::KeepModel(model) => {
                    let kept = (self.keep_model)(model);
                    self.take(Action::News(News::ModelKept(kept)));
                }
                Effect::FindFiles { search, folder } => self.finder.find(search, folder),
                Effect::Preview { folder, path } => self.finder.preview(folder, path),
                other => self.link.carry_out(other),
            }
        }
    }

    /// Lends the terminal to the person's own editor until it ends.
    async fn edit_outside(&mut self, tty: &Tty, signals: &mut Signals, text: &str) -> io::Result<()> {
        screen::restore();
        let edited = (self.editor)(text.to_owned()).await;
        self.come_back(tty, signals, Action::EditedOutside(edited))
    }

    /// Lends the terminal to a program that shows a text.
    async fn show(&mut self, tty: &Tty, signals: &mut Signals, viewer: Viewer, text: String) -> io::Result<()> {
        screen::restore();
        let shown = (self.show)(viewer, text).await;
        self.come_back(tty, signals, Action::Shown(shown))
    }

    /// Lends the terminal to a Job, or to the pager of its log, until it is left.
    async fn lend(&mut self, tty: &Tty, signals: &mut Signals, lent: Lent) -> io::Result<()> {
        screen::restore();
        let left = (self.attach)(lent).await;
        self.come_back(tty, signals, Action::Attached(left))
    }

    /// Takes the terminal back, with what came of lending it.
    fn come_back(&mut self, tty: &Tty, signals: &mut Signals, action: Action) -> io::Result<()> {
        // What was pressed and sent to others is none of ours.
        *signals = Signals::new()?;
        self.decoder = Decoder::default();
        self.screen.retake()?;
        self.model.now = wall_clock();
        self.take(action);
        self.fit(tty);
        self.model.dirty = true;
        Ok(())
    }

    /// Stops the whole foreground group, as the shell expects; comes back with its `fg`.
    fn suspend(&mut self, tty: &Tty) -> io::Result<()> {
        if !can_be_continued() {
            self.model.warn("no shell is there to come back from");
            self.model.dirty = true;
            return Ok(());
        }
        screen::restore();
        self.slept = true;
        kill_current_process_group(Signal::STOP)?;
        self.screen.retake()?;
        self.fit(tty);
        self.model.dirty = true;
        Ok(())
    }

    fn draw_if_due(&mut self) -> io::Result<()> {
        let soon = self.drawn.is_some_and(|drawn| drawn.elapsed() < self.pause());
        if !self.model.dirty || soon {
            return Ok(());
        }
        (self.model.dirty, self.pressed) = (false, false);
        self.model.lay_out();
        crate::crash::panic_of_screen();
        self.screen.draw(&self.model)?;
        let told = self.attention.tell(&self.model);
        self.screen.tell(&told)?;
        for job in self.model.chat.colours.take_wanted() {
            // A painter that is gone leaves code plain.
            let _ = self.painter.send(job);
        }
        self.drawn = Some(Instant::now());
        Ok(())
    }

    /// The least time between the last frame and the next one.
    fn pause(&self) -> Duration {
        if self.pressed { FRAME_OF_KEY } else { FRAME }
    }

    fn next_wake(&self, alarm: Option<Instant>) -> Option<Instant> {
        let frame = self.drawn.filter(|_| self.model.dirty).map(|drawn| drawn + self.pause());
        let escape = self.decoder.deadline().map(|at| self.began + millis(at));
        [frame, escape, alarm].into_iter().flatten().min()
    }

    fn monotonic(&self) -> Millis {
        self.began.elapsed().as_millis() as Millis
    }
}

fn millis(millis: Millis) -> Duration {
    Duration::from_millis(millis.max(0) as u64)
}

async fn sleep_until(wake: Option<Instant>) {
    match wake {
        Some(wake) => tokio::time::sleep_until(wake).await,
        None => std::future::pending().await,
    }
}
