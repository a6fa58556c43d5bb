//! What the screen has done outside of it: a text in the person's own editor, a command of theirs.

use crate::agent::tools::run_command;
use crate::domain::settings::Limits;
use crate::process::foreground;
use crate::tui::action::Viewer;
use crate::tui::shell::Ran;
use crate::tui::{Attach, Editor, ShellPort, Show};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{Builder, NamedTempFile};

/// The largest text that is taken back from an editor.
const MOST_BYTES: u64 = 8 << 20;

/// Edits a text in `$VISUAL` or `$EDITOR`, or vi.
pub fn editor() -> Editor {
    Box::new(|text| Box::pin(edit(text)))
}

async fn edit(text: String) -> Result<String, String> {
    let program = chosen(&["VISUAL", "EDITOR"], "vi");
    let file = kept(&text)?;
    on_terminal(&program, file.path()).await.map_err(|why| format!("{why}; the text is as it was"))?;
    read_back(file.path())
}

/// Shows a text in `$PAGER`, or less, or in the person's editor; what is changed there is thrown away.
pub fn show() -> Show {
    Box::new(|viewer, text| {
        Box::pin(async move {
            let program = match viewer {
                Viewer::Pager => chosen(&["PAGER"], "less"),
                Viewer::Editor => chosen(&["VISUAL", "EDITOR"], "vi"),
            };
            let file = kept(&text)?;
            on_terminal(&program, file.path()).await
        })
    })
}

/// The program that the first of these variables names.
fn chosen(variables: &[&str], usual: &str) -> String {
    let named = variables.iter().filter_map(|name| std::env::var(name).ok());
    named.into_iter().find(|program| !program.trim().is_empty()).unwrap_or_else(|| usual.to_owned())
}

/// A text in a file that only its owner can read, and that is gone with this.
fn kept(text: &str) -> Result<NamedTempFile, String> {
    let failed = |what: &str, error: &std::io::Error| format!("can't {what}: {error}");
    let file = Builder::new().prefix("message-").suffix(".md").tempfile().map_err(|e| failed("make a file", &e))?;
    // Programs expect the last line to have an end.
    let end = if text.ends_with('\n') { "" } else { "\n" };
    std::fs::write(file.path(), format!("{text}{end}")).map_err(|e| failed("write a file", &e))?;
    Ok(file)
}

async fn on_terminal(program: &str, file: &Path) -> Result<(), String> {
    let ended = foreground::with_file(program, file).await.map_err(|error| format!("can't start a shell: {error}"))?;
    if ended.success() { Ok(()) } else { Err(format!("{program} ended with {ended}")) }
}

fn read_back(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("can't read the text back: {error}");
    if std::fs::metadata(path).map_err(failed)?.len() > MOST_BYTES {
        return Err("the text is too long to be a message; name it as a file".to_owned());
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| "the editor left bytes that are no UTF-8; the text is as it was".to_owned())
}

/// Hands the terminal to a Job: what `jobs attach` does, on this terminal.
pub fn attach(home: PathBuf) -> Attach {
    Box::new(move |job| {
        let home = home.clone();
        Box::pin(async move {
            let failed = |error: std::io::Error| format!("can't attach: {error}");
            let program = std::env::current_exe().map_err(failed)?;
            let quoted = |path: &Path| format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"));
            let line = format!("{} --home {} -q jobs attach", quoted(&program), quoted(&home));
            let status = foreground::with_file(&line, Path::new(job.as_str())).await.map_err(failed)?;
            if status.success() { Ok(()) } else { Err(format!("{job} could not be taken over ({status})")) }
        })
    })
}

/// Runs a person's own command as the shell tool does, without asking: it is their word.
pub fn shell(limits: Limits) -> ShellPort {
    Arc::new(move |command, folder, stop| {
        Box::pin(async move {
            match run_command(&command, &PathBuf::from(folder), &limits, &stop).await {
                Ok(ran) => {
                    let ended = match ran.exit_code {
                        Some(code) => format!("exit {code}"),
                        None => ran.tail.lines().next().unwrap_or_default().to_owned(),
                    };
                    Ran { ended, output: ran.tail }
                }
                Err(why) => Ran { ended: "not started".to_owned(), output: why },
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_util::sync::CancellationToken;

    #[tokio::test]
    async fn a_command_of_the_person_tells_how_it_ended_and_what_it_printed() {
        let run = shell(Limits::default());
        let ran = run("echo seen; exit 3".into(), "/".into(), CancellationToken::new()).await;
        assert_eq!(ran, Ran { ended: "exit 3".into(), output: "seen\n".into() });
        let nowhere = run("x".into(), "/no/folder".into(), CancellationToken::new()).await;
        assert_eq!(nowhere.ended, "not started");
    }
}
