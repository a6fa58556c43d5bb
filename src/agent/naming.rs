//! A title for a Task, found by the model of small things while the work goes on.
//!
//! Nobody waits for it: where it does not come, the first words of what was asked stay the title.

use super::drive::Drive;
use super::model::{self, Request, StreamEvent};
use super::port::Port;
use super::turn::cost;
use crate::domain::settings::ProviderKind;
use crate::domain::*;
use futures_util::StreamExt;
use std::sync::Arc;

const ASKED: &str = "Find a title for what the person asks for: at most six words, in the person's language, without \
quotes and without a full stop. Answer with the title alone.";

/// How much of what was asked is shown, in bytes.
const MOST: usize = 2_000;

/// How long a title may be, in tokens: it also ends models that think aloud.
const LONGEST: u64 = 400;

/// Finds a title beside the first turn of a Task that has none of its own.
pub(super) fn begin(drive: &mut Drive, task: &Task) {
    let settings = drive.port.settings();
    let (Some(model), true) = (settings.roles.cheap.clone(), task.main == drive.agent) else { return };
    let rows = drive.held.rows();
    let Some(first) = rows.first().filter(|_| rows.iter().all(|row| row.role != Role::Assistant)) else { return };
    if std::mem::replace(&mut drive.naming, true) {
        return;
    }
    let is_named = first.role != Role::User || task.title != decide::short_title(&first.text());
    let is_guide = settings.resolve(&model).is_ok_and(|(provider, _)| provider.kind == ProviderKind::Guide);
    let too_dear = task.budget.micro_usd.is_some() && !settings.has_price(&model);
    if is_named || is_guide || too_dear {
        return;
    }
    let naming = Naming { port: drive.port.clone(), run: drive.run.clone(), task: task.id.clone(), model };
    let (words, before, leaving) = (first.text(), task.title.clone(), drive.leaving.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = naming.find(words, before) => {}
            () = leaving.cancelled() => {}
        }
    });
}

struct Naming {
    port: Arc<dyn Port>,
    run: RunId,
    task: TaskId,
    model: String,
}

impl Naming {
    async fn find(self, words: String, instead_of: String) {
        let found = match self.ask(&words).await {
            Ok(found) => found,
            Err(why) => {
                tracing::debug!(task = %self.task, why, "no title was found");
                return;
            }
        };
        let (title, usage) = found;
        let command = RunCommand::NameTask { run: self.run, task: self.task, title, instead_of, usage };
        if let Err(rejection) = self.port.submit(vec![command]).await {
            tracing::debug!(%rejection, "a title was not kept");
        }
    }

    /// Asks the model; gives the title and what it used.
    async fn ask(&self, words: &str) -> Result<(String, Usage), String> {
        let settings = self.port.settings();
        let end = (0..=MOST.min(words.len())).rev().find(|at| words.is_char_boundary(*at)).unwrap_or(0);
        let text = Part::text(&words[..end]);
        let mut info = settings.model_info(&self.model);
        info.max_output_tokens = Some(info.max_output_tokens.map_or(LONGEST, |most| most.min(LONGEST)));
        let request = Request {
            model: self.model.split_once(':').map_or(self.model.as_str(), |(_, name)| name).to_owned(),
            system: ASKED.to_owned(),
            rows: vec![Row {
                seq: 1,
                role: Role::User,
                parts: vec![text],
                message: None,
                tool_call: None,
                outcome: None,
                cut: false,
                tokens: 0,
                at: 0,
            }],
            tools: Vec::new(),
            info,
        };
        let model = model::connect(&settings, &self.model, self.port.blobs()).map_err(|error| error.to_string())?;
        let (mut said, mut stream) = (String::new(), model.ask(request));
        while let Some(event) = stream.next().await {
            match event.map_err(|error| error.to_string())? {
                StreamEvent::Text(text) => said.push_str(&text),
                StreamEvent::Done(finished) => {
                    let mut usage = Usage { turns: 0, ..finished.usage };
                    usage.micro_usd = settings.model_info(&self.model).price.map(|price| cost(&price, &usage));
                    return Ok((plain(&said), usage));
                }
                StreamEvent::Thinking(_) | StreamEvent::CallStarted { .. } | StreamEvent::CallArguments { .. } => {}
            }
        }
        Err("the answer stopped before its end".into())
    }
}

/// The title alone: the first line that says something, without what models like to put around it.
fn plain(said: &str) -> String {
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let around: &[char] = &['"', '\'', '“', '”', '„', '«', '»', '*', '#', '.', ' '];
    sanitise::line(line.trim_matches(around)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_models_put_around_a_title_is_taken_off() {
        assert_eq!(plain("\n\"Mend the login page.\"\n\nShall I go on?"), "Mend the login page");
        assert_eq!(plain("**北京の天気**"), "北京の天気");
        assert_eq!(plain("  \n"), "");
    }
}
