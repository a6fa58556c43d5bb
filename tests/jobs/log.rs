//! What Jobs printed, read while they run and after.

use crate::world::*;
use coworkos::jobs::log::{Line, Lines, Log, Pattern, Search, Stream, shown};
use coworkos::jobs::progress::progress;
use coworkos::jobs::{Input, LogLimits};

fn log(job: &Job) -> Log {
    Log::open(job.folder.path(), Stream::Output).expect("opened")
}

#[test]
fn progress_is_collapsed_for_the_eye_and_kept_in_the_log() {
    let world = World::new();
    let job = world.run("printf '10%%\\r20%%\\r100%%\\n'");
    job.end();
    assert_eq!(job.printed(Stream::Output), b"10%\r20%\r100%\r\n");
    let line = match Lines::new(log(&job), 0).next().expect("a line").expect("read") {
        Line::Text { bytes, .. } => shown(&bytes),
        Line::Gap(gap) => panic!("{gap}"),
    };
    assert_eq!(line, "100%");
    assert_eq!(progress(&line).and_then(|progress| progress.fraction), Some(1.0));
}

#[test]
fn a_time_leads_to_what_was_printed_then() {
    let world = World::new();
    let job = world.run("echo early; read x; echo late; read x");
    job.says("early");
    let started = job.record().started_at;
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970");
        since.as_millis() as i64
    };
    eventually("half a second has passed", || now() > started + 500);
    let middle = now();
    job.control().send(b"\n").expect("sent");
    job.says("late");
    let log = log(&job);
    let from = log.offset_at(middle);
    let mut later = vec![0; (log.end() - from) as usize];
    log.read_all(from, &mut later).expect("read");
    let later = String::from_utf8_lossy(&later).into_owned();
    assert!(later.contains("late") && !later.contains("early"), "{later:?}");
    assert!(log.time_of(0).expect("a time") >= started - 1000);
    assert!(log.time_of(from).expect("a time") >= middle);
}

#[test]
fn a_log_of_several_files_is_one_and_says_what_was_dropped() {
    let world = World::new();
    let mut spec = world.piped("seq -f 'number %.0f of many' 1 200000", Input::Nothing);
    spec.log = LogLimits { keep_bytes: 1 << 20 };
    let job = world.start(&spec);
    let record = job.end();
    let log = log(&job);
    assert_eq!(log.end(), record.log_bytes);
    assert!(log.start() > 0);
    let tail = log.tail(3, u64::MAX).expect("found");
    let mut bytes = vec![0; (log.end() - tail) as usize];
    log.read_all(tail, &mut bytes).expect("read");
    assert_eq!(bytes, b"number 199998 of many\nnumber 199999 of many\nnumber 200000 of many\n");
    let dropped = log.gaps()[0].to_string();
    assert_eq!(dropped, format!("{} bytes before this are no longer kept", log.start()));
    let end = log.end();
    let hits: Vec<_> = Search::new(log, Pattern::Regex(r"number 19\d{2}00 "), 0..end)
        .expect("a pattern")
        .map(|hit| hit.expect("read"))
        .collect();
    assert_eq!(hits.len(), 100);
    assert!(hits.iter().all(|hit| hit.at.is_some()));
}

#[test]
fn t12_one_line_of_22_000_characters_is_kept_and_shown_whole() {
    let world = World::new();
    let job = world.start(&world.piped("head -c 22000 /dev/zero | tr '\\0' x; echo", Input::Nothing));
    job.end();
    let lines: Vec<_> = Lines::new(log(&job), 0).map(|line| line.expect("read")).collect();
    assert!(matches!(&lines[..], [Line::Text { bytes, .. }] if shown(bytes).len() == 22000));
}
