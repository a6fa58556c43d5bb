//! Jobs and their logs.

use super::super::{Binding, When, bind};
use crate::tui::action::{Action, Step};
use crate::tui::jobs::JobsAct;
use crate::tui::picker::Wish;

pub(super) static KEYS: &[Binding] = &[
    bind(When::Jobs, "job-up", &["up", "k"], Action::Jobs(JobsAct::Choose(Step::Up)), "Job above"),
    bind(When::Jobs, "job-down", &["down", "j"], Action::Jobs(JobsAct::Choose(Step::Down)), "Job below"),
    bind(When::Jobs, "job-page-up", &["pgup"], Action::Jobs(JobsAct::Choose(Step::PageUp)), "page up"),
    bind(When::Jobs, "job-page-down", &["pgdn"], Action::Jobs(JobsAct::Choose(Step::PageDown)), "page down"),
    bind(When::Jobs, "read-log", &["enter", "l"], Action::Jobs(JobsAct::Read), "read its log"),
    bind(When::Jobs, "attach", &["a"], Action::Jobs(JobsAct::Attach), "take over its terminal; ctrl+] leaves it"),
    bind(When::Jobs, "find-in-log", &["/"], Action::Ask(Wish::FindInJob), "look for something in its log"),
    bind(When::Jobs, "jump-in-log", &["@"], Action::Ask(Wish::JumpInJob), "go to a time in its log"),
    bind(When::Jobs, "page-log", &["p"], Action::Jobs(JobsAct::Page), "read its whole log in $PAGER"),
    bind(When::Jobs, "copy-log", &["y"], Action::Jobs(JobsAct::Copy), "copy the lines of its log that are here"),
    bind(
        When::Jobs,
        "order-jobs",
        &["o"],
        Action::Jobs(JobsAct::Order),
        "another order: Task, processor, memory, output",
    ),
    bind(When::Jobs, "filter-jobs", &["f"], Action::Ask(Wish::FilterJobs), "only Jobs with some words"),
    bind(When::Jobs, "stop-job", &["s"], Action::Jobs(JobsAct::Stop), "end it, when pressed twice"),
    bind(When::Jobs, "restart-job", &["r"], Action::Jobs(JobsAct::Restart), "start it again, when pressed twice"),
    bind(When::Jobs, "remove-job", &["d"], Action::Jobs(JobsAct::Remove), "take it away, when pressed twice"),
    bind(When::Jobs, "start-job", &["n"], Action::Ask(Wish::StartJob), "run a command in the background"),
    bind(
        When::Jobs,
        "ended-jobs",
        &["e"],
        Action::Jobs(JobsAct::ToggleEnded),
        "show those that have ended too, or not",
    ),
    bind(When::JobLog, "log-up", &["up", "k"], Action::Jobs(JobsAct::Scroll(Step::Up)), "line up"),
    bind(When::JobLog, "log-down", &["down", "j"], Action::Jobs(JobsAct::Scroll(Step::Down)), "line down"),
    bind(When::JobLog, "log-page-up", &["pgup"], Action::Jobs(JobsAct::Scroll(Step::PageUp)), "page up"),
    bind(When::JobLog, "log-page-down", &["pgdn", "space"], Action::Jobs(JobsAct::Scroll(Step::PageDown)), "page down"),
    bind(
        When::JobLog,
        "log-start",
        &["home", "g"],
        Action::Jobs(JobsAct::Scroll(Step::Start)),
        "first line that is here",
    ),
    bind(When::JobLog, "follow-log", &["end", "G", "f"], Action::Jobs(JobsAct::Follow), "follow the end"),
    bind(When::JobLog, "find-in-log", &["/"], Action::Ask(Wish::FindInJob), "only lines with something"),
    bind(When::JobLog, "log-times", &["t"], Action::Jobs(JobsAct::ToggleTimes), "show when lines came, or not"),
    bind(When::JobLog, "wrap-log", &["w"], Action::Jobs(JobsAct::ToggleWrap), "break long lines, or cut them"),
    bind(When::JobLog, "jump-in-log", &["@"], Action::Ask(Wish::JumpInJob), "go to a time"),
    bind(When::JobLog, "page-log", &["p"], Action::Jobs(JobsAct::Page), "read all of it in $PAGER"),
    bind(When::JobLog, "copy-log", &["y"], Action::Jobs(JobsAct::Copy), "copy the lines that are here"),
    bind(When::JobLog, "attach", &["a"], Action::Jobs(JobsAct::Attach), "take over its terminal; ctrl+] leaves it"),
    bind(When::JobLog, "leave-log", &["esc", "q"], Action::Jobs(JobsAct::Leave), "all lines again; the list again"),
];
