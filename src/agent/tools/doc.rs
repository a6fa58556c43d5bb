//! `doc`: shared documents. An edit names the place by what stands there; one whose base is no longer
//! the newest is kept as a Candidate, and said so. Doing a call twice does it once, so that one in
//! flight may simply be done again.

use super::{BadCall, Outcome, Plan, Tool, ToolContext, ToolSpec, arguments, output, plan};
use crate::agent::port::Opened;
use crate::domain::permission::{Access, Action};
use crate::domain::*;
use crate::resources::adapter::Existence;
use crate::resources::{Rendering, Step, View};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The Task's memory: made by the first edit of it.
const MEMORY: &str = "memory.md";

/// Looks at shared documents and edits them.
pub(super) struct Doc;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// list, new, read, outline, check, edit, propose, log, diff, candidates; a candidate: show, accept, reject, merge
    action: String,
    doc: Option<String>,
    /// edit: text that is there once
    find: Option<String>,
    section: Option<String>,
    /// The new text; none deletes
    text: Option<String>,
    /// replace, before, after
    place: Option<String>,
    rev: Option<u64>,
    candidate: Option<String>,
}

static SPEC: LazyLock<ToolSpec> = LazyLock::new(|| {
    let description = "Documents shared with people; memory.md is your Task's memory. Without find or section an edit adds at \
                       the end, or writes all (place=replace).";
    arguments::spec::<Arguments>("doc", description, Effect::Idempotent)
});

/// What is done, checked as far as the arguments tell.
enum Wanted {
    List,
    New { name: String, text: String },
    Look { doc: String, what: Look, rev: Option<u64>, section: Option<String> },
    Edit { doc: String, rev: Option<u64>, operation: Value, text: String, apart: Apart },
    Candidate { id: CandidateId, what: Verdict },
}

/// What is looked at.
#[derive(Clone, Copy)]
enum Look {
    Read,
    Outline,
    Check,
    Log,
    Diff,
    Candidates,
}

/// Whether an edit is committed, or kept for somebody to accept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Apart {
    Commit,
    Propose,
}

/// What is done with a Candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Show,
    Accept,
    Reject,
    Merge,
}

impl Tool for Doc {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn plan<'a>(&'a self, arguments: &'a Value, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, BadCall>> {
        Box::pin(async move {
            let given: Arguments = arguments::typed(arguments, &SPEC)?;
            let wanted = wanted(&given)?;
            let (access, detail) = match &wanted {
                Wanted::List | Wanted::Look { .. } | Wanted::Candidate { what: Verdict::Show, .. } => {
                    (Access::Read, String::new())
                }
                Wanted::New { text, .. } | Wanted::Edit { text, .. } => (Access::Write, text.clone()),
                Wanted::Candidate { .. } => (Access::Write, String::new()),
            };
            let named = given.doc.as_deref().or(given.candidate.as_deref()).unwrap_or_default();
            let subject = format!("{} {named}", given.action).trim().to_owned();
            let action = Action {
                tool: SPEC.name.into(),
                access,
                rule_subject: subject.clone(),
                subject,
                cwd: ctx.cwd.to_string_lossy().into_owned(),
                detail,
                inside: true,
                // What a Subagent writes is only ever proposed.
                own: true,
                beyond: String::new(),
            };
            Ok(plan(action, move |ctx| async move {
                match act(&ctx, wanted).await {
                    Ok(outcome) => outcome,
                    Err(rejection) => Outcome::error(rejection.to_string()),
                }
            }))
        })
    }
}

fn wanted(given: &Arguments) -> Result<Wanted, BadCall> {
    let doc = || match given.doc.as_deref().map(str::trim).filter(|doc| !doc.is_empty()) {
        Some(doc) => Ok(doc.to_owned()),
        None => Err(arguments::bad(&SPEC, "`doc` is missing")),
    };
    let candidate = |what| match given.candidate.as_deref().filter(|id| id.starts_with(CandidateId::PREFIX)) {
        Some(id) => Ok(Wanted::Candidate { id: CandidateId(id.to_owned()), what }),
        None => Err(arguments::bad(&SPEC, "`candidate` is missing: its id begins with w_")),
    };
    let look = |what| Ok(Wanted::Look { doc: doc()?, what, rev: given.rev, section: given.section.clone() });
    let text = given.text.clone().unwrap_or_default();
    let edit = |apart| {
        Ok(Wanted::Edit { doc: doc()?, rev: given.rev, operation: operation(given)?, text: text.clone(), apart })
    };
    match given.action.as_str() {
        "list" => Ok(Wanted::List),
        "new" => Ok(Wanted::New { name: doc()?, text: text.clone() }),
        "read" => look(Look::Read),
        "outline" => look(Look::Outline),
        "check" => look(Look::Check),
        "log" => look(Look::Log),
        "diff" => look(Look::Diff),
        "candidates" => look(Look::Candidates),
        "edit" => edit(Apart::Commit),
        "propose" => edit(Apart::Propose),
        "show" => candidate(Verdict::Show),
        "accept" => candidate(Verdict::Accept),
        "reject" => candidate(Verdict::Reject),
        "merge" => candidate(Verdict::Merge),
        other => Err(arguments::bad(&SPEC, &format!("there is no action `{other}`"))),
    }
}

/// The names of a section from the outermost to its own.
fn path(section: &str) -> Vec<String> {
    section.split(['>', '›']).map(|name| name.trim().trim_start_matches('#').trim().to_owned()).collect()
}

/// The operation of the kind `document` that an edit means.
fn operation(given: &Arguments) -> Result<Value, BadCall> {
    let text = given.text.clone().unwrap_or_default();
    let place = given.place.as_deref();
    let at = match (&given.find, &given.section) {
        (Some(_), Some(_)) => return Err(arguments::bad(&SPEC, "give `find` or `section`, not both")),
        (Some(find), None) => Some(json!({"by": "quote", "text": find})),
        (None, Some(section)) => Some(json!({"by": "section", "path": path(section)})),
        (None, None) => None,
    };
    Ok(match (at, place, &given.section) {
        (Some(at), Some("before"), _) => json!({"op": "insert_before", "at": at, "text": text}),
        (Some(at), Some("after"), _) => json!({"op": "insert_after", "at": at, "text": text}),
        (Some(at), Some("replace") | None, _) if given.text.is_none() => json!({"op": "delete", "at": at}),
        (Some(_), Some("replace") | None, Some(section)) => {
            json!({"op": "set_body", "path": path(section), "text": text, "extent": "own"})
        }
        (Some(at), Some("replace") | None, None) => json!({"op": "replace", "at": at, "text": text}),
        (None, Some("replace"), _) => json!({"op": "set_text", "text": text}),
        (None, None | Some("after"), _) => json!({"op": "append", "text": text}),
        (_, Some(other), _) => return Err(arguments::bad(&SPEC, &format!("there is no place `{other}`"))),
    })
}

async fn find(ctx: &ToolContext, word: &str) -> Result<Resource, Rejection> {
    let all = ctx.documents.list().await?;
    let own = all.iter().find(|resource| resource.name == word && resource.task.is_some());
    let found = own.or_else(|| all.iter().find(|resource| resource.id.as_str() == word || resource.name == word));
    found.cloned().ok_or_else(|| {
        let names: Vec<&str> = all.iter().take(20).map(|resource| resource.name.as_str()).collect();
        Rejection::not_found(format!("document {word}"), format!("there are: {}", names.join(", ")))
    })
}

async fn act(ctx: &ToolContext, wanted: Wanted) -> Result<Outcome, Rejection> {
    match wanted {
        Wanted::List => list(ctx).await,
        Wanted::New { name, text } => create(ctx, name, text).await,
        Wanted::Look { doc, what, rev, section } => look(ctx, &find(ctx, &doc).await?, what, rev, section).await,
        Wanted::Edit { doc, rev, operation, text, apart } => {
            let resource = match find(ctx, &doc).await {
                Err(rejection) if rejection.kind == rejection::RejectionKind::NotFound && doc == MEMORY => {
                    return create(ctx, doc, text).await;
                }
                found => found?,
            };
            edit(ctx, &resource, rev, operation, apart).await
        }
        Wanted::Candidate { id, what } => candidate(ctx, id, what).await,
    }
}

async fn list(ctx: &ToolContext) -> Result<Outcome, Rejection> {
    let all = ctx.documents.list().await?;
    if all.is_empty() {
        return Ok(Outcome::done("There are no documents. `new` makes one."));
    }
    let rows: Vec<String> = all
        .iter()
        .map(|resource| {
            let Resource { id, kind, revision, updated_by, .. } = resource;
            let whose = if resource.task.is_some() { "of this Task" } else { "everybody's" };
            format!(
                "{} ({id}, {kind}, {whose}): revision {revision} by {} {}",
                resource.name, updated_by.kind, updated_by.id
            )
        })
        .collect();
    Ok(Outcome::done(bounded(ctx, &rows.join("\n"))))
}

async fn create(ctx: &ToolContext, name: String, text: String) -> Result<Outcome, Rejection> {
    let how = if text.is_empty() { How::Blank } else { How::Text(text) };
    let change = Change { how, summary: String::new() };
    let task = Some(ctx.documents.task());
    let deed = ResourceDeed::Create { kind: "document".into(), name: name.clone(), task, mirror: None, change };
    let made = ctx.documents.act(deed).await?;
    let id = made.resource.map(|id| id.0).unwrap_or_default();
    Ok(Outcome::done(format!("{name} is made ({id}, revision 0).")))
}

async fn look(
    ctx: &ToolContext,
    resource: &Resource,
    what: Look,
    rev: Option<u64>,
    section: Option<String>,
) -> Result<Outcome, Rejection> {
    let registry = ctx.documents.registry();
    let adapter = registry.get(&resource.kind)?;
    let of = |number| ContentOf::Revision { resource: resource.id.clone(), number };
    let budget = ctx.limits.tool_output_bytes;
    let head = |opened: &Opened| format!("{} ({}) revision {}", resource.name, resource.id, opened.revision);
    let text = match what {
        Look::Read => {
            let opened = ctx.documents.open(of(rev)).await?;
            let view = section.map_or(View::Whole, |section| View::Unit { path: path(&section) });
            let rendering = match adapter.render(&opened.content, &view, budget)? {
                Step::Ready(rendering) => rendering,
                Step::Evaluate(request) => {
                    let drawn = ctx.documents.ask(request, opened.content.clone()).await;
                    let drawn = drawn.map_err(|failure| Rejection::invalid(failure.to_string(), ""))?;
                    adapter.render_evaluated(drawn)?
                }
            };
            let shown = match rendering {
                Rendering::Text { text, left_out } if left_out.is_empty() => text,
                Rendering::Text { text, left_out } => format!("{text}\n[{left_out}]"),
                // No kind that is brought along draws pictures; what they show is said by their names.
                Rendering::Pictures(pictures) => pictures
                    .iter()
                    .map(|(name, part)| format!("[{name}: {}, {} bytes]", part.media_type, part.bytes.len()))
                    .collect::<Vec<_>>()
                    .join("\n"),
            };
            // What was read in full need not be told again.
            if rev.is_none() {
                let (resource, revision) = (resource.id.clone(), opened.revision);
                ctx.documents.act(ResourceDeed::See { resource, revision }).await?;
            }
            format!("{}:\n{shown}", head(&opened))
        }
        Look::Outline => {
            let opened = ctx.documents.open(of(rev)).await?;
            let mut rows = vec![head(&opened)];
            rows.extend(adapter.figures(&opened.content)?.iter().map(|(name, value)| format!("{name}: {value}")));
            rows.extend(adapter.outline(&opened.content)?.iter().map(ToString::to_string));
            rows.join("\n")
        }
        Look::Check => {
            let opened = ctx.documents.open(of(rev)).await?;
            let cwd = ctx.cwd.clone();
            let lookup = |path: &str| if cwd.join(path).exists() { Existence::Present } else { Existence::Absent };
            let found = adapter.inspect(&opened.content, &lookup)?;
            let rows: Vec<String> = found.iter().map(ToString::to_string).collect();
            if rows.is_empty() { format!("{}: nothing found", head(&opened)) } else { rows.join("\n") }
        }
        Look::Log => {
            let rows: Vec<String> = ctx
                .documents
                .history(resource.id.clone())
                .await?
                .iter()
                .map(|revision| {
                    let Actor { kind, id } = &revision.actor;
                    format!("{} by {kind} {id}: {}", revision.number, revision.made.summary)
                })
                .collect();
            rows.join("\n")
        }
        Look::Diff => {
            let (before, after) = (ctx.documents.open(of(rev)).await?, ctx.documents.open(of(None)).await?);
            let diff = adapter.diff(&before.content, &after.content)?;
            let text = diff.unified(budget);
            if text.is_empty() { "The two are alike.".into() } else { text }
        }
        Look::Candidates => {
            let rows: Vec<String> = ctx
                .documents
                .candidates(resource.id.clone())
                .await?
                .iter()
                .map(|one| {
                    let (id, state, base) = (&one.id, one.state, one.base);
                    format!(
                        "{id} {state}, on revision {base}, by {} {}: {}",
                        one.actor.kind, one.actor.id, one.made.summary
                    )
                })
                .collect();
            if rows.is_empty() { "Nothing is proposed.".into() } else { rows.join("\n") }
        }
    };
    Ok(Outcome::done(bounded(ctx, &text)))
}

async fn edit(
    ctx: &ToolContext,
    resource: &Resource,
    rev: Option<u64>,
    operation: Value,
    apart: Apart,
) -> Result<Outcome, Rejection> {
    let base = rev.unwrap_or(resource.revision);
    let change = Change { how: How::Operations(vec![operation]), summary: String::new() };
    let id = resource.id.clone();
    let made = ctx
        .documents
        .act(match apart {
            Apart::Commit => ResourceDeed::Commit { resource: id, base, by: None, change },
            Apart::Propose => ResourceDeed::Propose { resource: id, base, change },
        })
        .await?;
    let feedback = made.feedback.map(|feedback| format!("\n{feedback}")).unwrap_or_default();
    let name = &resource.name;
    Ok(match (made.revision, made.candidate) {
        (Some(revision), _) => Outcome::done(bounded(ctx, &format!("{name} is at revision {revision}.{feedback}"))),
        (None, Some(candidate)) => {
            let opened = ctx.documents.open(ContentOf::Candidate(candidate.clone())).await?;
            match opened.candidate.map(|candidate| candidate.state) {
                Some(CandidateState::Conflict) => Outcome::error(format!(
                    "Conflict: {name} is no longer at revision {base}. Your edit is kept as {candidate}. Read what others \
                     changed; `merge` with that candidate brings it up to the newest revision."
                )),
                _ => {
                    Outcome::done(bounded(ctx, &format!("Proposed as {candidate}, for somebody to accept.{feedback}")))
                }
            }
        }
        (None, None) => Outcome::done(format!("{name} is as it was.")),
    })
}

async fn candidate(ctx: &ToolContext, id: CandidateId, what: Verdict) -> Result<Outcome, Rejection> {
    let opened = ctx.documents.open(ContentOf::Candidate(id.clone())).await?;
    let resource = &opened.resource;
    match what {
        Verdict::Show => {
            let number = Some(opened.revision);
            let base = ctx.documents.open(ContentOf::Revision { resource: resource.id.clone(), number }).await?;
            let diff = ctx.documents.registry().get(&resource.kind)?.diff(&base.content, &opened.content)?;
            let state = opened.candidate.map(|candidate| candidate.state.to_string()).unwrap_or_default();
            let head = format!("{id} of {}, {state}, made on revision {}:", resource.name, opened.revision);
            Ok(Outcome::done(format!("{head}\n{}", diff.unified(ctx.limits.tool_output_bytes))))
        }
        Verdict::Accept => {
            let made = ctx.documents.act(ResourceDeed::Accept { candidate: id }).await?;
            let revision = made.revision.map_or_else(String::new, |number| format!(" {number}"));
            Ok(Outcome::done(format!("{} is at revision{revision}.", resource.name)))
        }
        Verdict::Reject => {
            ctx.documents.act(ResourceDeed::Reject { candidate: id.clone(), because: None }).await?;
            Ok(Outcome::done(format!("{id} is settled; {} is as it was.", resource.name)))
        }
        Verdict::Merge => {
            let change = Change { how: How::Merge(Vec::new()), summary: String::new() };
            let onto = resource.revision;
            let made = ctx.documents.act(ResourceDeed::Rebase { candidate: id.clone(), onto, change }).await?;
            Ok(Outcome::done(match made.candidate {
                Some(new) => format!("{id} goes on as {new}, on revision {onto}. `accept` takes it."),
                None => format!("Revision {onto} holds all of {id} already."),
            }))
        }
    }
}

fn bounded(ctx: &ToolContext, text: &str) -> String {
    output::bound(text, ctx.limits.tool_output_bytes, &*ctx.blobs)
}
