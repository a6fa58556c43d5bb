//! Writing, and what holds everywhere.

use super::super::{Binding, When, bind};
use crate::tui::action::Action;
use crate::tui::composer::Edit;

pub(super) static KEYS: &[Binding] = &[
    bind(When::Writing, "send", &["enter"], Action::Send, "send"),
    bind(When::Writing, "send-later", &["alt+s"], Action::SendLater, "send for when Main has answered"),
    bind(When::Writing, "new-line", &["shift+enter", "alt+enter", "ctrl+j"], Action::Edit(Edit::Newline), "new line"),
    bind(When::FirstRow, "older", &["up"], Action::HistoryOlder, "on the first row: what you sent before"),
    bind(When::Recalling, "newer", &["down"], Action::HistoryNewer, "and back again"),
    bind(When::Writing, "up", &["up"], Action::Edit(Edit::Up), "up"),
    bind(When::Writing, "down", &["down"], Action::Edit(Edit::Down), "down"),
    bind(When::Editing, "left", &["left", "ctrl+b"], Action::Edit(Edit::Left), "left"),
    bind(When::Editing, "right", &["right", "ctrl+f"], Action::Edit(Edit::Right), "right"),
    bind(When::Editing, "word-left", &["ctrl+left", "alt+left", "alt+b"], Action::Edit(Edit::WordLeft), "word left"),
    bind(
        When::Editing,
        "word-right",
        &["ctrl+right", "alt+right", "alt+f"],
        Action::Edit(Edit::WordRight),
        "word right",
    ),
    bind(When::Editing, "line-start", &["home", "ctrl+a"], Action::Edit(Edit::Home), "start of the line"),
    bind(When::Editing, "line-end", &["end", "ctrl+e"], Action::Edit(Edit::End), "end of the line"),
    bind(When::Editing, "delete-before", &["backspace", "ctrl+h"], Action::Edit(Edit::Backspace), "delete before"),
    bind(When::Editing, "delete-after", &["del", "ctrl+d"], Action::Edit(Edit::Delete), "delete after"),
    bind(
        When::Editing,
        "delete-word-before",
        &["ctrl+w", "alt+backspace"],
        Action::Edit(Edit::BackspaceWord),
        "delete the word before",
    ),
    bind(When::Editing, "delete-word-after", &["alt+d"], Action::Edit(Edit::DeleteWord), "delete the word after"),
    bind(
        When::Editing,
        "delete-to-start",
        &["ctrl+u"],
        Action::Edit(Edit::KillToStart),
        "delete to the start of the line",
    ),
    bind(When::Editing, "delete-to-end", &["ctrl+k"], Action::Edit(Edit::KillToEnd), "delete to the end of the line"),
    bind(When::Editing, "put-back", &["ctrl+y"], Action::Edit(Edit::Yank), "put back what was deleted"),
    bind(When::Editing, "undo", &["ctrl+_", "ctrl+-", "alt+u"], Action::Edit(Edit::Undo), "undo"),
    bind(When::Editing, "redo", &["alt+r"], Action::Edit(Edit::Redo), "redo"),
    bind(When::Writing, "history", &["ctrl+r"], Action::SearchHistory, "search what you sent, in every Task"),
    bind(When::Writing, "files", &["alt+o"], Action::PickFile, "name a file; also `@`"),
    bind(When::Writing, "edit-outside", &["ctrl+g"], Action::EditOutside, "write in $VISUAL or $EDITOR"),
    bind(When::Writing, "expand-paste", &["alt+e"], Action::ExpandPaste, "show what was pasted"),
    bind(When::WritingSomething, "clear", &["ctrl+c"], Action::ClearComposer, "with text: clear it"),
    bind(When::WritingNothing, "quit", &["ctrl+d"], Action::Quit, "without text: quit"),
    bind(When::WritingAside, "leave", &["esc"], Action::LeavePurpose, "leave it as it was"),
    bind(When::Working, "interrupt", &["esc"], Action::Interrupt, "stop the current step"),
    bind(When::Always, "ask-to-quit", &["ctrl+c"], Action::AskToQuit, "quit, when pressed twice; the work goes on"),
    bind(When::QuitAsked, "quit", &["ctrl+c"], Action::Quit, "after that: quit"),
    bind(When::Always, "suspend", &["ctrl+z"], Action::Suspend, "put the screen to sleep"),
];
