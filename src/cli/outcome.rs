//! When a Task that somebody waits for has come to rest, and what that means: status and exit code.
//!
//! Decided on the Task as it stands, never on one event alone: an event is only the reason to look.

use super::fault::Exit;
use crate::domain::*;

/// What is known from the events that went by.
#[derive(Debug, Default)]
pub struct Seen {
    /// Why the last Run ended.
    pub end: Option<EndReason>,
    /// The last final answer.
    pub answer: Option<String>,
    /// The Run of Main, once it was seen to begin.
    run: Option<RunId>,
}

impl Seen {
    /// Takes in an event of Main or of the whole Task; says whether it is a reason to look at the Task.
    pub fn take(&mut self, event: &Event) -> bool {
        match event {
            Event::TurnCommitted { row, .. } => {
                if row.calls() == 0 && !row.cut {
                    self.answer = Some(row.text());
                }
                false
            }
            Event::RunStarted { run, .. } => {
                self.end = None;
                self.run = Some(run.id.clone());
                false
            }
            Event::RunEnded { run, reason, .. } => {
                // Other Runs are those of Subagents; how one ends is Main's concern.
                if self.run.as_ref().is_none_or(|main| main == run) {
                    self.end = Some(*reason);
                }
                true
            }
            Event::TaskStatusChanged { .. } | Event::RunSuspended { .. } => true,
            _ => false, // Nothing else lets a Task come to rest.
        }
    }
}

/// How waiting for a Task ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The Task is complete.
    Completed,
    /// Background work remains, and nobody wants to wait for it.
    Parked,
    /// Nothing goes on until a person acts.
    AwaitingHuman,
    /// It failed, and why.
    Failed(Option<EndReason>),
    /// It was cancelled, or its step was interrupted.
    Cancelled,
}

impl Outcome {
    /// Looks at a Task; nothing while it goes on.
    pub fn of(detail: &TaskDetail, seen: &Seen, wait_for_background: bool) -> Option<Self> {
        let delegated = detail.delegated.iter().filter(|one| !one.assignment.state.is_ended());
        let runs = detail.run.iter().chain(delegated.clone().filter_map(|one| one.run.as_ref()));
        let working = runs.into_iter().any(|run| run.state == RunState::Running);
        match detail.task.status {
            TaskStatus::Completed => Some(Self::Completed),
            TaskStatus::Failed => Some(Self::Failed(seen.end)),
            TaskStatus::Cancelled => Some(Self::Cancelled),
            // Other calls of the same batch may still be running.
            TaskStatus::AwaitingHuman | TaskStatus::Paused if working => None,
            TaskStatus::AwaitingHuman | TaskStatus::Paused => Some(Self::AwaitingHuman),
            // What was given away is part of the answer.
            TaskStatus::Parked if wait_for_background || delegated.count() > 0 => None,
            TaskStatus::Parked => Some(Self::Parked),
            TaskStatus::Active if detail.run.is_some() => None,
            TaskStatus::Active => {
                let due = detail.task.waiting_for.iter().any(|waiting| waiting.kind == "message");
                (!due).then_some(Self::Cancelled)
            }
        }
    }

    /// The word of the result line.
    pub fn status(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Parked => "parked",
            Self::AwaitingHuman => "awaiting_human",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The exit code.
    pub fn exit(self) -> Exit {
        match self {
            Self::Completed => Exit::Done,
            Self::Parked => Exit::Background,
            Self::AwaitingHuman => Exit::PersonNeeded,
            Self::Failed(Some(EndReason::Model)) => Exit::Model,
            Self::Failed(Some(EndReason::Budget)) => Exit::Budget,
            Self::Failed(
                Some(EndReason::Finished | EndReason::Interrupted | EndReason::Cancelled | EndReason::Internal) | None,
            ) => Exit::Failed,
            Self::Cancelled => Exit::Stopped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::permission::Policy;

    fn detail(status: TaskStatus, run: Option<RunState>, waiting: &[&str]) -> TaskDetail {
        let waiting_for =
            waiting.iter().map(|kind| Waiting { kind: (*kind).into(), id: "x".into(), text: String::new() }).collect();
        let task = Task {
            id: "t_1".into(),
            title: "T".into(),
            status,
            reason: None,
            resume_status: None,
            archived: false,
            cwd: None,
            model: None,
            policy: Policy::named("ask").expect("known"),
            budget: Budget::default(),
            objective_version: 1,
            usage: Usage::default(),
            main: "a_1".into(),
            waiting_for,
            last_words: String::new(),
            created_at: 0,
            updated_at: 0,
        };
        let run = run.map(|state| Run {
            id: "r_1".into(),
            task: "t_1".into(),
            agent: "a_1".into(),
            state,
            fence: 1,
            end_reason: None,
            detail: None,
            started_at: 0,
            ended_at: None,
        });
        let (objective, checks, verdicts, agents) = (None, vec![], vec![], vec![]);
        TaskDetail {
            task,
            objective,
            checks,
            verdicts,
            agents,
            delegated: vec![],
            run,
            asking: None,
            checkpoint: None,
            context_tokens: 0,
            seq: 9,
        }
    }

    fn outcome(status: TaskStatus, run: Option<RunState>, waiting: &[&str], end: Option<EndReason>) -> Option<Outcome> {
        Outcome::of(&detail(status, run, waiting), &Seen { end, ..Seen::default() }, true)
    }

    #[test]
    fn a_task_that_works_or_is_about_to_is_waited_for() {
        let running = Some(RunState::Running);
        assert_eq!(outcome(TaskStatus::Active, running, &["run"], None), None);
        assert_eq!(outcome(TaskStatus::Active, None, &["message", "answer"], None), None, "Main is about to begin");
        assert_eq!(
            outcome(TaskStatus::Active, Some(RunState::Interrupted), &["run"], None),
            None,
            "Main is about to go on"
        );
        assert_eq!(
            outcome(TaskStatus::AwaitingHuman, running, &["approval", "run"], None),
            None,
            "other calls still run"
        );
        assert_eq!(outcome(TaskStatus::Parked, None, &["job"], None), None);
    }

    #[test]
    fn every_way_to_rest_has_its_status_and_exit_code() {
        let table = [
            (TaskStatus::Completed, None, Some(EndReason::Finished), "completed", 0),
            (TaskStatus::Failed, None, None, "failed", 1),
            (TaskStatus::Failed, None, Some(EndReason::Internal), "failed", 1),
            (TaskStatus::Failed, None, Some(EndReason::Model), "failed", 5),
            (TaskStatus::Failed, None, Some(EndReason::Budget), "failed", 6),
            (TaskStatus::AwaitingHuman, Some(RunState::Interrupted), None, "awaiting_human", 3),
            (TaskStatus::Paused, Some(RunState::Interrupted), None, "awaiting_human", 3),
            (TaskStatus::Cancelled, None, Some(EndReason::Cancelled), "cancelled", 7),
            (TaskStatus::Active, None, Some(EndReason::Interrupted), "cancelled", 7),
        ];
        for (status, run, end, word, code) in table {
            let outcome = outcome(status, run, &["answer"], end).expect("at rest");
            assert_eq!((outcome.status(), outcome.exit().code()), (word, code), "{status}");
        }
        let parked = Outcome::of(&detail(TaskStatus::Parked, None, &["job"]), &Seen::default(), false);
        assert_eq!(parked.map(|outcome| (outcome.status(), outcome.exit().code())), Some(("parked", 4)));
    }

    #[test]
    fn a_run_that_begins_forgets_how_the_last_one_ended() {
        let mut seen = Seen { end: Some(EndReason::Model), ..Seen::default() };
        let run = detail(TaskStatus::Active, Some(RunState::Running), &[]).run.expect("a run");
        assert!(!seen.take(&Event::RunStarted { run, resumed: false, woken_by: vec![] }));
        assert_eq!(seen.end, None);
    }
}
