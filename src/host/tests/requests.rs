//! Greeting, questions, commands, and clients that misbehave.

use super::*;
use crate::host::client::Failure;

#[tokio::test]
async fn a_client_is_greeted_and_what_it_wants_is_recorded() {
    let stage = Stage::new().await;
    let (client, _pushes) = stage.client().await;
    assert_eq!(client.welcome().version, VERSION);
    assert_eq!(client.welcome().pid, std::process::id());
    assert_eq!(client.welcome().fence, stage.coordinator.fence());
    let task = make_task(&client).await;
    let receipt = client.submit(rename(&task, "another")).await.expect("renamed");
    assert_eq!(receipt.seq, stage.coordinator.seq());
    assert!(matches!(client.submit(rename(&"t_nowhere".into(), "x")).await, Err(Failure::Rejected(_))));
    match client.ask(Query::Host).await.expect("answered") {
        Answer::Host(status) => assert_eq!((status.clients, status.seq), (1, receipt.seq)),
        other => panic!("not the host's status: {other:?}"),
    }
}

#[tokio::test]
async fn a_command_that_is_sent_twice_is_carried_out_once() {
    let stage = Stage::new().await;
    let (client, _pushes) = stage.client().await;
    let (other, _pushes) = stage.client().await;
    let id = command_id();
    let first = client.submit_as(id.clone(), new_task("once")).await.expect("made");
    let second = other.submit_as(id, new_task("once")).await.expect("answered alike");
    assert_eq!(first, second);
    assert_eq!(stage.coordinator.seq(), first.seq);
}

#[tokio::test]
async fn commands_of_one_client_are_carried_out_in_the_order_they_came() {
    let stage = Stage::new().await;
    let (client, _pushes) = stage.client().await;
    let task = make_task(&client).await;
    let mut raw = raw(stage.hub(), 64).greeted().await;
    let mut answers = Vec::new();
    // All at once, from a pipe that holds less than one: nothing of this waits for an answer.
    let Raw { lines, writer } = &mut raw;
    let write = async {
        let mut out = Vec::new();
        for request in 0..50 {
            let wanted = rename(&task, request);
            let line = ToHost::Command { request, command: command_id(), wanted };
            line::append(&mut out, &line, MAX_REQUEST).expect("short enough");
        }
        writer.write_all(&out).await.expect("written");
    };
    let read = async {
        while answers.len() < 50 {
            match lines.next().await.expect("a line").expect("more") {
                FromHost::Accepted { request, receipt } => answers.push((request, receipt.seq)),
                other => panic!("not accepted: {other:?}"),
            }
        }
    };
    tokio::join!(write, read);
    assert!(answers.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1), "{answers:?}");
}

#[tokio::test]
async fn a_draft_is_kept_for_the_client_that_wrote_it() {
    let stage = Stage::new().await;
    let (client, _pushes) = stage.client().await;
    client.keep_draft("composer", "half a thou").await.expect("kept");
    client.keep_draft("composer", "half a thought").await.expect("kept");
    let draft = |client: &str| Query::Draft { client: client.into(), pane: "composer".into() };
    assert_eq!(client.ask(draft("n_else")).await, Ok(Answer::Draft(None)));
}

#[tokio::test]
async fn another_version_is_refused_with_both_versions_and_what_to_do() {
    let stage = Stage::new().await;
    for (protocol, version) in [(PROTOCOL, "99.0.0"), (PROTOCOL + 1, VERSION)] {
        let mut raw = raw(stage.hub(), 4096);
        raw.write(&hello(protocol, version)).await;
        match raw.read().await {
            Some(FromHost::Refused { version: hosts, reason, .. }) => {
                assert_eq!(hosts, VERSION);
                for word in [version, VERSION, &protocol.to_string(), "cowork host stop"] {
                    assert!(reason.contains(word), "{reason:?} does not say {word}");
                }
            }
            other => panic!("not refused: {other:?}"),
        }
    }
}

#[tokio::test]
async fn a_client_of_another_version_may_end_the_host_and_nothing_else() {
    let stage = Stage::new().await;
    let hub = stage.hub();
    let before = stage.coordinator.seq();
    let mut raw_command = raw(hub.clone(), 4096);
    raw_command.write(&hello(PROTOCOL, "99.0.0")).await;
    assert!(matches!(raw_command.read().await, Some(FromHost::Refused { .. })));
    raw_command.write(&ToHost::Command { request: 1, command: command_id(), wanted: new_task("no") }).await;
    assert_eq!(raw_command.read().await, None);
    assert_eq!(stage.coordinator.seq(), before);

    let mut raw_stop = raw(hub.clone(), 4096);
    raw_stop.write(&hello(PROTOCOL, "99.0.0")).await;
    assert!(matches!(raw_stop.read().await, Some(FromHost::Refused { .. })));
    raw_stop.write(&ToHost::StopHost { request: 7 }).await;
    assert_eq!(raw_stop.read().await, Some(FromHost::Done { request: 7 }));
    hub.stopping().await;
}

#[tokio::test]
async fn what_is_not_the_protocol_is_sent_away_with_the_reason() {
    let stage = Stage::new().await;
    let reason = |message| match message {
        Some(FromHost::Refused { reason, .. }) => reason,
        other => panic!("not sent away: {other:?}"),
    };

    let mut browser = raw(stage.hub(), 4096);
    browser.writer.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("written");
    assert!(reason(browser.read().await).contains("hello"));
    assert_eq!(browser.read().await, None);

    let mut babbler = raw(stage.hub(), 4096).greeted().await;
    babbler.writer.write_all(b"{\"to_host\":\"dance\"}\n").await.expect("written");
    assert!(reason(babbler.read().await).contains("dance"));
    assert_eq!(babbler.read().await, None);

    let mut twice = raw(stage.hub(), 4096).greeted().await;
    twice.write(&hello(PROTOCOL, VERSION)).await;
    assert!(reason(twice.read().await).contains("hello once"));
    assert_eq!(twice.read().await, None);
}

#[tokio::test]
async fn a_line_without_end_is_cut_off_at_the_limit() {
    let stage = Stage::new().await;
    let mut raw = raw(stage.hub(), 64 * 1024).greeted().await;
    let Raw { lines, writer } = &mut raw;
    let flood = async {
        let mut written = 0;
        let chunk = vec![b'x'; 64 * 1024];
        while let Ok(more) = writer.write(&chunk).await {
            written += more;
        }
        written
    };
    let read = async { lines.next::<FromHost>().await.expect("a line") };
    let (written, answer) = tokio::time::timeout(LONG, async { tokio::join!(flood, read) }).await.expect("in time");
    assert!(written <= MAX_REQUEST + 256 * 1024, "{written} bytes were taken");
    match answer {
        Some(FromHost::Refused { reason, .. }) => assert!(reason.contains("longer than"), "{reason}"),
        other => panic!("not sent away: {other:?}"),
    }
}

#[tokio::test]
async fn a_client_keeps_to_the_limit_by_itself_and_its_connection_stays() {
    let stage = Stage::new().await;
    let (client, _pushes) = stage.client().await;
    let huge = "x".repeat(MAX_REQUEST);
    match client.submit(new_task(&huge)).await {
        Err(Failure::Rejected(rejection)) => assert!(rejection.message.contains("longer than"), "{rejection}"),
        other => panic!("not refused: {other:?}"),
    }
    make_task(&client).await;
}

#[tokio::test]
async fn a_client_that_vanishes_in_the_middle_leaves_whole_commands_carried_out_and_no_half_ones() {
    let stage = Stage::new().await;
    let (watcher, mut pushes) = stage.client().await;
    watcher.subscribe(None, stage.coordinator.seq()).await.expect("subscribed");

    let mut gone = raw(stage.hub(), 64 * 1024).greeted().await;
    let mut out = Vec::new();
    for (request, title) in [(1, "whole"), (2, "half")] {
        let line = ToHost::Command { request, command: command_id(), wanted: new_task(title) };
        line::append(&mut out, &line, MAX_REQUEST).expect("short enough");
    }
    gone.writer.write_all(&out[..out.len() - 5]).await.expect("written");
    drop(gone);

    let recorded = next_event(&mut pushes).await;
    assert!(serde_json::to_string(&recorded).expect("json").contains("whole"));
    let receipt = watcher.submit(new_task("after")).await.expect("the host goes on");
    let mut between = Vec::new();
    loop {
        let recorded = next_event(&mut pushes).await;
        let done = recorded.seq == receipt.seq;
        between.push(serde_json::to_string(&recorded).expect("json"));
        if done {
            break;
        }
    }
    assert!(!between.iter().any(|event| event.contains("half")), "{between:?}");
}

#[tokio::test]
async fn requests_on_a_lost_connection_fail_and_say_so() {
    let stage = Stage::new().await;
    let hub = stage.hub();
    let (ours, theirs) = tokio::io::duplex(4096);
    let serving = tokio::spawn(attend(hub.clone(), theirs));
    let (client, mut pushes) = connect(ours, Hello::new(None).expect("ids")).await.expect("connected");
    hub.stop();
    drop(serving.await);
    assert_eq!(pushes.next().await, None);
    assert!(matches!(client.ask(Query::Rules).await, Err(Failure::Lost(_))));
}

#[tokio::test]
async fn the_connection_closes_with_the_last_handle_and_not_before() {
    let stage = Stage::new().await;
    let hub = stage.hub();
    let mut attached = hub.attached();
    let (ours, theirs) = tokio::io::duplex(4096);
    tokio::spawn(attend(hub.clone(), theirs));
    let (client, mut pushes) = connect(ours, Hello::new(None).expect("ids")).await.expect("connected");
    client.subscribe(None, stage.coordinator.seq()).await.expect("subscribed");
    drop(client);
    let (other, _pushes) = stage.client().await;
    make_task(&other).await;
    next_event(&mut pushes).await;
    assert_eq!(*attached.borrow_and_update(), 1);
    drop(pushes);
    attached.wait_for(|count| *count == 0).await.expect("the host sees it leave");
}
