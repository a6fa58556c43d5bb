//! What a person says to a Subagent, and does with what it brought.

use super::find;
use crate::cli::app::App;
use crate::cli::fault::Fault;
use crate::cli::session::Session;
use crate::domain::command::ReviewVerdict;
use crate::domain::*;

/// Says something to one that works.
pub(super) async fn guide(app: &App, session: &mut Session<'_>, word: &str, text: &str) -> Result<(), Fault> {
    let (agent, _) = find(session, word).await?;
    session.submit(UserCommand::Guide { task: agent.task, agent: agent.id.clone(), text: text.to_owned() }).await?;
    app.out.note(&format!("queued for {}; Main is told", agent.id));
    Ok(())
}

/// Stops one.
pub(super) async fn cancel(app: &App, session: &mut Session<'_>, word: &str) -> Result<(), Fault> {
    let (agent, _) = find(session, word).await?;
    session.submit(UserCommand::CancelAgent { task: agent.task, agent: agent.id.clone() }).await?;
    app.out.note(&format!("{} is stopped; what it had is kept and Main is told", agent.id));
    Ok(())
}

/// Answers what one asked.
pub(in crate::cli::commands) async fn answer(
    app: &App,
    session: &mut Session<'_>,
    word: &str,
    text: &str,
) -> Result<(), Fault> {
    let decision = decision(session, word).await?;
    let (task, id) = (decision.task, decision.id);
    session.submit(UserCommand::AnswerDecision { task, decision: id.clone(), answer: text.to_owned() }).await?;
    app.out.note(&format!("{id} is decided"));
    Ok(())
}

/// Reviews what one brought.
pub(super) async fn review(
    app: &App,
    session: &mut Session<'_>,
    word: &str,
    verdict: ReviewVerdict,
    because: Option<String>,
) -> Result<(), Fault> {
    let made = contribution(session, word).await?;
    let (task, id) = (made.task, made.id);
    session.submit(UserCommand::Review { task, contribution: id.clone(), verdict, because }).await?;
    let done = match verdict {
        ReviewVerdict::Accept => "accepted",
        ReviewVerdict::Reject => "rejected",
        ReviewVerdict::Rework => "sent back",
    };
    app.out.note(&format!("{id} is {done}"));
    Ok(())
}

/// The decision request of an id, or the open one of a Subagent.
async fn decision(session: &mut Session<'_>, word: &str) -> Result<DecisionRequest, Fault> {
    let hint = "`cowork agents ls` shows what is asked";
    if word.starts_with(AgentId::PREFIX) {
        let (agent, detail) = find(session, word).await?;
        let all = detail.delegated.into_iter().filter(|one| one.assignment.agent == agent.id);
        let open = all.flat_map(|one| one.decisions).find(|decision| decision.state == DecisionState::Open);
        return open.ok_or_else(|| Fault::new("not_found", format!("{} asks nothing", agent.id), hint));
    }
    let id = session.id::<DecisionId>(word).await?;
    for task in session.tasks(true).await? {
        let all = session.task(&task.id).await?.delegated;
        if let Some(decision) = all.into_iter().flat_map(|one| one.decisions).find(|decision| decision.id == id) {
            return Ok(decision);
        }
    }
    Err(Fault::new("not_found", format!("decision request {id} does not exist"), hint))
}

/// The Contribution of an id, or the newest of a Subagent.
async fn contribution(session: &mut Session<'_>, word: &str) -> Result<Contribution, Fault> {
    let hint = "`cowork agents ls` lists who brought something";
    if word.starts_with(AgentId::PREFIX) {
        let (agent, detail) = find(session, word).await?;
        let all = detail.delegated.into_iter().rev().filter(|one| one.assignment.agent == agent.id);
        let newest = all.filter_map(|one| one.contribution).next();
        return newest.ok_or_else(|| Fault::new("not_found", format!("{} has brought nothing yet", agent.id), hint));
    }
    let id = session.id::<ContributionId>(word).await?;
    for task in session.tasks(true).await? {
        let all = session.task(&task.id).await?.delegated;
        if let Some(made) = all.into_iter().filter_map(|one| one.contribution).find(|made| made.id == id) {
            return Ok(made);
        }
    }
    Err(Fault::new("not_found", format!("Contribution {id} does not exist"), hint))
}
