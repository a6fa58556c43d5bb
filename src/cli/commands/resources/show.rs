//! Looking at Resources: which there are, their content, history and authors.

use super::{content, find, who};
use crate::cli::app::App;
use crate::cli::fault::Fault;
use crate::cli::session::Session;
use crate::cli::units;
use crate::domain::sanitise::line;
use crate::domain::*;
use crate::resources::text::decode::text_of;
use crate::resources::{Format, Step, lines};
use crate::runtime::Engines;
use serde_json::{Value, json};
use std::path::Path;

/// Two revisions; the second may be the newest.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    from: u64,
    to: Option<u64>,
}

/// Reads `A..B`, or `A`.
pub fn range(text: &str) -> Result<Range, String> {
    let number = |word: &str| word.parse().map_err(|_| format!("`{word}` is no revision; write 3..7, or 3"));
    match text.split_once("..") {
        Some((from, "")) => Ok(Range { from: number(from)?, to: None }),
        Some((from, to)) => Ok(Range { from: number(from)?, to: Some(number(to)?) }),
        None => Ok(Range { from: number(text)?, to: None }),
    }
}

pub(super) async fn list(app: &App, session: &mut Session<'_>, task: Option<String>) -> Result<(), Fault> {
    let task = match task {
        Some(word) => Some(session.id::<TaskId>(&word).await?),
        None => None,
    };
    let all = session.resources(task).await?;
    if app.out.json {
        return all.iter().try_for_each(|resource| app.out.json(resource));
    }
    if all.is_empty() {
        app.out.note("there are no Resources; `cowork resources new document NAME` makes one");
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|resource| {
            vec![
                resource.id.to_string(),
                resource.kind.clone(),
                resource.revision.to_string(),
                units::age(resource.updated_at, now),
                who(&resource.updated_by),
                resource.task.as_ref().map(ToString::to_string).unwrap_or_default(),
                line(&resource.name).into_owned(),
            ]
        })
        .collect();
    app.out.table(&["id", "kind", "rev", "age", "by", "task", "name"], &rows)
}

/// The revision that is meant: it exists.
async fn number(session: &mut Session<'_>, resource: &Resource, rev: Option<u64>) -> Result<u64, Fault> {
    let of = ContentOf::Revision { resource: resource.id.clone(), number: rev };
    Ok(session.content(of, None, 0, 0).await?.revision.unwrap_or(resource.revision))
}

pub(super) async fn content(app: &App, session: &mut Session<'_>, word: &str, rev: Option<u64>) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let number = number(session, &resource, rev).await?;
    let found = content::of_revision(session, &resource.id, number).await?;
    let texts: Vec<(&str, &str)> =
        found.iter().filter_map(|(name, _)| text_of(&found, name).ok().map(|text| (name, text))).collect();
    if app.out.json {
        let mut object = serde_json::to_value(&resource).map_err(|error| Fault::bug(error.to_string()))?;
        object["shown_revision"] = json!(number);
        object["parts"] = found
            .iter()
            .map(|(name, part)| json!({"name": name, "media_type": part.media_type, "size": part.bytes.len()}))
            .collect();
        if let [(_, text)] = texts.as_slice() {
            object["text"] = json!(text);
        }
        return app.out.json(&object);
    }
    if let (Some(file), Some(trouble)) = (&resource.mirror, &resource.trouble) {
        app.out.note(&format!(
            "{} and {} do not follow each other: {}",
            line(&resource.name),
            line(file),
            line(trouble)
        ));
    }
    for (_, text) in &texts {
        app.out.bytes(text.as_bytes())?;
    }
    if texts.is_empty() {
        app.out.note(&format!("{} holds no text; `cowork resources export` writes it", resource.name));
    }
    Ok(())
}

pub(super) async fn export(
    app: &App,
    session: &mut Session<'_>,
    word: &str,
    to: &str,
    rev: Option<u64>,
) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let number = number(session, &resource, rev).await?;
    let found = content::of_revision(session, &resource.id, number).await?;
    let adapter = content::adapter(&resource.kind)?;
    let extension = |name: &str| Path::new(name).extension().map(|word| word.to_string_lossy().to_lowercase());
    let wanted = extension(to).filter(|wanted| adapter.formats().contains(&wanted.as_str()));
    let format = wanted.filter(|wanted| extension(&resource.name).as_ref() != Some(wanted));
    let format = format.map_or(Format::Native, Format::Named);
    let file = match adapter.export(&resource.name, &found, &format).map_err(content::refused)? {
        Step::Ready(file) => file,
        Step::Evaluate(request) => {
            let made = Engines::default().ask(&request, &found).await;
            let made = made.map_err(|failure| Fault::new("engine", failure.to_string(), ""))?;
            adapter.export_evaluated(&resource.name, &format, made).map_err(content::refused)?
        }
    };
    if to == "-" {
        return app.out.bytes(&file.bytes);
    }
    let path = Path::new(to);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut temporary, &file.bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| Fault::io("write", path, &error))?;
    app.out.note(&format!("revision {number} of {} is in {to}", line(&resource.name)));
    if app.out.json {
        return app.out.json(&json!({"id": resource.id, "revision": number, "file": to, "bytes": file.bytes.len()}));
    }
    Ok(())
}

pub(super) async fn history(app: &App, session: &mut Session<'_>, word: &str, last: u32) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let mut all: Vec<Revision> = Vec::new();
    while (all.len() as u32) < last {
        let before = all.last().map(|revision| revision.number);
        let page = session.revisions(resource.id.clone(), before, last - all.len() as u32).await?;
        if page.is_empty() {
            break;
        }
        all.extend(page);
    }
    if app.out.json {
        return all.iter().try_for_each(|revision| app.out.json(revision));
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|revision| {
            let accepted = revision.accepted_by.as_ref().map(|by| format!(" (accepted by {})", who(by)));
            vec![
                revision.number.to_string(),
                units::age(revision.at, now),
                format!("{}{}", who(&revision.actor), accepted.unwrap_or_default()),
                revision.made.size.to_string(),
                line(&revision.made.summary).into_owned(),
            ]
        })
        .collect();
    app.out.table(&["rev", "age", "by", "bytes", "summary"], &rows)
}

pub(super) async fn diff(app: &App, session: &mut Session<'_>, word: &str, range: Range) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let to = number(session, &resource, range.to).await?;
    let before = content::of_revision(session, &resource.id, range.from).await?;
    let after = content::of_revision(session, &resource.id, to).await?;
    let diff = content::adapter(&resource.kind)?.diff(&before, &after).map_err(content::refused)?;
    if app.out.json {
        return app.out.json(&json!({"id": resource.id, "from": range.from, "to": to, "parts": diff.parts}));
    }
    if diff.parts.is_empty() {
        app.out.note("the two are alike");
        return Ok(());
    }
    app.out.text(diff.unified(usize::MAX).trim_end())
}

pub(super) async fn blame(app: &App, session: &mut Session<'_>, word: &str, rev: Option<u64>) -> Result<(), Fault> {
    let resource = find(session, word).await?;
    let number = number(session, &resource, rev).await?;
    let runs = session.blame(resource.id.clone(), number).await?;
    let found = content::of_revision(session, &resource.id, number).await?;
    let text = found.iter().find_map(|(name, _)| text_of(&found, name).ok()).unwrap_or_default();
    let mut rest = lines::lines(text).into_iter();
    let mut at = 0;
    for run in &runs {
        if app.out.json {
            let mut object = json!({"revision": run.revision, "actor": run.actor, "at": run.at});
            if run.element.is_empty() {
                object["from"] = Value::from(at + 1);
                object["lines"] = Value::from(run.lines);
            } else {
                object["element"] = Value::from(run.element.as_str());
            }
            app.out.json(&object)?;
        } else if !run.element.is_empty() {
            app.out.line(&format!("{:>5} {:<12} {}", run.revision, who(&run.actor), line(&run.element)))?;
        } else {
            for text in rest.by_ref().take(run.lines) {
                at += 1;
                let text = line(text.trim_end_matches(['\r', '\n']));
                app.out.line(&format!("{:>5} {:<12} {at:>5}  {text}", run.revision, who(&run.actor)))?;
            }
            continue;
        }
        at += run.lines;
    }
    Ok(())
}
