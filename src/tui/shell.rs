//! A command of the person's own: a Job that runs in the folder, as the person, and that outlives the
//! screen. What it printed is for the person first; into a message it comes only when they say so.

use crate::domain::{CommandId, JobId, JobView, LogPage, Millis};

/// How much room a person is given to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended, in a few words.
    pub ended: String,
    /// The end of what it printed.
    pub output: String,
}

/// A command that runs or ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    /// The command.
    pub command: String,
    /// What asked for it.
    pub asked: CommandId,
    /// The Job it is, once that is known.
    pub job: Option<JobId>,
    /// Since when it runs.
    pub since: Millis,
    /// The end of what it has printed so far.
    pub printed: String,
    /// What came of it, once it ended.
    pub ran: Option<Ran>,
    /// The first row of the output that is shown, from its end.
    pub back: usize,
}

impl Shell {
    /// Takes how it stands.
    pub fn take(&mut self, view: &JobView, page: &LogPage) {
        self.printed = page.lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect();
        if let Some(end) = &view.job.end {
            let ended = end.exit_code.map_or_else(|| view.job.told(), |code| format!("exit {code}"));
            let output = match (&end.reason, self.printed.is_empty()) {
                (Some(reason), true) => format!("{reason}\n"),
                _ => self.printed.clone(),
            };
            self.ran = Some(Ran { ended, output });
        }
    }

    /// What is to be read of it.
    pub fn output(&self) -> &str {
        self.ran.as_ref().map_or(self.printed.as_str(), |ran| &ran.output)
    }

    /// What a message says of it.
    pub fn told(&self) -> String {
        let Some(ran) = &self.ran else { return format!("$ {}", self.command) };
        let output = if ran.output.is_empty() { "(no output)\n" } else { &ran.output };
        format!("I ran this myself ({}):\n```\n$ {}\n{}\n```\n", ran.ended, self.command, output.trim_end_matches('\n'))
    }
}
