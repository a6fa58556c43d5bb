//! What the host told this terminal, and nothing else: any of it can be had again by asking.
//!
//! Answers seed the records, recorded events are folded into them by the domain's own
//! [`Snapshot::apply`], so the screen, the store and the laws agree by construction. Pushes that
//! are not stored live in [`Live`]. Only [`update`](super::update) calls this; views read it.

pub mod live;
pub mod team;
mod voice;

use crate::domain::{
    AgentId, Approval, ApprovalState, Check, CheckState, ControlState, Event, Fence, Message, MessageId, MessageKind,
    MessageState, Millis, Question, QuestionState, Recorded, Row, Run, RunState, Seq, Snapshot, Task, TaskDetail,
    TaskId, TaskStatus, ToolCall, TranscriptPage, Transient,
};
use std::collections::BTreeMap;
pub use voice::{Reading, Voice};

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
    /// Tokens that the next request of Main would send, as far as is known.
    pub context_tokens: u64,
    /// What is told of each agent.
    voices: BTreeMap<AgentId, Voice>,
    /// An agent of which nothing is told.
    silence: Voice,
    /// The places of Subagents in the order in which they were given work.
    places: BTreeMap<AgentId, usize>,
    /// The trajectory that is read in the place of Main's conversation.
    reading: Option<Reading>,
    /// What woke Main last.
    pub woken_by: Vec<MessageId>,
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
            context_tokens: 0,
            voices: BTreeMap::new(),
            silence: Voice::default(),
            places: BTreeMap::new(),
            reading: None,
            woken_by: Vec::new(),
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
        let (mut voices, reading) = (std::mem::take(&mut self.voices), self.reading.take());
        self.close();
        if same {
            // What Subagents were saying comes again, from its beginning.
            voices.retain(|agent, _| *agent == opening.detail.task.main);
            self.voices = voices;
        }
        let Opening { detail, page, messages, approvals, questions, fence } = opening;
        let records = &mut self.records;
        records.fence = fence;
        self.open = Some(detail.task.id.clone());
        self.seq = detail.seq;
        self.context_tokens = detail.context_tokens;
        let main = self.voices.entry(detail.task.main.clone()).or_default();
        main.live.resume(detail.asking.as_ref());
        main.more = page.more;
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
        self.gave(detail.delegated);
        if let Some(reading) = reading.filter(|_| same) {
            self.read(reading.agent);
        }
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
        if self.main() != Some(agent) && self.read_subagent() != Some(agent) {
            return;
        }
        self.voices.entry(agent.clone()).or_default().more = page.more;
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

    /// Forgets the oldest rows beyond `keep` of whoever is read; they can be asked for again.
    pub fn trim(&mut self, keep: usize) {
        let Some(agent) = self.reader().cloned() else { return };
        let Some(first_kept) = self.rows().rev().nth(keep.saturating_sub(1)).map(|row| row.seq) else { return };
        if self.rows().next().is_none_or(|first| first.seq >= first_kept) {
            return;
        }
        self.records.rows.retain(|(whose, seq), _| *whose != agent || *seq >= first_kept);
        let is_kept = |call: &ToolCall| call.agent != agent || call.assistant_seq >= first_kept;
        self.records.tool_calls.retain(|_, call| is_kept(call) || !call.state.is_settled());
        self.voices.entry(agent).or_default().more = true;
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
        self.reading.iter_mut().for_each(|reading| reading.hear(recorded));
        self.follow(event);
        self.forget_what_is_not_shown();
    }

    /// Takes in what is shown and not stored; says whether anything changed.
    pub fn take(&mut self, transient: &Transient) -> bool {
        let ours = self.open.as_ref() == Some(transient.task());
        let changed = match transient {
            Transient::Unsaved { why, .. } if ours => self.unsaved.replace(why.clone()).as_ref() != Some(why),
            _ => match transient.agent().filter(|_| ours) {
                Some(agent) => self.voices.entry(agent.clone()).or_default().live.take(transient),
                None => false,
            },
        };
        self.revision += u64::from(changed);
        self.said += u64::from(changed);
        changed
    }

    /// Grows with every change but those of what is being said.
    pub fn settled(&self) -> u64 {
        self.revision - self.said
    }

    /// What an event means for the live tail and the notice of the agent whose step it is; and for
    /// Main's context, and what woke it.
    fn follow(&mut self, event: &Event) {
        if let Event::AssignmentGiven { assignment, .. } = event {
            self.began(&assignment.agent);
        }
        let Some(agent) = self.speaker(event) else { return };
        if self.main() == Some(&agent) {
            match event {
                Event::TurnCommitted { row, .. }
                | Event::ToolSettled { row, .. }
                | Event::MessageDelivered { row, .. } => {
                    self.context_tokens += row.tokens;
                }
                Event::RunStarted { woken_by, .. } => self.woken_by = woken_by.clone(),
                _ => {}
            }
        }
        let of_subagent = self.main() != Some(&agent);
        self.voices.entry(agent).or_default().follow(event);
        if of_subagent {
            self.forget_trajectories();
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

    /// When the model is asked again for Main after a failure.
    pub fn retry_at(&self) -> Option<Millis> {
        self.records.agents.get(self.main()?)?.retry_at
    }

    /// The rows of the context of whoever is read that are here, oldest first.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = &Row> {
        let of = |agent: &AgentId| self.records.rows.range((agent.clone(), 0)..=(agent.clone(), u64::MAX));
        self.reader().map(of).into_iter().flatten().map(|(_, row)| row)
    }

    /// One row of whoever is read.
    pub fn row(&self, seq: u64) -> Option<&Row> {
        let agent = self.reader()?.clone();
        self.records.rows.get(&(agent, seq))
    }

    /// The result row of a call.
    pub fn result(&self, call: &ToolCall) -> Option<&Row> {
        call.result_seq.and_then(|seq| self.row(seq))
    }

    /// Whether something in Main's Inbox would wake it.
    pub fn is_due(&self) -> bool {
        let queued = |main: &AgentId| self.records.inbox(main, MessageState::Queued);
        self.main().is_some_and(|main| queued(main).into_iter().any(Message::wakes))
    }

    /// What the person said to Main and can still edit and take back, in its order.
    pub fn queued(&self) -> Vec<&Message> {
        if self.main().and_then(|main| self.voices.get(main)).is_some_and(|voice| voice.live.is_ahead()) {
            return Vec::new();
        }
        let mut queued = self.main().map_or_else(Vec::new, |main| self.records.inbox(main, MessageState::Queued));
        queued.retain(|message| message.kind == MessageKind::User);
        queued
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
    let to_it = |message: &&Message| message.to.id == run.agent.0;
    let waited = |message: &&Message| match message.state {
        MessageState::Queued => true,
        MessageState::Delivered | MessageState::Consumed => message.delivered_at >= Some(run.started_at),
        MessageState::Undelivered | MessageState::Coalesced | MessageState::Withdrawn => false,
    };
    let before = |message: &&Message| message.created_at <= run.started_at;
    messages.iter().filter(to_it).filter(before).filter(waited).map(|message| message.id.clone()).collect()
}

#[cfg(test)]
mod tests;
