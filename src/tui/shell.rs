//! A command of the person's own: it runs in the folder, as the person, and what it printed is for
//! the person first. Into a message it comes only when they say so.

use crate::domain::Millis;

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
    /// Since when it runs.
    pub since: Millis,
    /// What came of it, once it ended.
    pub ran: Option<Ran>,
    /// The first row of the output that is shown, from its end.
    pub back: usize,
}

impl Shell {
    /// What a message says of it.
    pub fn told(&self) -> String {
        let Some(ran) = &self.ran else { return format!("$ {}", self.command) };
        let output = if ran.output.is_empty() { "(no output)\n" } else { &ran.output };
        format!("I ran this myself ({}):\n```\n$ {}\n{}\n```\n", ran.ended, self.command, output.trim_end_matches('\n'))
    }
}
