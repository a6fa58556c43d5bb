//! Random histories of one Task against the reference model; the laws are looked at after each step.
//!
//! `COWORK_STEPS` makes it more steps than the hundred thousand of a usual run, `COWORK_SEED` begins
//! at another history.

use super::driver::{self, Mood};
use super::{Chance, World, laws};
use crate::domain::command::{JobDeed, JobReport, Move, ReviewVerdict};
use crate::domain::rejection::RejectionKind;
use crate::domain::*;

/// How many commands one history has, before it is led to its end.
const LENGTH: usize = 100;

const WILD: Mood = Mood { most: 4, races: true };

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|number| number.parse().ok())
}

/// Something that anybody could do at this moment.
fn next(world: &World, chance: &mut Chance) -> Command {
    let (s, task) = (&world.snap, world.id());
    let agents: Vec<AgentId> = s.agents.keys().cloned().collect();
    let subagents: Vec<AgentId> =
        s.agents.values().filter(|one| one.role == AgentRole::Subagent).map(|one| one.id.clone()).collect();
    let queued: Vec<MessageId> = s
        .messages
        .values()
        .filter(|m| m.state == MessageState::Queued && m.from.kind == ActorKind::Person)
        .map(|m| m.id.clone())
        .collect();
    let decisions: Vec<DecisionId> = s.decisions.keys().cloned().collect();
    let made: Vec<ContributionId> = s.contributions.keys().cloned().collect();
    let jobs: Vec<&Job> = s.jobs.values().collect();
    match chance.below(60) {
        0 | 1 => {
            let delivery = Delivery::ALL[chance.below(2)];
            return UserCommand::SendMessage { task, text: "more".into(), refs: vec![], delivery }.into();
        }
        2 => return UserCommand::Interrupt { task }.into(),
        3 => return UserCommand::Pause { task }.into(),
        4 | 5 => return UserCommand::Resume { task }.into(),
        6 if chance.one_in(6) => return UserCommand::Cancel { task }.into(),
        7 => {
            if let Some(message) = chance.pick(&queued).cloned() {
                return match chance.below(4) {
                    0 => UserCommand::EditMessage { task, message, text: "else".into() },
                    1 => UserCommand::MoveMessage { task, message, to: Move::ALL[chance.below(2)] },
                    2 => UserCommand::SetDelivery { task, message, delivery: Delivery::ALL[chance.below(2)] },
                    _ => UserCommand::WithdrawMessage { task, message },
                }
                .into();
            }
        }
        8 | 9 => {
            if let Some(agent) = chance.pick(&subagents).cloned() {
                return match chance.one_in(2) {
                    true => UserCommand::CancelAgent { task, agent },
                    false => UserCommand::Guide { task, agent, text: "rather so".into() },
                }
                .into();
            }
        }
        10 | 11 => {
            if let Some(contribution) = chance.pick(&made).cloned() {
                let verdict = ReviewVerdict::ALL[chance.below(3)];
                return UserCommand::Review { task, contribution, verdict, because: Some("again".into()) }.into();
            }
        }
        12 | 13 => {
            if let Some(decision) = chance.pick(&decisions).cloned() {
                return match chance.one_in(2) {
                    true => UserCommand::AnswerDecision { task, decision, answer: "this".into() }.into(),
                    false => SystemCommand::ExpireDecision { task, decision }.into(),
                };
            }
        }
        14 => {
            let owner = Owner { holder: "h".into(), host: "here".into(), pid: 1, pid_start: 1, boot_id: "b".into() };
            return SystemCommand::TakeOver { owner }.into();
        }
        15 => match chance.pick(&jobs) {
            Some(job) => {
                let end = JobEnd {
                    exit_code: Some(0),
                    signal: None,
                    evidence: JobEvidence::ExitRecord,
                    reason: None,
                    log_bytes: 0,
                    last_output_at: None,
                    last_line: None,
                    ended_at: world.at,
                };
                let report = JobReport::Ended { state: JobState::Exited, end };
                return SystemCommand::Job { job: job.id.clone(), report }.into();
            }
            None => {
                let definition = Box::new(JobDefinition {
                    name: "build".into(),
                    command: JobCommand::Shell("make".into()),
                    cwd: "/w".into(),
                    terminal: false,
                    role: JobRole::Work,
                    watch: vec![],
                    levels: JobLevels::default(),
                });
                return UserCommand::Job { deed: JobDeed::Start { task: Some(task), definition } }.into();
            }
        },
        16 | 17 => {
            if let Some(approval) = s.approvals.values().find(|a| a.state == ApprovalState::Pending) {
                use crate::domain::command::ApprovalAnswer::{Deny, Once};
                let answer = if chance.one_in(2) { Once } else { Deny };
                let (approval, shown) = (approval.id.clone(), approval.action_hash.clone());
                return UserCommand::DecideApproval { task, approval, shown, answer, because: None }.into();
            }
            if let Some(question) = s.questions.keys().next().cloned() {
                return UserCommand::AnswerQuestion { task, question, answer: "yes".into() }.into();
            }
        }
        18 => {
            let running: Vec<&Run> = s.runs.values().filter(|run| run.state == RunState::Running).collect();
            if let Some(run) = chance.pick(&running) {
                use EndReason::{Budget, Internal, Model};
                let reason = [Budget, Internal, Model][chance.below(3)];
                return RunCommand::End { run: run.id.clone(), reason, detail: None }.into();
            }
        }
        _ => {}
    }
    let at = chance.below(agents.len());
    let mut around = agents.iter().cycle().skip(at).take(agents.len());
    if let Some(command) = around.find_map(|agent| driver::step(world, agent, WILD, chance)) {
        // Sometimes somebody else is started first.
        if !chance.one_in(4) {
            return command;
        }
    }
    let due = s.due(world.task());
    match chance.pick(&due) {
        Some(due) => SystemCommand::StartRun { task: due.task.clone(), agent: due.agent.clone() }.into(),
        None => UserCommand::SendMessage {
            task,
            text: "go on".into(),
            refs: vec![],
            delivery: Delivery::ALL[chance.below(2)],
        }
        .into(),
    }
}

/// One history, and how many steps it took; the world at the end is at rest.
fn history(seed: u64) -> Result<u64, Box<(World, String)>> {
    let mut chance = Chance::new(seed);
    let mut world = World::with_task(["full", "ask"][chance.below(2)]);
    for _ in 0..LENGTH {
        let command = next(&world, &mut chance);
        if let Err(rejection) = world.submit(command)
            && matches!(rejection.kind, RejectionKind::Internal | RejectionKind::Storage)
        {
            return Err(Box::new((world, rejection.to_string())));
        }
        if let Some(broken) = laws::broken(&world) {
            return Err(Box::new((world, broken)));
        }
    }
    if let Err(stuck) = driver::drain(&mut world) {
        return Err(Box::new((world, stuck)));
    }
    if let Some(left) = left_undone(&world) {
        return Err(Box::new((world, left)));
    }
    Ok(world.count)
}

/// What nobody will ever do, after everybody did what they could.
fn left_undone(world: &World) -> Option<String> {
    let (s, task) = (&world.snap, world.task());
    if let Some(work) = s.assignments.values().find(|work| !work.state.is_ended()) {
        return Some(format!("{} is {} for ever", work.id, work.state));
    }
    let main = world.main();
    let unread = s.inbox(&main, MessageState::Queued).into_iter().find(|m| m.kind == MessageKind::Contribution);
    if let Some(message) = unread {
        return Some(format!("{} is never read, the Task is {}", message.key, task.status));
    }
    if let Some(run) = s.live_run(&main) {
        return Some(format!("Main stands still in {} and the Task is {}", run.id, task.status));
    }
    None
}

/// Histories from `first` on until there are `steps`.
fn histories(first: u64, steps: u64) {
    let (mut seed, mut done) = (number("COWORK_SEED").unwrap_or(first), 0);
    while done < steps {
        match history(seed) {
            Ok(count) => done += count,
            Err(broken) => {
                let (world, what) = *broken;
                let story = &world.story[world.story.len().saturating_sub(60)..];
                panic!("COWORK_SEED={seed}: {what}\n{}", story.join("\n"));
            }
        }
        seed += 1;
    }
}

fn share() -> u64 {
    number("COWORK_STEPS").unwrap_or(100_000) / 2
}

#[test]
fn whatever_is_asked_in_whatever_order_every_debt_is_paid_once_and_nobody_waits_for_ever() {
    histories(1, share());
}

#[test]
fn whatever_is_asked_in_whatever_order_every_debt_is_paid_once_in_other_histories_too() {
    histories(1 << 40, share());
}
