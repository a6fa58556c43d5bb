//! Subagents, the Inbox, and a Contribution or a message read whole.

use super::super::{Binding, When, bind};
use crate::tui::action::{Action, Step};
use crate::tui::agents::AgentsAct;
use crate::tui::inbox::InboxAct;
use crate::tui::paper::PaperAct;
use crate::tui::picker::Wish;

pub(super) static KEYS: &[Binding] = &[
    bind(When::Trajectory, "leave-subagent", &["esc"], Action::Agents(AgentsAct::Leave), "back to Main"),
    bind(When::Subagents, "subagent-up", &["up", "k"], Action::Agents(AgentsAct::Choose(Step::Up)), "Subagent above"),
    bind(
        When::Subagents,
        "subagent-down",
        &["down", "j"],
        Action::Agents(AgentsAct::Choose(Step::Down)),
        "Subagent below",
    ),
    bind(When::Subagents, "subagents-page-up", &["pgup"], Action::Agents(AgentsAct::Choose(Step::PageUp)), "page up"),
    bind(
        When::Subagents,
        "subagents-page-down",
        &["pgdn"],
        Action::Agents(AgentsAct::Choose(Step::PageDown)),
        "page down",
    ),
    bind(When::Subagents, "read-subagent", &["enter", "l"], Action::Agents(AgentsAct::Read), "read what it does"),
    bind(When::Subagents, "guide", &["g"], Action::Agents(AgentsAct::Guide), "say something to it; Main is told"),
    bind(When::Subagents, "decide", &["d"], Action::Agents(AgentsAct::Decide), "decide what it asks"),
    bind(
        When::Subagents,
        "stop-subagent",
        &["s"],
        Action::Agents(AgentsAct::Cancel),
        "stop it and those it gave work to, when pressed twice",
    ),
    bind(
        When::Subagents,
        "contribution",
        &["c", "o"],
        Action::Agents(AgentsAct::Contribution),
        "what it brought, whole, with its evidence",
    ),
    bind(When::Subagents, "accept-contribution", &["y"], Action::Agents(AgentsAct::Accept), "accept what it brought"),
    bind(
        When::Subagents,
        "send-contribution-back",
        &["r"],
        Action::Agents(AgentsAct::SendBack),
        "send it back: the same Subagent works on it again",
    ),
    bind(
        When::Subagents,
        "refuse-contribution",
        &["n"],
        Action::Agents(AgentsAct::Refuse),
        "refuse what it brought, when pressed twice",
    ),
    bind(When::Inbox, "message-up", &["up", "k"], Action::Inbox(InboxAct::Choose(Step::Up)), "message above"),
    bind(When::Inbox, "message-down", &["down", "j"], Action::Inbox(InboxAct::Choose(Step::Down)), "message below"),
    bind(When::Inbox, "inbox-page-up", &["pgup"], Action::Inbox(InboxAct::Choose(Step::PageUp)), "page up"),
    bind(When::Inbox, "inbox-page-down", &["pgdn"], Action::Inbox(InboxAct::Choose(Step::PageDown)), "page down"),
    bind(When::Inbox, "open-message", &["enter", "l"], Action::Inbox(InboxAct::Open), "open it whole"),
    bind(When::Inbox, "answer-message", &["a", "d"], Action::Inbox(InboxAct::Answer), "decide what it asks"),
    bind(When::Inbox, "message-in-chat", &["t"], Action::Inbox(InboxAct::GoTo), "go to where it was answered"),
    bind(When::Inbox, "filter-inbox", &["/", "f"], Action::Ask(Wish::FilterInbox), "show only some messages"),
    bind(When::Paper, "paper-up", &["up", "k"], Action::Paper(PaperAct::Scroll(Step::Up)), "line up"),
    bind(When::Paper, "paper-down", &["down", "j"], Action::Paper(PaperAct::Scroll(Step::Down)), "line down"),
    bind(When::Paper, "paper-page-up", &["pgup"], Action::Paper(PaperAct::Scroll(Step::PageUp)), "page up"),
    bind(
        When::Paper,
        "paper-page-down",
        &["pgdn", "space"],
        Action::Paper(PaperAct::Scroll(Step::PageDown)),
        "page down",
    ),
    bind(
        When::Paper,
        "reference-up",
        &["left", "shift+tab"],
        Action::Paper(PaperAct::Choose(Step::Up)),
        "reference before",
    ),
    bind(
        When::Paper,
        "reference-down",
        &["right", "tab"],
        Action::Paper(PaperAct::Choose(Step::Down)),
        "next reference",
    ),
    bind(When::Paper, "look-at-reference", &["enter", "o"], Action::Paper(PaperAct::Look), "look at the chosen file"),
    bind(When::Paper, "answer-paper", &["a", "d"], Action::Paper(PaperAct::Answer), "decide what it asks"),
    bind(When::Paper, "paper-in-chat", &["t"], Action::Paper(PaperAct::GoTo), "go to where it was answered"),
    bind(When::Paper, "accept-paper", &["y"], Action::Paper(PaperAct::Accept), "accept the Contribution"),
    bind(When::Paper, "send-paper-back", &["r"], Action::Paper(PaperAct::SendBack), "send the Contribution back"),
    bind(When::Paper, "leave-paper", &["esc", "q"], Action::Paper(PaperAct::Leave), "back"),
];
