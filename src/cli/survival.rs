//! What survives what: the one table from which `cowork doctor --survival` and `docs/state.md` are
//! written.
//!
//! A cell stands here only when a promise under `tests/promises` proves it, and names that promise.

use serde::Serialize;
use std::fmt::Write;

/// What becomes of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It is there as it was.
    Kept,
    /// It goes on from where it was.
    Resumed,
    /// It is done once more.
    Rerun,
    /// It is said what is unknown or waited for.
    Reported,
}

impl Fate {
    fn word(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Resumed => "resumed",
            Self::Rerun => "re-run",
            Self::Reported => "reported",
        }
    }
}

/// What can go wrong, in the order of a row's cells.
const DEATHS: [&str; 4] = ["client dies", "host dies", "machine dies", "disk is full"];

/// What can go wrong besides, for what has a shim.
const SHIM_DIES: &str = "shim dies";

/// What becomes of something, in words, and the promise that proves it.
type Proven = (Fate, &'static str, &'static str);

/// One thing, and what becomes of it.
struct Row {
    what: &'static str,
    /// For each of [`DEATHS`].
    cells: [Proven; 4],
    /// When its shim dies, where it has one.
    shim: Option<Proven>,
}

impl Row {
    /// Each death that concerns it, and what becomes of it then.
    fn fates(&self) -> impl Iterator<Item = (&'static str, Proven)> {
        let deaths = DEATHS.into_iter().zip(self.cells);
        deaths.chain(self.shim.map(|proven| (SHIM_DIES, proven)))
    }
}

use Fate::{Kept, Reported, Rerun, Resumed};

const CRASHES: &str = "st_2_a_crash_at_every_point_of_the_write_path_and_the_loop_loses_nothing";
const KILLS: &str = "st_2_the_first_fifty_rounds_of_kill_9_at_random_moments_lose_and_double_nothing";
const CLIENT: &str = "st_2_the_client_killed_leaves_the_work_going_on";
const TOOL_OF_CLIENT: &str = "a_client_that_dies_leaves_a_running_command_and_the_calls_after_it_alone";
const IN_FLIGHT: &str = "st_2_a_command_in_flight_outlives_its_host_and_its_real_result_is_recorded";
const MACHINE: &str = "when_everything_dies_at_once_what_was_said_typed_asked_and_allowed_is_there_again";
const MACHINE_AT_WORK: &str = "when_everything_dies_at_once_a_command_in_flight_is_reported_and_not_run_again";
const MACHINE_AT_FILES: &str =
    "when_everything_dies_at_once_a_look_is_repeated_and_a_write_is_compared_with_what_was_to_be_written";
const STREAM_OF_MACHINE: &str = "st_2_everything_killed_goes_on_when_anything_is_started";
const FULL: &str = "a_full_disk_refuses_plainly_loses_nothing_and_works_again_when_there_is_room";
const FULL_AT_WORK: &str =
    "a_disk_that_fills_while_a_model_works_is_said_at_once_everywhere_and_the_work_goes_on_when_there_is_room";
const FULL_AT_COMMAND: &str = "a_disk_that_fills_while_a_command_runs_keeps_its_result_until_there_is_room";
const FULL_AT_FILES: &str =
    "a_disk_that_fills_before_files_are_written_and_edited_has_that_done_once_when_there_is_room";
const FULL_OPEN: &str = "what_is_kept_when_the_disk_fills_is_there_and_what_is_open_stays_open";

const ROWS: [Row; 8] = [
    Row {
        what: "words that were sent and acknowledged",
        cells: [
            (Kept, "", CLIENT),
            (Kept, "", KILLS),
            (Kept, "", MACHINE),
            (Kept, "new ones are refused before they are acknowledged", FULL),
        ],
        shim: None,
    },
    Row {
        what: "words that were typed and not sent",
        cells: [
            (
                Kept,
                "found at the next terminal that opens the Task",
                "what_was_typed_at_a_terminal_that_is_gone_is_found_at_another_and_what_is_being_typed_is_not",
            ),
            (Kept, "on the screen, which waits for the next host", "what_is_being_typed_outlives_the_host"),
            (Kept, "as they were a moment before", MACHINE),
            (Kept, "as they were before it was full", FULL_OPEN),
        ],
        shim: None,
    },
    Row {
        what: "an answer that is being streamed",
        cells: [
            (Resumed, "it goes on without the screen", CLIENT),
            (
                Rerun,
                "asked for again with the same context",
                "st_2_a_host_killed_in_the_middle_of_a_stream_asks_again_and_exec_goes_on",
            ),
            (Rerun, "asked for again when anything is started", STREAM_OF_MACHINE),
            (Reported, "whole, recorded when there is room; until then every screen says so", FULL_AT_WORK),
        ],
        shim: None,
    },
    Row {
        what: "a call that looks, writes or edits",
        cells: [
            (Resumed, "it goes on without the screen", TOOL_OF_CLIENT),
            (Rerun, "a look is repeated; a file is compared with what was to be written", CRASHES),
            (Rerun, "as when the host dies", MACHINE_AT_FILES),
            (Reported, "done once when there is room; until then every screen says so", FULL_AT_FILES),
        ],
        shim: None,
    },
    Row {
        what: "a shell command that runs",
        cells: [
            (Resumed, "it goes on without the screen", TOOL_OF_CLIENT),
            (Resumed, "it goes on; the next host waits for it, and its real result is recorded", IN_FLIGHT),
            (Reported, "as may have happened; it is not run again", MACHINE_AT_WORK),
            (Reported, "its result waits for room; until then every screen says so", FULL_AT_COMMAND),
        ],
        shim: Some((
            Reported,
            "as may have happened; what was left of it is ended",
            "st_2_a_command_whose_shim_is_killed_too_is_ended_and_reported",
        )),
    },
    Row {
        what: "a Job that runs",
        cells: [
            (
                Resumed,
                "it goes on, and so does its terminal",
                "jb_1_a_terminal_that_is_killed_while_it_is_attached_leaves_the_job_and_its_screen",
            ),
            (
                Resumed,
                "it goes on; the next host finds it, or how it ended",
                "jb_1_a_job_goes_on_when_the_host_is_killed_and_its_true_end_is_found",
            ),
            (
                Reported,
                "as uncertain, never as done; its log stays",
                "jb_7_when_everything_of_ours_is_killed_the_truth_is_found_out_afterwards",
            ),
            (
                Resumed,
                "what it prints meanwhile is missing in its log, which says so there",
                "jb_3_a_disk_that_fills_leaves_a_gap_that_is_said_and_the_true_end",
            ),
        ],
        shim: Some((
            Reported,
            "as uncertain, never as done; what it printed until then stays",
            "jb_7_how_a_job_ended_is_told_as_it_was_and_never_made_up",
        )),
    },
    Row {
        what: "an approval or a question that is open",
        cells: [
            (Kept, "", "where_nobody_is_there_the_question_stays_open_and_nothing_runs"),
            (Kept, "", "an_open_approval_outlives_the_host"),
            (Kept, "", MACHINE),
            (Kept, "", FULL_OPEN),
        ],
        shim: None,
    },
    Row {
        what: "standing rules, trust and budgets",
        cells: [
            (Kept, "", "always_holds_for_exactly_this_in_this_folder"),
            (Kept, "", MACHINE),
            (Kept, "", MACHINE),
            (Kept, "", FULL_OPEN),
        ],
        shim: None,
    },
];

/// One cell, for programs.
#[derive(Debug, Serialize)]
pub struct Cell {
    pub what: &'static str,
    pub when: &'static str,
    pub fate: Fate,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub words: &'static str,
    pub proof: &'static str,
}

/// Every cell, row by row.
pub fn cells() -> impl Iterator<Item = Cell> {
    ROWS.iter().flat_map(|row| {
        row.fates().map(|(when, (fate, words, proof))| Cell { what: row.what, when, fate, words, proof })
    })
}

/// What becomes of it, in words.
fn said(fate: Fate, words: &str) -> String {
    if words.is_empty() { fate.word().to_owned() } else { format!("{}: {words}", fate.word()) }
}

/// The table for a terminal: a paragraph for each thing.
pub fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    for row in &ROWS {
        lines.push(row.what.to_owned());
        for (when, (fate, words, _)) in row.fates() {
            lines.push(format!("  {when:<13} {}", said(fate, words)));
        }
    }
    lines
}

/// The table for the docs, with the promise that proves each cell.
pub fn markdown() -> String {
    let (deaths, columns) = (DEATHS.join(" | "), DEATHS.len() + 1);
    let mut page = format!("| | {deaths} | {SHIM_DIES} |\n|---|{}\n", "---|".repeat(columns));
    for row in &ROWS {
        let cells = row.cells.map(|(fate, words, _)| said(fate, words));
        let shim = row.shim.map_or("it has none".to_owned(), |(fate, words, _)| said(fate, words));
        let _ = writeln!(page, "| {} | {} | {shim} |", row.what, cells.join(" | "));
    }
    page.push_str("\nShown by these tests under `tests/promises`:\n\n");
    for row in &ROWS {
        let _ = writeln!(page, "- {}:", row.what);
        for (when, (_, _, proof)) in row.fates() {
            let _ = writeln!(page, "  - {when}: `{proof}`");
        }
    }
    page
}
