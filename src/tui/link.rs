//! The way to the host: made, kept, lost and made again; questions and commands go out on it, what
//! comes back is news.
//!
//! Two lanes keep what belongs together in order: commands are sent one after the other as they
//! were given, and so are questions; neither waits for the other.

mod documents;

use super::action::{Effect, News};
use super::ports::Connect;
use super::projection::Opening;
use crate::domain::{Answer, LogPlace, Query, TaskId};
use crate::host::client::{Client, Failure, Push, Pushes};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How many rows are asked for at once.
const PAGE: u32 = 200;

/// How many of the texts that were sent before are remembered here.
const SENT: u32 = 1_000;

/// How long is waited before the host is tried again, time after time.
const BACKOFF_MS: [u64; 6] = [0, 100, 300, 1_000, 2_000, 5_000];

/// The handle on the way to the host.
pub struct Link {
    work: mpsc::UnboundedSender<Work>,
    news: mpsc::Sender<News>,
}

enum Work {
    Do(Box<Effect>),
    /// Everything sent before this is done.
    Settled(oneshot::Sender<()>),
}

impl Link {
    /// Starts to make the connection; what happens comes out of the receiver.
    pub fn start(connect: Connect) -> (Self, mpsc::Receiver<News>) {
        let (work, todo) = mpsc::unbounded_channel();
        let (news, heard) = mpsc::channel(1024);
        tokio::spawn(keep(connect, todo, news.clone()));
        (Self { work, news }, heard)
    }

    /// Where others put what they have to say.
    pub fn news(&self) -> &mpsc::Sender<News> {
        &self.news
    }

    /// Sends an effect on its way.
    pub fn carry_out(&self, effect: Effect) {
        // The keeper only ends with the screen.
        let _ = self.work.send(Work::Do(Box::new(effect)));
    }

    /// Waits until commands that were sent before are answered, but not for long.
    pub async fn settle(&self) {
        let (done, settled) = oneshot::channel();
        if self.work.send(Work::Settled(done)).is_ok() {
            let _ = tokio::time::timeout(Duration::from_millis(500), settled).await;
        }
    }
}

async fn keep(connect: Connect, mut todo: mpsc::UnboundedReceiver<Work>, news: mpsc::Sender<News>) {
    let mut tries = 0;
    loop {
        let wait = BACKOFF_MS[tries.min(BACKOFF_MS.len() - 1)];
        tokio::time::sleep(Duration::from_millis(wait)).await;
        let lost = match connect().await {
            Ok((client, pushes)) => {
                tries = 0;
                match serve(client, pushes, &mut todo, &news).await {
                    Ok(()) => return,
                    Err(Gone) => String::new(),
                }
            }
            Err(Failure::Refused { version, reason }) => {
                let _ = news.send(News::Refused(format!("{reason} (the host is version {version})"))).await;
                return;
            }
            Err(failure @ (Failure::Lost(_) | Failure::Rejected(_))) => failure.to_string(),
        };
        tries += 1;
        if news.send(News::Lost(lost)).await.is_err() {
            return;
        }
    }
}

/// The connection is gone.
struct Gone;

/// Serves one connection until it is gone, or until nobody listens any more.
async fn serve(
    client: Client,
    mut pushes: Pushes,
    todo: &mut mpsc::UnboundedReceiver<Work>,
    news: &mpsc::Sender<News>,
) -> Result<(), Gone> {
    // What was asked of an earlier connection is asked again by whoever wanted it.
    while let Ok(work) = todo.try_recv() {
        drop(work);
    }
    let welcome = client.welcome();
    if news.send(News::Connected { seq: welcome.seq, fence: welcome.fence }).await.is_err() {
        return Ok(());
    }
    let commands = lane(client.clone(), news.clone());
    let questions = lane(client, news.clone());
    loop {
        tokio::select! {
            push = pushes.next() => {
                let said = match push {
                    Some(Push::Recorded(recorded)) => News::Recorded(recorded),
                    Some(Push::Transient(transient)) => News::Transient(transient),
                    Some(Push::Lagged { seq }) => News::Lagged(seq),
                    None => return Err(Gone),
                };
                if news.send(said).await.is_err() {
                    return Ok(());
                }
            }
            work = todo.recv() => match work {
                None => return Ok(()),
                Some(work) => {
                    let is_command = match &work {
                        Work::Do(effect) => matches!(**effect, Effect::Submit { .. } | Effect::KeepDraft { .. }),
                        Work::Settled(_) => true,
                    };
                    let lane = if is_command { &commands } else { &questions };
                    let _ = lane.send(work);
                }
            },
        }
    }
}

fn lane(client: Client, news: mpsc::Sender<News>) -> mpsc::UnboundedSender<Work> {
    let (send, mut work) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(work) = work.recv().await {
            match work {
                Work::Do(effect) => {
                    if let Some(said) = perform(&client, *effect).await
                        && news.send(said).await.is_err()
                    {
                        return;
                    }
                }
                Work::Settled(done) => {
                    let _ = done.send(());
                }
            }
        }
    });
    send
}

/// Carries one effect out. A connection that is lost meanwhile is no news: that is told once, by
/// the pushes that end.
async fn perform(client: &Client, effect: Effect) -> Option<News> {
    match effect {
        Effect::Submit { id, wanted } => match client.submit_as(id.clone(), wanted).await {
            Ok(receipt) => Some(News::Accepted(id, receipt)),
            Err(Failure::Rejected(rejection)) => Some(News::Rejected(id, rejection)),
            Err(Failure::Lost(_) | Failure::Refused { .. }) => None,
        },
        Effect::KeepDraft { pane, text } => {
            let _ = client.keep_draft(&pane, &text).await;
            None
        }
        Effect::Open(task) => open(client, task).await.map_or_else(unanswered, |opening| Some(News::Opened(opening))),
        Effect::Trajectory { agent } => {
            let query = Query::Transcript { agent: agent.clone(), before: None, limit: PAGE };
            match client.ask(query).await {
                Ok(Answer::Transcript(page)) => Some(News::Trajectory(agent, page)),
                Ok(other) => unanswered(wrong(&other)),
                Err(failure) => unanswered(failure),
            }
        }
        Effect::Older { agent, before } => {
            let query = Query::Transcript { agent: agent.clone(), before: Some(before), limit: PAGE };
            match client.ask(query).await {
                Ok(Answer::Transcript(page)) => Some(News::Older(agent, page)),
                Ok(other) => unanswered(wrong(&other)),
                Err(failure) => unanswered(failure),
            }
        }
        Effect::Subscribe { after } => match client.subscribe(None, after).await {
            Ok(()) => None,
            Err(failure) => unanswered(failure),
        },
        Effect::AskWaiting => waiting(client).await.map_or_else(unanswered, |tasks| Some(News::Waiting(tasks))),
        Effect::ListTasks { archived } => match client.ask(Query::Tasks { all: archived }).await {
            Ok(Answer::Tasks(tasks)) => Some(News::Tasks(tasks)),
            Ok(other) => unanswered(wrong(&other)),
            Err(failure) => unanswered(failure),
        },
        Effect::ListSent => match client.ask(Query::Sent { limit: SENT }).await {
            Ok(Answer::Sent(texts)) => Some(News::Sent(texts)),
            Ok(other) => unanswered(wrong(&other)),
            Err(failure) => unanswered(failure),
        },
        Effect::ListJobs { ended } => match client.ask(Query::Jobs { task: None, ended }).await {
            Ok(Answer::Jobs(views)) => Some(News::Jobs(views)),
            Ok(other) => unanswered(wrong(&other)),
            Err(failure) => unanswered(failure),
        },
        Effect::ReadJob { job, place } => {
            let query = Query::JobLog { job: job.clone(), errors: false, from: place, lines: super::jobs::LINES };
            match client.ask(query).await {
                Ok(Answer::JobLog(page)) => Some(News::JobLog(job, page)),
                Ok(other) => unanswered(wrong(&other)),
                Err(failure) => unanswered(failure),
            }
        }
        Effect::LookAtShell(job) => {
            let view = match client.ask(Query::Job { job: job.clone() }).await {
                Ok(Answer::Job(view)) => view,
                Ok(other) => return unanswered(wrong(&other)),
                Err(failure) => return unanswered(failure),
            };
            let query = Query::JobLog { job, errors: false, from: LogPlace::Tail, lines: super::jobs::LINES };
            match client.ask(query).await {
                Ok(Answer::JobLog(page)) => Some(News::Shell(view, page)),
                Ok(other) => unanswered(wrong(&other)),
                Err(failure) => unanswered(failure),
            }
        }
        Effect::SearchJob { job, pattern, from } => {
            let (errors, regex, limit) = (false, true, super::jobs::LINES);
            let query = Query::JobSearch { job: job.clone(), errors, pattern: pattern.clone(), regex, from, limit };
            match client.ask(query).await {
                Ok(Answer::JobLog(page)) => Some(News::JobFound(job, pattern, page)),
                Ok(other) => unanswered(wrong(&other)),
                Err(failure) => unanswered(failure),
            }
        }
        Effect::Editor(wanted) => documents::ask(client, wanted).await.map(News::Editor),
        Effect::AskTrust(folder) => match client.ask(Query::Trust { folder }).await {
            Ok(Answer::Trust(trust)) => Some(News::Trust(trust.map(|trust| trust.trusted))),
            Ok(other) => unanswered(wrong(&other)),
            Err(failure) => unanswered(failure),
        },
        Effect::LoadDraft { client: name, pane } => {
            match client.ask(Query::Draft { client: name.0, pane: pane.clone() }).await {
                Ok(Answer::Draft(text)) => Some(News::Draft { pane, text: text.unwrap_or_default() }),
                Ok(other) => unanswered(wrong(&other)),
                Err(failure) => unanswered(failure),
            }
        }
        // These are the screen's own; the driver keeps them.
        Effect::Copy(_)
        | Effect::Suspend
        | Effect::Quit
        | Effect::EditOutside(_)
        | Effect::Show(..)
        | Effect::KeepModel(_)
        | Effect::Attach(_)
        | Effect::Page(_)
        | Effect::FindFiles { .. }
        | Effect::Preview { .. } => None,
    }
}

/// Asks for everything of a Task. The Task comes first: whatever the other answers know beyond its
/// `seq` comes again as events.
async fn open(client: &Client, task: TaskId) -> Result<Box<Opening>, Failure> {
    let detail = match client.ask(Query::Task { task: task.clone() }).await? {
        Answer::Task(detail) => *detail,
        other => return Err(wrong(&other)),
    };
    let page = Query::Transcript { agent: detail.task.main.clone(), before: None, limit: PAGE };
    let page = match client.ask(page).await? {
        Answer::Transcript(page) => page,
        other => return Err(wrong(&other)),
    };
    let some = Some(task);
    let messages = match client.ask(Query::Messages { task: some.clone(), settled: PAGE }).await? {
        Answer::Messages(messages) => messages,
        other => return Err(wrong(&other)),
    };
    let approvals = match client.ask(Query::Approvals { task: some.clone(), open: true }).await? {
        Answer::Approvals(approvals) => approvals,
        other => return Err(wrong(&other)),
    };
    let questions = match client.ask(Query::Questions { task: some, open: true }).await? {
        Answer::Questions(questions) => questions,
        other => return Err(wrong(&other)),
    };
    Ok(Box::new(Opening { detail, page, messages, approvals, questions, fence: client.welcome().fence }))
}

/// Asks in which Tasks something waits for a person, once for each thing.
async fn waiting(client: &Client) -> Result<Vec<TaskId>, Failure> {
    let mut tasks: Vec<TaskId> = match client.ask(Query::Approvals { task: None, open: true }).await? {
        Answer::Approvals(approvals) => approvals.into_iter().map(|approval| approval.task).collect(),
        other => return Err(wrong(&other)),
    };
    match client.ask(Query::Questions { task: None, open: true }).await? {
        Answer::Questions(questions) => tasks.extend(questions.into_iter().map(|question| question.task)),
        other => return Err(wrong(&other)),
    }
    Ok(tasks)
}

fn unanswered(failure: Failure) -> Option<News> {
    match failure {
        Failure::Lost(_) => None,
        Failure::Rejected(_) | Failure::Refused { .. } => Some(News::Unanswered(failure.to_string())),
    }
}

fn wrong(answer: &Answer) -> Failure {
    Failure::Lost(format!("the host gave an answer of the wrong kind: {answer:.60?}"))
}
