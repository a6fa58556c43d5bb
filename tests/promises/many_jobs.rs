//! Bad days of Jobs, through the host: many at once, one that floods, a log that is taken away.

use crate::support::attached::Attached;
use crate::support::home::Home;
use crate::support::watch::eventually;
use serde_json::json;

/// Starts a line for the shell over a connection of its own, which costs no process.
fn start(attached: &mut Attached, home: &Home, line: &str) -> String {
    let definition = json!({
        "command": {"shell": line}, "cwd": home.work(), "terminal": true, "role": "work"
    });
    let wanted = json!({"do": "job", "deed": {"deed": "start", "task": null, "definition": definition}});
    let answer = attached.submit(&wanted);
    let id = answer.pointer("/receipt/job").or_else(|| answer.pointer("/accepted/job"));
    id.and_then(|id| id.as_str()).unwrap_or_else(|| panic!("no Job: {answer}")).to_owned()
}

/// A host that stays, for somebody is attached.
fn stay(home: &Home) -> Attached {
    home.ok(["new", "many"]);
    let id = home.ok(["jobs", "start", "--", "sleep 600 "]).trim().to_owned();
    let attached = Attached::to(home, "n_many0000");
    home.ok(["jobs", "stop", "--grace", "0s", &id]);
    eventually("it has ended", || home.json(["jobs", "ls"]).is_empty());
    home.ok(["jobs", "rm", &id]);
    attached
}

/// What the host holds open.
fn descriptors(home: &Home) -> Vec<String> {
    let folder = format!("/proc/{}/fd", home.host().expect("a host").pid);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(std::fs::read_link(entry.path()).ok()?.to_string_lossy().into_owned())).collect()
}

#[test]
fn two_hundred_jobs_at_once_each_end_as_they_did_and_leave_nothing_behind() {
    let home = Home::new();
    let mut attached = stay(&home);
    let before = descriptors(&home);
    // More of them where that is asked for, in rounds of as many.
    let wanted: usize = std::env::var("COWORK_MANY_JOBS").ok().and_then(|many| many.parse().ok()).unwrap_or(200);
    for _ in 0..wanted.div_ceil(200) {
        home.write("go", "");
        let ids: Vec<String> = (0..200)
            .map(|number| {
                let line = format!("echo {number}; while [ -e go ]; do sleep 0.5; done; exit {}", number % 100);
                start(&mut attached, &home, &line)
            })
            .collect();
        eventually("all of them run", || {
            let jobs = home.json(["jobs", "ls"]);
            jobs.len() == 200 && jobs.iter().all(|job| job["state"] == "running")
        });
        std::fs::remove_file(home.work().join("go")).expect("removed");
        eventually("all of them have ended", || home.json(["jobs", "ls"]).is_empty());
        let jobs = home.json(["jobs", "ls", "--all"]);
        for (number, id) in ids.iter().enumerate() {
            let job = jobs.iter().find(|job| job["id"] == id.as_str()).expect("listed");
            assert_eq!(job["exit_code"], number % 100, "{job}");
            let deed = json!({"do": "job", "deed": {"deed": "remove", "job": id}});
            attached.submit(&deed);
        }
        eventually("their folders are gone", || {
            std::fs::read_dir(home.state().join("jobs")).expect("read").next().is_none()
        });
    }
    // The database is opened by a few readers at the most, and when they are needed.
    let others = |held: &[String]| held.iter().filter(|name| !name.contains("cowork.db")).count();
    let after = descriptors(&home);
    assert!(others(&after) <= others(&before), "held before: {before:#?}\nafter: {after:#?}");
    assert!(after.len() < 60, "{after:#?}");
    assert!(home.processes().iter().all(|process| !process.arguments.iter().any(|word| word == "shim")));
    home.assert_sound();
}

#[test]
fn while_one_job_floods_keys_are_taken_and_the_log_of_another_goes_on() {
    let home = Home::new();
    home.configure("[jobs]\nlog_megabytes = 20\n");
    let flood = home.ok(["jobs", "start", "--name", "flood", "--", "yes flooding everything "]).trim().to_owned();
    let tick = home.ok(["jobs", "start", "--name", "tick", "--", "while :; do date +%s%N; sleep 0.05; done"]);
    let tick = tick.trim();
    let mut screen = home.terminal::<&str>([], 120, 36);
    screen.send(b"\x1b4").wait_for("flood");
    let printed = |id: &str| home.json(["jobs", "show", id])[0]["log_bytes"].as_u64().expect("a size");
    let (before, flooded) = (printed(tick), printed(&flood));
    screen.send(b"\x1b1").type_words("typed while it floods").wait_for("typed while it floods");
    eventually("the other one's log goes on", || printed(tick) > before + 200);
    eventually("and the flood with it", || printed(&flood) > flooded + 100_000_000);
    screen.type_words(" and after").wait_for("typed while it floods and after");
    let kept: u64 = std::fs::read_dir(home.state().join("jobs").join(&flood))
        .expect("read")
        .map(|entry| entry.expect("read").metadata().map_or(0, |meta| meta.len()))
        .sum();
    assert!(kept < 30_000_000, "{kept} bytes are kept, and not more than was said");
    for id in [&flood, tick] {
        home.ok(["jobs", "stop", "--grace", "100ms", id]);
    }
    home.assert_sound();
}

#[test]
fn a_log_that_is_taken_away_is_said_in_its_place_and_goes_on() {
    let home = Home::new();
    let id = home.ok(["jobs", "start", "--", "while :; do echo tick; sleep 0.05; done"]).trim().to_owned();
    let log = home.state().join("jobs").join(&id).join("output.log");
    eventually("it has printed", || log.metadata().is_ok_and(|meta| meta.len() > 20));
    std::fs::remove_file(&log).expect("removed");
    eventually("that is said, and it goes on", || {
        let told = home.ok(["jobs", "logs", &id]);
        told.contains("removed or cut by somebody else") && told.trim_end().ends_with("tick")
    });
    assert_eq!(home.json(["jobs", "show", &id])[0]["state"], "running");
    home.ok(["jobs", "stop", "--grace", "100ms", &id]);
    home.assert_sound();
}
