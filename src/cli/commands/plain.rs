//! The conversation in plain lines, for a terminal on which no pane can be drawn: a line is sent, what
//! comes of it is printed, and the next one is asked for. Called instead of the screen.

use super::exec::{self, ExecArgs, Form};
use super::screen::ScreenArgs;
use crate::cli::app::App;
use crate::cli::fault::{Exit, Fault};
use crate::domain::TaskId;
use std::io::{self, BufRead};

/// Whether the terminal moves no cursor.
pub fn is_all_there_is() -> bool {
    std::env::var("TERM").is_ok_and(|term| term == "dumb")
}

/// Talks until an empty line, or the end of the input.
pub async fn run(app: &App, args: ScreenArgs) -> Result<Exit, Fault> {
    app.out.note("TERM=dumb draws no panes: plain lines instead; say what you want done, an empty line leaves");
    let mut task: Option<TaskId> = None;
    let mut word = args.task;
    loop {
        app.out.piece("> ")?;
        let Some(line) = next_line().await? else { return Ok(Exit::Done) };
        let wanted = ExecArgs {
            words: vec![line],
            task: word.clone(),
            model: args.model.clone().filter(|_| word.is_none()),
            approve: args.approve.filter(|_| word.is_none()),
            budget: None,
            timeout: None,
            no_wait: true,
            output: Form::Text,
        };
        // What went wrong is said, and the conversation goes on.
        if let Err(fault) = exec::say(app, wanted, &mut task).await {
            app.out.fault(&fault);
        }
        word = task.as_ref().map(TaskId::to_string).or(word);
    }
}

/// The next line that says something; none at an empty one or the end.
async fn next_line() -> Result<Option<String>, Fault> {
    let read = || {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    };
    let line = match tokio::task::spawn_blocking(read).await {
        Ok(Ok(line)) => line,
        Ok(Err(error)) => return Err(Fault::new("io", format!("can't read what is typed: {error}"), "")),
        Err(_) => return Ok(None),
    };
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}
