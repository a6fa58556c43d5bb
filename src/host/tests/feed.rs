//! Subscriptions: no gap, nothing twice, and slow clients.

use super::*;
use crate::host::outbox::{Outgoing, with_room};
use crate::host::subscription::Subscription;

/// Makes `count` events in a Task, as many at once as the writer takes together.
async fn make_events(coordinator: &Coordinator, task: &TaskId, count: usize) {
    let submit = |n| coordinator.submit(command_id(), Actor::person(), rename(task, n));
    for renamed in futures_util::future::join_all((0..count).map(submit)).await {
        renamed.expect("renamed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_subscribes_while_things_happen_gets_every_event_once_and_in_order() {
    let stage = Stage::new().await;
    let (writer, _pushes) = stage.client().await;
    let (mine, others) = (make_task(&writer).await, make_task(&writer).await);
    let start = stage.coordinator.seq();
    const ROUNDS: i64 = 600;

    let coordinator = stage.coordinator.clone();
    let of_mine = mine.clone();
    let writing = tokio::spawn(async move {
        for _ in 0..ROUNDS / 20 {
            tokio::join!(make_events(&coordinator, &mine, 10), make_events(&coordinator, &others, 10));
        }
    });
    let mut watching = Vec::new();
    for n in 0..12 {
        // Each at another moment: after so many events, from so far back.
        let (client, mut pushes) = stage.client().await;
        let (early, mut seen) = (stage.coordinator.clone(), stage.coordinator.feed());
        while early.seq() < start + n * ROUNDS / 16 {
            seen.recv().await.expect("more to come");
        }
        watching.push(tokio::spawn(async move {
            let after = if n % 2 == 0 { 0 } else { early.seq() };
            client.subscribe(None, after).await.expect("subscribed");
            for expected in after + 1..=start + ROUNDS {
                assert_eq!(next_event(&mut pushes).await.seq, expected);
            }
        }));
    }
    writing.await.expect("written");
    for watching in watching {
        watching.await.expect("every event once");
    }

    let (client, mut pushes) = stage.client().await;
    client.subscribe(Some(of_mine.clone()), start).await.expect("subscribed");
    let mut last = start;
    for _ in 0..ROUNDS / 2 {
        let recorded = next_event(&mut pushes).await;
        assert!(recorded.seq > last && recorded.task.as_ref() == Some(&of_mine));
        last = recorded.seq;
    }
}

#[tokio::test]
async fn a_new_subscription_takes_the_place_of_the_old_one() {
    let stage = Stage::new().await;
    let (client, mut pushes) = stage.client().await;
    let (one, other) = (make_task(&client).await, make_task(&client).await);
    client.subscribe(Some(one.clone()), stage.coordinator.seq()).await.expect("subscribed");
    client.submit(rename(&one, "first")).await.expect("renamed");
    assert_eq!(next_event(&mut pushes).await.task.as_ref(), Some(&one));
    client.subscribe(Some(other.clone()), stage.coordinator.seq()).await.expect("subscribed");
    client.submit(rename(&one, "second")).await.expect("renamed");
    client.submit(rename(&other, "third")).await.expect("renamed");
    assert_eq!(next_event(&mut pushes).await.task.as_ref(), Some(&other));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_told_where_to_go_on_and_can() {
    let stage = Stage::new().await;
    let (writer, _pushes) = stage.client().await;
    let task = make_task(&writer).await;
    let start = stage.coordinator.seq();
    let mut slow = raw(stage.hub(), 256).greeted().await;
    slow.write(&ToHost::Subscribe { request: 1, task: None, after: start }).await;
    assert_eq!(slow.read().await, Some(FromHost::Done { request: 1 }));
    make_events(&stage.coordinator, &task, 1000).await;

    let mut last = start;
    let mut lagged = 0;
    while last < start + 1000 {
        match slow.read().await {
            Some(FromHost::Recorded(recorded)) => {
                assert_eq!(recorded.seq, last + 1, "nothing is left out in silence");
                last = recorded.seq;
            }
            Some(FromHost::Lagged { seq }) => {
                assert_eq!(seq, last);
                lagged += 1;
                slow.write(&ToHost::Subscribe { request: 2, task: None, after: seq }).await;
                assert_eq!(slow.read().await, Some(FromHost::Done { request: 2 }));
            }
            other => panic!("neither event nor lag: {other:?}"),
        }
    }
    assert_eq!(lagged, 1, "what is on disk is sent at the client's pace");
}

fn words(text: &str, at: u64) -> Transient {
    Transient::Text { task: "t_1".into(), agent: "a_1".into(), call: "k_1".into(), at, text: text.into() }
}

/// A feed whose client has room for `room` messages and takes none by itself. It follows what
/// happens by the time this returns.
async fn feed_with_room(stage: &Stage, room: usize) -> Outgoing {
    let (outbox, mut outgoing) = with_room(room);
    tokio::spawn(Subscription::new(stage.hub(), outbox, None, stage.coordinator.seq()).run());
    // The tail comes before the feed is followed; words that come by themselves come out of it.
    let follows = |line: &Vec<u8>| {
        let message = serde_json::from_slice(line).expect("a message");
        matches!(message, FromHost::Transient(Transient::Text { at: 1.., .. }))
    };
    stage.coordinator.show(words("?", 0));
    while !std::iter::from_fn(|| outgoing.try_next()).any(|line| follows(&line)) {
        stage.coordinator.show(words("?", 1));
        tokio::task::yield_now().await;
    }
    // Some of them may have found no room; the next ones make that good.
    for _ in 0..2 {
        settle().await;
        while outgoing.try_next().is_some() {
            settle().await;
        }
        stage.coordinator.show(words("?", 1));
    }
    settle().await;
    while outgoing.try_next().is_some() {}
    outgoing
}

/// Lets the feed hear of everything that was announced before room is made for it: all runs on
/// one thread, and each turn takes a hundred messages.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

async fn take(outgoing: &mut Outgoing) -> FromHost {
    let line = tokio::time::timeout(LONG, outgoing.next()).await.expect("in time").expect("more");
    serde_json::from_slice(&line).expect("a message")
}

#[tokio::test]
async fn when_there_is_no_room_transients_are_dropped_and_the_next_event_still_comes() {
    let stage = Stage::new().await;
    let (writer, _pushes) = stage.client().await;
    let task = make_task(&writer).await;
    let mut outgoing = feed_with_room(&stage, 4).await;
    for n in 0..20 {
        stage.coordinator.show(words(&n.to_string(), n));
    }
    settle().await;
    for n in 0..4 {
        assert_eq!(take(&mut outgoing).await, FromHost::Transient(words(&n.to_string(), n)));
    }

    // What was dropped is made good as soon as there is room: the whole answer.
    match take(&mut outgoing).await {
        FromHost::Transient(Transient::Text { at: 0, text, .. }) => assert!(text.ends_with("16171819"), "{text}"),
        other => panic!("not the whole answer: {other:?}"),
    }
    let receipt = writer.submit(rename(&task, "an event")).await.expect("renamed");
    match take(&mut outgoing).await {
        FromHost::Recorded(recorded) => assert_eq!(recorded.seq, receipt.seq),
        other => panic!("not the event: {other:?}"),
    }
}

/// However a client comes to be behind, it knows the Task by the time it hears words of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_live_tail_never_overtakes_what_was_recorded_before_it() {
    let stage = Stage::new().await;
    let (writer, _pushes) = stage.client().await;
    for round in 0..200 {
        let (outbox, mut outgoing) = with_room(1024);
        tokio::spawn(Subscription::new(stage.hub(), outbox, None, stage.coordinator.seq()).run());
        let task = make_task(&writer).await;
        let (made, call) = (stage.coordinator.seq(), ModelCallId::from(format!("k_{round}").as_str()));
        let words = Transient::Text { task, agent: "a_1".into(), call: call.clone(), at: 0, text: "hello".into() };
        stage.coordinator.show(words);
        let mut seen = 0;
        loop {
            match take(&mut outgoing).await {
                FromHost::Recorded(recorded) => seen = recorded.seq,
                FromHost::Transient(Transient::Text { call: of, .. }) if of == call => break,
                FromHost::Transient(_) => {}
                other => panic!("neither: {other:?}"),
            }
        }
        assert_eq!(seen, made, "in round {round}");
    }
}

#[tokio::test]
async fn when_there_is_no_room_for_an_event_the_client_is_told_and_nothing_follows() {
    let stage = Stage::new().await;
    let (writer, _pushes) = stage.client().await;
    let task = make_task(&writer).await;
    let mut outgoing = feed_with_room(&stage, 2).await;
    let start = stage.coordinator.seq();
    make_events(&stage.coordinator, &task, 5).await;
    settle().await;
    let seqs = [take(&mut outgoing).await, take(&mut outgoing).await].map(|message| match message {
        FromHost::Recorded(recorded) => recorded.seq,
        other => panic!("not an event: {other:?}"),
    });
    assert_eq!(seqs, [start + 1, start + 2]);
    assert_eq!(take(&mut outgoing).await, FromHost::Lagged { seq: start + 2 });
    assert_eq!(outgoing.next().await, None, "until it subscribes again");
}
