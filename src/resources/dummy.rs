//! A kind of the tests that uses the seam whole: a content of numbered shapes of which an engine makes
//! a mesh.
//!
//! The content has the part `model` (lines `name = number`) and the part `mesh`, which only the
//! engine can make. The engine is a child process that is slow, crashes and answers late
//! (`runtime/resources/tests.rs`); no user of the program is ever offered this kind.

use super::adapter::*;
use super::content::{Content, Hash, Part};
use super::diff::{Diff, ElementChange, PartDiff};
use super::engine::{EngineRequest, Evaluated, PartRef};
use super::merge::{Choice, Merge, Piece};
use super::refusal::Refusal;
use super::summary::{Digest, UnitChange};
use super::text::decode::text_of;
use super::{Attribution, Rendering};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) struct Shapes;

/// The word of its engine.
pub(crate) const MESHER: &str = "mesher";

/// The size of which its engine makes a mesh too late.
pub(crate) const LATE: i64 = 8;

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

fn ask(action: &str, input: Value, parts: Vec<PartRef>) -> EngineRequest {
    EngineRequest { engine: MESHER.into(), action: action.into(), input, parts, limit_ms: 60_000 }
}

fn made<'a>(evaluated: &'a Evaluated, part: &str) -> Result<&'a Part, Refusal> {
    let missing = || Refusal::BadOutcome { why: format!("it has no {part}") };
    evaluated.parts.get(part).ok_or_else(missing)
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
                limit_ms: if value == LATE { 100 } else { 60_000 },
                ..ask("set", json!({"name": name, "value": value}), PartRef::of(base))
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
        let made = made(&evaluated, "mesh")?;
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
        Ok(Step::Evaluate(ask("draw", Value::Null, PartRef::of(content))))
    }
    fn formats(&self) -> &'static [&'static str] {
        &["mesh", "stl"]
    }
    fn read(&self, file: &Foreign) -> Result<Content, Refusal> {
        let content = Content::single("model", "text/plain", Arc::clone(&file.bytes));
        self.validate(&content)?;
        Ok(content)
    }
    fn import(&self, file: &Foreign) -> Result<Step<Content>, Refusal> {
        if !file.name.ends_with(".stl") {
            return self.read(file).map(Step::Ready);
        }
        let (hash, size) = (Hash::of(&file.bytes), file.bytes.len() as u64);
        let part = PartRef { name: "stl".into(), media_type: "model/stl".into(), hash, size };
        Ok(Step::Evaluate(ask("import", Value::Null, vec![part])))
    }
    fn import_evaluated(&self, _file: &Foreign, evaluated: Evaluated) -> Result<Content, Refusal> {
        let text = text_of(&evaluated.parts, "model")?.to_owned();
        let mut content = Content::single("model", "text/plain", text.into_bytes());
        content.put("mesh", "model/mesh", made(&evaluated, "mesh")?.bytes.clone())?;
        Ok(content)
    }
    fn export(&self, name: &str, content: &Content, format: &Format) -> Result<Step<Foreign>, Refusal> {
        let part = match format {
            Format::Native => "model",
            Format::Named(word) if word == "stl" => {
                return Ok(Step::Evaluate(ask("export", Value::Null, PartRef::of(content))));
            }
            Format::Named(_) => "mesh",
        };
        let part = content.get(part).ok_or_else(|| Refusal::BadContent { why: format!("there is no {part}") })?;
        Ok(Step::Ready(Foreign {
            name: name.into(),
            media_type: part.media_type.clone(),
            bytes: Arc::clone(&part.bytes),
        }))
    }
    fn export_evaluated(&self, name: &str, _format: &Format, evaluated: Evaluated) -> Result<Foreign, Refusal> {
        let bytes = made(&evaluated, "stl")?.bytes.clone();
        Ok(Foreign { name: format!("{name}.stl"), media_type: "model/stl".into(), bytes })
    }
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
    let registry = super::Registry::new(vec![Arc::new(super::text::Document), Arc::new(Shapes)]);
    assert!(registry.get("nothing").is_err_and(|refusal| refusal.hint() == "kinds: document, shapes"));
}
