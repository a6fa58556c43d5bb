//! The command line's way to the runtime: a connection that comes back when the host goes away.
//!
//! It asks, submits under ids that make a second try safe, completes shortened ids, and follows
//! events without gaps or repeats. Every command that touches state goes through here.

use super::app::App;
use super::fault::Fault;
use crate::domain::*;
use crate::host::client::{Client, Failure, Hello, Push, Pushes, fresh_ids};

/// How often a lost connection is made again for one request.
const TRIES: u32 = 3;

/// A connection to the runtime.
pub struct Session<'a> {
    app: &'a App,
    hello: Hello,
    client: Client,
    pushes: Pushes,
    following: Option<Following>,
}

/// What is being followed.
struct Following {
    task: Option<TaskId>,
    last: Seq,
    /// Whether the host knows; false after a new connection or a lag.
    subscribed: bool,
}

impl<'a> Session<'a> {
    /// Connects, starting the host where none runs. `settings` are for commands that start work;
    /// commands that only look leave the host's as they are.
    pub async fn open(app: &'a App, settings: Option<Settings>) -> Result<Session<'a>, Fault> {
        let hello = Hello::new(settings).map_err(failed)?;
        let (client, pushes) = app.connect(hello.clone()).await?;
        Ok(Self { app, hello, client, pushes, following: None })
    }

    /// Asks something.
    pub async fn ask(&mut self, query: Query) -> Result<Answer, Fault> {
        let mut tries = 1;
        loop {
            match self.client.ask(query.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(Failure::Lost(_)) if tries < TRIES => {
                    tries += 1;
                    self.reconnect().await?;
                }
                Err(failure) => return Err(failed(failure)),
            }
        }
    }

    /// Asks for a change; it is carried out once, however often the connection breaks.
    pub async fn submit(&mut self, wanted: UserCommand) -> Result<Receipt, Fault> {
        let id = CommandId::new(&mut fresh_ids().map_err(failed)?);
        let mut tries = 1;
        loop {
            match self.client.submit_as(id.clone(), wanted.clone()).await {
                Ok(receipt) => return Ok(receipt),
                Err(Failure::Lost(_)) if tries < TRIES => {
                    tries += 1;
                    self.reconnect().await?;
                }
                Err(failure) => return Err(failed(failure)),
            }
        }
    }

    /// Begins to follow what happens after `after`, in one Task or in all.
    pub async fn follow(&mut self, task: Option<TaskId>, after: Seq) -> Result<(), Fault> {
        self.following = Some(Following { task, last: after, subscribed: false });
        self.subscribe().await
    }

    /// The next thing that happens: every event once and in order, and what passes in between.
    /// Safe to drop half-way.
    pub async fn next(&mut self) -> Result<Happening, Fault> {
        loop {
            self.subscribe().await?;
            let push = self.pushes.next().await;
            let Some(following) = self.following.as_mut() else {
                return Err(Fault::bug("nothing is being followed"));
            };
            match push {
                Some(Push::Recorded(recorded)) if recorded.seq > following.last => {
                    following.last = recorded.seq;
                    return Ok(Happening::Recorded(recorded));
                }
                Some(Push::Recorded(_)) => {}
                Some(Push::Transient(transient)) => return Ok(Happening::Transient(transient)),
                Some(Push::Lagged { .. }) => following.subscribed = false,
                None => self.reconnect().await?,
            }
        }
    }

    /// Takes what has happened and was not yet handed out, up to and including `through`.
    pub async fn catch_up(&mut self, through: Seq) -> Result<Vec<Recorded>, Fault> {
        let mut missed = Vec::new();
        let Some(following) = &self.following else { return Ok(missed) };
        let (task, mut last) = (following.task.clone(), following.last);
        loop {
            let page = self.events(task.clone(), last).await?;
            let Some(end) = page.last().map(|recorded| recorded.seq) else { break };
            missed.extend(page.into_iter().filter(|recorded| recorded.seq <= through));
            last = end;
            if end >= through {
                break;
            }
        }
        if let (Some(following), Some(end)) = (self.following.as_mut(), missed.last()) {
            following.last = end.seq;
        }
        Ok(missed)
    }

    /// The last event that was handed out.
    pub fn last(&self) -> Seq {
        self.following.as_ref().map_or(0, |following| following.last)
    }

    async fn subscribe(&mut self) -> Result<(), Fault> {
        let mut tries = 1;
        loop {
            let Some(following) = self.following.as_mut().filter(|following| !following.subscribed) else {
                return Ok(());
            };
            match self.client.subscribe(following.task.clone(), following.last).await {
                Ok(()) => following.subscribed = true,
                Err(Failure::Lost(_)) if tries < TRIES => {
                    tries += 1;
                    self.reconnect().await?;
                }
                Err(failure) => return Err(failed(failure)),
            }
        }
    }

    async fn reconnect(&mut self) -> Result<(), Fault> {
        tracing::info!("the connection to the host is lost; connecting again");
        (self.client, self.pushes) = self.app.connect(self.hello.clone()).await?;
        if let Some(following) = self.following.as_mut() {
            following.subscribed = false;
        }
        Ok(())
    }
}

/// Something that happened while following.
pub enum Happening {
    /// An event.
    Recorded(Box<Recorded>),
    /// Something that is shown and not stored.
    Transient(Transient),
}

/// Says a failure of the connection in the words of the edge.
pub fn failed(failure: Failure) -> Fault {
    match failure {
        Failure::Rejected(rejection) => rejection.into(),
        Failure::Lost(_) => Fault::new("host", failure.to_string(), "host.log in the state folder may say why"),
        Failure::Refused { version, reason } => Fault::new(
            "version",
            format!("the host runs version {version} of the program: {reason}"),
            "`cowork host stop` ends it safely; the next command starts this version",
        ),
    }
}

/// An id that a person may shorten.
pub trait Named: From<String> {
    /// What it names, in words.
    const WHAT: &'static str;
    /// The letter and underscore it begins with.
    const LETTER: &'static str;
    /// The command that lists them.
    const LISTED: &'static str;
}

macro_rules! named {
    ($($id:ident $what:literal $list:literal),*) => {$(
        impl Named for $id {
            const WHAT: &'static str = $what;
            const LETTER: &'static str = $id::PREFIX;
            const LISTED: &'static str = $list;
        }
    )*};
}
named!(
    TaskId "a Task" "cowork ls", AgentId "an agent" "cowork agents ls", MessageId "a message" "cowork inbox ls",
    ApprovalId "an approval" "cowork approvals ls", QuestionId "a question" "cowork inbox ls",
    CheckId "a check" "cowork checks TASK", RuleId "a rule" "cowork approvals rules", JobId "a Job" "cowork jobs ls",
    DecisionId "a decision request" "cowork agents ls", ContributionId "a Contribution" "cowork agents ls"
);

/// Writes a shortened id with its letter; refuses one that names something else.
pub fn spelled<I: Named>(word: &str) -> Result<String, Fault> {
    let word = word.trim();
    let shape = |message: String| {
        Fault::usage(message, format!("such an id begins with {}; `{}` lists them", I::LETTER, I::LISTED))
    };
    if word.is_empty() || !word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(shape(format!("`{word}` is not the id of {}", I::WHAT)));
    }
    match word.as_bytes().get(1) {
        Some(b'_') if word.starts_with(I::LETTER) => Ok(word.to_owned()),
        Some(b'_') => Err(shape(format!("`{word}` is not the id of {}", I::WHAT))),
        Some(_) | None => Ok(format!("{}{word}", I::LETTER)),
    }
}

/// Questions with answers of one kind.
macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) $query:expr => $answer:ident($value:ident) -> $out:ty = $give:expr;)*) => {
        impl Session<'_> {$(
            $(#[$doc])*
            pub async fn $name(&mut self, $($arg: $ty),*) -> Result<$out, Fault> {
                match self.ask($query).await? {
                    Answer::$answer($value) => Ok($give),
                    other => Err(Fault::bug(format!("the host answered {} with {other:.80?}", stringify!($name)))),
                }
            }
        )*}
    };
}

asks! {
    /// The Tasks, newest change first.
    tasks(all: bool) Query::Tasks { all } => Tasks(tasks) -> Vec<Task> = tasks;
    /// One Task with what belongs to it.
    task(task: &TaskId) Query::Task { task: task.clone() } => Task(detail) -> TaskDetail = *detail;
    /// The open messages of a Task, or of all, and the newest of the others.
    messages(task: Option<TaskId>, settled: u32) Query::Messages { task, settled } => Messages(messages) -> Vec<Message> = messages;
    /// One message.
    message(message: &MessageId) Query::Message { message: message.clone() } => Message(message) -> Message = *message;
    /// Approvals.
    approvals(task: Option<TaskId>, open: bool) Query::Approvals { task, open } => Approvals(found) -> Vec<Approval> = found;
    /// Questions to the person.
    questions(task: Option<TaskId>, open: bool) Query::Questions { task, open } => Questions(found) -> Vec<Question> = found;
    /// Standing rules.
    rules() Query::Rules => Rules(rules) -> Vec<Rule> = rules;
    /// Some events after a number.
    events(task: Option<TaskId>, after: Seq) Query::Events { task, after, limit: 500 } => Events(events) -> Vec<Recorded> = events;
    /// Part of an agent's context.
    transcript(agent: &AgentId, before: Option<u64>, limit: u32)
        Query::Transcript { agent: agent.clone(), before, limit } => Transcript(page) -> TranscriptPage = page;
    /// Jobs.
    jobs(task: Option<TaskId>, ended: bool) Query::Jobs { task, ended } => Jobs(jobs) -> Vec<JobView> = jobs;
    /// One Job, with what it uses.
    job(job: &JobId) Query::Job { job: job.clone() } => Job(view) -> JobView = *view;
    /// What the person said about a folder.
    trust(folder: Folder) Query::Trust { folder } => Trust(trust) -> Option<Trust> = trust;
    /// Completes an id.
    completed(prefix: String) Query::Resolve { prefix } => Resolved(id) -> String = id;
}

impl Session<'_> {
    /// Completes a shortened id of one kind.
    pub async fn id<I: Named>(&mut self, word: &str) -> Result<I, Fault> {
        let found = self.completed(spelled::<I>(word)?).await;
        // What names nothing is found in the list of its own kind.
        found.map(I::from).map_err(|fault| match fault.kind {
            "not_found" => Fault { hint: format!("`{}` lists them", I::LISTED), ..fault },
            _ => fault,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortened_id_may_leave_out_its_letter_but_not_name_another_kind() {
        assert_eq!(spelled::<TaskId>("t_7k").as_deref(), Ok("t_7k"));
        assert_eq!(spelled::<TaskId>("7k3").as_deref(), Ok("t_7k3"));
        assert_eq!(spelled::<TaskId>("t").as_deref(), Ok("t_t"));
        for word in ["m_7k", "", "t_7%", "../x", "t 1"] {
            assert!(spelled::<TaskId>(word).is_err(), "{word}");
        }
    }
}
