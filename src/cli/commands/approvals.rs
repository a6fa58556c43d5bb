//! `approvals`: what agents want to do and a person decides, and the standing rules that came of it.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::session::Session;
use crate::cli::units;
use crate::domain::command::ApprovalAnswer;
use crate::domain::sanitise;
use crate::domain::*;

#[derive(Debug, clap::Args)]
pub struct ApprovalsArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List the open ones
    Ls {
        /// Decided ones too
        #[arg(long)]
        all: bool,
    },
    /// Show one whole, as it would run
    Show {
        /// The approval
        id: String,
    },
    /// Let it run
    Allow {
        /// The approval
        id: String,
        /// And from now on exactly this in this folder
        #[arg(long)]
        always: bool,
    },
    /// Don't let it run
    Deny {
        /// The approval
        id: String,
        /// Words for the agent
        #[arg(long, value_name = "TEXT")]
        because: Option<String>,
        /// And from now on never exactly this in this folder
        #[arg(long)]
        never: bool,
    },
    /// List the standing rules
    Rules,
    /// Take a standing rule back
    Forget {
        /// The rule
        rule: String,
    },
}

/// Lists, shows or decides approvals.
pub async fn run(app: &App, args: ApprovalsArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    match args.verb {
        Verb::Ls { all } => list(app, &session.approvals(None, !all).await?)?,
        Verb::Show { id } => {
            let approval = find(&mut session, &id).await?;
            if app.out.json { app.out.json(&approval)? } else { app.out.line(&shown(&approval))? }
        }
        Verb::Allow { id, always } => {
            let answer = if always { ApprovalAnswer::Always } else { ApprovalAnswer::Once };
            decide(app, &mut session, &id, answer, None).await?;
        }
        Verb::Deny { id, because, never } => {
            let answer = if never { ApprovalAnswer::Never } else { ApprovalAnswer::Deny };
            decide(app, &mut session, &id, answer, because).await?;
        }
        Verb::Rules => rules(app, &session.rules().await?)?,
        Verb::Forget { rule } => {
            let rule = session.id::<RuleId>(&rule).await?;
            session.submit(UserCommand::RemoveRule { rule: rule.clone() }).await?;
            app.out.note(&format!("{rule} is forgotten"));
        }
    }
    Ok(Exit::Done)
}

async fn find(session: &mut Session<'_>, word: &str) -> Result<Approval, Fault> {
    let id = session.id::<ApprovalId>(word).await?;
    let all = session.approvals(None, false).await?;
    all.into_iter().find(|approval| approval.id == id).ok_or_else(|| {
        Fault::new("not_found", format!("approval {id} does not exist"), "`cowork approvals ls` lists the open ones")
    })
}

async fn decide(
    app: &App,
    session: &mut Session<'_>,
    word: &str,
    answer: ApprovalAnswer,
    because: Option<String>,
) -> Result<(), Fault> {
    let approval = find(session, word).await?;
    app.out.note(&shown(&approval));
    session
        .submit(UserCommand::DecideApproval {
            task: approval.task.clone(),
            approval: approval.id.clone(),
            shown: approval.action_hash.clone(),
            answer,
            because,
        })
        .await?;
    app.out.note(match answer {
        ApprovalAnswer::Once => "allowed, this one time",
        ApprovalAnswer::Always => "allowed, and from now on exactly this in this folder",
        ApprovalAnswer::Deny => "denied",
        ApprovalAnswer::Never => "denied, and from now on exactly this in this folder",
    });
    if app.out.json {
        let decided = find(session, approval.id.as_str()).await?;
        app.out.json(&decided)?;
    }
    Ok(())
}

/// An approval as a person must see it before deciding: whole, nothing invisible.
pub fn shown(approval: &Approval) -> String {
    let action = &approval.action;
    let mut text = format!(
        "{} wants to use {} ({}) in {}\n\n",
        approval.agent,
        sanitise::approval(&action.tool),
        action.access,
        sanitise::approval(&action.cwd)
    );
    for line in sanitise::approval(&action.subject).lines() {
        text += &format!("    {line}\n");
    }
    if !action.detail.is_empty() {
        text.push('\n');
        for line in sanitise::approval(&action.detail).lines() {
            text += &format!("    {line}\n");
        }
    }
    text += &format!("\nwhy you are asked: {}", sanitise::approval(&approval.why));
    if !action.beyond.is_empty() && action.beyond != approval.why {
        text += &format!("\ngoes beyond the folder: {}", sanitise::approval(&action.beyond));
    }
    text + "\n"
}

fn list(app: &App, approvals: &[Approval]) -> Result<(), Fault> {
    if app.out.json {
        return approvals.iter().try_for_each(|approval| app.out.json(approval));
    }
    if approvals.is_empty() {
        app.out.note("nothing waits for an approval");
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = approvals
        .iter()
        .map(|approval| {
            let what = sanitise::approval(&approval.action.subject).replace('\n', "↵");
            let age = units::age(approval.created_at, now);
            let (id, task) = (approval.id.to_string(), approval.task.to_string());
            vec![id, task, approval.state.to_string(), age, sanitise::line(&approval.action.tool).into_owned(), what]
        })
        .collect();
    app.out.table(&["id", "task", "state", "age", "tool", "what"], &rows)?;
    if approvals.iter().any(|approval| approval.state == ApprovalState::Pending) {
        app.out.note("`cowork approvals show ID` shows one whole; allow ID or deny ID decides");
    }
    Ok(())
}

fn rules(app: &App, rules: &[Rule]) -> Result<(), Fault> {
    if app.out.json {
        return rules.iter().try_for_each(|rule| app.out.json(rule));
    }
    if rules.is_empty() {
        app.out.note("there are no standing rules");
    }
    let rows: Vec<Vec<String>> = rules
        .iter()
        .map(|rule| {
            let answer = if rule.allow { "always" } else { "never" };
            let subject = sanitise::approval(&rule.subject).replace('\n', "↵");
            let (tool, cwd) = (sanitise::line(&rule.tool).into_owned(), sanitise::line(&rule.cwd).into_owned());
            vec![rule.id.to_string(), answer.into(), tool, cwd, subject]
        })
        .collect();
    app.out.table(&["id", "answer", "tool", "folder", "exactly"], &rows)
}
