//! `resources`: what people and agents edit together. Every change goes through the same check as an
//! agent's (Eq. 7): an edit whose base is no longer the newest is kept as a Candidate, and said so.

mod candidates;
mod change;
mod content;
mod show;

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::session::Session;
use crate::domain::*;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub struct ResourcesArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List what there is
    Ls {
        /// Only what a Task may know
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
    },
    /// Make one
    New {
        /// Its kind: document
        kind: String,
        /// Its name; it says what a document is written in
        name: String,
        /// Begin with this file; - reads standard input
        #[arg(long, value_name = "FILE|-")]
        from: Option<String>,
        /// It belongs to a Task, and goes with it
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
        /// Tie it to this file; it begins with what the file holds
        #[arg(long, value_name = "FILE")]
        mirror: Option<PathBuf>,
    },
    /// Make a document of a file; docx, odt, html and others are converted
    Import {
        /// The file
        file: PathBuf,
        /// Another name than the file's
        #[arg(long)]
        name: Option<String>,
        /// It belongs to a Task, and goes with it
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
    },
    /// Print its content
    Show {
        /// Its name or id
        name: String,
        /// As it was
        #[arg(long, value_name = "N")]
        rev: Option<u64>,
    },
    /// Write it as a file, in the format that the file's name ends in: its own, md, txt, html, docx, odt, pdf
    Export {
        /// Its name or id
        name: String,
        /// The file; - writes to standard output
        #[arg(long, value_name = "FILE|-")]
        to: String,
        /// As it was
        #[arg(long, value_name = "N")]
        rev: Option<u64>,
    },
    /// Edit it in $VISUAL or $EDITOR; what is saved is committed
    Edit {
        /// Its name or id
        name: String,
    },
    /// Commit a new content that was made of a revision
    Commit(change::CommitArgs),
    /// List its revisions, the newest first
    History {
        /// Its name or id
        name: String,
        /// How many
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: u32,
    },
    /// Compare two revisions, or one with the newest
    Diff {
        /// Its name or id
        name: String,
        /// A..B, or A
        #[arg(value_name = "A..B", value_parser = show::range)]
        range: show::Range,
    },
    /// Say who wrote each line
    Blame {
        /// Its name or id
        name: String,
        /// As it was
        #[arg(long, value_name = "N")]
        rev: Option<u64>,
    },
    /// Bring an earlier revision back, as a new one
    Revert {
        /// Its name or id
        name: String,
        /// The revision
        #[arg(long, value_name = "N")]
        to: u64,
    },
    /// Give it another name
    Rename {
        /// Its name or id
        name: String,
        /// The new name
        to: String,
    },
    /// Tie it to a file: what any program saves there is committed, and what is committed is written there
    Mirror {
        /// Its name or id
        name: String,
        /// The file; what it holds by now becomes the next revision
        #[arg(required_unless_present = "none", conflicts_with = "none")]
        file: Option<PathBuf>,
        /// Tie it to no file any more; the file stays
        #[arg(long)]
        none: bool,
    },
    /// Take it away with everything that is kept of it
    Rm {
        /// Its name or id
        name: String,
    },
    /// List what is proposed
    Candidates {
        /// Of one Resource, by name or id
        name: Option<String>,
        /// Also what is settled
        #[arg(long)]
        all: bool,
    },
    /// Show what a Candidate changes
    Candidate {
        /// The Candidate
        id: String,
    },
    /// Make a Candidate the next revision
    Accept {
        /// The Candidate
        id: String,
    },
    /// Decide against a Candidate
    Reject {
        /// The Candidate
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        because: Option<String>,
    },
    /// Bring a Candidate up to the newest revision, as a new Candidate
    Merge {
        /// The Candidate
        id: String,
        /// For each piece that does not fit, in order
        #[arg(long, value_name = "CHOICE", value_enum, value_delimiter = ',')]
        take: Vec<candidates::Take>,
    },
}

/// Does it.
pub async fn run(app: &App, args: ResourcesArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    match args.verb {
        Verb::Ls { task } => show::list(app, &mut session, task).await?,
        Verb::New { kind, name, from, task, mirror } => {
            change::new(app, &mut session, change::New { kind, name, from, task, mirror }).await?;
        }
        Verb::Import { file, name, task } => change::import(app, &mut session, &file, name, task).await?,
        Verb::Show { name, rev } => show::content(app, &mut session, &name, rev).await?,
        Verb::Export { name, to, rev } => show::export(app, &mut session, &name, &to, rev).await?,
        Verb::Edit { name } => change::edit(app, &mut session, &name).await?,
        Verb::Commit(args) => change::commit(app, &mut session, args).await?,
        Verb::History { name, last } => show::history(app, &mut session, &name, last).await?,
        Verb::Diff { name, range } => show::diff(app, &mut session, &name, range).await?,
        Verb::Blame { name, rev } => show::blame(app, &mut session, &name, rev).await?,
        Verb::Revert { name, to } => change::revert(app, &mut session, &name, to).await?,
        Verb::Rename { name, to } => change::rename(app, &mut session, &name, to).await?,
        Verb::Mirror { name, file, none: _ } => change::mirror(app, &mut session, &name, file.as_deref()).await?,
        Verb::Rm { name } => change::remove(app, &mut session, &name).await?,
        Verb::Candidates { name, all } => candidates::list(app, &mut session, name, all).await?,
        Verb::Candidate { id } => candidates::show(app, &mut session, &id).await?,
        Verb::Accept { id } => candidates::accept(app, &mut session, &id).await?,
        Verb::Reject { id, because } => candidates::reject(app, &mut session, &id, because).await?,
        Verb::Merge { id, take } => candidates::merge(app, &mut session, &id, &take).await?,
    }
    Ok(Exit::Done)
}

/// Finds a Resource by its name, or by an id that may be shortened.
async fn find(session: &mut Session<'_>, word: &str) -> Result<Resource, Fault> {
    let all = session.resources(None).await?;
    let named: Vec<&Resource> = all.iter().filter(|resource| resource.name == word).collect();
    match named.as_slice() {
        [one] => Ok((*one).clone()),
        [] => {
            let begins: Vec<&Resource> = all.iter().filter(|resource| resource.id.0.starts_with(word)).collect();
            match begins.as_slice() {
                [one] if word.starts_with(ResourceId::PREFIX) => Ok((*one).clone()),
                _ => Err(Fault::new(
                    "not_found",
                    format!("there is no one Resource `{word}`"),
                    "`cowork resources ls` lists them",
                )),
            }
        }
        several => {
            let ids: Vec<&str> = several.iter().map(|resource| resource.id.as_str()).collect();
            Err(Fault::usage(
                format!("{} Resources are called {word}", several.len()),
                format!("name one by its id: {}", ids.join(", ")),
            ))
        }
    }
}

async fn act(session: &mut Session<'_>, deed: ResourceDeed<Change>) -> Result<EditReceipt, Fault> {
    Ok(session.submit(UserCommand::Resource { deed }).await?.edit.unwrap_or_default())
}

/// Who did something, for a person.
fn who(actor: &Actor) -> String {
    match actor.kind {
        ActorKind::Person if *actor == Actor::person() => "you".into(),
        ActorKind::System => "cowork".into(),
        ActorKind::Person | ActorKind::Agent | ActorKind::Job | ActorKind::Source | ActorKind::File => {
            sanitise::line(&actor.id).into_owned()
        }
    }
}
