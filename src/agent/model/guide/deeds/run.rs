//! Running: commands, the chores of a project, pages, questions.

use super::super::show::{self, Entry, code as quoted, fenced, first_lines};
use super::super::steps::Steps;
use super::super::wish::Chore;
use super::{failed, quote};
use serde_json::json;

/// The most lines of output an answer shows.
const MOST_SHOWN: usize = 60;

/// A command, as it was said.
pub(super) fn command(steps: &mut Steps, command: &str) -> Option<String> {
    let told = steps.call("shell", json!({"command": command}))?;
    if let Some(words) = told.refusal() {
        return Some(format!("I did not run {}: {}", quoted(command), words.trim()));
    }
    if told.is_uncertain() {
        return Some(format!("{}: {}", quoted(command), told.text.trim()));
    }
    let (how, output) = told.text.split_once('\n').unwrap_or((told.text.as_str(), ""));
    let output = Some(output.trim_end()).filter(|output| *output != "(no output)").unwrap_or_default();
    let mut words = match how.split_once(" after ") {
        Some(("exited 0", time)) => format!("{} succeeded after {time}", quoted(command)),
        Some((end, time)) => format!("{} did not succeed: {end} after {time}", quoted(command)),
        // Not how it ended but why nobody knows, such as that it may have happened.
        None => return Some(format!("{}: {}", quoted(command), told.text.trim())),
    };
    match output.is_empty() {
        true => words.push_str(", without output."),
        false => words.push_str(&format!(":\n\n{}", fenced("", &last_lines(output)))),
    }
    Some(words)
}

/// The end of an output is what tells how it went.
fn last_lines(output: &str) -> String {
    let count = output.lines().count();
    if count <= MOST_SHOWN {
        return output.to_owned();
    }
    let shown: Vec<&str> = output.lines().skip(count - MOST_SHOWN).collect();
    // Where the middle was left out already, nobody has counted.
    let before = match show::is_cut(output) {
        true => "many".to_owned(),
        false => (count - MOST_SHOWN).to_string(),
    };
    format!("… {before} lines before these, in the tool's result\n{}", shown.join("\n"))
}

/// How each kind of project is tested and built: a file at the top says which kind it is.
const CHORES: &[(&str, &str, &str)] = &[
    ("Cargo.toml", "cargo test", "cargo build"),
    ("package.json", "npm test", "npm run build"),
    ("go.mod", "go test ./...", "go build ./..."),
    ("pyproject.toml", "python3 -m pytest", "python3 -m build"),
    ("setup.py", "python3 -m pytest", "python3 -m build"),
    ("pom.xml", "mvn -q test", "mvn -q package"),
    ("Makefile", "make test", "make"),
];

/// Tests or builds the project in the way of its kind.
pub(super) fn chore(steps: &mut Steps, chore: Chore) -> Option<String> {
    let told = steps.call("list", json!({}))?;
    let (entries, _) = show::entries(&told.text);
    let is_there = |wanted: &str| entries.iter().any(|entry| matches!(entry, Entry::File(name, _) if name == wanted));
    let Some((_, test, build)) = CHORES.iter().find(|(file, ..)| is_there(file)) else {
        let known: Vec<&str> = CHORES.iter().map(|(file, ..)| *file).collect();
        return Some(format!(
            "I don't know how that is done here: none of {} is at the top. Say `run COMMAND`.",
            known.join(", ")
        ));
    };
    command(
        steps,
        match chore {
            Chore::Test => test,
            Chore::Build => build,
        },
    )
}

/// A page.
pub(super) fn fetch(steps: &mut Steps, url: &str) -> Option<String> {
    let told = steps.call("fetch", json!({"url": url}))?;
    let mark = told.text.lines().position(|line| line.starts_with("--- page "));
    let Some(mark) = mark else { return Some(failed("fetch", url, &told)) };
    let head = told.text.lines().next().unwrap_or_default();
    let page: Vec<&str> = told.text.lines().skip(mark + 1).take_while(|line| !line.starts_with("--- end ")).collect();
    let title = page
        .iter()
        .find_map(|line| line.strip_prefix("# "))
        .map(|title| format!(" Its title: **{}**.", title.trim()))
        .unwrap_or_default();
    let text = page.join("\n");
    Some(format!(
        "{head}.{title} {} lines of text; it begins:\n\n{}",
        page.len(),
        fenced("", &first_lines(text.trim(), 30))
    ))
}

/// A question to the person.
pub(super) fn ask(steps: &mut Steps, question: &str, options: &[String]) -> Option<String> {
    let mut arguments = json!({"question": question});
    if !options.is_empty() {
        arguments["options"] = json!(options);
    }
    let told = steps.call("ask", arguments)?;
    Some(match told.text.strip_prefix("The person answered: ") {
        Some(answer) => format!("You answered: {}", quote(answer)),
        None => format!("There is no answer: {}", quote(&told.text)),
    })
}
