//! A kind of the tests that uses the seam whole: a content of numbered shapes whose engine is slow,
//! crashes, and answers late.
//!
//! The content has the part `model` (lines `name = number`) and the part `mesh`, which only the
//! engine can make. The one who runs engines, and the store of revisions, are played here.

use super::adapter::*;
use super::commit::{self, Conclusion, IntentState};
use super::content::{Content, Hash};
use super::diff::{Diff, ElementChange, PartDiff};
use super::engine::{EngineFailure, EngineOutcome, EngineRequest, Evaluated, PartRef};
use super::merge::{Choice, Merge, Piece};
use super::refusal::Refusal;
use super::registry::Registry;
use super::summary::{Digest, UnitChange};
use super::text::decode::text_of;
use super::{Attribution, Rendering};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

struct Shapes;

#[derive(Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
enum Operation {
    /// Sets a parameter; needs the engine.
    Set { name: String, value: i64 },
    /// Takes a parameter out; answered at once.
    Remove { name: String },
}

type Model = BTreeMap<String, i64>;

fn model(content: &Content) -> Result<Model, Refusal> {
    let bad = |line: &str| Refusal::BadContent { why: format!("{line:?} is not `name = number`") };
    text_of(content, "model")?
        .lines()
        .map(|line| {
            let (name, value) = line.split_once(" = ").ok_or_else(|| bad(line))?;
            Ok((name.to_owned(), value.parse().map_err(|_| bad(line))?))
        })
        .collect()
}

fn content(model: &Model, mesh: &[u8]) -> Result<Content, Refusal> {
    let text: String = model.iter().map(|(name, value)| format!("{name} = {value}\n")).collect();
    let mut content = Content::single("model", "text/plain", text.into_bytes());
    content.put("mesh", "model/mesh", mesh)?;
    Ok(content)
}

fn mesh(content: &Content) -> Vec<u8> {
    content.get("mesh").map(|part| part.bytes.to_vec()).unwrap_or_default()
}

fn read(operation: &Value) -> Result<Operation, Refusal> {
    Operation::deserialize(operation).map_err(|error| Refusal::Invalid { what: error.to_string() })
}

/// What became of one parameter on both sides.
fn merge(base: &Content, theirs: &Content, mine: &Content, choices: Option<&[Choice]>) -> Result<Merge, Refusal> {
    let sides = [model(base)?, model(theirs)?, model(mine)?];
    let names: std::collections::BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
    let mut merged = Model::new();
    let mut pieces = Vec::new();
    let mut choices = choices.map(|choices| choices.iter());
    for name in names {
        let [base, theirs, mine] = [0, 1, 2].map(|side| sides[side].get(name).copied());
        let value = if theirs == mine || mine == base {
            theirs
        } else if theirs == base {
            mine
        } else {
            match choices.as_mut().and_then(Iterator::next) {
                Some(Choice::Mine) => mine,
                Some(Choice::Theirs) => theirs,
                Some(Choice::Base) => base,
                Some(Choice::Both | Choice::Custom { .. }) => {
                    return Err(Refusal::Invalid { what: format!("{name} takes one side") });
                }
                None => {
                    let text = |value: Option<i64>| value.map(|v| v.to_string()).unwrap_or_default();
                    pieces.push(Piece {
                        part: "model".into(),
                        unit: name.clone(),
                        lines: None,
                        base: text(base),
                        theirs: text(theirs),
                        mine: text(mine),
                        text: false,
                    });
                    None
                }
            }
        };
        merged.extend(value.map(|value| (name.clone(), value)));
    }
    // The mesh of a merge is made anew by the engine: until then it is empty.
    Ok(if pieces.is_empty() { Merge::Merged(content(&merged, b"")?) } else { Merge::Conflicts(pieces) })
}

impl Adapter for Shapes {
    fn kind(&self) -> &'static str {
        "shapes"
    }
    fn about(&self) -> &'static str {
        "Named numbers of which an engine makes a mesh."
    }
    fn operations(&self) -> Value {
        schemars::schema_for!(Operation).to_value()
    }
    fn blank(&self, _name: &str) -> Content {
        Content::single("model", "text/plain", *b"")
    }
    fn validate(&self, content: &Content) -> Result<(), Refusal> {
        model(content).map(drop)
    }
    fn apply(&self, base: &Content, operation: &Value) -> Result<Step<Applied>, Refusal> {
        Ok(match read(operation)? {
            Operation::Set { name, value } => Step::Evaluate(EngineRequest {
                engine: "mesher".into(),
                action: "set".into(),
                input: json!({"name": name, "value": value}),
                parts: PartRef::of(base),
                limit_ms: 1000,
            }),
            Operation::Remove { name } => {
                let mut model = model(base)?;
                model.remove(&name).ok_or_else(|| Refusal::NoSuchAnchor {
                    anchor: name.clone(),
                    nearest: model.keys().cloned().collect(),
                })?;
                let what = format!("Remove {name}");
                let feedback = Feedback { what: what.clone(), ..Feedback::default() };
                Step::Ready(Applied { content: content(&model, &mesh(base))?, summary: what, feedback })
            }
        })
    }
    fn apply_evaluated(&self, base: &Content, operation: &Value, evaluated: Evaluated) -> Result<Applied, Refusal> {
        let Operation::Set { name, value } = read(operation)? else {
            return Err(Refusal::NotAsked { what: "this operation".into() });
        };
        let made = evaluated.parts.get("mesh").ok_or_else(|| Refusal::BadOutcome { why: "it has no mesh".into() })?;
        let mut model = model(base)?;
        model.insert(name.clone(), value);
        let mut figures = serde_json::Map::new();
        figures.insert("volume".into(), evaluated.output["volume"].clone());
        let what = format!("Set {name} to {value}");
        let feedback = Feedback { what: what.clone(), figures, ..Feedback::default() };
        Ok(Applied { content: content(&model, &made.bytes)?, summary: what, feedback })
    }
    fn diff(&self, before: &Content, after: &Content) -> Result<Diff, Refusal> {
        let (before, after) = (model(before)?, model(after)?);
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let changes =
            names.into_iter().filter(|name| before.get(*name) != after.get(*name)).map(|name| ElementChange {
                id: name.clone(),
                title: name.clone(),
                before: before.get(name).map(i64::to_string),
                after: after.get(name).map(i64::to_string),
            });
        Ok(Diff { parts: vec![PartDiff::Elements { part: "model".into(), changes: changes.collect() }] })
    }
    fn digest(&self, before: &Content, after: &Content) -> Result<Digest, Refusal> {
        let mut digest = Digest::default();
        for part in self.diff(before, after)?.parts {
            let PartDiff::Elements { changes, .. } = part else { continue };
            for change in changes {
                digest.push(UnitChange {
                    unit: change.title,
                    added: change.after.iter().count(),
                    removed: change.before.iter().count(),
                    excerpt: change.after.unwrap_or_default(),
                });
            }
        }
        Ok(digest)
    }
    fn merge(&self, base: &Content, theirs: &Content, mine: &Content) -> Result<Merge, Refusal> {
        merge(base, theirs, mine, None)
    }
    fn resolve(
        &self,
        base: &Content,
        theirs: &Content,
        mine: &Content,
        choices: &[Choice],
    ) -> Result<Content, Refusal> {
        match merge(base, theirs, mine, Some(choices))? {
            Merge::Merged(content) => Ok(content),
            Merge::Conflicts(pieces) => Err(Refusal::Invalid { what: format!("{} pieces are open", pieces.len()) }),
        }
    }
    fn unit(&self) -> Unit {
        Unit::Elements
    }
    fn elements(&self, content: &Content) -> Result<Vec<(String, Hash)>, Refusal> {
        Ok(model(content)?.into_iter().map(|(name, value)| (name, Hash::of(&value.to_le_bytes()))).collect())
    }
    fn outline(&self, content: &Content) -> Result<Vec<Node>, Refusal> {
        let node = |name: String| Node { path: vec![name], kind: "number".into(), level: 1, lines: None };
        Ok(model(content)?.into_keys().map(node).collect())
    }
    fn figures(&self, content: &Content) -> Result<serde_json::Map<String, Value>, Refusal> {
        Ok(serde_json::Map::from_iter([("numbers".to_owned(), json!(model(content)?.len()))]))
    }
    fn describe(&self, content: &Content, selected: &Selected, _budget: usize) -> Result<String, Refusal> {
        let model = model(content)?;
        let values = selected.elements.iter().filter_map(|name| Some(format!("{name} = {}", model.get(name)?)));
        Ok(values.collect::<Vec<_>>().join(", "))
    }
    fn inspect(&self, content: &Content, _lookup: Lookup<'_>) -> Result<Vec<Finding>, Refusal> {
        let stale = mesh(content).is_empty();
        let place = Place { part: "mesh".into(), unit: String::new(), lines: None, hash: String::new() };
        let finding = Finding {
            severity: Severity::Warning,
            code: "no_mesh".into(),
            message: "there is no mesh yet".into(),
            place,
        };
        Ok(if stale { vec![finding] } else { Vec::new() })
    }
    fn render(&self, content: &Content, _view: &View, _budget: usize) -> Result<Step<Rendering>, Refusal> {
        Ok(Step::Evaluate(EngineRequest {
            engine: "mesher".into(),
            action: "draw".into(),
            input: Value::Null,
            parts: PartRef::of(content),
            limit_ms: 1000,
        }))
    }
    fn formats(&self) -> &'static [&'static str] {
        &["mesh"]
    }
    fn read(&self, file: &Foreign) -> Result<Content, Refusal> {
        let content = Content::single("model", "text/plain", Arc::clone(&file.bytes));
        self.validate(&content)?;
        Ok(content)
    }
    fn import(&self, file: &Foreign) -> Result<Step<Content>, Refusal> {
        self.read(file).map(Step::Ready)
    }
    fn export(&self, name: &str, content: &Content, format: &Format) -> Result<Step<Foreign>, Refusal> {
        let part = match format {
            Format::Native => "model",
            Format::Named(_) => "mesh",
        };
        let part = content.get(part).ok_or_else(|| Refusal::BadContent { why: format!("there is no {part}") })?;
        Ok(Step::Ready(Foreign {
            name: name.into(),
            media_type: part.media_type.clone(),
            bytes: Arc::clone(&part.bytes),
        }))
    }
}

/// The engine: what it makes of a request, or how it fails.
fn mesher(request: &EngineRequest) -> Result<Evaluated, EngineFailure> {
    let value = request.input["value"].as_i64().unwrap_or(0);
    match value {
        666 => Err(EngineFailure::Crashed { message: "signal 11".into() }),
        value if value < 0 => Err(EngineFailure::Refused { message: "a size can't be negative".into() }),
        value => Ok(Evaluated {
            output: json!({"volume": value * value * value}),
            parts: Content::single("mesh", "model/mesh", format!("mesh of {value}").into_bytes()),
        }),
    }
}

/// A durable intent, as whoever runs engines keeps it.
struct Intent {
    base: u64,
    operation: Value,
    request: EngineRequest,
    state: IntentState,
}

/// Revisions, Candidates and intents: what the store keeps.
struct Shelf {
    registry: Registry,
    revisions: Vec<Content>,
    candidates: Vec<(u64, Content)>,
    intents: Vec<Intent>,
}

impl Shelf {
    fn new() -> Self {
        let registry = Registry::new(vec![Arc::new(super::text::Document), Arc::new(Shapes)]);
        let blank = registry.get("shapes").expect("known").blank("box");
        Self { registry, revisions: vec![blank], candidates: Vec::new(), intents: Vec::new() }
    }
    fn current(&self) -> u64 {
        self.revisions.len() as u64 - 1
    }
    /// First transaction: the intent.
    fn ask(&mut self, base: u64, operation: Value) -> usize {
        let adapter = self.registry.get("shapes").expect("known");
        let Ok(Step::Evaluate(request)) = adapter.apply(&self.revisions[base as usize], &operation) else {
            panic!("asks")
        };
        // What is kept is data: it must come back from JSON as it was.
        let request: EngineRequest =
            serde_json::from_str(&serde_json::to_string(&request).expect("json")).expect("json");
        self.intents.push(Intent { base, operation, request, state: IntentState::Intent });
        self.intents.len() - 1
    }
    /// Outside of any transaction: the engine.
    fn evaluate(&self, intent: usize) -> Result<Evaluated, EngineFailure> {
        mesher(&self.intents[intent].request)
    }
    /// Second transaction: the outcome.
    fn settle(&mut self, number: usize, outcome: Result<Evaluated, EngineFailure>) -> Result<Conclusion, Refusal> {
        let record = match &outcome {
            Ok(evaluated) => evaluated.record(),
            Err(failure) => EngineOutcome::Failed { failure: failure.clone() },
        };
        let record: EngineOutcome = serde_json::from_str(&serde_json::to_string(&record).expect("json")).expect("json");
        let current = self.current();
        let intent = &mut self.intents[number];
        let conclusion = commit::conclude(intent.state, &record, current, intent.base)?;
        let adapter = self.registry.get("shapes")?;
        let base = &self.revisions[intent.base as usize];
        match (&conclusion, outcome) {
            (Conclusion::Commit { revision }, Ok(evaluated)) => {
                let applied = adapter.apply_evaluated(base, &intent.operation, evaluated)?;
                adapter.validate(&applied.content)?;
                intent.state = IntentState::Done;
                assert_eq!(*revision, current + 1);
                self.revisions.push(applied.content);
            }
            (Conclusion::Conflict { .. } | Conclusion::Keep, Ok(evaluated)) => {
                let applied = adapter.apply_evaluated(base, &intent.operation, evaluated)?;
                self.candidates.push((intent.base, applied.content));
                if intent.state != IntentState::Failed {
                    intent.state = IntentState::Done;
                }
            }
            (Conclusion::Failed, _) => intent.state = IntentState::Failed,
            (Conclusion::Known, _) => {}
            (other, outcome) => panic!("{other:?} for {outcome:?}"),
        }
        Ok(conclusion)
    }
}

fn set(name: &str, value: i64) -> Value {
    json!({"op": "set", "name": name, "value": value})
}

#[test]
fn an_engine_in_time_makes_the_next_revision_with_feedback() {
    let mut shelf = Shelf::new();
    let intent = shelf.ask(0, set("a", 3));
    let outcome = shelf.evaluate(intent);
    let applied = Shapes
        .apply_evaluated(&shelf.revisions[0], &shelf.intents[intent].operation, outcome.clone().expect("made"))
        .expect("applied");
    assert_eq!(applied.feedback.text(), "Set a to 3\nvolume: 27");
    assert_eq!(shelf.settle(intent, outcome), Ok(Conclusion::Commit { revision: 1 }));
    assert_eq!(shelf.current(), 1);
    assert_eq!(&*shelf.revisions[1].get("mesh").expect("made").bytes, b"mesh of 3");
}

#[test]
fn a_slow_engine_whose_base_moved_leaves_a_candidate_that_can_be_rebased() {
    let mut shelf = Shelf::new();
    let slow = shelf.ask(0, set("a", 1));
    let quick = shelf.ask(0, set("b", 2));
    let made = shelf.evaluate(quick);
    assert_eq!(shelf.settle(quick, made), Ok(Conclusion::Commit { revision: 1 }));
    let made = shelf.evaluate(slow);
    assert_eq!(shelf.settle(slow, made), Ok(Conclusion::Conflict { base: 0, current: 1 }));
    let (base, proposal) = shelf.candidates.pop().expect("kept");
    let rebased =
        commit::rebase(&Shapes, &shelf.revisions[base as usize], &shelf.revisions[1], &proposal).expect("merges");
    let commit::Rebased::Candidate(candidate) = rebased else { panic!("{rebased:?}") };
    assert_eq!(model(&candidate).expect("valid"), Model::from([("a".into(), 1), ("b".into(), 2)]));
    assert_eq!(Shapes.inspect(&candidate, &|_| Existence::Unknown).expect("looked").len(), 1, "its mesh is to be made");
    assert_eq!(commit::rebase(&Shapes, &shelf.revisions[0], &candidate, &candidate), Ok(commit::Rebased::Contained));
}

#[test]
fn a_crash_of_the_engine_changes_nothing_but_the_intent_and_can_be_tried_again() {
    let mut shelf = Shelf::new();
    for value in [666, -1] {
        let intent = shelf.ask(0, set("a", value));
        let outcome = shelf.evaluate(intent);
        assert_eq!(shelf.settle(intent, outcome), Ok(Conclusion::Failed));
    }
    assert_eq!((shelf.current(), shelf.candidates.len()), (0, 0));
    let again = shelf.ask(0, set("a", 1));
    let outcome = shelf.evaluate(again);
    assert_eq!(shelf.settle(again, outcome), Ok(Conclusion::Commit { revision: 1 }));
}

#[test]
fn a_late_answer_is_kept_and_never_committed_by_itself() {
    let mut shelf = Shelf::new();
    let intent = shelf.ask(0, set("a", 1));
    let late = shelf.evaluate(intent);
    let stopped = Err(EngineFailure::TimedOut { limit_ms: 1000 });
    assert_eq!(shelf.settle(intent, stopped), Ok(Conclusion::Failed));
    assert_eq!(shelf.settle(intent, late.clone()), Ok(Conclusion::Keep));
    assert_eq!(
        (shelf.current(), shelf.candidates.len()),
        (0, 1),
        "told as failed, so not committed; made, so not lost"
    );
    // After a crash of ours nobody knows how far it came; its answer is as good as one in time, once.
    let intent = shelf.ask(0, set("a", 2));
    shelf.intents[intent].state = IntentState::Uncertain;
    let answer = shelf.evaluate(intent);
    assert_eq!(shelf.settle(intent, answer.clone()), Ok(Conclusion::Commit { revision: 1 }));
    assert_eq!(shelf.settle(intent, answer), Ok(Conclusion::Known), "the same answer again");
    assert_eq!(shelf.current(), 1);
}

#[test]
fn an_answer_that_lacks_what_was_asked_is_refused_and_leaves_the_intent_open() {
    let mut shelf = Shelf::new();
    let intent = shelf.ask(0, set("a", 1));
    let empty = Evaluated { output: Value::Null, parts: Content::default() };
    assert!(matches!(shelf.settle(intent, Ok(empty)), Err(Refusal::BadOutcome { .. })));
    assert_eq!((shelf.current(), shelf.intents[intent].state), (0, IntentState::Intent));
}

#[test]
fn a_kind_without_lines_merges_attributes_and_tells_in_its_own_terms() {
    let of = |pairs: &[(&str, i64)]| {
        content(&pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect(), b"m").expect("content")
    };
    let (base, theirs, mine) =
        (of(&[("a", 1), ("b", 2)]), of(&[("a", 5), ("b", 2)]), of(&[("a", 7), ("b", 2), ("c", 3)]));
    let Ok(Merge::Conflicts(pieces)) = Shapes.merge(&base, &theirs, &mine) else { panic!("conflicts") };
    assert_eq!(
        (pieces.len(), pieces[0].unit.as_str(), pieces[0].theirs.as_str(), pieces[0].mine.as_str()),
        (1, "a", "5", "7")
    );
    let resolved = Shapes.resolve(&base, &theirs, &mine, &[Choice::Mine]).expect("resolved");
    assert_eq!(model(&resolved).expect("valid"), Model::from([("a".into(), 7), ("b".into(), 2), ("c".into(), 3)]));
    let mut attribution = Attribution::default();
    Shapes.attribute(&mut attribution, &Content::default(), &base, 0).expect("attributed");
    Shapes.attribute(&mut attribution, &base, &mine, 1).expect("attributed");
    let authors: Vec<u64> = attribution.elements.values().map(|element| element.revision).collect();
    assert_eq!(authors, [1, 0, 1]);
    assert_eq!(Shapes.diff(&base, &theirs).expect("differs").unified(200), "@@ a (a)\n-1\n+5\n");
    let selected = Selected { part: "model".into(), bytes: None, elements: vec!["b".into(), "gone".into()] };
    assert_eq!(Shapes.describe(&base, &selected, 100), Ok("b = 2".into()));
    assert_eq!(Shapes.figures(&base).expect("counted")["numbers"], json!(2));
    assert_eq!(Shapes.digest(&base, &theirs).expect("made").units[0].unit, "a");
    assert!(matches!(Shapes.render(&base, &View::Whole, 100), Ok(Step::Evaluate(_))));
    assert!(Shelf::new().registry.get("nothing").is_err_and(|refusal| refusal.hint() == "kinds: document, shapes"));
}
