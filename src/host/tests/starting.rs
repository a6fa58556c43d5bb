//! Hosts as processes of their own, started on demand.

use super::*;
use crate::host::start::start_with;
use rustix::process::{Pid, Signal, getsid, kill_process};
use std::ffi::OsStr;
use std::path::Path;

const PATIENCE: Duration = Duration::from_secs(10);

/// Not a test of its own: the host that the others start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is a host for other tests"]
async fn plays_the_host() {
    println!(); // The test harness has begun a line.
    let path = std::env::args().next_back().expect("a folder");
    let home = Home::prepare(Path::new(&path)).expect("a home");
    let lock = match HostLock::acquire(&home) {
        Ok(lock) => lock,
        Err(HostError::Busy { .. }) => return Ready::Starter.busy(),
        Err(error) => panic!("{error}"),
    };
    let options = Options { grace: Duration::from_millis(200) };
    let coordinator = start_coordinator(&home).await;
    serve(coordinator, lock, Address::of(&home), Ready::Starter, options).await.expect("ended in peace");
}

async fn connect_or_start(home: &Home) -> Result<(Client, Pushes), HostError> {
    let program = std::env::current_exe().expect("ourselves");
    let name = "host::tests::starting::plays_the_host";
    let arguments = [name, "--exact", "--ignored", "--nocapture"].map(OsStr::new);
    let arguments: Vec<_> = arguments.into_iter().chain([home.path().as_os_str()]).collect();
    start_with(home, &program, &arguments, Hello::new(None)?, PATIENCE).await
}

fn scratch_home() -> (tempfile::TempDir, Home) {
    let scratch = tempfile::tempdir().expect("a folder");
    let home = Home::prepare(scratch.path()).expect("a home");
    (scratch, home)
}

fn pid(client: &Client) -> Pid {
    Pid::from_raw(client.welcome().pid.cast_signed()).expect("a number")
}

#[tokio::test]
async fn a_host_is_started_on_demand_in_a_session_of_its_own_with_nothing_of_ours() {
    let (_scratch, home) = scratch_home();
    let _alone = crate::process::INHERITABLE.lock().await;
    let given = std::fs::File::open("/dev/zero").expect("opened");
    rustix::io::fcntl_setfd(&given, rustix::io::FdFlags::empty()).expect("as if we had been given it");
    let (client, _pushes) = connect_or_start(&home).await.expect("started");
    let host = pid(&client);
    assert_ne!(client.welcome().pid, std::process::id());
    assert_eq!(getsid(Some(host)), Ok(host));
    #[cfg(target_os = "linux")]
    {
        let proc = format!("/proc/{}", host.as_raw_pid());
        let link = |name: &str| std::fs::read_link(format!("{proc}/{name}")).expect("a link");
        assert_eq!(link("cwd"), home.path());
        for standard in ["fd/0", "fd/1", "fd/2"] {
            assert_eq!(link(standard), Path::new("/dev/null"));
        }
        let open = std::fs::read_dir(format!("{proc}/fd")).expect("its descriptors");
        let open: Vec<_> = open.flatten().filter_map(|fd| std::fs::read_link(fd.path()).ok()).collect();
        assert!(!open.iter().any(|target| target == Path::new("/dev/zero")), "{open:?}");
    }
}

#[tokio::test]
async fn all_who_come_at_once_find_the_same_host() {
    let (_scratch, home) = scratch_home();
    let comers = (0..6).map(|_| connect_or_start(&home));
    let connected: Vec<_> = futures_util::future::join_all(comers).await;
    let connected: Vec<_> = connected.into_iter().map(|one| one.expect("connected")).collect();
    let first = connected[0].0.welcome().pid;
    assert!(connected.iter().all(|(client, _)| client.welcome().pid == first));
}

#[tokio::test]
async fn a_host_that_was_killed_is_followed_by_another() {
    let (_scratch, home) = scratch_home();
    let (client, mut pushes) = connect_or_start(&home).await.expect("started");
    kill_process(pid(&client), Signal::KILL).expect("killed");
    assert_eq!(pushes.next().await, None);
    let (next, _pushes) = connect_or_start(&home).await.expect("started again");
    assert_ne!(pid(&next), pid(&client));
    make_task(&next).await;
}

#[tokio::test]
async fn clients_that_come_while_a_host_leaves_find_the_next_one() {
    let (_scratch, home) = scratch_home();
    for _ in 0..5 {
        let (client, pushes) = connect_or_start(&home).await.expect("started");
        client.stop_host().await.expect("agreed");
        // It is still on its way out.
        let (next, _pushes) = connect_or_start(&home).await.expect("started again");
        assert_ne!(pid(&next), pid(&client));
        drop((client, pushes));
        next.stop_host().await.expect("agreed");
    }
}

#[tokio::test]
async fn a_signal_ends_a_host_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let (_scratch, home) = scratch_home();
        let (client, mut pushes) = connect_or_start(&home).await.expect("started");
        kill_process(pid(&client), signal).expect("signalled");
        assert_eq!(pushes.next().await, None);
        assert!(!Address::of(&home).path().exists());
        HostLock::acquire(&home).expect("the lock is free");
    }
}

#[tokio::test]
async fn a_host_that_does_not_come_up_leaves_its_words() {
    let (_scratch, home) = scratch_home();
    let script = "echo 'error: the database is damaged' >&2; echo 'hint: run cowork doctor' >&2; exit 1";
    let arguments = ["-c", script].map(OsStr::new);
    let hello = Hello::new(None).expect("ids");
    let failed = start_with(&home, Path::new("/bin/sh"), &arguments, hello, PATIENCE).await;
    let error = failed.err().expect("it did not start").to_string();
    assert!(error.contains("database is damaged") && error.contains("cowork doctor"), "{error}");
}

#[tokio::test]
async fn a_host_out_of_reach_is_said_to_be_so_in_time() {
    let (_scratch, home) = scratch_home();
    let _held = HostLock::acquire(&home).expect("free");
    let hello = Hello::new(None).expect("ids");
    let arguments = ["-c", "echo busy"].map(OsStr::new);
    let patience = Duration::from_millis(100);
    let failed = start_with(&home, Path::new("/bin/sh"), &arguments, hello, patience).await;
    match failed.err() {
        Some(error @ HostError::NoAnswer { .. }) => {
            let kill = format!("kill {}", std::process::id());
            assert!(error.to_string().contains(&kill), "{error}");
        }
        other => panic!("not out of reach: {other:?}"),
    }
}
