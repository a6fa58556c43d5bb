//! Many Jobs: at once, and one after the other.

use crate::world::*;
use coworkos::jobs::{Doubt, End, Outcome};

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("read").count()
}

fn shims_below(world: &World) -> usize {
    let path = world.path().to_string_lossy().into_owned();
    std::fs::read_dir("/proc")
        .expect("read")
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|line| {
            let line = String::from_utf8_lossy(line);
            line.contains("shim") && line.contains(&path)
        })
        .count()
}

#[test]
fn two_hundred_jobs_at_once_each_have_their_own_end() {
    let world = World::new();
    let jobs: Vec<Job> =
        (0..200).map(|number| world.run(&format!("read x; echo {number}; exit {}", number % 100))).collect();
    assert_eq!(shims_below(&world), 200);
    let resident: u64 = jobs.iter().map(|job| memory(job.record().shim.pid, "smaps_rollup", "Pss")).sum();
    println!("200 quiet shims: {} kB each (proportional)", resident / 200);
    for job in &jobs {
        job.control().send(b"\n").expect("sent");
    }
    for (number, job) in jobs.iter().enumerate() {
        assert_eq!(job.end().end, End::Exited { code: (number % 100) as i32 });
        assert!(job.text().ends_with(&format!("{number}\r\n")), "{:?}", job.text());
    }
    eventually("no shim is left", || shims_below(&world) == 0);
}

#[test]
fn a_thousand_short_jobs_in_a_row_leave_nothing_behind() {
    let world = World::new();
    let short = |number: u32| {
        let job = world.run(&format!("exit {}", number % 7));
        assert_eq!(job.end().end, End::Exited { code: (number % 7) as i32 });
        coworkos::jobs::start::remove(&job.folder).expect("removed");
        assert!(matches!(job.outcome(), Outcome::Uncertain { doubt: Doubt::NeverClaimed, .. }));
    };
    short(0);
    let before = descriptors();
    (1..1000).for_each(short);
    assert!(descriptors() <= before, "{before} descriptors, then {}", descriptors());
    assert_eq!(std::fs::read_dir(world.path().join("jobs")).expect("read").count(), 0);
    eventually("no shim is left", || shims_below(&world) == 0);
}

#[test]
fn a_shim_is_small() {
    let world = World::new();
    let job = world.run("read x");
    let pid = job.record().shim.pid;
    job.control().status().expect("answered");
    let (rss, own) = (memory(pid, "status", "VmRSS"), memory(pid, "smaps_rollup", "Private_Dirty"));
    let threads = memory(pid, "status", "Threads");
    println!("a quiet shim: {rss} kB resident, {own} kB of its own, {threads} threads");
    assert_eq!(threads, 2);
    // The program itself is shared by all shims. Without optimisation its tables of addresses, which
    // are each process's own, are larger than everything else.
    let most = if cfg!(debug_assertions) { 10 } else { 5 };
    assert!(own < most * 1024, "{own} kB");
}
