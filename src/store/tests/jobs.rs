//! Jobs in the store: asked for once, ended once, told once; and a file of the first schema.

use super::*;
use crate::domain::command::{JobDeed, JobReport};

pub(super) fn definition(line: &str) -> JobDefinition {
    JobDefinition {
        name: String::new(),
        command: JobCommand::Shell(line.into()),
        cwd: "/w".into(),
        terminal: true,
        role: JobRole::Work,
        watch: vec!["ready".into()],
        levels: JobLevels { silence_ms: Some(5), reaction: Some(JobReaction::Restart), ..JobLevels::default() },
    }
}

pub(super) fn process() -> JobProcess {
    JobProcess { pid: 10, pid_start: 1, shim_pid: 9, shim_start: 1, boot_id: "b".into(), started_at: 1_000_000 }
}

pub(super) fn end(evidence: JobEvidence) -> JobEnd {
    JobEnd {
        exit_code: None,
        signal: None,
        evidence,
        reason: Some("because".into()),
        log_bytes: 12,
        last_output_at: Some(1_000_001),
        last_line: Some("done".into()),
        ended_at: 1_000_002,
    }
}

fn exited(code: i32) -> JobReport {
    let end = JobEnd { exit_code: Some(code), ..end(JobEvidence::ExitRecord) };
    JobReport::Ended { state: JobState::Exited, end }
}

/// Something that is done with Jobs, or found out about one, made out of what stands.
pub(super) fn next_command(s: &Snapshot, task: &TaskId, bits: u64) -> Command {
    let jobs: Vec<&Job> = s.jobs.values().collect();
    let picked = jobs.get((bits >> 16) as usize % jobs.len().max(1)).map(|job| (*job).clone());
    let Some(job) = picked.filter(|_| !bits.is_multiple_of(3)) else {
        let task = (bits & 64 == 0).then(|| task.clone());
        return UserCommand::Job { deed: JobDeed::Start { task, definition: Box::new(definition("make")) } }.into();
    };
    let id = job.id;
    let report = |report| SystemCommand::Job { job: id.clone(), report }.into();
    let deed = |deed| UserCommand::Job { deed }.into();
    match (bits >> 24) % 11 {
        10 => report(JobReport::Breached {
            breach: ["silence", "deadline"][(bits % 2) as usize].into(),
            text: "too long".into(),
        }),
        0 | 1 => report(JobReport::Started { process: process() }),
        2 => report(JobReport::Orphaned { note: "alone".into() }),
        3 => report(JobReport::Matched {
            from: job.matched_through,
            through: job.matched_through + 7,
            count: bits % 3,
            line: "ready".into(),
        }),
        4 => report(exited((bits % 2) as i32)),
        5 => report(JobReport::Ended {
            state: JobState::Uncertain,
            end: end([JobEvidence::BootChanged, JobEvidence::GoneWithoutRecord][(bits % 2) as usize]),
        }),
        6 => deed(JobDeed::Stop { job: id, grace_ms: 5 }),
        7 => deed(JobDeed::Restart { job: id, grace_ms: 5 }),
        8 => deed(JobDeed::Send { job: id, text: "y\n".into(), close: false }),
        _ => deed(JobDeed::Remove { job: id }),
    }
}

fn start(bench: &mut Bench, task: Option<&TaskId>) -> JobId {
    let deed = JobDeed::Start { task: task.cloned(), definition: Box::new(definition("make")) };
    bench.submit(UserCommand::Job { deed }).expect("started").receipt.job.expect("a Job")
}

fn report(bench: &mut Bench, job: &JobId, report: JobReport) -> Result<Committed, Rejection> {
    bench.submit(SystemCommand::Job { job: job.clone(), report })
}

/// A Task whose Main has given its answer.
fn answered(bench: &mut Bench) -> TaskId {
    let id = bench.create("full");
    for bits in [3, 3, 3, 3, 3, 3] {
        let everything = bench.everything();
        if everything.tasks[&id].status == TaskStatus::Completed {
            break;
        }
        let command = work(&everything, &everything.tasks[&id], bits * 7 + 4);
        let _ = bench.submit(command);
    }
    id
}

fn messages(bench: &Bench, job: &JobId) -> Vec<Message> {
    let key = format!("job:{job}:terminal");
    bench.everything().messages.into_values().filter(|message| message.key == key).collect()
}

#[test]
fn an_end_is_recorded_and_told_once_however_often_it_is_found() {
    let mut bench = Bench::new();
    let task = answered(&mut bench);
    assert_eq!(bench.everything().tasks[&task].status, TaskStatus::Completed);
    let job = start(&mut bench, Some(&task));
    assert_eq!(bench.everything().tasks[&task].status, TaskStatus::Parked, "a Task waits for its work");
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    report(&mut bench, &job, exited(7)).expect("recorded");
    for other in [exited(0), JobReport::Ended { state: JobState::Uncertain, end: end(JobEvidence::BootChanged) }] {
        report(&mut bench, &job, other).expect_err("what has ended stays as it ended");
    }
    let mut bench = bench.reopen();
    report(&mut bench, &job, exited(0)).expect_err("also for the next host");
    let kept = bench.everything().jobs[&job].clone();
    assert_eq!((kept.state, kept.end.expect("ended").exit_code), (JobState::Exited, Some(7)));
    let told = messages(&bench, &job);
    assert_eq!(told.len(), 1);
    assert!(told[0].text.contains("exited 7") && told[0].kind == MessageKind::Job, "{}", told[0].text);
    let due: Vec<AgentId> = bench.store.due().expect("read").into_iter().map(|due| due.agent).collect();
    assert_eq!(due, [bench.main(&task)], "it wakes Main");
    bench.check();
}

#[test]
fn what_a_restart_of_the_machine_cut_leaves_a_notice_and_wakes_nobody() {
    let mut bench = Bench::new();
    let task = answered(&mut bench);
    let job = start(&mut bench, Some(&task));
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    let gone = JobReport::Ended { state: JobState::Uncertain, end: end(JobEvidence::BootChanged) };
    report(&mut bench, &job, gone).expect("recorded");
    assert_eq!(messages(&bench, &job).len(), 1);
    assert_eq!(bench.store.due().expect("read"), []);
    assert_eq!(bench.everything().tasks[&task].status, TaskStatus::Parked);
    bench.check();
}

#[test]
fn a_job_that_is_to_be_restarted_is_started_again_when_it_has_ended_and_once() {
    let mut bench = Bench::new();
    let job = start(&mut bench, None);
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    bench.submit(UserCommand::Job { deed: JobDeed::Restart { job: job.clone(), grace_ms: 1 } }).expect("told");
    assert_eq!(bench.everything().jobs[&job].state, JobState::Stopping);
    let signaled = JobEnd { signal: Some(15), ..end(JobEvidence::ExitRecord) };
    report(&mut bench, &job, JobReport::Ended { state: JobState::Signaled, end: signaled }).expect("recorded");
    let jobs = bench.everything().jobs;
    assert_eq!(jobs.len(), 2);
    let again = jobs.values().find(|other| other.id != job).expect("another");
    assert_eq!((again.state, &again.definition), (JobState::Starting, &jobs[&job].definition));
    bench.check();
}

#[test]
fn a_match_is_told_once_and_only_where_the_last_look_ended() {
    let mut bench = Bench::new();
    let task = bench.create("full");
    let job = start(&mut bench, Some(&task));
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    let matched = |from, through| JobReport::Matched { from, through, count: 2, line: "ready at :80".into() };
    report(&mut bench, &job, matched(0, 40)).expect("recorded");
    report(&mut bench, &job, matched(0, 40)).expect_err("that was looked through");
    report(&mut bench, &job, matched(40, 90)).expect("recorded");
    let told = bench.everything().messages.into_values().filter(|message| message.key.contains(":match:")).count();
    assert_eq!(told, 2);
    bench.check();
}

#[test]
fn a_cancelled_task_tells_its_jobs_to_end_and_one_with_live_jobs_is_not_removed() {
    let mut bench = Bench::new();
    let task = bench.create("full");
    let job = start(&mut bench, Some(&task));
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    bench.submit(UserCommand::Cancel { task: task.clone() }).expect("cancelled");
    assert_eq!(bench.everything().jobs[&job].state, JobState::Stopping);
    bench.submit(UserCommand::Remove { task: task.clone() }).expect_err("its Job still runs");
    report(&mut bench, &job, exited(0)).expect("recorded");
    bench.submit(UserCommand::Remove { task }).expect("removed");
    assert_eq!(bench.everything().jobs.len(), 0);
    bench.check();
}

#[test]
fn what_is_no_definition_is_refused() {
    let mut bench = Bench::new();
    let bad = [
        JobDefinition { command: JobCommand::Shell("  ".into()), ..definition("") },
        JobDefinition { command: JobCommand::Program(vec![]), ..definition("") },
        JobDefinition { command: JobCommand::Shell("a\0b".into()), ..definition("") },
        JobDefinition { cwd: "here".into(), ..definition("make") },
        JobDefinition { watch: vec!["(".into()], ..definition("make") },
    ];
    for definition in bad {
        let deed = JobDeed::Start { task: None, definition: Box::new(definition) };
        let rejection = bench.submit(UserCommand::Job { deed: deed.clone() }).expect_err("refused");
        assert_eq!(rejection.kind, RejectionKind::Invalid, "{deed:?}");
    }
}

#[test]
fn a_file_of_the_first_schema_is_brought_up_to_date_with_everything_in_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("cowork.db");
    let first = rusqlite::Connection::open(&path).expect("made");
    first
        .execute_batch(&format!(
            "PRAGMA application_id = 1129271115; {} PRAGMA user_version = 1;
             INSERT INTO writer_lease (id, fence, holder, host, pid, pid_start, boot_id, acquired_at)
               VALUES (1, 3, 'h', 'm', 1, 1, 'b', 5);
             INSERT INTO actor (id, kind, created_at) VALUES ('person', 'person', 5);",
            include_str!("../schema/0001_core.sql")
        ))
        .expect("the first schema");
    drop(first);
    let mut bench = Bench::at(dir, 0);
    assert_eq!(bench.everything().fence, 4, "what stood in it stands");
    let job = start(&mut bench, None);
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    let Answer::Jobs(jobs) = bench.store.ask(&Query::Jobs { task: None, ended: false }).expect("answered") else {
        panic!("another answer")
    };
    assert_eq!(jobs.iter().map(|view| &view.job.id).collect::<Vec<_>>(), [&job]);
    let needs = bench.store.needs().expect("read");
    assert_eq!(needs.iter().map(|need| need.kind.as_str()).collect::<Vec<_>>(), ["job"]);
}

#[test]
fn a_breach_is_told_once_and_what_was_declared_for_it_is_done_in_the_same_step() {
    let mut bench = Bench::new();
    let task = bench.create("full");
    let job = start(&mut bench, Some(&task));
    report(&mut bench, &job, JobReport::Started { process: process() }).expect("recorded");
    for _ in 0..3 {
        let silent = JobReport::Breached { breach: "silence".into(), text: "it has printed nothing for 9 s".into() };
        report(&mut bench, &job, silent).expect("taken");
    }
    let everything = bench.everything();
    let told: Vec<_> = everything.messages.values().filter(|message| message.key.contains(":breach:")).collect();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].text.contains("printed nothing for 9 s") && told[0].text.contains("started again"),
        "{}",
        told[0].text
    );
    let stood = &everything.jobs[&job];
    assert_eq!((stood.state, stood.stop.map(|stop| stop.restart)), (JobState::Stopping, Some(true)));
    bench.check();
}
