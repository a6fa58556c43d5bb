//! Named points at which a debug build can be told to die, to show that nothing is lost there.
//!
//! `COWORK_CRASH_AT=NAME` dies at the first passing of the point, `NAME:3` at the third. A release
//! build has no such points.

/// Every point, in the order of the write path and the loop.
pub const POINTS: &[&str] = &[
    "store.decided",
    "store.projected",
    "store.before_commit",
    "store.after_commit",
    "loop.turn_begun",
    "loop.streaming",
    "loop.turn_received",
    "loop.turn_committed",
    "loop.tool_planned",
    "loop.tool_started",
    "loop.tool_done",
    "loop.tool_settled",
    "loop.before_end",
    "loop.ended",
    "tools.before_rename",
    "tools.after_rename",
    "runtime.taken_over",
    "runtime.started",
];

/// The points of a Job's life, passed only where there is one.
pub const JOB_POINTS: &[&str] = &["jobs.before_start", "jobs.after_start", "jobs.before_settled", "jobs.settled"];

/// The points of what a call runs, passed only where one does.
pub const CALL_POINTS: &[&str] = &["calls.before_start", "calls.started"];

/// The points at which what a call runs becomes a Job.
pub const KEEP_POINTS: &[&str] = &["calls.before_kept", "calls.kept"];

/// The points between what a file holds and what its Resource holds, passed only where one is tied to the other.
pub const MIRROR_POINTS: &[&str] =
    &["mirrors.before_take", "mirrors.taken", "mirrors.before_write", "mirrors.written", "mirrors.recorded"];

/// The points of an edit that an engine is asked for.
pub const ENGINE_POINTS: &[&str] = &["engines.asked", "engines.answered", "engines.concluded"];

/// The point at which the screen panics instead, before each frame it draws.
pub const PANIC_OF_SCREEN: &str = "screen.panic";

/// Dies here, as if by `kill -9`, when told to.
#[cfg(debug_assertions)]
pub fn point(name: &'static str) {
    let listed = [POINTS, JOB_POINTS, CALL_POINTS, KEEP_POINTS, MIRROR_POINTS, ENGINE_POINTS].concat();
    debug_assert!(listed.contains(&name), "an unlisted crash point: {name}");
    if is_wanted(name) {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    }
}

/// Panics here, when told to.
#[cfg(debug_assertions)]
pub fn panic_of_screen() {
    if is_wanted(PANIC_OF_SCREEN) {
        panic!("told to panic by COWORK_CRASH_AT");
    }
}

/// Whether this passing of a point is the one at which to die.
#[cfg(debug_assertions)]
fn is_wanted(name: &'static str) -> bool {
    use std::collections::HashMap;
    use std::sync::{Mutex, OnceLock};
    static WANTED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: Mutex<Option<HashMap<&'static str, u32>>> = Mutex::new(None);
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("COWORK_CRASH_AT").ok()?;
        let (name, count) = text.split_once(':').unwrap_or((&text, "1"));
        Some((name.to_owned(), count.parse().unwrap_or(1)))
    });
    let Some((_, count)) = wanted.as_ref().filter(|(target, _)| target == name) else { return false };
    let Ok(mut passed) = PASSED.lock() else { return false };
    let times = passed.get_or_insert_with(HashMap::new).entry(name).or_insert(0);
    *times += 1;
    *times == *count
}

/// A release build has no such points.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point(_name: &'static str) {}

/// A release build has no such points.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn panic_of_screen() {}
