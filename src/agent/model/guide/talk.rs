//! What the guide says of itself and of models.

use super::show::{code, fenced, first_lines};

/// What it is.
pub(super) const WHO: &str = include_str!("who.md");

/// What it can do.
pub(super) const HELP: &str = include_str!("help.md");

/// How a model is connected.
pub(super) const CONNECT: &str = include_str!("connect.md");

pub(super) const GREETING: &str = "Hello. I am the guide, a built-in helper without any AI. I can look \
around here, read, count, search, compare, run commands and edit files. Try `what is here?`, or `help` for \
everything I understand.";

pub(super) const THANKS: &str = "You are welcome.";

pub(super) const STOP: &str = "Stopped. Nothing more of that will be done.";

pub(super) const NOTHING: &str = "There is nothing for me to do. Say `help` to see what I understand.";

pub(super) const TOO_LONG: &str = "I have taken more steps for this than any of my shapes needs, so I stop here.";

/// Words that fit no shape.
pub(super) fn unknown(text: &str, like: Option<&str>) -> String {
    let words = first_lines(text.trim(), 3);
    let said = if words.chars().count() > 120 { words.chars().take(120).chain(['…']).collect() } else { words };
    let mut answer = format!(
        "I don't understand {}. I am the built-in guide, not an AI: I know some shapes of request, and this is none \
         of them.",
        code(&said.replace('\n', " "))
    );
    if let Some(like) = like {
        answer.push_str(&format!(" Did you mean something like {}?", code(like)));
    }
    answer.push_str(
        "\n\nI can do, for example: `what is here?`, `read README.md lines 1-20`, `count lines in README.md`, \
         `search for TODO in src`, `run ls -la`, `write notes.txt: hello`. `help` shows all; \
         `how do I connect a model?` says how to work with a real one.",
    );
    answer
}

/// What the runtime told.
pub(super) fn notice(text: &str) -> String {
    let told = fenced("", &first_lines(text, 12));
    format!("I was told this, and can't do anything about it by myself:\n\n{told}\n\nSay what I should do.")
}

/// Where we are, as the standing instructions say it.
pub(super) fn folder(system: &str) -> Option<&str> {
    system.lines().find_map(|line| line.strip_prefix("Folder: ")).map(str::trim).filter(|folder| !folder.is_empty())
}
