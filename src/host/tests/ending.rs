//! Leaving when nobody needs the host, and ending it.

use super::*;
use crate::host::client::Failure;
use crate::host::start::{Stopped, connect_if_running, stop};
use tokio::task::JoinHandle;

const SHORT: Options = Options { grace: Duration::from_millis(20) };
const NEVER: Options = Options { grace: Duration::from_secs(3600) };

fn run(stage: &Stage, options: Options) -> (Address, JoinHandle<Result<(), HostError>>) {
    let lock = HostLock::acquire(&stage.home).expect("free");
    let address = Address::of(&stage.home);
    let serving = serve(stage.coordinator.clone(), lock, address.clone(), Ready::Nobody, options);
    (address, tokio::spawn(serving))
}

async fn dial(address: &Address) -> (Client, Pushes) {
    loop {
        if let Some(stream) = address.dial().await.expect("nothing wrong") {
            return connect(stream, Hello::new(None).expect("ids")).await.expect("connected");
        }
        tokio::task::yield_now().await;
    }
}

async fn ended(serving: JoinHandle<Result<(), HostError>>) -> Result<(), HostError> {
    tokio::time::timeout(LONG, serving).await.expect("in time").expect("no panic")
}

#[tokio::test]
async fn a_host_that_nobody_needs_leaves_and_takes_its_socket_with_it() {
    let stage = Stage::new().await;
    let (address, serving) = run(&stage, SHORT);
    ended(serving).await.expect("left in peace");
    assert!(!address.path().exists());
    HostLock::acquire(&stage.home).expect("the lock is free");
}

#[tokio::test]
async fn a_host_stays_as_long_as_a_client_is_attached() {
    let stage = Stage::new().await;
    let (address, mut serving) = run(&stage, SHORT);
    let (client, pushes) = dial(&address).await;
    let stays = tokio::time::timeout(SHORT.grace * 10, &mut serving).await;
    assert!(stays.is_err(), "it left although a client was there");
    make_task(&client).await;
    drop((client, pushes));
    ended(serving).await.expect("left in peace");
}

#[tokio::test]
async fn ending_a_host_answers_first_and_its_clients_see_the_end_when_the_lock_is_free() {
    let stage = Stage::new().await;
    let (address, serving) = run(&stage, NEVER);
    let (client, mut pushes) = dial(&address).await;
    let (other, mut others_pushes) = dial(&address).await;
    client.stop_host().await.expect("agreed");
    assert_eq!(pushes.next().await, None);
    HostLock::acquire(&stage.home).expect("the lock is free");
    assert_eq!(others_pushes.next().await, None);
    assert!(matches!(other.ask(Query::Host).await, Err(Failure::Lost(_))));
    ended(serving).await.expect("ended in peace");
}

#[tokio::test]
async fn stop_ends_the_host_that_runs_and_says_when_there_is_none() {
    let stage = Stage::new().await;
    assert_eq!(stop(stage.home.path()).await.expect("no trouble"), Stopped::NoneRan);
    let (address, serving) = run(&stage, NEVER);
    let (_client, _pushes) = dial(&address).await;
    assert_eq!(stop(stage.home.path()).await.expect("no trouble"), Stopped::Ended);
    HostLock::acquire(&stage.home).expect("the lock is free");
    ended(serving).await.expect("ended in peace");
    let none = connect_if_running(stage.home.path(), Hello::new(None).expect("ids")).await.expect("no trouble");
    assert!(none.is_none());
}

#[tokio::test]
async fn a_client_that_never_says_hello_does_not_keep_a_host_that_is_ended() {
    let stage = Stage::new().await;
    let (address, serving) = run(&stage, NEVER);
    let (client, _pushes) = dial(&address).await;
    let _silent = address.dial().await.expect("nothing wrong").expect("connected");
    client.stop_host().await.expect("agreed");
    ended(serving).await.expect("ended in peace");
}

#[tokio::test]
async fn a_host_that_must_not_go_on_ends_with_the_code_that_says_try_again() {
    let stage = Stage::new().await;
    let (address, serving) = run(&stage, NEVER);
    let (client, mut pushes) = dial(&address).await;
    // Another one takes the state over, as only a fault of ours or of the system can bring about.
    let _other = start_coordinator(&stage.home).await;
    let late = client.submit(new_task("too late")).await;
    assert!(late.is_err(), "{late:?}");
    let error = ended(serving).await.expect_err("it had to end");
    assert_eq!(error.exit_code(), 75, "{error}");
    assert_eq!(pushes.next().await, None);
}

#[tokio::test]
async fn a_runtime_inside_a_command_that_must_not_go_on_says_so_and_serves_nobody() {
    let stage = Stage::new().await;
    let (client, mut pushes) = stage.client().await;
    let _other = start_coordinator(&stage.home).await;
    let late = client.submit(new_task("too late")).await;
    assert!(late.is_err(), "{late:?}");
    assert_eq!(pushes.next().await, None);
    let hello = Hello::new(None).expect("ids");
    let refused = server::in_process(stage.coordinator.clone(), hello).await.err().expect("refused");
    assert!(refused.to_string().contains("another"), "{refused}");
}
