//! The seam with engines, whole: the dummy kind, a Coordinator on a real store, and an engine that is
//! a real child process: slow, crashing, and late.

use crate::domain::*;
use crate::resources::dummy::{LATE, MESHER, Shapes};
use crate::resources::text::Document;
use crate::resources::{
    Adapter, Content, EngineFailure, EngineRequest, Evaluated, Foreign, Format, Registry, Rendering, Step, View,
};
use crate::runtime::engines::program::{self, failed};
use crate::runtime::engines::{Engine, Engines};
use crate::runtime::{Coordinator, Kinds, Options, fresh_command};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What the engine's program does: parts come as files, and what it makes it leaves as files.
const PROGRAM: &str = r#"
case $1 in
set)
  echo begun >> "$3/begun"
  if [ "$2" = 666 ]; then kill -SEGV $$; fi
  if [ "$2" -lt 0 ]; then echo "a size can't be negative"; exit 1; fi
  if [ "$2" = 7 ] || [ "$2" = 8 ]; then while [ ! -e "$3/open" ]; do sleep 0.02; done; fi
  printf 'mesh of %s' "$2" > out/mesh
  echo $(($2 * $2 * $2)) > volume ;;
draw) printf 'picture of %s' "$(cat mesh)" > out/picture ;;
export) printf 'solid %s' "$(cat model)" > out/stl ;;
import) sed 's/^solid //' stl > out/model; printf 'mesh of %s' "$(cat stl)" > out/mesh ;;
esac
"#;

/// The engine of the dummy kind. `gate` is the folder in which a file `open` lets slow ones go on.
struct Mesher {
    gate: PathBuf,
}

impl Engine for Mesher {
    fn name(&self) -> &'static str {
        MESHER
    }

    fn evaluate<'a>(
        &'a self,
        request: &'a EngineRequest,
        parts: &'a Content,
    ) -> BoxFuture<'a, Result<Evaluated, EngineFailure>> {
        Box::pin(async move {
            let folder = tempfile::tempdir().map_err(|error| failed("no folder", &error))?;
            let at = |name: &str| folder.path().join(name);
            for (name, part) in parts.iter() {
                std::fs::write(at(name), &part.bytes).map_err(|error| failed("not written", &error))?;
            }
            std::fs::create_dir(at("out")).map_err(|error| failed("not made", &error))?;
            let size = request.input["value"].to_string();
            let gate = self.gate.to_string_lossy().into_owned();
            let args = ["-c", PROGRAM, "mesher", &request.action, &size, &gate];
            program::run("/bin/sh", &args, folder.path(), "").await?;
            let mut made = Content::default();
            for file in std::fs::read_dir(at("out")).expect("made before").flatten() {
                let name = file.file_name().to_string_lossy().into_owned();
                made.put(&name, "model/made", std::fs::read(file.path()).expect("a file")).expect("a name");
            }
            let volume = std::fs::read_to_string(at("volume")).ok().and_then(|text| text.trim().parse::<i64>().ok());
            Ok(Evaluated { output: json!({"volume": volume}), parts: made })
        })
    }
}

struct Bench {
    home: tempfile::TempDir,
    gate: tempfile::TempDir,
    host: Coordinator,
    box_: ResourceId,
}

async fn start(home: &Path, gate: &Path) -> Coordinator {
    let registry = Registry::new(vec![Arc::new(Document), Arc::new(Shapes)]);
    let engines = Engines::new(vec![Arc::new(Mesher { gate: gate.into() })]);
    let owner = Owner {
        holder: fresh_command().0,
        host: "test".into(),
        pid: std::process::id(),
        pid_start: 1,
        boot_id: "this boot".into(),
    };
    let options = Options {
        home: home.into(),
        settings: Settings::default(),
        environment_secrets: Vec::new(),
        program: "/nowhere/cowork".into(),
        owner,
        kinds: Kinds { registry, engines },
    };
    Coordinator::start(options).await.expect("started")
}

impl Bench {
    async fn new() -> Self {
        let (home, gate) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let host = start(home.path(), gate.path()).await;
        let change = Change { how: How::Blank, summary: String::new() };
        let deed = ResourceDeed::Create { kind: "shapes".into(), name: "box".into(), task: None, mirror: None, change };
        let receipt =
            host.submit(fresh_command(), Actor::person(), UserCommand::Resource { deed }).await.expect("made");
        let box_ = receipt.edit.and_then(|edit| edit.resource).expect("an id");
        Self { home, gate, host, box_ }
    }

    fn commit(&self, base: u64, operations: &[Value]) -> UserCommand {
        let change = Change { how: How::Operations(operations.to_vec()), summary: String::new() };
        UserCommand::Resource { deed: ResourceDeed::Commit { resource: self.box_.clone(), base, by: None, change } }
    }

    async fn set(&self, base: u64, name: &str, value: i64) -> Result<EditReceipt, Rejection> {
        let command = self.commit(base, &[json!({"op": "set", "name": name, "value": value})]);
        let receipt = self.host.submit(fresh_command(), Actor::person(), command).await?;
        Ok(receipt.edit.expect("an edit"))
    }

    /// Waits until the engine has begun so many times.
    async fn begun(&self, times: usize) {
        let file = self.gate.path().join("begun");
        while std::fs::read_to_string(&file).unwrap_or_default().lines().count() < times {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn open(&self) {
        std::fs::write(self.gate.path().join("open"), "").expect("written");
    }

    async fn content(&self, number: Option<u64>) -> Content {
        let (resource, host) = (self.box_.clone(), self.host.clone());
        let resources = host.inner.resources.clone();
        host.read(move |store| {
            let made = store.revision(&resource, number)?.made;
            Ok(resources.contents.open(store, &made.content)?.content.clone())
        })
        .await
        .expect("read")
    }

    async fn model(&self) -> String {
        let content = self.content(None).await;
        String::from_utf8_lossy(&content.get("model").expect("a model").bytes).into_owned()
    }

    async fn candidates(&self) -> Vec<Candidate> {
        let resource = self.box_.clone();
        self.host.read(move |store| store.open_candidates(&resource)).await.expect("read")
    }

    async fn accept(&self, candidate: &CandidateId) -> Result<Receipt, Rejection> {
        let deed = ResourceDeed::Accept { candidate: candidate.clone() };
        self.host.submit(fresh_command(), Actor::person(), UserCommand::Resource { deed }).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_of_a_kind_with_an_engine_are_made_outside_and_committed_with_their_feedback() {
    let bench = Bench::new().await;
    let edit = bench.set(0, "a", 3).await.expect("made");
    assert_eq!((edit.revision, edit.feedback.as_deref()), (Some(1), Some("Set a to 3\nvolume: 27")));
    let two = bench.commit(
        1,
        &[
            json!({"op": "set", "name": "b", "value": 2}),
            json!({"op": "remove", "name": "a"}),
            json!({"op": "set", "name": "c", "value": 4}),
        ],
    );
    let id = fresh_command();
    let made = bench.host.submit(id.clone(), Actor::person(), two.clone()).await.expect("made").edit.expect("an edit");
    assert_eq!(made.revision, Some(2), "several operations ask several times and are one revision");
    assert_eq!(bench.model().await, "b = 2\nc = 4\n");
    let again = bench.host.submit(id, Actor::person(), two).await.expect("known").edit.expect("an edit");
    assert_eq!(again.revision, Some(2), "the same command again is the same edit");
    bench.begun(3).await;
    let mesh = bench.content(None).await.get("mesh").expect("a mesh").bytes.clone();
    assert_eq!(&*mesh, b"mesh of 4");
    // Views, inspection, import, export and merge of the same content.
    let engines = bench.host.inner.resources.engines.clone();
    let content = bench.content(None).await;
    let Ok(Step::Evaluate(request)) = Shapes.render(&content, &View::Whole, 100) else { panic!("asks") };
    let drawn = engines.ask(&request, &content).await.expect("drawn");
    let Ok(Rendering::Pictures(pictures)) = Shapes.render_evaluated(drawn) else { panic!("pictures") };
    assert_eq!(&*pictures.get("picture").expect("one").bytes, b"picture of mesh of 4");
    let format = Format::Named("stl".into());
    let Ok(Step::Evaluate(request)) = Shapes.export("box", &content, &format) else { panic!("asks") };
    let exported = engines.ask(&request, &content).await.expect("written");
    let file = Shapes.export_evaluated("box", &format, exported).expect("a file");
    assert_eq!((file.name.as_str(), &*file.bytes), ("box.stl", &b"solid b = 2\nc = 4"[..]));
    let outside = bench.gate.path().join("in.stl");
    std::fs::write(&outside, "solid z = 9").expect("written");
    let change = Change { how: How::File(outside.to_string_lossy().into_owned()), summary: String::new() };
    let deed = ResourceDeed::Commit { resource: bench.box_.clone(), base: 2, by: Some(Actor::of("anna")), change };
    let taken =
        bench.host.submit(fresh_command(), Actor::person(), UserCommand::Resource { deed }).await.expect("taken");
    assert_eq!(taken.edit.and_then(|edit| edit.revision), Some(3));
    assert_eq!(bench.model().await.trim(), "z = 9");
    let (resource, host) = (bench.box_.clone(), bench.host.clone());
    let by = host.read(move |store| store.revision(&resource, None)).await.expect("read").actor;
    assert_eq!(by, Actor::of("anna"), "an engine's outcome has the author of its edit");
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_engine_whose_base_moved_leaves_a_candidate_that_is_merged() {
    let bench = Arc::new(Bench::new().await);
    let slow = tokio::spawn({
        let bench = bench.clone();
        async move { bench.set(0, "slow", 7).await }
    });
    bench.begun(1).await;
    assert_eq!(bench.set(0, "quick", 2).await.expect("nobody waits for another's engine").revision, Some(1));
    bench.open();
    let kept = slow.await.expect("ended").expect("kept").candidate.expect("a Candidate");
    assert_eq!(bench.model().await, "quick = 2\n");
    let change = Change { how: How::Merge(Vec::new()), summary: String::new() };
    let deed = ResourceDeed::Rebase { candidate: kept, onto: 1, change };
    let merged =
        bench.host.submit(fresh_command(), Actor::person(), UserCommand::Resource { deed }).await.expect("merged");
    let merged = merged.edit.and_then(|edit| edit.candidate).expect("a Candidate");
    bench.accept(&merged).await.expect("accepted");
    assert_eq!(bench.model().await, "quick = 2\nslow = 7\n");
    let findings = Shapes.inspect(&bench.content(None).await, &|_| crate::resources::adapter::Existence::Unknown);
    assert_eq!(findings.expect("looked")[0].code, "no_mesh", "the mesh of a merge is to be made");
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_crashes_or_refuses_changes_nothing_and_says_why() {
    let bench = Bench::new().await;
    let crashed = bench.set(0, "a", 666).await.expect_err("crashed").to_string();
    assert!(crashed.contains("the engine crashed") && crashed.contains("signal 11"), "{crashed}");
    let refused = bench.set(0, "a", -1).await.expect_err("refused").to_string();
    assert!(refused.contains("a size can't be negative"), "{refused}");
    let id = fresh_command();
    let bad = bench.commit(0, &[json!({"op": "set", "name": "a", "value": 666})]);
    let first = bench.host.submit(id.clone(), Actor::person(), bad.clone()).await.expect_err("crashed").to_string();
    bench.begun(3).await;
    let again = bench.host.submit(id, Actor::person(), bad).await.expect_err("known").to_string();
    assert_eq!(first, again, "what failed once is told, not tried again under the same command");
    let begun = std::fs::read_to_string(bench.gate.path().join("begun")).expect("read");
    assert_eq!(begun.lines().count(), 3);
    assert_eq!((bench.model().await.as_str(), bench.candidates().await.len()), ("", 0));
    assert_eq!(bench.set(0, "a", 1).await.expect("tried again").revision, Some(1));
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_is_kept_as_a_candidate_and_never_committed_by_itself() {
    let bench = Bench::new().await;
    let told = bench.set(0, "late", LATE).await.expect_err("over time").to_string();
    assert!(told.contains("did not answer within 100 ms"), "{told}");
    assert_eq!(bench.candidates().await.len(), 0);
    bench.open();
    let kept = loop {
        if let Some(kept) = bench.candidates().await.pop() {
            break kept;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!((kept.base, kept.state, bench.model().await.as_str()), (0, CandidateState::Submitted, ""));
    bench.accept(&kept.id).await.expect("somebody decides");
    assert_eq!(bench.model().await, "late = 8\n");
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_was_recorded_when_the_host_died_is_made_by_the_next_one_once() {
    let bench = Bench::new().await;
    let id = fresh_command();
    let slow = bench.commit(0, &[json!({"op": "set", "name": "slow", "value": 7})]);
    let waiting = tokio::spawn({
        let (host, id, slow) = (bench.host.clone(), id.clone(), slow.clone());
        async move { host.submit(id, Actor::person(), slow).await }
    });
    bench.begun(1).await;
    // The host leaves in the midst of it: the engine ends with it, and nothing is told as failed.
    bench.host.stop().await;
    assert!(waiting.await.expect("ended").is_err());
    let Bench { home, gate, host, box_ } = bench;
    drop(host);
    let host = start(home.path(), gate.path()).await;
    let bench = Bench { home, gate, host, box_ };
    bench.open();
    // Whoever asked asks again under the same command, while the host finishes it by itself.
    let edit = bench.host.submit(id, Actor::person(), slow).await.expect("made").edit.expect("an edit");
    assert_eq!((edit.revision, bench.model().await.as_str()), (Some(1), "slow = 7\n"));
    let resource = bench.box_.clone();
    let now = bench.host.read(move |store| store.resource(&resource)).await.expect("read");
    assert_eq!((now.revision, bench.candidates().await.len()), (1, 0), "once");
    bench.host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kind_without_its_engine_says_so() {
    let home = tempfile::tempdir().expect("a folder");
    let none = Engines::new(Vec::new());
    let file = Foreign { name: "a.stl".into(), media_type: String::new(), bytes: b"solid a = 1"[..].into() };
    let Ok(Step::Evaluate(request)) = Shapes.import(&file) else { panic!("asks") };
    let failure = none.ask(&request, &Content::default()).await.expect_err("nobody");
    assert_eq!(failure.to_string(), "mesher is needed for this, and nothing here runs it");
    drop(home);
}
