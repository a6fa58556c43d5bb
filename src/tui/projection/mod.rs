//! What the host told this terminal, and nothing else: any of it can be had again by asking.
//!
//! Answers seed the records, recorded events are folded into them by the domain's own
//! [`Snapshot::apply`], so the screen, the store and the laws agree by construction. Pushes that
//! are not stored live in [`Live`]. Only [`update`](super::update) calls this; views read it.

pub mod live;

use crate::domain::{
    AgentId, Approval, ApprovalState, Check, CheckState, ControlState, EndReason, Event, Fence, Message, MessageId,
    MessageState, Millis, Question, QuestionState, Recorded, Row, Run, RunState, Seq, Snapshot, Task, TaskDetail,
    TaskId, TaskStatus, ToolCall, TranscriptPage, Transient,
};
use live::Live;

/// Everything that is asked for when a Task is opened, in one piece.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    /// The Task.
    pub detail: TaskDetail,
    /// The newest rows of Main.
    pub page: TranscriptPage,
    /// Its messages.
    pub messages: Vec<Message>,
    /// Its open approvals.
    pub approvals: Vec<Approval>,
    /// Its open questions.
    pub questions: Vec<Question>,
    /// The host's ownership number.
    pub fence: Fence,
}

/// Why the last request gave no answer, to be said in one line until something new happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The model or its server failed.
    Failed {
        /// The class, such as `overloaded`.
        class: String,
        /// The words of the server.
        message: String,
        /// When it is tried again.
        retry_at: Option<Millis>,
    },
    /// The request was given up.
    Abandoned {
        /// Why.
        reason: String,
    },
    /// A person stopped the step.
    Stopped,
}

/// How the host is, as far as this terminal knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Host {
    /// The first connection is being made.
    Connecting,
    /// Everything shown is current.
    Connected,
    /// The connection is gone and is being made again; the words say why it can't be made, if so.
    Lost(String),
    /// The host does not take this client.
    Refused(String),
}

/// What the host said of the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trusted {
    /// It was not asked yet.
    Unasked,
    /// The person has not said anything.
    Unknown,
    /// Its configuration and instructions may be used.
    Yes,
    /// They may not.
    No,
}

/// What the host told this terminal.
#[derive(Debug, Clone)]
pub struct Projection {
    /// How the host is.
    pub host: Host,
    /// The Task that is open.
    pub open: Option<TaskId>,
    /// The records of that Task, as far as they are needed.
    pub records: Snapshot,
    /// The last event they include.
    pub seq: Seq,
    /// What was heard of a Task that is still being opened.
    ahead: Vec<Recorded>,
    /// Whether rows exist before the oldest one here.
    pub more: bool,
    /// Tokens that the next request would send, as far as is known.
    pub context_tokens: u64,
    /// What Main is saying right now.
    pub live: Live,
    /// What woke Main last.
    pub woken_by: Vec<MessageId>,
    /// Why the last request gave no answer.
    pub notice: Option<Notice>,
    /// Why nothing can be saved right now, until the next event says that it can.
    pub unsaved: Option<String>,
    /// All Tasks, for the list.
    pub tasks: Vec<Task>,
    /// In which Tasks something waits for a person: once for each approval and question.
    pub waiting: Vec<TaskId>,
    /// What the host said of the folder.
    pub trusted: Trusted,
    /// Grows with every change: what was laid out from an older one is stale.
    pub revision: u64,
    /// How many of these changes were only of what is being said.
    said: u64,
}

impl Default for Projection {
    fn default() -> Self {
        Self {
            host: Host::Connecting,
            open: None,
            records: Snapshot::default(),
            seq: 0,
            ahead: Vec::new(),
            more: false,
            context_tokens: 0,
            live: Live::default(),
            woken_by: Vec::new(),
            notice: None,
            unsaved: None,
            tasks: Vec::new(),
            waiting: Vec::new(),
            trusted: Trusted::Unasked,
            revision: 0,
            said: 0,
        }
    }
}

impl Projection {
    /// Leaves the open Task: a new one is to be made.
    pub fn close(&mut self) {
        let (host, tasks) = (self.host.clone(), std::mem::take(&mut self.tasks));
        let waiting = std::mem::take(&mut self.waiting);
        let (trusted, seq, said, revision) = (self.trusted, self.seq, self.said, self.revision + 1);
        *self = Self { host, tasks, waiting, trusted, seq, said, revision, ..Self::default() };
    }

    /// Starts from what the host answered for a Task.
    pub fn open(&mut self, opening: Opening) {
        let ahead = std::mem::take(&mut self.ahead);
        let same = self.open.as_ref() == Some(&opening.detail.task.id);
        let (notice, live) = (self.notice.take(), std::mem::take(&mut self.live));
        self.close();
        if same {
            (self.notice, self.live) = (notice, live);
        }
        let Opening { detail, page, messages, approvals, questions, fence } = opening;
        let records = &mut self.records;
        records.fence = fence;
        self.open = Some(detail.task.id.clone());
        self.seq = detail.seq;
        self.context_tokens = detail.context_tokens;
        self.live.resume(detail.asking.as_ref());
        self.more = page.more;
        self.woken_by = detail.run.as_ref().map_or_else(Vec::new, |run| woke(run, &messages));
        if let Some(objective) = detail.objective {
            records.objectives.insert((objective.task.clone(), objective.version), objective);
        }
        records.checks.extend(detail.checks.into_iter().map(|check| (check.id.clone(), check)));
        records.agents.extend(detail.agents.into_iter().map(|agent| (agent.id.clone(), agent)));
        records.runs.extend(detail.run.into_iter().map(|run| (run.id.clone(), run)));
        records.messages.extend(page.messages.into_iter().map(|message| (message.id.clone(), message)));
        records.messages.extend(messages.into_iter().map(|message| (message.id.clone(), message)));
        records.approvals.extend(approvals.into_iter().map(|approval| (approval.id.clone(), approval)));
        records.questions.extend(questions.into_iter().map(|question| (question.id.clone(), question)));
        records.tool_calls.extend(page.calls.into_iter().map(|call| (call.id.clone(), call)));
        let main = detail.task.main.clone();
        records.rows.extend(page.rows.into_iter().map(|row| ((main.clone(), row.seq), row)));
        let task = detail.task.id.clone();
        records.tasks.insert(task.clone(), detail.task);
        // What the answer does not know yet was told already, and is not told again.
        for recorded in ahead.iter().filter(|recorded| recorded.task.as_ref() == Some(&task)) {
            self.record(recorded);
        }
    }

    /// Keeps an event of a Task that is still being opened until it is.
    pub fn hear_ahead(&mut self, recorded: &Recorded) {
        self.ahead.push(recorded.clone());
    }

    /// Adds older rows. What is here already is newer and stays.
    pub fn prepend(&mut self, agent: &AgentId, page: TranscriptPage) {
        if self.task().is_none_or(|task| task.main != *agent) {
            return;
        }
        self.more = page.more;
        for row in page.rows {
            self.records.rows.entry((agent.clone(), row.seq)).or_insert(row);
        }
        for message in page.messages {
            self.records.messages.entry(message.id.clone()).or_insert(message);
        }
        for call in page.calls {
            self.records.tool_calls.entry(call.id.clone()).or_insert(call);
        }
        self.revision += 1;
    }

    /// Forgets the oldest rows beyond `keep`; they can be asked for again.
    pub fn trim(&mut self, keep: usize) {
        let surplus = self.records.rows.len().saturating_sub(keep);
        if surplus == 0 {
            return;
        }
        let Some(first_kept) = self.records.rows.keys().nth(surplus).map(|(_, seq)| *seq) else { return };
        self.records.rows.retain(|(_, seq), _| *seq >= first_kept);
        self.records.tool_calls.retain(|_, call| call.assistant_seq >= first_kept || !call.state.is_settled());
        self.more = true;
        self.revision += 1;
    }

    /// Folds one event in. What is older than the answers changes nothing; of another Task, only the cursor.
    pub fn record(&mut self, recorded: &Recorded) {
        let Recorded { seq, at, task, actor, event } = recorded;
        if *seq <= self.seq {
            return;
        }
        self.seq = *seq;
        let ours = task.is_some() && *task == self.open;
        if !ours && !matches!(event, Event::TakenOver { .. }) {
            return;
        }
        self.revision += 1;
        self.unsaved = None;
        self.records.apply(task.as_ref(), actor, *at, event);
        self.follow(event);
        self.forget_what_is_not_shown();
    }

    /// Takes in what is shown and not stored; says whether anything changed.
    pub fn take(&mut self, transient: &Transient) -> bool {
        let ours = self.open.as_ref() == Some(transient.task());
        let changed = match transient {
            Transient::Unsaved { why, .. } if ours => self.unsaved.replace(why.clone()).as_ref() != Some(why),
            _ => ours && self.live.take(transient),
        };
        self.revision += u64::from(changed);
        self.said += u64::from(changed);
        changed
    }

    /// Grows with every change but those of what is being said.
    pub fn settled(&self) -> u64 {
        self.revision - self.said
    }

    /// What an event means for the live tail, the notice and the size of the context.
    fn follow(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { call } => {
                self.live.begin(&call.id);
                // That an answer begins afresh is said until it has come.
                if !matches!(self.notice, Some(Notice::Abandoned { .. })) {
                    self.notice = None;
                }
            }
            Event::TurnCommitted { call, row, .. } => {
                self.live.end(call);
                self.notice = None;
                self.context_tokens += row.tokens;
            }
            Event::TurnFailed { call, class, message, retry_at, instead, .. } => {
                self.live.end(call);
                // Where another model goes on, the message says so and nothing is waited for.
                let retry_at = retry_at.filter(|_| instead.is_none());
                self.notice = Some(Notice::Failed { class: class.clone(), message: message.clone(), retry_at });
            }
            Event::TurnAbandoned { call, reason, .. } => {
                self.live.end(call);
                self.notice = Some(Notice::Abandoned { reason: reason.clone() });
            }
            Event::ToolSettled { call, row, .. } => {
                self.live.settle(call);
                self.context_tokens += row.tokens;
            }
            Event::MessageDelivered { row, .. } => {
                self.context_tokens += row.tokens;
                self.notice = None;
            }
            Event::RunStarted { woken_by, .. } => self.woken_by = woken_by.clone(),
            Event::RunEnded { reason: EndReason::Interrupted, .. } => self.notice = Some(Notice::Stopped),
            _ => {}
        }
    }

    fn forget_what_is_not_shown(&mut self) {
        self.records.checkpoints.clear();
        self.records.verdicts.clear();
        self.records.model_calls.clear();
        self.records.controls.retain(|_, control| control.state == ControlState::Requested);
        self.records.runs.retain(|_, run| !run.state.is_ended());
        self.records.approvals.retain(|_, approval| approval.state == ApprovalState::Pending);
        self.records.questions.retain(|_, question| question.state == QuestionState::Open);
    }

    /// The open Task.
    pub fn task(&self) -> Option<&Task> {
        self.open.as_ref().and_then(|id| self.records.tasks.get(id))
    }

    /// Main's Run that is not over.
    pub fn run(&self) -> Option<&Run> {
        self.task().and_then(|task| self.records.live_run(&task.main))
    }

    /// Whether Main is at work.
    pub fn is_running(&self) -> bool {
        self.run().is_some_and(|run| run.state == RunState::Running)
    }

    /// When the model is asked again after a failure.
    pub fn retry_at(&self) -> Option<Millis> {
        let task = self.task()?;
        self.records.agents.get(&task.main)?.retry_at
    }

    /// The rows of Main's context that are here, oldest first.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        let main = self.task().map(|task| &task.main);
        self.records.rows.iter().filter(move |((agent, _), _)| Some(agent) == main).map(|(_, row)| row)
    }

    /// One row.
    pub fn row(&self, seq: u64) -> Option<&Row> {
        let main = self.task()?.main.clone();
        self.records.rows.get(&(main, seq))
    }

    /// The result row of a call.
    pub fn result(&self, call: &ToolCall) -> Option<&Row> {
        call.result_seq.and_then(|seq| self.row(seq))
    }

    /// Main's messages that can still be edited and taken back, in their order.
    pub fn queued(&self) -> Vec<&Message> {
        if self.live.is_ahead() {
            return Vec::new();
        }
        self.task().map_or_else(Vec::new, |task| self.records.inbox(&task.main, MessageState::Queued))
    }

    /// Approvals that wait for a person, oldest first.
    pub fn approvals(&self) -> Vec<&Approval> {
        let mut open: Vec<_> = self.records.approvals.values().filter(|a| a.state == ApprovalState::Pending).collect();
        open.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        open
    }

    /// Questions that wait for a person, oldest first.
    pub fn questions(&self) -> Vec<&Question> {
        let mut open: Vec<_> = self.records.questions.values().filter(|q| q.state == QuestionState::Open).collect();
        open.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        open
    }

    /// How many approvals and questions of other Tasks wait for a person.
    pub fn waiting_elsewhere(&self) -> usize {
        self.waiting.iter().filter(|task| Some(*task) != self.open.as_ref()).count()
    }

    /// Points of acceptance that only a person can settle now, oldest first.
    pub fn unjudged(&self) -> Vec<&Check> {
        let waits = self.task().is_some_and(|task| {
            task.status == TaskStatus::AwaitingHuman && task.reason.as_deref() == Some("acceptance")
        });
        let open = |check: &&Check| waits && matches!(check.state, CheckState::Open | CheckState::Failed);
        let mut unjudged: Vec<_> = self.records.checks.values().filter(open).collect();
        unjudged.sort_by_key(|check| (check.created_at, check.id.clone()));
        unjudged
    }

    /// All messages of the Task, newest first.
    pub fn inbox(&self) -> Vec<&Message> {
        let mut all: Vec<_> = self.records.messages.values().collect();
        all.sort_by_key(|message| std::cmp::Reverse((message.created_at, message.order)));
        all
    }
}

/// What was queued when a Run began: that is what woke it.
fn woke(run: &Run, messages: &[Message]) -> Vec<MessageId> {
    let waited = |message: &&Message| match message.state {
        MessageState::Queued => true,
        MessageState::Delivered | MessageState::Consumed => message.delivered_at >= Some(run.started_at),
        MessageState::Undelivered | MessageState::Coalesced | MessageState::Withdrawn => false,
    };
    let before = |message: &&Message| message.created_at <= run.started_at;
    messages.iter().filter(before).filter(waited).map(|message| message.id.clone()).collect()
}

#[cfg(test)]
mod tests;
