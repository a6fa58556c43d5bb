//! Subagents: chosen, read, guided, answered, stopped, reviewed. What can't be taken back is asked for twice.

use super::super::action::{Effect, Pane, Step};
use super::super::agents::{AgentsAct, SURE_FOR};
use super::super::composer::Purpose;
use super::super::model::{Focus, Model, Overlay};
use super::super::paper::{Paper, Subject};
use super::super::text;
use super::submit;
use crate::domain::command::ReviewVerdict;
use crate::domain::{AgentId, Contribution, ContributionId, DecisionId, ReviewState, TranscriptPage, UserCommand};

/// Does it.
pub(super) fn act(model: &mut Model, act: AgentsAct) -> Vec<Effect> {
    match act {
        AgentsAct::Choose(step) => choose(model, step),
        AgentsAct::Leave => leave(model),
        AgentsAct::Read | AgentsAct::Guide => {
            let Some(agent) = model.agents.chosen(&model.told) else { return nobody(model) };
            let effects = read(model, agent);
            model.focus = if act == AgentsAct::Guide { Focus::Composer } else { Focus::Transcript };
            effects
        }
        AgentsAct::Decide => {
            let Some(agent) = model.agents.chosen(&model.told) else { return nobody(model) };
            match model.told.asked_by(&agent).map(|asked| asked.id.clone()) {
                Some(decision) => decide(model, decision),
                None => {
                    model.say("it asks nothing");
                    Vec::new()
                }
            }
        }
        AgentsAct::Cancel => cancel(model),
        AgentsAct::Contribution => match brought(model) {
            Some(brought) => open(model, brought.id),
            None => Vec::new(),
        },
        AgentsAct::Accept => match brought(model) {
            Some(brought) => accept(model, &brought.id),
            None => Vec::new(),
        },
        AgentsAct::SendBack => match brought(model) {
            Some(brought) => send_back(model, brought.id),
            None => Vec::new(),
        },
        AgentsAct::Refuse => refuse(model),
    }
}

fn nobody(model: &mut Model) -> Vec<Effect> {
    model.say("Main has given no work away yet");
    Vec::new()
}

fn choose(model: &mut Model, step: Step) -> Vec<Effect> {
    let page = model.layout.pane(Pane::Subagents).map_or(1, |area| usize::from(area.height / 2));
    let team = model.told.team();
    let at = step.apply(model.agents.at(&model.told), team.len(), page);
    model.agents.chosen = team.get(at).map(|member| member.work.agent.clone());
    Vec::new()
}

/// Shows the trajectory of a Subagent in the place of Main's conversation, which stays as it is.
pub(super) fn read(model: &mut Model, agent: AgentId) -> Vec<Effect> {
    model.agents.chosen = Some(agent.clone());
    if model.told.read_subagent() == Some(&agent) {
        return Vec::new();
    }
    let shown = std::mem::take(&mut model.chat);
    // From one Subagent to the next: Main's is kept already.
    if model.told.read_subagent().is_none() {
        model.agents.main_chat = Some(shown);
    }
    model.told.read(agent.clone());
    vec![Effect::Trajectory { agent }]
}

/// Shows Main's conversation again, where it was left.
pub(super) fn leave(model: &mut Model) -> Vec<Effect> {
    if let Some(chat) = model.agents.main_chat.take() {
        model.chat = chat;
        model.chat.asked_older = false;
    }
    let was_read = model.told.read_subagent().is_some();
    model.told.read_main();
    if matches!(model.composer.purpose, Purpose::Guide(_)) {
        model.composer.resume();
    }
    model.focus = if was_read { Focus::Side(Pane::Subagents) } else { Focus::Composer };
    Vec::new()
}

/// The rows of a trajectory are here.
pub(super) fn arrived(model: &mut Model, agent: &AgentId, page: TranscriptPage) -> Vec<Effect> {
    model.told.arrived(agent, page);
    Vec::new()
}

/// The decision of a person is written in the composer.
pub(super) fn decide(model: &mut Model, decision: DecisionId) -> Vec<Effect> {
    model.overlay = None;
    model.composer.begin(Purpose::Decide(decision), "");
    model.focus = Focus::Composer;
    Vec::new()
}

/// Whether a deed was asked for a moment ago already; if not, says what it would do.
fn is_sure(model: &mut Model, act: AgentsAct, agent: &AgentId, what: &str) -> bool {
    let confirmed = model
        .agents
        .sure
        .take()
        .is_some_and(|(asked, of, at)| asked == act && of == *agent && model.now - at < SURE_FOR);
    if !confirmed {
        let name = text::line(&model.told.name_of(agent));
        model.agents.sure = Some((act, agent.clone(), model.now));
        model.say(format!("the same key again {what}: {name}"));
    }
    confirmed
}

fn cancel(model: &mut Model) -> Vec<Effect> {
    let Some(agent) = model.agents.chosen(&model.told) else { return nobody(model) };
    if model.told.records.live_assignment(&agent).is_none() {
        model.say("it has ended");
        return Vec::new();
    }
    if !is_sure(model, AgentsAct::Cancel, &agent, "stops it and those it gave work to") {
        return Vec::new();
    }
    super::tasks::of_open(model, |task| UserCommand::CancelAgent { task, agent })
}

/// What the chosen Subagent brought last; says so where there is nothing.
fn brought(model: &mut Model) -> Option<Contribution> {
    let agent = model.agents.chosen(&model.told)?;
    let all = model.told.records.contributions.values().filter(|brought| brought.agent == agent);
    let newest = all.max_by_key(|brought| brought.created_at).cloned();
    if newest.is_none() {
        model.say("it has brought nothing yet");
    }
    newest
}

/// Shows a Contribution whole.
pub(super) fn open(model: &mut Model, id: ContributionId) -> Vec<Effect> {
    model.paper = Some(Paper::new(Subject::Contribution(id)));
    model.overlay = Some(Overlay::Paper);
    Vec::new()
}

/// A Contribution that is still to be reviewed; says so where it is not.
fn unreviewed(model: &mut Model, id: &ContributionId) -> Option<Contribution> {
    let known = model.told.records.contributions.get(id).cloned()?;
    if known.state == ReviewState::Unreviewed {
        return Some(known);
    }
    model.say("it was reviewed already");
    None
}

fn review(model: &mut Model, contribution: ContributionId, verdict: ReviewVerdict) -> Vec<Effect> {
    super::tasks::of_open(model, |task| UserCommand::Review { task, contribution, verdict, because: None })
}

/// Accepts a Contribution.
pub(super) fn accept(model: &mut Model, id: &ContributionId) -> Vec<Effect> {
    match unreviewed(model, id) {
        Some(known) => review(model, known.id, ReviewVerdict::Accept),
        None => Vec::new(),
    }
}

/// What is to be done differently is written in the composer.
pub(super) fn send_back(model: &mut Model, id: ContributionId) -> Vec<Effect> {
    if unreviewed(model, &id).is_some() {
        model.overlay = None;
        model.composer.begin(Purpose::SendBack(id), "");
        model.focus = Focus::Composer;
    }
    Vec::new()
}

fn refuse(model: &mut Model) -> Vec<Effect> {
    let Some(known) = brought(model) else { return Vec::new() };
    let Some(known) = unreviewed(model, &known.id) else { return Vec::new() };
    if !is_sure(model, AgentsAct::Refuse, &known.agent, "refuses what it brought, and it does nothing more") {
        return Vec::new();
    }
    review(model, known.id, ReviewVerdict::Reject)
}

/// Sends what was written to a Subagent, for its decision, or with its work.
pub(super) fn send(model: &mut Model, purpose: &Purpose, words: String) -> Vec<Effect> {
    let Some(task) = model.wanted.clone() else { return Vec::new() };
    let (wanted, said) = match purpose {
        Purpose::Guide(agent) => {
            let name = text::line(&model.told.name_of(agent));
            (
                UserCommand::Guide { task, agent: agent.clone(), text: words.clone() },
                format!("queued for {name}; Main is told"),
            )
        }
        Purpose::Decide(decision) => (
            UserCommand::AnswerDecision { task, decision: decision.clone(), answer: words.clone() },
            "decided; Main is told".to_owned(),
        ),
        Purpose::SendBack(contribution) => {
            let (contribution, verdict) = (contribution.clone(), ReviewVerdict::Rework);
            (
                UserCommand::Review { task, contribution, verdict, because: Some(words.clone()) },
                "sent back; the same Subagent works on it again".to_owned(),
            )
        }
        Purpose::Message | Purpose::Edit(_) | Purpose::Answer(_) | Purpose::Shell | Purpose::Refuse(_) => {
            return Vec::new();
        }
    };
    model.say(said);
    submit(model, wanted, Some(words))
}
