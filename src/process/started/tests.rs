//! Real processes: what they get, how they end, and that nothing of them stays.

use super::*;
use tokio::io::AsyncReadExt;

fn shell(line: &str) -> (Started, pipe::Receiver) {
    Started::start(&Spec::shell(line, "/")).expect("a shell starts")
}

async fn first_line(output: &mut pipe::Receiver) -> String {
    let mut line = Vec::new();
    while let Ok(byte) = output.read_u8().await {
        if byte == b'\n' {
            break;
        }
        line.push(byte);
    }
    String::from_utf8_lossy(&line).into_owned()
}

fn is_running(pid: &str) -> bool {
    let pid = pid.parse().ok().and_then(Pid::from_raw).expect("a process number");
    Identity::of(pid).is_ok_and(|identity| identity.is_running())
}

async fn whole((mut started, mut output): (Started, pipe::Receiver)) -> (String, Ended) {
    let mut text = String::new();
    output.read_to_string(&mut text).await.expect("read");
    started.exited().await;
    let ended = started.end(Duration::from_millis(100)).await;
    (text, ended)
}

#[tokio::test]
async fn a_leader_keeps_its_code_and_its_signal() {
    assert_eq!(whole(shell("exit 7")).await.1.exit, Exit::Code(7));
    assert_eq!(whole(shell("kill -9 $$")).await.1.exit, Exit::Signal(9));
    assert_eq!(Exit::Signal(9).to_string(), "signaled 9 (KILL)");
}

#[tokio::test]
async fn a_child_has_its_own_session_no_terminal_no_input_and_no_descriptor_of_ours() {
    let _alone = crate::process::INHERITABLE.lock().await;
    // As if we had been started with a descriptor that is inherited.
    let file = tempfile::tempfile().expect("a file");
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("inheritable");
    let script = "ps -o sid=,pid=,tty= -p $$; read x || echo end of file; ls /proc/$$/fd | tr '\\n' ' '; echo; ls -l /proc/$$/fd";
    let (text, ended) = whole(shell(script)).await;
    let mut lines = text.lines();
    let ids: Vec<&str> = lines.next().expect("ps").split_whitespace().collect();
    assert_eq!(ids[0], ids[1], "it leads its session");
    assert_eq!(ids[2], "?", "no terminal");
    assert_eq!(lines.next(), Some("end of file"));
    let open: Vec<&str> = lines.next().expect("descriptors").split_whitespace().filter(|fd| *fd != "255").collect();
    assert_eq!(open, ["0", "1", "2"], "{text}");
    assert_eq!(ended.exit, Exit::Code(0));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let folder = Started::start(&Spec::program("/bin/true", "/no/such/folder")).err().expect("refused").to_string();
    assert!(folder.contains("/no/such/folder can't be used as the folder"), "{folder}");
    let program = Started::start(&Spec::program("/no/such/program", "/")).err().expect("refused").to_string();
    assert!(program.contains("/no/such/program could not be started"), "{program}");
}

#[tokio::test]
async fn ending_takes_children_that_ignore_term_and_those_that_left_the_group() {
    // With job control a background process gets a group of its own inside the session.
    let (mut started, mut output) =
        shell("trap '' TERM; set -m; sleep 60 & echo $!; set +m; while :; do sleep 60; done");
    let child = first_line(&mut output).await;
    assert!(is_running(&child));
    let leader = started.identity.clone();
    let ended = started.end(Duration::from_millis(100)).await;
    assert_eq!(ended.exit, Exit::Signal(9));
    assert!(!is_running(&child));
    assert!(!leader.is_running());
    assert!(ended.killed.iter().any(|member| member.pid.to_string() == child), "{ended:?}");
    assert_eq!((ended.survivors, ended.strays), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_stopped_process_is_ended_too() {
    let (mut started, mut output) = shell("echo ready; kill -STOP $$");
    first_line(&mut output).await;
    let ended = started.end(Duration::from_secs(5)).await;
    assert!(matches!(ended.exit, Exit::Signal(15) | Exit::Signal(9)), "{ended:?}");
}

#[tokio::test]
async fn a_process_that_left_the_session_is_listed_and_left_alone() {
    let (mut started, mut output) = shell("setsid sh -c 'echo $$; exec sleep 60' & wait");
    let stray = first_line(&mut output).await;
    let ended = started.end(Duration::from_millis(200)).await;
    assert_eq!(ended.strays.iter().map(|member| member.pid.to_string()).collect::<Vec<_>>(), [stray.as_str()]);
    assert!(is_running(&stray));
    let pid = stray.parse().ok().and_then(Pid::from_raw).expect("a number");
    rustix::process::kill_process(pid, Signal::KILL).expect("ours to end");
}

#[tokio::test]
async fn dropping_kills_the_session() {
    let (started, mut output) = shell("sleep 60 & echo $!; wait");
    let child = first_line(&mut output).await;
    let held = session::hold(&session::members(started.leader));
    assert!(!held.is_empty());
    drop(started);
    let gone = tokio::task::spawn_blocking(move || session::wait_until_gone(held, Duration::from_secs(10)));
    gone.await.expect("waited");
    assert!(!is_running(&child));
}

#[tokio::test]
async fn a_number_that_came_to_mean_another_process_is_not_held() {
    let (started, _output) = shell("sleep 60");
    let mut members = session::members(started.leader);
    for member in &mut members {
        member.start_time += 1;
    }
    assert!(session::hold(&members).is_empty());
}
