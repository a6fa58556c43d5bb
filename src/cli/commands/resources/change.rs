//! Changing Resources: each change is a commit on a base, as anybody's is.

use super::{act, content, find};
use crate::cli::app::App;
use crate::cli::fault::Fault;
use crate::cli::input;
use crate::cli::session::Session;
use crate::domain::sanitise::line;
use crate::domain::*;
use crate::process::foreground;
use crate::resources::text::convert::name_of;
use crate::resources::text::decode::text_of;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub struct CommitArgs {
    /// Its name or id
    pub name: String,
    /// The revision that the new content was made of
    #[arg(long, value_name = "N")]
    pub base: u64,
    /// The file that holds the new content; - reads standard input
    #[arg(long, value_name = "FILE|-")]
    pub from: String,
    /// Who wrote it: another person, a Job (j_…) or a file (f_…)
    #[arg(long = "as", value_name = "ACTOR")]
    pub by: Option<String>,
    /// One line for the history
    #[arg(short = 'm', long = "message", value_name = "SUMMARY", default_value = "")]
    pub summary: String,
}

/// Where the new content comes from.
fn source(from: &str) -> Result<How, Fault> {
    if from == "-" {
        return Ok(How::Text(input::words(&["-".to_owned()])?));
    }
    let path = Path::new(from);
    let whole = std::path::absolute(path).map_err(|error| Fault::io("read", path, &error))?;
    if !whole.is_file() {
        return Err(Fault::usage(
            format!("there is no file {from}"),
            "give the path of a file, or - for standard input",
        ));
    }
    Ok(How::File(whole.to_string_lossy().into_owned()))
}

/// What is to be made.
pub(super) struct New {
    pub kind: String,
    pub name: String,
    pub from: Option<String>,
    pub task: Option<String>,
    pub mirror: Option<PathBuf>,
}

pub(super) async fn new(app: &App, session: &mut Session<'_>, new: New) -> Result<(), Fault> {
    let file = new.mirror.as_deref().filter(|file| file.exists());
    let how = match (new.from.as_deref(), file) {
        (Some(_), Some(file)) => {
            return Err(Fault::usage(
                format!("{} holds something already", file.display()),
                "leave --from out to begin with that, or name a file that is not there yet",
            ));
        }
        (Some(from), None) => source(from)?,
        (None, Some(file)) => How::Text(text_in(file)?),
        (None, None) => How::Blank,
    };
    let mirror = new.mirror.as_deref().map(whole).transpose()?;
    create(app, session, Kind { kind: new.kind, name: new.name, mirror }, how, new.task).await
}

/// What a file holds, exactly as it is: a file that is tied is never converted.
fn text_in(file: &Path) -> Result<String, Fault> {
    let bytes = std::fs::read(file).map_err(|error| Fault::io("read", file, &error))?;
    String::from_utf8(bytes)
        .map_err(|_| Fault::usage(format!("{} holds bytes that are no UTF-8", file.display()), "convert it first"))
}

/// The whole path of a file that a Resource is tied to.
fn whole(file: &Path) -> Result<String, Fault> {
    let path = std::path::absolute(file).map_err(|error| Fault::io("read", file, &error))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| Fault::usage(format!("{} is no UTF-8", path.display()), "give the file another name"))
}

pub(super) async fn mirror(app: &App, session: &mut Session<'_>, word: &str, file: Option<&Path>) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let mirror = file.map(whole).transpose()?;
    act(session, ResourceDeed::Mirror { resource: resource.id.clone(), mirror }).await?;
    let resource = session.resource(resource.id).await?;
    let name = line(&resource.name);
    match &resource.mirror {
        Some(file) => app.out.note(&format!("{name} is tied to {}", line(file))),
        None => app.out.note(&format!("{name} is tied to no file")),
    }
    if app.out.json { app.out.json(&resource) } else { Ok(()) }
}

/// What a new Resource is, and which file it is tied to.
struct Kind {
    kind: String,
    name: String,
    mirror: Option<String>,
}

pub(super) async fn import(
    app: &App,
    session: &mut Session<'_>,
    file: &Path,
    name: Option<String>,
    task: Option<String>,
) -> Result<(), Fault> {
    let of_file = file.file_name().map(|name| name_of(&name.to_string_lossy()));
    let name = name.or(of_file).unwrap_or_default();
    let new = Kind { kind: "document".into(), name, mirror: None };
    create(app, session, new, source(&file.to_string_lossy())?, task).await
}

async fn create(app: &App, session: &mut Session<'_>, new: Kind, how: How, task: Option<String>) -> Result<(), Fault> {
    let task = match task {
        Some(word) => Some(session.id::<TaskId>(&word).await?),
        None => None,
    };
    let Kind { kind, name, mirror } = new;
    let change = Change { how, summary: String::new() };
    let receipt = act(session, ResourceDeed::Create { kind, name, task, mirror, change }).await?;
    let id = receipt.resource.ok_or_else(|| Fault::bug("a Resource was made without an id"))?;
    let resource = session.resource(id).await?;
    if app.out.json {
        return app.out.json(&resource);
    }
    app.out.note(&format!("{} is made", line(&resource.name)));
    app.out.line(resource.id.as_str())
}

pub(super) async fn commit(app: &App, session: &mut Session<'_>, args: CommitArgs) -> Result<(), Fault> {
    let resource = find(session, &args.name).await?;
    let change = Change { how: source(&args.from)?, summary: args.summary };
    let by = args.by.as_deref().map(Actor::of);
    let deed = ResourceDeed::Commit { resource: resource.id.clone(), base: args.base, by, change };
    let receipt = act(session, deed).await?;
    told(app, session, &resource, &receipt).await
}

pub(super) async fn revert(app: &App, session: &mut Session<'_>, word: &str, to: u64) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let change = Change { how: How::Revision(to), summary: String::new() };
    let deed = ResourceDeed::Commit { resource: resource.id.clone(), base: resource.revision, by: None, change };
    let receipt = act(session, deed).await?;
    told(app, session, &resource, &receipt).await
}

/// Says what became of an edit; one that is only kept is a failure.
async fn told(app: &App, session: &mut Session<'_>, resource: &Resource, receipt: &EditReceipt) -> Result<(), Fault> {
    if let Some(number) = receipt.revision {
        if app.out.json {
            let found = session.revisions(resource.id.clone(), Some(number + 1), 1).await?;
            return found.iter().try_for_each(|revision| app.out.json(revision));
        }
        app.out.note(&format!("{} is at revision {number}", line(&resource.name)));
        return Ok(());
    }
    let Some(candidate) = &receipt.candidate else {
        return Err(Fault::bug("an edit became neither a revision nor a Candidate"));
    };
    let kept = session.candidate(candidate.clone()).await?;
    if app.out.json {
        app.out.json(&kept)?;
    }
    let now = session.resource(resource.id.clone()).await?.revision;
    let name = line(&resource.name);
    let message = format!("{name} is at revision {now}, not at {}; your text is kept as {candidate}", kept.base);
    Err(Fault::new("conflict", message, format!("`cowork resources merge {candidate}` brings it up to that revision")))
}

pub(super) async fn edit(app: &App, session: &mut Session<'_>, word: &str) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let found = content::of_revision(session, &resource.id, resource.revision).await?;
    let Some(text) = found.iter().find_map(|(name, _)| text_of(&found, name).ok()) else {
        return Err(Fault::usage(format!("{} is no text", line(&resource.name)), "export it, and commit the file"));
    };
    let edited = in_editor(text, &resource.name).await?;
    if edited == text {
        app.out.note("nothing was changed");
        return Ok(());
    }
    let change = Change { how: How::Text(edited), summary: String::new() };
    let deed = ResourceDeed::Commit { resource: resource.id.clone(), base: resource.revision, by: None, change };
    let receipt = act(session, deed).await?;
    told(app, session, &resource, &receipt).await
}

/// Gives a text to the person's editor as it is, under a name of the same ending.
async fn in_editor(text: &str, name: &str) -> Result<String, Fault> {
    let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let program = named.into_iter().find(|program| !program.trim().is_empty()).unwrap_or_else(|| "vi".to_owned());
    let ending = Path::new(name).extension().map(|word| format!(".{}", word.to_string_lossy())).unwrap_or_default();
    let file = tempfile::Builder::new()
        .prefix("resource-")
        .suffix(&ending)
        .tempfile()
        .map_err(|error| Fault::new("io", format!("cannot make a file: {error}"), ""))?;
    let path = file.path();
    std::fs::write(path, text).map_err(|error| Fault::io("write", path, &error))?;
    let started = foreground::with_file(&program, path).await;
    let status =
        started.map_err(|error| Fault::new("io", format!("cannot start {program}: {error}"), "set $EDITOR"))?;
    if !status.success() {
        return Err(Fault::new("editor", format!("{program} ended with {status}"), "nothing was committed"));
    }
    let bytes = std::fs::read(path).map_err(|error| Fault::io("read", path, &error))?;
    String::from_utf8(bytes)
        .map_err(|_| Fault::new("invalid", "the editor left bytes that are no UTF-8", "nothing was committed"))
}

pub(super) async fn rename(app: &App, session: &mut Session<'_>, word: &str, to: String) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    act(session, ResourceDeed::Rename { resource: resource.id.clone(), name: to }).await?;
    let resource = session.resource(resource.id).await?;
    app.out.note(&format!("{} is its name now", line(&resource.name)));
    if app.out.json { app.out.json(&resource) } else { Ok(()) }
}

pub(super) async fn remove(app: &App, session: &mut Session<'_>, word: &str) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    act(session, ResourceDeed::Remove { resource: resource.id.clone() }).await?;
    app.out.note(&format!("{} is removed", line(&resource.name)));
    if app.out.json { app.out.json(&json!({"id": resource.id, "removed": true})) } else { Ok(()) }
}
