//! The questions of the Editor: texts of many megabytes come in parts, and what is long to compute is
//! computed beside the screen.

use super::super::editor::{EditorAsk, EditorNews, Opened, Sides, kept_as, review};
use super::wrong;
use crate::domain::{Actor, Answer, Candidate, ContentOf, Query, Resource, ResourceId, Revision};
use crate::host::client::{Client, Failure};
use crate::resources::diff;
use crate::resources::editor::Draft;
use crate::resources::text::outline;
use crate::resources::text::syntax::Syntax;
use base64::Engine;

/// How many bytes of a text are asked for at once; as base64 they fit into one answer.
const PIECE: u32 = 4 << 20;

/// How many revisions are looked back at.
const REVISIONS: u32 = 1_000;

/// The longest difference that is shown.
const DIFFERENCE: usize = 256 << 10;

/// The kind that is edited as text.
const DOCUMENT: &str = "document";

/// Answers a question of the Editor; nothing where the connection went.
pub(super) async fn ask(client: &Client, ask: EditorAsk) -> Option<EditorNews> {
    match answer(client, ask).await {
        Ok(news) => Some(news),
        Err(Failure::Lost(_)) => None,
        Err(failure @ (Failure::Rejected(_) | Failure::Refused { .. })) => {
            Some(EditorNews::Unanswered(failure.to_string()))
        }
    }
}

async fn answer(client: &Client, ask: EditorAsk) -> Result<EditorNews, Failure> {
    match ask {
        EditorAsk::List => {
            let resources = match client.ask(Query::Resources { task: None }).await? {
                Answer::Resources(resources) => resources,
                other => return Err(wrong(&other)),
            };
            Ok(EditorNews::Listed(resources, candidates(client, None).await?))
        }
        EditorAsk::Open { resource, client: name } => {
            let resource = resource_of(client, resource).await?;
            if resource.kind != DOCUMENT {
                let what =
                    format!("{} is of the kind {}: only documents are edited here", resource.name, resource.kind);
                return Ok(EditorNews::Unopened(what));
            }
            let draft = Query::Draft { client: name.0, pane: kept_as(&resource.id) };
            let draft: Option<Draft> = match client.ask(draft).await? {
                Answer::Draft(text) => text.and_then(|text| serde_json::from_str(&text).ok()),
                other => return Err(wrong(&other)),
            };
            let number = draft.as_ref().map_or(resource.revision, |draft| draft.base);
            let (text, part, media_type) = text(client, review::revision(&resource.id, number)).await?;
            let Some(text) = text else {
                return Ok(EditorNews::Unopened(format!("{} is no text: it is not UTF-8", resource.name)));
            };
            Ok(EditorNews::Opened(Box::new(Opened { resource, revision: number, part, media_type, text, draft })))
        }
        EditorAsk::Catch { resource, from, ground, to } => {
            let by = author(client, &resource, to).await?;
            let (text, ..) = text(client, review::revision(&resource, to)).await?;
            let text = text.unwrap_or_default();
            let patch = compute(move || diff::patch_between(&from, &text)).await?;
            Ok(EditorNews::Caught { resource, ground, to, by, patch })
        }
        EditorAsk::Blame { resource, revision } => {
            match client.ask(Query::Blame { resource: resource.clone(), revision: Some(revision) }).await? {
                Answer::Blame(blame) => Ok(EditorNews::Blamed(resource, revision, blame)),
                other => Err(wrong(&other)),
            }
        }
        EditorAsk::History(resource) => {
            let query = Query::Revisions { resource: resource.clone(), before: None, limit: REVISIONS };
            let revisions = match client.ask(query).await? {
                Answer::Revisions(revisions) => revisions,
                other => return Err(wrong(&other)),
            };
            let candidates = candidates(client, Some(resource.clone())).await?;
            Ok(EditorNews::History(resource, revisions, candidates))
        }
        EditorAsk::Compare { from, to } => {
            let before = match from {
                Some(from) => text(client, from).await?.0.unwrap_or_default(),
                None => String::new(),
            };
            let (after, _, media_type) = text(client, to.clone()).await?;
            let after = after.unwrap_or_default();
            Ok(EditorNews::Compared(to, compute(move || difference(&before, &after, &media_type)).await?))
        }
        EditorAsk::Sides(candidate) => {
            let candidate = match client.ask(Query::Candidate { candidate }).await? {
                Answer::Candidate(candidate) => *candidate,
                other => return Err(wrong(&other)),
            };
            let resource = resource_of(client, candidate.resource.clone()).await?;
            let onto = resource.revision;
            let (base, ..) = text(client, review::revision(&resource.id, candidate.base)).await?;
            let (theirs, ..) = text(client, review::revision(&resource.id, onto)).await?;
            let (mine, _, media_type) = text(client, ContentOf::Candidate(candidate.id.clone())).await?;
            let by = resource.updated_by;
            let [base, theirs, mine] = [base, theirs, mine].map(Option::unwrap_or_default);
            Ok(EditorNews::Sides(Box::new(Sides { candidate, by, onto, base, theirs, mine, media_type })))
        }
    }
}

async fn resource_of(client: &Client, resource: ResourceId) -> Result<Resource, Failure> {
    match client.ask(Query::Resource { resource }).await? {
        Answer::Resource(resource) => Ok(*resource),
        other => Err(wrong(&other)),
    }
}

async fn candidates(client: &Client, resource: Option<ResourceId>) -> Result<Vec<Candidate>, Failure> {
    match client.ask(Query::Candidates { resource, open: true }).await? {
        Answer::Candidates(candidates) => Ok(candidates),
        other => Err(wrong(&other)),
    }
}

/// Who wrote a revision.
async fn author(client: &Client, resource: &ResourceId, number: u64) -> Result<Actor, Failure> {
    let query = Query::Revisions { resource: resource.clone(), before: Some(number + 1), limit: 1 };
    match client.ask(query).await? {
        Answer::Revisions(revisions) => {
            let found: Option<Revision> = revisions.into_iter().next();
            Ok(found.map_or_else(Actor::system, |revision| revision.actor))
        }
        other => Err(wrong(&other)),
    }
}

/// A text, part by part; none where it is not UTF-8. With the part's name and what it is.
async fn text(client: &Client, of: ContentOf) -> Result<(Option<String>, String, String), Failure> {
    let (mut bytes, mut part, mut media_type) = (Vec::new(), None, String::new());
    loop {
        let (of, offset) = (of.clone(), bytes.len() as u64);
        let slice = match client.ask(Query::Content { of, part: part.clone(), offset, limit: PIECE }).await? {
            Answer::Content(slice) => slice,
            other => return Err(wrong(&other)),
        };
        let decoded = base64::engine::general_purpose::STANDARD.decode(&slice.base64);
        let decoded =
            decoded.map_err(|error| Failure::Lost(format!("the host gave a text that can't be read: {error}")))?;
        let came = decoded.len();
        bytes.extend(decoded);
        let info = slice.parts.into_iter().find(|info| info.name == slice.part);
        let size = info.as_ref().map_or(0, |info| info.size);
        media_type = info.map_or(media_type, |info| info.media_type);
        if came == 0 || bytes.len() as u64 >= size {
            return Ok((String::from_utf8(bytes).ok(), slice.part, media_type));
        }
        part = Some(slice.part);
    }
}

/// The difference of two texts as lines with signs.
fn difference(before: &str, after: &str, media_type: &str) -> String {
    let sections = outline::outline(after, Syntax::of_media_type(media_type));
    let hunks = diff::text_hunks(before, after, |line| outline::title_at(&sections, line));
    let part = diff::PartDiff::Text { part: String::new(), hunks, added: 0, removed: 0 };
    diff::Diff { parts: vec![part] }.unified(DIFFERENCE)
}

/// Computes on a thread of its own what would keep others waiting.
async fn compute<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(run).await;
    done.map_err(|error| Failure::Lost(format!("BUG: what was to be computed failed: {error}")))
}
