//! Candidates: what is proposed, what it changes, and deciding on it.

use super::{act, content, find, who};
use crate::cli::app::App;
use crate::cli::fault::Fault;
use crate::cli::session::Session;
use crate::cli::units;
use crate::domain::sanitise::line;
use crate::domain::*;
use serde_json::{Value, json};

/// What to take for a piece that both changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Take {
    /// What stands now
    Theirs,
    /// What is proposed
    Mine,
    /// What stands now, then what is proposed
    Both,
    /// What it was before both
    Base,
}

impl Take {
    fn choice(self) -> Value {
        let word = match self {
            Self::Theirs => "theirs",
            Self::Mine => "mine",
            Self::Both => "both",
            Self::Base => "base",
        };
        json!({ "take": word })
    }
}

pub(super) async fn list(app: &App, session: &mut Session<'_>, word: Option<String>, all: bool) -> Result<(), Fault> {
    let resource = match word {
        Some(word) => Some(find(session, &word).await?.id),
        None => None,
    };
    let found = session.candidates(resource, !all).await?;
    if app.out.json {
        return found.iter().try_for_each(|candidate| app.out.json(candidate));
    }
    if found.is_empty() {
        app.out.note("nothing is proposed");
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|candidate| {
            vec![
                candidate.id.to_string(),
                candidate.resource.to_string(),
                candidate.state.to_string(),
                candidate.base.to_string(),
                units::age(candidate.at, now),
                who(&candidate.actor),
                line(&candidate.made.summary).into_owned(),
            ]
        })
        .collect();
    app.out.table(&["id", "resource", "state", "base", "age", "by", "summary"], &rows)
}

pub(super) async fn show(app: &App, session: &mut Session<'_>, word: &str) -> Result<(), Fault> {
    let id = session.id::<CandidateId>(word).await?;
    let candidate = session.candidate(id.clone()).await?;
    let resource = session.resource(candidate.resource.clone()).await?;
    let adapter = content::adapter(&resource.kind)?;
    let base = content::of_revision(session, &resource.id, candidate.base).await?;
    let proposed = content::whole(session, ContentOf::Candidate(id)).await?;
    let diff = adapter.diff(&base, &proposed).map_err(content::refused)?;
    if app.out.json {
        let mut object = serde_json::to_value(&candidate).map_err(|error| Fault::bug(error.to_string()))?;
        object["diff"] = json!(diff.parts);
        return app.out.json(&object);
    }
    app.out.fields(&[
        ("id", candidate.id.to_string()),
        ("resource", format!("{} ({})", line(&resource.name), resource.id)),
        ("state", candidate.state.to_string()),
        ("by", who(&candidate.actor)),
        ("base", format!("revision {}; it is at {}", candidate.base, resource.revision)),
        ("summary", line(&candidate.made.summary).into_owned()),
        ("because", candidate.because.as_deref().map(|why| line(why).into_owned()).unwrap_or_default()),
    ])?;
    app.out.line("")?;
    app.out.text(diff.unified(usize::MAX).trim_end())
}

pub(super) async fn accept(app: &App, session: &mut Session<'_>, word: &str) -> Result<(), Fault> {
    let id = session.id::<CandidateId>(word).await?;
    let receipt = act(session, ResourceDeed::Accept { candidate: id.clone() }).await?;
    if let Some(number) = receipt.revision {
        app.out.note(&format!("{id} is revision {number}"));
    }
    settled(app, session, id).await
}

pub(super) async fn reject(
    app: &App,
    session: &mut Session<'_>,
    word: &str,
    because: Option<String>,
) -> Result<(), Fault> {
    let id = session.id::<CandidateId>(word).await?;
    act(session, ResourceDeed::Reject { candidate: id.clone(), because }).await?;
    settled(app, session, id).await
}

pub(super) async fn merge(app: &App, session: &mut Session<'_>, word: &str, take: &[Take]) -> Result<(), Fault> {
    let id = session.id::<CandidateId>(word).await?;
    let candidate = session.candidate(id.clone()).await?;
    let onto = session.resource(candidate.resource).await?.revision;
    let change = Change { how: How::Merge(take.iter().map(|take| take.choice()).collect()), summary: String::new() };
    let receipt = act(session, ResourceDeed::Rebase { candidate: id.clone(), onto, change }).await?;
    match receipt.candidate {
        Some(new) => {
            app.out.note(&format!("{id} goes on as {new}; `cowork resources accept {new}` takes it"));
            settled(app, session, new).await
        }
        None => {
            app.out.note(&format!("revision {onto} holds all of {id} already"));
            settled(app, session, id).await
        }
    }
}

async fn settled(app: &App, session: &mut Session<'_>, id: CandidateId) -> Result<(), Fault> {
    let candidate = session.candidate(id).await?;
    if app.out.json {
        return app.out.json(&candidate);
    }
    app.out.line(&format!("{} {}", candidate.id, candidate.state))
}
