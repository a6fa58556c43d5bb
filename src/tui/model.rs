//! Everything a frame is drawn from: what the host told, and what is this terminal's own.
//!
//! Only [`update`](super::update) changes it, but for [`Model::lay_out`], which fits what it holds
//! to the size of the terminal before a frame is drawn.

use super::action::Pane;
use super::agents::Agents;
use super::asks::{self, Ask, Asks};
use super::attention::Looking;
use super::chat::{self, Chat};
use super::composer::{Composer, Purpose};
use super::editor::Editor;
use super::inbox::Inbox;
use super::jobs::Jobs;
use super::keymap::Keymap;
use super::layout::Layout;
use super::look::{Form, Look, Motion};
use super::paper::Paper;
use super::picker::Picker;
use super::projection::{Host, Projection, Trusted};
use super::selection::Selection;
use super::shell::Shell;
use super::sizes::{Border, Sizes};
use super::theme::{BuiltIn, Theme};
use crate::domain::permission::Policy;
use crate::domain::{AgentRole, ClientId, CommandId, Folder, Ids, MessageKind, Millis, Task, TaskId, UserCommand};
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// What never changes while the screen is up.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The folder a new Task works in.
    pub folder: Folder,
    /// Whose drafts these are.
    pub client: ClientId,
    /// What is in that folder and is used only when it is trusted.
    pub to_trust: Vec<String>,
    /// The model of a new Task.
    pub model: String,
    /// How many tokens the window of a model holds, by its name, where that is known.
    pub windows: BTreeMap<String, u64>,
    /// The models that are configured.
    pub models: Vec<String>,
    /// What else could answer, where nobody chose a model yet.
    pub offers: Vec<Offer>,
    /// The policy of a new Task.
    pub policy: Policy,
    /// Where times are read.
    pub zone: TimeZone,
}

/// Something that could answer and was not chosen yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What it is, in a few words.
    pub what: String,
    /// The model by which it is used.
    pub model: String,
}

/// What the keys go to, under whatever covers the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// Writing.
    Composer,
    /// Reading, entry by entry.
    Transcript,
    /// What waits for a person.
    Asks,
    /// The question whether the folder is trusted.
    Trust,
    /// Queued messages.
    Queue,
    /// A pane beside the chat.
    Side(Pane),
}

/// What covers the panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// All Tasks.
    Tasks,
    /// All keys, from a row on.
    Help {
        /// The first row shown.
        scroll: usize,
    },
    /// A picker.
    Picker,
    /// Which key arrives.
    Keys,
    /// A command of the person's own.
    Shell,
    /// One thing whole.
    Paper,
}

/// A command on its way: it is sent again under the same id until it is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Its id.
    pub id: CommandId,
    /// What is wanted.
    pub wanted: UserCommand,
    /// The words a person typed for it; they come back if it is refused.
    pub words: Option<String>,
}

/// One line to the person, gone with the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// The words.
    pub text: String,
    /// Whether something did not go as wanted.
    pub warns: bool,
}

/// A question to the host that is asked again whenever its answer may be another, one at a time.
#[derive(Debug, Default)]
pub struct Refresh {
    asked: bool,
    stale: bool,
}

impl Refresh {
    /// Whether to ask now; if not, an answer that is on its way is not the last one.
    pub fn ask(&mut self) -> bool {
        self.stale = self.asked;
        !std::mem::replace(&mut self.asked, true)
    }

    /// The answer is there; says whether to ask again at once.
    pub fn answered(&mut self) -> bool {
        self.asked = std::mem::take(&mut self.stale);
        self.asked
    }
}

/// What the list of Tasks is narrowed to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The words.
    pub words: String,
    /// Whether they are still being typed.
    pub typing: bool,
}

/// The list of Tasks on this terminal.
#[derive(Debug, Default)]
pub struct TaskList {
    /// The chosen one.
    pub chosen: usize,
    /// Whether archived ones are listed.
    pub archived: bool,
    /// The words that those that are listed have, where a person typed some.
    pub filter: Option<Filter>,
    /// An answer is on its way.
    pub asked: bool,
    /// Something changed since it was asked.
    pub stale: bool,
}

/// Everything a frame is drawn from.
#[derive(Debug)]
pub struct Model {
    /// What the host told.
    pub told: Projection,
    /// What never changes.
    pub facts: Facts,
    /// The time; set by whoever calls.
    pub now: Millis,
    /// The size of the terminal.
    pub size: (u16, u16),
    /// Where everything is on it.
    pub layout: Layout,
    /// Colours.
    pub theme: Theme,
    /// The theme that the terminal's background may still change.
    pub guessed: Option<BuiltIn>,
    /// Keys.
    pub keymap: Keymap,
    /// How much moves.
    pub motion: Motion,
    /// How it is put.
    pub form: Form,
    /// Whether the person looks at this terminal.
    pub looking: Looking,
    /// When the last key came.
    pub last_key: Option<Millis>,
    /// What the keys go to.
    pub focus: Focus,
    /// What covers the panes.
    pub overlay: Option<Overlay>,
    /// Whether only the focused pane is shown.
    pub zoomed: bool,
    /// What the person chose of the arrangement.
    pub sizes: Sizes,
    /// The border that is being dragged.
    pub moving: Option<Border>,
    /// What is marked with the mouse.
    pub marked: Option<Selection>,
    /// The button is down that marks it.
    pub marking: bool,
    /// The text being written.
    pub composer: Composer,
    /// The transcript.
    pub chat: Chat,
    /// What waits for a person.
    pub asks: Asks,
    /// The chosen queued message.
    pub queue: usize,
    /// How far the pane with the focus is scrolled.
    pub side_scroll: usize,
    /// The list of Tasks.
    pub tasks: TaskList,
    /// The picker, while it is open.
    pub picker: Option<Picker>,
    /// Subagents.
    pub agents: Agents,
    /// The Inbox.
    pub inbox: Inbox,
    /// What is shown whole, while it is.
    pub paper: Option<Paper>,
    /// Jobs.
    pub jobs: Jobs,
    /// The Editor pane.
    pub editor: Editor,
    /// A command of the person that runs or ran.
    pub shell: Option<Shell>,
    /// How many searches for files there were.
    pub searches: u64,
    /// What was sent in any Task, oldest first.
    pub sent: Vec<String>,
    /// The keys that arrived while they were shown, the newest last, with what they mean elsewhere.
    pub keys_seen: Vec<(String, String)>,
    /// What waits for a person in any Task.
    pub waiting: Refresh,
    /// The Task that is wanted on screen; the host may not have told it yet.
    pub wanted: Option<TaskId>,
    /// Commands on their way.
    pub outbox: Vec<Outgoing>,
    /// Messages for the Task that is being made, in their order; they go out once it has a name.
    pub for_new_task: Vec<String>,
    /// One line to the person.
    pub hint: Option<Hint>,
    /// The next ctrl+c quits.
    pub quit_asked: bool,
    /// Nothing was ever sent from here.
    pub is_first_start: bool,
    /// The banner about trust was put away.
    pub trust_later: bool,
    /// Since when the banner about trust has been on screen.
    pub trust_shown: Option<Millis>,
    /// When the draft is due to be kept.
    pub draft_due: Option<Millis>,
    /// Where ids of commands come from.
    pub ids: Ids,
    /// Something changed since the last frame.
    pub dirty: bool,
}

impl Model {
    /// A screen that was told nothing yet.
    pub fn new(facts: Facts, theme: Theme, task: Option<TaskId>, ids: Ids, now: Millis, size: (u16, u16)) -> Self {
        let mut model = Self {
            told: Projection::default(),
            facts,
            now,
            size,
            layout: Layout::default(),
            theme,
            guessed: None,
            keymap: Keymap::default(),
            motion: Motion::default(),
            form: Form::default(),
            looking: Looking::default(),
            last_key: None,
            focus: Focus::Composer,
            overlay: None,
            zoomed: false,
            sizes: Sizes::default(),
            moving: None,
            marked: None,
            marking: false,
            composer: Composer::default(),
            chat: Chat::default(),
            asks: Asks::default(),
            queue: 0,
            side_scroll: 0,
            tasks: TaskList::default(),
            picker: None,
            agents: Agents::default(),
            inbox: Inbox::default(),
            paper: None,
            jobs: Jobs::default(),
            editor: Editor::default(),
            shell: None,
            searches: 0,
            sent: Vec::new(),
            keys_seen: Vec::new(),
            waiting: Refresh::default(),
            wanted: task,
            outbox: Vec::new(),
            for_new_task: Vec::new(),
            hint: None,
            quit_asked: false,
            is_first_start: false,
            trust_later: false,
            trust_shown: None,
            draft_due: None,
            ids,
            dirty: true,
        };
        model.lay_out();
        model
    }

    /// Takes over what the person chose about the screen.
    pub fn look_like(&mut self, look: Look) {
        self.keymap = look.keymap;
        self.motion = look.motion;
        self.form = look.form;
    }

    /// Whether something may turn while it works.
    pub fn turns(&self) -> bool {
        self.motion == Motion::Full && self.form == Form::Panes
    }

    /// The pane that has the focus.
    pub fn pane(&self) -> Pane {
        match self.focus {
            Focus::Composer | Focus::Transcript | Focus::Asks | Focus::Trust | Focus::Queue => Pane::Chat,
            Focus::Side(pane) => pane,
        }
    }

    /// The name under which the host keeps what is being written.
    pub fn draft_pane(&self) -> String {
        self.wanted.as_ref().map_or_else(|| "chat/new".to_owned(), |task| format!("chat/{task}"))
    }

    /// The words that were sent and are not with the host yet, in their order.
    pub fn sending(&self) -> impl Iterator<Item = &str> {
        let waiting = self.for_new_task.iter().filter(|_| self.wanted.is_none());
        self.outbox.iter().filter_map(|out| out.words.as_deref()).chain(waiting.map(String::as_str))
    }

    /// What the person sent, in any Task and then in this one, oldest first and each text once.
    pub fn history(&self) -> Vec<String> {
        let mut here: Vec<_> =
            self.told.records.messages.values().filter(|message| message.kind == MessageKind::User).collect();
        here.sort_by_key(|message| (message.created_at, message.order));
        let known: std::collections::HashSet<&str> = self.sent.iter().map(String::as_str).collect();
        let new = here.into_iter().map(|message| &message.text).filter(|text| !known.contains(text.as_str()));
        self.sent.iter().chain(new).cloned().collect()
    }

    /// The folder of the open Task, or of the one that is begun here.
    pub fn folder(&self) -> &str {
        self.told.task().and_then(|task| task.cwd.as_deref()).unwrap_or(&self.facts.folder.path)
    }

    /// Whether characters that are typed go into a text.
    pub fn writes(&self) -> bool {
        match self.overlay {
            None => self.focus == Focus::Composer,
            Some(Overlay::Picker) => true,
            Some(Overlay::Tasks | Overlay::Help { .. } | Overlay::Keys | Overlay::Shell | Overlay::Paper) => false,
        }
    }

    /// Whether the banner about trust is to be shown.
    pub fn asks_for_trust(&self) -> bool {
        let here = self.folder() == self.facts.folder.path && !self.facts.to_trust.is_empty();
        here && self.told.trusted == Trusted::Unknown && !self.trust_later
    }

    /// The Tasks that are listed: all, or those that say the words, in their title, their folder or what
    /// was said last.
    pub fn listed_tasks(&self) -> Vec<&Task> {
        let words = self.tasks.filter.as_ref().map(|filter| filter.words.to_lowercase()).unwrap_or_default();
        let says = |task: &&Task| {
            let folder = task.cwd.as_deref().unwrap_or_default();
            let all = format!("{}\n{folder}\n{}", task.title, task.last_words).to_lowercase();
            words.split_whitespace().all(|word| all.contains(word))
        };
        self.told.tasks.iter().filter(says).collect()
    }

    /// Whether characters narrow the list of Tasks.
    pub fn types_filter(&self) -> bool {
        self.overlay == Some(Overlay::Tasks) && self.tasks.filter.as_ref().is_some_and(|filter| filter.typing)
    }

    /// Whether a pane has something to show besides its purpose. What the person said themselves is in
    /// the chat; it is no news in the Inbox.
    pub fn holds_something(&self, pane: Pane) -> bool {
        let records = &self.told.records;
        match pane {
            Pane::Chat => true,
            Pane::Subagents => records.agents.values().any(|agent| agent.role == AgentRole::Subagent),
            Pane::Inbox => records.messages.values().any(|message| message.kind != MessageKind::User),
            Pane::Jobs => !self.jobs.views.is_empty() || self.jobs.reads(),
            Pane::Editor => {
                self.editor.doc.is_some() || self.focus == Focus::Side(pane) && !self.editor.list.is_empty()
            }
        }
    }

    /// Whether characters that are typed go into the document.
    pub fn types_document(&self) -> bool {
        self.overlay.is_none() && self.focus == Focus::Side(Pane::Editor) && self.editor.types()
    }

    /// Whether something waits for the person: an approval, a question, the word that trusts the folder.
    pub fn awaits(&self) -> bool {
        self.asks_for_trust() || !asks::list(&self.told).is_empty()
    }

    /// What an empty composer sends: an example, for whoever never sent anything.
    pub fn example(&self) -> Option<&'static str> {
        let is_free = self.wanted.is_none() && self.outbox.is_empty() && self.writes_message();
        (self.is_first_start && is_free && self.told.host == Host::Connected).then_some("what is here?")
    }

    /// Whether characters are words to search for.
    pub fn types_search(&self) -> bool {
        self.focus == Focus::Transcript
            && self.overlay.is_none()
            && self.chat.search.as_ref().is_some_and(|search| search.typing)
    }

    /// Whether a person is writing a message, not something else.
    pub fn writes_message(&self) -> bool {
        self.composer.purpose == Purpose::Message
    }

    /// Says something to the person.
    pub fn say(&mut self, text: impl Into<String>) {
        self.hint = Some(Hint { text: text.into(), warns: false });
    }

    /// Says that something did not go as wanted.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.hint = Some(Hint { text: text.into(), warns: true });
    }

    /// Fits everything to the terminal. Called before a frame is drawn.
    pub fn lay_out(&mut self) {
        if self.focus == Focus::Asks && asks::list(&self.told).is_empty()
            || self.focus == Focus::Queue && self.told.queued().is_empty()
            || self.focus == Focus::Trust && !self.asks_for_trust()
        {
            self.focus = Focus::Composer;
        }
        self.address();
        self.queue = self.queue.min(self.told.queued().len().saturating_sub(1));
        self.tasks.chosen = self.tasks.chosen.min(self.listed_tasks().len().saturating_sub(1));
        let mut layout = Layout::place_panes(self);
        if let Some(picker) = &mut self.picker {
            picker.query.lay_out(usize::from(u16::MAX), 1);
        }
        self.composer.lay_out(usize::from(layout.composer_width()), usize::MAX);
        let room = layout.pane(Pane::Chat).map_or(0, |chat| usize::from(chat.width));
        let ask_rows = self.asks.lay_out(&self.told, &self.theme, room);
        layout.fill_chat(self, ask_rows);
        self.layout = layout;
        if let Some(area) = self.layout.pane(Pane::Editor) {
            self.editor.lay_out(area, &self.chat.colours);
        }
        let Layout { transcript, composer, ask_body, .. } = self.layout;
        self.composer.lay_out(usize::from(composer.width), usize::from(composer.height));
        if self.focus == Focus::Asks && self.overlay.is_none() && ask_body.area() > 0 {
            self.asks.in_sight(&self.told, self.now, usize::from(ask_body.height));
        } else {
            self.asks.out_of_sight();
        }
        let banner = self.asks_for_trust() && self.overlay.is_none() && self.layout.trust.area() > 0;
        self.trust_shown = if banner { self.trust_shown.or(Some(self.now)) } else { None };
        let context = chat::Context { told: &self.told, theme: &self.theme, now: self.now };
        self.chat.lay_out(context, usize::from(transcript.width), usize::from(transcript.height));
    }

    /// What is written while a trajectory is read goes to its Subagent.
    fn address(&mut self) {
        match (self.told.read_subagent().cloned(), &self.composer.purpose) {
            (Some(agent), Purpose::Message) => self.composer.begin(Purpose::Guide(agent), ""),
            (None, Purpose::Guide(_)) => self.composer.resume(),
            (Some(agent), Purpose::Guide(to)) if agent != *to => self.composer.purpose = Purpose::Guide(agent),
            _ => {}
        }
    }

    /// When something is next due without anybody doing anything; nothing is at rest.
    pub fn due(&self) -> Option<Millis> {
        let after = |millis: Millis| Some(self.now + millis);
        let spinner = (self.told.host == Host::Connected && self.told.is_running())
            .then(|| after(if self.turns() { SPIN } else { 1_000 }))
            .flatten();
        let beside = self.told.at_work() > 0 || !self.told.open_decisions().is_empty();
        let beside = (self.told.host == Host::Connected && beside).then(|| after(1_000)).flatten();
        let countdown = self.told.retry_at().filter(|at| *at > self.now).and_then(|_| after(1_000));
        let runs = self.shell.as_ref().is_some_and(|shell| shell.ran.is_none());
        let shell = (self.overlay == Some(Overlay::Shell) && runs).then(|| after(1_000)).flatten();
        let ages = (self.overlay == Some(Overlay::Tasks)).then(|| after(60_000)).flatten();
        let lives = self.layout.pane(Pane::Jobs).is_some() && self.jobs.lives();
        let log = self.jobs.log.as_ref().filter(|log| !log.asked).and_then(|log| log.next);
        let jobs = lives.then(|| log.unwrap_or(self.jobs.next).min(self.jobs.next).max(self.now));
        let trust = self.trust_shown.map(|at| at + asks::MOMENT).filter(|at| *at > self.now);
        let unsaved = self.editor.doc.as_ref().and_then(|doc| doc.due);
        [spinner, beside, countdown, shell, ages, jobs, trust, unsaved, self.draft_due, self.asks.due(self.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// The approval or question on screen, if the focus is on it.
    pub fn ask(&self) -> Option<Ask<'_>> {
        (self.focus == Focus::Asks).then(|| self.asks.current(&self.told)).flatten()
    }
}

/// How long a picture of the spinner stays.
pub const SPIN: Millis = 120;
