//! Which key means what, where: one table. Help, documentation and hints are made from it.
//!
//! This is where modes end: a key in a place gives one [`Action`], which means the same wherever
//! it arrives.

use super::action::{Action, Pane, Step};
use super::composer::{Edit, Purpose};
use super::key::Key;
use super::model::{Focus, Model, Overlay};
use crate::domain::CheckState;
use crate::domain::command::ApprovalAnswer;
use crossterm::event::{Event, KeyEventKind, MouseButton, MouseEventKind};
use std::collections::HashMap;

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
    /// In the list of Tasks.
    Tasks,
    /// In the help.
    Help,
}

impl When {
    /// The heading of its keys.
    pub fn title(self) -> &'static str {
        match self {
            Self::Always => "Everywhere",
            Self::QuitAsked => "Everywhere",
            Self::Panes => "Panes",
            Self::Zoomed => "Zoomed",
            Self::Untrusted => "Folder not trusted yet",
            Self::Working => "While Main works",
            Self::Writing | Self::WritingSomething | Self::WritingNothing | Self::FirstRow | Self::Recalling => {
                "Writing"
            }
            Self::WritingAside => "Editing a queued message, answering",
            Self::Reading => "Reading the chat",
            Self::Approval => "Approval",
            Self::Question => "Question",
            Self::Check => "Point of acceptance",
            Self::Queue => "Queued messages",
            Self::Side => "Other panes",
            Self::Tasks => "Task list",
            Self::Help => "Keys",
        }
    }
}

/// A row of the table.
pub struct Binding {
    /// The keys, in their words.
    pub keys: &'static [&'static str],
    /// Where.
    pub when: When,
    /// What it means.
    pub action: Action,
    /// What it does, for the help.
    pub says: &'static str,
}

const fn bind(when: When, keys: &'static [&'static str], action: Action, says: &'static str) -> Binding {
    Binding { keys, when, action, says }
}

/// The table. Of two rows with one key the one of the narrower place holds.
pub static TABLE: &[Binding] = &[
    bind(When::Writing, &["enter"], Action::Send, "send"),
    bind(When::Writing, &["shift+enter", "alt+enter", "ctrl+j"], Action::Edit(Edit::Newline), "new line"),
    bind(When::FirstRow, &["up"], Action::HistoryOlder, "on the first row: what you sent before"),
    bind(When::Recalling, &["down"], Action::HistoryNewer, "and back again"),
    bind(When::Writing, &["up"], Action::Edit(Edit::Up), "up"),
    bind(When::Writing, &["down"], Action::Edit(Edit::Down), "down"),
    bind(When::Writing, &["left", "ctrl+b"], Action::Edit(Edit::Left), "left"),
    bind(When::Writing, &["right", "ctrl+f"], Action::Edit(Edit::Right), "right"),
    bind(When::Writing, &["ctrl+left", "alt+left", "alt+b"], Action::Edit(Edit::WordLeft), "word left"),
    bind(When::Writing, &["ctrl+right", "alt+right", "alt+f"], Action::Edit(Edit::WordRight), "word right"),
    bind(When::Writing, &["home", "ctrl+a"], Action::Edit(Edit::Home), "start of the line"),
    bind(When::Writing, &["end", "ctrl+e"], Action::Edit(Edit::End), "end of the line"),
    bind(When::Writing, &["backspace", "ctrl+h"], Action::Edit(Edit::Backspace), "delete before"),
    bind(When::Writing, &["del", "ctrl+d"], Action::Edit(Edit::Delete), "delete after"),
    bind(When::Writing, &["ctrl+w", "alt+backspace"], Action::Edit(Edit::BackspaceWord), "delete the word before"),
    bind(When::Writing, &["alt+d"], Action::Edit(Edit::DeleteWord), "delete the word after"),
    bind(When::Writing, &["ctrl+u"], Action::Edit(Edit::KillToStart), "delete to the start of the line"),
    bind(When::Writing, &["ctrl+k"], Action::Edit(Edit::KillToEnd), "delete to the end of the line"),
    bind(When::Writing, &["ctrl+y"], Action::Edit(Edit::Yank), "put back what was deleted"),
    bind(When::Writing, &["ctrl+_", "ctrl+-", "alt+u"], Action::Edit(Edit::Undo), "undo"),
    bind(When::Writing, &["ctrl+r"], Action::Edit(Edit::Redo), "redo"),
    bind(When::WritingSomething, &["ctrl+c"], Action::ClearComposer, "with text: clear it"),
    bind(When::WritingNothing, &["ctrl+d"], Action::Quit, "without text: quit"),
    bind(When::WritingAside, &["esc"], Action::LeavePurpose, "leave it as it was"),
    bind(When::Working, &["esc"], Action::Interrupt, "stop the current step"),
    bind(When::Always, &["ctrl+c"], Action::AskToQuit, "quit, when pressed twice; the work goes on"),
    bind(When::QuitAsked, &["ctrl+c"], Action::Quit, "after that: quit"),
    bind(When::Always, &["ctrl+z"], Action::Suspend, "put the screen to sleep"),
    bind(When::Panes, &["tab"], Action::FocusNext, "next pane"),
    bind(When::Panes, &["shift+tab"], Action::FocusPrevious, "pane before"),
    bind(When::Panes, &["alt+1"], Action::Focus(Pane::Chat), "Chat"),
    bind(When::Panes, &["alt+2"], Action::Focus(Pane::Subagents), "Subagents"),
    bind(When::Panes, &["alt+3"], Action::Focus(Pane::Inbox), "Inbox"),
    bind(When::Panes, &["alt+4"], Action::Focus(Pane::Jobs), "Jobs"),
    bind(When::Panes, &["alt+5"], Action::Focus(Pane::Editor), "Editor"),
    bind(When::Panes, &["alt+z"], Action::ToggleZoom, "only this pane, or all again"),
    bind(When::Panes, &["alt+x"], Action::HidePane, "hide this pane"),
    bind(When::Panes, &["alt+a"], Action::LookAtAsks, "look at what waits for you"),
    bind(When::Panes, &["alt+q"], Action::LookAtQueue, "queued messages"),
    bind(When::Panes, &["ctrl+t"], Action::OpenTasks, "all Tasks"),
    bind(When::Panes, &["f1", "alt+h"], Action::OpenHelp, "keys"),
    bind(When::Panes, &["ctrl+o"], Action::ToggleDetails, "open or close all tool calls and thinking"),
    bind(When::Panes, &["pgup"], Action::ScrollChat(Step::PageUp), "page up"),
    bind(When::Panes, &["pgdn"], Action::ScrollChat(Step::PageDown), "page down"),
    bind(When::Panes, &["shift+up"], Action::ScrollChat(Step::Up), "line up"),
    bind(When::Panes, &["shift+down"], Action::ScrollChat(Step::Down), "line down"),
    bind(When::Panes, &["ctrl+home"], Action::ScrollChat(Step::Start), "first row"),
    bind(When::Panes, &["ctrl+end"], Action::ScrollChat(Step::End), "follow the end"),
    bind(When::Panes, &["alt+up"], Action::ChooseEntry(Step::Up), "read: entry above"),
    bind(When::Panes, &["alt+down"], Action::ChooseEntry(Step::Down), "read: entry below"),
    bind(When::Panes, &["esc"], Action::FocusComposer, "back to writing"),
    bind(When::Reading, &["up", "k"], Action::ChooseEntry(Step::Up), "entry above"),
    bind(When::Reading, &["down", "j"], Action::ChooseEntry(Step::Down), "entry below"),
    bind(When::Reading, &["enter", "space"], Action::ToggleEntry, "open or close"),
    bind(When::Reading, &["y"], Action::CopyEntry, "copy"),
    bind(When::Reading, &["ctrl+u"], Action::ScrollChat(Step::HalfUp), "half a page up"),
    bind(When::Reading, &["ctrl+d"], Action::ScrollChat(Step::HalfDown), "half a page down"),
    bind(When::Reading, &["g", "home"], Action::ChooseEntry(Step::Start), "first entry"),
    bind(When::Reading, &["G", "end"], Action::ChooseEntry(Step::End), "last entry"),
    bind(When::Reading, &["i"], Action::FocusComposer, "back to writing"),
    bind(When::Approval, &["y"], Action::AnswerApproval(ApprovalAnswer::Once), "yes, once"),
    bind(When::Approval, &["a"], Action::AnswerApproval(ApprovalAnswer::Always), "yes, always for exactly this here"),
    bind(When::Approval, &["n"], Action::AnswerApproval(ApprovalAnswer::Deny), "no"),
    bind(When::Approval, &["N"], Action::AnswerApproval(ApprovalAnswer::Never), "no, never exactly this here"),
    bind(When::Approval, &["w"], Action::WriteAnswer, "no, and say why"),
    bind(When::Approval, &["up", "k"], Action::ScrollAsk(Step::Up), "line up"),
    bind(When::Approval, &["down", "j"], Action::ScrollAsk(Step::Down), "line down"),
    bind(When::Approval, &["pgup"], Action::ScrollAsk(Step::PageUp), "page up"),
    bind(When::Approval, &["pgdn", "space"], Action::ScrollAsk(Step::PageDown), "page down"),
    bind(When::Approval, &["left", "h"], Action::ChooseAsk(Step::Up), "the one before"),
    bind(When::Approval, &["right", "l"], Action::ChooseAsk(Step::Down), "the next one"),
    bind(When::Question, &["up", "k"], Action::ChooseOption(Step::Up), "option above"),
    bind(When::Question, &["down", "j"], Action::ChooseOption(Step::Down), "option below"),
    bind(When::Question, &["enter"], Action::TakeOption, "answer with it"),
    bind(When::Question, &["w"], Action::WriteAnswer, "answer in words"),
    bind(When::Question, &["pgup"], Action::ScrollAsk(Step::PageUp), "page up"),
    bind(When::Question, &["pgdn", "space"], Action::ScrollAsk(Step::PageDown), "page down"),
    bind(When::Question, &["left", "h"], Action::ChooseAsk(Step::Up), "the one before"),
    bind(When::Question, &["right", "l"], Action::ChooseAsk(Step::Down), "the next one"),
    bind(When::Check, &["y"], Action::JudgeCheck(CheckState::Passed), "it is met"),
    bind(When::Check, &["n"], Action::JudgeCheck(CheckState::Failed), "it is not met"),
    bind(When::Check, &["w"], Action::JudgeCheck(CheckState::Waived), "it need not be met"),
    bind(When::Check, &["pgup"], Action::ScrollAsk(Step::PageUp), "page up"),
    bind(When::Check, &["pgdn", "space"], Action::ScrollAsk(Step::PageDown), "page down"),
    bind(When::Check, &["left", "h"], Action::ChooseAsk(Step::Up), "the one before"),
    bind(When::Check, &["right", "l"], Action::ChooseAsk(Step::Down), "the next one"),
    bind(When::Queue, &["up", "k"], Action::ChooseQueued(Step::Up), "message above"),
    bind(When::Queue, &["down", "j"], Action::ChooseQueued(Step::Down), "message below"),
    bind(When::Queue, &["enter", "e"], Action::EditQueued, "edit"),
    bind(When::Queue, &["d", "del"], Action::WithdrawQueued, "take back"),
    bind(When::Side, &["up", "k"], Action::ScrollPane(Step::Up), "line up"),
    bind(When::Side, &["down", "j"], Action::ScrollPane(Step::Down), "line down"),
    bind(When::Side, &["pgup"], Action::ScrollPane(Step::PageUp), "page up"),
    bind(When::Side, &["pgdn", "space"], Action::ScrollPane(Step::PageDown), "page down"),
    bind(When::Zoomed, &["esc"], Action::ToggleZoom, "all panes again"),
    bind(When::Untrusted, &["alt+y"], Action::TrustFolder, "trust this folder"),
    bind(When::Untrusted, &["alt+n"], Action::TrustLater, "not now"),
    bind(When::Tasks, &["up", "k"], Action::ChooseTask(Step::Up), "Task above"),
    bind(When::Tasks, &["down", "j"], Action::ChooseTask(Step::Down), "Task below"),
    bind(When::Tasks, &["pgup"], Action::ChooseTask(Step::PageUp), "page up"),
    bind(When::Tasks, &["pgdn"], Action::ChooseTask(Step::PageDown), "page down"),
    bind(When::Tasks, &["home", "g"], Action::ChooseTask(Step::Start), "first"),
    bind(When::Tasks, &["end", "G"], Action::ChooseTask(Step::End), "last"),
    bind(When::Tasks, &["enter"], Action::OpenTask, "open"),
    bind(When::Tasks, &["n"], Action::NewTask, "new Task"),
    bind(When::Tasks, &["p"], Action::PauseTask, "pause, or go on"),
    bind(When::Tasks, &["d"], Action::ArchiveTask, "put away, or take out again"),
    bind(When::Tasks, &["a"], Action::ToggleArchived, "show what was put away too, or not"),
    bind(When::Tasks, &["esc", "q", "ctrl+t"], Action::CloseOverlay, "close"),
    bind(When::Help, &["up", "k"], Action::ScrollHelp(Step::Up), "line up"),
    bind(When::Help, &["down", "j"], Action::ScrollHelp(Step::Down), "line down"),
    bind(When::Help, &["pgup"], Action::ScrollHelp(Step::PageUp), "page up"),
    bind(When::Help, &["pgdn", "space"], Action::ScrollHelp(Step::PageDown), "page down"),
    bind(When::Help, &["esc", "q", "f1", "alt+h"], Action::CloseOverlay, "close"),
];

/// The table, ready to be asked.
#[derive(Debug)]
pub struct Keymap {
    meanings: HashMap<(When, Key), Action>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut meanings = HashMap::new();
        for binding in TABLE {
            // A test reads every key of the table.
            for key in binding.keys.iter().filter_map(|key| key.parse::<Key>().ok()) {
                meanings.insert((binding.when, key), binding.action.clone());
            }
        }
        Self { meanings }
    }
}

impl Keymap {
    /// What a key means where the model stands; characters are typed where text is written.
    pub fn action(&self, key: Key, model: &Model) -> Option<Action> {
        let meaning = places(model).into_iter().find_map(|when| self.meanings.get(&(when, key)).cloned());
        meaning.or_else(|| {
            let writes = model.overlay.is_none() && model.focus == Focus::Composer;
            key.typed().filter(|_| writes).map(|c| Action::Edit(Edit::Insert(c)))
        })
    }
}

/// What an event of the terminal means.
pub fn resolve(event: Event, model: &Model) -> Option<Action> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) => model.keymap.action(Key::from_event(key), model),
        Event::Paste(text) => Some(Action::Paste(text)),
        Event::Resize(width, height) => Some(Action::Resize { width, height }),
        Event::Mouse(mouse) => {
            let (column, row) = (mouse.column, mouse.row);
            match mouse.kind {
                MouseEventKind::ScrollUp => Some(Action::Wheel { column, row, step: Step::Up }),
                MouseEventKind::ScrollDown => Some(Action::Wheel { column, row, step: Step::Down }),
                MouseEventKind::Down(MouseButton::Left) => Some(Action::Click { column, row }),
                _ => None,
            }
        }
        Event::FocusGained | Event::FocusLost => None,
    }
}

/// The places that hold where the model stands, the narrowest first.
fn places(model: &Model) -> Vec<When> {
    let mut places = Vec::new();
    if model.quit_asked {
        places.push(When::QuitAsked);
    }
    match (model.overlay, model.focus) {
        (Some(Overlay::Tasks), _) => places.push(When::Tasks),
        (Some(Overlay::Help { .. }), _) => places.push(When::Help),
        (None, Focus::Composer) => writing(model, &mut places),
        (None, Focus::Transcript) => places.push(When::Reading),
        (None, Focus::Asks) => match model.ask() {
            Some(super::asks::Ask::Approval(_)) => places.push(When::Approval),
            Some(super::asks::Ask::Question(_)) => places.push(When::Question),
            Some(super::asks::Ask::Check(_)) => places.push(When::Check),
            None => {}
        },
        (None, Focus::Queue) => places.push(When::Queue),
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

fn writing(model: &Model, places: &mut Vec<When>) {
    if model.composer.purpose != Purpose::Message {
        places.push(When::WritingAside);
    }
    if model.told.run().is_some() {
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
    places.push(When::Writing);
}

/// The first key of a row of the table, for hints on screen.
pub fn key_of(when: When, action: &Action) -> &'static str {
    TABLE.iter().find(|binding| binding.when == when && binding.action == *action).map_or("", |binding| binding.keys[0])
}

/// The headings of the table with their rows, in the order in which people look for them.
pub fn sections() -> Vec<(&'static str, Vec<&'static Binding>)> {
    let mut sections: Vec<(&'static str, Vec<&'static Binding>)> = Vec::new();
    for binding in TABLE {
        let title = binding.when.title();
        match sections.iter_mut().find(|(known, _)| *known == title) {
            Some((_, rows)) => rows.push(binding),
            None => sections.push((title, vec![binding])),
        }
    }
    sections
}

/// The page `docs/keys.md`.
pub fn keys_markdown() -> String {
    let mut page = String::from(
        "# Keys\n\nThis page is written by a test from the table in `src/tui/keymap.rs`. On screen: `f1`.\n\n\
         The wheel scrolls, a click opens a tool call or goes to a pane; with shift held the terminal selects text.\n",
    );
    for (title, rows) in sections() {
        page.push_str(&format!("\n## {title}\n\n| key | does |\n|---|---|\n"));
        for row in rows {
            let keys: Vec<_> = row.keys.iter().map(|key| format!("`{key}`")).collect();
            page.push_str(&format!("| {} | {} |\n", keys.join(" "), row.says));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::fixtures;

    #[test]
    fn every_key_of_the_table_is_one_and_no_place_gives_one_key_two_meanings() {
        let mut seen = HashMap::new();
        for binding in TABLE {
            for key in binding.keys {
                let parsed: Key = key.parse().expect(key);
                assert_eq!(parsed.to_string(), *key, "the table writes keys in their one form");
                let before = seen.insert((binding.when, parsed), binding.says);
                assert_eq!(before, None, "{key} in {:?}", binding.when);
            }
        }
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
        for binding in TABLE {
            assert!(page.contains(binding.says), "{}", binding.says);
        }
    }
}
