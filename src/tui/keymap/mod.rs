//! Which key means what, where: one table. Help, documentation and hints are made from it.
//!
//! This is where modes end: a key in a place gives one [`Action`], which means the same wherever
//! it arrives.

mod table;

use super::action::{Action, Pane, Step};
use super::attention::Looking;
use super::composer::{Edit, Purpose};
use super::editor::EditorAct;
use super::editor::doc::Show;
use super::key::Key;
use super::model::{Focus, Model, Overlay};
use super::picker::Wish;
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use std::collections::HashMap;
pub use table::table;

/// A place or a state in which keys have a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum When {
    /// Everywhere.
    Always,
    /// After the first ctrl+c.
    QuitAsked,
    /// Where panes are seen.
    Panes,
    /// Where only one pane is shown on purpose.
    Zoomed,
    /// While the folder is not trusted.
    Untrusted,
    /// On the question whether the folder is trusted.
    Trust,
    /// In the composer, while something waits for the person.
    Awaited,
    /// While Main works or waits in the middle of a step, in the composer.
    Working,
    /// In the composer.
    Writing,
    /// In the composer, with text.
    WritingSomething,
    /// In the composer, without text.
    WritingNothing,
    /// In the composer, writing something else than a message.
    WritingAside,
    /// On the first row of the composer.
    FirstRow,
    /// On the last row of the composer, while the history is shown.
    Recalling,
    /// In the transcript.
    Reading,
    /// While words to search for are typed.
    Searching,
    /// On an approval.
    Approval,
    /// On a question.
    Question,
    /// On a point of acceptance.
    Check,
    /// On queued messages.
    Queue,
    /// In a pane beside the chat.
    Side,
    /// On the list of Subagents.
    Subagents,
    /// Where the trajectory of a Subagent is read.
    Trajectory,
    /// In the Inbox.
    Inbox,
    /// On what is shown whole.
    Paper,
    /// On the list of Jobs.
    Jobs,
    /// On the log of a Job.
    JobLog,
    /// In the list of documents.
    Documents,
    /// In the text of a document.
    Document,
    /// In the text of a document, with something selected.
    DocumentSelected,
    /// On the revisions of a document.
    DocumentHistory,
    /// On the Candidates of a document.
    DocumentCandidates,
    /// In a text that stands apart as a Candidate, because others were faster.
    DocumentApart,
    /// On a conflict.
    DocumentConflict,
    /// In the list of Tasks.
    Tasks,
    /// While words to narrow the list of Tasks are typed.
    TasksTyping,
    /// In the help.
    Help,
    /// Wherever a line or a text is edited.
    Editing,
    /// In a picker.
    Picker,
    /// In a picker, with nothing typed.
    PickerEmpty,
    /// In the view of keys.
    Keys,
    /// On a shell line, without text.
    ShellEmpty,
    /// On a command of the person's own that runs or ran.
    Shell,
}

impl When {
    /// The heading of its keys.
    pub fn title(self) -> &'static str {
        match self {
            Self::Always => "Everywhere",
            Self::QuitAsked => "Everywhere",
            Self::Panes => "Panes",
            Self::Zoomed => "Zoomed",
            Self::Untrusted | Self::Trust => "Folder not trusted yet",
            Self::Awaited => "While something waits for you",
            Self::Working => "While Main works",
            Self::Writing | Self::WritingSomething | Self::WritingNothing | Self::FirstRow | Self::Recalling => {
                "Writing"
            }
            Self::WritingAside => "Editing a queued message, answering",
            Self::Reading => "Reading the chat",
            Self::Searching => "Searching the chat",
            Self::Approval => "Approval",
            Self::Question => "Question",
            Self::Check => "Point of acceptance",
            Self::Queue => "Queued messages",
            Self::Side => "Other panes",
            Self::Subagents => "Subagents",
            Self::Trajectory => "Reading a Subagent",
            Self::Inbox => "Inbox",
            Self::Paper => "A Contribution or a message, whole",
            Self::Jobs => "Jobs",
            Self::JobLog => "The log of a Job",
            Self::Documents => "Documents",
            Self::Document | Self::DocumentSelected => "Editing a document",
            Self::DocumentHistory => "The history of a document",
            Self::DocumentCandidates => "Candidates of a document",
            Self::DocumentApart => "A document others changed before it was saved",
            Self::DocumentConflict => "A conflict, piece by piece",
            Self::Tasks | Self::TasksTyping => "Task list",
            Self::Help => "Keys",
            Self::Editing => "Editing a line or a text",
            Self::Picker | Self::PickerEmpty => "Picking from a list",
            Self::Keys => "Which key arrives",
            Self::ShellEmpty | Self::Shell => "Shell line",
        }
    }

    /// Its name in a file of keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::QuitAsked => "quit-asked",
            Self::Panes => "panes",
            Self::Zoomed => "zoomed",
            Self::Untrusted => "untrusted",
            Self::Trust => "trust",
            Self::Awaited => "awaited",
            Self::Working => "working",
            Self::Writing => "writing",
            Self::WritingSomething => "writing-something",
            Self::WritingNothing => "writing-nothing",
            Self::WritingAside => "writing-aside",
            Self::FirstRow => "first-row",
            Self::Recalling => "recalling",
            Self::Reading => "reading",
            Self::Searching => "searching",
            Self::Approval => "approval",
            Self::Question => "question",
            Self::Check => "check",
            Self::Queue => "queue",
            Self::Side => "side",
            Self::Subagents => "subagents",
            Self::Trajectory => "trajectory",
            Self::Inbox => "inbox",
            Self::Paper => "paper",
            Self::Jobs => "jobs",
            Self::JobLog => "job-log",
            Self::Documents => "documents",
            Self::Document => "document",
            Self::DocumentSelected => "document-selected",
            Self::DocumentHistory => "document-history",
            Self::DocumentCandidates => "document-candidates",
            Self::DocumentApart => "document-apart",
            Self::DocumentConflict => "document-conflict",
            Self::Tasks => "tasks",
            Self::TasksTyping => "tasks-typing",
            Self::Help => "help",
            Self::Editing => "editing",
            Self::Picker => "picker",
            Self::PickerEmpty => "picker-empty",
            Self::Keys => "keys",
            Self::ShellEmpty => "shell-empty",
            Self::Shell => "shell",
        }
    }

    /// All places that have keys, in the order of the table.
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for row in table() {
            if !all.contains(&row.when) {
                all.push(row.when);
            }
        }
        all
    }
}

/// A row of the table.
pub struct Binding {
    /// Where.
    pub when: When,
    /// The command's name: for the palette, for `/`, and for a file of keys.
    pub name: &'static str,
    /// The keys, in their words.
    pub keys: &'static [&'static str],
    /// What it means.
    pub action: Action,
    /// What it does, for the help.
    pub says: &'static str,
}

const fn bind(
    when: When,
    name: &'static str,
    keys: &'static [&'static str],
    action: Action,
    says: &'static str,
) -> Binding {
    Binding { when, name, keys, action, says }
}

/// A row as it holds here: the person may have given it other keys.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Where.
    pub when: When,
    /// The command's name.
    pub name: &'static str,
    /// The keys, in their words.
    pub keys: Vec<String>,
    /// What it means.
    pub action: Action,
    /// What it does.
    pub says: &'static str,
}

/// The table as it holds here, ready to be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    rows: Vec<Row>,
    meanings: HashMap<(When, Key), usize>,
}

impl Default for Keymap {
    fn default() -> Self {
        let rows = table().map(|row| Row {
            when: row.when,
            name: row.name,
            keys: row.keys.iter().map(|key| (*key).to_owned()).collect(),
            action: row.action.clone(),
            says: row.says,
        });
        let mut keymap = Self { rows: rows.collect(), meanings: HashMap::new() };
        keymap.index();
        keymap
    }
}

/// The command that takes a key's meaning away.
pub const NOTHING: &str = "nothing";

impl Keymap {
    fn index(&mut self) {
        self.meanings.clear();
        for (ix, row) in self.rows.iter().enumerate() {
            // A test reads every key of the table; those of a file were read when they came in.
            for key in row.keys.iter().filter_map(|key| key.parse::<Key>().ok()) {
                self.meanings.insert((row.when, key), ix);
            }
        }
    }

    /// Gives a key another meaning in a place; the words say what is wrong with it.
    pub fn rebind(&mut self, when: When, key: &str, command: &str) -> Result<(), String> {
        let key: Key = key.parse()?;
        let found = self.rows.iter().find(|row| row.when == when && row.name == command);
        let found = found.or_else(|| self.rows.iter().find(|row| row.name == command)).cloned();
        if found.is_none() && command != NOTHING {
            return Err(format!("there is no command `{command}`"));
        }
        let text = key.to_string();
        for row in self.rows.iter_mut().filter(|row| row.when == when) {
            row.keys.retain(|known| *known != text);
        }
        if let Some(found) = found {
            match self.rows.iter_mut().find(|row| row.when == when && row.name == command) {
                Some(row) => row.keys.insert(0, text),
                None => self.rows.push(Row { when, keys: vec![text], ..found }),
            }
        }
        self.index();
        Ok(())
    }

    /// What a key means where the model stands; characters are typed where text is written.
    pub fn action(&self, key: Key, model: &Model) -> Option<Action> {
        let shown = model.overlay == Some(Overlay::Keys) && !self.meanings.contains_key(&(When::Keys, key));
        if shown && !model.quit_asked {
            return Some(Action::ShowKey(key));
        }
        match self.row(key, model) {
            Some(row) => Some(row.action.clone()),
            None if model.types_filter() => key.typed().map(|c| Action::TypeFilter(c.to_string())),
            None if model.types_document() => key.typed().map(|c| Action::Editor(EditorAct::Type(c))),
            None if model.types_search() => key.typed().map(|c| Action::TypeSearch(c.to_string())),
            None => key.typed().filter(|_| model.writes()).map(|c| Action::Edit(Edit::Insert(c))),
        }
    }

    /// The row that a key finds where the model stands.
    pub fn row(&self, key: Key, model: &Model) -> Option<&Row> {
        places(model).into_iter().find_map(|when| self.meanings.get(&(when, key))).map(|ix| &self.rows[*ix])
    }

    /// The first key of a command, for hints on screen; its name where it has none.
    pub fn key_of(&self, when: When, action: &Action) -> &str {
        let row = self.rows.iter().find(|row| row.when == when && row.action == *action);
        row.map_or("", |row| row.keys.first().map_or(row.name, String::as_str))
    }

    /// What can be done where the model stands, each command once, the widest places first.
    pub fn commands(&self, model: &Model) -> Vec<&Row> {
        let mut places = places(model);
        places.reverse();
        let mut found: Vec<&Row> = Vec::new();
        for when in places {
            for row in self.rows.iter().filter(|row| row.when == when) {
                if !found.iter().any(|known| known.action == row.action) {
                    found.push(row);
                }
            }
        }
        found.sort_by_key(|row| rank(row));
        found
    }

    /// The names of all commands.
    pub fn names(&self) -> Vec<&'static str> {
        self.rows.iter().map(|row| row.name).collect()
    }

    /// What a command with this name asks for, if it needs a word.
    pub fn wish_named(&self, name: &str) -> Option<Wish> {
        self.rows.iter().filter(|row| row.name == name).find_map(|row| match row.action {
            Action::Ask(wish) => Some(wish),
            _ => None,
        })
    }

    /// The headings of the table with their rows, in the order in which people look for them.
    pub fn sections(&self) -> Vec<(&'static str, Vec<&Row>)> {
        let mut sections: Vec<(&'static str, Vec<&Row>)> = Vec::new();
        for row in &self.rows {
            let title = row.when.title();
            match sections.iter_mut().find(|(known, _)| *known == title) {
                Some((_, rows)) => rows.push(row),
                None => sections.push((title, vec![row])),
            }
        }
        sections
    }
}

/// How far down a command stands in a list: what a key does better than a list comes last.
fn rank(row: &Row) -> u8 {
    match row.action {
        Action::Edit(_) | Action::ScrollChat(_) | Action::ChooseEntry(_) | Action::HistoryOlder => 3,
        Action::Quit | Action::AskToQuit | Action::Suspend => 2,
        Action::Focus(_) | Action::FocusNext | Action::FocusPrevious | Action::OpenCommands => 1,
        Action::ToggleZoom | Action::HidePane | Action::MoveBorder(_) | Action::Grow(_) | Action::ResetLayout => 1,
        _ => 0,
    }
}

/// What an event of the terminal means.
pub fn resolve(event: Event, model: &Model) -> Option<Action> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) => model.keymap.action(Key::from_event(key), model),
        Event::Paste(text) if model.types_filter() => Some(Action::TypeFilter(text)),
        Event::Paste(text) if model.types_search() => Some(Action::TypeSearch(text)),
        Event::Paste(text) if model.types_document() => Some(Action::Editor(EditorAct::Paste(text))),
        Event::Paste(text) => Some(Action::Paste(text)),
        Event::Resize(width, height) => Some(Action::Resize { width, height }),
        Event::Mouse(mouse) => {
            let (column, row) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::ScrollUp => Some(Action::Wheel { column, row, step: Step::Up }),
                MouseEventKind::ScrollDown => Some(Action::Wheel { column, row, step: Step::Down }),
                MouseEventKind::Down(MouseButton::Left) => Some(Action::Click { column, row }),
                MouseEventKind::Drag(MouseButton::Left) if model.moving.is_some() || model.marking => {
                    Some(Action::Drag { column, row })
                }
                MouseEventKind::Up(MouseButton::Left) if model.moving.is_some() || model.marking => {
                    Some(Action::Release)
                }
                _ => None,
            }
        }
        Event::FocusGained => Some(Action::Looks(Looking::Here)),
        Event::FocusLost => Some(Action::Looks(Looking::Away)),
    }
}

/// The places that hold where the model stands, the narrowest first.
fn places(model: &Model) -> Vec<When> {
    let mut places = Vec::new();
    if model.quit_asked {
        places.push(When::QuitAsked);
    }
    match (model.overlay, model.focus) {
        (Some(Overlay::Tasks), _) if model.types_filter() => places.push(When::TasksTyping),
        (Some(Overlay::Tasks), _) => places.push(When::Tasks),
        (Some(Overlay::Help { .. }), _) => places.push(When::Help),
        (Some(Overlay::Keys), _) => places.push(When::Keys),
        (Some(Overlay::Shell), _) => places.push(When::Shell),
        (Some(Overlay::Paper), _) => places.push(When::Paper),
        (Some(Overlay::Picker), _) => {
            if model.picker.as_ref().is_some_and(|picker| picker.query.is_empty()) {
                places.push(When::PickerEmpty);
            }
            places.extend([When::Picker, When::Editing]);
        }
        (None, Focus::Composer) => writing(model, &mut places),
        (None, Focus::Transcript) if model.types_search() => places.push(When::Searching),
        (None, Focus::Transcript) => {
            if model.told.read_subagent().is_some() {
                places.push(When::Trajectory);
            }
            places.push(When::Reading);
        }
        (None, Focus::Asks) => match model.ask() {
            Some(super::asks::Ask::Approval(_)) => places.push(When::Approval),
            Some(super::asks::Ask::Question(_)) => places.push(When::Question),
            Some(super::asks::Ask::Check(_)) => places.push(When::Check),
            Some(super::asks::Ask::Decision(_)) => places.push(When::Question),
            None => {}
        },
        (None, Focus::Trust) => places.push(When::Trust),
        (None, Focus::Queue) => places.push(When::Queue),
        (None, Focus::Side(Pane::Jobs)) if model.jobs.reads() => places.push(When::JobLog),
        (None, Focus::Side(Pane::Jobs)) => places.push(When::Jobs),
        (None, Focus::Side(Pane::Subagents)) => places.extend([When::Subagents, When::Side]),
        (None, Focus::Side(Pane::Inbox)) => places.extend([When::Inbox, When::Side]),
        (None, Focus::Side(Pane::Editor)) => editing(model, &mut places),
        (None, Focus::Side(_)) => places.push(When::Side),
    }
    if model.overlay.is_none() {
        if model.asks_for_trust() {
            places.push(When::Untrusted);
        }
        places.push(When::Panes);
    }
    places.push(When::Always);
    places
}

fn editing(model: &Model, places: &mut Vec<When>) {
    let Some(doc) = &model.editor.doc else { return places.push(When::Documents) };
    match &doc.show {
        Show::Text => {
            if doc.apart.is_some() {
                places.push(When::DocumentApart);
            }
            if !doc.buffer.selection().is_empty() {
                places.push(When::DocumentSelected);
            }
            places.push(When::Document);
        }
        Show::History(_) => places.push(When::DocumentHistory),
        Show::Candidates(_) => places.push(When::DocumentCandidates),
        Show::Conflict(conflict) if conflict.is_entered => places.push(When::DocumentConflict),
        Show::Conflict(_) => places.extend([When::DocumentApart, When::Document]),
    }
}

fn writing(model: &Model, places: &mut Vec<When>) {
    if matches!(model.composer.purpose, Purpose::Guide(_)) {
        places.push(When::Trajectory);
    }
    if model.composer.purpose != Purpose::Message {
        places.push(When::WritingAside);
    }
    if model.awaits() {
        places.push(When::Awaited);
    }
    if model.told.run().is_some() && model.told.read_subagent().is_none() {
        places.push(When::Working);
    }
    if model.zoomed {
        places.push(When::Zoomed);
    }
    let (row, _) = model.composer.caret();
    if row == 0 && model.writes_message() {
        places.push(When::FirstRow);
    }
    if model.composer.is_recalling() && row + 1 == model.composer.rows().len() {
        places.push(When::Recalling);
    }
    places.push(if model.composer.is_empty() { When::WritingNothing } else { When::WritingSomething });
    if model.composer.purpose == Purpose::Shell && model.composer.is_empty() {
        places.push(When::ShellEmpty);
    }
    places.extend([When::Writing, When::Editing]);
}

/// The page `docs/keys.md`.
pub fn keys_markdown() -> String {
    let mut page = String::from(
        "# Keys\n\nThis page is written by a test from the tables in `src/tui/keymap/table/`. On screen: `f1`.\n\n\
         The wheel scrolls, a click opens a tool call or goes to a pane, dragging over the chat copies; with shift held the \
         terminal selects text itself.\n",
    );
    for (title, rows) in Keymap::default().sections() {
        page.push_str(&format!("\n## {title}\n\n| key | does | command |\n|---|---|---|\n"));
        for row in rows {
            let keys: Vec<_> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            page.push_str(&format!("| {} | {} | `{}.{}` |\n", keys.join(" "), row.says, row.when.name(), row.name));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::command::ApprovalAnswer;
    use crate::tui::fixtures;

    #[test]
    fn every_key_of_the_table_is_one_and_no_place_gives_one_key_two_meanings() {
        let mut seen = HashMap::new();
        for binding in table() {
            for key in binding.keys {
                let parsed: Key = key.parse().expect(key);
                assert_eq!(parsed.to_string(), *key, "the table writes keys in their one form");
                let before = seen.insert((binding.when, parsed), binding.says);
                assert_eq!(before, None, "{key} in {:?}", binding.when);
            }
        }
    }

    #[test]
    fn a_name_means_one_command_and_a_command_has_one_name() {
        let mut known: HashMap<&str, &Action> = HashMap::new();
        for row in table() {
            let action = known.entry(row.name).or_insert(&row.action);
            assert_eq!(**action, row.action, "{}", row.name);
            let other = table().find(|other| other.action == row.action && other.name != row.name);
            assert!(other.is_none(), "{} is also {}", row.name, other.map_or("", |other| other.name));
        }
    }

    #[test]
    fn a_key_gets_another_meaning_and_hints_follow() {
        let mut model = fixtures::model(80, 24);
        model.keymap.rebind(When::Panes, "ctrl+x", "tasks").expect("bound");
        model.keymap.rebind(When::Panes, "ctrl+t", NOTHING).expect("freed");
        let key = |text: &str| text.parse::<Key>().expect("a key");
        assert_eq!(model.keymap.action(key("ctrl+x"), &model), Some(Action::OpenTasks));
        assert_eq!(model.keymap.action(key("ctrl+t"), &model), None);
        assert_eq!(model.keymap.key_of(When::Panes, &Action::OpenTasks), "ctrl+x");
        model.keymap.rebind(When::Reading, "t", "tasks").expect("a command of another place");
        model.focus = Focus::Transcript;
        assert_eq!(model.keymap.action(key("t"), &model), Some(Action::OpenTasks));
        assert!(model.keymap.rebind(When::Panes, "hyper+q", "tasks").is_err());
        assert!(model.keymap.rebind(When::Panes, "f9", "taskss").is_err());
    }

    #[test]
    fn esc_stops_the_step_only_while_something_runs() {
        let mut model = fixtures::model(80, 24);
        let esc = "esc".parse().expect("a key");
        assert_eq!(model.keymap.action(esc, &model), Some(Action::FocusComposer));
        fixtures::working(&mut model);
        assert_eq!(model.keymap.action(esc, &model), Some(Action::Interrupt));
        model.overlay = Some(Overlay::Tasks);
        assert_eq!(model.keymap.action(esc, &model), Some(Action::CloseOverlay));
    }

    #[test]
    fn a_letter_is_an_answer_only_on_an_approval() {
        let mut model = fixtures::model(80, 24);
        fixtures::approval(&mut model);
        let yes = "y".parse().expect("a key");
        assert_eq!(model.keymap.action(yes, &model), Some(Action::Edit(Edit::Insert('y'))));
        model.focus = Focus::Asks;
        assert_eq!(model.keymap.action(yes, &model), Some(Action::AnswerApproval(ApprovalAnswer::Once)));
    }

    #[test]
    fn the_page_of_keys_names_every_row() {
        let page = keys_markdown();
        for binding in table() {
            assert!(page.contains(binding.says), "{}", binding.says);
        }
    }
}
