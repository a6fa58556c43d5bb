//! Making a deed ready: from the change that somebody asks for to the content that is kept.
//!
//! Everything that takes time happens here, before the command: reading the base, the adapter,
//! cutting the content into pieces. What is decided then is a hash and a few lines. Where an adapter
//! needs an engine, what to ask it comes out instead ([`Unready::Ask`]); with the answer the deed is
//! made ready again from the start, since every adapter gives the same for the same.

use super::contents::Contents;
use crate::domain::rejection::RejectionKind;
use crate::domain::*;
use crate::resources::manifest::{self, Kept};
use crate::resources::rebase::{Rebased, rebase};
use crate::resources::summary::Digest;
use crate::resources::{Adapter, Choice, Content, EngineRequest, Evaluated, Foreign, Hash, Refusal, Registry, Step};
use crate::store::{Bulk, ContentRow, Store};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// A deed that can be decided, with what is kept beside it.
pub(super) struct Prepared {
    pub deed: ResourceDeed<Made>,
    pub bulk: Bulk,
    /// What the one who asked is told of an edit.
    pub feedback: Option<String>,
}

/// Why a deed is not ready.
pub(super) enum Unready {
    /// An engine has to be asked first.
    Ask(Box<Ask>),
    /// It can't be done.
    No(Rejection),
}

/// What an engine is to be asked, with the bytes of the parts that the request names.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub request: EngineRequest,
    pub parts: Content,
}

/// What engines have answered for a deed so far.
pub(super) type Answers = [(EngineRequest, Evaluated)];

impl From<Rejection> for Unready {
    fn from(rejection: Rejection) -> Self {
        Self::No(rejection)
    }
}

impl From<Refusal> for Unready {
    fn from(refusal: Refusal) -> Self {
        Self::No(refusal.into())
    }
}

/// The largest file that is read as a Resource, in bytes.
const LARGEST: u64 = 64 << 20;

/// Makes a deed ready. Blocks.
pub(super) fn prepare(
    store: &Store,
    contents: &Contents,
    registry: &Registry,
    answers: &Answers,
    deed: ResourceDeed<Change>,
) -> Result<Prepared, Unready> {
    let maker = Maker { store, contents, registry, answers };
    let plain = |deed| Ok(Prepared { deed, bulk: Bulk::default(), feedback: None });
    match deed {
        ResourceDeed::Create { kind, name, task, mirror, change } => {
            let kind = kind.trim().to_owned();
            let adapter = registry.get(&kind)?.clone();
            let blank = adapter.blank(&name);
            let (content, told) = maker.change(&*adapter, &name, &blank, None, &change)?;
            let before = adapter.blank(&name);
            let told = Told { summary: told.summary.or_else(|| Some(format!("Make {name}"))), ..told };
            let (made, bulk) = maker.keep(&*adapter, &before, None, content, told.summary_of(&change))?;
            let deed = ResourceDeed::Create { kind, name, task, mirror, change: made };
            Ok(Prepared { deed, bulk, feedback: told.feedback })
        }
        ResourceDeed::Commit { resource, base, by, change } => {
            let (made, bulk, feedback) = maker.edit(&resource, base, &change)?;
            Ok(Prepared { deed: ResourceDeed::Commit { resource, base, by, change: made }, bulk, feedback })
        }
        ResourceDeed::Propose { resource, base, change } => {
            let (made, bulk, feedback) = maker.edit(&resource, base, &change)?;
            Ok(Prepared { deed: ResourceDeed::Propose { resource, base, change: made }, bulk, feedback })
        }
        ResourceDeed::Take { resource, base, by, change } => {
            let (made, bulk, feedback) = maker.edit(&resource, base, &change)?;
            Ok(Prepared { deed: ResourceDeed::Take { resource, base, by, change: made }, bulk, feedback })
        }
        ResourceDeed::Mirrored { resource, revision, trouble } => {
            plain(ResourceDeed::Mirrored { resource, revision, trouble })
        }
        ResourceDeed::Revise { candidate, change } => {
            let known = store.candidate(&candidate)?;
            let of = store.resource(&known.resource)?;
            let adapter = registry.get(&of.kind)?.clone();
            let now = contents.open(store, &known.made.content)?;
            let base = contents.open(store, &store.revision(&of.id, Some(known.base))?.made.content)?;
            let (content, told) = maker.change(&*adapter, &of.name, &now.content, Some(&of), &change)?;
            let (made, bulk) = maker.keep(&*adapter, &base.content, Some(&now), content, told.summary_of(&change))?;
            Ok(Prepared { deed: ResourceDeed::Revise { candidate, change: made }, bulk, feedback: told.feedback })
        }
        ResourceDeed::Rebase { candidate, onto, change } => maker.rebase(candidate, onto, &change),
        ResourceDeed::Intend { .. } | ResourceDeed::Conclude { .. } => {
            Err(Rejection::invalid("only whoever runs engines records what they do", "").into())
        }
        ResourceDeed::Accept { candidate } => plain(ResourceDeed::Accept { candidate }),
        ResourceDeed::Reject { candidate, because } => plain(ResourceDeed::Reject { candidate, because }),
        ResourceDeed::Rename { resource, name } => plain(ResourceDeed::Rename { resource, name }),
        ResourceDeed::Mirror { resource, mirror } => plain(ResourceDeed::Mirror { resource, mirror }),
        ResourceDeed::Remove { resource } => plain(ResourceDeed::Remove { resource }),
        ResourceDeed::See { resource, revision } => plain(ResourceDeed::See { resource, revision }),
        ResourceDeed::Select { resource, selection } => {
            let selection = selection.map(|selection| maker.described(&resource, selection)).transpose()?;
            plain(ResourceDeed::Select { resource, selection })
        }
    }
}

/// What the adapter says of a change.
struct Told {
    summary: Option<String>,
    feedback: Option<String>,
}

impl Told {
    fn summary_of(&self, change: &Change) -> String {
        match change.summary.trim() {
            "" => self.summary.clone().unwrap_or_else(|| "Edit".into()),
            given => given.lines().next().unwrap_or_default().chars().take(200).collect(),
        }
    }
}

struct Maker<'a> {
    store: &'a Store,
    contents: &'a Contents,
    registry: &'a Registry,
    answers: &'a Answers,
}

impl Maker<'_> {
    /// The answer of a step: at once, or with what its engine said.
    fn ended<T>(
        &self,
        step: Step<T>,
        parts: impl FnOnce(&EngineRequest) -> Result<Content, Refusal>,
        end: impl FnOnce(Evaluated) -> Result<T, Refusal>,
    ) -> Result<T, Unready> {
        let request = match step {
            Step::Ready(made) => return Ok(made),
            Step::Evaluate(request) => request,
        };
        match self.answers.iter().find(|(asked, _)| *asked == request) {
            Some((_, evaluated)) => Ok(end(evaluated.clone())?),
            None => Err(Unready::Ask(Box::new(Ask { parts: parts(&request)?, request }))),
        }
    }

    /// An edit of a revision: the content it makes, kept.
    fn edit(&self, id: &ResourceId, base: u64, change: &Change) -> Result<(Made, Bulk, Option<String>), Unready> {
        let resource = self.store.resource(id)?;
        let adapter = self.registry.get(&resource.kind)?.clone();
        let base = self.contents.open(self.store, &self.store.revision(id, Some(base))?.made.content)?;
        let (content, told) = self.change(&*adapter, &resource.name, &base.content, Some(&resource), change)?;
        let summary = told.summary_of(change);
        let (made, bulk) = self.keep(&*adapter, &base.content, Some(&base), content, summary)?;
        Ok((made, bulk, told.feedback))
    }

    /// The new content that a change makes of an old one.
    fn change(
        &self,
        adapter: &dyn Adapter,
        name: &str,
        base: &Content,
        resource: Option<&Resource>,
        change: &Change,
    ) -> Result<(Content, Told), Unready> {
        let silent = |summary: &str| Told { summary: Some(summary.to_owned()), feedback: None };
        Ok(match &change.how {
            How::Blank => (base.clone(), Told { summary: None, feedback: None }),
            How::Operations(operations) => {
                let mut content = base.clone();
                let (mut summaries, mut feedback) = (Vec::new(), Vec::new());
                for operation in operations {
                    let applied = self.ended(
                        adapter.apply(&content, operation)?,
                        |_| Ok(content.clone()),
                        |evaluated| adapter.apply_evaluated(&content, operation, evaluated),
                    )?;
                    content = applied.content;
                    summaries.push(applied.summary);
                    feedback.push(applied.feedback.text());
                }
                if summaries.is_empty() {
                    return Err(Rejection::invalid("there is no operation", "say what is to change").into());
                }
                (content, Told { summary: Some(summaries.join("; ")), feedback: Some(feedback.join("\n")) })
            }
            How::Text(text) => {
                let file =
                    Foreign { name: name.to_owned(), media_type: String::new(), bytes: Arc::from(text.as_bytes()) };
                (self.as_before(base, adapter.read(&file)?), silent("Write the whole text"))
            }
            How::File(path) => {
                let file = read(path)?;
                let content = self.ended(
                    adapter.import(&file)?,
                    |request| parts_of_file(request, &file),
                    |evaluated| adapter.import_evaluated(&file, evaluated),
                )?;
                (self.as_before(base, content), silent(&format!("Take over {}", file.name)))
            }
            How::Revision(number) => {
                let Some(resource) = resource else {
                    return Err(Rejection::invalid("a new Resource has no earlier revision", "").into());
                };
                let revision = self.store.revision(&resource.id, Some(*number))?;
                let kept = self.contents.open(self.store, &revision.made.content)?;
                (kept.content.clone(), silent(&format!("Bring back revision {number}")))
            }
            How::Merge(_) => return Err(Rejection::invalid("only a Candidate is merged", "").into()),
        })
    }

    /// A whole text keeps what the document is written in, which its name may not tell.
    fn as_before(&self, base: &Content, new: Content) -> Content {
        let mut out = Content::default();
        for (name, part) in new.iter() {
            let media_type = base.get(name).map_or(&part.media_type, |before| &before.media_type);
            // The names come from a content that is valid.
            let _ = out.put(name, media_type, part.bytes.clone());
        }
        out
    }

    fn keep(
        &self,
        adapter: &dyn Adapter,
        before: &Content,
        previous: Option<&Kept>,
        content: Content,
        summary: String,
    ) -> Result<(Made, Bulk), Rejection> {
        adapter.validate(&content)?;
        let digest: Digest = adapter.digest(before, &content)?;
        let size = content.size();
        let keep = manifest::keep(content, previous);
        let made = Made { content: keep.row.sha256.to_string(), size, summary, digest };
        Ok((made, bulk(&keep)?))
    }

    fn rebase(&self, id: CandidateId, onto: u64, change: &Change) -> Result<Prepared, Unready> {
        let candidate = self.store.candidate(&id)?;
        let resource = self.store.resource(&candidate.resource)?;
        let adapter = self.registry.get(&resource.kind)?.clone();
        let open = |content: &str| self.contents.open(self.store, content);
        let base = open(&self.store.revision(&resource.id, Some(candidate.base))?.made.content)?;
        let theirs = open(&self.store.revision(&resource.id, Some(onto))?.made.content)?;
        let mine = open(&candidate.made.content)?;
        let choices = match &change.how {
            How::Merge(choices) => choices,
            How::Operations(_) | How::Text(_) | How::File(_) | How::Revision(_) | How::Blank => {
                return Err(Rejection::invalid("a Candidate is brought up by a merge", "").into());
            }
        };
        let merged = if choices.is_empty() {
            match rebase(&*adapter, &base.content, &theirs.content, &mine.content)? {
                Rebased::Candidate(content) => content,
                Rebased::Conflicts(pieces) => {
                    let places: Vec<String> =
                        pieces.iter().take(3).map(|piece| place(piece.lines.as_ref(), &piece.unit)).collect();
                    let what =
                        format!("{} pieces of {id} do not fit revision {onto}: {}", pieces.len(), places.join(", "));
                    let hint = "choose for each piece: theirs, mine, both or base";
                    return Err(Rejection::wrong_state(what, hint).into());
                }
                Rebased::Contained => {
                    let because = Some(format!("revision {onto} holds all of it already"));
                    let deed = ResourceDeed::Reject { candidate: id, because };
                    return Ok(Prepared { deed, bulk: Bulk::default(), feedback: None });
                }
            }
        } else {
            let choices: Vec<Choice> = choices.iter().map(choice).collect::<Result<_, _>>()?;
            adapter.resolve(&base.content, &theirs.content, &mine.content, &choices)?
        };
        let summary = match change.summary.trim() {
            "" => candidate.made.summary.clone(),
            given => given.to_owned(),
        };
        let (made, bulk) = self.keep(&*adapter, &theirs.content, Some(&theirs), merged, summary)?;
        Ok(Prepared { deed: ResourceDeed::Rebase { candidate: id, onto, change: made }, bulk, feedback: None })
    }

    /// A selection with what a model is told of it.
    fn described(&self, id: &ResourceId, selection: Selection) -> Result<Selection, Rejection> {
        let resource = self.store.resource(id)?;
        let adapter = self.registry.get(&resource.kind)?;
        let revision = self.store.revision(id, Some(selection.revision))?;
        let kept = self.contents.open(self.store, &revision.made.content)?;
        let selected = crate::resources::Selected {
            part: selection.part.clone(),
            bytes: selection.bytes.clone(),
            elements: selection.elements.clone(),
        };
        let told = adapter.describe(&kept.content, &selected, SELECTED)?;
        Ok(Selection { told, ..selection })
    }
}

/// The bytes of a file under the names by which a request has them.
fn parts_of_file(request: &EngineRequest, file: &Foreign) -> Result<Content, Refusal> {
    let mut parts = Content::default();
    for part in request.parts.iter().filter(|part| part.hash == Hash::of(&file.bytes)) {
        parts.put(&part.name, &part.media_type, file.bytes.clone())?;
    }
    Ok(parts)
}

/// The most that is told of a selection, in bytes.
const SELECTED: usize = 600;

fn place(lines: Option<&std::ops::Range<usize>>, unit: &str) -> String {
    match lines {
        Some(lines) => format!("lines {}-{} of the base", lines.start + 1, lines.end),
        None => unit.to_owned(),
    }
}

fn choice(value: &Value) -> Result<Choice, Rejection> {
    serde_json::from_value(value.clone())
        .map_err(|error| Rejection::invalid(format!("`{value}` is no choice: {error}"), "theirs, mine, both, base"))
}

/// What is written for a content that is to be kept.
pub(super) fn bulk(keep: &manifest::Keep) -> Result<Bulk, Rejection> {
    let bug = |what: String| Rejection::new(RejectionKind::Internal, format!("BUG: {what}"), "");
    let mut chunks = Vec::with_capacity(keep.blobs.len());
    for blob in &keep.blobs {
        let bytes = blob.of(&keep.kept.content).ok_or_else(|| bug("a piece is not in its content".into()))?;
        chunks.push((blob.hash.to_string(), bytes.to_vec()));
    }
    let row = ContentRow {
        sha256: keep.row.sha256.to_string(),
        base: keep.row.base.map(|base| base.to_string()),
        depth: keep.row.depth,
        parts: serde_json::to_string(&keep.row.parts).map_err(|error| bug(error.to_string()))?,
    };
    Ok(Bulk { chunks, contents: vec![row] })
}

/// Reads a file that is to become a content.
fn read(path: &str) -> Result<Foreign, Rejection> {
    let unreadable = |why: String| {
        let hint = "give the whole path of a file that you can read";
        Rejection::invalid(format!("can't read {path}: {why}"), hint)
    };
    let size = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !size.is_file() {
        return Err(unreadable("it is no file".into()));
    }
    if size.len() > LARGEST {
        return Err(unreadable(format!("it has {} bytes, and {LARGEST} are the most", size.len())));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Foreign { name, media_type: String::new(), bytes: bytes.into() })
}
