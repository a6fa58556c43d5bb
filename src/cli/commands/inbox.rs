//! `inbox`: every message with sender, state and age; questions to the person are answered here.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::cli::session::Session;
use crate::cli::{input, units};
use crate::domain::sanitise::{line, text};
use crate::domain::*;

/// How many messages that are settled are listed, the newest.
const SETTLED: u32 = 1000;

#[derive(Debug, clap::Args)]
pub struct InboxArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// List messages and questions
    Ls {
        /// Only what is open: not yet answered, or not yet taken in; without it, also the newest 1000 others
        #[arg(long)]
        unread: bool,
        /// Of one Task
        #[arg(long, value_name = "TASK")]
        task: Option<String>,
    },
    /// Show a message or a question whole
    Show {
        /// The message or question
        id: String,
    },
    /// Answer a question, or what a Subagent asked to be decided
    Answer {
        /// The question, or the decision request
        id: String,
        /// The answer; - reads standard input
        #[arg(value_name = "TEXT", required = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

/// Lists, shows or answers.
pub async fn run(app: &App, args: InboxArgs) -> Result<Exit, Fault> {
    let mut session = app.session(Purpose::Look).await?;
    match args.verb {
        Verb::Ls { unread, task } => {
            let task = match task {
                Some(word) => Some(session.id::<TaskId>(&word).await?),
                None => None,
            };
            list(app, &everything(&mut session, task, unread).await?)?;
        }
        Verb::Show { id } => show(app, &mut session, &id).await?,
        Verb::Answer { id, words } => answer(app, &mut session, &id, &input::words(&words)?).await?,
    }
    Ok(Exit::Done)
}

/// A question in the form of a message to the person.
fn as_message(question: &Question) -> Message {
    let state = match question.state {
        QuestionState::Open => MessageState::Delivered,
        QuestionState::Answered => MessageState::Consumed,
        QuestionState::Cancelled => MessageState::Withdrawn,
    };
    Message {
        id: MessageId(question.id.0.clone()),
        task: Some(question.task.clone()),
        to: Actor::person(),
        from: Actor::agent(&question.agent),
        kind: MessageKind::Question,
        key: format!("question:{}", question.id),
        delivery: Delivery::Boundary,
        order: 0,
        text: question.question.clone(),
        refs: Vec::new(),
        state,
        reason: None,
        context_seq: None,
        consumed_seq: None,
        fence: None,
        created_at: question.created_at,
        delivered_at: Some(question.created_at),
        consumed_at: question.resolved_at.filter(|_| question.state == QuestionState::Answered),
    }
}

/// Messages and questions, oldest first.
async fn everything(session: &mut Session<'_>, task: Option<TaskId>, open: bool) -> Result<Vec<Message>, Fault> {
    let mut all = session.messages(task.clone(), if open { 0 } else { SETTLED }).await?;
    all.extend(session.questions(task, open).await?.iter().map(as_message));
    all.sort_by_key(|message| message.created_at);
    Ok(all)
}

fn list(app: &App, messages: &[Message]) -> Result<(), Fault> {
    if app.out.json {
        return messages.iter().try_for_each(|message| app.out.json(message));
    }
    if messages.is_empty() {
        app.out.note("the inbox is empty");
    }
    let now = units::now();
    let rows: Vec<Vec<String>> = messages
        .iter()
        .map(|message| {
            vec![
                message.id.to_string(),
                message.task.as_ref().map(ToString::to_string).unwrap_or_default(),
                message.kind.to_string(),
                message.state.to_string(),
                units::age(message.created_at, now),
                sender(&message.from),
                line(&message.text).into_owned(),
            ]
        })
        .collect();
    app.out.table(&["id", "task", "kind", "state", "age", "from", "text"], &rows)?;
    let asks = |message: &Message| message.kind == MessageKind::Question && message.state == MessageState::Delivered;
    if messages.iter().any(asks) {
        app.out.note("`cowork inbox answer ID TEXT` answers a question");
    }
    Ok(())
}

fn sender(actor: &Actor) -> String {
    match actor.kind {
        ActorKind::Person => "you".into(),
        ActorKind::System => "cowork".into(),
        ActorKind::Agent | ActorKind::Job | ActorKind::Source | ActorKind::File => line(&actor.id).into_owned(),
    }
}

async fn find_question(session: &mut Session<'_>, word: &str) -> Result<Question, Fault> {
    let id = session.id::<QuestionId>(word).await?;
    let all = session.questions(None, false).await?;
    all.into_iter().find(|question| question.id == id).ok_or_else(|| {
        Fault::new(
            "not_found",
            format!("question {id} does not exist"),
            "`cowork inbox ls --unread` lists the open ones",
        )
    })
}

async fn show(app: &App, session: &mut Session<'_>, word: &str) -> Result<(), Fault> {
    if word.starts_with(QuestionId::PREFIX) {
        let question = find_question(session, word).await?;
        return if app.out.json { app.out.json(&as_message(&question)) } else { print_question(app, &question) };
    }
    let id = session.id::<MessageId>(word).await?;
    let message = session.message(&id).await?;
    if app.out.json {
        return app.out.json(&message);
    }
    let moment = |at: Option<Millis>| at.map(units::moment).unwrap_or_default();
    app.out.fields(&[
        ("id", message.id.to_string()),
        ("task", message.task.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("kind", message.kind.to_string()),
        ("state", message.state.to_string()),
        ("why", message.reason.as_deref().map(|reason| line(reason).into_owned()).unwrap_or_default()),
        ("from", sender(&message.from)),
        ("to", sender(&message.to)),
        ("queued", units::moment(message.created_at)),
        ("delivered", moment(message.delivered_at)),
        ("answered", moment(message.consumed_at)),
        ("refs", line(&message.refs.join(", ")).into_owned()),
    ])?;
    app.out.line("")?;
    app.out.text(&message.text)
}

fn print_question(app: &App, question: &Question) -> Result<(), Fault> {
    let options: Vec<String> =
        question.options.iter().enumerate().map(|(ix, option)| format!("{}. {}", ix + 1, line(option))).collect();
    app.out.fields(&[
        ("id", question.id.to_string()),
        ("task", question.task.to_string()),
        ("state", question.state.to_string()),
        ("asked", units::moment(question.created_at)),
        ("options", options.join("\n")),
        ("meanwhile", line(&question.meanwhile).into_owned()),
        ("answer", question.answer.as_deref().map(|answer| text(answer).into_owned()).unwrap_or_default()),
    ])?;
    app.out.line("")?;
    app.out.text(&question.question)
}

async fn answer(app: &App, session: &mut Session<'_>, word: &str, words: &str) -> Result<(), Fault> {
    if word.starts_with(DecisionId::PREFIX) {
        return super::agents::answer(app, session, word, words).await;
    }
    if word.starts_with(MessageId::PREFIX) {
        let hint = "messages to an agent are answered by the agent; `cowork send TASK TEXT` adds to the conversation";
        return Err(Fault::usage(format!("{word} is a message, not a question"), hint));
    }
    let question = find_question(session, word).await?;
    let answer = chosen(&question.options, words);
    session
        .submit(UserCommand::AnswerQuestion { task: question.task.clone(), question: question.id.clone(), answer })
        .await?;
    app.out.note(&format!("{} is answered", question.id));
    if app.out.json {
        let answered = find_question(session, question.id.as_str()).await?;
        app.out.json(&as_message(&answered))?;
    }
    Ok(())
}

/// The number of an option stands for its words.
fn chosen(options: &[String], words: &str) -> String {
    let number = words.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|ix| options.get(ix)).cloned().unwrap_or_else(|| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_an_option_stands_for_its_words() {
        let options = ["red".to_owned(), "blue".to_owned()];
        assert_eq!(chosen(&options, "2"), "blue");
        assert_eq!(chosen(&options, "3"), "3");
        assert_eq!(chosen(&options, "0"), "0");
        assert_eq!(chosen(&options, "green"), "green");
        assert_eq!(chosen(&[], "1"), "1");
    }
}
