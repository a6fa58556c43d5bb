//! The requests of one client: taken one by one, answered into its outbox.
//!
//! Questions are answered side by side. Commands and drafts are carried out one after the other,
//! in the order they came; those that were taken are carried out even if the client is gone by
//! then.

use super::hub::Hub;
use super::line::{LineError, Lines};
use super::outbox::Outbox;
use super::protocol::{FromHost, ToHost};
use super::subscription::Subscription;
use crate::domain::{Actor, Answer, ClientId, CommandId, Query, UserCommand};
use std::sync::Arc;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};

/// How many commands and drafts wait for their turn.
const LANE: usize = 16;

/// How many questions are answered at once.
const QUESTIONS: usize = 8;

/// Something to be carried out in its turn.
struct Errand {
    request: u64,
    what: What,
}

enum What {
    Command { command: CommandId, wanted: UserCommand },
    KeepDraft { pane: String, text: String },
}

/// Where the requests of one client are taken.
pub(super) struct Desk {
    hub: Arc<Hub>,
    client: ClientId,
    outbox: Outbox,
    lane: mpsc::Sender<Errand>,
    carrying_out: JoinHandle<()>,
    questions: JoinSet<()>,
    feed: Option<JoinHandle<()>>,
}

impl Desk {
    pub(super) fn new(hub: Arc<Hub>, client: ClientId, outbox: Outbox) -> Self {
        let (lane, errands) = mpsc::channel(LANE);
        hub.arrived(&client);
        let carrying_out = tokio::spawn(carry_out(hub.clone(), client.clone(), errands, outbox.clone()));
        Self { hub, client, outbox, lane, carrying_out, questions: JoinSet::new(), feed: None }
    }

    /// Takes requests until the client leaves, or has to be sent away for the reason returned.
    pub(super) async fn take_all(&mut self, lines: &mut Lines<impl AsyncRead + Unpin>) -> Option<String> {
        loop {
            let taken = match lines.next().await {
                Ok(Some(request)) => self.take(request).await,
                Ok(None) | Err(LineError::Cut | LineError::Io(_)) => return None,
                Err(error @ (LineError::TooLong(_) | LineError::NotJson(_))) => Err(error.to_string()),
            };
            if let Err(reason) = taken {
                return Some(reason);
            }
        }
    }

    async fn take(&mut self, request: ToHost) -> Result<(), String> {
        match request {
            ToHost::Hello { .. } => Err("a client says hello once".into()),
            ToHost::Command { request, command, wanted } => {
                self.queue(Errand { request, what: What::Command { command, wanted } }).await
            }
            ToHost::KeepDraft { request, pane, text } => {
                self.queue(Errand { request, what: What::KeepDraft { pane, text } }).await
            }
            ToHost::Ask { request, query } => {
                self.answer(request, query).await;
                Ok(())
            }
            ToHost::Subscribe { request, task, after } => {
                // The old feed has said its last word before the new one is announced.
                self.end_feed().await;
                self.say(FromHost::Done { request }).await;
                let feed = Subscription::new(self.hub.clone(), self.outbox.clone(), task, after);
                self.feed = Some(tokio::spawn(feed.run()));
                Ok(())
            }
            ToHost::StopHost { request } => {
                tracing::info!("a client ends the host");
                self.say(FromHost::Done { request }).await;
                self.hub.stop();
                Ok(())
            }
        }
    }

    async fn queue(&self, errand: Errand) -> Result<(), String> {
        // The lane ends before its desk only by a fault of ours.
        self.lane.send(errand).await.map_err(|_| "the host failed to carry out a command".into())
    }

    async fn answer(&mut self, request: u64, query: Query) {
        while self.questions.len() >= QUESTIONS {
            self.questions.join_next().await;
        }
        while self.questions.try_join_next().is_some() {}
        let (hub, outbox) = (self.hub.clone(), self.outbox.clone());
        self.questions.spawn(async move {
            let answered = match query {
                Query::Host => Ok(Answer::Host(hub.status().await)),
                // A screen that was closed with its terminal left its words to the next one.
                Query::Draft { client, pane } => {
                    hub.coordinator.draft(&client, &pane, &hub.present()).await.map(Answer::Draft)
                }
                query => hub.coordinator.ask(query).await,
            };
            let answer = match answered {
                Ok(answer) => FromHost::Answered { request, answer: Box::new(answer) },
                Err(rejection) => FromHost::Rejected { request, rejection },
            };
            let _ = outbox.send(answer).await; // The client may be gone.
        });
    }

    async fn say(&self, message: FromHost) {
        let _ = self.outbox.send(message).await; // The client may be gone.
    }

    async fn end_feed(&mut self) {
        if let Some(feed) = self.feed.take() {
            feed.abort();
            let _ = feed.await;
        }
    }

    /// Answers what was taken and takes no more.
    pub(super) async fn close(mut self) {
        self.end_feed().await;
        self.hub.left(&self.client);
        drop(self.lane);
        let _ = self.carrying_out.await;
        while self.questions.join_next().await.is_some() {}
    }
}

async fn carry_out(hub: Arc<Hub>, client: ClientId, mut errands: mpsc::Receiver<Errand>, outbox: Outbox) {
    while let Some(Errand { request, what }) = errands.recv().await {
        let outcome = match what {
            What::Command { command, wanted } => {
                let submitted = hub.coordinator.submit(command, Actor::person(), wanted).await;
                submitted.map(|receipt| FromHost::Accepted { request, receipt })
            }
            What::KeepDraft { pane, text } => {
                let kept = hub.coordinator.keep_draft(client.as_str(), &pane, &text).await;
                kept.map(|()| FromHost::Done { request })
            }
        };
        let answer = outcome.unwrap_or_else(|rejection| FromHost::Rejected { request, rejection });
        let _ = outbox.send(answer).await; // The client may be gone; the rest is carried out all the same.
    }
}
