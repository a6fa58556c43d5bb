//! Resources in the store: every accepted edit once and without a gap, every refused one kept, what
//! others changed told once; contents kept once and swept when nothing names them.

use super::*;
use crate::domain::changes::{Digest, UnitChange};
use crate::domain::permission::hex;
use sha2::Digest as _;

/// A content of one piece, as whoever makes contents would name it.
pub(super) fn made(text: &str) -> Made {
    let mut digest = Digest::default();
    digest.push(UnitChange { unit: "A".into(), added: 1, removed: 0, excerpt: text.into() });
    let content = hex(&sha2::Sha256::digest(format!("list of {text}")));
    Made { content, size: text.len() as u64, summary: format!("write {text}"), digest }
}

/// What is kept beside a command.
pub(super) fn bulk_of(command: &Command) -> Bulk {
    let Command::Resource(command) = command else { return Bulk::default() };
    let made = match &command.deed {
        ResourceDeed::Create { change, .. }
        | ResourceDeed::Commit { change, .. }
        | ResourceDeed::Propose { change, .. }
        | ResourceDeed::Revise { change, .. }
        | ResourceDeed::Rebase { change, .. }
        | ResourceDeed::Take { change, .. }
        | ResourceDeed::Conclude { change: Some(change), .. } => change,
        _ => return Bulk::default(),
    };
    let bytes = made.summary.clone().into_bytes();
    let piece = hex(&sha2::Sha256::digest(&bytes));
    let entry = serde_json::json!({"blob": piece, "size": bytes.len(), "media_type": "text/plain"});
    let parts = serde_json::json!([{"name": "text", "entry": entry}]).to_string();
    let row = ContentRow { sha256: made.content.clone(), base: None, depth: 0, parts };
    Bulk { chunks: vec![(piece, bytes)], contents: vec![row] }
}

/// Something that is done with a Resource, made out of what stands.
pub(super) fn next_command(s: &Snapshot, task: &Task, bits: u64) -> Command {
    let run = s.live_run(&task.main).filter(|run| run.state == RunState::Running && bits & 512 != 0);
    let run = run.map(|run| run.id.clone());
    let deed = |deed| ResourceCommand { run: run.clone(), deed }.into();
    let all: Vec<&Resource> = s.resources.values().collect();
    let picked = all.get((bits >> 16) as usize % all.len().max(1)).map(|resource| (*resource).clone());
    let change = made(&format!("{}", bits % 7));
    let Some(resource) = picked.filter(|_| !bits.is_multiple_of(5)) else {
        let of = (bits & 64 == 0).then(|| task.id.clone());
        let name = format!("notes {}", bits % 4);
        let mirror = bits.is_multiple_of(3).then(|| format!("/w/{}", bits % 4));
        return deed(ResourceDeed::Create { kind: "document".into(), name, task: of, mirror, change });
    };
    let open = s.candidates.values().find(|candidate| candidate.state.is_open() && bits & 1024 != 0);
    let intent = s.engine_intents.keys().last().filter(|_| bits & 2048 != 0);
    let base = resource.revision.saturating_sub((bits >> 20) % 2);
    let (id, candidate) = (resource.id.clone(), open.map(|candidate| candidate.id.clone()));
    if let Some(intent) = intent {
        let change = (bits & 4096 != 0).then_some(change);
        return deed(ResourceDeed::Conclude { intent: intent.clone(), outcome: serde_json::json!(bits), change });
    }
    if let Some(candidate) = candidate {
        return match (bits >> 24) % 5 {
            0 => deed(ResourceDeed::Revise { candidate, change }),
            1 | 2 => deed(ResourceDeed::Accept { candidate }),
            3 => deed(ResourceDeed::Reject { candidate, because: Some("no".into()) }),
            _ => {
                let onto = s.resources[&open.expect("there").resource].revision;
                deed(ResourceDeed::Rebase { candidate, onto, change })
            }
        };
    }
    match (bits >> 24) % 12 {
        0 => deed(ResourceDeed::Propose { resource: id, base, change }),
        1 => deed(ResourceDeed::Rename { resource: id, name: format!("other {}", bits % 3) }),
        2 => deed(ResourceDeed::Mirror { resource: id, mirror: bits.is_multiple_of(2).then(|| "/w/z".into()) }),
        3 if bits.is_multiple_of(4) => deed(ResourceDeed::Remove { resource: id }),
        4 | 5 => deed(ResourceDeed::See { resource: id, revision: base }),
        6 => {
            let selection = Selection {
                revision: base,
                part: "text".into(),
                bytes: Some(0..2),
                elements: vec![],
                told: "x".into(),
            };
            let selection = (!bits.is_multiple_of(3)).then_some(selection);
            deed(ResourceDeed::Select { resource: id, selection })
        }
        7 => deed(ResourceDeed::Intend {
            resource: id,
            base,
            by: None,
            operation: serde_json::json!({"op": "set"}),
            request: serde_json::json!({"engine": "e"}),
        }),
        _ => {
            let by = bits.is_multiple_of(6).then(|| Actor::of("anna"));
            deed(ResourceDeed::Commit { resource: id, base, by, change })
        }
    }
}

fn person(deed: ResourceDeed<Made>) -> Command {
    ResourceCommand { run: None, deed }.into()
}

fn create(bench: &mut Bench, task: Option<&TaskId>) -> ResourceId {
    let deed = ResourceDeed::Create {
        kind: "document".into(),
        name: "notes.md".into(),
        task: task.cloned(),
        mirror: None,
        change: made("first"),
    };
    bench.submit(person(deed)).expect("made").receipt.edit.expect("an edit").resource.expect("a Resource")
}

fn commit(bench: &mut Bench, id: &ResourceId, base: u64, text: &str) -> EditReceipt {
    let deed = ResourceDeed::Commit { resource: id.clone(), base, by: None, change: made(text) };
    bench.submit(person(deed)).expect("decided").receipt.edit.expect("an edit")
}

#[test]
fn an_edit_of_what_stands_is_the_next_revision_and_any_other_is_kept() {
    let mut bench = Bench::new();
    let id = create(&mut bench, None);
    assert_eq!(commit(&mut bench, &id, 0, "a").revision, Some(1));
    let late = commit(&mut bench, &id, 0, "b");
    assert_eq!(late.revision, None);
    let candidate = late.candidate.expect("kept");
    assert_eq!(bench.everything().candidates[&candidate].state, CandidateState::Conflict);
    let refused = bench.submit(person(ResourceDeed::Accept { candidate: candidate.clone() })).expect_err("stale");
    assert!(refused.hint.contains("merge"), "{refused}");
    let rebased = ResourceDeed::Rebase { candidate: candidate.clone(), onto: 1, change: made("ab") };
    let new =
        bench.submit(person(rebased)).expect("rebased").receipt.edit.and_then(|edit| edit.candidate).expect("one");
    let accepted = bench.submit(person(ResourceDeed::Accept { candidate: new.clone() })).expect("accepted");
    assert_eq!(accepted.receipt.edit.and_then(|edit| edit.revision), Some(2));
    let all = bench.everything();
    assert_eq!(all.candidates[&candidate].rebased_to.as_ref(), Some(&new));
    assert_eq!(all.revisions[&(id, 2)].candidate, Some(new));
    bench.check();
}

#[test]
fn the_same_edit_sent_twice_is_done_once_and_answered_alike() {
    let mut bench = Bench::new();
    let id = create(&mut bench, None);
    for base in [0, 0] {
        let deed = ResourceDeed::Commit { resource: id.clone(), base, by: None, change: made(&format!("x{base}")) };
        let envelope = bench.envelope(person(deed));
        let mut answers = Vec::new();
        for _ in 0..3 {
            let bulk = bulk_of(&envelope.command);
            let committed = runtime().block_on(bench.store.submit_with(envelope.clone(), bulk)).expect("done");
            answers.push(committed.receipt);
        }
        assert_eq!(answers[0], answers[1]);
        assert_eq!(answers[1], answers[2]);
    }
    let all = bench.everything();
    assert_eq!((all.resources[&id].revision, all.candidates.len()), (1, 1));
    bench.check();
}

#[test]
fn a_persons_edits_are_told_once_to_an_agent_that_knows_the_resource_and_never_its_own() {
    let mut bench = Bench::new();
    let task = bench.create("workspace");
    let (main, run, call) = bench.ask(&task);
    let id = create(&mut bench, Some(&task));
    let agent = |deed| Command::from(ResourceCommand { run: Some(run.clone()), deed });
    let own = ResourceDeed::Commit { resource: id.clone(), base: 0, by: None, change: made("mine") };
    bench.submit(agent(own)).expect("committed");
    let waiting = |bench: &Bench| -> Vec<String> {
        let all = bench.everything();
        all.inbox(&main, MessageState::Queued).into_iter().map(|message| message.text.clone()).collect()
    };
    assert_eq!(waiting(&bench), [""; 0], "an agent is never told of its own edits");
    commit(&mut bench, &id, 1, "yours");
    commit(&mut bench, &id, 2, "yours again");
    let told = waiting(&bench);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("revision 3") && told[0].contains("yours again") && !told[0].contains("mine"), "{told:?}");
    let usage = Usage::default();
    bench
        .submit(RunCommand::CommitTurn {
            run: run.clone(),
            call,
            parts: vec![Part::text("x")],
            calls: vec![],
            usage,
            cut: false,
        })
        .expect("committed");
    let begin =
        |call: &str| RunCommand::BeginTurn { run: run.clone(), call: ModelCallId(call.into()), model: "m:x".into() };
    bench.submit(begin("k_2")).expect("begins");
    let all = bench.everything();
    assert!(all.inbox(&main, MessageState::Queued).is_empty());
    let view = &all.resource_views[&(Actor::agent(&main), id.clone())];
    assert_eq!(view.seen, 3, "what entered the context is known");
    bench.check();
    // What the agent reads by itself need not be told.
    commit(&mut bench, &id, 3, "more");
    assert_eq!(waiting(&bench).len(), 1);
    bench.submit(agent(ResourceDeed::See { resource: id.clone(), revision: 2 })).expect("seen");
    assert_eq!(waiting(&bench).len(), 1, "an older revision is not what it would be told of");
    bench.submit(agent(ResourceDeed::See { resource: id, revision: 4 })).expect("seen");
    assert_eq!(waiting(&bench), [""; 0]);
    bench.check();
}

#[test]
fn an_engines_outcome_is_committed_once_and_a_late_one_is_only_kept() {
    let mut bench = Bench::new();
    let id = create(&mut bench, None);
    let intend = |bench: &mut Bench, base| {
        let deed = ResourceDeed::Intend {
            resource: id.clone(),
            base,
            by: None,
            operation: serde_json::json!({"op": "set"}),
            request: serde_json::json!({}),
        };
        bench.submit(person(deed)).expect("recorded");
        bench.everything().engine_intents.values().find(|i| i.state == EngineState::Intent).expect("one").id.clone()
    };
    let conclude = |bench: &mut Bench, intent: &EngineIntentId, text: Option<&str>| {
        let deed =
            ResourceDeed::Conclude { intent: intent.clone(), outcome: serde_json::json!({}), change: text.map(made) };
        bench.submit(person(deed)).expect("taken").receipt.edit
    };
    let intent = intend(&mut bench, 0);
    assert_eq!(conclude(&mut bench, &intent, Some("solid")).and_then(|edit| edit.revision), Some(1));
    assert_eq!(conclude(&mut bench, &intent, Some("solid")), None, "known");
    let failed = intend(&mut bench, 1);
    assert_eq!(conclude(&mut bench, &failed, None), None);
    let kept = conclude(&mut bench, &failed, Some("late")).and_then(|edit| edit.candidate).expect("kept");
    assert_eq!(bench.everything().candidates[&kept].state, CandidateState::Submitted);
    // The host dies meanwhile: nobody knows, and what comes then is taken under the same check.
    let lost = intend(&mut bench, 1);
    let mut bench = bench.reopen();
    assert_eq!(bench.everything().engine_intents[&lost].state, EngineState::Uncertain);
    assert_eq!(conclude(&mut bench, &lost, Some("after all")).and_then(|edit| edit.revision), Some(2));
    bench.check();
}

#[test]
fn what_nothing_names_any_more_is_swept_with_its_resource_or_task() {
    let mut bench = Bench::new();
    let task = bench.create("workspace");
    let of_task = create(&mut bench, Some(&task));
    commit(&mut bench, &of_task, 0, "only here");
    let own = create(&mut bench, None);
    commit(&mut bench, &own, 0, "stays");
    let count = |bench: &Bench, table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        bench.store.readers.with(|c| c.query_row(&sql, [], |row| row.get(0))).expect("read")
    };
    assert_eq!((count(&bench, "content"), count(&bench, "chunk")), (3, 3), "the first is kept once");
    bench.submit(UserCommand::Cancel { task: task.clone() }).expect("cancelled");
    bench.submit(UserCommand::Remove { task }).expect("removed");
    assert_eq!((count(&bench, "content"), count(&bench, "chunk"), count(&bench, "resource")), (2, 2, 1));
    bench.submit(person(ResourceDeed::Remove { resource: own })).expect("removed");
    assert_eq!((count(&bench, "content"), count(&bench, "chunk"), count(&bench, "revision")), (0, 0, 0));
    bench.check();
}

#[test]
fn an_author_stays_with_what_it_wrote_when_its_task_is_removed() {
    let mut bench = Bench::new();
    let task = bench.create("workspace");
    let (_, run, _) = bench.ask(&task);
    let deed = ResourceDeed::Create {
        kind: "document".into(),
        name: "notes.md".into(),
        task: None,
        mirror: None,
        change: made("by an agent"),
    };
    let made = bench.submit(ResourceCommand { run: Some(run), deed }).expect("made");
    let resource = made.receipt.edit.and_then(|edit| edit.resource).expect("a Resource");
    let author = bench.everything().resources[&resource].updated_by.clone();
    bench.submit(UserCommand::Cancel { task: task.clone() }).expect("cancelled");
    bench.submit(UserCommand::Remove { task }).expect("removed");
    assert_eq!(bench.everything().resources[&resource].updated_by, author);
    bench.check();
    bench.submit(person(ResourceDeed::Remove { resource })).expect("removed");
    bench.check();
}
